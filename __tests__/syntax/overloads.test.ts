/** Which functions a call may mean: one that types alone do not settle keeps all that may be meant. */
import { describe, expect, test } from '@jest/globals';
import { forEachExpr } from '../../src/syntax/walk.js';
import { functionNamed, unit } from './load.js';

const DECLARATIONS = `
struct It { int v; __device__ It &operator++() { v += 1; return *this; } __device__ It operator++(int) { It t{v}; v += 10; return t; } };
struct Pre { int v; __device__ Pre &operator--() { v -= 1; return *this; } };
__device__ int cr(int &a) { return 1; } __device__ int cr(const int &a) { return 2; } __device__ int cr(int &&a) { return 3; }
__device__ int wide(int &a) { return 1; } __device__ int wide(long a) { return 2; }
__device__ int swaps(int &a) { return 1; } __device__ int swaps(float &a) { return 2; }
__device__ int near(const int &a) { return 1; } template <class T> __device__ int near(T &a) { return 2; }
__device__ int plain(int a) { return 1; } template <class T> __device__ int plain(T a) { return 2; }
__device__ int moved(int &&a) { return 1; } __device__ int moved(long a) { return 2; }
`;

async function candidates(call: string): Promise<string[]> {
  const u = await unit(`${DECLARATIONS}__global__ void k(int *p, int n, float x) { const int c = 3; It it{n}; Pre pre{n}; ${call}; }`);
  const found: string[] = [];
  const body = functionNamed(u, 'k').body;
  if (body === null) throw new Error('no body');
  forEachExpr(body, (e) => {
    if (e.kind !== 'call') return;
    if (e.callee.kind === 'unknown') found.push('unknown');
    if (e.callee.kind !== 'function' && e.callee.kind !== 'method') return;
    for (const one of e.callee.candidates) found.push(u.source.text.slice(one.nameSpan.start, one.span.end).replace(/^[^(]*(\([^)]*\)).*$/s, '$1'));
  });
  return found.sort();
}

describe('overloads', () => {
  test.each<[string, readonly string[]]>([
    ['++it', ['()']],
    ['it++', ['(int)']],
    ['--pre', ['()']],
    // There is no such function: the one in front of the object is not it.
    ['pre--', ['unknown']],
    ['cr(n)', ['(const int &a)', '(int &&a)', '(int &a)']],
    // Of a `const int`, or of 3, only the other function takes a value.
    ['wide(n)', ['(int &a)']],
    ['wide(c)', ['(int &a)', '(long a)']],
    ['wide(n + 1)', ['(int &a)', '(long a)']],
    ['swaps(n)', ['(int &a)']],
    ['swaps(x)', ['(float &a)']],
    ['near(n)', ['(T &a)', '(const int &a)']],
    ['plain(n)', ['(int a)']],
    ['moved(n)', ['(int &&a)', '(long a)']],
  ])('%s', async (call, expected) => {
    expect(await candidates(call)).toEqual(expected);
  });
});
