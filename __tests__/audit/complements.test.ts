/** Masks of another set than the callers: complements of votes, comparisons that differ in what is equal, masks chosen by lane; and cells that several threads compare and set. */
import { beforeAll, describe, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { checkPair, kernel, type Pair } from './hazard-pairs.js';

beforeAll(async () => { await initParser(); });

const NONE = 'int v = x[threadIdx.x]; unsigned m = ~__ballot_sync(FULL, v > n);';
const HALF = 'int l = threadIdx.x & 31; int v = x[l]; unsigned m = l < 16 ? 0xffffu : 0xffff0000u;';
const BEST = '__shared__ int best; if (threadIdx.x == 0) best = 0; __syncthreads();';

const PAIRS: readonly Pair[] = [
  { name: 'the complement of a vote, where the vote held', has: 'error mask-not-a-mask',
    wrong: kernel(`${NONE} if (v > n)\nv = __shfl_sync(m, v, __ffs(m) - 1); // HERE\nx[threadIdx.x] = v;`),
    right: [
      kernel(`${NONE} if (!(v > n)) v = __shfl_sync(m, v, __ffs(m) - 1); x[threadIdx.x] = v;`),
      kernel(`${NONE} if (v <= n) v = __shfl_sync(m, v, __ffs(m) - 1); x[threadIdx.x] = v;`),
    ] },
  { name: 'the complement of a vote, by all', has: 'caution mask-not-a-mask',
    wrong: kernel(`${NONE}\nv = __shfl_sync(m, v, __ffs(m) - 1); // HERE\nx[threadIdx.x] = v;`),
    right: [kernel(`${NONE} v += __popc(m); x[threadIdx.x] = v;`)] },
  { name: 'a vote on less than the path', has: 'caution mask-not-a-mask',
    wrong: kernel('int i = x[threadIdx.x]; unsigned m = __ballot_sync(FULL, i < n); if (i <= n)\nx[threadIdx.x] = __shfl_sync(m, i, __ffs(m) - 1); // HERE'),
    right: [kernel('int i = x[threadIdx.x]; unsigned m = __ballot_sync(FULL, i <= n); if (i <= n) x[threadIdx.x] = __shfl_sync(m, i, __ffs(m) - 1);'), kernel('int i = x[threadIdx.x]; unsigned m = __ballot_sync(FULL, i < n); if (n > i) x[threadIdx.x] = __shfl_sync(m, i, __ffs(m) - 1);')] },
  { name: 'a vote of floats on less than the path', has: 'caution mask-not-a-mask',
    wrong: kernel('float v = x[threadIdx.x] * 0.5f; unsigned m = __ballot_sync(FULL, v > 0.0f); if (v >= 0.0f)\nx[threadIdx.x] = __shfl_xor_sync(m, v, 1); // HERE'),
    right: [kernel('float v = x[threadIdx.x] * 0.5f; unsigned m = __ballot_sync(FULL, v >= 0.0f); if (v >= 0.0f) x[threadIdx.x] = __shfl_xor_sync(m, v, 1);')] },
  { name: 'a mask chosen by lane that names one lane more', has: 'error mask-full-under-divergence',
    wrong: kernel(`${HALF} if (l < 15)\nv = __shfl_sync(m, v, 0); // HERE\nx[threadIdx.x] = v;`),
    right: [
      kernel(`${HALF} if (l < 16) v = __shfl_sync(m, v, 0); x[threadIdx.x] = v;`),
      kernel(`${HALF} v = __shfl_sync(m, v, l & 16); x[threadIdx.x] = v;`),
      kernel(`${HALF} if (l < 16) v = __shfl_sync(m, v, 0); else v = __shfl_sync(m, v, 16); x[threadIdx.x] = v;`),
    ] },
  { name: 'a maximum that all compare and set', has: 'caution shared-race',
    wrong: kernel(`${BEST} if (x[threadIdx.x] > best)\nbest = x[threadIdx.x]; // HERE\n__syncthreads(); x[threadIdx.x] = best;`, 128),
    right: [
      kernel(`${BEST} atomicMax(&best, x[threadIdx.x]); __syncthreads(); x[threadIdx.x] = best;`, 128),
      // One value, one thread, and each its own cell.
      kernel(`${BEST} if (best == 0) best = 1; __syncthreads(); x[threadIdx.x] = best;`, 128),
      kernel('__shared__ int best; if (threadIdx.x == 0) { best = 0; for (int k = 0; k < n; k++) if (x[k] > best) best = x[k]; } __syncthreads(); x[threadIdx.x] = best;', 128),
      kernel('__shared__ int best[128]; int t = threadIdx.x; best[t] = 0; if (x[t] > best[t]) best[t] = x[t]; __syncthreads(); x[t] = best[t];', 128),
    ] },
];

describe('masks of another set, and cells compared and set', () => { test.each(PAIRS)('$name', checkPair); });
