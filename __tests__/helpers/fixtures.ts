/**
 * Fixtures of transforms: `fixtures/<transform>/{ok,refuse,skip,missed}-*.cu`, with `ok-*.out.cu` beside each `ok`. A comment line
 * `// apply: compact:grid,order=keep --block 64` at the top names the variant, its options and what the user would have to say besides.
 * `// builds: TILE=3; TILE=8 R=1` lists values of constants for which the output must do what the input does, too.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AnalysisOptions } from '../../src/analysis/facts.js';
import { parseShape } from '../../src/analysis/launch-facts.js';
import { parseTransformSpecs } from '../../src/project/transform-spec.js';
import { grantsInForce } from '../../transforms/lib/grants.js';
import type { RunOptions } from './transform.js';

export const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'fixtures');

export type FixtureKind = 'ok' | 'refuse' | 'skip' | 'missed';

export interface Fixture {
  readonly transform: string;
  readonly kind: FixtureKind;
  readonly name: string;
  readonly path: string;
  readonly text: string;
  /** Expected text of an `ok` fixture; null if the file is not there. */
  readonly expected: string | null;
  /** The obligation that a line `// refuses: …` at the top of a `refuse` fixture names. */
  readonly refuses: string | null;
  /** What `// apply: …` at the top asks for; the transform as it is if there is none. */
  readonly options: RunOptions;
  /** Other values of the fixture's constants, one table for each build that `// builds: …` lists. */
  readonly builds: readonly ReadonlyMap<string, string>[];
}

/** Comment lines at the top. */
function headOf(text: string): readonly string[] {
  const lines = text.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  return end < 0 ? lines : lines.slice(0, end);
}

function optionsOf(transform: string, name: string, head: readonly string[]): RunOptions {
  const line = head.find((one) => one.startsWith('// apply: '));
  if (line === undefined) return {};
  const [spec = '', ...words] = line.slice('// apply: '.length).trim().split(/\s+/);
  const flags = words.filter((word) => word !== '--even-if-it-loses');
  const parsed = parseTransformSpecs([spec])[0];
  if (parsed === undefined || parsed.name !== transform) throw new Error(`${name}: // apply: names another transform`);
  const allow: string[] = [];
  const deny: string[] = [];
  let analysis: AnalysisOptions = {};
  for (let i = 0; i < flags.length; i += 2) {
    const value = flags[i + 1] ?? '';
    const shape = parseShape(value);
    if (flags[i] === '--allow') allow.push(value);
    else if (flags[i] === '--deny') deny.push(value);
    else if (flags[i] === '--block' && shape !== null) analysis = { ...analysis, block: shape };
    else throw new Error(`${name}: // apply: does not know ${flags[i] ?? ''} ${value}`);
  }
  return { variant: parsed.variant, options: parsed.options, analysis, grants: grantsInForce(allow, deny), evenIfItLoses: flags.length < words.length };
}

function buildOf(text: string): ReadonlyMap<string, string> {
  return new Map(text.trim().split(/\s+/).map((word): readonly [string, string] => {
    const [name = '', value = ''] = word.split('=');
    return [name, value];
  }));
}

/** The text as another build sees it: `-D` where the text asks for it (`#ifndef`), another definition in it elsewhere. */
export function builtWith(text: string, values: ReadonlyMap<string, string>): string {
  let result = text;
  for (const [name, value] of values) {
    if (new RegExp(`(?:#ifndef ${name}|!defined\\(${name}\\))`).test(text)) result = `#define ${name} ${value}\n${result}`;
    else {
      const changed = result.replace(new RegExp(`((?:#define ${name} |\\b${name} = ))\\d+`), `$1${value}`);
      if (changed === result && !new RegExp(`\\b${name}(?: =)? ${value}\\b`).test(text)) throw new Error(`nothing defines ${name}`);
      result = changed;
    }
  }
  return result;
}

/** Fixtures of one transform, sorted by name. */
export function fixturesOf(transform: string): readonly Fixture[] {
  const folder = join(FIXTURES, transform);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.cu') && !name.endsWith('.out.cu')).sort();
  return names.flatMap((name) => {
    const match = /^(ok|refuse|skip|missed)-/.exec(name);
    if (match === null) return [];
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    const head = headOf(text);
    const out = path.replace(/\.cu$/, '.out.cu');
    return [{
      transform,
      kind: match[1] as FixtureKind,
      name,
      path,
      text,
      expected: existsSync(out) ? readFileSync(out, 'utf8') : null,
      refuses: head.flatMap((line) => /^\/\/ refuses: ([\w-]+)/.exec(line)?.[1] ?? [])[0] ?? null,
      options: optionsOf(transform, name, head),
      builds: head.flatMap((line) => /^\/\/ builds: (.+)/.exec(line)?.[1]?.split(';') ?? []).map(buildOf),
    }];
  });
}
