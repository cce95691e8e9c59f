/** The oracle bites: for each transform's output, faults that its author could have made. Every one must be found. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { initParser, programOf } from '../simulate/helpers.js';
import { verifyEquivalent, type VerifyOptions } from '../../src/verify/index.js';

beforeAll(async () => { await initParser(); });

interface Case {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly options?: VerifyOptions;
  /** What is planted: name, text taken out, text put in. */
  readonly faults: readonly (readonly [name: string, from: string, to: string])[];
}

const block = (n: number): VerifyOptions => ({ blocks: [[n, 1, 1]] });

const CASES: readonly Case[] = [
  {
    name: 'hoist',
    before: `__global__ void k(const float* x, float* y, int n, int mode, const float* scale) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
      float s = 0.0f;
      for (int j = 0; j < 6; ++j) { s += x[i + j]; if (mode > 3 && scale != nullptr) s = s * scale[j]; else s = s - 1.0f; s *= 0.5f; }
      y[i] = s; }`,
    after: `__global__ void k(const float* x, float* y, int n, int mode, const float* scale) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
      float s = 0.0f;
      if (mode > 3 && scale != nullptr) { for (int j = 0; j < 6; ++j) { s += x[i + j]; s = s * scale[j]; s *= 0.5f; } }
      else { for (int j = 0; j < 6; ++j) { s += x[i + j]; s = s - 1.0f; s *= 0.5f; } }
      y[i] = s; }`,
    faults: [
      ['dropped conjunct', 'if (mode > 3 && scale != nullptr) {', 'if (mode > 3) {'],
      ['the other conjunct dropped', 'if (mode > 3 && scale != nullptr) {', 'if (scale != nullptr) {'],
      ['condition turned', 'mode > 3 &&', 'mode >= 3 &&'],
      ['conjunct became disjunct', 'mode > 3 &&', 'mode > 3 ||'],
      ['statement before the branch lost in one copy', 'else { for (int j = 0; j < 6; ++j) { s += x[i + j];', 'else { for (int j = 0; j < 6; ++j) {'],
      ['statement after the branch lost in one copy', 's = s * scale[j]; s *= 0.5f;', 's = s * scale[j];'],
      ['loop header of the else copy', 'else { for (int j = 0; j < 6', 'else { for (int j = 0; j < 5'],
      ['counter starts at one', 'else { for (int j = 0;', 'else { for (int j = 1;'],
      ['swapped arms', 's = s - 1.0f;', 's = s * 1.0f;'],
      ['order of operations', 's = s * scale[j]; s *= 0.5f;', 's *= 0.5f; s = s * scale[j] + 0.0000001f;'],
    ],
  },
  {
    name: 'peel of a tile loop',
    options: block(32),
    before: `__global__ void k(const float* a, float* y, int n) {
      __shared__ float s[32]; int t = threadIdx.x; int i = blockIdx.x * 32 + t; float sum = 0.0f;
      for (int base = 0; base < n; base += 32) {
        if (base + t < n) s[t] = a[base + t]; else s[t] = 0.0f;
        __syncthreads();
        for (int j = 0; j < 32; ++j) if (base + j < n) sum += s[j] * (float)(i - j);
        __syncthreads(); }
      if (i < n) y[i] = sum; }`,
    after: `__global__ void k(const float* a, float* y, int n) {
      __shared__ float s[32]; int t = threadIdx.x; int i = blockIdx.x * 32 + t; float sum = 0.0f;
      int full = n / 32 * 32; int base = 0;
      for (; base < full; base += 32) {
        s[t] = a[base + t];
        __syncthreads();
        for (int j = 0; j < 32; ++j) sum += s[j] * (float)(i - j);
        __syncthreads(); }
      for (; base < n; base += 32) {
        if (base + t < n) s[t] = a[base + t]; else s[t] = 0.0f;
        __syncthreads();
        for (int j = 0; j < 32; ++j) if (base + j < n) sum += s[j] * (float)(i - j);
        __syncthreads(); }
      if (i < n) y[i] = sum; }`,
    faults: [
      ['bound rounded up', 'n / 32 * 32', '(n + 31) / 32 * 32'],
      ['bound one tile short of the tail', 'for (; base < n; base += 32) {\n        if', 'for (; base + 32 < n; base += 32) {\n        if'],
      ['lost zero fill and guard', 'if (base + t < n) s[t] = a[base + t]; else s[t] = 0.0f;\n        __syncthreads();\n        for (int j = 0; j < 32; ++j) if (base + j < n) sum', 's[t] = a[base + t];\n        __syncthreads();\n        for (int j = 0; j < 32; ++j) sum'],
      ['stale shared data in the tail', 'else s[t] = 0.0f;\n        __syncthreads();\n        for (int j = 0; j < 32; ++j) if (base + j < n)', '\n        __syncthreads();\n        for (int j = 0; j < 32; ++j)'],
      ['lost barrier at the end of a tile', 'sum += s[j] * (float)(i - j);\n        __syncthreads(); }\n      for (; base < n', 'sum += s[j] * (float)(i - j);\n        }\n      for (; base < n'],
      ['lost barrier after the load', 's[t] = a[base + t];\n        __syncthreads();\n        for (int j = 0; j < 32; ++j) sum', 's[t] = a[base + t];\n        for (int j = 0; j < 32; ++j) sum'],
      ['stale index: the tail starts again', '__syncthreads(); }\n      for (; base < n; base += 32) {\n        if', '__syncthreads(); }\n      for (base = 0; base < n; base += 32) {\n        if'],
      ['off by one in the inner remainder', 'if (base + j < n) sum += s[j]', 'if (base + j < n - 1) sum += s[j]'],
      ['shared array too small', '__shared__ float s[32];', '__shared__ float s[31];'],
      ['inner loop one short', 'for (int j = 0; j < 32; ++j) sum', 'for (int j = 0; j < 31; ++j) sum'],
    ],
  },
  {
    name: 'versioned loop by a vote',
    before: `__global__ void k(const float* x, float* y, int n, int radius) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; float s = 0.0f;
      for (int d = -3; d <= 3; ++d) { int q = i + d; if (q >= 0 && q < n) s += x[q] * (float)(d + 4); }
      if (i < n) y[i] = s; }`,
    after: `__global__ void k(const float* x, float* y, int n, int radius) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; float s = 0.0f;
      if (__all_sync(0xffffffffu, i - 3 >= 0 && i + 3 < n)) { for (int d = -3; d <= 3; ++d) { int q = i + d; s += x[q] * (float)(d + 4); } }
      else { for (int d = -3; d <= 3; ++d) { int q = i + d; if (q >= 0 && q < n) s += x[q] * (float)(d + 4); } }
      if (i < n) y[i] = s; }`,
    faults: [
      ['lower edge forgotten', 'i - 3 >= 0 && i + 3 < n', 'i + 3 < n'],
      ['upper edge forgotten', 'i - 3 >= 0 && i + 3 < n', 'i - 3 >= 0'],
      ['upper edge one off', 'i + 3 < n', 'i + 3 <= n'],
      ['fast copy one turn short', '{ for (int d = -3; d <= 3; ++d) { int q = i + d; s += x[q]', '{ for (int d = -3; d < 3; ++d) { int q = i + d; s += x[q]'],
      ['any for all', '__all_sync', '__any_sync'],
      ['mask one lane short', '0xffffffffu', '0x7fffffffu'],
      ['no guard in the slow copy', 'if (q >= 0 && q < n) s += x[q] * (float)(d + 4); } }\n      if', 's += x[q] * (float)(d + 4); } }\n      if'],
      ['vote below a divergent test', '__all_sync(0xffffffffu, i - 3 >= 0 && i + 3 < n)', 'i < n && __all_sync(0xffffffffu, i - 3 >= 0 && i + 3 < n)'],
    ],
  },
  {
    name: 'vote inside a branch, with a mask taken above it',
    before: `__global__ void k(const float* x, const int* pick, float* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float s = 0.0f;
      if (pick[i] > 0) { for (int d = -3; d <= 3; ++d) { int q = i + d; if (q >= 0 && q < n) s += x[q] * (float)(d + 4); } }
      y[i] = s; }`,
    after: `__global__ void k(const float* x, const int* pick, float* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float s = 0.0f;
      const bool taken = pick[i] > 0;
      const unsigned int lanes = __ballot_sync(0xffffffff, taken);
      if (taken) {
        if (__all_sync(lanes, i >= 3 && (long long)i + 3 < n)) { for (int d = -3; d <= 3; ++d) { int q = i + d; s += x[q] * (float)(d + 4); } }
        else { for (int d = -3; d <= 3; ++d) { int q = i + d; if (q >= 0 && q < n) s += x[q] * (float)(d + 4); } } }
      y[i] = s; }`,
    faults: [
      ['all lanes named inside the branch', '__all_sync(lanes, i', '__all_sync(0xffffffff, i'],
      ['vote taken inside the branch', 'const unsigned int lanes = __ballot_sync(0xffffffff, taken);\n      if (taken) {', 'if (taken) { const unsigned int lanes = __ballot_sync(0xffffffff, taken);'],
      ['mask of the other lanes', '__ballot_sync(0xffffffff, taken)', '__ballot_sync(0xffffffff, !taken)'],
      ['mask without the lanes that are early', '__ballot_sync(0xffffffff, taken)', '__ballot_sync(0xffffffff, taken && i >= 3)'],
      ['mask of another condition', '__ballot_sync(0xffffffff, taken)', '__ballot_sync(0xffffffff, pick[i] > 1)'],
      ['lower end of the other version', 'i >= 3 &&', 'i >= 2 &&'],
      ['upper end forgotten', ' && (long long)i + 3 < n', ''],
      ['versions swapped', '__all_sync(lanes, i', '!__all_sync(lanes, i'],
    ],
  },
  {
    name: 'work of a loop put off',
    before: `__global__ void k(const float* x, float* y, int n, int m) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; float sum = 0.0f; if (i >= n) return;
      for (int j = 0; j < m; ++j) { float v = x[(i * 5 + j * 3) % n]; if (v > 0.0f) { sum = sum * 0.5f + v * (float)(j + 1); } }
      y[i] = sum; }`,
    after: `__global__ void k(const float* x, float* y, int n, int m) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; float sum = 0.0f; if (i >= n) return;
      unsigned int queued = 0, finished = 0; int j_queue[4]; float v_queue[4];
      for (int j = 0; j < m; ++j) { float v = x[(i * 5 + j * 3) % n];
        const bool active = v > 0.0f;
        if (__any_sync(0xffffffff, active && queued - finished == 4)) {
          if (finished != queued) { int j = j_queue[finished % 4]; float v = v_queue[finished % 4]; sum = sum * 0.5f + v * (float)(j + 1); finished++; } }
        if (active) { j_queue[queued % 4] = j; v_queue[queued % 4] = v; queued++; } }
      while (finished != queued) { int j = j_queue[finished % 4]; float v = v_queue[finished % 4]; sum = sum * 0.5f + v * (float)(j + 1); finished++; }
      y[i] = sum; }`,
    faults: [
      ['room for one more than there is', 'queued - finished == 4', 'queued - finished == 5'],
      ['queue one too small', 'float v_queue[4];', 'float v_queue[3];'],
      ['work left behind the loop', 'while (finished != queued)', 'if (finished != queued)'],
      ['newest in place of the oldest', 'float v = v_queue[finished % 4]; sum = sum * 0.5f + v * (float)(j + 1); finished++; } }', 'float v = v_queue[(queued - 1) % 4]; sum = sum * 0.5f + v * (float)(j + 1); finished++; } }'],
      ['counter of now with the value of then', 'if (finished != queued) { int j = j_queue[finished % 4]; float v', 'if (finished != queued) { float v'],
      ['put before the lane has room', '        if (active) { j_queue[queued % 4] = j; v_queue[queued % 4] = v; queued++; } }', '        if (active && queued - finished != 4) { j_queue[queued % 4] = j; v_queue[queued % 4] = v; queued++; } if (active && v > 1.0f) finished++; }'],
      ['vote where not all lanes come', 'if (__any_sync(0xffffffff, active && queued - finished == 4)) {', 'if (active && __any_sync(0xffffffff, queued - finished == 4)) {'],
      ['ran but not counted', '(float)(j + 1); finished++; } }', '(float)(j + 1); } }'],
    ],
  },
  {
    name: 'tree to shuffles',
    options: block(128),
    before: `__global__ void k(const float* x, float* y) {
      __shared__ float s[128]; int t = threadIdx.x; s[t] = x[blockIdx.x * 128 + t]; __syncthreads();
      for (int d = 64; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
      if (t == 0) y[blockIdx.x] = s[0]; }`,
    after: `__global__ void k(const float* x, float* y) {
      __shared__ float s[128]; int t = threadIdx.x; s[t] = x[blockIdx.x * 128 + t]; __syncthreads();
      for (int d = 64; d > 16; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
      if (t < 32) { float v = s[t]; for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d); if (t == 0) y[blockIdx.x] = v; } }`,
    faults: [
      ['one level too early', 'd > 16; d', 'd > 32; d'],
      ['one level twice', 'd > 16; d', 'd > 8; d'],
      ['shuffle down became up', '__shfl_down_sync', '__shfl_up_sync'],
      ['mask one lane short', '0xffffffffu', '0xfffffffeu'],
      ['operands of another order', 'v += __shfl_down_sync(0xffffffffu, v, d);', 'v = __shfl_xor_sync(0xffffffffu, v, d) * 1.0000001f + v;'],
      ['half a warp takes part', 'if (t < 32) {', 'if (t < 16) {'],
      ['barrier between two levels lost', 's[t] += s[t + d]; __syncthreads(); }', 's[t] += s[t + d]; if (d < 64) __syncthreads(); }'],
      ['barrier moved under the divergent test', 'if (t < d) s[t] += s[t + d]; __syncthreads();', 'if (t < d) { s[t] += s[t + d]; __syncthreads(); }'],
    ],
  },
  {
    name: 'compaction in the block',
    options: block(64),
    before: `__global__ void k(const int* key, const float* x, float* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) { if (key[i] % 3 == 1) { float v = x[i]; for (int j = 0; j < 9; ++j) v = v * 0.75f + 1.0f; y[i] = v; } } }`,
    after: `__global__ void k(const int* key, const float* x, float* y, int n) {
      __shared__ int queue[64]; __shared__ int counts[2];
      int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
      bool heavy = i < n && key[i] % 3 == 1;
      unsigned votes = __ballot_sync(0xffffffffu, heavy);
      if ((t & 31) == 0) counts[t >> 5] = __popc(votes);
      __syncthreads();
      int at = __popc(votes & ((1u << (t & 31)) - 1u)); if (t >= 32) at += counts[0];
      if (heavy) queue[at] = i;
      int total = counts[0] + counts[1];
      __syncthreads();
      if (t < total) { int q = queue[t]; float v = x[q]; for (int j = 0; j < 9; ++j) v = v * 0.75f + 1.0f; y[q] = v; } }`,
    faults: [
      ['bound after the load', 'i < n && key[i] % 3 == 1', 'key[i] % 3 == 1 && i < n'],
      ['rank counts itself', '(1u << (t & 31)) - 1u)', '(2u << (t & 31)) - 1u)'],
      ['offset of the second warp lost', 'if (t >= 32) at += counts[0];', ''],
      ['barrier before the totals lost', 'counts[t >> 5] = __popc(votes);\n      __syncthreads();', 'counts[t >> 5] = __popc(votes);'],
      ['barrier before the queue is read lost', 'int total = counts[0] + counts[1];\n      __syncthreads();', 'int total = counts[0] + counts[1];'],
      ['queue too small', '__shared__ int queue[64];', '__shared__ int queue[16];'],
      ['one item too few', 't < total', 't < total - 1'],
      ['one item too many', 't < total', 't <= total'],
      ['owner index instead of the item', 'y[q] = v', 'y[i] = v'],
      ['another predicate', 'key[i] % 3 == 1', 'key[i] % 3 != 0'],
    ],
  },
  {
    name: 'division by an invariant',
    before: `__global__ void k(const unsigned* x, unsigned* y, int n, int width) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n || width <= 0) return; y[i] = x[i] / 7u * 10u + x[i] % 7u; }`,
    after: `__global__ void k(const unsigned* x, unsigned* y, int n, int width) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n || width <= 0) return;
      unsigned v = x[i]; unsigned q = __umulhi(v, 0x24924925u); q = (((v - q) >> 1) + q) >> 2; y[i] = q * 10u + (v - q * 7u); }`,
    faults: [
      ['multiplier one off', '0x24924925u', '0x24924125u'],
      ['shift one off', '>> 2;', '>> 3;'],
      ['fix-up lost', 'q = (((v - q) >> 1) + q) >> 2;', 'q = q >> 2;'],
      ['remainder of the wrong divisor', 'v - q * 7u', 'v - q * 6u'],
    ],
  },
];

const needed: string[] = [];

describe.each(CASES)('$name', ({ before, after, options, faults }) => {
  const run = (text: string): ReturnType<typeof verifyEquivalent> => verifyEquivalent(programOf(before), programOf(text), 'k', { ...options, budgetMs: 20000 });

  test('the right output is equal', () => {
    expect(run(after)).toMatchObject({ status: 'equal' });
  });

  test.each(faults)('%s', (name, from, to) => {
    expect(after).toContain(from);
    const verdict = run(after.replace(from, to));
    expect(verdict.status).toBe('different');
    needed.push(`${name}: ${verdict.runs}`);
  });
});

afterAll(() => {
  // How many settings each fault needed: seen with --verbose=false too.
  process.stdout.write(`planted faults found: ${needed.length}; settings needed: ${needed.join(', ')}\n`);
});
