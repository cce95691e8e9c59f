/** Kernels for the soundness test: ways to write a variable without naming it, or naming it as one of several. */
import type { Specimen } from './soundness-kernels-control.js';

const FIELDS = `
struct F { int *p; __device__ void operator()() { *p = threadIdx.x; } __device__ void run() { go(); } __device__ void go() { this->p[0] = threadIdx.x; } };
struct G { int &r; __device__ void run() { r = threadIdx.x; } };
struct H { F f; int z; };
struct V { int x; int y; __device__ void set() { x = threadIdx.x; } __device__ V &own() { return *this; } __device__ V *at() { return this; } __device__ void operator+=(int k) { x += k; } };
struct End { int *p; __device__ ~End() { *p = threadIdx.x; } };
template <class T> struct Ref { T *p; __device__ T &get() { return *p; } __device__ T &operator*() const { return *p; } __device__ T *operator->() const { return p; } __device__ T &operator[](int i) const { return p[i]; } };
template <class Fn> __device__ void apply(Fn f) { f(); }
__device__ void deref(V *p) { p->set(); }
__device__ void one(int &r) { r = threadIdx.x; }
__device__ void there(int *r) { *r = threadIdx.x; }
__device__ V &same(V &v) { return v; }
__device__ int through(const int *r, int &q) { q = threadIdx.x; return *r; }
__device__ int named(const int &r, int *q) { *q = threadIdx.x; return r; }
__device__ int both(int &r, int &q) { q = threadIdx.x; return r; }
__device__ int object(V &r, V *q) { q->x = threadIdx.x; return r.x; }
struct Set { __device__ Set(int &x) { x = threadIdx.x; } };
struct Sets { Set s; };
struct SetD : Set { using Set::Set; };
template <class T> struct Held { T v; __device__ Held(T x) : v(x) {} __device__ void put() { v = threadIdx.x; } static __device__ void in(T x) { x = threadIdx.x; } };
__device__ void take(Set) {}
__device__ void takes(const Set &) {}
__device__ Set made(int &x) { return x; }
template <class T> __device__ void told(T x) { x = threadIdx.x; }
namespace far { struct T { int v; }; enum E { E0 }; __device__ void put(const T &, int &x) { x = threadIdx.x; } __device__ void put(E, int &x) { x = threadIdx.x; } __device__ T &operator<<(T &o, int &x) { x = threadIdx.x; return o; } __device__ T &operator,(T &o, int &x) { x = threadIdx.x; return o; } }
__device__ void put(int, int) {}`;

/** Through a pointer or a reference in an object. */
const THROUGH: readonly string[] = [
  'int v = n; F f{&v}; f(); if (v > 5) out[0] = 1;', 'int v = n; F f = {&v}; f.run(); if (v > 5) out[0] = 1;', 'int v = n; F f; f.p = &v; f.go(); if (v > 5) out[0] = 1;', 'int v = n; G g{v}; g.run(); if (v > 5) out[0] = 1;',
  'int v = n; H h{{&v}, 3}; h.f(); if (v > 5) out[0] = 1;', 'int v = n; F f{&v}; F *g = &f; (*g)(); if (v > 5) out[0] = 1;', 'int v = n; F f{&v}; F *g = &f; g->run(); if (v > 5) out[0] = 1;', 'int v = n; F f{&v}, g; g = f; g(); if (v > 5) out[0] = 1;',
  'int v = n; F{&v}(); if (v > 5) out[0] = 1;', 'int v = n; F f[2] = {{&v}, {&v}}; f[1](); if (v > 5) out[0] = 1;', 'int v[2] = {n, n}; F f{v + 1}; f(); if (v[1] > 5) out[0] = 1;', 'V v{n, n}; F f{&v.x}; f(); if (v.x > 5) out[0] = 1;',
  'int v = n; F f{&v}; apply(f); if (v > 5) out[0] = 1;', 'int v = n; apply(F{&v}); if (v > 5) out[0] = 1;', 'int v = n; int *p = &v; F f{p}; f(); if (v > 5) out[0] = 1;', 'int v = n; { End e{&v}; } if (v > 5) out[0] = 1;',
  'int v = n; Ref<int> r{&v}; r.get() = threadIdx.x; if (v > 5) out[0] = 1;', 'int v = n; Ref<int> r{&v}; *r = threadIdx.x; if (v > 5) out[0] = 1;', 'V v{n, n}; Ref<V> r{&v}; r->x = threadIdx.x; if (v.x > 5) out[0] = 1;',
  'int v[2] = {n, n}; Ref<int> r{v}; r[1] = threadIdx.x; if (v[1] > 5) out[0] = 1;', 'V q{n, n}, *p = &q; p->set(); if (q.x > 5) out[0] = 1;', 'V q{n, n}, *p = &q; deref(p); if (q.x > 5) out[0] = 1;', 'V q{n, n}; V *p = &q; p->own().x = threadIdx.x; if (q.x > 5) out[0] = 1;',
];

/** Through two names of one object that a function is given. */
const TWICE: readonly string[] = [
  'int v = n; if (through(&v, v) > 5) out[0] = 1;', 'int v = n; if (named(v, &v) > 5) out[0] = 1;', 'int v = n; if (both(v, v) > 5) out[0] = 1;', 'V q{n, n}; if (object(q, &q) > 5) out[0] = 1;', 'int w[2] = {n, n}; if (named(w[1], w + 1) > 5) out[0] = 1;',
  'int v = n; int *p = &v; if (named(v, p) > 5) out[0] = 1;',
];

/** Through an lvalue that is not plainly the variable. */
const SPELLED: readonly string[] = [
  'V q{n, n}; (&q)->x = threadIdx.x; if (q.x > 5) out[0] = 1;', 'V q{n, n}; (&q)->set(); if (q.x > 5) out[0] = 1;', 'V q{n, n}, r{n, n}; (n == 3 ? q : r).x = threadIdx.x; if (max(q.x, r.x) > 5) out[0] = 1;',
  'V q{n, n}, r{n, n}; (n == 3 ? q : r).set(); if (max(q.x, r.x) > 5) out[0] = 1;', 'V q{0, n}, r{0, n}; (n == 3 ? q : r) += threadIdx.x; if (max(q.x, r.x) > 5) out[0] = 1;',
  'V q{n, n}, r{n, n}; (&(n == 3 ? q : r))->set(); if (max(q.x, r.x) > 5) out[0] = 1;', 'V q{n, n}, r{n, n}; (n == 3 ? &q : &r)->x = threadIdx.x; if (max(q.x, r.x) > 5) out[0] = 1;', 'V q{n, n}, r{n, n}; (n == 3 ? q : r) = V{(int)threadIdx.x, 0}; if (max(q.x, r.x) > 5) out[0] = 1;',
  'V q{n, n}, r{n, n}; one((n == 3 ? q : r).x); if (max(q.x, r.x) > 5) out[0] = 1;', 'V q{n, n}, r{n, n}; there(&(n == 3 ? q : r).x); if (max(q.x, r.x) > 5) out[0] = 1;', 'V q{n, n}, r{n, n}; int &z = (n == 3 ? q : r).x; z = threadIdx.x; if (max(q.x, r.x) > 5) out[0] = 1;',
  'V q{n, n}, r{n, n}; auto *z = &(n == 3 ? q : r); z->x = threadIdx.x; if (max(q.x, r.x) > 5) out[0] = 1;', 'V q{0, n}, r{0, n}; atomicAdd(&(n == 3 ? q : r).x, (int)threadIdx.x); if (max(q.x, r.x) > 5) out[0] = 1;',
  'V q{n, n}, r{n, n}; (n == 3 ? q : r).own().x = threadIdx.x; if (max(q.x, r.x) > 5) out[0] = 1;', 'V q{n, n}, r{n, n}; (n == 3 ? q : r).at()->x = threadIdx.x; if (max(q.x, r.x) > 5) out[0] = 1;', 'V q{n, n}, r{n, n}; same(n == 3 ? q : r).set(); if (max(q.x, r.x) > 5) out[0] = 1;',
  'V q{n, n}, r{n, n}; (n == 3 ? n == 4 ? r : q : r).x = threadIdx.x; if (max(q.x, r.x) > 5) out[0] = 1;', 'V q{n, n}; int s = 0; (s++, q).set(); if (q.x > 5) out[0] = s;',
  'int w[2] = {n, n}; 1[w] = threadIdx.x; if (w[1] > 5) out[0] = 1;', 'int w[2] = {n, n}; (*&w)[1] = threadIdx.x; if (w[1] > 5) out[0] = 1;', 'int w[2] = {n, n}, s = 0; (s++, w)[1] = threadIdx.x; if (w[1] > 5) out[0] = s;',
  'int w[2] = {n, n}, z[2] = {n, n}; (n == 3 ? w : z)[1] = threadIdx.x; if (max(w[1], z[1]) > 5) out[0] = 1;', 'int w[2][2] = {}; int (*p)[2] = w; p[1][0] = threadIdx.x; if (w[1][0] > 5) out[0] = 1;',
  'int u = n; decltype(auto) z = (u); z = threadIdx.x; if (u > 5) out[0] = 1;', 'int u = n; decltype((u)) z = u; z = threadIdx.x; if (u > 5) out[0] = 1;', 'V w[2] = {}; w->x = threadIdx.x; if (w[0].x > 5) out[0] = 1;',
];

/** By what a constructor, a template's argument, a function of another namespace or a declarator binds. */
const BOUND: readonly string[] = [
  'int v = n; take(v); if (v > 5) out[0] = 1;', 'int v = n; takes(v); if (v > 5) out[0] = 1;', 'int v = n; made(v); if (v > 5) out[0] = 1;', 'int v = n; Set q = v; if (v > 5) out[0] = 1;', 'int v = n; const Set &q = v; if (v > 5) out[0] = 1;',
  'int v = n; Set q[1] = {v}; if (v > 5) out[0] = 1;', 'int v = n; Sets q{v}; if (v > 5) out[0] = 1;', 'int v = n; SetD q = v; if (v > 5) out[0] = 1;', 'int v = n; (void)(Set)v; if (v > 5) out[0] = 1;', 'int v[1] = {n}; for (Set q : v) {} if (v[0] > 5) out[0] = 1;',
  'int v = n; told<int &>(v); if (v > 5) out[0] = 1;', 'int v = n; Held<int &>::in(v); if (v > 5) out[0] = 1;', 'int v = n; Held<int &> q(v); q.put(); if (v > 5) out[0] = 1;', 'int v = n; far::T q{n}; put(q, v); if (v > 5) out[0] = 1;',
  'int v = n; put(far::E0, v); if (v > 5) out[0] = 1;', 'int v = n; far::T q{n}; q << v; if (v > 5) out[0] = 1;', 'int v = n; far::T q{n}; q, v; if (v > 5) out[0] = 1;', 'int v = n; int (&r) = v; r = threadIdx.x; if (v > 5) out[0] = 1;',
  'int v = n; int (&r)(v); r = threadIdx.x; if (v > 5) out[0] = 1;', 'int v[1] = {n}; int (&r)[1] = v; r[0] = threadIdx.x; if (v[0] > 5) out[0] = 1;', 'int v = n; int &r = v; decltype(r) q = v; q = threadIdx.x; if (v > 5) out[0] = 1;',
];

/** Each `?:` is a branch on `n`, in front of the one that holds for the threads beyond the sixth. */
function written(body: string): Specimen {
  const arms = [...body.matchAll(/n == (\d) \?/g)].map((found) => Number(found[1]));
  return {
    name: `written unseen: ${body}`, source: `${FIELDS}\n---\n${body}`, never: [arms.length],
    *model(t) {
      // An inner one stands in the first arm of the one around it.
      let runs = true;
      for (const [i, value] of arms.entries()) {
        if (runs) t.c(i, t.g.n === value);
        runs &&= t.g.n === value;
      }
      t.c(arms.length, t.x > 5);
    },
  };
}

export const LVALUES: readonly Specimen[] = [...THROUGH, ...TWICE, ...SPELLED, ...BOUND].map(written);
