/** Kernels for the soundness test: memory rules R1 to R4, warp arithmetic, votes and shuffles. */
import type { Specimen } from './soundness-kernels-control.js';
import { div, u } from './lockstep.js';

export const MEMORY: readonly Specimen[] = [
  {
    name: 'a variable written through a pointer to its pointer', source: 'int v = 3; int *p = &v; int **pp = &p; **pp = threadIdx.x; if (v > 5) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 5); },
  },
  {
    name: 'a variable written through a reference to its pointer', source: 'int v = 3; int *p = &v; int *&r = p; *r = threadIdx.x; if (v > 5) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 5); },
  },
  {
    name: 'a variable written through a pointer in a record that is pointed to', source: 'struct Holder { int *p; }; int v = 3; Holder h; h.p = &v; Holder *q = &h; *q->p = threadIdx.x; if (v > 5) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 5); },
  },
  {
    name: 'uniform load from read-only memory', source: 'if (data[blockIdx.x] > 5) out[0] = 1;', atLeast: { 0: 'block' },
    *model(t) { t.c(0, (t.g.data[t.b] ?? 0) > 5); },
  },
  {
    name: 'lane-varying load', source: 'if (data[threadIdx.x] > 5) out[0] = 1;', never: [0],
    *model(t) { t.c(0, (t.g.data[t.x] ?? 0) > 5); },
  },
  {
    name: '[P] a location that every thread writes', source: 'out[blockIdx.x] = threadIdx.x; if (out[blockIdx.x] > 5) out[100] = 1;', never: [0],
    *model(t) { t.g.out[t.b] = t.x; t.c(0, (t.g.out[t.b] ?? 0) > 5); },
  },
  {
    name: '[P] a flag that one thread sets', source: 'if (threadIdx.x == 0) *out = 1; if (*out) out[1] = 1;', never: [0, 1],
    *model(t) { if (t.c(0, t.x === 0)) t.g.out[0] = 1; t.c(1, t.g.out[0] ?? 0); },
  },
  {
    name: '[P] shared flag without a second barrier', source: '__shared__ int s; s = 0; __syncthreads(); if (threadIdx.x == 37) s = 1; if (s) out[0] = 1;', never: [1],
    *model(t) { t.s[0] = 0; yield 'block'; if (t.c(0, t.x === 37)) t.s[0] = 1; t.c(1, t.s[0] ?? 0); },
  },
  {
    name: 'shared flag with barriers on both sides', source: '__shared__ int s; if (threadIdx.x == 0) s = data[blockIdx.x]; __syncthreads(); if (s > 5) out[0] = 1;', atLeast: { 1: 'block' }, never: [0],
    *model(t) { if (t.c(0, t.x === 0)) t.s[0] = t.g.data[t.b] ?? 0; yield 'block'; t.c(1, (t.s[0] ?? 0) > 5); },
  },
  {
    name: '[P] polling loop over a back edge', source: '__shared__ int s; int k = 0; if (threadIdx.x == 0) s = 0; for (;;) { __syncthreads(); if (s > 9) break; if (threadIdx.x == 0) s = data[k] + k; k++; if (k > 12) break; }', never: [1],
    *model(t) {
      let k = 0;
      if (t.c(0, t.x === 0)) t.s[0] = 0;
      for (;;) { yield 'block'; if (t.c(1, (t.s[0] ?? 0) > 9, k)) break; if (t.c(2, t.x === 0, k)) t.s[0] = (t.g.data[k] ?? 0) + k; k++; if (t.c(3, k > 12, k)) break; }
    },
  },
  {
    name: 'polling loop done right', source: '__shared__ int s; int k = 0; if (threadIdx.x == 0) s = 0; for (;;) { __syncthreads(); int v = s; __syncthreads(); if (v > 9) break; if (threadIdx.x == 0) s = data[k] + k; k++; if (k > 12) break; }', atLeast: { 1: 'block', 3: 'block' },
    *model(t) {
      let k = 0;
      if (t.c(0, t.x === 0)) t.s[0] = 0;
      for (;;) { yield 'block'; const v = t.s[0] ?? 0; yield 'block'; if (t.c(1, v > 9, k)) break; if (t.c(2, t.x === 0, k)) t.s[0] = (t.g.data[k] ?? 0) + k; k++; if (t.c(3, k > 12, k)) break; }
    },
  },
  {
    name: 'shared array, own slot and slot 0', source: '__shared__ int s[1024]; int l = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); s[l] = data[l]; __syncthreads(); if (s[0] > 5) out[0] = 1; if (s[l] > 5) out[1] = 1;', atLeast: { 0: 'block' }, never: [1],
    *model(t) { t.s[t.lin] = t.g.data[t.lin] ?? 0; yield 'block'; t.c(0, (t.s[0] ?? 0) > 5); t.c(1, (t.s[t.lin] ?? 0) > 5); },
  },
  {
    name: 'local pointer into shared memory', source: '__shared__ int s[64]; int *p = s + 8; if (threadIdx.x == 0) p[1] = data[3]; __syncthreads(); if (p[1] > 5) out[0] = 1;', never: [0],
    *model(t) { if (t.c(0, t.x === 0)) t.s[9] = t.g.data[3] ?? 0; yield 'block'; t.c(1, (t.s[9] ?? 0) > 5); },
  },
  {
    name: 'volatile', source: 'volatile int *v = out; if (v[0] > 5) out[1] = 1; out[0] = threadIdx.x;', never: [0],
    *model(t) { t.c(0, (t.g.out[0] ?? 0) > 5); t.g.out[0] = t.x; },
  },
  {
    name: 'result of an atomic', source: 'int v = atomicAdd(out, 1); if (v > 5) out[1] = 1;', never: [0],
    *model(t) { const v = t.g.out[0] ?? 0; t.g.out[0] = v + 1; t.c(0, v > 5); },
  },
  {
    name: 'device variable nobody writes', source: '__device__ int limit = 7;\n---\nif (limit > 5) printf("%d", limit);', atLeast: { 0: 'grid' },
    *model(t) { t.c(0, true); },
  },
  {
    name: 'device variable that is written', source: '__device__ int limit = 7;\n---\nif (limit > 5) out[0] = 1; if (threadIdx.x == 3) limit = 2;', never: [0, 1],
    *model(t) { t.c(0, (t.g.out[9] ?? 0) === 0); if (t.c(1, t.x === 3)) t.g.out[9] = 1; },
  },
  {
    name: 'constant memory', source: '__constant__ int table[4];\n---\nif (table[1] > 5) out[0] = 1; if (table[threadIdx.x & 3] > 5) out[1] = 1;', atLeast: { 0: 'grid' }, never: [1],
    *model(t) { t.c(0, (t.g.data[1] ?? 0) > 5); t.c(1, (t.g.data[t.x & 3] ?? 0) > 5); },
  },
  {
    name: 'static in a device function', source: '__device__ int f() { static int calls = 0; calls = threadIdx.x; return calls; }\n---\nif (f() > 5) out[0] = 1;', never: [0],
    *model(t) { t.g.out[7] = t.x; t.c(0, (t.g.out[7] ?? 0) > 5); },
  },
  {
    name: 'warp number in a one-dimensional quotient', source: 'int w = threadIdx.x / 32; if (w == 1) out[0] = 1; if (w & 1) out[1] = 1;', atLeastInRows: { 0: 'warp', 1: 'warp' },
    *model(t) { const w = div(t.x, 32); t.c(0, w === 1); t.c(1, w & 1); },
  },
  {
    name: 'warp number of the linear thread, in every shape', source: 'int l = threadIdx.x + blockDim.x * threadIdx.y + blockDim.x * blockDim.y * threadIdx.z; int w = l >> 5; if (w == 1) out[0] = 1;', atLeast: { 0: 'warp' },
    *model(t) { t.c(0, t.lin >> 5 === 1); },
  },
  {
    name: 'global warp number', source: 'int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32; if (w == 3) out[0] = 1;', atLeastInRows: { 0: 'warp' },
    *model(t) { t.c(0, div(t.gid, 32) === 3); },
  },
  {
    name: 'quotient by less than a warp', source: 'if (threadIdx.x / 16 == 1) out[0] = 1;', never: [0],
    *model(t) { t.c(0, div(t.x, 16) === 1); },
  },
  {
    name: 'offset that breaks the warps', source: 'if ((threadIdx.x + 1) / 32 == 1) out[0] = 1;', never: [0],
    *model(t) { t.c(0, div(t.x + 1, 32) === 1); },
  },
  {
    name: 'mask of the upper bits', source: 'if (threadIdx.x & 32) out[0] = 1; if (threadIdx.x & 48) out[1] = 1;', atLeastInRows: { 0: 'warp' }, never: [1],
    *model(t) { t.c(0, t.x & 32); t.c(1, t.x & 48); },
  },
  {
    name: 'comparison with whole warps', source: 'if (threadIdx.x < 32) out[0] = 1; if (threadIdx.x >= 64) out[1] = 1; if (threadIdx.x < 33) out[2] = 1;', atLeastInRows: { 0: 'warp', 1: 'warp' },
    *model(t) { t.c(0, t.x < 32); t.c(1, t.x >= 64); t.c(2, t.x < 33); },
  },
  {
    name: 'rows', source: 'if (threadIdx.y == 1) out[0] = 1; if (threadIdx.z == 1) out[1] = 1;', atLeastInRows: { 0: 'warp', 1: 'warp' },
    *model(t) { t.c(0, t.y === 1); t.c(1, t.z === 1); },
  },
  {
    name: 'row of a two-dimensional guard', source: 'int row = blockIdx.x * blockDim.y + threadIdx.y; if (row >= n) return; if (row > 3) out[0] = 1;', atLeastInRows: { 0: 'warp', 1: 'warp' },
    *model(t) { const row = t.b * t.shape.y + t.y; if (t.c(0, row >= t.g.n)) return; t.c(1, row > 3); },
  },
  {
    name: 'lane number', source: 'int lane = threadIdx.x & 31; if (lane == 0) out[0] = 1;', never: [0],
    *model(t) { t.c(0, (t.x & 31) === 0); },
  },
  {
    name: 'signed quotient that crosses zero', source: 'int a = (int)threadIdx.x - 64; if (a / 32 == 0) out[0] = 1; if ((a >> 5) == -1) out[1] = 1;', never: [0], atLeastInRows: { 1: 'warp' },
    *model(t) { const a = t.x - 64; t.c(0, div(a, 32) === 0); t.c(1, a >> 5 === -1); },
  },
  {
    name: 'ballot of the whole warp', source: 'unsigned v = __ballot_sync(0xffffffffu, data[threadIdx.x] > 8); if (v & 1u) out[0] = 1; if (v >> (threadIdx.x & 31) & 1u) out[1] = 1;', atLeast: { 0: 'warp' }, never: [1],
    *model(t) {
      const table = yield Number((t.g.data[t.x] ?? 0) > 8);
      const v = u(table.reduce<number>((bits, one, lane) => bits | (one ? u(1 << lane) : 0), 0));
      t.c(0, v & 1);
      t.c(1, (v >>> (t.x & 31)) & 1);
    },
  },
  {
    name: 'all and any', source: 'int p = data[threadIdx.x] > 2; if (__any_sync(0xffffffffu, p)) out[0] = 1; if (__all_sync(0xffffffffu, p)) out[1] = 1;', atLeast: { 0: 'warp', 1: 'warp' },
    *model(t) {
      const p = Number((t.g.data[t.x] ?? 0) > 2);
      const first = yield p;
      t.c(0, first.some((one) => one === 1));
      const second = yield p;
      t.c(1, second.every((one) => one !== 0));
    },
  },
  {
    name: 'shuffle from lane 0', source: 'int v = __shfl_sync(0xffffffffu, data[threadIdx.x], 0); if (v > 8) out[0] = 1;', atLeast: { 0: 'warp' },
    *model(t) { const table = yield t.g.data[t.x] ?? 0; t.c(0, (table[0] ?? 0) > 8); },
  },
  {
    name: 'shuffle from a lane that may have left', source: 'if ((int)threadIdx.x >= n) return; int v = __shfl_sync(~0u, data[threadIdx.x], 31); if (v > 8) out[0] = 1;', never: [0, 1],
    *model(t) { if (t.c(0, t.x >= t.g.n)) return; const v = t.g.data[t.x] ?? 0; const table = yield v; t.c(1, (table[31] ?? v) > 8); },
  },
  {
    name: 'shuffle from a lane that may be elsewhere', source: 'if ((int)threadIdx.x < n) { int v = __shfl_sync(0xffffffffu, data[threadIdx.x], 30); if (v > 8) out[0] = 1; }', never: [0, 1],
    *model(t) { if (!t.c(0, t.x < t.g.n)) return; const v = t.g.data[t.x] ?? 0; const table = yield v; t.c(1, (table[30] ?? v) > 8); },
  },
  {
    name: 'shuffle of a value that agrees, from a lane that may have left', source: 'if ((int)threadIdx.x >= n) return; int v = __shfl_sync(~0u, n, 31); if (v > 8) out[0] = 1;', never: [1],
    *model(t) { if (t.c(0, t.x >= t.g.n)) return; const table = yield t.g.n; t.c(1, (table[31] ?? t.lane) > 8); },
  },
  {
    name: 'shuffle from a lane that the mask leaves out', source: 'int v = __shfl_sync(0x7fffffffu, data[threadIdx.x], 31); if (v > 8) out[0] = 1;', never: [0],
    *model(t) { const v = t.g.data[t.x] ?? 0; yield v; t.c(0, v > 8); },
  },
  {
    name: 'shuffle after an exit that blocks share', source: 'if (data[blockIdx.x] > n) return; int v = __shfl_sync(~0u, data[threadIdx.x], 0); if (v > 8) out[0] = 1;', atLeast: { 1: 'warp' },
    *model(t) { if (t.c(0, (t.g.data[t.b] ?? 0) > t.g.n)) return; const table = yield t.g.data[t.x] ?? 0; t.c(1, (table[0] ?? 0) > 8); },
  },
  {
    name: 'shuffle from lane 0, by a value that is 0', source: 'int first = 0; int v = __shfl_sync(0xffffffffu, data[threadIdx.x], first); if (v > 8) out[0] = 1;', atLeast: { 0: 'warp' },
    *model(t) { const other = yield t.g.data[t.x] ?? 0; t.c(0, (other[0] ?? 0) > 8); },
  },
  {
    name: 'shuffle from lane 20, which the last warp may not have', source: 'int v = __shfl_sync(0xffffffffu, data[threadIdx.x], 20); if (v > 8) out[0] = 1;',
    *model(t) { const own = t.g.data[t.x] ?? 0; const other = yield own; t.c(0, (other[20] ?? own) > 8); },
  },
  {
    name: 'shuffle down of a value that agrees, past the last lane', source: 'int v = __shfl_down_sync(0xffffffffu, n, 1); if (v > 8) out[0] = 1;',
    *model(t) { const other = yield t.g.n; t.c(0, (t.lane === 31 ? t.g.n : other[t.lane + 1] ?? t.lane + 20) > 8); },
  },
  {
    name: 'shuffle from an elected lane', source: 'unsigned m = __ballot_sync(0xffffffffu, data[threadIdx.x] > 8); while (m) { int v = __shfl_sync(0xffffffffu, data[threadIdx.x], 31 - __clz(m)); if (v > 12) out[0] = 1; break; }', atLeast: { 1: 'warp' },
    *model(t) {
      const own = t.g.data[t.x] ?? 0;
      const votes = yield own > 8 ? 1 : 0;
      let last = -1;
      votes.forEach((vote, lane) => { if (vote === 1) last = lane; });
      if (!t.c(0, last >= 0, 0)) return;
      const other = yield own;
      t.c(1, (other[last] ?? own) > 12, 0);
    },
  },
  {
    name: 'shuffle from the lane of a vote that may be empty', source: 'unsigned m = __ballot_sync(0xffffffffu, data[threadIdx.x] > 15); int v = __shfl_sync(0xffffffffu, data[threadIdx.x], __ffs(m) - 1); if (v > 8) out[0] = 1;',
    *model(t) {
      const own = t.g.data[t.x] ?? 0;
      const votes = yield own > 15 ? 1 : 0;
      const first = votes.findIndex((vote) => vote === 1);
      const other = yield own;
      t.c(0, (other[first < 0 ? 31 : first] ?? own) > 8);
    },
  },
  {
    name: 'the first thread of the warp', source: 'int lane = threadIdx.x % 32; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i - lane < n) out[0] = 1; if (i - (threadIdx.x & 15) < n) out[1] = 1; if (i + lane < n) out[2] = 1;', never: [1, 2],
    *model(t) { t.c(0, t.gid - t.x % 32 < t.g.n); t.c(1, t.gid - t.x % 16 < t.g.n); t.c(2, t.gid + t.x % 32 < t.g.n); },
  },
  {
    name: 'the first thread of the warp, by a helper', source: '__device__ unsigned lane_id() { return threadIdx.x & 31; }\n__device__ unsigned other_id(int k) { if (k > 2) return threadIdx.x & 31; return 0; }\n---\nunsigned i = blockIdx.x * blockDim.x + threadIdx.x; unsigned l = lane_id(); if (i - l >= n) return; if (i - other_id(n) < 2u * n) out[0] = 1;',
    *model(t) { if (t.c(0, t.gid - t.x % 32 >= t.g.n)) return; t.c(1, t.gid - (t.g.n > 2 ? t.x % 32 : 0) < 2 * t.g.n); },
  },
  {
    name: 'shuffle from a lane that differs', source: 'int v = __shfl_sync(0xffffffffu, data[threadIdx.x], (threadIdx.x + 1) & 7); if (v > 8) out[0] = 1;', never: [0],
    *model(t) { const table = yield t.g.data[t.x] ?? 0; t.c(0, (table[(t.x + 1) & 7] ?? 0) > 8); },
  },
  {
    name: 'shuffle of width 8', source: 'int v = __shfl_sync(0xffffffffu, data[threadIdx.x], 0, 8); if (v > 8) out[0] = 1;', never: [0],
    *model(t) { const table = yield t.g.data[t.x] ?? 0; t.c(0, (table[t.lane & 24] ?? 0) > 8); },
  },
  {
    name: 'shuffle down', source: 'int v = data[threadIdx.x]; v += __shfl_down_sync(0xffffffffu, v, 1); if (v > 16) out[0] = 1;', never: [0],
    *model(t) { const v = t.g.data[t.x] ?? 0; const table = yield v; t.c(0, v + (table[t.lane + 1] ?? v) > 16); },
  },
  {
    name: '__syncthreads_or', source: 'int p = data[threadIdx.x] > 15; if (__syncthreads_or(p)) out[0] = 1; if (p) out[1] = 1;', atLeast: { 0: 'block' }, never: [1],
    *model(t) {
      const p = Number((t.g.data[t.x] ?? 0) > 15);
      if (t.lin === 0) t.s[5] = 0;
      yield 'block';
      if (p) t.s[5] = 1;
      yield 'block';
      t.c(0, t.s[5] ?? 0);
      t.c(1, p);
    },
  },
  {
    name: 'loop that leaves by a vote', source: 'int v = data[threadIdx.x]; int r = 0; while (__any_sync(0xffffffffu, v > 0)) { v -= 3; r++; } if (r > 3) out[0] = r; if (v < -1) out[1] = v;', atLeast: { 0: 'warp', 1: 'warp' }, never: [2],
    *model(t) {
      let v = t.g.data[t.x] ?? 0;
      let r = 0;
      for (;;) { const table = yield Number(v > 0); if (!t.c(0, table.some((one) => one === 1), r)) break; v -= 3; r++; }
      t.c(1, r > 3);
      t.c(2, v < -1);
    },
  },
  {
    name: '__activemask', source: 'if (threadIdx.x & 1) { unsigned m = __activemask(); if (m == 0xffffffffu) out[0] = 1; }', never: [0, 1],
    *model(t) { if (t.c(0, t.x & 1)) t.c(1, t.x % 3 === 0); },
  },
  {
    name: 'clock', source: 'long long c = clock64(); if (c & 1) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x % 3 === 0); },
  },
  {
    name: 'macro that hides the thread', source: '#define TID (blockIdx.x * blockDim.x + threadIdx.x)\n---\nif (TID < n) out[TID] = 1;', never: [0],
    *model(t) { t.c(0, t.gid < t.g.n); },
  },
  {
    name: 'a name that nothing explains', source: 'if (MYSTERY > 3) out[0] = 1; if (mystery(n)) out[1] = 1;', never: [0, 1],
    *model(t) { t.c(0, t.x > 3); t.c(1, t.x > 3); },
  },
  {
    name: 'an unknown callee may change what it is given', source: 'int v = n; mystery(v); if (v > 3) out[0] = 1;', never: [0],
    *model(t) { t.c(0, t.x > 3); },
  },
  {
    name: 'template value', source: 'template <int N> __device__ int half() { return N / 2; }\n---\nif (half<64>() > 3) out[0] = 1;', atLeast: { 0: 'grid' },
    *model(t) { t.c(0, true); },
  },
  {
    name: 'kernel parameter and block dimension', source: 'if (n > 3 && blockDim.x > 16) out[0] = 1;', atLeast: { 0: 'grid', 1: 'grid' },
    *model(t) { const left = t.c(1, t.g.n > 3); t.c(0, left && t.shape.x > 16); },
  },
  {
    name: 'grid-stride loop', source: 'for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * 8; i += gridDim.x * blockDim.x) { if (data[i & 1023] > 8) out[0] = 1; }', never: [0, 1],
    *model(t) { let r = 0; for (let i = t.gid; t.c(0, i < t.g.n * 8, r); i += t.blocks * t.shape.x) { t.c(1, (t.g.data[i & 1023] ?? 0) > 8, r); r++; } },
  },
  {
    name: 'tile loop with a barrier', source: '__shared__ int s[1024]; int l = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); int acc = 0; for (int k = 0; k < n; k++) { s[l] = data[(k + l) & 1023]; __syncthreads(); if (s[k & 7] > 8) acc++; __syncthreads(); } if (acc > 2) out[0] = acc;', atLeast: { 0: 'grid', 1: 'block', 2: 'block' },
    *model(t) {
      let acc = 0;
      for (let k = 0; t.c(0, k < t.g.n, k); k++) { t.s[t.lin] = t.g.data[(k + t.lin) & 1023] ?? 0; yield 'block'; if (t.c(1, (t.s[k & 7] ?? 0) > 8, k)) acc++; yield 'block'; }
      t.c(2, acc > 2);
    },
  },
  {
    name: 'one thread only', source: 'int i = blockIdx.x * 64 + threadIdx.x; if (threadIdx.x == 0) { if (i > 0) out[0] = 1; }', never: [0],
    *model(t) { const i = t.b * 64 + t.x; if (t.c(0, t.x === 0)) t.c(1, i > 0); },
  },
];
