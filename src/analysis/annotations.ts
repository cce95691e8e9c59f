/**
 * `// divmod: …` comments as the analyses ask for them: by line, and by function. An annotation belongs to a function if it speaks about
 * a line of its head (qualifiers to the opening brace).
 */
import { annotationsOf as annotationsOfSource } from '../source/annotations.js';
import type { Annotation, SourceFile } from '../source/types.js';
import type { FunctionDecl, Program } from '../syntax/tree.js';

const byLine = new WeakMap<SourceFile, ReadonlyMap<number, readonly Annotation[]>>();
const NONE: readonly Annotation[] = [];

function linesOf(source: SourceFile): ReadonlyMap<number, readonly Annotation[]> {
  const known = byLine.get(source);
  if (known !== undefined) return known;
  const lines = new Map<number, Annotation[]>();
  for (const annotation of annotationsOfSource(source)) {
    const list = lines.get(annotation.line);
    if (list === undefined) lines.set(annotation.line, [annotation]);
    else list.push(annotation);
  }
  byLine.set(source, lines);
  return lines;
}

/** Annotations that speak about a line. */
export function annotationsAt(source: SourceFile, line: number): readonly Annotation[] {
  return linesOf(source).get(line) ?? NONE;
}

/** The value of `key` at a line: a string, null for a key without a value, undefined if absent. */
export function annotationValue(source: SourceFile, line: number, key: string): string | null | undefined {
  return annotationsAt(source, line).find((annotation) => annotation.key === key)?.value;
}

/** Annotations of a function, by key. */
export function annotationsOf(fn: FunctionDecl, program: Program): ReadonlyMap<string, string | null> {
  const found = new Map<string, string | null>();
  const source = program.units.get(fn.file)?.source;
  if (source === undefined) return found;
  const lines = linesOf(source);
  if (lines.size === 0) return found;
  const last = source.line(fn.headSpan.end);
  for (let line = source.line(fn.headSpan.start); line <= last; line++) {
    for (const annotation of lines.get(line) ?? NONE) found.set(annotation.key, annotation.value);
  }
  return found;
}
