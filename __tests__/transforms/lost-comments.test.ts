/** No edit drops a comment: every one of the source stands in the result, wherever the launch, the branch or the head that it stood at has gone. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { compact } from '../../transforms/compact.js';
import { transforms } from '../../transforms/index.js';
import { split } from '../../transforms/split.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applyAll, type RunOptions } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const HEAVY = 'for (int k = 0; k < 40; ++k) v = v * 0.5f + sqrtf(fabsf(v) + 1.0f); /* c20 */ y[i] = v; // c21';
const shapes: readonly (readonly [name: string, text: string])[] = [
  ['an arm in braces', `if /* c1 */ (v > t) /* c2 */ { /* c3 */ // c4\n        // c5\n        ${HEAVY}\n        // c6\n    } /* c7 */ else /* c8 */ { // c9\n        y[i] = 0.f; // c10\n        // c11\n    } // c12`],
  ['an arm without braces', `if (v > t /* c1 */) // c2\n    // c3\n    { ${HEAVY}\n    }\n    // c4\n    else // c5\n        y[i] = 0.f; // c6`],
  ['braces on their own lines', `if (v > t) // c1\n    { // c2\n        ${HEAVY}\n    } // c3\n    // c4\n    else // c5\n    { // c6\n        y[i] = 0.f;\n        // c7\n    } // c8`],
  ['a list behind a guard', `if (v <= t) /* c1 */ return; // c2\n    // c3\n    ${HEAVY}\n    // c4`],
];
const kernel = (body: string): string => `__global__ void k(const float *x, float *y, int n, float t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; // c30
    if (i >= n) /* c31 */ return; // c32
    // c33

    float v = x[i]; // c34
    ${body}
    // c35
}
void f(float *x, float *y, int n, bool c) {
    if (c) // c40
        k /* c41 */ <<<(n + 255) / 256 /* c42 */, 256>>> /* c43 */ (x, // c44
            y, /* c45 */ n, .5f); // c46
}
`;

const comments = (text: string): readonly string[] => [...new Set([...text.matchAll(/\bc\d+\b/g)].map(([word]) => word))].sort();

const applied = new Map<string, number>();

describe('comments', () => {
  test.each(shapes.flatMap(([name, body]) => ['grid', 'block'].map((variant) => [variant, name, body] as const)))('compact:%s, %s', (variant, _, body) => {
    const text = kernel(body);
    const options: RunOptions = { evenIfItLoses: true, variant, analysis: { block: { x: 256, y: 1, z: 1 } } };
    const run = applyAll(compact as Transform, text, options);
    expect(run.text).not.toBe(text);
    expect(comments(run.text)).toEqual(comments(text));
  });

  test.each(['t > 0.f', 'blockIdx.x == 0'])('split at %s: the launch', (condition) => {
    const text = kernel(`if (${condition}) { // c1\n        y[i] = v; // c2\n    } else { // c3\n        y[i] = 1.f; // c4\n    }`);
    const run = applyAll(split as Transform, text, { evenIfItLoses: true });
    expect(run.text).not.toBe(text);
    expect(comments(run.text).filter((name) => /^c4\d$/.test(name))).toEqual(['c40', 'c41', 'c42', 'c43', 'c44', 'c45', 'c46']);
  });

  /** In every `@` stands a comment of its own. */
  const HEADS: readonly (readonly [string, string])[] = [
    ['a declaration', 'for @ (@ int @ i @ = @ 0 @ ; @ i @ < @ n @ ; @ ++i @) @'],
    ['several', 'for (@ int i = 0 @, k @ = 4 @; @ i < n; ++i @, @ ++k @) @'],
    ['an assignment', 'for (@ q @ = @ 0 @; @ q < n @; @ ++q @) @'],
    ['no initialiser', 'for (@; @ q < n @; @ ++q @) @'],
    ['downwards, one bound for both', 'for (@ int i = n - 1 @; @ i @ >= @ 0 @; @ --i @) @'],
    ['no test of its own', 'for (int i = 0; @ true @; @ ++i @) @'],
    ['a test in parentheses', 'for (int i = 0; @ (@ i @ < n @ ) @ ; @ ++i) @'],
    ['lines of their own', 'for (int i = 0; @@\n         i < n; @@\n         ++i) @@\n    @@\n   '],
    ['lines of their own in front', 'for ( @@\n         @@\n         int i = 0; @@\n         @@\n         i < n @@\n         ; @@\n         ++i @@\n         ) @@\n'],
    ['while', 'while (@ q @ < @ n @) @'],
  ];
  const GUARDS: Readonly<Record<string, (i: string) => string>> = {
    peel: (i) => `if (${i} @ < @ m @) @ { @ s += a[${i}]; @ } @ else @ { s -= 1.f; @ } @`,
    'peel twice': (i) => `if (${i} + (int)threadIdx.x @ < m @) @ s += a[${i}]; @`,
    'peel at the start': (i) => `if (${i} @ == @ 0 @) @ s += 2.f; @ s += a[${i}]; @`,
    'peel the end': (i) => `if (${i} @ >= m @) @ break; @ s += a[${i}]; @`,
    hoist: (i) => `if (f @) @ { @ s += a[${i}]; @ } @ else @ { s -= a[${i}]; @ } @`,
    'hoist one arm': (i) => `@ if (f @) @ s += a[${i}]; @`,
    ballot: (i) => `if (@ g + ${i} @ >= 0 @ && @ g + ${i} @ < m @) @ s += a[g + ${i}]; @`,
  };
  const heads = HEADS.flatMap(([name, head]) => Object.entries(GUARDS).map(([guard, body]) => [guard, name, head, body] as const));

  test.each(heads)('%s, the head of a loop: %s', (guard, _, head, body) => {
    let count = 0;
    const numbered = `    ${head} {\n        ${body(head.includes('int i') ? 'i' : 'q')}${head.startsWith('while') ? ' ++q;' : ''}\n    } @`
      .replaceAll('@@', () => `// c${++count}`).replaceAll('@', () => `/* c${++count} */`);
    const text = `__global__ void k(const float *a, float *o, int n, int m, bool f) {\n    float s = 0.f;\n    int g = blockIdx.x * blockDim.x + threadIdx.x;\n    int q = 0;\n${numbered}\n    o[g] = s;\n}\n`;
    const transform = transforms.find(({ name }) => guard.startsWith(name));
    if (transform === undefined) throw new Error(`no transform for ${guard}`);
    const run = applyAll(transform, text, { evenIfItLoses: true });
    applied.set(guard, (applied.get(guard) ?? 0) + run.rounds);
    expect(comments(run.text)).toEqual(comments(text));
  });

  test('most of them were applied', () => {
    expect([...applied].filter(([, rounds]) => rounds < 4)).toEqual([]);
  });
});
