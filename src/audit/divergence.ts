/**
 * How often a branch diverges, and where that figure comes from.
 *
 * In this order: a measurement or simulation handed in, `// divmod: p=0.03`, `--assume p@LINE=0.03`, exact lanes of a known block, the share of edge
 * warps of a guard, and else an assumption (half of the lanes, independently) that the finding names as such.
 */
import { annotationValue } from '../analysis/annotations.js';
import { boundaryShare, exactBoundary, independent, nominalExtent, ofLaneSet, WARP, type Edge, type Split } from '../analysis/divergence-cost.js';
import type { AnalysisOptions, BlockShape, BranchSite, Loop, Probabilities } from '../analysis/facts.js';
import { single } from '../analysis/integer-values.js';
import { argumentValues, gridFact, threadsOf } from '../analysis/launch-facts.js';
import { strip } from '../analysis/children.js';
import type { Classification, Guard } from './classify.js';
import type { Frame, Reach } from './frame.js';
import { sourcesOf } from './sources.js';
import type { BranchFinding } from './types.js';

export interface Divergence extends Split {
  readonly origin: BranchFinding['divergence']['origin'];
  /** How the rate was found, in words; for `boundary` a formula. */
  readonly how: string;
  /** For a guard with an assumed extent: the extent from which on fewer than 1/128 of the warps diverge; else null. */
  readonly enough: number | null;
}

export interface DivergenceInput {
  /** Where the branch stands, and how often it is reached. */
  readonly position: { readonly line: number; readonly column: number };
  readonly reach: Reach;
  readonly options: AnalysisOptions;
  readonly probabilities: Probabilities | null;
}

/** Blocks of unknown shape are taken to be these: the commonest shapes of one, two and three dimensions. */
const NOMINAL_1D: BlockShape = { x: 256, y: 1, z: 1 };
const NOMINAL_2D: BlockShape = { x: 16, y: 16, z: 1 };
const NOMINAL_3D: BlockShape = { x: 8, y: 8, z: 4 };

export function divergenceOf(site: BranchSite, found: Classification, frame: Frame, input: DivergenceInput): Divergence {
  const share = shareOf(site, found, frame, input);
  return { ...share, enough: share.enough ?? null };
}

type Share = Omit<Divergence, 'enough'> & { readonly enough?: number };

function shareOf(site: BranchSite, found: Classification, frame: Frame, input: DivergenceInput): Share {
  const { facts } = frame;
  const { source } = facts.unit;
  const { position } = input;
  const lanes = lanesOf(frame);
  const measured = input.probabilities?.branch(source.realPath, position.line, position.column, site.node) ?? null;
  if (measured !== null) {
    const share = independent(measured.p, lanes);
    return { ...share, rate: measured.rate, someTrue: Math.min(1, measured.p + measured.rate * (1 - measured.p)), someFalse: Math.min(1, 1 - measured.p + measured.rate * measured.p), origin: input.probabilities?.origin ?? 'measured', how: input.probabilities?.origin === 'simulated' ? 'simulated' : 'counted' };
  }
  const written = annotationValue(source, position.line, 'p');
  const stated = probability(written ?? null);
  if (stated !== null) return { ...independent(stated, lanes), origin: 'annotated', how: `p = ${stated} (annotation), lanes independent` };
  const option = probability(input.options.assume?.get(`p@${position.line}`) ?? null);
  if (option !== null) return { ...independent(option, lanes), origin: 'assumed', how: `p = ${option} (--assume), lanes independent` };
  switch (found.class) {
    case 'uniform': return uniform(site, found, frame);
    case 'boundary': return boundary(site, found.guards, frame, input);
    case 'geometry': return geometry(site, frame);
    case 'data': case 'unknown': return { ...independent(0.5, lanes), origin: 'assumed', how: 'half of the lanes, independently (assumed)' };
  }
}

function probability(text: string | null): number | null {
  if (text === null) return null;
  const value = text.trim().endsWith('%') ? Number(text.trim().slice(0, -1)) / 100 : Number(text);
  return Number.isFinite(value) && value >= 0 && value <= 1 ? value : null;
}

/** Live lanes of a warp: a block of fewer threads than a warp has no more. */
function lanesOf(frame: Frame): number {
  const shape = frame.facts.block.value;
  return shape === null ? WARP : Math.max(1, Math.min(WARP, threadsOf(shape)));
}

function uniform(site: BranchSite, found: Classification, frame: Frame): Share {
  const value = found.verdict.value === 'constant' ? frame.facts.constant(site.condition) : null;
  const p = value === null ? 0.5 : value === 0n ? 0 : 1;
  return { p, rate: 0, someTrue: p, someFalse: 1 - p, origin: value === null ? 'assumed' : 'computed', how: 'all lanes of a warp agree' };
}

function geometry(site: BranchSite, frame: Frame): Share {
  const { facts } = frame;
  const set = site.kind === 'switch' ? null : facts.laneSet(site.condition);
  if (set !== null) return { ...ofLaneSet(set), origin: 'computed', how: `exact lanes of a block of ${set.shape.x}×${set.shape.y}×${set.shape.z}` };
  if (facts.block.value === null && site.kind !== 'switch') {
    const assumed = facts.laneSetIn?.(site.condition, NOMINAL_1D) ?? null;
    if (assumed !== null) return { ...ofLaneSet(assumed), origin: 'assumed', how: 'exact lanes of an assumed block of 256×1×1' };
  }
  const one = onePosition(site, frame);
  if (one !== null) return one;
  if (isContiguous(site.condition)) {
    // `threadIdx.x < half`: a cut through the block leaves at most one warp with lanes on both sides.
    const warps = Math.max(1, Math.ceil((facts.block.value === null ? facts.block.maxThreads >= 256 ? 256 : facts.block.maxThreads : threadsOf(facts.block.value)) / WARP));
    const rate = 1 / warps;
    return { p: 0.5, rate, someTrue: 0.5 + rate / 2, someFalse: 0.5 + rate / 2, origin: 'assumed', how: 'one cut through the block, in the middle (assumed)' };
  }
  return { ...independent(0.5, lanesOf(frame)), origin: 'assumed', how: 'half of the lanes, independently (assumed)' };
}

/** `x == k`, `x != k` for an index along one axis: one position of a block, and of one block only if block positions enter. */
function onePosition(site: BranchSite, frame: Frame): Share | null {
  const expr = strip(site.condition);
  if (expr.kind !== 'binary' || (expr.op !== '==' && expr.op !== '!=')) return null;
  const left = sourcesOf(expr.left, frame);
  const right = sourcesOf(expr.right, frame);
  const index = left.thread.size > 0 ? left : right;
  const [axis, more] = [...index.thread];
  if ((left.thread.size > 0) === (right.thread.size > 0) || axis === undefined || more !== undefined) return null;
  const shape = frame.facts.block.value ?? nominalShape([{ axis, extent: null }]);
  const inBlock = boundaryShare(shape, [{ axis, extent: 1 }]).rate;
  const blocks = index.block ? Math.max(1, Math.ceil(nominalExtent(axis === 'x' ? 1 : 2) / shape[axis])) : 1;
  const hit = 1 / shape[axis] / blocks;
  const rate = inBlock / blocks;
  const some = Math.min(1, Math.max(hit, rate));
  const how = `one position along ${axis}${index.block ? ' of one block' : ''} (assumed)`;
  return expr.op === '==' ? { p: hit, rate, someTrue: some, someFalse: 1 - Math.max(0, hit - rate), origin: 'assumed', how } : { p: 1 - hit, rate, someTrue: 1 - Math.max(0, hit - rate), someFalse: some, origin: 'assumed', how };
}

function isContiguous(condition: BranchSite['condition']): boolean {
  const expr = strip(condition);
  return expr.kind === 'binary' && (expr.op === '<' || expr.op === '<=' || expr.op === '>' || expr.op === '>=');
}

/** Share of the warps that are cut at the edges of the work. */
function boundary(site: BranchSite, guards: readonly Guard[], frame: Frame, { options, reach }: DivergenceInput): Share {
  const edges = edgesOf(guards, frame, options);
  const shape = frame.facts.block.value ?? nominalShape(edges);
  const share = boundaryShare(shape, edges);
  const loop = isLoop(site.node) ? site.node : null;
  const inside = guards.every((guard) => guard.insideWhenTrue);
  const outside = guards.every((guard) => !guard.insideWhenTrue);
  let { rate } = share;
  let how = share.formula;
  if (loop !== null) {
    // Trip counts of lanes differ by one at most: the last test of one iteration in all divides the warps at the edge.
    const trips = Math.max(1, frame.facts.trips(loop).count);
    rate /= trips + 1;
    const p = trips / (trips + 1);
    return { p, rate, someTrue: Math.min(1, p + rate), someFalse: Math.min(1, 1 - p + rate), origin: share.assumed ? 'assumed' : 'computed', how: `${how}, once in ${trips + 1} tests` };
  }
  if (!reach.once) {
    // Only the iteration at the edge of the work can be cut.
    const trips = Math.max(1, reach.executions);
    rate = Math.min(1, cutShare(shape, edges) / trips);
    how = `at the edge ${rate.toFixed(4)} of the warps: the last of about ${trips} iterations`;
  }
  const exact = frame.facts.block.value !== null && reach.once && isExact(site.condition, guards, frame) ? exactBoundary(shape, edges) : null;
  if (exact !== null) {
    if (inside) return { ...exact, origin: 'computed', how };
    if (outside) return { p: 1 - exact.p, rate: exact.rate, someTrue: exact.someFalse, someFalse: exact.someTrue, origin: 'computed', how };
  }
  const enough = share.assumed && edges.every((edge) => edge.inBlock !== true) && reach.once ? Math.ceil(nominalExtent(edges.length) * rate * 128) : null;
  const p = inside ? 1 - rate / 2 : outside ? rate / 2 : 0.5;
  return { p, rate, someTrue: Math.min(1, p + rate / 2), someFalse: Math.min(1, 1 - p + rate / 2), origin: 'assumed', how, ...(enough === null ? {} : { enough }) };
}

/** Do the guards say all that the condition says, each about one axis, position by position? */
function isExact(condition: BranchSite['condition'], guards: readonly Guard[], frame: Frame): boolean {
  const axes = new Set(guards.flatMap((guard) => [...guard.sources.thread]));
  return axes.size === guards.length && comparisonsIn(condition, true) === guards.length && guards.every((guard) => guard.frame === frame && isPosition(guard, frame));
}

/** The number of comparisons that a condition is a plain conjunction of (or, turned round, a disjunction); infinite if it is something else. */
function comparisonsIn(condition: BranchSite['condition'], conjunction: boolean): number {
  const expr = strip(condition);
  if (expr.kind === 'unary' && expr.op === '!') return comparisonsIn(expr.operand, !conjunction);
  if (expr.kind !== 'binary') return Infinity;
  // Of mixed connectives the guards would point both ways: `inside` and `outside` are false then.
  if (expr.op === '&&' || expr.op === '||') return comparisonsIn(expr.left, conjunction) + comparisonsIn(expr.right, conjunction);
  return expr.op === '<' || expr.op === '<=' || expr.op === '>' || expr.op === '>=' ? 1 : Infinity;
}

/** Is the index the thread's position along its axis, in the block or in the grid, with no factor and no offset? */
function isPosition(guard: Guard, frame: Frame): boolean {
  const [axis] = guard.sources.thread;
  const form = frame.facts.affine(guard.index);
  const block = frame.facts.block.value;
  if (guard.lower || axis === undefined || guard.sources.thread.size !== 1 || form === null || block === null || form.terms.length !== (guard.sources.block ? 2 : 1)) return false;
  return form.terms.every(({ coefficient, atoms }) => {
    const expr = atoms.length === 1 && atoms[0] !== undefined ? strip(atoms[0].expr) : null;
    if (expr === null || expr.kind !== 'coordinate' || expr.axis !== axis) return false;
    return expr.base === 'threadIdx' ? coefficient === 1n : expr.base === 'blockIdx' && coefficient === BigInt(block[axis]);
  });
}

/** Share of the warps of one block that the end of the work cuts: a guard in a loop compares the loop's position, so every block gets there. */
function cutShare(shape: BlockShape, edges: readonly Edge[]): number {
  return boundaryShare(shape, edges.map((edge) => ({ axis: edge.axis, extent: Math.floor(shape[edge.axis] / 2) | 1 }))).rate;
}

function isLoop(node: BranchSite['node']): node is Loop {
  return node.kind === 'for' || node.kind === 'while' || node.kind === 'do' || node.kind === 'range-for';
}

function nominalShape(edges: readonly Edge[]): BlockShape {
  const axes = new Set(edges.map((edge) => edge.axis));
  return axes.has('z') ? NOMINAL_3D : axes.has('y') ? NOMINAL_2D : NOMINAL_1D;
}

/** One edge for each axis that a guard's index runs along, with the extent where launches or the grid tell it. */
function edgesOf(guards: readonly Guard[], frame: Frame, options: AnalysisOptions): readonly Edge[] {
  const edges = new Map<'x' | 'y' | 'z', Edge>();
  const { kernel } = frame.facts.context;
  const block = frame.facts.block.value;
  const grid = kernel === null ? null : gridFact(kernel, frame.facts.program, options).value;
  for (const guard of guards) {
    for (const axis of guard.sources.thread) {
      const written = extentOf(guard, frame);
      let extent = written === null ? null : written + (guard.inclusive ? 1 : 0);
      // One axis alone: a linear index over the whole grid.
      if (extent !== null && block !== null && grid !== null && guard.sources.block && guard.sources.thread.size === 1) extent = Math.min(extent, block[axis] * grid[axis]);
      if (!edges.has(axis)) edges.set(axis, { axis, extent, blocks: grid?.[axis] ?? null, inBlock: !guard.sources.block });
    }
  }
  return [...edges.values()];
}

function extentOf(guard: Guard, frame: Frame): number | null {
  const constant = guard.frame.facts.constant(guard.extent);
  if (constant !== null) return constant > 0n && constant < 1n << 40n ? Number(constant) : null;
  const expr = strip(guard.extent);
  const { kernel } = frame.facts.context;
  if (kernel === null || expr.kind !== 'ref' || expr.decl === null || expr.decl.kind !== 'parameter') return null;
  const value = single(argumentValues(kernel, expr.decl, frame.facts.program));
  return value !== null && value > 0n ? Number(value) : null;
}
