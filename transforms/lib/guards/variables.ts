/**
 * What a name stands for: a constant, the counter, a value that stays while the loop runs, or what its only definition says.
 */
import { atLeast, type Variable } from '../../../src/analysis/facts.js';
import { convertRange } from '../../../src/analysis/ranges.js';
import { maximum, minimum, type IntegerType } from '../../../src/cuda/integers.js';
import type { Decl, Expr, MacroExpr, RefExpr } from '../../../src/syntax/tree.js';
import { whyNameless } from '../../../src/syntax/tree.js';
import { describeLoop } from '../loops.js';
import { mayBeUnset } from '../unset.js';
import { convert } from './conversions.js';
import { isPlainNumber, LARGEST_INT } from './differences.js';
import { innerCounter } from './inner-counters.js';
import { interval, isConstant, symbol, type Sym } from './polynomial.js';
import type { ReadingState } from './reading-state.js';
import { exactly, holdsTruth, integerType, isThreadsOwn, variableKey, type Reading } from './values.js';

/** A macro without parameters that stands for a number keeps its name; others are looked through, if nothing that other builds may change is behind them. */
export function macro(state: ReadingState, expr: MacroExpr): Reading | null {
  if (expr.definition.parameters === null && state.isFreeOfLaunch(expr.expanded)) {
    const value = state.facts.constant(expr.expanded);
    const named = value === null ? null : state.constants.macro(expr, value);
    if (named !== null) return named;
  }
  // Its text is replaced to the end, so that numbers in it may be other macros' values.
  if (state.constants.provenance(expr) === 'open') return state.fail(expr, `${expr.name} rests on what a build may define otherwise`, 'bound-exact');
  return state.read(expr.expanded);
}

/** Names of constants may be written anywhere; those of locals where they are visible. */
function namedConstant(state: ReadingState, expr: RefExpr, decl: Decl, value: bigint): Reading | null {
  if (decl.kind === 'enumerator') return state.constants.constant(expr, value);
  if (decl.kind !== 'variable' || !(decl.constexpr || decl.type.const === true) || decl.type.volatile === true) return null;
  const local = decl.storage === 'automatic' || state.isInFunction(decl);
  if (local && !state.visible.has(decl)) return null;
  // What it is made of says more than its name, if that may change.
  if (decl.init !== null && state.constants.provenance(decl.init) === 'open' && !state.following.has(decl)) {
    state.following.add(decl);
    const [type, made] = [integerType(decl.type), state.read(decl.init)];
    state.following.delete(decl);
    const kept = type === null || made === null ? null : convert(state, made, type, decl.init);
    if (kept !== null && isConstant(kept.poly)) return kept;
  }
  return state.constants.constant(expr, value);
}

export function reference(state: ReadingState, expr: RefExpr, value: bigint | null): Reading | null {
  const { decl } = expr;
  if (decl === null) return state.fail(expr, whyNameless(expr), 'types-known');
  const named = value === null ? null : namedConstant(state, expr, decl, value);
  if (named !== null) return named;
  if (decl.kind === 'template-parameter' && decl.sort === 'value') return templateValue(state, expr);
  if (decl.kind !== 'variable' && decl.kind !== 'parameter') return state.fail(expr, `${expr.name} is not a variable`, 'bound-exact');
  const type = integerType(decl.type);
  if (type === null) return state.fail(expr, `the type of ${expr.name} is not a known integer type`, 'types-known');
  if (decl === state.counter && state.since === null) return state.readVariable(decl, type);
  if (decl === state.counter) return state.fail(expr, `${expr.name} counts on after it was read`, 'operands-invariant');
  if (value === null && decl.kind === 'variable' && decl.constexpr) return state.fail(expr, `no single value of ${expr.name} is known here`, 'bound-exact');
  if (!isThreadsOwn(decl) || state.facts.addressTaken(decl)) return state.fail(expr, `${expr.name} is memory that may change`, 'operands-invariant');
  if (mayBeUnset(state.facts, expr)) return state.fail(expr, `${expr.name} may have no value yet, and is read under the loop's own tests only`, 'bound-exact');
  if (state.since !== null && !state.isUnchangedSince(decl, state.since)) return state.fail(expr, `${expr.name} may have changed since ${state.since.name} was computed from it`, 'operands-invariant');
  const inside = state.facts.assignments(decl, state.loop);
  if (inside.some((definition) => definition.kind !== 'declaration')) return innerCounter(state, expr, decl, type);
  const declaredInside = decl.span.start >= state.loop.span.start && decl.span.end <= state.loop.span.end && decl.file === state.facts.unit.source.realPath;
  if (!declaredInside && state.visible.has(decl)) {
    const scope = state.facts.scope(expr);
    if (state.lane) return state.named(fixed(state, expr, decl, type, scope.known && atLeast(scope.value, 'block') ? 'uniform' : 'own'), type, expr);
    if (scope.known && atLeast(scope.value, 'block')) state.note(scope);
    if (scope.known && atLeast(scope.value, 'block')) return exactly(symbol(fixed(state, expr, decl, type, 'uniform')), type);
  }
  const init = decl.kind === 'variable' && !decl.opaqueInit && state.isDefinedOnce(decl) ? decl.init : null;
  if (init !== null && !state.following.has(decl)) {
    state.following.add(decl);
    const before = state.failure;
    const { since } = state;
    if (!declaredInside) state.since = since ?? decl;
    const value = state.read(init);
    state.since = since;
    state.following.delete(decl);
    const converted = value === null || !holdsTruth(decl.type, value) ? null : convert(state, value, type, init);
    if (converted !== null) return converted;
    if (declaredInside || !state.visible.has(decl)) return null;
    state.failure = before;
  }
  if (declaredInside || !state.visible.has(decl)) return state.fail(expr, `${expr.name} has no single value that can be followed`, 'bound-exact');
  return exactly(symbol(fixed(state, expr, decl, type, 'own')), type);
}

/** `template <int R>`: one value in all threads, whatever it is. */
function templateValue(state: ReadingState, expr: RefExpr): Reading | null {
  const type = integerType(expr.type);
  if (type === null) return state.fail(expr, `the type of ${expr.name} is not a known integer type`, 'types-known');
  return state.constants.templateValue(expr, type) ?? state.fail(expr, `${expr.name} has no name here`, 'bound-exact');
}

/** A variable whose value right before the loop is its value all through it. */
function fixed(state: ReadingState, use: RefExpr, decl: Variable, type: IntegerType, role: 'uniform' | 'own'): Sym {
  let [low, high] = decl.type.kind === 'bool' ? [0n, 1n] : [minimum(type), maximum(type)];
  // The counter of a loop around this one stays above its start.
  const counts = countsUpAround(state, decl);
  const init = decl.kind === 'variable' && decl.init !== null && state.isDefinedOnce(decl) ? decl.init : null;
  const open = decl.kind === 'variable' && decl.init !== null && state.constants.provenance(decl.init) === 'open';
  const known = init === null ? null : open && decl.kind === 'variable' ? rangeForAllBuilds(state, decl, init) : state.facts.range(init);
  // An unsigned difference may be anything once it is an int.
  const range = init !== null ? (known === null ? null : convertRange(known, type)) : counts && !open ? state.facts.range(use) : null;
  if (low < 0n && init !== null && decl.kind === 'variable' && (range?.low ?? -1n) < 0n && holdsIndex(state, decl, init, type)) {
    low = 0n;
    state.leansOnIndexRange = true;
    state.indices.add(variableKey(decl));
  }
  if (range !== null) {
    if (range.low !== null && range.low > low && range.low <= high) low = range.low;
    // Tests between the loop and the use may bound it from above, which is not known in front of the loop.
    if (!counts && range.high !== null && range.high < high && range.high >= low) high = range.high;
  }
  const round = (low < 0n ? type.bits === 64 : high > LARGEST_INT) && !isPlain(state, decl, use);
  return state.intern({ key: variableKey(decl), role, text: decl.name, names: [{ kind: 'named', decl }], type, low, high, extent: null, ...(round ? { round: true as const } : {}) });
}

/** No difference gone round is in the variable's value. */
function isPlain(state: ReadingState, decl: Variable, use: RefExpr): boolean {
  const type = integerType(decl.type);
  return type !== null && isPlainNumber(state.facts, use, type);
}

/** Ranges rest on the values that constants have here; a reading does not. */
function rangeForAllBuilds(state: ReadingState, decl: Variable, init: Expr): { readonly low: bigint; readonly high: bigint } | null {
  if (state.following.has(decl)) return null;
  state.following.add(decl);
  const { failure } = state;
  const reading = state.read(init);
  state.failure = failure;
  state.following.delete(decl);
  return reading === null || !reading.exact || reading.assumed || (reading.needs ?? []).length > 0 ? null : interval(reading.poly);
}

/** The variable starts as a sum of products of coordinates, or of names that do. */
function holdsIndex(state: ReadingState, decl: Variable, init: Expr, type: IntegerType): boolean {
  if (state.following.has(decl)) return false;
  const { failure, since } = state;
  state.following.add(decl);
  state.since = since ?? decl;
  const value = state.read(init);
  state.following.delete(decl);
  state.since = since;
  state.failure = failure;
  return value !== null && state.isSumOfCoordinates(value.poly, type);
}

function countsUpAround(state: ReadingState, decl: Variable): boolean {
  return state.facts.loops(state.loop).some((outer) => {
    const induction = describeLoop(state.facts, outer);
    return induction.simple && induction.counter === decl && induction.step.kind === 'add' && induction.step.sign === 1;
  });
}
