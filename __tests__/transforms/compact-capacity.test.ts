/** How long the queues of compact:block are: in the source's own words where every launch is. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { compact } from '../../transforms/compact.js';
import { applyAll } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const KERNEL = `__global__ void k(const float *x, float *y, int n) {
    int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    float v = x[i];
    if (v > 0.5f) {
        for (int j = 0; j < 40; ++j) v = v * 0.5f + sqrtf(fabsf(v) + 1.0f);
        y[i] = v;
    }
}
`;

function lengths(head: string, launches: string, behind = ''): readonly string[] {
  const { text } = applyAll(compact, `${head}${KERNEL}${behind}void f(const float *x, float *y, int n) { ${launches} }\n`, { evenIfItLoses: true });
  return [/queue_v\[([^\]]*)\]/.exec(text)?.[1] ?? '', /activeInWarp\[([^\]]*)\]/.exec(text)?.[1] ?? ''];
}

describe('the length of a queue', () => {
  test.each([
    ['a macro', '#define BLK 256\n', 'k<<<n, BLK>>>(x, y, n);', 'BLK'],
    ['through variables', '#define BLK 256\n', 'int threads = BLK; dim3 block(BLK); k<<<n, threads>>>(x, y, n); k<<<n, block>>>(x, y, n);', 'BLK'],
    ['two sides', '#define BX 32\n#define BY (4)\n', 'k<<<n, dim3(BX, BY)>>>(x, y, n);', 'BX * BY'],
    ['a macro that a build may replace', '#ifndef BLK\n#define BLK 256\n#endif\n', 'k<<<n, BLK>>>(x, y, n);', 'BLK'],
    ['a constant', 'constexpr int kThreads = 128;\n', 'k<<<n, kThreads>>>(x, y, n);', 'kThreads'],
    ['a constant of a macro, through variables', '#ifndef BLK\n#define BLK 64\n#endif\nstatic const int kThreads = BLK * 2;\n', 'const int threads = kThreads; dim3 block(kThreads); k<<<n, threads>>>(x, y, n); k<<<n, block>>>(x, y, n);', 'kThreads'],
    ['a constant and a macro', 'const unsigned kX = 32;\n#define BY 4\n', 'k<<<n, dim3(kX, BY)>>>(x, y, n);', 'kX * BY'],
  ])('is spelled: %s', (_name, head, launches, name) => {
    expect(lengths(head, launches)).toEqual([name, `(${name} + 31) / 32`]);
  });

  test.each([
    ['no macro', '', 'k<<<n, 256>>>(x, y, n);', '256'],
    ['a constant of a namespace', 'namespace sizes { constexpr int kThreads = 128; }\nusing namespace sizes;\n', 'k<<<n, kThreads>>>(x, y, n);', '128'],
    ['a constant that a macro hides', 'constexpr int kThreads = 128;\n', 'k<<<n, kThreads>>>(x, y, n);\n#define kThreads 3\n', '128'],
    ['a variable', 'int threads = 128;\n', 'k<<<n, threads>>>(x, y, n);', '1024'],
    ['a macro of two builds', '#ifdef SMALL\n#define BLK 64\n#else\n#define BLK 256\n#endif\n', 'k<<<n, BLK>>>(x, y, n);', '1024'],
    ['two names', '#define BLK 256\n#define TPB 128\n', 'k<<<n, BLK>>>(x, y, n); k<<<n, TPB>>>(x, y, n);', '256'],
    ['a name and a number', '#define BLK 256\n', 'k<<<n, BLK>>>(x, y, n); k<<<n, 512>>>(x, y, n);', '512'],
    ['a sum without parentheses', '#define BLK 128 + 128\n', 'k<<<n, BLK>>>(x, y, n);', '256'],
    ['a variable that is written again', '#define BLK 256\n', 'int threads = BLK; if (n > 4) threads = 64; k<<<n, threads>>>(x, y, n);', '256'],
  ])('is a number: %s', (_name, head, launches, number) => {
    expect(lengths(head, launches)).toEqual([number, `${Number(number) / 32}`]);
  });

  test.each([
    ['a variable', 'constexpr int v = 128;\n', 'k<<<n, v>>>(x, y, n);', '', '::v'],
    ['a constant of its namespace', 'constexpr int BLK = 128;\nnamespace z { constexpr int BLK = 32;\n', 'z::k<<<n, BLK>>>(x, y, n);', '}\n', '::BLK'],
    ['a namespace that headers may reopen', 'constexpr int BLK = 128;\nnamespace z {\n', 'z::k<<<n, BLK>>>(x, y, n);', '}\n', '::BLK'],
  ])('is from the global scope where the kernel means something else: %s', (_name, head, launches, behind, name) => {
    expect(lengths(head, launches, behind)).toEqual([name, `(${name} + 31) / 32`]);
  });

  const TEMPLATE = KERNEL.replace('__global__', 'template <int T>\n__global__');
  const ofTemplate = (launches: string): string => /queue_v\[([^\]]*)\]/.exec(applyAll(compact, `#define BLK 256\nconstexpr int kSmall = 64;\n${TEMPLATE}void f(const float *x, float *y, int n) { ${launches} }\n`, { evenIfItLoses: true }).text)?.[1] ?? '';

  test.each([
    ['k<BLK><<<n, BLK>>>(x, y, n);', 'T'],
    ['k<BLK><<<n, BLK>>>(x, y, n); k<kSmall><<<n, kSmall>>>(x, y, n); k<32><<<n, 32>>>(x, y, n);', 'T'],
    ['k<BLK><<<n, kSmall>>>(x, y, n);', 'kSmall'],
    ['k<BLK><<<n, 256>>>(x, y, n);', '256'],
    ['k<BLK><<<n, dim3(BLK, 2)>>>(x, y, n);', '512'],
  ])('is the template parameter that every launch passes its block for: %s', (launches, length) => {
    expect(ofTemplate(launches)).toBe(length);
  });

  test.each([
    ['#define BLK 256\n', '__launch_bounds__(BLK)', 'BLK'],
    ['#ifndef BLK\n#define BLK 256\n#endif\n', '__launch_bounds__(BLK, 2)', 'BLK'],
    ['constexpr int kMost = 512;\n', '__launch_bounds__(kMost)', 'kMost'],
    ['', '__launch_bounds__(512)', '512'],
  ])('is that of the launch bound: %s%s', (head, bound, length) => {
    const { text } = applyAll(compact, `${head}${KERNEL.replace('void k', `void ${bound} k`)}void f(const float *x, float *y, int n, int m) { k<<<n, m>>>(x, y, n); }\n`);
    expect(/queue_v\[([^\]]*)\]/.exec(text)?.[1]).toBe(length);
  });

  test('is the smaller number of the launches beside a bound', () => {
    const { text } = applyAll(compact, `#define BLK 512\n${KERNEL.replace('void k', 'void __launch_bounds__(BLK) k')}void f(const float *x, float *y, int n) { k<<<n, 128>>>(x, y, n); }\n`);
    expect(/queue_v\[([^\]]*)\]/.exec(text)?.[1]).toBe('128');
  });

  test('is a number where the macro stands below the kernel, or is undone', () => {
    expect(lengths('', 'k<<<n, BLK>>>(x, y, n);', '#define BLK 256\n')).toEqual(['256', '8']);
    expect(lengths('#define BLK 256\n', 'k<<<n, BLK>>>(x, y, n);', '#undef BLK\n#define BLK 512\n')[0]).toBe('1024');
  });

  test('is that of any block where a launch is not understood', () => {
    expect(lengths('#define BLK 256\n', 'k<<<n, BLK>>>(x, y, n); go(k, x, y);', 'template <class F> void go(F f, const float *x, float *y) { f<<<1, 512>>>(x, y, 1); }\n')).toEqual(['1024', '32']);
  });
});

describe('a name from a header', () => {
  const INCLUDED = '#include "sizes.h"\n';
  const queue = (head: string, headers: Readonly<Record<string, string>>, launches = 'k<<<n, BLK>>>(x, y, n);', behind = ''): string =>
    /queue_v\[([^\]]*)\]/.exec(applyAll(compact, `${head}${KERNEL}${behind}void f(const float *x, float *y, int n) { ${launches} }\n`, { evenIfItLoses: true, headers }).text)?.[1] ?? '';

  test.each([
    ['a macro', INCLUDED, { 'sizes.h': '#define BLK 256\n' }],
    ['a constant', INCLUDED, { 'sizes.h': '#pragma once\nconstexpr int BLK = 256;\n' }],
    ['a static constant', INCLUDED, { 'sizes.h': '#ifndef SIZES_H\n#define SIZES_H\nstatic const unsigned BLK = 256;\n#endif\n' }],
    ['through another header', '#include "all.h"\n', { 'all.h': INCLUDED, 'sizes.h': '#define BLK 256\n' }],
    ['that a build may replace', INCLUDED, { 'sizes.h': '#ifndef BLK\n#define BLK 256\n#endif\n' }],
    ['by a path', '#include "./sizes.h"\n', { 'sizes.h': '#define BLK 256\n' }],
  ])('is known at the kernel: %s', (_name, head, headers) => {
    expect(queue(head, headers as unknown as Readonly<Record<string, string>>)).toBe('BLK');
  });

  test.each([
    ['included behind the kernel', '', INCLUDED],
    ['included by some builds', '#ifdef SMALL\n#include "sizes.h"\n#endif\n', '\n#ifndef SMALL\n#include "sizes.h"\n#endif\n'],
  ])('is not known at the kernel: %s', (_name, head, behind) => {
    expect(queue(head, { 'sizes.h': '#define BLK 256\n' }, 'k<<<n, BLK>>>(x, y, n);', behind)).not.toBe('BLK');
  });

  test('a constant of a namespace in it is a number', () => {
    expect(queue(INCLUDED, { 'sizes.h': 'namespace sizes { constexpr int BLK = 256; }\nusing namespace sizes;\n' })).toBe('256');
  });

  test.each([
    ['k<<<n, 256>>>(x, y, n);', 'the launch has 256'],
    ['k<<<n, 256>>>(x, y, n); k<<<1, 256>>>(x, y, n);', 'all launches have 256'],
    ['k<<<n, 256>>>(x, y, n); k<<<1, 64>>>(x, y, n);', 'no launch has more than 256'],
    ['k<<<n, m>>>(x, y, n);', 'no launch has more than 1024'],
    ['', 'none has more than 1024'],
  ])('a number says what it rests on: %s', (launches, said) => {
    const { text } = applyAll(compact, `${KERNEL}void f(const float *x, float *y, int n, int m) { ${launches} }\n`, { evenIfItLoses: true });
    expect(text).toContain(`    // A place for each thread of a block: ${said}.\n    __shared__`);
  });

  test('a name says it itself, in the certificate too', () => {
    const code = `#define BLK 256\n${KERNEL}void f(const float *x, float *y, int n) { k<<<n, BLK>>>(x, y, n); }\n`;
    const { text, first } = applyAll(compact, code, { evenIfItLoses: true });
    expect(text).not.toContain('A place for each thread');
    expect(first[0]?.obligations.find(({ id }) => id === 'queue-capacity')?.text).toBe('at most BLK threads put one item each on a queue of BLK (the block of every launch; 256 in this build), if no other launches');
  });
});
