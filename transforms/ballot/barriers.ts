/**
 * Barriers and collectives by who takes part.
 */
import { builtin } from '../../src/cuda/builtins.js';
import type { CallExpr } from '../../src/syntax/tree.js';

/** `__syncwarp` is one of the warp; what is not known is one of the block. */
export function isOfBlock({ callee }: CallExpr): boolean {
  return callee.kind !== 'builtin' || builtin(callee.name)?.barrier !== 'warp';
}

/** A warp intrinsic with a mask, or a barrier of the whole block. */
export function isOrdinary({ callee }: CallExpr): boolean {
  if (callee.kind !== 'builtin') return false;
  const entry = builtin(callee.name);
  return entry !== undefined && (entry.barrier === 'block' ? callee.name.startsWith('__syncthreads') : entry.collective === 'warp' && !entry.legacy);
}
