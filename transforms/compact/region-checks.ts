/**
 * What must hold of a heavy region before its items may run on other threads, whatever passes the items on: who is active is known from
 * data only, no lane waits for another one inside, what is done depends on the item and not on the thread, and the order in which items
 * run cannot be told from the result.
 */
import { createAnalysis } from '../../src/analysis/analyse.js';
import { forEachReached } from '../../src/analysis/call-sites.js';
import { isStmt, walk, type Node } from '../../src/analysis/children.js';
import { placeOfAccess } from '../../src/analysis/effects-tables.js';
import type { Analysis, Effects, FunctionFacts, MemoryAccess } from '../../src/analysis/facts.js';
import { asksFor } from '../../src/analysis/coordinate-reads.js';
import { libraryCall } from '../../src/analysis/library-calls.js';
import { builtin } from '../../src/cuda/builtins.js';
import { strip, type CallExpr, type Decl, type Expr, type Program, type Stmt } from '../../src/syntax/tree.js';
import { sameExpr } from '../lib/equality.js';
import { assumed, excerpt, lineOf, proved, refuted, unknown } from '../lib/obligation.js';
import type { Obligation, TransformContext } from '../lib/types.js';
import { reachedFromOutside } from './reached.js';
import { behind, isInside, isLoop, type Region } from './region.js';
import type { Trouble } from './region-values.js';

/** Effects of several statements together. */
export function effectsOfAll(facts: FunctionFacts, stmts: readonly (Stmt | Expr)[]): Effects {
  const all = stmts.map((stmt) => facts.effects(stmt));
  const join = <T>(pick: (effects: Effects) => Iterable<T>): T[] => all.flatMap((effects) => [...pick(effects)]);
  return {
    accesses: join((e) => e.accesses), assigns: new Set(join((e) => e.assigns)), uses: new Set(join((e) => e.uses)), barriers: join((e) => e.barriers),
    collectives: join((e) => e.collectives), fences: join((e) => e.fences), atomics: join((e) => e.atomics), unknownCalls: join((e) => e.unknownCalls),
    visible: join((e) => e.visible), exits: join((e) => e.exits), asm: join((e) => e.asm), opaque: join((e) => e.opaque), faults: join((e) => e.faults),
  };
}

/** `predicate-data-dependent`: lanes differ, and only the data tells which. */
export function predicateFromData(context: TransformContext, region: Region): Obligation {
  const id = 'predicate-data-dependent';
  const line = lineOf(context, region.stmt);
  const verdict = context.facts.scope(region.predicate);
  const what = excerpt(context.unit.source, region.predicate);
  if (!verdict.known) return unknown(id, line, `whether lanes differ in ${what} is not known: ${verdict.unknown ?? ''}`, 'make what it calls visible, e.g. with --include');
  if (verdict.value !== 'lane') return refuted(id, line, `all lanes of a ${verdict.value === 'warp' ? 'warp' : verdict.value} agree on ${what}: no warp is part empty`);
  if (!verdict.sources.data) return refuted(id, line, `${what} depends on the number of the thread alone: active lanes stand side by side as it is, or peel and split know them beforehand`);
  const impure = impurity(context.facts.effects(region.predicate));
  if (impure !== null) return refuted(id, line, `${what} ${impure}: the vote would come between it and what follows`, 'evaluate it into a variable in front of the branch');
  if (onlyByARace(context, region)) return unknown(id, line, `lanes differ in ${what} only if something writes meanwhile what it reads at one address: most likely all agree`, 'declare the pointers __restrict__, or say // divmod: noalias');
  return proved(id, line, `lanes differ in ${what}, which rests on loaded values`);
}

const trusting = new WeakMap<Program, Analysis>();

/** All lanes agree if every load from one address gives one value: what differs is what a race, or two names for one memory, would make. */
function onlyByARace({ facts }: TransformContext, region: Region): boolean {
  let analysis = trusting.get(facts.program);
  if (analysis === undefined) trusting.set(facts.program, analysis = createAnalysis(facts.program, { trustSharedLoads: true }));
  const { function: fn } = facts;
  const verdict = (fn.qualifiers.global ? analysis.kernel(fn) : analysis.everyCall(fn)).scope(region.predicate);
  return verdict.known && verdict.value !== 'lane';
}

function impurity(effects: Effects): string | null {
  if (effects.barriers.length + effects.collectives.length > 0) return 'holds a collective';
  if (effects.visible.length > 0) return 'has a visible effect';
  if (effects.opaque.length + effects.unknownCalls.length + effects.asm.length > 0) return 'was not understood';
  return null;
}

/** `no-collective-inside`: no lane of the heavy part waits for another. */
export function noCollectiveInside(context: TransformContext, region: Region): Obligation {
  const id = 'no-collective-inside';
  const { facts, unit } = context;
  const effects = effectsOfAll(facts, region.heavy.stmts);
  const call = effects.barriers[0] ?? effects.collectives[0];
  if (call !== undefined) {
    return refuted(id, lineOf(context, call), `${excerpt(unit.source, call)} in the heavy part waits for the lanes that were here together, and items run with others`, 'take the exchange between lanes out of the branch');
  }
  const library = groupCall(region.heavy.stmts, facts.program);
  if (library !== null) return refuted(id, lineOf(context, library), `${excerpt(unit.source, library)} asks for the group of the thread that runs it`, 'take it out of the branch');
  const query = laneQuery(region.heavy.stmts, facts.program);
  if (query !== null) return refuted(id, lineOf(context, query), `${excerpt(unit.source, query)} asks which lanes are together`, 'take it out of the branch');
  return proved(id, lineOf(context, region.stmt), 'no barrier and no collective in the heavy part or in what it calls');
}

/** A part of the region for which `own` holds, or the call in it through which something is reached for which `test` does. */
function reached(stmts: readonly (Stmt | Expr)[], program: Program, test: (node: Node) => boolean, own: (node: Node) => boolean = test): Node | null {
  let found: Node | null = null;
  for (const stmt of stmts) walk(stmt, (node) => { if (found === null && own(node)) found = node; return found === null; });
  if (found !== null) return found;
  forEachReached(stmts, program, (node, _where, from) => { if (found === null && test(node)) found = from; });
  return found;
}

function groupCall(stmts: readonly Stmt[], program: Program): Node | null {
  return reached(stmts, program, (node) => node.kind === 'call' && libraryCall(node) !== null);
}

function laneQuery(stmts: readonly Stmt[], program: Program): Node | null {
  return reached(stmts, program, (node) => node.kind === 'call' && node.callee.kind === 'builtin' && (builtin(node.callee.name)?.collective ?? null) !== null);
}

/** `thread-free`: what the heavy part does is decided by its item, not by the thread that runs it. */
export function threadFree(context: TransformContext, region: Region, troubles: readonly Trouble[]): Obligation {
  const id = 'thread-free';
  const { facts, unit } = context;
  const line = lineOf(context, region.stmt);
  const trouble = troubles.find((found) => found.id === id);
  if (trouble !== undefined) return (trouble.known ? refuted : unknown)(id, trouble.line, trouble.text, trouble.remedy);
  const effects = effectsOfAll(facts, region.heavy.stmts);
  const dark = effects.opaque[0] ?? effects.unknownCalls[0] ?? effects.asm[0];
  if (dark !== undefined) return unknown(id, lineOf(context, dark), `${excerpt(unit.source, dark)} is not understood: it may depend on the thread that runs it`, 'make it visible, e.g. with --include');
  const seen = effects.visible[0];
  if (seen !== undefined) return refuted(id, lineOf(context, seen), `${excerpt(unit.source, seen)} has an effect that tells the order of threads`, 'take it out of the branch');
  const fence = effects.fences[0];
  if (fence !== undefined) return refuted(id, lineOf(context, fence), 'a fence orders the writes of the thread that runs it', null);
  const poll = effects.accesses.find((access) => access.volatile);
  if (poll !== undefined) return refuted(id, lineOf(context, poll.node), `${excerpt(unit.source, poll.node)} is volatile: threads may wait for each other through it`, null);
  const coordinate = threadAskedFor(region.heavy.stmts, facts.program);
  if (coordinate !== null) {
    const how = asksFor(coordinate, 'thread', 'machine') === null ? 'reads threadIdx' : 'tells where the thread stands';
    return refuted(id, lineOf(context, coordinate), `${excerpt(unit.source, coordinate)} ${how}: it would take the number of the thread that runs the item`, 'pass the number as an argument');
  }
  const stranger = ownerMemory(context, region, effects);
  if (stranger !== null) return refuted(id, lineOf(context, stranger.node), `${excerpt(unit.source, stranger.node)} may be memory of the thread that owns the item`, 'keep it in shared memory, or fill it inside the branch');
  return proved(id, line, 'the heavy part depends on its item alone');
}

/** What asks for the number of the thread, but for `threadIdx` in the nodes' own text, which can be written anew: another means to ask for it, or a function that does. */
export function threadAskedFor(nodes: readonly (Stmt | Expr)[], program: Program): Node | null {
  const asks = (node: Node): boolean => asksFor(node, 'thread', 'machine') !== null;
  return reached(nodes, program, asks, (node) => node.kind !== 'coordinate' && asks(node));
}

/** An access that may reach local memory through a pointer or an array that was there before the region. */
function ownerMemory(context: TransformContext, region: Region, effects: Effects): MemoryAccess | null {
  const { facts } = context;
  const exposed = reachedFromOutside(facts, region.heavy.stmts) !== null;
  for (const access of effects.accesses) {
    const own = access.base !== null && isInside(access.base, region.heavy.stmts);
    if (own) continue;
    if (access.space === 'local' && throughPointer(access)) return access;
    if (access.space === 'unknown' && exposed) return access;
  }
  return null;
}

/** A named variable travels by its name; what is reached through an address or as an element does not. */
function throughPointer(access: MemoryAccess): boolean {
  const node = strip(access.node);
  if (access.through !== null) return access.base !== null && access.base.kind === 'variable' && access.base.type.kind === 'array';
  if (node.kind === 'ref') return false;
  let root: Expr = node;
  while (root.kind === 'member' && !root.arrow) root = strip(root.object);
  return root.kind !== 'ref' || root.decl !== access.base;
}

/** Atomics that may come in any order with the same result: integer sums, bits, extremes, whose old value nobody takes. */
const COMMUTATIVE = /^atomic(?:Add|Sub|Min|Max|And|Or|Xor)(?:_block|_system)?$/;

/** `order-free`: items run in another order than their owners would have. */
export function orderFree(context: TransformContext, region: Region): Obligation {
  const id = 'order-free';
  const { facts, unit } = context;
  const line = lineOf(context, region.stmt);
  const effects = effectsOfAll(facts, region.heavy.stmts);
  let floating: CallExpr | null = null;
  for (const call of effects.atomics) {
    const name = call.callee.kind === 'builtin' ? call.callee.name : '';
    if (!COMMUTATIVE.test(name) || resultTaken(facts, call)) {
      return refuted(id, lineOf(context, call), `${excerpt(unit.source, call)} tells the order in which the threads come, and items come in another one`, 'number the items with a prefix sum in place of the counter');
    }
    if (call.type.kind !== 'int') floating ??= call;
  }
  if (floating !== null) return assumed(id, 'reassociate', lineOf(context, floating), `${excerpt(unit.source, floating)} adds in the order in which items come, as it did in the order of threads`);
  const meeting = meetingOfItems(context, region, effects);
  if (meeting !== null) return assumed(id, 'race-free', meeting.line, meeting.text);
  return proved(id, line, effects.atomics.length === 0 ? 'items do nothing whose order shows' : 'the atomics of the items give the same in any order');
}

/** Two items may touch one element, and one of them writes it: then the threads of the kernel as written raced for it too. */
function meetingOfItems(context: TransformContext, region: Region, effects: Effects): { readonly line: number; readonly text: string } | null {
  const { facts, unit } = context;
  const accesses = effects.accesses.filter((access) => reachesOthers(access) && !(access.base !== null && isInside(access.base, region.heavy.stmts)));
  for (const write of accesses) {
    if (write.kind !== 'write') continue;
    if (!isOwnElement(facts, write)) return { line: lineOf(context, write.node), text: `several items may write one element by ${excerpt(unit.source, write.node)}; if so, threads raced for it before` };
    for (const other of accesses) {
      if (other === write || other.base !== write.base || !facts.mayAlias(write, other) || otherFields(write, other) || sameElement(facts, write, other)) continue;
      return { line: lineOf(context, write.node), text: `${excerpt(unit.source, write.node)} of one item and ${excerpt(unit.source, other.node)} of another may be one element; if so, threads raced for it before` };
    }
  }
  return null;
}

/** Times 1,024 threads it stays within 32 bits. */
const LARGEST_FACTOR = 1n << 20n;

/** A subscript that no two threads of a block share: the thread's number, and what the block agrees on. */
function isOwnElement(facts: FunctionFacts, access: MemoryAccess): boolean {
  const element = access.through === null ? elementOf(access.node) : null;
  if (element?.kind !== 'index') return false;
  const form = facts.affine(element.index);
  const base = facts.scope(element.base);
  if (form === null || !base.known || base.value === 'lane' || base.value === 'warp') return false;
  const varying = form.terms.filter((term) => !term.atoms.every((atom) => atom.scope !== 'lane' && atom.scope !== 'warp'));
  const [only] = varying;
  // A large factor may wrap around and give two threads one number.
  if (only === undefined || varying.length !== 1 || only.atoms.length !== 1 || only.coefficient === 0n || only.coefficient > LARGEST_FACTOR || only.coefficient < -LARGEST_FACTOR) return false;
  const coordinate = only.atoms[0] === undefined ? null : strip(only.atoms[0].expr);
  return coordinate?.kind === 'coordinate' && coordinate.base === 'threadIdx' && coordinate.axis === 'x' && facts.block.oneDimensional;
}

function resultTaken(facts: FunctionFacts, call: CallExpr): boolean {
  let up = facts.parent(call);
  while (up !== null && (up.kind === 'paren' || up.kind === 'macro' || (up.kind === 'cast' && up.type.kind === 'void'))) up = facts.parent(up);
  return up === null || up.kind !== 'expression';
}

/** Statements that run before and after the region in the same stretch between barriers, and whether a loop leads back to the region. */
export interface Surroundings {
  readonly before: readonly Stmt[];
  readonly after: readonly Stmt[];
}

/** The light statements around a region, up to the nearest barriers that the whole block reaches. */
export function surroundings(context: TransformContext, region: Region): Surroundings {
  const before: Stmt[] = [];
  const after: Stmt[] = [];
  const hasBarrier = (stmt: Stmt): boolean => context.facts.effects(stmt).barriers.some((call) => !(call.callee.kind === 'builtin' && call.callee.name === '__syncwarp'));
  let openBefore = true;
  let openAfter = true;
  for (let i = region.frames.length - 1; i >= 0; i--) {
    const frame = region.frames[i];
    if (frame === undefined) break;
    const earlier = frame.list.slice(0, frame.index);
    const later = behind(region, i);
    openBefore = take(earlier.slice().reverse(), before, openBefore, hasBarrier);
    openAfter = take(later, after, openAfter, hasBarrier);
    // Round again: what stands in front of the region follows it, and the other way round.
    if (frame.owner !== null && isLoop(frame.owner)) {
      if (openAfter) openAfter = take(earlier, after, true, hasBarrier);
      if (openBefore) openBefore = take([...later].reverse(), before, true, hasBarrier);
    }
  }
  return { before, after };
}

function take(stmts: readonly Stmt[], into: Stmt[], open: boolean, closes: (stmt: Stmt) => boolean): boolean {
  if (!open) return false;
  for (const stmt of stmts) {
    if (closes(stmt)) {
      // What the statement does beside the barrier may be on this side of it.
      if (stmt.kind !== 'expression') into.push(stmt);
      return false;
    }
    into.push(stmt);
  }
  return true;
}

/**
 * `light-heavy-independent`: what one thread's light part does and another thread's heavy part does cannot meet. Two names for one
 * memory may; then the program as written has the same race, and any order of the two is one that it allows.
 */
export function lightHeavyIndependent(context: TransformContext, region: Region): Obligation {
  const id = 'light-heavy-independent';
  const { facts, unit } = context;
  const line = lineOf(context, region.stmt);
  const heavy = effectsOfAll(facts, region.heavy.stmts).accesses.filter(reachesOthers);
  const { before, after } = surroundings(context, region);
  const around = [...new Set([...before, ...after])].filter((stmt) => !isInside(region.stmt, [stmt]));
  const light = effectsOfAll(facts, [...around, region.predicate, ...(region.light?.stmts ?? [])]).accesses.filter(reachesOthers);
  for (const inner of heavy) {
    for (const outer of light) {
      if (inner.base === null || inner.base !== outer.base || (inner.kind === 'read' && outer.kind === 'read')) continue;
      if (inner.kind === 'atomic' && outer.kind === 'atomic') continue;
      if (!facts.mayAlias(inner, outer) || otherFields(inner, outer) || sameElement(facts, inner, outer)) continue;
      const [a, b] = [lineOf(context, outer.node), lineOf(context, inner.node)];
      return refuted(id, b, `${excerpt(unit.source, inner.node)} in the heavy part and ${excerpt(unit.source, outer.node)} in line ${a} may be one element for two threads, and which comes first would change`, 'write to another array than the one that is read, or part them with a barrier');
    }
  }
  return proved(id, line, 'light and heavy parts of different threads do not meet in memory');
}

function reachesOthers(access: MemoryAccess): boolean {
  return access.space !== 'local' && access.space !== 'constant';
}

/** Two fields of the records that one pointer leads to. */
function otherFields(a: MemoryAccess, b: MemoryAccess): boolean {
  const [x, y] = [placeOfAccess(a), placeOfAccess(b)].map((place) => /^\*\.(\w+)/.exec(place.steps)?.[1]);
  const type = a.base !== null && (a.base.kind === 'variable' || a.base.kind === 'parameter') && a.base.type.kind === 'pointer' ? a.base.type.to : null;
  return x !== undefined && y !== undefined && x !== y && type !== null && type.kind === 'record' && type.decl.sort !== 'union' && type.decl.overlaid !== true;
}

/** Both are the element that the thread owns: one index that differs between lanes, written the same and with the same values. */
function sameElement(facts: FunctionFacts, a: MemoryAccess, b: MemoryAccess): boolean {
  if (a.through !== null || b.through !== null) return false;
  const [x, y] = [elementOf(a.node), elementOf(b.node)];
  if (x === null || y === null || !sameExpr(x, y)) return false;
  if (x.kind === 'index' && facts.scope(x.index).value !== 'lane') return false;
  const defs = (expr: Expr): string[] => {
    const result: string[] = [];
    walk(expr, (node) => {
      if (node.kind === 'ref' && !isStmt(node)) result.push(facts.definitions(node).map((d) => ('node' in d ? `${d.node.span.start}` : `${d.decl.span.start}`)).sort().join(','));
    });
    return result;
  };
  return defs(x).join(';') === defs(y).join(';');
}

/** The outermost subscripted lvalue: `x[i]` of `x[i].w`. */
function elementOf(node: Expr): Expr | null {
  let at = strip(node);
  while (at.kind === 'member' && !at.arrow) at = strip(at.object);
  return at.kind === 'index' || (at.kind === 'unary' && at.op === '*') || at.kind === 'member' ? at : null;
}

/** Does anything that the owner does afterwards meet what its item did? Then a barrier must stand between. */
export function meetsAfterwards(context: TransformContext, region: Region, after: readonly Stmt[]): boolean {
  const { facts } = context;
  const heavy = effectsOfAll(facts, region.heavy.stmts).accesses.filter(reachesOthers);
  const later = effectsOfAll(facts, after).accesses.filter(reachesOthers);
  return heavy.some((a) => later.some((b) => (a.kind !== 'read' || b.kind !== 'read') && facts.mayAlias(a, b)));
}

/** Obligations that state troubles of one id; proved with `text` if there are none. */
export function troubleObligation(id: Trouble['id'], troubles: readonly Trouble[], line: number, text: string): Obligation {
  const trouble = troubles.find((found) => found.id === id);
  if (trouble === undefined) return proved(id, line, text);
  return (trouble.known ? refuted : unknown)(id, trouble.line, trouble.text, trouble.remedy);
}

export function namesOf(decls: Iterable<Decl>): string {
  return [...decls].map((decl) => decl.name).join(', ');
}
