/**
 * What compact:loop gains. Per iteration and warp, in issue slots (lib/machine.ts), with C the length of the heavy part and p the share of active lanes:
 *
 *     before   memory + light + P·C                        P = 1 − (1−p)^32: some lane of the warp is active
 *     after    memory + light + hold + wait + R·C          R: share of the iterations in which a lane has no room for one more item
 *
 * R comes from playing 32 lanes with queues. The vote of an iteration keeps the loads of the next from being asked for ahead, so that the warps wait
 * for memory in each (`wait`). The terms give 3.9, 2.4 and 1.4 for 64 square roots with 3, 20 and 50% of the lanes active, and 0.67, 0.75, 0.65 for four,
 * where 3.3, 2.3, 1.4 and 0.69, 0.66, 0.65 was measured on one H200.
 *
 * Not known: whether the lanes that are active are active together (then nothing is gained), and how far the code of two copies of the heavy part fits the
 * instruction cache: 64 unrolled square roots in a loop of 256 iterations gained 2.5 and 1.6 where this gives 3.7 and 2.4.
 */
import { someLane } from '../../src/analysis/divergence-cost.js';
import { compiledLength } from '../lib/compiled-length.js';
import { memorySlots, WAIT_SLOTS } from '../lib/machine.js';
import { activeShare, percentOf } from '../lib/stated-share.js';
import { movedBytes, trafficOf } from '../lib/traffic.js';
import type { Estimate, TransformContext } from '../lib/types.js';
import { breakEvenText, lengthFor, WORTH, type Gain } from './break-even.js';
import type { LoopPlan } from './loop-shape.js';

const LANES = 32;
/** The vote, its branch, and the flags. */
const HOLD = 12;
/** To put a value on the queue and to take it back. */
const VALUE = 2;
/** Bytes a thread and iteration from which the loop waits for memory: less is a window, whose elements the caches hold. */
const LEAST_BYTES = 1;
/** Neighbours that share a sector of 4-byte values. */
const SHARED = 8;
/** Share of active lanes where nothing is said. */
const USUAL = 0.5;

export function estimateLoop(context: TransformContext, plan: LoopPlan): Estimate {
  const { facts } = context;
  const { region, loop } = plan;
  const heavy = compiledLength(facts, region.heavy.stmts);
  const { share, origin } = activeShare(context, region.stmt, region.holds, USUAL);
  const trips = passesOf(context, plan);
  const passes = Math.max(1, passesOf(context, plan, true));
  const light = Math.max(4, compiledLength(facts, [loop.body]) / passes - heavy);
  const outside = movedBytes(trafficOf(facts, [loop], region.heavy.stmts)) / (passes * Math.max(1, facts.trips(loop).count));
  const inside = trafficOf(facts, region.heavy.stmts);
  const waits = outside >= LEAST_BYTES;
  const hold = HOLD + VALUE * plan.held.length + (waits ? WAIT_SLOTS : 0);
  const same = light + memorySlots(outside);
  const gain: Gain = (p, length) => {
    const at = same + memorySlots(movedBytes(inside, p)) + someLane(p) * length;
    // Lanes run items of different iterations: what was one sector for neighbours is one for each.
    const apart = memorySlots(p * (SHARED * inside.dense + inside.scattered));
    // What is left behind the loop: up to a full queue.
    const left = (Math.min(plan.depth, p * trips) * length) / trips;
    return at / (same + apart + hold + runRate(p, plan.depth) * length + left);
  };
  const speedup = gain(share, heavy);
  const enough = lengthFor(gain, share);
  const active = `${percentOf(share)} of the lanes active (${origin})`;
  const needed = enough === null ? 'no length of the heavy part' : `a heavy part of ${enough} instructions`;
  const caution = 'lanes that are active together already gain nothing';
  return {
    speedup: round(speedup), low: round(Math.min(speedup, 0.65)), high: round(Math.max(speedup, gain(0.03, heavy))),
    instructionsBefore: Math.round((light + someLane(share) * heavy) * trips), instructionsAfter: Math.round((light + HOLD + VALUE * plan.held.length + runRate(share, plan.depth) * heavy) * trips + heavy),
    traffic: 0, breakEven: `${breakEvenText(gain, share, origin, heavy)}; ${caution}`, provider: facts.cost(region.stmt).provider, pays: speedup >= WORTH,
    reason: speedup >= WORTH
      ? `with ${active}, a warp runs ${Math.round(heavy)} instructions for few lanes; ${caution}`
      : `the heavy part is about ${Math.round(heavy)} instructions, and holding an item costs what about ${Math.round(hold)} would in every iteration${waits ? ', most of it waiting for loads that the vote keeps from being asked for ahead' : ''}: with ${active} it takes ${needed}`,
  };
}

/** Iterations of a loop whose number is not known: those in which items are put off are long. */
const MANY = 64;

/** How often the branch is passed in one run of the loop, or (`inner`) in one iteration of it. */
function passesOf({ facts }: TransformContext, { region, loop }: LoopPlan, inner = false): number {
  let passes = 1;
  for (const around of facts.loops(region.stmt)) {
    if (around === loop && inner) break;
    const { count, origin } = facts.trips(around);
    passes *= Math.max(1, origin === 'assumed' && around === loop ? Math.max(count, MANY) : count);
    if (around === loop) break;
  }
  return passes;
}

/** Shares for which the queues are played; those between are taken from the two next to them. */
const PLAYED = [0, 0.004, 0.016, 0.03, 0.06, 0.12, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1] as const;
const rates = new Map<number, readonly number[]>();

/** Share of the iterations in which the warp runs what it holds. */
export function runRate(p: number, depth: number): number {
  let known = rates.get(depth);
  if (known === undefined) rates.set(depth, known = PLAYED.map((share) => play(share, depth)));
  const above = Math.max(1, PLAYED.findIndex((share) => share >= p));
  const [from, to] = [PLAYED[above - 1] ?? 0, PLAYED[above] ?? 1];
  const [low, high] = [known[above - 1] ?? 0, known[above] ?? 1];
  return low + ((high - low) * (p - from)) / (to - from);
}

const ROUNDS = 2000;

function play(p: number, depth: number): number {
  const held = new Int32Array(LANES);
  const active = new Uint8Array(LANES);
  let state = 12345;
  let runs = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let full = false;
    for (let lane = 0; lane < LANES; lane++) {
      // Numerical Recipes' linear congruential generator: the same answer on every machine.
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      active[lane] = state / 2 ** 32 < p ? 1 : 0;
      full ||= active[lane] === 1 && held[lane] === depth;
    }
    if (full) runs++;
    for (let lane = 0; lane < LANES; lane++) {
      const after = (held[lane] ?? 0) - (full && (held[lane] ?? 0) > 0 ? 1 : 0);
      held[lane] = after + (active[lane] ?? 0);
    }
  }
  return runs / ROUNDS;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
