/**
 * Assumptions that a user may give or withdraw by name. A grant turns an obligation that could not be proved into one that is
 * assumed, and says so in the certificate. None can overrule an obligation that was refuted.
 */
import type { Grant } from './types.js';

export const GRANTS: readonly Grant[] = [
  { name: 'contract', default: true, summary: 'results are compared as compiled with -fmad=false; fusing of products and sums may change (withdrawn by --strict-fp)' },
  { name: 'all-launches-visible', default: true, summary: 'the launches that divmod sees are all there are, if every file that can see the kernel is loaded' },
  { name: 'visible-instantiations', default: true, summary: 'the template instantiations that divmod sees are all there are' },
  { name: 'launch-shape', default: true, summary: 'blocks have the shape that the visible launches, an option or an annotation say' },
  { name: 'index-range', default: true, summary: 'sums and products of block and thread numbers, sizes and constants, and counters that rise by them below a bound, do not wrap around in their integer type (differences and counters that fall may)' },
  { name: 'positive-constants', default: true, summary: 'macros and template parameters that other builds may set otherwise are counts, from 1 to 32767, as they are here' },
  { name: 'arithmetic-types', default: true, summary: 'types that no loaded file declares, and types of templates of which not all instances are known, are numbers: their operators have no effects' },
  { name: 'race-free', default: true, summary: 'no two threads write one element, or one writes what another reads, between two barriers: what they race for may come out otherwise' },
  { name: 'exclusive-memory', default: false, summary: 'no other block writes global memory that is read meanwhile' },
  { name: 'noalias', default: false, summary: 'pointers of one address space with different names do not overlap' },
  { name: 'approximate', default: false, summary: 'results may differ in the last bits (reciprocals, reciprocal square roots)' },
  { name: 'reassociate', default: false, summary: 'floating sums may be taken in another order' },
];

/** Names in force: the default grants with `allow` added and `deny` taken away. Unknown names are for the caller to report. */
export function grantsInForce(allow: Iterable<string> = [], deny: Iterable<string> = []): ReadonlySet<string> {
  const names = new Set(GRANTS.filter((grant) => grant.default).map((grant) => grant.name));
  for (const name of allow) names.add(name);
  for (const name of deny) names.delete(name);
  return names;
}

export function isDefaultGrant(name: string): boolean {
  return GRANTS.some((grant) => grant.name === name && grant.default);
}

export function isGrant(name: string): boolean {
  return GRANTS.some((grant) => grant.name === name);
}

/** The grant that discharges an assumption as the analyses word it (`Fact.under`); null if none does. */
export function grantFor(assumption: string): string | null {
  const text = assumption.toLowerCase();
  if (/alias|overlap/.test(text)) return 'noalias';
  if (/no other block writes/.test(text)) return 'exclusive-memory';
  if (/launch|caller|call sites?|no other call|every call|all calls/.test(text)) return 'all-launches-visible';
  if (/instantiation|template/.test(text)) return 'visible-instantiations';
  if (/blockdim|block shape|griddim|--block|one-dimensional|block=/.test(text)) return 'launch-shape';
  return null;
}
