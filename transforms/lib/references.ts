/**
 * How text at another place of a function names what an expression of the program names: as the source spells it, where that spelling means the same there;
 * else by the shortest qualified name that does.
 *
 * A name is looked up from the place as C++ looks it up: what the body declares in front of the place and what its using-declarations bring comes first, then
 * what the syntax room finds from the function outwards (src/syntax/look-up.ts). Of `a::b` only `a` is looked up there.
 */
import { walk } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { tokenizeFragment } from '../../src/source/tokenizer.js';
import { meaningIn, spellingIn } from '../../src/syntax/look-up.js';
import { homeOf } from '../../src/syntax/scope.js';
import type { Decl, EnumDecl, Expr, FunctionDecl, MacroExpr, RecordDecl, RefExpr, Stmt } from '../../src/syntax/tree.js';
import { localDeclarations, macroWords, type LocalDeclaration } from './local-names.js';
import { declaredIn, scopeAt } from './scopes.js';

/** Where text will stand: in front of `at`, where `there` are the local names that mean something. */
export interface TextPlace { readonly at: Stmt | Expr; readonly there: ReadonlyMap<string, Decl> }

/** The expression is a part of the function, not of what initialises a constant elsewhere. */
export function isInText(facts: FunctionFacts, expr: Expr): boolean {
  return facts.parent(expr) !== null;
}

/** The reference as the source spells it. */
export function sourceSpelling(ref: RefExpr): string {
  return (ref.qualifier ?? '') + ref.name;
}

/** Text that means at the place what the reference means where it stands; null if there is none. */
export function referenceText(facts: FunctionFacts, ref: RefExpr, place: TextPlace): string | null {
  const own = sourceSpelling(ref);
  if (resolvesAt(facts, ref, own, place)) return own;
  return ref.decl === null || isOfFunction(facts.function, ref.decl) ? null : spellingIn(facts.function, ref.decl, (spelling) => resolvesAt(facts, ref, spelling, place));
}

/** `text` means at the place what the reference means. */
export function resolvesAt(facts: FunctionFacts, ref: RefExpr, text: string, place: TextPlace): boolean {
  const { decl } = ref;
  if (decl === null || isMacro(facts, text)) return false;
  if (isOfFunction(facts.function, decl)) return text === decl.name && place.there.get(text) === decl;
  if (isInText(facts, ref)) {
    if (text === sourceSpelling(ref) && meansTheSame(facts, ref, text, place)) return true;
  } else {
    const home = homeOf(decl);
    // A member may be private.
    if (home?.kind === 'record' && facts.function.owner !== home.record) return false;
  }
  return isReachable(facts, text, place) && meaningIn(facts.function, text) === decl;
}

/** A type by a name that means it all through the function; null if there is none. */
export function typeText(facts: FunctionFacts, decl: RecordDecl | EnumDecl): string | null {
  const { function: fn } = facts;
  if (decl.name === '') return null;
  if (isOfFunction(fn, decl) || (decl.kind === 'record' && decl.vector !== null)) return decl.name;
  const locals = new Set([...fn.parameters, ...fn.body === null ? [] : declaredIn(fn.body)].map(({ name }) => name));
  return spellingIn(fn, decl, (spelling) => {
    const words = wordsLookedUp(spelling, true);
    return !isMacro(facts, spelling) && !words.some((word) => locals.has(word)) && broughtIn(facts).every((brought) => !mayBring(brought, words, spelling));
  });
}

/** A local, or a parameter. */
function isOfFunction(fn: FunctionDecl, decl: Decl): boolean {
  if (decl.kind === 'parameter') return fn.parameters.includes(decl);
  return fn.body !== null && decl.file === fn.file && decl.span.start >= fn.body.span.start && decl.span.end <= fn.body.span.end;
}

function isMacro({ unit }: FunctionFacts, text: string): boolean {
  return wordsLookedUp(text, false).some((word) => unit.macros.get(word)?.parameters === null);
}

/** All words that are looked up from where the text stands mean there what they mean where the reference stands. */
function meansTheSame(facts: FunctionFacts, ref: RefExpr, text: string, { at, there }: TextPlace): boolean {
  const here = scopeAt(facts, ref);
  const words = wordsLookedUp(text, true);
  if (words.some((word) => here.get(word) !== there.get(word))) return false;
  return broughtIn(facts).every((brought) => isInForce(brought, ref.span.start) === isInForce(brought, at.span.start) || !mayBring(brought, words, text));
}

/** No local of the function, and nothing that one of its using-declarations brings, stands in the way of a name from outside. */
function isReachable(facts: FunctionFacts, text: string, { at, there }: TextPlace): boolean {
  const words = wordsLookedUp(text, true);
  return !words.some((word) => there.has(word)) && broughtIn(facts).every((brought) => !isInForce(brought, at.span.start) || !mayBring(brought, words, text));
}

function broughtIn(facts: FunctionFacts): readonly LocalDeclaration[] {
  return localDeclarations({ facts }).filter(({ stmt }) => stmt.brings !== undefined && !(stmt.brings !== 'any' && stmt.brings.length === 0));
}

function isInForce({ stmt, scope }: LocalDeclaration, at: number): boolean {
  return stmt.span.end <= at && at < scope.end;
}

/** A using-directive may give any name another meaning that is not said from the global scope on. */
function mayBring({ names }: LocalDeclaration, words: readonly string[], text: string): boolean {
  return names === 'any' ? !text.startsWith('::') : names.some((name) => words.includes(name));
}

/** Words of a name; `first`: without those behind `::`, which are members of what stands before. */
function wordsLookedUp(text: string, first: boolean): readonly string[] {
  const tokens = tokenizeFragment(text);
  const words: string[] = [];
  for (let i = 0; i < tokens.count; i++) if (tokens.isIdentifier(i) && !(first && tokens.is(i - 1, '::'))) words.push(tokens.spelling(i));
  return words;
}

/** The macro may be written at the place though it stands elsewhere: one definition, never undone, whose names mean the same there. */
export function macroStands(facts: FunctionFacts, expr: MacroExpr, place: TextPlace): boolean {
  const { definition, name } = expr;
  const known = facts.unit.macros.get(name);
  if (known === undefined || known.file !== definition.file || known.line !== definition.line || known.ambiguous || definition.inactive === true) return false;
  const isUndone = [...facts.program.units.values()].some(({ source }) => source.directives.some(({ kind, argument }) => kind === 'undef' && /^\w+/.exec(argument.trim())?.[0] === name));
  if (isUndone || [...macroWords(facts.unit, name)].some((word) => place.there.has(word))) return false;
  let all = true;
  walk(expr.expanded, (node) => {
    if (node.kind === 'ref') all &&= resolvesAt(facts, node, sourceSpelling(node), place);
    return all;
  });
  return all;
}
