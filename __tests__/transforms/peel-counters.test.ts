/** What is a counter to peel, and what only looks like one. */
import { beforeAll, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { peel } from '../../transforms/peel.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applyAll } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

test('a variable that the body declares and assigns counts nothing: the head cannot name it', () => {
  const text = `__global__ void route(const int *__restrict__ ids, const int *__restrict__ map, int *out, int n, int limit)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int id = ids[i];
        if (id >= limit)
            continue;
        id = map[id];
        if (id == -1)
            continue;
        out[i] = id;
    }
}
`;
  expect(applyAll(peel as Transform, text).text).toBe(text);
});
