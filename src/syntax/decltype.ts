/** What `decltype` makes of an expression. */
import type { Expr, Type } from './tree.js';
import { strip } from './tree.js';
import { referenceTo } from './types.js';

/** `decltype(e)`: a name has the type that it was declared with; an lvalue, and a name in parentheses, gives a reference ([dcl.type.decltype]). */
export function decltypeOf(expr: Expr, parenthesised: boolean): Type {
  const e = strip(expr);
  const to = e.type;
  switch (e.kind) {
    case 'ref': {
      const { decl } = e;
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
