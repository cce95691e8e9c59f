/**
 * Which changes can be made together. A change is a set of edits with the text that its proof read; changes are taken in the order
 * they are offered, and one that meets an earlier one is deferred, never dropped.
 *
 * Two changes meet when (a) their edits touch one character or insert at one place, so that the result would depend on the order,
 * or (b) an edit of one lies in text that the proof of the other read: that proof would no longer speak about the file.
 */
import type { Edit, FileSpan, Span } from '../source/types.js';

export interface PlannedChange {
  readonly edits: readonly Edit[];
  readonly reads: readonly FileSpan[];
}

export type Admission = { readonly accepted: true } | { readonly accepted: false; readonly reason: string };

/** Thrown when the edits of one change contradict each other: a fault of whoever made the change. */
export class EditConflictError extends Error {}

/** Order of edits in a file: by place; at one place an insertion stands before a replacement. */
export function compareEdits(a: Edit, b: Edit): number {
  return a.span.start - b.span.start || a.span.end - b.span.end;
}

/** Sorted copy of one file's edits. Throws `EditConflictError` if two overlap. Insertions at one place keep their order. */
export function sortDisjoint(edits: readonly Edit[]): readonly Edit[] {
  const sorted = [...edits].sort(compareEdits);
  let previous: Edit | null = null;
  for (const edit of sorted) {
    if (edit.span.start > edit.span.end) throw new EditConflictError(`edit [${edit.span.start}, ${edit.span.end}) runs backwards`);
    if (previous !== null && edit.span.start < previous.span.end) {
      throw new EditConflictError(
        `edits [${previous.span.start}, ${previous.span.end}) and [${edit.span.start}, ${edit.span.end}) overlap in ${edit.file}`,
      );
    }
    previous = edit;
  }
  return sorted;
}

/** Edits by file, each list sorted and disjoint. */
export function editsByFile(edits: readonly Edit[]): ReadonlyMap<string, readonly Edit[]> {
  const lists = new Map<string, Edit[]>();
  for (const edit of edits) {
    const list = lists.get(edit.file);
    if (list === undefined) lists.set(edit.file, [edit]);
    else list.push(edit);
  }
  const result = new Map<string, readonly Edit[]>();
  for (const file of [...lists.keys()].sort()) result.set(file, sortDisjoint(lists.get(file) ?? []));
  return result;
}

/** Do two edits of different changes interfere? Touching replacements do not; an insertion at the edge of another edit does. */
export function editsMeet(a: Span, b: Span): boolean {
  const insertion = a.start === a.end || b.start === b.end;
  return insertion ? a.start <= b.end && b.start <= a.end : a.start < b.end && b.start < a.end;
}

/** Does an edit change the text of a span? An insertion at the edge leaves the span's own text as it was. */
export function editTouches(edit: Span, read: Span): boolean {
  return edit.start < read.end && read.start < edit.end;
}

/** Collects changes that may be made together. */
export class EditPlan {
  private readonly edits = new Map<string, Edit[]>();
  private readonly reads = new Map<string, Span[]>();
  private changes = 0;

  /** Number of changes accepted. */
  get size(): number {
    return this.changes;
  }

  /** Takes the change, or says what it meets. Throws `EditConflictError` if the change contradicts itself. */
  offer(change: PlannedChange): Admission {
    editsByFile(change.edits);
    for (const edit of change.edits) {
      for (const other of this.edits.get(edit.file) ?? []) {
        if (editsMeet(edit.span, other.span)) return { accepted: false, reason: 'another edit of this run touches the same text' };
      }
      for (const read of this.reads.get(edit.file) ?? []) {
        if (editTouches(edit.span, read)) return { accepted: false, reason: 'it would change text that the proof of another edit rests on' };
      }
    }
    for (const read of change.reads) {
      for (const other of this.edits.get(read.file) ?? []) {
        if (editTouches(other.span, read)) return { accepted: false, reason: 'another edit of this run changes text that its proof rests on' };
      }
    }
    for (const edit of change.edits) push(this.edits, edit.file, edit);
    for (const read of change.reads) push(this.reads, read.file, read);
    this.changes += 1;
    return { accepted: true };
  }

  /** All accepted edits by file, sorted and disjoint. */
  byFile(): ReadonlyMap<string, readonly Edit[]> {
    return editsByFile([...this.edits.values()].flat());
  }
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
