/** What compact says before: gains as they were measured in share and length, what --assume changes, and regions that were treated before. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { ballot } from '../../transforms/ballot.js';
import { compact } from '../../transforms/compact.js';
import { hoist } from '../../transforms/hoist.js';
import { peel } from '../../transforms/peel.js';
import { split } from '../../transforms/split.js';
import type { Estimate, Transform } from '../../transforms/lib/types.js';
import { applyAll, load, outcomesOf, type RunOptions } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const RUN = 'void run(const float *x, const int *tag, float *y, int n)\n{\n    k<<<(n + 255) / 256, 256>>>(x, tag, y, n);\n}\n';

function estimateOf(transform: Transform, text: string, options: RunOptions = {}): Estimate {
  const found = outcomesOf(transform, load(text, options.analysis), { evenIfItLoses: true, ...options }).find((outcome) => outcome.estimate !== null);
  if (found === undefined || found.estimate === null) throw new Error('no estimate');
  return found.estimate;
}

const off = (estimated: number, measured: number): number => Math.exp(Math.abs(Math.log(estimated / measured)));

describe('compact:block, measured on one H200 with 4 Mi items', () => {
  const kernel = (operations: number, share: number): string => `__global__ void k(const float *__restrict__ x, const int *__restrict__ tag, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // divmod: p=${share}
    if (i < n && tag[i] > 3) {
        float v = x[i];
        for (int t = 0; t < ${operations}; ++t)
            v = v * 0.9375f + sqrtf(v * v + 0.25f) * 0.0625f;
        y[i] = v;
    }
}
${RUN}`;

  test.each([
    [0.5, 8, 0.95], [0.5, 32, 1.33], [0.5, 128, 1.59], [0.5, 512, 1.69],
    [0.125, 8, 1.12], [0.125, 32, 2.16], [0.125, 128, 3.6], [0.125, 512, 4.4],
    [0.03125, 8, 0.93], [0.03125, 32, 1.5], [0.03125, 128, 2.4], [0.03125, 512, 3.3],
  ])('a share of %d active, %d operations: %d', (share, operations, measured) => {
    const { speedup, pays } = estimateOf(compact as Transform, kernel(operations, share));
    expect(off(speedup, measured)).toBeLessThan(1.2);
    expect(pays).toBe(measured > 1.03);
  });

  test('what it takes is named in share and length', () => {
    const { breakEven } = estimateOf(compact as Transform, kernel(8, 0.5));
    expect(breakEven).toMatch(/pays from a heavy part of about \d+ instructions with 50% active lanes \(annotation\); with the \d+ instructions that it has, from \d+% to \d+% active lanes/);
  });
});

describe('what nobody says', () => {
  const kernel = (operations: number, said = ''): string => `__global__ void k(const float *__restrict__ x, const int *__restrict__ tag, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ${said}
    if (i < n && tag[i] > 3) {
        float v = x[i];
        for (int t = 0; t < ${operations}; ++t)
            v = v * 0.9375f + sqrtf(v * v + 0.25f) * 0.0625f;
        y[i] = v;
    }
}
${RUN}`;

  test('a small gain at a share that is only assumed is none', () => {
    const small = [16, 17, 18, 19, 20].map((operations) => estimateOf(compact as Transform, kernel(operations))).find(({ speedup }) => speedup >= 1.06 && speedup < 1.14);
    expect(small?.pays).toBe(false);
    expect(small?.reason).toMatch(/say how many there are, by .. divmod: p= at the branch or --assume p@5=/);
    expect(estimateOf(compact as Transform, kernel(128)).pays).toBe(true);
  });

  test('the same gain at a share that is said is one', () => {
    const said = [16, 17, 18, 19, 20].map((operations) => estimateOf(compact as Transform, kernel(operations, '// divmod: p=0.5'))).find(({ speedup }) => speedup >= 1.06 && speedup < 1.14);
    expect(said?.pays).toBe(true);
  });

  // A probe of a table in global memory waits for memory, whoever asks for it.
  const probing = (space: string): string => `__device__ int probe(const int *__restrict__ keys, int key, int size)
{
    int at = key % size;
    while (keys[at] != key && keys[at] != -1)
        at = (at * 5 + 1) % size;
    return at;
}
__global__ void k(const float *__restrict__ x, const int *__restrict__ tag, float *__restrict__ y, int n)
{
    ${space}
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && tag[i] > 3) // divmod: p=0.5
        y[i] = probe(keys, tag[i], n);
}
${RUN}`;

  test('memory that a called function moves is counted', () => {
    const shared = estimateOf(compact as Transform, probing('__shared__ int keys[512]; keys[threadIdx.x] = tag[threadIdx.x]; keys[threadIdx.x + 256] = -1; __syncthreads();'));
    const global = estimateOf(compact as Transform, probing('const int *keys = tag;'));
    expect(global.speedup).toBeLessThan(shared.speedup - 0.1);
  });
});

describe('compact:loop, measured on one H200', () => {
  const kernel = (operations: number, share: number): string => `__global__ void k(const float *__restrict__ x, float *__restrict__ y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.f;
    for (int k = 0; k < m; ++k) {
        float v = x[(size_t)k * n + i];
        if (v < 0.5f) {  // divmod: p=${share}
            for (int t = 0; t < ${operations}; ++t)
                v = v * 0.9375f + sqrtf(v * v + 0.25f) * 0.0625f;
            sum = sum * 0.5f + v;
        }
    }
    y[i] = sum;
}
`;

  test.each([[64, 0.03, 3.3], [64, 0.2, 2.3], [64, 0.5, 1.4], [4, 0.03, 0.69], [4, 0.2, 0.66], [4, 0.5, 0.65]])('%d operations, a share of %d active: %d', (operations, share, measured) => {
    const { speedup, pays } = estimateOf(compact as Transform, kernel(operations, share), { variant: 'loop' });
    expect(off(speedup, measured)).toBeLessThan(1.3);
    expect(pays).toBe(measured > 1);
  });
});

describe('--assume p@LINE reaches the estimates', () => {
  const assume = (line: number, share: string): RunOptions => ({ analysis: { assume: new Map([[`p@${line}`, share]]) } });
  const heavy = `__global__ void k(const float *__restrict__ x, const int *__restrict__ tag, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (tag[i] > 3) {
        float v = x[i];
        for (int t = 0; t < 64; ++t)
            v = v * 0.9375f + sqrtf(v * v + 0.25f) * 0.0625f;
        y[i] = v;
    }
}
${RUN}`;

  test.each([['block', null], ['grid', 'grid']])('compact:%s', (_name, variant) => {
    const [rare, half] = ['0.05', '50%'].map((share) => estimateOf(compact as Transform, heavy, { variant, ...assume(6, share) }));
    expect(rare?.speedup).toBeGreaterThan((half?.speedup ?? NaN) * 1.2);
    expect(rare?.breakEven).toContain('5% active lanes (--assume)');
    // Of a line that is not the branch's nothing is said.
    expect(estimateOf(compact as Transform, heavy, { variant, ...assume(4, '0.9') }).breakEven).toContain('(assumed)');
  });

  test('an annotation says more than the option', () => {
    const written = heavy.replace('if (tag[i] > 3) {', 'if (tag[i] > 3) {  // divmod: p=0.25');
    expect(estimateOf(compact as Transform, written, assume(6, '0.5')).breakEven).toContain('25% active lanes (annotation)');
  });

  test('compact:loop', () => {
    const text = `__global__ void k(const float *x, float *y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.f;
    for (int k = 0; k < m; ++k) {
        float v = x[(i + k) & 63];
        if (v > 0.5f) {
            for (int s = 0; s < 64; ++s) v = v * 0.5f + sqrtf(v + s);
            sum += v;
        }
    }
    if (i < n) y[i] = sum;
}
`;
    const [rare, half] = ['0.05', '0.5'].map((share) => estimateOf(compact as Transform, text, { variant: 'loop', ...assume(6, share) }).speedup);
    expect(rare).toBeGreaterThan(half ?? NaN);
  });

  test('split: how large the light population is', () => {
    const text = split.example.before;
    const line = text.split('\n').findIndex((one) => one.includes('if (sharp)')) + 1;
    const [few, many] = ['0.9', '0.1'].map((share) => estimateOf(split as Transform, text, assume(line, share)).speedup);
    expect(many).toBeGreaterThan(few ?? NaN);
  });

  test('ballot and peel: how many lie inside', () => {
    for (const transform of [ballot as Transform, peel as Transform]) {
      const text = transform.example.before;
      const [outcome] = outcomesOf(transform, load(text), { evenIfItLoses: true });
      if (outcome === undefined) throw new Error('no site');
      for (const line of [outcome.site.line, ...outcome.site.alsoLines ?? []]) {
        const known = estimateOf(transform, text).speedup;
        const edges = estimateOf(transform, text, assume(line, '0')).speedup;
        expect(edges).toBeLessThanOrEqual(known);
      }
      const at = [outcome.site.line, ...outcome.site.alsoLines ?? []].map((line) => estimateOf(transform, text, assume(line, '0')).speedup);
      expect(Math.min(...at)).toBeLessThan(estimateOf(transform, text).speedup);
    }
  });

  test('hoist: how many lanes come to each arm', () => {
    const text = `__global__ void k(const float *x, float *y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool c = x[i] > 0.5f;
    float s = 0.f;
    for (int k = 0; k < m; ++k) {
        if (c) {
            for (int t = 0; t < 40; ++t) s = s * 0.5f + sqrtf(s + t);
        } else {
            s += k;
        }
    }
    y[i] = s;
}
`;
    const all = estimateOf(hoist as Transform, text);
    const none = estimateOf(hoist as Transform, text, assume(6, '0'));
    expect(none.instructionsBefore).toBeLessThan(all.instructionsBefore / 4);
  });
});

describe('what was treated stays as it is, even if asked for', () => {
  const inner = `__global__ void k(const float *x, const int *tag, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        if (v > 0.5f) {
            for (int t = 0; t < 64; ++t)
                v = v * 0.75f + sqrtf(fabsf(v));
            if (tag[i] > 3)
                y[i] = v;
        }
    }
}
${RUN}`;
  const exit = `__global__ void k(const float *x, const int *tag, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || tag[i] < 0)
        return;
    float v = x[i];
    if (v > 0.5f) {
        for (int t = 0; t < 64; ++t)
            v = v * 0.75f + sqrtf(fabsf(v));
    }
    y[i] = v;
}
${RUN}`;

  test.each([['a branch inside of an item', inner], ['an item that returned early', exit]])('%s', (_name, text) => {
    const once = applyAll(compact as Transform, text, { evenIfItLoses: true });
    expect(once.rounds).toBe(1);
    for (const variant of [null, 'grid', 'loop']) {
      const again = outcomesOf(compact as Transform, load(once.text), { evenIfItLoses: true, variant });
      expect(again.map((outcome) => outcome.status)).not.toContain('applied');
      for (const outcome of again) expect(outcome.obligations.map(({ id, status }) => `${id} ${status}`)).toContain('already-done refuted');
    }
  });
});
