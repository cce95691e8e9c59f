/**
 * What a call, or the making of an object, may change of the variables that it is given.
 *
 * By the type of the parameter where the callee is seen: `const` references and values change nothing, references and addresses may change what they name
 * (whether they do, the summaries say). A callee that is not seen may take anything by reference. Several variables come of `c ? x : y`: which of them it is, is
 * decided elsewhere. Source: ISO C++ 17, [dcl.init.ref], [over.match]. Not handled: what a callee keeps of an address (address-fate.ts); objects that are
 * reached through pointers.
 */
import { builtin } from '../cuda/builtins.js';
import { mayBindElement, takes } from './binding.js';
import { strip } from './children.js';
import { isFixed } from './const-promise.js';
import { addressedBy, NO_ROOTS, rootsOf, valueType, type Root } from './lvalues.js';
import { assignsOwnObject } from './own-object.js';
import type { CallExpr, Expr, FunctionDecl, RecordDecl, RecordType, Stmt, Type } from '../syntax/tree.js';

/** What a call may change of the caller's variables, besides memory. */
export interface CallOutput {
  readonly root: Root;
  /** Index of the argument; -1 for the object of a method. */
  readonly argument: number;
  /** `reference`: the object itself is passed; `address`: a pointer to it; `unknown`: the callee is not visible and may take a reference. */
  readonly how: 'reference' | 'address' | 'unknown';
}

const NO_OUTPUTS: readonly CallOutput[] = [];

/**
 * The variables a call may change. By-value parameters of visible functions change nothing, nor do `const` references unless the callee, or `around`, the code in which
 * the call stands, gets around the `const` (const-promise.ts); a callee that is not visible may take anything by reference.
 */
export function outputsOf(call: CallExpr, around: Stmt): readonly CallOutput[] {
  const outputs: CallOutput[] = [];
  const callee = call.callee;
  const candidates = callee.kind === 'function' || callee.kind === 'method' ? callee.candidates : [];
  const visible = callee.kind === 'function' || (callee.kind === 'method' && candidates.length > 0);
  if (callee.kind === 'method') {
    const roots = callee.arrow ? addressedBy(callee.object) : rootsOf(callee.object);
    for (const root of roots) outputs.push({ root: { ...root, whole: false }, argument: -1, how: visible && roots.length === 1 ? 'reference' : 'unknown' });
  }
  // An object that is called: its operator() may change it. Functions by address and lambdas, whose captures are followed with them, have no state to change.
  if (callee.kind === 'value' && hasState(callee.value)) for (const root of rootsOf(callee.value)) outputs.push({ root: { ...root, whole: false }, argument: -1, how: 'unknown' });
  for (let i = 0; i < call.arguments.length; i++) {
    const argument = call.arguments[i];
    if (argument === undefined) continue;
    const addressed = addressedBy(argument);
    if (addressed.length > 0) {
      const entry = callee.kind === 'builtin' ? builtin(callee.name) : undefined;
      // A built-in that only reads what it is given changes nothing.
      if (entry === undefined || entry.writes.includes(i)) for (const root of addressed) outputs.push({ root: { ...root, whole: false }, argument: i, how: callee.kind !== 'builtin' && !visible ? 'unknown' : 'address' });
    }
    if (callee.kind === 'builtin') continue;
    let followed = visible;
    if (visible) {
      let bound = false;
      for (const fn of candidates) {
        const how = takes(fn, i, call, around);
        bound ||= how !== 'value';
        followed &&= how !== 'unknown';
      }
      if (!bound) continue;
    }
    if (!isLvalue(argument)) continue;
    const roots = rootsOf(argument);
    for (const root of roots) {
      // One of several objects: which one is decided elsewhere.
      if (!isFixed(root.decl.type)) outputs.push({ root: { ...root, whole: false }, argument: i, how: followed && roots.length === 1 ? 'reference' : 'unknown' });
    }
  }
  return outputs.length === 0 ? NO_OUTPUTS : outputs;
}

/** May what is called be an object of a class: one that is not a pointer, nor a variable that only ever names a lambda? */
function hasState(value: Expr): boolean {
  const { kind } = valueType(value.type);
  if (kind === 'pointer' || kind === 'function') return false;
  const e = strip(value);
  const init = e.kind === 'ref' && e.decl?.kind === 'variable' ? e.decl.init : null;
  return e.kind !== 'lambda' && (init === null || strip(init).kind !== 'lambda');
}

/** Variables that a value which may be bound to a reference is (a part of). */
export function rootsBoundTo(value: Expr): readonly Root[] {
  return isLvalue(value) ? rootsOf(value).filter((root) => !isFixed(root.decl.type)) : NO_ROOTS;
}

/** Variables that a constructor, or a reference member of an aggregate, may be bound to. */
export function boundBy(node: Expr & { kind: 'construct' | 'init-list' }): readonly Root[] {
  return boundArguments(node).flatMap(({ value, pointer }) => [...rootsBoundTo(value), ...(pointer ? addressedBy(value) : NO_ROOTS)]);
}

interface BoundArgument {
  readonly value: Expr;
  /** An address may be bound as well. */
  readonly pointer: boolean;
}

const NONE_BOUND: readonly BoundArgument[] = [];

/** What a constructor, or a reference member of an aggregate, may be bound to. */
export function boundArguments(node: Expr & { kind: 'construct' | 'init-list' }): readonly BoundArgument[] {
  const { type } = node;
  if (type.kind !== 'unknown' && type.kind !== 'dependent' && (type.kind !== 'record' || type.decl.vector !== null)) return NONE_BOUND;
  const given = node.kind === 'construct' ? node.arguments : node.elements;
  const pointer = type.kind === 'record' && constructors(type.decl).length > 0;
  const found: BoundArgument[] = [];
  given.forEach((value, i) => { if (type.kind !== 'record' || mayBind(type, given.length, i, value.type)) found.push({ value, pointer }); });
  return found;
}

/** Is a part of the method's own object called, which its operator() may change? */
export function changesCalled(call: CallExpr): boolean {
  return call.callee.kind === 'value' && hasState(call.callee.value) && assignsOwnObject(call.callee.value);
}

function constructors(record: RecordDecl): readonly FunctionDecl[] {
  return record.methods.filter((method) => method.name === record.name);
}

function mayBind(type: RecordType, count: number, position: number, from: Type): boolean {
  const record = type.decl;
  if (!record.complete) return true;
  const made = constructors(record).filter((one) => one.parameters.length >= count || one.parameters.at(-1)?.pack === true);
  if (mayKeep(record, 0) && (made.length === 0 || made.some((one) => { const parameter = one.parameters[position] ?? one.parameters.at(-1); return parameter === undefined || parameter.type.kind === 'reference'; }))) return true;
  if (made.some((one) => (one.parameters[position] ?? one.parameters.at(-1))?.type.kind === 'pointer')) return true;
  return mayBindElement(type, count, position, from);
}

/** Has an object of the record, or of a base of it, a reference among its members? */
function mayKeep(record: RecordDecl, depth: number): boolean {
  return depth > 16 || record.fields.some((field) => field.type.kind === 'reference') || record.bases.some((base) => base.kind !== 'record' || mayKeep(base.decl, depth + 1));
}

function isLvalue(expr: Expr): boolean {
  const e = strip(expr);
  if (e.kind === 'conditional') return isLvalue(e.then) && isLvalue(e.else);
  if (e.kind === 'binary') return e.op === ',' && isLvalue(e.right);
  // `(int &)x` is the variable itself.
  if (e.kind === 'cast') return e.type.kind === 'reference' || ((e.style !== 'c' || e.reference !== undefined) && isLvalue(e.operand));
  return e.kind === 'ref' || e.kind === 'member' || e.kind === 'index' || (e.kind === 'unary' && e.op === '*') || (e.kind === 'update' && e.prefix) || e.kind === 'assign';
}
