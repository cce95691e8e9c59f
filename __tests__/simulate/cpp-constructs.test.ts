/** C++ that kernels lean on: overloads beside built-ins, class templates and their constants, constructors, conversions, range-for, limits. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { contents, initParser, ran, run } from './helpers.js';

beforeAll(async () => { await initParser(); });

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const clean = (r: Parameters<typeof ran>[0]): void => { expect(ran(r).faults).toEqual([]); };

describe('overloads beside built-ins', () => {
  test('an overload for another type leaves CUDA\'s own to their types', () => {
    const r = run(`
      struct Two { int a, b; };
      __device__ Two __ldcs(const Two* p) { Two t; t.a = p->a + 1; t.b = p->b; return t; }
      __global__ void k(int* y, int4* v) {
        int t = threadIdx.x;
        v[t] = make_int4(t, 2 * t, 3 * t, 4 * t);
        int4 w = __ldcs(reinterpret_cast<const int4*>(v) + t);
        Two two = __ldcs(reinterpret_cast<const Two*>(v + t));
        y[t] = w.x + w.w + 1000 * (two.a - t);
      }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => 5 * t + 1000));
  });

  test('vector overloads of a math function call the scalar one that is built in', () => {
    const r = run(`
      __device__ float2 floorf(float2 v) { return make_float2(floorf(v.x), floorf(v.y)); }
      __device__ float3 floorf(float3 v) { return make_float3(floorf(v.x), floorf(v.y), floorf(v.z)); }
      __global__ void k(int* y) { float2 f = floorf(make_float2(threadIdx.x + 0.5f, -0.5f)); y[threadIdx.x] = (int)(f.x + 10 * f.y); }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => t - 10));
  });

  test('an overload in an arm that the configuration leaves out is not what is called', () => {
    const r = run(`
      #if defined(OLD_TOOLKIT)
      __device__ float __ldcs(const float* p) { return 7.0f; }
      #endif
      __global__ void k(int* y, float* x) { int t = threadIdx.x; x[t] = t; y[t] = (int)__ldcs(x + t); }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32));
  });
});

describe('class templates', () => {
  const packed = `
    template<class T> struct alignas(16) Packed {
      Packed() = default;
      __device__ explicit Packed(int4 bits) { memcpy(&payload, &bits, sizeof(bits)); }
      __device__ static Packed constant(T value) { Packed r; for (int k = 0; k < size; ++k) r.payload[k] = value; return r; }
      __device__ static Packed zeros() { return constant(0); }
      __device__ T& operator[](int i) { return payload[i]; }
      __device__ int4 bits() const { int4 b; memcpy(&b, &payload, sizeof(b)); return b; }
      static constexpr const int size = sizeof(int4) / sizeof(T);
      T payload[size];
    };
    template<class T> __device__ Packed<T> load(const T* p) { return Packed<T>{*reinterpret_cast<const int4*>(p)}; }
    template<class T> __device__ void keep(T* p, Packed<T> v) { *reinterpret_cast<int4*>(p) = v.bits(); }`;

  test('static constants of an instance, named by type and by object, as bounds and array lengths', () => {
    const r = run(`${packed}
      __global__ void k(int* y) {
        using i32 = Packed<int>; using i16 = Packed<short>; i16 p;
        int a[i16::size];
        for (int i = 0; i < i16::size; ++i) a[i] = i;
        y[threadIdx.x] = i32::size * 100 + p.size * 10 + (int)(sizeof(a) / sizeof(int)) + a[p.size - 1];
      }`);
    clean(r);
    expect(contents(r, 'y', 2)).toEqual([400 + 80 + 8 + 7, 400 + 80 + 8 + 7]);
  });

  test('vector-wide loads and stores through a defaulted constructor, static methods of two instances', () => {
    const r = run(`${packed}
      __global__ void k(int* y, int* x, short* s) {
        int t = threadIdx.x;
        for (int i = 0; i < 4; ++i) x[4 * t + i] = 10 * t + i;
        auto v = load(x + 4 * t);
        Packed<int> out = Packed<int>::zeros();
        for (int i = 0; i < out.size; ++i) out[i] += 2 * v[i];
        keep(y + 4 * t, out);
        keep(s + 8 * t, Packed<short>::constant(3));
        y[4 * t] += s[8 * t + 7];
      }`);
    clean(r);
    expect(contents(r, 'y', 128)).toEqual(range(128).map((i) => 2 * (10 * Math.floor(i / 4) + (i % 4)) + (i % 4 === 0 ? 3 : 0)));
  });

  test('a static method of the record that a template parameter stands for; a constexpr function as an array length', () => {
    const r = run(`
      constexpr int width() { return 4 * 2; }
      struct Add { __device__ static int apply(int a, int b) { return a + b; } };
      struct Mul { __device__ static int apply(int a, int b) { return a * b; } };
      template<class Op> __device__ int fold(int v) { int a[width()]; for (int i = 0; i < width(); ++i) a[i] = v; int s = a[0]; for (int i = 1; i < 3; ++i) s = Op::apply(s, a[i]); return s; }
      __global__ void k(int* y) { y[threadIdx.x] = 10000 * fold<Add>(threadIdx.x) + fold<Mul>(threadIdx.x) + 100000000 * (width() == 8); }`, { block: [16, 1, 1] });
    clean(r);
    expect(contents(r, 'y', 16)).toEqual(range(16).map((t) => 30000 * t + t * t * t + 100000000));
  });

  test('a conversion function gives typed dynamic shared memory', () => {
    const r = run(`
      template<class T> struct Shared {
        __device__ inline operator T*() { extern __shared__ int raw[]; return (T*)raw; }
        __device__ inline operator const T*() const { extern __shared__ int raw[]; return (T*)raw; }
      };
      template<class T> __global__ void k(T* y) {
        T* s = Shared<T>();
        s[threadIdx.x] = threadIdx.x; __syncthreads();
        y[threadIdx.x] = s[31 - threadIdx.x];
      }
      void go(int* y) { k<int><<<1, 32, 128>>>(y); }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => 31 - t));
  });
});

describe('shared memory of templates', () => {
  test('each instance of a function template has its own array', () => {
    const r = run(`
      template<int N> __device__ int rotate(int v) { __shared__ int s[64]; s[threadIdx.x] = v; __syncthreads(); return s[(threadIdx.x + N) % 64]; }
      __global__ void k(int* y) { int a = rotate<1>(threadIdx.x); int b = rotate<33>(threadIdx.x); y[threadIdx.x] = 100 * a + b; }`, { block: [64, 1, 1] });
    clean(r);
    expect(contents(r, 'y', 64)).toEqual(range(64).map((t) => 100 * ((t + 1) % 64) + ((t + 33) % 64)));
  });
});

describe('constructors', () => {
  test('member initialisers in order of declaration, defaults for the rest, a member object, a base, delegation', () => {
    const r = run(`
      struct Base { int b; __device__ Base(int v) : b(v * 2) {} };
      struct Inner { int i; __device__ Inner() : i(5) {} __device__ Inner(int v) : i(v) {} };
      struct Thing : public Base {
        int first; int second; int third = 7; Inner inner; Inner other; int list[2];
        __device__ Thing(int v) : Base(v), second(first + 1), first(v), other{v + 3}, list{v, v + 1} { third += 1; }
        __device__ Thing() : Thing(9) { first += 100; }
      };
      __global__ void k(int* y) {
        int t = threadIdx.x;
        Thing a(t); Thing d;
        y[8 * t] = a.b; y[8 * t + 1] = a.first; y[8 * t + 2] = a.second; y[8 * t + 3] = a.third; y[8 * t + 4] = a.inner.i; y[8 * t + 5] = a.other.i;
        y[8 * t + 6] = a.list[1]; y[8 * t + 7] = d.first + d.second;
      }`);
    clean(r);
    expect(contents(r, 'y', 256)).toEqual(range(32).flatMap((t) => [2 * t, t, t + 1, 8, 5, t + 3, t + 1, 109 + 10]));
  });

  test('`T x;` with a defaulted constructor leaves members without a value, `T x{}` sets them to zero', () => {
    const r = run(`
      struct P { P() = default; int a; int b; };
      __global__ void k(int* y) { P p{}; P q; q.a = 1; y[threadIdx.x] = p.a + p.b + q.a; }`);
    clean(r);
    expect(contents(r, 'y', 2)).toEqual([1, 1]);
    const bad = run(`
      struct P { P() = default; int a; int b; };
      __global__ void k(int* y) { P q; y[threadIdx.x] = q.b; }`);
    expect(ran(bad).faults.length).toBeGreaterThan(0);
  });

  test('a reference member and a conversion to a number', () => {
    const r = run(`
      struct View { int& to; __device__ View(int& x) : to(x) {} __device__ operator int() const { return to; } };
      __global__ void k(int* y) { int v = threadIdx.x; View w(v); v += 5; int n = w; y[threadIdx.x] = n; }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => t + 5));
  });

  test('an initialiser that names no member is said, not passed over', () => {
    const r = run('struct A { int x; __device__ A(int v) : nothing(v) {} };\n__global__ void k(int* y) { A a(1); y[0] = a.x; }');
    expect(r.status).toBe('unsupported');
  });
});

describe('the name of a class inside of it', () => {
  test('makes an object, also in a template and in a static method', () => {
    const r = run(`
      struct C { float re, im; __device__ C(float r = 0, float i = 0) : re(r), im(i) {} __device__ C operator+(const C& o) const { return C(re + o.re, im + o.im); } };
      template<class T> struct V { T x, y; __device__ V(T a, T b) : x(a), y(b) {} __device__ V operator*(T s) const { return V(x * s, y * s); } __device__ static V one() { return V(1, 1); } };
      __global__ void k(float* y, float* z) {
        C c(threadIdx.x, 2.0f), s; s = s + c; y[threadIdx.x] = s.re + s.im;
        V<float> v(threadIdx.x, 2.0f); v = v * 3.0f; z[threadIdx.x] = v.x + v.y + V<float>::one().x;
      }`);
    clean(r);
    expect(contents(r, 'y', 32, 'f32')).toEqual(range(32).map((t) => t + 2));
    expect(contents(r, 'z', 32, 'f32')).toEqual(range(32).map((t) => 3 * t + 7));
  });
});

describe('loops, limits, groups, library names', () => {
  test('range-for over an array by value, by reference, with break and continue per lane', () => {
    const r = run(`__global__ void k(int* y) {
      int a[5] = {1, 2, 3, 4, 5}; int t = threadIdx.x, s = 0;
      for (int& x : a) x += t;
      for (auto x : a) { if (x % 2) continue; if (x > 20) break; s += x; }
      y[t] = s;
    }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => {
      let s = 0;
      for (const x of [1, 2, 3, 4, 5].map((v) => v + t)) { if (x % 2) continue; if (x > 20) break; s += x; }
      return s;
    }));
  });

  test('numeric_limits of plain and of template types; an unknown type stays unsupported', () => {
    const r = run(`
      template<class T> __device__ bool least(T x) { return x == std::numeric_limits<T>::lowest(); }
      __global__ void k(int* y) {
        y[0] = std::numeric_limits<int>::max() == 2147483647 && std::numeric_limits<float>::max() == 3.402823466e+38f;
        y[1] = least(-2147483647 - 1) && least(-3.402823466e+38f) && !least(0.0);
        y[2] = std::numeric_limits<unsigned char>::max();
      }`, { block: [1, 1, 1] });
    clean(r);
    expect(contents(r, 'y', 3)).toEqual([1, 1, 255]);
    expect(run('__global__ void k(float* y) { y[0] = std::numeric_limits<Elsewhere>::max(); }').status).toBe('unsupported');
  });

  test('a tile that is passed by reference', () => {
    const r = run(`
      #include <cooperative_groups.h>
      namespace cg = cooperative_groups;
      __device__ int sum(cg::thread_block_tile<32>& tile, int v) { for (int d = 16; d > 0; d /= 2) v += tile.shfl_xor(v, d); return v; }
      __global__ void k(int* y) { cg::thread_block block = cg::this_thread_block(); cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block); y[threadIdx.x] = sum(warp, threadIdx.x); }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32).map(() => 496));
  });

  test('a thread_group is the group that is passed: a block or a tile', () => {
    const r = run(`
      #include <cooperative_groups.h>
      namespace cg = cooperative_groups;
      __device__ int total(cg::thread_group g, int* s, int v) {
        int rank = g.thread_rank();
        for (int i = g.size() / 2; i > 0; i /= 2) { s[rank] = v; g.sync(); if (rank < i) v += s[rank + i]; g.sync(); }
        return v;
      }
      __global__ void k(int* y) {
        __shared__ int s[64];
        cg::thread_block block = cg::this_thread_block();
        int all = total(block, s, threadIdx.x);
        block.sync();
        cg::thread_group tile = cg::tiled_partition(block, 16);
        int part = total(tile, s + threadIdx.x / 16 * 16, threadIdx.x);
        y[threadIdx.x] = threadIdx.x % 16 == 0 ? (threadIdx.x == 0 ? all : 0) * 10000 + part : 0;
      }`, { block: [64, 1, 1] });
    clean(r);
    expect(contents(r, 'y', 64)).toEqual(range(64).map((t) => (t % 16 === 0 ? (t === 0 ? 2016 : 0) * 10000 + 16 * t + 120 : 0)));
  });

  test('complex numbers of libraries, and a tag parameter without a name', () => {
    const r = run(`__global__ void k(cufftComplex* c, int* y, std::bool_constant<true>) { int t = threadIdx.x; c[t].x = t; c[t].y = 1; y[t] = (int)(c[t].x + c[t].y); }`);
    clean(r);
    expect(contents(r, 'y', 32)).toEqual(range(32).map((t) => t + 1));
  });
});
