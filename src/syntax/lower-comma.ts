/**
 * Comma expressions. The overlay spells an assignment before a comma between parentheses as a comma too (comma-rules.ts); here it becomes
 * one again. An assignment whose note no expression took up lies in text that was read as something else, which nobody may rely on.
 */
import type { OverlayNote } from '../source/types.js';
import { fieldChild, type Cst } from './cst.js';
import { MAX_CHAIN, type Lowering } from './context.js';
import { expression } from './lower-expression.js';
import { makeAssignment } from './lower-operator.js';
import { operatorCall } from './lower-overload.js';
import type { Expr } from './tree.js';

type AssignmentNote = OverlayNote & { readonly kind: 'assignment' };

/** Notes that an expression was made of. */
const taken = new WeakSet<OverlayNote>();

/** True if one of these notes is of an assignment that was read as something else. */
export function lostAssignment(notes: readonly OverlayNote[]): boolean {
  return notes.some((note) => note.kind === 'assignment' && !taken.has(note));
}

/** The expansion stands for an invocation, whose arguments it holds: their notes have served. */
export function takeAssignments(ctx: Lowering, invocation: Cst): void {
  for (const note of ctx.notesBetween(invocation.start, invocation.end)) if (note.kind === 'assignment') taken.add(note);
}

/** An operand, and the assignment whose target it is; null if a comma follows it, or nothing. */
interface Part { readonly node: Cst; assigns: AssignmentNote | null }

export function lowerComma(ctx: Lowering, node: Cst): Expr {
  const parts: Part[] = [];
  let rest: Cst | null = node;
  while (rest !== null && rest.type === 'comma_expression') {
    const left = fieldChild(rest, 'left');
    if (left === null) return ctx.opaque(node, 'comma expression');
    parts.push({ node: left, assigns: null });
    rest = fieldChild(rest, 'right');
  }
  if (rest !== null) parts.push({ node: rest, assigns: null });
  if (parts.length > MAX_CHAIN) return ctx.opaque(node, ctx.leftOut(node, 'chain too long'));
  parts.forEach((part, i) => {
    const next = parts[i + 1];
    if (next !== undefined) part.assigns = ctx.notesBetween(part.node.end, next.node.start).find((note) => note.kind === 'assignment') ?? null;
  });
  let result: Expr | null = null;
  let end = 0;
  for (let i = 0; i < parts.length;) {
    let last = i;
    while (parts[last]?.assigns != null && last + 1 < parts.length) last++;
    const start = parts[i]?.node.start ?? 0;
    const right = assigned(ctx, parts.slice(i, last + 1));
    if (right === null) return ctx.opaque(node, 'assignment');
    if (result === null) result = right;
    else {
      const comma = end + Math.max(0, ctx.text.slice(end, start).indexOf(','));
      const operator: Cst = { ...node, type: ',', named: false, field: null, start: comma, end: comma + 1, children: [] };
      const overloaded = operatorCall(ctx, node, operator, ',', [result, right]);
      const made: Expr = overloaded ?? {
        kind: 'binary', op: ',', span: ctx.spanBetween(node.start, parts[last]?.node.end ?? end), type: right.type, left: result, right, opSpan: ctx.spanBetween(comma, comma + 1),
      };
      result = made;
    }
    end = parts[last]?.node.end ?? end;
    i = last + 1;
  }
  return result ?? ctx.opaque(node, 'empty expression');
}

/** What can stand before an assignment and ends there: `c ? a : b = 1` assigns to `b` alone. */
const TARGETS = new Set(['identifier', 'subscript_expression', 'field_expression', 'pointer_expression', 'parenthesized_expression', 'qualified_identifier', 'call_expression']);

/** `a = b = c`, from the right; null if a target is none. */
function assigned(ctx: Lowering, parts: readonly Part[]): Expr | null {
  const last = parts.at(-1);
  if (last === undefined) return null;
  const targets = parts.slice(0, -1);
  if (!targets.every(({ node }) => TARGETS.has(node.type))) return null;
  let value = expression(ctx, last.node);
  for (const { node, assigns } of targets.reverse()) {
    if (assigns === null) return null;
    taken.add(assigns);
    const whole: Cst = { ...last.node, type: 'assignment_expression', start: node.start, field: null, children: [] };
    const operator: Cst = { ...whole, type: assigns.operator, named: false, start: assigns.span.start, end: assigns.span.end };
    value = makeAssignment(ctx, whole, operator, expression(ctx, node), value) ?? ctx.opaque(whole, 'assignment operator');
  }
  return value;
}
