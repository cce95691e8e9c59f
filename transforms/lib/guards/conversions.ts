/**
 * Conversions of C++ between what is read: a value in another type, and whether it is still the number that is meant. All steps are exact modulo
 * 2^bits; `exact` tells that nothing wrapped.
 */
import { maximum, promote, type IntegerType } from '../../../src/cuda/integers.js';
import type { Expr } from '../../../src/syntax/tree.js';
import { constant, interval, subtract, type Poly } from './polynomial.js';
import type { ReadingState } from './reading-state.js';
import { isCounted, isIndex, within, type Reading } from './values.js';

/** The value converted to `type`; widening a value that may have wrapped is read as if it had not, if it is made of coordinates. */
export function convert(state: ReadingState, reading: Reading, type: IntegerType, node: Expr): Reading | null {
  let { exact, assumed } = reading;
  let index = reading.index === true;
  const needs = [...reading.needs ?? []];
  if (type.bits > reading.type.bits && !exact) {
    // Only the far end is assumed away: below zero an unsigned number does wrap.
    if (!index || (!reading.type.signed && interval(reading.poly).low < 0n)) return state.fail(node, 'it may wrap around before it is converted to a wider type', 'guard-exact');
    exact = true;
    // An unsigned sum with a counter in it must be shown to stay in its type where it is compared.
    if (!isCounted(reading.poly) || reading.type.signed) assumed = true;
    else needs.push({ poly: subtract(reading.poly, constant(maximum(reading.type) + 1n)), index: false });
  }
  if (type.bits < 32 || type.bits < reading.type.bits || (type.signed !== reading.type.signed && !(exact && type.signed && type.bits > reading.type.bits))) {
    const before = exact;
    exact = exact && within(reading.poly, type);
    // Signed values come through a wider or unsigned type unharmed at their far end; all else must be an index in the type itself.
    index = !exact && ((reading.type.signed && !type.signed && type.bits >= reading.type.bits && (before || index)) || isIndex(reading.poly, type));
    if (type.bits < 32 && !exact) return state.fail(node, 'it may not fit the narrow type it is kept in', 'guard-exact');
  }
  return { poly: reading.poly, type, exact, index, assumed, needs };
}

export function promoted(state: ReadingState, expr: Expr): Reading | null {
  const reading = state.read(expr);
  return reading === null ? null : convert(state, reading, promote(reading.type), expr);
}

/** Signed arithmetic does not overflow (the program would be undefined); unsigned arithmetic is exact if its range says so. */
export function settle(reading: Reading): Reading {
  if (reading.type.signed) return reading;
  const exact = reading.exact && within(reading.poly, reading.type);
  return { ...reading, exact, index: !exact && isIndex(reading.poly, reading.type) };
}

/** `i << 5` with a sign is no multiplication where it leaves its type: bits go over the edge, and the program is defined. */
export function shifted(left: Reading, poly: Poly): Reading {
  if (!left.type.signed) return settle({ ...left, poly });
  const exact = left.exact && within(poly, left.type);
  return { ...left, poly, exact, index: !exact && (left.exact || left.index === true) && isIndex(poly, left.type) };
}
