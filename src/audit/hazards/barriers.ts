/**
 * Barriers of the block and collectives of groups: `barrier-divergent`, `barrier-after-exit`, `group-divergent`.
 *
 * Every live thread of the block must reach the same barrier; a condition that only warps differ in is enough to break it. Threads that have left the kernel are
 * not waited for on 7.0 and later, which the programming guide does not promise: a caution. Cooperative groups and block-wide library
 * calls (CUB) are collectives of their group. A coalesced group is whoever made it and is never divergent; of a tile narrower than a warp nothing surer than a
 * caution is said, because tiles may differ where lanes do. Named barriers in inline PTX, which may be for a part of the block by design, are named-barriers.ts.
 */
import { forEachChild, strip, type Node } from '../../analysis/children.js';
import type { Arrival, Partition } from '../../analysis/arrival.js';
import type { Decl, Expr } from '../../syntax/tree.js';
import type { Severity } from '../types.js';
import { groupSize } from './agreement.js';
import { gridSync } from './grid-syncs.js';
import { originOf } from './masks.js';
import { reason, reasonsOf, textOf, type Report } from './report.js';
import type { Collective, Scene, Spot } from './scene.js';
import { caveat, weigh, type Weighed } from './severity.js';

export function barriers(scene: Scene, report: Report): void {
  for (const call of scene.collectives) {
    if (call.builtin !== null) { if (call.builtin.collective === 'block') block(call, report); } else { group(call, report); gridSync(call, report); }
  }
}

function block(call: Collective, report: Report): void {
  const arrival = call.spot.sets.at(call.node);
  const skips = arrival.partitions.filter((partition) => partition.kind === 'skip');
  const weighed = weigh(skips, call.spot, null);
  if (weighed !== null) {
    const paired = weighed.partitions.every((partition) => leavesWithBarriers(partition));
    say(call, paired ? 'caution' : weighed.severity, 'barrier-divergent', `not every live thread of the block reaches this \`${call.name}\`${caveat(weighed)}`, weighed, report);
    behind(call, weighed.partitions, report);
    return;
  }
  const both = weigh(skips, call.spot, null, 'counted');
  if (both !== null) {
    report.add(call.node, call.spot, {
      id: 'barrier-divergent', severity: both.severity, message: `threads of one block wait at different \`${call.name}\` calls, which only a condition that is one value for the block allows${caveat(both)}`,
      because: reasonsOf(both.partitions), repair: 'move the barrier out of the branch: once behind both arms',
    });
  }
  exited(call, arrival.exits, report);
}

/** `if (c) { …; __syncthreads(); …; return; } … __syncthreads();`: both sides wait equally often by design, at different barriers. */
function leavesWithBarriers(partition: Partition): boolean {
  const { at } = partition;
  if (at.kind !== 'if' || at.else !== null || at.then.kind !== 'compound') return false;
  if (at.then.body[at.then.body.length - 1]?.kind !== 'return') return false;
  return partition.facts.effects(at.then).barriers.length > 0;
}

function exited(call: Collective, exits: readonly Partition[], report: Report): void {
  const known = exits.filter((partition) => partition.known);
  const first = known[0];
  if (first === undefined) return;
  report.add(call.node, call.spot, {
    id: 'barrier-after-exit', severity: 'caution', message: `threads may have left the kernel before \`${call.name}\`: 7.0 and later do not wait for them, the programming guide does not promise it`,
    because: reasonsOf(known), repair: 'turn the early return into a condition around the work, so that every thread reaches the barrier',
  });
}

function say(call: Collective, severity: Severity, id: string, message: string, weighed: Weighed, report: Report): void {
  report.add(call.node, call.spot, {
    id, severity, message, because: reasonsOf(weighed.partitions),
    repair: 'move it to where every thread comes: guard the work on both sides of it instead, and let loops run equally often for all threads',
  });
}

function behind(call: Collective, partitions: readonly Partition[], report: Report): void {
  const outer = partitions.filter((partition) => partition.depth > 0 && partition.by !== 'caller');
  const nearest = outer[outer.length - 1];
  if (nearest === undefined) return;
  let here = call.spot;
  for (let depth = nearest.depth; depth > 1 && here.outer !== null; depth--) here = here.outer;
  if (here.outer === null || here.frame.call === null) return;
  report.add(here.frame.call, here.outer, {
    id: 'collective-behind-call', severity: 'caution', message: `\`${here.facts.function.name}\` holds \`${call.name}\`, which every thread of the block must reach; not all come here`,
    because: [reason(here.frame.call, here.outer, `\`${textOf(here.frame.call, here.outer)}\` leads to it`), ...reasonsOf(outer)], repair: 'call it where the whole block comes, and guard the work inside',
  });
}

function group(call: Collective, report: Report): void {
  const { library } = call;
  if (library === null || library.participants === null) return;
  const arrival = call.spot.sets.at(call.node);
  const generic = isGeneric(call);
  const lanes = library.participants === 'warp' || generic ? tileOf(call) : null;
  if (lanes === 'coalesced') { coalesced(call, arrival, report); return; }
  // `thread_group` may be any group: only what made it tells.
  const members = generic ? 'warp' : library.participants;
  const skips = arrival.partitions.filter((partition) => partition.kind === 'skip' && (members !== 'warp' || partition.scope === 'lane'));
  const weighed = weigh(skips, call.spot, members === 'warp' ? lanes ?? 32 : null);
  if (weighed !== null) {
    const severity: Severity = members === 'warp' && lanes !== 32 ? 'caution' : weighed.severity;
    const who = members === 'warp' ? 'every lane of the group' : members === 'block' ? 'every thread of the block' : 'every thread of the group';
    say(call, severity, 'group-divergent', `\`${call.name}\` is a collective of its group, and not ${who} comes here${caveat(weighed)}`, weighed, report);
    return;
  }
  if (members !== 'warp') exited(call, arrival.exits, report);
}

/** A coalesced group is whoever made it: all of them must come, so no condition may stand between making and using it. */
function coalesced(call: Collective, arrival: Arrival, report: Report): void {
  const { callee } = call.node;
  const object = callee.kind === 'method' ? strip(callee.object) : null;
  const made = object !== null && object.kind === 'ref' && object.decl !== null && object.decl.kind === 'variable' ? object.decl.init : null;
  if (made === null) return;
  const before = call.spot.sets.at(made).partitions;
  const decl = object !== null && object.kind === 'ref' ? object.decl : null;
  const since = arrival.skips.filter((partition) => partition.depth === 0 && !before.some((other) => other.at === partition.at && other.kind === partition.kind && other.by === partition.by)
    && !partition.conditions.some((condition) => asksGroup(condition, decl, call.spot)));
  const weighed = weigh(since, call.spot, 32);
  if (weighed === null) return;
  report.add(call.node, call.spot, {
    id: 'group-divergent', severity: 'caution', message: `\`${call.name}\` is a collective of the lanes that made the group, and not all of them come here${caveat(weighed)}`, because: reasonsOf(weighed.partitions),
    repair: 'make the group where it is used, or call this where all lanes that made it come',
  });
}

/** `if (g.any(p))`, or the same through a variable: lanes of the group agree on what it answers. */
function asksGroup(node: Node, group: Decl | null, spot: Spot): boolean {
  const value = node.kind === 'ref' ? originOf(node, spot).expr : node;
  if (value.kind === 'call' && value.callee.kind === 'method') {
    const object = strip(value.callee.object);
    if (object.kind === 'ref' && object.decl === group && value.callee.name !== 'thread_rank') return true;
  }
  let found = false;
  if (value === node) forEachChild(node, (child) => { found ||= asksGroup(child, group, spot); });
  return found;
}

function isGeneric(call: Collective): boolean {
  const object = call.group?.expr ?? (call.node.callee.kind === 'method' ? call.node.callee.object : call.node.arguments[0]);
  const type = object === undefined ? null : strip(object).type;
  const inner = type !== null && type.kind === 'reference' ? type.to : type;
  return inner !== null && inner.kind === 'unknown' && inner.text.endsWith('thread_group');
}

/** How many lanes a tile has; `coalesced` for groups made of whoever is there; null if not known. */
function tileOf(call: Collective): number | 'coalesced' | null {
  const { callee } = call.node;
  if (call.group !== undefined) return sizeOf(call.group.expr, call.group.spot);
  if (callee.kind !== 'method') {
    const first = call.node.arguments[0];
    const name = callee.kind === 'value' ? '' : callee.name;
    if (ASKING.some((maker) => name.endsWith(maker))) return 'coalesced';
    if (name.endsWith('_matrix_sync') || name.endsWith('mma_sync') || name.endsWith('fill_fragment')) return name.endsWith('fill_fragment') ? 'coalesced' : 32;
    return first === undefined ? null : sizeOf(first, call.spot);
  }
  return sizeOf(callee.object, call.spot);
}

const ASKING: readonly string[] = ['coalesced_threads', 'labeled_partition', 'binary_partition'];

function sizeOf(object: Expr, spot: Spot): number | 'coalesced' | null {
  const made = originOf(object, spot).expr;
  // Methods may change the object, never its type: what `auto` was declared with tells.
  const declared = made.kind === 'ref' && made.decl !== null && made.decl.kind === 'variable' && made.decl.init !== null ? strip(made.decl.init) : made;
  const name = declared.kind === 'call' && declared.callee.kind !== 'value' ? declared.callee.name : '';
  const { type } = strip(object);
  const inner = type.kind === 'reference' ? type.to : type;
  const text = inner.kind === 'unknown' || inner.kind === 'dependent' ? inner.text : '';
  if (text.includes('coalesced_group') || ASKING.some((maker) => name.endsWith(maker))) return 'coalesced';
  return groupSize(object, spot, spot.facts.block.value, 0);
}
