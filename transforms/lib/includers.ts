/** Edits of text that several units read: whoever includes the file must mean the same by it. */
import { unknown } from './obligation.js';
import type { Change, Obligation, TransformContext } from './types.js';
import type { UnitDoubts } from '../../src/syntax/doubts.js';
import type { Program, Unit } from '../../src/syntax/tree.js';
import type { Span } from '../../src/source/types.js';

export const SAME_FOR_INCLUDERS = 'same-for-includers';

/** The function of the site rests on nothing that differs between those who include its file. Null if no file like that is involved. */
export function sameForIncluders({ facts: { function: fn }, unit }: TransformContext): Obligation | null {
  return unit.doubts === undefined ? null : differs(unit.doubts, unit, fn.span);
}

/** As `sameForIncluders`, for all that a change edits; `doubts` gives those of a unit. */
export function sameWhereEdited(change: Change, program: Program, doubts: (unit: Unit) => UnitDoubts | null): Obligation | null {
  for (const edit of change.edits) {
    const unit = program.units.get(edit.file);
    const found = unit === undefined ? null : doubts(unit);
    if (unit === undefined || found === null) continue;
    const fn = unit.functions.find((one) => one.span.start <= edit.span.start && edit.span.end <= one.span.end) ?? null;
    const obligation = differs(found, unit, fn?.span ?? edit.span);
    if (obligation !== null) return obligation;
  }
  return null;
}

function differs(doubts: UnitDoubts, unit: Unit, span: Span): Obligation | null {
  const [found] = doubts.within(span);
  if (found === undefined) return null;
  const { doubt, at } = found;
  return unknown(SAME_FOR_INCLUDERS, unit.source.line(at), doubt.text, `give ${doubt.name} one meaning for all who include ${basename(unit.source.path)}`);
}

function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
