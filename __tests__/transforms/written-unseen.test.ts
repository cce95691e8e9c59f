/** A condition that the loop changes through an lvalue which does not plainly name the variable is not invariant, and its variable is no bound. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist } from '../../transforms/hoist.js';
import { peel } from '../../transforms/peel.js';
import { load, outcomesOf } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const BEFORE = `
struct V { int x; __device__ void set(int k) { x = k; } __device__ V &own() { return *this; } __device__ V *at() { return this; } __device__ int &part() { return x; } __device__ void operator+=(int k) { x += k; } __device__ void operator()(int k) { x = k; } };
__device__ void one(int &r, int k) { r = k; }
__device__ void there(V *r, int k) { r->x = k; }
__device__ V &same(V &v) { return v; }
`;

const WRITES: readonly string[] = [
  '(&q)->x = i;', '(&q)->set(i);', '(n > 9 ? q : r).x = i;', '(n > 9 ? q : r).x++;', '(n > 9 ? q : r).set(i);', '(n > 9 ? q : r) += i;', '(n > 9 ? q : r)(i);', '(n > 9 ? q : r) = V{i};', '(&(n > 9 ? q : r))->set(i);',
  '(n > 9 ? (n > 10 ? r : q) : q).x = i;', 'atomicAdd(&(n > 9 ? q : r).x, i);', 'there(&(n > 9 ? q : r), i);', 'one((n > 9 ? q : r).x, i);', 'one((&q)->x, i);', '{ int &z = (n > 9 ? q : r).x; z = i; }', '{ auto *z = &(n > 9 ? q : r); z->x = i; }',
  '(&q)->own().x = i;', '(n > 9 ? q : r).own().x = i;', '(n > 9 ? q : r).at()->x = i;', '(n > 9 ? q : r).part() = i;', '(&q)->part() = i;', '{ int &z = (&q)->part(); z = i; }', 'same(n > 9 ? q : r).set(i);', '{ decltype(auto) z = (q); z.x = i; }',
  '{ V &z = n > 9 ? q : r; z.set(i); }', 'if (a[i] > 0) (&q)->set(i);',
];

const SCALARS: readonly string[] = [
  '(n > 9 ? u : y) = i;', '++(n > 9 ? u : y);', '(n > 9 ? u : y)--;', '(n > 9 ? u : y) += 2;', 'one(n > 9 ? u : y, i);', '{ int &z = n > 9 ? u : y; z = i; }', '{ decltype(auto) z = (u); z = i; }', '{ int *z = n > 9 ? &u : &y; *z = i; }',
  '(&u)[0] = i;', '0[&u] = i;', '*(n > 9 ? &u : &y) = i;', '(s++, u) = i;', 'atomicMax(n > 9 ? &u : &y, i);',
];

const source = (condition: string, write: string): string => `${BEFORE}
__global__ void k(const int *__restrict__ a, int *__restrict__ o, int n, int m) {
    int s = 0, u = m, y = m; V q{m}, r{m};
    for (int i = 0; i < n; i++) {
        if (${condition}) { s += a[i] * 3; s ^= a[i]; s += a[i] >> 2; } else { s -= a[i]; s *= 3; s ^= 5; }
        ${write}
    }
    o[threadIdx.x] = s;
}
`;

/** Is the condition, or its loop, treated? The line of the write behind it may hold a branch of its own, which may well be. */
const applied = (transform: Parameters<typeof outcomesOf>[0], condition: string, write: string): boolean => {
  const text = source(condition, write);
  const line = text.split('\n').findIndex((one) => one.includes(`if (${condition})`)) + 1;
  const all = outcomesOf(transform, load(text), { evenIfItLoses: true });
  return all.some((o) => o.site.line <= line && o.status === 'applied');
};

describe.each(WRITES)('%s', (write) => {
  test('hoist', () => {
    expect(applied(hoist, 'q.x > 3', write)).toBe(false);
  });
});

describe.each(SCALARS)('%s', (write) => {
  test('peel', () => {
    expect(applied(peel, 'i < u', write)).toBe(false);
  });
});

test('what the loop leaves alone is hoisted and peeled', () => {
  expect(applied(hoist, 'q.x > 3', 'r.x = i;')).toBe(true);
  expect(applied(peel, 'i < u', 'y = i;')).toBe(true);
});
