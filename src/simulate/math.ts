/**
 * The device's mathematical and bit functions on the host. Functions that IEEE 754 rounds correctly (square root, fused
 * multiply-add, rounding, remainders) have the device's bits; transcendental ones are the host's double result, rounded once by the
 * caller, and may differ from the device in the last place.
 */
import {
  addFloat, bfloat16OfBits, bitsOfBfloat16, bitsOfDouble, bitsOfFloat, bitsOfHalf, divFloat, doubleOfBits, floatOfBits, floatOfInteger, fmaDouble, fmaFloat, fmaFloatRounded, halfOfBits, integral, mulFloat, nextDouble,
  nextFloat, roundBfloat16, roundEven, roundFloat, roundHalf, sqrtFloat, toInteger, type Rounding,
} from '../cuda/floats.js';
import { INT32, INT64, UINT32, UINT64 } from '../cuda/integers.js';
import { wrapI64, wrapU64, type Wide } from './values.js';

type Fn = (...args: never[]) => unknown;

function erf(x: number): number {
  // Abramowitz and Stegun 7.1.5 near zero, a continued fraction for erfc beyond.
  const a = Math.abs(x);
  if (a < 2.5) {
    let term = a;
    let sum = a;
    for (let n = 1; n < 80; n++) {
      term *= (-a * a) / n;
      const next = term / (2 * n + 1);
      sum += next;
      if (Math.abs(next) < 1e-17 * Math.abs(sum)) break;
    }
    return Math.sign(x) * (2 / Math.sqrt(Math.PI)) * sum;
  }
  return Math.sign(x) * (1 - erfcTail(a));
}

function erfcTail(a: number): number {
  let f = 0;
  for (let k = 60; k >= 1; k--) f = (k / 2) / (a + f);
  return Math.exp(-a * a) / Math.sqrt(Math.PI) / (a + f);
}

function erfc(x: number): number {
  return x > 2.5 ? erfcTail(x) : x < -2.5 ? 2 - erfcTail(-x) : 1 - erf(x);
}

/** Lanczos approximation, g = 7, n = 9. */
const LANCZOS = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - logGamma(1 - x);
  const z = x - 1;
  let sum = LANCZOS[0] ?? 1;
  for (let i = 1; i < LANCZOS.length; i++) sum += (LANCZOS[i] ?? 0) / (z + i);
  const t = z + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
}
function gamma(x: number): number {
  if (Number.isInteger(x)) {
    if (x <= 0) return NaN;
    if (x <= 171) { let p = 1; for (let i = 2; i < x; i++) p *= i; return p; }
  }
  return x < 0.5 ? Math.PI / (Math.sin(Math.PI * x) * gamma(1 - x)) : Math.exp(logGamma(x));
}

function pow(x: number, y: number): number {
  if (x === 1 || y === 0) return 1;
  if (x === -1 && (y === Infinity || y === -Infinity)) return 1;
  return Math.pow(x, y);
}

const fmin = (a: number, b: number): number => (a !== a ? b : b !== b ? a : a === 0 && b === 0 ? (Object.is(a, -0) ? a : b) : a < b ? a : b);
const fmax = (a: number, b: number): number => (a !== a ? b : b !== b ? a : a === 0 && b === 0 ? (Object.is(a, -0) ? b : a) : a > b ? a : b);
/**
 * The fast intrinsics are right to a few units in the last place at best. Their last three bits are cleared here, so that an edit that puts one in
 * place of the accurate function, or the other way round, does not pass as equal; a result that needs no more bits (`__fdividef(4, 2)`) is kept.
 */
function blunt(x: number): number {
  return Number.isFinite(x) ? floatOfBits((bitsOfFloat(Math.fround(x)) & ~7) >>> 0) : x;
}
const coarse = (fn: (x: number) => number) => (x: number): number => blunt(fn(x));
/** Half away from zero. */
function round(x: number): number {
  if (Number.isInteger(x) || !Number.isFinite(x)) return x;
  const t = Math.trunc(x);
  return Math.abs(x - t) >= 0.5 ? t + Math.sign(x) : t === 0 && x < 0 ? -0 : t;
}
const sinpi = (x: number): number => { const r = x % 2; return r === 0 || r === 1 || r === -1 ? 0 * x : Math.sin(Math.PI * r); };
const cospi = (x: number): number => { const r = Math.abs(x % 2); return r === 0.5 || r === 1.5 ? 0 : Math.cos(Math.PI * r); };
const remainder = (x: number, y: number): number => {
  if (!Number.isFinite(x) || y === 0 || x !== x || y !== y) return NaN;
  if (!Number.isFinite(y)) return x;
  const b = Math.abs(y);
  let r = x % (2 * b);
  if (!Number.isFinite(2 * b)) r = x;
  if (Math.abs(r) >= 1.5 * b) r -= Math.sign(r) * 2 * b; // ties go to the even quotient
  else if (Math.abs(r) > b / 2) r -= Math.sign(r) * b;
  return r === 0 ? 0 * Math.sign(x) : r;
};
const exponentOf = (x: number): number => {
  if (x === 0 || !Number.isFinite(x)) return 0;
  let e = Math.max(-1074, Math.floor(Math.log2(Math.abs(x)))) + 1;
  while (Math.abs(x) >= 2 ** e) e++;
  while (Math.abs(x) < 2 ** (e - 1) && e > -1073) e--;
  return e;
};
const scale = (x: number, n: number): number => {
  let v = x;
  let k = Math.max(-2200, Math.min(2200, n));
  while (k > 1000) { v *= 2 ** 1000; k -= 1000; }
  while (k < -1000) { v *= 2 ** -1000; k += 1000; }
  return v * 2 ** k;
};
const norm = (...a: number[]): number => Math.sqrt(a.reduce((s, v) => s + v * v, 0));

const real: Record<string, Fn> = {
  sqrt: Math.sqrt, rsqrt: (x: number) => 1 / Math.sqrt(x), cbrt: Math.cbrt, rcbrt: (x: number) => 1 / Math.cbrt(x), rcp: (x: number) => 1 / x, hypot: (a: number, b: number) => Math.hypot(a, b), rhypot: (a: number, b: number) => 1 / Math.hypot(a, b),
  sin: Math.sin, cos: Math.cos, tan: Math.tan, sinpi, cospi, asin: Math.asin, acos: Math.acos, atan: Math.atan, atan2: Math.atan2,
  sinh: Math.sinh, cosh: Math.cosh, tanh: Math.tanh, asinh: Math.asinh, acosh: Math.acosh, atanh: Math.atanh,
  exp: Math.exp, exp2: (x: number) => 2 ** x, exp10: (x: number) => 10 ** x, expm1: Math.expm1, log: Math.log, log2: Math.log2, log10: Math.log10, log1p: Math.log1p,
  logb: (x: number) => (x === 0 ? -Infinity : !Number.isFinite(x) ? Math.abs(x) : exponentOf(x) - 1),
  pow, powi: pow, fmod: (a: number, b: number) => a % b, remainder, erf, erfc, normcdf: (x: number) => 0.5 * erfc(-x / Math.SQRT2), tgamma: gamma, lgamma: logGamma,
  floor: Math.floor, ceil: Math.ceil, trunc: Math.trunc, round, rint: roundEven, nearbyint: roundEven, fabs: Math.abs, fmin, fmax,
  fdim: (a: number, b: number) => (a !== a || b !== b ? NaN : a > b ? a - b : 0), fma: fmaDouble, fma_f32: fmaFloat, copysign: (a: number, b: number) => ((b < 0 || Object.is(b, -0)) ? -Math.abs(a) : Math.abs(a)),
  nextafter: (a: number, b: number) => (a !== a || b !== b ? NaN : a === b ? b : nextDouble(a, b > a)), nextafter_f32: (a: number, b: number) => (a !== a || b !== b ? NaN : a === b ? b : nextFloat(a, b > a)),
  norm3d: norm, rnorm3d: (a: number, b: number, c: number) => 1 / norm(a, b, c), norm4d: norm, rnorm4d: (a: number, b: number, c: number, d: number) => 1 / norm(a, b, c, d),
  ldexp: scale, scalbn: scale, scalbln: (x: number, n: Wide) => scale(x, Number(n)), fdivide: (a: number, b: number) => a / b,
  fraction: (x: number) => (Number.isFinite(x) ? x - Math.trunc(x) : x !== x ? x : 0), exponentOf, mantissaOf: (x: number) => (x === 0 || !Number.isFinite(x) ? x : scale(x, -exponentOf(x))),
  // Fast intrinsics.
  __sinf: coarse(Math.sin), __cosf: coarse(Math.cos), __tanf: coarse(Math.tan), __expf: coarse(Math.exp), __exp10f: coarse((x: number) => 10 ** x), __logf: coarse(Math.log), __log2f: coarse(Math.log2), __log10f: coarse(Math.log10),
  __powf: (x: number, y: number) => blunt(pow(x, y)), __fdividef: (a: number, b: number) => blunt(a / b), __tanhf: coarse(Math.tanh),
  __saturatef: (x: number) => (x > 0 ? Math.min(x, 1) : 0), __frsqrt_rn: (x: number) => roundFloat(1 / Math.sqrt(x), 0, 'rn'),
  // Integer results.
  lrint: (x: number) => big(x, 'rn'), llrint: (x: number) => big(x, 'rn'), lround: (x: number) => big(round(x), 'rz'), llround: (x: number) => big(round(x), 'rz'), ilogb: (x: number) => exponentOf(x) - 1,
  isnan: (x: number) => x !== x, isinf: (x: number) => x === Infinity || x === -Infinity, isfinite: Number.isFinite, isnormal: (x: number) => Number.isFinite(x) && Math.abs(x) >= 1.1754943508222875e-38, signbit: (x: number) => x < 0 || Object.is(x, -0),
};
for (const name of ['isnan', 'isinf', 'signbit']) {
  const f = real[name];
  if (f !== undefined) {
    real[`__${name}`] = real[`__${name}f`] = f;
  }
}
real.finite = real.__finite = real.__finitef = Number.isFinite as Fn;

function big(x: number, mode: Rounding): Wide { return wrapI64(toInteger(x, INT64, mode)); }

const rounded: Record<string, Fn> = {};
for (const mode of ['rn', 'rz', 'ru', 'rd'] as const) {
  rounded[`__fadd_${mode}`] = (a: number, b: number) => addFloat(a, b, mode);
  rounded[`__fsub_${mode}`] = (a: number, b: number) => addFloat(a, -b, mode);
  rounded[`__fmul_${mode}`] = (a: number, b: number) => mulFloat(a, b, mode);
  rounded[`__fdiv_${mode}`] = (a: number, b: number) => divFloat(a, b, mode);
  rounded[`__frcp_${mode}`] = (a: number) => divFloat(1, a, mode);
  rounded[`__fsqrt_${mode}`] = (a: number) => sqrtFloat(a, mode);
  rounded[`__fmaf_${mode}`] = rounded[`__fmaf_ieee_${mode}`] = (a: number, b: number, c: number) => (mode === 'rn' ? fmaFloat(a, b, c) : fmaFloatRounded(a, b, c, mode));
  rounded[`__double2float_${mode}`] = (a: number) => roundFloat(a, 0, mode);
  rounded[`__float2int_${mode}`] = rounded[`__double2int_${mode}`] = (a: number) => Number(toInteger(a, INT32, mode));
  rounded[`__float2uint_${mode}`] = rounded[`__double2uint_${mode}`] = (a: number) => Number(toInteger(a, UINT32, mode));
  rounded[`__float2ll_${mode}`] = rounded[`__double2ll_${mode}`] = (a: number) => big(a, mode);
  rounded[`__float2ull_${mode}`] = rounded[`__double2ull_${mode}`] = (a: number) => wrapU64(toInteger(a, UINT64, mode));
  rounded[`__int2float_${mode}`] = rounded[`__uint2float_${mode}`] = rounded[`__ll2float_${mode}`] = rounded[`__ull2float_${mode}`] = (a: Wide) => floatOfInteger(BigInt(a), mode);
  rounded[`__int2double_${mode}`] = rounded[`__uint2double_${mode}`] = (a: number) => a;
  if (mode === 'rn') rounded.__ll2double_rn = rounded.__ull2double_rn = (a: Wide) => Number(a);
}
rounded.__dadd_rn = (a: number, b: number) => a + b;
rounded.__dsub_rn = (a: number, b: number) => a - b;
rounded.__dmul_rn = (a: number, b: number) => a * b;
rounded.__ddiv_rn = (a: number, b: number) => a / b;
rounded.__drcp_rn = (a: number) => 1 / a;
rounded.__dsqrt_rn = Math.sqrt as Fn;
rounded.__fma_rn = fmaDouble as Fn;

const { imul } = Math;
export function popcount(x: number): number {
  let v = x - ((x >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
const high = (x: Wide): number => Number(BigInt.asUintN(32, BigInt(x) >> 32n));
const low = (x: Wide): number => Number(BigInt.asUintN(32, BigInt(x)));
const brev = (x: number): number => { let r = 0; for (let i = 0; i < 32; i++) r = (r << 1) | ((x >>> i) & 1); return r >>> 0; };
const ffs = (x: number): number => (x === 0 ? 0 : 32 - Math.clz32(x & -x));
/** Bytes of two words, lowest first. */
const bytes = (x: number): number[] => [x & 255, (x >>> 8) & 255, (x >>> 16) & 255, x >>> 24];

const bits: Record<string, Fn> = {
  __popc: popcount, __popcll: (x: Wide) => popcount(high(x)) + popcount(low(x)), __ffs: ffs, __ffsll: (x: Wide) => (low(x) !== 0 ? ffs(low(x)) : high(x) !== 0 ? 32 + ffs(high(x)) : 0),
  __clz: Math.clz32, __clzll: (x: Wide) => (high(x) !== 0 ? Math.clz32(high(x)) : 32 + Math.clz32(low(x))),
  __brev: brev, __brevll: (x: Wide) => wrapU64((BigInt(brev(low(x))) << 32n) | BigInt(brev(high(x)))),
  __byte_perm: (x: number, y: number, s: number) => {
    const all = [...bytes(x), ...bytes(y)];
    let r = 0;
    for (let i = 0; i < 4; i++) r |= (all[(s >>> (4 * i)) & 7] ?? 0) << (8 * i);
    return r >>> 0;
  },
  __funnelshift_l: (lo: number, hi: number, s: number) => { const n = s & 31; return n === 0 ? hi : ((hi << n) | (lo >>> (32 - n))) >>> 0; },
  __funnelshift_lc: (lo: number, hi: number, s: number) => { const n = Math.min(s, 32); return n === 0 ? hi : n === 32 ? lo : ((hi << n) | (lo >>> (32 - n))) >>> 0; },
  __funnelshift_r: (lo: number, hi: number, s: number) => { const n = s & 31; return n === 0 ? lo : ((lo >>> n) | (hi << (32 - n))) >>> 0; },
  __funnelshift_rc: (lo: number, hi: number, s: number) => { const n = Math.min(s, 32); return n === 0 ? lo : n === 32 ? hi : ((lo >>> n) | (hi << (32 - n))) >>> 0; },
  __mul24: (a: number, b: number) => Math.imul((a << 8) >> 8, (b << 8) >> 8), __umul24: (a: number, b: number) => Math.imul(a & 0xffffff, b & 0xffffff) >>> 0,
  __mulhi: (a: number, b: number) => Number((BigInt(a) * BigInt(b)) >> 32n), __umulhi: (a: number, b: number) => Number((BigInt(a) * BigInt(b)) >> 32n),
  __mul64hi: (a: Wide, b: Wide) => wrapI64((BigInt(a) * BigInt(b)) >> 64n), __umul64hi: (a: Wide, b: Wide) => wrapU64((BigInt(a) * BigInt(b)) >> 64n),
  __rhadd: (a: number, b: number) => Math.floor((a + b + 1) / 2), __uhadd: (a: number, b: number) => Math.floor((a + b) / 2), __urhadd: (a: number, b: number) => Math.floor((a + b + 1) / 2),
  __sad: (a: number, b: number, c: number) => (Math.abs(a - b) + c) >>> 0, __usad: (a: number, b: number, c: number) => (Math.abs(a - b) + c) >>> 0,
  __fns: (mask: number, base: number, offset: number) => {
    let left = Math.abs(offset);
    if (offset === 0) return mask >>> (base & 31) & 1 ? base : 0xffffffff;
    for (let i = base & 31; i >= 0 && i < 32; i += Math.sign(offset)) if (mask >>> i & 1 && --left === 0) return i;
    return 0xffffffff;
  },
  // Arithmetic on the device makes the one NaN 0x7fffffff.
  __float_as_int: (x: number) => (x !== x ? 0x7fffffff : bitsOfFloat(x) | 0), __float_as_uint: (x: number) => (x !== x ? 0x7fffffff : bitsOfFloat(x)), __int_as_float: (x: number) => floatOfBits(x >>> 0), __uint_as_float: floatOfBits,
  __double_as_longlong: (x: number) => wrapI64(bitsOfDouble(x)), __longlong_as_double: (x: Wide) => doubleOfBits(BigInt(x)),
  __double2hiint: (x: number) => Number(bitsOfDouble(x) >> 32n) | 0, __double2loint: (x: number) => Number(BigInt.asIntN(32, bitsOfDouble(x))),
  __hiloint2double: (h: number, l: number) => doubleOfBits((BigInt(h >>> 0) << 32n) | BigInt(l >>> 0)),
  __half_as_short: (x: number) => (bitsOfHalf(x) << 16) >> 16, __half_as_ushort: bitsOfHalf, __short_as_half: (x: number) => halfOfBits(x & 65535), __ushort_as_half: halfOfBits,
  __bfloat16_as_ushort: bitsOfBfloat16, __ushort_as_bfloat16: bfloat16OfBits,
  integral,
  fma_f16: (a: number, b: number, c: number) => roundHalf(fmaDouble(a, b, c)), fma_bf16: (a: number, b: number, c: number) => roundBfloat16(fmaDouble(a, b, c)),
};

export const MATH: Readonly<Record<string, Fn>> = { ...real, ...rounded, ...bits };
export const MATH_NAMES: ReadonlySet<string> = new Set(Object.keys(MATH));
