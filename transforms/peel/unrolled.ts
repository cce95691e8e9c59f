/**
 * Loops that stay whole: the compiler unrolls them, or must to keep an array of the thread in registers.
 */
import { isStmt, strip, walk } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Decl, Expr } from '../../src/syntax/tree.js';
import type { PeelableLoop } from '../lib/guards/tested-loop.js';
import { describeLoop } from '../lib/loops.js';
import type { Counter } from './counters.js';

/** The compiler unrolls it: a constant number of iterations, or a bound made of template values. */
export function isUnrolled(facts: FunctionFacts, loop: PeelableLoop): boolean {
  if (facts.trips(loop).origin === 'constant') return true;
  return loop.condition !== null && boundIsConstant(facts, loop);
}

function boundIsConstant(facts: FunctionFacts, loop: PeelableLoop): boolean {
  const induction = describeLoop(facts, loop);
  if (!induction.simple || induction.start === null) return false;
  return [induction.bound, induction.start].every((expr) => facts.constant(expr) !== null || facts.scope(expr).value === 'constant');
}

/** `#pragma unroll` without a number: the author expects a constant number of iterations. (Each run may be unrolled by a number.) */
export function asksToUnroll(loop: PeelableLoop): boolean {
  return loop.pragmas.some(({ text }) => /\bunroll\s*$/.test(text));
}

/** An array of the thread's own is indexed by what the loop counts: in registers only as long as every index is a constant. */
export function indexesOwnArray(facts: FunctionFacts, loop: PeelableLoop, counter: Counter): boolean {
  const step = loop.kind === 'for' ? loop.step : null;
  const moved = new Set<Decl>([counter.variable, ...(step === null ? [] : facts.effects(step).assigns)]);
  let found = false;
  walk(loop.body, (node) => {
    if (!isStmt(node) && node.kind === 'index' && isOwnArray(node.base) && mentions(node.index, moved)) found = true;
    return !found;
  });
  return found;
}

function isOwnArray(expr: Expr): boolean {
  const base = strip(expr);
  if (base.kind === 'index') return isOwnArray(base.base);
  return base.kind === 'ref' && base.decl?.kind === 'variable' && base.decl.space === 'local' && base.decl.storage === 'automatic' && base.decl.type.kind === 'array';
}

function mentions(expr: Expr, decls: ReadonlySet<Decl>): boolean {
  let found = false;
  walk(expr, (node) => {
    found ||= !isStmt(node) && node.kind === 'ref' && node.decl !== null && decls.has(node.decl);
    return !found;
  });
  return found;
}
