/** Findings name files by real path or by the path they were loaded with; users shall read the paths that they gave. */
import { isAbsolute } from 'node:path';
import type { BranchFinding, FileAudit, Hazard, KernelAudit } from '../audit/types.js';

type Shown = (realPath: string) => string;

/** The audit with every path as results show it. Chains of reasons stay lazy: they are renamed when they are read. */
export function withShownPaths(audit: FileAudit, shown: Shown): FileAudit {
  const rename: Shown = (path) => (isAbsolute(path) ? shown(path) : path);
  return { ...audit, path: rename(audit.path), kernels: audit.kernels.map((kernel) => kernelShown(kernel, rename)) };
}

function kernelShown(kernel: KernelAudit, shown: Shown): KernelAudit {
  return { ...kernel, branches: kernel.branches.map((branch) => branchShown(branch, shown)), hazards: kernel.hazards.map((hazard) => hazardShown(hazard, shown)) };
}

function branchShown(branch: BranchFinding, shown: Shown): BranchFinding {
  const { id, function: fn, line, column, endLine, kind, exits, condition, scope, under, divergence, cost, advice, site, facts } = branch;
  let because: BranchFinding['because'] | null = null;
  return {
    id, path: shown(branch.path), function: fn, via: branch.via.map((call) => ({ ...call, path: shown(call.path) })), line, column, endLine, kind, exits, condition,
    class: branch.class, scope,
    get because() {
      return (because ??= branch.because.map((step) => ({ ...step, path: shown(step.path) })));
    },
    under, divergence, cost, advice, ...(branch.ignored === undefined ? {} : { ignored: branch.ignored }),
    get reason() {
      return branch.reason;
    },
    site, facts,
  };
}

function hazardShown(hazard: Hazard, shown: Shown): Hazard {
  return { ...hazard, path: shown(hazard.path), because: hazard.because.map((step) => ({ ...step, path: shown(step.path) })) };
}
