/** String and character literals are the bytes that a compiler stores, whatever the encoding of the source. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { loadProgram } from '../../src/syntax/index.js';
import { simulate, type SimulationResult } from '../../src/simulate/simulate.js';
import { charLiteral, stringLiteral, stringValue } from '../../src/syntax/lower-literal.js';
import { contents, initParser, kernelOf, run } from './helpers.js';

beforeAll(async () => { await initParser(); });

const N = 12;

function bytesOf(result: SimulationResult): (number | bigint)[] {
  return contents(result, 'o', N);
}

/** What `const char *s = LITERAL` holds, `N` bytes from a buffer that is longer, with `sizeof` first. */
function kernel(literal: string): string {
  return `__global__ void k(int *o) { const char *s = ${literal}; int size = (int)sizeof(${literal}); if (threadIdx.x == 0) { o[0] = size; for (int i = 0; i < ${N - 1}; ++i) o[i + 1] = i < size ? (int)(unsigned char)s[i] : -1; } }\n`;
}

function expected(bytes: readonly number[]): number[] {
  const padded = [bytes.length + 1, ...bytes, 0];
  return [...padded, ...new Array<number>(Math.max(0, N - padded.length)).fill(-1)].slice(0, N);
}

describe('bytes of "…"', () => {
  test.each<[string, number[]]>([
    ['"a\\x80"', [0x61, 0x80]], ['"\\xff\\x7f"', [0xff, 0x7f]], ['"\\200\\377"', [0x80, 0xff]], ['"\\0a"', [0, 0x61]], ['"\\x8" "0"', [8, 0x30]], ['"\\1234"', [0x53, 0x34]],
    ['"\u00e9"', [0xc3, 0xa9]], ['u8"\u00e9\\xe9"', [0xc3, 0xa9, 0xe9]], ['"\\u00e9"', [0xc3, 0xa9]], ['"\\U0001F600"', [0xf0, 0x9f, 0x98, 0x80]], ['"\u{1F600}"', [0xf0, 0x9f, 0x98, 0x80]],
    ['R"(\\x80\u00e9)"', [0x5c, 0x78, 0x38, 0x30, 0xc3, 0xa9]], ['u8R"x(a)x"', [0x61]], ['"a" u8"\u00e9"', [0x61, 0xc3, 0xa9]], ['"\\n\\t\\\\\\"\\?"', [10, 9, 92, 34, 63]],
  ])('%s', (literal, bytes) => {
    expect(bytesOf(run(kernel(literal)))).toEqual(expected(bytes));
  });

  test('in a Latin-1 source a character is its byte, a universal name is UTF-8', () => {
    const text = kernel('"\u00e9\\u00e9\\x80"');
    const program = loadProgram(['/k.cu'], { readFile: () => Buffer.from(text, 'latin1'), realPath: (path) => (path === '/k.cu' ? path : null) });
    const result = simulate(program, kernelOf(program), { grid: [1, 1, 1], block: [32, 1, 1], sharedBytes: null }, { seed: 1, arguments: new Map(), size: 32 });
    expect(bytesOf(result)).toEqual(expected([0xe9, 0xc3, 0xa9, 0x80]));
  });

  test('arrays of characters, in a kernel and in constant memory', () => {
    const code = `__constant__ char c[4] = "\\x80\u00e9"; __global__ void k(int *o) { char a[] = "\\xfe\u00e9"; unsigned char b[8] = "\\200"; if (threadIdx.x == 0) { o[0] = sizeof(a); o[1] = a[0]; o[2] = a[1]; o[3] = a[2]; o[4] = a[3]; o[5] = b[0]; o[6] = b[1]; o[7] = sizeof(c); o[8] = c[0]; o[9] = c[1]; o[10] = c[2]; o[11] = c[3]; } }\n`;
    expect(bytesOf(run(code))).toEqual([4, -2, 0xc3 - 256, 0xa9 - 256, 0, 0x80, 0, 4, -128, 0xc3 - 256, 0xa9 - 256, 0]);
  });

  test('a wide string is not simulated', () => {
    expect(run('__global__ void k(int *o) { const wchar_t *s = L"ab"; o[0] = s[0]; }\n').status).toBe('unsupported');
  });

  test('a format is shown as it was written', () => {
    const result = run('__global__ void k(int n) { if (threadIdx.x == 0) printf("caf\u00e9 %d\\n", n); }\n', { args: ['n=3'] });
    expect(result.status === 'ran' ? result.printed : []).toEqual(['caf\u00e9 %d\n\u00003']);
  });
});

describe('units of literals', () => {
  test.each<[string, 'utf-8' | 'latin1', bigint | null]>([
    ["'a'", 'utf-8', 97n], ["'\\x80'", 'utf-8', -128n], ["'\\377'", 'utf-8', -1n], ["'\\400'", 'utf-8', null], ["'\u00e9'", 'utf-8', null], ["'\u00e9'", 'latin1', -23n], ["'\\u00e9'", 'latin1', null], ["'ab'", 'utf-8', null],
    ["u8'a'", 'utf-8', 97n], ["L'\u00e9'", 'utf-8', 0xe9n], ["L'\u00e9'", 'latin1', null], ["U'\\U0001F600'", 'utf-8', 0x1f600n], ["u'\\U0001F600'", 'utf-8', null], ["u'\\xffff'", 'utf-8', 0xffffn], ["'\\\\'", 'utf-8', 92n], ["'\\''", 'utf-8', 39n],
  ])('%s in %s', (spelling, encoding, value) => {
    expect(charLiteral(spelling, encoding)?.value ?? null).toBe(value);
  });

  test('wide strings keep their units and have their own types', () => {
    expect(stringLiteral(['u"a\u{1F600}"'], 'utf-8')).toEqual({ value: 'a\u{1F600}', type: { kind: 'pointer', to: { kind: 'int', bits: 16, signed: false, named: 'char16_t', const: true } } });
    expect(stringLiteral(['"a"', 'L"b"'], 'utf-8')?.type).toEqual({ kind: 'pointer', to: { kind: 'int', bits: 32, signed: true, named: 'wchar_t', const: true } });
    expect(stringLiteral(['u"a"', 'U"b"'], 'utf-8')).toBeNull();
    expect(stringLiteral(['"\\x100"'], 'utf-8')).toBeNull();
  });

  test('text for people has characters, not bytes', () => {
    expect(stringValue('"caf\u00e9 \\u00e9"')).toBe('caf\u00e9 \u00e9');
  });
});
