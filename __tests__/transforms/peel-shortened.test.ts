/**
 * Loops that peel shortens: few iterations, tests beside the guard that always or never hold, in every form and at every place. Whatever of it met, the text
 * names nothing undeclared, leaves the memory that the loop left, and is not treated a second time.
 */
import { beforeAll, expect, test } from '@jest/globals';
import { walk } from '../../src/analysis/children.js';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { peel } from '../../transforms/peel.js';
import { applyAll, load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const HEADS: readonly string[] = [
  'int i = 0; i < n; ++i', 'int i = 0; i < n; i += 2', 'int i = 0; i < 2; i += 3', 'int i = 1; i < 3; i++', 'int i = 0; i < 3; ++i', 'int i = 2; i < 0; ++i',
  'long long i = 0; i < n; i += 4', 'int i = 0, p = 3; i < n; ++i, ++p', 'int i = n - 1; i >= 0; --i', 'int i = -1; i <= 1; i += 3', 'unsigned i = 0; i < n; i += 3', 'int i = -2; i < 3; ++i',
];
const BODIES: readonly string[] = [
  '{ if (i < n && i == 0) A }', '{ if (i >= n) s += 3; else if (i < 2) A }', '{ if (i < n) { if (i < 1) A } }', '{ if (i >= 0) { if (i == 1) { A } else s *= 5; } }', '{ if (i > 0) A else { float i = 2.f; s += (int)i; } }',
  '{ s *= 3; if (i + t < n && i >= 0) A }', '{ { if (i != 1 && i < n) A } s -= 3; }', '{ if (i + t >= 0 && i + t < n) { if (i == 0) A } }', 'if (i == 0) A else s *= 7;',
];
const PLACES: readonly ((loop: string) => string)[] = [
  (loop) => loop, (loop) => `int i = 7;\n    ${loop}\n    s += i;`, (loop) => `${loop}\n    ${loop}`, (loop) => `if (m > 1)\n        ${loop}\n    else\n        s += 5;`,
  (loop) => `if (m > 2)\n        s += 9;\n    else\n        ${loop}`, (loop) => `switch (m) { case 1: ${loop} break; default: s += 4; }`, (loop) => `for (int z = 0; z < 2; ++z) ${loop}`, (loop) => `for (int i = 0; i < 2; ++i) ${loop}`,
  (loop) => `if (n > 1) { ${loop} } else { ${loop} }`,
];

const kernel = (loop: string): string => `__global__ void kern(const int *a, int *o, int n) {
    int t = threadIdx.x;
    int m = n % 4;
    int s = 1;
    ${loop}
    o[blockIdx.x * blockDim.x + t] = s;
}
`;

/** References of the text that no declaration explains. */
function unexplained(text: string): readonly string[] {
  const names: string[] = [];
  for (const { body } of load(text).unit.functions) if (body !== null) walk(body, (node) => { if (node.kind === 'ref' && node.decl === null) names.push(node.name); });
  return names;
}

test('no name is lost, no value is another, nothing is done twice', () => {
  let edits = 0;
  let equal = 0;
  let treated = 0;
  for (const [h, head] of HEADS.entries()) {
    for (const [b, body] of BODIES.entries()) {
      // Each pair at two places, so that in all every form stands at every one.
      for (const place of [PLACES[(h + b) % PLACES.length], PLACES[(h * 4 + b * 2 + 3) % PLACES.length]]) {
        if (place === undefined) continue;
        const before = kernel(place(`for (${head}) ${body.replaceAll('A', 's += a[i + 2] * (i + 1);')}`));
        // It throws where it does not come to an end.
        const run = applyAll(peel, before, { evenIfItLoses: true });
        if (run.rounds === 0) continue;
        treated++;
        edits += run.rounds;
        expect([before, unexplained(run.text).filter((name) => !['min', 'max'].includes(name))]).toEqual([before, []]);
        expect(run.text.split('Interior:').length).toBeLessThanOrEqual(1 + 2 * (before.split('for (').length - 1));
        expect(run.last.flatMap(({ obligations }) => obligations.filter(({ id, status }) => id === 'head-declared' && status !== 'proved'))).toEqual([]);
        const verdict = verifyEquivalent(load(before).program, load(run.text).program, 'kern', { budgetMs: 60, blocks: [[5, 1, 1]], grids: [[2, 1, 1]], sizes: [3, 0, 1, 9, 2] });
        if (verdict.status === 'different') throw new Error(`${verdict.counterexample.differences.join('; ')}\n${before}\n${run.text}`);
        if (verdict.status === 'equal') equal++;
      }
    }
  }
  expect(treated).toBeGreaterThan(120);
  expect(edits).toBeGreaterThan(200);
  expect(equal).toBeGreaterThan(0.8 * treated);
}, 240_000);
