/** Faults that could be made in the launches and kernels of a split: the simulator, which executes the plan, finds every one. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent, type Verdict, type VerifyOptions } from '../../src/verify/index.js';
import { split } from '../../transforms/split.js';
import type { LaunchPlan, Transform } from '../../transforms/lib/types.js';
import { FIXTURES } from '../helpers/fixtures.js';
import { applyAll, load, type Run } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

/** Where a fault is planted, what is taken out and what is put in its place. */
type Fault = readonly [name: string, where: 'plan' | 'text', from: string, to: string];

const value = (name: string, of: number): NonNullable<VerifyOptions['arguments']> => new Map([[name, { kind: 'value', value: of }]]);

const CASES: readonly { readonly fixture: string; readonly kernel: string; readonly options?: VerifyOptions; readonly faults: readonly Fault[] }[] = [
  {
    fixture: 'role-unsigned-variable', kernel: 'halves', faults: [
      ['launch grid off by one', 'plan', 'dim3(gridDim.x - first_blocks,', 'dim3(gridDim.x - first_blocks - 1,'],
      ['first grid one too large', 'plan', '? split_at :', '? split_at + 1 :'],
      ['boundary not cut to the grid', 'plan', 'split_at < gridDim.x ? split_at : gridDim.x', 'split_at'],
      ['wrong block offset', 'plan', '"n","first_blocks"', '"n","first_blocks + 1"'],
      ['offset lost', 'text', 'blockIdx.x + first', 'blockIdx.x'],
      ['swapped arms', 'plan', 'swap', ''],
      ['second launch dropped', 'plan', 'drop', ''],
    ],
  },
  {
    fixture: 'role-signed-number', kernel: 'halves', options: { arguments: value('split_at', -2) }, faults: [['dropped guard: a negative bound is large', 'plan', 'split_at < 0 ? 0 : ', '']],
  },
  {
    fixture: 'role-signed-number', kernel: 'halves', faults: [
      ['up to became below', 'plan', '(unsigned)split_at + 1', '(unsigned)split_at'],
      ['the second kernel begins at its own end', 'plan', '"n","first_blocks"', '"n","gridDim.x - first_blocks"'],
    ],
  },
  {
    fixture: 'role-grid-stride', kernel: 'feed', faults: [
      ['the grid of the part for the grid of the whole', 'plan', '"gridDim.x"]', '"gridDim.x - first_blocks"]'],
      ['stride of the whole grid', 'text', 'blocks - producers', 'blocks'],
      ['counted from the start twice', 'text', 'int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += workers', 'int i = (blockIdx.x - producers) * blockDim.x + threadIdx.x; i < n; i += workers'],
    ],
  },
  {
    fixture: 'role-second-axis', kernel: 'planes', options: { arguments: value('near', 1), grids: [[2, 3, 1], [1, 2, 1]] }, faults: [
      ['the other axis divided', 'plan', 'dim3(gridDim.x, first_blocks, gridDim.z)', 'dim3(first_blocks, gridDim.y, gridDim.z)'],
      ['one row lost', 'plan', 'gridDim.y - first_blocks,', 'gridDim.y - first_blocks - 1,'],
    ],
  },
  {
    fixture: 'role-and-flag', kernel: 'work', faults: [
      ['inner choice turned', 'plan', '!(twice)', 'twice'],
      ['inner choice for all', 'plan', '|| (twice)', '|| (false)'],
      ['inner kernel without its offset', 'plan', '"n","first_blocks"', '"n","0"'],
    ],
  },
  {
    fixture: 'condition-in-variable', kernel: 'step', faults: [
      ['conjunct lost', 'plan', 'rounds >= 8 && dt < 0.5f', 'rounds >= 8'],
      ['bound one off', 'plan', 'rounds >= 8', 'rounds > 8'],
      ['swapped arms', 'plan', 'swap', ''],
      ['both kernels run', 'plan', '"unless":"rounds >= 8 && dt < 0.5f"', '"unless":null'],
    ],
  },
  {
    fixture: 'early-return', kernel: 'fill', faults: [
      ['return lost: the rest runs too', 'text', '        x[i] = 1.f;\n}', '        x[i] = 1.f;\n    if (i < n)\n        x[i] = i * 0.5f;\n}'],
      ['statement of the second population lost', 'text', '    float step = 1.f / n;', '    float step = 1.f;'],
      ['prologue lost', 'text', 'void fill_mode_2(float *x, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;', 'void fill_mode_2(float *x, int n) {\n    int i = threadIdx.x;'],
    ],
  },
  {
    fixture: 'interior-counts', kernel: 'votes', faults: [
      ['interior one block too wide', 'plan', 'dim3(inside_x, inside_y, gridDim.z)', 'dim3(inside_x + 1, inside_y, gridDim.z)'],
      ['interior one block too low', 'plan', 'dim3(inside_x, inside_y, gridDim.z)', 'dim3(inside_x, inside_y - 1, gridDim.z)'],
      ['rows of the border covered twice', 'plan', 'dim3(gridDim.x, gridDim.y - inside_y, gridDim.z)', 'dim3(gridDim.x, gridDim.y, gridDim.z)'],
      ['columns of the border covered twice', 'plan', 'dim3(gridDim.x - inside_x, inside_y, gridDim.z)', 'dim3(gridDim.x, inside_y, gridDim.z)'],
      ['corners covered twice', 'plan', 'dim3(gridDim.x - inside_x, inside_y, gridDim.z)', 'dim3(gridDim.x - inside_x, gridDim.y, gridDim.z)'],
      ['columns of the border lost', 'plan', 'drop', ''],
      ['a block across the far edge counted as inside', 'plan', '(long long)(w - 3) / blockDim.x', '((long long)(w - 3) + blockDim.x - 1) / blockDim.x'],
      ['a block across the near edge counted as inside', 'plan', '(blockDim.x + 2) / blockDim.x', '3 / blockDim.x'],
      ['interior not cut to the grid', 'plan', '(last_y < gridDim.y ? last_y : gridDim.y)', 'last_y'],
      ['interior counts its blocks from the start', 'text', '(blockIdx.x + first_x)', 'blockIdx.x'],
      ['interior passed the first block of the other axis', 'plan', '"first_x","first_y"]', '"first_y","first_x"]'],
      ['border skips nothing', 'text', 'blockIdx.x + skip_x', 'blockIdx.x'],
      ['border skips one block too late', 'text', 'blockIdx.x < before_x', 'blockIdx.x <= before_x'],
      ['rows beside the interior counted from the first', 'plan', '"0","first_y"]', '"0","0"]'],
      ['test lost in the border', 'text', 'if (x >= 3 && x < w - 3 && y >= 3 && y < h - 3)', 'if (x >= 3 && x < w - 3)'],
    ],
  },
  {
    fixture: 'interior-3d', kernel: 'laplace', faults: [
      ['middle launch over all planes', 'plan', 'dim3(gridDim.x, gridDim.y - inside_y, inside_z)', 'dim3(gridDim.x, gridDim.y - inside_y, inside_z - 1)'],
      ['last launch dropped', 'plan', 'drop', ''],
      ['far plane taken for one inside', 'plan', '(long long)(nz - 1) / blockDim.z', '(long long)nz / blockDim.z'],
    ],
  },
  {
    fixture: 'interior-unsigned-window', kernel: 'window', options: { arguments: value('r', 3) }, faults: [
      ['the near edge that the wrap stands for is lost', 'plan', '((long long)r + blockDim.x - 1) / blockDim.x', '0'],
      ['far edge without what was subtracted', 'plan', ' + r) / blockDim.x', ' + 2 * r) / blockDim.x'],
    ],
  },
  { fixture: 'interior-error-check', kernel: 'shift', faults: [['a conjunct of the launch is lost', 'plan', 'exact && ', '']] },
  { fixture: 'interior-launch-without-braces', kernel: 'mean', faults: [['far edge without the radius', 'plan', '(long long)n - RADIUS', '(long long)n']] },
  { fixture: 'interior-by-block', kernel: 'halo', faults: [['last block taken for one inside', 'plan', '(long long)(unsigned)(gridDim.x - 1)', 'gridDim.x']] },
  {
    fixture: 'interior-vector-tail', kernel: 'twice', options: { blocks: [[64, 1, 1]] }, faults: [
      ['elements taken for threads', 'plan', '(4 * blockDim.x)', 'blockDim.x'],
      ['tail counts from the start', 'text', 'blockIdx.x + skip_x', 'blockIdx.x'],
    ],
  },
];

function planted(plan: LaunchPlan, from: string, to: string): LaunchPlan {
  const kernels = plan.steps.filter((step) => step.kind === 'kernel');
  if (from === 'drop') return { steps: plan.steps.slice(0, -1) };
  if (from === 'swap') {
    const [a, b] = kernels;
    if (a === undefined || b === undefined) throw new Error('two kernels are needed');
    return { steps: plan.steps.map((step) => (step === a ? { ...b, grid: a.grid, unless: a.unless } : step === b ? { ...a, grid: b.grid, unless: b.unless } : step)) };
  }
  const text = JSON.stringify(plan);
  expect(text).toContain(from);
  return JSON.parse(text.replace(from, to)) as LaunchPlan;
}

describe.each(CASES)('$fixture', ({ fixture, kernel, options, faults }) => {
  const before = readFileSync(join(FIXTURES, 'split', `ok-${fixture}.cu`), 'utf8');
  let made: Run | null = null;
  const result = (): Run => (made ??= applyAll(split as Transform, before, { evenIfItLoses: true }));
  const verdict = (text: string, plan: LaunchPlan): Verdict => verifyEquivalent(load(before).program, load(text).program, kernel, { ...options, plan, budgetMs: 20_000 });
  const planOf = (run: Run): LaunchPlan => {
    const plan = run.plans.get(kernel);
    if (plan === undefined) throw new Error('no plan');
    return plan;
  };

  test('the right output is equal', () => {
    expect(verdict(result().text, planOf(result()))).toMatchObject({ status: 'equal' });
  });

  test.each(faults)('%s', (_name, where, from, to) => {
    const { text } = result();
    const plan = planOf(result());
    if (where === 'text') expect(text).toContain(from);
    expect(verdict(where === 'text' ? text.replace(from, to) : text, where === 'plan' ? planted(plan, from, to) : plan).status).toBe('different');
  });
});
