/**
 * What a macro stands for, as far as the C++ grammar is concerned: qualifiers only, a pragma, qualifiers before a type, a statement
 * head, an opening or closing brace. Everything else (`plain`) is left in the text for the lowering to look through.
 */
import type { MacroDefinition, OverlayMeaning } from './types.js';
import { expandMacro } from './expand.js';
import { TokenKind, type Tokens } from './tokens.js';
import { tokenizeFragment } from './tokenizer.js';
import { ATTRIBUTES, BOUNDS, KEYWORDS, PRIMITIVE_TYPES, QUALIFIERS, SPECIFIERS } from './words.js';

export type MacroRole =
  /** `ends` tells whether the text ends in `;` or `}`: as one statement or declaration, or as the last of several. */
  | { readonly kind: 'plain'; readonly ends: 'statement' | 'statements' | 'other' }
  /** Expands to nothing at all. */
  | { readonly kind: 'empty' }
  /** Only qualifiers, bounds, storage words, attributes. */
  | { readonly kind: 'qualifiers'; readonly standsFor: readonly OverlayMeaning[]; readonly expansion: string; readonly cuda: boolean }
  | { readonly kind: 'pragma'; readonly text: string }
  /** Qualifiers and a type (or the start of one): `__global__ void`, `__global__ void __launch_bounds__(64)`. */
  | { readonly kind: 'typed'; readonly standsFor: readonly OverlayMeaning[]; readonly remainder: string }
  /** `for (…)`, `if (…)`: the next statement belongs to it. */
  | { readonly kind: 'head'; readonly expansion: string }
  /** Leaves brackets open, or closes some that it did not open. */
  | { readonly kind: 'unbalanced'; readonly expansion: string };

const PLAIN: MacroRole = { kind: 'plain', ends: 'other' };

export class MacroRoles {
  /** By name; for a function-like macro with its parameters as arguments. */
  readonly #usual = new Map<string, MacroRole>();

  constructor(private readonly macros: ReadonlyMap<string, MacroDefinition>) {}

  has(name: string): MacroDefinition | undefined {
    return this.macros.get(name);
  }

  /**
   * `argumentTexts` gives the arguments of an invocation, null for one without parentheses. `plain` if the macro cannot be
   * expanded. Arguments do not make a plain macro anything else: then they are not even split.
   */
  role(macro: MacroDefinition, argumentTexts: () => readonly string[] | null): MacroRole {
    let usual = this.#usual.get(macro.name);
    if (!usual) {
      usual = this.#compute(macro, macro.parameters);
      this.#usual.set(macro.name, usual);
    }
    return macro.parameters === null || usual.kind === 'plain' ? usual : this.#compute(macro, argumentTexts());
  }

  #compute(macro: MacroDefinition, argumentTexts: readonly string[] | null): MacroRole {
    const expansion = expandMacro(macro.name, argumentTexts, this.macros, { expandAmbiguous: true });
    return expansion === null ? PLAIN : roleOf(expansion);
  }
}

export function roleOf(expansion: string): MacroRole {
  const tokens = tokenizeFragment(expansion);
  if (tokens.count === 0) return { kind: 'empty' };
  const pragma = pragmaText(tokens);
  if (pragma !== null) return { kind: 'pragma', text: pragma };
  const { standsFor, rest, cuda } = takeQualifiers(tokens);
  if (rest.length === 0) return { kind: 'qualifiers', standsFor, expansion, cuda };
  if (cuda && isTypeText(tokens, rest)) return { kind: 'typed', standsFor, remainder: rest.map((i) => tokens.spelling(i)).join(' ') };
  return roleOfStatement(tokens, expansion);
}

function pragmaText(tokens: Tokens): string | null {
  const parts: string[] = [];
  for (let i = 0; i < tokens.count; i += 4) {
    const pragma = (tokens.is(i, '_Pragma') || tokens.is(i, '__pragma')) && tokens.is(i + 1, '(') && tokens.is(i + 3, ')');
    if (!pragma) return null;
    parts.push(tokens.spelling(i + 2).replace(/^L?"|"$/g, '').replaceAll('\\"', '"'));
  }
  return `#pragma ${parts.join('; ')}`;
}

/**
 * Takes qualifiers and bounds of CUDA out, wherever they stand outside of brackets, and other specifiers up to the first word of a
 * type. `rest` holds the indices of the tokens that stay.
 */
function takeQualifiers(tokens: Tokens): { standsFor: OverlayMeaning[]; rest: number[]; cuda: boolean } {
  const standsFor: OverlayMeaning[] = [];
  const rest: number[] = [];
  let cuda = false;
  for (let i = 0; i < tokens.count; i++) {
    const word = tokens.spelling(i);
    const bounds = BOUNDS.get(word);
    const specifier = rest.length === 0 ? SPECIFIERS.get(word) : undefined;
    const argumentEnd = tokens.is(i + 1, '(') ? closing(tokens, i + 1) : -1;
    const argument = argumentEnd > 0 ? tokens.text.slice(tokens.end(i + 1), tokens.start(argumentEnd)).trim() : null;
    if (QUALIFIERS.has(word)) {
      standsFor.push({ name: word.slice(2, -2), argument: null });
      cuda = true;
    } else if (bounds !== undefined && argument !== null) {
      standsFor.push({ name: bounds, argument });
      cuda = true;
      i = argumentEnd;
    } else if (ATTRIBUTES.has(word) && argument !== null) {
      standsFor.push({ name: word.replaceAll('_', ''), argument });
      i = argumentEnd;
    } else if (specifier !== undefined) {
      standsFor.push({ name: specifier, argument: null });
      if (word === 'extern' && tokens.kind(i + 1) === TokenKind.string) i++;
    } else if (rest.length === 0 && tokens.is(i, '[') && tokens.is(i + 1, '[') && closing(tokens, i) > 0) {
      const end = closing(tokens, i);
      standsFor.push({ name: 'attribute', argument: tokens.text.slice(tokens.end(i + 1), tokens.start(end - 1)).trim() });
      i = end;
    } else {
      rest.push(i);
    }
  }
  return { standsFor, rest, cuda };
}

/** Names, `::`, `<…>`, `*`, `&` and qualifiers only. */
function isTypeText(tokens: Tokens, rest: readonly number[]): boolean {
  return rest.every((i, k) => {
    const kind = tokens.kind(i);
    if (kind === TokenKind.identifier) return !KEYWORDS.has(tokens.spelling(i)) || PRIMITIVE_TYPES.has(tokens.spelling(i)) || SPECIFIERS.has(tokens.spelling(i));
    if (k === 0) return tokens.is(i, '::');
    return kind === TokenKind.number || (kind === TokenKind.punctuation && /^(?:::|<|>|>>|\*|&|,)$/.test(tokens.spelling(i)));
  });
}

function roleOfStatement(tokens: Tokens, expansion: string): MacroRole {
  let depth = 0;
  let lowest = 0;
  for (let i = 0; i < tokens.count; i++) {
    const change = bracketChange(tokens, i);
    depth += change;
    lowest = Math.min(lowest, depth);
  }
  if (depth !== 0 || lowest < 0) return { kind: 'unbalanced', expansion };
  const last = tokens.count - 1;
  if (tokens.is(last, ';') || tokens.is(last, '}')) return { kind: 'plain', ends: isOneStatement(tokens) ? 'statement' : 'statements' };
  if (tokens.is(last, 'else')) return { kind: 'head', expansion };
  if (tokens.is(last, ')') && endsInHead(tokens, last)) return { kind: 'head', expansion };
  return PLAIN;
}

/** Outside of brackets nothing ends before the last token; an `else` or the `while` of a `do` carries on after a `}`. */
function isOneStatement(tokens: Tokens): boolean {
  let depth = 0;
  for (let i = 0; i < tokens.count - 1; i++) {
    depth += bracketChange(tokens, i);
    if (depth > 0 || !(tokens.is(i, ';') || tokens.is(i, '}'))) continue;
    if (!tokens.is(i + 1, 'else') && !(tokens.is(i, '}') && tokens.is(0, 'do') && tokens.is(i + 1, 'while'))) return false;
  }
  return true;
}

/** The closing `)` belongs to a `for`, `while` or `if` that is not the end of a `do`. */
function endsInHead(tokens: Tokens, last: number): boolean {
  let depth = 0;
  for (let i = last; i > 0; i--) {
    if (tokens.is(i, ')')) depth++;
    if (tokens.is(i, '(') && --depth === 0) {
      if (tokens.is(i - 1, 'for') || tokens.is(i - 1, 'if') || (tokens.is(i - 1, 'constexpr') && tokens.is(i - 2, 'if'))) return true;
      return tokens.is(i - 1, 'while') && !(tokens.is(i - 2, '}') && tokens.is(0, 'do'));
    }
  }
  return false;
}

function bracketChange(tokens: Tokens, i: number): number {
  if (tokens.kind(i) !== TokenKind.punctuation) return 0;
  const c = tokens.code(i);
  return c === 40 || c === 91 || c === 123 ? 1 : c === 41 || c === 93 || c === 125 ? -1 : 0;
}

/** Index of the partner of the opener at `open`; -1 if there is none. */
export function closing(tokens: Tokens, open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.count; i++) {
    depth += bracketChange(tokens, i);
    if (depth === 0) return i;
  }
  return -1;
}
