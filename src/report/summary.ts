/** Counts over a whole audit; the `summary` of its JSON. */
import type { BranchClass, FileAudit, Severity } from '../audit/types.js';

export interface AuditSummary {
  readonly files: number;
  readonly filesPartial: number;
  readonly filesFailed: number;
  readonly kernels: number;
  readonly kernelsNotUnderstood: number;
  readonly branches: number;
  readonly classes: Readonly<Record<BranchClass, number>>;
  readonly toConsider: number;
  readonly lostSlots: number;
  readonly hazards: Readonly<Record<Severity, number>>;
  /** One line that says what was and what was not classified. */
  readonly text: string;
}

/** The parts of an audit that counts need; the JSON of an earlier run has them too. */
export interface CountedFile {
  readonly path: string;
  readonly status: FileAudit['status'];
  readonly kernels: readonly {
    readonly name: string;
    readonly understood: boolean;
    readonly branches: readonly { readonly path: string; readonly line: number; readonly column: number; readonly function: string; readonly class: BranchClass; readonly advice: 'leave' | 'consider'; readonly cost: { readonly lostSlots: number } }[];
    readonly hazards: readonly { readonly severity: Severity }[];
  }[];
}

export function summarise(files: readonly CountedFile[]): AuditSummary {
  const classes: Record<BranchClass, number> = { uniform: 0, geometry: 0, boundary: 0, data: 0, unknown: 0 };
  const hazards: Record<Severity, number> = { error: 0, caution: 0, note: 0 };
  let kernels = 0;
  let kernelsNotUnderstood = 0;
  let branches = 0;
  let toConsider = 0;
  let lostSlots = 0;
  for (const file of files) {
    for (const kernel of file.kernels) {
      kernels++;
      if (!kernel.understood) kernelsNotUnderstood++;
      for (const branch of kernel.branches) {
        branches++;
        classes[branch.class]++;
        if (branch.advice === 'consider') toConsider++;
        lostSlots += branch.cost.lostSlots;
      }
      for (const hazard of kernel.hazards) hazards[hazard.severity]++;
    }
  }
  const filesFailed = files.filter((file) => file.status === 'failed').length;
  const filesPartial = files.filter((file) => file.status === 'partial').length;
  const parts = [`${branches - classes.unknown} classified`];
  if (classes.unknown > 0) parts.push(`${classes.unknown} not understood`);
  if (kernelsNotUnderstood > 0) parts.push(`${kernelsNotUnderstood} of ${kernels} kernels not understood`);
  if (filesFailed > 0) parts.push(`${filesFailed} of ${files.length} files not read`);
  const text = `${branches} ${branches === 1 ? 'branch' : 'branches'} in ${kernels} ${kernels === 1 ? 'kernel' : 'kernels'}: ${parts.join(', ')}`;
  return { files: files.length, filesPartial, filesFailed, kernels, kernelsNotUnderstood, branches, classes, toConsider, lostSlots, hazards, text };
}
