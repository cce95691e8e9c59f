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
import { lineOf } from '../lib/obligation.js';
import type { Change, Estimate, Obligation, Site, TransformContext } from '../lib/types.js';
import { emitGrid } from './grid-emit.js';
import { estimateGrid } from './grid-estimate.js';
import { rewritable, writePlanText } from '../lib/launch-edits.js';
import { launchSites } from '../lib/launch-sites.js';
import { launchPlanOf, newKernels } from './grid-launch.js';
import { decideGrid, type GridDecision } from './grid-legal.js';
import { continuation, gridShape } from './grid-shape.js';
import { excerpt, proved } from '../lib/obligation.js';
import { regionsIn, type Region } from './region.js';

export { GRID_OBLIGATIONS } from './grid-legal.js';

export interface GridSite {
  readonly region: Region;
  readonly decision: GridDecision;
  readonly obligations: readonly Obligation[];
}

/** A heavy part of fewer instructions has no kernel of its own, whoever asks: it is what the pass itself consists of. */
const LEAST = 8;

/** Heavy regions of a kernel that a list could hold. */
export function matchGrid(context: TransformContext): readonly Site<GridSite>[] {
  const { facts } = context;
  const kernel = facts.function;
  if (!kernel.qualifiers.global || kernel.body === null) return [];
  return regionsIn(context).flatMap((region) => {
    const verdict = facts.scope(region.predicate);
    if (verdict.known && !verdict.sources.data) return [];
    const side = region.form === 'rest' && !region.holds ? 'rest' : region.stmt.then === region.heavy.block || region.heavy.stmts.some((stmt) => stmt === region.stmt.then || within(stmt, region.stmt.then)) ? 'then' : 'else';
    const shape = gridShape(facts, region.stmt, side);
    if (shape === null || continuation(shape).reduce((sum, stmt) => sum + facts.cost(stmt).instructions, 0) < LEAST) return [];
    const decision = decideGrid(context, shape);
    const line = lineOf(context, region.stmt);
    return [{
      function: kernel, node: region.stmt, branch: region.stmt, line,
      summary: `what if ${excerpt(context.unit.source, { span: region.stmt.headSpan })} decides is done over a list of items`,
      shape: { region, decision, obligations: [...decision.obligations, ...written(context, decision)] },
    }];
  });
}

function within(inner: { readonly span: { readonly start: number; readonly end: number } }, outer: { readonly span: { readonly start: number; readonly end: number } }): boolean {
  return outer.span.start <= inner.span.start && inner.span.end <= outer.span.end;
}

/** `launches-rewritable`: asked for only where the launches are visible. */
function written(context: TransformContext, { plan, obligations }: GridDecision): readonly Obligation[] {
  const found = launchSites(context);
  const visible = obligations.every((obligation) => obligation.id !== 'all-launches-visible' || obligation.status === 'proved' || obligation.status === 'assumed');
  if (!visible || found.sites.length === 0) return [];
  const writing = writePlanText(context, found, launchPlanOf(context, plan), { kernels: newKernels(context, plan), keepOriginal: plan.keepOriginal });
  const stated = rewritable(context, found, writing);
  return [stated.status === 'proved' ? proved(stated.id, stated.line, stated.text) : stated];
}

export function estimateOfGrid(site: Site<GridSite>, context: TransformContext): Estimate {
  return estimateGrid(context, site.shape.decision.plan);
}

export function emitOfGrid(site: Site<GridSite>, context: TransformContext): Change {
  return emitGrid(context, site.shape.decision.plan);
}
