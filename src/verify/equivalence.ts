/**
 * Whether an edited kernel does what the original does: both run on the same inputs over many seeds, sizes, block shapes and
 * schedules, every byte they leave is compared, and so are the faults. What could not be run is *not verified*, never verified.
 *
 *     verifyEquivalent(before, after, 'kernel', {}).status  // 'equal' | 'different' | 'not-verified'
 */
import type { Argument, Arguments } from '../simulate/arguments.js';
import { instancesOf, labelOf, MOST_INSTANCES, transferred, type Instance } from '../simulate/instances.js';
import { hasSeveralSizes, isSizeName, parameterLeaves } from '../simulate/inputs.js';
import { failure, prepareInstance, runNothing, runPrepared, type PreparedKernel, type Shape, type SimulationInputs, type SimulationOptions } from '../simulate/simulate.js';
import { PlannedKernels, runPlan, type Plan } from '../simulate/plan.js';
import { jointUsage, usageOf, type Usage } from '../simulate/usage.js';
import { Unsupported } from '../simulate/types.js';
import type { FunctionDecl, Launch, Program, TemplateArgument } from '../syntax/tree.js';
import { compareOver } from './compare-over.js';
import { lost, obstacle, type Obstacle, type Runner } from './compare-runs.js';
import { mistakenConstants } from './host-constants.js';
import { launchChanges } from './launch-changes.js';
import { divides, kernelsOf, populationSettings } from './populations.js';
import { settingsFor, withEmptyGrid, withNegatives, withOneBlock, type Setting } from './settings.js';
import { axesOf, blockShapes, constantShape, sameShape, threads } from './shapes.js';
import { withTurningPoints } from './turned-settings.js';
import { aliasPairs, reordered, signatureChange } from './signature.js';
import { counterpart as counterpartOf, kernelsNamed } from './pairs.js';
import { joinTried, type Tried } from './tried.js';

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
  /** Milliseconds that a run of the original may take until one has come to its end: someone who waits wants to know of an endless loop. */
  readonly firstRunMs?: number;
  /** The edit replaces the launch by a plan: it is executed on `after`. */
  readonly plan?: Plan;
  /** Block shapes that the kernel surely has: no others are tried. `blocks` goes before it. */
  readonly provedBlocks?: readonly Shape[];
  /** Run with one address for two pointers as well, where the code allows it; `assumed-apart`: a grant says that they differ. */
  readonly aliasing?: 'try' | 'assumed-apart';
}

export interface Counterexample {
  readonly setting: Setting;
  readonly scalars: Readonly<Record<string, string>>;
  /** What differs, one line each. */
  readonly differences: readonly string[];
  /** Options that replay it: `--seed 3 --launch 1x64 --size 33 --arg n=33`. */
  readonly replay: string;
}

export type Verdict =
  | { readonly status: 'equal'; readonly runs: number; readonly tried: Tried; readonly notes: readonly string[] }
  | { readonly status: 'different'; readonly runs: number; readonly counterexample: Counterexample; readonly notes: readonly string[] }
  | { readonly status: 'not-verified'; readonly runs: number; readonly obstacles: readonly Obstacle[]; readonly notes: readonly string[] };

/** The first kernel of that name with a body. */
export function findKernel(program: Program, name: string): FunctionDecl | null {
  return kernelsNamed(program, name)[0] ?? null;
}

/** Kernels run, host code does not: what the transform meant the launches to do is what was compared. */
const PLAN_RAN = 'what ran is the launch plan from which the host text was written: of that text, the names of constants were looked up, and nothing was executed';

/** Milliseconds of one run. */
const RUN_MS = 5000;
/** Turns of an edited kernel for one of the original: more arms than a warp has lanes do not run one after the other. */
const MOST_TURNS = 40;

export function verifyEquivalent(before: Program, after: Program, kernelName: string, options: VerifyOptions = {}): Verdict {
  const named = kernelsNamed(before, kernelName);
  const [kernel] = named;
  if (kernel === undefined) return none([{ side: 'before', reason: `no kernel ${kernelName}`, at: null }]);
  if (named.length === 1) return verifyKernel(before, after, kernel, options);
  if (options.plan !== undefined) return none([{ side: 'before', reason: `${named.length} kernels are called ${kernelName}: the plan does not say which of them it launches`, at: null }]);
  return joined(named, named.map((one) => verifyKernel(before, after, one, { ...options, budgetMs: (options.budgetMs ?? 5000) / named.length })), before);
}

/** One verdict of several kernels of one name. */
function joined(kernels: readonly FunctionDecl[], verdicts: readonly Verdict[], program: Program): Verdict {
  const runs = verdicts.reduce((n, v) => n + v.runs, 0);
  const told = kernels.map((kernel) => `${kernel.name} of line ${program.units.get(kernel.file)?.source.line(kernel.nameSpan.start) ?? 0}`);
  const notes = [...new Set([`${kernels.length} kernels have this name`, ...verdicts.flatMap((v) => v.notes)])];
  for (const [i, verdict] of verdicts.entries()) if (verdict.status === 'different') return { ...verdict, runs, notes: [`the ${told[i] ?? ''}`, ...notes] };
  const obstacles = verdicts.flatMap((v, i) => (v.status === 'not-verified' ? v.obstacles.map((o) => ({ ...o, reason: `${told[i] ?? ''}: ${o.reason}` })) : []));
  if (obstacles.length > 0) return { status: 'not-verified', runs, obstacles, notes };
  return { status: 'equal', runs, tried: joinTried(verdicts.flatMap((v) => (v.status === 'equal' ? [v.tried] : []))), notes };
}

function verifyKernel(before: Program, after: Program, kernel: FunctionDecl, options: VerifyOptions): Verdict {
  const otherName = options.afterName ?? kernel.name;
  const other = counterpartOf(before, kernel, after, otherName);
  if (other === 'ambiguous') return none([{ side: 'after', reason: `which of the kernels called ${otherName} stands for this one cannot be told`, at: null }]);
  if (other === null && options.plan === undefined) {
    // Two texts do not tell which kernels took its place, nor in what order the host launches them.
    const reason = `no kernel ${otherName}: kernels are compared by name, and the launches of the host are not executed here; \`apply --verify\` executes the plans of compact:grid and split`;
    return none([{ side: 'after', reason, at: null, lost: true }]);
  }
  const notes: string[] = [];
  let found: readonly Instance[];
  try {
    const all = instancesOf(before, kernel, options.templateArguments);
    notes.push(...all.notes);
    found = all.instances.slice(0, MOST_INSTANCES);
    for (const left of all.instances.slice(MOST_INSTANCES)) notes.push(`not run with ${left.label}`);
  } catch (error) {
    return none([obstacle('before', failure(error, null))]);
  }
  if (other !== null && options.plan === undefined) notes.push(...launchChanges(before, kernel, after, other), ...[reordered(kernel, other)].filter((note) => note !== null));

  const mistaken = options.plan === undefined ? [] : mistakenConstants(after, options.plan);
  if (mistaken.length > 0) return none(mistaken);

  const verdicts: Verdict[] = [];
  for (const instance of found) {
    const verdict = verifyInstance({ before, after, kernel, other, instance, options, budgetMs: (options.budgetMs ?? 5000) / found.length });
    if (verdict.status === 'different') return { ...verdict, notes: [...instance.label === '' ? [] : [`with ${instance.label}`], ...notes, ...verdict.notes] };
    verdicts.push(verdict);
  }
  const runs = verdicts.reduce((n, v) => n + v.runs, 0);
  const all = [...new Set([...notes, ...verdicts.flatMap((v) => v.notes)])];
  const obstacles = verdicts.flatMap((v, i) => (v.status !== 'not-verified' ? [] : v.obstacles.map((o) => (found.length === 1 ? o : { ...o, reason: `with ${found[i]?.label ?? ''}: ${o.reason}` }))));
  if (obstacles.length > 0) return { status: 'not-verified', runs, obstacles, notes: all };
  if (options.plan !== undefined) all.push(PLAN_RAN);
  return { status: 'equal', runs, tried: joinTried(verdicts.flatMap((v) => (v.status === 'equal' ? [v.tried] : []))), notes: all };
}

interface Task {
  readonly before: Program;
  readonly after: Program;
  readonly kernel: FunctionDecl;
  readonly other: FunctionDecl | null;
  readonly instance: Instance;
  readonly options: VerifyOptions;
  readonly budgetMs: number;
}

function verifyInstance({ before, after, kernel, other, instance, options, budgetMs }: Task): Verdict {
  let first: PreparedKernel;
  try {
    first = prepareInstance(before, kernel, false, instance.environment);
  } catch (error) {
    return none([obstacle('before', failure(error, null))]);
  }
  const names = kernel.parameters.map((p) => p.name);
  const types = first.compiled.entry.parameters;
  // Until one run came to its end, an endless one must not take long.
  let patient = false;
  const limits = (): SimulationOptions => ({ turnBudget: options.turnBudget ?? 400_000, timeBudget: patient ? RUN_MS : options.firstRunMs ?? RUN_MS });
  // Lanes that part before a loop instead of inside it go round it one after the other: turns may grow by the arms, the work does not.
  const turns = options.turnBudget ?? 400_000;
  const roomier = (own: number | undefined): SimulationOptions => ({ turnBudget: Math.min(turns * 8, own === undefined ? Infinity : Math.max(turns, own * MOST_TURNS)), timeBudget: RUN_MS });
  let usage: Usage;
  let runAfter: Runner;
  let launched: ((s: Setting) => readonly string[] | null) | null = null;
  const inputs = (s: Setting): SimulationInputs => ({ usage, seed: s.seed, arguments: withAlias(withValues(options.arguments ?? new Map(), s), s), size: s.size, special: s.special, wide: s.wide, extents: s.extents, names });
  const launch = (s: Setting): { grid: Shape; block: Shape; sharedBytes: number | null } => ({ grid: s.grid, block: s.block, sharedBytes: s.sharedBytes });
  if (options.plan !== undefined) {
    const { plan } = options;
    const kernels = new PlannedKernels(after, instance.environment);
    try {
      const planned = plan.steps.flatMap((step) => (step.kind === 'kernel' ? [kernels.named(step.kernel)] : []));
      usage = jointUsage(usageOf(kernel, instance.environment), planned.map((p) => usageOf(p.kernel)), (name) => name);
    } catch (error) {
      return none([lost(failure(error, null))]);
    }
    runAfter = (s, own) => runPlan(kernels, plan, first, launch(s), inputs(s), { ...roomier(own), scheduleSeed: s.scheduleSeed, oneBlock: s.oneBlock === true });
    launched = (s) => {
      const result = runPlan(kernels, plan, first, launch(s), inputs(s), { launchesOnly: true });
      return result.status === 'ran' ? result.launched ?? null : null;
    };
  } else {
    if (other === null) return none([{ side: 'after', reason: 'no kernel', at: null }]);
    let second: PreparedKernel;
    let environment: Instance['environment'];
    try {
      environment = counterpart(after, kernel, other, instance, options);
      second = prepareInstance(after, other, false, environment);
    } catch (error) {
      return none([lost(failure(error, null))]);
    }
    const change = signatureChange(kernel, types, other, second.compiled.entry.parameters);
    if (change !== null) return none([{ side: 'after', reason: change, at: { file: other.file, start: other.nameSpan.start, end: other.nameSpan.end } }]);
    const positions = new Map(other.parameters.map((p, i) => [p.name, names[i] ?? p.name]));
    usage = jointUsage(usageOf(kernel, instance.environment), [usageOf(other, environment)], (name) => positions.get(name) ?? name);
    runAfter = (s, own) => runPrepared(second, launch(s), inputs(s), { ...roomier(own), scheduleSeed: s.scheduleSeed });
  }
  const runBefore: Runner = (s) => {
    const run = s.grid.some((side) => side === 0) ? runNothing : runPrepared;
    const result = run(first, launch(s), inputs(s), { ...limits(), scheduleSeed: s.scheduleSeed });
    patient ||= result.status === 'ran';
    return result;
  };
  usage = { ...usage, narrow: (usage.narrow ?? []).filter((limit) => limit < mostLaunched(instance.launches)) };
  const blocks = options.blocks ?? provedFor(instance, options.provedBlocks) ?? blockShapes(before, kernel, instance.launches, usage);
  // What the host sets: parameters, their members, variables that the kernels do not store in.
  const scalars = [...parameterLeaves(kernel, instance.environment), ...first.compiled.globals.flatMap(({ decl, type }) => ((decl.space === 'constant' || !(usage.stored?.has(decl.name) ?? true)) && decl.init === null && type.k === 'scalar' ? [{ name: decl.name, type }] : []))];
  const signed = scalars.flatMap(({ name, type }) => (type.k === 'scalar' && SIGNED.has(type.s) && !(options.arguments?.has(name) ?? false) ? [name] : []));
  const asked = settingsFor(before, kernel, { ...options, blocks, usage, launches: instance.launches, severalSizes: hasSeveralSizes(names, types) });
  // One seed is one choice of inputs: nobody wants others then.
  const open = scalars.flatMap(({ name, type }) => (type.k === 'scalar' && !(options.arguments?.has(name) ?? false) && !(options.sizes !== undefined && isSizeName(name)) ? [name] : []));
  const usual = options.seeds?.length === 1 ? asked : withTurningPoints(withNegatives(asked, signed), { turns: usage.turns ?? [], names: new Set(open), flags: scalars.flatMap(({ name, type }) => (type.k === 'scalar' && type.s === 'bool' && open.includes(name) ? [name] : [])), bounds: usage.bounds, wraps: usage.strided ?? [], sentinels: options.seeds === undefined && (usage.sentinels?.size ?? 0) > 0, sizes: options.sizes === undefined, grids: options.grids === undefined });
  const single = options.plan?.steps.some((step) => step.kind === 'kernel' && step.anyGrid === true) === true ? withOneBlock(usual) : usual;
  let settings: readonly Setting[] = single;
  if (options.plan !== undefined) {
    const axes = axesOf(kernel);
    const [start, ...others] = withEmptyGrid(single, axes);
    const all = launched === null ? [] : populationSettings({
      plan: options.plan, usual, launched, scalars, given: options.arguments ?? new Map(), grids: options.grids ?? null, axes, usage,
    });
    settings = [...(start === undefined ? [] : [start]), ...all, ...others];
  }
  const given = [...options.arguments ?? new Map<string, Argument>()].some(([, a]) => a.kind === 'alias');
  const pairs = options.aliasing === undefined || given ? [] : aliasPairs(kernel, types);
  const verdict = compareOver({ settings, blocks, runBefore, runAfter, tolerance: options.tolerance ?? null, budgetMs, instance: instance.label, kernels: options.plan === undefined ? [] : kernelsOf(options.plan), divided: options.plan !== undefined && divides(options.plan), fixed: options.grids !== undefined || options.sizes !== undefined || (options.arguments?.size ?? 0) > 0, aliases: options.aliasing === 'try' ? pairs : [], apart: options.aliasing === 'assumed-apart' ? pairs : [] });
  if (verdict.status !== 'equal') return verdict;
  // Threads beyond the size mostly do nothing: a wrap was seen only where both were large enough.
  const beyond = (usage.narrow ?? []).filter((limit) => Math.min(verdict.tried.threads ?? 0, verdict.tried.sizes.greatest) <= limit);
  return beyond.length === 0 ? verdict : { ...verdict, notes: [...verdict.notes, ...beyond.map(untried)] };
}

const SIGNED: ReadonlySet<string> = new Set(['i8', 'i16', 'i32', 'i64']);

/** Threads of the largest grid that the launches ask for; infinite if one of them does not say, or none is seen. */
function mostLaunched(launches: readonly Launch[]): number {
  if (launches.length === 0) return Infinity;
  return Math.max(...launches.map((launch) => {
    const grid = constantShape(launch.grid);
    const block = constantShape(launch.block);
    return grid === null || block === null ? Infinity : threads(grid) * threads(block);
  }));
}

/** In words: a wrap that no grid was large enough for. */
function untried(limit: number): string {
  return `a value made of a thread's place is kept in a type of ${limit <= 256 ? 8 : 16} bits, and no grid with more than ${limit} threads was tried on as many elements: --launch and --size can ask for one`;
}

/** Of the proved shapes those that the launches of the instance have, if they say so. */
function provedFor(instance: Instance, proved: readonly Shape[] | undefined): readonly Shape[] | null {
  if (proved === undefined || proved.length === 0) return null;
  const launched = instance.launches.map((launch) => constantShape(launch.block));
  const own = proved.filter((shape) => launched.some((other) => other !== null && sameShape(shape, other)));
  return own.length === 0 ? proved : own;
}

/** The same template arguments in the second text. Throws `Unsupported`. */
function counterpart(after: Program, kernel: FunctionDecl, other: FunctionDecl, instance: Instance, options: VerifyOptions): Instance['environment'] {
  if ((kernel.template?.length ?? 0) !== (other.template?.length ?? 0)) throw new Unsupported('the kernel takes other template parameters, and no launch plan says what they get', other.nameSpan, other.file);
  if (kernel.template === null) return instance.environment;
  const plain = transferred(instance.environment, kernel, other);
  if (plain !== null) return plain;
  // Records and functions are declarations: those of the second text are meant.
  const values = (label: string): string => label.split(', ').map((part) => part.slice(part.indexOf('=') + 1)).join();
  const found = instancesOf(after, other, options.templateArguments).instances.find((i) => values(i.label) === values(instance.label));
  if (found === undefined) throw new Unsupported(`the second text nowhere instantiates the template with ${labelOf(kernel, instance.environment)}`, other.nameSpan, other.file);
  return found.environment;
}

function withValues(given: Arguments, { values }: Setting): Arguments {
  return values === undefined ? given : new Map<string, Argument>([...Object.entries(values).map(([name, value]) => [name, { kind: 'value', value }] as const), ...given]);
}

function withAlias(given: Arguments, s: Setting): Arguments {
  return s.alias === null ? given : new Map<string, Argument>([...given, [s.alias[1], { kind: 'alias', of: s.alias[0], offset: 0 }]]);
}

function none(obstacles: readonly Obstacle[]): Verdict {
  return { status: 'not-verified', runs: 0, obstacles, notes: [] };
}
