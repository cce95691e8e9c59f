/**
 * Assignments before a comma between parentheses, `(c -= 2, 1)`: tree-sitter-cpp 0.23.4 takes the operator for that of a fold
 * expression and finds an error. The operator becomes a comma, which binds as loosely as an assignment to its right, and a note of
 * kind `assignment` keeps what it was, so that lowering puts the assignment together again.
 */
import type { Patches } from './patches.js';
import type { Stream } from './stream.js';
import { TokenKind } from './tokens.js';

const ASSIGNMENTS = new Set(['=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=']);

/** After these a parenthesis opens an expression: no parameters, no arguments. */
const BEFORE_AN_EXPRESSION = new Set([
  ...ASSIGNMENTS, '(', '[', '{', ',', '?', ':', '+', '-', '*', '/', '%', '&', '|', '^', '!', '~', '==', '!=', '<', '<=', '>=', '&&', '||', '<<',
]);

/** Token `i` ends in `=`. */
export function assignmentRule(stream: Stream, patches: Patches, i: number): void {
  const { tokens } = stream;
  const open = stream.brackets.enclosing[i] ?? -1;
  if (!tokens.is(open, '(') || !ASSIGNMENTS.has(tokens.spelling(i)) || !opensExpression(stream, open) || !commaFollows(stream, i, stream.match(open))) return;
  const span = { start: tokens.start(i), end: tokens.end(i) };
  patches.replace(span.start, span.end, ',');
  patches.note({ kind: 'assignment', span, operator: tokens.spelling(i) });
}

function opensExpression(stream: Stream, open: number): boolean {
  const { tokens } = stream;
  const before = stream.previous(open);
  // A `}` may end a lambda, which is called here.
  if (tokens.is(before, '}') || tokens.is(stream.previous(before), 'operator')) return false;
  if (tokens.is(before, 'return') || tokens.is(before, 'case')) return true;
  return (tokens.kind(before) === TokenKind.punctuation && BEFORE_AN_EXPRESSION.has(tokens.spelling(before))) || stream.startsStatement(before);
}

/** Is there a comma between token `i` and the end of its parenthesis, in no bracket of its own? */
function commaFollows(stream: Stream, i: number, close: number): boolean {
  const { tokens } = stream;
  for (let at = i + 1; at < close; at++) {
    if (tokens.is(at, ',')) return true;
    if (tokens.is(at, ';')) return false;
    const partner = stream.match(at);
    if (partner > at) at = partner;
  }
  return false;
}
