/** Overloads that `const` and kinds of references tell apart, objects that `?:` makes or names, and types that only an instance of a template tells. Values are g++'s. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { contents, initParser, run } from './helpers.js';

beforeAll(async () => { await initParser(); });

const CONST = `
struct P {
  int v;
  __device__ int get() { return 1; }
  __device__ int get() const { return 2; }
  __device__ int operator[](int i) { return 10; }
  __device__ int operator[](int i) const { return 20; }
  __device__ operator int() { return 5; }
  __device__ operator int() const { return 6; }
  __device__ int out();
  __device__ int out() const;
};
__device__ int P::out() { return 7; }
__device__ int P::out() const { return 8; }
struct W { P p; mutable P m; __device__ int a() { return p.get(); } __device__ int b() const { return p.get(); } __device__ int c() const { return m.get(); } };
struct S { int d[2]; __device__ int &at(int i) { return d[i]; } __device__ const int &at(int i) const { return d[i]; } };
template <class T> __device__ int asked(T &p) { return p.get(); }
template <class T> __device__ int read(T &s) { return s.at(1); }
__device__ int ref(const P &p) { return p.get(); }
__device__ int pick(P &p) { return 51; }
__device__ int pick(const P &p) { return 52; }
__device__ int kind(int &&p) { return 81; }
__device__ int kind(const int &p) { return 82; }
__device__ int kind(int &p) { return 83; }
__device__ int to(int *p) { return 61; }
__device__ int to(const int *p) { return 62; }
__device__ int wide(unsigned p) { return 91; }
__device__ int wide(int p) { return 92; }
`;

const CHOSEN = `
struct C { int v; };
struct K { int v; __device__ K(int x) : v(x) {} __device__ K(const K &c) : v(c.v + 100) {} };
__device__ int bump(C &c) { c.v += 1; return c.v; }
template <class T, class U> __device__ float half(T t, U u, int n) { auto x = n > 3 ? t : u; return x / 2; }
template <class T, class U> __device__ int below(T t, U u, int n) { return (n > 3 ? t : u) < 0; }
template <class T, class U> __device__ int bytes(T t, U u, int n) { return sizeof(n > 3 ? t : u); }
`;

const value = (before: string, body: string): unknown => {
  const result = run(`${before}__global__ void k(int *o, int n) { ${body} }`, { block: [1, 1, 1], args: ['n=5', 'o=[0,0,0,0]'], size: 4 });
  return result.status === 'ran' ? contents(result, 'o', 3) : result.status === 'unsupported' ? result.construct : result.message;
};

describe('const', () => {
  test.each([
    ['P p{1}; o[0] = p.get(); o[1] = p[0]; o[2] = p;', [1, 10, 5]], ['const P p{1}; o[0] = p.get(); o[1] = p[0]; o[2] = p;', [2, 20, 6]], ['P p{1}; const P q{1}; o[0] = p.out(); o[1] = q.out();', [7, 8, 0]],
    ['P p{1}; const P &r = p; const P *s = &p; o[0] = r.get(); o[1] = s->get(); o[2] = s[0].get();', [2, 2, 2]], ['W w{{1}, {1}}; o[0] = w.a(); o[1] = w.b(); o[2] = w.c();', [1, 2, 1]], ['const W w{{1}, {1}}; o[0] = w.p.get(); o[1] = w.b(); o[2] = w.m.get();', [2, 2, 1]],
    ['P p{1}; o[0] = ref(p); o[1] = pick(p); o[2] = pick(P{1});', [2, 51, 52]], ['const P p{1}; auto q = p; auto &r = p; o[0] = q.get(); o[1] = r.get(); o[2] = pick(p);', [1, 2, 52]], ['const P a[2] = {{1}, {2}}; o[0] = a[1].get(); for (const auto &e : a) o[1] = e.get();', [2, 2, 0]],
    ['int i = 3; const int j = 3; o[0] = kind(i); o[1] = kind(j); o[2] = kind(3);', [83, 82, 81]], ['int i = 3; const int j = 3; o[0] = to(&i); o[1] = to(&j);', [61, 62, 0]], ['P p{1}; const P q{1}; o[0] = (n > 3 ? p : q).get();', [2, 0, 0]],
    ['short s = 1; o[0] = wide(s); o[1] = wide(true); o[2] = wide(2u);', [92, 92, 91]], ['S s{{3, 4}}; s.at(1) = 9; o[0] = read(s);', [9, 0, 0]],
  ])('%s', (body, expected) => { expect(value(CONST, body)).toEqual(expected); });

  test.each(['const P p{1}; o[0] = asked(p);', 'P p{1}; o[0] = asked(p);', 'P p{1}; auto f = [p] { return p.get(); }; o[0] = f();'])('%s is not guessed', (body) => { expect(value(CONST, body)).toMatch(/overloads that const/); });
});

describe('?:', () => {
  test.each([
    ['C a{1}, b{2}; C c = n > 3 ? a : b; c.v = 9; o[0] = a.v; o[1] = c.v;', [1, 9, 0]], ['C a{1}; auto c = n > 3 ? a : C{3}; c.v = 9; o[0] = a.v; o[1] = c.v;', [1, 9, 0]], ['C a{1}; const C &r = n > 3 ? a : C{3}; a.v = 8; o[0] = r.v;', [1, 0, 0]],
    ['C a{1}; auto &&r = n > 3 ? a : C{3}; r.v = 8; o[0] = a.v; o[1] = r.v;', [1, 8, 0]], ['C a{1}, b{2}; auto &&r = n > 3 ? a : b; r.v = 8; o[0] = a.v;', [8, 0, 0]], ['C a{1}, b{2}; o[0] = bump(n > 3 ? a : b); o[1] = a.v; o[2] = b.v;', [2, 2, 2]],
    ['int a = 1, b = 2; (n > 3 ? a : b) = 9; (n > 30 ? a : b)++; o[0] = a; o[1] = b;', [9, 3, 0]], ['int a = 1; short b = 2; const int &r = n > 3 ? a : b; a = 9; o[0] = r;', [1, 0, 0]], ['K a(1), b(2); o[0] = (n > 3 ? a : b).v;', [1, 0, 0]],
    ['o[0] = 10 * half(7, 3.f, n); o[1] = 10 * half(7, 3, n); o[2] = 10 * half(7.f, 3, n);', [35, 30, 35]], ['o[0] = below(-7, 1u, n); o[1] = below(-7, 1, n); o[2] = below((short)-7, 1u, n);', [0, 1, 0]], ['o[0] = bytes(1, 2.0, n); o[1] = bytes(\'a\', \'b\', n); o[2] = bytes((char)1, (short)1, n);', [8, 1, 4]],
  ])('%s', (body, expected) => { expect(value(CHOSEN, body)).toEqual(expected); });

  test.each(['K a(1); o[0] = (n > 3 ? a : K(3)).v;', 'K a(1); const K &r = n > 3 ? a : K(3); o[0] = r.v;'])('%s is not guessed', (body) => { expect(value(CHOSEN, body)).toMatch(/copy constructor/); });
});
