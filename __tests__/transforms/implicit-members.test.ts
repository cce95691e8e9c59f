/** Code that runs without being named in arrays, lists, casts, member-wise assignments, captures and calls of lambdas: what it writes changes what a loop tests. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist as typed } from '../../transforms/hoist.js';
import type { Transform } from '../../transforms/lib/types.js';
import { Text } from '../analysis/program.js';
import { load, outcomesOf } from '../helpers/transform.js';

const hoist = typed as Transform;

beforeAll(async () => { await initParser(); });

const CLASSES = (effect: string): string => `
__device__ int level;
struct Value { int v = ${effect}; }; struct From { int v; __device__ From(int x) : v(x) { ${effect}; } }; struct Pair { __device__ Pair(int, int) { ${effect}; } };
struct Copied { int v = 0; Copied() = default; __device__ Copied(const Copied &o) : v(o.v) { ${effect}; } Copied &operator=(const Copied &) = default; };
struct Assigned { int v = 0; Assigned() = default; Assigned(const Assigned &) = default; __device__ Assigned &operator=(const Assigned &o) { ${effect}; return *this; } };
struct Holds { From f; int n; }; struct Deep { Holds h[2]; }; struct Member { Assigned a; int n; }; struct Members { Assigned a[2]; }; struct Derived : Assigned { int n; }; struct Written { Assigned a; Written &operator=(const Written &) = default; };
struct Inherits : From { using From::From; }; template <class T> struct Box { T value; };
struct Quiet { int v = 3; __device__ Quiet(int x = 1) : v(x) {} __device__ Quiet(const Quiet &o) : v(o.v + 1) {} __device__ Quiet &operator=(const Quiet &o) { v = o.v; return *this; } }; struct QuietMember { Quiet q[2]; };
`;

const STATEMENTS: readonly string[] = [
  'Value w[2]{};', 'Value w[2] = {};', 'Value w[2][2]{};', 'From w[2] = {1, 2};', 'From w[]{i};', 'Holds h{3};', 'Holds h = {3};', 'Holds h{3, 4};', 'Deep d{{{1, 2}, {3, 4}}};', 'auto h = Holds{3};', '(From)3;', 'static_cast<From>(3);', 'From(3);', 'auto f = (From)i;',
  'auto f = [](From f) { return f.v; }; sum += f(3);', 'sum += [](From f) { return f.v; }(i);', 'auto f = []() -> From { return 3; }; f();', 'auto f = [c] { return c.v; }; sum += f();', 'auto f = [=] { return c.v; }; sum += f();', 'auto f = [=]() mutable { c.v++; }; f();',
  'm = k;', 'm = Member{};', 'm = {};', 'ms = ks;', 'd = e;', 'wr = ws;', 'b = bs;', 'Inherits h(3);', 'Inherits h{3};', 'auto h = Inherits(i);',
];

const kernel = (effect: string, statement: string): string => `${CLASSES(effect)}
__global__ void k(const int *__restrict__ a, int *__restrict__ o, int n) {
    int sum = 0;
    Copied c; Member m, k; Members ms, ks; Derived d, e; Written wr, ws; Box<Assigned> b, bs; Quiet q, r; QuietMember qm, rm;
    for (int i = 0; i < n; ++i) {
        ${statement}
        if (level > 3) { sum += a[i] * 3; sum ^= a[i]; } else { sum -= a[i]; sum *= 3; }
    }
    o[threadIdx.x] = sum;
}
`;

const isHoisted = (text: string): boolean => outcomesOf(hoist, load(text), { evenIfItLoses: true }).some((outcome) => outcome.status === 'applied');

describe('what it writes is written in the loop', () => {
  test.each(STATEMENTS)('%s', (statement) => { expect(isHoisted(kernel('level++', statement))).toBe(false); });
});

describe('what only computes is nothing', () => {
  test.each(['Quiet w[2]{};', 'Quiet w[2] = {1, 2};', 'QuietMember w{{1, 2}};', 'sum += ((Quiet)i).v;', 'auto f = [q] { return q.v; }; sum += f();', 'auto f = [=] { return q.v; }; sum += f();', 'sum += [](Quiet p) { return p.v; }(i);'])('%s', (statement) => {
    expect(isHoisted(kernel('level++', statement))).toBe(true);
  });
});

test.each(STATEMENTS)('a barrier in it is found: %s', (statement) => {
  const facts = new Text(`${CLASSES('(__syncthreads(), 1)')} __global__ void k(int i) { int sum = 0; Copied c; Member m, k; Members ms, ks; Derived d, e; Written wr, ws; Box<Assigned> b, bs; if (i > 3) { ${statement} } }`).kernel();
  const site = facts.branches.find(({ kind }) => kind === 'if');
  if (site?.node.kind !== 'if') throw new Error('no if');
  expect(facts.effects(site.node.then).barriers.length + facts.effects(site.node.then).unknownCalls.length).toBeGreaterThan(0);
});

test('what assigns a member of an object is no copy of its bits', () => {
  const facts = new Text('struct A { int z = 0; __device__ A &operator=(const A &) { z = threadIdx.x; return *this; } }; struct S { A a[2]; }; __global__ void k(int *o) { S s, u; s = u; if (s.a[0].z > 3) o[threadIdx.x] = 1; }').kernel();
  const site = facts.branches.find(({ kind }) => kind === 'if');
  expect(site === undefined ? null : facts.scope(site.condition).value).toBe('lane');
});
