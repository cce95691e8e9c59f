/** `++` and `--` of classes and enumerations, before and behind their object: two functions, told apart by an `int` that nobody writes. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { contents, initParser, run } from './helpers.js';
import type { Expected } from './lvalue-forms.js';

beforeAll(async () => { await initParser(); });

const DECLARATIONS = `
struct It { int v; __device__ It &operator++() { v += 1; return *this; } __device__ It operator++(int) { It t{v}; v += 10; return t; } __device__ It &operator--() { v -= 1; return *this; } __device__ It operator--(int k) { It t{v + k}; v -= 10; return t; } };
struct Pre { int v; __device__ Pre &operator++() { v += 1; return *this; } };
struct Post { int v; __device__ int operator++(int) { v += 10; return v - 10; } };
struct Free { int v; };
__device__ Free &operator++(Free &f) { f.v += 1; return f; }
__device__ Free operator++(Free &f, int) { Free t{f.v}; f.v += 10; return t; }
enum Day { MON, TUE, WED };
__device__ Day &operator++(Day &d) { d = d == WED ? MON : (Day)(d + 1); return d; }
__device__ Day operator++(Day &d, int) { Day t = d; d = MON; return t; }
struct Ptr { int *p; __device__ Ptr &operator++() { ++p; return *this; } __device__ Ptr operator++(int) { Ptr t = *this; p += 2; return t; } __device__ int &operator*() { return *p; } };
template <class T> struct Gen { T v; __device__ Gen &operator++() { v += 1; return *this; } __device__ Gen operator++(int) { Gen t{v}; v += 10; return t; } };
template <class T> __device__ int twice(T &x) { x++; ++x; return x.v; }
struct Base { int v; __device__ int operator++() { return ++v; } __device__ int operator++(int) { v += 10; return v - 10; } }; struct Derived : Base { int w; };
struct Call { int v; __device__ int step(int k = 5) { return v += k; } };
`;

/** What C++ gives `s`; `n` is 1. */
const FORMS: readonly (readonly [string, Expected])[] = [
  ['It a{1}; s = (a++).v * 100 + a.v;', 111],
  ['It a{1}; s = (++a).v * 100 + a.v;', 202],
  ['It a{100}; s = (a--).v * 100 + a.v;', 10090],
  ['It a{100}; s = (--a).v * 100 + a.v;', 9999],
  ['It a{1}; a++; ++a; a++; s = a.v;', 22],
  ['It a{1}, *p = &a; (*p)++; ++*p; s = a.v;', 12],
  ['It a{1}; It b = a++; s = b.v * 100 + a.v;', 111],
  ['It a{1}; It b = ++a; s = b.v * 100 + a.v;', 202],
  ['It a{1}, b{2}; (n > 0 ? a : b)++; s = a.v * 100 + b.v;', 1102],
  ['It a[2] = {{1}, {2}}; a[n]++; ++a[0]; s = a[0].v * 100 + a[1].v;', 212],
  ['for (It a{0}; a.v < 50; a++) s++;', 5],
  ['for (It a{0}; a.v < 50; ++a) s++;', 50],
  ['Pre a{1}; s = (++a).v;', 2],
  ['Post a{1}; s = a++ * 100 + a.v;', 111],
  ['Free a{1}; s = (a++).v * 100 + a.v;', 111],
  ['Free a{1}; s = (++a).v * 100 + a.v;', 202],
  ['Day d = TUE; Day e = d++; s = e * 10 + d;', 10],
  ['Day d = TUE; Day e = ++d; s = e * 10 + d;', 22],
  ['int w[5] = {1, 2, 3, 4, 5}; Ptr p{w}; s = *p++ * 100 + *p;', 103],
  ['int w[5] = {1, 2, 3, 4, 5}; Ptr p{w}; s = *++p * 100 + *p;', 202],
  ['int w[5] = {1, 2, 3, 4, 5}; Ptr p{w}; *p++ = 9; s = w[0] * 100 + *p;', 903],
  ['Gen<int> a{1}; s = (a++).v * 100 + a.v;', 111],
  ['Gen<int> a{1}; s = (++a).v * 100 + a.v;', 202],
  ['Gen<int> a{1}; s = twice(a);', { refused: true, value: 12 }],
  ['It a{1}; s = twice(a);', { refused: true, value: 12 }],
  ['Derived a; a.v = 1; s = a++ * 100 + a.v;', 111],
  ['Derived a; a.v = 1; s = ++a * 100 + a.v;', 202],
  ['Call a{1}; s = a.step() * 100 + a.step(1);', 607],
  ['auto L = [](It &x) { x++; return x.v; }; It a{1}; s = L(a);', 11],
];

describe('overloaded ++ and --', () => {
  test.each(FORMS)('%s', (form, expected) => {
    const result = run(`${DECLARATIONS}\n__global__ void k(int *o, int n) { int s = 0; ${form} o[0] = s; }`, { block: [1, 1, 1], args: ['n=1'], size: 8 });
    if (result.status === 'unsupported') {
      expect(typeof expected).toBe('object');
      return;
    }
    expect(contents(result, 'o', 1)).toEqual([typeof expected === 'number' ? expected : expected.value]);
  });
});
