/**
 * What the threads of a block do between two barriers: accesses to shared memory in the order of the text, loops unrolled.
 *
 *   s[t] = …;                          interval 1: the write
 *   for (k = 32; k > 0; k >>= 1) {
 *     __syncthreads();
 *     if (t < k) s[t] += s[t + k];     intervals 2 … 7: one for each value of k; the last one goes on behind the loop
 *   }
 *   x[t] = s[0];                       still interval 7
 *
 * A loop whose counter is known is unrolled with its values, any other runs two rounds, with the values of what is known there (`b ^= 1`). A barrier anywhere between two accesses separates them, under whatever condition it
 * stands. Where a loop is too long its middle is cut out, and what the parts say about each other with it.
 */
import type { BlockShape } from '../../analysis/facts.js';
import type { Expr, RefExpr, VariableDecl } from '../../syntax/tree.js';
import { sourceOf, type Bindings } from './agreement.js';
import { spotOf } from './guards.js';
import { isSettled } from './meetings.js';
import { OPEN_STEPS, roundsOf } from './rounds.js';
import type { Access, Event, LoopMark, Scene, Spot } from './scene.js';
import { refsIn } from './voted-masks.js';

/** An access in one round of the loops around it. */
export interface Touch {
  readonly access: Access;
  readonly bound: Bindings | null;
  /** Equal for two touches of which symbols have one value: in the same rounds of all loops that are not counted. */
  readonly epoch: string;
  /** Barriers of the warp passed before it. */
  readonly warpBarriers: number;
}

const MAX_TOUCHES = 800;
/** Rounds at the beginning and at the end of a loop: neighbours of a tree that halves its distance meet in the first, of one that doubles it in the last. */
const FIRST = 2;
const LAST = 3;

/** The intervals between barriers of the block, of accesses to these arrays. */
export function intervalsOf(scene: Scene, shape: BlockShape, bases: ReadonlySet<VariableDecl>): readonly (readonly Touch[])[] {
  const tracer = new Tracer(scene.events, shape, bases);
  tracer.run(0, scene.events.length, null, '');
  tracer.close();
  return tracer.intervals;
}

/** Of the block: nothing passes it. Of the warp: threads of one warp are ordered. */
export function separation(event: Event): 'block' | 'warp' | null {
  if (event.kind === 'unknown') return 'block';
  if (event.kind !== 'collective') return null;
  if (event.barrier !== null) return event.barrier;
  return event.library === null ? null : event.library.participants === 'warp' ? 'warp' : 'block';
}

interface Name { readonly ref: RefExpr; readonly spot: Spot }

const named = new WeakMap<Access, readonly Name[]>();

/** The variables that the subscripts of an access are made of, and the conditions that it stands under. */
function namesOf(access: Access): readonly Name[] {
  let found = named.get(access);
  if (found === undefined) {
    const names = new Map<RefExpr, Name>();
    for (const parts of access.place.dims) for (const part of parts) collect(part.expr, part.spot, names, 0);
    for (const partition of access.spot.sets.at(access.node).partitions) if (partition.decision !== null) collect(partition.decision.condition, spotOf(partition, access.spot), names, 0);
    named.set(access, found = [...names.values()]);
  }
  return found;
}

const MAX_DEPTH = 4;

function collect(expr: Expr, spot: Spot, into: Map<RefExpr, Name>, depth: number): void {
  for (const ref of refsIn(expr)) {
    const { decl } = ref;
    if (into.has(ref) || decl === null || (decl.kind !== 'variable' && decl.kind !== 'parameter') || (decl.type.kind !== 'int' && decl.type.kind !== 'bool')) continue;
    into.set(ref, { ref, spot });
    if (depth === MAX_DEPTH) continue;
    const source = sourceOf(ref, spot);
    if (source !== null) collect(source.expr, source.spot, into, depth + 1);
  }
}

class Tracer {
  readonly intervals: Touch[][] = [];
  private current: Touch[] = [];
  private warpBarriers = 0;
  private left = MAX_TOUCHES;
  /** Loops, by where they begin, in which the same threads touch the same elements in every round. */
  private readonly settled = new Map<number, boolean>();
  private readonly names = new Map<number, RefExpr[]>();
  private readonly ends: ReadonlyMap<number, number>;
  private readonly idle: readonly number[];

  constructor(private readonly events: readonly Event[], private readonly shape: BlockShape, private readonly bases: ReadonlySet<VariableDecl>) {
    const ends = new Map<number, number>();
    const open: number[] = [];
    // How many events up to here matter: loops without any are passed over.
    const idle: number[] = [0];
    events.forEach((event, i) => {
      if (event.kind === 'loop-begin') open.push(i);
      else if (event.kind === 'loop-end') { const begin = open.pop(); if (begin !== undefined) ends.set(begin, i); }
      idle.push((idle[i] ?? 0) + (separation(event) !== null || this.matters(event) ? 1 : 0));
    });
    this.ends = ends;
    this.idle = idle;
  }

  private matters(event: Event): event is Access {
    return event.kind === 'access' && this.bases.has(event.place.base);
  }

  close(): void {
    if (this.current.length > 1) this.intervals.push(this.current);
    this.current = [];
  }

  run(from: number, to: number, bound: Bindings | null, epoch: string): void {
    for (let i = from; i < to && this.left > 0; i++) {
      const event = this.events[i];
      if (event === undefined) return;
      if (event.kind === 'loop-begin') {
        const end = this.ends.get(i) ?? to;
        if ((this.idle[end] ?? 0) > (this.idle[i] ?? 0)) this.loop(event, i + 1, end, bound, epoch);
        i = end;
        continue;
      }
      const by = separation(event);
      if (by === 'block') this.close();
      else if (by === 'warp') this.warpBarriers++;
      else if (this.matters(event)) {
        this.left--;
        this.current.push({ access: event, bound, epoch, warpBarriers: this.warpBarriers });
      }
    }
  }

  private loop(mark: LoopMark, from: number, to: number, bound: Bindings | null, epoch: string): void {
    const rounds = roundsOf(mark.node, mark.spot, this.shape, bound, this.asked(mark, from, to));
    if (rounds === null || rounds.extent === 'open') {
      const trips = mark.spot.facts.trips(mark.node);
      const most = rounds === null ? 2 : OPEN_STEPS;
      const often = trips.origin === 'constant' ? Math.min(most, trips.count) : most;
      for (let n = 0; n < often; n++) this.run(from, to, rounds?.bindings[n] ?? bound, `${epoch} ${from}.${n}`);
      return;
    }
    const { bindings, extent } = rounds;
    // Where the variables decide nothing, two rounds are as good as all.
    const settled = this.isSettled(from, to);
    const last = settled || extent === 'some' ? 0 : LAST;
    bindings.forEach((values, n) => {
      if (n >= FIRST && n < bindings.length - last) { if (n === FIRST && !settled) this.close(); return; }
      this.run(from, to, values, epoch);
    });
  }

  /** The names in the loop's own function that decide who touches what in it. */
  private asked(mark: LoopMark, from: number, to: number): readonly RefExpr[] {
    let names = this.names.get(from);
    if (names === undefined) {
      names = [];
      for (let i = from; i < to; i++) {
        const event = this.events[i];
        if (event !== undefined && this.matters(event)) for (const { ref, spot } of namesOf(event)) if (spot === mark.spot) names.push(ref);
      }
      this.names.set(from, names);
    }
    return names;
  }

  private isSettled(from: number, to: number): boolean {
    let settled = this.settled.get(from);
    if (settled !== undefined) return settled;
    settled = true;
    for (let i = from; i < to && settled; i++) { const event = this.events[i]; settled = event === undefined || !this.matters(event) || isSettled(event, this.shape); }
    this.settled.set(from, settled);
    return settled;
  }
}
