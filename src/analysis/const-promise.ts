/**
 * What `const` is worth: does a function that takes an object by `const` reference, or runs as a `const` method of it, leave it as it is?
 *
 *   ++const_cast<int &>(x)   (int &)x = 1   *(int *)&x = 1   p = &x   return x   other(x)   m.v++ of a `mutable int v`
 *
 * A parameter is *left alone* if everything that its function does with it is to read values of it, or to hand it to functions that leave it alone too. Otherwise
 * whoever gets its address may change it, provided that `const` is cast away, or a `mutable` member exists, anywhere in the code that runs (`mayUnconst`). What
 * is not seen may do both. Source: ISO C++ 17, [dcl.type.cv], [expr.const.cast]. Not handled: unions that show a pointer as one of another type.
 */
import { builtin, isBuiltin } from '../cuda/builtins.js';
import { asmMeaning } from './asm-text.js';
import { forEachChild, strip, type Node } from './children.js';
import { codeOf } from './function-code.js';
import { lambdaOf } from './lambdas.js';
import { libraryCall } from './library-calls.js';
import { isMember } from './lvalues.js';
import type { CallExpr, CastExpr, Decl, Expr, FunctionDecl, RecordDecl, Stmt, Type } from '../syntax/tree.js';

const mutables = new WeakMap<RecordDecl, boolean>();

/** May a part of a `const` object of the type change: is one of its members, or of its bases', `mutable`? What is not seen may have one. */
export function hasMutable(type: Type): boolean {
  if (type.kind === 'array') return hasMutable(type.of);
  if (type.kind !== 'record' || type.decl.vector !== null) return false;
  const { decl } = type;
  const known = mutables.get(decl);
  if (known !== undefined) return known;
  mutables.set(decl, false); // a record is no part of itself
  const answer = !decl.complete || decl.specialised === true || decl.bases.some((base) => base.kind !== 'record' || hasMutable(base))
    || decl.fields.some((field) => field.storage === 'member' && (field.mutable === true || hasMutable(field.type)));
  mutables.set(decl, answer);
  return answer;
}

/** Does an object that is declared with this type keep its value from its initialisation on? A reference to `const` is none: the object may change by other names. */
export function isFixed(type: Type): boolean {
  const element = type.kind === 'array' ? elementOf(type) : type;
  return (type.const === true || element.const === true) && type.kind !== 'reference' && !hasMutable(type);
}

function elementOf(type: Type): Type {
  return type.kind === 'array' ? elementOf(type.of) : type;
}

/** Is the lvalue (a part of) an object that is declared `const`? What is only reached through a pointer or reference to `const` is not. */
export function isFixedObject(lvalue: Expr): boolean {
  for (let e = strip(lvalue); ;) {
    switch (e.kind) {
      case 'ref': return e.decl !== null && (e.decl.kind === 'variable' || e.decl.kind === 'parameter') && !isMember(e.decl) && isFixed(e.decl.type);
      case 'member':
        if (e.arrow || e.field === null || e.field.mutable === true || e.field.type.kind === 'reference') return false;
        if (isFixed(e.field.type)) return true;
        e = strip(e.object);
        break;
      case 'index':
        e = strip(e.base);
        if (e.type.kind !== 'array') return false;
        break;
      default: return false;
    }
  }
}

// ------------------------------------------------------------------------------------------------ casts, in all that runs

interface Own {
  readonly unconst: boolean;
  readonly callees: readonly Stmt[];
}

const own = new WeakMap<Stmt, Own>();
const reached = new WeakMap<Stmt, boolean>();

/** May code that runs here, callees included, write through a reference or pointer to `const`? */
export function mayUnconst(code: Stmt): boolean {
  const known = reached.get(code);
  if (known !== undefined) return known;
  const seen = new Set<Stmt>([code]);
  for (const body of seen) {
    const { unconst, callees } = ownOf(body);
    if (unconst || reached.get(body) === true) { reached.set(code, true); return true; }
    for (const callee of callees) if (reached.get(callee) !== false) seen.add(callee);
  }
  for (const body of seen) reached.set(body, false);
  return false;
}

function ownOf(code: Stmt): Own {
  const known = own.get(code);
  if (known !== undefined) return known;
  let unconst = false;
  const callees: Stmt[] = [];
  const visit = (node: Node): void => {
    if (unconst) return;
    switch (node.kind) {
      case 'cast': unconst = removesConst(node); break;
      case 'construct': unconst = node.type.kind === 'pointer' && node.arguments.length > 0; break;
      case 'member': unconst = node.field?.mutable === true; break;
      case 'ref': unconst = node.decl?.kind === 'variable' && node.decl.mutable === true; break;
      case 'asm': unconst = !asmMeaning(node.text).pure; break;
      case 'opaque': unconst = true; break;
      case 'call': {
        const bodies = bodiesOfCall(node);
        if (bodies === null) unconst = true;
        else callees.push(...bodies);
        break;
      }
      default:
    }
    forEachChild(node, visit);
  };
  visit(code);
  const made: Own = { unconst, callees };
  own.set(code, made);
  return made;
}

/** What a call runs; null if a part of it is not seen. */
function bodiesOfCall(call: CallExpr): readonly Stmt[] | null {
  const { callee } = call;
  if (callee.kind === 'builtin' || libraryCall(call) !== null) return [];
  if (callee.kind === 'unknown') return null;
  // The body of a lambda stands, and is looked at, where the lambda is written.
  if (callee.kind === 'value' && lambdaOf(callee.value) !== null) return [];
  const candidates = candidatesOf(call);
  if (candidates.length === 0) return null;
  const bodies: Stmt[] = [];
  for (const candidate of candidates) {
    if (candidate.defaulted === true) continue;
    const code = codeOf(candidate);
    if (code !== null && candidate.virtual !== true) bodies.push(code);
    else if (callee.kind !== 'function' || !isBuiltin(callee.name)) return null;
  }
  return bodies;
}

function candidatesOf({ callee, arguments: given }: CallExpr): readonly FunctionDecl[] {
  switch (callee.kind) {
    case 'function': case 'method': return callee.candidates;
    case 'value': {
      const { type } = strip(callee.value);
      return type.kind === 'record' ? type.decl.methods.filter((method) => method.name === 'operator()' && method.parameters.length >= given.length) : [];
    }
    default: return [];
  }
}

/** May a cast make a pointer or a reference to `const` into one that can be written through? */
function removesConst(cast: CastExpr): boolean {
  const { type, style, operand } = cast;
  if (style === 'dynamic' || style === 'static') return false;
  if (cast.reference !== undefined) return type.const !== true && style !== 'reinterpret' && mayBeConst(operand);
  if (type.kind !== 'pointer' || type.to.const === true) return false;
  const from = strip(operand);
  switch (from.type.kind) {
    case 'pointer': return style !== 'reinterpret' && (from.type.to.const === true || from.type.to.kind === 'pointer' || mayBeConst(from));
    case 'array': return style !== 'reinterpret' && (from.type.of.const === true || mayBeConst(from));
    // An address that was made into a number.
    default: return from.kind !== 'literal';
  }
}

/** May the lvalue, or what a pointer leads to, be reached by way of something `const`? */
function mayBeConst(lvalue: Expr): boolean {
  for (let e = strip(lvalue); ;) {
    if (e.type.const === true) return true;
    switch (e.kind) {
      case 'ref': {
        const { decl } = e;
        if (decl === null || (decl.kind !== 'variable' && decl.kind !== 'parameter') || isMember(decl)) return true;
        const { type } = decl;
        const object = type.kind === 'reference' || type.kind === 'pointer' ? type.to : elementOf(type);
        return object.const === true || object.kind === 'dependent' || object.kind === 'unknown';
      }
      case 'member': e = strip(e.object); break;
      case 'index': e = strip(e.base); break;
      case 'unary': e = strip(e.operand); break;
      case 'binary': e = strip(e.left.type.kind === 'pointer' || e.left.type.kind === 'array' ? e.left : e.right); break;
      default: return true;
    }
  }
}

// ------------------------------------------------------------------------------------------------ what a function does with what it is lent

/** Position of the object that a method runs on. */
export const SELF = -1;

/** `read`: values of it are read, no more; `returned`: the result may be (a part of) it besides; `handed`: it may be changed, or its address be kept. */
export type ConstUse = 'read' | 'returned' | 'handed';

type Uses = ReadonlyMap<number, 'returned' | 'handed'>;

const uses = new WeakMap<FunctionDecl, Uses | null>();

/** What the function does with the object that it is given by reference to `const` at a position, as far as its own text tells. */
export function constUse(fn: FunctionDecl, position: number): ConstUse {
  if (fn.defaulted === true) return 'read';
  if (fn.body === null) return fn.owner === null && isBuiltin(fn.name) ? 'read' : 'handed';
  if (fn.virtual === true) return 'handed';
  let found = uses.get(fn);
  if (found === undefined) {
    uses.set(fn, null); // recursion
    found = new Reads(fn).uses();
    uses.set(fn, found);
  }
  return found === null ? 'handed' : found.get(position) ?? 'read';
}

/** May the object that a function gets by reference to `const` have changed when `around`, the code that calls it, goes on? Null: that code is not known. */
export function mayChangeConst(fn: FunctionDecl, position: number, around: Stmt | null): boolean {
  return constUse(fn, position) !== 'read' && (around === null || mayUnconst(around));
}

const READ: Uses = new Map();

class Reads {
  private readonly stack: Node[] = [];
  private readonly found = new Map<number, 'returned' | 'handed'>();
  private unread = false;
  private readonly descend = (node: Node): void => this.visit(node);

  constructor(private readonly fn: FunctionDecl) {}

  /** Null if something in the function is not understood. */
  uses(): Uses | null {
    const code = codeOf(this.fn);
    if (code !== null) this.visit(code);
    return this.unread ? null : this.found.size === 0 ? READ : this.found;
  }

  private visit(node: Node): void {
    if (node.kind === 'opaque') this.unread = true;
    const position = node.kind === 'ref' ? this.positionOf(node.decl) : node.kind === 'this' ? SELF : null;
    if (position !== null && this.found.get(position) !== 'handed') {
      const use = this.useOf(node);
      if (use !== 'read') this.found.set(position, use);
    }
    this.stack.push(node);
    forEachChild(node, this.descend);
    this.stack.pop();
  }

  private positionOf(decl: Decl | null): number | null {
    if (decl === null) return null;
    if (isMember(decl)) return SELF;
    if (decl.kind !== 'parameter' || decl.type.kind !== 'reference') return null;
    const position = this.fn.parameters.indexOf(decl);
    return position < 0 ? null : position;
  }

  /** Follows an object, or a part of it, upwards to what becomes of it. */
  private useOf(node: Node): ConstUse {
    const readIf = (only: boolean): ConstUse => only ? 'read' : 'handed';
    let child: Node = node;
    for (let depth = this.stack.length - 1; depth >= 0; depth--) {
      const up = this.stack[depth];
      if (up === undefined) return 'handed';
      switch (up.kind) {
        case 'paren': case 'macro': break;
        case 'member':
          // What a pointer or a reference in the object leads to is no part of it.
          if (up.arrow ? child.kind !== 'this' : up.field?.type.kind === 'reference') return 'read';
          break;
        case 'index':
          if (up.base !== child || !isArray(child)) return 'read';
          break;
        case 'unary':
          if (up.op === '*' && (child.kind === 'this' || isArray(child))) break;
          return readIf(up.op !== '&');
        case 'cast': return readIf(up.reference === undefined && isRead(up.type, child));
        case 'conditional':
          if (up.condition === child) return 'read';
          break;
        case 'binary':
          if (up.op === ',' ? up.right !== child : !isArray(child) || (up.op !== '+' && up.op !== '-')) return 'read';
          if (up.op !== ',') return 'handed';
          break;
        case 'assign': return readIf(up.value === child && isRead(up.target.type, child));
        case 'declare': return readIf(up.variables.every((variable) => variable.init !== child || isRead(variable.type, child)));
        case 'return': {
          const { returns } = this.fn;
          if (this.stack.some((one) => one.kind === 'lambda')) return 'handed';
          return isRead(returns, child) ? 'read' : returns.kind === 'reference' ? 'returned' : 'handed';
        }
        case 'call': {
          const use = passedTo(up, child);
          if (use !== 'returned') return use;
          break;
        }
        case 'construct': case 'init-list': return readIf(isRead(up.type, child));
        case 'expression': case 'if': case 'while': case 'do': case 'for': case 'switch': return 'read';
        default: return 'handed';
      }
      child = up;
    }
    return 'handed';
  }
}

/** What a call does with an object that is `const` where it is passed. */
function passedTo(call: CallExpr, object: Node): ConstUse {
  const { callee } = call;
  if (callee.kind === 'builtin') return isArray(object) && builtin(callee.name)?.writes.includes(call.arguments.findIndex((argument) => argument === object)) !== false ? 'handed' : 'read';
  if (callee.kind === 'value' || callee.kind === 'unknown') return 'handed';
  const self = callee.kind === 'method' && callee.object === object;
  // Of a `const` object only the `const` methods can be called.
  const candidates = self ? callee.candidates.filter((candidate) => candidate.constant === true) : callee.candidates;
  if (candidates.length === 0) return 'handed';
  const position = self ? SELF : call.arguments.findIndex((argument) => argument === object);
  let use: ConstUse = 'read';
  for (const candidate of candidates) {
    if (!self) {
      const parameter = candidate.parameters[position];
      if (parameter === undefined || parameter.pack) return 'handed';
      const { type } = parameter;
      if (isRead(type, object)) continue;
      if (type.kind !== 'reference' || (type.to.const !== true && type.to.kind !== 'dependent') || (type.to.kind === 'record' && !isOf(type.to.decl, object))) return 'handed';
    }
    const own = constUse(candidate, position);
    if (own === 'handed') return 'handed';
    if (own === 'returned') use = own;
  }
  return use;
}

/** Does an object of this type take no more than a value from what it is made of? */
function isRead(type: Type, from: Node): boolean {
  return isValue(type) && !isArray(from) && from.kind !== 'this';
}

/** Numbers, pointers, CUDA's vectors, and parameters of templates that are written as values: taking one is reading it. */
function isValue(type: Type): boolean {
  switch (type.kind) {
    case 'bool': case 'int': case 'float': case 'enum': case 'pointer': return true;
    case 'record': return type.decl.vector !== null || copiesPlainly(type.decl, 0);
    case 'dependent': return true;
    case 'unknown': return /^(?:const )?auto$/.test(type.text);
    default: return false;
  }
}

/** An object without constructors of its own: a copy of it only reads. */
function copiesPlainly(record: RecordDecl, depth: number): boolean {
  return depth < 16 && record.complete && record.specialised !== true && !record.methods.some((method) => (method.name === record.name || method.name.startsWith('~')) && method.defaulted !== true)
    && record.bases.every((base) => base.kind === 'record' && copiesPlainly(base.decl, depth + 1))
    && record.fields.every((field) => field.storage !== 'member' || (field.type.kind !== 'reference' && (field.type.kind !== 'record' || field.type.decl.vector !== null || copiesPlainly(field.type.decl, depth + 1))));
}

function isArray(node: Node): boolean {
  return 'type' in node && node.type.kind === 'array';
}

/** A parameter of another class makes an object out of what it is given. */
function isOf(record: RecordDecl, node: Node): boolean {
  return 'type' in node && node.type.kind === 'record' && (node.type.decl === record || node.type.decl.bases.some((base) => base.kind === 'record' && base.decl === record));
}
