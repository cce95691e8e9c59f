/**
 * Shape 2: a nest of loops whose guards are tested once for all its iterations.
 *
 * From each guard comes the inequality that it demands at the worst thread and the worst iteration. If all hold, a copy of the nest
 * without the guards runs, else the nest as it was. For windows (both edges of an index guarded), and for loops with a constant number
 * of iterations, whose registers a split at run time would send to memory.
 */
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Expr } from '../../src/syntax/tree.js';
import type { TransformContext } from '../lib/types.js';
import { lessThanZero } from './bound.js';
import type { PeelableLoop } from './counters.js';
import type { Guard } from './guards.js';
import { equal, extreme, interval, linearIn, symbolsOf, type Poly } from './polynomial.js';
import { Reader, variableKey } from './reading.js';
import { follows, formsOf, opposite, varies, type End } from './solve.js';
import { arePlain, type Decisions } from './simplify.js';
import { describeLoop } from '../lib/loops.js';

export interface VersionPlan {
  readonly kind: 'version';
  readonly loop: PeelableLoop;
  readonly guards: readonly Guard[];
  /** All must be below zero for the copy without guards. */
  readonly tests: readonly Poly[];
  readonly decisions: Decisions;
  readonly assumed: boolean;
  /** Some test is the thread's own. */
  readonly ownBound: boolean;
  /** The number of iterations of the outermost loop is constant. */
  readonly constantTrips: boolean;
  /** All threads of the block agree on every guard. */
  readonly uniformGuards: boolean;
  /** Assumptions under which the tests are one in the block. */
  readonly under: readonly string[];
}

/** The compiler unrolls it: a constant number of iterations, or a bound made of template values. */
export function isUnrolled(facts: FunctionFacts, loop: PeelableLoop): boolean {
  if (facts.trips(loop).origin === 'constant') return true;
  return loop.condition !== null && boundIsConstant(facts, loop);
}

function boundIsConstant(facts: FunctionFacts, loop: PeelableLoop): boolean {
  const induction = describeLoop(facts, loop);
  if (!induction.simple || induction.start === null) return false;
  return [induction.bound, induction.start].every((expr) => facts.constant(expr) !== null || facts.scope(expr).value === 'constant');
}

interface Demand {
  readonly guard: Guard;
  readonly value: boolean;
  /** Below zero for every thread and iteration that the demand is for. */
  readonly fact: Poly;
  /** The same at the worst of them. */
  readonly worst: Poly;
  readonly ends: readonly End[];
  readonly assumed: boolean;
}

/** Null if the nest has no window, no constant number of iterations, or no guard that could hold throughout. */
export function versionPlan(context: TransformContext, loop: PeelableLoop, guards: readonly Guard[]): VersionPlan | null {
  const { facts } = context;
  const induction = describeLoop(facts, loop);
  if (!induction.simple) return null;
  const reader = new Reader(facts, loop, null, false);
  const demands = guards.map((guard) => demandOf(reader, guard)).filter((demand) => demand !== null)
    .filter(({ guard, value }) => guard.owner.kind !== 'ternary' || arePlain(facts, guard.owner.node, value));
  const own = variableKey(induction.counter);
  const constantTrips = isUnrolled(facts, loop);
  const counted = demands.filter((demand) => symbolsOf(demand.fact).some((sym) => sym.key === own));
  if (counted.length === 0 || (!constantTrips && !hasWindow(counted, own))) return null;

  let kept = demands;
  for (;;) {
    const chosen = settle(kept);
    if (chosen === null) return null;
    if (chosen.without.size === 0) {
      if (!kept.some((demand) => counted.includes(demand)) || (!constantTrips && !hasWindow(kept.filter((demand) => counted.includes(demand)), own))) return null;
      if (chosen.tests.length === 0 || chosen.tests.some((test) => lessThanZero(test) === null)) return null;
      return {
        kind: 'version', loop, guards: kept.map((demand) => demand.guard), tests: chosen.tests,
        decisions: new Map<Expr, boolean>(kept.map((demand) => [demand.guard.comparison, demand.value])),
        assumed: chosen.assumed, constantTrips, under: [...reader.under],
        uniformGuards: !kept.some((demand) => symbolsOf(demand.fact).some((sym) => sym.role === 'thread' || sym.role === 'own')),
        ownBound: chosen.tests.some((test) => symbolsOf(test).some((sym) => sym.role === 'own')),
      };
    }
    kept = kept.filter((demand) => !chosen.without.has(demand));
  }
}

function demandOf(reader: Reader, guard: Guard): Demand | null {
  reader.failure = null;
  const forms = formsOf(reader, guard.comparison);
  if (forms === null || forms.kind !== 'one') return null;
  const { form } = forms;
  if (!symbolsOf(form.poly).some((sym) => sym.role === 'inner')) return null;
  const negative = form.whenNegative === guard.wanted;
  const fact = negative ? form.poly : opposite(form.poly);
  const worst = extreme(fact, 'high', varies);
  // Never true throughout: an edge that the loop itself starts or ends at.
  if (worst === null || interval(worst).low >= 0n) return null;
  // Decided by the shape of the block alone: no interior to speak of, or the compiler decides it when it unrolls.
  if (symbolsOf(worst).every((sym) => sym.key.startsWith('blockDim.'))) return null;
  return { guard, value: guard.wanted, fact, worst, ends: negative ? form.negative : form.other, assumed: form.assumed };
}

/** Two demands of which one limits the counter from above and one from below. */
function hasWindow(demands: readonly Demand[], counter: string): boolean {
  // An unsigned comparison says both edges at once.
  const facts = demands.flatMap(({ fact, ends }) => [fact, ...ends.filter((end) => end.demandable).map((end) => end.poly)]);
  const signs = facts.map((fact) => {
    const sym = symbolsOf(fact).find((other) => other.key === counter);
    const split = sym === undefined ? null : linearIn(fact, sym);
    if (split === null) return 0;
    const { low, high } = interval(split.coefficient);
    return low > 0n ? 1 : high < 0n ? -1 : 0;
  });
  return signs.includes(1) && signs.includes(-1);
}

interface Settled { readonly tests: readonly Poly[]; readonly assumed: boolean; readonly without: ReadonlySet<Demand> }

/** The inequalities to test, weaker ones dropped; demands whose comparison might not be the mathematical one are given back. */
function settle(demands: readonly Demand[]): Settled | null {
  if (demands.length === 0) return null;
  const facts = demands.map((demand) => demand.fact);
  const tests: Poly[] = [];
  const without = new Set<Demand>();
  let assumed = false;
  const add = (poly: Poly): void => {
    if (interval(poly).high < 0n || tests.some((test) => equal(test, poly) || follows(poly, [test]))) return;
    for (let i = tests.length - 1; i >= 0; i--) {
      const test = tests[i];
      if (test !== undefined && follows(test, [poly])) tests.splice(i, 1);
    }
    tests.push(poly);
  };
  for (const demand of demands) {
    add(demand.worst);
    assumed ||= demand.assumed;
    for (const end of demand.ends) {
      if (follows(end.poly, facts)) continue;
      const worst = end.demandable ? extreme(end.poly, 'high', varies) : null;
      if (worst !== null && interval(worst).low < 0n) add(worst);
      else if (end.index) assumed = true;
      else without.add(demand);
    }
  }
  return { tests, assumed, without };
}

