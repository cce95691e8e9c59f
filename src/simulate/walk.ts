/** Children of tree nodes, for the few whole-tree questions that the compiler asks before it generates code. */
import type { Expr, Stmt, VariableDecl } from '../syntax/tree.js';

export interface Visitor {
  expr?(e: Expr): void;
  stmt?(s: Stmt): void;
  variable?(v: VariableDecl): void;
}

export function walkExpr(e: Expr, v: Visitor): void {
  v.expr?.(e);
  const go = (x: Expr): void => walkExpr(x, v);
  switch (e.kind) {
    case 'literal': case 'ref': case 'coordinate': case 'this': case 'opaque': break;
    case 'paren': go(e.inner); break;
    case 'macro': go(e.expanded); break;
    case 'unary': go(e.operand); break;
    case 'update': go(e.target); break;
    case 'binary': go(e.left); go(e.right); break;
    case 'assign': go(e.target); go(e.value); break;
    case 'conditional': go(e.condition); go(e.then); go(e.else); break;
    case 'call':
      if (e.callee.kind === 'method') go(e.callee.object);
      else if (e.callee.kind === 'value') go(e.callee.value);
      e.arguments.forEach(go);
      break;
    case 'index': go(e.base); go(e.index); break;
    case 'member': go(e.object); break;
    case 'cast': go(e.operand); break;
    case 'construct': e.arguments.forEach(go); break;
    case 'init-list': e.elements.forEach(go); break;
    case 'sizeof': break; // not evaluated
    case 'lambda': walkStmt(e.body, v); break;
  }
}

export function walkStmt(s: Stmt, v: Visitor): void {
  v.stmt?.(s);
  const expr = (x: Expr | null): void => { if (x !== null) walkExpr(x, v); };
  const stmt = (x: Stmt | null): void => { if (x !== null) walkStmt(x, v); };
  const variable = (d: VariableDecl | null): void => { if (d !== null) { v.variable?.(d); expr(d.init); } };
  switch (s.kind) {
    case 'compound': s.body.forEach(stmt); break;
    case 'declare': s.variables.forEach(variable); break;
    case 'expression': expr(s.expression); break;
    case 'empty': case 'break': case 'continue': case 'goto': case 'opaque': break;
    case 'if': stmt(s.init); variable(s.conditionDecl); expr(s.condition); stmt(s.then); stmt(s.else); break;
    case 'for': stmt(s.init); variable(s.conditionDecl); expr(s.condition); expr(s.step); stmt(s.body); break;
    case 'range-for': expr(s.range); variable(s.variable); stmt(s.body); break;
    case 'while': variable(s.conditionDecl); expr(s.condition); stmt(s.body); break;
    case 'do': stmt(s.body); expr(s.condition); break;
    case 'switch':
      stmt(s.init); variable(s.conditionDecl); expr(s.condition);
      for (const arm of s.arms) { arm.labels.forEach(expr); arm.body.forEach(stmt); }
      break;
    case 'return': expr(s.value); break;
    case 'label': stmt(s.body); break;
    case 'asm': s.outputs.forEach(expr); s.inputs.forEach(expr); break;
    case 'preprocessor': for (const arm of s.arms) if (arm.active) arm.body.forEach(stmt); break;
    case 'macro-statement': stmt(s.expanded); break;
  }
}
