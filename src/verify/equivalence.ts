/**
 * Whether an edited kernel does what the original does: both run on the same inputs over many seeds, sizes, block shapes and
 * schedules, every byte they leave is compared, and so are the faults. What could not be run is *not verified*, never verified.
 *
 *     verifyEquivalent(before, after, 'kernel', {}).status  // 'equal' | 'different' | 'not-verified'
 */
import type { FileSpan } from '../source/types.js';
import type { Arguments } from '../simulate/inputs.js';
import { failure, prepareKernel, runPrepared, type PreparedKernel, type Shape, type SimulationInputs, type SimulationOptions, type SimulationResult } from '../simulate/simulate.js';
import { PlannedKernels, runPlan, type Plan } from '../simulate/plan.js';
import { usageOf } from '../simulate/usage.js';
import type { Fault, FaultKind } from '../simulate/faults.js';
import type { FunctionDecl, Program, TemplateArgument } from '../syntax/tree.js';
import { compareBuffer, writtenValues, wroteAnything } from './compare.js';
import { blockShapes, settingsFor, smaller, type Setting } from './settings.js';

export interface VerifyOptions {
  readonly seeds?: readonly number[];
  readonly sizes?: readonly number[];
  readonly blocks?: readonly Shape[];
  readonly grids?: readonly Shape[];
  readonly schedules?: readonly number[];
  readonly arguments?: Arguments;
  readonly sharedBytes?: number;
  /** Name of the kernel in `after`, if it changed. */
  readonly afterName?: string;
  /** Template arguments for both sides. */
  readonly templateArguments?: readonly TemplateArgument[];
  /** The order of floating sums was opened by a grant: compare them with this relative tolerance. */
  readonly tolerance?: number;
  /** Milliseconds after which no further setting is begun; at least four are tried. */
  readonly budgetMs?: number;
  readonly turnBudget?: number;
  /** The edit replaces the launch by a plan: it is executed on `after`. */
  readonly plan?: Plan;
}

/** Runs one side under a setting. */
export type Runner = (setting: Setting) => SimulationResult;

export interface Counterexample {
  readonly setting: Setting;
  readonly scalars: Readonly<Record<string, string>>;
  /** What differs, one line each. */
  readonly differences: readonly string[];
  /** Options that replay it: `--seed 3 --launch 1x64 --arg n=33`. */
  readonly replay: string;
}

export interface Obstacle { readonly side: 'before' | 'after'; readonly reason: string; readonly at: FileSpan | null }

export type Verdict =
  | { readonly status: 'equal'; readonly runs: number; readonly notes: readonly string[] }
  | { readonly status: 'different'; readonly runs: number; readonly counterexample: Counterexample; readonly notes: readonly string[] }
  | { readonly status: 'not-verified'; readonly runs: number; readonly obstacles: readonly Obstacle[]; readonly notes: readonly string[] };

/** Kernels of a program by name, those with a body. */
export function findKernel(program: Program, name: string): FunctionDecl | null {
  let found: FunctionDecl | null = null;
  for (const unit of program.units.values()) for (const k of unit.kernels) if (k.name === name && k.body !== null) found ??= k;
  return found;
}

type Ran = Extract<SimulationResult, { status: 'ran' }>;

/** Faults that make everything after them meaningless: memory no one may touch, values no one set. */
const WILD: ReadonlySet<FaultKind> = new Set([
  'array-out-of-bounds', 'shared-out-of-bounds', 'global-out-of-bounds', 'null-dereference', 'wild-pointer', 'misaligned', 'uninitialised-shared', 'uninitialised-local', 'write-to-constant', 'division-by-zero',
]);

export function verifyEquivalent(before: Program, after: Program, kernelName: string, options: VerifyOptions = {}): Verdict {
  const kernel = findKernel(before, kernelName);
  if (kernel === null) return none([{ side: 'before', reason: `no kernel ${kernelName}`, at: null }]);
  let first: PreparedKernel;
  try {
    first = prepareKernel(before, kernel, false, options.templateArguments);
  } catch (error) {
    return none([obstacle('before', failure(error, null))]);
  }
  const usage = usageOf(kernel);
  const inputs = (s: Setting): SimulationInputs => ({ usage, seed: s.seed, arguments: options.arguments ?? new Map(), size: s.size, special: s.special });
  const limits = (s: Setting): SimulationOptions => ({ scheduleSeed: s.scheduleSeed, turnBudget: options.turnBudget ?? 400_000, timeBudget: 5000 });
  // Lanes that part before a loop instead of inside it go round it one after the other: turns may grow by the arms, the work does not.
  const roomier = (s: Setting): SimulationOptions => ({ ...limits(s), turnBudget: (options.turnBudget ?? 400_000) * 8 });
  const run = (prepared: PreparedKernel, budget: (s: Setting) => SimulationOptions): Runner => (s) => runPrepared(prepared, { grid: s.grid, block: s.block, sharedBytes: options.sharedBytes ?? null }, inputs(s), budget(s));
  let runAfter: Runner;
  if (options.plan !== undefined) {
    const { plan } = options;
    const kernels = new PlannedKernels(after);
    try {
      for (const step of plan.steps) if (step.kind === 'kernel') kernels.named(step.kernel);
    } catch (error) {
      return none([obstacle('after', failure(error, null))]);
    }
    runAfter = (s) => runPlan(kernels, plan, first, { grid: s.grid, block: s.block, sharedBytes: options.sharedBytes ?? null }, inputs(s), roomier(s));
  } else {
    const other = findKernel(after, options.afterName ?? kernelName);
    if (other === null) return none([{ side: 'after', reason: `no kernel ${options.afterName ?? kernelName}`, at: null }]);
    try {
      runAfter = run(prepareKernel(after, other, false, options.templateArguments), roomier);
    } catch (error) {
      return none([obstacle('after', failure(error, null))]);
    }
  }
  const runBefore = run(first, limits);
  return compareOver(settingsFor(before, kernel, options), options.blocks ?? blockShapes(before, kernel), runBefore, runAfter, options);
}

function none(obstacles: readonly Obstacle[]): Verdict {
  return { status: 'not-verified', runs: 0, obstacles, notes: [] };
}

function obstacle(side: Obstacle['side'], result: Exclude<SimulationResult, { status: 'ran' }>): Obstacle {
  return { side, reason: result.status === 'unsupported' ? result.construct : result.message, at: result.at };
}

export interface Tally { clean: number; wrote: number; inconclusive: string[]; obstacles: Obstacle[] }

/** The comparison itself, over prepared runners. */
export function compareOver(settings: readonly Setting[], blocks: readonly Shape[], runBefore: Runner, runAfter: Runner, options: Pick<VerifyOptions, 'tolerance' | 'budgetMs'>): Verdict {
  const tally: Tally = { clean: 0, wrote: 0, inconclusive: [], obstacles: [] };
  const notes = new Set<string>();
  const end = Date.now() + (options.budgetMs ?? 5000);
  let runs = 0;
  for (const setting of settings) {
    if (runs >= 4 && Date.now() > end) break;
    runs++;
    const outcome = compareOnce(setting, runBefore, runAfter, options.tolerance ?? null);
    switch (outcome.kind) {
      case 'equal':
        tally.clean++;
        if (outcome.wrote) tally.wrote++;
        if (outcome.note !== null) notes.add(outcome.note);
        break;
      case 'inconclusive': tally.inconclusive.push(outcome.reason); break;
      case 'obstacle':
        tally.obstacles.push(outcome.obstacle);
        // What one side cannot do, it will not do under the next setting; budgets may be a matter of size.
        if (outcome.fatal) return { status: 'not-verified', runs, obstacles: [outcome.obstacle], notes: [...notes] };
        break;
      case 'different': return { status: 'different', runs, counterexample: shrink(setting, outcome, blocks, runBefore, runAfter, options.tolerance ?? null), notes: [...notes] };
    }
  }
  if (tally.inconclusive.length > 0) notes.add(`${tally.inconclusive.length} of ${runs} settings say nothing: ${[...new Set(tally.inconclusive)].slice(0, 2).join('; ')}`);
  if (tally.clean === 0 || tally.wrote === 0) {
    const obstacles = tally.obstacles.length > 0 ? tally.obstacles.slice(0, 3) : [{ side: 'before' as const, reason: tally.inconclusive[0] ?? 'no run wrote anything that could be compared', at: null }];
    return { status: 'not-verified', runs, obstacles, notes: [...notes] };
  }
  return { status: 'equal', runs: tally.clean, notes: [...notes] };
}

type Outcome =
  | { readonly kind: 'equal'; readonly wrote: boolean; readonly note: string | null }
  | { readonly kind: 'inconclusive'; readonly reason: string }
  | { readonly kind: 'obstacle'; readonly obstacle: Obstacle; readonly fatal: boolean }
  | { readonly kind: 'different'; readonly differences: readonly string[]; readonly scalars: ReadonlyMap<string, number | bigint> };

function compareOnce(setting: Setting, runBefore: Runner, runAfter: Runner, tolerance: number | null): Outcome {
  const a = runBefore(setting);
  if (a.status !== 'ran') return { kind: 'obstacle', obstacle: obstacle('before', a), fatal: a.status === 'unsupported' };
  const wild = a.faults.filter((f) => WILD.has(f.kind) && f.severity === 'error');
  if (wild.length > 0) return { kind: 'inconclusive', reason: `the original itself faults: ${wild[0]?.message ?? ''}` };
  const b = runAfter(setting);
  const scalars = a.scalars;
  if (b.status === 'unsupported') return { kind: 'obstacle', obstacle: obstacle('after', b), fatal: true };
  // How long a run takes is a matter of the machine and its load: it says nothing about the edit.
  if (b.status === 'aborted' && b.reason === 'time-budget') return { kind: 'obstacle', obstacle: obstacle('after', b), fatal: false };
  if (b.status === 'aborted') return { kind: 'different', differences: [`the result does not end as the original does: ${b.message}`], scalars };
  const differences = [...faultDifferences(a.faults, b.faults), ...extentDifferences(a, b)];
  const memory = memoryDifferences(a, b, tolerance);
  if (differences.length === 0 && memory.length === 0) return { kind: 'equal', wrote: wroteAnything(a.buffers), note: null };
  if (differences.length > 0) return { kind: 'different', differences: [...differences, ...memory], scalars };
  return explain(setting, runBefore, a, b, memory);
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
      if (memoryDifferences(other, b, null).length === 0) return { kind: 'equal', wrote: true, note: 'the original depends on the order of its warps; the result is one of its results' };
    }
  }
  if (!dependent) {
    if (racy) return { kind: 'inconclusive', reason: 'the original has a data race and the result differs' };
    return { kind: 'different', differences: memory, scalars: a.scalars };
  }
  // Order of atomics: the same values in another order, or sums that differ in the last places.
  if (memoryDifferences(a, b, 1e-3).length === 0) return { kind: 'equal', wrote: true, note: 'the original depends on the order of its warps; compared with tolerance' };
  const sorted = a.buffers.every((x) => { const y = b.buffers.find((z) => z.name === x.name); return y !== undefined && writtenValues(x).join() === writtenValues(y).join(); });
  if (sorted) return { kind: 'equal', wrote: true, note: 'the original depends on the order of its warps; compared as sets of values' };
  return { kind: 'inconclusive', reason: 'the original depends on the order of its warps' };
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

/** An access beyond what the original touches is an error of the edit. */
function extentDifferences(a: Ran, b: Ran): string[] {
  const out: string[] = [];
  for (const x of a.buffers) {
    const y = b.buffers.find((z) => z.name === x.name);
    if (y === undefined) continue;
    if (y.segment.high > Math.max(x.segment.high, 0) && y.segment.high !== -Infinity) out.push(`the result touches ${x.name} up to byte ${y.segment.high}, the original up to byte ${Math.max(x.segment.high, 0)}`);
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

function shrink(setting: Setting, found: Extract<Outcome, { kind: 'different' }>, blocks: readonly Shape[], runBefore: Runner, runAfter: Runner, tolerance: number | null): Counterexample {
  let best = { setting, outcome: found };
  const end = Date.now() + 1500;
  for (const candidate of smaller(setting, blocks)) {
    if (Date.now() > end) break;
    const outcome = compareOnce(candidate, runBefore, runAfter, tolerance);
    if (outcome.kind === 'different') { best = { setting: candidate, outcome }; break; }
  }
  const s = best.setting;
  const shape = (v: Shape): string => (v[2] !== 1 ? v.join(',') : v[1] !== 1 ? `${v[0]},${v[1]}` : `${v[0]}`);
  const scalars = Object.fromEntries([...best.outcome.scalars].map(([k, v]) => [k, `${v}`]));
  const args = Object.entries(scalars).map(([k, v]) => `--arg ${k}=${v}`);
  return {
    setting: s, scalars, differences: best.outcome.differences.slice(0, 8),
    replay: [`--seed ${s.seed}`, `--launch ${shape(s.grid)}x${shape(s.block)}`, ...(s.scheduleSeed === 0 ? [] : [`--schedule ${s.scheduleSeed}`]), ...args].join(' '),
  };
}
