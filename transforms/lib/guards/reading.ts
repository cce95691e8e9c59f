/**
 * Reads a side of a guard as a polynomial whose symbols are the loop's counter, counters of loops inside it, thread coordinates, and
 * values that do not change while the loop runs.
 *
 * Values that are one in the block and stand in a variable keep its name (the bound is then written in the programmer's words, and
 * wrap-around inside it is no matter); what differs between threads is followed to its definition until it is a sum of products of
 * coordinates. All steps are additions, subtractions, multiplications and conversions to at least 32 bits, so the C++ value equals
 * the polynomial modulo 2^bits of its type even where it wraps; `exact` tells that it does not wrap.
 *
 * Not followed: loads, calls, variables with several definitions, divisions of anything but thread coordinates.
 */
import { commonType, fits, INT32, maximum, minimum, promote, type IntegerType } from '../../../src/cuda/integers.js';
import { isStmt, walk } from '../../../src/analysis/children.js';
import { convertRange } from '../../../src/analysis/ranges.js';
import { lanesOfWarp } from '../../../src/analysis/platform.js';
import { atLeast, type FunctionFacts, type Loop, type Scope, type Variable, type Verdict } from '../../../src/analysis/facts.js';
import { unreachable, type Decl, type Expr, type MacroExpr, type RefExpr } from '../../../src/syntax/tree.js';
import { declarationsVisibleAt } from '../common-obligations.js';
import { describeLoop } from '../loops.js';
import { BINDING, bindingOf } from '../operands.js';
import { codeOnly } from '../text.js';
import { mayBeUnset } from '../unset.js';
import { ConstantSymbols } from './constant-symbols.js';
import { print } from './cpp.js';
import { isPlainNumber, LARGEST_INT } from './differences.js';
import { passingOf } from './ends.js';
import { sumIn } from './bound.js';
import { coordinate, exactly, holdsTruth, integerType, isCoordinate, isCounted, isIndex, isSumOfCoordinates, isThread, isThreadsOwn, keyOf, variableKey, within, type Reading } from './values.js';
import { add, constant, constantValue, extreme, interval, isConstant, multiply, negate, subtract, symbol, symbolsOf, type Poly, type Sym } from './polynomial.js';

export interface Unreadable {
  readonly node: Expr;
  readonly reason: string;
  /** The obligation that stands unproved because of it. */
  readonly id: 'guard-exact' | 'bound-exact' | 'types-known' | 'operands-invariant';
}

/** A reader for one loop. `counter` is the variable that the loop counts by, if that is already known. */
export class Reader {
  /** Why the last reading failed. */
  failure: Unreadable | null = null;
  /** Assumptions under which the values that were written down are one in the block. */
  readonly under = new Set<string>();
  /** True once a range was taken for granted that sums of block and thread numbers have only if they do not wrap around (grant `index-range`). */
  leansOnIndexRange = false;
  /** Keys of names that hold such sums. */
  private readonly indices = new Set<string>();
  private readonly visible: ReadonlySet<Decl>;
  /** Not null while an initialiser from in front of the loop is read: what it names must not have changed since. */
  private since: Variable | null = null;
  private readonly freeOfLaunch = new Map<Expr, boolean>();
  /** Variables whose initialisers are being followed. */
  private readonly following = new Set<Variable>();
  private readonly symbols = new Map<string, Sym>();
  private readonly constants: ConstantSymbols;
  /** For a reader of one lane's values: the scope of each symbol, by key. */
  readonly scopes = new Map<string, Scope>();

  /**
   * `lane`: what is read is a value of one lane. Whatever the lane can name in front of the loop keeps its name, and is not followed to the
   * coordinates of the block. `rises`: the counter moves up without passing the end of its type; `round` if it may start below zero in a type without a sign.
   */
  constructor(readonly facts: FunctionFacts, readonly loop: Loop, readonly counter: Variable | null, private readonly counterNonNegative: boolean, private readonly lane = false, private readonly rises: 'no' | 'round' | 'yes' = 'no') {
    this.visible = declarationsVisibleAt(facts, loop);
    this.constants = new ConstantSymbols(facts, (sym) => this.intern(sym));
  }

  /** What the readings rest on of constants that other builds may give other values, in words. */
  get stated(): ReadonlySet<string> {
    return this.constants.stated;
  }

  /** Null if the expression cannot be read; `failure` then says why. */
  read(expr: Expr): Reading | null {
    const value = this.isFreeOfLaunch(expr) ? this.facts.constant(expr) : null;
    if (value !== null && this.constants.provenance(expr) === 'literal') return this.written(expr, value);
    const parts = this.readParts(expr, value);
    if (parts !== null || value === null) return parts;
    // A constant that is no sum of constants: as it stands, or, in the text of a macro, its value if that is the same in all builds.
    if (!this.isMadeByMacro(expr) && this.mayBeSpelled(expr)) return this.constants.spelled(expr, this.textOf(expr), value, null) ?? parts;
    return this.constants.provenance(expr) === 'open' ? parts : this.written(expr, value);
  }

  private written(expr: Expr, value: bigint): Reading {
    const type = integerType(expr.type) ?? (fits(value, INT32) ? INT32 : { bits: 64, signed: true } as const);
    return exactly(constant(value), type);
  }

  private readParts(expr: Expr, value: bigint | null): Reading | null {
    switch (expr.kind) {
      case 'paren': return this.read(expr.inner);
      case 'macro': return this.macro(expr);
      case 'coordinate': {
        const reading = coordinate(expr, this.facts.block, lanesOfWarp(this.facts.program, this.facts.unit));
        if (reading !== null && this.lane) for (const sym of symbolsOf(reading.poly)) this.scopes.set(sym.key, this.scopeOf(expr));
        return reading ?? this.fail(expr, 'the whole coordinate is used', 'bound-exact');
      }
      case 'ref': return this.reference(expr, value);
      case 'cast': {
        const type = integerType(expr.type);
        if (type === null) return this.fail(expr, 'the type it is converted to is not a known integer type', 'types-known');
        const operand = this.read(expr.operand);
        if (operand !== null && !holdsTruth(expr.type, operand)) return this.fail(expr, 'it is a truth value of a number', 'guard-exact');
        return operand === null ? null : this.convert(operand, type, expr);
      }
      case 'unary': {
        if (expr.op !== '-' && expr.op !== '+') return this.whole(expr);
        const operand = this.promoted(expr.operand);
        if (operand === null || expr.op === '+') return operand;
        return this.settle({ ...operand, poly: negate(operand.poly) });
      }
      case 'binary': return this.binary(expr);
      case 'member': case 'call': return this.whole(expr);
      case 'literal': case 'this': case 'update': case 'assign': case 'conditional': case 'index': case 'construct': case 'init-list': case 'sizeof':
      case 'lambda': case 'opaque':
        return this.fail(expr, 'it is not a sum of products of counters, thread coordinates and fixed values', 'bound-exact');
      default: return unreachable(expr);
    }
  }

  /** The value converted to `type`; widening a value that may have wrapped is read as if it had not, if it is made of coordinates. */
  convert(reading: Reading, type: IntegerType, node: Expr): Reading | null {
    let { exact, assumed } = reading;
    let index = reading.index === true;
    const needs = [...reading.needs ?? []];
    if (type.bits > reading.type.bits && !exact) {
      // Only the far end is assumed away: below zero an unsigned number does wrap.
      if (!index || (!reading.type.signed && interval(reading.poly).low < 0n)) return this.fail(node, 'it may wrap around before it is converted to a wider type', 'guard-exact');
      exact = true;
      // An unsigned sum with a counter in it must be shown to stay in its type where it is compared.
      if (!isCounted(reading.poly) || reading.type.signed) assumed = true;
      else needs.push({ poly: subtract(reading.poly, constant(maximum(reading.type) + 1n)), index: false });
    }
    if (type.bits < 32 || type.bits < reading.type.bits || (type.signed !== reading.type.signed && !(exact && type.signed && type.bits > reading.type.bits))) {
      const before = exact;
      exact = exact && within(reading.poly, type);
      // Signed values come through a wider or unsigned type unharmed at their far end; all else must be an index in the type itself.
      index = !exact && ((reading.type.signed && !type.signed && type.bits >= reading.type.bits && (before || index)) || isIndex(reading.poly, type));
      if (type.bits < 32 && !exact) return this.fail(node, 'it may not fit the narrow type it is kept in', 'guard-exact');
    }
    return { poly: reading.poly, type, exact, index, assumed, needs };
  }

  /** No coordinate stands behind the value: bounds are not written for the shape that today's launches have. */
  private isFreeOfLaunch(expr: Expr): boolean {
    const known = this.freeOfLaunch.get(expr);
    if (known !== undefined) return known;
    // An initialiser that names its own variable is free of nothing.
    this.freeOfLaunch.set(expr, false);
    let free = true;
    walk(expr, (node) => {
      if (!free || isStmt(node)) return false;
      if (node.kind === 'coordinate') free = node.base === 'warpSize';
      else if (node.kind === 'ref' && node.decl?.kind === 'variable' && node.decl.init !== null) free = this.isDefinedOnce(node.decl) && this.isFreeOfLaunch(node.decl.init);
      else if (node.kind === 'ref' && node.decl?.kind === 'parameter') free = false;
      return free;
    });
    this.freeOfLaunch.set(expr, free);
    return free;
  }

  private fail(node: Expr, reason: string, id: Unreadable['id']): null {
    this.failure = { node, reason, id };
    return null;
  }

  private promoted(expr: Expr): Reading | null {
    const reading = this.read(expr);
    return reading === null ? null : this.convert(reading, promote(reading.type), expr);
  }

  /** Signed arithmetic does not overflow (the program would be undefined); unsigned arithmetic is exact if its range says so. */
  private settle(reading: Reading): Reading {
    if (reading.type.signed) return reading;
    const exact = reading.exact && within(reading.poly, reading.type);
    return { ...reading, exact, index: !exact && isIndex(reading.poly, reading.type) };
  }

  /** `i << 5` with a sign is no multiplication where it leaves its type: bits go over the edge, and the program is defined. */
  private shifted(left: Reading, poly: Poly): Reading {
    if (!left.type.signed) return this.settle({ ...left, poly });
    const exact = left.exact && within(poly, left.type);
    return { ...left, poly, exact, index: !exact && (left.exact || left.index === true) && isIndex(poly, left.type) };
  }

  private binary(expr: Extract<Expr, { kind: 'binary' }>): Reading | null {
    if (expr.op !== '+' && expr.op !== '-' && expr.op !== '*' && expr.op !== '<<') return this.divided(expr);
    let left = this.promoted(expr.left);
    if (left === null) return null;
    if (expr.op === '<<') {
      const amount = this.facts.constant(expr.right);
      if (amount === null || amount < 0n || amount >= BigInt(left.type.bits)) return this.fail(expr, 'the amount of the shift is not a constant', 'bound-exact');
      if (this.constants.provenance(expr.right) === 'open') return this.fail(expr, 'another build may shift by another amount', 'bound-exact');
      return this.shifted(left, multiply(left.poly, constant(1n << amount)));
    }
    let right = this.promoted(expr.right);
    if (right === null) return null;
    const type = commonType(left.type, right.type);
    left = this.convert(left, type, expr.left);
    right = this.convert(right, type, expr.right);
    if (left === null || right === null) return null;
    const poly = expr.op === '+' ? add(left.poly, right.poly) : expr.op === '-' ? subtract(left.poly, right.poly) : multiply(left.poly, right.poly);
    return this.settle({ poly, type, exact: left.exact && right.exact, index: (left.exact || left.index === true) && (right.exact || right.index === true), assumed: left.assumed || right.assumed, needs: [...left.needs ?? [], ...right.needs ?? []] });
  }

  /** `x / c`, `x >> c`, `x % c`, `x & c` of thread coordinates: a value of its own with a known extent. */
  private divided(expr: Extract<Expr, { kind: 'binary' }>): Reading | null {
    const uniform = this.whole(expr);
    if (uniform !== null) return uniform;
    const amount = this.promoted(expr.right);
    const left = this.promoted(expr.left);
    if (left === null) return null;
    const { poly } = left;
    const onlyThreads = symbolsOf(poly).every((sym) => sym.role === 'thread' || sym.role === 'uniform');
    const sizes = amount === null || !amount.exact || !isConstant(amount.poly) ? null : interval(amount.poly);
    if (amount === null || sizes === null || sizes.low <= 0n || !fits(sizes.high, INT32) || !onlyThreads || !left.exact || this.lane) return this.fail(expr, `the operands of ${expr.op} are not thread coordinates and a constant`, 'bound-exact');
    const nonNegative = interval(poly).low >= 0n;
    const key = `(${keyOf(poly)})${expr.op}(${keyOf(amount.poly)})`;
    if (expr.op === '%' || expr.op === '&') {
      const high = expr.op === '&' ? amount.poly : subtract(amount.poly, constant(1n));
      const low = expr.op === '%' && !nonNegative ? negate(high) : constant(0n);
      return this.thread(key, left.type, low, high, interval(low).low, interval(high).high);
    }
    const shift = expr.op === '>>' ? constantValue(amount.poly) : 0n;
    if ((expr.op === '/' || expr.op === '>>') && nonNegative && shift !== null && shift < 31n) {
      const divisor = expr.op === '/' ? amount.poly : constant(1n << shift);
      const [low, high] = [this.quotient(extreme(poly, 'low', isThread), divisor), this.quotient(extreme(poly, 'high', isThread), divisor)];
      if (low !== null && high !== null) return this.thread(key, left.type, low, high, 0n, interval(poly).high / interval(divisor).low);
    }
    return this.fail(expr, 'the quotient cannot be followed', 'bound-exact');
  }

  /** `floor(poly / divisor)` for a value of at least zero: a constant, or text of its own. */
  private quotient(poly: Poly | null, divisor: Poly): Poly | null {
    if (poly === null) return null;
    const [value, by] = [constantValue(poly), constantValue(divisor)];
    if (value === 0n) return constant(0n);
    if (value !== null && by !== null) return constant(value / by);
    const [sum, part] = [sumIn(poly, INT32), sumIn(divisor, INT32)];
    if (sum === null || part === null || !symbolsOf(poly).every((sym) => sym.role === 'uniform')) return null;
    const text = print({ kind: 'binary', op: '/', left: sum, right: part });
    const [over, under] = [interval(poly), interval(divisor)];
    const names = [...symbolsOf(poly), ...symbolsOf(divisor)].flatMap((sym) => sym.names);
    return symbol(this.intern({ key: text, role: 'uniform', text, names, type: INT32, low: over.low / under.high, high: over.high / under.low, extent: null, binding: BINDING.product, ...(isConstant(poly) ? { constant: true as const } : {}) }));
  }

  private thread(key: string, type: IntegerType, low: Poly, high: Poly, lowest: bigint, highest: bigint): Reading {
    const sym = this.intern({ key, role: 'thread', text: key, names: [], type, low: lowest, high: highest, extent: { low, high } });
    return { poly: symbol(sym), type, exact: true, assumed: false };
  }

  /** A macro without parameters that stands for a number keeps its name; others are looked through, if nothing that other builds may change is behind them. */
  private macro(expr: MacroExpr): Reading | null {
    if (expr.definition.parameters === null && this.isFreeOfLaunch(expr.expanded)) {
      const value = this.facts.constant(expr.expanded);
      const named = value === null ? null : this.constants.macro(expr, value);
      if (named !== null) return named;
    }
    // Its text is replaced to the end, so that numbers in it may be other macros' values.
    if (this.constants.provenance(expr) === 'open') return this.fail(expr, `${expr.name} rests on what a build may define otherwise`, 'bound-exact');
    return this.read(expr.expanded);
  }

  /** Names of constants may be written anywhere; those of locals where they are visible. */
  private namedConstant(expr: RefExpr, decl: Decl, value: bigint): Reading | null {
    if (decl.kind === 'enumerator') return this.constants.constant(expr, value);
    if (decl.kind !== 'variable' || !(decl.constexpr || decl.type.const === true) || decl.type.volatile === true) return null;
    const local = decl.storage === 'automatic' || this.isInFunction(decl);
    if (local && !this.visible.has(decl)) return null;
    // What it is made of says more than its name, if that may change.
    if (decl.init !== null && this.constants.provenance(decl.init) === 'open' && !this.following.has(decl)) {
      this.following.add(decl);
      const [type, made] = [integerType(decl.type), this.read(decl.init)];
      this.following.delete(decl);
      const kept = type === null || made === null ? null : this.convert(made, type, decl.init);
      if (kept !== null && isConstant(kept.poly)) return kept;
    }
    return this.constants.constant(expr, value);
  }

  private isInFunction(decl: Decl): boolean {
    const { span, file } = this.facts.function;
    return decl.file === file && decl.span.start >= span.start && decl.span.end <= span.end;
  }

  private reference(expr: RefExpr, value: bigint | null): Reading | null {
    const { decl } = expr;
    if (decl === null) return this.fail(expr, `nothing visible declares ${expr.name}`, 'types-known');
    const named = value === null ? null : this.namedConstant(expr, decl, value);
    if (named !== null) return named;
    if (decl.kind === 'template-parameter' && decl.sort === 'value') return this.templateValue(expr);
    if (decl.kind !== 'variable' && decl.kind !== 'parameter') return this.fail(expr, `${expr.name} is not a variable`, 'bound-exact');
    const type = integerType(decl.type);
    if (type === null) return this.fail(expr, `the type of ${expr.name} is not a known integer type`, 'types-known');
    if (decl === this.counter && this.since === null) return this.readVariable(decl, type);
    if (decl === this.counter) return this.fail(expr, `${expr.name} counts on after it was read`, 'operands-invariant');
    if (!isThreadsOwn(decl) || this.facts.addressTaken(decl)) return this.fail(expr, `${expr.name} is memory that may change`, 'operands-invariant');
    if (mayBeUnset(this.facts, expr)) return this.fail(expr, `${expr.name} may have no value yet, and is read under the loop's own tests only`, 'bound-exact');
    if (this.since !== null && !this.isUnchangedSince(decl, this.since)) return this.fail(expr, `${expr.name} may have changed since ${this.since.name} was computed from it`, 'operands-invariant');
    const inside = this.facts.assignments(decl, this.loop);
    if (inside.some((definition) => definition.kind !== 'declaration')) return this.innerCounter(expr, decl, type);
    const declaredInside = decl.span.start >= this.loop.span.start && decl.span.end <= this.loop.span.end && decl.file === this.facts.unit.source.realPath;
    if (!declaredInside && this.visible.has(decl)) {
      const scope = this.facts.scope(expr);
      if (this.lane) return this.named(this.fixed(expr, decl, type, scope.known && atLeast(scope.value, 'block') ? 'uniform' : 'own'), type, expr);
      if (scope.known && atLeast(scope.value, 'block')) this.note(scope);
      if (scope.known && atLeast(scope.value, 'block')) return exactly(symbol(this.fixed(expr, decl, type, 'uniform')), type);
    }
    const init = decl.kind === 'variable' && !decl.opaqueInit && this.isDefinedOnce(decl) ? decl.init : null;
    if (init !== null && !this.following.has(decl)) {
      this.following.add(decl);
      const before = this.failure;
      const { since } = this;
      if (!declaredInside) this.since = since ?? decl;
      const value = this.read(init);
      this.since = since;
      this.following.delete(decl);
      const converted = value === null || !holdsTruth(decl.type, value) ? null : this.convert(value, type, init);
      if (converted !== null) return converted;
      if (declaredInside || !this.visible.has(decl)) return null;
      this.failure = before;
    }
    if (declaredInside || !this.visible.has(decl)) return this.fail(expr, `${expr.name} has no single value that can be followed`, 'bound-exact');
    return exactly(symbol(this.fixed(expr, decl, type, 'own')), type);
  }

  /** `template <int R>`: one value in all threads, whatever it is. */
  private templateValue(expr: RefExpr): Reading | null {
    const type = integerType(expr.type);
    if (type === null) return this.fail(expr, `the type of ${expr.name} is not a known integer type`, 'types-known');
    return this.constants.templateValue(expr, type);
  }

  /** The counter itself. */
  readVariable(decl: Variable, type: IntegerType): Reading {
    const low = this.counterNonNegative && type.signed ? 0n : minimum(type);
    return exactly(symbol(this.intern({ key: variableKey(decl), role: 'counter', text: decl.name, names: [{ kind: 'named', decl }], type, low, high: maximum(type), extent: null, ...(this.rises === 'no' ? {} : { rises: true as const }), ...(this.rises === 'yes' ? {} : { round: true as const }) })), type);
  }

  private named(sym: Sym, type: IntegerType, expr: Expr): Reading {
    this.scopes.set(sym.key, this.scopeOf(expr));
    return exactly(symbol(sym), type);
  }

  private scopeOf(expr: Expr): Scope {
    const scope = this.facts.scope(expr);
    return scope.known ? scope.value : 'lane';
  }

  private note(scope: Verdict): void {
    for (const assumption of scope.under) this.under.add(assumption);
  }

  private isDefinedOnce(decl: Variable): boolean {
    const { body } = this.facts.function;
    return body !== null && this.facts.assignments(decl, body).every((definition) => definition.kind === 'declaration' || definition.kind === 'parameter');
  }

  /** Defined once, or the counter of a loop around both the loop and the other variable, which moves only between its iterations. */
  private isUnchangedSince(decl: Variable, other: Variable): boolean {
    if (this.isDefinedOnce(decl)) return true;
    return this.facts.loops(this.loop).some((outer) => {
      const induction = describeLoop(this.facts, outer);
      return induction.simple && induction.counter === decl && other.span.start > outer.body.span.start && other.span.end < outer.body.span.end;
    });
  }

  /** A variable whose value right before the loop is its value all through it. */
  private fixed(use: RefExpr, decl: Variable, type: IntegerType, role: 'uniform' | 'own'): Sym {
    let [low, high] = decl.type.kind === 'bool' ? [0n, 1n] : [minimum(type), maximum(type)];
    // The counter of a loop around this one stays above its start.
    const counts = this.countsUpAround(decl);
    const init = decl.kind === 'variable' && decl.init !== null && this.isDefinedOnce(decl) ? decl.init : null;
    const open = decl.kind === 'variable' && decl.init !== null && this.constants.provenance(decl.init) === 'open';
    const known = init === null ? null : open && decl.kind === 'variable' ? this.rangeForAllBuilds(decl, init) : this.facts.range(init);
    // An unsigned difference may be anything once it is an int.
    const range = init !== null ? (known === null ? null : convertRange(known, type)) : counts && !open ? this.facts.range(use) : null;
    if (low < 0n && init !== null && decl.kind === 'variable' && (range?.low ?? -1n) < 0n && this.holdsIndex(decl, init, type)) {
      low = 0n;
      this.leansOnIndexRange = true;
      this.indices.add(variableKey(decl));
    }
    if (range !== null) {
      if (range.low !== null && range.low > low && range.low <= high) low = range.low;
      // Tests between the loop and the use may bound it from above, which is not known in front of the loop.
      if (!counts && range.high !== null && range.high < high && range.high >= low) high = range.high;
    }
    const round = (low < 0n ? type.bits === 64 : high > LARGEST_INT) && !this.isPlain(decl, use);
    return this.intern({ key: variableKey(decl), role, text: decl.name, names: [{ kind: 'named', decl }], type, low, high, extent: null, ...(round ? { round: true as const } : {}) });
  }

  /** No difference gone round is in the variable's value. */
  private isPlain(decl: Variable, use: RefExpr): boolean {
    const type = integerType(decl.type);
    return type !== null && isPlainNumber(this.facts, use, type);
  }

  /** Ranges rest on the values that constants have here; a reading does not. */
  private rangeForAllBuilds(decl: Variable, init: Expr): { readonly low: bigint; readonly high: bigint } | null {
    if (this.following.has(decl)) return null;
    this.following.add(decl);
    const { failure } = this;
    const reading = this.read(init);
    this.failure = failure;
    this.following.delete(decl);
    return reading === null || !reading.exact || reading.assumed || (reading.needs ?? []).length > 0 ? null : interval(reading.poly);
  }

  /** The variable starts as a sum of products of coordinates, or of names that do. */
  private holdsIndex(decl: Variable, init: Expr, type: IntegerType): boolean {
    if (this.following.has(decl)) return false;
    const { failure, since } = this;
    this.following.add(decl);
    this.since = since ?? decl;
    const value = this.read(init);
    this.following.delete(decl);
    this.since = since;
    this.failure = failure;
    return value !== null && this.isSumOfCoordinates(value.poly, type);
  }

  /** At least zero unless it wraps around in `type`, or in a type on the way there. */
  isSumOfCoordinates(poly: Poly, type: IntegerType): boolean {
    return isSumOfCoordinates(poly, type, (sym) => isCoordinate(sym) || this.indices.has(sym.key));
  }

  private countsUpAround(decl: Variable): boolean {
    return this.facts.loops(this.loop).some((outer) => {
      const induction = describeLoop(this.facts, outer);
      return induction.simple && induction.counter === decl && induction.step.kind === 'add' && induction.step.sign === 1;
    });
  }

  /** The counter of a loop inside this one that stands around the use. */
  private innerCounter(expr: RefExpr, decl: Variable, type: IntegerType): Reading | null {
    const key = variableKey(decl);
    const known = this.symbols.get(key);
    if (known !== undefined) return exactly(symbol(known), type);
    for (const inner of this.facts.loops(expr)) {
      // Without a counter of its own the loop is one of the nest.
      if (inner === this.loop && this.counter !== null) break;
      const value = this.innerLoop(inner, decl, type, key);
      if (value === 'passes') return this.fail(expr, `${expr.name} may pass the end of its type and go on at the other`, 'guard-exact');
      if (value !== null) return value;
      if (inner === this.loop) break;
    }
    return this.fail(expr, `${expr.name} changes while the loop runs`, 'operands-invariant');
  }

  private innerLoop(inner: Loop, decl: Variable, type: IntegerType, key: string): Reading | 'passes' | null {
    const induction = describeLoop(this.facts, inner);
    if (!induction.simple || induction.counter !== decl || induction.start === null || induction.step.kind !== 'add' || !induction.testedOnEntry) return null;
    if (!induction.boundInvariant.value || induction.comparison === '!=') return null;
    const start = this.read(induction.start);
    const bound = this.read(induction.bound);
    const common = bound === null ? null : this.convert(bound, commonType(type, bound.type), induction.bound);
    const first = start === null ? null : this.convert(start, type, induction.start);
    if (start === null || bound === null || first === null || !first.exact || common === null || !common.exact) return null;
    if ((first.needs ?? []).length + (common.needs ?? []).length > 0) return null;
    const amount = this.isOpenStep(induction.step.amount) ? null : induction.step.constant ?? (induction.step.amount === null ? 1n : null);
    const positive = amount !== null ? amount > 0n && fits(amount, type) : this.growsBy(induction.step.amount, type);
    const up = induction.step.sign === 1;
    if (!positive || up !== (induction.comparison === '<' || induction.comparison === '<=')) return null;
    // Compared without a sign, numbers below zero are above every bound.
    if (!up && type.signed && !common.type.signed) return null;
    const passing = passingOf(this.facts, inner, decl, [induction.step.node], up ? 1 : -1);
    if (passing === 'may') return 'passes';
    if (first.assumed || common.assumed || passing === 'index') this.leansOnIndexRange = true;
    const last = induction.comparison === '<' ? subtract(bound.poly, constant(1n)) : induction.comparison === '>' ? add(bound.poly, constant(1n)) : bound.poly;
    const [low, high] = up ? [start.poly, last] : [last, start.poly];
    const [lowest, highest] = [interval(low).low, interval(high).high];
    return exactly(symbol(this.intern({
      key, role: 'inner', text: decl.name, names: [], type, extent: { low, high }, ...(up ? { rises: true as const } : {}), ...(up && isPlainNumber(this.facts, induction.start, type) ? {} : { round: true as const }),
      low: fits(lowest, type) ? lowest : minimum(type), high: fits(highest, type) ? highest : maximum(type),
    })), type);
  }

  private isOpenStep(amount: Expr | null): boolean {
    return amount !== null && this.constants.provenance(amount) === 'open';
  }

  private growsBy(amount: Expr | null, type: IntegerType): boolean {
    if (amount === null) return true;
    const reading = this.read(amount);
    return reading !== null && reading.exact && interval(reading.poly).low > 0n && within(reading.poly, type);
  }

  /** An expression that is one value in the block and may be written as it stands before the loop: no load, no call, no fault. */
  private whole(expr: Expr): Reading | null {
    const type = integerType(expr.type);
    if (type === null) return this.fail(expr, 'its type is not a known integer type', 'types-known');
    let simple = true;
    walk(expr, (node) => {
      if (!simple) return false;
      if (isStmt(node)) simple = false;
      else if (node.kind === 'macro' && node.definition.parameters === null && this.isFreeOfLaunch(node.expanded) && this.facts.constant(node.expanded) !== null) return false;
      else if (node.kind === 'ref') simple = this.isFixedName(node);
      else if (node.kind === 'member') {
        simple = !node.arrow && node.field !== null && node.field.type.kind === 'int' && this.isFixedObject(node.object);
        return false;
      } else if (node.kind === 'binary') {
        if (node.op === '/' || node.op === '%') simple = this.isPositive(node.right);
        else if (node.op === '<<' || node.op === '>>') simple = this.isShift(node.right);
        else simple = ['+', '-', '*', '&', '|', '^'].includes(node.op);
      } else if (node.kind === 'call') {
        simple = node.callee.kind === 'builtin' && (node.callee.name === 'min' || node.callee.name === 'max');
      } else if (node.kind === 'unary') {
        simple = node.op !== '*' && node.op !== '&';
      } else {
        simple = node.kind === 'literal' || node.kind === 'coordinate' || node.kind === 'paren' || node.kind === 'cast' || node.kind === 'sizeof';
      }
      return simple;
    });
    const value = simple && this.isFreeOfLaunch(expr) ? this.facts.constant(expr) : null;
    // Without parameters and coordinates it is known when the program is compiled.
    if (value !== null && !this.isMadeByMacro(expr)) return this.constants.spelled(expr, this.textOf(expr), value, this.rangeOfQuotient(expr));
    const scope = simple ? this.facts.scope(expr) : null;
    if (this.lane && simple && !this.isMadeByMacro(expr)) return this.named(this.spelled(expr, type, scope !== null && scope.known && atLeast(scope.value, 'block') ? 'uniform' : 'own'), type, expr);
    if (scope === null || !scope.known || !atLeast(scope.value, 'block') || this.isMadeByMacro(expr)) {
      return this.fail(expr, 'it cannot be written in front of the loop as one value of the block', 'bound-exact');
    }
    this.note(scope);
    return exactly(symbol(this.spelled(expr, type, 'uniform')), type);
  }

  /** A divisor that is above zero in every build; its sign may be stated (`stated`). */
  private isPositive(expr: Expr): boolean {
    const value = this.facts.constant(expr);
    if (value === null || value <= 0n) return false;
    if (this.constants.provenance(expr) !== 'open') return true;
    const reading = this.read(expr);
    return reading !== null && interval(reading.poly).low > 0n;
  }

  /** Bounds of `a / b` of constants for all values of the names in them. */
  private rangeOfQuotient(expr: Expr): { readonly low: bigint; readonly high: bigint } | null {
    if (expr.kind !== 'binary' || expr.op !== '/') return null;
    const [left, right] = [this.read(expr.left), this.read(expr.right)];
    if (left === null || right === null || !left.exact || !right.exact) return null;
    const [over, under] = [interval(left.poly), interval(right.poly)];
    return over.low < 0n || under.low < 1n ? null : { low: over.low / under.high, high: over.high / under.low };
  }

  /** Nothing but constants with names that may be written in front of the loop. */
  private mayBeSpelled(expr: Expr): boolean {
    let all = true;
    walk(expr, (node) => {
      if (!all || isStmt(node)) return all = false;
      if (node.kind === 'macro') return false;
      if (node.kind === 'ref') all = node.decl !== null && (node.decl.kind === 'enumerator' || node.decl.kind === 'template-parameter' || (node.decl.kind === 'variable' && (this.visible.has(node.decl) || !this.isInFunction(node.decl))));
      else if (node.kind === 'assign' || node.kind === 'update' || node.kind === 'lambda') all = false;
      return all;
    });
    return all;
  }

  private textOf(expr: Expr): string {
    return codeOnly(this.facts.unit.source.text.slice(expr.span.start, expr.span.end));
  }

  private spelled(expr: Expr, type: IntegerType, role: 'uniform' | 'own'): Sym {
    const text = this.textOf(expr);
    const round = (!type.signed || type.bits === 64) && !isPlainNumber(this.facts, expr, type);
    return this.intern({ key: `text:${text}`, role, text, names: [{ kind: 'copied', node: expr }], binding: bindingOf(expr), type, ...this.rangeOfSpelled(expr, type), extent: null, ...(round ? { round: true as const } : {}) });
  }

  /** `x & 31` and `x % 32` say where they lie; other builds change neither number. */
  private rangeOfSpelled(expr: Expr, type: IntegerType): { readonly low: bigint; readonly high: bigint } {
    const whole = { low: minimum(type), high: maximum(type) };
    if (expr.kind !== 'binary' || (expr.op !== '&' && expr.op !== '%')) return whole;
    const sizes = (expr.op === '&' ? [expr.left, expr.right] : [expr.right]).flatMap((side) => {
      const value = this.constants.provenance(side) === 'literal' ? this.facts.constant(side) : null;
      return value !== null && value >= 0n && value <= whole.high ? [value] : [];
    });
    const [size] = sizes;
    if (size === undefined) return whole;
    if (expr.op === '&') return { low: 0n, high: size };
    return size < 1n ? whole : { low: type.signed ? 1n - size : 0n, high: size - 1n };
  }

  private isShift(amount: Expr): boolean {
    const value = this.facts.constant(amount);
    return value !== null && value >= 0n && value < 32n;
  }

  private isFixedName(node: RefExpr): boolean {
    const { decl } = node;
    if (decl === null) return false;
    if (this.facts.constant(node) !== null) return true;
    if (decl.kind !== 'variable' && decl.kind !== 'parameter') return false;
    return this.isFixedVariable(decl) && integerType(decl.type) !== null && !mayBeUnset(this.facts, node);
  }

  private isFixedVariable(decl: Variable): boolean {
    if (this.since !== null && !this.isUnchangedSince(decl, this.since)) return false;
    return this.visible.has(decl) && isThreadsOwn(decl) && !this.facts.addressTaken(decl) && this.facts.assignments(decl, this.loop).length === 0;
  }

  /** `p` in `p.n`: a parameter or local object passed by value that the loop does not assign. */
  private isFixedObject(object: Expr): boolean {
    const inner = object.kind === 'paren' ? object.inner : object;
    if (inner.kind === 'member') return !inner.arrow && this.isFixedObject(inner.object);
    return inner.kind === 'ref' && inner.decl !== null && inner.decl.kind === 'parameter' && inner.decl.type.kind === 'record' && this.isFixedVariable(inner.decl);
  }

  private isMadeByMacro(expr: Expr): boolean {
    for (let at = this.facts.parent(expr); at !== null; at = this.facts.parent(at)) {
      if (at.kind === 'macro' || at.kind === 'macro-statement') return true;
      if (isStmt(at)) return false;
    }
    return false;
  }

  private intern(sym: Sym): Sym {
    const known = this.symbols.get(sym.key);
    if (known !== undefined) return known;
    this.symbols.set(sym.key, sym);
    return sym;
  }
}

export { integerType, isThreadsOwn, variableKey, type Reading } from './values.js';
