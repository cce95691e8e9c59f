/** Kernels for the soundness test: control flow (joins, jumps, temporal divergence, calls). */
import type { Scope } from '../../src/analysis/facts.js';
import { div, u, type Model } from './lockstep.js';

export interface Specimen {
  readonly name: string;
  /** The body of `k(const int *__restrict__ data, int *out, int n)`, or whole functions before it, separated by a line `---`. */
  readonly source: string;
  readonly model: Model;
  /** Precision: sites that must be at least as uniform as this, whatever the shape. */
  readonly atLeast?: Readonly<Record<number, Scope>>;
  /** The same, in blocks whose x is a multiple of 32. */
  readonly atLeastInRows?: Readonly<Record<number, Scope>>;
  /** Sites that must not be called uniform (known traps). */
  readonly never?: readonly number[];
}

export const CONTROL: readonly Specimen[] = [
  {
    name: 'sync dependence at a join', source: 'int v = 0; if (threadIdx.x < 5) v = 1; if (v) out[0] = 1;', never: [1],
    *model(t) { let v = 0; if (t.c(0, t.x < 5)) v = 1; t.c(1, v); },
  },
  {
    name: 'both arms assign one value: still a join', source: 'int v; if (threadIdx.x & 1) { v = n; } else { v = n; } if (v > 3) out[0] = 1;',
    *model(t) { let v; if (t.c(0, t.x & 1)) v = t.g.n; else v = t.g.n; t.c(1, v > 3); },
  },
  {
    name: 'uniform branch, uniform values', source: 'int v = 1; if (n > 4) v = n; else v = 2; if (v > 3) out[0] = 1;', atLeast: { 0: 'grid', 1: 'grid' },
    *model(t) { let v; if (t.c(0, t.g.n > 4)) v = t.g.n; else v = 2; t.c(1, v > 3); },
  },
  {
    name: 'temporal divergence', source: 'int i = 0; while (i < (int)threadIdx.x) i++; if (i > 7) out[0] = i;', never: [0, 1],
    *model(t) { let i = 0; while (t.c(0, i < t.x, i)) i++; t.c(1, i > 7); },
  },
  {
    name: 'uniform inside a divergent loop', source: 'int k = 0; for (int i = 0; i < (int)threadIdx.x; i++) { if (k == 3) out[0] = 1; k++; } if (k == 3) out[1] = 2;', atLeast: { 1: 'grid' }, never: [0, 2],
    *model(t) { let k = 0; for (let i = 0; t.c(0, i < t.x, i); i++) { t.c(1, k === 3, i); k++; } t.c(2, k === 3); },
  },
  {
    name: 'constant trip count', source: 'int s = 0; for (int i = 0; i < 6; i++) { if (i & 1) s += i; } if (s > 3) out[0] = s;', atLeast: { 0: 'grid', 1: 'grid', 2: 'grid' },
    *model(t) { let s = 0; for (let i = 0; t.c(0, i < 6, i); i++) { if (t.c(1, i & 1, i)) s += i; } t.c(2, s > 3); },
  },
  {
    name: 'divergent break', source: 'int i; for (i = 0; i < n; i++) { if (data[threadIdx.x + i] > 9) break; } if (i < n) out[0] = i;', never: [1, 2], atLeast: { 0: 'grid' },
    *model(t) { let i; for (i = 0; t.c(0, i < t.g.n, i); i++) { if (t.c(1, (t.g.data[t.x + i] ?? 0) > 9, i)) break; } t.c(2, i < t.g.n); },
  },
  {
    name: 'uniform break', source: 'int i; for (i = 0; i < n; i++) { if (data[i] > 9) break; } if (i < n) out[0] = i;', atLeast: { 0: 'grid', 1: 'grid', 2: 'grid' },
    *model(t) { let i; for (i = 0; t.c(0, i < t.g.n, i); i++) { if (t.c(1, (t.g.data[i] ?? 0) > 9, i)) break; } t.c(2, i < t.g.n); },
  },
  {
    name: 'code after a divergent continue', source: 'int v = 0; for (int i = 0; i < 4; i++) { if ((int)threadIdx.x < i) continue; v = i; if (v == 2) out[0] = 1; } if (v == 3) out[1] = 1;', never: [3], atLeast: { 0: 'grid', 2: 'grid' },
    *model(t) { let v = 0; for (let i = 0; t.c(0, i < 4, i); i++) { if (t.c(1, t.x < i, i)) continue; v = i; t.c(2, v === 2, i); } t.c(3, v === 3); },
  },
  {
    name: 'continue joins before the next round', source: 'int v = 0; for (int i = 0; i < 4; i++) { if (v > 1) out[0] = 1; if (threadIdx.x & 1) continue; v++; }', never: [1],
    *model(t) { let v = 0; for (let i = 0; t.c(0, i < 4, i); i++) { t.c(1, v > 1, i); if (t.c(2, t.x & 1, i)) continue; v++; } },
  },
  {
    name: 'for (;;) with break', source: 'int i = 0; for (;;) { if (i >= n) break; i += 2; } if (i > n) out[0] = 1;', atLeast: { 0: 'grid', 1: 'grid' },
    *model(t) { let i = 0; for (;;) { if (t.c(0, i >= t.g.n, i)) break; i += 2; } t.c(1, i > t.g.n); },
  },
  {
    name: 'for (;;) with divergent break', source: 'int i = threadIdx.x; int r = 0; for (;;) { if (i >= n) break; i += 3; r++; } if (r > 2) out[0] = 1;', never: [0, 1],
    *model(t) { let i = t.x; let r = 0; for (;;) { if (t.c(0, i >= t.g.n, r)) break; i += 3; r++; } t.c(1, r > 2); },
  },
  {
    name: 'break under two conditions', source: 'int i = 0; while (true) { if (threadIdx.x & 1) { if (i > 3) break; } if (i > 6) break; i++; } if (i == 7) out[0] = 1;', never: [1, 4],
    *model(t) { let i = 0; for (;;) { t.c(0, true, i); if (t.c(1, t.x & 1, i)) { if (t.c(2, i > 3, i)) break; } if (t.c(3, i > 6, i)) break; i++; } t.c(4, i === 7); },
  },
  {
    name: 'return guard', source: 'if ((int)threadIdx.x >= n) return; int v = n; if (v > 2) out[0] = v;', never: [0], atLeast: { 1: 'grid' },
    *model(t) { if (t.c(0, t.x >= t.g.n)) return; t.c(1, t.g.n > 2); },
  },
  {
    name: 'return inside nested loops', source: 'for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) { if (data[threadIdx.x] == i * 3 + j) return; } int w = n; if (w > 1) out[0] = 1;', atLeast: { 0: 'grid', 1: 'grid', 3: 'grid' }, never: [2],
    *model(t) { for (let i = 0; t.c(0, i < 3, i); i++) for (let j = 0; t.c(1, j < 3, i, j); j++) { if (t.c(2, t.g.data[t.x] === i * 3 + j, i, j)) return; } t.c(3, t.g.n > 1); },
  },
  {
    name: 'return in a loop, then the counter', source: 'int i; for (i = 0; i < 5; i++) { if (data[threadIdx.x] == i) return; } if (i == 5) out[0] = 1;', never: [1], atLeast: { 0: 'grid', 2: 'grid' },
    *model(t) { let i; for (i = 0; t.c(0, i < 5, i); i++) { if (t.c(1, t.g.data[t.x] === i, i)) return; } t.c(2, i === 5); },
  },
  {
    name: 'nested loops, inner divergent', source: 'int a = 0; for (int i = 0; i < 3; i++) { int j = 0; while (j < data[threadIdx.x]) { j++; } if (i == 1) a = i; if (j > 3) a = 5; } if (a == 1) out[0] = 1;', never: [1, 3, 4], atLeast: { 0: 'grid', 2: 'grid' },
    *model(t) {
      let a = 0;
      for (let i = 0; t.c(0, i < 3, i); i++) { let j = 0; while (t.c(1, j < (t.g.data[t.x] ?? 0), i, j)) j++; if (t.c(2, i === 1, i)) a = i; if (t.c(3, j > 3, i)) a = 5; }
      t.c(4, a === 1);
    },
  },
  {
    name: 'do-while', source: 'int i = 0; do { i++; if (i == 2) out[0] = 1; } while (i < (int)(threadIdx.x % 5)); if (i > 2) out[1] = 1;', atLeast: { 1: 'grid' }, never: [0, 2],
    *model(t) { let i = 0; do { i++; t.c(1, i === 2, i); } while (t.c(0, i < t.x % 5, i)); t.c(2, i > 2); },
  },
  {
    name: 'switch with fall-through', source: 'int v = 0; switch (n & 3) { case 0: v = 1; case 1: v += 2; break; case 2: v = n; break; default: v = 9; } if (v > 2) out[0] = v;', atLeast: { 0: 'grid', 1: 'grid' },
    *model(t) { let v = 0; t.c(0, t.g.n & 3); switch (t.g.n & 3) { case 0: v = 3; break; case 1: v = 2; break; case 2: v = t.g.n; break; default: v = 9; } t.c(1, v > 2); },
  },
  {
    name: 'switch on the thread', source: 'int v = 0; switch (threadIdx.x & 3) { case 0: v = 1; break; case 2: v = 1; break; } if (v) out[0] = v;', never: [0, 1],
    *model(t) { let v = 0; t.c(0, t.x & 3); switch (t.x & 3) { case 0: v = 1; break; case 2: v = 1; break; } t.c(1, v); },
  },
  {
    name: 'switch, fall-through of a divergent arm', source: 'int v = 0; switch (threadIdx.x & 1) { case 0: v = 5; case 1: if (v == 5) out[0] = 1; }', never: [0, 1],
    *model(t) { let v = 0; t.c(0, t.x & 1); if ((t.x & 1) === 0) v = 5; t.c(1, v === 5); },
  },
  {
    name: 'switch inside a loop with continue', source: 'int v = 0; for (int i = 0; i < 4; i++) { switch (data[threadIdx.x + i] & 1) { case 0: continue; default: break; } v++; } if (v > 1) out[0] = v;', never: [1, 2], atLeast: { 0: 'grid' },
    *model(t) { let v = 0; for (let i = 0; t.c(0, i < 4, i); i++) { const k = (t.g.data[t.x + i] ?? 0) & 1; t.c(1, k, i); if (k === 0) continue; v++; } t.c(2, v > 1); },
  },
  {
    name: 'short circuit with a side effect', source: 'int v = 0; if (threadIdx.x < 3 && (v = n) > 0) out[0] = 1; if (v) out[1] = 1;', never: [2],
    *model(t) { let v = 0; const left = t.c(1, t.x < 3); const both = left && (v = t.g.n) > 0; t.c(0, both); t.c(2, v); },
  },
  {
    name: 'or with a side effect', source: 'int v = 7; if (n > 100 || (v = 2) == 2) out[0] = 1; if (v == 2) out[1] = 1;', atLeast: { 0: 'grid', 1: 'grid', 2: 'grid' },
    *model(t) { let v = 7; const left = t.c(1, t.g.n > 100); const both = left || (v = 2) === 2; t.c(0, both); t.c(2, v === 2); },
  },
  {
    name: 'assignment in a condition', source: 'int v; if ((v = data[threadIdx.x]) > 4) out[0] = v; if (v == 2) out[1] = v;', never: [0, 1],
    *model(t) { const v = t.g.data[t.x] ?? 0; t.c(0, v > 4); t.c(1, v === 2); },
  },
  {
    name: 'comma and postfix in a subscript', source: 'int k = 0, a[4] = {1, 2, 3, 4}; int s = (k++, a[k++]); if (s == 2) out[0] = 1; if (k == 2) out[1] = 1;', atLeast: { 0: 'grid', 1: 'grid' },
    *model(t) { t.c(0, true); t.c(1, true); },
  },
  {
    name: 'ternary that assigns', source: 'int a = 0, b = 0; (threadIdx.x & 4) ? (a = 1) : (b = 1); if (a) out[0] = 1; if (b) out[1] = 1;', never: [0, 1, 2],
    *model(t) { let a = 0; let b = 0; if (t.c(0, t.x & 4)) a = 1; else b = 1; t.c(1, a); t.c(2, b); },
  },
  {
    name: 'compound assignment keeps the old value', source: 'int v = threadIdx.x; v += n; v -= n; if (v > 3) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 3); },
  },
  {
    name: 'plain assignment kills the old value', source: 'int v = threadIdx.x; out[v] = 1; v = n; if (v > 3) out[0] = 1;', atLeast: { 0: 'grid' },
    *model(t) { t.c(0, t.g.n > 3); },
  },
  {
    name: 'array with a lane-varying store', source: 'int a[4] = {0, 0, 0, 0}; a[threadIdx.x & 3] = 1; if (a[2]) out[0] = 1;', never: [0],
    *model(t) { t.c(0, (t.x & 3) === 2); },
  },
  {
    name: 'array of uniform contents', source: 'int a[4]; for (int i = 0; i < 4; i++) a[i] = n + i; if (a[2] > 5) out[0] = 1;', atLeast: { 0: 'grid', 1: 'grid' },
    *model(t) { for (let i = 0; t.c(0, i < 4, i); i++); t.c(1, t.g.n + 2 > 5); },
  },
  {
    name: 'array of uniform contents, lane-varying subscript', source: 'int a[4]; for (int i = 0; i < 4; i++) a[i] = i; if (a[threadIdx.x & 3] > 1) out[0] = 1;', never: [1],
    *model(t) { for (let i = 0; t.c(0, i < 4, i); i++); t.c(1, (t.x & 3) > 1); },
  },
  {
    name: 'struct through fields', source: 'struct P { int a; int b; };\n---\nP p; p.a = n; p.b = threadIdx.x; if (p.b > 3) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 3); },
  },
  {
    name: 'address taken', source: 'int v = 0; int *p = &v; *p = threadIdx.x; if (v > 2) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 2); },
  },
  {
    name: 'reference to a variable', source: 'int v = 0; int &r = v; r = threadIdx.x; if (v > 2) out[0] = 1; if (r > 4) out[1] = 1;', never: [0, 1],
    *model(t) { t.c(0, t.x > 2); t.c(1, t.x > 4); },
  },
  {
    name: 'reference to an element', source: 'int a[3] = {0, 0, 0}; int &r = a[1]; r = threadIdx.x; if (a[1] > 2) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 2); },
  },
  {
    name: 'result under control dependence in a callee', source: '__device__ int f(int a) { if (threadIdx.x < 3) return 1; return a; }\n---\nint v = f(2); if (v == 1) out[0] = 1;', never: [0, 1],
    *model(t) { const v = t.x < 3 ? 1 : 2; t.c(0, v === 1); t.c(1, t.x < 3); },
  },
  {
    name: 'uniform result of a callee', source: '__device__ int f(int a) { if (a > 3) return 1; return a; }\n---\nint v = f(n); if (v == 1) out[0] = 1;', atLeast: { 0: 'grid', 1: 'grid' },
    *model(t) { const v = t.g.n > 3 ? 1 : t.g.n; t.c(0, v === 1); t.c(1, t.g.n > 3); },
  },
  {
    name: 'one callee, two contexts', source: '__device__ int f(int a) { return a > 3 ? a : 0; }\n---\nif (f(n)) out[0] = 1; if (f(threadIdx.x)) out[1] = 1;', atLeast: { 0: 'grid', 2: 'grid' }, never: [1, 3],
    *model(t) { t.c(0, t.g.n > 3 ? t.g.n : 0); t.c(1, t.x > 3 ? t.x : 0); t.c(2, t.g.n > 3); t.c(3, t.x > 3); },
  },
  {
    name: 'return from a loop of a callee', source: '__device__ int f(const int *d) { for (int i = 0; i < 8; i++) if (d[threadIdx.x + i] > 12) return i; return 8; }\n---\nif (f(data) < 4) out[0] = 1;', never: [0, 2],
    *model(t) { let r = 8; for (let i = 0; t.c(1, i < 8, i); i++) if (t.c(2, (t.g.data[t.x + i] ?? 0) > 12, i)) { r = i; break; } t.c(0, r < 4); },
  },
  {
    name: 'callee writes by reference', source: '__device__ void f(int &a) { a = threadIdx.x; }\n---\nint v = n; f(v); if (v > 2) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 2); },
  },
  {
    name: 'callee writes a uniform value by reference', source: '__device__ void f(int &a, int b) { if (b > 2) a = b; }\n---\nint v = n; f(v, 5); if (v > 2) out[0] = 1;', atLeast: { 0: 'grid', 1: 'grid' },
    *model(t) { t.c(0, true); t.c(1, true); },
  },
  {
    name: 'callee writes by pointer', source: '__device__ void f(int *a) { *a = threadIdx.x; }\n---\nint v = n; f(&v); if (v > 2) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 2); },
  },
  {
    name: 'callee reads the caller\'s array', source: '__device__ int f(const int *a) { return a[0]; }\n---\nint a[2]; a[0] = threadIdx.x; a[1] = 0; if (f(a) > 2) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 2); },
  },
  {
    name: 'callee fills the caller\'s array', source: '__device__ void f(int *a, int v) { for (int i = 0; i < 2; i++) a[i] = v + i; }\n---\nint a[2]; f(a, threadIdx.x); if (a[1] > 2) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x + 1 > 2); for (let i = 0; t.c(1, i < 2, i); i++); },
  },
  {
    name: 'aliased reference parameters', source: '__device__ int f(int &a, int &b) { a = threadIdx.x; return b; }\n---\nint v = 0; if (f(v, v) > 2) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 2); },
  },
  {
    name: 'recursion', source: '__device__ int f(int a) { if (a < 1) return threadIdx.x; return f(a - 1); }\n---\nif (f(3) > 2) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 2); },
  },
  {
    name: 'lambda that captures by reference', source: 'int v = 0; auto set = [&](int w) { v = w; }; set(threadIdx.x); if (v > 2) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 2); },
  },
  {
    name: 'method with a field', source: 'struct C { int v; __device__ void set(int w) { v = w; } __device__ int get() const { return v; } };\n---\nC c; c.set(threadIdx.x); if (c.get() > 2) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 2); },
  },
  {
    name: 'constructor whose list reads the thread', source: 'struct C { int v; __device__ C() : v(threadIdx.x) {} };\n---\nC c; if (c.v > 2) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 2); },
  },
  {
    name: 'constructor that hands on its arguments', source: 'struct C { int v; int w; __device__ C(int a) : v(a), w(1) { w = a + 1; } };\n---\nC c(n); C d(threadIdx.x); if (c.v > 2) out[0] = 1; if (d.w > 3) out[1] = 1;', atLeast: { 0: 'grid' }, never: [1],
    *model(t) { t.c(0, t.g.n > 2); t.c(1, t.x + 1 > 3); },
  },
  {
    name: 'constructor whose body reads the thread', source: 'struct C { int v; __device__ C() { v = threadIdx.x; } };\n---\nC c; if (c.v > 2) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 2); },
  },
  {
    name: 'goto', source: 'int v = 0; if (threadIdx.x < 3) goto skip; v = 1; skip: if (v) out[0] = 1;', never: [0, 1],
    *model(t) { let v = 0; if (!t.c(0, t.x < 3)) v = 1; t.c(1, v); },
  },
  {
    name: 'backward goto', source: 'int i = 0; again: i++; if (i < (int)(threadIdx.x & 7)) goto again; if (i > 3) out[0] = 1;', never: [0, 1],
    *model(t) { let i = 0; do { i++; } while (t.c(0, i < (t.x & 7), i)); t.c(1, i > 3); },
  },
  {
    name: 'multiplicative steps', source: 'for (int s = 1; s < n; s *= 2) { if (s == 4) out[0] = 1; }', atLeast: { 0: 'grid', 1: 'grid' },
    *model(t) { for (let s = 1; t.c(0, s < t.g.n, s); s *= 2) t.c(1, s === 4, s); },
  },
  {
    name: 'two counters', source: 'for (int i = 0, j = threadIdx.x; i < 4; i++, j += 2) { if (j > 5) out[0] = 1; }', atLeast: { 0: 'grid' }, never: [1],
    *model(t) { for (let i = 0, j = t.x; t.c(0, i < 4, i); i++, j += 2) t.c(1, j > 5, i); },
  },
  {
    name: 'value of an outer round used in the next', source: 'int last = 0; for (int i = 0; i < 4; i++) { if (last > 2) out[0] = 1; last = data[threadIdx.x + i]; }', never: [1], atLeast: { 0: 'grid' },
    *model(t) { let last = 0; for (let i = 0; t.c(0, i < 4, i); i++) { t.c(1, last > 2, i); last = t.g.data[t.x + i] ?? 0; } },
  },
  {
    name: 'unsigned wrap', source: 'if (threadIdx.x - 1 < 31u) out[0] = 1;',
    *model(t) { t.c(0, u(t.x - 1) < 31); },
  },
  {
    name: 'narrowing', source: 'unsigned char c = threadIdx.x * 16; if (c > 100) out[0] = 1;', never: [0],
    *model(t) { t.c(0, ((t.x * 16) & 255) > 100); },
  },
  {
    name: 'signed division', source: 'int a = (int)threadIdx.x - 20; if (a / 32 == 0) out[0] = 1;',
    *model(t) { t.c(0, div(t.x - 20, 32) === 0); },
  },
];
