/**
 * What the two arms of a branch have in common, in instructions an iteration.
 *
 * The compiler predicates short arms and merges their equal parts: one address, one load, one store for both, with the lanes of either side in
 * it. Taken out of the loop on a condition that lanes differ in, such a part runs in both copies, and a store to the same array goes out twice with half
 * of its lanes. It counts with the statements around the branch.
 */
import { isStmt, strip, walk, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { AssignExpr, Expr } from '../../src/syntax/tree.js';
import { sameExpr } from '../lib/equality.js';
import { variableOf } from '../lib/loops.js';
import { partsOf, type Branch } from './shape.js';

export function sharedWork(facts: FunctionFacts, branch: Branch): number {
  const arms = armsOf(branch);
  if (arms === null) return 0;
  const [first, second] = arms;
  const inSecond = expressionsOf(second);
  const stores = inSecond.filter((expr): expr is AssignExpr => expr.kind === 'assign' && variableOf(expr.target) === null);
  let shared = 0;
  const counted: Expr[] = [];
  const count = (expr: Expr): boolean => {
    if (counted.some((known) => sameExpr(known, expr))) return true;
    if (!inSecond.some((other) => sameExpr(expr, other))) return false;
    counted.push(expr);
    shared += facts.cost(expr).instructions;
    return true;
  };
  for (const node of first) {
    walk(node, (at) => {
      if (isStmt(at)) return true;
      if (at.kind === 'lambda') return false;
      // The store itself, besides the address: as much as a load of it.
      if (at.kind === 'assign' && stores.some((store) => sameExpr(store.target, at.target))) shared += 1;
      return at.kind === 'ref' || at.kind === 'literal' ? true : !count(at);
    });
  }
  // The statement that a `?:` decides has work of its own.
  if (branch.kind === 'ternary') shared += Math.max(0, facts.cost(branch.stmt).instructions - facts.cost(branch.expr).instructions);
  return shared;
}

function armsOf(branch: Branch): readonly [readonly Node[], readonly Node[]] | null {
  switch (branch.kind) {
    case 'if': {
      const [link] = branch.links;
      return branch.links.length === 1 && link !== undefined && link.else !== null ? [partsOf(link.then), partsOf(link.else)] : null;
    }
    case 'ternary': return [[branch.expr.then], [branch.expr.else]];
    case 'switch': return null;
    default: {
      const never: never = branch;
      return never;
    }
  }
}

function expressionsOf(nodes: readonly Node[]): readonly Expr[] {
  const result: Expr[] = [];
  for (const node of nodes) {
    walk(node, (at) => {
      if (isStmt(at)) return true;
      if (at.kind === 'lambda') return false;
      const core = strip(at);
      if (core === at && at.kind !== 'ref' && at.kind !== 'literal') result.push(at);
      return true;
    });
  }
  return result;
}
