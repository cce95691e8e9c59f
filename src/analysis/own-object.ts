/**
 * The object that a method runs on, as far as a name or an expression spells it: the counterpart of lvalues.ts for what no variable of the method holds.
 *
 *   m   this->m   (*this).m   in.arr[i]   c ? a : b     lvalues that are, or may be, parts of it
 *   this   &m   arr   this + 1   (char *)this           pointers that lead into it
 *
 * What a pointer member leads to is no part of it, though it may lie in it: `assignsOwnObject` counts that too. Local references that are bound to a part are
 * followed by structure.ts. Not handled: nothing is told of pointers that lie in variables; uniformity follows those by their elements (taint.ts, LOCAL).
 */
import { builtin } from '../cuda/builtins.js';
import { takes } from './binding.js';
import { strip } from './children.js';
import { constUse, SELF } from './const-promise.js';
import { lambdaOf } from './lambdas.js';
import { isMember, isTest } from './lvalues.js';
import type { CallExpr, Expr, Stmt } from '../syntax/tree.js';

/** `some`: may the lvalue be a part of the object, whichever it is in a run? `every`: is it one in each, and nothing but that? */
type Which = 'some' | 'every';

/** May the lvalue be the method's own object, or a part of it? */
export function isOwnPart(lvalue: Expr): boolean {
  return isPart(lvalue, 'some');
}

/** Is it one for certain, with no operator on the way that may lead elsewhere? */
export function isSurelyOwnPart(lvalue: Expr): boolean {
  return isPart(lvalue, 'every');
}

/** May the pointer, as far as it is made on the spot, lead into the method's own object? */
export function leadsToOwn(pointer: Expr): boolean {
  return leads(pointer, 'some');
}

function isPart(lvalue: Expr, which: Which): boolean {
  for (let e = strip(lvalue); ;) {
    switch (e.kind) {
      case 'ref': return e.decl !== null && e.decl.kind === 'variable' && isMember(e.decl) && e.decl.type.kind !== 'reference';
      case 'member':
        if (e.field === null ? which === 'every' : e.field.type.kind === 'reference' || e.field.storage !== 'member') return false;
        if (e.arrow) return leads(e.object, which);
        e = strip(e.object);
        break;
      case 'index': {
        const base = strip(e.base);
        if (base.type.kind === 'pointer') return leads(base, which);
        if (base.type.kind !== 'array' && which === 'every') return false;
        e = base;
        break;
      }
      case 'unary': return e.op === '*' && leads(e.operand, which);
      case 'cast': e = strip(e.operand); break;
      case 'conditional': return which === 'every' ? isPart(e.then, which) && isPart(e.else, which) : isPart(e.then, which) || isPart(e.else, which);
      case 'binary':
        if (e.op !== ',') return false;
        e = strip(e.right);
        break;
      case 'assign': case 'update': e = strip(e.target); break;
      default: return false;
    }
  }
}

function leads(pointer: Expr, which: Which): boolean {
  for (let e = strip(pointer); ;) {
    switch (e.kind) {
      case 'this': return true;
      case 'unary':
        if (e.op === '&') return isPart(e.operand, which);
        if (e.op === '*') return e.type.kind === 'array' && isPart(e, which);
        // An address that was made a number may be worked on like any other.
        e = strip(e.operand);
        break;
      case 'binary':
        if (e.op !== ',') return !isTest(e.op) && (leads(e.left, which) || leads(e.right, which));
        e = strip(e.right);
        break;
      case 'cast': e = strip(e.operand); break;
      case 'conditional': return which === 'every' ? leads(e.then, which) && leads(e.else, which) : leads(e.then, which) || leads(e.else, which);
      case 'assign':
        if (e.op !== null) return false;
        e = strip(e.value);
        break;
      case 'ref': case 'index': case 'member': return e.type.kind === 'array' && isPart(e, which);
      default: return false;
    }
  }
}

/** Is the lvalue a field of the method's own object, or the object, or what a pointer in it leads to, which may lie in it? A pointer to the object counts, too. */
export function assignsOwnObject(target: Expr): boolean {
  const e = strip(target);
  switch (e.kind) {
    case 'ref': return isMember(e.decl);
    case 'this': return true;
    case 'member': return assignsOwnObject(e.object);
    case 'index': return assignsOwnObject(e.base);
    case 'unary': return (e.op === '*' || e.op === '&') && assignsOwnObject(e.operand);
    case 'cast': return assignsOwnObject(e.operand);
    case 'conditional': return assignsOwnObject(e.then) || assignsOwnObject(e.else);
    case 'binary': return (e.op === ',' || e.op === '+' || e.op === '-') && (assignsOwnObject(e.right) || (e.op !== ',' && assignsOwnObject(e.left)));
    case 'assign': case 'update': return assignsOwnObject(e.target);
    default: return false;
  }
}

/**
 * May a call change the method's own object, for what it is given: the object of a method that is not surely left alone, an address, a part by reference? `around`
 * is the code in which the call stands.
 */
export function changesOwn(call: CallExpr, around: Stmt): boolean {
  const { callee } = call;
  if (callee.kind === 'method' && (callee.arrow ? leadsToOwn(callee.object) : isOwnPart(callee.object))) {
    if (callee.candidates.length === 0 || !callee.candidates.every((candidate) => candidate.constant === true && constUse(candidate, SELF) === 'read')) return true;
  }
  if (callee.kind === 'value' && isOwnPart(callee.value)) return true;
  for (const [position, argument] of call.arguments.entries()) {
    if (callee.kind === 'builtin') {
      if (leadsToOwn(argument) && builtin(callee.name)?.writes.includes(position) !== false) return true;
      continue;
    }
    if (leadsToOwn(argument)) return true;
    if (!isOwnPart(argument)) continue;
    if (callee.kind === 'unknown') return true;
    if (callee.kind === 'value') {
      const taken = lambdaOf(callee.value)?.parameters[position]?.type;
      if (taken === undefined || (taken.kind !== 'int' && taken.kind !== 'float' && taken.kind !== 'bool' && taken.kind !== 'enum' && taken.kind !== 'pointer')) return true;
    } else if (callee.candidates.length === 0 || callee.candidates.some((candidate) => takes(candidate, position, call, around) !== 'value')) return true;
  }
  return false;
}
