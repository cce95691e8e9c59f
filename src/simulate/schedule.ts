/**
 * Runs a grid: a window of resident blocks, their warps interleaved at barriers, atomics, collectives and volatile accesses. The plain
 * schedule takes warps in order and lets each run until it waits; a seeded one picks at random. Which schedule ran is reproducible
 * from its seed.
 */
import { RunAborted } from './faults.js';
import type { Machine } from './machine.js';
import type { Filler, Segment } from './memory.js';
import { Warp, spell, type Block, type Fibre, type Lanes } from './warp.js';

export interface GridLaunch {
  /** The generated kernel: runs to its end at once, or gives a fibre. */
  readonly kernel: (warp: Warp, mask: number, ...parameters: Lanes[]) => Fibre | void;
  readonly generator: boolean;
  /** Fresh parameter arrays for one warp. */
  readonly parameters: () => Lanes[];
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly sharedBytes: number;
  readonly sharedGranule: 0 | 1 | 2 | 4;
  /** 0 for the plain schedule. */
  readonly scheduleSeed: number;
  readonly random: () => number;
}

const RESIDENT = 8;
/** What lies in memory that no one has written: NaN as a float, far out of range as an index. */
const garbage: Filler = (page) => { page.u32.fill(0xffbadbad); };

export function runGrid(D: Machine, launch: GridLaunch): void {
  const [gx, gy, gz] = launch.grid;
  const [bx, by, bz] = launch.block;
  Object.assign(D, { gridx: gx, gridy: gy, gridz: gz, blockx: bx, blocky: by, blockz: bz });
  const blocks = gx * gy * gz;
  const threads = bx * by * bz;
  const stacks: Segment[] = [];
  let started = 0;
  let warpNumber = D.races.warps.length;
  const resident: Block[] = [];
  const order = launch.scheduleSeed === 0 ? null : shuffled(blocks, launch.random);

  const start = (): void => {
    const linear = order === null ? started : order[started] ?? started;
    started++;
    const shared = D.add('shared memory', 'shared', launch.sharedBytes, garbage, true, launch.sharedGranule);
    const block: Block = { linear, x: linear % gx, y: Math.floor(linear / gx) % gy, z: Math.floor(linear / (gx * gy)), warps: [], shared, barrierAt: 0 };
    for (let w = 0; w * 32 < threads; w++) {
      const stack = stacks.pop() ?? D.add('local memory', 'local', Infinity, garbage, true, 0);
      const warp = new Warp(D, block, w, warpNumber++, threads, stack);
      D.races.warps[warp.number] = warp;
      block.warps.push(warp);
    }
    resident.push(block);
  };

  const finish = (warp: Warp): void => {
    warp.finished = true;
    warp.live = 0;
    warp.fibre = null;
    stacks.push(warp.stack);
  };

  let turn = 0;
  while (started < blocks || resident.length > 0) {
    while (resident.length < (launch.generator ? RESIDENT : 1) && started < blocks) start();
    const runnable: Warp[] = [];
    for (const block of resident) for (const w of block.warps) if (!w.finished && w.waiting === null) runnable.push(w);
    if (runnable.length === 0) throw new RunAborted('deadlock', 'no warp can run', D.place);
    // In the plain schedule `turn` moves on only when a warp gives way.
    const warp = launch.scheduleSeed === 0 ? runnable[turn % runnable.length] : runnable[Math.floor(launch.random() * runnable.length)];
    if (warp === undefined) throw new Error('internal: no warp');
    D.checkTime();
    D.current = warp;
    D.stack = warp.stack;
    D.races.warp = warp;
    if (!launch.generator) {
      launch.kernel(warp, warp.born, ...launch.parameters());
      finish(warp);
    } else {
      warp.fibre ??= launch.kernel(warp, warp.born, ...launch.parameters()) as Fibre;
      const step = warp.fibre.next();
      if (step.done === true) finish(warp);
      else if (step.value === 0) turn++;
      else if (step.value === 2) throw new RunAborted('deadlock', 'lanes wait for each other', D.place);
    }
    const { block } = warp;
    if (warp.finished || warp.waiting !== null) {
      turn = 0;
      release(D, block);
      if (block.warps.every((w) => w.finished)) {
        resident.splice(resident.indexOf(block), 1);
        D.drop(block.shared);
      }
    }
  }
  D.current = null;
  D.races.warp = null;
}

function shuffled(n: number, random: () => number): number[] {
  const list = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j] ?? 0, list[i] ?? 0];
  }
  return list;
}

/** Opens the block's barrier if every warp that still runs waits at it. */
function release(D: Machine, block: Block): void {
  const waiting = block.warps.filter((w) => !w.finished);
  if (waiting.length === 0 || waiting.some((w) => w.waiting === null)) return;
  const first = waiting[0]?.waiting;
  if (first === null || first === undefined) return;
  let count = 0;
  let all = true;
  let any = false;
  for (const w of waiting) {
    const at = w.waiting;
    if (at === null) continue;
    D.site = at.site;
    const missing = w.live & ~at.lanes;
    if (missing !== 0) {
      D.log.record('barrier-divergent', D.place, missing, block.linear, w.index, null, () => `lanes ${spell(missing)} of warp ${w.index} do not reach the barrier that the other lanes wait at`);
    } else if (at.site !== first.site) {
      D.log.record('barrier-divergent', D.place, at.lanes, block.linear, w.index, null, () => `warp ${w.index} waits at this barrier while warp ${waiting[0]?.index ?? 0} waits at another one`);
    }
    for (let l = 0; l < 32; l++) {
      if ((at.lanes >>> l & 1) === 0 || at.predicate === null) continue;
      if (at.predicate[l]) { count++; any = true; } else all = false;
    }
  }
  let passed = 0;
  let gone = 0;
  for (const w of block.warps) {
    gone |= w.born & ~w.live;
    const ended = w.finished ? w.born & ~w.returned : 0;
    passed |= ended;
    if (ended !== 0) {
      D.site = first.site;
      D.log.record('barrier-divergent', D.place, ended, block.linear, w.index, null, () => `lanes ${spell(ended)} of warp ${w.index} came to the end of the kernel without this barrier`);
    }
  }
  if (gone !== 0 && passed === 0) {
    D.site = first.site;
    D.log.record('barrier-after-exit', D.place, gone, block.linear, 0, null, () => 'threads of the block have left the kernel before this barrier');
  }
  block.barrierAt = ++D.races.now;
  for (const w of waiting) {
    const op = w.waiting?.op ?? '';
    w.barrierResult = op === 'count' ? count : op === 'and' ? (all ? 1 : 0) : any ? 1 : 0;
    w.waiting = null;
  }
}
