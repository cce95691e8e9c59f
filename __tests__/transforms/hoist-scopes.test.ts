/**
 * What hoist may not let leak or lose: names and objects of an arm whose braces would go, declarations that arms of a `switch` share, implicit
 * calls of a loop's head, expressions that would read as declarations, entry tests in C++'s types.
 */
import { beforeAll, describe as group, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist as typed } from '../../transforms/hoist.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applyAll, refuses } from '../helpers/transform.js';

const hoist = typed as Transform;

beforeAll(async () => {
  await initParser();
});

/** A kernel with a loop over `body`, in its own file. */
function looped(body: string, before = '', head = 'int i = 0; i < n; ++i'): string {
  return `${before}
__global__ void k(const float *__restrict__ a, float *__restrict__ o, int n, int mode, bool flag) {
    float sum = 0.f;
    for (${head}) {
${body.trim().split('\n').map((line) => `        ${line}`).join('\n')}
    }
    o[threadIdx.x] = sum;
}
`;
}

function written(code: string): string {
  const run = applyAll(hoist, code, { evenIfItLoses: true });
  expect(run.rounds).toBeGreaterThan(0);
  return run.text;
}

/** The copies of the loop, white space evened out. */
function flat(text: string): string {
  return text.replace(/\s+/g, ' ');
}

group('the braces of an arm', () => {
  const kept: readonly (readonly [string, string, string])[] = [
    ['a type of that name is used behind', 'if (flag) { using Real = int; sum += (Real)a[i]; }\nsum += Real(a[i]);', 'using Real = float;'],
    ['a variable hides a type', 'if (flag) { int Pair = 3; sum += Pair; }\nPair p; p.u = a[i]; sum += p.u;', 'struct Pair { float u; };'],
    ['an enumerator', 'if (flag) { enum { Width = 7 }; sum += Width; }\nsum += Width;', 'enum { Width = 5 };'],
    ['the length of an array', 'if (flag) { const int Len = 8; sum += Len; }\nfloat buf[Len]; buf[0] = sum; sum += buf[0] + sizeof(buf);', 'constexpr int Len = 4;'],
    ['a template argument', 'if (flag) { const int Len = 8; sum += Len; }\nsum += times<Len>(sum);', 'constexpr int Len = 4;\ntemplate<int N> __device__ float times(float v) { return v * N; }'],
    ['the operand of sizeof', 'if (flag) { char wide = 8; sum += wide; }\nsum += sizeof(wide);', '__device__ double wide;'],
    ['a using-declaration', 'if (flag) { using other::shape; sum += shape(a[i]); }\nsum += shape(sum);', 'namespace other { __device__ float shape(float v) { return v + 1; } }\n__device__ float shape(double v) { return v * 2; }'],
    ['a using-directive', 'if (flag) { using namespace other; sum += shape(a[i]); }\nsum += shape(sum);', 'namespace other { __device__ float shape(float v) { return v + 1; } }\n__device__ float shape(double v) { return v * 2; }'],
    ['a namespace alias', 'if (flag) { namespace o2 = other; sum += o2::shape(a[i]); }\nsum += o2::shape(sum);', 'namespace other { __device__ float shape(float v) { return v + 1; } }\nnamespace o2 { __device__ float shape(float v) { return v * 2; } }'],
    ['the body of a macro', 'if (flag) { int q = 8; sum += q; }\nsum += USEQ;', '#define USEQ (q + 1)\n__device__ int q;'],
    ['a cast to a type of that name', 'if (flag) { struct Cell { int v; }; Cell c{1}; sum += c.v; }\nsum += sizeof(Cell);', 'struct Cell { double v; };'],
    ['an object with a destructor', 'if (flag) { Count c{o}; sum += a[i]; }\nsum += *o;', 'struct Count { float *at; __device__ ~Count() { *at += 1; } };'],
    ['a reference that keeps a temporary', 'if (flag) { const Count &c = make(o); sum += a[i]; }\nsum += *o;', 'struct Count { float *at; __device__ ~Count() { *at += 1; } };\n__device__ Count make(float *at) { return Count{at}; }'],
    ['a reference to a part of a temporary', 'if (flag) { float *const &p = make(o).at; sum += *p; }\nsum += *o;', 'struct Count { float *at; __device__ ~Count() { *at += 1; } };\n__device__ Count make(float *at) { return Count{at}; }'],
    ['a structured binding', 'if (flag) { auto [u, v] = make(o); sum += u; }\nsum += *o;', 'struct Count { float u; float *at; __device__ ~Count() { *at += 1; } };\n__device__ Count make(float *at) { return Count{1.f, at}; }'],
  ];
  test.each(kept)('stay: %s', (_name, body, before) => {
    const arm = /\{.*\}/.exec(body)?.[0] ?? '';
    expect(flat(written(looped(body, before)))).toContain(flat(arm));
  });

  test('go where nothing is declared, or no name is met', () => {
    const out = flat(written(looped('if (flag) { float q = a[i]; sum += q; }\nsum += 1.f;')));
    expect(out).toContain('{ float q = a[i]; sum += q; sum += 1.f; }');
  });

  test('an arm that declares what the head of a braceless loop declares keeps its block', () => {
    const code = `__global__ void k(const float *a, float *o, int n, bool flag) {
    float sum = 0.f;
    for (int i = 0; i < n; ++i)
        if (flag) {
            float i = a[0];
            sum += i;
        } else {
            sum -= a[i];
        }
    o[threadIdx.x] = sum;
}
`;
    expect(flat(written(code))).toMatch(/for \(int i = 0; i < n; \+\+i\) \{ \{ float i = a\[0\];/);
  });
});

group('the scope that arms of a switch share', () => {
  test.each([
    ['a variable', 'switch (mode) { case 0: float r; r = a[i]; sum += r; break; default: r = 2; sum -= r; break; }'],
    ['a type', 'switch (mode) { case 1: typedef float F; sum += (F)a[i]; break; default: F z = 2; sum -= z; break; }'],
    ['an enumerator', 'switch (mode) { case 1: enum { Q = 3 }; sum += Q; break; default: sum -= Q; break; }'],
    ['a length', 'switch (mode) { case 1: const int Q = 3; sum += Q; break; case 2: { float b[sizeof(Q)]; b[0] = sum; sum -= b[0]; } break; }'],
  ])('refused: %s', (_name, body) => {
    refuses(hoist, looped(body, 'enum { Q = 4 };\n__device__ float r;'), 'switch-arms-closed', { evenIfItLoses: true });
  });

  test('an arm with braces, and a last arm, keep to themselves', () => {
    const out = written(looped('switch (mode) { case 0: { float r = a[i]; sum += r; } break; default: float r; r = 2; sum -= r; break; }'));
    expect(out.match(/for \(/g)).toHaveLength(2);
  });

  test('a label that means a constant of the loop stays in the loop', () => {
    refuses(hoist, looped('const int First = 3;\nswitch (mode) { case First: sum += a[i]; break; default: sum -= a[i]; break; }'), 'names-resolve', { evenIfItLoses: true });
  });
});

group('the head of a loop whose body is gone', () => {
  const range = (before: string, parameter: string, head: string): string => `${before}
__global__ void k(${parameter}, float *o, bool flag) {
    float sum = 0.f;
    for (${head}) {
        if (flag) sum += 1.f;
    }
    o[threadIdx.x] = sum;
}
`;
  test.each([
    ['begin with an effect', 'struct R { float *b; int n; __device__ float *begin() { b[0] = 1; return b; } __device__ float *end() { return b + n; } };', 'R r', 'float x : r'],
    ['an iterator with an effect', 'struct It { float *p; int *c; __device__ void operator++() { ++p; ++*c; } __device__ bool operator!=(const It &q) const { return p != q.p; } __device__ float operator*() const { return *p; } };\nstruct R { float *b; int *c; int n; __device__ It begin() const { return It{b, c}; } __device__ It end() const { return It{b + n, c}; } };', 'R r', 'float x : r'],
    ['a copy of an element', 'struct E { int *v; __device__ E(const E &q) : v(q.v) { ++*v; } };', 'E (&r)[4]', 'E x : r'],
    ['an element converted', 'struct E { __device__ E(float) { ++count; } static __device__ int count; };', 'float (&r)[4]', 'E x : r'],
    ['a free begin', 'struct R { float *b; int n; };\n__device__ float *begin(R &r) { r.b[0] = 9; return r.b; }\n__device__ float *end(R &r) { return r.b + r.n; }', 'R r', 'float x : r'],
    ['an object in the head of a for', 'struct C { int i; float *l; __device__ ~C() { *l = i; } };', 'float *l', 'C s{0, l}; s.i < 4; ++s.i'],
  ])('is written in both copies: %s', (_name, before, parameter, head) => {
    expect(written(range(before, parameter, head)).match(/for \(/g)).toHaveLength(2);
  });

  test('an array of numbers does nothing by itself', () => {
    expect(written(`__global__ void k(float *o, bool flag) {
    float r[4] = {1.f, 2.f, 3.f, 4.f};
    float sum = 0.f;
    for (float x : r) {
        if (flag) sum += x;
    }
    o[threadIdx.x] = sum;
}
`).match(/for \(/g)).toHaveLength(1);
  });
});

group('the entry test has C++ types', () => {
  const body = 'if (mode[1000]) sum += a[0];\nelse sum -= a[0];';
  const code = (head: string): string => looped(body, '', head).replace('int mode', 'const int *__restrict__ mode');
  test.each([
    ['signed char i = 200; i > 0; --i', '(signed char)200 > 0'],
    ['unsigned i = 10; i > -1; --i', '(unsigned)10 > -1'],
    ['unsigned char i = 300; i >= 100; --i', '(unsigned char)300 >= 100'],
    ['short i = 70000; i > 5000; --i', '(short)70000 > 5000'],
  ])('not surely entered: %s', (head, guard) => {
    expect(written(code(head))).toContain(`if (${guard} && mode[1000])`);
  });
  test.each(['int i = 10; i > 0; --i', 'unsigned i = 0; i < 10; ++i', 'int i = 0; i < 10u; ++i', 'unsigned char i = 200; i > 0; --i'])('surely entered: %s', (head) => {
    expect(written(code(head))).toContain('if (mode[1000])');
  });
});

group('one variable in two copies', () => {
  test.each([
    ['__shared__ in a lambda', 'auto f = [](float v) { __shared__ float s[64]; s[threadIdx.x] = v; return s[threadIdx.x]; };\nif (flag) sum += f(a[i]); else sum -= f(a[i]);'],
    ['static in a lambda', 'auto f = [](float v) { static int calls; return v + ++calls; };\nif (flag) sum += f(a[i]); else sum -= f(a[i]);'],
    ['static in a local class', 'struct F { __device__ float at(float v) { static int calls; return v + ++calls; } };\nF f;\nif (flag) sum += f.at(a[i]); else sum -= f.at(a[i]);'],
    ['a register of asm', 'asm("{ .reg .pred p; }" ::);\nasm(".reg .f32 q; mov.f32 q, %0;" :: "f"(sum));\nif (flag) sum += a[i]; else sum -= a[i];'],
  ])('refused: %s', (_name, body) => {
    refuses(hoist, looped(body), 'copy-safe', { evenIfItLoses: true });
  });
});

group('a reference that a ?: initialises', () => {
  const body = (arm: string): string => `__shared__ float cell[2];\nconst float &r = flag ? cell[0] : ${arm};\nsum += r * sqrtf(a[i]);`;
  test('is bound to a copy where one arm is a value', () => {
    refuses(hoist, looped(body('1.f')), 'arm-types-agree', { evenIfItLoses: true });
  });
});

group('instances of a template', () => {
  const each = (first: string): string => `template <class F> __device__ float inner(F f) { ${first} return f(1.f); }
template <class F> __device__ float each(F f) { return inner(f); }
`;
  const body = 'auto twice = [](float v) { return 2 * v; };\nfloat w = each(twice);\nif (flag) sum += w + a[i]; else sum -= w;';
  test('a lambda that is copied would have a second static variable', () => {
    refuses(hoist, looped(body, each('static int calls; ++calls;')), 'copy-safe', { evenIfItLoses: true });
    refuses(hoist, looped('if (flag) sum += each([](float v) { return 2 * v; }); else sum -= a[i];', each('static int calls; ++calls;')), 'copy-safe', { evenIfItLoses: true });
  });
  test('one without is copied', () => {
    written(looped(body, each('f(2.f);')));
  });
});

group('an arm of ?: that becomes a statement', () => {
  const before = 'struct T { float *p; __device__ T() : p(nullptr) {} __device__ explicit T(float &v) : p(&v) { v += 1; } };\n__device__ void hit(float &v) { v += 1; }';
  test('does not turn into a declaration', () => {
    const out = written(looped('float u = 0.f;\nsum += a[i];\nflag ? T(sum) : T(u);\nsum += u;', before));
    expect(out).toContain('(void)T(sum);');
    expect(out).toContain('(void)T(u);');
  });
  test('keeps calls of functions and assignments as they are', () => {
    const out = written(looped('float u = 0.f;\nflag ? hit(sum) : hit(u);\nsum += u;', before));
    expect(out).toMatch(/^ *hit\(sum\);$/m);
  });
});
