/**
 * Runs that have one iteration at most are an `if`, runs that have none are not written, and neither is claimed where it is not so.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { transforms } from '../../transforms/index.js';
import { applyAll } from '../helpers/transform.js';

const peel = transforms.find(({ name }) => name === 'peel');

beforeAll(async () => {
  await initParser();
});

/** The kernel around a loop, peeled even where it does not pay. */
function peeled(loop: string, before = ''): string {
  if (peel === undefined) throw new Error('no peel');
  return applyAll(peel, `__global__ void f(const float *a, float *o, int n, int m, unsigned u) {
    float s = 0.f;
    ${before}
    ${loop}
    o[threadIdx.x] = s;
}
`, { evenIfItLoses: true }).text;
}

const count = (text: string, word: string): number => text.split(word).length - 1;

describe('one iteration', () => {
  test.each([
    ['the first of a loop from zero', 'for (int k = 0; k < n; ++k) { s *= 0.5f; if (k == 0) s += a[k]; }', 'if (k < n) {'],
    ['the last before the bound', 'for (int k = 0; k < n; ++k) { s *= 0.5f; if (k < n - 1) s += a[k + 1]; }', 'if (k < n) {'],
    ['the last one downwards', 'for (int k = n; k > 0; --k) { s *= 0.5f; if (k > 1) s += a[k - 1]; }', 'if (k > 0) {'],
    ['what a stride of the block leaves', 'for (int k = 0; k < n; k += blockDim.x) { s *= 0.5f; if (k + (int)threadIdx.x < n) s += a[k + threadIdx.x]; }', 'if (k < n) {'],
    ['one value between', 'for (int k = 0; k < n; ++k) { s *= 0.5f; if (k != m) s += a[k]; }', 'if (k < n && k <= m) {'],
  ])('%s', (_name, loop, expected) => {
    const text = peeled(loop);
    expect(text).toContain(expected);
    expect(count(text, '    for (')).toBe(expected.includes('&&') ? 2 : 1);
  });

  test('is none where the step may be smaller than what is left', () => {
    expect(count(peeled('for (int k = 0; k < n; k += 16) { s *= 0.5f; if (k + (int)threadIdx.x < n) s += a[k + threadIdx.x]; }'), 'for (; k <')).toBe(2);
    expect(count(peeled('for (int k = 0; k < n; ++k) { s *= 0.5f; if (k < 2) s += a[k]; }'), 'for (; k <')).toBe(2);
    expect(count(peeled('for (int k = m; k < n; ++k) { s *= 0.5f; if (k < 1) s += a[k & 3]; }'), 'for (; k <')).toBe(2);
  });

  test('is none where the step need not be taken, or a jump leaves it', () => {
    expect(peeled('while (k < n) { s *= 0.5f; if (k < 1) s += a[0]; if (s > 1.f) { k += m; continue; } k++; }', 'int k = 0;')).not.toMatch(/if \(k < n\) \{/);
    expect(peeled('for (int k = 0; k < n; ++k) { s *= 0.5f; if (s > 3.f) continue; if (k == 0) s += a[k]; }')).toContain('for (; k < n && k < 1; ++k)');
  });

  test('keeps its step where the counter is read behind it', () => {
    expect(peeled('for (; k < n; ++k) { s *= 0.5f; if (k < n - 1) s += a[k + 1]; }\n    s += k;', 'int k = 0;')).toMatch(/if \(k < n\) \{\s+s \*= 0\.5f;\s+\+\+k;\s+\}/);
  });
});

describe('a counter that is set in front of the loop', () => {
  const loop = 'while (u > k) { s *= 0.5f; if (threadIdx.x + k < u) s += a[k + threadIdx.x]; k += 8; }';

  test('starts there: no run below zero', () => {
    const text = peeled(loop, 'int k = -5; s += a[k + 6]; k = 0; s += a[1];');
    expect(text).not.toMatch(/k < 0/);
    expect(text).toMatch(/k < k_?[fF]ull/);
  });

  test.each([
    ['what it is set to changes again', 'int k = 0; m = n; k = m; m -= 100;'],
    ['it moves in between', 'int k = 0; k = 0; k -= n;'],
    ['a branch sets it too', 'int k = 0; k = 0; if (n > 3) k = m;'],
    ['a call may', 'int k = 0; int *p = &k; *p = m;'],
  ])('not where %s', (_name, before) => {
    // The run in front of the one without guards, or no peel at all.
    const text = peeled(loop, before);
    expect(text.includes('k < 0') || !/k_?[fF]ull/.test(text)).toBe(true);
  });
});

describe('what is decided inside', () => {
  test('a loop that has no iteration goes, and what its head sets stays', () => {
    const text = peeled('int j = 3;\n    for (int k = 0; k < n; ++k) {\n        for (j = 0; j < 4 && k > 0; ++j) s += a[k - 1] * j;\n        s *= 0.5f + j;\n    }');
    expect(text).not.toMatch(/false/);
    expect(text).toContain('j = 0;\n');
  });

  test('an iteration that surely runs needs no test', () => {
    const text = peeled('for (int k = 0; k < 8; ++k) { s *= 0.5f; if (k == 0) s += a[k]; }');
    expect(text).not.toMatch(/if \(/);
    expect(text).toMatch(/int k = 0;\s+\{ s \*= 0\.5f; s \+= a\[k\]; \+\+k; \}\s+for \(; k < 8; \+\+k\)/);
  });

  test('a constant bound below the loop\'s own stands alone', () => {
    expect(peeled('int v;\n    for (v = 0; v < 9; v++) { s *= 0.5f; if (v < 5) s += a[v]; }\n    v = n;')).toMatch(/for \(v = 0; v < 5; v\+\+\)/);
  });
});
