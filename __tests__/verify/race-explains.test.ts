/** A data race of the original explains a difference only where another order of its warps gives one: it does not excuse every difference. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser, programOf } from '../simulate/helpers.js';
import { verifyEquivalent, type Verdict } from '../../src/verify/index.js';

beforeAll(async () => { await initParser(); });

const kernel = (race: string, value: string): string => `__device__ int gm;
__global__ void k(const int *a, int *o, int *w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  ${race}
  if (i < n) o[i] = ${value};
}`;

const verify = (before: string, after: string): Verdict => verifyEquivalent(programOf(before), programOf(after), 'k', {});

/** All threads store what tells them apart by warp, by round, or not at all. */
const RACES = {
  'rounds of a loop': 'for (int j = 0; j < 4; ++j) gm = j;',
  'warps of a block': 'gm = (int)threadIdx.x / 32;',
  'both': 'for (int j = 0; j < 4; ++j) gm = j + (int)threadIdx.x / 32;',
  'through a parameter': 'if (n > 0) w[0] = (int)threadIdx.x / 32 + 1;',
} as const;

describe.each(Object.entries(RACES))('%s', (_, race) => {
  test.each([['a[i] * 3', 'a[i] * 4'], ['a[i]', 'a[i] + 1'], ['i', 'n']])('%s is not %s', (before, after) => {
    expect(verify(kernel(race, before), kernel(race, after)).status).not.toBe('equal');
  });

  test('the same is equal', () => {
    expect(verify(kernel(race, 'a[i] * 3'), kernel(race, '3 * a[i]')).status).toBe('equal');
  });
});
