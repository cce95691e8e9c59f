/** Types of numbers in expressions: what enums compute in, what is promoted to what. Every row holds for g++ and nvcc (`decltype`). */
import { describe, expect, test } from '@jest/globals';
import { printType } from '../../src/syntax/types.js';
import { functionNamed, unit } from './load.js';

const DECLARATIONS = `
template <class T> __device__ void use(T);
enum Plain { P0, P3 = 3, PM = -1 }; enum U : unsigned { U3 = 3 }; enum C : unsigned char { C3 = 3 }; enum S : short { S3 }; enum L : long long { L3 }; enum Z : size_t { Z3 }; enum B : bool { B0, B1 };
enum All { ALL = 0xFFFFFFFF, AL3 = 3 }; enum Mixed { M0 = -1, M1 = 0x80000000 }; enum Next { N0 = 2147483647, N1 }; enum Wide { W0 = 1ull << 63 }; enum Size { SZ = sizeof(int) };
enum Inner { I0 = 5u, I1 = I0 - 6 }; enum InnerFixed : int { F0 = 5, F1 = F0 - 6 }; enum Arms { A0 = 1 ? -1 : 3u }; enum Minus { D0 = -2147483647 - 1, D1 = 4 };
enum { ANON = 0x90000000 }; namespace ns { enum { Q = ~0u }; enum E : unsigned long { R }; namespace deep { enum { T = 2 }; } } struct St { enum { K = 0xFFFFFFFF, J = 1 }; enum H : unsigned short { HK }; unsigned b : 5; };
enum class Scoped : unsigned { X = 3 }; enum class Later; typedef enum { TD = 0xF0000000u } Td; enum Opaque : unsigned; enum Opaque : unsigned { OP = 1 };
enum Shadow { SH = 1 }; namespace ns { enum Shadow : unsigned long { SN = 1 }; }
#define NAMES X0, X1, X2
enum Listed { NAMES, AFTER };
enum __attribute__((packed)) Packed { PK = 1 };
template <int N, class T> struct Tm { enum { INTS = N * 2 }; enum { OF_SIZE = sizeof(T) }; enum : unsigned { FIXED = N }; };
`;

const PARAMETERS = 'int i, unsigned u, long l, char c, unsigned char uc, unsigned short us, bool b, wchar_t w, char16_t c16, char32_t c32, U eu, C ec, All ea, Td td, Opaque eo, St st, unsigned __int128 wide, unsigned /* n */ int q';

async function typesOf(forms: readonly string[], declarations = DECLARATIONS, parameters = PARAMETERS): Promise<readonly string[]> {
  const u = await unit(`${declarations}\n__device__ void f(${parameters}) {\n${forms.map((form) => `  use((${form}));`).join('\n')}\n}\n`);
  const decl = functionNamed(u, 'f');
  return (decl.body?.body ?? []).map((statement) => {
    const call = statement.kind === 'expression' && statement.expression.kind === 'call' ? statement.expression : null;
    const [argument] = call?.arguments ?? [];
    return argument === undefined ? statement.kind : printType(argument.type);
  });
}

async function check(rows: readonly (readonly [string, string])[]): Promise<void> {
  const types = await typesOf(rows.map(([form]) => form));
  expect(rows.map(([form], i) => `${form}: ${types[i] ?? ''}`)).toEqual(rows.map(([form, type]) => `${form}: ${type}`));
}

const UINT = 'unsigned int';
const LONG = 'long';
const ULONG = 'unsigned long';
const LONGLONG = 'long long';

describe('types of enumerators and of enum variables', () => {
  test('a fixed type is the one that computes, promoted', () => check([
    ['U3', 'U'], ['U3 + i', UINT], ['i - U3', UINT], ['+U3', UINT], ['-U3', UINT], ['~U3', UINT], ['U3 << i', UINT], ['i << U3', 'int'], ['i < U3', 'bool'], ['C3 + i', 'int'], ['C3 + u', UINT], ['S3 + i', 'int'],
    ['L3 + u', LONGLONG], ['Z3 + i', ULONG], ['eu + i', UINT], ['ec + i', 'int'], ['i ? eu : i', UINT], ['i ? eu : eu', 'U'], ['i ? eu : ec', UINT], ['i ? ec : ec', 'C'], ['(U)i', 'U'], ['(U)i + 1', UINT], ['eo + i', UINT], ['OP + i', UINT],
  ]));

  test('without one: the first of int, unsigned, long, unsigned long that holds all values', () => check([
    ['P3 + i', 'int'], ['AL3 + i', UINT], ['ALL + i', UINT], ['ea + i', UINT], ['M0 + i', LONG], ['N0 + i', UINT], ['N1 + i', UINT], ['W0 + i', ULONG], ['SZ + i', 'int'], ['I0 + i', UINT], ['I1 + i', UINT], ['F1 + i', 'int'], ['A0 + i', UINT],
    ['D1 + i', 'int'], ['ANON + i', UINT], ['TD + i', UINT], ['td + i', UINT],
  ]));

  test('the enum of an enumerator is its own, wherever it is named from', () => check([
    ['ns::Q + i', UINT], ['ns::R + i', ULONG], ['ns::E::R + i', ULONG], ['ns::deep::T + i', 'int'], ['St::K + i', UINT], ['St::J + i', UINT], ['St::HK + i', 'int'], ['St::H::HK', 'H'], ['SH + i', 'int'], ['ns::SN + i', ULONG],
  ]));

  test('scoped enums are no numbers', () => check([
    ['Scoped::X', 'Scoped'], ['Scoped::X == Scoped::X', 'bool'], ['(unsigned)Scoped::X', UINT], ['Scoped::X + i', '<unknown>'], ['i ? Scoped::X : Scoped::X', 'Scoped'],
  ]));

  test('what is not certain is not known', () => check([
    ['AFTER + i', '<unknown>'], ['PK + i', '<unknown>'], ['B1 + i', '<unknown>'], ['Tm<2, int>::OF_SIZE + i', '<unknown>'], ['Tm<2, int>::INTS + i', 'int'], ['Tm<2, int>::FIXED + i', UINT], ['st.b + i', '<unknown>'], ['wide + i', '<unknown>'],
  ]));

  test('a declaration without enumerators and without a type tells nothing', async () => {
    expect(await typesOf(['e + 1', 's + 1'], 'enum Hidden; enum class Sc;', 'Hidden e, Sc s')).toEqual(['<unknown>', '<unknown>']);
  });
});

describe('types of other numbers', () => {
  test('literals', () => check([
    ['2147483647', 'int'], ['2147483648', LONG], ['0x7fffffff', 'int'], ['0x80000000', UINT], ['0x100000000', LONG], ['0xFFFFFFFFFFFFFFFF', ULONG], ['037777777777', UINT], ['7u', UINT], ['7ul', ULONG], ['7LL', LONGLONG], ['7ull', 'unsigned long long'], ['0xFFFFFFFFFFFFFFFFll', 'unsigned long long'], ['0b11', 'int'],
    ["'a'", 'char'], ["+'a'", 'int'], ["L'a'", 'wchar_t'], ["u'a'", 'char16_t'], ["U'a'", 'char32_t'], ["+U'a'", UINT], ['true', 'bool'], ['sizeof(int)', ULONG], ['-2147483648', LONG], ['-1u', UINT],
  ]));

  test('calls of built-ins', () => check([
    ['min(uc, uc)', 'int'], ['std::min(uc, uc)', 'unsigned char'], ['std::min<int>(u, i)', 'int'], ['max(i, u)', UINT], ['abs(us)', 'int'], ['__shfl_sync(~0u, uc, 0)', 'int'], ['__shfl_sync(~0u, u, 0)', UINT], ['__shfl_sync(~0u, eu, 0)', UINT],
    ['__reduce_add_sync(~0u, u)', UINT], ['__dp4a(u, u, u)', UINT], ['__dp4a(i, i, i)', 'int'], ['__popc(u)', 'int'], ['__ballot_sync(~0u, i)', UINT],
  ]));

  test('a member of a specialised class template is not known', async () => {
    const traits = 'template <class T> struct Traits { typedef int type; }; template <> struct Traits<float> { typedef unsigned type; }; template <class T> struct Plain { typedef T type; };';
    expect(await typesOf(['a + 1', 'b + 1'], traits, 'Traits<float>::type a, Plain<unsigned>::type b')).toEqual(['<unknown>', UINT]);
  });

  test('promotion and the usual arithmetic conversions', () => check([
    ['c + c', 'int'], ['uc + us', 'int'], ['us * us', 'int'], ['-us', 'int'], ['~uc', 'int'], ['-u', UINT], ['b + b', 'int'], ['!u', 'bool'], ['w + w', 'int'], ['c16 + c16', 'int'], ['c32 + i', UINT], ['u + l', LONG], ['l + 1ll', LONGLONG], ['1ul + 1ll', 'unsigned long long'], ['1ull + l', 'unsigned long long'], ['1ul + l', ULONG], ['i ? l : 1ll', LONGLONG], ['(signed char)i', 'signed char'], ['(signed char)i + c', 'int'], ['i + u', UINT],
    ['uc << l', 'int'], ['l << uc', LONG], ['i ? uc : uc', 'unsigned char'], ['i ? uc : c', 'int'], ['i ? i : u', UINT], ['i ? b : c', 'int'], ['uc += 300', 'unsigned char'], ['uc++', 'unsigned char'], ['us <<= 3', 'unsigned short'],
    ['(i, u)', UINT], ['q + i', UINT], ['i < u', 'bool'], ['u / i', UINT], ['l % u', LONG],
  ]));
});
