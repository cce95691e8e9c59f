/** A comparison that turns elsewhere, or the other way at its turn, is found whatever the scalar is called and however the constant is spelled. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent, type Verdict, type VerifyOptions } from '../../src/verify/index.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

function compare(first: string, second: string, above = '', options: VerifyOptions = {}): Verdict {
  const text = (condition: string): string => `${above}
struct P { int width, height; float scale; };
__constant__ int c_k;
__global__ void k(int *z, const int *f, const float *x, int n, int m, int h, P p, float a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { z[i] = 0; if (${condition}) z[i] = 1; } }`;
  return verifyEquivalent(load(text(first)).program, load(text(second)).program, 'k', options);
}

describe('a second size', () => {
  test.each([3, 10, 40, 100, 500, 3000, 30000])('at %d', (c) => {
    expect(compare(`m > ${c}`, `m >= ${c}`).status).toBe('different');
    expect(compare(`h == ${c}`, 'false').status).toBe('different');
  });
  test.each([
    ['m / 2 > 20', 'm / 2 >= 20'], ['m * 4 >= 64', 'm * 4 > 64'], ['m % 100 == 57', 'm % 100 == 58'], ['(m & 7) == 5', '(m & 7) == 6'], ['m + 2 > 77', 'm + 2 >= 77'], ['n * m > 1000', 'n * m >= 1000'], ['2 * m > n', '2 * m >= n'],
    ['p.width > 64', 'p.width >= 64'], ['p.width * p.height > 640', 'p.width * p.height >= 640'], ['p.scale * 2 > 3', 'p.scale * 2 >= 3'], ['a > 1.0f', 'a > 1.0000001f'], ['c_k == 73', 'c_k == 74'],
    ['m > 50 && h < 20 && p.width == 33', 'm > 50 && h <= 20 && p.width == 33'],
  ])('%s', (first, second) => { expect(compare(first, second).status).toBe('different'); });
  test.each([['const int LIM = 77;', 'm > LIM', 'm >= LIM'], ['#define LIM 90', 'h < LIM', 'h <= LIM'], ['__device__ bool big(int v, int l) { if (v > l) return true; return false; }', 'big(m, 321)', 'big(m, 320)']])('through names: %s', (above, first, second) => {
    expect(compare(first, second, above).status).toBe('different');
  });
  test('not where the caller fixed it', () => {
    expect(compare('m > 40', 'm >= 40', '', { arguments: new Map([['m', { kind: 'value', value: 7 }]]) }).status).toBe('equal');
    expect(compare('m > 40', 'm >= 40', '', { sizes: [33] }).status).toBe('equal');
    expect(compare('h > 40', 'h >= 40', '', { sizes: [40] }).status).toBe('different');
  });
});

test('a loop that counts in a member of an object, behind a test that one text makes once', () => {
  const text = (loop: string): string => `struct Box { int v; int w; };\n__global__ void k(const float *a, float *o, int n, int m) { Box f{m, 1}; float s = 0; ${loop} o[threadIdx.x] = s; }`;
  const inside = text('for (int i = 0; i < n; i++) { if (f.v > 3) s += a[i]; else s += a[i] * 3.f + 2.f; f.v++; }');
  const outside = text('if (f.v > 3) { for (int i = 0; i < n; i++) { s += a[i]; f.v++; } } else { for (int i = 0; i < n; i++) { s += a[i] * 3.f + 2.f; f.v++; } }');
  expect(verifyEquivalent(load(inside).program, load(outside).program, 'k', {}).status).toBe('different');
});

describe('elements', () => {
  test.each([['x[i] * 2.0f > 3.0f', 'x[i] * 2.0f >= 3.0f'], ['f[i] * 2 > 1000', 'f[i] * 2 >= 1000'], ['x[i] * x[i] > 25.0f', 'x[i] * x[i] >= 25.0f'], ['f[i] >> 16 == 3', 'f[i] >> 16 == 4'], ['f[i] - m == 700', 'f[i] - m == 701']])('%s', (first, second) => {
    expect(compare(first, second).status).toBe('different');
  });
});

test('the same text stays equal, with a bounded number of settings', () => {
  const many = Array.from({ length: 30 }, (_, i) => `m > ${i * 7} || h == ${i * 11}`).join(' || ');
  const verdict = compare(many, many);
  expect(verdict.status).toBe('equal');
  expect(verdict.runs).toBeLessThan(90);
  const other = compare(`${many} || m * 3 > 9`, `${many} || m + m + m > 9`);
  expect(other.status).toBe('equal');
  expect(other.runs).toBeLessThan(125);
});

describe('what the host sets elsewhere', () => {
  test.each([
    ['__constant__ int lim;', 'lim < 0 ? 0 : lim', 'lim < 0 ? 1 : lim'], ['__constant__ int lim;', 'm > lim', 'm >= lim'], ['__constant__ float lim;', 'lim * 2 > 5.0f', 'lim * 2 >= 5.0f'], ['__device__ int lim;', 'lim > 3', 'lim >= 3'],
    ['__device__ int lim;\n__device__ bool beyond(int v) { if (v < lim) return false; return true; }', 'beyond(9)', 'beyond(8)'], ['', 'gridDim.x == 7', 'false'], ['', 'gridDim.x > 5', 'gridDim.x >= 5'],
  ])('%s %s', (above, first, second) => {
    const text = (value: string): string => `${above}\n__global__ void k(int *z, int n, int m) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = ${value}; }`;
    const verdict = verifyEquivalent(load(text(first)).program, load(text(second)).program, 'k');
    if (verdict.status !== 'different') throw new Error(verdict.status);
    if (verdict.counterexample.setting.values?.['lim'] !== undefined) expect(verdict.counterexample.replay).toContain('--arg lim=');
  });
  test('a counter that the kernel stores in begins with zero', () => {
    const text = (on: string): string => `__device__ unsigned done; __global__ void k(int *z) { if (threadIdx.x == 0) { unsigned at = atomicAdd(&done, 1u); z[blockIdx.x] = at ${on}; } }`;
    expect(verifyEquivalent(load(text('< gridDim.x')).program, load(text('<= gridDim.x')).program, 'k').status).toBe('equal');
  });
});

describe('indices below zero', () => {
  const text = (body: string): string => `__global__ void k(float *o, const int *next, const float *w, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { ${body} } }`;
  test.each([['next[i] >= 0', 'next[0] >= 0'], ['next[i] != -1', 'true'], ['next[i] > -2', 'next[i] >= -2']])('where the code asks for them: %s', (first, second) => {
    const of = (condition: string): string => text(`if (${condition}) o[i] = w[next[i] & 63]; else o[i] = -1.0f;`);
    const verdict = verifyEquivalent(load(of(first)).program, load(of(second)).program, 'k');
    expect(verdict.status).toBe('different');
    expect(verifyEquivalent(load(of(first)).program, load(of(first)).program, 'k')).toMatchObject({ status: 'equal', tried: { silent: 0 } });
  });
  test('and nowhere else', () => {
    const plain = text('o[i] = w[next[i]];');
    expect(verifyEquivalent(load(plain).program, load(plain).program, 'k')).toMatchObject({ status: 'equal', tried: { silent: 0 } });
  });
});

test('a turn behind a flag', () => {
  const text = (v: string): string => `__global__ void k(float *o, const float *a, int n, int m, bool flag) { for (int i = threadIdx.x; i < n; i += blockDim.x) if (a[i] > 1.0f) if (flag) if (m > 3) o[i] = 1.0f; else o[i] = ${v}; }`;
  expect(verifyEquivalent(load(text('4.0f')).program, load(text('7.0f')).program, 'k').status).toBe('different');
});

describe('loops', () => {
  const text = (loop: string): string => `__global__ void k(int *z, const int *f, int c) { int s = 0; for (${loop}) s += f[j]; z[threadIdx.x] = s; }`;
  test.each(['int j = threadIdx.x; j < c; j += 31', 'int j = threadIdx.x; j < c; j += 33', 'short j = threadIdx.x; j < c; j += 32'])('a bound of any name: %s', (loop) => {
    expect(verifyEquivalent(load(text('int j = threadIdx.x; j < c; j += 32')).program, load(text(loop)).program, 'k').status).toBe('different');
  });
  test('several elements for every thread, and a counter of its own', () => {
    const tiles = (u: number): string => `__global__ void k(float *y, const float *x, int C) { for (int i = threadIdx.x; i < C; i += blockDim.x * 4) for (int u = 0; u < ${u}; ++u) if (i + u * blockDim.x < C) y[i + u * blockDim.x] = x[i + u * blockDim.x] + u; }`;
    expect(verifyEquivalent(load(tiles(4)).program, load(tiles(3)).program, 'k').status).toBe('different');
    const counted = (type: string): string => `__global__ void k(int *z, const int *f, int n) { int s = 0; for (${type} j = 0; j < n; j += 32) s += f[j]; z[threadIdx.x] = s; }`;
    expect(verifyEquivalent(load(counted('int')).program, load(counted('short')).program, 'k').status).toBe('different');
  });
});

test('a second size that is smaller than the turns that the first one needs', () => {
  const text = (axis: string): string => `__global__ void k(const float *x, float *y, int n, int rows) { int i = blockIdx.x * blockDim.x + threadIdx.x; for (int r = 0; r < rows; ++r) { int j = r * gridDim.${axis} * blockDim.x + i; if (j < n) y[j] = x[j] + 1.0f; } }`;
  expect(verifyEquivalent(load(text('x')).program, load(text('y')).program, 'k').status).toBe('different');
});

test('a narrow place in a plane', () => {
  const text = (type: string): string => `__global__ void k(const float *x, float *y, int width, int height) { ${type} c = blockIdx.x * blockDim.x + threadIdx.x; int r = blockIdx.y * blockDim.y + threadIdx.y; if (c < width && r < height) y[r * width + c] = x[r * width + c]; }`;
  expect(verifyEquivalent(load(text('int')).program, load(text('short')).program, 'k', { budgetMs: 20_000 }).status).toBe('different');
});

describe('what runs on', () => {
  const strided = (type: string): string => `__global__ void k(const float *x, float *y, int n) { float v = 0; for (${type} j = blockIdx.x * blockDim.x + threadIdx.x; j < n; j += blockDim.x * gridDim.x) v += x[j]; y[threadIdx.x] = v; }
void start(const float *x, float *y, int n) { k<<<8, 128>>>(x, y, n); }`;
  test.each(['unsigned', 'short'])('a counter that became %s', (type) => {
    expect(verifyEquivalent(load(strided('int')).program, load(strided(type)).program, 'k').status).toBe('different');
  });
});
