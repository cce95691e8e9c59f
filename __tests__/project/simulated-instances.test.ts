/** A kernel template is run once for every instance that is launched, and each run says which it is. */
import { beforeAll, expect, test } from '@jest/globals';
import { simulateKernel, type SimulatedInstance, type SimulationRequest } from '../../src/project/simulation.js';
import { simulationJson, simulationText } from '../../src/report/simulation.js';
import { initParser } from '../../src/syntax/parser.js';
import { Text } from '../analysis/program.js';

beforeAll(async () => { await initParser(); });

const REQUEST: SimulationRequest = { launch: null, block: null, grid: null, seed: null, schedule: null, size: null, shared: null, arguments: new Map() };
const VIEW = { position: () => null, lineOf: () => null, nameOf: (file: string) => file };
const KERNEL = 'template <typename T, int B> __global__ void k(T *x, int n) { int i = blockIdx.x * B + threadIdx.x; if (i < n) x[i] *= T(2); }\n';

function run(launches: string): readonly SimulatedInstance[] {
  const text = new Text(`${KERNEL}void host(float *a, double *b, int n) { ${launches} }\n`);
  return simulateKernel(text.program, text.fn('k'), REQUEST);
}

function shapeOf({ result }: SimulatedInstance): string {
  return result.status === 'ran' ? `${result.launch.grid[0]}x${result.launch.block[0]}` : result.status;
}

test('every instance under the launch that asks for it', () => {
  const found = run('k<float, 64><<<4, 64>>>(a, n); k<double, 128><<<2, 128>>>(b, n); k<float, 64><<<8, 64>>>(a, n);');
  expect(found.map((one) => [one.instance, shapeOf(one)])).toEqual([['T = float, B = 64', '4x64'], ['T = double, B = 128', '2x128']]);
  expect(found.flatMap(({ notes }) => notes)).toEqual([]);
});

test('a guess is called one', () => {
  const [only, more] = run('');
  expect(more).toBeUndefined();
  expect(only?.instance).toBe('T = float, B = 4');
  expect(only?.notes).toEqual(['no instantiation of the template is visible: run with T = float, B = 4 alone']);
});

test('twelve instances are run, the others are named', () => {
  const found = run(Array.from({ length: 14 }, (_, i) => `k<float, ${i + 1}><<<1, 32>>>(a, n);`).join(' '));
  expect(found).toHaveLength(12);
  expect(found[0]?.notes).toEqual(['not run with T = float, B = 13', 'not run with T = float, B = 14']);
});

test('text and JSON name the instance; a kernel that is no template has none', () => {
  const [one] = run('k<float, 64><<<4, 64>>>(a, n);');
  if (one === undefined) throw new Error('nothing ran');
  const report = { kernel: 'k', path: '/p/k.cu', seed: 1, schedule: 0, ...one };
  expect(simulationText(report, VIEW, { color: false }).split('\n')[0]).toContain('k with T = float, B = 64  grid 4, block 64');
  expect(simulationJson(report, VIEW)).toMatchObject({ kernel: 'k', instance: 'T = float, B = 64', notes: [] });
  const text = new Text('__global__ void k(float *x) { x[threadIdx.x] = 1.f; }\n');
  const [plain] = simulateKernel(text.program, text.fn('k'), REQUEST);
  if (plain === undefined) throw new Error('nothing ran');
  expect(plain.instance).toBe('');
  expect(simulationJson({ ...report, ...plain }, VIEW)).toMatchObject({ instance: null });
});
