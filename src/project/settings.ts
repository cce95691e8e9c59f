/**
 * The settings of a run: what each is called, what values it takes, and which of default, configuration file and command line
 * decided it. One table serves the validation of configuration files, the options of the commands and `config print`.
 */
import type { BlockShape } from '../analysis/facts.js';
import { UsageError } from './errors.js';
import { didYouMean } from './suggest.js';

export interface Settings {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly kernel: readonly string[];
  readonly transform: readonly string[];
  readonly plugins: readonly string[];
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly block: BlockShape | null;
  readonly grid: BlockShape | null;
  readonly assume: ReadonlyMap<string, string>;
  readonly includeDirs: readonly string[];
  readonly define: ReadonlyMap<string, string>;
  readonly compileCommands: string | null;
  readonly arch: string | null;
  readonly device: string | null;
  readonly defaultTrips: number | null;
  readonly nvccFlags: string | null;
  readonly strictFp: boolean;
  readonly evenIfItLoses: boolean;
  readonly failOn: readonly string[];
  readonly baseline: string | null;
  readonly jobs: number | null;
}

export type SettingName = keyof Settings;

/** A value as it is written in a configuration file or on a command line. */
export type RawValue = string | number | boolean | readonly string[] | Readonly<Record<string, string | number | boolean>>;

type Kind = 'strings' | 'string' | 'arch' | 'boolean' | 'count' | 'shape' | 'pairs';

interface SettingSpec {
  readonly kind: Kind;
  readonly summary: string;
  /** Paths are relative to the folder of the configuration file that names them. */
  readonly path?: true;
}

export const SETTINGS: { readonly [K in SettingName]: SettingSpec } = {
  include: { kind: 'strings', summary: 'files, folders and globs when the command line names none', path: true },
  exclude: { kind: 'strings', summary: 'files, folders and globs to leave out', path: true },
  kernel: { kind: 'strings', summary: 'names (globs) of the kernels to look at' },
  transform: { kind: 'strings', summary: 'transforms that apply uses when none is named' },
  plugins: { kind: 'strings', summary: 'modules that export transforms of your own', path: true },
  allow: { kind: 'strings', summary: 'grants to give' },
  deny: { kind: 'strings', summary: 'default grants to withdraw' },
  block: { kind: 'shape', summary: 'block shape, such as 32x8' },
  grid: { kind: 'shape', summary: 'grid shape, such as 1024x4' },
  assume: { kind: 'pairs', summary: 'assumptions, such as p@12=0.03' },
  includeDirs: { kind: 'strings', summary: 'folders to search for quoted includes', path: true },
  define: { kind: 'pairs', summary: 'macros, as -D gives them to the compiler' },
  compileCommands: { kind: 'string', summary: 'compile_commands.json to take include folders and macros from', path: true },
  arch: { kind: 'arch', summary: 'architecture, such as sm_90; no fact rests on it yet' },
  device: { kind: 'string', summary: 'device name, such as H200; no fact rests on it yet' },
  defaultTrips: { kind: 'count', summary: 'trip count of a loop whose bound is not known' },
  nvccFlags: { kind: 'string', summary: 'flags for nvcc; nothing calls it yet' },
  strictFp: { kind: 'boolean', summary: 'withdraw the grant contract: no change of fused products' },
  evenIfItLoses: { kind: 'boolean', summary: 'apply what is legal even if it does not pay' },
  failOn: { kind: 'strings', summary: 'classes, severities or hazard ids that make audit exit with 1' },
  baseline: { kind: 'string', summary: 'JSON of an earlier audit: its findings do not count for failOn', path: true },
  jobs: { kind: 'count', summary: 'number of workers' },
};

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** `32`, `32x8`, `32x8x4`. Throws `UsageError` naming `what`. */
export function parseShape(text: string, what: string): BlockShape {
  const parts = text.split(/[x,]/);
  const sizes = parts.map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : NaN));
  const [x, y = 1, z = 1] = sizes;
  if (parts.length > 3 || x === undefined || ![x, y, z].every((n) => Number.isSafeInteger(n) && n >= 1)) {
    throw new UsageError(`${what}: "${text}" is no shape; expected one to three positive numbers, such as 256 or 32x8`);
  }
  return { x, y, z };
}

/** As `parseShape`, and no more than 1,024 threads. */
export function parseBlock(text: string, what: string): BlockShape {
  const shape = parseShape(text, what);
  if (shape.x * shape.y * shape.z > 1024) throw new UsageError(`${what}: a block of ${shape.x}x${shape.y}x${shape.z} has more than 1024 threads`);
  if (shape.z > 64) throw new UsageError(`${what}: the z dimension of a block is at most 64`);
  return shape;
}

/** `NAME=VALUE` lists. A name without `=` has the value `bare`, or is an error if that is null. */
export function parsePairs(items: readonly string[], what: string, bare: string | null): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const item of items) {
    const at = item.indexOf('=');
    if (at === 0 || (at < 0 && bare === null) || item === '') throw new UsageError(`${what}: "${item}" is not NAME=VALUE`);
    map.set(at < 0 ? item : item.slice(0, at), at < 0 ? bare ?? '' : item.slice(at + 1));
  }
  return map;
}

/** `p@LINE=0.03` and `trip@LINE=64`. Throws `UsageError` for what would have no effect. */
export function parseAssumptions(items: readonly string[], what: string): ReadonlyMap<string, string> {
  const map = parsePairs(items, what, null);
  for (const [key, value] of map) {
    const wrong = (expected: string): never => { throw new UsageError(`${what}: "${key}=${value}": ${expected}`); };
    const kind = /^(p|trip)@[1-9]\d*$/.exec(key)?.[1];
    const number = value.trim().endsWith('%') ? Number(value.trim().slice(0, -1)) / 100 : Number(value);
    if (kind === undefined) wrong('expected p@LINE=SHARE or trip@LINE=COUNT');
    else if (kind === 'p' && !(value.trim() !== '' && number >= 0 && number <= 1)) wrong('a share lies between 0 and 1');
    else if (kind === 'trip' && !/^\d+$/.test(value.trim())) wrong('a trip count is a whole number');
  }
  return map;
}

/** As nvcc and the HIP compiler spell them: `sm_90`, `sm_90a`, `compute_80`, `gfx90a`. */
const ARCHITECTURE = /^(?:(?:sm|compute)_[1-9]\d{1,2}[af]?|gfx[1-9][\da-f]{2,3})$/;

/** Checks one raw value against the table. Throws `UsageError`; `where` begins the message. */
export function checkValue(name: SettingName, value: unknown, where: string): RawValue {
  const { kind } = SETTINGS[name];
  const wrong = (expected: string): never => {
    throw new UsageError(`${where}: "${name}" must be ${expected}, not ${JSON.stringify(value)}`);
  };
  switch (kind) {
    case 'strings':
      if (typeof value === 'string') return [value];
      return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : wrong('a string or a list of strings');
    case 'string':
      return typeof value === 'string' ? value : wrong('a string');
    case 'arch':
      return typeof value === 'string' && ARCHITECTURE.test(value) ? value : wrong('an architecture such as "sm_90"');
    case 'boolean':
      return typeof value === 'boolean' ? value : wrong('true or false');
    case 'count':
      return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : wrong('a positive whole number');
    case 'shape': {
      const text = typeof value === 'number' ? String(value) : value;
      if (typeof text !== 'string') return wrong('a shape such as "32x8"');
      (name === 'block' ? parseBlock : parseShape)(text, `${where}: ${name}`);
      return text;
    }
    case 'pairs':
      if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
        parsePairs(value, `${where}: ${name}`, name === 'define' ? '1' : null);
        return value;
      }
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        const pairs: string[] = [];
        for (const [key, item] of Object.entries(value)) {
          if (typeof item !== 'string' && typeof item !== 'number' && typeof item !== 'boolean') return wrong('an object whose values are strings or numbers');
          pairs.push(`${key}=${String(item)}`);
        }
        return pairs;
      }
      return wrong('a list of NAME=VALUE or an object');
  }
}

export interface Layer {
  /** For people: `default`, `command line`, or the path of a file. */
  readonly origin: string;
  readonly values: Readonly<Partial<Record<SettingName, RawValue>>>;
}

/** Later layers win, whole values at a time. Throws `UsageError` for contradictions. */
export function resolveSettings(layers: readonly Layer[]): { readonly settings: Settings; readonly origins: ReadonlyMap<SettingName, string> } {
  const raw = new Map<SettingName, RawValue>();
  const origins = new Map<SettingName, string>(SETTING_NAMES.map((name) => [name, 'default']));
  for (const layer of layers) {
    for (const name of SETTING_NAMES) {
      const value = layer.values[name];
      if (value === undefined) continue;
      raw.set(name, value);
      origins.set(name, layer.origin);
    }
  }
  const strings = (name: SettingName): readonly string[] => {
    const value = raw.get(name);
    return Array.isArray(value) ? value : [];
  };
  const text = (name: SettingName): string | null => {
    const value = raw.get(name);
    return typeof value === 'string' ? value : null;
  };
  const count = (name: SettingName): number | null => {
    const value = raw.get(name);
    return typeof value === 'number' ? value : null;
  };
  const block = text('block');
  const grid = text('grid');
  const settings: Settings = {
    include: strings('include'),
    exclude: strings('exclude'),
    kernel: strings('kernel'),
    transform: strings('transform'),
    plugins: strings('plugins'),
    allow: strings('allow'),
    deny: strings('deny'),
    block: block === null ? null : parseBlock(block, 'block'),
    grid: grid === null ? null : parseShape(grid, 'grid'),
    assume: parseAssumptions(strings('assume'), origins.get('assume') === 'command line' ? '--assume' : 'assume'),
    includeDirs: strings('includeDirs'),
    define: parsePairs(strings('define'), 'define', '1'),
    compileCommands: text('compileCommands'),
    arch: text('arch'),
    device: text('device'),
    defaultTrips: count('defaultTrips'),
    nvccFlags: text('nvccFlags'),
    strictFp: raw.get('strictFp') === true,
    evenIfItLoses: raw.get('evenIfItLoses') === true,
    failOn: strings('failOn').flatMap((item) => item.split(',')),
    baseline: text('baseline'),
    jobs: count('jobs'),
  };
  return { settings, origins };
}

/** Checks an object from a configuration file. Throws `UsageError` with the file and the key. */
export function checkConfig(value: unknown, where: string): Partial<Record<SettingName, RawValue>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UsageError(`${where}: expected an object of settings`);
  const checked: Partial<Record<SettingName, RawValue>> = {};
  for (const [key, item] of Object.entries(value)) {
    if (key === '$schema') continue;
    const name = SETTING_NAMES.find((candidate) => candidate === key);
    if (name === undefined) throw new UsageError(`${where}: unknown setting "${key}"${didYouMean(key, SETTING_NAMES)}`);
    checked[name] = checkValue(name, item, where);
  }
  return checked;
}
