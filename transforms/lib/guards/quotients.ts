/**
 * Quotients and remainders of thread coordinates by constants: values of their own with a known extent.
 */
import { fits, INT32, type IntegerType } from '../../../src/cuda/integers.js';
import type { Expr } from '../../../src/syntax/tree.js';
import { BINDING } from '../operands.js';
import { sumIn } from './bound.js';
import { promoted } from './conversions.js';
import { print } from './cpp.js';
import { constant, constantValue, extreme, interval, isConstant, negate, subtract, symbol, symbolsOf, type Poly } from './polynomial.js';
import type { ReadingState } from './reading-state.js';
import { whole } from './spelled.js';
import { isThread, keyOf, type Reading } from './values.js';

/** `x / c`, `x >> c`, `x % c`, `x & c` of thread coordinates: a value of its own with a known extent. */
export function divided(state: ReadingState, expr: Extract<Expr, { kind: 'binary' }>): Reading | null {
  const uniform = whole(state, expr);
  if (uniform !== null) return uniform;
  const amount = promoted(state, expr.right);
  const left = promoted(state, expr.left);
  if (left === null) return null;
  const { poly } = left;
  const onlyThreads = symbolsOf(poly).every((sym) => sym.role === 'thread' || sym.role === 'uniform');
  const sizes = amount === null || !amount.exact || !isConstant(amount.poly) ? null : interval(amount.poly);
  if (amount === null || sizes === null || sizes.low <= 0n || !fits(sizes.high, INT32) || !onlyThreads || !left.exact || state.lane) return state.fail(expr, `the operands of ${expr.op} are not thread coordinates and a constant`, 'bound-exact');
  const nonNegative = interval(poly).low >= 0n;
  const key = `(${keyOf(poly)})${expr.op}(${keyOf(amount.poly)})`;
  if (expr.op === '%' || expr.op === '&') {
    const high = expr.op === '&' ? amount.poly : subtract(amount.poly, constant(1n));
    const low = expr.op === '%' && !nonNegative ? negate(high) : constant(0n);
    return thread(state, key, left.type, low, high, interval(low).low, interval(high).high);
  }
  const shift = expr.op === '>>' ? constantValue(amount.poly) : 0n;
  if ((expr.op === '/' || expr.op === '>>') && nonNegative && shift !== null && shift < 31n) {
    const divisor = expr.op === '/' ? amount.poly : constant(1n << shift);
    const [low, high] = [quotient(state, extreme(poly, 'low', isThread), divisor), quotient(state, extreme(poly, 'high', isThread), divisor)];
    if (low !== null && high !== null) return thread(state, key, left.type, low, high, 0n, interval(poly).high / interval(divisor).low);
  }
  return state.fail(expr, 'the quotient cannot be followed', 'bound-exact');
}

/** `floor(poly / divisor)` for a value of at least zero: a constant, or text of its own. */
function quotient(state: ReadingState, poly: Poly | null, divisor: Poly): Poly | null {
  if (poly === null) return null;
  const [value, by] = [constantValue(poly), constantValue(divisor)];
  if (value === 0n) return constant(0n);
  if (value !== null && by !== null) return constant(value / by);
  const [sum, part] = [sumIn(poly, INT32), sumIn(divisor, INT32)];
  if (sum === null || part === null || !symbolsOf(poly).every((sym) => sym.role === 'uniform')) return null;
  const text = print({ kind: 'binary', op: '/', left: sum, right: part });
  const [over, under] = [interval(poly), interval(divisor)];
  const names = [...symbolsOf(poly), ...symbolsOf(divisor)].flatMap((sym) => sym.names);
  return symbol(state.intern({ key: text, role: 'uniform', text, names, type: INT32, low: over.low / under.high, high: over.high / under.low, extent: null, binding: BINDING.product, ...(isConstant(poly) ? { constant: true as const } : {}) }));
}

function thread(state: ReadingState, key: string, type: IntegerType, low: Poly, high: Poly, lowest: bigint, highest: bigint): Reading {
  const sym = state.intern({ key, role: 'thread', text: key, names: [], type, low: lowest, high: highest, extent: { low, high } });
  return { poly: symbol(sym), type, exact: true, assumed: false };
}
