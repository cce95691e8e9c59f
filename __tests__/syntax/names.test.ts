import { describe, expect, test } from '@jest/globals';
import { forEachExpr } from '../../src/syntax/walk.js';
import type { Decl, FunctionDecl, RefExpr } from '../../src/syntax/tree.js';
import { functionNamed, program, unit } from './load.js';

function refs(decl: FunctionDecl, name: string): RefExpr[] {
  const found: RefExpr[] = [];
  if (decl.body !== null) forEachExpr(decl.body, (e) => { if (e.kind === 'ref' && e.name === name) found.push(e); });
  return found;
}

function decls(decl: FunctionDecl, name: string): (Decl | null)[] {
  return refs(decl, name).map((r) => r.decl);
}

describe('names', () => {
  test('two locals of one name in two scopes are two declarations', async () => {
    const u = await unit('__global__ void k(int *p) { for (int i = 0; i < 2; i++) p[i] = 1; for (int i = 5; i < 9; i++) p[i] = 2; { int j = 1; p[j] = 3; } int j = 2; p[j] = 4; }');
    const k = functionNamed(u, 'k');
    const i = decls(k, 'i');
    expect(i).toHaveLength(6);
    expect(new Set(i.slice(0, 3)).size).toBe(1);
    expect(new Set(i).size).toBe(2);
    expect(new Set(decls(k, 'j')).size).toBe(2);
  });

  test('a local hides a parameter, a built-in index and a global; its own initialiser sees itself', async () => {
    const u = await unit('int n; __global__ void k(int n, int *p) { { int n = 3; p[n] = 0; } p[n] = 1; struct { int x; } threadIdx; p[0] = threadIdx.x; }');
    const k = functionNamed(u, 'k');
    expect(decls(k, 'n').map((d) => d?.kind)).toEqual(['variable', 'parameter']);
    expect(decls(k, 'threadIdx').map((d) => d?.kind)).toEqual(['variable']);
  });

  test('namespaces, using-directives and qualified names', async () => {
    const u = await unit(`
namespace a { namespace b { __device__ int f(int x) { return x; } const int c = 4; } using namespace b; __device__ int g() { return f(c); } }
namespace ab = a::b;
__global__ void k(int *p) { p[0] = a::b::f(1) + ab::f(2) + a::f(3) + ab::c; }`);
    const f = functionNamed(u, 'f');
    const calls: (readonly FunctionDecl[])[] = [];
    for (const name of ['k', 'g']) {
      forEachExpr(functionNamed(u, name).body ?? fail(), (e) => { if (e.kind === 'call' && e.callee.kind === 'function') calls.push(e.callee.candidates); });
    }
    expect(calls).toHaveLength(4);
    for (const candidates of calls) expect(candidates).toEqual([f]);
    expect(decls(functionNamed(u, 'k'), 'c').map((d) => d?.kind)).toEqual(['variable']);
  });

  test('overloads: arity, then exact types; declarations give way to definitions', async () => {
    const u = await unit(`
__device__ int f(int a);
__device__ int f(int a) { return a; }
__device__ float f(float a) { return a; }
__device__ int f(int a, int b) { return a + b; }
__global__ void k(int *p, float x, double y) { f(1); f(x); f(1, 2); f(y); }`);
    const chosen: string[] = [];
    forEachExpr(functionNamed(u, 'k').body ?? fail(), (e) => {
      if (e.kind === 'call' && e.callee.kind === 'function') chosen.push(e.callee.candidates.map((c) => c.parameters.map((q) => q.type.kind).join() + (c.body === null ? ' declared' : '')).join(' | '));
    });
    expect(chosen.slice(0, 3)).toEqual(['int', 'float', 'int,int']);
    expect(chosen[3]?.split(' | ').sort()).toEqual(['float', 'int']);
  });

  test('enumerators, typedefs, members of bases, templates of records', async () => {
    const u = await unit(`
enum Mode { A, B = 4, C }; enum class Tint : unsigned char { Red };
struct Base { int b; }; template <typename T> struct Box : Base { T value; __device__ T get() const { return value; } };
using Floats = Box<float>;
__global__ void k(Floats *f, Mode m, float *p) { if (m == C) p[0] = f->get() + f->value; p[1] = f->b; Tint t = Tint::Red; }`);
    const k = functionNamed(u, 'k');
    expect(decls(k, 'C')[0]).toMatchObject({ kind: 'enumerator', index: 2 });
    const types: string[] = [];
    forEachExpr(k.body ?? fail(), (e) => { if ((e.kind === 'member' && e.field !== null) || e.kind === 'call') types.push(e.type.kind); });
    expect(types).toEqual(['float', 'float', 'int']);
    const unresolved: string[] = [];
    forEachExpr(k.body ?? fail(), (e) => { if (e.kind === 'ref' && e.decl === null) unresolved.push(e.name); });
    expect(unresolved).toEqual([]);
  });

  test('an unknown name has no declaration', async () => {
    const u = await unit('__global__ void k(int *p) { p[0] = nowhere; }');
    expect(decls(functionNamed(u, 'k'), 'nowhere')).toEqual([null]);
  });
});

describe('programs', () => {
  test('headers are units of their own; their names and macros reach the includer, and the includer\'s reach them', async () => {
    const loaded = await program({
      'main.cu': '#define SIZE 8\ntypedef float real;\n#include "k.cuh"\nint main() { real *p; scale<<<1, SIZE>>>(p, twice(2)); }',
      'k.cuh': '#ifndef K\n#define K\n#include "../p/util.h"\n#define LANES 32\n__global__ void scale(real *p, int n) { p[threadIdx.x % LANES] *= helper(n) + SIZE; }\n#endif',
      'util.h': '__device__ int helper(int);\ninline int twice(int i) { return i * 2; }',
      'helper.cu': '#include "util.h"\n__device__ int helper(int i) { return i + 1; }',
    }, ['main.cu', 'helper.cu']);
    expect([...loaded.units.keys()].sort()).toEqual(['/p/helper.cu', '/p/k.cuh', '/p/main.cu', '/p/util.h']);
    const header = loaded.units.get('/p/k.cuh') ?? fail();
    const scale = functionNamed(header, 'scale');
    expect(scale.parameters[0]?.type).toMatchObject({ kind: 'pointer', to: { kind: 'float' } });
    const kinds: string[] = [];
    let helper: FunctionDecl | undefined;
    forEachExpr(scale.body ?? fail(), (e) => {
      if (e.kind === 'macro') kinds.push(e.name);
      if (e.kind === 'call' && e.callee.kind === 'function') [helper] = e.callee.candidates;
    });
    expect(kinds).toEqual(['LANES', 'SIZE']);
    expect(helper?.file).toBe('/p/helper.cu');
    const [launch] = loaded.launchesOf(scale);
    expect(launch).toMatchObject({ form: 'chevrons', kernelName: 'scale', file: '/p/main.cu', sharedBytes: null, stream: null });
    expect(loaded.allLaunchesVisible(scale)).toBe(true);
  });

  test('launch forms, loops, conditions; a kernel whose address is passed on is not fully visible', async () => {
    const loaded = await program({ 'a.cu': `
#define RUN(kernel, n) kernel<<<(n), 32>>>(p)
__global__ void a(int *p) {} __global__ void b(int *p) {} __global__ void c(int *p) {} __global__ void d(int *p) {} __global__ void e(int *p) {}
void take(void (*f)(int *));
void host(int *p, int n, cudaStream_t s, void **args) {
  for (int i = 0; i < n; i++) if (i > 2) a<<<dim3(n, 2), 64, 128, s>>>(p);
  RUN(b, n);
  cudaLaunchKernel((void *)c, dim3(1), dim3(32), args, 0, s);
  cudaFuncSetAttribute(c, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
  d<<<1, 32>>>(p); take(d);
  auto f = e; f<<<1, 32>>>(p);
}` });
    const u = loaded.units.get('/p/a.cu') ?? fail();
    expect(u.launches.map((l) => [l.kernelName, l.form, l.inLoop, l.conditional, l.candidates.length])).toEqual([
      ['a', 'chevrons', true, true, 1], ['b', 'macro', false, false, 1], ['c', 'cudaLaunchKernel', false, false, 1], ['d', 'chevrons', false, false, 1], ['f', 'pointer', false, false, 1],
    ]);
    const visible = Object.fromEntries(u.kernels.map((k) => [k.name, loaded.allLaunchesVisible(k)]));
    expect(visible).toEqual({ a: true, b: false, c: true, d: false, e: false });
    expect(u.launches[0]?.sharedBytes).toMatchObject({ kind: 'literal', value: 128n });
    expect(u.launches[0]?.function?.name).toBe('host');
  });

  test('a file that is missing or no text fails alone', async () => {
    const loaded = await program({ 'a.cu': '__global__ void k() {}', 'b.cu': '\0\0\0' }, ['a.cu', 'none.cu', 'b.cu']);
    expect(loaded.units.get('/p/a.cu')?.kernels).toHaveLength(1);
    expect(loaded.failed.map((f) => f.path)).toEqual(['/p/none.cu', '/p/b.cu']);
  });

  test('kernels in macros are listed', async () => {
    const u = await unit('#define MAKE(name, T) __global__ void name(T *p) { p[0] = 0; }\nMAKE(first, float)\nMAKE(second, int)\n__global__ void third() {}');
    expect(u.hiddenKernels.map((h) => [h.name, h.line, h.macro])).toEqual([['first', 2, 'MAKE'], ['second', 3, 'MAKE']]);
    expect(u.kernels.map((k) => k.name)).toEqual(['third']);
  });

  test('explicit instantiations are no kernels and no problem, however they are spelled', async () => {
    const u = await unit(`#define KERNEL __global__
#define INSTANTIATE(N) template __global__ void f<N>(float *);
template <int N> __global__ void f(float *p) { p[0] = N; }
template <int N> __global__ void __launch_bounds__(128) h(float *p) { p[0] = N; }
template <typename T> __device__ void g(T *p) { *p = 1; }
template __global__ void f<8>(float *);
template void f<9>(float *p);
extern template __global__ void f<10>(float *);
template __device__ void g<float>(float *);
template __global__ void __launch_bounds__(128) h<4>(float *);
template __launch_bounds__(128) KERNEL
  void h<5>(float *);
INSTANTIATE(11)
namespace n { template <typename T> __global__ void k(T *x) { x[0] = 1; } template __global__ void k<int>(int *); }
template __global__ void ::n::k<float>(float *);
__global__ void last() {}`);
    expect(u.problems).toEqual([]);
    expect(u.hiddenKernels).toEqual([]);
    expect(u.kernels.map((k) => k.name)).toEqual(['f', 'h', 'k', 'last']);
    expect(u.functions.every((fn) => fn.understood)).toBe(true);
  });

  test('a name is a macro only behind its definition', async () => {
    const u = await unit('__global__ void k(int *p, int N) { p[0] = N; }\n#define N 7\n__global__ void l(int *p) { p[0] = N; }\n#undef N\n__global__ void m(int *p, int N) { p[0] = N; }\n');
    expect(decls(functionNamed(u, 'k'), 'N').map((d) => d?.kind)).toEqual(['parameter']);
    expect(decls(functionNamed(u, 'l'), 'N')).toEqual([]);
    expect(decls(functionNamed(u, 'm'), 'N').map((d) => d?.kind)).toEqual(['parameter']);
  });

  test('a definition between two uses in one function', async () => {
    const u = await unit('__global__ void k(int *p, int n) {\n  p[0] = n;\n#define n 7\n  p[1] = n;\n#undef n\n  p[2] = n;\n}\n');
    expect(decls(functionNamed(u, 'k'), 'n').map((d) => d?.kind)).toEqual(['parameter', 'parameter']);
  });

  test('a header knows the macros that stand in front of its include', async () => {
    const files = { 'a.cu': '#define BEFORE 3\n#include "k.h"\n#define AFTER 4\n', 'k.h': '__global__ void k(int *p, int AFTER) { p[AFTER] = BEFORE; }\n' };
    const header = (await program(files, ['a.cu'])).units.get('/p/k.h');
    if (header === undefined) throw new Error('no header');
    const k = functionNamed(header, 'k');
    expect(decls(k, 'AFTER').map((d) => d?.kind)).toEqual(['parameter']);
    expect(decls(k, 'BEFORE')).toEqual([]);
  });
});

function fail(): never {
  throw new Error('missing');
}
