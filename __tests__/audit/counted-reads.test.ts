/** Counters that are read while others still count, shuffles whose every source is outside their mask, and barriers that a lambda leads to. */
import { beforeAll, describe, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { checkPair, kernel, type Pair } from './hazard-pairs.js';

beforeAll(async () => { await initParser(); });

const COUNT = '__shared__ int c; int t = threadIdx.x; if (t == 0) c = 0; __syncthreads();';
const CELLS = '__shared__ int h[64]; int t = threadIdx.x; if (t < 64) h[t] = 0; __syncthreads();';
const LANE = 'int l = threadIdx.x & 31; int v = x[l];';
const WAIT = '__device__ void wait() { __syncthreads(); }\n';

const PAIRS: readonly Pair[] = [
  { name: 'a sum that one thread reads at once', has: 'error shared-race',
    wrong: kernel(`${COUNT} atomicAdd(&c, x[t]);\nif (t == 0) x[n] = c; // HERE`, 128),
    right: [
      kernel(`${COUNT} atomicAdd(&c, x[t]); __syncthreads(); if (t == 0) x[n] = c;`, 128),
      // One warp, and one thread, wait for nobody else.
      kernel(`${COUNT} if (t < 32) { atomicAdd(&c, x[t]); __syncwarp(); x[t] = c; }`, 128),
      kernel('__shared__ int c; if (threadIdx.x == 0) { c = 0; atomicAdd(&c, n); x[0] = c; }', 128),
      // Whether it is worth while, and who comes last.
      kernel(`${COUNT} for (int i = t; i < n; i += 128) { int v = x[i]; if (v > c) atomicMax(&c, v); } __syncthreads(); x[t] = c;`, 128),
      kernel(`${COUNT} if (atomicAdd(&c, 1) == 127) x[0] = c;`, 128),
      // Who has waited.
      kernel(`${COUNT} atomicAdd(&c, 1); while (*(volatile int *)&c < 128) { } x[t] = c;`, 128),
    ] },
  { name: 'a sum that all read at once', has: 'error shared-race',
    wrong: kernel(`${COUNT} atomicAdd(&c, x[t]);\nx[t] = c; // HERE`, 128),
    right: [kernel(`${COUNT} int p = atomicAdd(&c, 1); x[p] = t;`, 128)] },
  { name: 'a count of what data choose', has: 'caution shared-race',
    wrong: kernel(`${COUNT} if (x[t] > 3) atomicAdd(&c, 1);\nif (t == 0) x[n] = c; // HERE`, 128),
    right: [kernel(`${COUNT} for (int k = 0; k < n; k++) { if (x[t + k] > 3) atomicAdd(&c, 1); __syncthreads(); if (t == 0) { x[k] = c; c = 0; } __syncthreads(); }`, 128)] },
  { name: 'a histogram read behind the loop that fills it', has: 'caution shared-race',
    wrong: kernel(`${CELLS} for (int i = t; i < n; i += 128) atomicAdd(&h[x[i] & 63], 1);\nif (t < 64) x[t] = h[t]; // HERE`, 128),
    right: [
      kernel(`${CELLS} for (int i = t; i < n; i += 128) atomicAdd(&h[x[i] & 63], 1); __syncthreads(); if (t < 64) x[t] = h[t];`, 128),
      // A histogram for each warp.
      kernel('__shared__ int h[4][64]; int w = threadIdx.x / 32, l = threadIdx.x & 31; for (int i = l; i < 64; i += 32) h[w][i] = 0; __syncwarp(); atomicAdd(&h[w][x[threadIdx.x] & 63], 1); __syncwarp(); x[threadIdx.x] = h[w][l];', 128),
      kernel('__shared__ int h[256]; int w = threadIdx.x / 32, l = threadIdx.x & 31; for (int i = l; i < 64; i += 32) h[w * 64 + i] = 0; __syncwarp(); atomicAdd(&h[w * 64 + (x[threadIdx.x] & 63)], 1); __syncwarp(); x[threadIdx.x] = h[w * 64 + l];', 128),
      kernel('__shared__ int h[128]; int t = threadIdx.x; h[t] = 0; atomicAdd(&h[t], x[t]); x[t] = h[t];', 128),
    ] },
  { name: 'lanes of a half that read the other half', has: 'error shuffle-inactive-source',
    wrong: kernel(`${LANE} if (l < 16)\nv = __shfl_sync(0xffffu, v, l + 16); // HERE\nx[threadIdx.x] = v;`),
    right: [
      kernel(`${LANE} if (l < 16) v = __shfl_sync(0xffffu, v, l ^ 8); x[threadIdx.x] = v;`),
      kernel(`${LANE} if (l < 16) v = __shfl_sync(0xffffu, v, 15 - l); x[threadIdx.x] = v;`),
      kernel(`${LANE} if (l < 16) v = __shfl_sync(0xffffu, v, l + 16, 16); x[threadIdx.x] = v;`),
      // What lane 15 gets may be thrown away.
      kernel(`${LANE} if (l < 16) v = __shfl_sync(0xffffu, v, l + 1); x[threadIdx.x] = v;`),
    ] },
  { name: 'a half mirrored at the whole warp', has: 'error shuffle-inactive-source',
    wrong: kernel(`${LANE} if (l < 16)\nv = __shfl_sync(0xffffu, v, 31 - l); // HERE\nx[threadIdx.x] = v;`),
    right: [kernel(`${LANE} v = __shfl_sync(FULL, v, 31 - l); x[threadIdx.x] = v;`)] },
  { name: 'a lambda that calls a helper with a barrier', has: 'error barrier-divergent',
    wrong: `__device__ void wait() {\n__syncthreads(); // HERE\n}\n${kernel('auto f = [&] { wait(); };\nif (threadIdx.x & 1) f();')}`,
    right: [`${WAIT}${kernel('auto f = [&] { wait(); }; f(); if (n > 3) f();')}`, `${WAIT}${kernel('auto f = [&] { wait(); }; if (threadIdx.x & 1) x[0] = 1; f();')}`] },
  { name: 'a copy of a lambda', has: 'error barrier-divergent',
    wrong: kernel('auto f = [] {\n__syncthreads(); // HERE\n};\nauto g = f; if (threadIdx.x & 1) g();'),
    right: [kernel('auto f = [] { __syncthreads(); }; auto g = f; g();')] },
];

describe('counters, sources and lambdas', () => { test.each(PAIRS)('$name', checkPair); });
