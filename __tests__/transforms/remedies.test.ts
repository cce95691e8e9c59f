/** A refusal says what would help. */
import { beforeAll, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { refusals } from '../../transforms/lib/framework.js';
import { hoist } from '../../transforms/hoist.js';
import { peel } from '../../transforms/peel.js';
import { fixturesOf } from '../helpers/fixtures.js';
import { load, outcomesOf } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

test.each([hoist, peel])('every refusal of a fixture of $name has a remedy', (transform) => {
  const bare = fixturesOf(transform.name).flatMap((fixture) => outcomesOf(transform, load(fixture.text)).flatMap((outcome) =>
    refusals(outcome).filter((obligation) => obligation.remedy === null).map((obligation) => `${fixture.name}: ${obligation.id}: ${obligation.text}`)));
  expect(bare).toEqual([]);
});

test.each([
  ['the counter', 'if (i < m) t += a[i]; else t--;', "i has another value in each iteration: it is the loop's own counter", /leave the test to peel/],
  ['a value that could stand in front', 'int q = m * 2; if (q > 3) t += a[i]; else t--;', 'q is declared in the loop', /^declare q in front of the loop/],
  ['a value of the iteration', 'int q = a[i]; if (q > 3) t += a[i]; else t--;', 'q is made anew in each iteration', /^leave the test where it is/],
  ['a value that changes on the way', 'int q = m; q += i; if (q > 3) t += a[i]; else t--;', 'q is made anew in each iteration', /^leave the test where it is/],
])('hoist says of a test of %s what would help there', (_, body, text, remedy) => {
  const [outcome] = outcomesOf(hoist, load(`__global__ void k(const int *a, int *o, int n, int m) {
    int t = 0;
    for (int i = 0; i < n; i++) { ${body} }
    o[threadIdx.x] = t;
}
`));
  const found = outcome === undefined ? undefined : refusals(outcome).find(({ id }) => id === 'condition-invariant');
  expect(found?.text).toBe(text);
  expect(found?.remedy).toMatch(remedy);
});
