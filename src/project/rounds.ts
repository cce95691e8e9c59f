/**
 * Applies transforms until nothing more comes of it. Each round parses and analyses the files as they are, takes at most one edit
 * per function and what it calls or is called by (a proof may rest on any of these), makes the edits that do not meet, and checks
 * that no new text is left that the parser does not understand. So every edit is judged on the program it lands in, and transforms
 * compose. A site that was refused or does not pay is reported once, at the line where it stood at first.
 */
import type { AnalysisOptions } from '../analysis/facts.js';
import { EditPlan } from '../rewrite/plan.js';
import type { SourceFile } from '../source/types.js';
import type { FunctionDecl, Program, Unit } from '../syntax/tree.js';
import { contextFor } from '../../transforms/lib/framework.js';
import type { PlannedKernel } from '../../transforms/lib/launch-compose.js';
import type { Change, Estimate, Obligation, Outcome, OutcomeStatus, Site } from '../../transforms/lib/types.js';
import { commitRound } from './commit-round.js';
import type { InputFile } from './files.js';
import { Pending } from './pending.js';
import { isTooDeep } from './errors.js';
import { analysisOf, evaluateSeen } from './launch-assumption.js';
import { Lineage } from './lineage.js';
import { OriginalLines } from './original-lines.js';
import { callGraph, directCallees, ignoredLines, kernelsOf, type CallGraph } from './scope.js';
import type { InternalFault } from './session.js';
import type { TransformRequest } from './transform-spec.js';
import type { Workspace } from './workspace.js';

/** What became of one site. Lines are those of the file as it was read. */
export interface SiteResult {
  readonly path: string;
  readonly realPath: string;
  readonly transform: string;
  readonly variant: string | null;
  /** The kernel the site stands in, or the first one that reaches its function; empty if none does. */
  readonly kernel: string;
  readonly function: string;
  readonly line: number;
  readonly summary: string;
  readonly status: OutcomeStatus;
  readonly obligations: readonly Obligation[];
  readonly estimate: Estimate | null;
  readonly reason: string | null;
  /** The change by itself, on top of those before it; empty unless applied. */
  readonly diff: Uint8Array;
  readonly round: number;
  /** Place in the order in which the changes were made, from 1; 0 unless applied. */
  readonly sequence: number;
  /** What the launches of the kernel became, if the change took the kernel's place; verification executes it. */
  readonly launches?: PlannedKernel;
}

export interface RoundsRequest {
  readonly requests: readonly TransformRequest[];
  readonly grants: ReadonlySet<string>;
  readonly evenIfItLoses: boolean;
  readonly analysis: AnalysisOptions;
  /** Is a kernel asked for? */
  readonly kernel: (name: string) => boolean;
  /** Only sites of this line of the original. */
  readonly at: number | null;
  /** May a file be edited? */
  readonly editable: (realPath: string) => boolean;
  /** Must a file stay as it is, although it is among those of the run? Only asked about files that an edit would change. */
  readonly readOnly: (realPath: string) => boolean;
  /** Files that see a function and are not known, by the paths to show; null if the user said that none matters. */
  readonly unseen: ((fn: FunctionDecl, program: Program) => readonly string[]) | null;
  /** The outcome as files that include what it edits, and are not known, let it be; null if the user said that none matters. */
  readonly judged: ((outcome: Outcome, program: Program) => Outcome) | null;
  readonly pathInDiff: (source: SourceFile) => string;
}

export interface RoundsResult {
  readonly sites: readonly SiteResult[];
  readonly faults: readonly InternalFault[];
  /** Kernels that were looked at. `notUnderstood` lists those among them that were not understood, and text without a kernel's name. */
  readonly kernels: number;
  /** Names of all kernels of the files, asked for or not. */
  readonly kernelNames: readonly string[];
  readonly notUnderstood: readonly { readonly path: string; readonly line: number; readonly name: string; readonly message: string }[];
}

/** A site with everything known about it in the present program. */
export interface Candidate {
  readonly unit: Unit;
  readonly request: TransformRequest;
  readonly outcome: Outcome;
  readonly kernel: string;
}

const MAX_ROUNDS = 250;
/** Sites that read alike in text that edits brought: a sound transform treats no more of them in one function. */
const MAX_SAME = 12;

/** Runs the rounds on one group of files, pausing between functions; the workspace holds the edited texts afterwards. */
export function* applyRounds(workspace: Workspace, group: readonly InputFile[], request: RoundsRequest): Generator<void, RoundsResult, undefined> {
  const applied: SiteResult[] = [];
  const others = new Map<string, SiteResult>();
  const faults: InternalFault[] = [];
  const timesApplied = new Map<string, number>();
  const appliedKeys = new Set<string>();
  const refusedEdits = new Map<string, Obligation>();
  /** Rounds that were made, with what takes them back. */
  const made: { readonly undo: () => void; readonly applied: number; readonly keys: readonly string[]; readonly places: readonly string[] }[] = [];
  const treatedPlaces = new Set<string>();
  let kernels = 0;
  let kernelNames: readonly string[] = [];
  let notUnderstood: RoundsResult['notUnderstood'] = [];
  let pending: Pending | null = null;
  const lineage = new Lineage();
  let treated: readonly FunctionDecl[] = [];

  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const program = workspace.program(group);
    lineage.enter(program, treated);
    if (round === 1) {
      // Kernels of headers that may be edited are looked at as well.
      const given = new Set(group.map((file) => file.realPath));
      const headers = [...program.units.keys()].filter((file) => !given.has(file) && request.editable(file)).map((file) => ({ path: file, realPath: file }));
      const all = kernelsOf(program, [...group, ...headers]);
      kernelNames = all.map(({ kernel }) => kernel.name);
      const asked = all.filter(({ kernel }) => request.kernel(kernel.name));
      kernels = asked.length;
      notUnderstood = asked.filter(({ kernel }) => !kernel.understood).map(({ unit, kernel }) => ({
        path: workspace.shownPath(unit.source.realPath), line: kernel.problems[0]?.line ?? unit.source.line(kernel.span.start), name: kernel.name,
        message: kernel.problems[0]?.message ?? 'not understood',
      }));
      // Parts that were left out of kernels that were understood otherwise.
      notUnderstood = [...notUnderstood, ...asked.filter(({ kernel }) => kernel.understood).flatMap(({ unit, kernel }) => kernel.problems.map((problem) => ({
        path: workspace.shownPath(unit.source.realPath), line: problem.line, name: '', message: `${kernel.name}: ${problem.message}`,
      })))];
      notUnderstood = [...notUnderstood, ...group.flatMap((file) => textNotUnderstood(workspace, program.units.get(file.realPath)))];
    }
    let again: { readonly place: string; readonly key: string; readonly line: number } | null = null;
    const plan = new EditPlan();
    const taken: { candidate: Candidate; change: Change; key: string; place: string | null }[] = [];
    const touched = new Set<FunctionDecl>();
    const next = new Pending(program);
    const unsettled: { candidate: Candidate; key: string; reason: string }[] = [];
    const graph = lazily(() => callGraph(program, directCallees));

    const due: Pending | null = pending?.in(program) ?? null;
    for (const { unit, fn } of functionsInScope(program, group, request, graph, (one) => due === null || due.holds(one))) {
      yield;
      if (touched.size > 0 && [...graph().relatives(fn)].some((relative) => touched.has(relative))) {
        next.addFunction(fn);
        continue;
      }
      for (const candidate of candidatesOf(program, unit, fn, request, workspace, graph, faults)) {
        const { outcome } = candidate;
        const key = keyOf(workspace, candidate);
        // What an earlier round left behind of a treated site is no news.
        if (appliedKeys.has(key) && outcome.status !== 'applied') continue;
        const what = candidate.request.transform.name;
        const branch = branchText(candidate);
        if (outcome.status !== 'applied' && lineage.isOwnOutput(fn, what, branch, workspace.originalLine(unit.source.realPath, outcome.site.branch.span.start).exact, () => workspace.original(unit.source.realPath)?.source.text ?? '')) continue;
        lineage.spoken(fn, what, branch);
        const bad = refusedEdits.get(key);
        if (bad !== undefined) {
          record(others, workspace, { ...candidate, outcome: { ...outcome, status: 'refused', obligations: [...outcome.obligations, { ...bad, line: outcome.site.line }] } }, key, round, null);
          continue;
        }
        if (outcome.status !== 'applied' || outcome.change === null) {
          record(others, workspace, candidate, key, round, outcome.reason);
          continue;
        }
        const elsewhere = outcome.change.edits.find((edit) => !request.editable(edit.file));
        if (elsewhere !== undefined) {
          const reason = `it would change ${workspace.shownPath(elsewhere.file)}, which is not among the files of this run`;
          record(others, workspace, { ...candidate, outcome: { ...outcome, status: 'deferred' } }, key, round, reason);
          continue;
        }
        const locked = outcome.change.edits.find((edit) => request.readOnly(edit.file));
        if (locked !== undefined) {
          record(others, workspace, { ...candidate, outcome: { ...outcome, status: 'deferred' } }, key, round, `it would change ${workspace.shownPath(locked.file)}, which is read-only`);
          continue;
        }
        if ((timesApplied.get(key) ?? 0) >= MAX_SAME) {
          record(others, workspace, { ...candidate, outcome: { ...outcome, status: 'deferred' } }, key, round, `it was applied ${MAX_SAME} times and comes up again`);
          continue;
        }
        const exhausted = lineage.exhausted(fn, what);
        if (exhausted !== null) {
          record(others, workspace, { ...candidate, outcome: { ...outcome, status: 'deferred' } }, key, round, exhausted);
          continue;
        }
        const place = placeOf(workspace, candidate);
        if (place !== null && treatedPlaces.has(place)) {
          again = { place, key, line: outcome.site.line };
          break;
        }
        const admission = plan.offer(outcome.change);
        if (!admission.accepted) {
          next.addFunction(fn);
          unsettled.push({ candidate, key, reason: admission.reason });
          continue;
        }
        taken.push({ candidate, change: outcome.change, key, place });
        touched.add(fn);
        lineage.applied(fn, what);
        timesApplied.set(key, (timesApplied.get(key) ?? 0) + 1);
        break;
      }
    }

    if (again !== null) {
      // The edit has not treated the site, or the transform does not know what it has made: all since then is taken back, and it is refused.
      const { place, key, line } = again;
      for (;;) {
        const last = made.pop();
        if (last === undefined) break;
        last.undo();
        applied.length = last.applied;
        for (const one of last.keys) appliedKeys.delete(one);
        for (const one of last.places) treatedPlaces.delete(one);
        if (last.places.includes(place)) break;
      }
      refusedEdits.set(key, comesAgain(line));
      pending = null;
      treated = [];
      continue;
    }
    if (taken.length === 0 || round === MAX_ROUNDS) {
      for (const { candidate, key, reason } of unsettled) record(others, workspace, { ...candidate, outcome: { ...candidate.outcome, status: 'deferred' } }, key, round, reason);
      if (taken.length === 0) break;
    }
    const results = taken.map(({ candidate, key }) => ({ key, result: resultOf(workspace, candidate, round, 'applied', null) }));
    const keptKeys: string[] = [];
    const keptPlaces: string[] = [];
    const appliedBefore = applied.length;
    const { kept, rejected, undo } = commitRound(workspace, group, program, taken.map(({ candidate, change }) => ({ change, line: candidate.outcome.site.line })), request.pathInDiff);
    for (const [i, { key, result }] of results.entries()) {
      const diff = kept.get(i);
      if (diff === undefined) {
        const obligation = rejected.get(i);
        if (obligation !== undefined) refusedEdits.set(key, obligation);
      } else {
        applied.push({ ...result, diff, sequence: applied.length + 1 });
        appliedKeys.add(key);
        others.delete(key);
        keptKeys.push(key);
        const place = taken[i]?.place ?? null;
        if (place !== null) keptPlaces.push(place);
      }
    }
    made.push({ undo, applied: appliedBefore, keys: keptKeys, places: keptPlaces });
    for (const place of keptPlaces) treatedPlaces.add(place);
    for (const { candidate, change } of taken) next.addChange(candidate.outcome.site.function, change, graph());
    pending = next;
    treated = taken.map(({ candidate }) => candidate.outcome.site.function);
  }

  const sites = [...applied, ...others.values()].sort(byPlace);
  return { sites, faults, kernels, kernelNames, notUnderstood };
}

/** All sites of the present program with their outcomes; nothing is changed. */
export function listSites(workspace: Workspace, group: readonly InputFile[], request: RoundsRequest, faults: InternalFault[]): readonly { readonly candidate: Candidate; readonly result: SiteResult }[] {
  const program = workspace.program(group);
  const graph = lazily(() => callGraph(program, directCallees));
  const found: { candidate: Candidate; result: SiteResult }[] = [];
  for (const { unit, fn } of functionsInScope(program, group, request, graph, () => true)) {
    for (const candidate of candidatesOf(program, unit, fn, request, workspace, graph, faults)) {
      found.push({ candidate, result: resultOf(workspace, candidate, 1, candidate.outcome.status, candidate.outcome.reason) });
    }
  }
  return found;
}

function textNotUnderstood(workspace: Workspace, unit: Unit | undefined): RoundsResult['notUnderstood'] {
  if (unit === undefined) return [];
  const path = workspace.shownPath(unit.source.realPath);
  return [
    ...unit.problems.map(({ line, message }) => ({ path, line, name: '', message })),
    ...unit.hiddenKernels.map(({ line, name, macro }) => ({ path, line, name, message: `it stands in the macro ${macro}` })),
  ];
}

function functionsInScope(program: Program, group: readonly InputFile[], request: RoundsRequest, graph: () => CallGraph, due: (fn: FunctionDecl) => boolean): readonly { unit: Unit; fn: FunctionDecl }[] {
  const first = new Set(group.map((file) => file.realPath));
  const units = [...group.flatMap((file) => program.units.get(file.realPath) ?? []), ...[...program.units.values()].filter((unit) => !first.has(unit.source.realPath))];
  const all = units.filter((unit) => request.editable(unit.source.realPath)).flatMap((unit) => unit.functions.map((fn) => ({ unit, fn })));
  return all.filter(({ fn }) => {
    if (fn.body === null || !due(fn)) return false;
    if (fn.qualifiers.global) return request.kernel(fn.name);
    if (!fn.qualifiers.device && !fn.qualifiers.constexpr) return false;
    return graph().kernelsOf(fn).some((kernel) => request.kernel(kernel.name));
  });
}

function* candidatesOf(
  program: Program, unit: Unit, fn: FunctionDecl, request: RoundsRequest, workspace: Workspace, graph: () => CallGraph, faults: InternalFault[],
): Iterable<Candidate> {
  const kernel = fn.qualifiers.global ? fn.name : graph().kernelsOf(fn).find((candidate) => request.kernel(candidate.name))?.name ?? '';
  const requests = request.requests.filter(({ transform }) => transform.mayMatch?.(fn) !== false);
  if (requests.length === 0) return;
  try {
    const analysis = analysisOf(program, request.analysis);
    const facts = fn.qualifiers.global ? analysis.kernel(fn) : analysis.everyCall(fn);
    const ignored = ignoredLines(unit.source);
    for (const wanted of requests) {
      const context = contextFor(facts, unit, { variant: wanted.variant, options: wanted.options, grants: request.grants });
      const sites = [...wanted.transform.match(context)].sort((a, b) => a.branch.span.start - b.branch.span.start);
      for (const site of sites) {
        if (!isAt(workspace, unit, site, request.at)) continue;
        const outcome: Outcome = ignored.has(site.line)
          ? { transform: wanted.transform.name, site, status: 'skipped', obligations: [], estimate: null, change: null, reason: 'the source says // divmod: ignore' }
          : evaluateSeen(wanted.transform, site, context, program, request);
        yield { unit, request: wanted, outcome: request.judged?.(outcome, program) ?? outcome, kernel };
      }
    }
  } catch (error) {
    // What the analysis has kept may be half made: nothing more is asked of it.
    if (isTooDeep(error)) throw error;
    faults.push({ path: workspace.shownPath(unit.source.realPath), where: fn.name, error });
  }
}

/** `--at` names the line of the branch, or of the statement that carries the shape. */
function isAt(workspace: Workspace, unit: Unit, site: Site, at: number | null): boolean {
  if (at === null) return true;
  const lines = [site.line, ...(site.alsoLines ?? [])].map((line) => unit.source.lineStart(line));
  return [site.branch.span.start, site.node.span.start, ...lines].some((offset) => {
    const { line, exact } = workspace.originalLine(unit.source.realPath, offset);
    return exact && line === at;
  });
}

function keyOf(workspace: Workspace, { unit, request, outcome }: Candidate): string {
  const { site } = outcome;
  const { line, exact } = workspace.originalLine(unit.source.realPath, site.branch.span.start);
  // Summaries and lines shift with the edits; the text of the branch does not.
  return [unit.source.realPath, request.transform.name, request.variant ?? '', site.function.name, exact ? String(line) : '', branchText({ unit, outcome })].join('\0');
}

/** The site by its place in the file as it was read, and by what is asked there (of `a && b` an edit may have left `b`, which is another site); null where an edit has written it anew. */
function placeOf(workspace: Workspace, { unit, request, outcome }: Candidate): string | null {
  const { site } = outcome;
  const at = workspace.originalOffset(unit.source.realPath, site.branch.span.start);
  return at === null ? null : [unit.source.realPath, request.transform.name, request.variant ?? '', at, askedText(unit, site)].join('\0');
}

function comesAgain(line: number): Obligation {
  return { id: 'already-done', status: 'refuted', grant: null, line, text: 'after the edit the same site came up again as it was, so the edit was taken back: this is a fault of divmod', remedy: 'please report it' };
}

/** The condition of the branch, white space aside. */
function askedText({ source }: Unit, { branch }: Site): string {
  const condition = branch.kind === 'if' || branch.kind === 'conditional' || branch.kind === 'while' || branch.kind === 'do' || branch.kind === 'for' ? branch.condition : null;
  return condition === null ? '' : source.text.slice(condition.span.start, condition.span.end).replace(/\s+/g, ' ');
}

/** The start of the branch's text, white space aside. */
function branchText({ unit, outcome }: Pick<Candidate, 'unit' | 'outcome'>): string {
  const { span } = outcome.site.branch;
  return unit.source.text.slice(span.start, Math.min(span.end, span.start + 200)).replace(/\s+/g, ' ');
}

function record(others: Map<string, SiteResult>, workspace: Workspace, candidate: Candidate, key: string, round: number, reason: string | null): void {
  if (others.has(key)) return;
  others.set(key, resultOf(workspace, candidate, round, candidate.outcome.status, reason));
}

function resultOf(workspace: Workspace, { unit, request, outcome, kernel }: Candidate, round: number, status: OutcomeStatus, reason: string | null): SiteResult {
  const { site } = outcome;
  const file = unit.source.realPath;
  const lines = new OriginalLines(workspace, file);
  return {
    path: workspace.shownPath(file),
    realPath: file,
    transform: request.transform.name,
    variant: request.variant,
    kernel,
    function: site.function.name,
    line: workspace.originalLine(file, site.branch.span.start).line,
    summary: lines.text(site.summary),
    status,
    obligations: outcome.obligations.map((obligation) => lines.obligation(obligation)),
    estimate: outcome.estimate === null ? null : lines.estimate(outcome.estimate),
    reason: reason === null ? null : lines.text(reason),
    diff: new Uint8Array(0),
    round,
    sequence: 0,
    ...(outcome.change?.launches === undefined ? {} : { launches: { kernel: site.function.name, parameters: site.function.parameters.map((parameter) => parameter.name), plan: outcome.change.launches } }),
  };
}

function byPlace(a: SiteResult, b: SiteResult): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.line - b.line || a.round - b.round;
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
