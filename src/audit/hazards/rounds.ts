/**
 * The values that a loop's variables take round by round, where constants and the shape of the block tell: `for (k = blockDim.x / 2; k > 0; k >>= 1)` in a block of 256 runs with 128, 64, … 1,
 * and `b ^= 1`, `b = 1 - b`, `b = (b + 1) % 3`, `int t = in; in = out; out = t` name one buffer after the other.
 *
 * A variable is stepped in one place, in every round, and not asked for behind it, so the values of one round together give those of the next. Values are mathematical integers, as in
 * agreement.ts. Where the condition cannot be evaluated the first rounds are told all the same. Not handled: variables that differ between threads or are stepped anywhere else, and those whose
 * start or step is not known.
 */
import { forEachChild, isStmt, type Node } from '../../analysis/children.js';
import type { BlockShape, Definition, Loop, Variable } from '../../analysis/facts.js';
import type { Decl, Expr, RefExpr } from '../../syntax/tree.js';
import { oneForAll, within, type Bindings } from './agreement.js';
import { refsIn } from './voted-masks.js';
import type { Spot } from './scene.js';

/** Rounds that are followed: enough for distances that halve or double. */
const MAX_STEPS = 24;
/** Rounds of a loop of which it is not known when it ends. */
export const OPEN_STEPS = 3;

export interface Rounds { readonly bindings: readonly Bindings[]; /** `some`: more follow, `open`: when it ends is not known. */ readonly extent: 'all' | 'some' | 'open' }

/** Null if no variable is known in any round. `asked` are the names whose values are of interest, besides those of the condition. */
export function roundsOf(loop: Loop, spot: Spot, shape: BlockShape, outer: Bindings | null, asked: readonly RefExpr[]): Rounds | null {
  if (loop.kind === 'range-for') return null;
  // What a `do` tests at its end it has stepped before.
  const condition = loop.kind === 'do' ? null : loop.condition;
  const steps = new Map<Decl, Step>();
  const tried = new Set<Decl>();
  let state = new Map<Decl, number>();
  for (const ref of [...(condition === null ? [] : refsIn(condition)), ...asked]) {
    if (ref.decl === null || tried.has(ref.decl)) continue;
    tried.add(ref.decl);
    const step = stepIn(loop, ref, ref.decl, spot);
    const start = step === null ? null : startOf(ref, loop, spot);
    const first = start === null ? null : held(oneForAll(start, spot, shape, outer), ref.decl);
    if (step === null || first === null) continue;
    steps.set(ref.decl, step);
    state.set(ref.decl, first);
  }
  const bindings: Bindings[] = [];
  while (state.size > 0) {
    const bound: Bindings = new Map([...(outer ?? []), ...[...state].map(([decl, value]) => [decl, { value, loop }] as const)]);
    const goes = condition === null ? null : oneForAll(condition, spot, shape, bound);
    if (goes === 0) return { bindings, extent: 'all' };
    if (goes === null && bindings.length >= OPEN_STEPS) return { bindings: bindings.slice(0, OPEN_STEPS), extent: 'open' };
    if (bindings.length === MAX_STEPS) return { bindings, extent: 'some' };
    bindings.push(bound);
    const next = new Map<Decl, number>();
    for (const decl of state.keys()) {
      const step = steps.get(decl);
      const before = state.get(decl);
      const value = step === undefined || before === undefined ? null : held(stepped(step, before, spot, shape, bound), decl);
      if (value !== null) next.set(decl, value);
    }
    state = next;
  }
  return bindings.length === 0 ? null : { bindings: bindings.slice(0, OPEN_STEPS), extent: 'open' };
}

/** The value as a variable of this type holds it; null where a negative one would be a large one. */
function held(value: number | null, decl: Decl): number | null {
  if (value === null || (decl.kind !== 'variable' && decl.kind !== 'parameter')) return null;
  if (decl.type.kind === 'bool') return Number(value !== 0);
  if (decl.type.kind !== 'int') return null;
  const half = 2 ** (decl.type.bits - 1);
  return value >= (decl.type.signed ? -half : 0) && value < (decl.type.signed ? half : 2 * half) ? value : null;
}

type Step = Expr & { readonly kind: 'assign' | 'update' };

const known = new WeakMap<Loop, Map<Decl, Step | null>>();

/** What steps a variable in a loop is asked for every access in it, and in every round of the loops around. */
function stepIn(loop: Loop, ref: RefExpr, decl: Decl, spot: Spot): Step | null {
  let of = known.get(loop);
  if (of === undefined) known.set(loop, of = new Map());
  const before = of.get(decl);
  if (before !== undefined) return before;
  const step = stepOf(ref, loop, spot);
  of.set(decl, step);
  return step;
}

/** The only assignment of the variable in the loop, if it ends each round. */
function stepOf(ref: RefExpr, loop: Loop, spot: Spot): Step | null {
  const { decl } = ref;
  if (decl === null || (decl.kind !== 'variable' && decl.kind !== 'parameter') || spot.facts.addressTaken(decl)) return null;
  const [only, ...others] = spot.facts.assignments(decl, loop);
  // The declaration in the head of a `for` is its start; one in the body starts anew in every round.
  const steps = [only, ...others].filter((one): one is Definition & { kind: 'assignment' } => one !== undefined && one.kind === 'assignment' && !(loop.kind === 'for' && within(one.node, loop.init)));
  const step = steps[0];
  if (steps.length !== 1 || step === undefined || (decl.kind === 'variable' && within(decl, loop.body)) || [only, ...others].some((one) => one !== undefined && one.kind === 'unknown')) return null;
  const { node } = step;
  if (node.kind !== 'assign' && node.kind !== 'update') return null;
  if (loop.kind === 'for' && loop.step !== null && within(node, loop.step)) return runsWith(node, loop.step, spot) && isLast(node, loop.step, decl, spot) ? node : null;
  // A statement of its own, behind which the round does not ask for the variable, and which no round leaves out.
  const stands = loop.body.kind === 'compound' && loop.body.body.some((one) => one.kind === 'expression' && within(node, one) && runsWith(node, one, spot));
  return stands && !goesOn(loop.body) && isLast(node, loop.body, decl, spot) && (loop.kind !== 'for' || loop.step === null || isLast(node, loop.step, decl, spot)) ? node : null;
}

/** Is the variable not asked for behind its step in this part of the loop? */
function isLast(step: Step, part: Node, decl: Variable, spot: Spot): boolean {
  return spot.facts.uses(decl).every((use) => !within(use, part) || use.span.start < step.span.end);
}

/** Does the step run whenever the expression around it does? */
function runsWith(step: Step, around: Node, spot: Spot): boolean {
  for (let node: Node | null = step; node !== null && node !== around; node = spot.facts.parent(node)) {
    const up = spot.facts.parent(node);
    if (up === null) return false;
    if ((up.kind === 'conditional' && up.condition !== node) || (up.kind === 'binary' && (up.op === '&&' || up.op === '||') && up.right === node)) return false;
  }
  return true;
}

const going = new WeakMap<Node, boolean>();

/** Does a `continue` in the body of the loop leave out what follows? */
function goesOn(body: Node): boolean {
  let found = going.get(body);
  if (found === undefined) {
    found = false;
    const steps: Node[] = [body];
    for (let next = steps.pop(); next !== undefined && !found; next = steps.pop()) {
      if (next.kind === 'continue') found = true;
      else if (isStmt(next) && next.kind !== 'for' && next.kind !== 'while' && next.kind !== 'do' && next.kind !== 'range-for') forEachChild(next, (child) => { if (isStmt(child)) steps.push(child); });
    }
    going.set(body, found);
  }
  return found;
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
    case '%': return by === 0 ? null : value % by;
    case '&': return value & by;
    case '|': return value | by;
    case '^': return value ^ by;
    default: return null;
  }
}
