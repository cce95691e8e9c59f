/**
 * Counters in shared memory that are read while other warps still count: `shared-race`.
 *
 *   atomicAdd(&c, x[t]);  if (t == 0) y[0] = c;                 thread 0 reads what warps behind it have not added to yet
 *   atomicAdd(&h[x[t] & 63], 1);  if (t < 64) y[t] = h[t];      the same for a histogram; a caution, since its elements are named by data
 *
 * Only reads that a thread makes by its number, in the round in which it counted or behind the loop, are said. Not handled: a read that decides something (`if (v > best) atomicMax(&best, v)` asks whether it is
 * worth while, and so may a wait), a reader that data elect (`if (atomicAdd(&c, 1) == last)` comes when all have counted), kernels that wait in loops, or lock.
 */
import type { VariableDecl } from '../../syntax/tree.js';
import type { Node } from '../../analysis/children.js';
import type { BlockShape } from '../../analysis/facts.js';
import { formOfParts } from './forms.js';
import { edgeOf } from './guards.js';
import { comersOf, conditionBetween, elementsOfAccess, isOnData } from './meetings.js';
import { isHip } from './platform.js';
import { reason, textOf, type Report } from './report.js';
import type { Access, Scene } from './scene.js';
import { intervalsOf, type Touch } from './trace.js';

/** Pairs looked at thread by thread per kernel. */
const MAX_PAIRS = 60;

export function readTooEarly(scene: Scene, bases: ReadonlySet<VariableDecl>, shape: BlockShape, report: Report): void {
  if (scene.accesses.some((access) => access.place.volatile || decides(access) === 'loop')) return;
  const said = new Set<VariableDecl>();
  let budget = MAX_PAIRS;
  for (const interval of intervalsOf(scene, shape, bases)) {
    for (let i = 0; i < interval.length; i++) {
      const count = interval[i];
      if (count === undefined || count.access.mode !== 'atomic') continue;
      for (let j = i + 1; j < interval.length; j++) {
        const read = interval[j];
        if (read === undefined || read.access.mode !== 'read' || !isPair(count, read) || said.has(read.access.place.base)) continue;
        if (--budget < 0) return;
        const found = meets(count, read, shape);
        if (found === null) continue;
        said.add(read.access.place.base);
        say(count.access, read.access, found, scene.kernel.facts.block.value !== null, report);
      }
    }
  }
}

function isPair({ access: count, bound, epoch }: Touch, { access: read, bound: bound2, epoch: epoch2 }: Touch): boolean {
  return count.place.base === read.place.base && count.place.fields === read.place.fields && count.place.dims.length === read.place.dims.length && count.place.exact && read.place.exact && !read.place.pointer
    && epoch.startsWith(epoch2) && [...(bound2 ?? [])].every(([variable, { value }]) => bound?.get(variable)?.value === value) && decides(read) === null;
}

/** Does the value that is read decide what runs next: in the head of a loop, or anywhere else? */
function decides(access: Access): 'loop' | 'branch' | null {
  const { facts } = access.spot;
  for (let node: Node = access.node, up = facts.parent(node); up !== null; node = up, up = facts.parent(up)) {
    if (up.kind === 'while' || up.kind === 'do' || up.kind === 'for') return up.condition === node ? 'loop' : null;
    if (up.kind === 'if' || up.kind === 'switch') return up.condition === node ? 'branch' : null;
    if (up.kind === 'conditional' || (up.kind === 'binary' && (up.op === '&&' || up.op === '||'))) return inLoopHead(up, access) ? 'loop' : 'branch';
    if (up.kind === 'compound' || up.kind === 'expression' || up.kind === 'declare' || up.kind === 'return') return null;
  }
  return null;
}

function inLoopHead(from: Node, access: Access): boolean {
  const { facts } = access.spot;
  for (let node = from, up = facts.parent(node); up !== null; node = up, up = facts.parent(up)) {
    if (up.kind === 'while' || up.kind === 'do' || up.kind === 'for') return up.condition === node;
    if (up.kind === 'compound' || up.kind === 'expression' || up.kind === 'declare') return false;
  }
  return false;
}

interface Found { readonly counter: number; readonly reader: number; readonly sure: boolean }

function meets(count: Touch, read: Touch, shape: BlockShape): Found | null {
  const arms = conditionBetween(count.access, read.access);
  if (arms === 'exclusive') return null;
  const counters = comersOf(count.access, shape, count.bound);
  const readers = comersOf(read.access, shape, read.bound);
  // Who reads must be known; who counts may be a matter of data.
  if (readers.open.some((partition) => edgeOf(partition, read.access.spot) === null)) return null;
  const open = counters.open.filter((partition) => edgeOf(partition, count.access.spot) === null);
  if (open.some((partition) => !isOnData(partition, count.access))) return null;
  const asked = elementsOfAccess(read.access, shape, read.bound);
  const counted = elementsOfAccess(count.access, shape, count.bound);
  if (asked === null || (counted === null && !leadsAnywhere(count.access))) return null;
  const lanes = isHip(read.access.spot) ? 64 : 32;
  // The first thread that counts an element, and the first of another warp that does.
  const by = new Map<number, number[]>();
  counters.come.forEach((comes, thread) => {
    const element = counted === null ? 0 : counted[thread] ?? -1;
    if (comes !== 1 || element < 0) return;
    const known = by.get(element);
    if (known === undefined) by.set(element, [thread]);
    else if (known.length === 1 && Math.floor((known[0] ?? 0) / lanes) !== Math.floor(thread / lanes)) known.push(thread);
  });
  for (let reader = 0; reader < readers.come.length; reader++) {
    const element = asked[reader] ?? -1;
    if (readers.come[reader] !== 1 || element < 0) continue;
    const counter = by.get(counted === null ? 0 : element)?.find((thread) => Math.floor(thread / lanes) !== Math.floor(reader / lanes));
    if (counter !== undefined) return { counter, reader, sure: arms === 'together' && open.length === 0 && counted !== null };
  }
  return null;
}

/** Is the element named by data alone, and not (in part) by the number of the thread or its warp? */
function leadsAnywhere(count: Access): boolean {
  let byData = false;
  for (const parts of count.place.dims) {
    const form = formOfParts(parts);
    if (form === null) return false;
    for (const term of form.values()) {
      if (term.axis !== null) return false;
      const { sources, known } = term.spot.facts.scope(term.expr);
      if (!known) return false;
      if (sources.data && term.scope === 'lane') byData = true;
      else if (term.scope === 'warp' || term.scope === 'lane') return false;
    }
  }
  return byData;
}

function say(count: Access, read: Access, { counter, reader, sure }: Found, known: boolean, report: Report): void {
  report.add(read.node, read.spot, {
    id: 'shared-race', severity: known && sure ? 'error' : 'caution', message: `\`${read.place.base.name}\` is read while other warps still count in it: no barrier stands between`,
    because: [reason(count.node, count.spot, `\`${textOf(count.node, count.spot)}\` counts here, in thread ${counter} too`), reason(read.node, read.spot, `\`${textOf(read.node, read.spot)}\` is read here by thread ${reader}, perhaps before that`)],
    repair: 'place `__syncthreads();` between the two',
  });
}
