/** For every hazard id kernels that have it, at a line and with a severity, and right kernels that come close and must not be called an error. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { auditFile } from '../../src/audit/audit.js';
import type { Hazard } from '../../src/audit/types.js';
import { initParser } from '../../src/syntax/parser.js';
import { Text } from '../analysis/program.js';

beforeAll(async () => { await initParser(); });

function hazardsIn(text: string): readonly Hazard[] {
  const loaded = new Text(text);
  return auditFile(loaded.unit, loaded.analysis).kernels.flatMap((kernel) => [...kernel.hazards]);
}

interface Case { readonly name: string; readonly text: string; /** `line severity id`. */ readonly has: readonly string[]; readonly not?: readonly string[] }

/** The line that ends in `// here` (or `// here 2`, …). */
function expected(text: string, has: string): string {
  const [mark = '', severity = '', id = ''] = has.split(' ');
  const line = text.split('\n').findIndex((one) => one.trimEnd().endsWith(`// ${mark}`)) + 1;
  if (line === 0) throw new Error(`no line is marked ${mark}`);
  return `${line} ${severity} ${id}`;
}

const launch = (kernel: string, block: string, args: string): string => `void run(float *x, int *y, int n) { ${kernel}<<<n, ${block}>>>(${args}); }`;

const FOUND: readonly Case[] = [
  { name: 'a full mask under a condition on data', has: ['here error mask-full-under-divergence'], text: `
__global__ void k(float *x) {
  float v = x[threadIdx.x];
  if (v > 0.f) v += __shfl_down_sync(0xffffffff, v, 1); // here
  x[threadIdx.x] = v;
}` },
  { name: 'a full mask behind a helper in a divergent loop, said at the call too', has: ['here error mask-full-under-divergence', 'there caution collective-behind-call'], text: `
__device__ float sum(float v) { for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d); return v; } // here
__global__ void k(float *x, const int *len) {
  float s = 0.f;
  for (int i = 0; i < len[threadIdx.x]; i++)
    s += sum(x[i]); // there
  x[threadIdx.x] = s;
}` },
  { name: 'a helper that returns early is a jump to its end, not an exit', has: ['here error mask-full-under-divergence'], text: `
__device__ int half(int v) {
  if (v & 1) return 0;
  return __popc(__ballot_sync(0xffffffff, v > 3)); // here
}
__global__ void k(int *y) { y[threadIdx.x] = half(y[threadIdx.x]); }` },
  { name: 'a loop that threads leave by their data', has: ['here error barrier-divergent'], text: `
__global__ void k(float *x, const int *stop, int n) {
  for (int i = 0; i < n; i++) {
    if (stop[threadIdx.x + i] > n) break;
    __syncthreads(); // here
    x[threadIdx.x] += 1.f;
  }
}` },
  { name: 'a guard in a loop that does not move with it', has: ['here error barrier-divergent'], text: `
__global__ void k(float *x, int n) {
  for (int i = 0; i < n; i++) {
    if (threadIdx.x >= n) break;
    __syncthreads(); // here
    x[threadIdx.x] += 1.f;
  }
}` },
  { name: 'a vote in the right operand of &&', has: ['here error collective-short-circuit'], text: `
__global__ void k(int *y) {
  int v = y[threadIdx.x];
  bool b = v > 0 && __any_sync(0xffffffff, v > 3); // here
  y[threadIdx.x] = b;
}` },
  { name: 'one shuffle in both arms', has: ['here note collective-in-both-arms'], text: `
__global__ void k(float *x) {
  float v = x[threadIdx.x];
  if (v > 0.f) v = __shfl_xor_sync(0xffffffff, v, 1); // here
  else v = -__shfl_xor_sync(0xffffffff, v, 1);
  x[threadIdx.x] = v;
}` },
  { name: 'a broadcast from a lane that may be missing', has: ['here error shuffle-inactive-source', 'there error leader-may-not-arrive'], text: `
__global__ void k(int *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x % 32;
  if (i < n) {
    int base = 0;
    if (lane == 31)
      base = atomicAdd(y, 1); // there
    base = __shfl_sync(0xffffffff, base, 31); // here
    y[i] = base;
  }
}` },
  { name: '__activemask for a shuffle by distance', has: ['here error mask-activemask'], text: `
__global__ void k(float *x) {
  float v = x[threadIdx.x];
  if (v > 0.f) {
    unsigned m = __activemask(); // here
    v += __shfl_down_sync(m, v, 1);
  }
  x[threadIdx.x] = v;
}` },
  { name: '__activemask asked twice', has: ['here error mask-activemask'], text: `
__global__ void k(int *y) {
  if (y[threadIdx.x] > 0) {
    int leader = __ffs(__activemask()) - 1; // here
    if ((threadIdx.x & 31) == leader) atomicAdd(y, __popc(__activemask()));
  }
}` },
  { name: 'one capture that only counts', has: ['here note mask-activemask-opportunistic'], not: ['mask-activemask'], text: `
__global__ void k(int *y, int *c) {
  if (y[threadIdx.x] > 0) {
    unsigned m = __activemask(); // here
    int leader = __ffs(m) - 1, base = 0;
    if ((threadIdx.x & 31) == leader) base = atomicAdd(c, __popc(m));
    base = __shfl_sync(m, base, leader);
    y[threadIdx.x] = base;
  }
}` },
  { name: 'a shuffle that reads lanes which returned', has: ['here error mask-after-exit'], text: `
__global__ void k(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  v += __shfl_down_sync(0xffffffff, v, 1); // here
  x[i] = v;
}` },
  { name: 'a value where the mask belongs', has: ['here error mask-not-a-mask'], text: `
__global__ void k(float *x) { float v = x[threadIdx.x];
  v += __shfl_down_sync(v, 4, 32); // here
  x[threadIdx.x] = v; }` },
  { name: 'a mask that leaves out a caller', has: ['here error mask-not-a-mask'], text: `
__global__ void k(float *x) { float v = x[threadIdx.x];
  v += __shfl_xor_sync(0xffff, v, 1); // here
  x[threadIdx.x] = v; }
${launch('k', '64', 'x')}` },
  { name: 'a legacy intrinsic', has: ['here error legacy-intrinsic'], text: `
__global__ void k(float *x) { float v = x[threadIdx.x];
  v += __shfl_down(v, 4); // here
  x[threadIdx.x] = v; }` },
  { name: 'the last warp has no such lane', has: ['here error shuffle-inactive-source'], text: `
__global__ void k(float *x) { float v = x[threadIdx.x];
  v += __shfl_xor_sync(0xffffffff, v, 16); // here
  x[threadIdx.x] = v; }
${launch('k', '48', 'x')}` },
  { name: 'a vote of a short warp never has all bits', has: ['here caution shuffle-partial-warp'], text: `
__global__ void k(int *y) {
  if (__ballot_sync(0xffffffff, y[threadIdx.x] > 0) == 0xffffffff) y[0] = 1; // here
}
${launch('k', '40', 'y')}` },
  { name: 'a shift by the width', has: ['here error prefix-mask'], text: `
__global__ void k(int *y) {
  int lane = threadIdx.x & 31;
  unsigned v = __ballot_sync(0xffffffff, y[threadIdx.x] > 0);
  y[threadIdx.x] = __popc(v & (0xffffffffu >> (32 - lane))); // here
}` },
  { name: 'a barrier under a condition that warps differ in', has: ['here error barrier-divergent'], text: `
__global__ void k(float *x) {
  if (threadIdx.x / 32 == 1) {
    __syncthreads(); // here
  }
}
${launch('k', '128', 'x')}` },
  { name: 'an edge at a constant, in a block that is not the first', has: ['here error mask-full-under-divergence'], text: `
__global__ void k(float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1000) x[i] = __shfl_xor_sync(0xffffffff, x[i], 1); // here
}
${launch('k', '256', 'x')}` },
  { name: 'a barrier in a loop that threads leave by break', has: ['here error barrier-divergent'], text: `
__global__ void k(int *y) {
  for (int i = 0; i < 8; i++) {
    if (y[threadIdx.x + i] == 0) break;
    __syncthreads(); // here
  }
}` },
  { name: 'a barrier below a goto over it', has: ['here error barrier-divergent'], text: `
__global__ void k(int *y) {
  if (y[threadIdx.x] < 0) goto out;
  __syncthreads(); // here
  y[threadIdx.x] = 1;
out:
  y[threadIdx.x] += 2;
}` },
  { name: 'rounds that differ by the size only are a caution', has: ['here caution barrier-divergent'], text: `
__global__ void k(float *x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    x[i] = 0.f;
    __syncthreads(); // here
  }
}` },
  { name: 'a barrier after an early return', has: ['here caution barrier-after-exit'], not: ['barrier-divergent'], text: `
__global__ void k(float *x, int n) {
  if (blockIdx.x * blockDim.x + threadIdx.x >= n) return;
  __syncthreads(); // here
}` },
  { name: 'a collective of a block-wide library call under a guard', has: ['here error group-divergent'], text: `
#include <cub/cub.cuh>
__global__ void k(float *x, int n) {
  typedef cub::BlockReduce<float, 128> Reduce;
  __shared__ typename Reduce::TempStorage t;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0.f;
  if (i < n)
    s = Reduce(t).Sum(x[i]); // here
  if (threadIdx.x == 0) x[blockIdx.x] = s;
}` },
  { name: 'a neighbour that may have left owed the element', has: ['here error exit-skips-shared-write'], text: `
__global__ void k(float *x, int n) {
  __shared__ float t[257];
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  t[threadIdx.x] = x[i];
  __syncthreads();
  x[i] = t[threadIdx.x] + t[threadIdx.x + 1]; // here
}` },
  { name: 'shared memory that nothing writes', has: ['here error shared-uninitialised'], text: `
__global__ void k(float *x) {
  __shared__ float t[256];
  __syncthreads();
  x[threadIdx.x] = t[threadIdx.x]; // here
}` },
  { name: 'a tile whose edge is not refilled', has: ['here caution shared-stale'], text: `
__global__ void k(float *x, int n, int rounds) {
  __shared__ float t[257];
  for (int r = 0; r < rounds; r++) {
    int i = r * 256 + threadIdx.x;
    if (i < n) t[threadIdx.x] = x[i];
    __syncthreads();
    float v = t[threadIdx.x + 1]; // here
    __syncthreads();
    x[threadIdx.x] = v;
  }
}` },
  { name: 'lockstep without __syncwarp', has: ['here error lockstep-without-syncwarp'], text: `
__global__ void k(float *x) {
  __shared__ volatile float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32]; // here
    s[t] += s[t + 16];
    s[t] += s[t + 8];
  }
  x[t] = s[0];
}
${launch('k', '64', 'x')}` },
  { name: 'a neighbour read without a barrier', has: ['here error shared-race'], text: `
__global__ void k(float *x) {
  __shared__ float s[257];
  s[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = s[threadIdx.x + 1]; // here
}
${launch('k', '256', 'x')}` },
  { name: 'the next round overwrites what is still read', has: ['here error shared-race'], text: `
__global__ void k(float *x, int n) {
  __shared__ float s[256];
  float sum = 0.f;
  for (int r = 0; r < n; r++) {
    s[threadIdx.x] = x[r * 256 + threadIdx.x]; // here
    __syncthreads();
    for (int j = 0; j < 256; j++) sum += s[j];
  }
  x[threadIdx.x] = sum;
}
${launch('k', '256', 'x, n')}` },
  { name: 'a value that only the leader has', has: ['here caution broadcast-uninitialised'], text: `
__global__ void k(int *y) {
  int v;
  if (threadIdx.x % 32 == 0) v = atomicAdd(y, 32);
  v = __shfl_sync(0xffffffff, v, 0); // here
  y[threadIdx.x] = v;
}` },
  { name: 'lanes that wait for each other', has: ['here note lane-spin'], text: `
__global__ void k(int *lock, float *x) {
  while (atomicCAS(lock, 0, 1) != 0) { } // here
  x[0] += 1.f;
  __threadfence();
  atomicExch(lock, 0);
}` },
  { name: 'a collective in an arm that is not compiled', has: ['here note depends-on-configuration'], text: `
__global__ void k(float *x) {
  float v = x[threadIdx.x];
  __syncthreads();
#ifdef WITH_SHUFFLE // here
  v += __shfl_xor_sync(0xffffffff, v, 1);
#endif
  x[threadIdx.x] = v;
}` },
];

const near = (a: string, hazards: readonly Hazard[]): boolean => {
  const [line = '', severity = '', id = ''] = a.split(' ');
  return hazards.some((hazard) => hazard.id === id && hazard.severity === severity && Math.abs(hazard.line - Number(line)) <= (id === 'depends-on-configuration' ? 1 : 0));
};

describe('found', () => {
  test.each(FOUND)('$name', ({ text, has, not }) => {
    const hazards = hazardsIn(text);
    const shown = hazards.map((hazard) => `${hazard.line} ${hazard.severity} ${hazard.id}`);
    const missing = has.map((one) => expected(text, one)).filter((one) => !near(one, hazards));
    expect({ missing, shown: missing.length > 0 ? shown : [] }).toEqual({ missing: [], shown: [] });
    for (const id of not ?? []) expect(hazards.map((hazard) => hazard.id)).not.toContain(id);
    for (const hazard of hazards) {
      expect(hazard.repair).not.toBe('');
      expect(hazard.because.length).toBeGreaterThan(0);
    }
  });

  test('the repair of a mask names the vote and where to take it', () => {
    const found = hazardsIn(FOUND[0]?.text ?? '').find((hazard) => hazard.id === 'mask-full-under-divergence');
    expect(found?.repair).toBe('take `unsigned mask = __ballot_sync(0xffffffff, v > 0.f);` above line 4, where the whole warp still comes, and pass it here');
  });
});

const RIGHT: readonly { readonly name: string; readonly text: string }[] = [
  { name: 'a reduction where the whole warp comes', text: `
__global__ void k(float *x) { float v = x[threadIdx.x];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
  if ((threadIdx.x & 31) == 0) x[threadIdx.x >> 5] = v; }` },
  { name: 'a vote after an early return', text: `
__global__ void k(int *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = __popc(__ballot_sync(0xffffffff, y[i] > 0)); }` },
  { name: 'shfl_up and a broadcast of lane 0 after a guard of the edge', text: `
__global__ void k(int *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = y[i];
  v += __shfl_up_sync(0xffffffff, v, 1);
  y[i] = v + __shfl_sync(0xffffffff, v, 0); }` },
  { name: 'the first warp of a block', text: `
__global__ void k(float *x) { float v = x[threadIdx.x];
  if (threadIdx.x < 32) { v += __shfl_xor_sync(0xffffffff, v, 1); x[threadIdx.x] = v; } }
${launch('k', '128', 'x')}` },
  { name: 'the first warp of a block of unknown shape', text: `
__global__ void k(float *x) { float v = x[threadIdx.x]; int warp = threadIdx.x / warpSize;
  if (warp == 0) { v += __shfl_xor_sync(0xffffffff, v, 1); x[threadIdx.x] = v; } }` },
  { name: 'a warp in a helper that is given the thread number', text: `
__device__ float block_sum(float v, int t) {
  int warp = t / 32;
  if (warp == 0) for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  return v;
}
__global__ void k(float *x) { x[threadIdx.x] = block_sum(x[threadIdx.x], threadIdx.x + threadIdx.y * blockDim.x); }` },
  { name: 'warps by a wide index', text: `
__global__ void k(float *x, int n) {
  const long int i = threadIdx.x + blockIdx.x * blockDim.x;
  const long int warp = i / warpSize;
  if (warp < n) { x[i] += __shfl_xor_sync(0xffffffff, x[i], 1); __syncwarp(); }
}
${launch('k', '256', 'x, n')}` },
  { name: 'an old macro for another platform', text: `
#ifdef USE_ROCM
#define XOR(v, m) __shfl_xor(v, m)
#else
#define XOR(v, m) __shfl_xor_sync(0xffffffff, v, m)
#endif
__global__ void k(float *x) { x[threadIdx.x] += XOR(x[threadIdx.x], 1); }` },
  { name: 'a mask that was voted above the branch', text: `
__global__ void k(int *y) { int v = y[threadIdx.x];
  unsigned m = __ballot_sync(0xffffffff, v > 0);
  if (v > 0) { int leader = __ffs(m) - 1; y[threadIdx.x] = __shfl_sync(m, v, leader); } }` },
  { name: 'barriers in tile loops and under block-uniform conditions', text: `
__global__ void k(float *x, int n, const int *flags) {
  __shared__ float t[256];
  float s = 0.f;
  for (int base = 0; base < n; base += 256) {
    t[threadIdx.x] = base + threadIdx.x < n ? x[base + threadIdx.x] : 0.f;
    __syncthreads();
    for (int j = 0; j < 256; j++) s += t[j];
    __syncthreads();
  }
  if (blockIdx.x == 3) { __syncthreads(); s += 1.f; }
  x[threadIdx.x] = s;
}
${launch('k', '256', 'x, n, y')}` },
  { name: 'a strided loop of equal rounds', text: `
__global__ void k(float *x) {
  for (int i = threadIdx.x; i < 1024; i += 256) { x[i] += __shfl_xor_sync(0xffffffff, x[i], 1); __syncthreads(); }
}
${launch('k', '256', 'x')}` },
  { name: 'a flag in shared memory that all threads read', text: `
__global__ void k(int *y, int n) {
  __shared__ int next;
  if (threadIdx.x == 0) next = atomicAdd(y, 1);
  __syncthreads();
  while (next < n) {
    y[next * 32 + threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) next = atomicAdd(y, 1);
    __syncthreads();
  }
}` },
  { name: 'a length per block that cannot be shown to be stable', text: `
__global__ void k(float *x, int *len) {
  if (len[blockIdx.x] > 4) { __syncthreads(); x[threadIdx.x] = 1.f; }
  len[blockIdx.x + gridDim.x] = 0;
}` },
  { name: 'a tree sum with a barrier in each round', text: `
__global__ void k(float *x) {
  __shared__ float s[256];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int h = 128; h > 0; h >>= 1) { if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h]; __syncthreads(); }
  x[threadIdx.x] = s[0];
}
${launch('k', '256', 'x')}` },
  { name: 'the last steps of a tree sum with __syncwarp', text: `
__global__ void k(float *x) {
  __shared__ volatile float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t < 32) {
    float v = s[t] + s[t + 32]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t ^ 16]; __syncwarp(); s[t] = v; __syncwarp();
  }
}
${launch('k', '64', 'x')}` },
  { name: 'own elements of two per thread', text: `
__global__ void k(float *x, int n) {
  __shared__ float s[512];
  for (int r = 0; r < n; r++) {
    s[2 * threadIdx.x] = x[r]; s[2 * threadIdx.x + 1] = x[r + 1];
    __syncthreads();
    x[r + threadIdx.x] = s[2 * threadIdx.x] + s[2 * threadIdx.x + 1];
  }
}
${launch('k', '256', 'x, n')}` },
  { name: 'rows that leave as a whole read only their own row', text: `
__global__ void k(float *x, int rows) {
  __shared__ float a[4][32];
  int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= rows) return;
  a[threadIdx.y][threadIdx.x] = x[row * 32 + threadIdx.x];
  __syncthreads();
  float s = 0.f;
  for (int k = 0; k < 32; k++) s += a[threadIdx.y][k];
  x[row] = s;
}` },
  { name: 'a retried update is no lock', text: `
__global__ void k(unsigned long long *p) {
  unsigned long long old = *p, seen;
  do { seen = old; old = atomicCAS(p, seen, seen + 1); } while (seen != old);
}` },
  { name: 'a lock that is released in the loop', text: `
__global__ void k(int *lock, float *x) {
  bool done = false;
  while (!done) if (atomicCAS(lock, 0, 1) == 0) { x[0] += 1.f; __threadfence(); atomicExch(lock, 0); done = true; }
}` },
  { name: 'lanes below, by a shift that stays below 32', text: `
__global__ void k(int *y) { int lane = threadIdx.x & 31;
  unsigned v = __ballot_sync(0xffffffff, y[threadIdx.x] > 0);
  y[threadIdx.x] = __popc(v & ((1u << lane) - 1u)) + __popc(v & (0xffffffffu >> (31 - lane))); }` },
  { name: 'a reduction over sixteen of sixteen lanes', text: `
__global__ void k(float *x) { float v = x[threadIdx.x];
  for (int d = 8; d > 0; d >>= 1) v += __shfl_down_sync(0xffff, v, d);
  if (threadIdx.x == 0) x[0] = v; }
${launch('k', '16', 'x')}` },
  { name: 'tiles of thirty-two in a block, one tile elected', text: `
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float *x) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  float v = x[threadIdx.x];
  if (block.thread_rank() < 32) for (int d = 16; d > 0; d /= 2) v += tile.shfl_down(v, d);
  block.sync();
  x[threadIdx.x] = v;
}
${launch('k', '128', 'x')}` },
  { name: 'a coalesced group under a condition', text: `
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *y) {
  if (y[threadIdx.x] > 0) { cg::coalesced_group g = cg::coalesced_threads(); int v = g.shfl(y[threadIdx.x], 0); g.sync(); y[threadIdx.x] = v; }
}` },
  { name: 'HIP has its own intrinsics', text: `
#include <hip/hip_runtime.h>
__global__ void k(float *x) { float v = x[threadIdx.x]; v += __shfl_down(v, 4); x[threadIdx.x] = v; }` },
  { name: 'a bound that is rounded to whole groups', text: `
__global__ void k(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int whole = (n / 32) * 32;
  if (i < whole) x[i] += __shfl_xor_sync(0xffffffff, x[i], 1);
}` },
  { name: 'warps that leave as a whole, by a helper that gives the lane', text: `
__device__ __forceinline__ unsigned lane_id() { return threadIdx.x & 0x1F; }
__device__ bool locked(int *p) { bool held = true; if (lane_id() == 1) held = atomicOr(p, 1) != 0; held = __shfl_sync(0xffffffff, held, 1); return held; }
__global__ void k(int *y, unsigned n) {
  unsigned tid = threadIdx.x + blockIdx.x * blockDim.x;
  unsigned lane = lane_id();
  if ((tid - lane) >= n) return;
  while (locked(y)) { }
  y[tid] = __shfl_down_sync(0xffffffff, y[tid], 2);
}
void run(int *y, unsigned n) { k<<<n, 256>>>(y, n); }` },
  { name: 'a step that lane 0 decides and hands to the others, in a block of unknown shape', text: `
__device__ int broadcast(int v) { int r; if (threadIdx.x % warpSize == 0) r = v; r = __shfl_sync(0xffffffff, r, 0); return r; }
__device__ int longest(int &width, const int *y) { int most = 0; for (int i = 0; i < width; i++) most = max(most, y[i]); return most; }
__global__ void k(int *y, int n) {
  int step = 0;
  for (int width = 1; width <= n; width += step) {
    __syncwarp();
    if (threadIdx.x % warpSize == 0) step = longest(width, y) & 3;
    __syncwarp();
    step = broadcast(step);
  }
}` },
  { name: 'lanes that look whether lane 0 has left, and follow', text: `
__global__ void k(int *y, int n) {
  int lane = threadIdx.x % warpSize;
  for (int i = 0; i < n; i++) {
    if (lane == 0) { if (y[i] < 0) break; }
    unsigned there = __activemask();
    unsigned first = there & 1;
    if (first == 0) break;
    y[i + threadIdx.x] = __shfl_sync(0xffffffff, y[i], 0);
  }
}` },
  { name: 'a break at the edge of strided work', text: `
__global__ void k(float *x, int c) {
  __shared__ float s[256];
  for (int i = 0; i < c; i++) {
    int at = threadIdx.x + i * 256;
    if (at >= c) { break; }
    s[threadIdx.x] = x[at];
    __syncthreads();
    x[at] = s[255 - threadIdx.x];
    __syncthreads();
  }
}
${launch('k', '256', 'x, n')}` },
  { name: 'a strided loop over ranks of the grid', text: `
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float *x, unsigned n) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
  for (int i = grid.thread_rank(); i < n; i += grid.size()) { x[i] += 1.f; cg::sync(tile); }
}` },
  { name: 'who is together, in a wavefront that runs in step', text: `
#include <hip/hip_runtime.h>
__global__ void k(int *y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { unsigned long m = __activemask(); y[i] += __shfl_xor_sync(m, y[i], 1); }
}` },
  { name: 'strange input', text: `
__global__ void k(float *x) { if (x[threadIdx.x] > ) { __syncthreads( } __shfl_sync(); }
__global__ void l() { __syncthreads(); __shfl_sync(); __ballot_sync(); }` },
];

describe('not an error', () => {
  test.each(RIGHT)('$name', ({ text }) => {
    expect(hazardsIn(text).filter((hazard) => hazard.severity === 'error').map((hazard) => `${hazard.line} ${hazard.id}: ${hazard.message}`)).toEqual([]);
  });
});

test('every id has a kernel that has it', () => {
  const ids = ['mask-activemask', 'mask-activemask-opportunistic', 'mask-after-exit', 'mask-full-under-divergence', 'mask-not-a-mask', 'shuffle-inactive-source', 'shuffle-partial-warp', 'collective-short-circuit',
    'collective-behind-call', 'collective-in-both-arms', 'group-divergent', 'barrier-divergent', 'barrier-after-exit', 'exit-skips-shared-write', 'shared-uninitialised', 'shared-stale', 'leader-may-not-arrive',
    'depends-on-configuration', 'prefix-mask', 'legacy-intrinsic', 'lockstep-without-syncwarp', 'broadcast-uninitialised', 'lane-spin', 'shared-race'];
  const tested = new Set(FOUND.flatMap((one) => one.has.map((has) => has.split(' ')[2])));
  expect(ids.filter((id) => !tested.has(id))).toEqual([]);
});
