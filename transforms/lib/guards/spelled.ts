/**
 * Expressions that keep their text: one value in the block (or the lane's own), which may be written as it stands in front of the loop. No load,
 * no call, no fault is in them.
 */
import { isStmt, walk } from '../../../src/analysis/children.js';
import { atLeast, type Variable } from '../../../src/analysis/facts.js';
import { maximum, minimum, type IntegerType } from '../../../src/cuda/integers.js';
import type { Expr, RefExpr } from '../../../src/syntax/tree.js';
import { bindingOf } from '../operands.js';
import { mayBeUnset } from '../unset.js';
import { isPlainNumber } from './differences.js';
import { interval, symbol, type Sym } from './polynomial.js';
import type { ReadingState } from './reading-state.js';
import { exactly, integerType, isThreadsOwn, type Reading } from './values.js';

/** An expression that is one value in the block and may be written as it stands before the loop: no load, no call, no fault. */
export function whole(state: ReadingState, expr: Expr): Reading | null {
  const type = integerType(expr.type);
  if (type === null) return state.fail(expr, 'its type is not a known integer type', 'types-known');
  let simple = true;
  walk(expr, (node) => {
    if (!simple) return false;
    if (isStmt(node)) simple = false;
    else if (node.kind === 'macro' && node.definition.parameters === null && state.isFreeOfLaunch(node.expanded) && state.facts.constant(node.expanded) !== null) return false;
    else if (node.kind === 'ref') simple = isFixedName(state, node);
    else if (node.kind === 'member') {
      simple = !node.arrow && node.field !== null && node.field.type.kind === 'int' && isFixedObject(state, node.object);
      return false;
    } else if (node.kind === 'binary') {
      if (node.op === '/' || node.op === '%') simple = isPositive(state, node.right);
      else if (node.op === '<<' || node.op === '>>') simple = isShift(state, node.right);
      else simple = ['+', '-', '*', '&', '|', '^'].includes(node.op);
    } else if (node.kind === 'call') {
      simple = node.callee.kind === 'builtin' && (node.callee.name === 'min' || node.callee.name === 'max');
    } else if (node.kind === 'unary') {
      simple = node.op !== '*' && node.op !== '&';
    } else {
      simple = node.kind === 'literal' || node.kind === 'coordinate' || node.kind === 'paren' || node.kind === 'cast' || node.kind === 'sizeof';
    }
    return simple;
  });
  const value = simple && state.isFreeOfLaunch(expr) ? state.facts.constant(expr) : null;
  // Without parameters and coordinates it is known when the program is compiled.
  if (value !== null && !state.isMadeElsewhere(expr)) return state.constants.spelled(expr, state.textOf(expr), value, rangeOfQuotient(state, expr));
  const scope = simple ? state.facts.scope(expr) : null;
  if (state.lane && simple && !state.isMadeElsewhere(expr)) return state.named(spelled(state, expr, type, scope !== null && scope.known && atLeast(scope.value, 'block') ? 'uniform' : 'own'), type, expr);
  if (scope === null || !scope.known || !atLeast(scope.value, 'block') || state.isMadeElsewhere(expr)) {
    return state.fail(expr, 'it cannot be written in front of the loop as one value of the block', 'bound-exact');
  }
  state.note(scope);
  return exactly(symbol(spelled(state, expr, type, 'uniform')), type);
}

/** A divisor that is above zero in every build; its sign may be stated (`stated`). */
function isPositive(state: ReadingState, expr: Expr): boolean {
  const value = state.facts.constant(expr);
  if (value === null || value <= 0n) return false;
  if (state.constants.provenance(expr) !== 'open') return true;
  const reading = state.read(expr);
  return reading !== null && interval(reading.poly).low > 0n;
}

/** Bounds of `a / b` of constants for all values of the names in them. */
function rangeOfQuotient(state: ReadingState, expr: Expr): { readonly low: bigint; readonly high: bigint } | null {
  if (expr.kind !== 'binary' || expr.op !== '/') return null;
  const [left, right] = [state.read(expr.left), state.read(expr.right)];
  if (left === null || right === null || !left.exact || !right.exact) return null;
  const [over, under] = [interval(left.poly), interval(right.poly)];
  return over.low < 0n || under.low < 1n ? null : { low: over.low / under.high, high: over.high / under.low };
}

/** Nothing but constants with names that may be written in front of the loop. */
export function mayBeSpelled(state: ReadingState, expr: Expr): boolean {
  let all = true;
  walk(expr, (node) => {
    if (!all || isStmt(node)) return all = false;
    if (node.kind === 'macro') return false;
    if (node.kind === 'ref') all = node.decl !== null && (node.decl.kind === 'enumerator' || node.decl.kind === 'template-parameter' || (node.decl.kind === 'variable' && (state.visible.has(node.decl) || !state.isInFunction(node.decl))));
    else if (node.kind === 'assign' || node.kind === 'update' || node.kind === 'lambda') all = false;
    return all;
  });
  return all;
}

function spelled(state: ReadingState, expr: Expr, type: IntegerType, role: 'uniform' | 'own'): Sym {
  const text = state.textOf(expr);
  const round = (!type.signed || type.bits === 64) && !isPlainNumber(state.facts, expr, type);
  return state.intern({ key: `text:${text}${state.constants.namedIn(expr)}`, role, text, names: [{ kind: 'copied', node: expr }], binding: bindingOf(expr), type, ...rangeOfSpelled(state, expr, type), extent: null, ...(round ? { round: true as const } : {}) });
}

/** `x & 31` and `x % 32` say where they lie; other builds change neither number. */
function rangeOfSpelled(state: ReadingState, expr: Expr, type: IntegerType): { readonly low: bigint; readonly high: bigint } {
  const whole = { low: minimum(type), high: maximum(type) };
  if (expr.kind !== 'binary' || (expr.op !== '&' && expr.op !== '%')) return whole;
  const sizes = (expr.op === '&' ? [expr.left, expr.right] : [expr.right]).flatMap((side) => {
    const value = state.constants.provenance(side) === 'literal' ? state.facts.constant(side) : null;
    return value !== null && value >= 0n && value <= whole.high ? [value] : [];
  });
  const [size] = sizes;
  if (size === undefined) return whole;
  if (expr.op === '&') return { low: 0n, high: size };
  return size < 1n ? whole : { low: type.signed ? 1n - size : 0n, high: size - 1n };
}

function isShift(state: ReadingState, amount: Expr): boolean {
  const value = state.facts.constant(amount);
  return value !== null && value >= 0n && value < 32n;
}

function isFixedName(state: ReadingState, node: RefExpr): boolean {
  const { decl } = node;
  if (decl === null) return false;
  if (state.facts.constant(node) !== null) return true;
  if (decl.kind !== 'variable' && decl.kind !== 'parameter') return false;
  return isFixedVariable(state, decl) && integerType(decl.type) !== null && !mayBeUnset(state.facts, node);
}

function isFixedVariable(state: ReadingState, decl: Variable): boolean {
  if (state.since !== null && !state.isUnchangedSince(decl, state.since)) return false;
  return state.visible.has(decl) && isThreadsOwn(decl) && !state.facts.addressTaken(decl) && state.facts.assignments(decl, state.loop).length === 0;
}

/** `p` in `p.n`: a parameter or local object passed by value that the loop does not assign. */
function isFixedObject(state: ReadingState, object: Expr): boolean {
  const inner = object.kind === 'paren' ? object.inner : object;
  if (inner.kind === 'member') return !inner.arrow && isFixedObject(state, inner.object);
  return inner.kind === 'ref' && inner.decl !== null && inner.decl.kind === 'parameter' && inner.decl.type.kind === 'record' && isFixedVariable(state, inner.decl);
}
