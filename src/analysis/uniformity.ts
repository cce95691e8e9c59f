/**
 * Uniformity: for every value the widest group of threads that surely hold the same one.
 *
 * A data-flow problem over the def-use form: each value has an element of the lattice in taint.ts, values at joins take the controls'
 * elements too (sync dependence), values that leave a loop the loop's exit conditions (temporal divergence). Solved by sweeps in
 * evaluation order from the optimistic start until nothing changes; all transfer functions are monotone, and a function without loops
 * takes one sweep. Behind a sweep of a loop only those steps can change that read the result of a later one (its heads, calls for who
 * arrives at them): another sweep is made if one of these does, and passes over the steps of which nothing that they read has changed (step-reads.ts). Source: Karrenberg & Hack, "Whole-Function Vectorization" (CGO 2011); Rosemann, Moll & Hack, "An Abstract
 * Interpretation for SPMD Divergence on Reducible Control Flow Graphs" (POPL 2021); LLVM, "Convergence and Uniformity".
 *
 * "The same value" is meant instance by instance: the k-th time a place is reached within the same iterations of the enclosing
 * loops, by those threads that reach it. What decides who reaches it is asked for apart (`arrivalAt`).
 *
 * A callee is solved once for each combination of its arguments' elements in a kernel. Not handled: recursion (unknown), values
 * through function pointers and lambdas (unknown), more than 64 combinations of one callee (unknown).
 */
import { keptIn, ownOutlives } from './address-fate.js';
import { asmMeaning } from './asm-text.js';
import { takes } from './binding.js';
import { codeOf } from './function-code.js';
import { carriesAddress, keepsAddresses, rootOf, valueType } from './lvalues.js';
import { leadsBehind, structureOf, type Structure } from './structure.js';
import { defUseOf } from './def-use-builder.js';
import type { DefUse, Step, Value } from './def-use.js';
import type { Control, LoopFlow } from './control-flow.js';
import { strip, type Node } from './children.js';
import type { Env } from './env.js';
import type { Variable } from './facts.js';
import { callHidesValue, recordHidesValue } from './hidden-values.js';
import { isImplicit } from './implicit-code.js';
import { callsIterators, isOverArray } from './implicit-calls.js';
import { ReadSets, type Rested } from './read-sets.js';
import { StepReads } from './step-reads.js';
import { callTaint, isForeignCall, leaksByCall, outputTaint, returnedPlace, storesUnasked } from './uniformity-calls.js';
import { memoryReferenceTaint, placeTaint } from './uniformity-loads.js';
import { constructedTaint, convertedTaint } from './uniformity-objects.js';
import { taintOf } from './uniformity-values.js';
import { CONSTANT, GRID, LOCAL, SCOPE_BITS, UNKNOWN } from './taint.js';
import { mayWriteOutside } from './summaries.js';
import { givesForeign, isDependent, judge } from './template-types.js';
import type { CallExpr, Expr, FunctionDecl, RecordType, Type } from '../syntax/tree.js';
import type { World } from './world.js';

/** What is known of a call when its callee is solved. */
export interface Entry {
  /** Elements of the arguments by parameter; of what a reference is bound to for a reference. */
  readonly parameters: readonly number[];
  /** Element of the object's contents for a method. */
  readonly self: number;
  /** Who arrives at the call. */
  readonly arrival: number;
  /** The parameters of its template may stand for classes that do more than compute, or for what is volatile (template-types.ts). */
  readonly foreign: boolean;
  /** The address of an object of a caller's lies where nobody follows it: whatever is found in memory may lead there. */
  readonly leaked: boolean;
}

export const NO_ENTRY: Entry = { parameters: [], self: CONSTANT, arrival: CONSTANT, foreign: false, leaked: false };

/** Is what a callee sees of two calls the same? Of the arrival only the scope matters to its solution. */
export function sameEntry(a: Entry, b: Entry): boolean {
  if (a.self !== b.self || a.foreign !== b.foreign || a.leaked !== b.leaked || (a.arrival & SCOPE_BITS) !== (b.arrival & SCOPE_BITS) || a.parameters.length !== b.parameters.length) return false;
  for (let i = 0; i < a.parameters.length; i++) if (a.parameters[i] !== b.parameters[i]) return false;
  return true;
}

const NOWHERE = Number.MAX_SAFE_INTEGER;

export class Uniformity {
  readonly function: FunctionDecl;
  readonly structure: Structure;
  readonly defUse: DefUse;
  private readonly taints: Int32Array;
  private readonly own: Int32Array;
  private readonly exits = new Map<LoopFlow, number>();
  private storedThere = CONSTANT;
  /** Has anything been found that rests on what is stored so? */
  private storeRead = false;
  /** Is anything stored so? */
  storesThere = false;
  /**
   * May the address of one of the thread's own objects lie where values are not followed: in memory, in a number, in a register of inline assembler? Pointers that
   * come from there may lead to any of them.
   */
  leaked: boolean;
  private foreignCode: boolean | null = null;
  private foreignTypes: boolean | null = null;
  /** Join of all conditions; only kept for functions with `goto`. */
  private everything = CONSTANT;
  private solved = false;
  /** Is it being found where the references that are returned lie? */
  private placing = false;
  private result = CONSTANT;
  /** The step that is being evaluated in a loop; beyond all steps elsewhere. */
  private at = NOWHERE;
  /** It has read what a later step gives. */
  private readAhead = false;
  /** What expressions are evaluated with: a cell for the element of each value, then one for that of each control, the last for what is stored. */
  private readonly cells: ReadSets;
  /** What each step read, while a function is being solved that has loops; null for others, whose steps are hardly ever asked again. */
  private reads: StepReads | null = null;
  /** Solutions of the callees of calls. */
  private readonly solvedCalls = new Map<CallExpr, Rested<readonly (Uniformity | null)[]>>();

  constructor(readonly world: World, readonly env: Env, readonly entry: Entry) {
    this.function = env.function;
    this.structure = structureOf(env.function);
    this.defUse = defUseOf(env.function);
    this.taints = new Int32Array(this.defUse.values.length);
    this.own = new Int32Array(this.defUse.controls.length);
    this.cells = new ReadSets(this.taints.length + this.own.length + 1);
    this.leaked = entry.leaked;
  }

  solve(): this {
    if (this.solved) return this;
    this.solved = true;
    if (this.defUse.cyclic || this.defUse.regions.length > 0) this.reads = new StepReads(this.cells, this.defUse.steps.length);
    // Nothing reads what comes later but the loops, which are solved one by one.
    const forward = !this.defUse.cellular && this.defUse.unstructuredFrom === null && this.function.owner === null;
    for (;;) {
      const before = this.storedThere;
      const kept = !this.leaked;
      let changed = this.sweep();
      this.collectStores();
      if (this.defUse.unstructuredFrom !== null) {
        let all = this.everything;
        for (const taint of this.own) all |= taint;
        if (all !== this.everything) { this.everything = all; this.cells.changedForAll(); changed = true; }
      }
      if ((this.storedThere !== before && this.storeRead) || (kept && this.leaked)) changed = true;
      else if (!this.defUse.cyclic || forward) break;
      if (!changed) break;
    }
    this.reads = null;
    this.result = this.collectReturns();
    // What was recursion while this was being solved is none for those who ask later.
    this.cells.changedForAll();
    return this;
  }

  /** All steps in order; each outermost loop until nothing in it changes, so that what follows it is looked at once. */
  private sweep(): boolean {
    let changed = false;
    let at = 0;
    for (const region of this.defUse.regions) {
      if (this.sweepSteps(at, region.from)) changed = true;
      while (this.sweepLoop(region.from, region.to)) changed = true;
      at = region.to;
    }
    return this.sweepSteps(at, this.defUse.steps.length) || changed;
  }

  private sweepSteps(from: number, to: number): boolean {
    let changed = false;
    for (let i = from; i < to; i++) if (this.take(i)) changed = true;
    return changed;
  }

  /** One sweep of an outermost loop; false if nothing in it can change any more. */
  private sweepLoop(from: number, to: number): boolean {
    const ahead: number[] = [];
    for (let i = from; i < to; i++) {
      this.at = i;
      this.take(i);
      if (this.reads?.readsAhead(i) === true) ahead.push(i);
    }
    this.at = NOWHERE;
    for (const i of ahead) if (this.take(i)) return true;
    return false;
  }

  /** Evaluates a step, unless nothing that it read has changed since it was; true if that changed anything. */
  private take(index: number): boolean {
    const step = this.defUse.steps[index];
    if (step === undefined) return false;
    const { reads } = this;
    if (reads === null) return this.evaluate(step);
    // For the exits of a loop there is no cell.
    if (step.value?.kind !== 'exit' && !reads.mayChange(index)) return false;
    this.readAhead = false;
    reads.begin(index);
    const changed = this.evaluate(step);
    reads.end(index, this.readAhead);
    return changed;
  }

  private evaluate({ value, control }: Step): boolean {
    const old = value !== null ? this.taints[value.id] ?? 0 : this.own[control.id] ?? 0;
    const now = old | (value !== null ? this.transfer(value) | this.handedOn(value) : this.ownOf(control));
    if (now === old) return false;
    if (value !== null) this.taints[value.id] = now;
    else this.own[control.id] = now;
    this.cells.changed(value !== null ? value.id : this.taints.length + control.id);
    return true;
  }

  /** Does every step give what it gave? A solution does; the sweeps of loops rest on which steps cannot have changed, and tests ask. */
  isFixpoint(): boolean {
    this.solvedCalls.clear();
    return !this.defUse.steps.some((step) => this.evaluate(step));
  }

  /** The callees of a call as `solve` finds them, or found them as long as nothing has changed that it read. */
  solvedCallees(call: CallExpr, solve: () => readonly (Uniformity | null)[]): readonly (Uniformity | null)[] {
    // An answer that an earlier step asked for may have read what comes later, as that step did: this one is asked again too.
    this.readAhead = true;
    let known = this.solvedCalls.get(call);
    if (known === undefined || !this.cells.holds(known)) this.solvedCalls.set(call, known = this.cells.find(solve));
    return known.answer;
  }

  private ownOf(control: Control): number {
    switch (control.kind) {
      case 'branch': return control.condition === null ? UNKNOWN : taintOf(control.condition, this) & ~LOCAL;
      case 'jump': return this.joinOwn(control.deps);
      case 'unknown': return UNKNOWN;
      case 'loop': {
        const flow = control.loop;
        if (flow === null) return UNKNOWN;
        // What a range counts by is told by its iterators.
        const ranged = flow.loop.kind === 'range-for' && callsIterators(flow.loop) ? UNKNOWN : CONSTANT;
        const test = flow.condition === null || isOverArray(flow.loop) ? CONSTANT : taintOf(flow.condition, this) & ~LOCAL;
        const exit = ranged | test | this.joinOwn(flow.breaks) | this.everything;
        // Steps read it, and no expression.
        this.exits.set(flow, exit);
        return exit | this.joinOwn(flow.leaves);
      }
    }
  }

  private joinOwn(controls: readonly Control[]): number {
    let taint = CONSTANT;
    for (const control of controls) taint |= this.ownTaint(control);
    return taint;
  }

  private joinValues(ids: readonly number[]): number {
    let taint = CONSTANT;
    for (const id of ids) taint |= this.valueTaint(id);
    return taint;
  }

  private transfer(value: Value): number {
    switch (value.kind) {
      case 'parameter': return value.decl.index < 0 ? this.ownTaintAtStart() : this.parameter(value.decl.index, value.decl.pack);
      case 'undefined': return value.decl.type.kind === 'record' || value.decl.type.kind === 'array' || value.decl.type.kind === 'dependent' ? constructedTaint(value.decl.type, [], this) : CONSTANT;
      case 'declaration':
        return this.defUse.memoryReferences.has(value.decl) ? memoryReferenceTaint(value.init, this) : convertedTaint(value.init, value.decl.type, this);
      case 'assignment': {
        const previous = value.previous < 0 ? CONSTANT : this.valueTaint(value.previous);
        // The way to a part of the method's own object is no address that is put into it.
        const place = value.whole ? CONSTANT : placeTaint(value.node.target, this) & (value.decl === this.defUse.self ? ~LOCAL : ~0);
        return previous | place | (value.node.kind === 'assign' ? convertedTaint(value.node.value, value.node.target.type, this) : CONSTANT);
      }
      case 'join': return this.joinValues(value.inputs) | this.joinOwn(value.controls);
      // It changes from round to round: no constant, though all threads of the grid may agree in each round.
      case 'head': return this.joinValues(value.inputs) | GRID;
      case 'exit': return this.joinValues(value.inputs) | this.exitTaint(value.loop);
      // A reference to a number is no address; one to a pointer, or to what may hold one, carries it.
      case 'alias': return isNumber(value.decl) ? this.joinValues(value.inputs) & ~LOCAL : this.joinValues(value.inputs);
      case 'output': return outputTaint(value.call, value.output, value.previous < 0 ? CONSTANT : this.valueTaint(value.previous), this);
      // What assembler makes of an address is one.
      case 'unknown': return value.decl.type.kind === 'pointer' || this.mayBeLed(value.decl.type) ? UNKNOWN | LOCAL : UNKNOWN;
      case 'cell': {
        let taint = this.joinValues(value.inputs) | this.everything;
        for (const control of value.controls) taint |= this.chain(control);
        if (!value.addressed) return taint;
        return taint | this.localStore | this.foreignWrites() | (this.mayBeLed(value.decl.type) ? UNKNOWN | LOCAL : CONSTANT);
      }
    }
  }

  /** What the method's own object holds where it starts. */
  private ownTaintAtStart(): number {
    const { owner } = this.function;
    return owner !== null && recordHidesValue(owner) ? this.entry.self | UNKNOWN : this.entry.self;
  }

  private get hasForeignTypes(): boolean {
    return (this.foreignTypes ??= this.structure.dependent.some((type) => this.isForeign(type)));
  }

  /** May code run here that an instance's classes, or types that nothing declares, bring along: operators, constructors, destructors? */
  private get runsForeign(): boolean {
    return (this.foreignCode ??= this.structure.makesUndeclared || this.hasForeignTypes || this.structure.instances.some((type) => this.isForeignInstance(type)));
  }

  /** A variable that an instance's constructors and operators are given may be changed by them, or by whoever they leave it to. */
  private handedOn({ decl }: Value): number {
    const { given, ownGiven } = this.structure;
    return ((given.size > 0 && given.has(decl)) || (ownGiven && decl === this.defUse.self)) && this.hasForeignTypes ? UNKNOWN : CONSTANT;
  }

  /** An escaped variable may be written by any call that is not known. */
  private foreignWrites(): number {
    if (this.runsForeign) return UNKNOWN;
    for (const call of this.structure.calls) {
      const callee = call.callee;
      if (isForeignCall(call, this) || (isImplicit(call) && mayWriteOutside(call, this.env.program))) return UNKNOWN;
      if (callee.kind === 'unknown' || callee.kind === 'value' || (callee.kind === 'method' && callee.candidates.length === 0)) return UNKNOWN;
    }
    return this.structure.opaque || this.structure.hiddenCalls.length > 0 ? UNKNOWN : CONSTANT;
  }

  /** Stores through pointers that may lead to the thread's own objects, here and in callees; and whether an address goes to where it is not followed. */
  private collectStores(): void {
    if (!this.leaked && !this.handsOutAddresses()) return;
    if (this.runsForeign) this.stored(UNKNOWN);
    for (const { inputs } of this.structure.assembler) if (inputs.some((input) => (taintOf(input, this) & LOCAL) !== 0)) this.leak();
    if (this.leaked && this.structure.assembler.some(({ text }) => !asmMeaning(text).pure)) this.stored(UNKNOWN);
    for (const store of this.defUse.stores) {
      const address = this.isUnfollowed(store.target) || this.leadsBehindOwn(store.target) ? UNKNOWN | LOCAL : placeTaint(store.target, this);
      if (!this.leaked && store.node.kind === 'assign') this.keptInMemory(store.node.value);
      if ((address & LOCAL) === 0) continue;
      const value = store.node.kind === 'assign' ? taintOf(store.node.value, this) : CONSTANT;
      this.stored((address | value | this.chain(store.control)) & ~LOCAL);
    }
    for (const call of this.structure.calls) {
      let local = this.entry.self & LOCAL;
      const { callee } = call;
      // Whatever the object holds or leads to comes with it; what runs unnamed runs on an object that is not known.
      if (callee.kind === 'method') local |= taintOf(callee.object, this) & LOCAL;
      else if (callee.kind === 'value') local |= taintOf(callee.value, this) & LOCAL;
      if (isImplicit(call) || callHidesValue(call)) local |= LOCAL;
      for (const [position, argument] of call.arguments.entries()) {
        local |= taintOf(argument, this) & LOCAL;
        // One of several own objects by reference: the callee's parameter is it, whichever it is.
        if (callee.kind !== 'builtin' && (this.boundTo(argument) & LOCAL) !== 0 && this.mayBind(call, position)) this.stored(UNKNOWN);
      }
      if (local !== 0) {
        this.stored(callStores(call, this) | (this.chain(this.controlAt(call)) & ~LOCAL));
        if (!this.leaked && leaksByCall(call, this)) this.leak();
      } else if (this.leaked && storesUnasked(call, this)) this.stored(callStores(call, this) | (this.chain(this.controlAt(call)) & ~LOCAL));
    }
  }

  /** A value goes to memory. An address that it is made a number of is told by the cast (uniformity-values.ts). */
  private keptInMemory(value: Expr): void {
    const { type } = value;
    if (type.kind === 'float' || type.kind === 'bool') return;
    if ((taintOf(value, this) & LOCAL) !== 0 && carriesAddress(type)) this.leak();
  }

  /** Addresses of own objects are no longer followed from here on. */
  leak(): void {
    if (this.leaked) return;
    this.leaked = true;
    this.cells.changedForAll();
  }

  /** May what lies in memory, as a value of this type, lead to one of the thread's own objects? */
  mayBeLed(type: Type): boolean {
    return this.leaked && keepsAddresses(type);
  }

  /** Is an address assigned to what this reference, or the method's own object, stands for? */
  keepsAddress(decl: Variable): boolean {
    return this.defUse.values.some((value) => {
      if (value.decl !== decl) return false;
      if (value.kind === 'unknown') return true;
      if (value.kind === 'assignment') return value.node.kind === 'assign' && carriesAddress(value.node.value.type) && (taintOf(value.node.value, this) & LOCAL) !== 0;
      return value.kind === 'output' && leaksByCall(value.call, this);
    });
  }

  private stored(taint: number): void {
    this.storesThere = true;
    const all = this.storedThere | taint;
    if (all === this.storedThere) return;
    this.storedThere = all;
    this.cells.changed(this.taints.length + this.own.length);
  }

  /** Join of everything stored through pointers that may lead to the thread's own objects. */
  get localStore(): number {
    this.storeRead = true;
    this.cells.read(this.taints.length + this.own.length);
    return this.storedThere;
  }

  /** Is the lvalue (a part of) a reference of which no object is known? */
  private isUnfollowed(lvalue: Expr): boolean {
    const decl = rootOf(lvalue)?.decl ?? null;
    return decl !== null && decl.kind === 'variable' && decl.type.kind === 'reference' && decl.type.to.const !== true && !this.structure.aliases.has(decl) && !this.structure.ownAliases.has(decl) && !this.defUse.memoryReferences.has(decl);
  }

  /** Does the lvalue lie behind a pointer or reference in a variable that may hold the address of one of the thread's own objects? */
  private leadsBehindOwn(lvalue: Expr): boolean {
    const root = rootOf(lvalue);
    if (root === null || !leadsBehind(lvalue)) return false;
    return (taintOf(root.ref, this) & LOCAL) !== 0 || this.mayBeLed(valueType(root.decl.type));
  }

  /** May a call of something other than a built-in take an argument by a reference through which it is changed? */
  private mayBind(call: CallExpr, position: number): boolean {
    const { callee } = call;
    const around = codeOf(this.function);
    if ((callee.kind !== 'function' && callee.kind !== 'method') || callee.candidates.length === 0 || around === null) return true;
    return callee.candidates.some((candidate) => takes(candidate, position, call, around) !== 'value');
  }

  /** What a local reference to memory was bound to, through references to it; null for whatever else. */
  memoryBehind(decl: Variable): Expr | null {
    for (let at: Variable | undefined = decl; at !== undefined; at = this.structure.aliases.get(at)?.decl) {
      if (at.kind === 'variable' && this.defUse.memoryReferences.has(at)) return at.init;
    }
    return null;
  }

  /** Element of the address that a reference to this argument would hold, if it lies in memory. */
  private boundTo(argument: Expr): number {
    if (this.isUnfollowed(argument)) return UNKNOWN | LOCAL;
    const root = rootOf(argument);
    const behind = root === null ? null : this.memoryBehind(root.decl);
    const e = strip(behind ?? argument);
    switch (e.kind) {
      case 'unary': return e.op !== '*' || rootOf(e) !== null ? CONSTANT : placeTaint(e, this);
      case 'index': case 'member': return rootOf(e) !== null ? CONSTANT : placeTaint(e, this);
      case 'cast': return e.reference !== undefined || e.style !== 'c' ? this.boundTo(e.operand) : CONSTANT;
      case 'conditional': return this.boundTo(e.then) | this.boundTo(e.else);
      case 'binary': return e.op === ',' ? this.boundTo(e.right) : CONSTANT;
      case 'assign': case 'update': return this.boundTo(e.target);
      case 'call': return returnedPlace(e, this);
      default: return CONSTANT;
    }
  }

  /** Can a call get a pointer to one of the thread's own objects at all? */
  private handsOutAddresses(): boolean {
    return this.structure.addressed.size > 0 || keptIn(this.structure).size > 0 || (this.entry.self & LOCAL) !== 0 || this.entry.parameters.some((taint) => (taint & LOCAL) !== 0) || this.defUse.finals.get(this.defUse.self) !== undefined && this.function.owner !== null;
  }

  // ------------------------------------------------------------------------------------------------------------ queries

  /** Is the type that of an instance of a class template with such a type? */
  isForeignInstance(type: RecordType): boolean {
    return (this.entry.foreign && type.templateArguments !== undefined) || givesForeign(type, this.env.program);
  }

  /** May the type of a template parameter, or one made from it, be none of a number's kind in what this solution speaks of? */
  isForeign(type: Type): boolean {
    return isDependent(type) && (this.entry.foreign || judge(type, this.function, this.env.program).foreign !== null);
  }

  parameter(index: number, pack: boolean): number {
    const taints = this.entry.parameters;
    if (!pack) return taints[index] ?? UNKNOWN;
    let taint = CONSTANT;
    for (let i = index; i < taints.length; i++) taint |= taints[i] ?? UNKNOWN;
    return taint;
  }

  valueTaint(id: number): number {
    if (id < 0) return UNKNOWN;
    if ((this.defUse.valueSteps[id] ?? 0) >= this.at) this.readAhead = true;
    this.cells.read(id);
    return this.taints[id] ?? UNKNOWN;
  }

  ownTaint(control: Control): number {
    if ((this.defUse.controlSteps[control.id] ?? 0) >= this.at) this.readAhead = true;
    this.cells.read(this.taints.length + control.id);
    return this.own[control.id] ?? UNKNOWN;
  }

  /** What decides in which iteration a thread leaves the loop for the text behind it. */
  exitTaint(flow: LoopFlow): number {
    return this.exits.get(flow) ?? CONSTANT;
  }

  /** Join of all controls from here outwards. */
  chain(control: Control | null): number {
    let taint = this.everything;
    for (let c = control; c !== null; c = c.parent) taint |= this.ownTaint(c);
    return taint;
  }

  controlAt(node: Node): Control | null {
    for (let n: Node | undefined = node; n !== undefined; n = this.structure.parents.get(n)) {
      const control = this.defUse.controlOf.get(n);
      if (control !== undefined) return control;
    }
    return null;
  }

  /** Who arrives at a node: what decides it inside this function, and what decides that the function is called. */
  arrivalAt(node: Node): number {
    let taint = this.entry.arrival;
    for (let c = this.controlAt(node); c !== null; c = c.parent) taint |= this.ownTaint(c);
    const from = this.defUse.unstructuredFrom;
    if (from !== null && node.span.end > from) taint |= this.everything;
    return taint;
  }

  taint(expr: Expr): number {
    return taintOf(expr, this);
  }

  /** Element of the returned value. */
  returned(): number {
    return this.result;
  }

  /** The join over all returns, and of what decides between them. */
  private collectReturns(): number {
    let taint = CONSTANT;
    for (const site of this.defUse.returns) {
      if (site.value !== null) taint |= convertedTaint(site.value, this.function.returns, this);
      if (this.defUse.returns.length > 1 || site.control !== null) taint |= this.chain(site.control) & ~LOCAL;
    }
    return taint;
  }

  /** May the address of the method's own object go where it is not followed, or to the caller with what the method returns? */
  get ownGoesOut(): boolean {
    return this.structure.ownEscapes || (this.ownOutlives ??= this.function.owner !== null && ownOutlives(this.function));
  }

  private ownOutlives: boolean | null = null;

  /** Where the references that are returned lie; nowhere for values. */
  returnedPlace(): number {
    if (this.function.returns.kind !== 'reference' && this.function.returns.kind !== 'unknown' && this.function.returns.kind !== 'dependent') return CONSTANT;
    // What calls itself returns nothing else than its other returns do.
    if (this.placing) return CONSTANT;
    this.placing = true;
    let taint = CONSTANT;
    for (const site of this.defUse.returns) if (site.value !== null) taint |= placeTaint(site.value, this);
    this.placing = false;
    return taint;
  }

  /** Element of what is left in a parameter that is a reference, or in the object. */
  finalTaint(decl: Variable): number {
    const id = this.defUse.finals.get(decl);
    return id === undefined ? UNKNOWN : this.valueTaint(id);
  }

  /** May pointers lead to the object that the method runs on: one that was handed out before, or that lies in a local of the method? */
  get ownIsLedTo(): boolean {
    return this.structure.ownEscapes || (this.entry.self & LOCAL) !== 0;
  }

  /** Contents of the object that the method runs on, at its start joined with every change. */
  selfTaint(): number {
    let taint = this.entry.self;
    for (const value of this.defUse.values) if (value.decl === this.defUse.self) taint |= this.valueTaint(value.id);
    return taint;
  }

  call(expr: Expr & { kind: 'call' }): number {
    return callTaint(expr, this);
  }
}

function isNumber(decl: Variable): boolean {
  const type = valueType(decl.type);
  return type.kind === 'bool' || type.kind === 'int' || type.kind === 'float' || type.kind === 'enum';
}

function callStores(call: Expr & { kind: 'call' }, state: Uniformity): number {
  return state.world.storesOfCall(call, state);
}
