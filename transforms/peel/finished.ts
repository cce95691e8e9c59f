/**
 * Recognises what peel has written: a loop beside which the same loop stands with guards left out. A run that keeps its guards is not
 * peeled again.
 */
import { isStmt, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts, Loop } from '../../src/analysis/facts.js';
import type { Stmt } from '../../src/syntax/tree.js';
import { codeOf } from '../lib/equality.js';
import type { SourceFile } from '../../src/source/types.js';

/** The loop beside this one that equals it up to guards; null if there is none. */
export function finishedBeside(facts: FunctionFacts, loop: Loop): Loop | null {
  for (const other of neighbours(facts, loop)) if (isPeeled(facts.unit.source, other, loop)) return other;
  return null;
}

/** Loops next to this one in its list of statements, and the loop that starts the other arm of the `if` it stands in. */
function neighbours(facts: FunctionFacts, loop: Loop): readonly Loop[] {
  const parent = facts.parent(loop);
  if (parent === null || !isStmt(parent)) return [];
  const result: Loop[] = [];
  if (parent.kind === 'compound') {
    const index = parent.body.indexOf(loop);
    for (const step of [-1, 1]) {
      let at = index + step;
      // Constants that a bound needs may stand between the runs.
      while (parent.body[at]?.kind === 'declare') at += step;
      const other = parent.body[at];
      if (other !== undefined && isLoop(other)) result.push(other);
    }
  }
  const arm: Node = parent.kind === 'compound' && parent.body.length === 1 ? parent : loop;
  const branch = facts.parent(arm);
  if (branch !== null && isStmt(branch) && branch.kind === 'if' && branch.else !== null) {
    const other = firstOf(branch.then === arm ? branch.else : branch.then);
    if (other !== null && isLoop(other)) result.push(other);
  }
  return result;
}

function firstOf(stmt: Stmt): Stmt | null {
  return stmt.kind === 'compound' ? (stmt.body.length === 1 ? stmt.body[0] ?? null : null) : stmt;
}

function isLoop(stmt: Stmt): stmt is Loop {
  return stmt.kind === 'for' || stmt.kind === 'while' || stmt.kind === 'do' || stmt.kind === 'range-for';
}

function isPeeled(source: SourceFile, peeled: Loop, whole: Loop): boolean {
  if (peeled.kind !== whole.kind) return false;
  if (peeled.kind === 'for' && whole.kind === 'for') {
    const steps = [peeled.step, whole.step].map((step) => (step === null ? '' : codeOf(source, step.span)));
    if (steps[0] !== steps[1]) return false;
  }
  const few = tokensOf(codeOf(source, peeled.body.span));
  const all = tokensOf(codeOf(source, whole.body.span));
  return few.length < all.length + 2 && isThinned(few, all);
}

function tokensOf(code: string): readonly string[] {
  return code.match(/\w+|[^\w\s]/g) ?? [];
}

/** True if `few` comes out of `all` by leaving tokens out; `true` and `false` may stand for what was left out. */
function isThinned(few: readonly string[], all: readonly string[]): boolean {
  let at = 0;
  let missing = 0;
  for (const token of few) {
    let next = at;
    while (next < all.length && all[next] !== token) next++;
    if (next === all.length) {
      if (token === 'true' || token === 'false') continue;
      return false;
    }
    missing += next - at;
    at = next + 1;
  }
  return missing + all.length - at > 0;
}
