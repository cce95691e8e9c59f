/** Audits as plain values: they can be sent from a worker, and they let go of the program that they speak about. */
import type { BranchFinding, FileAudit, KernelAudit } from '../audit/types.js';

export type PlainBranch = Omit<BranchFinding, 'site' | 'facts'>;
export type PlainKernel = Omit<KernelAudit, 'kernel' | 'branches'> & { readonly branches: readonly PlainBranch[] };
export type PlainFile = Omit<FileAudit, 'kernels'> & { readonly kernels: readonly PlainKernel[] };

/** A copy without ties to the analyses; every chain of reasons is found now. */
export function plainAudit(audit: PlainFile): PlainFile {
  return {
    path: audit.path, status: audit.status, problems: audit.problems.map(({ line, message }) => ({ line, message })),
    kernels: audit.kernels.map((kernel) => ({
      name: kernel.name, line: kernel.line, endLine: kernel.endLine, understood: kernel.understood, block: kernel.block, ...(kernel.contradiction === undefined ? {} : { contradiction: kernel.contradiction }), hazards: kernel.hazards.map((hazard) => ({ ...hazard, because: [...hazard.because] })),
      branches: kernel.branches.map(plainBranch),
    })),
  };
}

function plainBranch(branch: PlainBranch): PlainBranch {
  const { id, path, function: fn, line, column, endLine, kind, condition, scope, divergence, cost, advice, reason } = branch;
  return {
    id, path, function: fn, via: branch.via.map((call) => ({ ...call })), line, column, endLine, kind, exits: [...branch.exits], condition, class: branch.class, scope,
    because: branch.because.map((step) => ({ ...step })), under: [...branch.under], divergence: { ...divergence }, cost: { ...cost, arms: cost.arms.map((arm) => ({ ...arm })) }, advice, reason,
    ...(branch.ignored === undefined ? {} : { ignored: branch.ignored }),
  };
}
