/**
 * Which cells each step of a problem read when it was last evaluated (read-sets.ts): a sweep passes over the steps of which none has changed since.
 *
 * Not handled: steps that read what no cell stands for; they are evaluated each time.
 */
import type { ReadSets } from './read-sets.js';

/** For each step: where its cells begin and end in the list, the revision before which they were read (0: never), and whether one of them was still to come. */
const FROM = 0, TO = 1, BEFORE = 2, AHEAD = 3, WIDTH = 4;

export class StepReads {
  private readonly read: number[] = [];
  private readonly table: Int32Array;

  constructor(private readonly cells: ReadSets, steps: number) {
    this.table = new Int32Array(WIDTH * steps);
  }

  /** Would the step give something else than it did? */
  mayChange(step: number): boolean {
    const before = this.at(step, BEFORE);
    return before === 0 || this.cells.changedSince(before - 1, this.read, this.at(step, FROM), this.at(step, TO));
  }

  /** Has it ever read what a later step of its loop gives? */
  readsAhead(step: number): boolean {
    return this.at(step, AHEAD) !== 0;
  }

  begin(step: number): void {
    this.table[WIDTH * step + FROM] = this.read.length;
    this.table[WIDTH * step + BEFORE] = this.cells.last + 1;
    this.cells.note(this.read);
  }

  end(step: number, ahead: boolean): void {
    this.cells.note(null);
    this.table[WIDTH * step + TO] = this.read.length;
    if (ahead) this.table[WIDTH * step + AHEAD] = 1;
  }

  private at(step: number, field: number): number {
    return this.table[WIDTH * step + field] ?? 0;
  }
}
