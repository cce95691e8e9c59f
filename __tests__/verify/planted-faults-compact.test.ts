/** Faults planted in what compact:block writes: each is one that the transform could make, and each must be found. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { compact } from '../../transforms/compact.js';
import { applyAll, load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const BEFORE = `__global__ void k(const float *x, const int *mark, float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    if (mark[i] > 0) {
        for (int j = 0; j < 32; ++j)
            v = v * 0.75f + sqrtf(fabsf(v) + (float)i);
        z[i] = v;
    }
    y[i] = v;
}
void run(const float *x, const int *mark, float *y, float *z, int n) { k<<<(n + 95) / 96, 96>>>(x, mark, y, z, n); }
`;

const ROUNDS = `__global__ void k(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int r = 0; r < 3; ++r) {
        float v = x[i + r * 64];
        if (v > 0.0f) {
            for (int j = 0; j < 40; ++j)
                v = v * 0.75f + sqrtf(v);
            sum += v;
        }
    }
    y[i] = sum;
}
void run(const float *x, float *y, int n) { k<<<2, 64>>>(x, y, n); }
`;

/** Name, text taken out, text put in. */
type Fault = readonly [name: string, from: string, to: string];

const ON_THE_WAY: readonly Fault[] = [
  ['the return stays a return: the lanes that left are missing in the count', 'if (i < n) {', 'if (i >= n) return;\n    {'],
  ['mask without the lanes that returned', '__ballot_sync(0xffffffffu, active)', '__ballot_sync(__ballot_sync(0xffffffffu, i < n), active)'],
  ['mask one lane short', '__ballot_sync(0xffffffffu', '__ballot_sync(0x7fffffffu'],
  ['vote inside the branch', 'const unsigned int votes = __ballot_sync(0xffffffffu, active);', 'unsigned int votes = 0; if (i < n) votes = __ballot_sync(0xffffffffu, active);'],
  ['prefix over the condition of all lanes', '__ballot_sync(0xffffffffu, active)', '__ballot_sync(0xffffffffu, live)'],
  ['rank counts the lane itself', '(1u << (thread % 32)) - 1u)', '(2u << (thread % 32)) - 1u)'],
  ['rank of the warp alone', 'slot += activeInWarp[w];', ';'],
  ['own warp counted as an earlier one', 'if (w < thread / 32)', 'if (w <= thread / 32)'],
  ['last warp forgotten in the total', '__syncthreads_count(active)', '__syncthreads_count(active && thread < 64)'],
  ['total of the warp alone', 'const unsigned int items = __syncthreads_count(active);', '__syncthreads(); const unsigned int items = __popc(votes);'],
  ['total of the lanes that are not active', '__syncthreads_count(active)', '__syncthreads_count(!active)'],
  ['barrier before the counts are read lost', 'const unsigned int items = __syncthreads_count(active);', 'const unsigned int items = 32 * 3;'],
  ['a warp in front forgotten', 'w < 3; ++w', 'w < 1; ++w'],
  ['counts added as if every warp were in front', 'if (w < thread / 32)', 'if (true)'],
  ['barrier between queue write and read lost', '    __syncthreads();\n    if (thread < items) {', '    if (thread < items) {'],
  ['barrier before the results lost', '    __syncthreads();\n    if (active)\n        v = ', '    if (active)\n        v = '],
  ['queue one too small', 'float queue_v[96]', 'float queue_v[95]'],
  ['counts one too few', 'activeInWarp[3]', 'activeInWarp[2]'],
  ['stale index: the index of the thread that runs the item', 'int i = queue_i[thread];', ''],
  ['stale value: the value of the thread that runs the item', 'float v = queue_v[thread];', 'float v = x[i];\n        v = thread < 96 ? x[blockIdx.x * blockDim.x + thread] : v;'],
  ['result of another item', 'v = queue_v[slot];', 'v = queue_v[thread];'],
  ['result for all owners', 'if (active)\n        v = queue_v[slot];', 'if (live)\n        v = queue_v[slot];'],
  ['one item too few', 'if (thread < items)', 'if (thread + 1 < items)'],
  ['one item too many', 'if (thread < items)', 'if (thread <= items)'],
  ['result not written back', 'queue_v[thread] = v;', ''],
  ['the rest runs for those that had returned too', 'if (!live)\n        return;\n    y[i] = v;', 'y[i] = v;'],
  ['the guard is turned', 'if (i < n) {', 'if (i <= n) {'],
];

const IN_ROUNDS: readonly Fault[] = [
  ['queue reused before the results are read: no barrier behind the counts', 'const unsigned int items = __syncthreads_count(active);', 'const unsigned int items = 96;'],
  ['barrier between queue write and read lost', '        __syncthreads();\n        if (thread < items) {', '        if (thread < items) {'],
  ['sum of the thread that runs the item', 'float sum = queue_sum[thread];', 'float sum = 0.0f;'],
  ['results lost', 'sum = queue_sum[slot];', ';'],
  ['queue one too small', 'float queue_sum[64]', 'float queue_sum[63]'],
];

/** Launched with blocks of 64 where it is seen, and through a wrapper with blocks of any shape: the queue is as long as a block can be. */
const ELSEWHERE: readonly string[] = [
  'template <class F> void go(F f, const float *x, float *y, int n) { f<<<n / 128, 128>>>(x, y, n); }\nvoid other(const float *x, float *y, int n) { go(k, x, y, n); }\n',
  'template <void (*F)(const float *, float *, int)> void go(const float *x, float *y, int n) { F<<<n / 512, 512>>>(x, y, n); }\nvoid other(const float *x, float *y, int n) { go<k>(x, y, n); }\n',
  'void (*table[])(const float *, float *, int) = {k};\nvoid other(const float *x, float *y, int n) { table[0]<<<n / 32, 32>>>(x, y, n); }\n',
  '#define RUN(f, b, ...) f<<<n / b, b>>>(__VA_ARGS__)\nvoid other(const float *x, float *y, int n) { RUN(k, 256, x, y, n); }\n',
  'void other(const float *x, float *y, int n) { auto &kernel = k; kernel << <n / 32, dim3(32, 4) >> >(x, y, n); }\n',
];

/** Some lanes active, then all of them: a queue that is too small shows only when it is full. */
function verdict(before: string, after: string): string {
  const old = load(before);
  const edited = load(after);
  const threads = before === BEFORE ? 96 : 64;
  const inputs = [{ low: -2, high: 2 }, { low: 1, high: 2 }];
  const statuses = inputs.map((range) => {
    const contents = { kind: 'contents', distribution: { kind: 'uniform', ...range }, length: null } as const;
    return verifyEquivalent(old.program, edited.program, 'k', {
      blocks: [[threads, 1, 1]], budgetMs: 20_000, sizes: [threads * 2 - 5, 33, threads, 1, 64, 0], arguments: new Map([['mark', contents], ['x', contents]]),
    }).status;
  });
  return statuses.find((status) => status !== 'equal') ?? 'equal';
}

describe.each([{ name: 'early return and result', before: BEFORE, faults: ON_THE_WAY }, { name: 'rounds of a loop', before: ROUNDS, faults: IN_ROUNDS }])('$name', ({ before, faults }) => {
  test('what the transform writes is equal', () => {
    const { text, rounds } = applyAll(compact, before, { evenIfItLoses: true });
    expect(rounds).toBe(1);
    expect(verdict(before, text)).toBe('equal');
  }, 60_000);

  test.each(faults)('%s', (_name, from, to) => {
    const { text } = applyAll(compact, before, { evenIfItLoses: true });
    expect(text).toContain(from);
    expect(verdict(before, text.replace(from, () => to))).toBe('different');
  }, 60_000);
});

describe('a kernel whose launches are not all understood', () => {
  const shapes: readonly (readonly [number, number, number])[] = [[64, 1, 1], [32, 1, 1], [16, 8, 1], [96, 1, 1], [256, 1, 1], [20, 1, 1]];
  const contents = { kind: 'contents', distribution: { kind: 'uniform', low: -2, high: 2 }, length: null } as const;
  const compare = (before: string, after: string): string =>
    verifyEquivalent(load(before).program, load(after).program, 'k', { blocks: shapes, budgetMs: 20_000, arguments: new Map([['x', contents]]) }).status;

  test.each(ELSEWHERE)('%s', (other) => {
    const before = ROUNDS + other;
    const { text } = applyAll(compact, before, { evenIfItLoses: true });
    const threads = /queue_sum\[(\d+)\]/.exec(text)?.[1];
    expect(threads).toBe('1024');
    expect(compare(before, text)).toBe('equal');
    // The warps that the queue has room for, in place of those that the launch has.
    const total = 'const unsigned int items = __syncthreads_count(active);';
    expect(text).toContain(total);
    expect(compare(before, text.replace(total, '__syncthreads(); unsigned int items = 0; for (int w = 0; w < 32; ++w) items += activeInWarp[w];'))).toBe('different');
  }, 60_000);
});
