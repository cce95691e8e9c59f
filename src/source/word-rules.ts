/** CUDA's own words: qualifiers, bounds and launches; and the few spellings of C++ dialects that the grammar lacks. */
import type { Patches } from './patches.js';
import type { Stream } from './stream.js';
import { TokenKind } from './tokens.js';
import type { Span } from './types.js';
import { ATTRIBUTES, BOUNDS, OPERATOR_WORDS, QUALIFIERS } from './words.js';

/** How many tokens a launch configuration, and a run of qualifiers, may have: bounds that keep malformed text linear. */
const FAR = 2048;
const NEAR = 16;

/** The index to go on from, or 0 if token `i` is no such word. */
export function wordRule(stream: Stream, patches: Patches, i: number, name: string): number {
  if (QUALIFIERS.has(name)) return qualifier(stream, patches, i, name);
  const bounds = BOUNDS.get(name);
  if (bounds !== undefined) return boundsWord(stream, patches, i, bounds);
  // Whatever stands in an attribute is the host compiler's, also where it is spelled like a qualifier of CUDA.
  if (ATTRIBUTES.has(name)) return attribute(stream, patches, i, name);
  // The grammar knows some of them, and only between two operands: `bitand f` is an address, `int and r` a reference.
  const operator = OPERATOR_WORDS.get(name);
  if (operator !== undefined) return dialect(stream, patches, i, operator);
  switch (name) {
    case '_Pragma':
    case '__pragma': return pragmaOperator(stream, patches, i);
    case '__restrict': return dialect(stream, patches, i, 'restrict');
    case '__volatile__': return dialect(stream, patches, i, 'volatile');
    default: return 0;
  }
}

/** Last token of the chevrons that open a launch: `<<<`, or `<<` and `<` with blanks between them (formatters write that, and nvcc reads it); -1 if there are none. */
export function chevronsAt(stream: Stream, i: number): number {
  const { tokens } = stream;
  if (tokens.is(i, '<<<')) return i;
  if (!tokens.is(i, '<<')) return -1;
  const next = stream.next(i);
  return tokens.is(next, '<') ? next : -1;
}

/** `<<<` at token `i`. */
export function launchRule(stream: Stream, patches: Patches, i: number): void {
  const { tokens } = stream;
  const open = chevronsAt(stream, i);
  if (open < 0) return;
  const before = stream.previous(i);
  // A name, or the end of template arguments (`>`, `>>`, …), of a subscript or of parentheses.
  const code = tokens.code(before);
  const callee = tokens.isIdentifier(before) || (tokens.kind(before) === TokenKind.punctuation && (code === 62 || code === 41 || code === 93));
  if (!callee || tokens.is(before, 'operator')) return;
  const close = launchEnd(stream, open);
  if (close === null) return;
  const start = tokens.start(i);
  const inside = { start: tokens.end(open), end: close.start };
  patches.replace(start, inside.start, '(');
  patches.replace(inside.end, close.end, ')');
  patches.note({ kind: 'launch', span: { start, end: close.end }, configurationSpan: inside });
}

/** The `>>>` of a launch: outside of brackets, the last three of a run of `>`, or `>>` and `>`, before the argument list. Null if there is none. */
function launchEnd(stream: Stream, i: number): Span | null {
  const { tokens } = stream;
  for (let at = i + 1, steps = 0; at < tokens.count && steps < FAR; at++, steps++) {
    if (tokens.kind(at) !== TokenKind.punctuation) continue;
    const c = tokens.code(at);
    if (c === 40 || c === 91 || c === 123) {
      const close = stream.match(at);
      if (close < 0) return null;
      at = close;
    } else if (c === 41 || c === 93 || c === 125 || c === 59 || chevronsAt(stream, at) >= 0) {
      return null;
    } else if (c === 62) {
      const run = tokens.end(at) - tokens.start(at);
      const next = stream.next(at);
      if (run >= 3 && tokens.is(next, '(')) return { start: tokens.end(at) - 3, end: tokens.end(at) };
      if (run === 2 && tokens.is(next, '>') && tokens.is(stream.next(next), '(')) return { start: tokens.start(at), end: tokens.end(next) };
    }
  }
  return null;
}

function qualifier(stream: Stream, patches: Patches, i: number, name: string): number {
  const start = stream.tokens.start(i);
  const end = stream.tokens.end(i);
  const bare = name.slice(2, -2);
  if (attributeFits(stream, i)) patches.replace(start, end, `[[${bare}]]`);
  else patches.blank(start, end);
  patches.note({ kind: 'qualifier', span: { start, end }, name: bare });
  return i + 1;
}

function boundsWord(stream: Stream, patches: Patches, i: number, name: string): number {
  const { tokens } = stream;
  const start = tokens.start(i);
  const open = stream.next(i);
  const close = tokens.is(open, '(') ? stream.match(open) : -1;
  const end = close > 0 ? tokens.end(close) : tokens.end(i);
  const argumentsSpan = close > 0 ? { start: tokens.end(open), end: tokens.start(close) } : { start: end, end };
  patches.blank(start, end);
  stream.remove(i, close > 0 ? close : i);
  patches.note({ kind: 'bounds', span: { start, end }, name, argumentsSpan });
  return close > 0 ? close + 1 : i + 1;
}

/** Whether the C++ grammar takes `[[…]]` where token `i` stands (tried with tree-sitter-cpp 0.23.4, position by position). */
function attributeFits(stream: Stream, i: number): boolean {
  const { tokens } = stream;
  let before = stream.previous(i);
  for (let steps = 0; steps < NEAR && stream.isQualifier(before); steps++) before = stream.previous(before);
  // After `]` it would be a subscript; the others are parts of one declarator or type name, or words that must come first.
  if (tokens.is(before, ']') || tokens.is(before, '*') || tokens.is(before, '&') || tokens.is(before, '&&')) return false;
  for (const word of ['typedef', 'unsigned', 'signed', 'long', 'short', 'using']) if (tokens.is(before, word)) return false;
  let after = stream.next(i);
  for (let steps = 0; steps < NEAR && stream.isQualifier(after); steps++) after = stream.next(after);
  if (tokens.is(after, 'extern')) return tokens.kind(stream.next(after)) !== TokenKind.string;
  for (const word of ['struct', 'class', 'union', 'enum']) if (tokens.is(after, word)) return !definesType(stream, after);
  for (const word of ['using', 'typedef', 'template', 'namespace', 'friend']) if (tokens.is(after, word)) return false;
  return true;
}

function definesType(stream: Stream, word: number): boolean {
  const { tokens } = stream;
  for (let at = word + 1, steps = 0; at < tokens.count && steps < 64; at++, steps++) {
    if (tokens.is(at, '{')) return true;
    if (tokens.is(at, ';') || tokens.is(at, '(') || tokens.is(at, '=')) return false;
  }
  return false;
}

/** The grammar takes attributes of the GNU kind almost everywhere, but not after the brackets of an array. */
function attribute(stream: Stream, patches: Patches, i: number, name: string): number {
  const { tokens } = stream;
  const close = tokens.is(i + 1, '(') ? stream.match(i + 1) : -1;
  if (close < 0) return i + 1;
  if (name.startsWith('__attribute') && tokens.is(stream.previous(i), ']')) patches.drop(tokens.start(i), tokens.end(close));
  return close + 1;
}

/** `_Pragma("…")` in the middle of anything. */
function pragmaOperator(stream: Stream, patches: Patches, i: number): number {
  const { tokens } = stream;
  const close = tokens.is(i + 1, '(') ? stream.match(i + 1) : -1;
  if (close < 0) return 0;
  const span = { start: tokens.start(i), end: tokens.end(close) };
  patches.blank(span.start, span.end);
  patches.note({ kind: 'pragma', span, text: stream.source.text.slice(span.start, span.end) });
  return close + 1;
}

function dialect(stream: Stream, patches: Patches, i: number, spelling: string): number {
  const span = { start: stream.tokens.start(i), end: stream.tokens.end(i) };
  patches.replace(span.start, span.end, spelling);
  patches.note({ kind: 'other', span, text: stream.source.text.slice(span.start, span.end) });
  return i + 1;
}
