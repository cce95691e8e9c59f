/** C++ that the simulator does not carry out is said, never passed over; what it can carry out nearby still runs. And faults of lanes that do not come. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { contents, initParser, ran, run } from './helpers.js';

beforeAll(async () => { await initParser(); });

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const construct = (text: string): string => {
  const r = run(text);
  return r.status === 'unsupported' ? r.construct : `ran: ${r.status}`;
};
const kinds = (text: string, block: readonly [number, number, number] = [32, 1, 1]): string[] => ran(run(text, { block })).faults.filter((f) => f.severity !== 'note').map((f) => `${f.severity} ${f.kind}`);

describe('objects that end or are copied', () => {
  const guard = (destructor: string): string => `struct Guard { int* p; __device__ Guard(int* q) : p(q) { ++*p; } ${destructor} };
    __global__ void k(int* y) { int depth = 0; { Guard g(&depth); } y[threadIdx.x] = depth; }`;

  test('a destructor that does something', () => {
    expect(construct(guard('__device__ ~Guard() { --*p; }'))).toBe('the destructor of Guard');
    expect(construct(guard('__device__ ~Guard();'))).toBe('the destructor of Guard');
  });
  test('a destructor that does nothing, or that runs on the host only', () => {
    expect(contents(run(guard('__device__ ~Guard() {}')), 'y', 32)).toEqual(range(32).map(() => 1));
    expect(contents(run(guard('~Guard() { delete p; }')), 'y', 32)).toEqual(range(32).map(() => 1));
  });
  test('the destructor of a member, of a base, of an array element', () => {
    const inner = 'struct D { int x; __device__ ~D() { x = 0; } };';
    expect(construct(`${inner} struct S { D d; int n; }; __global__ void k(int* y) { S s; s.n = 1; y[threadIdx.x] = s.n; }`)).toBe('the destructor of D');
    expect(construct(`${inner} struct S : D { int n; }; __global__ void k(int* y) { S s; s.n = 1; y[threadIdx.x] = s.n; }`)).toBe('the destructor of D');
    expect(construct(`${inner} __global__ void k(int* y) { D d[2]; y[threadIdx.x] = sizeof(d); }`)).toBe('the destructor of D');
  });
  test('a copy constructor that does more than copy', () => {
    const copy = (body: string): string => `struct C { int n; int m; __device__ C(int a) : n(a), m(0) {} __device__ C(const C& o) ${body} };
      __device__ int twice(C c) { return 2 * c.n + c.m; } __global__ void k(int* y) { C c(threadIdx.x); y[threadIdx.x] = twice(c); }`;
    expect(construct(copy(': n(o.n + 1), m(o.m) {}'))).toBe('the copy constructor of C');
    expect(construct(copy('{ n = o.n; }'))).toBe('the copy constructor of C');
    expect(contents(run(copy(': n(o.n), m(o.m) {}')), 'y', 32)).toEqual(range(32).map((t) => 2 * t));
    expect(contents(run(copy('{ n = o.n; this->m = o.m; }')), 'y', 32)).toEqual(range(32).map((t) => 2 * t));
  });
});

describe('which function is called', () => {
  const classes = `struct Op { __device__ virtual int apply(int x) const { return x; } __device__ int plain(int x) const { return x + 1; } };
    struct Twice : Op { __device__ int apply(int x) const override { return 2 * x; } };`;

  test('a virtual function through a reference, a pointer, or this', () => {
    expect(construct(`${classes} __device__ int go(const Op& o, int x) { return o.apply(x); } __global__ void k(int* y) { Twice t; y[threadIdx.x] = go(t, threadIdx.x); }`)).toBe('call of the virtual function apply');
    expect(construct(`${classes} __device__ int go(const Op* o, int x) { return o->apply(x); } __global__ void k(int* y) { Twice t; y[threadIdx.x] = go(&t, threadIdx.x); }`)).toBe('call of the virtual function apply');
    expect(construct('struct A { __device__ virtual int f() { return 1; } __device__ int g() { return f(); } }; __global__ void k(int* y) { A a; y[threadIdx.x] = a.g(); }')).toBe('call of the virtual function f');
  });
  test('an overrider without the word is virtual too', () => {
    expect(construct('struct A { __device__ virtual int f() { return 1; } }; struct B : A { __device__ int f() { return 2; } }; __device__ int go(B& b) { return b.f(); } __global__ void k(int* y) { B b; y[threadIdx.x] = go(b); }'))
      .toBe('call of the virtual function f');
  });
  test('the object itself, and functions that are not virtual', () => {
    expect(contents(run(`${classes} __global__ void k(int* y) { Twice t; y[threadIdx.x] = t.apply(threadIdx.x); }`), 'y', 32)).toEqual(range(32).map((t) => 2 * t));
    expect(contents(run(`${classes} __device__ int go(const Op& o, int x) { return o.plain(x); } __global__ void k(int* y) { Op o; y[threadIdx.x] = go(o, threadIdx.x); }`), 'y', 32)).toEqual(range(32).map((t) => t + 1));
  });
  test('a class template with specialisations, explicit and partial', () => {
    expect(construct('template<int N> struct P { __device__ static int g() { return 6; } }; template<> struct P<3> { __device__ static int g() { return 0; } }; __global__ void k(int* y) { y[threadIdx.x] = P<3>::g(); }')).toContain('P<3>::g');
    expect(construct('template<class T, int N> struct V { static const int K = 1; }; template<class T> struct V<T, 2> { static const int K = 100; }; __global__ void k(int* y) { y[threadIdx.x] = V<int, 2>::K; }')).not.toContain('ran');
    expect(construct('template<class T> struct S { T v; }; template<> struct S<float> { int v; }; __global__ void k(int* y) { S<float> s; s.v = 1; y[threadIdx.x] = s.v; }')).toBe('class template S with specialisations');
  });
  test('templates that only a constraint tells apart', () => {
    const byResult = `template<class T> __device__ typename std::enable_if<std::is_integral<T>::value, int>::type f(T x) { return 1; }
      template<class T> __device__ typename std::enable_if<!std::is_integral<T>::value, int>::type f(T x) { return 2; }`;
    expect(construct(`${byResult} __global__ void k(int* y) { y[threadIdx.x] = f(1.0f); }`)).toBe('call of f: several templates fit');
    const byParameter = `template<class T, typename = typename std::enable_if<std::is_integral<T>::value>::type> __device__ int f(T x, int = 0) { return 1; }
      template<class T, typename = typename std::enable_if<!std::is_integral<T>::value>::type> __device__ int f(T x, long = 0) { return 2; }`;
    expect(construct(`${byParameter} __global__ void k(int* y) { y[threadIdx.x] = f(1.0f); }`)).not.toContain('ran');
  });
  test('of two templates the more specialised one', () => {
    const r = run('template<class T> __device__ int f(T x) { return 1; } template<class T> __device__ int f(T* x) { return 2; } __global__ void k(int* y) { y[threadIdx.x] = f(y) * 10 + f(3); }');
    expect(contents(r, 'y', 32)).toEqual(range(32).map(() => 21));
  });
});

describe('limits of the hardware', () => {
  test('static shared memory and local memory', () => {
    expect(construct('__global__ void k(int* y) { __shared__ int big[1 << 20]; big[threadIdx.x] = 1; y[threadIdx.x] = big[threadIdx.x]; }')).toBe('4194304 bytes of static shared memory, where a block may have 49152');
    expect(construct('__global__ void k(int* y) { int big[1 << 24]; big[threadIdx.x] = 1; y[threadIdx.x] = big[threadIdx.x]; }')).toContain('bytes of local memory a thread');
  });
  test('a vector access at an address that is no multiple of its size', () => {
    const k = (shift: number): string => `__global__ void k(float* x, float4* y) { y[threadIdx.x] = reinterpret_cast<const float4*>(x + ${shift})[threadIdx.x]; }`;
    expect(kinds(k(1))).toEqual(['error misaligned']);
    expect(kinds(k(4))).toEqual([]);
  });
});

describe('bits', () => {
  test('a NaN keeps its bits in memory and through bit casts', () => {
    const r = run(`__global__ void k(int* y, unsigned* u) {
        float nan = __int_as_float(0x7fc00001); float* f = (float*)u; f[threadIdx.x] = nan * 2.0f;
        y[threadIdx.x] = __float_as_uint(__uint_as_float(0xffc12345u)) == 0xffc12345u && __float_as_int(f[threadIdx.x]) == (int)u[threadIdx.x];
      }`);
    expect(contents(r, 'y', 32)).toEqual(range(32).map(() => 1));
  });
  test('fast intrinsics are not the accurate functions', () => {
    const r = run('__global__ void k(int* y, float* x) { float a = 0.3f + threadIdx.x; y[threadIdx.x] = (__sinf(a) != sinf(a)) + (__expf(a) != expf(a)) + 10 * (__fdividef(4.0f, 2.0f) == 2.0f); }');
    const seen = contents(r, 'y', 32).map(Number);
    expect(seen.every((v) => v >= 10)).toBe(true);
    expect(seen.filter((v) => v === 12).length).toBeGreaterThan(16);
  });
});

describe('lanes that do not come', () => {
  test('__syncwarp names the whole warp unless it is told otherwise', () => {
    const k = (mask: string): string => `__global__ void k(int* y) { int t = threadIdx.x; if ((t & 31) < 16) { __syncwarp(${mask}); y[t] = t; } __syncthreads(); }`;
    expect(kinds(k(''))).toEqual(['error mask-names-absent-lane']);
    expect(kinds(k('0x0000ffff'))).toEqual([]);
    expect(kinds('__global__ void k(int* y, int n) { int t = threadIdx.x; if (t >= 16) return; __syncwarp(); y[t] = t; }')).toEqual([]);
  });
  test('a warp that passes by a barrier is an error, one that has returned is a caution', () => {
    expect(kinds('__global__ void k(int* y) { if (threadIdx.x < 32) __syncthreads(); y[threadIdx.x] = 1; }', [128, 1, 1])).toEqual(['error barrier-divergent']);
    expect(kinds('__global__ void k(int* y) { if (threadIdx.x >= 32) return; __syncthreads(); y[threadIdx.x] = 1; }', [128, 1, 1])).toEqual(['caution barrier-after-exit']);
  });
  test('a function that ends without its value', () => {
    expect(kinds('__device__ int f(int x) { if (x < 10) return 1; } __global__ void k(int* y) { y[threadIdx.x] = f(threadIdx.x); }')).toEqual(['error missing-return']);
    expect(kinds('__device__ int f(int x) { while (true) { if (x > 3) return x; ++x; } } __global__ void k(int* y) { y[threadIdx.x] = f(threadIdx.x); }')).toEqual([]);
    expect(kinds('__device__ int f(int x) { switch (x & 1) { case 0: return 1; default: return 2; } } __global__ void k(int* y) { y[threadIdx.x] = f(threadIdx.x); }')).toEqual([]);
  });
});
