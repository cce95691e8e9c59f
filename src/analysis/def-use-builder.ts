/**
 * Builds the def-use form of def-use.ts in one walk in evaluation order.
 *
 * Current values, frames, joins and jumps are kept by def-use-tables.ts; here is what each node of the tree does to them.
 */
import { strip, type Node } from './children.js';
import { collectControls, type Control, type LoopFlow } from './control-flow.js';
import type { DefUse, ReturnSite, StoreSite, Value } from './def-use.js';
import { DefUseTables, NOTHING, type Delta, type Way } from './def-use-tables.js';
import type { Loop, Variable } from './facts.js';
import { codeOf } from './function-code.js';
import { outlives } from './address-fate.js';
import { isMember, rootOf, variableOf, type Root } from './lvalues.js';
import { assignsOwnObject, structureOf } from './structure.js';
import type { AssignExpr, CallExpr, Expr, FunctionDecl, RefExpr, Stmt, SwitchStmt, ThisExpr, UpdateExpr, VariableDecl } from '../syntax/tree.js';

interface OpenTarget {
  readonly depth: number;
  readonly loop: Loop | null;
  /** Frames that were open when the target began: a jump takes along what lies above. */
  readonly frames: number;
  /** The same for `continue`. */
  bodyFrames: number;
}

const CACHE = new WeakMap<FunctionDecl, DefUse>();

/** Def-use of a function, computed once. A function without a body has parameters only. */
export function defUseOf(fn: FunctionDecl): DefUse {
  const known = CACHE.get(fn);
  if (known !== undefined) return known;
  const built = new Builder(fn).run();
  CACHE.set(fn, built);
  return built;
}

class Builder extends DefUseTables {
  private readonly reads = new Map<RefExpr | ThisExpr, number>();
  private readonly controlOf = new Map<Node, Control | null>();
  private readonly loopFlows = new Map<Node, LoopFlow>();
  private readonly returns: ReturnSite[] = [];
  private readonly stores: StoreSite[] = [];
  private readonly memoryReferences = new Set<Variable>();
  private readonly targets: OpenTarget[] = [];
  /** Controls do not matter inside lambdas: they run elsewhere. */
  private lambdaDepth = 0;
  private loopDepth = 0;
  /** Some node stands in several places. */
  private shared = false;

  run(): DefUse {
    this.cyclic = this.unstructured;
    this.define(this.self, this.add({ kind: 'parameter', decl: this.self }));
    for (const parameter of this.fn.parameters) this.declareAs(parameter, { kind: 'parameter', decl: parameter });
    const finals = new Map<Variable, number>();
    const code = codeOf(this.fn);
    if (code !== null) {
      this.targets.push({ depth: 0, loop: null, frames: 0, bodyFrames: 0 });
      this.frames.push(new Map());
      this.statement(code);
      const end: Way = this.dead ? null : this.popFrame();
      if (this.dead) this.popFrame();
      const ways: Way[] = [end];
      const decides: Control[] = [];
      for (const jump of this.jumps) {
        ways.push(jump.delta);
        collectControls(jump.control, null, null, decides);
      }
      this.dead = false;
      this.join(ways, decides, code);
      for (const parameter of this.fn.parameters) {
        if (parameter.type.kind === 'reference') finals.set(parameter, this.env.get(parameter) ?? -1);
      }
      finals.set(this.self, this.env.get(this.self) ?? -1);
    }
    let from: number | null = null;
    for (const node of [...this.structure.gotos, ...this.structure.labels]) from = Math.min(from ?? node.span.start, node.span.start);
    return {
      values: this.values, controls: this.controls, steps: this.steps, regions: this.regions, cellular: this.cells.size > 0 || this.shared, reads: this.reads, controlOf: this.controlOf, loops: this.loopFlows,
      returns: this.returns, stores: this.stores, finals, self: this.self, cyclic: this.cyclic, unstructuredFrom: this.unstructured ? from : null, memoryReferences: this.memoryReferences,
    };
  }

  // --------------------------------------------------------------------------------------------------------- statements

  private statement(node: Stmt): void {
    this.controlOf.set(node, this.control);
    switch (node.kind) {
      case 'compound': for (const inner of node.body) this.statement(inner); return;
      case 'declare': for (const variable of node.variables) this.declaration(variable, node); return;
      case 'expression': this.expression(node.expression); return;
      case 'empty': return;
      case 'if': {
        const since = this.jumps.length;
        const outside = this.control;
        if (node.init !== null) this.statement(node.init);
        if (node.conditionDecl !== null) this.declaration(node.conditionDecl, node);
        this.expression(node.condition);
        const wasDead = this.dead;
        const thenControl = this.branch(node.condition, 'then', node);
        const then = this.arm(thenControl, () => this.statement(node.then));
        this.control = outside;
        this.dead = wasDead;
        const elseStmt = node.else;
        const other: Way = elseStmt === null ? NOTHING : this.arm(this.branch(node.condition, 'else', node), () => this.statement(elseStmt));
        this.control = outside;
        this.dead = wasDead;
        this.join([then, other], [thenControl], node);
        this.dead ||= wasDead;
        this.afterJumps(since, node);
        return;
      }
      case 'for': case 'while': case 'do': case 'range-for': this.loop(node); return;
      case 'switch': this.switch(node); return;
      case 'break': this.jump('break'); return;
      case 'continue': this.jump('continue'); return;
      case 'return':
        if (node.value !== null) this.expression(node.value);
        if (this.lambdaDepth === 0) {
          this.returns.push({ value: node.value, control: this.control, node });
          this.jumps.push({ control: this.control, target: { depth: 0, kind: 'return' }, delta: this.deltaSince(0) });
        }
        this.dead = true;
        return;
      case 'goto': this.dead = true; return;
      case 'label': this.dead = false; this.statement(node.body); return;
      case 'asm':
        for (const input of node.inputs) this.expression(input);
        for (const output of node.outputs) {
          this.expression(output);
          const root = rootOf(output);
          if (root !== null) this.unknownTo(root, node, 'written by inline asm');
          else if (assignsOwnObject(output)) this.set(this.self, this.add({ kind: 'unknown', decl: this.self, node, why: 'written by inline asm', previous: this.current(this.self) }).id);
        }
        return;
      case 'preprocessor':
        for (const arm of node.arms) if (arm.active) for (const inner of arm.body) this.statement(inner);
        return;
      case 'macro-statement': this.statement(node.expanded); return;
      case 'opaque': this.opaque(node); return;
    }
  }

  private arm(control: Control, body: () => void): Way {
    this.control = control;
    this.pushFrame();
    body();
    const delta = this.popFrame();
    return this.dead ? null : delta;
  }

  private jump(kind: 'break' | 'continue'): void {
    for (let i = this.targets.length - 1; i > 0; i--) {
      const target = this.targets[i];
      if (target === undefined || (kind === 'continue' && target.loop === null)) continue;
      const frames = kind === 'continue' ? target.bodyFrames : target.frames;
      this.jumps.push({ control: this.control, target: { depth: target.depth, kind }, delta: this.deltaSince(frames) });
      break;
    }
    this.dead = true;
  }

  private declaration(variable: VariableDecl, at: Stmt): void {
    if (variable.init !== null) this.expression(variable.init);
    const decl = variableOf(variable);
    if (decl === null) return;
    if (variable.type.kind === 'reference' && variable.init !== null && !variable.opaqueInit && !this.structure.aliases.has(variable)) {
      const lvalue = strip(variable.init);
      if (lvalue.kind === 'index' || lvalue.kind === 'member' || lvalue.kind === 'unary' || lvalue.kind === 'ref' || lvalue.kind === 'conditional') this.memoryReferences.add(variable);
    }
    if (variable.opaqueInit) this.declareAs(decl, { kind: 'unknown', decl, node: at, why: `\`${variable.name}\` is not an ordinary variable`, previous: -1 });
    else if (variable.init !== null) this.declareAs(decl, { kind: 'declaration', decl: variable, init: variable.init });
    else if (variable.type.kind === 'unknown') this.declareAs(decl, { kind: 'unknown', decl, node: at, why: `type of \`${variable.name}\` is not known`, previous: -1 });
    else this.declareAs(decl, { kind: 'undefined', decl: variable });
  }

  private opaque(node: Stmt | Expr): void {
    for (const decl of [...this.env.keys()]) {
      this.define(decl, this.add({ kind: 'unknown', decl, node, why: 'text that is not understood', previous: this.current(decl) }));
    }
  }

  private loop(node: Loop): void {
    this.cyclic = true;
    this.loopDepth += 1;
    const since = this.jumps.length;
    const outside = this.control;
    if (node.kind === 'for') this.statement(node.init);
    if (node.kind === 'range-for') this.expression(node.range);
    const condition = node.kind === 'range-for' ? node.range : node.condition;
    const flow: LoopFlow = { loop: node, condition: endless(condition) ? null : condition, breaks: [], leaves: [] };
    this.loopFlows.set(node, flow);
    const depth = this.targets.length;
    this.pushFrame();
    const firstStep = this.steps.length;
    const heads = this.openHeads(node, flow);
    const control = this.addControl({ parent: outside, kind: 'loop', condition: null, sense: null, node, loop: flow, deps: [], target: null });
    this.control = control;
    const target: OpenTarget = { depth, loop: node, frames: this.frames.length - 1, bodyFrames: this.frames.length };
    this.targets.push(target);
    const wasDead = this.dead;
    let atExit: Way = null;
    const test = (): void => {
      if (node.kind !== 'do' && node.kind !== 'range-for' && node.conditionDecl !== null) this.declaration(node.conditionDecl, node);
      if (node.kind !== 'range-for' && node.condition !== null) {
        this.controlOf.set(node.condition, control);
        this.expression(node.condition);
      }
      atExit = flow.condition === null || this.dead ? null : new Map(this.deltaSince(target.frames));
    };
    if (node.kind !== 'do') test();
    if (node.kind === 'range-for') this.rangeVariable(node);
    this.pushFrame();
    this.statement(node.body);
    const end = this.popFrame();
    const ways: Way[] = [this.dead ? null : end];
    const latch: Control[] = [];
    for (const jump of this.takeJumps(since, (j) => j.target.depth === depth && j.target.kind === 'continue')) {
      ways.push(jump.delta);
      collectControls(jump.control, control, jump.target, latch);
    }
    this.control = control;
    this.dead = false;
    this.join(ways, latch, node.body);
    if (node.kind === 'do') test();
    if (node.kind === 'for' && node.step !== null) {
      this.controlOf.set(node.step, control);
      this.expression(node.step);
    }
    if (!this.dead) for (const [decl, head] of heads) head.inputs.push(this.current(decl));
    this.targets.pop();
    this.popFrame();
    this.closeLoop(node, flow, control, outside, since, depth, atExit);
    if (wasDead) this.dead = true;
    this.loopDepth -= 1;
    if (this.loopDepth === 0) this.regions.push({ from: firstStep, to: this.steps.length });
  }

  private openHeads(node: Loop, flow: LoopFlow): Map<Variable, Value & { kind: 'head' }> {
    const heads = new Map<Variable, Value & { kind: 'head' }>();
    const assigned = this.structure.opaqueLoops.has(node) ? this.env.keys() : this.structure.assignedIn.get(node) ?? [];
    const open = (decl: Variable): void => {
      const entry = this.env.get(decl);
      if (entry === undefined || this.cells.has(decl) || heads.has(decl)) return;
      const head = this.add({ kind: 'head', decl, inputs: [entry], loop: flow });
      if (head.kind === 'head') heads.set(decl, head);
      this.set(decl, head.id);
    };
    for (const decl of [...assigned]) open(decl);
    if (this.structure.assignsThis) open(this.self);
    return heads;
  }

  private rangeVariable(node: Loop & { kind: 'range-for' }): void {
    const decl = variableOf(node.variable);
    if (decl === null) return;
    if (rootOf(node.range) !== null && node.variable.type.kind !== 'reference') this.declareAs(decl, { kind: 'declaration', decl: node.variable, init: node.range });
    else this.declareAs(decl, { kind: 'unknown', decl, node, why: `elements of a range in \`${node.variable.name}\``, previous: -1 });
  }

  /** Joins the ways out of a loop. Every variable that the loop assigns gets a value of its own: threads leave at different times. */
  private closeLoop(node: Loop, flow: LoopFlow, control: Control, outside: Control | null, since: number, depth: number, atExit: Way): void {
    const exits: Way[] = [atExit];
    for (const jump of this.takeJumps(since, (j) => j.target.depth === depth && j.target.kind === 'break')) {
      exits.push(jump.delta);
      collectControls(jump.control, control, jump.target, flow.breaks);
    }
    for (let i = since; i < this.jumps.length; i++) collectControls(this.jumps[i]?.control ?? null, control, null, flow.leaves);
    // The controls inside are known now: the loop's own is computed again.
    this.steps.push({ value: null, control });
    this.control = outside;
    const live: Delta[] = [];
    for (const way of exits) if (way !== null) live.push(way);
    this.dead = live.length === 0;
    const changed = new Set<Variable>();
    for (const way of live) for (const decl of way.keys()) changed.add(decl);
    for (const decl of changed) {
      const before = this.env.get(decl);
      if (before === undefined) continue;
      const inputs: number[] = [];
      for (const way of live) {
        const id = way.get(decl) ?? before;
        if (!inputs.includes(id)) inputs.push(id);
      }
      this.set(decl, this.add({ kind: 'exit', decl, inputs, loop: flow }).id);
    }
    this.afterJumps(since, node);
  }

  private switch(node: SwitchStmt): void {
    const since = this.jumps.length;
    const outside = this.control;
    if (node.init !== null) this.statement(node.init);
    if (node.conditionDecl !== null) this.declaration(node.conditionDecl, node);
    this.expression(node.condition);
    const wasDead = this.dead;
    const depth = this.targets.length;
    this.targets.push({ depth, loop: null, frames: this.frames.length, bodyFrames: this.frames.length });
    const decides: Control[] = [];
    let before: Way = null;
    let hasDefault = false;
    let fallsSince = since;
    for (const arm of node.arms) {
      if (arm.labels.includes(null)) hasDefault = true;
      const previous: Way = before;
      this.control = outside;
      // Who falls into this arm has not jumped in the arms before.
      if (previous === null) fallsSince = this.jumps.length;
      else this.afterJumps(fallsSince, node);
      const control = this.branch(node.condition, 'case', node);
      if (decides.length === 0) decides.push(control);
      before = this.arm(control, () => {
        this.dead = wasDead;
        if (previous !== null) this.join([NOTHING, previous], [control], node);
        for (const inner of arm.body) this.statement(inner);
      });
    }
    this.targets.pop();
    this.control = outside;
    const ways: Way[] = [before];
    if (!hasDefault) ways.push(NOTHING);
    for (const jump of this.takeJumps(since, (j) => j.target.depth === depth)) {
      ways.push(jump.delta);
      collectControls(jump.control, outside, jump.target, decides);
    }
    this.join(ways, decides, node);
    this.dead ||= wasDead;
    this.afterJumps(since, node);
  }

  // -------------------------------------------------------------------------------------------------------- expressions

  private expression(node: Expr): void {
    switch (node.kind) {
      case 'literal': case 'coordinate': case 'sizeof': return;
      case 'ref': this.read(node); return;
      case 'this': this.record(node, this.current(this.self)); return;
      case 'paren': this.expression(node.inner); return;
      case 'macro': this.expression(node.expanded); return;
      case 'binary':
        if (node.op === '&&' || node.op === '||') {
          this.controlOf.set(node, this.control);
          this.expression(node.left);
          this.lazily(node.left, node.op === '&&' ? 'then' : 'else', node.right, node);
        } else {
          this.expression(node.left);
          this.expression(node.right);
        }
        return;
      case 'conditional': {
        this.controlOf.set(node, this.control);
        this.expression(node.condition);
        const outside = this.control;
        const thenControl = this.branch(node.condition, 'then', node);
        const then = this.operand(thenControl, node.then);
        this.control = outside;
        const other = this.operand(this.branch(node.condition, 'else', node), node.else);
        this.control = outside;
        if (then.size > 0 || other.size > 0) this.join([then, other], [thenControl], node);
        return;
      }
      case 'assign': this.assignment(node); return;
      case 'update': this.update(node); return;
      case 'call': this.call(node); return;
      case 'lambda': this.lambda(node); return;
      case 'opaque': this.opaque(node); return;
      case 'unary': this.expression(node.operand); return;
      case 'index': this.expression(node.base); this.expression(node.index); return;
      case 'member': this.expression(node.object); return;
      case 'cast': this.expression(node.operand); return;
      case 'construct': for (const argument of node.arguments) this.expression(argument); this.bound(node); return;
      case 'init-list': for (const element of node.elements) this.expression(element); this.bound(node); return;
    }
  }

  private bound(node: Expr): void {
    for (const root of this.structure.bound.get(node) ?? []) this.unknownTo(root, node, 'bound by an object that is made here');
  }

  private lazily(condition: Expr, sense: 'then' | 'else', operand: Expr, node: Expr): void {
    const outside = this.control;
    const control = this.branch(condition, sense, node);
    const delta = this.operand(control, operand);
    this.control = outside;
    if (delta.size > 0) this.join([NOTHING, delta], [control], node);
  }

  private operand(control: Control, operand: Expr): Delta {
    this.control = control;
    this.controlOf.set(operand, control);
    this.pushFrame();
    this.expression(operand);
    return this.popFrame();
  }

  private record(node: RefExpr | ThisExpr, id: number): void {
    const earlier = this.reads.get(node);
    if (earlier !== undefined && earlier !== id) {
      // One node stands in two places of the tree: what it reads depends on the place.
      // What read it before reads a later value now: one sweep is not enough.
      this.cyclic = true;
      this.shared = true;
      const decl = this.values[id]?.decl ?? this.self;
      this.reads.set(node, this.add({ kind: 'unknown', decl, node, why: 'one text for several places', previous: -1 }).id);
      return;
    }
    this.reads.set(node, id);
  }

  private read(node: RefExpr): void {
    if (isMember(node.decl)) { this.record(node, this.current(this.self)); return; }
    const decl = variableOf(node.decl);
    if (decl === null) return;
    const id = this.current(decl);
    const alias = this.structure.aliases.get(decl);
    if (alias === undefined) { this.record(node, id); return; }
    this.record(node, this.add({ kind: 'alias', decl, inputs: [this.aliased(alias), id] }).id);
  }

  /** The current value of what a reference stands for, through references to references. */
  private aliased(root: Root): number {
    const next = this.structure.aliases.get(root.decl);
    return next === undefined ? this.current(root.decl) : this.aliased(next);
  }

  private target(root: Root): { decl: Variable; whole: boolean } {
    const next = this.structure.aliases.get(root.decl);
    if (next === undefined) return { decl: root.decl, whole: root.whole };
    const inner = this.target(next);
    return { decl: inner.decl, whole: root.whole && inner.whole };
  }

  private assignment(node: AssignExpr): void {
    this.expression(node.value);
    this.expression(node.target);
    this.assign(node, node.target, node.op !== null);
  }

  private update(node: UpdateExpr): void {
    this.expression(node.target);
    this.assign(node, node.target, true);
  }

  private assign(node: AssignExpr | UpdateExpr, target: Expr, reads: boolean): void {
    const root = rootOf(target);
    if (root === null) {
      const lvalue = strip(target);
      if (lvalue.kind === 'conditional') {
        for (const side of [lvalue.then, lvalue.else]) {
          const part = rootOf(side);
          if (part !== null) this.unknownTo(part, node, 'assigned through `?:`');
        }
      } else if (assignsOwnObject(target)) {
        this.set(this.self, this.add({ kind: 'assignment', decl: this.self, node, previous: this.current(this.self), whole: false, control: this.control }).id);
      } else this.stores.push({ node, target, control: this.control });
      return;
    }
    const { decl, whole } = this.target(root);
    if (this.memoryReferences.has(decl)) {
      if (decl.kind === 'variable' && decl.init !== null) this.stores.push({ node, target: decl.init, control: this.control });
      return;
    }
    const previous = whole && !reads ? -1 : this.current(decl);
    const value = this.add({ kind: 'assignment', decl, node, previous, whole, control: this.control });
    this.define(decl, value);
    // The name on the left of a plain assignment stands for the new value.
    if (whole && !reads && this.structure.aliases.get(root.decl) === undefined) this.reads.set(root.ref, this.cells.get(decl)?.id ?? value.id);
  }

  private unknownTo(root: Root, node: Expr | Stmt, why: string): void {
    const { decl } = this.target(root);
    this.define(decl, this.add({ kind: 'unknown', decl, node, why, previous: this.current(decl) }));
  }

  private call(node: CallExpr): void {
    this.controlOf.set(node, this.control);
    if (node.callee.kind === 'method') this.expression(node.callee.object);
    else if (node.callee.kind === 'value') this.expression(node.callee.value);
    for (const argument of node.arguments) this.expression(argument);
    for (const output of this.structure.outputs.get(node) ?? []) {
      const { decl } = this.target(output.root);
      if (this.kept.has(decl) && outlives(node, output, this.structure.parents)) this.unknownTo(output.root, node, 'its address outlives this call');
      if (this.memoryReferences.has(decl) || (output.how === 'reference' && leavesAlone(node, output.argument))) continue;
      this.define(decl, this.add({ kind: 'output', decl, call: node, output, previous: this.current(decl), control: this.control }));
    }
    const own = node.callee.kind === 'method' && assignsOwnObject(node.callee.object);
    if (own || node.arguments.some((argument) => assignsOwnObject(argument))) {
      this.set(this.self, this.add({ kind: 'unknown', decl: this.self, node, why: 'a call may change the object', previous: this.current(this.self) }).id);
    }
  }

  /** The body of a lambda runs elsewhere: its parameters and the threads that run it are not known. */
  private lambda(node: Expr & { kind: 'lambda' }): void {
    const outside = this.control;
    const wasDead = this.dead;
    const jumps = this.jumps;
    const targets = this.targets.splice(0);
    this.jumps = [];
    this.lambdaDepth += 1;
    this.pushFrame();
    this.targets.push({ depth: 0, loop: null, frames: this.frames.length, bodyFrames: this.frames.length });
    this.control = this.addControl({ parent: null, kind: 'unknown', condition: null, sense: null, node, loop: null, deps: [], target: null });
    for (const parameter of node.parameters) this.declareAs(parameter, { kind: 'unknown', decl: parameter, node, why: `\`${parameter.name}\` is a parameter of a lambda`, previous: -1 });
    this.statement(node.body);
    this.popFrame();
    this.lambdaDepth -= 1;
    this.targets.length = 0;
    this.targets.push(...targets);
    this.jumps = jumps;
    this.control = outside;
    this.dead = wasDead;
  }
}

/** Is the reference that this argument is passed by only read in every body that the call may run? */
function leavesAlone(call: CallExpr, argument: number): boolean {
  const { callee } = call;
  const candidates = callee.kind === 'function' || callee.kind === 'method' ? callee.candidates : [];
  return candidates.length > 0 && candidates.every((candidate) => {
    const parameter = candidate.parameters[argument];
    if (candidate.body === null || parameter === undefined || parameter.pack) return false;
    const { assignments, escaped, opaque } = structureOf(candidate);
    return !opaque && !escaped.has(parameter) && !assignments.some((assignment) => assignment.decl === parameter);
  });
}

/** `for (;;)`, `while (true)`, `while (1)`: no thread leaves by the condition. */
function endless(condition: Expr | null): boolean {
  if (condition === null) return true;
  const e = strip(condition);
  return e.kind === 'literal' && (e.value === true || (typeof e.value === 'bigint' && e.value !== 0n));
}
