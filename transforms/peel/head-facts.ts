/**
 * What holds of a counter wherever the test of its loop is taken.
 */
import { constant, subtract, symbolsOf, type Poly, type Sym } from '../lib/guards/polynomial.js';
import { integerType, variableKey, type Reader } from '../lib/guards/reading.js';
import type { Counter } from './counters.js';

/** The counter as a symbol of the reader's polynomials. */
export function symbolOf(reader: Reader, counter: Counter): Sym | null {
  const type = integerType(counter.variable.type);
  if (type === null) return null;
  const reading = reader.readVariable(counter.variable, type);
  return symbolsOf(reading.poly).find((sym) => sym.key === variableKey(counter.variable)) ?? null;
}

/** The counter never lies before its start: below zero, if its head gives one that can be read. */
export function entryFacts(reader: Reader, counter: Counter): readonly Poly[] {
  if (!counter.monotone || counter.start === null) return [];
  const start = reader.read(counter.start);
  const type = integerType(counter.variable.type);
  if (start === null || type === null) return [];
  const value = reader.convert(start, type, counter.start);
  if (value === null || !value.exact || value.assumed || (value.needs ?? []).length > 0) return [];
  const own = reader.readVariable(counter.variable, type).poly;
  const behind = counter.direction === 1 ? subtract(value.poly, own) : subtract(own, value.poly);
  return [subtract(behind, constant(1n))];
}
