/**
 * `.gitignore` and `.divmodignore`, read where they stand: a deeper file overrules a higher one, and inside a git work tree those of
 * the folders above count too.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import type { Ignore } from 'ignore';

/** The package's types describe a CommonJS module; its default export is the factory. Loaded when the first rules are met. */
function ignore(): Ignore {
  return (createRequire(import.meta.url)('ignore') as () => Ignore)();
}

const NAMES = ['.gitignore', '.divmodignore'];

export class IgnoreFiles {
  private readonly rules = new Map<string, Ignore | null>();
  private readonly chains = new Map<string, readonly string[]>();

  /** Is a file (or folder) below `root` left out? Both absolute. */
  ignores(path: string, root: string, isFolder: boolean): boolean {
    let ignored = false;
    for (const folder of this.chain(root, dirname(path))) {
      const rules = this.rulesOf(folder);
      if (rules === null) continue;
      const name = relative(folder, path).split(sep).join('/');
      if (name === '' || name.startsWith('../')) continue;
      const verdict = rules.test(isFolder ? `${name}/` : name);
      if (verdict.ignored) ignored = true;
      else if (verdict.unignored) ignored = false;
    }
    return ignored;
  }

  /** Folders whose rules count for what lies in `folder`, highest first. */
  private chain(root: string, folder: string): readonly string[] {
    const key = `${root}\0${folder}`;
    const known = this.chains.get(key);
    if (known !== undefined) return known;
    const below: string[] = [];
    for (let at = folder; ; at = dirname(at)) {
      below.unshift(at);
      if (at === root || at === dirname(at)) break;
    }
    const above: string[] = [];
    for (let at = root; ; at = dirname(at)) {
      if (at !== root) above.unshift(at);
      if (existsSync(join(at, '.git'))) break;
      if (at === dirname(at)) {
        above.length = 0;
        break;
      }
    }
    const chain = [...above, ...below];
    this.chains.set(key, chain);
    return chain;
  }

  private rulesOf(folder: string): Ignore | null {
    const known = this.rules.get(folder);
    if (known !== undefined) return known;
    let rules: Ignore | null = null;
    for (const name of NAMES) {
      try {
        const text = readFileSync(join(folder, name), 'utf8');
        rules ??= ignore();
        rules.add(text);
      } catch {
        // No such file here.
      }
    }
    this.rules.set(folder, rules);
    return rules;
  }
}
