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

  // A strict program of somebody who has TypeScript and nothing else: what the declarations mention must come with them.
  test.each(['NodeNext', 'Bundler'])('has declarations that stand by themselves (module resolution: %s)', (moduleResolution) => {
    writeFileSync(path.join(folder, 'lib.ts'), `import { Project, findTransform, type FileAudit, type SiteResult } from 'divmod';
export async function gains(file: string): Promise<number> {
  const project = await Project.open({ include: [file] });
  for (const site of project.sites('peel')) if (site.refusals.length === 0 && site.estimate !== null && site.estimate.speedup > 1.05) site.apply();
  const audits: readonly FileAudit[] = project.audit();
  const bytes: Uint8Array = project.diffBytes();
  return audits.length + bytes.length + project.diff().length;
}
export const sizes = (sites: readonly SiteResult[]): number[] => sites.map((site) => site.diff.length);
export const peel = findTransform('peel')?.summary;
`);
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({
      compilerOptions: { noEmit: true, strict: true, target: 'ES2022', lib: ['ES2022'], module: moduleResolution === 'NodeNext' ? 'NodeNext' : 'ES2022', moduleResolution, types: [] }, files: ['lib.ts'],
    }));
    const result = spawnSync(process.execPath, [path.resolve('node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' });
    expect(result.stdout).toBe('');
    expect(result.status).toBe(0);
  }, 120_000);
});
