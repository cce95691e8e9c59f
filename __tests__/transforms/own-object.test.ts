/** A condition on a member does not leave a loop that changes the member by another name: through a lambda that captures the object, a reference, a pointer. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { ballot } from '../../transforms/ballot.js';
import { hoist } from '../../transforms/hoist.js';
import { peel } from '../../transforms/peel.js';
import { load, outcomesOf } from '../helpers/transform.js';
import type { Transform } from '../../transforms/lib/types.js';

beforeAll(async () => { await initParser(); });

const method = (head: string, before: string, inside: string, condition: string): string => `
__device__ void raise(int &x) { x += 3; }
${head}struct O {
  int m; int arr[4]; struct In { int z; } in;
  __device__ void up(int d) { m += d; }
  __device__ int plus(int d) const { return m + d; }
  __device__ int run(const int *__restrict__ a, int n) {
    int s = 0;
    ${before}
    for (int i = 0; i < n; i++) {
      ${inside}
      if (${condition}) { s += a[i] * 3; s ^= a[i]; s += a[i] >> 2; } else { s -= a[i]; s *= 3; s ^= 5; }
    }
    return s;
  }
};
__global__ void k(const int *__restrict__ a, int *__restrict__ o, int n, int v) { ${head === '' ? 'O' : 'O<1>'} s{v}; o[threadIdx.x] = s.run(a, n); }
`;

const applied = (transform: Transform, text: string): boolean => outcomesOf(transform, load(text), { evenIfItLoses: true }).some(({ status }) => status === 'applied');

/** What stands before the loop, in it, and a twin of the latter that changes nothing. */
const CHANGES: readonly (readonly [string, string, string])[] = [
  ['auto f = [this](int d) { m += d; };', 'f(a[i]);', 's += i;'],
  ['auto f = [this](int d) { m += d; return d; };', 's += f(a[i]);', 's += i;'],
  ['auto f = [&](int d) { m += d; };', 'f(a[i]);', 's += i;'],
  ['auto f = [=](int d) { this->m += d; };', 'f(a[i]);', 's += i;'],
  ['auto f = [this](auto d) { m += d; };', 'f(a[i]);', 's += i;'],
  ['auto f = [this](int d) { auto g = [this, d] { m += d; }; g(); };', 'f(a[i]);', 's += i;'],
  ['auto f = [this](int d) { up(d); };', 'f(a[i]);', 's += i;'],
  ['auto f = [&](int d) { this->up(d); };', 'f(a[i]);', 's += i;'],
  ['auto f = [this](int d) { raise(m); return d; };', 's += f(a[i]);', 's += i;'],
  ['auto f = [this](int d) { int *p = &m; *p = d; };', 'f(a[i]);', 's += i;'],
  ['auto f = [this](int d) { for (int &x : arr) x = d; m = arr[0]; };', 'f(a[i]);', 's += i;'],
  ['auto f = [this](int d) { m += d; }; auto g = f;', 'g(a[i]);', 's += i;'],
  ['auto f = [this](int d) { m += d; }; auto &g = f;', 'g(a[i]);', 's += i;'],
  ['O &f = *this;', 'f.m += a[i];', 's += f.m;'],
  ['O &f = *this; auto g = [&](int d) { f.m += d; };', 'g(a[i]);', 's += f.m;'],
  ['O *f = this; auto g = [=](int d) { f->m += d; };', 'g(a[i]);', 's += f->m;'],
  ['O *f = this;', 'f->up(a[i]);', 's += f->m;'],
  ['int *p = &m;', '*p += a[i];', 's += *p;'],
  ['int &p = m;', 'raise(p);', 's += p;'],
  ['', '[this](int d) { m += d; }(a[i]);', 's += [this](int d) { return m + d; }(a[i]);'],
  ['auto f = [this](int d) { return m + d; };', 's += f(a[i]); m = s;', 's += f(a[i]);'],
  ['auto f = [this](int d) { return plus(d); };', 's += f(a[i]); up(s);', 's += f(a[i]);'],
];

describe.each([['a class', ''], ['a class template', 'template <int N> ']])('of %s', (_, head) => {
  test.each(CHANGES)('%s %s', (before, change, twin) => {
    for (const transform of [hoist, peel, ballot]) expect(applied(transform, method(head, before, change, 'm > 3'))).toBe(false);
    expect(applied(hoist, method(head, before, twin, 'm > 3'))).toBe(true);
  });
});
