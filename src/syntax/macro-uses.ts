/**
 * Where a file names macros that the overlay left in the text, and which of these invocations the tree has looked through. What it has not, it has
 * read by its spelling: with `#define INC ++`, `INC f;` reads as the declaration of an f.
 */
import type { Overlay, Span } from '../source/types.js';

const NONE: readonly number[] = [];

export class MacroUses {
  readonly #at: readonly number[];
  /** Ends of the invocations that were looked through, by where they start: their arguments are part of what they stand for. */
  readonly #taken = new Map<number, number>();

  constructor(overlay: Overlay) {
    this.#at = overlay.macroUses ?? NONE;
  }

  /** The invocation (or the name of one) is read as what it stands for. */
  take({ start, end }: Span): void {
    this.#taken.set(start, end);
  }

  /** All invocations in this part of the text are spoken for. */
  settle({ start, end }: Span): void {
    for (let i = this.#index(start); i < this.#at.length; i++) {
      const at = this.#at[i] ?? end;
      if (at >= end) break;
      if (!this.#taken.has(at)) this.#taken.set(at, at + 1);
    }
  }

  /** What was taken for looked through is not. */
  lose(start: number): void {
    this.#taken.delete(start);
  }

  /** Does any invocation start there? */
  within({ start, end }: Span): boolean {
    const first = this.#at[this.#index(start)];
    return first !== undefined && first < end;
  }

  /** The first invocation in this part of the text that was not looked through: its offset; -1 if there is none. */
  lost({ start, end }: Span): number {
    for (let i = this.#index(start), from = start; i < this.#at.length; i++) {
      const at = this.#at[i] ?? end;
      if (at >= end) break;
      if (at < from) continue;
      const until = this.#taken.get(at);
      if (until === undefined) return at;
      from = until;
    }
    return -1;
  }

  #index(offset: number): number {
    let low = 0;
    let high = this.#at.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((this.#at[mid] ?? Infinity) < offset) low = mid + 1;
      else high = mid;
    }
    return low;
  }
}
