/**
 * compact:loop, what must hold. Each lane queues the items of a rare heavy part until one of the warp has no room for one more, and then every lane
 * runs its oldest (iteration delaying: Han and Abdelrahman, *Reducing Branch Divergence in GPU Programs*, GPGPU 2011). A lane runs
 * its own items in their order, so that its sums keep their bits.
 */
import { isStmt, strip, walk } from '../../src/analysis/children.js';
import type { Decl, Expr, Stmt } from '../../src/syntax/tree.js';
import { copySafe, namesResolve, noDirectiveAcross, noGoto, notInMacro } from '../lib/common-obligations.js';
import { contractionStable } from '../lib/contraction.js';
import { excerpt, lineOf, proved, refuted, unknown } from '../lib/obligation.js';
import { extentOf } from '../lib/text.js';
import type { Estimate, Obligation, TransformContext } from '../lib/types.js';
import { maskObligations, namesAreFree, noLaneWaits } from '../lib/vote-obligations.js';
import { maskAt } from '../lib/votes.js';
import { copiedParts, emitLoop, loopTexts } from './loop-emit.js';
import { estimateLoop } from './loop-estimate.js';
import { planLoop, type LoopPlan, type Obstacle } from './loop-shape.js';
import { noCollectiveInside, orderFree, predicateFromData } from './region-checks.js';
import type { Region } from './region.js';
import type { CompactVariant } from './variant.js';

export const loop: CompactVariant = {
  name: 'loop',
  summary: 'each lane queues the items of a rare heavy part of a loop, and the warp runs them together (option depth: room for 2, 4, 8 or 16; 4)',
  obligationIds: [
    'predicate-data-dependent', 'no-collective-inside', 'no-feedback', 'queue-drained', 'order-free', 'arrival-set-known', 'exits-warp-uniform',
    'mask-names-arriving-lanes', 'no-lane-waits',
  ],
  prepare(context, region) {
    const plan = planLoop(context, region);
    if (plan === null) return null;
    return {
      summary: 'each lane queues its items',
      obligations: obligationsOf(context, plan),
      estimate: () => (isSlight(context, region) ? tooLight(estimateLoop(context, plan)) : estimateLoop(context, plan)),
      emit: () => emitLoop(context, plan),
    };
  },
};

function tooLight(estimate: Estimate): Estimate {
  return { ...estimate, pays: false, reason: 'the heavy part is too light: the compiler runs it under a predicate, and a queue costs more' };
}

/** The compiler predicates it, or it only moves values: nothing to put off. */
function isSlight(context: TransformContext, region: Region): boolean {
  return region.heavy.stmts.every((stmt) => isMove(stmt) || context.facts.cost(stmt).instructions <= 1) || (region.heavy.stmts.length === 1 && region.heavy.stmts.every((stmt) => context.facts.cost(stmt).predicated));
}

function isMove(stmt: Stmt): boolean {
  if (stmt.kind !== 'expression' || stmt.expression.kind !== 'assign' || stmt.expression.op !== null) return stmt.kind === 'empty';
  const value = strip(stmt.expression.value);
  return strip(stmt.expression.target).kind === 'ref' && (value.kind === 'ref' || value.kind === 'literal');
}

function obligationsOf(context: TransformContext, plan: LoopPlan): readonly Obligation[] {
  const { region } = plan;
  const line = lineOf(context, region.stmt);
  const predicate = predicateFromData(context, region);
  const done = alreadyDone(context, plan);
  if (predicate.status === 'refuted' || done.status === 'refuted') return [predicate, done];
  const mask = maskAt(context, region.stmt);
  const names = mask.kind === 'mask' ? loopTexts(context, plan, mask).names : [];
  const copied = copiedParts(plan);
  const declared = copied.flatMap((node) => (node.kind === 'declare' ? node.variables : []));
  const vars = [...plan.held.flatMap(({ decl }) => (decl.kind === 'variable' ? [decl] : [])), ...declared];
  return [
    noGoto(context),
    noDirectiveAcross(context, extentOf(context.unit.source, plan.loop), 'loops'),
    notInMacro(context, [plan.loop, region.stmt]),
    namesAreFree(context, names, line),
    namesResolve(context, copied.map((node) => ({ kind: 'copied', node })), plan.loop, vars),
    copySafe(context, copied),
    predicate,
    done,
    noCollectiveInside(context, region),
    ...(['no-collective-inside', 'no-feedback', 'queue-drained', 'types-known'] as const).map((id) => stated(id, plan, line)),
    orderFree(context, region),
    ...maskObligations(context, mask, line),
    noLaneWaits(context, line),
    contractionStable(context, plan.loop),
  ];
}

const PROVED: Readonly<Record<Obstacle['id'], string>> = {
  'no-collective-inside': 'no barrier, no fence and no collective in the loop',
  'no-feedback': 'nothing else in the loop sees whether a heavy part has run yet',
  'queue-drained': 'whoever leaves the loop comes to the work that is left behind it',
  'types-known': 'the types of all values that are held are known',
};

function stated(id: Obstacle['id'], plan: LoopPlan, line: number): Obligation {
  const obstacle = plan.obstacles.find((one) => one.id === id);
  if (obstacle === undefined) return proved(id, line, PROVED[id]);
  return (obstacle.known ? refuted : unknown)(id, obstacle.line, obstacle.text, obstacle.remedy);
}

/** The region runs what was held already, or is what puts it off. */
function alreadyDone(context: TransformContext, { region }: LoopPlan): Obligation {
  const { facts } = context;
  const line = lineOf(context, region.stmt);
  const said = excerpt(context.unit.source, region.predicate);
  for (let at = facts.parent(region.stmt); at !== null && isStmt(at); at = facts.parent(at)) {
    if (at.kind === 'if' && isVote(at.condition)) return refuted('already-done', line, `${said} runs below a vote of the warp already`);
    if (at.kind === 'for' || at.kind === 'while' || at.kind === 'do') break;
  }
  // `if (active)` that puts an item on the queue, right behind the vote on `active`.
  const frame = region.frames.at(-1);
  const before = frame?.list[frame.index - 1];
  const flag = strip(region.predicate);
  if (before !== undefined && before.kind === 'if' && isVote(before.condition) && flag.kind === 'ref' && flag.decl !== null && mentionsDecl(before.condition, flag.decl)) {
    return refuted('already-done', line, `${said} puts work off already`);
  }
  return proved('already-done', line, 'the work is not put off yet');
}

function mentionsDecl(expr: Expr, decl: Decl): boolean {
  let found = false;
  walk(expr, (node) => {
    if (node.kind === 'ref' && node.decl === decl) found = true;
    return !found;
  });
  return found;
}

function isVote(condition: Expr): boolean {
  const call = strip(condition);
  return call.kind === 'call' && call.callee.kind === 'builtin' && call.callee.name === '__any_sync';
}
