/**
 * What every analysis of this room may ask about the function it looks at. One environment per function and kernel; made by
 * analyse.ts, read by everything else. Nothing here decides a verdict.
 */
import type { BlockFact, AnalysisOptions, Definition, Loop, Variable } from './facts.js';
import type { CallExpr, Expr, FunctionDecl, Program, RefExpr, Stmt, Unit } from '../syntax/tree.js';

export interface Env {
  readonly program: Program;
  readonly unit: Unit;
  readonly function: FunctionDecl;
  /** The kernel the facts are for; null when no kernel is known (facts then hold for every kernel). */
  readonly kernel: FunctionDecl | null;
  readonly options: AnalysisOptions;
  /** Shape of the blocks of `kernel`; computed on first use. */
  readonly block: BlockFact;

  /** The enclosing statement or expression; null for the body of the function (or of a node that is not in it). */
  parent(node: Stmt | Expr): Stmt | Expr | null;
  /** Enclosing loops, innermost first. */
  loops(node: Stmt | Expr): readonly Loop[];
  /** Every call in the function in the order of the text, lambdas included. */
  readonly calls: readonly CallExpr[];

  /** Definitions that reach a use of an automatic variable or parameter; empty for a name that is not one. */
  definitions(use: RefExpr): readonly Definition[];
  /** Every place inside `within` that may assign the variable. */
  assignments(decl: Variable, within: Stmt | Expr): readonly Definition[];
  uses(decl: Variable): readonly RefExpr[];
  addressTaken(decl: Variable): boolean;

  /** The environment of another function for the same kernel (a callee); null if its unit is not loaded. */
  of(fn: FunctionDecl): Env | null;
}
