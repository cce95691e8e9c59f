/**
 * Shape 1 and 3: the iterations of a loop in up to three runs, in their order.
 *
 * Guards that have one value early let an early run go without them, guards that settle late a last run. The run in between, or
 * behind, keeps what is not decided. Each run tests the counter in every iteration, so that whatever moves the counter moves it
 * through the runs as it did through the loop.
 */
import type { Expr } from '../../src/syntax/tree.js';
import { conjunctsOf } from '../lib/loops.js';
import type { TransformContext } from '../lib/types.js';
import type { Change } from '../lib/guards/bound.js';
import { boundFact, claimsOf, demandClaim, isOwn, type Claim, type GuardClaims } from './claims.js';
import { versionsBeside } from '../lib/guards/finished.js';
import { seesHeadValue, type Counter } from './counters.js';
import { entryFacts, symbolOf } from './head-facts.js';
import { breaksAtOnce, diesWithLoop, doesNothing, isReached } from './run-body.js';
import { shortened } from './once.js';
import type { PeelableLoop } from '../lib/guards/tested-loop.js';
import type { Guard } from '../lib/guards/guards.js';
import { constant, equal, interval, isConstant, negate, subtract, symbol, symbolsOf, type Poly, type Sym } from '../lib/guards/polynomial.js';
import { integerType, Reader } from '../lib/guards/reading.js';
import { follows, opposite, testForm } from '../lib/guards/solve.js';
import { ARM_TELLS } from '../lib/arm-value.js';
import { arePlain, valueOf, type Decisions } from '../lib/guards/simplify.js';

export interface RunTest {
  readonly side: '<' | '>=';
  readonly changes: readonly Change[];
  /** The smallest of the changes counts, else the largest. */
  readonly nearest: boolean;
}

export interface Run {
  /** Null: as long as the loop's own test holds. */
  readonly test: RunTest | null;
  /** False: `test` implies the loop's own test. */
  readonly keepsLoopTest: boolean;
  /** Empty for a run that keeps all guards. */
  readonly decisions: Decisions;
  /** It has one iteration at most: the counter steps over one value. */
  readonly once?: true;
  /** Written as an `if`: one iteration at most, which no jump of the loop leaves. `certain`: its own test holds there; `entered`: so does the loop's. */
  readonly single?: { readonly certain: boolean; readonly entered: boolean };
}

export interface RangePlan {
  readonly kind: 'range';
  readonly loop: PeelableLoop;
  readonly counter: Counter;
  readonly sym: Sym;
  readonly runs: readonly Run[];
  readonly guards: readonly Guard[];
  /** The counter is at least zero wherever a run tests it. */
  readonly nonNegative: boolean;
  /** A run relies on the counter moving one way. */
  readonly needsMonotone: boolean;
  /** Some comparison is the mathematical one only because indices do not wrap. */
  readonly assumed: boolean;
  /** Some bound is the thread's own. */
  readonly ownBound: boolean;
  /** All threads of the block agree on every guard. */
  readonly uniformGuards: boolean;
  /** Assumptions under which the bound is one in the block. */
  readonly under: readonly string[];
  /** What is taken to hold of constants that other builds may give other values. */
  readonly stated: readonly string[];
}

export interface PeelProblem {
  readonly kind: 'problem';
  readonly loop: PeelableLoop;
  readonly guard: Guard;
  readonly id: string;
  readonly text: string;
}

/** How the guards of a loop are peeled along one of its counters; null if none of them counts with it. */
export function rangePlan(context: TransformContext, loop: PeelableLoop, counter: Counter, guards: readonly Guard[]): RangePlan | PeelProblem | null {
  const { facts } = context;
  const type = integerType(counter.variable.type);
  if (type === null || loop.condition === null) return null;
  const first = new Reader(facts, loop, counter.variable, counter.nonNegative, false, counter.rises);
  const conjuncts = conjunctsOf(loop.condition);
  const tested = conjuncts.map((test) => testForm(first, test)).filter((form) => form !== null);
  const entry = entryFacts(first, counter);
  const plain = symbolOf(first, counter);
  if (plain === null) return null;
  // The loop's test may say what its start does not: a counter that falls while it is at least zero.
  const nonNegative = counter.nonNegative || follows(subtract(negate(symbol(plain)), constant(1n)), [...tested, ...entry]);
  const reader = nonNegative === counter.nonNegative ? first : new Reader(facts, loop, counter.variable, true, false, counter.rises);
  const sym = symbolOf(reader, counter) ?? plain;
  const known = nonNegative ? [...tested, ...entry, subtract(negate(symbol(sym)), constant(1n))] : [...tested, ...entry];

  const usable: GuardClaims[] = [];
  let problem: PeelProblem | null = null;
  for (const guard of guards) {
    if (!mentionsCounter(loop, guard, counter)) {
      reader.failure = null;
      const left = reader.read(guard.comparison.left);
      const right = reader.read(guard.comparison.right);
      if (left === null || right === null || !symbolsOf(subtract(left.poly, right.poly)).some((s) => s.key === sym.key)) continue;
    }
    if (!seesHeadValue(facts, loop, counter, guard.comparison)) {
      problem ??= { kind: 'problem', loop, guard, id: 'induction-simple', text: `${counter.variable.name} changes in the loop before the guard is reached` };
      continue;
    }
    const result = claimsOf(reader, counter, sym, guard, known);
    if ('problem' in result) {
      problem ??= { kind: 'problem', loop, guard, id: result.id, text: result.problem };
      continue;
    }
    if (guard.owner.kind === 'ternary' && !arePlain(facts, guard.owner.node, true) && !arePlain(facts, guard.owner.node, false)) {
      problem ??= { kind: 'problem', loop, guard, id: 'types-known', text: ARM_TELLS };
      continue;
    }
    // Iterations of inner loops count as variation only if there is a known number of them: else the inner loop is the one to peel.
    if (variesOverInnerLoops(reader, guard)) continue;
    if (result.claims.earlyEmpty && result.claims.lateEmpty) continue;
    usable.push(result.claims);
  }
  if (usable.length === 0) return counter.inHead ? problem : null;
  const plan = runsOf({ context, loop, counter, sym, nonNegative, known, conjuncts, tested, reader, leans: () => first.leansOnIndexRange || reader.leansOnIndexRange }, usable);
  // A guard that holds in every iteration is no boundary.
  return plan.kind === 'range' && plan.runs.every((run) => run.test === null) ? null : plan;
}

/** True if a side is computed from the counter, also through variables that the loop declares. */
function mentionsCounter(loop: PeelableLoop, guard: Guard, counter: Counter): boolean {
  let found = false;
  const seen = new Set<Expr>();
  const visit = (expr: Expr): void => {
    switch (expr.kind) {
      case 'ref': {
        found ||= expr.decl === counter.variable;
        const init = expr.decl?.kind === 'variable' && expr.decl.span.start > loop.span.start && expr.decl.span.end < loop.span.end ? expr.decl.init : null;
        if (init !== null && !seen.has(init)) {
          seen.add(init);
          visit(init);
        }
        return;
      }
      case 'paren': visit(expr.inner); return;
      case 'macro': visit(expr.expanded); return;
      case 'cast': visit(expr.operand); return;
      case 'unary': visit(expr.operand); return;
      case 'binary': visit(expr.left); visit(expr.right); return;
      default: return;
    }
  };
  visit(guard.comparison.left);
  visit(guard.comparison.right);
  return found;
}

function variesOverInnerLoops(reader: Reader, guard: Guard): boolean {
  const left = reader.read(guard.comparison.left);
  const right = reader.read(guard.comparison.right);
  if (left === null || right === null) return false;
  return symbolsOf(subtract(left.poly, right.poly)).some((sym) => sym.role === 'inner'
    && (sym.extent === null || !isConstant(sym.extent.low) || !isConstant(sym.extent.high)));
}

// ---------------------------------------------------------------------------------------------------------------- runs

interface Setting {
  readonly context: TransformContext;
  readonly loop: PeelableLoop;
  readonly counter: Counter;
  readonly sym: Sym;
  readonly nonNegative: boolean;
  readonly known: readonly Poly[];
  readonly conjuncts: readonly Expr[];
  readonly tested: readonly Poly[];
  readonly reader: Reader;
  /** Some range was taken for granted by a reader. */
  readonly leans: () => boolean;
}

interface Choice { readonly item: GuardClaims; readonly claim: Claim; readonly when: 'early' | 'late' }

function runsOf(setting: Setting, usable: readonly GuardClaims[]): RangePlan | PeelProblem {
  const { loop, counter } = setting;
  const plain = usable.filter((item) => !item.hole);
  const [lead] = plain.length > 0 ? plain : usable;
  if (lead === undefined) throw new Error('internal: no guard to peel');
  const refuse = (text: string, id = 'induction-simple'): PeelProblem => ({ kind: 'problem', loop, guard: lead.guard, id, text });
  const lateAllowed = counter.monotone && counter.direction !== 0;
  const wraps = `${counter.variable.name} may move both ways or wrap around, so that nothing is settled once it is past the edge`;

  if (plain.length === 0) {
    if (!lateAllowed) return refuse(wraps);
    const same = usable.filter((item) => sameBounds(item, lead));
    // A run before the first or behind the last iteration is not written.
    const before: readonly Part[] = same.every((item) => item.earlyEmpty) ? [] : [{ choose: 'early', items: same }];
    const behind: readonly Part[] = same.every((item) => item.lateEmpty) ? [] : [{ choose: 'late', items: same }];
    return finish(setting, same, [...before, { choose: null, items: same }, ...behind]);
  }
  const complete = plain.every((item) => item.complete && sameBounds(item, lead));
  if (complete && lateAllowed && !lead.lateEmpty && !lead.earlyEmpty) {
    return finish(setting, plain, [{ choose: 'early', items: plain }, { choose: 'late', items: plain }]);
  }
  const choices: Choice[] = [];
  for (const item of plain) {
    const choice = chooseSide(setting, item, plain);
    if (choice.when === 'late' && !lateAllowed) {
      if (item.earlyEmpty || item.early === null) { if (plain.length === 1) return refuse(wraps); continue; }
      choices.push({ item, claim: item.early, when: 'early' });
    } else choices.push(choice);
  }
  if (choices.length === 0) return refuse(wraps);
  // What stands in an arm that another choice takes out is not asked.
  return decided(setting, choices.filter((choice) => isReached(setting.context.facts, loop, choice.item.guard.comparison, decisionsOf(choices.filter((other) => other !== choice)))));
}

function chooseSide({ context }: Setting, item: GuardClaims, all: readonly GuardClaims[]): Choice {
  const { early, late } = item;
  if (early === null || late === null) throw new Error('internal: a guard without claims');
  const earlyChoice: Choice = { item, claim: early, when: 'early' };
  const lateChoice: Choice = { item, claim: late, when: 'late' };
  if (item.lateEmpty) return earlyChoice;
  if (item.earlyEmpty) return lateChoice;
  const several = all.length > 1;
  // Both edges of a window: the part that is inside both.
  if (all.some((other) => other !== item && other.guard.chain === item.guard.chain)) return late.value === item.guard.wanted ? lateChoice : earlyChoice;
  // Settled after a known number of iterations: what comes after is the long part.
  if (isConstant(early.change.level) && isConstant(early.change.divisor) && (several || !item.complete)) return lateChoice;
  const { owner } = item.guard;
  const heavy = owner.kind === 'if' && owner.node.else === null && context.facts.cost(owner.node.then).instructions > 8;
  return heavy && late.value === item.guard.wanted ? lateChoice : earlyChoice;
}

function sameBounds(a: GuardClaims, b: GuardClaims): boolean {
  const same = (x: Claim | null, y: Claim | null): boolean => x === null || y === null
    ? x === y
    : x.side === y.side && equal(x.change.level, y.change.level) && equal(x.change.divisor, y.change.divisor);
  return same(a.early, b.early) && same(a.late, b.late);
}

/** Settles what the claims of one run need besides their bounds. */
function settle({ sym, known }: Setting, claims: readonly Claim[]): { readonly demands: readonly Claim[]; readonly assumed: boolean } | string {
  const facts = [...known, ...claims.map((claim) => claim.fact)];
  const demands: Claim[] = [];
  let assumed = claims.some((claim) => claim.assumed);
  for (const end of claims.flatMap((claim) => claim.ends)) {
    if (follows(end.poly, facts)) continue;
    const demand = end.demandable ? demandClaim(sym, end.poly) : null;
    if (demand !== null) demands.push(demand);
    else if (end.index) assumed = true;
    else return 'a side of the comparison may leave the range of its type';
  }
  return { demands, assumed };
}

function decisionsOf(choices: readonly Choice[]): Decisions {
  return new Map<Expr, boolean>(choices.map(({ item, claim }) => [item.guard.comparison, claim.value]));
}

/** One decided run; guarded runs before and behind it as they are needed. */
function decided(setting: Setting, choices: readonly Choice[]): RangePlan | PeelProblem {
  const { loop, counter, sym, known } = setting;
  const [lead] = choices;
  if (lead === undefined) throw new Error('internal: no choice');
  const settled = settle(setting, choices.map(({ claim }) => claim));
  if (typeof settled === 'string') return { kind: 'problem', loop, guard: lead.item.guard, id: 'guard-exact', text: settled };
  const earlySide = counter.direction === -1 ? '>=' : '<';
  const bounds = [...choices.filter(({ item, when }) => !(when === 'early' ? item.earlyEmpty : false)).map(({ claim }) => claim), ...settled.demands]
    .filter((claim) => !follows(boundFact(claim, sym), known));
  const early = bounds.filter((claim) => claim.side === earlySide);
  const late = bounds.filter((claim) => claim.side !== earlySide);
  if (late.length > 0 && !(counter.monotone && counter.direction !== 0)) {
    return { kind: 'problem', loop, guard: lead.item.guard, id: 'induction-simple', text: `${counter.variable.name} may move both ways or wrap around` };
  }
  const decisions = decisionsOf(choices);
  const none: Decisions = new Map();
  const runs: Run[] = [];
  // The run in front goes on while any of the late claims does not hold yet: each must stand for the loop's test.
  if (late.length > 0) runs.push({ test: until(late, earlySide), keepsLoopTest: !(earlySide === '>=' && late.every((claim) => impliesLoopTest(setting, [{ ...claim, side: '>=' as const }]))), decisions: beyond(setting, choices, late, 'late') ?? none });
  const test = early.length > 0 ? during(early, earlySide) : null;
  runs.push({ test, keepsLoopTest: test === null || !impliesLoopTest(setting, early), decisions });
  const after = early.length > 0 ? beyond(setting, choices, early, 'early') : null;
  if (early.length > 0) {
    const cut = late.length === 0 ? cutOf(setting, choices) : null;
    runs.push({ test: cut, keepsLoopTest: true, decisions: after ?? none });
  }
  const needsMonotone = late.length > 0 || after !== null || runs.some((run) => run.test !== null && run.decisions.size === 0);
  return planOf(setting, runs, choices.map(({ item }) => item), settled.assumed, needsMonotone);
}

/**
 * What is decided beside the run that claims on which all threads agree begin or end: the opposite of each that holds there whichever of them fails, and
 * what holds there besides. Null if nothing is: a run in front of several late claims, or behind several early ones, may be there for any of them.
 */
function beyond(setting: Setting, choices: readonly Choice[], edges: readonly Claim[], when: 'early' | 'late'): Decisions | null {
  const { counter, sym, known } = setting;
  // A counter that moves both ways may come back under the edge.
  if (!counter.monotone || counter.direction === 0) return null;
  const failed = edges.map((edge) => opposite(boundFact(edge, sym)));
  const ended = choices.filter(({ item, claim }) => {
    const opposed = when === 'early' ? item.late : item.early;
    if (!edges.includes(claim) || !item.complete || opposed === null) return false;
    return edges.length === 1 || failed.every((fact) => follows(boundFact(opposed, sym), [fact, ...known]));
  });
  // Behind the decided run late claims go on to hold; what holds in every iteration does anywhere.
  const besides = choices.filter((other) => !ended.includes(other) && ((when === 'early' && other.when === 'late') || follows(boundFact(other.claim, sym), known)));
  const opposites = ended.map(({ item }) => ({ item, claim: when === 'early' ? item.late : item.early })).filter((entry): entry is { item: GuardClaims; claim: Claim } => entry.claim !== null);
  if (opposites.length === 0) return null;
  const settled = settle(setting, [...opposites, ...besides].map(({ claim }) => claim));
  if (typeof settled === 'string' || settled.demands.length > 0 || settled.assumed) return null;
  return new Map<Expr, boolean>([...opposites, ...besides].map(({ item, claim }) => [item.guard.comparison, claim.value]));
}

interface Part { readonly choose: 'early' | 'late' | null; readonly items: readonly GuardClaims[] }

/** Runs that follow each other at the guards' own edges. */
function finish(setting: Setting, items: readonly GuardClaims[], parts: readonly Part[]): RangePlan | PeelProblem {
  const { loop, counter } = setting;
  const [lead] = items;
  if (lead === undefined) throw new Error('internal: no guard');
  const earlySide = counter.direction === -1 ? '>=' : '<';
  const runs: Run[] = [];
  let assumed = false;
  for (const [index, { choose, items: members }] of parts.entries()) {
    const claims = members.map((item) => (choose === 'late' ? item.late : item.early)).filter((claim) => claim !== null);
    if (choose !== null) {
      const settled = settle(setting, claims);
      if (typeof settled === 'string' || settled.demands.length > 0) return { kind: 'problem', loop, guard: lead.guard, id: 'guard-exact', text: 'a side of the comparison may leave the range of its type' };
      assumed ||= settled.assumed;
    }
    const decisions = new Map<Expr, boolean>(choose === null ? [] : members.flatMap((item) => {
      const claim = choose === 'late' ? item.late : item.early;
      return claim === null ? [] : [[item.guard.comparison, claim.value] as const];
    }));
    const single = choose === null ? singleValue(setting, members) : null;
    if (single !== null) {
      assumed ||= single.assumed;
      for (const [comparison, value] of single.decisions) decisions.set(comparison, value);
    }
    const last = index === parts.length - 1;
    const lates = members.map((item) => item.late).filter((claim) => claim !== null);
    const test = last ? null : choose === 'early' ? during(claims, earlySide) : until(lates, earlySide);
    runs.push({ test, keepsLoopTest: test === null || choose !== 'early' || !impliesLoopTest(setting, claims), decisions, ...(single === null ? {} : { once: true as const }) });
  }
  return planOf(setting, runs, items, assumed, true);
}

/**
 * Between early and late lies one value of the counter, the same for all threads: there both sides are equal, and the comparison is known.
 * The run behind the early one starts no earlier than there, and its own test ends it before the late one; the counter moves one way.
 */
function singleValue({ sym, known, counter }: Setting, items: readonly GuardClaims[]): { readonly decisions: Decisions; readonly assumed: boolean } | null {
  const decisions = new Map<Expr, boolean>();
  let assumed = false;
  for (const { guard, early, late, hole, agreed } of items) {
    if (!hole || !agreed || early === null || late === null || early.value !== late.value || counter.direction === 0) return null;
    const here = [...known, ...[early, late].map((claim) => opposite(boundFact(claim, sym)))];
    // Equal sides must lie within their types at both ends, whichever of them is taken for the smaller one.
    for (const end of [...early.ends, ...late.ends]) {
      if (follows(end.poly, here)) continue;
      if (!end.index) return null;
      assumed = true;
    }
    assumed ||= early.assumed || late.assumed;
    decisions.set(guard.comparison, !early.value);
  }
  return decisions.size === 0 ? null : { decisions, assumed };
}

function during(claims: readonly Claim[], side: '<' | '>='): RunTest {
  return { side, changes: claims.map((claim) => claim.change), nearest: side === '<' };
}

/** As long as not all of the late claims hold. */
function until(claims: readonly Claim[], side: '<' | '>='): RunTest {
  return { side, changes: claims.map((claim) => claim.change), nearest: side === '>=' };
}

/** Where all of the claims' bounds hold, so does the loop's test. */
function impliesLoopTest({ conjuncts, tested, sym, counter, nonNegative }: Setting, early: readonly Claim[]): boolean {
  const [form] = tested;
  if (conjuncts.length !== 1 || form === undefined) return false;
  // Where the counter is at least zero wherever it is tested, so is a bound from below, and what is not below it is not either.
  const atLeastZero = nonNegative ? [subtract(negate(symbol(sym)), constant(1n))] : [];
  // A bound that is clamped at zero says less of a counter below it.
  const compares = (claim: Claim): boolean => counter.nonNegative || (hasSignedBound(claim) && (claim.side === '>=' || !nonNegative || interval(claim.change.level).low >= 0n));
  return early.some((claim) => compares(claim) && follows(form, claim.side === '>=' ? [boundFact(claim, sym), ...atLeastZero] : [boundFact(claim, sym)]));
}

/** The bound comes out signed, so that a counter below zero compares as it should. */
function hasSignedBound({ change }: Claim): boolean {
  return symbolsOf(change.level).every((sym) => sym.type.signed || sym.high <= 0x7fffffffn);
}

/** Where the rest of the loop does nothing any more: its whole body hangs on guards that are false late. */
function cutOf({ context, loop, counter }: Setting, choices: readonly Choice[]): RunTest | null {
  if (!counter.monotone || counter.direction === 0) return null;
  const statements = loop.body.kind === 'compound' ? loop.body.body : [loop.body];
  const [only] = statements;
  if (statements.length !== 1 || only === undefined || only.kind !== 'if' || only.else !== null || !diesWithLoop(context, loop)) return null;
  for (const { item } of choices) {
    if (item.late === null || item.lateEmpty || item.guard.owner.kind !== 'if' || item.guard.owner.node !== only) continue;
    if (item.late.ends.length > 0 || item.late.assumed || isOwn(item.late)) continue;
    if (valueOf(context.facts, only.condition, new Map([[item.guard.comparison, item.late.value]])) !== false) continue;
    return until([item.late], counter.direction === -1 ? '>=' : '<');
  }
  return null;
}

/**
 * What keeps a loop from being treated once more is a loop beside it that does its work without the guards (lib/guards/finished.ts). So one such loop is
 * written even where an `if` would do: beside a run that keeps guards, and in a version of a nest of which the other one keeps them.
 */
function asLoops({ context: { facts }, loop }: Setting, runs: readonly Run[], items: readonly GuardClaims[]): readonly Run[] {
  const asks = ({ decisions }: Run): boolean => items.some(({ guard: { comparison } }) => !decisions.has(comparison) && isReached(facts, loop, comparison, decisions));
  const needed = runs.some((run) => run.single === undefined && asks(run)) || versionsBeside(facts, loop).length > 0;
  if (!needed || runs.some((run) => run.single === undefined && !asks(run))) return runs;
  const last = runs.findLastIndex((run) => !asks(run));
  return runs.map((run, i) => {
    const { single: _, ...looped } = run;
    return i === last ? looped : run;
  });
}

function planOf(setting: Setting, given: readonly Run[], items: readonly GuardClaims[], assumed: boolean, needsMonotone: boolean): RangePlan | PeelProblem {
  const { context, loop, counter, sym, nonNegative } = setting;
  const all = shortened(setting, given);
  // A last run that would do nothing is not written if nobody looks at the counter any more.
  const last = all.at(-1);
  const idle = last !== undefined && all.length > 1 && last.decisions.size > 0 && doesNothing(context, loop, last.decisions, null) && diesWithLoop(context, loop);
  const over = last !== undefined && all.length > 1 && breaksAtOnce(context, loop, last.decisions);
  const runs = asLoops(setting, idle || over ? all.slice(0, -1) : all, items);
  const [lead] = items;
  // The guards stay in all runs that do anything: for one loop with a nearer end peel would come back to it for ever.
  if (lead !== undefined && runs.every((run) => run.decisions.size === 0 || doesNothing(context, loop, run.decisions, null))) {
    return { kind: 'problem', loop, guard: lead.guard, id: 'bound-exact', text: 'all iterations that do anything would still ask it' };
  }
  const claims = items.flatMap((item) => [item.early, item.late]).filter((claim) => claim !== null);
  return {
    kind: 'range', loop, counter, sym, runs, guards: items.map((item) => item.guard), nonNegative, needsMonotone, assumed: assumed || counter.assumed || setting.leans(),
    ownBound: claims.some(isOwn), uniformGuards: items.every((item) => item.agreed), under: [...setting.reader.under], stated: [...new Set([...setting.reader.stated, ...counter.stated])],
  };
}
