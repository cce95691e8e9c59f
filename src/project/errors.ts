/** A wrong command line, configuration or call of the library: the message is for the user (exit code 2). */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}
