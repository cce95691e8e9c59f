/**
 * A backslash at the end of a line that breaks a name, a number or an operator in two: the compiler takes both lines for one, the parser reads two words, and
 * neither of them is meant. Whatever holds one is not read. Strings, comments and directives go on behind such a line without harm. Source: ISO C++ 17, [lex.phases].
 */
import { TokenKind, tokensOf } from '../source/index.js';
import type { SourceFile } from '../source/types.js';

const broken = new WeakMap<SourceFile, readonly number[]>();

/** Offset of the first backslash of that kind in a part of the text; null if there is none. */
export function brokenWordIn(source: SourceFile, start: number, end: number): number | null {
  let all = broken.get(source);
  if (all === undefined) broken.set(source, all = brokenIn(source));
  return all.find((at) => at >= start && at < end) ?? null;
}

function brokenIn(source: SourceFile): readonly number[] {
  const { text } = source;
  const found: number[] = [];
  for (const newline of ['\\\n', '\\\r']) {
    for (let at = text.indexOf(newline); at >= 0; at = text.indexOf(newline, at + 1)) {
      const behind = text.startsWith('\r\n', at + 1) ? at + 3 : at + 2;
      if (joins(text[at - 1] ?? ' ', text[behind] ?? ' ') && endsToken(source, at)) found.push(at);
    }
  }
  return found;
}

/** Can the two characters stand in one token? */
function joins(before: string, after: string): boolean {
  return isWord(before) ? isWord(after) : OPERATOR.has(before) && OPERATOR.has(after);
}

const OPERATOR: ReadonlySet<string> = new Set('+-*/%&|^=<>!:.');

function isWord(char: string): boolean {
  return char === '_' || (char >= '0' && char <= '9') || (char >= 'A' && char <= 'Z') || (char >= 'a' && char <= 'z') || char > '\x7f';
}

/** Does a token of the code end here? */
function endsToken(source: SourceFile, at: number): boolean {
  const tokens = tokensOf(source);
  let low = 0;
  let high = tokens.count;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (tokens.end(mid) < at) low = mid + 1;
    else high = mid;
  }
  return low < tokens.count && tokens.end(low) === at && tokens.kind(low) !== TokenKind.directive;
}
