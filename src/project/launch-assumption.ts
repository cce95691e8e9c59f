/**
 * What a site rests on of the launches that are seen. Shapes of blocks, values of template parameters and the like come out of the
 * analyses as constants, and no constant says where it came from: so each legal edit is judged a second time in a program in which
 * other files may launch every kernel. If the same edit comes out, it rests on no launch. If not, its certificate says that it does,
 * and without the grant (or where a file that was not given may launch the kernel) what came out the second time holds.
 */
import { createAnalysis } from '../analysis/analyse.js';
import type { Analysis, AnalysisOptions } from '../analysis/facts.js';
import type { FunctionDecl, Program } from '../syntax/tree.js';
import { evaluateSite } from '../../transforms/lib/framework.js';
import { isInternal } from '../../transforms/lib/linkage.js';
import { assumed, proved } from '../../transforms/lib/obligation.js';
import type { Obligation, Outcome, Site, Transform, TransformContext } from '../../transforms/lib/types.js';

export const LAUNCHES = 'all-launches-visible';

const analyses = new WeakMap<Program, { readonly options: AnalysisOptions; readonly analysis: Analysis }>();

export function analysisOf(program: Program, options: AnalysisOptions): Analysis {
  const known = analyses.get(program);
  if (known?.options === options) return known.analysis;
  const analysis = createAnalysis(program, options);
  analyses.set(program, { options, analysis });
  return analysis;
}

const opened = new WeakMap<Program, Program>();

/** The same program, in which files that are not seen may launch every kernel that has a name outside of its file. */
function open(program: Program): Program {
  const known = opened.get(program);
  if (known !== undefined) return known;
  const made: Program = { ...program, allLaunchesVisible: (kernel) => isInternal(kernel) && program.allLaunchesVisible(kernel) };
  opened.set(program, made);
  return made;
}

export interface SeenRequest {
  readonly analysis: AnalysisOptions;
  readonly evenIfItLoses: boolean;
  readonly unseen: ((fn: FunctionDecl, program: Program) => readonly string[]) | null;
}

/** What becomes of a site, its assumption about launches stated. */
export function evaluateSeen<S>(transform: Transform<S>, site: Site<S>, context: TransformContext, program: Program, request: SeenRequest): Outcome {
  // Where the grant is withdrawn, sites are judged as if it were there first: what it would have met is told.
  const granted = { ...context, grants: new Set([...context.grants, LAUNCHES]) };
  const outcome = evaluateSite(transform, site, granted, { evenIfItLoses: request.evenIfItLoses });
  if (outcome.change === null) return outcome;
  const second = withoutLaunches(transform, site, context, program, request);
  if (second !== null && sameChange(outcome, second)) return second;
  const unseen = request.unseen?.(context.facts.function, program) ?? [];
  const stated = outcome.obligations.some(restsOnLaunches);
  if (context.grants.has(LAUNCHES) && unseen.length === 0) return stated ? outcome : { ...outcome, obligations: [...outcome.obligations, statement(context, program, site)] };
  if (second !== null && second.change !== null) return unseen.length === 0 ? second : { ...second, obligations: [...second.obligations, proved(LAUNCHES, site.line, `it rests on no launch, ${toldOf(unseen, context)}`)] };
  return refusedWithout(outcome, second, site, context, program, unseen);
}

function restsOnLaunches(obligation: Obligation): boolean {
  return obligation.status === 'assumed' && obligation.grant === LAUNCHES;
}

function sameChange(first: Outcome, second: Outcome): boolean {
  if (first.status !== second.status || first.change === null || second.change === null) return false;
  const { edits } = second.change;
  return first.change.edits.length === edits.length && first.change.edits.every((edit, i) => {
    const other = edits[i];
    return other !== undefined && edit.file === other.file && edit.text === other.text && edit.span.start === other.span.start && edit.span.end === other.span.end;
  });
}

/** The same site where launches say nothing; null if it is none there. */
function withoutLaunches<S>(transform: Transform<S>, site: Site<S>, context: TransformContext, program: Program, request: SeenRequest): Outcome | null {
  const { function: fn } = context.facts;
  const analysis = analysisOf(open(program), request.analysis);
  const facts = fn.qualifiers.global ? analysis.kernel(fn) : analysis.everyCall(fn);
  const grants = new Set([...context.grants].filter((grant) => grant !== LAUNCHES));
  const blind: TransformContext = { ...context, facts, grants };
  const same = transform.match(blind).find((other) => other.branch === site.branch && other.node === site.node && other.summary === site.summary)
    ?? transform.match(blind).find((other) => other.branch === site.branch && other.node === site.node);
  return same === undefined ? null : evaluateSite(transform, same, blind, { evenIfItLoses: request.evenIfItLoses });
}

/** `all-launches-visible` in words: which launches the edit rests on. */
function statement({ facts: { function: fn } }: TransformContext, program: Program, site: Site): Obligation {
  const places = program.launchesOf(fn).map((launch) => {
    const line = program.units.get(launch.file)?.source.line(launch.span.start) ?? 1;
    return launch.file === fn.file ? `${line}` : `${launch.file.slice(launch.file.lastIndexOf('/') + 1)}:${line}`;
  });
  const named = places.length === 0 ? 'the launches seen' : places.length <= 4 ? `${places.length === 1 ? 'the launch' : 'the launches'} of line ${places.join(', ')}` : `the ${places.length} launches seen`;
  return assumed(LAUNCHES, LAUNCHES, site.line, `it rests on ${named}, and on there being no others`);
}

function listed(files: readonly string[]): string {
  return files.length <= 4 ? files.join(', ') : `${files.slice(0, 3).join(', ')} and ${files.length - 3} more`;
}

function toldOf(files: readonly string[], context: TransformContext): string {
  return `${listed(files)} ${files.length === 1 ? 'sees' : 'see'} ${context.facts.function.name} too and ${files.length === 1 ? 'was' : 'were'} not given`;
}

/** The obligations that the assumption had met: those that fail without it, or the assumption itself. */
function refusedWithout(outcome: Outcome, second: Outcome | null, site: Site, context: TransformContext, program: Program, unseen: readonly string[]): Outcome {
  const told = unseen.length === 0 ? `other files may launch ${context.facts.function.name}` : `but ${toldOf(unseen, context)}`;
  const remedy = unseen.length === 0 ? `--allow ${LAUNCHES}` : `give ${listed(unseen)} in the same run, or --allow ${LAUNCHES}`;
  const failing = second?.obligations.filter((obligation) => obligation.status !== 'proved' && obligation.status !== 'assumed') ?? [];
  const lost = (obligation: Obligation): Obligation => ({ ...obligation, status: 'unknown', text: `${obligation.text}; ${told}`, remedy });
  const base = second === null || failing.length === 0
    ? [...outcome.obligations.filter((obligation) => !restsOnLaunches(obligation)), lost(outcome.obligations.find(restsOnLaunches) ?? statement(context, program, site))]
    : second.obligations.map((obligation) => (failing.includes(obligation) ? lost(obligation) : obligation));
  return { ...outcome, obligations: base, status: 'refused', estimate: null, change: null, reason: null };
}
