/**
 * Names that no visible definition explains but that can only be macros where they stand: C++ has no declaration with two type
 * names in a row, none with a parenthesis between its type and its name. They become spaces, with a note that stands for nothing:
 * what they mean is unknown. Where a name could be anything else it is left, and the tree tells.
 */
import type { Patches } from './patches.js';
import type { Container, Stream } from './stream.js';
import { TokenKind } from './tokens.js';
import { BOUNDS, DECLARATION_WORDS, KEYWORDS, PRIMITIVE_TYPES } from './words.js';

/** The index to go on from, or 0 if the name is an ordinary one. */
export function strangerRule(stream: Stream, patches: Patches, i: number): number {
  const { tokens } = stream;
  const next = i + 1;
  const parenthesised = tokens.is(next, '(');
  if (!parenthesised && !tokens.isIdentifier(stream.next(i))) return 0;
  // Inside of bodies, where most names stand, hardly any is a stranger: these are refused before anything is spelled.
  const container = stream.container(i);
  const outside = container === 'namespace' || container === 'record';
  if (!outside && (parenthesised || (container !== 'parenthesis' && !followsRecordWord(stream, i)))) return 0;
  const name = tokens.spelling(i);
  if (KEYWORDS.has(name)) return 0;
  return parenthesised ? withArguments(stream, patches, i, name) : bare(stream, patches, i, name, container);
}

function followsRecordWord(stream: Stream, i: number): boolean {
  const before = stream.previousWord(i);
  return stream.tokens.is(before, 'struct') || stream.tokens.is(before, 'class');
}

function bare(stream: Stream, patches: Patches, i: number, name: string, container: Container): number {
  const { tokens } = stream;
  const shouts = isShouting(name);
  const before = stream.previousWord(i);
  if (shouts && (tokens.is(before, 'struct') || tokens.is(before, 'class'))) {
    const type = stream.next(i);
    const opens = tokens.is(type + 1, '{') || tokens.is(type + 1, ':') || tokens.is(type + 1, 'final');
    return opens && !KEYWORDS.has(tokens.spelling(type)) ? remove(stream, patches, i, i, name) : 0;
  }
  if (container === 'parenthesis' ? !shouts : container !== 'namespace' && container !== 'record') return 0;
  const starts = container !== 'parenthesis' && startsDeclaration(stream, before);
  const after = skipQualifiers(stream, stream.next(i));
  // Before a variable the name may stand for `__shared__` or `__constant__`: an error in the tree is better than a wrong place.
  if (starts && isDeclarationStart(tokens.spelling(after))) return declaresNoVariable(stream, after) ? remove(stream, patches, i, i, name) : 0;
  if (!shouts) return 0;
  if (starts) return typeThenName(stream, after) && declaresNoVariable(stream, after) ? remove(stream, patches, i, i, name) : 0;
  // `float * NAME p`, `void NAME f(`
  const typed = tokens.is(before, '*') || tokens.is(before, '&') || isTypeName(stream, before);
  return typed && isPlainName(stream, after) ? remove(stream, patches, i, i, name) : 0;
}

function withArguments(stream: Stream, patches: Patches, i: number, name: string): number {
  const { tokens } = stream;
  const close = stream.match(i + 1);
  if (close < 0) return 0;
  const after = stream.next(close);
  const before = stream.previousWord(i);
  const word = tokens.spelling(after);
  if (!tokens.isIdentifier(after) || FOLLOWS_DECLARATOR.has(word)) return 0;
  if (startsDeclaration(stream, before)) return remove(stream, patches, i, close, name);
  const typed = tokens.is(before, '*') || tokens.is(before, '&') || isTypeName(stream, before);
  return typed && isPlainName(stream, after) && tokens.is(stream.next(after), '(') ? remove(stream, patches, i, close, name) : 0;
}

/** Words that may follow the parameters of a function or constructor. */
const FOLLOWS_DECLARATOR = new Set(['const', 'volatile', 'noexcept', 'override', 'final', 'try', 'throw', 'requires', 'mutable', '__attribute__', 'asm', '__asm__']);

function remove(stream: Stream, patches: Patches, first: number, last: number, name: string): number {
  const { tokens } = stream;
  const span = { start: tokens.start(first), end: tokens.end(last) };
  const argumentsSpan = last > first ? { start: tokens.end(first + 1), end: tokens.start(last) } : null;
  patches.blank(span.start, span.end);
  patches.note({ kind: 'macro', span, name, argumentsSpan, standsFor: [] });
  stream.remove(first, last);
  return last + 1;
}

/** No lower-case letter, at least two characters; or a reserved name (`__name`). */
function isShouting(name: string): boolean {
  return name.length > 1 && (/^[A-Z_$][A-Z0-9_$]*$/.test(name) ? /[A-Z]/.test(name) : /^__[a-z]/.test(name));
}

/** True if the declaration (or its specifiers) may begin after token `before`. */
function startsDeclaration(stream: Stream, before: number): boolean {
  const { tokens } = stream;
  if (stream.endsStatement(before)) return true;
  if (tokens.kind(before) === TokenKind.string) return tokens.is(stream.previous(before), 'extern');
  if (tokens.is(before, '>')) return closesTemplateHead(stream, before);
  const word = tokens.spelling(before);
  return word === 'static' || word === 'inline' || word === 'extern' || word === 'virtual' || word === 'constexpr' || word === 'explicit' || word === '__inline__';
}

function closesTemplateHead(stream: Stream, close: number): boolean {
  const { tokens } = stream;
  let depth = 0;
  for (let at = close, steps = 0; at >= 0 && steps < 128; at = stream.previous(at), steps++) {
    if (tokens.is(at, '>')) depth++;
    else if (tokens.is(at, '>>')) depth += 2;
    else if (tokens.is(at, ')')) at = Math.max(stream.match(at), 0);
    else if (tokens.is(at, '<') && --depth === 0) return tokens.is(stream.previous(at), 'template');
    else if (tokens.is(at, ';') || tokens.is(at, '{') || tokens.is(at, '}')) return false;
  }
  return false;
}

/** A function, a type or a template: what its first bracket tells. */
function declaresNoVariable(stream: Stream, from: number): boolean {
  const { tokens } = stream;
  for (let at = from, steps = 0; at < tokens.count && steps < 64; at++, steps++) {
    if (tokens.is(at, '(') || tokens.is(at, '{')) return true;
    if (tokens.is(at, ';') || tokens.is(at, '=') || tokens.is(at, '[')) return false;
  }
  return false;
}

function skipQualifiers(stream: Stream, i: number): number {
  let at = i;
  for (let steps = 0; ; steps++) {
    if (steps > 16) return at;
    if (stream.isQualifier(at)) at = stream.next(at);
    else if (BOUNDS.has(stream.tokens.spelling(at)) && stream.match(at + 1) > 0) at = stream.next(stream.match(at + 1));
    else return at;
  }
}

/** `auto` is left out: a concept may stand before it. */
function isDeclarationStart(word: string): boolean {
  return word !== 'auto' && (PRIMITIVE_TYPES.has(word) || DECLARATION_WORDS.has(word));
}

/** A type, written with names, and then the name that it declares. */
function typeThenName(stream: Stream, type: number): boolean {
  const { tokens } = stream;
  if (!isPlainName(stream, type)) return false;
  let at = stream.next(type);
  while (tokens.is(at, '::') && tokens.isIdentifier(at + 1)) at += 2;
  if (tokens.is(at, '<')) at = afterAngles(stream, at);
  while (tokens.is(at, '*') || tokens.is(at, '&') || tokens.is(at, 'const') || tokens.is(at, '__restrict__')) at++;
  at = skipQualifiers(stream, at);
  if (!isPlainName(stream, at) && !tokens.is(at, 'operator')) return false;
  const end = stream.next(at);
  return ['(', '=', ';', '[', ',', '{', '::', '<'].some((spelling) => tokens.is(end, spelling)) || tokens.is(at, 'operator');
}

function afterAngles(stream: Stream, open: number): number {
  const { tokens } = stream;
  let depth = 0;
  for (let at = open, steps = 0; at < tokens.count && steps < 128; at++, steps++) {
    if (tokens.is(at, '<')) depth++;
    else if (tokens.is(at, '>')) depth--;
    else if (tokens.is(at, '>>')) depth -= 2;
    else if (tokens.is(at, '(')) at = Math.max(stream.match(at), at);
    else if (tokens.is(at, ';') || tokens.is(at, '{')) return open;
    if (depth <= 0) return at + 1;
  }
  return open;
}

function isPlainName(stream: Stream, i: number): boolean {
  return stream.tokens.isIdentifier(i) && !KEYWORDS.has(stream.tokens.spelling(i));
}

function isTypeName(stream: Stream, i: number): boolean {
  const word = stream.tokens.spelling(i);
  return stream.tokens.isIdentifier(i) && (PRIMITIVE_TYPES.has(word) || !KEYWORDS.has(word));
}
