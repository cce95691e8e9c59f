/** compact:grid beside its fixtures: gains as measured, headers and several files, checks of the runtime, the width of counts, the cases. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createAnalysis } from '../../src/analysis/analyse.js';
import { applyEdits } from '../../src/rewrite/apply-edits.js';
import { initParser } from '../../src/syntax/parser.js';
import { loadProgram } from '../../src/syntax/program.js';
import { compact } from '../../transforms/compact.js';
import { contextFor, evaluateFunction, refusals } from '../../transforms/lib/framework.js';
import { grantsInForce } from '../../transforms/lib/grants.js';
import type { Estimate, Outcome } from '../../transforms/lib/types.js';
import { applyAll, load, outcomesOf } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

type Order = 'free' | 'keep';
const asked = (order: Order) => ({ variant: 'grid', options: new Map([['order', order]]) });

function only(text: string, order: Order = 'free'): Outcome {
  const [outcome, ...more] = outcomesOf(compact, load(text), { ...asked(order), evenIfItLoses: true });
  if (outcome === undefined || more.length > 0) throw new Error(`${more.length} sites beside ${outcome?.site.summary ?? 'none'}`);
  return outcome;
}

const SIGNATURE = 'const float *__restrict__ x, const int *__restrict__ key, float *__restrict__ y, int n';
const LAUNCH = 'void run(const float *x, const int *key, float *y, int n)\n{\n    k<<<(n + 255) / 256, 256>>>(x, key, y, n);\n}\n';
const BODY = `    if (i < n && key[i] > 3) {
        float v = x[i];
        for (int k = 0; k < 64; ++k)
            v = v * 0.5f + sqrtf(v + 1.0f);
        y[i] = v;
    }
`;

describe('gains, as measured on one H200 with 4 Mi items', () => {
  const estimate = (operations: number, order: Order): Estimate => {
    const made = only(`__global__ void k(${SIGNATURE})
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (key[i] < 3) {
        float v = x[i];
        for (int t = 0; t < ${operations}; ++t)
            v = v * 0.9375f + sqrtf(v * v + 0.25f) * 0.0625f;
        y[i] = v;
    }
}
${LAUNCH}`, order).estimate;
    if (made === null) throw new Error('no estimate');
    return made;
  };

  // Operations (each a square root and what goes with it: 512 fused multiply-adds take no eighth of what they cost, memory being what it is), then the speed-up measured: 3% heavy with the counter, 3% with DeviceSelect, half of them heavy with DeviceSelect.
  test.each([[8, 0.79, 0.59, 0.54], [32, 1.76, 1.37, 0.98], [128, 4.3, 3.6, 1.48], [512, 8.4, 7.8, 1.72]])('%i operations', (operations, counter, select, half) => {
    const sign = (speedup: number): number => (speedup > 1.03 ? 1 : speedup < 0.97 ? -1 : 0);
    const free = estimate(operations, 'free');
    const keep = estimate(operations, 'keep');
    expect(sign(free.speedup)).toBe(sign(counter));
    expect(sign(keep.speedup)).toBe(sign(select));
    if (sign(half) !== 0) expect(sign(keep.low)).toBe(sign(half));
    for (const [one, measured] of [[keep.low, half]] as const) if (half < 1) expect(Math.abs(Math.log(one / measured))).toBeLessThan(Math.log(1.3));
    expect(free.pays).toBe(counter > 1.03);
    expect(keep.pays).toBe(select > 1.03);
    for (const [one, measured] of [[free.speedup, counter], [keep.speedup, select]] as const) expect(Math.abs(Math.log(one / measured))).toBeLessThan(Math.log(1.3));
    expect(free.breakEven).toMatch(/pays from a heavy part of about \d+ instructions with 3.1% active lanes \(assumed\); with the \d+ instructions that it has, .* active lanes; it takes a launch of about \d+/);
  });
});

describe('several files', () => {
  const kernel = `#include "k.cuh"\n\n__global__ void k(${SIGNATURE})\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n${BODY}}\n`;
  const header = `#pragma once\n__global__ void k(${SIGNATURE});\n`;
  const host = `#include "k.cuh"\n\n${LAUNCH}`;

  function apply(files: Readonly<Record<string, string>>, grants: ReadonlySet<string> | null = null): ReadonlyMap<string, string> {
    const paths = new Map(Object.entries(files).map(([name, text]) => [`/p/${name}`, text]));
    const program = loadProgram([...paths.keys()].filter((name) => name.endsWith('.cu')), { readFile: (name) => Buffer.from(paths.get(name) ?? '', 'utf8'), realPath: (name) => (paths.has(name) ? name : null) });
    const unit = program.units.get('/p/k.cu');
    const fn = unit?.kernels.find((one) => one.body !== null);
    if (unit === undefined || fn === undefined) throw new Error('no kernel');
    const outcome = evaluateFunction(compact, contextFor(createAnalysis(program).kernel(fn), unit, { ...asked('free'), ...(grants === null ? {} : { grants }) }))[0];
    const change = outcome?.change ?? null;
    if (outcome === undefined || change === null) throw new Error(outcome === undefined ? 'no site' : refusals(outcome).map((r) => `${r.id}: ${r.text}`).join('\n'));
    return new Map([...paths].map(([name, text]) => [name.slice(3), applyEdits(text, change.edits.filter((edit) => edit.file === name), '\n')]));
  }

  test('a kernel that a header declares goes with its declaration', () => {
    const after = apply({ 'k.cu': kernel, 'k.cuh': header, 'host.cu': host });
    expect(after.get('k.cu')).not.toMatch(/void k\(/);
    expect(after.get('k.cuh')).not.toMatch(/void k\(/);
    expect(after.get('k.cuh')).toMatch(/void k_light\(.*\);\n__global__ void k_heavy\(.*\);/s);
  });

  test('it stays where other files may include the header, and the new ones are declared beside it', () => {
    const after = apply({ 'k.cu': kernel, 'k.cuh': header, 'host.cu': host }, grantsInForce([], ['all-launches-visible']));
    expect(after.get('k.cu')).toContain(`__global__ void k(${SIGNATURE})\n`);
    expect(after.get('k.cuh')).toMatch(/void k\(.*\);\n__global__ void k_light\(.*unsigned \*items, unsigned \*count\);\n__global__ void k_heavy\(.*\);/s);
    expect(after.get('host.cu')).toMatch(/k_light<<<.*k_heavy<<</s);
  });

  test('a launch in another file is rewritten there', () => {
    const after = apply({ 'k.cu': kernel.replace('#include "k.cuh"\n\n', ''), 'host.cu': host.replace('#include "k.cuh"\n', `__global__ void k(${SIGNATURE});\n`) });
    expect(after.get('k.cu')).not.toMatch(/void k\(/);
    expect(after.get('host.cu')).toMatch(/void k_light\(.*void k_heavy\(.*k_light<<<.*k_heavy<<</s);
  });
});

describe('a launch of no blocks', () => {
  const hostOf = (grid: string): string => applyAll(compact, `__global__ void k(${SIGNATURE})\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n${BODY}}\n\nvoid run(const float *x, const int *key, float *y, int n, unsigned u, dim3 g)\n{\n    k<<<${grid}, 256>>>(x, key, y, n);\n}\n`, asked('free')).text.replace(/^[\s\S]*void run/, '');
  test.each([
    ['n', 'if (n > 0) {'], ['(n + 255) / 256', 'if (blocks > 0) {'], ['(u + 255) / 256', 'if (blocks > 0) {'], ['dim3((n + 255) / 256)', 'if (blocks_x > 0) {'],
  ])('%s: memory is taken under a test', (grid, head) => {
    const text = hostOf(grid);
    expect(text).toContain(head);
    expect(text.indexOf(head)).toBeLessThan(text.indexOf('cudaMallocAsync'));
    // Nothing is launched or taken outside of it.
    expect(text.slice(text.indexOf(head)).replace(/^.*\{/, '').split('\n').filter((line) => /cuda|<<</.test(line)).every((line) => line.startsWith('            '))).toBe(true);
    expect(text.match(/> 0/g)).toHaveLength(1);
  });

  test('a grid that is there is not asked for', () => {
    expect(hostOf('64')).not.toContain('> 0');
    expect(hostOf('dim3(64)')).not.toContain('> 0');
  });
});

describe('calls of the runtime', () => {
  const withHost = (host: string, order: Order = 'free'): string => {
    const text = `__global__ void k(${SIGNATURE})\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n${BODY}}\n\n${host}`;
    return applyAll(compact, text, { ...asked(order), evenIfItLoses: true }).text;
  };
  const launch = 'k<<<(n + 255) / 256, 256, 0, s>>>(x, key, y, n);';
  const parameters = 'const float *x, const int *key, float *y, int n, cudaStream_t s';

  test('are checked by the function that the neighbours are checked by', () => {
    const text = withHost(`void must(cudaError_t e);\nvoid run(${parameters})\n{\n    must(cudaStreamSynchronize(s));\n    ${launch}\n}\n`);
    expect(text).toContain('must(cudaMallocAsync(&items, sizeof(unsigned) * capacity, s));');
    expect(text).toContain('must(cudaFreeAsync(items, s));');
  });

  test('stand bare where nobody checks', () => {
    expect(withHost(`void run(${parameters})\n{\n    cudaStreamSynchronize(s);\n    ${launch}\n}\n`)).toContain('    cudaMallocAsync(&items,');
  });

  test('do nothing with memory that is not there, where nobody checks', () => {
    const bare = withHost(`void run(${parameters})\n{\n    ${launch}\n}\n`);
    const guard = bare.indexOf('if (items != nullptr && count != nullptr) {');
    expect(guard).toBeGreaterThan(bare.lastIndexOf('cudaMallocAsync'));
    // All work stands in the block, and what was taken goes back in any case.
    const close = bare.indexOf(`\n${/ *$/.exec(bare.slice(0, guard))?.[0] ?? ''}}`, guard);
    const inside = bare.slice(guard, close);
    for (const work of ['cudaMemsetAsync(', '_light<<<', '_heavy<<<']) expect(inside).toContain(work);
    expect(bare.slice(close).match(/cudaFreeAsync/g)).toHaveLength(2);
    expect(bare.match(/<<</g)).toHaveLength(2);
    // A macro or function of the code around does that itself.
    expect(withHost(`void must(cudaError_t e);\nvoid run(${parameters})\n{\n    must(cudaStreamSynchronize(s));\n    ${launch}\n}\n`)).not.toContain('!= nullptr');
  });

  test('take the storage of a library pass before all work', () => {
    const text = withHost(`void run(${parameters})\n{\n    ${launch}\n}\n`, 'keep');
    const guard = text.indexOf('if (flags != nullptr && items != nullptr && count != nullptr && storage != nullptr) {');
    expect(guard).toBeGreaterThan(text.indexOf('cudaMallocAsync(&storage'));
    expect(text.slice(guard).match(/DeviceSelect::Flagged/g)).toHaveLength(1);
    expect(text.slice(0, guard)).not.toContain('<<<');
  });

  test('lean on no name that the host code may have given away', () => {
    expect(withHost(`void run(${parameters})\n{\n    int min = 3, max = min;\n    (void)max;\n    ${launch}\n}\n`)).toContain('heavy_blocks = blocks < 2048 ? blocks : 2048;');
  });

  test('are not wrapped in what takes more than the answer', () => {
    expect(withHost(`void must(cudaError_t e, int line);\nvoid run(${parameters})\n{\n    must(cudaStreamSynchronize(s), 3);\n    ${launch}\n}\n`)).toContain('    cudaMallocAsync(&items,');
  });
});

test.each([
  ['int i = blockIdx.x * blockDim.x + threadIdx.x', '(n + 255) / 256', 'unsigned *items, unsigned *count'],
  ['unsigned i = blockIdx.x * blockDim.x + threadIdx.x', '(n + 255) / 256', 'unsigned *items, unsigned long long *count'],
  ['size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x', '(n + 255) / 256', 'unsigned long long *items, unsigned long long *count'],
  ['size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x', '64', 'unsigned *items, unsigned *count'],
])('%s in %s blocks is counted with %s', (index, blocks, types) => {
  const text = `__global__ void k(${SIGNATURE})\n{\n    ${index};\n${BODY}}\n${LAUNCH.replace('(n + 255) / 256', blocks)}`;
  expect(applyAll(compact, text, asked('free')).text).toContain(`int n, ${types})`);
});

test('an order that means nothing is refused', () => {
  const text = `__global__ void k(${SIGNATURE})\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n${BODY}}\n${LAUNCH}`;
  const [outcome] = outcomesOf(compact, load(text), { variant: 'grid', options: new Map([['order', 'stable']]) });
  expect(outcome?.status).toBe('refused');
  expect(outcome === undefined ? [] : refusals(outcome).map(({ id, remedy }) => [id, remedy])).toEqual([['order-free', 'order=free or order=keep']]);
});

test('marks are not listed again, however much is carried', () => {
  const text = `__global__ void k(float *x, const int *__restrict__ key, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = x[i], b = a * 2.0f, c = x[i + n];
    x[i] = b;
    x[i + n] = a;
    if (key[i] > 3) {
        y[i] = a;
    } else {
        float v = a + c;
        for (int t = 0; t < 64; ++t)
            v = v * 0.5f + sqrtf(v + b);
        y[i] = v;
    }
}
${LAUNCH.replace('const float *x', 'float *x')}`;
  const run = applyAll(compact, text, { ...asked('keep'), evenIfItLoses: true });
  expect(run.rounds).toBe(1);
  expect(run.text).toMatch(/a_of\[i\] = a;.*flags\[i\] = 1;/s);
});

describe('what the cases say of compact holds for the variant', () => {
  const folder = path.join(process.cwd(), 'fixtures/cases');
  interface Expected { readonly transform: string; readonly line: number; readonly verdict: string }
  const cases = readdirSync(folder).filter((name) => name.endsWith('.expect.json')).flatMap((name) => {
    const { transforms } = JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as { transforms: Expected[] };
    return transforms.filter((one) => one.transform === 'compact' && one.verdict === 'refuse').map(({ line }) => [name.replace('.expect.json', ''), line] as const);
  });

  test.each(cases)('%s, line %i', (name, line) => {
    const text = readFileSync(path.join(folder, `${name}.cu`), 'utf8').replace(/^\uFEFF/, '');
    for (const order of ['free', 'keep'] as const) {
      const applied = outcomesOf(compact, load(text), asked(order)).filter((outcome) => outcome.status === 'applied' && outcome.site.line === line);
      expect(applied.map((outcome) => outcome.site.summary)).toEqual([]);
    }
  });
});

describe('macros of the program', () => {
  const body = '__global__ void k(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && x[i] > 0.5f) { float v = x[i]; for (int q = 0; q < 64; ++q) v = v * 0.75f + sqrtf(fabsf(v)); y[i] = v; } }\n';
  const written = (text: string): string => applyAll(compact, text, { ...asked('free'), evenIfItLoses: true }).text;
  const LAUNCH_ALONE = 'k<<<(n + 255) / 256, 256>>>(x, y, n);';

  test('a check that ends the function is used in the function itself', () => {
    expect(written(`#define CK(e) do { cudaError_t z = (e); if (z != cudaSuccess) return; } while (0)\n${body}void run(const float *x, float *y, int n) { CK(cudaGetLastError()); ${LAUNCH_ALONE} }\n`)).toContain('CK(cudaMallocAsync(&items,');
  });

  test('a variable that the check declares is none of ours', () => {
    const text = written(`#define CK(e) do { cudaError_t count = (e); if (count != cudaSuccess) return; } while (0)\n${body}void run(const float *x, float *y, int n) { CK(cudaGetLastError()); ${LAUNCH_ALONE} }\n`);
    expect(text).toContain('CK(cudaMallocAsync(&count2,');
  });

  test.each([
    ['a lambda', 'do { cudaError_t z = (e); if (z != cudaSuccess) return z; } while (0)', `cudaError_t run(const float *x, float *y, int n) { CK(cudaGetLastError()); auto f = [&] { ${LAUNCH_ALONE} }; f(); return cudaSuccess; }`],
    ['a variable declared behind', 'err = (e); if (err != cudaSuccess) return', `void run(const float *x, float *y, int n) { ${LAUNCH_ALONE} cudaError_t err; CK(cudaGetLastError()); }`],
    ['a break', 'if ((e) != cudaSuccess) break', `void run(const float *x, float *y, int n) { while (n-- > 0) { CK(cudaGetLastError()); } ${LAUNCH_ALONE} }`],
    ['a goto', 'if (cudaError_t z = (e)) { rc = z; goto out; }', `int run(const float *x, float *y, int n) { { int rc = 0; CK(cudaGetLastError()); out: if (rc) return rc; } ${LAUNCH_ALONE} return 0; }`],
  ])('the check does not fit: %s', (_, macro, run) => {
    const text = written(`#define CK(e) ${macro}\n${body}${run}\n`);
    expect(text).toContain('cudaMallocAsync(&items');
    expect(text).not.toContain('CK(cudaMallocAsync');
    expect(text).toContain('items != nullptr');
  });

  test('names of the new kernels are no macros', () => {
    const text = written(`#define own 1\n#define sum(a, b) ((a) + (b))\n#define warp 32\n#define thread 3\n#define votes 2\n${body}void run(const float *x, float *y, int n) { ${LAUNCH_ALONE} }\n`);
    for (const name of ['own2', 'sum2', 'warp2', 'thread2', 'votes2']) expect(text).toContain(name);
  });
});
