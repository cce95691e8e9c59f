import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { evaluate } from '../../src/analysis/integer-values.js';
import type { Loop } from '../../src/analysis/facts.js';
import { initParser } from '../../src/syntax/parser.js';
import { Text } from './program.js';

beforeAll(async () => { await initParser(); });

describe('constants', () => {
  test.each([
    ['literals and shifts', '', '(1 << 5) - 1', 31n],
    ['unsigned wraps', '', '0u - 1u', 4294967295n],
    ['a comparison mixes signs as C++ does', '', '-1 < 1u', 0n],
    ['enumerators', 'enum Mode { A, B = 4, C };', 'C + B', 9n],
    ['constexpr', 'constexpr int T = 3 * 7;', 'T + 1', 22n],
    ['macros', '#define T 12\n#define U (T / 5)', 'U * T', 24n],
    ['sizeof', '', '(int)sizeof(double) * 2', 16n],
    ['a cast that cuts', '', '(unsigned char)300', 44n],
    ['warpSize', '', 'warpSize * 2', 64n],
    ['an overflow is no constant', '', '2147483647 + 1', null],
    ['a division by zero is no constant', '', '1 / 0', null],
    ['a choice that is decided', '', '3 > 2 ? 5 : 6', 5n],
    ['a constexpr function of one line', 'constexpr __device__ int up(int a, int b) { return (a + b - 1) / b; }', 'up(100, 32)', 4n],
    ['a parameter', '', 'n', null],
  ])('%s', (_name, before, source, expected) => {
    const text = new Text(`${before}\n__global__ void k(int *o, int n) { o[0] = ${source}; }`);
    const assignment = text.fn('k').body?.body[0];
    if (assignment === undefined || assignment.kind !== 'expression' || assignment.expression.kind !== 'assign') throw new Error('unexpected tree');
    expect(text.kernel().constant(assignment.expression.value)).toBe(expected);
  });

  test('a variable with one constant value, and one with two', () => {
    const text = new Text('__global__ void k(int *o, int n) { int a = 16; int b = 8; if (n) b = 9; o[a] = b; }');
    const facts = text.kernel();
    expect(facts.constant(text.expr('a'))).toBe(16n);
    expect(facts.constant(text.expr('b', 'k', 0))).not.toBe(8n);
  });

  test('template values of all launches', () => {
    const one = new Text('template <int N> __global__ void k(int *o) { o[0] = N / 2; }\nvoid f(int *o) { k<128><<<1, 128>>>(o); }');
    expect(one.kernel().constant(one.expr('N / 2'))).toBe(64n);
    const two = new Text('template <int N> __global__ void k(int *o) { o[0] = N / 2; }\nvoid f(int *o) { k<128><<<1, 128>>>(o); k<64><<<1, 64>>>(o); }');
    expect(two.kernel().constant(two.expr('N / 2'))).toBeNull();
  });
});

describe('ranges', () => {
  function range(body: string, source: string, parameters = 'int *o, int n, unsigned u', n = 0): string {
    const text = new Text(`__global__ void __launch_bounds__(256) k(${parameters}) { ${body} }`);
    const { low, high } = text.kernel().range(text.expr(source, 'k', n));
    return `${low}..${high}`;
  }

  test.each([
    ['thread index below the launch bound', 'o[threadIdx.x] = 1;', 'threadIdx.x', '0..255'],
    ['lane', 'o[threadIdx.x & 31] = 1;', 'threadIdx.x & 31', '0..31'],
    ['warp', 'o[threadIdx.x / 32] = 1;', 'threadIdx.x / 32', '0..7'],
    ['remainder', 'o[threadIdx.x % 10] = 1;', 'threadIdx.x % 10', '0..9'],
    ['an unsigned difference may wrap', 'o[threadIdx.x - 1] = 1;', 'threadIdx.x - 1', '0..4294967295'],
    ['a signed one does not', 'int t = threadIdx.x; o[t - 1] = 1;', 't - 1', '-1..254'],
    ['min', 'o[min(n, 7)] = 1;', 'min(n, 7)', '-2147483648..7'],
    ['a constant loop', 'for (int i = 0; i < 10; ++i) o[i * 2] = 1;', 'i * 2', '0..18'],
    ['a loop with a step', 'for (int i = 3; i <= 20; i += 4) o[i] = 1;', 'o[i]', '-2147483648..2147483647'],
    ['a halving loop', 'for (int s = 64; s > 0; s >>= 1) o[s + 0] = 1;', 's + 0', '1..64'],
    ['a loop up to a parameter', 'for (int i = 0; i < n; ++i) o[i + 0] = 1;', 'i + 0', '0..2147483646'],
    ['counting down', 'for (int i = 9; i >= 2; --i) o[i + 0] = 1;', 'i + 0', '2..9'],
    ['an unsigned counter with a large step may wrap', 'for (unsigned i = 0; i < u; i += 3) o[i + 0] = 1;', 'i + 0', '0..4294967295'],
    ['a step in an unsigned type goes on below zero', 'for (int i = 0; i < n; i += u) o[i + 0] = 1;', 'i + 0', '-2147483648..2147483647'],
    ['an unsigned step that cannot reach the end', 'for (int i = 3; i < 20; i += blockDim.x) o[i + 0] = 1;', 'i + 0', '3..19'],
    ['a counter narrower than int goes on below zero', 'for (short i = 0; i < n; ++i) o[i + 0] = 1;', 'i + 0', '-32768..32767'],
    ['an unsigned difference as int', 'int t = threadIdx.x - 2; o[t + 0] = 1;', 't + 0', '-2147483648..2147483647'],
    ['an unsigned parameter as int', 'int t = u; o[t + 0] = 1;', 't + 0', '-2147483648..2147483647'],
    ['comparisons', 'o[n < 3] = 1;', 'n < 3', '0..1'],
    ['narrowing', 'o[(unsigned char)n] = 1;', '(unsigned char)n', '0..255'],
    ['a choice', 'o[n > 0 ? 4 : 9] = 1;', 'n > 0 ? 4 : 9', '4..9'],
    ['two assignments', 'int a = 1; if (n) a = 5; o[a + 0] = 1;', 'a + 0', '1..5'],
  ])('%s', (_name, body, source, expected) => { expect(range(body, source)).toBe(expected); });

  test('every value of a random expression lies in its range', () => {
    const leaf = fc.oneof(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 0, max: 70 }).map(String), fc.integer({ min: 0, max: 70 }).map((value) => `${value}u`));
    const { expression } = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, fc.tuple(tie('expression'), fc.constantFrom('+', '-', '*', '/', '%', '&', '|', '^', '>>', '<<', '<'), tie('expression')).map(([x, op, y]) => `(${x} ${op} ${y})`), tie('expression').map((x) => `(-${x})`), tie('expression').map((x) => `(unsigned char)${x}`), tie('expression').map((x) => `(long long)${x}`)),
    }));
    const small = fc.bigInt({ min: 0n, max: 255n });
    fc.assert(fc.property(expression, fc.array(fc.record({ a: small, b: fc.bigInt({ min: 0n, max: 31n }), c: fc.bigInt({ min: -(2n ** 31n), max: 2n ** 31n - 1n }), d: fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }) }), { minLength: 1, maxLength: 8 }), (source, bindings) => {
      const text = new Text(`__global__ void __launch_bounds__(256) k(long long *o, int c, unsigned d) { int a = threadIdx.x; unsigned b = threadIdx.x & 31; o[0] = ${source}; }`);
      const statement = text.fn('k').body?.body[2];
      if (statement === undefined || statement.kind !== 'expression' || statement.expression.kind !== 'assign') throw new Error('unexpected tree');
      const { value } = statement.expression;
      const bounds = text.kernel().range(value);
      for (const binding of bindings) {
        const values = evaluate(value, (leafExpr) => {
          if (leafExpr.kind !== 'ref') return null;
          const unsigned = leafExpr.name === 'b' || leafExpr.name === 'd';
          return [{ value: binding[leafExpr.name as 'a' | 'b' | 'c' | 'd'], type: { bits: 32 as const, signed: !unsigned } }];
        });
        const only = values?.[0];
        if (only === undefined) continue; // undefined behaviour
        expect(bounds.low === null || only.value >= bounds.low).toBe(true);
        expect(bounds.high === null || only.value <= bounds.high).toBe(true);
      }
    }), { numRuns: 150 });
  });
});

describe('trips and cost', () => {
  function trips(loop: string, options = {}): string {
    const text = new Text(`__global__ void k(int *o, int n) {\n ${loop}\n}\nvoid f(int *o) { k<<<1, 64>>>(o, 40); }`, options);
    const facts = text.kernel();
    const site = facts.branches.find((branch) => branch.kind === 'for' || branch.kind === 'while' || branch.kind === 'do');
    if (site === undefined) throw new Error('no loop');
    const { count, origin } = facts.trips(site.node as Loop);
    return `${count} ${origin}`;
  }

  test.each([
    ['up', 'for (int i = 0; i < 12; ++i) o[i] = i;', '12 constant'],
    ['down, inclusive', 'for (int i = 12; i >= 3; i -= 3) o[i] = i;', '4 constant'],
    ['halving', 'for (int s = 128; s > 0; s >>= 1) o[s] = 1;', '8 constant'],
    ['doubling', 'for (int s = 1; s < 100; s *= 2) o[s] = 1;', '7 constant'],
    ['while', 'int s = 16; while (s > 1) { o[s] = 1; s /= 2; }', '4 constant'],
    ['not equal', 'for (int i = 0; i != 9; i++) o[i] = 1;', '9 constant'],
    ['what all launches pass', 'for (int i = 0; i < n; ++i) o[i] = i;', '40 constant'],
    ['block stride', 'for (int i = threadIdx.x; i < 640; i += blockDim.x) o[i] = i;', '10 constant'],
    ['memory', 'for (int i = 0; i < o[0]; ++i) o[i] = i;', '16 assumed'],
    ['an early exit', 'for (int i = 0; i < 12; ++i) { if (o[i]) break; }', '6 assumed'],
    ['annotated', '// divmod: trip=77\n for (int i = 0; i < o[0]; ++i) o[i] = i;', '77 annotation'],
  ])('%s', (_name, loop, expected) => { expect(trips(loop)).toBe(expected); });

  test('an assumption by line, and another default', () => {
    expect(trips('for (int i = 0; i < o[0]; ++i) o[i] = i;', { assume: new Map([['trip@2', '5']]) })).toBe('5 annotation');
    expect(trips('for (int i = 0; i < o[0]; ++i) o[i] = i;', { defaultTrips: 3 })).toBe('3 assumed');
  });

  function cost(source: string): number {
    const text = new Text(`__device__ float twice(float v) { return v * v + 1.f; }\n__global__ void k(float *o, int n, float f, double g, const float *p) {\n ${source}\n}`);
    const { body } = text.fn('k');
    if (body === null) throw new Error('no body');
    return text.kernel().cost(body).instructions;
  }

  test('weights keep their order', () => {
    expect(cost('o[0] = f * f + f;')).toBeLessThan(cost('o[0] = f * f / f;'));
    expect(cost('o[0] = f / g;')).toBeGreaterThan(cost('o[0] = f / f;'));
    expect(cost('o[0] = n / 8;')).toBeLessThan(cost('o[0] = n / 7;'));
    expect(cost('o[0] = n / 7;')).toBeLessThan(cost('o[0] = 7 / n;'));
    expect(cost('o[0] = sinf(f);')).toBeGreaterThan(cost('o[0] = __sinf(f);'));
    expect(cost('o[0] = twice(f);')).toBe(cost('o[0] = f * f + 1.f;'));
    expect(cost('for (int i = 0; i < 64; ++i) o[i] = f;')).toBeGreaterThan(60);
  });

  test('short arms are predicated, calls and loops are not', () => {
    const text = new Text('__device__ float g(float v) { return v; }\n__global__ void k(float *o, float f) { if (f > 0) { o[0] = f; } if (f > 1) { o[1] = g(f); } if (f > 2) { for (int i = 0; i < 2; ++i) o[i] = f; } }');
    const facts = text.kernel();
    const arms = facts.branches.filter((branch) => branch.kind === 'if').map((branch) => (branch.node.kind === 'if' ? facts.cost(branch.node.then).predicated : null));
    expect(arms).toEqual([true, false, false]);
  });
});

describe('quotients and masks of converted thread numbers', () => {
  test.each([
    ['(signed char)threadIdx.x / 32', 'lane'], ['(signed char)threadIdx.x >> 5', 'warp'], ['(signed char)threadIdx.x & ~31', 'warp'], ['(signed char)threadIdx.x / 32u', 'warp'],
    ['(unsigned char)threadIdx.x / 32', 'warp'], ['(short)(blockIdx.x * blockDim.x + threadIdx.x) / 32', 'lane'], ['(short)(blockIdx.x * blockDim.x + threadIdx.x) % 32 - (int)threadIdx.x', 'lane'],
    ['(int)(blockIdx.x * blockDim.x + threadIdx.x) / 32', 'warp'], ['(long long)(int)(blockIdx.x * blockDim.x + threadIdx.x) / 32', 'warp'],
    ['(int)(threadIdx.x + 0xffffffe0u) / 32', 'lane'], ['(int)(threadIdx.x + 0xffffffe0u) >> 5', 'warp'], ['(threadIdx.x + 0xffffffe0u) / 32', 'warp'],
    ['((int)threadIdx.x - 64) / 32', 'lane'], ['((int)threadIdx.x - 64) >> 5', 'warp'], ['((int)threadIdx.x + n * 32) / 32', 'lane'],
    ['((signed char)(threadIdx.x + 31) + 1) & ~31', 'lane'], ['((signed char)(threadIdx.x + 31) + 1) >> 5', 'lane'], ['(threadIdx.x + 31 + 1) & ~31', 'warp'],
    ['((unsigned char)(threadIdx.x + 31) + 1) / 32', 'lane'], ['(signed char)threadIdx.x - (int)(threadIdx.x & 31)', 'lane'],
  ] as const)('%s', (source, scope) => {
    const text = new Text(`__global__ void k(int *o, int n) { if (${source}) o[0] = 1; }\nvoid host(int *o, int n, int g, int b) { k<<<g, ${source.includes('blockIdx') ? '256' : 'b'}>>>(o, n); }`);
    expect(text.kernel().scope(text.expr(source)).value).toBe(scope);
  });

  test('a grid that is known is computed, not taken to be modest', () => {
    const of = (grid: string): string => {
      const text = new Text(`__global__ void k(int *o) { int i = blockIdx.x * 1024u * 64u + threadIdx.x; if (i / 32 == 0) o[0] = 1; }\nvoid host(int *o, int g) { k<<<${grid}, 1024>>>(o); }`);
      return text.kernel().scope(text.expr('i / 32 == 0')).value;
    };
    expect([of('g'), of('1000'), of('40000')]).toEqual(['warp', 'warp', 'lane']);
  });

  test('what wraps in a narrow type numbers no threads', () => {
    const text = new Text('__global__ void k(int *o, unsigned n) { o[(unsigned char)threadIdx.x] = 1; o[threadIdx.x + n] = 2; short s = threadIdx.x; s++; o[s] = 3; }');
    expect(text.kernel().affine(text.expr('(unsigned char)threadIdx.x'))).toBeNull();
    expect(text.kernel().affine(text.expr('threadIdx.x + n'))?.wraps).toBe('possible');
    expect(text.kernel().affine(text.expr('s', 'k', 1))?.wraps).toBe('never');
  });
});
