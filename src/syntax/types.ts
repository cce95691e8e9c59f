/**
 * Types of C++ as syntax tells them: constructors, printing, comparison, the usual arithmetic conversions, substitution of
 * template arguments. Sizes are those of nvcc's hosts (LP64: `long` has 64 bits, `wchar_t` 32, `char` is signed).
 */
import type {
  DependentType, EnumDecl, Expr, FloatType, IntType, PointerType, RecordDecl, ReferenceType, TemplateArgument, TemplateParameterDecl, Type,
  UnknownType,
} from './tree.js';
import { unreachable } from './tree.js';

export const VOID: Type = { kind: 'void' };
export const BOOL: Type = { kind: 'bool' };
export const CHAR: IntType = { kind: 'int', bits: 8, signed: true };
export const UCHAR: IntType = { kind: 'int', bits: 8, signed: false };
export const SHORT: IntType = { kind: 'int', bits: 16, signed: true };
export const USHORT: IntType = { kind: 'int', bits: 16, signed: false };
export const INT: IntType = { kind: 'int', bits: 32, signed: true };
export const UINT: IntType = { kind: 'int', bits: 32, signed: false };
export const LONG: IntType = { kind: 'int', bits: 64, signed: true };
export const ULONG: IntType = { kind: 'int', bits: 64, signed: false };
export const SCHAR: IntType = { ...CHAR, named: 'signed char' };
export const LONGLONG: IntType = { ...LONG, named: 'long long' };
export const ULONGLONG: IntType = { ...ULONG, named: 'long long' };
export const WCHAR: IntType = { ...INT, named: 'wchar_t' };
export const CHAR8: IntType = { ...UCHAR, named: 'char8_t' };
export const CHAR16: IntType = { ...USHORT, named: 'char16_t' };
export const CHAR32: IntType = { ...UINT, named: 'char32_t' };
export const HALF: FloatType = { kind: 'float', format: 'half' };
export const BFLOAT16: FloatType = { kind: 'float', format: 'bfloat16' };
export const FLOAT: FloatType = { kind: 'float', format: 'float' };
export const DOUBLE: FloatType = { kind: 'float', format: 'double' };
/** No name explains it and no text stands for it. */
export const UNKNOWN: UnknownType = { kind: 'unknown', text: '' };

export function unknownType(text: string): UnknownType {
  return text === '' ? UNKNOWN : { kind: 'unknown', text };
}

export function pointerTo(to: Type): PointerType {
  return { kind: 'pointer', to };
}

export function referenceTo(to: Type, rvalue: boolean): ReferenceType {
  return rvalue ? { kind: 'reference', to, rvalue: true } : { kind: 'reference', to };
}

export function dependentType(decl: TemplateParameterDecl | null, text: string): DependentType {
  return { kind: 'dependent', decl, text };
}

/** Names that need no declaration: fundamental types, <cstdint>, <cstddef>, CUDA's scalar types. */
const NAMED = new Map<string, Type>([
  ['void', VOID], ['bool', BOOL], ['_Bool', BOOL], ['char', CHAR], ['short', SHORT], ['int', INT], ['long', LONG], ['float', FLOAT], ['double', DOUBLE],
  ['signed', INT], ['unsigned', UINT], ['wchar_t', WCHAR], ['char8_t', CHAR8], ['char16_t', CHAR16], ['char32_t', CHAR32],
  ['int8_t', SCHAR], ['uint8_t', UCHAR], ['int16_t', SHORT], ['uint16_t', USHORT], ['int32_t', INT], ['uint32_t', UINT],
  ['int64_t', LONG], ['uint64_t', ULONG],
  ['int_fast8_t', SCHAR], ['uint_fast8_t', UCHAR], ['int_fast16_t', LONG], ['uint_fast16_t', ULONG], ['int_fast32_t', LONG], ['uint_fast32_t', ULONG],
  ['int_fast64_t', LONG], ['uint_fast64_t', ULONG], ['int_least8_t', SCHAR], ['uint_least8_t', UCHAR], ['int_least16_t', SHORT],
  ['uint_least16_t', USHORT], ['int_least32_t', INT], ['uint_least32_t', UINT], ['int_least64_t', LONG], ['uint_least64_t', ULONG],
  ['intptr_t', LONG], ['uintptr_t', ULONG], ['intmax_t', LONG], ['uintmax_t', ULONG], ['ptrdiff_t', LONG], ['ssize_t', LONG], ['size_t', ULONG],
  ['uint', UINT], ['ushort', USHORT], ['ulong', ULONG], ['u_char', UCHAR], ['u_int', UINT], ['clock_t', LONG], ['time_t', LONG],
  ['half', HALF], ['__half', HALF], ['nv_bfloat16', BFLOAT16], ['__nv_bfloat16', BFLOAT16],
  ['nullptr_t', pointerTo(VOID)], ['cudaTextureObject_t', ULONGLONG], ['cudaSurfaceObject_t', ULONGLONG],
]);

/** The type a name has without any declaration, or null. `std::` may stand before the names of the standard headers. */
export function namedType(name: string): Type | null {
  return NAMED.get(name) ?? null;
}

const SIZE_WORDS: ReadonlySet<string> = new Set(['unsigned', 'signed', 'long', 'short', 'int', 'char', 'double', 'const', 'volatile']);

/** `unsigned long long`, `short int`, …: the words in any order. Null if they make no type, or one with a name of its own (`unsigned __int128`). */
export function sizedType(words: readonly string[]): Type | null {
  if (!words.every((word) => SIZE_WORDS.has(word))) return null;
  const count = (word: string): number => words.filter((w) => w === word).length;
  const longs = count('long');
  const unsigned = count('unsigned') > 0;
  if (count('char') > 0) return unsigned ? UCHAR : count('signed') > 0 ? SCHAR : CHAR;
  if (count('double') > 0) return DOUBLE;
  if (count('short') > 0) return unsigned ? USHORT : SHORT;
  if (longs > 1) return unsigned ? ULONGLONG : LONGLONG;
  if (longs > 0) return unsigned ? ULONG : LONG;
  if (unsigned) return UINT;
  if (count('int') > 0 || count('signed') > 0) return INT;
  return null;
}

/** The same type with qualifiers added. */
export function qualify(type: Type, added: { const?: boolean; volatile?: boolean }): Type {
  if (added.const !== true && added.volatile !== true) return type;
  if (added.volatile !== true && (type.kind === 'int' || type.kind === 'float' || type.kind === 'bool')) return constant(type);
  return {
    ...type,
    ...(added.const === true ? { const: true as const } : {}),
    ...(added.volatile === true ? { volatile: true as const } : {}),
  };
}

/** Of types with qualifiers those without: asked for at each place where a value of the type is used. */
const plainTypes = new WeakMap<Type, Type>();
/** By the type without it. There are few types of numbers, and each is one object. */
const constants = new WeakMap<Type, Type>();

function constant(type: Type): Type {
  const known = constants.get(type);
  if (known !== undefined) return known;
  const made: Type = { ...type, const: true };
  constants.set(type, made);
  if (type.const !== true && type.volatile !== true) plainTypes.set(made, type);
  return made;
}

/** The same type without `const` and `volatile` at its top. */
export function unqualified(type: Type): Type {
  if (type.const !== true && type.volatile !== true) return type;
  const known = plainTypes.get(type);
  if (known !== undefined) return known;
  const { const: _const, volatile: _volatile, ...rest } = type;
  plainTypes.set(type, rest);
  return rest;
}

/** What a cast notes of a type that is written as a reference. */
export function referenceCast(type: Type): { readonly reference?: 'lvalue' | 'rvalue' } {
  return type.kind === 'reference' ? { reference: type.rvalue === true ? 'rvalue' : 'lvalue' } : {};
}

/** References removed (the type of an expression that names the object). */
export function stripReference(type: Type): Type {
  let t = type;
  while (t.kind === 'reference') t = t.to;
  return t;
}

/** Array to pointer, function to pointer, top-level qualifiers dropped: the type of a value. */
export function decay(type: Type): Type {
  const t = stripReference(type);
  if (t.kind === 'array') return pointerTo(t.of);
  if (t.kind === 'function') return pointerTo(t);
  return unqualified(t);
}

export function isArithmetic(type: Type): boolean {
  return type.kind === 'int' || type.kind === 'float' || type.kind === 'bool' || type.kind === 'enum';
}

/** What values of an enum are before any promotion; null where that is not known. */
export function enumValues(decl: EnumDecl): IntType | null {
  return decl.uncertain === undefined ? decl.underlying : null;
}

/** Integral promotion. Types that are not integral come back as they are: scoped enums too. */
export function promote(type: Type): Type {
  const t = unqualified(stripReference(type));
  switch (t.kind) {
    case 'bool': return INT;
    case 'int': return t.bits < 32 ? INT : t.bits === 32 && t.named !== undefined ? t.signed ? INT : UINT : t;
    case 'enum': {
      if (t.decl.scoped === true) return t;
      const values = enumValues(t.decl);
      return values === null ? unknownType(t.decl.name) : promote(values);
    }
    default: return t;
  }
}

const FLOAT_RANK = { half: 0, bfloat16: 0, float: 1, double: 2 };

/** The usual arithmetic conversions; `unknown` if an operand is not arithmetic, `dependent` if one is. */
export function arithmeticType(left: Type, right: Type): Type {
  const a = promote(left);
  const b = promote(right);
  if (a.kind === 'dependent') return b.kind === 'dependent' && b.text === a.text ? a : dependentType(null, '');
  if (b.kind === 'dependent') return dependentType(null, '');
  if (a.kind === 'float' && b.kind === 'float') {
    if (a.format === b.format) return a;
    if (FLOAT_RANK[a.format] === FLOAT_RANK[b.format]) return UNKNOWN;
    return FLOAT_RANK[a.format] > FLOAT_RANK[b.format] ? a : b;
  }
  if (a.kind === 'float' && b.kind === 'int') return a;
  if (b.kind === 'float' && a.kind === 'int') return b;
  if (a.kind === 'int' && b.kind === 'int') {
    if (a.bits !== b.bits) return a.bits > b.bits ? a : b;
    return a.bits === 64 ? wider(a, b) : a.signed ? b : a;
  }
  return UNKNOWN;
}

/** Of two types of 64 bits: `long long` comes after `long`, and a result is unsigned where one of them is. */
function wider(a: IntType, b: IntType): IntType {
  const unsigned = !a.signed || !b.signed;
  const named = a.named === 'long long' ? a.named : b.named ?? a.named;
  if (a.named === named && a.signed !== unsigned) return a;
  if (b.named === named && b.signed !== unsigned) return b;
  return { ...(unsigned ? ULONG : LONG), ...(named === undefined ? {} : { named }) };
}

/** Of integers that are alike in bits and sign: true where one of them may be any such type. */
function sameName(a: IntType, b: IntType): boolean {
  return a.named === b.named || a.named === 'uncertain' || b.named === 'uncertain';
}

/** Equal up to top-level qualifiers; two unknown types are never equal. */
export function sameType(left: Type, right: Type): boolean {
  switch (left.kind) {
    case 'void': return right.kind === 'void';
    case 'bool': return right.kind === 'bool';
    case 'int': return right.kind === 'int' && left.bits === right.bits && left.signed === right.signed && sameName(left, right);
    case 'float': return right.kind === 'float' && left.format === right.format;
    case 'pointer': return right.kind === 'pointer' && (left.to.const ?? false) === (right.to.const ?? false) && sameType(left.to, right.to);
    case 'reference': return right.kind === 'reference' && sameType(left.to, right.to);
    case 'array': return right.kind === 'array' && sameType(left.of, right.of);
    case 'record': return right.kind === 'record' && left.decl === right.decl && sameArguments(left.templateArguments, right.templateArguments);
    case 'enum': return right.kind === 'enum' && left.decl === right.decl;
    case 'function':
      return right.kind === 'function' && sameType(left.returns, right.returns) && left.parameters.length === right.parameters.length
        && left.parameters.every((p, i) => sameType(p, right.parameters[i] ?? UNKNOWN));
    case 'dependent': return right.kind === 'dependent' && left.decl !== null && left.decl === right.decl && left.text === right.text;
    case 'unknown': return false;
    default: return unreachable(left);
  }
}

function sameArguments(left: readonly TemplateArgument[] | undefined, right: readonly TemplateArgument[] | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  if (left.length !== right.length) return false;
  return left.every((a, i) => {
    const b = right[i];
    if (b === undefined || a.kind !== b.kind) return false;
    if (a.kind === 'type') return b.kind === 'type' && sameType(a.type, b.type);
    return b.kind === 'value' && sameConstant(a.value, b.value);
  });
}

function sameConstant(a: Expr, b: Expr): boolean {
  if (a.kind === 'literal' && b.kind === 'literal') return a.value === b.value;
  if (a.kind === 'ref' && b.kind === 'ref') return a.decl !== null && a.decl === b.decl;
  return false;
}

/** What template parameters stand for. */
export type Bindings = ReadonlyMap<TemplateParameterDecl, TemplateArgument>;

/** Pairs the parameters of a template with given arguments (defaults filled in). */
export function bindings(parameters: readonly TemplateParameterDecl[], given: readonly TemplateArgument[]): Bindings {
  const bound = new Map<TemplateParameterDecl, TemplateArgument>();
  parameters.forEach((parameter, i) => {
    const argument = parameter.pack ? null : given[i] ?? parameter.default;
    if (argument !== null) bound.set(parameter, argument);
  });
  return bound;
}

/** `type` with template parameters replaced by what they are bound to. */
export function substitute(type: Type, bound: Bindings): Type {
  if (bound.size === 0) return type;
  switch (type.kind) {
    case 'dependent': {
      const argument = type.decl === null ? undefined : bound.get(type.decl);
      if (argument === undefined || argument.kind !== 'type' || type.text !== type.decl?.name) return type;
      return qualify(argument.type, { const: type.const ?? false, volatile: type.volatile ?? false });
    }
    case 'pointer': case 'reference': {
      const to = substitute(type.to, bound);
      return to === type.to ? type : { ...type, to };
    }
    case 'array': {
      const of = substitute(type.of, bound);
      return of === type.of ? type : { ...type, of };
    }
    case 'function':
      return { ...type, returns: substitute(type.returns, bound), parameters: type.parameters.map((p) => substitute(p, bound)) };
    case 'record':
      if (type.templateArguments === undefined) return type;
      return {
        ...type,
        templateArguments: type.templateArguments.map((a) => (a.kind === 'type' ? { kind: 'type', type: substitute(a.type, bound) } : a)),
      };
    default: return type;
  }
}

export function recordType(decl: RecordDecl, templateArguments?: readonly TemplateArgument[]): Type {
  return templateArguments === undefined ? { kind: 'record', decl } : { kind: 'record', decl, templateArguments };
}

export function enumType(decl: EnumDecl): Type {
  return { kind: 'enum', decl };
}

const INT_NAMES: Record<number, string> = { 8: 'char', 16: 'short', 32: 'int', 64: 'long' };

function printInteger({ bits, signed, named }: IntType): string {
  if (named !== undefined && named !== 'long long' && named !== 'uncertain') return named;
  const name = bits === 64 && named !== undefined ? 'long long' : INT_NAMES[bits] ?? 'int';
  return signed ? name : `unsigned ${name}`;
}

/** A type in C++'s spelling (arrays and functions after a space, as in casts). */
export function printType(type: Type): string {
  const q = `${type.const === true ? 'const ' : ''}${type.volatile === true ? 'volatile ' : ''}`;
  switch (type.kind) {
    case 'void': return `${q}void`;
    case 'bool': return `${q}bool`;
    case 'int': return q + printInteger(type);
    case 'float': return q + (type.format === 'bfloat16' ? '__nv_bfloat16' : type.format);
    case 'pointer': {
      const suffix = `${type.const === true ? ' const' : ''}${type.volatile === true ? ' volatile' : ''}${type.restrict === true ? ' __restrict__' : ''}`;
      return `${printType(type.to)} *${suffix.trimStart()}`;
    }
    case 'reference': return `${printType(type.to)} ${type.rvalue === true ? '&&' : '&'}`;
    case 'array': return `${printType(type.of)} [${type.length?.kind === 'literal' ? String(type.length.value) : ''}]`;
    case 'record': return q + type.decl.name + (type.templateArguments === undefined ? '' : printArguments(type.templateArguments));
    case 'enum': return q + (type.decl.name === '' ? '<unnamed enum>' : type.decl.name);
    case 'function': return `${printType(type.returns)} (${type.parameters.map(printType).join(', ')})`;
    case 'dependent': return q + (type.text === '' ? '<dependent>' : type.text);
    case 'unknown': return q + (type.text === '' ? '<unknown>' : type.text);
    default: return unreachable(type);
  }
}

export function printArguments(args: readonly TemplateArgument[]): string {
  return `<${args.map((a) => (a.kind === 'type' ? printType(a.type) : a.value.kind === 'literal' ? String(a.value.value) : '…')).join(', ')}>`;
}
