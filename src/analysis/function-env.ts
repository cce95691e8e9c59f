/** The environment of one function for one kernel: structure, def-use and block shape behind the interface of env.ts. */
import type { Node } from './children.js';
import { isStmt } from './children.js';
import { keptIn } from './address-fate.js';
import { defUseOf } from './def-use-builder.js';
import { definitionsOf } from './def-use.js';
import type { Env } from './env.js';
import type { AnalysisOptions, BlockFact, Definition, Loop, Variable } from './facts.js';
import { blockFact } from './launch-facts.js';
import { structureOf, type Structure } from './structure.js';
import type { CallExpr, Expr, FunctionDecl, Program, RefExpr, Stmt, Unit } from '../syntax/tree.js';

/** What holds when no kernel is known. */
export const ANY_BLOCK: BlockFact = {
  value: null, alternatives: [], maxThreads: 1024, xMultipleOf32: false, oneDimensional: false, origin: 'unknown', because: [], under: [], reads: [],
};

export class FunctionEnv implements Env {
  readonly function: FunctionDecl;
  private readonly structure: Structure;
  private known: BlockFact | null = null;
  private readonly definitionCache = new Map<RefExpr, readonly Definition[]>();

  constructor(
    readonly program: Program, readonly unit: Unit, fn: FunctionDecl, readonly kernel: FunctionDecl | null, readonly options: AnalysisOptions,
    private readonly other: (fn: FunctionDecl) => Env | null,
  ) {
    this.function = fn;
    this.structure = structureOf(fn);
  }

  get block(): BlockFact {
    return (this.known ??= this.kernel === null ? ANY_BLOCK : blockFact(this.kernel, this.program, this.options));
  }

  get calls(): readonly CallExpr[] {
    return this.structure.calls;
  }

  parent(node: Node): Node | null {
    return this.structure.parents.get(node) ?? null;
  }

  loops(node: Node): readonly Loop[] {
    const found: Loop[] = [];
    let child: Node = node;
    for (let up = this.structure.parents.get(child); up !== undefined; child = up, up = this.structure.parents.get(child)) {
      // What runs once before the loop does not stand in it.
      if ((up.kind === 'for' && child !== up.init) || up.kind === 'while' || up.kind === 'do' || (up.kind === 'range-for' && child !== up.range)) found.push(up);
    }
    return found;
  }

  definitions(use: RefExpr): readonly Definition[] {
    const known = this.definitionCache.get(use);
    if (known !== undefined) return known;
    const defUse = defUseOf(this.function);
    const id = defUse.reads.get(use);
    const found = id === undefined || (use.decl?.kind === 'variable' && use.decl.storage === 'member') ? [] : definitionsOf(defUse, id);
    this.definitionCache.set(use, found);
    return found;
  }

  assignments(decl: Variable, within: Stmt | Expr): readonly Definition[] {
    const found: Definition[] = [];
    for (const assignment of this.structure.assignments) {
      if (assignment.decl !== decl || !this.inside(assignment.node, within)) continue;
      if (assignment.known && !isStmt(assignment.node)) found.push({ kind: 'assignment', decl, node: assignment.node });
      else found.push({ kind: 'unknown', decl, node: assignment.node });
    }
    if (decl.kind === 'variable' && decl.span.start >= within.span.start && decl.span.end <= within.span.end) found.unshift({ kind: 'declaration', decl });
    for (const node of this.structure.opaqueNodes) if (this.inside(node, within)) found.push({ kind: 'unknown', decl, node });
    if (this.structure.escaped.has(decl) || keptIn(this.structure).has(decl)) {
      // Whoever has the address may write where calls or stores through pointers are.
      for (const call of this.structure.calls) if (this.inside(call, within)) found.push({ kind: 'unknown', decl, node: call });
      for (const node of this.structure.indirect) if (this.inside(node, within)) found.push({ kind: 'unknown', decl, node });
    }
    return found;
  }

  private inside(node: Node, within: Node): boolean {
    for (let n: Node | undefined = node; n !== undefined; n = this.structure.parents.get(n)) if (n === within) return true;
    return false;
  }

  uses(decl: Variable): readonly RefExpr[] {
    return this.structure.uses.get(decl) ?? [];
  }

  addressTaken(decl: Variable): boolean {
    return this.structure.addressed.has(decl);
  }

  of(fn: FunctionDecl): Env | null {
    return fn === this.function ? this : this.other(fn);
  }
}
