/**
 * When the heavy part of a kernel may become a kernel of its own over a list of items: the obligations of compact:grid.
 */
import { walk, type Node } from '../../src/analysis/children.js';
import type { Effects, FunctionFacts } from '../../src/analysis/facts.js';
import type { FunctionDecl, Program, Stmt } from '../../src/syntax/tree.js';
import { contractionStable, copySafe, namesFree, noDirectiveAcross, noGoto, notInMacro } from '../lib/common-obligations.js';
import { parameterList } from '../lib/launch-follow.js';
import { spelledIn } from '../lib/launch-mentions.js';
import { keepsOriginal, launchObligations, launchSites } from '../lib/launch-sites.js';
import { assumed, excerpt, lineOf, proved, refuted, unknown } from '../lib/obligation.js';
import type { Obligation, TransformContext } from '../lib/types.js';
import { asksForGrid, coordinateInCallees, itemIndex, launchAxes, placeAskedFor, rewriteCoordinates, usesAxis, type Axis, type ItemIndex } from './grid-index.js';
import { decidingAtomic, effectsOfAll, exchange, orderedAtomic, synchronises, unstableLoad } from './grid-memory.js';
import { namesFor, type GridNames } from './grid-names.js';
import { continuation, passRoots, returnsIn, type GridShape } from './grid-shape.js';
import { carriedType, declaresCarried, sliceFor, type Slice } from './grid-slice.js';
import { namesDeclared } from '../lib/local-names.js';

export type Order = 'free' | 'keep';

/** Everything that the edit is made from. */
export interface GridPlan {
  readonly shape: GridShape;
  readonly order: Order;
  readonly slice: Slice;
  readonly index: ItemIndex;
  readonly names: GridNames;
  /** The old kernel stays, for launches in files that are not loaded. */
  readonly keepOriginal: boolean;
  /**
   * What the kernel over the list does with one item is a function of its own: a `return` in a loop ends the item, not the loop; and parameters that an item
   * changes are fresh for the next one.
   */
  readonly itemFunction: boolean;
  /** Sides of the original grid that the list's kernel asks for: they are passed to it. */
  readonly gridSides: readonly Axis[];
}

export interface GridDecision {
  readonly plan: GridPlan;
  readonly obligations: readonly Obligation[];
}

export const GRID_OBLIGATIONS: readonly string[] = [
  'index-map-complete', 'recompute-stable', 'no-collective-inside', 'prefix-population', 'light-heavy-independent', 'order-free', 'all-launches-visible', 'launches-rewritable',
];

export function orderOf(context: TransformContext): Order {
  return context.options.get('order') === 'keep' ? 'keep' : 'free';
}

/** What would be written for a shape, and what must hold for it. */
export function decideGrid(context: TransformContext, shape: GridShape): GridDecision {
  const { facts } = context;
  const order = orderOf(context);
  const kernel = facts.function;
  const sites = launchSites(context);
  const whole = kernel.body === null ? effectsOfAll(facts, []) : facts.effects(kernel.body);
  const before = shape.before.flat();
  const slice = sliceFor(context, shape, (stmt) => unstableLoad(facts, stmt, whole, before)
    ?? placeUnnamed(stmt, facts.program));
  const axes = usesAxis(facts, 'y') ? 2 : 1;
  const index = itemIndex(facts, axes);
  const last = continuation(shape);
  const nested = returnsIn(last).some((stmt) => standsInLoop(facts, stmt, last));
  const plan: GridPlan = {
    shape, order, slice, index, names: namesFor(context, slice), keepOriginal: keepsOriginal(context, sites), itemFunction: nested || changesParameter(facts, [...slice.statements, ...last]), gridSides: [...asksForGrid([...slice.statements, ...last])].sort(),
  };
  return { plan, obligations: obligationsOf(context, plan, whole) };
}

/** Why what a statement sets is another value in the kernel over the list, where no coordinate tells the tool how to write it anew. */
function placeUnnamed(stmt: Stmt, program: Program): string | null {
  const asked = placeAskedFor([stmt]);
  if (asked !== null) return `${asked.asked.name} asks for the place of the thread`;
  return coordinateInCallees([stmt], program) === null ? null : 'it comes from a function that looks at the thread’s coordinates';
}

/** True if a loop or `switch` of the list stands around the statement: `continue` would mean that loop. */
function standsInLoop(facts: FunctionFacts, stmt: Stmt, roots: readonly Node[]): boolean {
  for (let at: Node | null = stmt; at !== null && !roots.includes(at); at = facts.parent(at)) {
    const parent = facts.parent(at);
    if (parent !== null && (parent.kind === 'for' || parent.kind === 'while' || parent.kind === 'do' || parent.kind === 'range-for')) return true;
    if (parent !== null && parent.kind === 'switch') continue;
  }
  return false;
}

/** True if the statements may change a parameter, which is the kernel's own: in a loop over items the next one would find it changed. */
function changesParameter(facts: FunctionFacts, list: readonly Stmt[]): boolean {
  const { assigns, uses } = effectsOfAll(facts, list);
  return facts.function.parameters.some((parameter) => assigns.has(parameter) || (uses.has(parameter) && facts.addressTaken(parameter)));
}

function obligationsOf(context: TransformContext, plan: GridPlan, whole: Effects): readonly Obligation[] {
  const { facts } = context;
  const { shape, slice } = plan;
  const kernel = facts.function;
  const branchLine = lineOf(context, shape.branch);
  const last = continuation(shape);
  const list = [...slice.statements, ...last];
  const pass = passRoots(kernel, shape);
  const first = effectsOfAll(facts, pass);
  const later = effectsOfAll(facts, last);
  const { body } = kernel;
  if (body === null) return [unknown('parsed', branchLine, 'the kernel has no body')];
  return [
    noGoto(context),
    noDirectiveAcross(context, kernel.span, 'loops'),
    notInMacro(context, [...list, ...returnsIn([body]), shape.branch]),
    namesFree(context, [plan.names.all.first, plan.names.all.heavy], branchLine),
    namesApart(context, plan),
    copySafe(context, [...slice.statements, ...shape.tail.flat(), ...(plan.keepOriginal ? [body] : [])]),
    contractionStable(context, body),
    parametersPlain(context, kernel),
    indexMapComplete(context, plan, list),
    recomputeStable(context, plan),
    noCollectiveInside(context, plan, later, first),
    ...(plan.order === 'free' ? [prefixPopulation(context, plan, whole)] : []),
    independent(context, first, later, pass, last),
    orderFree(context, plan, later),
    ...launchObligations(context, launchSites(context)),
  ];
}

/** Names that come to stand in one scope: those of the blocks around the branch, and of the heavy code. */
function namesApart(context: TransformContext, { shape, slice }: GridPlan): Obligation {
  const line = lineOf(context, shape.branch);
  if (slice.lost !== null) return refuted('names-resolve', lineOf(context, slice.lost.span), slice.lost.text, slice.lost.remedy);
  const seen = new Map<string, number>();
  const groups = [...slice.statements.map((stmt) => [stmt]), ...shape.tail];
  for (const parameter of context.facts.function.parameters) seen.set(parameter.name, lineOf(context, parameter));
  for (const { decl } of slice.carried) seen.set(decl.name, lineOf(context, decl));
  for (const stmt of groups.flat()) {
    if (stmt.kind !== 'declare') continue;
    for (const decl of [...stmt.variables, ...stmt.types]) {
      if (slice.carried.some((one) => one.decl === decl)) return unknown('names-resolve', lineOf(context, decl), `${decl.name} is carried, the others of its declaration are computed again`, 'declare each variable by itself');
    }
    for (const name of namesDeclared(stmt)) {
      if (seen.has(name)) return refuted('names-resolve', lineOf(context, stmt), `${name} is declared in two blocks that would become one`, `rename the inner ${name}`);
      seen.set(name, lineOf(context, stmt));
    }
  }
  return proved('names-resolve', line, 'every name means the same declaration in the kernel over the list');
}

function parametersPlain(context: TransformContext, kernel: FunctionDecl): Obligation {
  const line = lineOf(context, kernel.nameSpan);
  const odd = kernel.parameters.find((parameter) => parameter.pack || parameter.default !== null || parameter.name === '');
  const bad = odd === undefined ? null : odd.name === '' ? 'a parameter has no name' : odd.pack ? `${odd.name} is a pack` : `${odd.name} has a default value`;
  if (bad !== null) return refuted('launches-rewritable', line, `${bad}: the new parameters cannot stand behind it`, 'give every parameter a name and no default');
  if (kernel.specialises !== null) return refuted('launches-rewritable', line, 'the kernel is an explicit specialisation', 'write it as a kernel of its own');
  if (kernel.template?.some((parameter) => parameter.pack) === true) return refuted('launches-rewritable', line, 'the kernel has a pack of template parameters', null);
  const list = parameterList(context.unit, kernel);
  const hides = list === null ? undefined : [...context.unit.macros].find(([name, macro]) => /\b__grid_constant__\b/.test(macro.body) && spelledIn(context.unit.source, list, name));
  if (hides !== undefined) return refuted('launches-rewritable', line, `the macro ${hides[0]} stands for __grid_constant__, which only kernels may say`, 'write __grid_constant__ itself');
  return proved('launches-rewritable', line, 'new parameters can stand behind the old ones');
}

function indexMapComplete(context: TransformContext, { index, names }: GridPlan, list: readonly Node[]): Obligation {
  const { facts } = context;
  const id = 'index-map-complete';
  const line = lineOf(context, facts.function.nameSpan);
  if (usesAxis(facts, 'z')) return refuted(id, line, 'the kernel looks at the third axis', 'number the items along two axes');
  const { most, line: launchLine } = launchAxes(facts);
  if (most === null || most > index.axes) {
    const which = index.axes === 1 ? 'x' : 'x and y';
    return (most === null ? unknown : refuted)(id, launchLine ?? line, `the kernel looks at ${which} only, but ${most === null ? 'the shape of a launch is not known' : `grids or blocks of ${most} axes may be launched`}: threads may share an index`,
      index.axes === 1 ? 'launch one-dimensional grids and blocks, or give --block N' : 'launch grids and blocks of two axes');
  }
  const callee = coordinateInCallees(list, facts.program);
  if (callee !== null) return refuted(id, lineOf(context, callee.call), `${callee.name} looks at the thread’s coordinates, which are others in the kernel over the list`, `pass the index to ${callee.name}`);
  const { problem } = rewriteCoordinates(facts, list, { item: names.all.item, type: index.item, axes: index.axes, width: names.all.width, blocks: { x: names.all.blocksX, y: names.all.blocksY } });
  if (problem !== null) return refuted(id, lineOf(context, problem.node), problem.text, 'compute it before the branch');
  const text = `an item is the number of its thread in the grid${index.axes === 2 ? ', row by row' : ''}; no two threads share one, and every coordinate can be had back from it; ${index.bound.text}`;
  return index.bound.under === null ? proved(id, line, text) : assumed(id, index.bound.under, line, text);
}

function recomputeStable(context: TransformContext, { slice, shape }: GridPlan): Obligation {
  const { facts } = context;
  const id = 'recompute-stable';
  const line = lineOf(context, shape.branch);
  for (const guard of shape.guards) {
    if (guard.init !== null || guard.conditionDecl !== null) return refuted(id, lineOf(context, guard), 'the branch declares a variable in its head', 'declare it before the branch');
    const effects = facts.effects(guard.condition);
    if (effects.assigns.size > 0) return refuted(id, lineOf(context, guard), `${excerpt(context.unit.source, guard.condition)} changes a variable`, 'change it before the branch');
  }
  for (const { decl, why, line: at } of slice.carried) {
    // What the block shares is refused as such.
    if (decl.space !== 'local') continue;
    if (carriedType(decl.type) === null) {
      return refuted(id, at, `${decl.name} is needed by the heavy part and can neither be computed again (${why}) nor carried (no arithmetic type)`, `keep what is needed of ${decl.name} in variables of arithmetic types`);
    }
  }
  const changed = parameterChanged(context, slice, shape);
  if (changed !== null) return changed;
  if (slice.statements.some((stmt) => declaresCarried(stmt, slice))) return unknown(id, line, 'a declaration holds carried and computed variables', 'declare each variable by itself');
  const again = slice.statements.length === 0 ? 'nothing is computed again' : `${slice.statements.length === 1 ? 'one statement is' : `${slice.statements.length} statements are`} computed again, from what nobody writes meanwhile`;
  const kept = slice.carried.map(({ decl, why }) => `${decl.name} (${why})`);
  return proved(id, line, kept.length === 0 ? again : `${again}; carried: ${kept.join(', ')}`);
}

/** A parameter that is changed before the branch by something that is not repeated would have its old value in the list's kernel. */
function parameterChanged(context: TransformContext, slice: Slice, shape: GridShape): Obligation | null {
  const { facts } = context;
  const used = effectsOfAll(facts, [...continuation(shape), ...slice.statements]).uses;
  for (const stmt of shape.before.flat()) {
    if (slice.statements.includes(stmt)) continue;
    for (const decl of facts.effects(stmt).assigns) {
      if (decl.kind === 'parameter' && used.has(decl)) return refuted('recompute-stable', lineOf(context, stmt), `${decl.name} is changed before the branch by what cannot be repeated`, `change a copy of ${decl.name}`);
    }
  }
  return null;
}

function noCollectiveInside(context: TransformContext, { shape }: GridPlan, later: Effects, first: Effects): Obligation {
  const { source } = context.unit;
  const id = 'no-collective-inside';
  const together = [...later.barriers, ...later.collectives][0];
  if (together !== undefined) {
    return refuted(id, lineOf(context, together), `${excerpt(source, together)} stands in what heavy items do: in the kernel over the list other threads come together there`, 'move it in front of the branch, or use compact:block');
  }
  const shared = later.accesses.find((access) => access.space === 'shared');
  if (shared !== undefined) return refuted(id, lineOf(context, shared.node), `${excerpt(source, shared.node)} is shared memory, which ends with the block`, 'read it into a variable before the branch, or use compact:block');
  const inside = [...shape.tail.flat(), shape.branch];
  const behind = [...first.barriers, ...first.collectives].find((call) => inside.some((stmt) => stmt.span.start <= call.span.start && call.span.end <= stmt.span.end));
  if (behind !== undefined) return refuted(id, lineOf(context, behind), `${excerpt(source, behind)} is reached by the other threads only`, 'move it in front of the branch');
  return proved(id, lineOf(context, shape.branch), 'no barrier, no collective and no shared memory in what heavy items do, nor behind the branch');
}

/** Every thread of the block takes part in the ballots that give the slots: none has left, and none waits elsewhere. */
function prefixPopulation(context: TransformContext, { shape }: GridPlan, whole: Effects): Obligation {
  const id = 'prefix-population';
  const line = lineOf(context, shape.branch);
  const { body } = context.facts.function;
  const together = [...whole.barriers, ...whole.collectives][0];
  const exit = body === null ? undefined : returnsIn([body])[0];
  if (together !== undefined && exit !== undefined) {
    return refuted(id, lineOf(context, together), `threads return on line ${lineOf(context, exit)}; with a counter they would wait at its barrier while the others are at ${excerpt(context.unit.source, together)}`, 'order=keep needs no barrier');
  }
  return proved(id, line, 'early returns end the function of one item, so all threads of the block take part in the ballots; lanes that do not exist count for nothing');
}

function independent(context: TransformContext, first: Effects, later: Effects, pass: readonly Node[], last: readonly Node[]): Obligation {
  const { facts } = context;
  const id = 'light-heavy-independent';
  const line = lineOf(context, facts.function.nameSpan);
  const waiting = synchronises(facts, later) ?? synchronises(facts, first)
    ?? [...last, ...pass].map((node) => decidingAtomic(facts, node, facts.effects(node))).find((found) => found !== null) ?? null;
  if (waiting !== null) return (/not known|not understood/.test(waiting.text) ? unknown : refuted)(id, lineOf(context, waiting.node), waiting.text, 'leave the kernel whole, or take that part out of it');
  const seen = later.visible[0];
  if (seen !== undefined) return refuted(id, lineOf(context, seen), `${excerpt(context.unit.source, seen)} would come after everything that other threads do`, 'take it out of the heavy part');
  const met = exchange(facts, first, later);
  if (met !== null) return refuted(id, lineOf(context, met.node), met.text, 'let threads exchange values in separate launches');
  return proved(id, line, 'no thread can see whether the heavy items come with the others or after them: no fence, no lock, no element that one reads and another writes');
}

function orderFree(context: TransformContext, { order, shape }: GridPlan, later: Effects): Obligation {
  const id = 'order-free';
  const line = lineOf(context, shape.branch);
  const given = context.options.get('order');
  if (given !== undefined && given !== 'free' && given !== 'keep') return refuted(id, line, `order=${given} means nothing`, 'order=free or order=keep');
  const ordered = orderedAtomic(context.facts, later);
  if (order === 'keep') {
    return proved(id, line, ordered === null ? 'nothing depends on the order of the items' : `items keep their order; beyond that the original leaves the order of its atomics open as well`);
  }
  if (ordered !== null) {
    return refuted(id, lineOf(context, ordered.node), `${ordered.text}, and the list has no order`, 'compact:grid,order=keep');
  }
  return proved(id, line, 'items write their own results and add integers: any order gives the same');
}

/** A node of the heavy part that is not understood, for messages. */
export function opaqueIn(nodes: readonly Node[]): Node | null {
  let found: Node | null = null;
  for (const root of nodes) walk(root, (node) => { if (node.kind === 'opaque') found ??= node; });
  return found;
}
