/** The options that commands share, and how their text becomes values. */
import { realpathSync, statSync } from 'node:fs';
import type { Options } from 'yargs';
import { UsageError } from '../project/errors.js';
import { checkValue, type RawValue, type SettingName } from '../project/settings.js';
import { didYouMean } from '../project/suggest.js';
import type { ConsoleOptions } from './console.js';

export type Argv = Readonly<Record<string, unknown>>;

const text = (description: string, group: string): Options => ({ type: 'string', requiresArg: true, description, group });
const flag = (description: string, group: string): Options => ({ type: 'boolean', description, group });

const FILES = 'Files:';
const FACTS = 'What is known:';
const OUTPUT = 'Output:';

export const outputOptions = {
  format: text('text, json, sarif, markdown or html', OUTPUT),
  output: text('write the result to this file', OUTPUT),
  color: text('auto, always or never (NO_COLOR is respected)', OUTPUT),
  quiet: flag('only the result and errors', OUTPUT),
  timing: flag('say where the time goes', OUTPUT),
  debug: flag('stack traces of internal errors', OUTPUT),
} satisfies Record<string, Options>;

/** The formats of commands that do not have all. */
export const textOrJson = { format: text('text or json', OUTPUT) } satisfies Record<string, Options>;

export const onlyJson = { format: text('json', OUTPUT) } satisfies Record<string, Options>;

export const fileOptions = {
  exclude: text('file, folder or glob to leave out (repeatable)', FILES),
  'files-from': text('read the list of files from this file, or from - for standard input', FILES),
  'stdin-filename': text('name of the file that - stands for', FILES),
  since: text('only files that differ from this commit', FILES),
  shard: text('part i of n: i/n', FILES),
  config: text('configuration file', FILES),
  jobs: text('number of threads for an audit of many files', FILES),
} satisfies Record<string, Options>;

export const factOptions = {
  kernel: text('kernel to look at (glob, repeatable)', FACTS),
  block: text('block shape, such as 32x8', FACTS),
  grid: text('grid shape', FACTS),
  assume: text('assumption, such as p@12=0.03 (repeatable)', FACTS),
  include: text('folder to search for quoted includes (repeatable)', FACTS),
  define: { ...text('macro: -D NAME=VALUE (repeatable)', FACTS), alias: 'D' },
  'compile-commands': text('compile_commands.json', FACTS),
  arch: text('architecture, such as sm_90 (no fact rests on it yet)', FACTS),
  device: text('device, such as H200 (no fact rests on it yet)', FACTS),
  'default-trips': text('trip count of a loop whose bound is not known', FACTS),
} satisfies Record<string, Options>;

/** Stands for `-` (standard input) while yargs, which drops or refuses it, takes the line apart. */
const STANDARD_INPUT = '\0-';

/** The values of an option or of positional arguments that may be given several times. */
export function list(argv: Argv, name: string): readonly string[] {
  const value = argv[name];
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).map((item) => (item === STANDARD_INPUT ? '-' : String(item)));
}

/** The paths of a command, those behind `--` included. */
export function pathsOf(argv: Argv): readonly string[] {
  return [...list(argv, 'paths'), ...list(argv, '--')];
}

/** The value of an option that is given once; the last one wins. */
export function single(argv: Argv, name: string): string | undefined {
  return list(argv, name).at(-1);
}

export function isSet(argv: Argv, name: string): boolean {
  const value = argv[name];
  return Array.isArray(value) ? value.at(-1) === true : value === true;
}

/** One of the given words. Throws `UsageError` with a suggestion. */
export function choice<T extends string>(argv: Argv, name: string, words: readonly T[], fallback: T): T {
  const value = single(argv, name);
  if (value === undefined) return fallback;
  const found = words.find((word) => word === value);
  if (found === undefined) throw new UsageError(`--${name} ${value}: expected ${words.join(', ')}${didYouMean(value, words)}`);
  return found;
}

/** A whole number from 1. Throws `UsageError`. */
export function positive(argv: Argv, name: string): number | undefined {
  const value = single(argv, name);
  if (value === undefined) return undefined;
  if (!/^\d+$/.test(value) || Number(value) < 1) throw new UsageError(`--${name} ${value}: expected a whole number from 1`);
  return Number(value);
}

export function consoleOptions(argv: Argv): ConsoleOptions {
  // `--no-color` arrives as the value false.
  const color = argv['color'] === false ? 'never' : choice(argv, 'color', ['auto', 'always', 'never'], 'auto');
  return { quiet: isSet(argv, 'quiet'), debug: isSet(argv, 'debug'), color, output: outputOf(argv) };
}

const SOURCE_NAME = /\.(?:cu|cuh|c|h|cc|hh|cpp|hpp|cxx|hxx|inl|hip)$/i;

/** Where `--output` says the result goes. Never over a source: a diff in place of the kernel that it changes is a lost kernel. Throws `UsageError`. */
function outputOf(argv: Argv): string | null {
  const output = single(argv, 'output');
  if (output === undefined) return null;
  const existing = fileAt(output);
  if (existing === null) return output;
  const reads = [...pathsOf(argv), ...list(argv, 'before'), ...list(argv, 'after')].some((path) => fileAt(path) === existing);
  if (reads || SOURCE_NAME.test(existing)) throw new UsageError(`--output ${output} would replace a source file by the result; name another file, or use --write to change sources`);
  return output;
}

/** The regular file that a path leads to, through links; null where there is none. */
function fileAt(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true ? realpathSync(path) : null;
}

/** The options that are settings: name on the command line, name of the setting. */
const SETTING_OPTIONS: readonly (readonly [string, SettingName])[] = [
  ['exclude', 'exclude'], ['kernel', 'kernel'], ['transform', 'transform'], ['allow', 'allow'], ['deny', 'deny'], ['block', 'block'],
  ['grid', 'grid'], ['assume', 'assume'], ['include', 'includeDirs'], ['define', 'define'], ['compile-commands', 'compileCommands'], ['arch', 'arch'],
  ['device', 'device'], ['default-trips', 'defaultTrips'], ['nvcc-flags', 'nvccFlags'], ['strict-fp', 'strictFp'], ['even-if-it-loses', 'evenIfItLoses'],
  ['fail-on', 'failOn'], ['baseline', 'baseline'], ['jobs', 'jobs'],
];

const COMMA_LISTS: ReadonlySet<SettingName> = new Set<SettingName>(['allow', 'deny', 'failOn']);

/** The settings that the command line gives. Throws `UsageError`. */
export function settingsOf(argv: Argv): Partial<Record<SettingName, RawValue>> {
  const values: Partial<Record<SettingName, RawValue>> = {};
  for (const [option, name] of SETTING_OPTIONS) {
    if (argv[option] === undefined) continue;
    const where = `--${option}`;
    if (option === 'strict-fp' || option === 'even-if-it-loses') values[name] = isSet(argv, option);
    else if (option === 'default-trips' || option === 'jobs') values[name] = positive(argv, option) ?? 1;
    else if (['block', 'grid', 'compile-commands', 'arch', 'device', 'nvcc-flags', 'baseline'].includes(option)) values[name] = checkValue(name, single(argv, option), where);
    else values[name] = checkValue(name, COMMA_LISTS.has(name) ? list(argv, option).flatMap((item) => item.split(/[,|]/)).filter((item) => item !== '') : list(argv, option), where);
  }
  return values;
}

/** `-DNAME`, `-Ifolder` and `-`, as compilers take them, in the form that yargs takes. */
export function prepareArguments(args: readonly string[]): string[] {
  const out: string[] = [];
  for (const [i, arg] of args.entries()) {
    if (arg === '--') return [...out, ...args.slice(i)];
    if (arg === '-') out.push(STANDARD_INPUT);
    else if (/^-D./.test(arg)) out.push('-D', arg.slice(2));
    else if (/^-I./.test(arg)) out.push('--include', arg.slice(2));
    else if (arg === '-I') out.push('--include');
    else out.push(arg);
  }
  return out;
}
