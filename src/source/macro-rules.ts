/** Macros of the unit whose invocation is no C++ by itself. */
import type { MacroDefinition, OverlayMeaning, Span } from './types.js';
import { splitArguments } from './condition.js';
import { compact } from './expand.js';
import type { Patches } from './patches.js';
import type { Stream } from './stream.js';
import { TokenKind } from './tokens.js';
import { tokenizeFragment } from './tokenizer.js';
import { KEYWORDS } from './words.js';

/** The index to go on from, or 0 if the macro is left to the lowering; `uses` takes the offsets of those. */
export function macroRule(stream: Stream, patches: Patches, i: number, name: string, uses: number[]): number {
  const macro = stream.roles.has(name);
  if (!macro || !isDefinedAt(stream, macro, i)) return 0;
  const { tokens } = stream;
  const open = macro.parameters === null ? -1 : stream.next(i);
  const close = open > 0 && tokens.is(open, '(') ? stream.match(open) : -1;
  if (macro.parameters !== null && close < 0) return 0;
  const next = invocationRule(stream, patches, i, macro, open, close);
  if (next <= 0) uses.push(tokens.start(i));
  return Math.abs(next);
}

/** The same for an invocation whose parentheses are the tokens `open` and `close`, -1 if it has none. Negative if the invocation stays in the text. */
function invocationRule(stream: Stream, patches: Patches, i: number, macro: MacroDefinition, open: number, close: number): number {
  const { tokens } = stream;
  const { name } = macro;
  const last = close > 0 ? close : i;
  const argumentsSpan = close > 0 ? { start: tokens.end(open), end: tokens.start(close) } : null;
  const role = stream.roles.role(macro, () => argumentsSpan && splitArguments(stream.source.text.slice(argumentsSpan.start, argumentsSpan.end)));
  const span = { start: tokens.start(i), end: tokens.end(last) };
  const note = (standsFor: readonly OverlayMeaning[]): number => {
    patches.note({ kind: 'macro', span, name, argumentsSpan, standsFor });
    return last + 1;
  };
  // Where the default configuration has no definition the name should be an ordinary one; a statement may end at it all the same.
  if (macro.inactive && role.kind !== 'plain') return 0;
  // In a body a bare name before a declaration may be a memory space in another configuration: then the tree shall not hide it.
  const unsure = macro.ambiguous && macro.parameters === null && stream.container(i) === 'block';
  const fits = (text: string): boolean => text.length <= span.end - span.start;
  switch (role.kind) {
    case 'empty':
      if (unsure || !isPrefix(stream, last)) return 0;
      patches.blank(span.start, span.end);
      stream.remove(i, last);
      return note([]);
    case 'qualifiers':
      if (unsure) return 0;
      if (!role.cuda && fits(role.expansion)) patches.replace(span.start, span.end, role.expansion);
      else if (role.standsFor.some((meaning) => meaning.name === 'volatile')) return 0;
      else patches.blank(span.start, span.end);
      stream.remove(i, last);
      return note(role.standsFor);
    case 'pragma':
      patches.blank(span.start, span.end);
      stream.remove(i, last);
      patches.note({ kind: 'pragma', span, text: role.text });
      return last + 1;
    case 'typed':
      if (unsure || !tokens.isIdentifier(stream.next(last))) return 0;
      if (fits(role.remainder)) patches.replace(span.start, span.end, role.remainder);
      return note(role.standsFor);
    case 'head':
      return stream.startsStatement(stream.previous(i)) && headRule(stream, patches, last, role.expansion, span) ? note([{ name: 'head', argument: role.expansion }]) : 0;
    case 'unbalanced':
      if (!isStructure(role.expansion) || !fits(compact(role.expansion))) return 0;
      patches.replace(span.start, span.end, compact(role.expansion));
      return note([{ name: 'text', argument: role.expansion }]);
    case 'plain':
      // The arguments are C++ of their own: the rules go on inside them.
      if (role.ends === 'other') return 0;
      // Several statements behind an `if` or a loop: only the first belongs to it. As one call they would all.
      if (role.ends === 'statements' && !stream.endsStatement(stream.previous(i))) return 0;
      return endStatement(stream, patches, i, last) ? -(i + 1) : 0;
  }
}

/** False before the only definition: there the name is an ordinary one. */
function isDefinedAt(stream: Stream, macro: MacroDefinition, i: number): boolean {
  if (macro.undoneIn !== undefined && macro.undoneIn !== stream.source.realPath) return false;
  return macro.ambiguous || macro.file !== stream.source.realPath || macro.line < stream.source.line(stream.tokens.start(i));
}

/** An empty macro before `;` or inside an expression is left: a call or a name that the lowering looks through. */
function isPrefix(stream: Stream, last: number): boolean {
  const { tokens } = stream;
  const next = stream.next(last);
  return tokens.isIdentifier(next) || tokens.is(next, '{') || tokens.is(next, '[') || tokens.is(next, '}');
}

/**
 * `EACH(i, n) statement`: a stand-in for the head, which the lowering reads from the note (`lower-head.ts`). A head without names
 * (`for (;;)`) is written out if it fits. The blanks behind a short invocation (`FOR(i, n) {`) give it room.
 */
function headRule(stream: Stream, patches: Patches, last: number, expansion: string, span: Span): boolean {
  const { text } = stream.source;
  if (stream.tokens.is(stream.next(last), ';')) return false;
  let { end } = span;
  while (text.charCodeAt(end) === 32 || text.charCodeAt(end) === 9) end++;
  const candidates = [...(isStructure(expansion) ? [compact(expansion)] : []), ...(/^if\b/.test(expansion) ? ['if(_())', 'if(_)'] : ['while(_())', 'for(;;)'])];
  const stand = candidates.find((candidate) => candidate.length <= end - span.start);
  if (stand === undefined) return false;
  patches.replace(span.start, stand.length <= span.end - span.start ? span.end : end, stand);
  return true;
}

/** Words of the language, literals and punctuation only: no name whose place in the file would be wrong. */
function isStructure(expansion: string): boolean {
  const tokens = tokenizeFragment(expansion);
  for (let i = 0; i < tokens.count; i++) if (tokens.isIdentifier(i) && !KEYWORDS.has(tokens.spelling(i))) return false;
  return !expansion.includes('\n');
}

/**
 * Puts the `;` that a statement macro brings with it into the blank after the invocation. False if the invocation stands in an
 * expression, has its own `;`, or no blank follows.
 */
function endStatement(stream: Stream, patches: Patches, first: number, last: number): boolean {
  const { tokens } = stream;
  if (!stream.startsStatement(stream.previous(first))) return false;
  const container = stream.container(first);
  if (container !== 'block' && container !== 'namespace' && container !== 'record') return false;
  const next = last + 1;
  if (tokens.kind(next) === TokenKind.punctuation && !/^(?:[{}*(~]|::|\+\+|--)$/.test(tokens.spelling(next))) return false;
  if (tokens.kind(next) === TokenKind.string || tokens.kind(next) === TokenKind.number) return false;
  const place = blankBetween(stream, tokens.end(last), tokens.start(next));
  if (place < 0) return false;
  patches.replace(place, place + 1, ';');
  stream.ended.add(last);
  return true;
}

/** Offset of a blank outside of comments; of a newline only if there is no other and it ends no comment. -1 if there is none. */
function blankBetween(stream: Stream, start: number, end: number): number {
  const { text } = stream.source;
  let newline = -1;
  for (let at = start; at < end; at++) {
    const c = text.charCodeAt(at);
    if (c === 47) {
      const line = text.charCodeAt(at + 1) === 47;
      const close = line ? text.indexOf('\n', at) : text.indexOf('*/', at);
      if (close < 0) break;
      at = line ? close : close + 1;
    } else if (c === 10 || c === 13) {
      if (newline < 0) newline = at;
    } else if (c !== 92) {
      return at;
    }
  }
  return newline;
}
