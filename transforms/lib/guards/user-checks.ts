/**
 * What the user checks: `assert(i < n)`, `CUDA_KERNEL_ASSERT(ok)`, `__builtin_assume(i < n)`. It stays as it stands, whatever is known of it: that it
 * holds is what it is there to say.
 */
import { isStmt, type Node } from '../../../src/analysis/children.js';
import type { FunctionFacts } from '../../../src/analysis/facts.js';
import type { Decl, Expr, Stmt } from '../../../src/syntax/tree.js';

const CHECK = /assert|assum|unreachable|(?:^|_)(?:check|verify|require|ensure|expects)(?:$|_)/i;

/** A call or a macro whose name says that it checks or assumes what it is given. */
export function isUserCheck(node: Node): boolean {
  if (node.kind === 'macro' || node.kind === 'macro-statement') return CHECK.test(node.name);
  if (isStmt(node) || node.kind !== 'call') return false;
  return node.callee.kind !== 'value' && CHECK.test(node.callee.name);
}

/** `__builtin_expect(x, 1)` is `x`, with a hint; null for all else. */
export function expected(node: Node): Expr | null {
  if (isStmt(node) || node.kind !== 'call' || node.callee.kind === 'value' || node.callee.name !== '__builtin_expect') return null;
  return node.arguments[0] ?? null;
}

/** The expression stands in what the user checks. */
export function standsInCheck(facts: FunctionFacts, node: Expr | Stmt): boolean {
  for (let at: Node | null = facts.parent(node); at !== null; at = facts.parent(at)) if (isUserCheck(at)) return true;
  return false;
}

/** The variable is asked in what the user checks. */
export function isChecked(facts: FunctionFacts, decl: Extract<Decl, { kind: 'variable' }>): boolean {
  return facts.uses(decl).some((use) => standsInCheck(facts, use));
}
