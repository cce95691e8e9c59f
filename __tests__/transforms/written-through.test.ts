/** A condition that is loaded is not invariant where the loop stores through a reference that a call returns, or through one that a parameter names. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist } from '../../transforms/hoist.js';
import { load, outcomesOf } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const BEFORE = `
struct Pair { int x, y; };
struct View { int *p; int ld; __device__ int &operator[](int i) const { return p[i]; } __device__ int &at(int i) const { return p[i]; } __device__ int &operator()(int i) const { return p[i * ld]; } };
struct Pairs { Pair *p; __device__ Pair &operator[](int i) const { return p[i]; } __device__ Pair *operator->() const { return p; } };
struct It { int *p; __device__ int &operator*() const { return *p; } };
__device__ int &at(int *p, int i) { return p[i]; }
template <class T> __device__ T &any(T *p, int i) { return p[i]; }
__device__ void deep(View v, int i) { v[0] = i; }
__device__ void deeper(const View &v, int i) { deep(v, i); }
`;

const kernel = (condition: string, write: string): string => `${BEFORE}
__global__ void k(const int *c, int *p, View v, Pairs q, It it, const int *__restrict__ a, int *__restrict__ o, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        if (${condition}) { s += a[i] * 3; s ^= a[i]; s += a[i] >> 2; } else { s -= a[i]; s *= 3; s ^= 5; }
        ${write}
    }
    o[threadIdx.x] = s;
}
`;

const fn = (parameters: string, condition: string, write: string, call: string): string => `${BEFORE}
struct Cfg { int mode; };
__device__ int f(${parameters}, const int *__restrict__ a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        if (${condition}) { s += a[i] * 3; s ^= a[i]; s += a[i] >> 2; } else { s -= a[i]; s *= 3; s ^= 5; }
        ${write}
    }
    return s;
}
__global__ void k(int *p, Cfg *g, const int *a, int *o, int n) { int t[2] = {n, n}; Cfg own{n}; o[threadIdx.x] = ${call}; }
`;

const applied = (text: string): boolean => outcomesOf(hoist, load(text), { evenIfItLoses: true }).some((o) => o.status === 'applied');

describe('through the result of a call', () => {
  test.each([
    'v[0] = i;', 'v[0] += i;', 'v[0]++;', '--v[0];', 'v.at(0) = i;', 'v(0) = i;', 'at(p, 0) = i;', 'any(p, 0) = i;', '*it = i;', 'q[0].x = i;', 'q->x = i;', '(&v)->at(0) = i;', 'v[0] = v[1] = i;', '{ auto z = v; z[0] = i; }',
    '{ View z{p, 1}; z[0] = i; }', '(n > 4 ? v : v)[0] = i;', 'deep(v, i);', 'deeper(v, i);', '{ int &z = v[0]; z = i; }', '(s++, v[0]) = i;',
  ])('%s', (write) => {
    expect(applied(kernel('c[0] > 3', write))).toBe(false);
    expect(applied(kernel('v.p[0] > 3', write))).toBe(false);
  });
  test('what nothing writes is hoisted', () => {
    expect(applied(kernel('c[0] > 3', 's += v[0];'))).toBe(true);
  });
});

describe('through a parameter that is a reference', () => {
  test.each([
    ['int *p, int &r', 'r > 3', '*p = i;', 'f(p, *p, a, n)'], ['int &r, int &q', 'r > 3', 'q = i;', 'f(*p, *p, a, n)'], ['const int &r, int *q', 'r > 3', '*q = i;', 'f(*p, p, a, n)'],
    ['Cfg &c, Cfg *q', 'c.mode > 3', 'q->mode = i;', 'f(*g, g, a, n)'], ['const Cfg &c, Cfg &q', 'c.mode > 3', 'q.mode = i;', 'f(*g, *g, a, n)'], ['int *p, int &r', '*p > 3', 'r = i;', 'f(p, *p, a, n)'],
    ['int (&r)[2], int *q', 'r[0] > 3', '*q = i;', 'f(t, t, a, n)'], ['const int &r, View v', 'r > 3', 'v[0] = i;', 'f(*p, View{p, 1}, a, n)'],
  ])('%s: %s, %s', (parameters, condition, write, call) => {
    expect(applied(fn(parameters, condition, write, call))).toBe(false);
  });
  test('what nothing writes is hoisted', () => {
    expect(applied(fn('const int &r, int &q', 'r > 3', 's += q;', 'f(*p, *p, a, n)'))).toBe(true);
  });
});
