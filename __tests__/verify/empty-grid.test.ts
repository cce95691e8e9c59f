/** Launches of no blocks: a host makes them of no elements, the runtime runs none, and the kernels of a plan must not run either. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { split } from '../../transforms/split.js';
import type { LaunchPlan, Transform } from '../../transforms/lib/types.js';
import { applyAll, load, type Run } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const kernel = (condition: string, body = 'int c = blockIdx.x * 32 + threadIdx.x; if (c < n) y[c] = 2.f;'): string => `__global__ void k(float *x, float *y, int n) {
    if (${condition})
        x[threadIdx.x + blockIdx.x * 32] = 1.f;
    else {
        ${body}
    }
}
`;

function divided(text: string): Run & { readonly plan: LaunchPlan } {
  const run = applyAll(split as Transform, text, { evenIfItLoses: true });
  const [entry] = run.plans;
  if (entry === undefined) throw new Error(run.text);
  return { ...run, plan: entry[1] };
}

const CONDITIONS = [
  'blockIdx.x == 0', 'blockIdx.x != 0', '!blockIdx.x', 'blockIdx.x == gridDim.x - 1', 'blockIdx.x != gridDim.x - 1', 'blockIdx.x < gridDim.x - 1', 'blockIdx.x < 1', 'blockIdx.x >= 2', 'blockIdx.x < n', 'blockIdx.x <= n',
  'blockIdx.y == 0', 'blockIdx.y == gridDim.y - 1', 'blockIdx.z < 2',
];

describe('a launch of no blocks', () => {
  test.each(CONDITIONS)('%s: the parts run nothing', (condition) => {
    const text = `${kernel(condition)}void f(float *x, float *y, int n, dim3 grid) { k<<<grid, 32>>>(x, y, n); }\n`;
    const { text: after, plan } = divided(text);
    const options = { plan, seeds: [1], blocks: [[32, 1, 1] as const] };
    for (const grids of [[[0, 1, 1]], [[0, 0, 0]], [[1, 0, 1]], [[1, 1, 0]], [[1, 1, 1]], [[2, 2, 2]]] as const) {
      expect([condition, grids, verifyEquivalent(load(text).program, load(after).program, 'k', { ...options, grids }).status]).not.toContain('different');
    }
  });

  test.each([
    ['the first block', 'blockIdx.x == 0', /gridDim\.x <= 0/g],
    ['all but the first', 'blockIdx.x == 0', /gridDim\.x <= 1/g],
    ['all but the last', 'blockIdx.x == gridDim.x - 1', /gridDim\.x <= 1/g],
    ['the last block', 'blockIdx.x == gridDim.x - 1', /gridDim\.x <= 0/g],
  ])('a plan without the guard of %s is found out', (_, condition, guard) => {
    const text = kernel(condition);
    const host = 'void f(float *x, float *y, int n) { int blocks = (n + 31) / 32; k<<<blocks, 32>>>(x, y, n); }\n';
    const { text: after, plan } = divided(text + host);
    const broken: LaunchPlan = { steps: plan.steps.map((step) => (step.kind === 'kernel' && step.unless !== null && guard.test(step.unless) ? { ...step, unless: null } : step)) };
    expect(broken).not.toEqual(plan);
    expect(verifyEquivalent(load(text + host).program, load(after).program, 'k', { plan }).status).toBe('equal');
    expect(verifyEquivalent(load(text + host).program, load(after).program, 'k', { plan: broken }).status).toBe('different');
  });

  test('the host text asks for the blocks that the plan asks for', () => {
    const host = (grid: string): string => divided(`${kernel('blockIdx.x == 0')}void f(float *x, float *y, int n, dim3 g) { k<<<${grid}, 32>>>(x, y, n); }\n`).text.replace(/^[\s\S]*void f/, '');
    expect(host('n')).toMatch(/if \(n > 0\)\s+k_first_block<<<1, 32>>>\(x\);\s+if \(n > 1\)\s+k_rest<<<n - 1, 32>>>/);
    expect(host('g')).toMatch(/const unsigned blocks_x = g\.x <= 2147483647 \? g\.x : 0;\s+if \(blocks_x > 0\)\s+k_first_block<<<dim3\(1, g\.y, g\.z\), 32>>>\(x\);\s+if \(blocks_x > 1\)/);
    // Known to be there, or not: nothing is asked.
    expect(host('64')).not.toContain('if (');
    expect(host('dim3(8, n)')).not.toContain('if (');
    expect(host('1')).not.toContain('k_rest');
    expect(divided(`${kernel('blockIdx.x == gridDim.x - 1')}void f(float *x, float *y, int n) { k<<<n, 32>>>(x, y, n); }\n`).text).toMatch(/if \(n > 1\)\s+k_rest<<<n - 1, 32>>>[^;]*;\s+if \(n > 0\)\s+k_last_block<<<1, 32>>>/);
  });
});
