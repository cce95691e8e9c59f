/** How sure a hazard by divergence is: what decides must be understood, and must differ whatever the sizes are. */
import type { Partition } from '../../analysis/arrival.js';
import { forEachChild, strip, type Node } from '../../analysis/children.js';
import type { Expr } from '../../syntax/tree.js';
import type { Severity } from '../types.js';
import { agree } from './agreement.js';
import { sharedByArms } from './arms.js';
import { spotOf } from './guards.js';
import { originOf } from './masks.js';
import type { Spot } from './scene.js';

export interface Weighed {
  readonly severity: Severity;
  /** The partitions that make it a hazard. */
  readonly partitions: readonly Partition[];
  /** It would be an error, but which function runs is not sure. */
  readonly unsure?: true;
}

/**
 * `error` if one of the partitions surely keeps threads away for some input, `caution` if it may; null if there is none. Partitions whose other arm makes the
 * same calls are left out (unless `counted`: barriers of the block are met at one place), and so is what is not known of lambdas and of what is entered for them only, and conditions on which all lanes of a `group` (the block for null) agree.
 */
export function weigh(partitions: readonly Partition[], spot: Spot, group: number | null, arms: 'left out' | 'counted' = 'left out'): Weighed | null {
  const own = partitions.filter((partition) => partition.by !== 'lambda' && (partition.known || !spotOf(partition, spot).hidden) && (arms === 'counted' || !sharedByArms(partition)) && !agreed(partition, spot, group));
  if (own.length === 0) return null;
  const follow = own.some((partition) => asksWhoIsThere(partition, spot));
  const sure = own.filter((partition) => partition.known && partition.unless === null && !keepsWholeGroups(partition, spot) && !(follow && (partition.by === 'jump' || partition.by === 'loop')));
  return sure.length > 0 && !spot.unsure ? { severity: 'error', partitions: sure } : { severity: 'caution', partitions: own, ...(sure.length > 0 ? { unsure: true } : {}) };
}

function agreed(partition: Partition, spot: Spot, group: number | null): boolean {
  if (partition.by === 'loop' || partition.conditions.length === 0) return false;
  const where = spotOf(partition, spot);
  return partition.conditions.every((condition) => agree(condition, where, group) === true);
}

/**
 * `if ((__activemask() & 1) == 0) break;`: lanes look who has left before and follow. Whether all of them do depends on who is together; that is said of `__activemask()`
 * itself.
 */
function asksWhoIsThere(partition: Partition, spot: Spot): boolean {
  const where = spotOf(partition, spot);
  return partition.conditions.some((condition) => holdsActiveMask(condition, where, 0));
}

function holdsActiveMask(node: Node, spot: Spot, depth: number): boolean {
  if (depth > MAX_STEPS) return false;
  if (node.kind === 'call' && node.callee.kind === 'builtin' && node.callee.name === '__activemask') return true;
  if (node.kind === 'ref') {
    const origin = originOf(node, spot);
    return origin.expr !== node && origin.spot === spot && holdsActiveMask(origin.expr, spot, depth + 1);
  }
  let found = false;
  forEachChild(node, (child) => { found ||= holdsActiveMask(child, spot, depth); });
  return found;
}

const MAX_STEPS = 6;

/** A bound (or an index) that is rounded to a multiple on purpose (`(n / 8) * 8`, `n & ~31`) most likely keeps whole groups. */
function keepsWholeGroups(partition: Partition, spot: Spot): boolean {
  const where = spotOf(partition, spot);
  return partition.conditions.length > 0 && partition.conditions.every((condition) => {
    const parts = comparisons(condition, where).filter((part) => where.facts.scope(part).value === 'lane');
    return parts.length > 0 && parts.every((part) => part.kind === 'binary' && [part.left, part.right].some((side) => isRounded(originOf(side, where).expr)));
  });
}

/** The parts of a condition that `&&`, `||` and `!` put together. */
function comparisons(condition: Expr, spot: Spot): readonly Expr[] {
  const e = strip(condition);
  if (e.kind === 'binary' && (e.op === '&&' || e.op === '||')) return [...comparisons(e.left, spot), ...comparisons(e.right, spot)];
  return e.kind === 'unary' && e.op === '!' ? comparisons(e.operand, spot) : [e];
}

function isRounded(expr: Expr): boolean {
  if (expr.kind !== 'binary') return false;
  if (expr.op === '*') return holdsDivision(expr.left) || holdsDivision(expr.right);
  return expr.op === '&' && [expr.left, expr.right].some((side) => { const e = strip(side); return e.kind === 'unary' && (e.op === '~' || e.op === '-'); });
}

function holdsDivision(node: Node): boolean {
  if (node.kind === 'binary' && (node.op === '/' || node.op === '>>')) return true;
  let found = false;
  forEachChild(node, (child) => { found ||= holdsDivision(child); });
  return found;
}

export function caveat(weighed: Weighed): string {
  if (weighed.severity === 'error') return '';
  const unless = weighed.partitions.find((partition) => partition.unless !== null)?.unless ?? null;
  if (unless !== null) return `, unless ${unless}`;
  if (weighed.unsure === true) return ', if it is what the call runs';
  return weighed.partitions.every((partition) => partition.known) ? ', unless the bound keeps whole warps' : ', if what decides differs between them (it is not understood)';
}
