/** What compact may call proved: lanes that differ only by a race, items that meet in memory. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { compact } from '../../transforms/compact.js';
import type { Obligation } from '../../transforms/lib/types.js';
import { evaluateFunction } from '../../transforms/lib/framework.js';
import { contextFor } from '../../transforms/lib/framework.js';
import { Text } from '../analysis/program.js';

beforeAll(async () => { await initParser(); });

function obligation(text: string, id: string): Obligation | undefined {
  const loaded = new Text(text);
  const fn = loaded.fn('k');
  const [outcome] = evaluateFunction(compact, contextFor(loaded.analysis.kernel(fn), loaded.unit), { evenIfItLoses: true });
  return outcome?.obligations.find((one) => one.id === id);
}

const kernel = (parameters: string, condition: string, store: string): string => `__global__ void k(${parameters}) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.x;
    if (${condition}) {
        float v = x[i];
        for (int j = 0; j < 40; ++j) v = v * 0.5f + sqrtf(fabsf(v) + 1.0f);
        ${store}
    }
}
void f(float *x, float *y, int *bin, int n) { k<<<n / 64, 64>>>(x, y, bin); }
`;
const PLAIN = 'const float *x, float *y, const int *bin';

describe('predicate-data-dependent', () => {
  test('is not proved where lanes differ only if the array that is written overlaps the one that is read', () => {
    expect(obligation(kernel(PLAIN, 'bin[b] > 3', 'y[i] = v;'), 'predicate-data-dependent')).toMatchObject({ status: 'unknown' });
    expect(obligation(kernel(PLAIN, 'bin[bin[b]] - bin[b + 1] > 3', 'y[i] = v;'), 'predicate-data-dependent')).toMatchObject({ status: 'unknown' });
  });

  test('is proved where each lane reads an element of its own', () => {
    expect(obligation(kernel(PLAIN, 'bin[i] > 3', 'y[i] = v;'), 'predicate-data-dependent')).toMatchObject({ status: 'proved' });
    expect(obligation(kernel(PLAIN, 'bin[b] > 3 && x[i] > 0.0f', 'y[i] = v;'), 'predicate-data-dependent')).toMatchObject({ status: 'proved' });
  });
});

describe('order-free', () => {
  test.each([
    ['an element of its own', 'y[i] = v;', 'proved'],
    ['an element of its own, read first', 'y[i] = y[i] + v;', 'proved'],
    ['an element that another item reads', 'y[i] = y[i + 1] + v;', 'assumed'],
    ['an element that the data names', 'y[bin[i]] = v;', 'assumed'],
    ['one element of the block', 'y[b] = v;', 'assumed'],
    ['one element for several threads', 'y[i / 2] = v;', 'assumed'],
  ])('%s', (_name, store, status) => {
    const found = obligation(kernel(PLAIN, 'bin[i] > 3', store), 'order-free');
    expect(found).toMatchObject({ status, grant: status === 'assumed' ? 'race-free' : null });
  });

  test('an element of its own in rows of a block is not known to be one', () => {
    expect(obligation(kernel(PLAIN, 'bin[i] > 3', 'y[i] = v;').replace('64>>>', 'dim3(32, 2)>>>'), 'order-free')).toMatchObject({ status: 'assumed' });
  });
});
