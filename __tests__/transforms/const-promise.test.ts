/**
 * `const` is a promise only where nothing gets around it: a condition on an object that a callee, a constructor or a method changes by a cast or by a `mutable` member stays where it is; what only
 * reads the object leaves it alone.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist } from '../../transforms/hoist.js';
import { peel } from '../../transforms/peel.js';
import { load, outcomesOf } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const CHANGING = `
__device__ void viaReference(const int& x){ int& y = const_cast<int&>(x); ++y; }
__device__ void throughPointer(const int* x){ ++*(int*)x; }
__device__ void oldCast(const int& x){ ++(int&)x; }
__device__ void castAddress(const int& x){ int* p = const_cast<int*>(&x); *p += 1; }
__device__ void oldAddress(const int& x){ *(int*)&x += 1; }
__device__ void keptPointer(const int& x){ const int* p = &x; int* q = (int*)p; ++*q; }
__device__ void asNumber(const int& x){ size_t u = (size_t)&x; ++*(int*)u; }
template<class T> __device__ void generic(const T& x){ ++const_cast<T&>(x); }
template<class T> __device__ void genericOld(const T& x){ ++(T&)x; }
__device__ void passedOn(const int& x){ oldCast(x); }
template<class T> __device__ void genericOn(const T& x){ generic(x); }
__device__ void addressOn(const int& x){ throughPointer(&x); }
__device__ const int& same(const int& x){ return x; }
template<class A, class B> __device__ void second(const A& a, const B& b){ genericOld(b); }
template<class... A> __device__ void packed(const A&... a){ (generic(a), ...); }
struct Live { mutable int v; int w; __device__ void b() const { ++v; } __device__ int get() const { return v++; } };
struct Around { Live m; int z; };
struct Derived : Live {};
struct Plain { int v; int w; __device__ void b() const { ++const_cast<Plain*>(this)->v; } __device__ void b2() const { ((Plain*)this)->v++; } __device__ void b3() const { Plain* p = const_cast<Plain*>(this); p->v++; } __device__ void b4() const { ++(int&)v; }  __device__ int ok() const { return v; } };
__device__ void bump(const Live& m){ ++m.v; } __device__ void byMethod(const Live& m){ m.b(); } __device__ void inner(const Around& m){ ++m.m.v; } __device__ void inherited(const Derived& d){ d.b(); }
__device__ void renamed(const Live& m){ const Live& q = m; byMethod(q); }
__device__ void method1(const Plain& c){ c.b(); } __device__ void method2(const Plain& c){ c.b2(); } __device__ void method3(const Plain& c){ c.b3(); } __device__ void method4(const Plain& c){ c.b4(); } __device__ void member(const Plain& c){ ++(int&)c.v; }
struct Ends { const int& r; __device__ Ends(const int& x):r(x){ } __device__ ~Ends(){ ++const_cast<int&>(r); } };
struct Casts { __device__ Casts(const int& x){ ++const_cast<int&>(x); } };
struct Second { int z; __device__ Second(int q, const int& x){ z = q; oldCast(x); } };
struct Aggregate { const int& r; __device__ void go() const { ++const_cast<int&>(r); } };
struct Called { __device__ void operator()(const int& x) const { ++(int&)x; } };
struct Base { __device__ Base(const int& x){ ++(int&)x; } }; struct Inherits : Base { using Base::Base; };
__device__ Called operator+(const Called& o, const int& x){ ++(int&)x; return o; }
__device__ void taken(Casts){}
__device__ void unseen(const int& x);
__device__ int shown;
`;

const READING = `
__device__ int plus(const int& x){ return x + 1; }
__device__ int sum(const int& x, const int& y){ int z = x; z += y; return z; }
__device__ int nested(const int& x){ return plus(x) + sum(x, x); }
template<class T> __device__ T doubled(const T& x){ return x * (T)2; }
__device__ int load(const float* p, const int& x){ return (int)p[x]; }
__device__ int root(const int& x){ return x + (int)sqrtf((float)x); }
__device__ int view(const int& x){ const int& y = x; return y; }
struct Copies { int v; __device__ Copies(const int& x) : v(x) {} };
struct Vec { int v; int w; __device__ int get() const { return v; } __device__ int len() const { return get() * w; } };
__device__ int field(const Vec& v){ return v.v; } __device__ int length(const Vec& v){ return v.len(); } __device__ int twice(const Vec& v){ return length(v) + field(v); }
__device__ float vectors(const float* p, const int& x){ float4 q = *(float4*)p; return q.x * x; }
`;

/** What is declared in front of the loop, the condition in it, and what stands behind that. */
type Case = readonly [string, string, string];

const CHANGED: readonly Case[] = [
  ['int f = m', 'f > 3', 'viaReference(f)'],
  ['int f = m', 'f > 3', 'oldCast(f)'],
  ['int f = m', 'f > 3', 'castAddress(f)'],
  ['int f = m', 'f > 3', 'oldAddress(f)'],
  ['int f = m', 'f > 3', 'keptPointer(f)'],
  ['int f = m', 'f > 3', 'asNumber(f)'],
  ['int f = m', 'f > 3', 'generic(f)'],
  ['int f = m', 'f > 3', 'genericOld(f)'],
  ['int f = m', 'f > 3', 'generic<int>(f)'],
  ['int f = m', 'f > 3', 'passedOn(f)'],
  ['int f = m', 'f > 3', 'genericOn(f)'],
  ['int f = m', 'f > 3', 'addressOn(f)'],
  ['int f = m', 'f > 3', 'second(i, f)'],
  ['int f = m', 'f > 3', 'packed(i, f)'],
  ['int f = m', 'f > 3', 'throughPointer(&f)'],
  ['int f = m', 'f > 3', 'const_cast<int&>(same(f))++'],
  ['int f = m', 'f > 3', '(int&)same(f) = i'],
  ['int f = m', 'f > 3', 'int& y = const_cast<int&>(same(f)); ++y'],
  ['int f = m', 'f > 3', 'Ends r(f)'],
  ['int f = m', 'f > 3', 'Ends r{f}'],
  ['int f = m', 'f > 3', 'Casts r(f)'],
  ['int f = m', 'f > 3', 'Casts r = f'],
  ['int f = m', 'f > 3', 'Casts r{f}'],
  ['int f = m', 'f > 3', 'taken(f)'],
  ['int f = m', 'f > 3', 'Casts{f}'],
  ['int f = m', 'f > 3', '(Casts)f'],
  ['int f = m', 'f > 3', 'static_cast<Casts>(f)'],
  ['int f = m', 'f > 3', 'Second r(i, f)'],
  ['int f = m', 'f > 3', 'Second r{i, f}'],
  ['int f = m', 'f > 3', 'Aggregate g{f}; g.go()'],
  ['int f = m', 'f > 3', 'Aggregate g{f}; ++const_cast<int&>(g.r)'],
  ['int f = m', 'f > 3', 'Called o; o(f)'],
  ['int f = m', 'f > 3', 'Called{}(f)'],
  ['int f = m', 'f > 3', 'Base b(f)'],
  ['int f = m', 'f > 3', 'Inherits b(f)'],
  ['int f = m', 'f > 3', 'Inherits b{f}'],
  ['int f = m', 'f > 3', 'Called o; o + f'],
  ['int f = m', 'f > 3', 'unseen(f)'],
  ['int f = m', 'f > 3', 'const auto& r = f; viaReference(r)'],
  ['int f = m', 'f > 3', 'const int& r = f; const int& q = r; oldCast(q)'],
  ['int f = m', 'f > 3', 'const int& r = f; ++(int&)r'],
  ['int f = m', 'f > 3', 'const int& r = f; *(int*)&r = i'],
  ['int f = m', 'f > 3', 'const int& r = f; const int* p = &r; *(int*)p = i'],
  ['int f = m', 'f > 3', 'const int& r = f; unseen(r)'],
  ['int f = m', 'f > 3', 'const int& r = f; Casts b(r)'],
  ['int f = m', 'f > 3', 'const int& r = f; nowhere(r)'],
  ['int f = m', 'f > 3', '[](const int& q){ ++(int&)q; }(f)'],
  ['int f = m', 'f > 3', 'auto l = [](const int& q){ ++(int&)q; }; l(f)'],
  ['int f = m', 'f > 3', 'auto l = [](const auto& q){ ++const_cast<int&>(q); }; l(f)'],
  ['int f = m', 'f > 3', 'const int* p = &f; ++*(int*)p'],
  ['int f = m', 'f > 3', 'std::as_const(f); oldCast(std::as_const(f))'],
  ['int f = m', 'f > 3', 'oldCast(same(f))'],
  ['int f = m', 'f > 3', 'oldCast(i ? f : n)'],
  ['int f = m', 'f > 3', 'oldCast((f))'],
  ['int f = m', 'f > 3', 'oldCast(*&f)'],
  ['Live f{m,1}', 'f.v > 3', 'bump(f)'],
  ['const Live f{m,1}', 'f.v > 3', 'bump(f)'],
  ['Live f{m,1}', 'f.v > 3', 'byMethod(f)'],
  ['const Live f{m,1}', 'f.v > 3', 'byMethod(f)'],
  ['Live f{m,1}', 'f.v > 3', 'f.b()'],
  ['const Live f{m,1}', 'f.v > 3', 'f.b()'],
  ['Live f{m,1}', 'f.v > 3', 'f.get()'],
  ['const Live f{m,1}', 'f.v > 3', 'f.get()'],
  ['Live f{m,1}', 'f.v > 3', 'renamed(f)'],
  ['const Live f{m,1}', 'f.v > 3', 'renamed(f)'],
  ['Live f{m,1}', 'f.v > 3', '[](const Live& q){ q.v++; }(f)'],
  ['const Live f{m,1}', 'f.v > 3', '[](const Live& q){ q.v++; }(f)'],
  ['Live f{m,1}', 'f.v > 3', 'const Live& r = f; r.v++'],
  ['const Live f{m,1}', 'f.v > 3', 'const Live& r = f; r.v++'],
  ['Live f{m,1}', 'f.v > 3', 'const Live& r = f; r.b()'],
  ['const Live f{m,1}', 'f.v > 3', 'const Live& r = f; r.b()'],
  ['Live f{m,1}', 'f.v > 3', 'const Live& r = f; bump(r)'],
  ['const Live f{m,1}', 'f.v > 3', 'const Live& r = f; bump(r)'],
  ['Live f{m,1}', 'f.v > 3', 'const Live* p = &f; p->v++'],
  ['const Live f{m,1}', 'f.v > 3', 'const Live* p = &f; p->v++'],
  ['Live f{m,1}', 'f.v > 3', 'const Live* p = &f; p->b()'],
  ['const Live f{m,1}', 'f.v > 3', 'const Live* p = &f; p->b()'],
  ['const Live f{m,1}', 'f.v > 3', 'f.v++'],
  ['const Around f{{m,1},2}', 'f.m.v > 3', 'inner(f)'],
  ['const Around f{{m,1},2}', 'f.m.v > 3', 'f.m.v++'],
  ['Around f{{m,1},2}', 'f.m.v > 3', 'bump(f.m)'],
  ['Derived f{{m,1}}', 'f.v > 3', 'inherited(f)'],
  ['const Derived f{{m,1}}', 'f.v > 3', 'inherited(f)'],
  ['const Live f[2]{{m,1},{m,2}}', 'f[0].v > 3', 'f[0].v++'],
  ['const Live f[2]{{m,1},{m,2}}', 'f[0].v > 3', 'bump(f[0])'],
  ['Plain f{m,1}', 'f.v > 3', 'method1(f)'],
  ['Plain f{m,1}', 'f.v > 3', 'method2(f)'],
  ['Plain f{m,1}', 'f.v > 3', 'method3(f)'],
  ['Plain f{m,1}', 'f.v > 3', 'method4(f)'],
  ['Plain f{m,1}', 'f.v > 3', 'member(f)'],
  ['Plain f{m,1}', 'f.v > 3', 'f.b()'],
  ['Plain f{m,1}', 'f.v > 3', 'f.b2()'],
  ['Plain f{m,1}', 'f.v > 3', 'f.b3()'],
  ['Plain f{m,1}', 'f.v > 3', 'f.b4()'],
  ['Plain f{m,1}', 'f.v > 3', 'oldCast(f.v)'],
  ['Plain f{m,1}', 'f.v > 3', 'const Plain& r = f; r.b()'],
  ['int q = m; Aggregate g{q}', 'g.r > 3', 'q++'],
  ['int q = m; const int& f = q', 'f > 3', 'q++'],
  ['int q = m; Ends g(q)', 'g.r > 3', 'q++'],
  ['__shared__ int f; f = m', 'f > 3', 'oldCast(f)'],
  ['', 'shown > 3', 'oldCast(shown)'],
  ['int& f = shown', 'f > 3', 'generic(f)'],
  ['int w[2] = {m, m}', 'w[1] > 3', 'oldCast(w[1])'],
  ['int f = m; const int& r = f', 'r > 3', 'oldCast(r)'],
  ['int f = m; const int& r = f', 'r > 3', 'oldCast(f)'],
  ['int f = m; const int& r = f', 'f > 3', 'oldCast(r)'],
];

const READ: readonly Case[] = [
  ['int f = m', 'f > 3', 'plus(f)'],
  ['int f = m', 'f > 3', 's += sum(f, i)'],
  ['int f = m', 'f > 3', 's += nested(f)'],
  ['int f = m', 'f > 3', 's += min(f, i)'],
  ['int f = m', 'f > 3', 's += std::max(f, i)'],
  ['int f = m', 'f > 3', 'Copies z(f); s += z.v'],
  ['int f = m', 'f > 3', 's += doubled(f)'],
  ['int f = m', 'f > 3', 'const int& r = f; s += plus(r)'],
  ['int f = m', 'f > 3', 's += load(a, f)'],
  ['int f = m', 'f > 3', 's += view(f)'],
  ['int f = m', 'f > 3', 's += max(f, 3)'],
  ['int f = m', 'f > 3', 's+= root(f)'],
  ['Vec f{m,1}', 'f.v > 3', 's += field(f)'],
  ['Vec f{m,1}', 'f.v > 3', 's += length(f)'],
  ['Vec f{m,1}', 'f.v > 3', 's += twice(f)'],
  ['const Vec f{m,1}', 'f.v > 3', 's += field(f)'],
  ['const int f = m', 'f > 3', 'nowhere(f)'],
  ['const int f = m', 'f > 3', 'oldCast(i)'],
  ['int f = m', 'f > 3', 'oldCast(i)'],
  ['int f = m', 'f > 3', 's += vectors(a, f)'],
];

const kernel = ([declared, condition, text]: Case): string => `${CHANGING}${READING}
__global__ void k(const float *__restrict__ a, float *__restrict__ o, int n, int m) {
  ${declared};
  float s = 0;
  for (int i = 0; i < n; ++i) {
    float x = a[i];
    if (${condition}) s += x; else s += x * x * 3.f + sqrtf(x);
    ${text};
  }
  o[threadIdx.x] = s;
}
`;

const applied = (transform: Parameters<typeof outcomesOf>[0], text: string, condition: string): boolean =>
  outcomesOf(transform, load(text), { evenIfItLoses: true }).some((o) => o.status === 'applied' && text.startsWith(`if (${condition})`, o.site.branch.span.start));

describe('changed in spite of const', () => {
  test.each(CHANGED)('%s; if (%s) %s', (declared, condition, text) => {
    expect(applied(hoist, kernel([declared, condition, text]), condition)).toBe(false);
  });
});

describe('only read', () => {
  test.each(READ)('%s; if (%s) %s', (declared, condition, text) => {
    expect(applied(hoist, kernel([declared, condition, text]), condition)).toBe(true);
  });
});

describe('a bound of peel', () => {
  const bounded = (text: string): string => `${CHANGING}${READING}
__global__ void k(const float *__restrict__ a, float *__restrict__ o, int n, int m) {
  int f = m;
  float s = 0;
  for (int i = 0; i < n; ++i) {
    if (i < f) s += a[i]; else s += a[i] * a[i] * 3.f;
    ${text};
  }
  o[threadIdx.x] = s;
}
`;
  test.each(['oldCast(f)', 'generic(f)', 'passedOn(f)', 'Casts r = f', 'unseen(f)'])('%s', (text) => { expect(applied(peel, bounded(text), 'i < f')).toBe(false); });
  test.each(['s += plus(f)', 's += doubled(f)', 'Copies z(f); s += z.v'])('%s', (text) => { expect(applied(peel, bounded(text), 'i < f')).toBe(true); });
});
