/** How a workspace gets its programs: one place that knows the options of the syntax room. */
import { initParser } from '../syntax/parser.js';
import { loadProgram } from '../syntax/program.js';
import { nodeReader, type IncludeReader } from '../source/includes.js';
import type { SourceFile } from '../source/types.js';
import type { Program } from '../syntax/tree.js';

export interface GroupOptions {
  readonly includeDirs: readonly string[];
  readonly define: ReadonlyMap<string, string>;
}

/** Loads the parser; must have settled before `loadGroup`. */
export async function startEngine(): Promise<void> {
  await initParser();
}

/** One program out of sources and the headers they include; `present` holds files whose text is not the one on the disk. */
export function loadGroup(sources: readonly SourceFile[], present: ReadonlyMap<string, SourceFile>, options: GroupOptions): Program {
  void present;
  return loadProgram(sources, { directories: options.includeDirs, reader: nodeReader as IncludeReader });
}
