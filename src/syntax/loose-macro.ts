/**
 * Macros that stand for more than one operand without parentheses of their own: with `#define N 3 + 4`, `2 * N` is `2 * 3 + 4`. A tree that takes
 * the expansion for the operand would be another program, so an operator that binds tighter than the expansion is not understood.
 */
import { BINDING, bindingOf, bindingOfOperator } from './binding.js';
import type { Lowering } from './context.js';
import type { Cst } from './cst.js';
import type { BinaryOperator, Expr, MacroExpr } from './tree.js';

/** Operators whose operands may be grouped either way. */
const ASSOCIATIVE: ReadonlySet<BinaryOperator> = new Set<BinaryOperator>(['+', '*', '&&', '||', '&', '|', '^', ',']);

/** Where an operand stands. */
export type Place = { readonly op: BinaryOperator; readonly side: 'left' | 'right' } | 'unary' | 'postfix' | 'condition';

/** The name of the macro if the operand is one whose text comes apart there; null if not. */
export function looseMacro(operand: Expr, place: Place): string | null {
  if (operand.kind !== 'macro') return null;
  const { expanded, name } = operand;
  // What was not understood says so itself.
  const own = expanded.kind === 'opaque' ? BINDING.closed : bindingOf(expanded);
  if (place === 'unary') return own < BINDING.unary ? name : null;
  if (place === 'postfix') return own < BINDING.postfix ? name : null;
  if (place === 'condition') return own <= BINDING.assignment ? name : null;
  const around = bindingOfOperator(place.op);
  if (own > around || (own === around && place.side === 'left')) return null;
  return own === around && regroups(expanded, place.op) ? null : name;
}

/** `a + (b - c)` is `(a + b) - c` in integers; floating sums are not. */
function regroups(expanded: Expr, op: BinaryOperator): boolean {
  if (!ASSOCIATIVE.has(op)) return false;
  const integers = op === '&&' || op === '||' || op === ',' || expanded.type.kind === 'int' || expanded.type.kind === 'bool';
  for (let at: Expr = expanded; at.kind === 'binary' && bindingOfOperator(at.op) === bindingOfOperator(op); at = at.left) if (at.op !== op && !(op === '+' && at.op === '-')) return false;
  return integers;
}

/** An argument or an initialiser that is a macro for several of them, `g(PAIR)` with `#define PAIR a, b`: nothing that one expression could say. */
export function singleOperand(ctx: Lowering, node: Cst, operand: Expr): Expr {
  if (operand.kind !== 'macro') return operand;
  const own = bindingOf(operand.expanded);
  return own === BINDING.comma ? severalOperands(ctx, node, operand) : operand;
}

/** The same for an argument of a template, which a `>` ends as well. */
export function templateOperand(ctx: Lowering, node: Cst, operand: Expr): Expr {
  return operand.kind === 'macro' && endsList(operand.expanded) ? severalOperands(ctx, node, operand) : operand;
}

function endsList(expr: Expr): boolean {
  if (expr.kind === 'macro') return endsList(expr.expanded);
  return expr.kind === 'binary' && (expr.op === ',' || expr.op === '>' || expr.op === '>>' || endsList(expr.left) || endsList(expr.right));
}

function severalOperands(ctx: Lowering, node: Cst, operand: MacroExpr): Expr {
  if (ctx.override === null) ctx.unit.macroUses.lose(operand.span.start);
  return ctx.opaque(node, `${operand.name} stands for several operands`);
}

/** An operator takes only a part of what the macro stands for. */
export function comesApart(ctx: Lowering, node: Cst, name: string): Expr {
  return ctx.opaque(node, `${name} stands for more than one operand, without parentheses`);
}
