import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { children, isExpr, isVariable, walk, type Node } from '../../src/syntax/walk.js';
import type { Unit } from '../../src/syntax/tree.js';
import { functionNamed, program, unit } from './load.js';

const KERNELS = `#include <cstdio>
#define TILE 16
#define AT(i, j) ((i) * n + (j))
template <typename T> struct Pair { T a, b; __device__ T sum() const { return a + b; } };
__device__ __forceinline__ float clampf(float x, float lo, float hi = 1.0f) { return x < lo ? lo : (x > hi ? hi : x); }
template <typename T, int N>
__global__ __launch_bounds__(TILE * TILE) void tile(const T *__restrict__ in, T *__restrict__ out, int n, Pair<T> pair) {
  __shared__ T s[TILE][TILE + 1];
  const unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) s[threadIdx.y][threadIdx.x] = in[AT(y, x)];
  __syncthreads();
  T sum = (T)0;
  #pragma unroll
  for (int k = 0; k < N; ++k) {
    switch (k & 3) { case 0: sum += s[k % TILE][0]; break; case 1: case 2: continue; default: sum = -sum; }
  }
  while (sum > (T)(2)) { sum /= 2; if (sum == 3) break; }
  auto f = [&](int i) -> T { return s[i][i] * pair.sum(); };
  if (threadIdx.x == 0) out[blockIdx.x] = f(1) + clampf(sum, 0.f); else if (x == 3) return;
}
int main() {
  int n = 100; float *a, *b;
  dim3 grid((n + TILE - 1) / TILE, 2), block(TILE, TILE);
  for (int i = 0; i < 3; i++) tile<float, 4><<<grid, block, 0, 0>>>(a, b, n, Pair<float>{1.f, 2.f});
  return 0;
}
`;

function roots(u: Unit): Node[] {
  return u.functions.flatMap((decl) => (decl.body === null ? [] : [decl.body]));
}

describe('spans', () => {
  test('children lie inside their parents, in order, and end where their text ends', async () => {
    const u = await unit(KERNELS);
    expect(u.functions.every((decl) => decl.understood)).toBe(true);
    let count = 0;
    for (const root of roots(u)) {
      walk(root, (node) => {
        count++;
        if (!isExpr(node) || node.kind !== 'macro') {
          let from = node.span.start;
          const inside = isVariable(node) ? [] : children(node);
          for (const child of inside) {
            expect(child.span.start).toBeGreaterThanOrEqual(from);
            expect(child.span.end).toBeLessThanOrEqual(node.span.end);
            from = child.span.start;
          }
        } else {
          return false;
        }
        const text = u.source.text.slice(node.span.start, node.span.end);
        if (isExpr(node) && (node.kind === 'ref' || node.kind === 'literal')) expect(text).toMatch(node.kind === 'ref' ? new RegExp(`^${node.name}$`) : /^[\d.f"']+$/);
        if (text !== '') expect(text).toBe(text.trim());
        return undefined;
      });
    }
    expect(count).toBeGreaterThan(150);
  });

  test('names and operators have spans of their own', async () => {
    const u = await unit(KERNELS);
    const text = (span: { start: number; end: number }): string => u.source.text.slice(span.start, span.end);
    const tile = functionNamed(u, 'tile');
    expect(text(tile.nameSpan)).toBe('tile');
    expect(text(tile.headSpan).startsWith('template <typename T, int N>')).toBe(true);
    expect(text(tile.span).endsWith('}')).toBe(true);
    for (const root of roots(u)) {
      walk(root, (node) => {
        if (isVariable(node)) expect(text(node.nameSpan)).toBe(node.name);
        if (isExpr(node) && node.kind === 'macro') return false;
        if (isExpr(node) && node.kind === 'binary') expect(text(node.opSpan)).toBe(node.op);
        if (!isExpr(node) && !isVariable(node) && node.kind === 'if' && node.elseSpan !== null) expect(text(node.elseSpan)).toBe('else');
        if (!isExpr(node) && !isVariable(node) && (node.kind === 'for' || node.kind === 'while' || node.kind === 'if')) expect(text(node.headSpan)).toMatch(/^\(.*\)$/s);
        return undefined;
      });
    }
  });
});

describe('strange input', () => {
  beforeAll(async () => {
    await unit('');
  });

  test('nesting and chains of ten thousand do not overflow the stack', async () => {
    const deep = 10_000;
    const u = await unit([
      `__global__ void a(int *p) { p[0] = ${'('.repeat(deep)}1${')'.repeat(deep)}; }`,
      `__global__ void b(int *p) { p[0] = ${Array.from({ length: deep }, () => '1').join(' + ')}; }`,
      `__global__ void c(int *p, int n) { ${Array.from({ length: deep }, (_, i) => `if (n == ${i}) p[0] = ${i};`).join(' else ')} }`,
      `__global__ void d(int *p) { ${'{'.repeat(deep)}${'}'.repeat(deep)} }`,
      `__global__ void e(int *p, int n) { p[0] = ${Array.from({ length: deep }, () => 'n ? 1 : ').join('')}2; }`,
      `__global__ void f(int *p, int n) { p[0] = ${'-~'.repeat(deep / 2)}n; }`,
      '__global__ void g(int *p) { p[0] = 1; }',
    ].join('\n'));
    expect(u.kernels.map((k) => k.name)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    // Braces of that depth are read as a list by the grammar; the kernel is known, its body is not.
    expect(u.kernels.map((k) => k.understood)).toEqual([true, true, true, false, true, true, true]);
    const reasons = new Set<string>();
    for (const root of roots(u)) walk(root, (node) => { if (node.kind === 'opaque') reasons.add(node.reason); });
    expect([...reasons].sort()).toEqual(['chain too long', 'nested too deeply']);
  });

  test('an error stays in its kernel', async () => {
    const u = await unit('__global__ void a(int *p) { p[0] = 1; }\n__global__ void b(int *p) { p[0] = ; if }\n__global__ void c(int *p) { p[0] = 3; }');
    expect(u.kernels.map((k) => [k.name, k.understood, k.problems.map((x) => x.line)])).toEqual([['a', true, []], ['b', false, expect.arrayContaining([2])], ['c', true, []]]);
  });

  test('kernels behind an unbalanced brace are found', async () => {
    const u = await unit(`__global__ void a(int *p) { if (p[0]) { p[0] = 1; }
template <int N> __global__ void b(int *p) { p[0] = N; }
__global__ void c(int *p) { p[0] = 3; }
`);
    expect(u.kernels.map((k) => [k.name, k.understood])).toEqual([['a', false], ['b', true], ['c', true]]);
    expect(u.kernels[1]?.template?.map((t) => t.name)).toEqual(['N']);
    expect(u.kernels[1]?.body?.body.map((s) => s.kind)).toEqual(['expression']);
  });

  test('lowering never throws on mutated text', async () => {
    const pieces = ['(', ')', '{', '}', '<', '>', '<<<', '>>>', ';', ',', '#if 1\n', '#else\n', '#endif\n', '"', "'", '/*', '//', '::', '->', 'template', 'case', '__global__', '?', ':', '[', ']', '=', '\\', '\n', '(T)-', 'é𝄞'];
    await fc.assert(fc.asyncProperty(
      fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), cut: fc.nat({ max: 30 }), put: fc.constantFrom('', ...pieces) }), { minLength: 1, maxLength: 6 }),
      async (mutations) => {
        let text = KERNELS;
        for (const { at, cut, put } of mutations) {
          const start = Math.floor(at * text.length);
          text = text.slice(0, start) + put + text.slice(start + cut);
        }
        const loaded = await program({ 'a.cu': text });
        expect(loaded.units.size).toBe(1);
        for (const u of loaded.units.values()) {
          for (const root of roots(u)) walk(root, (node) => expect(node.span.start).toBeLessThanOrEqual(node.span.end));
        }
      },
    ), { numRuns: 150 });
  });
});

describe('a cast by the name of a typedef, which reads as an operator at first', () => {
  test.each([
    ['among the initialisers of a constructor', 'struct N { U b; U c; __device__ N(int x) : b((U)-x), c{(U)+x} {} };\n__global__ void k(int *o, int n) { N s(n); if (n > 3) o[0] = s.b; }'],
    ['as an argument of the initialiser of a base', 'struct B { U b; __device__ B(U x) : b(x) {} };\nstruct N : B { __device__ N(int x) : B((U)-x) {} };\n__global__ void k(int *o, int n) { N s(n); if (n > 3) o[0] = s.b; }'],
    ['as an argument of a template that is a type', 'template <int N> struct W { int v[N]; };\n__global__ void k(int *o, int n) { W<(U)+4> w; if (n > 3) o[0] = w.v[0]; }'],
  ])('%s', async (_, text) => {
    const read = await unit(`typedef unsigned U;\n${text}\n`);
    expect(read.kernels.map(({ understood }) => understood)).toEqual([true]);
    for (const fn of read.functions) expect(fn.problems).toEqual([]);
  });
});
