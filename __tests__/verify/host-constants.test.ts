/** The launch plan runs, not the host text: what that text calls by a name must be what the plan takes it for. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent, type Verdict } from '../../src/verify/index.js';
import { split } from '../../transforms/split.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applyAll, load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const KERNEL = `const int LIM = 5;
__global__ void k(float *x, const float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > LIM)
        x[i] = y[i] * 2.f;
    else
        x[i] = y[i];
}
`;
const LAUNCH = 'k<<<2, 32>>>(x, y, n);';
const go = `void go(float *x, float *y, int n) { ${LAUNCH} }`;

/** The text as split writes it, with the names of its host text changed. */
function verdictOf(host: string, from: string, to: string): Verdict {
  const text = KERNEL + host;
  const run = applyAll(split as Transform, text, { evenIfItLoses: true });
  const plan = run.plans.get('k');
  if (plan === undefined || !run.text.includes(from)) throw new Error(`nothing to change in\\n${run.text}`);
  return verifyEquivalent(load(text).program, load(run.text.replaceAll(from, to)).program, 'k', { plan: { ...plan, constants: [{ name: to.includes('::') ? '::LIM' : 'LIM', value: '5' }] } });
}

describe('a name that means something else at the launch', () => {
  test.each([
    ['a constant of its namespace', `namespace z { const int LIM = 1; ${go} }`, /LIM is 1 at line \d+: the launch plan, which is what runs, takes it for 5/],
    ['a static member', `struct Z { static const int LIM = 1; static ${go} };`, /LIM is 1 /],
    ['a member of a base', `struct B { static const int LIM = 0; };\nstruct D : B { ${go} };`, /LIM is 0 /],
    ['a member', `class Z { int LIM; ${go} };`, /LIM is a member/],
    ['a template parameter', `template <int LIM> ${go}`, /LIM is another template parameter/],
    ['a variable of a range', `void go(float *x, float *y, int n) { for (int LIM : {1, 2}) ${LAUNCH} }`, /LIM is another variable/],
    ['a using-declaration', `namespace w { const int LIM = 9; }\nvoid go(float *x, float *y, int n) { using w::LIM; ${LAUNCH} }`, /LIM is 9 /],
    ['an enumerator', `namespace w { enum { A, LIM }; ${go} }`, /LIM is 1 /],
    ['a function', `namespace w { void LIM(int); ${go} }`, /LIM is another function/],
  ])('%s is not verified', (_, host, reason) => {
    const verdict = verdictOf(host, 'n > ::LIM', 'n > LIM');
    expect(verdict.status).toBe('not-verified');
    expect(verdict.status === 'not-verified' ? verdict.obstacles.map((o) => o.reason).join() : '').toMatch(reason);
  });

  test('a macro behind the kernel', () => {
    const verdict = verdictOf(`#define LIM 1\n${go}`, 'n > 5', 'n > LIM');
    expect(verdict.status === 'not-verified' ? verdict.obstacles.map((o) => o.reason).join() : verdict.status).toMatch(/LIM is 1 /);
  });
});

describe('a name that means the constant', () => {
  test.each([
    ['by itself', go, 'n > LIM'],
    ['from the global scope', `namespace z { const int LIM = 1; ${go} }`, 'n > ::LIM'],
  ])('%s: the plan runs, and it is said that it does', (_, host, text) => {
    const verdict = verdictOf(host, text, text);
    expect(verdict.status).toBe('equal');
    expect(verdict.notes.join()).toMatch(/what ran is the launch plan/);
  });
});
