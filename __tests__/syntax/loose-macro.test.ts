/** Macros without parentheses of their own: an operator that takes a part of what they stand for is not understood, all others are looked through. */
import { expect, test } from '@jest/globals';
import type { Expr } from '../../src/syntax/tree.js';
import { walk } from '../../src/syntax/walk.js';
import { functionNamed, unit } from './load.js';

const MACROS = `
#define SUM 3 + 4
#define LESS n - 4
#define AREA n * 3
#define HALF n / 2
#define EITHER n > 3 || n < 1
#define BOTH n > 3 && n < 9
#define CHOICE n > 3 ? 2 : 1
#define NEGATIVE -3
#define TEXT(x) x * x
#define ADD(a, b) a + b
#define SAFE (3 + 4)
#define CALL ADD(1, 2)
#define DEREF *p
#define REAL 1.5f + f
#define AGAIN SUM
`;

test.each<[string, boolean]>([
  ['2 * SUM', true], ['SUM * 2', true], ['SUM + 2', false], ['2 + SUM', false], ['2 - SUM', true], ['SUM - 2', false], ['-SUM', true], ['~SUM', true], ['(float)SUM', true], ['(SUM)', false], ['SUM < n', false],
  ['n == SUM', false], ['n & SUM', false], ['SUM << 1', false], ['1 << SUM', false], ['n / AREA', true], ['n * AREA', false], ['n % AREA', true], ['AREA / 2', false], ['n * HALF', true], ['n + LESS', false],
  ['n - LESS', true], ['2 * SAFE', false], ['-SAFE', false], ['!(EITHER)', false], ['!EITHER', true], ['n && EITHER', true], ['n || EITHER', false], ['n && BOTH', false], ['n || BOTH', false],
  ['BOTH && n', false], ['EITHER && n', true], ['CHOICE + 1', true], ['n ? CHOICE : 3', false], ['CHOICE ? 1 : 2', true], ['EITHER ? 1 : 2', false], ['2 * NEGATIVE', false], ['- NEGATIVE', false],
  ['TEXT(n)', false], ['2 / TEXT(n)', true], ['2 * ADD(1, n)', true], ['ADD(1, n) * 2', true], ['ADD(1, n) + 2', false], ['2 * CALL', true], ['a[SUM]', false], ['DEREF + 1', false], ['DEREF[2]', true],
  ['f + REAL', true], ['REAL + f', false], ['2 * AGAIN', true], ['AGAIN + 2', false], ['n = SUM', false], ['n += SUM', false],
])('%s', async (text, apart) => {
  const fn = functionNamed(await unit(`${MACROS}__global__ void k(int *o, int n, int *a, int **p, float f) { auto r = ${text}; o[0] = (int)r; }\n`), 'k');
  const reasons: string[] = [];
  if (fn.body !== null) walk(fn.body, (node) => { if ('type' in node && (node as Expr).kind === 'opaque') reasons.push((node as Extract<Expr, { kind: 'opaque' }>).reason); });
  if (apart) expect(reasons).toEqual([expect.stringContaining('without parentheses')]);
  else expect(reasons).toEqual([]);
});
