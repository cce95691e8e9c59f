/**
 * What a peel gains. Per iteration the comparisons and the branches on them go; how much of that shows depends on what the loop waits
 * for. Measured on one H200: a tile loop of a shared-memory matrix multiply 1.00 to 1.01, a window over 9, 33 and 129 taps 1.18, 1.14
 * and 1.01.
 */
import { atLeast, type FunctionFacts } from '../../src/analysis/facts.js';
import type { ConditionalExpr } from '../../src/syntax/tree.js';
import { add, interval, isConstant } from '../lib/guards/polynomial.js';
import { memorySlots } from '../lib/machine.js';
import { statedShare } from '../lib/stated-share.js';
import type { PeelableLoop } from '../lib/guards/tested-loop.js';
import { movedBytes, trafficOf } from '../lib/traffic.js';
import type { Estimate, TransformContext } from '../lib/types.js';
import { doesNothing } from './run-body.js';
import type { FoldPlan } from './fold.js';
import type { RangePlan, Run } from './range.js';
import { asksToUnroll, indexesOwnArray, isUnrolled } from './unrolled.js';
import type { VersionPlan } from './version.js';
import { beginsPastBlock, needsEmptySize } from './hardly-ever.js';
import { stepsOver, type PeelPlan } from './write.js';

/** Counter, test and jump of a loop, per iteration. */
const LOOP_HEAD = 3;
/** Branch on a guard, with the bookkeeping where lanes may part. */
const BRANCH = 2;
/** A second comparison in the head of a loop, and its part of the branch. */
const ADDED_TEST = 2;
/** Speed-ups below this show in no launch. */
const SEEN = 1.01;
/** Lines of copies up to which the instruction cache is no matter. */
const MANY_LINES = 400;
/** The same where no warp diverges and only the test itself is saved. */
const UNIFORM_LINES = 60;

export function estimatePeel(context: TransformContext, plan: PeelPlan, laneBound: boolean): Estimate {
  if (plan.kind === 'fold') return estimateFold(context, plan);
  const { facts, unit } = context;
  const { loop } = plan;
  const trips = Math.max(1, facts.trips(loop).count);
  const cost = facts.cost(loop.body);
  const owners = new Set(plan.guards.map((guard) => guard.owner.node));
  // Where the guard does not hold, at the edges, it stays.
  const [guard] = plan.guards;
  const inside = guard === undefined ? null : statedShare(context, guard.owner.node) ?? statedShare(context, guard.comparison);
  const all = plan.guards.reduce((sum, one) => sum + roundsOf(context, plan, one.comparison) * facts.cost(one.comparison).instructions, 0) + BRANCH * owners.size;
  const saved = Math.max(0, all * (inside?.share ?? 1) - addedTest(plan));
  const perIteration = cost.instructions + LOOP_HEAD;
  const before = Math.max(1, Math.round(perIteration * trips));
  const after = Math.max(1, Math.round((perIteration - Math.min(saved, perIteration - 1)) * trips) + plan.guards.length * 4);
  // What memory takes does not get less.
  const share = Math.min(0.6, saved / (perIteration + memoryOf(facts, loop, trips)));
  const barriers = facts.effects(loop.body).barriers.length > 0;
  // With barriers the loop waits for shared memory and for the slowest warp; over many taps for its loads.
  // A test on which all threads agree costs its issue slots only.
  const agreed = plan.uniformGuards ? 0.1 : 1;
  const rounds = trips * nested(context, plan);
  const visible = agreed * (barriers ? 0.04 : 0.59 / (1 + (rounds / 55) ** 3));
  const speedup = round(1 + share * visible);
  const base = {
    speedup, low: 1, high: round(1 + share * agreed * (barriers ? 0.1 : 1)), instructionsBefore: before, instructionsAfter: after, traffic: 0, breakEven: null, provider: cost.provider,
    ...(plan.uniformGuards ? { agreed: true as const } : {}),
  };
  const nothing = { ...base, speedup: 1, low: 0.97, high: 1.03, pays: false };
  if (plan.guards.every(({ owner }) => owner.kind === 'ternary' && isSelect(context, owner.node))) {
    return { ...nothing, reason: 'the arms are so short that the compiler makes a select of them, which no lane waits for' };
  }
  if (after >= before) return { ...nothing, reason: `the loop has so few iterations (about ${trips}) that the tests in front of it cost what they save` };
  if (plan.kind === 'version' && isPoint(plan)) return { ...nothing, reason: 'the copy without guards would run for one value only: the edges lie as far apart as the loop is long' };
  if (plan.kind === 'version' && needsEmptySize(facts, plan)) return { ...nothing, reason: 'the copy without guards would run only where what the loop counts to is below one' };
  // Where the block meets in every iteration there are about as many as there are threads.
  if (plan.kind === 'range' && barriers && beginsPastBlock(plan)) return { ...nothing, reason: 'the test is decided only once the counter is past the number of threads of a block, which few such loops reach' };
  const copies = plan.kind === 'range' ? plan.runs.length : 2;
  const lines = (unit.source.line(loop.span.end) - unit.source.line(loop.span.start) + 1) * copies;
  if (lines > MANY_LINES) return { ...base, low: 0.97, pays: false, reason: `the copies are ${lines} lines long; one guard less does not make up for them` };
  if (laneBound && !ownLoopVaries(context, plan)) {
    return { ...base, speedup: Math.min(base.speedup, 0.99), low: 0.9, pays: false, reason: 'the bound differs between lanes, so that a warp would go through both runs where it agreed before' };
  }
  if (plan.kind === 'range' && plan.runs.length > 1 && plan.runs.some((run) => run.decisions.size > 0 && !stepsOver(context, plan, run) && doesNothing(context, plan.loop, run.decisions, plan.counter))) {
    return { ...base, speedup: 1, low: 0.97, pays: false, reason: 'a run of its own would do nothing but count' };
  }
  if (plan.kind === 'range' && plan.runs.length > 1 && (isUnrolled(facts, loop) || asksToUnroll(loop))) {
    return { ...base, speedup: 0.99, low: 0.9, pays: false, reason: 'the compiler unrolls this loop; a split at run time would keep it from that, and send register arrays to memory' };
  }
  if (plan.kind === 'range' && plan.runs.length > 1 && indexesOwnArray(facts, loop, plan.counter)) {
    return { ...base, speedup: 0.99, low: 0.9, pays: false, reason: 'the loop indexes an array of the thread; a split at run time would make the index a run-time one, and send the array to memory' };
  }
  if (agreed < 1 && (lines > UNIFORM_LINES || share < 0.02)) {
    return { ...base, speedup: 1, low: 0.99, pays: false, reason: 'all threads agree on the test, so that no warp diverges, and next to the body its instructions do not show' };
  }
  if (agreed < 1 && addedTest(plan) > 0 && speedup < SEEN && !shrinks(plan)) {
    return { ...base, speedup: 1, low: 0.99, pays: false, reason: 'all threads agree on the test, so that no warp diverges, and each iteration of a run tests its own end instead' };
  }
  const reason = agreed < 1
    ? 'all threads agree on the test, so that no warp diverges; its instructions leave the loop'
    : barriers
    ? 'the guards leave the hot loop; a loop with barriers gains little by it'
    : 'the guards leave the hot loop; it gains as far as it is limited by instructions';
  return { ...base, pays: true, reason };
}

/** Issue slots that the bytes of one iteration stand for, where they are not shared with other iterations. */
function memoryOf(facts: FunctionFacts, loop: PeelableLoop, trips: number): number {
  return memorySlots(movedBytes(trafficOf(facts, [loop]))) / trips;
}

/** What the hot run tests besides the loop's own test, once an iteration. */
function addedTest(plan: RangePlan | VersionPlan): number {
  if (plan.kind === 'version') return 0;
  const most = Math.max(...plan.runs.map((run) => run.decisions.size));
  const decided = plan.runs.filter((run) => run.decisions.size === most);
  // Runs up to a constant are short: the first iteration.
  const hot = decided.find((run) => !isShort(run)) ?? decided[0];
  return hot !== undefined && hot.test !== null && hot.keepsLoopTest ? ADDED_TEST : 0;
}

function isShort({ test }: Run): boolean {
  return test !== null && test.side === '<' && test.changes.every(({ level, divisor }) => isConstant(level) && isConstant(divisor));
}

/** One run is left: a guard that holds to the end, or from the start, and nothing behind it. */
function shrinks(plan: RangePlan | VersionPlan): boolean {
  return plan.kind === 'range' && plan.runs.length === 1;
}

/** The loop's own test goes, or the iterations past the guard's edge do. Nothing is written twice, so that it need not gain much. */
function estimateFold(context: TransformContext, plan: FoldPlan): Estimate {
  const { facts } = context;
  const { loop } = plan;
  const trips = Math.max(1, facts.trips(loop).count);
  const cost = facts.cost(loop.body);
  const perIteration = cost.instructions + LOOP_HEAD;
  const saved = plan.keepsLoopTest || loop.condition === null ? 0 : Math.min(facts.cost(loop.condition).instructions + BRANCH, perIteration - 1);
  const share = saved / (perIteration + memoryOf(facts, loop, trips));
  const agreed = plan.uniformGuards ? 0.1 : 1;
  const barriers = facts.effects(loop.body).barriers.length > 0;
  const visible = agreed * (barriers ? 0.04 : 0.59 / (1 + (trips / 55) ** 3));
  return {
    speedup: round(1 + share * visible), low: 1, high: round(1 + share * agreed), pays: true, breakEven: null, traffic: 0, provider: cost.provider,
    instructionsBefore: Math.round(perIteration * trips), instructionsAfter: Math.round((perIteration - saved) * trips),
    reason: plan.keepsLoopTest ? 'the loop ends where the guard does: iterations that do nothing are not run' : 'one test instead of two in each iteration',
    ...(plan.uniformGuards ? { agreed: true as const } : {}),
  };
}

/** Both arms of a `?:` are a few operations without calls or memory. */
function isSelect({ facts }: TransformContext, node: ConditionalExpr): boolean {
  return [node.then, node.else].every((arm) => {
    const effects = facts.effects(arm);
    return facts.cost(arm).predicated && effects.accesses.length === 0 && effects.unknownCalls.length === 0;
  });
}

/** Two tests that hold together where one number has one value: `k >= 0` beside `k <= 0`. (Below zero, two sum up to -2 at most.) */
function isPoint({ tests }: VersionPlan): boolean {
  return tests.some((test, i) => tests.slice(i + 1).some((other) => interval(add(test, other)).low >= -2n));
}

/** How often a comparison runs in one iteration of the loop: the iterations of loops around it. */
function roundsOf(context: TransformContext, plan: PeelPlan, node: Parameters<TransformContext['facts']['loops']>[0]): number {
  let count = 1;
  for (const inner of context.facts.loops(node)) {
    if (inner === plan.loop) break;
    count *= Math.max(1, context.facts.trips(inner).count);
  }
  return count;
}

/** Iterations of the innermost guarded loop per iteration of the peeled one. */
function nested(context: TransformContext, plan: PeelPlan): number {
  return plan.guards.reduce((most, guard) => Math.max(most, roundsOf(context, plan, guard.comparison)), 1);
}

/** True if lanes leave the loop at different times anyway. */
function ownLoopVaries(context: TransformContext, plan: PeelPlan): boolean {
  const { condition } = plan.loop;
  return condition !== null && !atLeast(context.facts.scope(condition).value, 'warp');
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

