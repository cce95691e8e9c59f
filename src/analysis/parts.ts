/**
 * Direct parts of a node of the typed tree as they are written, in the order of evaluation as far as C++ fixes it.
 *
 * One place knows which fields of a node hold nodes. What runs there without being written is added by children.ts, on which the walks of this room are
 * made. Parts that are not evaluated are
 * left out: operands of `sizeof`, array lengths, template arguments, inactive arms of `#if`. The body of a lambda is a part of the
 * lambda expression (its text stands there although it runs elsewhere); walks that must not enter it test for it.
 */
import type { Expr, Stmt } from '../syntax/tree.js';
import { unreachable } from '../syntax/tree.js';

export type Node = Expr | Stmt;

const NO_PARTS: readonly Expr[] = [];

const STATEMENTS: ReadonlySet<string> = new Set([
  'compound', 'declare', 'expression', 'empty', 'if', 'for', 'range-for', 'while', 'do', 'switch', 'break', 'continue', 'return', 'goto', 'label',
  'asm', 'preprocessor', 'macro-statement',
]);

/** True for statements. `opaque` is both: an opaque expression has a type. */
export function isStmt(node: Node): node is Stmt {
  return STATEMENTS.has(node.kind) || (node.kind === 'opaque' && !('type' in node));
}

/**
 * Calls `visit` for each direct part as written. True if something may run at the node besides, for all that its kind and type tell. The kinds that are met
 * most often come first: this is the inner loop of every walk.
 */
export function forEachPart(node: Node, visit: (child: Node) => void): boolean {
  switch (node.kind) {
    case 'ref': return node.type.kind === 'record';
    case 'literal': case 'coordinate': return false;
    case 'binary': visit(node.left); visit(node.right); return false;
    case 'index': visit(node.base); visit(node.index); return node.type.kind === 'record';
    case 'paren': visit(node.inner); return false;
    case 'member': visit(node.object); return node.type.kind === 'record';
    case 'expression': visit(node.expression); return false;
    // Since C++17 the right side of an assignment comes first.
    case 'assign': visit(node.value); visit(node.target); return node.target.type.kind === 'record';
    case 'call':
      if (node.callee.kind === 'method') visit(node.callee.object);
      else if (node.callee.kind === 'value') visit(node.callee.value);
      for (const argument of node.arguments) visit(argument);
      return true;
    case 'declare': for (const variable of node.variables) if (variable.init !== null) visit(variable.init); return true;
    case 'cast': case 'unary': visit(node.operand); return node.type.kind === 'record';
    case 'compound': for (const statement of node.body) visit(statement); return true;
    case 'macro': visit(node.expanded); return false;
    case 'update': visit(node.target); return false;
    case 'conditional': visit(node.condition); visit(node.then); visit(node.else); return node.type.kind === 'record';
    case 'construct': for (const argument of node.arguments) visit(argument); return node.type.kind === 'record';
    case 'init-list': for (const element of node.elements) visit(element); return node.type.kind === 'record' || node.type.kind === 'array';
    case 'lambda': visit(node.body); return true;
    case 'opaque':
      if (!('type' in node)) return false;
      for (const part of node.parts ?? NO_PARTS) visit(part);
      return node.life !== undefined;
    case 'this': case 'sizeof': return false;
    default: statementChildren(node, visit); return true;
  }
}

function statementChildren(node: Exclude<Stmt, { readonly kind: 'compound' | 'declare' | 'expression' | 'opaque' }>, visit: (child: Node) => void): void {
  switch (node.kind) {
    case 'empty': case 'break': case 'continue': case 'goto': return;
    case 'if':
      if (node.init !== null) visit(node.init);
      if (node.conditionDecl !== null && node.conditionDecl.init !== null) visit(node.conditionDecl.init);
      visit(node.condition); visit(node.then);
      if (node.else !== null) visit(node.else);
      return;
    case 'for':
      visit(node.init);
      if (node.conditionDecl !== null && node.conditionDecl.init !== null) visit(node.conditionDecl.init);
      if (node.condition !== null) visit(node.condition);
      visit(node.body);
      if (node.step !== null) visit(node.step);
      return;
    case 'range-for': visit(node.range); visit(node.body); return;
    case 'while':
      if (node.conditionDecl !== null && node.conditionDecl.init !== null) visit(node.conditionDecl.init);
      visit(node.condition); visit(node.body);
      return;
    case 'do': visit(node.body); visit(node.condition); return;
    case 'switch':
      if (node.init !== null) visit(node.init);
      if (node.conditionDecl !== null && node.conditionDecl.init !== null) visit(node.conditionDecl.init);
      visit(node.condition);
      for (const arm of node.arms) for (const statement of arm.body) visit(statement);
      return;
    case 'return': if (node.value !== null) visit(node.value); return;
    case 'label': visit(node.body); return;
    case 'asm':
      for (const input of node.inputs) visit(input);
      for (const output of node.outputs) visit(output);
      return;
    case 'preprocessor':
      for (const arm of node.arms) if (arm.active) for (const statement of arm.body) visit(statement);
      return;
    case 'macro-statement': visit(node.expanded); return;
    default: unreachable(node);
  }
}
