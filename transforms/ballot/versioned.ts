/**
 * The versioned form: one condition per lane from which every guard of a nest follows in all of its iterations.
 *
 * Each guard is brought to `E < 0` and taken at the worst iteration of the loops of the nest (affine ends); what the lane can name in front of the nest keeps
 * its name. The conjunction of the inequalities is the lane's condition. A guard that could never hold throughout is left in both copies.
 */
import { isStmt, strip, walk } from '../../src/analysis/children.js';
import { atLeast, type FunctionFacts } from '../../src/analysis/facts.js';
import { builtin } from '../../src/cuda/builtins.js';
import type { Expr, RefExpr, Stmt } from '../../src/syntax/tree.js';
import { lessThanZero } from '../lib/guards/bound.js';
import { demandOf, settle, type Demand } from '../lib/guards/demands.js';
import { finishedInside } from '../lib/guards/finished.js';
import { guardsIn, type Guard } from '../lib/guards/guards.js';
import { interval, linearIn, subtract, symbolsOf, type Poly, type Sym } from '../lib/guards/polynomial.js';
import { Reader, type Unreadable } from '../lib/guards/reading.js';
import { ARM_TELLS } from '../lib/arm-value.js';
import { arePlain, type Decisions } from '../lib/guards/simplify.js';
import { isPeelable, type PeelableLoop } from '../lib/guards/tested-loop.js';
import { describeLoop } from '../lib/loops.js';
import type { TransformContext } from '../lib/types.js';
import { isOfWarpNumber } from './warp-number.js';

export interface VersionedPlan {
  readonly kind: 'versioned';
  readonly loop: PeelableLoop;
  readonly guards: readonly Guard[];
  /** All below zero for a lane: its guards hold throughout. */
  readonly tests: readonly Poly[];
  readonly decisions: Decisions;
  /** Read so only because indices do not wrap (grant `index-range`). */
  readonly assumed: boolean;
  /** What is taken to hold of constants that other builds may give other values. */
  readonly stated: readonly string[];
  /** Lanes of a warp may differ in it. */
  readonly varies: boolean;
  /** Only where rows of the block are no whole warps: the guards are about the number of the warp. */
  readonly ofWarps: boolean;
  /** Counters that guards bound on both sides. */
  readonly dimensions: number;
}

/** A nest with guards that differ between lanes, of which no condition could be made. */
export interface VersionedProblem {
  readonly kind: 'problem';
  readonly loop: PeelableLoop;
  readonly guard: Guard;
  readonly id: 'types-known' | 'operands-invariant' | 'guard-implied';
  readonly text: string;
}

/** Loops with a test, outermost first. */
export function loopsIn(root: Stmt): readonly PeelableLoop[] {
  const loops: PeelableLoop[] = [];
  walk(root, (node) => {
    if (node.kind === 'lambda' || node.kind === 'macro-statement') return false;
    if (isStmt(node) && (node.kind === 'for' || node.kind === 'while') && isPeelable(node)) loops.push(node);
    return true;
  });
  return loops;
}

const inner = (sym: Sym): boolean => sym.role === 'inner';

/** Lines of a nest up to which a copy of it is worth a vote. */
export const MOST_LINES = 200;

/** Null if the nest has no guard that depends on the lane and on a counter of the nest. */
export function versionedPlan(context: TransformContext, loop: PeelableLoop): VersionedPlan | VersionedProblem | null {
  const { facts, unit } = context;
  const guards = guardsIn(facts, loop).filter((guard) => !guard.inMacro && !isVotedOn(facts, guard.comparison) && !finishedInside(facts, loop, guard));
  if (guards.length === 0 || !describeLoop(facts, loop).simple) return null;
  const reader = new Reader(facts, loop, null, false, true);
  let problem: VersionedProblem | null = null;
  const demands: Demand[] = [];
  for (const guard of guards) {
    if (!isGuard(facts, guard)) continue;
    const verdict = facts.scope(guard.comparison);
    const demand = demandOf(reader, guard, inner, false);
    if (demand === null || !usable(context, demand)) {
      if (verdict.known && atLeast(verdict.value, 'warp')) continue;
      // Left in both versions, it would ask for the vote again.
      if (demand !== null && guard.owner.kind === 'ternary' && !arePlain(facts, guard.owner.node, demand.value)) return { kind: 'problem', loop, guard, id: 'types-known', text: ARM_TELLS };
      // What does not change in the nest is for hoist.
      if (demand === null && facts.invariant(guard.comparison, loop).value) continue;
      // What the place in the block alone decides differs within every block: lanes of a reduction and the like.
      if (isConfinedTo(facts, guard.comparison, () => true)) continue;
      const failure = (reader as { readonly failure: Unreadable | null }).failure;
      problem ??= failure !== null
        ? { kind: 'problem', loop, guard, id: failure.id === 'types-known' || failure.id === 'operands-invariant' ? failure.id : 'guard-implied', text: failure.reason }
        : { kind: 'problem', loop, guard, id: 'guard-implied', text: 'no condition in front of the loops says that it holds in all of their iterations' };
      continue;
    }
    if (isSteady(reader, demand) && !isConfined(facts, reader, demand)) demands.push(demand);
  }
  let kept: readonly Demand[] = demands;
  for (;;) {
    if (!kept.some((demand) => symbolsOf(demand.fact).some(inner))) return problem;
    const settled = settle(kept, inner);
    if (settled === null) return problem;
    const lost = new Set([...settled.without, ...kept.filter((demand) => lessThanZero(demand.worst) === null)]);
    if (lost.size > 0) { kept = kept.filter((demand) => !lost.has(demand)); continue; }
    if (settled.tests.length === 0 || settled.tests.some((test) => lessThanZero(test) === null)) return problem;
    const plan: VersionedPlan = {
      kind: 'versioned', loop, guards: kept.map((demand) => demand.guard), tests: settled.tests, assumed: settled.assumed || reader.leansOnIndexRange, stated: [...reader.stated],
      decisions: new Map<Expr, boolean>(kept.map((demand) => [demand.guard.comparison, demand.value])),
      varies: settled.tests.some((test) => symbolsOf(test).some((sym) => differs(reader, sym))),
      ofWarps: kept.every((demand) => !symbolsOf(demand.worst).some((sym) => differs(reader, sym)) || isOfWarpNumber(facts, demand.guard.comparison)),
      dimensions: windowsOf(kept),
    };
    const lines = unit.source.line(loop.span.end) - unit.source.line(loop.span.start);
    return lines > MOST_LINES && facts.loops(loop).length === 0 ? plan : lines > MOST_LINES ? null : plan;
  }
}

/** A ternary that can be given up for one arm, and an inequality that C++ can say. */
function usable({ facts }: TransformContext, { guard, value, worst }: Demand): boolean {
  return (guard.owner.kind !== 'ternary' || arePlain(facts, guard.owner.node, value)) && lessThanZero(worst) !== null;
}

/** The warp, or the block, decides already: a vote on the vote would copy what was written for it. */
function isVotedOn(facts: FunctionFacts, comparison: Expr): boolean {
  for (let at = facts.parent(comparison); at !== null && !isStmt(at); at = facts.parent(at)) {
    if (at.kind === 'call' && at.callee.kind === 'builtin' && (builtin(at.callee.name)?.collective ?? null) !== null) return true;
  }
  return false;
}

function differs(reader: Reader, sym: Sym): boolean {
  return !atLeast(reader.scopes.get(sym.key) ?? 'grid', 'warp');
}

/**
 * True if the demand is about the place in the block alone: where its lane-varying parts are coordinates of the block, every block has warps that fail it.
 */
function isConfined(facts: FunctionFacts, reader: Reader, demand: Demand): boolean {
  const syms = symbolsOf(demand.worst);
  const varying = syms.filter((sym) => differs(reader, sym));
  if (varying.length === 0) return syms.every((sym) => sym.constant === true || sym.key.startsWith('blockDim.'));
  const names = new Set(varying.map((sym) => sym.text));
  const shared = new Set(syms.filter((sym) => !differs(reader, sym)).map((sym) => sym.text));
  return isConfinedTo(facts, demand.guard.comparison, (name) => !shared.has(name), names);
}

/** No block number, no memory and no parameter of the lane's own stands behind the expression; names for which `follow` is false are one value of the warp. */
function isConfinedTo(facts: FunctionFacts, expr: Expr, follow: (name: string) => boolean, own: ReadonlySet<string> = new Set()): boolean {
  let confined = true;
  const seen = new Set<unknown>();
  const visit = (root: Expr): void => {
    walk(root, (node) => {
      if (!confined || isStmt(node)) return false;
      if (node.kind === 'coordinate') confined = node.base !== 'blockIdx';
      else if (node.kind === 'index' || (node.kind === 'unary' && node.op === '*') || (node.kind === 'call' && !(node.callee.kind === 'builtin' && builtin(node.callee.name)?.family === 'arithmetic'))) confined = false;
      else if (node.kind === 'ref' && follow(node.name)) trace(node);
      return confined;
    });
  };
  const trace = (ref: RefExpr): void => {
    const { decl } = ref;
    if (decl === null || seen.has(decl) || (decl.kind !== 'variable' && decl.kind !== 'parameter')) return;
    seen.add(decl);
    if (decl.kind === 'parameter') { confined &&= !own.has(decl.name) && facts.function.qualifiers.global; return; }
    for (const definition of facts.definitions(ref)) {
      if (definition.kind === 'declaration') {
        if (definition.decl.init !== null && !definition.decl.opaqueInit) visit(definition.decl.init);
      } else if (definition.kind === 'assignment' && definition.node.kind === 'assign') visit(definition.node.value);
      else if (!(definition.kind === 'assignment' && definition.node.kind === 'update')) confined = false;
    }
  };
  visit(expr);
  return confined;
}

/** Integers are compared, and one way is the work, the other next to nothing: not a choice between two kinds of work. */
function isGuard(facts: FunctionFacts, { owner, comparison }: Guard): boolean {
  if (comparison.left.type.kind !== 'int' || comparison.right.type.kind !== 'int') return comparison.left.type.kind === 'dependent' || comparison.right.type.kind === 'dependent';
  if (owner.kind === 'ternary') return isFiller(owner.node.then, owner.node.else) || isFiller(owner.node.else, owner.node.then);
  if (owner.kind === 'if' && owner.node.else !== null) return Math.min(facts.cost(owner.node.then).instructions, facts.cost(owner.node.else).instructions) <= SLIGHT;
  return true;
}

/** Instructions of an arm that only sets something. */
const SLIGHT = 4;

/** `valid ? x[j] : 0`, `valid ? f(x[j]) : before`: not `j > n / 2 ? j - n : j`. */
function isFiller(arm: Expr, work: Expr): boolean {
  if (!isTrivial(arm)) return false;
  let loads = strip(arm).kind === 'literal';
  walk(work, (node) => { loads ||= node.kind === 'index' || node.kind === 'call' || (node.kind === 'unary' && node.op === '*'); return !loads; });
  return loads;
}

function isTrivial(expr: Expr): boolean {
  const value = strip(expr);
  return value.kind === 'literal' || value.kind === 'ref' || (value.kind === 'unary' && isTrivial(value.operand)) || (value.kind === 'cast' && isTrivial(value.operand));
}

/** The loops that the demand depends on run equally far wherever the block stands: only then has it an interior. */
function isSteady(reader: Reader, { fact }: Demand): boolean {
  return symbolsOf(fact).filter(inner).every((sym) => sym.extent !== null && symbolsOf(subtract(sym.extent.high, sym.extent.low)).every((other) =>
    inner(other) || atLeast(reader.scopes.get(other.key) ?? 'grid', 'grid')));
}

/** Counters that some guards bound from above and some from below: the dimensions of a window. */
function windowsOf(demands: readonly Demand[]): number {
  const counters = new Map<string, Sym>();
  for (const { fact } of demands) for (const sym of symbolsOf(fact)) if (inner(sym)) counters.set(sym.key, sym);
  return [...counters.values()].filter((sym) => {
    const signs = demands.map(({ fact }) => {
      const split = linearIn(fact, sym);
      if (split === null) return 0;
      const { low, high } = interval(split.coefficient);
      return low > 0n ? 1 : high < 0n ? -1 : 0;
    });
    return signs.includes(1) && signs.includes(-1);
  }).length;
}
