/** Which launches a comparison tries: block shapes that the code allows, sizes around warp and block edges, seeds and schedules. */
import { evaluate } from '../simulate/constants.js';
import { EMPTY_ENV } from '../simulate/resolve.js';
import { walkStmt } from '../simulate/walk.js';
import type { Shape } from '../simulate/simulate.js';
import { strip, type Expr, type FunctionDecl, type Program } from '../syntax/tree.js';

/** One run, reproducible from these values alone. */
export interface Setting {
  readonly seed: number;
  readonly size: number;
  readonly block: Shape;
  readonly grid: Shape;
  readonly scheduleSeed: number;
  readonly special: boolean;
}

/** Axes of `threadIdx` and `blockIdx` that the kernel and its callees use. */
export function axesOf(kernel: FunctionDecl): { readonly y: boolean; readonly z: boolean } {
  let y = false;
  let z = false;
  const seen = new Set<FunctionDecl>([kernel]);
  const work = [kernel];
  for (let f = work.pop(); f !== undefined; f = work.pop()) {
    if (f.body === null) continue;
    walkStmt(f.body, {
      expr(e) {
        if (e.kind === 'coordinate') {
          if (e.axis === 'y') y = true;
          if (e.axis === 'z') z = true;
        }
        if (e.kind === 'call' && e.callee.kind === 'function') for (const c of e.callee.candidates) if (!seen.has(c)) { seen.add(c); work.push(c); }
      },
    });
  }
  return { y, z };
}

function threads(s: Shape): number {
  return s[0] * s[1] * s[2];
}

/** A constant launch shape, or null. */
export function constantShape(e: Expr): Shape | null {
  const x = strip(e);
  const parts = x.kind === 'construct' || (x.kind === 'call' && x.callee.kind === 'unknown') ? x.arguments : x.kind === 'ref' && x.decl?.kind === 'variable' && x.decl.init !== null ? null : [x];
  if (parts === null) {
    const decl = x.kind === 'ref' && x.decl?.kind === 'variable' ? x.decl : null;
    const init = decl?.init ?? null;
    return init === null ? null : strip(init).kind === 'construct' ? constantShape(init) : single(x) ?? single(init);
  }
  const values = parts.map((p) => evaluate(p, EMPTY_ENV));
  const numbers = values.map((v) => (v === null ? null : Number(v.value)));
  if (numbers.some((n) => n === null || n < 1) || numbers.length === 0 || numbers.length > 3) return null;
  return [numbers[0] ?? 1, numbers[1] ?? 1, numbers[2] ?? 1];
}

function single(e: Expr): Shape | null {
  const v = evaluate(e, EMPTY_ENV);
  return v === null || Number(v.value) < 1 ? null : [Number(v.value), 1, 1];
}

/** Block shapes: those of visible launches first, then usual ones within the launch bound. */
export function blockShapes(program: Program, kernel: FunctionDecl): Shape[] {
  const shapes: Shape[] = [];
  const add = (s: Shape): void => {
    if (threads(s) <= limit && threads(s) >= 1 && !shapes.some((o) => o[0] === s[0] && o[1] === s[1] && o[2] === s[2])) shapes.push(s);
  };
  let limit = 1024;
  for (const bound of kernel.bounds) {
    const [first] = bound.arguments;
    const value = first === undefined ? null : evaluate(first, EMPTY_ENV);
    if (bound.name === 'launch_bounds' && value !== null) limit = Math.min(limit, Number(value.value));
  }
  for (const launch of program.launchesOf(kernel)) {
    const shape = constantShape(launch.block);
    if (shape !== null) add(shape);
  }
  const { y, z } = axesOf(kernel);
  if (z) for (const s of [[8, 4, 4], [4, 4, 4], [32, 2, 2]] as const) add(s);
  else if (y) for (const s of [[16, 16, 1], [32, 8, 1], [8, 8, 1], [32, 32, 1], [7, 5, 1]] as const) add(s);
  else for (const s of [[128, 1, 1], [64, 1, 1], [256, 1, 1], [32, 1, 1], [96, 1, 1], [48, 1, 1], [512, 1, 1]] as const) add(s);
  return shapes;
}

/**
 * Settings in the order in which they are tried. The first rounds go through the telling sizes (none, one, around a warp, around a
 * block, several blocks) for every block shape, each with another seed; later rounds take sizes a few elements off multiples of 32,
 * where bounds that are one off show.
 */
export function settingsFor(program: Program, kernel: FunctionDecl, options: { readonly blocks?: readonly Shape[]; readonly grids?: readonly Shape[]; readonly sizes?: readonly number[]; readonly seeds?: readonly number[]; readonly schedules?: readonly number[] }): Setting[] {
  const blocks = options.blocks ?? blockShapes(program, kernel);
  const seeds = options.seeds ?? Array.from({ length: 16 }, (_, i) => i + 1);
  const schedules = options.schedules ?? [0, 1, 0, 2, 3];
  const { y, z } = axesOf(kernel);
  const coarse: { block: Shape; size: number }[] = [];
  const fine: { block: Shape; size: number }[] = [];
  const telling = blocks.map((block) => {
    const edge = block[0];
    return options.sizes ?? (y || z ? [edge + 1, 1, 2 * edge + 3, edge, edge - 1, 0, 33] : [2 * threads(block) + 37, edge + 1, 1, edge, 33, edge - 1, 0, 32, 31, 3 * edge]);
  });
  // The first shape is the code's own where a launch is visible: it sees every size.
  const rounds = Math.max(...telling.map((t) => t.length));
  for (let r = 0; r < rounds; r++) {
    for (const [b, block] of blocks.entries()) {
      const size = telling[b]?.[r];
      if (size !== undefined && size >= 0 && (b === 0 || (r + b) % 2 === 0)) coarse.push({ block, size });
    }
  }
  if (options.sizes === undefined) {
    const own = blocks[0];
    for (let r = 0; own !== undefined && r < 24; r++) {
      const span = y || z ? own[0] : 32;
      fine.push({ block: blocks[r % 3 === 2 ? (r >> 1) % blocks.length : 0] ?? own, size: span * (1 + (r * 5) % (y || z ? 3 : 9)) + ((r * 7) % 11) - 5 });
    }
  }
  // Two telling sizes, then one a few elements off.
  const pairs = coarse.flatMap((pair, i) => { const extra = i % 2 === 1 ? fine[(i - 1) / 2] : undefined; return extra === undefined ? [pair] : [pair, extra]; });
  pairs.push(...fine.slice(Math.floor(coarse.length / 2)));
  const settings: Setting[] = [];
  const total = Math.max(pairs.length, options.sizes === undefined ? Math.min(64, Math.max(pairs.length, 48)) : pairs.length * Math.min(seeds.length, 4));
  for (let i = 0; i < total; i++) {
    const pair = pairs[i % pairs.length];
    const seed = seeds[i % seeds.length];
    if (pair === undefined || seed === undefined || pair.size < 0) continue;
    const { block, size } = pair;
    const ceil = (n: number, d: number): number => Math.max(1, Math.min(4, Math.ceil(n / d)));
    const grids: readonly Shape[] = options.grids ?? [[ceil(size, block[0]), y ? ceil(size, block[1]) : 1, z ? ceil(size, block[2]) : 1]];
    const grid = grids[Math.floor(i / pairs.length) % grids.length] ?? [1, 1, 1];
    settings.push({ seed, size, block, grid, scheduleSeed: schedules[i % schedules.length] ?? 0, special: seed % 4 === 3 });
  }
  return settings;
}

/** Smaller settings that may show the same difference, smallest first. */
export function smaller(setting: Setting, blocks: readonly Shape[]): Setting[] {
  const out: Setting[] = [];
  const sorted = [...blocks].sort((a, b) => threads(a) - threads(b));
  for (const block of sorted) {
    if (threads(block) > threads(setting.block)) continue;
    for (const size of [0, 1, 2, 3, 5, 8, 16, 31, 32, 33, 64, 65, 100, 129]) {
      if (size >= setting.size) break;
      out.push({ ...setting, block, size, grid: [1, 1, 1], scheduleSeed: 0 });
    }
    out.push({ ...setting, block, grid: [1, 1, 1] });
  }
  return out.slice(0, 60);
}
