/**
 * What alone gives a variable the value that it has at a use.
 *
 *   int lane = threadIdx.x % 32;  … lane …          the initialiser
 *   int q = 0;  int *p = &q;  *p = 3;  … q …        nothing: names of memory do not tell what else is stored there
 *
 * Definitions that reach a use are those that name the variable. Where its address is known to somebody, where it is a reference to something else, or volatile, it may
 * hold another value than the one that its definition gave it; whoever evaluates a variable must ask here, not for its definitions.
 */
import { defUseOf } from './def-use-builder.js';
import type { Definition, FunctionFacts } from './facts.js';
import type { Expr, RefExpr, Type } from '../syntax/tree.js';

/** The one definition that reaches the use and is all that can; null otherwise. A parameter that is a reference stands for the argument, whoever changes that. */
export function soleDefinition(use: RefExpr, facts: FunctionFacts): Definition | null {
  const { decl } = use;
  if (decl === null || (decl.kind !== 'variable' && decl.kind !== 'parameter')) return null;
  if (isVolatile(decl.type) || mayChangeUnseen(use, facts)) return null;
  if (decl.kind === 'variable' && decl.type.kind === 'reference') return null;
  const [only, ...others] = facts.definitions(use);
  return only === undefined || others.length > 0 ? null : only;
}

/** Is what the use reads stored by others as well: through a pointer that somebody keeps? What a call that was given the address leaves there is a definition of its own. */
export function mayChangeUnseen(use: RefExpr, facts: FunctionFacts): boolean {
  const { values, reads } = defUseOf(facts.function);
  const value = values[reads.get(use) ?? -1];
  return value?.kind === 'cell' && value.addressed;
}

/** The expression in its own function that alone gives the variable its value; null for parameters too. */
export function soleValue(use: RefExpr, facts: FunctionFacts): Expr | null {
  const only = soleDefinition(use, facts);
  if (only === null) return null;
  switch (only.kind) {
    case 'declaration': return only.decl.opaqueInit ? null : only.decl.init;
    case 'assignment': return only.node.kind === 'assign' && only.node.op === null ? only.node.value : null;
    case 'parameter': case 'unknown': return null;
    default: {
      const never: never = only;
      return never;
    }
  }
}

/** An object of a class is no number: using it as one runs a conversion function, whatever it was made from. */
export function isObject(expr: Expr): boolean {
  const type = expr.type.kind === 'reference' ? expr.type.to : expr.type;
  return type.kind === 'record';
}

function isVolatile(type: Type): boolean {
  return type.volatile === true || (type.kind === 'reference' && isVolatile(type.to));
}
