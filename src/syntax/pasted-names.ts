/**
 * Names that a file makes of pieces: `CAT(re, lax)` with `#define CAT(a, b) a##b` says `relax`, and no token of the file does. Who looks for every
 * mention of a name by its spelling asks here too.
 */
import { splitArguments } from '../source/condition.js';
import { expandMacro } from '../source/expand.js';
import { tokensOf } from '../source/source-file.js';
import { tokenizeFragment } from '../source/tokenizer.js';
import type { MacroDefinition } from '../source/types.js';
import type { Unit } from './tree.js';

interface Invocation {
  readonly offset: number;
  /** Identifiers of the expansion that no argument spells: those are seen where they stand. */
  readonly names: ReadonlySet<string>;
  /** The expansion is not known, or another build's may be another one: identifiers from which it would be made. */
  readonly pieces: ReadonlySet<string> | null;
}

const known = new WeakMap<Unit, readonly Invocation[]>();

/** Where the file's text first makes the name of pieces, or may do so; null if it never does. Directives are no text: what they define counts where it is used. */
export function pastedAt(unit: Unit, name: string): number | null {
  let all = known.get(unit);
  if (all === undefined) known.set(unit, all = invocationsOf(unit));
  const found = all.find(({ names, pieces }) => names.has(name) || (pieces !== null && mayMake(pieces, name)));
  return found?.offset ?? null;
}

function invocationsOf(unit: Unit): readonly Invocation[] {
  const makers = makersOf(unit.macros);
  if (makers.size === 0) return [];
  const tokens = tokensOf(unit.source);
  const { text } = unit.source;
  const found: Invocation[] = [];
  for (let i = 0; i < tokens.count; i++) {
    const macro = tokens.isIdentifier(i) ? makers.get(tokens.spelling(i)) : undefined;
    if (macro === undefined) continue;
    let args: string[] | null = null;
    if (macro.parameters !== null) {
      if (!tokens.is(i + 1, '(')) continue;
      let end = i + 1;
      for (let depth = 0; end < tokens.count; end++) {
        if (tokens.is(end, '(')) depth++;
        else if (tokens.is(end, ')') && --depth === 0) break;
      }
      args = splitArguments(text.slice(tokens.end(i + 1), tokens.start(Math.min(end, tokens.count - 1))));
    }
    const expanded = expandMacro(macro.name, args, unit.macros, { expandAmbiguous: true });
    const sure = expanded !== null && !restsOnSeveral(macro, unit.macros);
    const spelled = new Set((args ?? []).flatMap((arg) => [...identifiers(arg)]));
    const names = new Set(expanded === null ? [] : [...identifiers(expanded)].filter((word) => !spelled.has(word)));
    const pieces = sure ? null : new Set([...spelled, ...wordsBehind(macro, unit.macros)]);
    found.push({ offset: tokens.start(i), names, pieces });
  }
  return found;
}

/** Macros that paste, by themselves or through others. */
function makersOf(macros: ReadonlyMap<string, MacroDefinition>): ReadonlyMap<string, MacroDefinition> {
  const makers = new Map<string, MacroDefinition>();
  for (const macro of macros.values()) if (macro.body.includes('##')) makers.set(macro.name, macro);
  if (makers.size === 0) return makers;
  const words = new Map([...macros.values()].map((macro) => [macro, macro.body.match(/[A-Za-z_]\w*/g) ?? []]));
  for (let grown = true; grown;) {
    grown = false;
    for (const [macro, used] of words) {
      if (makers.has(macro.name) || !used.some((word) => makers.has(word))) continue;
      makers.set(macro.name, macro);
      grown = true;
    }
  }
  return makers;
}

function identifiers(text: string): ReadonlySet<string> {
  const tokens = tokenizeFragment(text);
  const names = new Set<string>();
  for (let i = 0; i < tokens.count; i++) if (tokens.isIdentifier(i)) names.add(tokens.spelling(i));
  return names;
}

/** Identifiers of a macro's body and of those of the macros in it, parameters aside. */
function wordsBehind(macro: MacroDefinition, macros: ReadonlyMap<string, MacroDefinition>): ReadonlySet<string> {
  const words = new Set<string>();
  const rest = [macro];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    for (const word of identifiers(next.body)) {
      if (words.has(word) || next.parameters?.includes(word) === true) continue;
      words.add(word);
      const inner = macros.get(word);
      if (inner !== undefined) rest.push(inner);
    }
  }
  return words;
}

function restsOnSeveral(macro: MacroDefinition, macros: ReadonlyMap<string, MacroDefinition>): boolean {
  return macro.ambiguous || [...wordsBehind(macro, macros)].some((word) => macros.get(word)?.ambiguous === true);
}

/** A piece that the name begins or ends with is among them: too many rather than one too few. */
function mayMake(pieces: ReadonlySet<string>, name: string): boolean {
  return [...pieces].some((piece) => piece.length < name.length && (name.startsWith(piece) || name.endsWith(piece)));
}
