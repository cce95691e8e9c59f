/** No comment is lost, wherever in a branch it stands: it goes with its arm, behind it, or in front of the loop. */
import { beforeAll, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist as typed } from '../../transforms/hoist.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applyAll } from '../helpers/transform.js';

const hoist = typed as Transform;

beforeAll(async () => {
  await initParser();
});

/** A loop in which every `@` is a comment of its own. */
function loop(body: string): string {
  let count = 0;
  const text = body.replaceAll('@@', () => `// c${++count}`).replaceAll('@', () => `/* c${++count} */`);
  return `__global__ void k(const float *a, float *o, int n, int f) {\n    float t = 0;\n${text}\n    o[threadIdx.x] = t;\n}\n`;
}

test.each([
  ['an arm that only continues', `
    for (int i = 0; i < n; ++i) {
        @@
        if (!f) { @@
            @@
            continue; @@
        } @@
        @@
        t += a[i]; @@

        @@
        if (f @) t += 1; @@
    } @@`],
  ['an else of comments', `
    for (int i = 0; i < n; ++i @)
        @@
        if (f) @@
        {
            @@
            t += a[i]; @@
        } @@
        @@
        else { @@
            @
        } @@`],
  ['a chain with empty arms', `
    for (int i = 0; i < n; ++i) {
        if (f == 1) { @@
            @@
        } else if (f == 2) { @@
            t *= a[i];
        } @ else {
            @@
        } @@
    } @@`],
  ['a one-armed if behind work', `
    for (int i = 0; i < n; ++i) {
        t += a[i]; @@

        @@
        if (f) { @@
            t *= 2; @@
        } @@
    }`],
  ['a ?:', `
    for (int i = 0; i < n; ++i) {
        t += (f @ ? @ a[i] * a[i] * sinf(a[i]) @ : @ cosf(a[i]) * a[i] @); @@
    } @@`],
  ['a switch', `
    for (int i = 0; i < n; ++i) {
        switch (f) { @@
        @@
        case 0: @@
            t += a[i]; @@
            break; @@
        case 1: @ { @ t -= 1; @ break; @ } @@
        @@
        case 2:
            @@
            t *= 2;
            @@
            continue; @@
        default: @@
            @@
            break; @@
        @@
        } @@
    }`],
  ['a switch without default', `
    for (int i = 0; i < n; ++i) {
        t += 1; @@
        switch (f) {
        case 0: t += a[i]; break; @@
        case 4: @@
        case 5: @@
            break;
        } @@
    }`],
])('%s', (_name, body) => {
  const code = loop(body);
  const { text, rounds } = applyAll(hoist, code, { evenIfItLoses: true });
  expect(rounds).toBeGreaterThan(0);
  const marks = code.match(/\bc\d+\b/g) ?? [];
  expect(marks.filter((mark) => !new RegExp(`\\b${mark}\\b`).test(text))).toEqual([]);
});

test('no blank line is left in front of the brace where a branch went', () => {
  const { text } = applyAll(hoist, loop(`
    for (int i = 0; i < n; ++i) {
        t += a[i];

        if (f) {
            t *= 2;
        }
    }`), { evenIfItLoses: true });
  expect(text).not.toMatch(/\n\s*\n\s*\}/);
});
