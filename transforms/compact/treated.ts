/**
 * Regions that a compaction has treated, by whatever variant. Either the block has numbered the lanes for which the condition holds, or those that come to the region are
 * items of a queue: a row of threads without gaps. What such a thread does runs with full warps as far as numbering brings that about, and whatever
 * branches inside of an item is part of it; so no variant looks there again, whether it would pay or not.
 */
import { walk } from '../../src/analysis/children.js';
import { strip, type Decl, type Expr, type Stmt } from '../../src/syntax/tree.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { conjunctsOf } from '../lib/loops.js';
import { lineOf, refuted } from '../lib/obligation.js';
import type { Obligation, TransformContext } from '../lib/types.js';
import { codeOnly, textOf } from '../lib/text.js';
import { conditionText } from './condition-text.js';
import { isEarlyExit, type Region } from './region.js';

/** Why the region is left as it is; null if no compaction was there. */
export function treatedBefore(context: TransformContext, region: Region): Obligation | null {
  const tests = [region.stmt, ...region.frames.flatMap((frame) => (frame.owner !== null && frame.owner.kind === 'if' ? [frame.owner] : []))];
  const exits = region.frames.flatMap((frame) => frame.list.slice(0, frame.index).filter(isEarlyExit));
  const votes = votesIn(context);
  const voted = votedOn(votes, region.predicate);
  if (voted !== null) return refuted('already-done', lineOf(context, voted), 'the block has numbered the lanes for which it holds: they were compacted before');
  const numbered = numberedBefore(context, votes, region);
  if (numbered !== null) {
    return refuted('already-done', lineOf(context, numbered), 'the block has numbered the lanes for which this holds, for another branch: a second time over it would number the same ones', 'put the work of both branches into one');
  }
  const prepared = preparedIn(votes, region.stmt);
  if (prepared !== null) return refuted('already-done', lineOf(context, prepared), 'it finds out which lanes the block numbers behind it: what they do was compacted before');
  const hit = tests.find((test) => isItemTest(context, test.condition, '<')) ?? exits.find((exit) => isItemTest(context, exit.condition, '>='));
  if (hit === undefined) return null;
  return refuted('already-done', lineOf(context, hit), 'the threads that come here are items of a queue, a row without gaps: it was compacted before');
}

/** Votes of the block on a flag, by the flag. */
function votesIn({ facts }: TransformContext): ReadonlyMap<Decl, Expr> {
  const votes = new Map<Decl, Expr>();
  const { body } = facts.function;
  if (body === null) return votes;
  walk(body, (node) => {
    if (node.kind !== 'call' || node.callee.kind !== 'builtin') return;
    const at = node.callee.name === '__ballot_sync' ? 1 : node.callee.name === '__syncthreads_count' ? 0 : null;
    const argument = at === null ? undefined : node.arguments[at];
    const flag = argument === undefined ? null : strip(argument);
    // The number of items is kept in a variable of its own.
    if (at === 0 && facts.parent(node)?.kind !== 'declare') return;
    if (flag?.kind === 'ref' && flag.decl?.kind === 'variable' && flag.decl.type.kind === 'bool') votes.set(flag.decl, node);
  });
  return votes;
}

/** The vote whose argument the predicate is, or its negation. */
function votedOn(votes: ReadonlyMap<Decl, Expr>, predicate: Expr): Expr | null {
  let test = strip(predicate);
  while (test.kind === 'unary' && test.op === '!') test = strip(test.operand);
  return test.kind === 'ref' && test.decl !== null ? votes.get(test.decl) ?? null : null;
}

/**
 * A vote in front of the region on a flag that was given the region's own condition, by variables that have not changed since. Conditions around the region belong to it: they are the
 * first operands of the flag's `&&`, or stand around what sets it.
 */
function numberedBefore({ facts, unit: { source } }: TransformContext, votes: ReadonlyMap<Decl, Expr>, region: Region): Expr | null {
  const { body } = facts.function;
  if (body === null) return null;
  const wanted = codeOnly(conditionText(source, region.predicate, region.holds, true));
  const around = new Set(region.frames.flatMap(({ owner }) => (owner?.kind === 'if' ? [codeOnly(textOf(source, owner.condition.span))] : [])));
  for (const [flag, vote] of votes) {
    if (flag.kind !== 'variable' || vote.span.end > region.stmt.span.start) continue;
    for (const definition of facts.assignments(flag, body)) {
      const value = definition.kind === 'declaration' ? flag.init : definition.kind === 'assignment' && definition.node.kind === 'assign' && definition.node.op === null ? definition.node.value : null;
      if (value === null) continue;
      const parts = conjunctsOf(value).map((part) => codeOnly(textOf(source, part.span)));
      const same = codeOnly(textOf(source, value.span)) === wanted || (parts.at(-1) === wanted && parts.slice(0, -1).every((part) => around.has(part)));
      if (same && facts.effects(value).accesses.length === 0 && isStill(facts, value, region)) return vote;
    }
  }
  return null;
}

/** Nothing assigns what the value is made of from there to the region, and each name means there what it means here. */
function isStill(facts: FunctionFacts, value: Expr, region: Region): boolean {
  const { body } = facts.function;
  const here = new Set<Decl>();
  walk(region.predicate, (node) => { if (node.kind === 'ref' && node.decl !== null) here.add(node.decl); });
  for (const { owner } of region.frames) if (owner?.kind === 'if') walk(owner.condition, (node) => { if (node.kind === 'ref' && node.decl !== null) here.add(node.decl); });
  let still = body !== null;
  walk(value, (node) => {
    if (node.kind !== 'ref' || body === null) return still;
    const { decl } = node;
    still &&= decl !== null && here.has(decl);
    if (decl?.kind === 'variable' || decl?.kind === 'parameter') {
      still &&= !facts.addressTaken(decl) && facts.assignments(decl, body).every((definition) => !('node' in definition) || definition.node.span.end <= value.span.start || definition.node.span.start >= region.stmt.span.start);
    }
    return still;
  });
  return still;
}

/** A vote behind the statement, on a flag that is set in it. */
function preparedIn(votes: ReadonlyMap<Decl, Expr>, stmt: Stmt): Expr | null {
  let found: Expr | null = null;
  walk(stmt, (node) => {
    if (node.kind !== 'assign' || found !== null) return found === null;
    const target = strip(node.target);
    const vote = target.kind === 'ref' && target.decl !== null ? votes.get(target.decl) : undefined;
    if (vote !== undefined && vote.span.start >= stmt.span.end) found = vote;
    return found === null;
  });
  return found;
}

/** `thread < items`, or `thread >= items` of those that leave, where `items` is the count of a barrier, or sums what lies in shared memory. */
function isItemTest(context: TransformContext, condition: Expr, op: '<' | '>='): boolean {
  const test = strip(condition);
  if (test.kind !== 'binary' || test.op !== op) return false;
  const right = strip(test.right);
  if (right.kind !== 'ref' || right.decl === null || right.decl.kind !== 'variable' || context.facts.function.body === null) return false;
  const items = right.decl;
  const left = context.facts.affine(test.left);
  const byThread = left !== null && left.terms.some((term) => term.atoms.some((atom) => atom.expr.kind === 'coordinate' && atom.expr.base === 'threadIdx'))
    && left.terms.every((term) => term.atoms.every((atom) => atom.expr.kind === 'coordinate' && atom.expr.base !== 'blockIdx'));
  if (!byThread) return false;
  if (items.init !== null) {
    const first = strip(items.init);
    if (first.kind === 'call' && first.callee.kind === 'builtin' && first.callee.name === '__syncthreads_count') return true;
  }
  return context.facts.assignments(items, context.facts.function.body).some((definition) => definition.kind === 'assignment' && definition.node.kind === 'assign' && definition.node.op === '+'
    && context.facts.effects(definition.node.value).accesses.some((access) => access.space === 'shared'));
}
