/**
 * Fixtures of transforms: `fixtures/<transform>/{ok,refuse,skip,missed}-*.cu`, with `ok-*.out.cu` beside each `ok`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

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
  /** The obligation that the first line of a `refuse` fixture names. */
  readonly refuses: string | null;
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
    const out = path.replace(/\.cu$/, '.out.cu');
    return [{
      transform,
      kind: match[1] as FixtureKind,
      name,
      path,
      text,
      expected: existsSync(out) ? readFileSync(out, 'utf8') : null,
      refuses: /^\/\/ refuses: ([\w-]+)/.exec(text)?.[1] ?? null,
    }];
  });
}
