/**
 * Text that edits are made of: extents of statements with the comments that belong to them, copies at another depth, the
 * indentation and brace style of the surroundings.
 *
 * Copies are verbatim but for the white space at the start of their lines. Lines that start inside a comment or a raw string, and
 * lines that continue a directive, are left as they are. All text made here ends lines with `\n`; the rewrite room converts.
 */
import { forEachChild, type Node } from '../../src/analysis/children.js';
import { tokenize } from '../../src/source/tokenizer.js';
import { TokenKind } from '../../src/source/tokens.js';
import type { SourceFile, Span } from '../../src/source/types.js';
import type { CompoundStmt, FunctionDecl, Stmt } from '../../src/syntax/tree.js';

/** The text of a node or span, with its own newlines made `\n`. */
export function textOf(source: SourceFile, span: Span): string {
  return unixNewlines(source.text.slice(span.start, span.end));
}

export function unixNewlines(text: string): string {
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
}

/**
 * Lines put together: where a line ends between two tokens stands a space, and line comments become block comments. Literals stay as they are,
 * those of several lines too; directives keep their lines.
 */
export function joinLines(text: string): string {
  return betweenTokens(text, (gap, comments) => {
    if (!gap.includes('\n') && !comments.some((comment) => comment.startsWith('//'))) return gap;
    const said = comments.map((comment) => (comment.startsWith('//') ? `/* ${comment.slice(2).replaceAll(/\\\r?\n/g, ' ').replaceAll('*/', '* /').trim()} */` : comment.replaceAll(/\s*\n\s*/g, ' ')));
    return ` ${said.map((comment) => `${comment} `).join('')}`;
  });
}

/** The code alone: one space for all white space and comments between two tokens. Literals stay as they are. */
export function codeOnly(text: string): string {
  return betweenTokens(text, (gap) => (gap === '' ? '' : ' '));
}

/** The text with other gaps between its tokens; `comments` are those that stand in a gap. */
function betweenTokens(text: string, gapText: (gap: string, comments: readonly string[]) => string): string {
  const { tokens, comments } = tokenize(text);
  const said = (from: number, to: number): string => gapText(text.slice(from, to), comments.filter(({ start }) => start >= from && start < to).map(({ start, end }) => text.slice(start, end)));
  let out = '';
  let at = 0;
  for (let i = 0; i < tokens.count; i++) {
    const directive = tokens.kind(i) === TokenKind.directive;
    const gap = said(at, tokens.start(i));
    out += directive ? `${gap.trimEnd()}\n${tokens.spelling(i).trimEnd()}\n` : `${i === 0 || out.endsWith('\n') ? gap.trimStart() : gap}${tokens.spelling(i)}`;
    at = tokens.end(i);
  }
  return (out + said(at, text.length)).trimEnd();
}

/** Offset of the first character of the line that holds `offset`. */
export function lineStartOf(source: SourceFile, offset: number): number {
  return source.text.lastIndexOf('\n', offset - 1) + 1;
}

/** Offset just behind the line that holds `offset`, its newline included. */
export function lineEndOf(source: SourceFile, offset: number): number {
  const newline = source.text.indexOf('\n', offset);
  return newline < 0 ? source.text.length : newline + 1;
}

/** White space at the start of the line that holds `offset`. */
export function indentAt(source: SourceFile, offset: number): string {
  const start = lineStartOf(source, offset);
  let end = start;
  while (end < source.text.length && (source.text[end] === ' ' || source.text[end] === '\t')) end++;
  return source.text.slice(start, end);
}

/** True if nothing but white space stands before `offset` on its line. */
export function startsLine(source: SourceFile, offset: number): boolean {
  return source.text.slice(lineStartOf(source, offset), offset).trim() === '';
}

/** True if nothing but white space stands behind `offset` on its line. */
export function endsLine(source: SourceFile, offset: number): boolean {
  const newline = source.text.indexOf('\n', offset);
  return source.text.slice(offset, newline < 0 ? undefined : newline).trim() === '';
}

/** Where a statement's text starts: at the first `#pragma` that belongs to it, for a loop. */
export function statementStart(stmt: Stmt): number {
  let start = stmt.span.start;
  if (stmt.kind === 'for' || stmt.kind === 'while' || stmt.kind === 'do' || stmt.kind === 'range-for') {
    for (const pragma of stmt.pragmas) start = Math.min(start, pragma.span.start);
  }
  return start;
}

/** Comments that start in a span, in order. */
export function commentsIn(source: SourceFile, span: Span): readonly Span[] {
  const { comments } = source;
  let low = 0;
  let high = comments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const comment = comments[middle];
    if (comment !== undefined && comment.start < span.start) low = middle + 1;
    else high = middle;
  }
  const result: Span[] = [];
  for (let i = low; i < comments.length; i++) {
    const comment = comments[i];
    if (comment === undefined || comment.start >= span.end) break;
    result.push(comment);
  }
  return result;
}

/**
 * Code of a span on one line: without comments, since a `//` would take the rest of the line with it, and without the backslashes that join lines. For text that is
 * written a second time, and so keeps its comments where it stood.
 */
export function oneLine(source: SourceFile, span: Span): string {
  let out = '';
  let at = span.start;
  for (const comment of commentsIn(source, span)) {
    if (comment.start < at) continue;
    out += `${source.text.slice(at, comment.start)} `;
    at = Math.min(comment.end, span.end);
  }
  return joinLines(out + source.text.slice(at, span.end));
}

/** Text of a span that moves to another place: its comments go along, so that lines stay apart where one of them ends a line or goes over several. */
export function movedText(source: SourceFile, span: Span): string {
  const text = textOf(source, span);
  const apart = commentsIn(source, span).some((comment) => {
    const said = source.text.slice(comment.start, comment.end);
    return said.startsWith('//') || said.includes('\n');
  });
  return apart ? text : joinLines(text);
}

/** `end` moved behind comments that stand on the rest of the line, if nothing else does. */
export function withTrailingComments(source: SourceFile, end: number): number {
  const newline = source.text.indexOf('\n', end);
  const lineEnd = newline < 0 ? source.text.length : newline;
  let at = end;
  let last = end;
  for (const comment of commentsIn(source, { start: end, end: lineEnd })) {
    if (source.text.slice(at, comment.start).trim() !== '') return end;
    // A comment that goes on below the line introduces what follows, not what stands before.
    if (comment.end > lineEnd) return end;
    at = comment.end;
    last = comment.end;
  }
  return source.text.slice(last, lineEnd).trim() === '' ? last : end;
}

/** A statement with its pragmas and the comments at the end of its last line. */
export function extentOf(source: SourceFile, stmt: Stmt): Span {
  return { start: statementStart(stmt), end: withTrailingComments(source, stmt.span.end) };
}

/** The span widened to whole lines, newline included, if nothing else stands on them; else the span itself. */
export function wholeLines(source: SourceFile, span: Span): Span {
  if (!startsLine(source, span.start) || !endsLine(source, span.end)) return span;
  return { start: lineStartOf(source, span.start), end: lineEndOf(source, span.end) };
}

/** Lines that are to go, with the blank line behind them if it would be the second of two, or the first thing of a block. */
export function withBlankLine(source: SourceFile, lines: Span): Span {
  const above = source.text.slice(0, lines.start).trimEnd();
  const opens = above.endsWith('{') || source.text.slice(above.length, lines.start).split('\n').length > 2;
  const nextEnd = lineEndOf(source, lines.end);
  const blankBelow = lines.end < source.text.length && source.text.slice(lines.end, nextEnd).trim() === '' && nextEnd > lines.end;
  return opens && blankBelow ? { start: lines.start, end: nextEnd } : lines;
}

/** A piece of a copy that differs from the original. `text` is final: it is not shifted again. */
export interface Replacement {
  readonly span: Span;
  readonly text: string;
}

/** A shift of depth: what lines of the original start with, and what those of the copy start with instead. */
export interface Shift {
  readonly from: string;
  readonly to: string;
}

/** A copy of a span: replacements put in place, lines shifted. The first line is copied from `span.start` on, unshifted. */
export function copyText(source: SourceFile, span: Span, shift: Shift, replacements: readonly Replacement[] = []): string {
  const fixed = fixedLines(source, span);
  const sorted = [...replacements].sort((a, b) => a.span.start - b.span.start);
  let out = '';
  let at = span.start;
  const copyTo = (end: number): void => {
    while (at < end) {
      const newline = source.text.indexOf('\n', at);
      const stop = newline < 0 || newline + 1 > end ? end : newline + 1;
      const lineBegins = at > span.start && source.text[at - 1] === '\n';
      // New lines end without blanks, but inside comments, raw strings and continued lines.
      const piece = fixed.has(stop) ? source.text.slice(at, stop) : source.text.slice(at, stop).replace(/[ \t]+(?=\r?\n$)/, '');
      out += lineBegins && !fixed.has(at) ? shiftLine(piece, shift) : piece;
      at = stop;
    }
  };
  for (const replacement of sorted) {
    copyTo(replacement.span.start);
    out += replacement.text;
    at = Math.max(at, replacement.span.end);
  }
  copyTo(span.end);
  return unixNewlines(out);
}

function shiftLine(line: string, { from, to }: Shift): string {
  if (from === to) return line;
  const body = line.trimStart();
  // Blank lines hold no white space in a copy. (White space without a newline is the start of a line that a replacement goes on.)
  if (body === '' && line.includes('\n')) return line.slice(line.search(/\r?\n/));
  const indent = line.slice(0, line.length - body.length);
  if (indent.startsWith(from)) return to + indent.slice(from.length) + body;
  // A directive at the edge of the page stays there.
  if (body.startsWith('#') && indent === '') return line;
  if (to.startsWith(from)) return indent + to.slice(from.length) + body;
  return (from.startsWith(indent) ? to : indent) + body;
}

/** Offsets of line starts that must not be shifted: inside comments and raw strings, and behind a line continuation. */
function fixedLines(source: SourceFile, span: Span): ReadonlySet<number> {
  const fixed = new Set<number>();
  const mark = (from: number, to: number): void => {
    for (let at = source.text.indexOf('\n', from); at >= 0 && at < to; at = source.text.indexOf('\n', at + 1)) fixed.add(at + 1);
  };
  for (const comment of commentsIn(source, span)) mark(comment.start, comment.end);
  for (const raw of rawStringsIn(source, span)) mark(raw.start, raw.end);
  for (let at = source.text.indexOf('\n', span.start); at >= 0 && at < span.end; at = source.text.indexOf('\n', at + 1)) {
    const before = source.text[at - 1] === '\r' ? at - 2 : at - 1;
    if (source.text[before] === '\\') fixed.add(at + 1);
  }
  return fixed;
}

/** Raw strings in a span of code; comments and ordinary literals are passed over. */
function rawStringsIn(source: SourceFile, span: Span): readonly Span[] {
  const { text } = source;
  if (!text.slice(span.start, span.end).includes('R"')) return [];
  const comments = commentsIn(source, span);
  const result: Span[] = [];
  let next = 0;
  for (let at = span.start; at < span.end; ) {
    const comment = comments[next];
    if (comment !== undefined && at >= comment.start) {
      at = Math.max(at, comment.end);
      next++;
      continue;
    }
    const c = text[at];
    if (c === 'R' && text[at + 1] === '"') {
      const open = text.indexOf('(', at);
      const close = open < 0 ? -1 : text.indexOf(`)${text.slice(at + 2, open)}"`, open);
      const end = close < 0 ? span.end : close + (open - at - 2) + 2;
      result.push({ start: at, end });
      at = end;
    } else if (c === '"' || (c === "'" && !/[0-9A-Fa-f]/.test(text[at - 1] ?? ''))) {
      at = endOfLiteral(text, at, c);
    } else {
      at++;
    }
  }
  return result;
}

function endOfLiteral(text: string, start: number, quote: string): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === quote || text[at] === '\n') return at + 1;
  }
  return text.length;
}

/** How the code around an edit is laid out. */
export interface Style {
  /** One level of indentation. */
  readonly unit: string;
  /** `{` on a line of its own. */
  readonly bracesOnOwnLine: boolean;
  /** `else` on a line of its own, behind a `}`. */
  readonly elseOnOwnLine: boolean;
  /** What stands between `if` and `(`. */
  readonly keywordSpace: string;
}

const styles = new WeakMap<FunctionDecl, Style>();

/** The style of a function: what most of its blocks do, or those of another function of its file where it has no lines that tell. */
export function styleOf(source: SourceFile, fn: FunctionDecl, beside: FunctionDecl | null = null): Style {
  const known = styles.get(fn);
  if (known !== undefined) return known;
  const votes = { units: new Map<string, number>(), ownLine: 0, sameLine: 0, elseOwn: 0, elseSame: 0, space: 0, noSpace: 0 };
  if (fn.body !== null) collectStyle(source, fn.body, votes);
  if (votes.units.size === 0 && beside !== null && beside !== fn && beside.file === fn.file) return styleOf(source, beside);
  const unit = [...votes.units].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '    ';
  const bracesOnOwnLine = votes.ownLine > votes.sameLine;
  const style: Style = {
    unit,
    bracesOnOwnLine,
    elseOnOwnLine: votes.elseOwn + votes.elseSame === 0 ? bracesOnOwnLine : votes.elseOwn > votes.elseSame,
    keywordSpace: votes.noSpace > votes.space ? '' : ' ',
  };
  styles.set(fn, style);
  return style;
}

interface StyleVotes {
  readonly units: Map<string, number>;
  ownLine: number;
  sameLine: number;
  elseOwn: number;
  elseSame: number;
  space: number;
  noSpace: number;
}

function collectStyle(source: SourceFile, body: CompoundStmt, votes: StyleVotes): void {
  const visit = (node: Node, parent: Node | null): void => {
    if (node.kind === 'compound') {
      const inner = node.body[0];
      if (inner !== undefined && startsLine(source, inner.span.start)) {
        const outer = indentAt(source, node.span.start);
        const deep = indentAt(source, inner.span.start);
        if (deep.startsWith(outer) && deep.length > outer.length) {
          const unit = deep.slice(outer.length);
          votes.units.set(unit, (votes.units.get(unit) ?? 0) + 1);
        }
      }
      if (parent !== null && parent.kind !== 'compound') {
        if (startsLine(source, node.span.start)) votes.ownLine++;
        else if (source.line(node.span.start) !== source.line(node.span.end)) votes.sameLine++;
      }
    }
    if (node.kind === 'if') {
      if (node.elseSpan !== null && node.then.kind === 'compound') {
        if (startsLine(source, node.elseSpan.start)) votes.elseOwn++;
        else votes.elseSame++;
      }
      if (!node.constexpr) {
        if (node.headSpan.start > node.span.start + 2) votes.space++;
        else votes.noSpace++;
      }
    }
    if (node.kind === 'for' || node.kind === 'while') {
      if (node.headSpan.start > node.span.start + node.kind.length) votes.space++;
      else votes.noSpace++;
    }
    forEachChild(node, (child) => visit(child, node));
  };
  visit(body, null);
}

/** One member of a chain: `if (…)`, `else` (head null), each with the text between its braces, already at its depth. */
export interface ChainArm {
  /** The head without `else`, such as `if (flat)`; null for the last `else`. */
  readonly head: string | null;
  /** Lines between the braces, without a last newline; empty for an empty block. */
  readonly lines: string;
}

/** `if (a) { … } else if (b) { … } else { … }`. The first line is not indented: it stands where the edit starts. */
export function chainText(style: Style, indent: string, arms: readonly ChainArm[]): string {
  let out = '';
  arms.forEach((arm, i) => {
    const joint = i === 0 ? '' : style.elseOnOwnLine ? `\n${indent}else` : ' else';
    const head = i === 0 ? arm.head ?? '' : arm.head === null ? '' : ` ${arm.head}`;
    out += joint + blockText(style, indent, head, arm.lines, i > 0 || arm.head !== null);
  });
  return out;
}

/** A block in the style of its surroundings behind `head`; a block without anything before it opens where the edit starts. */
export function blockText(style: Style, indent: string, head: string, lines: string, hasHead = head !== ''): string {
  const opening = !hasHead ? '{' : style.bracesOnOwnLine ? `${head}\n${indent}{` : `${head} {`;
  return lines === '' ? `${opening}\n${indent}}` : `${opening}\n${lines}\n${indent}}`;
}

const KEYWORD = /^[A-Za-z_]\w*$/;

/** `base`, or `base` with a number behind it: a name that stands nowhere in the text of the file nor in `taken`. */
export function freshName(source: SourceFile, base: string, taken: ReadonlySet<string> = new Set()): string {
  if (!KEYWORD.test(base)) throw new Error(`internal: ${base} is not a name`);
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}${n}`;
    if (!taken.has(name) && !new RegExp(`\\b${name}\\b`).test(source.text)) return name;
  }
}
