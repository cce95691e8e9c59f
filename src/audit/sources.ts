/**
 * What a value is computed from: thread and block positions, parameters, memory. Follows definitions of variables, and parameters of device functions
 * to the arguments of the call that leads there. Used to tell guards of the work from elections of lanes, which have the same scope.
 */
import { forEachChild, isStmt, strip } from '../analysis/children.js';
import type { Definition } from '../analysis/facts.js';
import { isAutomatic } from '../analysis/function-index.js';
import type { Expr, ParameterDecl } from '../syntax/tree.js';
import type { Frame } from './frame.js';

export interface Sources {
  /** Axes of `threadIdx`. */
  readonly thread: ReadonlySet<'x' | 'y' | 'z'>;
  readonly block: boolean;
  readonly blockDim: boolean;
  /** By-value parameters of the kernel. */
  readonly parameters: ReadonlySet<ParameterDecl>;
  readonly memory: boolean;
  /** Calls whose result is not computed from their arguments alone, and what was not understood. */
  readonly other: boolean;
}

class Tracer {
  readonly thread = new Set<'x' | 'y' | 'z'>();
  readonly parameters = new Set<ParameterDecl>();
  block = false;
  blockDim = false;
  memory = false;
  other = false;
  private readonly seen = new Set<object>();
  private budget = 400;

  trace(written: Expr, frame: Frame): void {
    const expr = strip(written);
    if (--this.budget < 0) { this.other = true; return; }
    switch (expr.kind) {
      case 'coordinate':
        if (expr.base === 'threadIdx') for (const axis of expr.axis === null ? (['x', 'y', 'z'] as const) : [expr.axis]) this.thread.add(axis);
        else if (expr.base === 'blockIdx') this.block = true;
        else if (expr.base === 'blockDim') this.blockDim = true;
        return;
      case 'ref': this.name(expr, frame); return;
      case 'index': this.element(expr, frame); return;
      case 'unary':
        if (expr.op === '*') this.memory = true;
        else this.trace(expr.operand, frame);
        return;
      case 'member': this.member(expr, frame); return;
      case 'opaque': this.other = true; return;
      case 'lambda': return;
      default: forEachChild(expr, (child) => { if (!isStmt(child)) this.trace(child, frame); });
    }
    if (expr.kind === 'call' && expr.callee.kind !== 'builtin') this.other = true;
  }

  private element(expr: Expr & { readonly kind: 'index' }, frame: Frame): void {
    const base = strip(expr.base);
    // An element of a local array comes from whatever was stored in the array.
    if (base.kind === 'ref' && isAutomatic(base.decl) && base.type.kind === 'array') { this.trace(base, frame); this.trace(expr.index, frame); } else this.memory = true;
  }

  private member(expr: Expr & { readonly kind: 'member' }, frame: Frame): void {
    if (expr.arrow) this.memory = true;
    else this.trace(expr.object, frame);
  }

  private name(expr: Expr & { readonly kind: 'ref' }, frame: Frame): void {
    const { decl } = expr;
    if (decl === null) { this.other = true; return; }
    if (decl.kind !== 'variable' && decl.kind !== 'parameter') return;
    const automatic: boolean = isAutomatic(decl);
    if (!automatic) {
      if (decl.kind === 'variable' && !(decl.constexpr || (decl.type.const === true && decl.init !== null))) this.memory = true;
      return;
    }
    if (this.seen.has(expr)) return;
    this.seen.add(expr);
    const definitions = frame.facts.definitions(expr);
    if (definitions.length === 0 && decl.kind === 'parameter') this.parameter(decl, frame);
    for (const definition of definitions) this.definition(definition, frame);
  }

  private definition(definition: Definition, frame: Frame): void {
    const key = definition.kind === 'parameter' || definition.kind === 'declaration' ? definition.decl : definition.node;
    if (this.seen.has(key)) return;
    this.seen.add(key);
    switch (definition.kind) {
      case 'parameter': this.parameter(definition.decl, frame); return;
      case 'declaration': if (definition.decl.init !== null) this.trace(definition.decl.init, frame); return;
      case 'assignment': forEachChild(definition.node, (child) => { if (!isStmt(child)) this.trace(child, frame); }); return;
      case 'unknown': this.other = true; return;
    }
  }

  private parameter(decl: ParameterDecl, frame: Frame): void {
    if (frame.outer === null || frame.call === null) {
      if (frame.facts.function.qualifiers.global) this.parameters.add(decl);
      else this.other = true;
      return;
    }
    const argument = frame.call.arguments[decl.index] ?? decl.default;
    if (argument === null) this.other = true;
    else this.trace(argument, frame.outer);
  }
}

export function sourcesOf(expr: Expr, frame: Frame): Sources {
  const tracer = new Tracer();
  tracer.trace(expr, frame);
  return tracer;
}
