/**
 * Why a value has its scope, as a chain of lines: outermost first, down to a coordinate, a load, a call or a parameter.
 *
 * The solution holds scopes, not proofs. A chain is found afterwards, when somebody asks, by descending from the expression into that part
 * that already has what makes the verdict: the first operand that varies by lane, the definition that reaches it, the condition
 * that decides at a join. Each value is visited once.
 */
import { builtin } from '../cuda/builtins.js';
import { forEachChild, isStmt, strip, type Node } from './children.js';
import type { Control } from './control-flow.js';
import type { Value } from './def-use.js';
import type { Reason, Scope } from './facts.js';
import { isOverArray } from './implicit-calls.js';
import { isMember, rootOf, variableOf } from './lvalues.js';
import { DATA_BIT, isLane, LANE, scopeOf, SCOPE_BITS, UNKNOWN_BIT } from './taint.js';
import { solvedCallees } from './uniformity-calls.js';
import { placeTaint, stability } from './uniformity-loads.js';
import type { Uniformity } from './uniformity.js';
import type { CallExpr, Expr, ParameterDecl } from '../syntax/tree.js';
import { whyNameless } from '../syntax/tree.js';

const MAX_LENGTH = 64;
const MAX_REASONS = 12;

/** What part of the verdict is being explained. */
export interface Wanted {
  readonly kind: 'unknown' | 'data' | 'lane' | 'scope';
  readonly scope: Scope;
}

export function wantedOf(taint: number): Wanted {
  if ((taint & UNKNOWN_BIT) !== 0) return { kind: 'unknown', scope: 'lane' };
  if (isLane(taint)) return { kind: (taint & DATA_BIT) !== 0 ? 'data' : 'lane', scope: 'lane' };
  return { kind: 'scope', scope: scopeOf(taint) };
}

function has(taint: number, wanted: Wanted): boolean {
  switch (wanted.kind) {
    case 'unknown': return (taint & UNKNOWN_BIT) !== 0;
    case 'data': return (taint & DATA_BIT) !== 0;
    case 'lane': return (taint & SCOPE_BITS) === LANE;
    case 'scope': return scopeOf(taint) === wanted.scope;
  }
}

const GROUPS: Readonly<Record<Scope, string>> = {
  constant: 'is a constant', grid: 'is one value in the whole grid', block: 'is one value in each block', warp: 'is one value in each warp', lane: 'differs between lanes',
};

/** How a chain goes on outside of the function: where a parameter gets its value. */
export type Continue = (parameter: ParameterDecl, wanted: Wanted) => readonly Reason[];

export class Explainer {
  readonly reasons: Reason[] = [];
  /** What was not understood, in words. */
  unknown: string | null = null;
  /** A cause was reached: the chain is complete. */
  done = false;
  private readonly seen = new Set<number | Control>();

  constructor(private readonly state: Uniformity, private wanted: Wanted, private readonly beyond: Continue, private readonly depth = 0) {}

  text(node: Node): string {
    const whole = this.state.env.unit.source.text.slice(node.span.start, Math.min(node.span.end, node.span.start + 4 * MAX_LENGTH)).split(/\s+/).join(' ');
    return whole.length > MAX_LENGTH ? `${whole.slice(0, MAX_LENGTH - 1)}…` : whole;
  }

  private say(node: Node, text: string): void {
    if (this.reasons.length >= MAX_REASONS) return;
    const source = this.state.env.unit.source;
    const reason = { path: source.realPath, line: source.line(node.span.start), text };
    const last = this.reasons[this.reasons.length - 1];
    if (last === undefined || last.line !== reason.line || last.text !== text) this.reasons.push(reason);
  }

  private verdict(name: string, why: string): string {
    switch (this.wanted.kind) {
      case 'unknown': return `\`${name}\` is not known: ${why}`;
      case 'data': case 'lane': return `\`${name}\` differs between lanes: ${why}`;
      case 'scope': return `\`${name}\` ${GROUPS[this.wanted.scope]}: ${why}`;
    }
  }

  private is(expr: Expr): boolean {
    return has(this.state.taint(expr), this.wanted);
  }

  private leaf(node: Node, name: string, why: string): void {
    if (this.wanted.kind === 'unknown' && this.unknown === null) this.unknown = why;
    this.say(node, this.verdict(name, why));
    this.done = true;
  }

  /** Says something that needs no further cause. */
  private end(node: Node, text: string): void {
    this.say(node, text);
    this.done = true;
  }

  /** Follows one possibility after the other until one leads to a cause; what the others said is taken back. */
  private either<T>(candidates: readonly T[], follow: (candidate: T) => void): boolean {
    const length = this.reasons.length;
    for (const candidate of candidates) {
      follow(candidate);
      if (this.done) return true;
      this.reasons.length = Math.min(this.reasons.length, length);
    }
    return false;
  }

  /** The whole chain for an expression. */
  expression(expr: Expr): void {
    const e = strip(expr);
    switch (e.kind) {
      case 'literal': case 'sizeof': this.end(e, this.verdict(this.text(e), 'a literal')); return;
      case 'ref': this.ref(e); return;
      case 'coordinate': this.end(e, `\`${this.text(e)}\` ${GROUPS[scopeOf(this.state.taint(e))]}`); return;
      case 'this': this.leaf(e, 'this', 'the object of the method'); return;
      case 'call': this.call(e); return;
      case 'opaque': this.leaf(e, this.text(e), e.reason); return;
      case 'lambda': this.leaf(e, 'lambda', 'a lambda'); return;
      case 'construct':
        if (this.parts(e).length === 0) { this.leaf(e, this.text(e), `what makes \`${this.text(e)}\` is not visible`); return; }
        break;
      case 'index': case 'member': this.lvalue(e); return;
      case 'unary': if (e.op === '*') this.lvalue(e); else this.expression(e.operand); return;
      default:
    }
    const parts = this.parts(e);
    if (parts.length > 0) { this.either(parts, (part) => this.expression(part)); return; }
    this.end(e, this.verdict(this.text(e), this.wanted.kind === 'scope' && this.wanted.scope === 'warp' ? 'a quotient or comparison that whole warps agree on' : 'computed here'));
  }

  /** The operands that already have what is wanted. */
  private parts(node: Expr): readonly Expr[] {
    const found: Expr[] = [];
    forEachChild(node, (child) => { if (!isStmt(child) && this.is(child)) found.push(child); });
    return found;
  }

  private part(node: Expr): Expr | null {
    return this.parts(node)[0] ?? null;
  }

  private lvalue(e: Expr & { kind: 'index' | 'member' | 'unary' }): void {
    const root = rootOf(e);
    if (root !== null) {
      const id = this.state.defUse.reads.get(root.ref) ?? -1;
      if (id < 0 || has(this.state.valueTaint(id), this.wanted)) { this.value(id, root.ref.name, e); return; }
      const part = this.part(e);
      if (part !== null) { this.say(e, this.verdict(this.text(e), `an element of \`${root.ref.name}\` that differs`)); this.expression(part); return; }
      this.leaf(e, this.text(e), 'its type is not known');
      return;
    }
    if (e.kind === 'member' && !e.arrow && strip(e.object).kind === 'call') { this.expression(e.object); return; }
    this.load(e, e);
  }

  /** A load: its address, or memory that is not stable. */
  private load(node: Expr, lvalue: Expr): void {
    const address = placeTaint(lvalue, this.state);
    const found = stability(lvalue, isLane(address) ? 'warp' : scopeOf(address), this.state.env).stability;
    if (this.wanted.kind === 'scope') {
      this.end(node, this.verdict(this.text(node), 'loaded from one address'));
      for (const reason of found.because) if (this.reasons.length < MAX_REASONS) this.reasons.push(reason);
      return;
    }
    this.say(node, this.verdict(this.text(node), 'loaded from memory'));
    this.turnToAddress(address);
    if (has(address, this.wanted)) {
      this.either(this.addressParts(lvalue), (part) => this.expression(part));
      return;
    }
    this.done = true;
    if (this.wanted.kind === 'unknown') { this.unknown ??= 'memory that is not known'; return; }
    for (const reason of found.because) if (this.reasons.length < MAX_REASONS) this.reasons.push(reason);
  }

  /** What is loaded is data; where it lies may vary by coordinates alone. */
  private turnToAddress(address: number): void {
    if (this.wanted.kind === 'data' && isLane(address) && !has(address, this.wanted)) this.wanted = { kind: 'lane', scope: 'lane' };
  }

  private addressPart(lvalue: Expr): Expr | null {
    return this.addressParts(lvalue)[0] ?? null;
  }

  /** Subscripts and pointers of an lvalue that already have what is wanted. */
  private addressParts(lvalue: Expr): readonly Expr[] {
    const found: Expr[] = [];
    for (let e = strip(lvalue); ;) {
      if (e.kind === 'index') {
        if (this.is(e.index)) found.push(e.index);
        if (strip(e.base).type.kind !== 'array') {
          if (this.is(e.base)) found.push(e.base);
          return found;
        }
        e = strip(e.base);
      } else if (e.kind === 'member') {
        if (e.arrow) {
          if (this.is(e.object)) found.push(e.object);
          return found;
        }
        e = strip(e.object);
      } else if (e.kind === 'unary') {
        if (this.is(e.operand)) found.push(e.operand);
        return found;
      } else {
        if (e.kind === 'call' || e.kind === 'cast' || e.kind === 'binary') found.push(...this.parts(e));
        return found;
      }
    }
  }

  private ref(ref: Expr & { kind: 'ref' }): void {
    const decl = ref.decl;
    if (decl === null) { this.leaf(ref, ref.name, ref.argument === undefined ? `no visible declaration of \`${ref.name}\`` : whyNameless(ref)); return; }
    if (variableOf(decl) !== null || isMember(decl)) {
      const id = this.state.defUse.reads.get(ref) ?? -1;
      this.value(id, ref.name, ref);
      return;
    }
    switch (decl.kind) {
      case 'variable': if (this.wanted.kind === 'scope' && scopeOf(this.state.taint(ref)) === 'constant') this.end(ref, this.verdict(ref.name, 'a constant')); else this.load(ref, ref); return;
      case 'enumerator': this.end(ref, this.verdict(ref.name, 'an enumerator')); return;
      case 'template-parameter': this.end(ref, this.verdict(ref.name, 'a template parameter')); return;
      case 'function': this.end(ref, this.verdict(ref.name, 'a function')); return;
      default: this.leaf(ref, ref.name, 'not a value');
    }
  }

  /** The chain for what a variable holds. */
  value(id: number, name: string, at: Node): void {
    const value = this.state.defUse.values[id];
    if (value === undefined) { this.leaf(at, name, 'no value is known here'); return; }
    if (this.seen.has(id)) return;
    this.seen.add(id);
    const wants = (input: number): boolean => has(this.state.valueTaint(input), this.wanted);
    switch (value.kind) {
      case 'parameter': this.parameter(value.decl, at); return;
      case 'undefined': this.end(at, this.verdict(name, 'it has no value yet')); return;
      case 'declaration': this.say(value.init, this.verdict(name, this.source(value.init))); this.inner(value.init); return;
      case 'assignment': this.assignment(value, name, wants); return;
      case 'join': case 'head': case 'exit': case 'alias': case 'cell': this.merged(value, name, at, wants); return;
      case 'output': this.output(value, name); return;
      case 'unknown': this.leaf(value.node, name, value.why); return;
    }
  }

  private parameter(decl: ParameterDecl, at: Node): void {
    const more = this.beyond(decl, this.wanted);
    if (more.length === 0) this.leaf(at, decl.name, decl.index < 0 ? 'the object of the method' : this.state.function.qualifiers.global ? 'a parameter of the kernel' : 'a parameter');
    else {
      this.say(at, this.verdict(decl.name, 'an argument of this call'));
      for (const reason of more) if (this.reasons.length < MAX_REASONS) this.reasons.push(reason);
      if (this.wanted.kind === 'unknown') this.unknown ??= more[more.length - 1]?.text ?? null;
      this.done = true;
    }
  }

  /** What a call left in a variable: the cause inside the callee, else among its arguments, else the call itself. */
  private output(value: Value & { kind: 'output' }, name: string): void {
    const call = value.call;
    this.say(call, this.verdict(name, `written by \`${this.text(call)}\``));
    const inner = this.inside(call, (callee, explainer) => {
      const parameter = value.output.argument < 0 ? callee.defUse.self : callee.function.parameters[value.output.argument];
      const id = parameter === undefined ? undefined : callee.defUse.finals.get(parameter);
      if (parameter !== undefined && id !== undefined && has(callee.valueTaint(id), this.wanted)) explainer.value(id, parameter.name, callee.function.body ?? call);
    });
    if (inner) return;
    if (this.either(call.arguments.filter((argument) => this.is(argument)), (argument) => this.expression(argument))) return;
    if (value.previous >= 0 && has(this.state.valueTaint(value.previous), this.wanted)) this.value(value.previous, name, call);
    if (!this.done) this.leaf(call, name, `written by \`${this.text(call)}\``);
  }

  /** Goes on inside a visible callee. False if no cause was found there. */
  private inside(call: CallExpr, explain: (callee: Uniformity, explainer: Explainer) => void): boolean {
    if (this.depth > 6) return false;
    const candidates = call.callee.kind === 'function' || call.callee.kind === 'method' ? call.callee.candidates : [];
    for (const solved of solvedCallees(candidates, call, this.state)) {
      if (solved === null) continue;
      const inner = new Explainer(solved, this.wanted, (parameter, wanted) => this.argument(call, parameter, wanted), this.depth + 1);
      explain(solved, inner);
      if (!inner.done) continue;
      for (const reason of inner.reasons) if (this.reasons.length < MAX_REASONS) this.reasons.push(reason);
      this.unknown ??= inner.unknown;
      this.done = true;
      return true;
    }
    return false;
  }

  /** The chain of the argument behind a parameter. */
  private argument(call: CallExpr, parameter: ParameterDecl, wanted: Wanted): readonly Reason[] {
    const expr = parameter.index >= 0 ? call.arguments[parameter.index] : call.callee.kind === 'method' ? call.callee.object : undefined;
    if (expr === undefined) return [];
    const outer = new Explainer(this.state, wanted, this.beyond, this.depth + 1);
    outer.expression(expr);
    this.unknown ??= outer.unknown;
    return outer.reasons;
  }

  private assignment(value: Value & { kind: 'assignment' }, name: string, wants: (id: number) => boolean): void {
    const node = value.node;
    if (node.kind === 'assign' && this.is(node.value)) {
      this.say(node, this.verdict(name, this.source(node.value)));
      this.inner(node.value);
      if (this.done || value.previous < 0 || !wants(value.previous)) return;
      this.value(value.previous, name, node);
    } else if (value.previous >= 0 && wants(value.previous)) this.value(value.previous, name, node);
    else {
      this.say(node, this.verdict(name, 'stored at a place that differs'));
      const part = this.addressPart(node.target);
      if (part !== null) this.expression(part);
    }
  }

  private merged(value: Value & { inputs: readonly number[] }, name: string, at: Node, wants: (id: number) => boolean): void {
    const inputs = value.inputs.filter((input) => wants(input) && !this.seen.has(input));
    if (this.either(inputs, (input) => this.value(input, name, at))) return;
    if (value.kind === 'head') { if (this.wanted.kind === 'scope') this.end(value.loop.loop, this.verdict(name, 'every thread that is still in the loop has gone round it as often')); return; }
    if (value.kind === 'exit') {
      if (!has(this.state.exitTaint(value.loop), this.wanted)) return;
      this.say(value.loop.loop, this.verdict(name, 'lanes leave the loop in different iterations'));
      if (value.loop.condition !== null && this.is(value.loop.condition)) this.expression(value.loop.condition);
      if (!this.done) this.controls(value.loop.breaks);
      return;
    }
    if (value.kind === 'join' || value.kind === 'cell') {
      const decides = value.controls.filter((control) => has(this.state.ownTaint(control), this.wanted));
      const found = this.either(decides, (control) => {
        this.say(control.node, this.verdict(name, `it is assigned under \`${control.condition === null ? this.text(control.node) : this.text(control.condition)}\``));
        this.control(control);
      });
      if (!found && value.kind === 'cell') this.leaf(at, name, 'its address is taken');
    }
  }

  private controls(controls: readonly Control[]): void {
    this.either(controls.filter((control) => has(this.state.ownTaint(control), this.wanted)), (control) => this.control(control));
  }

  /** The chain for a control. */
  control(control: Control): void {
    if (this.seen.has(control)) return;
    this.seen.add(control);
    switch (control.kind) {
      case 'branch': if (control.condition !== null) { this.say(control.condition, this.verdict(this.text(control.condition), 'a condition')); this.inner(control.condition); } return;
      case 'jump': this.controls(control.deps); return;
      case 'unknown': this.leaf(control.node, this.text(control.node), 'a lambda runs elsewhere'); return;
      case 'loop': {
        const flow = control.loop;
        if (flow === null) return;
        if (flow.condition !== null && !isOverArray(flow.loop) && this.is(flow.condition)) { this.say(flow.condition, this.verdict(this.text(flow.condition), 'decides how often the loop runs')); this.inner(flow.condition); }
        else this.controls([...flow.breaks, ...flow.leaves]);
      }
    }
  }

  private inner(expr: Expr): void {
    const e = strip(expr);
    // The line just said what it is: go on with its parts.
    if (e.kind === 'index' || e.kind === 'member' || (e.kind === 'unary' && e.op === '*')) {
      if (rootOf(e) === null && !(e.kind === 'member' && !e.arrow && strip(e.object).kind === 'call')) {
        this.turnToAddress(placeTaint(e, this.state));
        const part = this.addressPart(e);
        if (part !== null && this.wanted.kind !== 'scope') { this.expression(part); return; }
      }
    }
    this.expression(e);
  }

  /** How a value came about, in a few words. */
  private source(expr: Expr): string {
    const e = strip(expr);
    switch (e.kind) {
      case 'index': case 'member': case 'unary':
        if (e.kind === 'unary' && e.op !== '*') return `computed as \`${this.text(e)}\``;
        return rootOf(e) === null ? `loaded from \`${this.text(e)}\`` : `from \`${this.text(e)}\``;
      case 'call': return `result of \`${this.text(e)}\``;
      case 'coordinate': return `\`${this.text(e)}\``;
      default: return `\`${this.text(e)}\``;
    }
  }

  /** The chain inside the callee that decides about its result. */
  private returned(call: CallExpr): boolean {
    return this.inside(call, (solved, inner) => {
      for (const site of solved.defUse.returns) {
        if (site.value !== null && has(solved.taint(site.value), this.wanted)) inner.expression(site.value);
        if (inner.done) return;
      }
      for (const site of solved.defUse.returns) {
        for (let control = site.control; control !== null; control = control.parent) {
          if (has(solved.ownTaint(control), this.wanted)) inner.control(control);
          if (inner.done) return;
        }
      }
    });
  }

  private call(call: CallExpr): void {
    const callee = call.callee;
    switch (callee.kind) {
      case 'builtin': {
        const entry = builtin(callee.name);
        if (entry === undefined) { this.leaf(call, callee.name, `\`${callee.name}\` is not known`); return; }
        const part = this.part(call);
        if (part !== null && entry.scope.kind !== 'fixed') { this.either(this.parts(call), (operand) => this.expression(operand)); return; }
        if (entry.scope.kind === 'load') { this.end(call, this.verdict(this.text(call), 'loaded from memory')); return; }
        this.end(call, this.verdict(this.text(call), entry.atomic ? 'result of an atomic' : `result of \`${callee.name}\``));
        return;
      }
      case 'unknown':
        if (has(this.state.taint(call), this.wanted) && this.wanted.kind !== 'unknown' && this.either(this.parts(call), (operand) => this.expression(operand))) return;
        this.leaf(call, this.text(call), `no visible definition of \`${callee.name}\``); return;
      case 'value': this.leaf(call, this.text(call), 'a call through a value'); return;
      case 'function': case 'method': {
        this.say(call, this.verdict(this.text(call), `what \`${callee.name}\` returns`));
        if (this.returned(call)) return;
        if (this.either(call.arguments.filter((argument) => this.is(argument)), (argument) => this.expression(argument))) return;
        const visible = callee.candidates.some((fn) => fn.body !== null);
        this.leaf(call, this.text(call), visible ? `what \`${callee.name}\` returns` : `no visible definition of \`${callee.name}\``);
      }
    }
  }
}
