/** What a comparison tries: each case is an error that shows only under inputs or launches of one kind. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser, programOf } from '../simulate/helpers.js';
import { parseArgument, type Argument } from '../../src/simulate/index.js';
import { verifyEquivalent, type Verdict, type VerifyOptions } from '../../src/verify/index.js';

beforeAll(async () => { await initParser(); });

function verify(before: string, after: string, options: VerifyOptions = {}): Verdict {
  return verifyEquivalent(programOf(before), programOf(after), 'k', options);
}

function expectDifferent(before: string, from: string, to: string, options: VerifyOptions = {}): Extract<Verdict, { status: 'different' }> {
  expect(before).toContain(from);
  const same = verify(before, before, options);
  expect(same).toMatchObject({ status: 'equal' });
  const verdict = verify(before, before.replace(from, to), options);
  if (verdict.status !== 'different') throw new Error(`${verdict.status} for ${to}: ${verdict.notes.join('; ')}`);
  return verdict;
}

const AT = 'int i = blockIdx.x * blockDim.x + threadIdx.x;';

describe('extents and grids', () => {
  test('width is not height', () => {
    expectDifferent(`__global__ void k(float* out, const float* in, int width, int height) {
      int x = blockIdx.x * blockDim.x + threadIdx.x; int y = blockIdx.y * blockDim.y + threadIdx.y;
      if (x < width && y < height) out[y * width + x] = in[y * width + x] + 1.0f; }`, 'y < height', 'y < width');
  });
  test('M, N and K are three values', () => {
    const gemm = `__global__ void k(const float* a, const float* b, float* c, int M, int N, int K) {
      int row = blockIdx.y * blockDim.y + threadIdx.y; int col = blockIdx.x * blockDim.x + threadIdx.x;
      if (row >= M || col >= N) return; float sum = 0; for (int j = 0; j < K; ++j) sum += a[row * K + j] * b[j * N + col]; c[row * N + col] = sum; }`;
    for (const [from, to] of [['row * K', 'row * N'], ['j * N', 'j * K'], ['j < K', 'j < M'], ['row >= M', 'row >= N']] as const) expectDifferent(gemm, from, to, { blocks: [[8, 8, 1]] });
  });
  test('extents in a struct differ as well', () => {
    expectDifferent(`struct Box { int nx; int ny; };
      __global__ void k(int* out, Box box) { ${AT} if (i < box.nx * box.ny) out[i] = i % box.nx; }`, 'i % box.nx', 'i % box.ny');
  });
  test('a loop with a grid stride takes a second turn', () => {
    const verdict = expectDifferent(`__global__ void k(int* out, int n) { ${AT} for (int j = i; j < n; j += blockDim.x * gridDim.x) out[j] = j * 3; }`,
      'for (int j = i; j < n; j += blockDim.x * gridDim.x) out[j] = j * 3;', 'if (i < n) out[i] = i * 3;');
    expect(verdict.counterexample.setting.block[0] * verdict.counterexample.setting.grid[0]).toBeLessThan(verdict.counterexample.setting.size);
  });
  test('and a ninth one; a size may be the one value of a comparison', () => {
    const strided = `__global__ void k(int* out, int n) { ${AT} int turn = 0; for (int j = i; j < n; j += blockDim.x * gridDim.x, ++turn) out[j] = j; }`;
    expectDifferent(strided, 'j < n;', 'j < n && turn < 8;');
    expectDifferent(`__global__ void k(int* out, int n) { ${AT} if (i < n) out[i] = i; }`, 'i < n', 'i < n - (n == 1000)');
  });
});

describe('values', () => {
  const guarded = (body: string, parameters: string): string => `__global__ void k(${parameters}, int n) { ${AT} if (i < n) { ${body} } }`;
  test.each<[string, string, string, string, string]>([
    ['an int cut to a short', 'out[i] = in[i];', 'int* out, const int* in', 'in[i]', '(short)in[i]'],
    ['an int through a float', 'out[i] = in[i] + 1;', 'int* out, const int* in', 'in[i]', '(int)(float)in[i]'],
    ['a 64-bit value through 32 bits', 'out[i] = in[i] ^ 5;', 'long long* out, const long long* in', 'in[i]', '(int)in[i]'],
    ['a 64-bit value through a double', 'out[i] = in[i];', 'long long* out, const long long* in', 'in[i]', '(long long)(double)in[i]'],
    ['the least int', 'out[i] = in[i] < 0 ? -(unsigned)in[i] : in[i];', 'unsigned* out, const int* in', '-(unsigned)in[i]', 'min(-(unsigned)in[i], 2147483647u)'],
    ['unsigned compared as signed', 'out[i] = in[i] > 7u;', 'int* out, const unsigned* in', 'in[i] > 7u', '(int)in[i] > 7'],
    ['a scalar over its whole range', 'out[i] = in[i] + bias;', 'int* out, const int* in, int bias', 'in[i] + bias', 'in[i] + (signed char)bias'],
    ['large floats', 'out[i] = in[i] * 0.5f;', 'float* out, const float* in', 'in[i] * 0.5f', 'fminf(in[i], 1.0e9f) * 0.5f'],
    ['denormal floats', 'out[i] = in[i];', 'float* out, const float* in', 'in[i]', '(fabsf(in[i]) < 1.0e-38f ? 0.0f : in[i])'],
    ['a constant that the edit brings in', 'out[i] = in[i];', 'int* out, const int* in', 'in[i]', '(in[i] == 4321 ? 0 : in[i])'],
  ])('%s', (_name, body, parameters, from, to) => { expectDifferent(guarded(body, parameters), from, to); });

  test('values that become indices, bounds or shifts stay in range', () => {
    const text = `__device__ void fetch(const int* from, int at, int* to) { *to = from[at]; }
      __global__ void k(float* out, const float* in, const int* order, const int* counts, int n) { ${AT} if (i >= n) return;
        int at; fetch(order, i, &at); float s = 0; for (int j = 0; j < counts[i] % 4; ++j) s += in[at + j]; out[i] = s; }`;
    const verdict = verify(text, text);
    expect(verdict).toMatchObject({ status: 'equal', tried: { silent: 0 } });
  });
});

describe('launches', () => {
  test('shapes around constants that a thread number or a block size is compared with', () => {
    expectDifferent('__global__ void k(int* out) { out[threadIdx.x] = blockDim.x; }', 'blockDim.x;', 'blockDim.x > 512 ? 0 : blockDim.x;');
    expectDifferent('__global__ void k(int* out) { int t = threadIdx.x; out[t] = t; }', '= t; }', '= t < 777 ? t : 0; }');
    expectDifferent('__global__ void k(int* out) { out[blockIdx.x] = 1; }', '= 1;', '= blockIdx.x < 9 ? 1 : 2;');
    expectDifferent(`__global__ void k(int* out, int n) { ${AT} if (i < n) out[i] = 1; }`, 'i < n', 'i < n && i != 1500');
  });
  test('every visible instance of a template is run', () => {
    const text = `template <int TILE> __global__ void k(int* out, int n) { int i = blockIdx.x * TILE + threadIdx.x; if (i < n) out[i] = i; }
      void start(int* out, int n) { k<32><<<n / 32, 32>>>(out, n); k<64><<<n / 64, 64>>>(out, n); k<256><<<n / 256, 256>>>(out, n); }`;
    const same = verify(text, text);
    expect(same).toMatchObject({ status: 'equal', tried: { instances: ['TILE = 32', 'TILE = 64', 'TILE = 256'] } });
    expect(expectDifferent(text, 'out[i] = i;', 'out[i] = TILE == 256 ? i + 1 : i;').notes).toContain('with TILE = 256');
  });
  test('without a visible instantiation the guess is named', () => {
    const text = `template <typename T> __global__ void k(T* out, int n) { ${AT} if (i < n) out[i] = i; }`;
    expect(verify(text, text).notes.join()).toContain('no instantiation of the template is visible: run with T = float alone');
  });
  test('dynamic shared memory is as large as the launch says', () => {
    const text = `extern __shared__ int cache[];
      __global__ void k(int* out) { cache[threadIdx.x] = threadIdx.x; __syncthreads(); out[threadIdx.x] = cache[blockDim.x - 1 - threadIdx.x]; }
      void start(int* out) { const int threads = 64; int bytes = threads * sizeof(int); k<<<1, threads, bytes>>>(out); }`;
    const verdict = expectDifferent(text, 'cache[threadIdx.x] = threadIdx.x;', 'cache[threadIdx.x + 1] = 0; __syncthreads(); cache[threadIdx.x] = threadIdx.x;', { provedBlocks: [[64, 1, 1]] });
    expect(verdict.counterexample.replay).toContain('--shared 256');
    expect(verdict.counterexample.differences[0]).toContain('shared-out-of-bounds');
  });
  test('launches that changed are said not to be compared', () => {
    const text = `__global__ void k(int* out, int n) { ${AT} if (i < n) out[i] = i; }
      void start(int* out, int n) { int blocks = (n + 63) / 64; k<<<blocks, 64>>>(out, n); }`;
    expect(verify(text, text).notes).toEqual([]);
    expect(verify(text, text.replace('blocks, 64>>>', 'blocks, 128>>>')).notes.join()).toContain('the launch of line 2 changed');
    expect(verify(text, text.replace('(n + 63) / 64', 'n / 64')).notes.join()).toContain('the host code around a launch changed');
  });
  test('shapes under which the original always faults are left after one try', () => {
    const text = `__global__ void k(int* out) { __shared__ int s[64]; s[threadIdx.x] = threadIdx.x; __syncthreads(); out[threadIdx.x] = s[(threadIdx.x + 1) % blockDim.x]; }`;
    const verdict = verify(text, text);
    expect(verdict).toMatchObject({ status: 'equal' });
    expect(verdict.status === 'equal' && verdict.tried.silent).toBeLessThan(9);
    expect(verdict.notes.join()).toMatch(/\d+ of \d+ settings say nothing: the original itself faults/);
  });
});

describe('parameters', () => {
  const text = '__global__ void k(int* out, const int* in, int n) { int i = threadIdx.x; if (i < n) out[i] = in[i]; }';
  test('renamed parameters are the same parameters', () => {
    expect(verify(text, '__global__ void k(int* y, const int* x, int len) { int i = threadIdx.x; if (i < len) y[i] = x[i]; }')).toMatchObject({ status: 'equal' });
    expect(verify(text, '__global__ void k(int* y, const int* x, int len) { int i = threadIdx.x; if (i < len) y[i] = x[i] + 1; }')).toMatchObject({ status: 'different' });
  });
  test('exchanged parameters are no equal result: launches give them by position', () => {
    const verdict = verify(text, text.replace('int* out, const int* in', 'const int* in, int* out'));
    expect(verdict.status).toBe('different');
    expect(verdict.notes).toContain('parameters are matched by position: out, in, n became in, out, n');
  });
  test.each([['int n)', 'int n, int more)', 'takes 4 parameters in place of 3'], ['int n)', 'long long n)', 'parameter 3 (n) has another type']])('another signature is not verified: %s', (from, to, reason) => {
    expect(verify(text, text.replace(from, to))).toMatchObject({ status: 'not-verified', obstacles: [{ side: 'after', reason: expect.stringContaining(reason) }] });
  });
});

describe('records as parameters', () => {
  const text = 'struct N { N *next; int v; };\nstruct S { int n; float *p; N *list; };\n__global__ void k(int *out, S s, const S *q) { out[threadIdx.x] = s.n + q->n; }';
  test('an edit above their declaration changes no type', () => {
    expect(verify(text, `// a line more\n${text}`)).toMatchObject({ status: 'equal' });
  });
  test.each([['int n; float *p;', 'float *p; int n;'], ['int n;', 'long long n;'], ['float *p;', 'double *p;'], ['int v; };', 'short v; };']])('another layout is another type: %s', (from, to) => {
    expect(verify(text, text.replace(from, to))).toMatchObject({ status: 'not-verified', obstacles: [{ side: 'after', reason: expect.stringContaining('has another type') }] });
  });
});

describe('one address for two pointers', () => {
  const text = `__global__ void k(int* out, int* in, int n) { ${AT} if (i < n) { out[i] = 1; in[i] = out[i] + in[i]; } }`;
  const after = text.replace('out[i] = 1; in[i] = out[i] + in[i];', 'int v = in[i]; out[i] = 1; in[i] = 1 + v;');
  test('is tried where the original is deterministic', () => {
    const verdict = verify(text, after, { aliasing: 'try' });
    if (verdict.status !== 'different') throw new Error(verdict.status);
    expect(verdict.counterexample.replay).toContain("--arg 'in=alias(out)'");
    expect(verify(text, text, { aliasing: 'try' })).toMatchObject({ status: 'equal', tried: { aliased: ['out = in'] } });
  });
  test('is not, where the code or an assumption forbids it, and that is said', () => {
    const restrict = (t: string): string => t.replace('int* out, int* in', 'int* __restrict__ out, int* __restrict__ in');
    expect(verify(restrict(text), restrict(after), { aliasing: 'try' })).toMatchObject({ status: 'equal', notes: [] });
    expect(verify(text, after, { aliasing: 'assumed-apart' })).toMatchObject({ status: 'equal', notes: [expect.stringContaining('out and in at one address')] });
    const shifted = `__global__ void k(int* out, int* in, int n) { ${AT} if (i < n) out[i] = in[i + 1]; }`;
    expect(verify(shifted, shifted, { aliasing: 'try' }).notes.join()).toContain('not tried at one address: out and in');
  });
  const view = 'struct Sub { int *q; }; struct View { int ld; int *p; Sub sub; const int *from; float *f; };';
  const swapped = (kernel: string): string => kernel.replace(/(\S+) = 1; (\S+) = ([^;]+);/, 'int t = $3; $1 = 1; $2 = t;');
  test.each([
    ['View v, int *o', 'v.p[i] = 1; o[i] = o[i] + 1;', 'o=alias(v.p)'], ['int *o, View v', 'o[i] = 1; v.p[i] = v.p[i] + 1;', 'v.p=alias(o)'],
    ['View v', 'v.p[i] = 1; v.sub.q[i] = v.sub.q[i] + 1;', 'v.sub.q=alias(v.p)'], ['View v, View w', 'v.p[i] = 1; w.p[i] = w.p[i] + 1;', 'w.p=alias(v.p)'],
    ['View v, int *o', 'o[i] = 1; v.p[i] = v.from[i] + 1;', 'o=alias(v.from)'], ['const int *in, View v', 'v.p[i] = 1; v.sub.q[i] = in[i] + 1;', 'v.p=alias(in)'],
  ])('members of parameters are pointers too: %s', (parameters, body, replay) => {
    const kernel = `${view} __global__ void k(${parameters}, int n) { ${AT} if (i < n) { ${body} } }`;
    const verdict = verify(kernel, swapped(kernel), { aliasing: 'try' });
    if (verdict.status !== 'different') throw new Error(verdict.status);
    expect(verdict.counterexample.replay).toContain(`--arg '${replay}'`);
  });
  test('pairs with members that say __restrict__, point to const both or to other types are none; those that are left are named', () => {
    const of = (members: string, body: string): string => `struct View { ${members} }; __global__ void k(View v, const int *in, int n) { ${AT} if (i < n) { ${body} } }`;
    for (const members of ['int *__restrict__ p;', 'float *p;', 'const int *p;']) {
      const text = of(members, 'const_cast<char *>((const char *)v.p)[i] = in[i];');
      expect(verify(text, text, { aliasing: 'try' }).notes).toEqual([]);
    }
    const shifted = of('int *p;', 'v.p[i] = in[i + 1];');
    expect(verify(shifted, shifted, { aliasing: 'try' }).notes.join()).toContain('not tried at one address: v.p and in');
  });
});

describe('how a result is said', () => {
  test('a counterexample replays as it is printed', () => {
    const text = `__global__ void k(int* out, const int* in, int n, int m) { ${AT} if (i < n) out[i] = in[i] + m; }`;
    const after = text.replace('in[i] + m', '(short)in[i] + m');
    const verdict = verify(text, after);
    if (verdict.status !== 'different') throw new Error(verdict.status);
    const words = verdict.counterexample.replay.split(' ');
    const option = (name: string): string => words[words.indexOf(name) + 1] ?? '';
    const [grid = 1, block = 1] = option('--launch').split('x').map(Number);
    const args = new Map<string, Argument>();
    words.forEach((w, i) => { const p = w === '--arg' ? parseArgument(words[i + 1] ?? '') : null; if (p !== null) args.set(p.name, p.argument); });
    const again = verify(text, after, { seeds: [Number(option('--seed'))], sizes: [Number(option('--size'))], blocks: [[block, 1, 1]], grids: [[grid, 1, 1]], schedules: [Number(words.includes('--schedule') ? option('--schedule') : 0)], arguments: args });
    expect(again).toMatchObject({ status: 'different', runs: 1, counterexample: { differences: verdict.counterexample.differences } });
  });
  test('notes that only the result has are named', () => {
    const text = `__global__ void k(int* out) { __shared__ int f; if (threadIdx.x == 0) f = 0; __syncthreads(); atomicOr(&f, 1); __syncthreads(); out[threadIdx.x] = f; }`;
    const verdict = verify(text, text.replace('atomicOr(&f, 1);', 'f = 1;'));
    expect(verdict).toMatchObject({ status: 'equal', notes: [expect.stringContaining('same-value-race')] });
  });
  test('an endless loop is given up after two runs, and told once', () => {
    const text = '__global__ void k(int* out) { for (;;) out[threadIdx.x]++; }';
    expect(verify(text, text, { turnBudget: 2000 })).toMatchObject({ status: 'not-verified', runs: 2, obstacles: [{ side: 'before' }] });
    const large = '__global__ void k(int* out, int n) { for (int j = 0; j < n * n; ++j) out[threadIdx.x] += j; }';
    expect(verify(large, large, { turnBudget: 20_000 })).toMatchObject({ status: 'equal' });
  });
});
