/** Conversion functions, iterators, `operator->` and `operator,` run without being named: what they do keeps a branch in its loop and a loop whole. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist as typedHoist } from '../../transforms/hoist.js';
import { peel as typedPeel } from '../../transforms/peel.js';
import type { Transform } from '../../transforms/lib/types.js';
import { load, outcomesOf, refuses } from '../helpers/transform.js';

const hoist = typedHoist as Transform;
const peel = typedPeel as Transform;

beforeAll(async () => { await initParser(); });

const DECLARATIONS = `struct Flag { int *f; __device__ operator bool() const { return (*f)++ & 1; } };
struct Derived : Flag {};
struct Count { mutable int k; __device__ operator int() const { return k--; } };
template <class T> struct Base { T k; __device__ operator T() { return k--; } };
struct FromBase : Base<int> { int other; };
struct Hidden { int k; __device__ operator int() const; };
struct Open : Elsewhere<int> { int k; };
struct Pure { int k; __device__ operator int() const { return k & 7; } };
struct Comma { int k; __device__ int operator,(int x) { return k++ + x; } };
struct Arrow { int *p; __device__ Arrow *operator->() { ++p; return this; } __device__ int get() const { return *p; } };
struct Step {
    int *f; int v;
    __device__ Step &operator++() { *f ^= 1; ++v; return *this; }
    __device__ bool operator!=(const Step &b) const { return v != b.v; }
    __device__ int operator*() const { return v; }
};
struct Sets { int k; __device__ Sets(int *p) : k(0) { *p = 0; } };
__device__ int taken(Sets s) { return s.k; }
struct Ends { int *p; __device__ ~Ends() { *p = 0; } };
struct Odd { int k; __device__ int operator&() { return k++; } };
struct Range { int *f; int n; __device__ Step begin() { return {f, 0}; } __device__ Step end() { return {f, n}; } };
`;

function loop(before: string, condition: string, write = '', head = 'for (int i = 0; i < n; ++i)'): string {
  return `${DECLARATIONS}__global__ void k(int *o, int *end, int f, int n, Pure pure, Derived derived, FromBase based, Hidden hidden, Open open, Arrow arrow) {
    int x = 0;
    ${before}
    ${head} {
        if (${condition})
            x += 1;
        else
            x += 2;
        ${write}
    }
    o[threadIdx.x] = x;
}
`;
}

describe('conditions that call something', () => {
  test.each([
    ['a conversion', 'Flag c{&f};', 'c'], ['a conversion below a cast', 'Flag c{&f};', '(bool)c'], ['a conversion in an argument of an operator', 'Flag c{&f};', 'c && n > 3'],
    ['a conversion below !', 'Flag c{&f};', '!c'], ['an inherited conversion', '', 'derived'], ['a conversion of a template base', '', 'based'], ['a conversion that is not seen', '', 'hidden'],
    ['a conversion of a base that is not seen', '', 'open'], ['a conversion in a subscript', 'Count c{3};', 'end[c] > 3'], ['an overloaded comma', 'Comma c{3};', '(c, 3) > 3'],
    ['an overloaded arrow', '', 'arrow->p == end'], ['a method behind an overloaded arrow', '', 'arrow->get() > 3'],
  ])('%s', (_, before, condition) => {
    refuses(hoist, loop(before, condition), 'condition-invariant');
    refuses(hoist, loop(before, condition), 'condition-pure');
  });

  test('a conversion that only computes is refused for its value alone', () => {
    refuses(hoist, loop('', 'pure'), 'condition-invariant');
    expect(() => { refuses(hoist, loop('', 'pure'), 'condition-pure'); }).toThrow('not among the reasons');
  });
});

describe('what the loop calls changes the condition', () => {
  test.each([
    ['a conversion in a loop changes its object', 'Count c{n};', 'c.k > 3', 'int t = c; x += t;', undefined], ['so does one in a loop\'s test', 'Count c{n};', 'c.k > 3', '', 'while (c)'],
    ['a conversion writes what its object points to', 'Flag c{&f};', 'f', 'bool t = c; x += t;', undefined], ['a conversion in an argument of a built-in', 'Count c{n};', 'c.k > 3', 'x += abs(c);', undefined],
    ['a conversion in a switch', 'Count c{n};', 'c.k > 3', 'switch (c) { case 1: x++; break; default: x--; break; }', undefined],
    ['a conversion in a ?:', 'Flag c{&f};', 'f', 'x += c ? 1 : 2;', undefined], ['an overloaded comma', 'Comma c{3};', 'c.k > 3', 'x += (c, 3);', undefined],
    ['an overloaded arrow', '', 'arrow.p == end', 'x += arrow->get();', undefined], ['iterators of a range', '', 'f', '', 'for (int v : Range{&f, n})'],
    ['iterators of a range that is named', 'Range r{&f, n};', 'f', '', 'for (int v : r)'], ['begin of a range may change it', 'Range r{&f, n};', 'r.n > 3', '', 'for (int v : r)'],
    ['a constructor writes through a pointer', 'int *p = &f;', 'f', 'Sets s(p); x += s.k;', undefined], ['a constructor that converts an argument writes shared memory', '__shared__ int t;', 't', 'x += taken(&t);', undefined],
    ['a destructor writes through a pointer', 'int *p = &f;', 'f', 'Ends s{p}; x += *s.p;', undefined],
    ['an overloaded address-of', 'Odd c{n};', 'c.k > 3', 'x += &c;', undefined],
    ['a range of a type that is not seen', 'auto r = around(f);', 'f', '', 'for (auto v : r)'],
  ])('%s', (_, before, condition, write, head) => {
    refuses(hoist, loop(before, condition, write, head), 'condition-invariant');
  });

  test('a conversion of another object that only computes changes nothing', () => {
    expect(outcomesOf(hoist, load(loop('', 'n > 3', 'x += pure; int t = pure; x += t;'))).some((outcome) => outcome.status === 'applied')).toBe(true);
  });
});

describe('tests of loops that call something are not taken once more', () => {
  test.each([
    ['a conversion below a cast', 'Count c', '(int)c'], ['an inherited conversion', 'FromBase c', '(int)c'], ['a conversion that is not seen', 'Hidden c', '(int)c'], ['a conversion of a base that is not seen', 'Open c', '(int)c'],
  ])('%s', (_, parameter, bound) => {
    const code = `${DECLARATIONS}__global__ void k(int *o, const int *a, ${parameter}, int n) {
    int x = 0;
    for (int i = 0; i < ${bound}; i++) {
        if (i + 2 < n)
            x += a[i];
        else
            x++;
    }
    o[threadIdx.x] = x;
}
`;
    refuses(peel, code, 'induction-simple');
  });
});
