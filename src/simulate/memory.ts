/**
 * Memory of a simulated device: segments of pages in one flat address space of 2^53 bytes. An address is
 * `segment.id · 2^32 + 2^20 + offset`, so that pointers are ordinary numbers, compare as on the device, and a small negative offset
 * stays in its segment and is noticed. Pages are made when touched: a global page is filled with the segment's contents, a page of
 * shared or local memory starts uninitialised.
 *
 * Local memory is a thread's own: on a device the address of a local variable means the memory of whoever uses it (PTX ISA, state spaces: `.local`), so one that
 * another thread has handed on leads to nothing that can be told. Using it is a fault. Not handled: an address that outlives the call or the block it comes from.
 */
import { bfloat16OfBits, bitsOfBfloat16, bitsOfHalf, halfOfBits } from '../cuda/floats.js';
import type { FaultKind } from './faults.js';
import { RunAborted } from './faults.js';
import type { RaceDetector, Shadow } from './races.js';
import { wrapI64, wrapU64, type Wide } from './values.js';

// Names of their own: in some hosts (test runners' contexts) a look-up of a global is slow.
const { floor, fround } = Math;

export const SEGMENT_BYTES = 2 ** 32;
const BASE = 2 ** 20;
const PAGE_BITS = 12;
const PAGE = 1 << PAGE_BITS;
/** Access kinds: an ordinary one, a volatile one, an atomic one. */
export const PLAIN = 0;
export const VOLATILE = 1;
export const ATOMIC = 2;

/** Flag bits of a byte. */
export const INITIALISED = 1;
const WRITTEN = 2;

export class Page {
  readonly bytes = new ArrayBuffer(PAGE);
  readonly u8 = new Uint8Array(this.bytes);
  readonly i8 = new Int8Array(this.bytes);
  readonly u16 = new Uint16Array(this.bytes);
  readonly i16 = new Int16Array(this.bytes);
  readonly u32 = new Uint32Array(this.bytes);
  readonly i32 = new Int32Array(this.bytes);
  readonly f32 = new Float32Array(this.bytes);
  readonly f64 = new Float64Array(this.bytes);
  readonly flags = new Uint8Array(PAGE);
  readonly flags16 = new Uint16Array(this.flags.buffer);
  readonly flags32 = new Uint32Array(this.flags.buffer);
  /** Reads of bytes that nobody wrote are faults. */
  strict = false;
  shadow: Shadow | null = null;
}

export type SegmentSpace = 'global' | 'shared' | 'local' | 'constant';

/** First contents of a page: fills `page.u8` for the bytes from `from` on (an offset into the segment). */
export type Filler = (page: Page, from: number) => void;

/** A call's room on a warp's stack: 32 parts of one size, a lane's after the other. */
export interface Frame {
  readonly base: number;
  /** Bytes of all lanes together. */
  readonly bytes: number;
}

export class Segment {
  readonly base: number;
  readonly pages: (Page | undefined)[] = [];
  /** Of local memory: the frames of the calls that run, outermost first. */
  readonly frames: Frame[] = [];
  /** Range of offsets touched, half-open; empty at first. */
  low = Infinity;
  high = -Infinity;
  constructor(
    readonly id: number, readonly name: string, readonly space: SegmentSpace,
    /** Bytes; Infinity if nothing says how large it is. */
    public limit: number,
    readonly filler: Filler | null,
    /** Reads before writes are faults. */
    readonly strict: boolean,
    /** Bytes per race-detector granule; 0 switches detection off. */
    readonly granule: 0 | 1 | 2 | 4,
  ) {
    this.base = id * SEGMENT_BYTES + BASE;
  }
}

export abstract class Memory {
  readonly segments: (Segment | undefined)[] = [undefined];
  readonly races: RaceDetector;
  /** Local memory of the warp that runs; null before one does. */
  stack: Segment | null = null;
  #pages = 0;
  /** Offset into the page found by `at`. */
  #o = 0;
  readonly #scratch = new Page();
  /** Where a misaligned store has to be copied back to. */
  #misaligned: { segment: Segment; offset: number; width: number } | null = null;

  constructor(races: RaceDetector, readonly pageBudget: number) {
    this.races = races;
  }

  abstract fault(kind: FaultKind, lane: number, object: string | null, message: () => string): void;

  add(name: string, space: SegmentSpace, limit: number, filler: Filler | null, strict: boolean, granule: 0 | 1 | 2 | 4): Segment {
    const segment = new Segment(this.segments.length, name, space, limit, filler, strict, granule);
    this.segments.push(segment);
    return segment;
  }

  /** Frees the pages of a segment whose block has ended. */
  drop(segment: Segment): void {
    this.#pages -= segment.pages.reduce((n, p) => (p === undefined ? n : n + 1), 0);
    segment.pages.length = 0;
    this.segments[segment.id] = undefined;
  }

  segmentOf(address: number): Segment | undefined {
    return this.segments[floor(address / SEGMENT_BYTES)];
  }

  #newPage(segment: Segment, index: number): Page {
    if (++this.#pages > this.pageBudget) throw new RunAborted('memory-budget', `the kernel touches more than ${(this.pageBudget * PAGE) >> 20} MB`, null);
    const page = new Page();
    page.strict = segment.strict;
    if (segment.filler !== null) segment.filler(page, index * PAGE - BASE);
    segment.pages[index] = page;
    return page;
  }

  /** The page that holds `width` bytes at `address`; sets `#o`. Never fails: a bad access is a fault and lands on a scratch page. */
  at(address: number, width: number, lane: number, kind: number, write: boolean): Page {
    const segment = this.segments[(address / SEGMENT_BYTES) | 0];
    if (segment === undefined) return this.#nowhere(address, lane, write);
    const raw = address - segment.id * SEGMENT_BYTES;
    const offset = raw - BASE;
    if (offset < 0 || offset + width > segment.limit || raw > 0x7fffffff) return this.#outside(segment, offset, lane, write);
    if (offset < segment.low) segment.low = offset;
    if (offset + width > segment.high) segment.high = offset + width;
    if ((raw & (width - 1)) !== 0) return this.#unaligned(segment, raw, width, lane, write);
    const index = raw >>> PAGE_BITS;
    let page = segment.pages[index];
    if (page === undefined) page = this.#newPage(segment, index);
    const o = raw & (PAGE - 1);
    this.#o = o;
    if (segment.granule !== 0) this.races.access(segment, page, o, width, lane, kind, write);
    else if (segment.space === 'local' && !this.#isOwn(segment, address, lane)) return this.#foreign(lane, write);
    if (write && segment.space === 'constant') this.fault('write-to-constant', lane, segment.name, () => `writes constant memory ${segment.name}`);
    return page;
  }

  /** Does the address lie in the lane's part of a frame? What lies behind all frames belongs to nobody that is known. */
  #isOwn(segment: Segment, address: number, lane: number): boolean {
    if (segment !== this.stack) return false;
    const { frames } = segment;
    for (let i = frames.length - 1; i >= 0; i--) {
      const { base, bytes } = frames[i] as Frame;
      if (address < base) continue;
      const at = (address - base) * 32;
      return address >= base + bytes || (at >= lane * bytes && at < (lane + 1) * bytes);
    }
    return true;
  }

  #foreign(lane: number, write: boolean): Page {
    this.fault('foreign-local', lane, null, () => `${write ? 'writes' : 'reads'} through the address of a local variable of another thread, where a device has the thread's own local memory`);
    return this.#blank();
  }

  #blank(): Page {
    this.#scratch.u8.fill(0, 0, 16);
    this.#scratch.flags.fill(3, 0, 16);
    this.#o = 0;
    return this.#scratch;
  }

  #nowhere(address: number, lane: number, write: boolean): Page {
    const word = write ? 'writes' : 'reads';
    if (address >= 0 && address < SEGMENT_BYTES) this.fault('null-dereference', lane, null, () => `${word} through a null pointer`);
    else this.fault('wild-pointer', lane, null, () => `${word} at an address that belongs to no buffer`);
    return this.#blank();
  }

  #outside(segment: Segment, offset: number, lane: number, write: boolean): Page {
    const kind: FaultKind = segment.space === 'global' || segment.space === 'constant' ? 'global-out-of-bounds' : segment.space === 'shared' ? 'shared-out-of-bounds' : 'array-out-of-bounds';
    this.fault(kind, lane, segment.name, () => `${write ? 'writes' : 'reads'} ${segment.name} at byte ${offset}${segment.limit === Infinity ? '' : ` of ${segment.limit}`}`);
    return this.#blank();
  }

  #unaligned(segment: Segment, raw: number, width: number, lane: number, write: boolean): Page {
    this.fault('misaligned', lane, segment.name, () => `${write ? 'writes' : 'reads'} ${width} bytes of ${segment.name} at the misaligned offset ${raw - BASE}`);
    const scratch = this.#blank();
    if (write) this.#misaligned = { segment, offset: raw, width };
    else for (let i = 0; i < width; i++) scratch.u8[i] = this.#byte(segment, raw + i).u8[(raw + i) & (PAGE - 1)] ?? 0;
    return scratch;
  }

  #misplaced(address: number, bytes: number, align: number, lane: number, write: boolean): void {
    const segment = this.segmentOf(address);
    if (segment === undefined) return;
    this.fault('misaligned', lane, segment.name, () => `${write ? 'writes' : 'reads'} ${bytes} bytes of ${segment.name} at offset ${address - segment.base}, which is no multiple of ${align}`);
  }

  #byte(segment: Segment, raw: number): Page {
    return segment.pages[raw >>> PAGE_BITS] ?? this.#newPage(segment, raw >>> PAGE_BITS);
  }

  #copyBack(): void {
    const target = this.#misaligned;
    if (target === null) return;
    this.#misaligned = null;
    for (let i = 0; i < target.width; i++) {
      const page = this.#byte(target.segment, target.offset + i);
      const o = (target.offset + i) & (PAGE - 1);
      page.u8[o] = this.#scratch.u8[i] ?? 0;
      page.flags[o] = INITIALISED | WRITTEN;
    }
  }

  #uninitialised(address: number, lane: number): void {
    const segment = this.segmentOf(address);
    const name = segment?.name ?? 'memory';
    const space = segment?.space === 'shared' ? 'shared' : segment?.space === 'global' ? 'global' : 'local';
    this.fault(`uninitialised-${space}`, lane, name, () => `reads ${space} memory that no one has written`);
  }

  // ---------------------------------------------------------------------------------------------------------- loads

  #check(page: Page, o: number, width: number, address: number, lane: number): void {
    for (let i = 0; i < width; i++) if (((page.flags[o + i] ?? 1) & INITIALISED) === 0) { this.#uninitialised(address, lane); return; }
  }

  ldi8(a: number, l: number, k: number): number { const p = this.at(a, 1, l, k, false); if (p.strict) this.#check(p, this.#o, 1, a, l); return p.i8[this.#o] as number; }
  ldu8(a: number, l: number, k: number): number { const p = this.at(a, 1, l, k, false); if (p.strict) this.#check(p, this.#o, 1, a, l); return p.u8[this.#o] as number; }
  ldbool(a: number, l: number, k: number): number { return this.ldu8(a, l, k) !== 0 ? 1 : 0; }
  ldi16(a: number, l: number, k: number): number { const p = this.at(a, 2, l, k, false); if (p.strict) this.#check(p, this.#o, 2, a, l); return p.i16[this.#o >> 1] as number; }
  ldu16(a: number, l: number, k: number): number { const p = this.at(a, 2, l, k, false); if (p.strict) this.#check(p, this.#o, 2, a, l); return p.u16[this.#o >> 1] as number; }
  ldf16(a: number, l: number, k: number): number { return halfOfBits(this.ldu16(a, l, k)); }
  ldbf16(a: number, l: number, k: number): number { return bfloat16OfBits(this.ldu16(a, l, k)); }
  ldi32(a: number, l: number, k: number): number { const p = this.at(a, 4, l, k, false); if (p.strict) this.#check(p, this.#o, 4, a, l); return p.i32[this.#o >> 2] as number; }
  ldu32(a: number, l: number, k: number): number { const p = this.at(a, 4, l, k, false); if (p.strict) this.#check(p, this.#o, 4, a, l); return p.u32[this.#o >> 2] as number; }
  ldf32(a: number, l: number, k: number): number { const p = this.at(a, 4, l, k, false); if (p.strict) this.#check(p, this.#o, 4, a, l); return p.f32[this.#o >> 2] as number; }
  ldf64(a: number, l: number, k: number): number { const p = this.at(a, 8, l, k, false); if (p.strict) this.#check(p, this.#o, 8, a, l); return p.f64[this.#o >> 3] as number; }
  ldi64(a: number, l: number, k: number): Wide {
    const p = this.at(a, 8, l, k, false);
    if (p.strict) this.#check(p, this.#o, 8, a, l);
    const low = p.u32[this.#o >> 2] as number;
    const high = p.i32[(this.#o >> 2) + 1] as number;
    return high >= -0x200000 && high < 0x200000 && !(high === -0x200000 && low === 0) ? high * 4294967296 + low : wrapI64((BigInt(high) << 32n) | BigInt(low));
  }
  ldu64(a: number, l: number, k: number): Wide {
    const p = this.at(a, 8, l, k, false);
    if (p.strict) this.#check(p, this.#o, 8, a, l);
    const low = p.u32[this.#o >> 2] as number;
    const high = p.u32[(this.#o >> 2) + 1] as number;
    return high < 0x200000 ? high * 4294967296 + low : wrapU64((BigInt(high) << 32n) | BigInt(low));
  }
  ldptr(a: number, l: number, k: number): number { return Number(this.ldu64(a, l, k)); }

  // --------------------------------------------------------------------------------------------------------- stores

  sti8(a: number, v: number, l: number, k: number): void {
    const p = this.at(a, 1, l, k, true);
    const o = this.#o;
    if (this.races.conflict !== null) this.races.settle(p.i8[o] === ((v << 24) >> 24));
    p.i8[o] = v;
    p.flags[o] = 3;
    if (this.#misaligned !== null) this.#copyBack();
  }
  stu8(a: number, v: number, l: number, k: number): void { this.sti8(a, v, l, k); }
  stbool(a: number, v: number | boolean, l: number, k: number): void { this.sti8(a, v ? 1 : 0, l, k); }
  sti16(a: number, v: number, l: number, k: number): void {
    const p = this.at(a, 2, l, k, true);
    const o = this.#o >> 1;
    if (this.races.conflict !== null) this.races.settle(p.u16[o] === (v & 0xffff));
    p.i16[o] = v;
    p.flags16[o] = 0x0303;
    if (this.#misaligned !== null) this.#copyBack();
  }
  stu16(a: number, v: number, l: number, k: number): void { this.sti16(a, v, l, k); }
  stf16(a: number, v: number, l: number, k: number): void { this.sti16(a, bitsOfHalf(v), l, k); }
  stbf16(a: number, v: number, l: number, k: number): void { this.sti16(a, bitsOfBfloat16(v), l, k); }
  sti32(a: number, v: number, l: number, k: number): void {
    const p = this.at(a, 4, l, k, true);
    const o = this.#o >> 2;
    if (this.races.conflict !== null) this.races.settle(p.i32[o] === (v | 0));
    p.i32[o] = v;
    p.flags32[o] = 0x03030303;
    if (this.#misaligned !== null) this.#copyBack();
  }
  stu32(a: number, v: number, l: number, k: number): void { this.sti32(a, v, l, k); }
  stf32(a: number, v: number, l: number, k: number): void {
    const p = this.at(a, 4, l, k, true);
    const o = this.#o >> 2;
    if (this.races.conflict !== null) this.races.settle(Object.is(p.f32[o], fround(v)));
    if (v !== v) p.u32[o] = 0x7fffffff; // the device's NaN
    else p.f32[o] = v;
    p.flags32[o] = 0x03030303;
    if (this.#misaligned !== null) this.#copyBack();
  }
  stf64(a: number, v: number, l: number, k: number): void {
    const p = this.at(a, 8, l, k, true);
    const o = this.#o;
    if (this.races.conflict !== null) this.races.settle(Object.is(p.f64[o >> 3], v));
    p.f64[o >> 3] = v;
    p.flags32[o >> 2] = 0x03030303;
    p.flags32[(o >> 2) + 1] = 0x03030303;
    if (this.#misaligned !== null) this.#copyBack();
  }
  sti64(a: number, v: Wide, l: number, k: number): void {
    let high: number;
    let low: number;
    if (typeof v === 'number') { high = floor(v / 4294967296); low = v - high * 4294967296; }
    else { high = Number(BigInt.asIntN(32, v >> 32n)); low = Number(BigInt.asUintN(32, v)); }
    const p = this.at(a, 8, l, k, true);
    const o = this.#o >> 2;
    if (this.races.conflict !== null) this.races.settle(p.u32[o] === low >>> 0 && p.i32[o + 1] === (high | 0));
    p.u32[o] = low;
    p.i32[o + 1] = high;
    p.flags32[o] = 0x03030303;
    p.flags32[o + 1] = 0x03030303;
    if (this.#misaligned !== null) this.#copyBack();
  }
  stu64(a: number, v: Wide, l: number, k: number): void { this.sti64(a, v, l, k); }
  stptr(a: number, v: number, l: number, k: number): void { this.sti64(a, v, l, k); }

  // ------------------------------------------------------------------------------------------------- whole objects

  /**
   * Copies an object; bytes that were uninitialised stay so and are no fault (padding, unset fields). `align` divides both addresses. An object copied
   * onto itself is read and written like any other: its reach, its races and its bounds are those of the members one by one.
   */
  copy(to: number, from: number, bytes: number, align: number, lane: number, kind: number): void {
    if (align > 4) {
      // Vector accesses are one access of their whole width; what is copied still is, byte for byte.
      if (from % align !== 0) this.#misplaced(from, bytes, align, lane, false);
      if (to % align !== 0) this.#misplaced(to, bytes, align, lane, true);
    }
    const step = align >= 4 && bytes % 4 === 0 ? 4 : align >= 2 && bytes % 2 === 0 ? 2 : 1;
    for (let i = 0; i < bytes; i += step) {
      const source = this.at(from + i, step, lane, kind, false);
      const o = this.#o;
      const value = step === 4 ? source.u32[o >> 2] as number : step === 2 ? source.u16[o >> 1] as number : source.u8[o] as number;
      const { flags, strict } = source;
      const target = this.at(to + i, step, lane, kind, true);
      const t = this.#o;
      if (this.races.conflict !== null) this.races.settle((step === 4 ? target.u32[t >> 2] : step === 2 ? target.u16[t >> 1] : target.u8[t]) === value);
      if (step === 4) target.u32[t >> 2] = value;
      else if (step === 2) target.u16[t >> 1] = value;
      else target.u8[t] = value;
      for (let j = 0; j < step; j++) target.flags[t + j] = strict && ((flags[o + j] as number) & INITIALISED) === 0 ? WRITTEN : INITIALISED | WRITTEN;
      if (this.#misaligned !== null) this.#copyBack();
    }
  }

  /** Fills bytes (`memset`, zero-initialisation). */
  fill(to: number, value: number, bytes: number, lane: number): void {
    for (let i = 0; i < bytes; i++) {
      const p = this.at(to + i, 1, lane, PLAIN, true);
      if (this.races.conflict !== null) this.races.settle(p.u8[this.#o] === (value & 0xff));
      p.u8[this.#o] = value;
      p.flags[this.#o] = 3;
    }
  }

  /** Marks a range uninitialised again (a local variable whose declaration is reached once more). */
  forget(from: number, bytes: number): void {
    const segment = this.segmentOf(from);
    if (segment === undefined) return;
    const raw = from - segment.id * SEGMENT_BYTES;
    for (let i = raw; i < raw + bytes;) {
      const page = segment.pages[i >>> PAGE_BITS];
      const end = Math.min(raw + bytes, ((i >>> PAGE_BITS) + 1) << PAGE_BITS);
      if (page !== undefined) page.flags.fill(0, i & (PAGE - 1), ((end - 1) & (PAGE - 1)) + 1);
      i = end;
    }
  }
}

/** Visits every written byte of a segment in order of offset. */
export function writtenBytes(segment: Segment, visit: (offset: number, value: number) => void): void {
  const indices = Object.keys(segment.pages).map(Number).sort((a, b) => a - b);
  for (const index of indices) {
    const page = segment.pages[index];
    if (page === undefined) continue;
    for (let word = 0; word < PAGE / 4; word++) {
      if (((page.flags32[word] as number) & 0x02020202) === 0) continue;
      for (let i = 0; i < 4; i++) {
        const o = word * 4 + i;
        if (((page.flags[o] as number) & WRITTEN) !== 0) visit(index * PAGE - BASE + o, page.u8[o] as number);
      }
    }
  }
}

export const PAGE_BYTES = PAGE;
