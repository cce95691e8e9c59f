/**
 * Threads that touch one shared element with nothing between: `lockstep-without-syncwarp` and `shared-race`.
 *
 * Pairs of accesses (one of them a write) to one array, in the order of the text, with no barrier between them, where the elements differ by a constant number of threads: the
 * element that a thread reads is the one that another thread writes. Below a condition that keeps one warp, or through `volatile`, that is code that counts on lockstep;
 * else it is a race. Around a loop the same holds between the end of a round and the beginning of the next.
 *
 *   w[t] += w[t + 16];                          the write of w[t + 16]'s owner in the next line is not ordered
 *   w[t] += w[t + 8];                           after this read
 *
 * Only pairs of which two threads surely meet are said. Not handled: elements by division or remainder, dynamic shared arrays under two names, atomics.
 */
import type { Partition } from '../../analysis/arrival.js';
import type { Loop } from '../../analysis/facts.js';
import { coefficientOf, constantOfForm, difference, formsOf, restIsShared, type Form } from './forms.js';
import { meetingOf, runsInEveryRound, type Meeting } from './meetings.js';
import { reason, textOf, type Report } from './report.js';
import { isHip } from './platform.js';
import type { Access, Event, Scene } from './scene.js';

interface Indexed { readonly access: Access; readonly forms: readonly Form[]; readonly key: string }

/** Pairs looked at per kernel. */
const MAX_PAIRS = 40_000;

export function races(scene: Scene, report: Report): void {
  if (!scene.complete) return;
  const intervals = barrierIntervals(scene.events);
  let budget = MAX_PAIRS;
  const said = new Set<string>();
  for (const interval of intervals) {
    const touched = interval.filter((event): event is Access => event.kind === 'access');
    const written = new Set(touched.filter((access) => access.mode === 'write').map((access) => access.place.base));
    const accesses = written.size === 0 ? [] : touched.filter((access) => written.has(access.place.base)).flatMap(indexed);
    for (let i = 0; i < accesses.length && budget > 0; i++) {
      for (let j = i + 1; j < accesses.length && budget > 0; j++, budget--) {
        const a = accesses[i];
        const b = accesses[j];
        if (a === undefined || b === undefined || (a.access.mode === 'read' && b.access.mode === 'read') || a.access.place.base !== b.access.place.base) continue;
        if (sameStatement(a.access, b.access) || said.has(`${a.key}${a.access.place.base.name}`)) continue;
        const distance = apart(a, b);
        if (distance === null || !meet(a.access, b.access, distance)) continue;
        said.add(`${a.key}${a.access.place.base.name}`);
        say(a.access, b.access, distance, report);
      }
    }
  }
  met(intervals, report);
  around(scene, report);
}

/** Pairs whose elements are no constant number of threads apart, thread by thread. */
function met(intervals: readonly (readonly Event[])[], report: Report): void {
  let budget = MAX_MEETINGS;
  const said = new Set<string>();
  for (const interval of intervals) {
    const touched = interval.filter((event): event is Access => event.kind === 'access' && event.mode !== 'atomic' && !event.place.base.dynamicShared);
    for (const write of touched) {
      if (write.mode !== 'write') continue;
      for (const read of touched) {
        if (read.mode !== 'read' || read.place.base !== write.place.base) continue;
        const name = `${write.place.base.name} ${write.place.base.span.start}`;
        if (said.has(name) || --budget < 0) continue;
        const [a, b] = read.order < write.order ? [read, write] : [write, read];
        if (sameStatement(a, b) || isSaid(a, b)) continue;
        const meeting = meetingOf(a, b);
        if (meeting === null) continue;
        said.add(name);
        sayMet(a, b, meeting, report);
      }
    }
  }
}

/** Pairs looked at thread by thread per kernel. */
const MAX_MEETINGS = 3000;

/** Elements a constant number of threads apart are judged by their distance. */
function isSaid(a: Access, b: Access): boolean {
  const first = indexed(a)[0];
  const second = indexed(b)[0];
  return first !== undefined && second !== undefined && apart(first, second) !== null;
}

function sayMet(a: Access, b: Access, meeting: Meeting, report: Report): void {
  const write = a.mode === 'write' ? a : b;
  const read = write === a ? b : a;
  const because = [
    reason(write.node, write.spot, `\`${textOf(write.node, write.spot)}\` is written here, by thread ${meeting.writer}`),
    reason(read.node, read.spot, `\`${textOf(read.node, read.spot)}\`, read here by thread ${meeting.reader}, is the same element; no barrier stands between`),
  ];
  if (meeting.inWarp) {
    report.add(b.node, b.spot, {
      id: 'lockstep-without-syncwarp', severity: 'caution', message: 'a lane reads what another lane writes with no `__syncwarp` between: they need not run in step', because,
      repair: 'place `__syncwarp();` between the two',
    });
    return;
  }
  report.add(b.node, b.spot, {
    id: 'shared-race', severity: meeting.sure ? 'error' : 'caution', message: `threads ${meeting.writer} and ${meeting.reader} touch one element of \`${write.place.base.name}\` with no barrier between`, because,
    repair: 'place `__syncthreads();` between the two',
  });
}

/** Runs of events with no barrier, unknown call or mark of a loop between them. */
function barrierIntervals(events: readonly Event[]): Event[][] {
  const intervals: Event[][] = [];
  let current: Event[] = [];
  for (const event of events) {
    if (separates(event) || event.kind === 'loop-begin' || event.kind === 'loop-end') {
      if (current.length > 1) intervals.push(current);
      current = [];
    } else current.push(event);
  }
  if (current.length > 1) intervals.push(current);
  return intervals;
}

function separates(event: Event): boolean {
  return event.kind === 'unknown' || (event.kind === 'collective' && (event.barrier !== null || event.library !== null));
}

function indexed(access: Access): Indexed[] {
  if (access.mode === 'atomic' || access.place.base.dynamicShared && access.place.fields !== '') return [];
  const forms = formsOf(access.place);
  if (forms === null || forms.length === 0) return [];
  return [{ access, forms, key: partitionsKey(access) }];
}

function partitionsOf(access: Access): readonly Partition[] {
  return access.spot.sets.at(access.node).partitions;
}

const numbers = new WeakMap<object, number>();
let counter = 0;

/** Equal keys: the same threads come, as far as conditions tell. */
function partitionsKey(access: Access): string {
  return partitionsOf(access).map((partition) => {
    let n = numbers.get(partition.at);
    if (n === undefined) numbers.set(partition.at, n = ++counter);
    return `${n}${partition.kind}${partition.by}${partition.decision?.holds ?? ''}`;
  }).join('|');
}

function sameStatement(a: Access, b: Access): boolean {
  return a.node === b.node || (a.spot === b.spot && overlaps(a, b));
}

/** Accesses of one assignment: the read comes before the write in each thread, and lanes of one statement are not told apart. */
function overlaps(a: Access, b: Access): boolean {
  const { facts } = a.spot;
  for (let n = facts.parent(a.node); n !== null; n = facts.parent(n)) {
    if ((n.kind === 'assign' || n.kind === 'update') && n.span.start <= b.node.span.start && n.span.end >= b.node.span.end) return true;
    if (n.kind === 'expression' || n.kind === 'compound') return false;
  }
  return false;
}

/** By how many threads along x the elements are apart; null if that is not a constant or it is 0. */
function apart(a: Indexed, b: Indexed): bigint | null {
  if (a.forms.length !== b.forms.length || a.access.place.fields !== b.access.place.fields) return null;
  let distance = 0n;
  for (let i = 0; i < a.forms.length; i++) {
    const x = a.forms[i];
    const y = b.forms[i];
    if (x === undefined || y === undefined || !restIsShared(x) || !restIsShared(y)) return null;
    const by = constantOfForm(difference(y, x));
    if (by === null) return null;
    if (by === 0n) continue;
    const coefficient = coefficientOf(x, 'x');
    if (distance !== 0n || coefficient === 0n || by % coefficient !== 0n) return null;
    if (i !== a.forms.length - 1) return null;
    distance = by / coefficient;
  }
  return distance === 0n ? null : distance;
}

/** Do two threads surely meet: do all threads that come run both, and are there more of them than the distance? */
function meet(a: Access, b: Access, distance: bigint): boolean {
  if (partitionsKey(a) !== partitionsKey(b)) return false;
  const far = Number(distance < 0n ? -distance : distance);
  const size = threadsOf(a);
  return size !== null && far < size;
}

/** How many neighbouring threads along x come; null if not known. */
function threadsOf(access: Access): number | null {
  const partitions = partitionsOf(access).filter((partition) => partition.kind === 'skip');
  const { block } = access.spot.facts;
  if (partitions.length === 0) return block.value === null ? 32 : block.value.x;
  const shape = block.value ?? { x: 256, y: 1, z: 1 };
  let alive = new Uint8Array(shape.x).fill(1);
  for (const partition of partitions) {
    const { decision, facts } = partition;
    const set = decision === null || decision.holds === null ? null : facts.laneSetIn?.(decision.condition, shape) ?? null;
    if (set === null || decision === null) return null;
    alive = alive.map((come, i) => (come === 1 && (set.holds[i] === 1) === decision.holds ? 1 : 0));
  }
  let longest = 0;
  let run = 0;
  for (const come of alive) {
    run = come === 1 ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return longest;
}

function isLockstep(access: Access): boolean {
  const size = threadsOf(access);
  const { value } = access.spot.facts.block;
  const oneWarp = size !== null && size <= 32 && (partitionsOf(access).some((partition) => partition.kind === 'skip') || (value !== null && value.x * value.y * value.z <= 32));
  return access.place.volatile || oneWarp;
}

function say(a: Access, b: Access, distance: bigint, report: Report): void {
  const lockstep = isLockstep(a);
  const far = distance < 0n ? -distance : distance;
  const because = [
    reason(a.node, a.spot, `\`${textOf(a.node, a.spot)}\` is ${a.mode === 'read' ? 'read' : 'written'} here`),
    reason(b.node, b.spot, `\`${textOf(b.node, b.spot)}\`, ${b.mode === 'read' ? 'read' : 'written'} here, is the same element of the thread ${far} further ${distance < 0n ? 'down' : 'on'}; no barrier stands between`),
  ];
  if (lockstep) {
    report.add(a.node, a.spot, {
      id: 'lockstep-without-syncwarp', severity: isHip(a.spot) ? 'caution' : 'error', message: 'lanes read what other lanes write with no `__syncwarp` between: they need not run in step', because,
      repair: 'place `__syncwarp();` between each read and the next write and after it, or pass the values by shuffles',
    });
    return;
  }
  report.add(b.node, b.spot, {
    id: 'shared-race', severity: 'error', message: `threads ${far} apart touch one element of \`${a.place.base.name}\` with no barrier between`, because, repair: 'place `__syncthreads();` between the two',
  });
}

// ------------------------------------------------------------------------------------------------------- around loops

/** The last interval of a round and the first of the next: `s[t] = …; __syncthreads(); … s[k] …` with no barrier at the end. */
function around(scene: Scene, report: Report): void {
  const { events } = scene;
  for (let begin = 0; begin < events.length; begin++) {
    const mark = events[begin];
    if (mark === undefined || mark.kind !== 'loop-begin') continue;
    const end = events.findIndex((event, i) => i > begin && event.kind === 'loop-end' && event.node === mark.node && event.spot === mark.spot);
    if (end < 0) continue;
    const inner = events.slice(begin + 1, end);
    const first = inner.findIndex(separates);
    const last = inner.findLastIndex(separates);
    if (first < 0 || runsOnce(mark.node, mark.spot.facts)) continue;
    const head = inner.slice(0, first).filter((event): event is Access => event.kind === 'access' && event.mode === 'write' && event.spot === mark.spot).flatMap(indexed);
    const tail = inner.slice(last + 1).filter((event): event is Access => event.kind === 'access' && event.mode === 'read').flatMap(indexed);
    // Inner loops before the first barrier may run not at all, but the writes there would still race in the next round.
    for (const write of head) {
      const read = tail.find((one) => racesAround(write, one, mark.node) || meetsAround(write.access, one.access, mark.node));
      if (read === undefined) continue;
      report.add(write.access.node, write.access.spot, {
        id: 'shared-race', severity: 'error', message: `\`${textOf(write.access.node, write.access.spot)}\` may overwrite what slower threads still read in the round before`,
        because: [reason(read.access.node, read.access.spot, `\`${textOf(read.access.node, read.access.spot)}\` is read after the last barrier of the round`), reason(write.access.node, write.access.spot, 'written before the first barrier of the next round')],
        repair: 'place `__syncthreads();` at the end of the loop\'s body',
      });
      break;
    }
  }
}

function runsOnce(loop: Loop, facts: Access['spot']['facts']): boolean {
  const trips = facts.trips(loop);
  return trips.origin === 'constant' && trips.count <= 1;
}

/** Every thread writes its own element, and every thread reads elements of others, in every round. */
function racesAround(write: Indexed, read: Indexed, loop: Loop): boolean {
  if (write.access.place.base !== read.access.place.base || write.access.place.fields !== read.access.place.fields || write.forms.length !== read.forms.length) return false;
  const all = [...partitionsOf(write.access), ...partitionsOf(read.access)];
  if (all.some((partition) => partition.kind === 'skip')) return false;
  const shape = write.access.spot.facts.block.value;
  if (shape !== null && shape.x * shape.y * shape.z <= 32) return false;
  const last = write.forms.length - 1;
  let foreign = false;
  for (let i = 0; i <= last; i++) {
    const w = write.forms[i];
    const r = read.forms[i];
    if (w === undefined || r === undefined || !restIsShared(w) || !restIsShared(r)) return false;
    const own = (['x', 'y', 'z'] as const).every((axis) => coefficientOf(w, axis) === coefficientOf(r, axis));
    const varies = (['x', 'y', 'z'] as const).some((axis) => coefficientOf(w, axis) !== 0n);
    if (own && !varies) {
      // A buffer that takes turns (`s[round & 1][t]`) is told by an index that does not name the thread.
      if (constantOfForm(difference(r, w)) === null || [...w.keys()].some((key) => key !== '')) return false;
      if (constantOfForm(difference(r, w)) !== 0n) return false;
      continue;
    }
    const distance = constantOfForm(difference(r, w));
    if (distance === 0n) continue;
    // A write index that moves with the loop is another element in each round.
    if ([...w.values()].some((term) => term.axis === null && term.scope !== 'constant' && term.spot === write.access.spot && assignedIn(term.expr, loop, write.access))) return false;
    // `s[2t]` and `s[2t + 1]` are never one element.
    const step = coefficientOf(w, 'x');
    if (distance !== null && own) { if (step !== 0n && distance % step === 0n && i === last) { foreign = true; continue; } return false; }
    const reads = (['x', 'y', 'z'] as const).some((axis) => coefficientOf(r, axis) !== 0n);
    if (varies && !reads && [...r.values()].every((term) => term.axis === null)) foreign = true;
    else return false;
  }
  return foreign;
}

/** The same thread by thread, for accesses that every thread makes in every round. */
function meetsAround(write: Access, read: Access, loop: Loop): boolean {
  if (write.place.base !== read.place.base || write.place.base.dynamicShared || [write, read].some((access) => partitionsOf(access).some((partition) => partition.kind === 'skip') || !runsInEveryRound(access, loop))) return false;
  const meeting = meetingOf(write, read);
  return meeting !== null && meeting.sure && !meeting.inWarp;
}

function assignedIn(expr: Access['node'], loop: Loop, access: Access): boolean {
  return expr.kind !== 'ref' || expr.decl === null || (expr.decl.kind !== 'variable' && expr.decl.kind !== 'parameter') || access.spot.facts.assignments(expr.decl, loop).length > 0;
}
