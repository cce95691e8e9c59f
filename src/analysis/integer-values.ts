/**
 * Exact evaluation of integer expressions over small sets of values: constant folding for device and host code.
 *
 * An expression has the set of values that its leaves admit (both arms of a `?:` whose condition is not known); a set that grows
 * beyond {@link MAX_VALUES} or holds an undefined result is not known. Types are C++'s (`src/cuda/integers.ts`), so `-1 < 1u` folds to false and
 * `256 * 256 * 65536` is undefined instead of zero. Leaves that are no constants by themselves are asked of a resolver.
 *
 * Not handled: floating-point arithmetic (except literals converted to integers) and functions with more than one statement.
 */
import { commonType, convert, fits, operate, promote, wrap, INT32, UINT64, type Integer, type IntegerOperator, type IntegerType } from '../cuda/integers.js';
import type { CallExpr, EnumeratorDecl, Expr, FunctionDecl, ParameterDecl, Type, VariableDecl } from '../syntax/tree.js';
import { enumValues } from '../syntax/types.js';
import { builtin } from '../cuda/builtins.js';
import { strip, walk } from './children.js';
import { implicitIn } from './implicit-code.js';

export type Values = readonly Integer[];

/** Values of a leaf: a name, a coordinate, a field; null if not known. */
export interface Resolver {
  (leaf: Expr): Values | null;
  /** Only what every build agrees on: the default of a macro that a build may replace is no value. */
  readonly everyBuild?: true;
  /** The same for another place of the function: what a constant was made of is what its parts were where it was declared. */
  at?(offset: number): Resolver;
}

export const MAX_VALUES = 16;
const MAX_DEPTH = 64;
const BOOL8: IntegerType = { bits: 8, signed: false };

/** The integer type that values of a C++ type are computed in; null for others. `bool` is 0 or 1 in eight bits. */
export function integerType(type: Type): IntegerType | null {
  switch (type.kind) {
    case 'int': return type;
    case 'bool': return BOOL8;
    case 'enum': {
      const values = enumValues(type.decl);
      return values === null ? null : integerType(values);
    }
    case 'reference': return integerType(type.to);
    default: return null;
  }
}

/** Conversion to a C++ type; null if it is no integer type. `auto` keeps the value as it is. */
export function convertTo(value: Integer, type: Type): Integer | null {
  if (type.kind === 'reference') return convertTo(value, type.to);
  if (type.kind === 'bool') return { value: value.value === 0n ? 0n : 1n, type: BOOL8 };
  const target = integerType(type);
  if (target !== null) return convert(value, { bits: target.bits, signed: target.signed });
  return type.kind === 'unknown' && (type.text === 'auto' || type.text === 'const auto') ? value : null;
}

function distinct(values: readonly Integer[]): Values | null {
  if (values.length <= 1) return values;
  const seen = new Map<string, Integer>();
  for (const value of values) seen.set(`${value.value}:${value.type.bits}${value.type.signed ? 's' : 'u'}`, value);
  return seen.size > MAX_VALUES ? null : [...seen.values()];
}

export function union(a: Values | null, b: Values | null): Values | null {
  return a === null || b === null ? null : distinct([...a, ...b]);
}

/** All values converted to a type. */
export function convertAll(values: Values | null, type: Type): Values | null {
  if (values === null) return null;
  const converted: Integer[] = [];
  for (const value of values) {
    const one = convertTo(value, type);
    if (one === null) return null;
    converted.push(one);
  }
  return distinct(converted);
}

export function int(value: bigint | number): Integer {
  return { value: BigInt(value), type: INT32 };
}

export function evaluate(expr: Expr, resolve: Resolver, depth = 0): Values | null {
  if (depth > MAX_DEPTH) return null;
  switch (expr.kind) {
    case 'literal': {
      if (typeof expr.value === 'boolean') return [int(expr.value ? 1 : 0)];
      if (typeof expr.value !== 'bigint') return null;
      const type = integerType(expr.type);
      return [{ value: type === null ? expr.value : wrap(expr.value, type), type: type === null ? INT32 : { bits: type.bits, signed: type.signed } }];
    }
    case 'paren': return evaluate(expr.inner, resolve, depth + 1);
    case 'macro': return expr.definition.ambiguous || (resolve.everyBuild && expr.definition.replaceable) ? null : evaluate(expr.expanded, resolve, depth + 1);
    case 'coordinate': return resolve(expr);
    case 'ref': return name(expr, resolve, depth);
    case 'unary': {
      const operand = expr.op === '*' || expr.op === '&' ? null : evaluate(expr.operand, resolve, depth + 1);
      if (operand === null) return expr.op === '*' ? resolve(expr) : null;
      const results: Integer[] = [];
      for (const value of operand) {
        if (expr.op === '+') results.push(convert(value, promote(value.type)));
        else if (expr.op === '!') results.push(int(value.value === 0n ? 1 : 0));
        else {
          const result = operate(expr.op === '-' ? '-' : '^', expr.op === '-' ? { value: 0n, type: promote(value.type) } : { value: -1n, type: INT32 }, value);
          if (expr.op === '-' && result.undefinedBecause !== null) return null;
          results.push(expr.op === '~' ? complementOf(value) : result);
        }
      }
      return distinct(results);
    }
    case 'binary': return binary(expr, resolve, depth);
    case 'conditional': {
      const condition = evaluate(expr.condition, resolve, depth + 1);
      const takesThen = condition === null || condition.some((value) => value.value !== 0n);
      const takesElse = condition === null || condition.some((value) => value.value === 0n);
      const common = commonOf(expr.then.type, expr.else.type);
      const arm = (inner: Expr): Values | null => {
        const values = evaluate(inner, resolve, depth + 1);
        return values === null || common === null ? values : distinct(values.map((value) => convert(value, common)));
      };
      if (takesThen && takesElse) return union(arm(expr.then), arm(expr.else));
      return takesThen ? arm(expr.then) : arm(expr.else);
    }
    case 'cast': {
      const inner = strip(expr.operand);
      if (inner.kind === 'literal' && typeof inner.value === 'number') {
        const type = integerType(expr.type);
        const whole = Number.isFinite(inner.value) ? BigInt(Math.trunc(inner.value)) : null;
        return type === null || whole === null || !fits(whole, type) ? null : [{ value: whole, type }];
      }
      return convertAll(evaluate(expr.operand, resolve, depth + 1), expr.type);
    }
    case 'construct': {
      const only = expr.arguments[0];
      if (integerType(expr.type) === null) return null;
      return expr.arguments.length === 0 ? convertAll([int(0)], expr.type) : only !== undefined && expr.arguments.length === 1 ? convertAll(evaluate(only, resolve, depth + 1), expr.type) : null;
    }
    case 'init-list': {
      const only = expr.elements[0];
      return expr.elements.length === 1 && only !== undefined ? evaluate(only, resolve, depth + 1) : null;
    }
    case 'sizeof': {
      const operand = expr.operand === null ? null : strip(expr.operand);
      if (operand?.kind === 'literal' && typeof operand.value === 'string') return null;
      const size = expr.alignof ? null : sizeOf(expr.of ?? expr.operand?.type ?? null, resolve, depth);
      return size === null ? null : [{ value: size, type: UINT64 }];
    }
    case 'call': return call(expr, resolve, depth);
    case 'member': case 'index': return resolve(expr);
    default: return null;
  }
}

function complementOf(value: Integer): Integer {
  const type = promote(value.type);
  return { value: wrap(~value.value, type), type };
}

function commonOf(a: Type, b: Type): IntegerType | null {
  const left = integerType(a);
  const right = integerType(b);
  return left === null || right === null ? null : commonType(left, right);
}

function binary(expr: Expr & { readonly kind: 'binary' }, resolve: Resolver, depth: number): Values | null {
  const { op } = expr;
  if (op === ',') return evaluate(expr.right, resolve, depth + 1);
  const left = evaluate(expr.left, resolve, depth + 1);
  if (op === '&&' || op === '||') {
    const decided = op === '||';
    if (left !== null && left.every((value) => (value.value !== 0n) === decided)) return [int(decided ? 1 : 0)];
    const right = evaluate(expr.right, resolve, depth + 1);
    if (left === null || right === null) return null;
    const truths = left.flatMap((a) => right.map((b) => (op === '&&' ? a.value !== 0n && b.value !== 0n : a.value !== 0n || b.value !== 0n)));
    return distinct(truths.map((truth) => int(truth ? 1 : 0)));
  }
  if (left === null) return null;
  const right = evaluate(expr.right, resolve, depth + 1);
  if (right === null || left.length * right.length > MAX_VALUES * MAX_VALUES) return null;
  const results: Integer[] = [];
  for (const a of left) {
    for (const b of right) {
      const result = operate(op satisfies IntegerOperator, a, b);
      if (result.undefinedBecause !== null) return null;
      results.push({ value: result.value, type: result.type });
    }
  }
  return distinct(results);
}

/** True for a variable that no one may assign after its initialisation. */
export function isConstant(decl: VariableDecl): boolean {
  return decl.constexpr || decl.type.const === true;
}

function name(expr: Expr & { readonly kind: 'ref' }, resolve: Resolver, depth: number): Values | null {
  const decl = expr.decl;
  if (decl === null) return resolve(expr);
  // Its type is the enum's, not that of the value it was given.
  if (decl.kind === 'enumerator') return convertAll(enumeratorValue(decl, resolve, depth), expr.type);
  // A static const member may be initialised in its class; an ordinary one belongs to an object.
  if (decl.kind === 'variable' && isConstant(decl) && decl.init !== null && !decl.opaqueInit && (decl.storage !== 'member' || decl.constexpr)) {
    const known = convertAll(evaluate(decl.init, decl.storage === 'automatic' ? resolve.at?.(decl.init.span.start) ?? resolve : resolve, depth + 1), decl.type);
    if (known !== null) return known;
  }
  return resolve(expr);
}

const enumerators = new WeakMap<EnumeratorDecl, { readonly values: Values | null }>();

function enumeratorValue(decl: EnumeratorDecl, resolve: Resolver, depth: number): Values | null {
  const known = resolve.everyBuild ? undefined : enumerators.get(decl);
  if (known !== undefined) return known.values;
  // Long enums are chains of `previous`: walk instead of recursing.
  let offset = 0n;
  let current = decl;
  while (current.value === null && current.previous !== null) { offset++; current = current.previous; }
  // What a template parameter tells is no property of the enumerator: another kernel may bind it to something else.
  let asked = false;
  const watched: Resolver = Object.assign((leaf: Expr): Values | null => { asked = true; return resolve(leaf); }, resolve.everyBuild ? { everyBuild: true } as const : {});
  let values: Values | null = current.value === null ? [int(0)] : evaluate(current.value, watched, depth + 1);
  if (values !== null && offset > 0n) values = values.map((value) => ({ value: value.value + offset, type: value.type }));
  if (!resolve.everyBuild && !asked) enumerators.set(decl, { values });
  return values;
}

/** Size in bytes of types that syntax tells (LP64). */
export function sizeOf(type: Type | null, resolve: Resolver, depth = 0): bigint | null {
  if (type === null || depth > MAX_DEPTH) return null;
  switch (type.kind) {
    case 'bool': return 1n;
    case 'int': return BigInt(type.bits / 8);
    case 'float': return type.format === 'double' ? 8n : type.format === 'float' ? 4n : 2n;
    case 'pointer': return 8n;
    case 'enum': return sizeOf(enumValues(type.decl), resolve, depth + 1);
    case 'reference': return sizeOf(type.to, resolve, depth + 1);
    case 'array': {
      const element = sizeOf(type.of, resolve, depth + 1);
      const length = type.length === null ? null : evaluate(type.length, resolve, depth + 1);
      const only = length?.[0];
      return element === null || length === null || length.length !== 1 || only === undefined ? null : element * only.value;
    }
    case 'record': {
      const { vector } = type.decl;
      if (vector === null) return recordSize(type, resolve, depth);
      const element = sizeOf(vector.element, resolve, depth + 1);
      return element === null ? null : element * BigInt(vector.lanes);
    }
    default: return null;
  }
}

/** Plain structs of scalars with natural alignment. */
function recordSize(type: Type & { readonly kind: 'record' }, resolve: Resolver, depth: number): bigint | null {
  const { decl } = type;
  if (!decl.complete || decl.sort === 'union' || decl.overlaid === true || decl.bases.length > 0 || decl.alignment !== null || decl.template !== null || decl.methods.length > 0) return null; // methods may be virtual, which the tree does not tell
  let offset = 0n;
  let widest = 1n;
  for (const member of decl.fields) {
    if (member.storage === 'static') continue;
    const size = sizeOf(member.type, resolve, depth + 1);
    const scalar = member.type.kind === 'array' ? sizeOf(member.type.of, resolve, depth + 1) : size;
    if (size === null || scalar === null || scalar > 8n || member.type.kind === 'record') return null;
    offset = (offset + scalar - 1n) / scalar * scalar + size;
    if (scalar > widest) widest = scalar;
  }
  return decl.fields.length === 0 ? 1n : (offset + widest - 1n) / widest * widest;
}

/** The value of a function whose body is one `return`, with parameters bound; `min` and `max`. */
function call(expr: CallExpr, resolve: Resolver, depth: number): Values | null {
  const { callee } = expr;
  if (callee.kind === 'builtin' || callee.kind === 'unknown') return minimumOrMaximum(expr, callee.name, resolve, depth);
  if (callee.kind !== 'function' && callee.kind !== 'method') return null;
  const only = callee.candidates[0];
  if (callee.candidates.length !== 1 || only === undefined) return null;
  const value = singleReturn(only);
  if (value === null || only.parameters.length < expr.arguments.length) return null;
  // What a default argument does besides having a value is no part of the value.
  if (implicitIn(expr).length > 0) return null;
  const bound = new Map<ParameterDecl, Values>();
  for (const parameter of only.parameters) {
    const argument = expr.arguments[parameter.index] ?? parameter.default;
    const values = argument === null ? null : evaluate(argument, resolve, depth + 1);
    const converted = parameter.type.kind === 'dependent' ? values : convertAll(values, parameter.type);
    // A parameter of another type may not matter to the value, but what its argument does would be lost.
    if (values === null && argument !== null && doesSomething(argument)) return null;
    if (converted !== null) bound.set(parameter, converted);
  }
  const parameters = (leaf: Expr): Values | null => (leaf.kind === 'ref' && leaf.decl !== null && leaf.decl.kind === 'parameter' ? bound.get(leaf.decl) ?? null : null);
  const inner: Resolver = resolve.everyBuild ? Object.assign(parameters, { everyBuild: true } as const) : parameters;
  const result = evaluate(value, inner, depth + 1);
  return only.returns.kind === 'dependent' || integerType(only.returns) === null ? (only.returns.kind === 'dependent' || only.returns.kind === 'unknown' ? result : null) : convertAll(result, only.returns);
}

/** May evaluating the expression do more than give a value? */
function doesSomething(expr: Expr): boolean {
  let found = false;
  walk(expr, (node) => {
    if (node.kind === 'assign' || node.kind === 'update' || node.kind === 'opaque' || node.kind === 'asm' || ('type' in node && node.type.volatile === true)) found = true;
    if (node.kind === 'call') found ||= node.callee.kind !== 'builtin' || builtin(node.callee.name)?.pure !== true;
    return !found;
  });
  return found;
}

/** The expression that a one-line function returns. */
export function singleReturn(fn: FunctionDecl): Expr | null {
  const body = fn.body?.body ?? [];
  const only = body[0];
  return body.length === 1 && only !== undefined && only.kind === 'return' ? only.value : null;
}

function minimumOrMaximum(expr: CallExpr, written: string, resolve: Resolver, depth: number): Values | null {
  const name = written.startsWith('std::') ? written.slice(5) : written.startsWith('::') ? written.slice(2) : written;
  if ((name !== 'min' && name !== 'max') || expr.arguments.length !== 2) return null;
  const [first, second] = expr.arguments;
  if (first === undefined || second === undefined) return null;
  const left = evaluate(first, resolve, depth + 1);
  const right = evaluate(second, resolve, depth + 1);
  if (left === null || right === null) return null;
  const own = integerType(expr.type);
  if (own === null && expr.templateArguments !== null) return null;
  return distinct(left.flatMap((a) => right.map((b) => {
    // The call has the type in which it compares, `std::min<int>(u, n)` too.
    const type = own ?? commonType(a.type, b.type);
    const x = convert(a, type);
    const y = convert(b, type);
    return (name === 'min') === (x.value < y.value) ? x : y;
  })));
}

/** The only value of a set. */
export function single(values: Values | null): bigint | null {
  const only = values?.[0];
  return values !== null && values.length === 1 && only !== undefined ? only.value : null;
}
