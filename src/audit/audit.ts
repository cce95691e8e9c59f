/**
 * The audit: every branch of every kernel, and of what the kernel calls, with class, reasons, divergence, cost and advice.
 *
 * A branch of a device function is listed under each kernel that reaches it, once for each context that differs in what is said about it; the first call
 * path that leads there is named. Chains of reasons are found when they are read, so an audit that only counts does not pay for them.
 */
import { isAbsolute } from 'node:path';
import { branchesOf } from '../analysis/branches.js';
import { calleesOf } from '../analysis/call-sites.js';
import type { Analysis, AnalysisOptions, BlockFact, BranchSite, Costs, FunctionFacts, Probabilities, Verdict } from '../analysis/facts.js';
import { indexFunction } from '../analysis/function-index.js';
import { annotationValue } from '../analysis/annotations.js';
import type { Problem, SourceFile } from '../source/types.js';
import type { CallExpr, FunctionDecl, Program, Unit } from '../syntax/tree.js';
import { adviseOn } from './advice.js';
import { branchCost } from './branch-cost.js';
import { Ids, normalised, type IdsBelow } from './branch-id.js';
import { classify, type Classification } from './classify.js';
import { divergenceOf } from './divergence.js';
import { Finding } from './finding.js';
import { kernelFrame, reachOf, type Frame } from './frame.js';
import { hazardsOf } from './hazards/index.js';
import type { BranchFinding, FileAudit, Hazard, KernelAudit } from './types.js';

export interface AuditOptions {
  /** Which kernels, by name; all by default. */
  readonly kernel?: (name: string) => boolean;
  /** Real paths to audit; all roots of the program by default. */
  readonly files?: readonly string[];
  readonly analysis?: AnalysisOptions;
  readonly probabilities?: Probabilities | null;
  readonly costs?: Costs | null;
  /** Finds the hazards of a kernel; those of `hazards/` by default, none for null. */
  readonly hazards?: ((kernel: FunctionFacts, analysis: Analysis, options?: AnalysisOptions) => readonly Hazard[]) | null;
  /** The path that users shall read for a real path: the one that they gave. The real one by default. */
  readonly shown?: (realPath: string) => string;
}

/** Call chains longer than this are cut: what lies deeper is reported where a shorter chain reaches it. */
const MAX_DEPTH = 12;
/** Findings of one kernel, against unfoldings that explode. */
const MAX_FINDINGS = 20_000;

/** Audits files of the program that the analysis is about. */
export function auditProgram(analysis: Analysis, options: AuditOptions = {}): readonly FileAudit[] {
  const { units } = analysis.program;
  const wanted = options.files ?? [...units.keys()];
  const audits: FileAudit[] = [];
  for (const path of wanted) {
    const unit = units.get(path);
    if (unit !== undefined) audits.push(auditFile(unit, analysis, options));
  }
  return audits;
}

export function auditFile(unit: Unit, analysis: Analysis, options: AuditOptions = {}): FileAudit {
  const kernels: KernelAudit[] = [];
  const problems: Problem[] = [...unit.problems];
  const accepts = options.kernel ?? ((): boolean => true);
  const note = (found: readonly Problem[]): void => {
    for (const problem of found) if (!problems.some((other) => other.line === problem.line && other.message === problem.message)) problems.push(problem);
  };
  for (const kernel of unit.kernels) {
    if (kernel.body === null || !accepts(kernel.name)) continue;
    kernels.push(auditKernel(kernel, unit, analysis, options));
    note(kernel.problems);
  }
  // What a device function holds that was not understood is missing from the verdicts of every kernel that calls it.
  for (const fn of unit.functions) if (fn.qualifiers.device && !fn.qualifiers.global) note(fn.problems);
  for (const hidden of unit.hiddenKernels) problems.push({ line: hidden.line, message: `kernel \`${hidden.name}\` stands in the macro \`${hidden.macro}\` and was not analysed` });
  const partial = problems.length > 0 || kernels.some((kernel) => !kernel.understood);
  return { path: shownBy(options)(unit.source.path), status: partial ? 'partial' : 'ok', problems: problems.sort((a, b) => a.line - b.line), kernels };
}

function auditKernel(kernel: FunctionDecl, unit: Unit, analysis: Analysis, options: AuditOptions): KernelAudit {
  const { source } = unit;
  const facts = analysis.kernel(kernel);
  const shown = shownBy(options);
  const walker = new Walker(options, shown);
  walker.visit(kernelFrame(facts), 0);
  const hazards = options.hazards === null ? [] : (options.hazards ?? hazardsOf)(facts, analysis, options.analysis);
  return {
    kernel, name: kernel.name, line: source.line(kernel.nameSpan.start), endLine: source.line(kernel.span.end), understood: kernel.understood,
    block: blockOf(facts.block), ...(facts.block.contradiction === undefined ? {} : { contradiction: facts.block.contradiction }), branches: walker.findings,
    hazards: hazards.map((hazard) => told(hazard, analysis.program, shown)),
  };
}

/** Some paths are those that a file was loaded with, which stay as they are. */
function shownBy({ shown }: AuditOptions): (path: string) => string {
  return shown === undefined ? (path) => path : (path) => (isAbsolute(path) ? shown(path) : path);
}

function blockOf(block: BlockFact): KernelAudit['block'] {
  return block.value === null ? null : { x: block.value.x, y: block.value.y, z: block.value.z, origin: block.origin };
}

class Walker {
  readonly findings: BranchFinding[] = [];
  private readonly ids = new Ids();
  /** What was already said about a branch node, so that equal contexts are listed once. */
  private readonly said = new Map<object, string | Set<string>>();
  /** Contexts of callees that were visited: what comes out of equal ones is equal. */
  private readonly entered = new Map<FunctionDecl, string | Set<string>>();

  constructor(private readonly options: AuditOptions, private readonly shown: (path: string) => string) {}

  visit(frame: Frame, depth: number): void {
    const { facts } = frame;
    const place = this.placeOf(facts);
    for (const site of facts.branches) {
      if (this.findings.length >= MAX_FINDINGS) return;
      const found = classify(site, frame);
      // Found when read, and then each time anew.
      const { under } = found.verdict;
      const key = `${found.class}|${found.verdict.value}|${under.join('|')}`;
      if (!this.isNew(this.said, site.node, key)) continue;
      this.findings.push(this.finding(site, found, under, frame, place));
    }
    if (depth >= MAX_DEPTH) return;
    for (const { call, callees } of facts.calls) {
      for (const callee of callees) {
        if (callee.body === null || isOpen(frame, callee) || !hasBranches(callee, facts)) continue;
        if (this.findings.length >= MAX_FINDINGS || !this.isNew(this.entered, callee, contextKey(call, facts))) continue;
        this.visit({ facts: facts.callee(call, callee), call, outer: frame }, depth + 1);
      }
    }
  }

  private isNew<K>(seen: Map<K, string | Set<string>>, about: K, key: string): boolean {
    const before = seen.get(about);
    // Most are seen in one context.
    if (before === undefined) seen.set(about, key);
    else if (before === key) return false;
    else if (typeof before === 'string') seen.set(about, new Set([before, key]));
    else if (before.has(key)) return false;
    else before.add(key);
    return true;
  }

  private placeOf({ context, function: fn, unit, program }: FunctionFacts): Place {
    const names = [context.kernel?.name ?? fn.name, ...context.path.map((step) => step.caller.name), fn.name];
    const via = context.path.map((step) => {
      const source = program.units.get(step.caller.file)?.source ?? unit.source;
      return { path: this.shown(source.path), line: source.line(step.call.span.start) };
    });
    return { ids: this.ids.of('b', names), path: this.shown(unit.source.path), via };
  }

  private finding(site: BranchSite, found: Classification, under: readonly string[], frame: Frame, { ids, path, via }: Place): BranchFinding {
    const { facts } = frame;
    const { source } = facts.unit;
    const { span } = site.node;
    const position = source.position(span.start);
    const reach = reachOf(frame, site.node);
    const condition = source.text.slice(site.condition.span.start, site.condition.span.end);
    const divergence = divergenceOf(site, found, frame, { position, reach, options: this.options.analysis ?? {}, probabilities: this.options.probabilities ?? null });
    const cost = branchCost(site, found, divergence, frame, reach, this.options.costs ?? null);
    const ignored = isIgnored(source, position.line);
    const advice = ignored ? IGNORED : adviseOn(site, found, divergence, cost, reach);
    return new Finding({
      id: ids.next(site.kind, normalised(condition)),
      path, function: facts.function.name, via,
      line: position.line, column: position.column, endLine: source.line(span.end),
      kind: site.kind, exits: site.exits, condition,
      class: found.class, scope: found.verdict.value, under,
      divergence: { rate: shorten(divergence.rate), p: shorten(divergence.p), origin: divergence.origin },
      cost: cost.cost, ...(ignored ? { ignored } : {}), site, facts,
    }, found.verdict, advice, this.shown);
  }
}

/** What the branches of one function in one context have in common. */
interface Place { readonly ids: IdsBelow; readonly path: string; readonly via: BranchFinding['via'] }

/** Four significant digits; a rate of `1e-7` stays one. */
function shorten(share: number): number {
  return share === 0 || share === 1 || share === 0.5 ? share : Number(share.toPrecision(4));
}

/** What a callee sees of its caller: the verdicts of its arguments and of the arrival at the call. */
function contextKey(call: CallExpr, facts: FunctionFacts): string {
  const show = (verdict: Verdict): string => `${verdict.value}${verdict.known ? '' : '?'}${verdict.sources.data ? 'd' : ''}${verdict.sources.geometry ? 'g' : ''}`;
  const object = call.callee.kind === 'method' ? show(facts.scope(call.callee.object)) : '';
  return [object, show(facts.arrival(call)), ...call.arguments.map((argument) => show(facts.scope(argument)))].join(',');
}

const branching = new WeakMap<FunctionDecl, boolean>();

/** Does the function, or one that it calls, hold a branch? Many helpers hold none and need no visit. */
function hasBranches(fn: FunctionDecl, facts: FunctionFacts): boolean {
  const known = branching.get(fn);
  if (known !== undefined) return known;
  branching.set(fn, true); // recursion ends here, on the side that visits
  const answer = branchesOf(fn).length > 0 || indexFunction(fn).calls.some((call) => calleesOf(call, facts.program).some((callee) => callee !== fn && hasBranches(callee, facts)));
  branching.set(fn, answer);
  return answer;
}

function isOpen(frame: Frame, callee: FunctionDecl): boolean {
  for (let here: Frame | null = frame; here !== null; here = here.outer) if (here.facts.function === callee) return true;
  return false;
}

const IGNORED = { advice: 'leave', reason: () => 'the source says // divmod: ignore' } as const;

function isIgnored(source: SourceFile, line: number): boolean {
  return annotationValue(source, line, 'ignore') !== undefined;
}

/** A hazard as users read it. One that the source asks to pass over stays in the list, and says so. */
function told(hazard: Hazard, program: Program, shown: (path: string) => string): Hazard {
  const source = (program.units.get(hazard.path) ?? [...program.units.values()].find((unit) => unit.source.path === hazard.path))?.source;
  const ignored = source !== undefined && speaks(source) && isIgnored(source, hazard.line);
  return { ...hazard, path: shown(hazard.path), because: hazard.because.map((step) => ({ ...step, path: shown(step.path) })), ...(ignored ? { ignored } : {}) };
}

const speaking = new WeakMap<SourceFile, boolean>();

/** Does the file hold an annotation at all? Asked for every hazard. */
function speaks(source: SourceFile): boolean {
  let known = speaking.get(source);
  if (known === undefined) speaking.set(source, known = source.text.includes('divmod:'));
  return known;
}
