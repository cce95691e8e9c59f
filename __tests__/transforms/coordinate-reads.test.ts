/** Threads ask for their place by other means than `threadIdx` and its kin: code that moves to other threads or to a part of the grid may hold none of them. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { walk } from '../../src/analysis/children.js';
import { coordinateRead } from '../../src/analysis/coordinate-reads.js';
import { initParser } from '../../src/syntax/parser.js';
import { compact as typedCompact } from '../../transforms/compact.js';
import type { Transform } from '../../transforms/lib/types.js';
import { split as typedSplit } from '../../transforms/split.js';
import { applyAll, load, outcomesOf } from '../helpers/transform.js';

const compact = typedCompact as Transform;
const split = typedSplit as Transform;

beforeAll(async () => { await initParser(); });

/** What a declaration in front and an expression ask for. */
const BLOCK: readonly (readonly [string, string, string])[] = [
  ['a method of the block', 'auto b = cg::this_thread_block();', 'b.group_index().x'],
  ['the same through a pointer to a type', 'cg::thread_block b = cg::this_thread_block();', 'int(b.group_index().y)'],
  ['a method of a temporary', '', 'cooperative_groups::this_thread_block().group_index().x'],
  ['a static member', '', 'cg::thread_block::group_index().x'],
  ['a method of the grid', 'auto g = cg::this_grid();', 'g.thread_rank()'],
  ['the block in the grid', 'cg::grid_group g = cg::this_grid();', 'g.block_rank()'],
  ['the size of the grid', 'auto g = cg::this_grid();', 'g.size()'],
  ['the number of blocks', 'auto g = cg::this_grid();', 'g.num_blocks()'],
  ['a cluster', 'auto c = cg::this_cluster();', 'c.block_rank()'],
  ['a function of a group', 'auto g = cg::this_grid();', 'cg::thread_rank(g)'],
  ['a value kept before', 'auto b = cg::this_thread_block(); auto q = b.group_index();', 'q.x'],
  ['a register of PTX', 'unsigned q; asm("mov.u32 %0, %%ctaid.x;" : "=r"(q));', 'q'],
  ['a built-in of clusters', '', '__clusterIdx().x'],
  ['a register by a function', '', 'cuda::ptx::get_sreg_ctaid_x()'],
  ['a function of the program', '', 'number()'],
  ['a function of the program that takes the group', 'auto b = cg::this_thread_block();', 'of(b)'],
];

const CG = `#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int number() { return cg::this_thread_block().group_index().x; }
__device__ int of(const cg::thread_block &b) { return b.group_index().x; }
`;

const heavy = (before: string, asked: string): string => `${CG}__global__ void k(const float *x, const int *f, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ${before}
    if (i < n && f[i]) {
        float v = x[i];
        for (int j = 0; j < 64; ++j) v = v * .5f + sqrtf(fabsf(v));
        y[i] = v + ${asked};
    }
}
void run(const float *x, const int *f, float *y, int n) { k<<<(n + 255) / 256, 256>>>(x, f, y, n); }
`;

const role = (before: string, asked: string): string => `${CG}__global__ void k(const float *x, float *y, int n, int first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ${before}
    if (blockIdx.x < first) { if (i < n) y[i] = x[i] * 2.f; } else { if (i < n) y[i] = x[i] + ${asked}; }
}
void run(const float *x, float *y, int n, int first) { k<<<(n + 255) / 256, 256>>>(x, y, n, first); }
`;

const interior = (before: string, asked: string): string => `${CG}__global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ${before}
    if (i > 0 && i < n - 1) y[i] = x[i] * 2.f + ${asked}; else if (i < n) y[i] = x[i];
}
void run(const float *x, float *y, int n) { k<<<(n + 255) / 256, 256>>>(x, y, n); }
`;

const choice = (before: string, asked: string): string => `${CG}__global__ void k(const float *x, float *y, int n, int mode) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ${before}
    if (mode) { if (i < n) y[i] = x[i] * 2.f; } else { if (i < n) y[i] = x[i] + ${asked}; }
}
void run(const float *x, float *y, int n, int mode) { k<<<(n + 255) / 256, 256>>>(x, y, n, mode); }
`;

function statuses(transform: Transform, text: string, variant = ''): readonly string[] {
  const options = variant === '' ? {} : { variant };
  return outcomesOf(transform, load(text), { evenIfItLoses: true, ...options }).map((outcome) => outcome.status);
}

describe('the place of the block in the grid', () => {
  test.each(BLOCK)('%s stays with the thread: split by blocks', (_, before, asked) => {
    for (const text of [role(before, asked), interior(before, asked)]) {
      const found = statuses(split, text);
      expect(found.length).toBeGreaterThan(0);
      expect(found).not.toContain('applied');
    }
  });

  test.each(BLOCK)('%s stays with the thread: a list of items', (_, before, asked) => {
    const { text } = applyAll(compact, heavy(before, asked), { evenIfItLoses: true, variant: 'grid' });
    // What asks may stand in front of the branch only, in the kernel of all threads.
    const list = text.includes('k_heavy') ? text.slice(text.indexOf('__global__ void k_heavy')) : '';
    expect(list).not.toMatch(/group_index|thread_rank|block_rank|size\(\)|num_blocks|ctaid|__clusterIdx|number\(\)|of\(b\)/);
  });

  test('the same kernels without the question are taken apart', () => {
    expect(statuses(split, role('', '1'))).toEqual(['applied']);
    expect(statuses(split, interior('', '1'))).toEqual(['applied']);
    expect(statuses(compact, heavy('', '1'), 'grid')).toEqual(['applied']);
  });

  test('one kernel of two that runs with the whole grid may ask for its place', () => {
    expect(statuses(split, choice('auto b = cg::this_thread_block();', 'b.group_index().x'))).toEqual(['applied']);
    expect(statuses(split, choice('auto g = cg::this_grid();', 'g.thread_rank()'))).toEqual(['applied']);
  });

  test('what the block is alike in is no place', () => {
    expect(statuses(split, role('auto b = cg::this_thread_block();', 'b.thread_rank()'))).toEqual(['applied']);
    expect(statuses(compact, heavy('', 'cg::this_thread_block().size()'), 'grid')).toEqual(['applied']);
  });

  test('a number that was kept before the branch goes with the item', () => {
    const { text } = applyAll(compact, heavy('auto g = cg::this_grid(); int r = g.thread_rank();', 'r'), { evenIfItLoses: true, variant: 'grid' });
    expect(text.slice(text.indexOf('__global__ void k_heavy'))).toContain('r_of[item]');
  });
});

describe('the place of the thread in the block', () => {
  test.each([
    ['a rank', 'auto b = cg::this_thread_block();', 'b.thread_rank()'], ['a lane', 'auto t = cg::tiled_partition<32>(cg::this_thread_block());', 't.thread_rank()'],
    ['a warp', 'auto t = cg::tiled_partition<32>(cg::this_thread_block());', 't.meta_group_rank()'], ['coordinates', '', 'cg::this_thread_block().thread_index().x'],
    ['a register', 'unsigned q; asm("mov.u32 %0, %%laneid;" : "=r"(q));', 'q'], ['a function beside threadIdx', '', '(threadIdx.x + lane())'],
  ])('%s is not asked for by another thread', (_, before, asked) => {
    const code = heavy(before, asked).replace('__global__', '__device__ int lane() { return threadIdx.x & 31; }\n__global__');
    for (const variant of ['grid', 'block']) {
      const { text } = applyAll(compact, code, { evenIfItLoses: true, variant });
      const start = text.indexOf(variant === 'grid' ? '__global__ void k_heavy' : '__syncthreads_count');
      if (start >= 0) expect(text.slice(start)).not.toMatch(/thread_rank|meta_group_rank|thread_index|lane\(\)|%laneid/);
    }
  });

  test('a value that rests on a function that asks is carried, not computed again', () => {
    const code = heavy('int t = lane();', 't').replace('__global__', '__device__ int lane() { return threadIdx.x & 31; }\n__global__');
    const { text, rounds } = applyAll(compact, code, { evenIfItLoses: true, variant: 'block' });
    expect(rounds).toBe(1);
    expect(text.match(/lane\(\)/g)).toHaveLength(2);
  });
});

test('what a node asks for', () => {
  const { unit } = load(`${CG}__global__ void k(int *o, cg::coalesced_group c) {
    auto b = cg::this_thread_block();
    auto g = cg::this_grid();
    o[0] = b.thread_rank() + b.size() + g.size() + g.num_blocks() + b.group_index().x + c.size() + threadIdx.x + blockIdx.x + blockDim.x + gridDim.x + warpSize + cub::LaneId() + __clusterDim().x + clock();
    asm("{ .reg .u32 t; mov.u32 t, %%tid.x; mad.lo.u32 %0, t, %%nctaid.y, %smid; }" : "=r"(o[1]));
}
`);
  const kernel = unit.kernels[0];
  const found: string[] = [];
  if (kernel?.body != null) walk(kernel.body, (node) => { const asked = coordinateRead(node); if (asked !== null) found.push(`${asked.name}: ${[...asked.asks].join(' ')}`); });
  expect(found.sort()).toEqual([
    '%tid.x, %nctaid.y, %smid: thread blocks machine', '__clusterDim(): thread block threads blocks machine', 'LaneId(): thread', 'blockDim: threads', 'blockIdx: block', 'gridDim: blocks',
    'group_index(): block', 'num_blocks(): blocks', 'size(): thread threads machine', 'size(): threads', 'size(): threads blocks', 'thread_rank(): thread threads', 'threadIdx: thread',
  ].sort());
});
