/**
 * The versioned form: one condition per lane from which every guard of a nest follows in all of its iterations.
 *
 * Each guard is brought to `E < 0` and taken at the worst iteration of the loops of the nest (affine ends); what the lane can name in front of the nest keeps
 * its name. The conjunction of the inequalities is the lane's condition. A guard that could never hold throughout is left in both copies.
 */
import { isStmt, walk } from '../../src/analysis/children.js';
import { atLeast, type FunctionFacts } from '../../src/analysis/facts.js';
import type { Expr, RefExpr, Stmt } from '../../src/syntax/tree.js';
import { lessThanZero } from '../lib/guards/bound.js';
import { demandOf, settle, type Demand } from '../lib/guards/demands.js';
import { guardsIn, type Guard } from '../lib/guards/guards.js';
import { interval, linearIn, subtract, symbolsOf, type Poly, type Sym } from '../lib/guards/polynomial.js';
import { Reader, type Unreadable } from '../lib/guards/reading.js';
import { arePlain, type Decisions } from '../lib/guards/simplify.js';
import { isPeelable, type PeelableLoop } from '../lib/guards/tested-loop.js';
import { describeLoop } from '../lib/loops.js';
import type { TransformContext } from '../lib/types.js';

export interface VersionedPlan {
  readonly kind: 'versioned';
  readonly loop: PeelableLoop;
  readonly guards: readonly Guard[];
  /** All below zero for a lane: its guards hold throughout. */
  readonly tests: readonly Poly[];
  readonly decisions: Decisions;
  /** Read so only because indices do not wrap (grant `index-range`). */
  readonly assumed: boolean;
  /** Lanes of a warp may differ in it. */
  readonly varies: boolean;
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
  const guards = guardsIn(facts, loop).filter((guard) => !guard.inMacro);
  if (guards.length === 0 || !describeLoop(facts, loop).simple) return null;
  const reader = new Reader(facts, loop, null, false, true);
  let problem: VersionedProblem | null = null;
  const demands: Demand[] = [];
  for (const guard of guards) {
    const verdict = facts.scope(guard.comparison);
    const demand = demandOf(reader, guard, inner, false);
    if (demand === null || !usable(context, demand)) {
      if (verdict.known && atLeast(verdict.value, 'warp')) continue;
      // What does not change in the nest is for hoist.
      if (demand === null && facts.invariant(guard.comparison, loop).value) continue;
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
      kind: 'versioned', loop, guards: kept.map((demand) => demand.guard), tests: settled.tests, assumed: settled.assumed,
      decisions: new Map<Expr, boolean>(kept.map((demand) => [demand.guard.comparison, demand.value])),
      varies: settled.tests.some((test) => symbolsOf(test).some((sym) => differs(reader, sym))),
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

function differs(reader: Reader, sym: Sym): boolean {
  return !atLeast(reader.scopes.get(sym.key) ?? 'grid', 'warp');
}

/**
 * True if the demand is about the place in the block alone: where its lane-varying parts are coordinates of the block, every block has warps that fail it.
 */
function isConfined(facts: FunctionFacts, reader: Reader, demand: Demand): boolean {
  const syms = symbolsOf(demand.worst);
  const varying = syms.filter((sym) => differs(reader, sym));
  if (varying.length === 0) return syms.every((sym) => sym.key.startsWith('blockDim.'));
  const names = new Set(varying.map((sym) => sym.text));
  let confined = true;
  const visit = (root: Expr, seen: Set<unknown>): void => {
    walk(root, (node) => {
      if (!confined || isStmt(node)) return false;
      if (node.kind === 'coordinate') confined = node.base !== 'blockIdx';
      else if (node.kind === 'index' || node.kind === 'call' || (node.kind === 'unary' && node.op === '*')) confined = false;
      else if (node.kind === 'ref' && (node.decl?.kind === 'variable' || node.decl?.kind === 'parameter')) follow(node, seen);
      return confined;
    });
  };
  const follow = (ref: RefExpr, seen: Set<unknown>): void => {
    const { decl } = ref;
    if (decl === null || seen.has(decl) || (decl.kind !== 'variable' && decl.kind !== 'parameter')) return;
    seen.add(decl);
    if (decl.kind === 'parameter') { confined &&= !names.has(decl.name); return; }
    for (const definition of facts.definitions(ref)) {
      if (definition.kind === 'declaration' && definition.decl.init !== null && !definition.decl.opaqueInit) visit(definition.decl.init, seen);
      else if (definition.kind === 'assignment' && definition.node.kind === 'assign') visit(definition.node.value, seen);
      else if (definition.kind !== 'declaration' && !(definition.kind === 'assignment' && definition.node.kind === 'update')) confined = false;
    }
  };
  walk(demand.guard.comparison, (node) => {
    if (node.kind === 'ref' && syms.some((sym) => sym.text === node.name && !differs(reader, sym))) return true;
    if (node.kind === 'ref') follow(node, new Set());
    else if (node.kind === 'coordinate' && node.base === 'blockIdx') confined = false;
    else if (node.kind === 'index' || node.kind === 'call') confined = false;
    return confined;
  });
  return confined;
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
