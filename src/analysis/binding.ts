/**
 * Where a value may be bound to a reference through which it can be changed, though nothing at that place looks like one: by the constructor that makes an
 * object of it, by a parameter whose type a template is told.
 *
 *   Inc x = m;   Inc x[1] = {m};   Agg x{m};   const Inc &x = m;   (Inc)m   return m;   c ? Inc(1) : m   take(m)
 *
 * with `struct Inc { Inc(int &); }`, a class that has an `Inc` among its members, or one that is not seen. Numbers, pointers, CUDA's vectors and classes of
 * which no constructor takes anything but values, and `const` references that it only reads, bind nothing. What is not known may bind. Source: ISO C++ 17, [dcl.init],
 * [over.match.copy]. Not handled: types that depend on the parameters of a template that is being looked at (template-types.ts judges their instances).
 */
import { bindings, substitute } from '../syntax/types.js';
import { strip } from './children.js';
import { mayChangeConst, mayUnconst } from './const-promise.js';
import { mayBeClass } from './implicit-calls.js';
import type { Variable } from './facts.js';
import type { Node } from './parts.js';
import type { CallExpr, Expr, FunctionDecl, RecordDecl, RecordType, Stmt, TemplateArgument, TemplateParameterDecl, TextNames, Type } from '../syntax/tree.js';

const NOTHING: readonly Expr[] = [];

/** Classes, and lists of members, that are being asked already: they add nothing. */
type Seen = Set<RecordDecl | RecordDecl['fields']>;

/** Values of a node that may be bound where they become objects of another type; `returns` is what the function returns, null inside of a lambda. Arguments of calls are left to `takes`. */
export function boundAt(node: Node, returns: Type | null): readonly Expr[] {
  switch (node.kind) {
    case 'declare': {
      let found = NOTHING;
      for (const { type, init, opaqueInit } of node.variables) if (init !== null && !opaqueInit && isBound(type, init)) found = [...found, init];
      return found;
    }
    case 'if': case 'for': case 'while': case 'switch': {
      const declared = node.conditionDecl;
      return declared !== null && declared.init !== null && isBound(declared.type, declared.init) ? [declared.init] : NOTHING;
    }
    case 'range-for': {
      const { type } = strip(node.range);
      return mayConvert(node.variable.type) && binds(node.variable.type, type.kind === 'array' ? type.of : null, null) ? [node.range] : NOTHING;
    }
    case 'return': return node.value !== null && returns !== null && isBound(returns, node.value) ? [node.value] : NOTHING;
    // Operators of types that nothing declares are taken for arithmetic (implicit-calls.ts).
    case 'assign': return node.op === null && node.target.type.kind === 'record' && isBound(node.target.type, node.value) && !isSame(node.target.type, node.value.type) ? [node.value] : NOTHING;
    case 'cast': return node.reference === undefined && (node.type.kind === 'record' || node.type.kind === 'dependent') && isBound(node.type, node.operand) ? [node.operand] : NOTHING;
    case 'conditional': return mayConvert(node.type) ? [node.then, node.else].filter((one) => !isSame(node.type, one.type) && isBound(node.type, one)) : NOTHING;
    case 'construct': return given(node.type, node.arguments);
    case 'init-list': return given(node.type, node.elements);
    default: return NOTHING;
  }
}

/** Asked first, of nearly every value. */
function mayConvert(type: Type): boolean {
  switch (type.kind) {
    case 'record': return type.decl.vector === null;
    case 'reference': return mayConvert(type.to);
    case 'unknown': return true;
    case 'dependent': return type.decl === null || type.text !== type.decl.name;
    default: return false;
  }
}

/** What is made by the value itself counts there. */
function isBound(type: Type, value: Expr): boolean {
  if (!mayConvert(type)) return false;
  const e = strip(value);
  return e.kind !== 'construct' && e.kind !== 'init-list' && e.kind !== 'lambda' && e.kind !== 'literal' && binds(type, e.type, null);
}

function isSame(a: Type, b: Type): boolean {
  return a.kind === 'record' && b.kind === 'record' && a.decl === b.decl;
}

/** May making an object of a type out of a value of another one bind the value? `seen` is null where nothing is asked about yet. */
function binds(wanted: Type, from: Type | null, seen: Seen | null): boolean {
  const type = wanted.kind === 'reference' ? wanted.to : wanted;
  switch (type.kind) {
    case 'record':
      if (type.decl.vector !== null) return false;
      // A reference to the object itself is none to a new one.
      if (wanted.kind === 'reference' && from?.kind === 'record' && derives(from.decl, type.decl)) return false;
      return mayTake(type.decl) && constructorsBind(type, from, seen ?? new Set());
    case 'array': return binds(type.of, from, seen);
    // A copy of an object of the same type is taken for one that leaves it alone.
    case 'unknown': return mayBeClass(type) && !(from?.kind === 'unknown' && from.text === type.text);
    // `typename A<T>::reference`; what a parameter has for members is judged with its instances.
    case 'dependent': return wanted.kind !== 'reference' && type.member === undefined && (type.decl === null ? type.text !== '' : type.text !== type.decl.name);
    default: return false;
  }
}

function derives(record: RecordDecl, base: RecordDecl, depth = 0): boolean {
  return record === base || (depth < 16 && record.bases.some((one) => one.kind === 'record' && derives(one.decl, base, depth + 1)));
}

const takers = new WeakMap<RecordDecl, boolean>();

/** Can a constructor of the class, or one that it leads to, bind anything at all? Of nearly all classes none can: asked once for each. */
function mayTake(record: RecordDecl): boolean {
  const known = takers.get(record);
  if (known !== undefined) return known;
  takers.set(record, true);
  const answer = constructorsBind({ kind: 'record', decl: record }, null, new Set());
  takers.set(record, answer);
  return answer;
}

/** A constructor that can be called with one argument, inherited ones included. */
function constructorsBind(type: RecordType, from: Type | null, seen: Seen): boolean {
  const { decl } = type;
  if (seen.has(decl)) return false;
  seen.add(decl);
  if (!decl.complete || decl.specialised === true) return true;
  return constructors(decl, 1).some((one) => parameterBinds(one, 0, type, from, seen)) || decl.bases.some((base) => base.kind !== 'record' || constructorsBind(base, from, seen));
}

function constructors(record: RecordDecl, count: number): readonly FunctionDecl[] {
  return record.methods.filter(({ name, parameters, defaulted }) => name === record.name && defaulted !== true && (parameters.length >= count || parameters.at(-1)?.pack === true)
    && parameters.slice(count).every((parameter) => parameter.default !== null || parameter.pack));
}

function parameterBinds(fn: FunctionDecl, position: number, made: RecordType, from: Type | null, seen: Seen): boolean {
  const parameter = fn.parameters[position] ?? fn.parameters.at(-1);
  if (parameter === undefined || parameter.pack) return true;
  const { type } = parameter;
  switch (type.kind) {
    case 'unknown': return true;
    case 'reference': {
      const { to } = type;
      if (to.const === true) return mayChangeConst(fn, position, null) || binds(type, from, seen);
      // `int &&` takes no lvalue of that type, and a copy of one of another; `T &&` takes either.
      if (type.rvalue === true) return to.kind === 'dependent' || to.kind === 'unknown';
      return from === null || !isNumber(to) || !isNumber(from) || (to.kind === from.kind && (to.kind !== 'int' || from.kind !== 'int' || (to.bits === from.bits && to.signed === from.signed)));
    }
    // Whether anything may be told is asked without arguments.
    case 'dependent': return from === null ? type.decl === null || fn.template?.includes(type.decl) !== true : mayBeReference(type, fn, made.decl, made.templateArguments ?? null, null);
    default: return binds(type, from, seen);
  }
}

function isNumber(type: Type): boolean {
  return type.kind === 'int' || type.kind === 'float' || type.kind === 'bool';
}

/** Values that an object of the type is made of and that it may bind: by a constructor, or by a member of an aggregate. */
function given(type: Type, values: readonly Expr[]): readonly Expr[] {
  if (type.kind === 'array') {
    return mayConvert(elementOf(type)) ? values.filter((value) => isBound(elementOf(type), value)) : NOTHING;
  }
  if (type.kind !== 'record' || type.decl.vector !== null || values.length === 0) return NOTHING;
  return values.filter((value, i) => isMadeElsewhere(value) && elementBinds(type, values.length, i, value.type, new Set()));
}

function elementOf(type: Type): Type {
  return type.kind === 'array' ? elementOf(type.of) : type;
}

function isMadeElsewhere(value: Expr): boolean {
  const e = strip(value);
  return e.kind !== 'construct' && e.kind !== 'init-list' && e.kind !== 'literal';
}

/** May an object that is made of so many values bind the one at a position? */
export function mayBindElement(type: RecordType, count: number, position: number, from: Type): boolean {
  return elementBinds(type, count, position, from, new Set());
}

function elementBinds(type: RecordType, count: number, position: number, from: Type, seen: Seen): boolean {
  const { decl } = type;
  if (!decl.complete || decl.specialised === true) return true;
  if (seen.has(decl.fields)) return false;
  seen.add(decl.fields);
  const made = constructors(decl, count);
  if (made.some((one) => parameterBinds(one, position, type, from, seen))) return true;
  if (decl.bases.some((base) => base.kind !== 'record' || elementBinds(base, count, position, from, seen))) return true;
  if (decl.methods.some(({ name }) => name === decl.name)) return false;
  // Braces may be left out: any member may get it.
  return decl.fields.some((field) => {
    if (field.storage !== 'member') return false;
    const inner = elementOf(field.type);
    switch (inner.kind) {
      case 'reference': return inner.to.const !== true || binds(inner, from, seen);
      case 'record': return inner.decl.vector === null && (binds(inner, from, seen) || elementBinds(inner, 1, 0, from, seen));
      case 'dependent': {
        const told = decl.template === null || type.templateArguments === undefined ? inner : elementOf(substitute(inner, bindings(decl.template, type.templateArguments)));
        // A part of the arguments: `Held<Held<int>>` meets its class again.
        if (told.kind === 'record') return told.decl.vector === null && (binds(told, from, new Set()) || elementBinds(told, 1, 0, from, new Set()));
        return mayBeReference(inner, null, decl, type.templateArguments ?? null, null);
      }
      default: return binds(inner, from, seen);
    }
  });
}

/**
 * May a type that depends on a template's parameters be a reference, for a parameter that is written like a value? Deduced types are none; those that a template is told may be, and
 * so may members of other types. Inside of a template the types of its own parameters are judged with its instances.
 */
function mayBeReference(type: Type & { kind: 'dependent' }, fn: FunctionDecl | null, owner: RecordDecl | null, ofClass: readonly TemplateArgument[] | null, explicit: readonly TemplateArgument[] | null): boolean {
  const { decl } = type;
  if (decl === null) return type.text !== '';
  if (type.text !== decl.name) return true;
  const own = fn?.template?.includes(decl) === true;
  if (!own && owner?.template?.includes(decl) !== true) return false;
  if (own && explicit?.[decl.index] === undefined) return false;
  const argument = own ? explicit?.[decl.index] : ofClass?.[decl.index] ?? (ofClass === null ? undefined : decl.default ?? undefined);
  return argument?.kind === 'type' && (argument.type.kind === 'reference' || (argument.type.kind === 'unknown' && isComputed(argument.type.text)));
}

/** `std::add_lvalue_reference_t<int>`: a type that is made of others. The name of one that is not seen is taken for that of a value. */
function isComputed(text: string): boolean {
  return text === '' || text.includes('<') || text.includes('(');
}

/** Is a parameter of a template deduced from the signature of a function that is passed, and so perhaps a reference where it is not deduced from the argument itself? */
function isInSignature(type: Type, decl: TemplateParameterDecl): boolean {
  switch (type.kind) {
    case 'pointer': case 'reference': return isInSignature(type.to, decl);
    case 'function': return [type.returns, ...type.parameters].some((one) => names(one, decl));
    default: return false;
  }
}

function names(type: Type, decl: TemplateParameterDecl): boolean {
  switch (type.kind) {
    case 'pointer': case 'reference': return names(type.to, decl);
    case 'array': return names(type.of, decl);
    case 'dependent': return type.decl === decl;
    default: return false;
  }
}

/**
 * How a function takes an argument: as a value, as a reference that it may write through, or by a way that is not followed into it. A reference to `const` counts as a value where the
 * function, or `around`, the code that calls it, does not get around the `const`.
 */
export function takes(fn: FunctionDecl, position: number, call: CallExpr, around: Stmt): 'value' | 'reference' | 'unknown' {
  const parameter = fn.parameters[position] ?? fn.parameters.at(-1);
  if (parameter === undefined) return 'unknown';
  const { type } = parameter;
  if (parameter.pack) return type.kind === 'reference' && type.to.const === true && !mayUnconst(around) ? 'value' : 'unknown';
  const argument = call.arguments[position];
  switch (type.kind) {
    case 'unknown': return 'reference';
    case 'reference':
      if (argument !== undefined && mayConvert(type) && binds(type, strip(argument).type, null)) return 'unknown';
      if (type.to.const === true) return mayChangeConst(fn, position, around) ? 'reference' : 'value';
      // A number that becomes a temporary object of another type.
      return type.rvalue === true && argument !== undefined && type.to.kind === 'record' && isNumber(strip(argument).type) ? 'value' : 'reference';
    case 'record': return argument !== undefined && isBound(type, argument) ? 'unknown' : 'value';
    case 'dependent': {
      const { decl } = type;
      if (decl !== null && fn.parameters.some((other) => other !== parameter && isInSignature(other.type, decl))) return 'unknown';
      return mayBeReference(type, fn, fn.owner, classArguments(call), call.templateArguments) ? 'unknown' : 'value';
    }
    default: return 'value';
  }
}

function classArguments({ callee }: CallExpr): readonly TemplateArgument[] | null {
  switch (callee.kind) {
    case 'function': return callee.scope?.templateArguments ?? null;
    case 'method': {
      const { type } = strip(callee.object);
      const object = type.kind === 'pointer' || type.kind === 'reference' ? type.to : type;
      return object.kind === 'record' ? object.templateArguments ?? null : null;
    }
    default: return null;
  }
}

/** May text that is not understood have kept the address of the variable? */
export function isNamedIn(decl: Variable, texts: readonly (TextNames | null)[]): boolean {
  return texts.some((names) => names === null || ((!names.plain || decl.type.kind === 'array') && names.all.includes(decl.name)));
}
