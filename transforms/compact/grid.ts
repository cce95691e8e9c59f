/**
 * compact:grid: a pass over all threads writes the indices of those that have heavy work, and a kernel over that list does it with full warps.
 *
 *     before                                        after
 *     k:  light part, or heavy part                 k_light:  light part; the index of a heavy item goes to a list
 *                                                   k_heavy:  heavy part, over the list, whose length stays on the device
 *
 * grid-shape.ts says what is moved, grid-slice.ts what an item must know, grid-index.ts how it is numbered, grid-memory.ts what may not pass between
 * threads, grid-legal.ts the obligations, grid-emit.ts and grid-launch.ts the text.
 */
import { rewritable, writePlanText } from '../lib/launch-edits.js';
import { launchSites } from '../lib/launch-sites.js';
import type { Obligation, TransformContext } from '../lib/types.js';
import { emitGrid } from './grid-emit.js';
import { estimateGrid } from './grid-estimate.js';
import { launchPlanOf, newKernels } from './grid-launch.js';
import { decideGrid, GRID_OBLIGATIONS, type GridDecision } from './grid-legal.js';
import { gridShape, type GridShape } from './grid-shape.js';
import { isListing } from './listed.js';
import type { Region } from './region.js';
import type { CompactVariant } from './variant.js';

export const grid: CompactVariant = {
  name: 'grid',
  summary: 'a first kernel lists the items that are heavy, a second one works through the list (order=free: a counter; order=keep: cub::DeviceSelect)',
  obligationIds: GRID_OBLIGATIONS,

  prepare(context, region) {
    const { facts } = context;
    const kernel = facts.function;
    if (!kernel.qualifiers.global || kernel.body === null) return null;
    const shape = gridShape(facts, region.stmt, sideOf(region));
    if (shape === null || standsForAnother(context, shape) || isListing(shape.heavy)) return null;
    const decision = decideGrid(context, shape);
    return {
      summary: 'the heavy items go to a list, and a kernel of their own works through it',
      obligations: [...decision.obligations, ...written(context, decision)],
      estimate: () => estimateGrid(context, decision.plan),
      emit: () => emitGrid(context, decision.plan),
    };
  },
};

/** The heavy part is nothing but another branch on data, which says better who is heavy: `else if`. */
function standsForAnother({ facts }: TransformContext, { heavy }: GridShape): boolean {
  const only = heavy.length === 1 ? heavy[0] : undefined;
  if (only?.kind !== 'if' || only.init !== null || only.conditionDecl !== null) return false;
  const verdict = facts.scope(only.condition);
  return verdict.known && verdict.sources.data;
}

/** Where the heavy part stands. */
function sideOf({ form, holds }: Region): 'then' | 'else' | 'rest' {
  if (form === 'rest') return holds ? 'then' : 'rest';
  return holds ? 'then' : 'else';
}

/** `launches-rewritable`: asked for only where the launches are visible. */
function written(context: TransformContext, { plan, obligations }: GridDecision): readonly Obligation[] {
  const found = launchSites(context);
  const visible = obligations.every((obligation) => obligation.id !== 'all-launches-visible' || obligation.status === 'proved' || obligation.status === 'assumed');
  if (!visible || found.sites.length === 0) return [];
  const writing = writePlanText(context, found, launchPlanOf(context, plan), { kernels: newKernels(context, plan), keepOriginal: plan.keepOriginal });
  return [rewritable(context, found, writing)];
}
