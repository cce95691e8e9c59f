/**
 * How often a loop runs, for cost estimates only: no proof may rest on it.
 *
 * In this order: `// divmod: trip=64`, `--assume trip@LINE=64`, the count that constant start, bound and step give, the same with what all
 * launches pass for a parameter, else a stated default. A loop that may be left early has at most its count: half of it is assumed.
 *
 * Not handled: bounds in memory, and loops whose counter is stepped in several places.
 */
import type { Expr, RangeForStmt, RefExpr, Stmt } from '../syntax/tree.js';
import { annotationValue } from './annotations.js';
import { strip } from './children.js';
import { constantOf } from './constants.js';
import type { Env } from './env.js';
import type { Loop, Variable } from './facts.js';
import { indexFunction, isAutomatic } from './function-index.js';
import { limitsOf, stepOf, type Limit, type StepWrite } from './induction.js';
import { evaluate, integerType, single, type Values } from './integer-values.js';
import { argumentValues } from './launch-facts.js';
import { convertRange, rangeOf } from './ranges.js';

export interface Trips {
  readonly count: number;
  readonly origin: 'constant' | 'annotation' | 'assumed';
}

export const DEFAULT_TRIPS = 16;
const MAX_STEPS = 4096;

const memo = new WeakMap<Env, Map<Loop, Trips>>();

export function tripsOf(loop: Loop, env: Env): Trips {
  let perEnv = memo.get(env);
  if (perEnv === undefined) memo.set(env, perEnv = new Map());
  const known = perEnv.get(loop);
  if (known !== undefined) return known;
  const made = compute(loop, env);
  perEnv.set(loop, made);
  return made;
}

function compute(loop: Loop, env: Env): Trips {
  const { source } = env.unit;
  const line = source.line(loop.span.start);
  const stated = annotationValue(source, line, 'trip') ?? env.options.assume?.get(`trip@${line}`) ?? null;
  const number = stated === null ? Number.NaN : Number(stated);
  if (Number.isFinite(number) && number >= 0) return { count: number, origin: 'annotation' };
  const count = counted(loop, env);
  if (count === null) return { count: env.options.defaultTrips ?? DEFAULT_TRIPS, origin: 'assumed' };
  return leavesEarly(loop.body, true) ? { count: Math.max(1, Math.ceil(count / 2)), origin: 'assumed' } : { count, origin: 'constant' };
}

/** A `break` of this loop, a `return` or a `goto` inside. */
function leavesEarly(node: Stmt, own: boolean): boolean {
  switch (node.kind) {
    case 'return': case 'goto': return true;
    case 'break': return own;
    case 'compound': return node.body.some((inner) => leavesEarly(inner, own));
    case 'if': return leavesEarly(node.then, own) || (node.else !== null && leavesEarly(node.else, own));
    case 'for': case 'while': case 'do': case 'range-for': return leavesEarly(node.body, false);
    case 'switch': return node.arms.some((arm) => arm.body.some((inner) => leavesEarly(inner, false)));
    case 'label': return leavesEarly(node.body, own);
    case 'preprocessor': return node.arms.some((arm) => arm.active && arm.body.some((inner) => leavesEarly(inner, own)));
    case 'macro-statement': return leavesEarly(node.expanded, own);
    default: return false;
  }
}

/** The elements of an array of constant length. */
function elementsOf(loop: RangeForStmt, env: Env): number | null {
  const { type } = strip(loop.range);
  const length = type.kind !== 'array' || type.length === null ? null : constantOf(type.length, env);
  return length === null ? null : Number(length);
}

function counted(loop: Loop, env: Env): number | null {
  if (loop.kind === 'range-for') return elementsOf(loop, env);
  if (loop.condition === null) return null;
  if (loop.kind === 'do') return isFalse(loop.condition) ? 1 : null;
  for (const candidate of comparedVariables(loop.condition)) {
    const step = onlyStep(candidate.variable, loop, env);
    const start = startOf(candidate.variable, loop, env);
    if (step === null || start === null) continue;
    const count = countOf(start, candidate.limit, step, env);
    if (count !== null) return count;
  }
  return null;
}

/** `do { … } while (0)`. */
function isFalse(condition: Expr): boolean {
  const inner = strip(condition);
  return inner.kind === 'literal' && (inner.value === 0n || inner.value === false);
}


/** Variables that a conjunct of the condition compares. */
function comparedVariables(condition: Expr): { readonly variable: Variable; readonly limit: Limit }[] {
  const inner = strip(condition);
  if (inner.kind === 'binary' && inner.op === '&&') return [...comparedVariables(inner.left), ...comparedVariables(inner.right)];
  const found: { readonly variable: Variable; readonly limit: Limit }[] = [];
  const zero: Expr = { kind: 'literal', value: 0n, span: condition.span, type: { kind: 'int', bits: 32, signed: true } };
  if (inner.kind === 'ref' && isAutomatic(inner.decl)) found.push({ variable: inner.decl, limit: { upper: false, strict: true, bound: zero } });
  if (inner.kind !== 'binary') return found;
  for (const side of [inner.left, inner.right]) {
    const name = strip(side);
    if (name.kind !== 'ref' || !isAutomatic(name.decl)) continue;
    const variable = name.decl;
    for (const limit of limitsOf(inner, variable)) found.push({ variable, limit });
    if (inner.op === '!=') {
      const bound = side === inner.left ? inner.right : inner.left;
      // Towards larger or smaller values, whichever way the step goes: decided when counting.
      found.push({ variable, limit: { upper: true, strict: true, bound } }, { variable, limit: { upper: false, strict: true, bound } });
    }
  }
  return found;
}

/** The only step of the variable in the loop, in its head or once in its body. */
function onlyStep(variable: Variable, loop: Loop, env: Env): StepWrite | null {
  const inBody = env.assignments(variable, loop.body);
  const inHead = loop.kind === 'for' && loop.step !== null ? env.assignments(variable, loop.step) : [];
  const all = [...inBody, ...inHead];
  const only = all[0];
  if (all.length !== 1 || only === undefined || only.kind !== 'assignment') return null;
  if (inBody.length > 0 && env.loops(only.node)[0] !== loop) return null;
  return stepOf(only.node, variable);
}

interface Start { readonly low: bigint; readonly high: bigint }

/** The value before the first test: of the `for`'s own initialiser, else of the only other assignment. */
function startOf(variable: Variable, loop: Loop, env: Env): Start | null {
  const writes = (indexFunction(env.function).writes.get(variable) ?? []).filter((write) => write.node.kind === 'variable' || stepOf(write.node, variable) === null);
  const initial = loop.kind === 'for' ? writes.filter((write) => write.node.span.start >= loop.init.span.start && write.node.span.end <= loop.init.span.end) : [];
  const before = initial.length > 0 ? initial : writes;
  const only = before[0];
  if (before.length !== 1 || only === undefined || only.value === null || (only.kind !== 'init' && only.kind !== 'assign')) return null;
  const constant = estimate(only.value, env);
  if (constant !== null) return { low: constant, high: constant };
  const own = integerType(variable.type);
  // `int i = n - 8` with an unsigned n may start below zero.
  const range = own === null ? rangeOf(only.value, env) : convertRange(rangeOf(only.value, env), own);
  return range.low === null || range.high === null || range.high - range.low > 4096n ? null : { low: range.low, high: range.high };
}

/** A constant, or what the launches seen pass: good enough for an estimate. */
function estimate(expr: Expr, env: Env): bigint | null {
  const constant = constantOf(expr, env);
  if (constant !== null) return constant;
  const visiting = new Set<Variable>();
  const resolve = (leaf: Expr): Values | null => {
    if (leaf.kind === 'coordinate') {
      const shape = env.block.value;
      return shape === null || leaf.base !== 'blockDim' || leaf.axis === null ? null : [{ value: BigInt(shape[leaf.axis]), type: { bits: 32, signed: false } }];
    }
    return leaf.kind === 'ref' ? estimateName(leaf) : null;
  };
  const estimateName = (leaf: RefExpr): Values | null => {
    const { decl } = leaf;
    if (decl === null) return null;
    if (decl.kind === 'parameter') return env.kernel === null ? null : argumentValues(env.kernel, decl, env.program);
    if (decl.kind !== 'variable' || !isAutomatic(decl) || visiting.has(decl)) return null;
    const writes = indexFunction(env.function).writes.get(decl) ?? [];
    const only = writes[0];
    if (writes.length !== 1 || only === undefined || only.kind !== 'init' || only.value === null) return null;
    visiting.add(decl);
    const values = evaluate(only.value, resolve);
    visiting.delete(decl);
    return values;
  };
  return single(evaluate(expr, resolve));
}

function countOf(start: Start, limit: Limit, step: StepWrite, env: Env): number | null {
  const bound = estimate(limit.bound, env);
  const amount = step.amount === null ? 1n : estimate(step.amount, env);
  if (bound === null || amount === null) return null;
  const signed = step.op === '-' ? -amount : amount;
  if (step.op === '+' || step.op === '-') {
    if (signed === 0n || (signed > 0n) !== limit.upper) return null;
    // Lanes that start at different places run differently often: the middle one stands for all.
    const from = start.low === start.high ? start.low : start.low + (start.high - start.low) / 2n;
    const distance = limit.upper ? bound - from : from - bound;
    const size = signed > 0n ? signed : -signed;
    const count = limit.strict ? (distance + size - 1n) / size : distance / size + 1n;
    return count <= 0n ? (start.low === start.high ? 0 : 1) : Number(count);
  }
  let value = start.high;
  for (let count = 0; count <= MAX_STEPS; count++) {
    const holds = limit.upper ? (limit.strict ? value < bound : value <= bound) : limit.strict ? value > bound : value >= bound;
    if (!holds) return count;
    const next = step.op === '*' ? value * amount : step.op === '/' ? (amount === 0n ? value : value / amount) : amount < 0n || amount > 63n ? value : step.op === '<<' ? value << amount : value >> amount;
    if (next === value) return null;
    value = next;
  }
  return null;
}
