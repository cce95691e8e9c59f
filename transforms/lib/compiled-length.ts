/** Instructions of statements with their loops unrolled as the compiler does it: the static model counts each iteration's test and jump. */
import { forEachChild, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Stmt } from '../../src/syntax/tree.js';

/** Counter, test and jump of an iteration that the compiler's unrolling by four saves. */
const UNROLLED = 2.5;
/** Constant trip counts up to which the model takes the loop as unrolled already. */
const SHORT = 16;

export function compiledLength(facts: FunctionFacts, stmts: readonly Stmt[]): number {
  const cost = stmts.reduce((sum, stmt) => sum + facts.cost(stmt).instructions, 0);
  let iterations = 0;
  const visit = (node: Node, times: number): void => {
    const loop = node.kind === 'for' || node.kind === 'while' || node.kind === 'do' || node.kind === 'range-for';
    const trips = loop ? facts.trips(node) : null;
    const inside = trips === null ? times : times * Math.max(1, trips.count);
    if (trips !== null && (trips.origin !== 'constant' || trips.count > SHORT)) iterations += inside;
    forEachChild(node, (child) => visit(child, inside));
  };
  for (const stmt of stmts) visit(stmt, 1);
  return Math.max(cost / 3, cost - UNROLLED * iterations);
}
