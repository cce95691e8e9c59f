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

/** How often a node runs for a thread of the kernel. */
export interface Reach {
  /** The product of the trip counts of all loops around it and around its calls. */
  readonly executions: number;
  /** No loop stands around. */
  readonly once: boolean;
}

type Place = Parameters<FunctionFacts['loops']>[0];

export function reachOf(frame: Frame, node: Place): Reach {
  let executions = 1;
  let once = true;
  let at: Place | null = node;
  for (let here: Frame | null = frame; here !== null && at !== null; here = here.outer) {
    for (const loop of here.facts.loops(at)) {
      if (loop === at) continue;
      once = false;
      if (!isIn(loop.kind === 'for' ? loop.init : null, at)) executions *= Math.max(1, here.facts.trips(loop).count);
    }
    at = here.call;
  }
  return { executions, once };
}

function isIn(part: { readonly span: { readonly start: number; readonly end: number } } | null, node: { readonly span: { readonly start: number; readonly end: number } }): boolean {
  return part !== null && node.span.start >= part.span.start && node.span.end <= part.span.end;
}
