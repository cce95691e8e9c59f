/**
 * How tightly expressions bind: the precedences of C++ ([expr]), the loosest first.
 */
import { unreachable, type BinaryOperator, type Expr } from './tree.js';

export const BINDING = {
  unknown: 0, comma: 1, assignment: 2, or: 3, and: 4, bitOr: 5, bitXor: 6, bitAnd: 7, equality: 8, relation: 9, ordering: 10, shift: 11, sum: 12, product: 13,
  member: 14, unary: 15, postfix: 16, closed: 17,
} as const;
export type Binding = (typeof BINDING)[keyof typeof BINDING];

const OPERATORS: Readonly<Record<BinaryOperator, Binding>> = {
  ',': BINDING.comma, '||': BINDING.or, '&&': BINDING.and, '|': BINDING.bitOr, '^': BINDING.bitXor, '&': BINDING.bitAnd, '==': BINDING.equality, '!=': BINDING.equality,
  '<': BINDING.relation, '<=': BINDING.relation, '>': BINDING.relation, '>=': BINDING.relation, '<<': BINDING.shift, '>>': BINDING.shift, '+': BINDING.sum, '-': BINDING.sum,
  '*': BINDING.product, '/': BINDING.product, '%': BINDING.product,
};

export function bindingOfOperator(op: BinaryOperator): Binding {
  return OPERATORS[op];
}

/** How tightly the text of an expression binds. What was not understood binds loosest; the name of a macro binds as what stands behind it does, since its text is put in place of it. */
export function bindingOf(expr: Expr): Binding {
  switch (expr.kind) {
    case 'opaque': return BINDING.unknown;
    case 'binary': return OPERATORS[expr.op];
    case 'assign': case 'conditional': return BINDING.assignment;
    case 'unary': case 'sizeof': return BINDING.unary;
    case 'update': return expr.prefix ? BINDING.unary : BINDING.postfix;
    case 'cast': return expr.style === 'c' ? BINDING.unary : BINDING.postfix;
    case 'macro': return bindingOf(expr.expanded);
    case 'call': case 'index': case 'member': case 'construct': case 'lambda': return BINDING.postfix;
    case 'literal': case 'ref': case 'coordinate': case 'this': case 'paren': case 'init-list': return BINDING.closed;
    default: return unreachable(expr);
  }
}
