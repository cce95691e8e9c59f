/**
 * Texts for the parser without long runs of spaces. Two thirds of what is parsed of real sources are spaces that the source room put in place of
 * comments and bodies, and the parser reads each of them: about a quarter of its time.
 *
 * Between tokens C++ does not count spaces, and a token that holds a run (a string) keeps where it begins and ends. The recovery from errors weighs what it
 * skips, by characters too: without the runs it weighs what the file says, not how long the comments and bodies in it were.
 */

/** Beyond all offsets; a small integer, so that tables of offsets stay tables of such. */
const END = 0x3fffffff;

/** Where offsets of a shrunk text lie in the original. Questions come in nearly ascending order: the answer is looked for near the one before. */
export class Places {
  #at = 0;

  /** From the offset `from[i]` of the shrunk text on, `shifts[i]` are to be added. The first is 0, the last beyond all offsets. */
  private constructor(private readonly from: readonly number[], private readonly shifts: readonly number[]) {}

  /** The same number is added to all offsets. */
  static shifted(delta: number): Places {
    return new Places([0, END], [delta, delta]);
  }

  static of(from: readonly number[], shifts: readonly number[]): Places {
    return new Places([0, ...from, END], [0, ...shifts, 0]);
  }

  original(offset: number): number {
    const { from } = this;
    let at = this.#at;
    while (offset >= (from[at + 1] ?? END)) at++;
    while (offset < (from[at] ?? 0)) at--;
    this.#at = at;
    return offset + (this.shifts[at] ?? 0);
  }
}

export interface Shrunk {
  readonly text: string;
  readonly places: Places;
}

/** Shorter runs are cheaper to parse than to keep account of. */
const RUN = ' '.repeat(24);

/** What stays of a run: where a token ends in front of it, or behind its first space, is told from where the next begins. */
const KEPT = 2;

/** Null if there is little to leave out. */
export function shrink(text: string): Shrunk | null {
  const from: number[] = [];
  const shifts: number[] = [];
  let shrunk = '';
  let done = 0;
  let gone = 0;
  for (let run = text.indexOf(RUN); run >= 0; run = text.indexOf(RUN, done)) {
    shrunk += text.slice(done, run + KEPT);
    done = run + RUN.length;
    // Bodies leave runs of thousands: they are passed in strides.
    while (text.startsWith(RUN, done)) done += RUN.length;
    while (text.charCodeAt(done) === SPACE) done++;
    gone += done - run - KEPT;
    from.push(shrunk.length);
    shifts.push(gone);
  }
  return gone < LEAST || gone * 8 < text.length ? null : { text: shrunk + text.slice(done), places: Places.of(from, shifts) };
}

const SPACE = 32;

/** So many characters must go, and an eighth of all. */
const LEAST = 200;
