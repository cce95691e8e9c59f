/** An edit holds in all arms of `#if` that a build may choose: names that they declare otherwise, of any kind, stop it; names that they do not let it be. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist } from '../../transforms/hoist.js';
import { peel } from '../../transforms/peel.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applyAll, refuses } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

/** A loop of two tests, with declarations in front of the kernel, in front of the loop, and at the end of its body. */
function kernel({ before = '', own = '', loop = '', limit = 'm', parameters = 'int m' }: { before?: string; own?: string; loop?: string; limit?: string; parameters?: string }): string {
  return `${before}\n__global__ void k(float *o, int n, ${parameters}) {\n    float s = 0.f;\n${own}\n    for (int i = 0; i < n; ++i) { if (i < ${limit}) s += 1.f; else s += 100.f; ${loop} }\n    o[threadIdx.x] = s;\n}\n`;
}

function arms(big: string, plain: string | null, condition = '#ifdef BIG'): string {
  return `${condition}\n${big}\n${plain === null ? '' : `#else\n${plain}\n`}#endif\n`;
}

function applied(transform: Transform, text: string): boolean {
  return applyAll(transform, text, { evenIfItLoses: true }).rounds > 0;
}

describe('refused', () => {
  const cases: Readonly<Record<string, string>> = {
    'a typedef': kernel({ before: arms('typedef unsigned T;', 'typedef int T;'), own: 'T lim = m;', limit: 'lim' }),
    'an alias': kernel({ before: arms('using T = unsigned;', 'using T = int;'), own: 'T lim = m;', limit: 'lim' }),
    'an alias of an alias': kernel({ before: `${arms('using S = unsigned;', 'using S = int;')}using T = S;`, own: 'T lim = m;', limit: 'lim' }),
    'a constant': kernel({ before: arms('constexpr int W = -2;', 'constexpr int W = 2;'), limit: 'm - W' }),
    'a constant made of one': kernel({ before: `${arms('constexpr int R = -2;', 'constexpr int R = 2;')}constexpr int W = R + 1;`, limit: 'm - W' }),
    'a value that stands in arms': kernel({ before: 'constexpr int W =\n#ifdef BIG\n-2\n#else\n2\n#endif\n;', limit: 'm - W' }),
    'a type that stands in arms': kernel({ before: 'typedef\n#ifdef BIG\nunsigned\n#else\nint\n#endif\nT;', own: 'T lim = m;', limit: 'lim' }),
    'an enumerator': kernel({ before: arms('enum { E = -2 };', 'enum { E = 2 };'), limit: 'm - E' }),
    'an enumerator behind one that is left out': kernel({ before: 'enum { A,\n#ifdef BIG\nB,\n#endif\nE };', limit: 'm - E' }),
    'a member': kernel({ before: `struct P {\n${arms('unsigned n;', 'int n;')}};`, parameters: 'P p', limit: 'p.n' }),
    'a record': kernel({ before: arms('struct P { unsigned n; };', 'struct P { int n; };'), parameters: 'P p', limit: 'p.n' }),
    'operators of a record': kernel({ before: `struct P { int n;\n${arms('__device__ P(int &x) { ++x; }', '__device__ P(int x) { }')}};`, loop: 'P p = m;' }),
    'a macro of an object': kernel({ before: arms('#define W -2', '#define W 2'), limit: 'm + W' }),
    'a macro of a function': kernel({ before: arms('#define STEP(x) ++x', '#define STEP(x) (void)x'), loop: 'STEP(o[9]);' }),
    'a macro that is undone': kernel({ before: `#define STEP(x) (void)x\n${arms('#undef STEP\n#define STEP(x) ++x', null)}`, loop: 'STEP(o[9]);' }),
    'a macro made of one': kernel({ before: `${arms('#define ONE(x) ++x', '#define ONE(x) (void)x')}#define STEP(x) ONE(x)`, loop: 'STEP(o[9]);' }),
    'a macro that may return': kernel({ before: arms('#define CHECK(x) if (x) return;', '#define CHECK(x)'), loop: 'CHECK(n <= 0)' }),
    'a function': kernel({ before: arms('__device__ void f(float &x) { ++x; }', '__device__ void f(float x) { }'), loop: 'f(o[9]);' }),
    'a function whose body has arms': kernel({ before: `__device__ int f(int x) {\n${arms('return x - 1;', 'return x;')}}`, limit: 'f(m)' }),
    'one more overload': kernel({ before: `__device__ void f(double x) { }\n${arms('__device__ void f(float &x) { ++x; }', null)}`, loop: 'f(o[9]);' }),
    'a parameter': kernel({ parameters: `\n${arms('unsigned m', 'int m')}` }),
    'a reference': kernel({ own: arms('int &r = m;', 'int r = m;'), loop: '++r;' }),
    'a local': kernel({ own: arms('unsigned lim = m;', 'int lim = m;'), limit: 'lim' }),
    'one of three arms': kernel({ before: '#if SIZE == 8\ntypedef unsigned T;\n#elif SIZE == 4\ntypedef short T;\n#else\ntypedef int T;\n#endif', own: 'T lim = m;', limit: 'lim' }),
  };
  for (const [name, text] of Object.entries(cases)) test(name, () => { refuses(peel, text, 'arms-agree'); });

  test('hoist, with both lines and the macro that decides', () => {
    const outcome = refuses(hoist, kernel({ before: arms('#define STEP(x) ++x', '#define STEP(x) (void)x'), loop: 'STEP(m); if (n > 3) s += 2.f;' }), 'arms-agree');
    expect(JSON.stringify(outcome ?? '')).not.toContain('undefined');
  });
});

describe('edited', () => {
  const cases: Readonly<Record<string, string>> = {
    'names of arms that the kernel does not use': kernel({ before: arms('typedef unsigned T;\n#define STEP(x) ++x', 'typedef int T;\n#define STEP(x)') }),
    'the same in all arms': kernel({ before: arms('typedef int T; int host_a;', 'typedef int T; int host_b;'), own: 'T lim = m;', limit: 'lim' }),
    'a platform': kernel({ before: arms('#define STEP(x) (void)x', '#define STEP(x) ++x', '#ifdef __CUDACC__'), loop: 'STEP(o[9]);' }),
    'an architecture': kernel({ before: arms('#define STEP(x) (void)x', '#define STEP(x) ++x', '#if __CUDA_ARCH__ >= 600'), loop: 'STEP(o[9]);' }),
    'what the file decides itself': kernel({ before: `#define BIG 1\n${arms('typedef int T;', 'typedef unsigned T;')}`, own: 'T lim = m;', limit: 'lim' }),
    'an include guard': `#ifndef K_CUH\n#define K_CUH\ntypedef int T;\n${kernel({ own: 'T lim = m;', limit: 'lim' })}#endif\n`,
    'precision': kernel({ before: arms('typedef double real;', 'typedef float real;'), loop: 's += (real)i;' }),
    'a declaration that only one arm has': kernel({ before: arms('__device__ int twice(int x) { return 2 * x; }\n#define TWICE(x) twice(x)', null), loop: 's += 1.f;' }),
    'a member of the same name in another place': kernel({ before: `struct P {\n${arms('unsigned n;', 'int n;')}};` }),
  };
  for (const [name, text] of Object.entries(cases)) test(name, () => { expect([name, applied(peel, text)]).toEqual([name, true]); });
});
