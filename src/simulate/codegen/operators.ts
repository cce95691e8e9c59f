/**
 * JavaScript text for scalar arithmetic and conversions of one lane. `D` is the machine (memory and checked operations), `H` the
 * helpers of `values.ts` and `math.ts`, `l` the lane. Every text is an expression whose value is normalised for its type: `i32` in
 * the signed range, `u32` from 0, narrow types in theirs, `f32` rounded, `bool` 0, 1, false or true.
 */
import type { BinaryOperator } from '../../syntax/tree.js';
import { BOOL, I32, isFloating, isSigned, isWide, Unsupported, type Scalar, type ScalarType, type SimType } from '../types.js';

/** The value of an expression: its type and the text that computes it for lane `l`. Objects (records, arrays) are addresses. */
export interface Val { readonly t: SimType; readonly js: string }

export function promoted(s: Scalar): Scalar {
  return s === 'bool' || s === 'i8' || s === 'u8' || s === 'i16' || s === 'u16' ? 'i32' : s;
}

/** Usual arithmetic conversions. */
export function commonScalar(a: Scalar, b: Scalar): Scalar {
  if (a === 'f64' || b === 'f64') return 'f64';
  if (a === 'f32' || b === 'f32') return 'f32';
  if (isFloating(a) || isFloating(b)) return a === b || !isFloating(b) ? a : !isFloating(a) ? b : 'f32';
  const x = promoted(a);
  const y = promoted(b);
  if (x === y) return x;
  if (x === 'u64' || y === 'u64') return 'u64';
  if (x === 'i64' || y === 'i64') return 'i64';
  return 'u32';
}

/** Text of `js` (a value of type `from`) converted to `to`. */
export function convertScalar(js: string, from: Scalar, to: Scalar): string {
  if (from === to) return js;
  if (to === 'bool') return `((${js})!==0)`;
  const x = from === 'bool' ? `(+(${js}))` : js;
  if (from === 'bool') return x;
  if (isFloating(from)) {
    switch (to) {
      case 'f64': return x;
      case 'f32': return from === 'f64' ? `Math.fround(${x})` : x;
      case 'f16': return `H.toHalf(${x})`;
      case 'bf16': return `H.toBfloat16(${x})`;
      case 'i64': return `H.floatToI64(${x})`;
      case 'u64': return `H.floatToU64(${x})`;
      case 'u32': return `H.floatToU32(${x})`;
      case 'i32': return `H.floatToI32(${x})`;
      case 'i8': case 'u8': case 'i16': case 'u16': return narrow(`H.floatToI32(${x})`, to);
    }
  }
  if (isWide(from)) {
    switch (to) {
      case 'f64': return `Number(${x})`;
      case 'f32': return `H.wideToF32(${x})`;
      case 'f16': return `H.toHalf(Number(${x}))`;
      case 'bf16': return `H.toBfloat16(Number(${x}))`;
      case 'i64': return `H.toI64(${x})`;
      case 'u64': return `H.toU64(${x})`;
      case 'i32': return `H.wideToI32(${x})`;
      case 'u32': return `H.wideToU32(${x})`;
      case 'i8': case 'u8': case 'i16': case 'u16': return narrow(`H.wideToI32(${x})`, to);
    }
  }
  switch (to) {
    case 'f64': return x;
    case 'f32': return `Math.fround(${x})`;
    case 'f16': return `H.toHalf(${x})`;
    case 'bf16': return `H.toBfloat16(${x})`;
    case 'i64': return x;
    case 'u64': return isSigned(from) ? `H.toU64(${x})` : x;
    case 'i32': return from === 'u32' ? `(${x}|0)` : x;
    case 'u32': return isSigned(from) ? `(${x}>>>0)` : x;
    case 'i8': case 'u8': case 'i16': case 'u16': return narrow(x, to);
  }
}

function narrow(x: string, to: 'i8' | 'u8' | 'i16' | 'u16'): string {
  switch (to) {
    case 'i8': return `((${x})<<24>>24)`;
    case 'u8': return `((${x})&255)`;
    case 'i16': return `((${x})<<16>>16)`;
    case 'u16': return `((${x})&65535)`;
  }
}

/** Converts to any type that a value can have; objects only to themselves. */
export function convert(v: Val, to: SimType): string {
  const from = v.t;
  if (to.k === 'scalar') {
    if (from.k === 'scalar') return convertScalar(v.js, from.s, to.s);
    if (from.k === 'pointer' || from.k === 'array') {
      if (to.s === 'bool') return `((${v.js})!==0)`;
      return to.s === 'u64' || to.s === 'i64' ? v.js : convertScalar(v.js, 'u64', to.s);
    }
    throw new Unsupported(`conversion of a ${from.k} to ${to.s}`, null);
  }
  if (to.k === 'pointer') {
    if (from.k === 'pointer' || from.k === 'array') return v.js;
    if (from.k === 'scalar' && !isFloating(from.s)) return isWide(from.s) ? `Number(${v.js})` : convertScalar(v.js, from.s, 'u32');
    throw new Unsupported(`conversion of a ${from.k} to a pointer`, null);
  }
  if (to.k === from.k) return v.js;
  if (to.k === 'void') return v.js;
  throw new Unsupported(`conversion of a ${from.k} to a ${to.k}`, null);
}

/** Truth of a value, as text usable as a condition. */
export function truth(v: Val): string {
  if (v.t.k === 'scalar' && v.t.s === 'bool') return `(${v.js})`;
  if (v.t.k === 'scalar' || v.t.k === 'pointer') return `((${v.js})!==0)`;
  if (v.t.k === 'array') return 'true';
  throw new Unsupported(`a ${v.t.k} as a condition`, null);
}

const COMPARISONS = new Set(['<', '<=', '>', '>=', '==', '!=']);

/** `a op b` on one scalar type that both already have; `amount` of a shift has its own. */
export function binaryScalar(op: BinaryOperator, s: Scalar, a: string, b: string): Val {
  if (COMPARISONS.has(op)) {
    const js = op === '==' ? '===' : op === '!=' ? '!==' : op;
    // Mixed numbers and bigints: values are normalised, so loose equality is exact and strict equality is too.
    return { t: BOOL, js: `((${a})${js}(${b}))` };
  }
  const t: ScalarType = { k: 'scalar', s };
  const v = (js: string): Val => ({ t, js });
  if (isFloating(s)) {
    if (op !== '+' && op !== '-' && op !== '*' && op !== '/') throw new Unsupported(`operator ${op} on floating values`, null);
    const text = `(${a})${op}(${b})`;
    switch (s) {
      case 'f64': return v(`(${text})`);
      case 'f32': return v(`Math.fround(${text})`);
      // The product, sum and quotient of two halves rounded to float and then to half are rounded once in effect.
      case 'f16': return v(`H.toHalf(${text})`);
      default: return v(`H.toBfloat16(${text})`);
    }
  }
  if (isWide(s)) {
    const u = s === 'u64' ? 'U' : 'I';
    switch (op) {
      case '+': return v(`H.add${u}(${a},${b})`);
      case '-': return v(`H.sub${u}(${a},${b})`);
      case '*': return v(`H.mul${u}(${a},${b})`);
      case '/': return v(`D.div${u}(${a},${b},l)`);
      case '%': return v(`D.rem${u}(${a},${b},l)`);
      case '&': return v(`H.and${u}(${a},${b})`);
      case '|': return v(`H.or${u}(${a},${b})`);
      case '^': return v(`H.xor${u}(${a},${b})`);
      default: throw new Unsupported(`operator ${op}`, null);
    }
  }
  const unsigned = s === 'u32';
  const fix = (text: string): Val => v(unsigned ? `((${text})>>>0)` : `((${text})|0)`);
  switch (op) {
    case '+': return fix(`${a}+${b}`);
    case '-': return fix(`${a}-(${b})`);
    case '*': return unsigned ? v(`(Math.imul(${a},${b})>>>0)`) : v(`Math.imul(${a},${b})`);
    case '/': return v(`D.div${unsigned ? 'u' : 'i'}32(${a},${b},l)`);
    case '%': return v(`D.rem${unsigned ? 'u' : 'i'}32(${a},${b},l)`);
    case '&': return unsigned ? v(`(((${a})&(${b}))>>>0)`) : v(`((${a})&(${b}))`);
    case '|': return unsigned ? v(`(((${a})|(${b}))>>>0)`) : v(`((${a})|(${b}))`);
    case '^': return unsigned ? v(`(((${a})^(${b}))>>>0)`) : v(`((${a})^(${b}))`);
    default: throw new Unsupported(`operator ${op}`, null);
  }
}

/** A shift: the type is the promoted left operand's. `amount` is text of type `amountType`; a literal in range needs no check. */
export function shift(op: '<<' | '>>', a: Val, amount: Val): Val {
  if (a.t.k !== 'scalar' || amount.t.k !== 'scalar' || isFloating(a.t.s) || isFloating(amount.t.s)) throw new Unsupported(`operator ${op} on such operands`, null);
  const s = promoted(a.t.s);
  const x = convertScalar(a.js, a.t.s, s);
  const bits = isWide(s) ? 64 : 32;
  const constant = /^\d+$/.test(amount.js) && Number(amount.js) < bits ? amount.js : null;
  const n = constant ?? `D.amount(${convertScalar(amount.js, amount.t.s, 'i64')},${bits},l)`;
  const t: ScalarType = { k: 'scalar', s };
  if (isWide(s)) {
    const u = s === 'u64' ? 'U' : 'I';
    return { t, js: op === '>>' ? `H.shrW(${x},${n})` : `H.shl${u}(${x},${n})` };
  }
  if (constant === null) return { t, js: `D.${op === '<<' ? 'shl' : 'shr'}${s === 'u32' ? 'u' : 'i'}32(${x},${convertScalar(amount.js, amount.t.s, 'i64')},l)` };
  if (op === '<<') return { t, js: s === 'u32' ? `((${x}<<${n})>>>0)` : `(${x}<<${n})` };
  return { t, js: s === 'u32' ? `(${x}>>>${n})` : `(${x}>>${n})` };
}

export function negate(a: Val): Val {
  if (a.t.k !== 'scalar') throw new Unsupported('minus on such an operand', null);
  const s = promoted(a.t.s);
  const x = convertScalar(a.js, a.t.s, s);
  const t: ScalarType = { k: 'scalar', s };
  if (isFloating(s)) return { t, js: `(-(${x}))` };
  if (isWide(s)) return { t, js: `H.neg${s === 'u64' ? 'U' : 'I'}(${x})` };
  return { t, js: s === 'u32' ? `((-(${x}))>>>0)` : `((-(${x}))|0)` };
}

export function complement(a: Val): Val {
  if (a.t.k !== 'scalar' || isFloating(a.t.s)) throw new Unsupported('~ on such an operand', null);
  const s = promoted(a.t.s);
  const x = convertScalar(a.js, a.t.s, s);
  const t: ScalarType = { k: 'scalar', s };
  if (isWide(s)) return { t, js: `H.not${s === 'u64' ? 'U' : 'I'}(${x})` };
  return { t, js: s === 'u32' ? `((~(${x}))>>>0)` : `(~(${x}))` };
}

/** JavaScript array that holds one value per lane. */
export function laneArray(t: SimType): string {
  if (t.k !== 'scalar') return 'new Float64Array(32)';
  switch (t.s) {
    case 'bool': case 'u8': return 'new Uint8Array(32)';
    case 'i8': return 'new Int8Array(32)';
    case 'i16': return 'new Int16Array(32)';
    case 'u16': return 'new Uint16Array(32)';
    case 'i32': return 'new Int32Array(32)';
    case 'u32': return 'new Uint32Array(32)';
    case 'f32': case 'f16': case 'bf16': return 'new Float32Array(32)';
    case 'f64': return 'new Float64Array(32)';
    case 'i64': case 'u64': return 'new Array(32).fill(0)';
  }
}

/** Suffix of the memory functions for a scalar or pointer. */
export function accessName(t: SimType): string {
  if (t.k === 'scalar') return t.s;
  if (t.k === 'pointer' || t.k === 'reference') return 'ptr';
  throw new Unsupported(`access to a ${t.k} as a value`, null);
}

export function literalText(value: bigint | number, t: ScalarType): string {
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : Number.isNaN(value) ? 'NaN' : value === Infinity ? 'Infinity' : value === -Infinity ? '-Infinity' : `${value}`;
  if (isWide(t.s) && (value > 9007199254740991n || value < -9007199254740991n)) return `${value}n`;
  return `${value}`;
}

export const INT = I32;
