/**
 * hoist: a branch whose condition does not change in a loop leaves the loop.
 *
 * before:
 *
 *     __global__ void weigh(const float *a, float *o, int n, bool flat) {
 *         float sum = 0.f;
 *         for (int t = 0; t < n; ++t) {
 *             float x = a[t];
 *             if (flat)
 *                 sum += x;
 *             else
 *                 sum += x * x;
 *         }
 *         o[threadIdx.x] = sum;
 *     }
 *
 * after:
 *
 *     __global__ void weigh(const float *a, float *o, int n, bool flat) {
 *         float sum = 0.f;
 *         if (flat) {
 *             for (int t = 0; t < n; ++t) {
 *                 float x = a[t];
 *                 sum += x;
 *             }
 *         } else {
 *             for (int t = 0; t < n; ++t) {
 *                 float x = a[t];
 *                 sum += x * x;
 *             }
 *         }
 *         o[threadIdx.x] = sum;
 *     }
 *
 * Treated means: no branch on this condition stands in the loop any more, and the branch in front of the loop decides it once.
 */
import { atLeast, type Loop } from '../src/analysis/facts.js';
import { copiesOf, emitHoist } from './hoist/emit.js';
import { aroundCost, estimateHoist, paysForLanes, scopeOf } from './hoist/estimate.js';
import { levelAt, type Level } from './hoist/legal.js';
import { candidatesIn, type Branch, type Candidate } from './hoist/shape.js';
import { excerpt, proved } from './lib/obligation.js';
import type { Obligation, Site, Transform, TransformContext } from './lib/types.js';

export interface HoistShape {
  /** The loop that the branch leaves, with what was found there. */
  readonly level: Level;
  readonly obligations: readonly Obligation[];
  /** Loops around the branch, innermost first, as far as they stand directly in each other. */
  readonly loops: readonly Loop[];
}

/** The outermost loop that the branch may leave; the innermost, with its refusal, if it may leave none. */
function decide(context: TransformContext, { branch, loops }: Candidate): HoistShape {
  let best = levelAt(context, branch, loops, 0, null);
  for (let depth = 1; best.legal && depth < loops.length; depth++) {
    const next = levelAt(context, best.branch, loops, depth, best);
    if (!next.legal || !climbs(context, next, loops[depth - 1])) break;
    // A shorter chain would be cut differently in a second run.
    if (testCount(next.branch) !== testCount(best.branch)) break;
    best = next;
  }
  return { level: best, obligations: [...best.obligations, ...emptyCopies(context, best)], loops };
}

function testCount(branch: Branch): number {
  return branch.kind === 'if' ? branch.links.length : 1;
}

/**
 * One more loop is left only if that loop's own statements are worth copying: always if the warp agrees, else if they cost less than
 * the branch. The test looks at one loop at a time, so that a second run finds nothing more.
 */
function climbs(context: TransformContext, level: Level, inner: Loop | undefined): boolean {
  if (inner === undefined) return false;
  const scope = scopeOf(context, level.branch);
  return atLeast(scope, 'warp') || paysForLanes(context, level.branch, aroundCost(context, level.loop, inner));
}

/** `header-droppable`: said wherever a copy would do nothing. Both loops are written where it does not hold. */
function emptyCopies(context: TransformContext, level: Level): readonly Obligation[] {
  if (!level.legal) return [];
  const dropped = copiesOf(context, level).written.filter((written) => !written).length;
  if (dropped === 0) return [];
  const line = context.unit.source.line(level.loop.span.start);
  return [proved('header-droppable', line, 'in one copy the loop does nothing: its head has no effects and nothing of it is used afterwards')];
}

function branchText(context: TransformContext, branch: Branch): string {
  const { source } = context.unit;
  switch (branch.kind) {
    case 'if': return `if ${excerpt(source, { span: branch.stmt.headSpan })}`;
    case 'switch': return `switch ${excerpt(source, { span: branch.stmt.headSpan })}`;
    case 'ternary': return `${excerpt(source, branch.expr.condition)} ? :`;
    default: {
      const never: never = branch;
      return never;
    }
  }
}

export const hoist: Transform<HoistShape> = {
  name: 'hoist',
  summary: 'take a branch whose condition does not change in a loop out of the loop',
  variants: [],
  options: [],
  obligationIds: [
    'condition-at-run-time', 'condition-invariant', 'condition-pure', 'condition-safe-early', 'no-barrier-under-divergence', 'header-droppable',
    'switch-arms-closed', 'arm-types-agree', 'code-growth',
  ],
  example: {
    before: `__global__ void weigh(const float *a, float *o, int n, bool flat) {
    float sum = 0.f;
    for (int t = 0; t < n; ++t) {
        float x = a[t];
        if (flat)
            sum += x;
        else
            sum += x * x;
    }
    o[threadIdx.x] = sum;
}
`,
    after: `__global__ void weigh(const float *a, float *o, int n, bool flat) {
    float sum = 0.f;
    if (flat) {
        for (int t = 0; t < n; ++t) {
            float x = a[t];
            sum += x;
        }
    } else {
        for (int t = 0; t < n; ++t) {
            float x = a[t];
            sum += x * x;
        }
    }
    o[threadIdx.x] = sum;
}
`,
  },

  mayMatch: (fn) => fn.body !== null && candidatesIn(fn.body).length > 0,

  match(context: TransformContext): readonly Site<HoistShape>[] {
    const { function: fn } = context.facts;
    if (fn.body === null || !(fn.qualifiers.global || fn.qualifiers.device)) return [];
    return candidatesIn(fn.body).map((candidate) => {
      const shape = decide(context, candidate);
      const { branch, loop } = shape.level;
      const node = branch.kind === 'ternary' ? branch.expr : branch.stmt;
      const loopLine = context.unit.source.line(loop.span.start);
      return { function: fn, node: loop, branch: node, line: context.unit.source.line(node.span.start), summary: `${branchText(context, branch)} leaves the loop of line ${loopLine}`, shape };
    });
  },

  obligations(site) {
    return site.shape.obligations;
  },

  estimate(site, context) {
    const { level, loops } = site.shape;
    return estimateHoist(context, level, loops, copiesOf(context, level).written.includes(false));
  },

  emit(site, context) {
    return emitHoist(context, site.shape.level);
  },
};
