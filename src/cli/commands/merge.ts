/** `divmod merge A.json B.json…`: the JSON of shards as one. */
import type { CountedFile } from '../../report/summary.js';
import { UsageError } from '../../project/errors.js';
import { command } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { choice, list, onlyJson, type Argv } from '../options.js';
import { readJson } from '../read-json.js';
import { version } from '../version.js';

export const mergeCommand = command({
  command: 'merge <files..>',
  describe: 'join the JSON of shards',
  options: onlyJson,
  run: async (argv: Argv, console) => {
    choice(argv, 'format', ['json'], 'json');
    const files = new Map<string, CountedFile>();
    for (const path of list(argv, 'files')) {
      for (const file of readAudit(path)) {
        const known = files.get(file.path);
        // The same file in two shards (a header) is one file: the reading that understood more counts.
        if (known === undefined || RANK[file.status] > RANK[known.status]) files.set(file.path, file);
      }
    }
    const sorted = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
    const { mergedJson } = await import('../../report/json.js');
    await console.result(mergedJson(version(), sorted));
    if (sorted.some((file) => file.status !== 'ok' || file.kernels.some((kernel) => !kernel.understood))) console.holds(EXIT.incomplete);
  },
});

const RANK = { failed: 0, partial: 1, ok: 2 } as const;

function readAudit(path: string): readonly CountedFile[] {
  const content = readJson(path, path);
  if (typeof content !== 'object' || content === null || !('tool' in content) || content.tool !== 'divmod' || !('files' in content) || !Array.isArray(content.files)) {
    throw new UsageError(`${path}: this is not the JSON of divmod audit`);
  }
  if ('schema' in content && content.schema !== 1) throw new UsageError(`${path}: schema ${String(content.schema)} is not known to this version of divmod`);
  if (!content.files.every(isFile)) throw new UsageError(`${path}: a file in it lacks path, status or kernels`);
  return content.files;
}

function isFile(value: unknown): value is CountedFile {
  return typeof value === 'object' && value !== null && 'path' in value && typeof value.path === 'string' && 'status' in value && typeof value.status === 'string' && value.status in RANK
    && 'kernels' in value && Array.isArray(value.kernels);
}
