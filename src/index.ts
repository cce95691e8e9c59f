/**
 * divmod as a library: find warp divergence in CUDA sources, say why and what it costs, and restructure with a proof.
 *
 *     import { Project } from 'divmod';
 *     const project = await Project.open({ include: ['src'] });
 *     for (const site of project.sites('peel')) {
 *       if (site.refusals.length === 0 && site.estimate.speedup > 1.05) site.apply();
 *     }
 *     await project.save();                  // or project.diff()
 */
export { Project, ProjectSite, type ApplyOptions, type ProjectOptions } from './project/project.js';
export { UsageError } from './project/errors.js';
export { WriteError } from './rewrite/write.js';
export { transforms, findTransform } from '../transforms/index.js';
export { GRANTS } from '../transforms/lib/grants.js';
export { auditJson } from './report/json.js';

export type { RawValue, SettingName } from './project/settings.js';
export type { RoundsResult, SiteResult } from './project/rounds.js';
export type { BranchClass, BranchFinding, FileAudit, Hazard, KernelAudit, Severity } from './audit/types.js';
export type {
  Change, Edit, Estimate, Grant, LaunchPlan, LaunchStep, Obligation, ObligationStatus, Outcome, OutcomeStatus, Site, Span, Transform, TransformContext,
} from '../transforms/lib/types.js';
export type { Affine, BlockShape, Effects, Fact, FunctionFacts, Scope, Verdict } from './analysis/facts.js';
export type * from './syntax/tree.js';
export type { FileSpan, Position, SourceFile } from './source/types.js';
