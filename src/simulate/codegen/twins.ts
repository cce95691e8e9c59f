/**
 * Overloads that differ in `const` or in the kind of a reference alone: which of them a call means is told by whether an object or an argument is const, and a
 * value or not. Types of the simulator do not say: the tree does, where it does not depend on a template's parameters.
 *
 *   int &at(int i);  int at(int i) const;      void f(T &);  void f(const T &);  void f(T &&);      f(int *);  f(const int *);
 *
 * What is not known (`T &p` with a `T` that may be const, captures of a lambda, results of unknown calls) is null, and then the overloads must be one text. Source:
 * ISO C++ 17, [over.ics.rank].
 */
import { strip, type Expr, type FunctionDecl, type ParameterDecl, type Type } from '../../syntax/tree.js';
import { isArithmetic, sameType, stripReference, unqualified } from '../../syntax/types.js';
import { walkStmt } from '../walk.js';
import type { FunctionContext } from './context.js';

/** Is what the lvalue or value names const? Null if it is not known. */
export function isConst(ctx: FunctionContext, expr: Expr): boolean | null {
  const e = strip(expr);
  switch (e.kind) {
    case 'ref': {
      const { decl } = e;
      if (decl === null || (decl.kind !== 'variable' && decl.kind !== 'parameter')) return null;
      if (decl.kind === 'variable' && decl.storage === 'member') return partOf(decl.type, decl.mutable === true, ctx.constantObject);
      const constant = typeIsConst(decl.type);
      // What a lambda captured by copy is const in it.
      return constant === false && ctx.lambda !== null && (decl.span.start < ctx.lambda.span.start || decl.span.end > ctx.lambda.span.end) ? null : constant;
    }
    case 'this': return false; // the pointer
    case 'member': {
      const object = e.arrow ? pointsToConst(ctx, e.object) : isConst(ctx, e.object);
      return e.field === null ? (object === true ? null : object === false ? typeIsConst(e.type) : null) : partOf(e.field.type, e.field.mutable === true, object);
    }
    case 'index': {
      const base = strip(e.base);
      if (base.type.kind === 'array') return either(typeIsConst(base.type.of), isConst(ctx, base));
      return base.type.kind === 'pointer' ? typeIsConst(base.type.to) : null;
    }
    case 'unary': return e.op === '*' ? pointsToConst(ctx, e.operand) : false;
    case 'call': {
      const { callee } = e;
      if (callee.kind !== 'function' && callee.kind !== 'method') return null;
      const results = callee.candidates.map((one) => typeIsConst(one.returns));
      const [first] = results;
      return first === undefined || results.some((one) => one !== first) ? null : first;
    }
    case 'cast': case 'construct': return typeIsConst(e.type);
    case 'conditional': return either(isConst(ctx, e.then), isConst(ctx, e.else));
    case 'assign': case 'update': return isConst(ctx, e.target);
    case 'binary': return e.op === ',' ? isConst(ctx, e.right) : false;
    case 'literal': case 'coordinate': case 'init-list': case 'sizeof': return false;
    default: return null;
  }
}

/** Does a pointer lead to what is const? */
export function pointsToConst(ctx: FunctionContext, pointer: Expr): boolean | null {
  const e = strip(pointer);
  if (e.kind === 'this') return ctx.constantObject;
  if (e.kind === 'unary' && e.op === '&') return isConst(ctx, e.operand);
  if (e.type.kind === 'array') return either(typeIsConst(e.type.of), isConst(ctx, e));
  return e.type.kind === 'pointer' ? typeIsConst(e.type.to) : null;
}

function typeIsConst(type: Type): boolean | null {
  switch (type.kind) {
    case 'reference': return typeIsConst(type.to);
    case 'array': return type.const === true ? true : typeIsConst(type.of);
    case 'dependent': case 'unknown': return type.const === true ? true : null;
    default: return type.const === true;
  }
}

/** A field of an object: a reference and what is mutable do not take over that the object is const. */
function partOf(type: Type, mutable: boolean, object: boolean | null): boolean | null {
  if (type.kind === 'reference') return typeIsConst(type);
  const own = typeIsConst(type);
  return mutable ? own : either(own, object);
}

function either(a: boolean | null, b: boolean | null): boolean | null {
  return a === true || b === true ? true : a === null || b === null ? null : false;
}

/** Is the argument an object with a place, not a temporary? Null if it is not known. */
export function isLvalue(expr: Expr): boolean | null {
  const e = strip(expr);
  switch (e.kind) {
    case 'ref': case 'index': case 'assign': case 'this': return true;
    case 'member': return e.arrow ? true : isLvalue(e.object);
    case 'unary': return e.op === '*';
    case 'update': return e.prefix;
    case 'literal': return typeof e.value === 'string';
    case 'call': {
      const { callee } = e;
      if (callee.kind === 'builtin') return false;
      if (callee.kind !== 'function' && callee.kind !== 'method') return null;
      const results = callee.candidates.map(({ returns }) => (returns.kind === 'reference' ? returns.rvalue !== true : returns.kind === 'dependent' || returns.kind === 'unknown' ? null : false));
      const [first] = results;
      return first === undefined || results.some((one) => one !== first) ? null : first;
    }
    case 'cast': return e.reference !== undefined ? e.reference === 'lvalue' : e.type.kind === 'dependent' || e.type.kind === 'unknown' ? null : false;
    case 'conditional': {
      const then = isLvalue(e.then);
      const other = isLvalue(e.else);
      if (then !== true || other !== true) return then === false || other === false ? false : null;
      // Lvalues of two types become values of their common one.
      const [a, b] = [unqualified(e.then.type), unqualified(e.else.type)];
      if (a.kind === 'unknown' || b.kind === 'unknown') return null;
      return sameType(a, b) ? true : a.kind === 'dependent' || b.kind === 'dependent' || (a.kind === 'record' && b.kind === 'record') ? null : false;
    }
    case 'binary': return e.op === ',' ? isLvalue(e.right) : false;
    case 'construct': case 'init-list': case 'sizeof': case 'coordinate': case 'lambda': return false;
    default: return null;
  }
}

/**
 * The overload that a call means of some that fit equally well by their types; null if it cannot be told and they are not one text. `object`: whether the object is
 * const, undefined where there is none.
 */
export function meant(ctx: FunctionContext, tied: readonly FunctionDecl[], args: readonly Expr[], object: boolean | null | undefined): FunctionDecl | null {
  let left = tied;
  if (object !== undefined && left.some((one) => one.constant === true) && left.some((one) => one.constant !== true)) {
    if (object === null) return sameText(ctx, left);
    const exact = left.filter((one) => (one.constant === true) === object);
    // An object that is not const takes a const method where there is no other.
    left = exact.length > 0 ? exact : left;
  }
  for (let i = 0; i < args.length && left.length > 1; i++) {
    const given = args[i];
    const kinds = left.map((one) => kindOf(one.parameters[i]));
    if (given === undefined || kinds.every((kind) => kind === kinds[0])) continue;
    const wanted = preference(ctx, given, kinds, left.every((one) => isConverted(one.parameters[i], given)));
    if (wanted === null) return sameText(ctx, left);
    left = left.filter((_, n) => kinds[n] === wanted);
  }
  return left[0] ?? null;
}

type Kind = 'value' | 'lvalue' | 'const' | 'rvalue' | 'pointer' | 'pointer to const';

function kindOf(parameter: ParameterDecl | undefined): Kind {
  if (parameter === undefined) return 'value';
  const { type } = parameter;
  if (type.kind === 'pointer' || type.kind === 'array') return (type.kind === 'pointer' ? type.to : type.of).const === true ? 'pointer to const' : 'pointer';
  if (type.kind !== 'reference') return 'value';
  return type.rvalue === true ? 'rvalue' : type.to.const === true ? 'const' : 'lvalue';
}

/** A number of another type than the parameter's: a reference to it is one to a temporary. */
function isConverted(parameter: ParameterDecl | undefined, given: Expr): boolean {
  if (parameter?.type.kind !== 'reference') return false;
  const [to, from] = [unqualified(parameter.type.to), unqualified(stripReference(given.type))];
  return isArithmetic(to) && isArithmetic(from) && !sameType(to, from);
}

/** Can the function be meant at all? A reference that may be written binds to no value, to nothing const and to no number of another type. */
export function accepts(ctx: FunctionContext, decl: FunctionDecl, args: readonly Expr[]): boolean {
  return args.every((given, i) => {
    const parameter = decl.parameters[i];
    if (parameter === undefined || parameter.pack || kindOf(parameter) !== 'lvalue' || parameter.type.kind !== 'reference' || parameter.type.to.kind === 'dependent') return true;
    return !isConverted(parameter, given) && isLvalue(given) !== false && isConst(ctx, given) !== true;
  });
}

/** Is a function template nearer than the function, which takes a reference to const of what the template takes as it is? */
export function isNearer(ctx: FunctionContext, template: FunctionDecl, decl: FunctionDecl, args: readonly Expr[]): boolean {
  return args.some((given, i) => {
    const [own, other] = [kindOf(decl.parameters[i]), kindOf(template.parameters[i])];
    return own === 'const' && (other === 'lvalue' || other === 'rvalue') && isConst(ctx, given) !== true;
  });
}

/** The kind that the argument prefers among those that there are. */
function preference(ctx: FunctionContext, given: Expr, kinds: readonly Kind[], converted: boolean): Kind | null {
  const first = (...order: readonly Kind[]): Kind | null => order.find((kind) => kinds.includes(kind)) ?? null;
  if (kinds.every((kind) => kind === 'pointer' || kind === 'pointer to const')) {
    const constant = pointsToConst(ctx, given);
    return constant === null ? null : first(...(constant ? ['pointer to const'] as const : ['pointer', 'pointer to const'] as const));
  }
  if (kinds.includes('value') || kinds.some((kind) => kind.startsWith('pointer'))) return null;
  const place = converted ? false : isLvalue(given);
  if (place === null) return null;
  if (!place) return first('rvalue', 'const');
  const constant = isConst(ctx, given);
  return constant === null ? null : constant ? first('const') : first('lvalue', 'const');
}

/** Overloads that are one text and call nothing do the same, whichever is meant. */
function sameText(ctx: FunctionContext, decls: readonly FunctionDecl[]): FunctionDecl | null {
  const texts = decls.map((decl) => textOf(ctx, decl));
  return texts[0] !== null && texts.every((text) => text === texts[0]) ? decls[0] ?? null : null;
}

function textOf(ctx: FunctionContext, decl: FunctionDecl): string | null {
  const unit = ctx.compiler.program.units.get(decl.file);
  if (unit === undefined || decl.body === null) return null;
  let calls = false;
  walkStmt(decl.body, { expr: (e) => { if ((e.kind === 'call' && e.callee.kind !== 'builtin') || e.kind === 'opaque' || e.kind === 'lambda') calls = true; } });
  return calls ? null : unit.source.text.slice(decl.body.span.start, decl.body.span.end).replace(/\s+/g, ' ');
}
