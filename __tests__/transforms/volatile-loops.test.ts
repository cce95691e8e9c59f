/** Loops that run by what is volatile or atomic stay as they are, whatever the transform. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { refusals } from '../../transforms/lib/framework.js';
import { transforms } from '../../transforms/index.js';
import { applyAll } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

/** Parameters, setup, head of the loop that counts `i` up. */
const HEADS: readonly (readonly [string, string, string, string])[] = [
  ['a counter', 'int n', '', 'volatile int i = 0; i < n; ++i'],
  ['a counter in front of the loop', 'int n', 'volatile int i = 0;', '; i < n; ++i'],
  ['a parameter', 'volatile int n', '', 'int i = 0; i < n; ++i'],
  ['a type with a name', 'vint n', '', 'int i = 0; i < n; ++i'],
  ['a local bound', 'int m', 'volatile int n = m;', 'int i = 0; i < n; ++i'],
  ['auto', 'int m', 'auto volatile n = m;', 'int i = 0; i < n; ++i'],
  ['a pointer', 'volatile int *n', '', 'int i = 0; i < *n; ++i'],
  ['an element', 'volatile int *n', '', 'int i = 0; i < n[2]; ++i'],
  ['a cast', 'int *n', '', 'int i = 0; i < *(volatile int *)n; ++i'],
  ['a macro', 'int *n', '', 'int i = 0; i < SEEN(n); ++i'],
  ['a member', 'Box n', '', 'int i = 0; i < n.count; ++i'],
  ['a member through a pointer', 'Box *n', '', 'int i = 0; i < n->count; ++i'],
  ['a global', 'int n', '', 'int i = 0; i < bound; ++i'],
  ['shared memory', 'int n', '__shared__ volatile int s[4];', 'int i = 0; i < s[1]; ++i'],
  ['a reference', 'int n', 'int k = n; volatile int &r = k;', 'int i = 0; i < r; ++i'],
  ['a step', 'int n', 'volatile int by = 1;', 'int i = 0; i < n; i += by'],
  ['one test of two', 'int n, volatile int *stop', '', 'int i = 0; i < n && *stop == 0; ++i'],
  ['a call', 'int *n', '', 'int i = 0; i < look(n); ++i'],
  ['a load past the cache', 'int *n', '', 'int i = 0; i < __ldcv(n); ++i'],
  ['an atomic object', 'cuda::atomic<int> *n', '', 'int i = 0; i < n->load(); ++i'],
  ['an atomic that converts', 'std::atomic<int> *n', '', 'int i = 0; i < *n; ++i'],
  ['an atomic reference', 'int *n', 'cuda::atomic_ref<int, cuda::thread_scope_device> r(*n);', 'int i = 0; i < r; ++i'],
  ['an atomic declared here', 'own::atomic<int> *n', '', 'int i = 0; i < *n; ++i'],
  ['what derives from an atomic', 'Ticket *n', '', 'int i = 0; i < *n; ++i'],
];

/** What the loop does, and what leaves it. */
const BODIES: Readonly<Record<string, string>> = {
  hoist: 'if (flag)\n            s += a[i];\n        else\n            s -= a[i];',
  peel: 'if (i + (int)threadIdx.x < w)\n            s += a[i + threadIdx.x];',
  ballot: 'if (g + i >= 0 && g + i < w)\n            s += a[g + i];',
  compact: 'if (key[g * 64 + (i & 63)] > 3) {\n            float v = a[i & 63];\n            for (int r = 0; r < 60; ++r)\n                v = v * 1.5f + sinf(v);\n            s += v;\n        }',
};

const kernel = (parameters: string, setup: string, head: string, body: string): string => `typedef volatile int vint;
struct Box { volatile int count; int other; };
namespace own { template <class T> struct atomic { T value; __device__ operator T() const; }; }
struct Ticket : own::atomic<int> { };
__device__ volatile int bound;
__device__ int look(volatile int *p) { return *p; }
#define SEEN(p) (*(volatile int *)(p))
__global__ void kern(const float *__restrict__ a, const int *__restrict__ key, float *__restrict__ o, int w, bool flag, ${parameters})
{
    float s = 0.f;
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    ${setup}
    for (${head}) {
        ${body}
    }
    o[g] = s;
}
`;

const RUNS = transforms.flatMap((transform) => {
  const body = BODIES[transform.name];
  return body === undefined ? [] : (transform.name === 'compact' ? ['block', 'loop'] : [null]).map((variant) => [variant === null ? transform.name : `${transform.name}:${variant}`, transform, variant, body] as const);
});

describe.each(RUNS)('%s', (_name, transform, variant, body) => {
  test('applies where the head is plain', () => {
    const { rounds } = applyAll(transform, kernel('int n', '', 'int i = 0; i < n; ++i', body), { evenIfItLoses: true, variant });
    expect(rounds).toBeGreaterThan(0);
  });

  test.each(HEADS)('%s', (_case, parameters, setup, head) => {
    const { rounds, first } = applyAll(transform, kernel(parameters, setup, head, body), { evenIfItLoses: true, variant });
    expect(rounds).toBe(0);
    const named = first.flatMap((outcome) => refusals(outcome).map(({ id }) => id));
    if (first.length > 0) expect(named).toContain('no-volatile-loop');
  });

  test.each([
    ['a break', 'int n, volatile int *stop', 'int i = 0; i < n; ++i', `if (*stop)\n            break;\n        ${body}`],
    ['a loop around', 'int n, volatile int *stop', 'int t = 0; *stop == 0; ++t', `for (int i = 0; i < n; ++i) {\n        ${body}\n        }`],
    ['a loop inside', 'int n, volatile int *stop', 'int i = 0; i < n; ++i', `while (*stop == 0)\n            s += 1.f;\n        ${body}`],
  ])('%s', (_case, parameters, head, text) => {
    const { rounds } = applyAll(transform, kernel(parameters, '', head, text), { evenIfItLoses: true, variant });
    expect(rounds).toBe(0);
  });
});

test('what is volatile in the body alone is no matter to hoist', () => {
  const hoist = transforms.find(({ name }) => name === 'hoist');
  if (hoist === undefined) throw new Error('no hoist');
  const { rounds } = applyAll(hoist, kernel('int n, volatile float *log', '', 'int i = 0; i < n; ++i', `${BODIES['hoist'] ?? ''}\n        log[i] = s;`), { evenIfItLoses: true });
  expect(rounds).toBe(1);
});
