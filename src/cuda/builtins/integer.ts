/** Integer and bit intrinsics, `min`/`max`/`abs`, packed SIMD-in-a-word operations, and conversions between number types. */
import { define, type Builtin, type ValueType } from './model.js';

const ROUNDINGS = ['rn', 'rz', 'ru', 'rd'] as const;

export function integerBuiltins(): Builtin[] {
  const table: Builtin[] = [];
  const pure = (name: string, family: Builtin['family'], parameters: readonly ValueType[], result: ValueType, cost = 1): void => {
    table.push(define(name, family, parameters, result, cost));
  };
  for (const name of ['min', 'max']) table.push(define(name, 'arithmetic', ['any', 'any'], { kind: 'arithmetic' }, 1));
  table.push(define('clamp', 'arithmetic', ['any', 'any', 'any'], { kind: 'arithmetic' }, 2));
  table.push(define('abs', 'arithmetic', ['any'], { kind: 'arithmetic' }, 1));
  pure('labs', 'arithmetic', ['i64'], 'i64', 2);
  pure('llabs', 'arithmetic', ['i64'], 'i64', 2);
  pure('umin', 'arithmetic', ['u32', 'u32'], 'u32');
  pure('umax', 'arithmetic', ['u32', 'u32'], 'u32');
  pure('llmin', 'arithmetic', ['i64', 'i64'], 'i64', 2);
  pure('llmax', 'arithmetic', ['i64', 'i64'], 'i64', 2);
  pure('ullmin', 'arithmetic', ['u64', 'u64'], 'u64', 2);
  pure('ullmax', 'arithmetic', ['u64', 'u64'], 'u64', 2);

  pure('__popc', 'bits', ['u32'], 'i32', 2);
  pure('__popcll', 'bits', ['u64'], 'i32', 4);
  pure('__ffs', 'bits', ['i32'], 'i32', 3);
  pure('__ffsll', 'bits', ['i64'], 'i32', 6);
  pure('__clz', 'bits', ['i32'], 'i32', 2);
  pure('__clzll', 'bits', ['i64'], 'i32', 4);
  pure('__brev', 'bits', ['u32'], 'u32', 2);
  pure('__brevll', 'bits', ['u64'], 'u64', 4);
  pure('__fns', 'bits', ['u32', 'u32', 'i32'], 'u32', 20);
  pure('__byte_perm', 'bits', ['u32', 'u32', 'u32'], 'u32');
  for (const name of ['__funnelshift_l', '__funnelshift_lc', '__funnelshift_r', '__funnelshift_rc']) pure(name, 'bits', ['u32', 'u32', 'u32'], 'u32');
  pure('__mul24', 'arithmetic', ['i32', 'i32'], 'i32', 2);
  pure('__umul24', 'arithmetic', ['u32', 'u32'], 'u32', 2);
  pure('__mulhi', 'arithmetic', ['i32', 'i32'], 'i32', 2);
  pure('__umulhi', 'arithmetic', ['u32', 'u32'], 'u32', 2);
  pure('__mul64hi', 'arithmetic', ['i64', 'i64'], 'i64', 10);
  pure('__umul64hi', 'arithmetic', ['u64', 'u64'], 'u64', 10);
  // The integer average and the half sum share one name: told apart by the argument.
  table.push(define('__hadd', 'arithmetic', ['any', 'any'], { kind: 'argument', index: 0 }, 1));
  pure('__rhadd', 'arithmetic', ['i32', 'i32'], 'i32', 2);
  pure('__uhadd', 'arithmetic', ['u32', 'u32'], 'u32', 2);
  pure('__urhadd', 'arithmetic', ['u32', 'u32'], 'u32', 2);
  pure('__sad', 'arithmetic', ['i32', 'i32', 'u32'], 'u32');
  pure('__usad', 'arithmetic', ['u32', 'u32', 'u32'], 'u32');
  table.push(define('__dp4a', 'arithmetic', ['any', 'any', 'any'], { kind: 'argument', index: 2 }, 1));
  table.push(define('__dp2a_lo', 'arithmetic', ['any', 'any', 'any'], { kind: 'argument', index: 2 }, 1));
  table.push(define('__dp2a_hi', 'arithmetic', ['any', 'any', 'any'], { kind: 'argument', index: 2 }, 1));
  for (const width of [2, 4]) {
    for (const op of ['add', 'sub', 'avgs', 'avgu', 'maxs', 'maxu', 'mins', 'minu', 'absdiffs', 'absdiffu', 'addss', 'addus', 'subss', 'subus', 'cmpeq', 'cmpne', 'cmpges', 'cmpgeu', 'cmpgts', 'cmpgtu', 'cmples', 'cmpleu', 'cmplts', 'cmpltu', 'seteq', 'setne', 'sads', 'sadu']) {
      pure(`__v${op}${width}`, 'bits', ['u32', 'u32'], 'u32', 2);
    }
    for (const op of ['abs', 'absss', 'neg', 'negss']) pure(`__v${op}${width}`, 'bits', ['u32'], 'u32', 2);
  }

  // Reinterpretation.
  pure('__float_as_int', 'conversion', ['float'], 'i32', 0);
  pure('__float_as_uint', 'conversion', ['float'], 'u32', 0);
  pure('__int_as_float', 'conversion', ['i32'], 'float', 0);
  pure('__uint_as_float', 'conversion', ['u32'], 'float', 0);
  pure('__double_as_longlong', 'conversion', ['double'], 'i64', 0);
  pure('__longlong_as_double', 'conversion', ['i64'], 'double', 0);
  pure('__double2hiint', 'conversion', ['double'], 'i32', 0);
  pure('__double2loint', 'conversion', ['double'], 'i32', 0);
  pure('__hiloint2double', 'conversion', ['i32', 'i32'], 'double', 0);

  // Conversions with a rounding mode.
  const integers = [['int', 'i32'], ['uint', 'u32'], ['ll', 'i64'], ['ull', 'u64']] as const;
  for (const mode of ROUNDINGS) {
    for (const [word, type] of integers) {
      pure(`__float2${word}_${mode}`, 'conversion', ['float'], type, 2);
      pure(`__double2${word}_${mode}`, 'conversion', ['double'], type, 4);
      pure(`__${word}2float_${mode}`, 'conversion', [type], 'float', 2);
      pure(`__${word}2double_${mode}`, 'conversion', [type], 'double', 4);
    }
    pure(`__double2float_${mode}`, 'conversion', ['double'], 'float', 2);
  }
  return table;
}
