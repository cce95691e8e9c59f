/**
 * What may fault or has no value yet is never evaluated where the original might not have evaluated it: null pointers behind `break`, `continue`, `return`, `?:`, `&&`
 * and `||`, loops without iterations, indices and divisors behind a guard, variables that are set under the same test as they are read.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { hoist } from '../../transforms/hoist.js';
import { refusals } from '../../transforms/lib/framework.js';
import type { Transform } from '../../transforms/lib/types.js';
import { peel } from '../../transforms/peel.js';
import { applyAll, load, outcomesOf } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

function kernel(body: string): string {
  return `struct S { int *p; int n; };
__constant__ int table[8];
__device__ int quotient(int a, int b) { return a / b; }
__global__ void k(float *x, const int *__restrict__ q, const S *__restrict__ o, int n, int m, int d, int size)
{
    float s = 0.f;
    ${body}
    x[threadIdx.x] = s;
}
`;
}

const EITHER = 's += x[i]; else s -= x[i];';
const LOOP = 'for (int i = 0; i < n; ++i)';

/** The condition stays in the loop: `x[i] < 0` may keep the first iteration from it. */
describe('hoist leaves what a guard before it protects', () => {
  test.each([
    ['a load', '*q > 0'], ['a load by index', 'q[d] > 0'], ['a cached load', '__ldg(q) > 0'], ['a member', 'o->n > 0'], ['constant memory by index', 'table[d] > 0'],
    ['a quotient', 'n / d > 3'], ['a remainder', 'n % d == 3'], ['a callee that divides', 'quotient(n, d) > 3'], ['a shift', '(1 << d) > 3'], ['both', '*q > 0 && n / d > 3'], ['a choice', '(d > 3 ? *q : 0) > 0'],
  ])('%s', (_, condition) => {
    for (const guard of ['if (x[i] < 0.f) break;', 'if (x[i] < 0.f) continue;', 'if (x[i] < 0.f) return;', 'if (x[i] < 0.f) { s = 1.f; continue; }', 'if (x[i] > 1.f) s *= 2.f; else continue;']) {
      const outcomes = outcomesOf(hoist as Transform, load(kernel(`${LOOP} { ${guard} if (${condition}) ${EITHER} }`)), { evenIfItLoses: true });
      const last = outcomes.at(-1);
      expect(last === undefined ? [] : refusals(last).map(({ id }) => id)).toContain('condition-safe-early');
    }
  });

  test('a loop of one turn at least is entered, one that may have none is not', () => {
    const text = (head: string): string => applyAll(hoist as Transform, kernel(`for (int i = 0; ${head}; ++i) { if (*q > 0) ${EITHER} }`), { evenIfItLoses: true }).text;
    expect(text('i < 4')).toContain('if (*q > 0) {');
    expect(text('i < n')).toContain('if (0 < n && *q > 0) {');
    expect(text('i < n && q')).toContain('if (0 < n && q && *q > 0) {');
  });

  test('an inner loop that may have no iterations keeps it, whatever the outer one does', () => {
    const { text } = applyAll(hoist as Transform, kernel(`for (int j = 0; j < m; ++j) for (int i = j; i < n; ++i) { if (*q > 0) ${EITHER} }`), { evenIfItLoses: true });
    expect(text).toMatch(/for \(int j = 0; j < m; \+\+j\) \{?\s*if \(j < n && \*q > 0\)/);
  });
});

/** The null test leaves first; below it the load is safe. */
describe('hoist in two steps', () => {
  test.each([
    ['break', 'if (!q) break;'], ['continue', 'if (!q) continue;'], ['return', 'if (!q) return;'], ['break after work', 'if (!q) { s = 1.f; break; }'], ['index', 'if (d >= size) continue;', 'q[d] > 0'],
    ['divisor', 'if (d == 0) break;', 'n / d > 3'], ['member', 'if (o == nullptr) break;', 'o->n > 0'], ['else if', 'if (!q) s += 1.f; else', '*q > 3'], ['and', '', 'q && *q > 3'], ['or', '', 'q == nullptr || *q > 3'], ['?:', '', '(q ? *q > 3 : false)'],
  ])('%s', (_, guard, condition = '*q > 0') => {
    const before = kernel(`${LOOP} { ${guard} if (${condition}) ${EITHER} }`);
    const { text } = applyAll(hoist as Transform, before, { evenIfItLoses: true });
    expect(text).not.toBe(before);
    // The load stands below its guard.
    if (guard !== '') expect(text.indexOf(condition)).toBeGreaterThan(text.search(/if \((?:!?q|d |o )/));
    const verdict = verifyEquivalent(load(before).program, load(text).program, 'k', { budgetMs: 400 });
    expect(verdict).toMatchObject({ status: 'equal' });
  });
});

describe('peel writes no load, quotient or unset variable in front of a loop', () => {
  test.each([
    ['a load behind break', 'if (!q) break;', 'i + (int)threadIdx.x < *q'], ['a member behind continue', 'if (!o) continue;', 'i + (int)threadIdx.x < o->n'], ['a quotient behind continue', 'if (d == 0) continue;', 'i < m / d'],
    ['a remainder behind &&', '', 'd != 0 && i < m % d'], ['a load behind &&', '', 'q && i < *q'], ['an index behind &&', '', 'd < size && i < q[d]'], ['a shift behind &&', '', 'd >= 0 && d < 31 && i < (m << d)'],
    ['a load', '', 'i < *q'], ['an address made of a number', '', 'i < *(const int *)(size_t)m'], ['a variable set under the same test', 'if (m <= 0) continue;', 'i < lim'], ['a variable set where the loop is entered', '', 'i + (int)threadIdx.x < lim'],
    ['the same in arithmetic', '', 'i < lim / 4'],
  ])('%s', (_, guard, condition) => {
    const before = kernel(`int lim; if (m > 0) lim = n - 1;\n    ${LOOP} { ${guard} if (${condition}) ${EITHER} }`);
    expect(applyAll(peel as Transform, before, { evenIfItLoses: true }).text).toBe(before);
  });

  test('a variable that has a value on every way is one', () => {
    const before = kernel(`int lim; if (m > 0) lim = n - 1; else lim = 3;\n    ${LOOP} { if (i < lim) ${EITHER} }`);
    expect(applyAll(peel as Transform, before, { evenIfItLoses: true }).text).not.toBe(before);
  });
});
