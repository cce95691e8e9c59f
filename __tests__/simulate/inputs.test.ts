import { beforeAll, describe, expect, test } from '@jest/globals';
import { isSizeName, parseArgument } from '../../src/simulate/index.js';
import { contents, initParser, ran, run } from './helpers.js';

beforeAll(async () => { await initParser(); });

describe('arguments', () => {
  test.each<[string, unknown]>([
    ['n=1000', { name: 'n', argument: { kind: 'value', value: 1000 } }],
    [' s = -2.5 ', { name: 's', argument: { kind: 'value', value: -2.5 } }],
    ['big=1234567890123456789', { name: 'big', argument: { kind: 'value', value: 1234567890123456789n } }],
    ['x=uniform(-1, 1)', { name: 'x', argument: { kind: 'contents', distribution: { kind: 'uniform', low: -1, high: 1 } } }],
    ['flag=bernoulli(0.03)', { name: 'flag', argument: { kind: 'contents', distribution: { kind: 'bernoulli', p: 0.03 } } }],
    ['y=alias(x, 4)', { name: 'y', argument: { kind: 'alias', of: 'x', offset: 4 } }],
    ['a=[1, 2,3]', { name: 'a', argument: { kind: 'contents', length: 3, distribution: { kind: 'values', values: [1, 2, 3] } } }],
    ['p.size=7', { name: 'p.size', argument: { kind: 'value', value: 7 } }],
    ['ok=true', { name: 'ok', argument: { kind: 'value', value: 1 } }],
  ])('%s', (text, expected) => {
    expect(parseArgument(text)).toMatchObject(expected as Record<string, unknown>);
  });
  test.each(['n', 'n=', '=3', 'x=uniform(1)', 'x=bernoulli(2)', 'x=normal(0,1)', 'a=[1,q]', 'n=1o', 'a=@file'])('%s is none', (text) => {
    expect(parseArgument(text)).toBeNull();
  });
  test('numbers from a file', () => {
    expect(parseArgument('a=@v.txt', (path) => (path === 'v.txt' ? '1 2\n3,4\n' : ''))).toMatchObject({ argument: { distribution: { values: [1, 2, 3, 4] } } });
  });

  test('given contents are what the kernel reads; beyond them is out of bounds', () => {
    const r = run('__global__ void k(const int* a, int* y) { int t = threadIdx.x; if (t < 4) y[t] = a[t] * 2; }', { args: ['a=[5,6,7]'] });
    expect(contents(r, 'y', 3)).toEqual([10, 12, 14]);
    expect(ran(r).faults).toMatchObject([{ kind: 'global-out-of-bounds', object: 'a', lanes: 8 }]);
  });

  test('aliased buffers are one', () => {
    const r = run('__global__ void k(const int* a, int* y) { int t = threadIdx.x; if (t < 8) y[t] = a[t] * 0 - 1; }', { args: ['a=uniform(0,100)', 'y=alias(a,8)'] });
    const values = contents(r, 'a', 17).map(Number);
    expect(values.slice(8, 16)).toEqual(new Array(8).fill(-1));
    expect(values[7]).toBeGreaterThanOrEqual(0);
    expect(ran(r).buffers.map((b) => b.name)).toEqual(['a']);
  });

  test('sizes are told by name', () => {
    for (const name of ['n', 'N', 'width', 'num_rows', 'numElements', 'nx', 'count', 'blockSize', 'len', 'height', 'n_points']) expect([name, isSizeName(name)]).toEqual([name, true]);
    for (const name of ['alpha', 'mode', 'x', 'iterations', 'stride', 'radius', 'flag', 'index']) expect([name, isSizeName(name)]).toEqual([name, false]);
  });

  test('the same seed gives the same run, another seed another', () => {
    const text = '__global__ void k(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }';
    const of = (seed: number): unknown => contents(run(text, { seed }), 'y', 32, 'f32');
    expect(of(3)).toEqual(of(3));
    expect(of(3)).not.toEqual(of(4));
  });
});
