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
import { commonType, maximum, minimum, type IntegerType } from '../../../src/cuda/integers.js';
import { lanesOfWarp } from '../../../src/analysis/platform.js';
import type { FunctionFacts, Loop, Variable } from '../../../src/analysis/facts.js';
import { unreachable, type Expr } from '../../../src/syntax/tree.js';
import { convert, promoted, settle, shifted } from './conversions.js';
import { add, constant, multiply, negate, subtract, symbol, symbolsOf } from './polynomial.js';
import { divided } from './quotients.js';
import { ReadingState } from './reading-state.js';
import { mayBeSpelled, whole } from './spelled.js';
import { coordinate, exactly, holdsTruth, integerType, variableKey, type Reading } from './values.js';
import { macro, reference } from './variables.js';

/** A reader for one loop. `counter` is the variable that the loop counts by, if that is already known. */
export class Reader extends ReadingState {
  /**
   * `lane`: what is read is a value of one lane. Whatever the lane can name in front of the loop keeps its name, and is not followed to the
   * coordinates of the block. `rises`: the counter moves up without passing the end of its type; `round` if it may start below zero in a type without a sign.
   */
  constructor(facts: FunctionFacts, loop: Loop, counter: Variable | null, private readonly counterNonNegative: boolean, lane = false, private readonly rises: 'no' | 'round' | 'yes' = 'no') {
    super(facts, loop, counter, lane);
  }

  /** Null if the expression cannot be read; `failure` then says why. */
  read(expr: Expr): Reading | null {
    const value = this.isFreeOfLaunch(expr) ? this.facts.constant(expr) : null;
    if (value !== null && this.constants.provenance(expr) === 'literal') return this.written(expr, value);
    const parts = this.readParts(expr, value);
    if (parts !== null || value === null) return parts;
    // A constant that is no sum of constants: as it stands, or, in the text of a macro, its value if that is the same in all builds.
    if (!this.isMadeElsewhere(expr) && mayBeSpelled(this, expr)) return this.constants.spelled(expr, this.textOf(expr), value, null) ?? parts;
    return this.constants.provenance(expr) === 'open' ? parts : this.written(expr, value);
  }

  private written(expr: Expr, value: bigint): Reading | null {
    const type = integerType(expr.type);
    if (type === null) return this.fail(expr, 'its type is not a known integer type', 'types-known');
    return exactly(constant(value), type);
  }

  private readParts(expr: Expr, value: bigint | null): Reading | null {
    switch (expr.kind) {
      case 'paren': return this.read(expr.inner);
      case 'macro': return macro(this, expr);
      case 'coordinate': {
        const reading = coordinate(expr, this.facts.block, lanesOfWarp(this.facts.program, this.facts.unit));
        if (reading !== null && this.lane) for (const sym of symbolsOf(reading.poly)) this.scopes.set(sym.key, this.scopeOf(expr));
        return reading ?? this.fail(expr, 'the whole coordinate is used', 'bound-exact');
      }
      case 'ref': return reference(this, expr, value);
      case 'cast': {
        const type = integerType(expr.type);
        if (type === null) return this.fail(expr, 'the type it is converted to is not a known integer type', 'types-known');
        const operand = this.read(expr.operand);
        if (operand !== null && !holdsTruth(expr.type, operand)) return this.fail(expr, 'it is a truth value of a number', 'guard-exact');
        return operand === null ? null : convert(this, operand, type, expr);
      }
      case 'unary': {
        if (expr.op !== '-' && expr.op !== '+') return whole(this, expr);
        const operand = promoted(this, expr.operand);
        if (operand === null || expr.op === '+') return operand;
        return settle({ ...operand, poly: negate(operand.poly) });
      }
      case 'binary': return this.binary(expr);
      case 'member': case 'call': return whole(this, expr);
      case 'literal': case 'this': case 'update': case 'assign': case 'conditional': case 'index': case 'construct': case 'init-list': case 'sizeof':
      case 'lambda': case 'opaque':
        return this.fail(expr, 'it is not a sum of products of counters, thread coordinates and fixed values', 'bound-exact');
      default: return unreachable(expr);
    }
  }

  private binary(expr: Extract<Expr, { kind: 'binary' }>): Reading | null {
    if (expr.op !== '+' && expr.op !== '-' && expr.op !== '*' && expr.op !== '<<') return divided(this, expr);
    let left = promoted(this, expr.left);
    if (left === null) return null;
    if (expr.op === '<<') {
      const amount = this.facts.constant(expr.right);
      if (amount === null || amount < 0n || amount >= BigInt(left.type.bits)) return this.fail(expr, 'the amount of the shift is not a constant', 'bound-exact');
      if (this.constants.provenance(expr.right) === 'open') return this.fail(expr, 'another build may shift by another amount', 'bound-exact');
      return shifted(left, multiply(left.poly, constant(1n << amount)));
    }
    let right = promoted(this, expr.right);
    if (right === null) return null;
    const type = commonType(left.type, right.type);
    left = convert(this, left, type, expr.left);
    right = convert(this, right, type, expr.right);
    if (left === null || right === null) return null;
    const poly = expr.op === '+' ? add(left.poly, right.poly) : expr.op === '-' ? subtract(left.poly, right.poly) : multiply(left.poly, right.poly);
    return settle({ poly, type, exact: left.exact && right.exact, index: (left.exact || left.index === true) && (right.exact || right.index === true), assumed: left.assumed || right.assumed, needs: [...left.needs ?? [], ...right.needs ?? []] });
  }

  /** The counter itself. */
  readVariable(decl: Variable, type: IntegerType): Reading {
    const low = this.counterNonNegative && type.signed ? 0n : minimum(type);
    return exactly(symbol(this.intern({ key: variableKey(decl), role: 'counter', text: decl.name, names: [{ kind: 'named', decl }], type, low, high: maximum(type), extent: null, ...(this.rises === 'no' ? {} : { rises: true as const }), ...(this.rises === 'yes' ? {} : { round: true as const }) })), type);
  }

  /** The value converted to `type`; widening a value that may have wrapped is read as if it had not, if it is made of coordinates. */
  convert(reading: Reading, type: IntegerType, node: Expr): Reading | null {
    return convert(this, reading, type, node);
  }
}

export type { Unreadable } from './reading-state.js';
export { integerType, isThreadsOwn, variableKey, type Reading } from './values.js';
