/**
 * The path that a file has in a diff: relative to the working folder, so that `git apply` and `patch -p1` find it from there. It is the
 * path of the file itself: neither of them follows a symbolic link. A file outside is named from the top of its git work tree, or else from the folder that holds all such files of the run: that is where the
 * diff can be applied.
 */
import { basename, dirname, isAbsolute, relative, sep } from 'node:path';
import { realpathSync } from 'node:fs';
import { workTreeOf } from '../rewrite/git-guard.js';

export class DiffPaths {
  private readonly cwd: string;
  private readonly tops = new Map<string, string | null>();

  private readonly common: string | null;

  /** `realPaths` are all files of the run. */
  constructor(cwd: string, realPaths: readonly string[]) {
    this.cwd = realpathSync.native(cwd);
    this.common = commonFolder(realPaths.filter((path) => !isBelow(this.cwd, path)));
  }

  /** `realPath` holds no symbolic link. */
  of(realPath: string): string {
    const here = relative(this.cwd, realPath);
    if (!here.startsWith('..') && !isAbsolute(here)) return slashes(here);
    const folder = dirname(realPath);
    let top = this.tops.get(folder);
    if (top === undefined) {
      top = workTreeOf(folder);
      this.tops.set(folder, top);
    }
    if (top !== null) return slashes(relative(top, realPath));
    return this.common !== null && isBelow(this.common, realPath) ? slashes(relative(this.common, realPath)) : basename(realPath);
  }
}

function isBelow(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
}

function commonFolder(paths: readonly string[]): string | null {
  const [first] = paths;
  if (first === undefined) return null;
  let folder = dirname(first);
  while (!paths.every((path) => isBelow(folder, path)) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

function slashes(path: string): string {
  return path.split(sep).join('/');
}
