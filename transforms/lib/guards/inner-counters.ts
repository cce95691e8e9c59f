/**
 * Counters of loops inside the one that is read for: values between a start and a bound.
 */
import type { Loop, Variable } from '../../../src/analysis/facts.js';
import { commonType, fits, maximum, minimum, type IntegerType } from '../../../src/cuda/integers.js';
import type { Expr, RefExpr } from '../../../src/syntax/tree.js';
import { describeLoop } from '../loops.js';
import { convert } from './conversions.js';
import { isPlainNumber } from './differences.js';
import { passingOf } from './ends.js';
import { add, constant, interval, subtract, symbol } from './polynomial.js';
import type { ReadingState } from './reading-state.js';
import { exactly, variableKey, within, type Reading } from './values.js';

/** The counter of a loop inside this one that stands around the use. */
export function innerCounter(state: ReadingState, expr: RefExpr, decl: Variable, type: IntegerType): Reading | null {
  const key = variableKey(decl);
  const known = state.symbols.get(key);
  if (known !== undefined) return exactly(symbol(known), type);
  for (const inner of state.facts.loops(expr)) {
    // Without a counter of its own the loop is one of the nest.
    if (inner === state.loop && state.counter !== null) break;
    const value = innerLoop(state, inner, decl, type, key);
    if (value === 'passes') return state.fail(expr, `${expr.name} may pass the end of its type and go on at the other`, 'guard-exact');
    if (value !== null) return value;
    if (inner === state.loop) break;
  }
  return state.fail(expr, `${expr.name} changes while the loop runs`, 'operands-invariant');
}

function innerLoop(state: ReadingState, inner: Loop, decl: Variable, type: IntegerType, key: string): Reading | 'passes' | null {
  const induction = describeLoop(state.facts, inner);
  if (!induction.simple || induction.counter !== decl || induction.start === null || induction.step.kind !== 'add' || !induction.testedOnEntry) return null;
  if (!induction.boundInvariant.value || induction.comparison === '!=') return null;
  const start = state.read(induction.start);
  const bound = state.read(induction.bound);
  const common = bound === null ? null : convert(state, bound, commonType(type, bound.type), induction.bound);
  const first = start === null ? null : convert(state, start, type, induction.start);
  if (start === null || bound === null || first === null || !first.exact || common === null || !common.exact) return null;
  if ((first.needs ?? []).length + (common.needs ?? []).length > 0) return null;
  const amount = isOpenStep(state, induction.step.amount) ? null : induction.step.constant ?? (induction.step.amount === null ? 1n : null);
  const positive = amount !== null ? amount > 0n && fits(amount, type) : growsBy(state, induction.step.amount, type);
  const up = induction.step.sign === 1;
  if (!positive || up !== (induction.comparison === '<' || induction.comparison === '<=')) return null;
  // Compared without a sign, numbers below zero are above every bound.
  if (!up && type.signed && !common.type.signed) return null;
  const passing = passingOf(state.facts, inner, decl, [induction.step.node], up ? 1 : -1);
  if (passing === 'may') return 'passes';
  if (first.assumed || common.assumed || passing === 'index') state.leansOnIndexRange = true;
  const last = induction.comparison === '<' ? subtract(bound.poly, constant(1n)) : induction.comparison === '>' ? add(bound.poly, constant(1n)) : bound.poly;
  const [low, high] = up ? [start.poly, last] : [last, start.poly];
  const [lowest, highest] = [interval(low).low, interval(high).high];
  return exactly(symbol(state.intern({
    key, role: 'inner', text: decl.name, names: [], type, extent: { low, high }, ...(up ? { rises: true as const } : {}), ...(up && isPlainNumber(state.facts, induction.start, type) ? {} : { round: true as const }),
    low: fits(lowest, type) ? lowest : minimum(type), high: fits(highest, type) ? highest : maximum(type),
  })), type);
}

function isOpenStep(state: ReadingState, amount: Expr | null): boolean {
  return amount !== null && state.constants.provenance(amount) === 'open';
}

function growsBy(state: ReadingState, amount: Expr | null, type: IntegerType): boolean {
  if (amount === null) return true;
  const reading = state.read(amount);
  return reading !== null && reading.exact && interval(reading.poly).low > 0n && within(reading.poly, type);
}
