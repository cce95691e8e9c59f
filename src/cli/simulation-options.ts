/** Options of everything that runs kernels on the simulator. */
import type { Options } from 'yargs';
import type { SimulationRequest } from '../project/simulation.js';
import { UsageError } from '../project/errors.js';
import type { Settings } from '../project/settings.js';
import { list, single, type Argv } from './options.js';

const GROUP = 'Simulation:';

export const simulationOptions = {
  launch: { type: 'string', requiresArg: true, description: 'blocks x threads, such as 4x256 or 4,4x16,16', group: GROUP },
  arg: { type: 'string', requiresArg: true, description: 'value of a parameter: n=1000, x=uniform(-1,1), flag=bernoulli(0.03), y=alias(x), a=[1,2], a=@FILE (repeatable)', group: GROUP },
  size: { type: 'string', requiresArg: true, description: 'value of parameters that are named like sizes', group: GROUP },
  shared: { type: 'string', requiresArg: true, description: 'bytes of dynamic shared memory of a block', group: GROUP },
  seed: { type: 'string', requiresArg: true, description: 'seed of the contents of buffers', group: GROUP },
  schedule: { type: 'string', requiresArg: true, description: 'seed of the schedule of warps; 0 runs them in order', group: GROUP },
} satisfies Record<string, Options>;

export async function simulationRequest(argv: Argv, settings: Settings): Promise<SimulationRequest> {
  const { parseArguments, parseLaunch } = await import('../project/simulation.js');
  const launch = single(argv, 'launch');
  const { block, grid } = settings;
  return {
    launch: launch === undefined ? null : parseLaunch(launch),
    block: block === null ? null : [block.x, block.y, block.z],
    grid: grid === null ? null : [grid.x, grid.y, grid.z],
    seed: natural(argv, 'seed') ?? null,
    schedule: natural(argv, 'schedule') ?? null,
    size: natural(argv, 'size') ?? null,
    shared: natural(argv, 'shared') ?? null,
    arguments: parseArguments(list(argv, 'arg')),
  };
}

/** Sizes are `int` in most kernels. */
const MOST = 2 ** 31 - 1;

/** Options that ask for nothing unless something is run. Throws `UsageError`. */
export function refuseUnused(argv: Argv, flag: string): void {
  const given = Object.keys(simulationOptions).find((name) => argv[name] !== undefined);
  if (given !== undefined) throw new UsageError(`--${given} goes with --${flag}: without it nothing is run`);
}

function natural(argv: Argv, name: string): number | undefined {
  const value = single(argv, name);
  if (value === undefined) return undefined;
  if (!/^\d{1,10}$/.test(value) || Number(value) > MOST) throw new UsageError(`--${name} ${value}: expected a whole number from 0 to ${MOST}`);
  return Number(value);
}
