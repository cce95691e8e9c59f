/**
 * Integer values as polynomials over coordinates, variables and whatever else stands in for itself.
 *
 * A form is built from the expression and from the definitions of the variables in it, as far as each has one definition that is an
 * assignment of a whole value; joins, loop heads and loads become atoms. In single-assignment form the substitution is exact: the
 * operands of a definition are values, not variables. Dimensions of a known block are constants.
 *
 * Coefficients are mathematical integers. A form does not wrap if every step is signed (overflow is undefined there, [expr.pre]) or stays
 * in the range of its type by the ranges of its atoms, and no conversion narrows. One that wraps still tells the value exactly, modulo a type,
 * as long as nothing is computed in a wider type from what wrapped in a narrower one (`Wrap`).
 *
 * Not handled: division, remainder and bit operations (atoms), more than 24 terms or a degree over 4 (null).
 */
import { constantOf } from './constants.js';
import { commonType as usualType, promote as promotedType, wrap, type IntegerType } from '../cuda/integers.js';
import type { Env } from './env.js';
import { rangeOf } from './ranges.js';
import type { Affine, Atom, Monomial, Range } from './facts.js';
import { strip } from './children.js';
import { variableOf } from './lvalues.js';
import { scopeOf } from './taint.js';
import type { Uniformity } from './uniformity.js';
import type { Decl, Expr, IntType, Type } from '../syntax/tree.js';
import { enumValues } from '../syntax/types.js';

const MAX_TERMS = 24;
const MAX_DEGREE = 4;
const MAX_DEPTH = 40;

/** An atom with the place its element comes from: a value of def-use, or the expression itself. */
export interface Symbol { readonly key: string; readonly expr: Expr; readonly decl: Decl | null; readonly value: number | null }

export interface Term { readonly coefficient: bigint; readonly symbols: readonly Symbol[] }

/**
 * What is left of a form that may wrap. `type`: the value is the form modulo 2^bits in the range of this type; null if it is only congruent to the form
 * modulo 2^`bits`, because a wrapped value was widened or went into wider arithmetic: `(signed char)(t + 31) + 1` is 128 - 256 for t = 97 and
 * 128 for t = 96. `bits`: of the narrowest type in which a step wrapped.
 */
export interface Wrap { readonly type: IntType | null; readonly bits: number }

/** Terms by the sorted keys of their symbols; no term has coefficient 0. `wraps` is null for a form that is the value as it stands. */
export interface Polynomial { readonly terms: ReadonlyMap<string, Term>; readonly wraps: Wrap | null }

let counter = 0;
const numbers = new WeakMap<Expr, number>();

function nodeKey(expr: Expr): string {
  let n = numbers.get(expr);
  if (n === undefined) numbers.set(expr, n = ++counter);
  return `e${n}`;
}

/** The integer type of a value; null if it is none. */
export function integerType(type: Type): IntType | null {
  switch (type.kind) {
    case 'int': return type;
    case 'bool': return { kind: 'int', bits: 8, signed: false };
    case 'enum': {
      const values = enumValues(type.decl);
      return values === null ? null : integerType(values);
    }
    case 'reference': return integerType(type.to);
    default: return null;
  }
}

/** The form of an integer expression; null if it has none. */
export function polynomialOf(expr: Expr, state: Uniformity): Polynomial | null {
  // It rests on definitions, ranges and the block's shape, not on elements: one environment gives one form.
  let ofEnv = forms.get(state.env);
  if (ofEnv === undefined) forms.set(state.env, ofEnv = new Map());
  const known = ofEnv.get(expr);
  if (known !== undefined) return known;
  const made = build(expr, state, 0);
  ofEnv.set(expr, made);
  return made;
}

const forms = new WeakMap<Env, Map<Expr, Polynomial | null>>();

export function affineOf(expr: Expr, state: Uniformity): Affine | null {
  const type = integerType(expr.type);
  if (type === null) return null;
  const form = polynomialOf(expr, state);
  // What wraps in a narrow type is no number of a thread: `(unsigned char)threadIdx.x` gives two threads of a block one value.
  if (form === null || (form.wraps !== null && form.wraps.bits < 32)) return null;
  const terms: Monomial[] = [];
  for (const term of form.terms.values()) {
    const atoms: Atom[] = term.symbols.map((symbol) => ({ key: symbol.key, scope: scopeOf(symbolTaint(symbol, state)), expr: symbol.expr, decl: symbol.decl }));
    terms.push({ coefficient: term.coefficient, atoms });
  }
  return { terms, type, wraps: form.wraps !== null ? 'possible' : 'never' };
}

export function symbolTaint(symbol: Symbol, state: Uniformity): number {
  return symbol.value === null ? state.taint(symbol.expr) : state.valueTaint(symbol.value);
}

// ---------------------------------------------------------------------------------------------------------------- building

function constant(value: bigint): Polynomial {
  return { terms: value === 0n ? new Map() : new Map([['', { coefficient: value, symbols: [] }]]), wraps: null };
}

function single(symbol: Symbol): Polynomial {
  return { terms: new Map([[symbol.key, { coefficient: 1n, symbols: [symbol] }]]), wraps: null };
}

function atom(expr: Expr): Polynomial {
  return single({ key: nodeKey(strip(expr)), expr, decl: null, value: null });
}

function build(expr: Expr, state: Uniformity, depth: number): Polynomial | null {
  if (depth > MAX_DEPTH) return atom(expr);
  switch (expr.kind) {
    case 'paren': return build(expr.inner, state, depth);
    case 'macro': return build(expr.expanded, state, depth);
    case 'literal':
      if (typeof expr.value === 'bigint') return constant(expr.value);
      if (typeof expr.value === 'boolean') return constant(expr.value ? 1n : 0n);
      return null;
    case 'coordinate': return coordinate(expr, state);
    case 'ref': return reference(expr, state, depth);
    case 'unary': {
      if (expr.op === '+') return build(expr.operand, state, depth + 1);
      if (expr.op !== '-') break;
      const operand = build(expr.operand, state, depth + 1);
      return operand === null ? null : arithmetic(scale(operand, -1n), integerType(expr.type), state);
    }
    case 'binary': return binary(expr, state, depth);
    case 'cast': {
      const to = integerType(expr.type);
      if (toTruth(expr.operand.type, expr.type)) return atom(expr);
      const operand = build(expr.operand, state, depth + 1);
      return to === null || operand === null || integerType(expr.operand.type) === null ? (to === null ? null : atom(expr)) : converted(operand, integerType(expr.operand.type), to, state);
    }
    default:
  }
  if (integerType(expr.type) === null) return null;
  const value = constantOf(expr, state.env);
  return value === null ? atom(expr) : constant(value);
}

function coordinate(expr: Expr & { kind: 'coordinate' }, state: Uniformity): Polynomial | null {
  if (expr.base === 'warpSize') {
    const lanes = constantOf(expr, state.env);
    return lanes === null ? atom(expr) : constant(lanes);
  }
  if (expr.axis === null) return null;
  const fact = state.world.shape;
  const shape = fact.value;
  if (shape !== null) {
    if (expr.base === 'blockDim') return constant(BigInt(shape[expr.axis]));
    if (expr.base === 'threadIdx' && shape[expr.axis] === 1) return constant(0n);
  } else if (fact.oneDimensional && expr.axis !== 'x') {
    if (expr.base === 'blockDim') return constant(1n);
    if (expr.base === 'threadIdx') return constant(0n);
  }
  return single({ key: `${expr.base}.${expr.axis}`, expr, decl: null, value: null });
}

function reference(ref: Expr & { kind: 'ref' }, state: Uniformity, depth: number): Polynomial | null {
  if (integerType(ref.type) === null) return null;
  const decl = variableOf(ref.decl);
  if (decl === null) {
    const value = constantOf(ref, state.env);
    if (value !== null) return constant(value);
    // A template value is one symbol wherever it stands.
    if (ref.decl !== null && ref.decl.kind === 'template-parameter') return single({ key: `t${ref.decl.name}`, expr: ref, decl: ref.decl, value: null });
    return atom(ref);
  }
  const id = state.defUse.reads.get(ref) ?? -1;
  return id < 0 || state.defUse.memoryReferences.has(decl) ? atom(ref) : ofValue(id, ref, state, depth);
}

/** The form of a value: its definition's, or the value itself as a symbol. */
function ofValue(id: number, ref: Expr, state: Uniformity, depth: number): Polynomial | null {
  const value = state.defUse.values[id];
  const self = (): Polynomial => single({ key: `v${id}`, expr: ref, decl: value?.decl ?? null, value: id });
  if (value === undefined || depth > MAX_DEPTH) return self();
  const type = integerType(value.decl.type);
  if (type === null) return integerType(ref.type) === null ? null : self();
  if (value.kind === 'declaration') {
    if (toTruth(value.init.type, value.decl.type)) return self();
    const init = build(value.init, state, depth + 1);
    return init === null ? self() : converted(init, integerType(value.init.type), type, state);
  }
  if (value.kind === 'assignment' && value.whole) {
    if (value.node.kind === 'update') {
      const before = value.decl.type.kind === 'bool' ? null : ofValue(value.previous, value.node.target, state, depth + 1);
      const stepped = before === null ? null : arithmetic(add(before, constant(value.node.op === '++' ? 1n : -1n)), promote(type), state);
      return stepped === null ? self() : converted(stepped, promote(type), type, state);
    }
    const assigned = toTruth(value.node.value.type, value.decl.type) ? null : build(value.node.value, state, depth + 1);
    if (assigned === null) return self();
    if (value.node.op === null) return converted(assigned, integerType(value.node.value.type), type, state);
    const before = value.decl.type.kind === 'bool' ? null : ofValue(value.previous, value.node.target, state, depth + 1);
    if (before === null) return self();
    const common = value.node.op === '<<' ? promote(type) : commonType(type, integerType(value.node.value.type));
    const made = operate(value.node.op, before, assigned);
    return made === null || common === null ? self() : converted(arithmetic(made, common, state) ?? self(), common, type, state);
  }
  return self();
}

function operate(op: string, left: Polynomial, right: Polynomial): Polynomial | null {
  switch (op) {
    case '+': return add(left, right);
    case '-': return add(left, scale(right, -1n));
    case '*': return multiply(left, right);
    case '<<': {
      const amount = constantTerm(right);
      return amount === null || amount < 0n || amount > 62n ? null : scale(left, 1n << amount);
    }
    default: return null;
  }
}

function binary(expr: Expr & { kind: 'binary' }, state: Uniformity, depth: number): Polynomial | null {
  if (expr.op === ',') return build(expr.right, state, depth + 1);
  const type = integerType(expr.type);
  if (type === null) return null;
  if (expr.op === '+' || expr.op === '-' || expr.op === '*' || expr.op === '<<') {
    const left = build(expr.left, state, depth + 1);
    const right = left === null ? null : build(expr.right, state, depth + 1);
    if (left === null || right === null) return null;
    const made = operate(expr.op, left, right);
    return made === null ? atom(expr) : arithmetic(made, type, state) ?? atom(expr);
  }
  const value = constantOf(expr, state.env);
  return value === null ? atom(expr) : constant(value);
}

/** The result of an operation in a type: too large is null, unsigned may wrap unless the ranges say no. */
function arithmetic(form: Polynomial, type: IntType | null, state: Uniformity): Polynomial | null {
  if (type === null || form.terms.size > MAX_TERMS) return null;
  for (const term of form.terms.values()) if (term.symbols.length > MAX_DEGREE) return null;
  if (form.wraps !== null) return wrapped(form, type, form.wraps);
  if (type.signed || fitsIn(form, type, state)) return form;
  return wrapped(form, type, { type, bits: type.bits });
}

function converted(form: Polynomial, from: IntType | null, to: IntType, state: Uniformity): Polynomial {
  if (from !== null && holdsAll(to, from)) return form;
  if (form.wraps !== null) return wrapped(form, to, form.wraps);
  return fitsIn(form, to, state) ? form : wrapped(form, to, { type: to, bits: to.bits });
}

/** What is known modulo 2^bits, in a type: all of it if the type has no more bits, else no more than the congruence. */
function wrapped(form: Polynomial, type: IntType, before: Wrap): Polynomial {
  if (before.bits < type.bits) return { terms: form.terms, wraps: { type: null, bits: before.bits } };
  const value = constantOfTerms(form);
  return value !== null ? constant(wrap(value, type)) : { terms: form.terms, wraps: { type, bits: type.bits } };
}

/** The narrower of two wraps; of which type the result is, its operation says. */
function bothWraps(a: Wrap | null, b: Wrap | null): Wrap | null {
  if (a === null || b === null) return a ?? b;
  return { type: null, bits: Math.min(a.bits, b.bits) };
}

/** A conversion to `bool` asks whether the value is not 0: no arithmetic. */
function toTruth(from: Type, to: Type): boolean {
  return to.kind === 'bool' && from.kind !== 'bool';
}

function holdsAll(to: IntType, from: IntType): boolean {
  if (from.signed) return to.signed && to.bits >= from.bits;
  return to.signed ? to.bits > from.bits : to.bits >= from.bits;
}

function commonType(a: IntType, b: IntType | null): IntType | null {
  return b === null ? null : typeOf(usualType(a, b));
}

function promote(type: IntType): IntType {
  return typeOf(promotedType(type));
}

function typeOf(type: IntegerType): IntType {
  return { kind: 'int', bits: type.bits, signed: type.signed };
}

function fitsIn(form: Polynomial, type: IntType, state: Uniformity): boolean {
  const { low, high } = formRange(form, state);
  if (low === null || high === null) return false;
  const limit = 1n << BigInt(type.signed ? type.bits - 1 : type.bits);
  return low >= (type.signed ? -limit : 0n) && high < limit;
}

/** Bounds of a form from the ranges of its symbols. */
export function formRange(form: Polynomial, state: Uniformity, bounds: (symbol: Symbol) => Range = (symbol) => rangeOf(symbol.expr, state.env)): Range {
  let low: bigint | null = 0n;
  let high: bigint | null = 0n;
  for (const term of form.terms.values()) {
    let here: Range = { low: term.coefficient, high: term.coefficient };
    for (const symbol of term.symbols) here = product(here, bounds(symbol));
    low = low === null || here.low === null ? null : low + here.low;
    high = high === null || here.high === null ? null : high + here.high;
  }
  return { low, high };
}

function product(a: Range, b: Range): Range {
  if (a.low === null || a.high === null || b.low === null || b.high === null) {
    // One-sided: only products of values that are not negative keep a bound.
    return a.low !== null && b.low !== null && a.low >= 0n && b.low >= 0n ? { low: a.low * b.low, high: null } : { low: null, high: null };
  }
  const corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
  let low = corners[0] ?? 0n;
  let high = low;
  for (const corner of corners) {
    if (corner < low) low = corner;
    if (corner > high) high = corner;
  }
  return { low, high };
}

// ----------------------------------------------------------------------------------------------------------------- algebra

export function add(a: Polynomial, b: Polynomial): Polynomial {
  const terms = new Map(a.terms);
  for (const [key, term] of b.terms) {
    const sum = (terms.get(key)?.coefficient ?? 0n) + term.coefficient;
    if (sum === 0n) terms.delete(key);
    else terms.set(key, { coefficient: sum, symbols: term.symbols });
  }
  return { terms, wraps: bothWraps(a.wraps, b.wraps) };
}

export function scale(a: Polynomial, factor: bigint): Polynomial {
  const terms = new Map<string, Term>();
  if (factor !== 0n) for (const [key, term] of a.terms) terms.set(key, { coefficient: term.coefficient * factor, symbols: term.symbols });
  return { terms, wraps: a.wraps };
}

export function multiply(a: Polynomial, b: Polynomial): Polynomial {
  let result: Polynomial = { terms: new Map(), wraps: bothWraps(a.wraps, b.wraps) };
  for (const left of a.terms.values()) {
    for (const right of b.terms.values()) {
      const symbols = [...left.symbols, ...right.symbols].sort((x, y) => (x.key < y.key ? -1 : x.key > y.key ? 1 : 0));
      const key = symbols.map((symbol) => symbol.key).join('*');
      result = add(result, { terms: new Map([[key, { coefficient: left.coefficient * right.coefficient, symbols }]]), wraps: null });
      if (result.terms.size > MAX_TERMS) return result;
    }
  }
  return result;
}

/** The value of a form that is a constant; null if it is none. */
export function constantTerm(form: Polynomial): bigint | null {
  return form.wraps === null ? constantOfTerms(form) : null;
}

function constantOfTerms(form: Polynomial): bigint | null {
  if (form.terms.size === 0) return 0n;
  const only = form.terms.get('');
  return form.terms.size === 1 && only !== undefined ? only.coefficient : null;
}
