/**
 * How text at another place says a constant: a launch, where the kernel calls it by its name, or the kernel, where its launches do. C++ looks the
 * name up from the place, through blocks, lambdas, parameters, classes with their bases, namespaces and using-declarations, and macros come before
 * all of them.
 *
 * The name alone will do only where nothing but the constant can be found: every token of that name in the place's translation unit is surely a
 * use, or stands in a function that the place is not in. What no loaded file shows (bases, namespaces that a header reopens) counts as another
 * declaration. From the global scope, `::name`, only a macro hides it.
 */
import { walk } from '../../src/analysis/children.js';
import { TokenKind, type Tokens } from '../../src/source/tokens.js';
import { tokenizeFragment } from '../../src/source/tokenizer.js';
import type { SourceFile, Span } from '../../src/source/types.js';
import { pastedAt } from '../../src/syntax/pasted-names.js';
import type { Expr, FunctionDecl, Program, Unit, VariableDecl } from '../../src/syntax/tree.js';
import { includedBefore } from './launch-includes.js';
import { fileTokens, functionAt } from './launch-mentions.js';
import { isSurelyUsed } from './token-use.js';

/** A launch, or something else in a function. */
export interface Place {
  readonly file: string;
  readonly span: Span;
  readonly function: FunctionDecl | null;
}

/** The constant as text that means it at each of the places; null if only its value does. It must stand outside of everything, in front of them. */
export function sayableAt(program: Program, decl: VariableDecl, places: readonly Place[]): string | null {
  const { name } = decl;
  const home = program.units.get(decl.file);
  if (home === undefined || bracesBefore(home.source, decl.span.start).length > 0) return null;
  const defines = ({ source }: Unit): boolean => source.directives.some(({ kind, argument }) => kind === 'define' && /^\w+/.exec(argument.trim())?.[0] === name);
  if ([...program.units.values()].some(defines)) return null;
  let alone = true;
  for (const place of places) {
    const unit = program.units.get(place.file);
    if (unit === undefined || unit.macros.has(name) || !isBefore(program, decl, unit, place) || unseenBetween(unit, unit === home ? decl.span.end : 0, place.span.start, unit === home)) return null;
    const units = [unit, ...includedBy(program, unit)];
    if (units.some((one) => pastedAt(one, name) !== null)) return null;
    alone &&= standsAlone(unit, place) && !namespaceOpened(unit, decl, place) && units.every((one) => !mayDeclareAgain(one, decl, place));
  }
  return alone ? name : `::${name}`;
}

function isBefore(program: Program, decl: VariableDecl, unit: Unit, { span }: Place): boolean {
  return unit.source.realPath === decl.file ? span.start > decl.span.end : includedBefore(program, unit, decl.file, span.start);
}

/** Indices of the braces that are open at an offset. */
function bracesBefore(source: SourceFile, offset: number): readonly number[] {
  const tokens = fileTokens(source);
  const open: number[] = [];
  for (let i = 0; i < tokens.count && tokens.start(i) < offset; i++) {
    if (tokens.is(i, '{')) open.push(i);
    else if (tokens.is(i, '}')) open.pop();
  }
  return open;
}

/** A file that is not loaded comes between, and may make a macro of any name. `all`: those of `<…>` too, which mostly stand above everything. */
function unseenBetween(unit: Unit, from: number, to: number, all: boolean): boolean {
  return unit.source.directives.some(({ kind, argument, start }) => kind === 'include' && start >= from && start < to && (all || argument.trim().startsWith('"')) && !isLoaded(unit, argument));
}

function isLoaded(unit: Unit, argument: string): boolean {
  const quoted = /^"(?:\.{1,2}\/)*([^"]+)"/.exec(argument.trim())?.[1];
  return quoted !== undefined && unit.includes.some((path) => path === quoted || path.endsWith(`/${quoted}`));
}

function includedBy(program: Program, unit: Unit): readonly Unit[] {
  const seen = new Set([unit]);
  for (const one of seen) {
    for (const path of one.includes) {
      const other = program.units.get(path);
      if (other !== undefined) seen.add(other);
    }
  }
  seen.delete(unit);
  return [...seen];
}

/** The function of the place is no member of a class or namespace that has a name: those may hold more than the files show. */
function standsAlone(unit: Unit, place: Place): boolean {
  const fn = place.function ?? functionAt(unit, place.span.start);
  if (fn === null || !fn.understood || fn.owner !== null) return false;
  const tokens = fileTokens(unit.source);
  if (tokens.is(tokens.at(fn.nameSpan.start) - 1, '::') || unit.source.text.slice(fn.nameSpan.start, fn.nameSpan.end).includes('::')) return false;
  // A class in a function around this one is no scope of its own for tokens: its members are looked at with the rest.
  return bracesBefore(unit.source, fn.span.start).every((brace) => tokens.is(brace - 1, 'namespace') || unit.functions.some((outer) => outer.body?.span.start === tokens.start(brace)));
}

/** `using namespace` behind the constant, where the place may see it: the constant's own names did not. */
function namespaceOpened(unit: Unit, decl: VariableDecl, place: Place): boolean {
  const tokens = fileTokens(unit.source);
  const from = unit.source.realPath === decl.file ? decl.span.end : place.function?.span.start ?? 0;
  for (let i = tokens.at(from); i < tokens.count; i++) {
    if (tokens.is(i, 'using') && tokens.is(i + 1, 'namespace') && !isElsewhere(unit, tokens.start(i), place)) return true;
  }
  return false;
}

/** The offset stands in a function in which the place is not. */
function isElsewhere(unit: Unit, offset: number, place: Place): boolean {
  const inside = ({ span }: FunctionDecl, at: number): boolean => span.start <= at && at < span.end;
  return unit.functions.some((fn) => fn.understood && inside(fn, offset) && !(fn.nameSpan.start <= offset && offset < fn.nameSpan.end)
    && !(place.file === unit.source.realPath && inside(fn, place.span.start)));
}

/** A token of the name may declare something else that the place sees. */
function mayDeclareAgain(unit: Unit, decl: VariableDecl, place: Place): boolean {
  const { source } = unit;
  if (!source.text.includes(decl.name)) return false;
  const tokens = fileTokens(source);
  let uses: ReadonlySet<number> | null = null;
  for (let i = 0; i < tokens.count; i++) {
    if (tokens.kind(i) === TokenKind.directive) {
      if (/^#\s*define\b/.test(tokens.spelling(i)) && mayDeclareInMacro(tokens.spelling(i), decl.name)) return true;
      continue;
    }
    const at = tokens.start(i);
    if (!tokens.is(i, decl.name) || (decl.file === source.realPath && decl.nameSpan.start === at)) continue;
    if (isSurelyUsed(tokens, i) || isElsewhere(unit, at, place)) continue;
    uses ??= usesIn(unit, decl, place);
    if (!uses.has(at)) return true;
  }
  return false;
}

function mayDeclareInMacro(directive: string, name: string): boolean {
  const tokens: Tokens = tokenizeFragment(directive.replace(/^#\s*define\s+\w+(\([^)]*\))?/, ''));
  for (let i = 0; i < tokens.count; i++) if (tokens.is(i, name) && !isSurelyUsed(tokens, i)) return true;
  return false;
}

/** Where the tree finds the constant behind the name: in the functions around the place, and in what initialises variables of the file. */
function usesIn(unit: Unit, decl: VariableDecl, { span: at }: Place): ReadonlySet<number> {
  const found = new Set<number>();
  const look = (root: Parameters<typeof walk>[0]): void => walk(root, (node) => {
    if (node.kind === 'ref' && node.decl === decl && node.span.end - node.span.start === decl.name.length) found.add(node.span.start);
    return true;
  });
  for (const fn of unit.functions) if (fn.body !== null && fn.span.start <= at.start && at.start < fn.span.end) look(fn.body);
  const initialisers: readonly (Expr | null)[] = unit.variables.map((variable) => variable.init);
  for (const init of initialisers) if (init !== null) look(init);
  return found;
}
