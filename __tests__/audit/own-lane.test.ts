/** Callers that are not in their own masks, and barriers of the grid that not every block reaches. */
import { beforeAll, describe, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { checkPair, kernel, type Pair } from './hazard-pairs.js';

beforeAll(async () => { await initParser(); });

const LANE = 'unsigned t = threadIdx.x, lane = t & 31;';

const MASKS: readonly Pair[] = [
  { name: 'all but the caller', has: 'error mask-not-a-mask',
    wrong: kernel(`${LANE}\nx[t] = __reduce_add_sync(FULL & ~(1u << lane), 1); // HERE`),
    right: [kernel(`${LANE} unsigned v = __ballot_sync(FULL, x[t] > 0); x[t] = __popc(v & ~(1u << lane));`), kernel(`${LANE} x[t] = __reduce_add_sync(FULL & ~(0u << lane), 1);`)] },
  { name: 'a vote without the caller', has: 'error mask-not-a-mask',
    wrong: kernel(`${LANE} bool p = x[t] > 0; unsigned m = __ballot_sync(FULL, p); m &= ~(1u << lane);\nif (p) x[t] = __reduce_add_sync(m, 1); // HERE`),
    right: [kernel(`${LANE} bool p = x[t] > 0; unsigned m = __ballot_sync(FULL, p); if (p) x[t] = __reduce_add_sync(m, 1) - 1; m &= ~(1u << lane); x[t] += __popc(m);`)] },
  { name: 'the lanes below', has: 'error mask-not-a-mask',
    wrong: kernel(`${LANE} unsigned below = (1u << lane) - 1;\nx[t] = __any_sync(below, x[t]); // HERE`),
    right: [kernel(`${LANE} unsigned below = (1u << lane) - 1; x[t] = (__ballot_sync(FULL, x[t]) & below) != 0;`)] },
  { name: 'one lane is left out and comes', has: 'error mask-not-a-mask',
    wrong: kernel(`${LANE} unsigned m = FULL & ~(1u << (n & 0));\nunsigned others = m & ~1u; x[t] = __any_sync(others, x[t]); // HERE`),
    right: [kernel(`${LANE} unsigned m = FULL & ~1u; if (lane != 0) x[t] = __any_sync(m, x[t]);`), kernel(`${LANE} unsigned m = 0xffffu << (t & 16); x[t] = __shfl_xor_sync(m, x[t], 1, 16);`)] },
  { name: 'in a block of unknown shape', has: 'error mask-not-a-mask',
    wrong: `__global__ void k(int *x) {\n${LANE}\nx[t] = __reduce_add_sync(FULL ^ (1u << lane), 1); // HERE\n}`,
    right: [`__global__ void k(int *x) { ${LANE} x[t] = __reduce_add_sync(0xffu << (t & 24), 1); }`] },
];

const CG = '#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n';

const GRIDS: readonly Pair[] = [
  { name: 'under a condition on the block', has: 'error group-divergent',
    wrong: `${CG}${kernel('auto g = cg::this_grid(); if (blockIdx.x == 0)\ng.sync(); // HERE')}`,
    right: [`${CG}${kernel('auto g = cg::this_grid(); if (blockIdx.x == 0) x[0] = 1; g.sync(); if (n > 3) g.sync();')}`, `${CG}${kernel('auto g = cg::this_cluster(); if (blockIdx.x < 8) g.sync();')}`] },
  { name: 'behind whole blocks that left', has: 'error group-divergent',
    wrong: `${CG}${kernel('int first = blockIdx.x * 64; if (first >= n) return;\ncg::this_grid().sync(); // HERE')}`,
    right: [`${CG}${kernel('int first = blockIdx.x * 64; if (first < n) x[first] = 1; cg::this_grid().sync();')}`] },
  { name: 'in a helper, by data of the block', has: 'error group-divergent',
    wrong: `${CG}__device__ void all() {\ncg::sync(cg::this_grid()); // HERE\n}\n${kernel('if (x[blockIdx.x] > 3) all();')}`,
    right: [`${CG}__device__ void all() { cg::sync(cg::this_grid()); }\n${kernel('if (n > 3) all();')}`] },
  { name: 'a block skips a round', has: 'error group-divergent',
    wrong: `${CG}${kernel('auto g = cg::this_grid(); for (int r = 0; r < n; r++) { if (blockIdx.x == r) continue;\ng.sync(); // HERE\n}')}`,
    right: [`${CG}${kernel('auto g = cg::this_grid(); for (int r = 0; r < n; r++) { if (blockIdx.x != r) x[r] = 1; g.sync(); }')}`] },
  { name: 'in a loop that strides by the grid', has: 'caution group-divergent',
    wrong: `${CG}${kernel('auto g = cg::this_grid(); for (int b = blockIdx.x; b < n; b += gridDim.x) { x[b] = 1;\ng.sync(); // HERE\n}')}`,
    right: [`${CG}${kernel('auto g = cg::this_grid(); for (int r = 0; r < n; r++) { for (int b = blockIdx.x; b < n; b += gridDim.x) x[b] = r; g.sync(); }')}`] },
];

describe('masks without their own callers', () => {
  test.each(MASKS)('$name', checkPair);
});

describe('barriers of the grid', () => {
  test.each(GRIDS)('$name', checkPair);
});
