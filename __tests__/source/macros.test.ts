import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  collectMacros, evaluateCondition, expandMacro, expandText, mergeMacros, sourceFromText, splitArguments, walkConditionals, type MacroDefinition,
} from '../../src/source/index.js';

const table = (text: string, inherited?: ReadonlyMap<string, MacroDefinition>, defines?: Record<string, string>, path = '/a.cu'): Map<string, MacroDefinition> =>
  collectMacros(sourceFromText(path, path, text), inherited, defines);

describe('collecting', () => {
  test('object-like, function-like, variadic', () => {
    const macros = table('#define N 16\n#define MIN(a, b) ((a) < (b) ? (a) : (b)) // smaller\n#define LOG(...) printf(__VA_ARGS__)\n#define TWO(f, rest...) f(rest)\n#define PAREN (1)\n#define LONG a + \\\n  b\n');
    expect(macros.get('N')).toEqual({ name: 'N', parameters: null, variadic: false, body: '16', file: '/a.cu', line: 1, ambiguous: false });
    expect(macros.get('MIN')).toMatchObject({ parameters: ['a', 'b'], variadic: false, body: '((a) < (b) ? (a) : (b))', line: 2 });
    expect(macros.get('LOG')).toMatchObject({ parameters: ['__VA_ARGS__'], variadic: true });
    expect(macros.get('TWO')).toMatchObject({ parameters: ['f', 'rest'], variadic: true });
    expect(macros.get('PAREN')).toMatchObject({ parameters: null, body: '(1)' });
    expect(macros.get('LONG')?.body.replace(/\s+/g, ' ')).toBe('a + b');
  });

  test('two different definitions are ambiguous, two equal ones are not', () => {
    const macros = table('#ifdef WIDE\n#define T double\n#else\n#define T float\n#endif\n#define A 1\n#undef A\n#define A 2\n#define B  x + y\n#define B x  +  y\n');
    expect(macros.get('T')).toMatchObject({ body: 'float', ambiguous: true });
    expect(macros.get('A')).toMatchObject({ body: '2', ambiguous: true });
    expect(macros.get('B')).toMatchObject({ ambiguous: false });
  });

  test('an arm that no CUDA build takes defines nothing', () => {
    const macros = table('#ifdef __CUDACC__\n#define HD __device__\n#else\n#define HD\n#endif\n#if 0\n#define X 1\n#endif\n');
    expect(macros.get('HD')).toMatchObject({ body: '__device__', ambiguous: false });
    expect(macros.has('X')).toBe(false);
  });

  test('a definition for another configuration is kept, but not taken for defined', () => {
    const macros = table('#ifdef VERBOSE\n#define LOG(x) print(x)\n#endif\n');
    expect(macros.get('LOG')).toMatchObject({ inactive: true, ambiguous: false });
    const source = sourceFromText('b.cu', '/b.cu', '#ifdef LOG\nint a;\n#endif\n');
    expect([...walkConditionals(source, macros).values()][0]?.arms[0]?.active).toBe(false);
  });

  test('the command line comes first, includes are inherited', () => {
    const inherited = table('#define N 4\n#define M 5\n', undefined, undefined, '/a.h');
    const macros = table('#ifndef N\n#define N 8\n#endif\n#define M 6\n', inherited, { K: '7', 'F(x)': 'x + 1' });
    expect(macros.get('N')).toMatchObject({ body: '4', ambiguous: false });
    expect(macros.get('M')).toMatchObject({ body: '6', ambiguous: true });
    expect(macros.get('K')).toMatchObject({ body: '7' });
    expect(macros.get('F')).toMatchObject({ parameters: ['x'], body: 'x + 1' });
  });

  test('tables of several includes', () => {
    const merged = mergeMacros([table('#define A 1\n#define B 1\n'), table('#define A 2\n#define C 3\n')]);
    expect([merged.get('A')?.ambiguous, merged.get('B')?.ambiguous, merged.get('C')?.body]).toEqual([true, false, '3']);
  });

  test('an include guard is no choice of the build', () => {
    const source = sourceFromText('a.h', '/a.h', '#ifndef A_H\n#define A_H\nint a;\n#endif\n');
    const group = [...walkConditionals(source, table(source.text, undefined, undefined, '/a.h')).values()][0];
    expect(group?.arms[0]).toMatchObject({ active: true, assumed: [] });
  });
});

describe('expansion', () => {
  const macros = table(`
#define N 16
#define SQ(x) ((x) * (x))
#define IDX(r, c) ((r) * N + (c))
#define SELF SELF + 1
#define PING PONG(1)
#define PONG(x) PING + x
#define NAME(a, b) a##_##b
#define STR(x) #x
#define XSTR(x) STR(x)
#define CALL(f, ...) f(__VA_ARGS__)
#define TRACE(fmt, ...) printf(fmt, ##__VA_ARGS__)
#define EMPTY()
#define APPLY(m, x) m(x)
#define OPT(...) f(0 __VA_OPT__(,) __VA_ARGS__)
#define AMBIGUOUS 1
#define AMBIGUOUS 2
#define USES AMBIGUOUS + N
#define BIG0(x) x x x x x x x x x x
#define BIG1(x) BIG0(BIG0(BIG0(x)))
#define BIG2(x) BIG1(BIG1(BIG1(x)))
#define CONCAT(a, b) a##b
#define MINUS -
`);
  test.each<[string, readonly string[] | null, string | null]>([
    ['N', null, '16'],
    ['SQ', ['i + 1'], '((i + 1) * (i + 1))'],
    ['SQ', ['SQ(2)'], '((((2) * (2))) * (((2) * (2))))'],
    ['IDX', ['threadIdx.x', 'f(a, b)'], '((threadIdx.x) * 16 + (f(a, b)))'],
    ['SELF', null, 'SELF + 1'],
    ['PING', null, 'PING + 1'],
    ['NAME', ['N', 'SQ'], 'N_SQ'],
    ['STR', ['a  + "b\\n"'], '"a + \\"b\\\\n\\""'],
    ['XSTR', ['N'], '"16"'],
    ['STR', ['N'], '"N"'],
    ['CALL', ['g', 'a', 'b'], 'g(a,b)'],
    ['TRACE', ['"x"'], 'printf("x")'],
    ['TRACE', ['"x"', 'N'], 'printf("x",16)'],
    ['EMPTY', [''], ''],
    ['EMPTY', [], ''],
    ['APPLY', ['SQ', '3'], '((3) * (3))'],
    ['CONCAT', ['x', ''], 'x'],
    ['CONCAT', ['', 'y'], 'y'],
    ['CONCAT', ['1', '.5f'], '1.5f'],
  ])('%s %j', (name, given, expected) => {
    expect(expandMacro(name, given, macros)?.replace(/\s+/g, ' ').replace(/ ?, ?/g, (comma) => (expected?.includes(', ') ? ', ' : comma.trim()))).toBe(expected);
  });

  test.each<[string, readonly string[] | null]>([
    ['NONE', null], ['SQ', null], ['N', ['1']], ['SQ', ['1', '2']], ['IDX', ['1']], ['OPT', ['1']], ['BIG2', ['x']], ['CONCAT', ['+', '*']],
  ])('%s %j is refused', (name, given) => {
    expect(expandMacro(name, given, macros)).toBeNull();
  });

  test('an ambiguous name inside stays, unless asked for', () => {
    expect(expandMacro('USES', null, macros)).toBe('AMBIGUOUS + 16');
    expect(expandMacro('USES', null, macros, { expandAmbiguous: true })).toBe('2 + 16');
  });

  test('tokens never fuse', () => {
    expect(expandText('-MINUS x', macros)).toBe('- - x');
    expect(expandText('SQ (2)N', macros)).toBe('((2) * (2))16');
  });

  test('text without macros stays as its tokens', () => {
    fc.assert(fc.property(fc.array(fc.constantFrom('x', '1', '+', '(', ')', '"s"', 'y', '->', ','), { maxLength: 20 }), (words) => {
      expect(expandText(words.join(' '), macros)).toBe(words.join(' '));
    }));
  });

  test('arguments are split at the outer commas', () => {
    expect(splitArguments('a, f(b, c), "d,e", \'(\', {g, h}')).toEqual(['a', 'f(b, c)', '"d,e"', "'('", '{g', 'h}']);
  });
});

describe('conditions', () => {
  const macros = table('#define N 16\n#define EMPTY\n#define AT_LEAST(x) (N >= (x))\n#define ALIAS N\n');
  const value = (text: string): boolean => evaluateCondition(text, (name) => macros.get(name)).holds;
  const assumed = (text: string): readonly string[] => evaluateCondition(text, (name) => macros.get(name)).assumed;

  test.each<[string, boolean]>([
    ['1', true], ['0', false], ['defined(N)', true], ['defined N && !defined(M)', true], ['N == 16 && N * 2 > 31', true], ['ALIAS << 1 == 32', true],
    ['AT_LEAST(8)', true], ['AT_LEAST(17)', false], ['-1 < 0u', true], ['0x10 == 020', true], ["1'000 == 1000L", true], ["'a' == 97", true],
    ['M', false], ['M == 0', true], ['(1 ? 0 : 1)', false], ['1 || (2 / 0)', false], ['~0 == -1', true], ['7 % 4 == 3', true], ['1 +', false], ['EMPTY', false],
    ['__CUDA_ARCH__ >= 700', true], ['defined(__CUDACC__)', true], ['!defined(__CUDA_ARCH__)', false], ['__cplusplus >= 201402L', true], ['true', true],
    ['__has_include(<x>)', false], ['1 - 2 - 3 == -4', true],
  ])('%s', (text, expected) => {
    expect(value(text)).toBe(expected);
  });

  test('what was taken for granted is told', () => {
    expect(assumed('defined(N) && N > 3')).toEqual([]);
    expect(assumed('defined(DEBUG) || LEVEL > 3')).toEqual(['DEBUG', 'LEVEL']);
    expect(assumed('__CUDA_ARCH__ >= 700')).toEqual(['__CUDA_ARCH__']);
    expect(assumed('defined(N) || defined(DEBUG)')).toEqual([]);
    expect(assumed('defined(DEBUG) && LEVEL')).toEqual(['DEBUG']);
    expect(assumed('1 +')).toEqual(['1 +']);
  });

  test('agrees with C++ on random integer expressions', () => {
    const expression = fc.letrec<{ e: { text: string; value: bigint } }>((tie) => ({
      e: fc.oneof(
        { depthSize: 'small' },
        fc.integer({ min: 0, max: 100 }).map((n) => ({ text: String(n), value: BigInt(n) })),
        fc.tuple(tie('e'), fc.constantFrom('+', '-', '*', '==', '<', '&&', '||', '&', '|', '^'), tie('e')).map(([a, op, b]) => ({ text: `(${a.text}) ${op} (${b.text})`, value: reference(a.value, op, b.value) })),
        tie('e').map((a) => ({ text: `!(${a.text})`, value: a.value === 0n ? 1n : 0n })),
      ),
    })).e;
    fc.assert(fc.property(expression, ({ text, value: expected }) => {
      expect(value(text)).toBe(expected !== 0n);
    }));
  });
});

function reference(a: bigint, op: string, b: bigint): bigint {
  const bit = (x: boolean): bigint => (x ? 1n : 0n);
  const results: Record<string, bigint> = {
    '+': a + b, '-': a - b, '*': a * b, '==': bit(a === b), '<': bit(a < b), '&&': bit(a !== 0n && b !== 0n), '||': bit(a !== 0n || b !== 0n), '&': a & b, '|': a | b, '^': a ^ b,
  };
  return BigInt.asIntN(64, results[op] ?? 0n);
}

test('arms carry the condition under which they are kept', () => {
  const source = sourceFromText('a.cu', '/a.cu', '#if A > 1\n#elif defined(B)\n#else\n#endif\n#ifdef C\n#endif\n#ifndef D\n#endif\n');
  const groups = [...walkConditionals(source, new Map()).values()];
  expect(groups.flatMap((group) => group.arms.map((arm) => [arm.condition, arm.active, arm.assumed.join()]))).toEqual([
    ['A > 1', false, 'A'], ['!(A > 1) && (defined(B))', false, 'A,B'], ['!(A > 1) && !(defined(B))', true, 'A,B'],
    ['defined(C)', false, 'C'], ['!defined(D)', true, 'D'],
  ]);
});
