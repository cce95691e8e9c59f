/**
 * The library's door: a set of files that can be audited, searched for sites, edited in memory, and saved. The command line is
 * written on it.
 *
 *     const project = await Project.open({ include: ['src'] });
 *     for (const site of project.sites('peel')) if (site.refusals.length === 0) site.apply();
 *     await project.save();
 */
import { dirname, sep } from 'node:path';
import { uncommittedFiles } from '../rewrite/git-guard.js';
import { EditPlan, editsByFile } from '../rewrite/plan.js';
import { unifiedDiff } from '../rewrite/unified-diff.js';
import { isReadOnly, writeFilesAtomically } from '../rewrite/write.js';
import { encode } from '../source/decode.js';
import type { SourceFile } from '../source/types.js';
import type { FunctionDecl } from '../syntax/tree.js';
import { grantsInForce, GRANTS, isGrant } from '../../transforms/lib/grants.js';
import { holds } from '../../transforms/lib/framework.js';
import type { Estimate, Obligation, OutcomeStatus, Transform } from '../../transforms/lib/types.js';
import { transforms as builtIn } from '../../transforms/index.js';
import { DiffPaths } from './diff-paths.js';
import { startEngine } from './engine.js';
import { UsageError } from './errors.js';
import { findFiles } from './files.js';
import { IgnoreFiles } from './ignores.js';
import { applyRounds, listSites, type Candidate, type RoundsRequest, type RoundsResult, type SiteResult } from './rounds.js';
import { checkKernelNames, nameMatcher } from './scope.js';
import { Session, type OpenedInputs } from './session.js';
import type { SimulationRequest, Verification } from './simulation.js';
import { resolveSettings, type RawValue, type SettingName } from './settings.js';
import { didYouMean } from './suggest.js';
import { parseTransformSpecs, resolveTransforms, type TransformRequest } from './transform-spec.js';
import { loadModules } from './plugins.js';
import { UnseenIncluders } from './unseen-includers.js';
import { UnseenViews } from './unseen-views.js';

export interface ProjectOptions {
  /** Files, folders and globs. */
  readonly include: readonly string[];
  /** Relative paths start here; the working folder of the process if absent. */
  readonly cwd?: string;
  /** As in a configuration file: `{ block: '32x8', allow: ['approximate'] }`. */
  readonly settings?: Readonly<Partial<Record<SettingName, RawValue>>>;
}

export interface ApplyOptions {
  readonly at?: number;
  readonly evenIfItLoses?: boolean;
  /** The result will be saved: sites that would change a read-only file are left out and `readOnlyFiles` names it. */
  readonly forWriting?: boolean;
}

/** A place where a transform's shape occurs, and what would become of it now. */
export class ProjectSite {
  readonly path: string;
  readonly transform: string;
  readonly kernel: string;
  readonly function: string;
  /** Line of the branch, in the file as it was read. */
  readonly line: number;
  readonly summary: string;
  readonly obligations: readonly Obligation[];
  /** The obligations that stop it; empty if the edit is legal. */
  readonly refusals: readonly Obligation[];
  /** Of a refused site: no gain. */
  readonly estimate: Estimate;
  readonly status: OutcomeStatus;
  readonly reason: string | null;

  constructor(result: SiteResult, private readonly take: () => OutcomeStatus) {
    this.path = result.path;
    this.transform = result.transform;
    this.kernel = result.kernel;
    this.function = result.function;
    this.line = result.line;
    this.summary = result.summary;
    this.obligations = result.obligations;
    this.refusals = result.obligations.filter((obligation) => !holds(obligation));
    this.estimate = result.estimate ?? NO_GAIN;
    this.status = result.status;
    this.reason = result.reason;
  }

  /**
   * Makes the edit in memory, also if it does not pay. `deferred` if it meets an edit made since the sites were listed (ask for the
   * sites again then), `refused` if it is not legal.
   */
  apply(): OutcomeStatus {
    return this.take();
  }
}

const NO_GAIN: Estimate = {
  speedup: 1, low: 1, high: 1, instructionsBefore: 0, instructionsAfter: 0, traffic: 0, breakEven: null, provider: 'static', pays: false, reason: 'the site was refused',
};

export class Project extends Session {
  private readonly diffPaths: DiffPaths;
  private readonly modules: ReadonlyMap<string, readonly Transform[]>;
  private readonly folders: readonly string[];
  private readonly ignores = new IgnoreFiles();
  /** Read-only files that an edit would have changed, by the paths to show. */
  readonly readOnlyFiles = new Set<string>();
  /** Files that see a function and are not among those of the run; null if the grant was given for them too. */
  private readonly unseen: RoundsRequest['unseen'];
  private readonly judged: RoundsRequest['judged'];
  /** Edits taken by sites since the texts were last changed. */
  private plan = new EditPlan();
  private touched = new Set<FunctionDecl>();

  private constructor(inputs: OpenedInputs, modules: Project['modules']) {
    super(inputs);
    this.modules = modules;
    this.diffPaths = new DiffPaths(inputs.cwd, inputs.files.map((file) => file.realPath));
    this.folders = [...new Set([this.cwd, ...inputs.files.map((file) => dirname(file.realPath))])];
    const includers = new UnseenIncluders((realPath) => this.workspace.shownPath(realPath), this.workspace.compileCommands);
    const views = new UnseenViews(this.workspace, includers);
    const allSeen = this.settings.allow.includes('all-launches-visible');
    this.unseen = allSeen ? null : (fn, program) => includers.of(fn, program);
    this.judged = allSeen ? null : (outcome, program) => views.judged(outcome, program);
    for (const name of [...this.settings.allow, ...this.settings.deny]) {
      if (!isGrant(name)) throw new UsageError(`unknown grant "${name}"${didYouMean(name, GRANTS.map((grant) => grant.name))}; there are ${GRANTS.map((grant) => grant.name).join(', ')}`);
    }
  }

  /** Finds and reads the files. Throws `UsageError` for settings that make no sense; files that cannot be read are in `failures`. */
  static async open(options: ProjectOptions): Promise<Project> {
    const cwd = options.cwd ?? process.cwd();
    const { settings } = resolveSettings([{ origin: 'options', values: options.settings ?? {} }]);
    const found = await findFiles({ paths: options.include, cwd, exclude: settings.exclude });
    const failures = found.problems.map(({ path, message }) => ({ path, line: null, message }));
    return Project.from({ files: found.files, failures, given: new Map(), settings, cwd });
  }

  /** For callers that found their files and settings themselves. */
  static async from(inputs: OpenedInputs): Promise<Project> {
    await startEngine();
    const modules = await loadModules([...inputs.settings.plugins, ...inputs.settings.transform], inputs.cwd);
    return new Project(inputs, modules);
  }

  /** The sites of a transform (`peel`, `compact:grid`), each with its obligations and estimate. */
  sites(transform: string, options: ApplyOptions = {}): readonly ProjectSite[] {
    return this.siteResults(this.requests([transform]), options).map(({ candidate, result }) => new ProjectSite(result, () => this.take(candidate)));
  }

  /** As `sites`, for several transforms, as values. */
  siteList(transforms: readonly string[], options: ApplyOptions = {}): readonly SiteResult[] {
    return this.siteResults(this.requests(transforms), options).map(({ result }) => result);
  }

  /** Applies transforms in order until nothing more comes of it. In memory: see `save`. */
  apply(transforms: readonly string[], options: ApplyOptions = {}): RoundsResult {
    const steps = this.applyAll(transforms, options);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** As `apply`; `pause` is awaited now and then, so that signals are heard. */
  async applySteps(transforms: readonly string[], options: ApplyOptions, pause: () => Promise<void>): Promise<RoundsResult> {
    const steps = this.applyAll(transforms, options);
    let last = performance.now();
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      if (performance.now() - last < 50) continue;
      await pause();
      last = performance.now();
    }
  }

  private *applyAll(transforms: readonly string[], options: ApplyOptions): Generator<void, RoundsResult, undefined> {
    this.settle();
    const request = this.roundsRequest(this.requests(transforms), options);
    const results: RoundsResult[] = [];
    for (const group of this.workspace.groups) {
      try {
        results.push(yield* applyRounds(this.workspace, group, request));
      } catch (error) {
        this.faults.push({ path: group.map((file) => file.path).join(', '), where: 'apply', error });
      }
    }
    const sum = {
      sites: results.flatMap((result) => result.sites),
      faults: results.flatMap((result) => result.faults),
      kernels: results.reduce((n, result) => n + result.kernels, 0),
      kernelNames: results.flatMap((result) => result.kernelNames),
      notUnderstood: results.flatMap((result) => result.notUnderstood),
    };
    this.faults.push(...sum.faults);
    checkKernelNames(this.settings.kernel, sum.kernelNames);
    return sum;
  }

  /** A unified diff from the files as they were read to their present state, as bytes (files need not be UTF-8). */
  diffBytes(): Uint8Array {
    this.settle();
    return Buffer.concat(this.workspace.changedFiles().map(({ original: { source }, edits }) =>
      unifiedDiff({ path: this.pathInDiff(source), text: source.text, encoding: source.encoding, bom: source.bom, newline: source.newline, edits })));
  }

  /** The diff as text. */
  diff(): string {
    return Buffer.from(this.diffBytes()).toString('utf8');
  }

  /** Files with changes, by the paths that the user gave. */
  changed(): readonly { readonly path: string; readonly realPath: string; readonly before: string; readonly after: string }[] {
    this.settle();
    return this.workspace.changedFiles().map(({ original: { source }, text }) => ({ path: this.workspace.shownPath(source.realPath), realPath: source.realPath, before: source.text, after: text }));
  }

  /**
   * Runs every kernel that an edit may touch, wherever it stands, before and after, on the simulator: see `Verification`. `pause` is awaited
   * after every file, so that a caller can do something in between.
   */
  async verify(edited: readonly SiteResult[], request: SimulationRequest, pause: () => Promise<void> = () => Promise.resolve()): Promise<readonly Verification[]> {
    this.settle();
    const { verifyEdited } = await import('./verify-edited.js');
    const verifications: Verification[] = [];
    for (const found of verifyEdited(this.workspace, edited, request, this.analysisOptions)) {
      verifications.push(...found);
      await pause();
    }
    return verifications;
  }

  /** Changed files that git knows to have changes of someone else's; saving over them would mix the two. */
  uncommitted(): readonly string[] {
    const changed = this.changed();
    const dirty = new Set(uncommittedFiles(changed.map((file) => file.realPath)));
    return changed.filter((file) => dirty.has(file.realPath)).map((file) => file.path);
  }

  /** Writes the changed files, all or none, and returns their paths. Throws `WriteError`; never asks git (see `uncommitted`). */
  async save(): Promise<readonly string[]> {
    this.settle();
    const changed = this.workspace.changedFiles();
    writeFilesAtomically(changed.map(({ original, text }) => ({ path: original.source.realPath, bytes: encode(original.source, text), expected: original.bytes })));
    return Promise.resolve(changed.map(({ original }) => this.workspace.shownPath(original.source.realPath)));
  }

  private siteResults(requests: readonly TransformRequest[], options: ApplyOptions): ReturnType<typeof listSites> {
    this.settle();
    const request = this.roundsRequest(requests, options);
    return this.workspace.groups.flatMap((group) => listSites(this.workspace, group, request, this.faults));
  }

  private take({ outcome, unit }: Candidate): OutcomeStatus {
    if (outcome.change === null) return 'refused';
    if (this.workspace.source(unit.source.realPath)?.text !== unit.source.text || this.touched.has(outcome.site.function)) return 'deferred';
    if (!this.plan.offer(outcome.change).accepted) return 'deferred';
    this.touched.add(outcome.site.function);
    return 'applied';
  }

  /** Makes the edits that sites took. */
  protected override settle(): void {
    if (this.plan.size === 0) return;
    this.workspace.commit(editsByFile([...this.plan.byFile().values()].flat()));
    this.plan = new EditPlan();
    this.touched = new Set();
  }

  private requests(words: readonly string[]): readonly TransformRequest[] {
    const plugins = this.settings.plugins.flatMap((name) => this.modules.get(name) ?? []);
    return resolveTransforms(parseTransformSpecs(words), [...builtIn, ...plugins], this.modules);
  }

  private roundsRequest(requests: readonly TransformRequest[], options: ApplyOptions): RoundsRequest {
    const inputs = new Set(this.workspace.inputs.map((file) => file.realPath));
    return {
      requests,
      grants: grantsInForce(this.settings.allow, this.settings.strictFp ? [...this.settings.deny, 'contract'] : this.settings.deny),
      evenIfItLoses: options.evenIfItLoses ?? this.settings.evenIfItLoses,
      analysis: this.analysisOptions,
      kernel: nameMatcher(this.settings.kernel),
      at: options.at ?? null,
      // Headers beside the sources or below the working folder are the user's own; others are not touched.
      editable: (realPath) => inputs.has(realPath) || this.folders.some((folder) => realPath.startsWith(folder + sep) && !this.ignores.ignores(realPath, folder, false)),
      readOnly: (realPath) => {
        if (options.forWriting !== true || !isReadOnly(realPath)) return false;
        this.readOnlyFiles.add(this.workspace.shownPath(realPath));
        return true;
      },
      unseen: this.unseen,
      judged: this.judged,
      pathInDiff: (source) => this.pathInDiff(source),
    };
  }

  private pathInDiff(source: SourceFile): string {
    return this.diffPaths.of(source.realPath);
  }
}
