/** The number of a thread in its block. */
import type { BlockFact } from '../../src/analysis/facts.js';

/** In the order of warps and lanes, with no more sides of the block than there may be. */
export function linearThread({ value: shape, oneDimensional }: BlockFact): string {
  if (oneDimensional || (shape !== null && shape.y === 1 && shape.z === 1)) return 'threadIdx.x';
  const row = 'threadIdx.y * blockDim.x + threadIdx.x';
  return shape !== null && shape.z === 1 ? row : `(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x`;
}
