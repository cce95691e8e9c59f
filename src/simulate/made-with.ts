/**
 * What a member of an object or an element of an array is made with: through lists, constructors and their member initialisers, default initialisers, copies, references, pointers to variables, the objects that
 * functions return and the first value that is stored in what has no initialiser.
 *
 *   M f{m, 1};   f.v  ->  m        P(int a) : q(a) {} … P p(m);   p.q  ->  a, which is m        M f; f.v = m;   f.v  ->  m
 *
 * Only test values depend on it: a part counts with what it is made with, whatever is stored in it later.
 */
import { strip, type Decl, type Expr, type FunctionDecl, type RecordDecl, type Type, type VariableDecl } from '../syntax/tree.js';
import { stripReference } from '../syntax/types.js';
import { evaluate } from './constants.js';
import { calleeScope, memberInitialiserScope, type Scope } from './term-scope.js';
import { walkStmt } from './walk.js';

/** A member by its name, or an element by its number. */
export type Step = string | number;

/** `input`: that part of what the expression names, which is none of the program's own objects. */
export type Made = { readonly kind: 'made'; readonly expr: Expr; readonly scope: Scope } | { readonly kind: 'input'; readonly expr: Expr; readonly path: readonly Step[]; readonly scope: Scope } | { readonly kind: 'zero' };

const MOST_DEPTH = 24;
type Path = readonly Step[];

/** What the part of `expr` that the path leads to is made with. */
export function madeWith(expr: Expr, path: Path, scope: Scope, depth: number): Made | null {
  if (depth > MOST_DEPTH || scope.depth > MOST_DEPTH) return null;
  const e = strip(expr);
  switch (e.kind) {
    case 'member': return e.arrow ? behind(e.object, 0, [e.name, ...path], scope, depth + 1) : madeWith(e.object, [e.name, ...path], scope, depth + 1);
    case 'index': {
      const at = evaluate(e.index, scope.env);
      return at === null ? null : behind(e.base, Number(at.value), path, scope, depth + 1);
    }
    case 'unary': return e.op === '*' ? behind(e.operand, 0, path, scope, depth + 1) : null;
    case 'ref': return e.decl === null ? null : ofDeclared(e, e.decl, path, scope, depth + 1);
    case 'cast': return e.type.kind === 'record' || e.reference !== undefined ? madeWith(e.operand, path, scope, depth + 1) : null;
    case 'init-list': case 'construct': return initialised(e, e.type, path, scope, depth + 1);
    case 'call': return ofResult(e, path, scope, depth + 1);
    default: return null;
  }
}

function ofDeclared(e: Expr, decl: Decl, path: Path, scope: Scope, depth: number): Made | null {
  if (decl.kind !== 'variable' && decl.kind !== 'parameter') return null;
  const bound = scope.bound.get(decl);
  if (bound !== undefined) return initialised(bound.expr, decl.type, path, bound.scope, depth);
  if (decl.kind === 'parameter') return { kind: 'input', expr: e, path, scope };
  if (decl.storage === 'member') return scope.self?.([decl.name, ...path], depth) ?? null;
  if (decl.init !== null) return initialised(decl.init, decl.type, path, scope, depth) ?? stored(decl, path, scope, depth);
  return stored(decl, path, scope, depth) ?? withoutInitialiser(decl.type, path, scope, depth);
}

/** The part of what a pointer, or an array, leads to, `at` elements further on. */
function behind(pointer: Expr, at: number, path: Path, scope: Scope, depth: number): Made | null {
  if (depth > MOST_DEPTH) return null;
  const e = strip(pointer);
  if (stripReference(e.type).kind === 'array') return madeWith(e, [at, ...path], scope, depth + 1);
  switch (e.kind) {
    case 'this': return at === 0 ? scope.self?.(path, depth + 1) ?? null : null;
    case 'unary': {
      if (e.op !== '&') return null;
      const object = strip(e.operand);
      const from = object.kind === 'index' ? evaluate(object.index, scope.env) : null;
      return object.kind === 'index' && from !== null ? behind(object.base, Number(from.value) + at, path, scope, depth + 1) : at === 0 ? madeWith(object, path, scope, depth + 1) : null;
    }
    case 'ref': {
      const { decl } = e;
      if (decl === null || (decl.kind !== 'variable' && decl.kind !== 'parameter')) return null;
      const bound = scope.bound.get(decl);
      if (bound !== undefined) return behind(bound.expr, at, path, bound.scope, depth + 1);
      if (decl.kind === 'variable' && decl.storage !== 'member') return decl.init === null ? null : behind(decl.init, at, path, scope, depth + 1);
      return throughMember(e, at, path, scope, depth);
    }
    case 'cast': return behind(e.operand, at, path, scope, depth + 1);
    case 'member': return throughMember(e, at, path, scope, depth);
    default: return null;
  }
}

function throughMember(e: Expr, at: number, path: Path, scope: Scope, depth: number): Made | null {
  const made = madeWith(e, [], scope, depth + 1);
  return made?.kind === 'made' ? behind(made.expr, at, path, made.scope, depth + 1) : null;
}

/** The part of an object of the type that the expression initialises. */
function initialised(init: Expr, type: Type, path: Path, scope: Scope, depth: number): Made | null {
  if (depth > MOST_DEPTH) return null;
  const e = strip(init);
  if (path.length === 0) {
    if (e.kind !== 'init-list') return { kind: 'made', expr: e, scope };
    const [only] = e.elements;
    return only === undefined ? { kind: 'zero' } : { kind: 'made', expr: only, scope };
  }
  const t = stripReference(type);
  if (t.kind === 'array') return e.kind === 'init-list' ? elementOf(t.of, e.elements, path, scope, depth) : madeWith(e, path, scope, depth + 1);
  if (t.kind !== 'record') return madeWith(e, path, scope, depth + 1);
  if (e.kind === 'init-list' || (e.kind === 'construct' && e.type.kind === 'record' && e.type.decl === t.decl)) return fromArguments(t.decl, e.kind === 'init-list' ? e.elements : e.arguments, path, scope, depth);
  const from = stripReference(e.type);
  return from.kind === 'record' || from.kind === 'dependent' || from.kind === 'unknown' ? madeWith(e, path, scope, depth + 1) : fromArguments(t.decl, [e], path, scope, depth);
}

function elementOf(type: Type, elements: readonly Expr[], path: Path, scope: Scope, depth: number): Made | null {
  const [at, ...rest] = path;
  if (typeof at !== 'number' || at < 0) return null;
  const given = elements[at];
  if (given === undefined) return emptied(type, rest, scope, depth);
  return isWhole(given, type) ? initialised(given, type, rest, scope, depth + 1) : null;
}

/** No element of an object that is listed without braces of its own. */
function isWhole(given: Expr, type: Type): boolean {
  const t = stripReference(type);
  const e = strip(given);
  if (t.kind === 'array') return e.kind === 'init-list' || e.kind === 'literal';
  return t.kind !== 'record' || e.kind === 'init-list' || constructorsOf(t.decl).length > 0 || stripReference(e.type).kind !== 'int' && stripReference(e.type).kind !== 'float' && stripReference(e.type).kind !== 'bool';
}

function constructorsOf(decl: RecordDecl): readonly FunctionDecl[] {
  return decl.methods.filter((m) => m.name === decl.name && m.defaulted !== true);
}

/** The part of an object made from arguments in parentheses or braces. */
function fromArguments(record: RecordDecl, given: readonly Expr[], path: Path, scope: Scope, depth: number): Made | null {
  if (depth > MOST_DEPTH) return null;
  const [only] = given;
  const copied = only === undefined || given.length > 1 ? null : stripReference(only.type);
  if (only !== undefined && copied?.kind === 'record' && copied.decl === record) return madeWith(only, path, scope, depth + 1);
  return constructorsOf(record).length > 0 ? constructed(record, given, path, scope, depth + 1) : listed(record, given, path, scope, depth + 1);
}

/** A member of an aggregate: bases come first in its list. */
function listed(record: RecordDecl, given: readonly Expr[], path: Path, scope: Scope, depth: number): Made | null {
  const [name, ...rest] = path;
  const fields = record.fields.filter((field) => field.storage !== 'static');
  const own = fields.findIndex((field) => field.name === name);
  const field = fields[own];
  const base = field === undefined ? record.bases.findIndex((one) => holds(one, name, 0)) : -1;
  const type = field?.type ?? record.bases[base];
  if (type === undefined || (record.sort === 'union' && own !== 0)) return null;
  const at = field === undefined ? base : record.bases.length + own;
  const types = [...record.bases, ...fields.map((one) => one.type)];
  if (given.slice(0, at + 1).some((one, i) => !isWhole(one, types[i] ?? type))) return null;
  const value = given[at];
  const left = field === undefined ? path : rest;
  if (value !== undefined) return initialised(value, type, left, scope, depth + 1);
  return field?.init != null ? initialised(field.init, type, left, memberInitialiserScope(scope, (p, d) => listed(record, given, p, scope, d + 1)), depth + 1) : emptied(type, left, scope, depth);
}

function holds(type: Type, name: Step | undefined, depth: number): boolean {
  return type.kind === 'record' && depth < 8 && (type.decl.fields.some((field) => field.name === name) || type.decl.bases.some((base) => holds(base, name, depth + 1)));
}

/** A member of an object that a constructor makes: its initialiser, what the body stores in it, or its default. */
function constructed(record: RecordDecl, given: readonly Expr[], path: Path, scope: Scope, depth: number): Made | null {
  if (depth > MOST_DEPTH) return null;
  const fitting = constructorsOf(record).filter((one) => one.body !== null && given.length <= one.parameters.length && one.parameters.slice(given.length).every((p) => p.default !== null));
  const [made] = fitting;
  if (made === undefined || fitting.length > 1) return null;
  const inner = calleeScope(made, given, scope.env, scope, (p, d) => constructed(record, given, p, scope, d + 1));
  const [name, ...rest] = path;
  const initialisers = made.initialisers ?? [];
  const delegated = initialisers.find((one) => one.name === record.name);
  if (delegated !== undefined) return constructed(record, delegated.arguments, path, inner, depth + 1);
  const field = record.fields.find((one) => one.name === name);
  const base = field === undefined ? record.bases.find((one) => holds(one, name, 0)) : undefined;
  const type = field?.type ?? base;
  if (type === undefined) return null;
  const left = field === undefined ? path : rest;
  const written = field === undefined ? null : assignedMember(made, field, rest, inner, depth);
  if (written !== null) return written;
  const initialiser = initialisers.find((one) => one.name === (base?.kind === 'record' ? base.decl.name : name));
  if (initialiser === undefined) return field?.init != null ? initialised(field.init, type, left, inner, depth + 1) : withoutInitialiser(type, left, inner, depth);
  const t = stripReference(type);
  const [only] = initialiser.arguments;
  if (t.kind === 'record') return left.length === 0 ? null : fromArguments(t.decl, initialiser.arguments, left, inner, depth + 1);
  if (t.kind === 'array') return elementOf(t.of, initialiser.arguments, left, inner, depth + 1);
  return only === undefined ? { kind: 'zero' } : initialised(only, type, left, inner, depth + 1);
}

/** `v = a;`, `this->v = a;` in a constructor's body, the last one of them. */
function assignedMember(made: FunctionDecl, field: VariableDecl, path: Path, scope: Scope, depth: number): Made | null {
  for (const s of [...made.body?.body ?? []].reverse()) {
    const e = s.kind === 'expression' ? strip(s.expression) : null;
    if (e?.kind !== 'assign' || e.op !== null) continue;
    const target = strip(e.target);
    if ((target.kind === 'ref' && target.decl === field) || (target.kind === 'member' && target.name === field.name && strip(target.object).kind === 'this')) return initialised(e.value, field.type, path, scope, depth + 1);
  }
  return null;
}

/** What `T x;` makes of a part. */
function withoutInitialiser(type: Type, path: Path, scope: Scope, depth: number): Made | null {
  const t = stripReference(type);
  if (t.kind !== 'record' || path.length === 0) return null;
  if (constructorsOf(t.decl).length > 0) return constructed(t.decl, [], path, scope, depth + 1);
  const made = listed(t.decl, [], path, scope, depth + 1);
  return made?.kind === 'zero' ? null : made;
}

/** What `{}` makes of a part. */
function emptied(type: Type, path: Path, scope: Scope, depth: number): Made | null {
  const t = stripReference(type);
  if (depth > MOST_DEPTH) return null;
  if (t.kind === 'record') return path.length === 0 ? null : fromArguments(t.decl, [], path, scope, depth + 1);
  if (t.kind === 'array') return emptied(t.of, path.slice(1), scope, depth + 1);
  return { kind: 'zero' };
}

/** The part of what a function returns. */
function ofResult(e: Extract<Expr, { kind: 'call' }>, path: Path, scope: Scope, depth: number): Made | null {
  const { callee } = e;
  if (callee.kind === 'builtin' && callee.name.startsWith('make_')) {
    const t = stripReference(e.type);
    return t.kind === 'record' ? listed(t.decl, e.arguments, path, scope, depth + 1) : null;
  }
  if (callee.kind !== 'function' && callee.kind !== 'method') return null;
  const [called, other] = callee.candidates;
  const last = called?.body?.body.at(-1);
  if (called === undefined || other !== undefined || last?.kind !== 'return' || last.value === null) return null;
  return initialised(last.value, called.returns, path, callScope(e, called, scope), depth + 1);
}

/** Where the body of a called function or method stands. */
export function callScope(e: Extract<Expr, { kind: 'call' }>, called: FunctionDecl, scope: Scope, env: Scope['env'] = scope.env): Scope {
  const { callee } = e;
  if (callee.kind !== 'method') return calleeScope(called, e.arguments, env, scope);
  return calleeScope(called, e.arguments, env, scope, (path, depth) => (callee.arrow ? behind(callee.object, 0, path, scope, depth + 1) : madeWith(callee.object, path, scope, depth + 1)));
}

interface Store { readonly path: Path; readonly value: Expr; readonly type: Type }

const stores = new WeakMap<FunctionDecl, Map<Decl, Store[]>>();

/** Plain assignments to variables of a function and to parts of them, in the order of the text. */
function storesIn(fn: FunctionDecl): ReadonlyMap<Decl, readonly Store[]> {
  let found = stores.get(fn);
  if (found !== undefined) return found;
  stores.set(fn, found = new Map<Decl, Store[]>());
  const into = found;
  if (fn.body !== null) {
    walkStmt(fn.body, {
      expr: (e) => {
        if (e.kind !== 'assign' || e.op !== null) return;
        const path: Step[] = [];
        let x = strip(e.target);
        for (;;) {
          if (x.kind === 'member' && !x.arrow) { path.unshift(x.name); x = strip(x.object); continue; }
          const at = x.kind === 'index' ? strip(x.index) : null;
          if (x.kind !== 'index' || at?.kind !== 'literal' || typeof at.value !== 'bigint') break;
          path.unshift(Number(at.value));
          x = strip(x.base);
        }
        if (x.kind !== 'ref' || x.decl === null) return;
        const known = into.get(x.decl);
        const store: Store = { path, value: e.value, type: e.target.type };
        if (known === undefined) into.set(x.decl, [store]);
        else known.push(store);
      },
    });
  }
  return found;
}

/** The first value that the function stores in the part, or in what holds it. */
function stored(decl: Decl, path: Path, scope: Scope, depth: number): Made | null {
  const first = storesIn(scope.fn).get(decl)?.find((one) => one.path.length <= path.length && one.path.every((step, i) => step === path[i]));
  return first === undefined ? null : initialised(first.value, first.type, path.slice(first.path.length), scope, depth + 1);
}
