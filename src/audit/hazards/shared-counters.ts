/**
 * Counters and histograms in shared memory: `shared-uninitialised` and `shared-race`.
 *
 *   __shared__ int h[64];  atomicAdd(&h[key], 1);              counts up from what nobody set
 *   if (t == 0) c = 0;  atomicAdd(&c, 1);                       other warps may count before the zero
 *   if (lane == 0) tot += v;                                    one cell, read and written by several warps: updates are lost
 *   h[x[i] & 15]++;                                             more threads than cells
 *   if (v > m) m = v;                                           a larger one may be overwritten by a smaller one
 *
 * Threads and elements are evaluated for the block's shape; in blocks of unknown shape, and under conditions of data, nothing surer than a caution is said of races. Not handled: cells
 * that a lock guards (nothing is said where an exchange or a compare-and-swap stands in the kernel), dynamic shared memory that is not initialised.
 */
import type { Expr, VariableDecl } from '../../syntax/tree.js';
import type { Partition } from '../../analysis/arrival.js';
import type { BlockShape } from '../../analysis/facts.js';
import { within } from './agreement.js';
import { readTooEarly } from './counted-reads.js';
import { edgeOf } from './guards.js';
import { anyShape, comersOf, conditionBetween, elementsOfAccess, isOnData } from './meetings.js';
import { isHip } from './platform.js';
import { reason, reasonsOf, textOf, type Report } from './report.js';
import type { Access, Scene } from './scene.js';
import { intervalsOf } from './trace.js';

export function sharedCounters(scene: Scene, byBase: ReadonlyMap<VariableDecl, readonly Access[]>, isClear: (base: VariableDecl) => boolean, report: Report): void {
  const zeroed = new Set<VariableDecl>();
  const asked = new Set<VariableDecl>();
  const { facts } = scene.kernel;
  let locks: boolean | null = null;
  for (const [base, accesses] of byBase) {
    if (!accesses.some((access) => access.mode !== 'read')) continue;
    const read = new Set(accesses.filter((access) => access.mode === 'read').map((access) => access.node));
    const counts = accesses.filter((access) => (access.mode === 'atomic' ? !isExchange(access) : access.mode === 'write' && read.has(access.node)));
    const sets = accesses.filter((access) => access.mode === 'write' && !read.has(access.node));
    const shape = facts.block.value ?? anyShape(facts.block.maxThreads, [base], (length) => facts.constant(length));
    const isLocked = (): boolean => locks ??= scene.events.some((event) => event.kind === 'access' && event.mode === 'atomic' && isExchange(event)) || usesLocks(scene);
    for (const set of sets) if (isCompared(set, accesses) && !isLocked() && overtaken(set, shape, report)) break;
    const first = counts[0];
    if (first === undefined) continue;
    if (sets.length === 0 && !accesses.some((access) => access.mode === 'atomic' && isExchange(access)) && isClear(base)) {
      report.add(first.node, first.spot, {
        id: 'shared-uninitialised', severity: 'error', message: `\`${base.name}\` is counted up from what nobody set: shared memory holds anything at the start`,
        because: [reason(first.node, first.spot, `\`${textOf(first.node, first.spot)}\` is the first that touches \`${base.name}\`, and nothing sets it`)], repair: `set \`${base.name}\` (every element) and place \`__syncthreads();\` before the first update`,
      });
    }
    if (sets.length > 0 && counts.some((access) => access.mode === 'atomic')) zeroed.add(base);
    if (read.size > 0 && counts.some((access) => access.mode === 'atomic') && accesses.some((access) => access.mode === 'read' && !access.place.volatile)) asked.add(base);
    for (const update of counts) {
      if (update.mode === 'atomic') continue;
      if (!isLocked() && lost(update, shape, facts.block.value !== null, report)) break;
    }
  }
  if (zeroed.size > 0) zeroedTooLate(scene, zeroed, report);
  if (asked.size > 0 && scene.complete && !(locks ?? usesLocks(scene))) readTooEarly(scene, asked, facts.block.value ?? anyShape(facts.block.maxThreads, asked, (length) => facts.constant(length)), report);
}

function nameOf(access: Access): string {
  return access.node.kind === 'call' && access.node.callee.kind === 'builtin' ? access.node.callee.name : '';
}

function isExchange(access: Access): boolean {
  const name = nameOf(access);
  return name.startsWith('atomicExch') || name.startsWith('atomicCAS');
}

/** Locks may lie in other memory than the cell. */
function usesLocks(scene: Scene): boolean {
  return scene.spots.some((spot) => spot.facts.effects(spot.facts.function.body ?? { kind: 'empty', span: spot.facts.function.span }).atomics.some((call) => call.callee.kind === 'builtin' && (call.callee.name.startsWith('atomicCAS') || call.callee.name.startsWith('atomicExch'))));
}

/** What the conditions that could not be evaluated leave open: `sure` if any two threads may come, `perhaps` if data decides, null if not known. */
function openness(open: readonly Partition[], access: Access): 'sure' | 'perhaps' | null {
  let found: 'sure' | 'perhaps' = 'sure';
  for (const partition of open) {
    if (edgeOf(partition, access.spot) !== null) continue;
    if (!isOnData(partition, access)) return null;
    found = 'perhaps';
  }
  return found;
}

// ---------------------------------------------------------------------------------------------------------- lost updates

/** An update that is no atomic, of one cell by several threads: said? */
function lost(update: Access, shape: BlockShape, known: boolean, report: Report): boolean {
  const { come, open } = comersOf(update, shape, null);
  const openly = openness(open, update);
  if (openly === null || !update.place.exact) return false;
  const elements = elementsOfAccess(update, shape, null);
  const coming = [...come.keys()].filter((thread) => come[thread] === 1);
  let pair: readonly [number, number] | null = null;
  let cells: bigint | null = null;
  if (elements !== null) {
    const first = new Map<number, number>();
    for (const thread of coming) {
      const element = elements[thread] ?? -1;
      const other = first.get(element);
      if (other === undefined) first.set(element, thread);
      else if (element >= 0) { pair = [other, thread]; if (Math.floor(other / 32) !== Math.floor(thread / 32)) break; }
    }
    if (pair === null) return false;
  } else {
    const part = update.place.dims.length === 1 && update.place.dims[0]?.length === 1 ? update.place.dims[0][0] : undefined;
    if (part === undefined) return false;
    const verdict = part.spot.facts.scope(part.expr);
    if (!verdict.known || verdict.value !== 'lane' || !verdict.sources.data) return false;
    const { low, high } = part.spot.facts.range(part.expr);
    cells = low === null || high === null ? null : high - low + 1n;
  }
  const crowded = pair !== null || (cells !== null && cells < BigInt(coming.length));
  const sure = known && openly === 'sure' && crowded;
  const why = pair !== null ? `threads ${pair[0]} and ${pair[1]} both come here, to one element` : crowded ? `${coming.length} threads come, to ${cells ?? ''} elements` : 'threads whose data are equal come to one element';
  report.add(update.node, update.spot, {
    id: 'shared-race', severity: sure ? 'error' : 'caution', message: `\`${textOf(update.node, update.spot)}\` is read, changed and written back by several threads at once: updates are lost`,
    because: [reason(update.node, update.spot, why), ...reasonsOf(open.slice(0, 1))], repair: `use \`atomicAdd\` (or the atomic of the operation) on \`${textOf(update.node, update.spot)}\`, or let one thread add up what the others stored`,
  });
  return true;
}

// ------------------------------------------------------------------------------------------------------ compared and set

/** `if (v > m) m = v;`: a value of each thread's own, written where a comparison with the cell itself let the thread through. */
function isCompared(set: Access, accesses: readonly Access[]): boolean {
  const { facts } = set.spot;
  const up = facts.parent(set.node);
  if (set.place.volatile || !set.place.exact || up === null || up.kind !== 'assign' || up.op !== null) return false;
  const asks = (condition: Expr): boolean => accesses.some((access) => access.mode === 'read' && access.spot === set.spot && within(access.node, condition) && textOf(access.node, access.spot) === textOf(set.node, set.spot));
  // Most writes stand under no condition that reads their cell: what they write is asked last.
  if (!set.spot.sets.at(set.node).partitions.some((partition) => partition.by === 'branch' && partition.facts === facts && partition.conditions.some(asks))) return false;
  const value = facts.scope(up.value);
  return value.known && value.value === 'lane';
}

/** Several threads compare one cell and set it: said? */
function overtaken(set: Access, shape: BlockShape, report: Report): boolean {
  const { come, open } = comersOf(set, shape, null);
  const elements = elementsOfAccess(set, shape, null);
  if (elements === null || openness(open, set) === null) return false;
  const first = new Map<number, number>();
  const second = elements.findIndex((element, thread) => {
    if (come[thread] !== 1 || element < 0) return false;
    if (first.has(element)) return true;
    first.set(element, thread);
    return false;
  });
  if (second < 0) return false;
  report.add(set.node, set.spot, {
    id: 'shared-race', severity: 'caution', message: `\`${textOf(set.node, set.spot)}\` is compared and then set by several threads at once: what one sets may be overwritten by what another compared before`,
    because: [reason(set.node, set.spot, `threads ${first.get(elements[second] ?? 0) ?? 0} and ${second} may both come here, to one element`), ...reasonsOf(open.slice(0, 1))],
    repair: 'use `atomicMax` or `atomicMin` (or a compare-and-swap), or let one thread compare what the others stored',
  });
  return true;
}

// -------------------------------------------------------------------------------------------------------- zeroed too late

/** Pairs looked at thread by thread per kernel. */
const MAX_PAIRS = 100;

/** A plain write and an atomic of another warp's thread with no barrier between. */
function zeroedTooLate(scene: Scene, bases: ReadonlySet<VariableDecl>, report: Report): void {
  const { block } = scene.kernel.facts;
  const shape = block.value ?? anyShape(block.maxThreads, bases, (length) => scene.kernel.facts.constant(length));
  const said = new Set<VariableDecl>();
  let budget = MAX_PAIRS;
  for (const interval of intervalsOf(scene, shape, bases)) {
    for (let i = 0; i < interval.length; i++) {
      for (let j = i + 1; j < interval.length; j++) {
        const a = interval[i];
        const b = interval[j];
        if (a === undefined || b === undefined || a.access.place.base !== b.access.place.base || said.has(a.access.place.base)) continue;
        const [set, count] = a.access.mode === 'write' ? [a, b] : [b, a];
        if (set.access.mode !== 'write' || count.access.mode !== 'atomic' || set.access.place.fields !== count.access.place.fields) continue;
        if (--budget < 0) return;
        const found = between(set.access, count.access, set.bound, count.bound, shape);
        if (found === null) continue;
        said.add(set.access.place.base);
        sayLate(set.access, count.access, b.access, found, block.value !== null, report);
      }
    }
  }
}

interface Found { readonly writer: number; readonly counter: number; readonly sure: boolean }

function between(set: Access, count: Access, inSet: Parameters<typeof comersOf>[2], inCount: Parameters<typeof comersOf>[2], shape: BlockShape): Found | null {
  const arms = conditionBetween(set, count);
  if (arms === 'exclusive' || !set.place.exact || !count.place.exact) return null;
  const writers = comersOf(set, shape, inSet);
  const counters = comersOf(count, shape, inCount);
  const first = openness(writers.open, set);
  const second = openness(counters.open, count);
  const written = elementsOfAccess(set, shape, inSet);
  if (first === null || second === null || written === null) return null;
  const counted = elementsOfAccess(count, shape, inCount);
  // A subscript of data may lead anywhere.
  const anywhere = counted === null && count.place.dims.every((parts) => parts.every((part) => { const verdict = part.spot.facts.scope(part.expr); return verdict.known && (verdict.sources.data || verdict.value !== 'lane'); })) && count.place.dims.some((parts) => parts.some((part) => part.spot.facts.scope(part.expr).sources.data));
  if (counted === null && !anywhere) return null;
  const lanes = isHip(set.spot) ? 64 : 32;
  const owner = new Map<number, number>();
  written.forEach((element, thread) => { if (writers.come[thread] === 1 && element >= 0 && !owner.has(element)) owner.set(element, thread); });
  for (let thread = 0; thread < counters.come.length; thread++) {
    if (counters.come[thread] !== 1) continue;
    const element = counted?.[thread];
    const writer = element === undefined ? [...owner.values()].find((one) => Math.floor(one / lanes) !== Math.floor(thread / lanes)) : owner.get(element);
    if (writer === undefined || Math.floor(writer / lanes) === Math.floor(thread / lanes)) continue;
    // Who sets it as well counts from what it set.
    if (element !== undefined && writers.come[thread] === 1 && written[thread] === element) continue;
    return { writer, counter: thread, sure: arms === 'together' && first === 'sure' };
  }
  return null;
}

function sayLate(set: Access, count: Access, second: Access, { writer, counter, sure }: Found, known: boolean, report: Report): void {
  report.add(second.node, second.spot, {
    id: 'shared-race', severity: known && sure ? 'error' : 'caution', message: `\`${set.place.base.name}\` is set and counted up with no barrier between: what other warps count ${second === count ? 'before it is set' : 'late'} is lost`,
    because: [reason(set.node, set.spot, `\`${textOf(set.node, set.spot)}\` is set here, by thread ${writer}`), reason(count.node, count.spot, `\`${textOf(count.node, count.spot)}\` counts here, in thread ${counter}; no barrier stands between`)],
    repair: 'place `__syncthreads();` between the two',
  });
}
