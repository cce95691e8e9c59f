/**
 * The forms `skip` and `three-way`: a vote in front of one branch.
 *
 *     if (c) X            →  if (__any_sync(m, c) && c) X
 *     if (c) continue;    →  if (__all_sync(m, c)) continue;  if (c) continue;
 *     if (c) X else Y     →  if (__all_sync(m, c)) X else if (__any_sync(m, c)) { if (c) X else Y } else Y
 *
 * Both are legal where a vote is, and neither pays: the hardware passes by a path that no lane takes. They are there to be asked for.
 */
import { isStmt, strip, walk } from '../../src/analysis/children.js';
import { atLeast, type FunctionFacts } from '../../src/analysis/facts.js';
import type { Expr, IfStmt, Stmt } from '../../src/syntax/tree.js';
import { contractionStable, copySafe, excerpt, lineOf, noDirectiveAcross, noGoto, notInMacro, proved, refuted, unknown } from '../lib/common-obligations.js';
import { sameExpr } from '../lib/equality.js';
import { namerFor } from '../lib/guards/names.js';
import { isRepeatable } from '../lib/guards/tested-loop.js';
import { armText } from '../lib/arm-text.js';
import { BINDING, grouped } from '../lib/operands.js';
import { placeOf } from '../lib/place.js';
import { chainText, copyText, extentOf, indentAt, lineStartOf, movedText, oneLine, startsLine, styleOf, type Replacement, type Shift } from '../lib/text.js';
import type { Change, Edit, Estimate, Obligation, TransformContext } from '../lib/types.js';
import { maskObligations, namesAreFree, noLaneWaits } from '../lib/vote-obligations.js';
import { maskAt, writeMask, type MaskPlan } from '../lib/votes.js';
import { isOfBlock } from './barriers.js';

export interface BranchPlan {
  readonly kind: 'skip' | 'three-way';
  readonly branch: IfStmt;
  /** `if (c) continue;`: what is skipped follows it. */
  readonly jumps: boolean;
}

/** Branches on a condition that lanes do not share, with work below them that the compiler will not predicate. */
export function branchPlans(context: TransformContext, kind: BranchPlan['kind']): readonly BranchPlan[] {
  const { facts } = context;
  const { body } = facts.function;
  if (body === null) return [];
  const plans: BranchPlan[] = [];
  walk(body, (node) => {
    if (node.kind === 'lambda' || node.kind === 'macro-statement') return false;
    if (!isStmt(node) || node.kind !== 'if' || node.constexpr || node.init !== null || node.conditionDecl !== null) return true;
    const verdict = facts.scope(node.condition);
    const jumps = isJump(node.then);
    if (kind === 'skip' && node.else !== null) return true;
    if (kind === 'three-way' && jumps) return true;
    if ((verdict.known && atLeast(verdict.value, 'warp')) || holdsVote(node.condition)) return true;
    if (!jumps && facts.cost(node.then).predicated && (node.else === null || facts.cost(node.else).predicated)) return true;
    if (jumps && facts.loops(node).length === 0) return true;
    plans.push({ kind, branch: node, jumps });
    return true;
  });
  return plans;
}

function isJump(stmt: Stmt): boolean {
  if (stmt.kind === 'compound') return stmt.body.length === 1 && stmt.body[0] !== undefined && isJump(stmt.body[0]);
  return stmt.kind === 'continue';
}

function holdsVote(expr: Expr): boolean {
  let found = false;
  walk(expr, (node) => {
    if (node.kind === 'call' && node.callee.kind === 'builtin' && ['__any_sync', '__all_sync', '__ballot_sync'].includes(node.callee.name)) found = true;
    return !found;
  });
  return found;
}

/** Lines of an `if` up to which it is written three times. */
const MOST_LINES = 80;

export function branchObligations(context: TransformContext, plan: BranchPlan): readonly Obligation[] {
  const { facts, unit } = context;
  const { branch, kind } = plan;
  const line = lineOf(context, branch);
  const mask = maskAt(context, branch);
  const names = mask.kind === 'mask' ? textsOf(context, plan, mask).names : [];
  const copied = kind === 'three-way' ? [branch] : [];
  return [
    noGoto(context),
    noDirectiveAcross(context, extentOf(unit.source, branch)),
    notInMacro(context, [branch, branch.condition]),
    namesAreFree(context, names, line),
    copySafe(context, copied),
    codeGrowth(context, plan),
    conditionPure(context, plan),
    conditionVaries(context, branch),
    ...maskObligations(context, mask, line),
    arms(context, branch),
    noLaneWaits(context, line),
    alreadyDone(facts, context, plan),
    contractionStable(context, branch),
  ];
}

function codeGrowth(context: TransformContext, { branch, kind }: BranchPlan): Obligation {
  const line = lineOf(context, branch);
  const lines = context.unit.source.line(branch.span.end) - line + 1;
  if (kind === 'skip' || lines <= MOST_LINES) return proved('code-growth', line, kind === 'skip' ? 'nothing is copied' : `${lines} lines are written three times`);
  return refuted('code-growth', line, `${lines} lines would be written three times`, 'move the arms into a __device__ function');
}

function conditionPure(context: TransformContext, { branch }: BranchPlan): Obligation {
  const { facts, unit } = context;
  const { condition } = branch;
  const line = lineOf(context, condition);
  if (!isRepeatable(facts, condition)) return refuted('condition-pure', line, `${excerpt(unit.source, condition)} has effects, or reads what may change at any time`, 'keep its value in a local variable');
  const { type } = condition;
  if (type.kind !== 'bool' && type.kind !== 'int' && type.kind !== 'float' && type.kind !== 'pointer') return unknown('condition-pure', line, `${excerpt(unit.source, condition)} is not a plain number`, 'make the declaration visible, e.g. with --include');
  return proved('condition-pure', line, 'the condition has no effects');
}

function conditionVaries(context: TransformContext, { condition }: IfStmt): Obligation {
  const verdict = context.facts.scope(condition);
  const line = lineOf(context, condition);
  if (verdict.known && atLeast(verdict.value, 'warp')) return refuted('condition-varies', line, 'all lanes of a warp agree on the condition already');
  return proved('condition-varies', line, 'lanes of a warp may differ in the condition');
}

/** A barrier below a condition that lanes do not share is a fault of its own. */
function arms(context: TransformContext, branch: IfStmt): Obligation {
  const { facts, unit } = context;
  const effects = facts.effects(branch);
  const line = lineOf(context, branch);
  const barrier = effects.barriers.find(isOfBlock);
  if (barrier !== undefined) return refuted('nest-together', lineOf(context, barrier), `${excerpt(unit.source, barrier)} stands under a condition that lanes do not share`, 'move the barrier out of the branch');
  const [collective] = effects.collectives;
  if (collective !== undefined) return refuted('nest-together', lineOf(context, collective), `${excerpt(unit.source, collective)} would be called in several places by the lanes it names`, 'move it out of the branch');
  const [call] = effects.unknownCalls;
  if (call !== undefined) return unknown('nest-together', lineOf(context, call), `${excerpt(unit.source, call)} may hold a barrier or a vote`, 'make the definition of the function visible');
  if (effects.asm.length > 0) return unknown('nest-together', line, 'inline PTX may hold a barrier', 'use an intrinsic in its place');
  return proved('nest-together', line, 'no barrier and no collective stands in the branch');
}

function alreadyDone(facts: FunctionFacts, context: TransformContext, { branch }: BranchPlan): Obligation {
  const line = lineOf(context, branch);
  const done = votedAround(facts, branch) || votedBefore(facts, branch);
  return done ? refuted('already-done', line, 'a vote on this condition stands here already') : proved('already-done', line, 'no vote on this condition stands here');
}

/** `if (__any_sync(m, c)) { if (c) … }` */
function votedAround(facts: FunctionFacts, branch: IfStmt): boolean {
  for (let at = facts.parent(branch); at !== null && isStmt(at); at = facts.parent(at)) {
    if (at.kind === 'if') return votesOn(at.condition, branch.condition);
    if (at.kind !== 'compound') return false;
  }
  return false;
}

/** `if (__all_sync(m, c)) continue;` right in front of `if (c) continue;`. */
function votedBefore(facts: FunctionFacts, branch: IfStmt): boolean {
  const list = facts.parent(branch);
  if (list === null || list.kind !== 'compound') return false;
  const before = list.body[list.body.indexOf(branch) - 1];
  return before !== undefined && before.kind === 'if' && votesOn(before.condition, branch.condition);
}

function votesOn(test: Expr, condition: Expr): boolean {
  const call = strip(test);
  if (call.kind !== 'call' || call.callee.kind !== 'builtin' || (call.callee.name !== '__any_sync' && call.callee.name !== '__all_sync')) return false;
  const said = call.arguments[1];
  return said !== undefined && sameExpr(said, condition);
}

export function estimateBranch(context: TransformContext, plan: BranchPlan): Estimate {
  const cost = context.facts.cost(plan.branch);
  const before = Math.max(1, Math.round(cost.instructions));
  const reason = plan.kind === 'skip'
    ? 'the hardware passes by a path that no lane takes without being told: measured 0.98, whatever the share of lanes'
    : 'the hardware passes by a path that no lane takes without being told: none, all and mixed measured 0.97 to 1.00 for any distribution and any length';
  return {
    speedup: plan.kind === 'skip' ? 0.98 : 0.99, low: 0.97, high: 1, instructionsBefore: before, instructionsAfter: before + 4, traffic: 0,
    breakEven: 'none: the vote is added to every pass', provider: cost.provider, pays: false, reason,
  };
}

interface Texts { readonly change: readonly Edit[]; readonly names: readonly string[] }

function textsOf(context: TransformContext, plan: BranchPlan, mask: Extract<MaskPlan, { kind: 'mask' }>): Texts {
  const { facts, unit: { source } } = context;
  const { branch, kind, jumps } = plan;
  const fresh = namerFor(context);
  const written = writeMask(context, mask, fresh);
  const names = [...written.names];
  const file = source.realPath;
  const said = grouped(oneLine(source, branch.condition.span), branch.condition, BINDING.assignment);
  const moved = grouped(movedText(source, branch.condition.span), branch.condition, BINDING.assignment);
  const simple = facts.effects(branch.condition).accesses.length === 0 && facts.effects(branch.condition).faults.length === 0;
  const keep = kind === 'three-way' || !simple;
  const held = keep && !/^\w+$/.test(said) ? fresh('taken') : null;
  if (held !== null) names.push(held);
  const condition = held ?? said;
  const style = styleOf(source, facts.function);
  const word = `if${style.keywordSpace}`;
  const replaced: Replacement[] = held === null ? [] : [{ span: branch.condition.span, text: held }];
  if (kind === 'skip' && !jumps) {
    const again = held ?? grouped(movedText(source, branch.condition.span), branch.condition, BINDING.and);
    const edit: Edit = { file, span: branch.condition.span, text: `__any_sync(${written.mask}, ${condition}) && ${again}` };
    if (held === null) return { change: [...written.edits, edit], names };
    return { change: [...written.edits, ...inFront(context, branch, [`const bool ${held} = ${moved};`], [edit])], names };
  }
  if (kind === 'skip') {
    const lines = [...(held === null ? [] : [`const bool ${held} = ${moved};`]), `${word}(__all_sync(${written.mask}, ${condition})) continue;`];
    return { change: [...written.edits, ...inFront(context, branch, lines, replaced.map((piece) => ({ file, ...piece })))], names };
  }
  const place = placeOf(context, branch);
  const inner = place.indent + style.unit;
  const region = extentOf(source, branch);
  const own = indentAt(source, branch.span.start);
  const arm = (stmt: Stmt): string => armText(context.unit.source, stmt, inner);
  const shift: Shift = { from: own, to: inner };
  const text = chainText(style, place.indent, [
    { head: `${word}(__all_sync(${written.mask}, ${condition}))`, lines: arm(branch.then) },
    { head: `${word}(__any_sync(${written.mask}, ${condition}))`, lines: inner + copyText(source, region, shift, replaced) },
    ...(branch.else === null ? [] : [{ head: null, lines: arm(branch.else) }]),
  ]);
  const pieces = [...(held === null ? [] : [`const bool ${held} = ${moved};`]), text];
  return { change: [...written.edits, ...place.edits, { file, span: place.span, text: `${place.before}${pieces.join(`\n${place.indent}`)}${place.after}` }], names };
}

/** Whole lines in front of a branch, which keeps its place; below a head without braces the branch moves into a block. */
function inFront(context: TransformContext, branch: IfStmt, lines: readonly string[], edits: readonly Edit[]): readonly Edit[] {
  const { facts, unit: { source } } = context;
  const parent = facts.parent(branch);
  if (parent !== null && parent.kind === 'compound' && startsLine(source, branch.span.start)) {
    const at = lineStartOf(source, branch.span.start);
    const indent = indentAt(source, branch.span.start);
    return [{ file: source.realPath, span: { start: at, end: at }, text: lines.map((line) => `${indent}${line}\n`).join('') }, ...edits];
  }
  const place = placeOf(context, branch);
  const region = extentOf(source, branch);
  const whole = copyText(source, region, { from: indentAt(source, branch.span.start), to: place.indent }, edits);
  return [...place.edits, { file: source.realPath, span: place.span, text: `${place.before}${[...lines, whole].join(`\n${place.indent}`)}${place.after}` }];
}

export function writeBranch(context: TransformContext, plan: BranchPlan): Change {
  const mask = maskAt(context, plan.branch);
  if (mask.kind === 'problem') return { edits: [], reads: [] };
  const { source } = context.unit;
  const steps = mask.steps.map(({ branch, decision }) => ({ file: source.realPath, start: branch.span.start, end: decision.condition.span.end }));
  return { edits: textsOf(context, plan, mask).change, reads: [{ file: source.realPath, start: plan.branch.span.start, end: plan.branch.span.end }, ...steps] };
}
