/** How sure a hazard by divergence is: what decides must be understood, and must differ whatever the sizes are. */
import type { Partition } from '../../analysis/arrival.js';
import type { Severity } from '../types.js';
import { sharedByArms } from './arms.js';

export interface Weighed {
  readonly severity: Severity;
  /** The partitions that make it a hazard. */
  readonly partitions: readonly Partition[];
}

/**
 * `error` if one of the partitions surely keeps threads away for some input, `caution` if it may; null if there is none. Partitions whose other arm makes the
 * same calls are left out, and so is what is not known of lambdas.
 */
export function weigh(partitions: readonly Partition[]): Weighed | null {
  const own = partitions.filter((partition) => partition.by !== 'lambda' && !sharedByArms(partition));
  if (own.length === 0) return null;
  const sure = own.filter((partition) => partition.known && partition.unless === null);
  return sure.length > 0 ? { severity: 'error', partitions: sure } : { severity: 'caution', partitions: own };
}

export function caveat(weighed: Weighed): string {
  if (weighed.severity === 'error') return '';
  const unless = weighed.partitions.find((partition) => partition.unless !== null)?.unless ?? null;
  return unless !== null ? `, unless ${unless}` : ', if what decides differs between them (it is not understood)';
}
