/**
 * Conditions that the limits of the hardware and of the launch decide: `threadIdx.x < 1024`, `threadIdx.x >= blockDim.x`, `threadIdx.x < 32` under
 * `__launch_bounds__(32)`. They look as if threads differed on them, and none does.
 */
import { commonType, fits, type IntegerType } from '../cuda/integers.js';
import type { CoordinateExpr, Expr } from '../syntax/tree.js';
import { strip } from './children.js';
import type { FunctionFacts, Range } from './facts.js';
import { integerType } from './integer-values.js';

/** The value that the condition has for every thread of every block; null if it may have both. */
export function decidedTruth(facts: FunctionFacts, condition: Expr): boolean | null {
  const inner = strip(condition);
  if (inner.kind === 'unary' && inner.op === '!') {
    const value = decidedTruth(facts, inner.operand);
    return value === null ? null : !value;
  }
  if (inner.kind !== 'binary') return null;
  switch (inner.op) {
    case '&&': case '||': {
      const absorbing = inner.op === '||';
      const [a, b] = [decidedTruth(facts, inner.left), decidedTruth(facts, inner.right)];
      if (a === absorbing || b === absorbing) return absorbing;
      return a === null || b === null ? null : !absorbing;
    }
    case '<': return isBelow(facts, inner.left, inner.right, true);
    case '>': return isBelow(facts, inner.right, inner.left, true);
    case '<=': return isBelow(facts, inner.left, inner.right, false);
    case '>=': return isBelow(facts, inner.right, inner.left, false);
    case '==': return isEqual(facts, inner.left, inner.right);
    case '!=': {
      const value = isEqual(facts, inner.left, inner.right);
      return value === null ? null : !value;
    }
    default: return null;
  }
}

function isEqual(facts: FunctionFacts, left: Expr, right: Expr): boolean | null {
  if (isBelow(facts, left, right, true) === true || isBelow(facts, right, left, true) === true) return false;
  return isBelow(facts, left, right, false) === true && isBelow(facts, right, left, false) === true ? true : null;
}

/** `small < large`, or `small <= large`. */
function isBelow(facts: FunctionFacts, small: Expr, large: Expr, strict: boolean): boolean | null {
  const [a, b] = [coordinateIn(facts, small), coordinateIn(facts, large)];
  if (a !== null && b !== null && a.axis !== null && a.axis === b.axis) {
    if (isPlace(a) && isSize(b) && sameGrid(a, b)) return true;
    if (isSize(a) && isPlace(b) && sameGrid(a, b)) return false;
  }
  const [low, high] = [boundsOf(facts, small), boundsOf(facts, large)];
  if (low === null || high === null) return null;
  const type = commonType(low.type, high.type);
  if (![low.low, low.high, high.low, high.high].every((value) => fits(value, type))) return null;
  if (strict ? low.high < high.low : low.high <= high.low) return true;
  return (strict ? low.low >= high.high : low.low > high.high) ? false : null;
}

function boundsOf(facts: FunctionFacts, side: Expr): { readonly low: bigint; readonly high: bigint; readonly type: IntegerType } | null {
  const type = integerType(side.type);
  const { low, high }: Range = type === null ? { low: null, high: null } : facts.range(side);
  return type === null || low === null || high === null ? null : { low, high, type };
}

function isPlace({ base }: CoordinateExpr): boolean {
  return base === 'threadIdx' || base === 'blockIdx';
}

function isSize({ base }: CoordinateExpr): boolean {
  return base === 'blockDim' || base === 'gridDim';
}

function sameGrid(a: CoordinateExpr, b: CoordinateExpr): boolean {
  return (a.base.startsWith('thread') || a.base === 'blockDim') === (b.base.startsWith('thread') || b.base === 'blockDim');
}

/** The coordinate that the expression is, through conversions that keep it and through variables that are defined once. */
function coordinateIn(facts: FunctionFacts, expr: Expr, depth = 0): CoordinateExpr | null {
  const inner = strip(expr);
  if (inner.kind === 'coordinate') return inner;
  if (depth > 3) return null;
  if (inner.kind === 'cast') return (integerType(inner.type)?.bits ?? 0) >= 32 ? coordinateIn(facts, inner.operand, depth + 1) : null;
  const decl = inner.kind === 'ref' ? inner.decl : null;
  const { body } = facts.function;
  if (decl?.kind !== 'variable' || decl.init === null || decl.opaqueInit || body === null || facts.addressTaken(decl) || (integerType(decl.type)?.bits ?? 0) < 32) return null;
  return facts.assignments(decl, body).every((definition) => definition.kind === 'declaration') ? coordinateIn(facts, decl.init, depth + 1) : null;
}
