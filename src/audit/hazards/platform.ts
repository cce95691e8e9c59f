/**
 * Is what stands at a spot HIP's? Asked of every function on the way to it, since a helper may be shared.
 */
import { isHipSource } from '../../analysis/platform.js';
import type { Spot } from './scene.js';

export function isHip(spot: Spot): boolean {
  for (let here: Spot | null = spot; here !== null; here = here.outer) if (isHipSource(here.facts.program, here.facts.unit)) return true;
  return false;
}
