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

/** The counter's value on entry; null if it is not known, or not surely the number that is meant. */
export function entryValue(reader: Reader, counter: Counter): Poly | null {
  const type = integerType(counter.variable.type);
  const start = counter.start === null ? null : reader.read(counter.start);
  if (start === null || type === null || counter.start === null) return null;
  const value = reader.convert(start, type, counter.start);
  return value === null || !value.exact || value.assumed || (value.needs ?? []).length > 0 ? null : value.poly;
}

/** The counter never lies before its start: below zero, if that is known. */
export function entryFacts(reader: Reader, counter: Counter): readonly Poly[] {
  const type = integerType(counter.variable.type);
  const value = counter.monotone ? entryValue(reader, counter) : null;
  if (value === null || type === null) return [];
  const own = reader.readVariable(counter.variable, type).poly;
  const behind = counter.direction === 1 ? subtract(value, own) : subtract(own, value);
  return [subtract(behind, constant(1n))];
}
