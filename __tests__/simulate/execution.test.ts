import { beforeAll, describe, expect, test } from '@jest/globals';
import { contents, faultKinds, initParser, ran, run } from './helpers.js';

beforeAll(async () => { await initParser(); });

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const clean = (r: Parameters<typeof ran>[0]): void => { expect(ran(r).faults).toEqual([]); };

describe('control flow per lane', () => {
  test('if, else, nested and early return', () => {
    const r = run(`__global__ void k(int* y) {
      int t = threadIdx.x; int v = 0;
      if (t < 10) { if (t % 2 == 0) v = 1; else v = 2; } else if (t < 20) v = 3;
      if (t >= 30) return;
      y[t] = v;
    }`);
    clean(r);
    expect(contents(r, 'y', 30)).toEqual(range(30).map((t) => (t < 10 ? (t % 2 === 0 ? 1 : 2) : t < 20 ? 3 : 0)));
  });

  test('loops with break and continue per lane, nested', () => {
    const r = run(`__global__ void k(int* y) {
      int t = threadIdx.x, s = 0;
      for (int i = 0; i < 40; ++i) {
        if (i == t) continue;
        if (i > t + 3) break;
        int j = 0;
        while (true) { if (j >= i) break; s += j; ++j; }
      }
      do { s++; } while (s % 5 != 0);
      y[t] = s;
    }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => {
      let s = 0;
      for (let i = 0; i < 40; i++) { if (i === t) continue; if (i > t + 3) break; for (let j = 0; j < i; j++) s += j; }
      do s++; while (s % 5 !== 0);
      return s;
    }));
  });

  test('?: of void arms runs the arm of each lane for its effects', () => {
    const r = run(`__device__ void up(int &c) { c += 2; }
    __global__ void k(int* y) {
      int t = threadIdx.x, c = 0;
      t < 8 ? (void)c++ : (void)c--;
      t % 2 == 0 ? up(c) : (void)0;
      y[t] = c;
    }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => (t < 8 ? 1 : -1) + (t % 2 === 0 ? 2 : 0)));
  });

  test('switch with fall-through, default in the middle, break and return', () => {
    const r = run(`__global__ void k(int* y) {
      int t = threadIdx.x, s = 0;
      switch (t % 6) {
        case 0: s += 1;
        case 1: s += 10; break;
        default: s += 100;
        case 3: s += 1000; break;
        case 4: y[t] = -1; return;
      }
      y[t] = s;
    }`);
    clean(r);
    const expected = [11, 10, 1100, 1000, -1, 1100];
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => expected[t % 6]));
  });

  test('short circuit, comma, ternary with effects, increments', () => {
    const r = run(`__global__ void k(int* y, int* z) {
      int t = threadIdx.x, a = 0, b = 0;
      if (t > 5 && ++a > 0 || ((b += 2), t == 3)) a += 10;
      int c = t & 1 ? a++ : --b;
      y[t] = a * 100 + b; z[t] = c;
    }`);
    clean(r);
    const rows = range(32).map((t) => {
      let a = 0; let b = 0;
      if ((t > 5 && ++a > 0) || ((b += 2), t === 3)) a += 10;
      const c = t & 1 ? a++ : --b;
      return [a * 100 + b, c];
    });
    expect(contents(r, 'y', 32)).toEqual(rows.map((x) => x[0]));
    expect(contents(r, 'z', 32)).toEqual(rows.map((x) => x[1]));
  });

  test('device functions: returns under divergence, references, pointers, recursion', () => {
    const r = run(`
      __device__ int pick(int t) { if (t < 3) return 1; for (int i = 0; ; ++i) if (i * i > t) return i; }
      __device__ void twice(int& a, int* b) { a *= 2; *b += a; }
      __device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
      __global__ void k(int* y, int* z) {
        int t = threadIdx.x, a = pick(t), b = 5;
        twice(a, &b);
        y[t] = a * 1000 + b; z[t] = fib(t % 10);
      }`);
    clean(r);
    const pick = (t: number): number => { if (t < 3) return 1; for (let i = 0; ; i++) if (i * i > t) return i; };
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => { const a = 2 * pick(t); return a * 1000 + 5 + a; }));
    const fib = (n: number): number => (n < 2 ? n : fib(n - 1) + fib(n - 2));
    expect(contents(r, 'z', 32)).toEqual(range(32).map((t) => fib(t % 10)));
  });
});

describe('types', () => {
  test('unsigned wrap-around, mixed comparisons, narrow types, 64 bits', () => {
    const r = run(`__global__ void k(int* y, unsigned* u, long long* w) {
      unsigned t = threadIdx.x; int i = threadIdx.x;
      y[t] = (t - 1 < 31u) + 2 * (i - 1 < 31) + 4 * (i - 5 < (unsigned)3);
      unsigned char c = (unsigned char)(i * 100); signed char s = (signed char)(i * 100); short h = (short)(i * 5000);
      u[t] = c + s + h;
      long long v = 1LL << 40; v *= i; v += (long long)t * 0x123456789ABCDEFLL; v ^= v >> 7;
      w[t] = v / 3 - v % 1000;
    }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => (t !== 0 ? 1 : 0) + 2 + (t >= 5 && t < 8 ? 4 : 0)));
    expect(contents(r, 'u', 32, 'u32')).toEqual(range(32).map((i) => (((i * 100) & 255) + ((i * 100) << 24 >> 24) + ((i * 5000) << 16 >> 16)) >>> 0));
    expect(contents(r, 'w', 32, 'i64')).toEqual(range(32).map((i) => {
      let v = BigInt.asIntN(64, (1n << 40n) * BigInt(i) + BigInt(i) * 0x123456789ABCDEFn);
      v ^= v >> 7n;
      return BigInt.asIntN(64, v / 3n - (v % 1000n));
    }));
  });

  test('float rounds at every operation, double does not', () => {
    const r = run(`__global__ void k(float* y, double* d) {
      float x = threadIdx.x * 0.1f; float a = x * x + 1.1f; a = a / 3.0f - x; y[threadIdx.x] = a * 0.7;
      d[threadIdx.x] = threadIdx.x * 0.1 / 3;
    }`);
    clean(r);
    const f = Math.fround;
    expect(contents(r, 'y', 32, 'f32')).toEqual(range(32).map((t) => {
      const x = f(t * f(0.1));
      let a = f(f(x * x) + f(1.1));
      a = f(f(a / 3) - x);
      return f(a * 0.7);
    }));
    expect(contents(r, 'd', 32, 'f64')).toEqual(range(32).map((t) => (t * 0.1) / 3));
  });

  test('structs, vectors, arrays of arrays, pointer arithmetic and casts', () => {
    const r = run(`
      struct P { int a; float b; short c[3]; };
      __device__ P make(int t) { P p = { t, t * 0.5f, { 1, 2 } }; p.c[2] = t; return p; }
      __global__ void k(int* y, float4* v, int* z) {
        int t = threadIdx.x;
        P p = make(t); P q = p; q.a += 1;
        y[t] = p.a + q.a + q.c[0] + q.c[1] + p.c[2] + (int)(p.b * 4);
        float4 f = make_float4(t, 1, 2, 3); f.w += f.x; v[t] = f;
        int m[2][3] = { { 1, 2, 3 }, { 4, 5 } };
        int* e = &m[0][0]; e += t % 6;
        z[t] = *e + e[0] + (reinterpret_cast<unsigned char*>(&t))[0];
      }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => t + t + 1 + 1 + 2 + t + 2 * t));
    expect(contents(r, 'v', 128, 'f32')).toEqual(range(32).flatMap((t) => [t, 1, 2, 3 + t]));
    expect(contents(r, 'z', 32)).toEqual(range(32).map((t) => 2 * ([1, 2, 3, 4, 5, 0][t % 6] ?? 0) + t));
  });

  test('templates and lambdas', () => {
    const r = run(`
      template <typename T, int N> __device__ T power(T x) { T r = 1; for (int i = 0; i < N; ++i) r *= x; return r; }
      template <typename F> __device__ int apply(F f, int x) { return f(x) + f(x + 1); }
      __global__ void k(int* y, float* z) {
        int t = threadIdx.x; int base = 100;
        auto g = [=](int q) { if (q > 10) return q * 2; return base + q; };
        y[t] = power<int, 3>(t) + apply(g, t);
        z[t] = power<float, 2>(t * 0.5f);
      }`);
    clean(r);
    const g = (q: number): number => (q > 10 ? q * 2 : 100 + q);
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => t ** 3 + g(t) + g(t + 1)));
    expect(contents(r, 'z', 32, 'f32')).toEqual(range(32).map((t) => (t * 0.5) ** 2));
  });

  test('functions as template arguments, nullptr for any pointer', () => {
    const r = run(`
      using Op = int (*)(int, int);
      __device__ int add(int a, int b) { return a + b; }
      __device__ int bigger(int a, int b) { return a > b ? a : b; }
      template <Op op> __device__ int fold(int v) { for (int o = 16; o > 0; o >>= 1) v = op(v, __shfl_xor_sync(0xffffffffu, v, o)); return v; }
      __device__ int twice(const int* p, int* q, int v) { if (q != nullptr) *q = v; return p == nullptr ? v : *p; }
      __global__ void k(int* y, int* z) { int t = threadIdx.x; y[t] = fold<add>(t) * 100 + fold<bigger>(t); z[t] = twice(nullptr, nullptr, t); }`);
    clean(r);
    expect(contents(r, 'y', 2)).toEqual([49631, 49631]);
    expect(contents(r, 'z', 3)).toEqual([0, 1, 2]);
  });

  test('constant and device memory, enumerators, static constants', () => {
    const r = run(`
      enum Kind { A, B = 5, C };
      __constant__ float table[4] = { 1.5f, 2.5f };
      __device__ int counter = 7;
      const int STEP = 3;
      __global__ void k(float* y, int* z) {
        int t = threadIdx.x;
        y[t] = table[t & 3] + C + STEP;
        if (t == 0) z[0] = counter;
      }`);
    clean(r);
    expect(contents(r, 'y', 4, 'f32')).toEqual([10.5, 11.5, 9, 9]);
    expect(contents(r, 'z', 1)).toEqual([7]);
  });
});

describe('threads together', () => {
  test('shared memory and barriers over several warps', () => {
    const r = run(`__global__ void k(int* y) {
      __shared__ int s[128];
      int t = threadIdx.x;
      s[t] = t * t;
      __syncthreads();
      for (int d = 64; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
      if (t == 0) y[blockIdx.x] = s[0];
    }`, { block: [128, 1, 1], grid: [3, 1, 1] });
    clean(r);
    const total = range(128).reduce((s, t) => s + t * t, 0);
    expect(contents(r, 'y', 3)).toEqual([total, total, total]);
  });

  test('shuffles, votes, reductions', () => {
    const r = run(`__global__ void k(int* y, unsigned* b, int* z) {
      int t = threadIdx.x; int v = t;
      for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
      y[t] = __shfl_sync(0xffffffffu, v, 0);
      b[t] = __ballot_sync(0xffffffffu, t % 3 == 0) + __any_sync(0xffffffffu, t == 40) + __popc(__match_any_sync(0xffffffffu, t / 4));
      z[t] = __shfl_xor_sync(0xffffffffu, t, 1) * 100 + __shfl_up_sync(0xffffffffu, t, 2, 8) + __reduce_max_sync(0xffffffffu, t);
    }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32).map(() => 496));
    const ballot = range(32).reduce((m, t) => m + (t % 3 === 0 ? 2 ** t : 0), 0);
    expect(contents(r, 'b', 32, 'u32')).toEqual(range(32).map(() => ballot + 4));
    expect(contents(r, 'z', 32)).toEqual(range(32).map((t) => (t ^ 1) * 100 + (t % 8 < 2 ? t : t - 2) + 31));
  });

  test('atomics under several schedules', () => {
    for (const scheduleSeed of [0, 1, 2]) {
      const r = run(`__global__ void k(int* y, unsigned long long* w) {
        atomicAdd(&y[threadIdx.x % 4], 1); atomicMax(y + 4, (int)threadIdx.x); atomicAdd(w, (unsigned long long)1 << 33);
      }`, { block: [96, 1, 1], grid: [5, 1, 1], args: ['y=constant(0)', 'w=constant(0)'], options: { scheduleSeed } });
      clean(r);
      expect(contents(r, 'y', 5)).toEqual([120, 120, 120, 120, 95]);
      expect(contents(r, 'w', 1, 'u64')).toEqual([480n * 2n ** 33n]);
    }
  });

  test('the same intrinsic in both arms meets (SEMANTICS 5.1)', () => {
    const r = run(`__global__ void k(int* y) {
      int t = threadIdx.x, v;
      if (t < 16) v = __shfl_xor_sync(0xffffffff, t, 16); else v = __shfl_xor_sync(0xffffffff, t * 2, 16);
      y[t] = v;
    }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => (t < 16 ? (t + 16) * 2 : t - 16)));
  });

  test('a block of partial warps, block votes', () => {
    const r = run(`__global__ void k(int* y) { int c = __syncthreads_count(threadIdx.x % 2 == 0); y[threadIdx.x] = c + 1000 * __syncthreads_and(c > 3); }`, { block: [50, 1, 1] });
    clean(r);
    expect(contents(r, 'y', 50)).toEqual(range(50).map(() => 1025));
  });
});

describe('faults', () => {
  test.each([
    ['a mask that names a lane that does not arrive', 'if (t < 16) y[t] = __shfl_down_sync(0xffffffff, t, 1);', 'mask-names-absent-lane'],
    ['a caller outside its own mask', 'y[t] = __ballot_sync(0x0000ffff, t > 3);', 'caller-not-in-mask'],
    ['a shuffle from a lane that has exited', 'if (t >= 16) return; y[t] = __shfl_sync(0x0000ffff, t, 20);', 'shuffle-inactive-source'],
    ['a race in shared memory', 'sh[t] = t; y[t] = sh[(t + 33) % 64];', 'race-shared'],
    ['a race in global memory', 'y[0] = t;', 'race-global'],
    ['equal values stored by several lanes', 'y[0] = 5;', 'same-value-race'],
    ['shared memory that no one wrote', 'y[t] = sh[t];', 'uninitialised-shared'],
    ['a local without a value', 'int v; if (t < 5) v = 1; y[t] = v;', 'uninitialised-local'],
    ['division by zero', 'y[t] = 10 / (t - 3);', 'division-by-zero'],
    ['an index outside a static array', 'int a[4] = {0}; a[t & 7] = 1; y[t] = a[0];', 'array-out-of-bounds'],
    ['an index outside a shared array', 'sh[t + 60] = 1;', 'array-out-of-bounds'],
    ['a barrier that some lanes skip', 'if (t % 2) __syncthreads(); y[t] = 1;', 'barrier-divergent'],
    ['a null pointer', 'int* p = nullptr; if (t == 3) y[t] = *p;', 'null-dereference'],
    ['a failed assertion', 'assert(t < 5);', 'assertion'],
  ])('%s', (_name, body, kind) => {
    const r = run(`__global__ void k(int* y) { __shared__ int sh[64]; int t = threadIdx.x; ${body} }`, { block: [64, 1, 1] });
    expect(faultKinds(r)).toContain(kind);
  });

  test('a fault carries line and lanes', () => {
    const r = ran(run('__global__ void k(int* y) {\n  int t = threadIdx.x;\n  if (t < 16)\n    y[t] = __shfl_down_sync(0xffffffff, t, 1);\n}'));
    expect(r.faults[0]).toMatchObject({ kind: 'mask-names-absent-lane', lanes: 0xffff0000 | 0, severity: 'error' });
    expect(r.faults[0]?.message).toContain('16-31');
  });

  test('an exited lane may be named; warps may leave before a barrier', () => {
    const r = run('__global__ void k(int* y) { int t = threadIdx.x; if (t >= 40) return; y[t] = __ballot_sync(0xffffffff, 1) != 0; __syncthreads(); }', { block: [96, 1, 1] });
    expect(ran(r).faults.map((f) => f.kind)).toEqual(['barrier-after-exit']);
  });
});

describe('bad input is an answer, not a hang', () => {
  test('endless loops, runaway recursion, memory, unknown calls', () => {
    expect(run('__global__ void k(int* y) { while (y[0] >= -1000000) { y[1] = 2; } }', { options: { turnBudget: 10000 } })).toMatchObject({ status: 'aborted', reason: 'loop-budget' });
    expect(run('__device__ int f(int n) { return f(n + 1) + 1; } __global__ void k(int* y) { y[0] = f(1); }')).toMatchObject({ status: 'aborted', reason: 'recursion' });
    expect(run('__global__ void k(char* y) { for (long long i = 0; i < 2000000000LL; i += 4096) y[i] = 1; }', { options: { megabytes: 8, timeBudget: 120_000 } })).toMatchObject({ status: 'aborted', reason: 'memory-budget' });
    expect(run('__global__ void k(int* y) { y[0] = someLibraryCall(3); }')).toMatchObject({ status: 'unsupported' });
    expect(run('__global__ void k(int* lock, int* y) { while (atomicCAS(lock, 0, 1) != 0) { } y[0]++; atomicExch(lock, 0); }', { args: ['lock=constant(0)'], options: { turnBudget: 10000 } })).toMatchObject({ status: 'aborted', reason: 'loop-budget' });
  });
});
