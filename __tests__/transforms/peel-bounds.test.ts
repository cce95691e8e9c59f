/**
 * Bounds that peel writes, evaluated as C++ evaluates them, against mathematics and against loops that are simply run.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { INT32, INT64, maximum, minimum, UINT32, UINT64, wrap, type IntegerType } from '../../src/cuda/integers.js';
import { boundOf, lessThanZero, type Change } from '../../transforms/lib/guards/bound.js';
import { evaluate, print, typeOf, type Cpp } from '../../transforms/lib/guards/cpp.js';
import { add, constant, extreme, interval, linearIn, multiply, negate, subtract, symbol, type Poly, type Sym } from '../../transforms/lib/guards/polynomial.js';
import { varies } from '../../transforms/lib/guards/solve.js';

function sym(name: string, type: IntegerType, { low = minimum(type), high = maximum(type), role = 'uniform' as Sym['role'], extent = null as Sym['extent'] } = {}): Sym {
  return { key: name, role, text: name, names: [], type, low, high, extent };
}

const BDX = sym('blockDim.x', UINT32, { low: 1n, high: 1024n });
const BDY = sym('blockDim.y', UINT32, { low: 1n, high: 1024n });
const TX = sym('threadIdx.x', UINT32, { low: 0n, high: 1023n, role: 'thread', extent: { low: constant(0n), high: subtract(symbol(BDX), constant(1n)) } });
const TY = sym('threadIdx.y', UINT32, { low: 0n, high: 1023n, role: 'thread', extent: { low: constant(0n), high: subtract(symbol(BDY), constant(1n)) } });
const BIX = sym('blockIdx.x', UINT32, { low: 0n, high: 2147483646n });

const names = (): ((wish: string) => string) => {
  let n = 0;
  return (wish) => `${wish}${n++}`;
};

function boundValue(changes: readonly Change[], nearest: boolean, values: ReadonlyMap<string, bigint>): { value: bigint; cpp: Cpp } {
  const bound = boundOf(changes, nearest, names());
  if (bound === null) throw new Error('no type holds the bound');
  return { value: evaluate(bound.value, values), cpp: bound.value };
}

/** The smallest t >= 0 with a*t >= level. */
function change(level: bigint, a: bigint): bigint {
  return level <= 0n ? 0n : (level + a - 1n) / a;
}

/** Values near the edges of a type, and anywhere in it. */
const of = (type: IntegerType): fc.Arbitrary<bigint> => fc.oneof(
  fc.bigInt({ min: minimum(type), max: maximum(type) }),
  fc.bigInt({ min: 0n, max: 40n }).map((n) => maximum(type) - n),
  fc.bigInt({ min: 0n, max: 40n }).map((n) => minimum(type) + n),
  fc.bigInt({ min: 0n, max: 2000n }).map((n) => n + minimum(type) * 0n),
);
const block = fc.bigInt({ min: 1n, max: 1024n });

describe('the bound of a tile loop', () => {
  for (const type of [INT32, UINT32, INT64, UINT64]) {
    test(`is exact and never overflows for a length of ${type.signed ? '' : 'unsigned '}${type.bits} bits`, () => {
      const N = sym('N', type);
      for (const tile of [1n, 16n, 32n]) {
        // t*tile + threadIdx.x < N for every thread.
        const level = extreme(subtract(symbol(N), symbol(TX)), 'low', varies);
        if (level === null) throw new Error('no extreme');
        fc.assert(fc.property(of(type), block, (n, bdx) => {
          const { value } = boundValue([{ level, divisor: constant(tile) }], true, new Map([['N', n], ['blockDim.x', bdx]]));
          expect(value).toBe(change(n - (bdx - 1n), tile));
        }), { numRuns: 300 });
      }
    });
  }

  test('over two coordinates it takes the farther one', () => {
    const K = sym('K', INT32);
    const levels = [TX, TY].map((coordinate) => extreme(subtract(symbol(K), symbol(coordinate)), 'low', varies));
    const changes = levels.map((level) => ({ level: level ?? constant(0n), divisor: constant(1n) }));
    fc.assert(fc.property(of(INT32), block, block, (k, bdx, bdy) => {
      const { value, cpp } = boundValue(changes, true, new Map([['K', k], ['blockDim.x', bdx], ['blockDim.y', bdy]]));
      expect(value).toBe(change(k - (bdx > bdy ? bdx : bdy) + 1n, 1n));
      expect(typeOf(cpp)).toEqual(INT32);
    }));
    const bound = boundOf(changes, true, names());
    expect(bound === null ? null : bound.declarations.map((d) => print(d.value))).toEqual(['(int)max(blockDim.x, blockDim.y) - 1']);
    expect(bound === null ? null : print(bound.value)).toBe('K > reach0 ? K - reach0 : 0');
  });

  test('with a block of unknown place it is computed in 64 bits', () => {
    const N = sym('N', INT32);
    const R = sym('R', INT32);
    const index = add(multiply(symbol(BIX), symbol(BDX)), symbol(TX));
    const level = extreme(subtract(add(symbol(N), symbol(R)), index), 'low', varies);
    if (level === null) throw new Error('no extreme');
    fc.assert(fc.property(of(INT32), of(INT32), block, fc.bigInt({ min: 0n, max: 2147483646n }), (n, r, bdx, bix) => {
      const { value } = boundValue([{ level, divisor: constant(1n) }], true, new Map([['N', n], ['R', r], ['blockDim.x', bdx], ['blockIdx.x', bix]]));
      expect(value).toBe(change(n + r - (bix * bdx + bdx - 1n), 1n));
    }), { numRuns: 400 });
  });

  test('a divisor known only to be positive', () => {
    const N = sym('N', INT32);
    const level = extreme(subtract(symbol(N), symbol(TX)), 'low', varies);
    if (level === null) throw new Error('no extreme');
    fc.assert(fc.property(of(INT32), block, (n, bdx) => {
      const { value } = boundValue([{ level, divisor: symbol(BDX) }], true, new Map([['N', n], ['blockDim.x', bdx]]));
      expect(value).toBe(change(n - (bdx - 1n), bdx));
    }));
  });

  test('several changes: the nearest, or the farthest', () => {
    const symbols = [sym('A', INT32), sym('B', INT32), sym('C', UINT32, { high: 1000n })];
    const poly = fc.array(fc.tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: 0, max: 2 })), { maxLength: 3 })
      .chain((terms) => fc.integer({ min: -50, max: 50 }).map((fixed) => terms.reduce<Poly>((sum, [factor, which]) => {
        const s = symbols[which];
        return s === undefined ? sum : add(sum, multiply(constant(BigInt(factor)), symbol(s)));
      }, constant(BigInt(fixed)))));
    fc.assert(fc.property(fc.array(poly, { minLength: 1, maxLength: 3 }), fc.constantFrom(1n, 4n), fc.boolean(), of(INT32), of(INT32), fc.bigInt({ min: 0n, max: 1000n }), (polys, a, nearest, x, y, z) => {
      const values = new Map([['A', x], ['B', y], ['C', z]]);
      const changes = polys.map((level) => ({ level, divisor: constant(a) }));
      const expected = polys.map((level) => change(valueOf(level, values), a)).reduce((p, q) => ((p < q) === nearest ? p : q));
      expect(boundValue(changes, nearest, values).value).toBe(expected);
    }), { numRuns: 600 });
  });

  test('without clamping it goes below zero', () => {
    const N = sym('N', INT32);
    const level = extreme(subtract(symbol(N), symbol(TX)), 'low', varies);
    if (level === null) throw new Error('no extreme');
    fc.assert(fc.property(of(INT32), block, (n, bdx) => {
      const bound = boundOf([{ level, divisor: constant(1n) }], true, names(), false);
      if (bound === null) throw new Error('no bound');
      expect(evaluate(bound.value, new Map([['N', n], ['blockDim.x', bdx]]))).toBe(n - (bdx - 1n));
    }));
  });

  test('no type holds a length of 128 bits', () => {
    const N = sym('N', INT64);
    expect(boundOf([{ level: add(symbol(N), symbol(sym('M', INT64))), divisor: constant(1n) }], true, names())).toBeNull();
  });
});

function valueOf(poly: Poly, values: ReadonlyMap<string, bigint>): bigint {
  return poly.reduce((sum, term) => sum + term.symbols.reduce((product, s) => product * (values.get(s.key) ?? 0n), term.coefficient), 0n);
}

describe('tests of a window', () => {
  test('hold exactly when every thread and every tap is inside', () => {
    const [n, R] = [sym('n', INT32), sym('R', INT32)];
    const k = sym('k', INT32, { role: 'inner', extent: { low: negate(symbol(R)), high: symbol(R) } });
    const j = add(add(multiply(symbol(BIX), symbol(BDX)), symbol(TX)), symbol(k));
    const demands = [subtract(negate(j), constant(1n)), subtract(j, symbol(n))].map((poly) => extreme(poly, 'high', varies));
    const tests = demands.map((poly) => (poly === null ? null : lessThanZero(poly)));
    fc.assert(fc.property(fc.bigInt({ min: -5n, max: 600n }), fc.bigInt({ min: 0n, max: 9n }), fc.bigInt({ min: 1n, max: 33n }), fc.bigInt({ min: 0n, max: 9n }), (nv, rv, bdx, bix) => {
      const values = new Map([['n', nv], ['R', rv], ['blockDim.x', bdx], ['blockIdx.x', bix]]);
      const holds = tests.every((t) => t !== null && compare(t.left, t.op, t.right, values));
      let inside = true;
      for (let tx = 0n; tx < bdx; tx++) for (let tap = -rv; tap <= rv; tap++) {
        const at = bix * bdx + tx + tap;
        inside &&= at >= 0n && at < nv;
      }
      expect(holds).toBe(inside);
    }), { numRuns: 300 });
    for (const nv of [minimum(INT32), maximum(INT32)]) {
      for (const rv of [minimum(INT32), maximum(INT32)]) {
        const values = new Map([['n', nv], ['R', rv], ['blockDim.x', 1024n], ['blockIdx.x', 2147483646n]]);
        for (const t of tests) if (t !== null) expect(() => compare(t.left, t.op, t.right, values)).not.toThrow();
      }
    }
  });
});

/** The comparison in C++: operands converted to their common type. */
function compare(left: Cpp, op: '<' | '<=', right: Cpp, values: ReadonlyMap<string, bigint>): boolean {
  const [a, b] = [evaluate(left, values), evaluate(right, values)];
  const [s, t] = [typeOf(left), typeOf(right)];
  const bits = s.bits > t.bits ? s.bits : t.bits;
  const signed = (s.bits === bits ? s.signed : true) && (t.bits === bits ? t.signed : true);
  const type: IntegerType = { bits, signed };
  const [x, y] = [wrap(a, type), wrap(b, type)];
  if (x !== a || y !== b) throw new Error('the comparison converts a value to another one');
  return op === '<' ? x < y : x <= y;
}

/**
 * The split loop as it is written (`for (; t < full; …) decided; for (; t < bound; …) guarded`), run for every thread of a small block,
 * against the loop as it was: same iterations, in their order, with the same value of the guard.
 */
describe('a split loop', () => {
  interface Case { readonly start: bigint; readonly bound: bigint; readonly n: bigint; readonly step: bigint; readonly factor: bigint; readonly bdx: bigint }

  function split({ start, bound, n, step, factor, bdx }: Case): void {
    const N = sym('N', INT32);
    const t = sym('t', INT32, { low: 0n, role: 'counter' });
    const guard = subtract(add(multiply(constant(factor), symbol(t)), symbol(TX)), symbol(N));
    const parts = linearIn(guard, t);
    if (parts === null) throw new Error('not linear');
    const level = extreme(negate(parts.rest), 'low', varies);
    if (level === null) throw new Error('no extreme');
    const { value: full } = boundValue([{ level, divisor: parts.coefficient }], true, new Map([['N', n], ['blockDim.x', bdx]]));
    for (let tx = 0n; tx < bdx; tx++) {
      const before: string[] = [];
      for (let i = start; i < bound; i += step) before.push(`${i}:${factor * i + tx < n}`);
      const after: string[] = [];
      let i = start;
      for (; i < bound && i < full; i += step) after.push(`${i}:true`);
      for (; i < bound; i += step) after.push(`${i}:${factor * i + tx < n}`);
      expect(after).toEqual(before);
      // No full iteration is left to the guarded run: the bound is exact.
      if (i < bound) expect(factor * i + (bdx - 1n) < n).toBe(false);
    }
  }

  test('runs the same iterations, small', () => {
    fc.assert(fc.property(fc.record({
      start: fc.bigInt({ min: 0n, max: 5n }), bound: fc.bigInt({ min: -3n, max: 60n }), n: fc.bigInt({ min: -5n, max: 120n }), step: fc.bigInt({ min: 1n, max: 9n }),
      factor: fc.constantFrom(1n, 2n, 16n), bdx: fc.bigInt({ min: 1n, max: 17n }),
    }), split), { numRuns: 500 });
  });

  test('runs the same iterations at the end of int', () => {
    const top = maximum(INT32);
    for (const n of [top, top - 1n, top - 15n, top - 16n, top - 17n]) {
      for (const step of [1n, 16n]) for (const bdx of [1n, 16n]) split({ start: top - 100n, bound: n, n, step, factor: 1n, bdx });
    }
    for (const n of [minimum(INT32), -1n, 0n, 1n]) split({ start: 0n, bound: 20n, n, step: 1n, factor: 1n, bdx: 16n });
  });

  test('interval arithmetic contains every value', () => {
    const [x, y] = [sym('x', INT32, { low: -7n, high: 9n }), sym('y', INT32, { low: -3n, high: 4n })];
    const poly = add(multiply(symbol(x), symbol(y)), multiply(constant(-2n), symbol(x)));
    const { low, high } = interval(poly);
    for (let a = -7n; a <= 9n; a++) for (let b = -3n; b <= 4n; b++) {
      const value = a * b - 2n * a;
      expect(value >= low && value <= high).toBe(true);
    }
  });
});
