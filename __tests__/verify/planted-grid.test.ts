/** Faults in what compact:grid writes: the kernels' text, and the plan that takes the place of the launch. Every one must be found. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Argument } from '../../src/simulate/index.js';
import { applyEdits } from '../../src/rewrite/apply-edits.js';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent, type Verdict } from '../../src/verify/index.js';
import { compact } from '../../transforms/compact.js';
import type { LaunchPlan, LaunchStep } from '../../transforms/lib/types.js';
import { load, outcomesOf } from '../helpers/transform.js';

const BEFORE = `__global__ void mix(float *a, float *__restrict__ b, const int *__restrict__ key, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float old = a[i];
    a[i] = old + 1.0f;
    if (key[i] > 20) {
        float s = old;
        for (int k = 0; k < 12; ++k)
            s = s * 0.5f + (float)(i % 7);
        b[i] = s;
    } else {
        b[i] = -old;
    }
}

void launch(float *a, float *b, const int *key, int n)
{
    mix<<<(n + 63) / 64, 64>>>(a, b, key, n);
}
`;

interface Written { readonly text: string; readonly plan: LaunchPlan }

function written(order: 'free' | 'keep'): Written {
  const loaded = load(BEFORE);
  const [outcome] = outcomesOf(compact, loaded, { variant: 'grid', options: new Map([['order', order]]) });
  const change = outcome?.change ?? null;
  if (change?.launches === undefined) throw new Error('nothing was applied');
  return { text: applyEdits(BEFORE, change.edits, '\n'), plan: change.launches };
}

const SOME: Argument = { kind: 'contents', distribution: { kind: 'uniform', low: 0, high: 63 }, length: null };
const ALL: Argument = { kind: 'contents', distribution: { kind: 'constant', value: 40 }, length: null };

function verdict({ text, plan }: Written, key: Argument = SOME): Verdict {
  return verifyEquivalent(load(BEFORE).program, load(text).program, 'mix', {
    plan, arguments: new Map([['key', key]]), blocks: [[64, 1, 1], [96, 1, 1], [40, 1, 1]], sizes: [192, 133, 64, 1, 0], budgetMs: 20_000, turnBudget: 10_000,
  });
}

type Plant = readonly [name: string, from: string, to: string];

const IN_TEXT: Readonly<Record<'free' | 'keep', readonly Plant[]>> = {
  free: [
    ['prefix counts the lane itself', '((1u << thread % 32) - 1)', '((2u << thread % 32) - 1)'],
    ['prefix over the lanes that are not heavy', '__popc(votes & ', '__popc(~votes & '],
    ['totals of the wrong population', 'counts[thread / 32] = __popc(votes)', 'counts[thread / 32] = __popc(~votes)'],
    ['mask without half of the lanes', '__ballot_sync(0xffffffffu', '__ballot_sync(0x0000ffffu'],
    ['earlier warps are left out', 'items[slot + counts[thread / 32] + ', 'items[slot + '],
    ['a short last warp is left out', 'warp * 32 < blockDim.x', '(warp + 1) * 32 <= blockDim.x'],
    ['missing barrier between the totals and their sum', '__syncthreads();\n    if (thread == 0)', 'if (thread == 0)'],
    ['missing barrier between the slot and its use', '__syncthreads();\n    if (heavy)', 'if (heavy)'],
    ['blocks share no counter', 'atomicAdd(count, sum)', 'atomicAdd(count, 0)'],
    ['early return lost', '    if (i >= n)\n        return false;\n', ''],
    ['light items go to the list too', '        b[i] = -old;\n    }\n    return false;', '        b[i] = -old;\n    }\n    return true;'],
  ],
  keep: [
    ['mark of the neighbour', 'flags[i] = 1', 'flags[i ^ 1] = 1'],
    ['mark of every item', '    if (key[i] > 20) {\n        old_of[i] = old;\n        flags[i] = 1;\n    } else {', '    flags[i] = 1;\n    if (key[i] > 20) {\n        old_of[i] = old;\n    } else {'],
  ],
};

/** Faults of the kernel over the list, which both orders share. */
const IN_HEAVY: readonly Plant[] = [
  ['stale index: the thread’s own', 'int i = item;', 'int i = blockIdx.x * blockDim.x + threadIdx.x;'],
  ['place in the list for the item', 'const unsigned item = items[at];', 'const unsigned item = at;'],
  ['the last item is left out', '; at < end;', '; at + 1 < end;'],
  ['one item too many', '; at < end;', '; at <= end;'],
  ['carried value of the place in the list', 'old_of[item]', 'old_of[at]'],
  // Seen only where a thread goes round again: launches of a comparison reach that with a single block.
  ['a parameter that the item before has moved', 'b[i] = s;', 'b[i] = s;\n        b += 1;'],
  ['a value of the item before', 'float s = old;', 'float s = old + (at < blockDim.x ? 0.0f : 1.0f);'],
  ['the second round starts one too far', 'at += gridDim.x * blockDim.x', 'at += gridDim.x * blockDim.x + 1'],
  ['computed again from what was overwritten', 'float old = old_of[item];', 'float old = a[item];'],
];

const changed = (plan: LaunchPlan, change: (step: LaunchStep) => LaunchStep | null): LaunchPlan => ({ steps: plan.steps.flatMap((step) => change(step) ?? []) });

const IN_PLAN: readonly (readonly [name: string, order: 'free' | 'keep', key: Argument, change: (step: LaunchStep) => LaunchStep | null])[] = [
  ['counter not reset', 'free', SOME, (step) => (step.kind === 'fill' ? null : step)],
  ['marks not cleared', 'keep', SOME, (step) => (step.kind === 'fill' ? null : step)],
  ['list one too small', 'free', ALL, (step) => (step.kind === 'temporary' && step.name === 'items' ? { ...step, count: 'capacity - 1' } : step)],
  ['marks one too few', 'keep', ALL, (step) => (step.kind === 'temporary' && step.name === 'flags' ? { ...step, count: 'capacity - 1' } : step)],
  ['select leaves out the last', 'keep', ALL, (step) => (step.kind === 'select' ? { ...step, count: 'capacity - 1' } : step)],
  ['first launch one block short', 'free', SOME, (step) => (step.kind === 'kernel' && step.kernel === 'mix_light' ? { ...step, grid: 'gridDim.x - 1' } : step)],
  ['no launch over the list', 'free', SOME, (step) => (step.kind === 'kernel' && step.kernel === 'mix_heavy' ? null : step)],
  ['the list before the pass', 'keep', SOME, (step) => (step.kind === 'select' ? { ...step, selected: 'count', flags: 'flags + 1' } : step)],
];

beforeAll(async () => { await initParser(); });

describe.each(['free', 'keep'] as const)('order=%s', (order) => {
  test('the right output is equal', () => {
    expect(verdict(written(order))).toMatchObject({ status: 'equal' });
    expect(verdict(written(order), ALL)).toMatchObject({ status: 'equal' });
  });

  test.each([...IN_TEXT[order], ...IN_HEAVY])('%s', (_name, from, to) => {
    const right = written(order);
    expect(right.text).toContain(from);
    expect(verdict({ ...right, text: right.text.replace(from, to) }).status).toBe('different');
  });
});

test.each(IN_PLAN)('%s', (_name, order, key, change) => {
  const right = written(order);
  const plan = changed(right.plan, change);
  expect(plan).not.toEqual(right.plan);
  expect(verdict({ text: right.text, plan }, key).status).toBe('different');
});
