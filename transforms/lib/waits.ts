/**
 * Lanes that wait for one another: where a lane may hold a lock or is polled for, one more vote makes it wait for those that wait for it.
 */
import { isStmt, walk } from '../../src/analysis/children.js';
import { atLeast, type FunctionFacts, type Loop } from '../../src/analysis/facts.js';
import type { Expr, FunctionDecl, Stmt } from '../../src/syntax/tree.js';

export type Wait =
  | { readonly kind: 'loop'; readonly node: Stmt; readonly facts: FunctionFacts }
  | { readonly kind: 'call'; readonly node: Stmt | Expr; readonly facts: FunctionFacts };

/** A loop that lanes leave at different times by what atomics or volatile memory say, or a call that may hold one; null if there is none. */
export function waitIn(facts: FunctionFacts, seen: Set<FunctionDecl> = new Set()): Wait | null {
  const { body } = facts.function;
  if (body === null || seen.has(facts.function)) return null;
  seen.add(facts.function);
  const effects = facts.effects(body);
  const [strange] = effects.unknownCalls;
  if (strange !== undefined) return { kind: 'call', node: strange, facts };
  const [opaque] = effects.opaque;
  if (opaque !== undefined) return { kind: 'call', node: opaque, facts };
  const shares = effects.atomics.length > 0 || effects.asm.length > 0 || effects.fences.length > 0 || effects.accesses.some((access) => access.volatile);
  if (!shares) return null;
  let found: Wait | null = null;
  walk(body, (node) => {
    if (found !== null) return false;
    if (isStmt(node) && isLoop(node) && polls(facts, node)) found = { kind: 'loop', node, facts };
    return found === null;
  });
  if (found !== null) return found;
  for (const { call, callees } of facts.calls) {
    for (const callee of callees) {
      const inner = waitIn(facts.callee(call, callee), seen);
      if (inner !== null) return inner;
    }
  }
  return null;
}

function isLoop(stmt: Stmt): stmt is Loop {
  return stmt.kind === 'for' || stmt.kind === 'while' || stmt.kind === 'do' || stmt.kind === 'range-for';
}

function polls(facts: FunctionFacts, loop: Loop): boolean {
  const exit = facts.loopExit(loop);
  if (exit.known && atLeast(exit.value, 'warp')) return false;
  // A number of iterations that thread coordinates alone decide ends whatever other lanes do.
  if (exit.known && !exit.sources.data) return false;
  const { atomics, asm, fences, accesses } = facts.effects(loop);
  return atomics.length > 0 || asm.length > 0 || fences.length > 0 || accesses.some((access) => access.volatile);
}
