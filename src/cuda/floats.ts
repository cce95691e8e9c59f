/**
 * Floating-point formats of the device in terms of the host's doubles: single rounding to `float`, `half` and `bfloat16`, fused
 * multiply-add, directed rounding, and conversions to integers that saturate as the hardware's do.
 *
 * Every function takes and returns doubles that hold values of the named format exactly. Source: IEEE 754-2019; CUDA Programming
 * Guide, "Floating-point standard"; conversion instruction `cvt` of the PTX ISA.
 */
import { wrap, type IntegerType } from './integers.js';

const buffer = new DataView(new ArrayBuffer(8));

export function bitsOfFloat(x: number): number { buffer.setFloat32(0, x); return buffer.getUint32(0); }
export function floatOfBits(bits: number): number { buffer.setUint32(0, bits); return buffer.getFloat32(0); }
export function bitsOfDouble(x: number): bigint { buffer.setFloat64(0, x); return buffer.getBigUint64(0); }
export function doubleOfBits(bits: bigint): number { buffer.setBigUint64(0, BigInt.asUintN(64, bits)); return buffer.getFloat64(0); }

/** `a + b` without rounding is `sum + error` (Knuth's two-sum); only meaningful for finite values. */
function twoSum(a: number, b: number): { sum: number; error: number } {
  const sum = a + b;
  const bb = sum - a;
  return { sum, error: (a - (sum - bb)) + (b - bb) };
}

/** The neighbour of a finite double in the direction of the sign of `towards`. */
export function nextDouble(x: number, up: boolean): number {
  if (Number.isNaN(x) || x === (up ? Infinity : -Infinity)) return x;
  if (x === 0) return up ? Number.MIN_VALUE : -Number.MIN_VALUE;
  const bits = bitsOfDouble(x);
  return doubleOfBits((x > 0) === up ? bits + 1n : bits - 1n);
}

export function nextFloat(x: number, up: boolean): number {
  if (Number.isNaN(x) || x === (up ? Infinity : -Infinity)) return x;
  if (x === 0) return up ? floatOfBits(1) : -floatOfBits(1);
  const bits = bitsOfFloat(x);
  return floatOfBits((x > 0) === up ? bits + 1 : bits - 1);
}

/**
 * Rounds `sum + error` to a double whose last bit is odd if anything was lost, so that a second rounding to a narrower format is
 * right (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
 */
function roundToOdd(a: number, b: number): number {
  const { sum, error } = twoSum(a, b);
  if (error === 0 || !Number.isFinite(sum)) return sum;
  if ((bitsOfDouble(sum) & 1n) === 1n) return sum;
  return nextDouble(sum, error > 0);
}

/** Fused multiply-add of `float`s: the product of two is exact in a double. */
export function fmaFloat(a: number, b: number, c: number): number {
  return Math.fround(roundToOdd(a * b, c));
}

/** Fused multiply-add of doubles, exact through integers where the simple way could round twice. */
export function fmaDouble(a: number, b: number, c: number): number {
  const product = a * b;
  if (!Number.isFinite(product) || !Number.isFinite(c) || a === 0 || b === 0) return Number.isFinite(a) && Number.isFinite(b) && !Number.isFinite(c) ? c : product + c;
  const p = decompose(a);
  const q = decompose(b);
  const r = decompose(c);
  const exponent = Math.min(p.exponent + q.exponent, c === 0 ? Infinity : r.exponent);
  const sum = ((p.significand * q.significand) << BigInt(p.exponent + q.exponent - exponent)) + (c === 0 ? 0n : r.significand << BigInt(r.exponent - exponent));
  if (sum === 0n) return product + c === 0 ? product + c : 0;
  return compose(sum, exponent);
}

/** x = significand · 2^exponent, significand an integer of at most 53 bits. */
function decompose(x: number): { significand: bigint; exponent: number } {
  const bits = bitsOfDouble(x);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const magnitude = biased === 0 ? fraction : fraction | (1n << 52n);
  return { significand: x < 0 ? -magnitude : magnitude, exponent: (biased === 0 ? 1 : biased) - 1075 };
}

/** significand · 2^exponent rounded to the nearest double, ties to even. */
function compose(significand: bigint, exponent: number): number {
  const negative = significand < 0n;
  let magnitude = negative ? -significand : significand;
  let e = exponent;
  const length = magnitude.toString(2).length;
  // Keep 53 bits, fewer where the result is subnormal.
  const drop = Math.max(length - 53, -1074 - e);
  if (drop > 0) {
    const d = BigInt(drop);
    const low = magnitude & ((1n << d) - 1n);
    const half = 1n << (d - 1n);
    magnitude >>= d;
    if (low > half || (low === half && (magnitude & 1n) === 1n)) magnitude += 1n;
    e += drop;
  }
  let value = Number(magnitude);
  // Two steps: 2^e alone may leave the range although the product does not.
  while (e > 900) { value *= 2 ** 900; e -= 900; }
  while (e < -900) { value *= 2 ** -900; e += 900; if (value === 0) break; }
  value *= 2 ** e;
  return negative ? -value : value;
}

export type Rounding = 'rn' | 'rz' | 'ru' | 'rd';

/** Rounds the exact value `x + tiny·sign(error)` to `float`; `x` is a double, `error` what is missing from it. */
export function roundFloat(x: number, error: number, mode: Rounding): number {
  if (mode === 'rn') return Math.fround(error === 0 || !Number.isFinite(x) ? x : (bitsOfDouble(x) & 1n) === 1n ? x : nextDouble(x, error > 0));
  const near = Math.fround(x);
  if (!Number.isFinite(x)) return near;
  const difference = x - near; // exact unless near is infinite
  const side = near === Infinity ? -1 : near === -Infinity ? 1 : difference !== 0 ? Math.sign(difference) : Math.sign(error);
  if (side === 0) return near;
  const up = mode === 'ru' || (mode === 'rz' && (x < 0 || (x === 0 && error < 0)));
  // side > 0: the exact value lies above `near`.
  if (up) return side > 0 ? nextFloat(near, true) : near;
  return side < 0 ? nextFloat(near, false) : near;
}

export function addFloat(a: number, b: number, mode: Rounding): number {
  const { sum, error } = twoSum(a, b);
  if (sum === 0 && error === 0 && mode === 'rd') return zeroDown(a, b);
  return roundFloat(sum, Number.isFinite(sum) ? error : 0, mode);
}

/** An exact zero sum is -0 when rounding down, unless both terms are +0. */
function zeroDown(a: number, b: number): number {
  return Object.is(a, 0) && Object.is(b, 0) ? 0 : -0;
}

export function mulFloat(a: number, b: number, mode: Rounding): number {
  return roundFloat(a * b, 0, mode);
}

export function divFloat(a: number, b: number, mode: Rounding): number {
  const q = a / b;
  if (!Number.isFinite(q) || q === 0 || !Number.isFinite(b)) return roundFloat(q, 0, mode);
  // The residual's sign: q·b against a, both products split exactly through fma.
  const residual = -fmaDouble(q, b, -a);
  return roundFloat(q, residual === 0 ? 0 : Math.sign(residual) * Math.sign(b), mode);
}

export function sqrtFloat(a: number, mode: Rounding): number {
  const r = Math.sqrt(a);
  if (!Number.isFinite(r) || r === 0) return roundFloat(r, 0, mode);
  return roundFloat(r, -fmaDouble(r, r, -a), mode);
}

export function fmaFloatRounded(a: number, b: number, c: number, mode: Rounding): number {
  const { sum, error } = twoSum(a * b, c);
  if (sum === 0 && error === 0 && mode === 'rd') return zeroDown(a * b, c);
  return roundFloat(sum, Number.isFinite(sum) ? error : 0, mode);
}

// ------------------------------------------------------------------------------------------------------ narrow formats

/** Rounds to a binary format with `fraction` explicit bits, minimum exponent `low` and largest finite value `largest`. */
function narrow(x: number, fraction: number, low: number, largest: number): number {
  if (x === 0 || !Number.isFinite(x)) return x;
  const magnitude = Math.abs(x);
  const exponent = Math.max(Math.floor(Math.log2(magnitude)), low);
  // Math.log2 may be one off next to a power of two; the unit below only has to be the right power of two.
  const e = magnitude >= 2 ** (exponent + 1) ? exponent + 1 : magnitude < 2 ** exponent && exponent > low ? exponent - 1 : exponent;
  const unit = 2 ** (e - fraction);
  const scaled = magnitude / unit; // exact: division by a power of two
  let whole = Math.floor(scaled);
  const rest = scaled - whole;
  if (rest > 0.5 || (rest === 0.5 && whole % 2 === 1)) whole += 1;
  const value = whole * unit;
  const result = value > largest ? Infinity : value;
  return x < 0 ? -result : result;
}

/** Nearest `half` (binary16), ties to even. */
export function roundHalf(x: number): number { return narrow(x, 10, -14, 65504); }
/** Nearest `bfloat16`, ties to even. */
export function roundBfloat16(x: number): number { return narrow(x, 7, -126, 3.3895313892515355e38); }

export function bitsOfHalf(x: number): number {
  if (Number.isNaN(x)) return 0x7fff; // the device's canonical NaN
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(roundHalf(x));
  if (magnitude === Infinity) return sign | 0x7c00;
  if (magnitude < 2 ** -14) return sign | (magnitude * 2 ** 24);
  let exponent = Math.floor(Math.log2(magnitude));
  if (2 ** exponent > magnitude) exponent--;
  return sign | ((exponent + 15) << 10) | ((magnitude / 2 ** exponent - 1) * 1024);
}

export function halfOfBits(bits: number): number {
  const sign = (bits & 0x8000) !== 0 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

export function bitsOfBfloat16(x: number): number {
  if (Number.isNaN(x)) return 0x7fff;
  return bitsOfFloat(roundBfloat16(x)) >>> 16;
}

export function bfloat16OfBits(bits: number): number { return floatOfBits((bits & 0xffff) << 16 >>> 0); }

// -------------------------------------------------------------------------------------------------------- to integers

/** Rounds to an integral value in the given direction. */
export function integral(x: number, mode: Rounding): number {
  switch (mode) {
    case 'rz': return Math.trunc(x);
    case 'ru': return Math.ceil(x);
    case 'rd': return Math.floor(x);
    case 'rn': return roundEven(x);
  }
}

/** Nearest integral value, ties to even (`rint`). Keeps the sign of zero. */
export function roundEven(x: number): number {
  if (!Number.isFinite(x) || Math.abs(x) >= 2 ** 52) return x;
  const magnitude = Math.abs(x);
  const rounded = magnitude + 2 ** 52 - 2 ** 52;
  return x < 0 || Object.is(x, -0) ? -rounded : rounded;
}

/** What a conversion instruction gives: saturated to the type's range; NaN is 0 (the smallest value for 64-bit types). */
export function toInteger(x: number, type: IntegerType, mode: Rounding = 'rz'): bigint {
  if (Number.isNaN(x)) return type.bits === 64 ? wrap(1n << 63n, type) : 0n;
  const limit = type.bits === 64 ? type : { bits: Math.max(type.bits, 32) as 32, signed: type.signed };
  const low = limit.signed ? -(2 ** (limit.bits - 1)) : 0;
  const high = 2 ** (limit.signed ? limit.bits - 1 : limit.bits);
  const whole = integral(x, mode);
  if (whole <= low) return wrap(BigInt(low), type);
  if (whole >= high) return wrap(BigInt(high) - 1n, type);
  return wrap(BigInt(whole), type);
}

/** Nearest `float` of an integer of any width, rounded once. */
export function floatOfInteger(value: bigint, mode: Rounding = 'rn'): number {
  const near = Number(value); // nearest double
  const error = Number.isSafeInteger(near) ? 0 : value - BigInt(near);
  return roundFloat(near, Number(error), mode);
}
