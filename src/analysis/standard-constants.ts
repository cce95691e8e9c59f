/**
 * Names that headers of the standard library and of CUDA define as constants. Those headers are not read, so the names have no
 * declaration; a project that defines one of them itself has a declaration or a macro, which comes first.
 */
const NAMES: readonly string[] = [
  'NULL', 'INFINITY', 'NAN', 'HUGE_VAL', 'HUGE_VALF',
  'FLT_MAX', 'FLT_MIN', 'FLT_EPSILON', 'FLT_DIG', 'DBL_MAX', 'DBL_MIN', 'DBL_EPSILON', 'DBL_DIG',
  'CHAR_BIT', 'CHAR_MIN', 'CHAR_MAX', 'SCHAR_MIN', 'SCHAR_MAX', 'UCHAR_MAX', 'SHRT_MIN', 'SHRT_MAX', 'USHRT_MAX', 'INT_MIN', 'INT_MAX', 'UINT_MAX', 'LONG_MIN', 'LONG_MAX',
  'ULONG_MAX', 'LLONG_MIN', 'LLONG_MAX', 'ULLONG_MAX', 'SIZE_MAX', 'RAND_MAX',
  'INT8_MIN', 'INT8_MAX', 'UINT8_MAX', 'INT16_MIN', 'INT16_MAX', 'UINT16_MAX', 'INT32_MIN', 'INT32_MAX', 'UINT32_MAX', 'INT64_MIN', 'INT64_MAX', 'UINT64_MAX',
  'M_E', 'M_LOG2E', 'M_LOG10E', 'M_LN2', 'M_LN10', 'M_PI', 'M_PI_2', 'M_PI_4', 'M_1_PI', 'M_2_PI', 'M_2_SQRTPI', 'M_SQRT2', 'M_SQRT1_2',
  'CUDART_INF_F', 'CUDART_INF', 'CUDART_NAN_F', 'CUDART_NAN', 'CUDART_MIN_DENORM_F', 'CUDART_MAX_NORMAL_F', 'CUDART_PI_F', 'CUDART_PI', 'CUDART_ZERO_F', 'CUDART_ZERO',
  'CUDART_ONE_F', 'CUDART_ONE', 'CUDART_L2E_F', 'CUDART_LN2_F', 'CUDART_SQRT_HALF_F', 'CUDART_2_OVER_PI_F',
  'cudaStreamNonBlocking', 'cudaSuccess',
];

const SET: ReadonlySet<string> = new Set(NAMES);

export function isStandardConstant(name: string): boolean {
  return SET.has(name);
}
