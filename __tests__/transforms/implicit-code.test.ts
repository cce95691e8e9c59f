/**
 * What runs without being named: constructors of objects, elements, bases and members, default values of fields, destructors, conversions, copies, assignments
 * of members, default arguments, what lambdas capture, take and give.
 * Each way hides each kind of thing from each transform, which must refuse, or write what does the same.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { auditFile } from '../../src/audit/audit.js';
import { initParser } from '../../src/syntax/parser.js';
import { transforms } from '../../transforms/index.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { applyAll, load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

/** Name; declarations that hide `hidden`; what stands in front of the use; the use, an `int`. */
const WAYS: readonly (readonly [string, (hidden: string) => string, string, string])[] = [
  ['a constructor', (hidden) => `struct W { int v; __device__ W() { v = ${hidden}; } };`, '', 'W().v'],
  ['a constructor of a variable', (hidden) => `struct W { int v; __device__ W() { v = ${hidden}; } };\n__device__ int of() { W w; return w.v; }`, '', 'of()'],
  ['a member initialiser', (hidden) => `struct W { int v; __device__ W(int a) : v(a + ${hidden}) { } };`, '', 'W(1).v'],
  ['a constructor of a base', (hidden) => `struct B { int v; __device__ B() { v = ${hidden}; } };\nstruct W : B { };`, '', 'W().v'],
  ['a constructor of a member', (hidden) => `struct B { int v; __device__ B() { v = ${hidden}; } };\nstruct W { B b; int w; };`, '', 'W().b.v'],
  ['a constructor of elements', (hidden) => `struct B { int v; __device__ B() { v = ${hidden}; } };\nstruct W { B b[2]; };\n__device__ int of() { W w; return w.b[1].v; }`, '', 'of()'],
  ['a default value of a field', (hidden) => `struct W { int v = ${hidden}; };`, '', 'W().v'],
  ['a default value of a field of a variable', (hidden) => `struct W { const int v = ${hidden}; };\n__device__ int of() { W w; return w.v; }`, '', 'of()'],
  ['a default value below a base', (hidden) => `struct B { int v = ${hidden}; };\nstruct W : B { int w = 1; };`, '', 'W().v'],
  ['a constructor that converts', (hidden) => `struct W { int v; __device__ W(int a) { v = a + ${hidden}; } };\n__device__ int of(const W &w) { return w.v; }`, '', 'of(3)'],
  ['a conversion', (hidden) => `struct W { int u; __device__ operator int() const { return ${hidden}; } };`, 'W w{1};', 'w'],
  ['a conversion of a result', (hidden) => `struct W { int u; __device__ operator int() const { return ${hidden}; } };\n__device__ W made() { return W{1}; }`, '', 'made()'],
  ['a copy', (hidden) => `struct W { int v; __device__ W(int a) : v(a) { } __device__ W(const W &o) { v = o.v + ${hidden}; } };\n__device__ int of(W w) { return w.v; }`, 'W w(1);', 'of(w)'],
  ['a destructor of a temporary', (hidden) => `__device__ int last;\nstruct W { int v; __device__ ~W() { last = ${hidden}; } };`, '', 'W{1}.v'],
  ['a destructor of a variable', (hidden) => `__device__ int last;\nstruct W { int v; __device__ ~W() { last = ${hidden}; } };\n__device__ int of() { W w; w.v = 1; return w.v; }`, '', 'of()'],
  ['a destructor of a member', (hidden) => `__device__ int last;\nstruct B { int v; __device__ ~B() { last = ${hidden}; } };\nstruct W { B b; };\n__device__ int of() { W w; w.b.v = 1; return w.b.v; }`, '', 'of()'],
  ['a default argument', (hidden) => `__device__ int of(int a, int b = ${hidden}) { return a + b; }`, '', 'of(1)'],
  ['a default argument that is not used', (hidden) => `__device__ int of(int a, int b = ${hidden}) { return a; }`, '', 'of(1)'],
  ['a default argument of a constructor', (hidden) => `struct W { int v; __device__ W(int b = ${hidden}) : v(b) { } };`, '', 'W().v'],
  ['a default argument of a method', (hidden) => `struct W { int v; __device__ int of(int b = ${hidden}) const { return v + b; } };`, 'W w{1};', 'w.of()'],
  ['a default value of elements in braces', (hidden) => `struct B { int v = ${hidden}; };\n__device__ int of() { B b[2]{}; return b[1].v; }`, '', 'of()'],
  ['a constructor that converts elements', (hidden) => `struct B { int v; __device__ B(int a) { v = a + ${hidden}; } };\n__device__ int of() { B b[2] = {1, 2}; return b[1].v; }`, '', 'of()'],
  ['a constructor that converts a member', (hidden) => `struct B { int v; __device__ B(int a) { v = a + ${hidden}; } };\nstruct W { B b; int w; };\n__device__ int of() { W w{1, 2}; return w.b.v; }`, '', 'of()'],
  ['a constructor that a cast runs', (hidden) => `struct W { int v; __device__ W(int a) { v = a + ${hidden}; } };`, '', '((W)3).v'],
  ['a constructor that a static_cast runs', (hidden) => `struct W { int v; __device__ W(int a) { v = a + ${hidden}; } };`, '', 'static_cast<W>(3).v'],
  ['a constructor that is inherited', (hidden) => `struct B { int v; __device__ B(int a) { v = a + ${hidden}; } };\nstruct W : B { using B::B; };`, '', 'W(3).v'],
  ['a copy that a lambda keeps', (hidden) => `struct W { int v; __device__ W(int a) : v(a) { } __device__ W(const W &o) { v = o.v + ${hidden}; } };\n__device__ int of() { W w(1); auto f = [w] { return w.v; }; return f(); }`, '', 'of()'],
  ['a copy that a lambda keeps unasked', (hidden) => `struct W { int v; __device__ W(int a) : v(a) { } __device__ W(const W &o) { v = o.v + ${hidden}; } };\n__device__ int of() { W w(1); auto f = [=] { return w.v; }; return f(); }`, '', 'of()'],
  ['a parameter of a lambda', (hidden) => `struct W { int v; __device__ W(int a) { v = a + ${hidden}; } };\n__device__ int of() { auto f = [](W w) { return w.v; }; return f(3); }`, '', 'of()'],
  ['a result of a lambda', (hidden) => `struct W { int v; __device__ W(int a) { v = a + ${hidden}; } };\n__device__ int of() { auto f = [](int a) -> W { return a; }; return f(3).v; }`, '', 'of()'],
  ['an assignment of a member', (hidden) => `struct B { int v; __device__ B &operator=(const B &o) { v = o.v + ${hidden}; return *this; } };\nstruct W { B b; };\n__device__ int of() { W w, o; o.b.v = 1; w = o; return w.b.v; }`, '', 'of()'],
  ['an assignment of elements below a base', (hidden) => `struct B { int v; __device__ B &operator=(const B &o) { v = o.v + ${hidden}; return *this; } };\nstruct A { B b[2]; };\nstruct W : A { int w; };\n__device__ int of() { W w; w = {}; return w.b[1].v; }`, '', 'of()'],
  ['an assignment of a member of a template', (hidden) => `struct B { int v; __device__ B &operator=(const B &o) { v = o.v + ${hidden}; return *this; } };\ntemplate <class T> struct W { T b; };\n__device__ int of() { W<B> w, o; o.b.v = 1; w = o; return w.b.v; }`, '', 'of()'],
  ['a constructor of a member of a template', (hidden) => `struct B { int v; __device__ B() { v = ${hidden}; } };\ntemplate <class T> struct W { T b; };`, '', 'W<B>().b.v'],
];

/** What is hidden. */
const THINGS: readonly (readonly [string, string])[] = [
  ['a coordinate', '(int)(blockIdx.x * blockDim.x + threadIdx.x)'],
  ['an atomic', 'atomicAdd(&ticket, 1)'],
  ['a barrier', 'meet()'],
  ['a volatile read', 'polled'],
];

const GLOBALS = `__device__ int ticket;
__device__ volatile int polled;
__device__ int meet() { __syncthreads(); return 1; }
`;

const heavy = (use: string): string => `float v = x[i];
        for (int j = 0; j < 64; ++j)
            v = v * .5f + sqrtf(fabsf(v));
        y[i] = v + ${use};`;

const launched = (declarations: string, body: string): string => `${GLOBALS}${declarations}
__global__ void k(const float *x, const int *f, float *y, int n, int m, bool flag) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ${body}
}
void run(const float *x, const int *f, float *y, int n, int m, bool flag) { k<<<(n + 255) / 256, 256>>>(x, f, y, n, m, flag); }
`;

/**
 * Transform and variant; the body around a use; things with which an output may be right. A coordinate may be carried, and where blocks are parted, each block
 * does what it did: only where its number is hidden it is another one.
 */
const PLACES: readonly (readonly [string, string | null, (setup: string, use: string) => string, readonly string[]])[] = [
  ['hoist', null, (setup, use) => `${setup}\n    float s = 0.f;\n    for (int j = 0; j < m; ++j) {\n        if (${use} > 3)\n            s += x[j];\n        else\n            s -= x[j];\n    }\n    y[i] = s;`, ['a coordinate']],
  ['peel', null, (setup, use) => `${setup}\n    float s = 0.f;\n    for (int j = 0; j < m; ++j) {\n        if (i + j < n + (${use}))\n            s += x[i + j];\n    }\n    y[i] = s;`, ['a coordinate']],
  ['ballot', null, (setup, use) => `${setup}\n    float s = 0.f;\n    for (int j = 0; j < m; ++j) {\n        if (i + j >= 0 && i + j < (${use}))\n            s += x[i + j];\n    }\n    y[i] = s;`, ['a coordinate']],
  ['compact', 'block', (setup, use) => `if (i < n && f[i] > 3) {\n        ${setup}\n        ${heavy(use)}\n    }`, ['a coordinate']],
  ['compact', 'grid', (setup, use) => `if (i < n && f[i] > 3) {\n        ${setup}\n        ${heavy(use)}\n    }`, ['a coordinate']],
  ['compact', 'loop', (setup, use) => `float s = 0.f;\n    for (int r = 0; r < m; ++r) {\n        if (f[i * 64 + (r & 63)] > 3) {\n            ${setup}\n            float v = x[r & 63];\n            for (int j = 0; j < 60; ++j)\n                v = v * 1.5f + sinf(v);\n            s += v + ${use};\n        }\n    }\n    y[i] = s;`, ['a coordinate']],
  ['compact', 'block', (setup, use) => `${setup}\n    int q = ${use};\n    if (i < n && f[i] > 3) {\n        ${heavy('q')}\n    }`, ['a coordinate', 'an atomic', 'a barrier', 'a volatile read']],
  ['compact', 'grid', (setup, use) => `${setup}\n    int q = ${use};\n    if (i < n && f[i] > 3) {\n        ${heavy('q')}\n    }`, ['a coordinate', 'an atomic', 'a barrier', 'a volatile read']],
  ['ballot', null, (setup, use) => `${setup}\n    float s = 0.f;\n    if (${use} > 3) {\n        for (int j = 0; j < m; ++j) {\n            if (i + j >= 0 && i + j < n)\n                s += x[i + j];\n        }\n    }\n    y[i] = s;`, ['a coordinate', 'an atomic', 'a barrier', 'a volatile read']],
  ['split', null, (setup, use) => `${setup}\n    int q = ${use};\n    if (blockIdx.x < m)\n        y[i] = x[i] * q;\n    else\n        y[i] = x[i] + 2.f;`, ['an atomic', 'a barrier']],
  ['split', null, (setup, use) => `if (blockIdx.x < m) {\n        ${setup}\n        y[i] = x[i] * ${use};\n    } else {\n        y[i] = x[i] + 2.f;\n    }`, ['an atomic', 'a barrier']],
  ['split', null, (setup, use) => `${setup}\n    if (flag)\n        y[i] = x[i] * ${use};\n    else\n        y[i] = sqrtf(x[i]);`, ['a coordinate', 'an atomic', 'a barrier', 'a volatile read']],
];

describe.each(PLACES)('%s:%s', (name, variant, body, mayBeRight) => {
  const transform = transforms.find((one) => one.name === name);
  if (transform === undefined) throw new Error(`no transform ${name}`);
  const options = { evenIfItLoses: true, variant, analysis: {} };

  test('applies where nothing is hidden', () => {
    const { rounds } = applyAll(transform, launched('struct W { int v; __device__ W(int a) : v(a) { } __device__ int get(int by = 2) const { return v * by; } };', body('', name === 'compact' ? 'W(3).get()' : 'm')), options);
    expect(rounds).toBeGreaterThan(0);
  });

  // Executing the outputs takes its time: where most things may be right, a third of the ways is enough.
  const ways = mayBeRight.length > 1 ? WAYS.filter((_, i) => i % 3 === 0) : WAYS;
  describe.each(THINGS)('%s', (thing, hidden) => {
    test.each(ways)('in %s', (way, declarations, setup, use) => {
      const before = launched(declarations(hidden), body(setup, use));
      const { rounds, text, plans } = applyAll(transform, before, options);
      if (rounds === 0) return;
      const what = `${thing} in ${way}: ${text}`;
      expect(mayBeRight.includes(thing) ? '' : what).toBe('');
      // What atomics and volatile memory give depends on the order of threads, which two programs need not share.
      if (thing !== 'a coordinate') return;
      // A value that another thread goes on with is carried.
      if (name === 'compact' && variant !== 'loop') { if (!/destructor|not used/.test(way)) expect(text).toMatch(/queue_q|q_of/); return; }
      const plan = plans.get('k');
      const { status } = verifyEquivalent(load(before).program, load(text).program, 'k', { budgetMs: 150, ...(plan === undefined ? {} : { plan }) });
      expect(status === 'different' ? what : '').toBe('');
    });
  });
});

describe('audit sees what is hidden under a condition on the thread', () => {
  const hazards = (text: string): readonly string[] => {
    const { unit, analysis } = load(text);
    return auditFile(unit, analysis).kernels.flatMap((kernel) => kernel.hazards.map((hazard) => `${hazard.severity} ${hazard.id}`));
  };

  test.each(WAYS)('a barrier in %s', (_way, declarations, setup, use) => {
    const text = launched(declarations('meet()'), `if (threadIdx.x < 7) {\n        ${setup}\n        y[i] = ${use};\n    }`);
    expect(hazards(text)).toContain('error barrier-divergent');
  });

  test.each(WAYS)('a shuffle in %s', (_way, declarations, setup, use) => {
    const text = launched(declarations('__shfl_sync(0xffffffffu, 3, 0)'), `if (threadIdx.x < 7) {\n        ${setup}\n        y[i] = ${use};\n    }`);
    expect(hazards(text)).toContain('error mask-full-under-divergence');
  });

  test.each(WAYS)('nothing is said where every thread comes to %s', (_way, declarations, setup, use) => {
    expect(hazards(launched(declarations('meet()'), `${setup}\n    y[i] = ${use};`)).filter((hazard) => hazard.startsWith('error'))).toEqual([]);
  });
});
