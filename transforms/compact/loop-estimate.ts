/**
 * What compact:loop gains. Per iteration and warp, with C the cost of the heavy part and p the share of active lanes:
 *
 *     before   light + P·C                P = 1 − (1−p)^32: some lane of the warp is active
 *     after    light + hold + R·C         R: share of the iterations in which a lane has no room for one more item
 *
 * R comes from playing 32 lanes with queues. Measured on one H200 with 3, 20 and 50% of the lanes active: 3.3, 2.3, 1.4 for 64 operations, and
 * 0.69, 0.66, 0.65 for 4.
 */
import { annotationValue } from '../../src/analysis/annotations.js';
import { someLane } from '../../src/analysis/divergence-cost.js';
import type { Estimate, TransformContext } from '../lib/types.js';
import type { LoopPlan } from './loop-shape.js';
import { costOf, type Region } from './region.js';

const LANES = 32;
/** The vote, its branch, and the flags. */
const HOLD = 12;
/** To put a value on the queue and to take it back. */
const VALUE = 2;
/** Speed-up below which it is not worth an edit. */
const WORTH = 1.05;

export function estimateLoop(context: TransformContext, plan: LoopPlan): Estimate {
  const { facts } = context;
  const { region, loop } = plan;
  const heavy = costOf(context, region.heavy.stmts);
  const { share, origin } = shareOf(context, region);
  const trips = passesOf(context, plan);
  const light = Math.max(4, facts.cost(loop.body).instructions / Math.max(1, passesOf(context, plan, true)) - heavy);
  const hold = HOLD + VALUE * plan.held.length;
  const at = (p: number, cost: number): number => (light + someLane(p) * cost) / (light + hold + runRate(p, plan.depth) * cost + p * plan.depth * cost / trips);
  const speedup = at(share, heavy);
  let enough: number | null = null;
  for (let cost = 8; cost <= 4096 && enough === null; cost += 8) if (at(share, cost) >= WORTH) enough = cost;
  const percent = `${Math.round(share * 100)}%`;
  const needed = enough === null ? 'no length of the heavy part' : `a heavy part of ${enough} instructions`;
  const caution = 'lanes that are active together already gain nothing';
  return {
    speedup: round(speedup), low: round(Math.min(speedup, 0.65)), high: round(Math.max(speedup, at(0.03, heavy))),
    instructionsBefore: Math.round((light + someLane(share) * heavy) * trips), instructionsAfter: Math.round((light + hold + runRate(share, plan.depth) * heavy) * trips + heavy),
    traffic: 0, breakEven: `${needed} at ${percent} active lanes (${origin}); ${caution}`, provider: facts.cost(region.stmt).provider, pays: speedup >= WORTH,
    reason: speedup >= WORTH
      ? `with ${percent} of the lanes active (${origin}), a warp runs ${Math.round(heavy)} instructions for few lanes; ${caution}`
      : `the heavy part is about ${Math.round(heavy)} instructions, and holding an item costs about ${hold} in every iteration: ${needed} would pay at ${percent} active lanes (${origin})`,
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

const rates = new Map<string, number>();

/** Share of the iterations in which the warp runs what it holds. */
export function runRate(p: number, depth: number): number {
  const key = `${p} ${depth}`;
  const known = rates.get(key);
  if (known !== undefined) return known;
  const rounds = 4000;
  const held = new Int32Array(LANES);
  const active = new Uint8Array(LANES);
  let state = 12345;
  let runs = 0;
  for (let round = 0; round < rounds; round++) {
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
  rates.set(key, runs / rounds);
  return runs / rounds;
}

function shareOf(context: TransformContext, region: Region): { readonly share: number; readonly origin: string } {
  const { source } = context.unit;
  const written = annotationValue(source, source.line(region.stmt.span.start), 'p');
  const value = written === undefined || written === null ? NaN : written.trim().endsWith('%') ? Number(written.trim().slice(0, -1)) / 100 : Number(written);
  if (Number.isFinite(value) && value >= 0 && value <= 1) return { share: region.holds ? value : 1 - value, origin: 'annotation' };
  return { share: 0.5, origin: 'assumed' };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
