/** What stands in the parentheses of `if`, `while` and `switch`: an init statement, a declaration or an expression. */
import { fieldChild, holdsError, namedChildren, type Cst } from './cst.js';
import type { Lowering } from './context.js';
import { lowerDeclaration, lowerConditionDeclaration, lowerTypedef, lowerAlias } from './lower-declaration.js';
import { readsAsDeclaration } from './misread-declaration.js';
import { lowerExpression } from './lower-expression.js';
import { Scope } from './scope.js';
import type { Expr, Stmt, VariableDecl } from './tree.js';
import type { Span } from '../source/types.js';

export interface Head {
  readonly init: Stmt | null;
  readonly declaration: VariableDecl | null;
  readonly condition: Expr;
  readonly span: Span;
}

/** Opens a block scope for what the head declares and leaves it open: the caller restores `ctx.scope`. */
export function lowerCondition(ctx: Lowering, clause: Cst): Head {
  ctx.scope = new Scope('block', ctx.scope, '', null);
  const span = ctx.span(clause);
  const initializer = fieldChild(clause, 'initializer');
  const init = initializer === null ? null : lowerInit(ctx, initializer);
  const value = fieldChild(clause, 'value') ?? namedChildren(clause).find((child) => child !== initializer) ?? null;
  if (value === null) return { init, declaration: null, condition: ctx.opaque(clause, 'missing condition'), span };
  if (value.type === 'declaration') {
    const { declaration, condition } = lowerConditionDeclaration(ctx, value);
    return { init, declaration, condition, span };
  }
  if (readsAsDeclaration(ctx, value)) return { init, declaration: null, condition: ctx.opaque(value, 'a declaration that reads as an expression'), span };
  return { init, declaration: null, condition: holdsError(clause) ? ctx.opaque(clause, 'syntax error') : lowerExpression(ctx, value), span };
}

function lowerInit(ctx: Lowering, node: Cst): Stmt | null {
  const inner = node.type === 'init_statement' ? namedChildren(node)[0] : node;
  if (inner === undefined) return null;
  const span = ctx.span(inner);
  switch (inner.type) {
    case 'declaration': return lowerDeclaration(ctx, inner);
    case 'type_definition': return { kind: 'declare', span, variables: [], types: lowerTypedef(ctx, inner) };
    case 'alias_declaration': return { kind: 'declare', span, variables: [], types: lowerAlias(ctx, inner, null) };
    case 'expression_statement': {
      const [expression] = namedChildren(inner);
      return expression === undefined ? { kind: 'empty', span } : { kind: 'expression', span, expression: lowerExpression(ctx, expression) };
    }
    default: return { kind: 'expression', span, expression: lowerExpression(ctx, inner) };
  }
}
