/** Declarations of local variables: register, frame object, reference or lambda. */
import { strip, type Expr, type Stmt, type VariableDecl } from '../../syntax/tree.js';
import { resolve } from '../resolve.js';
import { pointerTo, sizeOf, Unsupported, type SimType } from '../types.js';
import { defaultPart, initialise } from './construct.js';
import { coerced } from './calls.js';
import type { FunctionContext } from './context.js';
import { expression, staticType } from './expression.js';
import { lambdaSlot } from './lambdas.js';
import { convert } from './operators.js';
import { boundAddress, isPlace, load, store, type Place } from './places.js';
import { count, switchPoint } from './statements.js';

function declaredType(ctx: FunctionContext, v: VariableDecl): SimType {
  // `int a[] = {1, 2}`: as long as its initialiser.
  if (v.type.kind === 'array' && v.type.length === null && v.init !== null) {
    const of = resolve(v.type.of, ctx.env);
    const e = strip(v.init);
    if (e.kind === 'init-list') return { k: 'array', of, length: e.elements.length };
    if (e.kind === 'literal' && typeof e.value === 'string') return { k: 'array', of, length: e.value.length + 1 };
  }
  if (v.init !== null && (v.type.kind === 'unknown' || v.type.kind === 'dependent')) {
    try {
      return resolve(v.type, ctx.env);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      // `auto` has no text of its own; the size of a tile may be a macro that only its initialiser shows.
      if (v.type.kind === 'unknown' && v.type.text !== '' && !/\b(auto|decltype|thread_block\w*|thread_group)\b/.test(v.type.text)) throw error;
      // `typename Traits<T>::type` is a type of its own, whatever it is initialised with.
      if (v.type.kind === 'dependent' && v.type.decl === null && v.type.text !== '') throw error;
      const t = staticType(ctx, v.init);
      return t.k === 'array' ? { k: 'pointer', to: t.of } : t;
    }
  }
  return resolve(v.type, ctx.env);
}

export function declare(ctx: FunctionContext, v: VariableDecl, at: Stmt): void {
  if (v.opaqueInit) return ctx.unsupported(`the initialiser of ${v.name}`, v.span);
  if (v.space === 'shared' || v.storage === 'static' || v.storage === 'extern' || v.space === 'constant') {
    const slot = ctx.compiler.globalSlot(ctx, v);
    if (slot === undefined) return ctx.unsupported(`variable ${v.name}`, v.span);
    ctx.slots.set(v, slot);
    return;
  }
  const init = v.init === null ? null : strip(v.init);
  if (init?.kind === 'lambda') {
    ctx.slots.set(v, lambdaSlot(ctx, init));
    ctx.flush();
    return;
  }
  if (v.init !== null) count(ctx, at, [v.init]);
  else ctx.site = ctx.compiler.site(ctx, v.span);
  if (v.init !== null) switchPoint(ctx, v.init);
  const t = declaredType(ctx, v);
  if (t.k === 'reference') return declareReference(ctx, v, t.to);
  // A group is known statically: a reference to one is the group itself.
  if (t.k === 'record' || t.k === 'array' || (t.k !== 'group' && ctx.addressed.has(v))) return declareObject(ctx, v, t, init);
  if (t.k === 'void' || t.k === 'callable') return ctx.unsupported(`variable ${v.name} of such a type`, v.span);
  const array = ctx.array(t);
  let set: string | null = null;
  if (v.init === null) {
    // The lanes that have a value are tracked: reading without one is a fault.
    set = ctx.fresh('s');
    ctx.prologue.push(`let ${set}=0;`);
    ctx.emit(`${set}&=~${ctx.mask};`);
  }
  const slot = { kind: 'register', array, t, set, name: v.name } as const;
  if (init !== null) {
    const list = init.kind === 'init-list' ? init.elements[0] ?? null : init;
    const value = list === null ? '0' : convert(coerced(ctx, expression(ctx, list), t, list), t);
    ctx.lane(`${array}[l]=${value};`);
    ctx.flush();
  }
  ctx.slots.set(v, slot);
}

function declareReference(ctx: FunctionContext, v: VariableDecl, to: SimType): void {
  if (v.init === null) return ctx.unsupported(`reference ${v.name} without an initialiser`, v.span);
  const array = ctx.array({ k: 'pointer', to });
  const written = v.type.kind === 'reference' ? v.type : null;
  // `auto` may be const.
  const constant = written === null || written.to.const === true || (written.rvalue === true && !isPlace(v.init)) || strip(v.init).type.const === true;
  const address = boundAddress(ctx, v.init, to, constant, v.name);
  ctx.lane(`${array}[l]=${address};`);
  ctx.flush();
  ctx.slots.set(v, { kind: 'reference', array, t: to, name: v.name });
}

function declareObject(ctx: FunctionContext, v: VariableDecl, t: SimType, init: Expr | null): void {
  const offset = ctx.frameSlot(t);
  const address = ctx.frameAddress(offset);
  const slot = { kind: 'frame', offset, t, name: v.name } as const;
  if (init === null) {
    ctx.lane(`D.forget(${address},${sizeOf(t)});`);
    defaultPart(ctx, address, t, noWhere(v));
  } else initialise(ctx, address, t, v.initStyle === 'paren' && t.k === 'record' && init.kind !== 'construct' && init.kind !== 'init-list' ? init : v.init ?? init);
  ctx.flush();
  ctx.slots.set(v, slot);
}

function noWhere(v: VariableDecl): Expr {
  return { kind: 'opaque', reason: 'declaration', span: v.span, type: v.type };
}

/** The variable of a range-based for, bound to or copied from the element of this turn. */
export function declareElement(ctx: FunctionContext, v: VariableDecl, element: Extract<Place, { kind: 'memory' }>): void {
  ctx.site = ctx.compiler.site(ctx, v.span);
  if (v.type.kind === 'reference') {
    const array = ctx.array(pointerTo(element.t));
    ctx.lane(`${array}[l]=${element.address};`);
    ctx.flush();
    ctx.slots.set(v, { kind: 'reference', array, t: element.t, name: v.name });
    return;
  }
  const t = elementType(ctx, v, element.t);
  const value = load(ctx, element);
  if (t.k === 'record' || t.k === 'array' || ctx.addressed.has(v)) {
    const offset = ctx.frameSlot(t);
    store(ctx, { kind: 'memory', address: ctx.frameAddress(offset), t, volatile: false, own: true }, value);
    ctx.flush();
    ctx.slots.set(v, { kind: 'frame', offset, t, name: v.name });
    return;
  }
  const array = ctx.array(t);
  ctx.lane(`${array}[l]=${convert(value, t)};`);
  ctx.flush();
  ctx.slots.set(v, { kind: 'register', array, t, set: null, name: v.name });
}

function elementType(ctx: FunctionContext, v: VariableDecl, of: SimType): SimType {
  try {
    return resolve(v.type, ctx.env);
  } catch (error) {
    // `auto` whose element type only the instance tells.
    if (error instanceof Unsupported && v.type.kind === 'unknown' && v.type.text === '') return of;
    throw error;
  }
}
