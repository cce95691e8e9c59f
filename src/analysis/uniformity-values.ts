/**
 * Element of the value of an expression, from the elements of the values it reads.
 *
 * Pure operators join their operands. What carries precision: quotients and masks of the linear thread number (warp-rules.ts),
 * loads (uniformity-loads.ts), calls (uniformity-calls.ts). Overloaded operators of records are taken to depend on their operands
 * only.
 */
import { strip } from './children.js';
import { hidesValue } from './hidden-values.js';
import { isUndeclared } from './implicit-calls.js';
import { isMember, mayHoldAddress, rootOf, rootsOf, variableOf } from './lvalues.js';
import { callTaint } from './uniformity-calls.js';
import { constructedTaint, conversionTaint, listTaint } from './uniformity-objects.js';
import { isConstantObject, loadTaint, memoryNameTaint, placeTaint } from './uniformity-loads.js';
import type { Variable } from './facts.js';
import { isStandardConstant } from './standard-constants.js';
import type { Uniformity } from './uniformity.js';
import { CONSTANT, isGeometry, isLane, LOCAL, UNKNOWN } from './taint.js';
import { judge } from './template-types.js';
import { warpRule } from './warp-rules.js';
import type { CastExpr, Expr, RefExpr, Type, VariableDecl } from '../syntax/tree.js';
import { unreachable } from '../syntax/tree.js';

export function taintOf(expr: Expr, state: Uniformity): number {
  const taint = operandTaint(expr, state);
  return state.structure.undeclared && !isLane(taint) && isOfUndeclared(expr) ? taint | UNKNOWN : taint;
}

/**
 * Is the value, by operators alone, one of a type that nothing declares? Where its operands vary, so may it; of others nothing follows, since a class may
 * stand for the type.
 */
function isOfUndeclared(expr: Expr): boolean {
  if (isUndeclared(expr.type)) return true;
  switch (expr.kind) {
    case 'paren': return isOfUndeclared(expr.inner);
    case 'macro': return isOfUndeclared(expr.expanded);
    case 'unary': return expr.op !== '&' && isOfUndeclared(expr.operand);
    case 'cast': return isOfUndeclared(expr.operand);
    case 'binary': return isOfUndeclared(expr.right) || (expr.op !== ',' && isOfUndeclared(expr.left));
    case 'conditional': return isOfUndeclared(expr.condition) || isOfUndeclared(expr.then) || isOfUndeclared(expr.else);
    default: return false;
  }
}

/** Element of an operand, as that of a number where its type is not declared: the whole expression tells. */
export function operandTaint(expr: Expr, state: Uniformity): number {
  const taint = contentsOf(expr, state);
  switch (expr.type.kind) {
    case 'record': return hidesValue(expr.type) ? taint | UNKNOWN : taint | conversionTaint(expr, taint, state);
    case 'array': return hidesValue(expr.type) ? taint | UNKNOWN : taint;
    // A class may stand for the type: what it is converted or compared to is its operators' to say.
    case 'reference': return hidesValue(expr.type) || state.isForeign(expr.type) ? taint | UNKNOWN : taint;
    case 'dependent': return state.isForeign(expr.type) ? taint | UNKNOWN : taint;
    default: return taint;
  }
}

function contentsOf(expr: Expr, state: Uniformity): number {
  switch (expr.kind) {
    case 'literal': case 'sizeof': return CONSTANT;
    case 'ref': return refTaint(expr, state);
    case 'coordinate': return state.world.coordinate(expr);
    case 'this': return state.valueTaint(state.defUse.reads.get(expr) ?? -1) | (state.ownGoesOut ? LOCAL : CONSTANT);
    case 'paren': return operandTaint(expr.inner, state);
    case 'macro': return operandTaint(expr.expanded, state);
    case 'unary':
      if (expr.op === '&') return addressTaint(expr.operand, state);
      if (expr.op === '*') return lvalueTaint(expr, state);
      return operandTaint(expr.operand, state);
    case 'update': return operandTaint(expr.target, state);
    case 'binary': {
      if (expr.op === ',') return operandTaint(expr.right, state);
      const taint = operandTaint(expr.left, state) | operandTaint(expr.right, state);
      return isGeometry(taint) ? warpRule(expr, state) ?? taint : taint;
    }
    case 'assign': {
      const value = operandTaint(expr.value, state);
      return expr.op === null ? value : value | operandTaint(expr.target, state);
    }
    case 'conditional': return operandTaint(expr.condition, state) | operandTaint(expr.then, state) | operandTaint(expr.else, state);
    case 'call': return callTaint(expr, state);
    case 'index': case 'member': return lvalueTaint(expr, state);
    case 'cast': return castTaint(expr, state);
    case 'construct': return constructedTaint(expr.type, expr.arguments, state);
    case 'init-list': return listTaint(expr, state);
    case 'lambda': case 'opaque': return UNKNOWN | LOCAL;
    default: return unreachable(expr);
  }
}

/** An address that becomes a number is not followed further; where that has happened, a number that becomes an address may be it. */
function castTaint(expr: CastExpr, state: Uniformity): number {
  const taint = operandTaint(expr.operand, state);
  const to = expr.type.kind;
  if (to !== 'pointer' && to !== 'int') return taint;
  const from = strip(expr.operand);
  if (to === 'pointer') return state.leaked && isNumber(from.type) && from.kind !== 'literal' ? taint | UNKNOWN | LOCAL : taint;
  if ((taint & LOCAL) !== 0 && (from.type.kind === 'pointer' || from.type.kind === 'array' || from.type.kind === 'dependent')) state.leak();
  return taint;
}

function isNumber({ kind }: Type): boolean {
  return kind === 'int' || kind === 'float' || kind === 'enum' || kind === 'unknown' || kind === 'dependent';
}

export function joined(exprs: readonly Expr[], state: Uniformity): number {
  let taint = CONSTANT;
  for (const expr of exprs) taint |= taintOf(expr, state);
  return taint;
}

function refTaint(ref: RefExpr, state: Uniformity): number {
  const decl = ref.decl;
  if (decl === null) return isStandardConstant(ref.name) ? CONSTANT : UNKNOWN | LOCAL;
  switch (decl.kind) {
    case 'enumerator': case 'function': case 'template-parameter': return CONSTANT;
    case 'record': case 'enum': case 'typedef': return UNKNOWN;
    case 'parameter': return referredTaint(decl, state.valueTaint(state.defUse.reads.get(ref) ?? -1), state);
    case 'variable': break;
  }
  const variable = variableOf(decl);
  if (variable !== null) {
    const taint = referredTaint(variable, state.valueTaint(state.defUse.reads.get(ref) ?? -1), state);
    // A local array stands for its address.
    return decl.type.kind === 'array' ? taint | LOCAL : taint;
  }
  if (isMember(decl)) {
    const taint = state.valueTaint(state.defUse.reads.get(ref) ?? -1) | ledTo(state);
    return decl.type.kind === 'array' ? taint | LOCAL : mayHoldAddress(decl.type) ? taint : taint & ~LOCAL;
  }
  return memoryNameTaint(ref, decl, state);
}

/** A caller's object that pointers may lead to as well: what is stored through them may be stored there. */
function referredTaint(decl: Variable, contents: number, state: Uniformity): number {
  if (decl.type.kind !== 'reference') return contents;
  if (decl.kind === 'variable') return state.structure.ownAliases.has(decl) && state.ownIsLedTo ? contents | state.localStore : contents;
  return (state.parameter(decl.index, decl.pack) & LOCAL) !== 0 ? contents | LOCAL | state.localStore : contents;
}

/** `&lvalue`: the address of a thread's own object carries its contents. */
function addressTaint(lvalue: Expr, state: Uniformity): number {
  const root = rootOf(lvalue);
  const behind = root === null ? null : state.memoryBehind(root.decl);
  if (behind !== null) return placeTaint(lvalue, state) | placeTaint(behind, state);
  if (root !== null) {
    return state.valueTaint(state.defUse.reads.get(root.ref) ?? -1) | placeTaint(lvalue, state) | LOCAL;
  }
  const e = strip(lvalue);
  if (e.kind === 'ref' && e.decl !== null && e.decl.kind === 'function') return CONSTANT;
  let taint = placeTaint(e, state);
  // One of several of the thread's own objects.
  for (const { ref, decl } of rootsOf(e)) if (!state.defUse.memoryReferences.has(decl)) taint |= state.valueTaint(state.defUse.reads.get(ref) ?? -1) | LOCAL;
  return taint;
}

/** `a[i]`, `x.f`, `p->f`, `*p`: contents of a variable, or a load. */
function lvalueTaint(expr: Expr & { kind: 'index' | 'member' | 'unary' }, state: Uniformity): number {
  // A constant of the record, whatever object it is named through.
  if (expr.kind === 'member' && expr.field !== null && expr.field.storage !== 'member' && isConstantObject(expr.field)) return CONSTANT;
  const taint = partTaint(expr, state);
  if (isPartOfHidden(expr, state)) return taint | UNKNOWN;
  return expr.kind === 'member' && !isLane(taint) && isMadeOf(strip(expr.object), state) ? taint | UNKNOWN : taint;
}

function partTaint(expr: Expr & { kind: 'index' | 'member' | 'unary' }, state: Uniformity): number {
  const root = rootOf(expr);
  if (root !== null) {
    if (state.defUse.memoryReferences.has(root.decl)) return state.valueTaint(state.defUse.reads.get(root.ref) ?? -1) | placeTaint(expr, state);
    const contents = referredTaint(root.decl, state.valueTaint(state.defUse.reads.get(root.ref) ?? -1), state);
    const taint = contents | subscripts(expr, state);
    if (expr.type.kind === 'array') return taint | LOCAL;
    // `x[i]`, `*x`, `x->f` of a type that is not known may lead through a pointer inside.
    if (expr.kind === 'index' ? opaqueBase(expr.base) : expr.kind === 'unary' ? opaqueBase(expr.operand) : expr.arrow && opaqueBase(expr.object)) return taint | UNKNOWN;
    return taint;
  }
  const object = ownObject(expr, state);
  if (object !== null) return expr.type.kind === 'array' ? object | LOCAL : object;
  if (expr.type.kind === 'array') return placeTaint(expr, state);
  if (expr.kind === 'member' && !expr.arrow && isValue(expr.object)) return taintOf(expr.object, state);
  return loadTaint(expr, state);
}

/** Does the way to a part lead through an object whose making puts values into it that are not followed? */
function isPartOfHidden(expr: Expr, state: Uniformity): boolean {
  for (let e = strip(expr); ;) {
    switch (e.kind) {
      case 'member': e = strip(e.object); break;
      case 'index': e = strip(e.base); break;
      case 'unary': case 'cast': e = strip(e.operand); break;
      default: return false;
    }
    const { type } = e;
    if (type.kind === 'int' || type.kind === 'float') continue;
    const held = type.kind === 'pointer' ? type.to : type;
    if (hidesValue(held) || state.isForeign(held)) return true;
  }
}

/**
 * Is the object with members one that the function makes of a type that nothing declares, or of a type of its template of which not all instances are known? Its constructor may put anything into
 * it. A copy of another one holds what that holds, as a number would.
 */
function isMadeOf(object: Expr, state: Uniformity): boolean {
  const { type } = object;
  if ((type.kind !== 'dependent' && !isUndeclared(type)) || object.kind === 'this') return false;
  if (type.kind === 'dependent' && !judge(type, state.function, state.env.program).open) return false;
  if (object.kind === 'cast' || isValue(object)) return true;
  const decl = rootOf(object)?.decl;
  if (decl === undefined) return false;
  // Only a kernel's parameters are as the launch gave them, bit by bit.
  if (decl.kind === 'parameter') return type.kind === 'unknown' && !state.function.qualifiers.global;
  return decl.init === null || !isCopy(decl) || isMadeOf(strip(decl.init), state);
}

/** Subscripts on the way to a part of a variable. */
function subscripts(expr: Expr, state: Uniformity): number {
  let taint = CONSTANT;
  for (let e = strip(expr); ;) {
    if (e.kind === 'index') { taint |= taintOf(e.index, state); e = strip(e.base); }
    else if (e.kind === 'member') e = strip(e.object);
    else if (e.kind === 'unary' || e.kind === 'cast') e = strip(e.operand);
    else if (e.kind === 'binary') { taint |= taintOf(e.left, state) | taintOf(e.right, state); return taint & ~LOCAL; }
    else return taint;
  }
}

function opaqueBase(base: Expr): boolean {
  const type = strip(base).type;
  return type.kind === 'unknown' || type.kind === 'dependent' || (type.kind === 'record' && type.decl.vector === null);
}

/** What may be stored in the method's own object through pointers that lead to it. */
function ledTo(state: Uniformity): number {
  return state.ownIsLedTo ? state.localStore : CONSTANT;
}

/** A field of the method's own object: `x`, `this->x`, `x[i]` with a member array. Null if it is not one. */
function ownObject(expr: Expr, state: Uniformity): number | null {
  let taint = CONSTANT;
  // A field that is a number leads nowhere, however the object was reached.
  const kept = mayHoldAddress(expr.type) ? ~0 : ~LOCAL;
  for (let e = strip(expr); ;) {
    switch (e.kind) {
      case 'this': return state.valueTaint(state.defUse.reads.get(e) ?? -1) & kept | ledTo(state) | taint;
      case 'ref': return isMember(e.decl) ? state.valueTaint(state.defUse.reads.get(e) ?? -1) & kept | ledTo(state) | taint : null;
      case 'member':
        if (e.arrow && strip(e.object).kind !== 'this') return null;
        e = strip(e.object);
        break;
      case 'index':
        if (strip(e.base).type.kind !== 'array') return null;
        taint |= taintOf(e.index, state);
        e = strip(e.base);
        break;
      case 'unary':
        if (e.op !== '*' || strip(e.operand).kind !== 'this') return null;
        e = strip(e.operand);
        break;
      default: return null;
    }
  }
}

function isCopy({ init, type }: VariableDecl): boolean {
  if (init === null || isValue(init)) return false;
  const from = strip(init).type;
  return (from.kind === 'dependent' || from.kind === 'unknown') && from.kind === type.kind && from.text === type.text;
}

/** Not an lvalue: the result of a call, a constructor, a conditional of such. */
function isValue(expr: Expr): boolean {
  const e = strip(expr);
  return e.kind === 'call' || e.kind === 'construct' || e.kind === 'init-list' || e.kind === 'conditional' || e.kind === 'literal' || e.kind === 'coordinate' || e.kind === 'binary';
}
