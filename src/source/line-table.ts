/** Offsets to lines and back. Lines end at `\n`; the `\r` of a Windows newline is the last character of its line. */
import type { Position } from './types.js';

export class LineTable {
  readonly #starts: readonly number[];
  readonly #length: number;

  constructor(text: string) {
    const starts = [0];
    for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) starts.push(i + 1);
    this.#starts = starts;
    this.#length = text.length;
  }

  get lineCount(): number {
    return this.#starts.length;
  }

  /** One-based; offsets outside of the text count as its ends. */
  line(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  position(offset: number): Position {
    const inside = Math.max(0, Math.min(offset, this.#length));
    const line = this.line(inside);
    return { line, column: inside - this.lineStart(line) + 1 };
  }

  /** Offset of the first character of a one-based line; the length of the text for lines past the end. */
  lineStart(line: number): number {
    return line < 1 ? 0 : (this.#starts[line - 1] ?? this.#length);
  }
}
