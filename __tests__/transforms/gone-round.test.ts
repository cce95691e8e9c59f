/**
 * Numbers below zero in types that show them far above it: counters without a sign that fall, differences kept in `unsigned` and `size_t`, both
 * converted to `int` where they are compared. No grant about indices that grow too large speaks for them. Found by `npm run fuzz -- --theme signs`.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { ballot } from '../../transforms/ballot.js';
import { peel } from '../../transforms/peel.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applyAll, load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const kernel = (setup: string, head: string, index: string, guard: string): string => `__global__ void kern(const float *a, float *o, int n, int m, unsigned u, long long big)
{
    float s = 1.f;
    int r = 0;
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ${setup}
    for (${head}) {
        ${index}
        if (${guard})
            s = s * 0.5f + a[(unsigned)j & 63u];
        r++;
    }
    o[i] = s + r;
}
`;

const CASES: readonly (readonly [string, string, string, string, string])[] = [
  ['a bound without a sign, falling', '', 'int t = (n & 31) - 1; t > (size_t)5 && r < 9; t -= 2', 'int j = t;', 't > n'],
  ['size_t that falls, as int', '', 'size_t t = tid - 3; t > (m & 7) && r < 9; t -= 2', 'int j = t * 2 + tid;', 'j < n'],
  ['unsigned that falls, as int', '', 'unsigned t = i - 2; t > (m & 7) && r < 9; t -= 2', 'int j = i + t;', 'j < n'],
  ['unsigned that rises from below zero', '', 'unsigned t = i - 2; t != 5 && r < 9; ++t', 'int j = i + t;', 'j < n'],
  ['long long from an unsigned difference', '', 'long long t = threadIdx.x - 4; t > (m & 7) && r < 9; t -= 2', 'int j = i + t;', 'j < n'],
  ['long long from an unsigned difference, rising', '', 'long long t = threadIdx.x - 4; t < big && r < 9; t += 2', 'int j = i + t;', 'j >= n'],
  ['a base of an unsigned difference', 'unsigned base = blockIdx.x * 4 - 2;', 'unsigned t = 0; t < 9u; ++t', 'int j = base + t + threadIdx.x;', 'j < n'],
  ['compared as it is', 'unsigned base = blockIdx.x * 4 - 2;', 'unsigned t = 0; t < 9u; ++t', 'unsigned j = base + t + threadIdx.x;', 'j < (unsigned)m'],
  ['a wide base of an unsigned difference', 'long long base = blockIdx.x * 8 - 3;', 'int t = 0; t < 9; ++t', 'int j = base + t + threadIdx.x;', 'j < n'],
  ['a wide base without a sign', 'size_t base = blockIdx.x * 8 - 3;', 'int t = -3; t < 5; t += gridDim.x', 'int j = base + threadIdx.x + t;', 'j >= 0'],
  ['a base through another variable', 'unsigned back = blockIdx.x - 2; size_t base = back;', 'int t = 0; t < 9; ++t', 'int j = base + t + threadIdx.x;', 'j < n'],
  ['a base with a sign, kept without one', 'unsigned base = n - 8;', 'int t = 0; t < 9; ++t', 'int j = base + t + threadIdx.x;', 'j < m'],
  ['a number that is weaker than a comparison', '', 'int t = 0; t < n && r < 9; ++t', 'int j = t;', 't < (m & 7)'],
  ['the same in a sum', '', 'int t = 0; t < n && r < 9; ++t', 'int j = t;', 't + tid < (m | 1)'],
  ['the same in a window', '', 'int t = -2; t < 3; ++t', 'int j = i + t;', 'j >= (m & 3) && j < (n ^ 2)'],
  ['a shift over the sign', '', 'int t = 0; t < n; ++t', 'int j = t << 28;', 'j < m'],
  ['a shift of what falls', '', 'int t = 12; t > m; --t', 'int j = (t << 28) + 1;', 'j >= 0'],
  ['a falling int behind unsigned sums', '', 'int t = n; t > m && r < 9; t -= 3', 'int j = t + threadIdx.x - 5u;', 'j >= 0'],
];

describe.each([['peel', peel as Transform], ['ballot', ballot as Transform]] as const)('%s', (_name, transform) => {
  test.each(CASES)('%s', (_case, setup, head, index, guard) => {
    const before = kernel(setup, head, index, guard);
    const { rounds, text } = applyAll(transform, before, { evenIfItLoses: true });
    if (rounds === 0) return;
    for (const n of [-7, 0, 3, 20, 33]) {
      for (const m of [-9, 0, 2, 12]) {
        const value = (number: number) => ({ kind: 'value', value: number }) as const;
        const verdict = verifyEquivalent(load(before).program, load(text).program, 'kern', {
          blocks: [[32, 1, 1]], grids: [[2, 1, 1]], sizes: [64], seeds: [1], schedules: [0], budgetMs: 1000,
          arguments: new Map([['n', value(n)], ['m', value(m)], ['u', value(5)], ['big', value(4294967300)]]),
        });
        if (verdict.status === 'different') throw new Error(`n ${n}, m ${m}: ${verdict.counterexample.differences.join('; ')}\n${text}`);
      }
    }
  }, 60_000);
});

test.each([
  ['size_t t = 0; t < 64; ++t', 'int j = t + tid;', 'j < n'],
  ['unsigned t = threadIdx.x; t < u; ++t', 'int j = t + i;', 'j < n'],
  ['long long t = blockIdx.x; t < big; t += gridDim.x', 'int j = t + threadIdx.x;', 'j < n'],
])('what rises from where it counts is peeled: for (%s)', (head, index, guard) => {
  const run = applyAll(peel as Transform, kernel('', head, index, guard), { evenIfItLoses: true });
  expect(run.rounds).toBeGreaterThan(0);
});
