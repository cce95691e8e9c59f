/**
 * Elements of objects that are made and converted: aggregates hold what they are given; a constructor may put anything into its object, and a conversion operator
 * may make anything of it.
 *
 * Constructors are solved like methods that run on an object which holds what it is given, member initialisers first (function-code.ts). Records whose
 * constructor or conversion is not visible give unknown, as do references in objects: what they are bound to may change later.
 */
import { strip } from './children.js';
import { indexFunction } from './function-index.js';
import { conversionsOf, givesOwnAddress, isUndeclared } from './implicit-calls.js';
import { hidesValue } from './hidden-values.js';
import { bodiesOf } from './summaries.js';
import { CONSTANT, LOCAL, UNKNOWN } from './taint.js';
import { defaultTaint, withStores } from './uniformity-calls.js';
import { operandTaint, taintOf } from './uniformity-values.js';
import type { Uniformity } from './uniformity.js';
import type { Expr, FunctionDecl, RecordDecl, Type } from '../syntax/tree.js';

/** Element of an object of a type made from these arguments. */
export function constructedTaint(type: Type, args: readonly Expr[], state: Uniformity): number {
  let given = CONSTANT;
  for (const argument of args) given |= taintOf(argument, state);
  if (hidesValue(type)) return given | UNKNOWN;
  switch (type.kind) {
    case 'record': return type.decl.vector !== null ? given : given | recordTaint(type.decl, args, given, state.isForeignInstance(type), state, 0);
    case 'unknown': return given | UNKNOWN;
    case 'dependent': return state.isForeign(type) ? given | UNKNOWN : given;
    case 'array': return given | constructedTaint(type.of, [], state);
    default: return given;
  }
}

/** Element of `{ a, b }` for a type: an aggregate, or an object made by a constructor. */
export function listTaint(list: Expr & { readonly kind: 'init-list' }, state: Uniformity): number {
  if (list.type.kind === 'record' && list.type.decl.vector === null) return constructedTaint(list.type, list.elements, state);
  let taint = CONSTANT;
  for (const element of list.elements) taint |= taintOf(element, state);
  return taint;
}

/** Element of a value where it becomes one of another type: a parameter, a variable, a result. */
export function convertedTaint(value: Expr, to: Type, state: Uniformity): number {
  if (hidesValue(to) || state.isForeign(to)) return taintOf(value, state) | UNKNOWN;
  const type = to.kind === 'reference' ? to.to : to;
  if (isUndeclared(type)) return operandTaint(value, state);
  if (type.kind !== 'record' || type.decl.vector !== null) return taintOf(value, state);
  const from = strip(value).type;
  const same = from.kind === 'record' && from.decl === type.decl;
  // A copy holds what the original held, unless the record says how it is copied.
  if (same && (to.kind === 'reference' || isMade(value) || !hasOwnCopy(type.decl))) return taintOf(value, state);
  if (from.kind === 'unknown' || from.kind === 'dependent' || value.kind === 'init-list') return taintOf(value, state);
  return constructedTaint(type, [value], state);
}

function isMade(value: Expr): boolean {
  const e = strip(value);
  return e.kind === 'construct' || e.kind === 'init-list';
}

function hasOwnCopy(record: RecordDecl): boolean {
  return record.methods.some((method) => {
    const first = method.parameters[0];
    if (method.name !== record.name || method.defaulted === true || first === undefined || first.type.kind !== 'reference') return false;
    return first.type.to.kind === 'record' && first.type.to.decl === record;
  });
}

/** What a conversion operator may add to the element of an object of this type: the tree does not say where one is called. */
export function conversionTaint(expr: Expr, contents: number, state: Uniformity): number {
  const { type } = expr;
  if (type.kind !== 'record' || type.decl.vector !== null) return CONSTANT;
  const here = indexFunction(state.function).conversions.get(expr);
  if (here?.unseen === true) return UNKNOWN;
  // The address of the object, with what it holds.
  let taint = here?.functions.some(givesOwnAddress) === true ? contents | LOCAL : CONSTANT;
  for (const conversion of conversionsOf(type.decl).functions) {
    const bodies = bodiesOf(conversion, state.env.program);
    if (bodies.length === 0) return UNKNOWN;
    for (const body of bodies) {
      const solved = state.world.solve(body, { parameters: [], self: contents & ~LOCAL, arrival: CONSTANT, foreign: state.isForeignInstance(type), leaked: state.leaked });
      taint |= solved === null ? UNKNOWN : solved.returned();
      // An address that it makes a number of is one that is not followed here either.
      if (solved?.leaked === true) state.leak();
    }
  }
  return taint;
}

function recordTaint(record: RecordDecl, args: readonly Expr[], given: number, foreign: boolean, state: Uniformity, depth: number): number {
  if (record.vector !== null) return CONSTANT;
  if (!record.complete || depth > 8) return UNKNOWN;
  let taint = CONSTANT;
  const constructors = constructorsOf(record, args.length);
  for (const base of record.bases) taint |= base.kind === 'record' ? recordTaint(base.decl, [], given, foreign, state, depth + 1) : UNKNOWN;
  for (const field of record.fields) {
    if (field.storage !== 'member') continue;
    if (field.type.kind === 'reference') return UNKNOWN;
    // With a constructor the defaults of fields are part of what it runs.
    if (constructors.length === 0 && field.init !== null && !isLiteral(field.init)) return UNKNOWN;
    // A field whose own type has a constructor is made by it unless the list says otherwise.
    if (field.type.kind === 'record') taint |= recordTaint(field.type.decl, [], given, foreign || state.isForeignInstance(field.type), state, depth + 1);
  }
  for (const constructor of constructors) taint |= constructorTaint(constructor, args, given, foreign, state);
  return taint;
}

/** Constructors that take so many arguments. */
function constructorsOf(record: RecordDecl, count: number): readonly FunctionDecl[] {
  return record.methods.filter((method) => method.name === record.name && (method.parameters.length >= count || method.parameters.at(-1)?.pack === true)
    && method.parameters.slice(count).every((parameter) => parameter.default !== null || parameter.pack));
}

function constructorTaint(fn: FunctionDecl, args: readonly Expr[], given: number, foreign: boolean, state: Uniformity): number {
  // Defaulted: copies, or leaves the fields as they are.
  if (fn.defaulted === true) return CONSTANT;
  const bodies = bodiesOf(fn, state.env.program);
  if (bodies.length === 0) return UNKNOWN;
  let taint = CONSTANT;
  for (const body of bodies) {
    const parameters = body.parameters.map((parameter, i) => {
      const argument = args[i];
      if (argument !== undefined) return withStores(taintOf(argument, state), state);
      // The declaration in the record has the default, a definition elsewhere may not.
      const value = fn.parameters[i]?.default ?? parameter.default;
      return value !== null ? defaultTaint(value) : parameter.pack ? given : UNKNOWN;
    });
    const solved = state.world.solve(body, { parameters, self: given & ~LOCAL, arrival: CONSTANT, foreign, leaked: state.leaked });
    taint |= solved === null ? UNKNOWN : solved.finalTaint(solved.defUse.self);
    if (solved?.leaked === true) state.leak();
  }
  return taint;
}

function isLiteral(expr: Expr): boolean {
  const e = strip(expr);
  switch (e.kind) {
    case 'literal': case 'sizeof': return true;
    case 'unary': return e.op !== '*' && e.op !== '&' && isLiteral(e.operand);
    case 'cast': return isLiteral(e.operand);
    case 'binary': return isLiteral(e.left) && isLiteral(e.right);
    case 'init-list': return e.elements.every(isLiteral);
    case 'ref': return e.decl !== null && (e.decl.kind === 'enumerator' || e.decl.kind === 'template-parameter');
    default: return false;
  }
}
