/**
 * Comments that belong to a branch rather than to one of its arms: those on lines of their own right above it, and those behind its last brace.
 *
 *     // only where asked          speaks of the test
 *     if (flag) {
 *         …
 *     } // if (flag)               speaks of the branch
 */
import type { SourceFile, Span } from '../../src/source/types.js';
import type { IfStmt, Stmt, SwitchStmt } from '../../src/syntax/tree.js';
import { codeOnly, commentsIn, startsLine, statementStart, withTrailingComments } from './text.js';

/** Comments above the statement, with no blank line between, none of them in front of `floor`. */
export function commentsAbove(source: SourceFile, stmt: Stmt, floor: number): readonly Span[] {
  const start = statementStart(stmt);
  if (!startsLine(source, start)) return [];
  const result: Span[] = [];
  let below = start;
  for (const comment of [...commentsIn(source, { start: floor, end: start })].reverse()) {
    const gap = source.text.slice(comment.end, below);
    // A line comment may end with its newline.
    const lines = gap.split('\n').length - 1 + (source.text.slice(comment.start, comment.end).endsWith('\n') ? 1 : 0);
    if (gap.trim() !== '' || lines !== 1 || !startsLine(source, comment.start)) break;
    result.unshift(comment);
    below = comment.start;
  }
  return result;
}

/** Comments behind the brace that ends a branch, on its line. What stands behind an arm without braces belongs to that arm. */
export function commentsBehindBrace(source: SourceFile, branch: IfStmt | SwitchStmt): readonly Span[] {
  let end: Stmt = branch;
  while (end.kind === 'if') end = end.else ?? end.then;
  if (end.kind !== 'compound' && end.kind !== 'switch') return [];
  return commentsIn(source, { start: branch.span.end, end: withTrailingComments(source, branch.span.end) });
}

const ATTRIBUTE = /^(?:\[\[[^[\]]*\]\]\s*)+$/;

/** `[[likely]]` between the head of an arm and its statement; empty if there is none. */
export function attributesOf(source: SourceFile, headEnd: number, arm: Stmt): string {
  const text = codeOnly(source.text.slice(headEnd, statementStart(arm))).trim();
  return ATTRIBUTE.test(text) ? text : '';
}

/** What is likely where something is said to be unlikely, and the other way. */
export function oppositeAttributes(text: string): string {
  return text.replaceAll(/\b(un)?likely\b/g, (_word, not: string | undefined) => (not === undefined ? 'unlikely' : 'likely'));
}

const OF_TESTS = /\b(?:checks?|checking|bounds?|boundar(?:y|ies)|guards?|ranges?|inside|outside|within|valid|borders?|edges?|interior|if|when|unless|skip|avoid|ignore|only|beyond|past)\b/i;

/** Words that speak of a test, not of what is done under it. */
export function speaksOfTest(source: SourceFile, comment: Span): boolean {
  return OF_TESTS.test(source.text.slice(comment.start, comment.end));
}
