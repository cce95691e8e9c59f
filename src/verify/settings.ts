/** Which launches a comparison tries: block shapes that the code allows, sizes around warp and block edges, seeds and schedules. */
import type { Shape } from '../simulate/simulate.js';
import type { Usage } from '../simulate/usage.js';
import type { FunctionDecl, Launch, Program } from '../syntax/tree.js';
import { axesOf, blockShapes, constantSharedBytes, constantShape, sameShape, spellShape, threads } from './shapes.js';

/** One run, reproducible from these values alone. */
export interface Setting {
  readonly seed: number;
  readonly size: number;
  readonly block: Shape;
  readonly grid: Shape;
  readonly scheduleSeed: number;
  /** Infinities, NaNs and negative zeros among floating inputs. */
  readonly special: boolean;
  /** Integers over their whole range, floating values of all magnitudes. */
  readonly wide: boolean;
  /** How parameters that are named like sizes differ: see `extentOf`. */
  readonly extents: number;
  /** Two pointer parameters that hold the same address, the earlier first. */
  readonly alias: readonly [string, string] | null;
  /** Bytes of dynamic shared memory; null: what a block of that size usually needs. */
  readonly sharedBytes: number | null;
  /** Kernels of a plan that take any number of blocks get one. */
  readonly oneBlock?: true;
  /** Scalars that have these values, whatever the seed and the size give. */
  readonly values?: Readonly<Record<string, number>>;
}

export interface SettingOptions {
  readonly blocks?: readonly Shape[];
  readonly grids?: readonly Shape[];
  readonly sizes?: readonly number[];
  readonly seeds?: readonly number[];
  readonly schedules?: readonly number[];
  readonly sharedBytes?: number;
  /** Sums are compared with a tolerance: floating inputs of all magnitudes would cancel each other. */
  readonly tolerance?: number;
  /** Of both versions. */
  readonly usage?: Usage;
  /** Those that ask for the instance; all visible ones if absent. */
  readonly launches?: readonly Launch[];
  /** False if there is but one size, which cannot differ from others. */
  readonly severalSizes?: boolean;
}

const ceil = (n: number, d: number, most: number): number => Math.max(1, Math.min(most, Math.ceil(n / d)));

/** Constants around which sizes are tried, and how large they may be. */
const MOST_CONSTANTS = 3;
const LARGEST_CONSTANT = 4096;

/** Turns that a loop with a grid stride takes in the setting with a single block. */
const TURNS = 12;

/** `blocks`: at least so many; `alone`: one block whatever the size is. */
interface Pair { readonly block: Shape; readonly size: number; readonly blocks?: number; readonly alone?: boolean }

/**
 * Settings in the order in which they are tried. The first rounds go through the telling sizes (none, one, around a warp, around a
 * block, several blocks) for every block shape, each with another seed; later rounds take sizes a few elements off multiples of 32,
 * where bounds that are one off show, and sizes around constants of the code. Every second setting has sizes that differ from each
 * other, some have too few blocks for one thread an element (loops with a grid stride then take a second turn), a fourth of the seeds
 * has full-range integers, another one infinities and NaNs.
 */
export function settingsFor(program: Program, kernel: FunctionDecl, options: SettingOptions): Setting[] {
  const launches = options.launches ?? program.launchesOf(kernel);
  const usage = options.usage ?? null;
  const blocks = options.blocks ?? blockShapes(program, kernel, launches, usage);
  const seeds = options.seeds ?? Array.from({ length: 16 }, (_, i) => i + 1);
  const schedules = options.schedules ?? [0, 1, 0, 2, 3];
  const { y, z } = axesOf(kernel);
  const coarse: Pair[] = [];
  const fine: Pair[] = [];
  const telling = blocks.map((block) => {
    const edge = block[0];
    return options.sizes ?? (y || z ? [edge + 1, 1, 2 * edge + 3, edge, edge - 1, 0, 33] : [2 * threads(block) + 37, edge + 1, 1, edge, 33, edge - 1, 0, 32, 31, 3 * edge]);
  });
  // The first shape is the code's own where a launch is visible: it sees every size.
  const rounds = Math.max(...telling.map((t) => t.length));
  for (let r = 0; r < rounds; r++) {
    for (const [b, block] of blocks.entries()) {
      const size = telling[b]?.[r];
      if (size !== undefined && size >= 0 && (b === 0 || (r + b) % 2 === 0 || (b > 6 && r === 0))) coarse.push({ block, size });
    }
  }
  const own = blocks[0];
  if (options.sizes === undefined) {
    for (let r = 0; own !== undefined && r < 24; r++) {
      const span = y || z ? own[0] : 32;
      fine.push({ block: blocks[r % 3 === 2 ? (r >> 1) % blocks.length : 0] ?? own, size: span * (1 + (r * 5) % (y || z ? 3 : 9)) + ((r * 7) % 11) - 5 });
    }
  }
  // Two telling sizes, then one a few elements off.
  const pairs = coarse.flatMap((pair, i) => { const extra = i % 2 === 1 ? fine[(i - 1) / 2] : undefined; return extra === undefined ? [pair] : [pair, extra]; });
  pairs.push(...fine.slice(Math.floor(coarse.length / 2)));
  // A grid that the caller fixed has threads for more elements than the usual sizes.
  if (options.sizes === undefined) pairs.splice(1, 0, ...coveredBy(options.grids ?? [], blocks.slice(0, 1)));
  if (own !== undefined && options.sizes === undefined) pairs.splice(6, 0, ...aroundConstants(own, usage, y || z), ...(y || z ? [] : [{ block: own, size: TURNS * own[0] + 5, alone: true }]));
  const settings: Setting[] = [];
  const known = new Set<string>();
  const total = Math.max(pairs.length, options.sizes === undefined ? Math.min(64, Math.max(pairs.length, 48)) : pairs.length * Math.min(seeds.length, 4));
  for (let i = 0; i < total; i++) {
    const pair = pairs[i % pairs.length];
    const seed = seeds[i % seeds.length];
    if (pair === undefined || seed === undefined || pair.size < 0) continue;
    const { block, size } = pair;
    const most = pair.alone === true ? 1 : pair.blocks ?? 4;
    // Also where the caller names the sizes: a grid that does not cover them is as good a launch as one that does.
    const short = options.grids === undefined && pair.blocks === undefined && (i % 7 === 1 || i % 7 === 4);
    const fit = (n: number): number => (short ? Math.max(1, n >> 1) : n);
    const grids: readonly Shape[] = options.grids ?? [[fit(Math.max(ceil(size, block[0], most), pair.blocks ?? 1)), y ? fit(ceil(size, block[1], 4)) : 1, z ? ceil(size, block[2], 4) : 1]];
    const grid = grids[Math.floor(i / pairs.length) % grids.length] ?? [1, 1, 1];
    const setting: Setting = {
      seed, size, block, grid, scheduleSeed: schedules[i % schedules.length] ?? 0, special: seed % 4 === 3, wide: seed % 4 === 2 && options.tolerance === undefined,
      extents: options.severalSizes !== false && i % 2 === 1 ? 1 + ((i >> 1) % 3) : 0, alias: null, sharedBytes: options.sharedBytes ?? sharedBytesOf(launches, block),
    };
    const key = JSON.stringify(setting);
    if (known.has(key)) continue;
    known.add(key);
    settings.push(setting);
  }
  return settings;
}

/**
 * The settings for a plan with kernels that take any number of blocks: of those with several blocks the first one twice, then every second one with a
 * single block for such kernels. Their loops go round again only there: the launches of a comparison are too small to reach the most blocks.
 */
export function withOneBlock(settings: readonly Setting[]): Setting[] {
  let several = 0;
  return settings.flatMap((setting): Setting[] => {
    if (setting.grid[0] * setting.grid[1] * setting.grid[2] < 2) return [setting];
    const single: Setting = { ...setting, oneBlock: true };
    several++;
    return several === 1 ? [setting, single] : [several % 2 === 0 ? single : setting];
  });
}

/** Negative values that are tried of a scalar: just below zero, and far enough for a sum with a small index to stay below it. */
const NEGATIVES = [-3, -1];
/** Settings with a negative scalar, and behind how many others they come. */
const MOST_NEGATIVE = 8;
const BEFORE_NEGATIVES = 5;

/**
 * Settings in which one of the scalars is a small negative number, the first of them soon. What the usual ones hold is never negative, except over the whole range, where loops
 * never begin or never end; but `k + offset < n` and a bound of `n - 1` go wrong just below zero. `names`: scalars of signed types.
 */
export function withNegatives(settings: readonly Setting[], names: readonly string[]): Setting[] {
  const bases = settings.filter((setting) => setting.size > 3 && setting.extents === 0 && !setting.wide && !setting.special && setting.values === undefined);
  const made = NEGATIVES.flatMap((value) => names.flatMap((name, i): Setting[] => {
    const base = bases[i % Math.max(1, Math.min(3, bases.length))];
    return base === undefined ? [] : [{ ...base, values: { [name]: value } }];
  })).slice(0, MOST_NEGATIVE);
  // One after every second one, so that a short budget sees both kinds.
  const out = settings.slice(0, BEFORE_NEGATIVES);
  for (const [i, setting] of settings.slice(BEFORE_NEGATIVES).entries()) {
    const next = i % 2 === 0 ? made[i / 2] : undefined;
    out.push(...next === undefined ? [] : [next], setting);
  }
  return [...out, ...made.slice(Math.ceil(Math.max(0, settings.length - BEFORE_NEGATIVES) / 2))];
}

/** Launches of no blocks, as a host makes them of no elements; a plan must run nothing either. After the first setting, so that the budget does not end before. */
export function withEmptyGrid(settings: readonly Setting[], axes: { readonly y: boolean; readonly z: boolean }): Setting[] {
  const [first, ...others] = settings;
  if (first === undefined) return [];
  const empty = [true, axes.y, axes.z].flatMap((used, axis): Setting[] => {
    const base = settings.find((setting) => setting.size > 0 && setting.extents === 0) ?? first;
    return used ? [{ ...base, grid: [axis === 0 ? 0 : base.grid[0], axis === 1 ? 0 : base.grid[1], axis === 2 ? 0 : base.grid[2]] }] : [];
  });
  return [first, ...empty, ...others];
}

/** Sizes just beyond constants of the code, with grids that reach them. */
function aroundConstants(own: Shape, usage: Usage | null, plane: boolean): Pair[] {
  if (usage === null) return [];
  // More threads than a narrow type has numbers for: with few elements, with one an own element, and each with its own (a guard
  // lets the others do nothing).
  const out = (usage.narrow ?? []).flatMap((limit): Pair[] => {
    const blocks = Math.ceil((limit + 64) / threads(own));
    // In a plane one axis alone goes so far.
    if (plane) return [{ block: own, size: Math.min(own[0], 9), blocks: Math.ceil((limit + 64) / own[0]) }];
    return blocks <= 1 ? [] : [{ block: own, size: 40, blocks }, { block: own, size: own[0] + 9, blocks }, { block: own, size: limit + 70, blocks: Math.ceil((limit + 70) / threads(own)) }];
  });
  const counts = [...new Set(usage.places.filter((p) => (p.of === 'block' || p.of === 'gridDim') && p.axis === 'x' && p.value >= 3 && p.value < 64).map((p) => p.value + 2))].slice(0, MOST_CONSTANTS);
  // `gridDim.x == 7` holds in a grid of just so many.
  const grids = [...new Set(usage.places.filter((p) => p.of === 'gridDim' && p.axis === 'x' && p.value >= 1 && p.value < 64).flatMap((p) => [p.value, p.value + 1]))].slice(0, 2 * MOST_CONSTANTS);
  for (const blocks of grids) out.push({ block: own, size: own[0] * blocks - 3, blocks });
  // The block of that number has elements of its own only if there are so many.
  for (const blocks of counts) out.push({ block: own, size: own[0] * blocks - 3, blocks }, { block: own, size: own[0] * 2, blocks });
  if (plane) return out;
  const indices = usage.places.filter((p) => p.of === 'index').map((p) => p.value);
  const constants = [...new Set([...indices, ...usage.integers])].filter((c) => c > 33 && c <= LARGEST_CONSTANT).slice(0, MOST_CONSTANTS);
  for (const c of constants) for (const size of [c + 1 + (c % 3), c]) out.push({ block: own, size, blocks: Math.min(64, Math.ceil((c + 4) / own[0])) });
  return out;
}

/** Sizes for which a grid just has the threads, and has some too many. */
function coveredBy(grids: readonly Shape[], blocks: readonly Shape[]): Pair[] {
  return grids.flatMap((grid) => blocks.flatMap((block) => {
    const along = grid[0] * block[0];
    return along === 0 || along > LARGEST_COVERED ? [] : [{ block, size: along }, { block, size: Math.max(0, along - 5) }];
  }));
}

/** Threads along x, beyond which runs take too long. */
const LARGEST_COVERED = 131_072;

/** What a visible launch with that block shape gives. */
function sharedBytesOf(launches: readonly Launch[], block: Shape): number | null {
  for (const launch of launches) {
    const shape = constantShape(launch.block);
    if (shape !== null && sameShape(shape, block)) return constantSharedBytes(launch);
  }
  return null;
}

/** The same setting with another block shape, and a grid that covers as many elements. */
export function reshaped(setting: Setting, block: Shape, sharedBytes: number | null): Setting {
  const grid: Shape = [ceil(setting.grid[0] * setting.block[0], block[0], 64), setting.grid[1], setting.grid[2]];
  return { ...setting, block, grid, sharedBytes };
}

/** Smaller settings that may show the same difference, smallest first. */
export function smaller(setting: Setting, blocks: readonly Shape[]): Setting[] {
  const out: Setting[] = [];
  const sorted = [...blocks].sort((a, b) => threads(a) - threads(b));
  for (const block of sorted) {
    if (threads(block) > threads(setting.block)) continue;
    // Dynamic shared memory of a launch belongs to its block shape.
    if (setting.sharedBytes !== null && !sameShape(block, setting.block)) continue;
    for (const size of [0, 1, 2, 3, 5, 8, 16, 31, 32, 33, 64, 65, 100, 129]) {
      if (size >= setting.size) break;
      out.push({ ...setting, block, size, grid: [1, 1, 1], scheduleSeed: 0 });
    }
    out.push({ ...setting, block, grid: [1, 1, 1] });
  }
  return out.slice(0, 60);
}

/** Options that run it again, `scalars` being the values of all parameters. */
export function replayOf(s: Setting, scalars: Readonly<Record<string, string>>): string {
  const words = [`--seed ${s.seed}`, `--launch ${spellShape(s.grid)}x${spellShape(s.block)}`, `--size ${s.size}`];
  if (s.scheduleSeed !== 0) words.push(`--schedule ${s.scheduleSeed}`);
  if (s.sharedBytes !== null) words.push(`--shared ${s.sharedBytes}`);
  for (const [name, value] of Object.entries(scalars)) words.push(`--arg ${name}=${value}`);
  if (s.alias !== null) words.push(`--arg '${s.alias[1]}=alias(${s.alias[0]})'`);
  return words.join(' ');
}
