/**
 * Transforms without the command line: a program from text, its sites with what becomes of them, and the edits made in rounds of
 * fresh analysis, one edit a round.
 */
import { expect } from '@jest/globals';
import { createAnalysis } from '../../src/analysis/analyse.js';
import type { Analysis, AnalysisOptions } from '../../src/analysis/facts.js';
import { applyEdits } from '../../src/rewrite/apply-edits.js';
import { loadProgram } from '../../src/syntax/program.js';
import type { Program, Unit } from '../../src/syntax/tree.js';
import { contextFor, evaluateFunction, refusals, type ContextOptions } from '../../transforms/lib/framework.js';
import { composePlans, type PlannedKernel } from '../../transforms/lib/launch-compose.js';
import type { LaunchPlan, Outcome, Transform } from '../../transforms/lib/types.js';

export const PATH = '/project/kernel.cu';

export interface Loaded {
  readonly program: Program;
  readonly unit: Unit;
  readonly analysis: Analysis;
}

/** A program of one file (and headers by path, for `#include "…"`). `initParser` must have settled. */
export function load(text: string, options: AnalysisOptions = {}, headers: Readonly<Record<string, string>> = {}): Loaded {
  const files = new Map<string, string>([[PATH, text], ...Object.entries(headers).map(([name, body]) => [`/project/${name}`, body] as const)]);
  const program = loadProgram([PATH], {
    readFile: (path) => Buffer.from(files.get(path) ?? '', 'utf8'),
    realPath: (path) => (files.has(path) ? path : null),
  });
  const unit = program.units.get(PATH);
  if (unit === undefined) throw new Error('the file was not loaded');
  return { program, unit, analysis: createAnalysis(program, options) };
}

export interface RunOptions extends ContextOptions {
  readonly evenIfItLoses?: boolean;
  readonly analysis?: AnalysisOptions;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Every site of every function of the file with what becomes of it, in the order of the text. */
export function outcomesOf(transform: Transform, loaded: Loaded, options: RunOptions = {}): readonly Outcome[] {
  const { unit, analysis } = loaded;
  return unit.functions
    .filter((fn) => fn.body !== null && (fn.qualifiers.global || fn.qualifiers.device))
    .flatMap((fn) => {
      const facts = fn.qualifiers.global ? analysis.kernel(fn) : analysis.everyCall(fn);
      return evaluateFunction(transform, contextFor(facts, unit, options), options);
    })
    .sort((a, b) => a.site.branch.span.start - b.site.branch.span.start);
}

export interface Run {
  readonly text: string;
  /** Edits made. */
  readonly rounds: number;
  /** Outcomes of the first round. */
  readonly first: readonly Outcome[];
  /** Outcomes of the last round: nothing applied any more. */
  readonly last: readonly Outcome[];
  /** What took the place of a kernel, by its name: verification executes it. */
  readonly plans: ReadonlyMap<string, LaunchPlan>;
}

const MOST_ROUNDS = 64;

/** Applies a transform until nothing more is to be done. Throws if that never comes. */
export function applyAll(transform: Transform, text: string, options: RunOptions = {}): Run {
  let current = text;
  let first: readonly Outcome[] | null = null;
  const planned: PlannedKernel[] = [];
  for (let rounds = 0; rounds <= MOST_ROUNDS; rounds++) {
    const loaded = load(current, options.analysis, options.headers);
    const outcomes = outcomesOf(transform, loaded, options);
    first ??= outcomes;
    const next = outcomes.find((outcome) => outcome.status === 'applied');
    if (next === undefined || next.change === null) return { text: current, rounds, first, last: outcomes, plans: composePlans(planned) };
    if (next.change.launches !== undefined) planned.push({ kernel: next.site.function.name, parameters: next.site.function.parameters.map((parameter) => parameter.name), plan: next.change.launches });
    current = applyEdits(current, next.change.edits.filter((edit) => edit.file === PATH), loaded.unit.source.newline);
  }
  throw new Error('the transform never comes to an end');
}

/** The transform turns `before` into `after`, exactly. */
export function applies(transform: Transform, before: string, after: string, options: RunOptions = {}): void {
  const run = applyAll(transform, before, options);
  if (run.rounds === 0) throw new Error(`nothing was applied:\n${describe(run.first)}`);
  expect(run.text).toBe(after);
}

/** The transform changes nothing, and every site that it has is refused by this obligation among others. */
export function refuses(transform: Transform, code: string, obligation: string, options: RunOptions = {}): void {
  const run = applyAll(transform, code, options);
  if (run.rounds > 0) throw new Error(`something was applied:\n${run.text}`);
  const named = run.first.flatMap((outcome) => refusals(outcome).map((refusal) => refusal.id));
  if (!named.includes(obligation)) throw new Error(`${obligation} is not among the reasons:\n${describe(run.first)}`);
}

/** The transform has a legal site that does not pay, and changes nothing. */
export function skips(transform: Transform, code: string, options: RunOptions = {}): void {
  const run = applyAll(transform, code, options);
  if (run.rounds > 0) throw new Error(`something was applied:\n${run.text}`);
  if (!run.first.some((outcome) => outcome.status === 'skipped')) throw new Error(`nothing was skipped:\n${describe(run.first)}`);
}

/** Sites with their reasons, for messages of failing tests. */
export function describe(outcomes: readonly Outcome[]): string {
  if (outcomes.length === 0) return 'no site';
  return outcomes.map((outcome) => {
    const reasons = refusals(outcome).map((o) => `\n    ${o.id} (${o.status}, line ${o.line}): ${o.text}`).join('');
    return `line ${outcome.site.line}: ${outcome.status} ${outcome.reason ?? ''}${reasons}`;
  }).join('\n');
}
