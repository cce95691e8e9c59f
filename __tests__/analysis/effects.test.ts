import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Effects } from '../../src/analysis/facts.js';
import { initParser } from '../../src/syntax/parser.js';
import { Text } from './program.js';

beforeAll(async () => { await initParser(); });

function whole(text: string, name = 'k', others: Readonly<Record<string, string>> = {}): Effects {
  const loaded = new Text(text, {}, others);
  const fn = loaded.fn(name);
  if (fn.body === null) throw new Error('no body');
  return loaded.kernel(name).effects(fn.body);
}

const names = (effects: Effects, kind: 'read' | 'write' | 'atomic'): string[] => [...new Set(effects.accesses.filter((access) => access.kind === kind).map((access) => `${access.space}:${access.base?.name ?? '?'}`))].sort();
const variables = (set: Effects['assigns']): string[] => [...set].map((variable) => variable.name).sort();

describe('effects', () => {
  test('loads and stores go to what pointers, shared arrays and globals name', () => {
    const effects = whole(`
      __device__ int total;
      __global__ void k(const float *a, float *b, int n) {
        __shared__ float s[32];
        int i = threadIdx.x;
        s[i] = a[i];
        float *p = b + n;
        p[i] = s[i] * 2.f;
        total += n;
      }`);
    expect(names(effects, 'read')).toEqual(['device:a', 'device:total', 'shared:s']);
    expect(names(effects, 'write')).toEqual(['device:b', 'device:total', 'shared:s']);
    expect(variables(effects.assigns)).toEqual(['i', 'p']);
  });

  test('a callee writes through its parameters, across files and two levels', () => {
    const effects = whole(`
      #include "h.cuh"
      __device__ void outer(float *x, int &count) { inner(x + 1, 3.f); count = 4; }
      __global__ void k(float *data, float *other) { int c = 0; outer(data, c); other[0] = c; }`, 'k', {
      'h.cuh': '__device__ inline void inner(float *q, float v) { *q = v; __syncthreads(); }',
    });
    expect(names(effects, 'write')).toEqual(['device:data', 'device:other']);
    expect(variables(effects.assigns)).toContain('c');
    expect(effects.barriers).toHaveLength(1);
    expect(effects.unknownCalls).toHaveLength(0);
  });

  test('a local array passed bare may be written', () => {
    const effects = whole(`
      __device__ void fill(float *v) { v[0] = 1.f; }
      __global__ void k(float *o) { float r[4]; fill(r); o[0] = r[0]; }`);
    expect(variables(effects.assigns)).toContain('r');
    expect(effects.accesses.find((access) => access.kind === 'write' && access.base?.name === 'r')?.space).toBe('local');
  });

  test('an unknown function may do anything, also to what it is given by reference', () => {
    const effects = whole('__global__ void k(float *o) { float v = 1.f; mystery(v, o); o[1] = v; }');
    expect(effects.unknownCalls).toHaveLength(1);
    expect(variables(effects.assigns)).toContain('v');
  });

  test('recursion is an unknown call, not an endless one', () => {
    const effects = whole('__device__ int f(int *p, int n) { if (n > 0) { p[n] = f(p, n - 1); } return n; } __global__ void k(int *p) { f(p, 3); }');
    expect(effects.unknownCalls.length).toBeGreaterThan(0);
    expect(names(effects, 'write')).toContain('device:p');
  });

  test('atomics, fences, votes, output and clocks are told apart', () => {
    const effects = whole(`
      __global__ void k(int *p) {
        atomicAdd(p, 1);
        __threadfence();
        unsigned m = __ballot_sync(0xffffffffu, p[0] > 0);
        __syncwarp();
        printf("%u", m);
        long long t = clock64();
        p[1] = (int)t;
      }`);
    expect(effects.atomics).toHaveLength(1);
    expect(names(effects, 'atomic')).toEqual(['device:p']);
    expect(effects.fences).toHaveLength(1);
    expect(effects.collectives).toHaveLength(2);
    expect(effects.barriers).toHaveLength(1);
    expect(effects.visible).toHaveLength(2);
  });

  test('cooperative groups and block-wide library calls are barriers when types tell', () => {
    const effects = whole(`
      namespace cg = cooperative_groups;
      __global__ void k(float *x) {
        cg::thread_block block = cg::this_thread_block();
        auto tile = cg::tiled_partition<32>(block);
        float v = x[block.thread_rank()];
        v += tile.shfl_down(v, 1);
        block.sync();
        x[0] = v;
      }`);
    expect(effects.barriers).toHaveLength(1);
    expect(effects.collectives).toHaveLength(2);
    expect(effects.unknownCalls).toHaveLength(0);
  });

  test('inline asm is listed; arithmetic touches nothing, shuffles do not hide', () => {
    const effects = whole('__global__ void k(int *p) { int r; asm volatile("mov.u32 %0, %laneid;" : "=r"(r)); p[0] = r; }');
    expect(effects.asm).toHaveLength(1);
    expect(variables(effects.assigns)).toContain('r');
  });

  test('exits leave the region, jumps inside stay', () => {
    const text = new Text(`
      __global__ void k(int *p, int n) {
        for (int i = 0; i < n; ++i) {
          if (p[i] < 0) break;
          if (p[i] == 1) continue;
          if (p[i] == 2) return;
        }
      }`);
    const facts = text.kernel();
    const loop = facts.branches.find((branch) => branch.kind === 'for')?.node;
    const test = facts.branches.find((branch) => branch.kind === 'if')?.node;
    if (loop === undefined || test === undefined) throw new Error('no branches');
    expect(facts.effects(loop).exits.map((exit) => exit.kind)).toEqual(['return']);
    expect(facts.effects(test).exits.map((exit) => exit.kind)).toEqual(['break']);
  });

  test('division by a variable and a load may fault, division by a constant may not', () => {
    const text = new Text('__global__ void k(const int *p, int n, int *o) { int a = n / 7; int b = 7 / n; int c = p[n]; o[0] = a + b + c; }');
    const facts = text.kernel();
    expect(facts.effects(text.expr('n / 7')).faults).toHaveLength(0);
    expect(facts.effects(text.expr('7 / n')).faults).toHaveLength(1);
    expect(facts.effects(text.expr('p[n]')).faults).toHaveLength(1);
  });

  test('volatile accesses are marked, also through a pointer to volatile', () => {
    const effects = whole('__global__ void k(volatile int *flag, int *o) { while (flag[0] == 0) { } o[0] = 1; }');
    expect(effects.accesses.filter((access) => access.volatile).map((access) => access.base?.name)).toEqual(['flag']);
  });

  test('a lambda that captures by reference assigns what it captures', () => {
    const effects = whole('__global__ void k(int *o) { int sum = 0; auto add = [&](int v) { sum += v; }; add(3); o[0] = sum; }');
    expect(variables(effects.assigns)).toContain('sum');
    expect(effects.unknownCalls).toHaveLength(0);
  });

  test('methods reach the pointers of their object', () => {
    const effects = whole(`
      struct View { float *data; int n; __device__ void set(int i, float v) { data[i] = v; } };
      __global__ void k(View view, const float *in) { view.set(threadIdx.x, in[0]); }`);
    expect(effects.unknownCalls).toHaveLength(0);
    expect(names(effects, 'write')).toEqual(['device:view']);
  });
});

describe('aliasing', () => {
  function clash(text: string): boolean {
    const loaded = new Text(text);
    const fn = loaded.fn('k');
    if (fn.body === null) throw new Error('no body');
    const facts = loaded.kernel();
    const { accesses } = facts.effects(fn.body);
    const writes = accesses.filter((access) => access.kind === 'write');
    const reads = accesses.filter((access) => access.kind === 'read');
    if (writes.length === 0 || reads.length === 0) throw new Error('needs a read and a write');
    return writes.some((write) => reads.some((read) => facts.mayAlias(write, read)));
  }

  test.each([
    ['two plain pointers', '__global__ void k(const int *a, int *b) { b[0] = a[0]; }', true],
    ['two restrict pointers', '__global__ void k(const int *__restrict__ a, int *__restrict__ b) { b[0] = a[0]; }', false],
    ['one restrict pointer is enough', '__global__ void k(const int *__restrict__ a, int *b) { b[0] = a[0]; }', false],
    ['a restrict pointer and one made from it', '__global__ void k(int *__restrict__ a) { int *p = a + 4; p[0] = a[0]; }', true],
    ['granted', '// divmod: noalias\n__global__ void k(const int *a, int *b) { b[0] = a[0]; }', false],
    ['shared and global', '__global__ void k(int *a) { __shared__ int s[4]; s[0] = a[0]; }', false],
    ['two shared arrays', '__global__ void k() { __shared__ int s[4]; __shared__ int t[4]; s[0] = t[0]; }', false],
    ['a global array and a pointer', '__device__ int g[4];\n__global__ void k(int *a) { g[0] = a[0]; }', true],
    ['swapped buffers', '__global__ void k(int *__restrict__ a, int *__restrict__ b, int n) { int *p = a; int *q = b; if (n) { int *t = p; p = q; q = t; } p[0] = q[1]; }', true],
    ['fields of one record in memory', 'struct P { int x; int y; }; __device__ P g;\n__global__ void k() { g.x = g.y; }', false],
    ['two names of dynamic shared memory', '__global__ void k() { extern __shared__ int s[]; extern __shared__ float t[]; s[0] = (int)t[0]; }', true],
    ['dynamic shared memory named in a callee', '__device__ int get() { extern __shared__ int q[]; return q[0]; } __global__ void k() { extern __shared__ float s[]; s[0] = get(); }', true],
    ['a pointer that a lambda captures', '__global__ void k(int *__restrict__ a) { int *p = a; auto set = [=](int v) { p[0] = v; }; set(a[1]); }', true],
    ['reinterpreted', '__global__ void k(float *a) { ((int *)a)[1] = (int)a[0]; }', true],
  ])('%s', (_name, text, expected) => { expect(clash(text)).toBe(expected); });
});
