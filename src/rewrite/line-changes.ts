/**
 * Which lines a set of edits changes. The edits say where to look, so the cost follows their size and not the file's: a general
 * differ compares whole files and is quadratic where much changes.
 */
import { diffArrays } from 'diff';
import type { Edit } from '../source/types.js';

/** Lines `[oldStart, oldEnd)` of the old text (from 0) become `newLines`; every line carries its newline, if it has one. */
export interface LineChange {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newLines: readonly string[];
}

/** Lines of a text with their newlines. Only `\n` ends a line, as for git and patch. An empty text has none. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    lines.push(text.slice(start, end + 1));
    start = end + 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

interface Region { first: number; last: number; edits: Edit[] }

/** Largest number of differing lines that the differ inside one edit looks for; beyond it the edit is shown as one block. */
const MAX_EDIT_LENGTH = 2000;

/** The changed lines, in order and apart from each other. `edits` sorted, disjoint and with their final newlines (`landEdits`). */
export function lineChanges(text: string, lines: readonly string[], edits: readonly Edit[]): readonly LineChange[] {
  const starts = [0];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length);
  const at = (i: number): number => starts[i] ?? text.length;
  const lineOf = (offset: number): number => {
    let low = 0;
    let high = lines.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (at(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  const regions: Region[] = [];
  for (const edit of edits) {
    // Line `last` is taken in whole even if the edit ends where it begins: text without a newline at its end joins it.
    const first = lineOf(edit.span.start);
    const last = Math.min(lineOf(edit.span.end), lines.length - 1);
    const open = regions.at(-1);
    // At the end of a text without a last newline, inserted text continues the last line.
    const begin = first === lines.length && first > 0 && !(lines[first - 1] ?? '').endsWith('\n') ? first - 1 : first;
    if (open !== undefined && begin <= open.last + 1) {
      open.last = Math.max(open.last, last);
      open.edits.push(edit);
    } else {
      regions.push({ first: begin, last, edits: [edit] });
    }
  }

  const changes: LineChange[] = [];
  for (const region of regions) {
    const end = region.last + 1;
    let fresh = '';
    let from = at(region.first);
    for (const edit of region.edits) {
      fresh += text.slice(from, edit.span.start) + edit.text;
      from = edit.span.end;
    }
    fresh += text.slice(from, Math.max(from, at(end)));
    changes.push(...compare(lines, region.first, Math.max(end, region.first), splitLines(fresh)));
  }
  return changes;
}

/** Drops what is equal at both ends, then diffs the middle. */
function compare(old: readonly string[], oldStart: number, oldEnd: number, fresh: readonly string[]): LineChange[] {
  let start = oldStart;
  let end = oldEnd;
  let low = 0;
  let high = fresh.length;
  while (start < end && low < high && old[start] === fresh[low]) {
    start++;
    low++;
  }
  while (start < end && low < high && old[end - 1] === fresh[high - 1]) {
    end--;
    high--;
  }
  if (start === end && low === high) return [];
  const whole: LineChange = { oldStart: start, oldEnd: end, newLines: fresh.slice(low, high) };
  if (start === end || low === high) return [whole];
  const parts = diffArrays(old.slice(start, end), fresh.slice(low, high), { maxEditLength: MAX_EDIT_LENGTH });
  if (parts === undefined) return [whole];

  const changes: LineChange[] = [];
  let line = start;
  let open: { oldStart: number; oldEnd: number; newLines: string[] } | null = null;
  for (const part of parts) {
    if (!part.added && !part.removed) {
      if (open !== null) changes.push(open);
      open = null;
      line += part.value.length;
      continue;
    }
    open ??= { oldStart: line, oldEnd: line, newLines: [] };
    if (part.removed) {
      line += part.value.length;
      open.oldEnd = line;
    } else {
      open.newLines.push(...part.value);
    }
  }
  if (open !== null) changes.push(open);
  return changes;
}
