/** Values of the constant expressions that enumerators are given: as far as an enum's type hangs on them. Null for what is not known. */
import { commonType, convert, fits, integer, operate, promote, wrap, INT32, UINT64, type Integer, type IntegerType } from '../cuda/integers.js';
import { strip, type EnumeratorDecl, type Expr, type Type } from './tree.js';
import { enumValues } from './types.js';

const MAX_DEPTH = 64;

export function constantInteger(expr: Expr): bigint | null {
  return valueOf(expr, 0)?.value ?? null;
}

function integerType(type: Type): IntegerType | null {
  switch (type.kind) {
    case 'int': return { bits: type.bits, signed: type.signed };
    case 'bool': return { bits: 8, signed: false };
    case 'enum': {
      const values = enumValues(type.decl);
      return values === null ? null : integerType(values);
    }
    case 'reference': return integerType(type.to);
    default: return null;
  }
}

function converted(value: Integer | null, type: Type): Integer | null {
  const target = integerType(type);
  if (value === null || target === null) return null;
  return type.kind === 'bool' ? integer(value.value === 0n ? 0n : 1n, target) : convert(value, target);
}

function valueOf(written: Expr, depth: number): Integer | null {
  if (depth > MAX_DEPTH) return null;
  if (written.kind === 'macro') return written.definition.ambiguous ? null : valueOf(written.expanded, depth + 1);
  if (written.kind === 'paren') return valueOf(written.inner, depth + 1);
  const e = written;
  switch (e.kind) {
    case 'literal': {
      const type = integerType(e.type);
      if (typeof e.value === 'boolean') return integer(e.value ? 1n : 0n, INT32);
      return typeof e.value === 'bigint' && type !== null ? { value: wrap(e.value, type), type } : null;
    }
    case 'ref': {
      if (e.decl?.kind === 'enumerator') return converted(enumerator(e.decl, depth), e.type);
      if (e.decl?.kind !== 'variable' || e.decl.opaqueInit || e.decl.init === null || e.decl.storage === 'member' || e.decl.type.volatile === true) return null;
      if (!e.decl.constexpr && e.decl.type.const !== true) return null;
      return converted(valueOf(e.decl.init, depth + 1), e.decl.type);
    }
    case 'unary': {
      const operand = valueOf(e.operand, depth + 1);
      if (operand === null) return null;
      const type = promote(operand.type);
      if (e.op === '+') return convert(operand, type);
      if (e.op === '~') return { value: wrap(~operand.value, type), type };
      if (e.op === '!') return integer(operand.value === 0n ? 1n : 0n, INT32);
      return e.op === '-' ? defined(operate('-', integer(0n, type), operand)) : null;
    }
    case 'binary': return binary(e, depth);
    case 'conditional': {
      const condition = valueOf(e.condition, depth + 1);
      return condition === null ? null : converted(valueOf(condition.value !== 0n ? e.then : e.else, depth + 1), e.type);
    }
    case 'cast': {
      const operand = strip(e.operand);
      if (operand.kind !== 'literal' || typeof operand.value !== 'number') return converted(valueOf(operand, depth + 1), e.type);
      const type = integerType(e.type);
      const whole = Number.isFinite(operand.value) ? BigInt(Math.trunc(operand.value)) : null;
      return type === null || whole === null || e.type.kind === 'bool' || !fits(whole, type) ? null : { value: whole, type };
    }
    case 'construct': {
      const [only, another] = e.arguments;
      return only === undefined || another !== undefined ? null : converted(valueOf(only, depth + 1), e.type);
    }
    case 'sizeof': {
      const size = e.alignof ? null : sizeOf(e.of ?? e.operand?.type ?? null);
      return size === null ? null : integer(size, UINT64);
    }
    default: return null;
  }
}

function defined(result: ReturnType<typeof operate>): Integer | null {
  return result.undefinedBecause === null ? result : null;
}

function binary(e: Extract<Expr, { kind: 'binary' }>, depth: number): Integer | null {
  const left = valueOf(e.left, depth + 1);
  if (left === null) return null;
  if (e.op === '&&' || e.op === '||') {
    const decided = e.op === '||';
    if ((left.value !== 0n) === decided) return integer(decided ? 1n : 0n, INT32);
    const right = valueOf(e.right, depth + 1);
    return right === null ? null : integer(right.value !== 0n ? 1n : 0n, INT32);
  }
  const right = valueOf(e.right, depth + 1);
  if (right === null) return null;
  return e.op === ',' ? right : defined(operate(e.op, left, right));
}

/** Long enums are chains of `previous`: walked, not recursed. */
function enumerator(decl: EnumeratorDecl, depth: number): Integer | null {
  let steps = 0n;
  let at = decl;
  while (at.value === null && at.previous !== null) { steps++; at = at.previous; }
  const base = at.value === null ? integer(0n, INT32) : valueOf(at.value, depth + 1);
  if (base === null) return null;
  // What the steps lead beyond the type of the value, a wider one holds.
  const exact = base.value + steps;
  return { value: exact, type: fits(exact, base.type) ? base.type : commonType(base.type, fits(exact, { bits: 64, signed: true }) ? { bits: 64, signed: true } : UINT64) };
}

/** Sizes of what is no class (LP64); CUDA's vector types have one too. */
function sizeOf(type: Type | null): bigint | null {
  switch (type?.kind) {
    case 'bool': return 1n;
    case 'int': return BigInt(type.bits / 8);
    case 'float': return type.format === 'double' ? 8n : type.format === 'float' ? 4n : 2n;
    case 'pointer': return 8n;
    case 'enum': {
      const values = enumValues(type.decl);
      return values === null ? null : sizeOf(values);
    }
    case 'reference': return sizeOf(type.to);
    case 'array': {
      const element = sizeOf(type.of);
      const length = type.length === null ? null : constantInteger(type.length);
      return element === null || length === null ? null : element * length;
    }
    case 'record': {
      const element = type.decl.vector === null ? null : sizeOf(type.decl.vector.element);
      return element === null || type.decl.vector === null ? null : element * BigInt(type.decl.vector.lanes);
    }
    default: return null;
  }
}
