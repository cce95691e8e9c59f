/** What users get wrong, and what they get for it: a clear message, the exit code of docs/interface.md, the other files done. */
import { describe, expect, test } from '@jest/globals';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { divmod, folderWith, HOISTABLE } from './run-cli.js';

const good = `__global__ void fine(float *a, int n) { int i = threadIdx.x; if (i < n) a[i] = 0.0f; }\n`;

describe('files', () => {
  test('a missing file alone: nothing could be read', () => {
    const result = divmod(['audit', 'gone.cu'], { cwd: folderWith({}) });
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('gone.cu: no such file');
    expect(result.stdout).toBe('');
  });

  test('a missing file among others: the others are done', () => {
    const result = divmod(['audit', '--format', 'json', 'gone.cu', 'good.cu'], { cwd: folderWith({ 'good.cu': good }) });
    expect(result.code).toBe(3);
    expect(result.stderr).toContain('gone.cu: no such file');
    const audit = JSON.parse(result.stdout) as { files: { path: string; status: string; kernels: { name: string }[] }[] };
    expect(audit.files.map((file) => [file.path, file.status])).toEqual([['good.cu', 'ok'], ['gone.cu', 'failed']]);
    expect(audit.files[0]?.kernels.map((kernel) => kernel.name)).toEqual(['fine']);
  });

  test('a binary file is named as such', () => {
    const cwd = folderWith({ 'bin.cu': Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]), 'good.cu': good });
    const alone = divmod(['audit', 'bin.cu'], { cwd });
    expect(alone.code).toBe(2);
    expect(alone.stderr).toMatch(/bin\.cu: .*not text/);
    expect(divmod(['audit', 'bin.cu', 'good.cu'], { cwd }).code).toBe(3);
  });

  test('an empty file is read, and holds nothing', () => {
    const result = divmod(['audit', 'empty.cu'], { cwd: folderWith({ 'empty.cu': '' }) });
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('0 branches in 0 kernels');
  });

  test('a folder without CUDA', () => {
    const result = divmod(['audit', '.'], { cwd: folderWith({ 'main.cpp': 'int main() {}\n' }) });
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('no CUDA sources');
  });

  test('a pattern that matches nothing', () => {
    const result = divmod(['audit', 'src/**/*.cu'], { cwd: folderWith({}) });
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('no file matches');
  });

  test('unbalanced braces: said with a line, the neighbour file is done', () => {
    const cwd = folderWith({ 'bad.cu': '__global__ void k(int *a) {\n  if (a[0]) {\n    a[1] = 2;\n', 'good.cu': good });
    const result = divmod(['audit', '--format', 'json', 'bad.cu', 'good.cu'], { cwd });
    expect(result.code).toBe(3);
    const audit = JSON.parse(result.stdout) as { files: { path: string; status: string; kernels: { name: string; understood: boolean }[] }[] };
    expect(audit.files.find((file) => file.path === 'good.cu')?.status).toBe('ok');
    expect(audit.files.find((file) => file.path === 'bad.cu')?.status).not.toBe('ok');
  });

  test('10,000 nested parentheses neither crash nor hang', () => {
    const deep = `__global__ void k(int *a) { a[0] = ${'('.repeat(10_000)}1${')'.repeat(10_000)}; }\n${good}`;
    const result = divmod(['audit', 'deep.cu'], { cwd: folderWith({ 'deep.cu': deep }) });
    expect([0, 3]).toContain(result.code);
    expect(result.stdout).toContain('fine');
  });

  test('a line of 10 MB', () => {
    const long = `${good}static const char text[] = "${'x'.repeat(10_000_000)}";\n`;
    const result = divmod(['audit', 'long.cu'], { cwd: folderWith({ 'long.cu': long }) });
    expect([0, 3]).toContain(result.code);
    expect(result.stdout).toContain('fine');
  }, 120_000);

  test('a file that may not be read', () => {
    if (process.getuid?.() === 0) return;
    const cwd = folderWith({ 'secret.cu': good });
    chmodSync(join(cwd, 'secret.cu'), 0);
    expect(divmod(['audit', 'secret.cu'], { cwd }).stderr).toContain('permission denied');
  });
});

describe('words', () => {
  const cwd = folderWith({ 'good.cu': good, 'h.cu': HOISTABLE, 'one.cu': '__global__ void one(int *a) { a[0] = 1; }\n' });
  test.each([
    [['explain', 'one.cu:2'], 'one.cu has 1 line; there is no line 2'],
    [['audti', '.'], 'unknown command "audti" (did you mean "audit"?)'],
    [['audit', '--kernal', 'x', '.'], 'unknown option --kernal (did you mean "--kernel"?)'],
    [['explain', '-:4'], 'explain -:4: standard input cannot be explained; give FILE:LINE'],
    [['apply', '--transform', 'hosit', 'h.cu'], 'unknown transform "hosit" (did you mean "hoist"?)'],
    [['apply', '--transform', 'hoist', '--kernel', 'scael', 'h.cu'], 'no kernel is called "scael" (did you mean "scale"?)'],
    [['audit', '--kernel', 'fien', 'good.cu'], 'no kernel is called "fien" (did you mean "fine"?)'],
    [['apply', 'h.cu'], 'which transform?'],
    [['apply', '--transform', 'hoist', '--allow', 'noalais', 'h.cu'], 'unknown grant "noalais" (did you mean "noalias"?)'],
    [['audit', '--format', 'jsn', 'good.cu'], '(did you mean "json"?)'],
    [['audit', '--block', '4096', 'good.cu'], 'more than 1024 threads'],
    [['audit', '--arch', 'foo', 'good.cu'], '"arch" must be an architecture such as "sm_90", not "foo"'],
    [['audit', '--shard', '3/2', 'good.cu'], 'expected i/n'],
    [['audit', '--fail-on', 'dta', 'good.cu'], '(did you mean "data"?)'],
    [['audit', '--config', 'none.json', 'good.cu'], 'no such file'],
    [['apply', '--transform', 'hoist', '--at', 'x', 'h.cu'], 'expected a whole number'],
    [['apply', '--transform', 'hoist', '--write', '--check', 'h.cu'], 'contradicts'],
    [['explain', 'good.cu'], 'expected FILE:LINE'],
    [['explain', 'good.cu:999'], 'there is no line 999'],
    [['transforms', 'peeel'], 'unknown transform "peeel"'],
    [['merge', 'good.cu'], 'good.cu'],
    [[], 'which command?'],
  ])('%j', (args, message) => {
    const result = divmod(args, { cwd });
    expect(result.stderr).toContain(message);
    expect(result.code).toBe(2);
    expect(result.stdout).toBe('');
  });

  test('nothing was written by any of this', () => {
    expect(readFileSync(join(cwd, 'h.cu'), 'utf8')).toBe(HOISTABLE);
  });
});

test('bare carriage returns for line ends: said, since a comment takes the rest of the file with it', () => {
  const cwd = folderWith({ 'old.cu': `// one line\n${good}`.replace(/\n/g, '\r') });
  const result = divmod(['audit', '--format', 'json', 'old.cu'], { cwd });
  expect(result.code).toBe(3);
  expect(result.stderr).toContain('carriage returns');
});

const UNFAVOURED = '__global__ void k(const float *a, float *o, int n, bool f) {\n  float s = 0.f;\n  for (int k = 0; k < n; ++k) {\n    if (f) s += a[k]; else s -= a[k];\n  }\n  o[threadIdx.x] = s;\n}\n';

test.each([
  ['all lines', UNFAVOURED.replace(/\n/g, '\r')],
  ['most lines', UNFAVOURED.replace(/\n/g, (_, at: number) => (at < 60 ? '\n' : '\r'))],
])('a file of which %s end in bare carriage returns is not edited: the edit would bring in newlines', (_, text) => {
  const cwd = folderWith({ 'old.cu': text });
  const result = divmod(['apply', '--transform', 'hoist', '--write', 'old.cu'], { cwd });
  expect(result.stderr).toContain('lines end in bare carriage returns');
  expect(result.code).toBe(3);
  expect(readFileSync(join(cwd, 'old.cu'), 'utf8')).toBe(text);
});

test.each([
  ['comment in front of all', `/* oops\n${good}`, 1, '`/*` without `*/`'],
  ['comment behind all', `${good}/* oops\n`, good.split('\n').length, '`/*` without `*/`'],
  ['comment of three characters', `${good}/*/`, good.split('\n').length, '`/*` without `*/`'],
  ['raw string', `const char *s = R"x(\n)";\n${good}`, 1, 'raw string without an end'],
])('a %s that does not end is not passed over', (_, text, line, message) => {
  const cwd = folderWith({ 'k.cu': text });
  const result = divmod(['audit', '--format', 'json', 'k.cu'], { cwd });
  expect(result.code).toBe(3);
  expect((JSON.parse(result.stdout) as { files: unknown[] }).files[0]).toMatchObject({ status: 'partial', problems: expect.arrayContaining([{ line, message: expect.stringContaining(message) }]) });
  expect(result.stderr).toContain(`k.cu:${line}: not everything was understood`);
  const applied = divmod(['apply', '--transform', 'hoist', 'k.cu'], { cwd });
  expect([applied.code, applied.stderr]).toEqual([3, expect.stringContaining(message)]);
});

test('comments and raw strings that end are no such thing, whatever stands in them', () => {
  const text = `const char *s = R"x()" /* )x";\nconst char *t = "/*", *u = "R\\"x(";\n// /* no\n${good}/**/`;
  const result = divmod(['audit', 'k.cu'], { cwd: folderWith({ 'k.cu': text }) });
  expect([result.code, result.stderr]).toEqual([0, '']);
});

test('a folder of --include that is not there is said', () => {
  const cwd = folderWith({ 'k.cu': good, 'inc/a.cuh': '' });
  expect(divmod(['audit', '--include', 'nope', '--include', 'inc', '--include', 'k.cu', 'k.cu'], { cwd }).stderr).toBe('warning: --include nope: there is no such folder\nwarning: --include k.cu: there is no such folder\n');
});

test.each([
  ['is no C++', 'this is { not c++', 1],
  ['is prose', 'Dear reader,\nthis (as you see) is a letter.\n', 2],
  ['is cut off', 'struct S {\n  int a;\n', 1],
])('text that %s, and in which nothing is defined, is not passed over', (_, text, line) => {
  const result = divmod(['audit', '--format', 'json', 'k.cu'], { cwd: folderWith({ 'k.cu': text }) });
  expect(result.code).toBe(3);
  const audit = JSON.parse(result.stdout) as { files: { status: string; problems: { line: number; message: string }[] }[] };
  expect(audit.files[0]?.status).toBe('partial');
  expect(audit.files[0]?.problems[0]?.message).toMatch(/not understood/);
  expect(audit.files[0]?.problems[0]?.line).toBe(line);
});

test.each(['', '// nothing\n', '#pragma once\n#define N 3\nextern const float w[N];\nstruct S { int a; };\n'])('a file without code of its own is understood: %j', (text) => {
  expect(divmod(['audit', 'k.cu'], { cwd: folderWith({ 'k.cu': text }) }).code).toBe(0);
});

test.each([
  ['a conditional that nothing ends', `${good}#if A\n__global__ void lost(int *a) { if (a[threadIdx.x]) a[0] = 1; }\n`, /#if. without .#endif/],
  ['a device function that does not parse', `__device__ int helper(int a) { if (a > 3) { return a +* ; } return 2 }\n__global__ void k(int *x) { x[0] = helper(threadIdx.x); }\n`, /./],
])('%s makes the audit incomplete', (_, text, message) => {
  const result = divmod(['audit', '--format', 'json', 'k.cu'], { cwd: folderWith({ 'k.cu': text }) });
  expect(result.code).toBe(3);
  const audit = JSON.parse(result.stdout) as { files: { status: string; problems: { message: string }[] }[] };
  expect(audit.files[0]?.status).toBe('partial');
  expect(audit.files[0]?.problems[0]?.message).toMatch(message);
});

describe('limits', () => {
  const deep: Readonly<Record<string, string>> = {
    'blocks': `${'{'.repeat(2000)}if (i > n) a[i] = 1;${'}'.repeat(2000)}`,
    'parentheses': `a[i] = ${'('.repeat(2000)}n${')'.repeat(2000)};`,
    'ifs': `${'if (i > n) '.repeat(2000)}a[i] = 1;`,
    'else-ifs': `if (i > n) a[i] = 0;${Array.from({ length: 3000 }, (_, j) => ` else if (i > ${j}) a[i] = ${j};`).join('\n')}`,
    'a long sum': `a[i] = ${'n + '.repeat(5000)}n;`,
    'loops': `${'for (;;) '.repeat(2000)}a[i] = 1;`,
  };
  test.each(Object.keys(deep))('%s beyond what can be analysed are left out, and that is said', (name) => {
    const cwd = folderWith({ 'deep.cu': `__global__ void k(int *a, int n) { int i = threadIdx.x;\n${deep[name] ?? ''}\n}\n`, 'good.cu': good });
    const result = divmod(['audit', '--format', 'json', '.'], { cwd });
    expect(result.code).toBe(3);
    const audit = JSON.parse(result.stdout) as { files: { path: string; status: string; problems: { message: string }[] }[] };
    expect(audit.files.map((file) => [file.path, file.status])).toEqual([['deep.cu', 'partial'], ['good.cu', 'ok']]);
    expect(audit.files[0]?.problems[0]?.message).toMatch(/left out/);
    expect(divmod(['apply', '--transform', 'hoist', 'deep.cu'], { cwd }).code).toBe(3);
  });

  test('where the stack ends the run is incomplete, not broken; every file has its entry', () => {
    const calls = `${Array.from({ length: 4000 }, (_, j) => `__device__ int f${3999 - j}(int a) { if (a > ${j}) return ${j === 0 ? 'a' : `f${4000 - j}(a)`}; return a; }`).join('\n')}\n`;
    const cwd = folderWith({ 'a/deep.cu': `${calls}__global__ void k(int *a) { a[0] = f0(threadIdx.x); }\n`, 'b/nested.cu': `${'#if A\n'.repeat(6000)}${good}${'#endif\n'.repeat(6000)}`, 'c/good.cu': good });
    const result = divmod(['audit', '--format', 'json', '.'], { cwd });
    expect(result.code).toBe(3);
    expect(result.stderr).toContain('nested too deeply');
    expect(result.stderr).not.toContain('internal error');
    const audit = JSON.parse(result.stdout) as { files: { path: string; status: string }[] };
    expect(audit.files.map((file) => file.path).sort()).toEqual(['a/deep.cu', 'b/nested.cu', 'c/good.cu']);
  });
});

describe('assumptions that would have no effect are refused', () => {
  test.each(['p@5=2', 'p@5=', 'p@0=0.5', 'trip@3=x', 'q@5=1', 'n=4', 'p=0.5'])('%s', (assumption) => {
    const result = divmod(['audit', '--assume', assumption, 'good.cu'], { cwd: folderWith({ 'good.cu': good }) });
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('--assume');
    expect(result.stdout).toBe('');
  });
  test.each(['p@1=0.03', 'p@1=3%', 'trip@1=64'])('%s is one', (assumption) => {
    expect(divmod(['audit', '--assume', assumption, 'good.cu'], { cwd: folderWith({ 'good.cu': good }) }).code).toBe(0);
  });
});

describe('reports that are read again', () => {
  test.each([
    [['merge', 'good.json', 'gone.json'], 'gone.json: no such file'],
    [['merge', 'folder'], 'folder: is a folder, not a file'],
    [['merge', 'torn.json'], 'torn.json: no valid JSON'],
    [['audit', '--baseline', 'gone.json', 'good.cu'], '--baseline gone.json: no such file'],
    [['audit', '--baseline', 'torn.json', 'good.cu'], '--baseline torn.json: no valid JSON'],
  ])('%j', (args, message) => {
    const cwd = folderWith({ 'good.cu': good, 'good.json': '{"tool":"divmod","schema":1,"files":[]}', 'torn.json': '{"tool":', 'folder/x.cu': good });
    const result = divmod(args, { cwd });
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(message);
    expect(result.stderr).not.toMatch(/ENOENT|EISDIR/);
    expect(result.stdout).toBe('');
  });
});
