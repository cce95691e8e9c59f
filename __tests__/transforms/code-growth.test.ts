/** What a gain must be worth: long copies are skipped where none is expected, and made on demand. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { findTransform } from '../../transforms/index.js';
import type { Outcome, Transform } from '../../transforms/lib/types.js';
import { load, outcomesOf } from '../helpers/transform.js';

const hoist = findTransform('hoist') as Transform;

beforeAll(async () => {
  await initParser();
});

/** A loop that the compiler unswitches, with `lines` statements beside the branch. */
const kernel = (lines: number, condition = 'flag'): string => [
  '__global__ void weigh(const float *a, float *o, int taps, int flag, float w) {', '    int i = blockIdx.x * blockDim.x + threadIdx.x;', '    float acc = 0.0f;',
  '    for (int t = 0; t < taps; ++t) {', ...Array.from({ length: lines }, (_, k) => `        acc = acc * w + ${k}.5f;`),
  `        if (${condition})`, '            acc += a[t];', '        else', '            acc -= a[t];', '    }', '    o[i] = acc;', '}', '',
].join('\n');

describe('a gain must be worth its lines', () => {
  test('a few lines are written on demand, whatever they gain', () => {
    expect(outcomesOf(hoist, load(kernel(2))).map((outcome) => outcome.status)).toEqual(['applied']);
  });

  test('many lines for no gain are skipped, with both figures, and applied with evenIfItLoses', () => {
    const [skipped] = outcomesOf(hoist, load(kernel(25)));
    expect(skipped?.status).toBe('skipped');
    expect(skipped?.estimate?.pays).toBe(false);
    expect(skipped?.reason).toMatch(/no gain is expected, which is not worth 2\d more lines of source$/);
    expect(outcomesOf(hoist, load(kernel(25)), { evenIfItLoses: true }).map((outcome) => outcome.status)).toEqual(['applied']);
  });

  test('where lanes part a dozen lines are free, where they agree half as many', () => {
    // Eight lines more each: the first for a test of the block, the second for one of the lane that costs as much as what is around it.
    const [uniform] = outcomesOf(hoist, load(kernel(6)));
    expect(uniform?.estimate?.agreed).toBe(true);
    expect(uniform?.status).toBe('skipped');
    const [lanes] = outcomesOf(hoist, load(kernel(6, 'i % 3 < flag % 7 && i / 5 < flag / 3')));
    expect(lanes?.estimate?.agreed).toBeUndefined();
    expect(lanes?.status).toBe('applied');
  });

  test('a gain below two percent is none', () => {
    // A barrier keeps the test in the loop: it gains as much as it is of the whole.
    const heavy = (lines: number): Outcome | undefined => outcomesOf(hoist, load(kernel(lines).replace('acc = acc', '__syncthreads();\n        acc = acc')))[0];
    const [small, large] = [heavy(8), heavy(70)];
    expect(small?.estimate?.speedup).toBeGreaterThanOrEqual(1.02);
    expect(small?.status).toBe('applied');
    expect(large?.estimate?.speedup).toBeLessThan(1.02);
    expect(large?.status).toBe('skipped');
  });

  test('many lines are written where they gain', () => {
    // A barrier keeps the compiler from doing it.
    const [applied] = outcomesOf(hoist, load(kernel(11).replace('acc = acc', '__syncthreads();\n        acc = acc')));
    expect(applied?.estimate?.speedup).toBeGreaterThan(1.005);
    expect(applied?.status).toBe('applied');
    expect(newlines(applied?.change?.edits.map((edit) => edit.text).join('') ?? '')).toBeGreaterThan(12);
  });
});

function newlines(text: string): number {
  return text.split('\n').length - 1;
}
