/**
 * What the estimates know of the machine. One unit serves for all of it: the issue slot of a warp. A kernel of W warps that issues I instructions a warp
 * and moves B bytes a thread takes about
 *
 *     T = launch + W · (I + memory(B)) · slot           slot = 1 / (132 multiprocessors · 4 schedulers · 1.98 GHz)
 *
 * The sum, not the larger of the two: a warp loads first and computes then, and what was measured (docs/estimates.md) lies near the sum. Published
 * figures of one H200 (SXM): 132 multiprocessors, four schedulers each, 1.98 GHz, 4.8 TB/s, 2,048 threads and 65,536 registers a multiprocessor. What is not
 * published is read off docs/estimates.md, and said so below.
 *
 * Not known here: how large a launch will be (4 Mi threads are assumed, the size that was measured; estimates with launches of their own name the size from
 * which they pay), in which order the data lies, what the caches keep from one launch to the next.
 */

const MULTIPROCESSORS = 132;
const SCHEDULERS = 4;
const CYCLES_PER_US = 1980;
const BYTES_PER_US = 4.8e6;
/** Bytes that memory moves at least for one thread that reads by itself. */
export const SECTOR = 32;
/** 32-bit registers of a multiprocessor, threads that it can hold, and registers that are given out together to a warp. */
export const REGISTERS = 65_536;
export const RESIDENT_THREADS = 2048;
const REGISTER_UNIT = 256;
/** Cycles from a load to its value under load: published for the idle machine are 500 to 600; the vote in every iteration of compact:loop shows 900. */
const LATENCY = 800;
/** Cycles an instruction of a chain takes in a warp that runs alone: compact:block with a 32nd of the lanes active (2.9 to 3.7 where slots alone give 4.3). */
const CHAIN = 3;
/** A launch with its first and last wave, read off kernels that do next to nothing, and whatever follows it on the same stream. */
const LAUNCH_US = 5;
const NEXT_LAUNCH_US = 2.5;
/** Allocation and release of a temporary of the stream, in µs. */
const TEMPORARY_US = 1.5;
/** Threads of a launch whose size is not known: the size that was measured. */
export const NOMINAL_THREADS = 1 << 22;
const WARP = 32;

/** Issue slots of all schedulers in a microsecond. */
const SLOTS_PER_US = MULTIPROCESSORS * SCHEDULERS * CYCLES_PER_US;
/** Warps that a scheduler holds. */
const RESIDENT_WARPS = RESIDENT_THREADS / WARP / SCHEDULERS;

/** Slots a warp, of a launch of so many threads, that a time takes. */
export function slotsOf(microseconds: number, threads = NOMINAL_THREADS): number {
  return (microseconds * SLOTS_PER_US * WARP) / threads;
}

export function launchSlots(threads = NOMINAL_THREADS): number {
  return slotsOf(LAUNCH_US, threads);
}

/** Slots a warp of further launches and fills behind the first one, and of temporaries. */
export function passSlots(launches: number, temporaries: number, threads = NOMINAL_THREADS): number {
  return slotsOf(passTime(launches, temporaries), threads);
}

/** The same in µs. */
export function passTime(launches: number, temporaries: number): number {
  return launches * NEXT_LAUNCH_US + temporaries * TEMPORARY_US;
}

/** Threads from which a saving of so many slots a warp makes up for a time in µs. */
export function threadsFor(microseconds: number, saved: number): number | null {
  return saved <= 0 ? null : (microseconds * SLOTS_PER_US * WARP) / saved;
}

/** Slots a warp that memory takes to move so many bytes a thread. */
export function memorySlots(bytes: number): number {
  return (bytes * WARP * SLOTS_PER_US) / BYTES_PER_US;
}

/** Slots a warp while all warps of a multiprocessor wait for a load: in a round that ends in a barrier or a vote, none is asked for ahead. */
export const WAIT_SLOTS = LATENCY / RESIDENT_WARPS;

/** Slots a warp below which a part of so many instructions cannot come, if few warps of every block run it while the others wait. */
export function chainSlots(instructions: number): number {
  return (CHAIN * instructions) / RESIDENT_WARPS;
}

/** Slots a warp in which the last warps of a kernel end theirs, alone. */
export function tailSlots(instructions: number, threads = NOMINAL_THREADS): number {
  return slotsOf((CHAIN * instructions) / CYCLES_PER_US, threads);
}

/** Threads that a multiprocessor holds of a kernel with so many registers a thread in blocks of so many threads. */
export function residentThreads(registers: number, block: number): number {
  const warps = Math.max(1, Math.ceil(block / WARP));
  const perWarp = Math.ceil((Math.max(1, registers) * WARP) / REGISTER_UNIT) * REGISTER_UNIT;
  const byRegisters = Math.floor(REGISTERS / (perWarp * warps));
  const byThreads = Math.floor(RESIDENT_THREADS / (warps * WARP));
  return Math.max(1, Math.min(byRegisters, byThreads)) * warps * WARP;
}

/**
 * Threads a multiprocessor needs in flight. By Little's law memory is busy once latency × bandwidth bytes are on their way (15 KB a multiprocessor); each
 * thread has `bytes` on its way at a time. Arithmetic is busy with four warps a scheduler: a dependent instruction follows after four cycles.
 */
export function threadsInFlight(bytes: number): number {
  const arithmetic = 4 * SCHEDULERS * WARP;
  if (bytes <= 0) return arithmetic;
  const onTheWay = (LATENCY / CYCLES_PER_US) * (BYTES_PER_US / MULTIPROCESSORS);
  return Math.max(arithmetic, Math.min(RESIDENT_THREADS, onTheWay / bytes));
}
