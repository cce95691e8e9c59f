/**
 * Whether an arm of a `?:` may stand in place of the `?:`.
 *
 * A `?:` converts its arms to a common type, and unless both arms are lvalues of one type it is a prvalue: a copy that no reference reaches
 * ([expr.cond]). The bare arm has its own type and value category. So it may stand there only if both arms have known types, the `?:` is of the
 * type of the arm, and nothing around it can tell an object from its value. What is not known may tell.
 */
import { isStmt } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { unreachable, type CallExpr, type ConditionalExpr, type Expr, type RecordDecl, type Stmt, type Type } from '../../src/syntax/tree.js';
import { sameType } from './equality.js';

/** Why an arm may not stand. */
export const ARM_TELLS = 'an arm of ?: alone may be of another type, or the object where the ?: is a copy of it: types are not known to agree, or what takes the value may be a reference';

/** True if `arm`, one of the two of `node`, means in its place what the `?:` means where it yields that arm. */
export function armStands(facts: FunctionFacts, node: ConditionalExpr, arm: Expr): boolean {
  const { then, else: other, type } = node;
  if (then.type.kind === 'void' && other.type.kind === 'void') return isDiscarded(facts, node);
  if (isNumber(then.type) && isNumber(other.type)) {
    if (sameExactly(arm.type, type)) return isFreshValue(arm) || isRead(facts, node);
    return survives(arm.type, type) && initialises(facts, node, arm.type, true);
  }
  if (then.type.kind === 'pointer' && other.type.kind === 'pointer') return sameExactly(then.type, other.type) && sameExactly(arm.type, type) && isRead(facts, node);
  if (!sameType(then.type, other.type)) return false;
  if (isMade(then) && isMade(other) && isDiscarded(facts, node)) return true;
  if (isPlainObject(arm.type)) return initialises(facts, node, arm.type, true);
  // Whatever the parameter comes to be, both arms are of it, and so is the variable: it is made of the same value either way.
  return arm.type.kind === 'dependent' && initialises(facts, node, arm.type, false);
}

/** Both arms are known numbers of two types: the `?:` is a prvalue of the common type, as a cast of an arm to it is. */
export function isConverted({ then, else: other }: ConditionalExpr): boolean {
  return isNumber(then.type) && isNumber(other.type) && !sameType(then.type, other.type);
}

/** Types equal with all qualifiers below the outermost: `const float *` and `float *` choose different overloads. */
export function sameExactly(a: Type, b: Type): boolean {
  if (a.kind !== 'pointer' || b.kind !== 'pointer') return sameType(a, b);
  return a.to.const === b.to.const && a.to.volatile === b.to.volatile && sameExactly(a.to, b.to);
}

/** `T(x)`: a new object, as the `?:` is. */
function isMade(expr: Expr): boolean {
  return expr.kind === 'construct' || (expr.kind === 'cast' && expr.type.kind === 'record');
}

function isNumber(type: Type): boolean {
  return type.kind === 'bool' || type.kind === 'int' || type.kind === 'float';
}

function isScalar(type: Type): boolean {
  return isNumber(type) || type.kind === 'pointer';
}

/** An enumeration, or an aggregate of scalars: copies of it run no code and cannot be told from it. */
function isPlainObject(type: Type): boolean {
  if (type.kind === 'enum') return true;
  return type.kind === 'record' && type.templateArguments === undefined && isPlainRecord(type.decl);
}

function isPlainRecord(decl: RecordDecl): boolean {
  return decl.vector !== null || (decl.complete && decl.template === null && decl.methods.length === 0 && decl.bases.length === 0
    && decl.fields.every((field) => isScalar(field.type) && field.type.volatile !== true));
}

/** Every value of `from` comes back from a detour over `over`. */
function survives(from: Type, over: Type): boolean {
  if (from.kind === 'bool') return isNumber(over);
  if (from.kind === 'int') {
    if (over.kind === 'int') return over.bits >= from.bits;
    return over.kind === 'float' && ((over.format === 'float' && from.bits <= 16) || (over.format === 'double' && from.bits <= 32));
  }
  return from.kind === 'float' && from.format === 'float' && over.kind === 'float' && over.format === 'double';
}

/** A prvalue, as the `?:` with it is one. An integer literal is left out: `0` alone may come to be a null pointer. */
function isFreshValue(expr: Expr): boolean {
  switch (expr.kind) {
    case 'paren': return isFreshValue(expr.inner);
    case 'literal': return expr.type.kind === 'float';
    case 'unary': return expr.op !== '*' && expr.op !== '&' && isScalar(expr.operand.type) && !isConstantZero(expr.operand);
    case 'binary': return expr.op !== ',' && isScalar(expr.left.type) && isScalar(expr.right.type) && !(isConstantZero(expr.left) && isConstantZero(expr.right));
    case 'cast': return isNumber(expr.type) && !isConstantZero(expr.operand);
    default: return false;
  }
}

/** An integer literal under signs and casts, whatever its value. */
function isConstantZero(expr: Expr): boolean {
  switch (expr.kind) {
    case 'literal': return expr.type.kind !== 'float';
    case 'paren': return isConstantZero(expr.inner);
    case 'unary': case 'cast': return isConstantZero(expr.operand);
    case 'binary': return isConstantZero(expr.left) && isConstantZero(expr.right);
    default: return false;
  }
}

interface Place {
  /** The expression with the parentheses around it, and what stands around those. */
  readonly whole: Expr;
  readonly parent: Expr | Stmt;
}

function placeOf(facts: FunctionFacts, node: Expr): Place | null {
  let whole = node;
  for (;;) {
    const parent = facts.parent(whole);
    if (parent === null) return null;
    if (isStmt(parent)) return { whole, parent };
    if (parent.kind !== 'paren') return { whole, parent };
    whole = parent;
  }
}

function isDiscarded(facts: FunctionFacts, node: Expr): boolean {
  return placeOf(facts, node)?.parent.kind === 'expression';
}

/** The expression is the initialiser of a variable of that type or, where a plain assignment counts too, the value assigned to one. */
function initialises(facts: FunctionFacts, node: Expr, type: Type, assigned: boolean): boolean {
  const place = placeOf(facts, node);
  if (place === null) return false;
  const { whole, parent } = place;
  if (parent.kind === 'assign') return assigned && parent.op === null && parent.value === whole && sameExactly(parent.target.type, type);
  if (parent.kind !== 'declare') return false;
  const variable = parent.variables.find((one) => one.init === whole);
  return variable !== undefined && !variable.opaqueInit && sameExactly(variable.type, type);
}

/** The value of a number or pointer is read where it stands, and nothing more is asked of the expression. */
function isRead(facts: FunctionFacts, node: Expr): boolean {
  const place = placeOf(facts, node);
  if (place === null) return false;
  const { whole, parent } = place;
  switch (parent.kind) {
    case 'declare': {
      const variable = parent.variables.find((one) => one.init === whole);
      return variable !== undefined && !variable.opaqueInit && isScalar(variable.type);
    }
    case 'expression': case 'if': case 'for': case 'while': case 'do': case 'switch': return true;
    case 'return': return isScalar(facts.function.returns) && !isInLambda(facts, parent);
    case 'unary': return parent.op !== '&';
    case 'binary': {
      if (parent.op === ',') return parent.left === whole && isScalar(parent.right.type);
      return isScalar((parent.left === whole ? parent.right : parent.left).type);
    }
    case 'assign': return parent.value === whole && isScalar(parent.target.type);
    // An arm of another `?:` is what that one may be.
    case 'conditional': return parent.condition === whole || (sameExactly(parent.then.type, parent.else.type) && isRead(facts, parent));
    case 'call': return isByValue(parent, whole);
    case 'index': return parent.index === whole && (parent.base.type.kind === 'pointer' || parent.base.type.kind === 'array');
    case 'cast': return isScalar(parent.type);
    case 'construct': return isScalar(parent.type) || (parent.type.kind === 'record' && parent.type.decl.vector !== null);
    case 'init-list': return isElement(facts, parent);
    default: return false;
  }
}

/** The argument of a call of one function that takes it by value, as a type that the call does not choose. */
function isByValue(call: CallExpr, argument: Expr): boolean {
  const at = call.arguments.indexOf(argument);
  if (at < 0) return false;
  const { callee } = call;
  switch (callee.kind) {
    case 'builtin': return true;
    case 'function': case 'method': {
      const [only] = callee.candidates;
      const parameter = only?.parameters[at];
      return callee.candidates.length === 1 && parameter !== undefined && !parameter.pack && isScalar(parameter.type);
    }
    case 'value': case 'unknown': return false;
    default: return unreachable(callee);
  }
}

/** In the list that initialises a variable which is an array of scalars or a vector. */
function isElement(facts: FunctionFacts, list: Expr): boolean {
  const parent = facts.parent(list);
  if (parent === null || !isStmt(parent) || parent.kind !== 'declare') return false;
  const type = parent.variables.find((one) => one.init === list)?.type;
  if (type?.kind === 'array') return isScalar(type.of);
  return type !== undefined && (isScalar(type) || (type.kind === 'record' && type.decl.vector !== null));
}

function isInLambda(facts: FunctionFacts, stmt: Stmt): boolean {
  for (let at = facts.parent(stmt); at !== null; at = facts.parent(at)) if (at.kind === 'lambda') return true;
  return false;
}
