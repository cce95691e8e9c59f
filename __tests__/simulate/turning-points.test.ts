/** At which values of its inputs a kernel's comparisons turn. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { instancesOf } from '../../src/simulate/instances.js';
import { jointTurningPoints, turningPoints, type TurningPoints } from '../../src/simulate/turning-points.js';
import { findKernel } from '../../src/verify/index.js';
import { initParser, programOf } from './helpers.js';

beforeAll(async () => { await initParser(); });

function pointsOf(text: string): readonly TurningPoints[] {
  const program = programOf(text);
  const kernel = findKernel(program, 'k');
  const instance = kernel === null ? undefined : instancesOf(program, kernel).instances[0];
  if (kernel === null || instance === undefined) throw new Error('no kernel');
  return turningPoints(kernel, instance.environment);
}

const of = (condition: string, parameters = 'int m', above = '', head = ''): readonly TurningPoints[] =>
  pointsOf(`${above}\n${head}__global__ void k(int *o, const float *x, const int *f, ${parameters}) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (${condition}) o[i] = 1; }`);

/** Values of `m` that are tried. */
const values = (points: readonly TurningPoints[], name = 'm'): number[] => [...new Set(points.flatMap((t) => t.settings.flatMap((s) => s[name] ?? [])))].sort((a, b) => a - b);

describe('one scalar', () => {
  test.each<[string, number[]]>([
    ['m > 3', [2, 3, 4]], ['3 >= m', [2, 3, 4]], ['m == 100', [99, 100, 101]], ['m < 123456', [123455, 123456, 123457]], ['m > -100', [-101, -100, -99]],
    ['m * 4 >= 64', [15, 16, 17]], ['m + 2 > 77', [74, 75, 76]], ['300 - m > 77', [222, 223, 224]], ['m * m > 900', [29, 30, 31]], ['min(m, 70) == 70', [69, 70]], ['!m', [-1, 0, 1]], ['m && i', [-1, 0, 1]],
  ])('%s', (condition, expected) => { expect(values(of(condition))).toEqual(expect.arrayContaining(expected)); });
  test.each<[string, (m: number) => boolean]>([['m / 2 > 20', (m) => m / 2 >> 0 > 20], ['m % 8 == 3', (m) => m % 8 === 3], ['(m & 7) == 5', (m) => (m & 7) === 5], ['m & 64', (m) => (m & 64) !== 0], ['m >> 3 > 9', (m) => m >> 3 > 9]])('both sides of %s', (condition, holds) => {
    const found = values(of(condition));
    expect(found.some(holds)).toBe(true);
    expect(found.some((m) => !holds(m))).toBe(true);
  });
  test.each([
    ['m > LIM', 'constexpr int LIM = 40;'], ['m > LIM', '#define LIM (5 << 3)'], ['m > LIM', 'enum { A, B = 39, LIM };'], ['big(m)', '__device__ bool big(int v) { return v > 40; }'],
    ['big(m, 40)', '__device__ bool big(int v, int least) { if (v > least) return true; return false; }'], ['big<40>(m)', 'template <int L> __device__ bool big(int v) { if (v > L) return true; return false; }'],
    ['outer(m)', '__device__ int twice(int v) { int w = v + v; return w; }\n__device__ bool outer(int u) { return twice(u) > 80; }'],
  ])('names: %s, %s', (condition, above) => { expect(values(of(condition, 'int m', above))).toEqual(expect.arrayContaining([39, 40, 41])); });
  test('template values, local variables, cases, members', () => {
    const launch = '\nvoid start(int *o) { k<40><<<1, 32>>>(o, 1); }';
    expect(values(pointsOf(`template <int L> __global__ void k(int *o, int m) { if (m > L) *o = 1; }${launch}`))).toEqual([39, 40, 41]);
    expect(values(pointsOf('__global__ void k(int *o, int m) { const short h = m / 3; int g = h + 1; if (g > 14) *o = 1; }'))).toEqual(expect.arrayContaining([38, 41, 42]));
    expect(values(pointsOf('__global__ void k(int *o, int m) { switch (m) { case 55: *o = 1; break; default: *o = 2; } }'))).toEqual([54, 55, 56]);
    expect(values(pointsOf('struct P { int w; float s; }; __global__ void k(int *o, P p) { if (p.w > 55 && p.s * 2 > 3) *o = 1; }'), 'p.w')).toEqual([54, 55, 56]);
  });
  test('unsigned and long ones, and floats to the last place', () => {
    expect(values(of('m > 4000000000u', 'unsigned m'))).toEqual([3999999999, 4000000000, 4000000001]);
    expect(values(of('m < 5000000000LL', 'long long m'))).toEqual([4999999999, 5000000000, 5000000001]);
    expect(values(of('m * 2.0f > 3.0f', 'float m'))).toEqual([1.5 - 2 ** -23, 1.5, 1.5 + 2 ** -23]);
  });
});

describe('through objects that are made of parameters', () => {
  const head = `
struct In { int v; int w = 3; }; struct M { int u; In in; int q[3]; }; struct D : In { int d; }; struct Def { int a; int b = a * 2; };
struct C { int v; int w; __device__ C(int x) : v(x), w(x * 2) {} }; struct B { int v; In in; __device__ B(int x) { v = x; this->in.w = 5; } }; struct E : C { int e; __device__ E(int x) : C(x + 1), e(x) {} };
struct G { int v; __device__ int get() const { return v * 2; } __device__ bool big() const { if (v > 40) return true; return false; } }; struct R { const int &r; }; struct L { int v; __device__ L(int x) : L(x, 1) {} __device__ L(int x, int) : v(x) {} };
template <class T> struct T1 { T v; T w; }; union U { int i; float f; };
__device__ In made(int x) { return In{x, 1}; } __device__ In made2(int x) { In r; r.v = x + 1; r.w = 2; return r; } __device__ C made3(int x) { return C(x); } __device__ M nested(int x) { M r = {1, made(x), {x, 2, 3}}; return r; }
__device__ int sum(In i) { return i.v + i.w; } __device__ int byRef(const In &i) { return i.v; } __device__ int byPtr(const In *p) { return p->v; } __device__ bool deep(M x) { if (x.in.v > 40) return true; return false; }
`;
  const through = (before: string, condition: string, parameters = 'int m'): number[] => values(pointsOf(`${head}__global__ void k(int *o, ${parameters}) { ${before} if (${condition}) o[0] = 1; }`));
  test.each<[string, string, number[]]>([
    ['In f{m, 1};', 'f.v > 40', [39, 40, 41]], ['In f = {m};', 'f.v > 40', [39, 40, 41]], ['In f{1, m};', 'f.w > 40', [39, 40, 41]], ['In f{m}; In g = f;', 'g.v > 40', [39, 40, 41]], ['In f{m}; const In &g = f;', 'g.v > 40', [39, 40, 41]],
    ['In f{m}; In *g = &f;', 'g->v > 40', [39, 40, 41]], ['In f{m}; auto g = In(f);', 'g.v > 40', [39, 40, 41]], ['In f; f.v = m;', 'f.v > 40', [39, 40, 41]], ['In f{m}; In g; g = f;', 'g.v > 40', [39, 40, 41]], ['int v; v = m;', 'v > 40', [39, 40, 41]],
    ['M f{1, {m, 2}, {}};', 'f.in.v > 40', [39, 40, 41]], ['M f{1, {}, {1, m}};', 'f.q[1] > 40', [39, 40, 41]], ['M f; f.in.v = m;', 'f.in.v > 40', [39, 40, 41]], ['M f; f.q[2] = m;', 'f.q[2] > 40', [39, 40, 41]], ['In i{m}; M f{1, i};', 'f.in.v > 40', [39, 40, 41]], ['M f = nested(m);', 'f.in.v + f.q[0] > 80', [40, 41]],
    ['D f{{m}, 1};', 'f.v > 40', [39, 40, 41]], ['Def f{m};', 'f.b > 80', [40, 41]], ['C f(m);', 'f.v > 40', [39, 40, 41]], ['C f{m};', 'f.w > 80', [40, 41]], ['C f = m;', 'f.v > 40', [39, 40, 41]], ['B f(m);', 'f.v > 40', [39, 40, 41]], ['E f(m);', 'f.v > 41', [40, 41]], ['E f(m);', 'f.e > 40', [39, 40, 41]], ['L f(m);', 'f.v > 40', [39, 40, 41]],
    ['G f{m};', 'f.get() > 80', [40, 41]], ['G f{m};', 'f.big()', [40, 41]], ['R f{m};', 'f.r > 40', [39, 40, 41]], ['T1<int> f{m, 1};', 'f.v > 40', [39, 40, 41]], ['U f{m};', 'f.i > 40', [39, 40, 41]],
    ['int2 f = make_int2(1, m);', 'f.y > 40', [39, 40, 41]], ['int a[3] = {1, m, 2};', 'a[1] > 40', [39, 40, 41]], ['int a[2]; a[1] = m;', 'a[1] > 40', [39, 40, 41]], ['In a[2] = {{1}, {m}};', 'a[1].v > 40', [39, 40, 41]], ['int a[2] = {m, 1}; int *p = a;', '*p > 40', [39, 40, 41]], ['int a[2] = {1, m}; int *p = &a[0];', 'p[1] > 40', [39, 40, 41]],
    ['', 'made(m).v > 40', [39, 40, 41]], ['In f = made2(m);', 'f.v > 41', [40, 41]], ['auto f = made3(m);', 'f.w > 80', [40, 41]], ['In f{m};', 'sum(f) > 43', [40, 41]], ['In f{m};', 'byRef(f) > 40', [39, 40, 41]], ['In f{m};', 'byPtr(&f) > 40', [39, 40, 41]], ['M f{1, {m}, {}};', 'deep(f)', [40, 41]], ['', 'byRef({m, 1}) > 40', [39, 40, 41]],
  ])('%s %s', (before, condition, expected) => { expect(through(before, condition)).toEqual(expect.arrayContaining(expected)); });
  test('copies of a parameter that is an object, and tables that the index chooses from', () => {
    expect(values(pointsOf(`${head}__global__ void k(int *o, M p) { M f = p; In g = f.in; if (g.v > 55) *o = 1; }`), 'p.in.v')).toEqual([54, 55, 56]);
    const table = through('const int t[4] = {3, 9, 70, 9};', 't[m & 3] == 70');
    expect(table.some((m) => (m & 3) === 2)).toBe(true);
    expect(table.some((m) => (m & 3) !== 2)).toBe(true);
  });
  test.each([['In f;', 'f.v > 40'], ['In f{(int)threadIdx.x};', 'f.v > 40'], ['int i = threadIdx.x; int a[2] = {m, 1};', 'a[i] > 40 && false']])('no input decides: %s %s', (before, condition) => { expect(through(before, condition).filter((m) => m > 38 && m < 42)).toEqual([]); });
  test('objects that are made of themselves come to an end', () => {
    expect(through('In f; f.v = f.v + 1; In *p = p;', 'f.v > 40 || p->v > 3')).toEqual([]);
    const copies = Array.from({ length: 40 }, (_, i) => `In a${i + 1}{a${i}.v + a${i}.v, a${i}.w + a${i}.v};`).join(' ');
    expect(through(`In a0{m, m}; ${copies}`, 'a40.v > 3').length).toBeLessThan(20);
  });
});

describe('several inputs', () => {
  test('two scalars: each with ordinary values of the other', () => {
    const settings = of('n * m > 1000', 'int n, int m').flatMap((t) => t.settings);
    expect(settings).toContainEqual({ m: 25, n: 40 });
    expect(of('m > n', 'int n, int m').flatMap((t) => t.settings)).toEqual(expect.arrayContaining([{ m: 40, n: 40 }, { m: 41, n: 40 }, { m: 39, n: 40 }]));
  });
  test('elements of buffers', () => {
    expect(of('f[i] * 2 > 1000').flatMap((t) => t.elements)).toEqual(expect.arrayContaining([500, 499, 501]));
    expect(of('x[i] * x[i] > 25.0f').flatMap((t) => t.elements)).toEqual(expect.arrayContaining([5]));
    expect(of('sqrtf(fabsf(x[i])) > 5.0f').flatMap((t) => t.elements)).toEqual(expect.arrayContaining([25]));
    expect(of('x[i] > x[i + 1]')).toEqual([]);
  });
  test.each(['i < m', 'threadIdx.x > 3', '__popc(m) > 3', 'o[i] > o[i + 1]', 'm(3) > 4', 'i > 5 && i < 9'])('no input decides alone: %s', (condition) => { expect(values(of(condition))).toEqual([]); });
});

test('of two texts, the comparisons of one alone come first, in the names of the first', () => {
  const joint = jointTurningPoints(of('m > 3 && m < 90'), of('q >= 3 && q < 90', 'int q'), (name) => (name === 'q' ? 'm' : name));
  expect(joint.map((t) => [t.key, t.alone === true])).toEqual([['@m@>=3', true], ['@m@>3', true], ['@m@<90', false]]);
  expect(joint.every((t) => t.settings.every((s) => 'm' in s))).toBe(true);
});

test('functions that call themselves and long sums come to an end', () => {
  expect(values(of('down(m)', 'int m', '__device__ bool down(int v) { if (v > 40) return down(v - 1); return false; }'))).toEqual(expect.arrayContaining([40, 41]));
  const sums = Array.from({ length: 40 }, (_, i) => `int a${i + 1} = a${i} + a${i};`).join(' ');
  expect(pointsOf(`__global__ void k(int *o, int m) { int a0 = m; ${sums} if (a40 > 3) *o = 1; }`).length).toBeLessThan(2);
});
