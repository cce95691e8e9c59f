/**
 * What code gives back that was handed an object, or ran on one, may lead into the object: conversions, accessors, operators, lambdas, constructors and functions, by
 * address, by reference, in another object or as a number. A change by the one is a change of the other: no loop gives up a condition on it, and where lanes change it
 * differently the condition differs between lanes. The twins only read through it.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist } from '../../transforms/hoist.js';
import { peel } from '../../transforms/peel.js';
import { load, outcomesOf, type Loaded } from '../helpers/transform.js';
import type { Transform } from '../../transforms/lib/types.js';

const HEAD = `
typedef unsigned long long u64;
struct V { int *p; };
struct CV { const int *p; };
struct R { int &r; };
struct N { u64 bits; };
struct I2 { unsigned lo, hi; };
template <class T> struct Ptr { T *p; __device__ T &operator*() const { return *p; } __device__ T *operator->() const { return p; } __device__ T *get() const { return p; } };
struct It { int *p; __device__ int &operator*() const { return *p; } __device__ It &operator++() { ++p; return *this; } __device__ bool operator!=(const It &o) const { return p != o.p; } };
struct Made { int *p; __device__ Made(int &x) : p(&x) {} };
struct CMade { const int *p; __device__ CMade(const int &x) : p(&x) {} };
struct Box { int v; };
struct A {
  int q[2]; int m; Box b;
  __device__ operator int *() { return q; }
  __device__ operator Box &() { return b; }
  __device__ int *data() { return q; }
  __device__ const int *cdata() const { return q; }
  __device__ int *begin() { return q; }
  __device__ int *end() { return q + 2; }
  __device__ int &operator[](int i) { return q[i]; }
  __device__ int &at(int i) { return q[i]; }
  __device__ const int &cat(int i) const { return q[i]; }
  __device__ int &operator*() { return m; }
  __device__ Box *operator->() { return &b; }
  __device__ int *operator()(int i) { return q + i; }
  __device__ int *operator+(int i) { return q + i; }
  __device__ V view() { return V{q}; }
  __device__ CV cview() const { return CV{q}; }
  __device__ R ref() { return R{m}; }
  __device__ u64 bits() { return (u64)&m; }
  __device__ A &self() { return *this; }
  __device__ A *me() { return this; }
};
struct C { int q[2]; __device__ operator const int *() const { return q; } };
struct CP { int m; __device__ operator V() { return V{&m}; } };
struct CC { int m; __device__ operator CV() const { return CV{&m}; } };
struct CR { int m; __device__ operator int &() { return m; } };
struct CB { int m; __device__ operator u64() { return (u64)&m; } };
struct E { int q[2]; __device__ explicit operator int *() { return q; } };
struct D : C { int more; };
struct DP : CP {};
template <class T> struct TC { T q[2]; __device__ operator T *() { return q; } };
__device__ int *pick(int &x) { return &x; }
__device__ const int *cpick(const int &x) { return &x; }
__device__ const int &id(const int &x) { return x; }
__device__ int &mid(int &x) { return x; }
__device__ const int *choose(bool c, const int &x, const int &y) { return c ? &x : &y; }
__device__ const int *local(const int &x) { const int &r = x; const int *p = &r; return p; }
__device__ const int *nested(const int &x) { return cpick(id(x)); }
__device__ const int *part(const A &x) { return &x.m; }
__device__ const int *apart(const A &x) { return x.q; }
__device__ CV cpack(const int &x) { return CV{&x}; }
__device__ CV cfill(const int &x) { CV v; v.p = &x; return v; }
__device__ V pack(int &x) { V v{&x}; return v; }
__device__ u64 num(const int &x) { return (u64)&x; }
__device__ N wrap(const int &x) { return N{(u64)&x}; }
__device__ I2 halves(const int &x) { u64 b = (u64)&x; return I2{(unsigned)b, (unsigned)(b >> 32)}; }
__device__ V operator+(Box &b, int) { return V{&b.v}; }
__device__ int *operator-(Box &b) { return &b.v; }
__device__ const int *operator!(const Box &b) { return &b.v; }
__device__ const int *operator/(const Box &b, int) { return &b.v; }
template <class T> __device__ T *addr(T &x) { return &x; }
template <class T> __device__ auto *fwd(T &&x) { return &x; }
template <class F, class T> __device__ auto use(F f, T &x) { return f(x); }
__device__ void out(const int &x, const int **p) { *p = &x; }
__device__ void outr(const int &x, const int *&p) { p = &x; }
__device__ const A &aid(const A &x) { return x; }
__device__ const C &cid(const C &x) { return x; }
__device__ const int *cidc(const C &x) { return cid(x); }
template <class... T> __device__ const int *first(const int &x, const T &...rest) { return &x; }
__device__ const int *same(const int *p) { return p; }
__device__ const int *conv(const C &c) { return c; }
struct CC1 { int m; __device__ operator const int *() const { return &m; } };
struct CC2 { CC1 in; __device__ operator CV() const { return CV{in}; } };
struct Amp { int m; __device__ int *operator&() { return &m; } __device__ int *operator,(int) { return &m; } };
struct Mid { Box b; __device__ Box *operator->() { return &b; } };
struct Chain { Mid b; __device__ Mid &operator->() { return b; } };
struct SM { __device__ static int *get(A &a) { return a.data(); } };
struct Keep { int *p; __device__ explicit Keep(int &x) { p = &x; } __device__ int *get() { return p; } };
struct CKeep { const int *p; __device__ explicit CKeep(const int &x) { p = &x; } __device__ const int *get() const { return p; } };
__device__ CV viaMade(const CMade &c) { return CV{c.p}; }
struct Keep2 { const int *p; __device__ void set(const int &x) { p = &x; } };
struct Base { int m; __device__ int *me() { return &m; } };
struct Sub : Base { int z; __device__ Base &base() { return *this; } };
struct Ret { int m; __device__ Ret &chain() { return *this; } };
struct Num { u64 b; __device__ Num(int &x) : b((u64)&x) {} };
__device__ u64 rnum(int &x) { return (u64)&x; }
struct CN { int m; __device__ operator N() { return N{(u64)&m}; } };
struct CA { int m; __device__ operator int *() { return &m; } };
struct CT { int m; __device__ operator CT *() { return this; } };
struct Go { __device__ int *go(CA &c) { return c; } };
__device__ uint2 halves2(const int &x) { u64 b = (u64)&x; return make_uint2((unsigned)b, (unsigned)(b >> 32)); }
__device__ float *faddr(float &x) { return &x; }
__device__ int both(int &x, const int &y) { x += 1; return y; }
`;

/**
 * What stands before the loop, an lvalue that leads to the object by what was given back, and the object. `c`: the former is `const`; `l`: found anew at each use, for
 * which not even its reading is told to leave the condition alone.
 */
const WAYS: readonly (readonly [before: string, given: string, object: string, how?: string])[] = [
  ['A s; int *p = s;', 'p[0]', 's.q[0]'],
  ['C s{{v, v}}; const int *p = s;', 'p[0]', 's.q[0]', 'c'],
  ['C s{{v, v}}; int *p = const_cast<int *>((const int *)s);', 'p[0]', 's.q[0]'],
  ['A s; int *p = static_cast<int *>(s);', 'p[0]', 's.q[0]'],
  ['A s; int *p = (int *)s;', 'p[0]', 's.q[0]'],
  ['E s{{v, v}}; int *p = static_cast<int *>(s);', 'p[0]', 's.q[0]'],
  ['A s; int *p = s + 0;', 'p[0]', 's.q[0]'],
  ['CP s{v}; V p = s;', '*p.p', 's.m'],
  ['CC s{v}; CV p = s;', '*p.p', 's.m', 'c'],
  ['CR s{v}; int &p = s;', 'p', 's.m'],
  ['CR s{v}; const int &p = s;', 'p', 's.m', 'c'],
  ['A s; Box &p = s;', 'p.v', 's.b.v'],
  ['CB s{v}; u64 b = s; int *p = (int *)b;', '*p', 's.m'],
  ['D s; s.q[0] = v; const int *p = s;', 'p[0]', 's.q[0]', 'c'],
  ['DP s; s.m = v; V p = s;', 'p.p[0]', 's.m'],
  ['TC<int> s{{v, v}}; int *p = s;', 'p[0]', 's.q[0]'],
  ['A s; int *p; p = s;', 'p[0]', 's.q[0]'],
  ['C ss[2] = {{{v, v}}, {{v, v}}}; const int *p = ss[1];', 'p[0]', 'ss[1].q[0]', 'c'],
  ['C s{{v, v}}, z{{v, v}}; const int *p = n > 3 ? (const int *)s : (const int *)z;', 'p[0]', 's.q[0]', 'c'],
  ['A s;', '((int *)s)[1]', 's.q[1]'],
  ['C s{{v, v}};', '*(const int *)s', 's.q[0]', 'c'],
  ['struct H { C c; } h{{{v, v}}}; const int *p = h.c;', 'p[0]', 'h.c.q[0]', 'c'],
  ['C s{{v, v}}; C &t = s; const int *p = t;', 'p[0]', 's.q[0]', 'c'],
  ['C s{{v, v}}; const C &t = s; const int *p = t;', 'p[0]', 's.q[0]', 'c'],
  ['C s{{v, v}}; C *t = &s; const int *p = *t;', 'p[0]', 's.q[0]', 'c'],
  ['int m = v; auto f = [](const int &x) { return &x; }; auto p = f(m);', '*p', 'm', 'c'],
  ['int m = v; auto f = [](const int &x) { return &x; }; const int *p = f(m);', '*p', 'm', 'c'],
  ['int m = v; auto f = [](int &x) { return &x; }; int *p = f(m);', '*p', 'm'],
  ['int m = v; auto f = [](auto &x) { return &x; }; int *p = f(m);', '*p', 'm'],
  ['int m = v; auto f = [](int &x) -> int & { return x; }; int &p = f(m);', 'p', 'm'],
  ['int m = v; auto f = [](const int &x) -> const int & { return x; }; const int &p = f(m);', 'p', 'm', 'c'],
  ['int m = v; auto f = [&] { return &m; }; int *p = f();', '*p', 'm'],
  ['int m = v; auto f = [&]() -> int & { return m; }; int &p = f();', 'p', 'm'],
  ['int m = v; const int *p = [](const int &x) { return &x; }(m);', '*p', 'm', 'c'],
  ['int m = v; auto f = [](const int &x) { return CV{&x}; }; auto p = f(m);', '*p.p', 'm', 'c'],
  ['int m = v; auto f = [](const int &x) { return (u64)&x; }; const int *p = (const int *)f(m);', '*p', 'm', 'c'],
  ['A s; auto f = [](A &x) { return x.q; }; int *p = f(s);', '*p', 's.q[0]'],
  ['int m = v; int *p = use([](int &x) { return &x; }, m);', '*p', 'm'],
  ['int m = v; int *p = pick(m);', '*p', 'm'],
  ['int m = v; const int *p = cpick(m);', '*p', 'm', 'c'],
  ['int m = v; int *p = (int *)cpick(m);', '*p', 'm'],
  ['int m = v; const int *p = &id(m);', '*p', 'm', 'c'],
  ['int m = v; const int &p = id(m);', 'p', 'm', 'c'],
  ['int m = v;', 'id(m)', 'm', 'c'],
  ['int m = v;', 'mid(m)', 'm', 'l'],
  ['int m = v; int &p = mid(m);', 'p', 'm'],
  ['int m = v; int *p = &mid(m);', '*p', 'm'],
  ['int m = v, z = v; const int *p = choose(n > 3, m, z);', '*p', 'm', 'c'],
  ['int m = v, z = v; const int *p = choose(n > 3, z, m);', '*p', 'm', 'c'],
  ['int m = v; const int *p = local(m);', '*p', 'm', 'c'],
  ['int m = v; const int *p = nested(m);', '*p', 'm', 'c'],
  ['A s; const int *p = part(s);', '*p', 's.m', 'c'],
  ['A s; const int *p = apart(s);', 'p[1]', 's.q[1]', 'c'],
  ['int m = v; CV p = cpack(m);', '*p.p', 'm', 'c'],
  ['int m = v; CV p = cfill(m);', '*p.p', 'm', 'c'],
  ['int m = v; const int *p = cpack(m).p;', '*p', 'm', 'c'],
  ['int m = v; V p = pack(m);', '*p.p', 'm'],
  ['int m = v; u64 b = num(m); const int *p = (const int *)b;', '*p', 'm', 'c'],
  ['int m = v; N b = wrap(m); const int *p = (const int *)b.bits;', '*p', 'm', 'c'],
  ['int m = v; I2 b = halves(m); const int *p = (const int *)(((u64)b.hi << 32) | b.lo);', '*p', 'm', 'c'],
  ['Box m{v}; V p = m + 1;', '*p.p', 'm.v'],
  ['Box m{v}; int *p = -m;', '*p', 'm.v'],
  ['Box m{v}; const int *p = !m;', '*p', 'm.v', 'c'],
  ['Box m{v}; const int *p = m / 2;', '*p', 'm.v', 'c'],
  ['int m = v; int *p = addr(m);', '*p', 'm'],
  ['int m = v; const int *p = addr<const int>(m);', '*p', 'm', 'c'],
  ['int m = v; int *p = fwd(m);', '*p', 'm'],
  ['int m = v; const int *p; out(m, &p);', '*p', 'm', 'c'],
  ['int m = v; const int *p; outr(m, p);', '*p', 'm', 'c'],
  ['int m = v; const int *(*f)(const int &) = cpick; const int *p = f(m);', '*p', 'm', 'c'],
  ['A s; int *p = s.data();', 'p[0]', 's.q[0]'],
  ['A s;', 's.data()[0]', 's.q[0]', 'l'],
  ['A s; const int *p = s.cdata();', 'p[0]', 's.q[0]', 'c'],
  ['A s; int *p = s.begin();', 'p[0]', 's.q[0]'],
  ['A s;', 's[0]', 's.q[0]', 'l'],
  ['A s; int &p = s[0];', 'p', 's.q[0]'],
  ['A s; int *p = &s[0];', '*p', 's.q[0]'],
  ['A s;', 's.at(0)', 's.q[0]', 'l'],
  ['A s; int &p = s.at(0);', 'p', 's.q[0]'],
  ['A s;', 's.cat(0)', 's.q[0]', 'cl'],
  ['A s; const int &p = s.cat(0);', 'p', 's.q[0]', 'c'],
  ['A s;', '*s', 's.m', 'l'],
  ['A s; int &p = *s;', 'p', 's.m'],
  ['A s;', 's->v', 's.b.v', 'l'],
  ['A s; int *p = &s->v;', '*p', 's.b.v'],
  ['A s; int *p = s(0);', '*p', 's.q[0]'],
  ['A s; int *p = s + 1;', '*p', 's.q[1]'],
  ['A s; V p = s.view();', '*p.p', 's.q[0]'],
  ['A s; CV p = s.cview();', '*p.p', 's.q[0]', 'c'],
  ['A s; R p = s.ref();', 'p.r', 's.m'],
  ['A s; int *p = (int *)s.bits();', '*p', 's.m'],
  ['A s; A &p = s.self();', 'p.m', 's.m'],
  ['A s;', 's.self().m', 's.m', 'l'],
  ['A s; A *p = s.me();', 'p->m', 's.m'],
  ['int m = v; Made p = m;', '*p.p', 'm'],
  ['int m = v; Made p(m);', '*p.p', 'm'],
  ['int m = v; CMade p = m;', '*p.p', 'm', 'c'],
  ['int m = v; CMade p(m);', '*p.p', 'm', 'c'],
  ['int m = v; CMade p{m};', '*p.p', 'm', 'c'],
  ['int m = v; CV p{&m};', '*p.p', 'm', 'c'],
  ['int m = v; R p{m};', 'p.r', 'm'],
  ['int m = v; Ptr<int> p{&m};', '*p', 'm', 'l'],
  ['int m = v; Ptr<const int> p{&m};', '*p', 'm', 'cl'],
  ['Box m{v}; Ptr<Box> p{&m};', 'p->v', 'm.v', 'l'],
  ['Box m{v}; Ptr<const Box> p{&m};', 'p->v', 'm.v', 'cl'],
  ['int m = v; Ptr<int> p{&m};', '*p.get()', 'm', 'l'],
  ['int m = v, z = v; struct { int &x, &y; } t{m, z}; auto &[x, y] = t;', 'x', 'm'],
  ['A s; auto &[x, y] = s.q;', 'x', 's.q[0]'],
  ['int m = v, z = v; struct { const int *x, *y; } t{&m, &z}; auto [x, y] = t;', '*x', 'm', 'c'],
  ['union { int a; float f; } u; u.a = v; float *p = &u.f;', '*(int *)p', 'u.a'],
  ['int m = v; auto f = [](int &x) { return &x; }; auto p = f(m);', '*p', 'm'],
  ['int m = v; auto f = [](int &x) { return &x; }; auto p = f(m);', 'p[0]', 'm'],
  ['A s; auto f = [](A &x) { return &x; }; auto p = f(s);', 'p->m', 's.m'],
  ['A s; auto f = [](A &x) { return &x; }; auto p = f(s);', 'p->q[1]', 's.q[1]'],
  ['A s; auto f = [](A &x) { return &x; }; auto p = f(s);', '(*p).m', 's.m'],
  ['int m = v; auto f = [](int &x) -> int & { return x; }; auto &p = f(m);', 'p', 'm'],
  ['int m = v; auto f = [](int &x) { return V{&x}; }; auto p = f(m);', '*p.p', 'm'],
  ['int m = v; auto f = [](int &x) { return &x; }; auto p = f(m); auto r = &p;', '**r', 'm'],
  ['int m = v; CMade p = id(m);', '*p.p', 'm', 'c'],
  ['int m = v; CMade p(id(m));', '*p.p', 'm', 'c'],
  ['int m = v; CV p{&id(m)};', '*p.p', 'm', 'c'],
  ['struct Q { int q[2]; } m{{v, v}}; auto idq = [](const Q &x) -> const Q & { return x; }; const int *p = idq(m).q + 1;', '*p', 'm.q[1]', 'c'],
  ['A s; const int *p = aid(s).q + 1;', '*p', 's.q[1]', 'c'],
  ['A s; u64 b = (u64)aid(s).q; const int *p = (const int *)b;', '*p', 's.q[0]', 'c'],
  ['A s; const int *p; p = aid(s).q;', '*p', 's.q[0]', 'c'],
  ['C s{{v, v}}; const int *p = cidc(s);', '*p', 's.q[0]', 'c'],
  ['int m = v, z = v; const int *p = cpick(n > 3 ? m : z);', '*p', 'm', 'c'],
  ['int m = v, z = v; int *p = pick(n > 3 ? m : z);', '*p', 'm'],
  ['int m = v; const int *p = cpick((n++, m));', '*p', 'm', 'c'],
  ['int m; const int *p = cpick(m = v);', '*p', 'm', 'c'],
  ['int m = v; const int *p = cpick(id(m));', '*p', 'm', 'c'],
  ['int m = v; const int *p = first(m, n, v);', '*p', 'm', 'c'],
  ['C s{{v, v}}, z{{v, v}}; const int *p = n > 3 ? s : z;', 'p[0]', 's.q[0]', 'c'],
  ['C s{{v, v}}; const int *p = same(s);', 'p[0]', 's.q[0]', 'c'],
  ['CR s{v}; int *p = pick(s);', 'p[0]', 's.m'],
  ['C s{{v, v}}; const int *p = conv(s);', 'p[0]', 's.q[0]', 'c'],
  ['C s{{v, v}}; auto f = [&]() -> const int * { return s; }; const int *p = f();', 'p[0]', 's.q[0]', 'c'],
  ['C s{{v, v}}; const int *p = s + 1;', 'p[0]', 's.q[1]', 'c'],
  ['C s{{v, v}}; const int *p{s};', 'p[0]', 's.q[0]', 'c'],
  ['C s{{v, v}}; CV p{s};', 'p.p[0]', 's.q[0]', 'c'],
  ['CC2 s{{v}}; CV p = s;', 'p.p[0]', 's.in.m', 'c'],
  ['Amp s{v}; int *p = &s;', '*p', 's.m'],
  ['Amp s{v}; int *p = (s, 1);', '*p', 's.m'],
  ['Chain s; s.b.b.v = v;', 's->v', 's.b.b.v', 'l'],
  ['A s; int *p = nullptr; for (int &x : s) p = &x;', '*p', 's.q[1]'],
  ['int m[2] = {v, v}; int *p = nullptr; for (int &x : m) p = &x;', '*p', 'm[1]'],
  ['int m[2] = {v, v}; const int *p = nullptr; for (const int &x : m) p = &x;', '*p', 'm[1]', 'c'],
  ['A s; int *p = SM::get(s);', '*p', 's.q[0]'],
  ['int m = v; Keep p(m);', '*p.get()', 'm', 'l'],
  ['int m = v; CKeep p(m);', '*p.get()', 'm', 'cl'],
  ['int m = v; CV p = viaMade(m);', '*p.p', 'm', 'c'],
  ['int m = v; Keep2 p; p.set(m);', '*p.p', 'm', 'c'],
  ['Sub s; s.m = v; int *p = s.base().me();', '*p', 's.m'],
  ['Ret s{v}; Ret &p = s.chain().chain();', 'p.m', 's.m'],
  ['A s; V w = s.view(); V p = w;', '*p.p', 's.q[0]'],
  ['A s; V w[2]; w[0] = s.view(); w[1] = w[0];', '*w[1].p', 's.q[0]'],
  ['A s; void *w = s.data(); int *p = (int *)w;', 'p[1]', 's.q[1]'],
  ['int m = v; Num b(m); int *p = (int *)b.b;', '*p', 'm'],
  ['int m = v; Num b = m; int *p = (int *)b.b;', '*p', 'm'],
  ['int m = v; auto f = [](int &x) { return (u64)&x; }; u64 b = f(m); int *p = (int *)b;', '*p', 'm'],
  ['int m = v; u64 b = rnum(m); int *p = (int *)b;', '*p', 'm'],
  ['CN s{v}; N b = s; int *p = (int *)b.bits;', '*p', 's.m'],
  ['CA s{v}; int *p = s;', '*p', 's.m'],
  ['CT s{v}; CT *p = s;', 'p->m', 's.m'],
  ['CA s{v}; Go g; int *p = g.go(s);', '*p', 's.m'],
  ['int m = v; uint2 b = halves2(m); const int *p = (const int *)(((u64)b.y << 32) | b.x);', '*p', 'm', 'c'],
  ['int m = v; auto f = [](int &x) { u64 b = (u64)&x; return make_uint2((unsigned)b, (unsigned)(b >> 32)); }; uint2 b = f(m); int *p = (int *)(((u64)b.y << 32) | b.x);', '*p', 'm'],
  ['float m = v; int *p = reinterpret_cast<int *>(faddr(m));', '*p', 'm'],
];

const looping = (name: string, before: string, inside: string, condition: string): string => `
__global__ void ${name}(const int *__restrict__ a, int *__restrict__ o, int n, int v) {
  int sum = 0; ${before}
  for (int i = 0; i < n; ++i) { ${inside} if (${condition}) { sum += a[i] * 3; sum ^= a[i]; sum += a[i] >> 2; } else { sum -= a[i]; sum *= 3; sum ^= 5; } }
  o[threadIdx.x] = sum;
}`;
const straight = (name: string, before: string, change: string, condition: string): string => `
__global__ void ${name}(int *__restrict__ o, int n, int v) { ${before} ${change} if (${condition}) o[threadIdx.x] = v; }`;

let loaded: Loaded | null = null;
const applied = new Map<Transform, ReadonlySet<string>>();

function program(): Loaded {
  if (loaded === null) throw new Error('nothing is loaded');
  return loaded;
}

/** Kernels in which the transform took something out of a loop. All of them are one file: they share its head. */
function appliedBy(transform: Transform): ReadonlySet<string> {
  const known = applied.get(transform);
  if (known !== undefined) return known;
  const { unit } = program();
  const names = new Set<string>();
  for (const { status, site } of outcomesOf(transform, program(), { evenIfItLoses: true })) {
    const { start } = site.branch.span;
    const kernel = unit.kernels.find(({ span }) => span.start <= start && start < span.end);
    if (status === 'applied' && kernel !== undefined) names.add(kernel.name);
  }
  applied.set(transform, names);
  return names;
}

function scopeIn(name: string): string {
  const { unit, analysis } = program();
  const kernel = unit.kernels.find((one) => one.name === name);
  const facts = kernel === undefined ? null : analysis.kernel(kernel);
  const branch = facts?.branches.at(-1);
  if (facts === null || branch === undefined) throw new Error(`no branch in ${name}`);
  return facts.scope(branch.condition).value;
}

beforeAll(async () => {
  await initParser();
  const kernels = WAYS.map(([before, given, object, how = ''], i) => [
    looping(`changed${i}`, before, `${object} += a[i];`, `${given} > 3`), straight(`differs${i}`, before, `${object} += threadIdx.x;`, `${given} > 3`),
    looping(`read${i}`, before, `sum += ${given};`, `${object} > 3`),
    ...(how.includes('c') ? [] : [looping(`written${i}`, before, `${given} += a[i];`, `${object} > 3`), straight(`varies${i}`, before, `${given} += threadIdx.x;`, `${object} > 3`)]),
  ].join(''));
  loaded = load(HEAD + kernels.join('\n'));
});

describe.each(WAYS.map((way, i) => [...way, i] as const).map((way) => [way[0] === '' ? way[1] : way[0], way] as const))('%s', (_, way) => {
  const [, given, object] = way;
  const i = WAYS.findIndex((one) => one[0] === way[0] && one[1] === given && one[2] === object);
  const how = WAYS[i]?.[3] ?? '';

  test(`a change of ${object} is one of ${given}`, () => {
    for (const transform of [hoist, peel]) expect(appliedBy(transform)).not.toContain(`changed${i}`);
    expect(scopeIn(`differs${i}`)).toBe('lane');
  });

  if (!how.includes('c')) {
    test(`a change of ${given} is one of ${object}`, () => {
      for (const transform of [hoist, peel]) expect(appliedBy(transform)).not.toContain(`written${i}`);
      expect(scopeIn(`varies${i}`)).toBe('lane');
    });
  }

  if (!how.includes('l')) test(`a reading of ${given} is none`, () => { expect(appliedBy(hoist)).toContain(`read${i}`); });
});
