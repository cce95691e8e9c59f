/**
 * Branches that may divide a kernel into two: `if (c) X else Y` outside of loops, `if (c) { X; return; } Y`, or at the edges of an index
 * space `if (c) X` and `if (c) return; X`.
 */
import { forEachChild, isStmt, type Node } from '../../src/analysis/children.js';
import type { CompoundStmt, FunctionDecl, IfStmt, Stmt } from '../../src/syntax/tree.js';

export interface SplitBranch {
  readonly stmt: IfStmt;
  /** Statements of the list that the branch stands in; null below a head without braces. */
  readonly list: CompoundStmt | null;
  readonly form:
    /** Both arms are written out. */
    | 'else'
    /** The first arm returns: what follows in the body is the second. */
    | 'return'
    /** There is no second arm, and behind a bare `return` no first one: only the edges of an index space make two populations of that. */
    | 'alone';
  /** Nothing runs behind the branch, and nothing around it repeats it. */
  readonly last: boolean;
}

/** In the order of the text; branches in loops, lambdas and macros are left out. */
export function branchesOf(fn: FunctionDecl): readonly SplitBranch[] {
  const found: SplitBranch[] = [];
  if (fn.body === null) return found;
  const { body } = fn;
  const visit = (stmt: Stmt, list: CompoundStmt | null, top: boolean, last: boolean): void => {
    switch (stmt.kind) {
      case 'compound':
        stmt.body.forEach((child, i) => visit(child, stmt, top && stmt === body, last && behind(stmt, i)));
        return;
      case 'if':
        if (!stmt.constexpr && stmt.init === null && stmt.conditionDecl === null) {
          if (stmt.else !== null) found.push({ stmt, list, form: 'else', last });
          else if (top && list !== null && returns(stmt.then) && works(stmt.then) && list.body.indexOf(stmt) < list.body.length - 1) found.push({ stmt, list, form: 'return', last: true });
          else found.push({ stmt, list, form: 'alone', last: false });
        }
        visit(stmt.then, null, false, last);
        if (stmt.else !== null) visit(stmt.else, null, false, last);
        return;
      case 'preprocessor': case 'macro-statement': case 'for': case 'range-for': case 'while': case 'do': case 'switch': case 'label':
      case 'declare': case 'expression': case 'empty': case 'break': case 'continue': case 'return': case 'goto': case 'asm': case 'opaque':
        return;
      default: {
        const never: never = stmt;
        throw new Error(`internal: ${String(never)}`);
      }
    }
  };
  visit(body, null, true, true);
  return found;
}

/** Nothing but empty statements and a bare `return` behind the i-th. */
function behind(list: CompoundStmt, i: number): boolean {
  return list.body.slice(i + 1).every((stmt) => stmt.kind === 'empty' || (stmt.kind === 'return' && stmt.value === null));
}

/** Ends in `return;`. */
export function returns(stmt: Stmt): boolean {
  if (stmt.kind === 'return') return stmt.value === null;
  return stmt.kind === 'compound' && stmt.body.length > 0 && returns(stmt.body[stmt.body.length - 1] ?? stmt);
}

/** Does more than to return: a guard has no second population. */
export function works(stmt: Stmt): boolean {
  return stmt.kind === 'compound' && stmt.body.some((child) => child.kind !== 'return' && child.kind !== 'empty');
}

/** What the kernel runs besides the branch: statements, and conditions around it. */
export function outside(fn: FunctionDecl, branch: SplitBranch): readonly Node[] {
  const result: Node[] = [];
  const visit = (node: Node): void => {
    if (node === branch.stmt) return;
    if (isStmt(node) && node.span.start <= branch.stmt.span.start && branch.stmt.span.end <= node.span.end) {
      forEachChild(node, visit);
    } else {
      result.push(node);
    }
  };
  if (fn.body !== null) visit(fn.body);
  return result;
}
