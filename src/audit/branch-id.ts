/**
 * Ids of findings that survive edits elsewhere in the file: a hash of what names a branch (kernel, call path by names, function, kind, condition) and its
 * position among equals, never of lines.
 */

/** A state of two FNV-1a hashes of 32 bits with different starts, behind `length` characters: ids are made for every branch, and big integers are slow. */
interface State { readonly high: number; readonly low: number; readonly length: number }

const START: State = { high: 0x811c9dc5, low: 0x2c9277b5, length: 0 };

/** The state behind more text. */
function hashed(text: string, { high, low, length }: State): State {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ (code + length + i), 0x01000193);
  }
  return { high, low, length: length + text.length };
}

/** 12 hexadecimal digits. */
function digits({ high, low }: State): string {
  return (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0').slice(0, 4);
}

/** Ids of the branches of one function as one call path of names leads to it: what they have in common is hashed once. */
class IdsBelow {
  private readonly counts = new Map<string, number>();

  constructor(private readonly prefix: string, private readonly state: State) {}

  next(kind: string, condition: string): string {
    const name = `\u0000${kind}\u0000${condition}`;
    const count = this.counts.get(name) ?? 0;
    this.counts.set(name, count + 1);
    return `${this.prefix}-${digits(hashed(`${name}\u0000${count}`, this.state))}`;
  }
}

/** Hands out ids; equal names get numbers in the order of the text. */
export class Ids {
  private readonly below = new Map<string, IdsBelow>();

  /** `names` are those of the kernel, of the callers and of the function. */
  of(prefix: string, names: readonly string[]): IdsBelow {
    const name = names.join('\u0000');
    const known = this.below.get(name);
    if (known !== undefined) return known;
    const made = new IdsBelow(prefix, hashed(name, START));
    this.below.set(name, made);
    return made;
  }
}

export type { IdsBelow };

const SPREAD = /\s\s|[^\S ]/;

/** A condition without the spaces and comments that formatters move. */
export function normalised(text: string): string {
  // Most stand on one line.
  return (SPREAD.test(text) ? text.split(/\s+/).join(' ') : text).trim();
}
