/** Heads of loops and ifs that macros stand for: looked through where the definition is visible, said aloud where it is not. */
import { describe, expect, test } from '@jest/globals';
import { printFunction } from '../../src/syntax/print.js';
import type { FunctionDecl, Stmt } from '../../src/syntax/tree.js';
import { isStmt, walk } from '../../src/syntax/walk.js';
import { functionNamed, unit } from './load.js';

const MACROS = `
#define FOR(i, n) for (int i = 0; i < (n); ++i)
#define FOR2(i, n, j, m) for (int i = 0; i < (n); ++i) for (int j = 0; j < (m); ++j)
#define UFOR(i, n) _Pragma("unroll") for (int i = 0; i < (n); ++i)
#define UNTIL(c) while (!(c))
#define BELOW(c) if (threadIdx.x < (c))
#define INSIDE(i, n) for (int i = 0; i < (n); ++i) if (i > 3)
#define ELIF(c) else if (threadIdx.x < (c))
#define WITH(i, n) int i = 0; for (; i < n; i++)
`;

async function kernel(body: string): Promise<FunctionDecl> {
  return functionNamed(await unit(`${MACROS}__global__ void k(int *o, int n) { int x = 0; ${body} o[threadIdx.x] = x; }\n__global__ void later(int *o) { o[0] = 1; }\n`), 'k');
}

function kinds(fn: FunctionDecl): string[] {
  const found: string[] = [];
  const heads = new Set<Stmt['kind']>(['for', 'while', 'if', 'opaque']);
  if (fn.body !== null) walk(fn.body, (node) => { if (isStmt(node) && heads.has(node.kind)) found.push(node.kind); });
  return found;
}

describe('a visible macro', () => {
  test.each<[string, string, string[]]>([
    ['with a name shorter than any stand-in', 'FOR(i, n) { if (i & 1) x += i; else x -= i; }', ['for', 'if']],
    ['without a blank before its statement', 'FOR(i,n){if (i & 1) x += i;}', ['for', 'if']],
    ['around a macro', 'FOR(i, n) FOR(j, n) { if (i < j) x++; }', ['for', 'for', 'if']],
    ['of two loops', 'FOR2(i, n, j, 4) { if (i < j) x++; }', ['for', 'for', 'if']],
    ['with a pragma', 'UFOR(i, 8) if (i & 1) x++;', ['for', 'if']],
    ['of a while', 'UNTIL(x > n) { x++; }', ['while']],
    ['of an if with an else behind it', 'BELOW(n) { x = 3; } else x = 2;', ['if']],
    ['of a loop and an if', 'INSIDE(i, n) x += i;', ['for', 'if']],
  ])('%s is looked through', async (_, body, expected) => {
    const fn = await kernel(body);
    expect(fn.problems).toEqual([]);
    expect(fn.understood).toBe(true);
    expect(kinds(fn)).toEqual(expected);
  });

  test('declares its variables for the statement only', async () => {
    const text = printFunction(await kernel('FOR2(i, n, j, 4) x += i * j;'));
    expect(text).toMatch(/ref i @variable[\s\S]*ref j @variable/);
    expect(text).not.toContain('unresolved');
  });

  test.each([
    ['that goes on with an else', 'if (n > 3) { x += 3; } ELIF(12) { x = 2; }', 'ELIF(12)'],
    ['that declares before its loop', 'WITH(i, n) { if (i & 1) x += i; }', 'WITH(i, n)'],
  ])('%s is more than a head: the kernel is not understood', async (_, body, shown) => {
    const fn = await kernel(body);
    expect(fn.understood).toBe(false);
    expect(fn.problems).toEqual([{ line: 10, message: `not understood: \`${shown}\` before a statement expands to more than the head of a loop or an if` }]);
  });
});

describe('a macro that is not visible', () => {
  test.each([
    'CUDA_KERNEL_LOOP(i, n) { if (threadIdx.x & 1) x += i; else x -= i; }',
    'LOOP(i, n)\n{ x += i; }',
    'if (n > 3) EACH(i, n) { x += i; }',
    'ITER(i, 0, n + 1, 2) { x += i; }',
    'EACH(const auto &v, list) { x += 1; }',
    'EACH(i, n) { EACH(j, n) { x += 1; } }',
    'EACH(i, n) x += i;',
    'EACH(i, n) if (i & 1) x += i;',
    'EACH(i, n) *o += 1;',
    'EACH(i, n) *o++;',
    'FOREVER { if (x++ > n) break; }',
    'int y = 1; ns::EACH(i, n) { x += y; }',
    'auto f = [&](int v) { EACH(i, v) { x += 1; } }; f(3);',
    'switch (n) { case 3: EACH(i, n) { x += 1; } break; default: x = 2; }',
  ])('%s is not understood, and costs no other kernel', async (body) => {
    const from = await unit(`__global__ void k(int *o, int n) { int x = 0; ${body} o[threadIdx.x] = x; }\n__global__ void later(int *o) { o[0] = 1; }\n`);
    const fn = functionNamed(from, 'k');
    expect(fn.understood).toBe(false);
    expect(fn.problems.length).toBeGreaterThan(0);
    expect(functionNamed(from, 'later').understood).toBe(true);
  });

  test('the message names it and what would help', async () => {
    const fn = functionNamed(await unit('__global__ void k(int *o, int n) {\n  CUDA_KERNEL_LOOP(i,\n                   n) {\n    o[i] = i;\n  }\n}\n'), 'k');
    expect(fn.problems).toEqual([{ line: 2, message: 'not understood: `CUDA_KERNEL_LOOP(i, n) {` can only be a macro with a block, and no definition that could be read is visible (--include and -D make one visible)' }]);
  });
});

test('a product with a declared function is an ordinary statement', async () => {
  const from = await unit('__device__ int &at(int i);\n__global__ void k(int *o, int n) { at(n) * n; o[0] = at(n) * *o; }\n');
  expect(functionNamed(from, 'k').understood).toBe(true);
});
