/**
 * Runs one kernel on the simulated device. Needs no input files: what the caller does not give comes from the seed.
 *
 *     const result = simulate(program, kernel, { grid: [4, 1, 1], block: [256, 1, 1], sharedBytes: 0 }, inputs, {});
 *
 * A construct without meaning here gives `unsupported` with its place; a run that had to be stopped gives `aborted`. Both mean that
 * nothing was shown.
 */
import type { FileSpan } from '../source/types.js';
import type { Expr, FunctionDecl, Program, Stmt, TemplateArgument } from '../syntax/tree.js';
import { Compiler, type BranchKind, type CompiledKernel } from './codegen/compiler.js';
import { RunAborted, type Fault } from './faults.js';
import type { Arguments } from './arguments.js';
import { inputOptions, prepareGlobals, prepareInputs, type Buffer } from './inputs.js';
import { Machine, randomSource, type BranchCounts } from './machine.js';
import { MATH } from './math.js';
import { kernelEnvironment } from './instances.js';
import type { Env } from './resolve.js';
import { runGrid, type GridLaunch } from './schedule.js';
import { sizeOf, Unsupported } from './types.js';
import { usageOf, type Usage } from './usage.js';
import * as values from './values.js';

export type Shape = readonly [number, number, number];

export interface LaunchShape {
  readonly grid: Shape;
  readonly block: Shape;
  /** Bytes of dynamic shared memory; null lets the simulator give what a block usually needs. */
  readonly sharedBytes: number | null;
}

export interface SimulationInputs {
  readonly seed: number;
  readonly arguments: Arguments;
  /** Value of scalars that are named like sizes and not given. */
  readonly size: number;
  /** Infinities, NaNs and negative zeros among floating inputs; if not said, for every fourth seed. */
  readonly special?: boolean;
  /** Integers over their whole range, floating values of all magnitudes; if not said, for another fourth of the seeds. */
  readonly wide?: boolean;
  /** 0: all sizes are equal; 1, 2, 3: they differ. */
  readonly extents?: number;
  /** Names that the parameters have in the original, by position. */
  readonly names?: readonly string[] | null;
  /** What the values should look like, if not as the kernel itself uses them: an edited kernel gets the inputs of its original. */
  readonly usage?: Usage;
}

export interface SimulationOptions {
  /** 0: warps in order; else the seed of a random schedule. */
  readonly scheduleSeed?: number;
  /** Count statements and branches. Costs time. */
  readonly counts?: boolean;
  readonly detectRaces?: boolean;
  /** Loop turns of all warps together. */
  readonly turnBudget?: number;
  /** Milliseconds. */
  readonly timeBudget?: number;
  readonly megabytes?: number;
  /** Template arguments of a kernel template. */
  readonly templateArguments?: readonly TemplateArgument[];
}

export interface StatementCount { readonly at: FileSpan; readonly node: Stmt | Expr; readonly issued: number; readonly threads: number; readonly weight: number }

export interface BranchCount extends Readonly<BranchCounts> {
  readonly at: FileSpan;
  readonly condition: FileSpan;
  readonly kind: BranchKind;
  readonly node: Stmt | Expr;
  /** Share of evaluating threads for which it held (null for a switch), and share of warps whose lanes disagreed. */
  readonly p: number | null;
  readonly rate: number;
}

export interface Counts {
  readonly statements: readonly StatementCount[];
  readonly branches: readonly BranchCount[];
  /** Weighted sums over all statements. */
  readonly issued: number;
  readonly threads: number;
  /** threads / (32 · issued). */
  readonly efficiency: number;
}

export type SimulationResult =
  | {
    readonly status: 'ran';
    readonly faults: readonly Fault[];
    readonly buffers: readonly Buffer[];
    readonly scalars: ReadonlyMap<string, number | bigint>;
    readonly launch: LaunchShape;
    readonly counts: Counts | null;
    readonly printed: readonly string[];
    /** Loop turns of all warps together, of a run of one kernel. */
    readonly turns?: number;
    /** Of a launch plan: the kernels that had blocks, one for each launch. */
    readonly launched?: readonly string[];
  }
  | { readonly status: 'unsupported'; readonly construct: string; readonly at: FileSpan | null }
  | { readonly status: 'aborted'; readonly reason: RunAborted['reason']; readonly message: string; readonly at: FileSpan | null; readonly faults: readonly Fault[]; /** What was touched until then. */ readonly buffers?: readonly Buffer[] };

/** A kernel compiled once and run many times. */
export interface PreparedKernel {
  readonly kernel: FunctionDecl;
  readonly compiled: CompiledKernel;
  readonly make: (D: Machine) => GridLaunch['kernel'];
}

const HELPERS = { ...values, m: MATH };

/** Throws `Unsupported`. */
export function prepareKernel(program: Program, kernel: FunctionDecl, counts: boolean, templateArguments?: readonly TemplateArgument[]): PreparedKernel {
  return prepareInstance(program, kernel, counts, kernelEnvironment(program, kernel, templateArguments));
}

/** The same with every template parameter bound. Throws `Unsupported`. */
export function prepareInstance(program: Program, kernel: FunctionDecl, counts: boolean, environment: Env): PreparedKernel {
  const compiler = new Compiler(program, counts);
  const compiled = compiler.compile(kernel, environment);
  // The text is made by the compiler alone; nothing of the user's source is spliced in but quoted names.
  // `Math` and `Number` are parameters: as globals they are slow to reach in test runners' contexts.
  const make = new Function('D', 'H', 'Math', 'Number', compiled.source) as (D: Machine, H: unknown, m: typeof Math, n: typeof Number) => GridLaunch['kernel'];
  return { kernel, compiled, make: (D) => make(D, HELPERS, Math, Number) };
}

export const LIMITS = { blocks: 65536, threads: 1024 };

/** What a launch of no blocks leaves: the runtime runs none of it. */
export function runNothing(prepared: PreparedKernel, launch: LaunchShape, inputs: SimulationInputs, options: SimulationOptions = {}): SimulationResult {
  const D = newMachine(prepared, inputs, options);
  try {
    // Memory as for one block, of which nothing runs.
    const run = prepareRun(D, prepared, { ...launch, grid: [1, 1, 1] }, inputs);
    return { status: 'ran', faults: [], buffers: run.buffers, scalars: run.scalars, launch, counts: null, printed: [] };
  } catch (error) {
    return failure(error, D);
  }
}

export function runPrepared(prepared: PreparedKernel, launch: LaunchShape, inputs: SimulationInputs, options: SimulationOptions = {}): SimulationResult {
  const D = newMachine(prepared, inputs, options);
  let buffers: readonly Buffer[] = [];
  try {
    const run = prepareRun(D, prepared, launch, inputs);
    ({ buffers } = run);
    runGrid(D, { ...run.grid, scheduleSeed: options.scheduleSeed ?? 0 });
    return { status: 'ran', faults: D.log.faults, buffers: run.buffers, scalars: run.scalars, launch: run.launch, counts: prepared.compiled.counters.length === 0 ? null : collect(D, prepared.compiled), printed: D.printed, turns: D.turns };
  } catch (error) {
    const failed = failure(error, D);
    return failed.status === 'aborted' ? { ...failed, buffers } : failed;
  }
}

export function failure(error: unknown, D: Machine | null): Exclude<SimulationResult, { status: 'ran' }> {
  if (error instanceof RunAborted) return { status: 'aborted', reason: error.reason, message: error.message, at: error.at ?? D?.place ?? null, faults: D?.log.faults ?? [] };
  if (error instanceof Unsupported) return { status: 'unsupported', construct: error.construct, at: error.span === null || error.file === null ? null : { file: error.file, start: error.span.start, end: error.span.end } };
  if (error instanceof RangeError) return { status: 'aborted', reason: 'recursion', message: `the simulator ran out of stack or array space: ${error.message}`, at: D?.place ?? null, faults: D?.log.faults ?? [] };
  throw error;
}

export function newMachine(prepared: PreparedKernel, inputs: SimulationInputs, options: SimulationOptions): Machine {
  const random = randomSource((options.scheduleSeed ?? 0) * 7919 + inputs.seed);
  return new Machine({
    sites: prepared.compiled.sites, counters: prepared.compiled.counters.length, branches: prepared.compiled.branches.length,
    pageBudget: Math.floor(((options.megabytes ?? 256) * 2 ** 20) / 4096 / 3), turnBudget: options.turnBudget ?? 2_000_000, timeBudget: options.timeBudget ?? 30_000, detectRaces: options.detectRaces ?? true,
    switching: (options.scheduleSeed ?? 0) === 0 ? 1 / 64 : 1 / 4, random,
  });
}

export interface PreparedRun {
  readonly grid: Omit<GridLaunch, 'scheduleSeed'>;
  readonly buffers: readonly Buffer[];
  readonly scalars: ReadonlyMap<string, number | bigint>;
  readonly launch: LaunchShape;
}

export function prepareStrings(D: Machine, compiled: CompiledKernel): void {
  D.strings = compiled.strings.map((text) => {
    const bytes = Buffer.from(`${text}\0`, 'latin1');
    return D.add('a string', 'constant', bytes.length, (page, from) => { for (let i = 0; i < page.u8.length; i++) page.u8[i] = bytes[from + i] ?? 0; page.flags.fill(1); }, false, 0).base;
  });
  D.dynamicAt = Math.ceil(compiled.sharedBytes / 16) * 16;
}

/** Dynamic shared memory where the caller says nothing: four elements a thread, none if the kernel has none. */
export function dynamicBytes(compiled: CompiledKernel, threads: number): number {
  return compiled.dynamicElement === null ? 0 : Math.max(64, threads * 4) * Math.max(4, sizeOf(compiled.dynamicElement));
}

/** Lays out memory and parameters for one launch. */
export function prepareRun(D: Machine, prepared: PreparedKernel, launch: LaunchShape, inputs: SimulationInputs): PreparedRun {
  const { compiled, kernel } = prepared;
  const threads = launch.block[0] * launch.block[1] * launch.block[2];
  const blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
  if (![...launch.block, ...launch.grid].every((v) => Number.isInteger(v) && v > 0)) throw new RunAborted('trap', 'a launch shape must be positive', null);
  if (threads > LIMITS.threads) throw new RunAborted('trap', `a block of ${threads} threads: at most ${LIMITS.threads}`, null);
  if (blocks > LIMITS.blocks) throw new RunAborted('memory-budget', `a grid of ${blocks} blocks is more than is simulated (${LIMITS.blocks})`, null);
  const usage = inputs.usage ?? usageOf(kernel);
  const o = inputOptions(inputs);
  // Parameters first: their addresses then depend on the signature alone.
  const params = prepareInputs(D, kernel, compiled.entry.parameters, usage, o);
  const globals = prepareGlobals(D, compiled.globals, usage, o);
  prepareStrings(D, compiled);
  const dynamic = launch.sharedBytes ?? dynamicBytes(compiled, threads);
  return {
    grid: {
      kernel: prepared.make(D), generator: compiled.entry.generator, parameters: params.arrays, grid: launch.grid, block: launch.block,
      sharedBytes: D.dynamicAt + dynamic, sharedGranule: compiled.sharedGranule, random: D.options.random,
    },
    buffers: [...params.buffers, ...globals], scalars: params.scalars, launch: { ...launch, sharedBytes: dynamic },
  };
}

export function collect(D: Machine, compiled: CompiledKernel): Counts {
  let issued = 0;
  let threads = 0;
  const statements = compiled.counters.map((c, i): StatementCount => {
    const n = D.issued[i] ?? 0;
    const t = D.threads[i] ?? 0;
    issued += n * c.weight;
    threads += t * c.weight;
    return { at: c.at, node: c.node, issued: n, threads: t, weight: c.weight };
  });
  const branches = compiled.branches.map((b, i): BranchCount => {
    const c = D.branchCounts[i] ?? { threads: 0, taken: 0, warps: 0, diverged: 0, entered: 0, arms: null };
    return {
      ...c, at: b.at, condition: { file: b.at.file, start: b.condition.start, end: b.condition.end }, kind: b.kind, node: b.node,
      p: b.kind === 'switch' || c.threads === 0 ? null : c.taken / c.threads, rate: c.warps === 0 ? 0 : c.diverged / c.warps,
    };
  });
  return { statements, branches, issued, threads, efficiency: issued === 0 ? 1 : threads / (32 * issued) };
}

/** Compiles and runs a kernel once. */
export function simulate(program: Program, kernel: FunctionDecl, launch: LaunchShape, inputs: SimulationInputs, options: SimulationOptions = {}): SimulationResult {
  try {
    const prepared = prepareKernel(program, kernel, options.counts ?? true, options.templateArguments);
    return runPrepared(prepared, launch, inputs, options);
  } catch (error) {
    return failure(error, null);
  }
}
