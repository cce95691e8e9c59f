/** What ballot says: masks that are derived, conditions that are compared exactly, estimates that agree with what was measured. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { ballot } from '../../transforms/ballot.js';
import type { Outcome } from '../../transforms/lib/types.js';
import { applyAll, load, outcomesOf, refuses, skips, type RunOptions } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

function only(code: string, options: RunOptions = {}): Outcome {
  const outcomes = outcomesOf(ballot, load(code), options);
  expect(outcomes).toHaveLength(1);
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error('no site');
  return outcome;
}

const row = (radius: string, guard = 'j >= 0 && j < n', index = 'int', extent = 'int'): string => `__global__ void k(const float *in, const float *tap, float *out, ${extent} n, int r)
{
    ${index} i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.f;
    for (int k = -${radius}; k <= ${radius}; ++k) {
        ${index} j = i + k;
        if (${guard})
            sum += tap[k + ${radius}] * in[j];
    }
    if (i < n)
        out[i] = sum;
}
`;

const plane = (radius: number): string => `__global__ void k(const float *in, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.f;
    for (int dy = -${radius}; dy <= ${radius}; ++dy)
        for (int dx = -${radius}; dx <= ${radius}; ++dx) {
            int xx = x + dx, yy = y + dy;
            if (xx >= 0 && xx < w && yy >= 0 && yy < h)
                sum += in[yy * w + xx];
        }
    if (x < w && y < h)
        out[y * w + x] = sum;
}
`;

describe('estimates agree with what was measured', () => {
  test.each([[4, 1.12, 1.26], [16, 1.06, 1.2], [64, 1, 1.04]])('a window of radius %d in a row', (radius, low, high) => {
    const { estimate } = only(row(String(radius)));
    expect(estimate?.speedup).toBeGreaterThanOrEqual(low);
    expect(estimate?.speedup).toBeLessThanOrEqual(high);
    expect(estimate?.pays).toBe(true);
  });

  test.each([[1, 1.1, 1.35], [8, 1.4, 1.86]])('a window of radius %d in a plane', (radius, low, high) => {
    const { estimate } = only(plane(radius));
    expect(estimate?.speedup).toBeGreaterThanOrEqual(low);
    expect(estimate?.speedup).toBeLessThanOrEqual(high);
    expect(estimate?.breakEven).toMatch(/of the warps/);
  });

  test('a nest that only moves values waits for memory', () => {
    const copying = (value: string): string => row('4').replace('sum += tap[k + 4] * in[j];', `out[j] = ${value};`).replace('out[i] = sum', 'out[i] = 0.f');
    for (const value of ['in[j]', '0.f', '(float)in[j]', '-1.f']) expect(only(copying(value)).reason).toMatch(/moves values/);
    for (const value of ['in[j] + 1.f', 'fabsf(in[j])', 'in[j] * tap[0]']) expect(only(copying(value)).reason ?? '').not.toMatch(/moves values/);
  });

  test('a nest counts by its part of the kernel', () => {
    const beside = (work: string): string => row('4').replace('    float sum = 0.f;', `    float sum = 0.f;\n    ${work}`);
    const alone = only(row('4')).estimate?.speedup ?? 0;
    const half = only(beside('for (int s = 0; s < 64; ++s) sum = sum * 0.5f + s;')).estimate?.speedup ?? 0;
    const hidden = only(beside('for (int s = 0; s < 4096; ++s) sum = sum * 0.5f + s;'));
    expect(half).toBeLessThan(alone);
    expect(half).toBeGreaterThan(1);
    expect(hidden.status).toBe('skipped');
    expect(hidden.reason).toMatch(/of what the kernel issues and moves/);
  });

  const branch = `__global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.f;
    if (v > 0.5f) {
        for (int k = 0; k < 16; ++k) v = v * 0.5f + sqrtf(v + k);
    }
    if (i < n) y[i] = v;
}
`;
  test.each(['skip', 'three-way'])('%s never pays, and says why', (variant) => {
    skips(ballot, branch, { variant });
    expect(only(branch, { variant }).reason).toMatch(/hardware passes by/);
    expect(applyAll(ballot, branch, { variant, evenIfItLoses: true }).rounds).toBe(1);
  });
});

describe('the condition is compared exactly', () => {
  const test1 = (code: string): string => /__all_sync\(0xffffffff, (.*)\)\) \{?$/m.exec(applyAll(ballot, code).text)?.[1] ?? '';

  test('in 64 bits where the sum may leave 32', () => {
    expect(test1(row('4'))).toBe('i >= 4 && (long long)i + 4 < n');
    expect(test1(row('r'))).toBe('i >= r && (long long)i + r < n');
  });

  test('an unsigned comparison says both edges', () => {
    expect(test1(row('4', '(unsigned)j < (unsigned)n'))).toBe('(long long)i + 4 < n && i >= 4');
  });

  test('in 64 bits as they are', () => {
    expect(test1(row('4', 'j >= 0 && j < n', 'long long', 'long long'))).not.toContain('(int)');
  });

  test('a length of 64 bits without sign', () => {
    const run = applyAll(ballot, row('4', 'j >= 0 && (size_t)j < n', 'int', 'size_t').replace('__global__', 'typedef unsigned long size_t;\n__global__'));
    if (run.rounds > 0) expect(run.text).not.toMatch(/\(int\)n/);
  });
});

describe('masks', () => {
  test('nothing is written with __activemask', () => {
    for (const code of [row('4'), plane(2)]) expect(applyAll(ballot, code).text).not.toContain('__activemask');
  });

  test('a vote below a return names the lanes that have gone', () => {
    const code = row('4').replace('    float sum', '    if (i >= n) return;\n    float sum');
    const outcome = only(code);
    expect(outcome.status).toBe('applied');
    expect(outcome.obligations.find((o) => o.id === 'arrival-set-known')?.text).toMatch(/have left the kernel/);
    expect(applyAll(ballot, code).text).toContain('__all_sync(0xffffffff,');
  });

  test('a condition that loads is evaluated once, and its value voted on', () => {
    const code = row('4').replace('    for (', '    if (tap[i & 7] > 0.f) {\n    for (').replace('    if (i < n)\n        out', '    }\n    if (i < n)\n        out');
    const { text } = applyAll(ballot, code);
    expect(text).toContain('const bool taken = tap[i & 7] > 0.f;');
    expect(text).toContain('__ballot_sync(0xffffffff, taken);');
    expect(text).toContain('if (taken) {');
  });

  test('lanes that leave the loop around one by one are refused', () => {
    refuses(ballot, row('4').replace('    float sum = 0.f;', '    float sum = 0.f;\n    while (sum < tap[i & 7]) {\n    int s = (int)sum;').replaceAll('i + k', 'i + s + k').replace('    if (i < n)\n        out', '    sum += 1.f; }\n    if (i < n)\n        out'), 'exits-warp-uniform');
  });
});

describe('guards on the number of the warp', () => {
  const rows = (number: string, more = ''): string => `__global__ void k(const float *in, float *out, int n, int r)
{
    const int w = ${number};
    int row = blockIdx.x * 4 + w;
    float sum = 0.f;
    for (int k = -r; k <= r; ++k)
        if (row + k >= 0 && row + k < n)
            sum += in[row + k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
${more}`;

  test.each(['threadIdx.x / 32', 'threadIdx.x / warpSize', '(int)threadIdx.x >> 5', 'threadIdx.x / 64', '(blockIdx.x * blockDim.x + threadIdx.x) / 32'])('%s is one for the lanes of a row', (number) => {
    refuses(ballot, rows(number), 'condition-varies');
  });

  test.each(['threadIdx.x / 16', 'threadIdx.x', 'threadIdx.x / 32 + threadIdx.x % 2'])('%s is not', (number) => {
    expect(only(rows(number)).obligations.find(({ id }) => id === 'condition-varies')?.status).toBe('proved');
  });

  test('a block of short rows has several numbers in a warp', () => {
    const { obligations } = only(rows('threadIdx.x / 32', 'void run(float *a, float *b, int n) { k<<<n, dim3(48, 2)>>>(a, b, n, 3); }'));
    expect(obligations.find(({ id }) => id === 'condition-varies')?.status).toBe('proved');
  });
});

describe('a store of a literal under a guard', () => {
  const nest = (body: string): string => `__global__ void k(int *held, const int *in, int n, int r)
{
    int start = (blockIdx.x * blockDim.x + threadIdx.x) * r;
    for (int k = 0; k < r; ++k) {
        ${body}
    }
}
`;

  // Which way the fast path goes.
  const inside = (body: string): string => /__all_sync\(0xffffffff, (.*)\)\) \{/.exec(applyAll(ballot, nest(body), { evenIfItLoses: true }).text)?.[1] ?? '';

  test.each(['if (start + k < n) held[start + k] = 0;', 'if (start + k < n) held[start + k] = -1;', 'if (start + k < n) { held[start + k] = 0; }'])('%s is the work', (body) => {
    expect(inside(body)).toBe('(long long)r + start <= n');
  });

  test.each(['int v = in[k]; if (start + k >= n) v = 0; held[start + k] = v;', 'held[start + k] = in[k]; if (start + k >= n) held[start + k] = 0;'])('%s stands for what lies outside', (body) => {
    expect(inside(body)).toBe('(long long)r + start <= n');
  });
});

describe('two nests that ask the same', () => {
  const nests = (between: string, second = 'z[i + k]', around: readonly [string, string] = ['', '']): string => `__global__ void k(const float *x, const float *z, float *y, int n, int r, bool more)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 0.f, b = 0.f;
    ${around[0]}
    for (int k = -r; k <= r; ++k)
        if (i + k >= 0 && i + k < n)
            a += x[i + k];
    ${around[1]}
    ${between}
    for (int k = -r; k <= r; ++k)
        if (i + k >= 0 && i + k < n)
            b += ${second};
    if (i < n)
        y[i] = a + b;
}
`;
  const votes = (code: string): number => applyAll(ballot, code, { evenIfItLoses: true }).text.split('__all_sync').length - 1;

  test.each([
    ['side by side', nests('')],
    ['the second in a block', nests('if (more) {', 'z[i + k]').replace('    if (i < n)\n        y', '    }\n    if (i < n)\n        y')],
    ['other variables change', nests('b = a * 2.f; const int q = r + n; b += q;')],
    ['more work in between', nests('if (a > 3.f && i >= 0) b = 1.f;')],
  ])('vote once: %s', (_name, code) => {
    const { text, rounds } = applyAll(ballot, code, { evenIfItLoses: true });
    expect(rounds).toBe(2);
    expect(text).toContain('const bool inside = __all_sync(0xffffffff, ');
    expect(text.split('if (inside)').length).toBe(3);
    expect(votes(code)).toBe(1);
  });

  test.each([
    ['the radius changes in between', nests('r = r / 2;')],
    ['the radius may change through an address', nests('int *p = &r; *p = 2;')],
    ['the first is not always reached', nests('', 'z[i + k]', ['if (more) {', '}'])],
  ])('vote twice: %s', (_name, code) => {
    expect(applyAll(ballot, code, { evenIfItLoses: true }).text).not.toContain('const bool inside');
  });

  test('three of them take one answer', () => {
    const code = nests('for (int k = -r; k <= r; ++k)\n        if (i + k >= 0 && i + k < n)\n            b -= x[i + k] * z[i + k];');
    expect(votes(code)).toBe(1);
    expect(applyAll(ballot, code, { evenIfItLoses: true }).text.split('if (inside)').length).toBe(4);
  });
});
