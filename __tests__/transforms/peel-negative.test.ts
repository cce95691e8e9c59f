/**
 * Counters and bases below zero: halos around a tile, unsigned numbers that are converted to `int`, loops that count down past zero. Peel and ballot
 * must leave what the kernel did, and a difference of block or thread numbers is never taken to be at least zero.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { ballot } from '../../transforms/ballot.js';
import { peel } from '../../transforms/peel.js';
import { applyAll, load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

function kernel(setup: string, head: string, body: string, types: string): string {
  const [n, w] = types.split(',');
  return `__global__ void kern(const int *a, unsigned *o, ${n ?? 'int'} n, ${w ?? 'int'} w)
{
    unsigned s = 1u;
    ${setup}
    for (${head}) {
        ${body}
        s = s * 31u + 7u;
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
`;
}

const IN = 's += (unsigned)a[(unsigned)g % 64u] + 3u;';
const CASES: readonly (readonly [string, string, string, string, string])[] = [
  ['the base of a tile with a halo', 'const int x0 = blockIdx.x * 8 - 2;', 'int x = threadIdx.x; x < 12; x += blockDim.x', `int g = x0 + x; if (g >= 0 && g < n) { ${IN} }`, 'int,int'],
  ['the same with the size of the block', 'int base = blockIdx.x * blockDim.x - 3;', 'int x = threadIdx.x; x < 40; x += blockDim.x', `int g = base + x; if (g >= 0 && g < n) { ${IN} }`, 'int,int'],
  ['a base that is unsigned first', 'unsigned u = blockIdx.x * 4 - 2; int c0 = (int)u;', 'int x = 0; x < 9; ++x', `int g = c0 + x; if (g >= 0 && g < n) { ${IN} }`, 'int,int'],
  ['a start below zero', '', 'int x = threadIdx.x - w; x < n + w; x += blockDim.x', `int g = x; if (g >= 0 && g < n) { ${IN} }`, 'int,int'],
  ['a start below zero, by an unsigned radius', '', 'int x = threadIdx.x - w; x < n; x += 4', `int g = x; if (g >= 0) { ${IN} }`, 'int,unsigned'],
  ['an unsigned parameter less a constant', '', 'int x = n - 8; x <= (int)n; x += 3', 'if (w >= x * 2 + 1) s += 5u;', 'unsigned,unsigned'],
  ['an unsigned parameter as it is', '', 'int x = w; x < 4; ++x', 'if (x < n) s += 9u;', 'int,unsigned'],
  ['an unsigned step that is negative', '', 'int x = 12; x > -9 && x < 40; x += w', 'if (x < 0 || x >= n) s += 9u;', 'int,unsigned'],
  ['down to a parameter', '', 'int x = n - 1; x > w; x--', 'if (x < -2) s += 5u;', 'int,int'],
  ['down to a parameter, per thread', '', 'int x = n - 1; x > w; x--', 'if (x + (int)threadIdx.x >= 8) s += 5u; else s ^= 11u;', 'int,int'],
  ['down through a window', 'int y = blockIdx.x * 4;', 'int x = 5; x >= -5; --x', `int g = y + x; if (g < n) { ${IN} }`, 'int,int'],
  ['down, one special iteration', '', 'int x = 20; x > w; --x', 'if (x + (int)threadIdx.x == n + 1) s += 5u;', 'int,int'],
];

describe.each([['peel', peel], ['ballot', ballot]] as const)('%s', (_name, transform) => {
  test.each(CASES)('%s', (_case, setup, head, body, types) => {
    const before = kernel(setup, head, body, types);
    const run = applyAll(transform, before, { evenIfItLoses: true });
    if (run.rounds === 0) return;
    for (const n of [-7, -1, 0, 3, 6, 20]) {
      for (const w of [-9, -3, 0, 2, 5]) {
        const value = (number: number, type: string | undefined): number => (type === 'unsigned' ? number >>> 0 : number);
        const verdict = verifyEquivalent(load(before).program, load(run.text).program, 'kern', {
          blocks: [[32, 1, 1]], grids: [[2, 1, 1]], sizes: [64], seeds: [1], schedules: [0], budgetMs: 1000,
          arguments: new Map([['n', { kind: 'value', value: value(n, types.split(',')[0]) }], ['w', { kind: 'value', value: value(w, types.split(',')[1]) }]]),
        });
        if (verdict.status === 'different') throw new Error(`n ${n}, w ${w}\n${run.text}`);
      }
    }
  }, 60_000);
});

test('halos are peeled, with both edges asked', () => {
  const [, setup, head, body, types] = CASES[0] ?? [];
  const run = applyAll(peel, kernel(setup ?? '', head ?? '', body ?? '', types ?? ''), { evenIfItLoses: true });
  expect(run.text).toContain('x0 >= 0');
});

test('a sum of block and thread numbers stays at least zero, under the grant', () => {
  const code = kernel('int stride = blockDim.x * gridDim.x;', 'int x = blockIdx.x * blockDim.x + threadIdx.x; x < n; x += stride', 'if (x >= 0 && x + 4 < n) s += 5u;', 'int,int');
  const run = applyAll(peel, code, { evenIfItLoses: true });
  expect(run.rounds).toBeGreaterThan(0);
  const exact = run.first.flatMap((outcome) => outcome.obligations).find((obligation) => obligation.id === 'guard-exact');
  expect(exact?.status).toBe('assumed');
});
