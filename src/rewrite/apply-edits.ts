/**
 * New text from old text and edits. Bytes outside the edits stay as they are; text that an edit brings takes the newline of the
 * line it lands on, so that a CRLF file stays one and a mixed file does not become more mixed.
 */
import MagicString from 'magic-string';
import type { Edit } from '../source/types.js';
import { landEdits } from './land-edits.js';

export { landEdits, newlineAt } from './land-edits.js';

/** The text after the edits. Throws `EditConflictError` if they overlap. */
export function applyEdits(text: string, edits: readonly Edit[], newline: '\n' | '\r\n'): string {
  const out = new MagicString(text);
  for (const { span, text: inserted } of landEdits(text, edits, newline)) {
    if (span.start === span.end) {
      if (inserted !== '') out.appendLeft(span.start, inserted);
    } else if (inserted === '') {
      out.remove(span.start, span.end);
    } else {
      out.update(span.start, span.end, inserted);
    }
  }
  return out.toString();
}
