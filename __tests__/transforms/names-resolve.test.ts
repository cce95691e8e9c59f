/** Names in text that hoist and peel write mean what they meant: declarations are compared, wherever the text lands. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { compact } from '../../transforms/compact.js';
import { hoist } from '../../transforms/hoist.js';
import { peel } from '../../transforms/peel.js';
import { applyAll, refuses } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

function kernel(body: string, parameters = 'const float *a, float *o, int n, int m, bool flat'): string {
  return `__global__ void k(${parameters}) {\n    float s = 0.f;\n${body.split('\n').map((line) => (line === '' ? '' : `    ${line}`)).join('\n')}\n    o[threadIdx.x] = s;\n}\n`;
}

describe('peel', () => {
  test('a bound may not name what the head of the loop declares anew', () => {
    refuses(peel, kernel(`int m2 = m * 2 + threadIdx.x;
for (int m = 0; m < n; ++m) {
    if (m < m2) s += a[m];
    s *= 0.5f;
}`), 'names-resolve');
  });

  test('what a block around the loop declares anew is no way to write the bound', () => {
    const { text } = applyAll(peel, kernel(`int edge = m * 2 + threadIdx.x;
{
    float m = a[0];
    for (int i = 0; i < n; ++i) {
        if (i < edge) s += a[i] * m;
        s *= 0.5f;
    }
}`), { evenIfItLoses: true });
    expect(text).toContain('i < edge; ++i');
  });

  test('a bound may name what an inner block declares anew behind the loop', () => {
    const { text } = applyAll(peel, kernel(`int edge = m * 2 + threadIdx.x;
for (int i = 0; i < n; ++i) {
    if (i < edge) s += a[i];
    s *= 0.5f;
}
{ float m = a[0]; s += m; }`));
    expect(text).toContain('(long long)m * 2');
  });

  test('a bound may not name what a macro has become in between', () => {
    refuses(peel, `__global__ void k(const float *a, float *o, int n, int m) {
    float s = 0.f;
    int edge = m * 2 + threadIdx.x;
#define m 7
    for (int i = 0; i < n; ++i) {
        if (i < edge) s += a[i];
        s *= 0.5f;
    }
    o[threadIdx.x] = s * m;
}
`, 'names-resolve');
  });

  test('the size of the block is not that of a variable with its name', () => {
    refuses(peel, kernel(`float blockDim = a[0];
for (int i = 0; i < n; i += 64) {
    int j = i + threadIdx.x;
    s += j < n ? a[j] : blockDim;
}`), 'names-resolve');
  });

  test('min and max are spelled out where a variable has their name', () => {
    const { text } = applyAll(peel, kernel(`int min = 3;
for (int i = 0; i < n; i += 64) {
    int j = i + threadIdx.x;
    if (j < n && j < m) s += a[j];
    s *= min;
}`));
    expect(text).toContain('i_full');
    expect(text).not.toContain('min(');
  });

  test('a variable of the head whose name is used behind the loop stays in a block', () => {
    const { text } = applyAll(peel, kernel(`int i = n - 1;
for (int i = 0; i < n; i += 64) {
    int j = i + threadIdx.x;
    if (j < n) s += a[j];
    s *= 0.5f;
}
s += a[i];`));
    expect(text).toMatch(/\{\n\s*int i = 0;/);
  });

  test('a variable of the body cannot be named in a head', () => {
    const { text } = applyAll(peel, kernel(`for (int i = 0; i < n; ++i) {
    int limit = m;
    limit += 2;
    if (i < limit) s += a[i];
    s *= 0.5f;
}`));
    expect(text).not.toMatch(/for \([^)]*limit/);
  });
});

describe('hoist', () => {
  test('a cast to a type that the loop declares anew', () => {
    refuses(hoist, kernel(`using T = int;
for (int i = 0; i < n; ++i) {
    using T = unsigned char;
    if ((T)m > 3) s += a[i];
    else s -= a[i];
}`), 'names-resolve');
  });

  test('a template argument that the loop declares', () => {
    refuses(hoist, `template <int K> __device__ bool above(int x) { return x > K; }
${kernel(`constexpr int W = 3;
s = W;
for (int i = 0; i < n; ++i) {
    constexpr int W = 5;
    if (above<W>(m)) s += a[i];
    else s -= a[i];
}`)}`, 'names-resolve');
  });

  test('a type of the same meaning at both places', () => {
    const { text } = applyAll(hoist, kernel(`using T = unsigned char;
for (int i = 0; i < n; ++i) {
    if ((T)m > 3) s += a[i];
    else s -= a[i];
}`));
    expect(text).toContain('if ((T)m > 3) {\n');
  });

  test('a condition climbs only as far as its names do', () => {
    const { text } = applyAll(hoist, kernel(`for (int j = 0; j < m; ++j) {
    int edge = n * 2;
    for (int i = 0; i < n; ++i) {
        if (edge > 5) s += a[i];
        else s -= a[i];
    }
}`));
    expect(text).toMatch(/int edge = n \* 2;\n\s*if \(edge > 5\)/);
  });

  test('an entry test is written with names that stand in scope', () => {
    refuses(hoist, kernel(`int *p = nullptr;
int start = 4;
{
    for (int start = 0, end = start + m; start < end; ++start) {
        if (a[m] > 0.f) s += a[start];
        else s -= a[start];
    }
}`), 'condition-safe-early');
  });

  test('a __shared__ array whose length the loop declares stays there', () => {
    refuses(hoist, kernel(`for (int i = 0; i < n; ++i) {
    constexpr int W = 64;
    __shared__ float tile[W];
    if (flat) tile[threadIdx.x] = a[i];
    __syncthreads();
    s += tile[0];
    __syncthreads();
}`), 'names-resolve');
  });
});

describe('constants', () => {
  const loop = (test: string, before = '', inner = ''): string => `${before}for (int i = 0; i < n; ++i) {
    ${inner}if (i < ${test}) s += a[i];
    else s *= 0.5f;
}`;

  /** The test of the first run. */
  function bound(head: string, test: string, before = '', inner = '', parameters?: string): string {
    const { text } = applyAll(peel, head + kernel(loop(test, before, inner), parameters), { evenIfItLoses: true });
    return /i < n && i < (.*); \+\+i/.exec(text)?.[1] ?? text;
  }

  const SPACES = 'namespace na { constexpr int R = 2; enum E { EA = 4 }; enum class EC { X = 3 }; inline namespace v { constexpr int V = 6; } }\nconstexpr int R = 5;\nstruct Cfg { static constexpr int R = 6; enum { TILE = 8 }; };\ntypedef Cfg Other;\n';

  test.each([
    ['na::R'], ['::R'], ['R'], ['Cfg::R'], ['Cfg::TILE'], ['Other::TILE'], ['na::EA'], ['na::E::EA'], ['(int)na::EC::X'], ['na::V'],
  ])('%s is written as it stands', (test) => {
    expect(bound(SPACES, test)).toBe(test);
  });

  test.each([
    ['a parameter', '', '', 'const float *a, float *o, int n, int R'], ['a local', 'int R = m;\n', '', undefined],
  ])('%s of the name is not what ::R means', (_, before, inner, parameters) => {
    expect(bound(SPACES, '::R', before, inner, parameters)).toBe('::R');
    expect(bound(SPACES, 'na::R', before, inner, parameters)).toBe('na::R');
  });

  test('a using-declaration, an alias and a class of the loop are not known in front of it', () => {
    expect(bound(SPACES, 'R', '', 'using na::R; ')).toBe('na::R');
    expect(bound('namespace na { namespace nb { constexpr int Q = 2; } }\n', 'Q', '', 'using namespace na::nb; ')).toBe('na::nb::Q');
    expect(bound(SPACES, 'g::R', '', 'namespace g = na; ')).toBe('na::R');
    expect(bound(SPACES, '::na::R', '', 'struct na { int v; }; ')).toBe('::na::R');
  });

  test('an alias of one function is none of another', () => {
    const head = `${SPACES}__global__ void other(int *o) { namespace g = na; o[0] = g::R; }\n`;
    refuses(peel, head + kernel(loop('g::R')), 'types-known');
  });

  test('template arguments stay', () => {
    const text = `template <class T> struct P { static constexpr int W = 4; };\n${kernel(loop('P<T>::W')).replace('__global__', 'template <class T> __global__')}template __global__ void k<int>(const float *, float *, int, int, bool);\n`;
    expect(applyAll(peel, text, { evenIfItLoses: true }).text).toContain('i < n && i < P<T>::W');
  });

  const BUILT = '#ifndef TILE\n#define TILE 4\n#endif\n';

  test('what a constant is made of is named from the place, too', () => {
    expect(bound(`${BUILT}namespace c { constexpr int B = 2; constexpr int Q = TILE + B; }\n`, 'c::Q')).toBe('c::B + TILE');
    expect(bound(`${BUILT}namespace c { constexpr int B = 2; constexpr int Q = TILE + B; }\n`, 'c::Q', 'int c = m;\n')).toBe('::c::B + TILE');
  });

  test('a private member, a class template\'s parameter, an undone macro and text of another place are not written', () => {
    expect(bound(`${BUILT}class H { static constexpr int S = 3; public: static constexpr int Q = TILE + S; };\n`, 'H::Q')).not.toMatch(/\bS\b/);
    expect(bound(`${BUILT}namespace c { constexpr int Q = TILE / 2; constexpr int M = TILE & 6; }\n`, 'c::Q')).toBe('c::Q');
    expect(bound(`${BUILT}namespace c { constexpr int Q = TILE / 2; constexpr int M = TILE & 6; }\n`, 'c::M')).toBe('c::M');
    for (const text of [
      `${BUILT}#define OWN 3\nconstexpr int Q = TILE + OWN;\n#undef OWN\n#define OWN 30\n${kernel(loop('Q'))}`,
      `${BUILT}template <int N> struct P { static constexpr int Q = N + TILE; };\n${kernel(loop('P<3>::Q'))}`,
    ]) expect(applyAll(peel, text, { evenIfItLoses: true }).text).not.toMatch(/i < n && .*\b(?:OWN|N)\b/);
  });

  test('a macro means in front of the loop what its words mean there', () => {
    refuses(peel, `constexpr int R = 3;\n#define TWICE (2 * R)\n${kernel(loop('TWICE', '', 'const int R = 6; s += R; '))}`, 'names-resolve');
    expect(bound('constexpr int R = 3;\n#define TWICE (2 * R)\n', 'TWICE', 'const int R = 6;\n')).toBe('TWICE');
  });

  test('a counter whose name a using-declaration, an enum or a function declaration of the block has stays in a block of its own', () => {
    for (const brought of ['using na::R;', 'enum { R = 4 };', 'float R(float);', 'namespace R = na;']) {
      const { text } = applyAll(peel, `${SPACES}${kernel(`${brought}\nfor (int R = 0; R < n; ++R) {\n    if (R < 3) s += a[R];\n    else s *= 0.5f;\n}`)}`, { evenIfItLoses: true });
      expect(text).toContain('    {\n        int R = 0;\n');
    }
  });

  test('one text for two values is not one value', () => {
    refuses(peel, `constexpr int R = 3;\n${kernel(`for (int i = 0; i < n; ++i) {
    if (i < (R & 6)) s += a[i];
    else s *= 0.5f;
    { const int R = 5; if (i < (R & 6)) s += 3.f; else s *= 0.25f; }
}`)}`, 'names-resolve');
  });
});

test('a queue of values whose type the source does not spell has it with its namespace', () => {
  const { text } = applyAll(compact, `namespace geo { struct Hit { float d; int id; }; enum Kind { NONE, SOME }; __device__ Hit make(float v, int i) { Hit h; h.d = v; h.id = i; return h; } __device__ Kind kind(int i) { return i & 1 ? SOME : NONE; } }
__device__ float heavy(geo::Hit h, int r) { float s = h.d; for (int i = 0; i < r; ++i) s = s * 1.01f + sinf(s) * h.id; return s; }
__global__ void scan(const float *a, float *o, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        auto h = geo::make(a[i], i);
        auto k = geo::kind(i);
        float v = 0.f;
        if (a[i] > 0.5f) { v = heavy(h, rounds); if (k == geo::SOME) v += 1.f; }
        o[i] = v;
    }
}
void run(const float *a, float *o) { scan<<<4, 128>>>(a, o, 500, 8); }
`, { evenIfItLoses: true });
  expect(text).toContain('__shared__ geo::Hit queue_h[128];');
  expect(text).toContain('__shared__ geo::Kind queue_k[128];');
});
