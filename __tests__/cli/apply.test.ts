import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { divmod, folderWith, HOISTABLE } from './run-cli.js';

interface ApplyJson {
  readonly schema: number;
  readonly edits: readonly { readonly path: string; readonly transform: string; readonly kernel: string; readonly line: number; readonly status: string; readonly obligations: readonly { readonly id: string; readonly status: string }[]; readonly diff: string }[];
}

const FORCED = ['apply', '--transform', 'hoist', '--even-if-it-loses'];

/** The same loop, with a condition that changes in it. */
const REFUSED = HOISTABLE.replace('if (mode > 0)', 'if (k > mode)');

function gitFolder(files: Readonly<Record<string, string>>): string {
  const cwd = folderWith(files);
  const git = (...args: string[]): void => {
    expect(spawnSync('git', ['-C', cwd, '-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'core.autocrlf=false', ...args]).status).toBe(0);
  };
  git('init', '-q');
  git('add', '.');
  git('commit', '-q', '-m', 'start');
  return cwd;
}

describe('apply', () => {
  test('prints a diff that git apply accepts, and nothing else, and writes nothing', () => {
    const cwd = gitFolder({ 'src/k.cu': HOISTABLE });
    const result = divmod([...FORCED, 'src'], { cwd });
    expect(result.code).toBe(0);
    expect(result.stdout.startsWith('--- a/src/k.cu\n+++ b/src/k.cu\n@@')).toBe(true);
    expect(readFileSync(join(cwd, 'src/k.cu'), 'utf8')).toBe(HOISTABLE);
    const applied = spawnSync('git', ['apply', '-'], { cwd, input: result.bytes });
    expect(applied.stderr.toString()).toBe('');
    const byGit = readFileSync(join(cwd, 'src/k.cu'), 'utf8');
    writeFileSync(join(cwd, 'src/k.cu'), HOISTABLE);
    expect(divmod([...FORCED, '--write', 'src'], { cwd }).code).toBe(0);
    expect(readFileSync(join(cwd, 'src/k.cu'), 'utf8')).toBe(byGit);
  });

  test('the diff of a run below the top of a work tree applies there, by git and by patch', () => {
    const cwd = gitFolder({ 'sub/deep/k.cu': HOISTABLE, 'k.cu': HOISTABLE });
    const below = join(cwd, 'sub');
    const diff = divmod([...FORCED, 'deep/k.cu'], { cwd: below });
    expect(spawnSync('git', ['apply', '-'], { cwd: below, input: diff.bytes }).status).toBe(0);
    const byGit = readFileSync(join(below, 'deep/k.cu'), 'utf8');
    expect(byGit).not.toBe(HOISTABLE);
    expect(readFileSync(join(cwd, 'k.cu'), 'utf8')).toBe(HOISTABLE);
    expect(spawnSync('git', ['apply', '-R', '-'], { cwd: below, input: diff.bytes }).status).toBe(0);
    const patch = ['patch', 'git'].find((tool) => spawnSync(tool, ['--version']).status === 0);
    expect(spawnSync(patch ?? 'patch', patch === 'git' ? ['apply', '-'] : ['-p1', '-s'], { cwd: below, input: diff.bytes }).status).toBe(0);
    expect(readFileSync(join(below, 'deep/k.cu'), 'utf8')).toBe(byGit);
  });

  test.each(['k.cu', 'link.cu', 'other.h'])('--output %s never replaces a source', (output) => {
    const cwd = gitFolder({ 'k.cu': HOISTABLE, 'other.h': '// mine\n' });
    symlinkSync('k.cu', join(cwd, 'link.cu'));
    const result = divmod([...FORCED, '--output', output, 'k.cu'], { cwd });
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(`--output ${output} would replace a source file`);
    expect(readFileSync(join(cwd, 'k.cu'), 'utf8')).toBe(HOISTABLE);
    expect(readFileSync(join(cwd, 'other.h'), 'utf8')).toBe('// mine\n');
    expect(divmod([...FORCED, '--output', 'new.diff', 'k.cu'], { cwd }).code).toBe(0);
    expect(divmod([...FORCED, '--output', 'new.diff', 'k.cu'], { cwd }).code).toBe(0);
  });

  test.each([['\r\n', 'CRLF'], ['\n', 'LF']])('keeps newlines, mark and missing last newline (%j)', (newline) => {
    const text = `\uFEFF${HOISTABLE.replace(/\n/g, newline).replace(/\r?\n$/, '')}`;
    const cwd = gitFolder({ 'k.cu': text });
    const diff = divmod([...FORCED, 'k.cu'], { cwd });
    expect(diff.stdout).not.toBe('');
    expect(divmod([...FORCED, '--write', 'k.cu'], { cwd }).code).toBe(0);
    const written = readFileSync(join(cwd, 'k.cu'), 'utf8');
    expect(written.startsWith('\uFEFF__global__')).toBe(true);
    expect(written.endsWith('}')).toBe(true);
    if (newline === '\r\n') expect(written.replace(/\r\n/g, '')).not.toContain('\n');
    else expect(written).not.toContain('\r');
    writeFileSync(join(cwd, 'k.cu'), text);
    expect(spawnSync('git', ['apply', '-'], { cwd, input: diff.bytes }).status).toBe(0);
    expect(readFileSync(join(cwd, 'k.cu'), 'utf8')).toBe(written);
  });

  test('each applied edit is named on standard error, also one that assumes nothing', () => {
    // Integers: nothing may fuse.
    const cwd = folderWith({ 'k.cu': HOISTABLE.replace(/float/g, 'int').replace(/(\d)\.(\d*)f/g, '$1') });
    const result = divmod([...FORCED, 'k.cu'], { cwd });
    expect(result.stderr).toMatch(/^k\.cu:\d+: hoist in \w+: applied: /m);
    expect(result.stderr).not.toContain('assumed');
  });

  test.each(['compact:block', 'compact:loop', 'compact:grid', 'compact:grid,order=keep'])('what %s brought is not listed as if it had been there', (transform) => {
    const item = 'if (x[i] > 0.5f) { float s = x[i]; for (int k = 0; k < 64; ++k) s = s * 0.9f + sqrtf(s + k); y[i] = s; }';
    const kernel = (body: string): string => `__global__ void mix(const float *__restrict__ x, float *__restrict__ y, int n, int rows) {\n    ${body}\n}\nvoid run(const float *x, float *y, int n, int rows) {\n    mix<<<n / 256, 256>>>(x, y, n, rows);\n}\n`;
    const cwd = folderWith({ 'k.cu': kernel(transform === 'compact:loop' ? `for (int r = 0; r < rows; ++r) {\n        int i = r * 256 + threadIdx.x;\n        ${item}\n    }` : `int i = blockIdx.x * blockDim.x + threadIdx.x;\n    ${item}`) });
    const result = divmod(['apply', '-t', transform, '--even-if-it-loses', 'k.cu'], { cwd });
    expect(result.stderr).toMatch(/^1 site: 1 applied/m);
    expect(result.code).toBe(0);
  });

  test('a second run plans nothing', () => {
    const cwd = folderWith({ 'k.cu': HOISTABLE });
    expect(divmod([...FORCED, '--write', 'k.cu'], { cwd }).code).toBe(0);
    const again = divmod([...FORCED, 'k.cu'], { cwd });
    expect(again.stdout).toBe('');
    expect(again.code).toBe(0);
  });

  test('--check prints nothing and tells by its exit code', () => {
    const cwd = folderWith({ 'k.cu': HOISTABLE, 'r.cu': REFUSED });
    const pending = divmod([...FORCED, '--check', 'k.cu'], { cwd });
    expect([pending.code, pending.stdout, pending.stderr]).toEqual([1, '', '']);
    const none = divmod([...FORCED, '--check', 'r.cu'], { cwd });
    expect([none.code, none.stdout]).toEqual([0, '']);
  });

  test('--write leaves uncommitted work alone, lists it, and obeys --allow-dirty', () => {
    const cwd = gitFolder({ 'k.cu': HOISTABLE });
    const changed = `${HOISTABLE}// mine\n`;
    writeFileSync(join(cwd, 'k.cu'), changed);
    const guarded = divmod([...FORCED, '--write', 'k.cu'], { cwd });
    expect(guarded.code).toBe(5);
    expect(guarded.stderr).toContain('k.cu');
    expect(guarded.stderr).toContain('1 not written');
    expect(guarded.stderr).not.toContain('applied');
    expect(readFileSync(join(cwd, 'k.cu'), 'utf8')).toBe(changed);
    expect(divmod([...FORCED, '--write', '--allow-dirty', 'k.cu'], { cwd }).code).toBe(0);
    expect(readFileSync(join(cwd, 'k.cu'), 'utf8')).not.toBe(changed);
  });

  test('annotations that say nothing are named with their line', () => {
    const cwd = folderWith({ 'k.cu': `// divmod: ignroe\n${HOISTABLE.trimEnd()} // divmod: p=often\n` });
    const { stderr, code } = divmod([...FORCED, 'k.cu'], { cwd });
    expect(stderr).toContain('k.cu:1: warning: no annotation is called "ignroe" (did you mean "ignore"?)');
    expect(stderr).toMatch(/k\.cu:\d+: warning: the annotation p needs a share/);
    expect(code).toBe(0);
  });

  test('JSON has the fields of the contract', () => {
    const cwd = folderWith({ 'k.cu': HOISTABLE });
    const result = divmod([...FORCED, '--format', 'json', 'k.cu'], { cwd });
    const { schema, edits } = JSON.parse(result.stdout) as ApplyJson;
    expect(schema).toBe(1);
    expect(edits).toHaveLength(1);
    expect(edits[0]).toMatchObject({ path: 'k.cu', transform: 'hoist', kernel: 'scale', line: 5, status: 'applied' });
    expect(edits[0]?.obligations.every(({ status }) => status === 'proved' || status === 'assumed')).toBe(true);
    expect(edits[0]?.diff).toContain('+++ b/k.cu');
  });

  test('--at with a site that is refused: exit 1, the obligation on standard error', () => {
    const cwd = folderWith({ 'r.cu': REFUSED });
    const result = divmod([...FORCED, '--at', '5', 'r.cu'], { cwd });
    expect(result.code).toBe(1);
    expect(result.stdout).toBe('');
    expect(result.stderr).toMatch(/r\.cu:5: hoist/);
  });

  test('nothing to do is said aloud', () => {
    const cwd = folderWith({ 'k.cu': '__global__ void k(int *a) { a[0] = 1; }\n' });
    const result = divmod([...FORCED, 'k.cu'], { cwd });
    expect(result.code).toBe(0);
    expect(result.stderr).toContain('0 sites of hoist: 1 kernel in 1 file looked at');
  });

  test('standard input: the diff names the given file', () => {
    const result = divmod([...FORCED, '-', '--stdin-filename', 'src/from-editor.cu'], { cwd: folderWith({}), input: HOISTABLE });
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('--- a/src/from-editor.cu\n');
    expect(divmod([...FORCED, '--write', '-'], { cwd: folderWith({}), input: HOISTABLE }).code).toBe(2);
  });

  test('--series writes one patch per site, and they apply one after the other', () => {
    const two = `${HOISTABLE}${HOISTABLE.replace('scale', 'second')}`;
    const cwd = gitFolder({ 'k.cu': two });
    expect(divmod([...FORCED, '--series', 'patches', 'k.cu'], { cwd }).code).toBe(0);
    const patches = readdirSync(join(cwd, 'patches')).sort();
    expect(patches).toHaveLength(2);
    for (const patch of patches) expect(spawnSync('git', ['apply', join('patches', patch)], { cwd }).status).toBe(0);
    const stepwise = readFileSync(join(cwd, 'k.cu'), 'utf8');
    writeFileSync(join(cwd, 'k.cu'), two);
    divmod([...FORCED, '--write', 'k.cu'], { cwd });
    expect(readFileSync(join(cwd, 'k.cu'), 'utf8')).toBe(stepwise);
  });

  test('// divmod: ignore is obeyed', () => {
    const cwd = folderWith({ 'k.cu': HOISTABLE.replace('if (mode > 0) {', 'if (mode > 0) { // divmod: ignore') });
    const result = divmod([...FORCED, 'k.cu'], { cwd });
    expect(result.stdout).toBe('');
    expect(result.stderr).toContain('divmod: ignore');
  });

  test('a header that two sources include is edited once', () => {
    const helper = HOISTABLE.replace('__global__ void scale', '__device__ void scale_all');
    const source = (name: string): string => `#include "helper.cuh"\n__global__ void ${name}(float *o, const float *x, int n, int mode) { scale_all(o, x, n, mode); }\n`;
    const cwd = folderWith({ 'helper.cuh': helper, 'a.cu': source('ka'), 'b.cu': source('kb') });
    const result = divmod([...FORCED, '--format', 'json', 'a.cu', 'b.cu'], { cwd });
    const applied = (JSON.parse(result.stdout) as ApplyJson).edits.filter((edit) => edit.status === 'applied');
    expect(applied).toHaveLength(1);
    expect(applied[0]?.path).toBe('helper.cuh');
  });

  test('a block shape that a launch contradicts is told, and the edit holds for both', () => {
    const text = `__global__ void rare(const float *x, const unsigned char *mask, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && mask[i]) {
        float v = x[i];
        for (int k = 0; k < 64; ++k) v = v * 0.75f + sqrtf(fabsf(v));
        y[i] = v;
    }
}
void run(const float *x, const unsigned char *mask, float *y, int n) { rare<<<(n + 255) / 256, 256>>>(x, mask, y, n); }
`;
    const cwd = folderWith({ 'k.cu': text, 'said.cu': `// divmod: block=64\n${text}`, 'set/k.cu': text, 'set/divmod.config.json': '{"block": "64"}\n' });
    const told = /k\.cu:1: warning: --block says that blocks of rare are 64×1×1, and the launch of line 9 has 256×1×1; both are taken into account\n/;
    for (const [args, folder, says] of [[['--block', '64', 'k.cu'], cwd, told], [['said.cu'], cwd, /said\.cu:2: warning: the annotation says/], [['k.cu'], join(cwd, 'set'), told]] as const) {
      const result = divmod(['apply', '--transform', 'compact', ...args], { cwd: folder });
      expect(result.stdout).toContain('__shared__ int queue_i[256];');
      expect(result.stderr).toMatch(says);
      const audited = divmod(['audit', '--format', 'json', ...args], { cwd: folder });
      expect(audited.stderr).toMatch(says);
      expect(JSON.parse(audited.stdout)).toMatchObject({ files: [{ kernels: [{ block: null }] }] });
    }
    const right = divmod(['apply', '--transform', 'compact', '--block', '256', 'k.cu'], { cwd });
    expect(right.stderr).not.toContain('warning');
    const verified = divmod(['apply', '--transform', 'compact', '--block', '64', '--verify', 'k.cu'], { cwd });
    expect(verified.stderr).toMatch(/equal over \d+ runs\n.*; blocks? (?:\d+ )*256\b/);
  });
});
