/** A launch plan as host text in the place of every launch of a kernel; launch-writer.ts writes one of them. */
import type { KernelSites, Obstacle } from './launch-sites.js';
import { InTheWay, SiteWriter, type Decide } from './launch-writer.js';
import type { Edit, LaunchPlan } from './types.js';

export interface SiteRewriting {
  readonly edits: readonly Edit[];
  readonly obstacles: readonly Obstacle[];
  /** Headers that the text needs: `cub/device/device_select.cuh`, by file. */
  readonly includes: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Edits of all launch sites. Sites for which no text can be written are listed; the edits are then not to be used. */
export function rewriteSites(found: KernelSites, plan: LaunchPlan, decide: Decide = () => null): SiteRewriting {
  const edits: Edit[] = [];
  const obstacles: Obstacle[] = [];
  const includes = new Map<string, Set<string>>();
  for (const site of found.sites) {
    const file = site.unit.source.realPath;
    try {
      const writer = new SiteWriter(found, site, plan, decide);
      edits.push(...writer.edits());
      for (const header of writer.includes) includes.set(file, (includes.get(file) ?? new Set()).add(header));
    } catch (error) {
      if (!(error instanceof InTheWay)) throw error;
      obstacles.push({ path: site.unit.source.path, line: site.line, form: error.message, ...(error.remedy === null ? {} : { remedy: error.remedy }) });
    }
  }
  return { edits, obstacles, includes };
}
