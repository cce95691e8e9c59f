/** Default member initialisers where an aggregate is made of a list that does not reach them all, in bases, members and arrays of it too; values are g++'s. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { contents, initParser, ran, run } from './helpers.js';

beforeAll(async () => { await initParser(); });

const TYPES = `
struct In { int a = 3; int b{4}; int c = a + b; };
struct Nest { int x; In in; int y = in.c + 1; };
struct Arr { int q[3] = {1, 2}; In many[3]; int z = q[1] + many[2].c; };
struct Base { int u = 5; int v = u * 2; };
struct Derived : Base { int w = v + u; };
struct Two : Base, In { int t = u + b; };
template <int N, class T> struct Tm { T a; T b = N; T c = a + b; };
union Either { int i = 6; float f; };
struct Made { int a; int b = 8; __device__ Made() : a(2) {} __device__ Made(int x) : a(x), b(a + 1) {} };
struct Holds { int p; Made c; int q = c.b; };
struct Root { int a; __device__ Root() : a(7) {} };
struct Sub : Root { int b; __device__ Sub() : b(1) {} };
struct Plain : Root { int b = a + 1; };
struct This { int a = 2; int b = this->a + 5; };
struct Outer { int a = 100; __device__ int go(int n) { In i{n}; return i.c + a; } };
struct Given { int a = 2; int b = a; Given() = default; };
struct Laid { int k; union { int i; float f; }; };
`;

function value(body: string): number | bigint | string {
  const r = run(`${TYPES} __global__ void k(int *y, int n) { ${body} }`, { args: ['n=7'] });
  if (r.status === 'unsupported') return r.construct;
  expect(ran(r).faults).toEqual([]);
  return contents(r, 'y', 1)[0] ?? NaN;
}

describe('what a list does not reach gets its default initialiser', () => {
  test.each<[string, string, number]>([
    ['In i{7};', 'i.a * 10000 + i.b * 100 + i.c', 70411], ['In i{n, 2};', 'i.a * 10000 + i.b * 100 + i.c', 70209], ['In i{};', 'i.a * 100 + i.c', 307], ['In i;', 'i.c', 7], ['In i{1, 2, 3};', 'i.c', 3], ['In i = {n};', 'i.c', 11],
    ['In i = In{n};', 'i.c', 11], ['auto i = In();', 'i.c', 7], ['int q = In{n}.c;', 'q', 11], ['const In i{n}; In j = i; j.a = 1;', 'i.c + j.c + j.a', 23],
    ['Nest i{1};', 'i.in.c * 100 + i.y', 708], ['Nest i{1, {n}};', 'i.in.c * 100 + i.y', 1112], ['Nest i{1, {n, 1}, 3};', 'i.in.c * 100 + i.y', 803], ['Nest i{1, n, 2, 3};', 'i.in.c * 100 + i.y', 304], ['Nest i{};', 'i.x * 1000 + i.y', 8],
    ['Arr i{};', 'i.q[0] * 1000 + i.q[1] * 100 + i.q[2] * 10 + i.z', 1209], ['Arr i{{n}};', 'i.q[0] * 100 + i.q[1] * 10 + i.z', 707], ['Arr i{{n, 2, 3}, {{1}, {1, 2}}};', 'i.many[0].c * 100 + i.many[1].c * 10 + i.z', 539], ['Arr i;', 'i.many[1].c + i.z', 16],
    ['In i[3] = {{n}};', 'i[0].c * 100 + i[1].c', 1107], ['In i[3];', 'i[0].c * 100 + i[1].c', 707], ['In i[2][2] = {{{n}}};', 'i[0][0].c * 100 + i[1][0].c', 1107],
    ['Derived i{};', 'i.u * 10000 + i.v * 100 + i.w', 51015], ['Derived i;', 'i.w', 15], ['Derived i{{n}};', 'i.u * 10000 + i.v * 100 + i.w', 71421], ['Derived i{{n, 1}, 2};', 'i.u * 100 + i.v * 10 + i.w', 712], ['Derived i{n, 1, 2};', 'i.u * 100 + i.v * 10 + i.w', 712], ['Derived i{{}, 4};', 'i.v + i.w', 14],
    ['Two i{};', 'i.c * 100 + i.t', 709], ['Two i{{n}, {n}};', 'i.v * 1000 + i.c * 100 + i.t', 15111], ['Two i{Base{n}, In{n, 1}};', 'i.c * 100 + i.t', 808], ['Two i;', 'i.c * 100 + i.t', 709],
    ['Tm<5, int> i{n};', 'i.c', 12], ['Tm<5, float> i{1.5f};', '(int)(i.c * 10)', 65], ['Tm<5, long> i{};', '(int)i.c', 5],
    ['Either i{};', 'i.i', 6], ['Either i;', 'i.i', 6], ['Either i{n};', 'i.i', 7],
    ['Holds i{1};', 'i.c.a * 100 + i.c.b * 10 + i.q', 288], ['Holds i{1, 2};', 'i.c.a * 100 + i.c.b * 10 + i.q', 233], ['Holds i{1, {n}};', 'i.c.a * 100 + i.c.b * 10 + i.q', 788], ['Holds i{};', 'i.c.a * 100 + i.q', 208],
    ['Sub i;', 'i.a * 10 + i.b', 71], ['Plain i;', 'i.a * 10 + i.b', 78], ['Plain i{};', 'i.b', 8], ['Plain i{{}, 3};', 'i.a * 10 + i.b', 73],
    ['This i{n};', 'i.b', 12], ['Outer i{n};', 'i.go(9) + i.a', 27], ['Given i;', 'i.b', 2], ['Given i{};', 'i.b', 2],
  ])('%s %s', (declared, read, expected) => {
    expect(value(`${declared} y[threadIdx.x] = ${read};`)).toBe(expected);
  });

  test('what is not read right is not simulated', () => {
    expect(value('In i{.a = n}; y[0] = i.c;')).toBe('designated initialiser');
    expect(value('Laid i{}; i.i = n; y[0] = i.i;')).toBe('a union without a name in struct Laid');
  });
});
