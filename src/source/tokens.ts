/**
 * Tokens of one text as a structure of arrays: kind, start and end by index. Comments and whitespace are the gaps between tokens;
 * comments are listed apart. A whole preprocessor directive is one token.
 */
export const TokenKind = {
  none: 0,
  identifier: 1,
  number: 2,
  string: 3,
  character: 4,
  punctuation: 5,
  directive: 6,
} as const;
export type TokenKind = (typeof TokenKind)[keyof typeof TokenKind];

/** Numbers for each token in the table: start, end, kind. */
const STRIDE = 3;

/** Numbers of a page, and of the largest table that shares one. */
const PAGE = 1 << 14;
const SMALL = 1 << 8;

/**
 * Tokens of a text that is being read. One table serves all texts, one after the other: what is kept is a copy of its size. Most texts are bodies and arguments of
 * macros: their tables share pages, because to make an array of its own takes longer than to read a few words.
 */
export class TokenTable {
  #table = new Int32Array(3 << 12);
  #length = 0;
  #page = new Int32Array(PAGE);
  #used = 0;

  clear(): void {
    this.#length = 0;
  }

  push(kind: TokenKind, start: number, end: number): void {
    const at = this.#length;
    if (at + STRIDE > this.#table.length) {
      const grown = new Int32Array(this.#table.length * 2);
      grown.set(this.#table);
      this.#table = grown;
    }
    this.#table[at] = start;
    this.#table[at + 1] = end;
    this.#table[at + 2] = kind;
    this.#length = at + STRIDE;
  }

  tokensOf(text: string): Tokens {
    const length = this.#length;
    if (length > SMALL) return new Tokens(text, this.#table.slice(0, length), 0, length / STRIDE);
    if (this.#used + length > PAGE) {
      this.#page = new Int32Array(PAGE);
      this.#used = 0;
    }
    const base = this.#used;
    const page = this.#page;
    for (let i = 0; i < length; i++) page[base + i] = this.#table[i] ?? 0;
    this.#used += length;
    return new Tokens(text, page, base, length / STRIDE);
  }
}

export class Tokens {
  readonly #table: Int32Array;
  readonly #base: number;

  /** `count` tokens, whose numbers stand in the table from `base`. */
  constructor(readonly text: string, table: Int32Array, base: number, readonly count: number) {
    this.#table = table;
    this.#base = base;
  }

  /** `TokenKind.none` outside of the range. */
  kind(index: number): number {
    return index >= 0 && index < this.count ? (this.#table[this.#base + index * STRIDE + 2] ?? 0) : 0;
  }

  /** 0 before the first token, the length of the text behind the last: the table may hold tokens of other texts there. */
  start(index: number): number {
    return index < 0 ? 0 : index < this.count ? (this.#table[this.#base + index * STRIDE] ?? 0) : this.text.length;
  }

  end(index: number): number {
    return index < 0 ? 0 : index < this.count ? (this.#table[this.#base + index * STRIDE + 1] ?? 0) : this.text.length;
  }

  /** Spelling; the empty string outside of the range. */
  spelling(index: number): string {
    return index >= 0 && index < this.count ? this.text.slice(this.start(index), this.end(index)) : '';
  }

  /** First character's code; 0 outside of the range. */
  code(index: number): number {
    return index >= 0 && index < this.count ? this.text.charCodeAt(this.start(index)) : 0;
  }

  /** True if the token is spelled exactly so (and is no string or character literal). */
  is(index: number, spelling: string): boolean {
    if (index < 0 || index >= this.count) return false;
    const kind = this.kind(index);
    if (kind !== TokenKind.punctuation && kind !== TokenKind.identifier) return false;
    const start = this.start(index);
    return this.end(index) - start === spelling.length && this.text.startsWith(spelling, start);
  }

  isIdentifier(index: number): boolean {
    return index >= 0 && this.kind(index) === TokenKind.identifier;
  }

  /** Index of the first token that starts at or after `offset`; `count` if there is none. */
  at(offset: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start(middle) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
