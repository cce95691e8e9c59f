/** Folding of constant expressions: array lengths, template values, enumerators, case labels, launch shapes. */
import { convert, fits, integer, INT32, INT64, operate, promote, UINT32, UINT64, wrap, type Integer, type IntegerOperator, type IntegerType } from '../cuda/integers.js';
import { toInteger } from '../cuda/floats.js';
import { memberScope } from '../syntax/scope.js';
import { strip, type Decl, type EnumeratorDecl, type Expr, type Type } from '../syntax/tree.js';
import { environmentOf, resolve, type Env } from './resolve.js';
import { alignOf, sizeOf, Unsupported, type RecordLayout, type Scalar } from './types.js';

/** Integers as bigint, floating values as number. */
export type ConstantValue =
  | { readonly kind: 'integer'; readonly value: bigint; readonly type: IntegerType }
  | { readonly kind: 'float'; readonly value: number; readonly format: 'half' | 'bfloat16' | 'float' | 'double' };

const of = (i: Integer): ConstantValue => ({ kind: 'integer', value: i.value, type: i.type });

/** In a type of its own: null where that is not known, unlike in a cast to `auto`. */
function asType(value: ConstantValue, type: Type, env: Env): ConstantValue | null {
  try {
    const t = resolve(type, env);
    return t.k === 'scalar' ? toScalar(value, t.s) : null;
  } catch (error) {
    if (error instanceof Unsupported) return null;
    throw error;
  }
}

/** The type of an enumerator is its enum's, not that of the value it was given; of a template's enum an instance tells it. */
function asEnum(value: ConstantValue, type: Type, env: Env, depth: number): ConstantValue | null {
  if (type.kind !== 'enum' || type.decl.uncertain !== 'values') return asType(value, type, env);
  const all = type.decl.enumerators.map((decl) => enumerator(decl, env, depth + 1));
  const found = [INT32, UINT32, INT64, UINT64].find((t) => all.every((one) => one?.kind === 'integer' && fits(one.value, t)));
  return found === undefined || value.kind !== 'integer' ? null : of(convert(value, found));
}

function sameFormat(a: ConstantValue | null, b: ConstantValue | null): boolean {
  if (a === null || b === null) return false;
  return a.kind === 'integer' ? b.kind === 'integer' && a.type.bits === b.type.bits && a.type.signed === b.type.signed : b.kind === 'float' && a.format === b.format;
}

/** Names known to the caller, over declarations (host variables of a launch). */
export type Lookup = (expr: Expr) => ConstantValue | null;

/** Null if it is not constant or rests on something undefined. */
export function evaluate(expr: Expr, env: Env, lookup: Lookup | null = null, depth = 0): ConstantValue | null {
  if (depth > 64) return null;
  const e = strip(expr);
  if (lookup !== null) {
    const given = lookup(e);
    if (given !== null) return given;
  }
  const go = (x: Expr): ConstantValue | null => evaluate(x, env, lookup, depth + 1);
  switch (e.kind) {
    case 'literal': return literal(e.value, e.type);
    case 'ref': {
      const decl = e.decl;
      if (decl === null) return null;
      if (decl.kind === 'template-parameter') {
        // `template <unsigned N>` with the argument 3: an unsigned number.
        const value = env.values.get(decl.name) ?? null;
        return value === null || decl.type === null ? value : castTo(value, decl.type, env);
      }
      if (decl.kind === 'enumerator') {
        const inner = e.scope === undefined ? env : scopeEnvironment(e.scope, decl, env);
        const value = enumerator(decl, inner, depth);
        return value === null ? null : asEnum(value, e.type, inner, depth);
      }
      if (decl.kind === 'variable' && decl.init !== null && (decl.constexpr || decl.type.const === true) && decl.space !== 'shared') {
        // `Tile<float>::size`: the initialiser is read with that record's template arguments.
        const inner = e.scope === undefined ? env : scopeEnvironment(e.scope, decl, env);
        const value = inner === env ? go(decl.init) : evaluate(decl.init, inner, null, depth + 1);
        return value === null ? null : castTo(value, decl.type, inner);
      }
      return null;
    }
    case 'unary': {
      const a = go(e.operand);
      if (a === null) return null;
      if (a.kind === 'float') return e.op === '-' ? { ...a, value: -a.value } : e.op === '+' ? a : e.op === '!' ? of(integer(a.value === 0 ? 1n : 0n, INT32)) : null;
      switch (e.op) {
        case '-': return of(operate('-', integer(0n, promote(a.type)), a));
        case '+': return of(convert(a, promote(a.type)));
        case '~': return of(operate('^', a, integer(-1n, promote(a.type))));
        case '!': return of(integer(a.value === 0n ? 1n : 0n, INT32));
        case '*': case '&': return null;
      }
      return null;
    }
    case 'binary': {
      if (e.op === ',') return go(e.right);
      const a = go(e.left);
      if (a === null) return null;
      if (e.op === '&&' || e.op === '||') {
        const left = truthy(a);
        if (left === (e.op === '||')) return of(integer(left ? 1n : 0n, INT32));
        const right = go(e.right);
        return right === null ? null : of(integer(truthy(right) ? 1n : 0n, INT32));
      }
      const b = go(e.right);
      if (b === null) return null;
      if (a.kind === 'float' || b.kind === 'float') return floating(e.op, a, b);
      const result = operate(e.op as IntegerOperator, a, b);
      return result.undefinedBecause === null ? of(result) : null;
    }
    case 'conditional': {
      const c = go(e.condition);
      if (c === null) return null;
      const [then, otherwise] = [go(e.then), go(e.else)];
      const chosen = truthy(c) ? then : otherwise;
      if (chosen === null || sameFormat(then, otherwise)) return chosen;
      return asType(chosen, e.type, env);
    }
    case 'cast': {
      const a = go(e.operand);
      return a === null ? null : castTo(a, e.type, env);
    }
    case 'construct': {
      const [only] = e.arguments;
      if (only === undefined || e.arguments.length !== 1) return null;
      const a = go(only);
      return a === null ? null : castTo(a, e.type, env);
    }
    case 'init-list': {
      const [only] = e.elements;
      return only !== undefined && e.elements.length === 1 ? go(only) : null;
    }
    case 'sizeof': {
      try {
        const type = e.of ?? e.operand?.type ?? null;
        if (type === null) return null;
        const t = resolve(type, env);
        return of(integer(BigInt(e.alignof ? alignOf(t) : sizeOf(t)), UINT64));
      } catch (error) {
        if (error instanceof Unsupported) return null;
        throw error;
      }
    }
    case 'call': {
      if (e.callee.kind === 'function') return constantFunction(e, env, depth);
      if (e.callee.kind !== 'builtin') return null;
      const values = e.arguments.map(go);
      const [a, b] = values;
      if (a === undefined || a === null || b === undefined || b === null || a.kind !== 'integer' || b.kind !== 'integer' || values.length !== 2) return null;
      if (e.callee.name === 'min' || e.callee.name === 'max') {
        const [x, y] = [asType(a, e.type, env), asType(b, e.type, env)];
        if (x?.kind !== 'integer' || y?.kind !== 'integer') return null;
        return of(operate('<', x, y).value === 1n === (e.callee.name === 'min') ? x : y);
      }
      return null;
    }
    case 'coordinate': return e.base === 'warpSize' ? of(integer(32n, INT32)) : null;
    default: return null;
  }
}

/** `constexpr int tile() { return 32; }`: functions without parameters whose body is one return. */
function constantFunction(e: Extract<Expr, { kind: 'call' }>, env: Env, depth: number): ConstantValue | null {
  if (e.callee.kind !== 'function' || e.arguments.length > 0) return null;
  const [decl, other] = e.callee.candidates;
  if (decl === undefined || other !== undefined || !decl.qualifiers.constexpr || decl.template !== null || decl.owner !== null || decl.body === null) return null;
  const [only, more] = decl.body.body;
  if (only?.kind !== 'return' || only.value === null || more !== undefined) return null;
  const value = evaluate(only.value, env, null, depth + 1);
  return value === null ? null : castTo(value, decl.returns, env);
}

/** The template arguments that a member of `scope` was declared under: those of the base that it comes from. */
export function scopeEnvironment(scope: Type, decl: Decl, env: Env): Env {
  try {
    const t = resolve(scope, env);
    if (t.k !== 'record') return env;
    const owner = memberScope(t.layout.decl)?.values.get(decl.name) === decl ? t.layout : baseWith(t.layout, decl, 0);
    return environmentOf(owner ?? t.layout);
  } catch (error) {
    if (error instanceof Unsupported) return env;
    throw error;
  }
}

function baseWith(layout: RecordLayout, decl: Decl, depth: number): RecordLayout | null {
  if (depth > 16) return null;
  for (const base of layout.decl.bases) {
    const t = resolve(base, environmentOf(layout));
    if (t.k !== 'record') continue;
    if (memberScope(t.layout.decl)?.values.get(decl.name) === decl) return t.layout;
    const found = baseWith(t.layout, decl, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

function truthy(v: ConstantValue): boolean {
  return v.kind === 'integer' ? v.value !== 0n : v.value !== 0;
}

/** The value of an enumerator, in the type of what it was given. */
export function enumeratorValue(decl: EnumeratorDecl, env: Env): ConstantValue | null {
  return enumerator(decl, env, 0);
}

function enumerator(decl: EnumeratorDecl, env: Env, depth: number): ConstantValue | null {
  // Walk back to the last enumerator with a value of its own.
  let steps = 0n;
  let at: EnumeratorDecl | null = decl;
  while (at !== null) {
    if (at.value !== null) {
      const base = evaluate(at.value, env, null, depth + 1);
      return base === null || base.kind !== 'integer' ? null : { ...base, value: base.value + steps };
    }
    if (at.previous === null) return of(integer(steps, INT32));
    at = at.previous;
    steps++;
  }
  return null;
}

function literal(value: bigint | number | boolean | string | null, type: Type): ConstantValue | null {
  if (typeof value === 'bigint') return type.kind === 'int' ? of(integer(value, type)) : of(integer(value, INT64));
  if (typeof value === 'boolean') return of(integer(value ? 1n : 0n, INT32));
  if (typeof value === 'number') return { kind: 'float', value, format: type.kind === 'float' ? type.format : 'double' };
  return null;
}

const RANK = { half: 0, bfloat16: 0, float: 1, double: 2 } as const;

function floating(op: string, a: ConstantValue, b: ConstantValue): ConstantValue | null {
  const format = a.kind === 'float' ? (b.kind === 'float' && RANK[b.format] > RANK[a.format] ? b.format : a.format) : b.kind === 'float' ? b.format : 'double';
  const round = (x: number): number => (format === 'double' ? x : Math.fround(x));
  const x = round(Number(a.value));
  const y = round(Number(b.value));
  const bool = (holds: boolean): ConstantValue => of(integer(holds ? 1n : 0n, INT32));
  switch (op) {
    case '+': return { kind: 'float', value: round(x + y), format };
    case '-': return { kind: 'float', value: round(x - y), format };
    case '*': return { kind: 'float', value: round(x * y), format };
    case '/': return { kind: 'float', value: round(x / y), format };
    case '<': return bool(x < y);
    case '<=': return bool(x <= y);
    case '>': return bool(x > y);
    case '>=': return bool(x >= y);
    case '==': return bool(x === y);
    case '!=': return bool(x !== y);
    default: return null;
  }
}

function castTo(value: ConstantValue, type: Type, env: Env): ConstantValue | null {
  try {
    const t = resolve(type, env);
    if (t.k === 'reference') return t.to.k === 'scalar' ? toScalar(value, t.to.s) : null;
    return t.k === 'scalar' ? toScalar(value, t.s) : null;
  } catch (error) {
    // `auto` and other types that syntax does not tell: the value as it is.
    if (error instanceof Unsupported) return value;
    throw error;
  }
}

export function integerTypeOf(s: Scalar): IntegerType | null {
  switch (s) {
    case 'i8': return { bits: 8, signed: true };
    case 'u8': return { bits: 8, signed: false };
    case 'i16': return { bits: 16, signed: true };
    case 'u16': return { bits: 16, signed: false };
    case 'i32': return INT32;
    case 'u32': return { bits: 32, signed: false };
    case 'i64': return INT64;
    case 'u64': return UINT64;
    case 'bool': case 'f16': case 'bf16': case 'f32': case 'f64': return null;
  }
}

export function toScalar(value: ConstantValue, s: Scalar): ConstantValue {
  if (s === 'bool') return of(integer(truthy(value) ? 1n : 0n, INT32));
  const type = integerTypeOf(s);
  if (type !== null) return of({ value: value.kind === 'integer' ? wrap(value.value, type) : toInteger(value.value, type), type });
  const format = s === 'f16' ? 'half' : s === 'bf16' ? 'bfloat16' : s === 'f32' ? 'float' : 'double';
  const x = Number(value.value);
  return { kind: 'float', value: s === 'f64' ? x : Math.fround(x), format };
}
