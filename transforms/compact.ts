/**
 * compact: work that only some lanes need is handed to threads that stand side by side, so that it runs with full warps.
 *
 * The variants differ in who takes the work: other threads of the block (`block`), a second kernel over a list of all items (`grid`), the
 * same warp in a later round of a loop (`loop`). What a heavy region is, and what may not happen in one, is the same for all of them
 * (compact/region.ts, compact/region-checks.ts, compact/region-values.ts).
 *
 * before:
 *
 *     if (i < n && mask[i]) {
 *         heavy(i);
 *     }
 *
 * after (block):
 *
 *     const bool active = i < n && mask[i];
 *     … slot: this thread's number among the active ones; items: how many there are
 *     if (active) queue_i[slot] = i;
 *     __syncthreads();
 *     if (thread < items) {
 *         int i = queue_i[thread];
 *         heavy(i);
 *     }
 */
import { isHipSource } from '../src/analysis/platform.js';
import { block } from './compact/block.js';
import { grid } from './compact/grid.js';
import { loop } from './compact/loop.js';
import { DEPTHS } from './compact/loop-shape.js';
import { isListed } from './compact/listed.js';
import { regionsIn, type Region } from './compact/region.js';
import { treatedBefore } from './compact/treated.js';
import type { CompactVariant, Prepared } from './compact/variant.js';
import { excerpt } from './lib/obligation.js';
import type { Site, Transform, TransformContext } from './lib/types.js';

export interface CompactShape {
  readonly region: Region;
  readonly prepared: Prepared;
}

/** The first one is what `compact` alone means. */
const VARIANTS: readonly CompactVariant[] = [block, grid, loop];

/** A region is looked at if lanes differ in its condition, and not by their number alone. */
function isCandidate(context: TransformContext, region: Region): boolean {
  const verdict = context.facts.scope(region.predicate);
  return !verdict.known || (verdict.value === 'lane' && verdict.sources.data);
}

export const compact: Transform<CompactShape> = {
  name: 'compact',
  summary: 'run work that only some lanes need with full warps',
  variants: VARIANTS.map(({ name, summary }) => ({ name, summary })),
  options: [
    { name: 'order', variant: 'grid', values: ['free', 'keep'], summary: 'items in any order, by ballots and one atomic a block; or in the order of their threads, by cub::DeviceSelect' },
    { name: 'depth', variant: 'loop', values: DEPTHS.map(String), summary: 'items that a lane may put off' },
  ],
  obligationIds: [...new Set(['prefix-population', ...VARIANTS.flatMap((variant) => variant.obligationIds)])],
  example: {
    before: `__global__ void relax(const float *x, const unsigned char *mask, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && mask[i]) {
        float v = x[i];
        for (int k = 0; k < 64; ++k)
            v = v * 0.75f + sqrtf(fabsf(v));
        y[i] = v;
    }
}

void run(const float *x, const unsigned char *mask, float *y, int n) {
    relax<<<(n + 255) / 256, 256>>>(x, mask, y, n);
}
`,
    after: `__global__ void relax(const float *x, const unsigned char *mask, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // A place for each thread of a block: the launch has 256.
    __shared__ int queue_i[256];
    __shared__ unsigned int activeInWarp[8];
    const unsigned int thread = threadIdx.x;
    const bool active = i < n && mask[i];
    // Number the active threads of the block: those of earlier warps first, then lower lanes.
    const unsigned int votes = __ballot_sync(0xffffffffu, active);
    if (thread % 32 == 0)
        activeInWarp[thread / 32] = __popc(votes);
    const unsigned int items = __syncthreads_count(active);
    unsigned int slot = __popc(votes & ((1u << (thread % 32)) - 1u));
    for (unsigned int w = 0; w < 8; ++w)
        if (w < thread / 32)
            slot += activeInWarp[w];
    if (active)
        queue_i[slot] = i;
    __syncthreads();
    if (thread < items) {
        int i = queue_i[thread];
        float v = x[i];
        for (int k = 0; k < 64; ++k)
            v = v * 0.75f + sqrtf(fabsf(v));
        y[i] = v;
    }
}

void run(const float *x, const unsigned char *mask, float *y, int n) {
    relax<<<(n + 255) / 256, 256>>>(x, mask, y, n);
}
`,
  },

  match(context: TransformContext): readonly Site<CompactShape>[] {
    const { facts, unit, variant: asked } = context;
    const { function: fn } = facts;
    const variant = VARIANTS.find((one) => one.name === (asked ?? 'block'));
    if (variant === undefined || fn.body === null || !(fn.qualifiers.global || fn.qualifiers.device)) return [];
    return regionsIn(context).filter((region) => isCandidate(context, region) && !isListed(region.stmt)).flatMap((region) => {
      const found = variant.prepare(context, region);
      if (found === null) return [];
      const { stmt } = region;
      const done = treatedBefore(context, region);
      const prepared = done === null ? found : { ...found, obligations: [done] };
      return [{
        function: fn, node: stmt, branch: stmt, line: unit.source.line(stmt.span.start),
        summary: `if ${excerpt(unit.source, { span: stmt.headSpan })}: ${prepared.summary}`, shape: { region, prepared },
      }];
    });
  },

  obligations(site, context) {
    const { obligations } = site.shape.prepared;
    if (!isHipSource(context.facts.program, context.unit)) return obligations;
    return [...obligations, {
      id: 'prefix-population', status: 'refuted', grant: null, line: site.line, text: 'wavefronts of HIP have up to 64 lanes, and its votes take other masks: the counts of 32 lanes are not theirs',
      remedy: 'apply it to the CUDA source',
    }];
  },
  estimate: (site) => site.shape.prepared.estimate(),
  emit: (site) => site.shape.prepared.emit(),
};
