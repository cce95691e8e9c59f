/**
 * Loops that test before each iteration, and tests that may be taken once more.
 */
import type { FunctionFacts, Loop } from '../../../src/analysis/facts.js';
import type { Expr, ForStmt, WhileStmt } from '../../../src/syntax/tree.js';

export type PeelableLoop = ForStmt | WhileStmt;

export function isPeelable(loop: Loop): loop is PeelableLoop {
  return (loop.kind === 'for' || loop.kind === 'while') && loop.conditionDecl === null && loop.condition !== null;
}

/** The test may be taken once more than before: no effects, no volatile and no atomic reads. */
export function isRepeatable(facts: FunctionFacts, test: Expr): boolean {
  const effects = facts.effects(test);
  return effects.assigns.size === 0 && effects.barriers.length === 0 && effects.collectives.length === 0 && effects.fences.length === 0 && effects.atomics.length === 0
    && effects.unknownCalls.length === 0 && effects.visible.length === 0 && effects.asm.length === 0 && effects.opaque.length === 0
    && effects.accesses.every((access) => access.kind === 'read' && !access.volatile);
}
