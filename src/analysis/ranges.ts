/**
 * Intervals of integer expressions where they stand.
 *
 * Interval arithmetic (Cousot & Cousot 1977) over the tree, with each operation done in its C++ type: a result that leaves an unsigned type may
 * wrap, so it gets the whole range of the type; one that leaves a signed type is undefined, so it is cut to the type. Variables have the union
 * of the definitions that reach them; counters of loops are not iterated but read off their steps and the loop's condition (induction.ts).
 *
 * Not handled: guards around the use (`if (i < n)`), relations between variables, values in memory (range of their type).
 */
import { commonType, fits, maximum, minimum, promote, type IntegerType } from '../cuda/integers.js';
import type { CallExpr, Expr, ParameterDecl, RefExpr } from '../syntax/tree.js';
import { callSitesBelow } from './call-sites.js';
import { strip } from './children.js';
import { valuesOf } from './constants.js';
import type { Env } from './env.js';
import type { Range, Variable } from './facts.js';
import { indexFunction, isAutomatic } from './function-index.js';
import { inductionRange, type StepWrite, stepOf } from './induction.js';
import { integerType } from './integer-values.js';
import { lanesOfWarp } from './platform.js';
import { gridFact, MAX_THREADS, templateValues } from './launch-facts.js';

export const ANYTHING: Range = { low: null, high: null };

interface State {
  readonly memo: Map<Expr, Range>;
  readonly visiting: Set<object>;
}

const states = new WeakMap<Env, State>();

function stateOf(env: Env): State {
  const known = states.get(env);
  if (known !== undefined) return known;
  const made: State = { memo: new Map(), visiting: new Set() };
  states.set(env, made);
  return made;
}

export function typeRange(type: IntegerType): Range {
  return { low: minimum(type), high: maximum(type) };
}

/** Range of a value of the type of an expression or variable. */
function wholeRange(expr: Expr): Range {
  if (expr.type.kind === 'bool') return { low: 0n, high: 1n };
  const type = integerType(expr.type);
  return type === null ? ANYTHING : typeRange(type);
}

export function unionRange(a: Range, b: Range): Range {
  return {
    low: a.low === null || b.low === null ? null : a.low < b.low ? a.low : b.low,
    high: a.high === null || b.high === null ? null : a.high > b.high ? a.high : b.high,
  };
}

/** Conversion: a value outside of the target wraps to anywhere in it. */
export function convertRange(range: Range, type: IntegerType): Range {
  return range.low !== null && range.high !== null && fits(range.low, type) && fits(range.high, type) ? range : typeRange(type);
}

/** An exact interval as the result of arithmetic in a type. */
function inType(low: bigint, high: bigint, type: IntegerType): Range {
  if (fits(low, type) && fits(high, type)) return { low, high };
  if (!type.signed) return typeRange(type);
  const least = minimum(type);
  const most = maximum(type);
  const cut = { low: low < least ? least : low, high: high > most ? most : high };
  return cut.low > most || cut.high < least ? typeRange(type) : cut;
}

/** Inclusive bounds of an integer expression; unbounded where the type is not an integer or not known. */
export function rangeOf(expr: Expr, env: Env): Range {
  const state = stateOf(env);
  const known = state.memo.get(expr);
  if (known !== undefined) return known;
  if (state.visiting.has(expr)) return wholeRange(expr);
  state.visiting.add(expr);
  const range = compute(expr, env);
  state.visiting.delete(expr);
  // A range found while another one is open may have been cut by recursion: it is sound, and only that is remembered.
  state.memo.set(expr, range);
  return range;
}

function compute(expr: Expr, env: Env): Range {
  switch (expr.kind) {
    case 'literal':
      return typeof expr.value === 'bigint' ? { low: expr.value, high: expr.value } : typeof expr.value === 'boolean' ? { low: expr.value ? 1n : 0n, high: expr.value ? 1n : 0n } : wholeRange(expr);
    case 'paren': return rangeOf(expr.inner, env);
    case 'macro': return rangeOf(expr.expanded, env);
    case 'coordinate': return coordinateRange(expr, env);
    case 'ref': return referenceRange(expr, env);
    case 'unary': return unaryRange(expr, env);
    case 'binary': return binaryRange(expr, env);
    case 'conditional': {
      const type = integerType(expr.type);
      const both = unionRange(rangeOf(expr.then, env), rangeOf(expr.else, env));
      return type === null ? both : convertRange(both, type);
    }
    case 'cast': {
      if (expr.type.kind === 'bool') return { low: 0n, high: 1n };
      const type = integerType(expr.type);
      if (type === null) return ANYTHING;
      return integerType(expr.operand.type) === null ? typeRange(type) : convertRange(rangeOf(expr.operand, env), type);
    }
    case 'construct': {
      const only = expr.arguments[0];
      const type = integerType(expr.type);
      return type !== null && only !== undefined && expr.arguments.length === 1 && integerType(only.type) !== null ? convertRange(rangeOf(only, env), type) : wholeRange(expr);
    }
    case 'assign': {
      const type = integerType(expr.type);
      return type !== null && expr.op === null && integerType(expr.value.type) !== null ? convertRange(rangeOf(expr.value, env), type) : wholeRange(expr);
    }
    case 'call': return callRange(expr, env);
    case 'sizeof': return fromValues(expr, env) ?? wholeRange(expr);
    default: return wholeRange(expr);
  }
}

function fromValues(expr: Expr, env: Env): Range | null {
  const values = valuesOf(expr, env);
  if (values === null || values.length === 0) return null;
  return values.map((value) => ({ low: value.value, high: value.value })).reduce<Range>(unionRange, { low: values[0]?.value ?? null, high: values[0]?.value ?? null });
}

/** Limits of the hardware: CUDA C++ Programming Guide, "Technical specifications per compute capability". */
function coordinateRange(expr: Expr & { readonly kind: 'coordinate' }, env: Env): Range {
  if (expr.base === 'warpSize') return { low: 32n, high: BigInt(lanesOfWarp(env.program, env.unit)) };
  const { axis } = expr;
  if (axis === null) return ANYTHING;
  const { block } = env;
  const certain = env.kernel !== null && block.under.length === 0;
  if (expr.base === 'threadIdx' || expr.base === 'blockDim') {
    let most = Math.min(axis === 'z' ? 64 : MAX_THREADS, block.maxThreads);
    let least = 1;
    if (certain && block.alternatives.length > 0) {
      most = Math.max(...block.alternatives.map((shape) => shape[axis]));
      least = Math.min(...block.alternatives.map((shape) => shape[axis]));
    } else if (certain && block.oneDimensional && axis !== 'x') most = 1;
    return expr.base === 'blockDim' ? { low: BigInt(least), high: BigInt(most) } : { low: 0n, high: BigInt(most - 1) };
  }
  let most = axis === 'x' ? 2_147_483_647 : 65_535;
  const grid = env.kernel === null ? null : gridFact(env.kernel, env.program, env.options);
  if (grid !== null && grid.value !== null && grid.under.length === 0) most = grid.value[axis];
  return expr.base === 'gridDim' ? { low: 1n, high: BigInt(most) } : { low: 0n, high: BigInt(most - 1) };
}

function referenceRange(expr: RefExpr, env: Env): Range {
  const { decl } = expr;
  const type = expr.type.kind === 'bool' ? null : integerType(expr.type);
  if (decl === null || type === null) return wholeRange(expr);
  const constant = fromValues(expr, env);
  if (constant !== null) return convertRange(constant, type);
  if (decl.kind === 'template-parameter') {
    const values = env.kernel === null || !env.program.allLaunchesVisible(env.kernel) ? null : templateValues(env.kernel, decl, env.program);
    return values === null || values.length === 0 ? typeRange(type) : convertRange(values.map((value): Range => ({ low: value.value, high: value.value })).reduce(unionRange), type);
  }
  if ((decl.kind !== 'variable' && decl.kind !== 'parameter') || !isAutomatic(decl) || decl.type.volatile === true || decl.type.kind === 'reference') return typeRange(type);
  const state = stateOf(env);
  if (state.visiting.has(decl)) return typeRange(type);
  state.visiting.add(decl);
  const range = variableRange(expr, decl, type, env);
  state.visiting.delete(decl);
  return range;
}

function variableRange(use: RefExpr, decl: Variable, type: IntegerType, env: Env): Range {
  const writes = indexFunction(env.function).writes.get(decl) ?? [];
  if (env.addressTaken(decl) || writes.some((write) => write.kind === 'escape' || write.kind === 'part')) return typeRange(type);
  const steps: StepWrite[] = [];
  const definitions = env.definitions(use);
  let stepping = false;
  for (const definition of definitions) {
    if (definition.kind === 'unknown') return typeRange(type);
    if (definition.kind === 'assignment' && stepOf(definition.node, decl) !== null) stepping = true;
  }
  if (definitions.length === 0) return decl.kind === 'parameter' ? parameterRange(decl, type, env) : typeRange(type);
  if (!stepping) {
    let range: Range | null = null;
    for (const definition of definitions) {
      const here = definition.kind === 'parameter' ? parameterRange(definition.decl, type, env)
        : definition.kind === 'declaration' ? (definition.decl.init === null ? typeRange(type) : valueRange(definition.decl.init, type, env))
          : definition.node.kind === 'assign' && definition.node.op === null ? valueRange(definition.node.value, type, env) : typeRange(type);
      range = range === null ? here : unionRange(range, here);
    }
    return range ?? typeRange(type);
  }
  // A counter: everything it starts from, and every step that is taken, wherever they stand.
  let base: Range | null = decl.kind === 'parameter' ? parameterRange(decl, type, env) : null;
  for (const write of writes) {
    if (write.node.kind === 'variable') {
      const start = write.value === null ? typeRange(type) : valueRange(write.value, type, env);
      base = base === null ? start : unionRange(base, start);
      continue;
    }
    const step = stepOf(write.node, decl);
    if (step !== null) steps.push(step);
    else {
      const start = write.kind === 'assign' && write.value !== null ? valueRange(write.value, type, env) : typeRange(type);
      base = base === null ? start : unionRange(base, start);
    }
  }
  return base === null ? typeRange(type) : inductionRange(use, decl, type, base, steps, env, (inner) => rangeOf(inner, env));
}

function valueRange(value: Expr, type: IntegerType, env: Env): Range {
  return integerType(value.type) === null ? typeRange(type) : convertRange(rangeOf(value, env), type);
}

/** By-value parameters of device functions: the union of what the call sites below this kernel pass. */
function parameterRange(decl: ParameterDecl, type: IntegerType, env: Env): Range {
  if (env.kernel === null || env.function === env.kernel || decl.pack) return typeRange(type);
  const sites = callSitesBelow(env.kernel, env.program).get(env.function) ?? [];
  if (sites.length === 0 || sites.length > 16) return typeRange(type);
  let range: Range | null = null;
  for (const site of sites) {
    const argument = site.call.arguments[decl.index] ?? decl.default;
    const caller = env.of(site.caller);
    if (argument === null || caller === null || caller === env || integerType(argument.type) === null) return typeRange(type);
    const here = convertRange(rangeOf(argument, caller), type);
    range = range === null ? here : unionRange(range, here);
  }
  return range ?? typeRange(type);
}

function unaryRange(expr: Expr & { readonly kind: 'unary' }, env: Env): Range {
  if (expr.op === '!') return { low: 0n, high: 1n };
  if (expr.op === '*' || expr.op === '&') return wholeRange(expr);
  const operandType = integerType(expr.operand.type);
  if (operandType === null) return wholeRange(expr);
  const type = promote(operandType);
  const operand = convertRange(rangeOf(expr.operand, env), type);
  if (operand.low === null || operand.high === null) return typeRange(type);
  if (expr.op === '+') return operand;
  return expr.op === '-' ? inType(-operand.high, -operand.low, type) : type.signed ? { low: ~operand.high, high: ~operand.low } : { low: maximum(type) - operand.high, high: maximum(type) - operand.low };
}

const COMPARISONS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '==', '!=', '&&', '||']);

function binaryRange(expr: Expr & { readonly kind: 'binary' }, env: Env): Range {
  if (COMPARISONS.has(expr.op)) return { low: 0n, high: 1n };
  if (expr.op === ',') return rangeOf(expr.right, env);
  const leftType = integerType(expr.left.type);
  const rightType = integerType(expr.right.type);
  if (leftType === null || rightType === null) return wholeRange(expr);
  const shift = expr.op === '<<' || expr.op === '>>';
  const type = shift ? promote(leftType) : commonType(leftType, rightType);
  const a = convertRange(rangeOf(expr.left, env), type);
  const b = convertRange(rangeOf(expr.right, env), shift ? promote(rightType) : type);
  if (a.low === null || a.high === null || b.low === null || b.high === null) return typeRange(type);
  return arithmetic(expr.op, { low: a.low, high: a.high }, { low: b.low, high: b.high }, type);
}

interface Known { readonly low: bigint; readonly high: bigint }

function corners(a: Known, b: Known, apply: (x: bigint, y: bigint) => bigint): Known {
  const all = [apply(a.low, b.low), apply(a.low, b.high), apply(a.high, b.low), apply(a.high, b.high)];
  return { low: all.reduce((x, y) => (x < y ? x : y)), high: all.reduce((x, y) => (x > y ? x : y)) };
}

function arithmetic(op: string, a: Known, b: Known, type: IntegerType): Range {
  switch (op) {
    case '+': return inType(a.low + b.low, a.high + b.high, type);
    case '-': return inType(a.low - b.high, a.high - b.low, type);
    case '*': { const c = corners(a, b, (x, y) => x * y); return inType(c.low, c.high, type); }
    case '/': {
      // A zero divisor is undefined, so the divisors on either side of it count.
      const parts: Known[] = [];
      if (b.high >= 1n) parts.push(corners(a, { low: b.low > 1n ? b.low : 1n, high: b.high }, (x, y) => x / y));
      if (b.low <= -1n) parts.push(corners(a, { low: b.low, high: b.high < -1n ? b.high : -1n }, (x, y) => x / y));
      if (parts.length === 0) return typeRange(type);
      const all = parts.map((part): Range => part).reduce(unionRange);
      return all.low === null || all.high === null ? typeRange(type) : inType(all.low, all.high, type);
    }
    case '%': {
      const largest = (b.high > -b.low ? b.high : -b.low) - 1n;
      if (largest < 0n) return typeRange(type);
      const high = a.high < 0n ? 0n : a.high < largest ? a.high : largest;
      const low = a.low >= 0n ? 0n : -a.low < largest ? a.low : -largest;
      return { low, high };
    }
    case '<<': {
      if (b.low < 0n || b.high > 63n || a.low < 0n) return typeRange(type);
      const low = a.low << b.low;
      const high = a.high << b.high;
      return fits(high, type) ? { low, high } : typeRange(type);
    }
    case '>>': {
      if (b.low < 0n || b.high > 63n) return a.low >= 0n ? { low: 0n, high: a.high } : typeRange(type);
      return corners(a, b, (x, y) => x >> y);
    }
    case '&':
      if (a.low >= 0n && b.low >= 0n) return { low: 0n, high: a.high < b.high ? a.high : b.high };
      if (a.low >= 0n) return { low: 0n, high: a.high };
      return b.low >= 0n ? { low: 0n, high: b.high } : typeRange(type);
    case '|': case '^': {
      if (a.low < 0n || b.low < 0n) return typeRange(type);
      const most = a.high > b.high ? a.high : b.high;
      const low = op === '^' ? 0n : a.low > b.low ? a.low : b.low;
      return { low, high: (1n << BigInt(most.toString(2).length)) - 1n };
    }
    default: return typeRange(type);
  }
}

const COUNTS: ReadonlyMap<string, Known> = new Map([
  ['__popc', { low: 0n, high: 32n }], ['__ffs', { low: 0n, high: 32n }], ['__clz', { low: 0n, high: 32n }], ['__popcll', { low: 0n, high: 64n }],
  ['__ffsll', { low: 0n, high: 64n }], ['__clzll', { low: 0n, high: 64n }], ['__syncthreads_count', { low: 0n, high: 1024n }],
]);

function callRange(expr: CallExpr, env: Env): Range {
  const { callee } = expr;
  if (callee.kind !== 'builtin' && callee.kind !== 'unknown') return fromValues(expr, env) ?? wholeRange(expr);
  const counted = callee.kind === 'builtin' ? COUNTS.get(callee.name) : undefined;
  if (counted !== undefined) return counted;
  const name = callee.name.startsWith('std::') ? callee.name.slice(5) : callee.name.startsWith('::') ? callee.name.slice(2) : callee.name;
  const [first, second] = expr.arguments;
  if ((name === 'min' || name === 'max') && first !== undefined && second !== undefined && expr.arguments.length === 2) {
    const left = integerType(strip(first).type);
    const right = integerType(strip(second).type);
    if (left === null || right === null) return wholeRange(expr);
    const type = integerType(expr.type) ?? (expr.templateArguments === null ? commonType(left, right) : null);
    if (type === null) return wholeRange(expr);
    const a = convertRange(rangeOf(first, env), type);
    const b = convertRange(rangeOf(second, env), type);
    if (a.low === null || a.high === null || b.low === null || b.high === null) return typeRange(type);
    return name === 'min'
      ? { low: a.low < b.low ? a.low : b.low, high: a.high < b.high ? a.high : b.high }
      : { low: a.low > b.low ? a.low : b.low, high: a.high > b.high ? a.high : b.high };
  }
  return wholeRange(expr);
}
