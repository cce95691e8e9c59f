/**
 * Types as the simulator needs them: template parameters replaced, typedefs gone, sizes and offsets known. Layout follows the
 * device ABI (natural alignment, CUDA's alignments of vector types).
 */
import type { RecordDecl, VariableDecl } from '../syntax/tree.js';

export type Scalar = 'bool' | 'i8' | 'u8' | 'i16' | 'u16' | 'i32' | 'u32' | 'i64' | 'u64' | 'f16' | 'bf16' | 'f32' | 'f64';

export interface ScalarType { readonly k: 'scalar'; readonly s: Scalar; readonly volatile?: boolean }
export interface PointerType { readonly k: 'pointer'; readonly to: SimType }
export interface RecordType { readonly k: 'record'; readonly layout: RecordLayout; readonly volatile?: boolean }
export interface ArrayType { readonly k: 'array'; readonly of: SimType; readonly length: number | null }
export interface VoidType { readonly k: 'void' }
/** The value of a lambda expression or function: known statically, no run-time representation. */
export interface CallableType { readonly k: 'callable'; readonly id: number }
export interface ReferenceType { readonly k: 'reference'; readonly to: SimType }

/** A cooperative group: a tile of `size` lanes, or the block (null). Known statically, no run-time representation. */
export interface GroupType { readonly k: 'group'; readonly size: number | null }

export type SimType = ScalarType | PointerType | RecordType | ArrayType | VoidType | CallableType | ReferenceType | GroupType;

export interface FieldLayout { readonly name: string; readonly decl: VariableDecl | null; readonly type: SimType; readonly offset: number }

export interface RecordLayout {
  readonly name: string;
  readonly decl: RecordDecl;
  /** Spells the template arguments as well: two layouts with one key are one type. */
  readonly key: string;
  readonly fields: readonly FieldLayout[];
  readonly size: number;
  readonly align: number;
}

const scalar = (s: Scalar): ScalarType => ({ k: 'scalar', s });
export const BOOL = scalar('bool');
export const I8 = scalar('i8');
export const U8 = scalar('u8');
export const I32 = scalar('i32');
export const U32 = scalar('u32');
export const I64 = scalar('i64');
export const U64 = scalar('u64');
export const F16 = scalar('f16');
export const BF16 = scalar('bf16');
export const F32 = scalar('f32');
export const F64 = scalar('f64');
export const VOID: VoidType = { k: 'void' };
export const pointerTo = (to: SimType): PointerType => ({ k: 'pointer', to });

const WIDTH: Readonly<Record<Scalar, 1 | 2 | 4 | 8>> = { bool: 1, i8: 1, u8: 1, i16: 2, u16: 2, f16: 2, bf16: 2, i32: 4, u32: 4, f32: 4, i64: 8, u64: 8, f64: 8 };

export function widthOf(s: Scalar): 1 | 2 | 4 | 8 {
  return WIDTH[s];
}

export function isFloating(s: Scalar): boolean {
  return s === 'f16' || s === 'bf16' || s === 'f32' || s === 'f64';
}

export function isWide(s: Scalar): boolean {
  return s === 'i64' || s === 'u64';
}

export function isSigned(s: Scalar): boolean {
  return s === 'i8' || s === 'i16' || s === 'i32' || s === 'i64';
}

/** A construct the simulator has no meaning for: becomes a "not verified" with its line. */
export class Unsupported extends Error {
  constructor(readonly construct: string, readonly span: { readonly start: number; readonly end: number } | null, readonly file: string | null = null) {
    super(construct);
  }
}

export function sizeOf(type: SimType): number {
  switch (type.k) {
    case 'scalar': return widthOf(type.s);
    case 'pointer': case 'reference': return 8;
    case 'record': return type.layout.size;
    case 'array':
      if (type.length === null) throw new Unsupported('array of unknown length', null);
      return sizeOf(type.of) * type.length;
    case 'void': return 1; // GNU arithmetic on void pointers
    case 'callable': case 'group': return 1;
  }
}

export function alignOf(type: SimType): number {
  switch (type.k) {
    case 'scalar': return widthOf(type.s);
    case 'pointer': case 'reference': return 8;
    case 'record': return type.layout.align;
    case 'array': return alignOf(type.of);
    case 'void': case 'callable': case 'group': return 1;
  }
}

export function typeKey(type: SimType): string {
  switch (type.k) {
    case 'scalar': return type.s;
    case 'pointer': return `${typeKey(type.to)}*`;
    case 'reference': return `${typeKey(type.to)}&`;
    case 'record': return type.layout.key;
    case 'array': return `${typeKey(type.of)}[${type.length ?? ''}]`;
    case 'void': return 'void';
    case 'callable': return `callable${type.id}`;
    case 'group': return `group${type.size ?? ''}`;
  }
}

export function sameType(a: SimType, b: SimType): boolean {
  return a === b || typeKey(a) === typeKey(b);
}

const callables: object[] = [];
const callableNumbers = new WeakMap<object, number>();

/** One number per lambda expression or function declaration. */
export function callableNumber(of: object): number {
  let id = callableNumbers.get(of);
  if (id === undefined) callableNumbers.set(of, id = callables.push(of) - 1);
  return id;
}

/** What a callable type stands for. */
export function callableOf(type: CallableType): object | undefined {
  return callables[type.id];
}

/** Members listed of one array. */
export const MOST_LEAVES = 4096;

/** Scalars of a type with their byte offsets, in order: what lazy memory fills. */
export function leaves(type: SimType, base = 0, out: { offset: number; type: ScalarType | PointerType }[] = []): { offset: number; type: ScalarType | PointerType }[] {
  switch (type.k) {
    case 'scalar': case 'pointer': out.push({ offset: base, type }); break;
    case 'record': for (const field of type.layout.fields) leaves(field.type, base + field.offset, out); break;
    case 'array': {
      const step = sizeOf(type.of);
      // A long array inside a struct is filled as one run; so many leaves cover what kernels hold.
      for (let i = 0; i < Math.min(type.length ?? 0, MOST_LEAVES); i++) leaves(type.of, base + i * step, out);
      break;
    }
    case 'void': out.push({ offset: base, type: U8 }); break;
    case 'callable': case 'reference': case 'group': break;
  }
  return out;
}
