/** How a workspace gets its programs: one place that knows how the syntax room loads files. */
import { readFileSync } from 'node:fs';
import { encode } from '../source/decode.js';
import { SourceError } from '../source/errors.js';
import { nodeReader } from '../source/includes.js';
import { parseCompileCommands, type CompileCommand } from '../source/compile-commands.js';
import type { SourceFile } from '../source/types.js';
import { initParser } from '../syntax/parser.js';
import { loadProgram, type HostCode, type LoadedProgram } from '../syntax/program.js';
import { UsageError } from './errors.js';
import type { InputFile } from './files.js';

export interface GroupOptions {
  readonly includeDirs: readonly string[];
  readonly define: ReadonlyMap<string, string>;
  readonly compileCommands: readonly CompileCommand[] | null;
}

/** Loads the parser; must have settled before `loadGroup`. */
export async function startEngine(): Promise<void> {
  await initParser();
}

/** Throws `UsageError` if the file cannot be read or is something else. */
export function readCompileCommands(path: string): readonly CompileCommand[] {
  try {
    return parseCompileCommands(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`--compile-commands ${path}: ${error instanceof SourceError ? error.message : 'cannot be read'}`);
  }
}

/** Where the contents of files come from if not from the disk. */
export interface Contents {
  /** Bytes as they were read or given. */
  bytes(realPath: string): Uint8Array | null;
  /** Bytes of a file that `bytes` does not know; from the disk if absent. */
  readonly read?: (realPath: string) => Uint8Array;
  /** Files that were edited. */
  readonly present: ReadonlyMap<string, SourceFile>;
}

/** One program out of files and the headers they include; with `launches` of host functions only what launches depend on. */
export function loadGroup(files: readonly InputFile[], contents: Contents, options: GroupOptions, alone: readonly string[] = [], hostCode: HostCode = 'whole'): LoadedProgram {
  const known = new Map(files.map((file) => [file.path, file.realPath]));
  const read = contents.read ?? ((realPath: string) => nodeReader.readFile(realPath));
  return loadProgram(files.map((file) => file.path), {
    realPath: (path) => known.get(path) ?? (contents.bytes(path) === null ? nodeReader.realPath(path) : path),
    readFile: (realPath) => {
      const edited = contents.present.get(realPath);
      return edited !== undefined ? encode(edited, edited.text) : contents.bytes(realPath) ?? read(realPath);
    },
    includeDirs: options.includeDirs,
    alone, hostCode,
    defines: Object.fromEntries(options.define),
    ...(options.compileCommands === null ? {} : { compileCommands: options.compileCommands }),
  });
}
