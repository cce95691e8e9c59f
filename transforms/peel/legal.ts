/**
 * The obligations of a peel, each with what was found.
 */
import { walk } from '../../src/analysis/children.js';
import { isHipSource } from '../../src/analysis/platform.js';
import { atLeast, type Scope } from '../../src/analysis/facts.js';
import type { BreakStmt, RefExpr } from '../../src/syntax/tree.js';
import { constantsOpen, contractionStable, copySafe, excerpt, lineOf, namesResolve, noDirectiveAcross, noGoto, notInMacro, proved, refuted, provedUnder, typesKnown, unknown, assumed } from '../lib/common-obligations.js';
import { jumpsOf } from '../lib/loops.js';
import { declaredByHead } from '../lib/place.js';
import { extentOf } from '../lib/text.js';
import type { Obligation, TransformContext } from '../lib/types.js';
import { isRepeatable, type PeelableLoop } from '../lib/guards/tested-loop.js';
import { finishedBeside, runsBeside } from '../lib/guards/finished.js';
import type { Guard } from '../lib/guards/guards.js';
import { isFree } from '../lib/guards/names.js';
import type { PeelProblem, RangePlan } from './range.js';
import type { VersionPlan } from './version.js';
import { visitLive, type Decisions } from '../lib/guards/simplify.js';
import { declarationLine } from '../lib/guards/interior-text.js';
import type { FoldPlan } from './fold.js';
import { headVariables, losesHead, runTexts, versionPlanTexts, writtenNames, type PeelPlan, type RunTexts } from './write.js';

const REMEDIES: Readonly<Record<string, string>> = {
  'guard-exact': 'compare in a type that holds both sides, or keep the index in 64 bits from the start',
  'bound-exact': 'write the guard as a sum of the counter, thread coordinates and values fixed before the loop',
  'induction-simple': 'step a signed counter in one direction, in the head of the loop or behind the guard',
  'operands-invariant': 'copy what the guard compares with into a local variable before the loop',
  'types-known': 'make the declaration visible, e.g. with --include',
};

/** For a loop whose guards could not be solved. */
export function problemObligations(context: TransformContext, problem: PeelProblem): readonly Obligation[] {
  const { guard, id, text } = problem;
  const line = lineOf(context, guard.comparison);
  const said = `${excerpt(context.unit.source, guard.comparison)}: ${text}`;
  const done = alreadyDone(context, problem.loop, [guard]);
  const main = id === 'induction-simple' || id === 'operands-invariant' ? refuted(id, line, said, REMEDIES[id] ?? null) : unknown(id, line, said, REMEDIES[id] ?? null);
  return done.status === 'proved' ? [noGoto(context), main] : [noGoto(context), done, main];
}

export function planObligations(context: TransformContext, plan: PeelPlan): readonly Obligation[] {
  const { loop, guards } = plan;
  const line = lineOf(context, loop);
  const comparisons = guards.map((guard) => guard.comparison);
  const { names, copies, bound, induction, exits, growth } = plan.kind === 'fold' ? ofFold(plan, line) : ofCopies(context, plan, line);
  return [
    noGoto(context),
    noDirectiveAcross(context, extentOf(context.unit.source, loop)),
    notInMacro(context, [loop, ...comparisons]),
    typesKnown(context, comparisons),
    ...names,
    namesResolve(context, writtenNames(plan), loop, headVariables(loop)),
    proved('operands-invariant', line, 'what the guards compare with does not change while the loop runs'),
    ...copies,
    guardExact(context, plan),
    bound,
    boundScope(context, plan),
    constantsOpen(plan.stated, line),
    induction,
    ...exits,
    alreadyDone(context, loop, guards),
    ...growth,
    contractionStable(context, loop),
  ];
}

/** What the forms of the edit must show each in its own way. */
interface OfForm {
  readonly names: readonly Obligation[];
  readonly copies: readonly Obligation[];
  readonly bound: Obligation;
  readonly induction: Obligation;
  readonly exits: readonly Obligation[];
  readonly growth: readonly Obligation[];
}

function ofCopies(context: TransformContext, plan: RangePlan | VersionPlan, line: number): OfForm {
  const texts = plan.kind === 'range' ? runTexts(context, plan) : versionPlanTexts(context, plan);
  return {
    names: [mayDeclare(context, plan, line) ?? namesAreFree(context, texts?.names ?? [], line)], copies: [copySafe(context, [plan.loop])], bound: boundExact(context, plan, texts),
    induction: inductionSimple(context, plan), exits: [exitsSkipRest(context, plan)], growth: [codeGrowth(context, plan.loop)],
  };
}

/** The loop stays one loop: nothing is copied, no name is added. */
function ofFold({ counter, test, leaves }: FoldPlan, line: number): OfForm {
  return {
    names: [], copies: [], exits: [], growth: [],
    bound: proved('bound-exact', line, `the guard stands in the test of the loop as it stood in its body: ${test}`),
    induction: proved('induction-simple', line, leaves
      ? 'the loop is left where the guard left it'
      : `${counter.variable.name} moves ${counter.direction === 1 ? 'upwards' : 'downwards'} only, so that a guard that fails fails in all later iterations, and nobody reads it after the loop`),
  };
}

/**
 * Runs of one function that go on from a counter set before. Guards of a nest of loops multiply, and so do those of one loop whose runs are
 * split again: six of them made 1,600 lines of 80.
 */
const MOST_RUNS = 12;

function codeGrowth(context: TransformContext, loop: PeelableLoop): Obligation {
  const line = lineOf(context, loop);
  const { body } = context.facts.function;
  let runs = 0;
  if (body !== null) {
    walk(body, (node) => {
      if (node.kind === 'for' && node.init.kind === 'empty' && node.condition !== null) runs++;
      return true;
    });
  }
  const [run] = runsBeside(context.facts, loop);
  if (run !== undefined) {
    return refuted('code-growth', line, `the loop and that of line ${lineOf(context, run)} are runs of one already: to split them again would multiply them`, 'test both guards in one condition, or split by hand');
  }
  if (runs < MOST_RUNS) return proved('code-growth', line, `${runs} runs in the function so far`);
  return refuted('code-growth', line, `the function is in ${runs} runs already: more would cost more in code than they save`, 'move the loop into a __device__ function');
}

/** What the head declares moves into the block that the runs get below a head without braces. */
function mayDeclare(context: TransformContext, plan: RangePlan | VersionPlan, line: number): Obligation | null {
  const name = plan.kind === 'range' && losesHead(plan) ? declaredByHead(context.facts, plan.loop, headVariables(plan.loop)) : null;
  return name === null ? null : refuted('names-free', line, `${name} is declared by the head that the loop stands below without braces, so that C++ forbids the block around the runs to declare it`, `put the loop into braces, or rename one ${name}`);
}

function namesAreFree(context: TransformContext, names: readonly string[], line: number): Obligation {
  const taken = names.find((name) => !isFree(context, name));
  if (taken !== undefined) return refuted('names-free', line, `the name ${taken} is taken`, `rename ${taken}`);
  return proved('names-free', line, names.length === 0 ? 'no name is added' : `${names.join(', ')}: no other name of the function or of a macro`);
}

function guardExact(context: TransformContext, plan: PeelPlan): Obligation {
  const [guard] = plan.guards;
  const line = lineOf(context, guard?.comparison ?? plan.loop);
  if (plan.assumed) return assumed('guard-exact', 'index-range', line, 'the comparison is the mathematical one if block and thread numbers do not wrap around in their type');
  return proved('guard-exact', line, plan.guards.length === 1 ? 'the comparison is the mathematical one: neither side can wrap around while it is decided' : 'the comparisons are the mathematical ones: no side can wrap around while they are decided');
}

function boundExact(context: TransformContext, plan: PeelPlan, texts: Pick<RunTexts, 'declarations' | 'shadowed'> | null): Obligation {
  const line = lineOf(context, plan.loop);
  if (plan.kind === 'version') return proved('bound-exact', line, 'the tests hold at the worst thread of the block and the worst iteration, without overflow');
  if (texts === null) return unknown('bound-exact', line, 'no integer type of C++ holds the bound for all values of its parts', REMEDIES['bound-exact'] ?? null);
  const last = texts.declarations.at(-1);
  return proved('bound-exact', line, `the bound is taken over all threads of the block and cannot overflow${last === undefined ? '' : `: ${declarationLine(last, texts.shadowed)}`}`);
}

/** The narrowest group that agrees on which run an iteration belongs to. */
export function scopeOfRuns(context: TransformContext, plan: PeelPlan): Scope {
  if (plan.ownBound) return 'lane';
  if (plan.kind === 'version') return 'block';
  const { facts } = context;
  let found: RefExpr | null = null;
  const condition = plan.loop.condition;
  for (const root of [condition, plan.guards[0]?.comparison ?? null, ...plan.counter.updates]) {
    if (root === null || found !== null) continue;
    walk(root, (node) => {
      if (node.kind === 'ref' && node.decl === plan.counter.variable) found ??= node;
      return found === null;
    });
  }
  if (found === null) return 'lane';
  const verdict = facts.scope(found);
  return verdict.known ? verdict.value : 'lane';
}

function boundScope(context: TransformContext, plan: PeelPlan): Obligation {
  const { facts } = context;
  const line = lineOf(context, plan.loop);
  const effects = facts.effects(plan.loop.body);
  const scope = scopeOfRuns(context, plan);
  const [barrier] = effects.barriers;
  const [collective] = effects.collectives;
  const [call] = effects.unknownCalls;
  if (atLeast(scope, 'block')) return provedUnder('bound-scope', line, 'the whole block goes from run to run together', { under: plan.under });
  if (barrier !== undefined) return refuted('bound-scope', lineOf(context, barrier), `${excerpt(context.unit.source, barrier)} in the loop needs a bound that is one for the block`, 'count with a variable that is the same for all threads of the block');
  if (call !== undefined) return unknown('bound-scope', lineOf(context, call), `${excerpt(context.unit.source, call)} may hold a barrier, and the bound is not one for the block`, 'make the definition of the function visible');
  if (collective !== undefined && isHipSource(facts.program, context.unit)) {
    return refuted('bound-scope', lineOf(context, collective), `${excerpt(context.unit.source, collective)} in the loop needs a bound that is one for the wavefront, which has 32 or 64 lanes in HIP: only one for the block is sure to be`, 'count with a variable that is the same for all threads of the block');
  }
  if (collective !== undefined && !atLeast(scope, 'warp')) return refuted('bound-scope', lineOf(context, collective), `${excerpt(context.unit.source, collective)} in the loop needs a bound that is one for the warp`, 'count with a variable that is the same for all lanes');
  return proved('bound-scope', line, scope === 'warp' ? 'a warp goes from run to run together, and no barrier stands in the loop' : 'lanes may change runs on their own: no barrier and no collective stands in the loop');
}

function inductionSimple(context: TransformContext, plan: RangePlan | VersionPlan): Obligation {
  const line = lineOf(context, plan.loop);
  const { condition } = plan.loop;
  if (condition === null || !isRepeatable(context.facts, condition)) {
    return refuted('induction-simple', line, 'the test of the loop has effects or reads what may change, so it may not be taken once more', 'test a local variable');
  }
  if (plan.kind === 'version') return proved('induction-simple', line, 'the loops count from their starts to their bounds');
  const { counter } = plan;
  const way = counter.direction === 1 ? 'upwards' : 'downwards';
  if (plan.needsMonotone && !counter.monotone) return refuted('induction-simple', line, `${counter.variable.name} may move both ways or wrap around`, REMEDIES['induction-simple'] ?? null);
  return proved('induction-simple', line, plan.needsMonotone ? `${counter.variable.name} moves ${way} only and keeps its value from the test to the guards` : `${counter.variable.name} keeps its value from the test to the guards`);
}

/** Leaving one run must not enter the next. */
function exitsSkipRest(context: TransformContext, plan: RangePlan | VersionPlan): Obligation {
  const line = lineOf(context, plan.loop);
  if (plan.kind === 'version') return proved('exits-skip-rest', line, 'only one of the copies runs');
  for (const run of plan.runs.slice(0, -1)) {
    const exit = liveBreak(context, plan.loop, run.decisions);
    if (exit !== null) return refuted('exits-skip-rest', lineOf(context, exit), 'a break leaves a run that is not the last: the next one would go on', 'leave the function instead, or make the exit part of the loop\'s test');
  }
  return proved('exits-skip-rest', line, 'no run but the last is left by a break');
}

function liveBreak(context: TransformContext, loop: PeelableLoop, decisions: Decisions): BreakStmt | null {
  const breaks = new Set(jumpsOf(loop.body).filter((jump) => jump.kind === 'break'));
  let found: BreakStmt | null = null;
  visitLive(context.facts, loop.body, decisions, (stmt) => {
    if (stmt.kind === 'break' && breaks.has(stmt)) found ??= stmt;
  });
  return found;
}

function alreadyDone(context: TransformContext, loop: PeelableLoop, guards: readonly Guard[]): Obligation {
  const other = finishedBeside(context.facts, loop, guards);
  const line = lineOf(context, loop);
  if (other === null) return proved('already-done', line, 'no loop beside it does its work without the guards');
  return refuted('already-done', line, `the loop of line ${lineOf(context, other)} does this one's work without the guards`, 'nothing is to be done here; to peel afresh, write the loop as one again');
}

