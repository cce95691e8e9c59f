/**
 * Does a shuffle read only lanes that are there? What it reads from a lane that has exited, that goes elsewhere, that its mask leaves out or that the block does
 * not have is undefined, and may be another value for each lane (CUDA C++ Programming Guide, "Warp Shuffle Functions").
 *
 * The last warp of a block whose size is no multiple of 32 ends early: of such a block, and of one whose size is not known, only the lanes surely exist that
 * every warp has. Lane 0 always does. A lane elected from a vote that is not empty (`__ffs(mask) - 1`, `31 - __clz(mask)`) voted, so it exists.
 *
 * Not handled: votes that went through several assignments; sources bounded by a count of lanes that the program computed itself.
 */
import { strip } from './children.js';
import { constantOf } from './constants.js';
import { lanesOfWarp } from './platform.js';
import { rangeOf } from './ranges.js';
import { isLane } from './taint.js';
import type { Uniformity } from './uniformity.js';
import type { CallExpr, Expr } from '../syntax/tree.js';

/** For `__shfl_sync` of full width: do all lanes that come get the value of a lane that is there? */
export function sourceIsThere(call: CallExpr, maskAt: number | null, sourceAt: number, state: Uniformity): boolean {
  if (state.env.options.trustSharedLoads === true) return true;
  const mask = maskAt === null ? undefined : call.arguments[maskAt];
  const source = call.arguments[sourceAt];
  if (source === undefined || isLane(state.arrivalAt(call)) || !namesSource(mask, source, state)) return false;
  const lanes = lanesOfEveryWarp(state);
  if (lanes === most(state)) return true;
  const constant = constantOf(source, state.env);
  if (constant !== null) return Number(BigInt.asUintN(most(state) === 32 ? 5 : 6, constant)) < lanes;
  const { low, high } = rangeOf(source, state.env);
  if (low !== null && high !== null && low >= 0n && high < BigInt(lanes)) return true;
  return isElected(source, mask, call, state);
}

/** Does a constant mask leave lanes out although whole warps come? What they get is undefined. */
export function leavesOut(call: CallExpr, maskAt: number, state: Uniformity): boolean {
  const mask = call.arguments[maskAt];
  const named = mask === undefined ? null : constantOf(mask, state.env);
  return named !== null && !namesAll(named, state) && !isLane(state.arrivalAt(call)) && !isLastWarp(named, state);
}

/** Does the mask name all lanes of the only warp that the blocks have? */
function isLastWarp(named: bigint, state: Uniformity): boolean {
  const { value } = state.world.shape;
  const threads = value === null ? most(state) : value.x * value.y * value.z;
  return threads < 32 && ((1n << BigInt(threads)) - 1n & ~named) === 0n;
}

/** For shuffles by distance of one value per warp: is every lane that may be read there? Lanes that would read beyond the warp keep their own value. */
export function neighboursAreThere(call: CallExpr, maskAt: number | null, state: Uniformity): boolean {
  if (isLane(state.arrivalAt(call))) return false;
  const mask = maskAt === null ? undefined : call.arguments[maskAt];
  const named = mask === undefined ? null : constantOf(mask, state.env);
  if (named !== null && !namesAll(named, state)) return false;
  // The lanes below one that exists exist too.
  return lanesOfEveryWarp(state) === most(state) || (call.callee.kind === 'builtin' && call.callee.name.startsWith('__shfl_up'));
}

/**
 * Does the mask name the source lane? One that is no constant names all lanes where whole warps arrive: a lane that calls with a mask that
 * leaves it out is an error.
 */
function namesSource(mask: Expr | undefined, source: Expr, state: Uniformity): boolean {
  const named = mask === undefined ? null : constantOf(mask, state.env);
  if (named === null || namesAll(named, state)) return true;
  const lane = constantOf(source, state.env);
  return lane !== null && (named >> BigInt.asUintN(most(state) === 32 ? 5 : 6, lane) & 1n) === 1n;
}

function most(state: Uniformity): 32 | 64 {
  return lanesOfWarp(state.env.program, state.env.unit);
}

function namesAll(mask: bigint, state: Uniformity): boolean {
  return BigInt.asUintN(most(state), ~mask) === 0n;
}

/** How many lanes every warp has, in all blocks that are launched. */
function lanesOfEveryWarp(state: Uniformity): number {
  const { shape } = state.world;
  if (shape.xMultipleOf32) return most(state);
  const shapes = shape.value !== null ? [shape.value] : shape.alternatives;
  let fewest: number = shapes.length === 0 ? 1 : most(state);
  for (const { x, y, z } of shapes) {
    for (let lanes = 32; lanes <= most(state); lanes *= 2) {
      const last = (x * y * z) % lanes;
      if (last !== 0 && last < fewest) fewest = last;
    }
  }
  return fewest;
}

// ----------------------------------------------------------------------------------------------------------- elected lanes

/** `__ffs(m) - 1`, `31 - __clz(m)` for a vote `m` that is surely not empty. */
function isElected(source: Expr, mask: Expr | undefined, call: CallExpr, state: Uniformity): boolean {
  const expr = definitionOf(source, state);
  if (expr.kind !== 'binary' || expr.op !== '-') return false;
  const first = bitsOf(expr.left, '__ffs');
  const last = bitsOf(expr.right, '__clz');
  const bits = first !== null && constantOf(expr.right, state.env) === 1n ? first : last !== null && constantOf(expr.left, state.env) === 31n ? last : null;
  if (bits === null) return false;
  const vote = definitionOf(bits, state);
  if (vote.kind !== 'call' || vote.callee.kind !== 'builtin') return false;
  const { name } = vote.callee;
  if (name === '__activemask' || name === '__match_any_sync') return true;
  if (name !== '__ballot_sync') return false;
  const predicate = vote.arguments[1];
  if (predicate !== undefined && (constantOf(predicate, state.env) ?? 0n) !== 0n) return true;
  const id = valueOf(bits, state);
  // A lane that calls with the vote as its mask is in it.
  if (id === null) return false;
  if (mask !== undefined && valueOf(mask, state) === id) return true;
  for (let control = state.controlAt(call); control !== null; control = control.parent) {
    const condition = control.kind === 'branch' && control.sense === 'then' ? control.condition : control.loop?.condition ?? null;
    if (condition !== null && saysNotEmpty(condition, id, state)) return true;
  }
  return false;
}

function bitsOf(written: Expr, name: string): Expr | null {
  const expr = strip(written);
  return expr.kind === 'call' && expr.callee.kind === 'builtin' && expr.callee.name === name ? expr.arguments[0] ?? null : null;
}

/** The expression that alone gives a variable its value here, else the expression itself. */
function definitionOf(written: Expr, state: Uniformity): Expr {
  let expr = strip(written);
  for (let depth = 0; depth < 8 && (expr.kind === 'ref' || expr.kind === 'cast'); depth++) {
    if (expr.kind === 'cast') { expr = strip(expr.operand); continue; }
    const id = valueOf(expr, state);
    const value = id === null ? undefined : state.defUse.values[id];
    if (value === undefined) break;
    if (value.kind === 'declaration') expr = strip(value.init);
    else if (value.kind === 'assignment' && value.whole && value.node.kind === 'assign' && value.node.op === null) expr = strip(value.node.value);
    else break;
  }
  return expr;
}

/** The value that a variable has here; null if the expression is none. */
function valueOf(written: Expr, state: Uniformity): number | null {
  let expr = strip(written);
  while (expr.kind === 'cast') expr = strip(expr.operand);
  if (expr.kind !== 'ref') return null;
  const id = state.defUse.reads.get(expr) ?? -1;
  return id < 0 ? null : id;
}

/** `m`, `(m = …)`, `m != 0`, or one of these and more. */
function saysNotEmpty(condition: Expr, id: number, state: Uniformity): boolean {
  const expr = strip(condition);
  if (expr.kind === 'binary' && expr.op === '&&') return saysNotEmpty(expr.left, id, state) || saysNotEmpty(expr.right, id, state);
  if (expr.kind === 'binary' && (expr.op === '!=' || expr.op === '>')) return constantOf(expr.right, state.env) === 0n && saysNotEmpty(expr.left, id, state);
  return valueOf(expr.kind === 'assign' ? expr.target : expr, state) === id;
}
