/**
 * Variables that a function hands to something which another arm of `#if` declares otherwise: a function that takes them by reference there, a macro that
 * steps them, a type that is a reference. By tokens, once for a function: what the other arm makes of such text no tree holds.
 */
import { tokensOf } from '../source/source-file.js';
import type { Tokens } from '../source/tokens.js';
import type { AmbiguousName, AmbiguousNames } from '../syntax/ambiguous-names.js';
import type { FunctionDecl, Unit } from '../syntax/tree.js';

export interface HandedOn {
  readonly to: AmbiguousName;
  readonly at: number;
  /** What is handed over by its name alone, and what a pointer or reference among that leads to. */
  readonly names: ReadonlySet<string>;
}

const NOTHING: readonly HandedOn[] = [];
const memo = new WeakMap<FunctionDecl, readonly HandedOn[]>();

export function handedOn(fn: FunctionDecl, unit: Unit, ambiguous: AmbiguousNames): readonly HandedOn[] {
  let found = memo.get(fn);
  if (found === undefined) memo.set(fn, found = fn.body === null ? NOTHING : search(tokensOf(unit.source), fn.body.span.start, fn.body.span.end, ambiguous));
  return found;
}

function search(tokens: Tokens, start: number, end: number, ambiguous: AmbiguousNames): readonly HandedOn[] {
  const first = tokens.at(start);
  const found: { readonly to: AmbiguousName; readonly at: number; readonly names: Set<string> }[] = [];
  /** Objects of types in doubt, by their names. */
  const objects = new Map<string, AmbiguousName>();
  let last = first;
  for (; last < tokens.count && tokens.start(last) < end; last++) {
    if (!tokens.isIdentifier(last)) continue;
    const name = tokens.spelling(last);
    const meant = ambiguous.meantAt(tokens, last, name) ?? objects.get(name) ?? null;
    if (meant === null || meant.plain === true) continue;
    const names = new Set<string>(meant.mentions);
    const stop = statementEnd(tokens, last);
    for (let i = last + 1; i < stop; i++) if (tokens.isIdentifier(i) && isWhole(tokens, i)) names.add(tokens.spelling(i));
    // `INC f`, `f INC`, `T r = f`, `T r`.
    if (tokens.isIdentifier(last - 1)) names.add(tokens.spelling(last - 1));
    const next = behindMarks(tokens, last + 1);
    if (tokens.isIdentifier(next)) {
      names.add(tokens.spelling(next));
      if (!objects.has(tokens.spelling(next))) objects.set(tokens.spelling(next), meant);
    }
    if (names.size > 0 || tokens.is(last + 1, '(')) found.push({ to: meant, at: tokens.start(last), names });
  }
  if (found.length === 0) return NOTHING;
  const leads = leadsTo(tokens, first, last);
  for (const { names } of found) for (const name of names) for (const target of leads.get(name) ?? []) names.add(target);
  return found;
}

function statementEnd(tokens: Tokens, from: number): number {
  let depth = 0;
  let i = from;
  for (; i < tokens.count; i++) {
    if (tokens.is(i, '(') || tokens.is(i, '[')) depth++;
    else if (tokens.is(i, ')') || tokens.is(i, ']')) { if (--depth < 0) break; }
    else if (tokens.is(i, ';') || tokens.is(i, '}')) break;
  }
  return i;
}

/** An operand by itself, not one of a computation: `(f)`, `, f.x`, `= f[0]`, `&f`, `<< f`. */
function isWhole(tokens: Tokens, i: number): boolean {
  return BEFORE.has(tokens.spelling(i - 1)) && AFTER.has(tokens.spelling(i + 1));
}

const BEFORE = new Set(['(', ',', '{', '=', '&', '*', '++', '--', '<<', '>>', '+=', '-=', '*=', '/=', '|=', '&=', '^=', '%=']);
const AFTER = new Set([')', ',', '}', ';', '.', '->', '[', '++', '--', '=', '+=', '-=', '<<', '>>']);

function behindMarks(tokens: Tokens, from: number): number {
  let i = from;
  while (tokens.is(i, '&') || tokens.is(i, '*') || tokens.is(i, 'const') || tokens.is(i, '&&')) i++;
  return i;
}

/** Variables whose address a pointer is given, or that a reference is bound to. */
function leadsTo(tokens: Tokens, first: number, last: number): ReadonlyMap<string, ReadonlySet<string>> {
  const leads = new Map<string, Set<string>>();
  const add = (from: string, to: string): void => {
    const known = leads.get(from);
    if (known === undefined) leads.set(from, new Set([to]));
    else known.add(to);
  };
  for (let i = first + 1; i < last; i++) {
    if (!tokens.is(i, '=') && !tokens.is(i, '{') && !tokens.is(i, '(')) continue;
    if (!tokens.isIdentifier(i - 1)) continue;
    const isAddress = tokens.is(i + 1, '&');
    const target = isAddress ? i + 2 : i + 1;
    if (tokens.isIdentifier(target) && (isAddress || tokens.is(i - 2, '&') || tokens.is(i - 2, '*'))) add(tokens.spelling(i - 1), tokens.spelling(target));
  }
  return leads;
}
