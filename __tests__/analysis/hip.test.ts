/** HIP's wavefronts have 32 or 64 lanes: what only groups of 32 threads agree on is not one value per warp in its sources. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { AnalysisOptions } from '../../src/analysis/facts.js';
import { isHipSource } from '../../src/analysis/platform.js';
import { initParser } from '../../src/syntax/parser.js';
import { hoist } from '../../transforms/hoist.js';
import { peel } from '../../transforms/peel.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applyAll, load, outcomesOf } from '../helpers/transform.js';
import { Text } from './program.js';

beforeAll(async () => { await initParser(); });

const HIP = '#include <hip/hip_runtime.h>\n';
const BLOCK = { x: 256, y: 1, z: 1 };

function scopeOf(expr: string, hip: boolean, options: AnalysisOptions = { block: BLOCK }): string {
  const text = new Text(`${hip ? HIP : ''}__global__ void k(float *x, int n) { int lane = threadIdx.x % 32; int v = ${expr}; x[threadIdx.x] = v + lane; }\n`, options);
  const fact = text.kernel();
  const init = text.expr(expr);
  const verdict = fact.scope(init);
  return verdict.known ? verdict.value : 'unknown';
}

describe('scopes', () => {
  test.each([
    ['threadIdx.x / 32', 'lane'], ['threadIdx.x >> 5', 'lane'], ['threadIdx.x & ~31', 'lane'], ['threadIdx.x < 32', 'lane'], ['threadIdx.x > 31', 'lane'], ['threadIdx.x - lane', 'lane'],
    ['threadIdx.x / 64', 'warp'], ['threadIdx.x >> 6', 'warp'], ['threadIdx.x < 64', 'warp'], ['threadIdx.x > 127', 'warp'], ['threadIdx.x / warpSize', 'warp'],
    ['threadIdx.x % warpSize', 'lane'], ['__shfl(n + threadIdx.x, 0, 32)', 'lane'], ['blockIdx.x', 'block'],
  ])('%s is %s in a HIP source', (expr, scope) => {
    expect(scopeOf(expr, true)).toBe(scope);
  });

  test.each(['threadIdx.x / 32', 'threadIdx.x >> 5', 'threadIdx.x & ~31', 'threadIdx.x < 32', 'threadIdx.x > 31', 'threadIdx.x - lane', 'threadIdx.x / warpSize'])('%s is one value per warp in CUDA', (expr) => {
    expect(scopeOf(expr, false)).toBe('warp');
  });

  test('rows of 32 threads are no wavefronts, those of 64 are', () => {
    const rows = (x: number): AnalysisOptions => ({ block: { x, y: 4, z: 1 } });
    expect(scopeOf('threadIdx.y', false, rows(32))).toBe('warp');
    expect(scopeOf('threadIdx.y', true, rows(32))).toBe('lane');
    expect(scopeOf('threadIdx.y', true, rows(64))).toBe('warp');
  });

  test('conditions evaluated thread by thread are compared over 64 threads', () => {
    const condition = 'threadIdx.x < 64 && threadIdx.x * 2 < 64';
    expect(scopeOf(condition, false)).toBe('warp');
    expect(scopeOf(condition, true)).toBe('lane');
  });

  test('warpSize is 32 in CUDA and 32 or 64 in HIP', () => {
    for (const hip of [false, true]) {
      const text = new Text(`${hip ? HIP : ''}__global__ void k(float *x) { int w = warpSize; x[w] = 0; }\n`);
      expect(text.kernel().constant(text.expr('warpSize'))).toBe(hip ? null : 32n);
      expect(text.kernel().range(text.expr('warpSize'))).toEqual({ low: 32n, high: hip ? 64n : 32n });
    }
  });
});

describe('which files are HIP\'s', () => {
  test.each([
    ['#include <hip/hip_runtime.h>', true], ['#include "hip/hip_runtime.h"', true], ['#include <hipcub/hipcub.hpp>', true], ['#include <cuda_runtime.h>', false],
    ['void host(float *d) { hipLaunchKernelGGL(k, dim3(1), dim3(64), 0, 0, d); }', true], ['void host(float **d) { hipMalloc(d, 4); }', true], ['int hips; void hipster() {}', false],
  ])('%s', (line, is) => {
    const text = new Text(`${line}\n__global__ void k(float *x) { *x = 0; }\n`);
    expect(isHipSource(text.program, text.unit)).toBe(is);
  });

  test('what a HIP file includes is HIP\'s too', () => {
    const text = new Text('#include "other.cuh"\n__global__ void k(float *x) { *x = 0; }\n', {}, { 'other.cuh': HIP });
    expect(isHipSource(text.program, text.unit)).toBe(true);
  });
});

const LOOP = (condition: string): string => `__global__ void __block_size__(256) k(float *x, int n, int m) {
    for (int i = 0; i < n; ++i) {
        float v = x[i * 256 + threadIdx.x];
        if (${condition})
            v = v * 2.f + 1.f;
        v += __shfl_xor_sync(0xffffffff, v, 1);
        x[i * 256 + threadIdx.x] = v;
    }
}
`;
const COUNTED = `__global__ void k(float *x, int n, int from) {
    float sum = 0.f;
    for (int i = threadIdx.x / 32; i < n; i += 8) {
        if (i * 32 + threadIdx.x % 32 < from)
            sum += x[i * 32 + threadIdx.x % 32];
        sum += __shfl_xor_sync(0xffffffff, sum, 1);
    }
    x[threadIdx.x] = sum;
}
`;

describe('loops that hold a collective', () => {
  const OPTIONS: AnalysisOptions = { block: BLOCK };

  test.each(['threadIdx.x / 32 == 0', 'threadIdx.x / 64 == 0'])('hoist takes %s out of the loop in CUDA, not in HIP', (condition) => {
    expect(applyAll(hoist as Transform, LOOP(condition), { analysis: OPTIONS, evenIfItLoses: true }).text).not.toBe(LOOP(condition));
    const [outcome] = outcomesOf(hoist as Transform, load(HIP + LOOP(condition), OPTIONS));
    const refused = outcome?.obligations.find((obligation) => obligation.status !== 'proved' && obligation.status !== 'assumed');
    expect(refused?.id).toBe('no-barrier-under-divergence');
    expect(refused?.text).toContain('wavefronts of HIP have 32 or 64 lanes');
  });

  test('what the block agrees on leaves the loop in both', () => {
    expect(applyAll(hoist as Transform, HIP + LOOP('m > 3'), { analysis: OPTIONS, evenIfItLoses: true }).text).not.toBe(HIP + LOOP('m > 3'));
  });

  test('peel splits a loop that warps count by themselves in CUDA, not in HIP', () => {
    const cuda = outcomesOf(peel as Transform, load(COUNTED, OPTIONS))[0];
    const hip = outcomesOf(peel as Transform, load(HIP + COUNTED, OPTIONS))[0];
    expect(cuda?.obligations.find(({ id }) => id === 'bound-scope')?.status).toBe('proved');
    expect(hip?.obligations.find(({ id }) => id === 'bound-scope')).toMatchObject({ status: 'refuted', text: expect.stringContaining('32 or 64 lanes in HIP') });
  });
});
