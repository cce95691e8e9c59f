/** A barrier under a condition on a member that a method has changed by another name than the member's: a reference, a pointer, a lambda. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hazardsIn } from './hazard-pairs.js';

beforeAll(async () => { await initParser(); });

const text = (code: string): string => `
__device__ void raise(int &x) { x = threadIdx.x; }
struct O {
  int m; int arr[4];
  __device__ void up(int d) { m += d; }
  __device__ void inside(int *x, int n) { ${code} if (m > 3) __syncthreads(); x[threadIdx.x] = arr[0]; }
  __device__ void only(int n) { ${code} }
};
__global__ void k(int *x, int n) { O s{n}; s.inside(x, n); }
__global__ void behind(int *x, int n) { O s{n}; s.only(n); if (s.m > 3) __syncthreads(); x[threadIdx.x] = 1; }
`;

const found = (code: string): readonly string[] => hazardsIn(text(code)).hazards.map(({ id }) => id).filter((id) => id === 'barrier-divergent');

describe('a member that differs between threads', () => {
  test.each([
    'O &f = *this; f.m = threadIdx.x;', 'O *f = this; f->m = threadIdx.x;', 'int *p = &m; *p = threadIdx.x;', 'int &p = m; p = threadIdx.x;', 'int *p = arr; p[1] = threadIdx.x; m = arr[1];', 'O &f = *this; f.up(threadIdx.x);',
    'int &p = m; raise(p);', 'O *f = this; O &h = *f; h.m = threadIdx.x;',
  ])('%s', (code) => {
    expect(found(code)).toEqual(['barrier-divergent', 'barrier-divergent']);
  });
});

test.each(['O &f = *this; f.m = n;', 'O *f = this; if (f->m > 3) n = 1;', 'int *p = &m; *p = n;', 'int &p = m; n = p;', 'O &f = *this; f.up(n);'])('one value for all: %s', (code) => {
  expect(found(code)).toEqual([]);
});
