/**
 * Shared elements that a thread reads and only threads that may have left the kernel write: `exit-skips-shared-write`, thread by thread.
 *
 *   if (t >= n) return;
 *   s[t] = x[t];  __syncthreads();  y[t] = s[255 - t];         thread 0 reads what thread 255 owed
 *   if (t == 255) total = s[t];  __syncthreads();  … total …    the leader is among those that leave first
 *
 * Behind a guard of the work's edge threads with high numbers leave first, so an element is owed where each of its writers has a higher number than the reader: there is an extent between the
 * two. All writes of the array must be evaluated. Reads at a constant distance are shared-owners.ts. Not handled: guards in data, elements that somebody else writes as well (halos), arrays that
 * are read inside the extent.
 */
import type { Partition } from '../../analysis/arrival.js';
import type { BlockShape } from '../../analysis/facts.js';
import { coefficientOf, formOf, formOfParts, restIsShared } from './forms.js';
import { spotOf, type Edge } from './guards.js';
import { anyShape, comersOf, elementsOfAccess } from './meetings.js';
import type { Access } from './scene.js';

export interface Owed { readonly read: Access; readonly write: Access; readonly reader: number; readonly writer: number; /** The shape of the block is known. */ readonly known: boolean }

/** The first element that is owed behind the exit, of reads that nothing keeps inside the extent. */
export function owedBehind(exit: Partition, edge: Edge, writes: readonly Access[], reads: readonly Access[]): Owed | null {
  const [first] = writes;
  if (first === undefined || reads.length === 0) return null;
  const { block } = first.spot.facts;
  const shape = block.value ?? anyShape(block.maxThreads, [first.place.base], (length) => first.spot.facts.constant(length));
  for (const guard of edge.guards) {
    const order = orderOf(guard, spotOf(exit, first.spot), shape);
    if (order === null) continue;
    // Of each element the writer that stays longest.
    const lowest = new Map<number, { readonly thread: number; readonly write: Access }>();
    for (const write of writes) {
      const elements = elementsOfAccess(write, shape, null);
      const { come, open } = comersOf(write, shape, null);
      if (elements === null || !write.place.exact || open.some((partition) => partition.at !== exit.at)) return null;
      for (let thread = 0; thread < elements.length; thread++) {
        const element = elements[thread] ?? -1;
        const before = lowest.get(element);
        if (come[thread] === 1 && element >= 0 && (before === undefined || (order[thread] ?? 0) < (order[before.thread] ?? 0))) lowest.set(element, { thread, write });
      }
    }
    for (const read of reads) {
      const { come, open } = comersOf(read, shape, null);
      if (!read.place.exact || open.some((partition) => partition.at !== exit.at)) continue;
      for (const [thread, element] of touches(read, shape, come)) {
        const owner = lowest.get(element);
        if (owner !== undefined && (order[owner.thread] ?? 0) > (order[thread] ?? 0)) return { read, write: owner.write, reader: thread, writer: owner.thread, known: block.value !== null };
      }
    }
  }
  return null;
}

/** The order in which threads leave, last first: the guard's index within the block. */
function orderOf(guard: Edge['guards'][number], spot: Parameters<typeof formOf>[1], shape: BlockShape): readonly number[] | null {
  const form = formOf(guard.index, spot);
  if (form === null || !restIsShared(form)) return null;
  const [x, y, z] = [coefficientOf(form, 'x'), coefficientOf(form, 'y'), coefficientOf(form, 'z')].map(Number);
  if (x === undefined || y === undefined || z === undefined || x < 0 || y < 0 || z < 0 || x + y + z === 0) return null;
  const found: number[] = [];
  for (let k = 0; k < shape.z; k++) for (let j = 0; j < shape.y; j++) for (let i = 0; i < shape.x; i++) found.push(i * x + j * y + k * z);
  return found;
}

/** Threads and the elements that they read: each its own, or all the highest that a counter of a loop leads to. */
function touches(read: Access, shape: BlockShape, come: Uint8Array): readonly (readonly [number, number])[] {
  const elements = elementsOfAccess(read, shape, null);
  if (elements !== null) return elements.flatMap((element, thread): (readonly [number, number])[] => (come[thread] === 1 && element >= 0 ? [[thread, element]] : []));
  const [parts, ...others] = read.place.dims;
  const form = parts === undefined || others.length > 0 ? null : formOfParts(parts);
  if (form === null || !restIsShared(form)) return [];
  let high = 0n;
  for (const [key, term] of form) {
    if (key === '') { high += term.coefficient; continue; }
    const range = term.axis !== null || key.includes('*') || term.coefficient < 0n ? null : term.spot.facts.range(term.expr);
    if (range === null || range.high === null) return [];
    high += range.high * term.coefficient;
  }
  const first = come.indexOf(1);
  return first < 0 || high < 0n ? [] : [[first, Number(high)]];
}
