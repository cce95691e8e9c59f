/** Kernels of one name, and instances that a qualifier tells apart. */
import { beforeAll, expect, test } from '@jest/globals';
import { instancesOf } from '../../src/simulate/instances.js';
import { initParser } from '../../src/syntax/index.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const verify = (before: string, after: string): ReturnType<typeof verifyEquivalent> => verifyEquivalent(load(before).program, load(after).program, 'k', { budgetMs: 200, blocks: [[32, 1, 1]], grids: [[1, 1, 1]] });
const body = (n: number): string => `{ o[threadIdx.x] = ${n}; }`;

test.each([
  ['namespaces', (a: number, b: number) => `namespace p { __global__ void k(int *o) ${body(a)} } namespace q { __global__ void k(int *o) ${body(b)} }`],
  ['overloads', (a: number, b: number) => `__global__ void k(int *o, int n) ${body(a)} __global__ void k(int *o) ${body(b)}`],
  ['a template beside', (a: number, b: number) => `template <class T> __global__ void k(T *o) ${body(a)} __global__ void k(int *o, int n) ${body(b)}`],
])('every kernel of the name is compared with its own: %s', (_name, text) => {
  expect(verify(text(1, 2), text(1, 2)).status).toBe('equal');
  expect(verify(text(1, 2), text(1, 3)).status).toBe('different');
  expect(verify(text(1, 2), text(3, 2)).status).toBe('different');
  expect(verify(text(1, 1), text(1, 2)).status).toBe('different');
});

test('overloads in another order are the same kernels', () => {
  const one = `__global__ void k(int *o, int n) ${body(1)}`;
  const two = `__global__ void k(int *o) ${body(2)}`;
  expect(verify(`${one}\n${two}`, `${two}\n${one}`).status).toBe('equal');
});

test('what cannot be paired is not verified', () => {
  const two = `namespace p { __global__ void k(int *o) ${body(1)} } namespace q { __global__ void k(int *o) ${body(1)} }`;
  const verdict = verify(two, `__global__ void k(int *o) ${body(1)}`);
  expect(verdict.status).toBe('not-verified');
  expect(verdict.status === 'not-verified' ? verdict.obstacles[0]?.reason : '').toContain('cannot be told');
});

test('volatile tells instances apart where it belongs to the type', () => {
  const { program, unit } = load(`template <class T> __global__ void k(T *o) { o[threadIdx.x] = 1; } template <class T> __global__ void v(T o) { }
void host(int *a, volatile int *b, volatile int c) { k<<<1, 32>>>(a); k<<<1, 32>>>(b); k<volatile float><<<1, 32>>>(nullptr); v<<<1, 32>>>(c); }`);
  const labels = unit.kernels.map((kernel) => instancesOf(program, kernel).instances.map((instance) => instance.label));
  expect(labels).toEqual([['T = int', 'T = volatile int', 'T = volatile float'], ['T = int']]);
});
