/**
 * `#pragma push_macro("X")` and `pop_macro("X")`, which keep what a macro's name means and bring it back: a `#define` or an `#undef` that spells neither. Found
 * as directives, as `_Pragma("…")`, and in macros that make either of them, `PRAGMA(pop_macro("X"))` included.
 */
import type { MacroDefinition, SourceFile, Span } from './types.js';
import { tokensOf } from './source-file.js';
import { TokenKind, type Tokens } from './tokens.js';

export interface MacroPragma extends Span {
  readonly kind: 'push' | 'pop';
  /** Null if it is made of pieces: of any macro, then. */
  readonly name: string | null;
  /** A line of its own, which a preprocessor acts on where it stands; the others act wherever their text comes to. */
  readonly isDirective: boolean;
}

const NONE: readonly MacroPragma[] = [];
const NO_MAKERS: ReadonlyMap<string, readonly string[]> = new Map();

const memo = new WeakMap<SourceFile, WeakMap<ReadonlyMap<string, MacroDefinition>, readonly MacroPragma[]>>();

/** All of them in a file, in order; `macros` are those that its text may use. */
export function macroPragmas(source: SourceFile, macros: ReadonlyMap<string, MacroDefinition>): readonly MacroPragma[] {
  let ofSource = memo.get(source);
  if (ofSource === undefined) memo.set(source, ofSource = new WeakMap());
  let found = ofSource.get(macros);
  if (found === undefined) ofSource.set(macros, found = find(source, macros));
  return found;
}

/** What a `#pragma` line does to a macro; null for any other. */
export function macroPragmaOf(argument: string): { readonly kind: 'push' | 'pop'; readonly name: string } | null {
  const [, kind, name] = /^\s*(push|pop)_macro\s*\(\s*"([A-Za-z_$][\w$]*)"\s*\)/.exec(argument) ?? [];
  return (kind === 'push' || kind === 'pop') && name !== undefined ? { kind, name } : null;
}

function mentions(text: string): boolean {
  return text.includes('push_macro') || text.includes('pop_macro');
}

/** Macros whose text holds one, or names a macro that does, with all such texts. */
function makersIn(macros: ReadonlyMap<string, MacroDefinition>): ReadonlyMap<string, readonly string[]> {
  const makers = new Map<string, string[]>();
  for (const { name, body } of macros.values()) if (mentions(body)) makers.set(name, [body]);
  if (makers.size === 0) return NO_MAKERS;
  for (let more = true; more;) {
    more = false;
    for (const { name, body } of macros.values()) {
      for (const word of body.match(/[A-Za-z_$][\w$]*/g) ?? []) {
        const inside = word === name ? undefined : makers.get(word);
        if (inside === undefined) continue;
        const own = makers.get(name) ?? [];
        const added = inside.filter((text) => !own.includes(text));
        if (added.length === 0) continue;
        makers.set(name, [...own, ...added]);
        more = true;
      }
    }
  }
  return makers;
}

function find(source: SourceFile, macros: ReadonlyMap<string, MacroDefinition>): readonly MacroPragma[] {
  const makers = makersIn(macros);
  if (makers.size === 0 && !mentions(source.text)) return NONE;
  const found: MacroPragma[] = [];
  for (const { kind, argument, start, end } of source.directives) {
    const one = kind === 'pragma' ? macroPragmaOf(argument) : null;
    if (one !== null) found.push({ ...one, start, end, isDirective: true });
  }
  const tokens = tokensOf(source);
  for (let i = 0; i < tokens.count; i++) {
    const span = { start: tokens.start(i), end: tokens.end(i) };
    const kind = tokens.kind(i);
    if (kind === TokenKind.string) { if (mentions(tokens.spelling(i))) found.push(...inText(tokens.spelling(i), span, NO_NAMES)); } else if (kind === TokenKind.identifier) {
      const word = tokens.spelling(i);
      const close = closingOf(tokens, i + 1);
      const last = { start: span.start, end: close < 0 ? span.end : tokens.end(close) };
      if (word === 'push_macro' || word === 'pop_macro') found.push(...inText(tokens.text.slice(last.start, last.end), last, NO_NAMES));
      const bodies = makers.get(word);
      if (bodies === undefined) continue;
      const given: string[] = [];
      for (let k = i + 2; k < close; k++) if (tokens.isIdentifier(k)) given.push(tokens.spelling(k));
      for (const body of bodies) found.push(...inText(body, last, given));
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

const NO_NAMES: readonly string[] = [];

/** Those that a text spells; where their name is made of pieces, each of the words that were `given` may be it. */
function inText(text: string, { start, end }: Span, given: readonly string[]): readonly MacroPragma[] {
  const made: MacroPragma[] = [];
  for (const [, word, name] of text.matchAll(/\b(push|pop)_macro\b(?:\s*\(\s*\\*"\s*([A-Za-z_$][\w$]*)\s*\\*")?/g)) {
    const kind = word === 'push' ? 'push' : 'pop';
    const names: readonly (string | null)[] = name !== undefined ? [name] : given.length > 0 ? given : [null];
    for (const one of names) made.push({ kind, name: one, start, end, isDirective: false });
  }
  return made;
}

/** Index of the `)` that closes the `(` at `open`; -1 if there is none. */
function closingOf(tokens: Tokens, open: number): number {
  if (!tokens.is(open, '(')) return -1;
  let depth = 0;
  for (let i = open; i < tokens.count; i++) {
    if (tokens.is(i, '(')) depth++;
    else if (tokens.is(i, ')') && --depth === 0) return i;
  }
  return -1;
}
