/**
 * The registry: every built-in transform, in the order in which `--transform all` considers them.
 */
import { ballot } from './ballot.js';
import { compact } from './compact.js';
import { hoist } from './hoist.js';
import { peel } from './peel.js';
import { split } from './split.js';
import type { Transform } from './lib/types.js';

/** Type-erased: callers hand a transform only sites that it made itself. */
export const transforms: readonly Transform[] = [hoist as Transform, peel as Transform, ballot as Transform, compact as Transform, split as Transform];

/** The transform of that name, or null. */
export function findTransform(name: string): Transform | null {
  return transforms.find((transform) => transform.name === name) ?? null;
}
