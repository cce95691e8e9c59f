/**
 * Keeps `--write` from mixing its changes with work that is not committed. Asks the `git` command; a file outside any repository,
 * an ignored file, and a machine without git raise no objection.
 */
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Standard output of `git -C folder …`, or null if git is missing or fails. */
export function git(folder: string, args: readonly string[]): string | null {
  const result = spawnSync('git', ['-C', folder, ...args], { encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] });
  return result.status === 0 ? result.stdout : null;
}

/** The top folder of the work tree that holds `folder`, symbolic links resolved; null outside git. */
export function workTreeOf(folder: string): string | null {
  const top = git(folder, ['rev-parse', '--show-toplevel'])?.replace(/\n$/, '');
  return top === undefined || top === '' ? null : realpathSync(top);
}

/** Those of the files (real paths) that differ from the last commit or are not in it; sorted. */
export function uncommittedFiles(realPaths: readonly string[]): readonly string[] {
  const byTree = new Map<string, string[]>();
  const treeOfFolder = new Map<string, string | null>();
  for (const path of realPaths) {
    const folder = dirname(path);
    let tree = treeOfFolder.get(folder);
    if (tree === undefined) {
      tree = workTreeOf(folder);
      treeOfFolder.set(folder, tree);
    }
    if (tree === null) continue;
    const files = byTree.get(tree);
    if (files === undefined) byTree.set(tree, [path]);
    else files.push(path);
  }

  const dirty: string[] = [];
  for (const [tree, files] of byTree) {
    const wanted = new Set(files);
    // Literal path specs: a file may be called `*.cu`.
    const listing = git(tree, ['--literal-pathspecs', 'status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames', '--', ...files]);
    for (const entry of (listing ?? '').split('\0')) {
      if (entry.length < 4) continue;
      const path = join(tree, entry.slice(3));
      if (wanted.has(path)) dirty.push(path);
    }
  }
  return dirty.sort();
}
