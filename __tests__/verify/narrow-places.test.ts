/** Values of a thread's place in narrow types: the grids that show them wrap are tried, or the verdict says that they were not. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { usageOf } from '../../src/simulate/usage.js';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const text = (line: string, use: string, launch: string): string => `
__global__ void k(int *o, int n, unsigned u) {
    ${line}
    ${use}
    if (blockIdx.x == 0 && threadIdx.x + 1 < n) o[threadIdx.x + 1] = n;
}
void host(int *o, int n, int g) { k<<<${launch}>>>(o, n, 7u); }
`;

function compare(line: string, first: string, second: string, launch: string): ReturnType<typeof verifyEquivalent> {
  return verifyEquivalent(load(text(line, first, launch)).program, load(text(line, second, launch)).program, 'k', { budgetMs: 4000 });
}

describe('a difference behind the wrap', () => {
  test.each([
    ['short c = (short)(blockIdx.x * blockDim.x + threadIdx.x);', 'if (c < 0) atomicAdd(o, 1);', 'if (c < 0) atomicAdd(o, 2);', 'g, 256'],
    ['unsigned i = blockIdx.x * blockDim.x + threadIdx.x; short c; c = i;', 'if (c < -3) atomicAdd(o, 1);', '', '1024, 256'],
    ['signed char c = threadIdx.x;', 'if (c < 0) atomicAdd(o, 5);', '', 'g, 256'],
    ['int b = blockIdx.x; int i = b * 64 + threadIdx.x;', 'if ((unsigned char)i != i) atomicAdd(o, 3);', '', 'g, 64'],
  ])('%s', (line, first, second, launch) => {
    expect(compare(line, first, second, launch).status).toBe('different');
    const same = compare(line, first, first, launch);
    expect(same.status).toBe('equal');
    expect(same.notes.filter((note) => note.includes('was tried'))).toEqual([]);
  });
});

test('what the launches do not reach is not tried, and what costs too much is told', () => {
  const small = compare('short c = (short)(blockIdx.x * blockDim.x + threadIdx.x);', 'o[0] = c == 1;', 'o[0] = c == 1;', '4, 256');
  expect(small.notes.filter((note) => note.includes('was tried'))).toEqual([]);
  const before = load(text('short c = (short)(blockIdx.x * blockDim.x + threadIdx.x);', 'if (c == 1) o[0] = 1;', 'g, 256')).program;
  const told = verifyEquivalent(before, before, 'k', { grids: [[2, 1, 1]] });
  expect(told.notes.join()).toMatch(/16 bits, and no grid with more than 32768 threads was tried/);
});

test('what is narrow', () => {
  const of = (line: string): readonly number[] | undefined => {
    const [kernel] = load(text(line, '', 'g, 32')).unit.kernels;
    if (kernel === undefined) throw new Error('no kernel');
    return usageOf(kernel).narrow;
  };
  expect(of('unsigned char c = n; short d = u; o[0] = c + d;')).toEqual([]);
  expect(of('int i = threadIdx.x; int j = i + 1; unsigned char c = j; short d = blockIdx.x; o[0] = c + d;')).toEqual([256, 32768]);
  expect(of('o[0] = (signed char)threadIdx.x;')).toEqual([128]);
});
