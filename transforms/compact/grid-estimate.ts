/**
 * What compact:grid gains. In units of issued instructions of a warp, with H the heavy part, R what is around it, p the share of heavy threads and
 * P = 1 − (1 − p)^32 the share of warps that hold one:
 *
 *     before    R + P·H
 *     after     R + pass + p·(H + again) + memory of the list
 *
 * The pass (ballots, a list in memory, a second launch) costs what about 12 to 20 instructions of every thread would: fitted to one H200, 4 Mi items,
 * where 3% heavy with 8 / 32 / 128 / 512 operations gave 0.79 / 1.76 / 4.3 / 8.4 with the counter and 0.59 / 1.37 / 3.6 / 7.8 with DeviceSelect, and
 * half of them heavy 0.54 / 0.98 / 1.48 / 1.72. Data that is sorted, or heavy in whole warps, gains nothing: that cannot be seen in the text.
 */
import { forEachChild, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Stmt } from '../../src/syntax/tree.js';
import type { Estimate, TransformContext } from '../lib/types.js';
import type { GridPlan } from './grid-legal.js';
import { continuation } from './grid-shape.js';
import { carriedType } from './grid-slice.js';

/** Time of reading and writing one float a thread, in instructions of a heavy part. */
const BASE = 9;
/** Ballots, the list and the second launch; DeviceSelect reads and writes the marks twice more. */
const COUNTER_PASS = 12;
const SELECT_PASS = 20;
/** Counter, test and jump of an iteration that the compiler's unrolling saves. */
const UNROLLED = 2.5;
/** Constant trip counts up to which a loop is unrolled as a whole. */
const SHORT = 16;
/** A list scatters what were neighbours: loads and stores of the heavy part come from as many sectors as there are items. */
const SCATTER = 1.1;
/** Assumed share where nothing is known. */
const USUAL = 1 / 32;

export function estimateGrid(context: TransformContext, plan: GridPlan): Estimate {
  const { facts } = context;
  const { shape, slice, order, index } = plan;
  const heavy = lengthOf(facts, continuation(shape));
  const again = slice.statements.reduce((sum, stmt) => sum + facts.cost(stmt).instructions, 0);
  const tail = lengthOf(facts, shape.tail.flat());
  const light = shape.guards.slice(-1).flatMap(({ then, else: otherwise }) => [then, otherwise]).filter((arm) => arm !== null && arm !== shape.arm);
  const around = BASE + lengthOf(facts, light.flatMap((arm) => arm ?? [])) + shape.before.flat().reduce((sum, stmt) => sum + facts.cost(stmt).instructions, 0) - again;
  const itemBytes = index.item === 'unsigned' ? 4 : 8;
  const carriedBytes = slice.carried.reduce((sum, { decl }) => sum + bytesOf(carriedType(decl.type) ?? 'int'), 0);
  const pass = order === 'keep' ? SELECT_PASS : COUNTER_PASS;
  const work = heavy - tail;
  const at = (p: number): { before: number; after: number } => {
    const warps = 1 - (1 - p) ** 32;
    return {
      before: around + warps * work + tail,
      after: around + pass + (1 - p) * tail + p * SCATTER * (heavy + again + (2 * itemBytes + 2 * carriedBytes) / 4),
    };
  };
  const usual = at(USUAL);
  const half = at(0.5);
  const ratio = usual.before / usual.after;
  const other = half.before / half.after;
  const breakEven = lengthAt(at, work);
  const pays = ratio > 1.03;
  const share = shareAt(at);
  const traffic = Math.round((order === 'keep' ? 3 : 0) + USUAL * (2 * itemBytes + 2 * carriedBytes));
  return {
    speedup: round(ratio), low: round(Math.min(ratio, other)), high: round(Math.max(ratio, other)),
    instructionsBefore: Math.round(usual.before), instructionsAfter: Math.round(usual.after), traffic,
    breakEven: `the heavy part costs about ${Math.round(work)} instructions; at 3% of the threads it pays from about ${breakEven}${share === null ? '' : `, at this length up to ${Math.round(share * 100)}% of the threads`}`,
    provider: shape.heavy[0] === undefined ? 'static' : facts.cost(shape.heavy[0]).provider,
    pays,
    reason: pays
      ? `heavy threads come together in full warps; a list of ${itemBytes} bytes an item, ${carriedBytes === 0 ? 'nothing carried' : `${carriedBytes} bytes carried`}${order === 'keep' ? ', one byte a thread for the marks' : ''}; nothing is gained where heavy threads are neighbours already, nor in launches of few threads: allocations and the second launch cost some 10 µs`
      : `the heavy part is too light: the pass over all threads costs more than about ${Math.round(work)} instructions in some lanes`,
  };
}

/** Instructions of statements, their loops unrolled as the compiler does. */
function lengthOf(facts: FunctionFacts, stmts: readonly Stmt[]): number {
  const cost = stmts.reduce((sum, stmt) => sum + facts.cost(stmt).instructions, 0);
  let iterations = 0;
  const visit = (node: Node, times: number): void => {
    const loop = node.kind === 'for' || node.kind === 'while' || node.kind === 'do' || node.kind === 'range-for';
    const trips = loop ? facts.trips(node) : null;
    const inside = trips === null ? times : times * Math.max(1, trips.count);
    // The cost of short loops is that of their unrolled bodies already.
    if (trips !== null && (trips.origin !== 'constant' || trips.count > SHORT)) iterations += inside;
    forEachChild(node, (child) => visit(child, inside));
  };
  for (const stmt of stmts) visit(stmt, 1);
  return Math.max(cost / 3, cost - UNROLLED * iterations);
}

/** Length of the heavy part from which it pays at the usual share. */
function lengthAt(at: (p: number) => { before: number; after: number }, work: number): string {
  const { before, after } = at(USUAL);
  const warps = 1 - (1 - USUAL) ** 32;
  // before − after grows with the length by `warps − p·SCATTER` an instruction.
  const missing = (after - before) / (warps - USUAL * SCATTER);
  return `${Math.max(1, Math.ceil(work + missing))}`;
}

/** Largest share of heavy threads at which it still pays; null if at none. */
function shareAt(at: (p: number) => { before: number; after: number }): number | null {
  let best: number | null = null;
  for (let percent = 1; percent <= 100; percent++) {
    const { before, after } = at(percent / 100);
    if (before > after) best = percent / 100;
  }
  return best;
}

function bytesOf(type: string): number {
  if (/long long|double/.test(type)) return 8;
  if (/char|bool/.test(type)) return 1;
  return type.includes('short') ? 2 : 4;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
