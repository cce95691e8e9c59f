/**
 * Counters that may pass the end of their type. What is settled once a counter is past an edge is settled only while it cannot come back from the
 * other end: `settled` is proved, `granted` rests on `index-range`, `kept` leaves the guard in the last run (or refuses, for a nest).
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { ballot } from '../../transforms/ballot.js';
import { grantsInForce } from '../../transforms/lib/grants.js';
import { peel } from '../../transforms/peel.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applyAll, load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

type Way = 'settled' | 'granted' | 'kept';

/** Setup, head of the loop, guard, what becomes of it. */
const HEADS: readonly (readonly [string, string, string, Way])[] = [
  // Falling, in another type than the counter's.
  ['', 'int i = n - 1; i > lo; i -= blockDim.x', 'i >= 4', 'kept'],
  ['', 'int i = n - 1 - threadIdx.x; i != lo; i -= blockDim.x', 'i >= 4', 'kept'],
  ['', 'int i = n; i > lo; i = i - 16u', 'i >= 4', 'kept'],
  ['', 'int i = n; i > lo; i -= 16ull', 'i >= 4', 'kept'],
  ['', 'int i = n; i > lo; i -= (long long)16', 'i >= 4', 'kept'],
  ['const unsigned step = blockDim.x * 2;', 'int i = n; i > lo; i -= step', 'i >= 4', 'kept'],
  ['', 'int i = n; i > lo; i -= threadIdx.x + 1', 'i >= 4', 'kept'],
  ['', 'int i = n; i > lo; i -= sizeof(float)', 'i >= 4', 'kept'],
  ['', 'int i = n; i >= -5; i -= blockDim.x', 'i >= 4', 'settled'],
  ['', 'int i = n; i > -2147483000; i -= blockDim.x', 'i >= 4', 'kept'],
  ['', 'int i = n; i >= 0; i -= blockDim.x', 'i >= m', 'settled'],
  ['', 'int i = n; 0 <= i; i = i - blockDim.x', 'i >= m', 'settled'],
  // Falling in the counter's own signed type: passing the end is undefined.
  ['', 'int i = n; i > lo; i -= 16', 'i >= 4', 'settled'],
  ['', 'int i = n; i > lo; --i', 'i >= 4', 'settled'],
  ['const int step = blockDim.x;', 'int i = n; i > lo; i -= step', 'i >= 4', 'settled'],
  ['', 'long long i = n; i > lo; i -= blockDim.x', 'i >= 4', 'settled'],
  ['', 'int i = n; i > lo; i -= (unsigned short)m % 7 + 1', 'i >= 4', 'settled'],
  // Rising.
  ['', 'int i = threadIdx.x; i < n; i += blockDim.x', 'i < m', 'granted'],
  ['const unsigned step = blockDim.x * 2;', 'int i = threadIdx.x; i < n; i += step', 'i < m', 'granted'],
  ['', 'int i = 0; i < n; i += 16u', 'i < m', 'granted'],
  ['', 'int i = 0; i < n; i += (unsigned)m & 255u', 'i < lo', 'kept'],
  ['', 'int i = 0; i < 4096; i += (unsigned)m & 255u', 'i < lo', 'settled'],
  ['', 'int i = 0; i < n; i += 16', 'i < m', 'settled'],
  ['', 'int i = 0; i < n % 64; i += 16u', 'i < m', 'settled'],
  ['', 'int i = n; i < 4294967295u; i += blockDim.x', 'i < lo', 'kept'],
  ['', 'int i = n; i != m; i += blockDim.x', 'i < lo', 'kept'],
  ['', 'int i = n; i < (unsigned)m; i += blockDim.x', 'i < lo', 'granted'],
  ['', 'int i = n; rounds < 9 && i <= m; i += blockDim.x', 'i < lo', 'granted'],
  // The test asks for it in a sum.
  ['', 'int i = 0; i + (int)threadIdx.x < n; i += blockDim.x', 'i < m', 'granted'],
  ['const int tid = blockIdx.x * blockDim.x + threadIdx.x;', 'int i = 0; tid + i < n; i += blockDim.x', 'i < m', 'granted'],
  ['', 'int i = 0; i * 4 + 3 < n; i += blockDim.x', 'i < m', 'granted'],
  ['', 'int i = 0; n > i + 7; i += blockDim.x', 'i < m', 'granted'],
  ['', 'int i = 0; i + m < n; i += blockDim.x', 'i < lo', 'kept'],
  ['', 'int i = 0; m - i < n; i += blockDim.x', 'i < lo', 'kept'],
  ['', 'int i = 0; i * m < n; i += blockDim.x', 'i < lo', 'kept'],
  ['', 'int i = 0; i + threadIdx.x < 4294967295u; i += blockDim.x', 'i < lo', 'kept'],
  // Unsigned counters go round.
  ['', 'unsigned i = 0; i < n; ++i', 'i < 9u', 'settled'],
  ['', 'unsigned i = 0; i < big; ++i', 'i < 9u', 'kept'],
  ['', 'unsigned i = 0; i <= n; ++i', 'i < 9u', 'kept'],
  ['', 'unsigned i = n; i > 0; --i', 'i > 7u', 'settled'],
  ['', 'unsigned i = n; i > big; --i', 'i > 7u', 'kept'],
  ['', 'unsigned i = n; i < n + 1; --i', 'i > 7u', 'kept'],
  ['', 'unsigned i = n; i != 3; --i', 'i > 7u', 'kept'],
  ['', 'unsigned i = n; i >= 4; i -= 4', 'i > 7u', 'settled'],
  ['', 'unsigned i = n; i >= 4; i -= 5', 'i > 7u', 'kept'],
  ['', 'size_t i = m; i > 2; i -= 3', 'i > 7u', 'settled'],
  ['', 'size_t i = m; i < big; --i', 'i > 7u', 'kept'],
];

const kernel = (setup: string, head: string, guard: string): string => `__global__ void kern(const float *a, float *o, int n, int m, int lo, long long big)
{
    float s = 1.f;
    int rounds = 0;
    ${setup}
    for (${head}) {
        if (${guard})
            s += a[rounds & 63] * 3.f + a[rounds & 7];
        else
            s *= 0.5f;
        if (++rounds > 40)
            return;
        o[threadIdx.x] = s;
    }
}
`;

describe('peel', () => {
  test.each(HEADS)('%s for (%s) if (%s): %s', (setup, head, guard, way) => {
    const before = kernel(setup, head, guard);
    const { first, text } = applyAll(peel as Transform, before, { evenIfItLoses: true });
    const [outcome] = first;
    const exact = outcome?.obligations.find(({ id }) => id === 'guard-exact')?.status;
    const behind = text.slice(text.lastIndexOf('for ('));
    const found: Way = outcome?.status !== 'applied' || behind.includes(`if (${guard})`) ? 'kept' : exact === 'assumed' ? 'granted' : 'settled';
    expect(found).toBe(way);
    // Without the grant nothing rests on it.
    if (way === 'granted') expect(applyAll(peel as Transform, before, { evenIfItLoses: true, grants: grantsInForce([], ['index-range']) }).rounds).toBe(0);
    const ends = [[2147483640, 3, -2147483648], [-2147483600, 5, -2147483647], [9, 6, -20], [300, -4, 2]] as const;
    for (const [n, m, lo] of ends) {
      if (way !== 'kept' && Math.abs(n) > 1000) continue;
      const value = (number: number) => ({ kind: 'value', value: number }) as const;
      const verdict = verifyEquivalent(load(before).program, load(text).program, 'kern', {
        blocks: [[32, 1, 1]], grids: [[1, 1, 1]], sizes: [64], seeds: [1], schedules: [0], budgetMs: 2000,
        arguments: new Map([['n', value(n)], ['m', value(m)], ['lo', value(lo)], ['big', value(m)]]),
      });
      if (verdict.status === 'different') throw new Error(`n ${n}, m ${m}, lo ${lo}: ${verdict.counterexample.differences.join('; ')}\n${text}`);
    }
  }, 60_000);
});

/** Head of the loop, and whether the window may be decided in front of it. */
const NESTS: readonly (readonly [string, boolean])[] = [
  ['short j = 0; j < n; ++j', false],
  ['short j = 0; j < 40; ++j', true],
  ['signed char j = -3; j < 120; j += 9', false],
  ['signed char j = -3; j < 110; j += 9', true],
  ['int j = m; j > n; j -= blockDim.x', false],
  ['int j = m; j > -40; j -= blockDim.x', true],
  ['int j = -3; j < m; j += blockDim.x', true],
  ['int j = 0; j < n; j += (unsigned)m & 7u | 1u', false],
  ['unsigned j = 3; j < big; ++j', false],
  ['int j = m; j >= n; --j', true],
];

describe.each([['peel', peel as Transform], ['ballot', ballot as Transform]] as const)('a nest in two versions, %s', (name, transform) => {
  test.each(NESTS)('for (%s): %s', (head, decided) => {
    const text = `__global__ void kern(const float *a, float *o, int n, int m, int w, long long big)
{
    float s = 0.f;
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    for (${head}) {
        if (g + (int)j >= 0 && g + (int)j < w)
            s += a[g + (int)j] * 2.f;
        if (s > 1e6f)
            return;
    }
    o[g] = s;
}
`;
    const run = applyAll(transform, text, { evenIfItLoses: true });
    const both = /if \((?!g )[^\n]*\) \{\n\s+for/.test(run.text);
    expect({ name, head, both }).toEqual({ name, head, both: decided });
  });
});
