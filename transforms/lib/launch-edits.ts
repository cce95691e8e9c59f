/** A launch plan as edits of the whole program: launch sites, declarations, instantiations, attribute calls, includes. */
import { deductionObstacles, follow, type NewKernel } from './launch-follow.js';
import { includeEdits } from './launch-includes.js';
import { rewriteSites } from './launch-rewrite.js';
import type { Decide } from './launch-writer.js';
import type { KernelSites, Obstacle } from './launch-sites.js';
import { remediesAt } from './launch-remedies.js';
import { lineOf, proved, refuted } from './obligation.js';
import type { Edit, LaunchPlan, Obligation, TransformContext } from './types.js';

export interface PlanWriting {
  /** Of everything but the kernel's definition. Not to be used while there are obstacles. */
  readonly edits: readonly Edit[];
  readonly obstacles: readonly Obstacle[];
}

export interface PlanOptions {
  readonly kernels: readonly NewKernel[];
  /** The original stays (see `keepsOriginal`): its declarations do too. */
  readonly keepOriginal: boolean;
  readonly decide?: Decide;
}

/** Host text of a plan at every place that it concerns. */
export function writePlanText(context: TransformContext, found: KernelSites, plan: LaunchPlan, options: PlanOptions): PlanWriting {
  const sites = rewriteSites(found, plan, options.decide);
  const following = follow(found, options.kernels, options.keepOriginal);
  const includes: Edit[] = [];
  for (const [file, headers] of sites.includes) {
    const unit = context.facts.program.units.get(file);
    const first = Math.min(...found.sites.filter((site) => site.unit === unit).map((site) => site.statement.span.start));
    if (unit !== undefined) includes.push(...includeEdits(unit, [...headers], first));
  }
  return {
    edits: [...sites.edits, ...following.edits, ...includes],
    obstacles: [...sites.obstacles, ...following.obstacles, ...deductionObstacles(found, options.kernels)],
  };
}

/** `launches-rewritable`: host text for the plan can be written at every launch. */
export function rewritable(context: TransformContext, found: KernelSites, writing: PlanWriting): Obligation {
  const line = lineOf(context, { start: found.kernel.nameSpan.start, end: found.kernel.nameSpan.end });
  const { obstacles } = writing;
  if (obstacles.length === 0) return proved('launches-rewritable', line, `host text for ${found.sites.length === 1 ? 'the launch' : `all ${found.sites.length} launches`} can be written; arguments are evaluated once`);
  const list = [...new Set(obstacles.map(({ path, line: at, form }) => `${path}:${at} ${form}`))].join('; ');
  return refuted('launches-rewritable', line, list, remediesAt(obstacles, found.kernel.name, 'put the arguments into variables of the parameters’ types before the launch'));
}
