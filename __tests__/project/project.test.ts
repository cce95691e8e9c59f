/** The library as docs and README show it. */
import { describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Project, UsageError } from '../../src/index.js';
import { temporaryFolder } from '../helpers/temporary.js';

const loop = (name: string, condition: string): string => `__global__ void ${name}(float *out, const float *in, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) {
    if (${condition}) sum += in[i * n + k] * 2.0f;
    else sum -= in[i * n + k];
  }
  out[i] = sum;
}
`;

function folder(files: Readonly<Record<string, string>>): string {
  const cwd = temporaryFolder('divmod-project-');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  return cwd;
}

describe('Project', () => {
  test('sites, apply, diff, save', async () => {
    const cwd = folder({ 'a.cu': loop('first', 'mode > 0') + loop('second', 'k > mode') });
    const project = await Project.open({ include: ['*.cu'], cwd });
    const sites = project.sites('hoist');
    expect(sites.map((site) => [site.kernel, site.line, site.refusals.length === 0])).toEqual([['first', 5, true], ['second', 14, false]]);
    for (const site of sites) expect(site.apply()).toBe(site.refusals.length === 0 ? 'applied' : 'refused');
    expect(project.diff()).toContain('+++ b/a.cu');
    expect(readFileSync(join(cwd, 'a.cu'), 'utf8')).toContain('for (int k = 0; k < n; ++k) {\n    if (mode > 0)');
    expect(await project.save()).toEqual(['a.cu']);
    expect(readFileSync(join(cwd, 'a.cu'), 'utf8')).toMatch(/if \(mode > 0\) \{\n {4}for/);
    // The sites listed before speak about a text that is gone.
    expect(project.sites('hoist').some((site) => site.kernel === 'first' && site.refusals.length === 0)).toBe(false);
    expect(sites[0]?.apply()).toBe('deferred');
  });

  test('apply reaches a fixed point, and a second one changes nothing', async () => {
    const cwd = folder({ 'a.cu': loop('first', 'mode > 0') + loop('third', 'n > 100') });
    const project = await Project.open({ include: ['a.cu'], cwd });
    expect(project.apply(['hoist'], { evenIfItLoses: true }).sites.filter((site) => site.status === 'applied')).toHaveLength(2);
    const once = project.diff();
    expect(project.apply(['hoist'], { evenIfItLoses: true }).sites.filter((site) => site.status === 'applied')).toHaveLength(0);
    expect(project.diff()).toBe(once);
  });

  test('what calls an edited function is looked at again, and so is what waited for it', async () => {
    const below = `__device__ float below(const float *in, int n, int mode) {
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) {
    if (mode > 0) sum += in[k] * 2.0f;
    else sum -= in[k];
  }
  return sum;
}
__global__ void above(float *out, const float *in, int n, int mode) {
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) {
    if (mode > 1) sum += below(in + k, n, mode);
    else sum -= in[k];
    if (mode > 2) sum *= 2.0f;
    else sum *= in[k];
  }
  out[threadIdx.x] = sum;
}
`;
    const cwd = folder({ 'a.cu': below + loop('beside', 'n > 100') });
    const project = await Project.open({ include: ['a.cu'], cwd });
    const { sites } = project.apply(['hoist'], { evenIfItLoses: true });
    expect(new Set(sites.filter((site) => site.status === 'applied').map((site) => `${site.function} ${site.line}`))).toEqual(new Set(['below 4', 'above 12', 'above 14', 'beside 23']));
    const [file] = project.changed();
    const again = folder({ 'a.cu': file?.after ?? '' });
    const second = await Project.open({ include: ['a.cu'], cwd: again });
    expect(second.apply(['hoist'], { evenIfItLoses: true }).sites.filter((site) => site.status === 'applied')).toEqual([]);
  });

  test('--at counts in lines of the file as it was read', async () => {
    const cwd = folder({ 'a.cu': loop('first', 'mode > 0') + loop('third', 'n > 100') });
    const project = await Project.open({ include: ['a.cu'], cwd });
    const { sites } = project.apply(['hoist'], { at: 14, evenIfItLoses: true });
    expect(sites.map((site) => [site.kernel, site.line, site.status])).toEqual([['third', 14, 'applied']]);
  });

  test('save leaves alone what changed on the disk in the meantime', async () => {
    const cwd = folder({ 'a.cu': loop('first', 'mode > 0') });
    const project = await Project.open({ include: ['a.cu'], cwd });
    project.apply(['hoist'], { evenIfItLoses: true });
    writeFileSync(join(cwd, 'a.cu'), 'theirs');
    await expect(project.save()).rejects.toThrow(/changed while/);
    expect(readFileSync(join(cwd, 'a.cu'), 'utf8')).toBe('theirs');
  });

  test('audit follows the edits in memory', async () => {
    const cwd = folder({ 'a.cu': loop('first', 'mode > 0') });
    const project = await Project.open({ include: ['a.cu'], cwd });
    const count = (): number => project.audit()[0]?.kernels[0]?.branches.length ?? 0;
    expect(count()).toBe(2);
    project.apply(['hoist'], { evenIfItLoses: true });
    expect(count()).toBe(3);
  });

  test('what makes no sense is a UsageError', async () => {
    const cwd = folder({ 'a.cu': loop('first', 'mode > 0') });
    const project = await Project.open({ include: ['a.cu'], cwd });
    expect(() => project.sites('hosit')).toThrow(/did you mean "hoist"/);
    await expect(Project.open({ include: ['a.cu'], cwd, settings: { allow: ['everything'] } })).rejects.toThrow(UsageError);
    expect((await Project.open({ include: ['none.cu'], cwd })).failures).toMatchObject([{ path: 'none.cu' }]);
  });
});
