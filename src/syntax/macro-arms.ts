/**
 * Statement macros where one statement is expected: the arm of an `if`, the body of a loop. The text shows one invocation; C++ sees what it stands
 * for. With `#define ADD(s, x) s += x; n++`, `if (c) ADD(s, x);` governs the first statement only; with `#define MAYBE(c) if (c) n++`, the `else` of
 * `if (d) MAYBE(c); else m++;` belongs to the `if` of the macro. A tree grouped as the text looks would be another program, and so would one whose
 * nodes lie in each other's text: such a statement is opaque as a whole.
 */
import type { Cst } from './cst.js';
import type { Lowering } from './context.js';
import type { IfStmt, MacroStmt, OpaqueStmt, Stmt } from './tree.js';

/** Opaque statements that end in a macro whose last statements run behind them. */
const overflowing = new WeakSet<OpaqueStmt>();

/** Says of an opaque statement that it may be several, of which one place takes the first alone. */
export function markSeveral(stmt: OpaqueStmt): OpaqueStmt {
  overflowing.add(stmt);
  return stmt;
}

/** True if the nodes of an expansion are several statements, of which one place takes the first alone. Empty statements behind the first do no harm. */
export function isSeveral(nodes: readonly Cst[]): boolean {
  const statements = nodes.filter((node) => node.named && node.type !== 'comment' && !node.type.startsWith('preproc'));
  return statements.slice(1).some((node) => node.type !== 'expression_statement' || node.children.some((child) => child.named));
}

/** The statement, or an opaque one if a macro in its arms or body is more, or less, than the statement that stands there. */
export function grouped(ctx: Lowering, node: Cst, stmt: Stmt): Stmt {
  switch (stmt.kind) {
    case 'if': return groupedIf(ctx, node, stmt);
    case 'for': case 'range-for': case 'while': case 'do': {
      const over = overflow(stmt.body);
      return over === null ? stmt : spilt(ctx, node, over, stmt.kind === 'do' ? 'do' : stmt.kind === 'while' ? 'while' : 'for');
    }
    default: return stmt;
  }
}

function groupedIf(ctx: Lowering, node: Cst, stmt: IfStmt): Stmt {
  const over = overflow(stmt.then) ?? (stmt.else === null ? null : overflow(stmt.else));
  if (over !== null) return spilt(ctx, node, over, stmt.else !== null && overflow(stmt.then) === null ? 'else' : 'if');
  const open = stmt.else === null ? null : openEnd(stmt.then);
  if (open === null) return stmt;
  ctx.problem(node, `not understood: ${open} ends in an \`if\` of its own, which takes the \`else\` behind it (put braces around the arm)`);
  return ctx.opaqueStmt(node, `${open} takes the else behind it`);
}

function spilt(ctx: Lowering, node: Cst, over: MacroStmt | OpaqueStmt, word: string): OpaqueStmt {
  if (over.kind === 'macro-statement') {
    ctx.problem(node, `not understood: ${over.name} stands for several statements, and \`${word}\` governs only the first of them (put braces around the invocation)`);
  }
  const made = ctx.opaqueStmt(node, over.kind === 'opaque' ? over.reason : `${over.name} stands for several statements, only the first of which is governed`);
  overflowing.add(made);
  return made;
}

/** What runs on behind the statement that stands in an arm; null for all that is one statement. */
function overflow(stmt: Stmt): MacroStmt | OpaqueStmt | null {
  let at = stmt;
  while (at.kind === 'label') at = at.body;
  if (at.kind === 'macro-statement') {
    if (at.several === true) return at;
    // A macro that only calls another one is as long as that one.
    const inner = overflow(at.expanded);
    return inner === null ? null : at;
  }
  return at.kind === 'opaque' && overflowing.has(at) ? at : null;
}

/** The name of the macro with which a statement ends in an `if` without `else`; null if an `else` behind it goes to the statement before. */
function openEnd(stmt: Stmt): string | null {
  let name: string | null = null;
  for (let at = stmt; ;) {
    switch (at.kind) {
      case 'macro-statement': name ??= at.name; at = at.expanded; break;
      case 'for': case 'range-for': case 'while': case 'label': at = at.body; break;
      case 'if':
        if (at.else === null) return name ?? (at.condition.kind === 'macro' ? at.condition.name : 'a macro');
        at = at.else;
        break;
      default: return null;
    }
  }
}
