/** Tells in constant time, mostly without making a string, whether an identifier is a word of the overlay or a macro of the unit. */
import type { Tokens } from './tokens.js';
import { ATTRIBUTES, BOUNDS, OPERATOR_WORDS, PRIMITIVE_TYPES, QUALIFIERS } from './words.js';

const OTHER_WORDS = ['decltype', 'typeid', 'new', 'template', '_Pragma', '__pragma', '__restrict', '__volatile__'];

/** Size of the filters: a power of two, small enough to copy for every snippet. */
const SIZE = 4096;

export class InterestingNames {
  readonly #macros = new Set<string>();
  readonly #filter: Uint8Array;

  constructor(macros: Iterable<string>) {
    this.#filter = WORD_FILTER.slice();
    for (const name of macros) {
      this.#macros.add(name);
      this.#filter[hash(name, 0, name.length)] = 1;
    }
  }

  /** The spelling if it is one of the names, else null. */
  spelling(tokens: Tokens, i: number): string | null {
    const start = tokens.start(i);
    const end = tokens.end(i);
    if (this.#filter[hash(tokens.text, start, end)] === 0) return null;
    const name = tokens.text.slice(start, end);
    return WORDS.has(name) || this.#macros.has(name) ? name : null;
  }
}

/** By the first and last character and the length. */
function hash(text: string, start: number, end: number): number {
  return (text.charCodeAt(start) * 37 + text.charCodeAt(end - 1) * 101 + (end - start) * 769) & (SIZE - 1);
}

const WORDS: ReadonlySet<string> = new Set([...QUALIFIERS, ...BOUNDS.keys(), ...ATTRIBUTES, ...PRIMITIVE_TYPES, ...OPERATOR_WORDS.keys(), ...OTHER_WORDS]);
const WORD_FILTER = new Uint8Array(SIZE);
for (const word of WORDS) WORD_FILTER[hash(word, 0, word.length)] = 1;
