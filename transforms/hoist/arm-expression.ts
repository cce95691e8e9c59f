/**
 * The arm of a `?:` that decides a statement, written in place of the `?:`.
 */
import type { Expr, Stmt } from '../../src/syntax/tree.js';
import { BINDING, grouped } from '../lib/operands.js';

/** A replacement of an expression inside a statement: the arm of a `?:`. */
export interface ExprChoice {
  readonly stmt: Stmt;
  /** What is replaced: the `?:` with its parentheses. */
  readonly outer: Expr;
  readonly condition: Expr;
  readonly arm: Expr;
}

/** The arm as it stands in place of the `?:`. Where it comes to be a statement, nothing may read it as a declaration: `T(x);` declares x. */
export function armExpression(stmt: Stmt, { outer, arm }: ExprChoice, text: string): string {
  const alone = stmt.kind === 'expression' && unparenthesised(stmt.expression) === unparenthesised(outer);
  if (alone && !startsAsExpression(arm)) return arm.kind === 'construct' || arm.kind === 'call' || arm.kind === 'paren' ? `(void)${text}` : `(void)(${text})`;
  return grouped(text, arm, BINDING.assignment);
}

function unparenthesised(expr: Expr): Expr {
  let inner = expr;
  while (inner.kind === 'paren') inner = inner.inner;
  return inner;
}

/** The first token is none that a declaration could start with: a variable or function that the tree knows, a literal, an operator. */
function startsAsExpression(expr: Expr): boolean {
  switch (expr.kind) {
    case 'ref': return expr.decl !== null && (expr.decl.kind === 'variable' || expr.decl.kind === 'parameter' || expr.decl.kind === 'function' || expr.decl.kind === 'enumerator');
    case 'literal': case 'paren': case 'unary': case 'this': case 'coordinate': return true;
    case 'update': return expr.prefix || startsAsExpression(expr.target);
    case 'binary': return startsAsExpression(expr.left);
    case 'assign': return startsAsExpression(expr.target);
    case 'conditional': return startsAsExpression(expr.condition);
    case 'index': return startsAsExpression(expr.base);
    case 'member': return startsAsExpression(expr.object);
    case 'call':
      switch (expr.callee.kind) {
        case 'function': case 'builtin': return true;
        case 'method': return startsAsExpression(expr.callee.object);
        case 'value': return startsAsExpression(expr.callee.value);
        case 'unknown': return false;
        default: {
          const never: never = expr.callee;
          return never;
        }
      }
    case 'macro': case 'cast': case 'construct': case 'init-list': case 'sizeof': case 'lambda': case 'opaque': return false;
    default: {
      const never: never = expr;
      return never;
    }
  }
}
