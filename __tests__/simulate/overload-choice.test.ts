/** Which overload a call runs: the one that C++ chooses, or the kernel is not simulated. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { contents, initParser, run } from './helpers.js';
import type { Expected } from './lvalue-forms.js';

beforeAll(async () => { await initParser(); });

const DECLARATIONS = `
struct Q { int v; __device__ int f() { return 1; } __device__ int f() const { return 2; } };
enum E { A1, B1 }; enum class F { X, Y };
__device__ int rf(int &) { return 1; } __device__ int rf(const int &) { return 2; } __device__ int rf(int &&) { return 3; }
__device__ int en(E) { return 1; } __device__ int en(int) { return 2; }
__device__ int ec(F) { return 1; } __device__ int ec(int) { return 2; }
__device__ int pr(int) { return 1; } __device__ int pr(long long) { return 2; }
__device__ int pf(float) { return 1; } __device__ int pf(double) { return 2; }
__device__ int pc(char) { return 1; } __device__ int pc(unsigned char) { return 2; } __device__ int pc(signed char) { return 3; } __device__ int pc(int) { return 4; }
__device__ int pp(int *) { return 1; } __device__ int pp(const int *) { return 2; }
__device__ int pv(void *) { return 1; } __device__ int pv(bool) { return 2; }
__device__ int two(int, double) { return 1; } __device__ int two(double, int) { return 2; }
__device__ int ll(long) { return 1; } __device__ int ll(long long) { return 2; }
__device__ int un(int) { return 1; } __device__ int un(unsigned) { return 2; }
template <class T> __device__ int tp(T) { return 1; } template <class T> __device__ int tp(T *) { return 2; } __device__ int tp(int) { return 3; }
template <class T> __device__ int tr(T &) { return 1; } template <class T> __device__ int tr(const T &) { return 2; }
template <class T> __device__ int fw(T &&) { return 1; } __device__ int fw(const int &) { return 2; }
template <class T> __device__ int ptn(T &) { return 1; } __device__ int ptn(const int &) { return 2; }
struct B0 { int b; }; struct D0 : B0 { int d; }; __device__ int bd(const B0 &) { return 1; } __device__ int bd(const D0 &) { return 2; } __device__ int bb(const B0 &) { return 1; } __device__ int bb(int) { return 2; }
__device__ int bo(bool) { return 1; } __device__ int bo(int) { return 2; }
__device__ int wd(int &) { return 1; } __device__ int wd(long) { return 2; }
__device__ int ex(int) { return 1; } __device__ int ex(long long) { return 2; } template <class T> __device__ int ex(T) { return 3; }
__device__ int up(long long) { return 1; } template <class T> __device__ int up(T &) { return 2; }
__device__ int lt(long) { return 1; } __device__ int lt(long long) { return 2; } template <class T> __device__ int inT(T a) { return lt(a); }
__device__ int pair(char, char) { return 1; } template <class T> __device__ int pair(T, T) { return 2; }
struct C1 { int v; __device__ C1(int x) : v(x) {} }; __device__ int cv(C1) { return 1; } __device__ int cv(double) { return 2; }
`;

/** What C++ gives `s`. */
const CALLS: readonly (readonly [string, Expected])[] = [
  ['int a = 1; const int b = 2; s = rf(a) * 100 + rf(b) * 10 + rf(3);', 123],
  ['s = en(B1) * 10 + en(1);', 12],
  ['E e = B1; s = en(e);', 1],
  ['F e = F::Y; s = ec(e) * 10 + ec(1);', 12],
  ['char c = 1; s = pr(c) * 10 + pr(1LL);', 12],
  ['short c = 1; s = pr(c);', 1],
  ['bool c = 1; s = pr(c);', 1],
  ['E e = B1; s = pr(e);', 1],
  ['s = pf(1.f) * 10 + pf(1.0);', 12],
  ['char c = 1; unsigned char u = 1; signed char g = 1; s = pc(c) * 1000 + pc(u) * 100 + pc(g) * 10 + pc(1);', { refused: true, value: 1234 }],
  ['short h = 1; s = pc(h);', 4],
  ['int a = 1; const int b = 1; s = pp(&a) * 10 + pp(&b);', 12],
  ['int a; s = pv(&a);', 1],
  ['s = two(1, 2.0) * 10 + two(1.0, 2);', 12],
  ['long a = 1; long long b = 1; s = ll(a) * 10 + ll(b);', { refused: true, value: 12 }],
  ['s = un(1) * 10 + un(1u);', 12],
  ['unsigned short c = 1; s = un(c);', 1],
  ['int a = 1; s = tp(a) * 100 + tp(&a) * 10 + tp(1.f);', 321],
  ['int a = 1; const int b = 1; s = tr(a) * 10 + tr(b);', { refused: true, value: 12 }],
  ['int a = 1; s = fw(a) * 10 + fw(1);', { refused: true, value: 11 }],
  ['const int a = 1; s = fw(a);', { refused: true, value: 2 }],
  ['int a = 1; const int b = 1; s = ptn(a) * 10 + ptn(b);', { refused: true, value: 12 }],
  ['D0 d{}; B0 b{}; s = bd(d) * 10 + bd(b);', 21],
  ['D0 d{}; s = bb(d);', 1],
  ['s = bo(1) * 10 + bo(true);', 21],
  ['int a = 1; s = bo(&a);', 1],
  ['int a = 1; const int b = 1; s = wd(a) * 100 + wd(b) * 10 + wd(a + 1);', 122],
  ['s = cv(1) * 10 + cv(1.f);', 22],
  ['char c = 1; s = bo(c);', 2],
  ['Q q{1}; const Q r{2}; const Q *p = &q; s = q.f() * 100 + r.f() * 10 + p->f();', 122],
  ['auto x = 1 ? B1 : A1; s = en(x);', 1],
  ['s = rf(s) * 10 + rf(s + 1);', 13],
  ['int w[2] = {1, 2}; const int *c = w; s = rf(w[1]) * 10 + rf(c[1]);', 12],
  ['s = rf((char)1) * 10 + rf(1.5f);', 33],
  ['char c = 1; s = rf(c);', { refused: true, value: 3 }],
  // An exact template comes before a promotion or a conversion, and `long` is not `long long`.
  ['short h = 1; s = ex(h) * 10 + ex(1);', 31],
  ['long a = 1; s = up(a);', { refused: true, value: 2 }],
  ['long long a = 1; s = up(a);', 1],
  ['long a = 1; long long b = 1; s = inT(a) * 10 + inT(b);', { refused: true, value: 12 }],
  ['long a = 1; unsigned b = 1; s = pair(a, b);', { refused: true, value: 1 }],
  ['long a = 1; s = lt(a) * 10 + lt(1ll);', 12],
];

describe('overloads', () => {
  test.each(CALLS)('%s', (call, expected) => {
    const result = run(`${DECLARATIONS}\n__global__ void k(int *o, int n) { int s = 0; ${call} o[0] = s; }`, { block: [1, 1, 1], args: ['n=1'], size: 8 });
    if (result.status === 'unsupported') {
      expect(typeof expected).toBe('object');
      return;
    }
    expect(contents(result, 'o', 1)).toEqual([typeof expected === 'number' ? expected : expected.value]);
  });

  test('a function of the host beside one of the device is another function, not another type', () => {
    const result = run('__host__ int f(int x) { return 1; } __device__ int f(int x) { return 2; } __global__ void k(int *o) { o[0] = f(3); }', { block: [1, 1, 1], size: 8 });
    if (result.status !== 'unsupported') expect(contents(result, 'o', 1)).toEqual([2]);
  });
});
