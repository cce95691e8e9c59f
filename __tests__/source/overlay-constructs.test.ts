/** Every construct that is known to break a tree of CUDA parses cleanly under the overlay, and its notes keep what it said. */
import { describe, expect, test } from '@jest/globals';
import { noted, nodes, overlaid } from './helpers.js';

const clean: Readonly<Record<string, string>> = {
  'a pragma between an if and its loop': `
__global__ void fill(float *out, int n, bool twice) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (twice)
#pragma unroll
    for (int k = 0; k < 2; ++k) out[i + k * n] = 1.f;
  else
#pragma unroll 4
    for (int k = 0; k < 4; ++k) out[i] += 1.f;
}`,
  'bounds after the return type': `
__global__ void __maxnreg__(64) a(int *p) { p[0] = 1; }
__global__ void __launch_bounds__(256, 2) b(int *p) { p[0] = 1; }
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) c(int *p) { p[0] = 1; }`,
  'bounds before everything': `
__launch_bounds__(256, 2, 4) __global__ void a(int *p) { p[0] = 1; }
__block_size__((256, 1, 1), (2, 1, 1)) __global__ void b(int *p) { p[0] = 1; }
template <int N> __launch_bounds__(N) __global__ void c(int *p) { p[0] = N; }
extern "C" __global__ __launch_bounds__(sizeof(int) * 32, 1) void d(int *p) { p[0] = 1; }`,
  'project macros for bounds': `
#define BOUNDS(n) __launch_bounds__(n)
__global__ void BOUNDS(128) a(int *p) { p[0] = 1; }
template <int N> BOUNDS(N) __global__ void b(int *p) { p[0] = N; }
BOUNDS(64)
__global__ void c(int *p) { p[0] = 1; }`,
  'macros for qualifiers': `
#define HD __host__ __device__
#define DEVICE_INLINE __device__ __forceinline__
#define KERNEL __global__ void
#define KERNEL_B(n) extern "C" __global__ void __launch_bounds__(n)
HD float one() { return 1.f; }
HD inline float two() { return 2.f; }
static DEVICE_INLINE float three(float x) { return x + 3.f; }
template <typename T> HD T four(T x) { return x; }
struct V { float x; HD V(float a) : x(a) {} HD float get() const { return x; } HD ~V() {} };
KERNEL k(float *p) { p[threadIdx.x] = one(); }
KERNEL_B(128) l(float *p) { p[threadIdx.x] = one(); }`,
  'macros that no visible file defines': `
API_HD float one() { return 1.f; }
MY_LAUNCH_BOUNDS(256) __global__ void k(float *p) { p[0] = one(); }
__global__ void MY_LAUNCH_BOUNDS(256) l(float *p) { p[0] = one(); }
static void CALLBACK done(void *data) { (void)data; }
class EXPORTED Thing { public: int a; };
MYLIB_INLINE Vector3 make(float x, float y);
template <typename T> MYLIB_DEVICE T twice(T x) { return x + x; }`,
  'aligned types and shared arrays': `
struct __align__(16) Quad { float a, b, c, d; };
typedef struct __align__(8) { int a, b; } Pair;
__global__ void k() {
  extern __shared__ __align__(16) float dynamic[];
  __shared__ __align__(sizeof(float4)) unsigned char raw[256];
  __shared__ alignas(16) float tile[32][33];
  static __shared__ volatile int flag;
  __align__(16) float local[4];
}`,
  'a loop behind an unroll macro': `
#define UNROLL _Pragma("unroll")
#define UNROLL_N(n) _Pragma("unroll 8")
__global__ void k(float *p) {
  UNROLL
  for (int i = 0; i < 4; ++i) p[i] = 0.f;
  UNROLL for (int i = 0; i < 4; ++i) p[i] = 0.f;
  UNROLL_N(8) for (int i = 0; i < 4; ++i) p[i] = 0.f;
  if (p) UNROLL for (int i = 0; i < 4; ++i) p[i] = 0.f; else p[0] = 1.f;
}`,
  'loop macros and block macros': `
#define EACH(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)
#define IF_FIRST if (threadIdx.x == 0)
#define FOREVER for (;;)
#define BEGIN {
#define END }
__global__ void k(float *p, int n) {
  EACH(i, n) p[i] = 0.f;
  EACH(index, n) { p[index] = 1.f; p[index + n] = 2.f; }
  IF_FIRST p[0] = 3.f; else p[1] = 4.f;
  IF_FIRST { p[0] = 3.f; }
  FOREVER { break; }
  FOREVER if (n) break;
  BEGIN p[5] = 1.f; END
}`,
  'statement macros without a semicolon': `
#define CHECK(x) { if ((x) != 0) abort_run(); }
#define SYNC __syncthreads();
#define STORE(a, b) do { p[a] = b; } while (0);
#define NOTHING(x)
__global__ void k(float *p, int n) {
  CHECK(n)
  CHECK(n) CHECK(n + 1)
  SYNC
  STORE(0, 1.f)
  NOTHING(n)
  if (n) CHECK(n) else STORE(1, 2.f)
  for (int i = 0; i < n; ++i) STORE(i, 0.f)
#ifdef MORE
  CHECK(n)
#endif
  CHECK(n) // the last one
}`,
  'kernels stamped by a macro': `
#define MAKE(T) __global__ void fill_##T(T *p, T v) { p[threadIdx.x] = v; }
MAKE(int)
MAKE(float)
MAKE(double)
__global__ void after(int *p) { p[0] = 1; }`,
  'two loop headers that share a body': `
__global__ void k(float *p, int n) {
#ifdef REVERSED
  for (int i = n - 1; i >= 0; --i) {
#else
  for (int i = 0; i < n; ++i) {
#endif
    p[i] = 0.f;
  }
}
__global__ void after(float *p) { p[0] = 0.f; }`,
  'a directive inside a condition, an argument list, a declaration': `
__global__ void k(float *p, int n
#ifdef WITH_STREAM
  , float *q
#endif
) {
  if (n > 3
#ifdef STRICT
      && p != nullptr
#endif
  ) p[0] = 1.f;
  float x = p[0]
#if FAST
    * 2.f
#else
    * 3.f
#endif
    ;
  p[1] = x;
}`,
  'else before endif': `
__global__ void k(float *p, int n) {
#ifdef SAFE
  if (n == 0) {
    p[0] = 0.f;
  } else
#endif
  {
    p[0] = 1.f;
  }
  if (n)
#ifdef SAFE
    p[1] = 1.f;
#else
    p[1] = 2.f;
#endif
  if (n) { p[2] = 1.f; }
#ifdef SAFE
  else { p[2] = 2.f; }
#endif
}`,
  'signatures by configuration': `
#if defined(WIDE)
__global__ void k(double *p, int n)
#else
__global__ void k(float *p, int n)
#endif
{
  p[n] = 0;
}
__global__ void
#ifdef BOUND
__launch_bounds__(256)
#endif
l(float *p) { p[0] = 0; }`,
  'lambdas with qualifiers': `
void run(int n) {
  auto a = [=] __device__ (int i) { return i + n; };
  auto b = [=] __host__ __device__ (int i) -> int { return i; };
  auto c = [n] __device__ { return n; };
  apply(n, [=] __device__ (int i) mutable { return i; });
}`,
  'decltype as a cast': `
__global__ void k(int *p, unsigned n) {
  for (auto i = n; decltype(i)(p[0]) > i; ++i) p[i] = 0;
  if (decltype(n)(p[1]) > n) p[0] = 1;
}`,
  'dispatch macros': `
#define DISPATCH(T, ...) { using scalar = T; __VA_ARGS__(); }
void run(float *p) {
  DISPATCH(float, [&] { k<scalar><<<1, 2>>>(p); });
  OTHER_DISPATCH(p, "name", [&] { k<float><<<dim3(1), 2, 0, stream()>>>(p); l<<<1, 2>>>(p, 3); });
}`,
  'dispatch macros that take statements': `
#define DISPATCH(T, body) switch (T) { case 0: { using scalar = float; body } break; }
void run(float *p, int t) {
  DISPATCH(t, { int n = 3; k<scalar><<<n, 256>>>(p); });
  if (t) FOR_EACH_TYPE(t, "name", { k<<<1, 256>>>(p); }, otherwise);
}`,
  'launches': `
void run(float *p, int n, Plan *plan) {
  k<<<1, 2>>>(p);
  k <<< n / 256 , 256 >>> (p);
  k<4, (3 > 2)><<<n > 2 ? n : 2, n >> 5>>>(p);
  ns::k<float, N><<<dim3(n, 1), dim3(16, 16), sizeof(float) * n, plan->stream()>>>(p, n * 2);
  k<Wrap<Wrap<int>>><<<plan->grid(), plan->block<32>()>>>(p);
  plan->kernels[n]<<<1, 2>>>(p);
  (*plan->kernel)<<<1, 2>>>(p);
  k<<<1, make<Wrap<int>>(2)>>>(p);
  if (n) k<<<1, 2>>>(p); else k<<<2, 1>>>(p);
  k<<<
    n,
    256
  >>>(
    p);
  std::cout << n << 3 >> n;
}`,
  'restrict in all its spellings': `
#define RESTRICT __restrict__
#define CRESTRICT const __restrict
__global__ void k(float *__restrict__ a, const float *__restrict b, float *RESTRICT c, float *restrict_like, const float *CRESTRICT d, float *UNKNOWN_RESTRICT e) {
  a[0] = b[0] + c[0] + d[0] + e[0];
}`,
  'qualifiers in every place': `
static __global__ void a() {}
__global__ static void b() {}
void __global__ c() {}
__device__ float *d(float *p) { return p; }
float *__device__ e(float *p) { return p; }
unsigned int __device__ f() { return 1; }
unsigned __device__ int g() { return 1; }
typedef __device__ float (*fn)(float);
__device__ fn table[2] = {0, 0};
__constant__ float c1[16]; static __constant__ float c2[16]; const float __constant__ c3[2] = {1, 2};
__device__ __managed__ int counter;
extern __device__ int other;
__device__ struct Point { int x; } origin;
__device__ extern "C" int h() { return 1; }
namespace n { __device__ inline int i() { return 1; } }
extern "C" { __global__ void j() {} }
struct S { __device__ friend bool operator<(S, S) { return true; } __host__ __device__ explicit S(int) {} __device__ operator float() const { return 1; } };
__device__ auto trailing() -> int { return 1; }
template <> __global__ void special<int>(int *p) { p[0] = 1; }
__global__ void grid(const __grid_constant__ int x, __grid_constant__ const int y) {}`,
  'C++ that the grammar lacks': `
template class Box<float>;
extern template struct Box<double>;
__global__ void k(int *p) { if (typeid(int) == typeid(double)) p[0] = 1; }
void host(int n) {
  float **a = new float *[n];
  const char *s = "x" NAME "y" PRIu64 "\\n";
  int b = va_arg(list, unsigned int);
  Node *c = ALLOC(Node *, n);
  float x[4] __attribute__((aligned(16)));
}
#if not defined(OLD) && __has_include(<new>)
int y;
#endif what`,
};

describe('constructs', () => {
  test.each(Object.entries(clean))('%s', (_, text) => {
    const result = overlaid(text);
    if (!result.clean) throw new Error(`not clean:\n${result.overlay.text}`);
    expect(result.clean).toBe(true);
  });

  test.each(Object.entries(clean))('%s, with Windows newlines', (_, text) => {
    expect(overlaid(text.replaceAll('\n', '\r\n')).clean).toBe(true);
  });
});

describe('meaning', () => {
  test('functions after a broken group are still there', () => {
    const { root } = overlaid(clean['two loop headers that share a body'] ?? '');
    expect(nodes(root, 'function_definition')).toHaveLength(2);
  });

  test('the arm that goes is noted with its condition', () => {
    const { overlay, source } = overlaid(clean['two loop headers that share a body'] ?? '');
    const inactive = overlay.notes.filter((note) => note.kind === 'inactive');
    expect(inactive.map((note) => note.condition)).toEqual(['defined(REVERSED)']);
    expect(inactive.map((note) => source.text.slice(note.span.start, note.span.end).trim())).toEqual(['for (int i = n - 1; i >= 0; --i) {']);
  });

  test('whole arms stay in the tree', () => {
    const result = overlaid('void f(int a) {\n#if A\n  g(a);\n#else\n  h(a);\n#endif\n}\n');
    expect(nodes(result.root, 'preproc_if')).toHaveLength(1);
    expect(noted(result, 'inactive')).toEqual([]);
  });

  test('a launch is a curried call with its configuration', () => {
    const text = 'void f() { k<float><<<grid, 256>>>(a, b); }';
    const result = overlaid(text);
    expect(result.overlay.text).toBe('void f() { k<float>(  grid, 256)  (a, b); }');
    const note = result.overlay.notes.find((n) => n.kind === 'launch');
    expect(note && text.slice(note.span.start, note.span.end)).toBe('<<<grid, 256>>>');
    expect(note && text.slice(note.configurationSpan.start, note.configurationSpan.end)).toBe('grid, 256');
    expect(nodes(result.root, 'call_expression')).toHaveLength(2);
  });

  test('arguments of bounds are kept', () => {
    const text = '__global__ void __launch_bounds__(256, 2, 4) k() {}';
    const note = overlaid(text).overlay.notes.find((n) => n.kind === 'bounds');
    expect(note?.name).toBe('launch_bounds');
    expect(note && text.slice(note.argumentsSpan.start, note.argumentsSpan.end)).toBe('256, 2, 4');
  });

  test('a macro tells what it stands for', () => {
    const { overlay } = overlaid('#define K(n) static __global__ __launch_bounds__(n, 2) void\nK(64 * 2) k() {}\n');
    const note = overlay.notes.find((n) => n.kind === 'macro');
    expect(note?.standsFor).toEqual([
      { name: 'static', argument: null }, { name: 'global', argument: null }, { name: 'launch_bounds', argument: '64 * 2, 2' },
    ]);
    expect(overlay.text).toContain('void      k() {}');
  });

  test('a stranger stands for nothing known', () => {
    const { overlay } = overlaid('API_CALL float f();\n');
    expect(overlay.notes).toEqual([{ kind: 'macro', span: { start: 0, end: 8 }, name: 'API_CALL', argumentsSpan: null, standsFor: [] }]);
  });

  test('a pragma that cannot stay is noted, one that can is a node', () => {
    const result = overlaid('void f(int n) {\n#pragma unroll\n  for (;;) {}\n  if (n)\n#pragma unroll 2\n    for (;;) {}\n}\n');
    expect(nodes(result.root, 'preproc_call')).toHaveLength(1);
    expect(noted(result, 'pragma')).toEqual(['#pragma unroll 2']);
    const branch = nodes(result.root, 'if_statement')[0];
    expect(branch && nodes(branch, 'for_statement')).toHaveLength(1);
  });

  test('a launch in an argument of a macro is seen as conditional', () => {
    const { root, overlay } = overlaid('void run(int t) { DISPATCH(t, { k<<<1, 2>>>(t); }) }\n');
    expect(overlay.text).toBe('void run(int t) { if(_())     { k(  1, 2)  (t); }  }\n');
    expect(nodes(root, 'if_statement')).toHaveLength(1);
  });

  test('statements in an argument of a macro without a launch are left', () => {
    expect(overlaid('void run(int t) { DISPATCH(t, { t = 1; }); }\n').overlay.notes).toEqual([]);
  });

  test('several statements are not ended behind an if, where only the first belongs to it', () => {
    const text = '#define TWO(a) a(1); a(2);\n#define ONE(a) do { a(1); a(2); } while (0);\nvoid f(int n) {\n  TWO(g)\n  ONE(g)\n  if (n) ONE(g)\n  n = 1;\n}\n';
    expect(overlaid(text).clean).toBe(true);
    expect(overlaid(text.replace('if (n) ONE', 'if (n) TWO')).clean).toBe(false);
  });

  test('what stands for nothing known is not taken from a variable', () => {
    expect(overlaid('void f() { FAST_MEMORY float tile[32]; }\n').overlay.notes).toEqual([]);
    expect(overlaid('FAST_MEMORY float tile[32];\n').overlay.notes).toEqual([]);
  });

  test('a macro that is a memory space in one configuration only is not taken from a variable', () => {
    const text = '#ifdef STAGED\n#define PLACE __shared__\n#else\n#define PLACE\n#endif\nvoid f() { PLACE float tile[32]; }\nPLACE void g() {}\n';
    expect(overlaid(text).overlay.text).toContain('{ PLACE float tile[32]; }\n      void g() {}');
  });

  test('volatile is never lost', () => {
    expect(overlaid('#define IS_POLLED volatile\nvoid f(IS_POLLED int *p) {}\n').overlay.text).toContain('f(volatile  int *p)');
    expect(overlaid('#define V volatile\nvoid f(V int *p) {}\n').overlay.text).toContain('f(V int *p)');
  });

  test('a loop macro is never taken for a plain call followed by a block', () => {
    const result = overlaid('#define EACH(i, n) for (int i = 0; i < n; ++i)\nvoid f(int n) { EACH(index, n) { g(index); } }\n');
    expect(nodes(result.root, 'while_statement')).toHaveLength(1);
    const note = result.overlay.notes.find((n) => n.kind === 'macro');
    expect(note?.standsFor).toEqual([{ name: 'head', argument: 'for (int index = 0; index < n; ++index)' }]);
  });
});

describe('nothing that is C++ is taken away', () => {
  const untouched: Readonly<Record<string, string>> = {
    'types in capitals': 'FLOAT f(INT a, BOOL *b);\nFLOAT *g();\nstatic UINT h() { return 1; }\nT T_::m(T x) { return x; }\n',
    'templates with one-letter types': 'template <class T, class U> T max_of(T a, U b) { return a > b ? a : b; }\ntemplate <typename T> T *p(T *q);\n',
    'constructors and calls': 'struct S { S(int a) : a_(a) {} S(const S &) = default; int a_; };\nvoid f() { FOO(1); foo(2); T x(3); A * B; a = B * C; }\n',
    'most vexing declarations': 'void f() { int a(3); MATRIX m(a, a); MATRIX &r = m; const MATRIX *q = &r; unsigned long long z; }\n',
    'comments and strings': 'void f() { /* __global__ <<<1, 2>>> */ g("__device__ <<<x>>>(y)"); // HD float x();\n h(R"x(__shared__ )" #if)x"); }\n',
    'shifts and comparisons': 'int f(int a, int b) { return a << b >> 2 < 3 && a > b; }\nVec<Vec<Vec<int>>> v;\n',
    'types as arguments of declarations': 'float f(int, float);\nvoid g(int (*h)(int, char *));\nstd::function<int(int, float *)> k;\nvoid l() { float m(int); sizeof(int); static_cast<float>(1); }\n',
    'names that are macros elsewhere': 'void later(int a) {}\n#define later(a)\n#ifdef OTHER\n#define other(a)\n#endif\nvoid other(int a) {}\n',
    concepts: 'template <typename T> requires Integral<T> T f(T x) { return x; }\nIntegral auto g(Integral auto x) { return x; }\n',
  };
  test.each(Object.entries(untouched))('%s', (_, text) => {
    const { overlay } = overlaid(text);
    expect(overlay.text).toBe(text.replace(/#define.*/g, (line) => ' '.repeat(line.length)));
    expect(overlay.notes).toEqual([]);
  });
});
