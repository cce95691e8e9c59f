/** `apply --verify` runs what an edit touches wherever it stands, and says what it could not run. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Project } from '../../src/project/project.js';
import type { SiteResult } from '../../src/project/rounds.js';
import type { Verification } from '../../src/project/simulation.js';
import { untried } from '../../src/project/withheld.js';
import { initParser } from '../../src/syntax/parser.js';
import { temporaryFolder } from '../helpers/temporary.js';

beforeAll(async () => {
  await initParser();
});

function folder(files: Readonly<Record<string, string>>): string {
  const made = temporaryFolder('divmod-verify-');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(made, name)), { recursive: true });
    writeFileSync(join(made, name), text);
  }
  return made;
}

const REQUEST = { launch: { grid: [1, 1, 1], block: [32, 1, 1] }, block: null, grid: null, seed: 1, schedule: 0, size: 4, shared: null, arguments: new Map() } as const;

async function verified(cwd: string, include: readonly string[], change: (sites: readonly SiteResult[]) => readonly SiteResult[] = (sites) => sites): Promise<readonly Verification[]> {
  const project = await Project.open({ include, cwd });
  const { sites } = project.apply(['hoist'], { evenIfItLoses: true });
  expect(project.diff()).not.toBe('');
  return project.verify(change(sites), REQUEST);
}

const shown = (all: readonly Verification[]): readonly (readonly string[])[] => all.map(({ kernel, path, verdict }) => [kernel, basename(path), verdict.status]);

const LOOP = `    float s = 0.f;
    for (int j = 0; j < n; ++j) { if (m > 2) s += in[j]; else s -= 2.f * in[j]; }
`;
const KERNEL = `__global__ void sum(float *o, const float *in, int n, int m) {\n${LOOP}    o[threadIdx.x] = s;\n}\n`;
const DEVICE = `__device__ inline float total(const float *in, int n, int m) {\n${LOOP}    return s;\n}\n`;
const caller = (name: string): string => `__global__ void ${name}(float *o, const float *in, int n, int m) { o[threadIdx.x] = total(in, n, m); }\n`;

describe('verification reaches', () => {
  test('a kernel of a header, once, however the files are named', async () => {
    const cwd = folder({ 'k.cuh': `#pragma once\n${KERNEL}`, 'a.cu': '#include "k.cuh"\n', 'b.cu': '#include "k.cuh"\n' });
    for (const include of [['a.cu'], ['a.cu', 'b.cu'], ['b.cu', 'a.cu'], ['.'], ['k.cuh'], ['k.cuh', 'a.cu']]) expect([include, shown(await verified(cwd, include))]).toEqual([include, [['sum', 'k.cuh', 'equal']]]);
  });

  test('every kernel that calls an edited function of a header, those of other headers among them', async () => {
    const cwd = folder({ 'f.cuh': `#pragma once\n${DEVICE}`, 'h.cuh': `#pragma once\n#include "f.cuh"\n${caller('third')}`, 'a.cu': `#include "f.cuh"\n${caller('first')}`, 'b.cu': `#include "h.cuh"\n${caller('second')}` });
    const kernels = [...shown(await verified(cwd, ['a.cu', 'b.cu']))].sort();
    expect(kernels).toEqual([['first', 'a.cu', 'equal'], ['second', 'b.cu', 'equal'], ['third', 'h.cuh', 'equal']]);
  });

  test('a kernel with what its includer puts in front of it', async () => {
    const cwd = folder({ 'k.cuh': KERNEL.replace('m > 2', 'm > LIMIT'), 'a.cu': 'const int LIMIT = 2;\n#include "k.cuh"\n' });
    expect(shown(await verified(cwd, ['.']))).toEqual([['sum', 'k.cuh', 'equal']]);
  });

  test('a kernel that the linker brings together with the function', async () => {
    const cwd = folder({ 'f.cu': DEVICE.replace('inline ', ''), 'k.cu': `__device__ float total(const float *in, int n, int m);\n${caller('far')}` });
    expect(shown(await verified(cwd, ['f.cu', 'k.cu']))).toEqual([['far', 'k.cu', 'equal']]);
  });

  test('nothing, and says so', async () => {
    const cwd = folder({ 'k.cu': KERNEL, 'f.cuh': DEVICE });
    let all: readonly SiteResult[] = [];
    const found = await verified(cwd, ['k.cu'], (sites) => (all = [...sites, ...sites.map((site) => ({ ...site, path: 'f.cuh', realPath: join(cwd, 'f.cuh'), function: 'total' }))]));
    expect(shown(found)).toEqual([['sum', 'k.cu', 'equal']]);
    expect(untried(all, found).map((site) => [site.path, site.function])).toEqual([['f.cuh', 'total']]);
  });
});
