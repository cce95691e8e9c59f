/** Copies of whole objects touch memory as their members would one by one, also onto themselves; what lies between the members is nobody's value. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent, type VerifyOptions } from '../../src/verify/index.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const kernel = (parameters: string, body: string): string => `struct Pair { int a, b; };
struct Mixed { char tag; double value; short more; };
__device__ Mixed made(int i) { Mixed m; m.tag = i; m.value = i * 0.5; m.more = -i; return m; }
__device__ int stirred(int i) { int t[12]; for (int j = 0; j < 12; j++) t[j] = ~(i + j); int *p = t; return p[i & 7]; }
__global__ void k(${parameters}, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { ${body} } }`;

function compare(parameters: string, first: string, second: string, options: VerifyOptions = {}): ReturnType<typeof verifyEquivalent> {
  return verifyEquivalent(load(kernel(parameters, first)).program, load(kernel(parameters, second)).program, 'k', options);
}

describe('an object onto itself', () => {
  test.each([
    ['float4 *y, const float4 *x', 'y[i] = x[i];', 'float4 t = x[i]; y[i].x = t.x; y[i].y = t.y; y[i].z = t.z; y[i].w = t.w;'],
    ['Pair *y, const Pair *x', 'y[i] = x[i];', 'y[i].a = x[i].a; y[i].b = x[i].b;'],
    ['Pair *y, Pair *x', 'Pair &to = y[i]; to = x[i];', 'Pair t{x[i].a, x[i].b}; y[i] = t;'],
    ['float *y, const float *x', '((float2 *)y)[i] = ((const float2 *)x)[i];', 'y[2 * i] = x[2 * i]; y[2 * i + 1] = x[2 * i + 1];'],
  ])('at one address, both ways: %s', (parameters, first, second) => {
    for (const [a, b] of [[first, second], [second, first]] as const) {
      const verdict = compare(parameters, a, b, { aliasing: 'try' });
      expect(verdict).toMatchObject({ status: 'equal', tried: { aliased: [expect.stringContaining('=')] } });
    }
  });
  test('writes beyond the original, and races', () => {
    expect(compare('Pair *y', 'y[i].a = 1;', 'y[i].a = 1; y[i + 900] = y[i + 900];').status).toBe('different');
    expect(compare('Pair *y', 'if (i == 3) y[0].a = 1;', 'if (i == 3) y[0].a = 1; y[0] = y[0];').status).toBe('different');
    const given = new Map([['y', { kind: 'contents', distribution: { kind: 'constant', value: 1 }, length: 100 }], ['n', { kind: 'value', value: 60 }]] as const);
    const verdict = compare('Pair *y', 'y[i].a = 1;', 'y[i].a = 1; Pair *p = y + 100; *p = *p;', { arguments: given });
    expect(verdict).toMatchObject({ status: 'different', counterexample: { differences: expect.arrayContaining([expect.stringContaining('global-out-of-bounds')]) } });
  });
});

describe('bytes between members', () => {
  const bare = 'y[i].tag = i; y[i].value = i * 0.5; y[i].more = -i;';
  const whole = 'int s = stirred(i); Mixed m = made(i); y[i] = m; if (s == 0) y[i].tag = 0;';
  const members = `int s = stirred(i); ${bare} if (s == 0) y[i].tag = 0;`;
  test('are no difference where a copy brings along what lay there', () => {
    expect(compare('Mixed *y', whole, members).status).toBe('equal');
    expect(compare('Mixed *y', members, whole).status).toBe('equal');
  });
  test('a member is', () => {
    expect(compare('Mixed *y', whole, members.replace('-i', 'i')).status).toBe('different');
    expect(compare('Mixed *y', bare, bare.replace('y[i].more', 'y[i].more = y[i].tag; y[i].tag = 3; y[i].more')).status).toBe('different');
  });
  test('nor are bytes that a program itself writes there the same', () => {
    expect(compare('Mixed *y', `${bare} ((char *)(y + i))[1] = 5;`, `${bare} ((char *)(y + i))[1] = 6;`).status).toBe('different');
  });
});

test('a vector stored by a built-in is one access of its width', () => {
  const verdict = compare('float *y, const float *x', 'float4 v = ((const float4 *)x)[i]; __stcs((float4 *)y + i, v);', 'float4 v = ((const float4 *)x)[i]; __stcs((float4 *)(y + 1) + i, v);');
  expect(verdict).toMatchObject({ status: 'different', counterexample: { differences: expect.arrayContaining([expect.stringContaining('misaligned')]) } });
});
