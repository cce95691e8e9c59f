/**
 * What a verdict owes to the preprocessor configuration: an arm of `#if` that is left out may give a variable another value than the arm that is compiled
 * (SEMANTICS 1: the configuration is part of the verdict; an edit needs all arms to agree).
 *
 * The tree holds the compiled arms only, so arms that are left out are read as tokens: a name that is followed by an assignment, a subscript or a member, or preceded by
 * `&` or a step, may change there. Names are followed from the condition through the definitions that reach it. Not handled: variables that an arm only
 * hands to a function by reference, and jumps in such arms.
 */
import { tokenizeFragment } from '../source/tokenizer.js';
import { TokenKind } from '../source/tokens.js';
import type { Expr, FunctionDecl } from '../syntax/tree.js';
import { walk } from './children.js';
import type { Definition } from './facts.js';
import type { Env } from './env.js';

interface LeftOut { readonly condition: string; readonly line: number; readonly start: number; readonly changes: ReadonlySet<string> }

const memo = new WeakMap<FunctionDecl, readonly LeftOut[]>();

/** In words, one for each arm that may change what the expression depends on. */
export function configurationOf(expr: Expr, env: Env): readonly string[] {
  const arms = leftOutOf(env);
  if (arms.length === 0) return [];
  const names = namesBehind(expr, env);
  const loops = env.loops(expr);
  // What stands behind comes into it only around a loop.
  const before = (start: number): boolean => start < expr.span.end || loops.some((loop) => loop.span.start < start && start < loop.span.end);
  return arms.filter((arm) => before(arm.start) && [...arm.changes].some((name) => names.has(name))).map((arm) => `the arm of \`#if ${arm.condition}\` in line ${arm.line} stays left out`);
}

function leftOutOf(env: Env): readonly LeftOut[] {
  const fn = env.function;
  const known = memo.get(fn);
  if (known !== undefined) return known;
  const arms = [...fn.inactive];
  if (fn.body !== null) walk(fn.body, (node) => { if (node.kind === 'preprocessor') for (const arm of node.arms) if (!arm.active) arms.push(arm); });
  const { source } = env.unit;
  const made = arms.filter((arm) => arm.condition.trim() !== '0').map((arm) => ({
    condition: arm.condition, line: source.line(arm.span.start), start: arm.span.start, changes: changedIn(source.text.slice(arm.span.start, arm.span.end)),
  })).filter((arm) => arm.changes.size > 0);
  memo.set(fn, made);
  return made;
}

const BEHIND: ReadonlySet<string> = new Set(['=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=', '++', '--', '[', '.', '->', '(', '{']);
const BEFORE: ReadonlySet<string> = new Set(['&', '++', '--']);

function changedIn(text: string): ReadonlySet<string> {
  const tokens = tokenizeFragment(text);
  const changed = new Set<string>();
  for (let i = 0; i < tokens.count; i++) {
    if (tokens.kind(i) !== TokenKind.identifier) continue;
    if (BEHIND.has(tokens.spelling(i + 1)) || (i > 0 && BEFORE.has(tokens.spelling(i - 1)))) changed.add(tokens.spelling(i));
  }
  return changed;
}

const MAX_NAMES = 64;

/** Names of the variables that the value may come from. */
function namesBehind(expr: Expr, env: Env): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<Definition['decl'] | Expr>();
  const visit = (from: Expr): void => {
    if (seen.has(from) || names.size > MAX_NAMES) return;
    seen.add(from);
    walk(from, (node) => {
      if (node.kind !== 'ref') return;
      names.add(node.name);
      if (node.decl === null || (node.decl.kind !== 'variable' && node.decl.kind !== 'parameter')) return;
      for (const definition of env.definitions(node)) {
        if (definition.kind === 'declaration' && definition.decl.init !== null) visit(definition.decl.init);
        else if (definition.kind === 'assignment' && definition.node.kind === 'assign') visit(definition.node.value);
      }
    });
  };
  visit(expr);
  return names;
}
