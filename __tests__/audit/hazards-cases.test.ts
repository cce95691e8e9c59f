/**
 * Hazards of the kernels in fixtures/cases: every expected one is found at its line (one off is allowed) with its severity, and nothing else is an error.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAnalysis } from '../../src/analysis/analyse.js';
import { auditFile } from '../../src/audit/audit.js';
import type { Hazard } from '../../src/audit/types.js';
import { initParser } from '../../src/syntax/parser.js';
import { loadProgram } from '../../src/syntax/program.js';

const folder = join(process.cwd(), 'fixtures', 'cases');

interface Expected { readonly line: number; readonly id: string; readonly severity: string; readonly why: string }

beforeAll(async () => { await initParser(); });

const names = readdirSync(folder).filter((name) => name.endsWith('.expect.json')).map((name) => name.slice(0, -'.expect.json'.length)).sort();

describe.each(names)('%s', (name) => {
  test('hazards are those expected', () => {
    const { hazards: expected } = JSON.parse(readFileSync(join(folder, `${name}.expect.json`), 'utf8')) as { readonly hazards: readonly Expected[] };
    const path = join(folder, `${name}.cu`);
    const program = loadProgram([path]);
    const unit = [...program.units.values()].find((candidate) => candidate.source.path.endsWith(`${name}.cu`));
    if (unit === undefined) throw new Error(`${name}.cu was not loaded`);
    const found: readonly Hazard[] = auditFile(unit, createAnalysis(program)).kernels.flatMap((kernel) => [...kernel.hazards]);
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
});
