/**
 * What a hoist gains. Per iteration and warp, with A and D the statements around the branch and B, C its arms:
 *
 *     one way for the whole warp     before A + test + B|C + D                  after A + B|C + D
 *     lanes take both ways           before A + test + B + C + D                after 2A + B + C + 2D
 *
 * What B and C have in common (`shared-work.ts`) is part of A + D then.
 *
 * The compiler unswitches a loop by itself on a condition that is uniform for the block when the arms are small, the loop holds no
 * barrier and no store meets what the condition reads: then nothing is left to gain. Figures were measured on one H200.
 */
import { someLane } from '../../src/analysis/divergence-cost.js';
import { atLeast, joinScope, type Scope } from '../../src/analysis/facts.js';
import type { Decl, Stmt } from '../../src/syntax/tree.js';
import { describeLoop } from '../lib/loops.js';
import { statedShare } from '../lib/stated-share.js';
import type { Estimate, TransformContext } from '../lib/types.js';
import { decidedByCompiler } from './condition.js';
import { constantParameters } from './constant-at-calls.js';
import type { Level } from './legal.js';
import { sharedWork } from './shared-work.js';
import { testsOf, type Branch } from './shape.js';

/** Issued instructions of a branch that stays: compare, jump, and convergence bookkeeping where lanes may part. */
const UNIFORM_BRANCH = 2;
const LANE_BRANCH = 4;
/** Counter, test and jump of a loop, per iteration of a loop that the compiler unrolls by four. */
export const LOOP_HEAD = 1;
/** Arms up to this many instructions do not keep the compiler from unswitching. */
const SMALL_ARMS = 64;

interface Costs {
  /** A and D of the loops from the branch out to the loop it leaves, per iteration of the innermost. */
  readonly around: number;
  readonly test: number;
  readonly arms: readonly number[];
  readonly trips: number;
}

/** The widest group of threads for which all tests agree; `lane` if not known. */
export function scopeOf(context: TransformContext, branch: Branch): Scope {
  let scope: Scope = 'constant';
  for (const test of testsOf(branch)) {
    const verdict = context.facts.scope(test);
    scope = joinScope(scope, verdict.known ? verdict.value : 'lane');
  }
  return scope;
}

/** Instructions of one iteration of a loop besides what it does in the inner statement that is kept apart. */
export function aroundCost(context: TransformContext, loop: Level['loop'], inner: Stmt): number {
  const { facts } = context;
  return Math.max(0, facts.cost(loop.body).instructions - facts.cost(inner).instructions) + headCost(context, loop);
}

/** A head that does more than count is evaluated in every iteration of either copy. */
function headCost(context: TransformContext, loop: Level['loop']): number {
  const { facts } = context;
  if (loop.kind === 'range-for' || describeLoop(facts, loop).simple) return 0;
  const parts = loop.kind === 'for' ? [loop.condition, loop.step] : [loop.condition];
  return parts.reduce((cost, part) => cost + (part === null ? 0 : facts.cost(part).instructions), 0);
}

/** What keeping the branch costs an iteration. */
export function branchCost(context: TransformContext, branch: Branch, scope: Scope): number {
  let cost = atLeast(scope, 'warp') ? UNIFORM_BRANCH : LANE_BRANCH;
  for (const test of testsOf(branch)) cost += context.facts.cost(test).instructions;
  return cost;
}

/**
 * Lanes that part take both copies: the statements around the branch and the loop's head run twice, and the branch no more. `around` is
 * what one loop alone adds, so that a second run, which sees the loops one by one, comes to the same answer.
 */
export function paysForLanes(context: TransformContext, branch: Branch, around: number): boolean {
  return around + LOOP_HEAD < branchCost(context, branch, 'lane');
}

/** `dropped`: a copy that would do nothing is not written, so that nothing runs twice. */
export function estimateHoist(context: TransformContext, level: Level, path: readonly Stmt[], dropped: boolean): Estimate {
  const { branch, loop } = level;
  const { facts } = context;
  const scope = scopeOf(context, branch);
  const costs = costsOf(context, level, path);
  const stated = statedShare(context, branch.kind === 'ternary' ? branch.expr : branch.stmt);
  const p = costs.arms.length === 2 ? stated?.share ?? null : null;
  const [thenCost = 0, elseCost = 0] = costs.arms;
  // Shares of the warps that come to each arm: all, unless it is said how many lanes do.
  const [someThen, someElse] = p === null ? [1, 1] : [someLane(p), someLane(1 - p)];
  const sum = p === null ? costs.arms.reduce((a, b) => a + b, 0) : someThen * thenCost + someElse * elseCost;
  const mean = p === null ? sum / Math.max(1, costs.arms.length) : p * thenCost + (1 - p) * elseCost;
  const tested = branchCost(context, branch, scope);
  const shared = sharedWork(facts, branch);
  const uniform = atLeast(scope, 'warp');
  const perIteration = uniform
    ? { before: costs.around + LOOP_HEAD + tested + mean, after: costs.around + LOOP_HEAD + mean }
    : { before: costs.around + LOOP_HEAD + tested + Math.max(0, sum - shared), after: (dropped ? someThen : someThen + someElse) * (costs.around + LOOP_HEAD) + sum };
  const before = Math.round(perIteration.before * costs.trips);
  const after = Math.round(perIteration.after * costs.trips) + tested;
  const ratio = before / Math.max(1, after);
  const provider = facts.cost(loop).provider;
  const base = { instructionsBefore: before, instructionsAfter: after, traffic: 0, breakEven: null, provider, ...(uniform ? { agreed: true as const } : {}) };

  if (branch.kind === 'ternary' && branchless(context, branch)) {
    return { ...base, speedup: 1, low: 0.98, high: 1.03, pays: false, reason: 'the arms are so short that the compiler makes a select of them' };
  }
  if (decidedAtCalls(context, branch)) {
    return { ...base, instructionsAfter: before, speedup: 1, low: 1, high: 1, pays: false, reason: 'a constant at every call: the compiler makes the function part of its callers and decides the condition there' };
  }
  if (decidedByUnrolling(context, branch, loop)) {
    return { ...base, instructionsAfter: before, speedup: 1, low: 1, high: 1, pays: false, reason: 'the loop around is unrolled, so that the compiler decides the condition' };
  }
  if (uniform) {
    if (atLeast(scope, 'block') && compilerUnswitches(context, level, costs.arms.reduce((a, b) => a + b, 0))) {
      return { ...base, instructionsAfter: before, speedup: 1, low: 1, high: 1.02, pays: true, reason: 'legal, but the compiler already takes this condition out of the loop' };
    }
    const high = Math.min(1.6, Math.max(1.01, ratio));
    const reason = atLeast(scope, 'block')
      ? 'the compiler leaves this test in the loop, and every thread of the block decides it alike'
      : 'the compiler does not see that the warp agrees; each copy of the loop runs without the test';
    // The compiler knows nothing of warps, so a warp number gains most; a loaded value, whose load stays, gains less.
    const sure = scope === 'warp' && testsOf(branch).every((test) => facts.effects(test).accesses.length === 0);
    return { ...base, speedup: round(sure ? high : 1 + (high - 1) / 2), low: 1, high: round(high), pays: true, reason };
  }
  const first = path[0];
  const innermost = (first !== undefined && isLoop(first) ? aroundCost(context, first, branch.stmt) : costs.around) + shared;
  const pays = dropped || paysForLanes(context, branch, innermost);
  const reason = pays
    ? 'lanes part once in front of the loop and no longer in every iteration'
    : `lanes take both copies, so the statements around the branch${shared > 0 ? ', and what both arms do alike,' : ''} (about ${Math.round(costs.around + shared)} instructions) run twice; the branch costs about ${tested}`;
  return { ...base, speedup: round(Math.min(1.15, ratio)), low: round(Math.min(0.95, ratio)), high: round(Math.min(1.3, Math.max(ratio, 1))), breakEven: `statements around the branch below ${tested} instructions an iteration`, pays, reason };
}

/** The condition depends on nothing but constants and parameters that are constants at every call. */
function decidedAtCalls(context: TransformContext, branch: Branch): boolean {
  const known = constantParameters(context);
  return known.size > 0 && testsOf(branch).every((test) => decidedByCompiler(context, test, known));
}

/** The condition depends on nothing but constants and counters of loops around that a pragma unrolls. */
function decidedByUnrolling(context: TransformContext, branch: Branch, loop: Level['loop']): boolean {
  const { facts } = context;
  const counters = new Set<Decl>();
  for (const outer of facts.loops(loop)) {
    const count = outer === loop || !outer.pragmas.some((pragma) => /unroll/.test(pragma.text)) ? null : describeLoop(facts, outer);
    if (count !== null && count.simple) counters.add(count.counter);
  }
  return counters.size > 0 && testsOf(branch).every((test) => decidedByCompiler(context, test, counters));
}

function costsOf(context: TransformContext, { branch, loop }: Level, path: readonly Stmt[]): Costs {
  const { facts } = context;
  let around = 0;
  let inner: Stmt = branch.stmt;
  let trips = 1;
  // From the branch outwards: each loop's own statements, shared out over the iterations of the loops inside it.
  for (const outer of path) {
    if (!isLoop(outer)) continue;
    around += aroundCost(context, outer, inner) / trips;
    trips *= Math.max(1, facts.trips(outer).count);
    inner = outer;
    if (outer === loop) break;
  }
  return { around, test: testsOf(branch).reduce((cost, test) => cost + facts.cost(test).instructions, 0), arms: armCosts(context, branch), trips };
}

function isLoop(stmt: Stmt): stmt is Level['loop'] {
  return stmt.kind === 'for' || stmt.kind === 'while' || stmt.kind === 'do' || stmt.kind === 'range-for';
}

function armCosts(context: TransformContext, branch: Branch): readonly number[] {
  const { facts } = context;
  switch (branch.kind) {
    case 'if': {
      const last = branch.links.at(-1)?.else ?? null;
      return [...branch.links.map((link) => facts.cost(link.then).instructions), last === null ? 0 : facts.cost(last).instructions];
    }
    case 'switch': return branch.stmt.arms.map((arm) => arm.body.reduce((cost, stmt) => cost + facts.cost(stmt).instructions, 0));
    case 'ternary': return [facts.cost(branch.expr.then).instructions, facts.cost(branch.expr.else).instructions];
    default: {
      const never: never = branch;
      return never;
    }
  }
}

/** Both arms of a `?:` are a few operations without calls or memory. */
function branchless(context: TransformContext, branch: Extract<Branch, { kind: 'ternary' }>): boolean {
  return [branch.expr.then, branch.expr.else].every((arm) => {
    const cost = context.facts.cost(arm);
    return cost.predicated || cost.instructions <= 7;
  });
}

/** Small arms and no barrier or collective. (That no store meets what the tests load was proved before.) */
function compilerUnswitches(context: TransformContext, { loop }: Level, arms: number): boolean {
  const effects = context.facts.effects(loop);
  return arms <= SMALL_ARMS && effects.barriers.length + effects.collectives.length + effects.unknownCalls.length + effects.asm.length === 0;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
