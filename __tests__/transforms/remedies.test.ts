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
