/** Names in text that compact moves: what the kernel's body declares moves along, stays a constant, is carried, or is a refusal; new names are no macros. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { compact } from '../../transforms/compact.js';
import { applyAll, refuses, type RunOptions } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

/** A kernel with a declaration between the early exit and the branch that uses it. */
function kernel(declared: string, used: string, head = ''): string {
  return `${head}
__global__ void relax(const float *__restrict__ x, const int *__restrict__ kind, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    ${declared}
    if (kind[i] == 3) {
        float v = x[i];
        for (int k = 0; k < 64; ++k) v = v * 0.75f + sqrtf(fabsf(v));
        ${used}
        y[i] = v;
    }
}
void run(const float *x, const int *kind, float *y, int n) { relax<<<(n + 127) / 128, 128>>>(x, kind, y, n); }
`;
}

const SPACE = 'namespace ns { struct Vec { float x; }; __device__ float hlp(float a) { return a + 1; } }\n';

const DECLARED: readonly (readonly [string, string, string, string])[] = [
  ['a typedef', 'typedef double real;', 'real w = v; v = (float)w;', ''],
  ['a typedef that only a cast names', 'typedef double real;', 'v = (float)((real)v * 2);', ''],
  ['an alias', 'using real = double;', 'real w[2] = { v, v }; v = (float)w[1];', ''],
  ['an enum', 'enum { STEPS = 3 };', 'v += STEPS;', ''],
  ['an enum with a name', 'enum Kind { FIRST, SECOND };', 'Kind kept = SECOND; v += kept;', ''],
  ['a scoped enum', 'enum class Kind { FIRST, SECOND };', 'v += (int)Kind::SECOND;', ''],
  ['a struct', 'struct Pair { float a, b; };', 'Pair p{v, 1}; v = p.a + p.b;', ''],
  ['a union', 'union Bits { float f; int i; };', 'Bits b; b.f = v; v += b.i & 1;', ''],
  ['a constant that a length asks for', 'const int K = 4;', 'float w[K]; w[i % K] = v; v = w[i % K];', ''],
  ['constexpr', 'constexpr int K = 4;', 'float w[K]; w[i % K] = v; v = w[i % K];', ''],
  ['static constexpr', 'static constexpr int K = 4;', 'float w[K]; w[i % K] = v; v = w[i % K];', ''],
  ['constants of one declaration, one from the other', 'const int K = sizeof(int) * 2, Q = K + 1;', 'float w[Q]; w[i % K] = v; v = w[i % K];', ''],
  ['a using-declaration', 'using ns::hlp;', 'v = hlp(v);', SPACE],
  ['a using-declaration of a type', 'using ns::Vec;', 'Vec w{v}; v = w.x;', SPACE],
  ['a using-directive', 'using namespace ns;', 'v = hlp(v);', SPACE],
  ['an alias of a namespace', 'namespace q = ns;', 'v = q::hlp(v);', SPACE],
  ['a function', 'extern __device__ float later(float);', 'v = later(v);', '__device__ float later(float a) { return a + 1; }\n'],
];

const MODES: readonly (readonly [string, RunOptions])[] = [
  ['block', { evenIfItLoses: true }],
  ['grid', { variant: 'grid', evenIfItLoses: true }],
  ['grid, in order', { variant: 'grid', options: new Map([['order', 'keep']]), evenIfItLoses: true }],
];

describe.each(MODES)('%s: what the body declares moves along', (mode, options) => {
  test.each(DECLARED)('%s', (_name, declared, used, head) => {
    const { text, rounds } = applyAll(compact, kernel(declared, used, head), options);
    expect(rounds).toBe(1);
    const at = text.lastIndexOf(declared);
    expect(at).toBeGreaterThan(0);
    expect(text.indexOf(used)).toBeGreaterThan(at);
    if (mode !== 'block') expect(text.slice(text.indexOf('relax_heavy('))).toContain(declared);
    else expect(at).toBeLessThan(text.indexOf('__shared__'));
  });

  test('what nothing of it names stays', () => {
    const { text } = applyAll(compact, kernel('typedef double real; real seen = 1.0; y[i] = (float)seen;', 'v += 1.0f;'), options);
    expect(text.match(/typedef double real;/g)).toHaveLength(1);
  });
});

describe('in front of the exit a name would mean another thing', () => {
  test.each([
    ['in text before it', '{ constexpr int K = 2; y[i] = K; } constexpr int K = 4;', 'float w[K]; w[0] = v; v = w[0];', ''],
    ['a parameter', '{ y[i] = n; } struct n { float a; };', 'n p{v}; v = p.a;', ''],
    ['through a directive', 'y[i] = start(x[i]); using namespace ns;', 'v = hlp(v);', `${SPACE}__device__ float start(float a) { return a; }\n`],
    ['a type of a value', 'float first = x[i]; y[i] = first; using real = decltype(first);', 'real w = v; v = w;', ''],
    ['the type of a value that is not used', 'double wide = x[i]; y[i] = (float)wide;', 'decltype(wide) w = v; v = (float)w;', ''],
    ['a type with a value', 'struct Pair { float a; } first = { x[i] }; y[i] = first.a;', 'Pair p{v}; v = p.a;', ''],
    ['a constant with a value', 'const int K = 4, own = kind[i] + 1; y[i] = own;', 'float w[K]; w[0] = v; v = w[0];', ''],
  ])('%s', (_name, declared, used, head) => {
    refuses(compact, kernel(declared, used, head), 'names-resolve', { evenIfItLoses: true });
  });
});

test('a constant that is carried stays one', () => {
  const { text } = applyAll(compact, kernel('const float first = x[i]; y[i] = first;', 'v += first;'), { evenIfItLoses: true });
  expect(text).toContain('const float first = queue_first[thread];');
});

test.each(['active', 'thread', 'votes', 'activeInWarp', 'slot', 'items', 'w', 'queue_i'])('%s is not written where a header makes it a macro', (name) => {
  const { text } = applyAll(compact, `#include "o.h"\n${kernel('', '')}`, { evenIfItLoses: true, headers: { 'o.h': `#define ${name} 4\n` } });
  expect(text).toContain(`${name}2`);
  expect(text.replaceAll(/\/\/.*/g, '')).not.toMatch(new RegExp(`\\b${name}\\b`));
});

test('dynamic memory that a launch asks for counts though the kernel names none', () => {
  const asking = (bytes: string): string => kernel('', '').replace('128>>>', `128, ${bytes}>>>`);
  refuses(compact, asking('49152'), 'shared-memory-budget', { evenIfItLoses: true });
  refuses(compact, asking('n'), 'shared-memory-budget', { evenIfItLoses: true });
  expect(applyAll(compact, asking('1024'), { evenIfItLoses: true }).rounds).toBe(1);
});
