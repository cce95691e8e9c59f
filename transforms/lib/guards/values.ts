/**
 * Values as the reader of guards sees them: a polynomial in a C++ type, the coordinates of CUDA, and which variables hold a thread's
 * own value.
 */
import { INT32, maximum, minimum, UINT32, type IntegerType } from '../../../src/cuda/integers.js';
import type { BlockFact, Variable } from '../../../src/analysis/facts.js';
import { unreachable, type CoordinateExpr, type Type } from '../../../src/syntax/tree.js';
import { enumValues } from '../../../src/syntax/types.js';
import { constant, interval, subtract, symbol, symbolsOf, type Poly, type Sym } from './polynomial.js';

export interface Reading {
  readonly poly: Poly;
  readonly type: IntegerType;
  /** The C++ value is the polynomial's, not only equal to it modulo 2^bits. */
  readonly exact: boolean;
  /** Not exact only because an index made of block and thread numbers might wrap around at its far end (see {@link isIndex}). */
  readonly index?: boolean;
  /** True if it is read so only because index arithmetic does not wrap (grant `index-range`). */
  readonly assumed: boolean;
  /** It is read as exact, and is only while these are below zero. */
  readonly needs?: readonly Need[];
}

/** Something that must be below zero. `index`: the grant `index-range` may stand in for a proof. */
export interface Need { readonly poly: Poly; readonly index: boolean }

const LIMIT: Readonly<Record<'x' | 'y' | 'z', bigint>> = { x: 1024n, y: 1024n, z: 64n };
const GRID_LIMIT: Readonly<Record<'x' | 'y' | 'z', bigint>> = { x: 2147483647n, y: 65535n, z: 65535n };

/** `threadIdx.x` with its extent, a block's or the grid's size; null for a bare `threadIdx`. Limits are those of every device. */
export function coordinate({ base, axis }: CoordinateExpr, block: BlockFact, lanes: 32 | 64): Reading | null {
  if (base === 'warpSize') {
    // A wavefront has 32 or 64 lanes.
    return exactly(symbol({ key: base, role: 'uniform', text: base, names: [{ kind: 'word', name: base }], type: INT32, low: 32n, high: BigInt(lanes), extent: null, ...(lanes === 32 ? { constant: true as const } : {}) }), INT32);
  }
  if (axis === null) return null;
  const shape = block.origin === 'block-size' ? block.value : null;
  const known = shape === null ? null : BigInt(shape[axis]);
  const uniform = (name: string, low: bigint, high: bigint): Sym => ({ key: name, role: 'uniform', text: name, names: [{ kind: 'word', name: name.slice(0, name.indexOf('.')) }], type: UINT32, low, high, extent: null });
  // Also where its value is known text says `blockDim.x`: the number is another file's, or an attribute's.
  const size = uniform(`blockDim.${axis}`, known ?? 1n, known ?? LIMIT[axis]);
  switch (base) {
    case 'blockDim': return exactly(symbol(size), UINT32);
    case 'gridDim': return exactly(symbol(uniform(`gridDim.${axis}`, 1n, GRID_LIMIT[axis])), UINT32);
    case 'blockIdx': return exactly(symbol(uniform(`blockIdx.${axis}`, 0n, GRID_LIMIT[axis] - 1n)), UINT32);
    case 'threadIdx': {
      const name = `threadIdx.${axis}`;
      const high = known === 1n ? constant(0n) : subtract(symbol(size), constant(1n));
      return exactly(symbol({ key: name, role: 'thread', text: name, names: [{ kind: 'word', name: 'threadIdx' }], type: UINT32, low: 0n, high: (known ?? LIMIT[axis]) - 1n, extent: { low: constant(0n), high } }), UINT32);
    }
    default: return unreachable(base);
  }
}

export function exactly(poly: Poly, type: IntegerType): Reading {
  return { poly, type, exact: true, assumed: false };
}

export function keyOf(poly: Poly): string {
  return poly.map((term) => `${term.coefficient}*${term.symbols.map((sym) => sym.key).join('*')}`).join('+');
}

export function variableKey(decl: Variable): string {
  return `${decl.name}@${decl.span.start}`;
}

export function isThread(sym: Sym): boolean {
  return sym.role === 'thread';
}

/** A block or thread number, or a size of the block or grid. */
export function isCoordinate(sym: Sym): boolean {
  return /^(?:threadIdx|blockIdx|blockDim|gridDim)\./.test(sym.key) || sym.role === 'thread';
}

/**
 * A sum of products of block and thread numbers, so that only a grid beyond what the type counts could make it wrap. What is taken away from
 * the sum must be proved to lie between 0 and the end of the type: a difference such as `threadIdx.x - R` is below zero as it is meant to be, and so is
 * one that a variable holds.
 */
export function isIndex(poly: Poly, type: IntegerType): boolean {
  const numbered = poly.some(({ coefficient, symbols }) => coefficient > 0n && symbols.some((sym) => sym.key.startsWith('threadIdx.') || sym.key.startsWith('blockIdx.') || sym.role === 'thread'));
  const away = poly.filter(({ coefficient }) => coefficient < 0n);
  return numbered && !holdsRound(poly, type) && away.every((term) => interval([term]).high <= 0n) && interval(away).low >= -maximum(type);
}

/** A symbol stands for a number below zero where the type shows one above its largest signed one. */
function holdsRound(poly: Poly, type: IntegerType): boolean {
  return symbolsOf(poly).some((sym) => sym.round === true && sym.high > (1n << BigInt(type.bits - 1)) - 1n);
}

/** A sum of products that holds coordinates, and nothing that may be below zero or beyond the type by itself: at least zero unless it wraps around. */
export function isSumOfCoordinates(poly: Poly, type: IntegerType, counts: (sym: Sym) => boolean = isCoordinate): boolean {
  return symbolsOf(poly).some(counts) && !holdsRound(poly, type) && poly.every(({ coefficient, symbols }) => coefficient > 0n && symbols.every((sym) => sym.low >= 0n && sym.high <= maximum(type)));
}

/** Holds the counter of a loop: how far it runs is not for a grant about block and thread numbers to say. */
export function isCounted(poly: Poly): boolean {
  return symbolsOf(poly).some((sym) => sym.role === 'counter' || sym.role === 'inner');
}

/** Holds the counter of a loop that may fall, or whose way is not known. */
export function isFalling(poly: Poly): boolean {
  return symbolsOf(poly).some((sym) => (sym.role === 'counter' || sym.role === 'inner') && sym.rises !== true);
}

export function within(poly: Poly, type: IntegerType): boolean {
  const { low, high } = interval(poly);
  return low >= minimum(type) && high <= maximum(type);
}

/**
 * `bool` is an integer of its own that holds 0 and 1; a conversion to it is no conversion of integers (see `holdsTruth`). Of enums those that convert to numbers by themselves,
 * since what is written names them among numbers.
 */
export function integerType(type: Type): IntegerType | null {
  const plain = type.kind === 'reference' ? type.to : type;
  if (plain.volatile === true) return null;
  if (plain.kind === 'bool') return BOOL;
  if (plain.kind === 'enum') {
    const values = plain.decl.scoped === true ? null : enumValues(plain.decl);
    return values === null ? null : integerType(values);
  }
  return plain.kind === 'int' ? { bits: plain.bits, signed: plain.signed } : null;
}

const BOOL: IntegerType = { bits: 8, signed: false };

/** The value may be kept in a variable of the type as it is: anything but 0 and 1 becomes 1 in a `bool`. */
export function holdsTruth(type: Type, { poly, exact }: Reading): boolean {
  const plain = type.kind === 'reference' ? type.to : type;
  const { low, high } = interval(poly);
  return plain.kind !== 'bool' || (exact && low >= 0n && high <= 1n);
}

/** Automatic storage of the thread, by value. */
export function isThreadsOwn(decl: Variable): boolean {
  if (decl.type.kind === 'reference' || decl.type.volatile === true) return false;
  return decl.kind === 'parameter' || (decl.space === 'local' && decl.storage === 'automatic');
}
