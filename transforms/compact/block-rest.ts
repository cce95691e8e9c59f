/**
 * Where the heavy part is all that the kernel still does, its text stays as it is: threads without an item leave, and the others take over the
 * variables of the items' owners.
 *
 *     if (i >= n) return;                     if (thread >= items) return;
 *     if (!p(i)) return;            ->        i = queue_i[thread];
 *     heavy                                   heavy
 */
import { isStmt, walk } from '../../src/analysis/children.js';
import type { Variable } from '../../src/analysis/facts.js';
import type { TransformContext } from '../lib/types.js';
import type { BlockPlan } from './block-shape.js';

/** True if what follows the region in the kernel stays where it is: threads that had left before the region leave there again. */
export function restStays({ region, base, flagged, loops }: BlockPlan): boolean {
  const frame = region.frames[base];
  return frame !== undefined && frame.owner === null && flagged.has(base) && !loops;
}

/** True if the heavy part need not be moved into braces. */
export function staysInPlace({ facts }: TransformContext, plan: BlockPlan): boolean {
  const { region, base, flagged, values } = plan;
  const frame = region.frames[base];
  if (region.form !== 'rest' || region.holds || region.jump?.kind !== 'return' || frame === undefined || frame.owner !== null || base !== region.frames.length - 1) return false;
  if (flagged.size > 0 || plan.loops || plan.barrierAfter || values.travels.some((travel) => travel.result)) return false;
  // The items' values go into the variables that are there, which a constant or a reference does not allow.
  if (values.travels.some(({ decl, how }) => how !== 'declare' && isVisibleBehind(plan, decl) && (decl.type.const === true || decl.type.kind === 'reference' || decl.type.kind === 'array'))) return false;
  // A copy of another thread's values would be kept by a lambda or a reference that was made before.
  return facts.function.body !== null && !values.travels.some(({ decl }) => isVisibleBehind(plan, decl) && facts.addressTaken(decl)) && !capturesBefore(plan);
}

/** Its declaration is seen from the heavy part where that stands: it comes before the gates, or moves in front of them. */
export function isVisibleBehind(plan: BlockPlan, decl: Variable): boolean {
  if (decl.kind === 'parameter') return true;
  const list = plan.region.frames[plan.base]?.list ?? [];
  const from = list[plan.first];
  return plan.hoisted.some(({ stmt }) => stmt.variables.includes(decl)) || (from !== undefined && list.slice(0, plan.first).some((stmt) => stmt.kind === 'declare' && stmt.variables.includes(decl)));
}

function capturesBefore({ region, base }: BlockPlan): boolean {
  let found = false;
  const frame = region.frames[base];
  for (const stmt of frame?.list.slice(0, frame.index) ?? []) walk(stmt, (node) => { if (!isStmt(node) && node.kind === 'lambda') found = true; return !found; });
  return found;
}
