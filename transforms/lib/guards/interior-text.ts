/**
 * The test of the copy without guards as a reader wants it: a name for what holds in the interior, names for ends of the block's work that take
 * long to write, tests of one axis side by side, and lines that fit a page.
 *
 *     // Interior: every thread of the block passes the boundary tests in all iterations.
 *     const bool interior = first_x >= 2 && first_x + blockDim.x + 1 < width
 *         && first_y >= 2 && first_y + (int)blockDim.y + 1 < height;
 */
import { unreachable } from '../../../src/syntax/tree.js';
import { BINDING } from '../operands.js';
import type { Declaration, Inequality } from './bound.js';
import { print, printOperand, typeName, typeOf, type Cpp } from './cpp.js';
import type { Sym } from './polynomial.js';

/** Columns that a line of new tests may fill. */
const LONGEST = 100;
/** Characters of a test that is read well where it is asked, and of a side that needs no name. */
const SHORT_TEST = 48;
const SHORT_SIDE = 40;

/** How new lines are set: what stands in front of them, one level more, and whether `min` and `max` are not CUDA's here. */
export interface Setting {
  readonly indent: string;
  readonly unit: string;
  readonly shadowed: boolean;
}

// ------------------------------------------------------------------------------------------------------------- tests

interface Sides { readonly left: Cpp; readonly op: '<' | '<=' | '>' | '>='; readonly right: Cpp }

/** What the block or the lane contributes stands on the left: `first >= R`, `first + R < n`. */
function sidesOf({ left, op, right }: Inequality): Sides {
  const turned = (holdsPlace(right) && !holdsPlace(left)) || left.kind === 'number' || (!holdsPlace(left) && isFixed(left) && !isFixed(right));
  return turned ? { left: right, op: op === '<' ? '>' : '>=', right: left } : { left, op, right };
}

export function testText(test: Inequality, shadowed: boolean): string {
  const { left, op, right } = sidesOf(test);
  return `${printOperand(left, shadowed)} ${op} ${printOperand(right, shadowed)}`;
}

/** One test that is read at a glance. */
export function isShort(tests: readonly Inequality[], shadowed: boolean): boolean {
  const [only] = tests;
  return tests.length === 1 && only !== undefined && testText(only, shadowed).length <= SHORT_TEST;
}

/** Long sums that say where the block's work begins or ends get a name. `name` makes one from a word and an axis. */
export function nameEnds(tests: readonly Inequality[], shadowed: boolean, name: (word: string, axis: string | null) => string): { readonly declarations: readonly Declaration[]; readonly tests: readonly Inequality[] } {
  const declarations: Declaration[] = [];
  const axes = new Set(tests.map((test) => axisOf(sidesOf(test).left)));
  const named = tests.map((test) => {
    const { left, op, right } = sidesOf(test);
    if (!holdsPlace(left) || holdsPlace(right) || !isLone(right) || print(left, shadowed).length <= SHORT_SIDE) return test;
    const text = print(left, shadowed);
    const word = op.startsWith('<') ? 'hi' : 'lo';
    const known = declarations.find((declared) => print(declared.value, shadowed) === text);
    const side: Cpp = { kind: 'name', name: known?.name ?? name(word, axes.size > 1 ? axisOf(left) : null), value: left };
    if (known === undefined) declarations.push({ name: side.name, value: left });
    return left === test.left ? { ...test, left: side } : { ...test, right: side };
  });
  return { declarations, tests: named };
}

/** A number, a name, or made of constants. */
function isLone(expr: Cpp): boolean {
  return isFixed(expr) || expr.kind === 'symbol' || (expr.kind === 'cast' && isLone(expr.operand));
}

/** Made of constants alone. */
export function isFixed(expr: Cpp): boolean {
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
  return symbolsIn(expr).some((sym) => sym.role === 'own' || sym.role === 'thread' || PLACE.test(sym.key));
}

const PLACE = /^(?:base|blockIdx|blockDim)\.([xyz])/;

/** The axis of the grid that the expression speaks of; null if it speaks of several, or of none. */
function axisOf(expr: Cpp): string | null {
  const axes = new Set(symbolsIn(expr).flatMap((sym) => PLACE.exec(sym.key)?.[1] ?? []));
  const [axis] = axes;
  return axes.size === 1 && axis !== undefined ? axis : null;
}

function symbolsIn(expr: Cpp): readonly Sym[] {
  switch (expr.kind) {
    case 'number': return [];
    case 'symbol': return [expr.sym];
    case 'name': return symbolsIn(expr.value);
    case 'cast': return symbolsIn(expr.operand);
    case 'binary': case 'extreme': case 'positive': return [...symbolsIn(expr.left), ...symbolsIn(expr.right)];
    default: return unreachable(expr);
  }
}

/** Tests of one axis together, in the order in which the axes come up, the lower end first. */
function rowsOf(tests: readonly Inequality[]): readonly (readonly Inequality[])[] {
  const rows = new Map<string, Inequality[]>();
  for (const test of tests) {
    const { left, right } = sidesOf(test);
    const key = axisOf(holdsPlace(left) ? left : right) ?? '';
    rows.set(key, [...rows.get(key) ?? [], test]);
  }
  const isUpper = (test: Inequality): number => (sidesOf(test).op.startsWith('<') ? 1 : 0);
  return [...rows.values()].map((row) => [...row].sort((a, b) => isUpper(a) - isUpper(b)));
}

// ------------------------------------------------------------------------------------------------------------- lines

/** `const bool NAME = …;`, on several lines where it is long: a row for each axis, else for each test. */
export function interiorText(name: string, tests: readonly Inequality[], { indent, unit, shadowed }: Setting): string {
  const head = `const bool ${name} = `;
  const rows = rowsOf(tests).map((row) => row.map((test) => testText(test, shadowed)));
  const whole = `${head}${rows.flat().join(' && ')};`;
  if (indent.length + whole.length <= LONGEST) return whole;
  const deep = indent + unit;
  const fits = rows.every((row, i) => (i === 0 ? indent.length + head.length : deep.length + 3) + row.join(' && ').length < LONGEST);
  const lines = fits ? rows.map((row) => row.join(' && ')) : rows.flat();
  return `${head}${lines.join(`\n${deep}&& `)};`;
}

/** `const int NAME = …;` on one line. */
export function declarationLine({ name, value }: Declaration, shadowed: boolean): string {
  return `const ${typeName(typeOf(value))} ${name} = ${printOperand(value, shadowed, BINDING.assignment)};`;
}

/** The same on several lines where it is long. */
export function declarationText(declaration: Declaration, { indent, unit, shadowed }: Setting): string {
  const { name, value } = declaration;
  const head = `const ${typeName(typeOf(value))} ${name} = `;
  const whole = declarationLine(declaration, shadowed);
  if (indent.length + whole.length <= LONGEST) return whole;
  const deep = indent + unit;
  let out = head;
  let column = indent.length + head.length;
  for (const [i, piece] of piecesOf(value, shadowed).entries()) {
    if (i > 0 && column + 1 + piece.length >= LONGEST) {
      out = `${out}\n${deep}${piece}`;
      column = deep.length + piece.length;
    } else {
      out += i === 0 ? piece : ` ${piece}`;
      column += piece.length + (i === 0 ? 0 : 1);
    }
  }
  return `${out};`;
}

/** Where a line may end: between the terms of a sum, the arms of a choice, and the operands of `min` and `max`. */
function piecesOf(value: Cpp, shadowed: boolean): readonly string[] {
  if (isSum(value)) return [...(isSum(value.left) ? piecesOf(value.left, shadowed) : [printOperand(value.left, shadowed, BINDING.sum)]), `${value.op} ${printOperand(value.right, shadowed, BINDING.product)}`];
  if (value.kind === 'positive') {
    return [`${printOperand(value.left, shadowed)} ${value.op} ${printOperand(value.right, shadowed)}`, `? ${printOperand(value.then, shadowed, BINDING.assignment)}`, ': 0'];
  }
  if (value.kind === 'extreme' && !shadowed) return [`${value.op}(${printOperand(value.left, shadowed, BINDING.assignment)},`, `${printOperand(value.right, shadowed, BINDING.assignment)})`];
  return [printOperand(value, shadowed, BINDING.assignment)];
}

function isSum(value: Cpp): value is Extract<Cpp, { kind: 'binary' }> {
  return value.kind === 'binary' && (value.op === '+' || value.op === '-') && !(value.left.kind === 'number' && value.left.value === 0n);
}
