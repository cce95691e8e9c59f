/**
 * What compact:grid gains. In issue slots of a warp (lib/machine.ts), with H the heavy part, R what is around it, p the share of heavy threads and
 * P = 1 − (1 − p)^32 the share of warps that hold one:
 *
 *     before    launch + memory + R + P·H
 *     after     launch + launches of the pass + memory of both kernels + R + ranks + p·(H + again)
 *
 * The pass costs a fill, a second launch, temporaries, ballots with two barriers, and a list that is written and read; DeviceSelect two more launches, and
 * marks that are written once and read twice. Heavy items come for their sectors a second time. The terms give 0.9 / 1.6 / 4.1 / 8.4 for 8, 32, 128 and 512 square
 * roots (12.6 instructions each) with 3% heavy and the counter, 0.7 / 1.3 / 3.5 / 7.5 with DeviceSelect and 0.6 / 0.95 / 1.5 / 1.8 with half of them heavy, where
 * 0.79 / 1.76 / 4.3 / 8.4, 0.59 / 1.37 / 3.6 / 7.8 and 0.54 / 0.98 / 1.48 / 1.72 was measured on one H200 with 4 Mi items (docs/estimates.md).
 *
 * Not known: how many threads a launch has (the size from which it pays is named), and in which order the data lies: heavy threads that are neighbours
 * already gain nothing.
 */
import { someLane } from '../../src/analysis/divergence-cost.js';
import { compiledLength } from '../lib/compiled-length.js';
import { launchSlots, memorySlots, NOMINAL_THREADS, passSlots, passTime, tailSlots, threadsFor } from '../lib/machine.js';
import { activeShare, percentOf } from '../lib/stated-share.js';
import { movedBytes, trafficOf, type Traffic } from '../lib/traffic.js';
import type { Estimate, TransformContext } from '../lib/types.js';
import { breakEvenText, lengthFor, WORTH, type Gain } from './break-even.js';
import type { GridPlan } from './grid-legal.js';
import { continuation } from './grid-shape.js';
import { carriedType } from './grid-slice.js';

/** Votes, counts, ranks and two barriers: as of a block. */
const RANKS = 45;
/** A mark is written where a rank would be worked out. */
const MARK = 4;
/** Launches and fills behind the first launch, and temporaries. */
const COUNTER = { launches: 2, temporaries: 2, bytes: 0, issued: RANKS };
const SELECT = { launches: 3, temporaries: 4, bytes: 3, issued: MARK };
/** Assumed share where nothing is said. */
const USUAL = 1 / 32;

interface Terms {
  readonly around: number;
  readonly tail: number;
  readonly outside: number;
  readonly inside: Traffic;
  readonly again: number;
  readonly itemBytes: number;
  readonly carriedBytes: number;
  readonly pass: typeof COUNTER;
}

export function estimateGrid(context: TransformContext, plan: GridPlan): Estimate {
  const { facts } = context;
  const { shape, slice, order, index } = plan;
  const { body } = facts.function;
  const moved = continuation(shape);
  const tailStmts = shape.tail.flat();
  const tail = compiledLength(facts, tailStmts);
  const work = compiledLength(facts, shape.heavy);
  const again = compiledLength(facts, slice.statements);
  const whole = body === null ? work + tail : compiledLength(facts, [body]);
  const itemBytes = index.item === 'unsigned' ? 4 : 8;
  const carriedBytes = slice.carried.reduce((sum, { decl }) => sum + bytesOf(carriedType(decl.type) ?? 'int'), 0);
  const terms: Terms = {
    around: Math.max(0, whole - work - tail), tail, again, itemBytes, carriedBytes,
    outside: body === null ? 0 : movedBytes(trafficOf(facts, [body], moved)),
    inside: trafficOf(facts, [...slice.statements, ...moved]),
    pass: order === 'keep' ? SELECT : COUNTER,
  };
  const { share, origin } = activeShare(context, shape.branch, isThen(plan), USUAL);
  const gain: Gain = (p, length) => beforeAt(terms, p, length) / afterAt(terms, p, length);
  const ratio = gain(share, work);
  const other = gain(0.5, work);
  const enough = lengthFor(gain, share);
  const pays = ratio >= WORTH;
  const traffic = Math.round(terms.pass.bytes + share * (2 * itemBytes + 2 * carriedBytes));
  const heaviest = `${percentOf(share)} heavy threads (${origin})`;
  const size = sizeText(terms, share, work);
  return {
    speedup: round(ratio), low: round(Math.min(ratio, other)), high: round(Math.max(ratio, other)),
    instructionsBefore: Math.round(terms.around + someLane(share) * work + tail), instructionsAfter: Math.round(terms.around + terms.pass.issued + (1 - share) * tail + share * (work + tail + again)), traffic,
    breakEven: `${breakEvenText(gain, share, origin, work)}; ${size}`,
    provider: shape.heavy[0] === undefined ? 'static' : facts.cost(shape.heavy[0]).provider,
    pays,
    reason: pays
      ? `${heaviest} come together in full warps; a list of ${itemBytes} bytes an item, ${carriedBytes === 0 ? 'nothing carried' : `${carriedBytes} bytes carried`}${order === 'keep' ? ', one byte a thread for the marks' : ''}; ${size}; nothing is gained where heavy threads are neighbours already`
      : `the heavy part is too light: with ${heaviest} the pass over all threads, a second launch and the list cost more than the ${Math.round(work)} instructions that it saves some warps${enough === null ? '' : `; it would take about ${enough}`}`,
  };
}

function beforeAt({ around, tail, outside, inside }: Terms, p: number, length: number, threads = NOMINAL_THREADS): number {
  return launchSlots(threads) + memorySlots(outside + movedBytes(inside, p)) + around + someLane(p) * length + tail + tailSlots(length, threads);
}

/** Without the second launch and the temporaries, whose time does not grow with the threads. */
function workAt({ around, tail, outside, inside, again, itemBytes, carriedBytes, pass }: Terms, p: number, length: number, threads: number): number {
  const list = { dense: 2 * p * (itemBytes + carriedBytes), scattered: 0 };
  return launchSlots(threads) + memorySlots(outside + pass.bytes + movedBytes(list) + movedBytes(inside, p)) + around + pass.issued + (1 - p) * tail
    + p * (length + tail + again) + tailSlots(length, threads);
}

function afterAt(terms: Terms, p: number, length: number, threads = NOMINAL_THREADS): number {
  return workAt(terms, p, length, threads) + passSlots(terms.pass.launches, terms.pass.temporaries, threads);
}

/** The number of threads from which the pass is paid for. */
function sizeText(terms: Terms, p: number, length: number): string {
  const saved = beforeAt(terms, p, length) - workAt(terms, p, length, NOMINAL_THREADS);
  const threads = threadsFor(passTime(terms.pass.launches, terms.pass.temporaries), saved);
  if (threads === null) return 'no launch is large enough for it';
  const least = threads < 1e6 ? `${Math.ceil(threads / 1000)} thousand` : `${(threads / 1e6).toFixed(1)} million`;
  return `it takes a launch of about ${least} threads or more (4 Mi are assumed)`;
}

function isThen({ shape }: GridPlan): boolean {
  return shape.arm === shape.branch.then;
}

function bytesOf(type: string): number {
  if (/long long|double/.test(type)) return 8;
  if (/char|bool/.test(type)) return 1;
  return type.includes('short') ? 2 : 4;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
