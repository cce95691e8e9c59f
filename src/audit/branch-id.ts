/**
 * Ids of findings that survive edits elsewhere in the file: a hash of what names a branch (kernel, call path by names, function, kind, condition) and its
 * position among equals, never of lines.
 */

/** FNV-1a, 64 bits, in hexadecimal. */
export function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (let i = 0; i < text.length; i++) {
    value ^= BigInt(text.charCodeAt(i));
    value = BigInt.asUintN(64, value * 0x100000001b3n);
  }
  return value.toString(16).padStart(16, '0');
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
