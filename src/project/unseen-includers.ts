/**
 * Files beside those of a run that include one of them, or declare one of its functions by hand: they may launch its kernels and call
 * its functions, and nothing that the run sees speaks for them. Looked for below the folder of the file; for a header in a git work
 * tree, in all of that; and among the sources of the compile commands, with what they include.
 */
import { existsSync, readdirSync, readFileSync, realpathSync, type Dirent } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { workTreeOf } from '../rewrite/git-guard.js';
import { TokenKind, tokenizeFragment, type CompileCommand, type Tokens } from '../source/index.js';
import type { FunctionDecl, Program } from '../syntax/tree.js';
import { isInternal } from '../../transforms/lib/linkage.js';

/** Sources and headers of CUDA and C++. */
const SOURCE = /\.(?:cuh?|hip|c|cc|cpp|cxx|h|hh|hpp|hxx|inl|inc)$/i;

/** Files that are compiled by themselves: another that includes one stands near it. */
const MAIN = /\.(?:cu|hip|c|cc|cpp|cxx)$/i;

/** Folders and files looked at for one folder; a larger tree is searched as far as this goes. */
const MOST_ENTRIES = 20_000;
const SKIPPED = new Set(['.git', 'node_modules']);

/** `#include` with the name of a file, through no macro. */
const INCLUDE = /^[ \t]*#[ \t]*include[ \t]*[<"]([^<>"\n]+)[>"]/gm;

interface SourceBelow {
  readonly realPath: string;
  /** The last parts and the whole names of what it includes. */
  readonly names: readonly string[];
  /** Functions that it declares and does not define: their numbers of parameters by name. */
  readonly declares: ReadonlyMap<string, readonly number[]>;
}

export class UnseenIncluders {
  /** Sources below a folder. */
  private readonly trees = new Map<string, readonly SourceBelow[]>();
  private readonly known = new Map<string, readonly string[]>();

  constructor(private readonly shown: (realPath: string) => string, private readonly commands: readonly CompileCommand[] = []) {}

  /** Files, by the paths to show, that see the function through an include of the file that defines or declares it, and do not belong to the program. */
  of(fn: FunctionDecl, program: Program): readonly string[] {
    const found = new Set<string>();
    for (const unit of program.units.values()) {
      const file = unit.source.realPath;
      if (file !== fn.file && !unit.functions.some((other) => other.name === fn.name)) continue;
      for (const path of this.includersOf(file)) if (!program.units.has(path)) found.add(path);
    }
    if (!isInternal(fn)) {
      for (const unit of program.units.values()) {
        if (unit.source.realPath !== fn.file) continue;
        for (const path of this.declarersOf(fn)) if (!program.units.has(path)) found.add(path);
      }
    }
    return [...found].sort().map(this.shown);
  }

  /** Files that declare the function by hand, as one that takes as many arguments. */
  private declarersOf(fn: FunctionDecl): readonly string[] {
    const folder = dirname(fn.file);
    return this.below(folder).filter(({ realPath, declares }) => realPath !== fn.file && declares.get(fn.name)?.includes(fn.parameters.length) === true).map(({ realPath }) => realPath);
  }

  /** Files that include it, directly or through others, by real path. */
  above(realPath: string): readonly string[] {
    const found = new Set([realPath]);
    for (const file of found) for (const path of this.includersOf(file)) found.add(path);
    found.delete(realPath);
    return [...found].sort();
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
    for (const { realPath: file, names } of MAIN.test(realPath) ? [] : this.compiled()) if (file !== realPath && names.some((name) => mayMean(file, name, realPath))) found.add(file);
    return [...found].sort();
  }

  /** The sources of the compile commands and all that they include, as far as it is found. */
  private compiled(): readonly SourceBelow[] {
    const known = this.trees.get('');
    if (known !== undefined) return known;
    const files = new Map<string, SourceBelow>();
    const real = (path: string): string | null => {
      try {
        return realpathSync.native(path);
      } catch {
        return null;
      }
    };
    const folders = [...new Set(this.commands.flatMap(({ includeDirectories }) => includeDirectories))];
    const pending = [...new Set(this.commands.map(({ file }) => file))];
    for (let path = pending.pop(); path !== undefined && files.size < MOST_ENTRIES; path = pending.pop()) {
      const realPath = real(path);
      if (realPath === null || files.has(realPath)) continue;
      const source = sourceAt(realPath);
      files.set(realPath, source);
      for (const name of source.names) {
        const near = join(dirname(realPath), name);
        // Which of the folders counts is each command's own: all that have such a file.
        pending.push(...(existsSync(near) ? [near] : folders.map((folder) => join(folder, name)).filter((one) => existsSync(one))));
      }
    }
    const made = [...files.values()];
    this.trees.set('', made);
    return made;
  }

  private below(root: string): readonly SourceBelow[] {
    const known = this.trees.get(root);
    if (known !== undefined) return known;
    const files: SourceBelow[] = [];
    const folders = [root];
    let entries = 0;
    for (let folder = folders.shift(); folder !== undefined && entries < MOST_ENTRIES; folder = folders.shift()) {
      for (const entry of listing(folder)) {
        entries++;
        const path = join(folder, entry.name);
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(path);
        else if (entry.isFile() && SOURCE.test(entry.name)) files.push(sourceAt(path));
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

function sourceAt(realPath: string): SourceBelow {
  let text: string;
  try {
    text = readFileSync(realPath, 'utf8');
  } catch {
    return { realPath, names: [], declares: new Map() };
  }
  const names = [...text.matchAll(INCLUDE)].flatMap((match) => match[1] ?? []);
  let declares: ReadonlyMap<string, readonly number[]> | null = null;
  return { realPath, names, get declares() { return (declares ??= declarationsIn(text)); } };
}

/**
 * Functions without a result that a text declares and does not define, by name: `__global__ void k(float *, int);`, also behind a word
 * or a macro between `void` and the name. Found by tokens: the file was not given, and may need includes that nobody knows.
 */
function declarationsIn(text: string): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  const own = new Set<string>();
  if (!text.includes('void')) return found;
  const tokens = tokenizeFragment(text);
  for (let i = 0; i < tokens.count; i++) {
    if (!tokens.is(i, 'void')) continue;
    const name = declaredAfter(tokens, i + 1);
    if (name < 0) continue;
    const { close, count } = parametersAt(tokens, name + 1);
    let end = close + 1;
    while (end < tokens.count && tokens.kind(end) === TokenKind.identifier) end++;
    const spelled = tokens.spelling(name);
    // Another program of the folder, which has a kernel of its own of this name.
    if (tokens.is(end, '{')) own.add(`${spelled} ${count}`);
    if (!tokens.is(end, ';') && !tokens.is(end, ',')) continue;
    const counts = found.get(spelled);
    if (counts === undefined) found.set(spelled, [count]);
    else counts.push(count);
  }
  return new Map([...found].map(([name, counts]) => [name, counts.filter((count) => !own.has(`${name} ${count}`))]));
}

/** Longest run of words and bounds between `void` and the name of a kernel. */
const NEAR = 12;

/** The name in front of the parameters: behind qualifiers, bounds with their arguments, and scopes. -1 if none follows. */
function declaredAfter(tokens: Tokens, from: number): number {
  for (let at = from, steps = 0; steps < NEAR && at < tokens.count; steps++) {
    if (tokens.is(at, '::')) { at++; continue; }
    if (!tokens.isIdentifier(at)) return -1;
    if (!tokens.is(at + 1, '(')) { at++; continue; }
    if (!BOUNDS.has(tokens.spelling(at))) return at;
    at = parametersAt(tokens, at + 1).close + 1;
  }
  return -1;
}

const BOUNDS = new Set(['__launch_bounds__', '__maxnreg__', '__cluster_dims__', '__block_size__', '__attribute__', '__declspec']);

/** The parenthesis that closes the one at `open`, and how many parts commas make between them; template arguments count as one. */
function parametersAt(tokens: Tokens, open: number): { readonly close: number; readonly count: number } {
  let depth = 0;
  let angle = 0;
  let count = 0;
  let at = open;
  for (; at < tokens.count; at++) {
    if (tokens.is(at, '(') || tokens.is(at, '[') || tokens.is(at, '{')) depth++;
    else if (tokens.is(at, ')') || tokens.is(at, ']') || tokens.is(at, '}')) {
      if (--depth === 0) break;
    } else if (tokens.is(at, '<')) angle++;
    else if (tokens.is(at, '>')) angle--;
    else if (tokens.is(at, '>>')) angle -= 2;
    else if (depth === 1 && angle <= 0 && tokens.is(at, ',')) count++;
  }
  const empty = at === open + 1 || (at === open + 2 && tokens.is(open + 1, 'void'));
  return { close: at, count: empty ? 0 : count + 1 };
}

/** The name leads to the file from the includer's folder; or, through a folder that only the build knows, ends as its path does. */
function mayMean(includer: string, name: string, file: string): boolean {
  if (basename(name) !== basename(file)) return false;
  try {
    return realpathSync.native(join(dirname(includer), name)) === file;
  } catch {
    const parts = name.split('/').filter((part) => part !== '.' && part !== '..');
    return file.endsWith(`/${parts.join('/')}`);
  }
}
