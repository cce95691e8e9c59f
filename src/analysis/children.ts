/**
 * Direct parts of a node, in the order of evaluation as far as C++ fixes it: those that are written (parts.ts), and then calls that stand for what runs there
 * without being written (implicit-code.ts). Every walk of this room is made on it, so that none forgets the second kind.
 */
import { implicitIn, mayRunMore } from './implicit-code.js';
import { forEachPart, type Node } from './parts.js';
import type { Expr } from '../syntax/tree.js';

export { isStmt, type Node } from './parts.js';

/** Calls `visit` for each direct part. */
export function forEachChild(node: Node, visit: (child: Node) => void): void {
  if (forEachPart(node, visit) && mayRunMore(node)) for (const call of implicitIn(node)) visit(call);
}

/** Calls `visit` for the node and everything below it, outermost first; `visit` returns false to stay out of a node. */
export function walk(node: Node, visit: (node: Node) => boolean | void): void {
  const descend = (at: Node): void => { if (visit(at) !== false) forEachChild(at, descend); };
  descend(node);
}

/** The expression under parentheses and macro invocations. */
export function strip(expr: Expr): Expr {
  let current = expr;
  while (current.kind === 'paren' || current.kind === 'macro') current = current.kind === 'paren' ? current.inner : current.expanded;
  return current;
}
