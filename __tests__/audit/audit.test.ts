import { beforeAll, describe, expect, test } from '@jest/globals';
import { auditFile, auditProgram, type AuditOptions } from '../../src/audit/audit.js';
import type { BranchFinding } from '../../src/audit/types.js';
import { initParser } from '../../src/syntax/parser.js';
import { Text } from '../analysis/program.js';

beforeAll(async () => { await initParser(); });

function branches(text: string, options: AuditOptions = {}, others: Readonly<Record<string, string>> = {}): readonly BranchFinding[] {
  const loaded = new Text(text, options.analysis ?? {}, others);
  return auditFile(loaded.unit, loaded.analysis, options).kernels.flatMap((kernel) => [...kernel.branches]);
}

function only(text: string, kind: string, options: AuditOptions = {}): BranchFinding {
  const found = branches(text, options).filter((branch) => branch.kind === kind);
  const first = found[0];
  if (first === undefined || found.length !== 1) throw new Error(`${found.length} branches of kind ${kind}`);
  return first;
}

const LONG = 'float v = p[i]; v = v * 1.1f + 2.f; v = sinf(v) * v; v = sqrtf(v) / 3.1f; v = v * v + v;';

describe('classes', () => {
  const body = (condition: string, before = ''): string => `__global__ void k(const float *__restrict__ p, float *__restrict__ o, int n, int m, bool flag) { int i = blockIdx.x * blockDim.x + threadIdx.x; ${before} if (${condition}) o[i] = 1.f; }\nvoid f(float *p, float *o, int n, int m, bool b) { k<<<16, 256>>>(p, o, n, m, b); }`;

  test.each([
    ['i < n', '', 'boundary'],
    ['!(i >= n)', '', 'boundary'],
    ['flag && i < n', '', 'boundary'],
    ['inside', 'bool inside = i < n;', 'boundary'],
    ['threadIdx.x + 1 < m', '', 'boundary'],
    ['i < 1000', '', 'boundary'],
    ['i > 0 && i < n - 1', '', 'boundary'],
    ['threadIdx.x == 0', '', 'geometry'],
    ['(threadIdx.x & 31) < 16', '', 'geometry'],
    ['threadIdx.x < 7', '', 'geometry'],
    ['i % 2 == 0', '', 'geometry'],
    ['threadIdx.x < blockDim.x - 1', '', 'geometry'],
    ['threadIdx.x < 64', '', 'uniform'],
    ['threadIdx.x / 32 == 1', '', 'uniform'],
    ['blockIdx.x == 0', '', 'uniform'],
    ['n > 4', '', 'uniform'],
    ['flag', '', 'uniform'],
    ['p[blockIdx.x] > 0.f', '', 'uniform'],
    ['p[i] > 0.f', '', 'data'],
    ['i < n && p[i] > 0.f', '', 'data'],
    ['mystery(n)', '', 'unknown'],
    ['HIDDEN(n)', '', 'unknown'],
  ])('if (%s) %s', (condition, before, expected) => {
    const found = branches(body(condition, before)).find((branch) => branch.kind === 'if');
    expect(found?.class).toBe(expected);
    expect((found?.class === 'uniform')).toBe(found?.scope !== 'lane');
  });

  test('a loop is what decides when lanes leave it', () => {
    const of = (loop: string): string => only(`__global__ void k(const float *p, float *o, int n) { int i = threadIdx.x; ${loop} }`, 'for').class;
    expect(of('for (int t = 0; t < n; ++t) o[t] = 1.f;')).toBe('uniform');
    expect(of('for (int t = i; t < n; t += blockDim.x) o[t] = 1.f;')).toBe('boundary');
    expect(of('for (int t = 0; t < n; ++t) { if (p[i] > t) break; o[t] = 1.f; }')).toBe('data');
    expect(of('for (int t = 0; t < n; ++t) { if (p[i] > t) continue; o[t] = 1.f; }')).toBe('uniform');
    expect(of('for (int t = 0; t < (int)p[i]; ++t) o[t] = 1.f;')).toBe('data');
  });
});

describe('figures', () => {
  test('exact lanes of a known block', () => {
    const found = only('__global__ void k(float *o) { if (threadIdx.x < 48) { o[threadIdx.x] = sinf(o[3]); } }\nvoid f(float *o) { k<<<1, 128>>>(o); }', 'if');
    expect(found.divergence).toEqual({ rate: 0.25, p: 0.375, origin: 'computed' });
    // Two of four warps enter with three eighths of the threads.
    const then = found.cost.arms[0];
    expect(found.cost.efficiency).toBeCloseTo(0.375 / 0.5, 3);
    expect(found.cost.lostSlots).toBeCloseTo((then?.instructions ?? 0) * (0.5 - 0.375), 3);
  });

  describe('a guard whose extent the launch tells is counted thread by thread', () => {
    const guard = (condition: string, n: number, shape = '4, 256'): BranchFinding => {
      const found = branches(`__global__ void k(float *o, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (${condition}) o[i] = sinf(o[i]); }\nvoid f(float *o) { k<<<${shape}>>>(o, ${n}); }`).find((branch) => branch.kind === 'if');
      if (found === undefined) throw new Error('no branch');
      return found;
    };
    // Four blocks of 256 threads: 1,024 threads in 32 warps.
    test.each([
      ['i < n', 1000, 1000 / 1024, 1 / 32], ['!(i >= n)', 1000, 1000 / 1024, 1 / 32], ['n > i', 1000, 1000 / 1024, 1 / 32], ['i <= n', 999, 1000 / 1024, 1 / 32],
      ['i < n', 992, 992 / 1024, 0], ['i < n', 5000, 1, 0], ['i < n', 100, 100 / 1024, 1 / 32], ['i >= n', 100, 924 / 1024, 1 / 32],
      ['threadIdx.x < n', 1000, 1, 0], ['threadIdx.x < n', 100, 100 / 256, 1 / 8], ['threadIdx.x >= n', 40, 216 / 256, 1 / 8],
    ])('%s with n = %i', (condition, n, p, rate) => {
      const found = guard(condition, n);
      expect(found.divergence.origin).toBe('computed');
      expect(found.divergence.p).toBeCloseTo(p, 4);
      expect(found.divergence.rate).toBeCloseTo(rate, 4);
      // Warps that enter: those that are whole inside, and those that are cut.
      const entering = Math.ceil(p * 32 - 1e-9) / 32;
      if (condition.startsWith('i')) expect(found.cost.efficiency).toBeCloseTo(p / entering, 3);
    });
    test.each([['i * 4 + 3 < n', 1000], ['i < n && o[i] > 0', 1000], ['i + 1 < n', 1000]])('%s is not that simple, and says so', (condition, n) => {
      expect(guard(condition, n).divergence.origin).toBe('assumed');
    });
  });

  test('a figure in a reason reads like the figure beside it', () => {
    const found = only(`__global__ void k(const float *p, float *o) { int i = threadIdx.x;\n// divmod: p=0.03\nif (p[i] > 0.f) { ${LONG} o[i] = v; } }`, 'if');
    expect(found.reason).toMatch(/about \d+ issue slots/);
  });

  test('// divmod: uniform is a promise that the verdict names', () => {
    const found = only('__global__ void k(const int *p, float *o) { int i = threadIdx.x;\n// divmod: uniform\nif (p[i]) o[i] = 1.f; }', 'if');
    expect(found).toMatchObject({ class: 'uniform', scope: 'warp', divergence: { rate: 0 } });
    expect(found.under.join()).toMatch(/source promises/);
  });

  test('an even split of data: the formulas of the seeds', () => {
    const found = only(`__global__ void k(const float *p, float *o) { int i = threadIdx.x; if (p[i] > 0.f) { ${LONG} o[i] = v; } else { ${LONG} o[i] = -v; } }`, 'if');
    expect(found.class).toBe('data');
    expect(found.divergence.origin).toBe('assumed');
    expect(found.divergence.rate).toBeCloseTo(1, 6);
    expect(found.cost.overhead).toBeCloseTo(2, 1);
    expect(found.cost.efficiency).toBeCloseTo(0.5, 2);
    expect(found.advice).toBe('consider');
  });

  test('an annotated share: 2% of independent lanes divide 48% of the warps', () => {
    const found = only(`__global__ void k(const float *p, float *o) { int i = threadIdx.x;\n// divmod: p=0.02\nif (p[i] > 0.f) { ${LONG} o[i] = v; } }`, 'if');
    expect(found.divergence).toMatchObject({ p: 0.02, origin: 'annotated' });
    expect(found.divergence.rate).toBeCloseTo(0.476, 3);
  });

  test('a share assumed on the command line, and one that was measured', () => {
    const text = `__global__ void k(const float *p, float *o) { int i = threadIdx.x;\nif (p[i] > 0.f) { ${LONG} o[i] = v; } }`;
    expect(only(text, 'if', { analysis: { assume: new Map([['p@2', '0.1']]) } }).divergence).toMatchObject({ p: 0.1, origin: 'assumed' });
    expect(only(text, 'if', { probabilities: { origin: 'measured', branch: () => ({ p: 0.25, rate: 0.3 }) } }).divergence).toEqual({ p: 0.25, rate: 0.3, origin: 'measured' });
  });

  test('a guard once per thread is left, in a loop it is a candidate', () => {
    const once = only('__global__ void k(float *o, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = sinf(o[i]); }', 'if');
    expect(once.advice).toBe('leave');
    expect(once.divergence.rate).toBeLessThan(0.001);
    const inLoop = only('__global__ void k(float *o, int n) { for (int t = 0; t < n; t += 32) { if (t + threadIdx.x < n) o[t + threadIdx.x] = 1.f; } }', 'if');
    expect(inLoop.class).toBe('boundary');
    expect(inLoop.advice).toBe('consider');
  });

  test('a guard in two dimensions can exceed 1/128', () => {
    const found = branches(`__global__ void k(float *o) { int x = blockIdx.x * 16 + threadIdx.x; int y = blockIdx.y * 16 + threadIdx.y; if (x < 1000 && y < 1000) o[y * 1000 + x] = 1.f; }
      void f(float *o) { dim3 b(16, 16); dim3 g(63, 63); k<<<g, b>>>(o); }`).find((branch) => branch.kind === 'if');
    expect(found?.class).toBe('boundary');
    // 1000 = 62 * 16 + 8: the warps of the last column of blocks, but for the four of the corner that lie outside; none of the last row (rows come in pairs).
    expect(found?.divergence).toMatchObject({ origin: 'computed' });
    expect(found?.divergence.rate).toBeCloseTo((63 * 8 - 4) / (63 * 63 * 8), 5);
    expect(found?.advice).toBe('consider');
  });

  test('an early return costs what follows', () => {
    const found = only(`__global__ void k(const float *p, float *o) { int i = threadIdx.x; if (p[i] > 0.f) return; ${LONG} o[i] = v; }`, 'if');
    expect(found.exits).toEqual(['return']);
    expect(found.cost.arms.map((arm) => arm.label)).toEqual(['then', 'rest']);
    expect(found.cost.arms[1]?.instructions).toBeGreaterThan(20);
  });

  test('loops around count', () => {
    const inner = only(`__global__ void k(const float *p, float *o) { int i = threadIdx.x; for (int t = 0; t < 10; ++t) { if (p[i] > t) { ${LONG} o[i] = v; } } }`, 'if');
    const outer = only(`__global__ void k(const float *p, float *o) { int i = threadIdx.x; if (p[i] > 0) { ${LONG} o[i] = v; } }`, 'if');
    expect(inner.cost.executions).toBe(10);
    expect(inner.cost.lostSlots / outer.cost.lostSlots).toBeCloseTo(10, 0);
  });

  test('uniform branches lose nothing', () => {
    const found = only(`__global__ void k(const float *p, float *o, int n) { int i = threadIdx.x; if (n > 3) { ${LONG} o[i] = v; } else o[i] = 1.f; }`, 'if');
    expect(found.cost).toMatchObject({ efficiency: 1, lostSlots: 0, overhead: 1 });
    expect(found.divergence.rate).toBe(0);
  });
});

describe('callees', () => {
  const helper = '__device__ inline float pick(float v, bool c) { if (c) return v; return -v; }\n';

  test('a branch of a device function is listed once for each context that differs, with its call path', () => {
    const found = branches(`#include "h.cuh"
      __device__ float twice(float v, bool c) { return pick(v, c) + pick(v, c); }
      __global__ void k(const float *p, float *o, bool b) { int i = threadIdx.x; o[i] = twice(p[i], b) + pick(p[i], p[i] > 0.f) + pick(1.f, b); }`, {}, { 'h.cuh': helper });
    const ifs = found.filter((branch) => branch.kind === 'if');
    expect(ifs.map((branch) => branch.class).sort()).toEqual(['data', 'uniform']);
    expect(ifs.every((branch) => branch.function === 'pick' && branch.path.endsWith('h.cuh'))).toBe(true);
    expect(ifs.find((branch) => branch.class === 'uniform')?.via.map((step) => step.line)).toEqual([3, 2]);
    expect(ifs.find((branch) => branch.class === 'data')?.via.map((step) => step.line)).toEqual([3]);
  });

  test('recursion ends', () => {
    expect(branches('__device__ int f(int n) { if (n > 0) return f(n - 1); return 0; } __global__ void k(int *o, int n) { o[0] = f(n); }').length).toBeGreaterThan(0);
  });
});

describe('what is said', () => {
  test('ids stay when lines move, and differ', () => {
    const text = '__global__ void k(const int *p, int *o, int n) { int i = threadIdx.x; if (i < n) o[i] = 1; if (p[i]) o[i] = 2; if (p[i]) o[i] = 3; }';
    const before = branches(text).map((branch) => branch.id);
    const after = branches(`// a comment\n\n${text.replaceAll('if (', '\n  if (')}`).map((branch) => branch.id);
    expect(after).toEqual(before);
    expect(new Set(before).size).toBe(before.length);
  });

  test('position, text, function and reasons', () => {
    const found = only('__global__ void k(const int *p, int *o)\n{\n  int i = threadIdx.x;\n  if (p[i] > 2)\n    o[i] = 1;\n}', 'if');
    expect(found).toMatchObject({ line: 4, column: 3, endLine: 5, condition: 'p[i] > 2', function: 'k' });
    expect(found.because[0]?.line).toBe(4);
    expect(found.because.length).toBeGreaterThan(1);
  });

  test('kernels are filtered by name; a file that is not there is nothing', () => {
    const text = new Text('__global__ void a(int *o) { if (o[0]) o[1] = 1; } __global__ void b(int *o) { if (o[0]) o[1] = 1; }');
    expect(auditProgram(text.analysis, { kernel: (name) => name === 'b' }).flatMap((file) => file.kernels.map((kernel) => kernel.name))).toEqual(['b']);
    expect(auditProgram(text.analysis, { files: ['/p/none.cu'] })).toEqual([]);
  });

  test('a kernel that was not understood is listed, its neighbour treated as usual', () => {
    const text = new Text('__global__ void broken(int *o) { if (o[0] { o[1] = ; } }\n__global__ void fine(int *o) { if (o[threadIdx.x]) o[1] = 1; }');
    const audit = auditFile(text.unit, text.analysis);
    expect(audit.status).toBe('partial');
    expect(audit.problems.length).toBeGreaterThan(0);
    expect(audit.kernels.find((kernel) => kernel.name === 'fine')?.understood).toBe(true);
  });
});
