/**
 * The obligations of a split, each with what was found.
 */
import { functionsReached } from '../../src/analysis/call-sites.js';
import { walk } from '../../src/analysis/children.js';
import { asksFor } from '../../src/analysis/coordinate-reads.js';
import type { Expr, Stmt } from '../../src/syntax/tree.js';
import { contractionStable, copyHazards, excerpt, lineOf, noDirectiveAcross, noGoto, notInMacro, proved, refuted, unknown } from '../lib/common-obligations.js';
import { rewritable, writePlanText, type PlanWriting } from '../lib/launch-edits.js';
import { keepsOriginal, launchObligations, launchSites, type KernelSites } from '../lib/launch-sites.js';
import type { Obligation, TransformContext } from '../lib/types.js';
import type { Axis, LaunchCondition } from './condition.js';
import { decider } from './decide.js';
import { decisionsOf } from './decided.js';
import { coordinatesIn, divide, type Division } from './emit.js';
import { divideFrame } from './frame.js';
import type { NotOnHost } from './host-text.js';
import { dependenceOf } from './populations.js';
import { outside, type SplitBranch } from './shape.js';
import { versionsIn } from './versions.js';

/** A branch with all that follows from it. */
export interface SplitShape {
  readonly branch: SplitBranch;
  readonly condition: LaunchCondition;
  readonly obligations: readonly Obligation[];
  /** Null if the condition is not known at launch, or the kernel has no launch to rewrite. */
  readonly written: { readonly division: Division; readonly found: KernelSites; readonly writing: PlanWriting } | null;
}

const REMEDIES: Readonly<Record<NotOnHost['sort'], string>> = {
  data: 'a test of data is for compact, which gathers the items that pass it',
  thread: 'test the number of the block, or a parameter of the kernel, in the place of a thread’s own value',
  block: 'give the blocks of one role neighbouring numbers: blockIdx.x < n',
  edge: 'compare one coordinate at a time, blockIdx.x * blockDim.x + threadIdx.x plus or minus what the launch passes, and join the comparisons with && (for the border with ||)',
  'compile-time': 'the compiler makes a kernel of its own for each value; nothing is left to split',
  changes: 'keep the value in a const variable that is set once, from parameters of the kernel',
  arithmetic: 'compute it on the host and pass the result as a parameter',
  type: 'compare numbers, or fields of a struct that is passed by value',
  unknown: 'compute it on the host and pass the result as a parameter',
};

export function splitShape(context: TransformContext, branch: SplitBranch, condition: LaunchCondition): SplitShape {
  const { facts } = context;
  const { stmt } = branch;
  const line = lineOf(context, stmt);
  const found = launchSites(context);
  const launches = [...linkage(context), ...launchObligations(context, found)];
  if (condition.kind === 'not-known') return { branch, condition, obligations: [...launches, notKnown(context, condition.problem)], written: null };

  const body = facts.function.body;
  const obligations: Obligation[] = [
    noGoto(context),
    ...(body === null ? [] : [noDirectiveAcross(context, body.span)]),
    notInMacro(context, [stmt]),
    copies(context),
    alreadyDone(context, branch, condition),
    proved('condition-known-at-launch', line, knownBy(condition)),
    populations(context, branch, condition),
    gridExact(context, branch, condition),
    ...launches,
    contractionStable(context, body !== null && decidesMore(context, branch, condition) ? body : stmt),
  ];
  if (body === null || found.sites.length === 0 || obligations.some((o) => o.status === 'refuted' || o.status === 'unknown')) return { branch, condition, obligations, written: null };
  const division = condition.kind === 'interior' ? divideFrame(context, branch, condition) : divide(context, branch, condition);
  const writing = writePlanText(context, found, division.plan, {
    kernels: [division.then.kernel, division.else.kernel], keepOriginal: keepsOriginal(context, found), ...(condition.kind === 'choice' ? { decide: decider(facts, stmt.condition, division.plan) } : {}),
  });
  return {
    branch, condition, written: { division, found, writing },
    obligations: [...obligations, rewritable(context, found, writing), proved('names-free', line, `${division.names.join(', ')} stand nowhere in the files`)],
  };
}

/** Other branches go too, because they ask what this one asks. */
function decidesMore(context: TransformContext, branch: SplitBranch, condition: LaunchCondition): boolean {
  return decisionsOf(context, branch, condition, 'then').size > 0 || decisionsOf(context, branch, condition, 'else').size > 0;
}

type Known = Exclude<LaunchCondition, { kind: 'not-known' }>;

function knownBy(condition: Known): string {
  switch (condition.kind) {
    case 'choice': return 'the condition is made of what the host passes, and has one value for the grid';
    case 'role': return `the condition divides the blocks by blockIdx.${condition.axis}: neighbouring blocks take the same arm`;
    case 'interior': return `the condition ${condition.thenInside ? 'holds' : 'does not hold'} in a rectangle along ${condition.axes.map((box) => box.axis).reverse().join(' and ')}: for the blocks that lie in it whole, the host knows`;
    default: {
      const never: never = condition;
      return never;
    }
  }
}

function notKnown(context: TransformContext, problem: NotOnHost): Obligation {
  const text = `${excerpt(context.unit.source, problem.expr)}: ${problem.why}`;
  const known = problem.sort !== 'unknown' && problem.sort !== 'type';
  return (known ? refuted : unknown)('condition-known-at-launch', lineOf(context, problem.expr), text, REMEDIES[problem.sort]);
}

/** What makes the kernel's name more than a name. */
function linkage(context: TransformContext): readonly Obligation[] {
  const { function: fn } = context.facts;
  const line = lineOf(context, { start: fn.nameSpan.start, end: fn.nameSpan.end });
  if (launchSites(context).externC) {
    return [refuted('all-launches-visible', line, `${fn.name} is extern "C": it can be found by its name at run time`, 'take extern "C" away if no module loader asks for it')];
  }
  if (fn.specialises !== null) return [refuted('all-launches-visible', line, `${fn.name} is a specialisation: a launch may mean the general kernel`, 'split the general kernel')];
  return [];
}

/** In the rest of an index space the test stays, and what peel has written is known by it. */
function alreadyDone(context: TransformContext, { stmt }: SplitBranch, condition: Known): Obligation {
  const versions = condition.kind === 'interior' ? null : versionsIn(context.facts, stmt);
  const line = lineOf(context, stmt);
  if (versions === null) return proved('already-done', line, 'the arms are no two versions of one loop');
  return refuted('already-done', line, `the loop of line ${lineOf(context, versions.interior)} does the work of that of line ${lineOf(context, versions.whole)} without guards, and the host knows which of the two runs: a kernel of the other one alone would be peeled afresh`, 'nothing is to be done here; to have two kernels, write them by hand');
}

/** Two kernels in the place of one: what may not exist twice. */
function copies(context: TransformContext): Obligation {
  const { body } = context.facts.function;
  const line = lineOf(context, context.facts.function);
  if (body === null) return unknown('copy-safe', line, 'the kernel has no body');
  // Shared arrays belong to a block, and each block runs one of the kernels.
  const hazard = copyHazards([body]).find((found) => found.movable === null && !(found.node.kind === 'declare' && found.node.variables.every((variable) => variable.storage !== 'static' || variable.space === 'shared')) && found.node.kind !== 'asm');
  if (hazard === undefined) return proved('copy-safe', line, 'the text around the branch may stand in two kernels');
  return (hazard.node.kind === 'opaque' ? unknown : refuted)('copy-safe', lineOf(context, hazard.node), hazard.text, hazard.node.kind === 'declare' ? 'pass it as a parameter' : 'take it out of the kernel, or write it in another form');
}

function populations(context: TransformContext, branch: SplitBranch, condition: Known): Obligation {
  const { facts } = context;
  const line = lineOf(context, branch.stmt);
  const id = 'populations-independent';
  if (condition.kind === 'choice') return proved(id, line, 'one of the two kernels runs, with all blocks of the launch');
  const arms = armsOf(context, branch);
  const dependence = condition.kind === 'role'
    ? dependenceOf(facts, arms, condition.axis)
    // The border's kernel has both arms. That each thread has an element of its own is shown along x only.
    : dependenceOf(facts, [condition.thenInside ? arms[0] : arms[1], [...arms[0], ...arms[1]]], condition.axes[0]?.axis ?? 'x');
  if (dependence !== null) return (dependence.known ? refuted : unknown)(id, lineOf(context, dependence.node), dependence.text, dependence.remedy);
  if (condition.kind === 'interior') return proved(id, line, 'no block waits for another, counts others or reads what others write: to run the interior first is one of the orders that the original allows');
  return proved(id, line, 'no block waits for another, counts others or reads what the other arm writes: to run the first blocks first is one of the orders that the original allows');
}

/** What each population runs: its arm, and what stands around the branch. */
function armsOf(context: TransformContext, branch: SplitBranch): readonly [readonly (Stmt | Expr)[], readonly (Stmt | Expr)[]] {
  const { stmt, form } = branch;
  const around = outside(context.facts.function, branch);
  if (form === 'return') return [[stmt.then, ...around.filter((other) => other.span.start < stmt.span.start)], around];
  return [[stmt.then, ...around], [...(stmt.else === null ? [] : [stmt.else]), ...around]];
}

/** A node that asks for the block's number or the number of blocks, and does not say `blockIdx` or `gridDim`, which can be written anew; null if there is none. */
function blockAskedFor(body: Stmt): { readonly node: Stmt | Expr; readonly name: string; readonly instead: string | null } | null {
  let found: { readonly node: Stmt | Expr; readonly name: string; readonly instead: string | null } | null = null;
  walk(body, (node) => {
    const asked = found === null && node.kind !== 'coordinate' ? asksFor(node, 'block', 'blocks', 'machine') : null;
    if (asked !== null) found = { node, name: asked.name, instead: asked.instead };
    return found === null;
  });
  return found;
}

/** One block of its own: of an empty grid nothing is launched at all. */
function isFixedPart(first: string): boolean {
  return /^\d+$/.test(first) || /^gridDim\.[xyz] - 1$/.test(first);
}

function gridExact(context: TransformContext, branch: SplitBranch, condition: Known): Obligation {
  const { facts, unit } = context;
  const line = lineOf(context, branch.stmt);
  const id = 'grid-exact';
  if (condition.kind === 'choice') return proved(id, line, 'each kernel is launched with the grid of the original');
  const axes: readonly Axis[] = condition.kind === 'role' ? [condition.axis] : condition.axes.map((box) => box.axis);
  const bounds = facts.function.bounds.find((entry) => /cluster/.test(entry.name));
  if (bounds !== undefined) return refuted(id, line, 'blocks are launched in clusters, which a part of the grid may cut', 'take __cluster_dims__ away');
  const { body } = facts.function;
  for (const coordinate of body === null ? [] : coordinatesIn([body])) {
    const what = excerpt(unit.source, coordinate);
    if (coordinate.axis === null) return unknown(id, lineOf(context, coordinate), `${coordinate.base} is used as a whole`, `use ${coordinate.base}.${axes[0] ?? 'x'}`);
    const { axis } = coordinate;
    if (!axes.includes(axis)) continue;
    for (let at = facts.parent(coordinate); at !== null; at = facts.parent(at)) {
      if (at.kind === 'macro' || at.kind === 'macro-statement') return refuted(id, lineOf(context, at), `${at.name} hides ${coordinate.base}.${axis}, which counts from another block in one of the kernels`, `expand ${at.name} by hand`);
      if (at.kind === 'lambda') return unknown(id, lineOf(context, coordinate), `${what} is used in a lambda`, 'pass it to the lambda');
    }
  }
  const own = body === null ? null : blockAskedFor(body);
  if (own !== null) return refuted(id, lineOf(context, own.node), `${own.name} asks for the place of the block in the grid, which counts from another block in one of the kernels`, own.instead === null ? 'take it out of the kernel' : `use ${own.instead}`);
  for (const [fn, code] of body === null ? [] : functionsReached([body], facts.program)) {
    const [hidden] = coordinatesIn([code]).filter((coordinate) => coordinate.axis === null || axes.includes(coordinate.axis));
    if (hidden !== undefined) return refuted(id, line, `${fn.name} uses ${hidden.base}, which counts from another block in one of the kernels`, `pass ${hidden.base}.${hidden.axis ?? axes[0] ?? 'x'} to ${fn.name}`);
    const asked = blockAskedFor(code);
    if (asked !== null) {
      return refuted(id, line, `${fn.name} asks by ${asked.name} for the place of the block in the grid, which counts from another block in one of the kernels`,
        asked.instead === null ? 'take it out of the kernel' : `use ${asked.instead} in ${facts.function.name}, and pass it to ${fn.name}`);
    }
  }
  if (condition.kind === 'interior') return proved(id, line, 'the host counts the blocks inside in 64 bits; the launches of the border cover the others, each once; a launch of no blocks is left out, but for that of an empty grid, which is the error that it was');
  return proved(id, line, `the grids add up to the original's, and the second kernel counts its blocks from where the first ends; a launch of no blocks is left out${isFixedPart(condition.first) ? ', for an empty grid both are (the original reports an invalid configuration there)' : ', but for that of an empty grid, which is the error that it was'}`);
}
