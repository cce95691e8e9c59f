/** `divmod explain FILE:LINE`: the chain of facts behind each verdict on a line, and the obligations of each site on it. */
import type { BranchFinding, Hazard } from '../audit/types.js';
import type { SiteResult } from '../project/rounds.js';
import { quantity, share, styleFor, type Style } from './style.js';
import { obligationText } from './text-apply.js';

export interface Explained {
  readonly path: string;
  readonly line: number;
  readonly code: string;
  readonly branches: readonly { readonly kernel: string; readonly finding: BranchFinding }[];
  readonly hazards: readonly { readonly kernel: string; readonly hazard: Hazard }[];
  readonly sites: readonly SiteResult[];
}

export function explainText(explained: Explained, color: boolean): string {
  const style = styleFor(color);
  const out = [`${style.bold(`${explained.path}:${explained.line}`)}  ${explained.code.trim()}`];
  for (const { kernel, finding } of explained.branches) out.push('', ...branchText(kernel, finding, style));
  for (const { kernel, hazard } of explained.hazards) {
    out.push('', `${style.bold(hazard.id)} (${hazard.severity}) in ${kernel}: ${hazard.message}`, ...chain(hazard.because, style));
    if (hazard.repair !== '') out.push(`  repair: ${hazard.repair}`);
  }
  for (const site of explained.sites) {
    out.push('', `${style.bold(site.transform)} in ${site.function}: ${site.status === 'applied' ? 'can be applied' : site.status}: ${site.summary}`);
    if (site.reason !== null) out.push(`  ${site.reason}`);
    for (const obligation of site.obligations) {
      out.push(`  ${obligationText(obligation, style)}`);
      if (obligation.remedy !== null && (obligation.status === 'refuted' || obligation.status === 'unknown')) out.push(`    ${style.dim('what would help:')} ${obligation.remedy}`);
    }
    if (site.estimate !== null) out.push(`  estimate ${site.estimate.speedup.toFixed(2)}x (${site.estimate.low.toFixed(2)} to ${site.estimate.high.toFixed(2)}): ${site.estimate.reason}`);
    if (site.estimate !== null && site.estimate.breakEven !== null) out.push(`  break-even ${site.estimate.breakEven}`);
  }
  if (explained.branches.length + explained.hazards.length + explained.sites.length === 0) out.push('', 'no branch, hazard or site on this line');
  return `${out.join('\n')}\n`;
}

function branchText(kernel: string, finding: BranchFinding, style: Style): string[] {
  const { cost, divergence } = finding;
  const out = [`${style.bold(finding.condition)}  ${finding.kind} in ${finding.function}${finding.function === kernel ? '' : ` for ${kernel}`}: ${style.bold(finding.class)}, scope ${finding.scope}`];
  for (const call of finding.via) out.push(`  called at ${call.path}:${call.line}`);
  out.push(...chain(finding.because, style));
  for (const assumption of finding.under) out.push(`  if ${assumption}`);
  if (finding.exits.length > 0) out.push(`  threads leave here by ${finding.exits.join(', ')}`);
  if (finding.class !== 'unknown') {
    out.push(`  diverges in ${share(divergence.rate)} of the warps that arrive; true for ${share(divergence.p)} of the threads (${divergence.origin})`);
    for (const arm of cost.arms) out.push(`  arm ${arm.label}: ${quantity(arm.instructions)} instructions, run by ${share(arm.share)} of the threads`);
    out.push(`  overhead ${cost.overhead.toFixed(2)} times the longest arm, efficiency ${share(cost.efficiency)}, ${quantity(cost.lostSlots)} issue slots lost (${cost.provider} model${cost.predicated ? ', most likely predicated' : ''})`);
  }
  out.push(`  ${finding.advice}: ${finding.reason}`);
  return out;
}

function chain(because: BranchFinding['because'], style: Style): string[] {
  return because.map((reason, i) => `  ${'  '.repeat(Math.min(i, 6))}${style.dim('because')} ${reason.text} ${style.dim(`(${reason.path}:${reason.line})`)}`);
}
