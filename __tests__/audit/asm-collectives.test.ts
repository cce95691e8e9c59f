/** Barriers, shuffles and votes in inline PTX are judged like the calls they stand for. */
import { beforeAll, describe, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { checkPair, kernel, type Pair } from './hazard-pairs.js';

beforeAll(async () => { await initParser(); });

const PAIRS: readonly Pair[] = [
  { name: 'a barrier under a condition of data', has: 'error barrier-divergent',
    wrong: kernel('if (x[threadIdx.x] > 0)\nasm volatile("bar.sync 0;"); // HERE'),
    right: [
      kernel('if (n > 0) asm volatile("bar.sync 0;" ::: "memory");'),
      // For a part of the block, by its count.
      kernel('if (threadIdx.x < 32) asm volatile("bar.sync 1, 32;");'),
      kernel('if (x[threadIdx.x] > 0) asm volatile("// bar.sync 0;\\n membar.gl;");'),
      // A number, not a place: both halves wait for it.
      kernel('if (threadIdx.x < 32) { x[0] = 1; asm volatile("bar.sync 0;"); } else { x[1] = 2; asm volatile("bar.sync 0;"); }'),
      kernel('if (threadIdx.x < 32) asm volatile("bar.arrive 1, 64;"); else asm volatile("bar.sync 1, 64;");'),
    ] },
  { name: 'a barrier with another name, in rounds of its own number for each thread', has: 'error barrier-divergent',
    wrong: kernel('for (int r = 0; r < x[threadIdx.x]; r++)\nasm volatile("{ barrier.cta.sync.aligned 3; }" ::: "memory"); // HERE'),
    right: [kernel('for (int r = 0; r < n; r++) asm volatile("barrier.cta.sync.aligned 3;" ::: "memory");')] },
  { name: 'a barrier whose predicate is data', has: 'error barrier-divergent',
    wrong: kernel('int v = x[threadIdx.x];\nasm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p bar.sync 0; }" :: "r"(v)); // HERE'),
    right: [kernel('asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p bar.sync 0; }" :: "r"(n));')] },
  { name: 'a barrier for one lane of each warp', has: 'error barrier-divergent',
    wrong: kernel('\nasm volatile("{ .reg .pred p; .reg .u32 l; mov.u32 l, %laneid; setp.eq.u32 p, l, 0; @p barrier.sync 0; }"); // HERE'),
    right: [kernel('asm volatile("{ .reg .pred p; .reg .u32 l; mov.u32 l, %nctaid.x; setp.ne.u32 p, l, 0; @p barrier.sync 0; }");')] },
  { name: 'a barrier behind an early return', has: 'caution barrier-after-exit',
    wrong: kernel('int i = blockIdx.x * 64 + threadIdx.x; if (i >= n) return;\nasm volatile("bar.sync 0;"); // HERE\nx[i] = 1;'),
    right: [kernel('int i = blockIdx.x * 64 + threadIdx.x; if (i < n) x[i] = 2; asm volatile("bar.sync 0;"); if (i < n) x[i] = 1;')] },
  { name: 'a shuffle of all lanes', has: 'error mask-full-under-divergence',
    wrong: kernel('int r = 0, v = x[threadIdx.x]; if (v > 0)\nasm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(r) : "r"(v)); // HERE\nx[threadIdx.x] = r;'),
    right: [
      kernel('int r = 0, v = x[threadIdx.x]; asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(r) : "r"(v)); x[threadIdx.x] = r;'),
      kernel('int r = 0, v = x[threadIdx.x]; if (threadIdx.x < 32) asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(r) : "r"(v)); x[threadIdx.x] = r;'),
      kernel('int r = 0, i = threadIdx.x; unsigned m = __ballot_sync(FULL, i < n); if (i < n) asm volatile("vote.sync.any.pred p, q, %1;" : "=r"(r) : "r"(m)); x[i] = r;'),
    ] },
  { name: 'a match with its mask in an operand, in a helper', has: 'error mask-full-under-divergence',
    wrong: `__device__ unsigned peers(int v) { unsigned r;\nasm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(v), "r"(0xffffffffu)); // HERE\nreturn r; }\n${kernel('int v = x[threadIdx.x]; if (v > 3) x[threadIdx.x] = peers(v);')}`,
    right: [`__device__ unsigned peers(int v) { unsigned r; asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(v), "r"(0xffffffffu)); return r; }\n${kernel('int v = x[threadIdx.x]; if (n > 3) x[threadIdx.x] = peers(v);')}`] },
  { name: 'a vote in every lane for itself', has: 'error mask-full-under-divergence',
    wrong: kernel('int v = x[threadIdx.x], r = 0; while (v > 0) { v--;\nasm volatile("vote.sync.ballot.b32 %0, 1, -1;" : "=r"(r)); // HERE\nx[threadIdx.x] += r; }'),
    right: [kernel('int r = 0; for (int v = 0; v < n; v++) { asm volatile("vote.sync.ballot.b32 %0, 1, -1;" : "=r"(r)); x[threadIdx.x] += r; }')] },
  { name: 'a barrier of the warp with a mask of the loop before', has: 'error mask-full-under-divergence',
    wrong: kernel('int i = threadIdx.x; unsigned m = __ballot_sync(FULL, i < n); if (i < n) for (int r = 0; r < 4; r++) { if (x[i + r] == 2) break;\nasm volatile("bar.warp.sync %0;" :: "r"(m)); // HERE\nx[i] += r; }'),
    right: [kernel('int i = threadIdx.x; unsigned m = __ballot_sync(FULL, i < n); if (i < n) for (int r = 0; r < 4; r++) { asm volatile("bar.warp.sync %0;" :: "r"(m)); x[i] += r; }')] },
  { name: 'a matrix instruction under a condition of lanes', has: 'error mask-full-under-divergence',
    wrong: kernel('unsigned a = 0; if (threadIdx.x & 1)\nasm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(n)); // HERE\nx[threadIdx.x] = a;'),
    right: [kernel('unsigned a = 0; if (threadIdx.x >= 32) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(n)); x[threadIdx.x] = a;')] },
];

describe('collectives in inline PTX', () => {
  test.each(PAIRS)('$name', checkPair);
});
