/**
 * The obligations of the versioned form, each with what was found.
 */
import type { CallExpr } from '../../src/syntax/tree.js';
import { assumed, constantsOpen, contractionStable, copySafe, excerpt, lineOf, namesResolve, noDirectiveAcross, noGoto, notInMacro, proved, refuted, typesKnown, unknown } from '../lib/common-obligations.js';
import { finishedBeside } from '../lib/guards/finished.js';
import { namesOf } from '../lib/guards/polynomial.js';
import { extentOf } from '../lib/text.js';
import type { Obligation, TransformContext } from '../lib/types.js';
import { maskObligations, namesAreFree, noLaneWaits } from '../lib/vote-obligations.js';
import { maskAt, type MaskPlan } from '../lib/votes.js';
import { isOfBlock, isOrdinary } from './barriers.js';
import type { VersionedPlan, VersionedProblem } from './versioned.js';
import { versionedTexts } from './write.js';

const REMEDIES: Readonly<Record<VersionedProblem['id'], string>> = {
  'types-known': 'make the declaration visible, e.g. with --include',
  'operands-invariant': 'copy what the guard compares with into a local variable before the loop',
  'guard-implied': 'write the guard as a sum of loop counters and values fixed before the loops; --transform ballot:skip treats conditions on data',
};

export function problemObligations(context: TransformContext, problem: VersionedProblem): readonly Obligation[] {
  const { guard, id, text } = problem;
  const line = lineOf(context, guard.comparison);
  const said = `${excerpt(context.unit.source, guard.comparison)}: ${text}`;
  return [noGoto(context), (id === 'operands-invariant' ? refuted : unknown)(id, line, said, REMEDIES[id])];
}

export function versionedObligations(context: TransformContext, plan: VersionedPlan): readonly Obligation[] {
  const { loop, guards } = plan;
  const line = lineOf(context, loop);
  const comparisons = guards.map((guard) => guard.comparison);
  const mask = maskAt(context, loop);
  const texts = mask.kind === 'mask' ? versionedTexts(context, plan, mask) : null;
  return [
    noGoto(context),
    noDirectiveAcross(context, extentOf(context.unit.source, loop)),
    notInMacro(context, [loop, ...comparisons]),
    typesKnown(context, comparisons),
    namesAreFree(context, texts?.names ?? [], line),
    namesResolve(context, [...namesOf(...plan.tests), { kind: 'word', name: '__all_sync' }], loop),
    proved('operands-invariant', line, 'what the guards compare with does not change while the nest runs'),
    copySafe(context, [loop]),
    guardImplied(context, plan),
    constantsOpen(plan.stated, line),
    conditionVaries(context, plan),
    ...maskObligations(context, mask, line),
    nestTogether(context, plan, mask),
    noLaneWaits(context, line),
    alreadyDone(context, plan),
    contractionStable(context, loop),
  ];
}

function guardImplied(context: TransformContext, plan: VersionedPlan): Obligation {
  const line = lineOf(context, plan.guards[0]?.comparison ?? plan.loop);
  const text = plan.guards.length === 1 ? 'the guard holds in every iteration if it holds at the ends' : `all ${plan.guards.length} guards hold in every iteration if they hold at the ends`;
  if (plan.assumed) return assumed('guard-implied', 'index-range', line, `${text}, and block and thread numbers do not wrap around in their type`);
  return proved('guard-implied', line, `${text}, which are compared without overflow`);
}

function conditionVaries(context: TransformContext, plan: VersionedPlan): Obligation {
  const line = lineOf(context, plan.loop);
  if (plan.varies && plan.ofWarps) {
    return unknown('condition-varies', line, 'the guards are about the number of the warp: lanes differ in them only where a row of threads is no whole warp, and the block is not known', 'use peel, which needs no vote; if rows are shorter, give the block, e.g. --block 48x2');
  }
  if (plan.varies) return proved('condition-varies', line, 'lanes of a warp may differ in the condition');
  return refuted('condition-varies', line, 'all lanes of a warp agree on the condition: a vote would add nothing to a plain `if`', 'use peel, which tests once for the block');
}

/** Barriers and collectives inside the nest still find everybody. */
function nestTogether(context: TransformContext, plan: VersionedPlan, mask: MaskPlan): Obligation {
  const { facts, unit } = context;
  const line = lineOf(context, plan.loop);
  const { barriers, collectives, unknownCalls, asm } = facts.effects(plan.loop);
  const said = (call: { readonly span: CallExpr['span'] }): string => excerpt(unit.source, call);
  const [call] = unknownCalls;
  if (call !== undefined) return unknown('nest-together', lineOf(context, call), `${said(call)} may hold a barrier`, 'make the definition of the function visible');
  if (asm.length > 0) return unknown('nest-together', line, 'inline PTX may hold a barrier', 'use an intrinsic in its place');
  const strange = collectives.find((one) => !isOrdinary(one));
  if (strange !== undefined) return refuted('nest-together', lineOf(context, strange), `${said(strange)} depends on which lanes are together`, 'name the lanes by a mask');
  const barrier = barriers.find(isOfBlock);
  if (barrier === undefined) return proved('nest-together', line, collectives.length === 0 ? 'no barrier and no collective stands in the nest' : 'all lanes that vote take one way, so that collectives find the same lanes');
  if (mask.kind === 'problem') return unknown('nest-together', lineOf(context, barrier), `${said(barrier)} in the nest, and who comes is not known`, 'move the barrier out of the nest');
  if (mask.arrival.threads.kind !== 'full' || mask.steps.length > 0) return refuted('nest-together', lineOf(context, barrier), `${said(barrier)} in the nest, which not all threads of the block reach together`, 'let all threads of the block come to the nest');
  if (mask.arrival.exits.length > 0) return refuted('nest-together', lineOf(context, barrier), `${said(barrier)} in the nest, and threads have returned before it: one more barrier below a return is not added`, 'turn the early return into a condition around what follows');
  return proved('nest-together', line, 'all threads of the block vote together with __syncthreads_and');
}

function alreadyDone(context: TransformContext, { loop, guards }: VersionedPlan): Obligation {
  const other = finishedBeside(context.facts, loop, guards);
  const line = lineOf(context, loop);
  if (other === null) return proved('already-done', line, 'no loop beside it does its work without the guards');
  return refuted('already-done', line, `the loop of line ${lineOf(context, other)} does this one's work without the guards`);
}
