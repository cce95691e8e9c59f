/** The frame of every command: its console, its exit code, its faults. */
import type { CommandModule, Options } from 'yargs';
import { UsageError } from '../project/errors.js';
import { Console } from './console.js';
import { EXIT } from './exit-codes.js';
import { consoleOptions, type Argv } from './options.js';

export interface CommandSpec {
  readonly command: string;
  readonly describe: string;
  readonly options: Readonly<Record<string, Options>>;
  readonly run: (argv: Argv, console: Console) => Promise<void>;
}

export function command(spec: CommandSpec): CommandModule {
  return {
    command: spec.command,
    describe: spec.describe,
    builder: { ...spec.options },
    handler: async (argv) => {
      const console = new Console(consoleOptions(argv));
      try {
        await spec.run(argv, console);
      } catch (error) {
        if (error instanceof UsageError) {
          console.problem(error.message);
          console.holds(EXIT.usage);
        } else if (error instanceof Error && error.name === 'WriteError') {
          // The command line named a place that cannot be written, or a file changed under us: nothing was written.
          console.problem(error.message);
          console.holds(EXIT.usage);
        } else {
          console.fault('', error);
        }
      }
      process.exitCode = console.exitCode;
    },
  };
}
