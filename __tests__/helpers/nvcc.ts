/**
 * `nvcc` for tests: is it there, and does it take a text? Several texts go into one process; answers are kept by content in the
 * temporary folder, so that a suite compiles each text once per machine.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FLAGS = ['-arch=sm_90', '-std=c++17', '-c', '--threads', '2'];

let version: string | null | undefined;

/** Version text of nvcc; null if there is none. */
export function nvccVersion(): string | null {
  if (version === undefined) {
    const run = spawnSync('nvcc', ['--version'], { encoding: 'utf8' });
    version = run.status === 0 ? run.stdout.trim() : null;
  }
  return version;
}

/** For each text: null if it compiles, else what nvcc said. Throws if there is no nvcc. */
export function compile(texts: readonly string[]): readonly (string | null)[] {
  const tool = nvccVersion();
  if (tool === null) throw new Error('nvcc is not installed');
  const cache = join(tmpdir(), 'divmod-nvcc-cache');
  mkdirSync(cache, { recursive: true });
  const keys = texts.map((text) => join(cache, createHash('sha256').update([tool, ...FLAGS, text].join('\0')).digest('hex')));
  const missing = [...new Set(keys.filter((key) => !existsSync(key)))];
  for (let at = 0; at < missing.length; at += 8) compileBatch(missing.slice(at, at + 8), (key) => texts[keys.indexOf(key)] ?? '');
  return keys.map((key) => {
    const answer = readFileSync(key, 'utf8');
    return answer === '' ? null : answer;
  });
}

function compileBatch(keys: readonly string[], textOf: (key: string) => string): void {
  const folder = mkdtempSync(join(tmpdir(), 'divmod-nvcc-'));
  try {
    keys.forEach((key, i) => writeFileSync(join(folder, `k${i}.cu`), textOf(key)));
    const all = spawnSync('nvcc', [...FLAGS, ...keys.map((_, i) => `k${i}.cu`)], { cwd: folder, encoding: 'utf8' });
    keys.forEach((key, i) => {
      if (all.status === 0) {
        writeFileSync(key, '');
        return;
      }
      const one = spawnSync('nvcc', [...FLAGS, `k${i}.cu`], { cwd: folder, encoding: 'utf8' });
      writeFileSync(key, one.status === 0 ? '' : one.stderr.trim() || one.stdout.trim() || `nvcc ended with ${one.status ?? 'a signal'}`);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
