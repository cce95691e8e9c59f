import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { Text } from './program.js';

beforeAll(async () => { await initParser(); });

/** Scope of the condition of the n-th `if` of the kernel. */
function scopeOfIf(text: string, n = 0): string {
  const branches = new Text(text).kernel();
  const site = branches.branches.filter((branch) => branch.kind === 'if')[n];
  if (site === undefined) throw new Error('no such if');
  const verdict = branches.scope(site.condition);
  return verdict.known ? verdict.value : 'unknown';
}

describe('loads of one address', () => {
  test.each([
    ['const __restrict__', '__global__ void k(const int *__restrict__ p, int *o) { if (p[blockIdx.x]) o[threadIdx.x] = 1; }', 'block', 0],
    ['never written', '__global__ void k(const int *p, int *__restrict__ o) { if (p[0]) o[threadIdx.x] = 1; }', 'grid', 0],
    ['a store may overlap', '__global__ void k(const int *p, int *o) { if (p[0]) o[threadIdx.x] = 1; }', 'lane', 0],
    ['granted not to overlap', '// divmod: noalias\n__global__ void k(const int *p, int *o) { if (p[0]) o[threadIdx.x] = 1; }', 'grid', 0],
    ['constant memory', '__constant__ int mode;\n__global__ void k(int *o) { if (mode) o[threadIdx.x] = 1; }', 'grid', 0],
    ['written by the kernel itself', '__global__ void k(int *p) { p[blockIdx.x] = threadIdx.x; if (p[blockIdx.x] > 5) p[1000] = 1; }', 'lane', 0],
    ['written by one thread before', '__global__ void k(int *f) { if (threadIdx.x == 0) *f = 1; if (*f) f[1] = 2; }', 'lane', 1],
    ['written by a callee through a parameter', '__device__ void put(int *q) { q[threadIdx.x] = 1; } __global__ void k(int *p) { put(p + 1); if (p[0]) p[7] = 1; }', 'lane', 0],
    ['an unknown call may write it', '__global__ void k(const int *p) { mystery(); if (p[0]) mystery(); }', 'lane', 0],
    ['through the read-only path', '__global__ void k(const int *p, int *o) { if (__ldg(&p[blockIdx.x])) o[threadIdx.x] = 1; }', 'block', 0],
    ['a row that may overlap what is written', '__global__ void k(int *const *__restrict__ rows, int *o) { if (rows[blockIdx.x][0]) o[threadIdx.x] = 1; }', 'lane', 0],
    ['a row apart from what is written', '__global__ void k(int **rows, int *__restrict__ o) { if (rows[blockIdx.x][0]) o[threadIdx.x] = 1; }', 'block', 0],
    ['a row that the host made, of a kernel that writes nothing but shared memory', '__global__ void k(int **rows) { __shared__ int s[32]; if (rows[blockIdx.x][0]) s[threadIdx.x] = 1; }', 'block', 0],
    ['a row that the kernel replaces', '__global__ void k(int **rows, int *q) { rows[blockIdx.x] = q + threadIdx.x; if (rows[blockIdx.x][0]) q[7] = 1; }', 'lane', 0],
    ['volatile', '__global__ void k(volatile int *p) { if (p[0]) return; }', 'lane', 0],
  ] as const)('%s', (_name, text, expected, n) => { expect(scopeOfIf(text, n)).toBe(expected); });
});

describe('shared memory and barriers', () => {
  test.each([
    ['a barrier on both sides', `__global__ void k(const int *in, int *o, int n) { __shared__ int s;
      for (int i = 0; i < n; ++i) { if (threadIdx.x == 0) s = in[i]; __syncthreads(); if (s) o[i] = 1; __syncthreads(); } }`, 1, 'block'],
    ['no barrier behind, over the back edge', `__global__ void k(const int *in, int *o, int n) { __shared__ int s;
      for (int i = 0; i < n; ++i) { if (threadIdx.x == 0) s = in[i]; __syncthreads(); if (s) o[i] = 1; } }`, 1, 'lane'],
    ['no barrier before', `__global__ void k(int *o) { __shared__ int s; s = 0; __syncthreads(); if (threadIdx.x == 37) s = 1; if (s) o[0] = 1; }`, 1, 'lane'],
    ['exit in the middle', `__global__ void k(const int *in, int *o) { __shared__ int s; s = 0;
      for (int i = 0; ; ++i) { __syncthreads(); if (s) break; if (threadIdx.x == 0) s = in[i]; o[i] = 1; } }`, 0, 'lane'],
    ['written in the other arm', `__global__ void k(int *o) { __shared__ int s; s = 0; __syncthreads();
      if (threadIdx.x < 32) { s = 1; } else { if (s) o[0] = 1; } }`, 1, 'lane'],
    ['a barrier inside a callee', `__device__ void wait() { __syncthreads(); }
      __global__ void k(const int *in, int *o) { __shared__ int s; if (threadIdx.x == 0) s = in[0]; wait(); if (s) o[0] = 1; }`, 1, 'block'],
    ['a barrier on one path only', `__global__ void k(const int *in, int *o, int n) { __shared__ int s; if (threadIdx.x == 0) s = in[0]; if (n) __syncthreads(); if (s) o[0] = 1; }`, 2, 'lane'],
    ['several warps write behind a barrier of each', `__global__ void k(int *o) { __shared__ int s; s = threadIdx.x; __syncwarp(); if (s) o[0] = 1; }`, 0, 'lane'],
    ['the only warp writes behind its barrier', `__global__ void __launch_bounds__(32) k(int *o) { __shared__ int s; s = threadIdx.x; __syncwarp(); if (s) o[0] = 1; }`, 0, 'warp'],
    ['a part of each warp behind its barrier', `__global__ void k(const int *in, int *o) { __shared__ int s[32]; int w = threadIdx.x / 32; s[w] = in[threadIdx.x]; __syncwarp(); if (s[w]) o[0] = 1; }
      void host(const int *in, int *o) { k<<<4, 128>>>(in, o); }`, 0, 'warp'],
    ['an array element', `__global__ void k(const int *in, int *o) { __shared__ int s[64]; s[threadIdx.x] = in[threadIdx.x]; __syncthreads(); if (s[0]) o[threadIdx.x] = 1; }`, 0, 'block'],
    ['another array is written meanwhile', `__global__ void k(const int *in, int *o) { __shared__ int s[64]; __shared__ int t[64]; s[threadIdx.x] = in[threadIdx.x]; __syncthreads();
      t[threadIdx.x] = 1; if (s[0]) o[threadIdx.x] = t[3]; }`, 0, 'block'],
  ])('%s', (_name, text, n, expected) => { expect(scopeOfIf(text, n)).toBe(expected); });
});

describe('invariance over a loop', () => {
  function invariant(text: string, source: string): boolean {
    const loaded = new Text(text);
    const facts = loaded.kernel();
    const loop = facts.branches.find((branch) => branch.kind === 'for')?.node;
    if (loop === undefined || 'type' in loop) throw new Error('no loop');
    return facts.invariant(loaded.expr(source), loop).value;
  }

  test.each([
    ['a parameter', '__global__ void k(int m, int *o) { for (int i = 0; i < 4; ++i) { if (m > 2) o[i] = 1; } }', 'm > 2', true],
    ['assigned inside', '__global__ void k(int m, int *o) { for (int i = 0; i < 4; ++i) { if (m > 2) o[i] = 1; m += i; } }', 'm > 2', false],
    ['changed by a callee', '__device__ void next(int &v) { v++; } __global__ void k(int m, int *o) { for (int i = 0; i < 4; ++i) { if (m > 2) o[i] = 1; next(m); } }', 'm > 2', false],
    ['a load that nothing overwrites', '__global__ void k(const int *p, int *__restrict__ o) { for (int i = 0; i < 4; ++i) { if (p[0]) o[i] = 1; } }', 'p[0]', true],
    ['a load that a store may overwrite', '__global__ void k(const int *p, int *o) { for (int i = 0; i < 4; ++i) { if (p[0]) o[i] = 1; } }', 'p[0]', false],
    ['shared memory over a barrier', '__global__ void k(int *o) { __shared__ int s; s = 0; for (int i = 0; i < 4; ++i) { if (s == 1) o[i] = 1; __syncthreads(); } }', 's == 1', false],
    ['the counter', '__global__ void k(int *o) { for (int i = 0; i < 4; ++i) { if (i == 1) o[i] = 1; } }', 'i == 1', false],
  ])('%s', (_name, text, source, expected) => { expect(invariant(text, source)).toBe(expected); });
});
