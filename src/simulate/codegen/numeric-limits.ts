/** `std::numeric_limits<T>::f()`, whose header is not read: the constants of the scalar types. */
import type { FunctionContext } from './context.js';
import { literalText, type Val } from './operators.js';
import { isFloating, isSigned, widthOf, type Scalar, type ScalarType } from '../types.js';

const SPELLED: ReadonlyMap<string, Scalar> = new Map([
  ['bool', 'bool'], ['char', 'i8'], ['signed char', 'i8'], ['unsigned char', 'u8'], ['short', 'i16'], ['unsigned short', 'u16'], ['int', 'i32'], ['unsigned', 'u32'], ['unsigned int', 'u32'],
  ['long', 'i64'], ['unsigned long', 'u64'], ['long long', 'i64'], ['unsigned long long', 'u64'], ['float', 'f32'], ['double', 'f64'],
  ['int8_t', 'i8'], ['uint8_t', 'u8'], ['int16_t', 'i16'], ['uint16_t', 'u16'], ['int32_t', 'i32'], ['uint32_t', 'u32'], ['int64_t', 'i64'], ['uint64_t', 'u64'], ['size_t', 'u64'],
]);

/** Null if the name is no such call, or of a type that is not known here. */
export function numericLimit(ctx: FunctionContext, name: string): Val | null {
  const parts = /^(?:::)?(?:cuda::)?(?:std::)?numeric_limits<(.+)>::(\w+)$/.exec(name.replace(/\s+/g, ' '));
  const text = parts?.[1]?.trim().replace(/^std::/, '');
  if (text === undefined) return null;
  const named = ctx.env.types.get(text);
  const s = named === undefined ? SPELLED.get(text) : named.k === 'scalar' ? named.s : undefined;
  if (s === undefined) return null;
  const t: ScalarType = { k: 'scalar', s };
  if (isFloating(s)) {
    // Halves have their own header's limits.
    if (s !== 'f32' && s !== 'f64') return null;
    const value = floatingLimit(s, parts?.[2] ?? '');
    return value === null ? null : { t, js: literalText(value, t) };
  }
  if (s === 'bool') return null;
  const bits = BigInt(8 * widthOf(s));
  const top = isSigned(s) ? (1n << (bits - 1n)) - 1n : (1n << bits) - 1n;
  switch (parts?.[2]) {
    case 'max': return { t, js: literalText(top, t) };
    case 'min': case 'lowest': return { t, js: literalText(isSigned(s) ? -top - 1n : 0n, t) };
    default: return null;
  }
}

function floatingLimit(s: 'f32' | 'f64', what: string): number | null {
  const single = s === 'f32';
  switch (what) {
    case 'max': return single ? 3.4028234663852886e38 : Number.MAX_VALUE;
    case 'lowest': return single ? -3.4028234663852886e38 : -Number.MAX_VALUE;
    case 'min': return single ? 1.1754943508222875e-38 : 2.2250738585072014e-308;
    case 'epsilon': return single ? 1.1920928955078125e-7 : Number.EPSILON;
    case 'infinity': return Infinity;
    case 'quiet_NaN': return NaN;
    case 'denorm_min': return single ? 1.401298464324817e-45 : Number.MIN_VALUE;
    default: return null;
  }
}
