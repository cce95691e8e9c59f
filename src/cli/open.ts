/** From a command line to an open project. */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../project/config.js';
import { UsageError } from '../project/errors.js';
import { findFiles, parseFileList, parseShard, type InputFile } from '../project/files.js';
import { resolveSettings, type Layer, type SettingName, type Settings } from '../project/settings.js';
import type { Project } from '../project/project.js';
import type { OpenedInputs, Session } from '../project/session.js';
import type { Failure } from '../project/workspace.js';
import type { Console } from './console.js';
import { EXIT } from './exit-codes.js';
import { pathsOf, settingsOf, single, type Argv } from './options.js';

export interface Opened<P extends Session = Project> {
  readonly project: P;
  readonly settings: Settings;
  /** True if some input is standard input: it cannot be written to. */
  readonly stdin: boolean;
  readonly timing: Timing;
}

/** Milliseconds by phase. */
export class Timing {
  private readonly phases = new Map<string, number>();
  private last = performance.now();

  mark(phase: string): void {
    const now = performance.now();
    this.phases.set(phase, (this.phases.get(phase) ?? 0) + now - this.last);
    this.last = now;
  }

  get values(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.phases].map(([phase, ms]) => [phase, Math.round(ms * 10) / 10]));
  }

  get text(): string {
    return `time: ${[...this.phases].map(([phase, ms]) => `${phase} ${ms.toFixed(0)} ms`).join(', ')}\n`;
  }
}

/** The settings in force. Throws `UsageError`. */
export async function settingsFor(argv: Argv): Promise<{ readonly settings: Settings; readonly origins: ReadonlyMap<SettingName, string>; readonly config: Layer | null }> {
  const config = await loadConfig(process.cwd(), single(argv, 'config'));
  const layers = [...(config === null ? [] : [config]), { origin: 'command line', values: settingsOf(argv) }];
  return { ...resolveSettings(layers), config };
}

/** Opens the files that the command line names for edits. See `openWith`. */
export async function openProject(argv: Argv, console: Console): Promise<Opened | null> {
  return openWith(argv, console, async (inputs) => (await import('../project/project.js')).Project.from(inputs));
}

/** Opens them for reading alone, which starts faster. See `openWith`. */
export async function openSession(argv: Argv, console: Console): Promise<Opened<Session> | null> {
  return openWith(argv, console, async (inputs) => (await import('../project/session.js')).Session.read(inputs));
}

/**
 * Finds and opens the files. What cannot be read is said on standard error and makes the run incomplete; if nothing can be read, the
 * run is wrong. Returns null then.
 */
async function openWith<P extends Session>(argv: Argv, console: Console, open: (inputs: OpenedInputs) => Promise<P>): Promise<Opened<P> | null> {
  const timing = new Timing();
  const cwd = process.cwd();
  const { settings } = await settingsFor(argv);

  let paths = pathsOf(argv);
  const filesFrom = single(argv, 'files-from');
  if (filesFrom !== undefined) {
    if (filesFrom === '-' && paths.includes('-')) throw new UsageError('standard input cannot be both the list of files and a file');
    paths = [...paths, ...parseFileList(readInput(filesFrom))];
  }
  // An empty list is a list: `--files-from` may well name nothing.
  if (paths.length === 0 && filesFrom === undefined) paths = settings.include.length > 0 ? settings.include : ['.'];

  const given = new Map<string, Uint8Array>();
  const standard: InputFile[] = [];
  if (paths.includes('-')) {
    const name = single(argv, 'stdin-filename') ?? 'stdin.cu';
    const realPath = resolve(cwd, name);
    given.set(realPath, readFileSync(0));
    standard.push({ path: name, realPath });
  } else if (single(argv, 'stdin-filename') !== undefined) {
    throw new UsageError('--stdin-filename goes with the path - (standard input)');
  }

  const shard = single(argv, 'shard');
  const since = single(argv, 'since');
  const found = await findFiles({
    paths: paths.filter((path) => path !== '-'), cwd, exclude: settings.exclude,
    ...(since === undefined ? {} : { since }), ...(shard === undefined ? {} : { shard: parseShard(shard) }),
  });
  timing.mark('find');
  const failures: Failure[] = found.problems.map(({ path, message }) => ({ path, line: null, message }));
  const project = await open({ files: [...standard, ...found.files.filter((file) => !given.has(file.realPath))], failures, given, settings, cwd });
  timing.mark('read');

  for (const failure of project.failures) {
    console.problem(`${failure.path}${failure.line === null ? '' : `:${failure.line}`}: ${failure.message}`);
    console.holds(EXIT.incomplete);
  }
  // A compiler passes over such a folder in silence; here what is not found is not known, and nobody would see why.
  for (const folder of settings.includeDirs) {
    if (statSync(resolve(cwd, folder), { throwIfNoEntry: false })?.isDirectory() !== true) console.note(`warning: --include ${folder}: there is no such folder`);
  }
  for (const { path, line, message } of project.annotationWarnings) console.note(`${path}:${line ?? 1}: warning: ${message}`);
  if (project.files.length === 0) {
    // A selection that is empty by right (a commit without changes, a small shard) is no fault.
    if (project.failures.length > 0) {
      console.problem('nothing could be read');
      console.holds(EXIT.usage);
      return null;
    }
    console.note(since !== undefined ? `no file differs from ${since}\n` : 'no files to look at\n');
  }
  return { project, settings, stdin: given.size > 0, timing };
}

function readInput(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch {
    throw new UsageError(`--files-from ${path}: cannot be read`);
  }
}
