/** `divmod verify BEFORE AFTER`. */
import { statSync } from 'node:fs';
import { UsageError } from '../../project/errors.js';
import { breathe } from '../console.js';
import { command } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { openSession } from '../open.js';
import { choice, factOptions, fileOptions, single, textOrJson, type Argv } from '../options.js';
import { simulationOptions, simulationRequest } from '../simulation-options.js';
import { version } from '../version.js';

export const verifyCommand = command({
  command: 'verify <before> <after>',
  describe: 'same result? (on the simulator)',
  options: { ...textOrJson, ...simulationOptions, ...fileOptions, ...factOptions },
  run: async (argv: Argv, console) => {
    const format = choice(argv, 'format', ['text', 'json'], 'text');
    for (const name of ['before', 'after'] as const) {
      const path = single(argv, name) ?? '';
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) throw new UsageError(`${path} is a folder: verify compares two files`);
    }
    const before = await openSession({ ...argv, paths: [single(argv, 'before')] }, console);
    const after = await openSession({ ...argv, paths: [single(argv, 'after')] }, console);
    if (before === null || after === null) return;
    const request = await simulationRequest(argv, before.settings);
    const [{ verifyKernels }, { nameMatcher, checkKernelNames }] = await Promise.all([import('../../project/simulation.js'), import('../../project/scope.js')]);
    const olds = before.project.kernels();
    checkKernelNames(before.settings.kernel, olds.map(({ kernel }) => kernel.name));
    const wanted = olds.filter(({ kernel }) => nameMatcher(before.settings.kernel)(kernel.name));
    const news = after.project.kernels();
    const program = news[0]?.program;
    if (wanted.length === 0) throw new UsageError('there is no kernel to compare in the first file');
    if (program === undefined) throw new UsageError('there is no kernel in the second file');

    (await import('../../project/argument-check.js')).checkArguments(request.arguments, wanted);

    const verifications = [];
    const seen = new Set<string>();
    for (const { unit, kernel, program: first } of wanted) {
      // All kernels of one name are compared together.
      if (seen.has(kernel.name)) continue;
      seen.add(kernel.name);
      await breathe();
      verifications.push(...verifyKernels(first, program, [{ name: kernel.name, path: unit.source.path }], request, before.project.analysisOptions));
    }
    for (const { verdict } of verifications) {
      if (verdict.status === 'different') console.holds(EXIT.different);
      if (verdict.status === 'not-verified') console.holds(EXIT.incomplete);
    }
    const { sourceViewOf } = await import('../../report/source-view.js');
    const { verdictJson, verdictText } = await import('../../report/simulation.js');
    const view = sourceViewOf([...wanted.map((entry) => entry.program), program], (file) => before.project.shownPath(file));
    if (format === 'json') {
      const { render } = await import('../../report/json.js');
      await console.result(render({ tool: 'divmod', version: version(), schema: 1, kernels: verifications.map(({ kernel, verdict }) => verdictJson(kernel, verdict, view)) }));
    } else {
      await console.result(verifications.map(({ kernel, verdict }) => verdictText(kernel, verdict, view, { color: console.colorOut })).join(''));
    }
  },
});
