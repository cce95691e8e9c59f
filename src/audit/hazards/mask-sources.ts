/**
 * Shuffles that read a lane which a constant mask does not name: `shuffle-inactive-source`.
 *
 *   __shfl_sync(0xffff, x, 31)           lane 31 does not take part: every lane gets an undefined value
 *   __shfl_sync(0xffff, x, lane + 16)    nor does any of the lanes that these read
 *
 * Said only if every lane named reads one that is not: the upper lanes of a sum over `0xff` by 4 read beyond the mask too, and nobody uses what they get. Source: CUDA C++
 * Programming Guide, "Warp Shuffle Functions" (width segments, sources modulo the width).
 */
import type { BlockShape } from '../../analysis/facts.js';
import type { Expr } from '../../syntax/tree.js';
import { perThread } from './agreement.js';
import { reason, textOf, type Report } from './report.js';
import type { Collective, Spot } from './scene.js';

export function sourcesOutside(call: Collective, named: number, report: Report): void {
  const by = call.node.arguments[2];
  if (named === 0 || by === undefined || !call.name.startsWith('__shfl')) return;
  const { facts } = call.spot;
  const given = call.node.arguments[3];
  const width = given === undefined ? 32n : facts.constant(given);
  if (width === null || width < 1n || width > 32n || (width & (width - 1n)) !== 0n) return;
  const distances = distancesOf(by, call.spot);
  if (distances === null) return;
  const isNamed = (lane: number): boolean => ((named >>> lane) & 1) === 1;
  for (const [thread, distance] of distances.entries()) {
    const lane = thread % 32;
    if (!isNamed(lane)) continue;
    const source = distance < 0 || distance > 0x7fffffff ? null : sourceOf(call.name, lane, distance, Number(width));
    if (source === null || isNamed(source)) return;
  }
  report.add(call.node, call.spot, {
    id: 'shuffle-inactive-source', severity: 'error', message: `\`${call.name}\` reads lanes that its mask 0x${named.toString(16)} does not name: the value is undefined for every lane`,
    because: [reason(by, call.spot, `\`${textOf(by, call.spot)}\` leads out of the mask`)], repair: 'read a lane that the mask names, or name all lanes that take part',
  });
}

/** For blocks of unknown shape; the finding is looked at again in the shapes that the kernel is most likely for. */
const ROW: BlockShape = { x: 64, y: 1, z: 1 };

/** The third argument for each thread of whole warps; null if not known. */
function distancesOf(by: Expr, spot: Spot): readonly number[] | null {
  const constant = spot.facts.constant(by);
  if (constant !== null) return new Array<number>(32).fill(Number(constant));
  const shape = spot.facts.block.value ?? ROW;
  return (shape.x * shape.y * shape.z) % 32 === 0 ? perThread(by, spot, shape) : null;
}

/** The lane that is read; null if not known. Sources beyond the segment are the lane itself. */
function sourceOf(name: string, lane: number, by: number, width: number): number | null {
  const first = lane - (lane % width);
  switch (name) {
    case '__shfl_sync': return first + (by % width);
    case '__shfl_xor_sync': { const source = lane ^ by; return source < first + width ? source : lane; }
    case '__shfl_down_sync': return lane + by < first + width ? lane + by : lane;
    case '__shfl_up_sync': return lane - by >= first ? lane - by : lane;
    default: return null;
  }
}
