/**
 * Settings in which scalars have the values around which comparisons turn. Those of comparisons that one text alone makes tell the two apart: they come soon and beside the usual
 * settings, once with the other scalars at ordinary values, once with others at turning points of their own, so that conditions behind conditions are reached. Those that both texts
 * make take the place of the scalars of usual settings.
 */
import type { TurningPoints } from '../simulate/turning-points.js';
import { isSizeName } from '../simulate/index.js';
import type { Setting } from './settings.js';
import { threads } from './shapes.js';

export interface TurningSearch {
  readonly turns: readonly TurningPoints[];
  /** Scalars that may be set. */
  readonly names: ReadonlySet<string>;
  /** Flags among them. */
  readonly flags: readonly string[];
  /** Names that may decide how often a loop turns. */
  readonly bounds: ReadonlySet<string>;
  /** Numbers beyond which a loop's counter of a narrow type wraps. */
  readonly wraps: readonly number[];
  /** Some indices may be negative. */
  readonly sentinels: boolean;
  /** The size is open. */
  readonly sizes: boolean;
  /** Grids may be as large as a value asks for. */
  readonly grids: boolean;
}

type Values = Readonly<Record<string, number>>;

/** Settings for comparisons of one text alone, of both, and behind how many usual ones they come. */
const MOST_ALONE = 32;
const MOST_COMMON = 16;
const BEFORE = 3;
/** Turns for a loop whose bound is not named like a size: more than a warp's, and twice as many. */
const TURNS = [37, 70];
const MOST_TURNING = 6;
const MODEST = 400;
/** Seeds of `hasSentinels`. */
const SENTINELS = [28, 29, 61];
const MOST_WRAPPING = 2;
/** How large a bound of a loop gets. */
const LARGEST_BOUND = 4096;
const MOST_BLOCKS = 64;

export function withTurningPoints(settings: readonly Setting[], search: TurningSearch): Setting[] {
  const possible = (values: Values): boolean => Object.entries(values).every(([name, v]) => search.names.has(name) && (!search.bounds.has(rootOf(name)) || (v <= LARGEST_BOUND && v >= -LARGEST_BOUND)));
  const pointsOf = (alone: boolean): Values[] => {
    const each = search.turns.filter((t) => (t.alone === true) === alone).map((t) => t.settings.filter(possible));
    // The first of every comparison, then the second ones.
    const out = new Map<string, Values>();
    for (let i = 0; i < Math.max(0, ...each.map((e) => e.length)); i++) for (const e of each) { const v = e[i]; if (v !== undefined && !out.has(JSON.stringify(v))) out.set(JSON.stringify(v), v); }
    return [...out.values()];
  };
  const isBase = (s: Setting): boolean => s.size > 3 && s.values === undefined && s.grid.every((side) => side > 0);
  const bases = settings.filter((s) => isBase(s) && !s.special && !s.wide);
  if (bases.length === 0) return [...settings];
  const own = pointsOf(true);
  const bounds = [...search.names].filter((name) => search.bounds.has(name) && !isSizeName(name));
  const points = pointsOf(false);
  // Few of them: each again, with other seeds and every flag set, or none.
  const common = [...points, ...search.flags.length === 0 ? points : [1, 0].flatMap((flag) => points.map((point) => ({ ...flags(search.flags, flag), ...point })))];
  const made: Setting[] = [];
  const others = [...own, ...points];
  for (let round = 0; made.length < MOST_ALONE && round < MOST_ALONE && own.length > 0; round++) {
    for (const [i, point] of own.entries()) {
      const base = bases[(i + round * 5) % Math.min(bases.length, 6)];
      const values = round === 0 ? point : { ...flags(search.flags, round & 1), ...besides(point, others, round - 1), ...point };
      if (base === undefined || made.length >= MOST_ALONE) break;
      if (round === 0 || Object.keys(values).length > Object.keys(point).length) made.push(reaching({ ...base, values }, search.grids));
    }
  }
  const out: Setting[] = [];
  let next = 0;
  for (const [i, s] of settings.entries()) {
    const point = i > 2 * BEFORE && i % 3 === 0 && isBase(s) && next < MOST_COMMON ? common[next] : undefined;
    if (point !== undefined) next++;
    out.push(point === undefined ? s : reaching({ ...s, values: point }, search.grids));
  }
  out.splice(BEFORE, 0, ...made.slice(0, MOST_ALONE / 2));
  // The code's own shape, and not too many elements: such loops may stand in each other.
  const [base] = bases;
  const small = bases.filter((s) => s.block === base?.block && s.size <= MODEST);
  const turning = TURNS.flatMap((v) => bounds.map((name): Values => ({ [name]: v }))).slice(0, MOST_TURNING).flatMap((values, i): Setting[] => { const s = small[i % Math.min(small.length, 4)] ?? base; return s === undefined ? [] : [{ ...s, values }]; });
  // A second size that bounds a loop, and a first one that needs more turns of the grid than that.
  const seconds = [...search.names].filter((name) => search.bounds.has(name) && isSizeName(name)).flatMap((name): Values[] => [{ [name]: 2 }, { [name]: 3 }]).slice(0, MOST_TURNING);
  if (base !== undefined && search.grids && search.sizes) turning.push(...seconds.map((values): Setting => ({ ...base, grid: [3, base.grid[1], base.grid[2]], size: 7 * base.block[0] + 3, values })));
  out.splice(2 * BEFORE + Math.min(made.length, MOST_ALONE / 2), 0, ...turning);
  if (search.sentinels) out.splice(BEFORE, 0, ...SENTINELS.flatMap((seed, i): Setting[] => { const s = bases[i % bases.length]; return s === undefined ? [] : [{ ...s, seed }]; }));
  out.push(...made.slice(MOST_ALONE / 2));
  if (base !== undefined) {
    // Last, for they may take long: several elements for every thread of a block.
    out.push(...bounds.slice(0, MOST_WRAPPING).map((name): Setting => ({ ...base, grid: [1, 1, 1], values: { [name]: 4 * base.block[0] + 37 } })));
    for (const limit of search.wraps.slice(0, MOST_WRAPPING)) {
      const one: Setting = { ...base, size: search.sizes ? limit + 70 : base.size, grid: [1, 1, 1] };
      out.push(...search.sizes ? [one] : [], ...bounds.slice(0, 1).map((name): Setting => ({ ...one, size: Math.min(base.size, 33), values: { [name]: limit + 70 } })));
    }
  }
  return out;
}

const rootOf = (name: string): string => /^[^.]*/.exec(name)?.[0] ?? name;

/** All flags set, or none. */
function flags(names: readonly string[], value: number): Values {
  return Object.fromEntries(names.map((name) => [name, value]));
}

/** Values for other scalars, each at one of its own turning points: the `turn`-th of all combinations. */
function besides(point: Values, all: readonly Values[], turn: number): Values {
  const choices = new Map<string, number[]>();
  for (const other of all) {
    for (const [name, v] of Object.entries(other)) {
      const known = choices.get(name);
      if (name in point || known?.includes(v) === true) continue;
      if (known === undefined) choices.set(name, [v]);
      else known.push(v);
    }
  }
  let rest = turn;
  const out: Record<string, number> = {};
  for (const [name, values] of choices) {
    out[name] = values[rest % values.length] ?? 0;
    rest = Math.floor(rest / values.length) + turn;
  }
  return out;
}

/** With blocks for as many elements as a value may mean. */
function reaching(setting: Setting, may: boolean): Setting {
  const most = Math.max(0, ...Object.values(setting.values ?? {}).filter((v) => v <= LARGEST_BOUND));
  const blocks = Math.min(MOST_BLOCKS, Math.ceil((most + 4) / threads(setting.block)));
  return !may || blocks <= setting.grid[0] ? setting : { ...setting, grid: [blocks, setting.grid[1], setting.grid[2]] };
}
