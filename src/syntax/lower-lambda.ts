/** Lambda expressions. */
import { childOfType, fieldChild, namedChildren, type Cst } from './cst.js';
import type { Lowering } from './context.js';
import { expression } from './lower-expression.js';
import { lowerParameters } from './lower-parameters.js';
import { lowerCompound } from './lower-statement.js';
import { descriptorType } from './lower-type.js';
import { Scope } from './scope.js';
import type { Expr, LambdaExpr, VariableDecl } from './tree.js';
import { UNKNOWN } from './types.js';

export function lowerLambda(ctx: Lowering, node: Cst): Expr {
  const body = fieldChild(node, 'body');
  if (body === null) return ctx.opaque(node, 'lambda without body');
  let captureDefault: LambdaExpr['captureDefault'] = 'none';
  const captures: { name: string; byReference: boolean; decl: LambdaExpr['captures'][number]['decl'] }[] = [];
  const given: Expr[] = [];
  const made: VariableDecl[] = [];
  const list = fieldChild(node, 'captures');
  let byReference = false;
  for (const child of list?.children ?? []) {
    if (child.type === '&') {
      byReference = true;
      continue;
    }
    if (child.type === 'lambda_default_capture') {
      captureDefault = ctx.slice(child) === '&' ? 'reference' : 'copy';
    } else if (child.type === 'lambda_capture_initializer') {
      const left = fieldChild(child, 'left');
      const right = fieldChild(child, 'right');
      if (left === null || right === null) return ctx.opaque(node, 'lambda with initialised capture');
      given.push(expression(ctx, right));
      made.push(variableOf(ctx, left));
    } else if (child.named && child.type !== 'this') {
      const name = ctx.slice(child).replace(/^&\s*/, '');
      const found = ctx.unit.lookup.lookup(ctx.scope, name);
      captures.push({ name, byReference: byReference || ctx.slice(child).startsWith('&'), decl: found?.kind === 'value' ? found.decl : null });
    }
    byReference = false;
  }
  const scope = new Scope('function', ctx.scope, '', null);
  return ctx.inScope(scope, () => {
    const declarator = fieldChild(node, 'declarator');
    const parameterList = declarator === null ? null : fieldChild(declarator, 'parameters') ?? childOfType(declarator, 'parameter_list');
    const parameters = parameterList === null ? [] : lowerParameters(ctx, parameterList);
    for (const variable of made) scope.declare(variable);
    for (const parameter of parameters) scope.declare(parameter);
    const trailing = declarator === null ? null : childOfType(declarator, 'trailing_return_type');
    const returned = trailing === null ? undefined : namedChildren(trailing)[0];
    const lambda: LambdaExpr = {
      kind: 'lambda', span: ctx.span(node), type: UNKNOWN, captures, captureDefault, parameters, ...(made.length === 0 ? {} : { made }), ...(returned === undefined ? {} : { returns: descriptorType(ctx, returned) }), body: lowerCompound(ctx, body),
    };
    // `[x = f()]` makes a new object whose value nothing follows.
    return made.length === 0 ? lambda : ctx.opaque(node, 'lambda with initialised capture', UNKNOWN, { parts: [...given, lambda] });
  });
}

function variableOf(ctx: Lowering, name: Cst): VariableDecl {
  const span = ctx.span(name);
  return {
    kind: 'variable', name: ctx.slice(name), span, nameSpan: span, file: ctx.unit.file, type: UNKNOWN, space: 'local', storage: 'automatic', constexpr: false, dynamicShared: false,
    init: null, initStyle: 'equals', opaqueInit: true,
  };
}
