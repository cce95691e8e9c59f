/**
 * A solution of the uniformity analysis is a fixpoint: whatever the sweeps left out, one more of everything changes nothing. Over all fixtures and over
 * generated kernels, with every device function as it is called.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { Facts } from '../../src/analysis/function-facts.js';
import { streamFromSeed } from '../../src/generate/choices.js';
import { kernelFrom } from '../../src/generate/kernel.js';
import { initParser } from '../../src/syntax/parser.js';
import { FIXTURES } from '../helpers/fixtures.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const DEEPEST = 3;

/** The functions whose solution is none, and how many were asked. */
function unsettled(text: string): { readonly names: readonly string[]; readonly asked: number } {
  const names: string[] = [];
  let asked = 0;
  const { program, analysis } = load(text);
  const ask = (facts: FunctionFacts, depth: number): void => {
    if (!(facts instanceof Facts)) throw new Error('facts of another make');
    asked += 1;
    if (!facts.states.every((state) => state.isFixpoint())) names.push(facts.function.name);
    if (depth === DEEPEST) return;
    for (const { call, callees } of facts.calls) for (const callee of callees) if (callee.body !== null) ask(facts.callee(call, callee), depth + 1);
  };
  for (const unit of program.units.values()) for (const kernel of unit.kernels) if (kernel.body !== null) ask(analysis.kernel(kernel), 0);
  return { names, asked };
}

test('of every kernel and device function of the fixtures', () => {
  const files = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(cu|cuh)$/.test(name));
  let asked = 0;
  const wrong: string[] = [];
  for (const file of files) {
    const found = unsettled(readFileSync(join(FIXTURES, file), 'utf8'));
    asked += found.asked;
    wrong.push(...found.names.map((name) => `${file}: ${name}`));
  }
  expect(wrong).toEqual([]);
  expect(asked).toBeGreaterThan(400);
});

test('of generated kernels', () => {
  const wrong: string[] = [];
  for (let seed = 1; seed <= 150; seed++) if (unsettled(kernelFrom(streamFromSeed(seed, 400)).source).names.length > 0) wrong.push(`seed ${seed}`);
  expect(wrong).toEqual([]);
});

/** What is read before it is found: of the round before, of the loop's own end, of a call in one of several rounds, of cells. */
test.each([
  ['a chain that goes round several times', 'int a = 0, b = 0, c = 0, d = 0; for (int k = 0; k < n; ++k) { out[k] = d; d = c; c = b; b = a; a = threadIdx.x; }'],
  ['through nested loops', 'int a = 0, b = 0; for (int k = 0; k < n; ++k) { for (int j = 0; j < n; ++j) { if (b) out[j] = a; a = b; } b = in[threadIdx.x]; }'],
  ['who leaves the loop later', 'int a = 0; for (int k = 0; k < n; ++k) { if (a > 3) out[k] = 1; a += k; if (in[threadIdx.x + k]) break; }'],
  ['who comes to a call', 'int a = 0; for (int k = 0; k < n; ++k) { a = f(a, k); if (in[threadIdx.x]) { if (in[k]) continue; a = f(k, a); } if (a) return; }'],
  ['through a reference', 'int a = 0, b = 0; for (int k = 0; k < n; ++k) { g(a, b); if (b) out[k] = a; b = in[threadIdx.x] + a; }'],
  ['through a pointer', 'int a = 0, b = 0; int *p = n ? &a : &b; for (int k = 0; k < n; ++k) { if (a) out[k] = b; *p = in[threadIdx.x]; }'],
  ['with a goto', 'int a = 0; int k = 0; again: if (a) out[k] = 1; a += in[threadIdx.x]; if (++k < n) goto again;'],
])('where values are read before they are found: %s', (_, body) => {
  const { names, asked } = unsettled(`__device__ int f(int x, int y) { int s = 0; for (int j = 0; j < y; ++j) s += x; return s; }
__device__ void g(int &x, const int &y) { for (int j = 0; j < y; ++j) x += y; }
__global__ void k(int *out, const int *in, int n) { ${body} }
`);
  expect(names).toEqual([]);
  expect(asked).toBeGreaterThan(0);
});
