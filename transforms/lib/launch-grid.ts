/**
 * Grids that the runtime refuses: more blocks than a device takes, which is also what a negative number is as a side of a `dim3`. The original
 * launches nothing then; launches of parts of the grid must not either, although a part may be small enough.
 */
import { strip } from '../../src/analysis/children.js';
import { hostDimensions, hostValues, type HostPlace } from '../../src/analysis/host-constants.js';
import { evaluate, single } from '../../src/analysis/integer-values.js';
import type { Expr } from '../../src/syntax/tree.js';
import type { LaunchSite } from './launch-sites.js';

/** The largest side of a grid. */
export const MOST_BLOCKS: Readonly<Record<string, number>> = { '.x': 2_147_483_647, '.y': 65_535, '.z': 65_535 };

/** False if the side (`.x`) of the grid is known to be one that a device takes, or 0. */
export function mayBeRefused(grid: Expr, axis: string, site: LaunchSite): boolean {
  const place = placeOf(site);
  if (liesIn(grid, axis, place, 0n)) return false;
  const e = strip(grid);
  const sides = e.kind === 'construct' ? e.arguments : e.kind === 'init-list' ? e.elements : [grid];
  const side = sides[['.x', '.y', '.z'].indexOf(axis)];
  return side === undefined || axis !== '.x' || !isSmall(side, place);
}

/** True if the side of the grid is known to be one that a device takes, and not 0. */
export function isNeverEmpty(grid: Expr, axis: string, site: LaunchSite): boolean {
  return liesIn(grid, axis, placeOf(site), 1n);
}

function placeOf(site: LaunchSite): HostPlace {
  return { function: site.function, offset: site.launch.span.start };
}

function liesIn(grid: Expr, axis: string, place: HostPlace, least: bigint): boolean {
  const dimensions = hostDimensions(grid, place);
  const values = axis === '.x' ? dimensions.x : axis === '.y' ? dimensions.y : dimensions.z;
  return values !== null && values.length > 0 && values.every(({ value }) => value >= least && value <= BigInt(MOST_BLOCKS[axis] ?? 0));
}

/** An unsigned number of 32 bits or fewer that was divided by two at least. */
function isSmall(expr: Expr, place: HostPlace): boolean {
  const e = strip(expr);
  if (e.type.kind !== 'int' || e.type.bits > 32) return false;
  if (e.type.bits < 32) return !e.type.signed;
  if (e.type.signed || e.kind !== 'binary') return false;
  const by = single(evaluate(e.right, () => null)) ?? single(hostValues(e.right, place));
  if (by === null) return false;
  return (e.op === '/' && by >= 2n) || (e.op === '>>' && by >= 1n && by < 32n);
}
