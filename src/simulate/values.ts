/**
 * Arithmetic of generated code that plain JavaScript operators do not give. 64-bit integers are numbers while they are safe
 * integers and bigints beyond: index arithmetic stays fast and hashes stay exact. `Wide` values are always normalised (a bigint is
 * never a safe integer), so `==` and `<` of JavaScript compare them correctly even when mixed.
 */
import { floatOfInteger, roundBfloat16, roundHalf } from '../cuda/floats.js';

// Names of their own: in some hosts (test runners' contexts) a look-up of a global is slow.
const { floor, fround, trunc } = Math;

export type Wide = number | bigint;

const LIMIT = Number.MAX_SAFE_INTEGER;

/** Normalises an exact integer to i64. */
export function wrapI64(value: bigint): Wide {
  const w = BigInt.asIntN(64, value);
  return w <= 9007199254740991n && w >= -9007199254740991n ? Number(w) : w;
}
export function wrapU64(value: bigint): Wide {
  const w = BigInt.asUintN(64, value);
  return w <= 9007199254740991n ? Number(w) : w;
}

// Signed and unsigned differ in what an exact result wraps to; `+ 0` turns -0 into 0.
export function addI(a: Wide, b: Wide): Wide {
  if (typeof a === 'number' && typeof b === 'number') { const r = a + b; if (r <= LIMIT && r >= -LIMIT) return r; }
  return wrapI64(BigInt(a) + BigInt(b));
}
export function addU(a: Wide, b: Wide): Wide {
  if (typeof a === 'number' && typeof b === 'number') { const r = a + b; if (r <= LIMIT) return r; }
  return wrapU64(BigInt(a) + BigInt(b));
}
export function subI(a: Wide, b: Wide): Wide {
  if (typeof a === 'number' && typeof b === 'number') { const r = a - b; if (r <= LIMIT && r >= -LIMIT) return r; }
  return wrapI64(BigInt(a) - BigInt(b));
}
export function subU(a: Wide, b: Wide): Wide {
  if (typeof a === 'number' && typeof b === 'number') { const r = a - b; if (r >= 0) return r; }
  return wrapU64(BigInt(a) - BigInt(b));
}
export function mulI(a: Wide, b: Wide): Wide {
  if (typeof a === 'number' && typeof b === 'number') { const r = a * b; if (r <= LIMIT && r >= -LIMIT) return r + 0; }
  return wrapI64(BigInt(a) * BigInt(b));
}
export function mulU(a: Wide, b: Wide): Wide {
  if (typeof a === 'number' && typeof b === 'number') { const r = a * b; if (r <= LIMIT) return r; }
  return wrapU64(BigInt(a) * BigInt(b));
}
/** Division; the caller has dealt with zero. The remainder of doubles is exact, so the quotient is too. */
export function divI(a: Wide, b: Wide): Wide {
  if (typeof a === 'number' && typeof b === 'number') return (a - (a % b)) / b + 0;
  return wrapI64(BigInt(a) / BigInt(b));
}
export function divU(a: Wide, b: Wide): Wide {
  if (typeof a === 'number' && typeof b === 'number') return (a - (a % b)) / b;
  return wrapU64(BigInt(a) / BigInt(b));
}
export function remI(a: Wide, b: Wide): Wide {
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0;
  return wrapI64(BigInt(a) % BigInt(b));
}
export function remU(a: Wide, b: Wide): Wide {
  if (typeof a === 'number' && typeof b === 'number') return a % b;
  return wrapU64(BigInt(a) % BigInt(b));
}
const small = (a: Wide): a is number => typeof a === 'number' && (a | 0) === a;
export function andI(a: Wide, b: Wide): Wide { return small(a) && small(b) ? a & b : wrapI64(BigInt(a) & BigInt(b)); }
export function orI(a: Wide, b: Wide): Wide { return small(a) && small(b) ? a | b : wrapI64(BigInt(a) | BigInt(b)); }
export function xorI(a: Wide, b: Wide): Wide { return small(a) && small(b) ? a ^ b : wrapI64(BigInt(a) ^ BigInt(b)); }
export function andU(a: Wide, b: Wide): Wide { return small(a) && small(b) ? a & b : wrapU64(BigInt(a) & BigInt(b)); }
export function orU(a: Wide, b: Wide): Wide { return small(a) && small(b) ? a | b : wrapU64(BigInt(a) | BigInt(b)); }
export function xorU(a: Wide, b: Wide): Wide { return small(a) && small(b) ? a ^ b : wrapU64(BigInt(a) ^ BigInt(b)); }
export function notI(a: Wide): Wide { return typeof a === 'number' && a > -LIMIT && a < LIMIT ? -a - 1 : wrapI64(~BigInt(a)); }
export function notU(a: Wide): Wide { return wrapU64(~BigInt(a)); }
export function negI(a: Wide): Wide { return typeof a === 'number' ? 0 - a : wrapI64(-a); }
export function negU(a: Wide): Wide { return a === 0 ? 0 : wrapU64(-BigInt(a)); }
/** Shifts by 0…63. */
export function shlI(a: Wide, n: number): Wide {
  if (typeof a === 'number') { const r = a * 2 ** n; if (r <= LIMIT && r >= -LIMIT) return r; }
  return wrapI64(BigInt(a) << BigInt(n));
}
export function shlU(a: Wide, n: number): Wide {
  if (typeof a === 'number') { const r = a * 2 ** n; if (r <= LIMIT) return r; }
  return wrapU64(BigInt(a) << BigInt(n));
}
export function shrW(a: Wide, n: number): Wide {
  if (typeof a === 'number') return floor(a / 2 ** n);
  const r = a >> BigInt(n);
  return r <= 9007199254740991n && r >= -9007199254740991n ? Number(r) : r;
}

// ---------------------------------------------------------------------------------------------------------- conversions

export function wideToI32(a: Wide): number { return typeof a === 'number' ? a | 0 : Number(BigInt.asIntN(32, a)); }
export function wideToU32(a: Wide): number { return typeof a === 'number' ? a >>> 0 : Number(BigInt.asUintN(32, a)); }
/** Between signed and unsigned 64-bit. */
export function toI64(a: Wide): Wide { return typeof a === 'number' ? a : wrapI64(a); }
export function toU64(a: Wide): Wide { return typeof a === 'number' && a >= 0 ? a : wrapU64(BigInt(a)); }
export function wideToF64(a: Wide): number { return Number(a); }
export function wideToF32(a: Wide): number { return typeof a === 'number' ? fround(a) : floatOfInteger(a); }

/** Floating to integer: truncation, saturating, NaN as the hardware has it. */
export function floatToI32(x: number): number {
  if (x !== x) return 0;
  return x >= 2147483647 ? 2147483647 : x <= -2147483648 ? -2147483648 : x | 0;
}
export function floatToU32(x: number): number {
  if (!(x > 0)) return 0;
  return x >= 4294967295 ? 4294967295 : trunc(x);
}
export function floatToI64(x: number): Wide {
  if (x !== x) return wrapI64(1n << 63n);
  if (x >= 2 ** 63) return wrapI64((1n << 63n) - 1n);
  if (x <= -(2 ** 63)) return wrapI64(-(1n << 63n));
  const t = trunc(x) + 0;
  return t <= LIMIT && t >= -LIMIT ? t : wrapI64(BigInt(t));
}
export function floatToU64(x: number): Wide {
  if (x !== x) return wrapU64(1n << 63n);
  if (!(x > 0)) return 0;
  if (x >= 2 ** 64) return wrapU64((1n << 64n) - 1n);
  const t = trunc(x);
  return t <= LIMIT ? t : wrapU64(BigInt(t));
}
export const toHalf = (x: number): number => roundHalf(x);
export const toBfloat16 = (x: number): number => roundBfloat16(x);

/** A 64-bit index as a signed byte or element offset. */
export function offset(v: Wide): number {
  return typeof v === 'number' ? v : Number(BigInt.asIntN(64, v));
}
