/** Identifiers that a text names, through the macros that it uses: what is left to know of text that the parser did not read. */
import { lengthOfNew, tokenizeFragment, type Tokens } from '../source/index.js';
import type { MacroDefinition } from '../source/types.js';
import type { TextNames } from './tree.js';

/** Longest text that is looked at, and most macros: beyond it anything may be named. */
const MAX_TEXT = 1 << 16;
const MAX_MACROS = 100;

/** Null if the text is too long to tell. */
export function namesIn(text: string, macros: ReadonlyMap<string, MacroDefinition>): TextNames | null {
  const names = new Set<string>();
  const texts = [text];
  let length = 0;
  let plain = true;
  for (const part of texts) {
    length += part.length;
    if (length > MAX_TEXT || texts.length > MAX_MACROS) return null;
    const tokens = tokenizeFragment(part);
    for (let i = 0; i < tokens.count; i++) {
      plain &&= !mayBind(tokens, i, macros);
      if (!tokens.isIdentifier(i)) continue;
      const name = tokens.spelling(i);
      if (names.has(name)) continue;
      names.add(name);
      const macro = macros.get(name);
      // Pasted names are not in any text.
      if (macro?.body.includes('##') === true) return null;
      if (macro !== undefined) texts.push(macro.body);
    }
  }
  return { all: [...names], plain };
}

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<=', '>=']);

/** `&x`, `[&]`, `f(x)`, `T{x}`, `T &r = x`, `x++`, `x += y`, text of an assembler: arithmetic, subscripts, members and `new T[x]` bind nothing. */
function mayBind(tokens: Tokens, i: number, macros: ReadonlyMap<string, MacroDefinition>): boolean {
  if (tokens.isIdentifier(i)) {
    const word = tokens.spelling(i);
    return (tokens.is(i + 1, '(') && !macros.has(word)) || (word === 'new' && lengthOfNew(tokens, i) < 0) || word === 'asm' || word === '__asm__' || word === 'throw';
  }
  const mark = tokens.spelling(i);
  return mark === '&' || mark === '&&' || mark === '{' || mark === '#' || mark === '++' || mark === '--' || (mark.endsWith('=') && !COMPARISONS.has(mark));
}
