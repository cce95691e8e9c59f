/**
 * Masks that leave out the lane that passes them: `mask-not-a-mask`.
 *
 *   __reduce_add_sync(votes & ~(1u << lane), v)        "the other lanes": the caller is not in its own mask, which is undefined
 *
 * A mask is taken apart into what `&` joins, through variables; a part that can be evaluated for every thread and has a 0 at the lane of one that comes is enough, whatever the other
 * parts are. Where who comes cannot be told, every lane must be left out. Masks that are compared, counted or searched are no masks of a call. Source: CUDA C++ Programming Guide,
 * "Warp Shuffle Functions": each calling thread must have its own bit set.
 */
import type { Arrival } from '../../analysis/arrival.js';
import { strip } from '../../analysis/children.js';
import type { BlockShape } from '../../analysis/facts.js';
import { soleDefinition } from '../../analysis/sole-value.js';
import type { Expr } from '../../syntax/tree.js';
import { perThread } from './agreement.js';
import { originOf } from './masks.js';
import { isHip } from './platform.js';
import { reason, reasonsOf, textOf, type Report } from './report.js';
import type { Collective, Spot } from './scene.js';

interface Part { readonly expr: Expr; readonly spot: Spot }

const MAX_PARTS = 16;
/** For blocks of unknown shape; the finding is looked at again in the shapes that the kernel is most likely for. */
const ROW: BlockShape = { x: 64, y: 1, z: 1 };

export function withoutOwnLane(call: Collective, arrival: Arrival, mask: Expr, report: Report): void {
  const shape = call.spot.facts.block.value ?? ROW;
  const parts: Part[] = [];
  collect(mask, call.spot, parts);
  const come = comers(arrival, shape);
  for (const part of parts) {
    const values = perThread(part.expr, part.spot, shape);
    if (values === null) continue;
    const leftOut = values.map((value, thread) => ((Math.floor(value / 2 ** (thread % 32)) % 2) + 2) % 2 === 0);
    const lane = come === null ? (leftOut.every((out) => out) ? 0 : -1) : leftOut.findIndex((out, thread) => out && come[thread] === 1);
    if (lane < 0) continue;
    const every = leftOut.every((out) => out);
    report.add(call.node, call.spot, {
      id: 'mask-not-a-mask', severity: isHip(call.spot) ? 'caution' : 'error', message: `${every ? 'each lane' : `lane ${lane % 32}`} calls \`${call.name}\` with a mask that leaves it out`,
      because: [reason(part.expr, part.spot, `\`${textOf(part.expr, part.spot)}\` has a 0 for ${every ? 'the lane that evaluates it' : `lane ${lane % 32}`}`), ...(every ? [] : reasonsOf(arrival.partitions))],
      repair: 'name every lane that calls, itself too, and take what is its own out of the result: `sum - own`, `votes & ~(1u << lane)` behind the vote',
    });
    return;
  }
}

/** What `&` joins. A complement of a sum of bits is what joins the complements. */
function collect(written: Expr, from: Spot, into: Part[]): void {
  if (into.length >= MAX_PARTS) return;
  const { expr, spot } = originOf(written, from);
  if (expr.kind === 'binary' && expr.op === '&') {
    collect(expr.left, spot, into);
    collect(expr.right, spot, into);
    return;
  }
  if (expr.kind === 'ref') {
    const only = soleDefinition(expr, spot.facts);
    if (only?.kind === 'assignment' && only.node.kind === 'assign' && only.node.op === '&') collect(only.node.value, spot, into);
    return;
  }
  if (expr.kind === 'binary' || (expr.kind === 'unary' && expr.op === '~')) into.push({ expr: strip(expr), spot });
}

/** Which threads come; null if a condition cannot be evaluated. */
function comers(arrival: Arrival, shape: BlockShape): Uint8Array | null {
  const come = new Uint8Array(shape.x * shape.y * shape.z).fill(1);
  for (const { decision, facts } of arrival.partitions) {
    const set = decision === null || decision.holds === null ? null : facts.laneSetIn?.(decision.condition, shape) ?? null;
    if (set === null || decision === null) return null;
    set.holds.forEach((held, thread) => { if ((held === 1) !== decision.holds) come[thread] = 0; });
  }
  return come;
}
