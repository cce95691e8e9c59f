/**
 * Do all lanes of a group agree on a condition in a block of known shape? Answered by evaluating it for every thread.
 *
 * Beyond the lane sets of the analysis, parameters of callees are followed to the arguments of the call that leads here, and ranks in cooperative groups are the
 * linear thread number. Values are mathematical integers, so the answer is used to take a hazard back, never to prove anything. Not handled (null): everything that
 * depends on more than coordinates and constants.
 */
import { strip } from '../../analysis/children.js';
import type { BlockShape, Loop } from '../../analysis/facts.js';
import { isObject, soleDefinition, soleValue } from '../../analysis/sole-value.js';
import type { Decl, Expr, RefExpr, Type } from '../../syntax/tree.js';
import type { Span } from '../../source/types.js';
import { isHip } from './platform.js';
import type { Spot } from './scene.js';
import type { Part } from './shared-places.js';

/** The thread that is looked at, of a block of this shape. One serves all threads, one after the other: a condition is evaluated for a thousand of them. */
interface Thread {
  readonly shape: BlockShape;
  /** The number of the block; null if it may not be named. */
  readonly block: number | null;
  x: number;
  y: number;
  z: number;
  linear: number;
  /** How many more nodes may be looked at. */
  left: number;
  /** Values of loop variables in one round. */
  readonly bound: Bindings | null;
}

/** What variables hold in one round, and the loop whose round it is. */
export type Bindings = ReadonlyMap<Decl, { readonly value: number; readonly loop: Loop }>;

/** The value that the name has in this round; undefined in front of the loop, where it is the one that the loop starts with. */
export function boundTo(ref: RefExpr, bound: Bindings | null): number | undefined {
  const known = ref.decl === null ? undefined : bound?.get(ref.decl);
  if (known === undefined) return undefined;
  const { loop, value } = known;
  return within(ref, loop) && !(loop.kind === 'for' && within(ref, loop.init)) ? value : undefined;
}

export function within(node: { readonly span: Span }, around: { readonly span: Span }): boolean {
  return around.span.start <= node.span.start && node.span.end <= around.span.end;
}

const guessed = new Set<BlockShape>();

/** A shape that is guessed for kernels of one dimension: what names another is not evaluated in it. */
export function guessRow(x: number): BlockShape {
  const shape: BlockShape = { x, y: 1, z: 1 };
  guessed.add(shape);
  return shape;
}

export function isGuess(shape: BlockShape): boolean {
  return guessed.has(shape);
}

function firstThread(shape: BlockShape, block: number | null, bound: Bindings | null = null): Thread {
  return { shape, block, x: 0, y: 0, z: 0, linear: 0, left: MAX_NODES, bound };
}

/** Moves on to the next thread in linear order; false behind the last. */
function nextThread(thread: Thread): boolean {
  const { shape } = thread;
  thread.linear++;
  thread.left = MAX_NODES;
  if (++thread.x < shape.x) return true;
  thread.x = 0;
  if (++thread.y < shape.y) return true;
  thread.y = 0;
  return ++thread.z < shape.z;
}

const MAX_NODES = 200;

const answers = new WeakMap<Spot, Map<Expr, { readonly group: number | null; readonly answer: boolean | null }>>();

/**
 * True if in every `group` of consecutive threads (the whole block for null) the expression surely has one value: by evaluation, by the facts, or because its operands
 * have. False if it differs, null if not known. Every collective below a condition asks for it.
 */
export function agree(expr: Expr, spot: Spot, group: number | null): boolean | null {
  let of = answers.get(spot);
  if (of === undefined) answers.set(spot, of = new Map());
  const known = of.get(expr);
  if (known !== undefined && known.group === group) return known.answer;
  const answer = agreeing(expr, spot, group);
  of.set(expr, { group, answer });
  return answer;
}

function agreeing(expr: Expr, spot: Spot, group: number | null): boolean | null {
  const shape = spot.facts.block.value;
  if (shape === null) return null;
  // The number of the block shifts the threads of a warp alike only if blocks are made of whole warps.
  if ((shape.x * shape.y * shape.z) % 32 !== 0) return evaluated(expr, spot, shape, group, null);
  return structural(expr, spot, shape, group, 0);
}

const MAX_DEPTH = 16;
/** Blocks whose threads are looked at for a value (never for a comparison) that holds the block's number. */
const SOME_BLOCKS: readonly number[] = [0, 1, 2, 3, 5, 7];

function structural(written: Expr, spot: Spot, shape: BlockShape, group: number | null, depth: number): boolean | null {
  const whole = evaluated(written, spot, shape, group, null);
  if (whole !== null) return whole;
  if (SOME_BLOCKS.every((block) => evaluated(written, spot, shape, group, block) === true)) return true;
  if (depth > MAX_DEPTH) return null;
  const expr = strip(written);
  const verdict = spot.facts.scope(expr);
  if (verdict.known && verdict.value !== 'lane' && (group === 32 || verdict.value !== 'warp')) return true;
  const below = (inner: Expr): boolean => structural(inner, spot, shape, group, depth + 1) === true;
  switch (expr.kind) {
    case 'binary': return below(expr.left) && below(expr.right) ? true : null;
    case 'unary': return expr.op !== '*' && expr.op !== '&' && below(expr.operand) ? true : null;
    case 'cast': return below(expr.operand) ? true : null;
    case 'ref': {
      const source = sourceOf(expr, spot);
      return source !== null && structural(source.expr, source.spot, shape, group, depth + 1) === true ? true : null;
    }
    default: return null;
  }
}

function evaluated(expr: Expr, spot: Spot, shape: BlockShape, group: number | null, block: number | null): boolean | null {
  let first = 0;
  const thread = firstThread(shape, block);
  do {
    const value = evaluate(expr, spot, thread);
    if (value === null) return null;
    if (thread.linear === 0 || (group !== null && thread.linear % group === 0)) first = value;
    else if (value !== first) return false;
  } while (nextThread(thread));
  return true;
}

const values = new WeakMap<readonly Part[], { readonly shape: BlockShape; readonly found: readonly number[] | null }>();

/** The sum of some expressions for every thread of the block in linear order; null if it is not known. -1 for negative ones. */
export function valuesOf(parts: readonly Part[], shape: BlockShape, bound: Bindings | null = null): readonly number[] | null {
  if (bound !== null) return summed(parts, shape, bound);
  const known = values.get(parts);
  if (known !== undefined && known.shape === shape) return known.found;
  const found = summed(parts, shape, null);
  values.set(parts, { shape, found });
  return found;
}

function summed(parts: readonly Part[], shape: BlockShape, bound: Bindings | null): readonly number[] | null {
  const found: number[] = [];
  const thread = firstThread(shape, null, bound);
  do {
    let sum = 0;
    for (const part of parts) {
      thread.left = MAX_NODES;
      const value = evaluate(part.expr, part.spot, thread);
      if (value === null) return null;
      sum += value;
    }
    // Threads that a guard keeps away may be below the array.
    found.push(Math.max(sum, -1));
  } while (nextThread(thread));
  return found;
}

/** The value of an expression for every thread of the block in linear order, in a round where loop variables have these values; null if it is not known. */
export function perThread(expr: Expr, spot: Spot, shape: BlockShape, bound: Bindings | null = null): readonly number[] | null {
  const found: number[] = [];
  const thread = firstThread(shape, null, bound);
  do {
    const value = evaluate(expr, spot, thread);
    if (value === null) return null;
    found.push(value);
  } while (nextThread(thread));
  return found;
}

/** The value of an expression that is one for all threads of the block; null if it may differ or is not known. */
export function oneForAll(expr: Expr, spot: Spot, shape: BlockShape, bound: Bindings | null = null): number | null {
  const verdict = spot.facts.scope(expr);
  return !verdict.known || verdict.value === 'lane' || verdict.value === 'warp' ? null : evaluate(expr, spot, firstThread(shape, null, bound));
}

/** The expression that alone gives a variable its value, or the argument of the call for a parameter. */
export function sourceOf(expr: Expr & { readonly kind: 'ref' }, spot: Spot): { readonly expr: Expr; readonly spot: Spot } | null {
  const only = soleDefinition(expr, spot.facts);
  if (only?.kind === 'parameter') {
    const argument = spot.frame.call?.arguments[only.decl.index];
    return argument === undefined || spot.outer === null ? null : { expr: argument, spot: spot.outer };
  }
  const value = soleValue(expr, spot.facts);
  return value === null ? null : { expr: value, spot };
}

let evaluations = 0;

/** How many nodes have been evaluated so far: what a kernel may cost is counted in them. */
export function evaluationsSoFar(): number {
  return evaluations;
}

function evaluate(written: Expr, spot: Spot, thread: Thread): number | null {
  evaluations++;
  if (--thread.left < 0) return null;
  const expr = strip(written);
  if (isObject(expr)) return null;
  switch (expr.kind) {
    case 'coordinate':
      if (expr.base === 'warpSize') return isHip(spot) ? null : 32;
      if (expr.axis === null) return null;
      if (expr.base === 'blockIdx') return thread.block;
      if (expr.axis !== 'x' && guessed.has(thread.shape)) return null;
      return expr.base === 'threadIdx' ? thread[expr.axis] : expr.base === 'blockDim' ? thread.shape[expr.axis] : null;
    case 'cast': return expr.type.kind === 'int' || expr.type.kind === 'bool' ? fitting(evaluate(expr.operand, spot, thread), expr.type) : null;
    case 'unary': {
      const value = expr.op === '*' || expr.op === '&' ? null : evaluate(expr.operand, spot, thread);
      if (value === null) return null;
      return expr.op === '!' ? Number(value === 0) : expr.op === '-' ? -value : expr.op === '~' ? ~value : value;
    }
    // What holds in some blocks of a comparison with an extent says nothing about the others.
    case 'binary': return thread.block !== null && COMPARISONS.has(expr.op) ? null : binary(expr, spot, thread);
    case 'conditional': {
      const test = evaluate(expr.condition, spot, thread);
      return test === null ? null : evaluate(test !== 0 ? expr.then : expr.else, spot, thread);
    }
    case 'call': return rank(expr, spot, thread);
    case 'ref': break;
    default: return number(spot.facts.constant(expr));
  }
  const bound = boundTo(expr, thread.bound);
  if (bound !== undefined) return bound;
  const fixed = number(spot.facts.constant(expr));
  if (fixed !== null) return fixed;
  const source = sourceOf(expr, spot);
  // What the round before left is not what this one would.
  if (source === null || (thread.bound !== null && source.spot === spot && source.expr.span.start > expr.span.start)) return null;
  return fitting(evaluate(source.expr, source.spot, thread), expr.type);
}

/** The value, if a type narrower than 32 bits surely holds it. */
function fitting(value: number | null, type: Type): number | null {
  if (value !== null && type.kind === 'bool') return Number(value !== 0);
  if (value === null || type.kind !== 'int' || type.bits >= 32) return value;
  const half = 2 ** (type.bits - 1);
  return value >= (type.signed ? -half : 0) && value < (type.signed ? half : 2 * half) ? value : null;
}

const COMPARISONS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '==', '!=', '&&', '||']);

function number(value: bigint | null): number | null {
  return value === null || value > 0xffffffffn || value < -0xffffffffn ? null : Number(value);
}

function binary(expr: Expr & { readonly kind: 'binary' }, spot: Spot, thread: Thread): number | null {
  const left = evaluate(expr.left, spot, thread);
  if (expr.op === '&&' && left === 0) return 0;
  if (expr.op === '||' && left !== null && left !== 0) return 1;
  const right = left === null ? null : evaluate(expr.right, spot, thread);
  if (left === null || right === null) return null;
  // An unsigned value below 0 is a large one.
  if ((left < 0 || right < 0) && COMPARISONS.has(expr.op) && [expr.left, expr.right].some((side) => { const { type } = strip(side); return type.kind !== 'int' ? type.kind !== 'bool' : !type.signed && type.bits >= 32; })) return null;
  if (left < 0 && (expr.op === '/' || expr.op === '%' || expr.op === '>>') && !(expr.type.kind === 'int' && expr.type.signed)) return null;
  switch (expr.op) {
    case '+': return left + right;
    case '-': return left - right;
    case '*': return left * right;
    case '/': return right === 0 ? null : Math.trunc(left / right);
    case '%': return right === 0 ? null : left % right;
    case '<<': return left * 2 ** right;
    case '>>': return Math.floor(left / 2 ** right);
    case '&': return left & right;
    case '|': return left | right;
    case '^': return left ^ right;
    case '<': return Number(left < right);
    case '<=': return Number(left <= right);
    case '>': return Number(left > right);
    case '>=': return Number(left >= right);
    case '==': return Number(left === right);
    case '!=': return Number(left !== right);
    case '&&': case '||': return Number(right !== 0);
    case ',': return right;
  }
}

/** Ranks in a block and in its tiles. */
function rank(call: Expr & { readonly kind: 'call' }, spot: Spot, thread: Thread): number | null {
  const { callee } = call;
  const { shape } = thread;
  if (callee.kind !== 'method' || call.arguments.length > 0) return null;
  const size = groupSize(callee.object, spot, shape, 0);
  if (size === null) return null;
  switch (callee.name) {
    case 'thread_rank': return thread.linear % size;
    case 'meta_group_rank': return Math.floor(thread.linear / size);
    case 'size': case 'num_threads': return size;
    case 'meta_group_size': return Math.ceil((shape.x * shape.y * shape.z) / size);
    default: return null;
  }
}

/** Threads of a group object: a block, or a tile of a fixed size. */
export function groupSize(object: Expr, spot: Spot, shape: BlockShape | null, depth: number): number | null {
  if (depth > 8) return null;
  const expr = strip(object);
  const type = expr.type.kind === 'reference' ? expr.type.to : expr.type;
  const text = type.kind === 'unknown' || type.kind === 'dependent' ? type.text : '';
  const tile = text.indexOf('thread_block_tile<');
  if (tile >= 0) {
    const size = Number.parseInt(text.slice(tile + 'thread_block_tile<'.length), 10);
    if (!Number.isNaN(size)) return size;
  }
  if (text.endsWith('thread_block')) return shape === null ? null : shape.x * shape.y * shape.z;
  if (expr.kind === 'call') {
    const name = expr.callee.kind === 'value' ? '' : expr.callee.name;
    if (name.endsWith('this_thread_block')) return shape === null ? null : shape.x * shape.y * shape.z;
    if (!name.endsWith('tiled_partition')) return null;
    const given = expr.templateArguments?.[0];
    const size = given !== undefined && given.kind === 'value' ? given.value : expr.arguments[1];
    return size === undefined ? null : number(spot.facts.constant(size));
  }
  if (expr.kind === 'ref' && expr.decl !== null) {
    if (expr.decl.kind === 'variable' && expr.decl.init !== null && expr.decl.init !== expr) return groupSize(expr.decl.init, spot, shape, depth + 1);
    if (expr.decl.kind === 'parameter' && spot.outer !== null && spot.frame.call !== null) {
      const argument = spot.frame.call.arguments[expr.decl.index];
      return argument === undefined ? null : groupSize(argument, spot.outer, shape, depth + 1);
    }
  }
  return null;
}
