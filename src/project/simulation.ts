/** Kernels of a project on the simulator: runs with counts, probabilities for the audit, and the comparison of two versions. */
import { readFileSync } from 'node:fs';
import type { AnalysisOptions, Probabilities } from '../analysis/facts.js';
import { provedShapes } from '../analysis/launch-facts.js';
import { blockShapes, constantShape, verifyEquivalent, type Verdict } from '../verify/index.js';
import { parseArgument, simulate, type Argument, type LaunchShape, type Shape, type SimulationResult } from '../simulate/index.js';
import type { FunctionDecl, Program } from '../syntax/tree.js';
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
  readonly seed: number;
  readonly schedule: number;
  /** Value of scalars that are named like sizes. */
  readonly size: number | null;
  readonly arguments: ReadonlyMap<string, Argument>;
}

/** Runs a kernel once. Where the caller names no launch, the code's own or a usual one is taken. */
export function simulateKernel(program: Program, kernel: FunctionDecl, request: SimulationRequest): { readonly launch: LaunchShape; readonly result: SimulationResult } {
  const block = request.launch?.block ?? request.block ?? blockShapes(program, kernel)[0] ?? [128, 1, 1];
  const grid = request.launch?.grid ?? request.grid ?? gridOf(program, kernel) ?? [4, block[1] > 1 ? 4 : 1, 1];
  const launch: LaunchShape = { grid, block, sharedBytes: null };
  const size = request.size ?? defaultSize(grid, block);
  const result = simulate(program, kernel, launch, { seed: request.seed, arguments: request.arguments, size }, { counts: true, scheduleSeed: request.schedule });
  return { launch, result };
}

/** The grid of the first launch that says it in numbers, if it is small enough to be run. */
function gridOf(program: Program, kernel: FunctionDecl): Shape | null {
  for (const launch of program.launchesOf(kernel)) {
    const shape = constantShape(launch.grid);
    if (shape !== null && shape[0] * shape[1] * shape[2] <= 64) return shape;
  }
  return null;
}

/** A size that leaves the last block partly empty, as sizes do. */
function defaultSize(grid: Shape, block: Shape): number {
  return Math.max(1, grid[0] * block[0] - Math.ceil(block[0] / 3));
}

/** Probabilities of branches as a simulation of every kernel finds them; kernels that cannot be simulated have none. */
export function simulatedProbabilities(program: Program, kernels: readonly FunctionDecl[], request: SimulationRequest): Probabilities {
  const found = new Map<string, { warps: number; diverged: number; threads: number; taken: number }>();
  for (const kernel of kernels) {
    const { result } = simulateKernel(program, kernel, request);
    if (result.status !== 'ran' || result.counts === null) continue;
    for (const branch of result.counts.branches) {
      const source = program.units.get(branch.at.file)?.source;
      if (source === undefined || branch.warps === 0) continue;
      const { line, column } = source.position(branch.node.span.start);
      const key = `${branch.at.file}\0${line}\0${column}`;
      const sum = found.get(key) ?? { warps: 0, diverged: 0, threads: 0, taken: 0 };
      found.set(key, { warps: sum.warps + branch.warps, diverged: sum.diverged + branch.diverged, threads: sum.threads + branch.threads, taken: sum.taken + branch.taken });
    }
  }
  return {
    origin: 'simulated',
    branch(file, line, column) {
      const sum = found.get(`${file}\0${line}\0${column}`);
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
}

/** A kernel whose arms depend on a parameter needs many settings until each was seen; a busy machine must not cut them short. */
const BUDGET_MS = 20_000;

/** Block shapes that an edit of this kernel may rest on; empty if any shape will do. */
function blocksFor(program: Program, name: string, options: AnalysisOptions): { readonly blocks?: readonly Shape[] } {
  const kernels = [...program.units.values()].flatMap((unit) => unit.kernels.filter((kernel) => kernel.name === name && kernel.body !== null));
  const shapes = kernels.flatMap((kernel) => provedShapes(kernel, program, options).map(({ x, y, z }): Shape => [x, y, z]));
  return shapes.length === 0 ? {} : { blocks: shapes };
}

/** Compares the kernels of one file (and of what includes it) before and after, in blocks of the shapes that the analysis takes for given; where a plan took a kernel's place, it is executed. */
export function verifyKernels(before: Program, after: Program, kernels: readonly { readonly name: string; readonly path: string; readonly plan?: LaunchPlan | undefined }[], request: Pick<SimulationRequest, 'launch' | 'arguments'>, options: AnalysisOptions = {}): readonly Verification[] {
  return kernels.map(({ name, path, plan }) => ({
    kernel: name, path, before, after,
    verdict: verifyEquivalent(before, after, name, {
      arguments: request.arguments, budgetMs: BUDGET_MS,
      ...(plan === undefined ? {} : { plan }),
      ...(request.launch === null ? blocksFor(before, name, options) : { blocks: [request.launch.block], grids: [request.launch.grid] }),
    }),
  }));
}

