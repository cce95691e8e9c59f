import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  INT16, INT32, INT64, INT8, UINT16, UINT32, UINT64, UINT8, commonType, complement, convert, fits, fitsIn, integer, maximum, minimum, negate, operate, operateNumber, promote, wrap, wrapNumber,
  type Integer, type IntegerOperator, type IntegerType,
} from '../../src/cuda/integers.js';

const TYPES = [INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64];
const anyType = fc.constantFrom(...TYPES);
const anyInteger: fc.Arbitrary<Integer> = anyType.chain((type) =>
  fc.oneof(fc.bigInt({ min: minimum(type), max: maximum(type) }), fc.constantFrom(minimum(type), maximum(type), 0n, 1n)).map((value) => ({ value, type })));

/** Modular arithmetic spelled out, independent of BigInt.asIntN. */
function reference(value: bigint, type: IntegerType): bigint {
  const m = 1n << BigInt(type.bits);
  const r = ((value % m) + m) % m;
  return type.signed && r >= m / 2n ? r - m : r;
}

describe('integer types', () => {
  test('promotion and usual arithmetic conversions', () => {
    expect(promote(UINT16)).toEqual(INT32);
    expect(promote(UINT32)).toEqual(UINT32);
    expect(commonType(INT8, UINT8)).toEqual(INT32);
    expect(commonType(INT32, UINT32)).toEqual(UINT32);
    expect(commonType(UINT32, INT64)).toEqual(INT64);
    expect(commonType(INT64, UINT64)).toEqual(UINT64);
    expect(commonType(INT32, UINT64)).toEqual(UINT64);
  });

  test('the wrap-around idiom of SEMANTICS 1: threadIdx.x - 1 < 31u fails for lane 0 only', () => {
    for (let lane = 0; lane < 32; lane++) {
      const difference = operate('-', integer(lane, UINT32), integer(1, INT32));
      expect(operate('<', difference, integer(31, UINT32)).value).toBe(lane === 0 ? 0n : 1n);
    }
  });

  test('undefined operations are named and have the value of the device', () => {
    expect(operate('/', integer(7, INT32), integer(0, INT32))).toMatchObject({ undefinedBecause: 'division-by-zero' });
    expect(operate('/', integer(-(2n ** 31n), INT32), integer(-1, INT32))).toEqual({ value: -(2n ** 31n), type: INT32, undefinedBecause: 'signed-overflow' });
    expect(operate('%', integer(-7, INT32), integer(3, INT32)).value).toBe(-1n);
    expect(operate('<<', integer(1, INT32), integer(32, INT32))).toEqual({ value: 0n, type: INT32, undefinedBecause: 'shift-amount' });
    expect(operate('>>', integer(-8, INT32), integer(-1, INT32))).toEqual({ value: -1n, type: INT32, undefinedBecause: 'shift-amount' });
    expect(operate('<<', integer(1, UINT8), integer(9, INT32))).toEqual({ value: 512n, type: INT32, undefinedBecause: null });
    expect(operate('+', integer(2n ** 31n - 1n, INT32), integer(1, INT32))).toMatchObject({ value: -(2n ** 31n), undefinedBecause: 'signed-overflow' });
    expect(operate('+', integer(2n ** 32n - 1n, UINT32), integer(1, INT32))).toEqual({ value: 0n, type: UINT32, undefinedBecause: null });
  });

  test('wrap and conversion agree with modular arithmetic', () => {
    fc.assert(fc.property(fc.bigInt({ min: -(1n << 80n), max: 1n << 80n }), anyType, (value, type) => {
      expect(wrap(value, type)).toBe(reference(value, type));
      expect(convert(integer(value, INT64), type).value).toBe(reference(reference(value, INT64), type));
    }));
  });

  test('the number path agrees with the exact one', () => {
    fc.assert(fc.property(fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }).map(Math.trunc)), fc.constantFrom(INT8, UINT8, INT16, UINT16, INT32, UINT32), (value, type) => {
      expect(BigInt(wrapNumber(value, type))).toBe(reference(BigInt(value), type));
    }));
  });

  test('operators on numbers give what those on integers give, and null where that is undefined', () => {
    const ops = fc.constantFrom<IntegerOperator>('+', '-', '*', '/', '%', '<<', '>>', '&', '|', '^', '<', '<=', '>', '>=', '==', '!=');
    const edges = (type: IntegerType): fc.Arbitrary<bigint> => fc.oneof(fc.bigInt({ min: minimum(type), max: maximum(type) }), fc.constantFrom(minimum(type), maximum(type), 0n, 1n, type.signed ? -1n : 31n, 32n));
    const pairs = fc.constantFrom(INT32, UINT32).chain((type) => fc.record({ type: fc.constant(type), x: edges(type), y: edges(type) }));
    fc.assert(fc.property(ops, pairs, (op, { type, x, y }) => {
      const exact = operate(op, { value: x, type }, { value: y, type });
      const found = operateNumber(op, Number(x), Number(y), type.signed);
      expect(found).toBe(exact.undefinedBecause === null ? Number(exact.value) : null);
      expect(Object.is(found, -0)).toBe(false);
    }), { numRuns: 2000 });
  });

  test('a type fits in another if that holds its smallest and its largest value', () => {
    for (const a of TYPES) for (const b of TYPES) expect(fitsIn(a, b)).toBe(fits(minimum(a), b) && fits(maximum(a), b));
  });

  test('operators agree with exact arithmetic in the common type', () => {
    fc.assert(fc.property(fc.constantFrom<IntegerOperator>('+', '-', '*', '/', '%', '&', '|', '^', '<', '<=', '>', '>=', '==', '!='), anyInteger, anyInteger, (op, a, b) => {
      const type = commonType(a.type, b.type);
      const x = reference(a.value, type);
      const y = reference(b.value, type);
      const result = operate(op, a, b);
      expect(fits(result.value, result.type)).toBe(true);
      if (['<', '<=', '>', '>=', '==', '!='].includes(op)) {
        const holds = op === '<' ? x < y : op === '<=' ? x <= y : op === '>' ? x > y : op === '>=' ? x >= y : op === '==' ? x === y : x !== y;
        expect(result).toEqual({ value: holds ? 1n : 0n, type: INT32, undefinedBecause: null });
        return;
      }
      expect(result.type).toEqual(type);
      if ((op === '/' || op === '%') && y === 0n) {
        expect(result.undefinedBecause).toBe('division-by-zero');
        return;
      }
      const exact = op === '+' ? x + y : op === '-' ? x - y : op === '*' ? x * y : op === '/' ? x / y : op === '%' ? x - (x / y) * y : op === '&' ? x & y : op === '|' ? x | y : x ^ y;
      expect(result.value).toBe(reference(exact, type));
    }), { numRuns: 2000 });
  });

  test('shifts, negation and complement', () => {
    fc.assert(fc.property(anyInteger, fc.integer({ min: -3, max: 70 }), (a, amount) => {
      const type = promote(a.type);
      const left = operate('<<', a, integer(amount, INT32));
      const right = operate('>>', a, integer(amount, INT32));
      const defined = amount >= 0 && amount < type.bits;
      expect([left.undefinedBecause, right.undefinedBecause]).toEqual(defined ? [null, null] : ['shift-amount', 'shift-amount']);
      if (defined) {
        expect(left.value).toBe(reference(a.value * 2n ** BigInt(amount), type));
        const d = 2n ** BigInt(amount);
        expect(right.value).toBe((a.value - (((a.value % d) + d) % d)) / d); // floor division
      }
      expect(negate(a).value).toBe(reference(-a.value, type));
      expect(complement(a).value).toBe(reference(-a.value - 1n, type));
    }));
  });
});
