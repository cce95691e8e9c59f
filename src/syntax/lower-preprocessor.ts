/** `#if` … `#endif` around whole statements. */
import { walkConditionals, type Group } from '../source/conditionals.js';
import { fieldChild, type Cst } from './cst.js';
import type { Lowering, UnitState } from './context.js';
import { lowerStatements } from './lower-statement.js';
import type { PreprocessorStmt, Stmt } from './tree.js';

const groupsOf = new WeakMap<UnitState, ReadonlyMap<number, Group>>();

function groups(unit: UnitState): ReadonlyMap<number, Group> {
  const known = groupsOf.get(unit);
  if (known !== undefined) return known;
  const made = walkConditionals(unit.source, unit.macros);
  groupsOf.set(unit, made);
  return made;
}

/** The group whose opening directive stands at this offset. */
export function groupAt(unit: UnitState, offset: number): Group | null {
  const directives = unit.source.directives;
  let low = 0;
  let high = directives.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((directives[mid]?.start ?? Infinity) < offset) low = mid + 1;
    else high = mid;
  }
  return directives[low]?.start === offset ? groups(unit).get(low) ?? null : null;
}

export interface PreprocessorArm {
  readonly node: Cst;
  readonly children: readonly Cst[];
  readonly active: boolean;
  readonly condition: string;
}

const ARM_TYPES = new Set(['preproc_else', 'preproc_elif', 'preproc_elifdef']);

/** The arms of a `preproc_if` or `preproc_ifdef`, in order. */
export function preprocessorArms(ctx: Lowering, node: Cst): PreprocessorArm[] {
  const group = ctx.override === null ? groupAt(ctx.unit, node.start) : null;
  const arms: PreprocessorArm[] = [];
  let current: Cst | null = node;
  while (current !== null) {
    const arm: Cst = current;
    const info = group?.arms[arms.length];
    const head = new Set([fieldChild(arm, 'condition'), fieldChild(arm, 'name')]);
    const children = arm.children.filter((child) => !head.has(child) && !ARM_TYPES.has(child.type) && !child.type.startsWith('#'));
    arms.push({ node: arm, children, active: info?.active ?? arms.length === 0, condition: info?.condition ?? '' });
    current = fieldChild(arm, 'alternative');
  }
  return arms;
}

export function lowerPreprocessor(ctx: Lowering, node: Cst): PreprocessorStmt {
  const arms = preprocessorArms(ctx, node);
  const bodies = new Map<PreprocessorArm, Stmt[]>();
  // What follows the group sees the declarations of the arm that the configuration keeps: it is lowered last.
  for (const arm of [...arms].sort((a, b) => Number(a.active) - Number(b.active))) bodies.set(arm, lowerStatements(ctx, arm.children, arm.node.start));
  return {
    kind: 'preprocessor', span: ctx.span(node),
    arms: arms.map((arm) => ({ span: ctx.span(arm.node), condition: arm.condition, body: bodies.get(arm) ?? [], active: arm.active })),
  };
}
