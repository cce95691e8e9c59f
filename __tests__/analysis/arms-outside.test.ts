/** Uniform verdicts name the arm of `#if` that would make them another one, wherever it stands. */
import { beforeAll, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

/** `under` of the condition of the kernel's only branch. */
function under(text: string): readonly string[] {
  const { unit, analysis } = load(text);
  const [kernel] = unit.kernels;
  if (kernel === undefined) throw new Error('no kernel');
  const [branch] = analysis.kernel(kernel).branches;
  const verdict = branch === undefined ? undefined : analysis.kernel(kernel).scope(branch.condition);
  return verdict === undefined ? ['no branch'] : verdict.under;
}

function kernel(before: string, own: string, condition: string): string {
  return `${before}\n__global__ void k(float *o, int n) {\n${own}\n    if (${condition}) { o[0] = 1.f; __syncthreads(); }\n}\n`;
}

const LINE_1 = ['the arm of `#if defined(BIG)` in line 1 stays left out'];

test('a macro of another coordinate', () => {
  expect(under(kernel('#ifdef BIG\n#define IDX threadIdx.x\n#else\n#define IDX blockIdx.x\n#endif', '', 'IDX == 3'))).toEqual(LINE_1);
});

test('a macro made of such a macro, through a variable', () => {
  expect(under(kernel('#ifdef BIG\n#define IDX threadIdx.x\n#else\n#define IDX blockIdx.x\n#endif\n#define ID (IDX + 1)', 'int i = ID;', 'i == 3'))).toEqual(LINE_1);
});

test('a function whose body has arms, and one that calls it', () => {
  const text = '__device__ int id() {\n#ifdef BIG\n    return threadIdx.x;\n#else\n    return blockIdx.x;\n#endif\n}\n__device__ int next() { return id() + 1; }';
  expect(under(kernel(text, '', 'id() == 3'))).toEqual(['the arm of `#if defined(BIG)` in line 2 stays left out']);
  expect(under(kernel(text, '', 'next() == 3'))).toEqual(['the arm of `#if defined(BIG)` in line 2 stays left out']);
});

test('a reference that an arm binds, and a call that may take one', () => {
  expect(under(kernel('', 'int i = n;\n#ifdef BIG\nint &r = i;\n#else\nint r;\n#endif\nr = threadIdx.x;', 'i == 3'))).toEqual(['the arm of `#if defined(BIG)` in line 4 stays left out']);
  expect(under(kernel('__device__ void set(int &x) { x = threadIdx.x; }', 'int i = n;\n#ifdef BIG\nset(i);\n#endif', 'i == 3'))).toEqual(['the arm of `#if defined(BIG)` in line 4 stays left out']);
});

test('arms that nothing in the condition rests on, and those of a platform, say nothing', () => {
  expect(under(kernel('#ifdef BIG\n#define IDX threadIdx.x\n#else\n#define IDX blockIdx.x\n#endif', 'o[IDX] = 2.f;', 'n == 3'))).toEqual([]);
  expect(under(kernel('#ifdef __CUDACC__\n#define IDX blockIdx.x\n#else\n#define IDX threadIdx.x\n#endif', '', 'IDX == 3'))).toEqual([]);
});

/** `under` of a condition on `i`, behind text that one arm makes a change of `i`. */
function handed(before: string, own: string, condition = 'i == 3'): readonly string[] {
  return under(kernel(before, `    int i = n;\n    ${own}`, condition));
}

const arms = (big: string, other: string): string => `#ifdef BIG\n${big}\n#else\n${other}\n#endif`;

test('what is handed to a name that another arm declares otherwise', () => {
  const LATER = (line: number): readonly string[] => [`the arm of \`#if defined(BIG)\` in line ${line} stays left out`];
  expect(handed(arms('#define UP(x) ++x', '#define UP(x) (void)x'), 'UP(i);')).toEqual(LINE_1);
  expect(handed(arms('#define UP ++i', '#define UP (void)0'), 'UP;')).toEqual(LINE_1);
  expect(handed(`__device__ void up(int &x)\n${arms('{ x = threadIdx.x; }', '{}')}`, 'up(i);')).toEqual(LATER(2));
  expect(handed(`__device__ void up(int\n#ifdef BIG\n&\n#endif\nx) { x = threadIdx.x; }`, 'up(i);')).toEqual(LATER(2));
  expect(handed(arms('typedef int &T;', 'typedef int T;'), 'T r = i; r = threadIdx.x;')).toEqual(LINE_1);
  expect(handed(arms('#define T int &', '#define T int'), 'T r = i; r = threadIdx.x;')).toEqual(LINE_1);
  expect(handed(`${arms('typedef int &T;', 'typedef int T;')}\n__device__ void up(T x) { x = threadIdx.x; }`, 'up(i);')).toEqual(LINE_1);
  expect(handed(`${arms('typedef int &T;', 'typedef int T;')}\ntypedef T S;\n__device__ void up(S x) { x = threadIdx.x; }\n__device__ void on(S x) { up(x); }`, 'on(i);')).toEqual(LINE_1);
  expect(handed(`__device__ void up(int *x)\n${arms('{ *x = threadIdx.x; }', '{}')}`, 'int *p = &i; up(p);')).toEqual(LATER(2));
  expect(handed(arms('struct S { __device__ void up(int &x) { x = threadIdx.x; } };', 'struct S { __device__ void up(int) {} };'), 'S w; w.up(i);')).toEqual(LINE_1);
});

test('what only stands near such a name, or is given to a number or a type of numbers, stays what it was', () => {
  expect(handed(arms('#define UP(x) ++x', '#define UP(x) (void)x'), 'int j = 0; UP(j);')).toEqual([]);
  expect(handed(arms('typedef double T;', 'typedef float T;'), 'T r = i; r = 2;')).toEqual([]);
  expect(handed(arms('typedef unsigned T;', 'typedef int T;'), 'T r = i; r = 2;')).toEqual([]);
  expect(handed(arms('#define N 16', '#define N 32'), 'int j = N * i; j += i;')).toEqual([]);
  expect(handed(`${arms('typedef unsigned T;', 'typedef int T;')}\n__device__ T up(T x) { return x + 1; }`, 'o[1] = up(i);')).toEqual([]);
  expect(under(kernel(arms('#define UP(x) ++x', '#define UP(x) (void)x'), '    int i = n;', 'i == 3').replace('__syncthreads();', 'UP(i);'))).toEqual([]);
});
