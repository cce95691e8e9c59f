/** Block shapes and grids that a kernel is launched with, or may be. */
import { evaluate, type ConstantValue } from '../simulate/constants.js';
import { EMPTY_ENV } from '../simulate/resolve.js';
import { walkCode } from '../simulate/run-code.js';
import { walkStmt } from '../simulate/walk.js';
import type { Shape } from '../simulate/simulate.js';
import type { Usage } from '../simulate/usage.js';
import { strip, type Decl, type Expr, type FunctionDecl, type Launch, type Program } from '../syntax/tree.js';

const MOST_THREADS = 1024;

/** Axes of `threadIdx` and `blockIdx` that the kernel and its callees use. */
export function axesOf(kernel: FunctionDecl): { readonly y: boolean; readonly z: boolean } {
  let y = false;
  let z = false;
  const seen = new Set<FunctionDecl>([kernel]);
  const work = [kernel];
  for (let f = work.pop(); f !== undefined; f = work.pop()) {
    const callees = walkCode(f, {
      expr(e) {
        if (e.kind === 'coordinate') {
          if (e.axis === 'y') y = true;
          if (e.axis === 'z') z = true;
        }
      },
    });
    for (const c of callees) if (!seen.has(c)) { seen.add(c); work.push(c); }
  }
  return { y, z };
}

export function threads(s: Shape): number {
  return s[0] * s[1] * s[2];
}

export function sameShape(a: Shape, b: Shape): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
}

/** `16,16`, as `--launch` takes it. */
export function spellShape(v: Shape): string {
  return v[2] !== 1 ? v.join(',') : v[1] !== 1 ? `${v[0]},${v[1]}` : `${v[0]}`;
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

/** Bytes of dynamic shared memory that a launch gives; null if it does not say so in constants. */
export function constantSharedBytes(launch: Launch): number | null {
  if (launch.sharedBytes === null) return null;
  const body = launch.function?.body ?? null;
  // A host variable counts with its initialiser if nothing else is ever stored in it.
  const steady = (decl: Decl): boolean => {
    if (body === null) return false;
    let stored = false;
    const target = (e: Expr): void => { const x = strip(e); if (x.kind === 'ref' && x.decl === decl) stored = true; };
    walkStmt(body, { expr: (e) => { if (e.kind === 'assign' || e.kind === 'update') target(e.target); else if (e.kind === 'unary' && e.op === '&') target(e.operand); } });
    return !stored;
  };
  const lookup = (e: Expr): ConstantValue | null => (e.kind === 'ref' && e.decl?.kind === 'variable' && e.decl.init !== null && e.decl.storage === 'automatic' && steady(e.decl) ? evaluate(e.decl.init, EMPTY_ENV, lookup) : null);
  const value = evaluate(launch.sharedBytes, EMPTY_ENV, lookup);
  return value === null || Number(value.value) < 0 ? null : Number(value.value);
}

/** The most threads of a block that `__launch_bounds__` allows. */
function mostThreads(kernel: FunctionDecl): number {
  let most = MOST_THREADS;
  for (const bound of kernel.bounds) {
    const [first] = bound.arguments;
    const value = first === undefined ? null : evaluate(first, EMPTY_ENV);
    if (bound.name === 'launch_bounds' && value !== null) most = Math.min(most, Number(value.value));
  }
  return most;
}

/**
 * Block shapes: those of visible launches first, then usual ones within the launch bound, then those around constants that
 * `threadIdx` or `blockDim` is compared with, and the largest.
 */
export function blockShapes(program: Program, kernel: FunctionDecl, launches: readonly Launch[] = program.launchesOf(kernel), usage: Usage | null = null): Shape[] {
  const shapes: Shape[] = [];
  const limit = mostThreads(kernel);
  const add = (s: Shape): void => {
    if (threads(s) <= limit && threads(s) >= 1 && s[2] <= 64 && !shapes.some((o) => sameShape(o, s))) shapes.push(s);
  };
  for (const launch of launches) {
    const shape = constantShape(launch.block);
    if (shape !== null) add(shape);
  }
  const { y, z } = axesOf(kernel);
  if (z) for (const s of [[8, 4, 4], [4, 4, 4], [32, 2, 2]] as const) add(s);
  else if (y) for (const s of [[16, 16, 1], [32, 8, 1], [8, 8, 1], [32, 32, 1], [7, 5, 1]] as const) add(s);
  else for (const s of [[128, 1, 1], [64, 1, 1], [256, 1, 1], [32, 1, 1], [96, 1, 1], [48, 1, 1], [512, 1, 1]] as const) add(s);
  const before = shapes.length;
  for (const place of usage?.places ?? []) {
    if ((place.of !== 'thread' && place.of !== 'blockDim') || shapes.length >= before + 6) continue;
    for (const extent of [Math.floor(place.value / 32) * 32 + 32, place.value]) {
      const rest = (most: number): number => Math.max(1, Math.min(most, Math.floor(limit / extent)));
      if (place.axis === 'x') add([extent, y || z ? rest(8) : 1, 1]);
      else if (place.axis === 'y') add([rest(32), extent, 1]);
      else add([rest(8), 1, extent]);
    }
  }
  if (!y && !z) add([limit, 1, 1]);
  return shapes;
}
