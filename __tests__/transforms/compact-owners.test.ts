/** What belongs to the thread that owns an item: addresses of its variables that callees give back, objects that end by running code, text that says something of its own. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { compact as typed } from '../../transforms/compact.js';
import { hoist as typedHoist } from '../../transforms/hoist.js';
import type { Transform } from '../../transforms/lib/types.js';
import { load, outcomesOf } from '../helpers/transform.js';

const compact = typed as Transform;
const hoist = typedHoist as Transform;

beforeAll(async () => { await initParser(); });

const BEFORE = `
__device__ const float *at(const float &a) { return &a; } __device__ const float &same(const float &a) { return a; } __device__ unsigned long long number(const float &a) { return (unsigned long long)&a; }
struct Held { const float *p; }; __device__ Held held(const float &a) { return Held{&a}; }
struct Cell { float v; __device__ operator const float *() const { return &v; } __device__ const float *here() const { return &v; } };
struct Ends { float *to; const float *from; __device__ ~Ends() { *to = *from; } }; struct Around { Ends inner; }; struct Plain { float *to; };
`;
const HEAVY = 'for (int q = 0; q < 64; ++q) v = v * 0.75f + sqrtf(fabsf(v));';

const isApplied = (text: string, variant: 'block' | 'loop'): boolean => outcomesOf(compact, load(text), { variant, evenIfItLoses: true }).some(({ status }) => status === 'applied');

const block = (before: string, value: string, behind = ''): string => `${BEFORE}
__global__ void k(const float *__restrict__ x, const unsigned char *__restrict__ mask, float *__restrict__ y, float *__restrict__ z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ${before}
    if (mask[i]) { float v = ${value}; ${HEAVY} z[i] = v; }
    ${behind}
}
void f(float *x, unsigned char *mask, float *y, float *z, int n) { k<<<n / 256, 256>>>(x, mask, y, z, n); }
`;

const POINTERS: readonly (readonly [string, string])[] = [
  ['float q = i; const float *w = at(q);', '*w'], ['float q = i; const float *w = &same(q);', '*w'], ['float q = i; Held w = held(q);', '*w.p'], ['float q = i; Held w; w.p = at(q);', '*w.p'], ['float q = i; const float *w = &q;', '*w'],
  ['float q = i; unsigned long long w = number(q);', '*(const float *)w'], ['Cell c; c.v = i; const float *w = c;', '*w'], ['Cell c; c.v = i; const float *w = c.here();', '*w'], ['float q = i; const float &r = q; const float *w = at(r);', '*w'],
  ['float q = i; auto f = [&] { return &q; }; const float *w = f();', '*w'], ['float q = i; auto f = [](const float &a) { return &a; }; const float *w = f(q);', '*w'],
];

describe('a pointer into the owner\'s variables does not travel', () => {
  test.each(POINTERS)('%s %s', (before, value) => { expect(isApplied(block(before, value), 'block')).toBe(false); });
  test.each([['const float *w = x + i;', '*w'], ['float q = x[i] * 2.0f;', 'q'], ['float q = i; float w = same(q);', 'w'], ['const float *w = i > 3 ? x : x + 1;', 'w[i]']])('%s %s travels', (before, value) => {
    expect(isApplied(block(before, value), 'block')).toBe(true);
  });
});

describe('an object that ends by running code keeps its scope', () => {
  test.each(['Ends e{y + i, z + i};', 'Ends e[1] = {{y + i, z + i}};', 'Around e{{y + i, z + i}};', 'const Ends &e = Ends{y + i, z + i};', 'auto e = Ends{y + i, z + i};'])('if (i >= n) return; %s', (declared) => {
    expect(isApplied(block(`if (i >= n) return; ${declared}`, 'x[i]'), 'block')).toBe(false);
    expect(isApplied(block(`if (i >= n) return; float w = x[i]; ${declared}`, 'x[i]', 'w = 3.0f; y[i] = w;'), 'block')).toBe(false);
  });
  test('others move', () => { expect(isApplied(block('if (i >= n) return; Plain e{y + i};', 'x[i]', '*e.to = 3.0f;'), 'block') || isApplied(block('if (i >= n) return; int j = i;', 'x[j]'), 'block')).toBe(true); });
});

describe('text between an early return and the branch stays', () => {
  test.each(['static_assert(sizeof(int) == 4, "");', 'float other(float);', 'using Real = float;'])('%s', (text) => {
    const [outcome] = outcomesOf(compact, load(block(`if (i >= n) return; ${text} int j = i;`, 'x[j]')), { variant: 'block', evenIfItLoses: true });
    if (outcome?.status === 'applied') expect((outcome.change?.edits ?? []).map((edit) => edit.text).join()).toContain(text);
  });
  test.each(['#pragma push_macro("SCALE")', '#pragma nv_diag_suppress 177', '#pragma nv_diagnostic push', '_Pragma("pop_macro(\\"SCALE\\")")'])('%s is not moved', (text) => {
    expect(isApplied(block(`if (i >= n) return;\n${text}\nint j = i;`, 'x[j]'), 'block')).toBe(false);
  });
});

const loop = (outside: string, inside: string, value: string): string => `${BEFORE}
__global__ void k(const float *__restrict__ x, const unsigned char *__restrict__ mask, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ${outside}
    for (int t = 0; t < n; ++t) { ${inside} if (mask[t * 32 + (i & 31)]) { float v = x[t]; ${HEAVY} y[i * 64 + t] = v + ${value}; } }
}
void f(float *x, unsigned char *mask, float *y, int n) { k<<<n / 256, 256>>>(x, mask, y, n); }
`;

describe('what an item finds behind a pointer or a capture is that of its iteration', () => {
  test.each([
    ['', 'float w = x[t]; const float *p = &w;', '*p'], ['', 'float w = x[t]; const float *p = at(w);', '*p'], ['', 'float w = x[t]; Held p = held(w);', '*p.p'], ['', 'Cell w{x[t]}; const float *p = w;', '*p'],
    ['float w = i; auto f = [&] { return w; };', 'w += t;', 'f()'], ['float w = i; const float *p = &w;', 'w += t;', '*p'], ['float w = i; const float *p = at(w);', 'w += t;', '*p'], ['Cell w{1.0f}; const float *p = w;', 'w.v += t;', '*p'],
  ])('%s %s %s', (outside, inside, value) => { expect(isApplied(loop(outside, inside, value), 'loop')).toBe(false); });
  test.each([['', '', '0.0f'], ['int w = i;', 'w ^= t;', 'w'], ['const float *p = x + i;', '', '*p'], ['', 'float w = x[t];', 'w']])('%s %s %s is put off', (outside, inside, value) => {
    expect(isApplied(loop(outside, inside, value), 'loop')).toBe(true);
  });
});

describe('a loop with a pragma that is not its own is not copied', () => {
  const kernel = (pragma: string): string => `#define LIM 100\n#pragma push_macro("LIM")\n#undef LIM\n#define LIM 3
#define POP _Pragma("pop_macro(\\"LIM\\")")
__global__ void k(const int *__restrict__ a, int *__restrict__ o, int n, int m) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += LIM;
${pragma}
        if (m > 3) sum += a[i] * 3; else sum -= a[i];
    }
    o[0] = sum;
}
`;
  const isHoisted = (text: string): boolean => outcomesOf(hoist, load(text), { evenIfItLoses: true }).some(({ status }) => status === 'applied');
  test.each(['#pragma pop_macro("LIM")', '# pragma  pop_macro ( "LIM" )', '_Pragma("pop_macro(\\"LIM\\")")', 'POP', '#pragma nv_diagnostic push'])('%s', (pragma) => { expect(isHoisted(kernel(pragma))).toBe(false); });
  test.each(['', '#pragma unroll\nfor (int j = 0; j < 3; ++j) sum ^= j;', '#pragma unroll 2\nfor (int j = 0; j < 3; ++j) sum ^= j;', '_Pragma("unroll 3") for (int j = 0; j < 3; ++j) sum ^= j;'])('%s is copied', (pragma) => {
    expect(isHoisted(kernel(pragma))).toBe(true);
  });
});
