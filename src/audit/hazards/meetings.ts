/**
 * Do two threads touch one shared element in two accesses? Answered by evaluating the subscripts for every thread of the block, for elements that are no constant number of threads
 * apart: a reversal (`s[63 - t]`), a rotation (`s[(t + 1) & 63]`), what one thread writes for all.
 *
 * A thread that writes the element itself is no witness: where all threads write one value, reading it is right whoever came last. Conditions are evaluated too; one that cannot be,
 * because it asks data, and that both accesses stand under, makes the answer doubtful; a guard of the work's edge does not. Not handled (null): subscripts of more than coordinates and
 * constants (equal ones of symbols that the block shares are one element), other conditions that cannot be evaluated, accesses in different arms of a condition that the block shares, two writes. In blocks of unknown shape a row of threads is guessed,
 * except for elements that are one for all threads, and the answer is never sure.
 */
import type { Partition } from '../../analysis/arrival.js';
import { strip, type Node } from '../../analysis/children.js';
import type { BlockShape, Loop } from '../../analysis/facts.js';
import { structureOf } from '../../analysis/structure.js';
import { boundTo, guessRow, isGuess, perThread, valuesOf, type Bindings } from './agreement.js';
import { difference, formOf, formOfParts, restIsShared, type Form } from './forms.js';
import { edgeOf, spotOf } from './guards.js';
import { isHip } from './platform.js';
import type { Expr, Type } from '../../syntax/tree.js';
import type { Access, Spot } from './scene.js';
import type { Part } from './shared-places.js';

export interface Meeting {
  readonly writer: number;
  readonly reader: number;
  /** Every pair that meets is in one warp. */
  readonly inWarp: boolean;
  readonly sure: boolean;
}

/** The round of the loops around an access that is looked at. */
export interface Round { readonly bound: Bindings | null; readonly epoch: string }

/** A loop that goes round between the two accesses: symbols that it changes are other values then. */
export interface Turn { readonly loop: Loop; readonly spot: Spot }

/** Rounds of any loops, but the same one for all symbols. */
const ANY: Round = { bound: null, epoch: '' };

/**
 * The first pair of threads that meet, of different warps if there is one. In blocks of unknown shape it is asked of a `guess`, and never sure.
 */
export function meetingOf(a: Access, b: Access, inA: Round = ANY, inB: Round = ANY, guess: BlockShape | null = null, turn: Turn | null = null): Meeting | null {
  const [write, read, inWrite, inRead] = a.mode === 'write' ? [a, b, inA, inB] : [b, a, inB, inA];
  if (write.mode !== 'write' || read.mode !== 'read' || write.place.volatile || read.place.volatile || !write.place.exact || !read.place.exact) return null;
  if (write.place.dims.length !== read.place.dims.length || write.place.fields !== read.place.fields || write.place.pointer || read.place.pointer) return null;
  const stand = conditionBetween(a, b);
  if (stand === 'exclusive') return null;
  const known = shapeFor(write, read);
  const shape = known ?? guess;
  if (shape === null) return null;
  const writers = comers(write, read, shape, inWrite);
  const readers = writers === null ? null : comers(read, write, shape, inRead);
  const elements = readers === null ? null : elementsOf(write, read, shape, inWrite, inRead, turn);
  if (writers === null || readers === null || elements === null) return null;
  const sure = known !== null && stand === 'together' && writers.sure && readers.sure;
  const threads = shape.x * shape.y * shape.z;
  const lanes = isHip(write.spot) ? 64 : 32;
  const owner = new Map<number, number>();
  for (let thread = 0; thread < threads; thread++) if (writers.come[thread] === 1) owner.set(elements.write[thread] ?? -1, thread);
  let inWarp: Meeting | null = null;
  for (let thread = 0; thread < threads; thread++) {
    if (readers.come[thread] !== 1) continue;
    const element = elements.read[thread] ?? -1;
    const writer = owner.get(element);
    if (element < 0 || writer === undefined || writer === thread || (writers.come[thread] === 1 && elements.write[thread] === element)) continue;
    if (Math.floor(writer / lanes) !== Math.floor(thread / lanes)) return { writer, reader: thread, inWarp: false, sure };
    inWarp ??= { writer, reader: thread, inWarp: true, sure };
  }
  return inWarp;
}

/** The shape of the block; one of 256 threads for elements that are one for all threads in blocks of any shape. */
function shapeFor(a: Access, b: Access): BlockShape | null {
  const { block } = a.spot.facts;
  if (block.value !== null) return block.value;
  return isOneForAll(a) && isOneForAll(b) ? anyShape(block.maxThreads) : null;
}

const forAll = new WeakMap<Access, boolean>();

/** Do all threads of the block touch one element? */
function isOneForAll(access: Access): boolean {
  let found = forAll.get(access);
  if (found === undefined) {
    found = access.place.dims.every((parts) => { const form = formOfParts(parts); return form !== null && [...form.values()].every((term) => term.axis === null) && restIsShared(form); });
    forAll.set(access, found);
  }
  return found;
}

const shapes = new Map<number, BlockShape>();

/** A row of at most 256 threads, and of no more than the shortest array has elements; one object for each length, by which values are kept. */
export function anyShape(most: number, arrays: Iterable<{ readonly type: Type }> = [], constant: (length: Expr) => bigint | null = () => null): BlockShape {
  let x = Math.max(1, Math.min(256, most));
  let known = false;
  for (const { type } of arrays) {
    const length = type.kind === 'array' && type.length !== null ? constant(type.length) : null;
    if (length === null || length < 32n) continue;
    known = true;
    if (length < BigInt(x)) x = Number(length);
  }
  // Two warps show what there is to see.
  if (!known) x = Math.min(x, 64);
  let shape = shapes.get(x);
  if (shape === undefined) shapes.set(x, shape = guessRow(x));
  return shape;
}

interface Comers { readonly come: Uint8Array; readonly sure: boolean; /** Conditions that could not be evaluated. */ readonly open: readonly Partition[] }

const same = (a: Partition, b: Partition): boolean => a.at === b.at && a.kind === b.kind && a.by === b.by && a.decision?.holds === b.decision?.holds;

/** Which threads come to an access; null if a condition that the other does not stand under cannot be evaluated. */
function comers(access: Access, other: Access, shape: BlockShape, round: Round): Comers | null {
  const found = comersOf(access, shape, round.bound);
  if (found.open.length === 0) return found;
  const others = other.spot.sets.at(other.node).partitions;
  return found.open.every((partition) => others.some((one) => same(one, partition))) && found.open.every((partition) => mayBeAny(partition, access)) ? found : null;
}

/** By their data any two threads may come, and at the edge of the work the extent may lie anywhere; by numbers that could not be evaluated perhaps never these two. */
function mayBeAny(partition: Partition, access: Access): boolean {
  return edgeOf(partition, access.spot) !== null || isOnData(partition, access);
}

export function isOnData(partition: Partition, access: Access): boolean {
  const where = spotOf(partition, access.spot);
  return partition.conditions.length > 0 && partition.conditions.every((condition) => { const verdict = where.facts.scope(condition); return verdict.known && verdict.sources.data; });
}

/** By access and round. */
class Memo<T> {
  private readonly outside = new WeakMap<Access, { readonly shape: BlockShape; readonly value: T }>();
  private readonly inside = new WeakMap<Access, WeakMap<Bindings, { readonly shape: BlockShape; readonly value: T }>>();

  get(access: Access, shape: BlockShape, bound: Bindings | null, make: () => T): T {
    let of = bound === null ? undefined : this.inside.get(access);
    if (bound !== null && of === undefined) this.inside.set(access, of = new WeakMap());
    const known = bound === null ? this.outside.get(access) : of?.get(bound);
    if (known !== undefined && known.shape === shape) return known.value;
    const value = make();
    if (bound === null) this.outside.set(access, { shape, value });
    else of?.set(bound, { shape, value });
    return value;
  }
}

const come = new Memo<Comers>();
const touched = new Memo<readonly (readonly number[] | null)[]>();

/** Which threads come to an access, as far as conditions can be evaluated. */
export function comersOf(access: Access, shape: BlockShape, bound: Bindings | null): Comers {
  const always = bound === null ? null : comersOf(access, shape, null);
  if (always !== null && always.open.length === 0) return always;
  return come.get(access, shape, bound, () => {
    const found = new Uint8Array(shape.x * shape.y * shape.z).fill(1);
    const open: Partition[] = [];
    let sure = true;
    for (const partition of access.spot.sets.at(access.node).partitions) {
      const { decision, facts } = partition;
      const holds = decision === null ? null : decision.holds;
      if (decision === null || holds === null) { open.push(partition); continue; }
      const set = facts.laneSetIn?.(decision.condition, shape) ?? null;
      if (set !== null) {
        for (let thread = 0; thread < found.length; thread++) if ((set.holds[thread] === 1) !== holds) found[thread] = 0;
      } else if (!keep(decision.condition, holds, spotOf(partition, access.spot), shape, bound, found)) open.push(partition);
    }
    for (const partition of open) if (edgeOf(partition, access.spot) === null) sure = false;
    return { come: found, sure, open };
  });
}

/** Conditions that counters of loops did not help to evaluate. */
const hopeless = new WeakSet<Expr>();

/** Takes out the threads that a condition surely keeps away; false if it also asks what cannot be evaluated. */
function keep(condition: Expr, holds: boolean, spot: Spot, shape: BlockShape, bound: Bindings | null, into: Uint8Array): boolean {
  if (bound !== null && hopeless.has(condition)) return false;
  const values = compared(condition, spot, shape, bound) ?? perThread(condition, spot, shape, bound);
  if (values !== null) {
    for (let thread = 0; thread < into.length; thread++) if ((values[thread] !== 0) !== holds) into[thread] = 0;
    return true;
  }
  const expr = strip(condition);
  if (expr.kind === 'unary' && expr.op === '!') return keep(expr.operand, !holds, spot, shape, bound, into);
  if (expr.kind !== 'binary' || expr.op !== (holds ? '&&' : '||')) {
    if (bound !== null) hopeless.add(condition);
    return false;
  }
  const left = keep(expr.left, holds, spot, shape, bound, into);
  return keep(expr.right, holds, spot, shape, bound, into) && left;
}

/** A comparison of two sums, for each thread; null for anything else, and where a negative number may be compared as a large one. */
function compared(condition: Expr, spot: Spot, shape: BlockShape, bound: Bindings | null): readonly number[] | null {
  const expr = strip(condition);
  const by = expr.kind === 'binary' ? COMPARE[expr.op] : undefined;
  if (expr.kind !== 'binary' || by === undefined || strip(expr.left).type.kind !== 'int' || strip(expr.right).type.kind !== 'int') return null;
  const left = sumsOf(formOf(expr.left, spot), shape, bound);
  const right = left === null ? null : sumsOf(formOf(expr.right, spot), shape, bound);
  if (left === null || right === null || left.some((value) => value < 0) || right.some((value) => value < 0)) return null;
  return left.map((value, thread) => Number(by(value, right[thread] ?? 0)));
}

const COMPARE: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b, '==': (a, b) => a === b, '!=': (a, b) => a !== b,
};

/** The subscripts of each thread, one list for each dimension; null for one that is not known. */
function subscriptsOf(access: Access, shape: BlockShape, bound: Bindings | null): readonly (readonly number[] | null)[] {
  // What is known in every round needs no other look in each.
  const always = bound === null ? null : subscriptsOf(access, shape, null);
  if (always !== null && !always.includes(null)) return always;
  if (always !== null && hopelessly.has(access)) return always;
  const found = touched.get(access, shape, bound, () => access.place.dims.map((parts, i) => always?.[i] ?? positive(sumsOf(formOfParts(parts), shape, bound)) ?? valuesOf(parts, shape, bound)));
  if (bound !== null && found.includes(null)) hopelessly.add(access);
  return found;
}

const hopelessly = new WeakSet<Access>();

/** Do the same threads touch the same elements in every round? */
export function isSettled(access: Access, shape: BlockShape): boolean {
  return !subscriptsOf(access, shape, null).includes(null) && comersOf(access, shape, null).open.length === 0;
}

/** Sums of coordinates, constants and counters need no evaluation for each thread. */
function sumsOf(form: Form | null, shape: BlockShape, bound: Bindings | null): readonly number[] | null {
  if (form === null) return null;
  let start = 0;
  const by = { x: 0, y: 0, z: 0 };
  for (const [key, term] of form) {
    const coefficient = Number(term.coefficient);
    const value = key === '' ? 1 : key === 'blockDim.x' ? shape.x : key.includes('*') || term.expr.kind !== 'ref' ? undefined : boundTo(term.expr, bound);
    if (term.axis !== null) {
      if (term.axis !== 'x' && isGuess(shape)) return null;
      by[term.axis] += coefficient;
    } else if (value === undefined) return null;
    else start += coefficient * value;
  }
  const found: number[] = [];
  for (let z = 0; z < shape.z; z++) for (let y = 0; y < shape.y; y++) for (let x = 0; x < shape.x; x++) found.push(start + by.x * x + by.y * y + by.z * z);
  return found;
}

function positive(values: readonly number[] | null): readonly number[] | null {
  return values === null || values.every((value) => value >= 0) ? values : values.map((value) => Math.max(-1, value));
}

/** The number of the element that each thread touches, of an access whose subscripts are all known. */
export function elementsOfAccess(access: Access, shape: BlockShape, bound: Bindings | null): readonly number[] | null {
  const dims = subscriptsOf(access, shape, bound);
  return dims.every((dim): dim is readonly number[] => dim !== null) ? numbered(dims, shape) : null;
}

/** Subscripts of several dimensions as one number. */
const STRIDE = 2 ** 20;

function numbered(dims: readonly (readonly number[])[], shape: BlockShape): readonly number[] | null {
  const only = dims[0];
  if (dims.length === 1 && only !== undefined) return only;
  // Beyond two long subscripts numbers are not exact.
  if (dims.length > 2 && dims.some((dim) => dim.some((value) => value >= 2 ** 10))) return null;
  const found: number[] = [];
  for (let thread = 0; thread < shape.x * shape.y * shape.z; thread++) found.push(dims.some((dim) => (dim[thread] ?? -1) < 0) ? -1 : dims.reduce((sum, dim) => sum * (dims.length > 2 ? 2 ** 10 : STRIDE) + (dim[thread] ?? 0), 0));
  return dims.length > 5 ? null : found;
}

/** The elements that each thread touches, but for what is added to all of them; null if not known. */
function elementsOf(write: Access, read: Access, shape: BlockShape, inWrite: Round, inRead: Round, turn: Turn | null): { readonly write: readonly number[]; readonly read: readonly number[] } | null {
  const writes: (readonly number[])[] = [];
  const reads: (readonly number[])[] = [];
  const first = subscriptsOf(write, shape, inWrite.bound);
  const second = subscriptsOf(read, shape, inRead.bound);
  for (let i = 0; i < write.place.dims.length; i++) {
    const w = first[i] ?? null;
    const r = second[i] ?? null;
    if (w !== null && r !== null) { writes.push(w); reads.push(r); continue; }
    const ofWrite = write.place.dims[i] ?? [];
    const ofRead = read.place.dims[i] ?? [];
    // Symbols are one value only in one round: the buffer that `b ^= 1` names is another one in the next.
    if (turn === null ? inWrite.epoch !== inRead.epoch || inWrite.bound !== inRead.bound : !isTheSame([...ofWrite, ...ofRead], turn)) return null;
    const a = formOfParts(ofWrite);
    const b = formOfParts(ofRead);
    if (a === null || b === null || !restIsShared(a) || !restIsShared(b)) return null;
    const apart = [...difference(a, b)];
    if (apart.some(([key, term]) => key !== '' && term.axis === null)) return null;
    // What both add is left out: `s[o + t]` and `s[o + 63 - t]` are compared as `s[t]` and `s[63 - t]`.
    const one = positive(sumsOf(withoutSymbols(a), shape, null));
    const two = positive(sumsOf(withoutSymbols(b), shape, null));
    if (one === null || two === null) return null;
    writes.push(one);
    reads.push(two);
  }
  const one = numbered(writes, shape);
  const two = numbered(reads, shape);
  return one === null || two === null ? null : { write: one, read: two };
}

function withoutSymbols(form: Form): Form {
  return new Map([...form].filter(([key, term]) => key === '' || term.axis !== null));
}

/** Are the subscripts what they were in the round before? */
function isTheSame(parts: readonly Part[], { loop, spot }: Turn): boolean {
  return parts.every((part) => part.spot === spot && spot.facts.invariant(part.expr, loop).value);
}

// ------------------------------------------------------------------------------------------------------------------ arms

/**
 * `exclusive`: no run executes both, or it is not known that one does. `doubtful`: one stands under a condition that all threads share and the other does not.
 * Conditions that threads differ in are looked at thread by thread.
 */
type Arms = 'together' | 'doubtful' | 'exclusive';

const arms = new WeakMap<Access, WeakMap<Access, Arms>>();

export function conditionBetween(a: Access, b: Access): Arms {
  let of = arms.get(a);
  if (of === undefined) arms.set(a, of = new WeakMap());
  let found = of.get(b);
  if (found === undefined) of.set(b, found = armsOf(a, b));
  return found;
}

function armsOf(a: Access, b: Access): Arms {
  const left = ancestors(a);
  const right = ancestors(b);
  let i = left.length - 1;
  let j = right.length - 1;
  while (i > 0 && j > 0 && left[i - 1]?.node === right[j - 1]?.node && left[i - 1]?.spot === right[j - 1]?.spot) { i--; j--; }
  const common = left[i]?.node;
  if (common === undefined || common !== right[j]?.node) return 'exclusive';
  if (common.kind === 'switch') return 'exclusive';
  // Arms that threads differ in run both, each by its own threads.
  const isDecided = (access: Access): boolean => access.spot.sets.at(access.node).partitions.some((partition) => partition.at === common);
  if ((common.kind === 'if' || common.kind === 'conditional') && !(isDecided(a) && isDecided(b))) {
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
