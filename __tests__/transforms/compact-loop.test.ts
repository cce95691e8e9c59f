/** What compact:loop says: break-even in share and length as it was measured, and who sees the heavy part. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { compact } from '../../transforms/compact.js';
import { runRate } from '../../transforms/compact/loop-estimate.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applyAll, load, outcomesOf } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const variant = { variant: 'loop' };
const transform = compact as Transform;

const code = (steps: number, share: string): string => `__global__ void k(const float *__restrict__ x, float *__restrict__ y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.f;
    for (int k = 0; k < m; ++k) {
        float v = x[(i + k) & 63];
        if (v > 0.5f) {  // divmod: p=${share}
            for (int s = 0; s < ${steps}; ++s) v = v * 0.5f + sqrtf(v + s);
            sum += v;
        }
    }
    if (i < n) y[i] = sum;
}
`;

describe('estimates agree in sign with what was measured', () => {
  test.each([['0.03', 64], ['0.2', 64], ['0.5', 64]])('%s of the lanes, %d steps: pays', (share, steps) => {
    const [outcome] = outcomesOf(transform, load(code(steps, share)), variant);
    expect(outcome?.status).toBe('applied');
    expect(outcome?.estimate?.speedup).toBeGreaterThan(1.2);
  });

  test('rarer work gains more', () => {
    const gain = (share: string): number => outcomesOf(transform, load(code(64, share)), variant)[0]?.estimate?.speedup ?? 0;
    expect(gain('0.03')).toBeGreaterThan(gain('0.2'));
    expect(gain('0.2')).toBeGreaterThan(gain('0.5'));
  });

  test('a short heavy part does not pay, and the break-even is named', () => {
    const [outcome] = outcomesOf(transform, load(code(1, '0.5')), variant);
    expect(outcome?.status).toBe('skipped');
    expect(outcome?.estimate?.breakEven).toMatch(/50% active lanes \(annotation\)/);
  });

  test('a warp runs at least as often as one lane has items, and at most in every iteration', () => {
    for (const p of [0.03, 0.2, 0.5]) for (const depth of [2, 4, 8]) {
      expect(runRate(p, depth)).toBeGreaterThanOrEqual(p * 0.95);
      expect(runRate(p, depth)).toBeLessThanOrEqual(1);
    }
    expect(runRate(0.2, 8)).toBeLessThan(runRate(0.2, 2));
  });
});

test('the depth of the queues is an option', () => {
  const { text } = applyAll(transform, code(64, '0.2'), { ...variant, options: new Map([['depth', '8']]) });
  expect(text).toContain('[8];');
  expect(text).toContain('== 8');
});
