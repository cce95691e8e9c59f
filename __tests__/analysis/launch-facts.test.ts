import { beforeAll, describe, expect, test } from '@jest/globals';
import type { AnalysisOptions, BlockFact } from '../../src/analysis/facts.js';
import { single } from '../../src/analysis/integer-values.js';
import { argumentValues, blockFact, gridFact, parseShape, provedShapes, shapeText } from '../../src/analysis/launch-facts.js';
import { initParser } from '../../src/syntax/parser.js';
import type { FunctionDecl, Program } from '../../src/syntax/tree.js';
import { Text } from './program.js';

beforeAll(async () => { await initParser(); });

function block(text: string, options = {}): BlockFact {
  const loaded = new Text(text, options);
  return blockFact(loaded.fn('k'), loaded.program, options);
}

const KERNEL = '__global__ void k(float *x, int n) { x[threadIdx.x] = n; }\n';

describe('shape of blocks', () => {
  test.each([
    ['a literal', `${KERNEL} void f(float *x) { k<<<4, 256>>>(x, 1); }`, '256,1,1'],
    ['a macro', `#define TPB 128\n${KERNEL} void f(float *x) { k<<<4, TPB>>>(x, 1); }`, '128,1,1'],
    ['a const at namespace scope', `const int B = 64 * 2;\n${KERNEL} void f(float *x) { k<<<4, B>>>(x, 1); }`, '128,1,1'],
    ['a local variable', `${KERNEL} void f(float *x, int n) { int t = 96; k<<<n / t, t>>>(x, 1); }`, '96,1,1'],
    ['dim3 with two dimensions', `${KERNEL} void f(float *x) { dim3 b(16, 8); k<<<dim3(4, 4), b>>>(x, 1); }`, '16,8,1'],
    ['dim3 in braces', `${KERNEL} void f(float *x) { dim3 b = {32, 4, 2}; k<<<1, b>>>(x, 1); }`, '32,4,2'],
    ['dim3 by fields', `${KERNEL} void f(float *x) { dim3 b; b.x = 32; b.y = 8; k<<<1, b>>>(x, 1); }`, '32,8,1'],
    ['dim3 by value of a function', `${KERNEL} dim3 shape() { return dim3(8, 8); } void f(float *x) { k<<<1, shape()>>>(x, 1); }`, '8,8,1'],
    ['what another variable holds', `${KERNEL} void f(float *x) { int t = 8; dim3 b(t, t * 2); k<<<1, b>>>(x, 1); }`, '8,16,1'],
    ['chevrons with blanks in them', `${KERNEL} void f(float *x, int y) { k << <(y << 2), 64 >> 1 >> > (x, y << 2 < 3 ? y >> 1 > (2) : 1); }`, '32,1,1'],
    ['cudaLaunchKernel', `${KERNEL} void f(float *x) { void *args[] = {&x}; cudaLaunchKernel((const void *)k, dim3(2), dim3(192), args, 0, 0); }`, '192,1,1'],
    ['an assignment that hides the one before', `${KERNEL} void f(float *x) { int t = 32; t = 512; k<<<1, t>>>(x, 1); }`, '512,1,1'],
  ])('%s', (_name, text, expected) => {
    const fact = block(text);
    expect(fact.value === null ? null : `${fact.value.x},${fact.value.y},${fact.value.z}`).toBe(expected);
    expect(fact.origin).toBe('launch');
  });

  test.each([
    ['past the last assignment', 'int t = 64; if (n == 3) goto L; t = 48; L: k<<<1, t>>>(x, n);', [48, 64]],
    ['from inside of a loop', 'int t = 64; for (int i = 0; i < n; i++) { if (i == 3) goto L; } t = 48; L: k<<<1, t>>>(x, n);', [48, 64]],
    ['to a label in a block', 'int t = 64; if (n == 3) goto L; t = 48; if (n > 5) { L: k<<<1, t>>>(x, n); }', [48, 64]],
    ['past a side of the block', 'dim3 t(64); if (n == 3) goto L; t.x = 48; L: k<<<1, t>>>(x, n);', [48, 64]],
    ['past an assignment of the block', 'dim3 t(64); if (n == 3) goto L; t = dim3(48); L: k<<<1, t>>>(x, n);', [48, 64]],
    ['past the launch, as cleaning up does', 'int t = 64; t = 48; if (n == 3) goto L; k<<<1, t>>>(x, n); L: cudaFree(x);', [48]],
    ['over another assignment', 'int t = 64; if (n == 3) goto L; n = 4; L: t = 48; k<<<1, t>>>(x, n);', [48]],
    ['back in front of the assignment', 'int t = 64; L: t = 48; k<<<1, t>>>(x, n); if (n-- > 3) goto L;', [48]],
    ['back behind the assignment, after another', 'int t = 64; t = 48; L: k<<<1, t>>>(x, n); t = 32; if (n-- > 3) goto L;', [32, 48]],
  ])('a jump %s', (_name, code, expected) => {
    const fact = block(`${KERNEL} void f(float *x, int n) { ${code} }`);
    expect(fact.value === null ? fact.alternatives.map((shape) => shape.x).sort() : [fact.value.x]).toEqual(expected);
  });

  test('two launches of different shapes are alternatives', () => {
    const fact = block(`${KERNEL} void f(float *x) { k<<<1, 128>>>(x, 1); k<<<1, 256>>>(x, 1); }`);
    expect(fact.value).toBeNull();
    expect(fact.alternatives.map((shape) => shape.x).sort()).toEqual([128, 256]);
    expect(fact.xMultipleOf32).toBe(true);
    expect(fact.oneDimensional).toBe(true);
  });

  test('a choice gives both values', () => {
    const fact = block(`${KERNEL} void f(float *x, int n) { int t = n > 64 ? 128 : 48; k<<<1, t>>>(x, 1); }`);
    expect(fact.alternatives.map((shape) => shape.x).sort((a, b) => a - b)).toEqual([48, 128]);
    expect(fact.xMultipleOf32).toBe(false);
  });

  test('a parameter of the host function is not known, but y and z are one', () => {
    const fact = block(`${KERNEL} void f(float *x, int t) { k<<<1, t>>>(x, 1); }`);
    expect(fact.value).toBeNull();
    expect(fact.oneDimensional).toBe(true);
    expect(fact.maxThreads).toBe(1024);
  });

  test('a variable that a loop steps is not known', () => {
    expect(block(`${KERNEL} void f(float *x) { for (int t = 32; t <= 1024; t *= 2) k<<<1, t>>>(x, 1); }`).value).toBeNull();
  });

  test('a variable whose address is passed is not known', () => {
    expect(block(`${KERNEL} void g(int *); void f(float *x) { int t = 32; g(&t); k<<<1, t>>>(x, 1); }`).value).toBeNull();
  });

  test.each([
    ['a function that takes it', 'template <class F> void go(F f, float *x) { f<<<1, dim3(16, 16)>>>(x, 1); } void h(float *x) { go(k, x); }'],
    ['a template argument', 'template <void (*F)(float *, int)> void go(float *x) { F<<<1, 512>>>(x, 1); } void h(float *x) { go<k>(x); }'],
    ['a table', 'void (*table[])(float *, int) = {k}; void h(float *x) { table[0]<<<1, 512>>>(x, 1); }'],
    ['a reference', 'void h(float *x) { auto &other = k; other<<<1, 512>>>(x, 1); }'],
    ['a macro', '#define RUN(f, ...) f<<<1, 512>>>(__VA_ARGS__)\nvoid h(float *x) { RUN(k, x, 1); }'],
  ])('says nothing where one launch goes through %s', (_name, other) => {
    for (const bound of ['', '__launch_bounds__(512) ']) {
      const fact = block(`${KERNEL.replace('void k', `void ${bound}k`)} void f(float *x) { k<<<1, 64>>>(x, 1); }\n${other}`);
      expect(fact).toMatchObject({ value: null, alternatives: [], xMultipleOf32: false, oneDimensional: false, maxThreads: bound === '' ? 1024 : 512, origin: bound === '' ? 'unknown' : 'launch-bounds' });
    }
  });

  test.each([
    ['a macro with a definition of its own in another build', '#define BLK 256\n#ifdef BIG\n#undef BLK\n#define BLK 1024\n#endif\n', 'BLK'],
    ['a macro that each arm defines', '#ifdef BIG\n#define BLK 1024\n#else\n#define BLK 256\n#endif\n', 'BLK'],
    ['a default that a build may replace', '#ifndef BLK\n#define BLK 256\n#endif\n', 'BLK'],
    ['such a default, asked for in another way', '#if !defined(BLK)\n#define BLK 256\n#endif\n', '(BLK)'],
    ['a macro made of one', '#ifndef BLK\n#define BLK 256\n#endif\n#define TPB (BLK / 2)\n', 'TPB'],
    ['a dim3 of one', '#ifndef BLK\n#define BLK 256\n#endif\n', 'dim3(BLK)'],
    ['a constant made of one', '#ifndef BLK\n#define BLK 256\n#endif\nconstexpr int T = BLK * 2;\n', 'T'],
    ['an enumerator made of one', '#ifndef BLK\n#define BLK 256\n#endif\nenum { T = BLK };\n', 'T'],
    ['a function of one', '#ifndef BLK\n#define BLK 256\n#endif\nint threads(int rows) { return rows * 32 + BLK; }\n', 'threads(2)'],
  ])('%s is no shape', (_name, head, written) => {
    expect(block(`${head}${KERNEL}void f(float *x) { k<<<1, ${written}>>>(x, 1); }`)).toMatchObject({ value: null, alternatives: [], maxThreads: 1024 });
    expect(block(`${head}${KERNEL.replace('void k', `void __launch_bounds__(${written.startsWith('dim3') ? 'BLK' : written}) k`)}`).maxThreads).toBe(1024);
  });

  test('what stands behind an include guard is known', () => {
    expect(block(`#ifndef K_CUH\n#define K_CUH\n#define BLK 256\n${KERNEL}void f(float *x) { k<<<1, BLK>>>(x, 1); }\n#endif\n`).value).toEqual({ x: 256, y: 1, z: 1 });
  });

  test('bounds that a template parameter gives are those of the launches seen only if they are all', () => {
    const bounded = 'template <int N> __global__ void __launch_bounds__(N) k(float *x, int n) { x[threadIdx.x] = n; }\nvoid f(float *x) { k<64><<<1, 64>>>(x, 1); }\n';
    expect(block(bounded).maxThreads).toBe(64);
    expect(block(`${bounded} template <class F> void go(F f, float *x) { f<<<1, 256>>>(x, 1); } void h(float *x) { go(k<256>, x); }`).maxThreads).toBe(1024);
  });

  test('launch bounds are an upper bound only', () => {
    const fact = block('__global__ void __launch_bounds__(128) k(float *x) { x[0] = 1; }');
    expect(fact.value).toBeNull();
    expect(fact.maxThreads).toBe(128);
    expect(fact.origin).toBe('launch-bounds');
  });

  test('annotation and option say what launches leave open', () => {
    const text = `// divmod: block=32x8\n${KERNEL} void f(float *x, dim3 b) { k<<<1, b>>>(x, 1); }`;
    expect(block(text)).toMatchObject({ value: { x: 32, y: 8, z: 1 }, origin: 'annotation', under: [] });
    expect(block(text, { block: { x: 4, y: 4, z: 4 } })).toMatchObject({ value: { x: 4, y: 4, z: 4 }, origin: 'option' });
  });

  test('a grid and an argument that all launches share', () => {
    const loaded = new Text(`${KERNEL} void f(float *x) { k<<<dim3(12, 3), 64>>>(x, 1000); }`);
    const kernel = loaded.fn('k');
    expect(gridFact(kernel, loaded.program, {}).value).toEqual({ x: 12, y: 3, z: 1 });
    const n = kernel.parameters[1];
    if (n === undefined) throw new Error('no parameter');
    expect(single(argumentValues(kernel, n, loaded.program))).toBe(1000n);
  });
});

test('shapes as text', () => {
  expect(parseShape('32x8')).toEqual({ x: 32, y: 8, z: 1 });
  expect(parseShape('256')).toEqual({ x: 256, y: 1, z: 1 });
  expect(parseShape('0x8')).toBeNull();
  expect(parseShape('wide')).toBeNull();
});

describe('what is said by hand is held against launches that are seen', () => {
  const text = (launches: string, head = ''): string => `${head}__global__ void k(int *o) { o[threadIdx.x] = blockDim.x; }\nvoid run(int *o, int n, bool big) {\n${launches}\n}\n`;
  const said = { x: 64, y: 1, z: 1 };

  const kernelOf = (source: string): { readonly kernel: FunctionDecl; readonly program: Program } => {
    const loaded = new Text(source);
    return { kernel: loaded.fn('k'), program: loaded.program };
  };

  const fact = (source: string, options: AnalysisOptions = { block: said }): BlockFact => block(source, options);

  test.each([
    ['no launch', ''], ['the same', 'k<<<n, 64>>>(o);'], ['one that is not known', 'k<<<n, n>>>(o);'], ['one that may be it', 'dim3 b(n, 1); k<<<n, b>>>(o);'],
  ])('%s: it holds', (_, launches) => {
    expect(fact(text(launches))).toMatchObject({ value: said, maxThreads: 64, origin: 'option' });
    expect(fact(text(launches)).contradiction).toBeUndefined();
  });

  test.each([
    ['another', 'k<<<n, 256>>>(o);', 256, ['64×1×1', '256×1×1']],
    ['the same and another', 'k<<<n, 64>>>(o);\nk<<<n, 96>>>(o);', 96, ['64×1×1', '96×1×1']],
    ['one of two', 'k<<<n, big ? 64 : 128>>>(o);', 128, ['64×1×1', '128×1×1']],
    ['a plane', 'dim3 b(64, 4); k<<<n, b>>>(o);', 256, ['64×1×1', '64×4×1']],
    ['a smaller one', 'k<<<n, 32>>>(o);', 64, ['64×1×1', '32×1×1']],
  ])('%s: both count, and it is told', (_, launches, most, shapes) => {
    const found = fact(text(launches));
    expect(found.value).toBeNull();
    expect(found.maxThreads).toBe(most);
    expect(found.alternatives.map(shapeText)).toEqual(shapes);
    expect(found.contradiction).toMatch(/^--block says that blocks of k are 64×1×1, and the launch of line \d has .*; both are taken into account$/);
    expect(found.oneDimensional).toBe(!launches.includes('b('));
    const { kernel, program } = kernelOf(text(launches));
    expect(provedShapes(kernel, program, { block: said }).length).toBe(shapes.length);
  });

  test('a side that is known to be another, and a shape of this build only: what was said counts for nothing', () => {
    for (const source of [text('dim3 b(n, 4); k<<<n, b>>>(o);'), text('k<<<n, SIZE>>>(o);', '#ifndef SIZE\n#define SIZE 128\n#endif\n')]) {
      expect(fact(source)).toMatchObject({ value: null, alternatives: [], maxThreads: 1024, contradiction: expect.stringContaining('the first is passed over') });
    }
    expect(fact(text('k<<<n, SIZE>>>(o);', '#ifndef SIZE\n#define SIZE 64\n#endif\n'))).toMatchObject({ value: said });
  });

  test('an annotation says no more than an option; a shape that is tried does', () => {
    const source = text('k<<<n, 256>>>(o);', '// divmod: block=64\n');
    expect(fact(source, {})).toMatchObject({ value: null, maxThreads: 256, contradiction: expect.stringContaining('the annotation says') });
    expect(fact(source, { block: said, supposed: true })).toMatchObject({ value: said, maxThreads: 64 });
  });

  test('a grid that a launch does not have is no fact', () => {
    const { kernel, program } = kernelOf(text('k<<<8, 64>>>(o);'));
    expect(gridFact(kernel, program, { grid: { x: 4, y: 1, z: 1 } }).value).toBeNull();
    expect(gridFact(kernel, program, { grid: { x: 8, y: 1, z: 1 } }).value).toEqual({ x: 8, y: 1, z: 1 });
    const unknown = kernelOf(text('k<<<n, 64>>>(o);'));
    expect(gridFact(unknown.kernel, unknown.program, { grid: { x: 4, y: 1, z: 1 } }).value).toEqual({ x: 4, y: 1, z: 1 });
  });
});
