/**
 * The node of a function. Its body may be lowered when it is first asked for: of the headers that a program includes, most functions
 * are never looked at.
 *
 * Whatever comes out of the body (`body`, `understood`, `problems`, `initialisers`) is an accessor that reads it first. Every function is of this
 * one class, read at once or late, so that the engine sees one shape of object.
 */
import type { Directive, Problem, Span } from '../source/types.js';
import type { Names, Scope } from './scope.js';
import type { CompoundStmt, FunctionDecl, MemberInitialiser, ParameterDecl, RecordDecl, TemplateArgument, TemplateParameterDecl, Type } from './tree.js';

/** What is known of a function before its body is read. */
export type FunctionHead = Omit<FunctionDecl, 'kind' | 'body' | 'understood' | 'problems' | 'initialisers' | 'defaulted'>;

export interface BodyLookup { readonly names: Names; readonly scope: Scope }

export class FunctionNode implements FunctionDecl {
  readonly kind = 'function' as const;
  readonly name: string;
  readonly span: Span;
  readonly nameSpan: Span;
  readonly file: string;
  readonly qualifiers: FunctionDecl['qualifiers'];
  readonly parameters: readonly ParameterDecl[];
  readonly returns: Type;
  readonly template: readonly TemplateParameterDecl[] | null;
  readonly specialises: readonly TemplateArgument[] | null;
  readonly owner: RecordDecl | null;
  readonly bounds: FunctionDecl['bounds'];
  readonly headSpan: Span;
  readonly directives: readonly Directive[];
  readonly inactive: FunctionDecl['inactive'];
  defaulted?: true;
  virtual?: true;
  constant?: true;
  #bodyLookup: BodyLookup | null = null;
  private pending: (() => void) | null = null;
  private ownBody: CompoundStmt | null = null;
  private ownInitialisers: readonly MemberInitialiser[] | undefined = undefined;
  private isUnderstood = true;
  private readonly ownProblems: Problem[] = [];

  constructor(head: FunctionHead) {
    this.name = head.name;
    this.span = head.span;
    this.nameSpan = head.nameSpan;
    this.file = head.file;
    this.qualifiers = head.qualifiers;
    this.parameters = head.parameters;
    this.returns = head.returns;
    this.template = head.template;
    this.specialises = head.specialises;
    this.owner = head.owner;
    this.bounds = head.bounds;
    this.headSpan = head.headSpan;
    this.directives = head.directives;
    this.inactive = head.inactive;
  }

  /** Tells that it has a body in the text, whether or not that is ever lowered, and where the names in it are looked up. */
  define(lookup: BodyLookup): void {
    this.#bodyLookup = lookup;
  }

  /** Null for a declaration. */
  bodyLookup(): BodyLookup | null {
    return this.#bodyLookup;
  }

  /** Puts off what fills in this node until something of it is asked for. */
  readLater(read: () => void): void {
    this.pending = read;
  }

  private read(): void {
    const { pending } = this;
    if (pending === null) return;
    this.pending = null;
    pending();
  }

  get body(): CompoundStmt | null {
    if (this.pending !== null) this.read();
    return this.ownBody;
  }

  set body(body: CompoundStmt | null) {
    this.ownBody = body;
  }

  get initialisers(): readonly MemberInitialiser[] | undefined {
    if (this.pending !== null) this.read();
    return this.ownInitialisers;
  }

  set initialisers(list: readonly MemberInitialiser[] | undefined) {
    this.ownInitialisers = list;
  }

  get understood(): boolean {
    if (this.pending !== null) this.read();
    return this.isUnderstood;
  }

  set understood(is: boolean) {
    this.isUnderstood = is;
  }

  get problems(): Problem[] {
    if (this.pending !== null) this.read();
    return this.ownProblems;
  }
}
