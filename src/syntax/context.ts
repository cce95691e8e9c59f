/**
 * What lowering carries along: the state of the file being lowered, and the place in it (scope, function, macro expansion).
 */
import type { MacroDefinition, Overlay, OverlayNote, Problem, SourceFile, Span } from '../source/types.js';
import type { Cst } from './cst.js';
import type { UnitDoubts } from './doubts.js';
import type { FunctionNode } from './function-node.js';
import type { MacroUses } from './macro-uses.js';
import { Scope, type FileNames, type Names } from './scope.js';
import { namesIn } from './text-names.js';
import type { Decl, Expr, FunctionDecl, HiddenKernel, Launch, OpaqueExpr, OpaqueStmt, TextNames, Type, VariableDecl } from './tree.js';
import { UNKNOWN } from './types.js';

/** For building nodes that are immutable once lowering is done. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A call whose candidates are declarations only: the definition may come with a file that is loaded later. */
export interface OpenCall { readonly candidates: FunctionDecl[] }

/** A body that waits until the names of its file are known. */
export interface QueuedBody { readonly decl: FunctionNode; readonly body: Cst; lower(): void }

/** One file while it is lowered. */
export interface UnitState {
  readonly file: string;
  readonly source: SourceFile;
  readonly overlay: Overlay;
  readonly macros: ReadonlyMap<string, MacroDefinition>;
  readonly macroUses: MacroUses;
  readonly names: FileNames;
  /** What differs between the units that include the file; null if nothing does. */
  readonly doubts: UnitDoubts | null;
  readonly lookup: Names;
  readonly functions: FunctionDecl[];
  readonly kernels: FunctionDecl[];
  readonly variables: VariableDecl[];
  readonly launches: Launch[];
  readonly hiddenKernels: HiddenKernel[];
  readonly problems: Problem[];
  /** Bodies to lower once everything at namespace scope is declared. */
  readonly bodies: QueuedBody[];
  readonly openCalls: OpenCall[];
  /** Kernels whose address is used for something other than a launch that was understood. */
  readonly escapes: FunctionDecl[];
  /** Files named by quoted includes, by the offset of the directive. */
  readonly includeAt: ReadonlyMap<number, () => void>;
  /** Index of expanded texts that were parsed before. */
  readonly snippets: SnippetStore;
  /** Replaces declarations of a call by definitions of other files; null until all files are loaded. */
  link: ((call: OpenCall) => void) | null;
}

/** A parsed text that is no file. `text` is what the tree was made from, `original` the same before the overlay. */
export interface Snippet { readonly root: Cst; readonly notes: readonly OverlayNote[]; readonly text: string; readonly original: string }

/** Parsed snippets by their text; shared by all files of a program. */
export interface SnippetStore {
  expression(text: string): Snippet | null;
  statements(text: string): Snippet | null;
  type(text: string): Snippet | null;
  /** A slice of a file as an expression, offsets kept. Null if it does not parse. */
  slice(text: string, start: number, prefix: string, suffix: string): Cst | null;
  /** A slice of a file as the declaration in a block that it must be, though it reads as an expression too; offsets kept. Null if it is none. */
  declaration(text: string, start: number): Cst | null;
}

/** The function whose body is being lowered. */
export interface FunctionState {
  readonly decl: FunctionDecl;
  readonly problems: Problem[];
  loops: number;
  conditions: number;
  /** Set where the tree gave a reading that C++ rules out: the text says something else, so nothing may rest on it. */
  misread?: true;
}

/** Meanings given to places that tree-sitter read as something else, by the offset of the operator. */
export interface Patch {
  readonly at: number;
  readonly length: number;
  readonly replacement: string;
  readonly meaning: { readonly kind: 'cast'; readonly type: Type } | { readonly kind: 'operator'; readonly op: '<' }
    /** What stood there is this expression. */
    | { readonly kind: 'value'; readonly value: Expr };
}

/** Thrown to the root of the expression: the text must be parsed again with a patch. */
export class NeedsPatch extends Error {
  constructor(readonly patch: Patch) {
    super('needs another reading');
  }
}

/** Statements and expressions nested deeper than this become opaque: neither lowering nor what follows may overflow the stack. */
export const MAX_DEPTH = 300;
/** Longest chain of binary operators of one level; longer ones become opaque. */
export const MAX_CHAIN = 1500;

export class Lowering {
  depth = 0;
  fn: FunctionState | null = null;
  /** All nodes get this span while a macro's expansion is lowered. */
  override: Span | null = null;
  readonly expanding: string[] = [];
  patches: readonly Patch[] = [];
  /** Set by a case label that does not stand at the top level of its switch. */
  irregularSwitch = false;

  constructor(
    readonly unit: UnitState,
    public scope: Scope,
    /** What the offsets of the concrete tree point into. */
    public text: string,
    /** The same with what the overlay took out; macro arguments are read from it. */
    public original: string,
    public notes: readonly OverlayNote[],
  ) {}

  span(node: Cst): Span {
    return this.override ?? { start: node.start, end: node.end };
  }

  spanBetween(start: number, end: number): Span {
    return this.override ?? { start, end };
  }

  slice(node: Cst): string {
    return this.text.slice(node.start, node.end);
  }

  /** Runs `action` in a scope of its own. */
  inScope<T>(scope: Scope, action: () => T): T {
    const outer = this.scope;
    this.scope = scope;
    try {
      return action();
    } finally {
      this.scope = outer;
    }
  }

  inBlock<T>(action: () => T): T {
    return this.inScope(new Scope('block', this.scope, '', null), action);
  }

  declare(decl: Decl): void {
    this.scope.declare(decl);
  }

  problem(node: Cst, message: string): void {
    const at = this.override?.start ?? node.start;
    const problem = { line: this.unit.source.line(Math.min(at, this.unit.source.text.length)), message };
    (this.fn?.problems ?? this.unit.problems).push(problem);
  }

  /** Says, once per line, that text beyond a limit was left out; gives the reason back. */
  leftOut(node: Cst, reason: string): string {
    const problems = this.fn?.problems ?? this.unit.problems;
    const line = this.unit.source.line(Math.min(this.override?.start ?? node.start, this.unit.source.text.length));
    const message = `left out: ${reason}`;
    if (!problems.some((problem) => problem.line === line && problem.message === message)) problems.push({ line, message });
    return reason;
  }

  opaque(node: Cst, reason: string, type: Type = UNKNOWN, known: Pick<OpaqueExpr, 'parts' | 'packed' | 'life'> = {}): OpaqueExpr {
    return { kind: 'opaque', span: this.span(node), type, reason, ...this.#named(node), ...known };
  }

  /** A statement that the grammar read as something it cannot be: the function is not understood, and `message` tells why. */
  misread(node: Cst, reason: string, message: string): OpaqueStmt {
    this.problem(node, message);
    if (this.fn !== null) this.fn.misread = true;
    return this.opaqueStmt(node, reason);
  }

  opaqueStmt(node: Cst, reason: string): OpaqueStmt {
    return { kind: 'opaque', span: this.span(node), reason, ...this.#named(node) };
  }

  /** What a text names that is not understood: it may take the address of it. */
  #named(node: Cst): { readonly names?: TextNames } {
    const names = this.fn === null ? null : namesIn(this.text.slice(node.start, node.end), this.unit.macros);
    return names === null ? {} : { names };
  }

  /** A copy of this place for work that is done later. */
  later(): Lowering {
    const copy = new Lowering(this.unit, this.scope, this.text, this.original, this.notes);
    copy.override = this.override;
    copy.expanding.push(...this.expanding);
    return copy;
  }

  /** The first overlay note that starts at or after an offset. */
  noteIndex(offset: number): number {
    let low = 0;
    let high = this.notes.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((this.notes[mid]?.span.start ?? Infinity) < offset) low = mid + 1;
      else high = mid;
    }
    return low;
  }

  notesBetween(start: number, end: number): readonly OverlayNote[] {
    if (this.notes.length === 0) return this.notes;
    const found: OverlayNote[] = [];
    for (let i = this.noteIndex(start); i < this.notes.length; i++) {
      const note = this.notes[i];
      if (note === undefined || note.span.start >= end) break;
      found.push(note);
    }
    return found;
  }

  openCall(call: { readonly candidates: FunctionDecl[] }): void {
    this.unit.openCalls.push(call);
  }
}

/** The state that must be undone when an expression is read a second time. */
export function checkpoint(unit: UnitState): () => void {
  const launches = unit.launches.length;
  const calls = unit.openCalls.length;
  const escapes = unit.escapes.length;
  return () => {
    unit.launches.length = launches;
    unit.openCalls.length = calls;
    if (unit.escapes.length > escapes) unit.escapes.length = escapes;
  };
}
