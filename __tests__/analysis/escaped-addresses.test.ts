/**
 * Where the address of a local goes to memory, into a number, into another object or through inline assembler, whoever may find it there may write the local:
 * under a condition that differs between lanes, the local does too. The traps write it so; the twins keep the address in the same places and write nothing that
 * it leads to, or write it for all lanes alike, and stay uniform.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createAnalysis } from '../../src/analysis/analyse.js';
import { initParser } from '../../src/syntax/parser.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const HEAD = `
typedef unsigned long long u64;
struct P { int *p; int k; __device__ void at(int *q) { p = q; } __device__ void put() { *p = threadIdx.x; } __device__ int twice(int x) const { return x + k; } };
struct N { u64 a; };
struct W { int v; float b[2]; __device__ float *begin() { v += threadIdx.x; return b; } __device__ float *end() { return b + 2; } };
struct Free { int v; float b[2]; };
__device__ float *begin(Free &w) { w.v += threadIdx.x; return w.b; }
__device__ float *end(Free &w) { return w.b + 2; }
__device__ int *one;
__device__ int *slots[1024];
__device__ u64 numbers[1024];
__device__ P objects[1024];
__device__ int cells[1024];
__device__ void unseen();
__device__ void through(int v) { *one = v; }
__device__ void deeper(int v) { through(v); }
__device__ void beside(int v) { cells[threadIdx.x] = v; }
__device__ int square(int v) { return v * v; }
__device__ void keep(int *p) { slots[threadIdx.x] = p; }
__device__ void keepDeeper(int *p) { keep(p); }
__device__ void into(int **s, int *p) { *s = p; }
__device__ void bind(int *&s, int *p) { s = p; }
__device__ int *same(int *p) { return p; }
__device__ int *found() { return slots[threadIdx.x]; }
__device__ void raise(int &x) { x = threadIdx.x; }
__device__ void write(int *p, int x) { *p = x; }
`;

/** The scope of the last condition of a kernel. */
function scopeOf(body: string): string {
  const { program, unit } = load(`${HEAD}\n__global__ void k(int *out, int n, int m)\n{\n  ${body}\n  if (f > 3) out[threadIdx.x] = 1;\n}\n`);
  const kernel = unit.kernels.find((one) => one.name === 'k');
  if (kernel === undefined) throw new Error('no kernel');
  const facts = createAnalysis(program, {}).kernel(kernel);
  const last = facts.branches[facts.branches.length - 1];
  if (last === undefined) throw new Error('no branch');
  return facts.scope(last.condition).value;
}

/** Ways to keep the address of `f`, and to write through it what was kept. */
const PLACES: readonly (readonly [string, string])[] = [
  ['one = &f;', '*one'],
  ['slots[threadIdx.x] = &f;', '*slots[threadIdx.x]'],
  ['slots[threadIdx.x] = &f; int *p = slots[threadIdx.x];', '*p'],
  ['slots[threadIdx.x] = &f; int *p = found();', 'p[0]'],
  ['slots[threadIdx.x] = &f; int &r = *slots[threadIdx.x];', 'r'],
  ['slots[threadIdx.x] = &f; auto pp = slots + threadIdx.x;', '**pp'],
  ['__shared__ int *held[256]; held[threadIdx.x] = &f;', '*held[threadIdx.x]'],
  ['__shared__ P held[256]; held[threadIdx.x].p = &f;', '*held[threadIdx.x].p'],
  ['__shared__ int *held[256]; int **to = held + threadIdx.x; *to = &f;', '**to'],
  ['objects[threadIdx.x].p = &f;', '*objects[threadIdx.x].p'],
  ['objects[threadIdx.x] = P{&f, 1};', '*objects[threadIdx.x].p'],
  ['objects[threadIdx.x].at(&f);', '*objects[threadIdx.x].p'],
  ['P q{&f, 1}; objects[threadIdx.x] = q; P r = objects[threadIdx.x];', '*r.p'],
  ['keep(&f);', '*slots[threadIdx.x]'],
  ['keepDeeper(&f);', '*slots[threadIdx.x]'],
  ['into(&slots[threadIdx.x], &f);', '*slots[threadIdx.x]'],
  ['into(slots + threadIdx.x, &f);', '*slots[threadIdx.x]'],
  ['bind(slots[threadIdx.x], &f);', '*slots[threadIdx.x]'],
  ['int *q; into(&q, &f);', '*q'],
  ['int *q; bind(q, &f);', '*q'],
  ['int *q; int **pp = &q; *pp = &f;', '*q'],
  ['int *q; int **pp = &q; *pp = &f;', '**pp'],
  ['int *q[2]; q[1] = &f;', '*q[1]'],
  ['P q; q.at(&f);', '*q.p'],
  ['P q, *o = &q; o->at(&f);', '*q.p'],
  ['int *p = same(&f);', '*p'],
  ['int *a = &f, *q; memcpy(&q, &a, sizeof(q));', '*q'],
  ['int *a = &f; memcpy(slots + threadIdx.x, &a, sizeof(a));', '*slots[threadIdx.x]'],
  ['int *p = (int *)memcpy(&f, &n, 4);', '*p'],
  ['u64 a = (u64)&f;', '*(int *)a'],
  ['u64 a = reinterpret_cast<u64>(&f) + 4;', '*reinterpret_cast<int *>(a - 4)'],
  ['u64 a = (u64)&f, &b = a;', '*(int *)b'],
  ['u64 a = (u64)&f ^ 1;', '*(int *)(a ^ 1)'],
  ['u64 a = ~(u64)&f;', '*(int *)~a'],
  ['u64 a = -(-(u64)&f);', '*(int *)a'],
  ['u64 a = (u64)&f | 1;', '*(int *)(a - 1)'],
  ['N q; q.a = (u64)&f << 1;', '*(int *)(q.a >> 1)'],
  ['u64 a = min((u64)&f, ~0ull);', '*(int *)a'],
  ['u64 a = __brevll((u64)&f);', '*(int *)__brevll(a)'],
  ['ulonglong2 q = make_ulonglong2((u64)&f, 0);', '*(int *)q.x'],
  ['N q{(u64)&f};', '*(int *)q.a'],
  ['N q; q.a = (u64)&f;', '*(int *)q.a'],
  ['numbers[threadIdx.x] = (u64)&f;', '*(int *)numbers[threadIdx.x]'],
  ['numbers[threadIdx.x] = (u64)&f; int *p = (int *)numbers[threadIdx.x];', '*p'],
  ['atomicExch(numbers + threadIdx.x, (u64)&f);', '*(int *)numbers[threadIdx.x]'],
  ['int *p; asm("mov.u64 %0, %1;" : "=l"(p) : "l"(&f));', '*p'],
  ['u64 a; asm("mov.u64 %0, %1;" : "=l"(a) : "l"(&f));', '*(int *)a'],
  ['asm("st.global.u64 [%0], %1;" :: "l"(slots), "l"(&f) : "memory");', '*slots[0]'],
  ['int *a = &f; asm("st.global.u64 [%0], %1;" :: "l"(slots), "l"(a) : "memory");', '*slots[0]'],
];

const ODD = 'if (threadIdx.x & 1)';

describe('written through what was found there', () => {
  test.each(PLACES)('%s … %s', (kept, found) => {
    const start = `int f = m; ${kept}`;
    expect(scopeOf(`${start} ${ODD} ${found} = 9;`)).toBe('lane');
    expect(scopeOf(`${start} ${ODD} ++${found};`)).toBe('lane');
    expect(scopeOf(`${start} ${ODD} raise(${found});`)).toBe('lane');
    expect(scopeOf(`${start} ${ODD} write(&${found}, 9);`)).toBe('lane');
    expect(scopeOf(`${start} for (int i = 0; i < n; i++) { if (f > 3) out[0] = i; ${ODD} ${found} = i; }`)).toBe('lane');
  });
});

test.each([['mutable int v; int w;', 'const auto &', 'lane'], ['int v; int w;', 'auto &', 'lane'], ['mutable int v; int w;', 'auto &&', 'lane'], ['int v; int w;', 'const auto &', 'grid'], ['int v; int w;', 'auto ', 'grid']])('parts of `struct { %s }` by `%s[p, q]`: %s', (fields, how, scope) => {
  expect(scopeOf(`struct M { ${fields} }; M g{m, 1}; ${ODD} { ${how}[p, q] = g; ${how.startsWith('const') && !fields.startsWith('mutable') ? 'out[0] = p;' : 'p++;'} } int f = g.v;`)).toBe(scope);
});

/** Calls that find the address by themselves, or may. */
const CALLS: readonly (readonly [string, string])[] = [
  ['one = &f;', 'unseen();'], ['slots[threadIdx.x] = &f;', 'unseen();'], ['keep(&f);', 'unseen();'], ['numbers[threadIdx.x] = (u64)&f;', 'unseen();'], ['__shared__ int *held[256]; held[threadIdx.x] = &f;', 'unseen();'],
  ['one = &f;', 'through(9);'], ['one = &f;', 'deeper(9);'], ['int *p = &f; one = p;', 'through(9);'], ['objects[threadIdx.x].p = &f;', 'objects[threadIdx.x].put();'], ['objects[threadIdx.x].at(&f);', 'P *o = objects + threadIdx.x; o->put();'],
  ['slots[threadIdx.x] = &f;', 'raise(*slots[threadIdx.x]);'], ['slots[threadIdx.x] = &f;', 'write(slots[threadIdx.x], 9);'], ['slots[threadIdx.x] = &f;', 'atomicAdd(slots[threadIdx.x], 1);'], ['slots[threadIdx.x] = &f;', 'memset(slots[threadIdx.x], 0, 4);'],
  ['slots[threadIdx.x] = &f;', 'asm("st.u32 [%0], 9;" :: "l"(slots[threadIdx.x]) : "memory");'], ['one = &f;', 'asm volatile("st.global.u32 [one], 9;" ::: "memory");'], ['int *a = &f;', 'asm("st.u32 [%0], 9;" :: "l"(a) : "memory");'],
];

test.each(CALLS)('written by whoever is called: %s … %s', (kept, call) => {
  expect(scopeOf(`int f = m; ${kept} ${ODD} { ${call} }`)).toBe('lane');
});

test.each(['W', 'Free'])('a loop over an object of %s runs `begin`, which changes it', (type) => {
  expect(scopeOf(`${type} g{m, {1, 2}}; ${ODD} { for (auto z : g) out[9] = z; } int f = g.v;`)).toBe('lane');
  expect(scopeOf(`${type} g{m, {1, 2}}; for (int i = 0; i < n; i++) { if (g.v > 3) out[0] = i; ${ODD} for (auto z : g) out[9] = z; } int f = g.v;`)).toBe('lane');
  expect(scopeOf(`${type} g{m, {1, 2}}; for (auto z : g) { if (g.v > 3) out[9] = z; } int f = g.v;`)).toBe('lane');
});

describe('harmless twins stay uniform', () => {
  test.each([
    'int f = m;', 'int f = m; int *p = &f; out[threadIdx.x] = *p;', 'int f = m; slots[threadIdx.x] = &f;',
    `int f = m; slots[threadIdx.x] = &f; ${ODD} out[threadIdx.x] = 9;`, `int f = m; slots[threadIdx.x] = &f; ${ODD} cells[threadIdx.x] = 9;`, `int f = m; slots[threadIdx.x] = &f; ${ODD} atomicAdd(out, 1);`,
    `int f = m; slots[threadIdx.x] = &f; ${ODD} out[threadIdx.x] = square(n);`, `int f = m; slots[threadIdx.x] = &f; ${ODD} beside(9);`,
    `int f = m, g = n; slots[threadIdx.x] = &g; int *p = slots[threadIdx.x]; ${ODD} *p = 9;`, `int f = m, g = n; int *p = &g; ${ODD} *p = 9;`,
    `int f = m; ${ODD} *one = 9;`, `int f = m; ${ODD} unseen();`, `int f = m; P q{out, 3}; ${ODD} q.put();`, `int f = m; int *a = &f; ${ODD} asm volatile("membar.gl;" ::: "memory"); out[0] = *a;`,
    `int f = m; slots[threadIdx.x] = &f; float t; ${ODD} asm("sqrt.approx.f32 %0, %1;" : "=f"(t) : "f"(1.0f));`,
    `int f = m; int w[2] = {n, n}; int *p = w; ${ODD} p[1] = 9;`, `int f = m; P g{nullptr, 1}; ${ODD} out[threadIdx.x] = g.twice(2);`,
    `int f = m; numbers[threadIdx.x] = (u64)out; ${ODD} *(int *)numbers[threadIdx.x] = 9;`,
  ])('%s', (body) => { expect(scopeOf(body)).toBe('grid'); });
});

describe('however it is spelled', () => {
  const macros = '#define PASTE_(k) f##k\n#define PASTE(k) PASTE_(k)\n#define NAME_(k) f_##k\n#define NAME(k) NAME_(k)\n';
  function last(body: string): string {
    const { program, unit } = load(`${macros}__device__ void raise(int bitand x) { x = threadIdx.x; }\n__device__ void taken(int x) { x = threadIdx.x; }\n__global__ void k(int *out, int n, int m) { ${body} }\n`);
    const kernel = unit.kernels[0];
    if (kernel === undefined) throw new Error('no kernel');
    const facts = createAnalysis(program, {}).kernel(kernel);
    const branch = facts.branches[facts.branches.length - 1];
    if (branch === undefined) throw new Error('no branch');
    return facts.scope(branch.condition).value;
  }

  test.each([
    'int f = m; int *q = bitand f; if (threadIdx.x & 1) ++*q; if (f > 3) out[0] = 1;', 'int f = m; int bitand q = f; if (threadIdx.x bitand 1) q and_eq 3; if (f > 3) out[0] = 1;',
    'int f = m; int *q = n > 3 and m > 2 ? bitand f : out; if (threadIdx.x & 1) *q = 9; if (f > 3) out[0] = 1;', 'int f = m; if (threadIdx.x bitand 1) f or_eq 4; if (f > 3) out[0] = 1;', 'int f = m; if (threadIdx.x & 1) f xor_eq 4; if (f > 3) out[0] = 1;',
    'int f = m; if (threadIdx.x & 1) raise(f); if (f > 3) out[0] = 1;', 'int f = m; if (not (threadIdx.x & 1)) f = compl f; if (f > 3) out[0] = 1;', 'int f = m; if ((threadIdx.x & 1) not_eq 0) f = m xor 1 bitor n; if (f > 3) out[0] = 1;',
    'int f = m; if (threadIdx.x & 1) raise(*(bitand f)); if (f > 3) out[0] = 1;', 'int f = m; auto up = [bitand] { f = threadIdx.x; }; up(); if (f > 3) out[0] = 1;', 'int f = m; auto and q = f; q = threadIdx.x; if (f > 3) out[0] = 1;',
    'int f_0 = m; if (threadIdx.x & 1) NAME(__COUNTER__)++; if (f_0 > 3) out[0] = 1;', 'int f0 = m; if (threadIdx.x & 1) PASTE(__COUNTER__) = 9; if (f0 > 3) out[0] = 1;', 'int f_7 = m; if (threadIdx.x & 1) NAME(__LINE__) = 9; if (f_7 > 3) out[0] = 1;',
    'int f_0 = m; if (threadIdx.x & 1) raise(NAME(__COUNTER__)); if (f_0 > 3) out[0] = 1;', 'int f_0 = m; int *q = &NAME(__COUNTER__); if (threadIdx.x & 1) *q = 9; if (f_0 > 3) out[0] = 1;',
    'int f_0 = m, f_1 = m; int NAME(__COUNTER__) = m; if (threadIdx.x & 1) NAME(__COUNTER__)++; if (f_1 > 3) out[0] = 1;',
  ])('%s', (body) => { expect(last(body)).toBe('lane'); });

  test.each([
    'int f = m; if (threadIdx.x bitand 1) out[0] and_eq 3; if (f > 3 and not (m not_eq 2) or compl m) out[0] = 1;', 'int f = m; int *q = bitand f; if (threadIdx.x & 1) out[0] = *q; if (f > 3) out[0] = 1;',
    'int f = m; if (threadIdx.x & 1) taken(f); if (f bitand 3) out[0] = 1;', 'int f_4 = m, f_5 = m; if (threadIdx.x & 1) NAME(5)++; if (f_4 > 3) out[0] = 1;', 'int f = m; if (threadIdx.x & 1) out[0] = __LINE__; if (f > 3) out[0] = 1;',
  ])('harmless: %s', (body) => { expect(last(body)).toBe('grid'); });

  test.each([
    'int ff = m; if (threadIdx.x & 1) f\\\nf++; if (ff > 3) out[0] = 1;', 'int ff = m; if (threadIdx.x & 1) { f\\\nf = 9; } if (ff > 3) out[0] = 1;', 'int ff = m; int *q = &f\\\nf; if (threadIdx.x & 1) *q = 9; if (ff > 3) out[0] = 1;',
    'int ff = m; if (threadIdx.x & 1) raise(f\\\r\nf); if (ff > 3) out[0] = 1;', 'int f = m; if (threadIdx.x & 1) +\\\n+f; if (f > 3) out[0] = 1;', 'int f = m; if (f > 1\\\n2) out[0] = 1;', 'int f = m; out[0] = 1; /\\\n/ f = 2;\nif (f > 3) out[0] = 1;',
  ].map((body) => [body]))('a word on two lines is not read: %s', (body) => {
    const { unit } = load(`__device__ void raise(int &x) { x = threadIdx.x; }\n__global__ void k(int *out, int n, int m) { ${body} }\n__global__ void fine(int *out) { out[0] = 1; }\n`);
    expect(unit.kernels.map((kernel) => [kernel.understood, kernel.problems.length > 0])).toEqual([[false, true], [true, false]]);
    expect(unit.kernels[0]?.body?.body.map((stmt) => stmt.kind)).toEqual(['opaque']);
  });

  test.each(['out[0] = n; // a comment\\\nthat goes on', 'asm("membar.gl;\\\nmembar.cta;");', 'if (n > 3 \\\n && m > 2) out[0] = 1;', 'out[0] = n +\\\nm;', '#define ADD(x) x\\\n+1\nout[0] = ADD(n);'])('a line that goes on between words, in strings and comments is: %s', (body) => {
    const { unit } = load(`__global__ void k(int *out, int n, int m) {\n${body}\n}\n`);
    expect(unit.kernels.map((kernel) => [kernel.understood, kernel.problems.length])).toEqual([[true, 0]]);
  });
});

/** An array that is a part of an object, or a row of a matrix, stands for its address. */
test.each([
  ['struct A { int a[4]; }; A g{{m, m, m, m}}; int *p = g.a;', 'p[1]', 'g.a[1]'],
  ['struct A { int a[4]; }; A g{{m, m, m, m}}; int *p; p = g.a;', '*(p + 1)', 'g.a[1]'],
  ['struct I { int a[4]; }; struct A { I i; }; A g{{{m, m, m, m}}}; int *p = g.i.a;', 'p[1]', 'g.i.a[1]'],
  ['struct I { int a[4]; }; I g[2] = {{{m, m}}, {{m, m}}}; int *p = g[1].a + 1;', '*p', 'g[1].a[1]'],
  ['struct A { int a[2][2]; }; A g{{{m, m}, {m, m}}}; int *p = g.a[1];', 'p[1]', 'g.a[1][1]'],
  ['struct A { int a[2][2]; }; A g{{{m, m}, {m, m}}}; int *p = *g.a;', 'p[1]', 'g.a[0][1]'],
  ['int g[2][2] = {{m, m}, {m, m}}; int *p = *g;', 'p[1]', 'g[0][1]'],
  ['int g[2][2] = {{m, m}, {m, m}}; int *p = *(g + 1);', 'p[1]', 'g[1][1]'],
  ['struct A { int a[4]; }; A g{{m, m, m, m}}; A &h = g; int *p = h.a;', 'p[1]', 'g.a[1]'],
])('%s … %s', (start, found, held) => {
  expect(scopeOf(`${start} ${ODD} ${found} = 9; int f = ${held};`)).toBe('lane');
  expect(scopeOf(`${start} raise(${found}); int f = ${held};`)).toBe('lane');
  expect(scopeOf(`${start} out[0] = ${found}; int f = ${held};`)).toBe('grid');
});

/** Arguments that are the variable, or what a pointer leads to, behind more than its name; the second is the variable that is read behind. */
test.each([
  ['(int &)f', 'f'], ['(int &)g', 'g'], ['reinterpret_cast<int &>(g)', 'g'], ['(int &)*p', 'f'], ['static_cast<int &>(*p)', 'f'], ['n > 3 ? *p : *q', 'f'], ['n > 3 ? f : *q', 'f'], ['(n, *p)', 'f'], ['++*p', 'f'],
  ['*p += 1', 'f'], ['D::at(p)', 'f'],
])('raise(%s)', (argument, held) => {
  const start = 'struct D { __device__ static int &at(int *p) { return *p; } }; int f = m, o = m; unsigned g = m; int *p = &f, *q = &o;';
  const behind = held === 'f' ? '' : 'f = g;';
  expect(scopeOf(`${start} raise(${argument}); ${behind}`)).toBe('lane');
  expect(scopeOf(`${start} ${ODD} raise(${argument}); ${behind}`)).toBe('lane');
  if (!argument.includes('D::')) expect(scopeOf(`${start} out[0] = square(${argument}); ${behind}`)).toBe('grid');
});
