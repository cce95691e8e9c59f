/** Edits as they land in a file: in order, and with the newlines that are in force where they land. */
import type { Edit } from '../source/types.js';
import { sortDisjoint } from './plan.js';

/** The newline in force at an offset: that of its own line, else (last line without one) of the line before, else `fallback`. */
export function newlineAt(text: string, offset: number, fallback: '\n' | '\r\n'): '\n' | '\r\n' {
  let end = text.indexOf('\n', offset);
  if (end < 0) end = text.lastIndexOf('\n', Math.max(0, offset - 1));
  if (end < 0) return fallback;
  return end > 0 && text.charCodeAt(end - 1) === 13 ? '\r\n' : '\n';
}

/** Edits as they will land: sorted, disjoint, their newlines those of the file. All must belong to one file. */
export function landEdits(text: string, edits: readonly Edit[], newline: '\n' | '\r\n'): readonly Edit[] {
  return sortDisjoint(edits).map((edit) => {
    if (edit.span.start < 0 || edit.span.end > text.length) {
      throw new RangeError(`edit [${edit.span.start}, ${edit.span.end}) lies outside ${edit.file}`);
    }
    return edit.text.includes('\n') ? { ...edit, text: edit.text.replace(/\r?\n/g, newlineAt(text, edit.span.start, newline)) } : edit;
  });
}
