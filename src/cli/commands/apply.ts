/** `divmod apply`. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../project/errors.js';
import type { SiteResult } from '../../project/rounds.js';
import { nothingThere } from '../../project/nothing-there.js';
import type { Project } from '../../project/project.js';
import type { Verification } from '../../project/simulation.js';
import { rejected, untried, withheld } from '../../project/withheld.js';
import type { SourceView } from '../../report/simulation.js';
import { breathe, type Console } from '../console.js';
import { command } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { openProject } from '../open.js';
import { choice, factOptions, fileOptions, isSet, positive, single, type Argv } from '../options.js';
import { refuseUnused, simulationOptions, simulationRequest } from '../simulation-options.js';
import { version } from '../version.js';

const GROUP = 'Edits:';

export const applyCommand = command({
  command: 'apply [paths..]',
  describe: 'the edit, as a unified diff (default) or written (--write)',
  options: {
    transform: { type: 'string', requiresArg: true, alias: 't', description: 'peel, hoist,peel, compact:grid,order=keep, ./mine.mjs, or all', group: GROUP },
    at: { type: 'string', requiresArg: true, description: 'only the site on this line', group: GROUP },
    'dry-run': { type: 'boolean', description: 'print the diff and write nothing (the default)', group: GROUP },
    write: { type: 'boolean', description: 'change the files', group: GROUP },
    check: { type: 'boolean', description: 'print nothing; exit with 1 if something would change', group: GROUP },
    series: { type: 'string', requiresArg: true, description: 'write one patch per site into this folder', group: GROUP },
    'allow-dirty': { type: 'boolean', description: 'write to files with uncommitted changes too', group: GROUP },
    allow: { type: 'string', requiresArg: true, description: 'give a grant (divmod transforms lists them)', group: GROUP },
    deny: { type: 'string', requiresArg: true, description: 'withdraw a default grant', group: GROUP },
    'strict-fp': { type: 'boolean', description: 'withdraw the grant contract', group: GROUP },
    'even-if-it-loses': { type: 'boolean', description: 'apply what is legal even if it does not pay', group: GROUP },
    verify: { type: 'boolean', description: 'compare before and after on the simulator; write nothing if they differ', group: GROUP },
    explain: { type: 'boolean', description: 'show the proof of each edit', group: GROUP },
    ...simulationOptions,
    ...fileOptions,
    ...factOptions,
  },
  run: async (argv: Argv, console) => {
    const format = choice(argv, 'format', ['text', 'json', 'sarif', 'markdown', 'html'], 'text');
    const write = isSet(argv, 'write');
    const check = isSet(argv, 'check');
    const series = single(argv, 'series');
    const at = positive(argv, 'at');
    if (!isSet(argv, 'verify')) refuseUnused(argv, 'verify');
    if (write && (check || isSet(argv, 'dry-run'))) throw new UsageError(`--write contradicts --${check ? 'check' : 'dry-run'}`);
    const opened = await openProject(argv, console);
    if (opened === null) return;
    const { project, settings, timing } = opened;
    if (settings.transform.length === 0) throw new UsageError('which transform? Give --transform NAME (divmod transforms lists them)');
    if (write && opened.stdin) throw new UsageError('--write cannot write to standard input; the diff goes to standard output without it');

    for (const { path, line, message } of project.contradictions()) console.note(`${path}:${line ?? 1}: warning: ${message}\n`);
    const outcome = await project.applySteps(settings.transform, { ...(at === undefined ? {} : { at }), evenIfItLoses: settings.evenIfItLoses, forWriting: write }, breathe);
    timing.mark('apply');
    for (const fault of project.faults) console.fault(`${fault.path}: ${fault.where}`, fault.error);
    const found = at === undefined || outcome.sites.length > 0 ? outcome.sites : nothingAt(project, settings.transform, at);
    let sites: readonly SiteResult[] = found;
    let diff: Uint8Array | null = project.diffBytes();

    let verifications: readonly Verification[] | null = null;
    if (isSet(argv, 'verify')) {
      const request = await simulationRequest(argv, settings);
      (await import('../../project/argument-check.js')).checkArguments(request.arguments, project.kernels());
      verifications = await project.verify(found, request, breathe);
      if (rejected(verifications).length > 0) console.holds(EXIT.different);
      if (verifications.some(({ verdict }) => verdict.status === 'not-verified')) console.holds(EXIT.incomplete);
      const { verdictText } = await import('../../report/simulation.js');
      const view = await viewOf(project, verifications);
      for (const { kernel, verdict } of verifications) console.note(verdictText(kernel, verdict, view, { color: console.colorErr }));
      for (const site of untried(found, verifications)) {
        console.note(`${site.function}  not verified\n    ${site.path}: no kernel at hand runs it: give the files of its kernels too\n`);
        console.holds(EXIT.incomplete);
      }
      timing.mark('verify');
      // What changes results is no edit to be taken: its diff is for those who ask to see it.
      const shown = isSet(argv, 'dry-run');
      sites = withheld(found, verifications, shown);
      if (console.has(EXIT.different) && !shown) diff = null;
    }

    if (project.readOnlyFiles.size > 0) {
      console.problem('these files are read-only and stay as they are; make them writable, or take the diff without --write:');
      for (const path of project.readOnlyFiles) process.stderr.write(`  ${path}\n`);
      console.holds(EXIT.guarded);
    }

    let written: readonly string[] | null = null;
    if (console.has(EXIT.different)) {
      const why = verifications?.some(({ verdict }) => verdict.status === 'different') === true ? 'before and after differ' : 'the result is not understood where the original was';
      console.problem(write ? `${why}, so nothing was written` : diff === null ? `${why}, so there is no diff to take (--dry-run prints it all the same)` : `${why}: do not take this diff`);
      written = write ? [] : null;
    } else if (write) {
      const dirty = isSet(argv, 'allow-dirty') ? [] : project.uncommitted();
      if (dirty.length > 0) {
        console.problem('these files have uncommitted changes; commit them, or give --allow-dirty:');
        for (const path of dirty) process.stderr.write(`  ${path}\n`);
        console.holds(EXIT.guarded);
        written = [];
      } else {
        written = console.has(EXIT.internal) ? [] : await project.save();
      }
    }
    if (series !== undefined && !check) await writeSeries(series, sites);

    if (!check) await report(format, console, { sites, diff, written, kernels: outcome.kernels, project, verifications });
    if (!check) {
      const { certificatesText, closingText, refusalsText } = await import('../../report/text-apply.js');
      console.note(certificatesText(sites, console.colorErr, isSet(argv, 'explain'), written !== null && written.length === 0));
      console.note(refusalsText(sites, console.colorErr));
      console.note(closingText({ sites, kernels: outcome.kernels, files: project.files.length, transforms: settings.transform, written }));
    }
    for (const kernel of outcome.notUnderstood) {
      if (!check) console.note(`${kernel.path}:${kernel.line}: ${kernel.name === '' ? 'not understood' : `${kernel.name} was not understood, so nothing touches it`}: ${kernel.message}\n`);
      console.holds(EXIT.incomplete);
    }
    if (check && diff !== null && diff.length > 0) console.holds(EXIT.findings);
    if (at !== undefined && sites.every((site) => site.status === 'refused')) console.holds(EXIT.findings);
    if (isSet(argv, 'timing')) console.note(timing.text);
  },
});

/** Asked for one line, and no transform has a site there: that is said as a refusal of each, not passed over. */
function nothingAt(project: Project, transforms: readonly string[], at: number): SiteResult[] {
  return [...new Set(transforms.flatMap((spec) => spec.split(',')))].map((spec) => {
    const [name = spec] = spec.split(':');
    const there = nothingThere(project, name, at);
    return {
      path: there.path, realPath: there.realPath, transform: spec, variant: null, kernel: there.kernel, function: there.function, line: at, summary: `no site of ${spec} on line ${at}`,
      status: 'refused', estimate: null, reason: null, diff: new Uint8Array(0), round: 1, sequence: 0,
      obligations: [{ id: 'shape', status: 'refuted', grant: null, line: at, text: `nothing on line ${at} has the shape that ${spec} treats: ${there.text}`, remedy: `divmod transforms ${name} shows the shape` }],
    };
  });
}

async function viewOf(project: Project, verifications: readonly Verification[]): Promise<SourceView> {
  const { sourceViewOf } = await import('../../report/source-view.js');
  return sourceViewOf(verifications.flatMap(({ before, after }) => [before, after]), (file) => project.shownPath(file));
}

async function writeSeries(folder: string, sites: readonly SiteResult[]): Promise<void> {
  const { writeOutput } = await import('../../rewrite/write.js');
  mkdirSync(folder, { recursive: true });
  const steps = sites.filter((site) => site.sequence > 0).sort((a, b) => a.sequence - b.sequence);
  const digits = Math.max(4, String(steps.length).length);
  for (const [i, site] of steps.entries()) {
    const name = `${String(i + 1).padStart(digits, '0')}-${site.transform}-${site.function}-line-${site.line}`.replace(/[^\w.-]/g, '_');
    writeOutput(join(folder, `${name}.patch`), site.diff);
  }
}

interface ApplyReport {
  readonly sites: readonly SiteResult[];
  /** Null if it is kept back. */
  readonly diff: Uint8Array | null;
  readonly written: readonly string[] | null;
  readonly kernels: number;
  readonly project: Project;
  readonly verifications: readonly Verification[] | null;
}

async function report(format: 'text' | 'json' | 'sarif' | 'markdown' | 'html', console: Console, { sites, diff, written, kernels, project, verifications }: ApplyReport): Promise<void> {
  switch (format) {
    case 'json': {
      const [{ applyJson }, { verdictJson }] = await Promise.all([import('../../report/json.js'), import('../../report/simulation.js')]);
      const view = verifications === null ? null : await viewOf(project, verifications);
      await console.result(applyJson(version(), { sites, diff: diff ?? new Uint8Array(0), written: written ?? [], kernels, problems: project.failures, verification: verifications === null || view === null ? null : verifications.map(({ kernel, path, verdict }) => ({ path, ...verdictJson(kernel, verdict, view) })) }));
      return;
    }
    case 'sarif': {
      const { applySarif } = await import('../../report/sarif.js');
      await console.result(applySarif(version(), sites));
      return;
    }
    case 'markdown': {
      const { applyMarkdown } = await import('../../report/markdown.js');
      await console.result(applyMarkdown(sites, diff ?? new Uint8Array(0)));
      return;
    }
    case 'html': {
      const { applyHtml } = await import('../../report/html.js');
      await console.result(applyHtml(sites, diff ?? new Uint8Array(0)));
      return;
    }
    case 'text':
      // What was written need not be shown: the closing line names the files.
      if (diff !== null && (written === null || written.length === 0)) await console.result(diff);
  }
}
