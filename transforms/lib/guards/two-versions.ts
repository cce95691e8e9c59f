/**
 * A nest of loops in two versions: without the guards that one test in front of it decides, and as it was.
 */
import type { FileSpan, Span } from '../../../src/source/types.js';
import { unreachable, type Expr, type VariableDecl } from '../../../src/syntax/tree.js';
import { BINDING } from '../operands.js';
import { placeOf } from '../place.js';
import { chainText, copyText, extentOf, indentAt, styleOf, type Shift } from '../text.js';
import type { Edit, TransformContext } from '../types.js';
import { shareBases } from './bases.js';
import { isWide, lessThanZero, type Declaration, type Inequality } from './bound.js';
import { printOperand, typeName, typeOf, type Cpp } from './cpp.js';
import type { Guard } from './guards.js';
import { namerFor } from './names.js';
import type { Poly } from './polynomial.js';
import { simplify, type Decisions } from './simplify.js';
import type { PeelableLoop } from './tested-loop.js';

/** Columns that a line of tests may fill. */
const LONGEST = 120;

/** The nest twice, below one test: without the comparisons that are decided, and as it was. `headOf` makes the test from the conjunction of `tests`. */
export function writeTwoVersions(context: TransformContext, loop: PeelableLoop, decisions: Decisions, texts: Pick<VersionTexts, 'declarations' | 'tests'>, headOf: (joined: string) => string = (joined) => joined): readonly Edit[] {
  const { source } = context.unit;
  const region = extentOf(source, loop);
  const style = styleOf(source, context.facts.function);
  const place = placeOf(context, loop);
  const inner = place.indent + style.unit;
  const shift: Shift = { from: indentAt(source, loop.span.start), to: inner };
  const line = headOf(texts.tests.join(' && '));
  const joined = place.indent.length + line.length > LONGEST ? headOf(texts.tests.join(`\n${place.indent}${style.unit}&& `)) : line;
  const fast = copyText(source, region, shift, simplify(context.facts, loop.body, decisions, shift));
  const whole = copyText(source, region, shift);
  const text = chainText(style, place.indent, [
    { head: `if${style.keywordSpace}(${joined})`, lines: inner + fast },
    { head: null, lines: inner + whole },
  ]);
  return [...place.edits, { file: source.realPath, span: place.span, text: `${place.before}${[...texts.declarations, text].join(`\n${place.indent}`)}${place.after}` }];
}

export interface VersionTexts {
  readonly declarations: readonly string[];
  readonly tests: readonly string[];
  readonly names: readonly string[];
}

/** Constants and tests of the copy without guards: each polynomial must be below zero. */
export function versionTexts(context: TransformContext, polys: readonly Poly[], fresh = namerFor(context)): VersionTexts {
  const names: string[] = [];
  const shadowed = isShadowed(context);
  const bases = shareBases(polys, (wish) => {
    const made = fresh(wish);
    names.push(made);
    return made;
  });
  const said = (wide: boolean): readonly Inequality[] => polys.map((test) => lessThanZero(bases.replace(test), wide)).filter((test) => test !== null);
  const narrow = said(false);
  const tests = narrow.some(isWide) ? said(true) : narrow;
  return { declarations: bases.declarations.map((base) => declarationText(base, shadowed)), tests: tests.map((test) => testText(test, shadowed)), names };
}

/** What the block or the lane contributes stands on the left: `first >= R`, `first + R < n`. */
function testText({ left, op, right }: Inequality, shadowed: boolean): string {
  const [a, b] = [printOperand(left, shadowed), printOperand(right, shadowed)];
  return (holdsPlace(right) && !holdsPlace(left)) || left.kind === 'number' || (!holdsPlace(left) && isFixed(left) && !isFixed(right)) ? `${b} ${op === '<' ? '>' : '>='} ${a}` : `${a} ${op} ${b}`;
}

/** Made of constants alone. */
function isFixed(expr: Cpp): boolean {
  switch (expr.kind) {
    case 'number': return true;
    case 'symbol': return expr.sym.constant === true;
    case 'name': return isFixed(expr.value);
    case 'cast': return isFixed(expr.operand);
    case 'binary': case 'extreme': case 'positive': return isFixed(expr.left) && isFixed(expr.right);
    default: return unreachable(expr);
  }
}

function holdsPlace(expr: Cpp): boolean {
  switch (expr.kind) {
    case 'number': return false;
    case 'symbol': return expr.sym.role === 'own' || expr.sym.role === 'thread' || /^(?:base|blockIdx|blockDim)\./.test(expr.sym.key);
    case 'name': return holdsPlace(expr.value);
    case 'cast': return holdsPlace(expr.operand);
    case 'binary': case 'extreme': case 'positive': return holdsPlace(expr.left) || holdsPlace(expr.right);
    default: return unreachable(expr);
  }
}

export function declarationText({ name, value }: Declaration, shadowed: boolean): string {
  return `const ${typeName(typeOf(value))} ${name} = ${printOperand(value, shadowed, BINDING.assignment)};`;
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
