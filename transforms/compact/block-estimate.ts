/**
 * What compact:block gains. Per warp of the light part, with C the cost of the heavy part, p the share of active lanes:
 *
 *     before   light + P·C               P = 1 − (1−p)^32: some lane of the warp is active
 *     after    light + pass + D·C        D: warps that the active lanes of a block fill, over the warps of the block
 *
 * The memory traffic of a kernel hides instructions: below a floor they cost nothing. Floor and pass were fitted to measurements on one
 * H200 (docs: half the lanes active, 8/32/128/512 operations: 0.95/1.33/1.59/1.69; an eighth: 1.12/2.16/3.6/4.4; 3%: 0.93/1.5/2.4/3.3).
 */
import { annotationValue } from '../../src/analysis/annotations.js';
import { someLane } from '../../src/analysis/divergence-cost.js';
import type { Estimate, TransformContext } from '../lib/types.js';
import { costOf } from './region.js';
import { queued, type BlockPlan } from './block-shape.js';

/** Issued instructions that a kernel's memory traffic hides, per warp. */
const FLOOR = 48;
/** Votes, counts, ranks and two barriers. */
const PASS = 30;
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
  const light = Math.max(FLOOR, whole - heavy * rounds) / rounds;
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

/** Share of a block's warps that its active lanes fill: on average half a warp stays part empty. */
export function filled(p: number, threads: number): number {
  const warps = Math.max(1, Math.ceil(threads / 32));
  const active = p * warps;
  return Math.min(1, Math.max(active + 0.5 * (1 - (1 - p) ** threads), 0) / warps);
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
