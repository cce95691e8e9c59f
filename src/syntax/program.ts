/** Loading: files and what they include to lowered units, and what holds between units (calls, launches). */
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  blankInactiveArms, collectMacros, compileCommandFor, varyingDefines, makeOverlay, mergeMacros, nodeReader, resolveIncludes, SourceError, SourceStore,
  endsInReturns, IN_RETURNS, type CompileCommand, type IncludeReader,
} from '../source/index.js';
import type { MacroDefinition, Overlay, SourceFile } from '../source/types.js';
import { lowerBodies } from './bodies.js';
import { Lowering, type UnitState } from './context.js';
import { parseSparse, type Cst, type CstTree } from './cst.js';
import { UnitDoubts, type FileDoubts } from './doubts.js';
import { findHiddenKernels, launchMacros } from './hidden-kernels.js';
import { doubtsOf } from './includer-views.js';
import { ProgramIndex } from './link.js';
import { withDoubts, withPopped } from './lower-doubt.js';
import { isDefinedAt } from './lower-macro.js';
import { interesting, lowerItems, type Selection } from './lower-unit.js';
import { MacroUses } from './macro-uses.js';
import { openTextOf } from './open-text.js';
import { mentionsIn } from './kernel-mentions.js';
import { cppParser } from './parser.js';
import { recoverKernels } from './recover.js';
import { FileNames, Names } from './scope.js';
import { snippetsOf } from './snippets.js';
import type { Program, Unit } from './tree.js';
import { lostKernels, unread } from './unit-problems.js';

export type HostCode = 'whole' | 'launches';

export interface LoadOptions {
  /** Reads the bytes of a file; the file system by default. */
  readonly readFile?: (realPath: string) => Uint8Array;
  /** Resolves symbolic links; null if there is no such file. The file system by default. */
  readonly realPath?: (path: string) => string | null;
  /** Folders for includes that do not stand next to the including file. */
  readonly includeDirs?: readonly string[];
  readonly defines?: Readonly<Record<string, string>>;
  readonly compileCommands?: readonly CompileCommand[];
  /** Real paths of files that are compiled by themselves, whoever includes them. */
  readonly alone?: readonly string[];
  /** Of host functions that launch kernels: all that they say, or only what the launches depend on (for an audit). Everything by default. */
  readonly hostCode?: HostCode;
}

/** A file that could not be read as text. */
export interface FailedFile { readonly path: string; readonly message: string }

export interface LoadedProgram extends Program {
  readonly failed: readonly FailedFile[];
  /** Real paths of the files that were asked for, in their order (those that failed left out). */
  readonly roots: readonly string[];
  /** Functions of this name in all units, definitions first. */
  functionsNamed(name: string, arity?: number): readonly Unit['functions'][number][];
}

/** A file between reading and lowering. */
interface Work {
  readonly source: SourceFile;
  readonly names: FileNames;
  readonly visible: FileNames[];
  /** Files it includes, and the file whose include reached it first. */
  readonly includes: string[];
  readonly includer: Work | null;
  readonly missing: readonly string[];
  state: UnitState | null;
  read: ReadText | null;
}

/** What was made of a text, and what it was made of. */
interface ReadText {
  readonly tree: CstTree;
  readonly selection: Selection;
  readonly overlay: Overlay;
  readonly launchers: readonly string[];
}

/**
 * Lowers files and everything they include with quotes (or through `includeDirs`). Each file is lowered once, in the context of
 * the first file that includes it; what another includer sees otherwise counts as unknown there (includer-views.ts). `initParser` must
 * have settled. Files that cannot be read are listed, never thrown.
 */
export function loadProgram(paths: readonly string[], options: LoadOptions = {}): LoadedProgram {
  const first = new Loader(options, NO_DOUBTS);
  first.begin(paths);
  const doubts = first.doubts();
  if (doubts.size === 0) return first.finish();
  const second = new Loader(options, doubts, first);
  second.begin(paths);
  first.release();
  return second.finish();
}

const NO_DOUBTS: ReadonlyMap<string, FileDoubts> = new Map();

/** Trees of files wait for their bodies to be lowered until these many characters are read: beyond, memory is worth more than what a second load saves. */
const WAITING_TEXT = 8_000_000;

class Loader {
  readonly #reader: IncludeReader;
  readonly #store: SourceStore;
  readonly #works = new Map<string, Work>();
  /** By real path: what files include and define does not hang on what is in doubt, and two loads share it. */
  readonly #macros: Map<string, Map<string, MacroDefinition>>;
  readonly #resolved: Map<string, ReturnType<typeof resolveIncludes>>;
  /** Folders of `-I` for headers that have no command of their own. */
  readonly #folders: Map<string, readonly string[]>;
  readonly #failed: FailedFile[] = [];
  readonly #snippets = snippetsOf(cppParser());
  readonly #units = new Map<string, Unit>();
  readonly #states: UnitState[] = [];
  readonly #roots = new Set<string>();
  #cluster: Work[] = [];
  #waiting: Work[][] = [];
  #waitingText = 0;
  #asked: readonly string[] = [];

  /** `doubts` of files by real path, as a load without them found; `earlier` is that load, whose files were read already. */
  constructor(private readonly options: LoadOptions, private readonly fileDoubts: ReadonlyMap<string, FileDoubts>, private readonly earlier: Loader | null = null) {
    const realPath = options.realPath ?? ((path: string) => nodeReader.realPath(path));
    const realPaths = new Map<string, string | null>();
    this.#reader = {
      // An include is met while it is looked for, while macros are collected and where it stands: the file system is asked once.
      realPath: (path) => {
        let known = realPaths.get(path);
        if (known === undefined) realPaths.set(path, known = realPath(path));
        return known;
      },
      readFile: options.readFile ?? ((path) => nodeReader.readFile(path)),
    };
    this.#store = earlier === null ? new SourceStore(this.#reader) : earlier.#store;
    this.#macros = earlier === null ? new Map() : earlier.#macros;
    this.#resolved = earlier === null ? new Map() : earlier.#resolved;
    this.#folders = earlier === null ? new Map() : earlier.#folders;
  }

  /** What files mean otherwise for some of those who include them. */
  doubts(): ReadonlyMap<string, FileDoubts> {
    const included = new Map<SourceFile, ReadonlyMap<number, SourceFile>>();
    const works = [...this.#works.values()];
    return doubtsOf({
      // A file that is compiled by itself, too, is a unit of its own.
      roots: works.filter(({ includer, source }) => includer === null || this.#command(source) !== null || this.options.alone?.includes(source.realPath) === true).map(({ source }) => source),
      includesOf: (source) => {
        let known = included.get(source);
        if (known === undefined) {
          known = new Map(this.#includesOf(source).found.flatMap(({ directive, path }): [number, SourceFile][] => { const file = this.#included(path); return file === null ? [] : [[directive, file]]; }));
          included.set(source, known);
        }
        return known;
      },
      commandsOf: (source) => this.#commandsOf(source),
      source: (realPath) => this.#works.get(realPath)?.source ?? null,
      names: (realPath) => this.#works.get(realPath)?.names ?? null,
    });
  }

  /** Reads files and declares what they hold outside of bodies, which `finish` lowers. */
  begin(paths: readonly string[]): void {
    const sources = paths.flatMap((path) => this.#read(path) ?? []);
    this.#asked = [...new Set(sources.map((source) => source.realPath))];
    for (const root of this.#asked) this.#roots.add(root);
    for (const source of this.#inOrder(sources)) {
      if (this.#works.has(source.realPath)) continue;
      this.#cluster = [];
      this.#begin(source, null);
      this.#waiting.push(this.#cluster);
      for (const { source: { text } } of this.#cluster) this.#waitingText += text.length;
      if (this.#waitingText > WAITING_TEXT) this.#finishWaiting();
    }
  }

  finish(): LoadedProgram {
    this.#finishWaiting();
    const roots = this.#asked;
    const index = new ProgramIndex(this.#units, this.#states);
    for (const state of this.#states) state.link = (call) => { index.link(call); };
    return {
      units: this.#units, failed: this.#failed, roots,
      launchesOf: (kernel) => index.launchesOf(kernel),
      allLaunchesVisible: (kernel) => index.allLaunchesVisible(kernel),
      functionsNamed: (name, arity) => index.functionsNamed(name, arity),
    };
  }

  #read(path: string): SourceFile | null {
    try {
      const source = this.#store.load(path);
      if (source === null) this.#failed.push({ path, message: 'no such file' });
      return source;
    } catch (error) {
      this.#failed.push({ path, message: messageOf(error) });
      return null;
    }
  }

  /** Files that no other file of the list includes come first: an included file is lowered in the context of its includer. */
  #inOrder(sources: readonly SourceFile[]): SourceFile[] {
    const listed = new Set(sources.map((source) => source.realPath));
    const included = new Set<string>();
    for (const source of sources) {
      for (const file of this.#includesOf(source).found) if (listed.has(file.realPath) && file.realPath !== source.realPath) included.add(file.realPath);
    }
    return [...sources.filter((s) => !included.has(s.realPath)), ...sources.filter((s) => included.has(s.realPath))];
  }

  #includesOf(source: SourceFile): ReturnType<typeof resolveIncludes> {
    const known = this.#resolved.get(source.realPath);
    if (known !== undefined) return known;
    const folders = this.#command(source)?.includeDirectories ?? this.#folders.get(source.realPath) ?? [];
    const found = resolveIncludes(source, { directories: [...(this.options.includeDirs ?? []), ...folders], reader: this.#reader });
    this.#resolved.set(source.realPath, found);
    // A header is compiled by the command of the file that includes it.
    if (folders.length > 0) for (const { realPath } of found.found) if (!this.#folders.has(realPath)) this.#folders.set(realPath, folders);
    return found;
  }

  #command(source: SourceFile): CompileCommand | null {
    const { compileCommands } = this.options;
    // A path that was given from another folder than the process's own is found by the file it leads to.
    return compileCommands === undefined ? null : compileCommandFor(compileCommands, resolve(source.path)) ?? compileCommandFor(compileCommands, source.realPath);
  }

  #defines(source: SourceFile): Readonly<Record<string, string>> {
    return { ...this.#command(source)?.defines, ...this.options.defines };
  }

  /** Macros of the command line, once for each compile command of the file that defines others. */
  #commandsOf(source: SourceFile): readonly Readonly<Record<string, string>>[] {
    const { compileCommands, defines } = this.options;
    const first = this.#command(source);
    if (compileCommands === undefined || first === null) return [this.#defines(source)];
    const all: Readonly<Record<string, string>>[] = [];
    for (const command of compileCommands) {
      if (command.file !== first.file) continue;
      const made = { ...command.defines, ...defines };
      if (!all.some((known) => isDeepStrictEqual(known, made))) all.push(made);
    }
    return all;
  }

  /** The macros that a file and its includes define, whoever includes it. */
  #ownMacros(source: SourceFile, active: ReadonlySet<string>): Map<string, MacroDefinition> {
    const known = this.#macros.get(source.realPath);
    if (known !== undefined) return known;
    const inside = new Set([...active, source.realPath]);
    const tables = this.#includedSources(source).filter((s) => !inside.has(s.realPath)).map((s) => this.#ownMacros(s, inside));
    const macros = collectMacros(source, mergeMacros(tables), this.#defines(source), this.options.compileCommands === undefined ? undefined : varyingDefines(this.options.compileCommands, resolve(source.path), this.options.defines ?? {}));
    this.#macros.set(source.realPath, macros);
    return macros;
  }

  #includedSources(source: SourceFile): SourceFile[] {
    return this.#includesOf(source).found.flatMap((file) => this.#included(file.path) ?? []);
  }

  /** An include that cannot be read is as good as missing. */
  #included(path: string): SourceFile | null {
    try {
      return this.#store.load(path);
    } catch (error) {
      if (error instanceof SourceError) return null;
      throw error;
    }
  }

  /** Parses a file, declares its names (its includes on the way, where they stand) and queues its bodies. */
  #begin(source: SourceFile, includer: Work | null): Work {
    const given = this.fileDoubts.get(source.realPath) ?? null;
    const names = new FileNames(given?.declared);
    const resolved = this.#includesOf(source);
    const work: Work = {
      source, names, visible: [names, ...(includer?.visible ?? [])], includes: [], includer, missing: resolved.missing, state: null, read: null,
    };
    this.#works.set(source.realPath, work);
    this.#cluster.push(work);
    const plain = this.#macrosFor(source, includer);
    const doubts = withPopped(given, plain);
    const macros = doubts === null ? plain : withDoubts(plain, doubts);
    const includeAt = new Map<number, () => void>();
    for (const file of resolved.found) {
      const at = source.directives[file.directive]?.start;
      if (at !== undefined) includeAt.set(at, () => this.#include(work, file.path));
    }
    const launchers = launchMacros(macros);
    const known = this.earlier?.takeOver(source.realPath, macros) ?? null;
    let read = known ?? this.#readText(source, makeOverlay(source, macros), launchers, macros);
    if (known === null && read.tree.hasError) {
      const reduced = this.#reduceArms(source, read.overlay, read.tree.root);
      if (reduced !== read.overlay) {
        read.tree.release();
        read = this.#readText(source, reduced, launchers, macros);
      }
    }
    const { tree, overlay } = read;
    const state = this.#state(work, overlay, macros, includeAt, doubts === null ? null : new UnitDoubts(source, doubts));
    work.state = state;
    work.read = read;
    const ctx = new Lowering(state, names.global, overlay.text, source.text, overlay.notes);
    lowerItems(ctx, tree.root.children, 0);
    if (tree.hasError) {
      recoverKernels(ctx, cppParser());
      state.problems.push(...unread(state, tree.root));
    }
    // Includes inside of functions or of text that did not parse were not met on the way.
    for (const include of includeAt.values()) include();
    return work;
  }

  #readText(source: SourceFile, overlay: Overlay, launchers: readonly string[], macros: ReadonlyMap<string, MacroDefinition>): ReadText {
    // Of what was asked for every problem is reported; of headers only what somebody uses need be known.
    const selection = interesting(source, overlay, launchers, this.#roots.has(source.realPath), this.options.hostCode === 'launches' ? macros : null);
    const tree = this.earlier?.handOver(source.realPath, overlay, selection, launchers) ?? parseSparse(cppParser(), selection.text, selection.wanted);
    return { tree, selection, overlay, launchers };
  }

  /** All that was made of a file whose bodies this load did not come to lower, if it is to be read with the same macros again. */
  takeOver(realPath: string, macros: ReadonlyMap<string, MacroDefinition>): ReadText | null {
    const work = this.#works.get(realPath);
    if (work === undefined || work.state === null || work.read === null || !isSameTable(work.state.macros, macros)) return null;
    const { read } = work;
    work.read = null;
    return read;
  }

  /** The tree of a file whose bodies this load did not come to lower, if it would be read the same again. */
  handOver(realPath: string, overlay: Overlay, selection: Selection, launchers: readonly string[]): CstTree | null {
    const work = this.#works.get(realPath);
    const read = work?.read ?? null;
    if (work === undefined || read === null || read.selection.text !== selection.text || !isDeepStrictEqual([read.overlay.notes, read.launchers], [overlay.notes, launchers])) return null;
    work.read = null;
    return read.tree;
  }

  /** Lets go of the trees that nobody took over. */
  release(): void {
    for (const { read } of this.#works.values()) read?.tree.release();
  }

  /** Functions that hold errors and directives are read in one configuration only. */
  #reduceArms(source: SourceFile, overlay: Overlay, root: Cst): Overlay {
    let reduced = overlay;
    const pending: Cst[] = [root];
    while (pending.length > 0) {
      const node = pending.pop();
      if (node === undefined || !node.error) continue;
      if (node.type === 'function_definition' || node.type === 'ERROR') {
        reduced = blankInactiveArms(source, reduced, { start: node.start, end: node.end });
        continue;
      }
      pending.push(...node.children);
    }
    return reduced;
  }

  #macrosFor(source: SourceFile, includer: Work | null): Map<string, MacroDefinition> {
    const own = this.#ownMacros(source, new Set());
    if (includer?.state === null || includer === null) return own;
    // What the includer knows is visible too, less what this file itself defines (its include guard would hide it from itself).
    const context = new Map<string, MacroDefinition>();
    const place = this.#includesOf(includer.source).found.find((file) => file.realPath === source.realPath);
    const at = place === undefined ? Infinity : includer.source.directives[place.directive]?.start ?? 0;
    const line = place === undefined ? Infinity : includer.source.line(at);
    for (const [name, macro] of includer.state.macros) {
      // Of the includer's own macros those that it defines in front of the include.
      const later = macro.file === includer.source.realPath && macro.line > line;
      if (macro.file === source.realPath || own.has(name) || later) continue;
      const undone = macro.undoneIn === includer.source.realPath && place !== undefined && isDefinedAt(includer.source, macro, at);
      context.set(name, undone ? stillDefined(macro) : macro);
    }
    return context.size === 0 ? own : mergeMacros([context, own]);
  }

  #state(
    work: Work, overlay: Overlay, macros: ReadonlyMap<string, MacroDefinition>, includeAt: ReadonlyMap<number, () => void>, doubts: UnitDoubts | null,
  ): UnitState {
    return {
      file: work.source.realPath, source: work.source, overlay, macros, macroUses: new MacroUses(overlay), names: work.names, doubts, lookup: new Names(work.visible, doubts, this.fileDoubts.size > 0), functions: [], kernels: [], variables: [],
      launches: [], hiddenKernels: [], problems: [], bodies: [], openCalls: [], escapes: [], includeAt, snippets: this.#snippets,
      link: null,
    };
  }

  #include(work: Work, path: string): void {
    const source = this.#included(path);
    if (source === null || isLargeHostHeader(source) || work.includes.includes(source.realPath) || source.realPath === work.source.realPath) return;
    work.includes.push(source.realPath);
    const known = this.#works.get(source.realPath) ?? this.#begin(source, work);
    for (const names of this.#closure(known)) if (!work.visible.includes(names)) work.visible.push(names);
  }

  /** Names of a file and of everything it includes. */
  #closure(work: Work): FileNames[] {
    const seen = new Set<Work>();
    const pending = [work];
    while (pending.length > 0) {
      const next = pending.shift();
      if (next === undefined || seen.has(next)) continue;
      seen.add(next);
      for (const path of next.includes) {
        const included = this.#works.get(path);
        if (included !== undefined) pending.push(included);
      }
    }
    return [...seen].map((w) => w.names);
  }

  #finishWaiting(): void {
    for (const cluster of this.#waiting) this.#finishCluster(cluster);
    this.#waiting = [];
    this.#waitingText = 0;
  }

  /** Lowers the bodies of a root file and of what it was the first to include, then lets the trees go. */
  #finishCluster(cluster: readonly Work[]): void {
    for (const work of cluster) {
      const all = new Set<FileNames>();
      for (let w: Work | null = work; w !== null; w = w.includer) for (const names of this.#closure(w)) all.add(names);
      work.visible.splice(0, work.visible.length, ...all);
    }
    for (const work of cluster) {
      const { state, read } = work;
      if (state === null || read === null) continue;
      lowerBodies(state, read.tree, read.selection, mentionsIn(work.visible, state.macros));
      read.tree.release();
      work.read = null;
      this.#units.set(state.file, this.#unit(work, state));
      this.#states.push(state);
    }
  }

  #unit(work: Work, state: UnitState): Unit {
    state.functions.sort((a, b) => a.span.start - b.span.start);
    state.kernels.sort((a, b) => a.span.start - b.span.start);
    state.launches.sort((a, b) => a.span.start - b.span.start);
    state.hiddenKernels.push(...findHiddenKernels(state));
    state.problems.push(...lostKernels(state), ...(endsInReturns(state.source) ? [{ line: 1, message: IN_RETURNS }] : []), ...openTextOf(state.source));
    return {
      source: state.source, overlay: state.overlay, macros: state.macros, functions: state.functions, kernels: state.kernels, variables: state.variables,
      launches: state.launches, hiddenKernels: state.hiddenKernels, problems: state.problems, includes: work.includes, missingIncludes: work.missing,
      ...(state.doubts === null ? {} : { doubts: state.doubts }),
    };
  }
}

function isSameTable(a: ReadonlyMap<string, MacroDefinition>, b: ReadonlyMap<string, MacroDefinition>): boolean {
  if (a.size !== b.size) return false;
  for (const [name, macro] of a) if (b.get(name) !== macro) return false;
  return true;
}

function stillDefined({ undoneIn: _, ...macro }: MacroDefinition): MacroDefinition {
  return macro;
}

/** Host headers beyond this many characters give their macros only: bundled libraries, of which kernels use nothing. */
const LARGE_HEADER = 60_000;

function isLargeHostHeader(source: SourceFile): boolean {
  return source.text.length > LARGE_HEADER && !/__(?:global|device|host|shared|constant)__|<<</.test(source.text);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
