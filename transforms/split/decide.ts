/** Launches that pass constants: the host need not choose. */
import { strip, walk } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { convertAll, evaluate, single, type Values } from '../../src/analysis/integer-values.js';
import type { CallExpr, Expr, VariableDecl } from '../../src/syntax/tree.js';
import type { Decide } from '../lib/launch-writer.js';
import type { LaunchSite } from '../lib/launch-sites.js';
import type { LaunchPlan } from '../lib/types.js';
import { soleValue } from './host-text.js';

/** Knows the plan's condition at sites where every argument in it is a literal. */
export function decider(facts: FunctionFacts, condition: Expr, plan: LaunchPlan): Decide {
  const kernels = plan.steps.filter((step) => step.kind === 'kernel');
  const positive = kernels.find((step) => step.unless?.startsWith('!(') !== true)?.unless ?? null;
  return (site, text) => {
    if (positive === null) return null;
    const leaf = (e: Expr): Values | null => {
      if (e.kind !== 'ref' || e.decl === null) return null;
      if (e.decl.kind === 'variable') {
        const init = soleValue(facts, e.decl);
        return init === null ? null : convertAll(evaluate(init, leaf), e.decl.type);
      }
      if (e.decl.kind !== 'parameter') return null;
      const argument = site.launch.arguments[e.decl.index];
      return argument === undefined || !isLiteral(argument) ? null : convertAll(evaluate(argument, () => null), e.decl.type);
    };
    const value = single(evaluate(condition, leaf)) ?? nullTest(site, condition);
    if (value === null) return null;
    return text === positive ? value !== 0n : value === 0n;
  };
}

/** The one arm that every visible launch takes; null if there may be two. Counters of loops that only count up stay at or above their start. */
export function onlyArm(facts: FunctionFacts, condition: Expr, sites: readonly LaunchSite[]): 'then' | 'else' | null {
  let only: boolean | null = null;
  for (const site of sites) {
    const truth = truthAt(facts, condition, site);
    if (truth === null || (only !== null && only !== truth)) return null;
    only = truth;
  }
  return only === null ? null : only ? 'then' : 'else';
}

/** A condition of three values, by the bounds of what is compared. */
function truthAt(facts: FunctionFacts, condition: Expr, site: LaunchSite): boolean | null {
  const e = strip(condition);
  if (e.kind === 'unary' && e.op === '!') {
    const inner = truthAt(facts, e.operand, site);
    return inner === null ? null : !inner;
  }
  if (e.kind === 'ref' && e.decl?.kind === 'variable') {
    const init = soleValue(facts, e.decl);
    return init === null || e.type.kind !== 'bool' ? null : truthAt(facts, init, site);
  }
  if (e.kind === 'binary' && (e.op === '&&' || e.op === '||')) {
    const [a, b] = [truthAt(facts, e.left, site), truthAt(facts, e.right, site)];
    const deciding = e.op === '||';
    return a === deciding || b === deciding ? deciding : a === null || b === null ? null : !deciding;
  }
  if (e.kind !== 'binary') {
    const [low, high] = boundsAt(e, site);
    return low !== null && low > 0n ? true : low !== null && low === high ? low !== 0n : nullTest(site, condition) === null ? null : nullTest(site, condition) !== 0n;
  }
  const [left, right] = [strip(e.left), strip(e.right)];
  // Bounds of numbers with signs: another comparison would convert them.
  if (left.type.kind !== 'int' || right.type.kind !== 'int' || !left.type.signed || !right.type.signed) return nullTest(site, condition) === null ? null : nullTest(site, condition) !== 0n;
  const [[a, b], [c, d]] = [boundsAt(left, site), boundsAt(right, site)];
  const below = (low: bigint | null, high: bigint | null): boolean => low !== null && high !== null && low < high;
  const less = below(b, c) ? true : a !== null && d !== null && a >= d ? false : null;
  const greater = below(d, a) ? true : c !== null && b !== null && c >= b ? false : null;
  const not = (truth: boolean | null): boolean | null => (truth === null ? null : !truth);
  const equal = less === true || greater === true ? false : a !== null && a === b && a === c && c === d ? true : null;
  switch (e.op) {
    case '<': return less;
    case '>': return greater;
    case '<=': return not(greater);
    case '>=': return not(less);
    case '==': return equal;
    case '!=': return not(equal);
    default: return null;
  }
}

/** Least and greatest value of a literal, or of an argument of the launch. */
function boundsAt(expr: Expr, site: LaunchSite): readonly [bigint | null, bigint | null] {
  const e = strip(expr);
  if (e.kind === 'ref' && e.decl?.kind === 'parameter') {
    const argument = site.launch.arguments[e.decl.index];
    if (argument === undefined) return [null, null];
    const value = single(convertAll(evaluate(argument, () => null), e.decl.type));
    if (value !== null) return [value, value];
    const a = strip(argument);
    return a.kind === 'ref' && a.decl?.kind === 'variable' ? [startOf(a.decl, site), null] : [null, null];
  }
  const value = single(evaluate(e, () => null));
  return [value, value];
}

/** Where the counter of a `for` around the launch starts, if nothing but `++` and `+=` of a positive number changes it. */
function startOf(counter: VariableDecl, site: LaunchSite): bigint | null {
  const { body } = site.function;
  if (body === null || counter.type.kind !== 'int' || !counter.type.signed || counter.init === null) return null;
  let around = false;
  let upward = true;
  walk(body, (node) => {
    if (node.kind === 'for' && node.init.kind === 'declare' && node.init.variables.includes(counter)) around ||= node.span.start <= site.statement.span.start && site.statement.span.end <= node.span.end;
    if (node.kind === 'update' && names(node.target, counter)) upward &&= node.op === '++';
    if (node.kind === 'assign' && names(node.target, counter)) upward &&= node.op === '+' && (single(evaluate(node.value, () => null)) ?? -1n) > 0n;
    if ((node.kind === 'unary' && node.op === '&' && names(node.operand, counter)) || node.kind === 'opaque' || node.kind === 'lambda') upward = false;
    if (node.kind === 'call' && node.arguments.some((argument) => names(argument, counter)) && node !== site.call && mayChange(node, counter)) upward = false;
    return upward;
  });
  return around && upward ? single(evaluate(counter.init, () => null)) : null;
}

function names(expr: Expr, decl: VariableDecl): boolean {
  const e = strip(expr);
  return e.kind === 'ref' && e.decl === decl;
}

/** Calls that are no launches take arguments by reference unless their declaration says otherwise. */
function mayChange(call: CallExpr, counter: VariableDecl): boolean {
  if (call.callee.kind !== 'function' && call.callee.kind !== 'method') return true;
  const { candidates } = call.callee;
  return candidates.length === 0 || call.arguments.some((argument, i) => names(argument, counter) && candidates.some((callee) => callee.parameters[i]?.type.kind !== 'int'));
}

/** A test of a pointer that is passed as `nullptr`; null for any other. */
function nullTest(site: LaunchSite, condition: Expr): bigint | null {
  const e = strip(condition);
  const absent = (side: Expr): boolean => {
    const s = strip(side);
    const argument = s.kind === 'ref' && s.decl?.kind === 'parameter' ? site.launch.arguments[s.decl.index] : undefined;
    return argument !== undefined && isNull(argument);
  };
  if (e.kind === 'unary' && e.op === '!') return absent(e.operand) ? 1n : null;
  if (e.kind === 'binary' && (e.op === '==' || e.op === '!=')) {
    const pointer = isNull(e.right) ? e.left : isNull(e.left) ? e.right : null;
    return pointer !== null && absent(pointer) ? (e.op === '==' ? 1n : 0n) : null;
  }
  return absent(e) ? 0n : null;
}

function isNull(expr: Expr): boolean {
  const e = strip(expr);
  if (e.kind === 'cast') return isNull(e.operand);
  return e.kind === 'literal' && (e.value === null || (e.value === 0n && expr.kind === 'macro'));
}

function isLiteral(expr: Expr): boolean {
  const e = strip(expr);
  if (e.kind === 'unary') return isLiteral(e.operand);
  return e.kind === 'literal' && (typeof e.value === 'bigint' || typeof e.value === 'boolean');
}
