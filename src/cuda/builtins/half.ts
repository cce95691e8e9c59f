/** `__half`, `__nv_bfloat16` and their pairs: conversions, arithmetic, comparisons. */
import { define, vector, type Builtin, type ValueType } from './model.js';

export function halfBuiltins(): Builtin[] {
  const table: Builtin[] = [];
  const pure = (name: string, parameters: readonly ValueType[], result: Parameters<typeof define>[3], cost = 1, approximate = false): void => {
    table.push(define(name, 'half', parameters, result, cost, { approximate }));
  };
  const half2 = vector('half2');
  const bfloat162 = vector('bfloat162');
  for (const suffix of ['', '_rn', '_rz', '_ru', '_rd']) {
    pure(`__float2half${suffix}`, ['float'], 'half');
    pure(`__float2bfloat16${suffix}`, ['float'], 'bfloat16');
    if (suffix !== '') {
      for (const [word, type] of [['int', 'i32'], ['uint', 'u32'], ['short', 'i16'], ['ushort', 'u16'], ['ll', 'i64'], ['ull', 'u64']] as const) {
        pure(`__half2${word}${suffix}`, ['half'], type, 2);
        pure(`__${word}2half${suffix}`, [type], 'half', 2);
        pure(`__bfloat162${word}${suffix}`, ['bfloat16'], type, 2);
        pure(`__${word}2bfloat16${suffix}`, [type], 'bfloat16', 2);
      }
    }
  }
  pure('__double2half', ['double'], 'half', 2);
  pure('__double2bfloat16', ['double'], 'bfloat16', 2);
  pure('__half2float', ['half'], 'float');
  pure('__bfloat162float', ['bfloat16'], 'float');
  pure('__half_as_short', ['half'], 'i16', 0);
  pure('__half_as_ushort', ['half'], 'u16', 0);
  pure('__short_as_half', ['i16'], 'half', 0);
  pure('__ushort_as_half', ['u16'], 'half', 0);
  pure('__bfloat16_as_ushort', ['bfloat16'], 'u16', 0);
  pure('__ushort_as_bfloat16', ['u16'], 'bfloat16', 0);
  pure('__float22half2_rn', [vector('float2')], half2);
  pure('__floats2half2_rn', ['float', 'float'], half2);
  pure('__float2half2_rn', ['float'], half2);
  pure('__half22float2', [half2], vector('float2'));
  pure('__halves2half2', ['half', 'half'], half2);
  pure('__half2half2', ['half'], half2);
  pure('__low2half', [half2], 'half', 0);
  pure('__high2half', [half2], 'half', 0);
  pure('__low2float', [half2], 'float');
  pure('__high2float', [half2], 'float');
  pure('__lows2half2', [half2, half2], half2);
  pure('__highs2half2', [half2, half2], half2);
  pure('__lowhigh2highlow', [half2], half2);
  pure('__floats2bfloat162_rn', ['float', 'float'], bfloat162);
  pure('__float22bfloat162_rn', [vector('float2')], bfloat162);
  pure('__bfloat1622float2', [bfloat162], vector('float2'));
  pure('__bfloat162bfloat162', ['bfloat16'], bfloat162);
  pure('__halves2bfloat162', ['bfloat16', 'bfloat16'], bfloat162);

  // The same names serve half and bfloat16: the result has the type of the first argument. `__hadd` stands with the integers.
  const same = { kind: 'argument', index: 0 } as const;
  for (const name of ['__hsub', '__hmul', '__hadd_rn', '__hsub_rn', '__hmul_rn', '__hadd_sat', '__hsub_sat', '__hmul_sat', '__hmax', '__hmin', '__hmax_nan', '__hmin_nan']) pure(name, ['any', 'any'], same);
  pure('__hdiv', ['any', 'any'], same, 9);
  for (const name of ['__hfma', '__hfma_sat', '__hfma_relu']) pure(name, ['any', 'any', 'any'], same);
  for (const name of ['__hneg', '__habs']) pure(name, ['any'], same);
  for (const name of ['hsqrt', 'hrsqrt', 'hrcp', 'hexp', 'hexp2', 'hexp10', 'hlog', 'hlog2', 'hlog10', 'hsin', 'hcos', 'htanh']) pure(name, ['any'], same, 6, true);
  for (const name of ['hfloor', 'hceil', 'htrunc', 'hrint']) pure(name, ['any'], same);
  for (const op of ['eq', 'ne', 'lt', 'le', 'gt', 'ge']) {
    pure(`__h${op}`, ['any', 'any'], 'bool');
    pure(`__h${op}u`, ['any', 'any'], 'bool');
    pure(`__h${op}2`, ['any', 'any'], same);
    pure(`__hb${op}2`, ['any', 'any'], 'bool');
  }
  pure('__hisnan', ['any'], 'bool');
  pure('__hisinf', ['any'], 'i32');
  for (const name of ['__hadd2', '__hsub2', '__hmul2', '__hadd2_rn', '__hsub2_rn', '__hmul2_rn', '__hadd2_sat', '__hmul2_sat', '__hmax2', '__hmin2']) pure(name, ['any', 'any'], same);
  pure('__h2div', ['any', 'any'], same, 18);
  for (const name of ['__hfma2', '__hfma2_sat', '__hfma2_relu']) pure(name, ['any', 'any', 'any'], same);
  for (const name of ['__hneg2', '__habs2']) pure(name, ['any'], same);
  for (const name of ['h2sqrt', 'h2rsqrt', 'h2rcp', 'h2exp', 'h2exp2', 'h2log', 'h2log2', 'h2sin', 'h2cos', 'h2tanh']) pure(name, ['any'], same, 12, true);
  for (const name of ['h2floor', 'h2ceil', 'h2trunc', 'h2rint']) pure(name, ['any'], same, 2);
  return table;
}
