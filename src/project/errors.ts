/** A wrong command line, configuration or call of the library: the message is for the user (exit code 2). */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}

/** Did the stack overflow? Then text or calls are nested beyond what can be analysed: a limit, not a fault. What threads send back is no RangeError. */
export function isTooDeep(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Maximum call stack size exceeded');
}
