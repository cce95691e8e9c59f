/** Whether an edit is to be taken after its verification. */
import type { Verdict } from './equivalence.js';

/** It changes results, or the original is understood and what the edit made of it is not. */
export function isRejected(verdict: Verdict): boolean {
  return verdict.status === 'different' || (verdict.status === 'not-verified' && verdict.obstacles.some((obstacle) => obstacle.lost === true));
}
