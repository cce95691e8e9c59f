/**
 * Expressions as operands of new text: the parentheses that they need where they come to stand (src/syntax/binding.ts tells how tightly they bind).
 *
 * What was not understood binds loosest: parentheses around an expression change nothing.
 */
import type { SourceFile } from '../../src/source/types.js';
import { BINDING, bindingOf, type Binding } from '../../src/syntax/binding.js';
import type { Expr } from '../../src/syntax/tree.js';
import { joinLines, textOf } from './text.js';

export { BINDING, bindingOf, bindingOfOperator, type Binding } from '../../src/syntax/binding.js';

/** `text` is that of `expr`; in parentheses if it would come apart as an operand that must bind as tightly as `least`. */
export function grouped(text: string, expr: Expr, least: Binding): string {
  return bindingOf(expr) < least ? `(${text})` : text;
}

/** The text of an expression on one line, as an operand. */
export function operandText(source: SourceFile, expr: Expr, least: Binding): string {
  return grouped(joinLines(textOf(source, expr.span)), expr, least);
}

/** `!x` for the text of `expr`. */
export function negated(text: string, expr: Expr): string {
  return `!${grouped(text, expr, BINDING.postfix)}`;
}
