/**
 * Which object an lvalue lies in.
 *
 * A thread's own automatic objects (locals, parameters) are *variables*: their values are followed by def-use. Everything else —
 * `__shared__`, `__device__`, static and namespace-scope names, whatever a pointer points to — is *memory*. An lvalue is rooted in
 * a variable when its object is that variable or a part of it: `x`, `x.f`, `x[i]` for an array, `*x` for an array, `*(&x)`.
 *
 * Not handled: pointers are never followed to the variable they were made from; a variable whose address is taken counts as escaped
 * instead (structure.ts).
 */
import type { Variable } from './facts.js';
import { strip } from './children.js';
import type { BinaryExpr, Decl, Expr, ParameterDecl, RecordDecl, RefExpr, Type } from '../syntax/tree.js';

/** An automatic variable or a parameter; null for memory and for everything that holds no value. */
export function variableOf(decl: Decl | null): Variable | null {
  if (decl === null) return null;
  if (decl.kind === 'parameter') return decl;
  if (decl.kind === 'variable' && decl.storage === 'automatic' && (decl.space === 'local' || decl.space === 'host')) return decl;
  return null;
}

/** A field of the object that a method runs on, named without `this->`. */
export function isMember(decl: Decl | null): boolean {
  return decl !== null && decl.kind === 'variable' && decl.storage === 'member';
}

/** Does the variable hold the object itself (not a pointer to it), so that `x[i]` is a part of `x`? */
export function holdsElements(decl: Variable): boolean {
  const type = decl.type.kind === 'reference' ? decl.type.to : decl.type;
  // A parameter written as an array is a pointer.
  if (type.kind === 'array') return decl.kind === 'variable' || decl.type.kind === 'reference';
  return type.kind === 'record' || type.kind === 'unknown' || type.kind === 'dependent';
}

export function isReference(decl: Variable): boolean {
  return decl.type.kind === 'reference';
}

/** The type without a reference around it. */
export function valueType(type: Type): Type {
  return type.kind === 'reference' ? type.to : type;
}

/** Can a value of the type lead to an object: a pointer, or something with one inside? */
export function mayHoldAddress(type: Type): boolean {
  switch (type.kind) {
    case 'pointer': case 'reference': case 'unknown': case 'dependent': return true;
    case 'record': return type.decl.vector === null;
    case 'array': return mayHoldAddress(type.of);
    default: return false;
  }
}

/** Is the value of an expression an address, or something with one inside? An array stands for its own. */
export function carriesAddress(type: Type): boolean {
  return type.kind === 'array' || keepsAddresses(type);
}

/** May an object of the type hold an address? The same as above, closer: an array of numbers and a class of numbers hold none. */
export function keepsAddresses(type: Type): boolean {
  switch (type.kind) {
    case 'pointer': case 'reference': case 'unknown': case 'dependent': return true;
    case 'array': return keepsAddresses(type.of);
    case 'record': return type.decl.vector === null && recordKeeps(type.decl);
    default: return false;
  }
}

const carrying = new WeakMap<RecordDecl, boolean>();

function recordKeeps(record: RecordDecl): boolean {
  const known = carrying.get(record);
  if (known !== undefined) return known;
  carrying.set(record, false); // a record is no part of itself
  const made = !record.complete || record.bases.some(keepsAddresses) || record.fields.some(({ storage, type }) => storage === 'member' && keepsAddresses(type));
  carrying.set(record, made);
  return made;
}

export interface Root {
  readonly decl: Variable;
  /** The name in the lvalue. */
  readonly ref: RefExpr;
  /** True if the lvalue is the whole variable: an assignment leaves nothing of the old value. */
  readonly whole: boolean;
}

/** The variable an lvalue is (a part of); null if it lies in memory. */
export function rootOf(lvalue: Expr): Root | null {
  let whole = true;
  let e = strip(lvalue);
  for (;;) {
    switch (e.kind) {
      case 'ref': {
        const decl = variableOf(e.decl);
        return decl === null ? null : { decl, ref: e, whole };
      }
      case 'member': {
        // `(&x)->f`, and `a->f` of an array: parts of the object.
        const object: Expr | null = e.arrow ? elementBase(e.object) : e.object;
        if (object === null) return null;
        e = strip(object);
        whole = false;
        break;
      }
      case 'index': {
        const base = elementBase(e.base);
        if (base === null) return null;
        e = base;
        whole = false;
        break;
      }
      case 'unary': {
        if (e.op !== '*') return null;
        const pointer = strip(e.operand);
        const inner = stripCasts(pointer);
        if (inner.kind === 'unary' && inner.op === '&') {
          whole = whole && inner === pointer;
          e = strip(inner.operand);
          break;
        }
        const base = elementBase(pointer);
        if (base === null) return null;
        e = base;
        whole = false;
        break;
      }
      // `(x = 1)`, `++x` are lvalues of x; `reinterpret_cast<T &>(x)` is one of another type.
      case 'assign': e = strip(e.target); break;
      case 'update':
        if (!e.prefix) return null;
        e = strip(e.target);
        break;
      case 'binary':
        if (e.op !== ',') return null;
        e = strip(e.right);
        break;
      case 'cast':
        e = strip(e.operand);
        whole = false;
        break;
      default:
        return null;
    }
  }
}

/** Does an lvalue that is named from the method's own object lie behind a pointer or a reference in it, and so perhaps outside of it? */
export function leadsOut(lvalue: Expr): boolean {
  for (let e = strip(lvalue); ;) {
    switch (e.kind) {
      case 'ref': return e.type.kind === 'reference' || (e.decl?.kind === 'variable' && e.decl.type.kind === 'reference');
      case 'this': return false;
      case 'member':
        if (e.field === null || e.field.type.kind === 'reference' || (e.arrow && strip(e.object).kind !== 'this')) return true;
        e = strip(e.object);
        break;
      case 'index':
        if (strip(e.base).type.kind !== 'array') return true;
        e = strip(e.base);
        break;
      case 'unary':
        if (e.op !== '*' || strip(e.operand).kind !== 'this') return true;
        return false;
      default: return true;
    }
  }
}

/**
 * The variables that an lvalue may be (a part of), whichever of them it is in a run: several for `c ? x : y` and for parts of it (`(c ? x : y).f`, `(c ? &x : &y)->f`). Those that lie in
 * memory are left out.
 */
export function rootsOf(lvalue: Expr): readonly Root[] {
  const only = rootOf(lvalue);
  if (only !== null) return [only];
  const e = strip(lvalue);
  switch (e.kind) {
    case 'conditional': return [...rootsOf(e.then), ...rootsOf(e.else)];
    case 'binary': return e.op === ',' ? rootsOf(e.right) : NO_ROOTS;
    case 'member': return parts(e.arrow ? addressedBy(e.object) : rootsOf(e.object));
    case 'index': return parts(strip(e.base).type.kind === 'array' ? rootsOf(e.base) : addressedBy(e.base));
    case 'unary': return e.op === '*' ? addressedBy(e.operand) : NO_ROOTS;
    case 'cast': return parts(rootsOf(e.operand));
    case 'assign': case 'update': return rootsOf(e.target);
    default: return NO_ROOTS;
  }
}

/** The variables that a pointer may lead to, as far as it is made on the spot: `&x`, `a + 1`, `c ? &x : &y`. What a pointer variable holds is not followed. */
export function addressedBy(pointer: Expr): readonly Root[] {
  const e = strip(pointer);
  switch (e.kind) {
    case 'unary':
      if (e.op === '&') return rootsOf(e.operand);
      if (e.op === '~' || e.op === '-' || e.op === '+') return parts(addressedBy(e.operand));
      return e.type.kind === 'array' ? parts(rootsOf(e)) : NO_ROOTS;
    case 'conditional': return [...addressedBy(e.then), ...addressedBy(e.else)];
    case 'binary':
      if (e.op === ',') return addressedBy(e.right);
      // An address that was made a number may be worked on like any other.
      return isTest(e.op) ? NO_ROOTS : parts([...addressedBy(e.left), ...addressedBy(e.right)]);
    case 'cast': return parts(addressedBy(e.operand));
    case 'ref': case 'index': case 'member': return isArrayValued(e) ? parts(rootsOf(e)) : NO_ROOTS;
    default: return NO_ROOTS;
  }
}

/** Does the operator give a truth value, which no address can be had back from? */
export function isTest(op: BinaryExpr['op']): boolean {
  return op === '==' || op === '!=' || op === '<' || op === '>' || op === '<=' || op === '>=' || op === '&&' || op === '||';
}

function parts(roots: readonly Root[]): readonly Root[] {
  return roots.map((root) => ({ ...root, whole: false }));
}

export const NO_ROOTS: readonly Root[] = [];

/** For `base[i]`, `*(base + i)`: the lvalue of the array that is indexed; null if `base` is a pointer into memory. */
function elementBase(base: Expr): Expr | null {
  let e = strip(base);
  if (e.kind === 'binary' && e.op === ',') return elementBase(e.right);
  if (e.kind === 'binary' && (e.op === '+' || e.op === '-')) {
    const left = elementBase(e.left);
    return left ?? elementBase(e.right);
  }
  // `(*&a)[1]`: what is followed must be an array itself.
  if (e.kind === 'unary' && e.op === '*') return e.type.kind === 'array' ? e : null;
  if (e.kind === 'unary' && e.op === '&') {
    // `(&x)[i]`, `(&x.y)[1]`: parts of x, if x is a variable at all.
    return e.operand;
  }
  if (e.kind === 'cast' && (e.type.kind === 'pointer' || e.type.kind === 'array')) {
    e = stripCasts(e);
    if (e.kind === 'unary' && e.op === '&') return e.operand;
    // An address that was kept as a number, or as something that is not known, leads elsewhere.
    return isNumberOrUnseen(e.type) ? null : elementBase(e);
  }
  if (e.kind === 'ref') {
    const decl = variableOf(e.decl);
    return decl !== null && holdsElements(decl) ? e : null;
  }
  if (e.kind === 'index' || (e.kind === 'member' && !e.arrow)) {
    // `a[i][j]`, `s.field[j]`: a part of the object only if the element is itself an array.
    const type = e.type.kind;
    return type === 'pointer' ? null : e;
  }
  return null;
}

function isNumberOrUnseen({ kind }: Type): boolean {
  return kind === 'int' || kind === 'float' || kind === 'bool' || kind === 'enum' || kind === 'unknown' || kind === 'dependent';
}

function stripCasts(expr: Expr): Expr {
  let e = strip(expr);
  while (e.kind === 'cast') e = strip(e.operand);
  return e;
}

/** Does the expression decay to a pointer into the object it names? */
function isArrayValued(expr: Expr): boolean {
  const e = strip(expr);
  if (e.kind === 'binary') return (e.op === '+' || e.op === '-') && (isArrayValued(e.left) || isArrayValued(e.right));
  if (e.kind === 'ref' && e.decl?.kind === 'parameter') return e.decl.type.kind === 'reference' && e.decl.type.to.kind === 'array';
  return e.type.kind === 'array';
}

/** True if a parameter is bound to the caller's object: the callee may change it unless it is `const`. */
export function byReference(parameter: ParameterDecl): boolean {
  return parameter.type.kind === 'reference';
}
