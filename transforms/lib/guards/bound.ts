/**
 * From what a guard demands to the C++ expression that a run is bounded by.
 *
 * A guard changes at the smallest `t >= 0` with `a*t >= S`, S being one value in the block. With `S = P - Q` (P the positive terms)
 * that is `P > Q ? P - Q : 0` for steps of one, else `P >= R ? (P - R) / a + 1 : 0` with `R = Q + 1`: tested before it is subtracted, in
 * the narrowest type in which no part can leave its range whatever the symbols are. Of several guards on one side the nearest
 * change counts.
 */
import { fits, maximum, minimum, promote, type IntegerType } from '../../../src/cuda/integers.js';
import { unreachable } from '../../../src/syntax/tree.js';
import { binary, INT32, INT64, number, print, typeOf, UINT32, UINT64, type Cpp } from './cpp.js';
import { add, constant, constantValue, equal, interval, isConstant, isConstantTerm, linearIn, negate, subtract, symbolsOf, type Poly, type Sym, type Term } from './polynomial.js';

/** `divisor * t >= level`; the divisor is positive. Neither holds a symbol that varies in the block, unless it is the thread's own. */
export interface Change {
  readonly level: Poly;
  readonly divisor: Poly;
}

export interface Declaration { readonly name: string; readonly value: Cpp }

export interface Bound {
  /** Constants that must stand before the one that uses them. */
  readonly declarations: readonly Declaration[];
  readonly value: Cpp;
}

/** Makes a name from a wish. */
export type Namer = (wish: string) => string;

/**
 * One bound for all changes: `nearest` their smallest, else their largest. Null if no type of C++ holds it. With `clamp` the bound is
 * at least zero, which is the same for a counter that never is below zero; without, only steps of one can be written. `known` are
 * constants that stand there already.
 */
export function boundOf(changes: readonly Change[], nearest: boolean, name: Namer, clamp = true, known: readonly Declaration[] = []): Bound | null {
  const kept = dropDominated(changes, nearest);
  const declarations: Declaration[] = [...known];
  let value: Cpp | null = null;
  for (const group of groupBySum(kept)) {
    const part = groupBound(group, nearest, name, declarations, clamp);
    if (part === null) return null;
    if (value === null) value = part;
    else {
      const [a, b] = [typeOf(value), typeOf(part)];
      if (a.bits !== b.bits || a.signed !== b.signed) {
        if (!fitsType(a, INT64) || !fitsType(b, INT64)) return null;
        value = { kind: 'extreme', op: nearest ? 'min' : 'max', left: cast(value, INT64), right: cast(part, INT64) };
      } else {
        value = { kind: 'extreme', op: nearest ? 'min' : 'max', left: value, right: part };
      }
    }
  }
  return value === null ? null : { declarations: declarations.slice(known.length), value };
}

function fitsType(inner: IntegerType, outer: IntegerType): boolean {
  return fits(minimum(inner), outer) && fits(maximum(inner), outer);
}

/** Changes that never decide because another one always comes first (or last) are left out. */
function dropDominated(changes: readonly Change[], nearest: boolean): readonly Change[] {
  const kept: Change[] = [];
  for (const change of changes) {
    const beats = (a: Change, b: Change): boolean => {
      if (!equal(a.divisor, b.divisor)) return false;
      const difference = interval(nearest ? subtract(a.level, b.level) : subtract(b.level, a.level));
      return difference.high <= 0n;
    };
    if (kept.some((other) => beats(other, change))) continue;
    for (let i = kept.length - 1; i >= 0; i--) {
      const other = kept[i];
      if (other !== undefined && beats(change, other)) kept.splice(i, 1);
    }
    kept.push(change);
  }
  return kept;
}

interface Sides { readonly plus: Poly; readonly minus: Poly }

/** `level = plus - minus`: positive terms on the left; the constant goes to the right unless nothing else stands on the left. */
function sidesOf(level: Poly): Sides {
  const plus = level.filter((term) => term.coefficient > 0n && !isConstantTerm(term));
  const named = level.filter((term) => isConstantTerm(term));
  if (plus.length === 0 && !named.every((term) => term.symbols.length === 0)) {
    const kept = interval(named).low >= 0n ? named : named.filter((term) => term.coefficient > 0n && term.symbols.length > 0);
    return { plus: kept, minus: negate(level.filter((term) => !kept.includes(term))) };
  }
  if (plus.length === 0) {
    const fixed = level.filter((term) => term.symbols.length === 0 && term.coefficient > 0n);
    return { plus: fixed, minus: negate(level.filter((term) => !fixed.includes(term))) };
  }
  return { plus, minus: negate(level.filter((term) => !plus.includes(term))) };
}

interface Group { readonly plus: Poly; readonly minus: readonly Poly[]; readonly divisor: Poly }

function groupBySum(changes: readonly Change[]): readonly Group[] {
  const groups: { plus: Poly; minus: Poly[]; divisor: Poly }[] = [];
  for (const { level, divisor } of changes) {
    const { plus, minus } = sidesOf(level);
    const group = groups.find((other) => equal(other.plus, plus) && equal(other.divisor, divisor));
    if (group === undefined) groups.push({ plus, minus: [minus], divisor });
    else group.minus.push(minus);
  }
  return groups;
}

function groupBound(group: Group, nearest: boolean, name: Namer, declarations: Declaration[], clamp: boolean): Cpp | null {
  const fixed = group.minus.length === 1 && group.minus[0] !== undefined ? constantValue(subtract(group.plus, group.minus[0])) : null;
  const divisorValue = constantValue(group.divisor);
  if (fixed !== null && divisorValue === 1n) return fits(fixed, INT64) ? number(clamp && fixed < 0n ? 0n : fixed) : null;
  if (fixed !== null && divisorValue !== null && (clamp || fixed > 0n)) return number(fixed <= 0n ? 0n : (fixed - 1n) / divisorValue + 1n);
  if (clamp && divisorValue === 1n && group.minus.every((minus) => interval(subtract(group.plus, minus)).high <= 0n)) return number(0n);
  if (!clamp) return divisorValue === 1n ? unclamped(group, nearest) : null;

  // Without division the change itself; with it the last place before the change.
  const minus = divisorValue === 1n ? group.minus : group.minus.map((poly) => add(poly, constant(1n)));
  // A divisor that may be one leaves room for the one that is added.
  const highest = divisorValue !== 1n && interval(group.divisor).low < 2n ? 1n : 0n;
  const reachLow = minus.map((poly) => interval(poly).low).reduce((a, b) => (a < b ? a : b));
  const plusRange = interval(group.plus);
  for (const type of [INT32, UINT32, INT64, UINT64] as const) {
    const divisor = type.signed ? sumIn(group.divisor, type) : sumIn(group.divisor, UINT32) ?? sumIn(group.divisor, INT32);
    if (divisor === null) continue;
    if (!type.signed) {
      // An unsigned length keeps its own type if nothing on the other side is negative.
      const sym = loneSymbol(group.plus);
      if (sym === null || sym.type.signed || sym.type.bits !== type.bits || reachLow < 0n || highest > 0n) continue;
      // Of the same sign as what it is compared with.
      const reach = extremeIn(minus, UINT32, nearest) ?? extremeIn(minus, INT32, nearest) ?? (type.bits === 64 ? extremeIn(minus, INT64, nearest) : null);
      if (reach !== null) return quotient({ kind: 'symbol', sym }, reach, divisor, divisorValue, false, name, declarations);
      continue;
    }
    const plus = sumIn(group.plus, type);
    const reach = extremeIn(minus, type, nearest);
    const differences = minus.map((poly) => interval(subtract(group.plus, poly)));
    const positive = differences.every(({ low, high }) => low >= 0n && high <= maximum(type));
    if (plus === null || reach === null || (!positive && !fits(plusRange.high - reachLow + highest, type))) continue;
    // One wide side is enough: the other converts to it.
    const lone = loneSymbol(group.plus);
    const shortPlus: Cpp = lone !== null && type.bits === 64 && typeOf(reach).bits === 64 && lone.type.bits < 64 ? { kind: 'symbol', sym: lone } : plus;
    return quotient(shortPlus, reach, divisor, divisorValue, positive, name, declarations);
  }
  return null;
}

/** `plus - minus` in a type that holds it for all values of the symbols. */
function unclamped(group: Group, nearest: boolean): Cpp | null {
  const ranges = group.minus.map((minus) => interval(subtract(group.plus, minus)));
  for (const type of [INT32, INT64] as const) {
    const plus = sumIn(group.plus, type);
    const minus = extremeIn(group.minus, type, nearest);
    if (plus === null || minus === null || !ranges.every((range) => fits(range.low, type) && fits(range.high, type))) continue;
    if (minus.kind === 'number' && minus.value === 0n) return plus;
    return minus.kind === 'number' && minus.value < 0n ? binary('+', plus, number(-minus.value)) : binary('-', plus, minus);
  }
  return null;
}

function loneSymbol(poly: Poly): Sym | null {
  const [only] = poly;
  if (poly.length !== 1 || only === undefined || only.coefficient !== 1n || only.symbols.length !== 1) return null;
  return only.symbols[0] ?? null;
}

function quotient(plus: Cpp, minus: Cpp, divisor: Cpp, divisorValue: bigint | null, positive: boolean, name: Namer, declarations: Declaration[]): Cpp {
  let reach = minus;
  if (isComplex(minus) && !positive) {
    const text = print(minus);
    const same = declarations.find((declared) => print(declared.value) === text);
    reach = { kind: 'name', name: same?.name ?? name('reach'), value: minus };
    if (same === undefined) declarations.push({ name: reach.name, value: minus });
  }
  const difference = reach.kind === 'number' && reach.value === 0n ? plus : reach.kind === 'number' && reach.value < 0n ? binary('+', plus, number(-reach.value)) : binary('-', plus, reach);
  const last = divisorValue === 1n ? difference : binary('+', binary('/', difference, divisor), number(1n));
  if (positive) return last;
  if (divisorValue === 1n) return { kind: 'positive', op: '>', left: plus, right: reach, then: difference };
  return { kind: 'positive', op: '>=', left: plus, right: reach, then: last };
}

function isComplex(expr: Cpp): boolean {
  return expr.kind === 'extreme' || expr.kind === 'binary' || (expr.kind === 'symbol' && !/^[\w.]+$/.test(expr.sym.text));
}

/** The largest of the polynomials (nearest change), or the smallest, with their common terms taken out. */
function extremeIn(polys: readonly Poly[], type: IntegerType, largest: boolean): Cpp | null {
  const [first, ...others] = polys;
  if (first === undefined) return null;
  if (others.length === 0) return sumIn(first, type);
  const common: Poly = first.filter((term) => others.every((other) => other.some((t) => sameTerm(t, term))));
  const rests = polys.map((poly) => subtract(poly, common));
  const lone = rests.map(loneSymbol);
  const kind = lone[0]?.type;
  // Operands of one type need no conversion before they are compared.
  const alike = kind !== undefined && lone.every((sym) => sym !== null && sym.type.bits === kind.bits && sym.type.signed === kind.signed);
  let value: Cpp | null = null;
  for (const [i, poly] of polys.entries()) {
    const rest = rests[i];
    const sym = lone[i] ?? null;
    if (rest === undefined || sumIn(poly, type) === null) return null;
    const part: Cpp | null = alike && sym !== null ? { kind: 'symbol', sym } : inType(sumIn(rest, type), type);
    if (part === null) return null;
    value = value === null ? part : { kind: 'extreme', op: largest ? 'max' : 'min', left: value, right: part };
  }
  return value === null ? null : addTerms(inType(value, type), common, type);
}

function inType(expr: Cpp | null, type: IntegerType): Cpp | null {
  if (expr === null) return null;
  const own = typeOf(expr);
  return own.bits === type.bits && own.signed === type.signed ? expr : cast(expr, type);
}

function sameTerm(a: Term, b: Term): boolean {
  return a.coefficient === b.coefficient && a.symbols.length === b.symbols.length && a.symbols.every((sym, i) => sym.key === b.symbols[i]?.key);
}

function cast(operand: Cpp, to: IntegerType): Cpp {
  return { kind: 'cast', to, operand };
}

/** A sum of products, every part of which fits `type` for all values of its symbols; null if some part does not. */
export function sumIn(poly: Poly, type: IntegerType): Cpp | null {
  const value = constantValue(poly);
  if (value !== null) return fits(value, type) ? number(value) : null;
  return addTerms(null, poly, type);
}

/** Products first: they bring the type along, so that what is added to them converts by itself. */
function addTerms(start: Cpp | null, poly: Poly, type: IntegerType): Cpp | null {
  const wide = (term: Term): boolean => term.symbols.length > 1 || term.coefficient > 1n || (term.symbols[0]?.type.bits === type.bits && term.symbols[0].type.signed);
  // Where the block begins comes first.
  const begins = (term: Term): boolean => term.symbols.some(({ key }) => key.startsWith('blockIdx.') || key.startsWith('base.'));
  const rank = (term: Term): number => (term.symbols.length === 0 ? 4 : (term.coefficient < 0n ? 2 : 0) + (wide(term) ? 0 : 1) - (begins(term) ? 0.5 : 0));
  const named = poly.some((term) => term.symbols.length > 0 && isConstantTerm(term));
  const ordered = poly.filter((term) => !named || !isConstantTerm(term)).sort((a, b) => rank(a) - rank(b));
  let sum = start;
  let seen: Poly = [];
  for (const term of ordered) {
    const size = term.coefficient < 0n ? -term.coefficient : term.coefficient;
    const negative = term.coefficient < 0n;
    const part = productIn(size, term.symbols, type, sum !== null && typeOf(sum).bits === type.bits && typeOf(sum).signed);
    seen = add(seen, [term]);
    const range = interval(seen);
    if (part === null || (start === null && (!fits(range.low, type) || !fits(range.high, type)))) return null;
    if (sum === null) sum = negative ? (part.kind === 'number' ? number(-part.value) : binary('-', number(0n), part)) : part;
    else sum = binary(negative ? '-' : '+', sum, part);
  }
  return named ? addConstants(sum, seen, poly.filter(isConstantTerm), type, start !== null) : sum ?? number(0n);
}

/** Constants with names stand last, common factors taken out: `i + (tile - 1) * block`. `seen` is what stands before them. */
function addConstants(start: Cpp | null, before: Poly, poly: Poly, type: IntegerType, checked: boolean): Cpp | null {
  let sum = start;
  let seen = before;
  for (const part of partsOf(poly)) {
    const range = interval(part);
    const negative = range.high <= 0n || (range.low < 0n && part.every((term) => term.coefficient < 0n));
    const size = negative ? negate(part) : part;
    // What follows converts to the type of what stands before it.
    const alone = part.length === poly.length && sum === null;
    const text = (sum !== null || alone ? constantsIn(size, INT32) : null) ?? constantsIn(size, type);
    seen = add(seen, part);
    const whole = interval(seen);
    if (text === null || (!checked && (!fits(whole.low, type) || !fits(whole.high, type)))) return null;
    if (sum === null) sum = negative ? (text.kind === 'number' ? number(-text.value) : binary('-', number(0n), text)) : text;
    else sum = binary(negative ? '-' : '+', sum, text);
  }
  return sum ?? number(0n);
}

/** Terms with a common name together, positive ones first, the number last. */
function partsOf(poly: Poly): readonly Poly[] {
  const parts: Poly[] = [];
  let rest = poly;
  for (;;) {
    const sym = sharedSymbol(rest);
    const split = sym === null ? null : linearIn(rest, sym);
    if (sym === null || split === null) break;
    parts.push(rest.filter((term) => term.symbols.some((other) => other.key === sym.key)));
    rest = split.rest;
  }
  parts.push(...rest.map((term) => [term]));
  const rank = (part: Poly): number => (part.every((term) => term.symbols.length === 0) ? 2 : interval(part).high <= 0n ? 1 : 0);
  return parts.sort((a, b) => rank(a) - rank(b));
}

/** The symbol that most terms hold, if at least two do. */
function sharedSymbol(poly: Poly): Sym | null {
  let best: Sym | null = null;
  let most = 1;
  for (const sym of symbolsOf(poly)) {
    const count = poly.filter((term) => term.symbols.some((other) => other.key === sym.key)).length;
    if (count > most && linearIn(poly, sym) !== null) [best, most] = [sym, count];
  }
  return best;
}

/** A product, or a sum with a common factor, in a type that all of its parts fit. */
function constantsIn(poly: Poly, type: IntegerType): Cpp | null {
  const [only] = poly;
  if (only === undefined) return number(0n);
  if (poly.length === 1) return only.coefficient < 0n ? null : productIn(only.coefficient, only.symbols, type, false);
  const sym = sharedSymbol(poly);
  const split = sym === null ? null : linearIn(poly, sym);
  if (sym === null || split === null || split.rest.length > 0) return null;
  const inner = sumIn(split.coefficient, type);
  const range = interval(poly);
  const factor = productIn(1n, [sym], type, true);
  if (inner === null || factor === null || !fits(range.low, type) || !fits(range.high, type)) return null;
  const own = typeOf(inner);
  return binary('*', own.bits === type.bits && own.signed === type.signed ? inner : cast(inner, type), factor);
}

/** `converts`: what stands before it is of `type`, so that a single narrower symbol needs no cast. */
function productIn(coefficient: bigint, symbols: readonly Sym[], type: IntegerType, converts: boolean): Cpp | null {
  if (symbols.length === 0) return fits(coefficient, type) ? number(coefficient) : null;
  let product: Cpp | null = null;
  let range = { low: 1n, high: 1n };
  // The size of a block comes last: blockIdx.x * blockDim.x.
  const rank = (sym: Sym): number => (sym.constant === true ? 2 : Number(sym.key.startsWith('blockDim')));
  const ordered = [...symbols].sort((a, b) => rank(a) - rank(b));
  for (const [i, sym] of ordered.entries()) {
    if (!fits(sym.low, type) || !fits(sym.high, type)) return null;
    const own = promote(sym.type);
    const same = own.bits === type.bits && own.signed === type.signed;
    // By itself, or times a number that its own type holds too, it converts to what stands before it.
    const alone = ordered.length === 1 && (coefficient === 1n || (fits(coefficient, own) && fits(sym.low * coefficient, own) && fits(sym.high * coefficient, own)));
    const bare: boolean = same || (own.bits < type.bits && (product !== null || (converts && alone)));
    const factor: Cpp = bare ? { kind: 'symbol', sym } : cast({ kind: 'symbol', sym }, type);
    range = interval([{ coefficient: 1n, symbols: ordered.slice(0, i + 1) }]);
    if (!fits(range.low, type) || !fits(range.high, type)) return null;
    product = product === null ? factor : binary('*', product, factor);
  }
  if (product === null) return null;
  if (coefficient === 1n) return product;
  if (!fits(range.low * coefficient, type) || !fits(range.high * coefficient, type) || !fits(coefficient, type)) return null;
  return binary('*', product, number(coefficient));
}

export interface Inequality { readonly left: Cpp; readonly op: '<' | '<='; readonly right: Cpp }

/** `poly < 0` as C++ that cannot overflow; null if no type holds it. `wide`: sums are taken in 64 bits where 32 would do too. */
export function lessThanZero(poly: Poly, wide = false): Inequality | null {
  const fixed = poly.find((term) => term.symbols.length === 0)?.coefficient ?? 0n;
  // `x >= 2` rather than `x > 1`, `x + R <= n` rather than `x + R - 1 < n`.
  const inclusive = fixed === -1n || (fixed > 0n && poly.every((term) => term.symbols.length === 0 || term.coefficient < 0n));
  const op = inclusive ? '<=' : '<';
  const whole = inclusive ? add(poly, constant(1n)) : poly;
  const { left, right } = sidesOfTest(whole);
  const [a, b] = [narrowest(left, wide), narrowest(right, wide)];
  if (a !== null && b !== null) return { left: a, op, right: b };
  // An unsigned 64-bit length on the right; everything on the left is at least zero.
  const [only] = right;
  const [sym] = only?.symbols ?? [];
  if (right.length === 1 && only !== undefined && only.coefficient === 1n && only.symbols.length === 1 && sym !== undefined && !sym.type.signed && interval(left).low >= 0n) {
    const other = sumIn(left, INT64);
    if (other !== null) return { left: other, op, right: { kind: 'symbol', sym } };
  }
  return null;
}

/** `left < right`: positive terms on the left; constants with names together, on the side where they are positive. */
function sidesOfTest(poly: Poly): { readonly left: Poly; readonly right: Poly } {
  const left = poly.filter((term) => term.coefficient > 0n);
  const right = negate(poly.filter((term) => term.coefficient < 0n));
  const constants = poly.filter(isConstantTerm);
  if (constants.every((term) => term.symbols.length === 0)) return { left, right };
  const [before, behind] = [left.filter((term) => !isConstantTerm(term)), right.filter((term) => !isConstantTerm(term))];
  const { low, high } = interval(constants);
  const over = high <= 0n || (low < 0n && behind.length === 0);
  return over ? { left: before, right: add(behind, negate(constants)) } : { left: add(before, constants), right: behind };
}

/** The sum in `int` if that holds it, else in `long long`; signed in any case, so that two of them compare as mathematics does. */
function narrowest(poly: Poly, wide: boolean): Cpp | null {
  const lone = loneSymbol(poly);
  // A narrower unsigned symbol needs a cast before it meets a signed one.
  if (lone !== null && lone.type.signed && lone.type.bits <= 64) return { kind: 'symbol', sym: lone };
  return (wide && !isConstant(poly) ? null : sumIn(poly, INT32)) ?? sumIn(poly, INT64);
}

/** A sum is widened to 64 bits: those beside it are too, so that like tests look alike. */
export function isWide({ left, right }: Inequality): boolean {
  return isWidened(left) || isWidened(right);
}

function isWidened(expr: Cpp): boolean {
  switch (expr.kind) {
    case 'number': case 'symbol': case 'name': return false;
    case 'cast': return expr.to.bits === 64;
    case 'binary': case 'extreme': case 'positive': return isWidened(expr.left) || isWidened(expr.right);
    default: return unreachable(expr);
  }
}
