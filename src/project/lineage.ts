/**
 * Functions that edits made, and what they were made from. A transform that takes up its own output would go on for ever: its edits in functions that
 * stem from one function of the original are counted. And what is refused in them is no news, unless the branch stands in the original too.
 */
import type { FunctionDecl, Program } from '../syntax/tree.js';

/** Edits of edits of edits: no text needs so many. */
const MOST_GENERATIONS = 8;
/** Edits in all functions that stem from one: a kernel with six flags becomes 64. */
const MOST_EDITS = 64;

interface Origin { readonly root: string; readonly name: string; readonly generation: number }

export class Lineage {
  private readonly origins = new Map<string, Origin>();
  private readonly edits = new Map<string, number>();
  private readonly reported = new Set<string>();
  private readonly originalTexts = new Map<string, string>();
  private known: ReadonlySet<string> | null = null;

  /** Takes note of the functions of a program; those that are new stem from the functions that were treated since the last one. */
  enter(program: Program, treated: readonly FunctionDecl[]): void {
    const present = new Set<string>();
    for (const unit of program.units.values()) {
      for (const fn of unit.functions) {
        const key = keyOf(fn);
        present.add(key);
        if (this.known === null || this.known.has(key) || this.origins.has(key)) continue;
        const parent = [...treated].filter((one) => fn.name.startsWith(`${one.name}_`)).sort((a, b) => b.name.length - a.name.length)[0] ?? treated.find((one) => one.file === fn.file);
        if (parent === undefined) continue;
        const older = this.origins.get(keyOf(parent));
        this.origins.set(key, { root: older?.root ?? keyOf(parent), name: older?.name ?? parent.name, generation: (older?.generation ?? 0) + 1 });
      }
    }
    this.known = present;
  }

  /** Why no further edit of this sort is made in the function; null if it may be. */
  exhausted(fn: FunctionDecl, transform: string): string | null {
    const origin = this.origins.get(keyOf(fn));
    if (origin === undefined) return null;
    const count = this.edits.get(`${transform}\0${origin.root}`) ?? 0;
    return origin.generation < MOST_GENERATIONS && count < MOST_EDITS ? null : `${transform} was applied ${count} times to what it made of ${origin.name}, and comes up again`;
  }

  /** Counts an edit. */
  applied(fn: FunctionDecl, transform: string): void {
    const origin = this.origins.get(keyOf(fn));
    if (origin === undefined) return;
    const key = `${transform}\0${origin.root}`;
    this.edits.set(key, (this.edits.get(key) ?? 0) + 1);
  }

  /** The branch was spoken of, whatever became of it. */
  spoken(fn: FunctionDecl, transform: string, branch: string): void {
    this.reported.add([fn.file, transform, branch].join('\0'));
  }

  /**
   * True for a branch that only edits brought, or one of a function that edits made which stands in the original and was spoken of there. `inPlace`: its
   * line is one of the original, whatever became of the text behind it.
   */
  isOwnOutput(fn: FunctionDecl, transform: string, branch: string, inPlace: boolean, original: () => string): boolean {
    const made = this.origins.has(keyOf(fn));
    if (!made && inPlace) return false;
    if (made && this.reported.has([fn.file, transform, branch].join('\0'))) return true;
    let text = this.originalTexts.get(fn.file);
    if (text === undefined) this.originalTexts.set(fn.file, text = original().replace(/\s+/g, ' '));
    return !text.includes(branch);
  }
}

function keyOf(fn: FunctionDecl): string {
  return `${fn.file}\0${fn.name}`;
}
