/**
 * What the steps of a plan say about the grid of the launch: which steps are a choice of two, which parts of the grid a condition speaks of, and
 * along which axes the launches take other numbers of blocks than the original.
 */
import { strip } from '../../src/analysis/children.js';
import { evaluate, single } from '../../src/analysis/integer-values.js';
import type { Expr } from '../../src/syntax/tree.js';
import { hostTexts, isArithmetic, namesIn } from './launch-names.js';
import { argumentsOf } from './launch-text.js';
import type { LaunchStep } from './types.js';

export type KernelStep = Extract<LaunchStep, { kind: 'kernel' }>;

export const AXES = ['.x', '.y', '.z'];

/** `gridDim.x <= 1`: a part of the grid that is not there. */
export const SMALL_GRID = /^(gridDim\.[xyz]) <= (\d+)$/;

/** The side of a grid that is not empty where the condition does not hold: `gridDim.x - 1` for `gridDim.x <= 1`. */
export function coveredBy(unless: string | null): readonly string[] {
  const most = unless === null ? null : SMALL_GRID.exec(unless);
  return most === null ? [] : [`${most[1] ?? ''} - ${most[2] ?? ''}`];
}

/** Such a condition where the launch says how many blocks there are. */
export function sizeDecides(grid: Expr, unless: string): boolean | null {
  const most = SMALL_GRID.exec(unless);
  if (most === null) return null;
  const e = strip(grid);
  const sides = e.kind === 'construct' ? e.arguments : e.kind === 'init-list' ? e.elements : [grid];
  const index = AXES.findIndex((axis) => most[1]?.endsWith(axis) === true);
  const side = sides[index];
  const blocks = side === undefined ? (sides.length > 0 && isArithmetic(sides[0]?.type ?? e.type) ? 1n : null) : single(evaluate(side, () => null));
  return blocks === null || blocks < 0n ? null : blocks <= BigInt(most[2] ?? '0');
}

/** Exactly one of the two runs. */
export function isChoice(first: KernelStep | undefined, second: KernelStep | undefined): boolean {
  if (first === undefined || second === undefined) return false;
  return second.unless !== null && first.unless === `!(${second.unless})` && first.grid.trim() === 'gridDim' && second.grid.trim() === 'gridDim';
}

/** Sides of a grid in the plan's words, from x on; null for the grid of the original. */
function sidesOf(grid: string): readonly string[] | null {
  const trimmed = grid.trim();
  if (trimmed === 'gridDim') return null;
  const list = /^dim3\s*\((.*)\)$/s.exec(trimmed)?.[1];
  return list === undefined ? [trimmed] : argumentsOf(list);
}

/** Axes (`.x`) along which a launch of the plan takes another number of blocks than the original. */
export function dividedAxes(steps: readonly LaunchStep[]): ReadonlySet<string> {
  const divided = new Set<string>();
  // Memory for the items of all blocks: none for a grid that is not launched.
  if (steps.some((step) => step.kind === 'temporary')) for (const axis of AXES) if (hostTexts({ steps }).flatMap(namesIn).some((name) => name.base + name.members === `gridDim${axis}`)) divided.add(axis);
  for (const step of steps) {
    if (step.kind !== 'kernel') continue;
    sidesOf(step.grid)?.forEach((side, i) => {
      const axis = AXES[i] ?? '.x';
      if (side !== `gridDim${axis}`) divided.add(axis);
    });
  }
  return divided;
}

/** The plan only asks whether there are so many blocks, and takes off a number of them: `gridDim.x <= 1`, `gridDim.x - 1`. */
export function onlyCounted(steps: readonly LaunchStep[], axis: string): boolean {
  const side = `gridDim${axis}`;
  const pieces = hostTexts({ steps }).flatMap((text) => sidesOf(text) ?? []);
  return pieces.every((piece) => !namesIn(piece).some((name) => name.base + name.members === side) || new RegExp(`^gridDim\\${axis}(?: (?:<=|-) \\d+)?$`).test(piece));
}
