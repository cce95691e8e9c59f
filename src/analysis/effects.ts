/**
 * Everything a region may do besides computing values: SEMANTICS 4.
 *
 * One walk over the region, callees included through their summaries. The walk carries a mode for every expression (read, write, both, or only
 * its address), so that `a[i] += f(&x)` is a read and a write of `a`, a use of `i`, and whatever `f` does to `x`. What is
 * not understood is listed in `opaque` or `unknownCalls`; who asks must treat both as reading and writing anything.
 *
 * A constructor counts where the object is made, a destructor where it is declared; what else runs without being named is told by implicit-code.ts.
 */
import { boundAt } from './binding.js';
import type { CastExpr, Expr, Program, Stmt, Type, VariableDecl } from '../syntax/tree.js';
import { unreachable } from '../syntax/tree.js';
import { asmMeaning } from './asm-text.js';
import { isStmt, strip, type Node } from './children.js';
import { CallEffects, nameOf } from './effects-calls.js';
import { type EffectContext, type Mode } from './effects-tables.js';
import type { Env } from './env.js';
import type { Effects } from './facts.js';
import { indexFunction, isAutomatic } from './function-index.js';
import { callsIterators, isUndeclared } from './implicit-calls.js';
import { UNKNOWN_PLACE } from './places.js';
import { isDependent, judge } from './template-types.js';

const memo = new WeakMap<Node, Effects>();

/** Effects of a statement or expression of the environment's function. Memoised by node. */
export function effectsOf(node: Stmt | Expr, env: Env): Effects {
  const known = memo.get(node);
  if (known !== undefined) return known;
  const made = collectEffects(node, { index: indexFunction(env.function), function: env.function, instance: env.function, program: env.program });
  memo.set(node, made);
  return made;
}

export function collectEffects(node: Stmt | Expr, context: EffectContext): Effects {
  const known = memo.get(node);
  if (known !== undefined) return known;
  const collector = new Collector(context);
  if (isStmt(node)) collector.statement(node);
  else collector.expression(node, 'read');
  const made = collector.effects();
  memo.set(node, made);
  return made;
}

const tuples = new WeakMap<Program, boolean>();

/** Does any file make a class one like a tuple? */
function namesTuples(program: Program): boolean {
  let known = tuples.get(program);
  if (known === undefined) tuples.set(program, known = [...program.units.values()].some(({ source }) => source.text.includes('tuple_size')));
  return known;
}

/** Integer or pointer constant that is surely not zero, without an environment. */
function nonZeroLiteral(expr: Expr): boolean {
  const inner = strip(expr);
  if (inner.kind === 'literal') return typeof inner.value === 'bigint' ? inner.value !== 0n : typeof inner.value === 'number';
  if (inner.kind === 'cast') return nonZeroLiteral(inner.operand);
  if (inner.kind === 'coordinate') return inner.base === 'blockDim' || inner.base === 'gridDim' || inner.base === 'warpSize';
  if (inner.kind === 'ref' && inner.decl !== null && inner.decl.kind === 'variable' && (inner.decl.constexpr || inner.decl.type.const === true) && inner.decl.init !== null) return nonZeroLiteral(inner.decl.init);
  if (inner.kind === 'sizeof') return true;
  return false;
}

function smallShift(amount: Expr): boolean {
  const inner = strip(amount);
  if (inner.kind === 'literal') return typeof inner.value === 'bigint' && inner.value >= 0n && inner.value < 32n;
  if (inner.kind === 'binary' && inner.op === '&') return [inner.left, inner.right].some((side) => smallShift(side) && strip(side).kind === 'literal');
  if (inner.kind === 'cast') return smallShift(inner.operand);
  return false;
}

class Collector extends CallEffects {
  statement(node: Stmt): void {
    this.bound(node);
    switch (node.kind) {
      case 'empty': return;
      case 'compound': for (const inner of node.body) this.statement(inner); return;
      case 'declare':
        for (const variable of node.variables) this.declaration(variable);
        this.implied(node);
        return;
      case 'expression': this.expression(node.expression, 'read'); return;
      case 'if':
        if (node.init !== null) this.statement(node.init);
        if (node.conditionDecl !== null) this.declaration(node.conditionDecl);
        this.expression(node.condition, 'read');
        this.statement(node.then);
        if (node.else !== null) this.statement(node.else);
        return;
      case 'for':
        this.statement(node.init);
        if (node.conditionDecl !== null) this.declaration(node.conditionDecl);
        if (node.condition !== null) this.expression(node.condition, 'read');
        this.inLoop(node.body);
        if (node.step !== null) this.expression(node.step, 'read');
        return;
      case 'range-for':
        this.expression(node.range, 'read');
        this.assigns.add(node.variable);
        if (callsIterators(node)) this.iterators(node.range);
        this.implied(node);
        this.inLoop(node.body);
        return;
      case 'while':
        if (node.conditionDecl !== null) this.declaration(node.conditionDecl);
        this.expression(node.condition, 'read');
        this.inLoop(node.body);
        return;
      case 'do':
        this.inLoop(node.body);
        this.expression(node.condition, 'read');
        return;
      case 'switch':
        if (node.init !== null) this.statement(node.init);
        if (node.conditionDecl !== null) this.declaration(node.conditionDecl);
        this.expression(node.condition, 'read');
        this.switchDepth++;
        for (const arm of node.arms) for (const inner of arm.body) this.statement(inner);
        this.switchDepth--;
        return;
      case 'break': if (this.loopDepth + this.switchDepth === 0 && this.lambdaDepth === 0) this.exits.push(node); return;
      case 'continue': if (this.loopDepth === 0 && this.lambdaDepth === 0) this.exits.push(node); return;
      case 'return':
        if (node.value !== null) {
          this.expression(node.value, 'read');
          if (this.lambdaDepth === 0) this.convertedTo(node.value, this.context.function?.returns ?? this.context.returns ?? null);
        }
        if (this.lambdaDepth === 0) this.exits.push(node);
        return;
      case 'goto': this.exits.push(node); return;
      case 'label': this.statement(node.body); return;
      case 'asm': {
        this.asm.add(node);
        for (const input of node.inputs) this.expression(input, 'read');
        for (const output of node.outputs) this.expression(output, 'both');
        if (!asmMeaning(node.text).pure) this.writeUnknown();
        return;
      }
      case 'preprocessor': for (const arm of node.arms) if (arm.active) for (const inner of arm.body) this.statement(inner); return;
      case 'macro-statement': this.statement(node.expanded); return;
      case 'opaque': this.opaque.add(node); this.writeUnknown(); return;
      default: unreachable(node);
    }
  }

  /** What a constructor may take by reference where nothing but a value is written. */
  private bound(node: Stmt | Expr): void {
    for (const value of boundAt(node, this.lambdaDepth === 0 ? this.context.function?.returns ?? null : null)) this.handedOver(value);
  }

  private inLoop(body: Stmt): void {
    const outer = this.switchDepth;
    this.loopDepth++;
    this.switchDepth = 0;
    this.statement(body);
    this.switchDepth = outer;
    this.loopDepth--;
  }

  private declaration(variable: VariableDecl): void {
    if (this.isForeign(variable.type)) this.unseen(nameOf(variable));
    if (variable.init === null) this.defaulted(variable);
    else {
      this.expression(variable.init, variable.type.kind === 'reference' ? 'address' : 'read');
      this.converted(variable.init, variable.type);
      // `auto [a, b] = t;` of a class that is like a tuple calls `get` for each name.
      if (variable.opaqueInit && variable.init.type.kind === 'record' && namesTuples(this.context.program)) this.unseen(variable.init);
      if (isAutomatic(variable)) this.assigns.add(variable);
    }
    this.destroyed(variable);
  }

  expression(node: Expr, mode: Mode): void {
    if (node.type.kind === 'record' || isUndeclared(node.type)) { this.conversion(node); if (mode !== 'address' && mode !== 'write') this.copied(node); }
    else if (isDependent(node.type)) this.dependent(node);
    if (node.kind !== 'ref') this.bound(node);
    switch (node.kind) {
      case 'literal': case 'coordinate': case 'this': case 'sizeof': return;
      case 'ref': this.reference(node, mode); return;
      case 'paren': this.expression(node.inner, mode); return;
      case 'macro': this.expression(node.expanded, mode); return;
      case 'unary':
        if (node.op === '&') { this.expression(node.operand, 'address'); return; }
        this.operatorCall(node, [node.operand]);
        this.expression(node.operand, 'read');
        if (node.op === '*') { this.fault(node, mode); this.access(node, mode); }
        return;
      case 'update': this.operatorCall(node, [node.target]); this.expression(node.target, 'both'); return;
      case 'binary': this.binary(node, mode); return;
      case 'assign':
        this.expression(node.value, 'read');
        if (node.op === null) this.convertedTo(node.value, node.target.type);
        this.implied(node);
        if (node.op === '/' || node.op === '%') this.divisionFault(node, node.target.type, node.value);
        if ((node.op === '<<' || node.op === '>>') && !smallShift(node.value)) this.faults.add(node);
        this.expression(node.target, node.op === null ? 'write' : 'both');
        return;
      case 'conditional':
        this.expression(node.condition, 'read');
        this.expression(node.then, mode);
        this.expression(node.else, mode);
        this.implied(node);
        return;
      case 'call':
        this.call(node);
        // `at(p, i) = x`, `v[i]++` with an operator of a class: what the reference leads to is written.
        if (mode === 'write' || mode === 'both') this.access(node, mode);
        return;
      case 'index': {
        const base = strip(node.base);
        const array = base.type.kind === 'array' && !(base.kind === 'ref' && base.decl?.kind === 'parameter');
        this.expression(node.base, array || base.type.kind === 'record' ? 'address' : 'read');
        this.expression(node.index, 'read');
        if (base.type.kind === 'record') this.operatorCall(node, [node.base]);
        this.fault(node, mode);
        this.access(node, mode);
        return;
      }
      case 'member':
        this.expression(node.object, node.arrow ? 'read' : this.isLvalue(node.object) ? 'address' : 'read');
        if (node.arrow) this.fault(node, mode);
        if (node.arrow || this.isLvalue(node.object) || this.isReferred(node.object, mode)) this.access(node, mode);
        return;
      case 'cast':
        this.expression(node.operand, this.castMode(node, mode));
        this.convertedTo(node.operand, node.type);
        this.implied(node);
        return;
      case 'construct': this.construct(node, node.type, node.arguments); this.implied(node); return;
      case 'init-list': this.construct(node, node.type, node.elements); this.implied(node); return;
      case 'lambda':
        this.implied(node);
        // Its effects happen where it is called; callers are not always visible, so they count here too.
        this.lambdaDepth++;
        this.statement(node.body);
        this.lambdaDepth--;
        return;
      case 'opaque':
        this.opaque.add(node);
        this.writeUnknown();
        for (const part of node.parts ?? []) this.expression(part, 'read');
        this.implied(node);
        return;
      default: unreachable(node);
    }
  }

  /** An operand of which an instance may be a class with operators, or volatile: what is done with it may do anything. */
  private dependent(node: Expr): void {
    if (this.isForeign(node.type)) this.unseen(node);
  }

  private isForeign(type: Type): boolean {
    const inner = type.kind === 'array' ? type.of : type;
    const { instance } = this.context;
    return isDependent(inner) && instance !== null && judge(inner, instance, this.context.program).foreign !== null;
  }

  /** Is the object one that a call refers to: where something is stored, or where the call returns a reference? */
  private isReferred(object: Expr, mode: Mode): boolean {
    const e = strip(object);
    if (e.kind !== 'call' || e.callee.kind === 'builtin') return false;
    if (mode === 'write' || mode === 'both') return true;
    return (e.callee.kind === 'function' || e.callee.kind === 'method') && e.callee.candidates.some(({ returns }) => returns.kind === 'reference');
  }

  private castMode(node: CastExpr, mode: Mode): Mode {
    return mode === 'read' || node.reference !== undefined ? mode : node.style === 'reinterpret' || node.style === 'const' || node.style === 'static' ? mode : 'read';
  }

  private reference(node: Expr & { readonly kind: 'ref' }, mode: Mode): void {
    const decl = node.decl;
    if (decl === null) {
      // Nothing visible declares it: perhaps a global of another file, perhaps a macro.
      if (mode !== 'address') this.touch(UNKNOWN_PLACE, mode, node, null, false);
      return;
    }
    if (decl.kind === 'template-parameter') {
      // What is written is no value: the type that stands for `T` in `template <typename T, T R>` is a reference, or a class whose operators change something.
      if (mode === 'write' || mode === 'both') this.access(node, mode);
      return;
    }
    if (decl.kind !== 'variable' && decl.kind !== 'parameter') return;
    if (decl.type.kind === 'reference') {
      this.uses.add(decl);
      if (mode === 'write' || mode === 'both') this.assigns.add(decl);
      this.access(node, mode);
      return;
    }
    const automatic: boolean = isAutomatic(decl);
    if (automatic) {
      if (mode === 'read' || mode === 'both' || mode === 'address') this.uses.add(decl);
      if (mode === 'write' || mode === 'both') this.assigns.add(decl);
      if (decl.type.volatile === true) this.access(node, mode);
      return;
    }
    if (decl.type.kind === 'array' && mode === 'read') return; // decays: only its address
    if (decl.kind === 'variable' && decl.constexpr) return;
    this.access(node, mode);
  }

  private binary(node: Expr & { readonly kind: 'binary' }, mode: Mode): void {
    this.expression(node.left, 'read');
    this.expression(node.right, node.op === ',' ? mode : 'read');
    if (node.op === '/' || node.op === '%') this.divisionFault(node, node.type, node.right);
    else if ((node.op === '<<' || node.op === '>>') && node.left.type.kind !== 'record' && !smallShift(node.right)) this.faults.add(node);
    this.operatorCall(node, [node.left, node.right]);
  }

  private divisionFault(node: Expr, type: Type, divisor: Expr): void {
    if (type.kind === 'float' || strip(divisor).type.kind === 'float') return;
    if (!nonZeroLiteral(divisor)) this.faults.add(node);
  }
}
