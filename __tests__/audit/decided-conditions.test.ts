/** Conditions that the limits of the hardware and of the launch decide keep nobody away; those that they do not decide still do. */
import { beforeAll, describe, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { checkPair, type Pair } from './hazard-pairs.js';

beforeAll(async () => { await initParser(); });

const FULL = '0xffffffffu';

/** A kernel of unknown block shape with a statement around a barrier. */
function kernel(body: string, bounds = ''): string {
  return `__global__ void ${bounds} k(int *x, int n) {\n${body}\n}`;
}

const right = (condition: string, bounds = '', before = ''): string => kernel(`${before} if (${condition}) { __syncthreads(); x[threadIdx.x] = __shfl_xor_sync(${FULL}, x[0], 1); }`, bounds);
const leaves = (condition: string, bounds = ''): string => kernel(`if (${condition}) return; __syncthreads(); x[threadIdx.x] = __shfl_xor_sync(${FULL}, x[0], 1);`, bounds);

const PAIRS: readonly Pair[] = [
  { name: 'as many threads as a block can have', has: 'caution barrier-divergent',
    wrong: kernel('if (threadIdx.x < 1023)\n__syncthreads(); // HERE'),
    right: [right('threadIdx.x < 1024'), right('(int)threadIdx.x <= 1023'), right('threadIdx.y < 1024u && threadIdx.z < 64'), right('!(threadIdx.z >= 64)'), leaves('threadIdx.x >= 1024'), leaves('threadIdx.x > 1023')] },
  { name: 'the size of the block', has: 'error barrier-divergent',
    wrong: kernel('if (threadIdx.x < blockDim.y)\n__syncthreads(); // HERE'),
    right: [right('threadIdx.x < blockDim.x'), right('t < (int)blockDim.x', '', 'int t = threadIdx.x;'), right('size > threadIdx.y', '', 'unsigned size = blockDim.y;'), leaves('threadIdx.x >= blockDim.x'), leaves('blockDim.z <= threadIdx.z')] },
  { name: 'launch bounds', has: 'error barrier-divergent',
    wrong: kernel('if (threadIdx.x < 16)\n__syncthreads(); // HERE', '__launch_bounds__(32)'),
    right: [right('threadIdx.x < 32', '__launch_bounds__(32)'), right('threadIdx.x / 32 == 0', '__launch_bounds__(32)'), right('warp == 0', '__launch_bounds__(32)', 'int warp = threadIdx.x >> 5;'), leaves('threadIdx.x / 32 != 0', '__launch_bounds__(32)'), leaves('threadIdx.x >= 64', '__launch_bounds__(64)')] },
  { name: 'a variable that moves', has: 'error barrier-divergent',
    wrong: kernel('unsigned t = threadIdx.x; t += n; if (t < blockDim.x)\n__syncthreads(); // HERE'),
    right: [right('t < blockDim.x', '', 'const unsigned t = threadIdx.x;')] },
];

describe('decided conditions', () => {
  test.each(PAIRS.map((pair) => [pair.name, pair] as const))('%s', (_name, pair) => { checkPair(pair); });
});
