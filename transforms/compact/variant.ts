/** What a variant of compact is: for a heavy region, what must hold, what it gains and what it writes. */
import type { Change, Estimate, Obligation, TransformContext } from '../lib/types.js';
import type { Region } from './region.js';

/** A region as one variant sees it. */
export interface Prepared {
  /** One line for people, behind the text of the condition. */
  readonly summary: string;
  readonly obligations: readonly Obligation[];
  /** Called only if all obligations hold. */
  estimate(): Estimate;
  emit(): Change;
}

export interface CompactVariant {
  readonly name: string;
  readonly summary: string;
  readonly obligationIds: readonly string[];
  /** Null where the region is none of this variant's: nothing is said about it. */
  prepare(context: TransformContext, region: Region): Prepared | null;
}
