/**
 * Everything a region may do besides computing values: SEMANTICS 4.
 *
 * One walk over the region, callees included through their summaries. The walk carries a mode for every expression (read, write, both, or only
 * its address), so that `a[i] += f(&x)` is a read and a write of `a`, a use of `i`, and whatever `f` does to `x`. What is
 * not understood is listed in `opaque` or `unknownCalls`; who asks must treat both as reading and writing anything.
 *
 * Not handled: destructors; constructors of records whose body is not visible count as unknown calls only if the type itself is unknown.
 */
import { builtin, isBuiltin } from '../cuda/builtins.js';
import type { CallExpr, CastExpr, ConstructExpr, Expr, FunctionDecl, Program, RecordDecl, Space, Stmt, Type, VariableDecl } from '../syntax/tree.js';
import { unreachable } from '../syntax/tree.js';
import { asmMeaning } from './asm-text.js';
import { isStmt, strip, type Node } from './children.js';
import type { Env } from './env.js';
import type { Effects, MemoryAccess, Variable } from './facts.js';
import { indexFunction, isAutomatic } from './function-index.js';
import { libraryCall } from './library-calls.js';
import { placesOf, targetsOf, UNKNOWN_PLACE, type Place, type PlaceContext } from './places.js';
import { bodiesOf, lambdaSummary, substitute, summaryOf, type Summary } from './summaries.js';

export interface EffectContext extends PlaceContext {
  readonly program: Program;
}

type Mode = 'read' | 'write' | 'both' | 'address';

const places = new WeakMap<MemoryAccess, Place>();

/** The place an access goes to. */
export function placeOfAccess(access: MemoryAccess): Place {
  return places.get(access) ?? { ...UNKNOWN_PLACE, base: access.base, space: access.space, steps: access.base !== null && access.base.kind === 'parameter' ? '*' : '' };
}

const memo = new WeakMap<Node, Effects>();

/** Effects of a statement or expression of the environment's function. Memoised by node. */
export function effectsOf(node: Stmt | Expr, env: Env): Effects {
  const known = memo.get(node);
  if (known !== undefined) return known;
  const made = collectEffects(node, { index: indexFunction(env.function), function: env.function, program: env.program });
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

function isVolatile(type: Type): boolean {
  return type.volatile === true || (type.kind === 'array' && isVolatile(type.of));
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

class Collector {
  private readonly accesses: MemoryAccess[] = [];
  private readonly assigns = new Set<Variable>();
  private readonly uses = new Set<Variable>();
  private readonly barriers = new Set<CallExpr>();
  private readonly collectives = new Set<CallExpr>();
  private readonly fences = new Set<CallExpr>();
  private readonly atomics = new Set<CallExpr>();
  private readonly unknownCalls = new Set<Expr>();
  private readonly visible = new Set<Expr>();
  private readonly exits: Stmt[] = [];
  private readonly asm = new Set<Stmt>();
  private readonly opaque = new Set<Stmt | Expr>();
  private readonly faults = new Set<Expr>();
  private loopDepth = 0;
  private switchDepth = 0;
  private lambdaDepth = 0;

  constructor(private readonly context: EffectContext) {}

  effects(): Effects {
    return {
      accesses: this.accesses, assigns: this.assigns, uses: this.uses, barriers: [...this.barriers], collectives: [...this.collectives], fences: [...this.fences],
      atomics: [...this.atomics], unknownCalls: [...this.unknownCalls], visible: [...this.visible], exits: this.exits, asm: [...this.asm], opaque: [...this.opaque],
      faults: [...this.faults],
    };
  }

  statement(node: Stmt): void {
    switch (node.kind) {
      case 'empty': return;
      case 'compound': for (const inner of node.body) this.statement(inner); return;
      case 'declare': for (const variable of node.variables) this.declaration(variable); return;
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
        if (node.value !== null) this.expression(node.value, 'read');
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

  private inLoop(body: Stmt): void {
    const outer = this.switchDepth;
    this.loopDepth++;
    this.switchDepth = 0;
    this.statement(body);
    this.switchDepth = outer;
    this.loopDepth--;
  }

  private declaration(variable: VariableDecl): void {
    if (variable.init === null) return;
    if (variable.type.kind === 'reference') this.expression(variable.init, 'address');
    else this.expression(variable.init, 'read');
    if (isAutomatic(variable)) this.assigns.add(variable);
  }

  expression(node: Expr, mode: Mode): void {
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
        if (node.op === '/' || node.op === '%') this.divisionFault(node, node.target.type, node.value);
        if ((node.op === '<<' || node.op === '>>') && !smallShift(node.value)) this.faults.add(node);
        this.expression(node.target, node.op === null ? 'write' : 'both');
        return;
      case 'conditional':
        this.expression(node.condition, 'read');
        this.expression(node.then, mode);
        this.expression(node.else, mode);
        return;
      case 'call': this.call(node); return;
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
        if (node.arrow || this.isLvalue(node.object)) this.access(node, mode);
        return;
      case 'cast': this.expression(node.operand, this.castMode(node, mode)); return;
      case 'construct': this.construct(node); return;
      case 'init-list': for (const element of node.elements) this.expression(element, 'read'); return;
      case 'lambda':
        // Its effects happen where it is called; callers are not always visible, so they count here too.
        this.lambdaDepth++;
        this.statement(node.body);
        this.lambdaDepth--;
        return;
      case 'opaque': this.opaque.add(node); this.writeUnknown(); return;
      default: unreachable(node);
    }
  }

  private castMode(node: CastExpr, mode: Mode): Mode {
    return mode === 'read' || node.type.kind === 'reference' ? mode : node.style === 'reinterpret' || node.style === 'const' || node.style === 'static' ? mode : 'read';
  }

  private isLvalue(expr: Expr): boolean {
    const inner = strip(expr);
    return inner.kind === 'ref' || inner.kind === 'index' || inner.kind === 'member' || (inner.kind === 'unary' && inner.op === '*') || inner.kind === 'conditional' || inner.kind === 'assign' || inner.kind === 'cast';
  }

  private reference(node: Expr & { readonly kind: 'ref' }, mode: Mode): void {
    const decl = node.decl;
    if (decl === null) {
      // Nothing visible declares it: perhaps a global of another file, perhaps a macro.
      if (mode !== 'address') this.touch(UNKNOWN_PLACE, mode, node, null, false);
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

  /** An operator on a record that is not one of CUDA's vectors calls a function that the tree does not name. */
  private operatorCall(node: Expr, operands: readonly Expr[]): void {
    const overloaded = operands.some((operand) => {
      const type = strip(operand).type;
      return type.kind === 'record' && type.decl.methods.length > 0;
    });
    if (overloaded && node.kind !== 'index') this.unknownCalls.add(node);
    if (overloaded && node.kind === 'index') {
      const type = strip(node.base).type;
      const methods = type.kind === 'record' ? type.decl.methods.filter((method) => method.name === 'operator[]') : [];
      if (methods.length === 0) this.unknownCalls.add(node);
    }
  }

  private fault(node: Expr, mode: Mode): void {
    if (mode === 'address') return;
    if (node.kind === 'index' && strip(node.index).kind === 'literal' && strip(node.base).type.kind === 'array') return;
    this.faults.add(node);
  }

  /** Records what happens at every place that an lvalue may denote. */
  private access(lvalue: Expr, mode: Mode): void {
    if (mode === 'address') return;
    const volatile = isVolatile(lvalue.type) || volatileThrough(lvalue);
    for (const place of placesOf(lvalue, this.context)) this.touch(place, mode, lvalue, null, volatile);
  }

  private touch(place: Place, mode: Mode | 'atomic', node: Expr, through: CallExpr | null, volatile: boolean): void {
    const base = place.base;
    const object = base !== null && base !== 'this' && (base.kind === 'variable' || base.kind === 'parameter') && isAutomatic(base) && !place.steps.includes('*') ? base : null;
    if (object !== null) {
      if (mode !== 'write') this.uses.add(object);
      if (mode !== 'read') this.assigns.add(object);
      if (object.type.kind !== 'array') return;
    }
    // A pointer that was read from memory may hold the address of any variable whose address was handed out.
    const followed = place.steps.indexOf('*') !== place.steps.lastIndexOf('*');
    if ((base === null || base === 'this' || followed) && mode !== 'read') this.writeExposed();
    if (mode === 'atomic') this.record(place, 'atomic', node, through, volatile);
    else {
      if (mode === 'read' || mode === 'both') this.record(place, 'read', node, through, volatile);
      if (mode === 'write' || mode === 'both') this.record(place, 'write', node, through, volatile);
    }
  }

  private record(place: Place, kind: MemoryAccess['kind'], node: Expr, through: CallExpr | null, volatile: boolean): void {
    const base = place.base === 'this' ? null : place.base;
    const space: Space | 'unknown' = place.space;
    const access: MemoryAccess = { node, kind, space, base, volatile, through };
    places.set(access, place);
    this.accesses.push(access);
  }

  private writeExposed(): void {
    for (const variable of this.context.index.exposed) this.assigns.add(variable);
  }

  private writeUnknown(): void {
    this.writeExposed();
  }

  private call(node: CallExpr): void {
    const callee = node.callee;
    if (callee.kind === 'builtin') { this.builtinCall(node, callee.name); return; }
    if (callee.kind === 'method') this.expression(callee.object, callee.arrow ? 'read' : 'address');
    const library = libraryCall(node);
    if (library !== null) {
      for (const argument of node.arguments) this.argument(argument, library.writesArguments);
      if (library.kind === 'barrier') this.barriers.add(node);
      if (library.kind !== 'query') this.collectives.add(node);
      return;
    }
    switch (callee.kind) {
      case 'function': this.known(node, callee.candidates); return;
      case 'method': this.known(node, callee.candidates); return;
      case 'value': this.throughValue(node, callee.value); return;
      case 'unknown': this.unknown(node); return;
      default: unreachable(callee);
    }
  }

  private builtinCall(node: CallExpr, name: string): void {
    const entry = builtin(name);
    for (const argument of node.arguments) this.expression(argument, 'read');
    if (entry === undefined) { this.unknownCalls.add(node); this.writeUnknown(); return; }
    for (const position of new Set([...entry.reads, ...entry.writes])) {
      const pointer = node.arguments[position];
      if (pointer === undefined || entry.family === 'texture') continue;
      const mode = entry.atomic ? 'atomic' : entry.reads.includes(position) ? (entry.writes.includes(position) ? 'both' : 'read') : 'write';
      for (const place of targetsOf(pointer, this.context)) this.touch(place, mode, node, null, entry.volatile);
    }
    if (entry.family === 'texture' && entry.writes.length > 0) this.record({ ...UNKNOWN_PLACE, space: 'device' }, 'write', node, null, false);
    // `sincosf(x, &s, &c)` and the like say so in `writes`; a built-in with out-parameters of another kind does not exist.
    if (entry.barrier !== null) this.barriers.add(node);
    if (entry.collective !== null) this.collectives.add(node);
    if (entry.fence !== null) this.fences.add(node);
    if (entry.atomic) this.atomics.add(node);
    if (entry.output !== null || (entry.volatile && entry.collective === null)) this.visible.add(node);
    if (entry.mayFault) this.faults.add(node);
  }

  private known(node: CallExpr, candidates: readonly FunctionDecl[]): void {
    const bodies = candidates.flatMap((candidate) => bodiesOf(candidate, this.context.program));
    const allKnown = candidates.length > 0 && candidates.every((candidate) => bodiesOf(candidate, this.context.program).length > 0);
    if (!allKnown) {
      // A declaration of a built-in without its body (`extern float sqrtf(float)`) means the built-in.
      const { callee } = node;
      if (callee.kind === 'function' && bodies.length === 0 && isBuiltin(callee.name)) this.builtinCall(node, callee.name);
      else this.unknown(node);
      return;
    }
    for (let position = 0; position < node.arguments.length; position++) {
      const argument = node.arguments[position];
      if (argument === undefined) continue;
      const byReference = bodies.some((body) => body.parameters[position]?.type.kind === 'reference');
      this.expression(argument, byReference && this.isLvalue(argument) ? 'address' : 'read');
    }
    for (const body of bodies) {
      const summary = summaryOf(body, this.context.program);
      if (summary === null) { this.unknownCalls.add(node); this.writeArguments(node); } else this.apply(summary, node);
    }
  }

  private apply(summary: Summary, node: CallExpr): void {
    for (const touch of summary.touches) {
      for (const place of substitute(touch.place, summary.parameters, node, this.context)) this.touch(place, touch.kind, touch.node, node, touch.volatile);
    }
    for (const decl of summary.captured.uses) this.uses.add(decl);
    for (const decl of summary.captured.assigns) this.assigns.add(decl);
    for (const call of summary.effects.barriers) this.barriers.add(call);
    for (const call of summary.effects.collectives) this.collectives.add(call);
    for (const call of summary.effects.fences) this.fences.add(call);
    for (const call of summary.effects.atomics) this.atomics.add(call);
    for (const call of summary.effects.unknownCalls) this.unknownCalls.add(call);
    for (const call of summary.effects.visible) this.visible.add(call);
    for (const statement of summary.effects.asm) this.asm.add(statement);
    for (const part of summary.effects.opaque) this.opaque.add(part);
    if (summary.effects.unknownCalls.length > 0 || summary.effects.opaque.length > 0) this.writeExposed();
    if (summary.mayFault) this.faults.add(node);
  }

  private throughValue(node: CallExpr, value: Expr): void {
    this.expression(value, 'address');
    const lambda = lambdaOf(value);
    if (lambda !== null) {
      node.arguments.forEach((argument, position) => this.expression(argument, lambda.parameters[position]?.type.kind === 'reference' && this.isLvalue(argument) ? 'address' : 'read'));
      const summary = lambdaSummary(lambda, this.context.program);
      if (summary === null) this.unknownCalls.add(node);
      else this.apply(summary, node);
      return;
    }
    const type = strip(value).type;
    const record: RecordDecl | null = type.kind === 'record' ? type.decl : type.kind === 'reference' && type.to.kind === 'record' ? type.to.decl : null;
    const operators = record === null ? [] : record.methods.filter((method) => method.name === 'operator()' && method.parameters.length === node.arguments.length);
    if (operators.length > 0) this.known(node, operators);
    else this.unknown(node);
  }

  private unknown(node: CallExpr): void {
    this.unknownCalls.add(node);
    for (const argument of node.arguments) this.argument(argument, true);
    if (node.callee.kind === 'method' && !node.callee.arrow) this.access(node.callee.object, 'both');
    this.writeUnknown();
  }

  /** Every argument by reference or pointer may be written. */
  private writeArguments(node: CallExpr): void {
    for (const argument of node.arguments) this.argument(argument, true);
    this.writeUnknown();
  }

  private argument(argument: Expr, written: boolean): void {
    this.expression(argument, 'read');
    if (!written) return;
    const inner = strip(argument);
    if (this.isLvalue(inner) && inner.type.const !== true) this.access(inner, 'both');
    if (inner.type.kind === 'pointer' || inner.type.kind === 'array') {
      for (const place of targetsOf(inner, this.context)) if (place.base !== null) this.touch(place, 'both', inner, null, false);
    }
  }

  private construct(node: ConstructExpr): void {
    const type = node.type;
    if (type.kind === 'record' && type.decl.vector === null) {
      const constructors = type.decl.methods.filter((method) => method.name === type.decl.name && method.parameters.length >= node.arguments.length);
      for (const argument of node.arguments) this.expression(argument, 'read');
      for (const constructor of constructors) {
        const summary = summaryOf(constructor, this.context.program);
        if (summary === null || summary.touches.some((touch) => touch.place.base !== 'this' && touch.kind !== 'read') || summary.effects.unknownCalls.length > 0) this.unknownCalls.add(node);
      }
      return;
    }
    const unknownType = type.kind === 'unknown' && libraryCall({ ...node, kind: 'call', callee: { kind: 'unknown', name: type.text }, calleeSpan: node.span, templateArguments: null }) === null;
    for (const argument of node.arguments) this.argument(argument, unknownType);
    if (unknownType) { this.unknownCalls.add(node); this.writeUnknown(); }
  }
}

/** `volatile T *p`: what `p[i]` and `*p` access is volatile even if the type of the expression lost the word. */
function volatileThrough(lvalue: Expr): boolean {
  const inner = strip(lvalue);
  const pointer = inner.kind === 'index' ? strip(inner.base) : inner.kind === 'unary' && inner.op === '*' ? strip(inner.operand) : inner.kind === 'member' ? strip(inner.object) : null;
  if (pointer === null) return false;
  if (inner.kind === 'member' && !inner.arrow) return isVolatile(pointer.type) || volatileThrough(pointer);
  const type = pointer.type;
  return (type.kind === 'pointer' && isVolatile(type.to)) || (type.kind === 'array' && (isVolatile(type) || volatileThrough(pointer)));
}

/** The lambda that a value is: written here, or the only value of a local variable. */
export function lambdaOf(value: Expr): (Expr & { readonly kind: 'lambda' }) | null {
  const inner = strip(value);
  if (inner.kind === 'lambda') return inner;
  if (inner.kind === 'ref' && inner.decl !== null && inner.decl.kind === 'variable' && inner.decl.init !== null) {
    const init = strip(inner.decl.init);
    return init.kind === 'lambda' ? init : null;
  }
  return null;
}
