/**
 * How host text at a launch says a constant that the kernel calls by its name: C++ looks the name up from the launch, through blocks, lambdas,
 * parameters, classes with their bases, namespaces and using-declarations, and macros come before all of them.
 *
 * The name alone will do only where nothing but the kernel's constant can be found: every token of that name in the launch's translation unit is
 * surely a use, or stands in a function that the launch is not in. What no loaded file shows (bases, namespaces that a header reopens) counts as
 * another declaration. From the global scope, `::name`, only a macro hides it.
 */
import { walk } from '../../src/analysis/children.js';
import { TokenKind, type Tokens } from '../../src/source/tokens.js';
import { tokenizeFragment } from '../../src/source/tokenizer.js';
import type { SourceFile } from '../../src/source/types.js';
import { pastedAt } from '../../src/syntax/pasted-names.js';
import type { Expr, FunctionDecl, Launch, Program, Unit, VariableDecl } from '../../src/syntax/tree.js';
import { fileTokens, functionAt } from './launch-mentions.js';
import { isSurelyUsed } from './token-use.js';

/** The constant as text that means it at each of the launches; null if only its value does. It must stand in the launches' file, in front of them. */
export function sayableAt(program: Program, decl: VariableDecl, launches: readonly Launch[]): string | null {
  const { name } = decl;
  const unit = program.units.get(decl.file);
  if (unit === undefined || !launches.every((launch) => launch.file === decl.file && launch.span.start > decl.span.end)) return null;
  if (bracesBefore(unit.source, decl.span.start).length > 0 || isMacroSomewhere(program, unit, decl, launches)) return null;
  const units = [unit, ...includedBy(program, unit)];
  if (units.some((one) => pastedAt(one, name) !== null)) return null;
  const alone = launches.every((launch) => standsAlone(unit, launch)) && !namespaceOpened(unit, decl, launches) && units.every((one) => !mayDeclareAgain(one, decl, launches));
  return alone ? name : `::${name}`;
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

/** Some file makes a macro of the name, or one that is not loaded comes between and may. */
function isMacroSomewhere(program: Program, unit: Unit, decl: VariableDecl, launches: readonly Launch[]): boolean {
  if (unit.macros.has(decl.name)) return true;
  const defines = (one: Unit): boolean => one.source.directives.some(({ kind, argument }) => kind === 'define' && /^\w+/.exec(argument.trim())?.[0] === decl.name);
  if ([...program.units.values()].some(defines)) return true;
  const last = Math.max(...launches.map((launch) => launch.span.start));
  return unit.source.directives.some(({ kind, argument, start }) => kind === 'include' && start > decl.span.end && start < last && !isLoaded(unit, argument));
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

function functionOf(unit: Unit, launch: Launch): FunctionDecl | null {
  return launch.function ?? functionAt(unit, launch.span.start);
}

/** The function of the launch is no member of a class or namespace that has a name: those may hold more than the files show. */
function standsAlone(unit: Unit, launch: Launch): boolean {
  const fn = functionOf(unit, launch);
  if (fn === null || !fn.understood || fn.owner !== null) return false;
  const tokens = fileTokens(unit.source);
  if (tokens.is(tokens.at(fn.nameSpan.start) - 1, '::') || unit.source.text.slice(fn.nameSpan.start, fn.nameSpan.end).includes('::')) return false;
  // A class in a function around this one is no scope of its own for tokens: its members are looked at with the rest.
  return bracesBefore(unit.source, fn.span.start).every((brace) => tokens.is(brace - 1, 'namespace') || unit.functions.some((outer) => outer.body?.span.start === tokens.start(brace)));
}

/** `using namespace` behind the constant, where the launch may see it: the kernel did not. */
function namespaceOpened(unit: Unit, decl: VariableDecl, launches: readonly Launch[]): boolean {
  const tokens = fileTokens(unit.source);
  for (let i = tokens.at(decl.span.end); i < tokens.count; i++) {
    if (tokens.is(i, 'using') && tokens.is(i + 1, 'namespace') && !isElsewhere(unit, tokens.start(i), launches)) return true;
  }
  return false;
}

/** The offset stands in a function in which no launch is. */
function isElsewhere(unit: Unit, offset: number, launches: readonly Launch[]): boolean {
  const inside = ({ span }: FunctionDecl, at: number): boolean => span.start <= at && at < span.end;
  return unit.functions.some((fn) => fn.understood && inside(fn, offset) && !(fn.nameSpan.start <= offset && offset < fn.nameSpan.end)
    && !launches.some((launch) => launch.file === unit.source.realPath && inside(fn, launch.span.start)));
}

/** A token of the name may declare something else that a launch sees. */
function mayDeclareAgain(unit: Unit, decl: VariableDecl, launches: readonly Launch[]): boolean {
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
    if (isSurelyUsed(tokens, i) || isElsewhere(unit, at, launches)) continue;
    uses ??= usesIn(unit, decl, launches);
    if (!uses.has(at)) return true;
  }
  return false;
}

function mayDeclareInMacro(directive: string, name: string): boolean {
  const tokens: Tokens = tokenizeFragment(directive.replace(/^#\s*define\s+\w+(\([^)]*\))?/, ''));
  for (let i = 0; i < tokens.count; i++) if (tokens.is(i, name) && !isSurelyUsed(tokens, i)) return true;
  return false;
}

/** Where the tree finds the constant behind the name: in the functions around the launches, and in what initialises variables of the file. */
function usesIn(unit: Unit, decl: VariableDecl, launches: readonly Launch[]): ReadonlySet<number> {
  const found = new Set<number>();
  const look = (root: Parameters<typeof walk>[0]): void => walk(root, (node) => {
    if (node.kind === 'ref' && node.decl === decl && node.span.end - node.span.start === decl.name.length) found.add(node.span.start);
    return true;
  });
  for (const fn of unit.functions) if (fn.body !== null && launches.some((launch) => fn.span.start <= launch.span.start && launch.span.end <= fn.span.end)) look(fn.body);
  const initialisers: readonly (Expr | null)[] = unit.variables.map((variable) => variable.init);
  for (const init of initialisers) if (init !== null) look(init);
  return found;
}
