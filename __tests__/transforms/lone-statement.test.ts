/** Statements alone below a head: macros keep braces and their `;` there, and no `else` goes to another `if`. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { transforms } from '../../transforms/index.js';
import { applyAll } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const MACROS = `
#define CHECK(x)
#define MIX(x) (t ^= (x))
#define WHEN(x) if (x) t++
#define BOTH(x) t += (x); u ^= t
`;

/** The kernel around a body after an edit, white space evened out. */
function edited(name: 'hoist' | 'peel', body: string): string {
  const transform = transforms.find((one) => one.name === name);
  if (transform === undefined) throw new Error(`no ${name}`);
  const run = applyAll(transform, `${MACROS}__global__ void k(const int *a, int *o, int n, int m, bool f, bool p) {
    int t = 0, u = 0;
    ${body}
    o[threadIdx.x] = t + u;
}
`, { evenIfItLoses: true });
  expect(run.rounds).toBeGreaterThan(0);
  return run.text.replace(/\s+/g, ' ');
}

const TESTS = { hoist: 'f', peel: 'i < m' } as const;

describe.each(['hoist', 'peel'] as const)('%s', (name) => {
  const c = TESTS[name];

  test.each([
    ['one that stands for nothing in this build', `for (int i = 0; i < n; i++) { if (${c}) CHECK(a[i]); else t += a[i]; }`, '{ CHECK(a[i]); }'],
    ['one that stands for an expression', `for (int i = 0; i < n; i++) { if (${c}) MIX(a[i]); else t += a[i]; }`, '{ MIX(a[i]); }'],
    ['as the body of the loop', `for (int i = 0; i < n; i++) if (${c}) MIX(a[i]); else t += a[i];`, '{ MIX(a[i]); }'],
    ['as the body of a loop in the loop', `for (int i = 0; i < n; i++) { t ^= i; for (int j = 0; j < 3; j++) if (${c}) CHECK(a[j]); else t += a[j]; }`, 'j++) { CHECK(a[j]); }'],
    ['as an arm', `for (int i = 0; i < n; i++) { if (${c}) t ^= 7; if (a[i]) if (${c}) MIX(a[i]); else t += a[i]; }`, 'if (a[i]) { MIX(a[i]); }'],
    ['with the if that it stands for', `for (int i = 0; i < n; i++) { if (${c}) t ^= 7; if (a[i]) if (${c}) t += a[i]; else WHEN(i); }`, 'if (a[i]) { WHEN(i); }'],
    ['behind an else', `for (int i = 0; i < n; i++) { if (${c}) t ^= 7; if (a[i]) t++; else if (${c}) MIX(i); else t--; }`, 'else { MIX(i); }'],
    ['of several statements', `for (int i = 0; i < n; i++) { if (${c}) t ^= 7; if (a[i]) if (${c}) { BOTH(i); } else t--; }`, 'if (a[i]) { BOTH(i); }'],
  ])('a macro keeps braces: %s', (_, body, expected) => {
    expect(edited(name, body)).toContain(expected);
  });

  test.each([
    ['a loop that was an arm', `if (p) for (int i = 0; i < n; i++) { t ^= i; if (${c}) t += a[i]; } else t = 3;`, '} else t = 3;'],
    ['an arm below a loop', `for (int i = 0; i < n; i++) { if (${c}) t ^= 7; if (a[i]) for (int j = 0; j < 3; j++) if (${c}) { if (a[j]) t++; } else t--; else t = 3; }`, '{ if (a[j]) t++; } else t = 3;'],
  ])('an else stays with its if: %s', (_, body, expected) => {
    expect(edited(name, body)).toContain(expected);
  });

  test('an arm that comes to nothing leaves an else to nobody else', () => {
    const text = edited(name, `for (int i = 0; i < n; i++) { if (${c}) t ^= 7; if (a[i]) for (int j = 0; j < 3; j++) if (a[j]) t += j; else if (${c}) t++; else ; else t = 3; }`);
    expect(text).not.toContain('t += j; else t = 3;');
    expect(text.match(/else t = 3;/g)).toHaveLength(2);
  });
});
