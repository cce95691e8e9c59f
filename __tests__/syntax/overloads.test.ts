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
enum E { E1 }; enum F : short { F1 };
__device__ int up(long long a) { return 1; } template <class T> __device__ int up(T &a) { return 2; }
__device__ int longs(long a); __device__ int longs(long long a);
__device__ int longs(long a) { return 1; } __device__ int longs(long long a) { return 2; } __device__ int longs(unsigned long long a) { return 3; } __device__ int longs(double a) { return 4; }
__device__ int chars(char a) { return 1; } __device__ int chars(signed char a) { return 2; } __device__ int chars(unsigned char a) { return 3; } __device__ int chars(int a) { return 4; }
__device__ int wides(int a) { return 1; } __device__ int wides(unsigned a) { return 2; } __device__ int wides(long long a) { return 3; } __device__ int wides(double a) { return 4; }
__device__ int shorts(short a) { return 1; } __device__ int shorts(float a) { return 2; }
__device__ int enums(E a) { return 1; } __device__ int enums(int a) { return 2; } __device__ int enums(F a) { return 3; }
__device__ int exact(int a) { return 1; } __device__ int exact(long long a) { return 2; } template <class T> __device__ int exact(T a) { return 3; }
__device__ int two(int a, float b) { return 1; } __device__ int two(long a, double b) { return 2; } __device__ int two(int a, double b) { return 3; }
`;

async function candidates(call: string): Promise<string[]> {
  const u = await unit(`${DECLARATIONS}__global__ void k(int *p, int n, float x) { const int c = 3; long l = n; long long ll = n; unsigned long long ull = n; It it{n}; Pre pre{n}; ${call}; }`);
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
    // `long` and `long long` are two types, as are the kinds of characters; what is exact or a promotion comes before a conversion.
    ['up(l)', ['(T &a)', '(long long a)']],
    ['up(ll)', ['(long long a)']],
    ['longs(l)', ['(long a)']],
    ['longs(ll)', ['(long long a)']],
    ['longs(ull)', ['(unsigned long long a)']],
    ['longs(ll + l)', ['(long long a)']],
    ['longs(ull + l)', ['(unsigned long long a)']],
    ['longs(sizeof(int) + 1ll)', ['(unsigned long long a)']],
    ['longs(5l)', ['(long a)']],
    ['longs(5ll)', ['(long long a)']],
    ['longs((int64_t)n)', ['(long a)']],
    ['longs(clock64())', ['(double a)', '(long a)', '(long long a)', '(unsigned long long a)']],
    ['chars((char)n)', ['(char a)']],
    ['chars((signed char)n)', ['(signed char a)']],
    ['chars((int8_t)n)', ['(signed char a)']],
    ['chars((uint8_t)n)', ['(unsigned char a)']],
    ["chars('x')", ['(char a)']],
    ['wides((short)n)', ['(int a)']],
    ["wides('x')", ['(int a)']],
    ["wides(L'x')", ['(int a)']],
    ["wides(U'x')", ['(unsigned a)']],
    ['wides(n > 3)', ['(int a)']],
    ['wides(x)', ['(double a)']],
    ['wides(E1)', ['(int a)']],
    ['wides(F1)', ['(int a)']],
    ['shorts(F1)', ['(short a)']],
    ['enums(E1)', ['(E a)']],
    ['enums(n)', ['(int a)']],
    ['exact((short)n)', ['(T a)', '(int a)']],
    ['exact(n)', ['(int a)']],
    // Both arguments have a say.
    ['two(n, x)', ['(int a, float b)']],
    ['two((short)n, x)', ['(int a, float b)']],
  ])('%s', async (call, expected) => {
    expect(await candidates(call)).toEqual(expected);
  });
});
