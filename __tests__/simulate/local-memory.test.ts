/** Local memory is a thread's own: an address of a local variable that another thread has handed on leads to nothing. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { verifyEquivalent } from '../../src/verify/index.js';
import { contents, faultKinds, initParser, programOf, ran, run } from './helpers.js';

beforeAll(async () => { await initParser(); });

const PARTS = `
  struct P { const int *at; int more; };
  __device__ int gone;
  __device__ int *cell;
  __device__ const int *pick(const int &x) { return &x; }
  __device__ P packed(const int &x) { return P{&x, 1}; }
  __device__ int through(const int &x) { return x; }
  __device__ void put(int *p, int v) { *p = v; }
  __device__ __noinline__ int deep(int n, const int *p) { int own = n; const int *q = &own; return n == 0 ? *p + *q : deep(n - 1, p) + *q; }
`;

const kernel = (body: string): string => `${PARTS} __global__ void k(int *y) { __shared__ const int *sh[64]; __shared__ P ps[64]; __shared__ unsigned long long bits[64]; int t = threadIdx.x; int v = t * 3; ${body} }`;

describe('the local variable of another thread', () => {
  test.each([
    ['by a queue in shared memory', 'sh[t] = &v; __syncthreads(); y[t] = *sh[t ^ 1];'],
    ['of another warp', 'sh[t] = &v; __syncthreads(); y[t] = *sh[t ^ 32];'],
    ['from a callee that gives back the address of its reference', 'sh[t] = pick(v); __syncthreads(); y[t] = *sh[t ^ 1];'],
    ['in an object', 'ps[t] = packed(v); __syncthreads(); y[t] = *ps[t ^ 1].at;'],
    ['as a number', 'bits[t] = (unsigned long long)&v; __syncthreads(); y[t] = *(int *)bits[t ^ 1];'],
    ['by shuffle', 'unsigned long long a = (unsigned long long)&v; a = __shfl_xor_sync(0xffffffff, a, 1); y[t] = *(int *)a;'],
    ['an element of an array', 'int a[4] = {t, t, t, t}; sh[t] = a + 1; __syncthreads(); y[t] = sh[t ^ 1][1];'],
    ['a member', 'P p{nullptr, t}; sh[t] = &p.more; __syncthreads(); y[t] = *sh[t ^ 1];'],
    ['bound to the reference of a callee', 'sh[t] = &v; __syncthreads(); y[t] = through(*sh[t ^ 1]);'],
    ['of a thread for all', 'if (t == 0) sh[0] = &v; __syncthreads(); y[t] = *sh[0];'],
    ['written', 'sh[t] = &v; __syncthreads(); *(int *)sh[t ^ 1] = 1; y[t] = v;'],
    ['written by a callee', 'sh[t] = &v; __syncthreads(); put((int *)sh[t ^ 1], 1); y[t] = v;'],
    ['a whole object', 'P p{nullptr, t}; __shared__ P *all[64]; all[t] = &p; __syncthreads(); P q = *all[t ^ 1]; y[t] = q.more;'],
    ['below calls of its own', 'sh[t] = &v; __syncthreads(); y[t] = deep(3, sh[t ^ 1]);'],
    ['from a global variable', 'if (t == 0) cell = &v; __syncthreads(); y[t] = *cell;'],
  ])('%s', (_name, body) => {
    expect(faultKinds(run(kernel(body), { block: [64, 1, 1] }))).toContain('foreign-local');
  });
});

describe('a thread\'s own local variables', () => {
  test.each([
    ['by a place in shared memory', 'sh[t] = &v; __syncthreads(); y[t] = *sh[t];'],
    ['from a callee', 'const int *p = pick(v); y[t] = *p;'],
    ['in an object', 'P p = packed(v); y[t] = *p.at;'],
    ['as a number', 'bits[t] = (unsigned long long)&v; __syncthreads(); y[t] = *(int *)bits[t];'],
    ['shuffled to itself', 'unsigned long long a = (unsigned long long)&v; a = __shfl_xor_sync(0xffffffff, a, 0); y[t] = *(int *)a;'],
    ['by reference', 'y[t] = through(v);'],
    ['written by a callee', 'put(&v, t * 3); y[t] = v;'],
    ['an array of them, walked through', 'int a[8]; for (int i = 0; i < 8; ++i) a[i] = v; int *p = a; for (int i = 0; i < 7; ++i) ++p; y[t] = *p;'],
    ['its last element and its first', 'int a[8]; a[0] = 0; a[7] = v; int *e = a + 8; y[t] = e[-1] + *(e - 8);'],
    ['address compared only', 'sh[t] = &v; __syncthreads(); y[t] = sh[t ^ 1] == &v ? 0 : v;'],
    ['below calls of its own', 'sh[t] = &v; __syncthreads(); y[t] = deep(3, sh[t]) - 6;'],
    ['where arms run by turns', 'if (t & 1) { y[t] = deep(2, &v) - 3 + 0 * __shfl_sync(0xffffffff, v, 0); } else { y[t] = deep(3, &v) - 6 + 0 * __shfl_sync(0xffffffff, v, 0); }'],
  ])('%s', (_name, body) => {
    const r = run(kernel(body), { block: [64, 1, 1] });
    expect(ran(r).faults.filter(({ kind }) => kind === 'foreign-local')).toEqual([]);
    expect(contents(r, 'y', 64)).toEqual(Array.from({ length: 64 }, (_, t) => t * 3));
  });
});

describe('a comparison of two texts', () => {
  const text = (work: string): string => `__global__ void k(const float *x, float *y, int n) {
    __shared__ const float *queue[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t; float v = i < n ? x[i] : 0.0f; const float *p = &v;
    ${work}
  }`;
  const verdict = (before: string, after: string): string => JSON.stringify(verifyEquivalent(programOf(text(before)), programOf(text(after)), 'k', { blocks: [[64, 1, 1]] }), (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

  test('a result that hands on addresses of local variables is different, though the values would be the same', () => {
    const found = verdict('if (i < n) y[i] = *p * 2.0f;', 'queue[t ^ 1] = p; __syncthreads(); const float *q = queue[t]; if ((i ^ 1) < n) y[i ^ 1] = *q * 2.0f;');
    expect(found).toContain('"different"');
    expect(found).toContain('foreign-local: reads through the address of a local variable of another thread');
  });

  test('one that keeps to its own is equal', () => {
    expect(verdict('if (i < n) y[i] = *p * 2.0f;', 'queue[t] = p; __syncthreads(); const float *q = queue[t]; if (i < n) y[i] = *q * 2.0f;')).toContain('"equal"');
  });

  test('an original that does it says nothing', () => {
    const work = 'queue[t ^ 1] = p; __syncthreads(); const float *q = queue[t]; if ((i ^ 1) < n) y[i ^ 1] = *q;';
    const found = verdict(work, work);
    expect(found).not.toContain('"equal"');
    expect(found).toContain('the original itself faults');
  });
});
