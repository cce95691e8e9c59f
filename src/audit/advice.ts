/**
 * Whether a branch is worth a look, and why. Thresholds are the seeds': a boundary guard that runs once per thread and cuts fewer than 1/128 of the warps
 * is left alone, below 0.1% not even a transform is mentioned; short arms are predicated. What to do about a branch is the plan's work.
 */
import type { BranchSite } from '../analysis/facts.js';
import type { BranchCost } from './branch-cost.js';
import type { Classification } from './classify.js';
import type { Divergence } from './divergence.js';
import type { Reach } from './frame.js';

/** `reason` is found when read: naming what was not understood walks a chain of reasons. */
export interface Advice { readonly advice: 'leave' | 'consider'; readonly reason: () => string }

const RARE = 1 / 128;
const NOT_WORTH_MENTIONING = 0.001;
/** Fewer lost issue slots per warp than this cannot be measured. */
const FEW_SLOTS = 8;
const IF_ISSUE_LIMITED = 'a gain only where issue slots, not memory, limit the kernel';

function percent(share: number): string {
  const value = share * 100;
  return `${value === 0 ? '0' : value < 0.01 ? value.toExponential(1) : value >= 10 ? Math.round(value) : value.toPrecision(2)}%`;
}

/** A count as the reports write it: whole from 10 on. */
function slots(count: number): string {
  return count >= 10 || Number.isInteger(count) ? Math.round(count).toLocaleString('en-US') : count >= 0.05 ? count.toFixed(1) : 'less than 0.1';
}

function leave(reason: () => string): Advice {
  return { advice: 'leave', reason };
}

function consider(reason: () => string): Advice {
  return { advice: 'consider', reason: () => `${reason()}; ${IF_ISSUE_LIMITED}` };
}

export function adviseOn(site: BranchSite, found: Classification, divergence: Divergence, cost: BranchCost, { once }: Reach): Advice {
  const isLoop = site.kind === 'for' || site.kind === 'while' || site.kind === 'do';
  switch (found.class) {
    case 'uniform':
      return leave(() => found.verdict.value === 'constant' ? 'decided when compiled, or the same everywhere: no divergence' : `one value in each ${found.verdict.value}: whole warps go one way`);
    case 'unknown': return leave(() => `rests on what was not understood: ${found.verdict.unknown ?? 'unknown text'}`);
    case 'boundary':
      if (isLoop) {
        return divergence.rate < RARE ? leave(() => `trip counts of lanes differ by one at most; about ${percent(divergence.rate)} of the tests divide a warp`) : consider(() => `the end of the loop divides ${percent(divergence.rate)} of the warps`);
      }
      if (once) {
        if (cost.cost.predicated && site.kind !== 'if') return leave(() => 'one test of a guard that runs once per thread');
        if (divergence.rate === 0) return leave(() => 'boundary of the work, once per thread: it ends at the end of a warp, and none diverges');
        if (divergence.rate < NOT_WORTH_MENTIONING) return leave(() => `boundary of the work, once per thread: about ${percent(divergence.rate)} of the warps diverge`);
        if (divergence.rate < RARE) return leave(() => `boundary of the work, once per thread: ${percent(divergence.rate)} of the warps diverge (${divergence.how}), below 1/128`);
        // An extent that nothing tells is no ground for a rewrite: say from which size on it does not matter.
        if (divergence.origin === 'assumed') return leave(() => `boundary of the work, once per thread: ${divergence.how} diverge${divergence.enough === null ? '' : `, below 1/128 for extents above about ${divergence.enough}`}`);
        return consider(() => `boundary of the work cuts ${percent(divergence.rate)} of the warps (${divergence.how})`);
      }
      return consider(() => `the guard runs in every iteration although only the edge of the work needs it${cost.cost.predicated ? '; its arms are predicated, the test is not free' : ''}`);
    case 'geometry':
      if (cost.cost.predicated) return leave(() => 'the arms are short enough to be predicated');
      if (divergence.rate === 0) return leave(() => 'no warp of the assumed block divides');
      if (cost.cost.lostSlots < FEW_SLOTS) return leave(() => `about ${slots(cost.cost.lostSlots)} issue slots lost per warp: too few to matter`);
      return consider(() => `${percent(divergence.rate)} of the warps diverge (${divergence.how}), about ${slots(cost.cost.lostSlots)} issue slots lost per warp`);
    case 'data':
      if (cost.cost.predicated) return leave(() => 'the arms are short enough to be predicated');
      if (cost.cost.lostSlots < FEW_SLOTS) return leave(() => `about ${slots(cost.cost.lostSlots)} issue slots lost per warp: too few to matter`);
      return consider(() => `depends on data: about ${slots(cost.cost.lostSlots)} issue slots lost per warp (${divergence.how}); measure how lanes really go`);
  }
}
