/**
 * `#include` between braces: the text of another file in the middle of a function, a list or an enum. It is not read where it stands, as its meaning
 * comes from the text around it; so it is an unknown statement, which may declare, write and jump, may go on in the statement behind it, and takes the
 * understanding of the whole function along.
 */
import type { Cst } from './cst.js';
import type { Lowering } from './context.js';
import type { FunctionNode } from './function-node.js';
import { markSeveral } from './macro-arms.js';
import type { OpaqueStmt } from './tree.js';

const REASON = '#include inside a function';

/** The statement that the overlay wrote in place of an `#include`; null if the node is another one. */
export function includeStatement(ctx: Lowering, node: Cst): OpaqueStmt | null {
  if (ctx.override !== null || !ctx.notesBetween(node.start, node.start + 1).some((note) => note.kind === 'include')) return null;
  for (let scope = ctx.scope; scope.kind === 'block'; scope = scope.parent ?? scope) {
    scope.darken();
    if (scope.parent === null) break;
  }
  return markSeveral(ctx.misread(node, REASON, told(ctx, node.start)));
}

/** An `#include` stands in this part of the text. */
export function includeIn(ctx: Lowering, start: number, end: number): boolean {
  return ctx.override === null && ctx.notes.length > 0 && ctx.notesBetween(start, end).some((note) => note.kind === 'include');
}

/** The body of a function in which an `#include` stands where no statement was read for it: in a list, between parentheses. */
export function unreadBody(ctx: Lowering, node: Cst, decl: FunctionNode): void {
  const lost = ctx.notesBetween(node.start, node.end).find((note) => note.kind === 'include' && ctx.text[note.span.start] !== 't');
  decl.understood = false;
  if (lost === undefined) return;
  decl.problems.push({ line: ctx.unit.source.line(lost.span.start), message: told(ctx, lost.span.start) });
  decl.body = { kind: 'compound', span: ctx.span(node), body: [ctx.opaqueStmt(node, REASON)] };
}

function told(ctx: Lowering, at: number): string {
  const { text } = ctx.unit.source;
  const end = text.slice(at).search(/[\n\r]|\/[/*]/);
  return `not understood: \`${text.slice(at, end < 0 ? undefined : at + end).trim()}\` stands inside a function, and its text was not read there (write it out, or call a function)`;
}
