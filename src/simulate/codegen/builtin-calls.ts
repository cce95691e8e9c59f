/** Calls of CUDA built-ins. Arguments are converted as the table of `src/cuda/` says; `H.f_…` and `H.d_…` are in `src/simulate/math.ts`. */
import { builtin, type Builtin, type ParameterType, type ValueType } from '../../cuda/builtins.js';
import { strip, type Expr } from '../../syntax/tree.js';
import { isStandard } from '../../syntax/builtin-types.js';
import { vectorRecord } from '../../syntax/vector-types.js';
import { layoutOf, resolve } from '../resolve.js';
import { alignOf, BF16, BOOL, F16, F32, F64, I32, I64, I8, isFloating, pointerTo, sizeOf, U32, U64, U8, Unsupported, VOID, type RecordType, type Scalar, type ScalarType, type SimType } from '../types.js';
import { collectiveCall } from './collective-calls.js';
import { vectorOf } from './construct.js';
import type { FunctionContext } from './context.js';
import { expression, operands } from './expression.js';
import { accessName, binaryScalar, commonScalar, convert, convertScalar, promoted, truth, type Val } from './operators.js';
import { load, type Place } from './places.js';
import { MATH_NAMES } from '../math.js';

type Call = Extract<Expr, { kind: 'call' }>;

export function valueTypeOf(ctx: FunctionContext, type: ValueType): SimType {
  if (typeof type === 'object') return vectorTypeNamed(ctx, type.vector);
  switch (type) {
    case 'void': return VOID;
    case 'bool': return BOOL;
    case 'i8': return I8;
    case 'u8': return U8;
    case 'i16': return { k: 'scalar', s: 'i16' };
    case 'u16': return { k: 'scalar', s: 'u16' };
    case 'i32': return I32;
    case 'u32': return U32;
    case 'i64': return I64;
    case 'u64': return U64;
    case 'half': return F16;
    case 'bfloat16': return BF16;
    case 'float': return F32;
    case 'double': return F64;
    case 'pointer': return pointerTo(VOID);
    case 'string': return pointerTo(I8);
    case 'any': throw new Unsupported('a built-in without a type', null);
  }
}

function vectorTypeNamed(ctx: FunctionContext, name: string): RecordType {
  const decl = vectorRecord(name === 'bfloat162' ? '__nv_bfloat162' : name);
  if (decl === null) throw new Unsupported(`vector type ${name}`, null);
  return { k: 'record', layout: layoutOf(decl, null, ctx.env) };
}

export function builtinCall(ctx: FunctionContext, e: Call, name: string): Val {
  const b = builtin(name);
  if (b === undefined) return ctx.unsupported(`built-in ${name}`, e.span);
  const args = e.arguments;
  if (!b.variadic && (args.length > b.parameters.length || args.length < b.parameters.length - b.optional)) return ctx.unsupported(`${name} with ${args.length} arguments`, e.span);
  if (b.collective !== null) return collectiveCall(ctx, e, b);
  switch (b.family) {
    case 'math': return mathCall(ctx, e, b);
    case 'half': return halfCall(ctx, e, b);
    case 'arithmetic': return arithmeticCall(ctx, e, b);
    case 'conversion': case 'bits': return roundTrip(ctx, e, b) ?? direct(ctx, e, b);
    case 'atomic': return atomicCall(ctx, e, b);
    case 'memory': return memoryCall(ctx, e, b);
    case 'vector': {
      const type = b.result.kind === 'fixed' ? valueTypeOf(ctx, b.result.type) : VOID;
      if (type.k !== 'record') break;
      return vectorOf(ctx, type, args);
    }
    case 'fence':
      ctx.lane('D.fence();');
      return { t: VOID, js: '' };
    case 'clock': {
      for (const v of operands(ctx, args)) ctx.lane(`${v.js};`);
      const type = b.result.kind === 'fixed' ? valueTypeOf(ctx, b.result.type) : VOID;
      return type.k === 'void' ? { t: VOID, js: '' } : ctx.hold({ t: type, js: 'D.clock()' });
    }
    case 'output': return outputCall(ctx, e, b);
    case 'control':
      ctx.lane(`D.trap(l,${JSON.stringify(b.name)});`);
      return { t: VOID, js: '' };
    case 'hint': {
      if (b.name === '__builtin_expect') return converted(ctx, args[0], I64);
      if (b.result.kind === 'argument') return expression(ctx, args[0] ?? e);
      return { t: VOID, js: '' };
    }
    case 'texture': return ctx.unsupported(`${name} (textures and surfaces)`, e.span);
    case 'warp': case 'barrier': break;
  }
  return ctx.unsupported(`built-in ${name}`, e.span);
}

function converted(ctx: FunctionContext, e: Expr | undefined, t: SimType): Val {
  if (e === undefined) throw new Unsupported('missing argument', null);
  return { t, js: convert(expression(ctx, e), t) };
}

function parameterType(ctx: FunctionContext, p: ParameterType, values: readonly Val[], own: Val): SimType {
  if (typeof p === 'object' && 'pointee' in p) return pointee(values[p.pointee]);
  if (p === 'any' || (p === 'pointer' && (own.t.k === 'pointer' || own.t.k === 'array'))) return own.t.k === 'array' ? pointerTo(own.t.of) : own.t;
  return valueTypeOf(ctx, p);
}

function pointee(v: Val | undefined): SimType {
  if (v?.t.k === 'pointer') return v.t.to;
  if (v?.t.k === 'array') return v.t.of;
  throw new Unsupported('a pointer argument that is no pointer', null);
}

/** Arguments converted to the table's parameter types and held. */
function argumentsOf(ctx: FunctionContext, e: Call, b: Builtin): Val[] {
  const values = operands(ctx, e.arguments);
  return values.map((v, i) => {
    const p = b.parameters[i];
    if (p === undefined) return v;
    const t = parameterType(ctx, p, values, v);
    return ctx.hold({ t, js: t.k === 'record' || t.k === 'void' ? v.js : convert(v, t) });
  });
}

function resultType(ctx: FunctionContext, b: Builtin, args: readonly Val[]): SimType {
  switch (b.result.kind) {
    case 'fixed': return valueTypeOf(ctx, b.result.type);
    case 'argument': return args[b.result.index]?.t ?? VOID;
    case 'pointee': return pointee(args[b.result.index]);
    case 'floating': {
      let t: ScalarType = F32;
      for (const a of args) {
        if (a.t.k !== 'scalar') continue;
        if (a.t.s === 'f16' || a.t.s === 'bf16' || a.t.s === 'f32') continue;
        t = F64;
      }
      return t;
    }
    case 'arithmetic': {
      let s: Scalar | null = null;
      for (const a of args) if (a.t.k === 'scalar') s = s === null ? a.t.s : commonScalar(s, a.t.s);
      return { k: 'scalar', s: promoted(s ?? 'i32') };
    }
    case 'template': throw new Unsupported(b.name, null);
  }
}

/** Bit casts and what undoes them: a round trip keeps every bit, also those of a NaN, which a number of the host does not hold. */
const UNDOES: ReadonlyMap<string, string> = new Map([
  ['__float_as_int', '__int_as_float'], ['__float_as_uint', '__uint_as_float'], ['__int_as_float', '__float_as_int'], ['__uint_as_float', '__float_as_uint'],
  ['__double_as_longlong', '__longlong_as_double'], ['__longlong_as_double', '__double_as_longlong'],
]);

function roundTrip(ctx: FunctionContext, e: Call, b: Builtin): Val | null {
  const [only] = e.arguments;
  const inner = only === undefined ? null : strip(only);
  const [source] = inner?.kind === 'call' ? inner.arguments : [];
  if (inner?.kind !== 'call' || inner.callee.kind !== 'builtin' || source === undefined || UNDOES.get(b.name) !== inner.callee.name || b.result.kind !== 'fixed') return null;
  const t = valueTypeOf(ctx, b.result.type);
  return { t, js: convert(expression(ctx, source), t) };
}

function mathCall(ctx: FunctionContext, e: Call, b: Builtin): Val {
  const args = argumentsOf(ctx, e, b);
  const t = resultType(ctx, b, args);
  const floatForm = t.k === 'scalar' && t.s === 'f32';
  // `sinf`, `sin` on floats and `__sinf` share one implementation; results round to the type once.
  let name = b.name;
  if (b.result.kind === 'fixed' && b.result.type === 'float' && name.endsWith('f') && !name.startsWith('__')) name = name.slice(0, -1);
  else if (name.endsWith('f') && !MATH_NAMES.has(name) && MATH_NAMES.has(name.slice(0, -1))) name = name.slice(0, -1);
  if (b.writes.length > 0) return mathThroughPointers(ctx, e, b, args, name);
  if (b.name === 'nan' || b.name === 'nanf') return { t, js: 'NaN' };
  const toArgument = (v: Val): string => (v.t.k === 'scalar' ? convertScalar(v.js, v.t.s, isFloating(v.t.s) || b.result.kind !== 'floating' ? v.t.s : 'f64') : v.js);
  const texts = args.map(toArgument);
  if (!MATH_NAMES.has(name) && !MATH_NAMES.has(`${name}_f32`)) return ctx.unsupported(`built-in ${b.name}`, e.span);
  const specific = floatForm && MATH_NAMES.has(`${name}_f32`) ? `${name}_f32` : name;
  const call = `H.m.${specific}(${texts.join(',')})`;
  if (t.k === 'scalar' && t.s === 'f32') return { t, js: `Math.fround(${call})` };
  return { t, js: call };
}

/** `sincosf(x, &s, &c)`, `modf`, `frexp`: results go through pointers. */
function mathThroughPointers(ctx: FunctionContext, e: Call, b: Builtin, args: readonly Val[], name: string): Val {
  const [x] = args;
  if (x === undefined || x.t.k !== 'scalar') return ctx.unsupported(b.name, e.span);
  const f = x.t.s === 'f64' ? F64 : F32;
  const round = (js: string): string => (f === F32 ? `Math.fround(${js})` : js);
  const put = (index: number, t: SimType, js: string): void => {
    ctx.lane(`D.st${accessName(t)}(${args[index]?.js ?? '0'},${js},l,0);`);
  };
  switch (name.replace(/^__/, '').replace(/f$/, '')) {
    case 'sincos':
      put(1, f, round(`Math.sin(${x.js})`));
      put(2, f, round(`Math.cos(${x.js})`));
      return { t: VOID, js: '' };
    case 'sincospi':
      put(1, f, round(`H.m.sinpi(${x.js})`));
      put(2, f, round(`H.m.cospi(${x.js})`));
      return { t: VOID, js: '' };
    case 'mod':
      put(1, f, `Math.trunc(${x.js})`);
      return { t: f, js: `H.m.fraction(${x.js})` };
    case 'frexp':
      put(1, I32, `H.m.exponentOf(${x.js})`);
      return { t: f, js: `H.m.mantissaOf(${x.js})` };
    default: return ctx.unsupported(`built-in ${b.name}`, e.span);
  }
}

function arithmeticCall(ctx: FunctionContext, e: Call, b: Builtin): Val {
  const args = argumentsOf(ctx, e, b);
  const [x, y] = args;
  if (x === undefined) return ctx.unsupported(b.name, e.span);
  switch (b.name.replace(/^(::|std::|cuda::std::)+/, '')) {
    case 'min': case 'umin': case 'llmin': case 'ullmin': return extremum(ctx, '<', args, e);
    case 'max': case 'umax': case 'llmax': case 'ullmax': return extremum(ctx, '>', args, e);
    case 'clamp': {
      const [v, low, high] = args;
      if (v === undefined || low === undefined || high === undefined) return ctx.unsupported(b.name, e.span);
      return extremum(ctx, '<', [ctx.hold(extremum(ctx, '>', [v, low], e)), high], e);
    }
    case 'abs': case 'labs': case 'llabs': {
      if (x.t.k !== 'scalar') return ctx.unsupported(b.name, e.span);
      const s = promoted(x.t.s);
      const v = convertScalar(x.js, x.t.s, s);
      const t: ScalarType = { k: 'scalar', s };
      if (isFloating(s)) return { t, js: `Math.abs(${v})` };
      if (s === 'u32' || s === 'u64') return { t, js: v };
      return s === 'i64' ? { t, js: `(${v}<0?H.negI(${v}):${v})` } : { t, js: `(${v}<0?-${v}|0:${v})` };
    }
    case '__hadd': {
      if (y === undefined || x.t.k !== 'scalar' || y.t.k !== 'scalar') return ctx.unsupported(b.name, e.span);
      if (isFloating(x.t.s)) return binaryScalar('+', x.t.s, x.js, convertScalar(y.js, y.t.s, x.t.s));
      return { t: I32, js: `Math.floor((${x.js}+${y.js})/2)` };
    }
    default: return direct(ctx, e, b, args);
  }
}

/** `std::min` is a template of one type; CUDA's are overloads for int and wider. */
function comparedIn(ctx: FunctionContext, e: Expr, a: Scalar, b: Scalar): Scalar {
  if (e.kind === 'call' && e.callee.kind === 'builtin') {
    const [explicit] = e.templateArguments ?? [];
    if (explicit !== undefined) {
      const t = explicit.kind === 'type' ? resolve(explicit.type, ctx.env) : null;
      return t?.k === 'scalar' ? t.s : ctx.unsupported('min or max of such a type', e.span);
    }
    if (isStandard(e.callee.name) && a === b) return a;
  }
  return promoted(commonScalar(a, b));
}

/** `min` and `max`; on floating types a NaN operand gives the other one, as the device's do. */
function extremum(ctx: FunctionContext, op: '<' | '>', args: readonly Val[], e: Expr): Val {
  const [a, b] = args;
  if (a === undefined || b === undefined || a.t.k !== 'scalar' || b.t.k !== 'scalar') return ctx.unsupported('min or max of such operands', e.span);
  const s = comparedIn(ctx, e, a.t.s, b.t.s);
  const x = ctx.hold({ t: { k: 'scalar', s }, js: convertScalar(a.js, a.t.s, s) });
  const y = ctx.hold({ t: { k: 'scalar', s }, js: convertScalar(b.js, b.t.s, s) });
  if (isFloating(s)) return { t: x.t, js: `H.m.${op === '<' ? 'fmin' : 'fmax'}(${x.js},${y.js})` };
  return { t: x.t, js: `(${y.js}${op}${x.js}?${y.js}:${x.js})` };
}

/** Built-ins whose JavaScript twin has the same name in `math.ts` and takes converted arguments. */
function direct(ctx: FunctionContext, e: Call, b: Builtin, given: readonly Val[] | null = null): Val {
  const args = given ?? argumentsOf(ctx, e, b);
  if (!MATH_NAMES.has(b.name)) return ctx.unsupported(`built-in ${b.name}`, e.span);
  return { t: resultType(ctx, b, args), js: `H.m.${b.name}(${args.map((a) => a.js).join(',')})` };
}

// ---------------------------------------------------------------------------------------------------------------- half

function halfCall(ctx: FunctionContext, e: Call, b: Builtin): Val {
  const args = argumentsOf(ctx, e, b);
  const [x, y, z] = args;
  if (x === undefined) return ctx.unsupported(b.name, e.span);
  const t = resultType(ctx, b, args);
  const pair = x.t.k === 'record' ? x.t : null;
  if (pair !== null || t.k === 'record') return pairCall(ctx, e, b, args, t);
  if (x.t.k !== 'scalar') return ctx.unsupported(b.name, e.span);
  const to = (v: Val | undefined, s: Scalar): string => (v !== undefined && v.t.k === 'scalar' ? convertScalar(v.js, v.t.s, s) : '0');
  const s = x.t.s;
  const stem = b.name.replace(/^__?h?/, '').replace(/_rn$/, '');
  if (/^__(float|double|half|bfloat16|u?int|u?short|u?ll)2/.test(b.name)) {
    if (/_r[zud]$/.test(b.name) && t.k === 'scalar' && isFloating(t.s)) return ctx.unsupported(`built-in ${b.name}`, e.span);
    if (t.k === 'scalar' && !isFloating(t.s)) {
      const mode = /_(r[nzud])$/.exec(b.name)?.[1] ?? 'rz';
      return { t, js: convertScalar(`H.m.integral(${x.js},"${mode}")`, 'f64', t.s) };
    }
    return { t, js: convert(x, t) };
  }
  if (b.name.includes('_as_')) return { t, js: `H.m.${b.name}(${x.js})` };
  switch (stem) {
    case 'add': return binaryScalar('+', s, x.js, to(y, s));
    case 'sub': return binaryScalar('-', s, x.js, to(y, s));
    case 'mul': return binaryScalar('*', s, x.js, to(y, s));
    case 'div': return binaryScalar('/', s, x.js, to(y, s));
    case 'max': return { t: x.t, js: `H.m.fmax(${x.js},${to(y, s)})` };
    case 'min': return { t: x.t, js: `H.m.fmin(${x.js},${to(y, s)})` };
    case 'fma': return { t: x.t, js: `H.m.fma_${s}(${x.js},${to(y, s)},${to(z, s)})` };
    case 'neg': return { t: x.t, js: `(-${x.js})` };
    case 'abs': return { t: x.t, js: `Math.abs(${x.js})` };
    case 'eq': case 'ne': case 'lt': case 'le': case 'gt': case 'ge':
      return binaryScalar(({ eq: '==', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=' } as const)[stem], s, x.js, to(y, s));
    case 'isnan': return { t: BOOL, js: `(${x.js}!==${x.js})` };
    default: break;
  }
  const unary = /^h(sqrt|rsqrt|rcp|exp|exp2|exp10|log|log2|log10|sin|cos|tanh|floor|ceil|trunc|rint)$/.exec(b.name)?.[1];
  if (unary !== undefined) return { t: x.t, js: convertScalar(`H.m.${unary}(${x.js})`, 'f64', s) };
  return ctx.unsupported(`built-in ${b.name}`, e.span);
}

function pairCall(ctx: FunctionContext, e: Call, b: Builtin, args: readonly Val[], t: SimType): Val {
  const component = (v: Val | undefined, i: 0 | 1): Val => {
    if (v === undefined) throw new Unsupported(b.name, e.span);
    if (v.t.k !== 'record') return v;
    const field = v.t.layout.fields[i];
    if (field === undefined || field.type.k !== 'scalar') throw new Unsupported(b.name, e.span);
    const place: Place = { kind: 'memory', address: `(${v.js}+${field.offset})`, t: field.type, volatile: false, own: false };
    return load(ctx, place);
  };
  const make = (type: SimType, parts: readonly Val[]): Val => {
    if (type.k !== 'record') return ctx.unsupported(b.name, e.span);
    const address = ctx.frameAddress(ctx.frameSlot(type));
    const held = parts.map((p, i) => ctx.hold({ t: type.layout.fields[i]?.type ?? VOID, js: convert(p, type.layout.fields[i]?.type ?? VOID) }));
    held.forEach((p, i) => ctx.lane(`D.st${accessName(p.t)}((${address}+${type.layout.fields[i]?.offset ?? 0}),${p.js},l,0);`));
    return { t: type, js: address };
  };
  const [x, y, z] = args;
  switch (b.name) {
    case '__float2half2_rn': case '__half2half2': case '__bfloat162bfloat162': return make(t, [component(x, 0), component(x, 0)]);
    case '__floats2half2_rn': case '__halves2half2': case '__floats2bfloat162_rn': case '__halves2bfloat162': return make(t, [component(x, 0), component(y, 0)]);
    case '__float22half2_rn': case '__half22float2': case '__float22bfloat162_rn': case '__bfloat1622float2': return make(t, [component(x, 0), component(x, 1)]);
    case '__low2half': case '__low2float': return { t, js: convert(component(x, 0), t) };
    case '__high2half': case '__high2float': return { t, js: convert(component(x, 1), t) };
    case '__lows2half2': return make(t, [component(x, 0), component(y, 0)]);
    case '__highs2half2': return make(t, [component(x, 1), component(y, 1)]);
    case '__lowhigh2highlow': return make(t, [component(x, 1), component(x, 0)]);
    default: break;
  }
  const stem = /^__h(add|sub|mul|max|min|fma|neg|abs)2(_rn)?$/.exec(b.name)?.[1] ?? (b.name === '__h2div' ? 'div' : null);
  if (stem === null) return ctx.unsupported(`built-in ${b.name}`, e.span);
  const each = (i: 0 | 1): Val => {
    const a = component(x, i);
    if (a.t.k !== 'scalar') return ctx.unsupported(b.name, e.span);
    const s = a.t.s;
    switch (stem) {
      case 'add': return binaryScalar('+', s, a.js, component(y, i).js);
      case 'sub': return binaryScalar('-', s, a.js, component(y, i).js);
      case 'mul': return binaryScalar('*', s, a.js, component(y, i).js);
      case 'div': return binaryScalar('/', s, a.js, component(y, i).js);
      case 'max': case 'min': return { t: a.t, js: `H.m.f${stem}(${a.js},${component(y, i).js})` };
      case 'fma': return { t: a.t, js: `H.m.fma_${s}(${a.js},${component(y, i).js},${component(z, i).js})` };
      case 'neg': return { t: a.t, js: `(-${a.js})` };
      default: return { t: a.t, js: `Math.abs(${a.js})` };
    }
  };
  return make(t, [ctx.hold(each(0)), ctx.hold(each(1))]);
}

// -------------------------------------------------------------------------------------------------------------- memory

function atomicCall(ctx: FunctionContext, e: Call, b: Builtin): Val {
  const args = argumentsOf(ctx, e, b);
  const [p, v, w] = args;
  const t = pointee(p);
  if (p === undefined || v === undefined || (t.k !== 'scalar' && t.k !== 'pointer')) return ctx.unsupported(`${b.name} on a struct`, e.span);
  const op = b.name.replace(/^atomic/, '').replace(/_(block|system)$/, '');
  const type = accessName(t);
  const value = `D.atomic${op}("${type}",${p.js},${v.js}${w === undefined ? '' : `,${w.js}`},l)`;
  return ctx.hold({ t: t.k === 'scalar' ? { k: 'scalar', s: t.s } : t, js: value });
}

function memoryCall(ctx: FunctionContext, e: Call, b: Builtin): Val {
  const args = argumentsOf(ctx, e, b);
  const [p, v, n] = args;
  if (p === undefined) return ctx.unsupported(b.name, e.span);
  if (b.name.startsWith('__ld')) {
    return load(ctx, { kind: 'memory', address: p.js, t: pointee(p), volatile: b.volatile, own: false });
  }
  if (b.name.startsWith('__st') && v !== undefined) {
    const t = pointee(p);
    if (t.k === 'record') ctx.lane(`D.copy(${p.js},${v.js},${sizeOf(t)},${alignOf(t)},l,0);`);
    else ctx.lane(`D.st${accessName(t)}(${p.js},${v.js},l,0);`);
    return { t: VOID, js: '' };
  }
  if (b.name === 'memset' && v !== undefined && n !== undefined) {
    ctx.lane(`D.fill(${p.js},${v.js},Number(${n.js}),l);`);
    return p;
  }
  if (b.name === 'memcpy' && v !== undefined && n !== undefined) {
    ctx.lane(`D.copy(${p.js},${v.js},Number(${n.js}),1,l,0);`);
    return p;
  }
  return ctx.unsupported(b.name, e.span);
}

function outputCall(ctx: FunctionContext, e: Call, b: Builtin): Val {
  if (b.output === 'assert') {
    const c = e.arguments[0];
    if (c !== undefined) ctx.lane(`if(!${truth(expression(ctx, c))})D.fault('assertion',l,null,()=>"an assertion fails");`);
    return { t: VOID, js: '' };
  }
  const format = e.arguments[0] === undefined ? null : strip(e.arguments[0]);
  const values = operands(ctx, e.arguments.slice(1)).map((v) => (v.t.k === 'scalar' && v.t.s === 'bool' ? `+(${v.js})` : v.js));
  ctx.lane(`D.print(${JSON.stringify(format?.kind === 'literal' && typeof format.value === 'string' ? format.value : '')},[${values.join(',')}]);`);
  return { t: I32, js: `${values.length}` };
}

