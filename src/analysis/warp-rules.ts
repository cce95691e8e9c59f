/**
 * What whole warps agree on although it is computed from thread coordinates.
 *
 * A warp is 32 consecutive linear thread numbers t = x + y·X + z·X·Y, beginning at a multiple of 32. If e = t + r with r one value
 * per warp and a multiple of 32, then ⌊e/32⌋ is one value per warp, and so is everything that depends on ⌊e/32⌋ alone:
 *
 *   e / c  for c a multiple of 32 (e not negative in the type of the division: C++ rounds towards zero, so that -31 … 31 give one quotient);
 *   e >> k  for k ≥ 5;   e & m  for m a multiple of 32;
 *   e < v, e >= v  for v one value per warp and a multiple of 32;   e <= v, e > v  for v one below such a multiple;
 *   e - l  for l the lane number: `e & 31`, `e % 32`, or a variable or helper that returns one of these.
 *
 * `threadIdx.x` alone is t + r if X is a multiple of 32 (r = -(y·X + z·X·Y)) or the block is one-dimensional (r = 0). Wrap-around and
 * conversion of e keep all of this, since they take away multiples of 32 that whole warps share; but what wrapped in a narrow type and goes on in
 * a wider one is t + r no more (`(signed char)(t + 31) + 1`), and what wrapped in a signed type may be negative.
 *
 * In a HIP source all of this holds with 64 in place of 32 (platform.ts), and with `warpSize` itself, whatever it is.
 *
 * Not handled: signed indices of 32 and more bits, made of coordinates, block and grid dimensions and small constants alone, that turn negative
 * because a grid has 2³¹ threads or elements (`isIndexOfGrid`; of a grid that is known this is computed); quotients of multiples of t.
 */
import { strip } from './children.js';
import { commonType } from '../cuda/integers.js';
import { constantOf } from './constants.js';
import type { Range } from './facts.js';
import { gridFact } from './launch-facts.js';
import { lanesOfWarp } from './platform.js';
import { rangeOf } from './ranges.js';
import { formRange, integerType, polynomialOf, symbolTaint, constantTerm, type Polynomial, type Symbol, type Term } from './affine.js';
import { bodiesOf } from './summaries.js';
import { entryOf } from './uniformity-calls.js';
import { isLane, ON_BLOCK, WARP, ASSUMPTION_BITS } from './taint.js';
import type { Uniformity } from './uniformity.js';
import type { Expr } from '../syntax/tree.js';

/** The element of a binary expression that whole warps agree on; null if no rule says so. */
export function warpRule(expr: Expr & { kind: 'binary' }, state: Uniformity): number | null {
  switch (expr.op) {
    case '/': {
      const by = constantValue(expr.right, state);
      if (by === null || by <= 0n || by % lanes(state) !== 0n) return null;
      const form = polynomialOf(expr.left, state);
      const rest = form === null ? null : aligned(form, state);
      return form !== null && rest !== null && roundsDown(expr, form, state) ? rest.taint : null;
    }
    case '>>': {
      const by = constantValue(expr.right, state);
      return by === null || 1n << by < lanes(state) || by > 31n ? null : alignedTaint(expr.left, state);
    }
    case '&': {
      const right = constantValue(expr.right, state);
      const mask = right ?? constantValue(expr.left, state);
      if (mask === null || mask % lanes(state) !== 0n) return null;
      return alignedTaint(right !== null ? expr.left : expr.right, state);
    }
    case '+': case '-': return firstOfWarp(expr, state);
    case '<': case '>=': return compared(expr.left, expr.right, 0n, state) ?? compared(expr.right, expr.left, lanes(state) - 1n, state);
    case '>': case '<=': return compared(expr.left, expr.right, lanes(state) - 1n, state) ?? compared(expr.right, expr.left, 0n, state);
    default: return null;
  }
}

/**
 * `t - lane`: the number of the warp's first thread, and what is one value per warp added to it. Where arithmetic may wrap, floor(e / 2^k) must be one
 * value per warp, so the rest must be a multiple of 32 too.
 */
function firstOfWarp(expr: Expr & { kind: 'binary' }, state: Uniformity): number | null {
  const form = integerType(expr.type) === null ? null : polynomialOf(expr, state);
  const t = form?.terms.get('threadIdx.x')?.coefficient ?? 0n;
  if (form === null || t === 0n) return null;
  const rest = new Map<string, Term>();
  let lanes = 0n;
  for (const [key, term] of form.terms) {
    const only = term.symbols.length === 1 ? term.symbols[0] : undefined;
    if (only !== undefined && isLaneNumber(only, state)) lanes += term.coefficient;
    else rest.set(key, term);
  }
  if (lanes !== -t || (form.wraps !== null && t !== 1n)) return null;
  if (t === 1n) {
    const whole = aligned({ terms: rest, wraps: form.wraps }, state);
    if (whole !== null || form.wraps !== null) return whole?.taint ?? null;
  }
  const { rows, flat } = lines(state);
  if (!rows && !flat) return null;
  let taint = WARP | ON_BLOCK;
  for (const [key, term] of rest) {
    if (key === 'threadIdx.x') continue;
    for (const symbol of term.symbols) {
      const element = symbolTaint(symbol, state);
      if (isLane(element)) return null;
      taint |= element & ASSUMPTION_BITS;
    }
  }
  return taint;
}

/** Is the symbol t mod 32, by its definition or by the helper that returns it? */
function isLaneNumber(symbol: Symbol, state: Uniformity): boolean {
  const value = symbol.value === null ? null : state.defUse.values[symbol.value];
  if (value === undefined) return false;
  if (value === null) return isLaneExpression(symbol.expr, state, 0);
  // Another integer type of the variable changes nothing: the number is below 32.
  if (integerType(value.decl.type) === null || value.decl.type.kind === 'bool') return false;
  if (value.kind === 'declaration') return isLaneExpression(value.init, state, 0);
  return value.kind === 'assignment' && value.whole && value.node.kind === 'assign' && value.node.op === null && isLaneExpression(value.node.value, state, 0);
}

const MAX_HELPERS = 4;

function isLaneExpression(written: Expr, state: Uniformity, depth: number): boolean {
  const expr = strip(written);
  if (expr.kind === 'cast') {
    const to = integerType(expr.type);
    return to !== null && expr.type.kind !== 'bool' && isLaneExpression(expr.operand, state, depth);
  }
  if (expr.kind === 'ref') {
    const form = polynomialOf(expr, state);
    const only = form !== null && form.terms.size === 1 ? [...form.terms.values()][0] : undefined;
    const symbol = only !== undefined && only.coefficient === 1n && only.symbols.length === 1 ? only.symbols[0] : undefined;
    return symbol !== undefined && (symbol.value !== null || strip(symbol.expr) !== expr) && isLaneNumber(symbol, state);
  }
  if (expr.kind === 'binary' && expr.op === '&') {
    if (constantValue(expr.right, state) === lanes(state) - 1n) return isAligned(expr.left, state);
    return constantValue(expr.left, state) === lanes(state) - 1n && isAligned(expr.right, state);
  }
  if (expr.kind === 'binary' && expr.op === '%') {
    const form = constantValue(expr.right, state) === lanes(state) ? polynomialOf(expr.left, state) : null;
    return form !== null && aligned(form, state) !== null && roundsDown(expr, form, state);
  }
  if (expr.kind !== 'call' || expr.callee.kind !== 'function' || expr.arguments.length > 0 || depth >= MAX_HELPERS) return false;
  const callee = expr.callee.candidates.length === 1 ? expr.callee.candidates[0] : undefined;
  const bodies = callee === undefined ? [] : bodiesOf(callee, state.env.program);
  const body = bodies.length === 1 ? bodies[0] : undefined;
  const solved = body === undefined ? null : state.world.solve(body, entryOf(body, expr, state));
  const only = solved !== null && solved.defUse.returns.length === 1 ? solved.defUse.returns[0] : undefined;
  if (solved === null || only === undefined || only.value === null || only.control !== null || solved.defUse.unstructuredFrom !== null) return false;
  return integerType(solved.function.returns) !== null && solved.function.returns.kind !== 'bool' && isLaneExpression(only.value, solved, depth + 1);
}

function isAligned(expr: Expr, state: Uniformity): boolean {
  return alignedTaint(expr, state) !== null;
}

/** `e < v` with v ≡ residue (mod 32), e aligned and v one value per warp. */
function compared(e: Expr, v: Expr, residue: bigint, state: Uniformity): number | null {
  const bound = polynomialOf(v, state);
  if (bound === null) return null;
  const taint = multipleOf32(bound, residue, state);
  if (taint === null) return null;
  const form = alignedTaint(e, state);
  return form === null ? null : form | taint;
}

/** Is the form one value per warp and ≡ residue (mod 32)? Its element, or null. */
function multipleOf32(form: Polynomial, residue: bigint, state: Uniformity): number | null {
  let taint = 0;
  const fixed = form.terms.get('')?.coefficient ?? 0n;
  if (BigInt.asUintN(lanes(state) === 32n ? 5 : 6, fixed - residue) !== 0n) return null;
  for (const [key, term] of form.terms) {
    if (key === '') continue;
    const one = restTerm(term, state);
    if (one === null) return null;
    taint |= one;
  }
  return taint;
}

function alignedTaint(expr: Expr, state: Uniformity): number | null {
  const form = polynomialOf(expr, state);
  return form === null ? null : aligned(form, state)?.taint ?? null;
}

interface Aligned { readonly taint: number }

/** Is the value of the form t + r? */
function aligned(form: Polynomial, state: Uniformity): Aligned | null {
  if (form.wraps !== null && form.wraps.type === null && !isIndexOfGrid(form, state)) return null;
  if (form.terms.get('threadIdx.x')?.coefficient !== 1n) return null;
  const { rows, flat } = lines(state);
  const linear = new Set(['threadIdx.x']);
  if (!rows && !flat) {
    // The linear number itself, spelled out: right in every block.
    if (!hasRows(form, state)) return null;
    linear.add('threadIdx.y').add('threadIdx.z').add('blockDim.x*threadIdx.y').add('blockDim.x*blockDim.y*threadIdx.z');
  }
  let taint = WARP | (rows || flat ? ON_BLOCK : 0);
  for (const [key, term] of form.terms) {
    if (linear.has(key)) continue;
    const one = restTerm(term, state);
    if (one === null) return null;
    taint |= one;
  }
  return { taint };
}

/** Is each row of threads made of whole warps, and is there only one? */
function lines(state: Uniformity): { readonly rows: boolean; readonly flat: boolean } {
  const { shape } = state.world;
  const { value } = shape;
  return { rows: shape.xMultipleOf32 || (value !== null && BigInt(value.x) % lanes(state) === 0n), flat: value !== null ? value.y === 1 && value.z === 1 : shape.oneDimensional };
}

/** Does the form hold y·X and z·X·Y, each once? */
function hasRows(form: Polynomial, state: Uniformity): boolean {
  const shape = state.world.shape.value;
  const coefficient = (key: string): bigint => form.terms.get(key)?.coefficient ?? 0n;
  if (shape !== null) {
    return (shape.y === 1 || coefficient('threadIdx.y') === BigInt(shape.x)) && (shape.z === 1 || coefficient('threadIdx.z') === BigInt(shape.x * shape.y));
  }
  return coefficient('blockDim.x*threadIdx.y') === 1n && coefficient('blockDim.x*blockDim.y*threadIdx.z') === 1n && coefficient('threadIdx.y') === 0n && coefficient('threadIdx.z') === 0n;
}

/** A term of r: one value per warp, a multiple of 32. */
function restTerm(term: Term, state: Uniformity): number | null {
  let taint = 0;
  let multiple = term.coefficient % lanes(state) === 0n;
  for (const symbol of term.symbols) {
    const element = symbolTaint(symbol, state);
    if (isLane(element)) return null;
    taint |= element;
    if (symbol.key === 'blockDim.x' && state.world.shape.xMultipleOf32) { multiple = true; taint |= ON_BLOCK; }
  }
  return multiple ? (taint & ASSUMPTION_BITS) | WARP : null;
}

/** Does `/` or `%` round the aligned left operand down? It does if that is not negative in the type of the division. */
function roundsDown(expr: Expr & { kind: 'binary' }, form: Polynomial, state: Uniformity): boolean {
  const left = integerType(expr.left.type);
  const right = integerType(expr.right.type);
  if (left === null || right === null) return false;
  if (!commonType(left, right).signed) return true;
  if (form.wraps === null) return notNegative(form.terms.values(), state);
  return form.wraps.type?.signed === false || isIndexOfGrid(form, state);
}

/** No term can be negative: coefficients are not, and the symbols are coordinates or have ranges that say so. */
function notNegative(terms: Iterable<Term>, state: Uniformity): boolean {
  for (const term of terms) {
    if (term.coefficient < 0n) return false;
    for (const symbol of term.symbols) {
      if (symbol.expr.kind === 'coordinate') continue;
      const { low } = rangeOf(symbol.expr, state.env);
      if (low === null || low < 0n) return false;
    }
  }
  return true;
}

/** Blocks and grid dimensions up to which an index must stay below 2³¹ where the grid is not known. */
const MODEST_GRID = 63n;
const INT_LIMIT = 1n << 31n;

/**
 * A sum of coordinates and small constants that wraps in 32 bits only because a grid may be as large as the hardware allows: such an index is taken
 * not to wrap. Narrower types, constants near 2³¹ and values from elsewhere are no such thing, and neither is a grid that is known.
 */
function isIndexOfGrid(form: Polynomial, state: Uniformity): boolean {
  if (form.wraps === null || form.wraps.bits < 32) return false;
  const { kernel, program, options } = state.env;
  const grid = kernel === null ? null : gridFact(kernel, program, options);
  if (grid !== null && grid.value !== null && grid.under.length === 0) return false;
  const limit = ({ expr }: Symbol): Range => {
    const range = rangeOf(expr, state.env);
    if (expr.kind !== 'coordinate' || (expr.base !== 'blockIdx' && expr.base !== 'gridDim') || range.high === null || range.high < MODEST_GRID) return range;
    return { low: range.low, high: MODEST_GRID };
  };
  const { high } = formRange(form, state, limit);
  return high !== null && high < INT_LIMIT && notNegative(form.terms.values(), state);
}

/** What is a multiple of it is one for every warp of the platform. */
function lanes(state: Uniformity): bigint {
  return BigInt(lanesOfWarp(state.env.program, state.env.unit));
}

/** The lanes of a warp stand for `warpSize`: the rules hold for each size that it may have. */
function constantValue(expr: Expr, state: Uniformity): bigint | null {
  const plain = strip(expr);
  if (plain.kind === 'coordinate' && plain.base === 'warpSize') return lanes(state);
  const form = integerType(expr.type) === null ? null : polynomialOf(expr, state);
  const value = form === null ? null : constantTerm(form);
  return value ?? constantOf(expr, state.env);
}
