/** Tells in constant time, mostly without making a string, whether an identifier is one of a set of names: a word of the overlay or a macro of the unit. */
import type { Tokens } from './tokens.js';
import { ATTRIBUTES, BOUNDS, OPERATOR_WORDS, PRIMITIVE_TYPES, QUALIFIERS } from './words.js';

const OTHER_WORDS = ['decltype', 'typeid', 'new', 'template', '_Pragma', '__pragma', '__restrict', '__volatile__'];

/** Size of the filters: a power of two, small enough to copy for every snippet. */
const SIZE = 4096;

/** Names that a token may be, so that others need not be spelled. */
export class NameFilter {
  readonly #filter: Uint8Array;

  constructor(filter?: NameFilter) {
    this.#filter = filter === undefined ? new Uint8Array(SIZE) : filter.#filter.slice();
  }

  add(name: string): void {
    this.#filter[hash(name, 0, name.length)] = 1;
  }

  /** False for a token that is spelled like none of the names. */
  mayHold(tokens: Tokens, i: number): boolean {
    return this.#filter[hash(tokens.text, tokens.start(i), tokens.end(i))] === 1;
  }
}

export class InterestingNames {
  readonly #filter: NameFilter;

  constructor(private readonly macros: ReadonlyMap<string, unknown>) {
    this.#filter = macros.size === 0 ? WORD_FILTER : new NameFilter(WORD_FILTER);
    for (const name of macros.keys()) this.#filter.add(name);
  }

  /** The spelling if it is one of the names, else null. */
  spelling(tokens: Tokens, i: number): string | null {
    if (!this.#filter.mayHold(tokens, i)) return null;
    const name = tokens.spelling(i);
    // The table's own string in place of the slice: the rules ask further tables for it.
    return WORDS.get(name) ?? (this.macros.has(name) ? name : null);
  }
}

/** By the first and last character and the length. */
function hash(text: string, start: number, end: number): number {
  return (text.charCodeAt(start) * 37 + text.charCodeAt(end - 1) * 101 + (end - start) * 769) & (SIZE - 1);
}

const WORDS: ReadonlyMap<string, string> = new Map([...QUALIFIERS, ...BOUNDS.keys(), ...ATTRIBUTES, ...PRIMITIVE_TYPES, ...OPERATOR_WORDS.keys(), ...OTHER_WORDS].map((word) => [word, word]));
const WORD_FILTER = new NameFilter();
for (const word of WORDS.keys()) WORD_FILTER.add(word);
