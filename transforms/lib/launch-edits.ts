/** A launch plan as edits of the whole program: launch sites, declarations, instantiations, attribute calls, includes. */
import type { Directive, SourceFile } from '../../src/source/types.js';
import type { Unit } from '../../src/syntax/tree.js';
import { deductionObstacles, follow, type NewKernel } from './launch-follow.js';
import { rewriteSites, type Decide } from './launch-rewrite.js';
import type { KernelSites, Obstacle } from './launch-sites.js';
import { lineOf, proved, refuted } from './obligation.js';
import { lineEndOf } from './text.js';
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
    if (unit !== undefined) includes.push(...includeEdits(unit, [...headers]));
  }
  return {
    edits: [...sites.edits, ...following.edits, ...includes],
    obstacles: [...sites.obstacles, ...following.obstacles, ...deductionObstacles(found, options.kernels)],
  };
}

/** Headers that are not included yet, behind the last include at the top of the file. */
function includeEdits({ source }: Unit, headers: readonly string[]): readonly Edit[] {
  const missing = headers.filter((header) => !source.directives.some((d) => d.kind === 'include' && source.text.slice(d.start, d.end).includes(`<${header}>`)));
  if (missing.length === 0) return [];
  const last = lastInclude(source);
  const at = last === undefined ? 0 : lineEndOf(source, Math.max(last.start, last.end - 1));
  return [{ file: source.realPath, span: { start: at, end: at }, text: missing.map((header) => `#include <${header}>\n`).join('') }];
}

/** The last include that stands in as few conditionals as any (an include guard is around all of them). */
function lastInclude(source: SourceFile): Directive | undefined {
  let depth = 0;
  let best: { readonly directive: Directive; readonly depth: number } | undefined;
  for (const directive of source.directives) {
    if (directive.kind === 'if' || directive.kind === 'ifdef' || directive.kind === 'ifndef') depth++;
    else if (directive.kind === 'endif') depth--;
    else if (directive.kind === 'include' && (best === undefined || depth <= best.depth)) best = { directive, depth };
  }
  return best?.directive;
}

/** `launches-rewritable`: host text for the plan can be written at every launch. */
export function rewritable(context: TransformContext, found: KernelSites, writing: PlanWriting): Obligation {
  const line = lineOf(context, { start: found.kernel.nameSpan.start, end: found.kernel.nameSpan.end });
  const { obstacles } = writing;
  if (obstacles.length === 0) return proved('launches-rewritable', line, `host text for ${found.sites.length === 1 ? 'the launch' : `all ${found.sites.length} launches`} can be written; arguments are evaluated once`);
  const list = obstacles.map(({ path, line: at, form }) => `${path}:${at} ${form}`).join('; ');
  return refuted('launches-rewritable', line, list, 'put the arguments into variables of the parameters’ types before the launch');
}
