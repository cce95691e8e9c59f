/**
 * Enums: what their enumerators are worth and, from that, which type computes with them.
 *
 *   enum Size : unsigned { LIMIT = 3 };      `i - 1 < LIMIT` compares without signs
 *   enum { ALL = 0xFFFFFFFF, LIMIT = 3 };    so does this: `int` does not hold all of its values
 *   enum { N = sizeof(T) };                  of a template: not known
 *
 * Source: ISO C++ [dcl.enum], [conv.prom]; g++ and nvcc agree. Up to the closing brace an enumerator has the type of its value, or the fixed one.
 */
import { fits, maximum, minimum, INT32, INT64, UINT32, UINT64 } from '../cuda/integers.js';
import { fieldChild, type Cst } from './cst.js';
import type { Lowering, Mutable } from './context.js';
import { constantInteger } from './enum-values.js';
import { lowerExpression } from './lower-expression.js';
import { includeIn } from './lower-include.js';
import { lowerType } from './lower-type.js';
import { Scope, setScopedEnum } from './scope.js';
import type { EnumDecl, EnumeratorDecl, Expr, IntType, Type } from './tree.js';
import { INT, UNKNOWN, enumType, promote, unqualified } from './types.js';

/** What is known of one enumerator: its value, and the type that it has up to the closing brace. */
interface Known { readonly value: bigint | null; readonly type: Type }

interface OpenEnum extends Mutable<EnumDecl> { enumerators: EnumeratorDecl[] }

/** Types of enumerators whose enum is not closed yet. */
const open = new WeakMap<EnumeratorDecl, Type>();

/** The type of an expression that names an enumerator, where lowering stands. */
export function enumeratorType(decl: EnumeratorDecl): Type {
  return open.get(decl) ?? (decl.enumeration === undefined ? UNKNOWN : enumType(decl.enumeration));
}

/** Declares an enum; the enumerators of an unscoped one are visible beside it. A definition completes what was declared before it. */
export function lowerEnum(ctx: Lowering, node: Cst): EnumDecl | null {
  const nameNode = fieldChild(node, 'name');
  const body = fieldChild(node, 'body');
  const name = nameNode === null ? '' : ctx.slice(nameNode);
  if (body === null) {
    const known = name === '' ? null : ctx.unit.lookup.lookupType(ctx.scope, name);
    if (known?.kind === 'enum') return known;
  }
  const declared = name === '' ? undefined : ctx.scope.types.get(name);
  const earlier = declared?.kind === 'enum' && declared.enumerators.length === 0 ? declared : null;
  const base = fieldChild(node, 'base');
  const scoped = node.children.some((child) => child.type === 'class' || child.type === 'struct');
  const fixed = base === null ? (scoped ? INT : null) : unqualified(lowerType(ctx, base));
  const decl: OpenEnum = {
    kind: 'enum', name, span: ctx.span(node), nameSpan: ctx.span(nameNode ?? node), file: ctx.unit.file,
    underlying: fixed?.kind === 'int' ? fixed : INT, enumerators: [],
    ...(scoped ? { scoped: true } : {}),
    // Without a body and a type it is no declaration of C++'s; attributes (`packed`) may change its size; `: bool` turns 2 into 1 by the standard and into 0 in compilers.
    ...((fixed === null ? body === null : fixed.kind !== 'int') || hasAttributes(node) ? { uncertain: 'form' } : {}),
  };
  const made: OpenEnum = earlier === null ? decl : completed(earlier as OpenEnum, decl);
  ctx.declare(made);
  if (body !== null) {
    const scope = scoped ? new Scope('block', ctx.scope, '', null) : ctx.scope;
    const known = ctx.inScope(scope, () => enumerators(ctx, body, made, fixed));
    if (fixed === null && made.uncertain === undefined) conclude(made, known);
    for (const enumerator of made.enumerators) open.delete(enumerator);
  }
  return made;
}

/** What was declared without its enumerators is the same enum. */
function completed(earlier: OpenEnum, decl: OpenEnum): OpenEnum {
  delete earlier.uncertain;
  return Object.assign(earlier, decl);
}

/** `enum __attribute__((packed)) E`, `enum [[gnu::packed]] E`. */
function hasAttributes(node: Cst): boolean {
  return node.children.some((child) => child.type.startsWith('attribute') || child.type.startsWith('ms_') || child.type === 'ERROR');
}

function enumerators(ctx: Lowering, body: Cst, decl: OpenEnum, fixed: Type | null): readonly Known[] {
  const all: Known[] = [];
  let last: Known | null = { value: -1n, type: INT };
  // After what was not understood the next value is not the previous one plus one.
  let lost = false;
  let before = body.start;
  for (const child of body.children) {
    if (includeIn(ctx, before, child.start)) { lost = true; all.push({ value: null, type: UNKNOWN }); }
    before = child.end;
    const nameNode = child.type === 'enumerator' ? fieldChild(child, 'name') : null;
    if (nameNode === null || expandsToMore(ctx, nameNode)) {
      if (child.named ? child.type !== 'comment' : child.type === 'ERROR') { lost = true; all.push({ value: null, type: UNKNOWN }); }
      continue;
    }
    const valueNode = fieldChild(child, 'value');
    const value: Expr | null = valueNode !== null ? lowerExpression(ctx, valueNode) : lost ? ctx.opaque(child, 'enumerator after something that was not understood') : null;
    lost = false;
    const enumerator: EnumeratorDecl = {
      kind: 'enumerator', name: ctx.slice(nameNode), span: ctx.span(child), nameSpan: ctx.span(nameNode), file: ctx.unit.file, enumName: decl.name, enumeration: decl,
      value, index: decl.enumerators.length, previous: decl.enumerators.at(-1) ?? null,
    };
    last = value === null ? next(last) : given(value);
    open.set(enumerator, fixed ?? last.type);
    all.push(last);
    decl.enumerators.push(enumerator);
    ctx.declare(enumerator);
    if (decl.scoped === true) setScopedEnum(enumerator, decl);
  }
  return all;
}

/** The name is a macro that stands for something else: `NAMES` for `A, B, C`. */
function expandsToMore(ctx: Lowering, nameNode: Cst): boolean {
  const macro = ctx.unit.macros.get(ctx.slice(nameNode));
  return macro !== undefined && (macro.parameters !== null || macro.body.trim() !== macro.name);
}

function given(value: Expr): Known {
  const type = unqualified(value.type);
  return { value: constantInteger(value), type: type.kind === 'enum' && type.decl.scoped !== true ? promote(type) : type };
}

/** The previous one plus one, in the first wider type that holds it. */
function next(previous: Known): Known {
  if (previous.value === null) return { value: null, type: UNKNOWN };
  const value = previous.value + 1n;
  const type = previous.type.kind === 'int' && fits(value, previous.type) ? previous.type : typeHolding([value]);
  return { value, type: type ?? UNKNOWN };
}

function typeHolding(values: readonly bigint[]): IntType | null {
  for (const type of [INT32, UINT32, INT64, UINT64]) if (values.every((value) => fits(value, type))) return { kind: 'int', ...type };
  return null;
}

/** The type of an enum of which none is fixed. */
function conclude(decl: OpenEnum, known: readonly Known[]): void {
  const values: bigint[] = [];
  for (const { value, type } of known) {
    if (value !== null) values.push(value);
    else if (isWithinInt(type)) values.push(minimum(INT32), maximum(INT32));
    else decl.uncertain = 'values';
  }
  const type = typeHolding(values);
  // What is known only to be some `int` widens no enum that holds more by itself.
  if (type === null || (known.some(({ value }) => value === null) && !(type.bits === 32 && type.signed))) decl.uncertain = 'values';
  else decl.underlying = type;
}

function isWithinInt(type: Type): boolean {
  const promoted = promote(type);
  return promoted.kind === 'int' && promoted.bits === 32 && promoted.signed;
}
