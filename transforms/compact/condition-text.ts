/** Conditions as text, and their negations. */
import type { SourceFile } from '../../src/source/types.js';
import { strip, type Expr } from '../../src/syntax/tree.js';
import { textOf } from '../lib/text.js';

/** The text of a condition, or of its negation. `operand`: it stands between `&&`. */
export function conditionText(source: SourceFile, expr: Expr, holds: boolean, operand: boolean): string {
  const inner = unwrap(expr);
  const text = textOf(source, inner.span);
  if (holds) return operand && weak(inner) ? `(${text})` : text;
  if (inner.kind === 'unary' && inner.op === '!') return conditionText(source, inner.operand, true, operand);
  if (inner.kind === 'binary' && strip(inner.left).type.kind === 'int' && strip(inner.right).type.kind === 'int') {
    const turned = TURNED[inner.op];
    if (turned !== undefined) return `${textOf(source, inner.left.span)} ${turned} ${textOf(source, inner.right.span)}`;
  }
  return inner.kind === 'ref' || inner.kind === 'index' || inner.kind === 'member' || inner.kind === 'call' ? `!${text}` : `!(${text})`;
}

const TURNED: Readonly<Partial<Record<string, string>>> = { '<': '>=', '>=': '<', '>': '<=', '<=': '>', '==': '!=', '!=': '==' };

/** Without parentheses; macros are kept. */
function unwrap(expr: Expr): Expr {
  let inner = expr;
  while (inner.kind === 'paren') inner = inner.inner;
  return inner;
}

/** Binds weaker than `&&`. */
function weak(expr: Expr): boolean {
  return (expr.kind === 'binary' && (expr.op === '||' || expr.op === ',')) || expr.kind === 'conditional' || expr.kind === 'assign' || expr.kind === 'macro';
}
