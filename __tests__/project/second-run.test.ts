/**
 * After a run with any set of transforms a second run with the same set plans nothing, though the question of loss is switched off: no transform takes up
 * what another has made of its own output, kernels stay few, and nothing is said twice over.
 */
import { expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Project } from '../../src/index.js';
import { temporaryFolder } from '../helpers/temporary.js';

const NAMES = ['hoist', 'peel', 'ballot', 'compact', 'split', 'compact:grid'];
const SETS = [
  ...NAMES.map((name) => [name]),
  ...NAMES.flatMap((name, i) => NAMES.slice(i + 1).filter((other) => !other.startsWith(name)).map((other) => [name, other])),
  ['hoist', 'peel', 'split'],
  ['hoist', 'peel', 'ballot', 'compact', 'split'],
];

const HEAD = '__global__ void f(const float *a, float *o, int n, int m, int k, int mode) {\n    int t = blockIdx.x * blockDim.x + threadIdx.x;\n    float s = 0.f;\n';
const TAIL = '    o[t] = s;\n}\nvoid run(const float *a, float *o, int n, int m, int k, int mode) {\n    f<<<64, 128>>>(a, o, n, m, k, mode);\n}\n';

/** Bodies of kernels whose guards the launch decides, in part or whole. */
const BODIES: Readonly<Record<string, string>> = {
  'two conjuncts, one decided for all iterations': `
    for (int i = 0; i < 64; i += 16) {
        if (i < n && t < m) s += a[i];
    }`,
  'the bound of the loop against another size': `
    for (int i = 0; i < k; i += 16) {
        int row = t * 16;
        int column = i;
        if (row < m && column < k && row < k && column < n) s += a[row + column];
    }`,
  'constant trips': `
    for (int i = 0; i < 8; i++) {
        if (i < n && i < m) s += a[i];
    }`,
  'constant trips, and a test for hoist': `
    for (int i = 0; i < 8; i++) {
        if (i < n && i < m && mode > 2) s += a[i];
    }`,
  'a nest whose inner loop is decided, and a test for hoist': `
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < 8; i++) {
            if (mode > 2 && i < n) s += a[i + j];
        }
    }`,
  'a window': `
    for (int i = -2; i <= 2; i++) {
        if (k + i >= 0 && k + i < n) s += a[k + i];
    }`,
  'in a loop': `
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < 8; i++) {
            if (i < n && j < k) s += a[i + j];
        }
    }`,
  'two loops that ask the same': `
    for (int i = 0; i < 8; i++) {
        if (i < n) s += a[i];
    }
    for (int i = 0; i < 8; i++) {
        if (i < n && t < m) s += a[i + m];
    }`,
  'a loop below a test of the same sizes': `
    if (n > 7) s = 1.f; else s = a[m];
    for (int i = 0; i < 8; i++) {
        if (i < n && t < m) s += a[i];
    }`,
  'a branch of the launch with a guarded loop in each arm': `
    if (mode == 1) {
        for (int i = 0; i < 8; i++) { if (i < n && i < m) s += a[i]; }
    } else {
        for (int i = 0; i < 4; i++) { if (i < k) s -= a[i]; }
    }`,
  'a guard of the block': `
    for (int i = 0; i < 8; i++) {
        if (blockIdx.x + i < n && t < m) s += a[i];
    }`,
  'work that few do': `
    for (int i = 0; i < k; i++) {
        if (i < n && a[i] > 0.5f) { for (int j = 0; j < 32; j++) s += sqrtf(a[i] + j) * sinf(s); }
    }`,
  'a decision of the launch in the loop': `
    for (int i = 0; i < k; i++) {
        if (mode > 1 && i < n && m > 3) s += a[i]; else s -= 1.f;
    }`,
};

async function open(text: string): Promise<{ readonly project: Project; readonly read: () => string }> {
  const cwd = temporaryFolder('divmod-second-');
  const path = join(cwd, 'a.cu');
  writeFileSync(path, text);
  return { project: await Project.open({ include: ['a.cu'], cwd, settings: {} }), read: () => readFileSync(path, 'utf8') };
}

/** The text after a run, and what a second run plans. */
async function twice(text: string, transforms: readonly string[]): Promise<{ readonly text: string; readonly made: readonly string[]; readonly again: readonly string[] }> {
  const first = await open(text);
  const made = first.project.apply(transforms, { evenIfItLoses: true });
  expect(made.faults).toEqual([]);
  await first.project.save();
  const after = first.read();
  // A project of its own: what the first one knows of its edits, a second run of the program does not.
  const second = await open(after);
  const applied = ({ sites }: typeof made): readonly string[] => sites.filter((site) => site.status === 'applied').map((site) => `${site.transform}: ${site.summary}`);
  return { text: after, made: applied(made), again: applied(second.project.apply(transforms, { evenIfItLoses: true })) };
}

/** Comments that stand twice in one run of comment lines. */
function repeated(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line, i) => line.startsWith('//') && lines[i - 1] === line);
}

test.each(Object.entries(BODIES))('%s: a second run plans nothing, whatever the transforms', async (_title, body) => {
  const text = `${HEAD}${body.slice(1)}\n${TAIL}`;
  for (const transforms of SETS) {
    const result = await twice(text, transforms);
    const kernels = result.text.split('__global__').length - 1;
    const where = `${transforms.join()}:`;
    expect([where, ...result.again]).toEqual([where]);
    expect([where, ...repeated(result.text)]).toEqual([where]);
    expect([where, kernels <= 6]).toEqual([where, true]);
    expect(result.text).not.toMatch(/f_(?:\w*_)?(\w{4,})_\1\b/);
  }
}, 120_000);

test('two versions of a loop are not divided, and what the user tells apart is', async () => {
  const of = (branch: string): string => `${HEAD}${branch}\n${TAIL}`;
  const divides = async (branch: string): Promise<boolean> => (await twice(of(branch), ['split'])).made.length > 0;
  const guarded = 'for (int i = 0; i < 8; i++) { if (i < n) s += a[i]; }';
  const plain = 'for (int i = 0; i < 8; i++) s += a[i];';
  expect(await divides(`    if (n >= 8) ${plain} else ${guarded}`)).toBe(false);
  expect(await divides(`    if (n < 8) ${guarded} else ${plain}`)).toBe(false);
  expect(await divides(`    const bool interior = n >= 8 && m > 3;\n    if (interior) ${plain} else ${guarded}`)).toBe(false);
  expect(await divides(`    if (n >= 8) for (int j = 0; j < m; j++) { ${plain} } else for (int j = 0; j < m; j++) { ${guarded} }`)).toBe(false);
  // Roles whose loops do other rounds.
  expect(await divides('    if (n >= 8) { float part = 0.f; for (int i = 0; i < 16; i++) part += a[i]; s = part; } else { for (int i = 0; i < 8; i++) { if (i < n) s += a[i]; } }')).toBe(true);
  // A flag, loops over other data, a loop of another step, arms that are alike but for what they compute.
  expect(await divides(`    if (mode == 1) ${plain} else ${guarded}`)).toBe(true);
  expect(await divides(`    if (k >= 8) for (int i = 0; i < 8; i++) s += o[i]; else ${guarded}`)).toBe(true);
  expect(await divides(`    if (k >= 8) for (int i = 0; i < 8; i += 2) s += a[i]; else ${guarded}`)).toBe(true);
  expect(await divides(`    if (k >= 8) ${plain} else for (int i = 0; i < 8; i++) s -= a[i];`)).toBe(true);
});
