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
import type { Expr } from '../src/syntax/tree.js';
import { estimateVersioned } from './ballot/estimate.js';
import { problemObligations, versionedObligations } from './ballot/legal.js';
import { loopsIn, versionedPlan, type VersionedPlan, type VersionedProblem } from './ballot/versioned.js';
import { writeVersioned } from './ballot/write.js';
import { excerpt } from './lib/obligation.js';
import type { Site, Transform, TransformContext } from './lib/types.js';

export type BallotShape = VersionedPlan | VersionedProblem;

function siteOf(context: TransformContext, shape: BallotShape): Site<BallotShape> {
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
function versionedShapes(context: TransformContext): readonly BallotShape[] {
  const { body } = context.facts.function;
  if (body === null) return [];
  const found = loopsIn(body).map((loop) => versionedPlan(context, loop)).filter((shape) => shape !== null);
  const plans = found.filter((shape) => shape.kind === 'versioned').sort((a, b) => b.guards.length - a.guards.length);
  const claimed = new Set<Expr>();
  const shapes: BallotShape[] = [];
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

export const ballot: Transform<BallotShape> = {
  name: 'ballot',
  summary: 'vote once per warp whether the guards of a loop nest hold for all its iterations, and run it without them',
  variants: [{ name: 'versioned', summary: 'a nest without guards for warps inside all edges, the original for the others (default)' }],
  obligationIds: ['arrival-set-known', 'exits-warp-uniform', 'mask-names-arriving-lanes', 'condition-varies', 'guard-implied', 'nest-together', 'no-lane-waits'],
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

  match(context: TransformContext): readonly Site<BallotShape>[] {
    const { function: fn } = context.facts;
    if (fn.body === null || !(fn.qualifiers.global || fn.qualifiers.device)) return [];
    return versionedShapes(context).map((shape) => siteOf(context, shape));
  },

  obligations({ shape }, context) {
    return shape.kind === 'problem' ? problemObligations(context, shape) : versionedObligations(context, shape);
  },

  estimate({ shape }, context) {
    if (shape.kind === 'problem') throw new Error('internal: a guard that nothing implies has no estimate');
    return estimateVersioned(context, shape);
  },

  emit({ shape }, context) {
    return shape.kind === 'problem' ? { edits: [], reads: [] } : writeVersioned(context, shape);
  },
};
