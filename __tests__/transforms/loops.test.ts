import { beforeAll, describe, expect, test } from '@jest/globals';
import { walk } from '../../src/analysis/children.js';
import type { Loop } from '../../src/analysis/facts.js';
import { initParser } from '../../src/syntax/parser.js';
import { describeLoop, type Induction, type NotSimple } from '../../transforms/lib/loops.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

/** The outermost loop of a body, described. */
function first(body: string): Induction | NotSimple {
  const { unit, analysis } = load(`__global__ void k(float *x, int n, int m, unsigned u, size_t z) { ${body} }`);
  const kernel = unit.kernels[0];
  if (kernel === undefined || kernel.body === null) throw new Error('no kernel');
  let loop: Loop | null = null;
  walk(kernel.body, (node) => {
    if (loop === null && (node.kind === 'for' || node.kind === 'while' || node.kind === 'do' || node.kind === 'range-for')) loop = node;
    return loop === null;
  });
  if (loop === null) throw new Error('no loop');
  return describeLoop(analysis.kernel(kernel), loop);
}

/** `i < … + 1` in short. */
function summary(body: string): string {
  const found = first(body);
  if (!found.simple) return `not simple: ${found.reason}`;
  const { counter, comparison, step, declaredInHead, testedOnEntry, otherTests, otherUpdates } = found;
  const sign = step.kind === 'add' ? (step.sign > 0 ? '+' : '-') : step.kind;
  return [
    `${counter.name} ${comparison}`, `${sign} ${step.constant ?? '?'}`, declaredInHead ? 'own' : 'outer', testedOnEntry ? '' : 'do',
    otherTests.length > 0 ? `${otherTests.length} more tests` : '', otherUpdates.length > 0 ? `${otherUpdates.length} more updates` : '', step.statement === null ? '' : 'trailing',
  ].filter((part) => part !== '').join(', ');
}

describe('how a loop counts', () => {
  test.each([
    ['for (int i = 0; i < n; ++i) x[i] = 0;', 'i <, + 1, own'],
    ['for (int i = 0; n > i; i++) x[i] = 0;', 'i <, + 1, own'],
    ['for (int i = n - 1; i >= 0; --i) x[i] = 0;', 'i >=, - 1, own'],
    ['for (int i = 0; i <= n; i += 4) x[i] = 0;', 'i <=, + 4, own'],
    ['for (int i = 0; i != n; i = i + m) x[i] = 0;', 'i !=, + ?, own'],
    ['for (int i = 0; i < n; i = 2 + i) x[i] = 0;', 'i <, + 2, own'],
    ['for (unsigned s = u; s > 0; s >>= 1) x[s] = 0;', 's >, shift-right 1, own'],
    ['for (int s = 1; s < n; s *= 2) x[s] = 0;', 's <, multiply 2, own'],
    ['for (int s = n; s > 1; s /= 2) x[s] = 0;', 's >, divide 2, own'],
    ['int i; for (i = 0; i < n; ++i) x[i] = 0;', 'i <, + 1, outer'],
    ['for (int i = 0, j = n; i < j; ++i, --j) x[i] = 0;', 'i <, + 1, own, 1 more updates'],
    ['for (int i = 0; i < n && x[i] > 0; ++i) x[i] = 0;', 'i <, + 1, own, 1 more tests'],
    ['int i = 0; while (i < n) { x[i] = 0; i += 2; }', 'i <, + 2, outer, trailing'],
    ['int i = 0; do { x[i] = 0; ++i; } while (i < n);', 'i <, + 1, outer, do, trailing'],
    ['int i = 0; for (; i < n;) { x[i] = 0; i++; }', 'i <, + 1, outer, trailing'],
    ['for (size_t i = threadIdx.x; i < z; i += blockDim.x) x[i] = 0;', 'i <, + ?, own'],
  ])('%s', (body, expected) => {
    expect(summary(body)).toBe(expected);
  });

  test.each([
    'for (int i = 0; i < n; ++i) { if (x[i] > 0) i += 2; }',
    'for (int i = 0; i < n; ++i) { int *p = &i; *p = 3; }',
    'int i = 0; while (i < n) { if (x[i] > 0) continue; ++i; }',
    'int i = n; while (i-- > 0) x[i] = 0;',
    'for (float f = 0; f < 3.f; f += 1.f) x[0] = f;',
    'for (int i = 0; ; ++i) { if (i > n) break; }',
    'for (int i = 0; i < n; i += i) x[i] = 0;',
    'for (int i = 0; i < n; i = m - i) x[i] = 0;',
    'for (int i = 0; i < n; ++i, ++i) x[i] = 0;',
    'for (int i = 0; n; ++i) x[i] = 0;',
    'volatile int i; for (i = 0; i < n; ++i) x[i] = 0;',
    '__shared__ int i; for (i = 0; i < n; ++i) x[i] = 0;',
  ])('not simple: %s', (body) => {
    expect(first(body).simple).toBe(false);
  });

  test('a continue of an inner loop does not pass by the update', () => {
    expect(summary('int i = 0; while (i < n) { for (int j = 0; j < m; ++j) { if (j & 1) continue; x[j] = 0; } ++i; }')).toBe('i <, + 1, outer, trailing');
  });

  test('bounds and steps that the body changes are found out', () => {
    const found = first('for (int i = 0; i < n; i += m) { n = n - 1; x[i] = 0; }');
    expect(found.simple && found.boundInvariant.value).toBe(false);
    expect(found.simple && found.stepInvariant?.value).toBe(true);
  });
});
