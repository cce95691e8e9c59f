/** Launch plans as host text: every launch of the project, what follows it, and what stands in the way. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { applyEdits } from '../../src/rewrite/apply-edits.js';
import { initParser } from '../../src/syntax/parser.js';
import { contextFor } from '../../transforms/lib/framework.js';
import { writePlanText, type PlanOptions } from '../../transforms/lib/launch-edits.js';
import { launchObligations, launchSites } from '../../transforms/lib/launch-sites.js';
import type { LaunchPlan } from '../../transforms/lib/types.js';
import { load, PATH } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const KERNEL = `__global__ void k(float *x, const float *y, int n, bool flip) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (flip) { if (i < n) x[i] = -x[i]; } else { if (i < n) x[i] = y[i]; }
}
`;

const CHOICE: LaunchPlan = {
  steps: [
    { kind: 'kernel', kernel: 'k_flip', grid: 'gridDim', block: 'blockDim', arguments: ['x', 'n'], unless: '!(flip)' },
    { kind: 'kernel', kernel: 'k_copy', grid: 'gridDim', block: 'blockDim', arguments: ['x', 'y', 'n'], unless: 'flip' },
  ],
};
const ROLES: LaunchPlan = {
  steps: [
    { kind: 'value', name: 'front', type: 'unsigned', value: '(unsigned)n < gridDim.x ? (unsigned)n : gridDim.x' },
    { kind: 'value', name: 'rest', type: 'unsigned', value: 'gridDim.x - front' },
    { kind: 'kernel', kernel: 'k_flip', grid: 'dim3(front, gridDim.y, gridDim.z)', block: 'blockDim', arguments: ['x', 'n'], unless: null },
    { kind: 'kernel', kernel: 'k_copy', grid: 'dim3(rest, gridDim.y, gridDim.z)', block: 'blockDim', arguments: ['x', 'y', 'n', 'front'], unless: null },
  ],
};
const KERNELS: PlanOptions['kernels'] = [
  { name: 'k_flip', parameters: [{ kind: 'kept', index: 0 }, { kind: 'kept', index: 2 }] },
  { name: 'k_copy', parameters: [{ kind: 'kept', index: 0 }, { kind: 'kept', index: 1 }, { kind: 'kept', index: 2 }] },
];

/** The host text after the kernel, rewritten; or what stands in the way. */
function rewritten(host: string, plan: LaunchPlan, kernel = KERNEL, options: Partial<PlanOptions> = {}): string {
  const loaded = load(kernel + host);
  const fn = loaded.unit.kernels.find((k) => k.body !== null);
  if (fn === undefined) throw new Error('no kernel');
  const context = contextFor(loaded.analysis.kernel(fn), loaded.unit);
  const found = launchSites(context);
  const bad = launchObligations(context, found).find((o) => o.status === 'refuted' || o.status === 'unknown');
  if (bad !== undefined) return `refused: ${bad.text}`;
  const writing = writePlanText(context, found, plan, { kernels: KERNELS, keepOriginal: false, ...options });
  if (writing.obstacles.length > 0) return `refused: ${writing.obstacles.map((o) => `${o.path}:${o.line} ${o.form}`).join('; ')}`;
  const text = applyEdits(loaded.unit.source.text, writing.edits.filter((edit) => edit.file === PATH), '\n');
  return text.replace(kernel, '');
}

describe('a choice on the host', () => {
  test('variables of the parameters’ types stand for themselves', () => {
    expect(rewritten(`void run(float *a, float *b, int n, bool flip) {
    k<<<(n + 255) / 256, 256>>>(a, b, n, flip);
    CHECK(cudaGetLastError());
}
`, CHOICE)).toBe(`void run(float *a, float *b, int n, bool flip) {
    if (flip)
        k_flip<<<(n + 255) / 256, 256>>>(a, n);
    else
        k_copy<<<(n + 255) / 256, 256>>>(a, b, n);
    CHECK(cudaGetLastError());
}
`);
  });

  test('another type is converted once, and what has effects happens once', () => {
    expect(rewritten(`void run(float *a, float *b, size_t n, int mode) {
    for (int i = 0; i < 3; i++) k<<<(n + 255) / 256, 256, 0, 0>>>(a, next(), n, mode - i); // again
}
`, CHOICE)).toBe(`void run(float *a, float *b, size_t n, int mode) {
    for (int i = 0; i < 3; i++) {
        const auto y = next();
        const bool flip = mode - i;
        if (flip)
            k_flip<<<(n + 255) / 256, 256, 0, 0>>>(a, n);
        else
            k_copy<<<(n + 255) / 256, 256, 0, 0>>>(a, y, n);
    } // again
}
`);
  });

  test('a branch without braces keeps its else', () => {
    expect(rewritten(`void run(float *a, float *b, int n) {
    bool f = n > 7;
    if (n > 3)
        k<<<n, 256>>>(a, b, n, f);
    else
        k<<<1, 64>>>(a, b, 64, !f);
}
`, CHOICE)).toBe(`void run(float *a, float *b, int n) {
    bool f = n > 7;
    if (n > 3) {
        if (f)
            k_flip<<<n, 256>>>(a, n);
        else
            k_copy<<<n, 256>>>(a, b, n);
    }
    else {
        const bool flip = !f;
        if (flip)
            k_flip<<<1, 64>>>(a, 64);
        else
            k_copy<<<1, 64>>>(a, b, 64);
    }
}
`);
  });

  test('a constant decides', () => {
    expect(rewritten(`void run(float *a, float *b, int n) {
    k<<<n, 256>>>(a, b, n, true);
}
`, CHOICE, KERNEL, { decide: (_site, condition) => condition === 'flip' })).toBe(`void run(float *a, float *b, int n) {
    k_flip<<<n, 256>>>(a, n);
}
`);
  });
});

describe('two launches', () => {
  test('grids are computed once and nothing is launched with an empty one', () => {
    expect(rewritten(`void run(float *a, float *b, int n, cudaStream_t s) {
    k<<<n * 2, 256, bytes(n), s>>>(a, b, n, false);
}
`, ROLES)).toBe(`void run(float *a, float *b, int n, cudaStream_t s) {
    {
        const unsigned blocks = n * 2;
        const size_t shared_bytes = bytes(n);
        const unsigned front = (unsigned)n < blocks ? (unsigned)n : blocks;
        const unsigned rest = blocks - front;
        if (front > 0)
            k_flip<<<front, 256, shared_bytes, s>>>(a, n);
        if (rest > 0)
            k_copy<<<rest, 256, shared_bytes, s>>>(a, b, n, front);
    }
}
`);
  });

  test('a dim3 keeps its other sides', () => {
    expect(rewritten(`void run(float *a, float *b, int n) {
    dim3 g(n, 2);
    k<<<g, dim3(16, 16)>>>(a, b, n, false);
}
`, ROLES)).toContain('k_flip<<<dim3(front, g.y, g.z), dim3(16, 16)>>>(a, n);');
  });
});

describe('what follows', () => {
  const TEMPLATE = `template <int W> __global__ void k(float *x, const float *y, int n, bool flip);
template <int W> __global__ void k(float *x, const float *y, int n, bool flip) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (flip) { if (i < n) x[i] = -x[i]; } else { if (i < n) x[i] = y[i] * W; }
}
`;

  test('declarations, explicit instantiations and attributes', () => {
    const text = rewritten(`template __global__ void k<4>(float *, const float *, int, bool);
void run(float *a, float *b, int n) {
    CHECK(cudaFuncSetAttribute(k<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    k<4><<<n, 256>>>(a, b, n, true);
}
`, CHOICE, TEMPLATE);
    expect(text).toContain('template __global__ void k_flip<4>(float *, int);\ntemplate __global__ void k_copy<4>(float *, const float *, int);\n');
    expect(text).toContain('    CHECK(cudaFuncSetAttribute(k_flip<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));\n    CHECK(cudaFuncSetAttribute(k_copy<4>,');
    expect(text).toContain('k_flip<4><<<n, 256>>>(a, n);');
    expect(text).toContain('template <int W> __global__ void k_flip(float *x, int n);\ntemplate <int W> __global__ void k_copy(float *x, const float *y, int n);\n');
  });
});

describe('in the way', () => {
  test.each([
    ['a pointer', 'void run(float *a, float *b, int n) { auto p = k; p<<<1, 1>>>(a, b, n, true); }', /pointer p/],
    ['the runtime', 'void run(void **args) { cudaLaunchKernel((const void *)k, dim3(1), dim3(1), args, 0, 0); }', /cudaLaunchKernel/],
    ['a macro', '#define GO(K) K<<<1, 1>>>(a, b, n, true)\nvoid run(float *a, float *b, int n) { GO(k); }', /macro/],
    ['a macro that names it', '#define GO k<<<1, 1>>>(a, b, n, true)\nvoid run(float *a, float *b, int n) { GO; k<<<1, 1>>>(a, b, n, true); }', /macro/],
    ['a larger expression', 'void run(float *a, float *b, int n) { CHECK((k<<<1, 1>>>(a, b, n, true), cudaGetLastError())); }', /larger expression|macro/],
    ['another configuration', 'void run(float *a, float *b, int n) {\n#ifdef FAST\n k<<<2, 2>>>(a, b, n, true);\n#endif\n k<<<1, 1>>>(a, b, n, true); }', /:\d+/],
    ['an occupancy query', 'void run(float *a, float *b, int n) { int g, t; cudaOccupancyMaxPotentialBlockSize(&g, &t, k); k<<<1, 1>>>(a, b, n, true); }', /cudaOccupancyMaxPotentialBlockSize/],
    ['nothing', '', /no launch of k/],
  ])('%s', (_name, host, reason) => {
    expect(rewritten(host, CHOICE)).toMatch(/^refused/);
    expect(rewritten(host, CHOICE)).toMatch(reason);
  });
});
