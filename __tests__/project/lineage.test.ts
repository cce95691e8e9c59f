/** A transform that takes up what it made is stopped, and what it made is not reported as if the user had written it. */
import { beforeAll, expect, test } from '@jest/globals';
import { Lineage } from '../../src/project/lineage.js';
import { initParser } from '../../src/syntax/parser.js';
import type { FunctionDecl, Program } from '../../src/syntax/tree.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const kernels = (names: readonly string[]): Program => load(names.map((name) => `__global__ void ${name}(float *x) { if (x[0] > 1.f) x[1] = 2.f; }\n`).join('')).program;

function named(program: Program, name: string): FunctionDecl {
  for (const unit of program.units.values()) for (const fn of unit.functions) if (fn.name === name) return fn;
  throw new Error(`no ${name}`);
}

test('edits of edits are counted along the chain, by transform; functions of the original have no limit', () => {
  const lineage = new Lineage();
  let program = kernels(['k', 'other']);
  lineage.enter(program, []);
  let name = 'k';
  let stopped: string | null = null;
  for (let round = 0; round < 40 && stopped === null; round++) {
    const fn = named(program, name);
    stopped = lineage.exhausted(fn, 'grow');
    if (stopped !== null) break;
    lineage.applied(fn, 'grow');
    name = `${name}_a`;
    program = kernels([name, 'other']);
    lineage.enter(program, [fn]);
  }
  expect(stopped).toBe('grow was applied 7 times to what it made of k, and comes up again');
  const other = named(program, 'other');
  for (let i = 0; i < 100; i++) lineage.applied(other, 'grow');
  expect(lineage.exhausted(other, 'grow')).toBeNull();
});

test('a wide family is stopped as well', () => {
  const lineage = new Lineage();
  const first = kernels(['k']);
  lineage.enter(first, []);
  const program = kernels(['k_a', 'k_b']);
  lineage.enter(program, [named(first, 'k')]);
  for (let i = 0; i < 64; i++) {
    const fn = named(program, i % 2 === 0 ? 'k_a' : 'k_b');
    expect(lineage.exhausted(fn, 'grow')).toBeNull();
    lineage.applied(fn, 'grow');
  }
  expect(lineage.exhausted(named(program, 'k_b'), 'grow')).toMatch(/64 times/);
  expect(lineage.exhausted(named(program, 'k_b'), 'another')).toBeNull();
});

test('branches that only the edits brought are own output; those of the original are spoken of once', () => {
  const lineage = new Lineage();
  const first = kernels(['k']);
  lineage.enter(first, []);
  const program = kernels(['k_a', 'k_b']);
  lineage.enter(program, [named(first, 'k')]);
  const original = (): string => 'if (x[0] > 1.f)\n    x[1] = 2.f;';
  const a = named(program, 'k_a');
  expect(lineage.isOwnOutput(named(first, 'k'), 't', 'if (flag) list[0] = 1;', true, original)).toBe(false);
  expect(lineage.isOwnOutput(named(first, 'k'), 't', 'if (flag) list[0] = 1;', false, original)).toBe(true);
  expect(lineage.isOwnOutput(named(first, 'k'), 't', 'if (x[0] > 1.f) x[1] = 2.f;', false, original)).toBe(false);
  expect(lineage.isOwnOutput(a, 't', 'if (flag) list[0] = 1;', false, original)).toBe(true);
  expect(lineage.isOwnOutput(a, 't', 'if (x[0] > 1.f) x[1] = 2.f;', false, original)).toBe(false);
  lineage.spoken(a, 't', 'if (x[0] > 1.f) x[1] = 2.f;');
  expect(lineage.isOwnOutput(named(program, 'k_b'), 't', 'if (x[0] > 1.f) x[1] = 2.f;', false, original)).toBe(true);
});
