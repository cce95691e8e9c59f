/**
 * The statements of an arm as they stand between other braces.
 */
import type { SourceFile } from '../../src/source/types.js';
import type { Stmt } from '../../src/syntax/tree.js';
import { copyText, extentOf, indentAt, startsLine, statementStart, textOf } from './text.js';

/** What stands between the braces of an arm, at its new depth. */
export function armText(source: SourceFile, stmt: Stmt, indent: string): string {
  if (stmt.kind !== 'compound') {
    const start = statementStart(stmt);
    return indent + copyText(source, { start, end: extentOf(source, stmt).end }, { from: indentAt(source, start), to: indent });
  }
  const open = stmt.span.start + 1;
  const content = { start: open + (/^[ \t]*\r?\n/.exec(source.text.slice(open, stmt.span.end))?.[0].length ?? 0), end: stmt.span.end - 1 };
  const body = textOf(source, content);
  if (body.trim() === '') return '';
  const lead = stmt.body.find((inner) => startsLine(source, statementStart(inner)));
  const from = lead === undefined ? indentAt(source, stmt.span.start) : indentAt(source, statementStart(lead));
  const onOwnLines = content.start > open;
  const text = copyText(source, onOwnLines ? { start: content.start, end: content.end } : content, { from, to: indent });
  const first = onOwnLines ? shiftFirst(text, from, indent) : indent + text.trimStart();
  return first.trimEnd();
}

/** The first line of a copy is not shifted by `copyText`. */
function shiftFirst(text: string, from: string, to: string): string {
  return text.startsWith(from) ? to + text.slice(from.length) : text;
}
