/** Replacements of the same length, collected in any order and applied once. */
import type { OverlayNote, Span } from './types.js';

interface Patch extends Span {
  readonly text: string | null;
}

export class Patches {
  readonly #patches: Patch[] = [];
  readonly #notes: OverlayNote[] = [];

  /** `original` is the text that notes quote, if `text` is an overlay already. */
  constructor(private readonly text: string, private readonly original: string = text) {}

  /** Everything but newlines becomes spaces, so that lines keep their numbers. */
  blank(start: number, end: number): void {
    if (end > start) this.#patches.push({ start, end, text: null });
  }

  /** `replacement` is padded with spaces; it must fit. */
  replace(start: number, end: number, replacement: string): void {
    if (replacement.length > end - start) throw new Error(`internal: ${JSON.stringify(replacement)} does not fit at ${start}`);
    this.#patches.push({ start, end, text: replacement });
  }

  note(note: OverlayNote): void {
    this.#notes.push(note);
  }

  /** Blanks with a note of kind `other`. */
  drop(start: number, end: number): void {
    this.blank(start, end);
    this.note({ kind: 'other', span: { start, end }, text: this.original.slice(start, end) });
  }

  /** Text and sorted notes. A patch that overlaps an earlier or enclosing one is left out: what encloses wins. */
  apply(): { text: string; notes: OverlayNote[] } {
    const sorted = this.#patches.sort((a, b) => a.start - b.start || b.end - a.end);
    let text = '';
    let at = 0;
    for (const patch of sorted) {
      if (patch.start < at) continue;
      const old = this.text.slice(patch.start, patch.end);
      text += this.text.slice(at, patch.start);
      text += patch.text === null ? blanked(old) : patch.text + blanked(old.slice(patch.text.length));
      at = patch.end;
    }
    const notes = this.#notes.sort((a, b) => a.span.start - b.span.start || b.span.end - a.span.end);
    return { text: text + this.text.slice(at), notes };
  }
}

function blanked(text: string): string {
  let blank = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c !== 10 && c !== 13) continue;
    blank += ' '.repeat(i - from) + text.charAt(i);
    from = i + 1;
  }
  return blank + ' '.repeat(text.length - from);
}
