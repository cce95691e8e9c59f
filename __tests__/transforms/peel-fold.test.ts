/**
 * A guard over all that a loop does becomes the loop's test. Loops are drawn at random from counters, steps, guards and the ways people write
 * them; what comes out must do what went in, for lengths below zero and, where nothing was granted, at the ends of the types too.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { peel } from '../../transforms/peel.js';
import { applyAll, load, type Run } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

/** A stream of choices from a seed (mulberry32). */
function chooser(seed: number): <T>(items: readonly T[]) => T {
  let state = seed >>> 0;
  return <T>(items: readonly T[]): T => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    const item = items[((t ^ (t >>> 14)) >>> 0) % items.length];
    if (item === undefined) throw new Error('nothing to choose from');
    return item;
  };
}

interface Drawn { readonly code: string; readonly types: readonly [string, string] }

function draw(seed: number): Drawn {
  const one = chooser(seed);
  const [length, other] = [one(['int', 'int', 'int', 'unsigned', 'long long', 'size_t']), one(['int', 'int', 'unsigned'])];
  const counter = one(['int', 'int', 'int', 'unsigned', 'long long', 'short']);
  const index = one(['int', 'int', 'const int', 'unsigned', 'long long', 'size_t', 'auto']);
  const step = one(['k += blockDim.x', 'k += 8', '++k', 'k += w', 'k = k + 4', 'k += (int)blockDim.x']);
  const down = one([false, false, false, true]);
  const [start, test, move] = down
    ? [one(['n - 1', '20', 'w + 9']), one(['k >= 0', 'k > w', 'k >= -4']), one(['--k', 'k -= 3', 'k -= blockDim.x'])]
    : [one(['0', 'threadIdx.x', 'tid', 'w', 'blockIdx.x * blockDim.x', '-3']), one(['k < n', 'k <= n', 'n > k', 'k < n + 3', 'k < 40', 'k < w', 'k < n && w < 30', 'true', 'k != n']), step];
  const value = one(['k + threadIdx.x', 'k + tid', 'k + (int)threadIdx.x', 'k * 2 + 1', 'k', 'k + w', 'k - w', 'base + k', 'tid - k', '(int)threadIdx.x - k', 'k + (threadIdx.x & 7)']);
  const bound = one(['n', 'n', 'n', 'w', 'n - 1', '24', 'n / 2']);
  const [op, flipped] = one([['<', '>='], ['<=', '>'], ['>', '<='], ['>=', '<']] as const);
  const named = one([true, true, false]);
  const i = named ? 'i' : `(${value})`;
  const work = `s = s * 31u + (unsigned)a[(unsigned)(${i}) % 64u] + (unsigned)k;`;
  const guarded = one([
    `if (${i} ${op} ${bound}) { ${work} }`, `if (!(${i} ${flipped} ${bound})) ${work}`, `if (${i} ${flipped} ${bound}) continue; ${work}`, `if (${i} ${flipped} ${bound}) break; ${work}`,
    `if (${bound} ${op} ${i} && a[k & 63] != 5) { ${work} }`, `if (w < 20 && ${i} ${op} ${bound}) { ${work} }`, `if (${i} ${op} ${bound}) { if (a[k & 63] & 1) { ${work} } else s ^= 9u; }`,
    `if (${i} ${op} ${bound}) { ${work} } else if (w == 77) { s++; }`, `if (${i} ${op} ${bound} && ${i} ${op} n + w) { ${work} }`,
  ]);
  // A `continue` would pass by what moves the counter of a `while`.
  const loops = one([true, true, true, false]) || guarded.includes('continue') ? 'for' : 'while';
  const body = `${named ? `${index} i = ${value};` : ''} ${guarded}`;
  const inside = one([true, true, false]) && loops === 'for';
  const endless = test === 'true' && !guarded.includes('break') ? 'k < 50' : test;
  const declared = inside ? '' : `${counter} k = ${start};`;
  const loop = loops === 'for' ? `for (${inside ? `${counter} k = ${start}` : ''}; ${endless}; ${move}) { ${body} }` : `while (${endless}) { ${body} ${move}; }`;
  const after = !inside && one([true, false, false]) ? 's += (unsigned)k;' : '';
  return {
    types: [length, other],
    code: `__global__ void kern(const int *a, unsigned *o, ${length} n, ${other} w)
{
    unsigned s = 1u;
    int tid = threadIdx.x;
    int base = blockIdx.x * blockDim.x;
    ${declared}
    ${loop}
    ${after}
    o[base + tid] = s + (unsigned)(base & 0);
}
`,
  };
}

const LENGTHS: readonly bigint[] = [-6n, -1n, 0n, 1n, 5n, 33n, 64n];
const ENDS: readonly bigint[] = [2147483640n, -2147483640n, 4294967290n];

/** The number as the type takes it. */
function inType(value: bigint, type: string): bigint {
  return type === 'int' ? BigInt.asIntN(32, value) : type === 'unsigned' ? BigInt.asUintN(32, value) : type === 'size_t' ? BigInt.asUintN(64, value) : value;
}

function compare(code: string, run: Run, [length, other]: readonly [string, string], lengths: readonly bigint[], budgetMs: number): void {
  for (const n of lengths) {
    for (const w of [-3n, 0n, 2n, 40n]) {
      const verdict = verifyEquivalent(load(code).program, load(run.text).program, 'kern', {
        blocks: [[16, 1, 1]], grids: [[2, 1, 1]], sizes: [64], seeds: [1], schedules: [0], budgetMs,
        arguments: new Map([['n', { kind: 'value', value: Number(inType(n, length)) }], ['w', { kind: 'value', value: Number(inType(w, other)) }]]),
      });
      if (verdict.status === 'different') throw new Error(`n ${n}, w ${w}\n${code}\n${run.text}`);
    }
  }
}

const SEEDS = Number(process.env['FOLD_SEEDS'] ?? '32');
const FIRST = Number(process.env['FOLD_FIRST'] ?? '1');

describe('loops at random', () => {
  let folded = 0;

  test.each(Array.from({ length: 4 }, (_, part) => [part]))('part %i', (part) => {
    for (let seed = FIRST + part; seed < FIRST + SEEDS; seed += 4) {
      const { code, types } = draw(seed);
      const run = applyAll(peel, code, { evenIfItLoses: true });
      if (run.rounds === 0) continue;
      if ((run.text.match(/\b(?:for|while) \(/g) ?? []).length === 1) folded++;
      compare(code, run, types, LENGTHS, 60);
      const granted = run.first.some((outcome) => outcome.status === 'applied' && outcome.obligations.some(({ status, grant }) => status === 'assumed' && grant === 'index-range'));
      if (!granted) compare(code, run, types, ENDS, 20);
    }
  }, 300_000);

  test('many of them stay one loop', () => {
    expect(folded).toBeGreaterThan(SEEDS / 32);
  });
});
