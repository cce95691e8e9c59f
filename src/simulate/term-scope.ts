/** What names stand for where a term is taken: parameters of called functions, the object that a method is called on, template values. */
import type { Decl, Expr, FunctionDecl } from '../syntax/tree.js';
import type { Made, Step } from './made-with.js';
import type { Env } from './resolve.js';
import type { Atom, Term } from './terms.js';

/** Names and what they stand for in one call of a function. */
export interface Scope {
  readonly kernel: FunctionDecl;
  /** The function whose body the expressions stand in. */
  readonly fn: FunctionDecl;
  readonly env: Env;
  /** Variables that the code stores in. */
  readonly stored: ReadonlySet<Decl>;
  readonly bound: ReadonlyMap<Decl, { readonly expr: Expr; readonly scope: Scope }>;
  /** A part of the object that a method or an initialiser of a member belongs to; null outside of one. */
  readonly self: ((path: readonly Step[], depth: number) => Made | null) | null;
  readonly atoms: Map<string, Atom>;
  readonly known: Map<Decl | Expr, Term | null>;
  readonly depth: number;
}

export function kernelScope(kernel: FunctionDecl, env: Env, stored: ReadonlySet<Decl>): Scope {
  return { kernel, fn: kernel, env, stored, bound: new Map(), self: null, atoms: new Map(), known: new Map(), depth: 0 };
}

/** What the parameters of a callee stand for; `env`: its template arguments. */
export function calleeScope(callee: FunctionDecl, given: readonly Expr[], env: Env, scope: Scope, self: Scope['self'] = null): Scope {
  const bound = new Map<Decl, { readonly expr: Expr; readonly scope: Scope }>();
  for (const [i, p] of callee.parameters.entries()) {
    const expr = given[i];
    if (expr !== undefined) bound.set(p, { expr, scope });
    else if (p.default !== null) bound.set(p, { expr: p.default, scope: { ...scope, env, bound: new Map(), self: null, known: new Map() } });
  }
  return { kernel: scope.kernel, fn: callee, env, stored: scope.stored, bound, self, atoms: scope.atoms, known: new Map(), depth: scope.depth + 1 };
}

/** Where the initialisers of an object's members stand. */
export function memberInitialiserScope(scope: Scope, self: Scope['self']): Scope {
  return { ...scope, self, known: new Map(), depth: scope.depth + 1 };
}
