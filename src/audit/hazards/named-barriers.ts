/**
 * A named barrier in inline PTX that is for another number of threads than come: `barrier-divergent`, a caution.
 *
 *   if (threadIdx.x < 96) asm volatile("bar.sync 1, 64;");     three warps at a barrier of two: the third waits for ever
 *
 * Barriers count warps. Looked at are barriers of a literal number and count that one place in the kernel waits at, in blocks of known shape, under conditions that can be evaluated;
 * all barriers of the kernel's PTX must be of this form. Not handled: arrivals apart from waiting (`bar.arrive`), numbers by operands. Source: PTX ISA, "bar, barrier".
 */
import { asmCollective, asmMeaning } from '../../analysis/asm-text.js';
import type { AsmStmt } from '../../syntax/tree.js';
import { reason, reasonsOf, type Report } from './report.js';
import type { Scene, Spot } from './scene.js';

interface Place { readonly node: AsmStmt; readonly spot: Spot; readonly threads: number }

export function namedBarriers(scene: Scene, report: Report): void {
  if (!scene.complete) return;
  const places = new Map<number, Place[]>();
  for (const event of scene.events) {
    if (event.kind !== 'unknown' || event.node.kind !== 'asm' || !asmMeaning(event.node.text).barrier) continue;
    const { node, spot } = event;
    const meant = instruction(node.text);
    if (meant === null) return;
    places.set(meant.name, [...(places.get(meant.name) ?? []), { node, spot, threads: meant.threads }]);
  }
  for (const [name, found] of places) {
    const [only] = found;
    if (only === undefined || found.length > 1) continue;
    const coming = threadsComing(only);
    if (coming === null || coming === 0 || coming % only.threads === 0) continue;
    report.add(only.node, only.spot, {
      id: 'barrier-divergent', severity: 'caution', message: `${coming} threads come to barrier ${name}, which is for ${only.threads}`,
      because: [reason(only.node, only.spot, `the barrier waits for ${only.threads} threads`), ...reasonsOf(only.spot.sets.at(only.node).partitions)], repair: 'let the count be the number of threads (whole warps) that come',
    });
  }
}

/** `bar.sync 1, 64;` and nothing else. */
function instruction(text: string): { readonly name: number; readonly threads: number } | null {
  const [only, ...others] = asmMeaning(text).instructions;
  const meant = only === undefined || others.length > 0 || only.predicate !== null ? null : asmCollective(only);
  if (meant === null || meant.kind !== 'block' || meant.threads === null || meant.which.kind !== 'number' || meant.threads.kind !== 'number') return null;
  return meant.threads.value > 0n ? { name: Number(meant.which.value), threads: Number(meant.threads.value) } : null;
}

/** Threads of the warps that come; null if a condition cannot be evaluated. */
function threadsComing({ node, spot }: Place): number | null {
  const shape = spot.facts.block.value;
  if (shape === null) return null;
  const come = new Uint8Array(shape.x * shape.y * shape.z).fill(1);
  for (const { decision, facts } of spot.sets.at(node).partitions) {
    const set = decision === null || decision.holds === null ? null : facts.laneSet(decision.condition);
    if (set === null || decision === null) return null;
    set.holds.forEach((held, thread) => { if ((held === 1) !== decision.holds) come[thread] = 0; });
  }
  let warps = 0;
  for (let first = 0; first < come.length; first += 32) if (come.slice(first, first + 32).includes(1)) warps++;
  return warps * 32;
}
