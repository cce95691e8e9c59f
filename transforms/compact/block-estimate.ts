/**
 * What compact:block gains. In issue slots of a warp (lib/machine.ts), with C the length of the heavy part and p the share of active lanes:
 *
 *     before   launch + memory + light + P·C               P = 1 − (1−p)^32: some lane of the warp is active
 *     after    launch + memory + light + pass + D·C        D: warps that the active lanes of a block fill, over the warps of the block
 *
 * Memory is the same for both: items stay in their block, and so do the sectors that they touch. D·C is never less than what one warp takes alone, since
 * the block waits for it. The terms give what was measured on one H200 (docs/estimates.md): with half, an eighth and 3% of the lanes active 1.00 / 1.32 / 1.60 / 1.73,
 * 1.15 / 2.05 / 3.5 / 4.6 and 1.0 / 1.5 / 2.4 / 3.0 for 8, 32, 128 and 512 square roots of 12.6 instructions, where 0.95 / 1.33 / 1.59 / 1.69,
 * 1.12 / 2.16 / 3.6 / 4.4 and 0.93 / 1.5 / 2.3 to 2.5 / 2.9 to 3.7 was measured. In a loop whose rounds end in a barrier, each also waits for its loads.
 *
 * Not known: in which order the data lies. Where it is sorted, or active in whole warps, both run the same warps, and the pass is lost (0.80 to 0.99).
 */
import { someLane } from '../../src/analysis/divergence-cost.js';
import { compiledLength } from '../lib/compiled-length.js';
import { chainSlots, launchSlots, memorySlots, WAIT_SLOTS } from '../lib/machine.js';
import { activeShare, percentOf } from '../lib/stated-share.js';
import { movedBytes, trafficOf } from '../lib/traffic.js';
import type { Estimate, TransformContext } from '../lib/types.js';
import { breakEvenText, lengthFor, WORTH, type Gain } from './break-even.js';
import { isLoop } from './region.js';
import { queued, type BlockPlan } from './block-shape.js';

/** Votes, counts, ranks and two barriers: 45 to 50 measured. */
const PASS = 45;
/** To and from the queue, per value; and the way back of a result, with its barrier. */
const CARRIED = 2;
const RETURNED = 8;
/** Share of active lanes where nothing is said. */
const USUAL = 0.5;
/** Speed-up that it must promise then: more lanes, or lanes that are active together, take 5 to 20 percent. */
const WORTH_UNSAID = 1.15;

/** What a round issues and waits for, in slots of a warp. */
interface Terms {
  /** Common to both: launch, memory and everything but the heavy part. */
  readonly around: number;
  readonly memory: (share: number) => number;
  readonly pass: number;
  /** Waiting that the barriers of a round add. */
  readonly wait: number;
  readonly threads: number;
}

export function estimateBlock(context: TransformContext, plan: BlockPlan): Estimate {
  const { facts } = context;
  const { region } = plan;
  const { share, origin } = activeShare(context, region.stmt, region.holds, USUAL);
  const heavy = compiledLength(facts, region.heavy.stmts);
  const { body } = facts.function;
  const rounds = region.frames.slice(0, plan.base + 1).reduce((product, { owner }) => (owner !== null && isLoop(owner) ? product * Math.max(1, facts.trips(owner).count) : product), 1);
  const whole = body === null ? heavy : compiledLength(facts, [body]);
  const light = Math.max(0, whole - heavy * rounds) / rounds;
  const outside = body === null ? { dense: 0, scattered: 0 } : trafficOf(facts, [body], region.heavy.stmts);
  const inside = trafficOf(facts, region.heavy.stmts);
  const carried = plan.values.travels.filter(queued).length;
  const threads = facts.block.value === null ? 256 : plan.capacity;
  const terms: Terms = {
    around: launchSlots() / rounds + light,
    memory: (p) => memorySlots(movedBytes(outside) / rounds + movedBytes(inside, p)),
    pass: PASS + CARRIED * carried + RETURNED * plan.values.travels.filter((travel) => travel.result).length,
    wait: plan.loops && outside.dense + outside.scattered > 0 ? WAIT_SLOTS : 0,
    threads,
  };
  const gain: Gain = (p, length) => before(terms, p, length) / after(terms, p, length);
  const speedup = gain(share, heavy);
  const one = threads <= 32;
  const worth = origin === 'assumed' ? WORTH_UNSAID : WORTH;
  const pays = speedup >= worth && !one;
  const enough = lengthFor(gain, share);
  const sorted = 'data that is sorted, or active in whole warps, loses (0.8 to 0.99 measured), which the text does not tell';
  const active = `${percentOf(share)} of the lanes active (${origin})`;
  const reason = one
    ? 'a block is one warp: there is no other warp whose items could fill it'
    : pays
      ? `with ${active} a warp runs ${Math.round(heavy)} instructions for few lanes; ${sorted}`
      : speedup >= WORTH
        ? `with ${active} it gains ${((speedup - 1) * 100).toFixed(0)}%, which another share, or lanes that are active together, may undo: say how many there are, by // divmod: p= at the branch or --assume p@${context.unit.source.line(region.stmt.span.start)}=`
      : `the heavy part is about ${Math.round(heavy)} instructions, and numbering the active threads costs about ${terms.pass}: with ${active} it would have to be ${enough === null ? 'longer than any' : `${enough} or more`}`;
  return {
    speedup: round(speedup), low: round(Math.min(0.8, speedup)), high: round(Math.max(gain(0.1, heavy), speedup)),
    instructionsBefore: Math.round((light + someLane(share) * heavy) * rounds), instructionsAfter: Math.round((light + terms.pass + filled(share, threads) * heavy) * rounds),
    traffic: 0, breakEven: `${breakEvenText(gain, share, origin, heavy)}; ${sorted}`,
    provider: facts.cost(region.stmt).provider, pays, reason,
  };
}

function before({ around, memory }: Terms, p: number, length: number): number {
  return around + memory(p) + someLane(p) * length;
}

function after({ around, memory, pass, wait, threads }: Terms, p: number, length: number): number {
  return around + memory(p) + pass + wait + Math.max(filled(p, threads) * length, someLane(p, threads) * chainSlots(length));
}

/** Share of a block's warps that its active lanes fill: half a warp more than they need on average, and one at least if there are any. */
export function filled(p: number, threads: number): number {
  const warps = Math.max(1, Math.ceil(threads / 32));
  const any = 1 - (1 - p) ** threads;
  return Math.min(1, Math.max(any, p * warps + 0.5 * any) / warps);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
