/**
 * `names-resolve`: every name in text that an edit writes means the same declaration where the text lands as where it came from.
 *
 * Names that the tree resolves are compared as declarations. Types, template arguments and operands of `sizeof` leave no reference
 * behind: there any name that means something else at the two places, and is spelled in the text, is enough to refuse.
 */
import { walk, type Node } from '../../src/analysis/children.js';
import type { Span } from '../../src/source/types.js';
import { meaningIn } from '../../src/syntax/look-up.js';
import type { Decl, MacroExpr, RefExpr, Stmt, VariableDecl } from '../../src/syntax/tree.js';
import { localDeclarations, macroWords, namedIn, unexplainedIn, wordIn, wordsOf } from './local-names.js';
import { lineOf, proved, refuted, unknown } from './obligation.js';
import { isInText, resolvesAt } from './references.js';
import { declaredIn, scopeAt } from './scopes.js';
import type { Obligation, TransformContext } from './types.js';

/** A part of the text that an edit writes, as far as its names go. */
export type Written =
  /** Spelled as it stands in the source. */
  | { readonly kind: 'copied'; readonly node: Node }
  /** The name of a local or a parameter, of functions or templates. */
  | { readonly kind: 'named'; readonly decl: Decl }
  /** What a reference of the program names, as `text` spells it. */
  | { readonly kind: 'reference'; readonly ref: RefExpr; readonly text: string }
  /** The name of a macro without parameters. */
  | { readonly kind: 'macro'; readonly expr: MacroExpr }
  /** A name that no declaration of the program explains: `threadIdx`, `min`. */
  | { readonly kind: 'word'; readonly name: string };

interface Lost { readonly name: string; readonly span: Span; readonly why: string; readonly remedy: string }

/**
 * `place` is a statement of the same function in front of which the text will stand, `over` are declarations that the edit puts between
 * the two (the head of a loop that moves in front of it).
 */
export function namesResolve(context: TransformContext, written: readonly Written[], place: Stmt, over: readonly VariableDecl[] = []): Obligation {
  const { facts } = context;
  const line = lineOf(context, place);
  if (facts.function.body === null) return unknown('names-resolve', line, 'the function has no body');
  const there = new Map(scopeAt(facts, place));
  for (const decl of over) there.set(decl.name, decl);
  for (const part of written) {
    const lost = lostName(context, part, place, there);
    if (lost !== null) return refuted('names-resolve', lineOf(context, lost.span), `${lost.name} ${lost.why}`, lost.remedy);
  }
  return proved('names-resolve', line, 'every name means the same declaration at its new place');
}

function lostName(context: TransformContext, part: Written, place: Stmt, there: ReadonlyMap<string, Decl>): Lost | null {
  switch (part.kind) {
    case 'copied': return lostInCopy(context, part.node, place, there);
    case 'named': return mismatch(context, part.decl.name, part.decl, place, there) ?? outside(context, part.decl, place) ?? macroNamed(context, part.decl.name, place);
    case 'word': return mismatch(context, part.name, null, place, there) ?? macroNamed(context, part.name, place);
    case 'reference': return resolvesAt(context.facts, part.ref, part.text, { at: place, there }) ? null : unreachable(context, part.ref, part.text, place);
    case 'macro': return redefined(context, part.expr.name, place) ?? lostInMacro(context, part.expr, place, there);
    default: {
      const never: never = part;
      return never;
    }
  }
}

/** A macro means one thing in the function if no directive in it says otherwise. */
function redefined({ facts }: TransformContext, name: string, place: Stmt): Lost | null {
  const other = facts.function.directives.some((directive) => (directive.kind === 'define' || directive.kind === 'undef') && /^\w+/.exec(directive.argument)?.[0] === name);
  return other ? { name, span: place.span, why: 'is another macro where the text would stand', remedy: `give ${name} one definition in the function` } : null;
}

/** A macro stands for words, which are looked up where it stands. */
function lostInMacro({ facts, unit }: TransformContext, expr: MacroExpr, place: Stmt, there: ReadonlyMap<string, Decl>): Lost | null {
  const words = macroWords(unit, expr.name);
  const span = isInText(facts, expr) ? expr.span : place.span;
  const here = isInText(facts, expr) ? scopeAt(facts, expr) : new Map<string, Decl>();
  for (const word of words) if (here.get(word) !== there.get(word)) return elsewhere(word, span);
  const brought = localDeclarations({ facts }).find(({ stmt, names, scope }) => {
    const inForce = (at: number): boolean => stmt.span.end <= at && at < scope.end;
    return stmt.brings !== undefined && inForce(expr.span.start) !== inForce(place.span.start) && (names === 'any' ? words.size > 0 : names.some((name) => words.has(name)));
  });
  return brought === undefined ? null : { name: expr.name, span, why: 'is made of names that mean something else where the text would stand', remedy: 'put the using in front of the loop' };
}

/** A name that neither the function nor its template head declares is looked up from there. */
function outside({ facts: { function: fn } }: TransformContext, decl: Decl, place: Stmt): Lost | null {
  if (decl.kind === 'parameter' || decl.kind === 'template-parameter' || (decl.file === fn.file && decl.span.start >= fn.span.start && decl.span.end <= fn.span.end)) return null;
  return meaningIn(fn, decl.name) === decl ? null : elsewhere(decl.name, place.span);
}

function unreachable(context: TransformContext, ref: RefExpr, text: string, place: Stmt): Lost {
  const { name } = ref;
  return { name, span: isInText(context.facts, ref) ? ref.span : place.span, why: `means something else, or nothing, where the text would stand (as ${text})`, remedy: `give the inner ${name} a name of its own, or name the constant in front of the loop` };
}

/** Names in copied text. */
function lostInCopy(context: TransformContext, root: Node, place: Stmt, there: ReadonlyMap<string, Decl>): Lost | null {
  const { facts, unit } = context;
  const redefined = facts.function.directives.find((directive) => (directive.kind === 'define' || directive.kind === 'undef')
    && directive.start >= Math.min(place.span.start, root.span.start) && directive.end <= Math.max(place.span.start, root.span.start));
  if (redefined !== undefined) {
    const name = /^\w+/.exec(redefined.argument)?.[0] ?? redefined.argument;
    if (spells(unit.source.text, root.span, name)) return { name, span: root.span, why: 'is another macro where the text would stand', remedy: `give ${name} one definition in the function` };
  }
  const own = declaredIn(root);
  let lost: Lost | null = null;
  walk(root, (node) => {
    // Of `a::b` only `a` is looked up: the words of the text are asked below.
    if (node.kind === 'ref' && node.qualifier === undefined && !(node.decl !== null && own.has(node.decl))) lost ??= mismatch(context, node.name, node.decl, place, there, node.span);
    if (node.kind === 'call' && node.callee.kind !== 'method' && node.callee.kind !== 'value' && there.has(node.callee.name)) lost ??= elsewhere(node.callee.name, node.span);
    return lost === null;
  });
  if (lost !== null) return lost;
  const here = scopeAt(facts, root);
  const ownNames = new Set([...own].map((decl) => decl.name));
  for (const name of new Set([...here.keys(), ...there.keys()])) {
    if (here.get(name) !== there.get(name) && !ownNames.has(name) && (spells(unit.source.text, root.span, name) || wordIn(wordsOf(context), name, root.span) !== null)) return elsewhere(name, root.span);
  }
  return broughtElsewhere(context, root, place);
}

/** A `using`, an alias of a namespace or a local declaration of a function that is in force at one of the places only. */
function broughtElsewhere(context: TransformContext, root: Node, place: Stmt): Lost | null {
  for (const local of localDeclarations(context)) {
    if (local.stmt.brings === undefined) continue;
    const inForce = (at: number): boolean => local.stmt.span.end <= at && at < local.scope.end;
    if (inForce(root.span.start) === inForce(place.span.start)) continue;
    const words = wordsOf(context);
    const name = local.names === 'any' ? unexplainedIn(context, words, root.span) : namedIn(words, local, root.span);
    if (name !== null) return { ...elsewhere(name, root.span), remedy: `write ${name} with its namespace, or put the using in front of the loop` };
  }
  return null;
}

function mismatch(context: TransformContext, name: string, decl: Decl | null, place: Stmt, there: ReadonlyMap<string, Decl>, span: Span = decl?.nameSpan ?? place.span): Lost | null {
  const { body, parameters } = context.facts.function;
  const local = decl !== null && body !== null && decl.file === context.unit.source.realPath
    && ((decl.kind === 'parameter' && parameters.includes(decl)) || (decl.span.start >= body.span.start && decl.span.end <= body.span.end));
  const found = there.get(name) ?? null;
  if (found !== (local ? decl : null)) return elsewhere(name, span);
  return null;
}

function elsewhere(name: string, span: Span): Lost {
  return { name, span, why: 'means something else, or nothing, where the text would stand', remedy: `give the inner ${name} a name of its own, or declare it in front of the loop` };
}

/** A name that is a macro too: what the reader saw as a declaration's name would be replaced. */
function macroNamed(context: TransformContext, name: string, place: Stmt): Lost | null {
  const macro = context.unit.macros.get(name);
  if (macro === undefined || macro.parameters !== null) return null;
  return { name, span: place.span, why: 'is also the name of a macro', remedy: `rename the variable or the macro ${name}` };
}

/** The name stands in the text as a word, and not as that of a member. */
function spells(text: string, span: Span, name: string): boolean {
  return new RegExp(`(?<![\\w.]|->|::)${name}(?!\\w)`).test(text.slice(span.start, span.end));
}
