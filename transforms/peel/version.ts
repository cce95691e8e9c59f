/**
 * Shape 2: a nest of loops whose guards are tested once for all its iterations.
 *
 * From each guard comes the inequality that it demands at the worst thread and the worst iteration. If all hold, a copy of the nest
 * without the guards runs, else the nest as it was. For windows (both edges of an index guarded), and for loops with a constant number
 * of iterations, whose registers a split at run time would send to memory.
 */
import type { Expr } from '../../src/syntax/tree.js';
import type { TransformContext } from '../lib/types.js';
import { lessThanZero } from '../lib/guards/bound.js';
import type { PeelableLoop } from '../lib/guards/tested-loop.js';
import { demandOf, settle, type Demand } from '../lib/guards/demands.js';
import type { Guard } from '../lib/guards/guards.js';
import { interval, linearIn, symbolsOf, type Poly } from '../lib/guards/polynomial.js';
import { Reader, variableKey } from '../lib/guards/reading.js';
import { varies } from '../lib/guards/solve.js';
import { arePlain, type Decisions } from '../lib/guards/simplify.js';
import { describeLoop } from '../lib/loops.js';
import { isReached } from './run-body.js';
import { isUnrolled } from './unrolled.js';

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
  /** What is taken to hold of constants that other builds may give other values. */
  readonly stated: readonly string[];
}

/** Null if the nest has no window, no constant number of iterations, or no guard that could hold throughout. */
export function versionPlan(context: TransformContext, loop: PeelableLoop, guards: readonly Guard[]): VersionPlan | null {
  const { facts } = context;
  const induction = describeLoop(facts, loop);
  if (!induction.simple) return null;
  const reader = new Reader(facts, loop, null, false);
  const demands = guards.map((guard) => demandOf(reader, guard, varies)).filter((demand) => demand !== null)
    .filter(({ guard, value }) => guard.owner.kind !== 'ternary' || arePlain(facts, guard.owner.node, value));
  const own = variableKey(induction.counter);
  const constantTrips = isUnrolled(facts, loop);
  const counted = demands.filter((demand) => symbolsOf(demand.fact).some((sym) => sym.key === own));
  if (counted.length === 0 || (!constantTrips && !hasWindow(counted, own))) return null;

  let kept = demands;
  for (;;) {
    const live = kept.filter((demand) => isReached(facts, loop, demand.guard.comparison, decisionsOf(kept.filter((other) => other !== demand))));
    // What stands in an arm that another demand takes out is not asked.
    if (live.length < kept.length) { kept = live; continue; }
    const chosen = settle(kept, varies);
    if (chosen === null) return null;
    if (chosen.without.size === 0) {
      if (!kept.some((demand) => counted.includes(demand)) || (!constantTrips && !hasWindow(kept.filter((demand) => counted.includes(demand)), own))) return null;
      if (chosen.tests.length === 0 || chosen.tests.some((test) => lessThanZero(test) === null)) return null;
      return {
        kind: 'version', loop, guards: kept.map((demand) => demand.guard), tests: chosen.tests,
        decisions: decisionsOf(kept),
        assumed: chosen.assumed || reader.leansOnIndexRange, constantTrips, under: [...reader.under], stated: [...reader.stated],
        uniformGuards: !kept.some((demand) => symbolsOf(demand.fact).some((sym) => sym.role === 'thread' || sym.role === 'own')),
        ownBound: chosen.tests.some((test) => symbolsOf(test).some((sym) => sym.role === 'own')),
      };
    }
    kept = kept.filter((demand) => !chosen.without.has(demand));
  }
}

function decisionsOf(demands: readonly Demand[]): Decisions {
  return new Map<Expr, boolean>(demands.map(({ guard, value }) => [guard.comparison, value]));
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
