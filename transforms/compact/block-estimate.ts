/**
 * What compact:block gains. Per warp, with C the cost of the heavy part and p the share of active lanes:
 *
 *     before   base + P·C               P = 1 − (1−p)^32: some lane of the warp is active
 *     after    base + pass + D·C        D: warps that the active lanes of a block fill, over the warps of the block
 *
 * Fitted to one H200, 4 Mi elements, one load of a flag, one load and one store of a value, in blocks of 256, in units of issued
 * instructions of a warp (0.146 µs for all warps): base 113 to 143, of which the code itself is about 20; the pass 45 to 50. With
 * half, a quarter, an eighth and a 32nd of the lanes active D was 0.57, 0.33, 0.20 and 0.13. Speed-ups for 4, 8, 32, 128 and 512
 * square roots (12.6 instructions each): 0.85, 0.95, 1.25, 1.56, 1.67 with half of the lanes active, 0.98, 1.15, 1.96, 3.27, 4.14 with an eighth.
 */
import { annotationValue } from '../../src/analysis/annotations.js';
import { someLane } from '../../src/analysis/divergence-cost.js';
import type { Estimate, TransformContext } from '../lib/types.js';
import { costOf } from './region.js';
import { queued, type BlockPlan } from './block-shape.js';

/** What a kernel takes besides its instructions, for its memory traffic and its launch. */
const BASE = 120;
/** Votes, counts, ranks and two barriers. */
const PASS = 45;
/** To and from the queue, per value. */
const CARRIED = 2;
/** Speed-up below which the estimate is not worth an edit. */
const WORTH = 1.05;

export function estimateBlock(context: TransformContext, plan: BlockPlan): Estimate {
  const { facts } = context;
  const { region } = plan;
  const { share, origin } = shareOf(context, plan);
  const heavy = costOf(context, region.heavy.stmts);
  const rounds = region.frames.slice(0, plan.base + 1).reduce((product, frame) => {
    const owner = frame.owner;
    return owner !== null && (owner.kind === 'for' || owner.kind === 'while' || owner.kind === 'do') ? product * Math.max(1, facts.trips(owner).count) : product;
  }, 1);
  const whole = facts.function.body === null ? heavy : facts.cost(facts.function.body).instructions;
  const light = (BASE + Math.max(0, whole - heavy * rounds)) / rounds;
  const carried = plan.values.travels.filter(queued).length;
  const pass = PASS + CARRIED * carried + 8 * plan.values.travels.filter((travel) => travel.result).length;
  const threads = facts.block.value === null ? 256 : plan.capacity;
  const at = (p: number, cost: number): number => ratio(p, cost, light, pass, threads);
  const speedup = at(share, heavy);
  const enough = breakEven((cost) => at(share, cost));
  const one = threads <= 32;
  const pays = speedup >= WORTH && !one;
  const percent = `${Math.round(share * 100)}%`;
  const sorted = 'data that is sorted, or active in whole warps, loses (0.8 to 0.99 measured), which the text does not tell';
  const reason = one
    ? 'a block is one warp: there is no other warp whose items could fill it'
    : pays
      ? `with ${percent} of the lanes active (${origin}) a warp runs ${Math.round(heavy)} instructions for few lanes; ${sorted}`
      : `the heavy part is about ${Math.round(heavy)} instructions, and numbering the active threads costs about ${pass}: with ${percent} active (${origin}) it would have to be ${enough === null ? 'longer' : `${enough} or more`}`;
  return {
    speedup: round(speedup), low: round(Math.min(0.8, speedup)), high: round(Math.max(at(0.1, heavy), speedup)),
    instructionsBefore: Math.round((light + someLane(share) * heavy) * rounds), instructionsAfter: Math.round((light + pass + filled(share, threads) * heavy) * rounds),
    traffic: 0, breakEven: `${enough === null ? 'no length of the heavy part' : `heavy part of ${enough} instructions`} at ${percent} active lanes; ${sorted}`,
    provider: facts.cost(region.stmt).provider, pays, reason,
  };
}

function ratio(p: number, heavy: number, light: number, pass: number, threads: number): number {
  return (light + someLane(p) * heavy) / (light + pass + filled(p, threads) * heavy);
}

/** Share of a block's warps that its active lanes fill: half a warp more than they need on average, and one at least if there are any. */
export function filled(p: number, threads: number): number {
  const warps = Math.max(1, Math.ceil(threads / 32));
  const any = 1 - (1 - p) ** threads;
  return Math.min(1, Math.max(any, p * warps + 0.5 * any) / warps);
}

function breakEven(at: (cost: number) => number): number | null {
  for (let cost = 8; cost <= 4096; cost += 8) if (at(cost) >= WORTH) return cost;
  return null;
}

function shareOf(context: TransformContext, plan: BlockPlan): { readonly share: number; readonly origin: string } {
  const { source } = context.unit;
  const line = source.line(plan.region.stmt.span.start);
  const written = annotationValue(source, line, 'p');
  const value = written === undefined || written === null ? NaN : written.trim().endsWith('%') ? Number(written.trim().slice(0, -1)) / 100 : Number(written);
  if (Number.isFinite(value) && value >= 0 && value <= 1) return { share: plan.region.holds ? value : 1 - value, origin: 'annotation' };
  return { share: 0.5, origin: 'assumed' };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
