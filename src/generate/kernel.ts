/**
 * Whole kernels in the dialect, with a host function that launches them. Every kernel is deterministic, free of undefined behaviour and
 * of races by construction: a thread writes its own elements, shared memory only between barriers that the whole block reaches, and
 * atomics only add integers. So any difference between two versions, or between the simulator and a device, is a fault of ours.
 */
import { borderBranch, indexSpace } from './border.js';
import { Choices } from './choices.js';
import type { GenerateContext } from './context.js';
import { ELEMENTS, floatValue } from './expressions.js';
import { heavyRegion } from './heavy.js';
import { signedLoops } from './signs.js';
import {
  block, geometricBranch, invariantBranchLoop, roleBranch, specialIterationLoop, tileLoop, windowLoop, type Lines,
} from './statements.js';
import { guardedNest, rareBranchLoop } from './warp-shapes.js';

export const THEMES = ['free', 'invariant', 'tile', 'window', 'special', 'heavy', 'role', 'geometry', 'nest', 'delayed'] as const;
/** Themes that are only made when they are asked for: so a seed stays the kernel that it was. */
export const ASKED_THEMES = ['border', 'signs'] as const;
export type Theme = (typeof THEMES)[number] | (typeof ASKED_THEMES)[number];

export interface GeneratedKernel {
  readonly name: string;
  readonly source: string;
  readonly theme: Theme;
  readonly block: { readonly x: number; readonly y: number; readonly z?: number };
  /** Blocks side by side along x. */
  readonly grid: number;
  /** All sides of the grid, where it has more than one. */
  readonly sides?: readonly [number, number, number];
  /** `n` of the launch: the extent that guards compare with. */
  readonly n: number;
  readonly scalars: { readonly m: number; readonly mode: number; readonly flag: boolean; readonly w: number };
  /** Elements of `in`, `key`, `out`, `outi`. `total` and `lut` have 8. */
  readonly elements: number;
}

const HELPERS: Readonly<Record<string, Lines>> = {
  shape: [
    '__device__ float shape(float x, int k)', '{', '    if (k > 8)', '        return x * 0.5f;', '    if (x < 0.0f)', '        return -x;',
    '    return x + (float)k;', '}', '',
  ],
  bump: ['__device__ void bump(float &a, int &c, int k)', '{', '    a += 0.25f;', '    if (k & 1)', '        c += k;', '}', ''],
};

/** The kernel that a stream of choices describes. The same stream gives the same kernel. */
export function kernelFrom(stream: readonly number[], fixedTheme?: Theme): GeneratedKernel {
  const choose = new Choices(stream);
  const picked = THEMES[choose.below(THEMES.length)] ?? 'free';
  const theme = fixedTheme ?? picked;
  const space = theme === 'border' ? indexSpace(choose) : null;
  const threads = space === null ? choose.pick([64, 128, 32, 96]) : space.block[0] * space.block[1] * space.block[2];
  const rows = space !== null || theme === 'tile' || !choose.rarely(6) ? 1 : 2;
  const grid = space === null ? 1 + choose.below(4) : space.grid[0] * space.grid[1] * space.grid[2];
  const helpers = new Set<string>();
  let names = 0;
  const early = choose.rarely(3);
  const c: GenerateContext = {
    choose, threads, rows, helpers, depth: 3, inLoop: false, counters: [], indent: '    ',
    // After an early return not everybody arrives at a barrier.
    arrival: early ? 'lanes' : 'block',
    fresh: (stem) => `${stem}${names++}`,
  };
  const shaped = ((): Lines => {
    switch (theme) {
      case 'invariant': return invariantBranchLoop(c);
      case 'tile': return tileLoop(c);
      case 'window': return windowLoop(c);
      case 'special': return specialIterationLoop(c);
      case 'heavy': return heavyRegion(c);
      case 'role': return roleBranch(c);
      case 'geometry': return geometricBranch(c);
      case 'nest': return guardedNest(c);
      case 'delayed': return rareBranchLoop(c);
      case 'border': return borderBranch(c, space?.coordinates.length ?? 1);
      case 'signs': return signedLoops(c);
      case 'free': return block(c, 5);
    }
  })();
  const before = choose.rarely(2) ? block({ ...c, depth: 1 }, 2) : [];
  const after = choose.rarely(2) ? block({ ...c, depth: 1 }, 2) : [];
  // Extents of an index space are those of one axis.
  const total = space === null ? threads * rows * grid : space.block[0] * space.grid[0];
  const n = Math.max(1, choose.pick([total - 3, total, total - 17, Math.floor(total / 2) + 1, 1, 31, 33]));
  const scalars = { m: choose.pick([3, 5, 8, 1, 0]), mode: choose.below(4), flag: choose.below(2) === 0, w: choose.pick([0.75, 0.25, 1.5]) };
  const plane = space !== null ? space.index : rows > 1 ? `(blockIdx.x * ${rows} + threadIdx.y) * ${threads} + threadIdx.x` : 'blockIdx.x * blockDim.x + threadIdx.x';
  const body: Lines = [
    ...(helpersUsed(before, shaped, after).tile ? [`    __shared__ float tile[${threads * rows}];`] : []),
    // In a space of several dimensions `tid` is the linear number.
    `    int tid = ${space === null || space.coordinates.length === 1 ? 'threadIdx.x' : `(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x`};`, `    int i = ${plane};`, ...(space?.coordinates ?? []), '    int lane = tid & 31;', '    int warp = tid / 32;', `    float v = in[i & ${ELEMENTS - 1}];`,
    '    float acc = 0.0f;', '    int cnt = 0;', '    unsigned hash = 17u;', ...(early ? ['    if (i >= n)', '        return;'] : []),
    ...before, ...shaped, ...after,
    `    out[i] = acc + ${floatValue({ ...c, counters: [] }, 1)};`, '    outi[i] = (cnt & 0xffff) ^ (int)(hash >> 8);', '    (void)lane; (void)warp;',
  ];
  const source = [
    '#include <cuda_runtime.h>', '', ...[...helpers].sort().flatMap((name) => HELPERS[name] ?? []),
    '__global__ void generated(const float *__restrict__ in, const int *__restrict__ key, const int *__restrict__ lut, float *out, int *outi,',
    '                          int *total, int n, int m, int mode, bool flag, float w)', '{', ...body, '}', '',
    'void launch(const float *in, const int *key, const int *lut, float *out, int *outi, int *total, int n, int m, int mode, bool flag, float w)', '{',
    `    generated<<<${space !== null ? `dim3(${space.grid.join(', ')}), dim3(${space.block.join(', ')})` : `${grid}, ${rows > 1 ? `dim3(${threads}, ${rows})` : threads}`}>>>(in, key, lut, out, outi, total, n, m, mode, flag, w);`, '}', '',
  ].join('\n');
  const shape = space === null ? { block: { x: threads, y: rows }, grid } : { block: { x: space.block[0], y: space.block[1], z: space.block[2] }, grid: space.grid[0], sides: space.grid };
  return { name: 'generated', source, theme, ...shape, n, scalars, elements: ELEMENTS };
}

function helpersUsed(...parts: readonly Lines[]): { tile: boolean } {
  return { tile: parts.some((lines) => lines.some((line) => line.includes('tile['))) };
}
