/** Edits of text that several units read: whoever includes the file must mean the same by it. */
import { unknown } from './obligation.js';
import type { Change, Obligation, TransformContext } from './types.js';
import type { UnitDoubts } from '../../src/syntax/doubts.js';
import type { FunctionDecl, Program, Unit } from '../../src/syntax/tree.js';
import type { Edit, Span } from '../../src/source/types.js';

export const SAME_FOR_INCLUDERS = 'same-for-includers';

/** The function of the site rests on nothing that differs between those who include its file. Null if no file like that is involved. */
export function sameForIncluders({ facts: { function: fn }, unit }: TransformContext): Obligation | null {
  return unit.doubts === undefined ? null : differs(unit.doubts, unit, fn.span);
}

/** As `sameForIncluders`, for all that a change edits; `doubts` gives those of a unit. */
export function sameWhereEdited(change: Pick<Change, 'edits'>, program: Program, doubts: (unit: Unit) => UnitDoubts | null): Obligation | null {
  for (const edit of change.edits) {
    const unit = program.units.get(edit.file);
    const found = unit === undefined ? null : doubts(unit);
    if (unit === undefined || found === null) continue;
    const obligation = differs(found, unit, functionAround(unit, edit)?.span ?? edit.span);
    if (obligation !== null) return obligation;
  }
  return null;
}

/** As `sameWhereEdited`, for what the edited function calls, directly or through others: the doubts are of units as somebody else sees them, who did not judge the calls. */
export function sameWhereCalled(edit: Edit, program: Program, calleesOf: (fn: FunctionDecl) => Iterable<FunctionDecl>, doubts: (unit: Unit) => UnitDoubts | null): Obligation | null {
  const home = program.units.get(edit.file);
  const around = home === undefined ? null : functionAround(home, edit);
  const reached = new Set<FunctionDecl>(around === null ? [] : [around]);
  for (const fn of reached) {
    const unit = program.units.get(fn.file);
    const found = unit === undefined ? null : doubts(unit);
    const obligation = unit === undefined || found === null ? null : differs(found, unit, fn.span);
    if (obligation !== null) return obligation;
    for (const callee of calleesOf(fn)) reached.add(callee);
  }
  return null;
}

function functionAround(unit: Unit, edit: Edit): FunctionDecl | null {
  return unit.functions.find((one) => one.span.start <= edit.span.start && edit.span.end <= one.span.end) ?? null;
}

function differs(doubts: UnitDoubts, unit: Unit, span: Span): Obligation | null {
  const [found] = doubts.within(span);
  if (found === undefined) return null;
  const { doubt, at } = found;
  return unknown(SAME_FOR_INCLUDERS, unit.source.line(at), doubt.text, doubt.popped === true ? `give ${doubt.name} one meaning in the file` : `give ${doubt.name} one meaning for all who include ${basename(unit.source.path)}`);
}

function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
