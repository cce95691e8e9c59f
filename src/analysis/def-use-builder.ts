/**
 * Builds the def-use form of def-use.ts in one walk in evaluation order.
 *
 * Current values, frames, joins and jumps are kept by def-use-tables.ts, what expressions do to them stands in def-use-expressions.ts; here are the statements.
 */
import { strip, type Node } from './children.js';
import { collectControls, type Control, type LoopFlow } from './control-flow.js';
import type { DefUse, ReturnSite, Value } from './def-use.js';
import { DefUseExpressions, type OpenTarget } from './def-use-expressions.js';
import { NOTHING, type Delta, type Way } from './def-use-tables.js';
import type { Loop, Variable } from './facts.js';
import { codeOf } from './function-code.js';
import { callsIterators } from './implicit-calls.js';
import { rootOf, rootsOf, variableOf } from './lvalues.js';
import { assignsOwnObject, isOwnPart } from './own-object.js';
import { bindsParts, forEachRef } from './structure.js';
import type { Expr, FunctionDecl, Stmt, SwitchStmt, VariableDecl } from '../syntax/tree.js';

const CACHE = new WeakMap<FunctionDecl, DefUse>();

/** Def-use of a function, computed once. A function without a body has parameters only. */
export function defUseOf(fn: FunctionDecl): DefUse {
  const known = CACHE.get(fn);
  if (known !== undefined) return known;
  const built = new Builder(fn).run();
  CACHE.set(fn, built);
  return built;
}

class Builder extends DefUseExpressions {
  private readonly loopFlows = new Map<Node, LoopFlow>();
  private readonly returns: ReturnSite[] = [];
  private loopDepth = 0;

  run(): DefUse {
    this.cyclic = this.unstructured;
    this.declareAs(this.self, { kind: 'parameter', decl: this.self });
    for (const parameter of this.fn.parameters) this.declareAs(parameter, { kind: 'parameter', decl: parameter });
    const finals = new Map<Variable, number>();
    const code = codeOf(this.fn);
    if (code !== null) {
      this.targets.push({ depth: 0, loop: null, frames: 0, bodyFrames: 0 });
      this.pushFrame();
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
    const valueSteps = new Int32Array(this.values.length);
    const controlSteps = new Int32Array(this.controls.length);
    this.steps.forEach((step, i) => {
      if (step.value !== null) valueSteps[step.value.id] = i;
      else controlSteps[step.control.id] = i;
    });
    return {
      values: this.values, controls: this.controls, steps: this.steps, valueSteps, controlSteps, regions: this.regions, cellular: this.cells.size > 0 || this.shared, reads: this.reads, controlOf: this.controlOf, loops: this.loopFlows,
      returns: this.returns, stores: this.stores, finals, self: this.self, cyclic: this.cyclic, unstructuredFrom: this.unstructured ? from : null, memoryReferences: this.memoryReferences,
    };
  }

  // --------------------------------------------------------------------------------------------------------- statements

  protected statement(node: Stmt): void {
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
          for (const root of rootsOf(output)) this.unknownTo(root, node, 'written by inline asm');
          if (assignsOwnObject(output)) this.ownUnknown(node, 'written by inline asm');
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
    if (variable.type.kind === 'reference' && variable.init !== null && !variable.opaqueInit && !this.structure.aliases.has(variable) && !this.structure.ownAliases.has(variable)) {
      if (rootsOf(variable.init).length > 0 || isOwnPart(variable.init)) {
        this.declareAs(decl, { kind: 'unknown', decl, node: at, why: `\`${variable.name}\` is one of several objects`, previous: -1 });
        return;
      }
      const lvalue = strip(variable.init);
      if (lvalue.kind === 'index' || lvalue.kind === 'member' || lvalue.kind === 'unary' || lvalue.kind === 'ref' || lvalue.kind === 'conditional') this.memoryReferences.add(variable);
    }
    if (variable.init !== null && bindsParts(variable)) this.boundParts(variable.init, at);
    if (variable.opaqueInit) this.declareAs(decl, { kind: 'unknown', decl, node: at, why: `\`${variable.name}\` is not an ordinary variable`, previous: -1 });
    else if (variable.init !== null) this.declareAs(decl, { kind: 'declaration', decl: variable, init: variable.init });
    else if (variable.type.kind === 'unknown') this.declareAs(decl, { kind: 'unknown', decl, node: at, why: `type of \`${variable.name}\` is not known`, previous: -1 });
    else this.declareAs(decl, { kind: 'undefined', decl: variable });
  }

  /** Names of a structured binding by reference are parts of what is bound: what is written to them is not followed. */
  private boundParts(init: Expr, at: Stmt): void {
    forEachRef(init, (ref) => {
      const decl = variableOf(ref.decl);
      if (decl !== null) this.unknownTo({ decl, ref, whole: false }, at, 'a structured binding may write it');
    });
  }

  private loop(node: Loop): void {
    this.cyclic = true;
    this.loopDepth += 1;
    const since = this.jumps.length;
    const outside = this.control;
    if (node.kind === 'for') this.statement(node.init);
    if (node.kind === 'range-for') {
      this.expression(node.range);
      this.bound(node);
    }
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
      atExit = flow.condition === null || this.dead ? null : this.deltaSince(target.frames);
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
    const range = rootOf(node.range);
    this.bound(node);
    const iterators = callsIterators(node);
    // Through a reference to the elements the body may write them.
    if (node.variable.type.kind === 'reference' && node.variable.type.to.const !== true) for (const root of rootsOf(node.range)) this.unknownTo(root, node, `elements are written through \`${node.variable.name}\``);
    if (range !== null && !iterators && node.variable.type.kind !== 'reference') this.declareAs(decl, { kind: 'declaration', decl: node.variable, init: node.range });
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

}

/** `for (;;)`, `while (true)`, `while (1)`: no thread leaves by the condition. */
function endless(condition: Expr | null): boolean {
  if (condition === null) return true;
  const e = strip(condition);
  return e.kind === 'literal' && (e.value === true || (typeof e.value === 'bigint' && e.value !== 0n));
}
