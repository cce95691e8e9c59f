/** Transforms of the user's own: modules named by `--transform ./mine.mjs` or by the `plugins` setting. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Transform } from '../../transforms/lib/types.js';
import { UsageError } from './errors.js';
import { isModule, transformsOfModule } from './transform-spec.js';

/** Loads every module among the words (`hoist,./mine.mjs`). Throws `UsageError` if one is missing or exports no transform. */
export async function loadModules(words: readonly string[], cwd: string): Promise<ReadonlyMap<string, readonly Transform[]>> {
  const modules = new Map<string, readonly Transform[]>();
  for (const name of words.flatMap((word) => word.split(','))) {
    if (!isModule(name) || modules.has(name)) continue;
    const path = resolve(cwd, name);
    if (!existsSync(path)) throw new UsageError(`${name}: no such file`);
    let module: unknown;
    try {
      module = await import(pathToFileURL(path).href);
    } catch (error) {
      throw new UsageError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
    modules.set(name, transformsOfModule(module, name));
  }
  return modules;
}
