/**
 * Files beside those of a run that include one of them: they may launch its kernels and call its functions, and nothing that the run
 * sees speaks for them. Looked for below the folder of the file; for a header in a git work tree, in all of that.
 */
import { readdirSync, readFileSync, realpathSync, type Dirent } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { workTreeOf } from '../rewrite/git-guard.js';
import type { FunctionDecl, Program } from '../syntax/tree.js';

/** Sources and headers of CUDA and C++. */
const SOURCE = /\.(?:cuh?|hip|c|cc|cpp|cxx|h|hh|hpp|hxx|inl|inc)$/i;

/** Files that are compiled by themselves: another that includes one stands near it. */
const MAIN = /\.(?:cu|hip|c|cc|cpp|cxx)$/i;

/** Folders and files looked at for one folder; a larger tree is searched as far as this goes. */
const MOST_ENTRIES = 20_000;
const SKIPPED = new Set(['.git', 'node_modules']);

/** `#include` with the name of a file, through no macro. */
const INCLUDE = /^[ \t]*#[ \t]*include[ \t]*[<"]([^<>"\n]+)[>"]/gm;

export class UnseenIncluders {
  /** Sources below a folder with the last parts and the whole names of what they include. */
  private readonly trees = new Map<string, readonly { readonly realPath: string; readonly names: readonly string[] }[]>();
  private readonly known = new Map<string, readonly string[]>();

  constructor(private readonly shown: (realPath: string) => string) {}

  /** Files, by the paths to show, that see the function through an include of the file that defines or declares it, and do not belong to the program. */
  of(fn: FunctionDecl, program: Program): readonly string[] {
    const found = new Set<string>();
    for (const unit of program.units.values()) {
      const file = unit.source.realPath;
      if (file !== fn.file && !unit.functions.some((other) => other.name === fn.name)) continue;
      for (const path of this.includersOf(file)) if (!program.units.has(path)) found.add(path);
    }
    return [...found].sort().map(this.shown);
  }

  private includersOf(realPath: string): readonly string[] {
    const all = this.known.get(realPath) ?? this.search(realPath);
    this.known.set(realPath, all);
    return all;
  }

  private search(realPath: string): readonly string[] {
    const folder = dirname(realPath);
    const top = MAIN.test(realPath) ? null : workTreeOf(folder);
    const found = new Set<string>();
    for (const root of top === null ? [folder] : [folder, top]) {
      for (const { realPath: file, names } of this.below(root)) if (file !== realPath && names.some((name) => mayMean(file, name, realPath))) found.add(file);
    }
    return [...found].sort();
  }

  private below(root: string): readonly { readonly realPath: string; readonly names: readonly string[] }[] {
    const known = this.trees.get(root);
    if (known !== undefined) return known;
    const files: { realPath: string; names: readonly string[] }[] = [];
    const folders = [root];
    let entries = 0;
    for (let folder = folders.shift(); folder !== undefined && entries < MOST_ENTRIES; folder = folders.shift()) {
      for (const entry of listing(folder)) {
        entries++;
        const path = join(folder, entry.name);
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(path);
        else if (entry.isFile() && SOURCE.test(entry.name)) files.push({ realPath: path, names: includesIn(path) });
      }
    }
    this.trees.set(root, files);
    return files;
  }
}

function listing(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function includesIn(path: string): readonly string[] {
  try {
    return [...readFileSync(path, 'utf8').matchAll(INCLUDE)].flatMap((match) => match[1] ?? []);
  } catch {
    return [];
  }
}

/** The name leads to the file from the includer's folder; or, through a folder that only the build knows, ends as its path does. */
function mayMean(includer: string, name: string, file: string): boolean {
  if (basename(name) !== basename(file)) return false;
  try {
    return realpathSync(join(dirname(includer), name)) === file;
  } catch {
    const parts = name.split('/').filter((part) => part !== '.' && part !== '..');
    return file.endsWith(`/${parts.join('/')}`);
  }
}
