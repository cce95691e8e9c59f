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
 * Other pairs are compared thread by thread in the trace of trace.ts, which unrolls loops: rounds of a tree, what is read behind a loop, a read and a write of one statement by two warps.
 * Only pairs of which two threads surely meet are said. Not handled: dynamic shared arrays under two names, atomics.
 */
import type { Partition } from '../../analysis/arrival.js';
import type { Loop } from '../../analysis/facts.js';
import type { VariableDecl } from '../../syntax/tree.js';
import { coefficientOf, constantOfForm, difference, formsOf, restIsShared, type Form } from './forms.js';
import { evaluationsSoFar } from './agreement.js';
import { anyShape, isSettled, meetingOf, runsInEveryRound, type Meeting } from './meetings.js';
import { reason, textOf, type Report } from './report.js';
import { isHip } from './platform.js';
import type { Access, Event, LoopMark, Scene } from './scene.js';
import type { SharedPlace } from './shared-places.js';
import { intervalsOf, type Touch } from './trace.js';

interface Indexed { readonly access: Access; readonly forms: readonly Form[]; readonly key: string }

/** Pairs looked at per kernel. */
const MAX_PAIRS = 40_000;

export function races(scene: Scene, report: Report): void {
  if (!scene.complete) return;
  const intervals = barrierIntervals(scene.events);
  let budget = MAX_PAIRS;
  const said = new Set<string>();
  const bases = new Set<VariableDecl>();
  for (const interval of intervals) {
    const touched = interval.filter((event): event is Access => event.kind === 'access');
    const written = new Set(touched.filter((access) => access.mode === 'write').map((access) => access.place.base));
    const accesses = written.size === 0 ? [] : touched.filter((access) => written.has(access.place.base)).flatMap(indexed);
    for (let i = 0; i < accesses.length && budget > 0; i++) {
      for (let j = i + 1; j < accesses.length && budget > 0; j++, budget--) {
        const a = accesses[i];
        const b = accesses[j];
        if (a === undefined || b === undefined || (a.access.mode === 'read' && b.access.mode === 'read') || a.access.place.base !== b.access.place.base) continue;
        if (a.key !== b.key || said.has(`${a.key}${a.access.place.base.name}`)) continue;
        const distance = apart(a, b);
        if (distance === null || !meet(a.access, distance) || sameStatement(a.access, b.access)) continue;
        said.add(`${a.key}${a.access.place.base.name}`);
        bases.add(a.access.place.base);
        say(a.access, b.access, distance, report);
      }
    }
  }
  met(scene, bases, report);
  around(scene, report);
}

/** Pairs whose elements are no constant number of threads apart, and pairs of different rounds, thread by thread. */
function met(scene: Scene, before: ReadonlySet<VariableDecl>, report: Report): void {
  const bases = new Set<VariableDecl>();
  const read = new Set<VariableDecl>();
  const isPlain = ({ exact, volatile, pointer }: SharedPlace): boolean => exact && !volatile && !pointer;
  for (const { mode, place } of scene.accesses) if (mode === 'read' && isPlain(place)) read.add(place.base);
  for (const { mode, place } of scene.accesses) if (mode === 'write' && isPlain(place) && read.has(place.base) && !before.has(place.base)) bases.add(place.base);
  const { facts } = scene.kernel;
  // Where each thread keeps to its own element, no two meet.
  for (const base of bases) if (everyOwn(scene.accesses.filter((access) => access.place.base === base))) bases.delete(base);
  if (bases.size === 0) return;
  const shape = facts.block.value ?? anyShape(facts.block.maxThreads, bases, (length) => facts.constant(length));
  const known = facts.block.value !== null;
  let budget = known ? MAX_MEETINGS : MAX_GUESSED;
  const most = evaluationsSoFar() + (known ? MAX_EVALUATIONS : MAX_EVALUATIONS / 4);
  const said = new Set<VariableDecl>();
  const asked = new Map<Access, Map<Access, number>>();
  // Of an array whose warps race, lanes that do are not said as well.
  const lockstep = new Map<VariableDecl, () => void>();
  looking: for (const interval of intervalsOf(scene, shape, bases)) {
    const ofBase = new Map<VariableDecl, Touch[]>();
    for (const touch of interval) {
      const { base } = touch.access.place;
      const list = ofBase.get(base);
      if (list === undefined) ofBase.set(base, [touch]);
      else list.push(touch);
    }
    for (const [base, touches] of ofBase) {
      if (!touches.some((touch) => touch.access.mode === 'write')) continue;
      for (let i = 0; i < touches.length && !said.has(base); i++) {
        for (let j = i + 1; j < touches.length && !said.has(base); j++) {
          const a = touches[i];
          const b = touches[j];
          if (a === undefined || b === undefined || a.access.mode === b.access.mode) continue;
          const sameRound = a.bound === b.bound && a.epoch === b.epoch;
          if (a.access.node === b.access.node && sameRound) continue;
          let of = asked.get(a.access);
          if (of === undefined) asked.set(a.access, of = new Map());
          const times = of.get(b.access) ?? 0;
          if (times >= MAX_ROUNDS || (times > 0 && isSettled(a.access, shape) && isSettled(b.access, shape))) continue;
          if (--budget < 0 || evaluationsSoFar() > most) break looking;
          if (sameRound && (isOwn(a.access, b.access) || isSaid(a.access, b.access))) continue;
          of.set(b.access, times + 1);
          const meeting = meetingOf(a.access, b.access, a, b, shape);
          if (meeting === null || (meeting.inWarp && ((sameRound && sameStatement(a.access, b.access)) || a.warpBarriers !== b.warpBarriers))) continue;
          if (meeting.inWarp) {
            if (!lockstep.has(base)) lockstep.set(base, () => { sayMet(a, b, meeting, report); });
            continue;
          }
          said.add(base);
          sayMet(a, b, meeting, report);
        }
      }
    }
  }
  for (const [base, say] of lockstep) if (!said.has(base)) say();
}

/** Pairs looked at thread by thread per kernel, and rounds of one pair. */
const MAX_MEETINGS = 80;
const MAX_GUESSED = 24;
/** Nodes evaluated for that, of all threads together. */
const MAX_EVALUATIONS = 40_000;
const MAX_ROUNDS = 6;

/** Elements a constant number of threads apart are judged by their distance, where the same threads come. */
function isSaid(a: Access, b: Access): boolean {
  const first = indexed(a)[0];
  const second = indexed(b)[0];
  return first !== undefined && second !== undefined && first.key === second.key && !sameStatement(a, b) && apart(first, second) !== null;
}

function everyOwn(accesses: readonly Access[]): boolean {
  const [first] = accesses;
  return first !== undefined && accesses.every((access) => access.mode === 'atomic' || isOwn(first, access));
}

/** Does each thread touch its own element, the same one in both? */
function isOwn(a: Access, b: Access): boolean {
  const first = indexed(a)[0];
  const second = indexed(b)[0];
  const { value } = a.spot.facts.block;
  if (first === undefined || second === undefined || first.forms.length !== second.forms.length || value === null) return false;
  let own = value.y === 1 && value.z === 1 ? false : null;
  for (let i = 0; i < first.forms.length; i++) {
    const x = first.forms[i];
    const y = second.forms[i];
    if (x === undefined || y === undefined || !restIsShared(x) || constantOfForm(difference(x, y)) !== 0n) return false;
    if (own === false && coefficientOf(x, 'x') !== 0n) own = true;
  }
  return own === true;
}

function sayMet(first: Touch, second: Touch, meeting: Meeting, report: Report): void {
  const [wrote, asked] = first.access.mode === 'write' ? [first, second] : [second, first];
  const { access: write } = wrote;
  const { access: read } = asked;
  const { access: b } = second;
  const because = [
    reason(write.node, write.spot, `\`${textOf(write.node, write.spot)}\` is written here, by thread ${meeting.writer}${inRound(wrote, asked)}`),
    reason(read.node, read.spot, `\`${textOf(read.node, read.spot)}\`, read here by thread ${meeting.reader}${inRound(asked, wrote)}, is the same element; no barrier stands between`),
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

/** The rounds that tell the two apart, in words. */
function inRound(touch: Touch, other: Touch): string {
  const own = [...(touch.bound ?? [])].filter(([variable, { value }]) => other.bound?.get(variable)?.value !== value).map(([variable, { value }]) => `\`${variable.name}\` = ${value}`);
  if (own.length > 0) return `, with ${own.join(', ')}`;
  return touch.epoch !== other.epoch && touch.epoch !== '' ? ', in one round' : '';
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

const indices = new WeakMap<Access, readonly Indexed[]>();

function indexed(access: Access): readonly Indexed[] {
  let known = indices.get(access);
  if (known === undefined) indices.set(access, known = indexedOf(access));
  return known;
}

function indexedOf(access: Access): readonly Indexed[] {
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

/** Do two threads surely meet, where all threads that come run both accesses: are there more of them than the distance? */
function meet(a: Access, distance: bigint): boolean {
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
  const ends = endsOf(events);
  const isBetween = (i: number): boolean => { const event = events[i]; return event !== undefined && separates(event); };
  for (let begin = 0; begin < events.length; begin++) {
    const mark = events[begin];
    if (mark === undefined || mark.kind !== 'loop-begin') continue;
    const end = ends.get(begin);
    if (end === undefined) continue;
    let first = begin + 1;
    while (first < end && !isBetween(first)) first++;
    if (first === end || runsOnce(mark.node, mark.spot.facts)) continue;
    let last = end - 1;
    while (!isBetween(last)) last--;
    const head = events.slice(begin + 1, first).filter((event): event is Access => event.kind === 'access' && event.mode === 'write' && event.spot === mark.spot).flatMap(indexed);
    const tail = events.slice(last + 1, end).filter((event): event is Access => event.kind === 'access' && event.mode === 'read').flatMap(indexed);
    // Inner loops before the first barrier may run not at all, but the writes there would still race in the next round.
    for (const write of head) {
      const read = tail.find((one) => racesAround(write, one, mark.node) || meetsAround(write.access, one.access, mark));
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

/** Where the loops end, by where they begin. */
function endsOf(events: readonly Event[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  events.forEach((event, i) => {
    if (event.kind === 'loop-begin') open.push(i);
    else if (event.kind === 'loop-end') { const begin = open.pop(); if (begin !== undefined) ends.set(begin, i); }
  });
  return ends;
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
function meetsAround(write: Access, read: Access, mark: LoopMark): boolean {
  const loop = mark.node;
  if (write.place.base !== read.place.base || write.place.base.dynamicShared || [write, read].some((access) => partitionsOf(access).some((partition) => partition.kind === 'skip') || !runsInEveryRound(access, loop))) return false;
  const meeting = meetingOf(write, read, undefined, undefined, null, { loop, spot: mark.spot });
  return meeting !== null && meeting.sure && !meeting.inWarp;
}

function assignedIn(expr: Access['node'], loop: Loop, access: Access): boolean {
  return expr.kind !== 'ref' || expr.decl === null || (expr.decl.kind !== 'variable' && expr.decl.kind !== 'parameter') || access.spot.facts.assignments(expr.decl, loop).length > 0;
}
