/**
 * Guards of the work at its edge: `if (i >= n) return;` and `if (i < n) { … }` keep the threads with the low numbers, so lane 0 comes if any lane does, and the
 * lanes above may be gone.
 */
import type { Partition } from '../../analysis/arrival.js';
import { strip } from '../../analysis/children.js';
import { soleValue } from '../../analysis/sole-value.js';
import type { Expr } from '../../syntax/tree.js';
import { guardsOf, type Guard } from '../classify.js';
import { coefficientOf, formOf } from './forms.js';
import type { Spot } from './scene.js';

/** The spot of the function that a partition stands in. */
export function spotOf(partition: Partition, spot: Spot): Spot {
  let here = spot;
  for (let depth = partition.depth; depth > 0 && here.outer !== null; depth--) here = here.outer;
  return here;
}

export interface Edge { readonly guards: readonly Guard[]; /** Axes of `threadIdx` that the guards compare. */ readonly axes: ReadonlySet<'x' | 'y' | 'z'> }

/** A partition belongs to one function in one context, and with it to one spot. */
const edges = new WeakMap<Partition, { readonly edge: Edge | null }>();

/** The guards, if the partition keeps the threads below an extent and nothing else; null otherwise. Asked for every access below. */
export function edgeOf(partition: Partition, spot: Spot): Edge | null {
  const known = edges.get(partition);
  if (known !== undefined) return known.edge;
  const edge = edgeAt(partition, spotOf(partition, spot));
  edges.set(partition, { edge });
  return edge;
}

function edgeAt(partition: Partition, where: Spot): Edge | null {
  const axes = new Set<'x' | 'y' | 'z'>();
  const guards: Guard[] = [];
  if (partition.conditions.length === 0) return null;
  for (const condition of partition.conditions) {
    const verdict = where.facts.scope(condition);
    if (!verdict.known || verdict.sources.data) return null;
    const found = guardsOf(condition, where.frame, true, 0);
    if (found.length === 0) return null;
    // A jump away is under the negation of what stays.
    const stays = partition.by === 'jump' ? partition.decision?.holds ?? false : partition.decision?.holds ?? partition.by === 'loop';
    for (const guard of found) {
      if (guard.insideWhenTrue !== stays) return null;
      const form = formOf(guard.index, where);
      if (form === null) return null;
      for (const axis of ['x', 'y', 'z'] as const) {
        const coefficient = coefficientOf(form, axis);
        if (coefficient < 0n) return null;
        if (coefficient > 0n) axes.add(axis);
      }
      for (const axis of guard.sources.thread) axes.add(axis);
      guards.push(guard);
    }
  }
  return { guards, axes };
}

/** Does the condition name one thread (or one lane of a warp): `threadIdx.x == 0`, `lane == 31`, `!threadIdx.x`? The expression and the number, if so. */
export function electsOne(condition: Expr, holds: boolean, spot: Spot): { readonly index: Expr; readonly value: bigint | null } | null {
  const e = strip(condition);
  if (e.kind === 'unary' && e.op === '!') {
    const inner = strip(e.operand);
    if (holds && inner.type.kind === 'int' && spot.facts.scope(inner).value === 'lane') return { index: inner, value: 0n };
    return electsOne(e.operand, !holds, spot);
  }
  if (e.kind === 'ref' && e.type.kind === 'bool') {
    const value = soleValue(e, spot.facts);
    return value === null ? null : electsOne(value, holds, spot);
  }
  if (e.kind !== 'binary') return null;
  if (e.op === (holds ? '&&' : '||')) return electsOne(e.left, holds, spot) ?? electsOne(e.right, holds, spot);
  if (e.op !== (holds ? '==' : '!=')) return null;
  const left = spot.facts.scope(e.left);
  const right = spot.facts.scope(e.right);
  if (left.value === 'lane' && left.known && right.value !== 'lane') return { index: e.left, value: spot.facts.constant(e.right) };
  if (right.value === 'lane' && right.known && left.value !== 'lane') return { index: e.right, value: spot.facts.constant(e.left) };
  return null;
}
