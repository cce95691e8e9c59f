/**
 * Numbers that may be below zero in a type that shows them far above it: `unsigned base = blockIdx.x * 4 - 2`, `size_t i = -1`, and the same
 * widened. That is what a program means by them, so no grant about indices that grow too large speaks for sums that hold one.
 */
import { strip } from '../../../src/analysis/children.js';
import type { FunctionFacts, Variable } from '../../../src/analysis/facts.js';
import { type IntegerType } from '../../../src/cuda/integers.js';
import type { Expr } from '../../../src/syntax/tree.js';
import { provenanceOf } from './named-constants.js';
import { integerType } from './values.js';

/** What is above it may stand for a number below zero, also where it was widened since. */
export const LARGEST_INT = (1n << 31n) - 1n;

/**
 * The value of the expression in the type is a number at least zero as it was meant: no difference and no complement is in it, and nothing with a sign
 * is converted to a type without. What is read from memory, and parameters, are numbers as they are.
 */
export function isPlainNumber(facts: FunctionFacts, expr: Expr, type: IntegerType, seen: ReadonlySet<Variable> = new Set()): boolean {
  const inner = strip(expr);
  if (provenanceOf(inner, facts.unit, facts.program) !== 'open') {
    const { low, high } = facts.range(inner);
    if (low !== null && high !== null && low >= 0n && high <= LARGEST_INT) return true;
  }
  const own = integerType(inner.type);
  if (own === null || (own.signed && !type.signed && !isNeverNegative(facts, inner))) return false;
  switch (inner.kind) {
    case 'coordinate': case 'sizeof': case 'literal': case 'index': case 'member': return true;
    case 'cast': return isPlainNumber(facts, inner.operand, own, seen);
    case 'unary': return inner.op === '*' || (inner.op === '+' && isPlainNumber(facts, inner.operand, own, seen));
    case 'binary': {
      if (!['+', '*', '/', '%', '>>', '<<', '&', '|'].includes(inner.op)) return false;
      return isPlainNumber(facts, inner.left, own, seen) && isPlainNumber(facts, inner.right, own, seen);
    }
    case 'call': return inner.callee.kind === 'builtin' && (inner.callee.name === 'min' || inner.callee.name === 'max') && inner.arguments.every((argument) => isPlainNumber(facts, argument, own, seen));
    case 'ref': {
      const { decl } = inner;
      if (decl === null) return false;
      if (decl.kind === 'parameter') return !isAssigned(facts, decl);
      if (decl.kind === 'enumerator' || decl.kind === 'template-parameter') return true;
      if (decl.kind !== 'variable') return false;
      if (decl.storage !== 'automatic' || decl.space !== 'local') return true;
      if (seen.has(decl) || decl.init === null || decl.opaqueInit || isAssigned(facts, decl)) return false;
      return isPlainNumber(facts, decl.init, own, new Set([...seen, decl]));
    }
    default: return false;
  }
}

function isNeverNegative(facts: FunctionFacts, expr: Expr): boolean {
  if (provenanceOf(expr, facts.unit, facts.program) === 'open') return false;
  const { low } = facts.range(expr);
  return low !== null && low >= 0n;
}

function isAssigned(facts: FunctionFacts, decl: Variable): boolean {
  const { body } = facts.function;
  return body === null || facts.addressTaken(decl) || facts.assignments(decl, body).some((definition) => definition.kind !== 'declaration' && definition.kind !== 'parameter');
}
