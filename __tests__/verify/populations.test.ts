/** Every kernel of a launch plan has blocks in some run, and both populations of a divided grid in one: a second kernel that counts from the wrong block is found. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent, type Verdict, type VerifyOptions } from '../../src/verify/index.js';
import { split } from '../../transforms/split.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applyAll, load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const kernel = (parameters: string, condition: string, args: string, grid = '(n + 127) / 128'): string => `__global__ void k(const float *x, float *y, int n, ${parameters}) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (${condition}) {
        if (i < n)
            y[i] = x[i] * 2.f;
    } else {
        if (i < n)
            y[i] = x[i] + 1.f;
    }
}
void run(const float *x, float *y, int n, ${parameters}) { k<<<${grid}, 128>>>(x, y, n, ${args}); }
`;

const CASES: readonly (readonly [name: string, text: string, from: RegExp])[] = [
  ['a bound that is named like a size', kernel('int m', 'blockIdx.x < m', 'm'), /blockIdx\.x \+ first/g],
  ['a bound of 64 bits', kernel('size_t count', 'blockIdx.x < count', 'count'), /blockIdx\.x \+ first/g],
  ['a bound without a sign', kernel('unsigned rows', 'blockIdx.x >= rows', 'rows'), /blockIdx\.x \+ first/g],
  ['a bound that is counted in threads', kernel('int items', 'blockIdx.x < items / 128', 'items'), /blockIdx\.x \+ first/g],
  ['a product of two', kernel('int rows, int cols', 'blockIdx.x < rows * cols', 'rows, cols'), /blockIdx\.x \+ first/g],
  ['a member', kernel('Sizes sizes', 'blockIdx.x < sizes.num_front', 'sizes').replace('__global__', 'struct Sizes { int num_front, num_back; };\n__global__'), /blockIdx\.x \+ first/g],
  ['an interior', kernel('int width', 'i >= width && i < n - width', 'width'), /blockIdx\.x \+ first_x/g],
  ['a border', kernel('int width', 'i >= width && i < n - width', 'width'), /blockIdx\.x \+ skip_x/g],
];

function verdict(text: string, change: (made: string) => string, options: VerifyOptions = {}): Verdict {
  const run = applyAll(split as Transform, text, { evenIfItLoses: true });
  expect(run.rounds).toBe(1);
  const plan = run.plans.get('k');
  if (plan === undefined) throw new Error('no plan');
  return verifyEquivalent(load(text).program, load(change(run.text)).program, 'k', { plan, budgetMs: 20_000, provedBlocks: [[128, 1, 1]], ...options });
}

describe('both populations have blocks', () => {
  test.each(CASES)('%s', (_, text) => {
    const found = verdict(text, (made) => made);
    expect(found).toMatchObject({ status: 'equal' });
    if (found.status !== 'equal') return;
    expect(found.tried.kernels?.length).toBe(2);
    expect(found.notes.filter((note) => note.includes('had blocks'))).toEqual([]);
  });

  test.each(CASES)('%s: an offset that is lost is found', (_, text, from) => {
    const lost = (made: string): string => {
      expect(made).toMatch(from);
      return made.replaceAll(from, 'blockIdx.x');
    };
    expect(verdict(text, lost).status).toBe('different');
  });
});

test('a kernel that no run reaches is not verified', () => {
  const found = verdict(kernel('int m', 'blockIdx.x < 2000', 'm'), (made) => made);
  expect(found).toMatchObject({ status: 'not-verified', obstacles: [{ side: 'after' }] });
  if (found.status === 'not-verified') expect(found.obstacles[0]?.reason).toMatch(/^k_\w+ never ran/);
});

test('a kernel that the given arguments do not reach is said', () => {
  const found = verdict(kernel('int m', 'blockIdx.x < m', 'm'), (made) => made, { arguments: new Map([['m', { kind: 'value', value: 1000 }]]) });
  expect(found.status).toBe('equal');
  expect(found.notes.join()).toMatch(/k_\w+ never ran/);
});

test('a grid of one block parts nothing, and the verdict says so', () => {
  const text = kernel('int m', 'blockIdx.x < m', 'm');
  const found = verdict(text, (made) => made, { grids: [[1, 1, 1]] });
  expect(found.status).toBe('equal');
  expect(found.notes.join()).toMatch(/had blocks in one run/);
});
