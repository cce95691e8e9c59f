/**
 * `blockIdx.x * blockDim.x`, where a block's indices begin, is written once if several bounds need it.
 */
import { fits } from '../../../src/cuda/integers.js';
import type { Declaration, Namer } from './bound.js';
import { INT32, INT64, type Cpp } from './cpp.js';
import type { Poly, Sym, Term } from './polynomial.js';

export interface Bases {
  readonly declarations: readonly Declaration[];
  /** The polynomial with the constants in place of the products. */
  replace(poly: Poly): Poly;
}

const AXES = ['x', 'y', 'z'] as const;

export function shareBases(polys: readonly Poly[], name: Namer): Bases {
  const declarations: Declaration[] = [];
  const bases = new Map<string, Sym>();
  const axes = AXES.filter((axis) => polys.reduce((count, poly) => count + poly.filter((term) => productOn(term, axis) !== null).length, 0) > 1);
  for (const axis of axes) {
    const product = polys.flatMap((poly) => poly.map((term) => productOn(term, axis))).find((found) => found !== null);
    if (product === undefined || product === null) continue;
    const [index, size] = product;
    const [left, right] = [{ kind: 'symbol', sym: index }, { kind: 'symbol', sym: size }] as const;
    // Grids are small along y and z: there the product fits an int.
    const short = fits(index.high * size.high, INT32);
    const value: Cpp = short
      ? { kind: 'cast', to: INT32, operand: { kind: 'binary', op: '*', left, right } }
      : { kind: 'binary', op: '*', left: { kind: 'cast', to: INT64, operand: left }, right };
    const declared = name(axes.length === 1 ? 'first' : `first_${axis}`);
    declarations.push({ name: declared, value });
    bases.set(axis, { key: `base.${axis}`, role: 'uniform', text: declared, names: [...index.names, ...size.names], type: short ? INT32 : INT64, low: 0n, high: index.high * size.high, extent: null });
  }
  return {
    declarations,
    replace: (poly) => poly.map((term) => {
      for (const [axis, base] of bases) {
        const product = productOn(term, axis);
        if (product !== null) return { coefficient: term.coefficient, symbols: [...term.symbols.filter((sym) => !product.includes(sym)), base] };
      }
      return term;
    }),
  };
}

/** The factors `blockIdx.a` and `blockDim.a` of a term, if it has both once. */
function productOn(term: Term, axis: string): readonly [Sym, Sym] | null {
  const index = term.symbols.filter((sym) => sym.key === `blockIdx.${axis}`);
  const size = term.symbols.filter((sym) => sym.key === `blockDim.${axis}`);
  const [first] = index;
  const [second] = size;
  return index.length === 1 && size.length === 1 && first !== undefined && second !== undefined ? [first, second] : null;
}
