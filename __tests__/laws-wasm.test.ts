/**
 * Law 11: the WebAssembly parser gives what the native one gives. Every fixture is run once more with it, in a module registry of its
 * own, since a program has one parser.
 */
import { beforeAll, describe as group, expect, test } from '@jest/globals';
import { initParser } from '../src/syntax/parser.js';
import { transforms } from '../transforms/index.js';
import { fixturesOf } from './helpers/fixtures.js';
import { applyAll } from './helpers/transform.js';

beforeAll(async () => {
  process.env['DIVMOD_PARSER'] = 'wasm';
  const parser = await initParser();
  expect(parser.kind).toBe('wasm');
});

for (const transform of transforms) {
  group(`law 11: ${transform.name}`, () => {
    test.each(fixturesOf(transform.name).map((fixture) => [fixture.name, fixture] as const))('%s', (_name, fixture) => {
      expect(applyAll(transform, fixture.text, fixture.options).text).toBe(fixture.expected ?? fixture.text);
    });
  });
}
