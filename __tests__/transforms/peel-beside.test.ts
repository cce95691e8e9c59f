/** What is decided in the runs beside the one that several guards bound: a guard whose edge lies at least as far as all the others'. */
import { beforeAll, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { transforms } from '../../transforms/index.js';
import { applyAll } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

/** The loops of a kernel after peel, white space evened out. */
function peeled(loop: string): string {
  const peel = transforms.find(({ name }) => name === 'peel');
  if (peel === undefined) throw new Error('no peel');
  const { text } = applyAll(peel, `__global__ void f(const int *a, int *o, int n, int m) {
    int s = 0;
    ${loop}
    o[threadIdx.x] = s;
}
`, { evenIfItLoses: true });
  return text.replace(/\s+/g, ' ');
}

test('in front of several late edges the guard that fails last holds: the head of the run says so', () => {
  const text = peeled('for (int k = n; k > 0; k -= 3) { if (k >= 3) s += a[k - 3]; else s += 7; if (k - 3 <= 0) s++; if (k == n) s += 5; }');
  expect(text).toContain('for (; k >= 3; k -= 3) { s += a[k - 3]; if (k - 3 <= 0) s++;');
});

test('behind several early edges the guard that fails first has failed', () => {
  const text = peeled('for (int k = 0; k < n; k++) { if (k + 4 < n) s += a[k + 4]; if (k + 1 < n) s ^= a[k + 1]; }');
  expect(text).toContain('for (; k < n; k++) { if (k + 1 < n) s ^= a[k + 1]; }');
});

test('where either may come first, both stay', () => {
  const text = peeled('for (int k = 0; k < n; k++) { s *= 3; if (k < m) s += a[k]; if (k + 4 < n) s ^= a[k + 4]; }');
  expect(text).toContain('if (k < m) s += a[k]; if (k + 4 < n) s ^= a[k + 4];');
});

test('a loop in the other arm is the version without guards below a test of its own too, but not where it works on something else', () => {
  const guarded = 'for (int i = 0; i < 8; i++) { if (i < n) s += a[i]; }';
  const treated = (loop: string): boolean => peeled(loop).includes('Interior');
  expect(treated(`if (n >= 8) { if (m > 2) { for (int i = 0; i < 8; i++) { s += a[i]; } } } else { ${guarded} }`)).toBe(false);
  expect(treated(`if (n >= 8) { for (int i = 0; i < 8; i++) { s += a[i]; } } else { if (m > 2) { ${guarded} } }`)).toBe(false);
  expect(treated(`if (m > 8) { if (m > 20) { for (int i = 0; i < 8; i++) { s += o[i]; } } } else { ${guarded} }`)).toBe(true);
  expect(treated(`if (m > 8) { for (int i = 0; i < 8; i++) { s += o[i]; } } else { if (m > 2) { ${guarded} } }`)).toBe(true);
});
