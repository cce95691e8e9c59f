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

const HEAVY = `__global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    if (v > 0.5f) {
        for (int j = 0; j < 40; ++j) v = v * 0.5f + sqrtf(fabsf(v) + 1.0f);
        y[i] = v;
    }
}
void f(const float *x, float *y, int n) { k<<<(n + 63) / 64, 64>>>(x, y, n); }
`;
/** A warp of a row, or of two: who votes follows from the shape. */
const ROWS = `__global__ void k(const float *x, float *y, int w, int h, int r) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.y < h) {
        float sum = 0.0f;
        for (int d = -r; d <= r; ++d) {
            int j = column + d;
            if (j >= 0 && j < w) sum += x[j];
        }
        y[threadIdx.y * w + column] = sum;
    }
}
void f(const float *x, float *y, int w, int h) { k<<<w / 32, dim3(32, 8)>>>(x, y, w, h, 3); }
`;

async function run(transform: string, files: Readonly<Record<string, string>>, settings: { readonly allow?: readonly string[]; readonly deny?: readonly string[] } = {}, include: readonly string[] = ['a.cu']): Promise<{ readonly diff: string; readonly launches: readonly string[] }> {
  const project = await Project.open({ include, cwd: folder(files), settings });
  const { sites } = project.apply([transform], { evenIfItLoses: true });
  return { diff: project.diff(), launches: sites.flatMap((site) => site.obligations.filter((o) => o.grant === 'all-launches-visible' || o.id === 'all-launches-visible').map((o) => `${o.status} ${o.id}: ${o.text}`)) };
}

describe('a kernel that another file declares by hand', () => {
  test.each([
    ['a declaration', '__global__ void k(const float *, float *, int);\nvoid g(float *x, int n) { k<<<n / 512, 512>>>(x, x, n); }\n'],
    ['bounds, and another order of the words', 'extern void __global__ __launch_bounds__(512) k(const float *x, float *y, int n);\nvoid g(float *x, int n) { k<<<n / 512, 512>>>(x, x, n); }\n'],
    ['the stub of the host', 'void k(const float *, float *, int);\nvoid g(void **a) { cudaLaunchKernel((const void *)&k, dim3(1), dim3(512), a, 0, 0); }\n'],
  ])('has queues for any block: %s', async (_name, other) => {
    const { diff, launches } = await run('compact:block', { 'a.cu': HEAVY, 'b.cu': other });
    expect(diff).toContain('queue_v[1024]');
    expect(launches).toEqual(['proved all-launches-visible: it rests on no launch, b.cu sees k too and was not given']);
    expect((await run('compact:block', { 'a.cu': HEAVY, 'b.cu': other }, { allow: ['all-launches-visible'] })).diff).toContain('queue_v[64]');
  });

  test('given together, its launches count', async () => {
    const other = '__global__ void k(const float *, float *, int);\nvoid g(float *x, int n) { k<<<n / 512, 512>>>(x, x, n); }\n';
    expect((await run('compact:block', { 'a.cu': HEAVY, 'b.cu': other }, {}, ['a.cu', 'b.cu'])).diff).toContain('queue_v[512]');
  });

  test.each([
    ['a kernel of its own', '__global__ void k(const float *, float *, int);\n__global__ void k(const float *x, float *y, int n) { y[0] = x[n]; }\nvoid g(float *x) { k<<<1, 512>>>(x, x, 1); }\n'],
    ['other parameters', 'void k(int);\nvoid g() { k(1); }\n'],
    ['a comment', '// __global__ void k(const float *, float *, int);\nvoid g();\n'],
    ['a call', 'void g(float *x) { k(x, x, 1); }\n'],
  ])('is not meant by %s', async (_name, other) => {
    const { diff, launches } = await run('compact:block', { 'a.cu': HEAVY, 'b.cu': other });
    expect(diff).toContain('queue_v[64]');
    expect(launches).toHaveLength(1);
    expect(launches[0]).toMatch(/^assumed queue-capacity/);
  });

  test('cannot be meant where it is static', async () => {
    const { diff, launches } = await run('compact:block', { 'a.cu': HEAVY.replace('__global__', 'static __global__'), 'b.cu': '__global__ void k(const float *, float *, int);\n' });
    expect(diff).toContain('queue_v[64]');
    expect(launches).toEqual([]);
  });
});

describe('what rests on the shape of blocks', () => {
  test('says so, and is not there without the grant', async () => {
    const seen = await run('ballot', { 'a.cu': ROWS });
    expect(seen.diff).toContain('__all_sync(0xffffffff, ');
    expect(seen.launches).toEqual(['assumed all-launches-visible: it rests on the launch of line 12, and on there being no others']);
    for (const denied of [await run('ballot', { 'a.cu': ROWS }, { deny: ['all-launches-visible'] }), await run('ballot', { 'a.cu': `${ROWS}template <class F> void go(F f, float *x) { f<<<1, dim3(16, 16)>>>(x, x, 1, 1, 1); }\nvoid g(float *x) { go(k, x); }\n` })]) {
      expect(denied.diff).toContain('__ballot_sync(0xffffffff, threadIdx.y < h)');
      expect(denied.diff).not.toContain('__all_sync(0xffffffff');
      expect(denied.launches).toEqual([]);
    }
  });

  test('is not said of an edit that comes out in any shape', async () => {
    const flat = ROWS.replaceAll('threadIdx.y', 'blockIdx.y').replace('dim3(32, 8)', '256');
    const { diff, launches } = await run('ballot', { 'a.cu': flat });
    expect(diff).toContain('__all_sync(0xffffffff, ');
    expect(launches).toEqual([]);
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

describe('a kernel of a header that split divides', () => {
  const HEADER = `#pragma once
__global__ void k(float *x, int n, bool flag) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (flag) {
        if (i < n) x[i] = 1.f;
    } else {
        if (i < n) x[i] += 2.f;
    }
}
`;
  const main = (name: string): string => `#include "k.cuh"\nvoid ${name}(float *x, int n, bool flag) { k<<<(n + 255) / 256, 256>>>(x, n, flag); }\n`;
  const divided = async (cwd: string, include: readonly string[]): Promise<{ readonly diff: string; readonly said: string }> => {
    const project = await Project.open({ include, cwd });
    const { sites: [site] } = project.apply(['split'], { evenIfItLoses: true });
    return { diff: project.diff(), said: site?.obligations.find((obligation) => obligation.id === 'all-launches-visible')?.text ?? '' };
  };

  test('goes where all files that include it are given, and every launch follows', async () => {
    const cwd = folder({ 'k.cuh': HEADER, 'a.cu': main('a'), 'b.cu': main('b') });
    const { diff } = await divided(cwd, ['a.cu', 'b.cu']);
    expect(diff).toMatch(/^-__global__ void k\(float \*x, int n, bool flag\) \{/m);
    expect(diff.match(/^\+.*k_flag<<</gm)).toHaveLength(2);
  });

  test('stays where one was not given, and says for whom', async () => {
    const cwd = folder({ 'k.cuh': HEADER, 'a.cu': main('a'), 'b.cu': main('b') });
    const { diff, said } = await divided(cwd, ['a.cu']);
    expect(diff).not.toMatch(/^-__global__/m);
    expect(diff).toMatch(/^\+__global__ void k_flag\(/m);
    expect(said).toContain('k stays for other files that include its header');
  });
});
