/**
 * Shuffles below an early return of the kernel: `mask-after-exit`. Exited lanes may be named, and nothing waits for them, but what a shuffle reads from one is
 * undefined (SEMANTICS 5.1). Votes, `__match` and `__reduce` leave exited lanes out and are right.
 *
 * Behind a guard of the work's edge (`if (i >= n) return;`) the lanes below the last live one are alive: `__shfl_up_sync` and a broadcast of lane 0 read live lanes.
 * A guard that keeps whole groups of lanes (`row = threadIdx.x / 16`) is right for shuffles that stay in the group.
 */
import type { Partition } from '../../analysis/arrival.js';
import { strip } from '../../analysis/children.js';
import type { Guard } from '../classify.js';
import { formOf } from './forms.js';
import { edgeOf, spotOf } from './guards.js';
import { maskOf } from './masks.js';
import { reasonsOf, type Report } from './report.js';
import type { Collective, Scene, Spot } from './scene.js';

export function afterExit(scene: Scene, report: Report): void {
  for (const call of scene.collectives) {
    if (call.builtin === null || call.builtin.legacy || !call.name.startsWith('__shfl')) continue;
    const given = call.node.arguments[0];
    if (given === undefined || maskOf(given, call.spot).kind !== 'full') continue;
    const exits = call.spot.sets.at(call.node).exits.filter((partition) => partition.scope === 'lane');
    const bad = exits.map((exit) => ({ exit, verdict: reads(call, exit) })).filter((one) => one.verdict !== 'live');
    if (bad.length === 0) continue;
    const sure = bad.some((one) => one.verdict === 'exited');
    report.add(call.node, call.spot, {
      id: 'mask-after-exit', severity: sure ? 'error' : 'caution', message: `\`${call.name}\` ${sure ? 'reads' : 'may read'} lanes that have left the kernel: the value is undefined`,
      because: reasonsOf(bad.map((one) => one.exit)), repair: 'turn the early return into a condition: all lanes stay, those without work contribute a neutral value, and stores are guarded',
    });
  }
}

/** What the shuffle reads behind this exit. */
function reads(call: Collective, exit: Partition): 'live' | 'exited' | 'unknown' {
  const edge = edgeOf(exit, call.spot);
  const by = call.node.arguments[2];
  const distance = by === undefined ? null : call.spot.facts.constant(by);
  if (edge !== null) {
    if (call.name === '__shfl_up_sync') return 'live';
    if (call.name === '__shfl_sync') return distance === null ? 'live' : distance === 0n ? 'live' : exit.known ? 'exited' : 'unknown';
    const group = groupOf(edge.guards, spotOf(exit, call.spot));
    if (group === null) return 'unknown';
    if (group > 1n) return staysIn(call, group) ? 'live' : 'unknown';
    return exit.known ? 'exited' : 'unknown';
  }
  // A computed source is most often an elected lane (`__ffs(vote) - 1`), which voted and so is alive.
  if (call.name === '__shfl_sync' && distance === null) return 'live';
  return exit.known && exit.decision !== null ? 'exited' : 'unknown';
}

/** The number of neighbouring lanes that a guard treats alike; null if not known, 1 if each lane has its own index. */
function groupOf(guards: readonly Guard[], spot: Spot): bigint | null {
  let size: bigint | null = 32n;
  for (const guard of guards) {
    const form = formOf(guard.index, spot);
    if (form === null) return null;
    for (const term of form.values()) {
      if (term.scope !== 'lane') continue;
      if (term.axis === 'x') return 1n;
      const expr = strip(term.expr);
      const by: bigint | null = expr.kind === 'binary' ? (expr.op === '/' ? term.spot.facts.constant(expr.right) : expr.op === '>>' ? shifted(term.spot.facts.constant(expr.right)) : null) : null;
      const one: bigint | null = term.axis !== null ? rowLength(term.spot) : by;
      if (one === null || one < 1n) return null;
      if (size === null || one < size) size = one;
    }
  }
  return size;
}

function shifted(by: bigint | null): bigint | null {
  return by === null || by < 0n || by > 5n ? null : 1n << by;
}

function rowLength(spot: Spot): bigint | null {
  const shape = spot.facts.block.value;
  return shape === null ? null : BigInt(shape.x);
}

/** Does the shuffle read only lanes of its own group of `size` (a power of two)? */
function staysIn(call: Collective, size: bigint): boolean {
  const width = call.node.arguments[3];
  const wide = width === undefined ? 32n : call.spot.facts.constant(width);
  if (wide !== null && wide <= size) return true;
  const by = call.node.arguments[2];
  const high = by === undefined ? null : call.spot.facts.range(by).high;
  return call.name === '__shfl_xor_sync' && high !== null && high < size;
}
