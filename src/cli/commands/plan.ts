/** `divmod plan`: what to restructure, in which order, what it should gain. */
import { rankProposals } from '../../plan/rank.js';
import { breathe } from '../console.js';
import { command } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { openProject } from '../open.js';
import { choice, factOptions, fileOptions, isSet, list, textOrJson, type Argv } from '../options.js';
import { version } from '../version.js';

export const planCommand = command({
  command: 'plan [paths..]',
  describe: 'what to restructure, in which order, what it should gain',
  options: {
    ...textOrJson,
    transform: { type: 'string', requiresArg: true, alias: 't', description: 'only these transforms (default: all)', group: 'Edits:' },
    allow: { type: 'string', requiresArg: true, description: 'give a grant (divmod transforms lists them)', group: 'Edits:' },
    deny: { type: 'string', requiresArg: true, description: 'withdraw a default grant', group: 'Edits:' },
    'strict-fp': { type: 'boolean', description: 'withdraw the grant contract', group: 'Edits:' },
    ...fileOptions,
    ...factOptions,
  },
  run: async (argv: Argv, console) => {
    const format = choice(argv, 'format', ['text', 'json'], 'text');
    const opened = await openProject(argv, console);
    if (opened === null) return;
    const { project, timing } = opened;
    await breathe();
    for (const { path, line, message } of project.contradictions()) console.note(`${path}:${line ?? 1}: warning: ${message}\n`);
    const wanted = list(argv, 'transform');
    const sites = project.siteList(wanted.length > 0 ? wanted : ['all']);
    for (const fault of project.faults) console.fault(`${fault.path}: ${fault.where}`, fault.error);
    timing.mark('plan');
    const legal = sites.filter((site) => site.status !== 'refused');
    const proposals = rankProposals(legal.flatMap((site) => (site.estimate === null ? [] : [{ ...site, estimate: site.estimate }])));
    const kernels = project.kernels();
    if (format === 'json') {
      const { planJson } = await import('../../report/json.js');
      await console.result(planJson(version(), proposals, { kernels: kernels.length, sites: sites.length, refused: sites.length - legal.length }));
    } else {
      const { planText } = await import('../../report/text-plan.js');
      await console.result(planText(proposals, { kernels: kernels.length, files: project.files.length, refused: sites.length - legal.length }, console.colorOut));
    }
    if (kernels.some(({ kernel }) => !kernel.understood)) console.holds(EXIT.incomplete);
    if (isSet(argv, 'timing')) console.note(timing.text);
  },
});
