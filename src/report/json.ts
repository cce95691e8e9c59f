/** The JSON that scripts read. Field names and meanings are a contract: docs/interface.md. */
import type { Hazard } from '../audit/types.js';
import type { PlainBranch, PlainFile, PlainKernel } from '../project/plain-audit.js';
import type { Proposal } from '../plan/rank.js';
import type { SiteResult } from '../project/rounds.js';
import { summarise, type CountedFile } from './summary.js';

const reasons = (list: PlainBranch['because']): { path: string; line: number; text: string }[] => list.map(({ path, line, text }) => ({ path, line, text }));

function branchJson(branch: PlainBranch) {
  const { divergence, cost } = branch;
  return {
    id: branch.id, path: branch.path, function: branch.function, via: branch.via.map(({ path, line }) => ({ path, line })),
    line: branch.line, column: branch.column, endLine: branch.endLine, kind: branch.kind, exits: [...branch.exits],
    condition: branch.condition, class: branch.class, scope: branch.scope, because: reasons(branch.because), under: [...branch.under],
    divergence: { rate: divergence.rate, p: divergence.p, origin: divergence.origin },
    cost: {
      arms: cost.arms.map(({ label, instructions, share }) => ({ label, instructions, share })),
      overhead: cost.overhead, efficiency: cost.efficiency, lostSlots: cost.lostSlots, provider: cost.provider, predicated: cost.predicated,
    },
    advice: branch.advice, reason: branch.reason, ...(branch.ignored === undefined ? {} : { ignored: branch.ignored }),
  };
}

function hazardJson(hazard: Hazard) {
  return {
    id: hazard.id, path: hazard.path, line: hazard.line, column: hazard.column, severity: hazard.severity, message: hazard.message,
    because: reasons(hazard.because), repair: hazard.repair, ...(hazard.ignored === undefined ? {} : { ignored: hazard.ignored }),
  };
}

function kernelJson(kernel: PlainKernel) {
  return {
    name: kernel.name, line: kernel.line, endLine: kernel.endLine, understood: kernel.understood,
    block: kernel.block === null ? null : { x: kernel.block.x, y: kernel.block.y, z: kernel.block.z, origin: kernel.block.origin },
    branches: kernel.branches.map(branchJson), hazards: kernel.hazards.map(hazardJson),
  };
}

export function fileJson(file: PlainFile) {
  return { path: file.path, status: file.status, problems: file.problems.map(({ line, message }) => ({ line, message })), kernels: file.kernels.map(kernelJson) };
}

/** `divmod audit --format json`. `timing` is added when it was asked for. */
export function auditJson(version: string, files: readonly PlainFile[], timing?: Readonly<Record<string, number>>): string {
  return render({ tool: 'divmod', version, schema: 1, files: files.map(fileJson), summary: summarise(files), ...(timing === undefined ? {} : { timing }) });
}

/** `divmod merge`: the files of several audits, summed up anew. */
export function mergedJson(version: string, files: readonly CountedFile[]): string {
  return render({ tool: 'divmod', version, schema: 1, files, summary: summarise(files) });
}

export function siteJson(site: SiteResult) {
  const { estimate } = site;
  return {
    path: site.path, transform: site.variant === null ? site.transform : `${site.transform}:${site.variant}`, kernel: site.kernel, function: site.function, line: site.line, status: site.status,
    summary: site.summary, reason: site.reason,
    obligations: site.obligations.map(({ id, status, grant, line, text, remedy }) => ({ id, status, grant, line, text, remedy })),
    estimate: estimate === null ? null : {
      speedup: estimate.speedup, low: estimate.low, high: estimate.high, instructionsBefore: estimate.instructionsBefore,
      instructionsAfter: estimate.instructionsAfter, traffic: estimate.traffic, breakEven: estimate.breakEven, provider: estimate.provider,
    },
    diff: diffString(site.diff),
  };
}

/** JSON knows characters only: the diff of a file that is not UTF-8 is shown byte by byte as Latin-1. */
function diffString(diff: Uint8Array): string {
  const bytes = Buffer.from(diff);
  const text = bytes.toString('utf8');
  return text.includes('\uFFFD') ? bytes.toString('latin1') : text;
}

export interface ApplyJsonInput {
  readonly sites: readonly SiteResult[];
  readonly diff: Uint8Array;
  readonly written: readonly string[];
  readonly kernels: number;
  readonly problems: readonly { readonly path: string; readonly line: number | null; readonly message: string }[];
  readonly verification: unknown;
}

/** `divmod apply --format json`. */
export function applyJson(version: string, input: ApplyJsonInput): string {
  const of = (status: SiteResult['status']): number => input.sites.filter((site) => site.status === status).length;
  return render({
    tool: 'divmod', version, schema: 1,
    edits: input.sites.map(siteJson),
    diff: diffString(input.diff),
    written: input.written,
    problems: input.problems,
    ...(input.verification === null ? {} : { verification: input.verification }),
    summary: { kernels: input.kernels, sites: input.sites.length, applied: of('applied'), refused: of('refused'), skipped: of('skipped'), deferred: of('deferred') },
  });
}

export function render(value: unknown): string {
  return `${JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? Number(item) : item === Infinity ? null : item), 2)}\n`;
}

/** `divmod plan --format json`. */
export function planJson(version: string, proposals: readonly Proposal[], summary: Readonly<Record<string, number>>): string {
  return render({ tool: 'divmod', version, schema: 1, proposals, summary: { ...summary, recommended: proposals.filter((proposal) => proposal.recommended).length } });
}

export interface ExplainJsonInput {
  readonly path: string;
  readonly line: number;
  readonly branches: readonly { readonly kernel: string; readonly finding: PlainBranch }[];
  readonly hazards: readonly { readonly kernel: string; readonly hazard: Hazard }[];
  readonly sites: readonly SiteResult[];
}

/** `divmod explain --format json`. */
export function explainJson(version: string, { path, line, branches, hazards, sites }: ExplainJsonInput): string {
  return render({
    tool: 'divmod', version, schema: 1, path, line,
    branches: branches.map(({ kernel, finding }) => ({ kernel, ...branchJson(finding) })),
    hazards: hazards.map(({ kernel, hazard }) => ({ kernel, ...hazardJson(hazard) })),
    sites: sites.map(siteJson),
  });
}
