/**
 * Statements that hold a macro where the tree took its name for a name: for a type (`INC f;` with `#define INC ++`), for what is declared
 * (`int INIT;` with `#define INIT x = f()`), for a member, a label, a part of an operand. Such a statement is read again as what the preprocessor makes
 * of it; where that cannot be, it is unknown, and so is the function around it.
 */
import { expandText } from '../source/expand.js';
import { tokenizeFragment } from '../source/tokenizer.js';
import { checkpoint, type Lowering } from './context.js';
import type { Cst } from './cst.js';
import { lostAssignment, takeAssignments } from './lower-comma.js';
import { insideExpansion, isDefinedAt } from './lower-macro.js';
import { lowerStatements } from './lower-statement.js';
import { isSeveral } from './macro-arms.js';
import { Scope } from './scope.js';
import type { MacroStmt, Stmt } from './tree.js';

/** Longer expansions are not looked through. */
const MAX_TEXT = 20_000;

/** Statements that hold no others, but for bodies of lambdas and local classes. */
const SIMPLE: ReadonlySet<string> = new Set([
  'declaration', 'expression_statement', 'return_statement', 'type_definition', 'alias_declaration', 'using_declaration', 'namespace_alias_definition',
  'static_assert_declaration', 'throw_statement', 'goto_statement',
]);
/** Those that enter names of variables and types: a reading that is none must not leave its names behind. */
const DECLARING: ReadonlySet<string> = new Set(['declaration', 'type_definition', 'alias_declaration']);

/** The statement as `lower` reads it if that looked through all macros in it, else as they make it. */
export function throughMacros(ctx: Lowering, node: Cst, lower: () => Stmt | null): Stmt | null {
  const { macroUses } = ctx.unit;
  const undo = checkpoint(ctx.unit);
  const outer = ctx.scope;
  const trial = DECLARING.has(node.type) ? new Scope('block', outer, '', null) : null;
  const stmt = trial === null ? lower() : ctx.inScope(trial, lower);
  const lost = lostIn(ctx, node);
  if (stmt === null || stmt.kind === 'opaque' || lost < 0) {
    if (trial !== null) enter(trial, outer);
    macroUses.settle(node);
    return stmt;
  }
  macroUses.settle(node);
  const name = nameAt(ctx, lost);
  if (SIMPLE.has(node.type)) {
    const again = expandedStatement(ctx, node, name, undo);
    if (again !== null) return again;
  }
  return ctx.misread(node, `${name} is no name here`, `not understood: ${name} is a macro that is no part of the statement by itself (write out what it stands for)`);
}

/** The first macro of the statement that nobody looked through: its offset, -1 if there is none. One that stands for a number is an operand whatever is read around it. */
function lostIn(ctx: Lowering, node: Cst): number {
  const { macros, macroUses } = ctx.unit;
  for (;;) {
    const lost = macroUses.lost(node);
    const macro = lost < 0 ? undefined : macros.get(nameAt(ctx, lost));
    if (macro === undefined || macro.parameters !== null || !/^\s*\d\w*\s*$/.test(macro.body)) return lost;
    macroUses.take({ start: lost, end: lost + 1 });
  }
}

function nameAt(ctx: Lowering, offset: number): string {
  return /^\w+/.exec(ctx.unit.source.text.slice(offset, offset + 200))?.[0] ?? '';
}

/** Names of the trial become those of the block that it stands for. */
function enter(trial: Scope, block: Scope): void {
  for (const decl of trial.values.values()) block.declare(decl);
  for (const decl of trial.types.values()) block.declare(decl);
  for (const decls of trial.functions.values()) for (const decl of decls) block.declare(decl);
}

/** The statement with every macro in it replaced; null if that cannot be told or read. */
function expandedStatement(ctx: Lowering, node: Cst, name: string, undo: () => void): MacroStmt | null {
  const definition = ctx.unit.macros.get(name);
  if (definition === undefined || definition.ambiguous || ctx.expanding.length > 0) return null;
  const text = ctx.original.slice(node.start, node.end);
  if (text.length > MAX_TEXT || /^[ \t]*#/m.test(text) || !expandsAlike(ctx, text, node.start)) return null;
  const expanded = expandText(text, ctx.unit.macros);
  const snippet = expanded === null || expanded.length > MAX_TEXT ? null : ctx.unit.snippets.statements(expanded);
  if (snippet === null) return null;
  undo();
  const body = insideExpansion(ctx, node, name, snippet, (root) => lowerStatements(ctx, root.children, root.start));
  if (lostAssignment(snippet.notes)) return null;
  takeAssignments(ctx, node);
  const span = ctx.span(node);
  const [only] = body;
  const made: Stmt = body.length === 0 ? { kind: 'empty', span } : body.length === 1 && only !== undefined ? only : { kind: 'compound', span, body };
  return { kind: 'macro-statement', span, name, definition, expanded: made, ...(isSeveral(snippet.root.children) ? { several: true } : {}) };
}

/** All macros that the text names are the ones of the table there: none is defined further on, or undefined before. */
function expandsAlike(ctx: Lowering, text: string, at: number): boolean {
  const tokens = tokenizeFragment(text);
  for (let i = 0; i < tokens.count; i++) {
    const macro = tokens.isIdentifier(i) ? ctx.unit.macros.get(tokens.spelling(i)) : undefined;
    if (macro !== undefined && !isDefinedAt(ctx.unit.source, macro, at)) return false;
  }
  return true;
}
