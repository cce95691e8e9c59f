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
