/** Functions and macros that rest on what differs between the units that include their file (doubts.ts): lowered as something unknown. */
import { expandText } from '../source/expand.js';
import { roleOf, type MacroRole } from '../source/macro-roles.js';
import type { MacroDefinition, Span } from '../source/types.js';
import type { Cst } from './cst.js';
import type { Lowering, UnitState } from './context.js';
import type { Doubt, FileDoubts, MacroDoubt, NameDoubt } from './doubts.js';
import type { FunctionNode } from './function-node.js';
import { touchesTemplate } from './template-text.js';
import type { MacroExpr, Type, VariableDecl } from './tree.js';
import { INT, UNKNOWN } from './types.js';

/** The doubt that an invocation rests on, by the macro's own name or by one in its arguments; null if there is none. */
export function doubtOf(ctx: Lowering, name: string, args: readonly string[] | null): MacroDoubt | null {
  const { doubts } = ctx.unit;
  if (doubts === null) return null;
  const own = doubts.macro(name);
  if (own !== null || args === null) return own;
  for (const text of args) {
    for (const word of text.match(/[A-Za-z_$][\w$]*/g) ?? []) {
      const found = doubts.macro(word);
      if (found !== null) return found;
    }
  }
  return null;
}

/** A number of unknown value where every unit has a number there; else something that may do anything. */
export function doubtfulMacro(ctx: Lowering, node: Cst, macro: MacroDefinition, doubt: MacroDoubt): MacroExpr {
  const span = ctx.span(node);
  const number = doubt.name === macro.name && !doubt.open ? numberType(doubt.readings) : null;
  if (number === null) return { kind: 'macro', span, type: UNKNOWN, name: macro.name, definition: macro, expanded: ctx.opaque(node, doubt.text) };
  return { kind: 'macro', span, type: number, name: macro.name, definition: macro, expanded: { kind: 'ref', span, type: number, name: macro.name, decl: constantOf(doubt, number, macro) } };
}

const constants = new WeakMap<MacroDoubt, VariableDecl>();

function constantOf(doubt: MacroDoubt, type: Type, { file }: MacroDefinition): VariableDecl {
  const known = constants.get(doubt);
  if (known !== undefined) return known;
  const span: Span = { start: 0, end: 0 };
  const made: VariableDecl = {
    kind: 'variable', name: doubt.name, span, nameSpan: span, file, type: { ...type, const: true }, space: 'host', storage: 'namespace', constexpr: true, dynamicShared: false,
    init: null, initStyle: 'none', opaqueInit: true,
  };
  constants.set(doubt, made);
  return made;
}

/** `int` if each reading is a number without a suffix or made of such; null otherwise. */
function numberType(readings: readonly MacroDefinition[]): Type | null {
  return readings.length > 0 && readings.every(({ parameters, body }) => parameters === null && /^[\s()+*-]*\d{1,9}[\s()]*(?:[+*-][\s()]*\d{1,4}[\s()]*)*$/.test(body)) ? INT : null;
}

/** The doubts of a file with the macros that a `pop_macro` makes something else somewhere in it; null if there are none. */
export function withPopped(doubts: FileDoubts | null, macros: ReadonlyMap<string, MacroDefinition>): FileDoubts | null {
  const popped = [...macros.values()].flatMap(({ name, popped }) => (popped === undefined ? [] : [{ name, popped }]));
  if (popped.length === 0) return doubts;
  const all = new Map(doubts?.macros);
  for (const { name, popped: { text, readings } } of popped) if (!all.has(name)) all.set(name, { name, sort: 'macro', text, readings, open: true, popped: true });
  const none = new Map<string, NameDoubt>();
  return doubts === null ? { macros: all, names: none, late: none, declared: none } : { ...doubts, macros: all };
}

/** Definitions to lower a file with: one that is text where some are nothing, so that its invocations are met. */
export function withDoubts(macros: ReadonlyMap<string, MacroDefinition>, doubts: FileDoubts): ReadonlyMap<string, MacroDefinition> {
  const table = new Map(macros);
  for (const [name, { readings }] of doubts.macros) {
    const plain = readings.find((reading) => roleIn(reading, macros).kind === 'plain');
    const chosen = plain ?? table.get(name) ?? readings[0];
    if (chosen !== undefined) table.set(name, { ...chosen, ambiguous: true });
  }
  return table;
}

function roleIn(macro: MacroDefinition, macros: ReadonlyMap<string, MacroDefinition>): MacroRole {
  const others = new Map(macros);
  others.delete(macro.name);
  return roleOf(expandText(macro.body, others, { expandAmbiguous: true }) ?? macro.body);
}

const shapes = new WeakMap<MacroDoubt, boolean>();

/** The readings group the text around them differently: as qualifiers, heads, brackets, or as statements that end by themselves. */
function shapesText(doubt: MacroDoubt, macros: ReadonlyMap<string, MacroDefinition>): boolean {
  const known = shapes.get(doubt);
  if (known !== undefined) return known;
  const roles = doubt.readings.map((reading) => roleIn(reading, macros));
  const silent = roles.every((role) => role.kind === 'empty' || role.kind === 'pragma' || (role.kind === 'qualifiers' && !role.cuda));
  const ends = new Set(roles.flatMap((role) => (role.kind === 'plain' ? [role.ends] : [])));
  const made = !silent && !(roles.every((role) => role.kind === 'plain' || role.kind === 'empty') && ends.size === 1);
  shapes.set(doubt, made);
  return made;
}

/** The function's body cannot be read as one text for all units: it becomes one unknown statement. True if so. */
export function doubtBody(ctx: Lowering, node: Cst, decl: FunctionNode): boolean {
  const { doubts, source, macros } = ctx.unit;
  if (doubts === null) return false;
  const found = doubts.within(decl.span).find(({ doubt, inDirective }) => inDirective || (doubt.sort === 'macro' && shapesText(doubt as MacroDoubt, macros)));
  if (found === undefined) return false;
  decl.understood = false;
  decl.problems.push({ line: source.line(found.at), message: messageOf(found.doubt) });
  decl.body = { kind: 'compound', span: ctx.span(node), body: [ctx.opaqueStmt(node, found.doubt.text)] };
  return true;
}

/** Lowers a part of a file; what stands in templates is looked up where they are instantiated, too. */
export function duringDoubts<T>({ doubts, source }: UnitState, span: Span, lower: () => T): T {
  return doubts === null || doubts.file.late.size === 0 ? lower() : doubts.during(touchesTemplate(source, span), lower);
}

/** Says what of a function that was lowered differs between the units. */
export function tellDoubts(ctx: Lowering, decl: FunctionNode): void {
  const { doubts, source } = ctx.unit;
  if (doubts === null) return;
  for (const { doubt, at } of doubts.within(decl.span)) decl.problems.push({ line: source.line(at), message: messageOf(doubt) });
}

function messageOf(doubt: Doubt): string {
  return doubt.popped === true ? doubt.text : `not the same for all who include it: ${doubt.text}`;
}
