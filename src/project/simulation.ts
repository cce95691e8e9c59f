/** Kernels of a project on the simulator: runs with counts, probabilities for the audit, and the comparison of two versions. */
import { readFileSync } from 'node:fs';
import type { AnalysisOptions, Probabilities } from '../analysis/facts.js';
import { provedShapes } from '../analysis/launch-facts.js';
import { blockShapes, constantSharedBytes, constantShape, verifyEquivalent, type Verdict, type VerifyOptions } from '../verify/index.js';
import { failure, instancesOf, MOST_INSTANCES, parseArgument, prepareInstance, runPrepared, usageOf, type Argument, type Instance, type LaunchShape, type Shape, type SimulationResult } from '../simulate/index.js';
import type { FunctionDecl, Launch, Program } from '../syntax/tree.js';
import type { LaunchPlan } from '../../transforms/lib/types.js';
import { UsageError } from './errors.js';

/**
 * `4x256` is 4 blocks of 256 threads. More dimensions are parted by commas: `4,4x16,16`. Throws `UsageError`.
 */
export function parseLaunch(text: string): { readonly grid: Shape; readonly block: Shape } {
  const parts = text.split('x');
  const [grid, block] = parts.map(parseSizes);
  if (parts.length !== 2 || grid === undefined || grid === null || block === undefined || block === null) {
    throw new UsageError(`--launch ${text}: expected GRIDxBLOCK, such as 4x256 or 4,4x16,16`);
  }
  const threads = block[0] * block[1] * block[2];
  if (threads > 1024 || block[2] > 64) throw new UsageError(`--launch ${text}: a block has at most 1024 threads, 64 of them along z`);
  return { grid, block };
}

function parseSizes(text: string): Shape | null {
  const sizes = text.split(',').map((part) => (/^\d+$/.test(part) ? Number(part) : 0));
  const [x = 0, y = 1, z = 1] = sizes;
  return sizes.length <= 3 && x > 0 && y > 0 && z > 0 ? [x, y, z] : null;
}

/** Numbers of `a=@FILE`. Throws `UsageError`. */
function readNumbers(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--arg: ${path} cannot be read (${error instanceof Error && 'code' in error ? String(error.code) : String(error)})`);
  }
}

/** `n=1000`, `x=uniform(-1,1)`, `a=@numbers.txt`, …. Throws `UsageError`. */
export function parseArguments(words: readonly string[]): ReadonlyMap<string, Argument> {
  const map = new Map<string, Argument>();
  for (const word of words) {
    const parsed = parseArgument(word, readNumbers);
    if (parsed === null) throw new UsageError(`--arg ${word}: expected NAME=VALUE, such as n=1000, x=uniform(-1,1), flag=bernoulli(0.03), y=alias(x,4), a=[1,2,3] or a=@numbers.txt`);
    map.set(parsed.name, parsed.argument);
  }
  return map;
}

export interface SimulationRequest {
  readonly launch: { readonly grid: Shape; readonly block: Shape } | null;
  readonly block: Shape | null;
  readonly grid: Shape | null;
  /** Null where the caller leaves it open. */
  readonly seed: number | null;
  readonly schedule: number | null;
  /** Value of scalars that are named like sizes. */
  readonly size: number | null;
  /** Bytes of dynamic shared memory. */
  readonly shared: number | null;
  readonly arguments: ReadonlyMap<string, Argument>;
}

/** One run of a kernel, or of one instance of a kernel template. */
export interface SimulatedInstance {
  /** `T = float, B = 64`; empty for a kernel that is no template. */
  readonly instance: string;
  /** What is said about the choice of instances; the same for all of a kernel. */
  readonly notes: readonly string[];
  readonly result: SimulationResult;
}

/** Runs a kernel once, a template once for every instance that a visible launch asks for. Where the caller names no launch, the code's own or a usual one is taken. */
export function simulateKernel(program: Program, kernel: FunctionDecl, request: SimulationRequest): readonly SimulatedInstance[] {
  let all: ReturnType<typeof instancesOf>;
  try {
    all = instancesOf(program, kernel);
  } catch (error) {
    return [{ instance: '', notes: [], result: failure(error, null) }];
  }
  const notes = [...all.notes, ...all.instances.slice(MOST_INSTANCES).map(({ label }) => `not run with ${label}`)];
  return all.instances.slice(0, MOST_INSTANCES).map((instance) => ({ instance: instance.label, notes, result: simulateInstance(program, kernel, instance, request) }));
}

function simulateInstance(program: Program, kernel: FunctionDecl, { environment, launches }: Instance, request: SimulationRequest): SimulationResult {
  const block = request.launch?.block ?? request.block ?? blockShapes(program, kernel, launches)[0] ?? [128, 1, 1];
  const grid = request.launch?.grid ?? request.grid ?? gridOf(launches) ?? [4, block[1] > 1 ? 4 : 1, 1];
  const launch: LaunchShape = { grid, block, sharedBytes: request.shared ?? sharedOf(launches, block) };
  const size = request.size ?? defaultSize(grid, block);
  try {
    const prepared = prepareInstance(program, kernel, true, environment);
    return runPrepared(prepared, launch, { usage: usageOf(kernel, environment), seed: request.seed ?? 1, arguments: request.arguments, size }, { counts: true, scheduleSeed: request.schedule ?? 0 });
  } catch (error) {
    return failure(error, null);
  }
}

/** The grid of the first launch that says it in numbers, if it is small enough to be run. */
function gridOf(launches: readonly Launch[]): Shape | null {
  for (const launch of launches) {
    const shape = constantShape(launch.grid);
    if (shape !== null && shape[0] * shape[1] * shape[2] <= 64) return shape;
  }
  return null;
}

/** What the first launch with that block gives, if it says so in constants. */
function sharedOf(launches: readonly Launch[], block: Shape): number | null {
  const launch = launches.find((l) => constantShape(l.block)?.join() === block.join());
  return launch === undefined ? null : constantSharedBytes(launch);
}

/** A size that leaves the last block partly empty, as sizes do. */
function defaultSize(grid: Shape, block: Shape): number {
  return Math.max(1, grid[0] * block[0] - Math.ceil(block[0] / 3));
}

/** A kernel that a simulation could not run to its end, and why. */
export interface NotSimulated { readonly kernel: FunctionDecl; readonly reason: string; readonly file: string; readonly line: number }

/** Probabilities of branches as a simulation of every kernel (a template: of all its visible instances together) finds them; kernels that cannot be simulated have none and are told. */
export function simulatedProbabilities(program: Program, kernels: readonly FunctionDecl[], request: SimulationRequest, tell: (not: NotSimulated) => void): Probabilities {
  // By node: branches that begin at one place, or come out of one macro, are told apart.
  const found = new Map<object, { warps: number; diverged: number; threads: number; taken: number }>();
  for (const kernel of kernels) {
    for (const { instance, result } of simulateKernel(program, kernel, request)) {
      if (result.status !== 'ran') {
        const at = result.at ?? { file: kernel.file, start: kernel.nameSpan.start };
        const source = program.units.get(at.file)?.source;
        const reason = result.status === 'unsupported' ? result.construct : result.message;
        tell({ kernel, reason: instance === '' ? reason : `with ${instance}: ${reason}`, file: at.file, line: source?.position(at.start).line ?? 1 });
        continue;
      }
      if (result.counts === null) continue;
      for (const branch of result.counts.branches) {
        if (branch.warps === 0) continue;
        const key = branch.node;
        const sum = found.get(key) ?? { warps: 0, diverged: 0, threads: 0, taken: 0 };
        found.set(key, { warps: sum.warps + branch.warps, diverged: sum.diverged + branch.diverged, threads: sum.threads + branch.threads, taken: sum.taken + branch.taken });
      }
    }
  }
  return {
    origin: 'simulated',
    branch(_file, _line, _column, node) {
      const sum = node === undefined ? undefined : found.get(node);
      return sum === undefined || sum.threads === 0 ? null : { p: sum.taken / sum.threads, rate: sum.diverged / sum.warps };
    },
  };
}

export interface Verification {
  readonly kernel: string;
  readonly path: string;
  readonly before: Program;
  readonly after: Program;
  readonly verdict: Verdict;
  /** Edited functions that the kernel reaches, itself among them (`functionKey`); empty for two files that no edit lies between. */
  readonly functions: ReadonlySet<string>;
}

/** A kernel whose arms depend on a parameter needs many settings until each was seen; a busy machine must not cut them short. */
const BUDGET_MS = 20_000;
const FIRST_RUN_MS = 2500;

/** Block shapes that the kernel surely has, from options, annotations and launches; empty if any shape will do. */
function provedBlocks(program: Program, name: string, options: AnalysisOptions): readonly Shape[] {
  const kernels = [...program.units.values()].flatMap((unit) => unit.kernels.filter((kernel) => kernel.name === name && kernel.body !== null));
  return kernels.flatMap((kernel) => provedShapes(kernel, program, options).map(({ x, y, z }): Shape => [x, y, z]));
}

export interface ToVerify {
  readonly name: string;
  readonly path: string;
  readonly plan?: LaunchPlan | undefined;
  /** A grant says that pointers of different names do not overlap, and the edit rests on it. */
  readonly apart?: boolean;
  /** Edited functions that it reaches. */
  readonly functions?: ReadonlySet<string>;
}

/** Compares the kernels of one file (and of what includes it) before and after; where a plan took a kernel's place, it is executed. */
export function verifyKernels(before: Program, after: Program, kernels: readonly ToVerify[], request: SimulationRequest, options: AnalysisOptions = {}): readonly Verification[] {
  return kernels.map((kernel) => ({ kernel: kernel.name, path: kernel.path, before, after, functions: kernel.functions ?? new Set(), verdict: verifyEquivalent(before, after, kernel.name, optionsOf(request, kernel, provedBlocks(before, kernel.name, options))) }));
}

/** What the caller fixes is fixed; the rest is tried in many ways. */
function optionsOf(request: SimulationRequest, { plan, apart }: ToVerify, proved: readonly Shape[]): VerifyOptions {
  // What was said of all launches holds as far as those that are seen say nothing else.
  const block = request.launch?.block ?? (proved.length === 0 ? request.block : null);
  const grid = request.launch?.grid ?? request.grid;
  return {
    arguments: request.arguments, budgetMs: BUDGET_MS, firstRunMs: FIRST_RUN_MS,
    ...(plan === undefined ? {} : { plan }),
    ...(block === null ? {} : { blocks: [block] }), ...(grid === null ? {} : { grids: [grid] }),
    ...(request.seed === null ? {} : { seeds: [request.seed] }), ...(request.schedule === null ? {} : { schedules: [request.schedule] }),
    ...(request.size === null ? {} : { sizes: [request.size] }), ...(request.shared === null ? {} : { sharedBytes: request.shared }),
    ...(proved.length === 0 ? {} : { provedBlocks: proved }), aliasing: apart === true ? 'assumed-apart' : 'try',
  };
}
