/** What the cases in fixtures/cases say of built-in transforms: applied where they say so, never applied where they refuse. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { findTransform, transforms } from '../../transforms/index.js';
import { refusals } from '../../transforms/lib/framework.js';
import { describe as describeOutcomes, load, outcomesOf } from '../helpers/transform.js';

interface Expected {
  readonly transform: string;
  readonly builtIn: boolean;
  readonly line: number;
  readonly verdict: 'apply' | 'refuse' | 'either';
  readonly why: string;
}

const folder = path.join(process.cwd(), 'fixtures/cases');
const cases = readdirSync(folder).filter((name) => name.endsWith('.expect.json')).map((name) => ({
  name: name.replace('.expect.json', ''),
  expected: (JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as { transforms: Expected[] }).transforms
    .filter((t) => t.builtIn && (t.transform === 'any' || findTransform(t.transform) !== null)),
})).filter(({ expected }) => expected.length > 0);

beforeAll(async () => {
  await initParser();
});

describe.each(cases)('$name', ({ name, expected }) => {
  const text = readFileSync(path.join(folder, `${name}.cu`), 'utf8').replace(/^\uFEFF/, '');

  test.each(expected.map((e) => ({ ...e, title: `${e.transform} on line ${e.line}: ${e.verdict}` })))('$title', ({ transform, line, verdict, why }) => {
    const asked = transform === 'any' ? transforms : [findTransform(transform)].filter((t) => t !== null);
    for (const one of asked) {
      const loaded = load(text);
      const position = (offset: number): number => loaded.unit.source.line(offset);
      const outcomes = outcomesOf(one, loaded).filter(({ site }) => site.line === line || (transform !== 'any' && position(site.node.span.start) === line));
      const applied = outcomes.filter((outcome) => outcome.status === 'applied');
      if (verdict === 'apply' && applied.length === 0) throw new Error(`${one.name} should apply (${why}):\n${describeOutcomes(outcomes)}`);
      if (verdict === 'refuse') {
        expect(applied.map((outcome) => outcome.site.summary)).toEqual([]);
        for (const outcome of outcomes) expect(outcome.status === 'skipped' || refusals(outcome).length > 0).toBe(true);
      }
    }
  });
});
