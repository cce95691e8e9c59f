/**
 * Shape 0: a guard over all that a loop does is a part of the loop's test.
 *
 *     for (int s = 0; s < n; s += B) {                  for (int s = 0; s + tx < n; s += B) {
 *         int i = s + tx;                         →         int i = s + tx;
 *         if (i < n) A                                      A
 *     }                                                 }
 *
 * Once the guard fails for a thread it fails in all later iterations of that thread, which do nothing then; or it leaves the loop itself, by a
 * `break`. The loop stays one loop, and gets shorter. Where the guard says all that the loop's own test says, that test goes.
 *
 * Not for loops that the compiler unrolls, nor for those whose counter is read behind them.
 */
import { isStmt, strip } from '../../src/analysis/children.js';
import { atLeast, type FunctionFacts } from '../../src/analysis/facts.js';
import type { Expr } from '../../src/syntax/tree.js';
import { sameExpr } from '../lib/equality.js';
import { conjunctsOf } from '../lib/loops.js';
import type { Written } from '../lib/names-resolve.js';
import { BINDING, grouped } from '../lib/operands.js';
import { textOf } from '../lib/text.js';
import type { TransformContext } from '../lib/types.js';
import type { Guard } from '../lib/guards/guards.js';
import { constant, interval, linearIn, negate, subtract, symbol, symbolsOf, type Poly, type Sym } from '../lib/guards/polynomial.js';
import { Reader, type Reading } from '../lib/guards/reading.js';
import type { Decisions } from '../lib/guards/simplify.js';
import { follows, formsOf, opposite, testForm, type End, type Form } from '../lib/guards/solve.js';
import { isRepeatable, type PeelableLoop } from '../lib/guards/tested-loop.js';
import { INT32 } from '../lib/guards/cpp.js';
import { isCoordinate, within } from '../lib/guards/values.js';
import { seesHeadValue, type Counter } from './counters.js';
import { entryFacts, symbolOf } from './head-facts.js';
import { headText, type HeadText } from './head-text.js';
import { breaksAtOnce, diesWithLoop, doesNothing } from './run-body.js';
import { asksToUnroll, indexesOwnArray, isUnrolled } from './unrolled.js';

export interface FoldPlan {
  readonly kind: 'fold';
  readonly loop: PeelableLoop;
  readonly counter: Counter;
  readonly guards: readonly Guard[];
  readonly decisions: Decisions;
  /** The loop's new test. */
  readonly test: string;
  readonly keepsLoopTest: boolean;
  readonly written: readonly Written[];
  /** A guard leaves by a `break`, so that nothing about later iterations is claimed. */
  readonly leaves: boolean;
  readonly assumed: boolean;
  readonly ownBound: boolean;
  readonly uniformGuards: boolean;
  readonly under: readonly string[];
  readonly stated: readonly string[];
}

interface Member extends HeadText { readonly guard: Guard; readonly wanted: boolean; readonly form: Form; readonly pass: Poly; readonly leaves: boolean; readonly assumed: boolean }

/** The loop with the guards that hang over its whole body in its test; null if there are none, or if it must stay as it is. */
export function foldPlan(context: TransformContext, loop: PeelableLoop, counter: Counter, guards: readonly Guard[]): FoldPlan | null {
  const { facts } = context;
  if (loop.condition === null || !counter.inHead || !isRepeatable(facts, loop.condition)) return null;
  if (isUnrolled(facts, loop) || asksToUnroll(loop) || indexesOwnArray(facts, loop, counter)) return null;
  const reader = new Reader(facts, loop, counter.variable, counter.nonNegative, true);
  const sym = symbolOf(reader, counter);
  if (sym === null) return null;
  const conjuncts = conjunctsOf(loop.condition);
  const tested = conjuncts.map((test) => testForm(reader, test)).filter((form) => form !== null);
  const entry = [...entryFacts(reader, counter), ...(counter.nonNegative ? [subtract(negate(symbol(sym)), constant(1n))] : [])];
  const members = guards.map((guard) => memberOf(context, loop, counter, guard, reader, sym, tested, entry)).filter((member) => member !== null);
  if (members.length === 0) return null;
  const leaves = members.every((member) => member.leaves);
  if (!leaves && !(diesOrIsSet(context, loop, counter))) return null;

  const own = tested.length === 1 && conjuncts.length === 1 ? tested[0] ?? null : null;
  const always = facts.constant(loop.condition);
  const dropped: Dropped | null = always !== null && always !== 0n ? { texts: members, assumed: false } : own === null ? null : dropsTest(context, loop, counter, own, members, entry);
  const texts: readonly HeadText[] = dropped?.texts ?? members;
  const head = dropped === null ? [grouped(textOf(context.unit.source, loop.condition.span), loop.condition, BINDING.and)] : [];
  const comparisons = members.map(({ guard }) => guard.comparison);
  const uniform = comparisons.every((comparison) => { const scope = facts.scope(comparison); return scope.known && atLeast(scope.value, 'block'); });
  // Lanes leave the loop on their own then: what they do together must not depend on who is still there.
  const effects = facts.effects(loop.body);
  if (!uniform && (effects.barriers.length > 0 || effects.collectives.length > 0 || effects.unknownCalls.length > 0)) return null;
  return {
    kind: 'fold', loop, counter, guards: members.map(({ guard }) => guard),
    decisions: new Map<Expr, boolean>(members.map(({ guard, wanted }) => [guard.comparison, wanted])),
    test: [...head, ...texts.map(({ text }) => text)].join(' && '), keepsLoopTest: dropped === null, written: texts.flatMap(({ written }) => written), leaves,
    assumed: members.some((member) => member.assumed) || dropped?.assumed === true || reader.leansOnIndexRange || counter.assumed,
    ownBound: !uniform, uniformGuards: uniform,
    under: uniform ? comparisons.flatMap((comparison) => facts.scope(comparison).under) : [], stated: [...reader.stated, ...counter.stated],
  };
}

/** The values that the counter still takes once the guard fails are seen by nobody. */
function diesOrIsSet(context: TransformContext, loop: PeelableLoop, counter: Counter): boolean {
  return (loop.kind === 'while' || diesWithLoop(context, loop)) && !context.facts.liveAfter(counter.variable, loop);
}

function memberOf(context: TransformContext, loop: PeelableLoop, counter: Counter, guard: Guard, reader: Reader, sym: Sym, tested: readonly Poly[], entry: readonly Poly[]): Member | null {
  const { facts } = context;
  const { comparison, owner } = guard;
  if (owner.kind !== 'if' || guard.inMacro || facts.loops(comparison)[0] !== loop || !seesHeadValue(facts, loop, counter, comparison)) return null;
  // Whichever value leaves nothing to do: `o[i] = 0` is work here, though elsewhere it stands for what is outside.
  const wanted = [true, false].find((value) => {
    const failed: Decisions = new Map([[comparison, !value]]);
    return breaksAtOnce(context, loop, failed) || doesNothing(context, loop, failed, counter);
  });
  if (wanted === undefined) return null;
  const leaves = breaksAtOnce(context, loop, new Map([[comparison, !wanted]]));
  reader.failure = null;
  const forms = formsOf(reader, comparison);
  if (forms === null || forms.kind !== 'one') return null;
  const { form } = forms;
  const split = linearIn(form.poly, sym);
  if (split === null || split.coefficient.length === 0 || symbolsOf(form.poly).some((other) => other.role === 'inner')) return null;
  const sign = interval(split.coefficient);
  if (sign.low <= 0n && sign.high >= 0n) return null;
  const rises = (sign.low > 0n) === (counter.direction === 1);
  // From the value at hand to the other one, once and for all.
  const lasts = counter.monotone && counter.direction !== 0 && (rises ? !form.whenNegative : form.whenNegative) === !wanted;
  if (!leaves && !lasts) return null;
  const known = [...tested, ...entry];
  const pass = form.whenNegative === wanted ? form.poly : opposite(form.poly);
  // Always true, or never: no edge.
  if (follows(pass, known) || follows(opposite(pass), known)) return null;
  const exact = holdsEnds(form.negative, [...known, form.poly]);
  const other = holdsEnds(form.other, [...known, opposite(form.poly)]);
  if (exact === null || other === null) return null;
  if (!isAlwaysTaken(facts, comparison, owner.node.condition) && !staysInType(reader, guard)) return null;
  const said = headText(context, loop, comparison, wanted);
  return said === null ? null : { guard, wanted, ...said, form, pass, leaves, assumed: form.assumed || exact === 'assumed' || other === 'assumed' };
}

/** What C++ needs to compare as mathematics does follows from the facts, or is granted; null if neither. */
function holdsEnds(ends: readonly End[], facts: readonly Poly[]): 'proved' | 'assumed' | null {
  let assumed = false;
  for (const end of ends) {
    if (follows(end.poly, facts)) continue;
    if (!end.index) return null;
    assumed = true;
  }
  return assumed ? 'assumed' : 'proved';
}

/** Nothing stands in front of the comparison in its chain: whenever the body runs, it is computed. */
function isAlwaysTaken(facts: FunctionFacts, comparison: Expr, condition: Expr): boolean {
  let at = comparison;
  while (at !== condition) {
    const parent = facts.parent(at);
    if (parent === null || (parent.kind === 'binary' && parent.left !== at)) return false;
    if (isStmt(parent)) return false;
    at = parent;
  }
  return true;
}

/** Computing the sides is defined for all values of what they are made of. */
function staysInType(reader: Reader, { comparison }: Guard): boolean {
  return [comparison.left, comparison.right].every((side) => {
    const reading = reader.read(side);
    return reading !== null && isSafe(reading);
  });
}

/** Unsigned, a name by itself, or a sum that fits. */
function isSafe({ poly, type }: Reading): boolean {
  const [only] = poly;
  return !type.signed || within(poly, type) || (poly.length === 1 && only !== undefined && only.coefficient === 1n && only.symbols.length === 1);
}

interface Dropped { readonly texts: readonly HeadText[]; readonly assumed: boolean }

/**
 * One of the guards fails wherever the loop's test does, so that the test may go. All of them are computed there for the first time: their
 * sums must stay in their types there too. If they do, what is compared as `unsigned` may be compared as `int`, which is how it is meant.
 */
function dropsTest(context: TransformContext, loop: PeelableLoop, counter: Counter, own: Poly, members: readonly Member[], entry: readonly Poly[]): Dropped | null {
  // Numbers of threads are followed to their coordinates here.
  const reader = new Reader(context.facts, loop, counter.variable, counter.nonNegative);
  const sums = members.flatMap((member) => [member.guard.comparison.left, member.guard.comparison.right])
    .filter((side) => !isSideOf(loop.condition, side)).map((side) => reader.read(side));
  const safe = sums.every((reading) => reading !== null && isSafe(reading));
  const granted = sums.every((reading) => reading !== null && (isSafe(reading) || isGranted(reading, counter)));
  if (!granted) return null;
  let plain: Dropped | null = null;
  for (const { guard, wanted, form, pass } of members) {
    if (!follows(own, [pass, ...entry])) continue;
    const sides = [guard.comparison.left, guard.comparison.right].filter((side) => !isSideOf(loop.condition, side)).map((side) => reader.read(side));
    const fits = sides.every((reading) => reading !== null && isSafe({ ...reading, type: INT32 }));
    const signed = fits || sides.every((reading) => reading !== null && (isSafe({ ...reading, type: INT32 }) || isGranted(reading, counter))) ? headText(context, loop, guard.comparison, wanted, true) : null;
    if (signed !== null) return { texts: members.map((member) => (member.guard === guard ? signed : member)), assumed: !safe || !fits };
    const ends = holdsEnds(form.whenNegative === wanted ? form.other : form.negative, [opposite(own), opposite(pass), ...entry]);
    if (ends !== null && plain === null) plain = { texts: members, assumed: !safe || ends === 'assumed' || form.assumed };
  }
  return plain;
}

/** The loop's test computes it anyway. */
function isSideOf(test: Expr | null, side: Expr): boolean {
  const inner = test === null ? null : strip(test);
  return inner !== null && inner.kind === 'binary' && (sameExpr(inner.left, side) || sameExpr(inner.right, side));
}

/** A sum of block and thread numbers and a counter that rises, for which `index-range` speaks. */
function isGranted({ poly }: Reading, counter: Counter): boolean {
  return counter.direction === 1 && poly.every(({ coefficient, symbols }) => coefficient > 0n && symbols.every((sym) => sym.role === 'counter' || sym.constant === true || isCoordinate(sym)));
}
