/**
 * What an answer rests on, so that it is found anew only when that has changed.
 *
 * A cell is a number whose content may change while a problem is being solved. While an answer is found, the cells that are read for it are noted; it holds
 * until one of them changes, or something that every answer may rest on. An answer that reads another one rests on the cells of that one too. Source: the
 * dependency tracking of self-adjusting computation (Acar, Blelloch & Harper, "Adaptive Functional Programming", POPL 2002), without the reordering of what
 * is evaluated. Not handled: what changes without being told here.
 */

/** An answer, when it was found and from which cells. */
export interface Rested<T> {
  readonly answer: T;
  readonly cells: readonly number[];
  /** The last revision at which it was known to hold. */
  revision: number;
}

const NO_CELLS: readonly number[] = [];

export class ReadSets {
  /** Counts the changes. */
  private revision = 0;
  /** The revision that each cell's last change began. */
  private readonly changes: Int32Array;
  /** The same for what has no cell. */
  private elsewhere = 0;
  /** Cells that were read for the answer that is being found; null where none is. */
  private noted: number[] | null = null;

  constructor(cells: number) {
    this.changes = new Int32Array(cells);
  }

  read(cell: number): void {
    this.noted?.push(cell);
  }

  changed(cell: number): void {
    this.changes[cell] = ++this.revision;
  }

  /** Something has changed that every answer may rest on. */
  changedForAll(): void {
    this.elsewhere = ++this.revision;
  }

  /** Finds an answer. What changes meanwhile may have come too late for it. */
  find<T>(answer: () => T): Rested<T> {
    const outer = this.noted;
    const { revision } = this;
    this.noted = [];
    try {
      const found = answer();
      const cells = this.noted.length === 0 ? NO_CELLS : [...new Set(this.noted)];
      return { answer: found, cells, revision };
    } finally {
      const inner = this.noted;
      this.noted = outer;
      if (outer !== null) for (const cell of inner) outer.push(cell);
    }
  }

  /** The change that was last. */
  get last(): number {
    return this.revision;
  }

  /** Notes what is read from now on; null for nothing. Where answers are found meanwhile, it gets what they rest on as well. */
  note(into: number[] | null): void {
    this.noted = into;
  }

  /** Has any of the cells that were noted in a part of a list changed since a revision, or what every answer may rest on? */
  changedSince(revision: number, cells: readonly number[], from: number, to: number): boolean {
    if (this.elsewhere > revision) return true;
    for (let i = from; i < to; i++) if ((this.changes[cells[i] ?? 0] ?? 0) > revision) return true;
    return false;
  }

  /** Does an answer still hold? If so, it counts as read. */
  holds(rested: Rested<unknown>): boolean {
    const { cells, revision } = rested;
    if (revision !== this.revision) {
      if (this.elsewhere > revision) return false;
      for (const cell of cells) if ((this.changes[cell] ?? 0) > revision) return false;
      rested.revision = this.revision;
    }
    if (this.noted !== null) for (const cell of cells) this.noted.push(cell);
    return true;
  }
}
