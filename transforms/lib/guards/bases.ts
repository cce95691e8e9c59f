/**
 * What a block adds to all of its indices, such as `blockIdx.x * blockDim.x`, is written once if several bounds need it.
 */
import { fits, promote } from '../../../src/cuda/integers.js';
import type { Declaration, Namer } from './bound.js';
import { INT32, INT64, type Cpp } from './cpp.js';
import { interval, type Poly, type Sym, type Term } from './polynomial.js';

export interface Bases {
  readonly declarations: readonly Declaration[];
  /** The polynomial with the constants in place of the products. */
  replace(poly: Poly): Poly;
}

const AXES = ['x', 'y', 'z'] as const;
type Axis = (typeof AXES)[number];

interface Base { readonly factors: readonly Sym[]; readonly axis: Axis }

/** `joined` makes one name of a word and an axis. */
export function shareBases(polys: readonly Poly[], name: Namer, joined: (word: string, axis: string) => string): Bases {
  const found = new Map<string, { readonly base: Base; count: number }>();
  for (const term of polys.flat()) {
    const base = baseOf(term);
    if (base === null) continue;
    const entry = found.get(keyOf(base));
    if (entry === undefined) found.set(keyOf(base), { base, count: 1 });
    else entry.count++;
  }
  const shared = [...found.values()].filter(({ count }) => count > 1).map(({ base }) => base).sort((a, b) => (a.axis < b.axis ? -1 : a.axis > b.axis ? 1 : 0));
  const axes = new Set(shared.map(({ axis }) => axis));
  const declarations: Declaration[] = [];
  const symbols = new Map<string, Sym>();
  for (const base of shared) {
    const { factors, axis } = base;
    const { low, high } = interval([{ coefficient: 1n, symbols: factors }]);
    // Grids are small along y and z: there the product fits an int.
    const short = low >= 0n && fits(high, INT32) && factors.every((factor) => factor.low >= 0n);
    const declared = name(axes.size === 1 ? 'first' : joined('first', axis));
    declarations.push({ name: declared, value: short ? { kind: 'cast', to: INT32, operand: product(factors, null) } : product(factors, INT64) });
    symbols.set(keyOf(base), { key: `base.${axis}${symbols.size === 0 ? '' : `#${keyOf(base)}`}`, role: 'uniform', text: declared, names: factors.flatMap((factor) => factor.names), type: short ? INT32 : INT64, low, high, extent: null });
  }
  return {
    declarations,
    replace: (poly) => poly.map((term) => {
      const base = baseOf(term);
      const sym = base === null ? undefined : symbols.get(keyOf(base));
      return base === null || sym === undefined ? term : { coefficient: term.coefficient, symbols: [...without(term.symbols, base.factors), sym] };
    }),
  };
}

function keyOf({ factors }: Base): string {
  return factors.map((factor) => factor.key).join('*');
}

/** The number of the block times its size; else the whole product that the number stands in, if it is one in the block. */
function baseOf({ symbols }: Term): Base | null {
  for (const axis of AXES) {
    const index = symbols.filter((sym) => sym.key === `blockIdx.${axis}`);
    const size = symbols.filter((sym) => sym.key === `blockDim.${axis}`);
    const [first] = index;
    const [second] = size;
    if (index.length !== 1 || first === undefined) continue;
    if (size.length === 1 && second !== undefined) return { factors: [first, second], axis };
    const others = without(symbols, [first]);
    const narrow = others.every((sym) => sym.role === 'uniform' && (sym.type.bits < 64 || sym.type.signed));
    if (others.length > 0 && narrow && others.every((_, i) => isWithin([first, ...others.slice(0, i + 1)]))) return { factors: [first, ...others], axis };
  }
  return null;
}

function isWithin(factors: readonly Sym[]): boolean {
  const { low, high } = interval([{ coefficient: 1n, symbols: factors }]);
  return fits(low, INT64) && fits(high, INT64);
}

function without(symbols: readonly Sym[], taken: readonly Sym[]): readonly Sym[] {
  const rest = [...symbols];
  for (const sym of taken) {
    const at = rest.findIndex((other) => other.key === sym.key);
    if (at >= 0) rest.splice(at, 1);
  }
  return rest;
}

/** A product whose first factor is converted to `type`, which the others follow. */
function product(factors: readonly Sym[], type: typeof INT64 | null): Cpp {
  const operands = factors.map((sym, i): Cpp => (i === 0 && type !== null && promote(sym.type).bits < type.bits ? { kind: 'cast', to: type, operand: { kind: 'symbol', sym } } : { kind: 'symbol', sym }));
  return operands.reduce((left, right) => ({ kind: 'binary', op: '*', left, right }));
}
