/**
 * The last warp of a block whose size is no multiple of 32 has fewer lanes: `shuffle-inactive-source` where a shuffle reads lanes that do not exist and lane 0 (or,
 * for a butterfly, any lane) uses the value, `shuffle-partial-warp` where a vote is compared with all 32 bits.
 *
 * Only for blocks whose shape is known. Naming absent lanes is no fault: nothing waits for them. Lanes that read beyond the end while lane 0 does not (a sum over 16
 * of 16 lanes) are the usual reduction and are not said.
 */
import { structureOf } from '../../analysis/structure.js';
import { isStmt } from '../../analysis/children.js';
import type { BlockShape } from '../../analysis/facts.js';
import { maskOf } from './masks.js';
import { reason, type Report } from './report.js';
import type { Collective, Scene } from './scene.js';

export function partialWarps(scene: Scene, report: Report): void {
  const { block } = scene.kernel.facts;
  const shape = block.value;
  if (shape === null) return;
  const lanes = (shape.x * shape.y * shape.z) % 32;
  if (lanes === 0) return;
  for (const call of scene.collectives) {
    if (call.builtin === null || call.builtin.legacy || !comesThere(call, shape)) continue;
    if (call.name.startsWith('__shfl')) shuffle(call, lanes, report);
    else if (call.name === '__ballot_sync') vote(call, lanes, report);
  }
}

/** Does a thread of the last warp come to the call, as far as lanes are counted? */
function comesThere(call: Collective, shape: BlockShape): boolean {
  const threads = shape.x * shape.y * shape.z;
  const first = threads - (threads % 32);
  return call.spot.sets.at(call.node).partitions.every((partition) => {
    const { decision } = partition;
    const set = decision === null || decision.holds === null ? null : partition.facts.laneSet(decision.condition);
    return set === null || decision === null || set.holds.slice(first).some((held) => (held === 1) === decision.holds);
  });
}

function shuffle(call: Collective, lanes: number, report: Report): void {
  const by = call.node.arguments[2];
  if (by === undefined) return;
  const { facts } = call.spot;
  const width = call.node.arguments[3];
  const segment = width === undefined ? 32n : facts.constant(width);
  const range = facts.range(by);
  if (segment === null || range.high === null || range.high > 31n || range.low === null || range.low < 0n) return;
  const far = Number(range.high);
  const wide = Number(segment);
  const live = BigInt(lanes);
  const reads = call.name === '__shfl_down_sync' ? far >= lanes && far < wide
    : call.name === '__shfl_xor_sync' ? [...Array(lanes).keys()].some((lane) => (lane ^ far) >= lanes && Math.floor((lane ^ far) / wide) === Math.floor(lane / wide))
      : call.name === '__shfl_sync' && facts.constant(by) !== null && range.high >= live && wide === 32;
  if (!reads) return;
  report.add(call.node, call.spot, {
    id: 'shuffle-inactive-source', severity: 'error', message: `the last warp of the block has ${lanes} lanes, and \`${call.name}\` reads lanes beyond them: the value is undefined`,
    because: [shapeReason(call), reason(by, call.spot, `the distance is up to ${far}`)], repair: 'launch a multiple of 32 threads, or give lanes beyond the end a neutral value: read only if the source lane is below the number of lanes',
  });
}

function vote(call: Collective, lanes: number, report: Report): void {
  const { parents } = structureOf(call.spot.facts.function);
  let node = parents.get(call.node);
  while (node !== undefined && (node.kind === 'paren' || node.kind === 'macro' || node.kind === 'cast')) node = parents.get(node);
  if (node === undefined || isStmt(node) || node.kind !== 'binary' || (node.op !== '==' && node.op !== '!=')) return;
  const { left, right } = node;
  if (maskOf(left, call.spot).kind !== 'full' && maskOf(right, call.spot).kind !== 'full') return;
  report.add(call.node, call.spot, {
    id: 'shuffle-partial-warp', severity: 'caution', message: `the last warp of the block has ${lanes} lanes, so its vote never has all 32 bits`,
    because: [shapeReason(call)], repair: 'use `__all_sync`, or compare with `__ballot_sync(mask, true)`',
  });
}

function shapeReason(call: Collective): { readonly path: string; readonly line: number; readonly text: string } {
  const { block } = call.spot.facts;
  const first = block.because[0];
  const shape = block.value;
  const text = shape === null ? 'the block shape' : `blocks have ${shape.x}x${shape.y}x${shape.z} threads`;
  return first ?? reason(call.node, call.spot, text);
}
