/**
 * Heads of statements that a macro stands for: `EACH(i, n) statement`, `IF_INSIDE(x) statement`, `EACH_PIXEL(x, y) statement` with two
 * loops. The overlay left a stand-in in the text and a note of the expansion, which is read here as the chain of heads that it is.
 */
import { TokenKind, tokenizeFragment } from '../source/index.js';
import type { Span } from '../source/types.js';
import type { Lowering, Snippet } from './context.js';
import { childOfType, fieldChild, namedChildren, type Cst } from './cst.js';
import { insideExpansion } from './lower-macro.js';
import type { Expr, LoopPragma } from './tree.js';

export type HeadKind = 'for_statement' | 'while_statement' | 'if_statement';

export interface MacroHead {
  readonly span: Span;
  readonly name: string;
  /** Heads in their order, each the whole body of the one before. */
  readonly chain: readonly { readonly node: Cst; readonly kind: HeadKind }[];
  /** Pragmas of the expansion, which belong to its first loop. */
  readonly pragmas: readonly LoopPragma[];
  /** Runs what lowers a part of a head in the place the head is read from. */
  enter<T>(action: () => T): T;
  /** The macro's wrapper around an expression of a head. */
  wrap(expr: Expr): Expr;
}

/** The macro that stands for the head of the statement `node`; `unreadable` if its expansion is more than heads. Null if there is none. */
export function macroHeadOf(ctx: Lowering, node: Cst): MacroHead | 'unreadable' | null {
  if (ctx.override !== null || ctx.notes.length === 0) return null;
  const note = ctx.notes[ctx.noteIndex(node.start)];
  if (note === undefined || note.span.start !== node.start || note.kind !== 'macro') return null;
  const head = note.standsFor.find((meaning) => meaning.name === 'head');
  if (head === undefined) return null;
  const definition = ctx.unit.macros.get(note.name);
  if (head.argument === null || definition === undefined) return 'unreadable';
  const { pragmas, rest } = withoutPragmas(head.argument);
  const snippet = ctx.unit.snippets.statements(`${rest};`);
  const chain = snippet === null ? null : chainOf(snippet);
  if (snippet === null || chain === null) return 'unreadable';
  const at: Cst = { ...node, start: note.span.start, end: note.span.end };
  return {
    span: note.span, name: note.name, chain, pragmas: pragmas.map((text) => ({ span: note.span, text })),
    enter: (action) => insideExpansion(ctx, at, note.name, snippet, action),
    wrap: (expanded) => ({ kind: 'macro', span: note.span, type: expanded.type, name: note.name, definition, expanded }),
  };
}

/** The heads of a snippet that is nothing else, around an empty statement; null if it is more. */
function chainOf(snippet: Snippet): MacroHead['chain'] | null {
  const chain: { node: Cst; kind: HeadKind }[] = [];
  let statements = namedChildren(snippet.root);
  for (;;) {
    const [statement, more] = statements;
    if (statement === undefined || more !== undefined) return null;
    if (statement.type === 'expression_statement' && namedChildren(statement).length === 0) return chain.length === 0 ? null : chain;
    if (statement.type !== 'for_statement' && statement.type !== 'while_statement' && statement.type !== 'if_statement') return null;
    chain.push({ node: statement, kind: statement.type });
    const body = fieldChild(statement, statement.type === 'if_statement' ? 'consequence' : 'body');
    if (body === null || fieldChild(statement, 'alternative') !== null || childOfType(statement, 'else') !== null) return null;
    statements = [body];
  }
}

/** `_Pragma("unroll") for (…)`: the grammar knows no such operator. */
function withoutPragmas(expansion: string): { readonly pragmas: readonly string[]; readonly rest: string } {
  const tokens = tokenizeFragment(expansion);
  const pragmas: string[] = [];
  let at = 0;
  while (tokens.is(at, '_Pragma') && tokens.is(at + 1, '(') && tokens.kind(at + 2) === TokenKind.string && tokens.is(at + 3, ')')) {
    pragmas.push(`#pragma ${tokens.spelling(at + 2).replace(/^L?"|"$/g, '').replaceAll('\\"', '"')}`);
    at += 4;
  }
  return { pragmas, rest: at === 0 || at >= tokens.count ? expansion : expansion.slice(tokens.start(at)) };
}
