/** Signed sums of a condition that moves in front of a loop which may not run: stated, not proved. */
import { beforeAll, expect, test } from '@jest/globals';
import { createAnalysis } from '../../src/analysis/analyse.js';
import { initParser } from '../../src/syntax/parser.js';
import { contextFor, evaluateFunction } from '../../transforms/lib/framework.js';
import { grantsInForce } from '../../transforms/lib/grants.js';
import { transforms } from '../../transforms/index.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

function outcome(condition: string, grants: ReadonlySet<string> = grantsInForce(), bound = 'n'): readonly unknown[] {
  const { program, unit } = load(`__global__ void k(int *o, int n, int d, int e, unsigned u, short h) { int s = 0; for (int i = 0; i < ${bound}; i++) { if (${condition}) s += i; else s -= 3; } o[threadIdx.x] = s; }`);
  const [fn] = unit.kernels;
  const hoist = transforms.find((transform) => transform.name === 'hoist');
  if (fn === undefined || hoist === undefined) throw new Error('no kernel');
  const [one] = evaluateFunction(hoist, contextFor(createAnalysis(program, {}).kernel(fn), unit, { grants }), { evenIfItLoses: true });
  return [one?.status, one?.obligations.find(({ id }) => id === 'condition-safe-early')?.status];
}

test.each(['d + e > 1', 'd - e > 1', 'd * 3 > e', '(d + 1) / 2 > 1'])('%s may overflow', (condition) => {
  expect(outcome(condition)).toEqual(['applied', 'assumed']);
  expect(outcome(condition, grantsInForce([], ['index-range']))).toEqual(['refused', 'unknown']);
  expect(outcome(condition, grantsInForce([], ['index-range']), '4')).toEqual(['applied', 'proved']);
});

test.each(['d > 1', 'u + 1 > 3', 'h + 1 > 3', '(d & 15) * 4 > 8'])('%s may not', (condition) => { expect(outcome(condition)).toEqual(['applied', 'proved']); });
