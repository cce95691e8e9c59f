/**
 * What a reading of guards knows and remembers while it goes from expression to expression: the loop, names and symbols, what was followed, and
 * why the last reading failed.
 */
import { isStmt, walk } from '../../../src/analysis/children.js';
import { type FunctionFacts, type Loop, type Scope, type Variable, type Verdict } from '../../../src/analysis/facts.js';
import type { IntegerType } from '../../../src/cuda/integers.js';
import type { Decl, Expr } from '../../../src/syntax/tree.js';
import { describeLoop } from '../loops.js';
import { isInText } from '../references.js';
import { scopeAt } from '../scopes.js';
import { codeOnly } from '../text.js';
import { ConstantSymbols } from './constant-symbols.js';
import { symbol, type Poly, type Sym } from './polynomial.js';
import { exactly, isCoordinate, isSumOfCoordinates, type Reading } from './values.js';

export interface Unreadable {
  readonly node: Expr;
  readonly reason: string;
  /** The obligation that stands unproved because of it. */
  readonly id: 'guard-exact' | 'bound-exact' | 'types-known' | 'operands-invariant';
}

export abstract class ReadingState {
  /** Why the last reading failed. */
  failure: Unreadable | null = null;
  /** Assumptions under which the values that were written down are one in the block. */
  readonly under = new Set<string>();
  /** True once a range was taken for granted that sums of block and thread numbers have only if they do not wrap around (grant `index-range`). */
  leansOnIndexRange = false;
  /** Keys of names that hold such sums. */
  readonly indices = new Set<string>();
  readonly visible: ReadonlySet<Decl>;
  /** Not null while an initialiser from in front of the loop is read: what it names must not have changed since. */
  since: Variable | null = null;
  /** Variables whose initialisers are being followed. */
  readonly following = new Set<Variable>();
  readonly symbols = new Map<string, Sym>();
  readonly constants: ConstantSymbols;
  /** For a reader of one lane's values: the scope of each symbol, by key. */
  readonly scopes = new Map<string, Scope>();
  private readonly freeOfLaunch = new Map<Expr, boolean>();

  constructor(readonly facts: FunctionFacts, readonly loop: Loop, readonly counter: Variable | null, readonly lane: boolean) {
    const there = new Map(scopeAt(facts, loop));
    this.visible = new Set(there.values());
    // Text stands in the head of the loop, too.
    if (loop.kind === 'for' && loop.init.kind === 'declare') for (const decl of loop.init.variables) there.set(decl.name, decl);
    this.constants = new ConstantSymbols(facts, { at: loop, there }, (sym) => this.intern(sym));
  }

  /** What the readings rest on of constants that other builds may give other values, in words. */
  get stated(): ReadonlySet<string> {
    return this.constants.stated;
  }

  /** Null if the expression cannot be read; `failure` then says why. */
  abstract read(expr: Expr): Reading | null;

  /** The counter itself. */
  abstract readVariable(decl: Variable, type: IntegerType): Reading;

  fail(node: Expr, reason: string, id: Unreadable['id']): null {
    this.failure = { node, reason, id };
    return null;
  }

  note(scope: Verdict): void {
    for (const assumption of scope.under) this.under.add(assumption);
  }

  scopeOf(expr: Expr): Scope {
    const scope = this.facts.scope(expr);
    return scope.known ? scope.value : 'lane';
  }

  named(sym: Sym, type: IntegerType, expr: Expr): Reading {
    this.scopes.set(sym.key, this.scopeOf(expr));
    return exactly(symbol(sym), type);
  }

  intern(sym: Sym): Sym {
    const known = this.symbols.get(sym.key);
    if (known !== undefined) return known;
    this.symbols.set(sym.key, sym);
    return sym;
  }

  /** No coordinate stands behind the value: bounds are not written for the shape that today's launches have. */
  isFreeOfLaunch(expr: Expr): boolean {
    const known = this.freeOfLaunch.get(expr);
    if (known !== undefined) return known;
    // An initialiser that names its own variable is free of nothing.
    this.freeOfLaunch.set(expr, false);
    let free = true;
    walk(expr, (node) => {
      if (!free || isStmt(node)) return false;
      if (node.kind === 'coordinate') free = node.base === 'warpSize';
      else if (node.kind === 'ref' && node.decl?.kind === 'variable' && node.decl.init !== null) free = this.isDefinedOnce(node.decl) && this.isFreeOfLaunch(node.decl.init);
      else if (node.kind === 'ref' && node.decl?.kind === 'parameter') free = false;
      return free;
    });
    this.freeOfLaunch.set(expr, free);
    return free;
  }

  isDefinedOnce(decl: Variable): boolean {
    const { body } = this.facts.function;
    return body !== null && this.facts.assignments(decl, body).every((definition) => definition.kind === 'declaration' || definition.kind === 'parameter');
  }

  isInFunction(decl: Decl): boolean {
    const { span, file } = this.facts.function;
    return decl.file === file && decl.span.start >= span.start && decl.span.end <= span.end;
  }

  /** Defined once, or the counter of a loop around both the loop and the other variable, which moves only between its iterations. */
  isUnchangedSince(decl: Variable, other: Variable): boolean {
    if (this.isDefinedOnce(decl)) return true;
    return this.facts.loops(this.loop).some((outer) => {
      const induction = describeLoop(this.facts, outer);
      return induction.simple && induction.counter === decl && other.span.start > outer.body.span.start && other.span.end < outer.body.span.end;
    });
  }

  /** The text of the expression is no text of the function: a macro's, or that of a constant elsewhere. */
  isMadeElsewhere(expr: Expr): boolean {
    if (!isInText(this.facts, expr)) return true;
    for (let at = this.facts.parent(expr); at !== null; at = this.facts.parent(at)) {
      if (at.kind === 'macro' || at.kind === 'macro-statement') return true;
      if (isStmt(at)) return false;
    }
    return false;
  }

  textOf(expr: Expr): string {
    return codeOnly(this.facts.unit.source.text.slice(expr.span.start, expr.span.end));
  }

  /** At least zero unless it wraps around in `type`, or in a type on the way there. */
  isSumOfCoordinates(poly: Poly, type: IntegerType): boolean {
    return isSumOfCoordinates(poly, type, (sym) => isCoordinate(sym) || this.indices.has(sym.key));
  }
}
