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
import { walk } from '../../src/analysis/children.js';
import { strip, type AssignExpr, type Stmt } from '../../src/syntax/tree.js';
import { launchSites } from '../lib/launch-sites.js';
import type { Obligation, TransformContext } from '../lib/types.js';
import { emitGrid } from './grid-emit.js';
import { estimateGrid } from './grid-estimate.js';
import { launchPlanOf, newKernels } from './grid-launch.js';
import { decideGrid, GRID_OBLIGATIONS, type GridDecision } from './grid-legal.js';
import { gridShape, type GridShape } from './grid-shape.js';
import type { Region } from './region.js';
import type { CompactVariant } from './variant.js';

/** A heavy part of fewer instructions has no kernel of its own, whoever asks: it is what the pass itself consists of. */
const LEAST = 8;

export const grid: CompactVariant = {
  name: 'grid',
  summary: 'a first kernel lists the items that are heavy, a second one works through the list (order=free: a counter; order=keep: cub::DeviceSelect)',
  obligationIds: GRID_OBLIGATIONS,

  prepare(context, region) {
    const { facts } = context;
    const kernel = facts.function;
    if (!kernel.qualifiers.global || kernel.body === null) return null;
    const shape = gridShape(facts, region.stmt, sideOf(region));
    if (shape === null || shape.heavy.reduce((sum, stmt) => sum + facts.cost(stmt).instructions, 0) < LEAST || standsForAnother(context, shape) || isListed(region) || writesList(shape)) return null;
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

/** An arm is nothing but a mark, with the values that are carried: the branch was compacted before, with that arm as the heavy one. */
function isListed({ stmt }: Region): boolean {
  return [stmt.then, stmt.else].some((arm) => {
    if (arm === null) return false;
    const stores = (arm.kind === 'compound' ? arm.body : [arm]).filter((one) => one.kind !== 'return');
    const last = stores.at(-1);
    return last !== undefined && stores.every((one) => storeOf(one) !== null) && isMark(last);
  });
}

function storeOf(stmt: Stmt): AssignExpr | null {
  const store = stmt.kind === 'expression' ? strip(stmt.expression) : null;
  return store?.kind === 'assign' && store.op === null && strip(store.target).kind === 'index' ? store : null;
}

/** `flags[…] = 1;` for an array of bytes that is a parameter. */
function isMark(stmt: Stmt): boolean {
  const store = storeOf(stmt);
  if (store === null) return false;
  const target = strip(store.target);
  const value = strip(store.value);
  if (target.kind !== 'index' || value.kind !== 'literal' || value.value !== 1n) return false;
  const base = strip(target.base);
  return base.kind === 'ref' && base.decl?.kind === 'parameter' && base.type.kind === 'pointer' && base.type.to.kind === 'int' && base.type.to.bits === 8 && !base.type.to.signed;
}

/** The part does nothing but put something at its place of a list, by ranks from a ballot: what a compaction itself ends with. */
function writesList({ heavy }: GridShape): boolean {
  const only = heavy.length === 1 ? heavy[0] : undefined;
  if (only?.kind !== 'expression') return false;
  const store = strip(only.expression);
  if (store.kind !== 'assign') return false;
  const target = strip(store.target);
  if (target.kind !== 'index') return false;
  let ranked = false;
  walk(target.index, (node) => { if (node.kind === 'call' && node.callee.kind === 'builtin' && node.callee.name === '__popc') ranked = true; });
  return ranked;
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
