/** The packed tarball installs in an empty folder and runs there, with the native parser and with the WebAssembly fallback. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from './helpers/temporary.js';

const KERNEL = `__global__ void scale(float *x, int n, bool up)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= up ? 2.f : 0.5f;
}
`;

let folder = '';

beforeAll(() => {
  folder = temporaryFolder('divmod-pack-');
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('['))) as [{ filename: string }];
  writeFileSync(path.join(folder, 'package.json'), '{ "name": "consumer", "private": true }');
  writeFileSync(path.join(folder, 'scale.cu'), KERNEL);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', path.join(folder, filename)], { cwd: folder, stdio: 'ignore', timeout: 280_000 });
}, 300_000);

function divmod(args: readonly string[], parser: string): { code: number | null; stdout: string; stderr: string } {
  const result = spawnSync(path.join(folder, 'node_modules', '.bin', 'divmod'), args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...(parser === '' ? {} : { DIVMOD_PARSER: parser }) },
  });
  return { code: result.status, stdout: result.stdout, stderr: result.stderr };
}

describe('the packed tarball', () => {
  test('tells its version', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(divmod(['--version'], '').stdout.trim()).toBe(version);
  });

  test.each(['', 'wasm'])('audits a kernel (parser: "%s")', (parser) => {
    const { code, stdout, stderr } = divmod(['audit', '--format', 'json', 'scale.cu'], parser);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as { files: { kernels: { name: string; branches: { class: string }[] }[] }[] };
    expect(report.files[0]?.kernels[0]?.name).toBe('scale');
    expect(report.files[0]?.kernels[0]?.branches.map((b) => b.class)).toEqual(['boundary', 'uniform']);
  });

  test('offers its library', () => {
    const script = `import { Project } from 'divmod';
      const project = await Project.open({ include: ['scale.cu'] });
      console.log(typeof project.sites, project.sites('peel').length);`;
    writeFileSync(path.join(folder, 'use.mjs'), script);
    expect(execFileSync('node', ['use.mjs'], { cwd: folder, encoding: 'utf8' }).trim()).toBe('function 0');
  });
});
