/**
 * Bits of floating sums and products under nvcc's default `-fmad=true`: which edits may let the compiler fuse differently.
 */
import { isStmt, walk, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { FunctionDecl, Type } from '../../src/syntax/tree.js';
import { assumed, lineOf, proved } from './obligation.js';
import type { Obligation, TransformContext } from './types.js';

/**
 * `contraction-stable`: nvcc fuses a product with a sum that takes it when no branch stands between. Removing an edge inside
 * `region` can let it fuse more (or, where arms had a common tail, less). Proved if the region holds no floating product, or no
 * floating sum; else it holds only under the grant `contract`.
 */
export function contractionStable(context: TransformContext, region: Node): Obligation {
  const line = lineOf(context, region);
  const seen: FloatUse = { product: null, sum: null };
  floatUse(context.facts, region, seen, new Set());
  if (seen.product === null || seen.sum === null) {
    return proved('contraction-stable', line, seen.product === null ? 'no floating product that could fuse with a sum' : 'no floating sum that a product could fuse with');
  }
  return assumed('contraction-stable', 'contract', seen.product, 'bits are those of -fmad=false: a floating product and a floating sum may fuse differently once the branch between them is gone');
}

interface FloatUse {
  product: number | null;
  sum: number | null;
}

function floatUse(facts: FunctionFacts, root: Node, seen: FloatUse, visited: Set<FunctionDecl>): void {
  const { source } = facts.unit;
  const noteProduct = (node: Node): void => { seen.product ??= source.line(node.span.start); };
  const noteSum = (node: Node): void => { seen.sum ??= source.line(node.span.start); };
  walk(root, (node) => {
    if (node.kind === 'opaque' || node.kind === 'asm') { noteProduct(node); noteSum(node); return true; }
    if (isStmt(node)) return true;
    if (!mayBeFloat(node.type)) {
      if (node.kind !== 'call') return true;
    } else if (node.kind === 'binary' || node.kind === 'assign') {
      if (node.op === '*') noteProduct(node);
      if (node.op === '+' || node.op === '-') noteSum(node);
    } else if (node.kind === 'update') {
      noteSum(node);
    }
    if (node.kind === 'call') {
      if (node.callee.kind === 'builtin') {
        // Code of the mathematical library ends in products and starts with sums that may fuse.
        if (mayBeFloat(node.type) && !EXACT_BUILTINS.test(node.callee.name)) { noteProduct(node); noteSum(node); }
      } else if (node.callee.kind === 'function' || node.callee.kind === 'method') {
        for (const callee of node.callee.candidates) {
          if (callee.body === null) { noteProduct(node); noteSum(node); } else if (!visited.has(callee)) {
            visited.add(callee);
            const inner: FloatUse = { product: null, sum: null };
            floatUse(facts, callee.body, inner, visited);
            if (inner.product !== null) noteProduct(node);
            if (inner.sum !== null) noteSum(node);
          }
        }
      } else { noteProduct(node); noteSum(node); }
    }
    return true;
  });
}

/** Built-ins that neither multiply nor add in a way that fuses. */
const EXACT_BUILTINS = /^(?:f?abs|f?min|f?max|f(?:min|max|abs)f?|floorf?|ceilf?|truncf?|rintf?|roundf?|copysignf?|__ldg|__ldc[agsv]|__shfl|__f(?:add|mul|ma)_r|__d(?:add|mul)_r|fmaf?|atomic|__int_as_|__float_as_|__int2|__uint2|__float2|tex)/;

function mayBeFloat(type: Type): boolean {
  switch (type.kind) {
    case 'float': case 'unknown': case 'dependent': case 'record': return true;
    case 'void': case 'bool': case 'int': case 'pointer': case 'reference': case 'array': case 'enum': case 'function': return false;
    default: {
      const never: never = type;
      return never;
    }
  }
}
