/**
 * Eight kernels profiled on an H200 (Nsight Compute, CUDA 13.0): efficiency is
 * `smsp__thread_inst_executed_pred_on_per_inst_executed.ratio / 32`, issued is `smsp__inst_executed.sum` for 4,096 blocks of 256 threads.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parseArgument, simulate, type Argument } from '../../src/simulate/index.js';
import { initParser, kernelOf, programOf } from './helpers.js';

const HARDWARE: Readonly<Record<string, readonly [efficiency: number, issued: number]>> = {
  seed_sqrt: [23.18, 950272], heavy_branch: [14.59, 42827776], eight_way: [4.75, 27061075], tiled_matmul: [31.88, 125429564],
  modulo_tree: [24.36, 9469952], sparse_skip: [10.25, 37529962], data_trip: [7.42, 62985755], block_role: [30.08, 819200],
};
const GRID = 16;
const N = GRID * 256;

beforeAll(async () => { await initParser(); });

/** The distributions of the program's own `main`. */
function inputs(): Map<string, Argument> {
  let s = 12345;
  const random = (): number => { s = (Math.imul(s, 1664525) + 1013904223) >>> 0; return (s >>> 8) / 16777216; };
  const map = new Map<string, Argument>();
  for (const text of [`n=${N}`, 'x=uniform(-1,1)', 'key=uniform(0,7)', 'iterations=64', 'm=32', 'w=bernoulli(0.1,0.5)', `split=${GRID / 2}`, 'M=48', 'N=48', 'K=1000', 'A=bernoulli(0.1,0.5)', 'B=bernoulli(0.1,0.5)']) {
    const parsed = parseArgument(text);
    if (parsed !== null) map.set(parsed.name, parsed.argument);
  }
  map.set('trips', { kind: 'contents', distribution: { kind: 'values', values: Array.from({ length: N }, () => 1 + Math.floor(random() * random() * random() * 256)) }, length: N });
  return map;
}

describe('efficiency against hardware counters', () => {
  const text = readFileSync('fixtures/simulate/counters.cu', 'utf8');
  const issuedPerWarp = new Map<string, number>();

  test.each(Object.entries(HARDWARE))('%s', (name, [lanes]) => {
    const program = programOf(text);
    const tiled = name === 'tiled_matmul';
    const result = simulate(program, kernelOf(program, name), tiled ? { grid: [3, 3, 1], block: [16, 16, 1], sharedBytes: 0 } : { grid: [GRID, 1, 1], block: [256, 1, 1], sharedBytes: 0 }, { seed: 1, arguments: inputs(), size: N });
    if (result.status !== 'ran' || result.counts === null) throw new Error(JSON.stringify(result));
    expect(result.faults).toEqual([]);
    expect(Math.abs(result.counts.efficiency - lanes / 32)).toBeLessThan(0.06);
    issuedPerWarp.set(name, result.counts.issued / (tiled ? 9 * 8 : GRID * 8));
  });

  test('kernels rank by issued instructions as on the hardware', () => {
    const ours = [...issuedPerWarp].sort((a, b) => b[1] - a[1]).map(([name]) => name);
    const theirs = Object.entries(HARDWARE).sort((a, b) => b[1][1] - a[1][1]).map(([name]) => name);
    expect(ours).toEqual(theirs);
  });
});
