import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser, programOf } from '../simulate/helpers.js';
import { verifyEquivalent, type VerifyOptions, type Verdict } from '../../src/verify/index.js';

beforeAll(async () => { await initParser(); });

function verify(before: string, after: string, options: VerifyOptions = {}): Verdict {
  return verifyEquivalent(programOf(before), programOf(after), 'k', options);
}

const TILE = (load: string): string => `
__global__ void k(const float* __restrict__ a, float* y, int n) {
  __shared__ float s[32];
  float sum = 0.0f;
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  for (int base = 0; base < n; base += 32) {
    ${load}
    __syncthreads();
    for (int j = 0; j < 32; ++j) sum += s[j] * (i + j);
    __syncthreads();
  }
  if (i < n) y[i] = sum;
}`;

const HOIST_BEFORE = `__global__ void k(const float* x, float* y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  for (int j = 0; j < 8; ++j) { if (mode > 2) v = v * 1.5f + 0.25f; else v = v - 0.5f; }
  y[i] = v;
}`;
const HOIST_AFTER = `__global__ void k(const float* x, float* y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (mode > 2) { for (int j = 0; j < 8; ++j) { v = v * 1.5f + 0.25f; } }
  else { for (int j = 0; j < 8; ++j) { v = v - 0.5f; } }
  y[i] = v;
}`;

describe('edits that keep the result', () => {
  test.each<[string, string, string]>([
    ['hoist', HOIST_BEFORE, HOIST_AFTER],
    ['early return and wrapped body',
      '__global__ void k(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; x[i] *= 2.0f; }',
      '__global__ void k(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { x[i] *= 2.0f; } }'],
    ['peeled tail of a tile loop', TILE('s[t] = base + t < n ? a[base + t] : 0.0f;').replace('int t = threadIdx.x;', 'int t = threadIdx.x;').replace('__shared__ float s[32];', '__shared__ float s[32];'),
      TILE('if (base + 32 <= n) s[t] = a[base + t]; else s[t] = base + t < n ? a[base + t] : 0.0f;')],
    ['tree to shuffles below 32',
      `__global__ void k(const int* x, int* y) { __shared__ int s[128]; int t = threadIdx.x; s[t] = x[blockIdx.x * blockDim.x + t]; __syncthreads();
        for (int d = 64; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); } if (t == 0) y[blockIdx.x] = s[0]; }`,
      `__global__ void k(const int* x, int* y) { __shared__ int s[128]; int t = threadIdx.x; s[t] = x[blockIdx.x * blockDim.x + t]; __syncthreads();
        for (int d = 64; d > 16; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
        if (t < 32) { int v = s[t]; for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d); if (t == 0) y[blockIdx.x] = v; } }`],
  ])('%s', (name, before, after) => {
    const blocks = name.startsWith('peeled') ? [[32, 1, 1] as const] : name.startsWith('tree') ? [[128, 1, 1] as const] : undefined;
    const verdict = verify(before, after, blocks === undefined ? {} : { blocks });
    expect(verdict).toMatchObject({ status: 'equal' });
    expect(verdict.runs).toBeGreaterThan(3);
  });

  test('an atomic counter: the order of a compacted list is not compared', () => {
    const before = `__global__ void k(const int* x, int* out, int* count, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && x[i] > 3) out[atomicAdd(count, 1)] = i; }`;
    const after = before.replace('x[i] > 3', '!(x[i] <= 3)');
    expect(verify(before, after, { arguments: new Map([['count', { kind: 'contents', distribution: { kind: 'constant', value: 0 }, length: null }]]) })).toMatchObject({ status: 'equal' });
  });
});

describe('edits that change it are found', () => {
  test.each<[string, string, string]>([
    ['wrong bound', 'if (i >= n) return;', 'if (i > n) return;'],
    ['wrong arm', 'v = v - 0.5f; }', 'v = v - 0.25f; }'],
    ['swapped arms', 'if (mode > 2) v', 'if (mode <= 2) v'],
    ['edge of the condition', 'mode > 2', 'mode >= 2'],
    ['a loop one turn short', 'j < 8', 'j < 7'],
    ['fused product', 'v = v * 1.5f + 0.25f', 'v = fmaf(v, 1.4999999f, 0.25f)'],
    ['dropped guard', 'if (i >= n) return;', ''],
    ['another element', 'y[i] = v', 'y[i + 1] = v'],
  ])('%s', (_name, from, to) => {
    const verdict = verify(HOIST_BEFORE, HOIST_BEFORE.replace(from, to));
    expect(verdict.status).toBe('different');
    if (verdict.status === 'different') {
      expect(verdict.counterexample.differences.length).toBeGreaterThan(0);
      expect(verdict.counterexample.replay).toMatch(/--seed \d+ --launch \d+x\d+.* --arg n=\d+/);
    }
  });

  test.each<[string, string]>([
    ['lost zero fill', 'if (base + t < n) s[t] = a[base + t];'],
    ['off by one in the remainder', 's[t] = base + t < n - 1 ? a[base + t] : 0.0f;'],
    ['lost barrier', 's[t] = base + t < n ? a[base + t] : 0.0f; if (base == 0) { float q = s[(t + 1) & 31]; sum += q - q; }'],
  ])('%s in a tile loop', (_name, load) => {
    expect(verify(TILE('s[t] = base + t < n ? a[base + t] : 0.0f;'), TILE(load), { blocks: [[32, 1, 1], [16, 1, 1]] }).status).toBe('different');
  });

  test('a barrier or a full mask under divergence', () => {
    const before = '__global__ void k(int* y, int n) { int i = threadIdx.x; int v = i * 2; if (i < n) y[i] = v; }';
    expect(verify(before, '__global__ void k(int* y, int n) { int i = threadIdx.x; int v = i * 2; if (i < n) { __syncthreads(); y[i] = v; } }')).toMatchObject({ status: 'different' });
    expect(verify(before, '__global__ void k(int* y, int n) { int i = threadIdx.x; int v = i * 2; if (i < n) { y[i] = __shfl_sync(0xffffffff, v, i & 31); } }')).toMatchObject({ status: 'different' });
  });

  test('the counterexample is small', () => {
    const verdict = verify(HOIST_BEFORE, HOIST_BEFORE.replace('if (i >= n) return;', 'if (i > n) return;'));
    expect(verdict.status === 'different' && verdict.counterexample.setting.size).toBeLessThan(4);
  });
});

describe('what cannot be run is not verified', () => {
  test('unknown calls, missing kernels, goto', () => {
    expect(verify('__global__ void k(int* y) { y[0] = mystery(); }', '__global__ void k(int* y) { y[0] = mystery(); }')).toMatchObject({ status: 'not-verified', obstacles: [{ side: 'before', reason: expect.stringContaining('mystery') }] });
    expect(verify('__global__ void k(int* y) { y[0] = 1; }', '__global__ void q(int* y) { y[0] = 1; }')).toMatchObject({ status: 'not-verified' });
    expect(verify('__global__ void k(int* y) { if (y[0]) goto a; y[1] = 2; a: y[2] = 1; }', '__global__ void k(int* y) { y[2] = 1; }')).toMatchObject({ status: 'not-verified' });
  });

  test('a kernel that always faults says so', () => {
    const text = '__global__ void k(int* y) { __shared__ int s[4]; y[threadIdx.x] = s[threadIdx.x & 3]; }';
    const verdict = verify(text, text);
    expect(verdict).toMatchObject({ status: 'not-verified' });
    expect(verdict.status === 'not-verified' && verdict.obstacles[0]?.reason).toContain('faults');
  });
});
