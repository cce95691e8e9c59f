/**
 * A `?:` gives way to its arm only where nothing can tell the two apart: not its type, not whether it is an object or a copy of one.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { ballot } from '../../transforms/ballot.js';
import { peel } from '../../transforms/peel.js';
import { applyAll } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

/** The body of a strip-mined loop that an `if` lets peel split, with the statement under test behind the `if`. */
function peeled(statement: string, before = '', declared = ''): string {
  return applyAll(peel, `${before}
__global__ void k(const float *a, const int *c, float *o, int n) {
    float s = 0, x = 1;
    ${declared}
    for (int t = 0; t < n; t += 64) {
        int i = t + threadIdx.x;
        if (i < n) s += sinf(a[i]) * expf(s) / a[i];
        ${statement}
    }
    o[threadIdx.x] = s + x;
}`, { evenIfItLoses: true }).text;
}

function templated(statement: string): string {
  return applyAll(peel, `template <class T> __device__ float run(const T *a, int n) {
    float s = 0;
    for (int t = 0; t < n; t += 64) {
        int i = t + threadIdx.x;
        if (i < n) s += sinf(s) * expf(s);
        ${statement}
    }
    return s;
}
__global__ void k(const int *a, const float *b, float *o, int n) { o[threadIdx.x] = run(a, n) + run(b, n); }`, { evenIfItLoses: true }).text;
}

/** The statement as it stands in the copies, the test decided or not. */
const left = (statement: string): string[] => [statement, statement.replace('i < n ?', 'true ?')];

describe('an arm stands where a value is read', () => {
  test.each([
    ['float v = i < n ? a[i] : 0.0f; s += v;', 'float v = a[i];'],
    ['s += i < n ? a[i] : 0.0f;', 's += a[i];'],
    ['s += (i < n ? a[i] : 0) * 2;', 's += a[i] * 2;'],
    ['s += fmaxf(s, i < n ? a[i] : 0.0f);', 'fmaxf(s, a[i])'],
    ['auto v = i < n ? a[i] : 0; s += v;', 'auto v = a[i];'],
    ['s += i < n ? a[i] : 0.5;', 's += (double)a[i];'],
    ['int v = i < n ? c[i] : 0; s += v;', 'int v = c[i];'],
  ])('%s', (statement, expected) => {
    expect(peeled(statement)).toContain(expected);
  });
  test('as the argument of a function that takes it by value', () => {
    expect(peeled('s += g(i < n ? a[i] : 0.f);', '__device__ float g(float v) { return v * 2; }')).toContain('g(a[i])');
  });
  test('a vector that a variable is made of', () => {
    expect(peeled('float2 v = i < n ? q[i] : make_float2(0, 0); s += v.x;', '', 'const float2 *q = (const float2 *)a;')).toContain('float2 v = q[i];');
  });
  test('a template parameter, where both arms and the variable are of it', () => {
    expect(templated('T v = i < n ? a[i] : T(0); s += v;')).toContain('T v = a[i];');
  });
});

describe('an arm does not stand', () => {
  test.each([
    's += (i < n ? a[i] : 0.5f) / 2;',
    's += (i < n ? a[i] : 0u) / 2;',
    'auto v = i < n ? a[i] : 0; s += v;',
  ])('in a template whose types decide: %s', (statement) => {
    const out = templated(statement);
    expect(out).not.toMatch(/[(=] ?a\[i\]/);
    expect(out.split('a[i] : 0').length).toBeGreaterThan(1);
  });

  test.each([
    ['a forwarding reference', 'template <class T> __device__ float g(T &&v) { v += 1; return v; }', 's += g(i < n ? x : 0.f);', 'g(x)'],
    ['overloads', '__device__ float g(float &v) { v += 1; return v; }\n__device__ float g(float &&v) { return v * 5; }', 's += g(i < n ? x : 0.f);', 'g(x)'],
    ['a constant reference', '__device__ float g(const float &v) { return v; }', 's += g((i < n ? x : 0.f));', 'g(x)'],
    ['a pack', 'template <class... T> __device__ float g(T... v) { return (v + ...); }', 's += g(i < n ? x : 0.f);', 'g(x)'],
    ['a function that is not seen', '', 's += g(i < n ? x : 0.f);', 'g(x)'],
    ['a generic lambda', '', 'auto l = [&](auto &&v) { v += 1; return v; }; s += l(i < n ? x : 0.f);', 'l(x)'],
    ['a reference', '', 'auto &&r = i < n ? x : 0.f; r += 1; s += r;', 'r = x;'],
    ['a narrower detour', '', 'int v = i < n ? c[i] : 0.5f; s += v;', 'int v = c[i];'],
    ['an overload for const', 'struct V { float x; __device__ float get() const { return x; } __device__ float get() { return x += 100; } };', 'V u{1}; const V w{2}; s += (i < n ? u : w).get();', 'u.get()'],
    ['a copy that is changed', 'struct V { float x; __device__ float inc() { return ++x; } };', 'V u{1}; s += (i < n ? u : V{2}).inc();', 'u.inc()'],
    ['a copy that is destroyed', 'struct S { float v; __device__ S(float x) : v(x) {} __device__ ~S() { v = 0; } __device__ operator float() const { return v; } };', 'S u(1.f); s += i < n ? u : S(2.f);', 's += u;'],
  ])('%s', (_name, before, statement, bare) => {
    expect(peeled(statement, before)).not.toContain(bare);
  });

  test('a decided test is written out there', () => {
    const out = peeled('s += g(i < n ? x : 0.f);', '__device__ float g(float &&v) { return v * 5; }');
    expect(left('s += g(i < n ? x : 0.f);').some((text) => out.includes(text))).toBe(true);
  });

  test('ballot asks for no vote on it, and not again and again', () => {
    const code = `template <class T> __device__ float run(const T *a, int n, int r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int d = -r; d <= r; ++d) {
        int j = i + d;
        if (j < n) s += sinf(s);
        s += (j < n ? a[j] : 0.5f) / 2;
    }
    return s;
}
__global__ void k(const int *a, float *o, int n, int r) { o[threadIdx.x] = run(a, n, r); }`;
    expect(applyAll(ballot, code, { evenIfItLoses: true }).text).toBe(code);
  });
});
