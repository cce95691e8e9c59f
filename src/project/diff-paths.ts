/**
 * The path that a file has in a diff: relative to the working folder, so that `git apply` and `patch -p1` find it from there. A file
 * outside is named from the top of its git work tree, or from its own folder: that is where the diff can be applied.
 */
import { basename, dirname, isAbsolute, relative, sep } from 'node:path';
import { realpathSync } from 'node:fs';
import { workTreeOf } from '../rewrite/git-guard.js';

export class DiffPaths {
  private readonly cwd: string;
  private readonly tops = new Map<string, string | null>();

  constructor(cwd: string) {
    this.cwd = realpathSync(cwd);
  }

  /** `path` is what the user gave, `realPath` where it leads. The given name is kept if it stays below the working folder. */
  of(path: string, realPath: string): string {
    if (!isAbsolute(path) && !path.split(/[\\/]/).includes('..')) return slashes(path.replace(/^(?:\.[\\/])+/, ''));
    const here = relative(this.cwd, realPath);
    if (!here.startsWith('..') && !isAbsolute(here)) return slashes(here);
    const folder = dirname(realPath);
    let top = this.tops.get(folder);
    if (top === undefined) {
      top = workTreeOf(folder);
      this.tops.set(folder, top);
    }
    return top === null ? basename(realPath) : slashes(relative(top, realPath));
  }
}

function slashes(path: string): string {
  return path.split(sep).join('/');
}
