/** Runs both sides over all settings, gives up where nothing will come of it, and makes a difference small. */
import type { Shape } from '../simulate/simulate.js';
import { compareOnce, isDeterministic, type Obstacle, type Outcome, type Runner } from './compare-runs.js';
import type { Counterexample, Verdict } from './equivalence.js';
import { replayOf, reshaped, smaller, type Setting } from './settings.js';
import { sameShape, spellShape } from './shapes.js';
import { triedOf } from './tried.js';

export interface Comparison {
  readonly settings: readonly Setting[];
  readonly blocks: readonly Shape[];
  readonly runBefore: Runner;
  readonly runAfter: Runner;
  readonly tolerance: number | null;
  readonly budgetMs: number;
  /** Template arguments, for the result's text. */
  readonly instance: string;
  /** Kernels of the plan, and whether each has a part of the grid. */
  readonly kernels: readonly string[];
  readonly divided: boolean;
  /** The caller named arguments, sizes or grids: what they do not reach is no fault of the choice. */
  readonly fixed: boolean;
  /** Pairs of pointers to try with one address, and pairs that an assumption keeps apart. */
  readonly aliases: readonly (readonly [string, string])[];
  readonly apart: readonly (readonly [string, string])[];
}

/** Settings that are begun however late it is. */
const LEAST_RUNS = 4;
/** Settings tried of each pair with one address. */
const ALIAS_SETTINGS = 3;
/** So many further runs that had to be stopped, and nothing compared yet: nothing will be. */
const MOST_STOPPED = 2;
const MOST_PAIRS = 6;

class Course {
  readonly clean: Setting[] = [];
  wrote = 0;
  runs = 0;
  readonly inconclusive: string[] = [];
  /** Why a run in which the results differ was not called a difference: whatever the others say, the two are not known to be equal. */
  unexplained: string | null = null;
  readonly obstacles: Obstacle[] = [];
  readonly notes = new Set<string>();
  /** Runs in which a kernel of the plan had blocks, and those in which several had. */
  readonly launched = new Map<string, number>();
  together = 0;
  /** How runs went by block shape. */
  readonly shapes = new Map<string, { clean: number; faulty: number; shape: Shape; sharedBytes: number | null }>();

  shapeOf(setting: Setting): { clean: number; faulty: number; shape: Shape; sharedBytes: number | null } {
    const key = spellShape(setting.block);
    let entry = this.shapes.get(key);
    if (entry === undefined) this.shapes.set(key, entry = { clean: 0, faulty: 0, shape: setting.block, sharedBytes: setting.sharedBytes });
    return entry;
  }

  addObstacle(o: Obstacle): void {
    if (!this.obstacles.some((known) => known.side === o.side && known.reason === o.reason && known.at?.start === o.at?.start)) this.obstacles.push(o);
  }
}

function isEmpty({ grid }: Setting): boolean {
  return grid.some((side) => side === 0);
}

/** The comparison itself, over prepared runners. */
export function compareOver(c: Comparison): Verdict {
  const course = new Course();
  const end = Date.now() + c.budgetMs;
  let stopped = 0;
  let triedSmallest = false;
  const known = new Set<string>();
  for (const wanted of c.settings) {
    if (course.runs >= LEAST_RUNS && Date.now() > end) break;
    const setting = instead(course, wanted, c.settings);
    const key = JSON.stringify(setting);
    if (known.has(key)) continue;
    known.add(key);
    course.runs++;
    const outcome = compareOnce(setting, c.runBefore, c.runAfter, c.tolerance);
    const shape = course.shapeOf(setting);
    switch (outcome.kind) {
      case 'equal':
        course.clean.push(setting);
        // A launch of nothing tells nothing of the block's shape.
        if (!isEmpty(setting)) shape.clean++;
        if (outcome.wrote) course.wrote++;
        for (const note of outcome.notes) course.notes.add(note);
        for (const name of new Set(outcome.launched ?? [])) course.launched.set(name, (course.launched.get(name) ?? 0) + 1);
        if (new Set(outcome.launched ?? []).size > 1) course.together++;
        break;
      case 'inconclusive':
        if (outcome.faulty) shape.faulty++;
        if (outcome.unexplained === true) course.unexplained ??= outcome.reason;
        course.inconclusive.push(outcome.reason);
        break;
      case 'obstacle':
        course.addObstacle(outcome.obstacle);
        // What one side cannot do, it will not do under the next setting; budgets may be a matter of size.
        if (outcome.fatal) return { status: 'not-verified', runs: course.runs, obstacles: [outcome.obstacle], notes: [...course.notes] };
        // Is it a matter of size? If the smallest launch has to be stopped too, nothing will come of the others.
        if (course.clean.length === 0 && !triedSmallest) {
          triedSmallest = true;
          const smallest = compareOnce({ ...setting, size: 1, grid: [1, 1, 1], extents: 0, wide: false, special: false, scheduleSeed: 0 }, c.runBefore, c.runAfter, c.tolerance);
          course.runs++;
          if (smallest.kind === 'obstacle') return { status: 'not-verified', runs: course.runs, obstacles: course.obstacles, notes: [...course.notes] };
        } else if (course.clean.length === 0 && ++stopped >= MOST_STOPPED) return { status: 'not-verified', runs: course.runs, obstacles: course.obstacles, notes: [...course.notes] };
        break;
      case 'different': return different(setting, outcome, course, c);
    }
  }
  if (course.clean.length === 0 || course.wrote === 0) {
    const obstacles = course.obstacles.length > 0 ? course.obstacles.slice(0, 3) : [{ side: 'before' as const, reason: course.inconclusive[0] ?? 'no run wrote anything that could be compared', at: null }];
    return { status: 'not-verified', runs: course.runs, obstacles, notes: [...course.notes] };
  }
  if (course.unexplained !== null) return { status: 'not-verified', runs: course.runs, obstacles: [{ side: 'before', reason: course.unexplained, at: null }], notes: [...course.notes] };
  const idle = c.kernels.filter((name) => !course.launched.has(name));
  if (idle.length > 0) {
    const them = idle.length === 1 ? 'it' : 'them';
    const reason = `${idle.join(', ')} never ran: no launch that was tried has blocks for ${them}; give arguments and a launch that reach ${them}, e.g. with --arg and --launch`;
    if (c.fixed) course.notes.add(reason);
    else return { status: 'not-verified', runs: course.runs, obstacles: [{ side: 'after', reason, at: null }], notes: [...course.notes] };
  }
  else if (c.divided && course.together === 0) course.notes.add(`no two of ${c.kernels.join(', ')} had blocks in one run: how they part the grid was not tried`);
  // They have time of their own, however long the settings took.
  const aliased = compareAliased(c, course, Math.max(end, Date.now() + c.budgetMs / 5));
  if (aliased !== null) return aliased;
  const silent = course.runs - course.clean.length;
  const reasons = [...new Set([...course.inconclusive, ...course.obstacles.map((o) => o.reason)])];
  if (silent > 0) course.notes.add(`${silent} of ${course.runs} settings say nothing: ${reasons.slice(0, 2).join('; ')}`);
  return { status: 'equal', runs: course.clean.length, tried: triedOf(course.clean, silent, c.instance, [...course.launched].map(([name, runs]) => ({ name, runs }))), notes: [...course.notes] };
}

/** The setting, or one like it where the original is known to fault under its block shape whatever the inputs are. */
function instead(course: Course, wanted: Setting, settings: readonly Setting[]): Setting {
  const entry = course.shapes.get(spellShape(wanted.block));
  if (entry === undefined || entry.clean > 0 || entry.faulty === 0) return wanted;
  const better = [...course.shapes.values()].find((e) => e.clean > 0);
  if (better !== undefined) return reshaped(wanted, better.shape, better.sharedBytes);
  // None works yet: one that was not tried, and where there is none, the shape has another chance.
  const untried = settings.find((s) => !course.shapes.has(spellShape(s.block)));
  return untried === undefined ? wanted : reshaped(wanted, untried.block, untried.sharedBytes);
}

/** Pairs of pointers that hold one address: a launch like any other where the code does not say `__restrict__`. */
function compareAliased(c: Comparison, course: Course, end: number): Verdict | null {
  for (const pair of c.apart.slice(0, MOST_PAIRS)) course.notes.add(`not tried: ${pair.join(' and ')} at one address, for the edit rests on the assumption that they are apart`);
  if (c.apart.length > MOST_PAIRS) course.notes.add(`not tried: ${c.apart.length - MOST_PAIRS} more pairs of pointers at one address, for the same reason`);
  const candidates = course.clean.filter((s) => s.size > 1 && !isEmpty(s)).sort((a, b) => b.size - a.size);
  const skipped: string[] = [];
  for (const [i, alias] of c.aliases.entries()) {
    if (i >= MOST_PAIRS || Date.now() > end) { skipped.push(alias.join(' and ')); continue; }
    let compared = 0;
    for (const base of candidates.filter((s) => !s.special).slice(0, ALIAS_SETTINGS)) {
      const setting: Setting = { ...base, alias };
      if (!isDeterministic(setting, c.runBefore)) continue;
      const outcome = compareOnce(setting, c.runBefore, c.runAfter, c.tolerance);
      if (outcome.kind === 'different') return different(setting, outcome, course, c);
      if (outcome.kind !== 'equal') continue;
      compared++;
      course.runs++;
      course.clean.push(setting);
      for (const note of outcome.notes) course.notes.add(note);
    }
    if (compared === 0) skipped.push(alias.join(' and '));
  }
  if (skipped.length > 0) course.notes.add(`not tried at one address: ${skipped.slice(0, 4).join('; ')}${skipped.length > 4 ? ` and ${skipped.length - 4} more pairs` : ''} (the original races or depends on the order of its warps there, or time ran out)`);
  return null;
}

function different(setting: Setting, outcome: Extract<Outcome, { kind: 'different' }>, course: Course, c: Comparison): Verdict {
  return { status: 'different', runs: course.runs, counterexample: shrink(setting, outcome, c), notes: [...course.notes] };
}

function shrink(setting: Setting, found: Extract<Outcome, { kind: 'different' }>, c: Comparison): Counterexample {
  let best = { setting, outcome: found };
  const end = Date.now() + 1500;
  // Only what a launch of the code may be: shapes whose dynamic shared memory is not known stay out.
  const blocks = setting.sharedBytes === null ? c.blocks : c.blocks.filter((b) => sameShape(b, setting.block));
  for (const candidate of smaller(setting, blocks)) {
    if (Date.now() > end) break;
    if (candidate.alias !== null && !isDeterministic(candidate, c.runBefore)) continue;
    const outcome = compareOnce(candidate, c.runBefore, c.runAfter, c.tolerance);
    if (outcome.kind === 'different') { best = { setting: candidate, outcome }; break; }
  }
  // Those of constant memory are no parameters, and named all the same.
  const scalars = Object.fromEntries([...Object.entries(best.setting.values ?? {}), ...best.outcome.scalars].map(([k, v]) => [k, `${v}`]));
  return { setting: best.setting, scalars, differences: best.outcome.differences.slice(0, 8), replay: replayOf(best.setting, scalars) };
}
