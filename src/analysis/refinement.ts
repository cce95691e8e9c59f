/**
 * What equality tests on the way say about coordinates: below `if (threadIdx.x == 0)` every thread that arrives has one `threadIdx.x`.
 *
 * Asked only for values that vary by geometry alone. The conditions that were true on the way here are searched for conjuncts
 * `coordinate == value of a wider scope`; the value is then computed again with those coordinates taken as that scope, through
 * definitions of variables but not through joins. Not handled: inequalities, several equalities that together fix a lane.
 */
import { strip } from './children.js';
import { variableOf } from './lvalues.js';
import { CONSTANT, isGeometry, isLane, SCOPE_BITS } from './taint.js';
import type { Uniformity } from './uniformity.js';
import type { Expr } from '../syntax/tree.js';

type Fixed = ReadonlyMap<string, number>;

/** The element of `expr` where it stands, with what is known of the coordinates there. */
export function refined(expr: Expr, taint: number, state: Uniformity): number {
  if (!isGeometry(taint) || againstExtent(strip(expr), state)) return taint;
  const fixed = new Map<string, number>();
  for (let control = state.controlAt(expr); control !== null; control = control.parent) {
    if (control.kind !== 'branch' || control.condition === null) continue;
    if (control.sense === 'then') conjuncts(control.condition, true, fixed, state);
    else if (control.sense === 'else') conjuncts(control.condition, false, fixed, state);
  }
  if (fixed.size === 0) return taint;
  return again(expr, fixed, state, 0);
}

/**
 * A comparison with a run-time extent (`i + 1 < n` below `threadIdx.x == 255`) stays a boundary: which blocks lie at the edge says more than
 * that one thread decides.
 */
function againstExtent(e: Expr, state: Uniformity): boolean {
  if (e.kind !== 'binary' || (e.op !== '<' && e.op !== '<=' && e.op !== '>' && e.op !== '>=')) return false;
  return [e.left, e.right].some((side) => {
    const taint = state.taint(side);
    return !isLane(taint) && (taint & SCOPE_BITS) !== CONSTANT;
  });
}

/** What follows if the condition is true (or false, for `holds` false). */
function conjuncts(condition: Expr, holds: boolean, fixed: Map<string, number>, state: Uniformity): void {
  const e = strip(condition);
  if (e.kind === 'unary' && e.op === '!') { conjuncts(e.operand, !holds, fixed, state); return; }
  if (e.kind !== 'binary') {
    // A coordinate that is false is 0.
    if (!holds) note(coordinateOf(e, state), 0, fixed);
    return;
  }
  if (e.op === (holds ? '&&' : '||')) { conjuncts(e.left, holds, fixed, state); conjuncts(e.right, holds, fixed, state); return; }
  if (e.op !== (holds ? '==' : '!=')) return;
  const left = coordinateOf(e.left, state);
  const right = coordinateOf(e.right, state);
  if (left !== null) note(left, state.taint(e.right), fixed);
  else if (right !== null) note(right, state.taint(e.left), fixed);
}

function note(key: string | null, taint: number, fixed: Map<string, number>): void {
  if (key !== null && !isLane(taint) && !fixed.has(key)) fixed.set(key, taint);
}

/** `threadIdx.x`, or a variable that holds it. */
function coordinateOf(expr: Expr, state: Uniformity): string | null {
  let e = strip(expr);
  for (let depth = 0; depth < 8; depth++) {
    if (e.kind === 'cast') { e = strip(e.operand); continue; }
    if (e.kind === 'coordinate') return e.base === 'threadIdx' && e.axis !== null ? e.axis : null;
    const init = definitionOf(e, state);
    if (init === null) return null;
    e = strip(init);
  }
  return null;
}

/** The expression that alone gives a variable its whole value. */
function definitionOf(expr: Expr, state: Uniformity): Expr | null {
  if (expr.kind !== 'ref') return null;
  const decl = variableOf(expr.decl);
  const value = decl === null || decl.type.kind === 'reference' ? undefined : state.defUse.values[state.defUse.reads.get(expr) ?? -1];
  if (value === undefined) return null;
  if (value.kind === 'declaration') return value.init;
  return value.kind === 'assignment' && value.whole && value.node.kind === 'assign' && value.node.op === null ? value.node.value : null;
}

function again(expr: Expr, fixed: Fixed, state: Uniformity, depth: number): number {
  const taint = state.taint(expr);
  if (!isGeometry(taint) || depth > 32) return taint;
  const e = strip(expr);
  switch (e.kind) {
    case 'coordinate': return e.base === 'threadIdx' && e.axis !== null ? fixed.get(e.axis) ?? taint : taint;
    case 'binary': return e.op === ',' ? again(e.right, fixed, state, depth + 1) : again(e.left, fixed, state, depth + 1) | again(e.right, fixed, state, depth + 1);
    case 'unary': return e.op === '*' || e.op === '&' ? taint : again(e.operand, fixed, state, depth + 1);
    case 'cast': return again(e.operand, fixed, state, depth + 1);
    case 'conditional': return again(e.condition, fixed, state, depth + 1) | again(e.then, fixed, state, depth + 1) | again(e.else, fixed, state, depth + 1);
    case 'ref': {
      const init = definitionOf(e, state);
      return init === null ? taint : again(init, fixed, state, depth + 1);
    }
    default: return taint;
  }
}
