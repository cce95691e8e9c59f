/** What peel says: certificates, estimates that agree with what was measured, and where it stays away. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import type { Outcome } from '../../transforms/lib/types.js';
import { peel } from '../../transforms/peel.js';
import { applyAll, load, outcomesOf, refuses, skips } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

function only(code: string): Outcome {
  const outcomes = outcomesOf(peel, load(code));
  expect(outcomes).toHaveLength(1);
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error('no site');
  return outcome;
}

function convolution(radius: number): string {
  return `__global__ void convolve(const float *in, const float *tap, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.f;
    for (int k = -${radius}; k <= ${radius}; ++k) {
        int j = i + k;
        if (j >= 0 && j < n)
            sum += tap[k + ${radius}] * in[j];
    }
    if (i < n)
        out[i] = sum;
}
`;
}

const MATMUL = `#define T 16
__global__ void matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int M, int N, int K)
{
    __shared__ float As[T][T + 1], Bs[T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty;
    int col = blockIdx.x * T + tx;
    float c = 0.f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0.f;
        Bs[ty][tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : 0.f;
        __syncthreads();
        for (int k = 0; k < T; ++k)
            c += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = c;
}
`;

describe('estimates agree with what was measured', () => {
  test.each([[4, 1.12, 1.22], [16, 1.08, 1.18], [64, 1, 1.04]])('a window of radius %d', (radius, low, high) => {
    const { estimate } = only(convolution(radius));
    expect(estimate?.speedup).toBeGreaterThanOrEqual(low);
    expect(estimate?.speedup).toBeLessThanOrEqual(high);
  });

  test('a tile loop with barriers gains next to nothing, and is applied all the same', () => {
    const { estimate, status } = only(MATMUL);
    expect(status).toBe('applied');
    expect(estimate?.speedup).toBeGreaterThanOrEqual(1);
    expect(estimate?.speedup).toBeLessThanOrEqual(1.02);
  });
});

describe('certificates', () => {
  test('a tile loop is proved but for fused products', () => {
    const { obligations, site } = only(MATMUL);
    expect(obligations.filter((o) => o.status !== 'proved').map((o) => [o.id, o.status, o.grant])).toEqual([['contraction-stable', 'assumed', 'contract']]);
    expect(site.line).toBe(9);
    expect(site.alsoLines).toEqual([10, 11]);
    expect(obligations.find((o) => o.id === 'bound-exact')?.text).toContain('K > reach ? K - reach : 0');
  });

  test('a bound that rests on indices not wrapping says so', () => {
    const { obligations } = only(`__global__ void self(const float *a, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.f;
    for (int j = 0; j < n; ++j)
        if (j != i)
            s += a[j];
    o[i] = s;
}
`);
    expect(obligations.find((o) => o.id === 'guard-exact')).toMatchObject({ status: 'assumed', grant: 'index-range' });
  });

  test('without the grant it is refused', () => {
    const code = `__global__ void self(const float *a, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.f;
    for (int j = 0; j < n; ++j)
        if (j != i)
            s += a[j];
    o[i] = s;
}
`;
    refuses(peel, code, 'guard-exact', { grants: new Set() });
  });
});

describe('what belongs to others', () => {
  test.each([
    ['a halving tree', 'for (int s = blockDim.x / 2; s > 0; s >>= 1) { if (threadIdx.x < s) p[threadIdx.x] += p[threadIdx.x + s]; __syncthreads(); }'],
    ['a guard that does not count', 'for (int k = 0; k < n; ++k) { if (threadIdx.x < n) p[k] += 1; }'],
    ['a loop over data', 'for (int k = 0; k < n; ++k) { if (p[k] > 0) p[k] = 0; }'],
  ])('%s is no site', (_name, loop) => {
    expect(outcomesOf(peel, load(`__global__ void f(int *p, int n) { ${loop} }\n`))).toEqual([]);
  });

  test('a register array is not split at run time', () => {
    skips(peel, `__global__ void f(const int *p, int *o, int n) {
    int r[8], s = 0;
    for (int u = 0; u < 8; ++u) {
        r[u] = 0;
        if (u > (int)threadIdx.x)
            r[u] = p[u];
    }
    for (int u = 0; u < 8; ++u)
        s += r[u];
    o[threadIdx.x] = s;
}
`);
  });
});

test('two loops of one function do not take one name', () => {
  const loop = (name: string): string => `    for (int ${name} = 0; ${name} < n; ${name} += 32)\n        if (${name} + threadIdx.x < n)\n            s += a[${name} + threadIdx.x];\n        else\n            s ^= 1;\n`;
  const { text, rounds } = applyAll(peel, `__global__ void f(const int *a, int *o, int n) {\n    int s = 0;\n${loop('k')}${loop('k')}    o[threadIdx.x] = s;\n}\n`);
  expect(rounds).toBe(2);
  expect(text.match(/const int (\w+) =/g)).toHaveLength(4);
  expect(new Set(text.match(/const int (\w+) =/g)).size).toBe(4);
});

describe('what a grant may not stand in for', () => {
  const counted = (type: string, guard: string): string => `__global__ void k(const float *a, float *o, ${type} n) {
    float s = 0.f;
    for (${type} k = 0; k < n; ++k) {
        unsigned i = k + threadIdx.x;
        if (${guard}) { s += a[i & 255]; s += sqrtf(s) * a[(i + 1) & 255]; s += sinf(s) / a[(i + 2) & 255]; s *= 1.5f; }
        s *= 0.5f;
    }
    o[threadIdx.x] = s;
}
`;

  test('an unsigned counter may come near the end of its type: a run that relies on no wrap there is not written', () => {
    for (const outcome of outcomesOf(peel, load(counted('unsigned', 'i >= 32')))) {
      expect(outcome.obligations.find(({ id }) => id === 'guard-exact')?.status).not.toBe('assumed');
    }
  });

  test('the claim itself may keep a widened sum in its type', () => {
    const { obligations } = only(`__global__ void k(const float *a, float *o, int n) {
    float s = 0.f;
    for (int t = 0; t < n; ++t) {
        long long i = (long long)(t * blockDim.x + threadIdx.x);
        if (i < n) s += a[i];
        s *= 0.5f;
    }
    o[threadIdx.x] = s;
}
`);
    expect(obligations.find(({ id }) => id === 'guard-exact')?.status).toBe('proved');
  });
});

describe('truth values as numbers', () => {
  const shifted = (init: string): string => `__global__ void k(const float *a, float *o, int n, bool wide, int m) {
    ${init}
    float s = 0.f;
    for (int k = 0; k < n; k += 64) {
        int i = k + threadIdx.x + odd;
        if (i < n) s += a[i];
        s *= 0.5f;
    }
    o[threadIdx.x] = s;
}
`;

  test('a parameter of type bool in a bound', () => {
    const { text } = applyAll(peel, shifted('bool odd = wide;'));
    expect(text).toContain('k_full');
  });

  test('a number that a bool holds is not that number', () => {
    const { text } = applyAll(peel, shifted('bool odd = threadIdx.x;'));
    expect(text).not.toContain('k_full');
  });
});

test('a window whose test can never hold is not versioned', () => {
  const { text } = applyAll(peel, `__global__ void k(const float *a, float *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.f;
    for (int t = -40; t <= 40; ++t)
        if (i + t >= 0 && i + t < 64) s += a[i + t];
    o[i] = s;
}
`);
  expect(text).not.toContain('else');
});

test.each([
  ['g += (a[k] > s || (a[k] == s && i < n));', 'g += (a[k] > s || a[k] == s);'],
  ['g += (a[k] > s || ( i < n && a[k] == s ));', 'g += (a[k] > s || a[k] == s);'],
  ['g += a[k] > s or(i < n and a[k] == s);', 'g += a[k] > s or(a[k] == s);'],
  ['g += a[k] > s && (i >= n || a[k] == s || g < 3);', 'g += a[k] > s && (a[k] == s || g < 3);'],
  ['if ((!valid) && (i < n)) s += a[k] * 3.f;', 'if (!valid) s += a[k] * 3.f;'],
  ['if (not valid or (i < n)) s += a[k] * 3.f;', 'peeled:        s += a[k] * 3.f;'],
  ['bool b = ((i < n) && (a[k] < 2.f)) || valid; s += b;', 'bool b = a[k] < 2.f || valid; s += b;'],
  ['bool b = !((i < n) && valid); s += b;', 'bool b = !valid; s += b;'],
])('parentheses of %s', (line, peeled) => {
  const code = `__global__ void k(float *o, float *a, int n, bool valid) {\n    float s = 0.f;\n    int g = 0;\n    for (int k = 0; k < n; k += 32) {\n        int i = k + threadIdx.x;\n        s *= 0.5f;\n        ${line}\n    }\n    o[threadIdx.x] = s + g;\n}\n`;
  const text = applyAll(peel, code, { evenIfItLoses: true }).text;
  expect(text.split('\n').map((one) => `peeled:${one}`).join('\n')).toContain(peeled);
});

describe('a copy that would hardly ever run is not written', () => {
  const reasons = (code: string): string => outcomesOf(peel, load(code)).map((outcome) => `${outcome.status}: ${outcome.estimate?.reason ?? ''}`).join('; ');

  test('what stands in an arm that another guard takes out is not asked', () => {
    const code = `__global__ void k(float *o, const float *a, int n, int r) {
    for (int i = 0; i < n + r; i++) {
        if (i < r) o[i] = a[0];
        else if (i > n + r / 2) o[i] = a[n - 1];
        else o[i] = sqrtf(a[i - r]);
    }
}
`;
    const run = applyAll(peel, code, { evenIfItLoses: true });
    expect(run.text).toContain('i < r');
    expect(run.text).not.toMatch(/min\(|long long/);
  });

  test('not for a loop of one iteration', () => {
    const code = '__global__ void k(float *o, const float *a, int n) {\n    for (int i = 0; i < n - 1; i++) {\n        if (i < 1 && n - i < 3) o[i] = a[i]; else o[i] = sqrtf(a[i]) + sinf(a[i + 1]);\n    }\n}\n';
    expect(applyAll(peel, code, { evenIfItLoses: true }).text).not.toContain('n < 4');
    expect(applyAll(peel, code, { evenIfItLoses: true }).text).not.toContain('n <= 2');
  });

  test('not for a window that no block has inside', () => {
    const code = `__global__ void k(float *o, const float *a, int n, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.x * blockDim.x;
    float s = 0.f;
    for (int j = 0; j < w; ++j) {
        int g = i - w / 2 + j;
        if (g >= first && g < n) s += a[g] * sqrtf(a[g]);
    }
    o[i] = s;
}
`;
    expect(reasons(code)).toMatch(/skipped: .*below one/);
  });

  test('not for a counter that must pass all threads of the block first', () => {
    const code = '__global__ void k(float *o, int n) {\n    extern __shared__ float s[];\n    for (int i = 0; i < n; ++i) {\n        if (threadIdx.x > i) s[threadIdx.x] += s[i] * 2.f;\n        __syncthreads();\n    }\n    o[threadIdx.x] = s[threadIdx.x];\n}\n';
    expect(reasons(code)).toMatch(/skipped: .*number of threads of a block/);
  });
});

describe('arms that lose their test join the block around them', () => {
  const loop = (arm: string, behind: string): string => `__global__ void k(float *o, const float *a, int n) {
    float s = 0.f;
    for (int k = 0; k < n; k += 32) {
        s *= 2.f;
        if (k + threadIdx.x < n) {
            s += 1.f;
            if (k + threadIdx.x <= n) {
                ${arm}
            }
        }
        ${behind}
    }
    o[threadIdx.x] = s;
}
`;

  test('two of them, one in the other', () => {
    expect(applyAll(peel, loop('float v = a[k]; s += v * v;', 's -= 1.f;')).text).toMatch(/s \+= 1.f;\s+float v = a\[k\]; s \+= v \* v;\s+s -= 1.f;/);
  });

  test('not where a name of the inner one stands behind the outer one', () => {
    expect(applyAll(peel, loop('float v = a[k]; s += v * v;', 'float v = a[k + 1]; s -= v;')).text).toMatch(/\{\s+s \+= 1.f;\s+(?:\{\s+)?float v = a\[k\]; s \+= v \* v;\s+\}/);
  });

  test('a member of the same name is another name', () => {
    expect(applyAll(peel, loop('float x = a[k]; s += x * x;', 's -= 1.f;')).text).toMatch(/s \+= 1.f;\s+float x = a\[k\]; s \+= x \* x;\s+s -= 1.f;/);
  });
});

describe('a loop whose own test names no counter', () => {
  test.each([
    ['while (true)', 'int i = 0; while (true) { if (i >= n) break; if (i + 4 < n) x += a[i]; else x++; i++; }'],
    ['while (1)', 'int i = 0; while (1) { if (i >= n) break; if (i + 4 < n) x += a[i]; else x++; i++; }'],
    ['for (i = 0; true;)', 'int i; for (i = 0; true;) { if (i >= n) break; if (i + 4 < n) x += a[i]; else x++; i++; }'],
    ['for (i = 0; 1; i++)', 'int i; for (i = 0; 1; i++) { if (i >= n) break; if (i + 4 < n) x += a[i]; else x++; }'],
    ['a test of something else', 'int i = 0; while (m) { if (i >= n) break; if (i + 4 < n) x += a[i]; else x++; i++; }'],
    ['a last statement that holds the guard', 'int i = 0; while (m) { if (i >= n) break; if (i + 4 < n) { x += a[i]; i++; } else { x++; i++; } }'],
  ])('%s is peeled once', (_, loop) => {
    const code = `__global__ void k(int *o, const int *a, int n, int m) {\n    int x = 0;\n    ${loop}\n    o[threadIdx.x] = x;\n}\n`;
    const run = applyAll(peel, code);
    expect(run.text).not.toMatch(/(?:true|1) && /);
    // What leaves the loop at once may become its test first.
    expect(run.rounds).toBeLessThanOrEqual(2);
    if (run.rounds === 1) refuses(peel, run.text, 'already-done');
  });

  test('and the loop that is left by a break is peeled at all', () => {
    const code = '__global__ void k(int *o, const int *a, int n) {\n    int x = 0, i = 0;\n    while (true) {\n        if (i >= n) break;\n        if (i + 4 < n) x += a[i];\n        i++;\n    }\n    o[threadIdx.x] = x;\n}\n';
    expect(applyAll(peel, code).rounds).toBe(1);
  });
});

describe('a version that no iteration could use is not written', () => {
  test.each([
    ['one guard asks for what the loop excludes', 'j < n && j >= k'],
    ['two guards do together', 'j >= n && j < 2 * n'],
    ['two guards with a factor', 'j >= n && 2 * j < n'],
  ])('%s', (_, guard) => {
    const code = `__global__ void f(float *o, const float *a, int n, int k) {\n    float x = 0;\n    for (int j = 0; j < k; j++) {\n        if (${guard}) x += a[j] * 2.0f;\n    }\n    o[threadIdx.x] = x;\n}\n`;
    expect(applyAll(peel, code, { evenIfItLoses: true }).text).not.toContain('} else {');
  });
});

describe('what it does not help is skipped', () => {
  const loop = (body: string, head = 'for (int k = 0; k < n; k += 64)', before = ''): string => `__global__ void f(const float *a, float *o, int n, int m)
{
    float sum = 0.f;
${before}    ${head} {
${body.trim().split('\n').map((line) => `        ${line}`).join('\n')}
    }
    o[threadIdx.x] = sum;
}
`;
  const reason = (code: string): string => {
    const outcome = outcomesOf(peel, load(code)).find(({ status }) => status === 'skipped');
    expect(outcomesOf(peel, load(code)).map(({ status }) => status)).not.toContain('applied');
    expect(outcome?.estimate?.speedup).toBeLessThanOrEqual(1);
    return outcome?.reason ?? '';
  };
  const guarded = 'int i = k + threadIdx.x;\nsum += i < n ? a[i] : 0.f;';

  test.each([
    ['a select of constants', 'o[k] = k + (int)threadIdx.x < m ? 7.f : -1.f;'],
    ['a select of values in registers', 'sum += a[k] * (k + (int)threadIdx.x < m ? sum : 0.5f);'],
    ['a select of a sum', 'int at = k + (int)threadIdx.x < m ? k + 1 : k;\nsum += a[at];'],
  ])('%s', (_name, body) => {
    expect(reason(loop(body))).toMatch(/makes a select of them/);
  });

  test('arms that load are no select', () => {
    expect(outcomesOf(peel, load(loop(guarded))).map(({ status }) => status)).toEqual(['applied']);
  });

  test('a loop of one iteration has nothing to save', () => {
    expect(reason(loop('int i = blockIdx.x * 64 + threadIdx.x + k * 64;\nsum += i < n ? a[i] : 0.f;', 'for (int k = 0; k < 1; k++)'))).toMatch(/so few iterations/);
  });

  test('a loop that a pragma unrolls is not split, one that it unrolls by a number is', () => {
    const pragma = (text: string): string => loop(guarded, `${text}\n    for (int k = 0; k < n; k += 64)`);
    expect(reason(pragma('#pragma unroll'))).toMatch(/the compiler unrolls this loop/);
    for (const text of ['#pragma unroll 1', '#pragma unroll 4', '#pragma unroll(8)']) {
      expect(outcomesOf(peel, load(pragma(text))).map(({ status }) => status)).toEqual(['applied']);
    }
  });

  test('a loop that indexes an array of the thread by its counter is not split', () => {
    const array = (index: string): string => loop(`int i = k + threadIdx.x;\nif (i < n)\n    sum += a[i] * kept[${index}];`, undefined, '    float kept[8] = {1.f, 2.f, 3.f};\n');
    expect(reason(array('k / 64'))).toMatch(/send the array to memory/);
    expect(outcomesOf(peel, load(array('2'))).map(({ status }) => status)).toEqual(['applied']);
  });

  test('a window that holds for one value only', () => {
    const shifted = `__global__ void f(const float *a, float *o, int n, int shift)
{
    float sum = 0.f;
    for (int k = 0; k < n; k++) {
        if (k + shift >= 0 && k + shift < n)
            sum += a[k + shift] * a[k];
    }
    o[threadIdx.x] = sum;
}
`;
    expect(reason(shifted)).toMatch(/one value only/);
  });
});
