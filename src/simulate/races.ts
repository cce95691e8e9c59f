/**
 * Data races by time stamps: every granule remembers its last write and its last two readers with the moment. Two accesses by
 * different threads, one of them a write, are ordered if a block barrier (same block), a `__syncwarp` naming both (same warp), or a
 * fence by the first followed by an atomic or volatile access of the second lies between; else they race. After the idea of
 * FastTrack (Flanagan and Freund, 2009), with moments in place of vector clocks because barriers are the only joins that count here.
 *
 * Not handled: three or more readers before a write (the oldest is forgotten), ordering through chains of several flags.
 */
import type { Page, Segment } from './memory.js';

export interface Shadow {
  readonly granule: number;
  /** Thread number + 1 of the last writer, 0 if none. */
  readonly writer: Int32Array;
  readonly wrote: Int32Array;
  /** Kind of the last write (plain, volatile, atomic). */
  readonly how: Uint8Array;
  readonly reader: Int32Array;
  readonly read: Int32Array;
  readonly reader2: Int32Array;
  readonly read2: Int32Array;
}

/** What the detector needs to know about a warp. */
export interface RaceWarp {
  readonly number: number;
  readonly block: { barrierAt: number };
  /** Per lane: the moment of its last `__syncwarp` (or warp barrier). */
  readonly syncedAt: Int32Array;
  fencedAt: number;
  acquiredAt: number;
}

export interface RaceReport {
  readonly segment: Segment;
  readonly offset: number;
  readonly lane: number;
  readonly write: boolean;
  readonly otherWrite: boolean;
  readonly otherThread: number;
  readonly atomic: boolean;
}

export class RaceDetector {
  /** The moment: grows at every barrier, fence, `__syncwarp` and atomic. */
  now = 1;
  /** Accesses before this moment belong to an earlier kernel and are ordered. */
  since = 0;
  /** The warp that runs. */
  warp: RaceWarp | null = null;
  readonly warps: RaceWarp[] = [];
  /** A write-write conflict found by `access`, waiting for `settle` to say whether the values agree. */
  conflict: RaceReport | null = null;

  constructor(readonly enabled: boolean, readonly report: (race: RaceReport, sameValue: boolean) => void) {}

  #shadow(segment: Segment, page: Page): Shadow {
    const n = page.u8.length / segment.granule;
    const shadow: Shadow = {
      granule: segment.granule, writer: new Int32Array(n), wrote: new Int32Array(n), how: new Uint8Array(n),
      reader: new Int32Array(n), read: new Int32Array(n), reader2: new Int32Array(n), read2: new Int32Array(n),
    };
    page.shadow = shadow;
    return shadow;
  }

  #ordered(thread: number, when: number, warp: RaceWarp, lane: number): boolean {
    if (when < this.since) return true;
    const other = thread >>> 5;
    if (other === warp.number) {
      const l = thread & 31;
      if (l === lane) return true;
      if (when < (warp.syncedAt[lane] as number) && when < (warp.syncedAt[l] as number)) return true;
      return when < warp.block.barrierAt;
    }
    const theirs = this.warps[other];
    if (theirs === undefined) return false;
    if (theirs.block === warp.block && when < warp.block.barrierAt) return true;
    return theirs.fencedAt > when && warp.acquiredAt > theirs.fencedAt;
  }

  access(segment: Segment, page: Page, o: number, width: number, lane: number, kind: number, write: boolean): void {
    const warp = this.warp;
    if (!this.enabled || warp === null) return;
    if (kind !== 0) warp.acquiredAt = this.now;
    const shadow = page.shadow ?? this.#shadow(segment, page);
    const thread = warp.number * 32 + lane;
    const last = (o + width - 1) / shadow.granule | 0;
    for (let g = o / shadow.granule | 0; g <= last; g++) {
      const w = (shadow.writer[g] as number) - 1;
      if (w >= 0 && w !== thread) {
        const how = shadow.how[g] as number;
        // Volatile and atomic accesses do not race with each other.
        if (!(kind !== 0 && how !== 0) && !this.#ordered(w, shadow.wrote[g] as number, warp, lane)) {
          const race: RaceReport = { segment, offset: g * shadow.granule, lane, write, otherWrite: true, otherThread: w, atomic: kind === 2 || how === 2 };
          if (write && kind !== 2) this.conflict = race;
          else this.report(race, false);
        }
      }
      if (write) {
        const r = (shadow.reader[g] as number) - 1;
        if (r >= 0 && r !== thread && kind === 0 && !this.#ordered(r, shadow.read[g] as number, warp, lane)) {
          this.report({ segment, offset: g * shadow.granule, lane, write, otherWrite: false, otherThread: r, atomic: false }, false);
        } else {
          const r2 = (shadow.reader2[g] as number) - 1;
          if (r2 >= 0 && r2 !== thread && kind === 0 && !this.#ordered(r2, shadow.read2[g] as number, warp, lane)) {
            this.report({ segment, offset: g * shadow.granule, lane, write, otherWrite: false, otherThread: r2, atomic: false }, false);
          }
        }
        shadow.writer[g] = thread + 1;
        shadow.wrote[g] = this.now;
        shadow.how[g] = kind;
      } else if (kind === 0) {
        const r = shadow.reader[g] as number;
        if (r !== 0 && r !== thread + 1) { shadow.reader2[g] = r; shadow.read2[g] = shadow.read[g] as number; }
        shadow.reader[g] = thread + 1;
        shadow.read[g] = this.now;
      }
    }
  }

  /** Called by the store that follows a write-write conflict. */
  settle(sameValue: boolean): void {
    const race = this.conflict;
    this.conflict = null;
    if (race !== null) this.report(race, sameValue);
  }
}
