/**
 * Access paths: which object a load or store touches.
 *
 * A *place* is a declaration with the steps taken from it: `.f` for a field, `*` for following a pointer. Array elements are one
 * place (`a[i]` and `a[j]` alike): what separates elements is arithmetic, not naming. Pointers held in local variables are replaced by everything
 * ever assigned to them (flow-insensitive, so a swap of two buffers gives both), `p + k`, `&a[i]` and casts keep the place.
 * This is an access-path analysis in the manner of Larus & Hilfinger (PLDI 1988), cut off at {@link MAX_PLACES} alternatives.
 *
 * Not handled: pointers read from memory stay paths of their own (`rows[i][j]` is `rows**`), integers cast to pointers are unknown,
 * pointers stored through a struct in memory are unknown.
 */
import type { Decl, Expr, FunctionDecl, Space, Type, VariableDecl } from '../syntax/tree.js';
import { isFixed } from './const-promise.js';
import { strip } from './children.js';
import type { Variable } from './facts.js';
import { isAutomatic, type FunctionIndex } from './function-index.js';
import { mayHoldAddress } from './lvalues.js';

/** What a place starts from. `this` is the object of the method; null is not known. */
export type PlaceBase = Decl | 'this' | null;

export interface Place {
  readonly base: PlaceBase;
  readonly steps: string;
  readonly space: Space | 'unknown';
  /** The pointer that was followed last is `__restrict__` and comes straight from a parameter. */
  readonly restrict: boolean;
  /** What is accessed is const through that pointer. */
  readonly readOnly: boolean;
  /** An automatic object of the thread of which no address is handed out. */
  readonly hidden: boolean;
}

/** What the resolution of names inside one function rests on. */
export interface PlaceContext {
  readonly index: FunctionIndex;
  /** Null for the body of a lambda or where the function is not known. */
  readonly function: FunctionDecl | null;
}

const MAX_PLACES = 8;

export const UNKNOWN_PLACE: Place = { base: null, steps: '', space: 'unknown', restrict: false, readOnly: false, hidden: false };

const numbers = new WeakMap<Decl, number>();
let nextNumber = 1;

function numberOf(decl: Decl): number {
  const known = numbers.get(decl);
  if (known !== undefined) return known;
  numbers.set(decl, nextNumber);
  return nextNumber++;
}

/** Equal keys mean the same place (unknown places have the key of all unknown ones). */
export function placeKey(place: Place): string {
  const base = place.base === null ? '?' : place.base === 'this' ? 'this' : String(numberOf(place.base));
  return `${base}${place.steps}${place.base === null ? place.space : ''}`;
}

/** Space of what a named object is; parameters are automatic. */
export function spaceOf(decl: Variable): Space {
  return decl.kind === 'parameter' ? 'local' : decl.storage === 'member' ? 'local' : decl.space;
}

function objectPlace(decl: Variable, context: PlaceContext): Place {
  const automatic = isAutomatic(decl);
  return { base: decl, steps: '', space: spaceOf(decl), restrict: false, readOnly: isFixed(decl.type), hidden: automatic && !context.index.exposed.has(decl) };
}

/** A pointer parameter of a kernel points to memory that the host can name. */
function pointeeSpace(place: Place, context: PlaceContext): Space | 'unknown' {
  if (place.base === null || place.base === 'this' || place.steps.includes('*')) return 'unknown';
  if (place.base.kind === 'parameter' && context.function !== null && context.function.qualifiers.global && context.function.parameters.includes(place.base)) return 'device';
  if (place.base.kind === 'variable' && (place.base.space === 'device' || place.base.space === 'constant' || place.base.space === 'managed')) return 'device';
  return 'unknown';
}

/** The place that the pointer stored at `place` points to. `pointer` is the type of that pointer where known. */
function follow(place: Place, pointer: Type, context: PlaceContext): Place {
  if (place.base === null) return UNKNOWN_PLACE;
  const to = pointer.kind === 'pointer' || pointer.kind === 'reference' ? pointer.to : pointer.kind === 'array' ? pointer.of : null;
  return {
    base: place.base,
    steps: `${place.steps}*`,
    space: pointeeSpace(place, context),
    restrict: pointer.kind === 'pointer' && pointer.restrict === true && !place.steps.includes('*'),
    readOnly: to !== null && isFixed(to),
    hidden: false,
  };
}

function field(place: Place, name: string): Place {
  return place.base === null ? place : { ...place, steps: `${place.steps}.${name}`, restrict: place.restrict };
}

/** Removes duplicates; too many alternatives are one unknown place. */
function few(places: readonly Place[]): readonly Place[] {
  if (places.length <= 1) return places;
  const seen = new Map<string, Place>();
  for (const place of places) seen.set(placeKey(place), place);
  if (seen.size <= MAX_PLACES) return [...seen.values()];
  const spaces = new Set(places.map((place) => place.space));
  const only = places[0]?.space ?? 'unknown';
  return [{ ...UNKNOWN_PLACE, space: spaces.size === 1 ? only : 'unknown' }];
}

const UNKNOWN: readonly Place[] = [UNKNOWN_PLACE];

/** Places that an lvalue may denote. Values that are not in memory (calls by value, temporaries) give none. */
export function placesOf(lvalue: Expr, context: PlaceContext, visiting: ReadonlySet<Decl> = new Set()): readonly Place[] {
  const expr = strip(lvalue);
  switch (expr.kind) {
    case 'ref': {
      const decl = expr.decl;
      if (decl === null) return UNKNOWN;
      if (decl.kind === 'variable' || decl.kind === 'parameter') {
        // What a reference member is bound to is not followed.
        if (decl.kind === 'variable' && decl.storage === 'member' && decl.type.kind === 'reference') return UNKNOWN;
        if (decl.kind === 'variable' && decl.storage === 'member') return [field({ ...UNKNOWN_PLACE, base: 'this', steps: '*' }, decl.name)];
        if (decl.type.kind === 'reference') return referent(decl, context, visiting);
        return [objectPlace(decl, context)];
      }
      return decl.kind === 'template-parameter' && !isScalar(decl.type) ? UNKNOWN : [];
    }
    case 'member':
      if (expr.field !== null && expr.field.storage === 'member' && expr.field.type.kind === 'reference') return UNKNOWN;
      return expr.arrow
        ? few(targetsOf(expr.object, context, visiting).map((place) => field(place, expr.name)))
        : few(placesOf(expr.object, context, visiting).map((place) => field(place, expr.name)));
    case 'index': {
      const base = strip(expr.base);
      if (base.type.kind === 'array' && !isArrayParameter(base)) return placesOf(base, context, visiting);
      // `x[i]` on a record is an overloaded operator: what it returns is somewhere in the object, or behind it.
      if (base.type.kind === 'record') return [...placesOf(base, context, visiting), UNKNOWN_PLACE];
      return targetsOf(base, context, visiting);
    }
    case 'unary': return expr.op === '*' ? targetsOf(expr.operand, context, visiting) : [];
    case 'cast': return placesOf(expr.operand, context, visiting);
    case 'conditional': return few([...held(expr.then, context, visiting), ...held(expr.else, context, visiting)]);
    case 'binary': return expr.op === ',' ? placesOf(expr.right, context, visiting) : [];
    case 'assign': case 'update': return placesOf(expr.target, context, visiting);
    case 'opaque': return UNKNOWN;
    case 'call': return expr.callee.kind === 'builtin' ? [] : UNKNOWN;
    default: return [];
  }
}

/** One side of a choice: where the other one is an object in memory, what a temporary object leads to must not be lost. */
function held(side: Expr, context: PlaceContext, visiting: ReadonlySet<Decl>): readonly Place[] {
  const found = placesOf(side, context, visiting);
  return found.length === 0 && mayHoldAddress(side.type) ? UNKNOWN : found;
}

/** A value that is no object: nothing can be stored in it, nor found behind it but by following a pointer. */
function isScalar(type: Type | null): boolean {
  switch (type?.kind) {
    case 'bool': case 'int': case 'float': case 'enum': case 'pointer': case 'void': return true;
    default: return false;
  }
}

/** What a reference variable or parameter is bound to. */
function referent(decl: Variable, context: PlaceContext, visiting: ReadonlySet<Decl>): readonly Place[] {
  if (decl.kind === 'parameter') return [follow(objectPlace(decl, context), decl.type, context)];
  if (decl.init === null || decl.opaqueInit || visiting.has(decl)) return UNKNOWN;
  const bound = placesOf(decl.init, context, new Set([...visiting, decl]));
  // A const reference to a temporary is an object of its own.
  return bound.length === 0 ? [objectPlace(decl, context)] : bound;
}

/** Places that the value of a pointer expression may point to. */
export function targetsOf(pointer: Expr, context: PlaceContext, visiting: ReadonlySet<Decl> = new Set()): readonly Place[] {
  const expr = strip(pointer);
  if (expr.type.kind === 'array' && !isArrayParameter(expr)) return placesOf(expr, context, visiting);
  // An object becomes a pointer by code of its class: into itself, or anywhere.
  if (expr.type.kind === 'record') return [...placesOf(expr, context, visiting), UNKNOWN_PLACE];
  switch (expr.kind) {
    case 'literal': return [];
    case 'this': return [{ ...UNKNOWN_PLACE, base: 'this', steps: '*' }];
    case 'unary':
      if (expr.op === '&') return placesOf(expr.operand, context, visiting);
      return expr.op === '*' ? loaded(expr, context, visiting) : UNKNOWN;
    case 'binary': {
      if (expr.op === ',') return targetsOf(expr.right, context, visiting);
      if (expr.op !== '+' && expr.op !== '-') return UNKNOWN;
      const left = isPointerLike(expr.left);
      if (left) return targetsOf(expr.left, context, visiting);
      return isPointerLike(expr.right) ? targetsOf(expr.right, context, visiting) : UNKNOWN;
    }
    case 'conditional': return few([...targetsOf(expr.then, context, visiting), ...targetsOf(expr.else, context, visiting)]);
    case 'cast': return isPointerLike(expr.operand) ? targetsOf(expr.operand, context, visiting) : castTargets(expr.operand, context, visiting);
    case 'assign': return expr.op === null ? targetsOf(expr.value, context, visiting) : targetsOf(expr.target, context, visiting);
    case 'update': return targetsOf(expr.target, context, visiting);
    case 'call': {
      const callee = expr.callee;
      const first = expr.arguments[0];
      if (callee.kind === 'builtin' && callee.name.endsWith('__builtin_assume_aligned') && first !== undefined) return targetsOf(first, context, visiting);
      return UNKNOWN;
    }
    case 'ref': {
      const decl = expr.decl;
      if (decl === null || (decl.kind !== 'variable' && decl.kind !== 'parameter')) return UNKNOWN;
      if (decl.type.kind === 'reference' || !isAutomatic(decl)) return loaded(expr, context, visiting);
      return variableTargets(decl, context, visiting);
    }
    case 'member': case 'index': return loaded(expr, context, visiting);
    default: return UNKNOWN;
  }
}

/** `(T *)x` of something that is no pointer: null constants point nowhere, other integers anywhere. */
function castTargets(operand: Expr, context: PlaceContext, visiting: ReadonlySet<Decl>): readonly Place[] {
  const inner = strip(operand);
  if (inner.kind === 'literal') return [];
  return inner.type.kind === 'unknown' || inner.type.kind === 'dependent' ? targetsOf(inner, context, visiting) : UNKNOWN;
}

/** A parameter written as an array is a pointer. */
function isArrayParameter(expr: Expr): boolean {
  return expr.kind === 'ref' && expr.decl !== null && expr.decl.kind === 'parameter' && expr.decl.type.kind === 'array';
}

function isPointerLike(expr: Expr): boolean {
  const type = strip(expr).type;
  return type.kind === 'pointer' || type.kind === 'array';
}

/** A pointer that is read from a place: a field of a by-value record follows what the record was initialised with. */
function loaded(expr: Expr, context: PlaceContext, visiting: ReadonlySet<Decl>): readonly Place[] {
  const holders = placesOf(expr, context, visiting);
  if (holders.length === 0 && isOfTemporary(expr)) return UNKNOWN;
  return few(holders.flatMap((place) => {
    const base = place.base;
    if (base !== null && base !== 'this' && base.kind === 'variable' && isAutomatic(base) && !place.steps.includes('*')) return localFieldTargets(base, place, context, visiting);
    return [follow(place, expr.type, context)];
  }));
}

/** Is it a part of an object that nothing names (`C{&x}.p`)? That one is in no memory that others reach, but what it holds leads somewhere. */
function isOfTemporary(part: Expr): boolean {
  for (let e = strip(part); ;) {
    switch (e.kind) {
      case 'member':
        if (e.arrow) return false;
        e = strip(e.object);
        break;
      case 'index': {
        const base = strip(e.base);
        if (base.type.kind === 'pointer') return false;
        e = base;
        break;
      }
      case 'unary': return e.op !== '*';
      case 'cast': e = strip(e.operand); break;
      default: return true;
    }
  }
}

/** `v.p` for a local record or local array of pointers `v`: only if `v` is a plain copy of another record. */
function localFieldTargets(base: VariableDecl, place: Place, context: PlaceContext, visiting: ReadonlySet<Decl>): readonly Place[] {
  const writes = context.index.writes.get(base) ?? [];
  const only = writes[0];
  if (writes.length !== 1 || only === undefined || only.kind !== 'init' || only.value === null || visiting.has(base)) return UNKNOWN;
  // What is made of an object of another class holds what its constructor, or a conversion, puts there.
  const from = strip(only.value).type;
  if (base.type.kind !== from.kind || (base.type.kind === 'record' && (from.kind !== 'record' || base.type.decl !== from.decl))) return UNKNOWN;
  const source = placesOf(only.value, context, new Set([...visiting, base]));
  if (source.length === 0) return UNKNOWN;
  return source.map((from) => (from.base === null ? UNKNOWN_PLACE : { ...follow({ ...from, steps: from.steps + place.steps }, { kind: 'unknown', text: '' }, context), restrict: false }));
}

/** Everything that is ever assigned to a pointer variable. */
export function variableTargets(decl: Variable, context: PlaceContext, visiting: ReadonlySet<Decl> = new Set()): readonly Place[] {
  if (visiting.has(decl)) return [];
  const own: Place[] = decl.kind === 'parameter' ? [follow(objectPlace(decl, context), decl.type, context)] : [];
  const writes = context.index.writes.get(decl) ?? [];
  if (writes.length === 0) {
    if (decl.kind === 'parameter') return own;
    return context.index.declared.has(decl) ? UNKNOWN : [follow(objectPlace(decl, context), decl.type, context)];
  }
  const inside = new Set([...visiting, decl]);
  for (const write of writes) {
    if (write.kind === 'update') continue; // `p += k` and `p++` stay in the object
    if (write.kind !== 'init' && write.kind !== 'assign' || write.value === null) { own.push(UNKNOWN_PLACE); continue; }
    own.push(...targetsOf(write.value, context, inside));
  }
  return few(own);
}

/** Continues a place found in a callee from what the caller passed: `steps` after the first `*` of the parameter. */
export function extend(place: Place, steps: string, inner: Place, caller: PlaceContext): Place {
  if (place.base === null) return place;
  if (steps === '') return { ...place, readOnly: place.readOnly || inner.readOnly };
  const follows = steps.includes('*');
  return {
    base: place.base,
    steps: place.steps + steps,
    // The first pointer that is followed from a named object: its space is known here, not in the callee.
    space: !follows ? place.space : inner.space === 'unknown' && steps.indexOf('*') === steps.lastIndexOf('*') ? pointeeSpace(place, caller) : inner.space,
    restrict: follows ? false : place.restrict,
    readOnly: inner.readOnly,
    hidden: follows ? false : place.hidden,
  };
}
