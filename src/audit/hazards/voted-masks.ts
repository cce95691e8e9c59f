/**
 * Masks that a vote made, where the path condition is another than what was voted on: `mask-not-a-mask` (a caller is not in its own mask) and
 * `mask-full-under-divergence` (the mask names lanes that are alive and stay away).
 *
 *   m = __ballot_sync(full, v > 0);
 *   if (v <= 0) __shfl_sync(m, …);       nobody who calls is named
 *   if (v > 1) __reduce_add_sync(m, v);  lanes with v == 1 are named and stay away
 *
 * The rule (SEMANTICS 5.2): the mask is the vote of the *whole* path condition, so the conditions between the vote and the call must say the same. Conditions are taken
 * apart into conjuncts; two are the same if their texts and the definitions of their variables are, and conjuncts on one integer variable are compared as ranges. What is
 * decided so is an error; a condition that nothing relates to the vote is a caution. Not handled (nothing is said): votes in another function than the conditions, exits of the
 * kernel (an exited lane may be named), loops with equal rounds, decisions without one condition.
 */
import type { Arrival, Partition } from '../../analysis/arrival.js';
import { forEachChild, strip, type Node } from '../../analysis/children.js';
import type { Definition } from '../../analysis/facts.js';
import { mayChangeUnseen } from '../../analysis/sole-value.js';
import type { CallExpr, Expr, RefExpr } from '../../syntax/tree.js';
import type { Severity } from '../types.js';
import { leftSince } from './left-loops.js';
import { originOf } from './masks.js';
import { isHip } from './platform.js';
import { reason, reasonsOf, textOf, type Report } from './report.js';
import type { Spot } from './scene.js';
import { weigh } from './severity.js';

/** A conjunct: an expression that holds, or that does not. */
interface Atom { readonly expr: Expr; readonly holds: boolean }

/** Integers from `low` to `high`; null for no bound. `not`: all but this one. */
type Values = { readonly kind: 'range'; readonly low: bigint | null; readonly high: bigint | null } | { readonly kind: 'not'; readonly value: bigint };

interface Bound { readonly operand: Expr; readonly values: Values }

/** A call, or an instruction of inline PTX that is one. */
export interface Called { readonly node: Node; readonly spot: Spot; readonly name: string }

/** A mask that is the result of `vote`: the lanes for which `predicate` held (or, in its complement, did not). */
export function votedMask(call: Called, arrival: Arrival, vote: CallExpr, predicate: Expr, where: Spot, report: Report, holds = true): void {
  let inside = false;
  for (let here: Spot | null = call.spot; here !== null; here = here.outer) inside ||= here.facts === where.facts;
  if (!inside) return;
  const before = where.sets.at(vote);
  const had = (partition: Partition): boolean => before.partitions.some((other) => other.at === partition.at && other.kind === partition.kind && other.by === partition.by);
  const since = [...arrival.skips, ...arrival.exits].filter((partition) => partition.scope === 'lane' && !had(partition));
  if (since.length > 0) {
    if (!holds || !leftBehind(call, since, vote, predicate, where, report)) narrowed(call, since, before, vote, predicate, where, report, holds);
    return;
  }
  const verdict = where.facts.scope(predicate);
  if (!verdict.known || verdict.value !== 'lane' || weigh(arrival.skips, call.spot, 32) !== null) return;
  report.add(call.node, call.spot, {
    id: 'mask-not-a-mask', severity: 'caution', message: `lanes for which \`${textOf(predicate, where)}\` ${holds ? 'fails' : 'holds'} call \`${call.name}\` with a mask that does not name them`,
    because: [reason(vote, where, 'the mask is this vote'), ...verdict.because.slice(0, 2)], repair: 'call it under the condition that was voted on, or name all lanes that come',
  });
}

/** Lanes that voted and have left a loop since: said as a hazard? */
function leftBehind(call: Called, since: readonly Partition[], vote: CallExpr, predicate: Expr, where: Spot, report: Report): boolean {
  const voted = conjuncts(predicate, true, where);
  const gone = since.filter((partition) => leftSince(partition, call.spot, vote, where) && !(partition.facts === where.facts && partition.conditions.every((condition) => askedBefore(condition, partition, voted, where))));
  const weighed = weigh(gone, call.spot, 32);
  if (weighed === null) return false;
  report.add(call.node, call.spot, {
    id: 'mask-full-under-divergence', severity: isHip(call.spot) ? 'caution' : weighed.severity, message: `\`${call.name}\` names lanes that voted in front of the loop and have left it, or skipped the rest of the round, since`,
    because: [reason(vote, where, `the mask names the lanes for which \`${textOf(predicate, where)}\` held here`), ...reasonsOf(weighed.partitions)],
    repair: 'vote again in every round, where all lanes named still come: `mask = __ballot_sync(mask, stays);` in front of what leads away',
  });
  return true;
}

/** Is who stays the very condition that was voted on? */
function askedBefore(condition: Expr, partition: Partition, voted: readonly Atom[], where: Spot): boolean {
  return conjuncts(condition, partition.decision?.holds ?? false, where).every((atom) => implied(atom, voted, false, where) === 'yes');
}

/** Conditions stand between the vote and the call. */
function narrowed(call: Called, since: readonly Partition[], before: Arrival, vote: CallExpr, predicate: Expr, where: Spot, report: Report, holds: boolean): void {
  if (since.some((partition) => partition.kind === 'exit' || partition.facts !== where.facts || partition.decision === null || partition.decision.holds === null)) return;
  const open = since.filter((partition) => weigh([partition], call.spot, 32) !== null);
  if (open.length === 0) return;
  // `if (m >> lane & 1)` asks the vote itself.
  if (open.some((partition) => partition.conditions.some((condition) => refsIn(condition).some((ref) => originOf(ref, where).expr === vote)))) return;
  const path = open.flatMap((partition) => conjuncts(partition.decision?.condition ?? predicate, partition.decision?.holds === true, where));
  const voted = conjuncts(predicate, holds, where);
  const shared = before.partitions.flatMap((partition) => (partition.facts !== where.facts || partition.decision === null || partition.decision.holds === null ? [] : conjuncts(partition.decision.condition, partition.decision.holds, where)));
  const sure = (severity: Severity): Severity => (severity === 'error' && isHip(call.spot) ? 'caution' : severity);
  const because = [reason(vote, where, `the mask names the lanes for which \`${textOf(predicate, where)}\` ${holds ? 'held' : 'failed'} here`), ...reasonsOf(open)];
  const repair = 'vote on the whole condition of the path, above the branch and in every round of a loop: `__ballot_sync(mask, condition)`';
  const outside = voted.map((atom) => implied(atom, [...path, ...shared], path.length === 1, where));
  if (outside.includes('never')) {
    report.add(call.node, call.spot, { id: 'mask-not-a-mask', severity: sure('error'), message: `no lane that calls \`${call.name}\` here is named in its mask: \`${textOf(predicate, where)}\` ${holds ? 'failed' : 'held'} for all of them`, because, repair });
    return;
  }
  if (outside.includes('no')) {
    report.add(call.node, call.spot, { id: 'mask-not-a-mask', severity: sure('error'), message: `lanes for which \`${textOf(predicate, where)}\` ${holds ? 'failed' : 'held'} call \`${call.name}\` with a mask that does not name them`, because, repair });
    return;
  }
  if (outside.includes('perhaps')) {
    report.add(call.node, call.spot, { id: 'mask-not-a-mask', severity: 'caution', message: `lanes for which \`${textOf(predicate, where)}\` ${holds ? 'failed' : 'held'} may call \`${call.name}\` with a mask that does not name them`, because, repair });
    return;
  }
  // Of a complement nothing else is said: it names lanes that never were.
  if (!holds) return;
  const away = path.map((atom) => implied(atom, [...voted, ...shared], voted.length === 1, where));
  // A loop whose rounds may be equal, or a condition that is not understood, keeps nobody away for sure.
  const certain = open.every((partition) => partition.known && partition.unless === null);
  const staysAway = away.some((one) => one === 'no' || one === 'never');
  if (staysAway && certain) {
    report.add(call.node, call.spot, { id: 'mask-full-under-divergence', severity: sure('error'), message: `\`${call.name}\` names lanes that voted for \`${textOf(predicate, where)}\` and do not come here`, because, repair });
    return;
  }
  if (!certain || (!away.includes('open') && !away.includes('perhaps') && !away.includes('stale') && !staysAway)) return;
  const stale = away.includes('stale') ? 'the condition was voted on with other values than it is asked with' : 'nothing shows that all lanes that voted come here';
  report.add(call.node, call.spot, { id: 'mask-full-under-divergence', severity: 'caution', message: `\`${call.name}\` may name lanes that do not come here: ${stale}`, because, repair });
}

/** `yes`, surely not for some value (`no`), not if two values are equal or differ (`perhaps`), for no value at all (`never`), the same text of other values (`stale`), or not known (`open`). */
type Answer = 'yes' | 'no' | 'perhaps' | 'never' | 'stale' | 'open';

/** Does `wanted` hold wherever all of `given` do? `alone`: one condition decides, so that a value that contradicts is one that occurs. */
function implied(wanted: Atom, given: readonly Atom[], alone: boolean, spot: Spot): Answer {
  const constant = spot.facts.constant(wanted.expr);
  if (constant !== null) return (constant !== 0n) === wanted.holds ? 'yes' : 'open';
  let answer: Answer = 'open';
  const goal = boundOf(wanted, spot);
  for (const atom of given) {
    const alike = compare(wanted.expr, atom.expr, spot);
    if (alike === 'same') {
      if (wanted.holds === atom.holds) return 'yes';
      // Memory may hold another value by then.
      if (isOwn(wanted.expr)) answer = 'never';
      continue;
    }
    const ordered = ordering(wanted, atom, spot);
    if (ordered === 'yes') return 'yes';
    if (ordered === 'never') { if (isOwn(wanted.expr)) answer = 'never'; continue; }
    if (ordered === 'open' && answer === 'open' && alone && given.length === 1 && isOwn(wanted.expr)) answer = 'perhaps';
    if (ordered === 'stale' && answer === 'open') { answer = 'stale'; continue; }
    if (alike === 'stale') { if (answer === 'open') answer = 'stale'; continue; }
    const bound = goal === null ? null : boundOf(atom, spot);
    if (goal === null || bound === null || compare(goal.operand, bound.operand, spot) !== 'same') continue;
    if (within(bound.values, goal.values)) return 'yes';
    if (apart(bound.values, goal.values)) answer = 'never';
    else if (alone && given.length === 1 && answer !== 'never' && occurs(bound, goal.values, spot)) answer = 'no';
  }
  return answer;
}

/** Outcomes of a comparison: less 1, equal 2, greater 4. */
const OUTCOMES: Readonly<Record<string, number>> = { '<': 1, '<=': 3, '>': 4, '>=': 6, '==': 2, '!=': 5 };

/** Two comparisons of the same operands, in either order: `!(i >= n)`, `n > i` and `i < n` are one. Floats that are no numbers are left aside. */
function ordering(wanted: Atom, given: Atom, spot: Spot): Answer | null {
  const a = wanted.expr;
  const b = given.expr;
  if (a.kind !== 'binary' || b.kind !== 'binary') return null;
  const goal = outcomes(a.op, wanted.holds);
  const known = outcomes(b.op, given.holds);
  if (goal === null || known === null) return null;
  const straight = [compare(a.left, b.left, spot), compare(a.right, b.right, spot)];
  const crossed = [compare(a.left, b.right, spot), compare(a.right, b.left, spot)];
  const isCrossed = straight.includes('different');
  const pair = isCrossed ? crossed : straight;
  if (pair.includes('different')) return null;
  const turned = isCrossed ? (known & 2) | ((known & 1) << 2) | ((known & 4) >> 2) : known;
  if (pair.includes('stale')) return 'stale';
  return (turned & ~goal) === 0 ? 'yes' : (turned & goal) === 0 ? 'never' : 'open';
}

function outcomes(op: string, holds: boolean): number | null {
  const set = OUTCOMES[op];
  return set === undefined ? null : holds ? set : 7 ^ set;
}

// ------------------------------------------------------------------------------------------------------------ conjuncts

function conjuncts(condition: Expr, holds: boolean, spot: Spot): readonly Atom[] {
  const e = resolved(condition, spot);
  if (e.kind === 'unary' && e.op === '!') return conjuncts(e.operand, !holds, spot);
  if (e.kind === 'binary' && (e.op === '==' || e.op === '!=')) {
    // `p == 1` of a truth value.
    const right = spot.facts.constant(e.right);
    const inner = right === 0n || right === 1n ? resolved(e.left, spot) : null;
    if (inner !== null && isTruth(inner)) return conjuncts(inner, holds === ((e.op === '==') === (right === 1n)), spot);
  }
  if (e.kind === 'binary' && e.op === (holds ? '&&' : '||')) return [...conjuncts(e.left, holds, spot), ...conjuncts(e.right, holds, spot)];
  return [{ expr: e, holds }];
}

/** The condition that a variable of truth holds. */
function resolved(condition: Expr, spot: Spot): Expr {
  const e = strip(condition);
  if (e.kind !== 'ref') return e;
  const origin = originOf(e, spot);
  // Looked through only if what it was made of still has the same values: a stale variable is compared as itself.
  return origin.spot === spot && origin.expr !== e && isTruth(origin.expr) && origin.expr.kind !== 'call' ? origin.expr : e;
}

function isTruth(expr: Expr): boolean {
  return expr.type.kind === 'bool' || (expr.kind === 'binary' && COMPARISONS.has(expr.op));
}

const COMPARISONS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '==', '!=', '&&', '||']);

function compare(a: Expr, b: Expr, spot: Spot): 'same' | 'stale' | 'different' {
  if (textOf(strip(a), spot).split(' ').join('') !== textOf(strip(b), spot).split(' ').join('')) return 'different';
  const left = refsIn(a);
  const right = refsIn(b);
  if (left.length !== right.length) return 'different';
  let stale = false;
  for (let i = 0; i < left.length; i++) {
    const x = left[i];
    const y = right[i];
    if (x === undefined || y === undefined || x.decl !== y.decl) return 'different';
    if (x.decl === null || (x.decl.kind !== 'variable' && x.decl.kind !== 'parameter')) continue;
    // Whoever knows its address may have changed it in between.
    if (mayChangeUnseen(x, spot.facts)) return 'different';
    const from = keys(spot.facts.definitions(x));
    const to = keys(spot.facts.definitions(y));
    if (from === null || to === null) continue;
    if (from.size !== to.size || [...from].some((key) => !to.has(key))) stale = true;
  }
  return stale ? 'stale' : 'same';
}

/** Does the value depend on nothing but variables of the thread? */
function isOwn(expr: Expr): boolean {
  let own = true;
  const visit = (node: Node): void => {
    if (node.kind === 'index' || node.kind === 'call' || node.kind === 'member' || (node.kind === 'unary' && node.op === '*')) own = false;
    forEachChild(node, visit);
  };
  visit(expr);
  return own;
}

export function refsIn(expr: Expr): RefExpr[] {
  const found: RefExpr[] = [];
  const visit = (node: Node): void => { if (node.kind === 'ref') found.push(node); forEachChild(node, visit); };
  visit(expr);
  return found;
}

function keys(definitions: readonly Definition[]): ReadonlySet<object> | null {
  const found = new Set<object>();
  for (const definition of definitions) {
    if (definition.kind === 'unknown') return null;
    found.add(definition.kind === 'assignment' ? definition.node : definition.decl);
  }
  return found;
}

// --------------------------------------------------------------------------------------------------------------- ranges

const FLIPPED: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==', '!=': '!=' };
const NEGATED: Readonly<Record<string, string>> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<', '==': '!=', '!=': '==' };

/** An integer compared with a constant. */
function boundOf(atom: Atom, spot: Spot): Bound | null {
  const e = strip(atom.expr);
  if (e.kind === 'ref' && e.type.kind === 'int') return { operand: e, values: atom.holds ? allBut(e, 0n, spot) : { kind: 'range', low: 0n, high: 0n } };
  if (e.kind !== 'binary' || NEGATED[e.op] === undefined) return null;
  const left = spot.facts.constant(e.left);
  const right = spot.facts.constant(e.right);
  if ((left === null) === (right === null)) return null;
  const operand = strip(left === null ? e.left : e.right);
  const value = left ?? right;
  const op = left === null ? e.op : FLIPPED[e.op];
  // A signed value compared with an unsigned constant wraps: left alone.
  const other = strip(left === null ? e.right : e.left);
  if (value === null || op === undefined || operand.type.kind !== 'int' || other.type.kind !== 'int' || (operand.type.signed !== other.type.signed && value < 0n)) return null;
  if (operand.type.signed && !other.type.signed) return null;
  const real = atom.holds ? op : NEGATED[op];
  switch (real) {
    case '<': return { operand, values: { kind: 'range', low: null, high: value - 1n } };
    case '<=': return { operand, values: { kind: 'range', low: null, high: value } };
    case '>': return { operand, values: { kind: 'range', low: value + 1n, high: null } };
    case '>=': return { operand, values: { kind: 'range', low: value, high: null } };
    case '==': return { operand, values: { kind: 'range', low: value, high: value } };
    case '!=': return { operand, values: allBut(operand, value, spot) };
    default: return null;
  }
}

/** At the end of the variable's range all but one value are a range. */
function allBut(operand: Expr, value: bigint, spot: Spot): Values {
  const range = spot.facts.range(operand);
  if (range.low === value) return { kind: 'range', low: value + 1n, high: null };
  return range.high === value ? { kind: 'range', low: null, high: value - 1n } : { kind: 'not', value };
}

function has(values: Values, value: bigint): boolean {
  return values.kind === 'not' ? values.value !== value : (values.low === null || values.low <= value) && (values.high === null || value <= values.high);
}

/** Is every value of `inner` one of `outer`? False if not known. */
function within(inner: Values, outer: Values): boolean {
  if (outer.kind === 'not') return inner.kind === 'not' ? inner.value === outer.value : !has(inner, outer.value);
  if (inner.kind === 'not') return false;
  return (outer.low === null || (inner.low !== null && inner.low >= outer.low)) && (outer.high === null || (inner.high !== null && inner.high <= outer.high));
}

/** Is there a value of the variable's range that `given` admits and `goal` does not? Counts are compared with `!= 0` and `> 0` alike, so only ranges are told apart. */
function occurs(given: Bound, goal: Values, spot: Spot): boolean {
  const { values } = given;
  if (values.kind === 'not' || goal.kind === 'not') return false;
  const range = spot.facts.range(given.operand);
  const low = most(values.low, range.low);
  const high = least(values.high, range.high);
  const below = goal.low === null ? null : least(high, goal.low - 1n);
  const above = goal.high === null ? null : most(low, goal.high + 1n);
  return (below !== null && (low === null || low <= below)) || (above !== null && (high === null || above <= high));
}

function most(a: bigint | null, b: bigint | null): bigint | null {
  return a === null ? b : b === null || a > b ? a : b;
}

function least(a: bigint | null, b: bigint | null): bigint | null {
  return a === null ? b : b === null || a < b ? a : b;
}

/** Have the two no value in common? */
function apart(a: Values, b: Values): boolean {
  if (a.kind === 'not') return b.kind === 'range' && b.low !== null && b.low === b.high && b.low === a.value;
  if (b.kind === 'not') return apart(b, a);
  return (a.low !== null && b.high !== null && a.low > b.high) || (b.low !== null && a.high !== null && b.low > a.high);
}
