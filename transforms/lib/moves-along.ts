/**
 * Text that moves out of the block it stands in still names what that block declares. Values travel by the transform's own means; this file is about the rest of the
 * declarations (local-names.ts): which of them must move in front of the new place too, with those that they name in turn, and what stands in the way.
 *
 *     if (i >= n) return;                          using T = float;              moves along
 *     using T = float;                             enum { W = 4 };               moves along: T[W] is asked for
 *     enum { W = 4 };                      ->      …
 *     if (flag[i]) { T a[W]; … }                   if (thread < items) { T a[W]; … }
 *
 * A declaration that moves is seen by more text than before: none of its names may be spelled there.
 */
import type { Span } from '../../src/source/types.js';
import type { DeclareStmt, Stmt } from '../../src/syntax/tree.js';
import { localDeclarations, namedIn, unexplainedIn, wordIn, wordsOf, type LocalDeclaration, type Words } from './local-names.js';
import type { TransformContext } from './types.js';

/** Why a name would be lost. */
export interface Stuck { readonly span: Span; readonly text: string; readonly remedy: string }

export interface Moving {
  /** Statements that move, in the order of the text. */
  readonly stmts: readonly DeclareStmt[];
  readonly stuck: Stuck | null;
}

/** What moves, and what it must be seen by. */
export interface Mover {
  /** Text that will stand behind the new place, outside of the blocks around it. */
  readonly texts: readonly Span[];
  /** Words of what is written there besides. */
  readonly words: readonly string[];
  /** Declarations go in front of this statement. */
  readonly place: Stmt;
  /** End of the block that holds the place. */
  readonly end: number;
  /** For messages: `the branches around`, `the loop`. */
  readonly where: string;
}

const NOTHING: Moving = { stmts: [], stuck: null };

export function movesAlong(context: TransformContext, { texts, words, place, end, where }: Mover): Moving {
  const between = localDeclarations(context).filter(({ stmt }) => stmt.span.start >= place.span.start && stmt.span.start < end && !texts.some((text) => holds(text, stmt.span)));
  if (between.every(({ plain }) => plain)) return NOTHING;
  const spelled = wordsOf(context);
  const moved = new Set<LocalDeclaration>();
  let stuck: Stuck | null = null;
  const pending: { readonly span: Span; readonly of: LocalDeclaration | null }[] = texts.map((span) => ({ span, of: null }));
  const found = (declaration: LocalDeclaration, name: string, of: LocalDeclaration | null): void => {
    if (moved.has(declaration)) return;
    const { span } = declaration.stmt;
    if (declaration.plain) {
      // Values travel by themselves; but no declaration in front of them can name one.
      if (of !== null) stuck ??= { span: of.stmt.span, text: `what ${nameOf(of)} means rests on ${name}, which is the thread's own`, remedy: `declare ${nameOf(of)} in front of ${where}` };
      return;
    }
    if (declaration.tied !== null) {
      stuck ??= { span, text: `${name} is declared where it would not be seen, and ${declaration.tied}`, remedy: `declare ${name} on its own in front of ${where}` };
      return;
    }
    moved.add(declaration);
    pending.push({ span, of: declaration });
  };
  for (const word of words) for (const declaration of between) if (declaration.names !== 'any' && declaration.names.includes(word)) found(declaration, word, null);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { span, of } = next;
    for (const declaration of between) {
      if (declaration === of || declaration.stmt.span.end > span.start || declaration.scope.end <= span.start) continue;
      const name = namedIn(spelled, declaration, span);
      if (name !== null) found(declaration, name, of);
    }
  }
  for (const declaration of moved) stuck ??= seenByMore(context, spelled, declaration, [...moved], { start: place.span.start, end }, where);
  return { stmts: between.filter((declaration) => moved.has(declaration)).map(({ stmt }) => stmt), stuck };
}

function nameOf({ names }: LocalDeclaration): string {
  return names === 'any' ? 'the using-directive' : names.join(', ');
}

/** Text that comes to see the declaration, and spells one of its names: it would mean something else there. */
function seenByMore(context: TransformContext, spelled: Words, declaration: LocalDeclaration, moved: readonly LocalDeclaration[], wide: Span, where: string): Stuck | null {
  const { names, scope, stmt } = declaration;
  // Those that move too keep their order.
  const apart = moved.map((other) => other.stmt.span).filter((span) => span.end <= stmt.span.start).sort((a, b) => a.start - b.start);
  const outside = [...around({ start: wide.start, end: scope.start }, apart), { start: scope.end, end: wide.end }].filter(({ start, end }) => start < end);
  if (names === 'any') {
    const open = outside.map((span) => unexplainedIn(context, spelled, span)).find((word) => word !== null);
    return open === undefined || open === null ? null : { span: stmt.span, text: `with the using-directive in front of ${where}, ${open} might mean something else`, remedy: `put the using-directive in front of ${where}` };
  }
  for (const name of names) {
    const parameter = context.facts.function.parameters.some((one) => one.name === name);
    const at = outside.map((span) => wordIn(spelled, name, span)).find((offset) => offset !== null) ?? null;
    if (!parameter && at === null) continue;
    return { span: stmt.span, text: at === null ? `${name} is a parameter too` : `${name} means something else on line ${context.unit.source.line(at)}, which would see this one`, remedy: `rename the inner ${name}` };
  }
  return null;
}

/** The parts of a span between others. */
function around({ start, end }: Span, cuts: readonly Span[]): readonly Span[] {
  const parts: Span[] = [];
  let at = start;
  for (const cut of cuts) {
    parts.push({ start: at, end: Math.min(end, cut.start) });
    at = Math.max(at, cut.end);
  }
  return [...parts, { start: at, end }];
}

function holds(outer: Span, inner: Span): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}
