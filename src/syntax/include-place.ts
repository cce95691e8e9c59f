/** Braces around an `#include`: the file's names are looked up in them first, and it is lowered as if it stood outside. */
import { tokensOf } from '../source/source-file.js';
import { TokenKind, type Tokens } from '../source/tokens.js';
import type { SourceFile } from '../source/types.js';

export interface IncludePlace {
  /** Paths of the named namespaces around it, the outermost first: `a`, `a::b`. */
  readonly spaces: readonly string[];
  /** Names that stand in front of it in other braces (of a class, a function). */
  readonly words: ReadonlySet<string>;
}

const OUTSIDE: IncludePlace = { spaces: [], words: new Set() };

/** `extern "C"` and namespaces without a name, or inline ones, count for nothing. */
export function placeOf(source: SourceFile, offset: number): IncludePlace {
  if (offset === 0 || source.text.lastIndexOf('{', offset) < 0) return OUTSIDE;
  const tokens = tokensOf(source);
  const open: number[] = [];
  for (let i = 0; i < tokens.count && tokens.start(i) < offset; i++) {
    if (tokens.is(i, '{')) open.push(i);
    else if (tokens.is(i, '}')) open.pop();
  }
  if (open.length === 0) return OUTSIDE;
  const spaces: string[] = [];
  const words = new Set<string>();
  for (const brace of open) {
    const name = namespaceAt(tokens, brace);
    if (name === '') continue;
    if (name !== null) {
      for (const part of name.split('::')) spaces.push(spaces.length === 0 ? part : `${spaces[spaces.length - 1] ?? ''}::${part}`);
      continue;
    }
    for (let i = brace; i < tokens.count && tokens.start(i) < offset; i++) if (tokens.kind(i) === TokenKind.identifier) words.add(tokens.spelling(i));
  }
  return spaces.length === 0 && words.size === 0 ? OUTSIDE : { spaces, words };
}

export function isInside({ spaces, words }: IncludePlace): boolean {
  return spaces.length > 0 || words.size > 0;
}

/** The name of the namespace that the brace opens; empty if its names are those around it, null if it opens something else. */
function namespaceAt(tokens: Tokens, brace: number): string | null {
  if (tokens.kind(brace - 1) === TokenKind.string && tokens.is(brace - 2, 'extern')) return '';
  let at = brace - 1;
  while (tokens.isIdentifier(at) || tokens.is(at, '::')) {
    if (tokens.is(at, 'namespace')) {
      if (at + 1 === brace || tokens.is(at - 1, 'inline')) return '';
      return Array.from({ length: brace - at - 1 }, (_, i) => tokens.spelling(at + 1 + i)).join('');
    }
    at--;
  }
  return null;
}
