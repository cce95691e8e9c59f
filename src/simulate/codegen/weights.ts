/** Issue slots of an expression, as the static model of SEMANTICS 3 has them: what one evaluation by a warp costs, callees left out. */
import { builtin } from '../../cuda/builtins.js';
import { strip, type Expr, type Type } from '../../syntax/tree.js';

const cache = new WeakMap<Expr, number>();

function isFloating(t: Type): boolean {
  return t.kind === 'float';
}

export function weightOf(expr: Expr): number {
  const known = cache.get(expr);
  if (known !== undefined) return known;
  const weight = compute(strip(expr));
  cache.set(expr, weight);
  return weight;
}

const sum = (list: readonly Expr[]): number => list.reduce((n, e) => n + weightOf(e), 0);

function compute(e: Expr): number {
  switch (e.kind) {
    case 'literal': case 'ref': case 'coordinate': case 'this': case 'sizeof': case 'lambda': case 'opaque': case 'paren': case 'macro': return 0;
    case 'unary':
      if (e.op === '*') return weightOf(e.operand) + 1;
      if (e.op === '&') return strip(e.operand).kind === 'index' ? weightOf(e.operand) : 0;
      return weightOf(e.operand) + (e.op === '+' ? 0 : 1);
    case 'update': return weightOf(e.target) + 1;
    case 'binary': {
      const own = e.op === ',' || contracts(e) ? 0 : e.op === '/' || e.op === '%' ? division(e) : 1;
      return weightOf(e.left) + weightOf(e.right) + own;
    }
    case 'assign': {
      const store = strip(e.target).kind === 'ref' ? 0 : 1;
      const product = strip(e.value);
      const fused = (e.op === '+' || e.op === '-') && product.kind === 'binary' && product.op === '*' && isFloating(e.target.type);
      const own = e.op === null || fused ? 0 : e.op === '/' || e.op === '%' ? (isFloating(e.target.type) ? 9 : 20) : 1;
      return weightOf(e.value) + targetWeight(e.target) + store + own + (e.op === null ? 0 : store);
    }
    case 'conditional': return weightOf(e.condition) + weightOf(e.then) + weightOf(e.else) + 1;
    case 'call': {
      const own = e.callee.kind === 'builtin' ? builtin(e.callee.name)?.cost ?? 4 : 2;
      return sum(e.arguments) + own;
    }
    case 'index': return weightOf(e.base) + weightOf(e.index) + 2;
    case 'member': return weightOf(e.object) + (e.arrow ? 1 : 0);
    case 'cast': return weightOf(e.operand) + (e.type.kind === 'pointer' || e.type.kind === 'void' ? 0 : 1);
    case 'construct': return sum(e.arguments);
    case 'init-list': return sum(e.elements);
  }
}

/** A floating sum with a product: one fused multiply-add. */
function contracts(e: Extract<Expr, { kind: 'binary' }>): boolean {
  if ((e.op !== '+' && e.op !== '-') || !isFloating(e.type)) return false;
  const product = (x: Expr): boolean => { const y = strip(x); return y.kind === 'binary' && y.op === '*' && isFloating(y.type); };
  return product(e.left) || product(e.right);
}

/** A counted loop's test and step: unrolled by four where the compiler does not know the trip count, so a quarter of each is issued. */
export const UNROLLED = 0.25;

/** A store's target: its address, not a load. */
function targetWeight(e: Expr): number {
  const x = strip(e);
  return x.kind === 'index' ? weightOf(x.base) + weightOf(x.index) + 1 : x.kind === 'unary' ? weightOf(x.operand) : weightOf(x);
}

function division(e: Extract<Expr, { kind: 'binary' }>): number {
  if (isFloating(e.left.type) || isFloating(e.right.type)) return 9;
  // By a constant the compiler multiplies; by a power of two it shifts.
  const d = strip(e.right);
  if (d.kind === 'literal' && typeof d.value === 'bigint') return (d.value & (d.value - 1n)) === 0n ? 1 : 4;
  return 20;
}
