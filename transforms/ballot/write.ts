/**
 * The text of the versioned form: a vote, the nest without the guards, and the nest as it was.
 */
import { extentOf } from '../lib/text.js';
import { namerFor } from '../lib/guards/names.js';
import { testText } from '../lib/guards/interior-text.js';
import { namesOf } from '../lib/guards/polynomial.js';
import { readsOf, versionTexts, writeTwoVersions, type VersionTexts } from '../lib/guards/two-versions.js';
import type { Change, TransformContext } from '../lib/types.js';
import { maskAt, writeMask, type MaskPlan, type MaskText } from '../lib/votes.js';
import { isOfBlock } from './barriers.js';
import { sameVote } from './same-vote.js';
import type { VersionedPlan } from './versioned.js';

type Taken = Extract<MaskPlan, { kind: 'mask' }>;

interface Texts extends VersionTexts { readonly mask: MaskText }

export function versionedTexts(context: TransformContext, plan: VersionedPlan, mask: Taken): Texts {
  const fresh = namerFor(context);
  const texts = versionTexts(context, plan.tests, fresh);
  const written = writeMask(context, mask, fresh);
  return { ...texts, names: [...texts.names, ...written.names], mask: written };
}

export function writeVersioned(context: TransformContext, plan: VersionedPlan): Change {
  const mask = maskAt(context, plan.loop);
  if (mask.kind === 'problem') return { edits: [], reads: [] };
  const { source } = context.unit;
  const texts = versionedTexts(context, plan, mask);
  const block = context.facts.effects(plan.loop).barriers.some(isOfBlock);
  const vote = (joined: string): string => (block ? `__syncthreads_and(${joined})` : `__all_sync(${texts.mask.mask}, ${joined})`);
  const tests = texts.tests.map((test) => testText(test, texts.shadowed)).join(' && ');
  // Text that names constants of its own stands nowhere else.
  const same = texts.declarations.length > 0 || texts.mask.edits.length > 0 ? null : sameVote(context, plan.loop, vote(tests), namesOf(...plan.tests), namerFor(context));
  const head = same === null ? vote : (): string => same.name;
  const edits = [...texts.mask.edits, ...same?.edits ?? [], ...writeTwoVersions(context, plan.loop, plan.decisions, texts, head)];
  const reads = mask.steps.map(({ branch, decision }) => ({ file: source.realPath, start: branch.span.start, end: decision.condition.span.end }));
  return { edits, reads: [...readsOf(context, plan.guards, extentOf(source, plan.loop)), ...reads] };
}
