/**
 * Effects of calls: of built-ins by the one table, of visible functions by their summaries, of everything else anything. Making an object is a call of its
 * constructors, and declaring one also a call of its destructor.
 */
import { builtin, isBuiltin } from '../cuda/builtins.js';
import type { CallExpr, Expr, FunctionDecl, RecordDecl, RecordType, Type, VariableDecl } from '../syntax/tree.js';
import { unreachable } from '../syntax/tree.js';
import { takes } from './binding.js';
import { strip, type Node } from './children.js';
import { isFixedObject } from './const-promise.js';
import { EffectTables, type Mode } from './effects-tables.js';
import { conversionCall } from './implicit-calls.js';
import { defaultsOf, implicitIn, isImplicit, mayRunMore } from './implicit-code.js';
import { libraryCall } from './library-calls.js';
import { lambdaOf } from './lambdas.js';
import { constructorsFor, isWhollyGiven, lifeOf, recordTypeOf } from './object-lives.js';
import { targetsOf, UNKNOWN_PLACE } from './places.js';
import { isConversion } from './record-members.js';
import { givesForeign } from './template-types.js';
import { bodiesOf, lambdaSummary, substitute, summaryOf, type Summary } from './summaries.js';

export abstract class CallEffects extends EffectTables {
  abstract expression(node: Expr, mode: Mode): void;

  protected call(node: CallExpr): void {
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
    this.unnamed(node);
    switch (callee.kind) {
      case 'function': this.known(node, callee.candidates); return;
      case 'method': this.known(node, callee.candidates); return;
      case 'value': this.throughValue(node, callee.value); return;
      case 'unknown': this.unknown(node); return;
      default: unreachable(callee);
    }
  }

  /** Default arguments, and what by-value parameters and temporary results run. */
  private unnamed(node: CallExpr): void {
    if (isImplicit(node)) return;
    const defaults = defaultsOf(node);
    for (const call of implicitIn(node)) {
      const { callee } = call;
      if (callee.kind !== 'function') this.unknown(call);
      else if (callee.candidates.some((fn) => defaults.includes(fn))) this.known(call, callee.candidates);
      else this.runs(call, callee.candidates, []);
    }
  }

  /** What else runs at a node without being named; conversion functions are told by `conversion`. */
  protected implied(node: Node): void {
    if (!mayRunMore(node)) return;
    for (const call of implicitIn(node)) {
      const { callee } = call;
      if (callee.kind !== 'function') this.unknown(call);
      else if (!callee.candidates.every(isConversion)) this.runs(call, callee.candidates, []);
    }
  }

  protected builtinCall(node: CallExpr, name: string): void {
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

  protected known(node: CallExpr, candidates: readonly FunctionDecl[]): void {
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
      for (const body of bodies) {
        this.convertedTo(argument, body.parameters[position]?.type ?? null);
        if (takes(body, position, node, this.context.index.body) === 'unknown') this.handedOver(argument);
      }
    }
    for (const body of bodies) {
      const summary = summaryOf(body, this.context.program);
      if (summary === null) { this.unknownCalls.add(node); this.writeArguments(node); } else this.apply(summary, node);
    }
  }

  /** An object that may be changed by whoever gets it. */
  protected handedOver(value: Expr): void {
    const inner = strip(value);
    if (inner.kind === 'conditional') { this.handedOver(inner.then); this.handedOver(inner.else); return; }
    // A name that nothing declares may be a constant, and is read as memory anyway.
    if (this.isLvalue(inner) && !isFixedObject(inner) && !(inner.kind === 'ref' && inner.decl === null && inner.argument === undefined)) this.access(inner, 'both');
  }

  /** An object that is used as a value of another type: its conversion functions run. */
  protected conversion(node: Expr): void {
    const conversions = this.context.index.conversions.get(node);
    if (conversions === undefined) return;
    if (conversions.functions.length > 0) this.known(conversionCall(node, conversions.functions), conversions.functions);
    if (conversions.unseen) this.unseen(node);
  }

  /** `begin`, `end`, `!=`, `++` and `*` of a range that is no array. */
  protected iterators(range: Expr): void {
    this.unseen(range);
  }

  protected unseen(object: Expr): void {
    this.unknownCalls.add(object);
    if (this.isLvalue(object)) this.access(object, 'both');
    this.writeUnknown();
  }

  protected apply(summary: Summary, node: CallExpr): void {
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

  protected throughValue(node: CallExpr, value: Expr): void {
    this.expression(value, 'address');
    const lambda = lambdaOf(value);
    if (lambda !== null) {
      node.arguments.forEach((argument, position) => {
        const wanted = lambda.parameters[position]?.type ?? null;
        this.expression(argument, wanted?.kind === 'reference' && this.isLvalue(argument) ? 'address' : 'read');
        this.convertedTo(argument, wanted);
      });
      const summary = lambdaSummary(lambda, this.context.instance, this.context.program);
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

  protected unknown(node: CallExpr): void {
    this.unknownCalls.add(node);
    for (const argument of node.arguments) this.argument(argument, true);
    if (node.callee.kind === 'method' && !node.callee.arrow) this.access(node.callee.object, 'both');
    this.writeUnknown();
  }

  /** Every argument by reference or pointer may be written. */
  protected writeArguments(node: CallExpr): void {
    for (const argument of node.arguments) this.argument(argument, true);
    this.writeUnknown();
  }

  protected argument(argument: Expr, written: boolean): void {
    this.expression(argument, 'read');
    if (!written) return;
    const inner = strip(argument);
    if (this.isLvalue(inner) && !isFixedObject(inner)) this.access(inner, 'both');
    if (inner.type.kind === 'pointer' || inner.type.kind === 'array') {
      for (const place of targetsOf(inner, this.context)) if (place.base !== null) this.touch(place, 'both', inner, null, false);
    }
  }

  /** Making an object from these arguments; `node` stands for the call. */
  protected construct(node: Expr, type: Type, given: readonly Expr[]): void {
    if (type.kind === 'record') {
      for (const argument of given) this.expression(argument, 'read');
      if (type.decl.vector !== null) return;
      if (!isWhollyGiven(type.decl, given.length)) this.begins(node, type, given);
      this.runs(node, lifeOf(type).ends, []);
      return;
    }
    const element = type.kind === 'array' ? recordTypeOf(type) : null;
    if (element !== null) for (const argument of given) this.converted(argument, element);
    const unknownType = node.kind === 'construct' && type.kind === 'unknown' && libraryCall(callOf(node, type.text, [], given)) === null;
    for (const argument of given) this.argument(argument, unknownType);
    if (unknownType) { this.unknownCalls.add(node); this.writeUnknown(); }
  }

  /** `T x;`: the constructor without arguments. */
  protected defaulted(variable: VariableDecl): void {
    let { type } = variable;
    while (type.kind === 'array') type = type.of;
    if (type.kind === 'record' && type.decl.vector === null && !variable.opaqueInit) this.begins(nameOf(variable), type, []);
  }

  /** Constructors of a record, what its bases and members run, and default arguments that a constructor is not given. */
  private begins(node: Expr, type: RecordType, given: readonly Expr[]): void {
    const { parts, unseen } = lifeOf(type);
    if (unseen || givesForeign(type, this.context.program)) { this.unknownCalls.add(node); this.writeUnknown(); }
    this.runs(node, parts, []);
    const constructors = constructorsFor(type, given.length);
    this.runs(node, constructors, given);
    for (const constructor of constructors) {
      const call = callOf(node, constructor.name, [constructor], given);
      for (const missing of defaultsOf(call)) this.known(callOf(node, missing.name, [missing], []), [missing]);
    }
  }

  /** An object that is named where its value is wanted may be copied. */
  protected copied(node: Expr): void {
    if (node.type.kind === 'record' && (node.kind === 'ref' || node.kind === 'index' || node.kind === 'member' || node.kind === 'unary')) this.runs(node, lifeOf(node.type).copies, []);
  }

  /** `T x = v;` for a `v` of another type: the constructor that converts. What makes an object of its own counts there; a list that nobody told its type makes this one. */
  protected converted(value: Expr, type: Type): void {
    if (type.kind !== 'record' || type.decl.vector !== null || value.kind === 'construct') return;
    const from = strip(value).type;
    if (value.kind === 'init-list') { if (from.kind !== 'record' && from.kind !== 'array') this.begins(value, type, value.elements); return; }
    if (from.kind === 'record' && from.decl === type.decl) return;
    this.begins(value, type, [value]);
  }

  /** A number, a pointer or another object where an object is wanted: an argument, a result, a value that is assigned. */
  protected convertedTo(value: Expr, wanted: Type | null): void {
    const type = wanted?.kind === 'reference' ? wanted.to : wanted;
    const from = strip(value).type.kind;
    if (type !== null && type.kind === 'record' && ((from !== 'unknown' && from !== 'dependent') || value.kind === 'init-list')) this.converted(value, type);
  }

  protected destroyed(variable: VariableDecl): void {
    let { type } = variable;
    while (type.kind === 'array') type = type.of;
    if (type.kind !== 'record') return;
    if (givesForeign(type, this.context.program)) this.unseen(nameOf(variable));
    const own = type.decl.methods.filter((method) => method.name.startsWith('~'));
    const destructors = new Set([...own, ...lifeOf(type).ends]);
    if (destructors.size > 0) this.runs(nameOf(variable), [...destructors], []);
  }

  /** Special members of a record: what they do to their own object is no effect here, what they do to anything else may be. */
  private runs(node: Expr, candidates: readonly FunctionDecl[], given: readonly Expr[]): void {
    for (const candidate of candidates) {
      if (candidate.defaulted === true) continue;
      const bodies = bodiesOf(candidate, this.context.program);
      if (bodies.length === 0) { this.unknownCalls.add(node); this.writeUnknown(); }
      for (const body of bodies) {
        const summary = summaryOf(body, this.context.program);
        if (summary === null) { this.unknownCalls.add(node); this.writeUnknown(); continue; }
        const foreign = summary.touches.filter((touch) => touch.place.base !== 'this');
        // A pointer in the object may lead anywhere.
        if (summary.touches.some((touch) => touch.place.base === 'this' && touch.kind !== 'read' && touch.place.steps.includes('*', 1))) { this.unknownCalls.add(node); this.writeUnknown(); }
        this.apply({ ...summary, touches: foreign }, callOf(node, candidate.name, [candidate], given));
        if (foreign.some((touch) => touch.kind !== 'read')) this.writeUnknown();
      }
    }
  }
}

/** The name of a variable where it is declared. */
export function nameOf(variable: VariableDecl): Expr {
  return { kind: 'ref', name: variable.name, decl: variable, span: variable.nameSpan, type: variable.type };
}

/** What stands for a call of a function that the text does not name. */
function callOf(node: Expr, name: string, candidates: readonly FunctionDecl[], given: readonly Expr[]): CallExpr {
  const callee = candidates.length === 0 ? { kind: 'unknown', name } as const : { kind: 'function', name, candidates } as const;
  return { kind: 'call', span: node.span, type: node.type, callee, calleeSpan: node.span, templateArguments: null, arguments: given };
}
