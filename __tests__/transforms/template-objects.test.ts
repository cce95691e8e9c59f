/**
 * A template parameter that is a reference or a pointer names memory that other code reaches under its own name, and so does what a temporary object holds: what is written there changes what a
 * loop tests, and what is read there may change.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { hoist as typed } from '../../transforms/hoist.js';
import type { Transform } from '../../transforms/lib/types.js';
import { Text } from '../analysis/program.js';
import { load, outcomesOf } from '../helpers/transform.js';

const hoist = typed as Transform;

beforeAll(async () => { await initParser(); });

const BEFORE = `
#include <absent.h>
__device__ int level; __device__ int table[4];
struct Cell { int m; __device__ void up(int d) { m += d; } __device__ void operator()(int d) { m += d; } __device__ Cell &operator+=(int d) { m += d; return *this; } };
__device__ Cell cell;
struct Held { int *p; __device__ void up(int d) const { *p += d; } __device__ void operator()(int d) const { *p += d; } };
struct Bound { int &r; };
typedef int &Ref; struct Names { using Type = int &; };
__device__ void add(int &x, int d) { x += d; } __device__ void addTo(int *x, int d) { *x += d; } __device__ void addLevel(int d) { level += d; }
__device__ void through(const Held &h, int d) { *h.p += d; } __device__ void pointed(int *const &p, int d) { *p += d; }
template <class P> __device__ void forwarded(P &&p, int d) { *p += d; }
`;

const kernel = (declared: string, statement: string, tested: string): string => `${BEFORE}${declared}
__global__ void k(const int *__restrict__ a, int *__restrict__ o, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        ${statement}
        if (${tested}) { sum += a[i] * 3; sum ^= a[i]; } else { sum -= a[i]; sum *= 3; }
    }
    o[threadIdx.x] = sum;
}
`;

const isHoisted = (text: string): boolean => outcomesOf(hoist, load(text), { evenIfItLoses: true }).some((outcome) => outcome.status === 'applied');

/** Templates that write what stands for their parameter, with the call. */
const WRITES: readonly (readonly [string, string])[] = [
  ['template <int &R> __device__ void f(int d) { R += d; }', 'f<level>(a[i]);'], ['template <int &R> __device__ void f(int d) { ++R; }', 'f<level>(1);'], ['template <int &R> __device__ void f(int d) { (R) = d; }', 'f<level>(i);'],
  ['template <auto &R> __device__ void f(int d) { R += d; }', 'f<level>(a[i]);'], ['template <decltype(auto) R> __device__ void f(int d) { R += d; }', 'f<(level)>(a[i]);'], ['template <Ref R> __device__ void f(int d) { R += d; }', 'f<level>(i);'],
  ['template <typename Names::Type R> __device__ void f(int d) { R += d; }', 'f<level>(i);'], ['template <class N, typename N::Type R> __device__ void f(int d) { R += d; }', 'f<Names, level>(i);'], ['template <Absent R> __device__ void f(int d) { R += d; }', 'f<level>(i);'],
  ['template <class T, T R> __device__ void f(int d) { R += d; }', 'f<int &, level>(i);'], ['template <int &R = level> __device__ void f(int d) { R += d; }', 'f(a[i]);'], ['template <int &R = level> __device__ void f(int d) { R += d; }', 'f<>(a[i]);'],
  ['template <const int &R> __device__ void f(int d) { const_cast<int &>(R) += d; }', 'f<level>(i);'], ['template <int &R> __device__ void f(int d) { reinterpret_cast<unsigned &>(R) += d; }', 'f<level>(i);'], ['template <int &R> __device__ void f(int d) { (d > 0 ? R : R) = d; }', 'f<level>(i);'],
  ['template <int &R> __device__ void f(int d) { int &q = R; q += d; }', 'f<level>(i);'], ['template <int &R> __device__ void f(int d) { auto &q = R; ++q; }', 'f<level>(i);'], ['template <int &R> __device__ void f(int d) { decltype(R) q = R; q += d; }', 'f<level>(i);'],
  ['template <int &R> __device__ void f(int d) { int *q = &R; *q += d; }', 'f<level>(i);'], ['template <int &R> __device__ void f(int d) { add(R, d); }', 'f<level>(i);'], ['template <int &R> __device__ void f(int d) { addTo(&R, d); }', 'f<level>(i);'],
  ['template <int &R> __device__ void f(int d) { atomicAdd(&R, d); }', 'f<level>(i);'], ['template <int &R> __device__ void g(int d) { R += d; } template <int &R> __device__ void f(int d) { g<R>(d); }', 'f<level>(i);'], ['template <int &R> __device__ int &f() { return R; }', 'f<level>() += i;'],
  ['template <int &R> __device__ void f(int d) { [](int e) { R += e; }(d); }', 'f<level>(i);'], ['template <int &...R> __device__ void f(int d) { ((R += d), ...); }', 'f<level>(i);'], ['template <int *...P> __device__ void f(int d) { ((*P += d), ...); }', 'f<&level>(i);'],
  ['template <int &R> struct Z { __device__ void bump(int d) { R += d; } };', 'Z<level> z; z.bump(i);'], ['template <int &R> struct Z { static __device__ void bump(int d) { R += d; } };', 'Z<level>::bump(i);'],
  ['template <int &R> struct Z { static __device__ void bump(int d) { R += d; } }; using Y = Z<level>;', 'Y::bump(i);'], ['template <int &R> struct Z { int &q = R; __device__ void bump(int d) { q += d; } };', 'Z<level> z; z.bump(i);'],
  ['template <int &R> struct Z { __device__ Z(int d) { R += d; } };', 'Z<level> z(i);'], ['template <int &R> struct Z { __device__ ~Z() { R += 1; } };', 'Z<level> z;'], ['template <int &R> struct B { __device__ void bump(int d) { R += d; } }; struct Z : B<level> {};', 'Z z; z.bump(i);'],
  ['template <int *P> __device__ void f(int d) { *P += d; }', 'f<&level>(i);'], ['template <int *P> __device__ void f(int d) { P[0] += d; }', 'f<&level>(i);'], ['template <auto P> __device__ void f(int d) { *P += d; }', 'f<&level>(i);'],
  ['template <auto *P> __device__ void f(int d) { *P += d; }', 'f<&level>(i);'], ['template <Held c> __device__ void f(int d) { *c.p += d; }', 'f<Held{&level}>(i);'], ['template <Held c> __device__ void f(int d) { c.up(d); }', 'f<Held{&level}>(i);'],
  ['template <Bound c> __device__ void f(int d) { c.r += d; }', 'f<Bound{level}>(i);'], ['template <void (*F)(int)> __device__ void f(int d) { F(d); }', 'f<addLevel>(i);'], ['template <void (&F)(int)> __device__ void f(int d) { F(d); }', 'f<addLevel>(i);'],
  ['template <auto F> __device__ void f(int d) { F(d); }', 'f<addLevel>(i);'], ['template <auto F> __device__ void f(int d) { (*F)(d); }', 'f<addLevel>(i);'],
];

describe('written by way of a template parameter', () => {
  test.each(WRITES)('%s %s', (declared, statement) => { expect(isHoisted(kernel(declared, statement, 'level > 3'))).toBe(false); });
  test.each([
    ['template <Cell &R> __device__ void f(int d) { R.m += d; }', 'f<cell>(i);'], ['template <Cell &R> __device__ void f(int d) { R.up(d); }', 'f<cell>(i);'], ['template <Cell &R> __device__ void f(int d) { R(d); }', 'f<cell>(i);'],
    ['template <Cell &R> __device__ void f(int d) { R += d; }', 'f<cell>(i);'], ['template <int Cell::*M> __device__ void f(Cell &c, int d) { c.*M += d; }', 'f<&Cell::m>(cell, i);'], ['template <int Cell::*M> __device__ void f(Cell *c, int d) { c->*M += d; }', 'f<&Cell::m>(&cell, i);'],
    ['template <void (Cell::*M)(int)> __device__ void f(Cell &c, int d) { (c.*M)(d); }', 'f<&Cell::up>(cell, i);'],
  ])('%s %s', (declared, statement) => { expect(isHoisted(kernel(declared, statement, 'cell.m > 3'))).toBe(false); });
  test.each([['template <int (&A)[4]> __device__ void f(int d) { A[1] += d; }', 'f<table>(i);'], ['template <int A[]> __device__ void f(int d) { A[1] += d; }', 'f<table>(i);']])('%s %s', (declared, statement) => {
    expect(isHoisted(kernel(declared, statement, 'table[1] > 3'))).toBe(false);
  });
});

describe('read by way of a template parameter', () => {
  test.each([
    ['template <int &R> __device__ bool f() { return R > 3; }', 'f<level>()'], ['template <const int &R> __device__ bool f() { return R > 3; }', 'f<level>()'], ['template <class T, T R> __device__ bool f() { return R > 3; }', 'f<const int &, level>()'],
    ['template <const int *P> __device__ bool f() { return *P > 3; }', 'f<&level>()'], ['template <decltype(auto) R> __device__ bool f() { return R > 3; }', 'f<(level)>()'], ['template <auto P> __device__ bool f() { return *P > 3; }', 'f<&level>()'],
    ['template <const int &R> struct Z { static __device__ bool f() { return R > 3; } };', 'Z<level>::f()'], ['template <const int &R> struct Z { __device__ operator int() const { return R; } };', 'Z<level>{} > 3'],
    ['template <const int &R> struct Z { static constexpr const int &v = R; };', 'Z<level>::v > 3'], ['template <const int &R> constexpr const int &v = R;', 'v<level> > 3'], ['template <Absent R> __device__ bool f() { return R > 3; }', 'f<level>()'],
  ])('%s %s', (declared, tested) => { expect(isHoisted(kernel(declared, 'level += a[i];', tested))).toBe(false); });
});

describe('through what a temporary holds', () => {
  test.each([
    '*Held{&level}.p += i;', '(*(Held{&level}).p)++;', 'Held{&level}.up(i);', 'Held{&level}(i);', 'through(Held{&level}, i);', 'through({&level}, i);', 'through(Held(Held{&level}), i);', 'addTo(Held{&level}.p, i);', 'int *q = Held{&level}.p; *q += i;',
    'int &q = *Held{&level}.p; q += i;', '*(n > 3 ? Held{&level} : Held{&level}).p += i;', 'atomicAdd(Held{&level}.p, i);', 'Bound{level}.r += i;', 'pointed(&level, i);', 'forwarded(&level, i);', 'const Held &h = Held{&level}; *h.p += i;',
  ])('%s', (statement) => { expect(isHoisted(kernel('', statement, 'level > 3'))).toBe(false); });
});

describe('what stays a value', () => {
  test.each([
    ['template <int N> __device__ int f(int d) { return N + d; }', 'sum += f<3>(a[i]);'], ['template <auto N> __device__ int f(int d) { return N + d; }', 'sum += f<3>(a[i]);'], ['template <class T, T N> __device__ int f(int d) { return N + d; }', 'sum += f<int, 3>(a[i]);'],
    ['template <bool B, unsigned N = 4> __device__ int f(int d) { return B ? d * N : d; }', 'sum += f<true>(a[i]);'], ['enum Mode { A, B }; template <Mode M> __device__ int f(int d) { return M == A ? d : -d; }', 'sum += f<B>(a[i]);'],
    ['template <int N> struct Z { static __device__ int f(int d) { return N + d; } };', 'sum += Z<3>::f(a[i]);'], ['template <int N> struct Z { int v; __device__ int f(int d) const { return v + N + d; } };', 'sum += Z<3>{i}.f(a[i]);'],
    ['', 'sum += Held{&table[0]}.p != nullptr;'], ['__device__ int get(const Cell &c) { return c.m; }', 'sum += get(Cell{i});'], ['', 'Cell{i}.up(3);'],
  ])('%s %s', (declared, statement) => {
    expect(isHoisted(kernel(declared, statement, 'level > 3'))).toBe(true);
  });
});

describe('verdicts', () => {
  const scope = (template: string, condition: string): string => {
    const facts = new Text(`${BEFORE}${template} __global__ void k(int *o) { level = threadIdx.x; if (${condition}) o[threadIdx.x] = 1; }`).kernel();
    const site = facts.branches.find(({ kind }) => kind === 'if');
    return site === undefined ? 'none' : facts.scope(site.condition).value;
  };
  test.each([['template <int &R>', 'R > 3'], ['template <const int &R>', 'R > 3'], ['template <auto &R>', 'R > 3'], ['template <const int *P>', '*P > 3'], ['template <int *P>', 'P[0] > 3']])('%s %s', (template, condition) => {
    expect(scope(template, condition)).toBe('lane');
  });
  test.each([['template <int N>', 'N > 3'], ['template <bool B>', 'B'], ['template <int *P>', 'P != nullptr']])('%s %s', (template, condition) => {
    expect(scope(template, condition)).toBe('constant');
  });
});

test('the simulator does not take an object for a value', () => {
  const text = `${BEFORE.replace('#include <absent.h>', '')}template <const int &R> __device__ bool f() { return R > 3; } __global__ void k(int *o, int n) { if (threadIdx.x == 0) { level = n; o[0] = f<level>() ? 1 : 2; } }`;
  expect(verifyEquivalent(load(text).program, load(text).program, 'k').status).toBe('not-verified');
});
