/** Sites in one sentence. */
import type { SiteResult } from '../project/rounds.js';

/** The obligations that stopped a site, in one line. */
export function holdsNot(site: SiteResult): string {
  return site.obligations
    .filter((obligation) => obligation.status !== 'proved' && obligation.status !== 'assumed')
    .map((obligation) => `${obligation.id} ${obligation.status} (line ${obligation.line}): ${obligation.text}`)
    .join('; ');
}
