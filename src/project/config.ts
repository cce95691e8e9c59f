/**
 * Configuration files: `divmod.config.{json,js,mjs,ts}` or the `divmod` key of package.json, in the working folder or the nearest
 * folder above it (up to the top of the git work tree). `--config FILE` names one instead.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from './errors.js';
import { checkConfig, SETTINGS, SETTING_NAMES, type Layer, type RawValue, type SettingName } from './settings.js';

const NAMES = ['divmod.config.json', 'divmod.config.js', 'divmod.config.mjs', 'divmod.config.ts'];

/** The layer of the configuration file in force; null if there is none. Throws `UsageError`. */
export async function loadConfig(cwd: string, named: string | undefined): Promise<Layer | null> {
  if (named !== undefined) {
    const path = resolve(cwd, named);
    if (!existsSync(path)) throw new UsageError(`--config ${named}: no such file`);
    return layerOf(path, await readConfig(path), cwd);
  }
  for (let folder = cwd; ; folder = dirname(folder)) {
    for (const name of NAMES) {
      const path = join(folder, name);
      if (existsSync(path)) return layerOf(path, await readConfig(path), cwd);
    }
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) {
      const content = readJson(manifest);
      if (typeof content === 'object' && content !== null && 'divmod' in content) return layerOf(manifest, content.divmod, cwd);
    }
    if (existsSync(join(folder, '.git')) || folder === dirname(folder)) return null;
  }
}

function layerOf(path: string, content: unknown, cwd: string): Layer {
  const shown = relative(cwd, path);
  const values = checkConfig(content, shown);
  const folder = dirname(path);
  const resolved: Partial<Record<SettingName, RawValue>> = {};
  for (const name of SETTING_NAMES) {
    const value = values[name];
    if (value === undefined) continue;
    if (SETTINGS[name].path !== true) resolved[name] = value;
    else if (typeof value === 'string') resolved[name] = rebase(folder, value, cwd);
    else if (Array.isArray(value)) resolved[name] = value.map((item) => rebase(folder, String(item), cwd));
  }
  return { origin: shown, values: resolved };
}

/** A path of the configuration file as it reads from the working folder. */
function rebase(folder: string, path: string, cwd: string): string {
  if (isAbsolute(path)) return path;
  const fromHere = relative(cwd, join(folder, path));
  return fromHere === '' ? '.' : fromHere;
}

async function readConfig(path: string): Promise<unknown> {
  if (path.endsWith('.json')) {
    const content = readJson(path);
    // `--config package.json` means its `divmod` key.
    return path.endsWith('package.json') && typeof content === 'object' && content !== null && 'divmod' in content ? content.divmod : content;
  }
  try {
    const url = path.endsWith('.ts') ? typescriptUrl(path) : pathToFileURL(path).href;
    const module: unknown = await import(url);
    if (typeof module === 'object' && module !== null && 'default' in module) return module.default;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new UsageError(`${path}: expected a default export with the settings`);
}

/** An address under which Node can load a TypeScript module: its own if Node strips types itself, else its compiled text. */
function typescriptUrl(path: string): string {
  if ('typescript' in process.features && process.features.typescript !== false) return pathToFileURL(path).href;
  let compile: (text: string) => string;
  try {
    const typescript = createRequire(path)('typescript') as { transpileModule(text: string, options: unknown): { outputText: string } };
    compile = (text) => typescript.transpileModule(text, { compilerOptions: { module: 99, target: 9 } }).outputText;
  } catch {
    throw new UsageError(`${path}: this version of Node cannot load TypeScript; install the typescript package beside it, or use divmod.config.json or .mjs`);
  }
  return `data:text/javascript;base64,${Buffer.from(compile(readFileSync(path, 'utf8'))).toString('base64')}`;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
