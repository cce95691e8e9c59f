/** Expressions of one lane: text for values, lane statements for effects. Sequencing follows C++17 where it is defined. */
import { builtin } from '../../cuda/builtins.js';
import { strip, unreachable, type AssignExpr, type BinaryOperator, type Expr, type Type } from '../../syntax/tree.js';
import { vectorRecord } from '../../syntax/vector-types.js';
import { evaluate, scopeEnvironment, type ConstantValue } from '../constants.js';
import { environmentOf, layoutOf, resolve, type Env } from '../resolve.js';
import { alignOf, BOOL, F32, F64, I32, I64, I8, isFloating, pointerTo, sameType, sizeOf, U32, U64, Unsupported, VOID, type Scalar, type ScalarType, type SimType } from '../types.js';
import { walkExpr } from '../walk.js';
import { callExpression, coerced } from './calls.js';
import { constructExpression, initialise } from './construct.js';
import type { FunctionContext } from './context.js';
import { wellKnownConstant } from './well-known.js';
import { binaryScalar, commonScalar, complement, convert, convertScalar, literalText, negate, promoted, shift, truth, type Val } from './operators.js';
import { copyConstructorOf } from './lifetime.js';
import { addressOf, isPlace, load, offsetText, placeOf, seesOperand, slotPlace, store, targetOf, type Place } from './places.js';

const warpCache = new WeakMap<Expr, boolean>();

/** Whether evaluation ends the lane loop: it holds a call that lanes make together. */
export function needsWarp(_ctx: FunctionContext, e: Expr): boolean {
  let known = warpCache.get(e);
  if (known === undefined) {
    known = false;
    walkExpr(e, {
      expr(x) {
        if (x.kind === 'call') {
          if (x.callee.kind !== 'builtin') known = true;
          else {
            const b = builtin(x.callee.name);
            if (b !== undefined && b.collective !== null) known = true;
          }
        } else if (x.kind === 'construct' && x.type.kind === 'record' && x.type.decl.methods.some((m) => m.name === (x.type.kind === 'record' ? x.type.decl.name : ''))) known = true;
      },
    });
    warpCache.set(e, known);
  }
  return known;
}

const memoryCache = new WeakMap<Expr, boolean>();

/** Whether it may read memory that other lanes write: then loads of all lanes come before stores of any. */
export function readsMemory(ctx: FunctionContext, e: Expr): boolean {
  let known = memoryCache.get(e);
  if (known === undefined) {
    known = false;
    walkExpr(e, {
      expr(x) {
        if (x.kind === 'index' || (x.kind === 'unary' && x.op === '*') || (x.kind === 'member' && x.arrow) || x.kind === 'call') known = true;
        else if (x.kind === 'ref' && x.decl !== null && (x.decl.kind === 'variable' || x.decl.kind === 'parameter')) {
          if (x.decl.kind === 'variable' && (x.decl.space !== 'local' || x.decl.storage === 'static' || x.decl.storage === 'namespace')) known = true;
          if (x.decl.type.kind === 'reference') known = true;
        }
      },
    });
    memoryCache.set(e, known);
  }
  void ctx;
  return known;
}

/** Values of several operands; those evaluated before a warp-wide call are kept where it does not lose them. */
export function operands(ctx: FunctionContext, list: readonly Expr[], as: (e: Expr, index: number) => Val = (e) => expression(ctx, e)): Val[] {
  let last = -1;
  list.forEach((e, i) => { if (needsWarp(ctx, e)) last = i; });
  return list.map((e, i) => {
    const value = as(e, i);
    return i < last ? ctx.spill(value) : value;
  });
}

/** Reads through references and lets arrays decay where a value is wanted. */
export function expression(ctx: FunctionContext, expr: Expr): Val {
  const e = strip(expr);
  switch (e.kind) {
    case 'literal': return literal(ctx, e.value, e.type);
    case 'ref': return reference(ctx, e);
    case 'coordinate': return coordinate(ctx, e);
    case 'this': {
      if (ctx.self === null) return ctx.unsupported('this outside a method', e.span);
      return { t: pointerTo(ctx.self.t), js: `${ctx.self.array}[l]` };
    }
    case 'unary': return unary(ctx, e);
    case 'update': return updated(ctx, e).value;
    case 'binary': return binary(ctx, e);
    case 'assign': return assigned(ctx, e).value;
    case 'conditional': return conditionalOf(ctx, e, (arm) => expression(ctx, arm));
    case 'call': {
      const value = callExpression(ctx, e, false);
      return value.t.k === 'reference' ? load(ctx, { kind: 'memory', address: value.js, t: value.t.to, volatile: false, own: false }) : value;
    }
    case 'member': return staticMember(ctx, e) ?? load(ctx, placeOf(ctx, e));
    case 'index': return load(ctx, placeOf(ctx, e));
    case 'cast': return cast(ctx, e);
    case 'construct': return constructExpression(ctx, e);
    case 'init-list': {
      const type = resolve(e.type, ctx.env);
      if (type.k === 'scalar' || type.k === 'pointer') {
        const [only] = e.elements;
        return only === undefined ? { t: type, js: '0' } : { t: type, js: convert(expression(ctx, only), type) };
      }
      const address = ctx.frameAddress(ctx.frameSlot(type));
      initialise(ctx, address, type, e);
      return { t: type, js: address };
    }
    case 'sizeof': {
      const operand = e.operand === null ? null : strip(e.operand);
      if (operand?.kind === 'literal' && typeof operand.value === 'string' && !e.alignof) return isBytes(operand.type) ? { t: U64, js: `${operand.value.length + 1}` } : ctx.unsupported('a wide string', e.span);
      const type = e.of !== null ? resolve(e.of, ctx.env) : e.operand !== null ? staticType(ctx, e.operand) : null;
      if (type === null) return ctx.unsupported('sizeof', e.span);
      return { t: U64, js: `${e.alignof ? alignOf(type) : sizeOf(type)}` };
    }
    case 'lambda': return ctx.unsupported('a lambda used as a value', e.span);
    case 'opaque': return ctx.unsupported(e.reason, e.span);
    case 'paren': case 'macro': throw new Error('internal: strip left a wrapper');
    default: return unreachable(e);
  }
}

/** `x.size` of a constant that belongs to the class: its value with the template arguments of `x`; null for anything else. */
function staticMember(ctx: FunctionContext, e: Extract<Expr, { kind: 'member' }>): Val | null {
  const { field } = e;
  if (field === null || field.storage !== 'static' || field.init === null || !(field.constexpr || field.type.const === true)) return null;
  const object = strip(e.object).kind === 'this' && ctx.self !== null ? ctx.self.t : staticType(ctx, e.object);
  const record = object.k === 'pointer' || object.k === 'reference' ? object.to : object;
  if (record.k !== 'record') return null;
  const env = environmentOf(record.layout);
  const value = evaluate(field.init, env);
  if (value === null) return null;
  const t = resolve(field.type, env);
  return t.k === 'scalar' ? constant(value.value, t) : null;
}

function literal(ctx: FunctionContext, value: bigint | number | boolean | string | null, type: Type): Val {
  if (value === null) return { t: pointerTo(VOID), js: '0' };
  if (typeof value === 'boolean') return { t: BOOL, js: value ? '1' : '0' };
  if (typeof value === 'string') {
    if (!isBytes(type)) throw new Unsupported('a wide string', null);
    return { t: pointerTo(I8), js: ctx.compiler.stringAddress(value) };
  }
  const t = resolve(type, ctx.env);
  if (t.k !== 'scalar') throw new Unsupported('literal of an unknown type', null);
  return { t, js: literalText(value, t) };
}

/** Is the literal an array of bytes, or of wider units? */
function isBytes(type: Type): boolean {
  return type.kind !== 'pointer' || type.to.kind !== 'int' || type.to.bits === 8;
}

/** The type an unevaluated expression has. */
export function staticType(ctx: FunctionContext, e: Expr): SimType {
  const x = strip(e);
  if (x.kind === 'ref' && x.decl !== null && (x.decl.kind === 'variable' || x.decl.kind === 'parameter')) {
    const slot = ctx.slotOf(x.decl) ?? (x.decl.kind === 'variable' ? ctx.compiler.globalSlot(ctx, x.decl) : undefined);
    if (slot !== undefined && slot.kind !== 'lambda' && slot.kind !== 'function') return slot.t;
  }
  if (x.kind === 'ref' && x.decl?.kind === 'template-parameter') {
    const named = ctx.env.types.get(x.decl.name);
    if (named !== undefined) return named;
  }
  // A call that shares its name with a built-in may mean that one; only its compilation tells.
  const shared = x.kind === 'call' && x.callee.kind === 'function' && builtin(x.callee.name) !== undefined;
  if (!shared) {
    try {
      return resolve(x.type, ctx.env);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
    }
  }
  return ctx.scratch(() => expression(ctx, x)).t;
}

function reference(ctx: FunctionContext, e: Extract<Expr, { kind: 'ref' }>): Val {
  const decl = e.decl;
  if (decl === null) {
    const known = wellKnownConstant(e.name);
    if (known !== null) return known;
    return ctx.unsupported(`unknown name ${e.name}`, e.span);
  }
  switch (decl.kind) {
    case 'variable': case 'parameter': {
      const slot = ctx.slotOf(decl);
      if (slot !== undefined) return load(ctx, slotPlace(ctx, slot, e));
      if (decl.kind === 'variable') {
        const folded = evaluate(e, ctx.env);
        // The type of a class template's constant is that of the instance which the value came from.
        if (folded !== null) return constant(folded.value, resolveOr(e.scope === undefined ? ctx.env : scopeEnvironment(e.scope, decl, ctx.env), decl.type, foldedType(folded)));
        const global = ctx.compiler.globalSlot(ctx, decl);
        if (global !== undefined) return load(ctx, slotPlace(ctx, global, e));
      }
      return ctx.unsupported(`variable ${e.name} of the host`, e.span);
    }
    case 'enumerator': case 'template-parameter': {
      const value = evaluate(e, ctx.env);
      if (value === null) return ctx.unsupported(`the value of ${e.name}`, e.span);
      return constant(value.value, foldedType(value));
    }
    case 'function': return ctx.unsupported(`address of the function ${e.name}`, e.span);
    case 'record': case 'enum': case 'typedef': return ctx.unsupported(`the type ${e.name} as a value`, e.span);
    default: return unreachable(decl);
  }
}

function foldedType(value: ConstantValue): ScalarType {
  return value.kind === 'integer' ? { k: 'scalar', s: `${value.type.signed ? 'i' : 'u'}${value.type.bits}` } : value.format === 'float' ? F32 : F64;
}

function resolveOr(env: Env, type: Type, otherwise: ScalarType): ScalarType {
  try {
    const t = resolve(type, env);
    return t.k === 'scalar' ? t : t.k === 'reference' && t.to.k === 'scalar' ? t.to : otherwise;
  } catch (error) {
    if (error instanceof Unsupported) return otherwise;
    throw error;
  }
}

function constant(value: bigint | number, t: ScalarType): Val {
  if (typeof value === 'bigint') return { t, js: isFloating(t.s) ? `${Number(value)}` : literalText(value, t) };
  return { t, js: isFloating(t.s) ? literalText(value, t) : convertScalar(literalText(value, F64), 'f64', t.s) };
}

function coordinate(ctx: FunctionContext, e: Extract<Expr, { kind: 'coordinate' }>): Val {
  if (e.base === 'warpSize') return { t: I32, js: '32' };
  const axis = (a: string): string => (e.base === 'threadIdx' ? `W.t${a}[l]` : e.base === 'blockIdx' ? `W.b${a}` : e.base === 'blockDim' ? `D.block${a}` : `D.grid${a}`);
  if (e.axis !== null) return { t: U32, js: axis(e.axis) };
  const decl = vectorRecord(e.base === 'threadIdx' || e.base === 'blockIdx' ? 'uint3' : 'dim3');
  if (decl === null) return ctx.unsupported(e.base, e.span);
  const t: SimType = { k: 'record', layout: layoutOf(decl, null, ctx.env) };
  const address = ctx.frameAddress(ctx.frameSlot(t));
  for (const [i, a] of ['x', 'y', 'z'].entries()) ctx.lane(`D.stu32(${address}+${i * 4},${axis(a)},l,0);`);
  return { t, js: address };
}

function unary(ctx: FunctionContext, e: Extract<Expr, { kind: 'unary' }>): Val {
  switch (e.op) {
    case '*': return load(ctx, placeOf(ctx, e));
    case '&': {
      const inner = strip(e.operand);
      if (inner.kind === 'ref' && inner.decl?.kind === 'function') return ctx.unsupported(`address of the function ${inner.name}`, e.span);
      return addressOf(ctx, e.operand);
    }
    case '!': return { t: BOOL, js: `(!${truth(expression(ctx, e.operand))})` };
    case '+': {
      const a = expression(ctx, e.operand);
      if (a.t.k !== 'scalar') return a;
      const s = promoted(a.t.s);
      return { t: { k: 'scalar', s }, js: convertScalar(a.js, a.t.s, s) };
    }
    case '-': {
      const a = expression(ctx, e.operand);
      const pair = halfPair(a.t);
      if (pair !== null) return lanewise(ctx, a, null, (x) => negate(x), pair);
      return negate(a);
    }
    case '~': return complement(expression(ctx, e.operand));
    default: return unreachable(e.op);
  }
}

/** Element type of half2 and bfloat162, whose operators are built in. */
function halfPair(t: SimType): ScalarType | null {
  if (t.k !== 'record' || t.layout.decl.vector === null) return null;
  const first = t.layout.fields[0]?.type;
  return first !== undefined && first.k === 'scalar' && (first.s === 'f16' || first.s === 'bf16') && t.layout.fields.length === 2 ? first : null;
}

function lanewise(ctx: FunctionContext, a: Val, b: Val | null, op: (x: Val, y: Val) => Val, element: ScalarType): Val {
  const address = ctx.frameAddress(ctx.frameSlot(a.t));
  const results = [0, 2].map((offset) => {
    const part = (v: Val): Val => ({ t: element, js: `D.ld${element.s}(${v.js}+${offset},l,0)` });
    return ctx.hold(op(part(a), b === null ? part(a) : part(b)));
  });
  results.forEach((r, i) => ctx.lane(`D.st${element.s}(${address}+${i * 2},${r.js},l,0);`));
  return { t: a.t, js: address };
}

/** `++` and `--`: the value of the expression and the object. */
export function updated(ctx: FunctionContext, e: Extract<Expr, { kind: 'update' }>): Assigned {
  const place = held(ctx, targetOf(ctx, e.target));
  const old = ctx.hold(load(ctx, place));
  let next: Val;
  if (old.t.k === 'pointer') next = { t: old.t, js: `(${old.js}${e.op === '++' ? '+' : '-'}${sizeOf(old.t.to)})` };
  else if (old.t.k === 'scalar') next = arithmetic(ctx, e.op === '++' ? '+' : '-', old, { t: I32, js: '1' }, e);
  else return ctx.unsupported(`${e.op} on such an operand`, e.span);
  const stored = store(ctx, place, next);
  return { value: e.prefix ? stored : old, place };
}

interface Assigned { readonly value: Val; readonly place: Place }

/** A place whose address is computed once. */
function held(ctx: FunctionContext, place: Place): Place {
  return place.kind === 'register' ? place : { ...place, address: ctx.hold({ t: pointerTo(VOID), js: place.address }).js };
}

/** `a op b` on values, pointers included. */
export function arithmetic(ctx: FunctionContext, op: BinaryOperator, a: Val, b: Val, at: Expr): Val {
  const pointer = (v: Val): SimType | null => (v.t.k === 'pointer' ? v.t.to : v.t.k === 'array' ? v.t.of : null);
  const pa = pointer(a);
  const pb = pointer(b);
  if (pa !== null || pb !== null) {
    const comparison = ['<', '<=', '>', '>=', '==', '!='].includes(op);
    if (comparison) {
      const side = (v: Val, p: SimType | null): string => (p !== null ? v.js : convert(v, pointerTo(VOID)));
      return binaryScalar(op, 'f64', side(a, pa), side(b, pb));
    }
    if (op === '-' && pa !== null && pb !== null) return { t: I64, js: `((${a.js}-${b.js})/${sizeOf(pa)})` };
    if (op === '+' && pa !== null && pb === null) return { t: pointerTo(pa), js: `(${a.js}+${offsetText(b)}*${sizeOf(pa)})` };
    if (op === '+' && pb !== null && pa === null) return { t: pointerTo(pb), js: `(${b.js}+${offsetText(a)}*${sizeOf(pb)})` };
    if (op === '-' && pa !== null) return { t: pointerTo(pa), js: `(${a.js}-${offsetText(b)}*${sizeOf(pa)})` };
    return ctx.unsupported(`operator ${op} on pointers`, at.span);
  }
  const pair = halfPair(a.t);
  if (pair !== null && b.t.k === 'record') return lanewise(ctx, a, b, (x, y) => arithmetic(ctx, op, x, y, at), pair);
  if (a.t.k !== 'scalar' || b.t.k !== 'scalar') return ctx.unsupported(`operator ${op} on a ${a.t.k} and a ${b.t.k}`, at.span);
  if (op === '<<' || op === '>>') return shift(op, a, b);
  const s: Scalar = commonScalar(a.t.s, b.t.s);
  return binaryScalar(op, s, convertScalar(a.js, a.t.s, s), convertScalar(b.js, b.t.s, s));
}

function binary(ctx: FunctionContext, e: Extract<Expr, { kind: 'binary' }>): Val {
  if (e.op === ',') {
    const left = expression(ctx, e.left);
    if (left.js !== '') ctx.lane(`${left.js};`);
    return expression(ctx, e.right);
  }
  if (e.op === '&&' || e.op === '||') return shortCircuit(ctx, e, e.op);
  const [a, b] = operands(ctx, [e.left, e.right]);
  if (a === undefined || b === undefined) throw new Error('internal: operands');
  return arithmetic(ctx, e.op, a, b, e);
}

function shortCircuit(ctx: FunctionContext, e: Extract<Expr, { kind: 'binary' }>, op: '&&' | '||'): Val {
  const branch = ctx.compiler.branch(ctx, e, op === '&&' ? 'and' : 'or', e.left);
  const left = expression(ctx, e.left);
  if (needsWarp(ctx, e.right)) {
    const result = ctx.array(BOOL);
    ctx.lane(`${result}[l]=${truth(left)};`);
    const taken = ctx.fresh('c');
    ctx.flush();
    ctx.lines.push(`let ${taken}=0;for(let l=0;l<32;l++){if(${ctx.mask}>>>l&1&&${op === '&&' ? '' : '!'}${result}[l])${taken}|=1<<l;}`);
    if (branch !== null) ctx.lines.push(`D.branch(${branch},${ctx.mask},${op === '&&' ? taken : `${ctx.mask}&~${taken}`});`);
    ctx.lines.push(`if(${taken}!==0){`);
    ctx.under(taken, () => { ctx.lane(`${result}[l]=${truth(expression(ctx, e.right))};`); });
    ctx.lines.push('}');
    return { t: BOOL, js: `${result}[l]` };
  }
  const note = branch === null ? '' : branchNote(ctx, branch);
  const { value, text } = ctx.captureLane(() => expression(ctx, e.right));
  const l = truth(left);
  if (text === '' && note === '') return { t: BOOL, js: `(${l}${op}${truth(value)})` };
  const name = ctx.fresh('t');
  ctx.lane(`let ${name}=${l};${note.replaceAll('$C', name)}if(${op === '&&' ? '' : '!'}${name}){${text}${name}=${truth(value)};}`);
  return { t: BOOL, js: name };
}

/** Lane text that notes an evaluated branch; `$C` stands for the condition. Masks are kept per lane loop and handed over at its end. */
function branchNote(ctx: FunctionContext, branch: number): string {
  ctx.noted = true;
  return `D.bit(${branch},l,$C);`;
}

/** `?:` with what `of` makes of an arm: its value, or its address. */
export function conditionalOf(ctx: FunctionContext, e: Extract<Expr, { kind: 'conditional' }>, of: (arm: Expr) => Val): Val {
  const branch = ctx.compiler.branch(ctx, e, 'ternary', e.condition);
  if (needsWarp(ctx, e.then) || needsWarp(ctx, e.else)) return warpConditional(ctx, e, branch, of);
  const condition = ctx.hold({ t: BOOL, js: truth(expression(ctx, e.condition)) });
  if (branch !== null) ctx.lane(branchNote(ctx, branch).replaceAll('$C', condition.js));
  const a = ctx.captureLane(() => of(e.then));
  const b = ctx.captureLane(() => of(e.else));
  if (a.value.t.k === 'void' && b.value.t.k === 'void') {
    // An arm's own expression, if it left one, is evaluated for what it does.
    const arm = (one: typeof a): string => `${one.text}${one.value.js === '' ? '' : `${one.value.js};`}`;
    ctx.lane(`if(${condition.js}){${arm(a)}}else{${arm(b)}}`);
    return { t: VOID, js: '' };
  }
  const t = joined(ctx, a.value, b.value, e);
  if (a.text === '' && b.text === '') return { t, js: `(${condition.js}?${convert(decay(a.value), t)}:${convert(decay(b.value), t)})` };
  const name = ctx.fresh('t');
  ctx.lane(`let ${name};if(${condition.js}){${a.text}${name}=${convert(decay(a.value), t)};}else{${b.text}${name}=${convert(decay(b.value), t)};}`);
  return { t, js: name };
}

function decay(v: Val): Val {
  return v.t.k === 'array' ? { t: pointerTo(v.t.of), js: v.js } : v;
}

function joined(ctx: FunctionContext, a: Val, b: Val, e: Expr): SimType {
  const x = decay(a).t;
  const y = decay(b).t;
  if (x.k === 'scalar' && y.k === 'scalar') return x.s === y.s ? x : { k: 'scalar', s: commonScalar(x.s, y.s) };
  if (x.k === 'pointer') return x;
  if (y.k === 'pointer') return y;
  if (x.k === 'record') {
    if (y.k !== 'record' || !sameType(x, y)) return ctx.unsupported('?: on objects of two types', e.span);
    // An object beside a temporary is copied; two objects are not, and a temporary becomes the result itself.
    const chosen = strip(e);
    if (chosen.kind === 'conditional' && isPlace(chosen.then) !== isPlace(chosen.else) && copyConstructorOf(x) !== null) return ctx.unsupported(`the copy constructor of ${x.layout.name}`, e.span);
    return x;
  }
  if (x.k === y.k) return x;
  return ctx.unsupported(`?: on a ${x.k} and a ${y.k}`, e.span);
}

function warpConditional(ctx: FunctionContext, e: Extract<Expr, { kind: 'conditional' }>, branch: number | null, of: (arm: Expr) => Val): Val {
  const c = conditionMask(ctx, e.condition);
  if (branch !== null) ctx.emit(`D.branch(${branch},${ctx.mask},${c});`);
  const mT = ctx.fresh('m');
  const mE = ctx.fresh('m');
  ctx.emit(`const ${mT}=${ctx.mask}&${c},${mE}=${ctx.mask}&~${c};`);
  // Both arms are compiled before the result's type is known, so their values are spilled first.
  let a: Val = { t: VOID, js: '' };
  let b: Val = { t: VOID, js: '' };
  const first = ctx.capture(() => ctx.under(mT, () => { a = ctx.spill(decay(of(e.then))); }));
  const second = ctx.capture(() => ctx.under(mE, () => { b = ctx.spill(decay(of(e.else))); }));
  ctx.lines.push(`if(${mT}!==0){${first.join('\n')}}`, `if(${mE}!==0){${second.join('\n')}}`);
  if (a.t.k === 'void' && b.t.k === 'void') return { t: VOID, js: '' };
  const t = joined(ctx, a, b, e);
  const result = ctx.array(t);
  ctx.lane(`${result}[l]=(${mT}>>>l&1)?${convert(a, t)}:${convert(b, t)};`);
  return { t, js: `${result}[l]` };
}

/** Evaluates a condition for all lanes; the name of the mask of lanes for which it holds. */
export function conditionMask(ctx: FunctionContext, e: Expr): string {
  const c = ctx.fresh('c');
  ctx.prologue.push(`let ${c}=0;`);
  ctx.emit(`${c}=0;`);
  const value = truth(expression(ctx, e));
  ctx.lane(`if(${value})${c}|=1<<l;`);
  ctx.flush();
  return c;
}

function isPlaceOfRecord(ctx: FunctionContext, target: Expr): boolean {
  return staticType(ctx, target).k === 'record';
}

/** Assignments, simple and compound: the value that is stored and the object. */
export function assigned(ctx: FunctionContext, e: AssignExpr): Assigned {
  const into = (place: Place, value: Val): Assigned => {
    const once = held(ctx, place);
    return { value: store(ctx, once, value), place: once };
  };
  const target = strip(e.target);
  if (e.op === null) {
    const declared = target;
    if (strip(e.value).kind === 'init-list') {
      const place = targetOf(ctx, declared);
      if (place.kind === 'memory' && (place.t.k === 'record' || place.t.k === 'array')) {
        const temporary = ctx.frameAddress(ctx.frameSlot(place.t));
        initialise(ctx, temporary, place.t, e.value);
        return into(place, { t: place.t, js: temporary });
      }
      const list = strip(e.value);
      const only = list.kind === 'init-list' ? list.elements[0] : undefined;
      return into(place, only === undefined ? { t: I32, js: '0' } : expression(ctx, only));
    }
    let value = decay(expression(ctx, e.value));
    if (value.t.k === 'record' && !isPlaceOfRecord(ctx, target)) value = coerced(ctx, value, staticType(ctx, target), e.value);
    const parts = needsWarp(ctx, target);
    if (parts) value = ctx.spill(value);
    else if (value.t.k !== 'record') value = ctx.hold(value);
    let place = targetOf(ctx, target);
    if (place.kind === 'memory' && !place.own && readsMemory(ctx, e.value)) ({ place, value } = twoPhases(ctx, place, value));
    return into(place, value);
  }
  // Compound: the right operand first, then the object once.
  let right = expression(ctx, e.value);
  if (needsWarp(ctx, target)) right = ctx.spill(right);
  let place = held(ctx, targetOf(ctx, target));
  const old = load(ctx, place);
  let value: Val;
  if (place.t.k === 'pointer' || place.t.k === 'array') value = arithmetic(ctx, e.op, old, right, e);
  else if (place.t.k === 'record') value = arithmetic(ctx, e.op, old, right, e);
  else value = arithmetic(ctx, e.op, old, right, e);
  if (value.t.k !== 'record') value = ctx.hold({ t: place.t, js: convert(value, place.t) });
  if (place.kind === 'memory' && !place.own) ({ place, value } = twoPhases(ctx, place, value));
  return into(place, value);
}

/** All lanes load before any stores, as a warp does: the value and the address are kept over a new lane loop. */
function twoPhases(ctx: FunctionContext, place: Extract<Place, { kind: 'memory' }>, value: Val): { place: Place; value: Val } {
  // Inside a nested lane expression the loop cannot be split: short-circuit and conditional operands.
  if (ctx.nested > 0) return { place, value };
  if (value.t.k === 'record') return { place, value };
  const v = ctx.spill({ t: place.t, js: convert(value, place.t) });
  const a = ctx.spill({ t: pointerTo(VOID), js: place.address });
  ctx.flush();
  return { place: { ...place, address: a.js }, value: { t: place.t, js: v.js } };
}

function cast(ctx: FunctionContext, e: Extract<Expr, { kind: 'cast' }>): Val {
  const operand = strip(e.operand);
  if (seesOperand(e)) return load(ctx, placeOf(ctx, e));
  const t = resolve(e.type, ctx.env);
  if (t.k === 'void') {
    const v = expression(ctx, operand);
    if (v.js !== '') ctx.lane(`${v.js};`);
    return { t: VOID, js: '' };
  }
  if (operand.kind === 'init-list') {
    const address = ctx.frameAddress(ctx.frameSlot(t));
    initialise(ctx, address, t, operand);
    return t.k === 'record' || t.k === 'array' ? { t, js: address } : load(ctx, { kind: 'memory', address, t, volatile: false, own: true });
  }
  const v = decay(expression(ctx, operand));
  if (t.k === 'record') {
    if (v.t.k === 'record') return v;
    return constructExpression(ctx, { kind: 'construct', style: 'paren', arguments: [operand], type: e.type, span: e.span });
  }
  if (v.t.k === 'record') return { t, js: convert(coerced(ctx, v, t, e), t) };
  if (t.k === 'pointer' && v.t.k === 'scalar' && operand.kind === 'literal') return { t, js: convert(v, t) };
  return { t, js: convert(v, t) };
}
