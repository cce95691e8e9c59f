/**
 * Functions that run without being named: conversion functions of objects, and what a range-for over an object calls.
 *
 *   if (c)  (int)c  a[c]  int t = c;      `operator bool()`, `operator int()` of c's record or of a base of it
 *   for (auto v : r)                      `begin`, `end` of r, `!=`, `++`, `*` of what they return
 *
 * Overloaded operators, `->` and `,` among them, and constructors are calls of the tree already. Where a conversion takes place is not always told by syntax (an argument
 * of an overload set, a template), so an object with conversion functions counts as converted wherever it is used as a value; only as the object of `.` and of
 * a method, and where it is assigned, it is not. Where the conversion of an object cannot be found, because a base is not seen, it counts as a call of something unknown
 * in those places in which nothing but a number, a pointer or a condition will do.
 *
 * An object of a type that no loaded file declares may be of a class: where it is a condition as it stands, its conversion counts as such a call, unless the name is
 * one of numbers (`index_t`). Its other operators are taken for arithmetic, which `undeclaredIn` tells whoever rests on it; no verdict does: what they compute is
 * never called uniform.
 */
import { forEachChild, strip, type Node } from './children.js';
import { builtin } from '../cuda/builtins.js';
import { rootOf } from './lvalues.js';
import { isConversion } from './record-members.js';
import type { Loop } from './facts.js';
import type { CallExpr, Expr, FunctionDecl, RangeForStmt, RecordDecl, Type, UnknownType } from '../syntax/tree.js';

/** What converting an object of a record may run. */
export interface Conversions {
  readonly functions: readonly FunctionDecl[];
  /** A base or the record itself is not seen: there may be others. */
  readonly unseen: boolean;
}

const NONE: Conversions = { functions: [], unseen: false };
const UNSEEN: Conversions = { functions: [], unseen: true };
const conversions = new WeakMap<RecordDecl, Conversions>();

/** Conversion functions of a record and of its bases. */
export function conversionsOf(record: RecordDecl): Conversions {
  if (record.vector !== null) return NONE;
  const known = conversions.get(record);
  if (known !== undefined) return known;
  conversions.set(record, UNSEEN); // a record is no base of itself
  const functions = record.methods.filter(isConversion);
  let unseen = !record.complete || record.specialised === true;
  for (const base of record.bases) {
    const inherited = base.kind === 'record' ? conversionsOf(base.decl) : UNSEEN;
    functions.push(...inherited.functions);
    unseen ||= inherited.unseen;
  }
  const made: Conversions = functions.length === 0 ? (unseen ? UNSEEN : NONE) : { functions, unseen };
  conversions.set(record, made);
  return made;
}

/** What using this object as a value may run, given what it stands in; null if nothing does. */
export function conversionAt(node: Expr, parent: Node | null): Conversions | null {
  if (node.kind === 'paren' || node.kind === 'macro') return null;
  if (isUndeclared(node.type)) return parent !== null && isCondition(node, parent) && !node.type.text.endsWith('_t') ? UNSEEN : null;
  if (node.type.kind !== 'record') return null;
  const found = conversionsOf(node.type.decl);
  if (found === NONE) return null;
  if (parent !== null && isObjectOf(node, parent)) return null;
  if (found.functions.length > 0) return found;
  return parent !== null && wantsNumber(node, parent) ? found : null;
}

/** A type of which only the name is known. */
export function isUndeclared(type: Type): type is UnknownType {
  return type.kind === 'unknown' && type.text !== '';
}

/** Is the type one that nothing declares, and not by its name a number's (`index_t`)? */
export function mayBeClass(type: Type): boolean {
  return isUndeclared(type) && !type.text.endsWith('_t');
}

/** Is the node a condition, or one of the operands that make one, as it stands? */
function isCondition(node: Expr, parent: Node): boolean {
  switch (parent.kind) {
    case 'if': case 'while': case 'do': case 'for': case 'switch': case 'conditional': return parent.condition !== null && strip(parent.condition) === node;
    case 'unary': return parent.op === '!';
    case 'binary': return parent.op === '&&' || parent.op === '||';
    default: return false;
  }
}

const undeclared = new WeakMap<FunctionDecl, { readonly names: ReadonlySet<string>; readonly callees: readonly FunctionDecl[] }>();

/** Names of types that no loaded file declares and of which the function, or one that it calls, has operands. */
export function undeclaredIn(fn: FunctionDecl, seen: Set<FunctionDecl> = new Set()): ReadonlySet<string> {
  const names = new Set<string>();
  if (seen.has(fn) || fn.body === null) return names;
  seen.add(fn);
  let known = undeclared.get(fn);
  if (known === undefined) undeclared.set(fn, known = operandsOf(fn.body));
  for (const name of known.names) names.add(name);
  for (const callee of known.callees) for (const name of undeclaredIn(callee, seen)) names.add(name);
  return names;
}

function operandsOf(body: Node): { readonly names: ReadonlySet<string>; readonly callees: readonly FunctionDecl[] } {
  const names = new Set<string>();
  const callees: FunctionDecl[] = [];
  const visit = (node: Node, parent: Node | null): void => {
    if ('type' in node && isUndeclared(node.type) && parent !== null && wantsNumber(node, parent)) names.add(node.type.text);
    if (node.kind === 'call' && (node.callee.kind === 'function' || node.callee.kind === 'method')) callees.push(...node.callee.candidates);
    const below = node.kind === 'paren' || node.kind === 'macro' ? parent : node;
    forEachChild(node, (child) => { visit(child, below); });
  };
  visit(body, null);
  return { names, callees };
}

/** Is the node the object of `.` or of a method, or what is assigned? */
function isObjectOf(node: Expr, parent: Node): boolean {
  switch (parent.kind) {
    case 'member': return !parent.arrow;
    case 'assign': return parent.op === null && strip(parent.target) === node;
    case 'call': return parent.callee.kind === 'method' && strip(parent.callee.object) === node;
    case 'unary': return parent.op === '&';
    case 'binary': return parent.op === ',' && strip(parent.left) === node;
    case 'expression': return true;
    default: return false;
  }
}

/** Can nothing but a number, a pointer or a condition stand here? */
function wantsNumber(node: Expr, parent: Node): boolean {
  const is = (expr: Expr | null): boolean => expr !== null && strip(expr) === node;
  switch (parent.kind) {
    case 'if': case 'while': case 'do': case 'for': case 'switch': return is(parent.condition);
    case 'conditional': return is(parent.condition);
    case 'unary': return true;
    case 'binary': return parent.op !== ',';
    case 'index': return is(parent.index);
    case 'cast': return isNumber(parent.type);
    case 'construct': return isNumber(parent.type);
    case 'assign': return isNumber(parent.target.type);
    case 'declare': return parent.variables.some((variable) => is(variable.init) && isNumber(variable.type));
    case 'asm': return true;
    case 'call': {
      const { callee } = parent;
      if (callee.kind === 'builtin') return true;
      if (callee.kind === 'unknown') return callee.name.startsWith('operator');
      if (callee.kind === 'value') return false;
      const position = parent.arguments.findIndex(is);
      return callee.candidates.some((candidate) => { const parameter = candidate.parameters[position]; return parameter !== undefined && isNumber(parameter.type); });
    }
    default: return false;
  }
}

function isNumber(type: Type): boolean {
  const value = type.kind === 'reference' ? type.to : type;
  return value.kind === 'bool' || value.kind === 'int' || value.kind === 'float' || value.kind === 'enum' || value.kind === 'pointer';
}

const addresses = new WeakMap<FunctionDecl, boolean>();

/** May a conversion function give the address of its own object, or of a part of it? A pointer that the object holds leads elsewhere. */
export function givesOwnAddress(fn: FunctionDecl): boolean {
  const known = addresses.get(fn);
  if (known !== undefined) return known;
  const { returns, body } = fn;
  const made = returns.kind === 'reference' || (returns.kind !== 'bool' && returns.kind !== 'float' && returns.kind !== 'enum' && !(returns.kind === 'int' && returns.bits < 64) && (body === null || mentionsAddress(body)));
  addresses.set(fn, made);
  return made;
}

/** `this` by itself, `&x`, an array: of a body that computes with values alone there is none of them. A reference may be bound to a member. */
function mentionsAddress(node: Node): boolean {
  switch (node.kind) {
    case 'unary': if (node.op === '&') return true; break;
    case 'ref': case 'index': if (node.type.kind === 'array') return true; break;
    case 'member':
      if (node.type.kind === 'array') return true;
      if (strip(node.object).kind === 'this') return false;
      break;
    case 'this': case 'call': case 'lambda': case 'opaque': case 'asm': return true;
    default:
  }
  let found = false;
  forEachChild(node, (child) => { found ||= mentionsAddress(child); });
  return found;
}

const harmless = new WeakMap<FunctionDecl, boolean>();

/** Does a conversion function do nothing but compute from what it reads? Judged by its own text; a body that is not seen may do anything. */
export function isHarmless(fn: FunctionDecl): boolean {
  const known = harmless.get(fn);
  if (known !== undefined) return known;
  const made = fn.body !== null && fn.virtual !== true && computes(fn.body);
  harmless.set(fn, made);
  return made;
}

function computes(node: Node): boolean {
  let fine = true;
  switch (node.kind) {
    case 'assign': case 'update': {
      const target = rootOf(node.target)?.decl ?? null;
      fine = target !== null && isNumber(target.type) && target.type.kind !== 'reference';
      break;
    }
    case 'call': fine = node.callee.kind === 'builtin' && builtin(node.callee.name)?.pure === true; break;
    case 'construct': case 'init-list': fine = node.type.kind !== 'record' || node.type.decl.vector !== null; break;
    case 'declare': fine = node.variables.every((variable) => isNumber(variable.type)); break;
    case 'asm': case 'opaque': case 'lambda': case 'range-for': fine = false; break;
    default:
  }
  if (fine) forEachChild(node, (child) => { fine &&= computes(child); });
  return fine;
}

/** The call that a conversion of this object stands for. */
export function conversionCall(object: Expr, functions: readonly FunctionDecl[]): CallExpr {
  const callee = { kind: 'method', name: functions[0]?.name ?? 'operator', object, arrow: false, candidates: functions } as const;
  return { kind: 'call', span: object.span, type: functions[0]?.returns ?? object.type, callee, calleeSpan: object.span, arguments: [], templateArguments: null };
}

/** A range-for over an array runs equally often for every thread, whatever its elements are. */
export function isOverArray(loop: Loop): loop is RangeForStmt {
  return loop.kind === 'range-for' && strip(loop.range).type.kind === 'array';
}

/** Does a range-for call functions: iterators of an object, conversions or copies of its elements? Over an array of numbers it does not. */
export function callsIterators(loop: RangeForStmt): boolean {
  const { range, variable } = loop;
  const type = strip(range).type;
  if (type.kind !== 'array') return range.kind !== 'opaque';
  let element: Type = type.of;
  if (variable.type.kind === 'reference') return false;
  while (element.kind === 'array') element = element.of;
  if (element.kind !== 'record' || element.decl.vector !== null) return false;
  const record = element.decl;
  return variable.type.kind !== 'record' || variable.type.decl !== record || record.bases.length > 0 || record.methods.some((method) => method.name === record.name && method.defaulted !== true);
}
