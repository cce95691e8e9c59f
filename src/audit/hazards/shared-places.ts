/**
 * Where in shared memory an lvalue (or a pointer) leads: the array and the subscripts, pointers and parameters followed to where they come from.
 *
 * `w = s + 32 * warp; w[lane]` is the array `s` at `32 * warp + lane`; a parameter stands for the argument of the call that leads here. Not handled: pointers with
 * several definitions, pointers in memory or in records (no place), arrays reinterpreted as another element type (`exact` is false).
 */
import { strip } from '../../analysis/children.js';
import { soleDefinition, soleValue } from '../../analysis/sole-value.js';
import type { Expr, Type, VariableDecl } from '../../syntax/tree.js';
import type { Spot } from './scene.js';

/** A summand of a subscript, in the function where it stands. */
export interface Part { readonly expr: Expr; readonly spot: Spot }

export interface SharedPlace {
  readonly base: VariableDecl;
  /** One sum for each subscript taken, outermost first. */
  readonly dims: readonly (readonly Part[])[];
  /** Fields taken. */
  readonly fields: string;
  /** False if subscripts do not count elements of the array. */
  readonly exact: boolean;
  readonly volatile: boolean;
  /** It is a pointer to this place, not the object there. */
  readonly pointer: boolean;
}

const MAX_DEPTH = 24;

export function sharedPlace(expr: Expr, spot: Spot): SharedPlace | null {
  return spot.shared ? resolve(expr, spot, 0) : null;
}

function resolve(written: Expr, spot: Spot, depth: number): SharedPlace | null {
  if (depth > MAX_DEPTH) return null;
  const expr = strip(written);
  switch (expr.kind) {
    case 'ref': return name(expr, spot, depth);
    case 'index': {
      const base = resolve(expr.base, spot, depth + 1);
      return base === null ? null : subscript(base, { expr: expr.index, spot }, expr.type);
    }
    case 'unary': {
      const base = expr.op === '*' || expr.op === '&' ? resolve(expr.operand, spot, depth + 1) : null;
      if (base === null) return null;
      if (expr.op === '&') return { ...base, pointer: true };
      // The array itself: `*s` is its first element.
      if (!base.pointer) return { ...base, dims: [...base.dims, []], volatile: base.volatile || expr.type.volatile === true };
      return { ...base, pointer: false, volatile: base.volatile || expr.type.volatile === true };
    }
    case 'member': {
      const base = resolve(expr.object, spot, depth + 1);
      return base === null ? null : { ...base, fields: `${base.fields}.${expr.name}`, dims: [...base.dims, []], pointer: false };
    }
    case 'binary': {
      if (expr.op !== '+') return null;
      const left = isAddress(expr.left) ? resolve(expr.left, spot, depth + 1) : null;
      if (left !== null) return offset(left, { expr: expr.right, spot });
      const right = isAddress(expr.right) ? resolve(expr.right, spot, depth + 1) : null;
      return right === null ? null : offset(right, { expr: expr.left, spot });
    }
    case 'cast': {
      const base = resolve(expr.operand, spot, depth + 1);
      if (base === null || (expr.type.kind !== 'pointer' && expr.type.kind !== 'reference')) return null;
      return { ...base, exact: base.exact && sameElement(expr.type, expr.operand.type), volatile: base.volatile || expr.type.to.volatile === true };
    }
    default: return null;
  }
}

function isAddress(expr: Expr): boolean {
  const { type } = strip(expr);
  return type.kind === 'pointer' || type.kind === 'array';
}

function element(type: Type): Type {
  if (type.kind === 'pointer' || type.kind === 'reference') return element(type.to);
  return type.kind === 'array' ? element(type.of) : type;
}

function sameElement(a: Type, b: Type): boolean {
  const x = element(a);
  const y = element(b);
  if (x.kind === 'int' && y.kind === 'int') return x.bits === y.bits;
  if (x.kind === 'float' && y.kind === 'float') return x.format === y.format;
  return x.kind === 'record' && y.kind === 'record' ? x.decl === y.decl : x.kind === 'dependent' && y.kind === 'dependent' && x.decl === y.decl;
}

/** `p[i]`: where `p` already points into the array, the offsets add up. */
function subscript(base: SharedPlace, part: Part, type: Type): SharedPlace {
  const volatile = base.volatile || type.volatile === true;
  if (base.pointer && base.dims.length > 0) {
    const last = base.dims[base.dims.length - 1] ?? [];
    return { ...base, dims: [...base.dims.slice(0, -1), [...last, part]], pointer: false, volatile };
  }
  return { ...base, dims: [...base.dims, [part]], pointer: false, volatile };
}

/** `p + i`. */
function offset(base: SharedPlace, part: Part): SharedPlace {
  return { ...subscript(base, part, base.base.type), pointer: true, volatile: base.volatile };
}

function name(expr: Expr & { readonly kind: 'ref' }, spot: Spot, depth: number): SharedPlace | null {
  const { decl } = expr;
  if (decl === null) return null;
  if (decl.kind === 'variable' && decl.space === 'shared') {
    return { base: decl, dims: [], fields: '', exact: true, volatile: isVolatile(decl.type), pointer: false };
  }
  if (decl.kind === 'parameter') {
    if (!points(decl.type) || spot.outer === null || spot.frame.call === null) return null;
    const argument = spot.frame.call.arguments[decl.index];
    if (argument === undefined || soleDefinition(expr, spot.facts)?.kind !== 'parameter') return null;
    return renamed(resolve(argument, spot.outer, depth + 1), decl.type, argument);
  }
  if (decl.kind !== 'variable' || decl.storage !== 'automatic' || !points(decl.type)) return null;
  if (decl.type.kind === 'reference') return decl.init === null ? null : renamed(resolve(decl.init, spot, depth + 1), decl.type, decl.init);
  const value = soleValue(expr, spot.facts);
  return value === null ? null : renamed(resolve(value, spot, depth + 1), decl.type, value);
}

/** What a pointer or reference variable of this type stands for. */
function renamed(place: SharedPlace | null, type: Type, value: Expr): SharedPlace | null {
  if (place === null) return null;
  const to = type.kind === 'pointer' || type.kind === 'reference' ? type.to : type;
  const volatile = place.volatile || isVolatile(to);
  if (type.kind === 'reference') return { ...place, volatile };
  // The name of an array, or of a row, becomes a pointer to its first element.
  const dims = !place.pointer && strip(value).type.kind === 'array' ? [...place.dims, []] : place.dims;
  return { ...place, dims, volatile, pointer: true };
}

function points(type: Type): boolean {
  return type.kind === 'pointer' || type.kind === 'reference' || type.kind === 'array';
}

function isVolatile(type: Type): boolean {
  return type.volatile === true || (type.kind === 'array' && isVolatile(type.of));
}
