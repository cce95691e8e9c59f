/**
 * From legal sites to proposals: what pays first. The order is by expected gain, at equal gain by how sure it is; what is legal but
 * does not pay stays in the list, at its end, with the reason.
 */
import type { Estimate, Obligation } from '../../transforms/lib/types.js';

export interface LegalSite {
  readonly path: string;
  readonly kernel: string;
  readonly function: string;
  readonly line: number;
  readonly transform: string;
  readonly variant: string | null;
  readonly summary: string;
  readonly estimate: Estimate;
  readonly obligations: readonly Obligation[];
}

export interface Proposal {
  readonly rank: number;
  readonly path: string;
  readonly kernel: string;
  readonly function: string;
  readonly line: number;
  readonly transform: string;
  readonly expected: { readonly speedup: number; readonly low: number; readonly high: number; readonly limiter: string };
  readonly breakEven: string | null;
  readonly tradeoffs: readonly string[];
  readonly recommended: boolean;
  readonly reason: string;
  readonly summary: string;
}

export function rankProposals(sites: readonly LegalSite[]): readonly Proposal[] {
  const sorted = [...sites].sort((a, b) =>
    Number(isWorthIt(b.estimate)) - Number(isWorthIt(a.estimate))
    || b.estimate.speedup - a.estimate.speedup
    || b.estimate.low - a.estimate.low
    || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
  return sorted.map(({ estimate, ...site }, i) => ({
    rank: i + 1,
    path: site.path,
    kernel: site.kernel,
    function: site.function,
    line: site.line,
    transform: site.variant === null ? site.transform : `${site.transform}:${site.variant}`,
    expected: { speedup: estimate.speedup, low: estimate.low, high: estimate.high, limiter: 'issue' },
    breakEven: estimate.breakEven,
    tradeoffs: tradeoffsOf(estimate, site.obligations),
    recommended: isWorthIt(estimate),
    reason: estimate.reason,
    summary: site.summary,
  }));
}

/** Less is not measurable, and every edit costs a reader's attention. */
const LEAST_GAIN = 1.02;

function isWorthIt(estimate: Estimate): boolean {
  return estimate.pays && estimate.speedup >= LEAST_GAIN;
}

function tradeoffsOf(estimate: Estimate, obligations: readonly Obligation[]): readonly string[] {
  const tradeoffs: string[] = [];
  if (estimate.traffic > 0) tradeoffs.push(`${estimate.traffic} bytes more memory traffic per thread`);
  if (estimate.low < 1) tradeoffs.push(`may lose: down to ${estimate.low.toFixed(2)}x`);
  for (const obligation of obligations) if (obligation.status === 'assumed') tradeoffs.push(`rests on the grant ${obligation.grant ?? ''}: ${obligation.text}`);
  return tradeoffs;
}
