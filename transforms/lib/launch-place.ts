/** Where the text that replaces a launch goes: as it is, or in braces of its own. */
import type { SourceFile, Span } from '../../src/source/types.js';
import type { Stmt } from '../../src/syntax/tree.js';
import { bareHeadEnd } from './place.js';
import { indentAt } from './text.js';

export interface HostPlace {
  readonly span: Span;
  /** Indentation of the new lines; the first stands right behind `before`. */
  readonly indent: string;
  readonly before: string;
  readonly after: string;
}

/** `scope` asks for braces even in a list of statements: the text declares variables. `link`: it is one `if`, which may go on a chain, `else if (…)`. */
export function placeAt(source: SourceFile, statement: Stmt, parent: Stmt | null, scope: boolean, unit: string, link = false): HostPlace {
  const own = indentAt(source, statement.span.start);
  const headEnd = parent === null ? null : bareHeadEnd(parent, statement);
  if (headEnd === null) {
    const alone = scope && parent?.kind === 'compound' && parent.body.length === 1 ? insideOneLine(source, parent.span, statement.span) : null;
    if (alone !== null) return { span: alone, indent: own + unit, before: `\n${own}${unit}`, after: `\n${own}` };
    if (!scope) return { span: statement.span, indent: own, before: '', after: '' };
    return { span: statement.span, indent: own + unit, before: `{\n${own}${unit}`, after: `\n${own}}` };
  }
  const outer = indentAt(source, headEnd - 1);
  if (link && parent?.kind === 'if' && parent.else === statement && source.text.slice(headEnd, statement.span.start).trim() === '') {
    return { span: { start: headEnd, end: statement.span.end }, indent: outer, before: ' ', after: '' };
  }
  const indent = outer + unit;
  const between = source.text.slice(headEnd, statement.span.start);
  if (between.trim() === '') return { span: { start: headEnd, end: statement.span.end }, indent, before: ` {\n${indent}`, after: `\n${outer}}` };
  return { span: statement.span, indent, before: `{\n${indent}`, after: `\n${outer}}` };
}

/** What stands between braces that hold one statement and nothing else, all in one line: they are scope enough, and get lines of their own. */
function insideOneLine(source: SourceFile, braces: Span, statement: Span): Span | null {
  const { text } = source;
  if (text[braces.start] !== '{' || text[braces.end - 1] !== '}' || text.slice(braces.start, statement.start).includes('\n')) return null;
  const blank = text.slice(braces.start + 1, statement.start).trim() === '' && /^[ \t]*$/.test(text.slice(statement.end, braces.end - 1));
  return blank ? { start: braces.start + 1, end: braces.end - 1 } : null;
}
