/**
 * What is said before beside what was measured: the estimate of every program of bench/gpu/pays, against bench/gpu/pays/results.json, which
 * `node bench/gpu/pays.mjs --write` measures anew on a machine with a GPU.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parseTransformSpecs } from '../../src/project/transform-spec.js';
import { initParser } from '../../src/syntax/parser.js';
import { transforms } from '../../transforms/index.js';
import type { Estimate, Outcome, Transform } from '../../transforms/lib/types.js';
import { load, outcomesOf } from '../helpers/transform.js';

const FOLDER = path.join(import.meta.dirname, '..', '..', 'bench', 'gpu', 'pays');
/** Speed-ups nearer to 1 than this are noise. */
const NOISE = 0.03;
/** An estimate may be off by this factor at most, either way. */
const OFF = 1.5;

interface Measured { readonly name: string; readonly speedup: number }

function measuredSpeedups(): readonly Measured[] {
  const rows: unknown = JSON.parse(readFileSync(path.join(FOLDER, 'results.json'), 'utf8'));
  if (!Array.isArray(rows)) throw new Error('results.json is no list');
  return rows.flatMap((row: unknown) => (typeof row === 'object' && row !== null && 'name' in row && 'speedup' in row && typeof row.name === 'string' && typeof row.speedup === 'number' ? [{ name: row.name, speedup: row.speedup }] : []));
}

interface Program { readonly name: string; readonly text: string; readonly transform: Transform; readonly variant: string | null; readonly options: ReadonlyMap<string, string>; readonly forced: boolean }

function programs(): readonly Program[] {
  return readdirSync(FOLDER).filter((file) => file.endsWith('.cu') && !file.endsWith('.hand.cu')).sort().map((file) => {
    const text = readFileSync(path.join(FOLDER, file), 'utf8');
    const [spec = '', ...flags] = (/^\/\/ apply: (.+)$/m.exec(text)?.[1] ?? '').trim().split(/\s+/);
    const [parsed] = parseTransformSpecs([spec]);
    const transform = transforms.find((one) => one.name === parsed?.name);
    if (parsed === undefined || transform === undefined) throw new Error(`${file}: no transform in its first line`);
    return { name: file.slice(0, -'.cu'.length), text, transform, variant: parsed.variant, options: parsed.options, forced: flags.includes('--even-if-it-loses') };
  });
}

function site({ name, text, transform, variant, options }: Program): Outcome {
  const found = outcomesOf(transform, load(text), { variant, options }).filter((outcome) => outcome.status === 'applied' || outcome.status === 'skipped');
  const [first] = found;
  if (first === undefined) throw new Error(`${name}: no legal site`);
  return first;
}

function estimateOf(outcome: Outcome): Estimate {
  if (outcome.estimate === null) throw new Error('no estimate');
  return outcome.estimate;
}

beforeAll(async () => { await initParser(); });

describe('estimates beside what one H200 measured', () => {
  const measured = new Map(measuredSpeedups().map(({ name, speedup }) => [name, speedup]));

  test('there are measurements, and each is of a program that is there', () => {
    expect(measured.size).toBeGreaterThanOrEqual(16);
    const names = new Set(programs().map(({ name }) => name));
    expect([...measured.keys()].filter((name) => !names.has(name))).toEqual([]);
  });

  test.each(programs().map((program) => [program.name, program] as const))('%s', (name, program) => {
    const outcome = site(program);
    const { speedup, pays, low, high, breakEven, reason } = estimateOf(outcome);
    // A program says in its first line whether it has to be forced, which is what the estimate says.
    expect({ pays, status: outcome.status }).toEqual({ pays: !program.forced, status: program.forced ? 'skipped' : 'applied' });
    expect(low).toBeLessThanOrEqual(speedup);
    expect(high).toBeGreaterThanOrEqual(speedup);
    expect(reason).not.toBe('');
    expect(breakEven).not.toBeNull();
    const was = measured.get(name);
    if (was === undefined) return;
    const said = `${name}: estimated ${speedup}, measured ${was.toFixed(2)}`;
    if (Math.abs(was - 1) > NOISE) expect(`${said}: ${speedup > 1 ? 'gains' : 'loses'}`).toBe(`${said}: ${was > 1 ? 'gains' : 'loses'}`);
    // Where it loses, it is said before, and nothing is applied unasked.
    if (was < 1 - NOISE) expect(`${said}: ${pays ? 'pays' : 'does not pay'}`).toBe(`${said}: does not pay`);
    const off = Math.exp(Math.abs(Math.log(speedup / was)));
    expect(`${said}: ${off <= OFF ? 'near' : `off by ${off.toFixed(2)}`}`).toBe(`${said}: near`);
  });

  test('all together: off by a quarter at the median', () => {
    const off = programs().flatMap((program) => {
      const was = measured.get(program.name);
      return was === undefined ? [] : [Math.exp(Math.abs(Math.log(estimateOf(site(program)).speedup / was)))];
    }).sort((a, b) => a - b);
    expect(off[off.length >> 1]).toBeLessThan(1.25);
  });
});
