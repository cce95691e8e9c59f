/** Shared elements that threads owe which may have left the kernel. */
import { beforeAll, describe, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { checkPair, kernel, type Pair } from './hazard-pairs.js';

beforeAll(async () => { await initParser(); });

const LEFT = '__shared__ int s[256]; int t = threadIdx.x, i = blockIdx.x * 256 + t; if (i >= n) return;';
const may = ['caution barrier-after-exit'];

const PAIRS: readonly Pair[] = [
  { name: 'the element of a mirrored thread', has: 'error exit-skips-shared-write', may,
    wrong: kernel(`${LEFT} s[t] = x[i]; __syncthreads();\nx[i] = s[255 - t]; // HERE`, 256),
    right: [
      kernel('__shared__ int s[256]; int t = threadIdx.x, i = blockIdx.x * 256 + t; s[t] = i < n ? x[i] : 0; __syncthreads(); if (i >= n) return; x[i] = s[255 - t];', 256),
      // Threads that leave later wrote it, or the whole block leaves.
      kernel(`${LEFT} s[t] = x[i]; __syncthreads(); if (t > 0) x[i] = s[t - 1];`, 256),
      kernel('__shared__ int s[256]; int t = threadIdx.x, i = blockIdx.x * 256 + t; if (blockIdx.x * 256 >= n) return; s[t] = x[i]; __syncthreads(); x[i] = s[255 - t];', 256),
    ] },
  { name: 'a sum over all elements', has: 'error exit-skips-shared-write', may,
    wrong: kernel(`${LEFT} s[t] = x[i]; __syncthreads(); int sum = 0; for (int k = 0; k < 256; k++)\nsum += s[k]; // HERE\nx[i] = sum;`, 256),
    right: [kernel(`${LEFT} s[t] = x[i]; __syncthreads(); int sum = 0; for (int k = 0; k < 256 && blockIdx.x * 256 + k < n; k++) sum += s[k]; x[i] = sum;`, 256)] },
  { name: 'a leader that leaves first', has: 'error exit-skips-shared-write', may,
    wrong: kernel(`__shared__ int last; ${LEFT} if (t == 255) last = x[i]; __syncthreads();\nx[i] = last; // HERE`, 256),
    right: [kernel(`__shared__ int first; ${LEFT} if (t == 0) first = x[i]; __syncthreads(); x[i] = first;`, 256)] },
  { name: 'rows of a tile, transposed', has: 'error exit-skips-shared-write', may,
    wrong: kernel('__shared__ int s[16][17]; int c = threadIdx.x, r = threadIdx.y; if (blockIdx.y * 16 + r >= n) return; s[r][c] = x[r * n + c]; __syncthreads();\nx[r * n + c] = s[c][r]; // HERE', 'dim3(16, 16)'),
    right: [kernel('__shared__ int s[16][17]; int c = threadIdx.x, r = threadIdx.y; if (blockIdx.y * 16 + r >= n) return; s[r][c] = x[r * n + c]; __syncthreads(); x[r * n + c] = s[r][15 - c];', 'dim3(16, 16)')] },
  { name: 'in a block of unknown shape', has: 'caution exit-skips-shared-write', may,
    wrong: `__global__ void k(int *x, int n) {\n${LEFT} s[t] = x[i]; __syncthreads();\nx[i] = s[255 - t]; // HERE\n}`,
    right: [`__global__ void k(int *x, int n) { ${LEFT} s[t] = x[i]; __syncthreads(); x[i] = s[t]; }`] },
];

describe('elements that exited threads owe', () => {
  test.each(PAIRS)('$name', checkPair);
});
