/**
 * peel: a boundary test leaves the loop; the iterations that can meet the boundary run in a loop of their own.
 *
 * before:
 *
 *     __global__ void dot_tiles(const float *a, const float *b, float *o, int n) {
 *         float sum = 0.f;
 *         for (int k = 0; k < n; k += 64) {
 *             int i = k + threadIdx.x;
 *             sum += i < n ? a[i] * b[i] : 0.f;
 *         }
 *         o[threadIdx.x] = sum;
 *     }
 *
 * after:
 *
 *     __global__ void dot_tiles(const float *a, const float *b, float *o, int n) {
 *         float sum = 0.f;
 *         int k = 0;
 *         const int reach = (int)blockDim.x - 1;
 *         const int k_full = n > reach ? n - reach : 0;
 *         for (; k < k_full; k += 64) {
 *             int i = k + threadIdx.x;
 *             sum += a[i] * b[i];
 *         }
 *         for (; k < n; k += 64) {
 *             int i = k + threadIdx.x;
 *             sum += i < n ? a[i] * b[i] : 0.f;
 *         }
 *         o[threadIdx.x] = sum;
 *     }
 *
 * A guard over all that the loop does becomes the loop's test instead (peel/fold.ts).
 *
 * Treated means: a loop without the comparison in its body runs the iterations in which it has one value for the whole block, or for the thread.
 */
import { isStmt, strip, walk } from '../src/analysis/children.js';
import { atLeast } from '../src/analysis/facts.js';
import type { Expr, Stmt } from '../src/syntax/tree.js';
import { headDeclared } from './lib/head-declared.js';
import { excerpt } from './lib/obligation.js';
import type { Site, Transform, TransformContext } from './lib/types.js';
import { countersOf } from './peel/counters.js';
import { isPeelable, type PeelableLoop } from './lib/guards/tested-loop.js';
import { estimatePeel } from './peel/estimate.js';
import { guardsIn, type Guard } from './lib/guards/guards.js';
import { planObligations, problemObligations, scopeOfRuns } from './peel/legal.js';
import { foldPlan } from './peel/fold.js';
import { rangePlan, type PeelProblem } from './peel/range.js';
import { versionPlan } from './peel/version.js';
import { writePlan, type PeelPlan } from './peel/write.js';

export type PeelShape = PeelPlan | PeelProblem;

/** Loops that have a test, outermost first. */
function loopsIn(root: Stmt): readonly PeelableLoop[] {
  const loops: PeelableLoop[] = [];
  walk(root, (node) => {
    if (node.kind === 'lambda' || node.kind === 'macro-statement') return false;
    if (isStmt(node) && (node.kind === 'for' || node.kind === 'while') && isPeelable(node)) loops.push(node);
    return true;
  });
  return loops;
}

/** A comparison that is more than the whole test of an inner loop stands in the statement: there may be a guard. */
function holdsComparison(body: Stmt): boolean {
  let found = false;
  const tests = new Set<Expr>();
  walk(body, (node) => {
    if ((node.kind === 'for' || node.kind === 'while' || node.kind === 'do') && node.condition !== null) tests.add(strip(node.condition));
    found ||= node.kind === 'binary' && COMPARISONS.has(node.op) && !tests.has(node);
    return !found;
  });
  return found;
}

const COMPARISONS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '==', '!=']);

/** The best that can be made of the guards of one loop. */
function shapeOf(context: TransformContext, loop: PeelableLoop, guards: readonly Guard[]): PeelShape | null {
  const versions = versionPlan(context, loop, guards);
  if (versions !== null) return versions;
  const counters = countersOf(context.facts, loop);
  for (const counter of counters) {
    const plan = foldPlan(context, loop, counter, guards);
    if (plan !== null) return plan;
  }
  let best: PeelShape | null = null;
  for (const counter of counters) {
    const plan = rangePlan(context, loop, counter, guards);
    if (plan === null) continue;
    if (plan.kind === 'problem') best ??= plan;
    else if (best === null || best.kind === 'problem' || plan.guards.length > best.guards.length) best = plan;
  }
  return best;
}

function siteOf(context: TransformContext, shape: PeelShape): Site<PeelShape> {
  const { source } = context.unit;
  const guards = shape.kind === 'problem' ? [shape.guard] : shape.guards;
  const [first] = guards;
  const lines = [...new Set(guards.map((guard) => source.line(guard.comparison.span.start)))];
  const named = guards.map((guard) => excerpt(source, guard.comparison)).slice(0, 3).join(', ');
  return {
    function: context.facts.function, node: shape.loop, branch: first?.owner.kind === 'if' || first?.owner.kind === 'ternary' ? first.owner.node : first?.comparison ?? shape.loop,
    line: source.line(shape.loop.span.start), alsoLines: lines,
    summary: `${named} ${guards.length === 1 ? 'leaves' : 'leave'} the loop of line ${source.line(shape.loop.span.start)}`,
    shape,
  };
}

export const peel: Transform<PeelShape> = {
  name: 'peel',
  summary: 'split the iterations of a loop where a boundary test changes, so that the main part runs without it',
  variants: [],
  options: [],
  obligationIds: ['guard-exact', 'bound-exact', 'bound-scope', 'constants-open', 'induction-simple', 'exits-skip-rest', 'code-growth'],
  example: {
    before: `__global__ void dot_tiles(const float *a, const float *b, float *o, int n) {
    float sum = 0.f;
    for (int k = 0; k < n; k += 64) {
        int i = k + threadIdx.x;
        sum += i < n ? a[i] * b[i] : 0.f;
    }
    o[threadIdx.x] = sum;
}
`,
    after: `__global__ void dot_tiles(const float *a, const float *b, float *o, int n) {
    float sum = 0.f;
    int k = 0;
    const int reach = (int)blockDim.x - 1;
    const int k_full = n > reach ? n - reach : 0;
    for (; k < k_full; k += 64) {
        int i = k + threadIdx.x;
        sum += a[i] * b[i];
    }
    for (; k < n; k += 64) {
        int i = k + threadIdx.x;
        sum += i < n ? a[i] * b[i] : 0.f;
    }
    o[threadIdx.x] = sum;
}
`,
  },

  mayMatch: (fn) => fn.body !== null && loopsIn(fn.body).some((loop) => holdsComparison(loop.body)),

  match(context: TransformContext): readonly Site<PeelShape>[] {
    const { function: fn } = context.facts;
    if (fn.body === null || !(fn.qualifiers.global || fn.qualifiers.device)) return [];
    const claimed = new Set<Expr>();
    const shapes: PeelShape[] = [];
    const problems: PeelProblem[] = [];
    for (const loop of loopsIn(fn.body)) {
      const guards = guardsIn(context.facts, loop).filter((guard) => !claimed.has(guard.comparison));
      if (guards.length === 0) continue;
      const shape = shapeOf(context, loop, guards);
      if (shape === null) continue;
      if (shape.kind === 'problem') { problems.push(shape); continue; }
      shapes.push(shape);
      for (const guard of shape.guards) claimed.add(guard.comparison);
    }
    // Of several loops around an unsolved guard the outermost reports it.
    for (const problem of problems) {
      if (claimed.has(problem.guard.comparison)) continue;
      claimed.add(problem.guard.comparison);
      shapes.push(problem);
    }
    return shapes.map((shape) => siteOf(context, shape));
  },

  obligations({ shape }, context) {
    return shape.kind === 'problem' ? problemObligations(context, shape) : planObligations(context, shape);
  },

  estimate({ shape }, context) {
    if (shape.kind === 'problem') throw new Error('internal: an unsolved guard has no estimate');
    return estimatePeel(context, shape, !atLeast(scopeOfRuns(context, shape), 'warp'));
  },

  emit({ shape }, context) {
    return shape.kind === 'problem' ? { edits: [], reads: [] } : writePlan(context, shape);
  },

  check({ shape: { loop } }, change, context) {
    return loop.kind === 'for' ? [headDeclared(context, change, loop)] : [];
  },
};
