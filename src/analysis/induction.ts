/**
 * Steps of counters, and the interval that a counter stays in.
 *
 * A step adds, subtracts, multiplies, divides or shifts the variable by something. If all steps go one way, the variable stays on one side
 * of where it starts. On the other side the condition of the loop holds it: in the body of a `for` whose only step stands in its head, the condition is
 * true; elsewhere it may be one step beyond. A counter that could step past the end of its type has the range of its type, unless the step is
 * computed in its own signed type, where that is undefined: `i += blockDim.x` adds as unsigned and goes on below zero.
 *
 * Not handled: two steps in one iteration, conditions other than a comparison of the counter itself, `!=`.
 */
import { commonType, fits, maximum, minimum, promote, type IntegerType } from '../cuda/integers.js';
import type { Expr, RefExpr, Stmt } from '../syntax/tree.js';
import { strip } from './children.js';
import type { Env } from './env.js';
import type { Loop, Range, Variable } from './facts.js';
import { integerType } from './integer-values.js';

export interface StepWrite {
  readonly node: Expr;
  readonly op: '+' | '-' | '*' | '/' | '<<' | '>>';
  /** Null stands for one (`++`). */
  readonly amount: Expr | null;
}

const STEPS: ReadonlySet<string> = new Set(['+', '-', '*', '/', '<<', '>>']);

function isStepOperator(op: string): op is StepWrite['op'] {
  return STEPS.has(op);
}

function isVariable(expr: Expr, decl: Variable): boolean {
  const inner = strip(expr);
  return inner.kind === 'ref' && inner.decl === decl;
}

/** The step that an assignment of the variable makes; null if it sets a new value. */
export function stepOf(node: Expr | Stmt, decl: Variable): StepWrite | null {
  if (node.kind === 'update') return { node, op: node.op === '++' ? '+' : '-', amount: null };
  if (node.kind !== 'assign' || !isVariable(node.target, decl)) return null;
  if (node.op !== null) return isStepOperator(node.op) ? { node, op: node.op, amount: node.value } : null;
  const value = strip(node.value);
  if (value.kind !== 'binary' || !isStepOperator(value.op)) return null;
  if (isVariable(value.left, decl)) return { node, op: value.op, amount: value.right };
  return (value.op === '+' || value.op === '*') && isVariable(value.right, decl) ? { node, op: value.op, amount: value.left } : null;
}

/** A conjunct of a condition that holds a variable on one side. `strict` leaves out the bound itself. */
export interface Limit { readonly upper: boolean; readonly strict: boolean; readonly bound: Expr }

/** Comparisons of the variable among the conjuncts of a condition. */
export function limitsOf(condition: Expr, decl: Variable): Limit[] {
  const inner = strip(condition);
  if (inner.kind !== 'binary') return [];
  if (inner.op === '&&') return [...limitsOf(inner.left, decl), ...limitsOf(inner.right, decl)];
  const { op } = inner;
  if (op !== '<' && op !== '<=' && op !== '>' && op !== '>=') return [];
  const strict = op === '<' || op === '>';
  const less = op === '<' || op === '<=';
  if (isVariable(inner.left, decl)) return [{ upper: less, strict, bound: inner.right }];
  return isVariable(inner.right, decl) ? [{ upper: !less, strict, bound: inner.left }] : [];
}

type Direction = 'up' | 'down' | null;

function directionOf(step: StepWrite, rangeOf: (expr: Expr) => Range, nonNegative: boolean): Direction {
  const amount: Range = step.amount === null ? { low: 1n, high: 1n } : rangeOf(step.amount);
  if (amount.low === null || amount.high === null) return null;
  switch (step.op) {
    case '+': return amount.low >= 0n ? 'up' : amount.high <= 0n ? 'down' : null;
    case '-': return amount.low >= 0n ? 'down' : amount.high <= 0n ? 'up' : null;
    case '*': return nonNegative && amount.low >= 1n ? 'up' : null;
    case '<<': return nonNegative && amount.low >= 0n ? 'up' : null;
    case '/': return nonNegative && amount.low >= 1n ? 'down' : null;
    case '>>': return nonNegative && amount.low >= 0n ? 'down' : null;
  }
}

/** One step beyond a value. */
function advance(value: bigint, step: StepWrite, rangeOf: (expr: Expr) => Range): bigint | null {
  const amount: Range = step.amount === null ? { low: 1n, high: 1n } : rangeOf(step.amount);
  if (amount.low === null || amount.high === null) return null;
  switch (step.op) {
    case '+': return value + (amount.high > 0n ? amount.high : amount.low);
    case '-': return value - (amount.high > 0n ? amount.high : amount.low);
    case '*': return value * amount.high;
    case '<<': return amount.high > 63n ? null : value << amount.high;
    case '/': case '>>': return 0n;
  }
}

/** The step is computed in the counter's own signed type; a narrower, an unsigned and a wider one are converted back, which is defined. */
export function overflowIsUndefined(step: StepWrite, type: IntegerType): boolean {
  const own = promote(type);
  if (!type.signed || own.bits !== type.bits) return false;
  if (step.op === '<<' || step.op === '>>' || step.amount === null) return true;
  const amount = integerType(step.amount.type);
  if (amount === null) return false;
  const common = commonType(own, amount);
  return common.signed && common.bits === type.bits;
}

export function inductionRange(use: RefExpr, decl: Variable, type: IntegerType, base: Range, steps: readonly StepWrite[], env: Env, rangeOf: (expr: Expr) => Range): Range {
  const whole: Range = { low: type.signed ? -(1n << BigInt(type.bits - 1)) : 0n, high: (1n << BigInt(type.signed ? type.bits - 1 : type.bits)) - 1n };
  if (base.low === null || base.high === null) return whole;
  const directions = new Set(steps.map((step) => directionOf(step, rangeOf, base.low !== null && base.low >= 0n)));
  const direction = directions.size === 1 ? [...directions][0] ?? null : null;
  if (direction === null) return whole;
  // Division and shifting towards zero stop there.
  const shrinking = steps.every((step) => step.op === '/' || step.op === '>>');
  if (direction === 'down' && shrinking) {
    const inside = limitInBody(use, decl, 'down', env, rangeOf);
    return { low: inside !== null && inside > 0n ? inside : 0n, high: base.high };
  }
  const inside = limitInBody(use, decl, direction, env, rangeOf);
  const beyond = limitAnywhere(decl, direction, steps, env, rangeOf);
  const safe = steps.every((step) => overflowIsUndefined(step, type)) || (beyond !== null && fits(beyond, type));
  if (!safe) return whole;
  if (direction === 'up') {
    let high = beyond === null ? whole.high : beyond > base.high ? beyond : base.high;
    if (inside !== null && high !== null && inside < high) high = inside;
    if (high !== null && whole.high !== null && high > whole.high) high = whole.high;
    return high !== null && high < base.low ? whole : { low: base.low, high };
  }
  let low = beyond === null ? whole.low : beyond < base.low ? beyond : base.low;
  if (inside !== null && low !== null && inside > low) low = inside;
  if (low !== null && whole.low !== null && low < whole.low) low = whole.low;
  return low !== null && low > base.high ? whole : { low, high: base.high };
}

/** The bound that the head of a loop around the use guarantees in its body. */
function limitInBody(use: RefExpr, decl: Variable, direction: 'up' | 'down', env: Env, rangeOf: (expr: Expr) => Range): bigint | null {
  for (const loop of env.loops(use)) {
    if (loop.kind !== 'for' || loop.condition === null || !isInBody(use, loop, env)) continue;
    if (env.assignments(decl, loop.body).length > 0) continue;
    const found = limitOf(loop.condition, decl, direction, rangeOf);
    if (found !== null) return found;
  }
  return null;
}

/** How far the counter can get at all: each step must stand in a loop that tests the counter once before it. */
function limitAnywhere(decl: Variable, direction: 'up' | 'down', steps: readonly StepWrite[], env: Env, rangeOf: (expr: Expr) => Range): bigint | null {
  let farthest: bigint | null = null;
  for (const step of steps) {
    const loop = env.loops(step.node)[0];
    if (loop === undefined || loop.kind === 'range-for' || loop.kind === 'do' || loop.condition === null) return null;
    if (env.assignments(decl, loop.body).length + (loop.kind === 'for' && loop.step !== null ? env.assignments(decl, loop.step).length : 0) !== 1) return null;
    const limit = limitOf(loop.condition, decl, direction, rangeOf);
    const end = limit === null ? null : advance(limit, step, rangeOf);
    if (end === null) return null;
    farthest = farthest === null ? end : direction === 'up' ? (end > farthest ? end : farthest) : end < farthest ? end : farthest;
  }
  return farthest;
}

/** The farthest value of the variable, in mathematical integers, for which the condition may hold; null if it sets no limit in that direction. */
export function limitOf(condition: Expr, decl: Variable, direction: 'up' | 'down', rangeOf: (expr: Expr) => Range): bigint | null {
  let best: bigint | null = null;
  for (const limit of limitsOf(condition, decl)) {
    if (limit.upper !== (direction === 'up')) continue;
    const own = integerType(decl.type);
    const other = integerType(limit.bound.type);
    if (own === null || other === null) continue;
    const common = commonType(own, other);
    // Compared as unsigned, a negative counter is a large one: that bounds it from above only.
    if (direction === 'down' && own.signed && !common.signed) continue;
    const exact = rangeOf(limit.bound);
    const range = exact.low !== null && exact.high !== null && fits(exact.low, common) && fits(exact.high, common) ? exact : { low: minimum(common), high: maximum(common) };
    const edge = direction === 'up' ? range.high : range.low;
    if (edge === null) continue;
    const value = limit.strict ? (direction === 'up' ? edge - 1n : edge + 1n) : edge;
    if (best === null || (direction === 'up' ? value < best : value > best)) best = value;
  }
  return best;
}

function isInBody(use: Expr, loop: Loop, env: Env): boolean {
  for (let node: Stmt | Expr | null = use; node !== null; node = env.parent(node)) {
    const above: Stmt | Expr | null = env.parent(node);
    if (above === loop) return node === loop.body;
  }
  return false;
}
