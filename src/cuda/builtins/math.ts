/**
 * Mathematical functions: `sinf`-style float forms, double forms, the overloaded `<cmath>` names, and the fast intrinsics.
 * Costs are issue slots of the accurate library versions on a warp: approximate special functions 2 to 4, square root and division
 * 8 to 10, accurate transcendental functions about 40, and twice that in double precision.
 */
import { define, type Builtin, type ValueType } from './model.js';

/** name, number of arguments, cost of the float form, cost of the double form. All results are floating. */
const FUNCTIONS: readonly (readonly [string, number, number, number])[] = [
  ['sqrt', 1, 9, 20], ['rsqrt', 1, 4, 20], ['cbrt', 1, 25, 60], ['rcbrt', 1, 25, 60], ['hypot', 2, 25, 50], ['rhypot', 2, 25, 50],
  ['sin', 1, 40, 90], ['cos', 1, 40, 90], ['tan', 1, 45, 100], ['sinpi', 1, 25, 60], ['cospi', 1, 25, 60],
  ['asin', 1, 25, 60], ['acos', 1, 25, 60], ['atan', 1, 25, 60], ['atan2', 2, 40, 80],
  ['sinh', 1, 25, 60], ['cosh', 1, 20, 50], ['tanh', 1, 20, 60], ['asinh', 1, 35, 80], ['acosh', 1, 35, 80], ['atanh', 1, 30, 80],
  ['exp', 1, 12, 40], ['exp2', 1, 6, 35], ['exp10', 1, 14, 45], ['expm1', 1, 20, 50],
  ['log', 1, 20, 50], ['log2', 1, 15, 50], ['log10', 1, 22, 55], ['log1p', 1, 25, 60], ['logb', 1, 8, 12],
  ['pow', 2, 60, 150], ['powi', 2, 30, 60], ['fmod', 2, 40, 80], ['remainder', 2, 40, 80],
  ['erf', 1, 30, 70], ['erfc', 1, 40, 90], ['erfinv', 1, 40, 100], ['erfcinv', 1, 40, 100], ['erfcx', 1, 40, 90], ['normcdf', 1, 40, 90], ['normcdfinv', 1, 50, 120],
  ['tgamma', 1, 80, 200], ['lgamma', 1, 80, 200], ['j0', 1, 80, 160], ['j1', 1, 80, 160], ['y0', 1, 90, 180], ['y1', 1, 90, 180],
  ['floor', 1, 1, 2], ['ceil', 1, 1, 2], ['trunc', 1, 1, 2], ['round', 1, 4, 6], ['rint', 1, 1, 2], ['nearbyint', 1, 1, 2],
  ['fabs', 1, 1, 1], ['fmin', 2, 1, 2], ['fmax', 2, 1, 2], ['fdim', 2, 3, 4], ['fma', 3, 1, 2], ['copysign', 2, 1, 2], ['nextafter', 2, 8, 10],
  ['norm3d', 3, 15, 35], ['rnorm3d', 3, 15, 35], ['norm4d', 4, 17, 40], ['rnorm4d', 4, 17, 40],
];

/** Correctly rounded or exact: the simulator's result has the hardware's bits. */
const EXACT = new Set(['sqrt', 'floor', 'ceil', 'trunc', 'round', 'rint', 'nearbyint', 'fabs', 'fmin', 'fmax', 'fdim', 'fma', 'copysign', 'nextafter', 'fmod', 'remainder', 'logb']);

/** Names that `<cmath>` also has without suffix and overloads on the type of the argument. */
const OVERLOADED_ONLY_DOUBLE = new Set(['powi']);

const ROUNDINGS = ['rn', 'rz', 'ru', 'rd'] as const;

export function mathBuiltins(): Builtin[] {
  const table: Builtin[] = [];
  const repeat = (type: ValueType, count: number): ValueType[] => Array.from({ length: count }, () => type);
  for (const [name, arity, single, double] of FUNCTIONS) {
    const approximate = !EXACT.has(name);
    table.push(define(`${name}f`, 'math', name === 'powi' ? ['float', 'i32'] : repeat('float', arity), 'float', single, { approximate }));
    if (OVERLOADED_ONLY_DOUBLE.has(name)) table.push(define(name, 'math', ['double', 'i32'], 'double', double, { approximate }));
    else table.push(define(name, 'math', repeat('any', arity), { kind: 'floating' }, double, { approximate }));
  }
  // Integer results.
  for (const [name, result] of [['lrint', 'i64'], ['lround', 'i64'], ['llrint', 'i64'], ['llround', 'i64'], ['ilogb', 'i32']] as const) {
    table.push(define(`${name}f`, 'math', ['float'], result, 4));
    table.push(define(name, 'math', ['any'], result, 6));
  }
  for (const name of ['isnan', 'isinf', 'isfinite', 'signbit', '__isnan', '__isinf', '__finite', '__signbit', '__isnanf', '__isinff', '__finitef', '__signbitf', 'finite', 'isnormal']) {
    table.push(define(name, 'math', ['any'], name.startsWith('__') || name === 'finite' ? 'i32' : 'bool', 1));
  }
  for (const [suffix, type, cost] of [['f', 'float', 6], ['', 'any', 10]] as const) {
    const result = type === 'float' ? 'float' as const : { kind: 'floating' as const };
    table.push(define(`ldexp${suffix}`, 'math', [type, 'i32'], result, cost));
    table.push(define(`scalbn${suffix}`, 'math', [type, 'i32'], result, cost));
    table.push(define(`scalbln${suffix}`, 'math', [type, 'i64'], result, cost));
    table.push(define(`fdivide${suffix}`, 'math', [type, type], result, cost, { approximate: type === 'float' }));
    table.push(define(`frexp${suffix}`, 'math', [type, 'pointer'], result, cost, { pure: false, writes: [1] }));
    table.push(define(`modf${suffix}`, 'math', [type, 'pointer'], result, cost, { pure: false, writes: [1] }));
    table.push(define(`remquo${suffix}`, 'math', [type, type, 'pointer'], result, cost + 30, { pure: false, writes: [2] }));
    for (const name of ['sincos', 'sincospi']) {
      table.push(define(`${name}${suffix}`, 'math', [type, 'pointer', 'pointer'], 'void', type === 'float' ? 55 : 130, { pure: false, writes: [1, 2], approximate: true }));
    }
    for (const name of ['jn', 'yn']) table.push(define(`${name}${suffix}`, 'math', ['i32', type], result, 150, { approximate: true }));
  }
  for (const name of ['nan', 'nanf']) table.push(define(name, 'math', ['string'], name === 'nanf' ? 'float' : 'double', 1));

  // Fast intrinsics: hardware approximations.
  for (const [name, arity, cost] of [
    ['__sinf', 1, 2], ['__cosf', 1, 2], ['__tanf', 1, 4], ['__expf', 1, 2], ['__exp10f', 1, 2], ['__logf', 1, 2], ['__log2f', 1, 2], ['__log10f', 1, 2],
    ['__powf', 2, 4], ['__fdividef', 2, 3], ['__tanhf', 1, 2],
  ] as const) table.push(define(name, 'math', repeat('float', arity), 'float', cost, { approximate: true }));
  table.push(define('__sincosf', 'math', ['float', 'pointer', 'pointer'], 'void', 4, { pure: false, writes: [1, 2], approximate: true }));
  table.push(define('__saturatef', 'math', ['float'], 'float', 1));
  table.push(define('__frsqrt_rn', 'math', ['float'], 'float', 8));

  // Explicit rounding: exact, never fused.
  for (const mode of ROUNDINGS) {
    for (const [op, arity, cost] of [['add', 2, 1], ['sub', 2, 1], ['mul', 2, 1], ['div', 2, 9], ['rcp', 1, 8], ['sqrt', 1, 9]] as const) {
      table.push(define(`__f${op}_${mode}`, 'math', repeat('float', arity), 'float', cost));
      table.push(define(`__d${op}_${mode}`, 'math', repeat('double', arity), 'double', cost * 2));
    }
    table.push(define(`__fmaf_${mode}`, 'math', repeat('float', 3), 'float', 1));
    table.push(define(`__fmaf_ieee_${mode}`, 'math', repeat('float', 3), 'float', 1));
    table.push(define(`__fma_${mode}`, 'math', repeat('double', 3), 'double', 2));
  }
  return table;
}
