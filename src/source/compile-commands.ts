/** Reads `compile_commands.json`: the folders and macros with which a build compiles a file. */
import { isAbsolute, resolve } from 'node:path';
import { SourceError } from './errors.js';
import type { VaryingDefine } from './macros.js';

export interface CompileCommand {
  /** Absolute path of the file that is compiled. */
  readonly file: string;
  /** Absolute paths of `-I`, `-iquote` and `-isystem`, in the compiler's order. */
  readonly includeDirectories: readonly string[];
  /** `-D`, less what a later `-U` takes back; the value of a bare `-DX` is 1. */
  readonly defines: Readonly<Record<string, string>>;
  /** Files of `-include`, which the compiler reads first. */
  readonly forcedIncludes: readonly string[];
}

/** Throws `SourceError` if the text is not such a file. Entries without a file name are skipped. */
export function parseCompileCommands(json: string): CompileCommand[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (error) {
    throw new SourceError(`compile_commands.json is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!Array.isArray(parsed)) throw new SourceError('compile_commands.json is not a list of commands');
  return parsed.flatMap((entry: unknown) => readEntry(entry) ?? []);
}

export function compileCommandFor(commands: readonly CompileCommand[], absolutePath: string): CompileCommand | null {
  return commands.find((command) => command.file === absolutePath) ?? null;
}

/** Macros that several commands for this file define differently, by their heads (`T`, `STEP(x)`); those of `given` are said by the user. */
export function varyingDefines(commands: readonly CompileCommand[], absolutePath: string, given: Readonly<Record<string, string>>): ReadonlyMap<string, VaryingDefine> {
  const found = new Map<string, VaryingDefine>();
  const [first, ...others] = commands.filter((command) => command.file === absolutePath);
  if (first === undefined) return found;
  const said = new Set(Object.keys(given).map(nameOf));
  for (const other of others) {
    for (const head of new Set([...Object.keys(first.defines), ...Object.keys(other.defines)])) {
      const [a, b] = [first.defines[head], other.defines[head]];
      if (a === b || said.has(nameOf(head)) || found.has(head)) continue;
      found.set(head, { head, body: a ?? b ?? '', text: `${nameOf(head)} is ${told(a)} in one compile command of ${absolutePath.slice(absolutePath.lastIndexOf('/') + 1)} and ${told(b)} in another one` });
    }
  }
  return found;
}

function nameOf(head: string): string {
  return /^[\w$]+/.exec(head)?.[0] ?? head;
}

function told(body: string | undefined): string {
  return body === undefined ? 'not defined' : body === '' ? 'defined as nothing' : `\`${body}\``;
}

function readEntry(entry: unknown): CompileCommand | null {
  if (typeof entry !== 'object' || entry === null) return null;
  const { directory, file, command, arguments: list } = entry as { directory?: unknown; file?: unknown; command?: unknown; arguments?: unknown };
  if (typeof file !== 'string') return null;
  const base = typeof directory === 'string' ? directory : '.';
  const words = Array.isArray(list) ? list.filter((word): word is string => typeof word === 'string') : typeof command === 'string' ? shellWords(command) : [];
  return { file: resolve(base, file), ...readOptions(words, base) };
}

const INCLUDE_OPTIONS = ['--include-path', '-isystem', '--system-include', '-iquote', '-idirafter', '-I'] as const;

function readOptions(words: readonly string[], base: string): Omit<CompileCommand, 'file'> {
  const user: string[] = [];
  const system: string[] = [];
  const forced: string[] = [];
  const defines = new Map<string, string>();
  const path = (name: string): string => (isAbsolute(name) ? name : resolve(base, name));
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    const value = (option: string): string => (word.length > option.length ? word.slice(option.length).replace(/^=/, '') : (words[++i] ?? ''));
    const include = INCLUDE_OPTIONS.find((option) => word.startsWith(option));
    if (include) {
      // nvcc takes several folders in one option, separated by commas.
      const target = include === '-isystem' || include === '--system-include' || include === '-idirafter' ? system : user;
      target.push(...value(include).split(',').filter(Boolean).map(path));
    } else if (word === '-include' || word === '--pre-include') {
      forced.push(path(value(word)));
    } else if (word.startsWith('-D') || word.startsWith('--define-macro')) {
      const text = value(word.startsWith('-D') ? '-D' : '--define-macro');
      const equals = text.indexOf('=');
      defines.set(equals < 0 ? text : text.slice(0, equals), equals < 0 ? '1' : text.slice(equals + 1));
    } else if (word.startsWith('-U') || word.startsWith('--undefine-macro')) {
      defines.delete(value(word.startsWith('-U') ? '-U' : '--undefine-macro'));
    }
  }
  return { includeDirectories: [...user, ...system], defines: Object.fromEntries(defines), forcedIncludes: forced };
}

/** Words of a POSIX shell command without expansions: quotes and backslashes. */
export function shellWords(command: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let i = 0; i < command.length; i++) {
    const c = command.charAt(i);
    if (quote !== '') {
      if (c === quote) quote = '';
      else if (c === '\\' && quote === '"' && /["\\$`]/.test(command.charAt(i + 1))) word = (word ?? '') + command.charAt(++i);
      else word = (word ?? '') + c;
    } else if (c === '"' || c === "'") {
      quote = c;
      word ??= '';
    } else if (c === '\\') {
      word = (word ?? '') + command.charAt(++i);
    } else if (/\s/.test(c)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? '') + c;
    }
  }
  if (word !== null) words.push(word);
  return words;
}
