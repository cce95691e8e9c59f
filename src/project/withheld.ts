/**
 * What becomes of edits when the simulator finds that a kernel no longer does what it did, or cannot read it any more: none of them is offered. Edits build on
 * one another and were run together, so those of the kernels that differ are refused, and all others of the run are put off.
 */
import type { Obligation } from '../../transforms/lib/types.js';
// The simulator behind it is not loaded by those who do not verify.
import { isRejected } from '../verify/rejected.js';
import type { SiteResult } from './rounds.js';
import type { Verification } from './simulation.js';

const ID = 'same-result';

/** The sites as they are without a difference; `shown`: the diff was asked for all the same, and stays with its site. */
export function withheld(sites: readonly SiteResult[], verifications: readonly Verification[], shown: boolean): readonly SiteResult[] {
  const differing = rejected(verifications);
  const [first] = differing;
  if (first === undefined) return sites;
  return sites.map((site) => {
    if (site.status !== 'applied') return site;
    const kept = shown ? {} : { diff: new Uint8Array(0), sequence: 0 };
    const found = differing.find(({ functions }) => functions.has(functionKey(site.realPath, site.function)));
    if (found === undefined) return { ...site, ...kept, status: 'deferred', reason: `the edits of this run were tried together, and ${first.kernel} ${first.verdict.status === 'different' ? 'comes out different' : 'is not understood after them'}` };
    return { ...site, ...kept, status: 'refused', obligations: [...site.obligations, differs(site.line, found)] };
  });
}

/** A function of a file, as `Verification.functions` names it. */
export function functionKey(realPath: string, name: string): string {
  return `${realPath}\0${name}`;
}

/** Kernels of which the edits must not be taken. */
export function rejected(verifications: readonly Verification[]): readonly Verification[] {
  return verifications.filter(({ verdict }) => isRejected(verdict));
}

function differs(line: number, { kernel, verdict }: Verification): Obligation {
  const refuted = (text: string): Obligation => ({ id: ID, status: 'refuted', grant: null, line, text, remedy: null });
  switch (verdict.status) {
    case 'different': return refuted(`on the simulator ${kernel} does something else after the edit: ${verdict.counterexample.differences[0] ?? 'memory'} (replay with ${verdict.counterexample.replay})`);
    case 'not-verified': return refuted(`the simulator runs ${kernel} as it was, and does not understand it after the edit: ${verdict.obstacles.find((o) => o.lost === true)?.reason ?? ''}`);
    case 'equal': return refuted(`${kernel} is equal`);
    default: {
      const never: never = verdict;
      return never;
    }
  }
}

/** Edited functions that no kernel at hand runs, so that nothing was compared; by file. */
export function untried(sites: readonly SiteResult[], verifications: readonly Verification[]): readonly SiteResult[] {
  const ran = new Set(verifications.flatMap(({ functions }) => [...functions]));
  const seen = new Set<string>();
  return sites.filter((site) => {
    const key = functionKey(site.realPath, site.function);
    if (site.status !== 'applied' || ran.has(key) || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
