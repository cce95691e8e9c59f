/** `divmod audit`. */
import { isTooDeep, UsageError } from '../../project/errors.js';
import { LARGE_BATCH } from '../../project/large-batch.js';
import type { PlainFile } from '../../project/plain-audit.js';
import type { AuditRequest, Session } from '../../project/session.js';
import type { NotSimulated } from '../../project/simulation.js';
import type { Settings } from '../../project/settings.js';
import { breathe, TOO_DEEP, type Console } from '../console.js';
import { command } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { checkFailOn, offends } from '../fail-on.js';
import { openSession } from '../open.js';
import { choice, factOptions, fileOptions, isSet, type Argv } from '../options.js';
import { readJson } from '../read-json.js';
import { refuseUnused, simulationOptions, simulationRequest } from '../simulation-options.js';
import { version } from '../version.js';

export const auditCommand = command({
  command: 'audit [paths..]',
  describe: 'what diverges, why, what it costs; mask and barrier hazards',
  options: {
    ...fileOptions,
    ...factOptions,
    explain: { type: 'boolean', description: 'show the whole chain of facts behind each verdict', group: 'Output:' },
    'fail-on': { type: 'string', requiresArg: true, description: 'exit with 1 if there is a branch of this class (data, boundary, geometry, unknown, divergent), a branch to consider, or a hazard of this severity or id', group: 'Checks:' },
    simulate: { type: 'boolean', description: 'run the kernels on the simulator to see how branches go', group: 'Simulation:' },
    ...simulationOptions,
    baseline: { type: 'string', requiresArg: true, description: 'JSON of an earlier audit: what it found does not count', group: 'Checks:' },
  },
  run: async (argv: Argv, console) => {
    const format = choice(argv, 'format', ['text', 'json', 'sarif', 'markdown', 'html'], 'text');
    const opened = await openSession(argv, console);
    if (opened === null) return;
    const { project, settings, timing } = opened;
    checkFailOn(settings.failOn);
    const known = settings.baseline === null ? null : baselineIds(settings.baseline);

    const files: PlainFile[] = project.failures.map(({ path, line, message }) => ({ path, status: 'failed', problems: [{ line: line ?? 0, message }], kernels: [] }));
    if (!isSet(argv, 'simulate')) refuseUnused(argv, 'simulate');
    const alone = isSet(argv, 'simulate') || opened.stdin;
    const jobs = alone ? 1 : settings.jobs ?? 1;
    const threads = !alone && (jobs > 1 ? project.groups.length > 1 : project.groups.length >= LARGE_BATCH);
    files.push(...(threads ? await auditInParallel(project, settings, jobs) : await auditHere(project, await auditRequest(argv, settings, project, console))));
    for (const fault of project.faults) console.fault(`${fault.path}: ${fault.where}`, fault.error);
    const answered = new Set(files.map((file) => file.path));
    for (const { path } of project.files) {
      const deep = project.faults.some((fault) => isTooDeep(fault.error));
      if (!answered.has(path)) files.push({ path, status: 'failed', problems: [{ line: 0, message: deep ? TOO_DEEP : 'the analysis failed' }], kernels: [] });
    }
    files.sort(inputOrder(project.files.map((file) => file.path)));
    for (const file of files) for (const { line, contradiction } of file.kernels) if (contradiction !== undefined) console.note(`${file.path}:${line}: warning: ${contradiction}\n`);
    timing.mark('audit');

    switch (format) {
      case 'json': {
        const { auditJson } = await import('../../report/json.js');
        await console.result(auditJson(version(), files, isSet(argv, 'timing') ? timing.values : undefined));
        break;
      }
      case 'sarif': {
        const { auditSarif } = await import('../../report/sarif.js');
        await console.result(auditSarif(version(), files));
        break;
      }
      case 'markdown': {
        const { auditMarkdown } = await import('../../report/markdown.js');
        await console.result(auditMarkdown(files));
        break;
      }
      case 'html': {
        const { auditHtml } = await import('../../report/html.js');
        await console.result(auditHtml(files));
        break;
      }
      case 'text': {
        const { auditText } = await import('../../report/text-audit.js');
        await console.result(auditText(files, { color: console.colorOut, explain: isSet(argv, 'explain'), lineOf: (path, line) => project.lineText(path, line) }));
      }
    }
    timing.mark('report');

    const { summarise } = await import('../../report/summary.js');
    const summary = summarise(files);
    const incomplete = files.filter((file) => file.status !== 'ok');
    if (incomplete.length > 0 || summary.kernelsNotUnderstood > 0) {
      console.holds(EXIT.incomplete);
      if (format !== 'text') console.note(`${summary.text}\n`);
      for (const file of incomplete) {
        const first = file.problems[0];
        if (file.status === 'partial') console.note(`${file.path}${first === undefined || first.line === 0 ? '' : `:${first.line}`}: not everything was understood${first === undefined ? '' : `: ${first.message}`}\n`);
      }
    }
    for (const [file, count] of project.kernelsBeside) console.note(`${project.shownPath(file)}: ${count === 1 ? 'a kernel stands' : `${count} kernels stand`} in this header and ${count === 1 ? 'was' : 'were'} not looked at: give it as well\n`);
    if (offends(files, settings.failOn, known)) console.holds(EXIT.findings);
    if (isSet(argv, 'timing')) console.note(timing.text);
  },
});

/** One thread. Programs that are done with are let go if there are several. */
async function auditHere(session: Session, request: AuditRequest): Promise<readonly PlainFile[]> {
  const files: PlainFile[] = [];
  const plain = session.groups.length > 1 ? (await import('../../project/plain-audit.js')).plainAudit : (file: PlainFile): PlainFile => file;
  for (const step of session.auditSteps(request)) {
    files.push(...step.map(plain));
    await breathe();
  }
  return files;
}

async function auditInParallel(session: Session, settings: Settings, jobs: number): Promise<readonly PlainFile[]> {
  const [{ auditOnThreads }, { checkKernelNames }] = await Promise.all([import('../../project/workers.js'), import('../../project/scope.js')]);
  const answers = await auditOnThreads(session.groups, settings, process.cwd(), jobs);
  checkKernelNames(settings.kernel, answers.flatMap((answer) => answer.kernelNames));
  session.faults.push(...answers.flatMap((answer) => answer.faults));
  for (const [file, count] of answers.flatMap((answer) => answer.kernelsBeside)) if (!session.files.some(({ realPath }) => realPath === file)) session.kernelsBeside.set(file, count);
  return answers.flatMap((answer) => answer.files);
}

async function auditRequest(argv: Argv, settings: Settings, session: Session, console: Console): Promise<AuditRequest> {
  if (!isSet(argv, 'simulate')) return {};
  const [{ simulatedProbabilities }, request] = await Promise.all([import('../../project/simulation.js'), simulationRequest(argv, settings)]);
  const { checkArguments } = await import('../../project/argument-check.js');
  checkArguments(request.arguments, session.kernels());
  const told = new Set<string>();
  const tell = ({ kernel, reason, file, line }: NotSimulated): void => {
    console.holds(EXIT.incomplete);
    const text = `${session.shownPath(file)}:${line}: ${kernel.name} was not simulated: ${reason}`;
    // A kernel of a header is met once for every file that includes it.
    if (!told.has(text)) console.problem(text);
    told.add(text);
  };
  return { probabilities: (program, kernels) => simulatedProbabilities(program, kernels, request, tell) };
}

/** The files in the order in which they were given; those that could not be read at the end. */
function inputOrder(paths: readonly string[]): (a: PlainFile, b: PlainFile) => number {
  const rank = new Map(paths.map((path, i) => [path, i]));
  return (a, b) => (rank.get(a.path) ?? paths.length) - (rank.get(b.path) ?? paths.length);
}

/** Ids of everything that an earlier audit found. Throws `UsageError`. */
function baselineIds(path: string): ReadonlySet<string> {
  const content = readJson(path, `--baseline ${path}`);
  const ids = new Set<string>();
  collect(content, ids);
  if (typeof content !== 'object' || content === null || !('files' in content)) throw new UsageError(`--baseline ${path}: this is not the JSON of divmod audit`);
  return ids;
}

/** Branches have ids of their own; a hazard is known by its id and what it says. */
function collect(value: unknown, ids: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, ids);
  } else if (typeof value === 'object' && value !== null) {
    if ('id' in value && typeof value.id === 'string') ids.add('severity' in value && 'message' in value ? `${value.id}\0${String(value.message)}` : value.id);
    for (const item of Object.values(value)) collect(item, ids);
  }
}
