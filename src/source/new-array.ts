import type { Tokens } from './tokens.js';

/** The `[` of a `new T[n]`, which only reads what it names; -1 if the word at this token does not begin one. What stands behind the `]` is not looked at. */
export function lengthOfNew(tokens: Tokens, word: number): number {
  if (!tokens.is(word, 'new')) return -1;
  let at = word + 1;
  while (tokens.isIdentifier(at) || tokens.is(at, '::') || tokens.is(at, '*')) at++;
  return at > word + 1 && tokens.is(at, '[') ? at : -1;
}
