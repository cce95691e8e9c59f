/** Which declarations a call may mean: arity, closeness of types, declarations replaced by their definitions, overloaded operators. */
import { byArguments } from './argument-lookup.js';
import { bindingOf, isBeaten, isRefused } from './overload-rank.js';
import type { Cst } from './cst.js';
import { FunctionNode } from './function-node.js';
import type { Lowering } from './context.js';
import type { CallExpr, Expr, FunctionDecl, ParameterDecl, RecordDecl, TemplateArgument, TemplateParameterDecl, Type } from './tree.js';
import { strip } from './tree.js';
import {
  UNKNOWN, decay, isArithmetic, printType, sameType, stripReference, substitute, unqualified, type Bindings,
} from './types.js';

/** Has the function a body in the text, whether or not it was lowered? */
export function isDefinition(decl: FunctionDecl): boolean {
  return decl instanceof FunctionNode && decl.bodyLookup() !== null;
}

const leftOut = new WeakSet<FunctionDecl>();

/** Marks a function that stands in an arm of `#if` that the configuration leaves out: it is looked at, and it is not what a call means if anything else can be. */
export function markLeftOut(decl: FunctionDecl): void {
  leftOut.add(decl);
}

export function isLeftOut(decl: FunctionDecl): boolean {
  return leftOut.has(decl);
}

export function admitsArity(decl: FunctionDecl, count: number): boolean {
  const variadic = decl.parameters.some((p) => p.pack);
  const required = decl.parameters.filter((p) => p.default === null && !p.pack).length;
  return count >= required && (variadic || count <= decl.parameters.length);
}

/** Same parameters, as a declaration and its definition have them. */
export function sameSignature(a: FunctionDecl, b: FunctionDecl): boolean {
  if (a === b) return true;
  if (a.name !== b.name || a.parameters.length !== b.parameters.length || (a.template === null) !== (b.template === null) || a.constant !== b.constant) return false;
  return a.parameters.every((p, i) => printType(unqualified(p.type)) === printType(unqualified(b.parameters[i]?.type ?? UNKNOWN)));
}

/**
 * Whether a call is dispatched at run time: a virtual function of an object that is reached through a pointer or a reference, whose class may be any
 * derived one. Of a variable's own object the class is known.
 */
export function isDispatched(candidates: readonly FunctionDecl[], object: Expr, arrow: boolean): boolean {
  if (!candidates.some((decl) => isVirtual(decl))) return false;
  const x = strip(object);
  const exact = !arrow && ((x.kind === 'ref' && (x.decl?.kind === 'variable' || x.decl?.kind === 'parameter') && x.decl.type.kind === 'record') || x.kind === 'construct');
  return !exact;
}

/** Declared virtual itself, or overriding a function of a base that is. */
function isVirtual(decl: FunctionDecl): boolean {
  return decl.virtual === true || (decl.owner?.bases ?? []).some((base) => base.kind === 'record' && overrides(base.decl, decl, 0));
}

function overrides(base: RecordDecl, decl: FunctionDecl, depth: number): boolean {
  if (base.methods.some((m) => m.name === decl.name && m.virtual === true)) return true;
  return depth < 16 && base.bases.some((b) => b.kind === 'record' && b.decl !== base && overrides(b.decl, decl, depth + 1));
}

/** Candidates for a call, likeliest first: declarations that have a definition among them are dropped, and what another one surely beats. All that are left may be meant. */
export function bestCandidates(
  decls: readonly FunctionDecl[], args: readonly Expr[], templateArguments: readonly TemplateArgument[] | null,
): FunctionDecl[] {
  const [only] = decls;
  if (only !== undefined && decls.length === 1) return admitsArity(only, args.length) ? [only] : [];
  let admitted = decls.filter((decl) => admitsArity(decl, args.length));
  if (templateArguments !== null && admitted.some((decl) => decl.template !== null)) admitted = admitted.filter((decl) => decl.template !== null || decl.specialises !== null);
  const unique = admitted.filter((decl, i) =>
    admitted.indexOf(decl) === i && (isDefinition(decl) || !admitted.some((other) => other !== decl && isDefinition(other) && sameSignature(decl, other))));
  if (unique.length <= 1) return unique;
  const bound = unique.filter((decl) => decl.template !== null || !args.some((arg, i) => isRefused(decl, arg, i)));
  const viable = bound.length === 0 ? unique : bound;
  const left = viable.filter((other) => !viable.some((decl) => decl !== other && isBeaten(other, decl, args)));
  if (left.length <= 1) return left.length === 1 ? left : viable;
  return left.map((decl, order) => ({ decl, order, score: mismatch(decl, args) })).sort((a, b) => a.score - b.score || a.order - b.order).map((s) => s.decl);
}

function mismatch(decl: FunctionDecl, args: readonly Expr[]): number {
  let score = decl.template === null ? 0 : 1;
  args.forEach((arg, i) => {
    const parameter = decl.parameters[i];
    if (parameter === undefined || parameter.pack) score += 3;
    else score += distance(unqualified(stripReference(parameter.type)), decay(arg.type));
  });
  return score;
}

function distance(parameter: Type, argument: Type): number {
  if (sameType(parameter, argument)) return 0;
  if (parameter.kind === 'unknown' || argument.kind === 'unknown' || parameter.kind === 'dependent' || argument.kind === 'dependent') return 2;
  if (isArithmetic(parameter) && isArithmetic(argument)) return parameter.kind === argument.kind ? 3 : 5;
  if (parameter.kind === 'pointer' && argument.kind === 'pointer') {
    if (sameType(unqualified(parameter.to), unqualified(argument.to))) return 1;
    return parameter.to.kind === 'void' || argument.to.kind === 'void' || parameter.to.kind === 'dependent' ? 4 : 40;
  }
  if (parameter.kind === 'record' && argument.kind === 'record') return parameter.decl === argument.decl ? 1 : 40;
  return 20;
}

/** Template parameters of a function bound by explicit arguments and by the types of the arguments. */
export function deduce(decl: FunctionDecl, args: readonly Expr[], explicit: readonly TemplateArgument[] | null): Bindings {
  const bound = new Map<TemplateParameterDecl, TemplateArgument>();
  const parameters = decl.template ?? [];
  parameters.forEach((parameter, i) => {
    const argument = explicit?.[i];
    if (argument !== undefined && !parameter.pack) bound.set(parameter, argument);
  });
  decl.parameters.forEach((parameter: ParameterDecl, i) => {
    const arg = args[i];
    if (arg !== undefined && !parameter.pack) unify(parameter.type, decay(arg.type), parameters, bound);
  });
  for (const parameter of parameters) if (!bound.has(parameter) && parameter.default !== null) bound.set(parameter, parameter.default);
  return bound;
}

function unify(pattern: Type, actual: Type, parameters: readonly TemplateParameterDecl[], bound: Map<TemplateParameterDecl, TemplateArgument>): void {
  const p = stripReference(pattern);
  if (actual.kind === 'unknown' || actual.kind === 'dependent') return;
  if (p.kind === 'dependent') {
    if (p.decl !== null && p.text === p.decl.name && parameters.includes(p.decl) && !bound.has(p.decl)) bound.set(p.decl, { kind: 'type', type: unqualified(actual) });
  } else if (p.kind === 'pointer' && actual.kind === 'pointer') {
    unify(p.to, actual.to, parameters, bound);
  } else if (p.kind === 'record' && actual.kind === 'record' && p.decl === actual.decl) {
    p.templateArguments?.forEach((a, i) => {
      const b = actual.templateArguments?.[i];
      if (a.kind === 'type' && b?.kind === 'type') unify(a.type, b.type, parameters, bound);
    });
  }
}

/** What a call returns, references stripped. */
export function resultType(decl: FunctionDecl, args: readonly Expr[], explicit: readonly TemplateArgument[] | null): Type {
  const type = stripReference(decl.returns);
  return unqualified(decl.template === null ? type : substitute(type, deduce(decl, args, explicit)));
}

/** What a call of one of several functions gives: not known where they give different numbers. */
export function resultOfAny(candidates: readonly FunctionDecl[], args: readonly Expr[], explicit: readonly TemplateArgument[] | null, resultOf: (decl: FunctionDecl) => Type = (decl) => resultType(decl, args, explicit)): Type {
  const [best, ...others] = candidates;
  if (best === undefined) return UNKNOWN;
  const type = resultOf(best);
  return others.length > 0 && isArithmetic(type) && others.some((decl) => differs(type, resultOf(decl))) ? UNKNOWN : type;
}

function differs(type: Type, other: Type): boolean {
  return isArithmetic(other) && !sameType(type, other);
}

function classOf(type: Type): RecordDecl | null {
  const t = stripReference(type);
  if (t.kind !== 'record') return null;
  const vector = t.decl.vector;
  // half2 and its like have built-in operators.
  if (vector !== null && vector.lanes === 2 && vector.element.kind === 'float' && (vector.element.format === 'half' || vector.element.format === 'bfloat16')) return null;
  return t.decl;
}

/** Objects and enumerators; asked of every operator, nearly all of which work on numbers. */
function mayBeOverloaded(type: Type): boolean {
  const { kind } = stripReference(type);
  return kind === 'enum' || (kind === 'record' && classOf(type) !== null);
}

/**
 * A call of an overloaded operator, or null if the operator is a built-in one. With a class operand and no operator in sight the
 * callee is unknown: what it reads and writes is not to be guessed. Plain assignment of objects stays an assignment. `x++` is a call with the 0 that
 * tells it from `++x`: an argument without text, `hidden`.
 */
export function operatorCall(ctx: Lowering, node: Cst, operator: Cst, op: string, written: readonly Expr[], hidden: Expr | null = null): CallExpr | null {
  if (ctx.unit.doubts !== null && ctx.unit.doubts.isCalledOtherwise(`operator${op}`, written)) return unknownOperator(ctx, node, operator, op, written);
  for (const arg of written) if (mayBeOverloaded(arg.type)) return overloadedCall(ctx, node, operator, op, written, hidden);
  return null;
}

function unknownOperator(ctx: Lowering, node: Cst, operator: Cst, op: string, written: readonly Expr[]): CallExpr {
  return { kind: 'call', span: ctx.span(node), calleeSpan: ctx.span(operator), callee: { kind: 'unknown', name: `operator${op}` }, arguments: written, templateArguments: null, type: UNKNOWN };
}

function overloadedCall(ctx: Lowering, node: Cst, operator: Cst, op: string, written: readonly Expr[], hidden: Expr | null): CallExpr | null {
  const args = hidden === null ? written : [...written, hidden];
  const [first] = args;
  if (first === undefined) return null;
  const classes = written.map((arg) => classOf(arg.type));
  const name = `operator${op}`;
  const owner = classes[0] ?? null;
  const span = ctx.span(node);
  const calleeSpan = ctx.span(operator);
  const unknown = (): CallExpr => unknownOperator(ctx, node, operator, op, written);
  const called = op === '()' || op === '[]' || op === '->' || op === '=' ? NOT_FOUND : operatorsOutside(ctx, name, args);
  if (owner !== null) {
    const member = ctx.unit.lookup.memberOf(owner, name);
    if (member?.kind === 'functions') {
      const rest = args.slice(1);
      const candidates = bestCandidates(member.decls, rest, null);
      const [best] = candidates;
      if (best !== undefined) {
        // One of the class may be further off than one outside of it.
        if (called.hidden || called.usable.length > 0 || isToldReference(classArguments(first.type)) || !candidates.some((one) => mayFit(one, rest))) return unknown();
        const callee = { kind: 'method' as const, name, object: first, arrow: false, candidates: isDispatched(candidates, first, false) ? [] : candidates };
        ctx.openCall(callee);
        return { kind: 'call', span, calleeSpan, callee, arguments: rest, templateArguments: null, type: resultOfAny(candidates, rest, null, (decl) => methodResult(decl, rest, first.type)) };
      }
    }
  }
  if (op === '=' || (op === '()' && owner === null)) return null;
  if (called.hidden) return unknown();
  const candidates = bestCandidates(called.usable, args, null);
  const [best] = candidates;
  if (best !== undefined) {
    const callee = { kind: 'function' as const, name, candidates };
    ctx.openCall(callee);
    return { kind: 'call', span, calleeSpan, callee, arguments: args, templateArguments: null, type: resultOfAny(candidates, args, null) };
  }
  // Without an operator of its own a comma, or an address, is the built-in one.
  if (op === ',' || (op === '&' && written.length === 1) || classes.every((c) => c === null)) return null;
  return unknown();
}

interface Outside { readonly usable: readonly FunctionDecl[]; readonly hidden: boolean }

const NOT_FOUND: Outside = { usable: [], hidden: false };

/** Operators outside of classes that the place of the call or the types of its operands lead to. */
function operatorsOutside(ctx: Lowering, name: string, args: readonly Expr[]): Outside {
  const free = ctx.unit.lookup.lookup(ctx.scope, name);
  const associated = byArguments(ctx.unit.lookup, args, name);
  const decls = new Set([...free?.kind === 'functions' && free.member === null ? free.decls : [], ...associated.decls]);
  return { usable: [...decls].filter((decl) => decl.parameters.length === args.length && mayFit(decl, args)), hidden: associated.hidden };
}

/**
 * Can the arguments be what the function takes, as far as types tell? An object where a number or a pointer is wanted needs a conversion function, a number where an object is
 * wanted a constructor.
 */
export function mayFit(decl: FunctionDecl, args: readonly Expr[]): boolean {
  return args.every((arg, i) => {
    const parameter = decl.parameters[i];
    return parameter === undefined || parameter.pack || mayBecome(stripReference(parameter.type), arg, bindingOf(parameter) !== 'object');
  });
}

/** `converted`: a new object of the type will do, which no reference that may be written can be bound to. */
function mayBecome(wanted: Type, arg: Expr, converted: boolean): boolean {
  const from = decay(arg.type);
  if (wanted.kind === 'unknown' || wanted.kind === 'dependent' || from.kind === 'unknown' || from.kind === 'dependent' || strip(arg).kind === 'init-list') return true;
  if (wanted.kind === 'enum' && from.kind !== 'record') return from.kind === 'enum' && from.decl === wanted.decl;
  if (wanted.kind !== 'record') return from.kind !== 'record' || mayConvert(from.decl, 0);
  if (from.kind === 'record' && (from.decl === wanted.decl || derives(from.decl, wanted.decl, 0) || mayConvert(from.decl, 0))) return true;
  return converted && mayBeMade(wanted.decl, 0);
}

function derives(record: RecordDecl, base: RecordDecl, depth: number): boolean {
  return depth < 16 && record.bases.some((one) => one.kind !== 'record' || one.decl === base || derives(one.decl, base, depth + 1));
}

/** Has the class a conversion function, or a part that is not seen? */
function mayConvert(record: RecordDecl, depth: number): boolean {
  if (record.vector !== null) return false;
  return depth > 16 || !record.complete || record.specialised === true || record.bases.some((base) => base.kind !== 'record' || mayConvert(base.decl, depth + 1)) || record.methods.some(({ name }) => name.startsWith('operator '));
}

/** Can an object of the class be made of one value? */
function mayBeMade(record: RecordDecl, depth: number): boolean {
  if (record.vector !== null) return record.name === 'dim3';
  return depth > 16 || !record.complete || record.specialised === true || record.bases.some((base) => base.kind !== 'record' || mayBeMade(base.decl, depth + 1))
    || record.methods.some((method) => method.name === record.name && method.parameters.length > 0);
}

/** Is a template told that a parameter of its is a reference, which its functions may then write through? */
export function isToldReference(args: readonly TemplateArgument[] | null): boolean {
  return args !== null && args.some((arg) => arg.kind === 'type' && arg.type.kind === 'reference' && arg.type.to.const !== true);
}

/** Template arguments of the class of an object or of what a pointer leads to. */
export function classArguments(type: Type): readonly TemplateArgument[] | null {
  const object = stripReference(type);
  const record = object.kind === 'pointer' ? stripReference(object.to) : object;
  if (record.kind !== 'record' || record.templateArguments === undefined) return null;
  const { templateArguments: written, decl: { template } } = record;
  return template === null || template.length <= written.length ? written : [...written, ...template.slice(written.length).flatMap((parameter) => parameter.default ?? [])];
}

/** What `object->` is applied to: an object with `operator->` is asked for the pointer, again while it gives an object. */
export function pointerOf(ctx: Lowering, objectNode: Cst, operator: Cst, object: Expr): Expr {
  let pointer = object;
  for (let depth = 0; depth < 4 && stripReference(pointer.type).kind === 'record'; depth++) {
    const call = operatorCall(ctx, objectNode, operator, '->', [pointer]);
    if (call === null) return pointer;
    pointer = call;
  }
  return pointer;
}

/** The result of a method, with the template arguments of its object's type put in. */
export function methodResult(decl: FunctionDecl, args: readonly Expr[], objectType: Type): Type {
  const own = resultType(decl, args, null);
  const object = stripReference(objectType);
  const record = object.kind === 'pointer' ? stripReference(object.to) : object;
  if (record.kind !== 'record' || record.templateArguments === undefined || record.decl.template === null) return own;
  const bound = new Map<TemplateParameterDecl, TemplateArgument>();
  record.decl.template.forEach((parameter, i) => {
    const argument = record.templateArguments?.[i] ?? parameter.default;
    if (argument !== null) bound.set(parameter, argument);
  });
  return substitute(own, bound);
}
