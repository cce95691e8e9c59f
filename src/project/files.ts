/**
 * Which files a run is about: paths, folders and globs become a list without duplicates, in an order that does not depend on the
 * machine. Files are told apart by real path, so that one reached by two names is treated once.
 */
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, resolve, sep } from 'node:path';
import { git, workTreeOf } from '../rewrite/git-guard.js';
import { UsageError } from './errors.js';
import { IgnoreFiles } from './ignores.js';

export interface InputFile {
  /** The path as the user gave it, or as the search under a given folder found it. */
  readonly path: string;
  readonly realPath: string;
}

export interface FileQuery {
  readonly paths: readonly string[];
  readonly cwd: string;
  /** Globs or paths to leave out. */
  readonly exclude?: readonly string[];
  /** Only files that differ from this commit. */
  readonly since?: string;
  /** Part `index` (from 1) of `count`. */
  readonly shard?: { readonly index: number; readonly count: number };
}

export interface FoundFiles {
  readonly files: readonly InputFile[];
  /** What was asked for and is not there. */
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

const EXTENSIONS = ['.cu', '.cuh', '.cu.cc', '.cu.cpp', '.cu.cxx', '.cu.h', '.cu.hh', '.cu.hpp', '.cu.inl', '.cuh.in', '.hip', '.hip.cc', '.hip.cpp', '.hip.h', '.hip.hpp'];

/** Does a folder search take a file of this name? */
export function isCudaSource(name: string): boolean {
  const lower = basename(name).toLowerCase();
  return EXTENSIONS.some((extension) => lower.endsWith(extension) && lower.length > extension.length);
}

const GLOB_CHARACTERS = /[*?[\]{}()!]/;

/** Finds the files. Throws `UsageError` if `since` is no commit. */
export async function findFiles(query: FileQuery): Promise<FoundFiles> {
  const found: InputFile[] = [];
  const problems: { path: string; message: string }[] = [];
  const ignores = new IgnoreFiles();

  for (const given of query.paths) {
    const absolute = resolve(query.cwd, given);
    const kind = kindOf(absolute);
    if (kind === 'file') {
      add(found, given, absolute);
    } else if (kind === 'folder') {
      const before = found.length;
      walk(given, absolute, absolute, ignores, found, new Set());
      if (found.length === before) problems.push({ path: given, message: `no CUDA sources in this folder (looked for ${EXTENSIONS.slice(0, 3).join(', ')}, .hip …; ignored files left out)` });
    } else if (GLOB_CHARACTERS.test(given)) {
      const matches = await expandGlob(given, query.cwd, ignores);
      if (matches.length === 0) problems.push({ path: given, message: 'no file matches this pattern' });
      for (const match of matches) add(found, match, resolve(query.cwd, match));
    } else if (kind === 'other') {
      problems.push({ path: given, message: 'neither a file nor a folder' });
    } else {
      problems.push({ path: given, message: kind === 'denied' ? 'permission denied' : 'no such file or folder' });
    }
  }

  let files = dedupe(found);
  if (query.exclude !== undefined && query.exclude.length > 0) files = await without(files, query.exclude, query.cwd);
  if (query.since !== undefined) files = changedSince(files, query.since, query.cwd);
  const { shard } = query;
  if (shard !== undefined) files = files.filter((_, i) => i % shard.count === shard.index - 1);
  return { files, problems };
}

/** `2/8`. Throws `UsageError`. */
export function parseShard(text: string): { readonly index: number; readonly count: number } {
  const match = /^(\d+)\/(\d+)$/.exec(text);
  const index = Number(match?.[1]);
  const count = Number(match?.[2]);
  if (match === null || count < 1 || index < 1 || index > count) throw new UsageError(`--shard ${text}: expected i/n with 1 ≤ i ≤ n, such as 2/8`);
  return { index, count };
}

/** Paths out of a list: one a line, or separated by NUL. */
export function parseFileList(text: string): readonly string[] {
  return text.split(text.includes('\0') ? '\0' : /\r?\n/).filter((line) => line.trim() !== '');
}

function kindOf(path: string): 'file' | 'folder' | 'other' | 'missing' | 'denied' {
  try {
    const stat = statSync(path);
    return stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other';
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EACCES' ? 'denied' : 'missing';
  }
}

function add(found: InputFile[], path: string, absolute: string): void {
  // As includes are resolved: one question to the system, not one for each folder above.
  found.push({ path: path.split(sep).join('/'), realPath: realpathSync.native(absolute) });
}

function walk(shown: string, folder: string, root: string, ignores: IgnoreFiles, found: InputFile[], seen: Set<string>): void {
  let entries;
  try {
    const real = realpathSync.native(folder);
    if (seen.has(real)) return;
    seen.add(real);
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  for (const entry of entries) {
    const absolute = join(folder, entry.name);
    const kind = entry.isSymbolicLink() ? kindOf(absolute) : entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : 'other';
    if (kind === 'folder') {
      if (entry.name === '.git' || entry.name === 'node_modules' || ignores.ignores(absolute, root, true)) continue;
      walk(join(shown, entry.name), absolute, root, ignores, found, seen);
    } else if (kind === 'file' && isCudaSource(entry.name) && !ignores.ignores(absolute, root, false)) {
      add(found, join(shown, entry.name), absolute);
    }
  }
}

async function expandGlob(pattern: string, cwd: string, ignores: IgnoreFiles): Promise<string[]> {
  const { globSync } = await import('tinyglobby');
  const matches = globSync(pattern.split(sep).join('/'), { cwd, onlyFiles: true, ignore: ['**/node_modules/**', '**/.git/**'], absolute: isAbsolute(pattern), expandDirectories: false });
  // `src/**` asks for whatever is CUDA there; `src/**/*.h` asks for headers.
  const anyName = !basename(pattern).includes('.');
  return matches.filter((match) => {
    const absolute = resolve(cwd, match);
    return (!anyName || isCudaSource(match)) && !ignores.ignores(absolute, cwd, false);
  }).sort();
}

function dedupe(files: readonly InputFile[]): InputFile[] {
  const seen = new Set<string>();
  return files.filter((file) => {
    if (seen.has(file.realPath)) return false;
    seen.add(file.realPath);
    return true;
  });
}

async function without(files: readonly InputFile[], exclude: readonly string[], cwd: string): Promise<InputFile[]> {
  const { globSync } = await import('tinyglobby');
  const excluded = new Set<string>();
  for (const pattern of exclude) {
    const absolute = resolve(cwd, pattern);
    if (kindOf(absolute) === 'folder') {
      for (const file of files) if (file.realPath.startsWith(realpathSync.native(absolute) + sep)) excluded.add(file.realPath);
    }
    for (const match of globSync(pattern, { cwd, absolute: true, expandDirectories: false, dot: true })) excluded.add(realpathSync.native(match));
  }
  return files.filter((file) => !excluded.has(file.realPath));
}

function changedSince(files: readonly InputFile[], since: string, cwd: string): InputFile[] {
  const top = workTreeOf(cwd);
  if (top === null) throw new UsageError(`--since ${since}: ${cwd} is not in a git work tree`);
  if (since.startsWith('-') || git(top, ['rev-parse', '--verify', '--quiet', `${since}^{commit}`]) === null) {
    throw new UsageError(`--since ${since}: not a commit that git knows here`);
  }
  const changed = git(top, ['diff', '--name-only', '-z', '--no-renames', '--diff-filter=d', since, '--']) ?? '';
  const untracked = git(top, ['ls-files', '--others', '--exclude-standard', '-z']) ?? '';
  const names = new Set(`${changed}${untracked}`.split('\0').filter((name) => name !== '').map((name) => join(top, name)));
  return files.filter((file) => names.has(file.realPath));
}

/** Bytes of an input, or a message for the user. */
export function readBytes(path: string): { readonly bytes: Uint8Array } | { readonly message: string } {
  try {
    return { bytes: readFileSync(path) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    return { message: code === 'ENOENT' ? 'no such file or folder' : code === 'EACCES' ? 'permission denied' : code === 'EISDIR' ? 'a folder, not a file' : error instanceof Error ? error.message : String(error) };
  }
}
