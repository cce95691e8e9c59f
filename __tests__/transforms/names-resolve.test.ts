/** Names in text that hoist and peel write mean what they meant: declarations are compared, wherever the text lands. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
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
