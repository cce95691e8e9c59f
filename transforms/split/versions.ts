/**
 * Branches that choose between two versions of one loop, which peel writes: without the guards where they hold throughout, and as it was.
 *
 *     if (k <= n) for (…) { X; } else for (…) { if (i < n) X; }
 *
 * In a kernel of the second arm alone nothing would show that the guard was tested: peel would write both versions anew there, and so on.
 */
import { isStmt, strip, walk } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Expr, IfStmt, Stmt } from '../../src/syntax/tree.js';
import { codeOf } from '../lib/equality.js';
import { lacks, namesNoMore, sameStep, stepCode } from '../lib/guards/finished.js';
import { guardsIn } from '../lib/guards/guards.js';
import { isPeelable, type PeelableLoop } from '../lib/guards/tested-loop.js';
import { soleValue } from './host-text.js';

/** The loop that keeps its guards, and the one in the other arm that does without some of them; null where the arms are no two versions of a loop. */
export function versionsIn(facts: FunctionFacts, branch: IfStmt): { readonly whole: PeelableLoop; readonly interior: PeelableLoop } | null {
  const { condition, then, else: other } = branch;
  if (other === null || !isLimits(facts, condition)) return null;
  const [first, second] = [loopsIn(then), loopsIn(other)];
  for (const [wholes, interiors] of [[second, first], [first, second]] as const) {
    for (const whole of wholes) {
      const beside = interiors.filter((loop) => loop.kind === whole.kind && endCode(facts, loop) === endCode(facts, whole) && (stepCode(facts, loop) === stepCode(facts, whole) || sameStep(facts, whole, loop)));
      if (beside.length === 0) continue;
      const guards = guardsIn(facts, whole);
      const interior = beside.find((loop) => guards.some((guard) => lacks(facts, loop, [guard])) && namesNoMore(loop, whole, branch));
      if (interior !== undefined) return { whole, interior };
    }
  }
  return null;
}

/** What a loop goes on by: both versions do the same rounds. */
function endCode(facts: FunctionFacts, { condition }: PeelableLoop): string {
  return condition === null ? '' : codeOf(facts.unit.source, condition.span);
}

/** What a test in front of two versions is: inequalities that all hold, or a variable that says so. Flags and modes of the user's own are none. */
function isLimits(facts: FunctionFacts, condition: Expr): boolean {
  const e = strip(condition);
  if (e.kind === 'ref' && e.decl?.kind === 'variable') {
    const value = soleValue(facts, e.decl);
    return value !== null && isLimits(facts, value);
  }
  if (e.kind !== 'binary') return false;
  return e.op === '&&' ? isLimits(facts, e.left) && isLimits(facts, e.right) : e.op === '<' || e.op === '<=' || e.op === '>' || e.op === '>=';
}

function loopsIn(arm: Stmt): readonly PeelableLoop[] {
  const loops: PeelableLoop[] = [];
  walk(arm, (node) => {
    if (node.kind === 'lambda' || node.kind === 'macro-statement') return false;
    if (isStmt(node) && (node.kind === 'for' || node.kind === 'while') && isPeelable(node)) loops.push(node);
    return true;
  });
  return loops;
}
