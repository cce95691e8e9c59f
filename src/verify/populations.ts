/**
 * Settings in which every kernel of a launch plan has blocks, and those of several populations have them in one run: only then a second population counts its blocks from
 * somewhere else than zero. Parameters named like sizes are larger than any grid that is tried, so that `blockIdx.x < m` would never have an other side.
 *
 * Values of the scalars that the plan's launches rest on are searched by evaluating the launches alone: around the numbers of blocks and of threads of the grid and around the
 * constants of the code. At most two are set at a time.
 */
import type { Arguments } from '../simulate/arguments.js';
import type { Plan } from '../simulate/plan.js';
import type { Shape } from '../simulate/simulate.js';
import { isFloating, type SimType } from '../simulate/types.js';
import type { Usage } from '../simulate/usage.js';
import type { Setting } from './settings.js';

export interface PopulationSearch {
  readonly plan: Plan;
  readonly usual: readonly Setting[];
  /** Kernels that have blocks under a setting, one for each launch; null if that cannot be told. */
  readonly launched: (setting: Setting) => readonly string[] | null;
  /** Parameters of the original and members of its structs. */
  readonly scalars: readonly { readonly name: string; readonly type: SimType }[];
  /** What the caller fixed. */
  readonly given: Arguments;
  readonly grids: readonly Shape[] | null;
  readonly axes: { readonly y: boolean; readonly z: boolean };
  readonly usage: Usage;
}

/** Launches that are evaluated in search of a setting. */
const MOST_TRIED = 600;
/** Settings with blocks for all that are added to the usual ones. */
const MOST_ADDED = 4;
/** Blocks along an axis: enough for a first population, a border, an inside and a rest. */
const BLOCKS = 5;

/** Names of the plan's kernels. */
export function kernelsOf(plan: Plan): readonly string[] {
  return [...new Set(plan.steps.flatMap((step) => (step.kind === 'kernel' ? [step.kernel] : [])))];
}

/** Does the plan give each of its kernels a part of the grid? Else they take turns, or each has all of it. */
export function divides(plan: Plan): boolean {
  return plan.steps.some((step) => step.kind === 'kernel' && step.grid !== 'gridDim' && step.anyGrid !== true) && kernelsOf(plan).length > 1;
}

/** Settings to be tried beside the usual ones, the most telling first. */
export function populationSettings(search: PopulationSearch): readonly Setting[] {
  const { plan, usual, launched } = search;
  const kernels = kernelsOf(plan);
  if (kernels.length < 2) return [];
  const missing = new Set(kernels);
  for (const setting of usual) for (const name of launched(setting) ?? []) missing.delete(name);
  const together: { readonly setting: Setting; readonly rank: number }[] = [];
  const alone: Setting[] = [];
  let tried = 0;
  for (const setting of candidates(search)) {
    if (++tried > MOST_TRIED) break;
    const names = launched(setting);
    if (names === null) continue;
    const distinct = new Set(names).size;
    if (divides(plan) && distinct > 1) together.push({ setting, rank: distinct * 1000 + names.length });
    if (names.some((name) => missing.has(name))) alone.push(setting);
    for (const name of names) missing.delete(name);
  }
  const most = Math.max(...together.map(({ rank }) => rank));
  const best = together.filter(({ rank }) => rank === most).map(({ setting }) => setting);
  // Spread over the values that will do.
  const chosen = best.length <= MOST_ADDED ? best : Array.from({ length: MOST_ADDED }, (_, i) => best[Math.floor((i * (best.length - 1)) / (MOST_ADDED - 1))]).filter((setting) => setting !== undefined);
  return [...chosen, ...alone.slice(0, MOST_ADDED)].map((setting, i) => ({ ...setting, seed: setting.seed + i }));
}

function* candidates(search: PopulationSearch): Generator<Setting> {
  const { usual, scalars, given, grids, axes, plan } = search;
  const [first] = usual;
  if (first === undefined) return;
  const words = new Set(plan.steps.flatMap((step) => (step.kind === 'kernel' ? [step.grid, step.unless ?? ''] : step.kind === 'value' ? [step.value] : [])).flatMap((text) => text.match(/[A-Za-z_][\w.]*/g) ?? []));
  const named = scalars.filter(({ name, type }) => words.has(name) && !given.has(name) && (type.k === 'scalar' || type.k === 'pointer'));
  const grid: Shape = grids?.[0] ?? [BLOCKS, axes.y ? BLOCKS : 1, axes.z ? BLOCKS : 1];
  const base: Setting = { ...first, grid, size: grids === null ? Math.max(1, BLOCKS * first.block[0] - 3) : first.size, extents: 0, special: false, wide: false, scheduleSeed: 0 };
  yield base;
  const values = named.map(({ type }) => valuesFor(type, grid, first.block, search.usage));
  const set = (pairs: readonly (readonly [string, number])[]): Setting => ({ ...base, values: Object.fromEntries(pairs) });
  for (const [i, { name }] of named.entries()) for (const value of values[i] ?? []) yield set([[name, value]]);
  for (const [i, one] of named.entries()) {
    for (const [j, other] of named.entries()) {
      if (j <= i) continue;
      for (const value of values[i] ?? []) for (const second of values[j] ?? []) yield set([[one.name, value], [other.name, second]]);
    }
  }
}

/** Values that may part the blocks of a grid, few and telling. */
function valuesFor(type: SimType, grid: Shape, block: Shape, usage: Usage): readonly number[] {
  // A pointer is null, or what the seed gives.
  if (type.k !== 'scalar') return [0];
  if (type.s === 'bool') return [0, 1];
  if (isFloating(type.s)) return [...new Set(usage.reals.flatMap((c) => [c, c - 0.25 * Math.max(1, Math.abs(c)), c + 0.25 * Math.max(1, Math.abs(c))]))].slice(0, 12);
  const blocks = Math.max(...grid);
  const edge = block[0];
  const near = usage.integers.filter((c) => c >= 0 && c < 2 ** 15).slice(0, 6).flatMap((c) => [c, c + 1, c - 1]);
  return [...new Set([1, 2, blocks - 1, blocks >> 1, 3, edge + 1, 2 * edge, (blocks - 1) * edge - 5, blocks * edge - edge, blocks * edge - 3, 0, ...near])].filter((value) => value >= 0);
}
