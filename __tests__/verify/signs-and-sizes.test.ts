/** Values and sizes that a comparison must try by itself: scalars just below zero, blocks with a number of their own, grids that the caller fixed. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent, type VerifyOptions } from '../../src/verify/index.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

function compare(parameters: string, first: string, second: string, options: VerifyOptions = {}): ReturnType<typeof verifyEquivalent> {
  const text = (body: string): string => `__global__ void k(int *o, ${parameters}) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    ${body}\n}\n`;
  return verifyEquivalent(load(text(first)).program, load(text(second)).program, 'k', options);
}

describe('scalars below zero', () => {
  test.each(['off', 'q', 'shift', 'mode', 'alpha'])('a guard of a sum with %s', (name) => {
    const verdict = compare(`int n, int ${name}`, `if (i == 0) for (int j = 0; j < n; ++j) if (j + ${name} < n) o[j] = 1;`, `if (i == 0) for (int j = 0; j < n - ${name}; ++j) o[j] = 1;`);
    expect(verdict.status).toBe('different');
    if (verdict.status === 'different') expect(Number(verdict.counterexample.scalars[name])).toBeLessThan(0);
  });
  test.each(['n', 'len', 'limit'])('a size too: %s', (name) => {
    expect(compare(`int ${name}`, `if (i == 0) o[0] = ${name} > 0;`, `if (i == 0) o[0] = ${name} != 0;`).status).toBe('different');
  });
  test('a member of a struct', () => {
    const text = (test_: string): string => `struct P { int n; int first; };\n__global__ void k(int *o, P p) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < p.n) o[i] = ${test_}; }\n`;
    expect(verifyEquivalent(load(text('p.first <= 0')).program, load(text('p.first == 0')).program, 'k').status).toBe('different');
  });
  test('not where the caller gave the value, and never of an unsigned type', () => {
    expect(compare('int n, int off', 'if (i < n) o[i] = off < 0;', 'if (i < n) o[i] = 0;', { arguments: new Map([['off', { kind: 'value', value: 2 }], ['n', { kind: 'value', value: 50 }]]) }).status).toBe('equal');
    expect(compare('unsigned n', 'if (i < n) o[i] = n > 0;', 'if (i < n) o[i] = n != 0;').status).toBe('equal');
  });
  test('where the original faults below zero, nothing is said against the edit', () => {
    expect(compare('int n, int off', 'if (i < n) o[i + off] = 1;', 'if (i < n) o[off + i] = 1;').status).toBe('equal');
  });
});

describe('sizes', () => {
  test.each(['blockIdx.x == 13', 'blockIdx.x > 20'])('elements for the block that is asked for: %s', (condition) => {
    expect(compare('int n', `if (i < n) o[i] = ${condition};`, 'if (i < n) o[i] = 0;').status).toBe('different');
  });
  test('a grid that the caller fixed is filled', () => {
    const verdict = compare('int n', 'if (i < n) o[i] = i > 1200;', 'if (i < n) o[i] = 0;', { grids: [[20, 1, 1]], blocks: [[64, 1, 1]] });
    expect(verdict.status).toBe('different');
  });
  test('more elements than a narrow type has numbers for', () => {
    expect(compare('int n', 'if (i < n) { unsigned short t = i; o[i] = t; }', 'if (i < n) o[i] = i;').status).toBe('different');
  });
});
