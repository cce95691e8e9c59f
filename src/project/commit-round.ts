/**
 * Makes the edits of one round in the workspace, and takes back those after which the parser understands less than before, or a local has lost its
 * declaration.
 */
import { applyEdits, landEdits } from '../rewrite/apply-edits.js';
import { editsByFile } from '../rewrite/plan.js';
import { unifiedDiff } from '../rewrite/unified-diff.js';
import { endsInReturns } from '../source/index.js';
import type { Edit, SourceFile } from '../source/types.js';
import type { Program } from '../syntax/tree.js';
import type { Change, Obligation } from '../../transforms/lib/types.js';
import type { InputFile } from './files.js';
import { lostName } from './lost-names.js';
import type { Workspace } from './workspace.js';

/** A change with the line that a refusal would name. */
export interface RoundChange {
  readonly change: Change;
  readonly line: number;
}

/** Makes the edits of a round. Those that leave text the parser does not understand are taken back and refused. `undo` takes back all that were kept. */
export function commitRound(
  workspace: Workspace, group: readonly InputFile[], before: Program, taken: readonly RoundChange[], pathInDiff: (source: SourceFile) => string,
): { readonly kept: ReadonlyMap<number, Uint8Array>; readonly rejected: ReadonlyMap<number, Obligation>; readonly undo: () => void } {
  const kept = new Map<number, Uint8Array>();
  const rejected = new Map<number, Obligation>();
  let undoAll = (): void => undefined;
  const attempt = (indices: readonly number[]): string | null => {
    const undo = workspace.commit(editsByFile(indices.flatMap((i) => taken[i]?.change.edits ?? [])));
    const trouble = newTrouble(before, workspace.program(group));
    if (trouble !== null) undo();
    else undoAll = undo;
    return trouble;
  };

  const returns = new Map(taken.map(({ change, line }, i) => [i, inReturns(workspace, change, line)]));
  for (const [i, refusal] of returns) if (refusal !== null) rejected.set(i, refusal);
  const all = taken.map((_, i) => i).filter((i) => !rejected.has(i));
  const texts = new Map<string, SourceFile>();
  for (const { change } of taken) for (const { file } of change.edits) {
    const source = workspace.source(file);
    if (source !== null) texts.set(file, source);
  }
  let good = all;
  if (all.length > 0 && attempt(all) !== null) {
    // One of them is at fault: find out by trying each alone, then make the others together.
    good = [];
    for (const i of all) {
      const undo = workspace.commit(editsByFile(taken[i]?.change.edits ?? []));
      const trouble = newTrouble(before, workspace.program(group));
      undo();
      if (trouble === null) good.push(i);
      else rejected.set(i, parsedAgain(taken[i]?.line ?? 0, trouble));
    }
    const together = good.length === 0 ? null : attempt(good);
    if (together !== null) {
      for (const i of good) rejected.set(i, parsedAgain(taken[i]?.line ?? 0, together));
      good = [];
    }
  }
  // One diff a change, each on top of those before it: a series that applies in order.
  const done: Edit[] = [];
  for (const i of good) {
    const edits = taken[i]?.change.edits ?? [];
    kept.set(i, stepDiff(texts, done, edits, pathInDiff));
    done.push(...edits);
  }
  return { kept, rejected, undo: () => undoAll() };
}

function stepDiff(texts: ReadonlyMap<string, SourceFile>, done: readonly Edit[], edits: readonly Edit[], pathInDiff: (source: SourceFile) => string): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [file, list] of editsByFile(edits)) {
    const source = texts.get(file);
    if (source === undefined) continue;
    const earlier = landEdits(source.text, done.filter((edit) => edit.file === file), source.newline);
    const shifted = landEdits(source.text, list, source.newline).map((edit) => {
      const shift = earlier.reduce((n, e) => (e.span.end <= edit.span.start ? n + e.text.length - (e.span.end - e.span.start) : n), 0);
      return { ...edit, span: { start: edit.span.start + shift, end: edit.span.end + shift } };
    });
    parts.push(unifiedDiff({ ...sourceFormat(source), path: pathInDiff(source), text: applyEdits(source.text, earlier, source.newline), edits: shifted }));
  }
  return Buffer.concat(parts);
}

function sourceFormat(source: SourceFile): Pick<SourceFile, 'encoding' | 'bom' | 'newline'> {
  return { encoding: source.encoding, bom: source.bom, newline: source.newline };
}

/** An edit writes newlines: in a file whose lines end otherwise they would be the only ones. */
function inReturns(workspace: Workspace, change: Change, line: number): Obligation | null {
  const source = change.edits.map(({ file }) => workspace.source(file)).find((one) => one !== null && endsInReturns(one));
  if (source === undefined || source === null) return null;
  return { id: 'parsed', status: 'refuted', grant: null, line, text: `the lines of ${workspace.shownPath(source.realPath)} end in bare carriage returns`, remedy: 'convert them to newlines' };
}

function parsedAgain(line: number, trouble: string): Obligation {
  return { id: 'parsed', status: 'refuted', grant: null, line, text: `the edited file would not parse: ${trouble}`, remedy: null };
}

/** What the parser understands less of than before; null if nothing. */
function newTrouble(before: Program, after: Program): string | null {
  for (const [file, unit] of after.units) {
    const old = before.units.get(file);
    if (old === undefined || old.source.text === unit.source.text) continue;
    const known = new Map<string, number>();
    for (const fn of old.functions) if (!fn.understood) known.set(fn.name, (known.get(fn.name) ?? 0) + 1);
    for (const fn of unit.functions) {
      if (fn.understood) continue;
      const left = known.get(fn.name) ?? 0;
      if (left === 0) return `${fn.name}: ${fn.problems[0]?.message ?? 'not understood'}`;
      known.set(fn.name, left - 1);
    }
    if (unit.kernels.length < old.kernels.length) return 'a kernel is no longer found';
    const lost = lostName(old, unit);
    if (lost !== null) return `${lost.fn}: ${lost.name} is named where nothing declares it`;
    if (unit.problems.length > old.problems.length) return unit.problems.at(-1)?.message ?? 'a new problem';
  }
  return null;
}
