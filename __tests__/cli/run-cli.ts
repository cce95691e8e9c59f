/**
 * Runs the command as a user does: a process of its own. The sources are stripped of their types into a folder under node_modules
 * (where packages resolve), file by file and only if they changed, so that test files that run side by side can share it.
 */
import { transformSync } from '@swc/core';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../helpers/temporary.js';

const root = process.cwd();
const target = path.join(root, 'node_modules', '.cache', 'divmod-cli');

let built = false;

export function buildCli(): string {
  if (!built) {
    for (const room of ['src', 'transforms']) compile(path.join(root, room), path.join(target, room));
    writeFileSync(path.join(target, 'package.json'), readFileSync(path.join(root, 'package.json')));
    built = true;
  }
  return path.join(target, 'src', 'cli', 'main.js');
}

function compile(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    if (entry.isDirectory()) {
      compile(source, path.join(to, entry.name));
      continue;
    }
    if (!entry.name.endsWith('.ts')) continue;
    const out = path.join(to, entry.name.replace(/\.ts$/, '.js'));
    if (modified(out) >= modified(source)) continue;
    const { code } = transformSync(readFileSync(source, 'utf8'), { filename: source, jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } });
    const temporary = `${out}.${process.pid}`;
    writeFileSync(temporary, code);
    renameSync(temporary, out);
  }
}

function modified(file: string): number {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly bytes: Buffer;
}

export interface CliOptions {
  readonly cwd?: string;
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
}

export function divmod(args: readonly string[], options: CliOptions = {}): CliResult {
  const result = spawnSync(process.execPath, [buildCli(), ...args], {
    cwd: options.cwd, input: options.input ?? '', env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', NODE_OPTIONS: '', ...options.env }, timeout: 120_000, maxBuffer: 1 << 28,
  });
  return { code: result.status, stdout: result.stdout.toString('utf8'), stderr: result.stderr.toString('utf8'), bytes: result.stdout };
}

/** The running process, for tests of signals and pipes. */
export function startDivmod(args: readonly string[], cwd: string): ReturnType<typeof spawn> {
  return spawn(process.execPath, [buildCli(), ...args], { cwd, env: { ...process.env, NO_COLOR: '1', NODE_OPTIONS: '' } });
}

/** A folder with files, real path; removed after the tests of the file. */
export function folderWith(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = temporaryFolder('divmod-cli-');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
  }
  return folder;
}

/** A loop whose inner test asks only about a parameter: hoist takes it out. */
export const HOISTABLE = `__global__ void scale(float *out, const float *in, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) {
    if (mode > 0) {
      sum += in[i * n + k] * 2.0f;
    } else {
      sum -= in[i * n + k];
    }
  }
  out[i] = sum;
}
`;
