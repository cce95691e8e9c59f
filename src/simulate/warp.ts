/** One warp: thread indices, its stack, and the collectives that its lanes make together. Generated code knows it as `W`. */
import type { FileSpan } from '../source/types.js';
import { RunAborted } from './faults.js';
import type { Machine } from './machine.js';
import type { Segment } from './memory.js';
import type { RaceWarp } from './races.js';
import { combine } from './collectives.js';
import type { Wide } from './values.js';

/** What a suspended warp waits for: 0 its next turn, 1 a block barrier, 2 lanes of its own that run elsewhere. */
export type Suspension = 0 | 1 | 2;
export type Fibre = Generator<Suspension, void, undefined>;
/** Lane values: a typed array, or a plain one for 64-bit integers. */
export type Lanes = Int32Array | Uint32Array | Float32Array | Float64Array | Uint8Array | Int8Array | Int16Array | Uint16Array | Wide[];

export interface Block {
  readonly linear: number;
  readonly x: number; readonly y: number; readonly z: number;
  readonly warps: Warp[];
  readonly shared: Segment;
  barrierAt: number;
}

interface Arrival {
  readonly op: string;
  readonly site: number;
  /** Lanes that call, and the mask each names. */
  readonly lanes: number;
  readonly masks: Lanes | null;
  readonly value: Lanes | null;
  readonly lane: Lanes | null;
  readonly width: Lanes | null;
  readonly result: Lanes | null;
  done: boolean;
}

const RECURSION_LIMIT = 256;

export class Warp implements RaceWarp {
  readonly tx = new Uint32Array(32);
  readonly ty = new Uint32Array(32);
  readonly tz = new Uint32Array(32);
  readonly bx: number; readonly by: number; readonly bz: number;
  readonly shared: number;
  readonly syncedAt = new Int32Array(32);
  fencedAt = 0;
  acquiredAt = 0;
  /** Lanes that exist and have not left the kernel. */
  live: number;
  readonly born: number;
  /** Lanes that left by a `return` of the kernel; the others come to its end. */
  returned = 0;
  /** At a block barrier: where, with which lanes and predicate. Null while running. */
  waiting: { readonly site: number; readonly op: string; readonly lanes: number; readonly predicate: Lanes | null } | null = null;
  barrierResult = 0;
  finished = false;
  fibre: Fibre | null = null;
  #depth = 0;
  #pending: Arrival[] = [];
  #forks = 0;

  constructor(readonly machine: Machine, readonly block: Block, readonly index: number, readonly number: number, threads: number, readonly stack: Segment) {
    let mask = 0;
    const { blockx, blocky } = machine;
    for (let l = 0; l < 32; l++) {
      const t = index * 32 + l;
      if (t < threads) mask |= 1 << l;
      this.tx[l] = t % blockx;
      this.ty[l] = Math.floor(t / blockx) % blocky;
      this.tz[l] = Math.floor(t / (blockx * blocky));
    }
    this.live = mask;
    this.born = mask;
    this.bx = block.x;
    this.by = block.y;
    this.bz = block.z;
    this.shared = block.shared.base;
    stack.frames.length = 0;
  }

  exit(mask: number): void {
    this.live &= ~mask;
    this.returned |= mask;
  }

  /** Lanes that came to the end of a function that returns a value. */
  fellOff(lanes: number, name: string): void {
    const D = this.machine;
    D.log.record('missing-return', D.place, lanes, this.block.linear, this.index, name, () => `${name} ends without returning a value`);
  }

  // ------------------------------------------------------------------------------------------------------------- stack

  /** A new frame lies behind all others: arms of a branch that run by turns end their calls in any order. */
  push(bytes: number): number {
    const { frames, base } = this.stack;
    const top = frames[frames.length - 1];
    const at = top === undefined ? base : top.base + top.bytes;
    frames.push({ base: at, bytes });
    this.machine.forget(at, bytes);
    return at;
  }
  pop(at: number): void {
    const { frames } = this.stack;
    if (frames[frames.length - 1]?.base === at) frames.pop();
    else frames.splice(frames.findIndex(({ base }) => base === at), 1);
  }
  enter(): void {
    if (++this.#depth > RECURSION_LIMIT) throw new RunAborted('recursion', `recursion deeper than ${RECURSION_LIMIT} calls`, this.machine.place);
  }
  leave(): void {
    this.#depth--;
  }

  // ---------------------------------------------------------------------------------------------------------- barriers

  *barrier(site: number, op: string, lanes: number, predicate: Lanes | null): Fibre {
    this.waiting = { site, op, lanes, predicate };
    while (this.waiting !== null) yield 1;
  }

  // ------------------------------------------------------------------------------------------------------- collectives

  /** True if everyone named is here and the result is ready; false if the caller must wait for lanes of another arm. */
  collective(op: string, lanes: number, masks: Lanes | null, value: Lanes | null, lane: Lanes | null, width: Lanes | null, result: Lanes | null): boolean {
    const arrival: Arrival = { op, site: this.machine.site, lanes, masks, value, lane, width, result, done: false };
    if (masks === null) { // legacy: whoever is active
      this.#perform([arrival], lanes, lanes);
      return true;
    }
    if (this.#forks > 0 && this.#absent([arrival]) !== 0) {
      this.#pending.push(arrival);
      this.#match();
      return arrival.done;
    }
    this.#complete([arrival]);
    return true;
  }

  *arrival(): Fibre {
    const mine = this.#pending.at(-1);
    if (mine === undefined) return;
    while (!mine.done) yield 2;
  }

  /** Live lanes that some caller's mask names and that are not among the callers. */
  #absent(arrivals: readonly Arrival[]): number {
    let callers = 0;
    let named = 0;
    for (const a of arrivals) {
      callers |= a.lanes;
      for (let l = 0; l < 32; l++) if (a.lanes >>> l & 1) named |= Number(a.masks?.[l] ?? 0);
    }
    return named & this.live & ~callers;
  }

  /** Brings calls of the same intrinsic in different arms together once all named lanes have come. */
  #match(): void {
    for (const a of this.#pending) {
      const group = this.#pending.filter((b) => b.op === a.op);
      if (group.length > 1 && this.#absent(group) === 0) {
        this.#pending = this.#pending.filter((b) => b.op !== a.op);
        this.#complete(group);
        return;
      }
    }
  }

  #complete(arrivals: readonly Arrival[]): void {
    // Lanes that name the same mask form one exchange.
    let callers = 0;
    for (const a of arrivals) callers |= a.lanes;
    let left = callers;
    while (left !== 0) {
      const first = 31 - Math.clz32(left & -left);
      const owner = arrivals.find((a) => a.lanes >>> first & 1);
      if (owner === undefined) break;
      const mask = Number(owner.masks?.[first] ?? 0) | 0;
      let group = 0;
      for (const a of arrivals) for (let l = 0; l < 32; l++) if (a.lanes >>> l & 1 && left >>> l & 1 && (Number(a.masks?.[l] ?? 0) | 0) === mask) group |= 1 << l;
      left &= ~group;
      this.#inspect(arrivals, mask, group, callers);
      this.#perform(arrivals, mask, group);
    }
    for (const a of arrivals) a.done = true;
  }

  #inspect(arrivals: readonly Arrival[], mask: number, group: number, callers: number): void {
    const D = this.machine;
    const site = D.site;
    D.site = arrivals[0]?.site ?? site;
    const op = arrivals[0]?.op ?? '';
    const outside = group & ~mask;
    if (outside !== 0) {
      D.log.record('caller-not-in-mask', D.place, outside, this.block.linear, this.index, null, () => `lanes ${spell(outside)} call ${op} with mask ${hex(mask)}, which does not name them`);
    }
    const missing = mask & this.live & ~group;
    if (missing !== 0) {
      const elsewhere = missing & callers;
      if (elsewhere !== 0 && elsewhere === missing) {
        D.log.record('mask-disagreement', D.place, missing, this.block.linear, this.index, null, () => `lanes ${spell(missing)} take part in ${op} with another mask than ${hex(mask)}`);
      } else {
        D.log.record('mask-names-absent-lane', D.place, missing, this.block.linear, this.index, null, () => `the mask ${hex(mask)} of ${op} names lanes ${spell(missing)}, which do not arrive`);
      }
    }
    D.site = site;
  }

  /** Does the exchange among `group`, the lanes that named `mask`. */
  #perform(arrivals: readonly Arrival[], mask: number, group: number): void {
    const D = this.machine;
    const [first] = arrivals;
    if (first === undefined) return;
    D.races.now++;
    if (first.op === 'syncwarp') {
      for (let l = 0; l < 32; l++) if (group >>> l & 1) this.syncedAt[l] = D.races.now;
      return;
    }
    const of = (l: number): Arrival => arrivals.find((a) => a.lanes >>> l & 1) ?? first;
    combine({
      op: first.op, mask, group, value: (l) => of(l).value?.[l] ?? 0, lane: (l) => Number(of(l).lane?.[l] ?? 0), width: (l) => (of(l).width === null ? 32 : Number(of(l).width?.[l] ?? 32)),
      wide: Array.isArray(first.value), single: first.result instanceof Float32Array, unsigned: first.result instanceof Uint32Array, real: first.result instanceof Float64Array,
      put: (l, v) => { const r = of(l).result; if (r !== null) (r as Wide[])[l] = v; },
      badSource: (l, source) => {
        const exited = (this.born >>> source & 1) !== 0 && (this.live >>> source & 1) === 0;
        const what = (this.born >>> source & 1) === 0 ? 'does not exist' : exited ? 'has left the kernel' : 'is not there';
        D.fault('shuffle-inactive-source', l, null, () => `lane ${l} reads lane ${source}, which ${what}`);
      },
    });
  }

  // --------------------------------------------------------------------------------------------------------------- fork

  /** Runs the two arms of a branch in turn until both have ended, so that a collective may meet across them. */
  *fork(a: Fibre | null, b: Fibre | null): Fibre {
    const arms = [a, b].filter((f): f is Fibre => f !== null).map((fibre) => ({ fibre, depth: this.#depth }));
    const outer = this.#depth;
    if (arms.length > 1) this.#forks++;
    let running = arms;
    while (running.length > 0) {
      let progress = false;
      const next: typeof arms = [];
      for (const arm of running) {
        this.#depth = arm.depth;
        const before = this.#pending.length;
        const step = arm.fibre.next();
        arm.depth = this.#depth;
        if (step.done === true) { progress = true; continue; }
        next.push(arm);
        if (step.value === 2) {
          if (this.#pending.length !== before) progress = true;
          continue;
        }
        progress = true;
        yield step.value;
      }
      running = next;
      if (!progress && running.length > 0) this.#giveUp();
    }
    if (arms.length > 1) this.#forks--;
    this.#depth = outer;
  }

  /** Nobody can go on: the calls that wait are made with whoever is there, and that is a fault. */
  #giveUp(): void {
    const waiting = this.#pending;
    this.#pending = [];
    for (const a of waiting) this.#complete([a]);
  }

  get siteOf(): FileSpan | null {
    return this.machine.place;
  }
}

export function spell(mask: number): string {
  const lanes: string[] = [];
  for (let l = 0; l < 32; l++) {
    if ((mask >>> l & 1) === 0) continue;
    let end = l;
    while (end < 31 && mask >>> (end + 1) & 1) end++;
    lanes.push(end === l ? `${l}` : `${l}-${end}`);
    l = end;
  }
  return lanes.join(', ');
}

function hex(mask: number): string {
  return `0x${(mask >>> 0).toString(16).padStart(8, '0')}`;
}

