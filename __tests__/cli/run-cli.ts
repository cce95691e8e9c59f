/**
 * Runs the command as a user does: a process of its own, from files joined as they are packed. Test files that run side by side share them.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../helpers/temporary.js';

const root = process.cwd();
/** Under node_modules, where packages resolve; the manifest of divmod is found further up. */
const cache = path.join(root, 'node_modules', '.cache', 'divmod-cli');
const A_DAY = 86_400_000;

let built: string | null = null;

/** The command's main file. */
export function buildCli(): string {
  built ??= bundle();
  return path.join(built, 'main.js');
}

/** The folder's name tells which sources it was made from, so that a change, of this tree or of another, makes another folder. */
function bundle(): string {
  const target = path.join(cache, digest('scripts', 'src', 'transforms'));
  if (existsSync(target)) return target;
  const temporary = `${target}.${process.pid}`;
  execFileSync(process.execPath, [path.join(root, 'scripts', 'bundle.mjs'), temporary], { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    renameSync(temporary, target);
  } catch (error) {
    // Another test file was first.
    rmSync(temporary, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  for (const name of readdirSync(cache)) {
    const other = path.join(cache, name);
    if (Date.now() - statSync(other).mtimeMs > A_DAY) rmSync(other, { recursive: true, force: true });
  }
  return target;
}

function digest(...folders: readonly string[]): string {
  const hash = createHash('sha256');
  for (const folder of folders) {
    for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).sort()) {
      const file = path.join(root, folder, name);
      if (statSync(file).isFile()) hash.update(`${folder}/${name}\0`).update(readFileSync(file)).update('\0');
    }
  }
  return hash.digest('hex').slice(0, 16);
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
