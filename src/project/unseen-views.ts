/**
 * Files that include an edited file and were not given: what stands in front of their `#include` may make another text of it. They are
 * read, with all that the run knows of that file, for comparing the names that it uses; nothing is edited or reported in them.
 */
import type { UnitDoubts } from '../syntax/doubts.js';
import type { Program, Unit } from '../syntax/tree.js';
import { sameWhereCalled, sameWhereEdited } from '../../transforms/lib/includers.js';
import type { Change, Obligation, Outcome } from '../../transforms/lib/types.js';
import { directCallees } from './scope.js';
import type { UnseenIncluders } from './unseen-includers.js';
import type { Workspace } from './workspace.js';

export class UnseenViews {
  /** By the real path of an edited file: the program as all who include it make it; null if they were all given. */
  private readonly known = new Map<string, Program | null>();
  private readonly read = new WeakSet<Unit>();

  constructor(private readonly workspace: Workspace, private readonly includers: UnseenIncluders) {}

  /** The outcome, refused if a file that was not given means something else by what it edits. */
  judged(outcome: Outcome, program: Program): Outcome {
    if (outcome.change === null) return outcome;
    const found = this.differs(outcome.change, program);
    if (found === null) return outcome;
    const refusal: Obligation = { ...found, remedy: `${found.remedy ?? ''}, or --allow all-launches-visible if no file but those given is built` };
    return { ...outcome, obligations: [...outcome.obligations, refusal], status: 'refused', estimate: null, change: null, reason: null };
  }

  private differs({ edits }: Change, program: Program): Obligation | null {
    for (const edit of edits) {
      const unit = program.units.get(edit.file);
      const others = unit === undefined ? null : this.othersOf(unit.source.realPath, program);
      if (others === null) continue;
      const doubts = (of: Unit): UnitDoubts | null => this.doubtsIn(others, of);
      const found = sameWhereEdited({ edits: [edit] }, program, doubts) ?? sameWhereCalled(edit, program, directCallees, doubts);
      if (found !== null) return found;
    }
    return null;
  }

  private othersOf(realPath: string, program: Program): Program | null {
    let found = this.known.get(realPath);
    if (found === undefined) this.known.set(realPath, found = this.load(realPath, program));
    return found;
  }

  private load(realPath: string, program: Program): Program | null {
    const unseen = this.includers.above(realPath).filter((path) => !program.units.has(path));
    if (unseen.length === 0) return null;
    const given = this.workspace.inputs.filter((file) => reaches(program, file.realPath, realPath));
    const files = [...given, ...unseen.map((path) => ({ path: this.workspace.shownPath(path), realPath: path }))];
    const alone = given.some((file) => file.realPath !== realPath) ? [] : [realPath];
    return this.workspace.originalProgram(files, alone);
  }

  private doubtsIn(others: Program, { source }: Unit): UnitDoubts | null {
    const unit = others.units.get(source.realPath);
    if (unit?.doubts === undefined) return null;
    // Names are met where bodies are read, and some wait until they are asked for.
    if (!this.read.has(unit)) for (const fn of unit.functions) void fn.body;
    this.read.add(unit);
    return unit.doubts.of(source);
  }
}

function reaches(program: Program, from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const file of seen) for (const next of program.units.get(file)?.includes ?? []) seen.add(next);
  return program.units.has(from) && seen.has(to);
}
