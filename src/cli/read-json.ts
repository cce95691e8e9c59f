/** JSON that the user names on the command line. */
import { readFileSync } from 'node:fs';
import { UsageError } from '../project/errors.js';

/** `what` begins the message: the path, with its option if it has one. Throws `UsageError`. */
export function readJson(path: string, what: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${what}: ${reasonOf(error)}`);
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new UsageError(`${what}: no valid JSON (${error instanceof Error ? error.message : String(error)})`);
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  switch (code) {
    case 'ENOENT': case 'ENOTDIR': return 'no such file';
    case 'EISDIR': return 'is a folder, not a file';
    case 'EACCES': case 'EPERM': return 'may not be read';
    default: return `cannot be read${typeof code === 'string' ? ` (${code})` : ''}`;
  }
}
