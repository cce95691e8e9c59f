/** One setting, both sides: what the two runs left in memory, touched, printed and did wrong. */
import type { Fault, FaultKind } from '../simulate/faults.js';
import type { Buffer } from '../simulate/inputs.js';
import type { SimulationResult } from '../simulate/simulate.js';
import type { FileSpan } from '../source/types.js';
import { compareBuffer, endOf, writtenValues, wroteAnything } from './compare.js';
import type { Setting } from './settings.js';

/** Runs one side under a setting; `turns`: how many the original's loops took, where the other side runs. */
export type Runner = (setting: Setting, turns?: number) => SimulationResult;

export interface Obstacle {
  readonly side: 'before' | 'after';
  readonly reason: string;
  readonly at: FileSpan | null;
  /** The result is not understood where the original is: not a limit of what can be run, but something wrong with the result. */
  readonly lost?: true;
}

type Ran = Extract<SimulationResult, { status: 'ran' }>;

/** Faults that make everything after them meaningless: memory no one may touch, values no one set. */
const WILD: ReadonlySet<FaultKind> = new Set([
  'array-out-of-bounds', 'shared-out-of-bounds', 'global-out-of-bounds', 'null-dereference', 'wild-pointer', 'foreign-local', 'misaligned', 'uninitialised-shared', 'uninitialised-local', 'write-to-constant', 'division-by-zero',
]);

export type Outcome =
  | { readonly kind: 'equal'; readonly wrote: boolean; readonly notes: readonly string[]; /** Kernels of a plan that had blocks. */ readonly launched?: readonly string[] }
  | { readonly kind: 'inconclusive'; readonly reason: string; /** The original itself does something that gives everything behind it no meaning. */ readonly faulty: boolean; /** The results differ, and no order of the original's warps explains it. */ readonly unexplained?: true }
  | { readonly kind: 'obstacle'; readonly obstacle: Obstacle; readonly fatal: boolean }
  | { readonly kind: 'different'; readonly differences: readonly string[]; readonly scalars: ReadonlyMap<string, number | bigint> };

export function obstacle(side: Obstacle['side'], result: Exclude<SimulationResult, { status: 'ran' }>): Obstacle {
  return { side, reason: result.status === 'unsupported' ? result.construct : result.message, at: result.at };
}

/** What stands in the way of the result alone. */
export function lost(result: Exclude<SimulationResult, { status: 'ran' }>): Obstacle {
  return { ...obstacle('after', result), lost: true };
}

export function compareOnce(setting: Setting, runBefore: Runner, runAfter: Runner, tolerance: number | null): Outcome {
  const a = runBefore(setting);
  if (a.status !== 'ran') return { kind: 'obstacle', obstacle: obstacle('before', a), fatal: a.status === 'unsupported' };
  const wild = a.faults.filter((f) => WILD.has(f.kind) && f.severity === 'error');
  if (wild.length > 0) return { kind: 'inconclusive', reason: `the original itself faults: ${wild[0]?.message ?? ''}`, faulty: true };
  const b = runAfter(setting, a.turns);
  const scalars = a.scalars;
  if (b.status === 'unsupported') return { kind: 'obstacle', obstacle: lost(b), fatal: true };
  // How long a run takes is a matter of the machine and its load: it says nothing about the edit.
  if (b.status === 'aborted' && b.reason === 'time-budget') {
    // But what it did until then it did.
    const until = [...faultDifferences(a.faults, b.faults), ...extentDifferences(a.buffers, b.buffers ?? [])];
    if (until.length > 0) return { kind: 'different', differences: until, scalars };
    return { kind: 'obstacle', obstacle: obstacle('after', b), fatal: false };
  }
  if (b.status === 'aborted') return { kind: 'different', differences: [`the result does not end as the original does: ${b.message}`], scalars };
  const differences = [...faultDifferences(a.faults, b.faults), ...extentDifferences(a.buffers, b.buffers)];
  const memory = memoryDifferences(a, b, tolerance);
  if (differences.length === 0 && memory.length === 0) return { kind: 'equal', wrote: wroteAnything(a.buffers), notes: newNotes(a.faults, b.faults), ...(b.launched === undefined ? {} : { launched: b.launched }) };
  if (differences.length > 0) return { kind: 'different', differences: [...differences, ...memory], scalars };
  const explained = explain(setting, runBefore, a, b, memory);
  return explained.kind === 'equal' && b.launched !== undefined ? { ...explained, launched: b.launched } : explained;
}

/** Memory differs: is that the edit, or does the original give different results under different schedules? */
function explain(setting: Setting, runBefore: Runner, a: Ran, b: Ran, memory: readonly string[]): Outcome {
  const racy = a.faults.some((f) => f.kind === 'race-global' || f.kind === 'race-shared');
  let dependent = false;
  for (const scheduleSeed of [0, 11, 12, 13, 14, 15]) {
    if (scheduleSeed === setting.scheduleSeed) continue;
    const other = runBefore({ ...setting, scheduleSeed });
    if (other.status !== 'ran') continue;
    if (memoryDifferences(a, other, null).length > 0) {
      dependent = true;
      if (memoryDifferences(other, b, null).length === 0) return { kind: 'equal', wrote: true, notes: ['the original depends on the order of its warps; the result is one of its results'] };
    }
  }
  if (!dependent) {
    if (racy) return { kind: 'inconclusive', reason: 'the original has a data race, and the result differs from what it gives in every order of its warps that was tried', faulty: false, unexplained: true };
    return { kind: 'different', differences: memory, scalars: a.scalars };
  }
  // Order of atomics: the same values in another order, or sums that differ in the last places.
  if (memoryDifferences(a, b, 1e-3).length === 0) return { kind: 'equal', wrote: true, notes: ['the original depends on the order of its warps; compared with tolerance'] };
  const sorted = a.buffers.every((x) => { const y = b.buffers.find((z) => z.name === x.name); return y !== undefined && writtenValues(x).join() === writtenValues(y).join(); });
  if (sorted) return { kind: 'equal', wrote: true, notes: ['the original depends on the order of its warps; compared as sets of values'] };
  return { kind: 'inconclusive', reason: 'the original depends on the order of its warps', faulty: false };
}

function faultDifferences(before: readonly Fault[], after: readonly Fault[]): string[] {
  const known = new Set(before.map((f) => f.kind));
  // A race that shows only as equal values before may show as such after.
  const out: string[] = [];
  for (const f of after) {
    if (f.severity === 'note' || known.has(f.kind)) continue;
    known.add(f.kind);
    out.push(`the result has a fault that the original has not: ${f.kind}: ${f.message}`);
  }
  return out;
}

/** Findings of severity note that only the result has: no failure, but said. */
function newNotes(before: readonly Fault[], after: readonly Fault[]): string[] {
  const known = new Set(before.map((f) => f.kind));
  // The kind alone: places differ from run to run, and one line says it.
  return [...new Set(after.filter((f) => f.severity === 'note' && !known.has(f.kind)).map((f) => f.kind))].map((kind) => `the result has a note that the original has not: ${kind} (divmod simulate shows where)`);
}

/** Whether the original gives the same under another schedule, without a race: only then two equal addresses are a launch that may be meant. */
export function isDeterministic(setting: Setting, run: Runner): boolean {
  const a = run(setting);
  if (a.status !== 'ran' || a.faults.some((f) => f.severity === 'error' || f.kind === 'race-global' || f.kind === 'race-shared' || f.kind === 'same-value-race')) return false;
  const b = run({ ...setting, scheduleSeed: setting.scheduleSeed + 17 });
  return b.status === 'ran' && memoryDifferences(a, b, null).length === 0;
}

/** An access beyond what the original touches is an error of the edit. */
function extentDifferences(before: readonly Buffer[], after: readonly Buffer[]): string[] {
  const out: string[] = [];
  for (const x of before) {
    const y = after.find((z) => z.name === x.name);
    // Of a constant whose size is known, any element may be read: beyond its end is a fault.
    if (y === undefined || (x.segment.space === 'constant' && Number.isFinite(x.segment.limit))) continue;
    if (y.segment.high > endOf(x) && y.segment.high !== -Infinity) out.push(`the result touches ${x.name} up to byte ${y.segment.high}, the original up to byte ${Math.max(x.segment.high, 0)}`);
    else if (y.segment.low < x.segment.low && x.segment.high !== -Infinity) out.push(`the result touches ${x.name} from byte ${y.segment.low}, the original from byte ${x.segment.low}`);
  }
  return out;
}

function memoryDifferences(a: Ran, b: Ran, tolerance: number | null): string[] {
  const out: string[] = [];
  for (const x of a.buffers) {
    const y = b.buffers.find((z) => z.name === x.name);
    if (y === undefined) {
      if (wroteAnything([x])) out.push(`${x.name} is written by the original and unknown to the result`);
      continue;
    }
    for (const d of compareBuffer(x, y, 8)) {
      if (tolerance !== null && d.relative <= tolerance) continue;
      out.push(`${d.buffer}[${d.index}] is ${d.before} before and ${d.after} after`);
    }
  }
  if ([...a.printed].sort().join('\n') !== [...b.printed].sort().join('\n')) out.push('printf gives other lines');
  return out;
}
