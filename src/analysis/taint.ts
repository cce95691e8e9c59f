/**
 * The lattice of uniformity as bits of one integer, so that a join is a bitwise or.
 *
 *   bits 0–3   scope, thermometer-coded: constant 0, grid 1, block 3, warp 7, lane 15
 *   bit 4      something was not understood (always with scope lane)
 *   bits 5, 6  where lane variation comes from: thread coordinates, data
 *   bit 7      a pointer that may lead to a thread's own automatic object; the other bits then hold for the contents too
 *   bits 8–    assumptions that the scope rests on
 */
import type { Scope } from './facts.js';

export const CONSTANT = 0;
export const GRID = 1;
export const BLOCK = 3;
export const WARP = 7;
export const LANE = 15;
export const SCOPE_BITS = 15;

export const UNKNOWN = 16 | LANE;
export const UNKNOWN_BIT = 16;
export const GEOMETRY_BIT = 32;
export const DATA_BIT = 64;
export const GEOMETRY = GEOMETRY_BIT | LANE;
export const DATA = DATA_BIT | LANE;
export const LOCAL = 128;

/** Rests on the block shape of the kernel. */
export const ON_BLOCK = 256;
/** Rests on memory that other blocks do not write meanwhile. */
export const ON_MEMORY = 512;
/** Rests on all calls of the function being visible. */
export const ON_CALLS = 1024;
export const ASSUMPTION_BITS = ON_BLOCK | ON_MEMORY | ON_CALLS;

export function scopeOf(taint: number): Scope {
  switch (taint & SCOPE_BITS) {
    case CONSTANT: return 'constant';
    case GRID: return 'grid';
    case BLOCK: return 'block';
    case WARP: return 'warp';
    default: return 'lane';
  }
}

export function taintOfScope(scope: Scope): number {
  switch (scope) {
    case 'constant': return CONSTANT;
    case 'grid': return GRID;
    case 'block': return BLOCK;
    case 'warp': return WARP;
    case 'lane': return LANE;
  }
}

export function isLane(taint: number): boolean {
  return (taint & SCOPE_BITS) === LANE;
}

/** Lane variation by thread coordinates alone. */
export function isGeometry(taint: number): boolean {
  return (taint & (SCOPE_BITS | UNKNOWN_BIT | DATA_BIT)) === LANE;
}
