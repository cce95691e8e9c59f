/**
 * Interior tests as a reader gets them: a name and a sentence, ends with names where they are long, lines that fit a page, and the same value as
 * before.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { INT32, maximum, minimum, UINT32, type IntegerType } from '../../src/cuda/integers.js';
import { initParser } from '../../src/syntax/parser.js';
import { transforms } from '../../transforms/index.js';
import { shareBases } from '../../transforms/lib/guards/bases.js';
import { lessThanZero, sumIn } from '../../transforms/lib/guards/bound.js';
import { evaluate, INT64, number, print, type Cpp } from '../../transforms/lib/guards/cpp.js';
import { declarationText, interiorText, nameEnds } from '../../transforms/lib/guards/interior-text.js';
import { add, constant, multiply, subtract, symbol, type Poly, type Sym } from '../../transforms/lib/guards/polynomial.js';
import { applyAll } from '../helpers/transform.js';

function sym(key: string, type: IntegerType, low = minimum(type), high = maximum(type)): Sym {
  return { key, role: 'uniform', text: key, names: [], type, low, high, extent: null };
}

const BIX = sym('blockIdx.x', UINT32, 0n, 2147483646n);
const BIY = sym('blockIdx.y', UINT32, 0n, 65534n);
const BDX = sym('blockDim.x', UINT32, 1n, 1024n);
const PER = sym('perBlock', INT32, 1n, 1024n);
const N = sym('n', INT32);
const joined = (word: string, axis: string): string => `${word}_${axis}`;
const names = (): ((wish: string) => string) => {
  const made: string[] = [];
  return (wish) => {
    made.push(wish);
    const count = made.filter((name) => name === wish).length;
    return count === 1 ? wish : `${wish}${count}`;
  };
};
const WIDE = { indent: '', unit: '    ', shadowed: false };

describe('what a block adds to its indices', () => {
  test('is written once where two tests need it, also where it is no size of the block', () => {
    const product = multiply(symbol(BIX), symbol(PER));
    const polys = [subtract(constant(3n), product), subtract(add(product, symbol(BDX)), symbol(N))];
    const bases = shareBases(polys, names(), joined);
    expect(bases.declarations.map((declaration) => declarationText(declaration, WIDE))).toEqual(['const long long first = (long long)blockIdx.x * perBlock;']);
    const tests = polys.map((poly) => lessThanZero(bases.replace(poly))).filter((one) => one !== null);
    expect(interiorText('interior', tests, WIDE)).toBe('const bool interior = first >= 4 && first + blockDim.x < n;');
  });

  test('stays where one test needs it, and where no type holds it', () => {
    const once = [multiply(symbol(BIX), symbol(PER))];
    expect(shareBases(once, names(), joined).declarations).toEqual([]);
    const huge = multiply(multiply(symbol(BIX), symbol(sym('a', INT32))), symbol(sym('b', INT32)));
    expect(shareBases([huge, add(huge, constant(1n))], names(), joined).declarations).toEqual([]);
  });

  test('is the product, whatever its factors are', () => {
    const signed = sym('tile', INT32, -500n, 500n);
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 2147483646n }), fc.bigInt({ min: -500n, max: 500n }), (index, tile) => {
      const product = multiply(symbol(BIX), symbol(signed));
      const [base] = shareBases([product, add(product, constant(1n))], names(), joined).declarations;
      if (base === undefined) throw new Error('no base');
      expect(evaluate(base.value, new Map([['blockIdx.x', index], ['tile', tile]]))).toBe(index * tile);
    }));
  });
});

describe('a number times a size of the block', () => {
  test('needs no conversion behind a wide sum if its own type holds it', () => {
    const poly: Poly = add(add(multiply(symbol(BIX), symbol(BDX)), multiply(symbol(BDX), constant(2n))), multiply(symbol(N), constant(2n)));
    const sum = sumIn(poly, INT64);
    if (sum === null) throw new Error('no type');
    expect(print(sum)).toBe('(long long)blockIdx.x * blockDim.x + blockDim.x * 2 + (long long)n * 2');
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 2147483646n }), fc.bigInt({ min: 1n, max: 1024n }), fc.bigInt({ min: minimum(INT32), max: maximum(INT32) }), (index, size, n) => {
      expect(evaluate(sum, new Map([['blockIdx.x', index], ['blockDim.x', size], ['n', n]]))).toBe(index * size + size * 2n + n * 2n);
    }));
  });
});

describe('lines', () => {
  const long = (axis: Sym): Poly => add(multiply(multiply(symbol(axis), symbol(sym('items_of_a_thread', INT32, 1n, 99n))), symbol(sym('threads_of_a_block', INT32, 1n, 999n))), symbol(BDX));

  test('long ends get a name, with the axis where there are several', () => {
    const tests = [subtract(long(BIX), symbol(N)), subtract(long(BIY), symbol(sym('m', INT32)))].map((poly) => lessThanZero(poly)).filter((one) => one !== null);
    const { declarations, tests: named } = nameEnds(tests.slice(0, 1), false, (word, axis) => (axis === null ? word : joined(word, axis)));
    expect(declarations.map(({ name }) => name)).toEqual(['hi']);
    expect(interiorText('interior', named, WIDE)).toBe('const bool interior = hi < n;');
  });

  test('none is longer than a page where it can be broken', () => {
    const value: Cpp = ['one_long_name', 'another_long_name', 'yet_another_name', 'the_last_long_name', 'no_not_the_last_name'].map((name): Cpp => ({ kind: 'symbol', sym: sym(name, INT32, 0n, 9n) }))
      .reduce((left, right) => ({ kind: 'binary', op: '+', left, right }));
    const text = declarationText({ name: 'bound', value }, { indent: '        ', unit: '    ', shadowed: false });
    expect(text).toBe('const int bound = one_long_name + another_long_name + yet_another_name + the_last_long_name\n            + no_not_the_last_name;');
    const choice = declarationText({ name: 'k', value: { kind: 'positive', op: '>', left: value, right: number(3n), then: value } }, WIDE);
    expect(choice.split('\n').map((line) => line.trim().charAt(0))).toEqual(['c', '?', ':']);
  });
});

describe('a peeled window', () => {
  const peel = transforms.find(({ name }) => name === 'peel');

  beforeAll(async () => {
    await initParser();
  });

  test('of a camelCase kernel has names of its kind, tests of one axis on one line, and no long line', () => {
    if (peel === undefined) throw new Error('no peel');
    const { text } = applyAll(peel, `__global__ void boxBlur(const float *imageIn, float *imageOut, int imageWidth, int imageHeight) {
    int pixelX = blockIdx.x * blockDim.x + threadIdx.x;
    int pixelY = blockIdx.y * blockDim.y + threadIdx.y;
    float weightSum = 0.f;
    for (int dy = -3; dy <= 3; dy++) {
        for (int dx = -3; dx <= 3; dx++) {
            if (pixelX + dx >= 0 && pixelX + dx < imageWidth && pixelY + dy >= 0 && pixelY + dy < imageHeight)
                weightSum += imageIn[(pixelY + dy) * imageWidth + pixelX + dx];
        }
    }
    imageOut[pixelY * imageWidth + pixelX] = weightSum;
}
`);
    expect(text).toContain(`    // Interior: every thread of the block passes the boundary tests in all iterations.
    const long long firstX = (long long)blockIdx.x * blockDim.x;
    const int firstY = (int)(blockIdx.y * blockDim.y);
    const bool interior = firstX >= 3 && firstX + blockDim.x + 2 < imageWidth
        && firstY >= 3 && firstY + (int)blockDim.y + 2 < imageHeight;
    if (interior) {
`);
  });

  test('the constant of an unsigned bound is unsigned', () => {
    if (peel === undefined) throw new Error('no peel');
    const { text } = applyAll(peel, `__global__ void rows(const float *a, float *o, unsigned n) {
    float s = 0.f;
    for (unsigned k = 0; k < n; k += 32) {
        if (k + threadIdx.x < n) s += a[k + threadIdx.x] * a[k];
        s *= 0.5f;
    }
    o[threadIdx.x] = s;
}
`);
    expect(text).toContain('const unsigned int reach = blockDim.x - 1;\n');
  });
});
