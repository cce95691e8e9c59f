/**
 * For one guard of one loop: the claims about it that a run may rest on.
 *
 * In the order of the iterations a guard has one value for every thread *early*, may differ between threads in between, and has the
 * other value for every thread *late*. A claim says which value, while which bound on the counter holds, and what it needs so that C++
 * compares as mathematics does.
 */
import type { Change } from '../lib/guards/bound.js';
import type { Counter } from './counters.js';
import type { Guard } from '../lib/guards/guards.js';
import { add, constant, equal, multiply, negate, subtract, symbol, symbolsOf, type Poly, type Sym } from '../lib/guards/polynomial.js';
import type { Reader } from '../lib/guards/reading.js';
import { edgeOf, follows, formsOf, type Edge, type End, type Form } from '../lib/guards/solve.js';

export interface Claim {
  readonly value: boolean;
  /** `<`: while the counter is below the change. `>=`: while it is not. */
  readonly side: '<' | '>=';
  readonly change: Change;
  readonly ends: readonly End[];
  /** Below zero, for every thread, while the claim holds. */
  readonly fact: Poly;
  /** Read so only because indices do not wrap. */
  readonly assumed: boolean;
}

export interface GuardClaims {
  readonly guard: Guard;
  readonly early: Claim | null;
  readonly late: Claim | null;
  /** Early and late meet: no iteration lies between them, because all threads agree. */
  readonly complete: boolean;
  /** No iteration of the loop is early (late). */
  readonly earlyEmpty: boolean;
  readonly lateEmpty: boolean;
  /** Early and late have the same value, the other one lies between (`j != i`). */
  readonly hole: boolean;
  /** All threads of the block agree on the comparison: early and late meet, or only one value of the counter lies between. */
  readonly agreed: boolean;
}

export type ClaimsResult = { readonly claims: GuardClaims } | { readonly problem: string; readonly id: 'guard-exact' | 'bound-exact' | 'types-known' | 'operands-invariant' };

/** Claims of a guard; `facts` are below zero in every iteration (the loop's test, the counter's start). */
export function claimsOf(reader: Reader, counter: Counter, sym: Sym, guard: Guard, facts: readonly Poly[]): ClaimsResult {
  reader.failure = null;
  const forms = formsOf(reader, guard.comparison);
  if (forms === null) {
    const { failure } = reader as { readonly failure: Reader['failure'] };
    return { problem: failure?.reason ?? 'it cannot be read', id: failure?.id ?? 'bound-exact' };
  }
  if (forms.kind === 'one') return oneSided(counter, sym, guard, forms.form, facts);
  const { below, above } = forms;
  // Known from one side: `k == n - 1` under `k < n` is `k >= n - 1`, `k == 0` under `k >= 0` is `k <= 0`.
  if (follows(above.poly, facts)) {
    return oneSided(counter, sym, guard, { ...below, other: above.other }, facts);
  }
  if (follows(subtract(negate(below.poly), constant(1n)), facts)) {
    return oneSided(counter, sym, guard, { ...above, negative: below.negative }, facts);
  }
  return twoSided(counter, sym, guard, below, above, facts);
}

function oneSided(counter: Counter, sym: Sym, guard: Guard, form: Form, facts: readonly Poly[]): ClaimsResult {
  const result = edgeOf(form, sym);
  if ('problem' in result) return { problem: result.problem, id: 'bound-exact' };
  const { edge } = result;
  const below = claimBelow(edge);
  const above = claimAbove(edge);
  const up = counter.direction !== -1;
  const [early, late] = up ? [below, above] : [above, below];
  const complete = equal(edge.first.level, edge.last.level);
  return {
    claims: {
      guard, early, late,
      complete, hole: false, agreed: complete,
      earlyEmpty: isEmpty(early, sym, facts), lateEmpty: isEmpty(late, sym, facts),
    },
  };
}

function twoSided(counter: Counter, sym: Sym, guard: Guard, below: Form, above: Form, facts: readonly Poly[]): ClaimsResult {
  const [first, second] = [edgeOf(below, sym), edgeOf(above, sym)];
  if ('problem' in first) return { problem: first.problem, id: 'bound-exact' };
  if ('problem' in second) return { problem: second.problem, id: 'bound-exact' };
  // The side on which the two values differ, for each of the two forms.
  const differ = below.whenNegative;
  const low = first.edge.valueBelow === differ ? claimBelow(first.edge) : claimBelow(second.edge);
  const high = first.edge.valueBelow === differ ? claimAbove(second.edge) : claimAbove(first.edge);
  const [early, late] = counter.direction === -1 ? [high, low] : [low, high];
  const agreed = equal(low.change.divisor, constant(1n)) && equal(high.change.divisor, constant(1n)) && equal(high.change.level, add(low.change.level, constant(1n)));
  return { claims: { guard, early, late, complete: false, hole: true, agreed, earlyEmpty: isEmpty(early, sym, facts), lateEmpty: isEmpty(late, sym, facts) } };
}

function claimBelow(edge: Edge): Claim {
  return { value: edge.valueBelow, side: '<', change: edge.first, ends: edge.endsBelow, fact: edge.factBelow, assumed: edge.assumed };
}

function claimAbove(edge: Edge): Claim {
  return { value: !edge.valueBelow, side: '>=', change: edge.last, ends: edge.endsAbove, fact: edge.factAbove, assumed: edge.assumed };
}

/** `divisor * t - level`: below zero while the counter is below the change. */
export function distance(change: Change, sym: Sym): Poly {
  return subtract(multiply(change.divisor, symbol(sym)), change.level);
}

/** The claim's bound as something below zero. */
export function boundFact(claim: Pick<Claim, 'side' | 'change'>, sym: Sym): Poly {
  const gap = distance(claim.change, sym);
  return claim.side === '<' ? gap : subtract(negate(gap), constant(1n));
}

/** True if the facts say that no iteration satisfies the claim's bound. */
function isEmpty(claim: Claim, sym: Sym, facts: readonly Poly[]): boolean {
  const bound = boundFact(claim, sym);
  return follows(subtract(negate(bound), constant(1n)), facts);
}

/** A claim that a number is below zero, as a claim on the counter; null if it cannot be solved. */
export function demandClaim(sym: Sym, poly: Poly): Claim | null {
  const result = edgeOf({ poly, whenNegative: true, negative: [], other: [], assumed: false }, sym);
  if ('problem' in result) return null;
  const claim = result.edge.valueBelow ? claimBelow(result.edge) : claimAbove(result.edge);
  return claim;
}

/** True if the claim's bound is the thread's own. */
export function isOwn({ change }: Pick<Claim, 'change'>): boolean {
  return [...symbolsOf(change.level), ...symbolsOf(change.divisor)].some((sym) => sym.role === 'own');
}

