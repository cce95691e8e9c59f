/** The macros of a unit: those of the command line, those inherited from its includes and those of the file itself. */
import type { MacroDefinition, SourceFile } from './types.js';
import { walkConditionals } from './conditionals.js';
import { parseDefine } from './define.js';
import { macroPragmas } from './macro-pragmas.js';

/** The `file` of a macro that an option or a compile command defines. */
export const COMMAND_LINE = '<command line>';

/** A macro that compile commands of one file define differently: as one of them does, and what differs in words. */
export interface VaryingDefine { readonly head: string; readonly body: string; readonly text: string }

/**
 * All macros that the text of `source` may use. The definition that the default configuration keeps wins; a name with another,
 * different definition in an arm that a build may choose, or later in the file, is `ambiguous`. `inherited` are the macros of the
 * includes, `defines` those of the command line, by name; of those that are `varying` no build is the only one.
 */
export function collectMacros(
  source: SourceFile,
  inherited?: ReadonlyMap<string, MacroDefinition>,
  defines?: Readonly<Record<string, string>>,
  varying?: ReadonlyMap<string, VaryingDefine>,
): Map<string, MacroDefinition> {
  const table = new Map<string, MacroDefinition>(inherited);
  for (const macro of commandLineMacros(defines ?? {})) table.set(macro.name, macro);
  for (const { head, body, text } of varying?.values() ?? []) {
    const [macro] = commandLineMacros({ [head]: body });
    if (macro === undefined) continue;
    const chosen = table.get(macro.name);
    table.set(macro.name, chosen?.file === COMMAND_LINE ? { ...chosen, ambiguous: true, varies: text } : chosen ?? { ...macro, ambiguous: true, inactive: true, varies: text });
  }
  const initial = new Map(table);
  const own: MacroDefinition[] = [];
  walkConditionals(source, initial, {
    define(definition, certainty) {
      if (certainty === 'inactive') return;
      own.push(definition);
      const known = table.get(definition.name);
      const found: MacroDefinition = certainty === 'active' ? definition : { ...definition, inactive: true };
      table.set(definition.name, known ? merge(known, found) : found);
    },
    undef(name, certainty) {
      const known = table.get(name);
      if (known !== undefined && certainty === 'active' && known.undoneIn === undefined) table.set(name, { ...known, undoneIn: source.realPath });
    },
  });
  markPopped(source, table, [...initial.values(), ...own]);
  markReplaceable(table);
  return table;
}

/** A name that is popped is what it was before, or nothing: which of both, none of the table's readings tells. */
function markPopped(source: SourceFile, table: Map<string, MacroDefinition>, all: readonly MacroDefinition[]): void {
  for (const { kind, name, start, isDirective } of macroPragmas(source, table)) {
    if (kind === 'push') continue;
    for (const one of name === null ? [...table.keys()] : [name]) {
      const macro = table.get(one);
      if (macro === undefined || (macro.popped !== undefined && (macro.popped.byOperator || isDirective))) continue;
      const text = `${one} is another macro, or none, behind the pop_macro in line ${source.line(start)} of ${source.path.slice(source.path.lastIndexOf('/') + 1)}`;
      table.set(one, { ...macro, ambiguous: true, popped: { text, readings: all.filter((reading) => reading.name === one), byOperator: !isDirective } });
    }
  }
}

/** What is made of a macro that a build may replace changes with it. */
function markReplaceable(table: Map<string, MacroDefinition>): void {
  for (let found = [...table.values()].filter((macro) => macro.replaceable).map((macro) => macro.name); found.length > 0;) {
    const names = new Set(found);
    found = [];
    for (const macro of table.values()) {
      if (macro.replaceable || !(macro.body.match(/[A-Za-z_]\w*/g) ?? []).some((word) => names.has(word))) continue;
      table.set(macro.name, { ...macro, replaceable: true });
      found.push(macro.name);
    }
  }
}

/** Joins the tables of several includes, in order. */
export function mergeMacros(tables: Iterable<ReadonlyMap<string, MacroDefinition>>): Map<string, MacroDefinition> {
  const result = new Map<string, MacroDefinition>();
  for (const table of tables) {
    for (const [name, macro] of table) {
      const known = result.get(name);
      if (known === macro) continue;
      result.set(name, known ? merge(known, macro) : macro);
    }
  }
  return result;
}

export function commandLineMacros(defines: Readonly<Record<string, string>>): MacroDefinition[] {
  return Object.entries(defines).flatMap(([head, body]) => parseDefine(`${head} ${body}`, COMMAND_LINE, 0) ?? []);
}

/** An active definition replaces what was there, unless it says the same; one that only another configuration has never does. */
function merge(known: MacroDefinition, found: MacroDefinition): MacroDefinition {
  const differs = !sameDefinition(known, found);
  const keep = known.inactive ? found.inactive : found.inactive || !differs;
  const chosen = keep ? known : found;
  const ambiguous = known.ambiguous || found.ambiguous || differs;
  const replaceable = (known.replaceable ?? false) || (found.replaceable ?? false);
  const popped = found.popped ?? known.popped;
  // The later word counts: what one include undoes the next may define.
  const undoneIn = found.inactive ? known.undoneIn : found.undoneIn;
  if (chosen.ambiguous === ambiguous && (chosen.replaceable ?? false) === replaceable && chosen.popped === popped && chosen.undoneIn === undoneIn) return chosen;
  const { undoneIn: _, ...rest } = chosen;
  return { ...rest, ambiguous, ...(replaceable ? { replaceable } : {}), ...(popped === undefined ? {} : { popped }), ...(undoneIn === undefined ? {} : { undoneIn }) };
}

/** Two definitions that C++ takes for the same. */
export function sameDefinition(a: MacroDefinition, b: MacroDefinition): boolean {
  const spaces = /\s+/g;
  return (
    a.variadic === b.variadic &&
    (a.parameters === null) === (b.parameters === null) &&
    (a.parameters ?? []).join() === (b.parameters ?? []).join() &&
    a.body.replace(spaces, ' ') === b.body.replace(spaces, ' ')
  );
}
