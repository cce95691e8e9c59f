/**
 * Finds the files that `#include` lines name: quoted ones next to the including file first, then, as for `<…>`, in the folders that
 * the user or the compile command gives. System headers are not searched for.
 */
import { realpathSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { Directive, MacroDefinition, SourceFile } from './types.js';
import { walkConditionals } from './conditionals.js';
import { loadSource } from './source-file.js';
import { SourceError } from './errors.js';

/** The part of a file system that includes need. */
export interface IncludeReader {
  /** Symbolic links resolved; null if it is no readable file. */
  realPath(path: string): string | null;
  readFile(realPath: string): Uint8Array;
}

export interface IncludeOptions {
  /** Folders to search, in order. */
  readonly directories?: readonly string[];
  readonly reader?: IncludeReader;
  /** Macros that are defined before the file starts: includes in arms that no build with them takes are not looked for. */
  readonly macros?: ReadonlyMap<string, MacroDefinition>;
}

export interface FoundInclude {
  /** As written between the quotes or angle brackets. */
  readonly name: string;
  readonly quoted: boolean;
  /** Where the search found it. */
  readonly path: string;
  readonly realPath: string;
  /** Index in `SourceFile.directives`. */
  readonly directive: number;
}

export interface ResolvedIncludes {
  readonly found: readonly FoundInclude[];
  /** Quoted includes of the default configuration that no folder holds. */
  readonly missing: readonly string[];
}

export const nodeReader: IncludeReader = {
  realPath(path) {
    try {
      // Most headers that quotes name are nowhere: to be told so by an error costs ten times as much.
      return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? realpathSync.native(path) : null;
    } catch {
      return null;
    }
  },
  readFile: (realPath) => readFileSync(realPath),
};

export function resolveIncludes(source: SourceFile, options: IncludeOptions = {}): ResolvedIncludes {
  const reader = options.reader ?? nodeReader;
  const directories = options.directories ?? [];
  const found: FoundInclude[] = [];
  const missing: string[] = [];
  const here = dirname(source.realPath);
  if (directories.length === 0 && source.directives.every(leadsNowhere)) return { found, missing };
  walkConditionals(source, options.macros ?? new Map<string, MacroDefinition>(), {
    include(argument, certainty, directive) {
      const name = includeName(argument);
      if (!name || certainty === 'inactive') return;
      const folders = name.quoted ? [here, ...directories] : directories;
      const paths = isAbsolute(name.name) ? [name.name] : folders.map((folder) => join(folder, name.name));
      for (const path of paths) {
        const realPath = reader.realPath(path);
        if (realPath !== null) {
          found.push({ ...name, path, realPath, directive });
          return;
        }
      }
      if (name.quoted && certainty === 'active' && !missing.includes(name.name)) missing.push(name.name);
    },
  });
  return { found, missing };
}

/** Without folders to search, nothing comes of `<…>`: most files include only so, and their conditions need not be evaluated for it. */
function leadsNowhere({ kind, argument }: Directive): boolean {
  if (kind !== 'include') return true;
  const name = includeName(argument);
  return name === null || (!name.quoted && !isAbsolute(name.name));
}

/** Loads each file once, however many others include it. */
export class SourceStore {
  readonly #files = new Map<string, SourceFile | SourceError>();

  constructor(private readonly reader: IncludeReader = nodeReader) {}

  /** Null if the path is no file. Throws `SourceError` for a file that is not text. */
  load(path: string): SourceFile | null {
    const realPath = this.reader.realPath(path);
    if (realPath === null) return null;
    let file = this.#files.get(realPath);
    if (!file) {
      file = this.#read(path, realPath);
      this.#files.set(realPath, file);
    }
    if (file instanceof SourceError) throw file;
    return file;
  }

  #read(path: string, realPath: string): SourceFile | SourceError {
    try {
      return loadSource(path, realPath, this.reader.readFile(realPath));
    } catch (error) {
      if (error instanceof SourceError) return error;
      throw error;
    }
  }
}

/** Null for a computed include (`#include NAME`). */
function includeName(argument: string): { name: string; quoted: boolean } | null {
  const open = argument.charAt(0);
  if (open !== '"' && open !== '<') return null;
  const end = argument.indexOf(open === '"' ? '"' : '>', 1);
  return end > 1 ? { name: argument.slice(1, end), quoted: open === '"' } : null;
}
