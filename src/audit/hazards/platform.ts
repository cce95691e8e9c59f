/**
 * Sources for AMD's HIP are read as CUDA, but intrinsics without a mask are the right ones there and the lanes of a wavefront run in step. What is said of
 * NVIDIA devices of 7.0 and later does not hold of them.
 */
import type { Unit } from '../../syntax/tree.js';
import type { Spot } from './scene.js';

const memo = new WeakMap<Unit, boolean>();

/** Does the kernel's file (or the one the function stands in) include HIP's headers? */
export function isHip(spot: Spot): boolean {
  for (let here: Spot | null = spot; here !== null; here = here.outer) if (includesHip(here.facts.unit)) return true;
  return false;
}

function includesHip(unit: Unit): boolean {
  const known = memo.get(unit);
  if (known !== undefined) return known;
  const answer = unit.source.directives.some((directive) => directive.kind === 'include' && namesHip(directive.argument));
  memo.set(unit, answer);
  return answer;
}

/** `<hip/hip_runtime.h>`, `<hipcub/hipcub.hpp>`: the first folder of the path. */
function namesHip(argument: string): boolean {
  const folder = argument.trim().slice(1).split('/')[0] ?? '';
  return folder === 'hip' || folder === 'hipcub' || folder === 'rocprim' || folder.startsWith('hip_');
}
