/** Names of new kernels where several kernels of a program are taken apart in one run. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { split } from '../../transforms/split.js';
import type { Transform } from '../../transforms/lib/types.js';
import { load, outcomesOf } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const kernel = (name: string, parameter: string, condition: string, step: number): string =>
  `__global__ void ${name}(float *x, int n, ${parameter}) { int i = threadIdx.x; if (${condition}) { x[i] += ${step} * n; } else { x[i] -= ${step} * n; } }\n`;

/** Names of the kernels that one round of split makes, all of them from the same text. */
function made(text: string): readonly string[] {
  return outcomesOf(split as Transform, load(text), { evenIfItLoses: true }).flatMap(({ change }) =>
    (change?.launches?.steps ?? []).flatMap((step) => (step.kind === 'kernel' ? [step.kernel] : [])));
}

const run = (...launches: readonly string[]): string => `void run(float *x, int n, bool up, int m) { ${launches.map((name) => `${name}<<<1, 32>>>(x, n, ${/mode$|not_\d$/.test(name) ? 'm' : 'up'});`).join(' ')} }\n`;

describe('two kernels of one run', () => {
  test('the shorter name gives way', () => {
    expect(made(kernel('k', 'bool up', 'up', 1) + kernel('k_not', 'bool up', 'up', 2) + run('k', 'k_not'))).toEqual(['k_up', 'k_2_not_up', 'k_not_up', 'k_not_not_up']);
  });

  test('the order in the file does not matter, nor does a namespace', () => {
    expect(made(`namespace N {\n${kernel('k_not', 'bool up', 'up', 2)}${run('k_not')}}\n${kernel('k', 'bool up', 'up', 1)}${run('k')}`)).toEqual(['k_not_up', 'k_not_not_up', 'k_up', 'k_2_not_up']);
  });

  test('neither does what the word is: a value, a flag', () => {
    const names = made(kernel('k', 'int mode', 'mode == 1', 1) + kernel('k_mode', 'int not_1', 'not_1', 2) + run('k', 'k_mode'));
    expect(names).toHaveLength(4);
    expect(new Set(names).size).toBe(4);
  });

  test('two tails of chains', () => {
    const names = made(kernel('k_mode_not_0', 'int mode', 'mode == 1', 1) + kernel('k_mode_not_5', 'int mode', 'mode == 1', 2) + run('k_mode_not_0', 'k_mode_not_5'));
    expect(names).toHaveLength(4);
    expect(new Set(names).size).toBe(4);
  });

  test('a number is not one that another kernel comes to', () => {
    const names = made(kernel('k', 'bool up', 'up', 1) + kernel('k_not', 'bool up', 'up', 2) + kernel('k_2', 'bool not_up', 'not_up', 3) + run('k', 'k_not', 'k_2'));
    expect(new Set(names).size).toBe(6);
  });

  test('kernels that share no words keep theirs', () => {
    expect(made(kernel('a', 'bool up', 'up', 1) + kernel('ab', 'bool up', 'up', 2) + run('a', 'ab'))).toEqual(['a_up', 'a_not_up', 'ab_up', 'ab_not_up']);
  });
});
