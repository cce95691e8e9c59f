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

export class Tokens {
  readonly text: string;
  count = 0;
  #kinds: Uint8Array;
  #starts: Int32Array;
  #ends: Int32Array;

  constructor(text: string) {
    this.text = text;
    const capacity = (text.length >> 3) + 16;
    this.#kinds = new Uint8Array(capacity);
    this.#starts = new Int32Array(capacity);
    this.#ends = new Int32Array(capacity);
  }

  push(kind: TokenKind, start: number, end: number): void {
    if (this.count === this.#kinds.length) this.#grow();
    this.#kinds[this.count] = kind;
    this.#starts[this.count] = start;
    this.#ends[this.count] = end;
    this.count++;
  }

  /** `TokenKind.none` outside of the range. */
  kind(index: number): number {
    return index < this.count ? (this.#kinds[index] ?? 0) : 0;
  }

  start(index: number): number {
    return index < this.count ? (this.#starts[index] ?? 0) : this.text.length;
  }

  end(index: number): number {
    return index < this.count ? (this.#ends[index] ?? 0) : this.text.length;
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

  #grow(): void {
    const capacity = this.#kinds.length * 2;
    const kinds = new Uint8Array(capacity);
    const starts = new Int32Array(capacity);
    const ends = new Int32Array(capacity);
    kinds.set(this.#kinds);
    starts.set(this.#starts);
    ends.set(this.#ends);
    this.#kinds = kinds;
    this.#starts = starts;
    this.#ends = ends;
  }
}
