/** Places of loaded programs as lines of the files that the user knows. */
import type { Program } from '../syntax/tree.js';
import type { SourceFile } from '../source/types.js';
import type { SourceView } from './simulation.js';

/** `nameOf` gives the path to show for a real path. A file that several programs hold is read from the first. */
export function sourceViewOf(programs: Iterable<Program>, nameOf: (realPath: string) => string): SourceView {
  const sources = new Map<string, SourceFile>();
  for (const program of programs) for (const [file, unit] of program.units) if (!sources.has(file)) sources.set(file, unit.source);
  return {
    nameOf,
    position: (at) => sources.get(at.file)?.position(at.start) ?? null,
    lineOf(file, line) {
      const source = sources.get(file);
      if (source === undefined || line < 1 || line > source.lineCount) return null;
      return source.text.slice(source.lineStart(line), line < source.lineCount ? source.lineStart(line + 1) : source.text.length).trimEnd();
    },
  };
}
