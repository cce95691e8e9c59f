/** Wrong kernels that look right, each beside its right twin: masks of another condition, who is together, elements of other threads, barriers behind lambdas. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { auditFile } from '../../src/audit/audit.js';
import { initParser } from '../../src/syntax/parser.js';
import { Text } from '../analysis/program.js';

beforeAll(async () => { await initParser(); });

/** `severity id`, each once. */
function hazardsIn(text: string): readonly string[] {
  const loaded = new Text(`#define FULL 0xffffffffu\n${text}\n`);
  const found = auditFile(loaded.unit, loaded.analysis).kernels.flatMap((kernel) => kernel.hazards.map((hazard) => `${hazard.severity} ${hazard.id}`));
  return [...new Set(found)];
}

interface Pair { readonly name: string; readonly wrong: string; readonly has: string; readonly right: string; /** What may be said of the right one; nothing if absent. */ readonly may?: readonly string[] }

const kernel = (body: string, threads = 64): string => `__global__ void __launch_bounds__(${threads}) k(int *x, int n) { ${body} }\nvoid run(int *x, int n) { k<<<n, ${threads}>>>(x, n); }`;

const PAIRS: readonly Pair[] = [
  { name: 'a mask of those who do not come', has: 'error mask-not-a-mask',
    wrong: kernel('int v = x[threadIdx.x]; unsigned m = __ballot_sync(FULL, v > 0); if (v <= 0) x[threadIdx.x] = __shfl_sync(m, v, 0);'),
    right: kernel('int v = x[threadIdx.x]; unsigned m = __ballot_sync(FULL, v <= 0); if (v <= 0) x[threadIdx.x] = __any_sync(m, v < -3);') },
  { name: 'the vote of a variable, used in the other arm', has: 'error mask-not-a-mask',
    wrong: kernel('int v = x[threadIdx.x]; bool p = v > 0; unsigned m = __ballot_sync(FULL, p); if (!p) x[threadIdx.x] = __reduce_add_sync(m, v);'),
    right: kernel('int v = x[threadIdx.x]; bool p = v > 0; unsigned m = __ballot_sync(FULL, !p); if (!p) x[threadIdx.x] = __reduce_add_sync(m, v);') },
  { name: 'a wider vote than the path', has: 'error mask-full-under-divergence',
    wrong: kernel('int v = x[threadIdx.x]; unsigned m = __ballot_sync(FULL, v > 0); if (v > 1) x[threadIdx.x] = __reduce_add_sync(m, v);'),
    right: kernel('int v = x[threadIdx.x]; unsigned m = __ballot_sync(FULL, v > 0); if (v >= 1) x[threadIdx.x] = __reduce_add_sync(m, v);') },
  { name: 'a narrower vote than the path', has: 'error mask-not-a-mask',
    wrong: kernel('int v = x[threadIdx.x]; unsigned m = __ballot_sync(FULL, v > 5); if (v > 1) x[threadIdx.x] = __reduce_add_sync(m, v);'),
    right: kernel('int v = x[threadIdx.x]; unsigned m = __ballot_sync(FULL, v > 5); if (v > 1) { if (v > 5) x[threadIdx.x] = __reduce_add_sync(m, v); }') },
  { name: 'the contrary comparison of two variables, sides exchanged', has: 'error mask-not-a-mask',
    wrong: kernel('int i = threadIdx.x; unsigned m = __ballot_sync(FULL, i < n); if (n <= i) x[i] = __reduce_add_sync(m, i);'),
    right: kernel('int i = threadIdx.x; unsigned m = __ballot_sync(FULL, i < n); if (n > i) x[i] = __reduce_add_sync(m, i);') },
  { name: 'a vote of values that have changed', has: 'caution mask-full-under-divergence',
    wrong: kernel('int v = x[threadIdx.x]; unsigned m = __ballot_sync(FULL, v > 0); v -= 3; if (v > 0) x[threadIdx.x] = __reduce_add_sync(m, v);'),
    right: kernel('int v = x[threadIdx.x]; v -= 3; unsigned m = __ballot_sync(FULL, v > 0); if (v > 0) x[threadIdx.x] = __reduce_add_sync(m, v);') },
  { name: 'half of the path condition', has: 'caution mask-full-under-divergence',
    wrong: kernel('int i = threadIdx.x; unsigned m = __ballot_sync(FULL, i < n); if (i < n && x[i] > 0) x[i] = __reduce_add_sync(m, i);'),
    right: kernel('int i = threadIdx.x; bool p = i < n; int v = p ? x[i] : 0; unsigned m = __ballot_sync(FULL, p && v > 0); if (p) { if (v > 0) x[i] = __reduce_add_sync(m, i); }') },
  { name: 'lanes that jump to the next round', has: 'error mask-not-a-mask',
    wrong: kernel('for (int r = 0; r < n; r++) { int v = x[threadIdx.x] + r; unsigned m = __ballot_sync(FULL, v > 9); if (v > 9) continue; x[threadIdx.x] = __reduce_max_sync(m, v); }'),
    right: kernel('for (int r = 0; r < n; r++) { int v = x[threadIdx.x] + r; unsigned m = __ballot_sync(FULL, v > 9); if (v <= 9) continue; x[threadIdx.x] = __reduce_max_sync(m, v); }') },
  { name: 'a vote of a range, a path by inequality', has: 'caution mask-full-under-divergence',
    wrong: kernel('int v = x[threadIdx.x]; unsigned m = __ballot_sync(FULL, v > 0); if (v != 3) x[threadIdx.x] = __reduce_add_sync(m, v);'),
    right: kernel('unsigned v = x[threadIdx.x]; unsigned m = __ballot_sync(FULL, v > 0); if (v) x[threadIdx.x] = __reduce_add_sync(m, v);'), may: ['caution mask-full-under-divergence'] },
  { name: 'an early return of a device function, by the opposite of the vote', has: 'error mask-not-a-mask',
    wrong: `__device__ int f(int *x, int i, int n) { unsigned m = __ballot_sync(FULL, i >= n); if (n <= i) return 0; return __any_sync(m, x[i]); }\n${kernel('x[threadIdx.x] = f(x, blockIdx.x * 64 + threadIdx.x, n);')}`,
    right: `__device__ int f(int *x, int i, int n) { unsigned m = __ballot_sync(FULL, i < n); if (n <= i) return 0; return __any_sync(m, x[i]); }\n${kernel('x[threadIdx.x] = f(x, blockIdx.x * 64 + threadIdx.x, n);')}` },
  { name: 'the other arm of the opposite', has: 'error mask-not-a-mask',
    wrong: kernel('int i = threadIdx.x; unsigned m = __ballot_sync(FULL, i < n); if (i < n) x[i] = 1; else x[i] = __any_sync(m, x[i]);'),
    right: kernel('int i = threadIdx.x; unsigned m = __ballot_sync(FULL, i < n); if (i >= n) x[i] = 1; else x[i] = __any_sync(m, x[i]);') },
  { name: 'a source that the mask does not name', has: 'error shuffle-inactive-source',
    wrong: kernel('int l = threadIdx.x; if (l < 16) x[l] = __shfl_sync(0xffffu, x[l], 31);', 32),
    right: kernel('int l = threadIdx.x; if (l < 16) { x[l] = __shfl_sync(0xffffu, x[l], 31, 16); x[l] += __shfl_down_sync(0xffffu, x[l], 8); }', 32) },
  { name: 'a truth value as the mask', has: 'error mask-not-a-mask',
    wrong: kernel('int v = x[threadIdx.x]; x[threadIdx.x] = __shfl_sync(v > 0, v, 0);'),
    right: kernel('int v = x[threadIdx.x]; x[threadIdx.x] = __shfl_sync(__ballot_sync(FULL, true), v, 0);') },
  { name: 'a sum of whoever is together, stored', has: 'error mask-activemask',
    wrong: kernel('int v = x[threadIdx.x]; if (v & 1) { unsigned m = __activemask(); x[threadIdx.x] = __reduce_add_sync(m, v); }'),
    right: kernel('int v = x[threadIdx.x]; if (v & 1) { unsigned m = __activemask(); int sum = __reduce_add_sync(m, v); if ((threadIdx.x & 31) == __ffs(m) - 1) atomicAdd(x, sum); }'), may: ['note mask-activemask-opportunistic'] },
  { name: 'whether all who are together agree, stored', has: 'error mask-activemask',
    wrong: kernel('int v = x[threadIdx.x]; if (v > 0) { unsigned m = __activemask(); x[threadIdx.x] = __ballot_sync(m, v > 4) == m; }'),
    right: kernel('int v = x[threadIdx.x]; if (v > 0) { unsigned m = __activemask(); unsigned b = __ballot_sync(m, v > 4); if (__popc(b) > 2) v *= 2; x[threadIdx.x] = v; }'), may: ['note mask-activemask-opportunistic'] },
  { name: 'a barrier in both arms', has: 'error barrier-divergent',
    wrong: kernel('if (threadIdx.x & 1) { x[0] = 1; __syncthreads(); } else { x[1] = 2; __syncthreads(); }'),
    right: kernel('if (n & 1) { x[0] = 1; __syncthreads(); } else { x[1] = 2; __syncthreads(); }') },
  { name: 'a coalesced group used by a part of those who made it', has: 'caution group-divergent',
    wrong: `#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n${kernel('auto g = cg::coalesced_threads(); int v = x[threadIdx.x]; if (v > 2) v = g.shfl(v, 0); x[threadIdx.x] = v;')}`,
    right: `#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n${kernel('if (x[threadIdx.x] > 2) { auto g = cg::coalesced_threads(); int b; if (g.thread_rank() == 0) b = atomicAdd(x, g.size()); b = g.shfl(b, 0); x[threadIdx.x] = b + g.thread_rank(); }')}` },
  { name: 'a coalesced group that is asked whether to vote anew', has: 'caution group-divergent',
    wrong: `#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n${kernel('cg::coalesced_group g = cg::coalesced_threads(); unsigned m = g.ballot(x[threadIdx.x] > 2); if (x[threadIdx.x] == 0) m = g.ballot(true); x[threadIdx.x] = m;')}`,
    right: `#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n${kernel('cg::coalesced_group g = cg::coalesced_threads(); unsigned m = g.ballot(x[threadIdx.x] > 2); if (m == 0) m = g.ballot(true); x[threadIdx.x] = m;')}` },
  { name: 'a barrier in a lambda', has: 'error barrier-divergent',
    wrong: kernel('auto f = [] { __syncthreads(); }; if (threadIdx.x > 3) f(); x[0] = 1;'),
    right: kernel('auto f = [] { __syncthreads(); }; if (n > 3) f(); x[0] = 1;') },
  { name: 'a shuffle in a lambda', has: 'error mask-full-under-divergence',
    wrong: kernel('auto f = [](int v) { return __shfl_xor_sync(FULL, v, 1); }; int v = x[threadIdx.x]; if (v > 3) v = f(v); x[threadIdx.x] = v;'),
    right: kernel('auto f = [](int v) { return __shfl_xor_sync(FULL, v, 1); }; int v = x[threadIdx.x]; if (v > 3) v = f(v); else v = f(v); x[threadIdx.x] = v;'), may: ['note collective-in-both-arms'] },
  { name: 'a value of the leader without a barrier', has: 'error shared-race',
    wrong: kernel('__shared__ int s; if (threadIdx.x == 0) s = x[0]; x[threadIdx.x] = s;'),
    right: kernel('__shared__ int s; if (threadIdx.x == 0) s = x[0]; __syncthreads(); x[threadIdx.x] = s;') },
  { name: 'a value of the leader in a block of unknown shape', has: 'error shared-race',
    wrong: '__global__ void k(int *x) { __shared__ int s; if (threadIdx.x == 0) s = x[0]; x[threadIdx.x] = s; }',
    right: '__global__ void k(int *x) { __shared__ int s; if (threadIdx.x == 0) { s = x[0]; x[1] = s; } }' },
  { name: 'a reversal without a barrier', has: 'error shared-race',
    wrong: kernel('__shared__ int s[64]; s[threadIdx.x] = x[threadIdx.x]; x[threadIdx.x] = s[63 - threadIdx.x];'),
    right: kernel('__shared__ int s[64]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[threadIdx.x] = s[63 - threadIdx.x];') },
  { name: 'a reversal within a warp', has: 'caution lockstep-without-syncwarp',
    wrong: kernel('__shared__ int s[32]; s[threadIdx.x] = x[threadIdx.x]; x[threadIdx.x] = s[31 - threadIdx.x];', 32),
    right: kernel('__shared__ int s[32]; s[threadIdx.x] = x[threadIdx.x]; __syncwarp(); x[threadIdx.x] = s[31 - threadIdx.x];', 32) },
  { name: 'a rotation without a barrier, at the edge of the work', has: 'error shared-race',
    wrong: kernel('__shared__ int s[64]; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { s[threadIdx.x] = x[i]; x[i] = s[(threadIdx.x + 1) & 63]; }'),
    right: kernel('__shared__ int s[64]; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { s[threadIdx.x] = x[i]; x[i] = s[threadIdx.x & 63]; }') },
  { name: 'two halves that meet crosswise', has: 'error shared-race',
    wrong: kernel('__shared__ int s[64]; if (threadIdx.x < 32) s[threadIdx.x] = x[threadIdx.x]; x[threadIdx.x] = s[63 - threadIdx.x];'),
    right: kernel('__shared__ int s[128]; s[threadIdx.x + 64] = x[threadIdx.x]; if (threadIdx.x < 32) s[threadIdx.x] = 1; x[threadIdx.x] = s[64 + (threadIdx.x ^ 0)];') },
  { name: 'an arm of a uniform condition', has: 'caution shared-race',
    wrong: kernel('__shared__ int s[64]; if (n > 3) s[threadIdx.x] = x[threadIdx.x]; x[threadIdx.x] = s[63 - threadIdx.x];'),
    right: kernel('__shared__ int s[64]; if (n > 3) { s[threadIdx.x] = x[threadIdx.x]; } else { s[threadIdx.x] = 0; } __syncthreads(); if (n > 5) x[threadIdx.x] = s[63 - threadIdx.x]; else x[threadIdx.x] = s[threadIdx.x ^ 1];') },
  { name: 'a reversal around a loop', has: 'error shared-race',
    wrong: kernel('__shared__ int s[64]; for (int k = 0; k < n; ++k) { s[threadIdx.x] = x[k * 64 + threadIdx.x]; __syncthreads(); x[k * 64 + threadIdx.x] = s[63 - threadIdx.x]; }'),
    right: kernel('__shared__ int s[2][64]; for (int k = 0; k < n; ++k) { s[k & 1][threadIdx.x] = x[k * 64 + threadIdx.x]; __syncthreads(); x[k * 64 + threadIdx.x] = s[k & 1][63 - threadIdx.x]; }') },
  { name: 'every thread writes the one value it reads', has: 'error shared-race',
    wrong: kernel('__shared__ int s; if (threadIdx.x < 8) s = n; x[threadIdx.x] = s;'),
    right: kernel('__shared__ int s; s = n; x[threadIdx.x] = s;') },
  { name: 'a truth kept as an integer', has: 'error mask-not-a-mask',
    wrong: kernel('int v = x[threadIdx.x]; int p = v > 0; unsigned m = __ballot_sync(FULL, p); if (p == 0) x[threadIdx.x] = __reduce_add_sync(m, v);'),
    right: kernel('int v = x[threadIdx.x]; int p = v > 0; unsigned m = __ballot_sync(FULL, p); if (p == 1) x[threadIdx.x] = __reduce_add_sync(m, v);') },
  { name: 'lanes but the first', has: 'error mask-not-a-mask',
    wrong: kernel('int l = threadIdx.x & 31; unsigned m = __ballot_sync(FULL, l > 1); if (l != 0) x[l] = __shfl_up_sync(m, x[l], 1);'),
    right: kernel('int l = threadIdx.x & 31; unsigned m = __ballot_sync(FULL, l != 0); if (l > 0) x[l] = __shfl_up_sync(m, x[l], 1);') },
  { name: 'a bit of the vote itself decides', has: 'caution mask-full-under-divergence',
    wrong: kernel('int l = threadIdx.x & 31; unsigned m = __ballot_sync(FULL, x[l] > n); if (x[l + 1] > n) x[l] = __reduce_add_sync(m, l);'),
    right: kernel('int l = threadIdx.x & 31; unsigned m = __ballot_sync(FULL, x[l] > n); if (m >> l & 1) x[l] = __reduce_add_sync(m, l);') },
  { name: 'three warps at a barrier of two', has: 'caution barrier-divergent',
    wrong: kernel('if (threadIdx.x < 96) asm volatile("bar.sync 1, 64;"); x[threadIdx.x] = 1;', 128),
    right: kernel('if (threadIdx.x < 96) asm volatile("bar.sync 1, 96;" ::: "memory"); x[threadIdx.x] = 1;', 128) },
  { name: 'one warp at a barrier of two, and two places for two warps', has: 'caution barrier-divergent',
    wrong: kernel('if (threadIdx.x < 32) asm volatile("bar.sync 2, 64;"); x[threadIdx.x] = 1;', 128),
    right: kernel('if (threadIdx.x < 32) asm volatile("bar.sync 2, 64;"); else if (threadIdx.x >= 96) asm volatile("bar.sync 2, 64;"); x[threadIdx.x] = 1;', 128) },
  { name: 'a flag that may never be set', has: 'caution shared-uninitialised',
    wrong: kernel('__shared__ int s; if (x[threadIdx.x] > 0) s = 1; __syncthreads(); x[threadIdx.x] = s;'),
    right: kernel('__shared__ int s; if (threadIdx.x == 0) s = 0; __syncthreads(); if (x[threadIdx.x] > 0) s = 1; __syncthreads(); x[threadIdx.x] = s;') },
];

describe.each(PAIRS)('$name', ({ wrong, has, right, may = [] }) => {
  test('is said', () => { expect(hazardsIn(wrong)).toContain(has); });
  test('its right twin is not', () => { expect(hazardsIn(right).filter((hazard) => !may.includes(hazard))).toEqual([]); });
});
