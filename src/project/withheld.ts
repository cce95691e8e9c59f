/**
 * What becomes of edits when the simulator finds that a kernel no longer does what it did: none of them is offered. Edits build on one another and were run together, so
 * those of the kernels that differ are refused, and all others of the run are put off.
 */
import type { Obligation } from '../../transforms/lib/types.js';
import type { SiteResult } from './rounds.js';
import type { Verification } from './simulation.js';

const ID = 'same-result';

/** The sites as they are without a difference; `shown`: the diff was asked for all the same, and stays with its site. */
export function withheld(sites: readonly SiteResult[], verifications: readonly Verification[], shown: boolean): readonly SiteResult[] {
  const differing = verifications.filter(({ verdict }) => verdict.status === 'different');
  const [first] = differing;
  if (first === undefined) return sites;
  return sites.map((site) => {
    if (site.status !== 'applied') return site;
    const kept = shown ? {} : { diff: Buffer.alloc(0), sequence: 0 };
    const found = differing.find(({ functions }) => functions.has(functionKey(site.realPath, site.function)));
    if (found === undefined) return { ...site, ...kept, status: 'deferred', reason: `the edits of this run were tried together, and ${first.kernel} comes out different` };
    return { ...site, ...kept, status: 'refused', obligations: [...site.obligations, differs(site.line, found)] };
  });
}

/** A function of a file, as `Verification.functions` names it. */
export function functionKey(realPath: string, name: string): string {
  return `${realPath}\0${name}`;
}

function differs(line: number, { kernel, verdict }: Verification): Obligation {
  const what = verdict.status === 'different' ? `${verdict.counterexample.differences[0] ?? 'memory'} (replay with ${verdict.counterexample.replay})` : '';
  return { id: ID, status: 'refuted', grant: null, line, text: `on the simulator ${kernel} does something else after the edit: ${what}`, remedy: null };
}
