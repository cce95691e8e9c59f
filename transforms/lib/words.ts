/**
 * Identifiers that a text spells, macros looked through.
 *
 * The tree holds no reference for a type's name, an array length, a template argument, the operand of `sizeof` or a using-declaration. Where a
 * declaration is to come into the scope of other text, what that text says is therefore asked of its tokens: a word too many costs a pair of
 * braces or a refusal, a word too few the meaning of the program.
 */
import { tokenize, tokenizeFragment } from '../../src/source/tokenizer.js';
import { TokenKind, type Tokens } from '../../src/source/tokens.js';
import type { Span } from '../../src/source/types.js';
import type { Unit } from '../../src/syntax/tree.js';

export interface Words {
  readonly names: ReadonlySet<string>;
  /** Not all names are known: a macro has two definitions, or makes names of pieces. */
  readonly dark: boolean;
}

/** Identifiers of the spans, with those of every macro that they may expand, and of `#pragma`s. */
export function wordsOf(unit: Unit, spans: readonly Span[]): Words {
  const names = new Set<string>();
  let dark = false;
  const add = (word: string): void => {
    if (names.has(word)) return;
    names.add(word);
    const macro = unit.macros.get(word);
    if (macro === undefined) return;
    if (macro.ambiguous || macro.body.includes('##')) dark = true;
    collect(tokenizeFragment(macro.body), add);
  };
  for (const span of spans) collect(tokenize(unit.source.text.slice(span.start, span.end)).tokens, add);
  return { names, dark };
}

function collect(tokens: Tokens, add: (word: string) => void): void {
  for (let i = 0; i < tokens.count; i++) {
    if (tokens.isIdentifier(i)) add(tokens.spelling(i));
    else if (tokens.kind(i) === TokenKind.directive) for (const [word] of tokens.spelling(i).matchAll(/[A-Za-z_$][\w$]*/g)) add(word);
  }
}

/** The text may hold a using-declaration, a using-directive, an alias or a namespace alias. */
export function bringsNames(words: Words): boolean {
  return words.names.has('using') || words.names.has('namespace');
}
