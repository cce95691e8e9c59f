/** From arguments to a command: wiring only. Commands load what they need when they run, so that small runs start fast. */
import yargs from 'yargs';
import { UsageError } from '../project/errors.js';
import { didYouMean } from '../project/suggest.js';
import { commands } from './commands.js';
import { EXIT } from './exit-codes.js';
import { outputOptions, prepareArguments } from './options.js';
import { version } from './version.js';

function complain(message: string): void {
  process.stderr.write(`divmod: ${message}\n`);
  process.exitCode = EXIT.usage;
}

/**
 * Thrown in place of running a command, so that it runs after yargs is done: yargs would render its whole help behind every handler,
 * which takes longer than auditing a small file.
 */
class Chosen extends Error {
  constructor(readonly start: () => unknown) {
    super('a command was chosen');
  }
}

/** Sets `process.exitCode`; never throws. */
export async function run(args: readonly string[]): Promise<void> {
  const debug = args.includes('--debug');
  const names = commands.map((command) => String(command.command).split(' ')[0] ?? '');
  let parser = yargs(prepareArguments(args))
    .scriptName('divmod')
    .usage('divmod COMMAND [options]\n\nWhere warps of CUDA kernels diverge, what it costs, and how to restructure the source with a proof.')
    .options(outputOptions)
    .version(version())
    .help()
    .alias('help', 'h')
    .wrap(Math.min(110, process.stdout.columns ?? 100))
    .parserConfiguration({ 'parse-positional-numbers': false, 'parse-numbers': false, 'dot-notation': false, 'duplicate-arguments-array': true, 'camel-case-expansion': false, 'populate--': true })
    .exitProcess(false)
    .strict()
    .demandCommand(1, 'which command?')
    .epilogue('Exit codes: 0 done, 1 findings or changes pending, 2 wrong command line or nothing read, 3 incomplete, 4 verification found a difference,\n5 uncommitted changes or a read-only file in the way, 70 internal error, 130 interrupted.');
  for (const command of commands) {
    parser = parser.command({ ...command, handler: (argv) => { throw new Chosen(() => command.handler(argv)); } });
  }

  let failure: { readonly message: string | null; readonly error: unknown } | null = null;
  parser = parser.fail((message: string | null, error: unknown) => {
    failure ??= { message, error };
    // yargs goes on to the handler unless the failure is thrown.
    throw error instanceof Error ? error : new UsageError(message ?? 'wrong command line');
  });

  try {
    const start = await chosen(parser.parseAsync.bind(parser));
    await start?.();
  } catch (error) {
    if (error instanceof UsageError || isParserError(error)) {
      complain(improve(error.message, args, names, optionNames(args)));
    } else if (error instanceof Error && error.name === 'WriteError') {
      complain(error.message);
    } else {
      process.exitCode = EXIT.internal;
      const message = error instanceof Error ? error.message : String(error);
      process.stderr.write(`divmod: internal error: ${message.split('\n')[0] ?? ''}${debug ? '' : ' (--debug shows more)'}\n`);
      if (debug && error instanceof Error && error.stack !== undefined) process.stderr.write(`${error.stack}\n`);
    }
  }
}

/** What the line asks for; null if yargs answered it (help, version). */
async function chosen(parse: () => unknown): Promise<(() => unknown) | null> {
  try {
    await parse();
    return null;
  } catch (error) {
    if (error instanceof Chosen) return error.start;
    throw error;
  }
}

function isParserError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'YError';
}

/** Options that the command on this line knows. */
function optionNames(args: readonly string[]): readonly string[] {
  const command = commands.find((candidate) => args.some((arg) => arg === String(candidate.command).split(' ')[0]));
  const own = command !== undefined && typeof command.builder === 'object' ? Object.keys(command.builder) : [];
  return [...Object.keys(outputOptions), ...own, 'help', 'version'];
}

/** Says what an unknown word may have meant. */
function improve(message: string, args: readonly string[], names: readonly string[], options: readonly string[]): string {
  const option = /^Unknown arguments?: (\S+?)(?:,|$)/.exec(message)?.[1];
  if (option !== undefined && args.find((arg) => !arg.startsWith('-')) === option && !names.includes(option)) {
    return `unknown command "${option}"${didYouMean(option, names)}; there are ${names.join(', ')}`;
  }
  if (option !== undefined) {
    if (args.includes(option)) return `${args[0] ?? ''} takes no further file or word: "${option}" is one too many${args[0] === 'verify' ? ' (divmod verify BEFORE AFTER)' : ''}`;
    const shown = args.some((arg) => arg === `--${option}` || arg.startsWith(`--${option}=`)) || option.length > 1 ? `--${option}` : `-${option}`;
    return `unknown option ${shown}${didYouMean(option.replace(/^-+/, ''), options, '--')}`;
  }
  const command = /^Unknown commands?: (\S+?)(?:,|$)/.exec(message)?.[1];
  if (command !== undefined) return `unknown command "${command}"${didYouMean(command, names)}; there are ${names.join(', ')}`;
  if (message === 'which command?') return `which command? There are ${names.join(', ')}; divmod --help says more`;
  const missing = /^Not enough arguments following: (\S+)/.exec(message)?.[1];
  if (missing !== undefined) return `${missing.length === 1 ? '-' : '--'}${missing} needs a value`;
  // A place on standard input looks like an option.
  const place = args[0] === 'explain' ? args.find((arg) => /^-:\d+(?::\d+)?$/.test(arg)) : undefined;
  if (place !== undefined) return `explain ${place}: standard input cannot be explained; give FILE:LINE, such as src/kernel.cu:42`;
  const few = /^Not enough non-option arguments/.test(message);
  if (few) return `${message.charAt(0).toLowerCase()}${message.slice(1)}; divmod ${args[0] ?? ''} --help says more`;
  return message;
}
