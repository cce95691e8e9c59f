/**
 * split: two populations of a kernel that the launch can tell apart run as two kernels.
 *
 * before:
 *
 *     __global__ void scale(float *x, const float *w, int n, bool weighted) {
 *         int i = blockIdx.x * blockDim.x + threadIdx.x;
 *         if (i >= n)
 *             return;
 *         if (weighted)
 *             x[i] *= w[i];
 *         else
 *             x[i] *= 0.5f;
 *     }
 *     …
 *         scale<<<(n + 255) / 256, 256>>>(x, w, n, weighted);
 *
 * after:
 *
 *     __global__ void scale_weighted(float *x, const float *w, int n) { … x[i] *= w[i]; }
 *     __global__ void scale_not_weighted(float *x, int n) { … x[i] *= 0.5f; }
 *     …
 *         if (weighted)
 *             scale_weighted<<<(n + 255) / 256, 256>>>(x, w, n);
 *         else
 *             scale_not_weighted<<<(n + 255) / 256, 256>>>(x, n);
 *
 * A role by block number becomes two launches, each of the blocks that have the role. Interior and border of an index space become the blocks that
 * lie inside whole, which run one arm, and the others, which run the original with its test. Treated means: the kernel's name starts no block any
 * more, and no branch on the condition is left in the two (for edges: in the one for the interior).
 */
import { excerpt } from './lib/obligation.js';
import { keepsOriginal } from './lib/launch-sites.js';
import type { Edit, Site, Transform, TransformContext } from './lib/types.js';
import { launchCondition, type LaunchCondition } from './split/condition.js';
import { estimateSplit } from './split/estimate.js';
import { splitShape, type SplitShape } from './split/legal.js';
import { twoSided } from './split/interior.js';
import { branchesOf, works, type SplitBranch } from './split/shape.js';

function siteOf(context: TransformContext, shape: SplitShape): Site<SplitShape> {
  const { source } = context.unit;
  const { stmt } = shape.branch;
  return {
    function: context.facts.function, node: stmt, branch: stmt, line: source.line(stmt.span.start),
    summary: `if ${excerpt(source, { span: stmt.headSpan })} divides ${context.facts.function.name} into two kernels`, shape,
  };
}

/** Worth an answer: the launch knows the condition, or the kernel ends in the branch. A guard without a second arm is one only between two edges. */
function isSite(branch: SplitBranch, condition: LaunchCondition): boolean {
  if (branch.form !== 'alone') return condition.kind !== 'not-known' || branch.last;
  return condition.kind === 'interior' && twoSided(condition).length > 0 && (works(branch.stmt.then) || !condition.thenInside);
}

export const split: Transform<SplitShape> = {
  name: 'split',
  summary: 'make two kernels of one whose branch the host decides, by an argument, the number of the block or the edges of an index space',
  variants: [],
  options: [],
  obligationIds: ['condition-known-at-launch', 'all-launches-visible', 'launches-rewritable', 'populations-independent', 'grid-exact'],
  example: {
    before: `__global__ void sharpen(const float *x, float *y, int n, bool sharp) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (sharp) {
        float w[64];
        for (int k = 0; k < 64; ++k)
            w[k] = x[min(i + k, n - 1)];
        float sum = 0.f;
        for (int k = 0; k < 64; ++k)
            sum += w[k] * w[63 - k];
        y[i] = sum;
    } else {
        y[i] = x[i];
    }
}

void run(const float *x, float *y, int n, bool sharp) {
    sharpen<<<n / 256, 256>>>(x, y, n, sharp);
}
`,
    after: `__global__ void sharpen_sharp(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float w[64];
    for (int k = 0; k < 64; ++k)
        w[k] = x[min(i + k, n - 1)];
    float sum = 0.f;
    for (int k = 0; k < 64; ++k)
        sum += w[k] * w[63 - k];
    y[i] = sum;
}

__global__ void sharpen_not_sharp(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}

void run(const float *x, float *y, int n, bool sharp) {
    if (sharp)
        sharpen_sharp<<<n / 256, 256>>>(x, y, n);
    else
        sharpen_not_sharp<<<n / 256, 256>>>(x, y);
}
`,
  },

  match(context: TransformContext): readonly Site<SplitShape>[] {
    const { function: kernel } = context.facts;
    if (kernel.body === null || !kernel.qualifiers.global) return [];
    return branchesOf(kernel).flatMap((branch) => {
      const condition = launchCondition(context.facts, branch.stmt.condition);
      return isSite(branch, condition) ? [siteOf(context, splitShape(context, branch, condition))] : [];
    });
  },

  obligations(site) {
    return site.shape.obligations;
  },

  estimate(site, context) {
    return estimateSplit(context, site.shape);
  },

  emit({ shape }, context) {
    const { written } = shape;
    if (written === null) return { edits: [], reads: [] };
    const { division, found, writing } = written;
    const { function: kernel, unit } = context.facts;
    const { body } = kernel;
    if (body === null) return { edits: [], reads: [] };
    const file = unit.source.realPath;
    const both = `${division.then.text}\n\n${division.else.text}`;
    const definition: Edit = keepsOriginal(context, found)
      ? { file, span: { start: body.span.end, end: body.span.end }, text: `\n\n${both}` }
      : { file, span: { start: kernel.headSpan.start, end: body.span.end }, text: both };
    const reads = [{ file, start: kernel.headSpan.start, end: body.span.end }, ...found.sites.map((site) => ({ file: site.unit.source.realPath, ...site.statement.span }))];
    return { edits: [definition, ...writing.edits], launches: division.plan, reads };
  },
};
