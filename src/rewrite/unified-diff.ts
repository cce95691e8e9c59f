/**
 * A unified diff that `git apply` and `patch -p1` accept, as bytes: lines of a Latin-1 file leave as the bytes they are.
 */
import type { Edit, Encoding } from '../source/types.js';
import { landEdits } from './apply-edits.js';
import { lineChanges, splitLines, type LineChange } from './line-changes.js';

export interface DiffInput {
  /** Path as it shall stand in the header, without `a/`; relative, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly encoding: Encoding;
  readonly bom: boolean;
  readonly newline: '\n' | '\r\n';
  readonly edits: readonly Edit[];
}

const CONTEXT = 3;

/** Bytes of the diff; empty if the edits change nothing. */
export function unifiedDiff(input: DiffInput): Uint8Array {
  // The byte-order mark belongs to the first line, so that the diff speaks about the file as it lies on disk.
  const landed = landEdits(input.text, input.edits, input.newline);
  const text = input.bom ? `\uFEFF${input.text}` : input.text;
  const edits = input.bom ? landed.map(shiftByOne) : landed;
  const lines = splitLines(text);
  const changes = lineChanges(text, lines, edits);
  if (changes.length === 0) return new Uint8Array(0);

  const out: string[] = [];
  const emit = (sign: ' ' | '+' | '-', line: string): void => {
    out.push(sign, line, line.endsWith('\n') ? '' : '\n\\ No newline at end of file\n');
  };
  let grown = 0;
  for (const hunk of hunksOf(changes, lines.length)) {
    const removed = hunk.changes.reduce((n, c) => n + c.oldEnd - c.oldStart, 0);
    const added = hunk.changes.reduce((n, c) => n + c.newLines.length, 0);
    const oldCount = hunk.end - hunk.start;
    const newCount = oldCount - removed + added;
    out.push(`@@ -${range(hunk.start, oldCount)} +${range(hunk.start + grown, newCount)} @@\n`);
    let line = hunk.start;
    for (const change of hunk.changes) {
      for (; line < change.oldStart; line++) emit(' ', lines[line] ?? '');
      for (; line < change.oldEnd; line++) emit('-', lines[line] ?? '');
      for (const added of change.newLines) emit('+', added);
    }
    for (; line < hunk.end; line++) emit(' ', lines[line] ?? '');
    grown += added - removed;
  }
  const body = out.join('');
  const header = diffHeader(input.path);
  return Buffer.concat([Buffer.from(header, 'utf8'), Buffer.from(body, input.encoding === 'latin1' ? 'latin1' : 'utf8')]);
}

function shiftByOne(edit: Edit): Edit {
  return { ...edit, span: { start: edit.span.start + 1, end: edit.span.end + 1 } };
}

interface Hunk { readonly start: number; end: number; readonly changes: LineChange[] }

function hunksOf(changes: readonly LineChange[], lineCount: number): readonly Hunk[] {
  const hunks: Hunk[] = [];
  for (const change of changes) {
    const start = Math.max(0, change.oldStart - CONTEXT);
    const end = Math.min(lineCount, change.oldEnd + CONTEXT);
    const open = hunks.at(-1);
    if (open !== undefined && start <= open.end) {
      open.end = end;
      open.changes.push(change);
    } else {
      hunks.push({ start, end, changes: [change] });
    }
  }
  return hunks;
}

/** `start,count` as diff spells it: lines from 1, the line before when there are none, the count left out when it is 1. */
function range(start: number, count: number): string {
  if (count === 0) return `${start},0`;
  return count === 1 ? `${start + 1}` : `${start + 1},${count}`;
}

/**
 * Without a `diff --git` line: behind one, `git apply` takes paths from the top of the work tree and skips, silently, the diff of a run in a
 * folder below it. Paths of a plain diff start where it is applied, for git as for patch.
 */
function diffHeader(path: string): string {
  const before = quotePath(`a/${path}`);
  const after = quotePath(`b/${path}`);
  // A tab after a name with a space: without it, patch takes the name to end at the space. Git writes it too.
  const tab = path.includes(' ') && !before.startsWith('"') ? '\t' : '';
  return `--- ${before}${tab}\n+++ ${after}${tab}\n`;
}

const ESCAPES = new Map<number, string>([
  [7, '\\a'], [8, '\\b'], [9, '\\t'], [10, '\\n'], [11, '\\v'], [12, '\\f'], [13, '\\r'], [0x22, '\\"'], [0x5c, '\\\\'],
]);

/** A path as git writes it: in quotes with octal bytes if it holds a quote, a backslash, a control or a non-ASCII character. */
export function quotePath(path: string): string {
  let quoted = '';
  let needed = false;
  for (const byte of Buffer.from(path, 'utf8')) {
    const escape = ESCAPES.get(byte);
    if (escape !== undefined) quoted += escape;
    else if (byte < 0x20 || byte >= 0x7f) quoted += `\\${byte.toString(8).padStart(3, '0')}`;
    else {
      quoted += String.fromCharCode(byte);
      continue;
    }
    needed = true;
  }
  return needed ? `"${quoted}"` : path;
}
