/** A pointer that a conversion, an operator or a lambda gives back may lead into the object that it came from: what is stored by one way is read by the other. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist as typed } from '../../transforms/hoist.js';
import type { Transform } from '../../transforms/lib/types.js';
import { Text } from '../analysis/program.js';
import { load, outcomesOf } from '../helpers/transform.js';

const hoist = typed as Transform;

beforeAll(async () => { await initParser(); });

const CLASSES = `
struct Array { int q[2]; __device__ operator int *() { return q; } }; struct Inner { int m; __device__ operator int *() { return &m; } __device__ operator int &() { return m; } };
struct Const { int q[2]; __device__ operator const int *() const { return q; } }; struct Derived : Array {}; struct View { int *p; __device__ operator int *() const { return p; } };
`;

const kernel = (before: string, statement: string, tested: string): string => `${CLASSES}
__global__ void k(const int *__restrict__ a, int *__restrict__ o, int *__restrict__ w, int n) {
    int sum = 0;
    ${before}
    for (int i = 0; i < n; ++i) {
        ${statement}
        if (${tested}) { sum += a[i] * 3; sum ^= a[i]; } else { sum -= a[i]; sum *= 3; }
    }
    o[threadIdx.x] = sum;
}
`;

const isHoisted = (text: string): boolean => outcomesOf(hoist, load(text), { evenIfItLoses: true }).some((outcome) => outcome.status === 'applied');

describe('stored by one way, read by the other', () => {
  test.each([
    ['Array s{{n, n}}; int *p = s;', 'p[0] += i;', 's.q[0] > 3'], ['Array s{{n, n}}; int *p = s;', 's.q[0] += i;', 'p[0] > 3'], ['Const s{{n, n}}; const int *p = s;', 's.q[0] += i;', 'p[0] > 3'],
    ['Inner s{n}; int *p = s;', '*p += i;', 's.m > 3'], ['Inner s{n}; int &p = s;', 'p += i;', 's.m > 3'], ['Derived s; s.q[0] = n; int *p = s;', 'p[0] += i;', 's.q[0] > 3'],
    ['int m = n; auto f = [](const int &x) { return &x; }; auto p = f(m);', 'm += i;', '*p > 3'], ['int m = n; auto f = [&]() { return &m; }; auto p = f();', 'm += i;', '*p > 3'], ['int m = n; auto f = [](const int &x) { return &x; }; auto p = f(m);', 'm += i;', 'p[0] > 3'],
  ])('%s %s %s', (before, statement, tested) => { expect(isHoisted(kernel(before, statement, tested))).toBe(false); });
  test.each([
    ['Array s{{n, n}};', 's.q[0] += i;', 'n > 3'], ['Array s{{n, n}};', 'sum += s.q[1];', 's.q[0] > 3'], ['View s{w}; int *p = s;', 'sum += p[i];', 'n > 3'], ['int m = n;', 'sum += m;', 'm > 3'],
  ])('%s %s %s is hoisted', (before, statement, tested) => { expect(isHoisted(kernel(before, statement, tested))).toBe(true); });
});

test.each(['Array s{{n, n}}; int *p = s; p[0] = threadIdx.x; if (s.q[0] > 3) o[0] = 1;', 'Inner s{n}; int *p = s; *p = threadIdx.x; if (s.m > 3) o[0] = 1;', 'Inner s{n}; int &p = s; p = threadIdx.x; if (s.m > 3) o[0] = 1;'])('%s', (body) => {
  const facts = new Text(`${CLASSES} __global__ void k(int *o, int n) { ${body} }`).kernel();
  const site = facts.branches.find(({ kind }) => kind === 'if');
  expect(site === undefined ? null : facts.scope(site.condition).value).toBe('lane');
});
