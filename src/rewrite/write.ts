/**
 * Files written whole or not at all. Each new content goes to a temporary file in the same folder, is flushed to the disk and then
 * takes the old file's place in one rename; nothing is renamed before every temporary file of the run is complete. If a rename
 * fails, those already done are undone. Everything is synchronous, so that a signal finds either the old files or the new ones.
 */
import { chmodSync, chownSync, closeSync, fsyncSync, openSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';

export interface FileWrite {
  /** May be a symbolic link: its target is written, the link stays. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** What the file held when it was read; if it holds something else now, nothing is written. */
  readonly expected: Uint8Array | null;
}

/** Nobody may write the file, its owner neither: a rename would replace it all the same, and root may write anything. */
export function isReadOnly(path: string): boolean {
  try {
    return (statSync(path).mode & 0o222) === 0;
  } catch {
    return false;
  }
}

/** Nothing was written; the message names the file and the reason. */
export class WriteError extends Error {
  override readonly name = 'WriteError';
}

interface Staged { readonly target: string; readonly temporary: string; readonly before: Uint8Array }

/** Writes all files or none. Throws `WriteError`. */
export function writeFilesAtomically(writes: readonly FileWrite[]): void {
  const staged: Staged[] = [];
  let current = '';
  try {
    for (const write of writes) {
      current = write.path;
      staged.push(stage(write));
    }
  } catch (error) {
    for (const file of staged) rmSync(file.temporary, { force: true });
    throw new WriteError(`cannot write ${current}: ${messageOf(error)}; nothing was written`);
  }

  const renamed: Staged[] = [];
  try {
    for (const file of staged) {
      current = file.target;
      renameSync(file.temporary, file.target);
      renamed.push(file);
    }
  } catch (error) {
    for (const file of staged) if (!renamed.includes(file)) rmSync(file.temporary, { force: true });
    for (const file of renamed) renameSync(stage({ path: file.target, bytes: file.before, expected: null }).temporary, file.target);
    throw new WriteError(`cannot write ${current}: ${messageOf(error)}; nothing was written`);
  }
}

/** One file that need not exist yet (`--output`). Throws `WriteError`. */
export function writeOutput(path: string, bytes: Uint8Array): void {
  if (isSpecial(path)) {
    // A pipe or a device is written to, never replaced.
    try {
      writeFileSync(path, bytes);
    } catch (error) {
      throw new WriteError(`cannot write ${path}: ${messageOf(error)}`);
    }
    return;
  }
  const temporary = temporaryBeside(resolveTarget(path));
  try {
    writeWhole(temporary, bytes, modeOf(path));
    renameSync(temporary, resolveTarget(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new WriteError(`cannot write ${path}: ${messageOf(error)}`);
  }
}

function stage(write: FileWrite): Staged {
  const target = realpathSync(write.path);
  const before = readFileSync(target);
  if (write.expected !== null && !before.equals(write.expected)) throw new Error('it changed while divmod was working on it');
  const temporary = temporaryBeside(target);
  const { mode, uid, gid } = statSync(target);
  if ((mode & 0o222) === 0) throw new Error(`it is read-only (mode ${(mode & 0o777).toString(8).padStart(4, '0')})`);
  try {
    writeWhole(temporary, write.bytes, mode & 0o7777);
    try {
      chownSync(temporary, uid, gid);
    } catch {
      // Only the owner of the machine may give files away; the content matters more.
    }
    chmodSync(temporary, mode & 0o7777);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return { target, temporary, before };
}

function writeWhole(path: string, bytes: Uint8Array, mode: number): void {
  const handle = openSync(path, 'wx', mode);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function temporaryBeside(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.divmod-tmp`);
}

function resolveTarget(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isSpecial(path: string): boolean {
  try {
    return !statSync(path).isFile();
  } catch {
    return false;
  }
}

function modeOf(path: string): number {
  try {
    return statSync(path).mode & 0o777;
  } catch {
    return 0o666;
  }
}

function messageOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'EACCES') return 'permission denied';
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'no such file or folder';
  return error instanceof Error ? error.message : String(error);
}
