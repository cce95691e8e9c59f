/**
 * Runs small models of kernels in plain TypeScript, thread by thread, and notes how every condition came out.
 *
 * A model is a generator per thread. `t.c(k, value, …iterations)` says that the k-th branch of the kernel (in the order of the text) was
 * decided, in which iterations of the loops around it. `yield 'block'` waits for all live threads of the block; `yield value` (a
 * number) exchanges values with the threads of the warp that also wait and gives back a table by lane (undefined where nobody is). The order
 * in which threads run between barriers is a parameter: what depends on it is a race.
 */
import type { BlockShape } from '../../src/analysis/facts.js';

export interface Decision { readonly site: number; readonly instance: string; readonly value: boolean | number; readonly thread: number; readonly warp: string; readonly block: number }

export type Step = Generator<'block' | number, void, readonly (number | undefined)[]>;

export class Thread {
  readonly lin: number;
  readonly lane: number;
  readonly gid: number;
  constructor(
    readonly x: number, readonly y: number, readonly z: number, readonly b: number, readonly shape: BlockShape, readonly blocks: number,
    /** Shared memory of the block, and global memory. */
    readonly s: number[], readonly g: Memory, private readonly log: Decision[],
  ) {
    this.lin = x + shape.x * (y + shape.y * z);
    this.lane = this.lin % 32;
    this.gid = b * shape.x + x;
  }

  c(site: number, value: boolean | number, ...iterations: number[]): boolean {
    const warp = `${this.b}:${Math.floor(this.lin / 32)}`;
    this.log.push({ site, instance: iterations.join(','), value, thread: this.lin, warp, block: this.b });
    return Boolean(value);
  }
}

/** Global memory: read-only random data, and cells that the kernel writes. */
export class Memory {
  readonly data: number[];
  readonly out: number[] = Array.from({ length: 4096 }, () => 0);
  n: number;
  constructor(seed: number, n: number) {
    let state = seed;
    this.data = Array.from({ length: 4096 }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state >>> 8) % 17;
    });
    this.n = n;
  }
}

export type Model = (t: Thread) => Step;

/** All decisions of a grid. `order` turns the order of the threads between barriers round. */
export function run(model: Model, shape: BlockShape, blocks: number, memory: Memory, backwards: boolean): Decision[] {
  const log: Decision[] = [];
  for (let b = 0; b < blocks; b++) {
    const shared = Array.from({ length: 2048 }, () => 0);
    const threads: { thread: Thread; step: Step; waits: 'block' | number | null; answer: readonly (number | undefined)[]; done: boolean }[] = [];
    for (let z = 0; z < shape.z; z++) {
      for (let y = 0; y < shape.y; y++) {
        for (let x = 0; x < shape.x; x++) {
          const thread = new Thread(x, y, z, b, shape, blocks, shared, memory, log);
          threads.push({ thread, step: model(thread), waits: null, answer: [], done: false });
        }
      }
    }
    const order = backwards ? [...threads].reverse() : threads;
    for (let rounds = 0; rounds < 10_000; rounds++) {
      let ran = false;
      for (const entry of order) {
        if (entry.done || entry.waits !== null) continue;
        const result = entry.step.next(entry.answer);
        ran = true;
        if (result.done === true) entry.done = true;
        else entry.waits = result.value;
      }
      if (ran) continue;
      const live = threads.filter((entry) => !entry.done);
      if (live.length === 0) break;
      const exchanging = live.filter((entry) => typeof entry.waits === 'number');
      if (exchanging.length > 0) {
        const tables = new Map<number, (number | undefined)[]>();
        for (const entry of exchanging) {
          const warp = Math.floor(entry.thread.lin / 32);
          const table = tables.get(warp) ?? Array.from({ length: 32 }, () => undefined);
          table[entry.thread.lane] = typeof entry.waits === 'number' ? entry.waits : undefined;
          tables.set(warp, table);
        }
        for (const entry of exchanging) {
          entry.answer = tables.get(Math.floor(entry.thread.lin / 32)) ?? [];
          entry.waits = null;
        }
      } else for (const entry of live) entry.waits = null;
    }
  }
  return log;
}

/** A 32-bit unsigned value. */
export const u = (value: number): number => value >>> 0;
/** Truncating division. */
export const div = (a: number, b: number): number => Math.trunc(a / b);
