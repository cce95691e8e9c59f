/**
 * A statement that stands alone below a head, without braces. Two things go wrong there that go right in a list: what begins with a macro may be
 * several statements, or an `if` of its own, in another build; and an `else` behind it goes to the last `if` that has none.
 */
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { unreachable, type Expr, type Stmt } from '../../src/syntax/tree.js';

/** The statement is the invocation of a macro, or begins with one, or may: what it is depends on the build. */
export function beginsWithMacro(stmt: Stmt): boolean {
  switch (stmt.kind) {
    case 'macro-statement': case 'opaque': case 'preprocessor': return true;
    case 'expression': return leftmostIsMacro(stmt.expression);
    case 'label': return beginsWithMacro(stmt.body);
    case 'compound': case 'declare': case 'empty': case 'if': case 'for': case 'range-for': case 'while': case 'do': case 'switch': case 'break': case 'continue':
    case 'return': case 'goto': case 'asm':
      return false;
    default: return unreachable(stmt);
  }
}

/** Of the text that is copied, the first words. */
function leftmostIsMacro(expr: Expr): boolean {
  for (let at = expr; ;) {
    switch (at.kind) {
      case 'macro': case 'opaque': return true;
      case 'binary': at = at.left; break;
      case 'assign': at = at.target; break;
      case 'update':
        if (at.prefix) return false;
        at = at.target;
        break;
      case 'index': at = at.base; break;
      case 'member': at = at.object; break;
      case 'conditional': at = at.condition; break;
      case 'call':
        if (at.callee.kind === 'unknown') return true;
        if (at.callee.kind !== 'value' && at.callee.kind !== 'method') return false;
        at = at.callee.kind === 'value' ? at.callee.value : at.callee.object;
        break;
      default: return false;
    }
  }
}

/** The statement stands alone below a head, and the text behind it goes on with the `else` of an `if` around it: no `if` may end there without its own. */
export function elseFollows(facts: FunctionFacts, stmt: Stmt): boolean {
  let at = stmt;
  for (;;) {
    const parent = facts.parent(at);
    switch (parent?.kind) {
      case 'if':
        if (parent.then === at && parent.else !== null) return true;
        at = parent;
        break;
      case 'for': case 'range-for': case 'while': case 'label': at = parent; break;
      default: return false;
    }
  }
}
