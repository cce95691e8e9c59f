/**
 * What expressions do to the current values of variables: reads, assignments, calls with what they leave behind, lambdas, operands that are evaluated for some threads
 * only. The statements around them are the work of def-use-builder.ts.
 */
import { outlives } from './address-fate.js';
import { changesCalled } from './call-outputs.js';
import type { Node } from './children.js';
import type { Control } from './control-flow.js';
import type { StoreSite } from './def-use.js';
import { DefUseTables, NOTHING, type Delta } from './def-use-tables.js';
import type { Loop, Variable } from './facts.js';
import { isMember, leadsOut, rootOf, rootsOf, variableOf, type Root } from './lvalues.js';
import { assignmentCopies } from './object-lives.js';
import { assignsOwnObject } from './own-object.js';
import { leadsBehind, structureOf } from './structure.js';
import { isDependent } from './template-types.js';
import type { AssignExpr, CallExpr, Expr, RefExpr, Stmt, ThisExpr, UpdateExpr } from '../syntax/tree.js';

/** A statement that jumps may lead to the end of. */
export interface OpenTarget {
  readonly depth: number;
  readonly loop: Loop | null;
  /** Frames that were open when the target began: a jump takes along what lies above. */
  readonly frames: number;
  /** The same for `continue`. */
  bodyFrames: number;
}

export abstract class DefUseExpressions extends DefUseTables {
  protected readonly reads = new Map<RefExpr | ThisExpr, number>();
  protected readonly controlOf = new Map<Node, Control | null>();
  protected readonly stores: StoreSite[] = [];
  protected readonly memoryReferences = new Set<Variable>();
  protected readonly targets: OpenTarget[] = [];
  /** Controls do not matter inside lambdas: they run elsewhere. */
  protected lambdaDepth = 0;
  /** Some node stands in several places. */
  protected shared = false;

  protected abstract statement(node: Stmt): void;

  protected opaque(node: Stmt | Expr): void {
    for (const decl of [...this.env.keys()]) {
      this.define(decl, this.add({ kind: 'unknown', decl, node, why: 'text that is not understood', previous: this.current(decl) }));
    }
  }

  protected expression(node: Expr): void {
    this.evaluate(node);
    const { bound, ownBound } = this.structure;
    if ((bound.size > 0 && bound.has(node)) || (ownBound.size > 0 && ownBound.has(node))) this.bound(node);
  }

  private evaluate(node: Expr): void {
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
      case 'opaque':
        this.opaque(node);
        if (node.parts === undefined) return;
        // How often they run is not told, nor what is done between.
        for (const part of node.parts) this.expression(part);
        this.opaque(node);
        return;
      case 'unary': this.expression(node.operand); return;
      case 'index': this.expression(node.base); this.expression(node.index); return;
      case 'member': this.expression(node.object); return;
      case 'cast': this.expression(node.operand); return;
      case 'construct': for (const argument of node.arguments) this.expression(argument); return;
      case 'init-list': for (const element of node.elements) this.expression(element); return;
    }
  }

  protected bound(node: Expr | Stmt): void {
    for (const root of this.structure.bound.get(node) ?? []) this.unknownTo(root, node, 'an object is made or converted here that may change it');
    if (this.structure.ownBound.has(node)) this.ownUnknown(node, 'an object is made, bound or converted here that may change it');
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

  protected record(node: RefExpr | ThisExpr, id: number): void {
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
    if (alias !== undefined) this.record(node, this.add({ kind: 'alias', decl, inputs: [this.aliased(alias), id] }).id);
    else if (this.structure.ownAliases.has(decl)) this.record(node, this.add({ kind: 'alias', decl, inputs: [this.current(this.self), id] }).id);
    else this.record(node, id);
  }

  /** The current value of what a reference stands for, through references to references. */
  private aliased(root: Root): number {
    const next = this.structure.aliases.get(root.decl);
    return next !== undefined ? this.aliased(next) : this.current(this.structure.ownAliases.has(root.decl) ? this.self : root.decl);
  }

  private target(root: Root): { decl: Variable; whole: boolean } {
    const next = this.structure.aliases.get(root.decl);
    if (next === undefined) return this.structure.ownAliases.has(root.decl) ? { decl: this.self, whole: false } : { decl: root.decl, whole: root.whole };
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
      for (const part of rootsOf(target)) this.unknownTo(part, node, 'one of several objects is assigned');
      if (assignsOwnObject(target)) {
        this.define(this.self, this.add({ kind: 'assignment', decl: this.self, node, previous: this.current(this.self), whole: false, control: this.control }));
        // `*p = x` with a field p: it may lie in the object, or be any object of the caller's.
        if (leadsOut(target)) this.stores.push({ node, target, control: this.control });
      } else this.stores.push({ node, target, control: this.control });
      return;
    }
    const { decl, whole: named } = this.target(root);
    // An assignment that somebody wrote for a member may leave in it what was there.
    const whole = named && (node.kind === 'update' || assignmentCopies(node.target.type));
    if (this.memoryReferences.has(decl)) {
      if (decl.kind === 'variable' && decl.init !== null) this.stores.push({ node, target: decl.init, control: this.control });
      return;
    }
    // A reference that no object is known of may be bound to any whose address was handed out.
    // One that a parameter names is its caller's.
    // So may what is spelled as a part of an object and lies behind a pointer in it.
    if (decl.type.kind === 'reference' || leadsBehind(target)) this.stores.push({ node, target, control: this.control });
    const previous = whole && !reads ? -1 : this.current(decl);
    const value = this.add({ kind: 'assignment', decl, node, previous, whole, control: this.control });
    this.define(decl, value);
    // The name on the left of a plain assignment stands for the new value.
    if (whole && !reads && this.structure.aliases.get(root.decl) === undefined) this.reads.set(root.ref, this.cells.get(decl)?.id ?? value.id);
  }

  protected unknownTo(root: Root, node: Expr | Stmt, why: string): void {
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
      if ((this.kept.has(decl) || decl === this.self) && outlives(node, output, this.structure.parents)) this.unknownTo(output.root, node, 'its address outlives this call');
      if (this.memoryReferences.has(decl) || (output.how === 'reference' && leavesAlone(node, output.argument))) continue;
      this.define(decl, this.add({ kind: 'output', decl, call: node, output, previous: this.current(decl), control: this.control }));
    }
    const own = (node.callee.kind === 'method' && assignsOwnObject(node.callee.object)) || changesCalled(node);
    if (own || node.arguments.some((argument) => assignsOwnObject(argument))) this.ownUnknown(node, 'a call may change the object');
  }

  /** The object that the method runs on may be changed in a way that is not followed. */
  protected ownUnknown(node: Expr | Stmt, why: string): void {
    this.define(this.self, this.add({ kind: 'unknown', decl: this.self, node, why, previous: this.current(this.self) }));
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
    for (const variable of node.made ?? []) this.declareAs(variable, { kind: 'unknown', decl: variable, node, why: `\`${variable.name}\` is made by a lambda`, previous: -1 });
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
    if (candidate.body === null || parameter === undefined || parameter.pack || isDependent(parameter.type)) return false;
    const { assignments, escaped, opaque } = structureOf(candidate);
    return !opaque && !escaped.has(parameter) && !assignments.some((assignment) => assignment.decl === parameter);
  });
}
