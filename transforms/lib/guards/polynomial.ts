/**
 * Polynomials with exact integer coefficients over the symbols of a guard: thread coordinates, loop counters, and values that do not
 * change while the loop runs. Everything here is plain data in mathematical integers; how far a polynomial is the C++ value is
 * kept beside it (reading.ts).
 */
import type { IntegerType } from '../../../src/cuda/integers.js';
import type { Written } from '../names-resolve.js';
import type { Binding } from '../operands.js';

/**
 * `counter`: the counter of the loop that is peeled. `inner`: the counter of a loop inside it. `thread`: differs between the threads
 * of a block, within `extent`. `uniform`: one value in the block, written before the loop. `own`: the thread's own value, written
 * before the loop, whose extent over the block is not known.
 */
export type Role = 'counter' | 'inner' | 'thread' | 'uniform' | 'own';

export interface Sym {
  /** Equal keys mean equal values. */
  readonly key: string;
  readonly role: Role;
  /** C++ text that gives the value right before the loop; for a counter its name. */
  readonly text: string;
  /** What `text` is made of; empty where it is never written. */
  readonly names: readonly Written[];
  readonly type: IntegerType;
  /** Inclusive; at worst the range of the type. */
  readonly low: bigint;
  readonly high: bigint;
  /** For `thread` and `inner`: smallest and largest value over the block, or over the inner loop's iterations. */
  readonly extent: { readonly low: Poly; readonly high: Poly } | null;
  /** The name of a constant: known when the program is compiled. `low` and `high` are all values that it may have there. */
  readonly constant?: true;
  /** How tightly `text` binds as an operand; absent for a name, which is closed. */
  readonly binding?: Binding;
  /** A counter that moves up and does not pass the end of its type. */
  readonly rises?: true;
  /** It may stand for a number below zero where it is above the largest signed one: a difference gone round, a counter that falls. */
  readonly round?: true;
}

export interface Term {
  readonly coefficient: bigint;
  /** Sorted by key; empty for the constant term. */
  readonly symbols: readonly Sym[];
}

/** Terms with different products, none zero, sorted by product. */
export type Poly = readonly Term[];

export const ZERO: Poly = [];

function keyOf(symbols: readonly Sym[]): string {
  return symbols.map((symbol) => symbol.key).join('*');
}

function normal(terms: Iterable<Term>): Poly {
  const byKey = new Map<string, { coefficient: bigint; symbols: readonly Sym[] }>();
  for (const { coefficient, symbols } of terms) {
    const sorted = [...symbols].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    const key = keyOf(sorted);
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, { coefficient, symbols: sorted });
    else known.coefficient += coefficient;
  }
  return [...byKey].filter(([, term]) => term.coefficient !== 0n).sort(([a], [b]) => (a < b ? -1 : 1)).map(([, term]) => term);
}

/** What the texts of the symbols are made of. */
export function namesOf(...polys: readonly Poly[]): readonly Written[] {
  return polys.flatMap((poly) => symbolsOf(poly).flatMap((sym) => sym.names));
}

export function constant(value: bigint): Poly {
  return value === 0n ? ZERO : [{ coefficient: value, symbols: [] }];
}

export function symbol(sym: Sym): Poly {
  return [{ coefficient: 1n, symbols: [sym] }];
}

export function add(a: Poly, b: Poly): Poly {
  return normal([...a, ...b]);
}

export function negate(a: Poly): Poly {
  return a.map(({ coefficient, symbols }) => ({ coefficient: -coefficient, symbols }));
}

export function subtract(a: Poly, b: Poly): Poly {
  return add(a, negate(b));
}

export function multiply(a: Poly, b: Poly): Poly {
  return normal(a.flatMap((x) => b.map((y) => ({ coefficient: x.coefficient * y.coefficient, symbols: [...x.symbols, ...y.symbols] }))));
}

/** The value of a polynomial without symbols; null if it has some. */
export function constantValue(a: Poly): bigint | null {
  if (a.length === 0) return 0n;
  const [term] = a;
  return a.length === 1 && term !== undefined && term.symbols.length === 0 ? term.coefficient : null;
}

/** Known when the program is compiled: numbers and names of constants. */
export function isConstant(a: Poly): boolean {
  return a.every(isConstantTerm);
}

export function isConstantTerm({ symbols }: Term): boolean {
  return symbols.every((sym) => sym.constant === true);
}

export function equal(a: Poly, b: Poly): boolean {
  return subtract(a, b).length === 0;
}

export function symbolsOf(a: Poly): readonly Sym[] {
  const byKey = new Map<string, Sym>();
  for (const term of a) for (const sym of term.symbols) byKey.set(sym.key, sym);
  return [...byKey.values()];
}

/** `a` as `coefficient * sym + rest`; null if `sym` occurs in a higher power. */
export function linearIn(a: Poly, sym: Sym): { readonly coefficient: Poly; readonly rest: Poly } | null {
  const coefficient: Term[] = [];
  const rest: Term[] = [];
  for (const term of a) {
    const count = term.symbols.filter((other) => other.key === sym.key).length;
    if (count > 1) return null;
    if (count === 0) rest.push(term);
    else coefficient.push({ coefficient: term.coefficient, symbols: term.symbols.filter((other) => other.key !== sym.key) });
  }
  return { coefficient: normal(coefficient), rest: normal(rest) };
}

export interface Interval { readonly low: bigint; readonly high: bigint }

/** Smallest and largest value that interval arithmetic allows, with constants of several values taken out of the sums they stand in. */
export function interval(a: Poly): Interval {
  let { low, high } = plainInterval(a);
  for (const sym of a.length < 2 ? [] : symbolsOf(a)) {
    if (sym.constant !== true || sym.low === sym.high || a.filter((term) => term.symbols.some((other) => other.key === sym.key)).length < 2) continue;
    const split = linearIn(a, sym);
    if (split === null) continue;
    // `T * B - B` is `(T - 1) * B`, which says more about its sign.
    const [product, rest] = [times(interval(split.coefficient), sym), interval(split.rest)];
    if (product.low + rest.low > low) low = product.low + rest.low;
    if (product.high + rest.high < high) high = product.high + rest.high;
  }
  return { low, high };
}

function plainInterval(a: Poly): Interval {
  let low = 0n;
  let high = 0n;
  for (const term of a) {
    let product: Interval = { low: term.coefficient, high: term.coefficient };
    for (const sym of term.symbols) product = times(product, sym);
    low += product.low;
    high += product.high;
  }
  return { low, high };
}

function times(a: Interval, b: Interval): Interval {
  const products = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
  return {
    low: products.reduce((x, y) => (x < y ? x : y)),
    high: products.reduce((x, y) => (x > y ? x : y)),
  };
}

/**
 * The smallest (`low`) or largest (`high`) value of `a` over all values of the symbols that `free` picks, each within its extent and
 * all independent. The result holds none of them. Null if the sign of a coefficient, or an extent, is not known.
 */
export function extreme(a: Poly, end: 'low' | 'high', free: (sym: Sym) => boolean): Poly | null {
  let current = a;
  // Extents of inner counters may hold outer ones, so this repeats; each round removes a symbol that no remaining extent brings back.
  for (let round = 0; round < 16; round++) {
    const candidates = symbolsOf(current).filter(free);
    const next = candidates.find((sym) => !candidates.some((other) => other !== sym && other.extent !== null && mentions(other, sym)));
    if (next === undefined) return candidates.length === 0 ? current : null;
    if (next.extent === null) return null;
    const split = linearIn(current, next);
    if (split === null) return null;
    const sign = interval(split.coefficient);
    if (sign.low < 0n && sign.high > 0n) return null;
    // A coefficient that varies with the threads itself is not linear in them.
    if (symbolsOf(split.coefficient).some(free)) return null;
    const upwards = sign.low >= 0n;
    const value = upwards === (end === 'high') ? next.extent.high : next.extent.low;
    current = add(split.rest, multiply(split.coefficient, value));
  }
  return null;
}

function mentions(outer: Sym, sym: Sym): boolean {
  if (outer.extent === null) return false;
  return [...symbolsOf(outer.extent.low), ...symbolsOf(outer.extent.high)].some((other) => other.key === sym.key);
}
