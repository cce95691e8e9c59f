/**
 * Subscripts as sums over thread coordinates and other symbols, so that two accesses can be compared: `t[threadIdx.x + 2]` reads what the thread two further on
 * wrote to `t[threadIdx.x]`.
 *
 * Parameters of callees are replaced by the arguments of the call that leads there. Not handled: anything that is no sum (null).
 */
import { strip } from '../../analysis/children.js';
import type { Scope } from '../../analysis/facts.js';
import { soleDefinition } from '../../analysis/sole-value.js';
import type { Expr } from '../../syntax/tree.js';
import type { Spot } from './scene.js';
import type { Part, SharedPlace } from './shared-places.js';

export interface Term { readonly coefficient: bigint; readonly axis: 'x' | 'y' | 'z' | null; readonly scope: Scope; readonly expr: Expr; readonly spot: Spot }

/** Terms by key; '' is the constant. */
export type Form = ReadonlyMap<string, Term>;

const numbers = new WeakMap<object, number>();
let counter = 0;

function numberOf(spot: Spot): number {
  let n = numbers.get(spot.facts);
  if (n === undefined) numbers.set(spot.facts, n = ++counter);
  return n;
}

const MAX_DEPTH = 12;

/** The form of an integer expression where it stands; null if it is no sum. */
export function formOf(expr: Expr, spot: Spot): Form | null {
  const into = new Map<string, Term>();
  return add(expr, spot, 1n, into, 0) ? cleaned(into) : null;
}

export function formOfParts(parts: readonly Part[]): Form | null {
  const into = new Map<string, Term>();
  for (const part of parts) if (!add(part.expr, part.spot, 1n, into, 0)) return null;
  return cleaned(into);
}

/** Forms of all subscripts; null if one has none or the elements are not those of the array. */
export function formsOf(place: SharedPlace): readonly Form[] | null {
  if (!place.exact) return null;
  const forms: Form[] = [];
  for (const parts of place.dims) {
    const form = formOfParts(parts);
    if (form === null) return null;
    forms.push(form);
  }
  return forms;
}

function cleaned(terms: Map<string, Term>): Form {
  for (const [key, term] of terms) if (term.coefficient === 0n) terms.delete(key);
  return terms;
}

function add(expr: Expr, spot: Spot, times: bigint, into: Map<string, Term>, depth: number): boolean {
  const form = depth > MAX_DEPTH ? null : spot.facts.affine(expr);
  if (form === null) return false;
  for (const term of form.terms) {
    const coefficient = term.coefficient * times;
    const only = term.atoms.length === 1 ? term.atoms[0] : undefined;
    if (term.atoms.length === 0) { put(into, '', { coefficient, axis: null, scope: 'constant', expr, spot }); continue; }
    const atom = only === undefined ? null : strip(only.expr);
    if (atom !== null && atom.kind === 'coordinate') {
      put(into, `${atom.base}.${atom.axis ?? ''}`, { coefficient, axis: atom.base === 'threadIdx' ? atom.axis : null, scope: only?.scope ?? 'lane', expr: atom, spot });
      continue;
    }
    if (atom !== null && atom.kind === 'ref' && atom.decl !== null && atom.decl.kind === 'parameter' && spot.outer !== null && spot.frame.call !== null) {
      const argument = spot.frame.call.arguments[atom.decl.index];
      if (argument !== undefined && soleDefinition(atom, spot.facts)?.kind === 'parameter') {
        if (!add(argument, spot.outer, coefficient, into, depth + 1)) return false;
        continue;
      }
    }
    let scope: Scope = 'constant';
    for (const one of term.atoms) scope = narrower(scope, one.scope);
    put(into, `${numberOf(spot)}:${term.atoms.map((one) => one.key).join('*')}`, { coefficient, axis: null, scope, expr: term.atoms[0]?.expr ?? expr, spot });
  }
  return true;
}

const ORDER: readonly Scope[] = ['constant', 'grid', 'block', 'warp', 'lane'];

function narrower(a: Scope, b: Scope): Scope {
  return ORDER.indexOf(a) >= ORDER.indexOf(b) ? a : b;
}

function put(into: Map<string, Term>, key: string, term: Term): void {
  const old = into.get(key);
  into.set(key, old === undefined ? term : { ...old, coefficient: old.coefficient + term.coefficient });
}

/** a − b. */
export function difference(a: Form, b: Form): Form {
  const into = new Map<string, Term>(a);
  for (const [key, term] of b) put(into, key, { ...term, coefficient: -term.coefficient });
  return cleaned(into);
}

/** The value of a form without symbols; null if it has any. */
export function constantOfForm(form: Form): bigint | null {
  for (const key of form.keys()) if (key !== '') return null;
  return form.get('')?.coefficient ?? 0n;
}

export function coefficientOf(form: Form, axis: 'x' | 'y' | 'z'): bigint {
  return form.get(`threadIdx.${axis}`)?.coefficient ?? 0n;
}

/** Is every symbol besides thread coordinates one value for the block? */
export function restIsShared(form: Form): boolean {
  for (const term of form.values()) if (term.axis === null && (term.scope === 'warp' || term.scope === 'lane')) return false;
  return true;
}

/** Is the form at least `low` whatever the threads are: a constant, or shared symbols whose ranges say so, with positive coefficients? */
export function surelyAtLeast(form: Form, low: bigint): boolean {
  let sum = 0n;
  for (const [key, term] of form) {
    if (key === '') { sum += term.coefficient; continue; }
    if (term.axis !== null || key.includes('*') || term.coefficient <= 0n) return false;
    const range = term.spot.facts.range(term.expr);
    if (range.low === null) return false;
    sum += range.low * term.coefficient;
  }
  return sum >= low;
}
