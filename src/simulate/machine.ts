/** The device that generated code runs on: memory, checked arithmetic, atomics, counters, budgets. Generated code knows it as `D`. */
import type { FileSpan } from '../source/types.js';
import { FaultLog, RunAborted, type FaultKind } from './faults.js';
import { popcount } from './math.js';
import { ATOMIC, Memory } from './memory.js';
import { RaceDetector, type RaceReport } from './races.js';
import { addI, addU, andI, andU, divI, divU, orI, orU, remI, remU, subI, subU, wrapI64, xorI, xorU, type Wide } from './values.js';
import type { Warp } from './warp.js';

// Names of their own: in some hosts (test runners' contexts) a look-up of a global is slow.
const { floor, fround } = Math;

/** A small deterministic generator (mulberry32) for schedules. */
export function randomSource(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = a;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Per branch: evaluations and outcomes, by threads and by warps. */
export interface BranchCounts {
  threads: number;
  taken: number;
  warps: number;
  /** Warps whose lanes disagreed. */
  diverged: number;
  /** Warps in which at least one lane took it. */
  entered: number;
  /** For a switch: threads per arm. */
  arms: number[] | null;
}

export interface MachineOptions {
  readonly sites: readonly FileSpan[];
  readonly counters: number;
  readonly branches: number;
  readonly pageBudget: number;
  /** Loop turns of all warps together before the run is stopped. */
  readonly turnBudget: number;
  /** Milliseconds before the run is stopped. */
  readonly timeBudget: number;
  readonly detectRaces: boolean;
  /** Chance that a warp is interrupted at an atomic or collective; 0 for the plain schedule. */
  readonly switching: number;
  readonly random: () => number;
}

export class Machine extends Memory {
  /** Index of the place that runs, into `sites`. */
  site = 0;
  /** Places of the kernel that runs. */
  sites: readonly FileSpan[];
  readonly log = new FaultLog();
  g: number[] = [];
  strings: number[] = [];
  dynamicAt = 0;
  blockx = 1; blocky = 1; blockz = 1;
  gridx = 1; gridy = 1; gridz = 1;
  current: Warp | null = null;
  readonly issued: Float64Array;
  readonly threads: Float64Array;
  readonly branchCounts: BranchCounts[];
  readonly printed: string[] = [];
  #turns = 0;
  readonly #deadline: number;
  #clock = 0;
  readonly #evaluated: Int32Array;
  readonly #took: Int32Array;
  readonly #noted: number[] = [];

  constructor(readonly options: MachineOptions) {
    super(new RaceDetector(options.detectRaces, (race, same) => this.#race(race, same)), options.pageBudget);
    this.sites = options.sites;
    this.#deadline = Date.now() + options.timeBudget;
    this.issued = new Float64Array(options.counters);
    this.threads = new Float64Array(options.counters);
    this.branchCounts = Array.from({ length: options.branches }, () => ({ threads: 0, taken: 0, warps: 0, diverged: 0, entered: 0, arms: null }));
    this.#evaluated = new Int32Array(options.branches);
    this.#took = new Int32Array(options.branches);
  }

  get place(): FileSpan | null {
    return this.sites[this.site] ?? null;
  }

  fault(kind: FaultKind, lane: number, object: string | null, message: () => string): void {
    this.log.record(kind, this.place, 1 << lane, this.current?.block.linear ?? 0, this.current?.index ?? 0, object, message);
  }

  #race(race: RaceReport, sameValue: boolean): void {
    const shared = race.segment.space === 'shared';
    const words = (): string => `${race.write ? 'writes' : 'reads'} byte ${race.offset} of ${race.segment.name}, which thread ${race.otherThread} ${race.otherWrite ? 'wrote' : 'read'} without a barrier in between`;
    const kind: FaultKind = sameValue ? 'same-value-race' : shared ? 'race-shared' : 'race-global';
    this.log.record(kind, this.place, 1 << race.lane, this.current?.block.linear ?? 0, this.current?.index ?? 0, race.segment.name, words, sameValue ? 'note' : race.atomic ? 'caution' : 'error');
  }

  // ------------------------------------------------------------------------------------------------------- arithmetic

  divi32(a: number, b: number, l: number): number {
    if (b === 0) { this.fault('division-by-zero', l, null, () => 'divides by zero'); return -1; }
    return (a / b) | 0;
  }
  remi32(a: number, b: number, l: number): number {
    if (b === 0) { this.fault('division-by-zero', l, null, () => 'remainder by zero'); return a; }
    return (a % b) | 0;
  }
  divu32(a: number, b: number, l: number): number {
    if (b === 0) { this.fault('division-by-zero', l, null, () => 'divides by zero'); return 4294967295; }
    return floor(a / b);
  }
  remu32(a: number, b: number, l: number): number {
    if (b === 0) { this.fault('division-by-zero', l, null, () => 'remainder by zero'); return a; }
    return a % b;
  }
  divI(a: Wide, b: Wide, l: number): Wide {
    if (b === 0) { this.fault('division-by-zero', l, null, () => 'divides by zero'); return -1; }
    return divI(a, b);
  }
  divU(a: Wide, b: Wide, l: number): Wide {
    if (b === 0) { this.fault('division-by-zero', l, null, () => 'divides by zero'); return 0xffffffffffffffffn; }
    return divU(a, b);
  }
  remI(a: Wide, b: Wide, l: number): Wide {
    if (b === 0) { this.fault('division-by-zero', l, null, () => 'remainder by zero'); return a; }
    return remI(a, b);
  }
  remU(a: Wide, b: Wide, l: number): Wide {
    if (b === 0) { this.fault('division-by-zero', l, null, () => 'remainder by zero'); return a; }
    return remU(a, b);
  }

  #badShift(n: Wide, l: number, bits: number): void {
    this.fault('shift-amount', l, null, () => `shifts by ${n}, outside 0 to ${bits - 1}`);
  }
  shli32(a: number, n: Wide, l: number): number {
    if (typeof n === 'number' && n >= 0 && n < 32) return a << n;
    this.#badShift(n, l, 32);
    return 0;
  }
  shlu32(a: number, n: Wide, l: number): number { return this.shli32(a, n, l) >>> 0; }
  shri32(a: number, n: Wide, l: number): number {
    if (typeof n === 'number' && n >= 0 && n < 32) return a >> n;
    this.#badShift(n, l, 32);
    return a < 0 ? -1 : 0;
  }
  shru32(a: number, n: Wide, l: number): number {
    if (typeof n === 'number' && n >= 0 && n < 32) return a >>> n;
    this.#badShift(n, l, 32);
    return 0;
  }
  /** A shift amount of a 64-bit shift, 64 if out of range (everything leaves). */
  amount(n: Wide, bits: number, l: number): number {
    if (typeof n === 'number' && n >= 0 && n < bits) return n;
    this.#badShift(n, l, bits);
    return 64;
  }

  /** An index into an array of known length. */
  inside(i: number, length: number, l: number, name: string): number {
    // One past the end is an address that may be formed; accesses through it are caught by the same check on their own index.
    if (i < 0 || i >= length) this.fault('array-out-of-bounds', l, name, () => `index ${i} of ${name === '' ? 'an array' : name} of ${length} elements`);
    return i;
  }

  unset<T>(value: T, l: number, name: string): T {
    this.fault('uninitialised-local', l, name, () => `reads ${name} before it has a value`);
    return value;
  }

  // ------------------------------------------------------------------------------------------------------------ control

  /** Loop turns of all warps so far. */
  get turns(): number {
    return this.#turns;
  }

  turn(site: number): void {
    this.#turns++;
    if ((this.#turns & 63) === 0) {
      this.site = site;
      this.checkTime();
    }
    if (this.#turns <= this.options.turnBudget) return;
    this.site = site;
    throw new RunAborted('loop-budget', `a loop goes on after ${this.options.turnBudget} turns of all warps together: it may not end`, this.place);
  }

  checkTime(): void {
    if (Date.now() > this.#deadline) throw new RunAborted('time-budget', `the run takes longer than ${this.options.timeBudget / 1000} s`, this.place);
  }

  switches(): boolean {
    const p = this.options.switching;
    return p > 0 && this.options.random() < p;
  }

  trap(l: number, name: string): void {
    this.fault('trap', l, null, () => `${name} is reached`);
    throw new RunAborted('trap', `${name} stops the kernel`, this.place);
  }

  fence(): void {
    const w = this.current;
    if (w !== null) w.fencedAt = ++this.races.now;
  }

  clock(): number {
    return ++this.#clock * 32;
  }

  print(format: string, values: readonly Wide[]): void {
    if (this.printed.length < 1000) this.printed.push(`${readable(format)}\u0000${values.join(',')}`);
  }

  // ------------------------------------------------------------------------------------------------------------ counts

  count(index: number, mask: number): void {
    (this.issued[index] as number) += 1;
    (this.threads[index] as number) += popcount(mask);
  }

  branch(index: number, mask: number, condition: number): void {
    const b = this.branchCounts[index];
    if (b === undefined || mask === 0) return;
    const taken = condition & mask;
    b.threads += popcount(mask);
    b.taken += popcount(taken);
    b.warps++;
    if (taken !== 0) {
      b.entered++;
      if (taken !== mask) b.diverged++;
    }
  }

  choice(index: number, mask: number, arms: readonly number[]): void {
    const b = this.branchCounts[index];
    if (b === undefined) return;
    b.threads += popcount(mask);
    b.warps++;
    b.arms ??= arms.map(() => 0);
    let used = 0;
    for (const [i, arm] of arms.entries()) {
      const n = popcount(arm & mask);
      b.arms[i] = (b.arms[i] ?? 0) + n;
      if (n > 0) used++;
    }
    if (used > 1) b.diverged++;
    b.entered++;
  }

  /** A branch inside an expression, one lane at a time. */
  bit(index: number, l: number, condition: unknown): void {
    if (this.#evaluated[index] === 0) this.#noted.push(index);
    (this.#evaluated[index] as number) |= 1 << l;
    if (condition) (this.#took[index] as number) |= 1 << l;
  }
  bits(): void {
    for (const index of this.#noted) {
      this.branch(index, this.#evaluated[index] as number, this.#took[index] as number);
      this.#evaluated[index] = 0;
      this.#took[index] = 0;
    }
    this.#noted.length = 0;
  }

  // ----------------------------------------------------------------------------------------------------------- atomics

  #read(type: string, a: number, l: number): Wide {
    switch (type) {
      case 'i32': return this.ldi32(a, l, ATOMIC);
      case 'u32': return this.ldu32(a, l, ATOMIC);
      case 'f32': return this.ldf32(a, l, ATOMIC);
      case 'f64': return this.ldf64(a, l, ATOMIC);
      case 'i64': return this.ldi64(a, l, ATOMIC);
      case 'u64': case 'ptr': return this.ldu64(a, l, ATOMIC);
      case 'f16': return this.ldf16(a, l, ATOMIC);
      case 'bf16': return this.ldbf16(a, l, ATOMIC);
      case 'i16': return this.ldi16(a, l, ATOMIC);
      case 'u16': return this.ldu16(a, l, ATOMIC);
      default: throw new RunAborted('trap', `an atomic operation on ${type}`, this.place);
    }
  }
  #write(type: string, a: number, v: Wide, l: number): void {
    switch (type) {
      case 'i32': this.sti32(a, Number(v), l, ATOMIC); break;
      case 'u32': this.stu32(a, Number(v), l, ATOMIC); break;
      case 'f32': this.stf32(a, Number(v), l, ATOMIC); break;
      case 'f64': this.stf64(a, Number(v), l, ATOMIC); break;
      case 'i64': case 'u64': case 'ptr': this.sti64(a, v, l, ATOMIC); break;
      case 'f16': this.stf16(a, Number(v), l, ATOMIC); break;
      case 'bf16': this.stbf16(a, Number(v), l, ATOMIC); break;
      default: this.sti16(a, Number(v), l, ATOMIC);
    }
  }
  #fetch(type: string, a: number, l: number, next: (old: Wide) => Wide): Wide {
    this.races.now++;
    const old = this.#read(type, a, l);
    this.#write(type, a, next(old), l);
    return old;
  }

  atomicAdd(type: string, a: number, v: Wide, l: number): Wide {
    return this.#fetch(type, a, l, (old) => sum(type, old, v));
  }
  atomicSub(type: string, a: number, v: Wide, l: number): Wide {
    return this.#fetch(type, a, l, (old) => (type === 'i64' ? subI(old, v) : type === 'u64' ? subU(old, v) : type === 'u32' ? (Number(old) - Number(v)) >>> 0 : type === 'i32' ? (Number(old) - Number(v)) | 0 : sum(type, old, -Number(v))));
  }
  atomicExch(type: string, a: number, v: Wide, l: number): Wide { return this.#fetch(type, a, l, () => v); }
  atomicMin(type: string, a: number, v: Wide, l: number): Wide { return this.#fetch(type, a, l, (old) => (v < old ? v : old)); }
  atomicMax(type: string, a: number, v: Wide, l: number): Wide { return this.#fetch(type, a, l, (old) => (v > old ? v : old)); }
  atomicInc(type: string, a: number, v: Wide, l: number): Wide { return this.#fetch(type, a, l, (old) => (old >= v ? 0 : Number(old) + 1)); }
  atomicDec(type: string, a: number, v: Wide, l: number): Wide { return this.#fetch(type, a, l, (old) => (old === 0 || old > v ? v : Number(old) - 1)); }
  atomicAnd(type: string, a: number, v: Wide, l: number): Wide { return this.#fetch(type, a, l, (old) => (type === 'u64' ? andU(old, v) : type === 'i64' ? andI(old, v) : word(type, Number(old) & Number(v)))); }
  atomicOr(type: string, a: number, v: Wide, l: number): Wide { return this.#fetch(type, a, l, (old) => (type === 'u64' ? orU(old, v) : type === 'i64' ? orI(old, v) : word(type, Number(old) | Number(v)))); }
  atomicXor(type: string, a: number, v: Wide, l: number): Wide { return this.#fetch(type, a, l, (old) => (type === 'u64' ? xorU(old, v) : type === 'i64' ? xorI(old, v) : word(type, Number(old) ^ Number(v)))); }
  atomicCAS(type: string, a: number, expected: Wide, v: Wide, l: number): Wide { return this.#fetch(type, a, l, (old) => (old === expected ? v : old)); }
}

/** Bytes of a format as text: UTF-8 if they are. */
function readable(bytes: string): string {
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? bytes : text;
}

function word(type: string, v: number): number {
  return type === 'u32' ? v >>> 0 : v | 0;
}

function sum(type: string, a: Wide, b: Wide): Wide {
  switch (type) {
    case 'i64': return addI(a, b);
    case 'u64': return addU(a, b);
    case 'ptr': return wrapI64(BigInt(a) + BigInt(b));
    case 'f32': return fround(Number(a) + Number(b));
    case 'u32': return (Number(a) + Number(b)) >>> 0;
    case 'i32': return (Number(a) + Number(b)) | 0;
    default: return Number(a) + Number(b);
  }
}
