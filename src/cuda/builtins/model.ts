/** The shape of one entry of the table of CUDA built-ins. What a field means is said here; the families next door hold the data. */

/** A type as the table spells it. `any` takes every value as it is; `pointer` any pointer; vector types by their CUDA names. */
export type ValueType =
  | 'void' | 'bool' | 'i8' | 'u8' | 'i16' | 'u16' | 'i32' | 'u32' | 'i64' | 'u64' | 'half' | 'bfloat16' | 'float' | 'double'
  | 'pointer' | 'string' | 'any' | { readonly vector: string };

/** What an argument is converted to: a type, or what the pointer in argument `pointee` points to. */
export type ParameterType = ValueType | { readonly pointee: number };

export type ResultRule =
  | { readonly kind: 'fixed'; readonly type: ValueType }
  /** The type of argument `index` as it is. */
  | { readonly kind: 'argument'; readonly index: number }
  /** What argument `index` points to, without `const`. */
  | { readonly kind: 'pointee'; readonly index: number }
  /** The usual arithmetic conversions of all arguments (`min`, `max`, overloaded). */
  | { readonly kind: 'arithmetic' }
  /** Overloaded on floating types: `float` if every argument is `float` or narrower floating, else `double` (integers count as double). */
  | { readonly kind: 'floating' }
  /** Given by the first template argument (`tex2D<float>`). */
  | { readonly kind: 'template' };

/** Which group of threads surely holds one value as the result (SEMANTICS 1). */
export type ScopeRule =
  /** The join of the scopes of all arguments: pure functions. */
  | { readonly kind: 'arguments' }
  | { readonly kind: 'fixed'; readonly scope: 'constant' | 'grid' | 'block' | 'warp' | 'lane' }
  /** One value among the lanes named in the mask only; `warp` if all live lanes are named and arrive. */
  | { readonly kind: 'named-lanes' }
  /** `warp` if the source lane is warp-uniform, the width is 32 or absent, and the source is named and alive. */
  | { readonly kind: 'shuffle'; readonly value: number; readonly lane: number; readonly width: number }
  /** A shuffle whose source depends on the lane (`up`, `down`, `xor`). */
  | { readonly kind: 'lane-shuffle'; readonly value: number; readonly lane: number; readonly width: number }
  /** A load: the scope of its address if the memory is stable. */
  | { readonly kind: 'load'; readonly address: number }
  | { readonly kind: 'unknown' };

/**
 * `warp`: all lanes of a mask take part; `block`: all live threads of the block; `warp-query`: asks who is together
 * (`__activemask`) without synchronising.
 */
export type Collective = 'warp' | 'block' | 'warp-query';

export interface Builtin {
  readonly name: string;
  readonly family: 'math' | 'half' | 'conversion' | 'bits' | 'arithmetic' | 'warp' | 'barrier' | 'fence' | 'atomic' | 'memory' | 'vector' | 'texture' | 'clock' | 'output' | 'control' | 'hint';
  readonly parameters: readonly ParameterType[];
  /** Trailing parameters that may be left out. */
  readonly optional: number;
  /** True for `printf`: more arguments may follow. */
  readonly variadic: boolean;
  readonly result: ResultRule;
  readonly scope: ScopeRule;
  /** No effect but its result, which depends on the arguments alone; may still fault if `mayFault`. */
  readonly pure: boolean;
  /** Indices of pointer arguments whose pointee is read, or written. */
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  readonly atomic: boolean;
  /** `block` for `__syncthreads*`, `warp` for `__syncwarp`; null if it orders no memory. */
  readonly barrier: 'block' | 'warp' | null;
  readonly collective: Collective | null;
  /** Index of the mask argument; null if there is none (legacy forms act on the active lanes). */
  readonly mask: number | null;
  /** Memory fences: who sees the order. */
  readonly fence: 'block' | 'device' | 'system' | null;
  /** May not be repeated, dropped or moved (clocks, volatile accesses, sleeps). */
  readonly volatile: boolean;
  readonly mayFault: boolean;
  /** `printf`, `assert`, traps: effects that a host can see. */
  readonly output: 'printf' | 'assert' | 'trap' | null;
  /** A warp intrinsic without `_sync`. */
  readonly legacy: boolean;
  /** The result is an approximation whose bits only the hardware knows. */
  readonly approximate: boolean;
  /** Issue slots of one warp-instruction sequence (SEMANTICS 3). */
  readonly cost: number;
}

type Details = Partial<Omit<Builtin, 'name' | 'family' | 'parameters' | 'result' | 'cost'>>;

/** Fills in the fields that most built-ins share: pure, no memory, no collective. */
export function define(
  name: string, family: Builtin['family'], parameters: readonly ParameterType[], result: ResultRule | ValueType, cost: number, details: Details = {},
): Builtin {
  const rule: ResultRule = typeof result === 'object' && 'kind' in result ? result : { kind: 'fixed', type: result };
  return {
    name, family, parameters, result: rule, cost,
    optional: 0, variadic: false, scope: { kind: 'arguments' }, pure: true, reads: [], writes: [], atomic: false, barrier: null,
    collective: null, mask: null, fence: null, volatile: false, mayFault: false, output: null, legacy: false, approximate: false,
    ...details,
  };
}

export const vector = (name: string): ValueType => ({ vector: name });
