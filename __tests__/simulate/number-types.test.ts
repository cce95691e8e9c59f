/** Values that hang on the type a number has: enums, template values and members of templates. Each row holds in g++. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { contents, initParser, run } from './helpers.js';

beforeAll(async () => { await initParser(); });

const DECLARATIONS = `
enum U : unsigned { U0, U3 = 3 }; enum { ALL = 0xFFFFFFFF, A3 = 3 }; enum class Scoped : unsigned { X = 3 }; enum S : short { SM = -3 };
template <int N> struct P { enum { V = N * 2, X = 0xFFFFFFFF }; static constexpr int K = N + 1; __device__ static int own() { return V; } };
template <int N> struct Q : P<N + 1> { enum { Z = N }; };
template <int N> struct Fixed : P<4> { __device__ static int m() { return V * 100 + K * 10 + N; } };
template <class T> struct R { enum { N = sizeof(T), M = (T)-1 }; static constexpr T K = (T)-1; };
template <class T, T V> struct Constant { static constexpr T value = V; enum { e = V }; };
template <unsigned N> __device__ int value(int i) { return i - 1 < N; }
template <class T, T N> __device__ int typed(int i) { return i - 1 < N; }
template <auto N> __device__ int automatic(int i) { return i - 1 < N; }
template <U N> __device__ int enumerated(int i) { return i - 1 < N; }
template <unsigned N> __device__ int length(int (&a)[N], int i) { return i - 1 < N; }
template <int N> __device__ int other() { return P<4>::V + P<N>::V; }
template <class T> __device__ int passed(T x, int i) { return i - 1 < x; }
template <unsigned N> struct Array { int v[N]; __device__ int before(int i) { return i - 1 < N; } };
__device__ U made(int x) { return (U)x; }
__device__ int which(int) { return 1; } __device__ int which(unsigned) { return 2; } __device__ int which(unsigned long) { return 3; }
`;

/** With i = 0: a comparison with `i - 1` is false where it is made without signs. */
const FORMS: readonly (readonly [string, number])[] = [
  ['i - 1 < U3', 0], ['i - 1 < A3', 0], ['i - 1 < (int)U3', 1], ['i - 1 < (unsigned)Scoped::X', 0], ['i - 4 < SM', 1], ['i - 1 < e', 0], ['i - 1 < (i ? e : U0)', 0], ['i - 1 < made(3)', 0], ['(U3 - 4) / 2', 2147483647], ['(i ? -1 : u) > 0', 1],
  ['value<3>(i)', 0], ['typed<unsigned, 3>(i)', 0], ['typed<int, 3>(i)', 1], ['automatic<3u>(i)', 0], ['automatic<3>(i)', 1], ['automatic<U3>(i)', 0], ['enumerated<U3>(i)', 0], ['length(a, i)', 0], ['Array<3>{}.before(i)', 0],
  ['passed(U3, i)', 0], ['passed(A3, i)', 0], ['passed(SM, i)', 0], ['which(U3)', 2], ['which(A3)', 2], ['which(SM)', 1], ['which(i ? e : U0)', 2],
  ['P<4>::V', 8], ['i - 1 < P<4>::V', 0], ['P<4>::own()', 8], ['other<7>()', 22], ['Q<4>::V', 10], ['Q<4>::Z', 4], ['Q<4>::K', 6], ['Fixed<3>::m()', 853], ['Fixed<3>::V', 8], ['R<char>::N', 1], ['i - 1 < R<char>::M', 0], ['i - 1 < R<unsigned>::M', 0],
  ['i - 1 < R<unsigned>::K', 0], ['i - 1 < Constant<unsigned, 3>::value', 0], ['i - 1 < Constant<unsigned, 3>::e', 1], ['sizeof(U3)', 4], ['sizeof(SM)', 2], ['sizeof(i ? e : e)', 4],
];

describe('types that values hang on', () => {
  test.each(FORMS)('%s', (form, value) => {
    const text = `${DECLARATIONS}\n__global__ void k(int *o) { int i = 0; unsigned u = 3; U e = U3; int a[3] = {1, 2, 3}; o[0] = (int)(${form}); }`;
    expect(contents(run(text, { block: [1, 1, 1] }), 'o', 1)).toEqual([value]);
  });

  test.each([
    ['switch (u - 4) { case -1: o[0] = 1; break; default: o[0] = 2; }', 1], ['switch ((unsigned char)200) { case (char)200: o[0] = 1; break; default: o[0] = 2; }', 2], ['switch ((unsigned long)i - 1) { case (char)-1: o[0] = 1; break; default: o[0] = 2; }', 1],
    ['auto f = [](int x) -> unsigned char { return x; }; o[0] = f(300);', 44], ['unsigned char x = 200, y = 250; auto q = std::min(x, y); q += 100; o[0] = q;', 44], ['unsigned char x = 200, y = 250; auto q = min(x, y); q += 100; o[0] = q;', 300],
    ['char c = 3; o[0] = std::max<unsigned char>(c, -1);', 255], ['o[0] = std::min<int>(u, -1) < 0;', 1], ['short h = -3; auto q = abs(h); q += 70000; o[0] = q;', 70003],
  ])('%s', (body, value) => {
    expect(contents(run(`__global__ void k(int *o) { int i = 0; unsigned u = 3; ${body} }`, { block: [1, 1, 1] }), 'o', 1)).toEqual([value]);
  });

  test('a type of a specialised class template is not the one of its primary template, nor that of an initialiser', () => {
    const traits = 'template <class T> struct Traits { typedef int type; }; template <> struct Traits<float> { typedef unsigned type; };';
    expect(run(`${traits}\n__global__ void k(int *o) { typename Traits<float>::type q = -1; o[0] = q > 0; }`).status).toBe('unsupported');
    expect(run(`${traits}\ntemplate <class T> __device__ int f() { typename Traits<T>::type q = -1; return q > 0; }\n__global__ void k(int *o) { o[0] = f<float>(); }`).status).toBe('unsupported');
  });

  test('a parameter of an enum holds its enumerators, by turns', () => {
    const text = 'enum Mode { OFF = 10, ON = 20, AUTO = 30 };\n__global__ void k(int *o, Mode mode) { o[0] = mode; }';
    const seen = new Set([1, 2, 3, 4, 5, 6].map((seed) => contents(run(text, { block: [1, 1, 1], seed }), 'o', 1)[0]));
    expect([...seen].sort()).toEqual([10, 20, 30]);
  });

  test('an enum over bool is not simulated: compilers turn 2 into 0, the standard into 1', () => {
    expect(run('enum B : bool { B0, B1 };\n__global__ void k(int *o, int n) { o[0] = (B)n == B1; }', { args: ['n=2'] }).status).toBe('unsupported');
  });
});
