/** From types of the tree to types of the simulator: template arguments put in, array lengths folded, records laid out. */
import type { EnumDecl, EnumeratorDecl, Expr, RecordDecl, TemplateArgument, TemplateParameterDecl, Type } from '../syntax/tree.js';
import { enumValues } from '../syntax/types.js';
import { vectorRecord } from '../syntax/vector-types.js';
import { evaluate, type ConstantValue } from './constants.js';
import {
  alignOf, BF16, BOOL, callableNumber, F16, F32, F64, pointerTo, sizeOf, typeKey, Unsupported, VOID, type FieldLayout, type RecordLayout, type RecordType, type Scalar, type SimType,
} from './types.js';

/** What template parameters stand for in one instance. */
export interface Env {
  readonly types: ReadonlyMap<string, SimType>;
  readonly values: ReadonlyMap<string, ConstantValue>;
}

export const EMPTY_ENV: Env = { types: new Map(), values: new Map() };

const layouts = new WeakMap<RecordDecl, Map<string, RecordLayout>>();
/** The template arguments that a record's methods see. */
const environments = new WeakMap<RecordLayout, Env>();

export function environmentOf(layout: RecordLayout): Env {
  return environments.get(layout) ?? EMPTY_ENV;
}

export function intScalar(bits: 8 | 16 | 32 | 64, signed: boolean): Scalar {
  return `${signed ? 'i' : 'u'}${bits}`;
}

/** Throws `Unsupported` for what has no size or meaning here. */
export function resolve(type: Type, env: Env): SimType {
  switch (type.kind) {
    case 'void': return VOID;
    case 'bool': return type.volatile === true ? { ...BOOL, volatile: true } : BOOL;
    case 'int': {
      const s = intScalar(type.bits, type.signed);
      return type.volatile === true ? { k: 'scalar', s, volatile: true } : { k: 'scalar', s };
    }
    case 'float': {
      const t = type.format === 'half' ? F16 : type.format === 'bfloat16' ? BF16 : type.format === 'float' ? F32 : F64;
      return type.volatile === true ? { ...t, volatile: true } : t;
    }
    case 'pointer': return pointerTo(resolvePointee(type.to, env));
    case 'reference': {
      const to = resolve(type.to, env);
      return to.k === 'group' ? to : { k: 'reference', to };
    }
    case 'array': {
      const length = type.length === null ? null : evaluate(type.length, env);
      if (type.length !== null && length === null) throw new Unsupported('array length that is not constant', type.length.span);
      return { k: 'array', of: resolve(type.of, env), length: length === null ? null : Number(length.value) };
    }
    case 'record': {
      const record: RecordType = { k: 'record', layout: layoutOf(type.decl, type.templateArguments ?? null, env) };
      return type.volatile === true ? { ...record, volatile: true } : record;
    }
    case 'enum': return enumScalar(type.decl);
    case 'function': return VOID;
    case 'dependent': {
      const name = type.decl?.name ?? type.text;
      const found = env.types.get(name) ?? groupNamed(type.text, env);
      if (found !== undefined && found !== null) return type.volatile === true && (found.k === 'scalar' || found.k === 'record') ? { ...found, volatile: true } : found;
      throw new Unsupported(`type ${type.text === '' ? name : type.text} depends on a template parameter`, null);
    }
    case 'unknown': {
      const group = groupNamed(type.text, env);
      if (group !== null) return group;
      const short = SHORT_NAMES.get(type.text.replace(/\bconst\b/g, '').trim());
      if (short !== undefined) return { k: 'scalar', s: short };
      const vector = libraryVector(type.text);
      if (vector !== null) return vector;
      throw new Unsupported(type.text === '' ? 'a type that was not understood' : `unknown type ${type.text}`, null);
    }
  }
}

function enumScalar(decl: EnumDecl): SimType {
  const values = enumValues(decl);
  if (values === null) throw new Unsupported(`the type that the enum ${decl.name} computes in`, decl.nameSpan, decl.file);
  return { k: 'scalar', s: intScalar(values.bits, values.signed) };
}

/** Short names that system headers (or HIP's) define and that are not read here. */
const SHORT_NAMES: ReadonlyMap<string, Scalar> = new Map([['uchar', 'u8'], ['ushort', 'u16'], ['uint', 'u32'], ['ulong', 'u64'], ['u_char', 'u8'], ['u_int', 'u32'], ['cufftReal', 'f32'], ['cufftDoubleReal', 'f64']]);

/** Names that <cuComplex.h> and <cufft.h> give to vector types. */
const LIBRARY_VECTORS: ReadonlyMap<string, string> = new Map([
  ['cuComplex', 'float2'], ['cuFloatComplex', 'float2'], ['cuDoubleComplex', 'double2'], ['cufftComplex', 'float2'], ['cufftDoubleComplex', 'double2'],
]);

function libraryVector(text: string): SimType | null {
  const name = LIBRARY_VECTORS.get(text.replace(/\b(const|struct)\b/g, '').trim());
  const decl = name === undefined ? null : vectorRecord(name);
  return decl === null ? null : { k: 'record', layout: layoutOf(decl, null, EMPTY_ENV) };
}

/** Types of <cooperative_groups.h>, which is not read: a block, a tile of a fixed number of lanes. */
function groupNamed(text: string, env: Env): SimType | null {
  const name = text.replace(/\bconst\b/g, '').trim().replace(/^(::)?(cooperative_groups::|cg::)/, '');
  if (name === 'thread_block') return { k: 'group', size: null };
  const tile = /^thread_block_tile<\s*(\w+)/.exec(name)?.[1];
  if (tile === undefined) return null;
  const size = /^\d+$/.test(tile) ? Number(tile) : Number(env.values.get(tile)?.value ?? 0);
  return size >= 1 && size <= 32 ? { k: 'group', size } : null;
}

/** Pointers to types that are not known stay usable as addresses. */
function resolvePointee(type: Type, env: Env): SimType {
  try {
    return resolve(type, env);
  } catch (error) {
    if (error instanceof Unsupported && (type.kind === 'unknown' || type.kind === 'record' || type.kind === 'function')) return VOID;
    throw error;
  }
}

export function layoutOf(decl: RecordDecl, args: readonly TemplateArgument[] | null, env: Env): RecordLayout {
  let inner = env;
  let suffix = '';
  if (decl.template !== null) {
    inner = bindTemplate(decl.template, args ?? [], env);
    suffix = `<${decl.template.map((p) => { const t = inner.types.get(p.name); return t === undefined ? String(inner.values.get(p.name)?.value) : typeKey(t); }).join(',')}>`;
  }
  let byArguments = layouts.get(decl);
  if (byArguments === undefined) layouts.set(decl, byArguments = new Map());
  const known = byArguments.get(suffix);
  if (known !== undefined) return known;
  if (decl.specialised === true) throw new Unsupported(`class template ${decl.name} with specialisations`, decl.nameSpan, decl.file);
  if (!decl.complete) throw new Unsupported(`struct ${decl.name} is not defined here`, decl.nameSpan, decl.file);
  if (decl.overlaid === true) throw new Unsupported(`a union without a name in struct ${decl.name}`, decl.nameSpan, decl.file);
  const fields: FieldLayout[] = [];
  // Registered before its fields are known: a field may point to the record itself.
  const layout: { -readonly [K in keyof RecordLayout]: RecordLayout[K] } = { name: decl.name, decl, key: `${decl.name}@${decl.file}:${decl.span.start}${suffix}`, fields, size: 0, align: 1 };
  byArguments.set(suffix, layout);
  environments.set(layout, inner);
  try {
    layOut(decl, inner, fields, layout);
  } catch (error) {
    byArguments.delete(suffix);
    throw error;
  }
  return layout;
}

function layOut(decl: RecordDecl, inner: Env, fields: FieldLayout[], layout: { size: number; align: number }): void {
  let offset = 0;
  let align = 1;
  for (const base of decl.bases) {
    const b = resolve(base, inner);
    if (b.k !== 'record') throw new Unsupported(`base of struct ${decl.name}`, decl.nameSpan, decl.file);
    align = Math.max(align, b.layout.align);
    offset = Math.ceil(offset / b.layout.align) * b.layout.align;
    for (const field of b.layout.fields) fields.push({ ...field, offset: field.offset + offset });
    if (b.layout.fields.length > 0) offset += b.layout.size;
  }
  const start = offset;
  let size = offset;
  for (const field of decl.fields) {
    if (field.storage === 'static') continue;
    const type = resolve(field.type, inner);
    const a = alignOf(type);
    if (decl.sort === 'union') offset = start;
    offset = Math.ceil(offset / a) * a;
    fields.push({ name: field.name, decl: field, type, offset });
    offset += sizeOf(type);
    size = Math.max(size, offset);
    align = Math.max(align, a);
  }
  if (decl.vector !== null && decl.name !== 'dim3') {
    // CUDA aligns two- and four-lane vectors to their size, at most 16 bytes.
    if (decl.vector.lanes === 2 || decl.vector.lanes === 4) align = Math.min(16, size);
  }
  const stated = decl.alignment === null ? null : evaluate(decl.alignment, inner);
  if (stated !== null) align = Math.max(align, Number(stated.value));
  size = Math.max(1, Math.ceil(size / align) * align);
  layout.size = size;
  layout.align = align;
}

/** The environment in which a template's body is read. Defaults fill what `args` leaves out. */
export function bindTemplate(parameters: readonly TemplateParameterDecl[], args: readonly TemplateArgument[], env: Env): Env {
  const types = new Map(env.types);
  const values = new Map(env.values);
  const inner: Env = { types, values };
  for (const [index, parameter] of parameters.entries()) {
    const arg = args[index] ?? parameter.default;
    if (arg === null || arg === undefined) continue;
    bindArgument(parameter, arg, env, inner, types, values);
  }
  return inner;
}

function bindArgument(parameter: TemplateParameterDecl, arg: TemplateArgument, env: Env, inner: Env, types: Map<string, SimType>, values: Map<string, ConstantValue>): void {
  if (arg.kind === 'type') {
    if (parameter.sort === 'type') types.set(parameter.name, resolve(arg.type, { types: new Map([...inner.types, ...env.types]), values: new Map([...inner.values, ...env.values]) }));
    return;
  }
  const named = arg.value.kind === 'ref' ? arg.value.decl : null;
  if (named?.kind === 'function') {
    types.set(parameter.name, { k: 'callable', id: callableNumber(named) });
    return;
  }
  if (named?.kind === 'template-parameter') {
    const passed = env.types.get(named.name);
    if (passed?.k === 'callable') { types.set(parameter.name, passed); return; }
  }
  const value = evaluate(arg.value, env) ?? evaluate(arg.value, inner);
  if (value !== null && parameter.sort === 'value') values.set(parameter.name, value);
  if (parameter.sort === 'type') {
    // The grammar cannot tell a type name from a value: an expression that names one is a type.
    const type = typeNamed(arg.value, env);
    if (type !== null) types.set(parameter.name, type);
  }
}

function typeNamed(expr: Expr, env: Env): SimType | null {
  if (expr.kind !== 'ref' || expr.decl === null) return null;
  const decl = expr.decl;
  switch (decl.kind) {
    case 'record': return { k: 'record', layout: layoutOf(decl, null, env) };
    case 'typedef': return resolve(decl.type, env);
    case 'enum': return enumScalar(decl);
    case 'template-parameter': return env.types.get(decl.name) ?? null;
    case 'variable': case 'parameter': case 'function': case 'enumerator': return null;
  }
}

export function enumeratorExpr(decl: EnumeratorDecl): Expr | null {
  return decl.value;
}
