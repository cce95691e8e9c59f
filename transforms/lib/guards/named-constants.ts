/**
 * Where the value of a constant comes from: from the text itself, or from a name that says it, which another build may give another value.
 *
 * A macro is *open* if its definition is one of several, comes from the command line, stands under `#ifndef` of its own name, or rests on an open
 * one: its value here is not its value everywhere. A template parameter is open too. Text that an edit writes spells such names instead of
 * their values, and what is decided about it holds for the values that `openRange` tells.
 */
import { walk } from '../../../src/analysis/children.js';
import { COMMAND_LINE } from '../../../src/source/macros.js';
import type { MacroDefinition, SourceFile } from '../../../src/source/types.js';
import type { Expr, Program, Type, Unit } from '../../../src/syntax/tree.js';

/** `literal`: written out. `named`: behind a name with one value. `open`: behind a name that other builds or instantiations may give another. */
export type Provenance = 'literal' | 'named' | 'open';

const ORDER: readonly Provenance[] = ['literal', 'named', 'open'];

function wider(a: Provenance, b: Provenance): Provenance {
  return ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b;
}

const known = new WeakMap<Unit, WeakMap<Expr, Provenance>>();

/** What the constants in an expression, and in the initialisers behind its names, come from. */
export function provenanceOf(expr: Expr, unit: Unit, program: Program): Provenance {
  let ofUnit = known.get(unit);
  if (ofUnit === undefined) known.set(unit, ofUnit = new WeakMap());
  const old = ofUnit.get(expr);
  if (old !== undefined) return old;
  // An initialiser that names its own variable says nothing new.
  ofUnit.set(expr, 'literal');
  let found: Provenance = 'literal';
  walk(expr, (node) => {
    if (!('type' in node)) return true;
    const here = ofNode(node as Expr, unit, program);
    if (here !== null) found = wider(found, here);
    return true;
  });
  ofUnit.set(expr, found);
  return found;
}

function ofNode(node: Expr, unit: Unit, program: Program): Provenance | null {
  switch (node.kind) {
    case 'macro': return restsOnOpen(node.definition, unit, program) || wordsIn(sliceOf(unit, node)).some((word) => isOpenName(word, unit, program)) ? 'open' : 'named';
    case 'coordinate': return node.base === 'warpSize' ? 'named' : null;
    case 'sizeof': return node.of !== null && isScalar(node.of) ? null : 'named';
    case 'ref': {
      const { decl } = node;
      if (decl === null) return null;
      if (decl.kind === 'template-parameter') return 'open';
      if (decl.kind === 'enumerator') {
        let result: Provenance = 'named';
        for (let at: typeof decl | null = decl; at !== null; at = at.value === null ? at.previous : null) if (at.value !== null) result = wider(result, provenanceOf(at.value, unit, program));
        return result;
      }
      if (decl.kind !== 'variable') return null;
      const constant = decl.constexpr || decl.type.const === true;
      // What is assigned to it is not looked at.
      if (decl.init === null) return 'open';
      const inner = provenanceOf(decl.init, unit, program);
      return constant ? wider('named', inner) : inner;
    }
    default: return null;
  }
}

function isScalar(type: Type): boolean {
  return type.kind === 'int' || type.kind === 'float' || type.kind === 'bool' || type.kind === 'pointer';
}

function sliceOf(unit: Unit, node: Expr): string {
  return unit.source.text.slice(node.span.start, node.span.end);
}

/** The text of a macro is no tree: only its words can be asked. */
function wordsIn(text: string): readonly string[] {
  return text.match(/[A-Za-z_]\w*/g) ?? [];
}

function isOpenName(name: string, unit: Unit, program: Program): boolean {
  const macro = unit.macros.get(name);
  return macro !== undefined && restsOnOpen(macro, unit, program);
}

const open = new WeakMap<Unit, Map<MacroDefinition, boolean>>();

/** Another build may give the macro, or one in its replacement, another text. */
export function restsOnOpen(macro: MacroDefinition, unit: Unit, program: Program): boolean {
  let ofUnit = open.get(unit);
  if (ofUnit === undefined) open.set(unit, ofUnit = new Map());
  const old = ofUnit.get(macro);
  if (old !== undefined) return old;
  // A macro that comes upon itself is not replaced again.
  ofUnit.set(macro, false);
  const result = isOpen(macro, unit, program) || wordsIn(macro.body).some((word) => isOpenName(word, unit, program));
  ofUnit.set(macro, result);
  return result;
}

function isOpen(macro: MacroDefinition, unit: Unit, program: Program): boolean {
  if (macro.ambiguous || macro.inactive === true || macro.file === COMMAND_LINE) return true;
  const source = macro.file === unit.source.realPath ? unit.source : program.units.get(macro.file)?.source;
  // A header that is not loaded may do anything around it.
  return source === undefined || asksForItself(source, macro);
}

/** `#ifndef N`, or a condition that names N, stands around `#define N`. */
function asksForItself(source: SourceFile, macro: MacroDefinition): boolean {
  const { directives } = source;
  const at = directives.findIndex((directive) => directive.kind === 'define' && source.line(directive.start) === macro.line);
  const groups: number[] = [];
  for (const [index, directive] of directives.entries()) {
    if (index === at) break;
    if (directive.kind === 'if' || directive.kind === 'ifdef' || directive.kind === 'ifndef') groups.push(index);
    else if (directive.kind === 'endif') groups.pop();
  }
  if (at < 0) return true;
  return groups.some((opener) => directives.some((directive, index) => index < at && (index === opener || directive.opener === opener) && wordsIn(directive.argument).includes(macro.name)));
}

/** Values that decisions about an open name hold for: from one to this. Two multiplied fit an `int`. */
export const MOST = 32767n;

/** Null: every value of the type. */
export function openRange(values: readonly bigint[]): { readonly low: bigint; readonly high: bigint } | null {
  return values.length > 0 && values.every((value) => value >= 1n && value <= MOST) ? { low: 1n, high: MOST } : null;
}
