/**
 * Where a compaction begins to pay, in the two things that decide: the share of active lanes and the length of the heavy part. Found by
 * trying, since both ways of running it are no simple functions of the two.
 */
import { percentOf } from '../lib/stated-share.js';

/** Speed-up below which an edit is not worth it. */
export const WORTH = 1.05;
const LONGEST = 4096;
/** Shares that are tried, from rare to all. */
const SHARES: readonly number[] = [0.001, 0.002, 0.005, ...Array.from({ length: 100 }, (_, i) => (i + 1) / 100)];

/** The speed-up with a share of the lanes active and a heavy part of so many instructions. */
export type Gain = (share: number, length: number) => number;

/** Instructions of the heavy part from which it pays at a share; null if at no length. */
export function lengthFor(gain: Gain, share: number): number | null {
  for (let length = 8; length <= LONGEST; length += length < 256 ? 8 : 64) if (gain(share, length) >= WORTH) return length;
  return null;
}

/** `from 1% to 62%`: the shares at which a heavy part of that length pays; null if at none. */
export function sharesFor(gain: Gain, length: number): { readonly from: number; readonly to: number } | null {
  const paying = SHARES.filter((share) => gain(share, length) >= WORTH);
  const [from] = paying;
  const to = paying.at(-1);
  return from === undefined || to === undefined ? null : { from, to };
}

/** Both in one sentence. */
export function breakEvenText(gain: Gain, share: number, origin: string, length: number): string {
  const enough = lengthFor(gain, share);
  const range = sharesFor(gain, length);
  const needed = enough === null ? `no length of the heavy part pays with ${percentOf(share)} active lanes (${origin})` : `it pays from a heavy part of about ${enough} instructions with ${percentOf(share)} active lanes (${origin})`;
  const about = Math.round(length);
  return `${needed}; with the ${about} instructions that it has, ${range === null ? 'at no share of active lanes' : `from ${percentOf(range.from)} to ${percentOf(range.to)} active lanes`}`;
}
