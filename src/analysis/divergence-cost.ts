/**
 * The figures that say what a divergent branch costs (SEMANTICS 3).
 *
 * Arms have costs `c_i` (issued warp-instructions of a warp that enters), thread shares `p_i`, and chances `P_i` that at least one live lane of
 * a warp takes the arm. Lost issue slots per warp are `Σ c_i (P_i − p_i)`: what is issued for lanes that do not take the arm. Efficiency
 * `Σ p_i c_i / Σ P_i c_i` is what hardware counters measure as thread-instructions per issued instruction over 32 (docs/estimates.md: 0.501 measured for an
 * even random split, 0.5 computed) and becomes the formula of the seeds when every warp takes every arm.
 */
import type { BlockShape, LaneSet } from './facts.js';

export const WARP = 32;

/** One way a branch can go. */
export interface ArmCost {
  readonly instructions: number;
  /** Share of threads. */
  readonly share: number;
  /** Share of arriving warps in which at least one lane takes it. */
  readonly warps: number;
}

/** Chance that at least one of `lanes` independent lanes takes an arm of share `p`. */
export function someLane(p: number, lanes: number = WARP): number {
  return 1 - (1 - p) ** lanes;
}

/** Share of warps in which independent lanes disagree: `1 − p^L − (1−p)^L`. */
export function disagreement(p: number, lanes: number = WARP): number {
  if (p <= 0 || p >= 1) return 0;
  return Math.max(0, 1 - p ** lanes - (1 - p) ** lanes);
}

/** `(Σ c) / max c`: 2 for two equal arms, 1 for an `if` without `else`. */
export function overheadOf(arms: readonly ArmCost[]): number {
  const costs = arms.map((arm) => arm.instructions);
  const largest = Math.max(0, ...costs);
  return largest === 0 ? 1 : costs.reduce((sum, cost) => sum + cost, 0) / largest;
}

/** `Σ p c / Σ P c`; 1 if nothing is issued. */
export function efficiencyOf(arms: readonly ArmCost[]): number {
  const useful = arms.reduce((sum, arm) => sum + arm.share * arm.instructions, 0);
  const issued = arms.reduce((sum, arm) => sum + arm.warps * arm.instructions, 0);
  return issued === 0 ? 1 : Math.min(1, useful / issued);
}

/** `Σ c (P − p)` per arriving warp. */
export function lostSlotsOf(arms: readonly ArmCost[]): number {
  return arms.reduce((sum, arm) => sum + arm.instructions * Math.max(0, arm.warps - arm.share), 0);
}

export interface Split {
  /** Share of threads for which the condition holds. */
  readonly p: number;
  /** Share of warps whose lanes disagree. */
  readonly rate: number;
  /** Share of warps in which some lane has it true, and in which some lane has it false. */
  readonly someTrue: number;
  readonly someFalse: number;
}

/** Independent lanes. */
export function independent(p: number, lanes: number = WARP): Split {
  return { p, rate: disagreement(p, lanes), someTrue: someLane(p, lanes), someFalse: someLane(1 - p, lanes) };
}

/** Exact figures of a known block. */
export function ofLaneSet(set: LaneSet): Split {
  const threads = set.holds.length;
  if (threads === 0) return { p: 0, rate: 0, someTrue: 0, someFalse: 0 };
  let holding = 0;
  let someTrue = 0;
  let someFalse = 0;
  for (let first = 0; first < threads; first += WARP) {
    const last = Math.min(threads, first + WARP);
    let here = 0;
    for (let thread = first; thread < last; thread++) here += set.holds[thread] ?? 0;
    holding += here;
    if (here > 0) someTrue++;
    if (here < last - first) someFalse++;
  }
  const warps = Math.ceil(threads / WARP);
  return { p: holding / threads, rate: set.divergentWarps / warps, someTrue: someTrue / warps, someFalse: someFalse / warps };
}

/** Threads that a one-dimensional launch is taken to have, and the side of a two- or three-dimensional one, if nothing tells. */
export const NOMINAL_THREADS = 1 << 20;
export const NOMINAL_SIDE = 1024;
export const NOMINAL_SIDE_3D = 128;

export function nominalExtent(axes: number): number {
  return axes <= 1 ? NOMINAL_THREADS : axes === 2 ? NOMINAL_SIDE : NOMINAL_SIDE_3D;
}

/** Axes along which a guard can fail, and what they are compared with if that is known. */
export interface Edge {
  readonly axis: 'x' | 'y' | 'z';
  readonly extent: number | null;
  /** Blocks along the axis if the launch tells; else as many as cover the extent. */
  readonly blocks?: number | null;
  /** The index is a position in its block: every block has this edge. */
  readonly inBlock?: boolean;
}

/**
 * Share of warps that diverge at a guard which runs once per thread: warps of the edge blocks whose lanes lie on both sides.
 * An extent that is not known is taken to end in the middle of its last block, in a launch of nominal size.
 */
export function boundaryShare(shape: BlockShape, edges: readonly Edge[]): { readonly rate: number; readonly assumed: boolean; readonly formula: string } {
  if (edges.length === 0) return { rate: 0, assumed: true, formula: 'no axis' };
  const nominal = nominalExtent(edges.length);
  const assumed = edges.some((edge) => edge.extent === null);
  let clean = 1;
  const parts: string[] = [];
  for (const edge of edges) {
    const side = shape[edge.axis];
    // The middle of the last block, but not on the border of a warp.
    const middle = Math.floor(side / 2) | 1;
    if (edge.inBlock === true) {
      const count = edge.extent === null ? middle : Math.min(edge.extent, side);
      const split = count === side ? 0 : splitWarps(shape, edge.axis, count);
      clean *= 1 - split;
      parts.push(`${split.toFixed(3).replace(/\.?0+$/, '')} of the warps of each block along ${edge.axis}`);
      continue;
    }
    const extent = edge.extent ?? nominal;
    const blocks = edge.extent === null ? Math.max(1, Math.ceil(extent / side)) : Math.max(1, edge.blocks ?? Math.ceil(extent / side));
    const inLast = edge.extent === null ? middle : edge.extent % side;
    const split = inLast === 0 ? 0 : splitWarps(shape, edge.axis, inLast);
    clean *= 1 - split / blocks;
    parts.push(`${split.toFixed(3).replace(/\.?0+$/, '')} of the warps of 1 in ${edge.extent === null ? `ceil(extent/${side})` : String(blocks)} blocks along ${edge.axis}`);
  }
  return { rate: 1 - clean, assumed, formula: parts.join(', ') };
}

/**
 * Exact figures of a guard whose extents are known: blocks along an axis lie inside, are cut, or lie outside, and one of each kind stands for all.
 * `p` is the share of threads inside. Null if an extent is not known.
 */
export function exactBoundary(shape: BlockShape, edges: readonly Edge[]): Split | null {
  let kinds: { readonly weight: number; readonly limits: Readonly<Record<'x' | 'y' | 'z', number>> }[] = [{ weight: 1, limits: { x: Infinity, y: Infinity, z: Infinity } }];
  for (const { axis, extent, blocks, inBlock } of edges) {
    if (extent === null) return null;
    const side = shape[axis];
    const total = inBlock === true ? 1 : Math.max(1, blocks ?? Math.ceil(extent / side));
    const whole = Math.min(total, Math.floor(extent / side));
    const rest = whole < total ? extent - whole * side : 0;
    const cut = rest > 0 ? 1 : 0;
    const along = [{ n: whole, limit: side }, { n: cut, limit: rest }, { n: total - whole - cut, limit: 0 }].filter(({ n }) => n > 0);
    kinds = kinds.flatMap(({ weight, limits }) => along.map(({ n, limit }) => ({ weight: (weight * n) / total, limits: { ...limits, [axis]: Math.min(limit, limits[axis]) } })));
  }
  const sum = { p: 0, rate: 0, someTrue: 0, someFalse: 0 };
  for (const { weight, limits } of kinds) {
    const { x, y } = shape;
    const holds = Uint8Array.from({ length: x * y * shape.z }, (_, thread) => Number(thread % x < limits.x && Math.floor(thread / x) % y < limits.y && Math.floor(thread / (x * y)) < limits.z));
    let divergentWarps = 0;
    for (let first = 0; first < holds.length; first += WARP) {
      const lanes = holds.subarray(first, first + WARP);
      if (lanes.includes(0) && lanes.includes(1)) divergentWarps++;
    }
    const here = ofLaneSet({ shape, holds, divergentWarps, warps: Math.ceil(holds.length / WARP) });
    sum.p += weight * here.p;
    sum.rate += weight * here.rate;
    sum.someTrue += weight * here.someTrue;
    sum.someFalse += weight * here.someFalse;
  }
  return sum;
}

/** Share of the warps of a block that are cut if only the first `count` positions along an axis are inside. */
function splitWarps(shape: BlockShape, axis: 'x' | 'y' | 'z', count: number): number {
  const threads = shape.x * shape.y * shape.z;
  let cut = 0;
  let warps = 0;
  for (let first = 0; first < threads; first += WARP) {
    warps++;
    let inside = false;
    let outside = false;
    for (let thread = first; thread < Math.min(threads, first + WARP); thread++) {
      const position = axis === 'x' ? thread % shape.x : axis === 'y' ? Math.floor(thread / shape.x) % shape.y : Math.floor(thread / (shape.x * shape.y));
      if (position < count) inside = true;
      else outside = true;
    }
    if (inside && outside) cut++;
  }
  return warps === 0 ? 0 : cut / warps;
}
