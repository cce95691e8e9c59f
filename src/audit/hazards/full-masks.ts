/**
 * Masks that name lanes which are alive and do not come: `mask-full-under-divergence`, `collective-short-circuit`, `collective-in-both-arms`,
 * `collective-behind-call`, `shuffle-inactive-source` (the source is one of them) and `leader-may-not-arrive` (the lane whose value is passed on is one of them).
 *
 * The rule (SEMANTICS 5.1): every lane named that has not exited executes the same intrinsic with the same mask. The repair is the vote of the whole path
 * condition, taken above the branch.
 */
import type { Arrival, Partition } from '../../analysis/arrival.js';
import { strip } from '../../analysis/children.js';
import type { Expr } from '../../syntax/tree.js';
import { perThread } from './agreement.js';
import { sharedByArms } from './arms.js';
import { edgeOf, electsOne, spotOf } from './guards.js';
import { sourcesOutside } from './mask-sources.js';
import { maskOf, originOf, type Mask } from './masks.js';
import { withoutOwnLane } from './own-lane.js';
import { isHip } from './platform.js';
import { reason, reasonsOf, textIn, textOf, type Report } from './report.js';
import type { Collective, Scene, Spot } from './scene.js';
import { caveat, weigh } from './severity.js';
import { votedMask } from './voted-masks.js';

export function fullMasks(scene: Scene, report: Report): void {
  for (const call of scene.collectives) {
    if (call.builtin === null || call.builtin.collective !== 'warp' || call.builtin.legacy || call.builtin.mask === null) continue;
    const given = call.node.arguments[call.builtin.mask];
    const mask = given === undefined ? { kind: 'full' } as const : maskOf(given, call.spot);
    const arrival = call.spot.sets.at(call.node);
    if (mask.kind === 'full') full(call, arrival, report);
    else if (mask.kind === 'vote') { if (mask.predicate !== null) votedMask(call, arrival, mask.call, mask.predicate, mask.spot, report); }
    else if (given !== undefined && (mask.kind === 'computed' || mask.kind === 'unknown')) {
      const vote = complementOf(given, call.spot);
      if (vote !== null && vote.predicate !== null) votedMask(call, arrival, vote.call, vote.predicate, vote.spot, report, false);
      else { withoutOwnLane(call, arrival, given, report); chosen(call, arrival, given, report); }
    } else if (mask.kind === 'constant') { fixed(call, arrival, () => mask.lanes, report); sourcesOutside(call, mask.lanes, report); }
  }
}

/** The vote that a mask is the complement of. */
function complementOf(mask: Expr, from: Spot): (Mask & { readonly kind: 'vote' }) | null {
  const { expr, spot } = originOf(mask, from);
  if (expr.kind !== 'unary' || expr.op !== '~') return null;
  const vote = maskOf(expr.operand, spot);
  return vote.kind === 'vote' ? vote : null;
}

/** `lane < 16 ? 0xffffu : 0xffff0000u`: a mask that each lane takes by its number. */
function chosen(call: Collective, arrival: Arrival, mask: Expr, report: Report): void {
  const { expr, spot } = originOf(mask, call.spot);
  const shape = call.spot.facts.block.value;
  const values = expr.kind !== 'conditional' || shape === null || isHip(call.spot) || arrival.skips.some(sharedByArms) ? null : perThread(expr, spot, shape);
  if (values !== null) fixed(call, arrival, (thread) => values[thread] ?? 0, report);
}

function full(call: Collective, arrival: Arrival, report: Report): void {
  const weighed = weigh(arrival.skips, call.spot, 32);
  if (weighed === null) {
    if (arrival.skips.some((partition) => partition.known && sharedByArms(partition))) {
      report.add(call.node, call.spot, {
        id: 'collective-in-both-arms', severity: 'note', message: `\`${call.name}\` is called in both arms with one mask: legal since compute capability 7.0, an error below`,
        because: reasonsOf(arrival.skips), repair: 'call it once behind the branch if devices below 7.0 are built for',
      });
    }
    return;
  }
  // Wavefronts of HIP run in step and masks there have 64 bits.
  const severity = isHip(call.spot) ? 'caution' : weighed.severity;
  const source = constantSource(call);
  const inner = weighed.partitions[weighed.partitions.length - 1];
  const shortCircuit = inner !== undefined && inner.depth === 0 && inner.by === 'branch' && (inner.at.kind === 'binary' || inner.at.kind === 'conditional');
  const lost = source !== null && mayMiss(source, weighed.partitions, call.spot);
  const id = shortCircuit ? 'collective-short-circuit' : lost ? 'shuffle-inactive-source' : 'mask-full-under-divergence';
  const what = lost ? `lane ${source}, which \`${call.name}\` reads, may not come here, and the mask names lanes that do not` : `\`${call.name}\` names all 32 lanes, and not all that are alive come here`;
  report.add(call.node, call.spot, { id, severity, message: `${what}${caveat(weighed)}`, because: reasonsOf(weighed.partitions), repair: repairOf(arrival, call) });
  behindCall(call, weighed.partitions, report);
  if (lost && severity === 'error') leader(call, report, weighed.partitions);
}

/** Where to take the mask. */
function repairOf(arrival: Arrival, call: Collective): string {
  if (arrival.lanes.kind !== 'vote') return `move \`${call.name}\` to where all lanes of the warp come, and make what differs a value`;
  const { decisions } = arrival.lanes;
  const first = arrival.skips[0];
  const where = first === undefined ? 'above the branch' : `above line ${first.facts.unit.source.line(first.at.span.start)}${first.loop === null ? '' : ', and again in every round of the loop'}`;
  const condition = decisions.map((decision, i) => {
    const facts = arrival.skips[i]?.facts ?? call.spot.facts;
    const text = textIn(decision.condition, facts);
    return decision.holds === false ? `!(${text})` : decisions.length > 1 ? `(${text})` : text;
  }).join(' && ');
  return `take \`unsigned mask = __ballot_sync(0xffffffff, ${condition});\` ${where}, where the whole warp still comes, and pass it here`;
}

/** The lane that `__shfl_sync` reads, if it is a constant. */
function constantSource(call: Collective): bigint | null {
  const source = call.name === '__shfl_sync' ? call.node.arguments[2] : undefined;
  return source === undefined ? null : call.spot.facts.constant(source);
}

/** May this lane be missing while others come? A guard of the work's edge keeps lane 0 as long as any lane comes. */
function mayMiss(lane: bigint, partitions: readonly Partition[], spot: Spot): boolean {
  return partitions.some((partition) => {
    const lanes = partition.decision === null ? null : partition.facts.laneSet(partition.decision.condition);
    if (lanes !== null && partition.decision !== null) {
      const wanted = partition.decision.holds === false ? 0 : 1;
      for (let warp = 0; warp < lanes.warps; warp++) {
        const of = [...lanes.holds.slice(warp * 32, warp * 32 + 32)];
        if (of.some((held) => held === wanted) && of[Number(lane)] !== wanted) return true;
      }
      return false;
    }
    return lane !== 0n || edgeOf(partition, spot) === null;
  });
}

/** A helper that holds a collective, called where not all lanes come: said at the call too. */
function behindCall(call: Collective, partitions: readonly Partition[], report: Report): void {
  const outer = partitions.filter((partition) => partition.depth > 0);
  const nearest = outer[outer.length - 1];
  if (nearest === undefined || nearest.by === 'caller') return;
  let here = call.spot;
  for (let depth = nearest.depth; depth > 1 && here.outer !== null; depth--) here = here.outer;
  const { outer: caller } = here;
  const at = here.frame.call;
  if (caller === null || at === null) return;
  report.add(at, caller, {
    id: 'collective-behind-call', severity: 'caution', message: `\`${here.facts.function.name}\` holds \`${call.name}\`, which all lanes it names must execute; not all come here`,
    because: [reason(at, caller, `\`${textOf(at, caller)}\` leads to it`), ...reasonsOf(outer)], repair: 'give the helper a mask as a parameter, or call it where the whole warp comes',
  });
}

/** The value passed on was made by a lane that may be missing: nobody made it then. */
export function leader(call: Collective, report: Report, partitions: readonly Partition[]): void {
  const value = call.node.arguments[1];
  const source = call.node.arguments[2];
  if (value === undefined || source === undefined) return;
  const use = strip(value);
  if (use.kind !== 'ref') return;
  for (const definition of call.spot.facts.definitions(use)) {
    if (definition.kind !== 'assignment') continue;
    const inner = call.spot.sets.at(definition.node).skips.at(-1);
    if (inner === undefined || inner.decision === null || inner.depth !== 0 || partitions.includes(inner)) continue;
    const elected = electsOne(inner.decision.condition, inner.decision.holds === true, call.spot);
    if (elected === null || elected.value === null || elected.value !== call.spot.facts.constant(source)) continue;
    report.add(definition.node, call.spot, {
      id: 'leader-may-not-arrive', severity: 'error', message: `lane ${elected.value} does this for the others, and may not be among those that come here`,
      because: [reason(inner.at, call.spot, `\`${textOf(inner.decision.condition, call.spot)}\` elects one lane`), ...reasonsOf(partitions)],
      repair: 'elect a lane of the vote: `__ffs(mask) - 1`',
    });
  }
}

/** A mask of some lanes that is known for each thread, where the lanes that come can be counted. */
function fixed(call: Collective, arrival: Arrival, maskOfThread: (thread: number) => number, report: Report): void {
  const shape = call.spot.facts.block.value;
  if (shape === null) return;
  const threads = shape.x * shape.y * shape.z;
  const comes = new Uint8Array(threads).fill(1);
  for (const partition of arrival.partitions) {
    const { decision } = partition;
    const lanes = decision === null || decision.holds === null ? null : spotOf(partition, call.spot).facts.laneSet(decision.condition);
    if (lanes === null || decision === null) return;
    lanes.holds.forEach((held, i) => { if ((held === 1) !== decision.holds) comes[i] = 0; });
  }
  for (let thread = 0; thread < threads; thread++) {
    // A lane that does not come may be named by the one below it that does.
    const first = thread - (thread % 32);
    const naming = comes[thread] === 1 ? thread - first : comes.subarray(first, first + 32).findIndex((come, i) => come === 1 && ((maskOfThread(first + i) >>> (thread % 32)) & 1) === 1);
    const caller = naming < 0 ? -1 : first + naming;
    const named = caller < 0 ? 0 : maskOfThread(caller);
    if (caller >= 0 && named === 0) return; // said by mask-not-a-mask
    const isNamed = ((named >>> (thread % 32)) & 1) === 1;
    if (comes[thread] === 1 && !isNamed) {
      report.add(call.node, call.spot, {
        id: 'mask-not-a-mask', severity: 'error', message: `lane ${thread % 32} calls \`${call.name}\` and is not in its mask 0x${(named >>> 0).toString(16)}`, because: reasonsOf(arrival.partitions),
        repair: 'name every lane that comes: `0xffffffff` where the whole warp does',
      });
      return;
    }
    if (comes[thread] !== 1 && isNamed && arrival.exits.length === 0) {
      report.add(call.node, call.spot, {
        id: 'mask-full-under-divergence', severity: 'error', message: `\`${call.name}\` names lane ${thread % 32}, which is alive and does not come here`, because: reasonsOf(arrival.partitions),
        repair: repairOf(arrival, call),
      });
      return;
    }
  }
}

