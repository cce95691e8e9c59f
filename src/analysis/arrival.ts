/**
 * Arrival sets: which lanes of a warp, and which threads of a block, come to a point of a kernel together.
 *
 * Every control that decides about a place (control-flow.ts) and that the threads do not share is a *partition*: some come here, the others do
 * not. Two kinds are told apart, because masks and barriers treat them differently:
 *
 *   exit   the others left the `__global__` function (`return` in it). Nothing waits for them, and they can be named in a vote.
 *   skip   the others are alive and go on elsewhere: the other arm of an `if`, the end of a loop that they left, the end of a device function
 *          that they returned from. A collective or barrier that names them waits for them.
 *
 *        __global__ void k(…) {
 *          if (i >= n) return;            <- exit !(i >= n), for all that follows
 *          if (x[i] > 0) {                <- skip x[i] > 0, within the arm
 *            …  helper(…)  …              <- and for the whole body of helper
 *          }                              <- full again
 *
 * From the partitions follows the set in the words of SEMANTICS 5: `full` if no lane that is alive is kept away, `vote` if each partition is a condition that
 * held at a point where the set before it arrived (so that `__ballot_sync(before, condition)` there names exactly these lanes), else `unknown`. A callee is seen
 * in its context: what decides about the call comes first. Source: CUDA C++ Programming Guide, "Warp Vote Functions" and "Synchronization
 * Functions"; the controls are those of Rosemann, Moll & Hack (POPL 2021).
 *
 * `full` is about who *will* come, not about who is converged: lanes may come at different times. Not handled: `goto` except forward jumps over a place;
 * bodies of lambdas (unknown); a kernel-level exit by inline PTX; devices below 7.0.
 */
import { equalRounds, EVEN_BOUND, leavesAtTheEdge } from './arrival-loops.js';
import { gotosOver } from './arrival-jumps.js';
import { isStmt, type Node } from './children.js';
import type { Control } from './control-flow.js';
import { decidedTruth } from './decided.js';
import { defUseOf } from './def-use-builder.js';
import type { FunctionFacts, Loop, Scope, Verdict } from './facts.js';
import { joinScope } from './facts.js';
import { isOverArray } from './implicit-calls.js';
import { isImplicit } from './implicit-code.js';
import { endsOf } from './object-lives.js';
import { structureOf } from './structure.js';
import type { CallExpr, Expr } from '../syntax/tree.js';

/** A condition that held (or did not) at a point; `null` sense: an arm of a switch. */
export interface Decision {
  /** The branch, loop or jump that decides; the condition is evaluated there. */
  readonly at: Node;
  readonly condition: Expr;
  /** Lanes that come are those for which the condition has this value. */
  readonly holds: boolean | null;
}

/** One reason why not all threads come to a place. */
export interface Partition {
  readonly kind: 'exit' | 'skip';
  readonly by: 'branch' | 'loop' | 'jump' | 'goto' | 'lambda' | 'caller';
  readonly at: Node;
  /** What to vote on at `at` to name the threads that come; null if no one condition says it. */
  readonly decision: Decision | null;
  /** Conditions that take part, for chains of reasons. */
  readonly conditions: readonly Expr[];
  /** `lane`: lanes of one warp differ; `warp`: only warps of a block do. */
  readonly scope: 'warp' | 'lane';
  /** False: something in it was not understood, and it may be shared by all. */
  readonly known: boolean;
  /** What would make all threads come although the condition differs: equal trip counts. In words; null if nothing is known. */
  readonly unless: string | null;
  /** The loop whose rounds it decides, for `loop`: the set is another one in each round. */
  readonly loop: Loop | null;
  /** Facts of the function it stands in. */
  readonly facts: FunctionFacts;
  /** 0 for the function itself, 1 for its caller, … */
  readonly depth: number;
}

export type ArrivalSet =
  /** Every lane (thread) that has not exited. */
  | { readonly kind: 'full' }
  /** The lanes for which all decisions came out so, each taken where those for which the earlier ones did arrive. */
  | { readonly kind: 'vote'; readonly decisions: readonly Decision[] }
  | { readonly kind: 'unknown'; readonly because: string };

export interface Arrival {
  /** Of the warp. */
  readonly lanes: ArrivalSet;
  /** Of the block. */
  readonly threads: ArrivalSet;
  /** Outermost first; those of callers come before those of the function. */
  readonly partitions: readonly Partition[];
  /** Partitions of the warp whose other lanes are alive. */
  readonly skips: readonly Partition[];
  /** Partitions whose other threads have left the kernel, of lane and of warp scope. */
  readonly exits: readonly Partition[];
}

export interface ArrivalSets {
  readonly facts: FunctionFacts;
  at(node: Node): Arrival;
}

/** The call through which a function was reached. */
export interface Outer { readonly sets: ArrivalSets; readonly call: CallExpr }

const FULL: ArrivalSet = { kind: 'full' };
const memo = new WeakMap<FunctionFacts, ArrivalSets>();

/** Arrival sets of a function in its context. Without `outer`, what decides about the calls of a device function is known as a whole only. */
export function arrivalSets(facts: FunctionFacts, outer: Outer | null = null): ArrivalSets {
  const known = memo.get(facts);
  if (known !== undefined) return known;
  const made = new Sets(facts, outer);
  if (outer !== null || facts.context.path.length === 0) memo.set(facts, made);
  return made;
}

class Sets implements ArrivalSets {
  private readonly byControl = new Map<Control | null, Arrival>();
  private readonly partitionOf = new Map<Control, readonly Partition[]>();
  private readonly before: readonly Partition[];

  constructor(readonly facts: FunctionFacts, outer: Outer | null) {
    this.before = outer === null ? this.unknownCalls() : outer.sets.at(outer.call).partitions.map((partition) => ({ ...partition, depth: partition.depth + 1 }));
  }

  at(node: Node): Arrival {
    const { facts } = this;
    const defUse = defUseOf(facts.function);
    let control: Control | null = null;
    const { parents } = structureOf(facts.function);
    for (let n: Node | undefined = startOf(node, parents); n !== undefined; n = parents.get(n)) {
      const found = defUse.controlOf.get(n);
      if (found !== undefined) { control = found; break; }
    }
    if (defUse.unstructuredFrom !== null) return arrivalOf([...this.before, ...this.chain(control), ...this.jumped(node)]);
    const known = this.byControl.get(control);
    if (known !== undefined) return known;
    const made = arrivalOf([...this.before, ...this.chain(control)]);
    this.byControl.set(control, made);
    return made;
  }

  /** Partitions of all controls from the function inwards. */
  private chain(control: Control | null): Partition[] {
    const controls: Control[] = [];
    for (let c = control; c !== null; c = c.parent) controls.push(c);
    return controls.reverse().flatMap((c) => this.partitions(c));
  }

  private partitions(control: Control): readonly Partition[] {
    const known = this.partitionOf.get(control);
    if (known !== undefined) return known;
    const made = this.build(control);
    this.partitionOf.set(control, made);
    return made;
  }

  private build(control: Control): readonly Partition[] {
    switch (control.kind) {
      case 'branch': return this.branch(control);
      case 'jump': {
        const returns = control.target?.kind === 'return';
        const made = this.decided(control.deps, control.node, 'jump', returns && this.isKernel ? 'exit' : 'skip', this.opposite(control.deps));
        const loop = control.target?.kind === 'break' && isStmt(control.node) ? this.facts.loops(control.node)[0] : undefined;
        return loop === undefined ? made : this.evenly(made, loop);
      }
      case 'loop': return this.loop(control);
      case 'unknown': return [this.partition({ kind: 'skip', by: 'lambda', at: control.node, scope: 'lane', known: false })];
    }
  }

  private get isKernel(): boolean {
    return this.facts.function.qualifiers.global;
  }

  private branch(control: Control): readonly Partition[] {
    const { condition, sense } = control;
    if (condition === null) return [this.partition({ kind: 'skip', by: 'branch', at: control.node, scope: 'lane', known: false })];
    const { scope, known } = this.scopeOf(condition);
    if (scope !== 'lane' && scope !== 'warp') return [];
    const decision: Decision = { at: control.node, condition, holds: sense === 'case' ? null : sense === 'then' };
    return [this.partition({ kind: 'skip', by: 'branch', at: control.node, decision: decision.holds === null ? null : decision, conditions: [condition], scope, known })];
  }

  private loop(control: Control): readonly Partition[] {
    const flow = control.loop;
    if (flow === null) return [this.partition({ kind: 'skip', by: 'loop', at: control.node, scope: 'lane', known: false })];
    const found: Partition[] = [];
    const own = flow.condition === null || isOverArray(flow.loop) ? null : this.scopeOf(flow.condition);
    if (own !== null && flow.condition !== null && (own.scope === 'lane' || own.scope === 'warp')) {
      const rounds = equalRounds(flow.loop, this.facts);
      if (rounds.equal !== 'block' && !(rounds.equal === 'warp' && own.scope === 'warp')) {
        found.push(this.partition({
          kind: 'skip', by: 'loop', at: control.node, decision: { at: control.node, condition: flow.condition, holds: true }, conditions: [flow.condition],
          scope: rounds.equal === 'warp' ? 'warp' : own.scope, known: own.known, unless: rounds.unless, loop: flow.loop,
        }));
      }
    }
    // Threads that left by `break` in an earlier round, or by `return`: in a loop only a return leads further out.
    found.push(...this.evenly(this.decided(flow.breaks, control.node, 'loop', 'skip', null, flow.loop), flow.loop));
    found.push(...this.decided(flow.leaves, control.node, 'loop', this.isKernel ? 'exit' : 'skip', null, flow.loop));
    return found;
  }

  /** Partitions by `break`: at the edge of the work every thread may leave in one round. */
  private evenly(partitions: readonly Partition[], loop: Loop): readonly Partition[] {
    return partitions.map((partition) => {
      const even = partition.conditions.length > 0 && partition.conditions.every((condition) => leavesAtTheEdge(condition, loop, this.facts));
      return even ? { ...partition, unless: EVEN_BOUND } : partition;
    });
  }

  /** A partition by several controls together; none if all threads share them. */
  private decided(controls: readonly Control[], at: Node, by: Partition['by'], kind: Partition['kind'], decision: Decision | null, loop: Loop | null = null): readonly Partition[] {
    let scope: Scope = 'constant';
    let known = true;
    const conditions: Expr[] = [];
    for (const control of controls) {
      const one = this.scopeOfControl(control, conditions);
      scope = joinScope(scope, one.scope);
      if (one.scope === 'lane' || one.scope === 'warp') known &&= one.known;
    }
    if (scope !== 'lane' && scope !== 'warp') return [];
    return [this.partition({ kind, by, at, decision, conditions, scope, known, loop })];
  }

  private scopeOfControl(control: Control, conditions: Expr[]): { readonly scope: Scope; readonly known: boolean } {
    switch (control.kind) {
      case 'branch':
        if (control.condition === null) return { scope: 'lane', known: false };
        return this.noted(control.condition, conditions);
      case 'loop': {
        const flow = control.loop;
        if (flow === null) return { scope: 'lane', known: false };
        let result: { scope: Scope; known: boolean } = { scope: 'constant', known: true };
        if (flow.condition !== null && !isOverArray(flow.loop) && equalRounds(flow.loop, this.facts).equal !== 'block') result = this.noted(flow.condition, conditions);
        // Breaks are looked at one level deep: those of a loop lie inside it.
        for (const inner of flow.breaks) {
          if (inner === control || inner.kind !== 'branch' || inner.condition === null) continue;
          const one = this.noted(inner.condition, conditions);
          result = { scope: joinScope(result.scope, one.scope), known: result.known && one.known };
        }
        return result;
      }
      case 'jump': {
        let result: { scope: Scope; known: boolean } = { scope: 'constant', known: true };
        for (const inner of control.deps) {
          if (inner === control) continue;
          const one = this.scopeOfControl(inner, conditions);
          result = { scope: joinScope(result.scope, one.scope), known: result.known && one.known };
        }
        return result;
      }
      case 'unknown': return { scope: 'lane', known: false };
    }
  }

  private noted(condition: Expr, conditions: Expr[]): { readonly scope: Scope; readonly known: boolean } {
    const found = this.scopeOf(condition);
    if ((found.scope === 'lane' || found.scope === 'warp') && !conditions.includes(condition)) conditions.push(condition);
    return found;
  }

  /** Those that stay behind `if (c) continue;` are those for which `c` did not hold. */
  private opposite(deps: readonly Control[]): Decision | null {
    const only = deps[0];
    if (deps.length !== 1 || only === undefined || only.kind !== 'branch' || only.condition === null || only.sense === null || only.sense === 'case') return null;
    return { at: only.node, condition: only.condition, holds: only.sense !== 'then' };
  }

  /** Scope of a condition; one value for the block if every thread of its known shape agrees. */
  private scopeOf(condition: Expr): { readonly scope: Scope; readonly known: boolean } {
    const verdict: Verdict = this.facts.scope(condition);
    if (!verdict.known) return { scope: 'lane', known: false };
    if (verdict.value !== 'lane' && verdict.value !== 'warp') return { scope: verdict.value, known: true };
    if (decidedTruth(this.facts, condition) !== null) return { scope: 'constant', known: true };
    const lanes = this.facts.laneSet(condition);
    if (lanes !== null && lanes.holds.every((held) => held === lanes.holds[0])) return { scope: 'block', known: true };
    return { scope: verdict.value, known: true };
  }

  private jumped(node: Node): Partition[] {
    const jumps = gotosOver(node, this.facts.function);
    if (jumps === null) return [this.partition({ kind: 'skip', by: 'goto', at: node, scope: 'lane', known: false })];
    const defUse = defUseOf(this.facts.function);
    return jumps.flatMap((jump) => {
      const controls: Control[] = [];
      for (let c = defUse.controlOf.get(jump) ?? null; c !== null; c = c.parent) controls.push(c);
      return this.decided(controls, jump, 'goto', 'skip', null);
    });
  }

  /** A device function seen without its call. */
  private unknownCalls(): readonly Partition[] {
    const { facts } = this;
    const { body } = facts.function;
    if (this.isKernel || body === null) return [];
    const arrival = facts.arrival(body);
    if (arrival.value !== 'lane' && arrival.value !== 'warp') return [];
    return [this.partition({ kind: 'skip', by: 'caller', at: body, scope: arrival.value, known: arrival.known, depth: 1 })];
  }

  private partition(made: Pick<Partition, 'kind' | 'by' | 'at' | 'scope' | 'known'> & Partial<Partition>): Partition {
    return { decision: null, conditions: [], unless: null, loop: null, facts: this.facts, depth: 0, ...made };
  }
}

/** A destructor runs for the threads that came to the declaration of its object, wherever they leave the block. */
function startOf(node: Node, parents: ReadonlyMap<Node, Node>): Node {
  if (node.kind !== 'call' || node.callee.kind !== 'function' || !isImplicit(node)) return node;
  const block = parents.get(node);
  const [end] = node.callee.candidates;
  if (block?.kind !== 'compound' || end === undefined) return node;
  return block.body.find((stmt) => stmt.kind === 'declare' && stmt.variables.some(({ type }) => endsOf(type).includes(end))) ?? node;
}

function arrivalOf(partitions: readonly Partition[]): Arrival {
  const skips = partitions.filter((partition) => partition.kind === 'skip' && partition.scope === 'lane');
  return {
    lanes: setOf(skips), threads: setOf(partitions.filter((partition) => partition.kind === 'skip')), partitions, skips,
    exits: partitions.filter((partition) => partition.kind === 'exit'),
  };
}

function setOf(skips: readonly Partition[]): ArrivalSet {
  if (skips.length === 0) return FULL;
  const decisions: Decision[] = [];
  for (const skip of skips) {
    if (skip.decision === null) return { kind: 'unknown', because: WORDS[skip.by] };
    decisions.push(skip.decision);
  }
  return { kind: 'vote', decisions };
}

const WORDS: Readonly<Record<Partition['by'], string>> = {
  branch: 'an arm of a switch is reached by several labels', loop: 'threads left the loop in earlier rounds', jump: 'threads jumped away under several conditions',
  goto: 'a goto leads past it', lambda: 'it stands in a lambda', caller: 'the calls are not all known',
};
