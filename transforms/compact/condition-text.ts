/** Conditions as text, and their negations. */
import type { SourceFile } from '../../src/source/types.js';
import { strip, type Expr } from '../../src/syntax/tree.js';
import { BINDING, grouped, negated } from '../lib/operands.js';
import { copyText, textOf } from '../lib/text.js';

/** The text of a condition, or of its negation. `operand`: it stands between `&&`. */
export function conditionText(source: SourceFile, expr: Expr, holds: boolean, operand: boolean): string {
  const inner = unwrap(expr);
  const text = textOf(source, inner.span);
  if (holds) return grouped(text, inner, operand ? BINDING.and : BINDING.assignment);
  if (inner.kind === 'unary' && inner.op === '!') return conditionText(source, inner.operand, true, operand);
  if (inner.kind === 'binary' && strip(inner.left).type.kind === 'int' && strip(inner.right).type.kind === 'int') {
    const turned = TURNED[inner.op];
    if (turned !== undefined) return copyText(source, inner.span, { from: '', to: '' }, [{ span: inner.opSpan, text: turned }]);
  }
  return negated(text, inner);
}

const TURNED: Readonly<Partial<Record<string, string>>> = { '<': '>=', '>=': '<', '>': '<=', '<=': '>', '==': '!=', '!=': '==' };

/** Without parentheses; macros are kept. */
function unwrap(expr: Expr): Expr {
  let inner = expr;
  while (inner.kind === 'paren') inner = inner.inner;
  return inner;
}
