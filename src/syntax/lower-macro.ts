/**
 * Macro invocations, looked through: the expanded text is parsed as a snippet and lowered in the scope of the place of use, with
 * the span of the invocation on every node.
 */
import { expandMacro } from '../source/expand.js';
import { closing } from '../source/macro-roles.js';
import { tokenizeFragment } from '../source/tokenizer.js';
import { KEYWORDS } from '../source/words.js';
import type { Directive, MacroDefinition, SourceFile } from '../source/types.js';
import type { Cst } from './cst.js';
import type { Lowering, Snippet } from './context.js';
import { lostAssignment, takeAssignments } from './lower-comma.js';
import { lowerExpression } from './lower-expression.js';
import { lowerStatements } from './lower-statement.js';
import { doubtfulMacro, doubtOf } from './lower-doubt.js';
import { isSeveral } from './macro-arms.js';
import type { Expr, OpaqueExpr, MacroExpr, MacroStmt, Stmt } from './tree.js';

/** Macros inside macros deeper than this are left alone. */
const MAX_EXPANSIONS = 32;
/** Longer expansions are not looked through. */
const MAX_TEXT = 20_000;

/** The macro that the name `node` invokes where it stands, or null. */
export function macroNamed(ctx: Lowering, node: Cst, called: boolean): MacroDefinition | null {
  const name = ctx.slice(node);
  const macro = ctx.unit.macros.get(name);
  if (macro === undefined) return null;
  const doubted = ctx.unit.doubts !== null && ctx.unit.doubts.macro(name) !== null;
  if (doubted) return macro;
  if ((macro.parameters !== null) !== called) return null;
  if (!isDefinedAt(ctx.unit.source, macro, ctx.span(node).start)) return null;
  if (ctx.expanding.includes(name) || ctx.expanding.length >= MAX_EXPANSIONS) return null;
  return macro;
}

const definitions = new WeakMap<SourceFile, ReadonlyMap<string, readonly Directive[]>>();

/**
 * The table of a file holds all its macros; one that the file defines only further on, or has undefined before, is an ordinary name here.
 * Definitions that depend on a condition count as made.
 */
export function isDefinedAt(source: SourceFile, macro: MacroDefinition, at: number): boolean {
  let byName = definitions.get(source);
  if (byName === undefined) definitions.set(source, byName = definitionsIn(source));
  const all = byName.get(macro.name);
  const last = all?.findLast((directive) => directive.start < at);
  // An include has undone it.
  if (last === undefined && macro.undoneIn !== undefined && macro.undoneIn !== source.realPath) return false;
  if (all === undefined) return true;
  if (last === undefined) return macro.file !== source.realPath || macro.ambiguous;
  return last.kind === 'define';
}

/** `#define`s by name, and `#undef`s that stand under no condition. */
function definitionsIn(source: SourceFile): ReadonlyMap<string, readonly Directive[]> {
  const byName = new Map<string, Directive[]>();
  let depth = 0;
  for (const directive of source.directives) {
    if (directive.kind === 'if' || directive.kind === 'ifdef' || directive.kind === 'ifndef') depth++;
    else if (directive.kind === 'endif') depth--;
    if (directive.kind !== 'define' && !(directive.kind === 'undef' && depth === 0)) continue;
    const name = /^\s*(\w+)/.exec(directive.argument)?.[1];
    if (name === undefined) continue;
    const list = byName.get(name);
    if (list === undefined) byName.set(name, [directive]);
    else list.push(directive);
  }
  return byName;
}

/** Runs `action` in a snippet: offsets, notes and spans are those of the expansion, which stands at `node`. */
export function insideExpansion<T>(ctx: Lowering, node: Cst, name: string, snippet: Snippet, action: (root: Cst) => T): T {
  const { text, original, notes, override, patches } = ctx;
  ctx.override = ctx.span(node);
  ctx.text = snippet.text;
  ctx.original = snippet.original;
  ctx.notes = snippet.notes;
  ctx.patches = [];
  ctx.expanding.push(name);
  try {
    return action(snippet.root);
  } finally {
    ctx.expanding.pop();
    Object.assign(ctx, { text, original, notes, override, patches });
  }
}

const expansions = new WeakMap<ReadonlyMap<string, MacroDefinition>, Map<string, string | null>>();

/** The invocation's expansion; each is made once for a table of macros. */
function expand(ctx: Lowering, macro: MacroDefinition, args: readonly string[] | null): string | null {
  const table = ctx.unit.macros;
  let known = expansions.get(table);
  if (known === undefined) expansions.set(table, known = new Map());
  const key = args === null ? macro.name : `${macro.name}\0${args.join('\0')}`;
  const old = known.get(key);
  if (old !== undefined) return old;
  const text = expandMacro(macro.name, args, table);
  const made = text === null || text.length > MAX_TEXT ? null : text;
  known.set(key, made);
  return made;
}

/** The invocation as an expression; null if the expansion is none. */
export function macroExpression(ctx: Lowering, node: Cst, macro: MacroDefinition, args: readonly string[] | null): MacroExpr | null {
  const doubt = doubtOf(ctx, macro.name, args);
  if (doubt !== null) {
    if (ctx.override === null) ctx.unit.macroUses.take(node);
    return doubtfulMacro(ctx, node, macro, doubt);
  }
  const text = expand(ctx, macro, args);
  if (text === null) return null;
  const snippet = ctx.unit.snippets.expression(text);
  if (snippet === null) return null;
  const expanded: Expr = insideExpansion(ctx, node, macro.name, snippet, (root) => lowerExpression(ctx, root));
  if (lostAssignment(snippet.notes)) return null;
  takeAssignments(ctx, node);
  if (ctx.override === null) ctx.unit.macroUses.take(node);
  return { kind: 'macro', span: ctx.span(node), type: expanded.type, name: macro.name, definition: macro, expanded };
}

/** `p.first` with `#define first x`: the name that a macro stands for; null if it is no macro, or stands for more. */
export function otherName(ctx: Lowering, node: Cst): string | null {
  if (ctx.override !== null || !ctx.unit.macroUses.within(node)) return null;
  const macro = macroNamed(ctx, node, false);
  if (macro === null || doubtOf(ctx, macro.name, null) !== null || !/^\s*[A-Za-z_]\w*\s*$/.test(macro.body)) return null;
  const name = expand(ctx, macro, null);
  if (name === null || !/^[A-Za-z_]\w*$/.test(name) || ctx.unit.macros.has(name) || KEYWORDS.has(name)) return null;
  ctx.unit.macroUses.take(node);
  return name;
}

/** Text that leaves the expression it stands in. */
const JUMPS = /\b(?:return|break|continue|goto|throw|co_return|co_yield|asm)\b/;

/**
 * An invocation whose expansion reads as no expression, but stands in parentheses of its own (`({ int t = x; t * t; })` of GNU): an operand that may do
 * anything to what it names. Null if it is more than an operand.
 */
export function unreadOperand(ctx: Lowering, node: Cst, macro: MacroDefinition, args: readonly string[] | null): OpaqueExpr | null {
  const text = expand(ctx, macro, args);
  if (text === null || JUMPS.test(text)) return null;
  const tokens = tokenizeFragment(text);
  if (!tokens.is(0, '(') || closing(tokens, 0) !== tokens.count - 1) return null;
  if (ctx.override === null) ctx.unit.macroUses.take(node);
  return ctx.opaque(node, `${macro.name} stands for no expression`);
}

/** The invocation as statements; null if the expansion does not parse. Names it declares stay visible after it. */
export function macroStatement(ctx: Lowering, node: Cst, macro: MacroDefinition, args: readonly string[] | null): MacroStmt | null {
  const text = expand(ctx, macro, args);
  if (text === null) return null;
  const snippet = ctx.unit.snippets.statements(text);
  if (snippet === null) return null;
  const body = insideExpansion(ctx, node, macro.name, snippet, (root) => lowerStatements(ctx, root.children, root.start));
  const several = isSeveral(snippet.root.children);
  if (lostAssignment(snippet.notes)) return null;
  takeAssignments(ctx, node);
  if (ctx.override === null) ctx.unit.macroUses.take(node);
  const span = ctx.span(node);
  const [only] = body;
  const expanded: Stmt = body.length === 0 ? { kind: 'empty', span } : body.length === 1 && only !== undefined ? only : { kind: 'compound', span, body };
  return { kind: 'macro-statement', span, name: macro.name, definition: macro, expanded, ...(several ? { several } : {}) };
}
