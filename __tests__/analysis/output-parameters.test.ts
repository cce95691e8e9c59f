/**
 * What a function leaves in a reference parameter, in its own object or behind a pointer reaches the caller, whichever way control leaves
 * the function: past its end, by a `return` at its end, or by one in an arm, a loop or a switch.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createAnalysis } from '../../src/analysis/analyse.js';
import { initParser } from '../../src/syntax/parser.js';
import { load } from '../helpers/transform.js';

beforeAll(() => initParser());

/** Scope of the last branch of the kernel. */
function scopeOfLast(source: string): string {
  const { program, unit } = load(source);
  const kernel = unit.kernels[0];
  if (kernel === undefined) throw new Error('no kernel');
  const facts = createAnalysis(program, {}).kernel(kernel);
  const last = facts.branches.filter((branch) => branch.kind === 'if').at(-1);
  if (last === undefined) throw new Error('no branch');
  return facts.scope(last.condition).value;
}

const WAYS_OUT: Readonly<Record<string, (store: string) => string>> = {
  'past the end': (store) => `${store}`,
  'return at the end': (store) => `${store} return 0;`,
  'return of what was stored before': (store) => `int before = n; ${store} return before;`,
  'several statements before the return': (store) => `int q = n; q++; ${store} q++; return q;`,
  'return in an arm': (store) => `if (n > 2) { ${store} return 0; } return 1;`,
  'stored at the top, returned in an arm, set again': (store) => `${store} if (n > 2) return 0; RESET return 1;`,
  'return in a nested block': (store) => `{ { ${store} return 0; } }`,
  'return in a loop': (store) => `for (int i = 0; i < n; i++) { ${store} if (i == 3) return 0; } return 1;`,
  'endless loop with a return': (store) => `while (true) { ${store} return 0; }`,
  'return in a switch': (store) => `switch (n) { case 1: ${store} return 0; default: return 2; }`,
};

describe('a value that differs between lanes reaches the caller', () => {
  for (const [name, body] of Object.entries(WAYS_OUT)) {
    const way = (store: string, reset: string): string => body(store).replace('RESET', reset);
    test(`by reference: ${name}`, () => {
      expect(scopeOfLast(`__device__ int f(int &o, int n) { ${way('o = threadIdx.x;', 'o = 0;')} }\n__global__ void k(int *x, int n) { int a = 0; f(a, n); if (a > 3) x[0] = 1; }`)).toBe('lane');
    });
    test(`in the object of a method: ${name}`, () => {
      expect(scopeOfLast(`struct S { int v; __device__ int f(int n) { ${way('v = threadIdx.x;', 'v = 0;')} } };\n__global__ void k(int *x, int n) { S s; s.v = 0; s.f(n); if (s.v > 3) x[0] = 1; }`)).toBe('lane');
    });
    test(`through a pointer: ${name}`, () => {
      expect(scopeOfLast(`__device__ int f(int *o, int n) { ${way('*o = threadIdx.x;', '*o = 0;')} }\n__global__ void k(int *x, int n) { int a = 0; f(&a, n); if (a > 3) x[0] = 1; }`)).toBe('lane');
    });
  }
});

describe('a value that is one for all lanes stays one', () => {
  test('set before a return at the end', () => {
    expect(scopeOfLast('__device__ int f(int &o, int n) { o = n; return 0; }\n__global__ void k(int *x, int n) { int a = 0; f(a, n); if (a > 3) x[0] = 1; }')).toBe('grid');
  });
  test('a function that returns before it stores leaves what was there', () => {
    expect(scopeOfLast('__device__ int f(int &o, int n) { return 0; o = threadIdx.x; }\n__global__ void k(int *x, int n) { int a = n; f(a, n); if (a > 3) x[0] = 1; }')).toBe('grid');
  });
});
