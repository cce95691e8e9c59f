/**
 * One table of CUDA built-ins: what a name that no declaration explains means to lowering, analyses, cost model and simulator.
 * Source: CUDA C++ Programming Guide (language extensions) and the CUDA Math API; costs as in SEMANTICS 3.
 */
import { halfBuiltins } from './builtins/half.js';
import { integerBuiltins } from './builtins/integer.js';
import { mathBuiltins } from './builtins/math.js';
import { memoryBuiltins } from './builtins/memory.js';
import type { Builtin } from './builtins/model.js';
import { otherBuiltins } from './builtins/other.js';
import { warpBuiltins } from './builtins/warp.js';

export type { Builtin, Collective, ParameterType, ResultRule, ScopeRule, ValueType } from './builtins/model.js';
export { VECTOR_ELEMENTS } from './builtins/other.js';

const TABLE: ReadonlyMap<string, Builtin> = build();

function build(): Map<string, Builtin> {
  const table = new Map<string, Builtin>();
  for (const entry of [...mathBuiltins(), ...integerBuiltins(), ...halfBuiltins(), ...warpBuiltins(), ...memoryBuiltins(), ...otherBuiltins()]) {
    if (table.has(entry.name)) throw new Error(`built-in ${entry.name} is defined twice`);
    table.set(entry.name, entry);
  }
  return table;
}

/** Namespaces through which the standard library's names are also reached. */
const PREFIXES = ['::', 'std::', 'cuda::std::'] as const;

/** The entry for a name (with or without `std::`), undefined if it is not a built-in. */
export function builtin(name: string): Builtin | undefined {
  const direct = TABLE.get(name);
  if (direct !== undefined) return direct;
  let rest = name;
  for (const prefix of PREFIXES) if (rest.startsWith(prefix)) rest = rest.slice(prefix.length);
  if (rest === name) return undefined;
  const entry = TABLE.get(rest);
  // Only the library's own families live in those namespaces: `std::atomicAdd` would be somebody else's.
  return entry !== undefined && (name.startsWith('::') || entry.family === 'math' || entry.family === 'arithmetic' || entry.family === 'memory' || entry.family === 'output') ? entry : undefined;
}

export function isBuiltin(name: string): boolean {
  return builtin(name) !== undefined;
}

/** Every entry, in no order that means anything. */
export function allBuiltins(): Iterable<Builtin> {
  return TABLE.values();
}
