/** Macros of the unit whose invocation is no C++ by itself. */
import type { MacroDefinition, OverlayMeaning } from './types.js';
import { splitArguments } from './condition.js';
import type { Patches } from './patches.js';
import type { Stream } from './stream.js';

/** The index to go on from, or 0 if the macro is left to the lowering. */
export function macroRule(stream: Stream, patches: Patches, i: number, name: string): number {
  const macro = stream.roles.has(name);
  if (!macro) return 0;
  const { tokens } = stream;
  const open = macro.parameters === null ? -1 : stream.next(i);
  const close = open > 0 && tokens.is(open, '(') ? stream.match(open) : -1;
  if (macro.parameters !== null && close < 0) return 0;
  const last = close > 0 ? close : i;
  const argumentsSpan = close > 0 ? { start: tokens.end(open), end: tokens.start(close) } : null;
  const texts = argumentsSpan ? splitArguments(stream.source.text.slice(argumentsSpan.start, argumentsSpan.end)) : null;
  const role = stream.roles.role(macro, texts);
  const span = { start: tokens.start(i), end: tokens.end(last) };
  const note = (standsFor: readonly OverlayMeaning[]): void => patches.note({ kind: 'macro', span, name, argumentsSpan, standsFor });
  switch (role.kind) {
    case 'empty':
      if (!isPrefix(stream, macro, last)) return 0;
      patches.blank(span.start, span.end);
      note([]);
      return last + 1;
    case 'qualifiers':
      if (!role.cuda && role.expansion.length <= span.end - span.start) patches.replace(span.start, span.end, role.expansion);
      else patches.blank(span.start, span.end);
      note(role.standsFor);
      return last + 1;
    case 'pragma':
      patches.blank(span.start, span.end);
      patches.note({ kind: 'pragma', span, text: role.text });
      return last + 1;
    case 'typed':
      if (!tokens.isIdentifier(stream.next(last))) return 0;
      if (role.remainder.length <= span.end - span.start) patches.replace(span.start, span.end, role.remainder);
      note(role.standsFor);
      return last + 1;
    default:
      return 0;
  }
}

/** An empty macro before `;` or inside an expression is left: a call or a name that the lowering looks through. */
function isPrefix(stream: Stream, macro: MacroDefinition, last: number): boolean {
  const { tokens } = stream;
  const next = stream.next(last);
  void macro;
  return tokens.isIdentifier(next) || tokens.is(next, '{') || tokens.is(next, '[') || tokens.is(next, '}');
}
