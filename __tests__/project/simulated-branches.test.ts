/** Probabilities of branches from the simulator: branches that begin at one place are told apart. */
import { beforeAll, expect, test } from '@jest/globals';
import { auditProgram } from '../../src/audit/audit.js';
import { createAnalysis } from '../../src/analysis/analyse.js';
import { simulatedProbabilities } from '../../src/project/simulation.js';
import { initParser } from '../../src/syntax/parser.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

test('`a && b || c`: the inner pair has its own share', () => {
  // Of 32 lanes 16 pass the first test, 8 both, 24 the whole condition; `&&` asks all of them, `||` those that are left.
  const code = `__global__ void k(int *o) {
    int x = 0;
    if (threadIdx.x < 16 && threadIdx.x < 8 || threadIdx.x >= 16) x = 3;
    o[threadIdx.x] = x;
}
`;
  const { program, unit } = load(code);
  const request = { launch: { grid: [1, 1, 1], block: [32, 1, 1] }, block: null, grid: null, seed: null, schedule: null, size: null, shared: null, arguments: new Map() } as const;
  const probabilities = simulatedProbabilities(program, unit.kernels, request, ({ reason }) => { throw new Error(reason); });
  const audit = auditProgram(createAnalysis(program), { probabilities })[0];
  const share = (kind: string): number | undefined => audit?.kernels[0]?.branches.find((branch) => branch.kind === kind)?.divergence.p;
  expect(share('if')).toBeCloseTo(24 / 32);
  expect(share('and')).toBeCloseTo(16 / 32);
  expect(share('or')).toBeCloseTo(8 / 32);
});
