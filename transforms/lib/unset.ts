/**
 * Variables that may have no value yet: to read one is undefined. Where the original reads it only under a test, or in a loop that is entered, text in front of
 * the loop would read it always.
 */
import { isStmt, walk } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Expr, RefExpr } from '../../src/syntax/tree.js';

/** Does a declaration without a value reach this use? */
export function mayBeUnset(facts: FunctionFacts, use: RefExpr): boolean {
  const { decl } = use;
  if (decl === null || decl.kind !== 'variable' || decl.space !== 'local' || decl.storage !== 'automatic') return false;
  return facts.definitions(use).some((definition) => definition.kind === 'declaration' && definition.decl.init === null && definition.decl.initStyle === 'none' && !definition.decl.opaqueInit
    && definition.decl.type.kind !== 'record' && definition.decl.type.kind !== 'array' && definition.decl.type.kind !== 'reference');
}

/** The first use in an expression of a variable that may have no value yet; null if there is none. */
export function unsetIn(facts: FunctionFacts, expr: Expr): RefExpr | null {
  let found: RefExpr | null = null;
  walk(expr, (node) => {
    if (!isStmt(node) && node.kind === 'ref' && mayBeUnset(facts, node)) found ??= node;
    return found === null;
  });
  return found;
}
