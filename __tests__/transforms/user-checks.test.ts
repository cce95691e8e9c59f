/**
 * Asserts stay what they are: no edit writes `assert(true)`, and no `true & true` is left of a test.
 */
import { beforeAll, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { transforms } from '../../transforms/index.js';
import { applyAll } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

function peeled(inner: string): string {
  const peel = transforms.find(({ name }) => name === 'peel');
  if (peel === undefined) throw new Error('no peel');
  return applyAll(peel, `#define my_assert(x) ((x) ? (void)0 : __trap())
__global__ void f(const float *a, float *o, int n, int m) {
    float s = 0.f;
    for (int k = 0; k < n; k += 16) {
        int i = k + threadIdx.x;
        if (i < n) s += a[i];
        ${inner}
        s *= 0.5f;
    }
    o[threadIdx.x] = s;
}
`, { evenIfItLoses: true }).text;
}

const count = (text: string, part: string): number => text.split(part).length - 1;

test.each([
  ['assert(i < n);'], ['my_assert(i < n);'], ['__builtin_assume(i < n);'], ['CUDA_KERNEL_ASSERT(i < n && m > 0);'], ['bool ok = i < n; assert(ok);'],
])('%s stands in both runs', (check) => {
  const text = peeled(check);
  expect(text).toMatch(/k_full/);
  expect(count(text, check)).toBe(2);
  expect(text).not.toMatch(/\(true|= true/);
});

test.each([
  ['if ((i >= 0) & (i < n)) s += 1.f;', 's += 1.f;\n        s *= 0.5f;'],
  ['if ((i < n) & (m > 3)) s += 1.f;', 'if (m > 3) s += 1.f;'],
  ['if ((m > 3) & (i < n)) s += 1.f;', 'if (m > 3) s += 1.f;'],
  ['if (!((m > 3) | (i >= n))) s += 1.f;', 'if (!(m > 3)) s += 1.f;'],
  ['if ((i >= n) | (m > 3)) s += 1.f;', 'if (m > 3) s += 1.f;'],
  ['if (__builtin_expect(i < n, 1)) s += 1.f;', 's += 1.f;\n        s *= 0.5f;'],
  ['int c = (i < n) & (i < n + 1); s += c;', 'int c = 1;'],
  ['bool c = (i < n) | (m > 3); s += c;', 's += c;'],
])('%s', (inner, expected) => {
  const text = peeled(inner);
  expect(text).toContain(expected);
  expect(text).not.toMatch(/true &|& true|true \||\| true|false \||\| false|true, 1/);
});

test('a side with an effect stays', () => {
  expect(peeled('if ((i >= n) & (atomicAdd((int *)o, 1) > 3)) s += 1.f;')).toMatch(/\(false & \(atomicAdd/);
});
