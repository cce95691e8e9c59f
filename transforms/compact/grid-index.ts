/**
 * The item of a thread: its number in the whole grid, from which every coordinate can be had back.
 *
 *     one axis    item = blockIdx.x * blockDim.x + threadIdx.x
 *     two axes    item = y * (gridDim.x * blockDim.x) + x,  with x and y the same sums along each axis
 *
 * Two threads never share a number, so every item is done once, whatever the kernel indexes by. The kernel over the list has blocks of the same
 * shape, so `blockDim` keeps its meaning there; the other coordinates are written in terms of the item.
 */
import { forEachReached } from '../../src/analysis/call-sites.js';
import { walk, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { hostDimensions } from '../../src/analysis/host-constants.js';
import { gridFact } from '../../src/analysis/launch-facts.js';
import type { Values } from '../../src/analysis/integer-values.js';
import { isStmt } from '../../src/analysis/children.js';
import { asksFor, type CoordinateRead } from '../../src/analysis/coordinate-reads.js';
import type { Expr, Program, VariableDecl } from '../../src/syntax/tree.js';
import { strip } from '../../src/syntax/tree.js';
import type { Replacement } from '../lib/text.js';

export type Axis = 'x' | 'y';

export interface ItemIndex {
  readonly axes: 1 | 2;
  /** Type of an item in the list. */
  readonly item: 'unsigned' | 'unsigned long long';
  /** Type of the number of items, and of what counts up to it. */
  readonly count: 'unsigned' | 'unsigned long long';
  /** Why the types are wide enough. */
  readonly bound: { readonly text: string; readonly under: 'index-range' | null };
}

/** Axes beyond x that the kernel or what it calls looks at. */
export function usesAxis(facts: FunctionFacts, axis: 'y' | 'z'): boolean {
  const { body } = facts.function;
  let found = false;
  const test = (node: Node): void => { if (node.kind === 'coordinate' && (node.axis === axis || (node.axis === null && node.base !== 'warpSize'))) found = true; };
  if (body === null) return false;
  walk(body, test);
  forEachReached([body], facts.program, test);
  return found;
}

/** What the node asks for, if the answer is another one in the kernel over the list: only the blocks' shape is the same there. */
function elsewhere(node: Node): CoordinateRead | null {
  return asksFor(node, 'thread', 'block', 'blocks', 'machine');
}

/** Where the nodes themselves ask for the place of their thread by other means than CUDA's variables, which alone are written anew; null if they do not. */
export function placeAskedFor(nodes: readonly Node[]): { readonly node: Node; readonly asked: CoordinateRead } | null {
  let found: { readonly node: Node; readonly asked: CoordinateRead } | null = null;
  for (const root of nodes) {
    walk(root, (node) => {
      const asked = found === null && node.kind !== 'coordinate' ? elsewhere(node) : null;
      if (asked !== null) found = { node, asked };
      return found === null;
    });
  }
  return found;
}

/** A coordinate in a device function that the nodes reach, which could not be written anew there; null if there is none. */
export function coordinateInCallees(nodes: readonly Node[], program: Program): { readonly call: Node; readonly name: string } | null {
  let found: { readonly call: Node; readonly name: string } | null = null;
  forEachReached(nodes, program, (node, where, from) => { if (found === null && elsewhere(node) !== null) found = { call: from, name: where.name }; });
  return found;
}

/** Whether every launch has grids and blocks of at most so many axes; null if one does not tell. */
export function launchAxes(facts: FunctionFacts): { readonly most: 1 | 2 | 3 | null; readonly line: number | null; readonly file: string | null } {
  let most: 1 | 2 | 3 = 1;
  for (const launch of facts.launches) {
    const place = { function: launch.function, offset: launch.span.start };
    for (const expr of [launch.grid, launch.block]) {
      const sides = hostDimensions(expr, place);
      const y = isOne(sides.y);
      const z = isOne(sides.z);
      const fromFact = expr === launch.block && facts.block.oneDimensional;
      if (fromFact) continue;
      if (!z) {
        const line = facts.program.units.get(launch.file)?.source.line(launch.span.start) ?? null;
        if (sides.z === null) return { most: null, line, file: launch.file };
        most = 3;
      } else if (!y) {
        if (sides.y === null && most < 2) most = 2;
        if (most < 2) most = 2;
      }
    }
  }
  return { most, line: null, file: null };
}

function isOne(values: Values | null): boolean {
  return values !== null && values.every((value) => value.value === 1n);
}

/** Types for items and their number. */
export function itemIndex(facts: FunctionFacts, axes: 1 | 2): ItemIndex {
  const grid = gridFact(facts.function, facts.program, {}).value;
  const block = facts.block.value;
  if (grid !== null && block !== null) {
    const total = grid.x * grid.y * grid.z * block.x * block.y * block.z;
    if (total < 2 ** 31) return { axes, item: 'unsigned', count: 'unsigned', bound: { text: `there are ${total} threads`, under: null } };
  }
  if (axes === 1) {
    const own = ownIndex(facts);
    if (own !== null && own.bits === 32) {
      return own.signed
        ? { axes, item: 'unsigned', count: 'unsigned', bound: { text: `${own.name} numbers all threads in 31 bits`, under: 'index-range' } }
        : { axes, item: 'unsigned', count: 'unsigned long long', bound: { text: `${own.name} numbers all threads in 32 bits`, under: 'index-range' } };
    }
  }
  return { axes, item: 'unsigned long long', count: 'unsigned long long', bound: { text: 'items are counted in 64 bits', under: null } };
}

/** The variable that the kernel itself keeps the number in, and its integer type. */
function ownIndex(facts: FunctionFacts): { readonly name: string; readonly bits: number; readonly signed: boolean } | null {
  let found: { name: string; bits: number; signed: boolean } | null = null;
  const { body } = facts.function;
  if (body === null) return null;
  walk(body, (node) => {
    if (found !== null) return false;
    if (node.kind === 'declare') {
      for (const variable of node.variables) {
        if (variable.init === null || variable.type.kind !== 'int') continue;
        if (axisOf(facts, variable.init) === 'x') found ??= { name: variable.name, bits: variable.type.bits, signed: variable.type.signed };
      }
    }
    return true;
  });
  return found;
}

/** A variable that holds the item's number for good, so that it can be named in its place: it is set once, to `blockIdx.x * blockDim.x + threadIdx.x`. */
export function isIndexVariable(facts: FunctionFacts, decl: VariableDecl): boolean {
  if (decl.init === null || decl.type.kind !== 'int' || decl.type.bits < 32 || axisOf(facts, decl.init) !== 'x') return false;
  const { body } = facts.function;
  return body !== null && !facts.addressTaken(decl) && facts.assignments(decl, body).every((definition) => definition.kind === 'declaration');
}

/** The axis along which an expression numbers the threads of the grid: `blockIdx.a * blockDim.a + threadIdx.a`; null if it does not. */
export function axisOf(facts: FunctionFacts, expr: Expr): Axis | null {
  if (!mayNumber(expr)) return null;
  const form = facts.affine(expr);
  if (form === null || form.terms.length !== 2) return null;
  for (const axis of ['x', 'y'] as const) {
    let thread = false;
    let block = false;
    const side = facts.block.value?.[axis] ?? null;
    for (const { coefficient, atoms } of form.terms) {
      const names = atoms.map((atom) => coordinateName(atom.expr)).sort();
      if (names.length === 1 && names[0] === `threadIdx.${axis}` && coefficient === 1n) thread = true;
      else if (names.length === 1 && names[0] === `blockIdx.${axis}` && side !== null && coefficient === BigInt(side)) block = true;
      else if (names.length === 2 && names[0] === `blockDim.${axis}` && names[1] === `blockIdx.${axis}` && coefficient === 1n) block = true;
    }
    if (thread && block) return axis;
  }
  return null;
}

/** Sums and products of coordinates, constants and variables made of them: only there is a form worth its time. */
function mayNumber(expr: Expr): boolean {
  let budget = 24;
  let coordinate = false;
  const visit = (written: Expr): boolean => {
    if (--budget < 0) return false;
    const node = strip(written);
    switch (node.kind) {
      case 'literal': return typeof node.value === 'bigint';
      case 'coordinate': coordinate = true; return true;
      case 'cast': return visit(node.operand);
      case 'unary': return node.op === '+' && visit(node.operand);
      case 'binary': return (node.op === '+' || node.op === '*' || node.op === '<<' || node.op === '-') && visit(node.left) && visit(node.right);
      case 'ref': {
        const { decl } = node;
        if (decl === null || decl.kind === 'template-parameter' || decl.kind === 'enumerator') return true;
        return decl.kind === 'variable' && decl.init !== null && (decl.type.kind === 'int') && visit(decl.init);
      }
      default: return false;
    }
  };
  return visit(expr) && coordinate;
}

function coordinateName(expr: Expr): string | null {
  const inner = strip(expr);
  return inner.kind === 'coordinate' && inner.axis !== null ? `${inner.base}.${inner.axis}` : null;
}

/** How the coordinates are written in the kernel over the list. */
export interface CoordinateTexts {
  /** The item, as one name or primary expression, and its type. */
  readonly item: string;
  readonly type: ItemIndex['item'];
  readonly axes: 1 | 2;
  /** For two axes: threads along x in the whole grid. */
  readonly width: string | null;
  /** Sides of the original grid. */
  readonly blocks: { readonly x: string; readonly y: string };
}

export interface Rewriting {
  readonly replacements: readonly Replacement[];
  /** A coordinate that cannot be written there. */
  readonly problem: { readonly node: Node; readonly text: string } | null;
}

/** Replacements for all coordinates in the nodes. */
export function rewriteCoordinates(facts: FunctionFacts, nodes: readonly Node[], texts: CoordinateTexts): Rewriting {
  const replacements: Replacement[] = [];
  let problem: Rewriting['problem'] = null;
  const put = (node: Expr, text: string, whole: boolean): void => {
    const parent = facts.parent(node);
    const cast = castTo(node, text, parent);
    const alone = parent === null || (isStmt(parent) && parent.kind === 'declare') || parent.kind === 'paren' || (parent.kind === 'assign' && parent.value === node);
    const grouped = cast !== '' && !whole ? `${cast}(${text})` : `${cast}${text}`;
    replacements.push({ span: node.span, text: alone && cast === '' ? text : whole ? grouped : cast !== '' ? grouped : `(${text})` });
  };
  /** A coordinate is of 32 bits without sign, and so are sums of such: what stands for it must not be wider, or it would not wrap as they do. */
  const castTo = (node: Expr, text: string, parent: Node | null): string => {
    const type = node.type.kind === 'int' ? node.type : null;
    const wide = text.includes(texts.item) && texts.type === 'unsigned long long';
    if (type !== null && type.bits === 64) return type.signed ? '(long long)' : wide ? '' : '(unsigned long long)';
    const signed = type !== null && type.signed;
    if (!signed && !wide) return '';
    return wide && truncates(facts, node, parent) ? '' : signed ? '(int)' : '(unsigned)';
  };
  const alongAxis = (axis: Axis): { text: string; whole: boolean } => {
    if (texts.axes === 1 || texts.width === null) return { text: texts.item, whole: true };
    return { text: axis === 'x' ? `${texts.item} % ${texts.width}` : `${texts.item} / ${texts.width}`, whole: false };
  };
  const visit = (node: Node): void => {
    walk(node, (inner) => {
      if (problem !== null) return false;
      if (isStmt(inner)) return true;
      if (inner.kind === 'macro') {
        const axis = axisOf(facts, inner);
        if (axis !== null && inner.type.kind === 'int' && (texts.axes === 2 || axis === 'x')) { const { text, whole } = alongAxis(axis); put(inner, text, whole); return false; }
        const hidden = hiddenCoordinate(inner);
        if (hidden !== null) problem = { node: inner, text: `the macro ${inner.name} hides ${hidden}` };
        return false;
      }
      if (inner.kind === 'binary' && inner.op === '+') {
        const axis = axisOf(facts, inner);
        if (axis !== null && inner.type.kind === 'int' && (texts.axes === 2 || axis === 'x')) { const { text, whole } = alongAxis(axis); put(inner, text, whole); return false; }
      }
      if (inner.kind !== 'coordinate') {
        const asked = elsewhere(inner);
        if (asked !== null) problem = { node: inner, text: `${asked.name} asks for the place of the thread, which is another one in the kernel over the list` };
        return problem === null;
      }
      const { base, axis } = inner;
      if (base === 'blockDim' || base === 'warpSize') return false;
      if (axis === null) { problem = { node: inner, text: `${base} is used as a whole` }; return false; }
      if (base === 'gridDim' && axis !== 'z') { put(inner, texts.blocks[axis], true); return false; }
      if (axis === 'z' || (axis === 'y' && texts.axes === 1)) { put(inner, base === 'gridDim' ? '1u' : '0u', true); return false; }
      const number = alongAxis(axis);
      const inside = number.whole ? number.text : `(${number.text})`;
      put(inner, `${inside} ${base === 'threadIdx' ? '%' : '/'} blockDim.${axis}`, false);
      return false;
    });
  };
  for (const node of nodes) visit(node);
  return { replacements, problem };
}

/** Sides of the original grid that the nodes ask for. */
export function asksForGrid(nodes: readonly Node[]): ReadonlySet<Axis> {
  const found = new Set<Axis>();
  for (const node of nodes) walk(node, (inner) => { if (inner.kind === 'coordinate' && inner.base === 'gridDim' && (inner.axis === 'x' || inner.axis === 'y')) found.add(inner.axis); });
  return found;
}

/** The value goes into an integer variable of at most 32 bits as it is: the conversion does what a cast would do. */
function truncates(facts: FunctionFacts, node: Expr, parent: Node | null): boolean {
  if (parent === null || parent.kind !== 'declare') return false;
  const variable = parent.variables.find((one) => one.init === node);
  if (variable === undefined || variable.initStyle === 'brace' || variable.type.kind !== 'int' || variable.type.bits > 32) return false;
  // `auto` would take the type of what is written.
  return !/\bauto\b/.test(facts.unit.source.text.slice(parent.span.start, variable.nameSpan.start));
}

function hiddenCoordinate(expr: Expr): string | null {
  let found: string | null = null;
  walk(expr, (node) => { found ??= elsewhere(node)?.name ?? null; });
  return found;
}
