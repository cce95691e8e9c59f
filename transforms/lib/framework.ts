/**
 * From a site to an outcome: obligations, grants, estimate, edit. A transform cannot be talked past this: the edit is made only
 * if every obligation is proved, or assumed under a grant in force.
 */
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Unit } from '../../src/syntax/tree.js';
import { armsAgree } from './arms-agree.js';
import { worthItsLines } from './code-growth.js';
import { editDisjoint, parsed, typesDeclared } from './common-obligations.js';
import { grantsInForce } from './grants.js';
import { sameForIncluders, sameWhereEdited } from './includers.js';
import { noVolatileLoop } from './volatile-loops.js';
import type { Change, Obligation, Outcome, Site, Transform, TransformContext } from './types.js';

export interface ContextOptions {
  readonly variant?: string | null;
  readonly options?: ReadonlyMap<string, string>;
  /** Grants in force; the default ones if absent. */
  readonly grants?: ReadonlySet<string>;
}

/** What a transform needs to look at one function. */
export function contextFor(facts: FunctionFacts, unit: Unit, { variant = null, options = new Map<string, string>(), grants = grantsInForce() }: ContextOptions = {}): TransformContext {
  return { facts, unit, variant, options, grants };
}

export interface EvaluateOptions {
  /** Report a legal site as `applied` although the estimate says that it does not pay. */
  readonly evenIfItLoses?: boolean;
}

/** What becomes of a site. `deferred` is never returned here: conflicts between changes show only when they are planned together. */
export function evaluateSite<S>(transform: Transform<S>, site: Site<S>, context: TransformContext, { evenIfItLoses = false }: EvaluateOptions = {}): Outcome {
  const stated = [sameForIncluders(context), parsed(context), noVolatileLoop(context, site), ...transform.obligations(site, context), typesDeclared(context), armsAgree(context)].filter((obligation) => obligation !== null);
  const obligations = unique(stated.map((obligation) => underGrants(obligation, context.grants)));
  const outcome = { transform: transform.name, site, obligations };
  if (!obligations.every(holds)) return { ...outcome, status: 'refused', estimate: null, change: null, reason: null };

  const change = transform.emit(site, context);
  const estimate = worthItsLines(transform.estimate(site, context), change, context);
  const elsewhere = sameWhereEdited(change, context.facts.program, (unit) => unit.doubts ?? null);
  const whole = [...obligations, checkedEdits(change, site), ...(transform.check?.(site, change, context) ?? []), ...(elsewhere === null ? [] : [elsewhere])];
  if (!whole.every(holds)) return { ...outcome, obligations: whole, status: 'refused', estimate, change: null, reason: null };
  if (!estimate.pays && !evenIfItLoses) return { ...outcome, obligations: whole, status: 'skipped', estimate, change, reason: estimate.reason };
  return { ...outcome, obligations: whole, status: 'applied', estimate, change, reason: null };
}

/** All sites of a transform in one function with what becomes of them, in the order of the text. */
export function evaluateFunction<S>(transform: Transform<S>, context: TransformContext, options: EvaluateOptions = {}): readonly Outcome[] {
  if (context.facts.function.body === null) return [];
  return [...transform.match(context)]
    .sort((a, b) => a.branch.span.start - b.branch.span.start)
    .map((site) => evaluateSite(transform, site, context, options));
}

/** True if the obligation lets an edit through. Only meaningful for obligations that went through `underGrants`. */
export function holds(obligation: Obligation): boolean {
  return obligation.status === 'proved' || obligation.status === 'assumed';
}

/** The obligations that stopped an outcome. */
export function refusals(outcome: Outcome): readonly Obligation[] {
  return outcome.obligations.filter((obligation) => !holds(obligation));
}

/** An assumption whose grant is not in force is unknown; the remedy names the grant. */
function underGrants(obligation: Obligation, grants: ReadonlySet<string>): Obligation {
  if (obligation.status !== 'assumed') return obligation;
  if (obligation.grant !== null && grants.has(obligation.grant)) return obligation;
  return { ...obligation, status: 'unknown', remedy: obligation.grant === null ? null : `--allow ${obligation.grant}` };
}

/** One entry an obligation: a transform may state again what the framework stated before. */
function unique(obligations: readonly Obligation[]): readonly Obligation[] {
  const byId = new Map<string, Obligation>();
  const rank = { refuted: 0, unknown: 1, assumed: 2, proved: 3 } as const;
  for (const obligation of obligations) {
    const known = byId.get(obligation.id);
    if (known === undefined || rank[obligation.status] < rank[known.status]) byId.set(obligation.id, obligation);
  }
  return [...byId.values()];
}

function checkedEdits(change: Change, site: Site): Obligation {
  const disjoint = editDisjoint(change.edits, site.line);
  if (change.edits.length === 0) return { ...disjoint, status: 'unknown', text: 'no edit came out' };
  return disjoint;
}
