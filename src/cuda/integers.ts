/**
 * C++ integer types as the device sees them: promotion, usual arithmetic conversions, conversion with wrap-around, and every binary
 * operator, exact on 64 bits. One module for lane sets, host constants and constant folding; the simulator's fast paths
 * (`src/simulate/values.ts`) are tested against it.
 *
 * Source: ISO C++ [conv.prom], [expr.arith.conv], [expr.shift]. Where C++ leaves the result undefined (signed overflow, a shift by a
 * negative or too large amount, division by zero) the value is what the hardware gives and `undefinedBecause` says so.
 */

export interface IntegerType { readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean }

export const INT8: IntegerType = { bits: 8, signed: true };
export const UINT8: IntegerType = { bits: 8, signed: false };
export const INT16: IntegerType = { bits: 16, signed: true };
export const UINT16: IntegerType = { bits: 16, signed: false };
export const INT32: IntegerType = { bits: 32, signed: true };
export const UINT32: IntegerType = { bits: 32, signed: false };
export const INT64: IntegerType = { bits: 64, signed: true };
export const UINT64: IntegerType = { bits: 64, signed: false };

/** A value of an integer type; always in the range of its type. */
export interface Integer { readonly value: bigint; readonly type: IntegerType }

export type IntegerOperator = '+' | '-' | '*' | '/' | '%' | '<<' | '>>' | '&' | '|' | '^' | '<' | '<=' | '>' | '>=' | '==' | '!=';

export type UndefinedReason = 'division-by-zero' | 'signed-overflow' | 'shift-amount';

/** The result of an operator. Comparisons give 0 or 1 of type `int`. */
export interface IntegerResult extends Integer {
  readonly undefinedBecause: UndefinedReason | null;
}

export function sameType(a: IntegerType, b: IntegerType): boolean {
  return a.bits === b.bits && a.signed === b.signed;
}

export function minimum(type: IntegerType): bigint {
  return type.signed ? -(1n << BigInt(type.bits - 1)) : 0n;
}

export function maximum(type: IntegerType): bigint {
  return (1n << BigInt(type.signed ? type.bits - 1 : type.bits)) - 1n;
}

export function fits(value: bigint, type: IntegerType): boolean {
  return wrap(value, type) === value;
}

/** Does the second type hold every value of the first? */
export function fitsIn(a: IntegerType, b: IntegerType): boolean {
  return a.signed === b.signed ? a.bits <= b.bits : !a.signed && a.bits < b.bits;
}

/** `value` modulo 2^bits, in the range of the type. */
export function wrap(value: bigint, type: IntegerType): bigint {
  return type.signed ? BigInt.asIntN(type.bits, value) : BigInt.asUintN(type.bits, value);
}

/** The same for values that a number holds exactly; `type` has at most 32 bits. */
export function wrapNumber(value: number, type: IntegerType): number {
  if (!Number.isSafeInteger(value)) return Number(wrap(BigInt(value), type));
  // `|0` keeps the low 32 bits of any safe integer.
  switch (type.bits) {
    case 8: return type.signed ? (value << 24) >> 24 : value & 0xff;
    case 16: return type.signed ? (value << 16) >> 16 : value & 0xffff;
    case 32: return type.signed ? value | 0 : value >>> 0;
    case 64: throw new Error('wrapNumber takes types of at most 32 bits');
  }
}

export function integer(value: bigint | number, type: IntegerType): Integer {
  return { value: wrap(BigInt(value), type), type };
}

/** Integer promotion: everything narrower than `int` becomes `int`, whose range holds it. */
export function promote(type: IntegerType): IntegerType {
  return type.bits < 32 ? INT32 : type;
}

/** Usual arithmetic conversions. */
export function commonType(a: IntegerType, b: IntegerType): IntegerType {
  const left = promote(a);
  const right = promote(b);
  if (left.bits !== right.bits) return left.bits > right.bits ? left : right; // the wider one holds the range of a narrower unsigned one
  return !left.signed ? left : !right.signed ? right : left;
}

export function convert(value: Integer, type: IntegerType): Integer {
  return { value: wrap(value.value, type), type };
}

export function negate(a: Integer): IntegerResult {
  const type = promote(a.type);
  return finish(-wrap(a.value, type), type);
}

export function complement(a: Integer): IntegerResult {
  const type = promote(a.type);
  return { value: wrap(~a.value, type), type, undefinedBecause: null };
}

/** Wraps an exact result; leaving the range of a signed type is undefined in C++, two's complement on the device. */
function finish(exact: bigint, type: IntegerType): IntegerResult {
  const value = wrap(exact, type);
  return { value, type, undefinedBecause: type.signed && value !== exact ? 'signed-overflow' : null };
}

function truth(holds: boolean): IntegerResult {
  return holds ? ONE : ZERO;
}

const ONE: IntegerResult = { value: 1n, type: INT32, undefinedBecause: null };
const ZERO: IntegerResult = { value: 0n, type: INT32, undefinedBecause: null };

/** `a op b` with the conversions that C++ applies. */
export function operate(op: IntegerOperator, a: Integer, b: Integer): IntegerResult {
  if (op === '<<' || op === '>>') return shift(op, a, b);
  const type = commonType(a.type, b.type);
  const x = a.type === type ? a.value : wrap(a.value, type);
  const y = b.type === type ? b.value : wrap(b.value, type);
  switch (op) {
    case '+': return finish(x + y, type);
    case '-': return finish(x - y, type);
    case '*': return finish(x * y, type);
    case '/':
      // The device gives all ones for an integer division by zero, and the dividend for the remainder.
      if (y === 0n) return { value: wrap(-1n, type), type, undefinedBecause: 'division-by-zero' };
      return finish(x / y, type);
    case '%':
      if (y === 0n) return { value: x, type, undefinedBecause: 'division-by-zero' };
      return { value: wrap(x % y, type), type, undefinedBecause: fits(x / y, type) ? null : 'signed-overflow' };
    case '&': return { value: wrap(x & y, type), type, undefinedBecause: null };
    case '|': return { value: wrap(x | y, type), type, undefinedBecause: null };
    case '^': return { value: wrap(x ^ y, type), type, undefinedBecause: null };
    case '<': return truth(x < y);
    case '<=': return truth(x <= y);
    case '>': return truth(x > y);
    case '>=': return truth(x >= y);
    case '==': return truth(x === y);
    case '!=': return truth(x !== y);
  }
}

/** The type is the promoted left operand's. Amounts outside 0…bits-1 shift everything out, as PTX `shl` and `shr` do. */
function shift(op: '<<' | '>>', a: Integer, b: Integer): IntegerResult {
  const type = promote(a.type);
  const x = wrap(a.value, type);
  const bits = BigInt(type.bits);
  if (b.value < 0n || b.value >= bits) {
    return { value: op === '>>' && x < 0n ? -1n : 0n, type, undefinedBecause: 'shift-amount' };
  }
  // A left shift of a negative number or into the sign is defined since C++20 and wraps in every compiler of the device.
  return { value: wrap(op === '<<' ? x << b.value : x >> b.value, type), type, undefinedBecause: null };
}

// ------------------------------------------------------------------------------------------------------ values that numbers hold

/**
 * `a op b` for two values of one type of 32 bits that both were converted to; of a shift, the second is the amount, of any type. Null where C++ leaves the result undefined. The same as
 * {@link operate}, for callers that evaluate for every thread of a block.
 */
export function operateNumber(op: IntegerOperator, x: number, y: number, signed: boolean): number | null {
  switch (op) {
    case '+': return finishNumber(x + y, signed);
    case '-': return finishNumber(x - y, signed);
    // A product that a number does not hold exactly is far out of the range of a signed type.
    case '*': return signed ? finishNumber(x * y, signed) : Math.imul(x, y) >>> 0;
    case '/': return y === 0 ? null : finishNumber(Math.trunc(x / y), signed);
    case '%': return y === 0 || (signed && y === -1 && x === -0x80000000) ? null : signed ? (x % y) | 0 : x % y;
    case '&': return signed ? x & y : (x & y) >>> 0;
    case '|': return signed ? x | y : (x | y) >>> 0;
    case '^': return signed ? x ^ y : (x ^ y) >>> 0;
    case '<<': return y < 0 || y >= 32 ? null : signed ? x << y : (x << y) >>> 0;
    case '>>': return y < 0 || y >= 32 ? null : signed ? x >> y : x >>> y;
    case '<': return x < y ? 1 : 0;
    case '<=': return x <= y ? 1 : 0;
    case '>': return x > y ? 1 : 0;
    case '>=': return x >= y ? 1 : 0;
    case '==': return x === y ? 1 : 0;
    case '!=': return x !== y ? 1 : 0;
  }
}

function finishNumber(exact: number, signed: boolean): number | null {
  if (!signed) return exact >>> 0;
  const value = exact | 0;
  return value === exact ? value : null;
}
