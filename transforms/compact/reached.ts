/**
 * Which of a thread's own variables may be read or written by something that does not name them: through an address that was taken, a reference that a callee was lent (`pick(q)` may give
 * back `&q`), a method, operator or conversion of an object, a capture.
 */
import type { FunctionFacts, Variable } from '../../src/analysis/facts.js';
import { indexFunction } from '../../src/analysis/function-index.js';
import { structureOf } from '../../src/analysis/structure.js';
import type { FunctionDecl, Stmt } from '../../src/syntax/tree.js';
import { isInside } from './region.js';

const memo = new WeakMap<FunctionDecl, ReadonlySet<Variable>>();

/** Variables (parameters included) of the function that may be reached without their names. */
export function reachedUnnamed({ function: fn }: Pick<FunctionFacts, 'function'>): ReadonlySet<Variable> {
  const known = memo.get(fn);
  if (known !== undefined) return known;
  const index = indexFunction(fn);
  const structure = structureOf(fn);
  const made = new Set<Variable>([...index.exposed, ...index.lent, ...structure.escaped, ...structure.addressed]);
  for (const decl of index.declared) {
    const { type } = decl;
    // A record's methods, operators and conversions may give its address to anybody.
    if (decl.kind === 'variable' && (type.kind === 'array' || type.kind === 'unknown' || type.kind === 'dependent' || (type.kind === 'record' && type.decl.vector === null))) made.add(decl);
  }
  memo.set(fn, made);
  return made;
}

/** One of them that is there when the heavy part begins; null if there is none. */
export function reachedFromOutside(facts: Pick<FunctionFacts, 'function'>, heavy: readonly Stmt[]): Variable | null {
  for (const decl of reachedUnnamed(facts)) if (!isInside(decl, heavy)) return decl;
  return null;
}
