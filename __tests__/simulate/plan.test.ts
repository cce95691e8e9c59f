import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser, programOf } from './helpers.js';
import { evaluateHost, type HostValue } from '../../src/simulate/host-expression.js';
import type { Plan } from '../../src/simulate/plan.js';
import { verifyEquivalent } from '../../src/verify/index.js';

beforeAll(async () => { await initParser(); });

const BEFORE = `__global__ void k(const float* x, const int* key, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { if (key[i] % 3 == 0) { float v = x[i]; for (int j = 0; j < 10; ++j) v = v * 0.5f + 1.0f; y[i] = v; } else y[i] = 0.0f; }
}`;
const COMPACTED = `
__global__ void k_mark(const int* key, unsigned char* flags, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { flags[i] = key[i] % 3 == 0; if (key[i] % 3 != 0) y[i] = 0.0f; }
}
__global__ void k_heavy(const float* x, float* y, const int* list, const int* count) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q < *count) { int i = list[q]; float v = x[i]; for (int j = 0; j < 10; ++j) v = v * 0.5f + 1.0f; y[i] = v; }
}`;
/** Elements that a launch reaches: none of a launch of no blocks, which runs nothing whatever `n` is. */
const REACHED = 'min(n, gridDim.x * blockDim.x)';
const PLAN: Plan = { steps: [
  { kind: 'temporary', name: 'flags', element: 'unsigned char', count: 'n' },
  { kind: 'temporary', name: 'list', element: 'int', count: 'n' },
  { kind: 'temporary', name: 'count', element: 'int', count: '1' },
  { kind: 'kernel', kernel: 'k_mark', grid: `(${REACHED} + 127) / 128`, block: '128', arguments: ['key', 'flags', 'y', 'n'], unless: 'n == 0' },
  { kind: 'select', flags: 'flags', output: 'list', count: REACHED, selected: 'count' },
  { kind: 'kernel', kernel: 'k_heavy', grid: `(${REACHED} + 127) / 128`, block: 'dim3(128)', arguments: ['x', 'y', 'list', 'count'], unless: 'n == 0' },
] };

const LIMITED = { blocks: [[128, 1, 1], [64, 1, 1]] as const, sizes: [0, 1, 33, 128, 200] };

describe('launch plans', () => {
  test('compaction by select is executed and equal', () => {
    expect(verifyEquivalent(programOf(BEFORE), programOf(COMPACTED), 'k', { plan: PLAN, ...LIMITED })).toMatchObject({ status: 'equal' });
  });

  test('faults of a plan are found: a grid too small, a list never filled, a lost zero', () => {
    const broken = (change: (steps: Plan['steps']) => Plan['steps'], text = COMPACTED): unknown =>
      verifyEquivalent(programOf(BEFORE), programOf(text), 'k', { plan: { steps: change(PLAN.steps) }, ...LIMITED }).status;
    expect(broken((s) => s.map((x) => (x.kind === 'kernel' ? { ...x, grid: 'n / 128 + (n == 0)' } : x)))).toBe('different');
    expect(broken((s) => s.filter((x) => x.kind !== 'select'))).toBe('different');
    expect(broken((s) => s.map((x) => (x.kind === 'kernel' && x.kernel === 'k_mark' ? { ...x, grid: '(n + 127) / 128' } : x)))).toBe('different'); // of a launch of nothing too
    expect(broken((s) => s, COMPACTED.replace('if (key[i] % 3 != 0) y[i] = 0.0f;', ''))).toBe('different');
    expect(broken((s) => s.filter((x) => x.kind !== 'temporary'))).toBe('not-verified');
  });

  test('sort by key and scan', () => {
    const before = '__global__ void k(const int* key, int* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = key[i] * 2 + i; }';
    const after = `__global__ void prepare(const int* key, unsigned* keys, int* perm, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { keys[i] = key[i]; perm[i] = i; } }
      __global__ void sorted(const int* key, const int* perm, int* y, int n) { int q = blockIdx.x * blockDim.x + threadIdx.x; if (q < n) { int i = perm[q]; y[i] = key[i] * 2 + i; } }`;
    const plan: Plan = { steps: [
      { kind: 'temporary', name: 'keys', element: 'unsigned', count: 'n' }, { kind: 'temporary', name: 'perm', element: 'int', count: 'n' },
      { kind: 'kernel', kernel: 'prepare', grid: 'gridDim.x', block: 'blockDim.x', arguments: ['key', 'keys', 'perm', 'n'], unless: null },
      { kind: 'sort', keys: 'keys', values: 'perm', count: REACHED, bits: 32 },
      { kind: 'scan', input: 'keys', output: 'keys', count: REACHED, exclusive: true },
      { kind: 'kernel', kernel: 'sorted', grid: 'gridDim', block: 'blockDim', arguments: ['key', 'perm', 'y', 'n'], unless: null },
    ] };
    expect(verifyEquivalent(programOf(before), programOf(after), 'k', { plan, ...LIMITED })).toMatchObject({ status: 'equal' });
  });
});

describe('host expressions', () => {
  const names = (name: string): HostValue | null => (name === 'n' ? { kind: 'number', value: 1000, floating: false } : name === 'p' ? { kind: 'pointer', address: 4096, size: 4 } : null);
  test.each<[string, unknown]>([
    ['(n + 255) / 256', { value: 4 }], ['n % 7 + 2 * 3', { value: 12 }], ['-n / 3', { value: -333 }], ['n > 10 ? 1 : 2', { value: 1 }], ['(size_t)n * 4', { value: 4000 }], ['!(n == 0) && n < 5 || 1', { value: 1 }],
    ['dim3((n + 15) / 16, 2)', { value: [63, 2, 1] }], ['n / 2, 3', { value: [500, 3, 1] }], ['p + n', { address: 8096 }], ['min(n, 5) << 2', { value: 20 }], ['1.5f * 2', { value: 3, floating: true }], ['0x10u + 077', { value: 79 }],
  ])('%s', (text, expected) => {
    expect(evaluateHost(text, names)).toMatchObject(expected as Record<string, unknown>);
  });
  test.each(['n +', 'q', 'f(n)', 'n / 0', '(n', 'n $ 2'])('%s is refused', (text) => {
    expect(() => evaluateHost(text, names)).toThrow();
  });
});
