/**
 * Functions to look at again in the next round: those that an edit changed, what they call and what calls them, and those that had to
 * wait. What is known of any other function rests on nothing that the edits changed. Functions are named by file, name and place among
 * those of their name, so that they are found again in the program of the next round.
 */
import type { FunctionDecl, Program } from '../syntax/tree.js';
import type { Change } from '../../transforms/lib/types.js';
import type { CallGraph } from './scope.js';

export class Pending {
  private readonly names = new Map<FunctionDecl, string>();

  constructor(private readonly program: Program, private readonly files: Set<string> = new Set(), private readonly functions: Set<string> = new Set()) {}

  /** The same functions in the program that the edits made. */
  in(program: Program): Pending {
    return new Pending(program, this.files, this.functions);
  }

  holds(fn: FunctionDecl): boolean {
    return this.files.has(fn.file) || (this.functions.size > 0 && this.functions.has(this.nameOf(fn)));
  }

  addFunction(fn: FunctionDecl): void {
    this.functions.add(this.nameOf(fn));
  }

  /** What a change made to `fn` may say anew: whole files, if it changes more than the body of the function. */
  addChange(fn: FunctionDecl, change: Change, graph: CallGraph): void {
    const { body, file } = fn;
    const inside = body !== null && change.launches === undefined && change.edits.every((edit) => edit.file === file && edit.span.start > body.span.start && edit.span.end < body.span.end);
    if (inside) for (const one of [fn, ...graph.relatives(fn)]) this.addFunction(one);
    else for (const name of this.relatedFiles(new Set(change.edits.map((edit) => edit.file)))) this.files.add(name);
  }

  private nameOf(fn: FunctionDecl): string {
    const known = this.names.get(fn);
    if (known !== undefined) return known;
    const counts = new Map<string, number>();
    for (const other of this.program.units.get(fn.file)?.functions ?? []) {
      const place = counts.get(other.name) ?? 0;
      counts.set(other.name, place + 1);
      this.names.set(other, `${other.file}\0${other.name}\0${place}`);
    }
    const name = this.names.get(fn) ?? `${fn.file}\0${fn.name}\0?`;
    this.names.set(fn, name);
    return name;
  }

  /** Files whose facts may change when these do: those that include them and those they include. */
  private relatedFiles(changed: ReadonlySet<string>): ReadonlySet<string> {
    const related = new Set(changed);
    for (let grown = true; grown; ) {
      grown = false;
      for (const unit of this.program.units.values()) {
        const file = unit.source.realPath;
        const linked = related.has(file) ? unit.includes : unit.includes.some((include) => related.has(include)) ? [file] : [];
        for (const name of linked) {
          if (!related.has(name)) {
            related.add(name);
            grown = true;
          }
        }
      }
    }
    return related;
  }
}
