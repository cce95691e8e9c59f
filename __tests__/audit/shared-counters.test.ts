/** Counters and histograms in shared memory: never zeroed, zeroed too late, updated by several threads without an atomic. */
import { beforeAll, describe, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { checkPair, kernel, type Pair } from './hazard-pairs.js';

beforeAll(async () => { await initParser(); });

const PAIRS: readonly Pair[] = [
  { name: 'a counter that nothing zeroes', has: 'error shared-uninitialised',
    wrong: kernel('__shared__ int c;\natomicAdd(&c, x[threadIdx.x]); // HERE\n__syncthreads(); if (threadIdx.x == 0) x[n] = c;'),
    right: [
      kernel('__shared__ int c; if (threadIdx.x == 0) c = 0; __syncthreads(); atomicAdd(&c, x[threadIdx.x]); __syncthreads(); if (threadIdx.x == 0) x[n] = c;'),
      kernel('__shared__ int c; if (threadIdx.x == 0) atomicExch(&c, 0); __syncthreads(); atomicAdd(&c, x[threadIdx.x]); __syncthreads(); if (threadIdx.x == 0) x[n] = c;'),
      // Zeroed by a helper, or by something that is not in sight.
      `__device__ void zero(int *p) { if (threadIdx.x == 0) *p = 0; __syncthreads(); }\n${kernel('__shared__ int c; zero(&c); atomicAdd(&c, x[threadIdx.x]); __syncthreads(); if (threadIdx.x == 0) x[n] = c;')}`,
      `__device__ void zero(int *p);\n${kernel('__shared__ int c; zero(&c); __syncthreads(); atomicAdd(&c, x[threadIdx.x]); __syncthreads(); if (threadIdx.x == 0) x[n] = c;')}`,
    ] },
  { name: 'a histogram that nothing zeroes, in a loop', has: 'error shared-uninitialised',
    wrong: kernel('__shared__ int h[64];\nfor (int i = threadIdx.x; i < n; i += 64) atomicAdd(&h[x[i] & 63], 1); // HERE\n__syncthreads(); x[threadIdx.x] = h[threadIdx.x];'),
    right: [kernel('__shared__ int h[64]; h[threadIdx.x] = 0; __syncthreads(); for (int i = threadIdx.x; i < n; i += 64) atomicAdd(&h[x[i] & 63], 1); __syncthreads(); x[threadIdx.x] = h[threadIdx.x];')] },
  { name: 'a sum that nothing zeroes', has: 'error shared-uninitialised',
    wrong: kernel('__shared__ int tot; if (threadIdx.x == 0)\ntot += n; // HERE\n__syncthreads(); x[threadIdx.x] = tot;'),
    right: [kernel('__shared__ int tot; if (threadIdx.x == 0) { tot = 0; tot += n; } __syncthreads(); x[threadIdx.x] = tot;')] },
  { name: 'a histogram zeroed with no barrier before', has: 'error shared-race',
    wrong: kernel('__shared__ int h[64]; h[threadIdx.x] = 0;\nfor (int i = threadIdx.x; i < n; i += 64) atomicAdd(&h[x[i] & 63], 1); // HERE\n__syncthreads(); x[threadIdx.x] = h[threadIdx.x];'),
    right: [
      kernel('__shared__ int h[64]; h[threadIdx.x] = 0; atomicAdd(&h[threadIdx.x], x[threadIdx.x]); __syncthreads(); x[threadIdx.x] = h[threadIdx.x ^ 1];'),
      kernel('__shared__ int h[64]; for (int i = threadIdx.x; i < 64; i += blockDim.x) h[i] = 0; __syncthreads(); atomicAdd(&h[x[threadIdx.x] & 63], 1); __syncthreads(); x[threadIdx.x] = h[threadIdx.x];'),
    ] },
  { name: 'a counter zeroed by one thread with no barrier before', has: 'error shared-race',
    wrong: kernel('__shared__ int c; if (threadIdx.x == 0) c = 0;\nif (x[threadIdx.x] > 0) { n++;\natomicAdd(&c, 1); // HERE\n} __syncthreads(); if (threadIdx.x == 0) x[n] = c;').replace('n++;', ''),
    right: [
      kernel('__shared__ int c; if (threadIdx.x == 0) c = 0; __syncthreads(); if (x[threadIdx.x] > 0) atomicAdd(&c, 1); __syncthreads(); if (threadIdx.x == 0) x[n] = c;'),
      // One warp is a matter of lanes.
      kernel('__shared__ int c; if (threadIdx.x == 0) c = 0; __syncwarp(); if (x[threadIdx.x] > 0) atomicAdd(&c, 1); __syncthreads(); if (threadIdx.x == 0) x[n] = c;', 32),
    ] },
  { name: 'a counter zeroed again while others still count', has: 'error shared-race',
    wrong: kernel('__shared__ int c;\nfor (int r = 0; r < n; r++) {\nif (threadIdx.x == 0) c = 0; // HERE\n__syncthreads(); atomicAdd(&c, x[threadIdx.x + r]);\n}'),
    right: [kernel('__shared__ int c; for (int r = 0; r < n; r++) { if (threadIdx.x == 0) c = 0; __syncthreads(); atomicAdd(&c, x[threadIdx.x + r]); __syncthreads(); }')] },
  { name: 'a sum of several warps', has: 'error shared-race',
    wrong: kernel('__shared__ int tot; if (threadIdx.x == 0) tot = 0; __syncthreads(); int v = __reduce_add_sync(FULL, x[threadIdx.x]); if (threadIdx.x % 32 == 0)\ntot += v; // HERE\n__syncthreads(); x[threadIdx.x] = tot;'),
    right: [
      kernel('__shared__ int tot; if (threadIdx.x == 0) tot = 0; __syncthreads(); int v = __reduce_add_sync(FULL, x[threadIdx.x]); if (threadIdx.x % 32 == 0) atomicAdd(&tot, v); __syncthreads(); x[threadIdx.x] = tot;'),
      kernel('__shared__ int tot; if (threadIdx.x == 0) tot = 0; __syncthreads(); if (threadIdx.x == 5) tot += n; __syncthreads(); x[threadIdx.x] = tot;'),
      // One after the other.
      kernel('__shared__ int tot; if (threadIdx.x == 0) tot = 0; __syncthreads(); for (int k = 0; k < 64; k++) { if (threadIdx.x == k) tot += x[k]; __syncthreads(); } x[threadIdx.x] = tot;'),
      kernel('__shared__ int part[64]; part[threadIdx.x] = 0; for (int k = 0; k < n; k++) part[threadIdx.x] += x[k]; x[threadIdx.x] = part[threadIdx.x];'),
      // Under a lock.
      kernel('__shared__ int tot, lock; if (threadIdx.x == 0) { tot = 0; lock = 0; } __syncthreads(); if (threadIdx.x % 32 == 0) { while (atomicCAS(&lock, 0, 1) != 0) ; tot += n; __threadfence_block(); atomicExch(&lock, 0); } __syncthreads(); x[threadIdx.x] = tot;'),
    ], may: ['note lane-spin'] },
  { name: 'more threads than cells', has: 'error shared-race',
    wrong: kernel('__shared__ int h[16]; int t = threadIdx.x; if (t < 16) h[t] = 0; __syncthreads();\nh[x[t] & 15]++; // HERE\n__syncthreads(); if (t < 16) x[t] = h[t];', 256),
    right: [kernel('__shared__ int h[16]; int t = threadIdx.x; if (t < 16) h[t] = 0; __syncthreads(); atomicAdd(&h[x[t] & 15], 1); __syncthreads(); if (t < 16) x[t] = h[t];', 256)] },
  { name: 'a counter of those whose data say so', has: 'caution shared-race',
    wrong: kernel('__shared__ int c; if (threadIdx.x == 0) c = 0; __syncthreads();\nif (x[threadIdx.x] > 3) c++; // HERE\n__syncthreads(); x[threadIdx.x] = c;'),
    right: [kernel('__shared__ int c; if (threadIdx.x == 0) c = 0; __syncthreads(); if (x[threadIdx.x] > 3) atomicAdd(&c, 1); __syncthreads(); x[threadIdx.x] = c;')] },
];

describe('counters in shared memory', () => {
  test.each(PAIRS)('$name', checkPair);
});
