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
 * A loop whose counter is known is unrolled with its values, any other runs two rounds of unknown ones. A barrier anywhere between two accesses separates them, under whatever condition it
 * stands. Where a loop is too long its middle is cut out, and what the parts say about each other with it.
 */
import type { BlockShape } from '../../analysis/facts.js';
import type { VariableDecl } from '../../syntax/tree.js';
import type { Bindings } from './agreement.js';
import { isSettled } from './meetings.js';
import { roundsOf } from './rounds.js';
import type { Access, Event, LoopMark, Scene } from './scene.js';

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

class Tracer {
  readonly intervals: Touch[][] = [];
  private current: Touch[] = [];
  private warpBarriers = 0;
  private left = MAX_TOUCHES;
  /** Loops, by where they begin, in which the same threads touch the same elements in every round. */
  private readonly settled = new Map<number, boolean>();
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
    const rounds = roundsOf(mark.node, mark.spot, this.shape, bound);
    if (rounds === null) {
      const trips = mark.spot.facts.trips(mark.node);
      const often = trips.origin === 'constant' ? Math.min(2, trips.count) : 2;
      for (let n = 0; n < often; n++) this.run(from, to, bound, `${epoch} ${from}.${n}`);
      return;
    }
    const { values, variable, complete } = rounds;
    // Where the counter decides nothing, two rounds are as good as all.
    const settled = this.isSettled(from, to);
    const last = settled || !complete ? 0 : LAST;
    values.forEach((value, n) => {
      if (n >= FIRST && n < values.length - last) { if (n === FIRST && !settled) this.close(); return; }
      this.run(from, to, new Map([...(bound ?? []), [variable, value] as const]), epoch);
    });
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
