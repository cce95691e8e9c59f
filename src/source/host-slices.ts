/**
 * What of a host function that launches kernels an audit need not read: statements on which no launch depends.
 *
 * Of host code only launches count, and the values of numbers in their configurations and arguments, which are found without regard to order
 * (analysis/host-constants.ts). So a statement stays if it launches, or may give another value to a variable on which a launch depends, or declares a name that something
 * that stays mentions; so do the heads around it. What a statement may write is told by its tokens (host-statements.ts), too much rather than too little. This is a
 * backward slice (Weiser, "Program Slicing", 1984) without control dependence, which values of all paths together do not need. Of a function that launches nothing but names a
 * kernel, whose address may go somewhere, statements count that do name one, and the declarations of what else they name. Transforms, which write
 * host code, read everything.
 */
import type { MacroDefinition, Span } from './types.js';
import { hostStatements, Use, type HostStatement, type Mentions } from './host-statements.js';
import type { Stream } from './stream.js';

export interface HostSlice {
  /** What can be left out, in order. */
  readonly holes: readonly Span[];
  /** Names in it, through macros. Where one of them is a kernel's, the slice is not to be used. */
  readonly names: ReadonlySet<string>;
  /** Functions that are taken for the library's. Where one of them is declared, the slice is not to be used. */
  readonly callees: ReadonlySet<string>;
}

/** The slice of the body whose brace stands at token `open`; null if nothing can be left out. `isFixed`: must what stands between these offsets stay, because it launches? */
export function hostSlice(stream: Stream, open: number, macros: ReadonlyMap<string, MacroDefinition>, isFixed: (start: number, end: number) => boolean): HostSlice | null {
  const statements = hostStatements(stream, open, macros);
  if (statements === null) return null;
  const slicer = new Slicer(true);
  slicer.solve(statements, (statement) => {
    const { first, last, parts, block } = statement;
    // A launch among the parts is theirs.
    return parts.length === 0 ? !block && isFixed(stream.tokens.start(first), stream.tokens.end(last)) : holdsInHead(stream, statement, isFixed);
  });
  const holes: Span[] = [];
  const names = new Set<string>();
  const callees = new Set<string>();
  slicer.leave(statements, (from, to, mentions) => {
    holes.push({ start: stream.tokens.start(from), end: stream.tokens.end(to) });
    for (const own of mentions) {
      for (const [name, use] of own.uses) {
        names.add(name);
        if ((use & Use.calls) !== 0) callees.add(name);
      }
    }
  });
  // A name of the library's that the body gives to something else is not the library's.
  if (holes.length === 0 || slicer.declaresAny(callees)) return null;
  return { holes, names, callees };
}

/** What can be left out of a body, whose brace stands at token `open`, if of it only statements count that name one of these; null if it has to be read whole. */
export function namingSlice(stream: Stream, open: number, macros: ReadonlyMap<string, MacroDefinition>, names: ReadonlySet<string>): readonly Span[] | null {
  const statements = hostStatements(stream, open, macros);
  if (statements === null) return null;
  const slicer = new Slicer(false);
  slicer.solve(statements, ({ own }) => mentions(own, names));
  const holes: Span[] = [];
  slicer.leave(statements, (from, to) => { holes.push({ start: stream.tokens.start(from), end: stream.tokens.end(to) }); });
  return holes;
}

/** Is there a launch in the head, that is in none of the parts? */
function holdsInHead({ tokens }: Stream, { first, last, parts }: HostStatement, isFixed: (start: number, end: number) => boolean): boolean {
  let from = tokens.start(first);
  for (const part of parts) {
    if (isFixed(from, tokens.start(part.first))) return true;
    from = tokens.end(part.last);
  }
  return isFixed(from, tokens.end(last));
}

class Slicer {
  readonly #kept = new Set<HostStatement>();
  /** Variables whose values launches depend on. */
  readonly #asked = new Set<string>();
  /** Names that what stays mentions. */
  readonly #named = new Set<string>();
  /** Declared in the body as pointers or floating-point numbers and as nothing else: no integer is read off them. */
  readonly #noIntegers = new Set<string>();
  readonly #declared = new Set<string>();

  /** `values`: is anything asked about the values of what the statements name? */
  constructor(private readonly values: boolean) {}

  /** Keeps what `counts`, and what that needs. */
  solve(statements: readonly HostStatement[], counts: (statement: HostStatement) => boolean): void {
    const all: HostStatement[] = [];
    const collect = (list: readonly HostStatement[]): void => {
      for (const statement of list) {
        all.push(statement);
        collect(statement.parts);
      }
    };
    collect(statements);
    for (const { own } of all) {
      for (const [name, use] of own.uses) {
        if ((use & Use.noInteger) !== 0) this.#noIntegers.add(name);
        if ((use & Use.declares) !== 0) this.#declared.add(name);
      }
    }
    for (const { own } of all) for (const [name, use] of own.uses) if ((use & Use.integer) !== 0) this.#noIntegers.delete(name);
    for (const statement of all) if (statement.own.fixed || counts(statement)) this.#keep(statement, true);
    for (let size = -1; size !== this.#kept.size + this.#asked.size + this.#named.size;) {
      size = this.#kept.size + this.#asked.size + this.#named.size;
      // Backwards: most of what a statement needs stands in front of it.
      for (let i = all.length - 1; i >= 0; i--) {
        const statement = all[i];
        if (statement !== undefined) this.#consider(statement);
      }
    }
  }

  declaresAny(names: ReadonlySet<string>): boolean {
    for (const name of names) if (this.#declared.has(name)) return true;
    return false;
  }

  #consider(statement: HostStatement): void {
    const { own: { uses }, parts } = statement;
    const isHead = parts.length > 0;
    let needed = isHead && !this.#kept.has(statement) && parts.some((part) => this.#kept.has(part));
    for (const [name, use] of uses) {
      // What a head declares is its own: it counts where something behind it stays, which may be what asks.
      if ((use & Use.writes) !== 0 && this.#asked.has(name) && (!isHead || (use & Use.scopes) === 0 || needed || this.#kept.has(statement))) {
        if ((use & Use.assigns) !== 0) {
          this.#keep(statement, true);
          return;
        }
        needed = true;
      }
      needed ||= !isHead && (use & Use.declares) !== 0 && this.#named.has(name);
    }
    if (needed) this.#keep(statement, false);
  }

  #handsOut(uses: ReadonlyMap<string, number>): boolean {
    for (const [name, use] of uses) if ((use & Use.writes) !== 0 && this.#asked.has(name)) return true;
    return false;
  }

  #keep(statement: HostStatement, decides: boolean): void {
    this.#kept.add(statement);
    const { uses } = statement.own;
    // What is declared with something asked may be another name for it.
    if (this.#handsOut(uses)) for (const [name, use] of uses) if ((use & Use.declares) !== 0) this.#asked.add(name);
    // A head that stays for what stands behind it is not evaluated.
    if (decides || statement.parts.length === 0) {
      for (const [name, use] of uses) {
        if ((use & Use.names) === 0) continue;
        this.#named.add(name);
        if (decides && this.values && !this.#noIntegers.has(name)) this.#asked.add(name);
      }
    }
    // The only statement of a head cannot be left out from behind it.
    if (!statement.block) for (const part of statement.parts) if (!part.block && !this.#kept.has(part)) this.#keep(part, false);
  }

  /** Calls `hole` with the first and last token of each run of statements of a block that nothing keeps. */
  leave(block: readonly HostStatement[], hole: (from: number, to: number, mentions: readonly Mentions[]) => void): void {
    let run: HostStatement[] = [];
    const end = (): void => {
      const [first] = run;
      const last = run.at(-1);
      if (first !== undefined && last !== undefined) hole(first.first, last.last, run.flatMap(mentionsOf));
      run = [];
    };
    for (const statement of block) {
      // What holds something that stays stays itself.
      if (!this.#kept.has(statement)) {
        run.push(statement);
        continue;
      }
      end();
      if (statement.block) this.leave(statement.parts, hole);
      else for (const part of statement.parts) if (part.block) this.leave(part.parts, hole);
        else this.leave([part], hole);
    }
    end();
  }
}

function mentionsOf({ own, parts }: HostStatement): Mentions[] {
  return [own, ...parts.flatMap(mentionsOf)];
}

function mentions({ uses }: Mentions, names: ReadonlySet<string>): boolean {
  for (const name of names) if (uses.has(name)) return true;
  return false;
}
