/** Making objects: initialiser lists, constructors, zero-initialisation. */
import { UNKNOWN } from '../../syntax/types.js';
import { strip, type Expr, type FunctionDecl, type MemberInitialiser, type VariableDecl } from '../../syntax/tree.js';
import { environmentOf, resolve } from '../resolve.js';
import { alignOf, pointerTo, sameType, sizeOf, Unsupported, type RecordType, type SimType } from '../types.js';
import { callMethodOn, coerced } from './calls.js';
import type { FunctionContext } from './context.js';
import { expression, needsWarp, operands } from './expression.js';
import { copyConstructorOf } from './lifetime.js';
import { accessName, convert, type Val } from './operators.js';
import { boundAddress } from './places.js';

/** The constructors that the program writes; those it leaves to the compiler (`= default`) do what a record without any does. */
export function constructors(type: RecordType): RecordType['layout']['decl']['methods'] {
  return type.layout.decl.methods.filter((m) => m.name === type.layout.decl.name && m.defaulted !== true);
}

export function isConstructor(decl: FunctionDecl): boolean {
  return decl.owner !== null && decl.name === decl.owner.name;
}

/** Whether `T x;` may be written although the record has constructors: one without arguments is defaulted. */
function hasDefaulted(type: RecordType): boolean {
  return type.layout.decl.methods.some((m) => m.name === type.layout.decl.name && m.defaulted === true && m.parameters.length === 0);
}

export function constructExpression(ctx: FunctionContext, e: Extract<Expr, { kind: 'construct' }>): Val {
  const t = resolve(e.type, ctx.env);
  if (t.k === 'scalar' || t.k === 'pointer') {
    const [only] = e.arguments;
    return { t, js: only === undefined ? '0' : convert(expression(ctx, only), t) };
  }
  if (t.k === 'void') return { t, js: '' };
  if (t.k !== 'record') return ctx.unsupported(`construction of a ${t.k}`, e.span);
  const address = ctx.frameAddress(ctx.frameSlot(t));
  constructAt(ctx, address, t, e.arguments, e);
  return { t, js: address };
}

/** Makes a record at `address` from arguments in parentheses or braces. */
export function constructAt(ctx: FunctionContext, address: string, t: RecordType, args: readonly Expr[], at: Expr): void {
  const [only] = args;
  if (only !== undefined && args.length === 1 && strip(only).kind !== 'init-list') {
    // Copy construction.
    const value = constructors(t).length === 0 || needsWarp(ctx, only) || isRecordValue(ctx, only) ? expression(ctx, only) : null;
    if (value !== null && value.t.k === 'record' && sameType(value.t, t)) {
      if (copyConstructorOf(t) !== null) return ctx.unsupported(`the copy constructor of ${t.layout.name}`, at.span);
      ctx.lane(`D.copy(${address},${value.js},${sizeOf(t)},${alignOf(t)},l,0);`);
      return;
    }
  }
  const candidates = constructors(t);
  if (candidates.length > 0) {
    if (args.length === 0 && !candidates.some((c) => c.parameters.every((p) => p.default !== null))) {
      if (hasDefaulted(t)) ctx.lane(`D.fill(${address},0,${sizeOf(t)},l);`);
      defaultMembers(ctx, address, t);
      return;
    }
    callMethodOn(ctx, address, t, candidates, args, null, at);
    return;
  }
  ctx.lane(`D.fill(${address},0,${sizeOf(t)},l);`);
  if (t.layout.decl.name === 'dim3') for (let i = args.length; i < 3; i++) ctx.lane(`D.stu32(${address}+${i * 4},1,l,0);`);
  fillRecord(ctx, address, t, { list: args, next: 0 }, at);
}

function isRecordValue(ctx: FunctionContext, e: Expr): boolean {
  const x = strip(e);
  if (x.kind === 'ref' && x.decl !== null && (x.decl.kind === 'variable' || x.decl.kind === 'parameter')) {
    const slot = ctx.slotOf(x.decl);
    return slot !== undefined && slot.kind !== 'lambda' && slot.kind !== 'function' && slot.t.k === 'record';
  }
  return x.type.kind === 'record';
}

/** A base or a member of a record, where it lies in it. `decl` is null for a base. */
interface Part { readonly type: SimType; readonly offset: number; readonly decl: VariableDecl | null }

/** The bases of a record, then its own members: what an aggregate is made of. */
function parts(t: RecordType): readonly Part[] {
  const { fields, decl } = t.layout;
  const found: Part[] = [];
  let count = 0;
  for (const base of decl.bases) {
    const type = resolve(base, environmentOf(t.layout));
    if (type.k !== 'record') throw new Unsupported(`base of struct ${decl.name}`, decl.nameSpan, decl.file);
    const [first] = type.layout.fields;
    found.push({ type, offset: first === undefined ? 0 : (fields[count]?.offset ?? 0) - first.offset, decl: null });
    count += type.layout.fields.length;
  }
  for (const field of fields.slice(count)) found.push(field);
  return found;
}

const within = (address: string, offset: number): string => (offset === 0 ? address : `(${address}+${offset})`);

function nowhere(t: RecordType, part: Part): Expr {
  return { kind: 'opaque', reason: 'member', span: part.decl?.span ?? t.layout.decl.nameSpan, type: part.decl?.type ?? UNKNOWN };
}

/** Default member initialisers, and constructors without arguments of bases and members: what `T x;` does. */
export function defaultMembers(ctx: FunctionContext, address: string, t: RecordType): void {
  for (const part of parts(t)) {
    if (part.decl?.init != null) ownInitialiser(ctx, address, t, part, part.decl.init);
    else defaultPart(ctx, within(address, part.offset), part.type, nowhere(t, part));
  }
}

/** `int c = a + b;` in a class: names of members are those of the object that is being made. */
function ownInitialiser(ctx: FunctionContext, address: string, t: RecordType, part: Part, init: Expr): void {
  const outer = { env: ctx.env, self: ctx.self, constantObject: ctx.constantObject };
  ctx.env = environmentOf(t.layout);
  if (strip(init).kind !== 'literal') {
    const self = ctx.array(pointerTo(t));
    ctx.lane(`${self}[l]=${address};`);
    ctx.self = { array: self, t };
    ctx.constantObject = false;
  }
  try {
    initialise(ctx, within(address, part.offset), part.type, init);
  } finally {
    Object.assign(ctx, outer);
  }
}

/** What an object without an initialiser gets: its class's constructor, the initialisers in it, or nothing. */
export function defaultPart(ctx: FunctionContext, address: string, type: SimType, at: Expr): void {
  if (type.k === 'array') eachElement(ctx, type, 0, at, (i) => defaultPart(ctx, within(address, i * sizeOf(type.of)), type.of, at));
  if (type.k !== 'record') return;
  if (constructors(type).some((c) => c.parameters.every((p) => p.default !== null))) constructAt(ctx, address, type, [], at);
  else defaultMembers(ctx, address, type);
}

/** What an object gets from `{}`, behind what is zero already. */
function emptied(ctx: FunctionContext, address: string, type: SimType, at: Expr): void {
  if (type.k === 'array') eachElement(ctx, type, 0, at, (i) => emptied(ctx, within(address, i * sizeOf(type.of)), type.of, at));
  if (type.k === 'record' && isMade(type)) constructAt(ctx, address, type, [], at);
}

/** Elements that are made one by one, each with text of its own. */
const MOST_MADE = 256;

function eachElement(ctx: FunctionContext, type: Extract<SimType, { k: 'array' }>, from: number, at: Expr, make: (i: number) => void): void {
  if (!isMade(type.of)) return;
  const length = type.length ?? 0;
  if (length - from > MOST_MADE) return ctx.unsupported(`an array of ${length} objects that have initialisers of their own`, at.span);
  for (let i = from; i < length; i++) make(i);
}

/** Is there more to an object without an initialiser than zeros? */
function isMade(type: SimType): boolean {
  if (type.k === 'array') return isMade(type.of);
  return type.k === 'record' && (constructors(type).length > 0 || parts(type).some((part) => part.decl?.init != null || isMade(part.type)));
}

/** What a constructor does before its body: the members in the order of their declaration, each from its initialiser, else from its default. */
export function memberInitialisers(ctx: FunctionContext, decl: FunctionDecl, t: RecordType, self: string): void {
  const given = decl.initialisers ?? [];
  const at = (i: MemberInitialiser): Expr => ({ kind: 'opaque', reason: 'member initialiser', span: i.span, type: { kind: 'unknown', text: '' } });
  const delegated = given.find((i) => i.name === decl.name);
  if (delegated !== undefined) { constructAt(ctx, `${self}[l]`, t, delegated.arguments, at(delegated)); return; }
  const rest = new Set(given);
  for (const part of parts(t)) {
    const address = within(`${self}[l]`, part.offset);
    const name = part.decl === null ? part.type.k === 'record' ? part.type.layout.decl.name : '' : part.decl.name;
    const initialiser = given.find((i) => i.name === name);
    if (initialiser === undefined) {
      if (part.decl?.init != null) ownInitialiser(ctx, `${self}[l]`, t, part, part.decl.init);
      else defaultPart(ctx, address, part.type, nowhere(t, part));
      continue;
    }
    rest.delete(initialiser);
    initialiseMember(ctx, address, part.type, initialiser, at(initialiser));
  }
  const [unknown] = rest;
  if (unknown !== undefined) ctx.unsupported(`initialiser of ${unknown.name}, which is no member`, unknown.span);
}

function initialiseMember(ctx: FunctionContext, address: string, type: SimType, i: MemberInitialiser, at: Expr): void {
  const [only] = i.arguments;
  switch (type.k) {
    case 'record': constructAt(ctx, address, type, i.arguments, at); return;
    case 'array': initialise(ctx, address, type, { kind: 'init-list', elements: i.arguments, span: i.span, type: { kind: 'unknown', text: '' } }); return;
    case 'reference': {
      if (only === undefined) return ctx.unsupported(`reference member ${i.name}`, i.span);
      ctx.lane(`D.stptr(${address},${boundAddress(ctx, only, type.to, false, i.name)},l,0);`);
      return;
    }
    case 'scalar': case 'pointer':
      if (only === undefined) ctx.lane(`D.st${accessName(type)}(${address},0,l,0);`);
      else initialise(ctx, address, type, only);
      return;
    case 'void': case 'callable': case 'group': return ctx.unsupported(`initialiser of member ${i.name}`, i.span);
  }
}

interface Cursor { readonly list: readonly Expr[]; next: number }

/** Initialises what lies at `address` from an initialiser; what a list leaves out is zero. */
export function initialise(ctx: FunctionContext, address: string, type: SimType, init: Expr): void {
  const e = strip(init);
  switch (type.k) {
    case 'scalar': case 'pointer': {
      const source = e.kind === 'init-list' ? e.elements[0] : e;
      const value = source === undefined ? '0' : convert(coerced(ctx, expression(ctx, source), type, source), type);
      ctx.lane(`D.st${accessName(type)}(${address},${value},l,0);`);
      return;
    }
    case 'record': {
      if (e.kind === 'init-list') {
        constructAt(ctx, address, type, e.elements, e);
        return;
      }
      if (e.kind === 'construct' && e.type.kind === 'record') {
        const made = resolve(e.type, ctx.env);
        if (made.k === 'record' && sameType(made, type)) {
          constructAt(ctx, address, type, e.arguments, e);
          return;
        }
      }
      const value = expression(ctx, e);
      if (value.t.k === 'record' && sameType(value.t, type)) {
        if (copyConstructorOf(type) !== null) return ctx.unsupported(`the copy constructor of ${type.layout.name}`, e.span);
        ctx.lane(`D.copy(${address},${value.js},${sizeOf(type)},${alignOf(type)},l,0);`);
        return;
      }
      const converting = constructors(type);
      if (converting.length > 0) {
        callMethodOn(ctx, address, type, converting, [e], null, e);
        return;
      }
      return ctx.unsupported(`initialisation of struct ${type.layout.name}`, e.span);
    }
    case 'array': {
      ctx.lane(`D.fill(${address},0,${sizeOf(type)},l);`);
      if (e.kind === 'init-list') {
        fillArray(ctx, address, type, { list: e.elements, next: 0 }, e);
        return;
      }
      if (e.kind === 'literal' && typeof e.value === 'string') {
        if (sizeOf(type.of) !== 1) return ctx.unsupported('a wide string', e.span);
        for (const [i, c] of [...e.value].entries()) ctx.lane(`D.sti8(${address}+${i},${c.charCodeAt(0)},l,0);`);
        return;
      }
      return ctx.unsupported('initialisation of an array', e.span);
    }
    case 'reference': case 'void': case 'callable': case 'group': throw new Unsupported(`initialisation of a ${type.k}`, e.span);
  }
}

/** Takes the next elements for `type`, with the braces that C++ lets one leave out. */
function fill(ctx: FunctionContext, address: string, type: SimType, cursor: Cursor, at: Expr): void {
  const next = cursor.list[cursor.next];
  if (next === undefined) return;
  const braced = strip(next).kind === 'init-list' || (strip(next).kind === 'literal' && type.k === 'array' && typeof literalValue(next) === 'string');
  if ((type.k === 'array' || (type.k === 'record' && constructors(type).length === 0)) && !braced && !isObject(ctx, next, type)) {
    if (type.k === 'array') fillArray(ctx, address, type, cursor, at);
    else fillRecord(ctx, address, type, cursor, at);
    return;
  }
  cursor.next++;
  initialise(ctx, address, type, next);
}

function literalValue(e: Expr): unknown {
  const x = strip(e);
  return x.kind === 'literal' ? x.value : undefined;
}

function isObject(ctx: FunctionContext, e: Expr, type: SimType): boolean {
  if (type.k !== 'record') return false;
  const x = strip(e);
  return x.type.kind === 'record' || isRecordValue(ctx, x) || x.kind === 'construct';
}

function fillArray(ctx: FunctionContext, address: string, type: Extract<SimType, { k: 'array' }>, cursor: Cursor, at: Expr): void {
  const step = sizeOf(type.of);
  let i = 0;
  for (; i < (type.length ?? 0) && cursor.next < cursor.list.length; i++) fill(ctx, `(${address}+${i * step})`, type.of, cursor, at);
  eachElement(ctx, type, i, at, (rest) => emptied(ctx, `(${address}+${rest * step})`, type.of, at));
}

/** Members that the list does not reach get their default initialisers, else what `{}` makes of them. */
function fillRecord(ctx: FunctionContext, address: string, type: RecordType, cursor: Cursor, at: Expr): void {
  const all = parts(type);
  const isUnion = type.layout.decl.sort === 'union';
  for (const part of isUnion ? all.slice(0, 1) : all) {
    const here = within(address, part.offset);
    if (cursor.next < cursor.list.length) fill(ctx, here, part.type, cursor, at);
    else if (isUnion) defaultMembers(ctx, address, type);
    else if (part.decl?.init != null) ownInitialiser(ctx, address, type, part, part.decl.init);
    else emptied(ctx, here, part.type, at);
  }
}

/** Arguments of a vector constructor, converted to its element type. */
export function vectorOf(ctx: FunctionContext, t: RecordType, args: readonly Expr[]): Val {
  const values = operands(ctx, args).map((v) => v);
  const address = ctx.frameAddress(ctx.frameSlot(t));
  const fields = t.layout.fields;
  const converted = values.map((v, i) => {
    const field = fields[i];
    if (field === undefined) throw new Unsupported('too many vector components', null);
    return ctx.hold({ t: field.type, js: convert(v, field.type) });
  });
  converted.forEach((v, i) => {
    const field = fields[i];
    if (field !== undefined) ctx.lane(`D.st${accessName(field.type)}((${address}+${field.offset}),${v.js},l,0);`);
  });
  return { t, js: address };
}

export type { VariableDecl };
