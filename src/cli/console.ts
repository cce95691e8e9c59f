/** Where a command's results and messages go, and what its exit code becomes. */
import { isTooDeep } from '../project/errors.js';
import { EXIT, winningCode, type ExitCode } from './exit-codes.js';

export const TOO_DEEP = 'not analysed: text or calls are nested too deeply';

export interface ConsoleOptions {
  readonly quiet: boolean;
  readonly debug: boolean;
  readonly color: 'auto' | 'always' | 'never';
  /** File to write the result to instead of standard output. */
  readonly output: string | null;
}

export class Console {
  private readonly codes = new Set<ExitCode>();

  constructor(readonly options: ConsoleOptions) {}

  /** Colour in the result? Never in a file. */
  get colorOut(): boolean {
    return wantsColor(this.options.color, this.options.output === null && process.stdout.isTTY === true);
  }

  get colorErr(): boolean {
    return wantsColor(this.options.color, process.stderr.isTTY === true);
  }

  /** The result, and nothing but the result. */
  async result(content: string | Uint8Array): Promise<void> {
    const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
    if (this.options.output !== null) {
      const { writeOutput } = await import('../rewrite/write.js');
      writeOutput(this.options.output, bytes);
      return;
    }
    await new Promise<void>((resolve) => {
      // A reader that went away is no fault: the callback comes with the error too.
      process.stdout.write(bytes, () => resolve());
    });
  }

  /** A message that `--quiet` silences. */
  note(text: string): void {
    if (!this.options.quiet && text !== '') process.stderr.write(text.endsWith('\n') ? text : `${text}\n`);
  }

  /** A message that is always shown. */
  problem(text: string): void {
    process.stderr.write(`divmod: ${text}\n`);
  }

  holds(code: ExitCode): void {
    this.codes.add(code);
  }

  has(code: ExitCode): boolean {
    return this.codes.has(code);
  }

  /** A fault of divmod itself: one line, the stack only with `--debug`. */
  fault(where: string, error: unknown): void {
    if (isTooDeep(error)) {
      // A limit, not a fault: what was left out makes the run incomplete.
      this.holds(EXIT.incomplete);
      this.problem(`${where === '' ? '' : `${where}: `}${TOO_DEEP}`);
      if (this.options.debug && error instanceof Error && error.stack !== undefined) process.stderr.write(`${error.stack}\n`);
      return;
    }
    this.holds(EXIT.internal);
    const message = error instanceof Error ? error.message : String(error);
    this.problem(`internal error${where === '' ? '' : ` in ${where}`}: ${message.split('\n')[0] ?? ''}${this.options.debug ? '' : ' (--debug shows more)'}`);
    if (this.options.debug && error instanceof Error && error.stack !== undefined) process.stderr.write(`${error.stack}\n`);
  }

  get exitCode(): ExitCode {
    return winningCode(this.codes);
  }
}

function wantsColor(choice: ConsoleOptions['color'], terminal: boolean): boolean {
  if (choice !== 'auto') return choice === 'always';
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '0') return true;
  return terminal && TERM !== 'dumb';
}

/** Gives pending signals their turn: work is synchronous in between. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
