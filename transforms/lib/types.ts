/**
 * What a transform is. A transform never writes: it finds sites, states what must hold at each, estimates the gain and returns an
 * edit as a value. The framework (framework.ts) refuses an edit unless every obligation is proved, or assumed under a named grant.
 */
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Edit, FileSpan, Span } from '../../src/source/types.js';
import type { Expr, FunctionDecl, Stmt, Unit } from '../../src/syntax/tree.js';

export type ObligationStatus = 'proved' | 'assumed' | 'unknown' | 'refuted';

export interface Obligation {
  /** Stable id: `condition-invariant`, `no-barrier-under-divergence`, … */
  readonly id: string;
  readonly status: ObligationStatus;
  /** The grant that an `assumed` obligation rests on. */
  readonly grant: string | null;
  readonly line: number;
  /** What was found, in one sentence. */
  readonly text: string;
  /** What would discharge it; null if proved, or if nothing would. */
  readonly remedy: string | null;
}

/** A place where a transform's shape occurs. `S` carries what the transform found there. */
export interface Site<S = unknown> {
  readonly function: FunctionDecl;
  /** The statement or expression that carries the shape: a loop for hoist and peel. */
  readonly node: Stmt | Expr;
  /** The branch it treats; its line is the line that `--at` selects and that results report. */
  readonly branch: Stmt | Expr;
  readonly line: number;
  /** Lines of the other branches that it treats: `--at` takes them too. */
  readonly alsoLines?: readonly number[];
  /** One line for people: `if (flat) leaves the loop over t`. */
  readonly summary: string;
  readonly shape: S;
}

export interface Estimate {
  readonly speedup: number;
  readonly low: number;
  readonly high: number;
  readonly instructionsBefore: number;
  readonly instructionsAfter: number;
  /** Bytes of memory traffic added (positive) or saved, per thread. */
  readonly traffic: number;
  readonly breakEven: string | null;
  readonly provider: 'static' | 'ptx' | 'sass' | 'profile';
  /** False: legal, but does not pay; the framework reports `skipped` unless `--even-if-it-loses`. */
  readonly pays: boolean;
  /** Why it pays or does not, in one sentence. */
  readonly reason: string;
  /** All lanes of a warp agree on what leaves the loop: nothing is lost by divergence, only the test itself is saved. */
  readonly agreed?: true;
}

/** Launch plans: several kernels, temporaries and library passes in order. Host text is generated from them and the simulator executes them. */
export interface LaunchPlan {
  readonly steps: readonly LaunchStep[];
  /** Constants that texts of the steps call by their names, or hold the values of. */
  readonly constants?: readonly PlanConstant[];
}

/** A constant of the program with its value in this build, a decimal number. */
export interface PlanConstant {
  readonly name: string;
  readonly value: string;
  /** Texts of the plan hold its value: the host text asks the compiler whether it still has that. */
  readonly checked?: true;
}

export type LaunchStep =
  /** A host value, evaluated once and named by the steps behind it: where two populations meet, a number of blocks. `type` is a C++ type. */
  | { readonly kind: 'value'; readonly name: string; readonly type: string; readonly value: string }
  | { readonly kind: 'temporary'; readonly name: string; readonly element: string; readonly count: string }
  | { readonly kind: 'fill'; readonly buffer: string; readonly value: string; readonly count: string }
  /**
   * `shared` is the number of dynamic shared bytes; those of the original launch if absent. `anyGrid`: threads go over the work in a loop, so that
   * any number of blocks does all of it; verification tries a single one as well, where a thread takes several rounds. `asFull`: it has no blocks
   * only where the original has none.
   */
  | { readonly kind: 'kernel'; readonly kernel: string; readonly grid: string; readonly block: string; readonly arguments: readonly string[]; readonly unless: string | null; readonly shared?: string; readonly anyGrid?: true; readonly asFull?: true }
  | { readonly kind: 'select'; readonly flags: string; readonly output: string; readonly count: string; readonly selected: string }
  | { readonly kind: 'scan'; readonly input: string; readonly output: string; readonly count: string; readonly exclusive: boolean }
  | { readonly kind: 'sort'; readonly keys: string; readonly values: string; readonly count: string; readonly bits: number };

export interface Change {
  /** Disjoint; any order. */
  readonly edits: readonly Edit[];
  readonly launches?: LaunchPlan;
  /** Text whose change by another edit would invalidate this one (the proof's reads). */
  readonly reads: readonly FileSpan[];
}

/** What the caller allows and asks for. */
export interface TransformContext {
  readonly facts: FunctionFacts;
  readonly unit: Unit;
  /** `order=keep` of `compact:grid,order=keep` is `{ variant: 'grid', options: { order: 'keep' } }`. */
  readonly variant: string | null;
  readonly options: ReadonlyMap<string, string>;
  /** Names of grants in force: the default ones, plus `--allow`, minus `--deny`. */
  readonly grants: ReadonlySet<string>;
}

/** A `key=value` behind a transform's name. */
export interface TransformOption {
  readonly name: string;
  /** The variant that takes it; null for all of them. */
  readonly variant: string | null;
  /** What it may be; the first is what it is where nothing is said. */
  readonly values: readonly string[];
  /** One line, for the catalogue. */
  readonly summary: string;
}

export interface Transform<S = unknown> {
  readonly name: string;
  /** One line, for the catalogue. */
  readonly summary: string;
  readonly variants: readonly { readonly name: string; readonly summary: string }[];
  /** What it may be told; any option if absent, which none of the built-in ones is. */
  readonly options?: readonly TransformOption[];
  /** Ids of all obligations it may state, besides the common ones. */
  readonly obligationIds: readonly string[];
  /** Example for the catalogue: compiled, applied and compared by the tests. */
  readonly example: { readonly before: string; readonly after: string };
  /** False if the text of the function alone tells that `match` would find nothing: its facts are not worked out then. */
  mayMatch?(fn: FunctionDecl): boolean;
  match(context: TransformContext): readonly Site<S>[];
  obligations(site: Site<S>, context: TransformContext): readonly Obligation[];
  estimate(site: Site<S>, context: TransformContext): Estimate;
  /** Called only if all obligations are proved or assumed. */
  emit(site: Site<S>, context: TransformContext): Change;
  /** What is asked of the text that came out, beside what was asked of the site: a fault of the writer is refused like any other. */
  check?(site: Site<S>, change: Change, context: TransformContext): readonly Obligation[];
}

export type OutcomeStatus = 'applied' | 'refused' | 'skipped' | 'deferred';

/** What became of a site. */
export interface Outcome {
  readonly transform: string;
  readonly site: Site;
  readonly status: OutcomeStatus;
  readonly obligations: readonly Obligation[];
  readonly estimate: Estimate | null;
  /** Null unless legal. */
  readonly change: Change | null;
  /** One sentence for `skipped` and `deferred`. */
  readonly reason: string | null;
}

/** A grant the user can give or withdraw. */
export interface Grant {
  readonly name: string;
  readonly default: boolean;
  readonly summary: string;
}

export type { Edit, Span };
