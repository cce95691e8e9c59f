/** Calls of functions, methods and lambdas: overloads, template deduction, arguments, results. */
import { builtin } from '../../cuda/builtins.js';
import { isDispatched, isLeftOut, sameSignature } from '../../syntax/lower-overload.js';
import { arithmeticRank, type Rank } from '../../syntax/overload-rank.js';
import { UNKNOWN, decay, isArithmetic, printType, sameType as sameWrittenType, stripReference, unqualified } from '../../syntax/types.js';
import { strip, type Callee, type Expr, type FunctionDecl, type ParameterDecl, type TemplateArgument, type Type } from '../../syntax/tree.js';
import { bindTemplate, environmentOf, resolve, type Env } from '../resolve.js';
import { alignOf, callableOf, pointerTo, sameType, sizeOf, Unsupported, VOID, type RecordType, type Scalar, type SimType } from '../types.js';
import type { ConstantValue } from '../constants.js';
import { builtinCall } from './builtin-calls.js';
import type { FunctionContext, Slot } from './context.js';
import { expression, staticType } from './expression.js';
import { constructors, initialise, isConstructor } from './construct.js';
import { groupFunction, groupMethod } from './groups.js';
import { copyConstructorOf } from './lifetime.js';
import { vectorOperator } from './vector-operators.js';
import { inlineLambda, lambdaSlot } from './lambdas.js';
import { convert, type Val } from './operators.js';
import { numericLimit } from './numeric-limits.js';
import { beginsWith, boundAddress, isPlace, load, placeOf } from './places.js';
import { accepts, isConst, isNearer, meant, pointsToConst } from './twins.js';

/** With `wantPlace` a result of reference type is returned as such. */
export function callExpression(ctx: FunctionContext, e: Extract<Expr, { kind: 'call' }>, _wantPlace: boolean): Val {
  const callee: Callee = e.callee;
  switch (callee.kind) {
    case 'builtin': return builtinCall(ctx, e, callee.name);
    case 'function': {
      if (meansBuiltin(ctx, callee.name, callee.candidates, e)) return builtinCall(ctx, e, callee.name);
      return callFunction(ctx, callee.candidates, e.arguments, e.templateArguments, null, e, scopeOf(ctx, callee.scope));
    }
    case 'method': return callMethod(ctx, callee, e);
    case 'value': return callValue(ctx, callee.value, e);
    case 'unknown': {
      const group = groupFunction(ctx, e, callee.name);
      if (group !== null) return group;
      const vector = vectorOperator(ctx, e, callee.name);
      if (vector !== null) return vector;
      const limit = numericLimit(ctx, callee.name);
      if (limit !== null) return limit;
      const owner = dependentOwner(ctx, callee.name);
      const methods = owner?.record.layout.decl.methods.filter((m) => m.name === owner.member && m.qualifiers.static) ?? [];
      if (owner !== null && methods.length > 0) return callFunction(ctx, methods, e.arguments, e.templateArguments, null, e, owner.record);
      return ctx.unsupported(`call of unknown function ${callee.name}`, e.span);
    }
  }
}

/**
 * Whether a call whose name a declaration of the program shares means the built-in: overloads of the program stand beside CUDA's, so
 * where none of them takes these arguments, or all stand in an arm that the configuration leaves out, CUDA's is meant.
 */
function meansBuiltin(ctx: FunctionContext, name: string, candidates: readonly FunctionDecl[], e: Extract<Expr, { kind: 'call' }>): boolean {
  if (builtin(name) === undefined) return false;
  if (candidates.every(isLeftOut)) return true;
  const types = e.arguments.map((a) => argumentType(ctx, a));
  return !candidates.some((c) => match(ctx, c, types, e.templateArguments, null) !== null);
}

/** `Policy::member` with a template parameter `Policy` that stands for a record here; null for anything else. */
export function dependentOwner(ctx: FunctionContext, name: string): { readonly record: RecordType; readonly member: string } | null {
  const [scope, member, more] = name.split('::');
  const t = scope === undefined ? undefined : ctx.env.types.get(scope);
  return t?.k === 'record' && member !== undefined && more === undefined ? { record: t, member } : null;
}

function scopeOf(ctx: FunctionContext, scope: Type | undefined): RecordType | null {
  if (scope === undefined) return null;
  const t = resolve(scope, ctx.env);
  return t.k === 'record' ? t : null;
}

function callMethod(ctx: FunctionContext, callee: Extract<Callee, { kind: 'method' }>, e: Extract<Expr, { kind: 'call' }>): Val {
  if (callee.candidates.length === 0 && !callee.arrow) {
    const group = groupMethod(ctx, callee.object, callee.name, e);
    if (group !== null) return group;
  }
  let address: string;
  let record: SimType;
  if (callee.arrow) {
    const p = expression(ctx, callee.object);
    address = p.js;
    record = p.t.k === 'pointer' ? p.t.to : VOID;
  } else {
    const place = placeOf(ctx, callee.object);
    if (place.kind !== 'memory') return ctx.unsupported(`method ${callee.name} of a value that is no struct`, e.span);
    address = place.address;
    record = place.t;
  }
  if (record.k !== 'record') return ctx.unsupported(`method ${callee.name} of a value that is no struct`, e.span);
  let candidates = callee.candidates;
  if (candidates.length === 0) candidates = record.layout.decl.methods.filter((m) => m.name === callee.name);
  if (isDispatched(candidates, callee.object, callee.arrow)) return ctx.unsupported(`call of the virtual function ${callee.name}`, e.span);
  if (candidates.length === 0) return ctx.unsupported(`unknown method ${callee.name}`, e.span);
  return callMethodOn(ctx, address, record, candidates, e.arguments, e.templateArguments, e, callee.arrow ? pointsToConst(ctx, callee.object) : isConst(ctx, callee.object));
}

/** Calls a method (or constructor) on the object at `address`. */
export function callMethodOn(
  ctx: FunctionContext, address: string, record: RecordType, candidates: readonly FunctionDecl[], args: readonly Expr[], explicit: readonly TemplateArgument[] | null, at: Expr, constant: boolean | null = false,
): Val {
  const self = ctx.array(pointerTo(record));
  ctx.lane(`${self}[l]=${address};`);
  return callFunction(ctx, candidates, args, explicit, { array: self, t: record }, at, null, constant);
}

function callValue(ctx: FunctionContext, value: Expr, e: Extract<Expr, { kind: 'call' }>): Val {
  const x = strip(value);
  if (x.kind === 'ref' && x.decl !== null) {
    if (x.decl.kind === 'function') return callFunction(ctx, [x.decl], e.arguments, e.templateArguments, null, e);
    if (x.decl.kind === 'template-parameter') {
      const bound = ctx.env.types.get(x.decl.name);
      const target = bound?.k === 'callable' ? callableOf(bound) : undefined;
      if (target !== undefined && isFunction(target)) return callFunction(ctx, [target], e.arguments, e.templateArguments, null, e);
    }
    const slot = ctx.slotOf(x.decl);
    if (slot?.kind === 'lambda') return inlineLambda(ctx, slot, e.arguments, e);
    if (slot?.kind === 'function') return callFunction(ctx, [slot.decl], e.arguments, e.templateArguments, null, e);
  }
  if (x.kind === 'lambda') return inlineLambda(ctx, lambdaSlot(ctx, x), e.arguments, e);
  if (isPlace(x) || x.kind === 'construct' || x.kind === 'call') {
    const place = placeOf(ctx, x);
    if (place.kind === 'memory' && place.t.k === 'record') {
      const methods = place.t.layout.decl.methods.filter((m) => m.name === 'operator()' || m.name === 'operator ()');
      if (methods.length > 0) return callMethodOn(ctx, place.address, place.t, methods, e.arguments, e.templateArguments, e, isConst(ctx, x));
    }
  }
  return ctx.unsupported('call through a value', e.span);
}

function isFunction(of: object): of is FunctionDecl {
  return 'kind' in of && of.kind === 'function';
}

// ---------------------------------------------------------------------------------------------------------- resolution

interface Match { readonly decl: FunctionDecl; readonly env: Env; readonly score: number }

/** How well an argument suits a parameter: 3 the same type, 2.5 a promotion, 2 a conversion in one family, 1 a conversion, 0 not at all. */
function suits(parameter: SimType, argument: SimType): number {
  const p = parameter.k === 'reference' ? parameter.to : parameter;
  const a = argument.k === 'reference' ? argument.to : argument;
  if (sameType(p, a)) return 3;
  if (p.k === 'scalar' && a.k === 'scalar') {
    if (promoted(a.s) === p.s) return 2.5;
    const family = (s: string): string => (s.startsWith('f') || s.startsWith('b') && s !== 'bool' ? 'f' : 'i');
    return family(p.s) === family(a.s) ? 2 : 1;
  }
  if (p.k === 'pointer' && (a.k === 'pointer' || a.k === 'array')) {
    const to = a.k === 'pointer' ? a.to : a.of;
    // `nullptr` is a pointer to void here and fits every pointer.
    return sameType(p.to, to) ? 3 : p.to.k === 'void' || to.k === 'void' || beginsWith(to, p.to) ? 1 : 0;
  }
  if (p.k === 'pointer' && a.k === 'scalar') return 1;
  if (p.k === 'scalar' && a.k === 'pointer') return p.s === 'bool' ? 1 : 0;
  if (p.k === 'callable' && a.k === 'callable') return p.id === a.id ? 3 : 0;
  if (p.k === 'record') {
    // A number becomes an object through a constructor only, another object also through a base or a conversion function.
    if (a.k === 'scalar' || a.k === 'pointer') return constructors(p).length > 0 ? 1 : 0;
    if (a.k === 'record') return constructors(p).length > 0 || a.layout.decl.bases.length > 0 || a.layout.decl.methods.some((m) => m.name.startsWith('operator ')) ? 1 : 0;
    return 1;
  }
  if (p.k === 'group') return a.k === 'group' ? 2 : 0;
  return 0;
}

/** What a narrow integer or a float is promoted to, which comes before every conversion. */
function promoted(s: Scalar): Scalar | null {
  switch (s) {
    case 'bool': case 'i8': case 'u8': case 'i16': case 'u16': return 'i32';
    case 'f32': return 'f64';
    default: return null;
  }
}

/** Binds template parameters by the type of an argument. False if the shapes do not match. */
export function deduce(parameter: Type, argument: SimType, names: ReadonlySet<string>, types: Map<string, SimType>, values: Map<string, ConstantValue>, byValue = true): boolean {
  switch (parameter.kind) {
    case 'dependent': {
      const name = parameter.decl?.name ?? parameter.text;
      if (!names.has(name)) return true;
      if (!types.has(name)) {
        const decayed: SimType = argument.k === 'array' ? pointerTo(argument.of) : argument.k === 'reference' ? argument.to : argument;
        // By value nothing of the argument's own qualifiers is left; behind a pointer or a reference they belong to the type.
        types.set(name, decayed.k === 'scalar' && byValue ? { k: 'scalar', s: decayed.s } : decayed);
      }
      return true;
    }
    case 'reference': return deduce(parameter.to, argument.k === 'reference' ? argument.to : argument, names, types, values, parameter.to.volatile === true);
    case 'pointer': {
      if (argument.k === 'pointer') return argument.to.k === 'void' || deduce(parameter.to, argument.to, names, types, values, parameter.to.volatile === true); // nullptr deduces nothing
      if (argument.k === 'array') return deduce(parameter.to, argument.of, names, types, values, parameter.to.volatile === true);
      return true;
    }
    case 'array': {
      if (argument.k === 'pointer') return deduce(parameter.of, argument.to, names, types, values, parameter.of.volatile === true);
      if (argument.k !== 'array') return false;
      const length = parameter.length === null ? null : strip(parameter.length);
      if (length !== null && length.kind === 'ref' && names.has(length.name) && argument.length !== null) {
        values.set(length.name, { kind: 'integer', value: BigInt(argument.length), type: { bits: 32, signed: true } });
      }
      return deduce(parameter.of, argument.of, names, types, values, parameter.of.volatile === true);
    }
    case 'record': {
      if (parameter.templateArguments === undefined || argument.k !== 'record' || argument.layout.decl !== parameter.decl) return true;
      const inner = environmentOf(argument.layout);
      for (const [i, own] of (parameter.decl.template ?? []).entries()) {
        const arg = parameter.templateArguments[i];
        if (arg === undefined) continue;
        const type = inner.types.get(own.name);
        const value = inner.values.get(own.name);
        if (arg.kind === 'type' && type !== undefined) deduce(arg.type, type, names, types, values, false);
        if (arg.kind === 'value' && value !== undefined) {
          const v = strip(arg.value);
          if (v.kind === 'ref' && names.has(v.name)) values.set(v.name, value);
        }
      }
      return true;
    }
    default: return true;
  }
}

/** For a static method that another method of its record calls by its bare name: the caller's template arguments. */
function ownerEnvironment(decl: FunctionDecl, env: Env): Env {
  const types = new Map<string, SimType>();
  const values = new Map<string, ConstantValue>();
  for (const p of decl.owner?.template ?? []) {
    const t = env.types.get(p.name);
    const v = env.values.get(p.name);
    if (t !== undefined) types.set(p.name, t);
    if (v !== undefined) values.set(p.name, v);
  }
  return { types, values };
}

function match(ctx: FunctionContext, decl: FunctionDecl, args: readonly SimType[], explicit: readonly TemplateArgument[] | null, owner: RecordType | null): Match | null {
  if (args.length > decl.parameters.length && decl.parameters.at(-1)?.pack !== true) return null;
  for (let i = args.length; i < decl.parameters.length; i++) if (decl.parameters[i]?.default === null && decl.parameters[i]?.pack !== true) return null;
  let env: Env = owner !== null ? environmentOf(owner.layout) : ownerEnvironment(decl, ctx.env);
  let score = 0;
  if (decl.template !== null) {
    const names = new Set(decl.template.map((p) => p.name));
    const given = explicit === null ? env : bindTemplate(decl.template.slice(0, explicit.length), explicit, { types: new Map([...env.types, ...ctx.env.types]), values: new Map([...env.values, ...ctx.env.values]) });
    const types = new Map(env.types);
    const values = new Map(env.values);
    // Names of the caller's own parameters must not leak in.
    if (explicit !== null) {
      for (const p of decl.template.slice(0, explicit.length)) {
        const t = given.types.get(p.name);
        const v = given.values.get(p.name);
        if (t !== undefined) types.set(p.name, t);
        if (v !== undefined) values.set(p.name, v);
      }
    }
    for (const [i, t] of args.entries()) {
      const p = decl.parameters[i];
      if (p !== undefined && !deduce(p.type, t, names, types, values)) return null;
    }
    for (const p of decl.template) {
      if (types.has(p.name) || values.has(p.name) || p.default === null) continue;
      const inner = bindTemplate([p], [], { types, values });
      const t = inner.types.get(p.name);
      const v = inner.values.get(p.name);
      if (t !== undefined) types.set(p.name, t);
      if (v !== undefined) values.set(p.name, v);
    }
    env = { types, values };
    // The more specialised template is the better match: a bare `T` says less than `T*`.
    score -= 0.25 + decl.parameters.filter((p) => p.type.kind === 'dependent' || (p.type.kind === 'reference' && p.type.to.kind === 'dependent')).length / 64;
  }
  for (const [i, t] of args.entries()) {
    const p = decl.parameters[i];
    if (p === undefined || p.pack) continue;
    let s: number;
    try {
      s = suits(resolve(p.type, env), t);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      s = 1;
    }
    if (s === 0) return null;
    score += s;
  }
  return { decl, env, score };
}

function choose(ctx: FunctionContext, candidates: readonly FunctionDecl[], args: readonly Expr[], explicit: readonly TemplateArgument[] | null, owner: RecordType | null, at: Expr, object: boolean | null | undefined): Match {
  const types = args.map((a) => argumentType(ctx, a));
  let best: Match | null = null;
  let rival: FunctionDecl | null = null;
  const matches: Match[] = [];
  const several = candidates.length > 1;
  const onDevice = candidates.some(runsOnDevice);
  for (const decl of candidates) {
    if (several && (!accepts(ctx, decl, args) || (onDevice && !runsOnDevice(decl)))) continue;
    const m = match(ctx, decl, types, explicit, owner);
    if (m === null) continue;
    matches.push(m);
    if (best !== null && m.score === best.score && best.decl.body !== null && decl.body !== null && decl !== best.decl && (decl.template !== null || best.decl.template !== null)) rival = decl;
    else if (best === null || m.score > best.score) rival = null;
    if (best === null || m.score > best.score || (m.score === best.score && best.decl.body === null && decl.body !== null)) best = m;
  }
  const name = candidates[0]?.name ?? '?';
  if (best === null) return ctx.unsupported(`no overload of ${name} fits`, at.span);
  // What tells them apart (`enable_if`, a constraint) is not read.
  if (rival !== null) return ctx.unsupported(`call of ${name}: several templates fit`, at.span);
  const { decl: first, score } = best;
  if (matches.some(({ decl }) => isUndecided(first, decl, args)) || (matches.length > 1 && explicit === null && isTorn(first, args))) return ctx.unsupported(`call of ${name}: which overload is meant`, at.span);
  if (first.template === null && matches.some((m) => m.decl.template !== null && m.score > score - 1 && isNearer(ctx, m.decl, first, args))) return ctx.unsupported(`call of ${name}: a template may be nearer`, at.span);
  best = twin(ctx, best, matches, args, object) ?? ctx.unsupported(`call of ${name}: overloads that const or a kind of reference tells apart`, at.span);
  if (best.decl.body === null) {
    const definition = ctx.compiler.definitionOf(best.decl);
    if (definition === null) return ctx.unsupported(`${name} has no body here`, at.span);
    return match(ctx, definition, types, explicit, owner) ?? { ...best, decl: definition };
  }
  return best;
}

function runsOnDevice({ qualifiers }: FunctionDecl): boolean {
  return qualifiers.device || qualifiers.constexpr;
}

/**
 * Is it not sure that the overload is the better one? Types of the simulator do not tell `long` from `long long`, nor an enum from its number: those of the tree do, where they do not hang on a
 * template's parameters.
 */
function isUndecided(best: FunctionDecl, other: FunctionDecl, args: readonly Expr[]): boolean {
  if (best === other || best.specialises !== null || other.specialises !== null || isLeftOut(other) || sameSignature(best, other)) return false;
  return args.some((arg, i) => {
    const [own, rival] = [numberOf(best.parameters[i]), numberOf(other.parameters[i])];
    if (own === null || rival === null || own === rival || (own !== 'any' && rival !== 'any' && sameWrittenType(own, rival))) return false;
    if (isTemporary(best.parameters[i]) !== isTemporary(other.parameters[i])) return true;
    const [rank, there] = [rankOf(own, arg), rankOf(rival, arg)];
    if (rank !== null && there !== null) return there !== 'none' && (rank === 'none' || there < rank);
    // Not known: what another type of that size and sign, or the template, may be nearer to.
    return own !== 'any' && (rival === 'any' || isAlike(own, rival));
  });
}

function isTemporary(parameter: ParameterDecl | undefined): boolean {
  return parameter?.type.kind === 'reference' && parameter.type.rvalue === true;
}

/** One parameter of the template would stand for two types of numbers. */
function isTorn(decl: FunctionDecl, args: readonly Expr[]): boolean {
  const bound = new Map<object, Type>();
  return decl.template !== null && args.some((arg, i) => {
    const type = stripReference(decl.parameters[i]?.type ?? UNKNOWN);
    const from = decay(arg.type);
    if (numberOf(decl.parameters[i]) !== 'any' || type.kind !== 'dependent' || type.decl === null || !isArithmetic(from)) return false;
    const known = bound.get(type.decl);
    bound.set(type.decl, from);
    return known !== undefined && !sameWrittenType(known, from);
  });
}

/** The type of a parameter for numbers; `any` for one of a template that takes every type as it is. */
function numberOf(parameter: ParameterDecl | undefined): Type | 'any' | null {
  if (parameter === undefined || parameter.pack) return null;
  const type = unqualified(stripReference(parameter.type));
  if (type.kind === 'dependent') return type.decl !== null && type.text === type.decl.name ? 'any' : null;
  return isArithmetic(type) ? type : null;
}

function rankOf(wanted: Type | 'any', arg: Expr): Rank {
  const from = decay(arg.type);
  if (!isArithmetic(from) || (from.kind === 'int' && from.named === 'uncertain')) return null;
  return wanted === 'any' ? 0 : arithmeticRank(wanted, from);
}

function isAlike(a: Type, b: Type): boolean {
  const bits = (t: Type): string => (t.kind === 'int' ? `${t.bits}${t.signed ? '' : 'u'}` : t.kind === 'enum' ? `${t.decl.underlying.bits}${t.decl.underlying.signed ? '' : 'u'}` : printType(t));
  return bits(a) === bits(b);
}

/** Of the best match and those that differ from it in `const` and references alone, the one that is meant. */
function twin(ctx: FunctionContext, best: Match, matches: readonly Match[], args: readonly Expr[], object: boolean | null | undefined): Match | null {
  const twins = matches.filter((m) => m === best || (m.score === best.score && areTwins(m, best)));
  if (twins.length === 1) return best;
  const decl = meant(ctx, twins.map((m) => m.decl), args, object);
  return twins.find((m) => m.decl === decl) ?? null;
}

function areTwins(a: Match, b: Match): boolean {
  if (sameSignature(a.decl, b.decl) || a.decl.parameters.length !== b.decl.parameters.length) return false;
  try {
    return a.decl.parameters.every((p, i) => {
      const other = b.decl.parameters[i];
      return other !== undefined && sameType(bare(resolve(p.type, a.env)), bare(resolve(other.type, b.env)));
    });
  } catch (error) {
    if (error instanceof Unsupported) return false;
    throw error;
  }
}

function bare(t: SimType): SimType {
  return t.k === 'reference' ? t.to : t;
}

function argumentType(ctx: FunctionContext, e: Expr): SimType {
  const x = strip(e);
  if (x.kind === 'lambda') return { k: 'callable', id: ctx.compiler.callableId(x) };
  if (x.kind === 'ref' && x.decl !== null) {
    const slot = ctx.slotOf(x.decl);
    if (slot?.kind === 'lambda') return { k: 'callable', id: ctx.compiler.callableId(slot.lambda) };
    if (slot?.kind === 'function') return { k: 'callable', id: ctx.compiler.callableId(slot.decl) };
    if (x.decl.kind === 'function') return { k: 'callable', id: ctx.compiler.callableId(x.decl) };
  }
  return staticType(ctx, x);
}

// ------------------------------------------------------------------------------------------------------------ emission

function isCallable(ctx: FunctionContext, e: Expr): boolean {
  return strip(e).kind === 'lambda' || callableSlot(ctx, e) !== null;
}

function callableSlot(ctx: FunctionContext, e: Expr): Slot | null {
  const x = strip(e);
  if (x.kind === 'lambda') return lambdaSlot(ctx, x);
  if (x.kind === 'ref' && x.decl !== null) {
    if (x.decl.kind === 'function') return { kind: 'function', decl: x.decl };
    const slot = ctx.slotOf(x.decl);
    if (slot?.kind === 'lambda' || slot?.kind === 'function') return slot;
  }
  return null;
}

export function callFunction(
  ctx: FunctionContext, candidates: readonly FunctionDecl[], args: readonly Expr[], explicit: readonly TemplateArgument[] | null,
  self: { readonly array: string; readonly t: SimType } | null, at: Expr, scope: RecordType | null = null, constant?: boolean | null,
): Val {
  const owner = self !== null && self.t.k === 'record' ? self.t : scope;
  const { decl, env } = choose(ctx, candidates, args, explicit, owner, at, constant);
  if (decl.qualifiers.global) return ctx.unsupported(`kernel ${decl.name} called as a function`, at.span);
  if (decl.parameters.some((p) => p.pack)) return ctx.unsupported('a parameter pack', at.span);
  // A static method has no object.
  const object = decl.qualifiers.static ? null : self;
  if (args.some((a) => isCallable(ctx, a)) || decl.parameters.some((p) => isAnyGroup(p.type))) return inlineFunction(ctx, decl, env, args, object, at);
  const instance = ctx.compiler.instance(decl, env, object?.t ?? null);
  const passed: string[] = [];
  if (object !== null) passed.push(object.array);
  for (const [i, parameter] of decl.parameters.entries()) {
    const type = instance.parameters[i];
    if (type === undefined) throw new Error('internal: parameters');
    passed.push(argument(ctx, args[i], parameter, type, env, at));
  }
  let result: Val = { t: instance.returns, js: '' };
  if (instance.returns.k === 'record') {
    const offset = ctx.frameSlot(instance.returns);
    passed.push(`fb+${offset}`, 'FS');
    result = { t: instance.returns, js: ctx.frameAddress(offset) };
  } else if (instance.returns.k !== 'void') {
    const array = ctx.array(instance.returns);
    passed.push(array);
    result = { t: instance.returns, js: `${array}[l]` };
  }
  ctx.emit(`${instance.generator ? 'yield* ' : ''}${instance.name}(W,${[ctx.mask, ...passed].join(',')});`);
  return result;
}

/** A fresh array with the argument's values (or addresses), which the callee owns. */
function argument(ctx: FunctionContext, given: Expr | undefined, parameter: ParameterDecl, type: SimType, env: Env, at: Expr): string {
  const array = ctx.array(type);
  if (type.k === 'void') return array; // a parameter without a name, of a type that is not known here
  if (given === undefined) {
    if (parameter.default === null) return ctx.unsupported(`missing argument ${parameter.name}`, at.span);
    const outer = ctx.env;
    ctx.env = env;
    ctx.lane(`${array}[l]=${valueFor(ctx, parameter.default, type, parameter)};`);
    ctx.env = outer;
    return array;
  }
  ctx.lane(`${array}[l]=${valueFor(ctx, given, type, parameter)};`);
  return array;
}

export function valueFor(ctx: FunctionContext, given: Expr, type: SimType, parameter: ParameterDecl): string {
  if (type.k === 'reference') {
    const written = parameter.type.kind === 'reference' ? parameter.type : null;
    // A reference to a value, or to const of another type, binds to a temporary.
    return boundAddress(ctx, given, type.to, written?.to.const === true || (written?.rvalue === true && !isPlace(given)), parameter.name);
  }
  if (type.k === 'record') {
    const value = strip(given).kind === 'init-list' ? null : expression(ctx, given);
    if (value !== null && value.t.k === 'record' && sameType(value.t, type)) return value.js;
    const address = ctx.frameAddress(ctx.frameSlot(type));
    initialise(ctx, address, type, given);
    return address;
  }
  return convert(coerced(ctx, expression(ctx, given), type, given), type);
}

/** A value of class type where a scalar or pointer is wanted: its conversion function is called. Other values as they are. */
export function coerced(ctx: FunctionContext, v: Val, to: SimType, at: Expr): Val {
  if (v.t.k !== 'record' || (to.k !== 'scalar' && to.k !== 'pointer')) return v;
  const env = environmentOf(v.t.layout);
  let best: FunctionDecl | null = null;
  let ties: FunctionDecl[] = [];
  let score = 0;
  for (const m of v.t.layout.decl.methods) {
    if (!m.name.startsWith('operator ') || m.parameters.length > 0 || m.body === null || m.template !== null) continue;
    let s: number;
    try {
      s = suits(to, resolve(m.returns, env));
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      continue;
    }
    if (s > score) { best = m; score = s; ties = [m]; } else if (s === score) ties.push(m);
  }
  if (best === null) return v;
  if (ties.length > 1) best = meant(ctx, ties, [], isConst(ctx, at)) ?? ctx.unsupported('conversion functions that const tells apart', at.span);
  // A call ends the lane loop, which the operands of ?: and && share.
  if (ctx.nested > 0) return ctx.unsupported('a conversion function inside an expression that lanes evaluate in part', at.span);
  const value = callMethodOn(ctx, v.js, v.t, [best], [], null, at);
  return value.t.k === 'reference' ? load(ctx, { kind: 'memory', address: value.js, t: value.t.to, volatile: false, own: false }) : value;
}

/** `thread_group`: any group; which one it is, only the argument tells. */
function isAnyGroup(type: Type): boolean {
  const t = type.kind === 'reference' ? type.to : type;
  return t.kind === 'unknown' && /^(?:::)?(?:cooperative_groups::|cg::)?thread_group$/.test(t.text.replace(/\bconst\b/g, '').trim());
}

/** Compiles the callee's body in place: what callable arguments need, whose captures live in the caller. */
function inlineFunction(ctx: FunctionContext, decl: FunctionDecl, env: Env, args: readonly Expr[], self: { readonly array: string; readonly t: SimType } | null, at: Expr): Val {
  if (ctx.compiler.inlining.has(decl)) return ctx.unsupported(`recursive call of ${decl.name} with a callable`, at.span);
  if (decl.body === null) return ctx.unsupported(`${decl.name} has no body here`, at.span);
  if (isConstructor(decl) && decl.initialisers !== undefined) return ctx.unsupported('a constructor that takes a callable', at.span);
  const bindings: { parameter: ParameterDecl; slot: Slot }[] = [];
  for (const [i, parameter] of decl.parameters.entries()) {
    const given = args[i];
    const callable = given === undefined ? null : callableSlot(ctx, given);
    if (callable !== null) { bindings.push({ parameter, slot: callable }); continue; }
    if (isAnyGroup(parameter.type)) {
      const group = given === undefined ? null : argumentType(ctx, given);
      if (group?.k !== 'group') return ctx.unsupported(`the group ${parameter.name}`, at.span);
      bindings.push({ parameter, slot: { kind: 'register', array: ctx.array(group), t: group, set: null, name: parameter.name } });
      continue;
    }
    const type = resolve(parameter.type, env);
    bindings.push({ parameter, slot: boundSlot(ctx, parameter, type, argument(ctx, given, parameter, type, env, at)) });
  }
  ctx.compiler.inlining.add(decl);
  try {
    return ctx.compiler.inlineBody(ctx, decl.body, bindings, isConstructor(decl) ? VOID : resolve(decl.returns, env), env, self, decl.file, ctx.compiler.addressedIn(decl));
  } finally {
    ctx.compiler.inlining.delete(decl);
  }
}

/** The slot of a parameter whose argument lies in `array`. Objects are copied, as by-value parameters are. */
export function boundSlot(ctx: FunctionContext, parameter: ParameterDecl, type: SimType, array: string): Slot {
  if (type.k === 'reference') return { kind: 'reference', array, t: type.to, name: parameter.name };
  if (type.k === 'record') {
    // A kernel's arguments are copied and ended on the host.
    const offset = ctx.frameSlot(type, !ctx.returns.kernel);
    if (!ctx.returns.kernel && copyConstructorOf(type) !== null) return ctx.unsupported(`the copy constructor of ${type.layout.name}`, parameter.span);
    ctx.lane(`D.copy(${ctx.frameAddress(offset)},${array}[l],${sizeOf(type)},${alignOf(type)},l,0);`);
    return { kind: 'frame', offset, t: type, name: parameter.name };
  }
  if (ctx.addressed.has(parameter)) {
    const offset = ctx.frameSlot(type);
    ctx.lane(`D.st${type.k === 'scalar' ? type.s : 'ptr'}(${ctx.frameAddress(offset)},${array}[l],l,0);`);
    return { kind: 'frame', offset, t: type, name: parameter.name };
  }
  return { kind: 'register', array, t: type, set: null, name: parameter.name };
}
