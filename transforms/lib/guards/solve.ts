/**
 * Solves a guard for the counter of a loop.
 *
 * A comparison of sums is brought to `E < 0`. With `E = a*t + r` and `a` of known sign it changes, for one thread, at the smallest t
 * with `|a|*t >= level`. Over all threads of the block (and all iterations of loops inside) the level lies between two values that are
 * the same for the whole block; below the lower one the guard has one value for every thread, from the upper one on the other.
 *
 * Under such a claim the C++ comparison must be the mathematical one. The claim itself orders the two sides, so only the outer ends are
 * left to ranges: the smaller side must not lie below its type, the larger one not above it.
 */
import { commonType, maximum, minimum, type IntegerType } from '../../../src/cuda/integers.js';
import type { Expr } from '../../../src/syntax/tree.js';
import { add, constant, extreme, interval, linearIn, negate, subtract, symbolsOf, type Poly, type Sym } from './polynomial.js';
import type { Comparison, ComparisonOperator } from './guards.js';
import type { Reader, Reading } from './reading.js';
import { isCounted, isFalling } from './values.js';
import type { Change } from './bound.js';

/** What a claim still needs so that the C++ comparison is the mathematical one: `poly < 0`. */
export interface End {
  readonly poly: Poly;
  /** Only a grid that 32 bits cannot count could break it. */
  readonly index: boolean;
  /** The lower end of an unsigned type: `(unsigned)j < n` says `j >= 0` too, so it may be demanded. */
  readonly demandable: boolean;
}

/** `whenNegative` is the value that `poly < 0` gives the comparison. */
export interface Form {
  readonly poly: Poly;
  readonly whenNegative: boolean;
  /** Needs of the claim `poly < 0`, and of `poly >= 0`. */
  readonly negative: readonly End[];
  readonly other: readonly End[];
  /** True if a side was read so only because indices do not wrap. */
  readonly assumed: boolean;
}

/** Both sides of a comparison in their common type. */
interface Sides { readonly left: Reading; readonly right: Reading; readonly difference: Poly; readonly op: ComparisonOperator }

function sidesOf(reader: Reader, comparison: Comparison): Sides | null {
  const left = reader.read(comparison.left);
  if (left === null) return null;
  const right = reader.read(comparison.right);
  if (right === null) return null;
  const type = commonType(left.type, right.type);
  const [a, b] = [reader.convert(left, type, comparison.left), reader.convert(right, type, comparison.right)];
  if (a === null || b === null) return null;
  return { left: a, right: b, difference: subtract(a.poly, b.poly), op: comparison.op };
}

/** `poly < 0` forms of `<`, `<=`, `>`, `>=`; for `==` and `!=` the two one-sided claims. Null if it cannot be read. */
export function formsOf(reader: Reader, comparison: Comparison): { readonly kind: 'one'; readonly form: Form } | { readonly kind: 'two'; readonly below: Form; readonly above: Form } | null {
  const sides = sidesOf(reader, comparison);
  if (sides === null) return null;
  const { left, right, difference, op } = sides;
  const type = left.type;
  const assumed = left.assumed || right.assumed;
  const needs: readonly End[] = [...left.needs ?? [], ...right.needs ?? []].map((need) => ({ ...need, demandable: false }));
  const leftSmaller = [...endsOf(left, right, type), ...needs];
  const rightSmaller = [...endsOf(right, left, type), ...needs];
  const less = (poly: Poly, whenNegative: boolean): Form => ({ poly, whenNegative, negative: leftSmaller, other: rightSmaller, assumed });
  switch (op) {
    case '<': return { kind: 'one', form: less(difference, true) };
    case '>=': return { kind: 'one', form: less(difference, false) };
    case '<=': return { kind: 'one', form: less(subtract(difference, constant(1n)), true) };
    case '>': return { kind: 'one', form: less(subtract(difference, constant(1n)), false) };
    case '==': case '!=': {
      const equalValue = op === '==';
      // Below: difference < 0, so not equal. Above: difference - 1 >= 0, so not equal either.
      return { kind: 'two', below: less(difference, !equalValue), above: less(subtract(difference, constant(1n)), equalValue) };
    }
  }
}

/** Needs of the claim that `small <= large` in mathematical integers: the claim itself keeps both sides from the inner ends. */
function endsOf(small: Reading, large: Reading, type: IntegerType): readonly End[] {
  const ends: End[] = [];
  if (!small.exact && interval(small.poly).low < minimum(type)) {
    // Below zero an unsigned number does wrap around, and a counter that falls may pass the lower end: that is never assumed away.
    ends.push({ poly: subtract(constant(minimum(type) - 1n), small.poly), index: type.signed && small.index === true && !isFalling(small.poly), demandable: !type.signed });
  }
  if (!large.exact && interval(large.poly).high > maximum(type)) {
    ends.push({ poly: subtract(large.poly, constant(maximum(type) + 1n)), index: large.index === true && (type.signed || !isCounted(large.poly)), demandable: false });
  }
  return ends;
}

/** Where the counter makes `E < 0` change, over the block. */
export interface Edge {
  /** For every thread, below: `t < first` in the units of `divisor`. */
  readonly first: Change;
  /** For every thread, from here on. */
  readonly last: Change;
  /** The value of the comparison below `first`; from `last` on it is the opposite. */
  readonly valueBelow: boolean;
  /** Needs of the claim below `first`, and from `last` on. */
  readonly endsBelow: readonly End[];
  readonly endsAbove: readonly End[];
  /** What is below zero while the claim below (or above) holds. */
  readonly factBelow: Poly;
  readonly factAbove: Poly;
  readonly assumed: boolean;
}

/** Symbols that a level is freed from. */
export function varies(sym: Sym): boolean {
  return sym.role === 'thread' || sym.role === 'inner';
}

export type EdgeResult = { readonly edge: Edge } | { readonly problem: string };

/** Solves a form for the counter; the problem in words if it is not linear, or a sign or an extent is not known. */
export function edgeOf(form: Form, counter: Sym): EdgeResult {
  const split = linearIn(form.poly, counter);
  if (split === null) return { problem: 'the counter is multiplied by itself' };
  const sign = interval(split.coefficient);
  if (sign.low <= 0n && sign.high >= 0n) return { problem: 'the sign of the factor of the counter is not known' };
  const up = sign.low > 0n;
  const divisor = up ? split.coefficient : negate(split.coefficient);
  if (symbolsOf(divisor).some((sym) => sym.role !== 'uniform')) return { problem: 'the factor of the counter differs between threads' };
  const level = up ? negate(split.rest) : add(split.rest, constant(1n));
  const [low, high] = [extreme(level, 'low', varies), extreme(level, 'high', varies)];
  if (low === null || high === null) return { problem: 'its smallest and largest value over the block cannot be found' };
  if (symbolsOf(low).some((sym) => sym.key === counter.key) || symbolsOf(high).some((sym) => sym.key === counter.key)) return { problem: 'an inner loop runs as far as the counter' };
  return {
    edge: {
      first: { level: low, divisor }, last: { level: high, divisor },
      valueBelow: up === form.whenNegative,
      endsBelow: up ? form.negative : form.other, endsAbove: up ? form.other : form.negative,
      factBelow: up ? form.poly : opposite(form.poly), factAbove: up ? opposite(form.poly) : form.poly,
      assumed: form.assumed,
    },
  };
}

/** `poly >= 0` as something below zero. */
export function opposite(poly: Poly): Poly {
  return subtract(negate(poly), constant(1n));
}

/** The reading of a loop's test as `poly < 0`, if it is one exact comparison. */
export function testForm(reader: Reader, test: Expr): Poly | null {
  let inner = test;
  while (inner.kind === 'paren') inner = inner.inner;
  if (inner.kind !== 'binary' || !['<', '<=', '>', '>='].includes(inner.op)) return null;
  const forms = formsOf(reader, inner as Comparison);
  if (forms === null || forms.kind !== 'one') return null;
  const { form } = forms;
  // The test is known to hold, not claimed: both sides must be their C++ values without it.
  const sides = sidesOf(reader, inner as Comparison);
  if (sides === null || !sides.left.exact || !sides.right.exact || sides.left.assumed || sides.right.assumed || hasNeeds(sides.left) || hasNeeds(sides.right)) return null;
  return form.whenNegative ? form.poly : opposite(form.poly);
}

function hasNeeds({ needs }: Reading): boolean {
  return needs !== undefined && needs.length > 0;
}

/** True if `poly < 0` follows from one of the facts (each a polynomial below zero). */
export function follows(poly: Poly, facts: readonly Poly[]): boolean {
  return interval(poly).high < 0n || facts.some((fact) => interval(subtract(poly, fact)).high <= 0n);
}
