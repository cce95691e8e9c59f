/** Types that depend on template parameters: what their instances are, and what transforms and verdicts make of it. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createAnalysis } from '../../src/analysis/analyse.js';
import { templateOperands } from '../../src/analysis/template-types.js';
import { initParser } from '../../src/syntax/parser.js';
import { contextFor, evaluateFunction } from '../../transforms/lib/framework.js';
import { grantsInForce } from '../../transforms/lib/grants.js';
import { transforms } from '../../transforms/index.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const CLASSES = `
struct Counting { int v; __device__ bool operator>(int x) { return v++ > x; } };
struct Meeting { int v; __device__ int operator+(int x) const { __syncthreads(); return v + x; } };
struct Truth { int *p; __device__ operator bool() const { return atomicAdd(p, 1) > 3; } };
struct Pointer { int *p; __device__ int operator*() const { return atomicAdd(p, 1); } __device__ int operator[](int i) const { return atomicAdd(p + i, 1); } };
struct Lane { int v; __device__ bool operator>(int x) const { return v + threadIdx.x > x; } };
struct Fixed { int v; __device__ Fixed(int x) : v(x) {} __device__ bool operator>(int x) const { return v > x; } __device__ int operator+(int x) const { int sum = v; sum += x; return sum; } };
struct Plain { int a, b; };
struct Base { int *p; __device__ bool operator!() const { return atomicAdd(p, 1) > 3; } };
struct Derived : Base {};
struct Holder { Counting inner; };
struct Free { int v; };
__device__ int seen;
__device__ bool operator>(Free f, int x) { return atomicAdd(&seen, f.v) > x; }
enum Kind { A, B };
`;

function kernel(use: string, parameter: string, host: string, before = ''): string {
  return `${CLASSES}${before}
template <class T> __global__ void k(int *o, int n, ${parameter}) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        if (${use}) s += i;
        else s -= 2;
    }
    o[threadIdx.x] = s;
}
${host}
`;
}

function operands(text: string): { foreign: string | null; open: string[] } {
  const { program, unit } = load(text);
  const [fn] = unit.kernels;
  if (fn === undefined) throw new Error('no kernel');
  const found = templateOperands(fn, program);
  return { foreign: found.foreign?.why ?? null, open: [...found.open] };
}

describe('operators of the instances', () => {
  test.each([
    ['v > 0', 'T v', 'Counting v'], ['v + 1 > 0', 'T v', 'Meeting v'], ['v', 'T v', 'Truth v'], ['*v > 0', 'T v', 'Pointer v'], ['v[3] > 0', 'T v', 'Pointer v'], ['v > 0', 'T v', 'Lane v'],
    ['!v', 'T v', 'Derived v'], ['v.inner.v > 0', 'T v', 'Holder v'], ['v > 0', 'T v', 'Free v'], ['*v > 0', 'T *v', 'Counting *v'], ['v[0] > 0', 'T *v', 'volatile int *v'],
    ['*v > 0', 'T v', 'volatile int *v'], ['**v > 0', 'T v', 'Counting **v'], ['v[1][0] > 0', 'T *v', 'volatile int **v'],
  ])('%s with %s = %s may do anything', (use, parameter, argument) => {
    const text = kernel(use, parameter, `void host(int *o, ${argument}, int w) { k<<<1, 32>>>(o, 5, &w); k<<<1, 32>>>(o, 5, v); }`);
    expect(operands(text).foreign).toMatch(/in an instance, T is (volatile|\w+, )/);
    const { program, unit } = load(text);
    const [fn] = unit.kernels;
    const branch = fn?.body?.body.flatMap((stmt) => (stmt.kind === 'for' && stmt.body.kind === 'compound' ? stmt.body.body : [])).find((stmt) => stmt.kind === 'if');
    if (fn === undefined || branch?.kind !== 'if') throw new Error('no branch');
    const facts = createAnalysis(program, {}).kernel(fn);
    expect(facts.scope(branch.condition).known).toBe(false);
    expect(facts.effects(branch.condition).unknownCalls.length).toBeGreaterThan(0);
    for (const transform of transforms) for (const outcome of evaluateFunction(transform, contextFor(facts, unit), { evenIfItLoses: true })) expect([transform.name, outcome.status]).toEqual([transform.name, 'refused']);
  });

  test.each([
    ['v > 0', 'T v', 'int v'], ['v > 0', 'T v', 'double v'], ['*v > 0', 'T v', 'const float *v'], ['v > 0', 'T v', 'Fixed v'], ['v + 2 > 0', 'T v', 'Fixed v'], ['v.a > 0', 'T v', 'Plain v'],
    ['v[0] > 0', 'T *v', 'const int *v'], ['v > 0', 'T v', 'Kind v'],
  ])('%s with %s = %s computes', (use, parameter, argument) => {
    expect(operands(kernel(use, parameter, `void host(int *o, ${argument}) { k<<<1, 32>>>(o, 5, v); }`))).toEqual({ foreign: null, open: [] });
  });

  test('explicit arguments count, and those of helpers', () => {
    expect(operands(kernel('v[0] > 0', 'T *v', 'void host(int *o, void *v) { k<volatile int><<<1, 32>>>(o, 5, (volatile int *)v); }')).foreign).toContain('volatile');
    const helper = 'template <class U> __device__ bool above(const U &u) { return u > 0; }\n';
    expect(operands(kernel('above(v)', 'T v', 'void host(int *o, Counting v) { k<<<1, 32>>>(o, 5, v); }', helper)).foreign).toContain('Counting');
    expect(operands(kernel('above(i)', 'T v', 'void host(int *o, int v) { k<<<1, 32>>>(o, 5, v); }', helper))).toEqual({ foreign: null, open: [] });
  });

  test('instances that are not known are open', () => {
    expect(operands(kernel('v > 0', 'T v', ''))).toEqual({ foreign: null, open: ['T'] });
    expect(operands(kernel('v > 0', 'T v', 'template <class H> void host(int *o, H v) { k<<<1, 32>>>(o, 5, v); }')).open).toEqual(['T']);
    expect(operands(kernel('(typename T::value_type)n > 0', 'T v', 'void host(int *o, Plain v) { k<<<1, 32>>>(o, 5, v); }')).open).not.toEqual([]);
  });
});

describe('objects that a kernel makes of its own parameter', () => {
  const classes = `
struct Lane { int v; __device__ Lane(int x) : v(x + threadIdx.x) {} };
struct Given { int v; __device__ Given(int x = threadIdx.x) : v(x) {} };
struct Field { int v = threadIdx.x; };
struct Fixed { int v; __device__ Fixed(int x) : v(x) {} };
struct Names { using type = Lane; using number = int; };
template <class T> struct Box { static __device__ int get(int n) { T t(n); return t.v; } static __device__ bool has(int n) { return T(n) > 3; } };
template <class T> struct Via { static __device__ int get(int n) { typename T::type t(n); return t.v; } static __device__ bool has(int n) { typename T::number t = n; return t > 3; } };
`;
  const known = (more: string, text: string, argument: string): boolean => {
    const { program, unit } = load(`${classes}template <class T> __global__ void k(int *o, int n) { if (${text}) o[0] = 1; ${more} }
void host(int *o) { k<${argument}><<<1, 64>>>(o, 5); }`);
    const [fn] = unit.kernels;
    const branch = fn?.body?.body.find((stmt) => stmt.kind === 'if');
    if (fn === undefined || branch?.kind !== 'if') throw new Error('no branch');
    return createAnalysis(program, {}).kernel(fn).scope(branch.condition).known;
  };

  test.each([
    ['T(n).v > 3', 'Lane'], ['T().v > 3', 'Given'], ['T{}.v > 3', 'Field'], ['Box<T>::get(n) > 3', 'Lane']  ])('%s with T = %s is not known', (text, argument) => {
    const [first = '', second] = argument.split(', ');
    expect(known(second === undefined ? '' : `if (Box<${second}>::get(n)) o[1] = 1;`, text, first)).toBe(false);
  });

  test.each([
    ['T(n) > 3', 'int'], ['T(n).v > 3', 'Fixed'], ['Box<T>::has(n)', 'float'], ['Box<T>::get(n) > 3', 'Fixed'], ['Via<T>::has(n)', 'Names'],
  ])('%s with T = %s is', (text, argument) => { expect(known('', text, argument)).toBe(true); });
});

test('what is not known is assumed under a grant that can be withdrawn', () => {
  const { program, unit } = load(kernel('v > 0', 'T v', ''));
  const [fn] = unit.kernels;
  const hoist = transforms.find((transform) => transform.name === 'hoist');
  if (fn === undefined || hoist === undefined) throw new Error('no kernel');
  const facts = createAnalysis(program, {}).kernel(fn);
  const of = (grants: ReadonlySet<string>): unknown => evaluateFunction(hoist, contextFor(facts, unit, { grants }), { evenIfItLoses: true }).map((outcome) => [outcome.status, outcome.obligations.find(({ id }) => id === 'types-known')?.status]);
  expect(of(grantsInForce())).toEqual([['applied', 'assumed']]);
  expect(of(grantsInForce([], ['arithmetic-types']))).toEqual([['refused', 'unknown']]);
});
