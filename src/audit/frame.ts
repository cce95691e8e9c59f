/** A function of an audit together with how it was reached: facts of its body in this context, and the frame of its caller. */
import type { FunctionFacts } from '../analysis/facts.js';
import type { CallExpr } from '../syntax/tree.js';

export interface Frame {
  readonly facts: FunctionFacts;
  /** The call in the outer frame that leads here; null for the kernel. */
  readonly call: CallExpr | null;
  readonly outer: Frame | null;
}

export function kernelFrame(facts: FunctionFacts): Frame {
  return { facts, call: null, outer: null };
}

/** How often a node of the frame runs per thread of the kernel, from the trip counts of all loops around it and around its calls. */
export function executionsOf(frame: Frame, node: Parameters<FunctionFacts['loops']>[0]): number {
  let count = 1;
  let at: Parameters<FunctionFacts['loops']>[0] | null = node;
  for (let here: Frame | null = frame; here !== null && at !== null; here = here.outer) {
    for (const loop of here.facts.loops(at)) {
      if (isIn(loop.kind === 'for' ? loop.init : null, at) || loop === at) continue;
      count *= Math.max(1, here.facts.trips(loop).count);
    }
    at = here.call;
  }
  return count;
}

/** True if the node runs once for a thread of the kernel. */
export function runsOnce(frame: Frame, node: Parameters<FunctionFacts['loops']>[0]): boolean {
  let at: Parameters<FunctionFacts['loops']>[0] | null = node;
  for (let here: Frame | null = frame; here !== null && at !== null; here = here.outer) {
    if (here.facts.loops(at).some((loop) => loop !== at)) return false;
    at = here.call;
  }
  return true;
}

function isIn(part: { readonly span: { readonly start: number; readonly end: number } } | null, node: { readonly span: { readonly start: number; readonly end: number } }): boolean {
  return part !== null && node.span.start >= part.span.start && node.span.end <= part.span.end;
}
