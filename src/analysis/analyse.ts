/**
 * Entry point of the room: facts about kernels as launched, about the device functions they call, and about device functions over all
 * their calls. Everything is made when first asked for and kept by identity.
 */
import { callSitesBelow } from './call-sites.js';
import type { Env } from './env.js';
import type { Analysis, AnalysisOptions, Context, FunctionFacts, Reason } from './facts.js';
import { ANY_BLOCK, FunctionEnv } from './function-env.js';
import { Facts, type Surroundings } from './function-facts.js';
import { lanesOfWarp } from './platform.js';
import { CONSTANT, GRID, ON_CALLS, UNKNOWN } from './taint.js';
import { entryOf } from './uniformity-calls.js';
import { Explainer, type Continue, type Wanted } from './uniformity-reasons.js';
import { Uniformity, type Entry } from './uniformity.js';
import { World } from './world.js';
import type { CallExpr, Expr, FunctionDecl, ParameterDecl, Program, Unit } from '../syntax/tree.js';

export function createAnalysis(program: Program, options: AnalysisOptions = {}): Analysis {
  return new ProgramAnalysis(program, options);
}

/** One kernel with everything below it. */
interface Scene {
  readonly world: World;
  readonly envs: Map<FunctionDecl, Env | null>;
  readonly joined: Map<FunctionDecl, Entry>;
}

/** Where a solution came from, to go on with a chain of reasons at the call. */
interface Origin { readonly from: Facts; readonly call: CallExpr; readonly callee: FunctionDecl }

class ProgramAnalysis implements Analysis, Surroundings {
  private readonly scenes = new Map<FunctionDecl | null, Scene>();
  private readonly kernels = new Map<FunctionDecl, Facts>();
  private readonly every = new Map<FunctionDecl, Facts>();
  private readonly callees = new Map<Facts, Map<CallExpr, Map<FunctionDecl, Facts>>>();
  private readonly origins = new Map<Facts, Origin>();
  private reaching: Map<FunctionDecl, FunctionDecl[]> | null = null;

  constructor(readonly program: Program, private readonly options: AnalysisOptions) {}

  private scene(kernel: FunctionDecl | null): Scene {
    const known = this.scenes.get(kernel);
    if (known !== undefined) return known;
    const envs = new Map<FunctionDecl, Env | null>();
    const envOf = (fn: FunctionDecl): Env | null => {
      const made = envs.get(fn);
      if (made !== undefined) return made;
      const unit = this.program.units.get(fn.file);
      const env = unit === undefined ? null : new FunctionEnv(this.program, unit, fn, kernel, this.options, envOf);
      envs.set(fn, env);
      return env;
    };
    const unit = kernel === null ? undefined : this.program.units.get(kernel.file);
    const lanes = unit === undefined ? 32 : lanesOfWarp(this.program, unit);
    const world = new World(kernel, lanes, () => (kernel === null ? ANY_BLOCK : envOf(kernel)?.block ?? ANY_BLOCK), envOf);
    const scene: Scene = { world, envs, joined: new Map() };
    this.scenes.set(kernel, scene);
    return scene;
  }

  private env(scene: Scene, fn: FunctionDecl, fallback: Unit | null): Env {
    const env = scene.world.env(fn);
    if (env !== null) return env;
    const unit = fallback ?? [...this.program.units.values()][0];
    if (unit === undefined) throw new Error(`internal: no unit holds ${fn.name}`);
    return new FunctionEnv(this.program, unit, fn, scene.world.kernel, this.options, (other) => scene.world.env(other));
  }

  kernel(kernel: FunctionDecl): FunctionFacts {
    const known = this.kernels.get(kernel);
    if (known !== undefined) return known;
    const scene = this.scene(kernel);
    const state = this.solve(scene, kernel, kernelEntry(kernel), null);
    const context: Context = { kernel, path: [], mode: 'path' };
    const facts = new Facts(context, state.env, [state], this);
    this.kernels.set(kernel, facts);
    return facts;
  }

  /** Solves a function; one that cannot be shared (recursion, no unit) is solved for itself with nothing known. */
  private solve(scene: Scene, fn: FunctionDecl, entry: Entry, fallback: Unit | null): Uniformity {
    const shared = scene.world.solve(fn, entry);
    if (shared !== null) return shared;
    return new Uniformity(scene.world, this.env(scene, fn, fallback), fn.body === null ? entry : unknownEntry(fn)).solve();
  }

  callee(from: Facts, call: CallExpr, callee: FunctionDecl): FunctionFacts {
    let ofFacts = this.callees.get(from);
    if (ofFacts === undefined) this.callees.set(from, ofFacts = new Map());
    let ofCall = ofFacts.get(call);
    if (ofCall === undefined) ofFacts.set(call, ofCall = new Map());
    const known = ofCall.get(callee);
    if (known !== undefined) return known;
    const context: Context = { kernel: from.context.kernel, path: [...from.context.path, { caller: from.function, call }], mode: from.context.mode };
    const states = from.states.map((state) => {
      const scene = this.scene(state.world.kernel);
      return this.solve(scene, callee, entryOf(callee, call, state), from.unit);
    });
    const facts = new Facts(context, states[0]?.env ?? from.env, states, this);
    ofCall.set(callee, facts);
    this.origins.set(facts, { from, call, callee });
    return facts;
  }

  everyCall(fn: FunctionDecl): FunctionFacts {
    if (fn.qualifiers.global) return this.kernel(fn);
    const known = this.every.get(fn);
    if (known !== undefined) return known;
    const kernels = this.kernelsReaching(fn);
    const only = kernels.length === 1 ? kernels[0] ?? null : null;
    const states: Uniformity[] = [];
    for (const kernel of kernels) {
      const scene = this.scene(kernel);
      states.push(this.solve(scene, fn, this.joinedEntry(scene, kernel, fn, new Set()), null));
    }
    if (states.length === 0) states.push(this.solve(this.scene(null), fn, unknownEntry(fn), null));
    const context: Context = { kernel: only, path: [], mode: 'all' };
    // With several kernels, what rests on one kernel's launches or stores is not known.
    const env = only !== null || kernels.length === 0 ? states[0]?.env ?? this.env(this.scene(null), fn, null) : this.env(this.scene(null), fn, null);
    const facts = new Facts(context, env, states, this);
    this.every.set(fn, facts);
    return facts;
  }

  private kernelsReaching(fn: FunctionDecl): readonly FunctionDecl[] {
    if (this.reaching === null) {
      this.reaching = new Map();
      for (const unit of this.program.units.values()) {
        for (const kernel of unit.kernels) {
          for (const callee of callSitesBelow(kernel, this.program).keys()) {
            const list = this.reaching.get(callee);
            if (list === undefined) this.reaching.set(callee, [kernel]);
            else if (!list.includes(kernel)) list.push(kernel);
          }
        }
      }
    }
    return this.reaching.get(fn) ?? [];
  }

  /** Join over all calls of a function below a kernel; recursion gives unknown. */
  private joinedEntry(scene: Scene, kernel: FunctionDecl, fn: FunctionDecl, open: Set<FunctionDecl>): Entry {
    if (fn === kernel) return kernelEntry(kernel);
    const known = scene.joined.get(fn);
    if (known !== undefined) return known;
    if (open.has(fn)) return unknownEntry(fn);
    open.add(fn);
    const parameters: number[] = fn.parameters.map(() => ON_CALLS);
    let self = CONSTANT;
    let arrival = CONSTANT;
    let foreign = false;
    let leaked = false;
    for (const site of callSitesBelow(kernel, this.program).get(fn) ?? []) {
      const caller = this.solve(scene, site.caller, this.joinedEntry(scene, kernel, site.caller, open), null);
      const entry = entryOf(fn, site.call, caller);
      for (let i = 0; i < Math.max(parameters.length, entry.parameters.length); i++) parameters[i] = (parameters[i] ?? ON_CALLS) | (entry.parameters[i] ?? UNKNOWN);
      self |= entry.self;
      arrival |= entry.arrival;
      foreign ||= entry.foreign;
      leaked ||= entry.leaked;
    }
    open.delete(fn);
    const joined: Entry = { parameters, self, arrival, foreign, leaked };
    scene.joined.set(fn, joined);
    return joined;
  }

  /** At a parameter the chain goes on with the argument of the call that the facts came from. */
  beyond(of: Facts, _state: Uniformity): Continue {
    return (parameter: ParameterDecl, wanted: Wanted): readonly Reason[] => {
      const origin = this.origins.get(of);
      if (origin === undefined || of.states.length !== 1) return [];
      const argument = argumentOf(origin, parameter);
      const state = origin.from.states[0];
      if (argument === null || state === undefined) return [];
      const explainer = new Explainer(state, wanted, this.beyond(origin.from, state));
      explainer.expression(argument);
      return explainer.reasons;
    };
  }
}

function argumentOf(origin: Origin, parameter: ParameterDecl): Expr | null {
  if (parameter.index >= 0) return origin.call.arguments[parameter.index] ?? null;
  return origin.call.callee.kind === 'method' ? origin.call.callee.object : null;
}

/** By-value parameters of a kernel are one value in the grid. */
function kernelEntry(kernel: FunctionDecl): Entry {
  return { parameters: kernel.parameters.map(() => GRID), self: UNKNOWN, arrival: CONSTANT, foreign: false, leaked: false };
}

function unknownEntry(fn: FunctionDecl): Entry {
  return { parameters: fn.parameters.map(() => UNKNOWN), self: UNKNOWN, arrival: UNKNOWN, foreign: false, leaked: false };
}
