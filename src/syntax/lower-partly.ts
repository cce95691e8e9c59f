/**
 * Expressions whose value is not followed and whose parts are: what runs in them is known to whoever looks for barriers, collectives and shared memory, and all
 * others take them for text that is not understood.
 *
 *   (f(args), ...)   g(t)...      each operand, as often as the packs have elements
 *   new (place) T(a)   delete p   what the object is made of, its constructors; its destructors
 *   12_km                         a call of the operator
 *   std::invoke(f, a)             a call of what is given
 */
import { namedChildren, fieldChild, type Cst } from './cst.js';
import type { Lowering } from './context.js';
import { lowerArguments } from './lower-call.js';
import { expression, lowerInitList } from './lower-expression.js';
import { lowerType } from './lower-type.js';
import type { CallExpr, Callee, Expr, FunctionDecl, Type } from './tree.js';
import { strip } from './tree.js';
import { UNKNOWN, VOID, pointerTo } from './types.js';

export function lowerPacked(ctx: Lowering, node: Cst): Expr {
  return ctx.opaque(node, node.type.replaceAll('_', ' '), UNKNOWN, { parts: namedChildren(node).map((child) => expression(ctx, child)), packed: true });
}

export function lowerNew(ctx: Lowering, node: Cst): Expr {
  const typeNode = fieldChild(node, 'type');
  const place = fieldChild(node, 'placement');
  const list = fieldChild(node, 'arguments');
  const declarator = fieldChild(node, 'declarator');
  const type = typeNode === null ? UNKNOWN : lowerType(ctx, typeNode);
  const given = list === null ? [] : list.type === 'initializer_list' ? elementsOf(lowerInitList(ctx, list, UNKNOWN)) : lowerArguments(ctx, list);
  const length = declarator === null ? null : fieldChild(declarator, 'length');
  const parts = [...(place === null ? [] : lowerArguments(ctx, place)), ...(length === null ? [] : [expression(ctx, length)]), ...given];
  const made: Type = declarator === null ? type : { kind: 'array', of: type, length: null };
  return ctx.opaque(node, 'new', typeNode === null ? UNKNOWN : pointerTo(type), { parts, life: { type: made, given } });
}

function elementsOf(list: Expr): readonly Expr[] {
  return list.kind === 'init-list' ? list.elements : [list];
}

export function lowerDelete(ctx: Lowering, node: Cst): Expr {
  const [operand] = namedChildren(node);
  if (operand === undefined) return ctx.opaque(node, 'delete', VOID);
  const value = expression(ctx, operand);
  const { type } = strip(value);
  return ctx.opaque(node, 'delete', VOID, { parts: [value], ...(type.kind === 'pointer' ? { life: { type: type.to, given: null } } : {}) });
}

/** `12_km` calls `operator""_km(12)`; which of several is told by what they take. */
export function lowerUserLiteral(ctx: Lowering, node: Cst): Expr {
  const reason = 'user-defined literal';
  const text = ctx.slice(node);
  const last = Math.max(text.lastIndexOf('"'), text.lastIndexOf("'"));
  const isNumber = !text.includes('"') && (text.startsWith('.') || (text >= '0' && text < ':'));
  const cut = isNumber ? text.indexOf('_') : last + 1;
  if (cut <= 0) return ctx.opaque(node, reason);
  const name = `operator""${text.slice(cut)}`;
  const found = ctx.unit.lookup.lookup(ctx.scope, name);
  if (found?.kind !== 'functions') return ctx.opaque(node, reason);
  const span = ctx.span(node);
  // What the operator is given (the value, the text and its length) is not told.
  const given = ctx.opaque(node, reason);
  const call: CallExpr = { kind: 'call', span, type: UNKNOWN, callee: { kind: 'function', name, candidates: found.decls }, calleeSpan: span, arguments: [given, given], templateArguments: null };
  return ctx.opaque(node, reason, UNKNOWN, { parts: [call] });
}

const INVOKING: ReadonlySet<string> = new Set(['std::invoke', 'cuda::std::invoke', '::std::invoke', '::cuda::std::invoke']);
const APPLYING: ReadonlySet<string> = new Set(['std::apply', 'cuda::std::apply', '::std::apply', '::cuda::std::apply']);

/** `std::invoke(f, a)`, `std::invoke(&T::go, t, a)`, `std::apply(f, t)`, where the library is not read; null for any other function. */
export function lowerInvoke(ctx: Lowering, node: Cst, name: string, args: readonly Expr[]): Expr | null {
  const [first, ...rest] = args;
  const applies = APPLYING.has(name);
  if (first === undefined || (!applies && !INVOKING.has(name))) return null;
  const span = ctx.span(node);
  // What a tuple holds is not followed.
  const given = applies ? [] : rest;
  const method = methodGiven(first);
  const [object, ...others] = given;
  const callee: Callee = method === null || object === undefined
    ? { kind: 'value', value: first }
    : { kind: 'method', name: method.name, object, arrow: strip(object).type.kind === 'pointer', candidates: [method] };
  const call: CallExpr = { kind: 'call', span, type: UNKNOWN, callee, calleeSpan: first.span, arguments: callee.kind === 'method' ? others : given, templateArguments: null };
  return ctx.opaque(node, `a call of \`${name}\``, UNKNOWN, { parts: applies ? [...rest, call] : [call] });
}

/** `&T::go`: a method that needs an object. */
function methodGiven(value: Expr): FunctionDecl | null {
  const e = strip(value);
  const named = e.kind === 'unary' && e.op === '&' ? strip(e.operand) : e;
  return named.kind === 'ref' && named.decl?.kind === 'function' && named.decl.owner !== null && !named.decl.qualifiers.static ? named.decl : null;
}
