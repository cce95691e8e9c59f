/** `divmod explain FILE:LINE`. */
import { UsageError } from '../../project/errors.js';
import { command } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { openProject } from '../open.js';
import { choice, factOptions, fileOptions, list, single, textOrJson, type Argv } from '../options.js';
import { version } from '../version.js';

export const explainCommand = command({
  command: 'explain <place>',
  describe: 'the chain of facts behind a verdict, or an obligation list',
  options: {
    ...textOrJson,
    transform: { type: 'string', requiresArg: true, alias: 't', description: 'only these transforms (default: all)', group: 'Edits:' },
    ...fileOptions,
    ...factOptions,
  },
  run: async (argv: Argv, console) => {
    const format = choice(argv, 'format', ['text', 'json'], 'text');
    const place = single(argv, 'place') ?? '';
    const match = /^(.*):(\d+)(?::\d+)?$/.exec(place);
    if (match === null || match[1] === undefined || Number(match[2]) < 1) throw new UsageError(`explain ${place}: expected FILE:LINE, such as src/kernel.cu:42`);
    const path = match[1];
    const line = Number(match[2]);
    const opened = await openProject({ ...argv, paths: [path] }, console);
    if (opened === null) return;
    const { project } = opened;
    const file = project.files[0];
    const source = file === undefined ? null : project.sourceOf(file.realPath);
    if (file === undefined || source === null) return;
    // What follows the last newline is no line.
    const lines = source.lineCount - (source.text.endsWith('\n') ? 1 : 0);
    if (line > lines) throw new UsageError(`${path} has ${lines === 1 ? '1 line' : `${lines} lines`}; there is no line ${line}`);

    const audits = project.audit();
    const here = (finding: { readonly path: string; readonly line: number; readonly endLine?: number }): boolean =>
      finding.line === line && (finding.path === file.path || finding.path === file.realPath);
    const kernels = audits.flatMap((audit) => audit.kernels);
    const branches = kernels.flatMap((kernel) => kernel.branches.filter(here).map((finding) => ({ kernel: kernel.name, finding })));
    const hazards = kernels.flatMap((kernel) => kernel.hazards.filter(here).map((hazard) => ({ kernel: kernel.name, hazard })));
    const wanted = list(argv, 'transform');
    const sites = project.siteList(wanted.length > 0 ? wanted : ['all'], { at: line });
    for (const fault of project.faults) console.fault(`${fault.path}: ${fault.where}`, fault.error);

    if (format === 'json') {
      const { explainJson } = await import('../../report/json.js');
      await console.result(explainJson(version(), { path: file.path, line, branches, hazards, sites }));
    } else {
      const { explainText } = await import('../../report/explain.js');
      await console.result(explainText({ path: file.path, line, code: project.lineText(file.realPath, line) ?? '', branches, hazards, sites }, console.colorOut));
    }
    if (kernels.some((kernel) => !kernel.understood && kernel.line <= line && line <= kernel.endLine)) {
      console.note('the kernel on this line was not understood\n');
      console.holds(EXIT.incomplete);
    }
  },
});
