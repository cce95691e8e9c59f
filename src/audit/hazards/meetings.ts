/**
 * Do two threads touch one shared element in two accesses? Answered by evaluating the subscripts for every thread of the block, for elements that are no constant number of threads
 * apart: a reversal (`s[63 - t]`), a rotation (`s[(t + 1) & 63]`), what one thread writes for all.
 *
 * A thread that writes the element itself is no witness: where all threads write one value, reading it is right whoever came last. Conditions are evaluated too; one that cannot be,
 * because it asks data, and that both accesses stand under, makes the answer doubtful; a guard of the work's edge does not. Not handled (null): subscripts of more than coordinates and
 * constants (equal ones of symbols that the block shares are one element), other conditions that cannot be evaluated, accesses in different arms, two writes, block shapes that are not known, except for elements that are
 * one for all threads.
 */
import type { Partition } from '../../analysis/arrival.js';
import type { Node } from '../../analysis/children.js';
import type { BlockShape } from '../../analysis/facts.js';
import { structureOf } from '../../analysis/structure.js';
import { valuesOf } from './agreement.js';
import { constantOfForm, difference, formOfParts, restIsShared } from './forms.js';
import { edgeOf, spotOf } from './guards.js';
import type { Access, Spot } from './scene.js';

export interface Meeting {
  readonly writer: number;
  readonly reader: number;
  /** Every pair that meets is in one warp. */
  readonly inWarp: boolean;
  readonly sure: boolean;
}

/** The first pair of threads that meet, of different warps if there is one. */
export function meetingOf(a: Access, b: Access): Meeting | null {
  const write = a.mode === 'write' ? a : b;
  const read = write === a ? b : a;
  if (write.mode !== 'write' || read.mode !== 'read' || write.place.volatile || read.place.volatile || !write.place.exact || !read.place.exact) return null;
  if (write.place.dims.length !== read.place.dims.length || write.place.fields !== read.place.fields || write.place.pointer || read.place.pointer) return null;
  const arms = standTogether(a, b);
  if (arms === 'exclusive') return null;
  const shape = shapeFor(write, read);
  if (shape === null) return null;
  const writers = comers(write, read, shape);
  const readers = writers === null ? null : comers(read, write, shape);
  const elements = readers === null ? null : elementsOf(write, read, shape);
  if (writers === null || readers === null || elements === null) return null;
  const sure = arms === 'together' && writers.sure && readers.sure;
  const threads = shape.x * shape.y * shape.z;
  const owner = new Map<string, number>();
  for (let thread = 0; thread < threads; thread++) if (writers.come[thread] === 1) owner.set(elements.write(thread), thread);
  let inWarp: Meeting | null = null;
  for (let thread = 0; thread < threads; thread++) {
    if (readers.come[thread] !== 1) continue;
    const element = elements.read(thread);
    const writer = owner.get(element);
    if (writer === undefined || writer === thread || (writers.come[thread] === 1 && elements.write(thread) === element)) continue;
    if (Math.floor(writer / 32) !== Math.floor(thread / 32)) return { writer, reader: thread, inWarp: false, sure };
    inWarp ??= { writer, reader: thread, inWarp: true, sure };
  }
  return inWarp;
}

/** The shape of the block; one of 256 threads for elements that are one for all threads in blocks of any shape. */
function shapeFor(a: Access, b: Access): BlockShape | null {
  const { block } = a.spot.facts;
  if (block.value !== null) return block.value;
  const shared = [a, b].every((access) => access.place.dims.every((parts) => { const form = formOfParts(parts); return form !== null && [...form.values()].every((term) => term.axis === null) && restIsShared(form); }));
  return shared ? { x: Math.max(1, Math.min(256, block.maxThreads)), y: 1, z: 1 } : null;
}

interface Comers { readonly come: Uint8Array; readonly sure: boolean }

const same = (a: Partition, b: Partition): boolean => a.at === b.at && a.kind === b.kind && a.by === b.by && a.decision?.holds === b.decision?.holds;

/** Which threads come to an access; null if a condition that the other does not stand under cannot be evaluated. */
function comers(access: Access, other: Access, shape: BlockShape): Comers | null {
  const come = new Uint8Array(shape.x * shape.y * shape.z).fill(1);
  const others = other.spot.sets.at(other.node).partitions;
  let sure = true;
  for (const partition of access.spot.sets.at(access.node).partitions) {
    const { decision, facts } = partition;
    const set = decision === null || decision.holds === null ? null : facts.laneSetIn?.(decision.condition, shape) ?? null;
    if (set !== null && decision !== null) {
      set.holds.forEach((held, thread) => { if ((held === 1) !== decision.holds) come[thread] = 0; });
      continue;
    }
    if (!others.some((one) => same(one, partition))) return null;
    if (edgeOf(partition, access.spot) !== null) continue;
    // By their data any two threads may come; by numbers that could not be evaluated perhaps never these two.
    const where = spotOf(partition, access.spot);
    if (partition.conditions.length === 0 || !partition.conditions.every((condition) => { const verdict = where.facts.scope(condition); return verdict.known && verdict.sources.data; })) return null;
    sure = false;
  }
  return { come, sure };
}

/** Names of the elements that each thread touches; null if not known. */
function elementsOf(write: Access, read: Access, shape: BlockShape): { readonly write: (thread: number) => string; readonly read: (thread: number) => string } | null {
  const writes: (readonly number[])[] = [];
  const reads: (readonly number[])[] = [];
  for (let i = 0; i < write.place.dims.length; i++) {
    const w = write.place.dims[i] ?? [];
    const r = read.place.dims[i] ?? [];
    const first = valuesOf(w, shape);
    const second = first === null ? null : valuesOf(r, shape);
    if (first !== null && second !== null) { writes.push(first); reads.push(second); continue; }
    const a = formOfParts(w);
    const b = formOfParts(r);
    if (a === null || b === null || !restIsShared(a) || constantOfForm(difference(a, b)) !== 0n || [...a.values()].some((term) => term.axis !== null)) return null;
  }
  const name = (of: readonly (readonly number[])[]) => (thread: number): string => of.map((values) => values[thread] ?? -1).join(' ');
  return { write: name(writes), read: name(reads) };
}

// ------------------------------------------------------------------------------------------------------------------ arms

/**
 * `exclusive`: no run executes both, or it is not known that one does. `doubtful`: one stands under a condition that all threads share and the other does not.
 * Conditions that threads differ in are looked at thread by thread.
 */
function standTogether(a: Access, b: Access): 'together' | 'doubtful' | 'exclusive' {
  const left = ancestors(a);
  const right = ancestors(b);
  let i = left.length - 1;
  let j = right.length - 1;
  while (i > 0 && j > 0 && left[i - 1]?.node === right[j - 1]?.node && left[i - 1]?.spot === right[j - 1]?.spot) { i--; j--; }
  const common = left[i]?.node;
  if (common === undefined || common !== right[j]?.node) return 'exclusive';
  if (common.kind === 'switch') return 'exclusive';
  if (common.kind === 'if' || common.kind === 'conditional') {
    const one = left[i - 1]?.node;
    const two = right[j - 1]?.node;
    if (one !== common.condition && two !== common.condition) return 'exclusive';
  }
  const mine = conditional(left.slice(0, i), a);
  const theirs = conditional(right.slice(0, j), b);
  if (mine === 'leaves' || theirs === 'leaves' || (mine === 'shared' && theirs === 'shared')) return 'exclusive';
  return mine === 'none' && theirs === 'none' ? 'together' : 'doubtful';
}

interface Step { readonly node: Node; readonly spot: Spot }

/** From the access outwards, through the calls that lead to it. */
function ancestors(access: Access): readonly Step[] {
  const steps: Step[] = [];
  for (let spot: Spot | null = access.spot, from: Node = access.node; spot !== null; spot = spot.outer) {
    const { parents } = structureOf(spot.facts.function);
    for (let node: Node | undefined = from; node !== undefined; node = parents.get(node)) steps.push({ node, spot });
    if (spot.frame.call === null) break;
    from = spot.frame.call;
  }
  return steps;
}

/** Does an access stand under conditions that all threads share (between it and what it has in common with another), or in an arm that jumps away? */
export function conditional(steps: readonly { readonly node: Node; readonly spot: Spot }[], access: Access): 'none' | 'shared' | 'leaves' {
  const decided = new Set(access.spot.sets.at(access.node).partitions.map((partition) => partition.at));
  let found: 'none' | 'shared' = 'none';
  for (let k = 0; k < steps.length; k++) {
    const node = steps[k]?.node;
    const below = steps[k - 1]?.node;
    if (node === undefined) continue;
    if (node.kind === 'switch') return 'leaves';
    const arm = node.kind === 'if' || node.kind === 'conditional' ? node.condition !== below : node.kind === 'binary' && (node.op === '&&' || node.op === '||') && node.right === below;
    if (!arm || below === undefined || decided.has(node)) continue;
    if (jumps(below)) return 'leaves';
    found = 'shared';
  }
  return found;
}

/** The conditions between an access and a loop around it: none, if it runs in every round. */
export function runsInEveryRound(access: Access, loop: Node): boolean {
  const steps = ancestors(access);
  const end = steps.findIndex((step) => step.node === loop);
  return end > 0 && conditional(steps.slice(0, end), access) === 'none';
}

function jumps(node: Node): boolean {
  const steps: Node[] = [node];
  for (let next = steps.pop(); next !== undefined; next = steps.pop()) {
    if (next.kind === 'return' || next.kind === 'break' || next.kind === 'continue' || next.kind === 'goto') return true;
    if (next.kind === 'compound') steps.push(...next.body);
    else if (next.kind === 'if') { steps.push(next.then); if (next.else !== null) steps.push(next.else); }
  }
  return false;
}
