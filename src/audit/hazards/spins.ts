/**
 * `lane-spin`: a loop in which each lane waits for a lock that another lane of its warp may hold, and that is released only behind the loop. It ends on devices of
 * compute capability 7.0 and later, which promise progress to every thread; below, the winner waits for the losers at the end of the loop for ever.
 *
 * A loop whose body releases (`while (!done) if (atomicCAS(…) == 0) { …; atomicExch(…); done = true; }`) ends everywhere. One thread of a warp, elected by a condition
 * around the loop, waits for no lane of its own warp.
 */
import { forEachChild, isStmt, type Node } from '../../analysis/children.js';
import type { Loop } from '../../analysis/facts.js';
import { structureOf } from '../../analysis/structure.js';
import { electsOne, spotOf } from './guards.js';
import { reason, textOf, type Report } from './report.js';
import type { Scene, Spot } from './scene.js';

export function spins(scene: Scene, report: Report): void {
  for (const spot of scene.spots) {
    for (const call of structureOf(spot.facts.function).calls) {
      if (call.callee.kind !== 'builtin' || !call.callee.name.startsWith('atomicCAS')) continue;
      const loop = waitsIn(call, spot);
      if (loop === null || releases(loop.body)) continue;
      const arrival = spot.sets.at(loop);
      const alone = arrival.skips.some((partition) => partition.decision !== null && partition.decision.holds !== null && electsOne(partition.decision.condition, partition.decision.holds, spotOf(partition, spot)) !== null);
      if (alone || !lockOfOthers(loop, spot)) continue;
      report.add(loop, spot, {
        id: 'lane-spin', severity: 'note', message: 'lanes of one warp wait for a lock that one of them may hold: ends only where every thread is promised progress (7.0 and later)',
        because: [reason(call, spot, `\`${textOf(call, spot)}\` takes the lock`)], repair: 'release inside the loop: `while (!done) if (atomicCAS(…) == 0) { work; atomicExch(…); done = true; }`, or let one lane of the warp take the lock for all',
      });
    }
  }
}

/** The loop in whose condition the call stands. */
function waitsIn(call: Node, spot: Spot): Loop | null {
  const { parents } = structureOf(spot.facts.function);
  let below: Node = call;
  for (let n = parents.get(call); n !== undefined; below = n, n = parents.get(n)) {
    if (n.kind === 'while' || n.kind === 'do') return n.condition === below ? n : null;
    if (n.kind === 'for') return n.condition === below ? n : null;
    if (isStmt(n)) return null;
  }
  return null;
}

/** Does the text hold a plain release: an exchange, or a store of a constant behind an atomic? */
function releases(node: Node): boolean {
  if (node.kind === 'call' && node.callee.kind === 'builtin' && node.callee.name === 'atomicExch') return true;
  let found = false;
  forEachChild(node, (child) => { found ||= releases(child); });
  return found;
}

/** A lock is released behind the loop by an exchange; a retried update (`old = atomicCAS(p, assumed, …)` until it succeeds) has nothing to release. */
function lockOfOthers(loop: Loop, spot: Spot): boolean {
  const { body } = spot.facts.function;
  return body !== null && structureOf(spot.facts.function).calls.some((call) => call.callee.kind === 'builtin' && call.callee.name === 'atomicExch' && call.span.start >= loop.span.end);
}
