/**
 * Macros of <climits>, <cfloat>, <cmath>, <cstdint> and CUDA's math constants. System headers are not read, so these stand here; a
 * declaration or a macro of the program with the same name wins.
 */
import type { LiteralValue } from './lower-literal.js';
import type { Type } from './tree.js';
import { DOUBLE, FLOAT, INT, LONG, LONGLONG, UINT, ULONG, ULONGLONG } from './types.js';

const INTEGERS: readonly (readonly [string, bigint, Type])[] = [
  ['CHAR_BIT', 8n, INT], ['SCHAR_MIN', -128n, INT], ['SCHAR_MAX', 127n, INT], ['UCHAR_MAX', 255n, INT], ['CHAR_MIN', -128n, INT], ['CHAR_MAX', 127n, INT],
  ['SHRT_MIN', -32768n, INT], ['SHRT_MAX', 32767n, INT], ['USHRT_MAX', 65535n, INT],
  ['INT_MIN', -(1n << 31n), INT], ['INT_MAX', (1n << 31n) - 1n, INT], ['UINT_MAX', (1n << 32n) - 1n, UINT],
  ['LONG_MIN', -(1n << 63n), LONG], ['LONG_MAX', (1n << 63n) - 1n, LONG], ['ULONG_MAX', (1n << 64n) - 1n, ULONG],
  ['LLONG_MIN', -(1n << 63n), LONGLONG], ['LLONG_MAX', (1n << 63n) - 1n, LONGLONG], ['ULLONG_MAX', (1n << 64n) - 1n, ULONGLONG],
  ['INT8_MAX', 127n, INT], ['UINT8_MAX', 255n, INT], ['INT16_MAX', 32767n, INT], ['UINT16_MAX', 65535n, INT],
  ['INT32_MIN', -(1n << 31n), INT], ['INT32_MAX', (1n << 31n) - 1n, INT], ['UINT32_MAX', (1n << 32n) - 1n, UINT],
  ['INT64_MIN', -(1n << 63n), LONG], ['INT64_MAX', (1n << 63n) - 1n, LONG], ['UINT64_MAX', (1n << 64n) - 1n, ULONG], ['SIZE_MAX', (1n << 64n) - 1n, ULONG],
];

const FLOATS: readonly (readonly [string, number])[] = [
  ['FLT_MAX', 3.4028234663852886e38], ['FLT_MIN', 1.1754943508222875e-38], ['FLT_EPSILON', 1.1920928955078125e-7],
  ['INFINITY', Infinity], ['HUGE_VALF', Infinity], ['NAN', NaN], ['CUDART_INF_F', Infinity], ['CUDART_NAN_F', NaN], ['CUDART_PI_F', 3.141592654],
  ['CUDART_MAX_NORMAL_F', 3.4028234663852886e38],
];

const DOUBLES: readonly (readonly [string, number])[] = [
  ['DBL_MAX', Number.MAX_VALUE], ['DBL_MIN', 2.2250738585072014e-308], ['DBL_EPSILON', Number.EPSILON], ['HUGE_VAL', Infinity],
  ['M_PI', Math.PI], ['M_PI_2', Math.PI / 2], ['M_PI_4', Math.PI / 4], ['M_1_PI', 1 / Math.PI], ['M_2_PI', 2 / Math.PI], ['M_E', Math.E], ['M_LN2', Math.LN2],
  ['M_LN10', Math.LN10], ['M_LOG2E', Math.LOG2E], ['M_LOG10E', Math.LOG10E], ['M_SQRT2', Math.SQRT2], ['M_SQRT1_2', Math.SQRT1_2],
  ['CUDART_INF', Infinity], ['CUDART_NAN', NaN], ['CUDART_PI', Math.PI],
];

const TABLE = new Map<string, LiteralValue>([
  ...INTEGERS.map(([name, value, type]): [string, LiteralValue] => [name, { value, type }]),
  ...FLOATS.map(([name, value]): [string, LiteralValue] => [name, { value: Math.fround(value), type: FLOAT }]),
  ...DOUBLES.map(([name, value]): [string, LiteralValue] => [name, { value, type: DOUBLE }]),
]);

/** The value of a standard constant, or null. */
export function standardConstant(name: string): LiteralValue | null {
  return TABLE.get(name) ?? null;
}
