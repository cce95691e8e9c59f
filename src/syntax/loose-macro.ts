/**
 * Macros that stand for more than one operand without parentheses of their own: with `#define N 3 + 4`, `2 * N` is `2 * 3 + 4`. A tree that takes
 * the expansion for the operand would be another program, so an operator that binds tighter than the expansion is not understood.
 */
import type { Lowering } from './context.js';
import type { Cst } from './cst.js';
import type { BinaryOperator, Expr } from './tree.js';

/** How tightly operators bind, the loosest first: C++, [expr]. */
const BINDING: Readonly<Record<BinaryOperator, number>> = {
  ',': 1, '||': 3, '&&': 4, '|': 5, '^': 6, '&': 7, '==': 8, '!=': 8, '<': 9, '<=': 9, '>': 9, '>=': 9, '<<': 11, '>>': 11, '+': 12, '-': 12, '*': 13, '/': 13, '%': 13,
};
const CHOICE = 2;
const UNARY = 15;
const POSTFIX = 16;

/** Operators whose operands may be grouped either way. */
const ASSOCIATIVE: ReadonlySet<BinaryOperator> = new Set<BinaryOperator>(['+', '*', '&&', '||', '&', '|', '^', ',']);

/** Where an operand stands. */
export type Place = { readonly op: BinaryOperator; readonly side: 'left' | 'right' } | 'unary' | 'postfix' | 'condition';

/** The name of the macro if the operand is one whose text comes apart there; null if not. */
export function looseMacro(operand: Expr, place: Place): string | null {
  if (operand.kind !== 'macro') return null;
  const { expanded, name } = operand;
  const own = bindingOf(expanded);
  if (place === 'unary') return own < UNARY ? name : null;
  if (place === 'postfix') return own < POSTFIX ? name : null;
  if (place === 'condition') return own <= CHOICE ? name : null;
  const around = BINDING[place.op];
  if (own > around || (own === around && place.side === 'left')) return null;
  return own === around && regroups(expanded, place.op) ? null : name;
}

function bindingOf(expr: Expr): number {
  switch (expr.kind) {
    case 'binary': return BINDING[expr.op];
    case 'conditional': case 'assign': return CHOICE;
    case 'unary': return UNARY;
    case 'cast': return expr.style === 'c' ? UNARY : POSTFIX;
    case 'update': return expr.prefix ? UNARY : POSTFIX;
    default: return POSTFIX;
  }
}

/** `a + (b - c)` is `(a + b) - c` in integers; floating sums are not. */
function regroups(expanded: Expr, op: BinaryOperator): boolean {
  if (!ASSOCIATIVE.has(op)) return false;
  const integers = op === '&&' || op === '||' || op === ',' || expanded.type.kind === 'int' || expanded.type.kind === 'bool';
  for (let at: Expr = expanded; at.kind === 'binary' && BINDING[at.op] === BINDING[op]; at = at.left) if (at.op !== op && !(op === '+' && at.op === '-')) return false;
  return integers;
}

/** An operator takes only a part of what the macro stands for. */
export function comesApart(ctx: Lowering, node: Cst, name: string): Expr {
  return ctx.opaque(node, `${name} stands for more than one operand, without parentheses`);
}
