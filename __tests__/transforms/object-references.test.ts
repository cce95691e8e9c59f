/** A branch stays in its loop where the loop may change what it tests through a reference, a pointer or an object that leads to it. */
import { beforeAll, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist as typed } from '../../transforms/hoist.js';
import type { Transform } from '../../transforms/lib/types.js';
import { load, outcomesOf, refuses } from '../helpers/transform.js';

const hoist = typed as Transform;

beforeAll(async () => { await initParser(); });

const DECLARATIONS = `struct Pair { int a, b; };
struct Ref { int &r; };
struct Made { int &r; __device__ Made(int &x) : r(x) {} __device__ void set(int v) { r = v; } };
struct Kept { int *p; };
struct Cell { int v; __device__ int &at() { return v; } __device__ int *place() { return &v; } __device__ Cell &self() { return *this; } };
__device__ int *address(int &a) { return &a; }
__device__ const int *look(const int &a) { return &a; }
__device__ int &same(int &a) { return a; }
__device__ void out(int &a, int **p) { *p = &a; }
__device__ Kept wrapped(int &a) { Kept k; k.p = &a; return k; }
__device__ int &picked(int *a, int i) { return a[i]; }
__device__ int *declared(int &a);
`;

function kernel(before: string, test: string, write: string, head = 'for (int i = 0; i < n; ++i)'): string {
  return `${DECLARATIONS}__global__ void k(int *o, int *g, int f, int n, Pair s) {
    int x = 0;
    ${before}
    ${head} {
        if (${test})
            x += 1;
        else
            x -= 3;
        ${write}
    }
    o[threadIdx.x] = x;
}
`;
}

test.each([
  ['a returned pointer', 'int *p = address(f);', 'f', '*p = x & 1;'],
  ['a returned pointer that is read', 'int *p = address(f);', '*p', 'f = x & 1;'],
  ['a pointer to what a const reference was bound to', 'const int *p = look(f);', '*p', 'f = x & 1;'],
  ['a pointer from a callee that is not seen', 'int *p = declared(f);', 'f', '*p = x & 1;'],
  ['a pointer from a callee of which nothing is seen', 'int *p = nowhere(f);', 'f', '*p = x & 1;'],
  ['a returned reference', 'int &r = same(f);', 'f', 'r = x & 1;'],
  ['a returned reference that is read', 'int &r = same(f);', 'r', 'f = x & 1;'],
  ['the address of a returned reference', 'int *p = &same(f);', 'f', '*p = x & 1;'],
  ['a method that returns a reference', 'Cell c; c.v = f; int &r = c.at();', 'c.v', 'r = x & 1;'],
  ['a method that returns a pointer', 'Cell c; c.v = f; int *p = c.place();', 'c.v', '*p = x & 1;'],
  ['a method that returns its object', 'Cell c; c.v = f; Cell &d = c.self();', 'c.v', 'd.v = x & 1;'],
  ['an out-parameter', 'int *p; out(f, &p);', 'f', '*p = x & 1;'],
  ['a returned object that holds the address', 'Kept h = wrapped(f);', 'f', '*h.p = x & 1;'],
  ['an element that a callee picks', 'int m[3] = {f, 2, 3}; int &r = picked(m, 1);', 'm[1]', 'r = x & 1;'],
  ['a lambda that returns a reference', 'auto l = [&]() -> int & { return f; }; int &r = l();', 'f', 'r = x & 1;'],
  ['a lambda that returns the address of its parameter', 'auto l = [](int &a) { return &a; }; int *p = l(f);', 'f', '*p = x & 1;'],
  ['one of several addresses', 'int *p = n > 3 ? address(f) : g;', 'f', '*p = x & 1;'],
  ['a pointer to a local variable', 'int *p = &f;', '*p', 'f = x & 1;'],
  ['a reference member of an aggregate', 'Ref r{f};', 'f', 'r.r = x & 1;'],
  ['a reference member of an aggregate that is read', 'Ref r{f};', 'r.r', 'f = x & 1;'],
  ['a reference member of an aggregate made by copy', 'Ref r = {f};', 'f', 'r.r = x & 1;'],
  ['a reference member of a copy', 'Ref q{f}; Ref r = q;', 'f', 'r.r = x & 1;'],
  ['a reference to an object with a reference member', 'Ref q{f}; Ref &r = q;', 'f', 'r.r = x & 1;'],
  ['a reference member that a constructor binds', 'Made r(f);', 'f', 'r.r = x & 1;'],
  ['a method that writes through a reference member', 'Made r(f);', 'f', 'r.set(x & 1);'],
  ['a reference member bound to shared memory', '__shared__ int t[2]; Ref r{t[0]};', 't[0]', 'r.r = x & 1;'],
  ['a structured binding by reference', 'auto &[a, b] = s;', 's.a', 'a = x & 1;'],
  ['a structured binding by reference that is read', 'auto &[a, b] = s;', 'a', 's.a = x & 1;'],
  ['a structured binding by forwarding reference', 'auto &&[a, b] = s;', 's.a', 'a = x & 1;'],
  ['a structured binding of an array', 'int m[2] = {f, 1}; auto &[a, b] = m;', 'm[0]', 'a = x & 1;'],
  ['a structured binding of a shared array', '__shared__ int t[2]; auto &[a, b] = t;', 't[0]', 'a = x & 1;'],
  ['a structured binding of a shared object', '__shared__ Pair t; auto &[a, b] = t;', 't.a', 'b = x & 1; a = b;'],
  ['a structured binding of a shared object that is read', '__shared__ Pair t; auto &[a, b] = t;', 'a', 't.a = x & 1;'],
  ['a binding by value of an object that holds a reference', 'Ref q{f}; auto [r] = q;', 'f', 'r = x & 1;'],
])('%s', (_, before, condition, write) => {
  refuses(hoist, kernel(before, condition, write), 'condition-invariant');
});

test.each([
  ['a reference', 'int &e', 'e = 0;'], ['a forwarding reference', 'auto &&e', 'e = x;'], ['an increment', 'auto &e', '++e;'], ['a call by reference', 'auto &e', 'same(e) = 0;'],
])('elements of a range by %s', (_, declared, write) => {
  refuses(hoist, kernel('int m[3] = {f, 2, 3};', 'm[0] > 0', write, `for (${declared} : m)`), 'condition-invariant');
  refuses(hoist, kernel('__shared__ int m[3];', 'm[0] > 0', write, `for (${declared} : m)`), 'condition-invariant');
  refuses(hoist, kernel('int m[2][3] = {{f, 1, 1}, {2, 2, 2}};', 'm[0][1] > 0', write, `for (auto &row : m) for (${declared} : row)`), 'condition-invariant');
});

test('parts of the elements of a range', () => {
  refuses(hoist, kernel('Pair m[3] = {s, s, s};', 'm[0].a > 0', 'a = 0;', 'for (auto &[a, b] : m)'), 'condition-invariant');
  refuses(hoist, kernel('Pair m[3] = {s, s, s};', 'm[0].a > 0', 'e.a = 0;', 'for (auto &e : m)'), 'condition-invariant');
});

test('a copy, or a reference that nothing is written through, keeps nobody from leaving', () => {
  const leaves = (text: string): void => { expect(outcomesOf(hoist, load(text)).some((outcome) => outcome.status === 'applied')).toBe(true); };
  leaves(kernel('int m[3] = {f, 2, 3};', 'f > 0', 'x += e;', 'for (int e : m)'));
  leaves(kernel('auto [a, b] = s;', 'a > 0', 'x += b;'));
  leaves(kernel('int &r = same(f);', 'n > 7', 'r = x;'));
  leaves(kernel('Pair p{f, n};', 'p.a > 0', 'x += p.b;'));
});
