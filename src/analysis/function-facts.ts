/**
 * Facts about one function in one context: the answers of the parts of this room behind the interface of facts.ts.
 *
 * A function reached by one call path has one solution; seen over all visible call paths it has one for each kernel, and every answer is
 * their join. Verdicts are values; their chains of reasons are found when they are read.
 */
import type { FileSpan } from '../source/types.js';
import { affineOf } from './affine.js';
import { annotationValue } from './annotations.js';
import { branchesOf } from './branches.js';
import { calleesOf } from './call-sites.js';
import { isStmt, type Node } from './children.js';
import { configurationOf } from './configuration.js';
import { constantOf } from './constants.js';
import { costOf } from './cost.js';
import { effectsOf } from './effects.js';
import type { Env } from './env.js';
import type {
  Affine, BlockFact, BlockShape, BranchSite, Context, Cost, Definition, Effects, Fact, FunctionFacts, LaneSet, Loop, MemoryAccess, Range, Reason, Variable, Verdict,
} from './facts.js';
import { invariantWithin } from './invariant.js';
import { lanesOfWarp } from './platform.js';
import { laneSetOf, laneValuesOf, warpsAgree, type LaneValues } from './lane-sets.js';
import { isLiveAfter } from './liveness.js';
import { rangeOf } from './ranges.js';
import { refined } from './refinement.js';
import { mayAlias } from './stability.js';
import {
  ASSUMPTION_BITS, CONSTANT, DATA_BIT, GEOMETRY_BIT, isGeometry, isLane, ON_BLOCK, ON_CALLS, ON_MEMORY, scopeOf, UNKNOWN_BIT, WARP,
} from './taint.js';
import { tripsOf } from './trips.js';
import { Explainer, wantedOf, type Continue } from './uniformity-reasons.js';
import type { Uniformity } from './uniformity.js';
import type { CallExpr, Expr, FunctionDecl, Launch, Program, RefExpr, Stmt, Unit } from '../syntax/tree.js';

/** How facts of callees are found, and how the chain goes on at a call; given by analyse.ts. */
export interface Surroundings {
  callee(from: Facts, call: CallExpr, callee: FunctionDecl): FunctionFacts;
  beyond(of: Facts, state: Uniformity): Continue;
}

export class Facts implements FunctionFacts {
  readonly program: Program;
  readonly unit: Unit;
  readonly function: FunctionDecl;
  readonly launches: readonly Launch[];
  private readonly verdicts = new Map<Expr, Verdict>();
  private readonly lanes = new Map<Expr, LaneSet | null>();
  private readonly values = new Map<Expr, LaneValues | null>();
  private branchList: readonly BranchSite[] | null = null;
  private callList: FunctionFacts['calls'] | null = null;

  /** `states` holds one solution per kernel; the first is asked what does not depend on the kernel. */
  constructor(readonly context: Context, readonly env: Env, readonly states: readonly Uniformity[], private readonly around: Surroundings) {
    this.program = env.program;
    this.unit = env.unit;
    this.function = env.function;
    this.launches = context.kernel === null ? [] : env.program.launchesOf(context.kernel);
  }

  get block(): BlockFact {
    return this.env.block;
  }

  private get first(): Uniformity {
    const state = this.states[0];
    if (state === undefined) throw new Error('internal: facts without a solution');
    return state;
  }

  get branches(): readonly BranchSite[] {
    this.branchList ??= branchesOf(this.function);
    return this.branchList;
  }

  get calls(): FunctionFacts['calls'] {
    this.callList ??= this.env.calls.map((call) => ({ call, callees: calleesOf(call, this.program) })).filter((entry) => entry.callees.length > 0);
    return this.callList;
  }

  callee(call: CallExpr, callee: FunctionDecl): FunctionFacts {
    return this.around.callee(this, call, callee);
  }

  // --------------------------------------------------------------------------------------------------------- uniformity

  scope(expr: Expr): Verdict {
    const known = this.verdicts.get(expr);
    if (known !== undefined) return known;
    let taint = CONSTANT;
    for (const state of this.states) taint |= refined(expr, state.taint(expr), state);
    if (isGeometry(taint)) {
      // Evaluated lane by lane it may turn out that every warp agrees.
      const values = this.laneValues(expr);
      if (values !== null && warpsAgree(values, this.lanesOfWarp)) taint = WARP | ON_BLOCK | (taint & ASSUMPTION_BITS);
    }
    const made = this.verdict(taint, expr, (explainer) => explainer.expression(expr));
    this.verdicts.set(expr, made);
    return made;
  }

  arrival(node: Stmt | Expr): Verdict {
    let taint = CONSTANT;
    for (const state of this.states) taint |= state.arrivalAt(node);
    return this.verdict(taint, node, (explainer, state) => {
      for (let control = state.controlAt(node); control !== null; control = control.parent) {
        if (scopeOf(state.ownTaint(control)) === scopeOf(taint) && ((taint & UNKNOWN_BIT) === 0 || (state.ownTaint(control) & UNKNOWN_BIT) !== 0)) { explainer.control(control); return; }
      }
    });
  }

  loopExit(loop: Loop): Verdict {
    let taint = CONSTANT;
    for (const state of this.states) {
      const flow = state.defUse.loops.get(loop);
      const control = flow === undefined ? undefined : state.defUse.controls.find((candidate) => candidate.loop === flow);
      taint |= control === undefined ? CONSTANT : state.ownTaint(control);
    }
    return this.verdict(taint, loop, (explainer, state) => {
      const control = state.defUse.controls.find((candidate) => candidate.kind === 'loop' && candidate.node === loop);
      if (control !== undefined) explainer.control(control);
    });
  }

  private verdict(taint: number, node: Node, explain: (explainer: Explainer, state: Uniformity) => void): Verdict {
    return new LazyVerdict(taint, this, node, () => {
      const wanted = wantedOf(taint);
      let best: Explainer | null = null;
      for (const state of this.states) {
        const explainer = new Explainer(state, wanted, this.around.beyond(this, state));
        explain(explainer, state);
        if (best === null || explainer.reasons.length > best.reasons.length) best = explainer;
      }
      return best;
    });
  }

  /** Assumptions in words. */
  assumptions(taint: number): readonly string[] {
    const under: string[] = [];
    if ((taint & ON_BLOCK) !== 0) {
      for (const assumption of this.block.under) under.push(assumption);
    }
    if ((taint & ON_MEMORY) !== 0) under.push('no other block writes the memory meanwhile');
    if ((taint & ON_CALLS) !== 0) under.push(`every call of \`${this.function.name}\` is visible`);
    return under;
  }

  reads(): readonly FileSpan[] {
    const spans: FileSpan[] = [];
    for (const fn of [this.function, this.context.kernel]) {
      if (fn === null || fn === undefined || spans.some((span) => span.file === fn.file && span.start === fn.headSpan.start)) continue;
      spans.push({ file: fn.file, start: fn.headSpan.start, end: fn.body?.span.end ?? fn.headSpan.end });
    }
    return spans;
  }

  // -------------------------------------------------------------------------------------------------------- arithmetic

  constant(expr: Expr): bigint | null {
    return constantOf(expr, this.env);
  }

  affine(expr: Expr): Affine | null {
    return affineOf(expr, this.first);
  }

  range(expr: Expr): Range {
    return rangeOf(expr, this.env);
  }

  laneSet(condition: Expr): LaneSet | null {
    const known = this.lanes.get(condition);
    if (known !== undefined) return known;
    const shape = this.block.value;
    const values = this.laneValues(condition);
    const made = shape === null || values === null ? null : laneSetOf(values, shape, this.lanesOfWarp);
    this.lanes.set(condition, made);
    return made;
  }

  laneSetIn(condition: Expr, shape: BlockShape): LaneSet | null {
    const values = laneValuesOf(condition, shape, this.first);
    return values === null ? null : laneSetOf(values, shape, this.lanesOfWarp);
  }

  private get lanesOfWarp(): 32 | 64 {
    return lanesOfWarp(this.program, this.unit);
  }

  private laneValues(expr: Expr): LaneValues | null {
    const known = this.values.get(expr);
    if (known !== undefined) return known;
    const shape = this.block.value;
    const made = shape === null || shape.x * shape.y * shape.z > 1024 ? null : laneValuesOf(expr, shape, this.first);
    this.values.set(expr, made);
    return made;
  }

  // ----------------------------------------------------------------------------------------------------------- def-use

  definitions(use: RefExpr): readonly Definition[] {
    return this.env.definitions(use);
  }

  assignments(decl: Variable, within: Stmt | Expr): readonly Definition[] {
    return this.env.assignments(decl, within);
  }

  uses(decl: Variable): readonly RefExpr[] {
    return this.env.uses(decl);
  }

  addressTaken(decl: Variable): boolean {
    return this.env.addressTaken(decl);
  }

  liveAfter(decl: Variable, stmt: Stmt): boolean {
    return isLiveAfter(decl, stmt, this.first.structure);
  }

  // ----------------------------------------------------------------------------------------------------- effects and cost

  effects(node: Stmt | Expr): Effects {
    return effectsOf(node, this.env);
  }

  mayAlias(a: MemoryAccess, b: MemoryAccess): boolean {
    return mayAlias(a, b, this.env);
  }

  invariant(expr: Expr, within: Stmt): Fact<boolean> {
    return invariantWithin(expr, within, this.env);
  }

  cost(node: Stmt | Expr): Cost {
    return costOf(node, this.env);
  }

  trips(loop: Loop): { readonly count: number; readonly origin: 'constant' | 'annotation' | 'assumed' } {
    return tripsOf(loop, this.env);
  }

  stated(key: string, line: number): { readonly text: string; readonly origin: 'annotation' | '--assume' } | null {
    const written = annotationValue(this.unit.source, line, key) ?? null;
    if (written !== null) return { text: written, origin: 'annotation' };
    const option = this.env.options.assume?.get(`${key}@${line}`) ?? null;
    return option === null ? null : { text: option, origin: '--assume' };
  }

  parent(node: Stmt | Expr): Stmt | Expr | null {
    return this.env.parent(node);
  }

  loops(node: Stmt | Expr): readonly Loop[] {
    return this.env.loops(node);
  }
}

class LazyVerdict implements Verdict {
  readonly value;
  readonly known: boolean;
  readonly sources: { readonly geometry: boolean; readonly data: boolean };
  private explained: Explainer | null = null;

  constructor(private readonly taint: number, private readonly facts: Facts, private readonly node: Node, private readonly explain: () => Explainer | null) {
    this.known = (taint & UNKNOWN_BIT) === 0;
    this.value = scopeOf(taint);
    const lane = isLane(taint);
    this.sources = { geometry: lane && (taint & GEOMETRY_BIT) !== 0, data: lane && (taint & DATA_BIT) !== 0 };
  }

  private get chain(): Explainer | null {
    this.explained ??= this.explain();
    return this.explained;
  }

  get because(): readonly Reason[] {
    const source = this.facts.unit.source;
    const chain = this.chain;
    const text = chain === null ? '' : chain.text(this.node);
    const head: Reason = { path: source.realPath, line: source.line(this.node.span.start), text: `\`${text}\` ${PHRASES[this.known ? this.value : 'unknown']}` };
    const rest = chain?.reasons ?? [];
    const shape = this.wouldChange();
    return [head, ...rest, ...shape];
  }

  /** Lane variation by coordinates in a block of unknown shape: the shape in which it would be one value per warp. */
  private wouldChange(): readonly Reason[] {
    if (!isGeometry(this.taint) || this.facts.block.value !== null || this.facts.block.xMultipleOf32 || this.facts.context.kernel === null) return [];
    return [{ path: this.facts.context.kernel.file, line: this.facts.program.units.get(this.facts.context.kernel.file)?.source.line(this.facts.context.kernel.nameSpan.start) ?? 1, text: `the block shape is not known; where blockDim.x is a multiple of ${lanesOfWarp(this.facts.program, this.facts.unit)}, rows of threads are whole warps` }];
  }

  get unknown(): string | null {
    return this.known ? null : this.chain?.unknown ?? 'something that is not understood';
  }

  get under(): readonly string[] {
    if (isLane(this.taint)) return [];
    const { node } = this;
    return [...this.facts.assumptions(this.taint), ...(isStmt(node) ? [] : configurationOf(node, this.facts.env))];
  }

  get reads(): readonly FileSpan[] {
    return this.facts.reads();
  }
}

const PHRASES: Readonly<Record<string, string>> = {
  constant: 'is a constant', grid: 'is one value in the whole grid', block: 'is one value in each block', warp: 'is one value in each warp', lane: 'differs between lanes', unknown: 'is not known',
};
