/**
 * Files that include an edited file and were not given: what stands in front of their `#include` may make another text of it. They are
 * read, with all that the run knows of that file, for comparing the names that it uses; nothing is edited or reported in them.
 */
import type { UnitDoubts } from '../syntax/doubts.js';
import type { Program, Unit } from '../syntax/tree.js';
import { sameWhereEdited } from '../../transforms/lib/includers.js';
import type { Obligation, Outcome } from '../../transforms/lib/types.js';
import type { UnseenIncluders } from './unseen-includers.js';
import type { Workspace } from './workspace.js';

export class UnseenViews {
  private readonly known = new Map<string, UnitDoubts | null>();

  constructor(private readonly workspace: Workspace, private readonly includers: UnseenIncluders) {}

  /** The outcome, refused if a file that was not given means something else by what it edits. */
  judged(outcome: Outcome, program: Program): Outcome {
    if (outcome.change === null) return outcome;
    const found = sameWhereEdited(outcome.change, program, (unit) => this.doubtsOf(unit, program));
    if (found === null) return outcome;
    const refusal: Obligation = { ...found, remedy: `${found.remedy ?? ''}, or --allow all-launches-visible if no file but those given is built` };
    return { ...outcome, obligations: [...outcome.obligations, refusal], status: 'refused', estimate: null, change: null, reason: null };
  }

  private doubtsOf(unit: Unit, program: Program): UnitDoubts | null {
    const { realPath } = unit.source;
    let found = this.known.get(realPath);
    if (found === undefined) this.known.set(realPath, found = this.compare(realPath, program));
    return found === null ? null : found.of(unit.source);
  }

  private compare(realPath: string, program: Program): UnitDoubts | null {
    const unseen = this.includers.above(realPath).filter((path) => !program.units.has(path));
    if (unseen.length === 0) return null;
    const given = this.workspace.inputs.filter((file) => reaches(program, file.realPath, realPath));
    const files = [...given, ...unseen.map((path) => ({ path: this.workspace.shownPath(path), realPath: path }))];
    const alone = given.some((file) => file.realPath !== realPath) ? [] : [realPath];
    const unit = this.workspace.originalProgram(files, alone).units.get(realPath);
    if (unit?.doubts === undefined) return null;
    // Names are met where bodies are read, and some wait until they are asked for.
    for (const fn of unit.functions) void fn.body;
    return unit.doubts;
  }
}

function reaches(program: Program, from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const file of seen) for (const next of program.units.get(file)?.includes ?? []) seen.add(next);
  return program.units.has(from) && seen.has(to);
}
