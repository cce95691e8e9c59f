/** What the declarations of an arm could meet where its braces go. */
import type { Node } from '../../../src/analysis/children.js';
import type { Stmt, Type } from '../../../src/syntax/tree.js';

/** Nothing happens at the end of its life: plain values, and CUDA's own vectors of them. */
export function diesSilently(type: Type): boolean {
  switch (type.kind) {
    case 'bool': case 'int': case 'float': case 'pointer': case 'enum': return true;
    case 'array': return diesSilently(type.of);
    case 'record': return type.decl.vector !== null;
    default: return false;
  }
}

/** Statements that may declare names for those behind them. */
export function mayDeclare(stmt: Stmt): boolean {
  switch (stmt.kind) {
    case 'declare': case 'preprocessor': case 'opaque': return true;
    case 'macro-statement': return stmt.expanded.kind === 'compound' ? stmt.expanded.body.some(mayDeclare) : mayDeclare(stmt.expanded);
    case 'label': return mayDeclare(stmt.body);
    default: return false;
  }
}

export function headNames(head: Node | null): readonly string[] {
  if (head === null) return [];
  const names: string[] = [];
  if ('init' in head && head.init !== null && head.init.kind === 'declare') names.push(...head.init.variables.map(({ name }) => name));
  if ('conditionDecl' in head && head.conditionDecl !== null) names.push(head.conditionDecl.name);
  if (head.kind === 'range-for') names.push(head.variable.name);
  return names;
}
