/**
 * Hazards of the kernels in fixtures/cases: every expected one is found at its line (one off is allowed) with its id and severity, and nothing else is an error. Traps that
 * say more than "no error there" are tests of their own: every `mustNotFlag` text must be one that is accounted for here.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAnalysis } from '../../src/analysis/analyse.js';
import { auditFile } from '../../src/audit/audit.js';
import type { Hazard } from '../../src/audit/types.js';
import { initParser } from '../../src/syntax/parser.js';
import { loadProgram } from '../../src/syntax/program.js';
import { temporaryFolder } from '../helpers/temporary.js';

const folder = join(process.cwd(), 'fixtures', 'cases');

/** What a trap forbids besides an error: hazards (of any severity) that a predicate describes. Traps without an entry are only about errors. */
interface Trap { readonly text: string; readonly forbids?: (hazard: Hazard) => boolean }

const near = (line: number) => (hazard: Hazard): boolean => Math.abs(hazard.line - line) <= 1;
const saysHang = (hazard: Hazard): boolean => /dead-?lock|hang/i.test(hazard.message);

const TRAPS: Readonly<Record<string, readonly Trap[]>> = {
  '03-opportunistic-group-ok': [{ text: 'L10 as error' }],
  '05-short-warp-reduce': [
    { text: 'L7 as a hang/deadlock', forbids: saysHang },
    // The launch is changed to whole warps below.
    { text: 'L7 when every visible launch has a multiple of 32 threads (then: none, or note when the block size is unknown)' },
  ],
  '08-exit-before-barrier': [{ text: 'L14/L34 as certain deadlock', forbids: saysHang }],
  '10-uniform-load-or-lane-load': [{ text: 'L14 and L16: L11 is block-uniform', forbids: (hazard) => [14, 16].includes(hazard.line) }],
  '12-unswitch-uniform-flag': [{ text: 'L27, L32', forbids: (hazard) => near(27)(hazard) || near(32)(hazard) }],
  '15-causal-tail-peel': [{ text: 'L20', forbids: near(20) }],
  '17-matmul-k-tail': [{ text: 'L17, L20: L14 is grid-uniform and the guards do not enclose barriers', forbids: (hazard) => near(17)(hazard) || near(20)(hazard) }],
  '20-walker-process-switch': [{ text: 'L28 as a mask or barrier problem', forbids: near(28) }],
  '28-both-arms-shuffle': [{ text: 'L9/L13 as error when min arch >= 70' }],
  '31-volatile-lockstep-tail': [{ text: 'L15: outside L13', forbids: (hazard) => hazard.line === 15 }],
  '38-kernel-text-in-raw-string': [{ text: 'anything inside the raw string, the block comment or the string literal', forbids: () => true }],
  '46-kernel-qualifier-gaps': [{ text: 'L32', forbids: near(32) }],
};

interface Expected { readonly line: number; readonly id: string; readonly severity: string; readonly why: string }

beforeAll(async () => { await initParser(); });

interface Expectations { readonly hazards: readonly Expected[]; readonly mustNotFlag: readonly string[] }

function expectations(name: string): Expectations {
  return JSON.parse(readFileSync(join(folder, `${name}.expect.json`), 'utf8')) as Expectations;
}

function hazardsOf(path: string, name: string): readonly Hazard[] {
  const program = loadProgram([path]);
  const unit = [...program.units.values()].find((candidate) => candidate.source.path.endsWith(`${name}.cu`));
  if (unit === undefined) throw new Error(`${name}.cu was not loaded`);
  return auditFile(unit, createAnalysis(program)).kernels.flatMap((kernel) => [...kernel.hazards]);
}

const names = readdirSync(folder).filter((name) => name.endsWith('.expect.json')).map((name) => name.slice(0, -'.expect.json'.length)).sort();

describe.each(names)('%s', (name) => {
  test('hazards are those expected', () => {
    const { hazards: expected } = expectations(name);
    const found = hazardsOf(join(folder, `${name}.cu`), name);
    const show = (hazard: { readonly line: number; readonly id: string; readonly severity: string }): string => `${hazard.line} ${hazard.severity} ${hazard.id}`;
    const matches = (one: Expected, hazard: Hazard): boolean => hazard.id === one.id && hazard.severity === one.severity && Math.abs(hazard.line - one.line) <= 1;
    expect(expected.filter((one) => !found.some((hazard) => matches(one, hazard))).map(show)).toEqual([]);
    expect(found.filter((hazard) => hazard.severity === 'error' && !expected.some((one) => matches(one, hazard))).map((hazard) => `${show(hazard)}: ${hazard.message}`)).toEqual([]);
    for (const hazard of found) {
      expect(hazard.message).not.toBe('');
      expect(hazard.repair).not.toBe('');
      expect(hazard.because.length).toBeGreaterThan(0);
    }
  });

  test('no trap is flagged', () => {
    const { mustNotFlag } = expectations(name);
    const traps = TRAPS[name] ?? [];
    expect(traps.map((trap) => trap.text)).toEqual(mustNotFlag);
    const found = hazardsOf(join(folder, `${name}.cu`), name);
    for (const { text, forbids } of traps) expect([text, forbids === undefined ? [] : found.filter(forbids).map((hazard) => `${hazard.line} ${hazard.severity} ${hazard.id}`)]).toEqual([text, []]);
  });
});

test('a reduction over short warps is right where every launch has whole warps', () => {
  const text = readFileSync(join(folder, '05-short-warp-reduce.cu'), 'utf8');
  expect(text).toContain('48');
  const path = join(temporaryFolder('divmod-hazards-'), '05-short-warp-reduce.cu');
  writeFileSync(path, text.replaceAll('48', '64'));
  expect(hazardsOf(path, '05-short-warp-reduce').filter((hazard) => hazard.line === 7 && hazard.severity !== 'note')).toEqual([]);
});

test('every kernel of the folder has expectations, and the other way round', () => {
  const kernels = readdirSync(folder).filter((name) => name.endsWith('.cu')).map((name) => name.slice(0, -'.cu'.length)).sort();
  expect(kernels).toEqual(names);
  expect(names.length).toBeGreaterThanOrEqual(27);
});
