/** What `decltype` makes of an expression. */
import { childOfType, fieldChild, namedChildren, type Cst } from './cst.js';
import type { Expr, Type } from './tree.js';
import { strip } from './tree.js';
import { referenceTo } from './types.js';

/** `decltype(e)`: a name has the type that it was declared with; an lvalue, and a name in parentheses, gives a reference ([dcl.type.decltype]). */
export function decltypeOf(expr: Expr, parenthesised: boolean): Type {
  const e = strip(expr);
  const to = e.type;
  switch (e.kind) {
    case 'ref': {
      const { decl, argument } = e;
      if (argument?.type?.kind === 'reference') return referenceTo(to, false);
      if (decl === null || (decl.kind !== 'variable' && decl.kind !== 'parameter')) return to;
      return parenthesised || decl.type.kind === 'reference' ? referenceTo(to, !parenthesised && decl.type.kind === 'reference' && decl.type.rvalue === true) : to;
    }
    case 'member': return parenthesised || e.field?.type.kind === 'reference' ? referenceTo(to, false) : to;
    case 'index': case 'assign': return referenceTo(to, false);
    case 'unary': return e.op === '*' ? referenceTo(to, false) : to;
    case 'update': return e.prefix ? referenceTo(to, false) : to;
    case 'conditional': return decltypeOf(e.then, true).kind === 'reference' && decltypeOf(e.else, true).kind === 'reference' ? referenceTo(to, false) : to;
    case 'cast': return e.reference === undefined ? to : referenceTo(to, e.reference === 'rvalue');
    case 'call': return (e.callee.kind === 'function' || e.callee.kind === 'method') && e.callee.candidates.some(({ returns }) => returns.kind === 'reference') ? referenceTo(to, false) : to;
    default: return to;
  }
}

/** `decltype(auto) z = (u);`, `decltype(f(x)) z = f(x);`: z may be another name for something. The type of what is no name depends on what sort of value it is. */
export function mayRefer(node: Cst): boolean {
  const spelled = fieldChild(node, 'type');
  const type = spelled?.type === 'placeholder_type_specifier' ? childOfType(spelled, 'decltype') : spelled;
  if (type?.type !== 'decltype') return false;
  const operand = namedChildren(type)[0];
  return operand === undefined || !DECLTYPE_VALUES.has(operand.type);
}

/** Names have the type that they were declared with; arithmetic and literals are values. */
const DECLTYPE_VALUES: ReadonlySet<string> = new Set(['identifier', 'field_expression', 'qualified_identifier', 'number_literal', 'char_literal', 'true', 'false', 'binary_expression', 'sizeof_expression']);
