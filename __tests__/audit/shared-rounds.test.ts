/** Races of shared memory between rounds of a loop, behind it, in one statement and between arms: trees, scans, shifts, neighbours. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { checkPair, hazardsIn, kernel, type Pair } from './hazard-pairs.js';

beforeAll(async () => { await initParser(); });

const FILL = '__shared__ int s[256]; int t = threadIdx.x; s[t] = x[t];';

const PAIRS: readonly Pair[] = [
  { name: 'a tree without a barrier in the loop', has: 'error shared-race',
    wrong: kernel(`${FILL} __syncthreads();\nfor (int k = 128; k > 0; k >>= 1)\nif (t < k) s[t] += s[t + k]; // HERE\nif (t == 0) x[0] = s[0];`, 256),
    right: [
      kernel(`${FILL} __syncthreads(); for (int k = 128; k > 0; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); } x[t] = s[0];`, 256),
      // The reader of the result wrote it.
      kernel(`${FILL} for (int k = 128; k > 0; k >>= 1) { __syncthreads(); if (t < k) s[t] += s[t + k]; } if (t == 0) x[0] = s[0];`, 256),
      kernel(`${FILL} __syncthreads(); int k = blockDim.x / 2; while (k != 0) { if (t < k) s[t] += s[t + k]; __syncthreads(); k /= 2; } x[t] = s[0];`, 256),
      kernel(`${FILL} for (int k = 1; k < blockDim.x; k *= 2) { __syncthreads(); int i = 2 * k * t; if (i < blockDim.x) s[i] += s[i + k]; } __syncthreads(); x[t] = s[0];`, 256),
    ] },
  { name: 'a tree whose last level nobody waits for', has: 'error shared-race',
    wrong: kernel(`${FILL}\nfor (int k = 32; k > 0; k >>= 1) {\n__syncthreads();\nif (t < k) s[t] += s[t + k];\n}\nx[t] = s[0]; // HERE`),
    right: [kernel(`${FILL} for (int k = 32; k > 0; k >>= 1) { __syncthreads(); if (t < k) s[t] += s[t + k]; } __syncthreads(); x[t] = s[0];`)] },
  { name: 'a tree of interleaved addresses whose counter a while loop steps', has: 'error shared-race',
    wrong: kernel(`${FILL} __syncthreads(); int k = 1;\nwhile (k < blockDim.x) {\nif (t % (2 * k) == 0) s[t] += s[t + k]; // HERE\nk *= 2;\n}\nif (t == 0) x[0] = s[0];`, 256),
    right: [kernel(`${FILL} __syncthreads(); int k = 1; while (k < blockDim.x) { if (t % (2 * k) == 0) s[t] += s[t + k]; __syncthreads(); k *= 2; } x[t] = s[0];`, 256)] },
  { name: 'a scan in place with one barrier a round', has: 'error shared-race',
    wrong: kernel(`${FILL} __syncthreads();\nfor (int d = 1; d < 64; d *= 2) {\nif (t >= d) s[t] += s[t - d]; // HERE\n__syncthreads();\n}\nx[t] = s[t];`),
    right: [
      kernel(`${FILL} __syncthreads(); for (int d = 1; d < 64; d *= 2) { int v = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += v; __syncthreads(); } x[t] = s[t];`),
      kernel('__shared__ int a[2][64]; int t = threadIdx.x, p = 0; a[0][t] = x[t]; __syncthreads(); for (int d = 1; d < 64; d *= 2) { a[1 - p][t] = a[p][t] + (t >= d ? a[p][t - d] : 0); p = 1 - p; __syncthreads(); } x[t] = a[p][t];'),
    ] },
  { name: 'a shift to the neighbour', has: 'error shared-race',
    wrong: kernel(`__shared__ int s[65]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();\ns[t + 1] = s[t]; // HERE\n__syncthreads(); x[t] = s[t];`),
    right: [kernel('__shared__ int s[65]; int t = threadIdx.x; s[t] = x[t]; __syncthreads(); int v = s[t]; __syncthreads(); s[t + 1] = v; __syncthreads(); x[t] = s[t];')] },
  { name: 'a neighbour behind a guard', has: 'error shared-race',
    wrong: kernel(`${FILL}\nif (t > 0) x[t] = s[t - 1]; // HERE`),
    right: [kernel(`${FILL} __syncthreads(); if (t > 0) x[t] = s[t - 1];`), kernel(`${FILL} if (t > 0) x[t] = s[t];`)] },
  { name: 'one arm writes what the other reads', has: 'error shared-race',
    wrong: kernel(`__shared__ int s[64]; int t = threadIdx.x; if (t < 32) s[t] = x[t]; else\nx[t] = s[t - 32]; // HERE`),
    right: [
      kernel('__shared__ int s[64]; int t = threadIdx.x; if (t < 32) s[t] = x[t]; __syncthreads(); if (t >= 32) x[t] = s[t - 32];'),
      kernel('__shared__ int s[64]; int t = threadIdx.x; if (n < 32) s[t] = x[t]; else x[t] = s[t ^ 32];'),
      kernel('__shared__ int s[64]; int t = threadIdx.x; s[t] = 0; if (t < 32) s[t] = x[t]; else x[t] = s[t];'),
    ] },
  { name: 'a value for all, set anew while others still ask', has: 'error shared-race',
    wrong: kernel('__shared__ int v;\nfor (int r = 0; r < n; r++) {\nif (threadIdx.x == 0) v = x[r]; // HERE\n__syncthreads();\nx[threadIdx.x] += v;\n}'),
    right: [kernel('__shared__ int v; for (int r = 0; r < n; r++) { if (threadIdx.x == 0) v = x[r]; __syncthreads(); x[threadIdx.x] += v; __syncthreads(); }')] },
  { name: 'a barrier of the warp between elements of two warps', has: 'error shared-race',
    wrong: kernel(`${FILL} __syncwarp();\nx[t] = s[t ^ 32]; // HERE`),
    right: [kernel(`${FILL} __syncwarp(); x[t] = s[t ^ 1];`)] },
  { name: 'two halves of dynamic shared memory', has: 'error shared-race',
    wrong: kernel('extern __shared__ int d[]; int t = threadIdx.x; int *a = d, *b = d + blockDim.x; a[t] = x[t]; b[t] = 2 * x[t];\nx[t] = b[t] + a[(t + 1) % blockDim.x]; // HERE'),
    right: [kernel('extern __shared__ int d[]; int t = threadIdx.x; int *a = d, *b = d + blockDim.x; a[t] = x[t]; b[t] = 2 * x[t]; __syncthreads(); x[t] = b[t] + a[(t + 1) % blockDim.x];'), kernel('extern __shared__ int d[]; int t = threadIdx.x; int *a = d, *b = d + blockDim.x; a[t] = x[t]; b[t] = a[t]; x[t] = b[t];')] },
  { name: 'lanes of one warp, level by level', has: 'caution lockstep-without-syncwarp',
    wrong: kernel(`${FILL} __syncthreads();\nfor (int k = 16; k > 0; k >>= 1)\nif ((t & 31) < k) s[t] += s[t + k]; // HERE`),
    right: [kernel(`${FILL} __syncthreads(); for (int k = 16; k > 0; k >>= 1) { int v = (t & 31) < k ? s[t + k] : 0; __syncwarp(); s[t] += v; __syncwarp(); }`)] },
  { name: 'a tree in a block of unknown shape', has: 'caution shared-race',
    wrong: `__global__ void k(int *x) {\n${FILL} __syncthreads();\nfor (int k = 128; k > 0; k >>= 1)\nif (t < k) s[t] += s[t + k]; // HERE\n}`,
    right: [`__global__ void k(int *x) { ${FILL} for (int k = 128; k > 0; k >>= 1) { __syncthreads(); if (t < k) s[t] += s[t + k]; } }`, '__global__ void k(int *x) { __shared__ int s[8][33]; s[threadIdx.y][threadIdx.x] = x[0]; __syncwarp(); x[threadIdx.x] = s[threadIdx.y][31 - threadIdx.x]; }'] },
];

describe('shared memory in rounds', () => {
  test.each(PAIRS)('$name', checkPair);

  test('the reasons name the threads and the rounds', () => {
    const { hazards } = hazardsIn(kernel(`${FILL} __syncthreads(); for (int k = 128; k > 0; k >>= 1) if (t < k) s[t] += s[t + k]; if (t == 0) x[0] = s[0];`, 256));
    const [race] = hazards.filter((hazard) => hazard.id === 'shared-race');
    expect(race?.because.map((reason) => reason.text)).toEqual(['`s[t]` is written here, by thread 64, with `k` = 128', '`s[t + k]`, read here by thread 0, with `k` = 64, is the same element; no barrier stands between']);
  });
});
