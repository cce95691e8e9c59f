/** Inputs of a launch: values for scalars, lazy buffers for pointers, both from a seed unless an argument says otherwise. */
import type { FunctionDecl, Type } from '../syntax/tree.js';
import type { Arguments } from './arguments.js';
import { elementValue, filler, hash, hashText, wideValue, type ContentOptions, type Distribution } from './contents.js';
import type { GlobalObject } from './codegen/compiler.js';
import { laneArray } from './codegen/operators.js';
import type { Machine } from './machine.js';
import type { Filler, Segment } from './memory.js';
import { enumeratorValue } from './constants.js';
import { EMPTY_ENV, resolve, type Env } from './resolve.js';
import { leaves, sizeOf, Unsupported, widthOf, type Scalar, type SimType } from './types.js';
import type { Usage } from './usage.js';
import { wrapI64, type Wide } from './values.js';
import type { Lanes } from './warp.js';
import { initialBytes } from './initial.js';

const SIZE_NAME = /^(n|N|m|M|k|K|w|h|W|H|nx|ny|nz|len|num|total|size|count|width|height|depth|rows?|cols?|columns?|dim|elements|length|limit|end|extent)$|(_|^)(n|num|len|size|count|width|height|rows?|cols?|dim|length|total|elements?|items?|points?|nodes|edges|cells|pixels|samples|batch)$|^(n|num|N)_?[A-Z]\w*$|^num_\w+$|(Size|Count|Length|Width|Height|Rows|Cols|Num|Dim|Elements|Total)$|^(n|num)[a-z]+$/;
const SMALL_NAME = /iter|step|radius|order|level|pass|rank|stride|offset|lda|ldb|ldc|pitch|shift|mode|flag|kind|type|seed/i;

/** Of a member (`grid.width`) the last name counts. */
export function isSizeName(name: string): boolean {
  const last = name.slice(name.lastIndexOf('.') + 1);
  return SIZE_NAME.test(last) && !SMALL_NAME.test(last);
}

/**
 * The value of the `rank`-th parameter that is named like a size. With `extents` 0 all are equal; with 1, 2, 3 they differ from each
 * other (width and height, M, N and K), each time another being the largest.
 */
export function extentOf(size: number, extents: number, rank: number): number {
  if (extents === 0 || size === 0) return size;
  return [size, Math.floor((size * 2) / 3) + 1, Math.floor(size / 2) + 3, size + 5][(rank + extents - 1) % 4] ?? size;
}

export interface Buffer { readonly name: string; readonly segment: Segment; readonly element: SimType }

/** The value a parameter got: a number, or an address. */
export interface ParameterValue { readonly type: SimType; readonly value: Wide }

export interface PreparedInputs {
  readonly values: ReadonlyMap<string, ParameterValue>;
  readonly arrays: () => Lanes[];
  readonly buffers: readonly Buffer[];
  /** Scalars by name, as chosen: what a replay needs. */
  readonly scalars: ReadonlyMap<string, number | bigint>;
}

export interface InputOptions {
  readonly seed: number;
  readonly arguments: Arguments;
  /** Value for scalars that are named like sizes. */
  readonly size: number;
  readonly special: boolean;
  /** Integers over their whole range and floating values of all magnitudes, where no index or bound rests on them. */
  readonly wide: boolean;
  /** How sizes differ from each other: see `extentOf`. */
  readonly extents: number;
  /** Names of the parameters by position, where those of another version of the kernel are meant. */
  readonly names: readonly string[] | null;
}

/** What a caller left open, from the seed. */
export function inputOptions(inputs: { readonly seed: number; readonly arguments: Arguments; readonly size: number; readonly special?: boolean; readonly wide?: boolean; readonly extents?: number; readonly names?: readonly string[] | null }): InputOptions {
  const { seed } = inputs;
  return { seed, arguments: inputs.arguments, size: inputs.size, special: inputs.special ?? seed % 4 === 3, wide: inputs.wide ?? seed % 4 === 2, extents: inputs.extents ?? 0, names: inputs.names ?? null };
}

/** Seeds with which indices may be negative where the code asks whether they are. */
export function hasSentinels(seed: number): boolean {
  return seed % 32 >= 28;
}

export function contentOptions(name: string, distribution: Distribution, index: boolean, o: InputOptions, usage: Usage, pointers: readonly number[]): ContentOptions {
  const sentinels = index && hasSentinels(o.seed) ? usage.sentinels?.get(/^[^[.]*/.exec(name)?.[0] ?? name) ?? [] : [];
  return {
    seed: o.seed, key: hashText(name), distribution, indexLimit: index ? Math.max(1, o.size) : null, sentinels,
    integers: usage.integers, reals: usage.reals, special: o.special, wide: o.wide, pointers,
  };
}

const granuleOf = (type: SimType): 1 | 2 | 4 => {
  const width = Math.min(4, ...leaves(type).map((p) => (p.type.k === 'scalar' ? widthOf(p.type.s) : 8)));
  return width <= 1 ? 1 : width === 2 ? 2 : 4;
};

/** The value of a scalar parameter, or of a member of the parameter `root`. `rank` counts those that are named like sizes. */
function scalarValue(name: string, s: Scalar, root: string, rank: () => number, o: InputOptions, usage: Usage): number | bigint {
  const given = o.arguments.get(name);
  const sized = isSizeName(name) ? extentOf(o.size, o.extents, rank()) : null;
  if (given?.kind === 'value') return given.value;
  const index = usage.indices.has(root);
  if (given?.kind === 'contents') return elementValue(s, 0, contentOptions(name, given.distribution, false, o, usage, []));
  const h = hash(o.seed, hashText(name), 77);
  // Flags follow bits of the seed, so that neighbouring seeds see both values and flags vary apart from each other.
  if (s === 'bool') return ((o.seed >>> (h & 1)) ^ (h >>> 3)) & 1;
  const floating = s === 'f16' || s === 'bf16' || s === 'f32' || s === 'f64';
  if (floating) {
    // One value a run: in half of the runs beside a constant that the code compares with, by turns below it, on it and above it.
    if (usage.reals.length > 0 && hash(h, 31) % 2 === 0) {
      const c = usage.reals[hash(h, 32) % usage.reals.length] ?? 0;
      const beside = c + (((hashText(name) + (o.seed >>> 1)) % 3) - 1) * Math.max(Math.abs(c), 1) * 0.25;
      return s === 'f64' ? beside : Math.fround(beside);
    }
    const v = elementValue(s, 0, contentOptions(name, { kind: 'hash' }, index, { ...o, special: false }, usage, []));
    return s === 'f64' ? v : Math.fround(Number(v));
  }
  if (sized !== null) return sized;
  // One value a run: nearly always a telling one.
  if (o.wide && !index && hash(h, 22) % 4 !== 0) return wideValue(s, hash(h, 23), o.seed);
  const limit = SMALL_NAME.test(name) ? 6 : 9;
  const near = usage.integers.flatMap((c) => [c - 1, c, c + 1]).filter((v) => (index ? v >= 0 && v <= 64 : fits(v, s)));
  const plain = [1, 2, 0, 3, 5, 4, 8, 7, 6].filter((v) => v < limit);
  const candidates = hash(h, 3) % 2 === 0 && near.length > 0 ? near : plain;
  // Neighbouring seeds walk through the candidates.
  return candidates[(hashText(name) + o.seed) % candidates.length] ?? 1;
}

/** One of the enumerators' values for a parameter of an enum's type: others are no values of most enums. */
function enumeratorOf(type: Type, name: string, seed: number): bigint | null {
  if (type.kind !== 'enum') return null;
  const values = type.decl.enumerators.flatMap((decl) => {
    const value = enumeratorValue(decl, EMPTY_ENV);
    return value?.kind === 'integer' ? [value.value] : [];
  });
  // Neighbouring seeds walk through them.
  return values[(hashText(name) + seed) % Math.max(1, values.length)] ?? null;
}

/** Whether an integer type holds the value. */
export function fits(value: number | bigint, s: Scalar): boolean {
  const bits = widthOf(s) * 8;
  const v = BigInt(value);
  return s.startsWith('u') ? v >= 0n && v < 1n << BigInt(bits) : v >= -(1n << BigInt(bits - 1)) && v < 1n << BigInt(bits - 1);
}

/** Buffers and parameter values of a kernel. Addresses are the same for the same kernel signature, whatever the code does. */
export function prepareInputs(D: Machine, kernel: FunctionDecl, types: readonly SimType[], usage: Usage, o: InputOptions): PreparedInputs {
  const buffers: Buffer[] = [];
  const scalars = new Map<string, number | bigint>();
  const makers: (() => Lanes)[] = [];
  const chosen = new Map<string, ParameterValue>();
  const give = (name: string, type: SimType, value: Wide): void => {
    chosen.set(name, { type, value });
    makers.push(filled(type, value));
  };

  let extents = 0;
  // One size alone keeps its telling value.
  const options = hasSeveralSizes(o.names ?? kernel.parameters.map((p) => p.name), types) ? o : { ...o, extents: 0 };
  const rank = (): number => extents++;

  const buffer = (name: string, to: SimType, root: string, depth: number): number => {
    const given = o.arguments.get(name);
    if (given?.kind === 'alias') {
      const other = buffers.find((b) => b.name === given.of);
      if (other === undefined) throw new Unsupported(`--arg ${name}: no buffer ${given.of} before it`, null);
      return other.segment.base + given.offset * sizeOf(other.element);
    }
    const element: SimType = to.k === 'void' || to.k === 'callable' ? { k: 'scalar', s: 'u8' } : to;
    const inner: number[] = [];
    for (const [i, leaf] of leaves(element).entries()) {
      if (leaf.type.k !== 'pointer' || depth >= 2 || i > 3) continue;
      // Pointers in memory point to a few buffers made beforehand, so that addresses do not depend on who reads first.
      for (let j = 0; j < 4; j++) inner.push(buffer(`${name}[${j}]${i === 0 ? '' : `.${i}`}`, leaf.type.to, root, depth + 1));
    }
    const distribution: Distribution = given?.kind === 'contents' ? given.distribution : { kind: 'hash' };
    const index = usage.indices.has(root);
    const limit = given?.kind === 'contents' && given.length !== null ? given.length * sizeOf(element) : Infinity;
    const segment = D.add(name, 'global', limit, filler(element, contentOptions(name, distribution, index, o, usage, inner)), false, granuleOf(element));
    buffers.push({ name, segment, element });
    return segment.base;
  };

  const fieldValue = (name: string, type: SimType, root: string): number | bigint => {
    if (type.k === 'scalar') { const v = scalarValue(name, type.s, root, rank, options, usage); scalars.set(name, v); return v; }
    if (type.k === 'pointer') return buffer(name, type.to, root, 1);
    return 0;
  };

  for (const [i, parameter] of kernel.parameters.entries()) {
    const type = types[i];
    const name = o.names?.[i] ?? parameter.name;
    if (type === undefined) throw new Unsupported(`parameter ${parameter.name}`, parameter.span, parameter.file);
    switch (type.k) {
      case 'scalar': {
        const value = (options.arguments.has(name) ? null : enumeratorOf(parameter.type, name, options.seed)) ?? scalarValue(name, type.s, name, rank, options, usage);
        scalars.set(name, value);
        give(name, type, normalise(value, type.s));
        break;
      }
      case 'pointer': {
        const given = o.arguments.get(name);
        const isNull = given?.kind === 'value' ? Number(given.value) === 0 : given === undefined && usage.nullable.has(name) && hash(o.seed, hashText(name), 5) % 3 === 0;
        // The buffer is made even if it is not passed: later addresses do not depend on it.
        const made = buffer(name, type.to, name, 0);
        const address = isNull ? 0 : made;
        if (isNull) scalars.set(name, 0);
        give(name, type, address);
        break;
      }
      case 'record': {
        // By value: one copy that every lane reads.
        const segment = D.add(name, 'constant', type.layout.size, (page) => { page.flags.fill(1); }, false, 0);
        for (const field of fieldLeaves(type, name)) {
          const value = fieldValue(field.name, field.type, name);
          poke(D, segment.base + field.offset, field.type, value);
        }
        give(name, type, segment.base);
        break;
      }
      case 'void': // has no name and is never read
        give(name, type, 0);
        break;
      case 'array': case 'reference': case 'callable': case 'group': throw new Unsupported(`parameter ${parameter.name} of such a type`, parameter.span, parameter.file);
    }
  }
  return { values: chosen, arrays: () => makers.map((m) => m()), buffers, scalars };
}

export function normalise(value: number | bigint, s: Scalar): Wide {
  if (s === 'i64' || s === 'u64') return wrapI64(BigInt(typeof value === 'bigint' ? value : Math.trunc(value)));
  return Number(value);
}

export function filled(type: SimType, value: Wide): () => Lanes {
  const text = laneArray(type);
  if (text.startsWith('new Array')) return () => new Array<Wide>(32).fill(value);
  const v = Number(value);
  return () => {
    const array = typedArray(text);
    array.fill(v);
    return array;
  };
}

function typedArray(text: string): Int32Array | Uint32Array | Float32Array | Float64Array | Uint8Array | Int8Array | Int16Array | Uint16Array {
  switch (text) {
    case 'new Uint8Array(32)': return new Uint8Array(32);
    case 'new Int8Array(32)': return new Int8Array(32);
    case 'new Int16Array(32)': return new Int16Array(32);
    case 'new Uint16Array(32)': return new Uint16Array(32);
    case 'new Int32Array(32)': return new Int32Array(32);
    case 'new Uint32Array(32)': return new Uint32Array(32);
    case 'new Float32Array(32)': return new Float32Array(32);
    default: return new Float64Array(32);
  }
}

/** Parameters of a kernel by name, structs with their members beside them (`p`, `p.width`). Throws `Unsupported`. */
export function parameterLeaves(kernel: FunctionDecl, environment: Env): { readonly name: string; readonly type: SimType }[] {
  return kernel.parameters.flatMap((p) => {
    const type = resolve(p.type, environment);
    return [{ name: p.name, type }, ...(type.k === 'record' ? fieldLeaves(type, p.name) : [])];
  });
}

/** Whether two sizes or more may differ. */
export function hasSeveralSizes(names: readonly string[], types: readonly SimType[]): boolean {
  return types.reduce((n, type, i) => n + sizesIn(type, names[i] ?? ''), 0) > 1;
}

/** How many scalars of a parameter are named like sizes. */
function sizesIn(type: SimType, name: string): number {
  if (type.k === 'record') return fieldLeaves(type, name).filter((f) => f.type.k === 'scalar' && isSizeName(f.name)).length;
  return type.k === 'scalar' && isSizeName(name) ? 1 : 0;
}

/** Members of a record down to numbers and pointers, named as `--arg` names them; `written` as their field is declared. */
export function fieldLeaves(type: Extract<SimType, { k: 'record' }>, prefix: string, base = 0): { name: string; type: SimType; offset: number; written: Type | null }[] {
  const out: { name: string; type: SimType; offset: number; written: Type | null }[] = [];
  for (const field of type.layout.fields) {
    const name = `${prefix}.${field.name}`;
    if (field.type.k === 'record') out.push(...fieldLeaves(field.type, name, base + field.offset));
    else if (field.type.k === 'array') leaves(field.type, base + field.offset).forEach((l, i) => out.push({ name: `${name}.${i}`, type: l.type, offset: l.offset, written: elementOf(field.decl?.type ?? null) }));
    else out.push({ name, type: field.type, offset: base + field.offset, written: field.decl?.type ?? null });
  }
  return out;
}

function elementOf(type: Type | null): Type | null {
  let t = type;
  while (t?.kind === 'array') t = t.of;
  return t;
}

function poke(D: Machine, address: number, type: SimType, value: number | bigint): void {
  const segment = D.segmentOf(address);
  if (segment === undefined) return;
  const page = D.at(address, 1, 0, 0, false);
  const o = (address - segment.id * 2 ** 32) % 4096;
  const view = new DataView(page.bytes);
  if (type.k !== 'scalar') { view.setBigUint64(o, BigInt(value), true); return; }
  switch (type.s) {
    case 'bool': case 'i8': case 'u8': view.setInt8(o, Number(value)); break;
    case 'i16': case 'u16': case 'f16': case 'bf16': view.setInt16(o, Number(value), true); break;
    case 'i32': case 'u32': view.setInt32(o, Number(value), true); break;
    case 'f32': view.setFloat32(o, Number(value), true); break;
    case 'f64': view.setFloat64(o, Number(value), true); break;
    case 'i64': case 'u64': view.setBigInt64(o, BigInt(value), true); break;
  }
}

/** Namespace-scope and static variables: their initialiser if it is constant, zero for a scalar that the code stores in, what a parameter would hold for others, else lazy contents. */
export function prepareGlobals(D: Machine, globals: readonly GlobalObject[], usage: Usage, o: InputOptions, made: Map<string, Buffer> = new Map()): Buffer[] {
  D.g = [];
  return globals.map(({ decl, type, env }) => {
    // Several kernels of one plan share the variable; an edit above its declaration moves it.
    const key = `${decl.file}:${decl.name}:${type.k === 'array' && type.length === null ? 'open' : sizeOf(type)}`;
    const before = made.get(key);
    if (before !== undefined) {
      D.g.push(before.segment.base);
      return before;
    }
    const constant = decl.space === 'constant' || decl.type.const === true || decl.constexpr;
    // What the code itself never stores in holds what the host put there; counters and flags begin with zero.
    const hostSet = constant || ((decl.space === 'device' || decl.space === 'managed') && usage.stored !== undefined && !usage.stored.has(decl.name));
    const size = type.k === 'array' && type.length === null ? Infinity : sizeOf(type);
    const given = o.arguments.get(decl.name);
    let fill: Filler;
    if (decl.init !== null && given === undefined) {
      const bytes = initialBytes(type, decl.init, env);
      if (bytes === null) throw new Unsupported(`the initialiser of ${decl.name} is not constant`, decl.span, decl.file);
      fill = (page, from) => {
        for (let i = 0; i < page.u8.length; i++) page.u8[i] = bytes[from + i] ?? 0;
        page.flags.fill(1);
      };
    } else if (type.k === 'scalar' && given === undefined && !hostSet) {
      fill = (page) => { page.flags.fill(1); };
    } else {
      const element = type.k === 'array' ? innermost(type) : type;
      const size_ = given?.kind === 'value' ? { kind: 'constant' as const, value: Number(given.value) } : null;
      // A scalar has one value a run, as a parameter of that name would have.
      const named = size_ ?? (type.k !== 'scalar' || given !== undefined ? null : { kind: 'constant' as const, value: isSizeName(decl.name) ? o.size : scalarValue(decl.name, type.s, decl.name, () => 0, o, usage) });
      const distribution = named ?? (given?.kind === 'contents' ? given.distribution : { kind: 'hash' as const });
      fill = filler(element, contentOptions(decl.name, distribution, usage.indices.has(decl.name), o, usage, []));
    }
    const segment = D.add(decl.name, constant ? 'constant' : 'global', size, fill, false, constant ? 0 : granuleOf(type));
    D.g.push(segment.base);
    const buffer: Buffer = { name: decl.name, segment, element: type };
    made.set(key, buffer);
    return buffer;
  });
}

function innermost(type: SimType): SimType {
  return type.k === 'array' ? innermost(type.of) : type;
}
