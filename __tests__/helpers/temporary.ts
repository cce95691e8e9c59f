/** Folders for tests under the system's temporary directory; whatever becomes of the tests of a file, they are gone when it ends. */
import { afterAll } from '@jest/globals';
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

// Registered where the file is loaded: hooks may not be added inside a test.
afterAll(() => {
  for (const folder of made.splice(0)) remove(folder);
});

/** A new empty folder, real path; removed after the tests of the file. */
export function temporaryFolder(prefix: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  made.push(folder);
  return folder;
}

/** What `use` returns; the folder is removed at once. */
export function inTemporaryFolder<T>(prefix: string, use: (folder: string) => T): T {
  const folder = temporaryFolder(prefix);
  try {
    return use(folder);
  } finally {
    made.splice(made.indexOf(folder), 1);
    remove(folder);
  }
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // Folders that a test made read-only.
    open(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

function open(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) open(join(folder, entry.name));
}
