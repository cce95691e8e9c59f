/**
 * Plain C++ that tree-sitter-cpp 0.23.4 does not take, exchanged for something of the same length that it does. Where a type stands
 * in the place of an expression it becomes a name that nobody declares: an unknown, never a wrong value.
 */
import type { Patches } from './patches.js';
import type { Stream } from './stream.js';
import { TokenKind } from './tokens.js';
import { KEYWORDS, PRIMITIVE_TYPES } from './words.js';

/** Rules by the word at token `i`; the index to go on from, or 0. */
export function grammarRule(stream: Stream, patches: Patches, i: number, name: string): number {
  switch (name) {
    case 'decltype': return decltypeCall(stream, patches, i);
    case 'typeid': return typeidOperand(stream, patches, i);
    case 'new': return newPointers(stream, patches, i);
    case 'template': return instantiation(stream, patches, i);
    default: return PRIMITIVE_TYPES.has(name) ? typeArgument(stream, patches, i) : 0;
  }
}

/** `decltype(x)(y)` as an expression: the grammar takes it for a declaration. It becomes a call of an unknown function. */
function decltypeCall(stream: Stream, patches: Patches, i: number): number {
  const { tokens } = stream;
  const close = tokens.is(i + 1, '(') ? stream.match(i + 1) : -1;
  if (close < 0 || !(tokens.is(close + 1, '(') || tokens.is(close + 1, '{'))) return 0;
  const before = stream.previous(i);
  if (tokens.is(before, '->') || (stream.container(i) !== 'parenthesis' && stream.endsStatement(before))) return 0;
  asName(stream, patches, i, close);
  return close + 1;
}

/** `typeid(double)`: only names of records are taken as operands. */
function typeidOperand(stream: Stream, patches: Patches, i: number): number {
  const close = stream.tokens.is(i + 1, '(') ? stream.match(i + 1) : -1;
  if (close < 0) return 0;
  asName(stream, patches, i, close);
  return close + 1;
}

/** `new T*[n]`: the grammar reads `T * [n]`. The element type becomes an unknown name. */
function newPointers(stream: Stream, patches: Patches, i: number): number {
  const { tokens } = stream;
  let at = i + 1;
  while (tokens.isIdentifier(at) || tokens.is(at, '::')) at++;
  if (at === i + 1 || !tokens.is(at, '*')) return 0;
  while (tokens.is(at, '*')) at++;
  if (!tokens.is(at, '[')) return 0;
  asName(stream, patches, i + 1, at - 1);
  return at;
}

/**
 * Explicit instantiations, `template class P<float>;` and `template __global__ void k<8>(float *);`, with `extern` or without: they
 * declare nothing that the rest of the file needs, and the qualifiers in them begin no kernel.
 */
function instantiation(stream: Stream, patches: Patches, i: number): number {
  const { tokens } = stream;
  if (!tokens.isIdentifier(i + 1) && !tokens.is(i + 1, '::') && !tokens.is(i + 1, '[')) return 0;
  let at = i + 1;
  for (; !tokens.is(at, ';'); at++) {
    if (at >= tokens.count || at - i > 256 || tokens.is(at, '{') || tokens.is(at, '}') || tokens.kind(at) === TokenKind.directive) return 0;
  }
  const before = stream.previous(i);
  const first = tokens.is(before, 'extern') ? before : i;
  if (!stream.endsStatement(stream.previous(first))) return 0;
  patches.drop(tokens.start(first), tokens.end(at - 1));
  return at;
}

/** A type made of words of the language, as an argument of a call (of a macro, that is): `ALLOC(int, n)`, `va_arg(list, char *)`. */
function typeArgument(stream: Stream, patches: Patches, i: number): number {
  const { tokens } = stream;
  let first = i;
  while (tokens.is(first - 1, 'const') || tokens.is(first - 1, 'volatile')) first--;
  if (!tokens.is(first - 1, '(') && !tokens.is(first - 1, ',')) return 0;
  let at = i;
  while (PRIMITIVE_TYPES.has(tokens.spelling(at)) || tokens.is(at, 'const') || tokens.is(at, '*') || tokens.is(at, '&')) at++;
  return replaceArgument(stream, patches, first, at - 1);
}

/** `*` or `&` at token `i`: the end of a type like `Node *` as an argument of a call. */
export function pointerArgumentRule(stream: Stream, patches: Patches, i: number): void {
  const { tokens } = stream;
  if (!tokens.is(i + 1, ')') && !tokens.is(i + 1, ',')) return;
  let first = i;
  while (tokens.is(first, '*') || tokens.is(first, '&')) first--;
  if (!tokens.isIdentifier(first) || KEYWORDS.has(tokens.spelling(first))) return;
  while (tokens.is(first - 1, '::') || (tokens.isIdentifier(first - 1) && (tokens.is(first, '::') || tokens.is(first - 1, 'const') || tokens.is(first - 1, 'struct')))) first--;
  if (!tokens.is(first - 1, '(') && !tokens.is(first - 1, ',')) return;
  replaceArgument(stream, patches, first, i);
}

function replaceArgument(stream: Stream, patches: Patches, first: number, last: number): number {
  const { tokens } = stream;
  if (!tokens.is(last + 1, ')') && !tokens.is(last + 1, ',')) return 0;
  const open = stream.brackets.enclosing[first] ?? -1;
  if (!tokens.is(open, '(') || !isCall(stream, stream.previous(open))) return 0;
  asName(stream, patches, first, last);
  return last + 1;
}

const BEFORE_A_CALL = new Set(['=', '(', ',', '?', '+', '-', '/', '%', '|', '^', '!', '==', '!=', '<=', '>=', '&&', '||', '+=', '-=', '*=', '/=', '<<', '[']);

/** True if the name before a parenthesis can only be called there, not declared. */
function isCall(stream: Stream, name: number): boolean {
  const { tokens } = stream;
  if (!tokens.isIdentifier(name) || KEYWORDS.has(tokens.spelling(name))) return false;
  const before = stream.previous(name);
  if (tokens.is(before, 'return')) return true;
  if (stream.startsStatement(before)) return stream.container(name) === 'block' || stream.roles.has(tokens.spelling(name)) !== undefined;
  return tokens.kind(before) === TokenKind.punctuation && BEFORE_A_CALL.has(tokens.spelling(before)) && !tokens.is(stream.previous(before), 'operator');
}

/** Token `i` is a string: a name beside it (`"%" PRIu64 "\n"`) is a macro that holds one. */
export function stringRule(stream: Stream, patches: Patches, i: number): void {
  const { tokens } = stream;
  const name = i + 1;
  if (!tokens.isIdentifier(name) || tokens.start(name) === tokens.end(i)) return;
  const before = stream.previous(i);
  if (tokens.is(before, 'extern') || tokens.is(before, 'operator') || KEYWORDS.has(tokens.spelling(name))) return;
  const container = stream.container(i);
  if (container !== 'parenthesis' && container !== 'bracket' && container !== 'initializer' && !tokens.is(before, '=') && !tokens.is(before, 'return') && !tokens.is(before, '<<')) return;
  const close = tokens.is(name + 1, '(') ? stream.match(name + 1) : name;
  const span = { start: tokens.start(name), end: tokens.end(close) };
  if (close < 0 || span.end - span.start < 2) return;
  patches.replace(span.start, span.end, '""');
  patches.note({ kind: 'other', span, text: stream.source.text.slice(span.start, span.end) });
}

/** Makes one identifier of the text from token `first` to token `last`, one that is no word of the language. */
function asName(stream: Stream, patches: Patches, first: number, last: number): void {
  const span = { start: stream.tokens.start(first), end: stream.tokens.end(last) };
  const text = stream.source.text.slice(span.start, span.end);
  const name = text.replace(/[^\w]/g, '_');
  patches.replace(span.start, span.end, KEYWORDS.has(name) || first === last ? `_${name.slice(1)}` : name);
  patches.note({ kind: 'other', span, text });
}
