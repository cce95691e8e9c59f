/** An object that is called may change itself: what is tested of it stays in the loop. */
import { beforeAll, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist as typed } from '../../transforms/hoist.js';
import type { Transform } from '../../transforms/lib/types.js';
import { load, outcomesOf } from '../helpers/transform.js';

const hoist = typed as Transform;

beforeAll(async () => { await initParser(); });

const kernel = (tested: string, statement: string): string => `
struct Counter { int level; __device__ void operator()() { level++; } __device__ void step() { level++; } };
struct Lazy { mutable int level; __device__ float operator()(int i) const { level = i; return 1.0f; } };
template <class F> __device__ float fold(const float *a, int n, F f, int other) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) {
    float x = a[i];
    if (${tested} > 3) sum += x; else sum += x * x * 3.0f + sqrtf(x);
    ${statement}
  }
  return sum;
}
__global__ void count(const float *a, float *out, int n, int m) { out[threadIdx.x] = fold(a, n, Counter{m}, m); }
`;

const isHoisted = (text: string): boolean => outcomesOf(hoist, load(text), { evenIfItLoses: true }).some((outcome) => outcome.status === 'applied');

test.each(['f();', '(f)();', 'f(i);', 'sum += f(i);', 'if (f(i)) sum += 1.0f;', 'sum += sqrtf(f(i));', 'f.step();', 'F &g = f; g();', '[&]() { f(); }();'])('%s may change f', (statement) => {
  expect(isHoisted(kernel('f.level', statement))).toBe(false);
});

test.each([['other', 'float y = x + 1.0f; sum += y;'], ['f.level', 'auto next = [](float v) { return v + 1.0f; }; sum += next(x);'], ['f.level', 'sum += fabsf(x);']])('%s is not changed by %s', (tested, statement) => {
  expect(isHoisted(kernel(tested, statement))).toBe(true);
});
