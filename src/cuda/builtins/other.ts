/** Vector constructors, clocks, output, traps and hints to the compiler. */
import { define, vector, type Builtin, type ScopeRule, type ValueType } from './model.js';

/** Element type of each family of CUDA vector types (`float4`, `uchar2`, …). */
export const VECTOR_ELEMENTS: ReadonlyMap<string, ValueType> = new Map<string, ValueType>([
  ['char', 'i8'], ['uchar', 'u8'], ['short', 'i16'], ['ushort', 'u16'], ['int', 'i32'], ['uint', 'u32'],
  ['long', 'i64'], ['ulong', 'u64'], ['longlong', 'i64'], ['ulonglong', 'u64'], ['float', 'float'], ['double', 'double'],
]);

export function otherBuiltins(): Builtin[] {
  const table: Builtin[] = [];
  for (const [name, element] of VECTOR_ELEMENTS) {
    for (const lanes of [1, 2, 3, 4]) {
      table.push(define(`make_${name}${lanes}`, 'vector', Array.from({ length: lanes }, () => element), vector(`${name}${lanes}`), 0));
    }
  }
  table.push(define('make_half2', 'vector', ['half', 'half'], vector('half2'), 0));
  table.push(define('make_bfloat162', 'vector', ['bfloat16', 'bfloat16'], vector('bfloat162'), 0));

  const lane: ScopeRule = { kind: 'fixed', scope: 'lane' };
  const none: ScopeRule = { kind: 'fixed', scope: 'constant' };
  table.push(define('clock', 'clock', [], 'i64', 2, { scope: lane, pure: false, volatile: true }));
  table.push(define('clock64', 'clock', [], 'i64', 2, { scope: lane, pure: false, volatile: true }));
  table.push(define('__clock', 'clock', [], 'i64', 2, { scope: lane, pure: false, volatile: true }));
  table.push(define('__clock64', 'clock', [], 'i64', 2, { scope: lane, pure: false, volatile: true }));
  table.push(define('__globaltimer', 'clock', [], 'u64', 2, { scope: lane, pure: false, volatile: true }));
  table.push(define('__nanosleep', 'clock', ['u32'], 'void', 1, { scope: none, pure: false, volatile: true }));
  table.push(define('printf', 'output', ['string'], 'i32', 100, { scope: lane, pure: false, volatile: true, variadic: true, output: 'printf' }));
  table.push(define('assert', 'output', ['any'], 'void', 2, { scope: none, pure: false, output: 'assert', mayFault: true }));
  table.push(define('__trap', 'control', [], 'void', 1, { scope: none, pure: false, output: 'trap', mayFault: true }));
  table.push(define('__brkpt', 'control', [], 'void', 1, { scope: none, pure: false, output: 'trap', mayFault: true }));
  table.push(define('abort', 'control', [], 'void', 1, { scope: none, pure: false, output: 'trap', mayFault: true }));
  table.push(define('__prof_trigger', 'hint', ['i32'], 'void', 1, { scope: none, pure: false, volatile: true }));
  table.push(define('__builtin_assume', 'hint', ['any'], 'void', 0, { scope: none }));
  table.push(define('__assume', 'hint', ['any'], 'void', 0, { scope: none }));
  table.push(define('__builtin_unreachable', 'control', [], 'void', 0, { scope: none, pure: false, mayFault: true }));
  table.push(define('__builtin_expect', 'hint', ['i64', 'i64'], 'i64', 0));
  table.push(define('__builtin_assume_aligned', 'hint', ['pointer', 'u64'], { kind: 'argument', index: 0 }, 0));
  return table;
}
