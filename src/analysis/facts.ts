/**
 * What the analyses offer to everything to their right: facts with their origin.
 *
 * The rules behind each verdict are in docs/semantics.md; the files beside this one implement them. All queries are lazy and cached
 * by node identity. A query never throws on code that was not understood: it answers *unknown*, which is never uniform, pure or safe.
 */
import type { FileSpan } from '../source/types.js';
import type {
  CallExpr, Decl, Expr, ForStmt, DoStmt, WhileStmt, RangeForStmt, FunctionDecl, IntType, Launch, Program, RefExpr, Space, Stmt, Unit,
  VariableDecl, ParameterDecl,
} from '../syntax/tree.js';

export type Loop = ForStmt | WhileStmt | DoStmt | RangeForStmt;
export type Variable = VariableDecl | ParameterDecl;

/** The widest group of threads that surely hold one value; ordered from widest to narrowest. */
export type Scope = 'constant' | 'grid' | 'block' | 'warp' | 'lane';

export const SCOPES: readonly Scope[] = ['constant', 'grid', 'block', 'warp', 'lane'];

/** The narrower of two scopes: the scope of a value that depends on both. */
export function joinScope(a: Scope, b: Scope): Scope {
  return SCOPES.indexOf(a) >= SCOPES.indexOf(b) ? a : b;
}

/** True if every group of scope `wanted` agrees on a value of scope `have`. */
export function atLeast(have: Scope, wanted: Scope): boolean {
  return SCOPES.indexOf(have) <= SCOPES.indexOf(wanted);
}

/** One step of a chain: what holds at a line. */
export interface Reason {
  /** Real path. */
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** A verdict with its chain of reasons, the assumptions it rests on, and the text whose change would make it stale. */
export interface Fact<T> {
  readonly value: T;
  /** Outermost first: the verdict's own line, then what it follows from. May be computed when first read. */
  readonly because: readonly Reason[];
  /** Assumptions in words that a grant or an option can discharge: `blockDim.x % 32 == 0`, `no other launches`. */
  readonly under: readonly string[];
  readonly reads: readonly FileSpan[];
}

/** Uniformity of a value or of the set of threads that arrive at a place. */
export interface Verdict extends Fact<Scope> {
  /** False: something was not understood; `value` is then `lane`. */
  readonly known: boolean;
  /** What was not understood, in words; null if `known`. */
  readonly unknown: string | null;
  /** Where lane variation comes from; all false for a uniform value. */
  readonly sources: {
    /** Thread coordinates. */
    readonly geometry: boolean;
    /** Loaded lane-varying values, results of atomics, clocks. */
    readonly data: boolean;
  };
}

/** Threads of a block, x fastest. */
export interface BlockShape {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

export interface BlockFact extends Fact<BlockShape | null> {
  /** Set when every launch seen has one shape. */
  readonly value: BlockShape | null;
  /** All shapes seen when they differ. */
  readonly alternatives: readonly BlockShape[];
  /** An upper bound on the number of threads (`__launch_bounds__`, else 1,024). */
  readonly maxThreads: number;
  /** What is known of the dimensions even if the shape is not: `y` and `z` are 1, `x` is a multiple of 32 (in a HIP source of 64: of the lanes of every warp), … */
  readonly xMultipleOf32: boolean;
  readonly oneDimensional: boolean;
  readonly origin: 'launch' | 'option' | 'annotation' | 'block-size' | 'launch-bounds' | 'unknown';
  /** `--block` or an annotation says something else than a launch that is seen, in one sentence: the shape holds for both, or for none. */
  readonly contradiction?: string;
}

/** A product of atoms; the empty product is the constant term. */
export interface Monomial {
  readonly coefficient: bigint;
  readonly atoms: readonly Atom[];
}

/** What an affine form treats as a symbol. */
export interface Atom {
  /** Equal keys mean equal values at the place the form was asked for. */
  readonly key: string;
  readonly scope: Scope;
  /** The coordinate, the variable, or the expression it stands for. */
  readonly expr: Expr;
  readonly decl: Decl | null;
}

/**
 * A value as a polynomial over atoms with exact integer coefficients, in mathematical integers.
 * `wraps` tells how far that is the C++ value: `never` (ranges exclude it, or signed arithmetic, where overflow is undefined),
 * `possible` (unsigned arithmetic or a conversion may wrap, in 32 bits or more; what may wrap in fewer bits has no form).
 */
export interface Affine {
  readonly terms: readonly Monomial[];
  readonly type: IntType;
  readonly wraps: 'never' | 'possible';
}

/** Inclusive bounds; null is unbounded. */
export interface Range { readonly low: bigint | null; readonly high: bigint | null }

export interface MemoryAccess {
  /** The lvalue (or the call) that accesses memory. */
  readonly node: Expr;
  readonly kind: 'read' | 'write' | 'atomic';
  readonly space: Space | 'unknown';
  /** The named object or pointer it goes through; null if not known. */
  readonly base: Decl | null;
  readonly volatile: boolean;
  /** The call through which it happens; null if in the region's own text. */
  readonly through: CallExpr | null;
}

/** Everything a region may do besides computing values. Callees are included. */
export interface Effects {
  readonly accesses: readonly MemoryAccess[];
  /** Automatic variables (parameters included) that the region may assign, also by reference or address. */
  readonly assigns: ReadonlySet<Variable>;
  readonly uses: ReadonlySet<Variable>;
  readonly barriers: readonly CallExpr[];
  readonly collectives: readonly CallExpr[];
  readonly fences: readonly CallExpr[];
  readonly atomics: readonly CallExpr[];
  readonly unknownCalls: readonly Expr[];
  /** Output (`printf`), traps, `assert`, clocks: effects that may not be repeated, dropped or moved. */
  readonly visible: readonly Expr[];
  /** `return`, `goto`, and `break`/`continue` that leave the region. */
  readonly exits: readonly Stmt[];
  readonly asm: readonly Stmt[];
  readonly opaque: readonly (Stmt | Expr)[];
  /** Operations that may fault or be undefined for some operand values: loads and stores through pointers, integer division, shifts by unknown amounts. */
  readonly faults: readonly Expr[];
}

/** Issued warp-instructions of a warp that enters, by a static model unless a better provider is there. */
export interface Cost {
  readonly instructions: number;
  /** True if some trip count inside was a stated default. */
  readonly assumedTrips: boolean;
  /** True if the compiler will most likely predicate it (about 7 operations, no calls, no loops). */
  readonly predicated: boolean;
  readonly provider: CostProviderName;
}

export type CostProviderName = 'static' | 'ptx' | 'sass' | 'profile';

/** A place where a variable gets a value. */
export type Definition =
  | { readonly kind: 'parameter'; readonly decl: ParameterDecl }
  | { readonly kind: 'declaration'; readonly decl: VariableDecl }
  | { readonly kind: 'assignment'; readonly decl: Variable; readonly node: Expr }
  /** May be written through a reference, an address, an unknown call or opaque text. */
  | { readonly kind: 'unknown'; readonly decl: Variable; readonly node: Expr | Stmt };

/** Which threads satisfy a condition, thread by thread in linear order, for a known block shape. */
export interface LaneSet {
  readonly shape: BlockShape;
  /** 1 where the condition holds; index is x + y*X + z*X*Y. */
  readonly holds: Uint8Array;
  /** Warps (of 32 consecutive linear threads, of 64 in a HIP source) in which lanes disagree. */
  readonly divergentWarps: number;
  readonly warps: number;
}

/** How a device function was reached. */
export interface Context {
  readonly kernel: FunctionDecl | null;
  /** The calls from the kernel to the function, outermost first. */
  readonly path: readonly { readonly caller: FunctionDecl; readonly call: CallExpr }[];
  /**
   * `path`: facts hold for this call path (verdicts). `all`: facts are the join over all visible call paths, unknown if there
   * may be others (edits inside the function).
   */
  readonly mode: 'path' | 'all';
}

/** One branch condition of a function, in the order of the text. */
export interface BranchSite {
  readonly kind: 'if' | 'switch' | 'ternary' | 'and' | 'or' | 'for' | 'while' | 'do';
  readonly node: Stmt | Expr;
  readonly condition: Expr;
  /** Jumps under the condition that leave an enclosing construct for some threads. */
  readonly exits: readonly ('return' | 'break' | 'continue')[];
}

/** Facts about one function body in one context. */
export interface FunctionFacts {
  readonly program: Program;
  readonly unit: Unit;
  readonly function: FunctionDecl;
  readonly context: Context;
  readonly block: BlockFact;
  readonly launches: readonly Launch[];

  readonly branches: readonly BranchSite[];
  /** Calls to visible device functions, with facts of the callee in this context. */
  readonly calls: readonly { readonly call: CallExpr; readonly callees: readonly FunctionDecl[] }[];
  callee(call: CallExpr, callee: FunctionDecl): FunctionFacts;

  /** Scope of the value of an expression where it stands, control (joins, temporal divergence) included. */
  scope(expr: Expr): Verdict;
  /** Scope of arrival: the join of all conditions (loop exits, earlier divergent jumps included) that decide whether a thread reaches the node. */
  arrival(node: Stmt | Expr): Verdict;

  /**
   * What decides in which iteration threads leave a loop: its condition, and everything that decides about `break`, `return` inside. A loop's
   * condition can be one value for the threads that test it together while this one differs between lanes.
   */
  loopExit(loop: Loop): Verdict;

  /** Integer constant value, if it has one. */
  constant(expr: Expr): bigint | null;
  affine(expr: Expr): Affine | null;
  /** Range of an integer expression where it stands. */
  range(expr: Expr): Range;
  /** Exact lanes for which a condition holds; null if the shape is unknown or it depends on more than coordinates and constants. */
  laneSet(condition: Expr): LaneSet | null;
  /** The same for a block shape that is only assumed: for estimates, never for proofs. */
  laneSetIn?(condition: Expr, shape: BlockShape): LaneSet | null;

  /** Definitions that reach this use. */
  definitions(use: RefExpr): readonly Definition[];
  /** Every place inside `within` that may assign the variable. */
  assignments(decl: Variable, within: Stmt | Expr): readonly Definition[];
  uses(decl: Variable): readonly RefExpr[];
  /** True if the address of the variable is taken or a reference to it is made anywhere in the function. */
  addressTaken(decl: Variable): boolean;
  /** True if the variable may be read after `stmt` before it is written again. */
  liveAfter(decl: Variable, stmt: Stmt): boolean;

  effects(node: Stmt | Expr): Effects;
  /** May the two accesses touch one byte (for different threads too)? */
  mayAlias(a: MemoryAccess, b: MemoryAccess): boolean;
  /** Does the expression have one value all the while `within` runs (operands not assigned, loads stable by R1 or nothing in it interferes)? */
  invariant(expr: Expr, within: Stmt): Fact<boolean>;

  cost(node: Stmt | Expr): Cost;
  /** Trip count of a loop: constant, annotated, or the stated default. */
  trips(loop: Loop): { readonly count: number; readonly origin: 'constant' | 'annotation' | 'assumed' };
  /** What is said of a line under `key` (`p`, the share of threads for which its condition holds): `// divmod: p=…`, else `--assume p@LINE=…`. */
  stated?(key: string, line: number): { readonly text: string; readonly origin: 'annotation' | '--assume' } | null;

  parent(node: Stmt | Expr): Stmt | Expr | null;
  /** Enclosing loops, innermost first. */
  loops(node: Stmt | Expr): readonly Loop[];
}

/** Options that change verdicts; each is named in `under` of the facts it touches. */
export interface AnalysisOptions {
  /** What somebody says of all kernels: launches that are seen are held against it. */
  readonly block?: BlockShape;
  /** `block` is one of several shapes that are tried one after the other: launches of another shape have their own turn. */
  readonly supposed?: true;
  readonly grid?: BlockShape;
  /** `p@LINE`, `trip@LINE`, … from `--assume`. */
  readonly assume?: ReadonlyMap<string, string>;
  readonly arch?: string;
  /** Default trip count of a loop whose bound is not known. */
  readonly defaultTrips?: number;
  /**
   * Take a load for one value wherever its address is one, even if it could not be shown that nothing writes the memory meanwhile, and a shuffle for one value
   * wherever its source is one lane, even if that lane may be missing. Used to tell sure hazards from possible ones; never for a proof.
   */
  readonly trustSharedLoads?: boolean;
}

/** Entry point of the room; see analyse.ts. */
export interface Analysis {
  readonly program: Program;
  /** Facts of a kernel as launched. */
  kernel(kernel: FunctionDecl): FunctionFacts;
  /** Facts of a device function joined over all visible call paths, for edits inside it. */
  everyCall(fn: FunctionDecl): FunctionFacts;
}

/** Chance that a branch is taken, from outside: simulator, profile, annotation. */
export interface Probabilities {
  readonly origin: 'measured' | 'simulated';
  /**
   * Share of threads for which the condition holds and share of warps that disagree; null if not known. `node` is the branch itself, for
   * providers that know the tree: `a && b || c` holds two branches that begin at one place.
   */
  branch(file: string, line: number, column: number, node?: object): { readonly p: number; readonly rate: number } | null;
}

/** Issued instructions from outside: disassembly, profile. */
export interface Costs {
  readonly provider: CostProviderName;
  lines(file: string, fromLine: number, toLine: number): number | null;
}
