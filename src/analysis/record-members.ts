/** What a member function of a record is, told by its name. */
import type { FunctionDecl } from '../syntax/tree.js';

const OVERLOADED: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>', '=', '!', '~', ',', '(', '[']);

/** `operator bool()`, `operator float *()`: a conversion function. */
export function isConversion(method: FunctionDecl): boolean {
  if (method.parameters.length > 0 || !method.name.startsWith('operator')) return false;
  const rest = method.name.slice('operator'.length).trim();
  return rest !== '' && !OVERLOADED.has(rest.charAt(0));
}
