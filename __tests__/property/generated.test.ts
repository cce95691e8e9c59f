/**
 * Generated kernels: none has a fault, every edit that a transform makes leaves the result as it was, and schedules do not matter.
 * Bounded here; `npm run fuzz -- --minutes N` goes on.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { kernelFrom, type GeneratedKernel } from '../../src/generate/kernel.js';
import { simulate, type Argument, type Arguments } from '../../src/simulate/index.js';
import { initParser } from '../../src/syntax/index.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { transforms } from '../../transforms/index.js';
import { applyAll, load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const stream = fc.array(fc.nat({ max: 2 ** 31 - 1 }), { minLength: 40, maxLength: 160 });

function inputs(kernel: GeneratedKernel): Arguments {
  const uniform = (low: number, high: number): Argument => ({ kind: 'contents', distribution: { kind: 'uniform', low, high }, length: null });
  const zero = uniform(0, 0);
  return new Map<string, Argument>([
    ['in', uniform(-2, 2)], ['key', uniform(0, 63)], ['lut', uniform(0, 3)], ['out', zero], ['outi', zero], ['total', zero], ['w', { kind: 'value', value: kernel.scalars.w }],
  ]);
}

describe('generated kernels', () => {
  test('run without faults under every schedule', () => {
    fc.assert(fc.property(stream, fc.nat({ max: 5 }), (choices, scheduleSeed) => {
      const kernel = kernelFrom(choices);
      const { program, unit } = load(kernel.source);
      const [decl] = unit.kernels;
      if (decl === undefined) throw new Error('no kernel');
      const result = simulate(program, decl, { grid: [kernel.grid, 1, 1], block: [kernel.block.x, kernel.block.y, 1], sharedBytes: null }, { seed: 1 + (choices[0] ?? 0) % 50, size: kernel.n, arguments: inputs(kernel) }, { scheduleSeed, counts: false });
      if (result.status !== 'ran') throw new Error(result.status === 'unsupported' ? result.construct : result.message);
      expect(result.faults).toEqual([]);
    }), { numRuns: 30 });
  }, 120_000);

  test.each(transforms.map((t) => [t.name, t] as const))('%s keeps the result', (_name, transform) => {
    let edits = 0;
    fc.assert(fc.property(stream, (choices) => {
      const kernel = kernelFrom(choices);
      const run = applyAll(transform, kernel.source, { evenIfItLoses: true });
      if (run.rounds === 0) return;
      edits += run.rounds;
      const plan = run.plans.get(kernel.name);
      const verdict = verifyEquivalent(load(kernel.source).program, load(run.text).program, kernel.name, {
        blocks: [[kernel.block.x, kernel.block.y, 1]], grids: [[kernel.grid, 1, 1]], sizes: [kernel.n, 33], seeds: [1, 2, 3], schedules: [0, 1], arguments: inputs(kernel), budgetMs: 1000, ...(plan === undefined ? {} : { plan }),
      });
      if (verdict.status === 'different') throw new Error(`${verdict.counterexample.differences.join('; ')} (${verdict.counterexample.replay})\n${kernel.source}\n--- after\n${run.text}`);
    }), { numRuns: 20 });
    process.stdout.write(`${transform.name}: ${edits} edits in generated kernels\n`);
  }, 300_000);

  test.each(['peel', 'ballot', 'hoist'])('%s keeps the result where counters go below zero or meet the end of their type', (name) => {
    const transform = transforms.find((one) => one.name === name);
    if (transform === undefined) throw new Error(`no ${name}`);
    fc.assert(fc.property(stream, (choices) => {
      const kernel = kernelFrom(choices, 'signs');
      const run = applyAll(transform, kernel.source, { evenIfItLoses: true });
      if (run.rounds === 0) return;
      const verdict = verifyEquivalent(load(kernel.source).program, load(run.text).program, kernel.name, {
        blocks: [[kernel.block.x, kernel.block.y, 1]], grids: [[kernel.grid, 1, 1]], sizes: [kernel.n, 0], seeds: [1, 2], schedules: [0], arguments: inputs(kernel), budgetMs: 1000,
      });
      if (verdict.status === 'different') throw new Error(`${verdict.counterexample.differences.join('; ')} (${verdict.counterexample.replay})\n${kernel.source}\n--- after\n${run.text}`);
    }), { numRuns: 20 });
  }, 300_000);

  test('split keeps the result where an index space has edges', () => {
    const split = transforms.find((transform) => transform.name === 'split');
    if (split === undefined) throw new Error('no split');
    let edits = 0;
    fc.assert(fc.property(stream, (choices) => {
      const kernel = kernelFrom(choices, 'border');
      const run = applyAll(split, kernel.source, { evenIfItLoses: true });
      if (run.rounds === 0) return;
      edits += run.rounds;
      const plan = run.plans.get(kernel.name);
      const verdict = verifyEquivalent(load(kernel.source).program, load(run.text).program, kernel.name, {
        blocks: [[kernel.block.x, kernel.block.y, kernel.block.z ?? 1]], grids: [kernel.sides ?? [kernel.grid, 1, 1]], sizes: [kernel.n, 33, 0], seeds: [1, 2, 3], schedules: [0, 1], arguments: inputs(kernel), budgetMs: 1000,
        ...(plan === undefined ? {} : { plan }),
      });
      if (verdict.status !== 'equal') throw new Error(`${verdict.status === 'different' ? verdict.counterexample.differences.join('; ') : 'not verified'}\n${kernel.source}\n--- after\n${run.text}`);
    }), { numRuns: 25 });
    expect(edits).toBeGreaterThan(5);
  }, 300_000);
});
