/** A condition on a variable that the loop binds to something which may change it is not invariant, whichever way the binding is written; what only takes values leaves it alone. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist } from '../../transforms/hoist.js';
import { peel } from '../../transforms/peel.js';
import { ASSOCIATED, BINDERS, CONVERSIONS, DECLARATORS, HARMLESS, TAKERS, TEMPLATES } from '../helpers/bindings.js';
import { load, outcomesOf } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const kernel = (before: string, text: string, condition: string): string => {
  const [inFront, inLoop] = text.includes('~~') ? text.split('~~') : ['', text];
  return `${before}
__global__ void k(const int *__restrict__ a, float *__restrict__ o, int n, int m, int u) {
    float s = 0.f; int *p0 = nullptr; void (*pf)(int &) = nullptr; ${text.includes('p0') ? 'p0 = &m;' : ''} ${text.includes('pf') ? 'pf = up;' : ''}
    ${inFront ?? ''}
    for (int i = 0; i < n; ++i) {
        if (${condition}) { s += a[i] * 3.f; s *= 0.25f; s += 1.f; } else { s -= a[i]; s *= 0.5f; }
        { ${inLoop ?? ''} }
    }
    o[threadIdx.x] = s;
}
`;
};

const applied = (transform: Parameters<typeof outcomesOf>[0], text: string, condition: string): boolean =>
  outcomesOf(transform, load(text), { evenIfItLoses: true }).some((o) => o.status === 'applied' && text.startsWith(`if (${condition})`, o.site.branch.span.start));

describe.each([['a conversion', CONVERSIONS], ['a template argument', TEMPLATES], ['look-up by arguments', ASSOCIATED], ['a declarator', DECLARATORS]])('changed by %s', (_, list) => {
  test.each(list)('%s', (text) => {
    expect(applied(hoist, kernel(BINDERS, text, 'm > 2'), 'm > 2')).toBe(false);
  });
});

describe('nothing changes it', () => {
  test.each(HARMLESS)('%s', (text) => {
    expect(applied(hoist, kernel(TAKERS, text, 'm > 2'), 'm > 2')).toBe(true);
  });
});

/** A few of each kind: the bound of a guard is not the bound of a run if the loop changes it. */
test.each(['take(m);', 'Inc x = m;', 'Agg x{m};', 'tv<int &>(m);', 'Box<int &>::st(m);', 'na::T x; adl(x, m);', 'na::T x; x << m;', 'int (&x) = m; ++x;', 'int (&x)[1] = *(int (*)[1])&m; x[0]++;'])('no bound: %s', (text) => {
  expect(applied(peel, kernel(BINDERS, text, 'i < m'), 'i < m')).toBe(false);
});

test('a bound that stays is one', () => {
  expect(applied(peel, kernel(TAKERS, 'takev(m);', 'i < m'), 'i < m')).toBe(true);
});

describe('text that is not understood', () => {
  test.each(['auto *x = new int *(&m); ~~ ++**x;', 'auto f = [&x = m] { ++x; }; ~~ f();'])('may keep what it names: %s', (text) => {
    expect(applied(hoist, kernel(BINDERS, text, 'm > 2'), 'm > 2')).toBe(false);
  });
  test.each(['auto f = [x = m] { return x; }; ~~ s += a[i];', 'auto f = [&x = u] { ++x; }; ~~ s += a[i];'])('leaves the rest alone: %s', (text) => {
    expect(applied(hoist, kernel(TAKERS, text, 'm > 2'), 'm > 2')).toBe(true);
  });
});

describe('types of templates that are references in an instance', () => {
  const TRAITS = 'struct Names { using ref = int &; using number = int; };\ntemplate <class T> struct Tt { using ref = T &; using number = T; };\n';
  const instance = (write: string, argument: string): string => `${TRAITS}
template <class T> __global__ void k(const int *__restrict__ a, float *__restrict__ o, int n, int m) {
    float s = 0.f;
    for (int i = 0; i < n; ++i) {
        if (m > 2) { s += a[i] * 3.f; s *= 0.25f; s += 1.f; } else { s -= a[i]; s *= 0.5f; }
        ${write}
    }
    o[threadIdx.x] = s;
}
void host(int *a, float *o) { k<${argument}><<<1, 64>>>(a, o, 3, 1); }
`;
  test.each([['typename T::ref x = m; ++x;', 'Names'], ['typename Tt<T>::ref x = m; ++x;', 'int'], ['typename Tt<T &>::number x = m; ++x;', 'int'], ['T &x = m; ++x;', 'int']])('%s with T = %s', (write, argument) => {
    expect(applied(hoist, instance(write, argument), 'm > 2')).toBe(false);
  });
  test.each([['typename T::number x = m; ++x;', 'Names'], ['T x = m; ++x;', 'int'], ['typename Tt<T>::number x = m; ++x;', 'int'], ['const T &x = m; s += x;', 'int']])('%s with T = %s is a copy', (write, argument) => {
    expect(applied(hoist, instance(write, argument), 'm > 2')).toBe(true);
  });
});

/** The instance tells whether what a variable is given to is a number or a class that binds it. */
describe('objects of a type that an instance brings', () => {
  const WAYS = ['R x(m);', 'R x = m;', 'R x[1] = {m};', 'R x{m};', 'const R &x = m;', 'R{m};', '(R)m;', 'if (R x = m) s += 1.f;', 'R x(u); x = m;', 'R x(u); s += (float)(x + m);', 'Box<R> x(m);', 'P<R> x{m};', 'by<R>(m);', 'mk<R>(m);', 'typename Q<R>::type x(m);', 'R x[2] = {m, m};'];
  const text = (way: string, type: string): string => `struct Inc {
    int *p;
    __device__ Inc(int &x) : p(&x) { x += (int)threadIdx.x; }
    __device__ Inc &operator=(int &x) { x += (int)threadIdx.x; return *this; }
    __device__ float operator+(int &x) { x += (int)threadIdx.x; return 1.f; }
    __device__ explicit operator bool() const { return true; }
};
template <class T> struct Box { T t; __device__ Box(T x) : t(x) {} };
template <class T> struct P { T t; };
template <class T> struct Q { using type = T; };
template <class T> __device__ void by(T) {}
template <class T> __device__ T mk(int &y) { return y; }
template <class R> __global__ void k(const int *__restrict__ a, float *__restrict__ o, int n, int m, int u) {
    float s = 0.f;
    for (int i = 0; i < n; ++i) {
        if (m > 2) { s += a[i] * 3.f; s *= 0.25f; s += 1.f; } else { s -= a[i]; s *= 0.5f; }
        { ${way} }
    }
    if (m > 3) s = 0.f;
    o[threadIdx.x] = s;
}
void go(const int *a, float *o, int n, int m, int u) { k<${type}><<<1, 64>>>(a, o, n, m, u); }
`;
  const verdict = (source: string): string => {
    const { unit, analysis } = load(source);
    const kernel = unit.kernels[0];
    const site = kernel === undefined ? undefined : analysis.kernel(kernel).branches.find(({ condition }) => source.startsWith('m > 3', condition.span.start));
    if (kernel === undefined || site === undefined) throw new Error('no branch');
    const found = analysis.kernel(kernel).scope(site.condition);
    return found.known ? found.value : 'unknown';
  };

  test.each(WAYS)('a class: %s', (way) => {
    expect(applied(hoist, text(way, 'Inc'), 'm > 2')).toBe(false);
    expect(verdict(text(way, 'Inc'))).toBe('unknown');
  });

  // Braces around it are taken for a call of whatever the type is, and `mk` takes it by reference.
  test.each(WAYS.filter((way) => (!way.includes('{m};') || way.includes('[1]')) && !way.includes('mk')))('a number: %s', (way) => {
    expect(applied(hoist, text(way, 'int'), 'm > 2')).toBe(true);
    expect(verdict(text(way, 'int'))).toBe('grid');
  });
});
