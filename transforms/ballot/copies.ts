/**
 * Nests that only move values: every statement stores what it has loaded, or a literal. How long they take is up to memory, and their guards are decided while it works.
 */
import { isStmt, strip, walk } from '../../src/analysis/children.js';
import type { Expr } from '../../src/syntax/tree.js';
import type { PeelableLoop } from '../lib/guards/tested-loop.js';

/** No statement of the nest computes: `items[k] = in[first + k];`, `out[i] = 0;`, behind any guards. */
export function onlyCopies(loop: PeelableLoop): boolean {
  let copies = 0;
  let computes = false;
  walk(loop.body, (node) => {
    if (computes || !isStmt(node)) return false;
    switch (node.kind) {
      case 'expression': {
        const store = strip(node.expression);
        if (store.kind === 'assign' && store.op === null && isPlace(store.target) && isMoved(store.value)) copies++;
        else computes = true;
        return false;
      }
      case 'compound': case 'if': case 'for': case 'while': case 'empty': case 'continue': case 'break': case 'declare': return true;
      default: computes = true;
    }
    return !computes;
  });
  return !computes && copies > 0;
}

/** An element, or a variable: `x[…]`, `*p`, `v.x`. */
function isPlace(expr: Expr): boolean {
  const place = strip(expr);
  return place.kind === 'index' || place.kind === 'ref' || (place.kind === 'unary' && place.op === '*') || (place.kind === 'member' && isPlace(place.object));
}

function isMoved(expr: Expr): boolean {
  const value = strip(expr);
  switch (value.kind) {
    case 'literal': return true;
    case 'cast': return isMoved(value.operand);
    case 'conditional': return isMoved(value.then) && isMoved(value.else);
    case 'unary': return value.op === '*' || (value.op === '-' && strip(value.operand).kind === 'literal');
    default: return isPlace(value);
  }
}
