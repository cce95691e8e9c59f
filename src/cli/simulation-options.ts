/** Options of everything that runs kernels on the simulator. */
import type { Options } from 'yargs';
import type { SimulationRequest } from '../project/simulation.js';
import { UsageError } from '../project/errors.js';
import type { Settings } from '../project/settings.js';
import { list, positive, single, type Argv } from './options.js';

const GROUP = 'Simulation:';

export const simulationOptions = {
  launch: { type: 'string', requiresArg: true, description: 'blocks x threads, such as 4x256 or 4,4x16,16', group: GROUP },
  arg: { type: 'string', requiresArg: true, description: 'value of a parameter: n=1000, x=uniform(-1,1), flag=bernoulli(0.03) (repeatable)', group: GROUP },
  size: { type: 'string', requiresArg: true, description: 'value of parameters that are named like sizes', group: GROUP },
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
    seed: natural(argv, 'seed') ?? 1,
    schedule: natural(argv, 'schedule') ?? 0,
    size: positive(argv, 'size') ?? null,
    arguments: parseArguments(list(argv, 'arg')),
  };
}

function natural(argv: Argv, name: string): number | undefined {
  const value = single(argv, name);
  if (value === undefined) return undefined;
  if (!/^\d+$/.test(value)) throw new UsageError(`--${name} ${value}: expected a whole number`);
  return Number(value);
}
