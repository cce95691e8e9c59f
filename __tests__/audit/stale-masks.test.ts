/** Masks that a vote made in front of a loop which lanes leave in different rounds. */
import { beforeAll, describe, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { checkPair, kernel, type Pair } from './hazard-pairs.js';

beforeAll(async () => { await initParser(); });

const VOTED = 'int i = threadIdx.x; unsigned m = __ballot_sync(FULL, i < n);\nif (i < n) {';

const PAIRS: readonly Pair[] = [
  { name: 'lanes that broke away', has: 'error mask-full-under-divergence',
    wrong: kernel(`${VOTED}\nfor (int r = 0; r < 4; r++) {\nif (x[i + r] == r) break;\nx[i] += __shfl_sync(m, x[i], 0); // HERE\n} }`),
    right: [
      // The vote asked it.
      kernel(`${VOTED}\nfor (int r = 0; r < 4; r++) {\nif (i >= n) break;\nx[i] += __any_sync(m, x[i] > r);\n} }`),
      // All lanes named agree.
      kernel(`${VOTED}\nfor (int r = 0; r < 4; r++) {\nif (__all_sync(m, x[i] > r)) break;\nx[i] += __shfl_sync(m, x[i], 0);\n} }`),
      kernel(`${VOTED}\nfor (int r = 0; r < 4; r++) {\nint v = __shfl_sync(m, x[i], 0); if (v == r) break;\nx[i] += __shfl_sync(m, v, 0);\n} }`),
      // Voted anew in every round.
      kernel('int i = threadIdx.x; bool more = i < n; unsigned m = __ballot_sync(FULL, more);\nwhile (more) { x[i] += __any_sync(m, x[i] > 2); more = x[i] < 9; m = __ballot_sync(m, more); }'),
    ] },
  { name: 'lanes that skip the rest of a round', has: 'error mask-full-under-divergence',
    wrong: kernel(`${VOTED}\nfor (int r = 0; r < 4; r++) {\nif (x[i + r] == r) continue;\nx[i] += __shfl_sync(m, x[i], 0); // HERE\n} }`),
    right: [kernel('int i = threadIdx.x; for (int r = 0; r < 4; r++) { bool p = x[i + r] != r; unsigned m = __ballot_sync(FULL, p); if (!p) continue; x[i] += __any_sync(m, x[i] > 3); }')] },
  { name: 'a loop of its own length for each lane', has: 'error mask-full-under-divergence',
    wrong: kernel(`${VOTED}\nint left = x[i];\nwhile (left > 0) {\nleft--;\nx[i] += __any_sync(m, x[i + left]); // HERE\n} }`),
    right: [kernel(`${VOTED}\nunsigned todo = m;\nwhile (todo) {\ntodo &= todo - 1;\nx[i] += __any_sync(m, x[i]);\n} }`)] },
  { name: 'a return from a helper that got the mask', has: 'error mask-full-under-divergence',
    wrong: `__device__ void part(unsigned m, int *x, int i) {\nfor (int r = 0; r < 4; r++) {\nif (x[i + r] == r) return;\nx[i] += __any_sync(m, x[i]); // HERE\n} }\n${kernel(`${VOTED} part(m, x, i); }`)}`,
    right: [`__device__ void part(unsigned m, int *x, int i) { for (int r = 0; r < 4; r++) { if (__any_sync(m, x[i + r] == r)) return; x[i] += __any_sync(m, x[i]); } }\n${kernel(`${VOTED} part(m, x, i); }`)}`] },
  { name: 'a flag that the loop sets', has: 'error mask-full-under-divergence',
    wrong: kernel(`${VOTED}\nbool done = false;\ndo {\nif (x[i] > 7) done = true;\nx[i] += __any_sync(m, x[i] > 3); // HERE\n} while (!done); }`),
    right: [kernel(`${VOTED}\nbool done = false;\ndo {\nif (x[i] > 7) done = true;\nx[i] += __any_sync(m, x[i] > 3);\n} while (!__all_sync(m, done)); }`)] },
];

describe('masks voted on in front of a loop', () => {
  test.each(PAIRS)('$name', checkPair);
});
