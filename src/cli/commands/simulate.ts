/** `divmod simulate FILE`. */
import { UsageError } from '../../project/errors.js';
import { breathe } from '../console.js';
import { command } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { openSession } from '../open.js';
import { choice, factOptions, fileOptions, textOrJson, type Argv } from '../options.js';
import { simulationOptions, simulationRequest } from '../simulation-options.js';
import { version } from '../version.js';

export const simulateCommand = command({
  command: 'simulate [paths..]',
  describe: 'run it on the built-in SIMT simulator; efficiency per branch',
  options: { ...textOrJson, ...simulationOptions, ...fileOptions, ...factOptions },
  run: async (argv: Argv, console) => {
    const format = choice(argv, 'format', ['text', 'json'], 'text');
    const opened = await openSession(argv, console);
    if (opened === null) return;
    const { project, settings } = opened;
    const request = await simulationRequest(argv, settings);
    const [{ simulateKernel }, { nameMatcher, checkKernelNames }] = await Promise.all([import('../../project/simulation.js'), import('../../project/scope.js')]);
    const all = project.kernels();
    checkKernelNames(settings.kernel, all.map(({ kernel }) => kernel.name));
    const wanted = all.filter(({ kernel }) => nameMatcher(settings.kernel)(kernel.name) && kernel.body !== null);
    if (wanted.length === 0) throw new UsageError('there is no kernel here to simulate');

    (await import('../../project/argument-check.js')).checkArguments(request.arguments, wanted);
    const { sourceViewOf } = await import('../../report/source-view.js');
    const { simulationJson, simulationText } = await import('../../report/simulation.js');
    const view = sourceViewOf(new Set(wanted.map(({ program }) => program)), (file) => project.shownPath(file));
    const reports = [];
    for (const { unit, kernel, program } of wanted) {
      await breathe();
      for (const { instance, notes, result } of simulateKernel(program, kernel, request)) {
        reports.push({ kernel: kernel.name, path: unit.source.realPath, instance, notes, seed: request.seed ?? 1, schedule: request.schedule ?? 0, result });
        if (result.status !== 'ran') console.holds(EXIT.incomplete);
        else if (result.faults.some((fault) => fault.severity === 'error')) console.holds(EXIT.findings);
      }
    }
    if (format === 'json') {
      const { render } = await import('../../report/json.js');
      await console.result(render({ tool: 'divmod', version: version(), schema: 1, kernels: reports.map((report) => simulationJson(report, view)) }));
    } else {
      await console.result(reports.map((report) => simulationText(report, view, { color: console.colorOut })).join('\n'));
    }
  },
});
