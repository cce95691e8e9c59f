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
    expect(rewritten(`const float *next();
void run(float *a, float *b, size_t n, int mode) {
    for (int i = 0; i < 3; i++) k<<<(n + 255) / 256, 256, 0, 0>>>(a, next(), n, mode - i); // again
}
`, CHOICE)).toBe(`const float *next();
void run(float *a, float *b, size_t n, int mode) {
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
        const int grid = n * 2;
        const unsigned blocks = grid > 0 ? grid : 0;
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

describe('a body in one line', () => {
  const narrow = `__global__ void k(float *x, const float *y, int n, bool flip) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (flip) { if (i < n) x[i] = -x[i]; } else { if (i < n) x[i] = y[i]; }
}
`;

  test('gets lines of its own, as far in as those of the kernel', () => {
    const lines = rewritten('void run(float *a, float *b, int n, bool flip) { k<<<n, 256>>>(a, b, n, flip); }\n', ROLES, narrow).split('\n');
    expect(lines[0]).toBe('void run(float *a, float *b, int n, bool flip) {');
    expect(lines.at(-2)).toBe('}');
    expect(lines.slice(1, -2).map((line) => line.search(/\S/) % 2)).toEqual(lines.slice(1, -2).map(() => 0));
    expect(lines[1]).toMatch(/^ {2}\S/);
    expect(lines.some((line) => /^ {4}\S/.test(line))).toBe(true);
  });

  test('keeps what else stands in it', () => {
    for (const body of ['{ /* first */ k<<<n, 256>>>(a, b, n, flip); }', '{ k<<<n, 256>>>(a, b, n, flip); // last\n}', '{ k<<<n, 256>>>(a, b, n, flip); done(); }']) {
      const text = rewritten(`void done();\nvoid run(float *a, float *b, int n, bool flip) ${body}\n`, ROLES);
      for (const word of ['/* first */', '// last', 'done(); }']) if (body.includes(word)) expect(text).toContain(word);
      expect(text.split('{').length).toBe(text.split('}').length);
    }
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

/** One launch in a function with everything that the tests name. */
const launched = (launch: string, plan: LaunchPlan, declarations = ''): string => rewritten(`${declarations}int next(int &m);
int blocks_for(int n);
int grid_of;
void run(float *a, const float *b, int n, int m, bool f, cudaStream_t s) {
    ${launch}
}
`, plan).replace(/^[\s\S]*void run[^\n]*\n/, '');

describe('the order of evaluation', () => {
  test.each([
    ['the configuration before the condition', 'k<<<m--, 256>>>(a, b, n, m > 3);', /const unsigned blocks = m--;\s+const bool flip = m > 3;\s+if \(flip\)\s+k_flip<<<blocks, 256>>>\(a, n\);/],
    ['a call that may set it', 'k<<<next(m), 256>>>(a, b, n, m > 3);', /const unsigned blocks = next\(m\);\s+const bool flip = m > 3;/],
    ['an assignment', 'k<<<(n = next(m)) / 256, 256>>>(a, b, n, n > m);', /const unsigned blocks = \(n = next\(m\)\) \/ 256;\s+const bool flip = n > m;/],
    ['a name as the condition', 'k<<<n, 64, 0, (f = !f, s)>>>(a, b, n, f);', /const cudaStream_t launch_stream = \(f = !f, s\);\s+if \(f\)\s+k_flip<<<n, 64, 0, launch_stream>>>/],
    ['an argument after the configuration', 'k<<<n, 256>>>(a, b, n--, n > m);', /const unsigned blocks = n;\s+const int n2 = n--;\s+const bool flip = n > m;\s+if \(flip\)\s+k_flip<<<blocks, 256>>>\(a, n2\);/],
    ['a call that may change what others see', 'k<<<grid_of, 256>>>(a, b, n, next(m) > 3);', /const unsigned blocks = grid_of;\s+const bool flip = next\(m\) > 3;/],
    ['nothing that meets', 'k<<<m--, 256>>>(a, b, n, f);', /if \(f\)\s+k_flip<<<m--, 256>>>\(a, n\);/],
    ['a call that cannot reach a variable of its own', 'k<<<n / 256, 256>>>(a, b, n, blocks_for(m) > 3);', /const bool flip = blocks_for\(m\) > 3;\s+if \(flip\)\s+k_flip<<<n \/ 256, 256>>>\(a, n\);/],
  ])('%s', (_, launch, expected) => {
    expect(launched(launch, CHOICE)).toMatch(expected);
  });

  test('the configuration of roles is kept where an argument changes it', () => {
    expect(launched('k<<<n, m>>>(a, b, m--, f);', ROLES)).toMatch(/const unsigned blocks = n > 0 \? n : 0;\s+const unsigned threads = m;\s+const int n2 = m--;/);
  });
});

describe('what ends with the expression is not kept', () => {
  const CLASSES = `struct Buf { float *p; Buf(int n); ~Buf(); float *get() const { return p; } operator float *(); int size() const; };
Buf make(int n);
Buf &shared_buffer();
float *raw(int n);
struct Stream { cudaStream_t s; Stream(); ~Stream(); operator cudaStream_t() { return s; } };
`;
  const REFUSED = /^refused: .*(ends with the expression|may be an object|no variable of the type)/;
  test.each([
    ['a pointer of what a function returns', 'k<<<n, 256>>>(make(n).get(), b, n, f);'],
    ['a member of an object', 'k<<<n, 256>>>(Buf(n).p, b, n, f);'],
    ['a conversion', 'k<<<n, 256>>>(make(n), b, n, f);'],
    ['arithmetic on it', 'k<<<n, 256>>>(make(n).get() + 4, b, n, f);'],
    ['a choice of it', 'k<<<n, 256>>>(f ? make(n).get() : a, b, n, f);'],
    ['a stream', 'k<<<n, 256, 0, Stream()>>>(a, b, n, f);'],
    ['a member of a stream', 'k<<<n, 256, 0, Stream().s>>>(a, b, n, f);'],
    ['a number, whose owner may hold a lock', 'k<<<make(n).size(), 256>>>(a, b, n, f);'],
    ['what nothing declares', 'k<<<n, 256>>>(unseen(n), b, n, f);'],
    ['a view of what nothing declares', 'k<<<n, 256>>>(thrust::raw_pointer_cast(unseen(n).data()), b, n, f);'],
  ])('%s', (_, launch) => {
    expect(launched(launch, ROLES, CLASSES)).toMatch(REFUSED);
  });

  test.each([
    ['a pointer', 'k<<<n, 256>>>(raw(n), b, n, f);', 'const auto x = raw(n);'],
    ['a member of a variable', 'Buf v(n); k<<<n, 256>>>(v.get(), b, n, f);', 'const auto x = v.get();'],
    ['of a reference', 'k<<<n, 256>>>(shared_buffer().get(), b, n, f);', 'const auto x = shared_buffer().get();'],
    ['a view of a variable', 'std::vector<float> v(n); k<<<n, 256>>>(v.data(), b, n, f);', 'const auto x = v.data();'],
    ['a pointer of thrust', 'thrust::device_vector<float> v(n); k<<<n, 256>>>(thrust::raw_pointer_cast(v.data()), b, n, f);', 'const auto x = thrust::raw_pointer_cast(v.data());'],
    ['a number', 'k<<<blocks_for(n), 256>>>(a, b, n, f);', 'const int grid = blocks_for(n);'],
  ])('%s is', (_, launch, expected) => {
    expect(launched(launch, ROLES, CLASSES)).toContain(expected);
  });

  test('where one launch stays one, it lives as long as before', () => {
    expect(launched('k<<<n, 256>>>(make(n).get(), b, n, f);', CHOICE, CLASSES)).toMatch(/if \(f\)\s+k_flip<<<n, 256>>>\(make\(n\).get\(\), n\);/);
  });
});
