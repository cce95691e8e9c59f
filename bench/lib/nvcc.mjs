/**
 * How a program of a folder compiles its sources: the flags are read from what `make -n` would run, so that each file is compiled
 * as its own program compiles it. Nothing of the folder is executed but make's dry run.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** Runs a program; never rejects. */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    execFile(command, args, { maxBuffer: 64 << 20, timeout: 300_000, ...options }, (error, stdout, stderr) => {
      resolve({ code: error ? (typeof error.code === 'number' ? error.code : 1) : 0, stdout: String(stdout), stderr: String(stderr) });
    });
  });
}

const makeRuns = new Map();

async function makeCommands(folder) {
  let pending = makeRuns.get(folder);
  if (pending === undefined) {
    pending = existsSync(path.join(folder, 'Makefile'))
      ? run('make', ['-n', '-B', 'ARCH=sm_90'], { cwd: folder, timeout: 20_000 }).then((r) => r.stdout.split('\n'))
      : Promise.resolve([]);
    makeRuns.set(folder, pending);
  }
  return pending;
}

const TAKES_VALUE = new Set(['-o', '-arch', '-gencode', '--generate-code', '-ccbin', '-MF', '-MT', '-L', '-l']);
const DROPPED = /^(-arch=|--gpu-architecture=|-gencode=|-o.+|-c$|-dc$|-M[MDP]*$|-l|-L|-fmad|--ptxas-options|-Xptxas)/;

/**
 * The nvcc flags for one source file (include paths resolved), or null if the program's makefile does not compile it.
 * @param {string} file absolute path
 */
export async function flagsFor(file) {
  let folder = path.dirname(file);
  for (let up = 0; up < 3; up++, folder = path.dirname(folder)) {
    for (const line of await makeCommands(folder)) {
      const words = line.trim().split(/\s+/);
      if (!/(^|\/)nvcc$/.test(words[0] ?? '')) continue;
      if (!words.some((w) => path.resolve(folder, w) === file)) continue;
      const flags = [];
      for (let k = 1; k < words.length; k++) {
        const word = words[k];
        if (TAKES_VALUE.has(word)) { k++; continue; }
        if (DROPPED.test(word)) continue;
        if (word === '-I' || word === '-isystem' || word === '-include' || word === '-x' || word === '-Xcompiler' || word === '-std') {
          const value = words[++k] ?? '';
          flags.push(word, word === '-I' || word === '-isystem' ? path.resolve(folder, value) : value);
        } else if (word.startsWith('-I')) flags.push('-I' + path.resolve(folder, word.slice(2)));
        else if (word.startsWith('-')) flags.push(word.replace(/^'|'$/g, ''));
      }
      return { folder, flags };
    }
  }
  return null;
}

/**
 * Compiles one file for sm_90 without linking.
 * @param {string} file absolute path of the source to compile (may be an edited copy)
 * @param {{folder: string, flags: string[]}} how from `flagsFor`
 * @param {string} [includeFolder] where quoted includes are searched besides, for an edited copy that stands elsewhere
 */
export async function compile(file, how, includeFolder) {
  const args = ['-arch=sm_90', '-c', '-o', '/dev/null', '-x', 'cu', ...how.flags];
  if (includeFolder !== undefined) args.push('-I', includeFolder);
  const result = await run('nvcc', [...args, file], { cwd: how.folder });
  return { ok: result.code === 0, message: result.stderr };
}
