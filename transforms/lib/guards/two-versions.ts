/**
 * A nest of loops in two versions: without the guards that one test in front of it decides, and as it was.
 */
import type { FileSpan, Span } from '../../../src/source/types.js';
import type { Expr, VariableDecl } from '../../../src/syntax/tree.js';
import { placeOf } from '../place.js';
import { chainText, copyText, extentOf, indentAt, styleOf, type Shift } from '../text.js';
import type { Edit, TransformContext } from '../types.js';
import { shareBases } from './bases.js';
import { isWide, lessThanZero, type Declaration, type Inequality } from './bound.js';
import type { Guard } from './guards.js';
import { declarationText, interiorText, isShort, nameEnds, testText, type Setting } from './interior-text.js';
import { joinedName, namerFor } from './names.js';
import type { Poly } from './polynomial.js';
import { simplify, type Decisions } from './simplify.js';
import type { PeelableLoop } from './tested-loop.js';

/** Columns that a line of tests in a vote may fill. */
const LONGEST = 120;

/** The nest twice, below one test: without the comparisons that are decided, and as it was. `headOf` makes the test from the conjunction of `tests`. */
export function writeTwoVersions(context: TransformContext, loop: PeelableLoop, decisions: Decisions, texts: VersionTexts, headOf: (joined: string) => string = (joined) => joined): readonly Edit[] {
  const { source } = context.unit;
  const region = extentOf(source, loop);
  const style = styleOf(source, context.facts.function);
  const place = placeOf(context, loop);
  const inner = place.indent + style.unit;
  const shift: Shift = { from: indentAt(source, loop.span.start), to: inner };
  const { lines, head } = layOut(texts, headOf, place.indent, style.unit);
  const fast = copyText(source, region, shift, simplify(context.facts, loop.body, decisions, shift));
  const whole = copyText(source, region, shift);
  const text = chainText(style, place.indent, [
    { head: `if${style.keywordSpace}(${head})`, lines: inner + fast },
    { head: null, lines: inner + whole },
  ]);
  return [...place.edits, { file: source.realPath, span: place.span, text: `${place.before}${[...lines, text].join(`\n${place.indent}`)}${place.after}` }];
}

export interface VersionTexts {
  readonly declarations: readonly Declaration[];
  readonly tests: readonly Inequality[];
  readonly names: readonly string[];
  readonly shadowed: boolean;
  /** What the conjunction of the tests stands for, and the name that it gets unless it is short; null if it is part of a vote. */
  readonly interior: { readonly name: string | null; readonly comment: string } | null;
}

/** Constants and tests of the copy without guards: each polynomial must be below zero. */
export function versionTexts(context: TransformContext, polys: readonly Poly[], fresh = namerFor(context)): VersionTexts {
  const names: string[] = [];
  const shadowed = isShadowed(context);
  const made = (wish: string): string => {
    const name = fresh(wish);
    names.push(name);
    return name;
  };
  const bases = shareBases(polys, made, (word, axis) => joinedName(context, word, axis));
  const said = (wide: boolean): readonly Inequality[] => polys.map((test) => lessThanZero(bases.replace(test), wide)).filter((test) => test !== null);
  const narrow = said(false);
  const tests = narrow.some(isWide) ? said(true) : narrow;
  return { declarations: bases.declarations, tests, names, shadowed, interior: null };
}

/** The same with a name for the tests, and for ends of the block's work that take long to write. `comment` says what holds in the interior. */
export function interiorTexts(context: TransformContext, polys: readonly Poly[], comment: string): VersionTexts {
  const fresh = namerFor(context);
  const texts = versionTexts(context, polys, fresh);
  const ends = nameEnds(texts.tests, texts.shadowed, (word, axis) => fresh(axis === null ? word : joinedName(context, word, axis)));
  const declarations = [...texts.declarations, ...ends.declarations];
  const name = isShort(ends.tests, texts.shadowed) ? null : fresh('interior');
  const names = [...declarations.map((declared) => declared.name), ...(name === null ? [] : [name])];
  return { ...texts, declarations, tests: ends.tests, names, interior: { name, comment } };
}

/** What stands in front of the `if`, and its test. */
function layOut({ declarations, tests, shadowed, interior }: VersionTexts, headOf: (joined: string) => string, indent: string, unit: string): { readonly lines: readonly string[]; readonly head: string } {
  const setting: Setting = { indent, unit, shadowed };
  const said = tests.map((test) => testText(test, shadowed));
  const line = headOf(said.join(' && '));
  const lines = declarations.map((declaration) => declarationText(declaration, setting));
  if (interior === null) return { lines, head: indent.length + line.length > LONGEST ? headOf(said.join(`\n${indent}${unit}&& `)) : line };
  if (interior.name === null) return { lines: [interior.comment, ...lines], head: line };
  return { lines: [interior.comment, ...lines, interiorText(interior.name, tests, setting)], head: headOf(interior.name) };
}

/** True if `min` and `max` may not be CUDA's own here. `local` are names that the place has. */
export function isShadowed(context: TransformContext, local: readonly string[] = []): boolean {
  const { unit } = context;
  return ['min', 'max'].some((name) => local.includes(name) || unit.macros.has(name) || unit.functions.some((fn) => fn.name === name && fn.owner === null));
}

/** The region, and the declarations that the guards' meaning rests on. */
export function readsOf(context: TransformContext, guards: readonly Guard[], region: Span): readonly FileSpan[] {
  const { source } = context.unit;
  const reads: FileSpan[] = [{ file: source.realPath, start: region.start, end: region.end }];
  for (const guard of guards) {
    const definitions = new Set<VariableDecl>();
    collectDefinitions(guard.comparison, definitions);
    for (const decl of definitions) reads.push({ file: decl.file, start: decl.span.start, end: decl.span.end });
  }
  return reads;
}

/** Declarations with an initialiser that the guard's meaning rests on. */
function collectDefinitions(expr: Expr, found: Set<VariableDecl>): void {
  switch (expr.kind) {
    case 'ref':
      if (expr.decl !== null && expr.decl.kind === 'variable' && expr.decl.init !== null && !found.has(expr.decl)) {
        found.add(expr.decl);
        collectDefinitions(expr.decl.init, found);
      }
      return;
    case 'paren': collectDefinitions(expr.inner, found); return;
    case 'macro': collectDefinitions(expr.expanded, found); return;
    case 'unary': collectDefinitions(expr.operand, found); return;
    case 'cast': collectDefinitions(expr.operand, found); return;
    case 'binary': collectDefinitions(expr.left, found); collectDefinitions(expr.right, found); return;
    default: return;
  }
}
