/** Kernels for the soundness test: templates whose parameters stand for classes with constructors, conversions and operators of their own. */
import type { Specimen } from './soundness-kernels-control.js';
import { traps } from './soundness-kernels-objects.js';

const CLASSES = `
struct S { int v; __device__ S(int x = threadIdx.x) : v(x) {} };
struct D { int v = threadIdx.x; };
struct C { int v; __device__ C(int x) : v(x + threadIdx.x - x) {} };
struct V { int v; __device__ operator int() const { return threadIdx.x; } };
struct O {
  int v;
  __device__ bool operator>(int k) const { return (int)threadIdx.x > k; }
  __device__ O operator+(int k) const { return O{(int)threadIdx.x}; }
  __device__ int operator-() const { return threadIdx.x; }
  __device__ O &operator++() { v = threadIdx.x; return *this; }
  __device__ O &operator+=(int k) { v = threadIdx.x; return *this; }
  __device__ O &operator=(int k) { v = threadIdx.x; return *this; }
};
struct M { int v; __device__ int m() const { return threadIdx.x; } static __device__ int make(int n) { return threadIdx.x; } using type = C; using op = O; };`;

/** Templates by the expression in the kernel that makes an instance and holds the thread's number. */
const WAYS: readonly (readonly [string, string])[] = [
  ['template <class T> __device__ int f(T t) { if (t > 5) return 9; return 0; }', 'f(O{n})'], ['template <class T> __device__ int f(T t) { return t; }', 'f(V{n})'], ['template <class T> __device__ int f(T t) { return t + 0; }', 'f(V{n})'],
  ['template <class T> __device__ int f(T t) { return (int)t; }', 'f(V{n})'], ['template <class T> __device__ int f(T t) { int r = t; return r; }', 'f(V{n})'], ['template <class T> __device__ int f(const T &t) { return -t; }', 'f(O{n})'],
  ['template <class T> __device__ int f(T t) { ++t; return t.v; }', 'f(O{n})'], ['template <class T> __device__ int f(T t) { t += 1; return t.v; }', 'f(O{n})'], ['template <class T> __device__ int f(T t) { t = 1; return t.v; }', 'f(O{n})'],
  ['template <class T> __device__ int f(T t) { return (t + 1).v; }', 'f(O{n})'], ['template <class T> __device__ int f(T t) { auto q = t + 1; return q.v; }', 'f(O{n})'], ['template <class T> __device__ int f(T t) { return t.m(); }', 'f(M{n})'],
  ['template <class T> __device__ int f(T t) { int s = 0; while (t > s) s++; return s; }', 'f(O{n})'], ['template <class T> __device__ int f(const T (&t)[2]) { return t[1] > 5 ? 9 : 0; }', 'f<O>({{n}, {n}})'],
  ['template <class T> __device__ int f(int n) { T u(n); return u.v; }', 'f<C>(n)'], ['template <class T> __device__ int f(int n) { T u = n; return u.v; }', 'f<C>(n)'], ['template <class T> __device__ int f(int n) { T u{n}; return u.v; }', 'f<C>(n)'],
  ['template <class T> __device__ int f(int n) { T u; return u.v; }', 'f<S>(n)'], ['template <class T> __device__ int f(int n) { T u; return u.v; }', 'f<D>(n)'], ['template <class T> __device__ int f(int n) { T u[2]; return u[1].v; }', 'f<D>(n)'],
  ['template <class T> __device__ int f(int n) { return T(n).v; }', 'f<C>(n)'], ['template <class T> __device__ int f(int n) { return static_cast<T>(n).v; }', 'f<C>(n)'], ['template <class T> __device__ int f(int n) { const T &u = n; return u.v; }', 'f<C>(n)'],
  ['template <class T> __device__ int f(int n) { T u(n), *p = &u; return p->v; }', 'f<C>(n)'], ['template <class T> __device__ int f(int n) { T u(n); T w = u; return w.v; }', 'f<C>(n)'], ['template <class T> __device__ T f(int n) { return n; }', 'f<C>(n).v'],
  ['template <class T> __device__ int f(int n) { T u(n); if (u.v > 5) return 9; return 0; }', 'f<C>(n)'], ['template <class T> __device__ int f(int n) { using U = T; U u(n); return u.v; }', 'f<C>(n)'], ['template <class T = C> __device__ int f(int n) { T u(n); return u.v; }', 'f(n)'],
  ['template <class T> __device__ int f(int n, T t = T(7)) { return t.v; }', 'f<C>(n)'], ['template <class T> __device__ int f(int n) { return T::make(n); }', 'f<M>(n)'], ['template <class T> __device__ int f(int n) { typename T::type u(n); return u.v; }', 'f<M>(n)'],
  ['template <class T> __device__ int f(int n) { typename T::op u{n}; return u > 5 ? 9 : 0; }', 'f<M>(n)'], ['template <class T> struct Q { using type = T; }; template <class T> __device__ int f(Q<T>, int n) { T u(n); return u.v; }', 'f(Q<C>{}, n)'],
  ['template <class A> __device__ int g(A a) { return a > 5 ? 9 : 0; } template <class... R> __device__ int f(R... r) { return g(r...); }', 'f(O{n})'], ['template <class T> __device__ int g(T t) { return t > 5 ? 9 : 0; } template <class T> __device__ int f(T t) { return g<T>(t); }', 'f(O{n})'],
  ['struct F { template <class T> __device__ int operator()(T t) const { return t > 5 ? 9 : 0; } };', 'F()(O{n})'], ['struct F { template <class T> static __device__ int f(T t) { return t > 5 ? 9 : 0; } };', 'F::f(O{n})'], ['struct F { template <class T> __device__ int f(int n) const { T t(n); return t.v; } };', 'F().f<C>(n)'],
  ['template <class T> struct B { static __device__ int f(int n) { T t(n); return t.v; } };', 'B<C>::f(n)'], ['template <class T> struct B { static __device__ int f(int n) { return T(n).v; } }; using A = B<C>;', 'A::f(n)'],
  ['template <class T> struct B { static __device__ bool has(int n) { return T{n} > 5; } };', '(B<O>::has(n) ? 9 : 0)'], ['template <class T> struct B { static __device__ int g(int n) { T t(n); return t.v; } static __device__ int f(int n) { return g(n); } };', 'B<C>::f(n)'],
  ['template <class T> struct B { static __device__ int f(int n) { T t(n); return t.v; } }; template <class A> struct E : B<C> {};', 'E<int>::f(n)'], ['template <class T> struct B { __device__ int f(T t) { return t > 5 ? 9 : 0; } }; struct E : B<O> {};', 'E().f(O{n})'],
  ['template <class T> struct B { struct I { static __device__ int f(int n) { T t(n); return t.v; } }; };', 'B<C>::I::f(n)'], ['template <class T> struct B { template <class W> static __device__ int f(W w, int n) { T t(n); return t.v; } };', 'B<C>::f(1, n)'],
  ['template <class T, class Q = O> struct B { static __device__ int f(int n) { Q q{n}; return q > 5 ? 9 : 0; } };', 'B<int>::f(n)'], ['template <class T> struct B { int r; __device__ B(T t) : r(t > 5 ? 9 : 0) {} };', 'B<O>(O{n}).r'],
  ['template <class T> struct B { int r; __device__ B(T t) { if (t > 5) r = 9; else r = 0; } };', 'B<O>(O{n}).r'], ['template <class T> struct B { T t; __device__ operator int() const { return t > 5 ? 9 : 0; } };', 'B<O>{O{n}}'],
  ['template <class T> struct B { T t; __device__ int operator[](int k) const { return t > k ? 9 : 0; } };', 'B<O>{O{n}}[5]'],
];

/** What runs where objects end, and what the classes of instances write through pointers: a variable of the thread, or a shared one. */
const WRITES: readonly (readonly [string, string])[] = [
  ['', '{ E a{@}; }'], ['', '{ auto a = E{@}; }'], ['', 'E{@};'], ['', '{ E a[1] = {{@}}; }'], ['', '{ E a; a.p = @; }'], ['__device__ void f(E e) {}', 'f(E{@});'], ['struct H { E e; };', '{ H h{{@}}; }'], ['struct I : E {};', '{ I h{{@}}; }'],
  ['__device__ E f(int *p) { return E{p}; }', 'f(@);'], ['__device__ E f(int *p) { return E{p}; }', '{ const E &r = f(@); }'], ['template <class T> struct F { T *p; __device__ ~F() { *p = threadIdx.x; } };', '{ F<int> d{@}; }'],
  ['template <class T> __device__ void f(int *v) { T d{v}; }', 'f<E>(@);'], ['template <class T> __device__ void f(T t) {}', 'f(E{@});'], ['template <class T> __device__ int f(T t) { int r = t; return r; }', 'f(W{@});'],
  ['template <class T> __device__ bool f(T t) { return t > 3; }', 'f(W{@});'], ['template <class T> __device__ bool f(T t) { return t > 3; }', 'W w{@}; f(w);'], ['template <class T> struct Q { T t; __device__ bool go() const { return t > 3; } };', 'Q<W> o{{@}}; o.go();'],
  ['template <class T> struct Q { __device__ Q(T t) { t > 3; } };', 'Q<W> o(W{@});'], ['template <class T> struct Q { T t; __device__ ~Q() { t > 3; } };', '{ Q<W> o{{@}}; }'], ['template <class T> struct Q { static __device__ void go(T t) { t > 3; } };', 'Q<W>::go(W{@});'],
  ['template <class T> __device__ void f(T t) { auto g = [&] { return t > 3; }; g(); }', 'f(W{@});'],
];

/** Objects of types that nothing declares: a class may stand for any of them. */
const UNDECLARED: readonly string[] = [
  'Foo u(n); if (u.v > 5) out[0] = 1;', 'Foo u = n; if (u.v > 5) out[0] = 1;', 'Foo u; if (u.v > 5) out[0] = 1;', 'Foo u; u = n; if (u.v > 5) out[0] = 1;', 'Foo u = n; if (u) out[0] = 1;', 'Foo u = n; if (u > 5) out[0] = 1;', 'Foo u = n; if (!u) out[0] = 1;',
  'Foo u = n; int v = u; if (v > 5) out[0] = 1;', 'Foo u = n; if (u + 1 > 5) out[0] = 1;', 'ns::Foo u = n; if (u.v > 5) out[0] = 1;', 'Foo<int> u = n; if (u.v > 5) out[0] = 1;', 'Foo u[2]; if (u[0].v > 5) out[0] = 1;', 'const Foo &u = n; if (u.v > 5) out[0] = 1;',
  'if (static_cast<Foo>(n).v > 5) out[0] = 1;', 'if (((Foo)n).v > 5) out[0] = 1;', 'if (made(n).v > 5) out[0] = 1;', 'if (taken(n) > 5) out[0] = 1;', 'if (bound(n) > 5) out[0] = 1;', 'H h; if (h.f.v > 5) out[0] = 1;', 'H h{n, 3}; if (h.f.v > 5) out[0] = 1;',
  'Foo u = n, w = u; if (w.v > 5) out[0] = 1;', 'if (Foo u = n) out[0] = 1;', 'Foo u = n; if (*u > 5) out[0] = 1;', 'int v = 0; { Foo u(&v); } if (v > 5) out[0] = 1;', 'int v = 0; { Foo u = &v; } if (v > 5) out[0] = 1;', 'int v = 0; { Foo u = v; u.x = threadIdx.x; } if (v > 5) out[0] = 1;',
  'int v = n; Foo u; u.p = &v; u++; if (v > 5) out[0] = 1;', '__shared__ int s; s = n; __syncthreads(); { Foo u = &s; } if (s > 5) out[0] = 1;', 'std::remove_reference_t<Foo> u = n; if (u.v > 5) out[0] = 1;',
];

export const TEMPLATES: readonly Specimen[] = [
  ...WAYS.map(([template, use]) => traps(`an instance with a class: ${template} ${use}`, `${CLASSES}\n${template}`, [`if (${use} > 5) out[0] = 1;`])),
  ...WRITES.flatMap(([before, use]) => [['a variable', 'int v = n;', '&v', 'v'], ['a shared one', '__shared__ int s; s = n; __syncthreads();', '&s', 's']].map(([what = '', made = '', address = '', name = '']) => traps(
    `${what} written where no text says so: ${before} ${use}`, `
struct E { int *p; __device__ ~E() { *p = threadIdx.x; } };
struct W { int *p; __device__ operator int() const { *p = threadIdx.x; return 0; } __device__ bool operator>(int k) const { *p = threadIdx.x; return false; } };
${before}`, [`${made} ${use.replaceAll('@', address)} if (${name} > 5) out[0] = 1;`]))),
  ...UNDECLARED.map((body) => traps(`an object of a type that nothing declares: ${body}`, `
__device__ Foo made(int n) { return n; }
__device__ int taken(Foo u) { return u.v; }
__device__ int bound(const Foo &u) { return u.v; }
struct H { Foo f; int w; };`, [body])),
  traps('variables that instances write', `${CLASSES}
struct Mut { int v; __device__ bool operator>(int k) { v = threadIdx.x; return true; } };
template <class T> __device__ bool asks(T &t) { return t > 5; }
template <class T> __device__ void put(T &t) { t = 5; }
template <class T> __device__ void set(int n, int &r) { T t(n); r = t.v; }
template <class T> __device__ void store(int n, int *r) { T t(n); *r = t.v; }`, [
    'O a@{n}; put(a@); if (a@.v > 5) out[0] = 1;', 'int r@ = 0; set<C>(n, r@); if (r@ > 5) out[0] = 1;', 'int r@ = 0; store<C>(n, &r@); if (r@ > 5) out[0] = 1;',
    'Mut m@{n}; asks(m@); if (m@.v > 5) out[0] = 1;',
  ]),
  {
    name: 'instances with numbers and with classes that only compute', source: `
struct Fixed { int v; __device__ Fixed(int x) : v(x) {} __device__ bool operator>(int k) const { return v > k; } };
template <class T> __device__ bool above(T t) { return t > 5; }
template <class T> __device__ int made(int n) { T t(n); return t.v; }
template <class T> struct Box { static __device__ bool has(int x) { T t(x); return t > 5; } };
---
if (above(n)) out[0] = 1; if (above((float)n)) out[1] = 1; if (above(Fixed(n))) out[2] = 1; if (made<Fixed>(n) > 5) out[3] = 1; if (Box<int>::has(n)) out[4] = 1; if (Box<Fixed>::has(n)) out[5] = 1;`,
    atLeast: { 0: 'grid', 1: 'grid', 2: 'grid', 3: 'grid', 4: 'grid', 5: 'grid' },
    *model(t) { for (let i = 0; i < 6; i++) t.c(i, t.g.n > 5); },
  },
];
