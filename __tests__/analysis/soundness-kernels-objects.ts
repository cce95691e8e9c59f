/** Kernels for the soundness test: objects that are made, converted and destroyed, and addresses that outlive the call they are passed to. */
import type { Specimen } from './soundness-kernels-control.js';

/** One kernel in which every condition is the same: `v > 5` for a variable that holds the thread's number. */
export function traps(name: string, before: string, bodies: readonly string[]): Specimen {
  return {
    name, source: `${before}\n---\n${bodies.map((body, i) => body.replaceAll('@', String(i))).join('\n')}`, never: bodies.map((_, i) => i),
    *model(t) { for (let i = 0; i < bodies.length; i++) t.c(i, t.x > 5); },
  };
}

/** Values that constructors take from default arguments and fields from default values, wherever the objects are made: each way a kernel of its own. */
const HIDDEN: readonly Specimen[] = [
  'S a; if (a.v > 5) out[0] = 1;', 'D a; if (a.v > 5) out[0] = 1;', 'if (S().v > 5) out[0] = 1;', 'if (D{}.v > 5) out[0] = 1;', 'S a = {}; int v = a.v; if (v > 5) out[0] = 1;',
  'if (make<S>().v > 5) out[0] = 1;', 'if (braces<S>().v > 5) out[0] = 1;', 'if (local<D>().v > 5) out[0] = 1;', 'S a = make<S>(); if (a.v > 5) out[0] = 1;', 'auto a = braces<D>(); if (a.v > 5) out[0] = 1;',
  'if (outer<S>() > 5) out[0] = 1;', 'int v = 0; fill<S>(v); if (v > 5) out[0] = 1;', 'D *p = nullptr; if (through(p) > 5) out[0] = 1;',
  'X a; if (a.s[0].v > 5) out[0] = 1;', 'X a{}; int v = a.s[1].v; if (v > 5) out[0] = 1;', 'X a; int &v = a.s[0].v; if (v > 5) out[0] = 1;', 'X a; int *v = &a.s[1].v; if (*v > 5) out[0] = 1;',
  'S a[2]; if (a[0].v > 5) out[0] = 1;', 'S a[2] = {}; if (a[1].v > 5) out[0] = 1;', 'S a[2] = {}; S *b = a; if (b->v > 5) out[0] = 1;', 'D a[2]; for (D e : a) if (e.v > 5) out[0] = 1;',
  'H<D> a; if (a.q.v > 5) out[0] = 1;', 'H<S> a; if (a.get() > 5) out[0] = 1;', 'H<D> a; if (a.own() > 5) out[0] = 1;', 'T a; if (a.v > 5) out[0] = 1;', 'R a{}; if (a.b.v > 5) out[0] = 1;',
  'if (value({}) > 5) out[0] = 1;', 'if (value() > 5) out[0] = 1;', 'if (bound() > 5) out[0] = 1;', 'if (generic() > 5) out[0] = 1;', 'if (generic<D>() > 5) out[0] = 1;',
  'const S &a = S(); if (a.v > 5) out[0] = 1;', 'S *a = new S; if (a->v > 5) out[0] = 1;', 'auto f = [] { return S(); }; if (f().v > 5) out[0] = 1;',
].map((body) => traps(`a value that nobody wrote: ${body}`, `
struct S { int v; __device__ S(int x = threadIdx.x) : v(x) {} };
struct D { int v = threadIdx.x; };
struct X { S s[2]; }; struct T : D {}; struct R { S a; S b; };
template <class Q> struct H { Q q; __device__ int get() { return q.v; } __device__ int own() { Q r; return r.v; } };
template <class Q> __device__ Q make() { return Q(); }
template <class Q> __device__ Q braces() { return {}; }
template <class Q> __device__ Q local() { Q q; return q; }
template <class Q> __device__ int outer() { Q q{}; return q.v; }
template <class Q> __device__ void fill(int &r) { r = Q().v; }
template <class Q> __device__ int through(Q *p) { Q q; return q.v; }
__device__ int value(S s = {}) { return s.v; }
__device__ int bound(const S &s = S()) { return s.v; }
template <class Q = S> __device__ int generic(Q q = {}) { return q.v; }`, [body]));

export const OBJECTS: readonly Specimen[] = [
  traps('two references to one object, one of them to const', `
struct Live { mutable int v; };
__device__ int later(int &a, const int &b) { a = threadIdx.x; return b; }
__device__ int sooner(const int &b, int &a) { a = threadIdx.x; return b; }
__device__ int cast(const int &a, const int &b) { const_cast<int &>(a) = threadIdx.x; return b; }
__device__ int changed(const Live &a, const Live &b) { a.v = threadIdx.x; return b.v; }
__device__ void set(const int &a) { (int &)a = threadIdx.x; }`, [
    'int a@ = n; if (later(a@, a@) > 5) out[0] = 1;', 'int a@ = n; if (sooner(a@, a@) > 5) out[0] = 1;', 'int a@ = n; if (cast(a@, a@) > 5) out[0] = 1;',
    'Live a@{n}; if (changed(a@, a@) > 5) out[0] = 1;', 'const Live a@{n}; if (changed(a@, a@) > 5) out[0] = 1;', 'const Live a@{n}; a@.v = threadIdx.x; if (a@.v > 5) out[0] = 1;',
    'int a@ = n; set(a@); if (a@ > 5) out[0] = 1;', 'int a@ = n; const int &b@ = a@; set(b@); if (a@ > 5) out[0] = 1;', 'int a@ = n; const int &b@ = a@; set(b@); if (b@ > 5) out[0] = 1;',
  ]),
  traps('constructors', `
struct List { int a; __device__ List(int x) : a(x + threadIdx.x - x) {} };
struct Body { int a; __device__ Body(int x) { a = threadIdx.x; } };
struct Bare { int a; __device__ Bare() : a(threadIdx.x) {} };
struct Field { int a = threadIdx.x; __device__ Field() {} };
struct Base { int b; __device__ Base() : b(threadIdx.x) {} };
struct Derived : Base { int d; __device__ Derived(int x) : Base(), d(x) {} };
struct Forward { int a; __device__ Forward() : Forward(threadIdx.x) {} __device__ Forward(int x) : a(x) {} };
struct Outside { int a; __device__ Outside(int x); };
__device__ Outside::Outside(int x) : a(threadIdx.x) {}
struct Copied { int a; __device__ Copied() : a(0) {} __device__ Copied(const Copied &o) : a(threadIdx.x) {} };
__device__ Body converted(int x) { return x; }
__device__ int taken(Body b) { return b.a; }`, [
    'List a@(n); if (a@.a > 5) out[0] = 1;', 'List a@{n}; if (a@.a > 5) out[0] = 1;', 'List a@ = n; if (a@.a > 5) out[0] = 1;', 'auto a@ = List(n); if (a@.a > 5) out[0] = 1;',
    'Body a@(n); if (a@.a > 5) out[0] = 1;', 'Body a@{n}; if (a@.a > 5) out[0] = 1;', 'if (converted(n).a > 5) out[0] = 1;', 'if (taken(n) > 5) out[0] = 1;',
    'Bare a@; if (a@.a > 5) out[0] = 1;', 'Bare a@[2]; if (a@[1].a > 5) out[0] = 1;', 'Field a@; if (a@.a > 5) out[0] = 1;', 'Derived a@(n); if (a@.b > 5) out[0] = 1;', 'Forward a@; if (a@.a > 5) out[0] = 1;',
    'Outside a@(n); if (a@.a > 5) out[0] = 1;', 'Copied a@; Copied b@ = a@; if (b@.a > 5) out[0] = 1;', 'Body a@(1); a@.a = 1; a@ = 7; if (a@.a > 5) out[0] = 1;',
  ]),
  traps('what an object is bound to', `
struct Sets { int a; __device__ Sets(int &r) : a(0) { r = threadIdx.x; } };
struct Later { int &r; __device__ Later(int &x) : r(x) {} __device__ void go() { r = threadIdx.x; } };
struct Plain { int &r; };
struct Points { __device__ Points(int *p) { *p = threadIdx.x; } };
struct Ends { int *p; __device__ Ends(int *q) : p(q) {} __device__ ~Ends() { *p = threadIdx.x; } };`, [
    'int v@ = 3; Sets a@(v@); if (v@ > 5) out[0] = 1;', 'int v@ = 3; Sets a@{v@}; if (v@ > 5) out[0] = 1;', 'int v@ = 3; auto a@ = Sets(v@); if (v@ > 5) out[0] = 1;',
    'int v@ = 3; Later a@(v@); a@.go(); if (v@ > 5) out[0] = 1;', 'int v@ = 3; Plain a@{v@}; a@.r = threadIdx.x; if (v@ > 5) out[0] = 1;', 'int v@ = 3; Plain a@{v@}; v@ = threadIdx.x; if (a@.r > 5) out[0] = 1;',
    'int v@ = 3; Points a@(&v@); if (v@ > 5) out[0] = 1;', 'int v@ = 3; { Ends a@(&v@); } if (v@ > 5) out[0] = 1;',
  ]),
  traps('conversions', `
struct ToInt { int v; __device__ operator int() const { return threadIdx.x; } };
struct ToBool { int v; __device__ explicit operator bool() const { return threadIdx.x > 5; } };`, [
    'ToInt a@; a@.v = 1; int x@ = a@; if (x@ > 5) out[0] = 1;', 'ToInt a@; a@.v = 1; if (a@ > 5) out[0] = 1;', 'ToInt a@; a@.v = 1; if ((int)a@ > 5) out[0] = 1;', 'ToBool a@; a@.v = 1; if (a@) out[0] = 1;',
  ]),
  traps('addresses that a visible callee keeps or returns', `
struct Keeper { int *p; __device__ void keep(int *q) { p = q; } __device__ void go() { *p = threadIdx.x; } };
struct Holder { int *p; };
__device__ int *same(int *q) { return q; }
__device__ int &sameRef(int &q) { return q; }
__device__ void put(Holder &h, int *q) { h.p = q; }
__device__ void go(Holder &h) { *h.p = threadIdx.x; }
__device__ Holder made(int *q) { Holder h; h.p = q; return h; }
__device__ Holder listed(int *q) { return Holder{q}; }
__device__ int *chosen(int *a, int *b, int n) { int *c = a; if (n == 1000) c = b; return c + 0; }
__device__ void inner(int *q, int **o) { *o = q; }
__device__ void outer(int *q, int **o) { inner(q + 0, o); }
__device__ void set(int &r) { r = threadIdx.x; }`, [
    'int v@ = 3; Keeper a@; a@.keep(&v@); a@.go(); if (v@ > 5) out[0] = 1;', 'int v@ = 3; int *r@ = same(&v@); *r@ = threadIdx.x; if (v@ > 5) out[0] = 1;', 'int v@ = 3; sameRef(v@) = threadIdx.x; if (v@ > 5) out[0] = 1;',
    'int v@ = 3; int &r@ = sameRef(v@); r@ = threadIdx.x; if (v@ > 5) out[0] = 1;', 'int v@ = 3; Holder a@; put(a@, &v@); go(a@); if (v@ > 5) out[0] = 1;', 'int v@ = 3; Holder a@ = made(&v@); *a@.p = threadIdx.x; if (v@ > 5) out[0] = 1;',
    'int v@ = 3; Holder a@ = listed(&v@); go(a@); if (v@ > 5) out[0] = 1;', 'int v@ = 3, w@ = 3; int *r@ = chosen(&v@, &w@, n); *r@ = threadIdx.x; if (v@ > 5) out[0] = 1;', 'int v@ = 3; int *r@; outer(&v@, &r@); *r@ = threadIdx.x; if (v@ > 5) out[0] = 1;',
    'int v@ = 3; *same(&v@) = threadIdx.x; if (v@ > 5) out[0] = 1;', 'int v@[2] = {3, 3}; *same(v@) = threadIdx.x; if (v@[0] > 5) out[0] = 1;', 
    'int v@ = 3; set((n, v@)); if (v@ > 5) out[0] = 1;', 'int v@ = 3; set(static_cast<int &>(v@)); if (v@ > 5) out[0] = 1;',
  ]),
  traps('functions that no call names', `
struct Inner { int v; __device__ operator int() const { return threadIdx.x; } };
struct Inherits : Inner {};
template <int N> struct Generic { int v; __device__ operator bool() const { return threadIdx.x > 5; } };
struct FromGeneric : Generic<3> {};
struct Counts { mutable int v; __device__ operator int() const { v = threadIdx.x; return 0; } };
struct Writes { int *p; __device__ operator bool() const { *p = threadIdx.x; return true; } };
struct Comma { int v; __device__ int operator,(int k) const { return threadIdx.x + k; } };
struct Late { int v; }; __device__ int operator,(const Late &a, int k) { return threadIdx.x + k; }
struct Arrow { Inner i; __device__ Inner *operator->() { i.v = threadIdx.x; return &i; } };
struct Walks { int at; __device__ bool operator!=(const Walks &o) const { return at != o.at; } __device__ Walks &operator++() { at++; return *this; } __device__ int operator*() const { return threadIdx.x; } };
struct Range { int n; __device__ Walks begin() const { return {0}; } __device__ Walks end() const { return {1}; } };
struct Turns { int n; __device__ int *begin() { n = threadIdx.x; return &n; } __device__ int *end() { return &n + 1; } };`, [
    'Inherits a@; a@.v = 1; if (a@ > 5) out[0] = 1;', 'Inherits a@; a@.v = 1; int x@ = a@; if (x@ > 5) out[0] = 1;', 'Inherits a@; a@.v = 1; if ((int)a@ > 5) out[0] = 1;', 'Inherits a@; a@.v = 1; if (static_cast<int>(a@) > 5) out[0] = 1;',
    'FromGeneric a@; a@.v = 1; if (a@) out[0] = 1;', 'FromGeneric a@; a@.v = 1; bool x@ = a@; if (x@) out[0] = 1;', 'FromGeneric a@; a@.v = 1; bool x@ = a@ ? true : false; if (x@) out[0] = 1;',
    'Counts a@; a@.v = 1; int x@ = a@; if (a@.v > 5) out[x@] = 1;', 'Counts a@; a@.v = 1; out[(int)a@] = 1; if (a@.v > 5) out[0] = 1;',
    'int v@ = 3; Writes a@{&v@}; bool x@ = a@; if (v@ > 5) out[x@] = 1;', 'Comma a@; a@.v = 1; if ((a@, 0) > 5) out[0] = 1;', 'Late a@; a@.v = 1; int x@ = (a@, 0); if (x@ > 5) out[0] = 1;',
    'Arrow a@; a@.i.v = 1; if (a@->v > 5) out[0] = 1;', 'Arrow a@; a@.i.v = 1; int x@ = a@->v; if (a@.i.v > 5) out[x@] = 1;',
    'int x@ = 0; for (int v : Range{1}) x@ = v; if (x@ > 5) out[0] = 1;', 'Range a@{1}; int x@ = 0; for (int v : a@) x@ = v; if (x@ > 5) out[0] = 1;', 'Turns a@{1}; for (int v : a@) out[1] = v; if (a@.n > 5) out[0] = 1;',
  ]),
  traps('names of structured bindings', `
struct Two { int a, b; };
struct Bound { int &r; };`, [
    'Two v@{3, 3}; auto &[p@, q@] = v@; p@ = threadIdx.x; if (v@.a > 5) out[0] = 1;', 'Two v@{3, 3}; auto &[p@, q@] = v@; v@.b = threadIdx.x; if (q@ > 5) out[0] = 1;', 'int v@[2] = {3, 3}; auto &&[p@, q@] = v@; p@ = threadIdx.x; if (v@[0] > 5) out[0] = 1;',
    'int v@ = 3; Bound a@{v@}; auto [r@] = a@; r@ = threadIdx.x; if (v@ > 5) out[0] = 1;', 'Two v@{3, 3}; v@.a = threadIdx.x; auto [p@, q@] = v@; if (p@ > 5) out[0] = 1;',
    'Two v@[2] = {{3, 3}, {3, 3}}; for (auto &[p, q] : v@) p = threadIdx.x; if (v@[1].a > 5) out[0] = 1;', 'Two v@[2] = {{3, 3}, {3, 3}}; Two *w@ = v@; auto &[p@, q@] = w@[1]; q@ = threadIdx.x; if (v@[1].b > 5) out[0] = 1;',
  ]),
  ...HIDDEN,
  {
    name: 'one of two variables, through the address that is chosen', source: `__device__ void set(int &r) { r = threadIdx.x; }
---
int a = 3, b = 3; set(*(n < 2000 ? &a : &b)); if (a > 5) out[0] = 1;
int c = 3, d = 3; int &r = *(n < 2000 ? &c : &d); r = threadIdx.x; if (c > 5) out[1] = 1;
int e = 3, f = 3; int &q = *(n < 2000 ? &e : &f); set(q); if (e > 5) out[2] = 1;`, never: [1, 3, 5],
    *model(t) { for (let i = 0; i < 6; i += 2) { t.c(i, t.g.n < 2000); t.c(i + 1, t.x > 5); } },
  },
  {
    name: 'elements written through the reference of a range', source: 'int a[2] = {1, 2}; for (int &e : a) e = threadIdx.x; if (a[1] > 5) out[0] = 1; for (auto &e : a) e++; if (a[0] > 5) out[1] = 1;', never: [0, 1],
    *model(t) { t.c(0, t.x > 5); t.c(1, t.x + 1 > 5); },
  },
  {
    name: 'one of two variables, by reference', source: '__device__ void set(int &r) { r = threadIdx.x; }\n---\nint c = 3, d = 4; set(n == 3 ? c : d); if (c > 5) out[0] = 1; if (d > 5) out[1] = 1;', never: [1, 2],
    *model(t) { t.c(0, t.g.n === 3); t.c(1, t.g.n === 3 ? t.x > 5 : false); t.c(2, t.g.n === 3 ? false : t.x > 5); },
  },
  {
    name: 'shared memory that a constructor, a destructor or a declaration in a condition writes', source: `
struct Init { __device__ Init(int *p) { *p = threadIdx.x; } };
struct Ends { int *p; __device__ Ends(int *q) : p(q) {} __device__ ~Ends() { *p = threadIdx.x; } };
---
__shared__ int s; s = 0; __syncthreads(); Init i(&s); if (s > 5) out[0] = 1;
__syncthreads(); s = 0; __syncthreads(); { Ends e(&s); } if (s > 5) out[1] = 1;
__syncthreads(); s = 0; __syncthreads(); while (int x = (s = threadIdx.x + 1)) { if (s > 5) out[2] = x; break; }`, never: [0, 1, 3],
    *model(t) { t.s[0] = 0; yield 'block'; t.s[0] = t.x; t.c(0, (t.s[0] ?? 0) > 5); yield 'block'; t.s[0] = 0; yield 'block'; t.s[0] = t.x; t.c(1, (t.s[0] ?? 0) > 5); yield 'block'; t.s[0] = 0; yield 'block'; t.s[0] = t.x + 1; t.c(2, t.x + 1, 0); t.c(3, (t.s[0] ?? 0) > 5, 0); },
  },
  {
    name: 'objects that hand on what they are given', source: `
struct Pair { int a, b; __device__ Pair(int x, int y) : a(x), b(a + y) {} __device__ int sum() const { return a + b; } __device__ Pair &add(int k) { a += k; return *this; } };
struct Agg { int a, b; };
---
Pair p(n, 3); if (p.sum() > 9) out[0] = 1; Agg q{n, 4}; if (q.b + q.a > 9) out[1] = 1; p.add(n); if (p.a > 9) out[2] = 1; Pair r = p; if (r.a > 9) out[3] = 1;`, atLeast: { 0: 'grid', 1: 'grid', 2: 'grid', 3: 'grid' },
    *model(t) { const { n } = t.g; t.c(0, n + n + 3 > 9); t.c(1, n + 4 > 9); t.c(2, n + n > 9); t.c(3, n + n > 9); },
  },
  {
    name: 'a vote whose mask leaves callers out', source: 'if (__any_sync(0xffu, data[threadIdx.x] > 8)) out[0] = 1;', never: [0],
    *model() { /* undefined for the lanes that are not named */ },
  },
];
