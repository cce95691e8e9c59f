/**
 * May a counter pass the end of its type on its way?
 *
 * `++i` and `i += s` in the counter's own signed type may not: that is undefined. All other steps are computed in another type and converted
 * back, which is defined: `i -= blockDim.x` goes on at the top of `int` once it is below the bottom, an unsigned counter goes round, a `short`
 * is added to as an `int`. Such a counter moves one way only if the loop's test keeps it from the end: what passes the test, one step on, is
 * still in the type.
 *
 * Where the test does not say so, the grant `index-range` does for signed counters that rise by sums and products of block and thread numbers,
 * sizes and constants, below a bound: `i += blockDim.x * gridDim.x` under `i < n`. It never does for those that fall, which pass zero as they are meant to, and
 * never for steps that are data.
 *
 * Not handled: several steps in one iteration (only the grant helps there), tests other than comparisons of the counter itself.
 */
import { strip } from '../../../src/analysis/children.js';
import type { FunctionFacts, Loop, Range, Variable } from '../../../src/analysis/facts.js';
import { limitOf, limitsOf, overflowIsUndefined, stepOf, type StepWrite } from '../../../src/analysis/induction.js';
import { fits, maximum, minimum, type IntegerType } from '../../../src/cuda/integers.js';
import type { Expr } from '../../../src/syntax/tree.js';
import { mentions } from '../loops.js';
import { provenanceOf } from './named-constants.js';
import { integerType } from './values.js';

/** `never`: it cannot, or the program is undefined. `index`: it cannot if indices do not wrap around. `may`: nothing keeps it from it. */
export type Passing = 'never' | 'index' | 'may';

/** How the updates of a variable in a loop move it past the end of its type; `direction` is the way that all of them move it. */
export function passingOf(facts: FunctionFacts, loop: Loop, variable: Variable, updates: readonly Expr[], direction: 1 | -1): Passing {
  const type = integerType(variable.type);
  if (type === null) return 'may';
  const steps = updates.map((update) => stepOf(update, variable));
  if (steps.every((step) => step !== null && overflowIsUndefined(step, type))) return 'never';
  const [step] = steps;
  if (steps.length === 1 && step !== undefined && step !== null && testKeepsIn(facts, loop, variable, type, step, direction)) return 'never';
  const granted = type.signed && type.bits >= 32 && direction === 1 && isMeantToStop(facts, loop, variable, type)
    && steps.every((one) => one !== null && (overflowIsUndefined(one, type) || (one.amount !== null && isMadeOfCoordinates(facts, one.amount))));
  return granted ? 'index' : 'may';
}

/** Whatever passes the loop's test is still in its type one step on. The step comes once after each test. */
function testKeepsIn(facts: FunctionFacts, loop: Loop, variable: Variable, type: IntegerType, step: StepWrite, direction: 1 | -1): boolean {
  if (loop.kind === 'range-for' || loop.kind === 'do' || loop.condition === null || facts.loops(step.node)[0] !== loop) return false;
  const way = direction === 1 ? 'up' : 'down';
  const limit = limitOf(loop.condition, variable, way, (expr) => rangeInAllBuilds(facts, expr));
  const amount = step.amount === null ? { low: 1n, high: 1n } : rangeInAllBuilds(facts, step.amount);
  if (limit === null || amount.low === null || amount.high === null || amount.low < 0n) return false;
  const end = direction === 1 ? limit + amount.high : limit - amount.high;
  return fits(end, type);
}

/** The test has an upper bound that the counter's type may hold: `i != n` and `i < 4294967295u` do not end what rises. */
function isMeantToStop(facts: FunctionFacts, loop: Loop, variable: Variable, type: IntegerType): boolean {
  if (loop.kind === 'range-for' || loop.condition === null) return false;
  return [...limitsOf(loop.condition, variable), ...limitsOfSums(facts, loop.condition, variable)].some(({ upper, bound }) => {
    const { low } = rangeInAllBuilds(facts, bound);
    return upper && (low === null || low <= maximum(type));
  });
}

/** `i + t < n` and `4 * i + t < n` end what rises as `i < n` does, if what is added is not below zero: sizes, numbers of blocks and threads. */
function limitsOfSums(facts: FunctionFacts, condition: Expr, variable: Variable): readonly { readonly upper: boolean; readonly bound: Expr }[] {
  const inner = strip(condition);
  if (inner.kind !== 'binary') return [];
  if (inner.op === '&&') return [...limitsOfSums(facts, inner.left, variable), ...limitsOfSums(facts, inner.right, variable)];
  const less = inner.op === '<' || inner.op === '<=';
  if (!less && inner.op !== '>' && inner.op !== '>=') return [];
  const [smaller, larger] = less ? [inner.left, inner.right] : [inner.right, inner.left];
  return !mentions(larger, variable) && risesWith(facts, smaller, variable) ? [{ upper: true, bound: larger }] : [];
}

/** A sum that holds the variable once, at least as it is, and else what is not below zero. */
function risesWith(facts: FunctionFacts, sum: Expr, variable: Variable): boolean {
  const inner = strip(sum);
  switch (inner.kind) {
    case 'ref': return inner.decl === variable;
    case 'cast': return (integerType(inner.type)?.bits ?? 0) >= 32 && risesWith(facts, inner.operand, variable);
    case 'binary': {
      const [own, other] = mentions(inner.left, variable) ? [inner.left, inner.right] : [inner.right, inner.left];
      if ((inner.op !== '+' && inner.op !== '*') || mentions(other, variable) || !risesWith(facts, own, variable)) return false;
      const { low } = rangeInAllBuilds(facts, other);
      if (inner.op === '*') return low !== null && low >= 1n;
      return (low !== null && low >= 0n) || isMadeOfCoordinates(facts, other);
    }
    default: return false;
  }
}

/** Ranges rest on the values that constants have here. */
function rangeInAllBuilds(facts: FunctionFacts, expr: Expr): Range {
  if (provenanceOf(expr, facts.unit, facts.program) !== 'open') return facts.range(expr);
  const type = integerType(expr.type);
  return type === null ? { low: null, high: null } : { low: minimum(type), high: maximum(type) };
}

/** A sum of products of block and thread numbers, sizes and constants, also through variables that are defined once. */
function isMadeOfCoordinates(facts: FunctionFacts, expr: Expr, seen: ReadonlySet<Variable> = new Set()): boolean {
  const inner = strip(expr);
  if (facts.constant(inner) !== null) return true;
  switch (inner.kind) {
    case 'coordinate': case 'sizeof': case 'literal': return true;
    case 'cast': return integerType(inner.type) !== null && isMadeOfCoordinates(facts, inner.operand, seen);
    case 'binary':
      return ['+', '*', '/', '>>', '<<', '%', '&'].includes(inner.op) && isMadeOfCoordinates(facts, inner.left, seen) && isMadeOfCoordinates(facts, inner.right, seen);
    case 'ref': {
      const { decl } = inner;
      if (decl === null) return false;
      if (decl.kind === 'enumerator' || decl.kind === 'template-parameter') return true;
      const { body } = facts.function;
      if (decl.kind !== 'variable' || decl.init === null || decl.opaqueInit || seen.has(decl) || body === null || facts.addressTaken(decl)) return false;
      if (!facts.assignments(decl, body).every((definition) => definition.kind === 'declaration')) return false;
      return isMadeOfCoordinates(facts, decl.init, new Set([...seen, decl]));
    }
    default: return false;
  }
}
