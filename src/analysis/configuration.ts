/**
 * What a verdict owes to the preprocessor configuration: an arm of `#if` that is left out may give a variable another value than the arm that is compiled
 * (SEMANTICS 1: the configuration is part of the verdict; an edit needs all arms to agree).
 *
 * The tree holds the compiled arms only, so arms that are left out are read as tokens: a name that is followed by an assignment, a subscript or a member, or preceded by
 * `&` or a step, or that a reference is bound to or a call is given, may change there. Names are followed from the condition through the definitions that reach it;
 * one that an arm outside of the function declares otherwise (ambiguous-names.ts) is another value in that arm, and so may be one that is handed to such a name (handed-on.ts). Not handled: jumps in such arms.
 */
import { tokenizeFragment } from '../source/tokenizer.js';
import { TokenKind, type Tokens } from '../source/tokens.js';
import { ambiguousNames, type AmbiguousName, type AmbiguousNames } from '../syntax/ambiguous-names.js';
import { isPlatform } from '../syntax/names-in-arms.js';
import type { Expr, FunctionDecl } from '../syntax/tree.js';
import { walk } from './children.js';
import type { Definition } from './facts.js';
import type { Env } from './env.js';
import { handedOn } from './handed-on.js';
import { indexBody } from './function-index.js';

interface LeftOut { readonly condition: string; readonly line: number; readonly start: number; readonly changes: ReadonlySet<string> }

const memo = new WeakMap<FunctionDecl, readonly LeftOut[]>();

/** In words, one for each arm that may change what the expression depends on. */
export function configurationOf(expr: Expr, env: Env): readonly string[] {
  const arms = leftOutOf(env);
  const ambiguous = ambiguousNames(env.unit, env.program);
  if (arms.length === 0 && ambiguous === null) return [];
  const { names, members, shared } = namesBehind(expr, env);
  const loops = env.loops(expr);
  // What stands behind comes into it only around a loop.
  const before = (start: number): boolean => start < expr.span.end || loops.some((loop) => loop.span.start < start && start < loop.span.end);
  const inFunction = arms.filter((arm) => before(arm.start) && [...arm.changes].some((name) => names.has(name))).map((arm) => `the arm of \`#if ${arm.condition}\` in line ${arm.line} stays left out`);
  if (ambiguous === null) return inFunction;
  const given = handedOn(env.function, env.unit, ambiguous).filter(({ at, names: handed }) => before(at) && (shared || [...handed].some((name) => names.has(name))));
  return [...new Set([...inFunction, ...declaredInArms(names, members, given.map(({ to }) => to), ambiguous, env)])];
}

function declaredInArms(names: ReadonlySet<string>, members: ReadonlySet<string>, given: readonly AmbiguousName[], ambiguous: AmbiguousNames, env: Env): readonly string[] {
  const { path } = env.unit.source;
  const told: string[] = [];
  for (const found of [...[...names].map((name) => ambiguous.named(name)), ...[...members].map((name) => ambiguous.member(name)), ...given]) {
    if (found === null) continue;
    const place = found.path === path ? `line ${found.line}` : `${found.path}:${found.line}`;
    told.push(found.line === 0 ? found.text : `the arm of \`#if ${found.condition}\` in ${place} stays left out`);
  }
  return told;
}

function leftOutOf(env: Env): readonly LeftOut[] {
  const fn = env.function;
  const known = memo.get(fn);
  if (known !== undefined) return known;
  const arms = [...fn.inactive];
  if (fn.body !== null) for (const node of indexBody(fn.body, fn.returns).preprocessor) for (const arm of node.arms) if (!arm.active) arms.push(arm);
  const { source } = env.unit;
  const made = arms.filter((arm) => arm.condition.trim() !== '0').map((arm) => ({
    condition: arm.condition, line: source.line(arm.span.start), start: arm.span.start, changes: changedIn(source.text.slice(arm.span.start, arm.span.end), isChosen(arm.condition)),
  })).filter((arm) => arm.changes.size > 0);
  memo.set(fn, made);
  return made;
}

const BEHIND: ReadonlySet<string> = new Set(['=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=', '++', '--', '[', '.', '->', '(', '{']);
const BEFORE: ReadonlySet<string> = new Set(['&', '++', '--']);

/** By a build, not by the compiler that is used. */
function isChosen(condition: string): boolean {
  return (condition.match(/[A-Za-z_$][\w$]*/g) ?? []).some((word) => word !== 'defined' && !isPlatform(word));
}

function changedIn(text: string, chosen: boolean): ReadonlySet<string> {
  const tokens = tokenizeFragment(text);
  const changed = new Set<string>();
  for (let i = 0; i < tokens.count; i++) {
    if (tokens.kind(i) !== TokenKind.identifier) continue;
    if (BEHIND.has(tokens.spelling(i + 1)) || (i > 0 && BEFORE.has(tokens.spelling(i - 1))) || (chosen && isHandedOn(tokens, i))) changed.add(tokens.spelling(i));
  }
  return changed;
}

/** What `int &r = name` binds, or a call may take by reference. */
function isHandedOn(tokens: Tokens, i: number): boolean {
  const before = tokens.spelling(i - 1);
  if (before === '=') return tokens.isIdentifier(i - 2) && (tokens.is(i - 3, '&') || tokens.is(i - 3, '&&'));
  if (before !== '(' && before !== '{' && before !== ',') return false;
  const after = tokens.spelling(i + 1);
  if (after !== ')' && after !== '}' && after !== ',') return false;
  let open = i - 1;
  for (let depth = 0; open >= 0; open--) {
    if (tokens.is(open, ')')) depth++;
    else if (tokens.is(open, '(') || tokens.is(open, '{')) { if (depth === 0) break; if (tokens.is(open, '(')) depth--; }
    else if (tokens.is(open, ';')) return false;
  }
  return tokens.isIdentifier(open - 1) && !NO_CALL.has(tokens.spelling(open - 1));
}

const NO_CALL: ReadonlySet<string> = new Set(['if', 'while', 'for', 'switch', 'sizeof', 'return', 'else', 'do']);

const MAX_NAMES = 64;

interface NamesBehind {
  readonly names: ReadonlySet<string>;
  readonly members: ReadonlySet<string>;
  /** A variable is among them that functions know without being given it. */
  readonly shared: boolean;
}

/** Names of the variables, macros and functions that the value may come from, and of the members. */
function namesBehind(expr: Expr, env: Env): NamesBehind {
  const names = new Set<string>();
  const members = new Set<string>();
  let shared = false;
  const seen = new Set<Definition['decl'] | Expr>();
  const visit = (from: Expr): void => {
    if (seen.has(from) || names.size > MAX_NAMES) return;
    seen.add(from);
    walk(from, (node) => {
      if (node.kind === 'macro') names.add(node.name);
      else if (node.kind === 'member') members.add(node.name);
      else if (node.kind === 'call' && 'name' in node.callee) (node.callee.kind === 'method' ? members : names).add(node.callee.name);
      if (node.kind !== 'ref') return;
      names.add(node.name);
      if (node.decl === null || (node.decl.kind !== 'variable' && node.decl.kind !== 'parameter')) return;
      shared ||= node.decl.kind === 'variable' && node.decl.storage === 'namespace' && !node.decl.constexpr && node.decl.type.const !== true && node.decl.space !== 'constant';
      for (const definition of env.definitions(node)) {
        if (definition.kind === 'declaration' && definition.decl.init !== null) visit(definition.decl.init);
        else if (definition.kind === 'assignment' && definition.node.kind === 'assign') visit(definition.node.value);
      }
    });
  };
  visit(expr);
  return { names, members, shared };
}
