/** Compares what two runs left in memory, byte by byte; NaNs are equal whatever their payload. */
import type { Buffer } from '../simulate/inputs.js';
import { INITIALISED, Page, PAGE_BYTES, type Segment } from '../simulate/memory.js';
import { leaves, MOST_LEAVES, sizeOf, widthOf, type Scalar, type SimType } from '../simulate/types.js';
import { bfloat16OfBits, halfOfBits } from '../cuda/floats.js';

export interface MemoryDifference {
  readonly buffer: string;
  /** Index of the element, and of the leaf within it if elements are structs. */
  readonly index: number;
  readonly before: string;
  readonly after: string;
  readonly relative: number;
}

const BASE = 2 ** 20;

function pageOf(segment: Segment, index: number): Page {
  const page = segment.pages[index];
  if (page !== undefined) return page;
  // Untouched: what it would have held.
  const fresh = new Page();
  segment.filler?.(fresh, index * PAGE_BYTES - BASE);
  return fresh;
}

/** Leaf of `type` at byte `offset`, with the element's index. */
function leafAt(type: SimType, offset: number): { readonly s: Scalar | 'pointer'; readonly at: number; readonly index: number } {
  const parts = leaves(type);
  const stride = Math.max(1, sizeOf(type));
  const element = Math.floor(offset / stride);
  const inside = offset - element * stride;
  let found = parts[0];
  let which = 0;
  for (const [i, p] of parts.entries()) if (p.offset <= inside) { found = p; which = i; }
  if (found === undefined) return { s: 'u8', at: offset, index: offset };
  return { s: found.type.k === 'scalar' ? found.type.s : 'pointer', at: element * stride + found.offset, index: element * parts.length + which };
}

const paddings = new WeakMap<SimType, Uint8Array>();

/** Whether no member of an element holds the byte. */
function isPadding(type: SimType, offset: number): boolean {
  if (type.k !== 'record') return false;
  let free = paddings.get(type);
  if (free === undefined) {
    const parts = leaves(type);
    free = new Uint8Array(Math.max(1, sizeOf(type)));
    // Of longer arrays only the beginning is listed.
    if (parts.length > 0 && parts.length < MOST_LEAVES) free.fill(1);
    for (const p of parts) free.fill(0, p.offset, p.offset + (p.type.k === 'scalar' ? widthOf(p.type.s) : 8));
    paddings.set(type, free);
  }
  return free[offset - Math.floor(offset / free.length) * free.length] === 1;
}

/** The end of what was touched, with what lies behind the last member of that element. */
export function endOf({ segment, element }: Buffer): number {
  let end = Math.max(segment.high, 0);
  while (end > 0 && isPadding(element, end)) end++;
  return end;
}

function read(view: DataView, o: number, s: Scalar | 'pointer'): number | bigint {
  switch (s) {
    case 'bool': case 'u8': return view.getUint8(o);
    case 'i8': return view.getInt8(o);
    case 'i16': return view.getInt16(o, true);
    case 'u16': return view.getUint16(o, true);
    case 'f16': return halfOfBits(view.getUint16(o, true));
    case 'bf16': return bfloat16OfBits(view.getUint16(o, true));
    case 'i32': return view.getInt32(o, true);
    case 'u32': return view.getUint32(o, true);
    case 'f32': return view.getFloat32(o, true);
    case 'f64': return view.getFloat64(o, true);
    case 'i64': return view.getBigInt64(o, true);
    case 'u64': case 'pointer': return view.getBigUint64(o, true);
  }
}

function valueAt(segment: Segment, offset: number, s: Scalar | 'pointer'): number | bigint {
  const width = s === 'pointer' ? 8 : widthOf(s);
  const bytes = new Uint8Array(8);
  for (let i = 0; i < width; i++) {
    const raw = offset + i + BASE;
    bytes[i] = pageOf(segment, Math.floor(raw / PAGE_BYTES)).u8[raw % PAGE_BYTES] ?? 0;
  }
  return read(new DataView(bytes.buffer), 0, s);
}

/** Differences of one buffer, the first `limit` of them. */
export function compareBuffer(before: Buffer, after: Buffer, limit: number): MemoryDifference[] {
  const out: MemoryDifference[] = [];
  const indices = new Set([...Object.keys(before.segment.pages), ...Object.keys(after.segment.pages)].map(Number));
  const type = before.element.k === 'void' ? { k: 'scalar' as const, s: 'u8' as const } : before.element;
  for (const index of [...indices].sort((a, b) => a - b)) {
    const a = pageOf(before.segment, index);
    const b = pageOf(after.segment, index);
    let seen = -1;
    for (let w = 0; w < PAGE_BYTES / 4; w++) {
      if (a.u32[w] === b.u32[w]) continue;
      for (let i = w * 4; i < w * 4 + 4; i++) {
        if (a.u8[i] === b.u8[i]) continue;
        // What lies between the members of a struct is left alone by one program and copied along, from wherever, by another.
        if (((a.flags[i] as number) & (b.flags[i] as number) & INITIALISED) === 0 && isPadding(type, index * PAGE_BYTES - BASE + i)) continue;
        const leaf = leafAt(type, index * PAGE_BYTES - BASE + i);
        if (leaf.at === seen) continue;
        seen = leaf.at;
        const x = valueAt(before.segment, leaf.at, leaf.s);
        const y = valueAt(after.segment, leaf.at, leaf.s);
        if (typeof x === 'number' && typeof y === 'number' && Number.isNaN(x) && Number.isNaN(y)) continue;
        const magnitude = Math.max(Math.abs(Number(x)), Math.abs(Number(y)));
        const relative = magnitude === 0 ? 0 : Math.abs(Number(x) - Number(y)) / magnitude;
        out.push({ buffer: before.name, index: leaf.index, before: spell(x), after: spell(y), relative: Number.isNaN(relative) ? Infinity : relative });
        if (out.length >= limit) return out;
      }
    }
  }
  return out;
}

function spell(v: number | bigint): string {
  return Object.is(v, -0) ? '-0' : `${v}`;
}

/** Written elements as sorted text: equal for buffers that hold the same values in another order. */
export function writtenValues(buffer: Buffer): string[] {
  const type = buffer.element.k === 'void' ? { k: 'scalar' as const, s: 'u8' as const } : buffer.element;
  const values: string[] = [];
  for (const index of Object.keys(buffer.segment.pages).map(Number).sort((a, b) => a - b)) {
    const page = buffer.segment.pages[index];
    if (page === undefined) continue;
    let seen = -1;
    for (let i = 0; i < PAGE_BYTES; i++) {
      if (((page.flags[i] ?? 0) & 2) === 0) continue;
      const leaf = leafAt(type, index * PAGE_BYTES - BASE + i);
      if (leaf.at === seen) continue;
      seen = leaf.at;
      values.push(spell(valueAt(buffer.segment, leaf.at, leaf.s)));
    }
  }
  return values.sort();
}

export function wroteAnything(buffers: readonly Buffer[]): boolean {
  return buffers.some((b) => b.segment.pages.some((p) => p !== undefined && p.flags32.some((f) => (f & 0x02020202) !== 0)));
}
