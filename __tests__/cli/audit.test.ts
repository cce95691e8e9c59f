import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { divmod, folderWith, HOISTABLE } from './run-cli.js';

const kernel = (name: string): string => `__global__ void ${name}(float *a, const int *key, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 1.0f;
  if (key[i] > 3) a[i] *= 2.0f;
  if (n > 7) a[0] = 3.0f;
}
`;

interface Branch { readonly advice: string; readonly ignored?: boolean; readonly line: number; readonly class: string; readonly scope: string; readonly id: string; readonly condition: string }
interface AuditJson {
  readonly tool: string;
  readonly schema: number;
  readonly files: readonly { readonly path: string; readonly status: string; readonly kernels: readonly { readonly name: string; readonly branches: readonly Branch[]; readonly hazards: readonly { readonly id: string; readonly ignored?: boolean }[] }[] }[];
  readonly summary: { readonly branches: number };
}

const audit = (args: readonly string[], cwd: string): AuditJson => JSON.parse(divmod(['audit', '--format', 'json', ...args], { cwd }).stdout) as AuditJson;

describe('audit', () => {
  test('JSON: every branch with class and scope', () => {
    const cwd = folderWith({ 'k.cu': kernel('k') });
    const { tool, schema, files } = audit(['k.cu'], cwd);
    expect([tool, schema]).toEqual(['divmod', 1]);
    const branches = files[0]?.kernels[0]?.branches ?? [];
    expect(branches.map((branch) => [branch.line, branch.class])).toEqual([[3, 'boundary'], [4, 'data'], [5, 'uniform']]);
    expect(branches.map((branch) => branch.condition)).toEqual(['i < n', 'key[i] > 3', 'n > 7']);
  });

  test('text: standard output holds the report alone, with the code', () => {
    const cwd = folderWith({ 'k.cu': kernel('k') });
    const result = divmod(['audit', 'k.cu'], { cwd });
    expect(result.code).toBe(0);
    expect(result.stderr).toBe('');
    expect(result.stdout).toContain('if (key[i] > 3) a[i] *= 2.0f;');
    expect(result.stdout).toContain('3 branches in 1 kernel: 3 classified');
  });

  test('text: hazards that say the same are one entry, those of a shared helper are said once; JSON has them all', () => {
    const calls = Array.from({ length: 16 }, (_, i) => `    v += twice(v + ${i}.f);`).join('\n');
    const holding = (name: string): string => `__global__ void ${name}(float *x) {\n  float v = x[threadIdx.x];\n  if (v > 0.f) {\n${calls}\n  }\n  x[threadIdx.x] = v;\n}\n`;
    const cwd = folderWith({ 'k.cu': `__device__ float twice(float v) { return v + __shfl_xor_sync(0xffffffff, v, 1); }\n${holding('first')}${holding('second')}` });
    const { stdout } = divmod(['audit', 'k.cu'], { cwd });
    expect(stdout.split('error mask-full-under-divergence')).toHaveLength(2);
    expect(stdout.split('caution collective-behind-call')).toHaveLength(3);
    expect(stdout).toContain('the same in lines 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 and 3 more');
    expect(stdout).toContain('and 1 hazard said above');
    expect(audit(['k.cu'], cwd).files[0]?.kernels.map((kernel) => kernel.hazards.length)).toEqual([17, 17]);
    expect(divmod(['audit', '--explain', 'k.cu'], { cwd }).stdout.split('caution collective-behind-call')).toHaveLength(33);
  });

  test('folders: ignored files stay out, links count once, the order is fixed', () => {
    const cwd = folderWith({ 'b.cu': kernel('b'), 'a.cuh': kernel('a'), 'sub/c.hip': kernel('c'), 'out/gen.cu': kernel('g'), 'skip.cu': kernel('s'), '.gitignore': 'out/\n', '.divmodignore': 'skip.cu\n' });
    symlinkSync('b.cu', join(cwd, 'link.cu'));
    expect(audit(['.'], cwd).files.map((file) => file.path)).toEqual(['a.cuh', 'b.cu', 'sub/c.hip']);
    expect(audit(['.', './b.cu'], cwd).files).toHaveLength(3);
    expect(audit(['skip.cu'], cwd).files.map((file) => file.path)).toEqual(['skip.cu']);
  });

  test('globs, exclusion and lists of files', () => {
    const cwd = folderWith({ 'x/a.cu': kernel('a'), 'x/b.cu': kernel('b'), list: 'x/b.cu\n' });
    expect(audit(['x/*.cu', '--exclude', 'x/a.cu'], cwd).files.map((file) => file.path)).toEqual(['x/b.cu']);
    expect(audit(['--files-from', 'list'], cwd).files.map((file) => file.path)).toEqual(['x/b.cu']);
    const piped = divmod(['audit', '--format', 'json', '--files-from', '-'], { cwd, input: 'x/a.cu\n' });
    expect((JSON.parse(piped.stdout) as AuditJson).files.map((file) => file.path)).toEqual(['x/a.cu']);
  });

  test('shards add up to the whole, and merge joins them', () => {
    const cwd = folderWith({ 'a.cu': kernel('a'), 'b.cu': kernel('b'), 'c.cu': kernel('c') });
    const whole = audit(['.'], cwd);
    for (const i of [1, 2]) writeFileSync(join(cwd, `${i}.json`), divmod(['audit', '--format', 'json', '--shard', `${i}/2`, '.'], { cwd }).stdout);
    const merged = JSON.parse(divmod(['merge', '1.json', '2.json'], { cwd }).stdout) as AuditJson;
    expect(merged.files).toEqual(whole.files);
    expect(merged.summary).toEqual(whole.summary);
  });

  test('--since looks at what differs from a commit', () => {
    const cwd = folderWith({ 'a.cu': kernel('a'), 'b.cu': kernel('b') });
    const git = (...args: string[]): void => {
      expect(spawnSync('git', ['-C', cwd, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args]).status).toBe(0);
    };
    git('init', '-q');
    git('add', '.');
    git('commit', '-q', '-m', 'start');
    writeFileSync(join(cwd, 'b.cu'), kernel('b2'));
    expect(audit(['--since', 'HEAD', '.'], cwd).files.map((file) => file.path)).toEqual(['b.cu']);
    const wrong = divmod(['audit', '--since', 'nope', '.'], { cwd });
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('not a commit');
  });

  test('--fail-on and --baseline', () => {
    const cwd = folderWith({ 'k.cu': kernel('k'), 'plain.cu': '__global__ void p(int *a, int n) { if (n > 3) a[0] = 1; }\n' });
    expect(divmod(['audit', '--fail-on', 'data', 'k.cu'], { cwd }).code).toBe(1);
    expect(divmod(['audit', '--fail-on', 'data', 'plain.cu'], { cwd }).code).toBe(0);
    writeFileSync(join(cwd, 'old.json'), divmod(['audit', '--format', 'json', 'k.cu'], { cwd }).stdout);
    expect(divmod(['audit', '--fail-on', 'data', '--baseline', 'old.json', 'k.cu'], { cwd }).code).toBe(0);
  });

  test('// divmod: ignore keeps a finding in the list and fails nothing', () => {
    const barrier = '__global__ void k(int *a, int n) {\n  if (threadIdx.x < n)\n    __syncthreads();MARK\n  if (a[threadIdx.x] > 0)HERE\n    a[threadIdx.x] = 1;\n}\n';
    const cwd = folderWith({ 'k.cu': barrier.replace('MARK', '').replace('HERE', ''), 'i.cu': barrier.replace('MARK', ' // divmod: ignore').replace('HERE', ' // divmod: ignore') });
    for (const word of ['barrier-divergent', 'data']) {
      expect(divmod(['audit', '--fail-on', word, 'k.cu'], { cwd }).code).toBe(1);
      expect(divmod(['audit', '--fail-on', word, 'i.cu'], { cwd }).code).toBe(0);
    }
    const [kernel] = audit(['i.cu'], cwd).files[0]?.kernels ?? [];
    expect(kernel?.hazards.map(({ id, ignored }) => [id, ignored])).toEqual([['barrier-divergent', true]]);
    expect(kernel?.branches.map((branch) => [branch.class, branch.advice, branch.ignored])).toContainEqual(['data', 'leave', true]);
    expect(divmod(['audit', 'i.cu'], { cwd }).stdout).toContain('(ignored by the source)');
  });

  test('single bits of an index are no boundary', () => {
    const cwd = folderWith({ 'k.cu': '__global__ void k(int *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if ((i & 1) < n) a[i] = 1; if (i < n) a[i] = 2; }\n' });
    expect(audit(['k.cu'], cwd).files[0]?.kernels[0]?.branches.map((branch) => branch.class)).toEqual(['geometry', 'boundary']);
  });

  test('--kernel takes globs', () => {
    const cwd = folderWith({ 'k.cu': kernel('alpha') + kernel('beta') });
    expect(audit(['--kernel', 'al*', 'k.cu'], cwd).files[0]?.kernels.map((k) => k.name)).toEqual(['alpha']);
  });

  test('standard input', () => {
    const result = divmod(['audit', '--format', 'json', '-', '--stdin-filename', 'edit.cu'], { cwd: folderWith({}), input: kernel('k') });
    expect((JSON.parse(result.stdout) as AuditJson).files.map((file) => [file.path, file.kernels.length])).toEqual([['edit.cu', 1]]);
  });

  test('--output writes the result to a file and leaves standard output empty', () => {
    const cwd = folderWith({ 'k.cu': kernel('k') });
    const result = divmod(['audit', '--format', 'json', '--output', 'report.json', 'k.cu'], { cwd });
    expect([result.code, result.stdout]).toEqual([0, '']);
    expect((JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8')) as AuditJson).files).toHaveLength(1);
    expect(divmod(['audit', '--output', 'no/such/report.json', 'k.cu'], { cwd }).code).toBe(2);
  });

  test.each(['sarif', 'markdown', 'html'])('%s', (format) => {
    const result = divmod(['audit', '--format', format, 'k.cu'], { cwd: folderWith({ 'k.cu': kernel('k') }) });
    expect(result.code).toBe(0);
    if (format === 'sarif') expect((JSON.parse(result.stdout) as { version: string }).version).toBe('2.1.0');
    else expect(result.stdout).toContain('key[i]');
  });

  test('colour only when asked for', () => {
    const cwd = folderWith({ 'k.cu': kernel('k') });
    expect(divmod(['audit', 'k.cu'], { cwd }).stdout).not.toContain('\u001b[');
    expect(divmod(['audit', '--color', 'always', 'k.cu'], { cwd }).stdout).toContain('\u001b[');
    expect(divmod(['audit', '--no-color', 'k.cu'], { cwd, env: { NO_COLOR: '', FORCE_COLOR: '1' } }).stdout).not.toContain('\u001b[');
  });
});

describe('explain, transforms, config', () => {
  test('explain shows the chain and the obligations', () => {
    const cwd = folderWith({ 'k.cu': HOISTABLE });
    const result = divmod(['explain', 'k.cu:5'], { cwd });
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('mode > 0');
    expect(result.stdout).toContain('hoist in scale');
    expect(result.stdout).toContain('condition-invariant');
  });

  test('transforms lists and shows', () => {
    const list = divmod(['transforms']);
    expect(list.stdout).toMatch(/^hoist /m);
    expect(list.stdout).toMatch(/contract .*unless --deny/);
    expect(divmod(['transforms', 'hoist']).stdout).toContain('obligations');
  });

  test('settings come from the nearest configuration, and the command line wins', () => {
    const cwd = folderWith({ 'divmod.config.json': '{ "kernel": "be*", "block": "32x4" }', 'sub/k.cu': kernel('alpha') + kernel('beta') });
    const sub = join(cwd, 'sub');
    expect(audit(['k.cu'], sub).files[0]?.kernels.map((k) => k.name)).toEqual(['beta']);
    expect(audit(['--kernel', 'alpha', 'k.cu'], sub).files[0]?.kernels.map((k) => k.name)).toEqual(['alpha']);
    const shown = divmod(['config', 'print', 'k.cu', '--block', '64'], { cwd: sub }).stdout;
    expect(shown).toMatch(/^kernel .*be\*.*from \.\.\/divmod\.config\.json/m);
    expect(shown).toMatch(/^block .*64.*from command line/m);
  });

  test.each([
    ['{ "kernle": "x" }', 'unknown setting "kernle" (did you mean "kernel"?)'],
    ['{ "jobs": "many" }', '"jobs" must be a positive whole number'],
    ['{ "block": "0" }', 'no shape'],
    ['{ not json', 'divmod.config.json'],
  ])('a configuration such as %s is refused', (text, message) => {
    const result = divmod(['audit', '.'], { cwd: folderWith({ 'divmod.config.json': text, 'k.cu': kernel('k') }) });
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(message);
  });

  test('configuration as a module, in TypeScript, and in package.json', () => {
    for (const [name, text] of [['divmod.config.mjs', 'export default { kernel: "alpha" };'], ['divmod.config.js', 'export default { kernel: "alpha" };'], ['package.json', '{ "type": "module", "divmod": { "kernel": "alpha" } }']] as const) {
      const cwd = folderWith({ [name]: text, 'k.cu': kernel('alpha') + kernel('beta'), ...(name === 'package.json' ? {} : { 'package.json': '{ "type": "module" }' }) });
      expect(audit(['k.cu'], cwd).files[0]?.kernels.map((k) => k.name)).toEqual(['alpha']);
    }
  });
});
