/** `switch`: arms at the top level of the body; anything else is opaque. */
import { childOfType, fieldChild, namedChildren, type Cst } from './cst.js';
import type { Lowering } from './context.js';
import { lowerCondition } from './lower-condition.js';
import { lowerExpression } from './lower-expression.js';
import { lowerStatements } from './lower-statement.js';
import { Scope } from './scope.js';
import type { Expr, Stmt, SwitchArm } from './tree.js';

export function lowerSwitch(ctx: Lowering, node: Cst): Stmt {
  const clause = fieldChild(node, 'condition');
  const body = fieldChild(node, 'body');
  if (clause === null || body === null || body.type !== 'compound_statement') return ctx.opaqueStmt(node, 'irregular switch');
  const outer = ctx.scope;
  const outerIrregular = ctx.irregularSwitch;
  ctx.irregularSwitch = false;
  if (ctx.fn !== null) ctx.fn.conditions++;
  try {
    const head = lowerCondition(ctx, clause);
    ctx.scope = new Scope('block', ctx.scope, '', null);
    const arms = lowerArms(ctx, body);
    if (arms === null || ctx.irregularSwitch) return ctx.opaqueStmt(node, 'irregular switch');
    return {
      kind: 'switch', span: ctx.span(node), init: head.init, conditionDecl: head.declaration, condition: head.condition, headSpan: head.span,
      bodySpan: ctx.span(body), arms,
    };
  } finally {
    ctx.scope = outer;
    ctx.irregularSwitch = outerIrregular;
    if (ctx.fn !== null) ctx.fn.conditions--;
  }
}

/** Labels without statements join the next arm. Null if something else stands between the arms. */
function lowerArms(ctx: Lowering, body: Cst): SwitchArm[] | null {
  const arms: SwitchArm[] = [];
  let labels: (Expr | null)[] = [];
  let start = -1;
  for (const child of namedChildren(body)) {
    if (child.type === 'preproc_call') continue;
    if (child.type !== 'case_statement') return null;
    const colon = childOfType(child, ':');
    if (colon === null || colon.missing) return null;
    const value = fieldChild(child, 'value');
    labels.push(value === null ? null : lowerExpression(ctx, value));
    if (start < 0) start = child.start;
    const statements = child.children.filter((c) => c.start >= colon.end);
    if (!statements.some((c) => c.named && c.type !== 'preproc_call')) continue;
    arms.push({ span: ctx.spanBetween(start, child.end), labels, body: lowerStatements(ctx, statements, colon.end) });
    labels = [];
    start = -1;
  }
  if (labels.length > 0) arms.push({ span: ctx.spanBetween(start, body.end - 1), labels, body: [] });
  return arms;
}
