/**
 * What compact:grid moves: from the start of the heavy code to the end of the kernel.
 *
 *     before; if (p) heavy else light; tail          if (p) { heavy; tail } else { light; tail }
 *
 * Both are the same program. An item that is heavy is written to the list in place of `heavy`, and everything behind that point, the tail
 * included, is done by the kernel over the list; all other items go the old way in the first kernel. So nothing has to come back from the list.
 */
import { isStmt, walk, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { CompoundStmt, FunctionDecl, IfStmt, ReturnStmt, Stmt } from '../../src/syntax/tree.js';

export interface GridShape {
  readonly branch: IfStmt;
  /** The arm that is heavy; null where the branch returns and all behind it is. */
  readonly arm: Stmt | null;
  readonly heavy: readonly Stmt[];
  /** What runs behind the branch, innermost block first. */
  readonly tail: readonly (readonly Stmt[])[];
  /** What runs before it, outermost block first. */
  readonly before: readonly (readonly Stmt[])[];
  /** Branches whose heads are passed on the way, outermost first, the branch itself last. */
  readonly guards: readonly IfStmt[];
  /** Something stands behind the heavy statements in the text, whether heavy items come there or not. */
  readonly behind: boolean;
}

/** The shape around a branch of a kernel whose `side` is heavy; null if it stands in a loop, a `switch` or anything else but blocks and branches. */
export function gridShape(facts: FunctionFacts, branch: IfStmt, side: 'then' | 'else' | 'rest'): GridShape | null {
  const { body } = facts.function;
  if (body === null) return null;
  const tail: (readonly Stmt[])[] = [];
  const before: (readonly Stmt[])[] = [];
  const guards: IfStmt[] = [branch];
  let rest: readonly Stmt[] = [];
  let at: Node = branch;
  for (let parent = facts.parent(branch); ; at = parent, parent = facts.parent(parent)) {
    if (parent === null || !isStmt(parent)) return at === body ? finish() : null;
    if (parent.kind === 'compound') {
      const { body: list }: CompoundStmt = parent;
      const index = list.findIndex((statement) => statement === at);
      if (index < 0) return null;
      before.unshift(list.slice(0, index));
      const behind = list.slice(index + 1);
      if (at === branch && side === 'rest') rest = behind;
      else if (behind.length > 0) tail.push(behind);
    } else if (parent.kind === 'if') {
      // `else if`: the outer test failed on the way; only its head is passed.
      if (side === 'rest' && at === branch) return null;
      guards.unshift(parent);
    } else {
      return null;
    }
    if (parent === body) return finish();
  }

  function finish(): GridShape | null {
    if (side === 'rest') return rest.length === 0 || !endsInReturn(branch.then) || branch.else !== null ? null : made(null, rest);
    const arm = side === 'then' ? branch.then : branch.else;
    return arm === null ? null : made(arm, arm.kind === 'compound' ? arm.body : [arm]);
  }

  function made(arm: Stmt | null, list: readonly Stmt[]): GridShape | null {
    const behind = tail.length > 0;
    const last = list.at(-1);
    // What ends the kernel never comes to the tail, and need not be said at the end of an item.
    const ends = last !== undefined && endsInReturn(last);
    const heavy = ends && last.kind === 'return' ? list.slice(0, -1) : list;
    if (heavy.every((stmt) => stmt.kind === 'empty')) return null;
    return { branch, arm, heavy, tail: ends ? [] : tail, before, guards, behind };
  }
}

/** Every path through the statement ends the kernel. */
export function endsInReturn(stmt: Stmt): boolean {
  switch (stmt.kind) {
    case 'return': return true;
    case 'compound': { const last = stmt.body.at(-1); return last !== undefined && endsInReturn(last); }
    case 'if': return stmt.else !== null && endsInReturn(stmt.then) && endsInReturn(stmt.else);
    default: return false;
  }
}

/** All that the kernel over the list does with an item, in order. */
export function continuation(shape: GridShape): readonly Stmt[] {
  return [...shape.heavy, ...shape.tail.flat()];
}

/** `return` statements of the kernel's own body; those of lambdas belong to the lambdas. */
export function returnsIn(nodes: readonly Node[]): readonly ReturnStmt[] {
  const found: ReturnStmt[] = [];
  for (const root of nodes) {
    walk(root, (node) => {
      if (node.kind === 'lambda') return false;
      if (node.kind === 'return') found.push(node);
      return true;
    });
  }
  return found;
}

/** Statements of the function that the first kernel may run for an item that is not heavy, or before it is known to be: all but the heavy ones. */
export function passRoots(fn: FunctionDecl, shape: GridShape): readonly Node[] {
  if (fn.body === null) return [];
  const heavy = new Set<Node>(shape.arm === null ? shape.heavy : [shape.arm]);
  const roots: Node[] = [];
  const visit = (node: Node): void => {
    if (heavy.has(node)) return;
    if (![...heavy].some((part) => node.span.start <= part.span.start && part.span.end <= node.span.end)) { roots.push(node); return; }
    if (node.kind === 'compound') for (const statement of node.body) visit(statement);
    else if (node.kind === 'if') {
      roots.push(node.condition);
      visit(node.then);
      if (node.else !== null) visit(node.else);
    } else roots.push(node);
  };
  visit(fn.body);
  return roots;
}
