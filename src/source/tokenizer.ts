/**
 * The tokenizer of C++ and CUDA: one linear pass over the character codes.
 *
 * It follows the lexical rules of the C++ standard ([lex.phases], [lex.pptoken]): longest match, raw strings, digit separators,
 * line continuations (also inside line comments and directives), directives only where `#` is the first token of a line. It adds
 * the launch chevrons `<<<` and `>>>`. What it does not do: splice a continuation in the middle of a token, and digraphs.
 * Malformed text never stops it: an unterminated literal ends at its line, an unterminated comment or raw string at the end.
 */
import type { Comment, Directive, DirectiveKind } from './types.js';
import { TokenKind, TokenTable, type Tokens } from './tokens.js';

export interface Tokenized {
  readonly tokens: Tokens;
  readonly comments: readonly Comment[];
  readonly directives: readonly Directive[];
}

const enumerated: readonly DirectiveKind[] = [
  'include', 'define', 'undef', 'if', 'ifdef', 'ifndef', 'elif', 'else', 'endif', 'pragma', 'error', 'line',
];
const DIRECTIVES: ReadonlyMap<string, DirectiveKind> = new Map(enumerated.map((name) => [name, name]));

/** Character classes by code below 128: 1 may start an identifier, 2 is a digit, 4 is whitespace other than a newline. */
const CLASS = new Uint8Array(128);
for (let c = 0; c < 128; c++) {
  const letter = (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 95 || c === 36;
  CLASS[c] = letter ? 1 : c >= 48 && c <= 57 ? 2 : c === 32 || c === 9 || c === 11 || c === 12 || c === 13 ? 4 : 0;
}

/** Operators of more than one character, longest first for each first character. `<` and `>` are handled by hand. */
const OPERATORS: ReadonlyMap<number, readonly string[]> = byFirstCharacter([
  '...', '.*', '->*', '->', '--', '-=', '++', '+=', '&&', '&=', '||', '|=', '==', '!=', '*=', '/=', '%=', '^=', '::', '##',
]);

export function tokenize(text: string): Tokenized {
  return new Tokenizer(text, true).run();
}

/** Tokens of a macro's body or argument, where `#` is an operator and no directive can stand. */
export function tokenizeFragment(text: string): Tokens {
  return new Tokenizer(text, false).run().tokens;
}

const table = new TokenTable();

class Tokenizer {
  readonly #text: string;
  readonly #length: number;
  readonly #directivesAllowed: boolean;
  readonly #comments: Comment[] = [];
  readonly #directives: Directive[] = [];
  /** Openers of the conditional groups that are open. */
  readonly #groups: number[] = [];

  constructor(text: string, directives: boolean) {
    this.#directivesAllowed = directives;
    this.#text = text;
    this.#length = text.length;
    table.clear();
  }

  run(): Tokenized {
    const text = this.#text;
    let at = 0;
    let lineStart = true;
    while (at < this.#length) {
      const c = text.charCodeAt(at);
      if (c === 10) {
        lineStart = true;
        at++;
      } else if (isBlank(c)) {
        at++;
      } else if (c === 47 && this.#opensComment(at)) {
        at = this.#comment(at);
      } else if (c === 92 && this.#newlineAfter(at + 1) > 0) {
        at = this.#newlineAfter(at + 1);
      } else if (c === 35 && lineStart && this.#directivesAllowed) {
        at = this.#directive(at);
        lineStart = true;
      } else {
        lineStart = false;
        const kind = this.#kindAt(at, c);
        const end = this.#tokenEnd(at, c, kind);
        table.push(this.#literalKind(kind, end), at, end);
        at = end;
      }
    }
    return { tokens: table.tokensOf(text), comments: this.#comments, directives: this.#directives };
  }

  #kindAt(at: number, c: number): TokenKind {
    if (c >= 128) return TokenKind.identifier;
    const cls = CLASS[c] ?? 0;
    if (cls === 1) return TokenKind.identifier;
    if (cls === 2) return TokenKind.number;
    if (c === 34) return TokenKind.string;
    if (c === 39) return TokenKind.character;
    if (c === 46 && isDigit(this.#text.charCodeAt(at + 1))) return TokenKind.number;
    return TokenKind.punctuation;
  }

  /** An encoding prefix makes one token with its literal; its kind is that of the literal. */
  #literalKind(kind: TokenKind, end: number): TokenKind {
    if (kind !== TokenKind.identifier) return kind;
    const last = this.#text.charCodeAt(end - 1);
    return last === 34 ? TokenKind.string : last === 39 ? TokenKind.character : this.#unterminated ? TokenKind.string : kind;
  }

  #unterminated = false;

  #tokenEnd(at: number, c: number, kind: TokenKind): number {
    this.#unterminated = false;
    switch (kind) {
      case TokenKind.identifier: return this.#identifier(at);
      case TokenKind.number: return this.#number(at);
      case TokenKind.string:
      case TokenKind.character: return this.#quoted(at + 1, c);
      default: return at + this.#punctuationLength(at, c);
    }
  }

  #identifier(at: number): number {
    const text = this.#text;
    let end = at + 1;
    while (end < this.#length && isIdentifierPart(text.charCodeAt(end))) end++;
    const next = text.charCodeAt(end);
    if ((next === 34 || next === 39) && end - at <= 3) {
      const prefix = text.slice(at, end);
      if (next === 34 && (prefix === 'R' || prefix === 'LR' || prefix === 'uR' || prefix === 'UR' || prefix === 'u8R')) return this.#raw(end);
      if (prefix === 'L' || prefix === 'u' || prefix === 'U' || prefix === 'u8') {
        const close = this.#quoted(end + 1, next);
        this.#unterminated = text.charCodeAt(close - 1) !== next;
        return close;
      }
    }
    return end;
  }

  /** `quote` is the offset of the `"` after the R. */
  #raw(quote: number): number {
    const text = this.#text;
    let open = quote + 1;
    while (open < this.#length && open - quote <= 17 && text.charCodeAt(open) !== 40) open++;
    if (text.charCodeAt(open) !== 40) return this.#quoted(quote + 1, 34);
    const close = `)${text.slice(quote + 1, open)}"`;
    const end = text.indexOf(close, open + 1);
    this.#unterminated = end < 0;
    return end < 0 ? this.#length : end + close.length;
  }

  #quoted(from: number, quote: number): number {
    const text = this.#text;
    let at = from;
    while (at < this.#length) {
      const c = text.charCodeAt(at);
      if (c === quote) return at + 1;
      if (c === 10) return text.charCodeAt(at - 1) === 13 ? at - 1 : at;
      if (c === 92) {
        const spliced = this.#newlineAfter(at + 1);
        at = spliced > 0 ? spliced : at + 2;
      } else {
        at++;
      }
    }
    return this.#length;
  }

  #number(at: number): number {
    const text = this.#text;
    let end = at + 1;
    while (end < this.#length) {
      const c = text.charCodeAt(end);
      if (isIdentifierPart(c) || c === 46) end++;
      else if (c === 39 && isIdentifierPart(text.charCodeAt(end + 1))) end += 2;
      else if ((c === 43 || c === 45) && isExponent(text.charCodeAt(end - 1)) && !this.#hexWithoutP(at, end)) end++;
      else break;
    }
    return end;
  }

  /** `0xE+1` is a preprocessing number, and an error, in C++; people mean an addition, and so do we. */
  #hexWithoutP(at: number, sign: number): boolean {
    const x = this.#text.charCodeAt(at + 1) | 32;
    return this.#text.charCodeAt(at) === 48 && x === 120 && (this.#text.charCodeAt(sign - 1) | 32) === 101;
  }

  #punctuationLength(at: number, c: number): number {
    const text = this.#text;
    if (c === 60) {
      if (text.startsWith('<<<', at)) return 3;
      if (text.startsWith('<<=', at) || text.startsWith('<=>', at)) return 3;
      return text.startsWith('<<', at) || text.startsWith('<=', at) ? 2 : 1;
    }
    if (c === 62) {
      let run = 1;
      while (text.charCodeAt(at + run) === 62) run++;
      if (run >= 3) return run;
      return text.charCodeAt(at + run) === 61 ? run + 1 : run;
    }
    for (const operator of OPERATORS.get(c) ?? []) if (text.startsWith(operator, at)) return operator.length;
    return 1;
  }

  #opensComment(at: number): boolean {
    const next = this.#text.charCodeAt(at + 1);
    return next === 47 || next === 42;
  }

  #comment(at: number): number {
    const text = this.#text;
    if (text.charCodeAt(at + 1) === 42) {
      const close = text.indexOf('*/', at + 2);
      const end = close < 0 ? this.#length : close + 2;
      this.#comments.push({ start: at, end, text: text.slice(at + 2, close < 0 ? end : close) });
      return end;
    }
    const end = this.#logicalLineEnd(at);
    this.#comments.push({ start: at, end, text: text.slice(at + 2, end) });
    return end;
  }

  /** End of the line, continuations followed; the newline (and its `\r`) not included. */
  #logicalLineEnd(from: number): number {
    const text = this.#text;
    let at = from;
    for (;;) {
      const newline = text.indexOf('\n', at);
      if (newline < 0) return this.#length;
      const last = text.charCodeAt(newline - 1) === 13 ? newline - 1 : newline;
      if (last <= at || text.charCodeAt(last - 1) !== 92) return Math.max(last, from);
      at = newline + 1;
    }
  }

  /** Offset after the newline if only blanks stand between `at` and it (as compilers accept after a backslash); else -1. */
  #newlineAfter(at: number): number {
    let i = at;
    while (i < this.#length) {
      const c = this.#text.charCodeAt(i);
      if (c === 10) return i + 1;
      if (c !== 13 && c !== 32 && c !== 9) return -1;
      i++;
    }
    return -1;
  }

  #directive(start: number): number {
    const text = this.#text;
    let at = start + 1;
    while (at < this.#length && isBlank(text.charCodeAt(at)) ) at++;
    const nameStart = at;
    while (at < this.#length && isIdentifierPart(text.charCodeAt(at))) at++;
    const kind = DIRECTIVES.get(text.slice(nameStart, at)) ?? 'other';
    const { end, argument } = this.#directiveArgument(at, kind);
    const opener = this.#openerOf(kind);
    this.#directives.push({ kind, start, end, argument, opener });
    table.push(TokenKind.directive, start, end);
    return end;
  }

  #openerOf(kind: DirectiveKind): number {
    const groups = this.#groups;
    if (kind === 'if' || kind === 'ifdef' || kind === 'ifndef') {
      groups.push(this.#directives.length);
      return this.#directives.length;
    }
    if (kind === 'elif' || kind === 'else') return groups[groups.length - 1] ?? -1;
    if (kind === 'endif') return groups.pop() ?? -1;
    return -1;
  }

  #directiveArgument(from: number, kind: DirectiveKind): { end: number; argument: string } {
    const text = this.#text;
    const free = kind === 'error' || kind === 'other';
    let argument = '';
    let piece = from;
    let at = from;
    while (at < this.#length) {
      const c = text.charCodeAt(at);
      if (c === 10) break;
      if (c === 92 && this.#newlineAfter(at + 1) > 0) {
        argument += `${text.slice(piece, at)} `;
        at = piece = this.#newlineAfter(at + 1);
      } else if (c === 47 && this.#opensComment(at)) {
        argument += `${text.slice(piece, at)} `;
        at = piece = this.#comment(at);
      } else if (c === 34 || (c === 39 && !free && !isIdentifierPart(text.charCodeAt(at - 1)))) {
        at = this.#quoted(at + 1, c);
      } else if (c === 60 && kind === 'include') {
        const close = text.indexOf('>', at);
        const newline = text.indexOf('\n', at);
        at = close >= 0 && (newline < 0 || close < newline) ? close + 1 : at + 1;
      } else {
        at++;
      }
    }
    // A comment that closes the directive belongs to its span only if text follows it; blanks and `\r` do not.
    let end = at;
    while (end > from && isBlank(text.charCodeAt(end - 1))) end--;
    argument += text.slice(piece, Math.max(piece, end));
    return { end, argument: argument.trim() };
  }
}

function isBlank(c: number): boolean {
  return c < 128 ? CLASS[c] === 4 : c === 0xa0 || c === 0xfeff;
}

function isDigit(c: number): boolean {
  return c >= 48 && c <= 57;
}

function isExponent(c: number): boolean {
  const lower = c | 32;
  return lower === 101 || lower === 112;
}

function isIdentifierPart(c: number): boolean {
  return c < 128 ? (CLASS[c] ?? 0) === 1 || CLASS[c] === 2 : c !== 0xa0 && c !== 0xfeff && c === c;
}

function byFirstCharacter(operators: readonly string[]): ReadonlyMap<number, readonly string[]> {
  const table = new Map<number, string[]>();
  for (const operator of operators) {
    const first = operator.charCodeAt(0);
    table.set(first, [...(table.get(first) ?? []), operator].sort((a, b) => b.length - a.length));
  }
  return table;
}
