/**
 * What is written to the object that a method runs on through anything but the plain names of its members: references, pointers, numbers, arrays of pointers,
 * unions, structured bindings, lambdas. Under a condition that differs between lanes, the member does too, in the method and in the kernel behind the call. The
 * twins make the same references and pointers and only read through them, or write for all lanes alike: they stay uniform.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createAnalysis } from '../../src/analysis/analyse.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { initParser } from '../../src/syntax/parser.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const HEAD = `
typedef unsigned long long u64;
struct Base { int bm; };
struct In { int z; int w[2]; };
struct Holder { int *p; };
union Mixed { int *p; u64 n; };
__device__ void raise(int &x) { x = threadIdx.x; }
__device__ void write(int *p, int x) { *p = x; }
__device__ int *same(int *p) { return p; }
__device__ int square(int x) { return x * x; }
__device__ void point(int **to, int *p) { *to = p; }
__device__ int *slot;
__device__ int *slots[1024];
`;

const MEMBERS = 'int m; int arr[4]; int grid[2][2]; In in; In ins[2];';

/** Where the code stands: what a class is, and what the kernel does with it. `@` stands for the code; the last condition is the one in the method, `behind` that of the kernel. */
type Place = (code: string) => string;

const call = 'O s; s.m = n; s.bm = n; s.arr[1] = n; s.in.z = n;';
const PLACES: Readonly<Record<string, Place>> = {
  'a method': (code) => `struct O : Base { ${MEMBERS} __device__ int run(int *out, int n) { ${code} return 0; } };\n__global__ void k(int *out, int n) { ${call} s.run(out, n); BEHIND }`,
  'a method that is defined outside of its class': (code) => `struct O : Base { ${MEMBERS} __device__ int run(int *out, int n); };\n__device__ int O::run(int *out, int n) { ${code} return 0; }\n__global__ void k(int *out, int n) { ${call} s.run(out, n); BEHIND }`,
  'a method of a class template': (code) => `template <int N> struct O : Base { ${MEMBERS} __device__ int run(int *out, int n) { ${code} return N; } };\n__global__ void k(int *out, int n) { ${call.replace('O s', 'O<3> s')} s.run(out, n); BEHIND }`,
  'operator()': (code) => `struct O : Base { ${MEMBERS} __device__ int operator()(int *out, int n) { ${code} return 0; } };\n__global__ void k(int *out, int n) { ${call} s(out, n); BEHIND }`,
  'a constructor': (code) => `struct O : Base { ${MEMBERS} __device__ O(int *out, int n) : m(n), arr{n, n, n, n} { bm = n; in.z = n; ${code} } };\n__global__ void k(int *out, int n) { O s(out, n); BEHIND }`,
  'a method that another one calls': (code) => `struct O : Base { ${MEMBERS} __device__ void deep(int *out, int n) { ${code} } __device__ int run(int *out, int n) { deep(out, n); return 0; } };\n__global__ void k(int *out, int n) { ${call} s.run(out, n); BEHIND }`,
  'a method of a member': (code) => `struct O : Base { ${MEMBERS} __device__ int run(int *out, int n) { ${code} return 0; } };\nstruct P { O o; };\n__global__ void k(int *out, int n) { P p; p.o.m = n; p.o.bm = n; p.o.arr[1] = n; p.o.in.z = n; O &s = p.o; s.run(out, n); BEHIND }`,
};

/** Scopes of the last condition in the class and of the one behind the call. */
function scopes(place: Place, code: string, member: string): readonly string[] {
  const text = `${HEAD}\n${place(`${code} if (${member} > 3) out[threadIdx.x] = 1;`).replace('BEHIND', `if (s.${member} > 5) out[threadIdx.x] = 2;`)}\n`;
  const { program, unit } = load(text);
  const kernel = unit.kernels.find((one) => one.name === 'k');
  if (kernel === undefined) throw new Error('no kernel');
  const facts = createAnalysis(program, {}).kernel(kernel);
  const behind = facts.branches.at(-1);
  let inner = facts;
  for (let depth = 0; depth < 3; depth++) {
    const next = inner.calls.find(({ callees }) => callees.some((callee) => callee.owner?.name.startsWith('O') === true));
    const callee = next?.callees[0];
    if (next === undefined || callee === undefined) break;
    inner = inner.callee(next.call, callee);
  }
  const inside = inner.branches.at(-1);
  if (behind === undefined) throw new Error('no branch');
  return [...(inner === facts || inside === undefined ? [] : [inner.scope(inside.condition).value]), facts.scope(behind.condition).value];
}

/** How the object is reached, the lvalue of a number in it, the member that it is. Of a twin is known what is written through it, only that it reads (`read`), or not even that (`lost`). */
const FORMS: readonly (readonly [string, string, string, ('read' | 'lost')?])[] = [
  ['auto &f = *this;', 'f.m', 'm'],
  ['auto &&f = *this;', 'f.m', 'm'],
  ['auto &f = *this; auto &g = f;', 'g.m', 'm'],
  ['auto &f = *this; int &g = f.m;', 'g', 'm'],
  ['auto *p = this;', 'p->m', 'm'],
  ['auto p = this;', '(*p).m', 'm'],
  ['auto *p = this, *q = p;', 'q->m', 'm'],
  ['auto *p = this; auto &f = *p;', 'f.m', 'm'],
  ['auto *p = this; auto **q = &p;', '(*q)->m', 'm', 'lost'],
  ['auto *p = &*this;', 'p->m', 'm'],
  ['auto *p = n > 3 ? this : nullptr;', 'p->m', 'm'],
  ['int *p = &m;', '*p', 'm'],
  ['int *p = &this->m;', 'p[0]', 'm'],
  ['int *p = &(*this).m;', '*p', 'm'],
  ['int *p; p = &m;', '*p', 'm'],
  ['int x = 0; int *p = (x, &m);', '*p', 'm'],
  ['int *p = &m + 1;', 'p[-1]', 'm'],
  ['int *p = same(&m);', '*p', 'm', 'lost'],
  ['int *p; point(&p, &m);', '*p', 'm', 'lost'],
  ['int *p = &m; int &r = *p;', 'r', 'm'],
  ['int *p = &m; int *&q = p;', '*q', 'm', 'lost'],
  ['int &p = m;', 'p', 'm'],
  ['int &p = this->m;', 'p', 'm'],
  ['int &&p = static_cast<int &&>(m);', 'p', 'm'],
  ['decltype(auto) p = (m);', 'p', 'm', 'lost'],
  ['int &p = m; int &q = p;', 'q', 'm'],
  ['int &p = m; int *q = &p;', '*q', 'm'],
  ['int &p = n > 3 ? m : bm;', 'p', 'm'],
  ['int x = n; int &p = n > 3 ? m : x;', 'p', 'm', 'read'],
  ['int *p = reinterpret_cast<int *>(&m);', '*p', 'm'],
  ['unsigned char *p = (unsigned char *)&m;', '*p', 'm'],
  ['void *v = &m; int *p = (int *)v;', '*p', 'm'],
  ['u64 a = (u64)&m;', '*(int *)a', 'm', 'read'],
  ['u64 a = reinterpret_cast<u64>(&m) + 4;', '*reinterpret_cast<int *>(a - 4)', 'm', 'read'],
  ['u64 a = (u64)&m ^ 1;', '*(int *)(a ^ 1)', 'm', 'read'],
  ['int *p[2] = {&m, nullptr};', '*p[0]', 'm'],
  ['int *p[2]; p[1] = &m;', '*p[1]', 'm'],
  ['Holder h{&m};', '*h.p', 'm'],
  ['Holder h; h.p = &m;', '*h.p', 'm'],
  ['Mixed u; u.p = &m;', '*u.p', 'm'],
  ['Mixed u; u.p = &m;', '*(int *)u.n', 'm'],
  ['slot = &m;', '*slot', 'm', 'lost'],
  ['slots[threadIdx.x] = &m;', '*slots[threadIdx.x]', 'm', 'lost'],
  ['__shared__ int *held[256]; held[threadIdx.x] = &m;', '*held[threadIdx.x]', 'm', 'lost'],
  ['int *p = arr;', 'p[1]', 'arr[1]'],
  ['int *p = this->arr;', '*(p + 1)', 'arr[1]'],
  ['int *p = &arr[1];', '*p', 'arr[1]'],
  ['int *p = arr + 1;', '*p', 'arr[1]'],
  ['int (&p)[4] = arr;', 'p[1]', 'arr[1]', 'lost'],
  ['int (*p)[4] = &arr;', '(*p)[1]', 'arr[1]', 'lost'],
  ['int *p = *grid;', 'p[0]', 'grid[0][0]'],
  ['int *p = grid[1];', 'p[0]', 'grid[1][0]'],
  ['auto &q = in;', 'q.z', 'in.z'],
  ['In &q = this->in;', 'q.z', 'in.z'],
  ['auto *q = &in;', 'q->z', 'in.z'],
  ['int *q = &in.z;', '*q', 'in.z'],
  ['int *q = in.w;', 'q[1]', 'in.w[1]'],
  ['auto &q = in; int *w = q.w;', 'w[1]', 'in.w[1]'],
  ['In *q = ins;', 'q[1].z', 'ins[1].z'],
  ['In &q = ins[1];', 'q.z', 'ins[1].z'],
  ['Base &b = *this;', 'b.bm', 'bm'],
  ['Base *b = this;', 'b->bm', 'bm'],
  ['Base &b = static_cast<Base &>(*this);', 'b.bm', 'bm'],
  ['int *p = &bm;', '*p', 'bm'],
  ['int Base::*q = &Base::bm; Base *b = this;', 'b->bm', 'bm'],
];

/** What the kernel leaves unset. */
function before(member: string): string {
  return member.startsWith('grid') || member.startsWith('in.w') || member.startsWith('ins') ? `${member} = n;` : '';
}

const ODD = 'if (threadIdx.x & 1)';

/** Templates and constructors do not allow all of these at once; the first place takes each, the others a few. */
const FEW = FORMS.filter((_, i) => i % 7 === 0);

const first = PLACES['a method'];
if (first === undefined) throw new Error('no place');

describe('written by another name', () => {
  test.each(FORMS)('%s … %s', (setup, lvalue, member) => {
    const start = `${before(member)} ${setup}`;
    for (const change of [`${ODD} ${lvalue} = 9;`, `${lvalue} = threadIdx.x;`, `${ODD} ++${lvalue};`, `${lvalue} += threadIdx.x;`, `raise((int &)${lvalue});`, `write((int *)&${lvalue}, threadIdx.x);`, `for (int i = 0; i < n; i++) { if (${member} > 4) out[0] = i; ${ODD} ${lvalue} = i; }`]) {
      expect([change, ...scopes(first, `${start} ${change}`, member)]).toEqual([change, 'lane', 'lane']);
    }
    for (const wrapped of [`auto lam = [&] { ${ODD} ${lvalue} = 9; }; lam();`, `[&] { ${lvalue} = threadIdx.x; }();`, `auto lam = [&](int v) { auto h = [&] { ${lvalue} = v; }; h(); }; lam(threadIdx.x);`, `auto lam = [&](auto v) { ${lvalue} = v; }; lam((int)threadIdx.x);`]) {
      expect([wrapped, ...scopes(first, `${start} ${wrapped}`, member)]).toEqual([wrapped, 'lane', 'lane']);
    }
  });
});

describe.each(Object.entries(PLACES).slice(1))('written by another name in %s', (_, place) => {
  test.each(FEW)('%s … %s', (setup, lvalue, member) => {
    const start = `${before(member)} ${setup}`;
    for (const change of [`${ODD} ${lvalue} = 9;`, `${lvalue} += threadIdx.x;`, `auto lam = [&] { ${ODD} ${lvalue} = 9; }; lam();`]) {
      expect(new Set(scopes(place, `${start} ${change}`, member))).toEqual(new Set(['lane']));
    }
  });
});

describe('read by another name, or written for all lanes alike', () => {
  test.each(FORMS.filter(([, , , known]) => known !== 'lost'))('%s … %s', (...[setup, lvalue, member, known]) => {
    for (const twin of [`out[0] = ${lvalue};`, `if (${lvalue} > 3) out[1] = 1;`, ...(known === 'read' ? [] : [`${lvalue} = n;`])]) {
      expect([twin, ...scopes(first, `${before(member)} ${setup} ${twin}`, member)]).toEqual([twin, 'grid', 'grid']);
    }
  });
});

/** Whole pieces of code that change `m`, with a twin that does not; `-` for none that is followed. */
const CODES: readonly (readonly [string, string])[] = [
  [`auto f = [this] { ${ODD} m = 9; }; f();`, '-'],
  [`auto f = [=] { ${ODD} m = 9; }; f();`, '-'],
  [`auto f = [&] { ${ODD} this->m = 9; }; f();`, '-'],
  ['auto f = [this](auto v) { m += v; }; f((int)threadIdx.x);', '-'],
  ['auto f = [this](int v) { auto g = [this, v] { m += v; }; g(); }; f(threadIdx.x);', '-'],
  ['auto f = [this](int v) { up(v); }; f(threadIdx.x);', '-'],
  ['auto f = [&](int v) { this->up(v); }; f(threadIdx.x);', '-'],
  ['auto f = [this](int v) { raise(m); }; f(0);', '-'],
  ['auto f = [this](int v) { write(&m, v); }; f(threadIdx.x);', '-'],
  ['auto f = [this] { return &m; }; *f() = threadIdx.x;', '-'],
  ['auto f = [this]() -> int & { return m; }; f() = threadIdx.x;', '-'],
  ['auto f = [this](int v) { atomicAdd(&m, v); }; f(threadIdx.x);', '-'],
  ['auto f = [this] { for (auto &x : arr) x = threadIdx.x; m = arr[0]; }; f();', '-'],
  ['apply([this](int v) { m += v; }, threadIdx.x);', '-'],
  ['auto f = [this](int v) { m += v; }; auto g = f; g(threadIdx.x);', '-'],
  ['struct L { O *s; __device__ void operator()(int v) { s->m += v; } } f{this}; f(threadIdx.x);', '-'],
  ['struct L { O *s; __device__ void go(int v) { s->m += v; } } f{this}; f.go(threadIdx.x);', '-'],
  ['struct L { O &s; __device__ void go(int v) { s.m += v; } } f{*this}; f.go(threadIdx.x);', '-'],
  ['struct L { O &s; __device__ ~L() { s.m = threadIdx.x; } }; { L f{*this}; }', '-'],
  ['struct L { O &s; __device__ L(O &o) : s(o) { s.m = threadIdx.x; } }; L f(*this);', '-'],
  ['if (O &f = *this; n > 3) f.m = threadIdx.x;', 'if (O &f = *this; n > 3) out[0] = f.m;'],
  ['if (O *f = this) f->m = threadIdx.x;', 'if (O *f = this) out[0] = f->m;'],
  ['switch (int &f = m; n) { default: f = threadIdx.x; }', 'switch (int &f = m; n) { default: out[0] = f; }'],
  ['for (int &f = m; n < 3; n++) f = threadIdx.x;', 'for (int &f = m; n < 3; n++) out[0] = f;'],
  ['while (O *f = n < 3 ? this : nullptr) { f->m += threadIdx.x; n++; }', 'while (O *f = n < 3 ? this : nullptr) { out[0] = f->m; n++; }'],
  ['O &f = *this; f.up(threadIdx.x);', 'O &f = *this; f.up(n);'],
  ['O *f = this; f->up(threadIdx.x);', 'O *f = this; f->up(n);'],
  ['O *f = this; O &h = *f; h.up(threadIdx.x);', 'O *f = this; O &h = *f; out[0] = h.plus(n);'],
  ['O *f = this; O &h = *f; h(threadIdx.x);', 'O *f = this; O &h = *f; out[0] = h.plus(n);'],
  ['O &f = *this; f(threadIdx.x);', 'O &f = *this; f(n);'],
  ['O &f = *this; f += threadIdx.x;', 'O &f = *this; f += n;'],
  ['O &f = *this; ++f;', '-'],
  ['O &f = *this; f = O{(int)threadIdx.x};', 'O &f = *this; f = O{n};'],
  ['O &f = *this; f.ref() = threadIdx.x;', '-'],
  ['int &f = ref(); f = threadIdx.x;', '-'],
  ['int *f = at(); *f = threadIdx.x;', '-'],
  ['O *f = self(); f->m = threadIdx.x;', '-'],
  ['O &f = *this; raise(f.m);', 'O &f = *this; out[0] = twice(f.m);'],
  ['O &f = *this; set(f, threadIdx.x);', 'O &f = *this; set(f, n);'],
  ['O *f = this; set(*f, threadIdx.x);', '-'],
  ['O *f = this; put(f, threadIdx.x);', 'O *f = this; put(f, n);'],
  ['both(m, m);', '-'],
  ['inner(*this);', '-'],
  ['innerAt(this);', '-'],
  ['innerOf(m);', '-'],
  ['O *f = this; memset(f, threadIdx.x, sizeof(O));', '-'],
  ['int *p = &m, v = threadIdx.x; memcpy(p, &v, 4);', '-'],
  ['int *p = &m; atomicAdd(p, 1);', '-'],
  ['int *p = &m; asm("st.u32 [%0], %1;" :: "l"(p), "r"(threadIdx.x) : "memory");', '-'],
  ['int &p = m; asm("mov.u32 %0, %1;" : "=r"(p) : "r"(threadIdx.x));', '-'],
  ['O *f = this; (*f)++;', '-'],
  ['O *p[2] = {this, this}; p[threadIdx.x & 1]->m = threadIdx.x;', 'O *p[2] = {this, this}; out[0] = p[1]->m;'],
  ['auto &[x, y] = *this; x = threadIdx.x;', 'auto [x, y] = *this; out[0] = x;'],
  ['for (int &x : arr) x = threadIdx.x; m = arr[1];', '-'],
  ['counter(threadIdx.x); m = counter.q;', 'out[0] = counter.q;'],
  ['Fn &g = counter; g(threadIdx.x); m = counter.q;', 'Fn &g = counter; out[0] = g.q;'],
  ['Fn *g = &counter; (*g)(threadIdx.x); m = counter.q;', 'Fn *g = &counter; out[0] = g->q;'],
];

const OBJECT = `
struct Fn { int q; __device__ void operator()(int d) { q += d; } };
__device__ int twice(int x) { return 2 * x; }
template <class F> __device__ void apply(F f, int v) { f(v); }
struct O {
  int m; int arr[2];
  Fn counter;
  __device__ void up(int d) { m += d; }
  __device__ int plus(int d) const { return m + d; }
  __device__ void operator()(int d) { m += d; }
  __device__ O &operator+=(int d) { m += d; return *this; }
  __device__ O &operator++() { m += threadIdx.x; return *this; }
  __device__ void operator++(int) { m += threadIdx.x; }
  __device__ int &ref() { return m; }
  __device__ int *at() { return &m; }
  __device__ O *self() { return this; }
  static __device__ void set(O &s, int d) { s.m = d; }
  static __device__ void put(O *s, int d) { s->m = d; }
  __device__ int both(int &a, int &b) { a = threadIdx.x; if (b > 3) return 1; return 0; }
  __device__ int inner(O &o) { o.m = threadIdx.x; if (m > 3) return 1; return 0; }
  __device__ int innerAt(O *o) { o->m = threadIdx.x; if (m > 3) return 1; return 0; }
  __device__ int innerOf(int &o) { o = threadIdx.x; if (m > 3) return 1; return 0; }
  __device__ int run(int *out, int n) { CODE if (m > 3) out[threadIdx.x] = 1; return 0; }
};
__global__ void k(int *out, int n) { O s{n}; s.run(out, n); if (s.m > 5) out[threadIdx.x] = 2; }
`;

/** Scopes of every condition on `m` that runs, whichever function it stands in. */
function conditions(code: string): readonly string[] {
  // A binding names all members.
  const object = code.includes('auto &[') || code.includes('auto [') ? OBJECT.replace('Fn counter;', '') : OBJECT;
  const text = `${HEAD}${object.replace('CODE', code)}`;
  const { program, unit } = load(text);
  const kernel = unit.kernels.find((one) => one.name === 'k');
  if (kernel === undefined) throw new Error('no kernel');
  const found: string[] = [];
  const visit = (facts: FunctionFacts, depth: number): void => {
    for (const { condition } of facts.branches) if (/^[mb] > 3$|^s\.m > 5$/.test(unit.source.text.slice(condition.span.start, condition.span.end))) found.push(facts.scope(condition).value);
    if (depth < 3) for (const { call, callees } of facts.calls) for (const callee of callees) visit(facts.callee(call, callee), depth + 1);
  };
  visit(createAnalysis(program, {}).kernel(kernel), 0);
  return found;
}

describe('changed in other ways', () => {
  test.each(CODES)('%s', (code, twin) => {
    expect(new Set(conditions(code))).toEqual(new Set(['lane']));
    if (twin !== '-') expect(new Set(conditions(twin))).toEqual(new Set(['grid']));
  });
});

test('a reference that comes of a function which calls itself is followed to an end', () => {
  const text = `${HEAD}
template <class T> __device__ T &pick(T &a, int n) { return n > 0 ? pick(a, n - 1) : a; }
__device__ int &even(int &a, int n);
__device__ int &odd(int &a, int n) { return n > 0 ? even(a, n - 1) : a; }
__device__ int &even(int &a, int n) { return n > 0 ? odd(a, n - 1) : a; }
template <class T> __device__ auto widen(T a) { return widen(a, 1); }
template <class T> __device__ auto widen(T a, int n) { return widen(a + n); }
__global__ void k(int *out, int n) { int f = n, g = n; raise(pick(f, 3)); raise(odd(g, 3)); out[0] = square(widen(n)); if (f > 3) out[0] = 1; if (g > 3) out[0] = 2; }`;
  const { program, unit } = load(text);
  const kernel = unit.kernels[0];
  if (kernel === undefined) throw new Error('no kernel');
  const facts = createAnalysis(program, {}).kernel(kernel);
  expect(facts.branches.map(({ condition }) => facts.scope(condition).value)).toEqual(['lane', 'lane']);
});
