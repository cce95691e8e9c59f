/**
 * ballot: a warp votes once, and takes a path without the guards if none of its lanes needs them.
 *
 * before:
 *
 *     __global__ void smooth(const float *x, float *y, int n, int r) {
 *         int i = blockIdx.x * blockDim.x + threadIdx.x;
 *         float sum = 0.f;
 *         for (int d = -r; d <= r; ++d) {
 *             int j = i + d;
 *             if (j >= 0 && j < n) sum += x[j];
 *         }
 *         if (i < n) y[i] = sum;
 *     }
 *
 * after:
 *
 *     __global__ void smooth(const float *x, float *y, int n, int r) {
 *         int i = blockIdx.x * blockDim.x + threadIdx.x;
 *         float sum = 0.f;
 *         if (__all_sync(0xffffffff, i >= r && (long long)i + r < n)) {
 *             for (int d = -r; d <= r; ++d) {
 *                 int j = i + d;
 *                 sum += x[j];
 *             }
 *         } else {
 *             for (int d = -r; d <= r; ++d) {
 *                 int j = i + d;
 *                 if (j >= 0 && j < n) sum += x[j];
 *             }
 *         }
 *         if (i < n) y[i] = sum;
 *     }
 *
 * Treated means: a warp whose lanes all lie inside runs without the comparisons.
 */
import { walk } from '../src/analysis/children.js';
import { unreachable, type Expr, type Stmt } from '../src/syntax/tree.js';
import { branchObligations, branchPlans, estimateBranch, writeBranch, type BranchPlan } from './ballot/branch.js';
import { estimateVersioned } from './ballot/estimate.js';
import { problemObligations, versionedObligations } from './ballot/legal.js';
import { loopsIn, versionedPlan, type VersionedPlan, type VersionedProblem } from './ballot/versioned.js';
import { writeVersioned } from './ballot/write.js';
import { excerpt } from './lib/obligation.js';
import type { Site, Transform, TransformContext } from './lib/types.js';

export type BallotShape = VersionedPlan | VersionedProblem | BranchPlan;

function branchSite(context: TransformContext, shape: BranchPlan): Site<BallotShape> {
  const { source } = context.unit;
  const { branch, kind } = shape;
  const said = excerpt(source, branch.condition);
  return {
    function: context.facts.function, node: branch, branch, line: source.line(branch.span.start), shape,
    summary: kind === 'skip' ? `a vote passes by what ${said} asks for if no lane does` : `a vote tells none, all and mixed apart for ${said}`,
  };
}

function siteOf(context: TransformContext, shape: VersionedPlan | VersionedProblem): Site<BallotShape> {
  const { source } = context.unit;
  const guards = shape.kind === 'problem' ? [shape.guard] : shape.guards;
  const [first] = guards;
  const lines = [...new Set(guards.map((guard) => source.line(guard.comparison.span.start)))];
  const named = guards.map((guard) => excerpt(source, guard.comparison)).slice(0, 3).join(', ');
  const line = source.line(shape.loop.span.start);
  return {
    function: context.facts.function, node: shape.loop, branch: first?.owner.kind === 'if' || first?.owner.kind === 'ternary' ? first.owner.node : first?.comparison ?? shape.loop,
    line, alsoLines: lines, summary: `a vote decides ${named} for the loop of line ${line}`, shape,
  };
}

/** Nests by the number of guards that one vote decides, outer ones first; a guard belongs to one nest. */
function versionedShapes(context: TransformContext): readonly (VersionedPlan | VersionedProblem)[] {
  const { body } = context.facts.function;
  if (body === null) return [];
  const found = loopsIn(body).map((loop) => versionedPlan(context, loop)).filter((shape) => shape !== null);
  const plans = found.filter((shape) => shape.kind === 'versioned').sort((a, b) => b.guards.length - a.guards.length);
  const claimed = new Set<Expr>();
  const shapes: (VersionedPlan | VersionedProblem)[] = [];
  for (const plan of plans) {
    if (plan.guards.some((guard) => claimed.has(guard.comparison))) continue;
    for (const guard of plan.guards) claimed.add(guard.comparison);
    shapes.push(plan);
  }
  for (const shape of found) {
    if (shape.kind !== 'problem' || claimed.has(shape.guard.comparison)) continue;
    claimed.add(shape.guard.comparison);
    shapes.push(shape);
  }
  return shapes;
}

/** A branch stands in the function, or a condition in one of its values. */
function decides(body: Stmt): boolean {
  let found = false;
  walk(body, (node) => {
    found ||= node.kind === 'if' || node.kind === 'conditional' || (node.kind === 'binary' && (node.op === '&&' || node.op === '||'));
    return !found;
  });
  return found;
}

export const ballot: Transform<BallotShape> = {
  name: 'ballot',
  summary: 'vote once per warp whether the guards of a loop nest hold for all its iterations, and run it without them',
  variants: [
    { name: 'versioned', summary: 'a nest without guards for warps inside all edges, the original for the others (default)' },
    { name: 'skip', summary: 'a branch is passed by if no lane of the warp takes it; the hardware does that itself, so it is applied only with --even-if-it-loses' },
    { name: 'three-way', summary: 'none, all and mixed told apart; never pays by itself, so it is applied only with --even-if-it-loses' },
  ],
  options: [],
  obligationIds: ['arrival-set-known', 'exits-warp-uniform', 'mask-names-arriving-lanes', 'condition-pure', 'condition-varies', 'guard-implied', 'constants-open', 'nest-together', 'no-lane-waits', 'code-growth'],
  example: {
    before: `__global__ void smooth(const float *x, float *y, int n, int r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.f;
    for (int d = -r; d <= r; ++d) {
        int j = i + d;
        if (j >= 0 && j < n) sum += x[j];
    }
    if (i < n) y[i] = sum;
}
`,
    after: `__global__ void smooth(const float *x, float *y, int n, int r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.f;
    if (__all_sync(0xffffffff, i >= r && (long long)i + r < n)) {
        for (int d = -r; d <= r; ++d) {
            int j = i + d;
            sum += x[j];
        }
    } else {
        for (int d = -r; d <= r; ++d) {
            int j = i + d;
            if (j >= 0 && j < n) sum += x[j];
        }
    }
    if (i < n) y[i] = sum;
}
`,
  },

  mayMatch: (fn) => fn.body !== null && decides(fn.body),

  match(context: TransformContext): readonly Site<BallotShape>[] {
    const { function: fn } = context.facts;
    if (fn.body === null || !(fn.qualifiers.global || fn.qualifiers.device)) return [];
    if (context.variant === 'skip' || context.variant === 'three-way') return branchPlans(context, context.variant).map((plan) => branchSite(context, plan));
    return versionedShapes(context).map((shape) => siteOf(context, shape));
  },

  obligations({ shape }, context) {
    switch (shape.kind) {
      case 'problem': return problemObligations(context, shape);
      case 'versioned': return versionedObligations(context, shape);
      case 'skip': case 'three-way': return branchObligations(context, shape);
      default: return unreachable(shape);
    }
  },

  estimate({ shape }, context) {
    switch (shape.kind) {
      case 'problem': throw new Error('internal: a guard that nothing implies has no estimate');
      case 'versioned': return estimateVersioned(context, shape);
      case 'skip': case 'three-way': return estimateBranch(context, shape);
      default: return unreachable(shape);
    }
  },

  emit({ shape }, context) {
    switch (shape.kind) {
      case 'problem': return { edits: [], reads: [] };
      case 'versioned': return writeVersioned(context, shape);
      case 'skip': case 'three-way': return writeBranch(context, shape);
      default: return unreachable(shape);
    }
  },
};
