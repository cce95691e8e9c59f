/**
 * What guards demand so that they hold in every iteration of a nest: inequalities at the worst iteration, and what else C++ needs so that it
 * compares as mathematics does.
 */
import type { Guard } from './guards.js';
import { add, constant, equal, extreme, interval, multiply, subtract, symbolsOf, type Poly, type Sym } from './polynomial.js';
import type { Reader } from './reading.js';
import { follows, formsOf, opposite, type End } from './solve.js';

export interface Demand {
  readonly guard: Guard;
  readonly value: boolean;
  /** Below zero for every thread and iteration that the demand is for. */
  readonly fact: Poly;
  /** The same at the worst of them. */
  readonly worst: Poly;
  readonly ends: readonly End[];
  readonly assumed: boolean;
}

/**
 * Null if the guard cannot be read, or cannot hold throughout, or (`counted`) depends on no counter of the nest. `free` picks the symbols over which the worst is taken: the counters of the nest, and the
 * threads of the block where the test is one for the block.
 */
export function demandOf(reader: Reader, guard: Guard, free: (sym: Sym) => boolean, counted = true): Demand | null {
  reader.failure = null;
  const forms = formsOf(reader, guard.comparison);
  if (forms === null || forms.kind !== 'one') return null;
  const { form } = forms;
  if (counted && !symbolsOf(form.poly).some((sym) => sym.role === 'inner')) return null;
  const negative = form.whenNegative === guard.wanted;
  const fact = negative ? form.poly : opposite(form.poly);
  const worst = extreme(fact, 'high', free);
  // Never true throughout: an edge that the loop itself starts or ends at.
  if (worst === null || interval(worst).low >= 0n) return null;
  // True throughout only where a loop of the nest has one iteration at most.
  if (emptiness([fact]).some((empty) => follows(empty, [worst]))) return null;
  // Decided by the shape of the block alone: no interior to speak of, or the compiler decides it when it unrolls.
  if (symbolsOf(worst).every((sym) => sym.constant === true || sym.key.startsWith('blockDim.'))) return null;
  return { guard, value: guard.wanted, fact, worst, ends: negative ? form.negative : form.other, assumed: form.assumed };
}

export interface Settled { readonly tests: readonly Poly[]; readonly assumed: boolean; readonly without: ReadonlySet<Demand> }

/** For each counter that the facts hold: below zero exactly where its loop has no iteration; where it has one at most, unless it never has more. */
function emptiness(facts: readonly Poly[]): readonly Poly[] {
  return facts.flatMap(symbolsOf).flatMap((sym) => {
    if (sym.role !== 'inner' || sym.extent === null) return [];
    const empty = subtract(sym.extent.high, sym.extent.low);
    const once = subtract(empty, constant(1n));
    return interval(once).high < 0n ? [empty] : [empty, once];
  });
}

/** Multiples of tests that are tried together: `2k <= n && n <= 0` says `k <= 0`. */
const MULTIPLES: readonly bigint[] = [1n, 2n];

/** The tests hold only where a loop has no iteration, or a single one: one of them says so, or two together do. */
function onlyEmpty(tests: readonly Poly[], facts: readonly Poly[]): boolean {
  return emptiness(facts).some((empty) => follows(empty, tests) || tests.some((test, i) => tests.slice(i + 1).some((other) => followsFromBoth(empty, test, other))));
}

/** `m * poly = p * a + q * b + rest` with `a` and `b` at most -1 is below zero if the rest is below `p + q`. */
function followsFromBoth(poly: Poly, a: Poly, b: Poly): boolean {
  return MULTIPLES.some((m) => MULTIPLES.some((p) => MULTIPLES.some((q) => interval(subtract(times(poly, m), add(times(a, p), times(b, q)))).high < p + q)));
}

function times(poly: Poly, factor: bigint): Poly {
  return factor === 1n ? poly : multiply(poly, constant(factor));
}

/** No block and no size satisfies all tests: of two numbers below zero the sum is at most -2. */
function contradict(tests: readonly Poly[]): boolean {
  return tests.some((test, i) => interval(test).low >= 0n || tests.slice(i + 1).some((other) => interval(add(test, other)).low >= -1n));
}

/** Null if nothing is demanded, or if the tests can never hold together. The inequalities to test, weaker ones dropped; demands whose comparison might not be the mathematical one are given back. */
export function settle(demands: readonly Demand[], free: (sym: Sym) => boolean): Settled | null {
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
      const worst = end.demandable ? extreme(end.poly, 'high', free) : null;
      if (worst !== null && interval(worst).low < 0n) add(worst);
      else if (end.index) assumed = true;
      else without.add(demand);
    }
  }
  return contradict(tests) || onlyEmpty(tests, facts) ? null : { tests, assumed, without };
}
