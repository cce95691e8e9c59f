/**
 * The values that a loop's counter takes round by round, where constants and the shape of the block tell: `for (k = blockDim.x / 2; k > 0; k >>= 1)` in a block of 256 runs with 128, 64, … 1.
 *
 * The counter is stepped in one place, in every round, and not asked for behind it. Values are mathematical integers, as in agreement.ts. Not handled (null): counters that differ between threads or
 * are stepped anywhere else, loops that test at their end, and counters whose start, bound or step is not known.
 */
import type { Node } from '../../analysis/children.js';
import type { BlockShape, Definition, Loop } from '../../analysis/facts.js';
import type { Decl, Expr, RefExpr } from '../../syntax/tree.js';
import { oneForAll, type Bindings } from './agreement.js';
import { refsIn } from './voted-masks.js';
import type { Spot } from './scene.js';

/** Rounds that are followed: enough for distances that halve or double. */
const MAX_STEPS = 24;

export interface Rounds { readonly variable: Decl; readonly values: readonly number[]; /** False if more follow. */ readonly complete: boolean }

export function roundsOf(loop: Loop, spot: Spot, shape: BlockShape, outer: Bindings | null): Rounds | null {
  if (loop.kind === 'range-for' || loop.kind === 'do' || loop.condition === null) return null;
  const { condition } = loop;
  for (const ref of refsIn(condition)) {
    const step = stepOf(ref, loop, spot);
    if (step === null) continue;
    const start = startOf(ref, loop, spot);
    const first = start === null ? null : oneForAll(start, spot, shape, outer);
    if (first === null || ref.decl === null) return null;
    const values: number[] = [];
    let value = first;
    for (;;) {
      const bound = new Map([...(outer ?? []), [ref.decl, value] as const]);
      const goes = oneForAll(condition, spot, shape, bound);
      if (goes === null) return null;
      if (goes === 0) return { variable: ref.decl, values, complete: true };
      if (values.length === MAX_STEPS) return { variable: ref.decl, values, complete: false };
      values.push(value);
      const next = stepped(step, value, spot, shape, bound);
      if (next === null) return null;
      value = next;
    }
  }
  return null;
}

type Step = Expr & { readonly kind: 'assign' | 'update' };

/** The only assignment of the variable in the loop, if it ends each round. */
function stepOf(ref: RefExpr, loop: Loop, spot: Spot): Step | null {
  const { decl } = ref;
  if (decl === null || (decl.kind !== 'variable' && decl.kind !== 'parameter') || spot.facts.addressTaken(decl)) return null;
  const [only, ...others] = spot.facts.assignments(decl, loop);
  // The declaration in the head of a `for` is its start.
  const steps = [only, ...others].filter((one): one is Definition & { kind: 'assignment' } => one !== undefined && one.kind === 'assignment' && !(loop.kind === 'for' && within(one.node, loop.init)));
  const step = steps[0];
  if (steps.length !== 1 || step === undefined || [only, ...others].some((one) => one !== undefined && one.kind === 'unknown')) return null;
  const { node } = step;
  if (node.kind !== 'assign' && node.kind !== 'update') return null;
  if (loop.kind === 'for' && loop.step !== null && within(node, loop.step)) return node;
  // A statement of its own, behind which the round does not ask for the counter.
  const stands = loop.body.kind === 'compound' && loop.body.body.some((one) => one.kind === 'expression' && within(node, one));
  return stands && spot.facts.uses(decl).every((use) => !within(use, loop.body) || use.span.start < node.span.end) ? node : null;
}

function within(node: Node, around: Node): boolean {
  return around.span.start <= node.span.start && node.span.end <= around.span.end;
}

/** What the variable starts with. */
function startOf(ref: RefExpr, loop: Loop, spot: Spot): Expr | null {
  const before = spot.facts.definitions(ref).filter((one) => one.kind !== 'assignment' || !within(one.node, loop) || (loop.kind === 'for' && within(one.node, loop.init)));
  const only = before[0];
  if (before.length !== 1 || only === undefined) return null;
  if (only.kind === 'declaration') return only.decl.opaqueInit ? null : only.decl.init;
  return only.kind === 'assignment' && only.node.kind === 'assign' && only.node.op === null ? only.node.value : null;
}

function stepped(step: Step, value: number, spot: Spot, shape: BlockShape, bound: Bindings): number | null {
  if (step.kind === 'update') return step.op === '++' ? value + 1 : value - 1;
  const by = oneForAll(step.value, spot, shape, bound);
  if (by === null) return null;
  switch (step.op) {
    case null: return by;
    case '+': return value + by;
    case '-': return value - by;
    case '*': return value * by;
    case '/': return by === 0 ? null : Math.trunc(value / by);
    case '<<': return value * 2 ** by;
    case '>>': return Math.floor(value / 2 ** by);
    default: return null;
  }
}
