import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addFloat, bfloat16OfBits, bitsOfBfloat16, bitsOfDouble, bitsOfFloat, bitsOfHalf, divFloat, doubleOfBits, floatOfBits, floatOfInteger, fmaDouble, fmaFloat, fmaFloatRounded, halfOfBits, mulFloat, nextFloat, roundEven, roundHalf, sqrtFloat, toInteger,
} from '../../src/cuda/floats.js';
import { INT16, INT32, INT64, UINT32, UINT64, UINT8 } from '../../src/cuda/integers.js';

const anyFloat = fc.oneof(fc.float({ noNaN: true }), fc.integer({ min: 0, max: 0xffffffff }).map(floatOfBits).filter((x) => !Number.isNaN(x)));
const finite = anyFloat.filter(Number.isFinite);
const anyDouble = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }).map(doubleOfBits).filter(Number.isFinite));

/** A finite double as an exact rational over 2^1074. */
function exact(x: number): bigint {
  const bits = bitsOfDouble(x);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = (bits & 0xfffffffffffffn) | (biased === 0 ? 0n : 1n << 52n);
  const magnitude = fraction << BigInt(Math.max(biased, 1) - 1);
  return x < 0 ? -magnitude : magnitude;
}
const SCALE = 1n << 1074n;
/** |candidate - value| for value given over 2^2148. */
const distance = (candidate: number, value: bigint): bigint => { const d = exact(candidate) * SCALE - value; return d < 0n ? -d : d; };

describe('float', () => {
  test('fused multiply-add of floats is the float nearest to the exact value', () => {
    fc.assert(fc.property(finite, finite, finite, (a, b, c) => {
      const result = fmaFloat(a, b, c);
      if (!Number.isFinite(result)) return;
      const value = exact(a) * exact(b) + exact(c) * SCALE;
      for (const neighbour of [nextFloat(result, true), nextFloat(result, false)]) {
        if (!Number.isFinite(neighbour)) continue;
        const here = distance(result, value);
        const there = distance(neighbour, value);
        expect(here < there || (here === there && (bitsOfFloat(result) & 1) === 0)).toBe(true);
      }
    }), { numRuns: 250 });
    // 1 + 2^-24 + 2^-72: a double keeps the tie only and rounds to even; the exact value lies above it.
    expect(fmaFloat(2 ** -36, 2 ** -36, 1 + 0)).toBe(1);
    expect(fmaFloat(2 ** -12, 2 ** -12 * (1 + 2 ** -20), 1)).toBe(1 + 2 ** -23);
    expect(fmaFloat(2 ** -12 + 2 ** -35, 2 ** -12, 1)).toBe(Math.fround(1 + 2 ** -23));
  });

  test('fused multiply-add of doubles is the nearest double', () => {
    fc.assert(fc.property(anyDouble, anyDouble, anyDouble, (a, b, c) => {
      const result = fmaDouble(a, b, c);
      if (!Number.isFinite(result) || !Number.isFinite(a * b)) return;
      const value = exact(a) * exact(b) + exact(c) * SCALE;
      for (const up of [true, false]) {
        const bits = bitsOfDouble(result);
        const neighbour = result === 0 ? (up ? Number.MIN_VALUE : -Number.MIN_VALUE) : doubleOfBits(up === (result > 0) ? bits + 1n : bits - 1n);
        if (!Number.isFinite(neighbour)) continue;
        const here = distance(result, value);
        const there = distance(neighbour, value);
        expect(here < there || (here === there && (bits & 1n) === 0n)).toBe(true);
      }
    }), { numRuns: 200 });
    expect(fmaDouble(0, 5, -0)).toBe(0);
    expect(fmaDouble(1e308, 10, -Infinity)).toBe(-Infinity);
    expect(fmaDouble(3, 4, Infinity)).toBe(Infinity);
  });

  test('directed rounding brackets the exact value', () => {
    const check = (value: bigint, down: number, up: number, zero: number, near: number): void => {
      if (![down, up, zero, near].every(Number.isFinite)) return;
      expect(exact(down) * SCALE <= value).toBe(true);
      expect(exact(up) * SCALE >= value).toBe(true);
      expect(down === up || nextFloat(down, true) === up).toBe(true);
      if (down === up) expect(exact(down) * SCALE).toBe(value);
      expect(zero).toBe(value < 0n ? up : down);
      expect([down, up]).toContain(near);
    };
    fc.assert(fc.property(finite, finite, finite, (a, b, c) => {
      check((exact(a) + exact(b)) * SCALE, addFloat(a, b, 'rd') + 0, addFloat(a, b, 'ru') + 0, addFloat(a, b, 'rz') + 0, addFloat(a, b, 'rn') + 0);
      check(exact(a) * exact(b), mulFloat(a, b, 'rd') + 0, mulFloat(a, b, 'ru') + 0, mulFloat(a, b, 'rz') + 0, mulFloat(a, b, 'rn') + 0);
      check(exact(a) * exact(b) + exact(c) * SCALE, fmaFloatRounded(a, b, c, 'rd') + 0, fmaFloatRounded(a, b, c, 'ru') + 0, fmaFloatRounded(a, b, c, 'rz') + 0, fmaFloatRounded(a, b, c, 'rn') + 0);
    }), { numRuns: 250 });
  });

  test('division and square root, all directions', () => {
    fc.assert(fc.property(finite, finite.filter((b) => b !== 0), (a, b) => {
      const down = divFloat(a, b, 'rd');
      const up = divFloat(a, b, 'ru');
      if (Number.isFinite(down) && Number.isFinite(up)) {
        // down·|b| <= a·sign(b) <= up·|b| exactly
        const signed = exact(a) * (b < 0 ? -SCALE : SCALE);
        const magnitude = exact(Math.abs(b));
        expect(exact(down) * magnitude <= signed && exact(up) * magnitude >= signed).toBe(true);
        expect(down === up || nextFloat(down, true) === up).toBe(true);
      }
      expect(divFloat(a, b, 'rn')).toBe(Math.fround(a / b)); // double division then rounding is known to be innocuous for floats
      const x = Math.abs(a);
      const low = sqrtFloat(x, 'rd');
      const high = sqrtFloat(x, 'ru');
      expect(exact(low) * exact(low) <= exact(x) * SCALE && exact(high) * exact(high) >= exact(x) * SCALE).toBe(true);
    }), { numRuns: 250 });
  });
});

describe('half and bfloat16', () => {
  test('every half survives a round trip', () => {
    for (let bits = 0; bits < 0x10000; bits++) {
      const value = halfOfBits(bits);
      if (Number.isNaN(value)) continue;
      expect(bitsOfHalf(value)).toBe(bits);
      expect(Object.is(roundHalf(value), value)).toBe(true);
      const wide = bfloat16OfBits(bits);
      if (!Number.isNaN(wide)) expect(bitsOfBfloat16(wide)).toBe(bits);
    }
  });

  test('rounding is to the nearest, ties to even', () => {
    expect(roundHalf(2049)).toBe(2048);
    expect(roundHalf(2051)).toBe(2052);
    expect(roundHalf(65519.99)).toBe(65504);
    expect(roundHalf(65520)).toBe(Infinity);
    expect(roundHalf(2 ** -25)).toBe(0);
    expect(roundHalf(2 ** -25 * 1.0001)).toBe(2 ** -24);
    fc.assert(fc.property(fc.double({ min: -70000, max: 70000, noNaN: true }), (x) => {
      const bits = bitsOfHalf(x);
      const value = halfOfBits(bits);
      if (!Number.isFinite(value) || value === 0) return;
      for (const neighbour of [halfOfBits(bits + 1), halfOfBits(bits - 1)]) {
        if (Number.isFinite(neighbour)) expect(Math.abs(value - x)).toBeLessThanOrEqual(Math.abs(neighbour - x));
      }
    }));
  });
});

describe('conversions to integers', () => {
  test('truncate and saturate as the hardware does', () => {
    expect(toInteger(3.99, INT32)).toBe(3n);
    expect(toInteger(-3.99, INT32)).toBe(-3n);
    expect(toInteger(1e20, INT32)).toBe(2n ** 31n - 1n);
    expect(toInteger(-1, UINT32)).toBe(0n);
    expect(toInteger(NaN, INT32)).toBe(0n);
    expect(toInteger(2 ** 63, INT64)).toBe(2n ** 63n - 1n);
    expect(toInteger(2 ** 64, UINT64)).toBe(2n ** 64n - 1n);
    expect(toInteger(300, UINT8)).toBe(44n);
    expect(toInteger(40000, INT16)).toBe(-25536n);
    expect(toInteger(2.5, INT32, 'rn')).toBe(2n);
    expect(toInteger(-2.5, INT32, 'rd')).toBe(-3n);
  });

  test('rint and integers to float', () => {
    fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (x) => {
      const r = roundEven(x);
      expect(Number.isInteger(r)).toBe(true);
      expect(Math.abs(r - x)).toBeLessThanOrEqual(0.5);
    }));
    expect(floatOfInteger(16777217n)).toBe(16777216);
    expect(floatOfInteger((1n << 63n) + (1n << 39n) + 1n)).toBe(2 ** 63 + 2 ** 40);
    expect(floatOfInteger(16777217n, 'ru')).toBe(16777218);
  });
});
