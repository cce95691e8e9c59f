/** Which macros another build may set otherwise. */
import { beforeAll, expect, test } from '@jest/globals';
import { COMMAND_LINE } from '../../src/source/macros.js';
import { initParser } from '../../src/syntax/parser.js';
import { openRange, restsOnOpen } from '../../transforms/lib/guards/named-constants.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const TEXT = `#ifndef HEADER_H
#define HEADER_H
#define PLAIN 8
#ifndef KNOB
#define KNOB 8
#endif
#if !defined(OTHER) && PLAIN > 2
#define OTHER 4
#endif
#ifdef BIG
#define SIZE 64
#else
#define SIZE 32
#endif
#ifdef BIG
#define LONELY 1
#endif
#define TWICE (2 * KNOB)
#define FOUR_TIMES (2 * TWICE)
#define PLAIN_TWICE (2 * PLAIN)
#endif
__global__ void k(float *x) { x[0] = PLAIN; }
`;

test.each([
  ['PLAIN', false], ['PLAIN_TWICE', false], ['KNOB', true], ['OTHER', true], ['SIZE', true], ['LONELY', true], ['TWICE', true], ['FOUR_TIMES', true],
])('%s may be set otherwise: %s', (name, expected) => {
  const { unit, program } = load(TEXT);
  const macro = unit.macros.get(name);
  expect(macro).toBeDefined();
  if (macro !== undefined) expect(restsOnOpen(macro, unit, program)).toBe(expected);
});

test('what the command line defines may be set otherwise', () => {
  const { unit, program } = load(TEXT);
  const macro = unit.macros.get('PLAIN');
  expect(macro).toBeDefined();
  if (macro !== undefined) expect(restsOnOpen({ ...macro, file: COMMAND_LINE }, unit, program)).toBe(true);
});

test('only counts are taken to stay counts', () => {
  expect(openRange([8n])).toEqual({ low: 1n, high: 32767n });
  for (const values of [[], [0n], [-1n], [40_000n], [1n, 0n]]) expect(openRange(values)).toBeNull();
});
