import { describe, expect, test } from '@jest/globals';
import { printTree, printFunction } from '../../src/syntax/print.js';
import { forEachExpr, forEachStmt } from '../../src/syntax/walk.js';
import type { Expr, Stmt } from '../../src/syntax/tree.js';
import { functionNamed, unit } from './load.js';

/** The body of a kernel as an outline, without the block itself. */
async function body(statements: string, before = ''): Promise<string> {
  const u = await unit(`${before}\n__global__ void k(float *p, const int *q, int n, unsigned m) {\n${statements}\n}\n`);
  const decl = functionNamed(u, 'k');
  expect(decl.problems).toEqual([]);
  if (decl.body === null) throw new Error('no body');
  return decl.body.body.map((s) => printTree(s)).join('\n');
}

describe('statements', () => {
  test('if, else if, else with braceless arms and a pragma before a loop', async () => {
    expect(await body('if (n > 1)\n#pragma unroll 4\nfor (int i = 0; i < n; i += 2) p[i] = 0;\nelse if (n) return;\nelse { p[0] = 1; }')).toMatchInlineSnapshot(`
"if else
  binary > : bool
    ref n @parameter : int
    literal 1 : int
  for [#pragma unroll 4]
    declare
      variable i : int
        literal 0 : int
    binary < : bool
      ref i @variable : int
      ref n @parameter : int
    assign += : int
      ref i @variable : int
      literal 2 : int
    expression
      assign = : float
        index : float
          ref p @parameter : float *
          ref i @variable : int
        literal 0 : int
  if else
    ref n @parameter : int
    return
    compound
      expression
        assign = : float
          index : float
            ref p @parameter : float *
            literal 0 : int
          literal 1 : int"
`);
  });

  test('loops of every kind', async () => {
    const text = await body('while (int j = q[n]) { if (j == 2) continue; break; }\ndo n--; while (n > 0);\nfor (;;) { break; }\n#pragma unroll\nfor (int i = 0, j = 1; i < j; ++i, --j) ;');
    expect(text.split('\n').filter((line) => !line.startsWith(' '))).toEqual(['while', 'do', 'for', 'for [#pragma unroll]']);
    expect(text).toContain('variable j : int');
  });

  test('switch arms hold their labels and statements', async () => {
    const u = await unit('__global__ void k(int *p, int n) { switch (n) { case 0: case 1: p[0] = 1; break; case 2: p[1] = 2; default: return; } }');
    const { body: block } = functionNamed(u, 'k');
    const [statement] = block?.body ?? [];
    expect(statement?.kind).toBe('switch');
    if (statement?.kind !== 'switch') return;
    expect(statement.arms.map((arm) => [arm.labels.map((l) => (l?.kind === 'literal' ? l.value : null)), arm.body.map((s) => s.kind)])).toEqual([
      [[0n, 1n], ['expression', 'break']], [[2n], ['expression']], [[null], ['return']],
    ]);
  });

  test('a case label inside a loop makes the switch opaque', async () => {
    expect(await body('switch (n) { case 0: do { p[0] = 1; case 1: p[1] = 1; } while (--n > 0); }')).toBe('opaque (irregular switch)');
  });

  test('goto, labels and asm', async () => {
    const text = await body('again: p[n] += 1; if (--n) goto again;\nasm volatile("add.u32 %0, %1, %2;" : "=r"(n) : "r"(m), "r"(1));');
    expect(text).toContain('label again');
    expect(text).toContain('goto again');
    expect(text).toContain('asm volatile "add.u32 %0, %1, %2;"');
  });

  test('both arms of a directive are kept, and what follows sees the active one', async () => {
    const u = await unit('__global__ void k(int *p) {\n#ifdef SMALL\n short x = 1;\n#else\n int x = 2;\n#endif\n p[0] = x;\n}');
    const [directive, use] = functionNamed(u, 'k').body?.body ?? [];
    expect(directive?.kind).toBe('preprocessor');
    if (directive?.kind !== 'preprocessor' || use === undefined) return;
    expect(directive.arms.map((arm) => arm.active)).toEqual([false, true]);
    const declared = directive.arms[1]?.body[0];
    const refs: Expr[] = [];
    forEachExpr(use, (e) => { if (e.kind === 'ref' && e.name === 'x') refs.push(e); });
    expect(refs[0]).toHaveProperty('decl', declared?.kind === 'declare' ? declared.variables[0] : undefined);
  });
});

describe('expressions', () => {
  test.each([
    ['(float)(q[0]);', 'cast c : float'],
    ['(size_t)n * 128;', 'binary * : unsigned long'],
    ['(n) + 1;', 'binary + : int'],
    ['(real)-n * 2;', 'binary * : double'],
    ['-(real)*p;', 'unary - : double'],
    ['1 + -(real)*p;', 'binary + : double'],
    ['- -(real)-n * 2;', 'binary * : double'],
    ['!(real)+n;', 'unary ! : bool'],
    ['(int)(real)-n;', 'cast c : int'],
    ['*(real *)&p;', 'unary * : double'],
    ['(real)(n);', 'cast c : double'],
    ['real(n);', 'cast functional : double'],
    ['float4 v{1, 2, 3, 4}; v.w;', 'member .w : float'],
    ['make_float4(0, 0, 0, 0).y;', 'member .y : float'],
    ['sizeof(float4);', 'sizeof float4 : unsigned long'],
    ['*p++;', 'unary * : float'],
    ['p[n] > 0 ? n : m;', 'conditional : unsigned int'],
    ['n << 2u;', 'binary << : int'],
    ['q - q;', 'binary - : long'],
    ['q + n;', 'binary + : const int *'],
    ['&p[n];', 'unary & : float *'],
    ['threadIdx.x * blockDim.y;', 'binary * : unsigned int'],
    ['n, m;', 'binary , : unsigned int'],
    ['min(n, 3);', 'call builtin min : int'],
    ['sqrtf(n);', 'call builtin sqrtf : float'],
    ['atomicAdd(&p[0], 1.0f);', 'call builtin atomicAdd : float'],
    ['unheard(n);', 'call unknown unheard : <unknown>'],
    ["'a' + true;", 'binary + : int'],
    ['1.5 * p[0];', 'binary * : double'],
    ['-1;', 'unary - : int'],
  ])('%s', async (statement, last) => {
    const text = await body(statement, 'typedef double real;');
    const lines = text.split('\n');
    const at = lines.lastIndexOf('expression');
    expect(lines[at + 1]?.trim()).toBe(last);
  });

  test('a cast before a sign binds tighter than the product behind it', async () => {
    expect(await body('n = (real)-n * m;', 'typedef int real;')).toMatchInlineSnapshot(`
"expression
  assign = : int
    ref n @parameter : int
    binary * : unsigned int
      cast c : int
        unary - : int
          ref n @parameter : int
      ref m @parameter : unsigned int"
`);
  });

  test('a scoped constant in parentheses before a sign is no type', async () => {
    expect(await body('n = 2 * (S::E) + n; n = (S::E) - 1;', 'struct S { enum F { E = 3 }; };')).toMatchInlineSnapshot(`
"expression
  assign = : int
    ref n @parameter : int
    binary + : int
      binary * : int
        literal 2 : int
        paren : F
          ref E @enumerator : F
      ref n @parameter : int
expression
  assign = : int
    ref n @parameter : int
    binary - : int
      paren : F
        ref E @enumerator : F
      literal 1 : int"
`);
  });

  test('a variable in parentheses below a cast and before a sign is no type', async () => {
    const text = await body('p[0] = (float)(n) + (0.5f) * p[1]; p[1] = (float)(n) - (p[2]);');
    expect(text).not.toMatch(/unknown|opaque|unary/);
    expect(text.match(/cast c : float\n +paren : int\n +ref n @parameter : int/g)).toHaveLength(2);
  });

  test('comparisons that look like template arguments', async () => {
    expect(await body('if (n < m && m > (n)) return; if (n < 0 || n >= 3) return;')).not.toMatch(/assign|call|opaque/);
  });

  test('a conjunction that reads like a declaration with a template is one all the same', async () => {
    const text = await body('if (n && m < 8 && m >= 1) return; while (n && m < 8 && m >= 1) --n; for (; n && m < 8 && m >= 1; ) --n;');
    expect(text).not.toMatch(/opaque|unknown|variable m/);
    expect(text.match(/binary && : bool/g)).toHaveLength(6);
  });

  test('`a * b;` with a variable is a product, `T x(e);` an object', async () => {
    const text = await body('n * m; float x(p[0]); int y(n); dim3 d(n, m);');
    expect(text).toContain('expression\n  binary * : unsigned int');
    expect(text).toContain('variable x : float');
    expect(text).toContain('variable y : int\n    ref n @parameter : int');
    expect(text).toContain('construct paren : dim3');
  });

  test('macros are looked through, with the invocation as the span of every node', async () => {
    const u = await unit('#define AT(i, j) ((i) * n + (j))\n#define SWAP(a, b) { int t = a; a = b; b = t; }\n__global__ void k(int *p, int n, int m) { p[AT(n, 1)] = 2; SWAP(n, m); }');
    const { body: block } = functionNamed(u, 'k');
    if (block === null) throw new Error('no body');
    const macros: Expr[] = [];
    forEachExpr(block, (e) => { if (e.kind === 'macro') macros.push(e); });
    expect(macros).toHaveLength(1);
    const [at] = macros;
    if (at === undefined) return;
    expect(u.source.text.slice(at.span.start, at.span.end)).toBe('AT(n, 1)');
    forEachExpr(at, (e) => expect(e.span).toEqual(at.span));
    const kinds: Stmt['kind'][] = [];
    forEachStmt(block, (s) => { kinds.push(s.kind); });
    expect(kinds).toContain('macro-statement');
    expect(printTree(block)).not.toContain('?');
  });

  test('overloaded operators are calls, members of this are found', async () => {
    const u = await unit(`
struct V { float x; __device__ V operator+(const V &o) const { V r; r.x = x + o.x; return r; } __device__ float twice() { return 2 * this->x; } };
__device__ float4 operator*(float4 a, float s) { return make_float4(a.x * s, a.y * s, a.z * s, a.w * s); }
__global__ void k(V *v, float4 *w) { v[0] = v[1] + v[2]; w[0] = w[1] * 2.0f; v->twice(); }`);
    const text = printFunction(functionNamed(u, 'k'));
    expect(text).toContain('call method operator+ : V');
    expect(text).toContain('call function operator* : float4');
    expect(text).toContain('call method twice : float');
    expect(printFunction(functionNamed(u, 'operator+'))).toMatch(/member ->x : float\n +this : V \*/);
  });

  test('lambdas capture declarations', async () => {
    const text = await body('auto f = [=, &m] (int i) { return i + n; }; f(2);');
    expect(text).toContain('lambda [copy](i)');
  });
});

describe('declarations', () => {
  test('qualifiers, bounds, templates, spaces', async () => {
    const u = await unit(`
#define HD __host__ __device__
__constant__ float table[16];
template <typename T, int N = 4> __global__ void __launch_bounds__(N * 32, 2) k(const T *__restrict__ in, T *out) {
  __shared__ T tile[N];
  extern __shared__ char dynamic[];
  static int count;
}
HD inline int twice(int i) { return 2 * i; }
`);
    const k = functionNamed(u, 'k');
    expect(k.qualifiers).toMatchObject({ global: true, device: false, host: false });
    expect(k.template?.map((p) => [p.name, p.sort])).toEqual([['T', 'type'], ['N', 'value']]);
    expect(k.bounds.map((b) => [b.name, b.arguments.length])).toEqual([['launch_bounds', 2]]);
    expect(printTree(k.bounds[0]?.arguments[0] ?? fail())).toContain('ref N @template-parameter');
    expect(k.parameters[0]?.type).toMatchObject({ kind: 'pointer', restrict: true, to: { kind: 'dependent', const: true } });
    expect(functionNamed(u, 'twice').qualifiers).toMatchObject({ global: false, device: true, host: true, inline: true });
    expect(u.variables.map((v) => [v.name, v.space, v.storage])).toEqual([['table', 'constant', 'namespace']]);
    const declared = k.body?.body.flatMap((s) => (s.kind === 'declare' ? [...s.variables] : [])) ?? [];
    expect(declared.map((v) => [v.name, v.space, v.dynamicShared])).toEqual([['tile', 'shared', false], ['dynamic', 'shared', true], ['count', 'device', false]]);
  });
});

function fail(): never {
  throw new Error('missing');
}
