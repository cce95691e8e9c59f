/** Places: what an lvalue denotes, how it is read and written. */
import { strip, type CastExpr, type ConditionalExpr, type Expr, type VariableDecl } from '../../syntax/tree.js';
import { sameType as sameWrittenType, unqualified } from '../../syntax/types.js';
import { environmentOf, resolve } from '../resolve.js';
import { pointerTo, sameType, sizeOf, alignOf, Unsupported, type RecordType, type SimType } from '../types.js';
import { callExpression, coerced } from './calls.js';
import { initialise } from './construct.js';
import type { FunctionContext, Slot } from './context.js';
import { assigned, conditionalOf, expression, needsWarp, updated } from './expression.js';
import { accessName, convert, type Val } from './operators.js';

export type Place =
  | { readonly kind: 'register'; readonly slot: Extract<Slot, { kind: 'register' }>; readonly t: SimType }
  /** `own`: a thread's own automatic object, which no other thread sees; `temporary`: a home made for a value, which nothing else names. */
  | { readonly kind: 'memory'; readonly address: string; readonly t: SimType; readonly volatile: boolean; readonly own: boolean; readonly temporary?: true };

function isVolatile(t: SimType): boolean {
  return (t.k === 'scalar' || t.k === 'record') && t.volatile === true;
}

const memory = (address: string, t: SimType, own: boolean, outer = false): Place => {
  if (t.k === 'reference') return { kind: 'memory', address: `D.ldptr(${address},l,0)`, t: t.to, volatile: isVolatile(t.to), own: false };
  return { kind: 'memory', address, t, volatile: outer || isVolatile(t), own };
};

/** Moves to `t` seen at the same place. */
export function retype(ctx: FunctionContext, place: Place, t: SimType, expr: Expr): Place {
  if (place.kind === 'memory') return memory(place.address, t, place.own, place.volatile);
  return ctx.unsupported('reinterpretation of a variable', expr.span);
}

export function slotPlace(ctx: FunctionContext, slot: Slot, expr: Expr): Place {
  switch (slot.kind) {
    case 'register': return { kind: 'register', slot, t: slot.t };
    case 'frame': return memory(ctx.frameAddress(slot.offset), slot.t, true);
    case 'reference': return memory(`${slot.array}[l]`, slot.t, false);
    case 'fixed': return memory(slot.address, slot.t, false);
    case 'lambda': case 'function': return ctx.unsupported('a function as an object', expr.span);
  }
}

/** Whether the expression denotes an object rather than a value. */
export function isPlace(e: Expr): boolean {
  const x = strip(e);
  switch (x.kind) {
    case 'ref': return x.decl !== null && (x.decl.kind === 'variable' || x.decl.kind === 'parameter');
    case 'index': return true;
    case 'member': return true;
    case 'unary': return x.op === '*';
    case 'assign': return true;
    case 'update': return x.prefix;
    case 'binary': return x.op === ',' && isPlace(x.right);
    case 'conditional': {
      if (!isPlace(x.then) || !isPlace(x.else)) return false;
      const [a, b] = [unqualified(x.then.type), unqualified(x.else.type)];
      // Types that only the instance tells are compared there.
      return sameWrittenType(a, b) || [a, b].some((t) => t.kind === 'unknown' || t.kind === 'dependent');
    }
    case 'cast': return seesOperand(x) && isPlace(x.operand);
    case 'call': return callsReference(x);
    default: return false;
  }
}

/** Every function that the call may mean returns a reference. */
function callsReference(x: Extract<Expr, { kind: 'call' }>): boolean {
  const { callee } = x;
  return (callee.kind === 'function' || callee.kind === 'method') && callee.candidates.length > 0 && callee.candidates.every((c) => c.returns.kind === 'reference');
}

/** Is the cast the operand itself, seen as another type? A number converted to another type of number is a value of its own. */
export function seesOperand(x: CastExpr): boolean {
  if (x.reference === undefined) return false;
  if (x.style === 'reinterpret' || x.style === 'const') return true;
  const [to, from] = [unqualified(x.type), unqualified(x.operand.type)];
  if (sameWrittenType(to, from) || to.kind === 'record') return true;
  return x.style === 'c' && x.reference === 'lvalue' && x.type.const !== true;
}

/** The object that an assignment, `++`, `&` or a reference is about: never a home that was made for a value. */
export function targetOf(ctx: FunctionContext, expr: Expr): Place {
  const place = placeOf(ctx, expr);
  return place.kind === 'memory' && place.temporary === true ? ctx.unsupported('this form of an lvalue', expr.span) : place;
}

export function placeOf(ctx: FunctionContext, expr: Expr): Place {
  const e = strip(expr);
  switch (e.kind) {
    case 'ref': {
      const decl = e.decl;
      if (decl === null) return ctx.unsupported(`unknown name ${e.name}`, e.span);
      if (decl.kind !== 'variable' && decl.kind !== 'parameter') return ctx.unsupported(`${e.name} as an object`, e.span);
      const slot = ctx.slotOf(decl) ?? (decl.kind === 'variable' ? ctx.compiler.globalSlot(ctx, decl) : undefined);
      if (slot === undefined) return ctx.unsupported(`variable ${e.name} of the host`, e.span);
      return slotPlace(ctx, slot, e);
    }
    case 'unary': {
      if (e.op !== '*') return ctx.unsupported(`operator ${e.op} as an object`, e.span);
      const p = expression(ctx, e.operand);
      if (p.t.k === 'array') return memory(p.js, p.t.of, false);
      if (p.t.k !== 'pointer') return ctx.unsupported('dereference of a value that is no pointer', e.span);
      return memory(p.js, p.t.to, false);
    }
    case 'index': return indexPlace(ctx, e);
    case 'member': return memberPlace(ctx, e);
    case 'cast': {
      if (!isPlace(e)) break;
      return seenAs(ctx, placeOf(ctx, e.operand), resolve(e.type, ctx.env), e);
    }
    // `(x += 1)` is the object again.
    case 'assign': return assigned(ctx, e).place;
    case 'update': {
      if (!e.prefix) break;
      return updated(ctx, e).place;
    }
    case 'binary': {
      if (e.op !== ',') break;
      const left = expression(ctx, e.left);
      if (left.js !== '') ctx.lane(`${left.js};`);
      return placeOf(ctx, e.right);
    }
    case 'conditional': {
      if (!isPlace(e)) break;
      const place = conditionalPlace(ctx, e);
      if (place !== null) return place;
      break;
    }
    case 'this': {
      if (ctx.self !== null) return memory(`${ctx.self.array}[l]`, ctx.self.t, false);
      break;
    }
    case 'call': case 'construct': case 'init-list': {
      const value = e.kind === 'call' ? callExpression(ctx, e, true) : expression(ctx, e);
      if (value.t.k === 'record' || value.t.k === 'array') return memory(value.js, value.t, false);
      return value.t.k === 'reference' ? memory(value.js, value.t.to, false) : materialised(ctx, value);
    }
    default: break;
  }
  // A value: give it a home of its own.
  const value = expression(ctx, e);
  if (value.t.k === 'record' && e.kind === 'conditional') return copied(ctx, value);
  if (value.t.k === 'record' || value.t.k === 'array') return memory(value.js, value.t, false);
  return materialised(ctx, value);
}

/** One of two objects; null if one of them has no address. */
function conditionalPlace(ctx: FunctionContext, e: ConditionalExpr): Place | null {
  let own = true;
  let volatile = false;
  const arms: SimType[] = [];
  const address = (arm: Expr): Val => {
    const place = placeOf(ctx, arm);
    if (place.kind === 'register' || place.temporary === true) throw new NoAddress();
    arms.push(place.t);
    own &&= place.own;
    volatile ||= place.volatile;
    return { t: pointerTo(place.t), js: place.address };
  };
  return ctx.attempt(() => {
    const chosen = conditionalOf(ctx, e, address);
    const [first, second] = arms;
    if (first === undefined || second === undefined || !sameType(first, second)) throw new NoAddress();
    return memory(ctx.hold(chosen).js, first, own, volatile);
  }, NoAddress);
}

class NoAddress extends Error {}

/** An object of its own with the bytes of another: what `c ? a : T{}` is. */
function copied(ctx: FunctionContext, value: Val): Place {
  const address = ctx.frameAddress(ctx.frameSlot(value.t));
  ctx.lane(`D.copy(${address},${value.js},${sizeOf(value.t)},${alignOf(value.t)},l,0);`);
  return { kind: 'memory', address, t: value.t, volatile: false, own: true, temporary: true };
}

/** The place as a reference cast sees it. */
export function seenAs(ctx: FunctionContext, place: Place, t: SimType, expr: Expr): Place {
  if (place.kind === 'register' && sameType(place.t, t)) return place;
  if (t.k === 'record' && place.t.k === 'record' && expr.kind === 'cast' && expr.style !== 'reinterpret' && !beginsWith(place.t, t)) {
    return ctx.unsupported(`a ${place.t.layout.name} seen as a ${t.layout.name}`, expr.span);
  }
  return retype(ctx, place, t, expr);
}

/** Whether an object of the type begins with one of `base`: it is one, or its first base class does. */
export function beginsWith(derived: SimType, base: SimType): boolean {
  if (derived.k !== 'record' || base.k !== 'record') return false;
  if (sameType(derived, base)) return true;
  const [first] = derived.layout.decl.bases;
  return first?.kind === 'record' && beginsWith(resolve(first, environmentOf(derived.layout)), base);
}

/** The address that a reference to a `to` holds. `constant`: it may be bound to a value, or to another type's, which then get a home. */
export function boundAddress(ctx: FunctionContext, given: Expr, to: SimType, constant: boolean, name: string): string {
  const e = strip(given);
  if (e.kind === 'init-list' || (e.kind === 'construct' && to.k !== 'record')) return homeFor(ctx, given, to);
  if (!isPlace(e) && to.k !== 'record' && to.k !== 'array' && e.kind !== 'call') return constant ? homeFor(ctx, given, to) : ctx.unsupported(`reference ${name} to this form of an lvalue`, given.span);
  const place = placeOf(ctx, given);
  const fits = beginsWith(place.t, to) || (place.t.k === 'array' && to.k === 'array' && sameType(place.t.of, to.of)) || sameType(place.t, to);
  if (place.kind === 'memory' && fits && (constant || place.temporary !== true)) return place.address;
  if (!constant) return ctx.unsupported(place.kind === 'register' ? `reference ${name} bound to a register variable` : `reference ${name} to this form of an lvalue`, given.span);
  if (to.k === 'record' || to.k === 'array') return homeFor(ctx, given, to);
  const value = ctx.hold({ t: to, js: convert(coerced(ctx, load(ctx, place), to, given), to) });
  return homeOf(ctx, value);
}

function homeFor(ctx: FunctionContext, given: Expr, to: SimType): string {
  if (to.k === 'record' || to.k === 'array') {
    const address = ctx.frameAddress(ctx.frameSlot(to));
    initialise(ctx, address, to, given);
    return address;
  }
  const e = strip(given);
  const source = e.kind === 'init-list' ? e.elements[0] : e;
  return homeOf(ctx, { t: to, js: source === undefined ? '0' : convert(coerced(ctx, expression(ctx, source), to, source), to) });
}

function homeOf(ctx: FunctionContext, value: Val): string {
  const address = ctx.frameAddress(ctx.frameSlot(value.t));
  ctx.lane(`D.st${accessName(value.t)}(${address},${value.js},l,0);`);
  return address;
}

/** A temporary in the frame that holds a scalar value: what a reference to a value binds to. */
export function materialised(ctx: FunctionContext, value: Val): Place {
  return { kind: 'memory', address: homeOf(ctx, value), t: value.t, volatile: false, own: true, temporary: true };
}

function indexPlace(ctx: FunctionContext, e: Extract<Expr, { kind: 'index' }>): Place {
  let base = isArrayPlace(ctx, e.base) ? arrayBase(ctx, e.base) : null;
  if (base === null) {
    let v = expression(ctx, e.base);
    // `2[a]` is legal and never written.
    if (v.t.k !== 'pointer' && v.t.k !== 'array') return ctx.unsupported('subscript of a value that is no array', e.span);
    if (needsWarp(ctx, e.index)) v = ctx.spill(v);
    base = { address: v.js, t: v.t, own: false, volatile: false };
  } else if (needsWarp(ctx, e.index)) {
    base = { ...base, address: ctx.spill({ t: pointerTo(base.t), js: base.address }).js };
  }
  const of = base.t.k === 'array' ? base.t.of : base.t.k === 'pointer' ? base.t.to : base.t;
  const index = expression(ctx, e.index);
  const size = sizeOf(of);
  let i = offsetText(index);
  if (base.t.k === 'array' && base.t.length !== null && !/^\d+$/.test(i)) {
    i = `D.inside(${i},${base.t.length},l,${ctx.compiler.objectName(e.base)})`;
  } else if (base.t.k === 'array' && base.t.length !== null && Number(i) >= base.t.length) {
    i = `D.inside(${i},${base.t.length},l,${ctx.compiler.objectName(e.base)})`;
  }
  return memory(/^\d+$/.test(i) ? `(${base.address}+${Number(i) * size})` : `(${base.address}+${size === 1 ? i : `${i}*${size}`})`, of, base.own, base.volatile);
}

/** Text of an integer as a signed offset. */
export function offsetText(v: Val): string {
  if (v.t.k !== 'scalar') throw new Unsupported('an index that is no integer', null);
  if (v.t.s === 'i64' || v.t.s === 'u64') return /^\d+$/.test(v.js) ? v.js : `H.offset(${v.js})`;
  if (v.t.s === 'bool') return `(+(${v.js}))`;
  if (v.t.s === 'f32' || v.t.s === 'f64' || v.t.s === 'f16' || v.t.s === 'bf16') throw new Unsupported('an index that is no integer', null);
  return v.js;
}

function isArrayPlace(ctx: FunctionContext, e: Expr): boolean {
  const x = strip(e);
  if (x.kind === 'ref' && x.decl !== null && (x.decl.kind === 'variable' || x.decl.kind === 'parameter')) {
    const slot = ctx.slotOf(x.decl) ?? (x.decl.kind === 'variable' ? ctx.compiler.globalSlot(ctx, x.decl) : undefined);
    return slot !== undefined && slot.kind !== 'register' && slot.kind !== 'lambda' && slot.kind !== 'function' && slot.t.k === 'array';
  }
  return x.kind === 'index' || x.kind === 'member';
}

function arrayBase(ctx: FunctionContext, e: Expr): { address: string; t: SimType; own: boolean; volatile: boolean } | null {
  const place = placeOf(ctx, e);
  if (place.kind !== 'memory') return null;
  if (place.t.k === 'array') return { address: place.address, t: place.t, own: place.own, volatile: place.volatile };
  if (place.t.k === 'pointer') return { address: load(ctx, place).js, t: place.t, own: false, volatile: false };
  return ctx.unsupported('subscript of an object that is no array', e.span);
}

function memberPlace(ctx: FunctionContext, e: Extract<Expr, { kind: 'member' }>): Place {
  let address: string;
  let record: SimType;
  let own = false;
  let volatile = false;
  let temporary = false;
  const object = strip(e.object);
  if (object.kind === 'coordinate') {
    const value = expression(ctx, object);
    address = value.js;
    record = value.t;
  } else if (e.arrow) {
    if (object.kind === 'this') {
      if (ctx.self === null) return ctx.unsupported('this outside a method', e.span);
      address = `${ctx.self.array}[l]`;
      record = ctx.self.t;
    } else {
      const p = expression(ctx, e.object);
      if (p.t.k !== 'pointer' && p.t.k !== 'array') return ctx.unsupported('-> on a value that is no pointer', e.span);
      address = p.js;
      record = p.t.k === 'pointer' ? p.t.to : p.t.of;
    }
  } else {
    const place = placeOf(ctx, e.object);
    if (place.kind !== 'memory') return ctx.unsupported(`member ${e.name} of a value that is no struct`, e.span);
    address = place.address;
    record = place.t;
    own = place.own;
    volatile = place.volatile;
    temporary = place.temporary === true;
  }
  if (record.k !== 'record') return ctx.unsupported(`member ${e.name} of a value that is no struct`, e.span);
  const field = fieldNamed(record, e.name, e.field);
  if (field === null) {
    if (e.field !== null && e.field.storage === 'static') {
      const slot = ctx.compiler.globalSlot(ctx, e.field);
      if (slot !== undefined) return slotPlace(ctx, slot, e);
    }
    return ctx.unsupported(`member ${e.name} that the struct does not have`, e.span);
  }
  const part = memory(field.offset === 0 ? address : `(${address}+${field.offset})`, field.type, own, volatile);
  return temporary && part.kind === 'memory' && field.type.k !== 'reference' ? { ...part, temporary } : part;
}

export function fieldNamed(record: RecordType, name: string, decl: VariableDecl | null): { readonly offset: number; readonly type: SimType } | null {
  return record.layout.fields.find((f) => f.decl === decl && decl !== null) ?? record.layout.fields.find((f) => f.name === name) ?? null;
}

/** The value stored at a place. Objects stay addresses; arrays decay by themselves. */
export function load(_ctx: FunctionContext, place: Place): Val {
  if (place.kind === 'register') {
    const { slot } = place;
    const read = `${slot.array}[l]`;
    return { t: slot.t, js: slot.set === null ? read : `(${slot.set}>>>l&1?${read}:D.unset(${read},l,${JSON.stringify(slot.name)}))` };
  }
  if (place.t.k === 'record' || place.t.k === 'array') return { t: place.t, js: place.address };
  if (place.t.k === 'callable' || place.t.k === 'void' || place.t.k === 'group') throw new Unsupported('a value without representation', null);
  return { t: place.t, js: `D.ld${accessName(place.t)}(${place.address},l,${place.volatile ? 1 : 0})` };
}

/** Emits the store of `value`, already of the place's type or convertible to it; the stored value as seen afterwards. */
export function store(ctx: FunctionContext, place: Place, value: Val): Val {
  if (place.kind === 'register') {
    const { slot } = place;
    ctx.lane(`${slot.array}[l]=${convert(value, slot.t)};`);
    if (slot.set !== null) ctx.lane(`${slot.set}|=1<<l;`);
    return { t: slot.t, js: `${slot.array}[l]` };
  }
  if (place.t.k === 'record' || place.t.k === 'array') {
    if (value.t.k !== place.t.k) throw new Unsupported(`assignment of a ${value.t.k} to a ${place.t.k}`, null);
    ctx.lane(`D.copy(${place.address},${value.js},${sizeOf(place.t)},${alignOf(place.t)},l,${place.volatile ? 1 : 0});`);
    return { t: place.t, js: place.address };
  }
  const held = ctx.hold({ t: place.t, js: convert(value, place.t) });
  ctx.lane(`D.st${accessName(place.t)}(${place.address},${held.js},l,${place.volatile ? 1 : 0});`);
  return held;
}

export function addressOf(ctx: FunctionContext, expr: Expr): Val {
  const place = targetOf(ctx, expr);
  if (place.kind === 'register') return ctx.unsupported('address of a register variable', expr.span);
  return { t: pointerTo(place.t), js: place.address };
}
