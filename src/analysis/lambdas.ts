/** Lambdas as values: which one a name stands for. */
import { strip } from './children.js';
import type { Expr } from '../syntax/tree.js';

/** The lambda that a value is: written here, or the only value of a local variable. */
export function lambdaOf(value: Expr): (Expr & { readonly kind: 'lambda' }) | null {
  const inner = strip(value);
  if (inner.kind === 'lambda') return inner;
  if (inner.kind === 'ref' && inner.decl !== null && inner.decl.kind === 'variable' && inner.decl.init !== null) {
    const init = strip(inner.decl.init);
    return init.kind === 'lambda' ? init : null;
  }
  return null;
}
