/**
 * `nvcc` for tests: is it there, and does it take a text? Answers are kept by content in the temporary folder, so that a suite
 * compiles each text once per machine.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inTemporaryFolder } from './temporary.js';

/** Relocatable device code, since a fixture may call what another file defines. */
const FLAGS = ['-arch=sm_90', '-std=c++17', '-rdc=true', '-c'];

let version: string | null | undefined;

/** Version text of nvcc; null if there is none. */
export function nvccVersion(): string | null {
  if (version === undefined) {
    const run = spawnSync('nvcc', ['--version'], { encoding: 'utf8' });
    version = run.status === 0 ? run.stdout.trim() : null;
  }
  return version;
}

/**
 * For each text: null if it compiles, else what nvcc said. Throws if there is no nvcc. All texts that are not known yet are first
 * tried together, each in a namespace of its own: one process for a whole folder of fixtures. Only if that fails, or for texts that
 * cannot share a file, is each compiled alone.
 */
export function compile(texts: readonly string[]): readonly (string | null)[] {
  const tool = nvccVersion();
  if (tool === null) throw new Error('nvcc is not installed');
  const cache = join(tmpdir(), 'divmod-nvcc-cache');
  mkdirSync(cache, { recursive: true });
  const keys = texts.map((text) => join(cache, createHash('sha256').update([tool, ...FLAGS, text].join('\0')).digest('hex')));
  const missing = new Map(texts.flatMap((text, i) => {
    const key = keys[i] ?? '';
    return existsSync(key) ? [] : [[key, text] as const];
  }));
  compileTogether([...missing]);
  return keys.map((key) => {
    const answer = readFileSync(key, 'utf8');
    return answer === '' ? null : answer;
  });
}

function compileTogether(pending: readonly (readonly [string, string])[]): void {
  if (pending.length === 0) return;
  const shared = pending.filter(([, text]) => canShare(text));
  const rest = pending.filter(([, text]) => !canShare(text));
  if (shared.length > 1 && runNvcc(joined(shared.map(([, text]) => text))) === null) {
    for (const [key] of shared) writeFileSync(key, '');
  } else if (shared.length > 4) {
    const half = shared.length >> 1;
    compileTogether(shared.slice(0, half));
    compileTogether(shared.slice(half));
  } else {
    for (const [key, text] of shared) writeFileSync(key, runNvcc(text) ?? '');
  }
  for (const [key, text] of rest) writeFileSync(key, runNvcc(text) ?? '');
}

/** Headers other than the system's, C linkage, names from the global scope and macros that others could meet keep a text from sharing a file. */
function canShare(text: string): boolean {
  return !/^\s*#\s*include\s*"/m.test(text) && !/extern\s*"C"/.test(text) && !/[^\w>:]::\w/.test(text);
}

function joined(texts: readonly string[]): string {
  const headers = new Set<string>();
  const bodies = texts.map((text, i) => {
    const macros: string[] = [];
    const body = text.replaceAll(/^[ \t]*#[ \t]*(include|define)\b.*$/gm, (line, kind: string) => {
      if (kind === 'define') {
        const name = /define[ \t]+(\w+)/.exec(line)?.[1];
        if (name !== undefined) macros.push(name);
        return line;
      }
      headers.add(line.trim());
      return '';
    });
    return `namespace fixture${i} {\n${body}\n}\n${macros.map((name) => `#undef ${name}\n`).join('')}`;
  });
  return [...headers, ...bodies].join('\n');
}

/** Null if the text compiles, else the message. */
function runNvcc(text: string): string | null {
  return inTemporaryFolder('divmod-nvcc-', (folder) => {
    writeFileSync(join(folder, 'kernel.cu'), text);
    const run = spawnSync('nvcc', [...FLAGS, '-o', 'kernel.o', 'kernel.cu'], { cwd: folder, encoding: 'utf8' });
    return run.status === 0 ? null : run.stderr.trim() || run.stdout.trim() || `nvcc ended with ${run.status ?? 'a signal'}`;
  });
}
