import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { EXIT, winningCode, type ExitCode } from '../../src/cli/exit-codes.js';
import { divmod, folderWith, HOISTABLE, startDivmod } from './run-cli.js';

describe('exit codes', () => {
  test('the order 130, 70, 2, 4, 5, 3, 1, 0', () => {
    const order: ExitCode[] = [130, 70, 2, 4, 5, 3, 1, 0];
    order.forEach((code, i) => expect(winningCode(order.slice(i).reverse())).toBe(code));
    expect(winningCode([])).toBe(EXIT.done);
  });

  test('incomplete wins over findings', () => {
    const cwd = folderWith({ 'k.cu': '__global__ void k(int *a, const int *b) { if (b[threadIdx.x]) a[0] = 1; }\n' });
    expect(divmod(['audit', '--fail-on', 'data', 'k.cu'], { cwd }).code).toBe(1);
    expect(divmod(['audit', '--fail-on', 'data', 'k.cu', 'gone.cu'], { cwd }).code).toBe(3);
  });

  test('an interrupt ends the run with 130 and no temporary file', async () => {
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`d${i}/k.cu`, HOISTABLE.replaceAll('scale', `scale${i}`).repeat(1)]));
    const cwd = folderWith(many);
    const child = startDivmod(['audit', '--format', 'json', '.'], cwd);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    child.kill('SIGINT');
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    // A machine that was done before the signal came has nothing to interrupt; one that had not yet begun is ended by the signal itself.
    expect(code === 130 || code === 0 || signal === 'SIGINT').toBe(true);
    expect(readdirSync(cwd).every((name) => /^d\d+$/.test(name))).toBe(true);
  }, 60_000);

  test('a reader that goes away is no error', async () => {
    const cwd = folderWith(Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${i}.cu`, HOISTABLE.replaceAll('scale', `scale${i}`)])));
    const child = startDivmod(['audit', '--format', 'json', '.'], cwd);
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.stdout?.destroy();
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(stderr).toBe('');
    expect(code).toBe(0);
  }, 60_000);
});

describe('verification', () => {
  const cwd = folderWith({ 'k.cu': HOISTABLE, 'other.cu': HOISTABLE.replace('2.0f', '3.0f'), 'same.cu': HOISTABLE.replace('sum -= in[i * n + k];', 'sum = sum - in[i * n + k];'), 'numbers.txt': '1 2 3\n4, 5' });

  test('two versions that agree: 0; that differ: 4, with a counterexample', () => {
    const same = divmod(['verify', 'k.cu', 'same.cu'], { cwd });
    expect(same.stdout).toContain('equal');
    expect(same.code).toBe(0);
    const other = divmod(['verify', 'k.cu', 'other.cu'], { cwd });
    expect(other.stdout).toMatch(/different[^]*out\[\d+\] is [^]*replay with --seed /);
    expect(other.code).toBe(4);
  });

  test('apply --verify says what was compared', () => {
    const result = divmod(['apply', '--transform', 'hoist', '--even-if-it-loses', '--verify', '--format', 'json', 'k.cu'], { cwd });
    expect(result.code).toBe(0);
    const { verification } = JSON.parse(result.stdout) as { verification: { kernel: string; status: string }[] };
    expect(verification).toMatchObject([{ kernel: 'scale', status: 'equal' }]);
  });

  test('a wrong transform of the user’s own is caught: 4, and nothing is written', async () => {
    const { readFileSync, writeFileSync } = await import('node:fs');
    const { join } = await import('node:path');
    writeFileSync(join(cwd, 'wrong.mjs'), `export default {
  name: 'wrong', summary: 'doubles what it should not', variants: [], obligationIds: [], example: { before: '', after: '' },
  match: ({ facts }) => facts.branches.filter((b) => b.kind === 'if').map((b) => ({ function: facts.function, node: b.node, branch: b.node, line: facts.unit.source.line(b.node.span.start), summary: 'an if', shape: null })),
  obligations: () => [],
  estimate: () => ({ speedup: 2, low: 2, high: 2, instructionsBefore: 2, instructionsAfter: 1, traffic: 0, breakEven: null, provider: 'static', pays: true, reason: 'it is wrong' }),
  emit: (site, { unit }) => {
    const at = unit.source.text.indexOf('2.0f');
    return { edits: at < 0 ? [] : [{ file: unit.source.realPath, span: { start: at, end: at + 4 }, text: '3.0f' }], reads: [] };
  },
};
`);
    const result = divmod(['apply', '--transform', './wrong.mjs', '--verify', '--write', 'k.cu'], { cwd });
    expect(result.code).toBe(4);
    expect(result.stderr).toContain('nothing was written');
    expect(readFileSync(join(cwd, 'k.cu'), 'utf8')).toBe(HOISTABLE);

    // Nor is it offered: no diff in any format, no patch, no file, and the edit counts as refused.
    const { existsSync } = await import('node:fs');
    const dry = divmod(['apply', '--transform', './wrong.mjs', '--verify', '--output', 'out.diff', '--series', 'patches', 'k.cu'], { cwd });
    expect(dry.code).toBe(4);
    expect(dry.stdout).toBe('');
    expect(dry.stderr).toMatch(/different[^]*same-result refuted[^]*0 applied, 2 refused/);
    expect(existsSync(join(cwd, 'out.diff'))).toBe(false);
    expect((await import('node:fs')).readdirSync(join(cwd, 'patches'))).toEqual([]);
    const json = divmod(['apply', '--transform', './wrong.mjs', '--verify', '--format', 'json', 'k.cu'], { cwd });
    expect(json.code).toBe(4);
    const report = JSON.parse(json.stdout) as { diff: string; edits: { status: string; diff: string; obligations: { id: string; status: string }[] }[] };
    expect(report.diff).toBe('');
    expect(report.edits.map(({ status, diff }) => ({ status, diff }))).toEqual([{ status: 'refused', diff: '' }, { status: 'refused', diff: '' }]);
    expect(report.edits[0]?.obligations.at(-1)).toMatchObject({ id: 'same-result', status: 'refuted' });
    for (const format of ['markdown', 'html', 'sarif']) expect(divmod(['apply', '--transform', './wrong.mjs', '--verify', '--format', format, 'k.cu'], { cwd }).stdout).not.toMatch(/^[+] *.*3\.0f/m);

    // Who asks for it sees it, behind the difference.
    const asked = divmod(['apply', '--transform', './wrong.mjs', '--verify', '--dry-run', 'k.cu'], { cwd });
    expect(asked.code).toBe(4);
    expect(asked.stdout).toMatch(/^\+.*3\.0f/m);
    expect(asked.stderr).toContain('do not take this diff');
  });

  test('edits of a run that differs are put off where they are not at fault themselves', async () => {
    const { writeFileSync } = await import('node:fs');
    const { join } = await import('node:path');
    const folder = folderWith({ 'two.cu': `${HOISTABLE}\n__global__ void plain(float *out, float by) { if (by > 1.0f) out[threadIdx.x] = by; }\n` });
    writeFileSync(join(folder, 'half.mjs'), `export default {
  name: 'half', summary: 'right in one kernel', variants: [], obligationIds: [], example: { before: '', after: '' },
  match: ({ facts }) => facts.branches.filter((b) => b.kind === 'if').slice(0, 1).map((b) => ({ function: facts.function, node: b.node, branch: b.node, line: facts.unit.source.line(b.node.span.start), summary: 'an if', shape: null })),
  obligations: () => [],
  estimate: () => ({ speedup: 2, low: 2, high: 2, instructionsBefore: 2, instructionsAfter: 1, traffic: 0, breakEven: null, provider: 'static', pays: true, reason: 'half of it' }),
  emit: (site, { unit }) => {
    const { text } = unit.source;
    const [from, to] = site.function.name === 'plain' ? ['by > 1.0f', '1.0f < by'] : ['2.0f', '3.0f'];
    const at = text.indexOf(from);
    return { edits: at < 0 ? [] : [{ file: unit.source.realPath, span: { start: at, end: at + from.length }, text: to }], reads: [] };
  },
};
`);
    const result = divmod(['apply', '--transform', './half.mjs', '--verify', '--format', 'json', 'two.cu'], { cwd: folder });
    expect(result.code).toBe(4);
    const { edits, diff } = JSON.parse(result.stdout) as { diff: string; edits: { function: string; status: string }[] };
    expect(diff).toBe('');
    expect(new Set(edits.map(({ status }) => status))).toEqual(new Set(['refused', 'deferred']));
  });

  test('an edit after which a kernel is not understood, as it was before, is none to take: 4', async () => {
    const { readFileSync, writeFileSync } = await import('node:fs');
    const { join } = await import('node:path');
    const folder = folderWith({ 'k.cu': HOISTABLE, 'dark.cu': HOISTABLE.replace('sum -= in[i * n + k];', 'sum -= mystery(in[i * n + k]);') });
    const wrongName = (from: string, to: string): void => writeFileSync(join(folder, 'name.mjs'), `export default {
  name: 'name', summary: 'writes a name that nothing declares', variants: [], obligationIds: [], example: { before: '', after: '' },
  match: ({ facts }) => facts.branches.filter((b) => b.kind === 'if').slice(0, 1).map((b) => ({ function: facts.function, node: b.node, branch: b.node, line: facts.unit.source.line(b.node.span.start), summary: 'an if', shape: null })),
  obligations: () => [],
  estimate: () => ({ speedup: 2, low: 2, high: 2, instructionsBefore: 2, instructionsAfter: 1, traffic: 0, breakEven: null, provider: 'static', pays: true, reason: 'no reason' }),
  emit: (site, { unit }) => {
    const at = unit.source.text.indexOf(${JSON.stringify(from)});
    return { edits: at < 0 ? [] : [{ file: unit.source.realPath, span: { start: at, end: at + ${from.length} }, text: ${JSON.stringify(to)} }], reads: [] };
  },
};
`);
    for (const [from, to] of [['2.0f', 'W'], ['void scale', 'void other']] as const) {
      wrongName(from, to);
      const result = divmod(['apply', '--transform', './name.mjs', '--verify', '--write', 'k.cu'], { cwd: folder });
      expect(result.stderr).toMatch(/not verified\n {4}after: [^]*the result is not understood where the original was, so nothing was written[^]*same-result refuted/);
      expect(result.code).toBe(4);
      expect(readFileSync(join(folder, 'k.cu'), 'utf8')).toBe(HOISTABLE);
      const diff = divmod(['apply', '--transform', './name.mjs', '--verify', 'k.cu'], { cwd: folder });
      expect([diff.code, diff.stdout]).toEqual([4, '']);
    }
    // What was not understood before is not known to be worse: incomplete, as ever.
    wrongName('2.0f', '3.0f');
    const dark = divmod(['apply', '--transform', './name.mjs', '--verify', '--write', 'dark.cu'], { cwd: folder });
    expect(dark.code).toBe(3);
    expect(dark.stderr).toContain('before: ');
  });

  test('kernels of a header that is only included are verified, and an edit that no kernel runs is said', () => {
    const part = 'for (int i = 0; i < n; ++i) { if (i < 4) s += a[i]; else s *= 0.5f; }';
    const folder = folderWith({
      'k.cuh': `__global__ void in_header(const float *a, float *o, int n) { float s = 0.f; ${part} o[threadIdx.x] = s; }\n`, 'a.cu': '#include "k.cuh"\n__global__ void own(float *o) { o[threadIdx.x] = 1.f; }\n',
      'part.cu': `__device__ float part(const float *a, int n) { float s = 0.f; ${part} return s; }\n`,
    });
    const { code, stdout } = divmod(['apply', '--transform', 'peel', '--verify', '--format', 'json', 'a.cu'], { cwd: folder });
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as { verification: unknown[] }).verification).toMatchObject([{ kernel: 'in_header', status: 'equal' }]);
    const lone = divmod(['apply', '--transform', 'peel', '--allow', 'all-launches-visible', '--verify', 'part.cu'], { cwd: folder });
    expect(lone.code === 3 ? lone.stderr : 'part  not verified').toContain('part  not verified');
  });

  test('simulate prints efficiency beside the source', () => {
    const result = divmod(['simulate', 'k.cu', '--kernel', 'scale', '--launch', '2x64', '--arg', 'n=8', '--arg', 'mode=1'], { cwd });
    expect(result.code).toBe(0);
    expect(result.stdout).toMatch(/efficiency \d\.\d\d/);
    expect(result.stdout).toContain('if (mode > 0) {');
    expect(divmod(['simulate', 'k.cu', '--launch', '2*64'], { cwd }).code).toBe(2);
    expect(divmod(['simulate', 'k.cu', '--kernel', 'scale', '--launch', '1x32', '--arg', 'n=5', '--arg', 'in=@numbers.txt'], { cwd }).code).not.toBe(2);
    const missing = divmod(['simulate', 'k.cu', '--kernel', 'scale', '--arg', 'x=@absent.txt'], { cwd });
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('absent.txt cannot be read');
  });

  test('a kernel that an edit replaced is not verified from two files, and where it is', () => {
    const text = '__global__ void k(int *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = i; }\n';
    const folder = folderWith({ 'a.cu': text, 'b.cu': text.replace('void k(', 'void k_light(') });
    const found = divmod(['verify', 'a.cu', 'b.cu'], { cwd: folder });
    expect(found.code).toBe(3);
    expect(found.stdout).toMatch(/no kernel k: kernels are compared by name, and the launches of the host are not executed here; `apply --verify`/);
  });

  test('a replay line replays, and options that fix a setting are heard', () => {
    const strided = '__global__ void k(int* out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; for (int j = i; j < n; j += blockDim.x * gridDim.x) out[j] = j; }\n';
    const folder = folderWith({ 'a.cu': strided, 'b.cu': strided.replace('for (int j = i; j < n; j += blockDim.x * gridDim.x) out[j] = j;', 'if (i < n) out[i] = i;') });
    const found = divmod(['verify', 'a.cu', 'b.cu'], { cwd: folder });
    expect(found.code).toBe(4);
    const line = /replay with (.*)/.exec(found.stdout)?.[1] ?? '';
    expect(line).toMatch(/--seed \d+ --launch 1x\d+ --size \d+/);
    const again = divmod(['verify', 'a.cu', 'b.cu', ...line.split(' ')], { cwd: folder });
    expect(again.stdout).toContain('different');
    const covered = divmod(['verify', 'a.cu', 'b.cu', '--launch', '2x64', '--size', '128', '--seed', '1', '--schedule', '0'], { cwd: folder });
    expect(covered.stdout).toMatch(/equal over 1 run\b[^]*size 128; block 64;/);
    expect(covered.code).toBe(0);
  });

  test.each<[string, readonly string[], RegExp]>([
    ['an unknown parameter', ['verify', 'k.cu', 'same.cu', '--arg', 'moda=3'], /moda: no kernel here has such a parameter \(did you mean "mode"\?\)/],
    ['no whole number for an int', ['verify', 'k.cu', 'same.cu', '--arg', 'n=2.5'], /2\.5 is no whole number/],
    ['a value beyond the type', ['simulate', 'k.cu', '--kernel', 'scale', '--arg', 'n=3000000000'], /does not fit its type/],
    ['a number for a pointer', ['simulate', 'k.cu', '--kernel', 'scale', '--arg', 'in=7'], /a pointer takes contents/],
    ['an alias of nothing', ['verify', 'k.cu', 'same.cu', '--arg', 'in=alias(q)'], /no kernel here has a parameter q/],
    ['three files', ['verify', 'k.cu', 'same.cu', 'other.cu'], /"other\.cu" is one too many \(divmod verify BEFORE AFTER\)/],
    ['a folder', ['verify', 'k.cu', '.'], /is a folder: verify compares two files/],
    ['too many threads', ['simulate', 'k.cu', '--launch', '1x2048'], /at most 1024 threads/],
    ['no number', ['simulate', 'k.cu', '--seed', 'x'], /--seed x: expected a whole number/],
    ['nothing that runs', ['audit', 'k.cu', '--size', '7'], /--size goes with --simulate/],
    ['nothing that runs, in apply', ['apply', '-t', 'hoist', 'k.cu', '--seed', '7'], /--seed goes with --verify/],
  ])('%s is a wrong command line', (_name, args, message) => {
    const result = divmod(args, { cwd });
    expect(result.stderr).toMatch(message);
    expect(result.code).toBe(2);
  });

  test('audit --simulate names what could not be simulated: 3', () => {
    const folder = folderWith({ 'e.cu': '__global__ void odd(int* out) {\n  out[0] = mystery(out);\n}\n__global__ void fine(int* out) { if (threadIdx.x > 3) out[threadIdx.x] = 1; }\n' });
    const result = divmod(['audit', '--simulate', 'e.cu'], { cwd: folder });
    expect(result.stderr).toMatch(/e\.cu:2: odd was not simulated: .*mystery/);
    expect(result.code).toBe(3);
  });
});
