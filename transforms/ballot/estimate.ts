/**
 * What a vote gains. Measured on one H200: a window over 9, 33 and 129 taps of a row 1.20, 1.11 and 1.01; a window of two dimensions with guards on both
 * edges 1.18 (9 taps) to 1.86 (large); none/all/mixed 0.97 to 1.00 whatever the data; a vote in place of `continue` 0.98.
 */
import type { Expr, Stmt } from '../../src/syntax/tree.js';
import { memorySlots } from '../lib/machine.js';
import { percentOf, statedShare } from '../lib/stated-share.js';
import { movedBytes, trafficOf } from '../lib/traffic.js';
import type { Estimate, TransformContext } from '../lib/types.js';
import { onlyCopies } from './copies.js';
import type { VersionedPlan } from './versioned.js';

/** Branch on a guard, with the bookkeeping where lanes may part. */
const BRANCH = 2;
/** The vote, its branch, and the comparisons of one end. */
const VOTE = 4;
const END = 2;
/** Taps from which a window of one dimension waits for its loads, and those of the largest window of two dimensions that was measured. */
const ROW_TAPS = 55;
const PLANE_TAPS = [9, 400] as const;
/** The best that was measured. */
const MOST = 1.86;
/** Bytes that the kernels of the measurements moved a thread, and instructions around their nests: indices, a bound, a store. */
const MEASURED_BYTES = 8;
const MEASURED_AROUND = 24;
/** Speed-ups below this no launch shows; and those that a nest of more lines must promise. */
const LEAST = 1.005;
const SHOWN = 1.03;
const SHORT = 8;

export function estimateVersioned(context: TransformContext, plan: VersionedPlan): Estimate {
  const { facts, unit } = context;
  const cost = facts.cost(plan.loop);
  const owners = new Map(plan.guards.map((guard) => [guard.owner.node, guard.comparison]));
  let saved = 0;
  let rounds = 1;
  for (const { comparison } of plan.guards) {
    const times = roundsOf(context, plan, comparison);
    rounds = Math.max(rounds, times);
    saved += times * facts.cost(comparison).instructions;
  }
  for (const comparison of owners.values()) saved += BRANCH * roundsOf(context, plan, comparison);
  const before = Math.max(1, Math.round(cost.instructions));
  saved = Math.min(saved, 0.75 * before);
  const added = VOTE + END * plan.tests.length;
  const after = Math.max(1, Math.round(before - saved + added));
  const share = saved / before;
  const barriers = facts.effects(plan.loop).barriers.length > 0;
  const visible = barriers ? 0.04 : plan.dimensions > 1 ? planeShare(rounds) : 0.59 / (1 + (rounds / ROW_TAPS) ** 3);
  const gain = plan.dimensions > 1 && !barriers ? 1 / (1 - share * visible) : 1 + share * visible;
  // Threads at the edges stand together: as large a share of the warps lies inside as of the threads.
  const [guard] = plan.guards;
  const inside = (guard === undefined ? null : statedShare(context, guard.owner.node) ?? statedShare(context, guard.comparison)) ?? { share: 1, origin: 'assumed' };
  const passed = inside.share / gain + 1 - inside.share;
  const nest = Math.min(MOST, 1 / passed - added / (before + added));
  const part = partOf(context, plan, before);
  const speedup = round(1 / (1 - part + part / nest));
  const breakEven = `pays if more than ${Math.min(100, Math.ceil((100 * added) / Math.max(1, saved)))}% of the warps lie inside all edges (${percentOf(inside.share)} ${inside.origin})`;
  const base = { speedup, low: round(Math.min(speedup, 0.98)), high: round(Math.min(1 / (1 - share), 1.9)), instructionsBefore: before, instructionsAfter: after, traffic: 0, breakEven, provider: cost.provider };
  if (after >= before || speedup < 1) return { ...base, pays: false, reason: inside.share < 1 ? `too few warps lie inside all edges (${percentOf(inside.share)}, ${inside.origin}) for what the vote costs` : 'the vote costs what the guards of so short a nest cost' };
  if (onlyCopies(plan.loop)) return { ...base, pays: false, reason: 'the nest moves values and computes nothing: memory decides how long it takes, not the guards' };
  const lines = unit.source.line(plan.loop.span.end) - unit.source.line(plan.loop.span.start) + 1;
  if (lines > SHORT && speedup < SHOWN) return { ...base, pays: false, reason: `a gain of ${((speedup - 1) * 100).toFixed(1)}% is less than estimates are off by, and ${lines} lines would stand there twice` };
  if (speedup < LEAST) return { ...base, pays: false, reason: `the nest is ${percentOf(part)} of what the kernel issues and moves, so that its guards do not show` };
  return { ...base, pays: true, reason: 'warps inside all edges run without the guards; it gains as far as the nest is limited by instructions' };
}

/**
 * How much of the kernel's time is spent in the nest. What was measured is kernels that are next to nothing but their nest, and move an element in and one out a thread; what a
 * kernel does and moves beyond that stays as it is.
 */
function partOf({ facts }: TransformContext, plan: VersionedPlan, instructions: number): number {
  const { body } = facts.function;
  if (body === null) return 1;
  const times = facts.loops(plan.loop).reduce((product, loop) => product * Math.max(1, facts.trips(loop).count), 1);
  const whole = Math.max(facts.cost(body).instructions - MEASURED_AROUND, instructions * times);
  return (instructions * times) / (whole + memorySlots(Math.max(0, movedBytes(trafficOf(facts, [body])) - MEASURED_BYTES)));
}

function planeShare(rounds: number): number {
  const [small, large] = PLANE_TAPS;
  const place = Math.log(Math.max(1, rounds / small)) / Math.log(large / small);
  return Math.min(1, 0.35 + 0.65 * place);
}

/** How often an expression runs in one run of the nest. */
function roundsOf(context: TransformContext, plan: VersionedPlan, node: Stmt | Expr): number {
  let count = 1;
  for (const loop of context.facts.loops(node)) {
    count *= Math.max(1, context.facts.trips(loop).count);
    if (loop === plan.loop) break;
  }
  return count;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
