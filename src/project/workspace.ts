/**
 * The files of a run in memory: what was read, what edits made of it, and the programs parsed from its present state. Nothing here
 * writes to the disk.
 */
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { landEdits } from '../rewrite/land-edits.js';
import { PieceText } from '../rewrite/piece-text.js';
import { decode } from '../source/decode.js';
import { SourceError } from '../source/errors.js';
import { nodeReader } from '../source/includes.js';
import { loadSource, sourceFromText } from '../source/source-file.js';
import type { CompileCommand } from '../source/index.js';
import type { Edit, SourceFile } from '../source/types.js';
import type { HostCode } from '../syntax/program.js';
import type { Program, Unit } from '../syntax/tree.js';
import { loadGroup, type Contents, type GroupOptions } from './engine.js';
import { readBytes, type InputFile } from './files.js';

/** A file that could not be taken in, with the line if there is one. */
export interface Failure {
  readonly path: string;
  readonly line: number | null;
  readonly message: string;
}

interface Content {
  /** What was read or given. */
  readonly bytes: Uint8Array;
  /** False for standard input. */
  readonly onDisk: boolean;
}

/** A file as it was read. */
export interface Original {
  readonly source: SourceFile;
  /** What lay on the disk; null for standard input. */
  readonly bytes: Uint8Array | null;
}

export interface WorkspaceOptions extends GroupOptions {
  /** Real path of the folder that results name files from. */
  readonly cwd: string;
  /** Contents that do not come from the disk, by real path (standard input). */
  readonly given?: ReadonlyMap<string, Uint8Array>;
  /** Inputs that are known together, by real path, if that was decided elsewhere. */
  readonly groups?: readonly (readonly string[])[];
}

/** Up to so many bytes of source, all files are one program; more are parted by folders and includes. */
const ONE_PROGRAM_BYTES = 1_000_000;

export class Workspace {
  readonly failures: Failure[] = [];
  /** The files that could be read, in the order of the run. */
  readonly inputs: readonly InputFile[];
  /** Inputs whose kernels can be known only together. */
  readonly groups: readonly (readonly InputFile[])[];
  private readonly contents = new Map<string, Content>();
  private readonly originals = new Map<string, Original>();
  private readonly texts = new Map<string, PieceText>();
  private readonly present = new Map<string, SourceFile>();
  private readonly shown = new Map<string, string>();

  constructor(
    files: readonly InputFile[],
    private readonly options: WorkspaceOptions,
  ) {
    const readable: { file: InputFile; text: string }[] = [];
    for (const file of files) {
      const text = this.read(file);
      if (text !== null) readable.push({ file, text });
    }
    this.inputs = readable.map(({ file }) => file);
    this.groups = options.groups === undefined
      ? groupFiles(readable, options.includeDirs)
      : options.groups.map((group) => this.inputs.filter((file) => group.includes(file.realPath))).filter((group) => group.length > 0);
  }

  private read(file: InputFile): string | null {
    const given = this.options.given?.get(file.realPath);
    const content = given !== undefined ? { bytes: given } : readBytes(file.realPath);
    if ('message' in content) {
      this.failures.push({ path: file.path, line: null, message: content.message });
      return null;
    }
    try {
      const { text } = decode(content.bytes);
      this.contents.set(file.realPath, { bytes: content.bytes, onDisk: given === undefined });
      return text;
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      this.failures.push({ path: file.path, line: null, message: error.message });
      return null;
    }
  }

  /** Bytes of a file as it was read. */
  sizeOf(realPath: string): number {
    return this.contents.get(realPath)?.bytes.length ?? 0;
  }

  /** Does a file, as it was read, hold this text of plain letters anywhere? */
  mentions(realPath: string, text: string): boolean {
    const bytes = this.contents.get(realPath)?.bytes;
    return bytes !== undefined && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(text);
  }

  /** Programs that were parsed last: one round asks for the program that the round before checked its edits with. */
  private recent: readonly { readonly group: readonly InputFile[]; readonly hostCode: HostCode; readonly program: Program }[] = [];

  /** Parses the present state of a group, unless it was parsed already. Where only launches are asked of host code, a program that was read whole does. */
  program(group: readonly InputFile[], hostCode: HostCode = 'whole'): Program {
    const known = this.recent.find((made) => (made.hostCode === 'whole' || made.hostCode === hostCode) && made.group.length === group.length && made.group.every((file, i) => file.realPath === group[i]?.realPath) && this.isPresent(made.program));
    if (known !== undefined) return known.program;
    const headers = new Map<string, Uint8Array>();
    const read = (realPath: string): Uint8Array => {
      const bytes = nodeReader.readFile(realPath);
      headers.set(realPath, bytes);
      return bytes;
    };
    const contents: Contents = { bytes: (realPath) => this.contents.get(realPath)?.bytes ?? null, read, present: this.present };
    const program = loadGroup(group, contents, this.options, [], hostCode);
    for (const unit of program.units.values()) this.adopt(unit, headers);
    this.recent = [{ group, hostCode, program }, ...this.recent.slice(0, 1)];
    return program;
  }

  /** Each file of the program is as it is now. */
  private isPresent(program: Program): boolean {
    return [...program.units.values()].every(({ source }) => this.source(source.realPath)?.text === source.text);
  }

  get compileCommands(): readonly CompileCommand[] {
    return this.options.compileCommands ?? [];
  }

  /** Parses files as they were read. `alone`: files that are compiled by themselves as well, whoever includes them. */
  originalProgram(group: readonly InputFile[], alone: readonly string[] = []): Program {
    return loadGroup(group, { bytes: (realPath) => this.contents.get(realPath)?.bytes ?? null, present: new Map() }, this.options, alone);
  }

  /** Keeps what a file was before anybody edits it; `headers` came in through includes, as they were read for it. */
  private adopt(unit: Unit, headers: ReadonlyMap<string, Uint8Array>): void {
    const { realPath } = unit.source;
    if (this.present.has(realPath)) {
      // The edited text, as the program knows it: places in the program are places in this very file.
      this.present.set(realPath, unit.source);
      return;
    }
    if (this.originals.has(realPath)) {
      const original = this.originals.get(realPath);
      if (original !== undefined) this.originals.set(realPath, { ...original, source: unit.source });
      return;
    }
    let content = this.contents.get(realPath);
    if (content === undefined) {
      const bytes = headers.get(realPath);
      if (bytes === undefined) return;
      content = { bytes, onDisk: true };
      this.contents.set(realPath, content);
    }
    this.originals.set(realPath, { source: unit.source, bytes: content.onDisk ? content.bytes : null });
  }

  /** The file as it is now. */
  source(realPath: string): SourceFile | null {
    return this.present.get(realPath) ?? this.original(realPath)?.source ?? null;
  }

  /** The file as it was read. */
  original(realPath: string): Original | null {
    const known = this.originals.get(realPath);
    if (known !== undefined) return known;
    const content = this.contents.get(realPath);
    if (content === undefined) return null;
    const path = this.inputs.find((file) => file.realPath === realPath)?.path ?? realPath;
    const original = { source: loadSource(path, realPath, content.bytes), bytes: content.onDisk ? content.bytes : null };
    this.originals.set(realPath, original);
    return original;
  }

  /** How a file is called in results: as the user gave it, else as it lies below the working folder, else by its real path. */
  shownPath(realPath: string): string {
    if (this.shown.size === 0) for (const file of this.inputs) this.shown.set(file.realPath, file.path);
    const known = this.shown.get(realPath);
    if (known !== undefined) return known;
    const below = relative(this.options.cwd, realPath);
    const path = below.startsWith('..') || isAbsolute(below) ? realPath : below.split(sep).join('/');
    this.shown.set(realPath, path);
    return path;
  }

  /** The file as it was read, by the path that the user gave. */
  originalByPath(path: string): SourceFile | null {
    for (const [realPath, { source }] of this.originals) if (this.shownPath(realPath) === path) return source;
    return null;
  }

  /** The real path of a file that words of an outcome name, by its path or by its name alone; null if it is none, or not the only one. */
  fileNamed(path: string): string | null {
    const known = [...this.originals].filter(([realPath, { source }]) => realPath === path || source.path === path || this.shownPath(realPath) === path);
    const found = known.length > 0 ? known : [...this.originals].filter(([realPath]) => realPath.endsWith(`/${path}`));
    return found.length === 1 ? found[0]?.[0] ?? null : null;
  }

  /** Makes edits (against the present texts, sorted and disjoint by file). Returns a function that takes them back. */
  commit(edits: ReadonlyMap<string, readonly Edit[]>): () => void {
    const undo: (() => void)[] = [];
    for (const [file, list] of edits) {
      const original = this.original(file);
      const source = this.source(file);
      if (original === null || source === null) throw new Error(`internal: an edit names ${file}, which was not loaded`);
      const before = { text: this.texts.get(file), present: this.present.get(file) };
      const text = (before.text ?? PieceText.of(original.source.text)).edited(landEdits(source.text, list, source.newline));
      this.texts.set(file, text);
      this.present.set(file, sourceFromText(source.path, file, text.toString(), { encoding: source.encoding, bom: source.bom }));
      undo.push(() => {
        if (before.text === undefined) this.texts.delete(file);
        else this.texts.set(file, before.text);
        if (before.present === undefined) this.present.delete(file);
        else this.present.set(file, before.present);
      });
    }
    return () => {
      for (const step of undo.reverse()) step();
    };
  }

  /** Files whose text is not what was read, in the order of their real paths. */
  changedFiles(): readonly { readonly original: Original; readonly edits: readonly Edit[]; readonly text: string }[] {
    return [...this.texts.keys()].sort().flatMap((file) => {
      const text = this.texts.get(file);
      const original = this.originals.get(file);
      if (text === undefined || original === undefined || !text.changed) return [];
      return [{ original, edits: text.edits(file), text: text.toString() }];
    });
  }

  /** The place of the original file that text which no edit has touched stands at; null for text that an edit brought. */
  originalOffset(file: string, offset: number): number | null {
    const text = this.texts.get(file);
    if (text === undefined) return offset;
    const origin = text.origin(offset);
    return origin.kind === 'original' ? origin.offset : null;
  }

  /**
   * The line of the original file that a place of the present text stems from. `exact` is false for text that an edit brought and
   * that no line of the original nearby equals.
   */
  originalLine(file: string, offset: number): { readonly line: number; readonly exact: boolean } {
    const original = this.original(file)?.source;
    const present = this.source(file);
    const text = this.texts.get(file);
    if (original === undefined || present === null) return { line: 1, exact: false };
    if (text === undefined) return { line: original.line(offset), exact: true };
    const origin = text.origin(offset);
    if (origin.kind === 'original') return { line: original.line(origin.offset), exact: true };
    const wanted = lineText(present, present.line(offset));
    const first = original.line(origin.replaced.start);
    const last = original.line(origin.replaced.end);
    // A copied line is the line it was copied from: the nearest one that reads the same.
    for (let away = 0; away <= last - first + COPY_DISTANCE; away++) {
      for (const line of [first + away, first - away]) {
        if (line >= 1 && line <= original.lineCount && lineText(original, line) === wanted) return { line, exact: true };
      }
    }
    return { line: first, exact: false };
  }
}

/** One group if the files are small together; else those that share a folder, or include each other, stay together. */
function groupFiles(files: readonly { readonly file: InputFile; readonly text: string }[], includeDirs: readonly string[]): readonly (readonly InputFile[])[] {
  if (files.length === 0) return [];
  if (files.reduce((n, { text }) => n + text.length, 0) <= ONE_PROGRAM_BYTES) return [files.map(({ file }) => file)];
  const parent = new Map<string, string>();
  const find = (key: string): string => {
    let root = key;
    for (let up = parent.get(root); up !== undefined && up !== root; up = parent.get(root)) root = up;
    parent.set(key, root);
    return root;
  };
  const known = new Set(files.map(({ file }) => file.realPath));
  for (const { file, text } of files) {
    const folder = dirname(file.realPath);
    find(folder);
    // Only which files travel together is decided here; the syntax room reads the includes properly.
    for (const match of text.matchAll(/^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"/gm)) {
      for (const base of [folder, ...includeDirs]) {
        const target = resolve(base, match[1] ?? '');
        if (!known.has(target)) continue;
        parent.set(find(dirname(target)), find(folder));
        break;
      }
    }
  }
  const groups = new Map<string, InputFile[]>();
  for (const { file } of files) {
    const root = find(dirname(file.realPath));
    const list = groups.get(root);
    if (list === undefined) groups.set(root, [file]);
    else list.push(file);
  }
  return [...groups.values()];
}

/** How many lines around an edit a copied line is looked for. */
const COPY_DISTANCE = 300;

function lineText(source: SourceFile, line: number): string {
  const end = line < source.lineCount ? source.lineStart(line + 1) : source.text.length;
  return source.text.slice(source.lineStart(line), end).trim();
}
