/** Lazy contents: what a buffer holds before the launch is a hash of (seed, buffer, index), shaped so that branches go both ways. */
import { bitsOfBfloat16, bitsOfHalf } from '../cuda/floats.js';
import type { Filler } from './memory.js';
import { PAGE_BYTES } from './memory.js';
import { leaves, sizeOf, widthOf, type Scalar, type SimType } from './types.js';

// Names of their own: in some hosts (test runners' contexts) a look-up of a global is slow.
const { imul, floor } = Math;

/** 32 well-mixed bits of up to three integers. */
export function hash(a: number, b: number, c = 0): number {
  let h = imul(a ^ 0x9e3779b9, 0x85ebca6b);
  h = imul(h ^ (h >>> 15) ^ b, 0xc2b2ae35);
  h = imul(h ^ (h >>> 13) ^ c, 0x27d4eb2f);
  h = imul(h ^ (h >>> 16), 0x85ebca6b);
  return (h ^ (h >>> 13)) >>> 0;
}

export function hashText(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = imul(h ^ text.charCodeAt(i), 16777619);
  return h >>> 0;
}

/** What the elements of a buffer look like. */
export type Distribution =
  | { readonly kind: 'hash' }
  | { readonly kind: 'uniform'; readonly low: number; readonly high: number }
  | { readonly kind: 'bernoulli'; readonly p: number; readonly value?: number }
  | { readonly kind: 'constant'; readonly value: number | bigint }
  | { readonly kind: 'values'; readonly values: readonly (number | bigint)[] };

export interface ContentOptions {
  readonly seed: number;
  /** Identifies the buffer: its name. */
  readonly key: number;
  readonly distribution: Distribution;
  /** Integers lie in 0…limit-1 if they may be used as indices; null if they may be negative. */
  readonly indexLimit: number | null;
  /** Negative values among indices, for code that asks for them. */
  readonly sentinels?: readonly number[];
  /** Constants that the code compares with. */
  readonly integers: readonly number[];
  readonly reals: readonly number[];
  /** Infinities and NaNs now and then. */
  readonly special: boolean;
  /** Integers over the whole range of their type and floating values over all magnitudes, where no index or bound rests on them. */
  readonly wide: boolean;
  /** Addresses for elements that are pointers. */
  readonly pointers: readonly number[];
}

export function elementValue(s: Scalar | 'pointer', index: number, o: ContentOptions): number | bigint {
  const h = hash(o.seed, o.key, index);
  const unit = h / 4294967296;
  if (s === 'pointer') return o.pointers.length === 0 ? 0 : o.pointers[h % o.pointers.length] ?? 0;
  const floating = s === 'f32' || s === 'f64' || s === 'f16' || s === 'bf16';
  const d = o.distribution;
  switch (d.kind) {
    case 'values': return d.values[index] ?? 0;
    case 'constant': return d.value;
    case 'bernoulli': return unit < d.p ? d.value ?? 1 : 0;
    case 'uniform': return floating ? d.low + unit * (d.high - d.low) : floor(d.low + unit * (d.high - d.low + 1));
    case 'hash': break;
  }
  // Half of the values stay ordinary, so that comparisons still go both ways.
  if (o.wide && o.indexLimit === null && s !== 'bool' && hash(h, 9) % 2 === 0) return wideValue(s, hash(h, 10), o.seed);
  const pick = h & 63;
  const fine = (h >>> 6) / 67108864;
  if (floating) {
    if (pick < 4) return 0;
    if (pick < 8) return (hash(h, 3) % 7) - 3;
    if (pick < 14 && o.reals.length > 0) {
      const c = o.reals[hash(h, 4) % o.reals.length] ?? 0;
      return c + ((hash(h, 5) % 3) - 1) * Math.max(Math.abs(c), 1) * 0.25 * fine;
    }
    if (pick === 63 && o.special) return [Infinity, -Infinity, NaN, -0][hash(h, 6) % 4] ?? 0;
    return fine * 8 - 4;
  }
  if (s === 'bool') return h & 1;
  if (o.indexLimit !== null) {
    if (pick >= 54 && o.sentinels !== undefined && o.sentinels.length > 0 && !s.startsWith('u')) return o.sentinels[hash(h, 8) % o.sentinels.length] ?? 0;
    if (pick < 8 && o.integers.length > 0) {
      const c = o.integers[hash(h, 4) % o.integers.length] ?? 0;
      if (c >= 0 && c < o.indexLimit) return c;
    }
    return floor(fine * Math.max(1, o.indexLimit));
  }
  if (pick < 12 && o.integers.length > 0) {
    const v = (o.integers[hash(h, 4) % o.integers.length] ?? 0) + (hash(h, 5) % 3) - 1;
    return s.startsWith('u') ? Math.abs(v) : v;
  }
  if (pick < 28) return hash(h, 7) % 4;
  const span = widthOf(s) === 1 ? 60 : 200;
  return s.startsWith('u') ? floor(fine * span) : floor(fine * span) - span / 2;
}

/** What `wide` settings hold beside ordinary values: the ends of the range, powers of two and their neighbours, any bits. */
export function wideValue(s: Scalar, h: number, seed: number): number | bigint {
  const more = hash(seed, h, 11);
  switch (s) {
    case 'f32': case 'f64': case 'f16': case 'bf16': {
      // Every exponent is as likely as another, the denormal ones too.
      const [least, most] = s === 'f64' ? [-1074, 1023] : s === 'f16' ? [-24, 15] : [-149, 127];
      const exponent = least + (more % (most - least + 1));
      const v = (1 + (hash(more, 1) >>> 8) / 2 ** 24) * 2 ** exponent * ((h & 1) === 0 ? 1 : -1);
      return s === 'f32' ? Math.fround(v) : v;
    }
    case 'bool': return h & 1;
    default: break;
  }
  const bits = widthOf(s) * 8;
  const signed = !s.startsWith('u');
  const any = (BigInt(more) << 32n) | BigInt(hash(more, 2));
  let v: bigint;
  switch (h % 8) {
    case 0: v = signed ? -(1n << BigInt(bits - 1)) : 0n; break; // the least
    case 1: v = signed ? (1n << BigInt(bits - 1)) - 1n : (1n << BigInt(bits)) - 1n; break; // the greatest
    case 2: v = (1n << BigInt(more % bits)) + BigInt(hash(more, 3) % 3) - 1n; break;
    case 3: v = -(1n << BigInt(more % bits)); break;
    case 4: v = BigInt(hash(more, 3) % 7) - 3n; break;
    // Just beyond what a float holds exactly.
    case 5: v = (1n << 24n) + BigInt(more % 4096); break;
    default: v = any; break;
  }
  v = signed ? BigInt.asIntN(bits, v) : BigInt.asUintN(bits, v);
  return bits === 64 ? v : Number(v);
}

/** A filler for pages of a buffer with elements of `type`. */
export function filler(type: SimType, o: ContentOptions): Filler {
  const parts = leaves(type);
  const stride = Math.max(1, sizeOf(type));
  return (page, from) => {
    const first = floor(from / stride);
    const last = floor((from + PAGE_BYTES - 1) / stride);
    for (let element = first; element <= last; element++) {
      for (const [p, leaf] of parts.entries()) {
        const at = element * stride + leaf.offset - from;
        if (at <= -8 || at >= PAGE_BYTES) continue;
        const s = leaf.type.k === 'scalar' ? leaf.type.s : 'pointer';
        const index = o.distribution.kind === 'values' ? element * parts.length + p : element * parts.length + p;
        write(page, at, s, elementValue(s, index, o));
      }
    }
    page.flags.fill(1);
  };
}

type FilledPage = Parameters<Filler>[0];
const scratch = new DataView(new ArrayBuffer(8));

function write(page: FilledPage, at: number, s: Scalar | 'pointer', given: number | bigint): void {
  if (s === 'i64' || s === 'u64' || s === 'pointer') scratch.setBigInt64(0, BigInt.asIntN(64, typeof given === 'bigint' ? given : BigInt(Math.trunc(given))), true);
  const value = Number(given);
  if (s === 'f32' && at >= 0 && at + 4 <= PAGE_BYTES && (at & 3) === 0) {
    if (value !== value) page.u32[at >> 2] = 0x7fffffff; // as the device makes it, so that its bits survive a bit cast
    else page.f32[at >> 2] = value;
    return;
  }
  if ((s === 'i32' || s === 'u32') && at >= 0 && at + 4 <= PAGE_BYTES && (at & 3) === 0) { page.i32[at >> 2] = value; return; }
  let width: number;
  switch (s) {
    case 'bool': case 'i8': case 'u8': scratch.setInt8(0, value); width = 1; break;
    case 'i16': case 'u16': scratch.setInt16(0, value, true); width = 2; break;
    case 'f16': scratch.setUint16(0, bitsOfHalf(value), true); width = 2; break;
    case 'bf16': scratch.setUint16(0, bitsOfBfloat16(value), true); width = 2; break;
    case 'i32': case 'u32': scratch.setInt32(0, value, true); width = 4; break;
    case 'f32': scratch.setFloat32(0, value, true); width = 4; break;
    case 'f64': scratch.setFloat64(0, value, true); width = 8; break;
    case 'i64': case 'u64': case 'pointer': width = 8; break;
  }
  for (let i = 0; i < width; i++) {
    const o = at + i;
    if (o >= 0 && o < PAGE_BYTES) page.u8[o] = scratch.getUint8(i);
  }
}
