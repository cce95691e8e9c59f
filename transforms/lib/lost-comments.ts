/** Comments of a text that is replaced which the new text does not hold: they are put somewhere near, never dropped. */
import { tokenize } from '../../src/source/tokenizer.js';
import type { SourceFile, Span } from '../../src/source/types.js';
import { commentsIn, indentAt, lineStartOf, startsLine, unixNewlines } from './text.js';

/** Texts of the comments of `span` that stand less often in `written` than they stood, each once, in order. White space does not count. */
export function lostComments(source: SourceFile, span: Span, written: string): readonly string[] {
  const squeezed = (text: string): string => text.trimEnd().replaceAll(/\s+/g, ' ');
  const left = new Map<string, number>();
  for (const { start, end } of tokenize(written).comments) {
    const key = squeezed(written.slice(start, end));
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  const lost: string[] = [];
  for (const comment of commentsIn(source, span)) {
    const text = unixNewlines(source.text.slice(comment.start, comment.end)).trimEnd();
    const key = squeezed(text);
    const found = left.get(key) ?? 0;
    if (found === 0) lost.push(text);
    else left.set(key, found - 1);
  }
  return lost;
}

/** Where a comment behind the opening brace of a block ends, if nothing else stands on its line; null if there is none. `start` is the first text in the block. */
export function behindBrace(source: SourceFile, open: number, start: number): Span | null {
  if (source.text.slice(open, start).includes('\n')) return null;
  const newline = source.text.indexOf('\n', start);
  const end = newline < 0 ? source.text.length : newline;
  const line = source.text.slice(start, end).trimEnd();
  const comments = commentsIn(source, { start, end: start + line.length });
  const last = comments.at(-1);
  if (last === undefined || comments[0]?.start !== start || source.text.slice(last.start, last.end).trimEnd().length + last.start !== start + line.length) return null;
  for (const [i, comment] of comments.entries()) {
    const next = comments[i + 1];
    if (next !== undefined && source.text.slice(comment.end, next.start).trim() !== '') return null;
  }
  return { start, end: start + line.length };
}

/** The first of the lines right above a statement's that hold nothing but a comment each, as far in as it. */
export function saidAbove(source: SourceFile, line: number): number {
  const indent = indentAt(source, line);
  let start = line;
  for (const comment of [...commentsIn(source, { start: 0, end: line })].reverse()) {
    const end = comment.start + source.text.slice(comment.start, comment.end).trimEnd().length;
    const gap = source.text.slice(end, start);
    if (gap.trim() !== '' || gap.split('\n').length !== 2 || !startsLine(source, comment.start) || indentAt(source, comment.start) !== indent) break;
    start = lineStartOf(source, comment.start);
  }
  return start;
}
