/** Walks over the typed tree. Children come in source order; expressions inside types (array lengths) are not children. */
import type { Expr, Stmt, TemplateArgument, VariableDecl } from './tree.js';
import { unreachable } from './tree.js';

export type Node = Stmt | Expr | VariableDecl;

const EXPRESSIONS = new Set<string>([
  'literal', 'ref', 'coordinate', 'this', 'paren', 'macro', 'unary', 'update', 'binary', 'assign', 'conditional', 'call', 'index', 'member', 'cast', 'construct',
  'init-list', 'sizeof', 'lambda',
]);

/** Whether a node is an expression. An opaque node is one if it has a type. */
export function isExpr(node: Node): node is Expr {
  return EXPRESSIONS.has(node.kind) || (node.kind === 'opaque' && 'type' in node);
}

export function isVariable(node: Node): node is VariableDecl {
  return node.kind === 'variable';
}

export function isStmt(node: Node): node is Stmt {
  return !isVariable(node) && !isExpr(node);
}

function valueArguments(args: readonly TemplateArgument[] | null): Expr[] {
  return args === null ? [] : args.flatMap((arg) => (arg.kind === 'value' ? [arg.value] : []));
}

/** Direct children of an expression. */
export function exprChildren(expr: Expr): readonly Node[] {
  switch (expr.kind) {
    case 'literal': case 'ref': case 'coordinate': case 'this': case 'opaque': return [];
    case 'paren': return [expr.inner];
    case 'macro': return [expr.expanded];
    case 'unary': return [expr.operand];
    case 'update': return [expr.target];
    case 'binary': return [expr.left, expr.right];
    case 'assign': return [expr.target, expr.value];
    case 'conditional': return [expr.condition, expr.then, expr.else];
    case 'call': {
      const { callee } = expr;
      const first = callee.kind === 'method' ? [callee.object] : callee.kind === 'value' ? [callee.value] : [];
      return [...first, ...valueArguments(expr.templateArguments), ...expr.arguments];
    }
    case 'index': return [expr.base, expr.index];
    case 'member': return [expr.object];
    case 'cast': return [expr.operand];
    case 'construct': return expr.arguments;
    case 'init-list': return expr.elements;
    case 'sizeof': return expr.operand === null ? [] : [expr.operand];
    case 'lambda': return [expr.body];
    default: return unreachable(expr);
  }
}

/** Direct children of a statement. */
export function stmtChildren(stmt: Stmt): readonly Node[] {
  switch (stmt.kind) {
    case 'compound': return stmt.body;
    case 'declare': return stmt.variables;
    case 'expression': return [stmt.expression];
    case 'empty': case 'break': case 'continue': case 'goto': case 'opaque': return [];
    case 'if': return present(stmt.init, stmt.conditionDecl, stmt.condition, stmt.then, stmt.else);
    case 'for': return present(stmt.init, stmt.conditionDecl, stmt.condition, stmt.step, stmt.body);
    case 'range-for': return [stmt.variable, stmt.range, stmt.body];
    case 'while': return present(stmt.conditionDecl, stmt.condition, stmt.body);
    case 'do': return [stmt.body, stmt.condition];
    case 'switch':
      return [...present(stmt.init, stmt.conditionDecl, stmt.condition), ...stmt.arms.flatMap((arm) => [...arm.labels.filter((l) => l !== null), ...arm.body])];
    case 'return': return present(stmt.value);
    case 'label': return [stmt.body];
    case 'asm': return [...stmt.outputs, ...stmt.inputs];
    case 'preprocessor': return stmt.arms.flatMap((arm) => arm.body);
    case 'macro-statement': return [stmt.expanded];
    default: return unreachable(stmt);
  }
}

function present(...nodes: readonly (Node | null)[]): Node[] {
  return nodes.filter((node) => node !== null);
}

/** Direct children of any node. */
export function children(node: Node): readonly Node[] {
  if (isVariable(node)) return node.init === null ? [] : [node.init];
  return isExpr(node) ? exprChildren(node) : stmtChildren(node);
}

/** Visits a node and all below it, parents first, without recursion. `visit` returns false to skip what lies below. */
export function walk(root: Node, visit: (node: Node, parent: Node | null) => boolean | void): void {
  const pending: { node: Node; parent: Node | null }[] = [{ node: root, parent: null }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, parent } = next;
    if (visit(node, parent) === false) continue;
    const below = children(node);
    for (let i = below.length - 1; i >= 0; i--) {
      const child = below[i];
      if (child !== undefined) pending.push({ node: child, parent: node });
    }
  }
}

/** Every expression below (and including) a node, parents first. */
export function forEachExpr(root: Node, visit: (expr: Expr) => void): void {
  walk(root, (node) => {
    if (isExpr(node)) visit(node);
  });
}

/** Every statement below (and including) a node, those in lambdas too, parents first. */
export function forEachStmt(root: Node, visit: (stmt: Stmt) => void): void {
  walk(root, (node) => {
    if (isStmt(node)) visit(node);
  });
}

/** Each node's parent; the root has none. */
export function parents(root: Node): ReadonlyMap<Node, Node> {
  const map = new Map<Node, Node>();
  walk(root, (node, parent) => {
    if (parent !== null) map.set(node, parent);
  });
  return map;
}
