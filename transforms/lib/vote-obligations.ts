/**
 * What must hold wherever a vote is added: its mask names the lanes that come, no lane waits for another, names are free.
 */
import { isFree } from './guards/names.js';
import { excerpt, proved, refuted, unknown } from './obligation.js';
import type { Obligation, TransformContext } from './types.js';
import type { MaskPlan } from './votes.js';
import { waitIn } from './waits.js';

export function namesAreFree(context: TransformContext, names: readonly string[], line: number): Obligation {
  const taken = names.find((name) => !isFree(context, name));
  if (taken !== undefined) return refuted('names-free', line, `the name ${taken} is taken`);
  return proved('names-free', line, names.length === 0 ? 'no name is added' : `${names.join(', ')}: no other name of the function or of a macro`);
}

/** What the arrival set says about the mask: ids `exits-warp-uniform`, `arrival-set-known`, `mask-names-arriving-lanes`. */
export function maskObligations(context: TransformContext, mask: MaskPlan, line: number): readonly Obligation[] {
  if (mask.kind === 'problem') {
    const earlier = ['exits-warp-uniform', 'arrival-set-known'].filter((id) => id !== mask.id && mask.id === 'mask-names-arriving-lanes');
    return [...earlier.map((id) => proved(id, line, 'the lanes that come are known')), (mask.known ? refuted : unknown)(mask.id, mask.line, mask.text, mask.remedy)];
  }
  const { steps, arrival } = mask;
  const exited = arrival.exits.length > 0 ? '; lanes that have left the kernel may be named in a vote' : '';
  return [
    proved('exits-warp-uniform', line, 'the lanes of a warp leave the loops around together'),
    proved('arrival-set-known', line, steps.length === 0 ? `every lane of the warp that has not exited comes here${exited}` : `the lanes come here for which ${steps.map(({ decision }) => excerpt(context.unit.source, decision.condition)).join(' and ')} came out so`),
    proved('mask-names-arriving-lanes', line, steps.length === 0 ? 'the mask names all lanes' : 'the mask is a vote on that condition, taken in front of the `if` by the lanes that come there'),
  ];
}

/** Adding a vote makes lanes wait for each other: not where one may wait for another already. */
export function noLaneWaits(context: TransformContext, line: number): Obligation {
  const wait = waitIn(context.facts);
  if (wait === null) return proved('no-lane-waits', line, 'no lane waits for another in a loop');
  const { source } = wait.facts.unit;
  const at = source.line(wait.node.span.start);
  if (wait.kind === 'loop') return refuted('no-lane-waits', at, 'a lane may wait here for another, which a vote would make wait in turn', 'let one lane of the warp wait for all');
  return unknown('no-lane-waits', at, `${excerpt(source, wait.node)} may wait for another lane`, 'make the definition of the function visible');
}
