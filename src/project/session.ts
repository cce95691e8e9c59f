/**
 * A set of files that was read, and what can be asked about it: the audit, its kernels, its text. Knows nothing of edits (see
 * project.ts), so that an audit starts fast.
 */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { createAnalysis } from '../analysis/analyse.js';
import type { AnalysisOptions, Probabilities } from '../analysis/facts.js';
import { blockFact } from '../analysis/launch-facts.js';
import { auditProgram } from '../audit/audit.js';
import type { FileAudit } from '../audit/types.js';
import type { SourceFile } from '../source/types.js';
import type { HostCode } from '../syntax/program.js';
import { isDefinition } from '../syntax/lower-overload.js';
import type { FunctionDecl, Program, Unit } from '../syntax/tree.js';
import { annotationWarnings } from './annotation-warnings.js';
import { readCompileCommands, startEngine } from './engine.js';
import type { InputFile } from './files.js';
import { isTooDeep } from './errors.js';
import { checkKernelNames, kernelsOf, nameMatcher } from './scope.js';
import type { Settings } from './settings.js';
import { Workspace, type Failure } from './workspace.js';

/** A transform or an analysis failed: a fault of divmod, kept apart from refusals. */
export interface InternalFault {
  readonly path: string;
  readonly where: string;
  readonly error: unknown;
}

/** What the command line has already worked out. */
export interface OpenedInputs {
  readonly files: readonly InputFile[];
  readonly failures: readonly Failure[];
  readonly given: ReadonlyMap<string, Uint8Array>;
  readonly settings: Settings;
  readonly cwd: string;
  /** Which files are known together, by real path; worked out from folders and includes if absent. */
  readonly groups?: readonly (readonly string[])[];
}

export interface AuditRequest {
  /** False: a name of a kernel that does not exist is not an error here. */
  readonly checkKernels?: boolean;
  /** How branches really go, in place of assumed probabilities: from the simulator or a profile. */
  readonly probabilities?: (program: Program, kernels: readonly FunctionDecl[]) => Probabilities | null;
}

export class Session {
  protected readonly workspace: Workspace;
  protected readonly settings: Settings;
  protected readonly cwd: string;
  private readonly missing: readonly Failure[];
  /** Faults of divmod itself met so far. */
  readonly faults: InternalFault[] = [];
  /** Names of all kernels that audits met, asked for or not. */
  readonly kernelNames: string[] = [];
  /** Kernels of headers that audits met through an include and that were not given: how many, by real path. */
  readonly kernelsBeside = new Map<string, number>();

  protected constructor(inputs: OpenedInputs) {
    this.settings = inputs.settings;
    this.cwd = realpathSync.native(inputs.cwd);
    this.missing = inputs.failures;
    this.workspace = new Workspace(inputs.files, {
      cwd: this.cwd,
      includeDirs: inputs.settings.includeDirs.map((folder) => resolve(inputs.cwd, folder)),
      define: inputs.settings.define,
      compileCommands: inputs.settings.compileCommands === null ? null : readCompileCommands(resolve(inputs.cwd, inputs.settings.compileCommands)),
      given: inputs.given,
      ...(inputs.groups === undefined ? {} : { groups: inputs.groups }),
    });
  }

  /** Reads the files. Those that cannot be read are in `failures`. */
  static async read(inputs: OpenedInputs): Promise<Session> {
    await startEngine();
    return new Session(inputs);
  }

  /** Makes edits that wait to be made; a session has none. */
  protected settle(): void {}

  /** What could not be found or read. */
  get failures(): readonly Failure[] {
    return [...this.missing, ...this.workspace.failures];
  }

  /** Annotations of the files that say nothing. */
  get annotationWarnings(): readonly Failure[] {
    return this.workspace.inputs.flatMap(({ path, realPath }) => {
      const source = this.workspace.mentions(realPath, 'divmod:') ? this.workspace.original(realPath)?.source ?? null : null;
      return source === null ? [] : annotationWarnings(source).map((warning) => ({ path, ...warning }));
    });
  }

  /** What `--block` and annotations say of kernels that are launched otherwise. Nothing is loaded for it where nobody says anything. */
  contradictions(): readonly Failure[] {
    const isSaid = this.settings.block !== null || this.workspace.inputs.some(({ realPath }) => this.workspace.mentions(realPath, 'divmod:'));
    if (!isSaid) return [];
    return this.kernels().flatMap(({ unit, kernel, program }) => {
      const { contradiction } = blockFact(kernel, program, this.analysisOptions);
      return contradiction === undefined ? [] : [{ path: this.workspace.shownPath(unit.source.realPath), line: unit.source.line(kernel.nameSpan.start), message: contradiction }];
    });
  }

  /** The files that were read. */
  get files(): readonly InputFile[] {
    return this.workspace.inputs;
  }

  /** Which files are known together, with the number of bytes in each group. */
  get groups(): readonly { readonly files: readonly InputFile[]; readonly size: number }[] {
    return this.workspace.groups.map((files) => ({ files, size: files.reduce((n, file) => n + this.workspace.sizeOf(file.realPath), 0) }));
  }

  get analysisOptions(): AnalysisOptions {
    const { block, grid, assume, arch, defaultTrips } = this.settings;
    return {
      ...(block === null ? {} : { block }), ...(grid === null ? {} : { grid }), ...(assume.size === 0 ? {} : { assume }),
      ...(arch === null ? {} : { arch }), ...(defaultTrips === null ? {} : { defaultTrips }),
    };
  }

  /** Every kernel of the files, with the unit it stands in. */
  kernels(): readonly { readonly unit: Unit; readonly kernel: FunctionDecl; readonly program: Program }[] {
    this.settle();
    return this.workspace.groups.flatMap((group) => {
      const program = this.programOf(group);
      return program === null ? [] : kernelsOf(program, group).map((entry) => ({ ...entry, program }));
    });
  }

  /** Audits the present state of the files. Throws `UsageError` if a kernel was asked for that does not exist. */
  audit(options: AuditRequest = {}): readonly FileAudit[] {
    return [...this.auditSteps(options)].flat();
  }

  /** As `audit`, file by file, so that a caller can do something in between. */
  *auditSteps(options: AuditRequest = {}): Generator<readonly FileAudit[], void, undefined> {
    this.settle();
    const wanted = nameMatcher(this.settings.kernel);
    const given = new Set(this.workspace.inputs.map((file) => file.realPath));
    for (const group of this.workspace.groups) {
      // A simulation may run what host code prepares.
      const program = this.programOf(group, options.probabilities === undefined ? 'launches' : 'whole');
      if (program === null) continue;
      const analysis = createAnalysis(program, this.analysisOptions);
      this.kernelNames.push(...kernelsOf(program, group).map(({ kernel }) => kernel.name));
      for (const unit of program.units.values()) if (!given.has(unit.source.realPath)) this.noteBeside(unit, wanted);
      yield [];
      for (const file of group) {
        try {
          const kernels = program.units.get(file.realPath)?.kernels.filter((kernel) => kernel.body !== null && wanted(kernel.name)) ?? [];
          const probabilities = options.probabilities?.(program, kernels) ?? null;
          yield auditProgram(analysis, { files: [file.realPath], kernel: wanted, analysis: this.analysisOptions, probabilities, shown: (path) => this.workspace.shownPath(path) });
        } catch (error) {
          this.faults.push({ path: file.path, where: 'audit', error });
          // What the analysis has kept may be half made: nothing more is asked of it.
          if (isTooDeep(error)) break;
        }
      }
    }
    if (options.checkKernels !== false) checkKernelNames(this.settings.kernel, this.kernelNames);
  }

  private noteBeside({ source, kernels }: Unit, wanted: (name: string) => boolean): void {
    // Not by their bodies, which nobody reads.
    const count = kernels.filter((kernel) => isDefinition(kernel) && wanted(kernel.name)).length;
    if (count > 0) this.kernelsBeside.set(source.realPath, count);
  }

  /** How a file is called in results. */
  shownPath(realPath: string): string {
    return this.workspace.shownPath(realPath);
  }

  /** The text of a file's line as it was read (from 1); null if the file is not loaded. */
  lineText(realPathOrPath: string, line: number): string | null {
    const source = this.sourceOf(realPathOrPath);
    if (source === null || line < 1 || line > source.lineCount) return null;
    const end = line < source.lineCount ? source.lineStart(line + 1) : source.text.length;
    return source.text.slice(source.lineStart(line), end).replace(/\r?\n$/, '');
  }

  /** A loaded file by real path or by the path the user gave. */
  sourceOf(path: string): SourceFile | null {
    return this.workspace.original(path)?.source ?? this.workspace.originalByPath(path);
  }

  /** Null if divmod itself failed on the group; that is kept as a fault. */
  protected programOf(group: readonly InputFile[], hostCode: HostCode = 'whole'): Program | null {
    try {
      return this.workspace.program(group, hostCode);
    } catch (error) {
      this.faults.push({ path: group.map((file) => file.path).join(', '), where: 'reading', error });
      return null;
    }
  }
}
