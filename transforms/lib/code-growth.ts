/**
 * Is a gain worth the code that it adds? Lines that say the same twice are read, tested and kept in step for years; a loop that the compiler
 * makes two of anyway, or whose guard does not show beside its body, is not worth a second copy in the source.
 */
import type { Change, Estimate, TransformContext } from './types.js';

/** Lines that whoever asks for a transform will look at without being promised a gain: a small loop twice. */
const FREE_LINES = 12;
/** The same where no warp diverges, so that the compiler's own way with the test is as good: an `if` around a loop of two lines. */
const FREE_LINES_AGREED = 6;
/** Expected gains below this are none: estimates are off by more, and no launch shows them. */
const LEAST_GAIN = 0.02;
/** Expected gain that each line beyond them must bring: 20 lines for one percent. */
const GAIN_PER_LINE = 0.0005;

/** The estimate, which no longer pays where the text grows by more lines than the gain is worth. */
export function worthItsLines(estimate: Estimate, change: Change, { unit }: TransformContext): Estimate {
  if (!estimate.pays) return estimate;
  const lines = linesAdded(change, unit.source.text, unit.source.realPath);
  const free = estimate.agreed === true ? FREE_LINES_AGREED : FREE_LINES;
  const gain = estimate.speedup - 1;
  // Speed-ups are rounded to two or three digits.
  if (lines <= free || (gain >= LEAST_GAIN - 1e-9 && gain >= (lines - free) * GAIN_PER_LINE)) return estimate;
  const expected = gain < 0.0005 ? 'no gain is expected' : `a gain of ${(gain * 100).toFixed(1)}% is expected`;
  return { ...estimate, pays: false, reason: `${estimate.reason}; ${expected}, which is not worth ${lines} more lines of source` };
}

/** Lines of source by which an edit makes its file longer; negative where it makes it shorter. */
function linesAdded(change: Change, text: string, path: string): number {
  let added = 0;
  for (const edit of change.edits) {
    if (edit.file !== path) continue;
    added += newlines(edit.text) - newlines(text.slice(edit.span.start, edit.span.end));
  }
  return added;
}

function newlines(text: string): number {
  return text.split('\n').length - 1;
}
