/** Loops over arrays run equally often for every thread; what they are over otherwise is an object's own affair. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { auditFile } from '../../src/audit/audit.js';
import { initParser } from '../../src/syntax/parser.js';
import type { Stmt } from '../../src/syntax/tree.js';
import { hoist } from '../../transforms/hoist.js';
import type { Transform } from '../../transforms/lib/types.js';
import { load, outcomesOf } from '../helpers/transform.js';
import { Text } from './program.js';

beforeAll(async () => { await initParser(); });

const OWN = 'float a[8]; for (int i = 0; i < 8; ++i) a[i] = o[i * threadIdx.x];';

function loopOf(text: Text, name = 'k'): Extract<Stmt, { kind: 'range-for' }> {
  const body = text.fn(name).body;
  const loop = body?.body.find((stmt) => stmt.kind === 'range-for');
  if (loop?.kind !== 'range-for') throw new Error('no range-for');
  return loop;
}

describe('over an array', () => {
  test.each([
    ['of the thread', OWN, 'a'], ['shared', '__shared__ float a[8]; a[threadIdx.x & 7] = o[threadIdx.x]; __syncthreads();', 'a'], ['constant', '', 'weights'], ['in a parameter', '', 'h.a'],
  ])('%s: every thread leaves in the same round', (_, before, range) => {
    const text = new Text(`struct H { float a[8]; };\n__constant__ float weights[8];\n__global__ void k(float *o, H h) { ${before} float s = 0.f; int n = 0;\n for (float v : ${range}) { __syncthreads(); s += v; ++n; }\n o[threadIdx.x] = s; o[n] = 1.f; }\n`);
    const facts = text.kernel();
    const loop = loopOf(text);
    expect(facts.loopExit(loop)).toMatchObject({ value: 'constant', known: true });
    expect(facts.trips(loop)).toEqual({ count: 8, origin: 'constant' });
    expect(facts.scope(text.expr('n', 'k'))).toMatchObject({ known: true, value: 'grid' });
  });

  test('of a caller, by reference', () => {
    const text = new Text(`__device__ void g(float *o, const float (&a)[8]) { int n = 0;\n for (float v : a) { __syncthreads(); o[threadIdx.x] += v; ++n; }\n o[n] = 1.f; }\n__global__ void k(float *o) { ${OWN} g(o, a); }\n`);
    const facts = text.analysis.everyCall(text.fn('g'));
    expect(facts.loopExit(loopOf(text, 'g'))).toMatchObject({ value: 'constant', known: true });
    expect(facts.effects(loopOf(text, 'g')).unknownCalls).toEqual([]);
  });

  test('a barrier inside is no hazard, though the elements differ between threads', () => {
    const { unit, analysis } = load(`__global__ void k(float *o) { ${OWN} float s = 0.f; for (float v : a) { __syncthreads(); s += v; } o[threadIdx.x] = s; }\n`);
    expect(auditFile(unit, analysis).kernels.flatMap((kernel) => kernel.hazards.map((hazard) => hazard.id))).toEqual([]);
  });

  test('a break that threads take at different times still parts them', () => {
    const text = new Text(`__global__ void k(float *o) { ${OWN} int n = 0;\n for (float v : a) { if (v > 1.f) break; ++n; }\n o[n] = 1.f; }\n`);
    expect(text.kernel().loopExit(loopOf(text)).value).toBe('lane');
  });

  test('hoist copies it', () => {
    const outcomes = outcomesOf(hoist as Transform, load(`__global__ void k(float *o, bool f) { ${OWN} float s = 0.f;\n for (float v : a) { __syncthreads(); if (f) s += v; else s -= v; }\n o[threadIdx.x] = s; }\n`), { evenIfItLoses: true });
    expect(outcomes.map((outcome) => outcome.status)).toContain('applied');
  });
});

describe('over an object', () => {
  test.each(['struct R { float *begin(); float *end(); };', 'struct R;'])('%s: its iterators are called', (record) => {
    const text = new Text(`${record}\n__global__ void k(float *o, R &r) { int n = 0;\n for (float v : r) { o[threadIdx.x] += v; ++n; }\n o[n] = 1.f; }\n`);
    const facts = text.kernel();
    expect(facts.effects(loopOf(text)).unknownCalls).not.toEqual([]);
    expect(facts.loopExit(loopOf(text)).known).toBe(false);
  });
});
