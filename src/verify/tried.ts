/** What a comparison tried, in figures: so that "equal" is read as what it is. */
import type { Setting } from './settings.js';
import { spellShape, threads } from './shapes.js';

export interface Tried {
  /** Settings compared, and those that said nothing (the original faults, its order decides, a budget ran out). */
  readonly compared: number;
  readonly silent: number;
  readonly sizes: { readonly least: number; readonly greatest: number };
  readonly blocks: readonly string[];
  /** Threads of the largest grid. */
  readonly threads?: number;
  readonly seeds: number;
  readonly schedules: number;
  /** How many of the compared settings had sizes that differ from each other, full-range values, infinities and NaNs. */
  readonly unequalSizes: number;
  readonly fullRange: number;
  readonly special: number;
  /** Pairs of pointers that were given one address: `o = a`. */
  readonly aliased: readonly string[];
  /** Template arguments that were run. */
  readonly instances: readonly string[];
  /** Kernels of a launch plan, and in how many runs each had blocks. */
  readonly kernels?: readonly { readonly name: string; readonly runs: number }[];
}

export function triedOf(settings: readonly Setting[], silent: number, instance: string, kernels: NonNullable<Tried['kernels']> = []): Tried {
  const sizes = settings.map((s) => s.size);
  return {
    compared: settings.length, silent,
    sizes: { least: Math.min(...sizes, Infinity), greatest: Math.max(...sizes, -Infinity) },
    blocks: [...new Set(settings.map((s) => spellShape(s.block)))],
    threads: Math.max(0, ...settings.map((s) => threads(s.grid) * threads(s.block))),
    seeds: new Set(settings.map((s) => s.seed)).size, schedules: new Set(settings.map((s) => s.scheduleSeed)).size,
    unequalSizes: settings.filter((s) => s.extents !== 0).length, fullRange: settings.filter((s) => s.wide).length, special: settings.filter((s) => s.special).length,
    aliased: [...new Set(settings.flatMap((s) => (s.alias === null ? [] : [s.alias.join(' = ')])))],
    instances: instance === '' ? [] : [instance],
    ...(kernels.length === 0 ? {} : { kernels }),
  };
}

export function joinTried(all: readonly Tried[]): Tried {
  const sum = (of: (t: Tried) => number): number => all.reduce((n, t) => n + of(t), 0);
  const union = (of: (t: Tried) => readonly string[]): readonly string[] => [...new Set(all.flatMap(of))];
  const kernels = new Map<string, number>();
  for (const { name, runs } of all.flatMap((t) => t.kernels ?? [])) kernels.set(name, (kernels.get(name) ?? 0) + runs);
  return {
    compared: sum((t) => t.compared), silent: sum((t) => t.silent),
    sizes: { least: Math.min(...all.map((t) => t.sizes.least)), greatest: Math.max(...all.map((t) => t.sizes.greatest)) },
    blocks: union((t) => t.blocks), threads: Math.max(0, ...all.map((t) => t.threads ?? 0)), seeds: Math.max(...all.map((t) => t.seeds)), schedules: Math.max(...all.map((t) => t.schedules)),
    unequalSizes: sum((t) => t.unequalSizes), fullRange: sum((t) => t.fullRange), special: sum((t) => t.special),
    aliased: union((t) => t.aliased), instances: union((t) => t.instances),
    ...(kernels.size === 0 ? {} : { kernels: [...kernels].map(([name, runs]) => ({ name, runs })) }),
  };
}
