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

describe('the only run that is left', () => {
  test.each([
    ['a test beside it that always holds', 'for (int i = 0; i < n; ++i) { if (i < n && i == 0) s += i + 1; }', /int i = 0;\n {4}if \(i < n\) \{ s \+= i \+ 1; \}/],
    ['a test beside it that never holds', 'for (int i = 0; i < n; i += 2) { if (i >= n) s += 3.f; else if (i < 2) s += i; }', /int i = 0;\n {4}if \(i < n\) \{ s \+= i; \}/],
    ['tests in one another', 'for (int i = 0; i < n; ++i) { if (i < n) { if (i == 0) s += a[i]; } }', /int i = 0;\n {4}if \(i < n\) \{ s \+= a\[i\]; \}/],
    ['a type of its own', 'for (long long i = 0; i < n; ++i) { if (i >= n) s += 3.f; else if (i < 1) s += i; }', /long long i = 0;\n {4}if \(i < n\) \{ s \+= i; \}/],
    ['several of them', 'for (int i = 0, p = 3; i < n; ++i, ++p) { if (i < n && i == 0) s += a[p]; }', /int i = 0, p = 3;\n {4}if \(i < n\) \{ s \+= a\[p\]; \}/],
  ])('stands behind what its head declared: %s', (_name, loop, expected) => {
    expect(peeled(loop)).toMatch(expected);
  });

  test('does so in a block where the name means something else', () => {
    const loop = 'for (int i = 0; i < n; ++i) { if (i >= n) s += 3.f; else if (i < 1) s += i + 1; }';
    expect(peeled(`${loop}\n    s += i;`, 'int i = 7;')).toMatch(/\{\n {8}int i = 0;\n {8}if \(i < n\) \{ s \+= i \+ 1; \}\n {4}\}\n {4}s \+= i;/);
    // Of two loops in a row the second one finds the name taken.
    expect(peeled(`${loop}\n    ${loop}`)).toMatch(/ {4}int i = 0;\n {4}if \(i < n\) \{ s \+= i \+ 1; \}\n {4}\{\n {8}int i = 0;\n {8}if/);
  });

  test('gets braces below a head without them', () => {
    expect(peeled('if (m > 2) for (k = 0; k < n; ++k) { if (k < n && k == 0) s += a[k]; } else s = 2.f;', 'int k = 0;')).toMatch(/if \(m > 2\) \{\s+k = 0;\s+if \(k < n\) \{ s \+= a\[k\]; \}\s+\} else s = 2\.f;/);
    expect(peeled('if (m > 2) s = 2.f; else for (int k = 0; k < n; ++k) { if (k < n && k == 0) s += a[k]; }')).toMatch(/else \{\s+int k = 0;\s+if \(k < n\) \{ s \+= a\[k\]; \}\s+\}/);
  });

  test('declares nothing that it does not name', () => {
    expect(peeled('for (int i = 0; i < 2; i += 2) { if (i < 1) { s += 2.f; s *= m; } }')).not.toContain('int i = 0');
  });
});

describe('the step behind the body of one iteration', () => {
  test('means what it meant where the body declares its names', () => {
    // The block of the arm has become that of the body.
    expect(peeled('for (i = 0; i < n; i += 3) { if (i > 0) s += a[i]; else { float i = 2.f; s += i; } }', 'int i = 5;')).toMatch(/if \(i < n\) \{\s+\{\s*float i = 2\.f; s \+= i;\s*\}\s+i \+= 3;\s+\}/);
    expect(peeled('for (int k = 0, p = m; k < n; k += p) { float p = 2.f; s *= p; if (k == 0) s += a[k]; }')).not.toMatch(/s \+= a\[k\]; k \+= p; \}/);
    expect(peeled('for (int k = 0; k < n; k += 3) { float j = 2.f; s *= j; if (k == 0) s += a[k]; }')).toContain('s += a[k]; k += 3; }');
  });
});

describe('what a transform wrote is no site again', () => {
  test.each([
    ['versions of one iteration', 'for (int i = 0; i < 2; i += 3) { if (!(n - 2 >= i + 3)) { if (i != 1 && m < i + 8) s += a[i]; else if (m > i) s *= 2.f; } s -= 3.f; }'],
    ['versions of two', 'for (int k = 1; k < 3; k += 2) { if (k < n && k == 2) s += a[k]; else s -= k * 2; }'],
    ['a window in one of whose versions an if is left', 'for (int k = -m; k <= m; ++k) { if (k + (int)threadIdx.x >= 0 && k + (int)threadIdx.x < n) { if (k == -m) s += a[k + threadIdx.x]; } }'],
    ['a run in front of a decided iteration', 'for (int i = -1; i <= 1; i += 3) { s *= 0.5f; if ((int)threadIdx.x - i >= 0) { if (i * 2 != m) s += a[i + 1]; } }'],
    ['a guard that is spelled inside of another comparison', 'for (int i = 0; i < 4; ++i) { if (i < n) s += a[i]; if (2 * i < n) s *= a[i]; if (i > 1) s += 1.f; }'],
  ])('%s', (_name, loop) => {
    const text = peeled(loop);
    expect(count(text, 'Interior:')).toBeLessThanOrEqual(2);
    expect(count(text, '\n')).toBeLessThan(70);
  });
});
