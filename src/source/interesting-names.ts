/** Tells in constant time, mostly without making a string, whether an identifier is a word of the overlay or a macro of the unit. */
import type { Tokens } from './tokens.js';
import { ATTRIBUTES, BOUNDS, PRIMITIVE_TYPES, QUALIFIERS } from './words.js';

const OTHER_WORDS = ['decltype', 'typeid', 'new', 'template', '_Pragma', '__pragma', '__restrict', '__volatile__'];

export class InterestingNames {
  readonly #names = new Set<string>();
  /** By first character (7 bits), length (5 bits) and last character (7 bits). */
  readonly #filter = new Uint8Array(1 << 19);

  constructor(macros: Iterable<string>) {
    for (const list of [QUALIFIERS, BOUNDS.keys(), ATTRIBUTES, PRIMITIVE_TYPES, OTHER_WORDS, macros]) {
      for (const name of list) {
        this.#names.add(name);
        this.#filter[key(name.charCodeAt(0), name.length, name.charCodeAt(name.length - 1))] = 1;
      }
    }
  }

  /** The spelling if it is one of the names, else null. */
  spelling(tokens: Tokens, i: number): string | null {
    const start = tokens.start(i);
    const end = tokens.end(i);
    if (this.#filter[key(tokens.text.charCodeAt(start), end - start, tokens.text.charCodeAt(end - 1))] === 0) return null;
    const name = tokens.text.slice(start, end);
    return this.#names.has(name) ? name : null;
  }
}

function key(first: number, length: number, last: number): number {
  return ((first & 127) << 12) | ((length & 31) << 7) | (last & 127);
}
