/**
 * Ids of findings that survive edits elsewhere in the file: a hash of what names a branch (kernel, call path by names, function, kind, condition) and its
 * position among equals, never of lines.
 */

/** Two FNV-1a hashes of 32 bits with different starts, in hexadecimal: ids are made for every branch, and big integers are slow. */
export function hash(text: string): string {
  let high = 0x811c9dc5;
  let low = 0x2c9277b5;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ (code + i), 0x01000193);
  }
  return (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0');
}

/** Hands out ids; equal names get numbers in the order of the text. */
export class Ids {
  private readonly counts = new Map<string, number>();

  next(prefix: string, parts: readonly string[]): string {
    const name = parts.join('\u0000');
    const count = this.counts.get(name) ?? 0;
    this.counts.set(name, count + 1);
    return `${prefix}-${hash(`${name}\u0000${count}`).slice(0, 12)}`;
  }
}

/** A condition without the spaces and comments that formatters move. */
export function normalised(text: string): string {
  return text.split(/\s+/).join(' ').trim();
}
