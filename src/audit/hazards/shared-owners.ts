/**
 * Shared elements whose owner did not come: `exit-skips-shared-write`, `shared-uninitialised`, `shared-stale`.
 *
 *   if (i >= n) return;                         the last live thread reads what its right neighbour owed,
 *   t[threadIdx.x + 1] = x[i];                  and the neighbour has left the kernel
 *   __syncthreads();
 *   y[i] = t[threadIdx.x] + t[threadIdx.x + 2];
 *
 * Looked at are arrays that are written only below a guard of the work's edge, each thread its own element, and read elsewhere at the element of a thread with a higher
 * number (a positive distance, equal coefficients). A read that is itself kept inside the extent (its conditions name the extent) is right. An array
 * that nothing writes is uninitialised whoever reads it. Not handled: owners by division, guards in data (those are not edges), several writers of one element.
 */
import type { Arrival, Partition } from '../../analysis/arrival.js';
import { forEachChild, type Node } from '../../analysis/children.js';
import type { Loop } from '../../analysis/facts.js';
import { structureOf } from '../../analysis/structure.js';
import type { Decl, VariableDecl } from '../../syntax/tree.js';
import { coefficientOf, constantOfForm, difference, formsOf, restIsShared, surelyAtLeast, type Form } from './forms.js';
import { owedBehind } from './exited-owners.js';
import { edgeOf, spotOf, type Edge } from './guards.js';
import { reason, reasonsOf, textOf, type Report } from './report.js';
import { sharedCounters } from './shared-counters.js';
import type { Access, Scene, Spot } from './scene.js';

export function sharedOwners(scene: Scene, report: Report): void {
  if (!scene.complete) return;
  const byBase = new Map<VariableDecl, Access[]>();
  for (const access of scene.accesses) {
    const list = byBase.get(access.place.base);
    if (list === undefined) byBase.set(access.place.base, [access]);
    else list.push(access);
  }
  if (byBase.size === 0) return;
  sharedCounters(scene, byBase, (base) => !scene.escaped.has(base) && isClear(base, scene), report);
  for (const [base, accesses] of byBase) {
    if (scene.escaped.has(base)) continue;
    const writes = accesses.filter((access) => access.mode !== 'read');
    if (writes.length === 0) neverWritten(base, accesses, scene, report);
    else {
      partlyWritten(writes, accesses.filter((access) => access.mode === 'read'), report);
      perhapsWritten(base, accesses, scene, report);
    }
  }
}

function neverWritten(base: VariableDecl, reads: readonly Access[], scene: Scene, report: Report): void {
  const first = reads[0];
  // Dynamic shared arrays are one memory under many names; static data of a class or another unit may be written elsewhere.
  if (first === undefined || !isClear(base, scene)) return;
  report.add(first.node, first.spot, {
    id: 'shared-uninitialised', severity: 'error', message: `\`${base.name}\` is read and nothing writes it`, because: [reason(first.node, first.spot, `\`${textOf(first.node, first.spot)}\` is read here`)],
    repair: 'write every element that is read, and place a barrier between',
  });
}

/** Is all that touches the array in sight? */
function isClear(base: VariableDecl, scene: Scene): boolean {
  return !base.dynamicShared && base.storage !== 'extern' && base.init === null && !scene.events.some((event) => event.kind === 'unknown') && !constructed(base) && !mentionedElsewhere(base, scene);
}

function constructed(base: VariableDecl): boolean {
  let { type } = base;
  while (type.kind === 'array') type = type.of;
  return type.kind === 'record' ? type.decl.vector === null : type.kind === 'unknown' || type.kind === 'dependent';
}

/** Is the array named anywhere that gave no access: its address handed on, bound to a reference? */
function mentionedElsewhere(base: VariableDecl, scene: Scene): boolean {
  const accessed = new Set<Node>();
  const mark = (node: Node): void => { accessed.add(node); forEachChild(node, mark); };
  for (const access of scene.accesses) if (access.place.base === base) mark(access.node);
  let found = false;
  for (const spot of scene.spots) {
    const visit = (node: Node): void => {
      if (node.kind === 'ref' && node.decl === base && !accessed.has(node)) found = true;
      forEachChild(node, visit);
    };
    if (spot.facts.function.body !== null) visit(spot.facts.function.body);
  }
  return found;
}

/** One object for the block that is written only by threads whose data say so, and read by all: there may be none. */
function perhapsWritten(base: VariableDecl, accesses: readonly Access[], scene: Scene, report: Report): void {
  if (base.dynamicShared || base.storage === 'extern' || base.init !== null || base.type.kind === 'array' || constructed(base)) return;
  if (scene.events.some((event) => event.kind === 'unknown') || mentionedElsewhere(base, scene)) return;
  // The block may have asked whether there is one.
  if (scene.collectives.some((call) => call.name === '__syncthreads_or' || call.name === '__syncthreads_count')) return;
  const first = accesses.find((access) => access.mode === 'read');
  if (first === undefined) return;
  const around = first.spot.sets.at(first.node).partitions;
  const onData = (access: Access): Partition | undefined => access.spot.sets.at(access.node).partitions.find((partition) => {
    if (partition.kind !== 'skip' || partition.by !== 'branch' || !partition.known || partition.scope !== 'lane' || around.some((other) => other.at === partition.at)) return false;
    const where = spotOf(partition, access.spot);
    const verdicts = partition.conditions.map((condition) => where.facts.scope(condition));
    return verdicts.length > 0 && verdicts.every((verdict) => verdict.known && verdict.sources.data);
  });
  const reasons: Partition[] = [];
  for (const access of accesses) {
    if (access.mode === 'read') continue;
    const partition = onData(access);
    if (partition === undefined) return;
    reasons.push(partition);
  }
  report.add(first.node, first.spot, {
    id: 'shared-uninitialised', severity: 'caution', message: `\`${base.name}\` is written only by threads whose data say so: if there is none, what is read here was never written`, because: reasonsOf(reasons.slice(0, 2)),
    repair: `let one thread initialise \`${base.name}\` before, with a barrier between`,
  });
}

// --------------------------------------------------------------------------------------------------- written in part

interface Write { readonly access: Access; readonly forms: readonly Form[] }

function partlyWritten(writes: readonly Access[], reads: readonly Access[], report: Report): void {
  const first = writes[0];
  if (first === undefined || reads.length === 0) return;
  const exits: { readonly partition: Partition; readonly edge: Edge }[] = [];
  for (const partition of first.spot.sets.at(first.node).partitions) {
    if (!partition.known || partition.unless !== null || (partition.kind === 'skip' && partition.by !== 'branch')) continue;
    if (!writes.every((write) => under(write, partition))) continue;
    const edge = edgeOf(partition, first.spot);
    if (edge === null || edge.axes.size === 0) continue;
    if (partition.kind === 'exit') exits.push({ partition, edge });
    const owned: Write[] = [];
    for (const access of writes) {
      const forms = access.mode === 'write' ? formsOf(access.place) : null;
      // One thread's own extra element (a halo) owes nothing to the others.
      if (forms !== null && forms.some((form) => ownsElement(form, edge))) owned.push({ access, forms });
    }
    if (owned.length === 0) continue;
    if (judge(owned, reads, partition, edge, report)) return;
  }
  // Neighbours first: what is owed at a constant distance needs no shape.
  exits.some(({ partition, edge }) => owed(writes, reads, partition, edge, report));
}

/** Elements of threads that leave before the reader, at whatever distance: said? */
function owed(writes: readonly Access[], reads: readonly Access[], exit: Partition, edge: Edge, report: Report): boolean {
  if (writes.some((write) => write.mode !== 'write')) return false;
  const open = reads.filter((read) => under(read, exit) && !namesExtent(read, read.spot.sets.at(read.node), exit, edge));
  const found = owedBehind(exit, edge, writes, open);
  if (found === null) return false;
  const { read, write, reader, writer, known } = found;
  report.add(read.node, read.spot, {
    id: 'exit-skips-shared-write', severity: known ? 'error' : 'caution', message: `\`${textOf(read.node, read.spot)}\` is owed by a thread that may have left the kernel`,
    because: [reason(write.node, write.spot, `\`${textOf(write.node, write.spot)}\` is written here by thread ${writer}, if it is still there`), reason(read.node, read.spot, `thread ${reader}, which leaves later, reads that element`), ...reasonsOf([exit])],
    repair: 'turn the early return into a condition around the work: threads beyond the end write a neutral value before the barrier',
  });
  return true;
}

function under(access: Access, partition: Partition): boolean {
  return access.spot.sets.at(access.node).partitions.some((other) => other.at === partition.at && other.kind === partition.kind && other.by === partition.by);
}

function ownsElement(form: Form, edge: Edge): boolean {
  return [...edge.axes].some((axis) => coefficientOf(form, axis) !== 0n) && restIsShared(form);
}

function judge(owned: readonly Write[], reads: readonly Access[], partition: Partition, edge: Edge, report: Report): boolean {
  for (const read of reads) {
    const forms = formsOf(read.place);
    if (forms === null) continue;
    const inside = under(read, partition);
    if (!inside && partition.kind === 'exit') continue;
    const arrival = read.spot.sets.at(read.node);
    if (namesExtent(read, arrival, partition, edge)) continue;
    const from = owned.find((write) => readsHigher(write.forms, forms, edge));
    if (from === undefined || from.access.node === read.node) continue;
    // Every write must be of this kind, or the neighbour's element may be written by somebody else.
    if (owned.some((write) => covers(write.forms, forms))) continue;
    say(read, from.access, partition, inside, report);
    return true;
  }
  return false;
}

/** Does the read go to the element of a thread with a higher number on an axis of the guard? */
function readsHigher(write: readonly Form[], read: readonly Form[], edge: Edge): boolean {
  if (write.length !== read.length) return false;
  let higher = false;
  for (let i = 0; i < write.length; i++) {
    const w = write[i];
    const r = read[i];
    if (w === undefined || r === undefined) return false;
    const apart = difference(r, w);
    if (constantOfForm(apart) === 0n) continue;
    const axis = [...edge.axes].find((one) => coefficientOf(w, one) > 0n);
    if (axis === undefined || !surelyAtLeast(apart, 1n)) return false;
    higher = true;
  }
  return higher;
}

/** Does the write go to the very element that is read? */
function covers(write: readonly Form[], read: readonly Form[]): boolean {
  return write.length === read.length && write.every((form, i) => { const other = read[i]; return other !== undefined && constantOfForm(difference(other, form)) === 0n; });
}

/** Is the read kept inside the extent: does a condition around it, besides the guard itself, name what the guard compares with? */
function namesExtent(read: Access, arrival: Arrival, partition: Partition, edge: Edge): boolean {
  const names = new Set<Decl>();
  for (const guard of edge.guards) collect(guard.extent, names);
  const own = arrival.partitions.some((other) => other.at !== partition.at && other.conditions.some((condition) => mentions(condition, names)));
  return own || uniformMentions(read, names) || names.size === 0 && partition.kind === 'skip';
}

/** Conditions that all threads share are no partitions: bounds of loops around the read. */
function uniformMentions(read: Access, names: ReadonlySet<Decl>): boolean {
  for (let spot: Spot | null = read.spot, node: Node = read.node; spot !== null; ) {
    for (const loop of spot.facts.loops(node)) if (mentionsIn(loop, names)) return true;
    const { parents } = structureOf(spot.facts.function);
    for (let n = parents.get(node); n !== undefined; n = parents.get(n)) {
      if (n.kind === 'conditional' && mentions(n.condition, names)) return true;
      if (n.kind === 'if' && mentions(n.condition, names) && spot.facts.scope(n.condition).value !== 'lane') return true;
    }
    if (spot.frame.call === null) return false;
    node = spot.frame.call;
    spot = spot.outer;
  }
  return false;
}

function mentionsIn(loop: Loop, names: ReadonlySet<Decl>): boolean {
  return loop.kind !== 'range-for' && loop.condition !== null && mentions(loop.condition, names);
}

function collect(node: Node, into: Set<Decl>): void {
  if (node.kind === 'ref' && node.decl !== null) into.add(node.decl);
  forEachChild(node, (child) => collect(child, into));
}

function mentions(node: Node, names: ReadonlySet<Decl>): boolean {
  if (node.kind === 'ref' && node.decl !== null && names.has(node.decl)) return true;
  let found = false;
  forEachChild(node, (child) => { found ||= mentions(child, names); });
  return found;
}

function say(read: Access, write: Access, partition: Partition, inside: boolean, report: Report): void {
  const because = [reason(write.node, write.spot, `each thread that comes writes its own element \`${textOf(write.node, write.spot)}\``), reason(read.node, read.spot, `\`${textOf(read.node, read.spot)}\` is the element of a thread with a higher number`), ...reasonsOf([partition])];
  if (partition.kind === 'exit') {
    report.add(read.node, read.spot, {
      id: 'exit-skips-shared-write', severity: 'error', message: `\`${textOf(read.node, read.spot)}\` is owed by a thread that may have left the kernel`, because,
      repair: 'turn the early return into a condition around the work: threads beyond the end write a neutral value before the barrier',
    });
    return;
  }
  const repair = 'let the threads beyond the end write a neutral value: `else` with the element\'s neutral value, before the barrier';
  if (!inside) {
    const loop = read.spot.facts.loops(read.node).find((around) => write.spot.facts === read.spot.facts && write.spot.facts.loops(write.node).includes(around));
    const id = loop === undefined ? 'shared-uninitialised' : 'shared-stale';
    const what = loop === undefined ? 'was never written' : 'holds the value of an earlier round';
    report.add(read.node, read.spot, { id, severity: 'caution', message: `\`${textOf(read.node, read.spot)}\` may read an element that ${what}: its owner does not come to the write`, because, repair });
    return;
  }
  // Said where the threads part: at the call, if that is where.
  let at: Node = read.node;
  let spot = read.spot;
  for (let depth = partition.depth; spot.outer !== null && spot.frame.call !== null && spotOf(partition, read.spot) !== spot && depth > 0; depth--) { at = spot.frame.call; spot = spot.outer; }
  report.add(at, spot, { id: 'shared-uninitialised', severity: 'error', message: `\`${textOf(read.node, read.spot)}\` reads an element that its owner never wrote: it does not come here`, because, repair });
}
