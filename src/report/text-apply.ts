/** What apply says besides the diff: the certificate of each edit, and what was refused, with the line and what would help. */
import type { Obligation } from '../../transforms/lib/types.js';
import type { SiteResult } from '../project/rounds.js';
import { count, quantity, styleFor, type Style } from './style.js';

/** What an edit is called that is legal and was kept back. */
const NOT_WRITTEN = 'not written';

/** Refusals, skips and deferrals, one paragraph each. */
export function refusalsText(sites: readonly SiteResult[], color: boolean): string {
  const style = styleFor(color);
  return sites.filter((site) => site.status !== 'applied').map((site) => refusalText(site, style)).join('');
}

function title(site: SiteResult): string {
  return `${site.path}:${site.line}: ${site.transform}${site.function === '' ? '' : ` in ${site.function}`}`;
}

function refusalText(site: SiteResult, style: Style): string {
  const out = [`${title(site)}: ${style.yellow(site.status)}: ${site.summary}`];
  if (site.reason !== null) out.push(`  ${site.reason}`);
  // What would have to be different is the remedy of an edit that was kept back.
  if (site.status === 'skipped' && site.estimate !== null && site.estimate.breakEven !== null) out.push(`  ${style.dim('break-even')} ${site.estimate.breakEven}`);
  for (const obligation of site.obligations) {
    if (obligation.status === 'proved' || obligation.status === 'assumed') continue;
    out.push(`  ${style.red(obligation.id)} ${obligation.status}, line ${obligation.line}: ${obligation.text}`);
    if (obligation.remedy !== null) out.push(`    ${style.dim('what would help:')} ${obligation.remedy}`);
  }
  return `${out.join('\n')}\n`;
}

/**
 * The proof of each applied edit. Assumptions are named even without `--explain`: they are part of what was done. `kept` tells that the
 * edits were to be written, and were not.
 */
export function certificatesText(sites: readonly SiteResult[], color: boolean, explain: boolean, kept = false): string {
  const style = styleFor(color);
  const out: string[] = [];
  for (const site of sites) {
    if (site.status !== 'applied') continue;
    const assumed = site.obligations.filter((obligation) => obligation.status === 'assumed');
    out.push(`${title(site)}: ${kept ? style.yellow(NOT_WRITTEN) : style.green('applied')}: ${site.summary}`);
    for (const obligation of explain ? site.obligations : assumed) out.push(`  ${obligationText(obligation, style)}`);
    if (explain && site.estimate !== null) {
      const { estimate } = site;
      out.push(`  ${style.dim('estimate')} ${estimate.speedup.toFixed(2)}x (${estimate.low.toFixed(2)} to ${estimate.high.toFixed(2)}), ${quantity(estimate.instructionsBefore)} → ${quantity(estimate.instructionsAfter)} instructions a warp: ${estimate.reason}`);
      if (estimate.breakEven !== null) out.push(`  ${style.dim('break-even')} ${estimate.breakEven}`);
    }
  }
  return out.length === 0 ? '' : `${out.join('\n')}\n`;
}

export function obligationText(obligation: Obligation, style: Style): string {
  const paint = obligation.status === 'proved' ? style.green : obligation.status === 'assumed' ? style.yellow : style.red;
  const grant = obligation.grant === null ? '' : ` (grant ${obligation.grant})`;
  return `${paint(obligation.status)} ${obligation.id}${grant}, line ${obligation.line}: ${obligation.text}`;
}

export interface ClosingInput {
  readonly sites: readonly SiteResult[];
  readonly kernels: number;
  readonly files: number;
  readonly transforms: readonly string[];
  readonly written: readonly string[] | null;
}

/** The closing line: never silent, also when nothing came of it. */
export function closingText({ sites, kernels, files, transforms, written }: ClosingInput): string {
  const of = (status: SiteResult['status']): number => sites.filter((site) => site.status === status).length;
  const looked = `${count(kernels, 'kernel')} in ${count(files, 'file')} looked at`;
  if (sites.length === 0) return `0 sites of ${transforms.join(', ')}: ${looked}, and none has the shape\n`;
  const made = written !== null && written.length === 0 && of('applied') > 0 ? NOT_WRITTEN : 'applied';
  const parts = [`${of('applied')} ${made}`, `${of('refused')} refused`, `${of('skipped')} skipped`, `${of('deferred')} deferred`].filter((part) => !part.startsWith('0 ') || part.endsWith(made));
  const tail = written === null ? '' : written.length === 0 ? (made === 'applied' ? '; nothing written' : '') : `; wrote ${written.join(', ')}`;
  return `${count(sites.length, 'site')}: ${parts.join(', ')} (${looked})${tail}\n`;
}
