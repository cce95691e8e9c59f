/** What a run does with files that see its kernels and were not given, with links, and with files that nobody may write. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Project } from '../../src/project/project.js';
import { initParser } from '../../src/syntax/parser.js';
import { temporaryFolder } from '../helpers/temporary.js';

beforeAll(async () => {
  await initParser();
});

function folder(files: Readonly<Record<string, string>>): string {
  const made = temporaryFolder('divmod-unseen-');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(made, name)), { recursive: true });
    writeFileSync(join(made, name), text);
  }
  return made;
}

/** The condition is one for a block only if blocks have one row: the launches say so. */
const KERNEL = `__global__ void k(float *o, const float *a, int n, int flag) {
    float x = 0;
    for (int i = 0; i < n; i++) {
        if (threadIdx.y < flag) x += a[i] * 2.0f; else x -= a[i];
        __syncthreads();
    }
    o[threadIdx.x] = x;
}
`;
const FLAT = '#include "k.cuh"\nint main() { k<<<4, 64>>>(nullptr, nullptr, 4, 1); }\n';

async function hoist(cwd: string, include: readonly string[], allow: readonly string[] = []): Promise<Project> {
  const project = await Project.open({ include, cwd, settings: { allow } });
  project.apply(['hoist'], { evenIfItLoses: true });
  return project;
}

describe('all-launches-visible', () => {
  test('does not cover files of the folder that include the header and were not given', async () => {
    const cwd = folder({ 'k.cuh': KERNEL, 'a.cu': FLAT, 'sub/b.cu': '#include "../k.cuh"\nvoid f() { k<<<4, dim3(16, 16)>>>(nullptr, nullptr, 4, 1); }\n' });
    const project = await hoist(cwd, ['a.cu']);
    expect(project.diff()).toBe('');
    const [site] = project.sites('hoist');
    expect(site?.refusals.map(({ id, status, remedy }) => [id, status, remedy])).toEqual([['no-barrier-under-divergence', 'unknown', 'give sub/b.cu in the same run, or --allow all-launches-visible']]);
    expect(site?.refusals[0]?.text).toContain('sub/b.cu sees k too and was not given');
    expect((await hoist(cwd, ['a.cu'], ['all-launches-visible'])).diff()).toContain('+    if (threadIdx.y < flag) {');
    // Given together, the launch is seen, and forbids it.
    expect((await hoist(cwd, ['a.cu', 'sub/b.cu'])).diff()).toBe('');
  });

  test('covers them once they are given, and files that include something else', async () => {
    const cwd = folder({ 'k.cuh': KERNEL, 'a.cu': FLAT, 'b.cu': FLAT.replace('main', 'other'), 'c.cu': '#include "elsewhere/m.cuh"\n// #include "k.cuh" is a comment\n' });
    expect((await hoist(cwd, ['a.cu', 'b.cu'])).diff()).toContain('+    if (threadIdx.y < flag) {');
  });

  test('counts a header that declares the kernel', async () => {
    const cwd = folder({ 'k.cuh': '__global__ void k(float *o, const float *a, int n, int flag);\n', 'k.cu': `#include "k.cuh"\n${KERNEL}int main() { k<<<4, 64>>>(nullptr, nullptr, 4, 1); }\n`, 'b.cu': FLAT.replace('main', 'other') });
    expect((await hoist(cwd, ['k.cu'])).diff()).toBe('');
    expect((await hoist(cwd, ['k.cu', 'b.cu'])).diff()).not.toBe('');
  });
});

const PLAIN = KERNEL.replace('threadIdx.y < flag', 'flag > 0');

test('a diff names the file itself where the path leads through a link', async () => {
  const cwd = folder({ 'real/a.cu': PLAIN });
  symlinkSync('real/a.cu', join(cwd, 'link.cu'));
  symlinkSync('real', join(cwd, 'folder'));
  for (const path of ['link.cu', 'folder/a.cu', './real/a.cu']) {
    const diff = (await hoist(cwd, [path])).diff();
    expect(diff).toContain('--- a/real/a.cu\n+++ b/real/a.cu\n');
    expect(spawnSync('git', ['apply', '--check', '-'], { cwd, input: diff }).stderr.toString()).toBe('');
  }
});

describe('a read-only file', () => {
  test('stays as it is, and the others are written', async () => {
    const cwd = folder({ 'locked.cu': PLAIN, 'open.cu': PLAIN });
    chmodSync(join(cwd, 'locked.cu'), 0o444);
    const project = await Project.open({ include: ['locked.cu', 'open.cu'], cwd });
    const { sites } = project.apply(['hoist'], { evenIfItLoses: true, forWriting: true });
    expect(sites.map(({ path, status, reason }) => [path, status, reason])).toEqual([['locked.cu', 'deferred', 'it would change locked.cu, which is read-only'], ['open.cu', 'applied', null]]);
    expect([...project.readOnlyFiles]).toEqual(['locked.cu']);
    expect(await project.save()).toEqual(['open.cu']);
    expect(readFileSync(join(cwd, 'locked.cu'), 'utf8')).toBe(PLAIN);
    expect(readFileSync(join(cwd, 'open.cu'), 'utf8')).not.toBe(PLAIN);
  });

  test('is not replaced by a save that nobody warned either', async () => {
    const cwd = folder({ 'locked.cu': PLAIN });
    chmodSync(join(cwd, 'locked.cu'), 0o444);
    const project = await hoist(cwd, ['locked.cu']);
    expect(project.diff()).not.toBe('');
    await expect(project.save()).rejects.toThrow(/locked\.cu: it is read-only \(mode 0444\); nothing was written/);
    expect(readFileSync(join(cwd, 'locked.cu'), 'utf8')).toBe(PLAIN);
  });
});
