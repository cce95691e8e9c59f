/** A reference to `const` is the object that it is bound to, not a copy: what changes the object, by `const_cast`, `mutable` or another name, shows through it. Values are those of g++. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { contents, initParser, run } from './helpers.js';

beforeAll(async () => { await initParser(); });

const BEFORE = `
__device__ void cast(const int &x) { ++const_cast<int &>(x); }
__device__ void old(const int &x) { ++(int &)x; }
__device__ void pointed(const int &x) { *const_cast<int *>(&x) += 2; }
__device__ void viaVoid(const int &x) { const void *p = &x; *(int *)p += 3; }
template <class T> __device__ void generic(const T &x) { ++const_cast<T &>(x); }
__device__ void passed(const int &x) { old(x); generic(x); }
__device__ const int &same(const int &x) { return x; }
__device__ int both(const int &a, int &b) { b += 5; return a; }
__device__ int wide(const long long &a, int &b) { b += 5; return (int)a; }
struct Live { mutable int v; int w; __device__ int next() const { return ++v; } };
__device__ void bump(const Live &l) { ++l.v; l.next(); }
struct Holds { const int &r; __device__ Holds(const int &x) : r(x) {} __device__ int get() const { return r; } };
struct Casts { __device__ Casts(const int &x) { const_cast<int &>(x) += 7; } };
__device__ void taken(Casts) {}
struct Called { __device__ int operator()(const int &x) const { ++const_cast<int &>(x); return x; } };
__device__ Called operator+(const Called &c, const int &x) { ++(int &)x; return c; }
__device__ Casts made(int &x) { return x; }
`;

const SNIPPETS: readonly (readonly [string, number])[] = [
  ['int f = 1; cast(f); s = f;', 2],
  ['int f = 1; old(f); old(f); s = f;', 3],
  ['int f = 1; pointed(f); s = f;', 3],
  ['int f = 1; viaVoid(f); s = f;', 4],
  ['int f = 1; generic(f); generic<int>(f); s = f;', 3],
  ['int f = 1; passed(f); s = f;', 3],
  ['int f = 1; cast((f)); s = f;', 2],
  ['int f = 1, g = 1; cast(n > 0 ? f : g); s = f * 10 + g;', 21],
  ['int f = 1; cast(n > 5 ? f : 4); s = f;', 1],
  ['int f = 1; cast(f + 1); s = f;', 1],
  ['int f = 1; const_cast<int &>(same(f)) = 9; s = f;', 9],
  ['int f = 1; s = both(f, f);', 6],
  ['int f = 1; s = wide(f, f);', 1],
  ['int f = 1; const int &r = f; f = 8; s = r;', 8],
  ['int f = 1; const int &r = f; cast(r); s = f;', 2],
  ['int f = 1; const auto &r = f; const int &q = r; old(q); s = f;', 2],
  ['short f = 1; const int &r = f; f = 8; s = r;', 1],
  ['int f = 1; Holds h(f); f = 9; s = h.get();', 9],
  ['int f = 1; Holds h{f}; f = 9; s = h.r;', 9],
  ['int f = 1; Holds h = f; f = 9; s = h.get();', 9],
  ['int f = 1; Casts c(f); s = f;', 8],
  ['int f = 1; Casts c = f; s = f;', 8],
  ['int f = 1; Casts c{f}; s = f;', 8],
  ['int f = 1; Casts{f}; s = f;', 8],
  ['int f = 1; (Casts)f; s = f;', 8],
  ['int f = 1; taken(f); s = f;', 8],
  ['int f = 1; made(f); s = f;', 8],
  ['int f = 1; Called c; s = c(f) * 10 + f;', 22],
  ['int f = 1; Called c{}; c(f); s = f;', 2],
  ['int f = 1; s = Called{}(f) * 10 + f;', 22],
  ['int f = 1; Called c; c + f; s = f;', 2],
  ['int f = 1; [](const int &q) { ++(int &)q; }(f); s = f;', 2],
  ['int f = 1; auto l = [](const int &q) { ++const_cast<int &>(q); }; l(f); s = f;', 2],
  ['int f = 1; auto l = [](const auto &q) { ++const_cast<int &>(q); }; l(f); s = f;', 2],
  ['int f = 1; auto l = [](auto &q) { ++q; }; l(f); s = f;', 2],
  ['int f = 1; auto l = [](auto &&q) { ++q; return q; }; s = l(f) * 10 + f;', 22],
  ['int f = 1; auto l = [](auto &&q) { ++q; return q; }; s = l(4) * 10 + f;', 51],
  ['int f = 1; auto l = [](auto q) { ++q; return q; }; s = l(f) * 10 + f;', 21],
  ['int f = 1; auto l = [&](const int &q) { f = 6; return q; }; s = l(f);', 6],
  ['int f = 1; auto l = [f](int &q) { q = 6; return f; }; s = l(f);', 1],
  ['Live f{1, 2}; bump(f); s = f.v;', 3],
  ['const Live f{1, 2}; bump(f); f.v += 4; s = f.v;', 7],
  ['const Live f{1, 2}; [](const Live &q) { q.v++; }(f); s = f.v;', 2],
  ['Live f{1, 2}; cast(f.v); old(f.w); s = f.v * 10 + f.w;', 23],
  ['int f[2] = {1, 2}; cast(f[1]); s = f[1];', 3],
];

describe('references to const', () => {
  test.each(SNIPPETS)('%s', (text, expected) => {
    const result = run(`${BEFORE}\n__global__ void k(int *o, int n) { int s = 0; ${text} o[0] = s; }`, { block: [1, 1, 1], args: ['n=1'], size: 8 });
    expect(contents(result, 'o', 1)).toEqual([expected]);
  });
});
